//! Predicted times of an iteration and of the method itself, from trials of short windows.

use std::time::Instant;

use clinalg::team::Team;
use clinalg::{Context, Real, counted, number};

use crate::integrate::Stepper;
use crate::model::System;
use crate::plan::Variant;
use crate::waveform::device::relax;
use crate::waveform::options::{Relaxation, Stop, WaveformOptions};
use crate::waveform::stages::Stages;
use crate::waveform::team::{Sharing, relax_on_team};
use crate::{DeviceStepper, Result};

/// Steps of the longer trial. The shorter one has a single step.
const STEPS: usize = 9;

/// Runs of each trial, of which the fastest counts. The first one builds the kernels.
const RUNS: usize = 4;

/// Seconds as a straight line over the steps.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line {
    once: f64,
    per_step: f64,
}

impl Line {
    /// Through the times of trials of one step and of several, which is a single one again where a window has no more.
    fn through(one: f64, several: f64, steps: usize) -> Line {
        let per_step = if steps > 1 { (several - one).max(0.0) / (steps - 1) as f64 } else { one };
        Line { once: (one - per_step).max(0.0), per_step }
    }

    fn at(self, steps: usize) -> f64 {
        self.once + steps as f64 * self.per_step
    }
}

/// What an iteration and the method itself are predicted to take. Both are lines through trials of one step and of a few.
///
/// ```
/// use clinalg::Context;
/// use clinalg_ode::waveform::{Prediction, WaveformOptions};
/// use clinalg_ode::{Grid, System};
///
/// let heat = System::builder(Grid::unit(&[40, 40])).field("u", "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u").build()?;
/// let y0 = heat.sample(|_, [x, y, _]| (3.0 * x).cos() * y);
/// let options = WaveformOptions::new(0.01, 20);
/// let predicted = Prediction::on_device::<f64>(&Context::global()?, &heat, 0.0, &y0, &options)?;
/// assert!(predicted.iteration(20) > 0.0 && predicted.method(20) > 0.0);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    iteration: Line,
    method: Line,
}

impl Prediction {
    /// For [`relax`].
    ///
    /// # Errors
    /// Those of [`relax`], but for steps past the stability limit, which are not looked for.
    pub fn on_device<T: Real>(
        context: &Context,
        system: &System,
        t0: f64,
        y0: &[T],
        options: &WaveformOptions,
    ) -> Result<Prediction> {
        let predicted = Prediction::on_device_while(context, system, t0, y0, options, &mut || true)?;
        Ok(predicted.expect("nothing stopped the trials"))
    }

    /// As [`Prediction::on_device`], as long as `go_on`, which is called between trials, gives `true`; otherwise `None`.
    ///
    /// # Errors
    /// Those of [`Prediction::on_device`].
    pub fn on_device_while<T: Real>(
        context: &Context,
        system: &System,
        t0: f64,
        y0: &[T],
        options: &WaveformOptions,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Prediction>> {
        let trial = |options: &WaveformOptions| relax(context, system, t0, y0, options);
        Prediction::from_trials(context, (system, t0, y0), options, trial, go_on)
    }

    /// For [`relax_on_team`]. The method itself is that of the first device alone. All processes of the team must make this call.
    ///
    /// # Errors
    /// Those of [`relax_on_team`], but for steps past the stability limit, which are not looked for.
    pub fn on_team<T: Real>(
        team: &Team,
        system: &System,
        t0: f64,
        y0: &[T],
        options: &WaveformOptions,
        sharing: Sharing,
    ) -> Result<Prediction> {
        let predicted = Prediction::on_team_while(team, system, t0, y0, options, sharing, &mut || true)?;
        Ok(predicted.expect("nothing stopped the trials"))
    }

    /// As [`Prediction::on_team`], as long as `go_on`, which is called between trials, gives `true`; otherwise `None`. It must give
    /// the same in all processes.
    ///
    /// # Errors
    /// Those of [`Prediction::on_team`].
    pub fn on_team_while<T: Real>(
        team: &Team,
        system: &System,
        t0: f64,
        y0: &[T],
        options: &WaveformOptions,
        sharing: Sharing,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Prediction>> {
        let trial = |options: &WaveformOptions| relax_on_team(team, system, t0, y0, options, sharing, None);
        Prediction::from_trials(&team.contexts()[0], (system, t0, y0), options, trial, go_on)
    }

    fn from_trials<T: Real>(
        context: &Context,
        (system, t0, y0): (&System, f64, &[T]),
        options: &WaveformOptions,
        relaxed: impl Fn(&WaveformOptions) -> Result<Relaxation<T>>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Prediction>> {
        options.check(system, y0)?;
        let several = STEPS.min(options.window());
        let mut iteration = |steps: usize| -> Result<Option<f64>> {
            let short = WaveformOptions {
                steps,
                windows: 1,
                stop: Stop::Iterations(1),
                adaptive: None,
                keep: false,
                watch_stability: false,
                balance: false,
                ..options.clone()
            };
            let mut fastest = f64::INFINITY;
            for _ in 0..RUNS {
                if !go_on() {
                    return Ok(None);
                }
                fastest = fastest.min(relaxed(&short)?.report.seconds);
            }
            Ok(Some(fastest))
        };
        let (Some(one), Some(more)) = (iteration(1)?, iteration(several)?) else { return Ok(None) };
        let iteration = Line::through(one, more, several);
        let mut stepper = DeviceStepper::<T>::new(context, &options.method.without_error(), system, Variant::Fused)?;
        let start = y0.to_vec();
        let mut method = |steps: usize| -> Result<Option<f64>> {
            let times = options.times(t0, 0..steps);
            let mut fastest = f64::INFINITY;
            for _ in 0..RUNS {
                if !go_on() {
                    return Ok(None);
                }
                stepper.set(std::slice::from_ref(&start))?;
                context.finish()?;
                let begun = Instant::now();
                stepper.advance(&times, options.h)?;
                context.finish()?;
                fastest = fastest.min(begun.elapsed().as_secs_f64());
            }
            Ok(Some(fastest))
        };
        let (Some(one), Some(more)) = (method(1)?, method(several)?) else { return Ok(None) };
        let method = Line::through(one, more, several);
        Ok(Some(Prediction { iteration, method }))
    }

    /// Seconds of an iteration of a window of so many steps.
    pub fn iteration(&self, steps: usize) -> f64 {
        self.iteration.at(steps)
    }

    /// Seconds of so many steps of the method itself, with a launch for each stage.
    pub fn method(&self, steps: usize) -> f64 {
        self.method.at(steps)
    }

    /// Seconds of windows of these steps that take these iterations, as [`Report`](crate::waveform::Report) has them.
    pub fn windows(&self, steps: &[usize], iterations: &[usize]) -> f64 {
        steps.iter().zip(iterations).map(|(steps, count)| *count as f64 * self.iteration(*steps)).sum()
    }

    /// The largest number of iterations per window at which waveform relaxation is no slower than the method without it.
    pub fn break_even_iterations(&self, options: &WaveformOptions) -> f64 {
        self.method(options.window()) / self.iteration(options.window()).max(f64::MIN_POSITIVE)
    }

    /// The predicted times, and why the method itself is taken or not.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a method that is no explicit Runge-Kutta method.
    pub fn explain(&self, options: &WaveformOptions) -> Result<String> {
        let (window, name) = (options.window(), options.method.name());
        let paying = self.break_even_iterations(options);
        let most = window * Stages::new(&options.method)?.count() + 1;
        let count = match options.stop {
            Stop::Iterations(count) => count.min(most),
            Stop::Difference(_) => most,
        };
        let all = (options.windows * count) as f64 * self.iteration(window);
        let iterations = counted(count, "iteration");
        let reason = match options.stop {
            _ if paying < 1.0 => format!("one iteration takes longer than {name} without relaxation"),
            Stop::Iterations(_) if count as f64 > paying => {
                format!(
                    "relaxation is faster for at most {} per window, and {count} were requested",
                    counted(paying as usize, "iteration")
                )
            }
            Stop::Iterations(_) => {
                format!("{iterations} per window take less time, but may not reach the solution of {name}")
            }
            Stop::Difference(_) => format!(
                "relaxation is faster for at most {} per window, and the number needed is known only after the run",
                counted(paying as usize, "iteration")
            ),
        };
        let ms = |seconds: f64| format!("{} ms", number(1e3 * seconds, 3));
        Ok(format!(
            "predicted from trials of up to {}: {} per iteration of a window, {} for the same steps of {name}\n\
             {iterations} of each window: {}; {name} without relaxation: {}\n\
             `auto` takes {name} without relaxation: {reason}\n",
            counted(STEPS.min(window), "step"),
            ms(self.iteration(window)),
            ms(self.method(window)),
            ms(all),
            ms(self.method(options.steps)),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_through_the_trials() {
        let line = Line::through(3.0, 11.0, 5);
        assert_eq!((line.at(1), line.at(5), line.at(0)), (3.0, 11.0, 1.0));
        // A window of one step, and a trial that noise made the faster one.
        assert_eq!(Line::through(3.0, 3.0, 1).at(1), 3.0);
        assert_eq!(Line::through(3.0, 2.0, 5).at(100), 3.0);
    }

    #[test]
    fn reasons_follow_the_iterations_that_pay() {
        let line = |per_step| Line { once: 0.0, per_step };
        let mut options = WaveformOptions::new(0.1, 20);
        options.windows = 2;
        let text = |iteration, method, options: &WaveformOptions| {
            Prediction { iteration: line(iteration), method: line(method) }.explain(options).unwrap()
        };
        assert!(text(2.0, 1.0, &options).contains("one iteration takes longer than euler"));
        let known = text(1e-3, 3e-3, &options);
        assert!(known.contains("at most 3 iterations per window, and the number"), "{known}");
        // Two windows of 10 steps, 11 iterations of 10 ms at most; 20 steps of 3 ms.
        assert!(known.contains("11 iterations of each window: 220 ms; euler without relaxation: 60 ms"), "{known}");
        options.stop = Stop::Iterations(5);
        assert!(text(1e-3, 3e-3, &options).contains("and 5 were requested"));
        options.stop = Stop::Iterations(1);
        let one = text(1e-3, 3e-3, &options);
        assert!(one.contains("\n1 iteration of each window"), "{one}");
        options.stop = Stop::Iterations(2);
        assert!(text(1e-3, 3e-3, &options).contains("2 iterations per window take less time"));
    }
}
