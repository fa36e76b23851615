//! A relaxation and the method itself, with their times.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use clinalg::multigrid::Backend;
use clinalg::team::Team;
use clinalg::{Context, Real};
use clinalg_ode::integrate::Stepper;
use clinalg_ode::problems::Problem;
use clinalg_ode::waveform::{
    Control, Prediction, Relaxation, Sharing, WaveformOptions, WaveformState, relax_on_team_with, relax_with,
};
use clinalg_ode::{DeviceStepper, Variant};

use super::{Args, SharingArg};
use crate::args::DeviceName;
use crate::executor::Executor;
use crate::exit::Failure;
use crate::global::Global;
use crate::progress::Progress;
use crate::text::number;
use crate::{interrupt, processes};

/// The device, or the devices.
pub(super) struct Devices {
    executor: Executor,
    pub(super) sharing: Sharing,
    balance: bool,
}

impl Devices {
    pub(super) fn new(args: &Args, global: &Global) -> Result<Devices, Failure> {
        if global.is_shared() && !["block-boundary", "device"].contains(&args.variant.as_str()) {
            let instead = global.on_one_device();
            let reason = format!("several devices take --variant block-boundary or --variant device; or {instead}");
            return Err(Failure::usage(reason));
        }
        let executor = Executor::new(global, Backend::Kernels)?;
        let sharing = match args.sharing {
            SharingArg::General => Sharing::General,
            SharingArg::Limited => Sharing::Limited,
            SharingArg::EdgesFirst => Sharing::EdgesFirst,
        };
        Ok(Devices { executor, sharing, balance: global.balance })
    }

    pub(super) fn contexts(&self) -> &[Context] {
        self.executor.contexts()
    }

    /// Those of `--devices`, or of all processes.
    pub(super) fn team(&self) -> Option<&Team> {
        if let Executor::Team(team) = &self.executor { Some(team) } else { None }
    }

    pub(super) fn are_several(&self) -> bool {
        self.team().is_some()
    }

    pub(super) fn peak_bytes_of_all(&self) -> Result<u64, Failure> {
        self.executor.peak_bytes_of_all()
    }

    /// The first device.
    pub(super) fn context(&self) -> &Context {
        &self.executor.contexts()[0]
    }

    /// The names of [`Devices::team`].
    pub(super) fn names(&self, global: &Global) -> Result<Vec<DeviceName>, Failure> {
        if self.are_several() { self.executor.devices_of_all(global) } else { Ok(Vec::new()) }
    }

    fn relax<T: Real>(
        &self,
        problem: &Problem,
        y0: &[T],
        options: &WaveformOptions,
        control: Control<'_, T>,
    ) -> Result<Relaxation<T>, Failure> {
        let (system, t0) = (&problem.system, problem.t0);
        Ok(match self.team() {
            Some(team) => relax_on_team_with(team, system, t0, y0, options, self.sharing, control)?,
            None => relax_with(self.context(), system, t0, y0, options, control)?,
        })
    }

    /// The predicted times; none after Ctrl-C.
    pub(super) fn predict<T: Real>(
        &self,
        problem: &Problem,
        y0: &[T],
        options: &WaveformOptions,
    ) -> Result<Option<Prediction>, Failure> {
        let (system, t0) = (&problem.system, problem.t0);
        let go_on = &mut || !interrupt::interrupted();
        Ok(match self.team() {
            Some(team) => Prediction::on_team_while(team, system, t0, y0, options, self.sharing, go_on)?,
            None => Prediction::on_device_while(self.context(), system, t0, y0, options, go_on)?,
        })
    }
}

/// What was measured.
pub(super) struct Measured<T> {
    pub(super) result: Relaxation<T>,
    /// Time of the iterations.
    pub(super) seconds: f64,
    /// Time spent before and after the iterations, without kernel compilation.
    pub(super) seconds_setup: f64,
    /// Unless the run was ended before.
    pub(super) compared: Option<Compared>,
}

/// The relaxation and the method itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Compared {
    /// Time of the method itself on the first device, with one launch per stage.
    pub(super) method_seconds: f64,
    /// Largest difference between the two solutions at the final time, both in the process that prints.
    pub(super) max_difference: f64,
}

/// Where a run begins and ends.
pub(super) struct Span<'a, T> {
    /// Most iterations of all windows.
    pub(super) limit: usize,
    pub(super) keep_state: bool,
    pub(super) resume: Option<&'a WaveformState<T>>,
    pub(super) progress: &'a Progress,
}

impl<'a, T> Span<'a, T> {
    /// From the beginning to the end.
    pub(super) fn whole(progress: &'a Progress) -> Self {
        Span { limit: usize::MAX, keep_state: false, resume: None, progress }
    }
}

/// Runs the relaxation, and where that came to its end from the beginning once more, since the first run builds the kernels; then the
/// method itself. `keep` sees the ends of windows of the first run. Ctrl-C ends it after the iteration at hand.
pub(super) fn measure<T: Real>(
    devices: &Devices,
    problem: &Problem,
    y0: &[T],
    options: &WaveformOptions,
    span: Span<'_, T>,
    mut keep: impl FnMut(f64, &[T]) -> clinalg_ode::Result<()>,
) -> Result<Measured<T>, Failure> {
    let mut options = options.clone();
    options.balance = devices.balance;
    let Span { limit, keep_state, resume, progress: bar } = span;
    bar.stage("setting up");
    let end = problem.t0 + options.steps as f64 * options.h;
    let reached = Cell::new(0.0);
    let mut keep = |t: f64, y: &[T]| {
        reached.set((t - problem.t0) / (end - problem.t0));
        keep(t, y)
    };
    let mut progress = |count: usize, difference: f64| {
        bar.reached(reached.get(), format!("iteration {count}, changed by {}", number(difference, 2)));
        if count < limit { interrupt::go_on() } else { ControlFlow::Break(()) }
    };
    let start = Instant::now();
    let control = Control { see: Some(&mut keep), progress: Some(&mut progress), keep_state, resume };
    let result = devices.relax(problem, y0, &options, control)?;
    let mut seconds = result.report.seconds;
    let mut seconds_setup = (start.elapsed().as_secs_f64() - seconds).max(0.0);
    if !result.stopped && resume.is_none() {
        // The first run has already passed the stability check.
        options.watch_stability = false;
        let all = result.report.count();
        let mut shown = Instant::now();
        let mut progress = |count: usize, _| {
            // Seldom, for the sake of the times.
            if shown.elapsed() > Duration::from_millis(100) {
                shown = Instant::now();
                bar.reached(count as f64 / all as f64, format!("timing iteration {count} of {all}"));
            }
            interrupt::go_on()
        };
        let control = Control { progress: Some(&mut progress), ..Control::default() };
        let start = Instant::now();
        let again = devices.relax(problem, y0, &options, control)?;
        if !again.stopped {
            seconds = again.report.seconds;
            seconds_setup = (start.elapsed().as_secs_f64() - seconds).max(0.0);
        }
    }
    let compared = match result.stopped || interrupt::interrupted() {
        true => None,
        false if !processes::writes() => Some(Compared { method_seconds: 0.0, max_difference: 0.0 }),
        false => compare(devices, problem, y0, &options, &result.solution, bar)?,
    };
    Ok(Measured { result, seconds, seconds_setup, compared })
}

/// Seconds between two looks for Ctrl-C.
const BETWEEN_LOOKS: f64 = 0.1;

/// Runs the method itself twice, since the first run builds the kernels; nothing after Ctrl-C.
fn compare<T: Real>(
    devices: &Devices,
    problem: &Problem,
    y0: &[T],
    options: &WaveformOptions,
    solution: &[T],
    bar: &Progress,
) -> Result<Option<Compared>, Failure> {
    let context = devices.context();
    let method = options.method.without_error();
    let mut plain = DeviceStepper::<T>::new(context, &method, &problem.system, Variant::Fused)?;
    let beginnings: Vec<f64> = (0..options.steps).map(|k| problem.t0 + k as f64 * options.h).collect();
    let mut method_seconds = 0.0;
    // Steps that are enqueued at once: they cannot be called back.
    let mut count = 1;
    for _ in 0..2 {
        plain.set(std::slice::from_ref(&y0.to_vec()))?;
        context.finish()?;
        let start = Instant::now();
        let mut rest = &beginnings[..];
        while !rest.is_empty() {
            if interrupt::interrupted() {
                return Ok(None);
            }
            let (now, later) = rest.split_at(count.min(rest.len()));
            let before = Instant::now();
            plain.advance(now, options.h)?;
            context.finish()?;
            if before.elapsed().as_secs_f64() < 0.5 * BETWEEN_LOOKS {
                count *= 2;
            }
            rest = later;
            let done = beginnings.len() - rest.len();
            bar.reached(done as f64 / beginnings.len() as f64, format!("step {done} of the method itself"));
        }
        method_seconds = start.elapsed().as_secs_f64();
    }
    let difference = |(a, b): (&T, &T)| (a.into_f64() - b.into_f64()).abs();
    let max_difference = solution.iter().zip(&plain.solution()?).map(difference).fold(0.0, f64::max);
    Ok(Some(Compared { method_seconds, max_difference }))
}
