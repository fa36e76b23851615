//! The timed part of `clinalg ode`: one integration with its frames.

use std::time::{Duration, Instant};

use clinalg::Real;
use clinalg_ode::Error;
use clinalg_ode::integrate::{Integrator, Options, Report, State, Stepper, Stored, Taken, Tolerance};
use clinalg_ode::problems::Problem;

use super::film::Film;
use crate::exit::Failure;
use crate::interrupt;
use crate::progress::Way;
use crate::series::Series;

pub(super) struct Done<T> {
    pub(super) y: Vec<T>,
    pub(super) report: Report,
    /// The terminal event that ended it.
    pub(super) ended_by: Option<usize>,
    /// Where the integration stands, if it is kept.
    pub(super) state: Option<State<T>>,
    pub(super) setup: Duration,
    pub(super) upload: Duration,
    pub(super) solving: Duration,
    pub(super) download: Duration,
}

/// Where the solutions at the times of frames go.
pub(super) struct Frames {
    pub(super) film: Option<Film>,
    pub(super) series: Series,
}

impl Frames {
    fn keep<T: Real>(&mut self, problem: &Problem, t: f64, y: &[T]) -> clinalg::Result<()> {
        if let Some(film) = &mut self.film {
            film.keep(problem, t, y);
        }
        self.series.keep_solution(problem, t, y)
    }
}

/// An integration whose initial values are where the steps are computed.
pub(super) struct Run<'a, T> {
    pub(super) problem: &'a Problem,
    pub(super) t_end: f64,
    pub(super) options: &'a Options,
    /// Where another integration stood that this one continues.
    pub(super) resume: Option<&'a State<T>>,
    /// Whether a checkpoint is written at the end, which can then be that of the steps allowed.
    pub(super) keeps: bool,
    pub(super) way: &'a Way,
    /// Beginning of the set-up.
    pub(super) start: Instant,
    /// Part of it that was the way of the initial values to the device.
    pub(super) upload: Duration,
}

impl<T: Real> Run<'_, T> {
    /// Integrates; the solution is kept for the frames where the options say so.
    pub(super) fn integrate<S: Stepper<T>>(
        self,
        stepper: &mut S,
        y0: Stored<'_, T>,
        frames: &mut Frames,
    ) -> Result<Done<T>, Failure> {
        let Run { problem, t_end, options, resume, keeps, way, start, upload } = self;
        // Kernels are built at their first use: by a step that is not taken, and by the search for the first step size.
        let tolerance = Tolerance { relative: 1.0, absolute: 1.0, norm: options.norm };
        stepper.trial(problem.t0, 0.0, &tolerance)?;
        drop(Integrator::new(stepper, problem.t0, t_end, y0, options)?);
        let setup = start.elapsed().saturating_sub(upload);
        // The stability of a fixed step has been checked.
        let options = Options { watch_stability: options.fixed_step.is_none(), ..options.clone() };
        let start = Instant::now();
        let integrator = Integrator::new(stepper, problem.t0, t_end, y0, &options)?;
        let mut told = Instant::now();
        let (mut saving, mut saved) = (Duration::ZERO, Duration::ZERO);
        let mut integrator = integrator
            .on_save_stored(|t, y| {
                let start = Instant::now();
                match y {
                    Stored::Host(y) => frames.keep(problem, t, y)?,
                    y => {
                        let y = y.to_vec()?;
                        saved += start.elapsed();
                        frames.keep(problem, t, &y)?;
                    }
                }
                saving += start.elapsed();
                Ok(())
            })
            .on_progress(|report| {
                if told.elapsed() > Duration::from_millis(50) {
                    told = Instant::now();
                    let part = (report.t - problem.t0) / (t_end - problem.t0);
                    way.reached(
                        part,
                        format!("t = {:.6}, {} steps, {} rejected", report.t, report.accepted, report.rejected),
                    );
                }
                !interrupt::asked()
            });
        for event in problem.system.events() {
            integrator = integrator.event(event)?;
        }
        if let Some(state) = resume {
            integrator.restore(state)?;
        }
        let ended_by = match integrator.run() {
            Err(Error::StepLimit { slides: None, .. }) if keeps => None,
            Ok(Taken::Event(event)) => Some(event),
            other => other.map(|_| None)?,
        };
        integrator.stored()?;
        let all = start.elapsed();
        let start = Instant::now();
        let y = integrator.stored()?.to_vec()?;
        let back = start.elapsed();
        let kept = keeps || interrupt::asked();
        let state = kept.then(|| integrator.state()).transpose()?;
        let report = integrator.into_report();
        Ok(Done {
            y,
            report,
            ended_by,
            state,
            setup,
            upload,
            solving: all.saturating_sub(saving),
            download: back + saved,
        })
    }
}
