//! Waveform relaxation in plain sequential Rust: the oracle of the kernels.

use clinalg::Real;

use crate::model::System;
use crate::waveform::boundary::Boundary;
use crate::waveform::options::{Guess, Relaxation, Report, Storage, WaveformOptions};
use crate::waveform::partition::Partition;
use crate::{Error, Result};

/// Integrates `system` from `t0`, where the solution is `y0` in the system's own order in memory.
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
/// [`Error::Waveform`] where a value is not finite.
pub fn relax_sequentially<T: Real>(
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
) -> Result<Relaxation<T>> {
    options.check(system, y0)?;
    let d = system.components();
    let values = options.values::<T>(system)?;
    let blocks = options.partition.blocks(system);
    let constants = system.constants::<T>();
    let h = T::one() * T::from_f64(options.h);
    let mut old: Vec<T> = y0.iter().copied().cycle().take(values).collect();
    let mut new = old.clone();
    let seen = match options.storage {
        Storage::All => vec![true; d],
        Storage::Boundary => Boundary::new(system, &options.partition)?.components(system),
    };
    let stored = seen.iter().filter(|seen| **seen).count();
    let mut report = Report::new((2 * values * size_of::<T>()) as u64, options.words(stored as f64 / d as f64));
    let mut windows = options.schedule();
    // Steps of the window before.
    let mut before = 0;
    while let Some(range) = windows.next() {
        let (window, steps) = (report.iterations.len(), range.len());
        if window > 0 {
            let start = old[before * d..][..d].to_vec();
            let earlier = old[(before - 1) * d..][..d].to_vec();
            let rows = if options.guess == Guess::Previous { 1 } else { steps + 1 };
            for (k, row) in old.chunks_mut(d).take(rows).enumerate() {
                for (c, value) in row.iter_mut().enumerate() {
                    *value = match options.guess {
                        Guess::Linear if k > 0 => start[c] + T::from_f64(k as f64) * (start[c] - earlier[c]),
                        _ => start[c],
                    };
                }
            }
            new[..d].copy_from_slice(&start);
        }
        let times = options.times(t0, range);
        let mut history = Vec::new();
        // Finite termination: the iteration after s others changes nothing.
        for iteration in 1..=steps + 1 {
            for (i, t) in times.iter().enumerate() {
                let previous = &old[i * d..(i + 1) * d];
                let (done, next) = new.split_at_mut((i + 1) * d);
                let current = &done[i * d..];
                let t = T::from_f64(*t);
                let mut step = |component: usize, f: T| next[component] = current[component] + h * f;
                for p in 0..system.grid().points() {
                    let place = |component: usize| blocks[component];
                    if options.partition == Partition::Component {
                        for field in 0..system.fields().len() {
                            let own = system.component(field, p);
                            let read = |c: usize| if c == own { current[c] } else { previous[c] };
                            step(own, system.eval_component(t, (system.place(field), p), &constants, &read));
                        }
                    } else {
                        let own = place(system.component(0, p));
                        let read = |c: usize| if place(c) == own { current[c] } else { previous[c] };
                        system.eval_point(t, p, &constants, &read, &mut step);
                    }
                }
            }
            let rows = (steps + 1) * d;
            let difference = difference(&old[..rows], &new[..rows], &seen);
            if !difference.is_finite() {
                let component = new[..rows].iter().position(|v| !v.is_finite()).unwrap_or(0) % d;
                return Err(Error::Waveform { window, iteration, component });
            }
            history.push(difference);
            std::mem::swap(&mut old, &mut new);
            if options.ends(iteration, difference) {
                break;
            }
        }
        windows.took(history.len());
        report.add(steps, history);
        before = steps;
    }
    let solution = old[before * d..][..d].to_vec();
    if let Some(component) = solution.iter().position(|v| !v.is_finite()) {
        let window = report.iterations.len() - 1;
        return Err(Error::Waveform { window, iteration: report.iterations[window], component });
    }
    old.truncate((before + 1) * d);
    Ok(Relaxation { solution, waveform: if options.keep { old } else { Vec::new() }, report })
}

/// The largest 2-norm of the difference of two iterates over the steps, of the components that are seen.
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
            let result = relax_sequentially(&problem.system, problem.t0, &problem.y0, &options).unwrap();
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
