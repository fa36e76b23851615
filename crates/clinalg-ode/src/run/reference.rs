//! Steps in plain sequential Rust: the oracle of every other way to run a graph.

use clinalg::Real;

use crate::method::Method;
use crate::method::graph::{Coefficient, Op};
use crate::model::Rhs;
use crate::run::stepper::{Norm, Slot, Stepper, Stored, Tolerance, all_times, per_step};
use crate::{Error, Result};

/// A graph's operations one after the other, on vectors of the host.
pub struct Reference<'a, T: Real> {
    method: Method,
    rhs: &'a dyn Rhs<T>,
    values: Vec<Vec<T>>,
    /// Of the step at hand.
    arguments: Vec<T>,
    /// Between which the times of stages stay.
    times: [f64; 2],
}

impl<'a, T: Real> Reference<'a, T> {
    /// Runs steps of `method` for `rhs`.
    pub fn new(method: &Method, rhs: &'a dyn Rhs<T>) -> Reference<'a, T> {
        let nodes = method.graph().nodes().iter();
        let vector = |op: &Op| if matches!(op, Op::Red { .. }) { 0 } else { rhs.len() };
        let values = nodes.map(|n| vec![T::zero(); vector(&n.op)]).collect();
        let arguments = vec![T::zero(); method.graph().step_arguments()];
        Reference { method: method.clone(), rhs, values, arguments, times: all_times::<T>() }
    }
}

/// A coefficient in the precision `T`: the number rounded, then multiplied by its argument, then by h as often as its power.
pub(crate) fn coefficient<T: Real>(c: Coefficient, h: T, arguments: &[T]) -> T {
    let value = T::from_f64(c.value);
    (0..c.power).fold(c.argument.map_or(value, |k| value * arguments[k]), |product, _| product * h)
}

impl<T: Real> Stepper<T> for Reference<'_, T> {
    fn method(&self) -> &Method {
        &self.method
    }

    fn components(&self) -> usize {
        self.rhs.len()
    }

    fn set(&mut self, inputs: &[Vec<T>]) -> Result<()> {
        let places = self.method.graph().inputs();
        if inputs.len() != places.len() || inputs.iter().any(|v| v.len() != self.rhs.len()) {
            let expected = format!("{} vectors of {} components", places.len(), self.rhs.len());
            return Err(Error::value("inputs", expected, format!("{} vectors", inputs.len())));
        }
        for (place, input) in places.iter().zip(inputs) {
            self.values[place.0].copy_from_slice(input);
        }
        Ok(())
    }

    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>> {
        let (time, step) = (T::from_f64(t), T::from_f64(h));
        let [earliest, latest] = self.times.map(T::from_f64);
        let mut norm = None;
        for (k, node) in self.method.graph().nodes().iter().enumerate() {
            let (before, rest) = self.values.split_at_mut(k);
            match &node.op {
                Op::Input => {}
                Op::Rhs { c, x, .. } => {
                    let time = (time + T::from_f64(*c) * step).max(earliest).min(latest);
                    self.rhs.eval(time, &before[x.0], &mut rest[0]);
                }
                Op::Lc { terms } => {
                    for (position, (c, v)) in terms.iter().enumerate() {
                        let factor = coefficient(*c, step, &self.arguments);
                        for (z, v) in rest[0].iter_mut().zip(&before[v.0]) {
                            let product = if c.is_one() { *v } else { factor * *v };
                            *z = if position == 0 { product } else { *z + product };
                        }
                    }
                }
                Op::Red { error, from, to, absolute: each } => {
                    let (relative, absolute) = (T::from_f64(tolerance.relative), T::from_f64(tolerance.absolute));
                    let parts = (0..self.rhs.len()).map(|k| {
                        let size = before[from.0][k].abs().max(before[to.0][k].abs());
                        let absolute = each.map_or(absolute, |each| before[each.0][k]);
                        let error = before[error.0][k];
                        // Without an absolute tolerance a component that stays 0 has no error.
                        if error == T::zero() { 0.0 } else { (error / (absolute + relative * size)).abs().into_f64() }
                    });
                    norm = Some(match tolerance.norm {
                        Norm::Rms => (parts.map(|q| q * q).sum::<f64>() / self.rhs.len().max(1) as f64).sqrt(),
                        // `f64::max` would lose NaN.
                        Norm::Max => parts.fold(0.0, |m: f64, q| if m.is_nan() || q <= m { m } else { q }),
                    });
                }
            }
        }
        Ok(norm)
    }

    fn accept(&mut self) -> Result<()> {
        let carries = self.method.graph().carries();
        let next: Vec<Vec<T>> = carries.iter().map(|(_, v)| self.values[v.0].clone()).collect();
        for ((input, _), value) in carries.iter().zip(next) {
            self.values[input.0] = value;
        }
        Ok(())
    }

    fn advance_with(&mut self, times: &[f64], h: f64, arguments: &[f64]) -> Result<()> {
        let per = per_step(&self.method, times, arguments)?;
        for (k, t) in times.iter().enumerate() {
            self.arguments = arguments[k * per..(k + 1) * per].iter().map(|v| T::from_f64(*v)).collect();
            self.trial(*t, h, &Tolerance::UNUSED)?;
            self.accept()?;
        }
        Ok(())
    }

    fn solution(&self) -> Result<Vec<T>> {
        let graph = self.method.graph();
        let carry = graph.carries().iter().find(|(_, value)| *value == graph.solution());
        let (input, _) = carry.expect("the solution of a finished graph is carried on");
        Ok(self.values[input.0].clone())
    }

    fn sibling(&self, method: &Method) -> Result<Self> {
        Ok(Reference { times: self.times, ..Reference::new(method, self.rhs) })
    }

    fn limit_times(&mut self, times: [f64; 2]) {
        self.times = times;
    }

    fn component_name(&self, component: usize) -> String {
        self.rhs.component_name(component)
    }

    fn stored(&self, slot: Slot) -> Stored<'_, T> {
        let graph = self.method.graph();
        let value = match slot {
            Slot::Input(k) => graph.inputs()[k],
            Slot::Result => graph.solution(),
        };
        Stored::Host(&self.values[value.0])
    }

    fn load(&mut self, input: usize, from: Stored<'_, T>) -> Result<()> {
        let values = from.to_vec()?;
        if values.len() != self.rhs.len() {
            return Err(Error::value("inputs", format!("{} components", self.rhs.len()), values.len()));
        }
        let place = self.method.graph().inputs()[input];
        self.values[place.0] = values;
        Ok(())
    }
}
