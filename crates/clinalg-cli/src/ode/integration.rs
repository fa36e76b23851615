//! The timed part of `clinalg ode`: one integration with its frames.

use std::time::{Duration, Instant};

use clinalg::Real;
use clinalg_ode::Error;
use clinalg_ode::integrate::{Integrator, Options, Report, State, StepOutcome, Stepper, Stored, Tolerance};
use clinalg_ode::problems::Problem;

use super::document::Invariant;
use super::film::Film;
use crate::exit::Failure;
use crate::interrupt;
use crate::progress::Progress;
use crate::series::Series;

pub(super) struct Done<T> {
    /// The solution at the end, where it was wanted.
    pub(super) y: Option<Vec<T>>,
    pub(super) summary: Summary,
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

/// What a run says about its solution.
pub(super) struct Summary {
    /// The largest difference from the exact solution.
    pub(super) error: Option<f64>,
    pub(super) invariants: Vec<Invariant>,
    /// Those of the solution at the beginning and at the end, for `--verbose`.
    pub(super) norms: [f64; 2],
    /// Time of the comparison with the exact solution, and of the rest.
    pub(super) comparing: Duration,
    pub(super) summing: Duration,
}

/// Summarises the solutions at the beginning and at the end.
type Summarise<'a, T> = dyn Fn(Stored<'_, T>, Stored<'_, T>, &Report) -> Result<Summary, Failure> + 'a;

/// Where the solutions at the times of frames go.
pub(super) struct Frames {
    pub(super) film: Option<Film>,
    pub(super) series: Series,
}

impl Frames {
    /// Stores the solution at a time; returns the time that reading all of it took.
    fn keep<T: Real>(&mut self, problem: &Problem, t: f64, y: Stored<'_, T>) -> Result<Duration, Error> {
        let start = Instant::now();
        let all = match y {
            // A file has all values. A team takes part as a whole, and reads each part once.
            Stored::Device(_) if self.series.has_files() => Some(y.to_vec()?),
            Stored::Parts(_) if self.series.has_files() || self.film.is_some() => Some(y.to_vec()?),
            _ => None,
        };
        let reading = start.elapsed();
        let y = all.as_deref().map_or(y, Stored::Host);
        if let Some(film) = &mut self.film {
            film.keep(t, y)?;
        }
        match y {
            Stored::Host(y) => self.series.keep_solution(problem, t, y)?,
            _ => self.series.times.push(t),
        }
        Ok(reading)
    }
}

/// An integration whose initial values are where the steps are computed.
pub(super) struct Run<'a, T: Real> {
    pub(super) problem: &'a Problem,
    pub(super) t_end: f64,
    pub(super) options: &'a Options,
    /// Where another integration stood that this one continues.
    pub(super) resume: Option<&'a State<T>>,
    /// Whether a checkpoint is written at the end, which can then be that of the steps allowed.
    pub(super) keeps: bool,
    /// Whether the solution at the end is needed on the host.
    pub(super) whole: bool,
    /// Summarises the solutions at the beginning and at the end.
    pub(super) summarise: &'a Summarise<'a, T>,
    pub(super) way: &'a Progress,
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
        let Run { problem, t_end, options, resume, keeps, whole, summarise, way, start, upload } = self;
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
                saved += frames.keep(problem, t, y)?;
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
                !interrupt::interrupted()
            });
        for event in problem.system.events() {
            integrator = integrator.event(event)?;
        }
        if let Some(state) = resume {
            integrator.restore(state)?;
        }
        let ended_by = match integrator.run() {
            Err(Error::StepLimit { slides: None, .. }) if keeps => None,
            Ok(StepOutcome::Event(event)) => Some(event),
            other => other.map(|_| None)?,
        };
        integrator.stored()?;
        let all = start.elapsed();
        let start = Instant::now();
        let end = integrator.stored()?;
        let y = (whole || matches!(end, Stored::Parts(_))).then(|| end.to_vec()).transpose()?;
        let back = start.elapsed();
        let end = match &y {
            Some(y) if matches!(end, Stored::Parts(_)) => Stored::Host(y),
            _ => end,
        };
        let summary = summarise(y0, end, integrator.report())?;
        let kept = keeps || interrupt::interrupted();
        let state = kept.then(|| integrator.state()).transpose()?;
        let report = integrator.into_report();
        Ok(Done {
            y,
            summary,
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
