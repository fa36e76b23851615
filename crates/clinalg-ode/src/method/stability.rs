//! Stability limits of methods, on y' = lambda y.

use std::f64::consts::PI;

use crate::method::Method;
use crate::method::graph::Op;

/// The values of a graph's nodes for y' = lambda y with a complex lambda and steps of size 1; a pair is a complex number.
struct Dahlquist<'m> {
    method: &'m Method,
    lambda: (f64, f64),
    values: Vec<[f64; 2]>,
}

impl Dahlquist<'_> {
    /// Takes a step.
    fn step(&mut self) {
        let graph = self.method.graph();
        let (re, im) = self.lambda;
        for (k, node) in graph.nodes().iter().enumerate() {
            match &node.op {
                Op::Input | Op::Red { .. } => {}
                Op::Rhs { x, .. } => {
                    let [a, b] = self.values[x.0];
                    self.values[k] = [re * a - im * b, im * a + re * b];
                }
                Op::Lc { terms } => {
                    let term = |part: usize| terms.iter().map(|(c, v)| c.value * self.values[v.0][part]).sum();
                    self.values[k] = [term(0), term(1)];
                }
            }
        }
        let next: Vec<[f64; 2]> = graph.carries().iter().map(|(_, v)| self.values[v.0]).collect();
        for ((input, _), value) in graph.carries().iter().zip(next) {
            self.values[input.0] = value;
        }
    }

    /// Euclidean norm of the inputs.
    fn size(&self) -> f64 {
        let inputs = self.method.graph().inputs();
        inputs.iter().flat_map(|v| self.values[v.0]).map(|v| v * v).sum::<f64>().sqrt()
    }
}

/// By which factor a step of size 1 multiplies the solution of y' = lambda y, in the long run for multi-step methods.
fn growth(method: &Method, lambda: (f64, f64)) -> f64 {
    let graph = method.graph();
    let inputs = graph.inputs();
    let steps = if inputs.len() == 1 { 1 } else { 120 };
    let mut run = Dahlquist { method, lambda, values: vec![[0.0; 2]; graph.nodes().len()] };
    for (k, input) in inputs.iter().enumerate() {
        run.values[input.0] = [1.0 / (1.0 + k as f64), 0.3 * k as f64];
    }
    // Parasitic solutions of multi-step methods die out first.
    if inputs.len() > 1 {
        (0..steps).for_each(|_| run.step());
    }
    let before = run.size();
    (0..steps).for_each(|_| run.step());
    let growth = (run.size() / before).powf(1.0 / f64::from(steps));
    if growth.is_nan() { f64::INFINITY } else { growth }
}

/// The largest |h lambda| found stable along a ray at `angle` from the positive real axis, on a scale of steps of 3 percent.
fn along(method: &Method, angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    // A multi-step method's growth is measured, not known.
    let bound = if method.inputs().len() == 1 { 1.0 + 1e-9 } else { 1.005 };
    let scale = (0..250).map(|k| 0.03 * 1.03_f64.powi(k));
    scale.filter(|x| growth(method, (x * cos, x * sin)) <= bound).fold(0.0, f64::max)
}

impl Method {
    /// The largest |h lambda| for which steps with y' = lambda y do not grow although lambda has no positive real part, over
    /// all directions; for larger ones a method is unstable whatever the problem. To about 3 percent.
    pub fn stability_limit(&self) -> f64 {
        let directions = 8;
        let angle = |k: i32| PI / 2.0 * (1.0 + f64::from(k) / f64::from(directions));
        (0..=directions).map(|k| along(&self.without_error(), angle(k))).fold(0.0, f64::max)
    }

    /// As [`Method::stability_limit`], for negative real lambda: diffusion, friction.
    pub fn real_stability_limit(&self) -> f64 {
        along(&self.without_error(), PI)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_literature() {
        // Hairer, Wanner, Solving ODEs II, IV.2 and, for Adams-Bashforth, V.1: -2/1, -1, -6/11, -3/10.
        for (name, real) in [
            ("euler", 2.0),
            ("heun2", 2.0),
            ("ssprk3", 2.51),
            ("rk4", 2.785),
            ("dopri54", 3.307),
            ("ab2", 1.0),
            ("ab3", 6.0 / 11.0),
            ("ab4", 0.3),
        ] {
            let limit = Method::named(name).unwrap().real_stability_limit();
            assert!(limit <= 1.02 * real && limit >= 0.95 * real, "{name}: {limit} instead of {real}");
        }
        let rk4 = Method::named("rk4").unwrap();
        assert!(rk4.stability_limit() >= 2.7 && rk4.stability_limit() < 3.6, "{}", rk4.stability_limit());
    }
}
