//! A relaxation and the method itself, with their times.

use std::time::Instant;

use clinalg::team::Team;
use clinalg::{Context, Real};
use clinalg_ode::integrate::Stepper;
use clinalg_ode::problems::Problem;
use clinalg_ode::waveform::{Relaxation, Sharing, WaveformOptions, relax, relax_on_team, relax_windows};
use clinalg_ode::{DeviceStepper, Variant};

use super::{Args, SharingArg};
use crate::Global;
use crate::args::DeviceName;
use crate::exit::Failure;

/// The device, or the devices.
pub(super) struct Place {
    team: Option<Team>,
    context: Context,
    sharing: Sharing,
}

impl Place {
    pub(super) fn new(args: &Args, global: &Global) -> Result<Place, Failure> {
        let team = global.team()?;
        if team.is_some() && !["block-boundary", "device"].contains(&args.variant.as_str()) {
            let reason = "--devices: several devices take --variant block-boundary or --variant device";
            return Err(Failure::usage(reason));
        }
        let context = match &team {
            Some(team) => team.contexts()[0].clone(),
            None => global.context(false)?,
        };
        let sharing = match args.sharing {
            SharingArg::General => Sharing::General,
            SharingArg::Limited => Sharing::Limited,
        };
        Ok(Place { team, context, sharing })
    }

    /// The first device.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Those of `--devices`.
    pub(super) fn devices(&self) -> Vec<DeviceName> {
        self.team.iter().flat_map(|team| team.contexts()).map(|context| context.device().into()).collect()
    }
}

/// What was measured.
pub(super) struct Measured<T> {
    pub(super) result: Relaxation<T>,
    /// Of the relaxation, without kernel compilation.
    pub(super) seconds: f64,
    /// Of the method itself with a launch for each of its stages.
    pub(super) method_seconds: f64,
    /// Between both solutions at the end.
    pub(super) max_difference: f64,
}

/// Runs both twice; the first runs build the kernels, and `keep` sees the ends of windows of the first.
pub(super) fn measure<T: Real>(
    place: &Place,
    problem: &Problem,
    y0: &[T],
    options: &WaveformOptions,
    keep: impl FnMut(f64, &[T]) -> clinalg_ode::Result<()>,
) -> Result<Measured<T>, Failure> {
    let (system, t0) = (&problem.system, problem.t0);
    let result = match &place.team {
        Some(team) => relax_on_team(team, system, t0, y0, options, place.sharing, keep)?,
        None => relax_windows(&place.context, system, t0, y0, options, keep)?,
    };
    // The check has passed, and would be timed.
    let mut options = options.clone();
    options.watch_stability = false;
    let start = Instant::now();
    match &place.team {
        Some(team) => relax_on_team(team, system, t0, y0, &options, place.sharing, |_, _| Ok(()))?,
        None => relax(&place.context, system, t0, y0, &options)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let method = options.method.without_error();
    let mut plain = DeviceStepper::<T>::new(&place.context, &method, system, Variant::Fused)?;
    let beginnings: Vec<f64> = (0..options.steps).map(|k| t0 + k as f64 * options.h).collect();
    let mut method_seconds = 0.0;
    for _ in 0..2 {
        plain.set(std::slice::from_ref(&y0.to_vec()))?;
        place.context.finish()?;
        let start = Instant::now();
        plain.advance(&beginnings, options.h)?;
        place.context.finish()?;
        method_seconds = start.elapsed().as_secs_f64();
    }
    let difference = |(a, b): (&T, &T)| (a.into_f64() - b.into_f64()).abs();
    let max_difference = result.solution.iter().zip(&plain.solution()?).map(difference).fold(0.0, f64::max);
    Ok(Measured { result, seconds, method_seconds, max_difference })
}
