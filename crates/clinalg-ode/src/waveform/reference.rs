//! Waveform relaxation in plain sequential Rust: the oracle of the kernels.

use std::time::Instant;

use clinalg::Real;

use crate::method::graph::{Op, Value};
use crate::model::System;
use crate::run::reference::coefficient;
use crate::waveform::boundary::Boundary;
use crate::waveform::options::{Guess, Relaxation, Report, Storage, WaveformOptions};
use crate::waveform::partition::Partition;
use crate::waveform::stages::Stages;
use crate::{Error, Result};

/// Integrates `system` from `t0`, where the solution is `y0` in the system's own order in memory. The stability of the steps is not
/// checked; all components are one block for [`Partition::Device`].
///
/// ```
/// use clinalg_ode::waveform::{WaveformOptions, relax_sequentially};
/// use clinalg_ode::{Grid, System};
///
/// let heat = System::builder(Grid::unit(&[20])).field("u", "u[-1] - 2*u + u[1]").build()?;
/// let y0 = heat.sample(|_, [x, ..]| x * x);
/// let result = relax_sequentially(&heat, 0.0, &y0, &WaveformOptions::new(0.1, 8))?;
/// assert!(result.report.iterations[0] <= 9);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
///
/// # Errors
/// [`Error::Value`] for options outside their ranges; [`Error::Memory`] where the waveforms are larger than any memory;
/// [`Error::Waveform`] where a value is not finite; [`Error::Variant`] for OpenCL C.
pub fn relax_sequentially<T: Real>(
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
) -> Result<Relaxation<T>> {
    options.check(system, y0)?;
    if system.snippet.is_some() {
        let reason = "OpenCL C runs on devices only: take `relax`, or write formulas".into();
        return Err(Error::Variant { variant: "waveform", reason });
    }
    let d = system.components();
    let values = options.values::<T>(system)?;
    let stages = Stages::new(&options.method)?;
    let count = stages.count();
    let places: Vec<T> = stages.places().map(T::from_f64).collect();
    let mut sweep = Sweep::new(system, options, &stages);
    let mut old: Vec<T> = y0.iter().copied().cycle().take(values).collect();
    let mut new = old.clone();
    let seen = match options.storage {
        Storage::All => vec![true; d],
        Storage::Boundary => Boundary::new(system, &options.partition)?.components(system),
    };
    let stored = seen.iter().filter(|seen| **seen).count();
    let words = options.words(stored as f64 / d as f64, count);
    let mut report = Report::new((2 * values * size_of::<T>()) as u64, words);
    let mut windows = options.schedule();
    // Steps of the window before.
    let mut before = 0;
    while let Some(range) = windows.next() {
        let (window, steps) = (report.iterations.len(), range.len());
        let begun = Instant::now();
        if window > 0 {
            let start = old[before * count * d..][..d].to_vec();
            let earlier = old[(before - 1) * count * d..][..d].to_vec();
            let rows = if options.guess == Guess::Previous { 1 } else { steps * count + 1 };
            for (k, row) in old.chunks_mut(d).take(rows).enumerate() {
                for (c, value) in row.iter_mut().enumerate() {
                    *value = match options.guess {
                        Guess::Linear if k > 0 => {
                            let at = T::from_f64((k / count) as f64) + places[k % count];
                            start[c] + at * (start[c] - earlier[c])
                        }
                        _ => start[c],
                    };
                }
            }
            new[..d].copy_from_slice(&start);
        }
        let times = options.times(t0, range);
        let mut history = Vec::new();
        let rows = steps * count;
        // Finite termination: the iteration after as many others as rows changes nothing.
        for iteration in 1..=rows + 1 {
            for (i, t) in times.iter().enumerate() {
                let first = i * count * d;
                sweep.step(T::from_f64(*t), &old[first..], &mut new[first..]);
            }
            let values = (rows + 1) * d;
            let difference = difference(&old[..values], &new[..values], &seen);
            if !difference.is_finite() {
                let component = new[..values].iter().position(|v| !v.is_finite()).unwrap_or(0) % d;
                return Err(Error::Waveform { window, iteration, component });
            }
            history.push(difference);
            std::mem::swap(&mut old, &mut new);
            if options.ends(iteration, difference) {
                break;
            }
        }
        options.terminated(window, &history)?;
        windows.took(history.len());
        report.add(steps, history, begun.elapsed());
        before = steps;
    }
    let solution = old[before * count * d..][..d].to_vec();
    if let Some(component) = solution.iter().position(|v| !v.is_finite()) {
        let window = report.iterations.len() - 1;
        return Err(Error::Waveform { window, iteration: report.iterations[window], component });
    }
    old.truncate((before * count + 1) * d);
    let waveform = if options.keep { old } else { Vec::new() };
    Ok(Relaxation { solution, t: options.time(t0, options.steps), stopped: false, state: None, waveform, report })
}

/// A step of an iteration.
struct Sweep<'a, T> {
    system: &'a System,
    partition: Partition,
    stages: &'a Stages,
    /// The block of each component.
    blocks: Vec<usize>,
    constants: Vec<T>,
    h: T,
    /// The vectors of a step.
    vectors: Vec<Vec<T>>,
}

impl<'a, T: Real> Sweep<'a, T> {
    fn new(system: &'a System, options: &WaveformOptions, stages: &'a Stages) -> Sweep<'a, T> {
        Sweep {
            system,
            partition: options.partition,
            stages,
            blocks: options.partition.blocks(system),
            constants: system.constants::<T>(),
            h: T::from_f64(options.h),
            vectors: vec![vec![T::zero(); system.components()]; stages.graph().nodes().len()],
        }
    }

    /// Integrates over a step from `t` to `t` + h. `old` has the rows of the step in the previous iterate, `new` those of this one, of
    /// which the first is known, and the row after them.
    fn step(&mut self, t: T, old: &[T], new: &mut [T]) {
        let (graph, d) = (self.stages.graph(), self.blocks.len());
        self.vectors[self.stages.begin().0].copy_from_slice(&new[..d]);
        for (k, node) in graph.nodes().iter().enumerate() {
            match &node.op {
                Op::Rhs { c, x, .. } => {
                    let row = self.stages.row(*x).expect("arguments of right-hand sides are rows");
                    self.derivative(k, *x, t + T::from_f64(*c) * self.h, &old[row * d..][..d]);
                }
                Op::Lc { terms } => {
                    let (before, rest) = self.vectors.split_at_mut(k);
                    for (position, (c, v)) in terms.iter().enumerate() {
                        let factor = coefficient(*c, self.h, &[]);
                        for (z, v) in rest[0].iter_mut().zip(&before[v.0]) {
                            let product = if c.is_one() { *v } else { factor * *v };
                            *z = if position == 0 { product } else { *z + product };
                        }
                    }
                }
                Op::Input | Op::Red { .. } => {}
            }
            if let Some(row) = self.stages.row(Value(k)) {
                new[row * d..][..d].copy_from_slice(&self.vectors[k]);
            }
        }
        new[self.stages.count() * d..][..d].copy_from_slice(&self.vectors[graph.solution().0]);
    }

    /// The right-hand side at node `k` of `x`, where values of other blocks are those of the row `previous`.
    fn derivative(&mut self, k: usize, x: Value, t: T, previous: &[T]) {
        let Sweep { system, blocks, constants, vectors, .. } = self;
        let (before, rest) = vectors.split_at_mut(k);
        let current = &before[x.0];
        let mut store = |component: usize, f: T| rest[0][component] = f;
        for p in 0..system.grid().points() {
            if self.partition == Partition::Component {
                for field in 0..system.fields().len() {
                    let own = system.component(field, p);
                    let read = |c: usize| if c == own { current[c] } else { previous[c] };
                    store(own, system.eval_component(t, (system.place(field), p), constants, &read));
                }
            } else {
                let own = blocks[system.component(0, p)];
                let read = |c: usize| if blocks[c] == own { current[c] } else { previous[c] };
                system.eval_point(t, p, constants, &read, &mut store);
            }
        }
    }
}

/// The largest 2-norm of the difference of two iterates over the rows, of the components that are seen.
fn difference<T: Real>(old: &[T], new: &[T], seen: &[bool]) -> f64 {
    let square = |((a, b), seen): ((&T, &T), &bool)| {
        let difference = if *seen { (*b - *a).into_f64() } else { 0.0 };
        difference * difference
    };
    let d = seen.len();
    let norm = |(a, b): (&[T], &[T])| a.iter().zip(b).zip(seen).map(square).sum::<f64>().sqrt();
    let rows = old.chunks(d).zip(new.chunks(d)).map(norm);
    // `f64::max` would lose NaN.
    rows.fold(0.0, |m: f64, e| if m.is_nan() || e <= m { m } else { e })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::Stepper;
    use crate::model::Rhs;
    use crate::run::reference::Reference;
    use crate::waveform::options::Stop;
    use crate::{Grid, Layout, Method, model, problems};

    /// Euler's solution after each step.
    fn euler<T: Real>(system: &System, y0: &[T], options: &WaveformOptions) -> Vec<Vec<T>> {
        let mut stepper = Reference::<T>::new(&Method::named("euler").unwrap(), system as &dyn Rhs<T>);
        stepper.set(&[y0.to_vec()]).unwrap();
        let mut all = vec![y0.to_vec()];
        for k in 0..options.steps {
            stepper.advance(&[0.25 + k as f64 * options.h], options.h).unwrap();
            all.push(stepper.solution().unwrap());
        }
        all
    }

    fn systems() -> Vec<System> {
        let lap = |f: &str| format!("{f}[-1,0] + {f}[1,0] + {f}[0,-1] + {f}[0,1] - 4*{f}");
        let brusselator = |layout, boundary| {
            System::builder(Grid::unit(&[7, 5]))
                .field("u", format!("1 + u*u*v - 4.4*u + 0.2*({})", lap("u")))
                .field("v", format!("3.4*u - u*u*v + sin(t) + 0.2*({})", lap("v")))
                .boundary(boundary)
                .layout(layout)
                .build()
                .unwrap()
        };
        let bodies = System::builder(Grid::new(&[6], &[0.0], &[1.0])).field("p", "v").field("v", "sum(p' - p)");
        vec![
            brusselator(Layout::Interleaved, model::Boundary::Mirror),
            brusselator(Layout::FieldWise, model::Boundary::Periodic),
            System::builder(Grid::unit(&[23]))
                .field("u", "u[-2] - 2*u + u[2]")
                .boundary(model::Boundary::Copy)
                .build()
                .unwrap(),
            bodies.build().unwrap(),
        ]
    }

    fn partitions(system: &System) -> Vec<Partition> {
        let block = std::array::from_fn(|axis| [3, 2, 1][axis].min(system.grid().n[axis]));
        vec![Partition::Component, Partition::Point, Partition::Block(block), Partition::Block(system.grid().n)]
    }

    fn terminates<T: Real>() {
        for system in systems() {
            let y0: Vec<T> = (0..system.components()).map(|k| T::from_f64(1.0 + 0.3 * (k as f64).sin())).collect();
            for partition in partitions(&system) {
                let base = WaveformOptions { partition, ..WaveformOptions::new(0.01, 6) };
                let expected = euler(&system, &y0, &base);
                for count in 1..=6 {
                    let options = WaveformOptions { stop: Stop::Iterations(count), keep: true, ..base.clone() };
                    let result = relax_sequentially(&system, 0.25, &y0, &options).unwrap();
                    for (row, expected) in result.waveform.chunks(y0.len()).zip(&expected).take(count + 1) {
                        assert_eq!(row, &expected[..], "{partition:?} after {count}");
                    }
                }
                let whole = relax_sequentially(&system, 0.25, &y0, &base).unwrap();
                assert_eq!(whole.solution, expected[6], "{partition:?}");
                assert!(whole.report.iterations[0] <= 7);
                if partition == Partition::Block(system.grid().n) {
                    assert_eq!(whole.report.iterations, [2], "one block is Euler's method");
                }
            }
        }
    }

    #[test]
    fn after_w_iterations_w_steps_are_those_of_euler() {
        terminates::<f64>();
        terminates::<f32>();
    }

    /// With m right-hand sides a step, after w iterations the first w stages are those of the method itself.
    #[test]
    fn runge_kutta_methods_terminate() {
        for name in ["heun2", "ssprk3", "rk4", "rk38", "bs32", "rkf45", "dopri54", "verner65", "pirk-radau-iia-5"] {
            let method = Method::named(name).unwrap();
            let rows = method.without_error().graph().rhs_count();
            for system in &systems()[..2] {
                let y0: Vec<f64> = (0..system.components()).map(|k| 1.0 + 0.3 * (k as f64).sin()).collect();
                let mut stepper = Reference::<f64>::new(&method.without_error(), system as &dyn Rhs<f64>);
                stepper.set(std::slice::from_ref(&y0)).unwrap();
                stepper.advance(&[0.25, 0.25 + 0.01], 0.01).unwrap();
                let expected = stepper.solution().unwrap();
                for partition in partitions(system) {
                    let mut options = WaveformOptions { partition, ..WaveformOptions::new(0.01, 2) };
                    options.method = method.clone();
                    let result = relax_sequentially(system, 0.25, &y0, &options).unwrap();
                    assert_eq!(result.solution, expected, "{name} {partition:?}");
                    assert!(result.report.iterations[0] <= 2 * rows + 1, "{name}: {:?}", result.report.iterations);
                    options.stop = Stop::Iterations(2 * rows);
                    let result = relax_sequentially(system, 0.25, &y0, &options).unwrap();
                    assert_eq!(result.solution, expected, "{name} {partition:?}");
                }
            }
        }
    }

    #[test]
    fn windows_and_guesses_reach_the_same_solution() {
        let system = &systems()[0];
        let y0: Vec<f64> = (0..system.components()).map(|k| 1.0 + 0.3 * (k as f64).sin()).collect();
        let expected = euler(system, &y0, &WaveformOptions::new(0.01, 12));
        for (windows, guess) in
            [(1, Guess::Constant), (3, Guess::Constant), (3, Guess::Previous), (12, Guess::Previous)]
        {
            let options = WaveformOptions { windows, guess, ..WaveformOptions::new(0.01, 12) };
            let result = relax_sequentially(system, 0.25, &y0, &options).unwrap();
            assert_eq!(result.solution, expected[12], "{windows} {guess:?}");
            assert_eq!(result.report.iterations.len(), windows);
        }
    }

    #[test]
    fn iterations_of_the_brusselator() {
        // The specification's counts at N = 100, s = 100, eps = 1e-3: 6 by Jacobi, 4 by blocks of 32 by 32 points.
        let problem = problems::problem("bruss2d-mix", 100).unwrap();
        for (partition, expected) in [(Partition::Component, 6), (Partition::Block([32, 32, 1]), 4)] {
            let options =
                WaveformOptions { partition, stop: Stop::Difference(1e-3), ..WaveformOptions::new(1e-4, 100) };
            let result = relax_sequentially(&problem.system, problem.t0, &problem.y0().unwrap(), &options).unwrap();
            assert_eq!(result.report.iterations, [expected], "{partition:?}");
        }
    }

    #[test]
    fn bad_options_are_errors() {
        let system = &systems()[2];
        let y0 = vec![1.0; 23];
        let good = WaveformOptions::new(0.1, 6);
        let id = |options: WaveformOptions| relax_sequentially(system, 0.0, &y0, &options).unwrap_err().id();
        for bad in [
            WaveformOptions { h: 0.0, ..good.clone() },
            WaveformOptions { h: f64::NAN, ..good.clone() },
            WaveformOptions { steps: 0, ..good.clone() },
            WaveformOptions { windows: 4, ..good.clone() },
            WaveformOptions { windows: 0, ..good.clone() },
            WaveformOptions { stop: Stop::Iterations(0), ..good.clone() },
            WaveformOptions { stop: Stop::Difference(f64::NAN), ..good.clone() },
            WaveformOptions { partition: Partition::Block([24, 1, 1]), ..good.clone() },
            WaveformOptions { partition: Partition::Block([0, 1, 1]), ..good.clone() },
        ] {
            assert_eq!(id(bad), "clinalg:argument:value");
        }
        let huge = WaveformOptions { steps: usize::MAX, ..good.clone() };
        assert_eq!(id(huge), "clinalg:ode:memory");
        let grows = System::from_text("u' = u^16", &[]).unwrap();
        let options = WaveformOptions::new(1e30, 4);
        let error = relax_sequentially(&grows, 0.0, &[10.0_f64], &options).unwrap_err();
        assert_eq!(error.id(), "clinalg:ode:waveform");
        assert!(error.to_string().contains("iteration 1"), "{error}");
    }
}
