//! The timed part of `clinalg ode`: one integration with its frames, on devices or on the host.

use std::time::{Duration, Instant};

use clinalg::team::Team;
use clinalg::{Context, Real};
use clinalg_ode::integrate::{Integrator, Options, Report, Stabilised, State, StepOutcome, Stepper, Stored, Tolerance};
use clinalg_ode::problems::Problem;
use clinalg_ode::reference::Reference;
use clinalg_ode::team::{TeamOptions, TeamStepper};
use clinalg_ode::{DeviceOptions, DeviceStepper, Error, Method, Variant};

use super::Args;
use super::document::Invariant;
use super::frame_buffer::FrameBuffer;
use super::reference::exact;
use crate::executor::Executor;
use crate::exit::Failure;
use crate::interrupt;
use crate::progress::Progress;
use crate::series::Series;
use crate::text::number;

pub(super) struct Done<T> {
    /// The solution at the end, where it was wanted.
    pub(super) y: Option<Vec<T>>,
    pub(super) summary: Summary,
    pub(super) report: Report,
    /// The terminal event that ended it.
    pub(super) ended_by: Option<usize>,
    /// Whether it ended at the limit on steps.
    pub(super) limited: bool,
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

impl<T> Done<T> {
    /// The parts of the run with their times.
    pub(super) fn phases(&self) -> [(&'static str, Duration); 6] {
        [
            ("set-up", self.setup),
            ("upload", self.upload),
            ("integration", self.solving),
            ("download", self.download),
            ("reference", self.summary.comparing),
            ("output", self.summary.summing),
        ]
    }
}

/// How the steps are computed.
#[derive(Default)]
pub(super) struct StepperInfo {
    pub(super) variant: String,
    pub(super) kernels: Option<usize>,
    pub(super) words: Option<f64>,
    pub(super) steps_per_exchange: Option<usize>,
    pub(super) stages: Option<usize>,
    pub(super) explain: Option<String>,
}

/// Where the solutions at the times of frames go.
pub(super) struct Frames {
    pub(super) buffer: Option<FrameBuffer>,
    pub(super) series: Series,
}

impl Frames {
    /// Stores the solution at a time; returns the time that reading all of it took.
    fn keep<T: Real>(&mut self, problem: &Problem, t: f64, y: Stored<'_, T>) -> Result<Duration, Error> {
        let start = Instant::now();
        let all = match y {
            // A file has all values.
            Stored::Device(_) | Stored::Parts(_) if self.series.has_files() => Some(y.to_vec()?),
            _ => None,
        };
        let reading = start.elapsed();
        let y = all.as_deref().map_or(y, Stored::Host);
        if let Some(buffer) = &mut self.buffer {
            buffer.keep(t, y)?;
        }
        match y {
            Stored::Host(y) => self.series.keep_solution(problem, t, y)?,
            _ => self.series.times.push(t),
        }
        Ok(reading)
    }
}

/// Default number of fixed steps per pass.
const AT_ONCE: usize = 4;

/// An integration as options and files describe it.
pub(super) struct Integration<'a, T: Real> {
    pub(super) args: &'a Args,
    pub(super) problem: &'a Problem,
    pub(super) method: &'a Method,
    pub(super) t_end: f64,
    pub(super) options: &'a Options,
    /// Where another integration stood that this one continues.
    pub(super) resume: Option<&'a State<T>>,
    /// Whether a checkpoint is written at the end, which can then be that of the steps allowed.
    pub(super) keeps: bool,
    /// Whether the solution at the end is needed on the host.
    pub(super) whole: bool,
    /// Whether norms are wanted.
    pub(super) verbose: bool,
    pub(super) progress: &'a Progress,
    /// Beginning of the set-up.
    pub(super) start: Instant,
}

impl<T: Real> Integration<'_, T> {
    /// Integrates on the executor; keeps the solution for the frames if the options require it.
    pub(super) fn run(
        &self,
        executor: &Executor,
        variant: Option<Variant>,
        balance: bool,
        frames: &mut Frames,
    ) -> Result<(Done<T>, StepperInfo), Failure> {
        let fixed = self.args.h.is_some() || self.args.is_stabilised();
        let steps = self.args.steps_at_once.unwrap_or(if fixed { AT_ONCE } else { 1 });
        match (executor, variant.map(|variant| DeviceOptions { variant, steps, tile: None })) {
            (Executor::Team(team), Some(options)) => self.on_team(team, options, balance, frames),
            (Executor::Device(context), Some(options)) => self.on_device(context, &options, frames),
            _ => self.on_host(frames),
        }
    }

    fn on_team(
        &self,
        team: &Team,
        device: DeviceOptions,
        balance: bool,
        frames: &mut Frames,
    ) -> Result<(Done<T>, StepperInfo), Failure> {
        let mut options = TeamOptions::default();
        options.device = device;
        let make = if balance { TeamStepper::<T>::balanced } else { TeamStepper::new };
        let mut stepper = make(team, self.method, &self.problem.system, &options)?;
        let first = &stepper.ranks()[0];
        let info = StepperInfo {
            variant: first.variant().name().into(),
            kernels: Some(first.kernels()),
            words: Some(first.words()),
            steps_per_exchange: stepper.steps_per_exchange(),
            ..StepperInfo::default()
        };
        let (y0, upload) = self.initial(team.contexts(), || stepper.y0(self.problem))?;
        Ok((self.integrate(&mut stepper, y0.stored(), upload, frames)?, info))
    }

    /// Initial values on devices, and the time of their transfer, if the devices do not compute them.
    fn initial<V>(
        &self,
        contexts: &[Context],
        y0: impl FnOnce() -> Result<V, Error>,
    ) -> Result<(V, Duration), Failure> {
        let start = Instant::now();
        let y0 = y0()?;
        contexts.iter().try_for_each(Context::finish)?;
        let is_computed = contexts.iter().all(|context| self.problem.has_kernel_for_y0(context));
        Ok((y0, if is_computed { Duration::ZERO } else { start.elapsed() }))
    }

    fn on_device(
        &self,
        context: &Context,
        options: &DeviceOptions,
        frames: &mut Frames,
    ) -> Result<(Done<T>, StepperInfo), Failure> {
        let mut stepper = DeviceStepper::<T>::with(context, &self.step_method()?, &self.problem.system, options)?;
        let mut info = StepperInfo {
            variant: stepper.variant().name().into(),
            kernels: Some(stepper.kernels()),
            words: Some(stepper.words()),
            ..StepperInfo::default()
        };
        if self.args.explain {
            stepper.measure()?;
            info.explain = Some(stepper.explain());
        }
        let (y0, upload) = self.initial(std::slice::from_ref(context), || self.problem.y0_on(context))?;
        Ok((self.on_one(stepper, (&y0).into(), upload, &mut info, frames)?, info))
    }

    fn on_host(&self, frames: &mut Frames) -> Result<(Done<T>, StepperInfo), Failure> {
        let mut info = StepperInfo { variant: self.args.variant.clone(), ..StepperInfo::default() };
        let y0 = self.problem.y0_as()?;
        let stepper = Reference::<T>::new(&self.step_method()?, &self.problem.system);
        Ok((self.on_one(stepper, (&y0).into(), Duration::ZERO, &mut info, frames)?, info))
    }

    /// What a stepper computes as one step.
    fn step_method(&self) -> Result<Method, Failure> {
        Ok(if self.args.is_stabilised() { Stabilised::<()>::stage()? } else { self.method.clone() })
    }

    /// Integrates by this stepper, or by the stabilised method over it.
    fn on_one<S: Stepper<T>>(
        &self,
        mut stepper: S,
        y0: Stored<'_, T>,
        upload: Duration,
        info: &mut StepperInfo,
        frames: &mut Frames,
    ) -> Result<Done<T>, Failure> {
        if !self.args.is_stabilised() {
            return self.integrate(&mut stepper, y0, upload, frames);
        }
        let mut stepper = self.args.stabilised(stepper)?;
        let done = self.integrate(&mut stepper, y0, upload, frames)?;
        info.stages = Some(stepper.most_stages());
        Ok(done)
    }

    /// The errors and invariants of the solutions at the beginning and at the end.
    fn summarise(&self, y0: Stored<'_, T>, y: Stored<'_, T>, report: &Report) -> Result<Summary, Failure> {
        let (problem, start) = (self.problem, Instant::now());
        let at_end = report.t == self.t_end;
        let error = if at_end { exact(self.args.reference, problem, y, self.t_end)? } else { None };
        let comparing = start.elapsed();
        let kept = problem.invariants_of(y0)?.into_iter().zip(problem.invariants_of(y)?);
        let invariants = kept.map(|((name, start), (_, end))| Invariant { name, start, end }).collect();
        let norms = if self.verbose { [y0.norm2()?, y.norm2()?] } else { [0.0; 2] };
        Ok(Summary { error, invariants, norms, comparing, summing: start.elapsed().saturating_sub(comparing) })
    }

    /// Integrates from initial values that are already on the executor; `upload` is the part of the set-up that their transfer took.
    fn integrate<S: Stepper<T>>(
        &self,
        stepper: &mut S,
        y0: Stored<'_, T>,
        upload: Duration,
        frames: &mut Frames,
    ) -> Result<Done<T>, Failure> {
        let Integration { problem, t_end, options, resume, keeps, whole, progress, start, .. } = *self;
        // Kernels are built at their first use: by a step that is not taken, and by the search for the first step size.
        let tolerance = Tolerance { relative: 1.0, absolute: 1.0, norm: options.norm };
        stepper.trial(problem.t0, 0.0, &tolerance)?;
        drop(Integrator::new(stepper, problem.t0, t_end, y0, options)?);
        let setup = start.elapsed().saturating_sub(upload);
        // The stability of a fixed step has been checked.
        let options = Options { watch_stability: options.fixed_step.is_none(), ..options.clone() };
        let start = Instant::now();
        let integrator = Integrator::new(stepper, problem.t0, t_end, y0, &options)?;
        let mut reported = Instant::now();
        let (mut saving, mut saved) = (Duration::ZERO, Duration::ZERO);
        let mut integrator = integrator
            .on_save_stored(|t, y| {
                let start = Instant::now();
                saved += frames.keep(problem, t, y)?;
                saving += start.elapsed();
                Ok(())
            })
            .on_progress(|report| {
                if reported.elapsed() > Duration::from_millis(50) {
                    reported = Instant::now();
                    let part = (report.t - problem.t0) / (t_end - problem.t0);
                    progress.reached(
                        part,
                        format!("t = {}, {} steps, {} rejected", number(report.t, 7), report.accepted, report.rejected),
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
        let (ended_by, limited) = match integrator.run() {
            Err(Error::StepLimit { slides: None, .. }) if keeps => (None, true),
            Ok(StepOutcome::Event(event)) => (Some(event), false),
            other => (other.map(|_| None)?, false),
        };
        integrator.stored()?;
        let all = start.elapsed();
        let start = Instant::now();
        let end = integrator.stored()?;
        let y = whole.then(|| end.to_vec()).transpose()?;
        let back = start.elapsed();
        let summary = self.summarise(y0, end, integrator.report())?;
        let kept = keeps || interrupt::interrupted();
        let state = kept.then(|| integrator.state()).transpose()?;
        let report = integrator.into_report();
        Ok(Done {
            y,
            summary,
            report,
            ended_by,
            limited,
            state,
            setup,
            upload,
            solving: all.saturating_sub(saving),
            download: back + saved,
        })
    }
}
