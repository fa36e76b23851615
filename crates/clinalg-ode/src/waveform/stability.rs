//! Whether steps can be stable.

use clinalg::team::Team;
use clinalg::{Context, Real};

use crate::model::System;
use crate::run::power_method::{PowerMethod, check_radius};
use crate::run::reference::Reference;
use crate::run::stepper::Stepper;
use crate::team::{TeamOptions, TeamStepper};
use crate::waveform::options::WaveformOptions;
use crate::{DeviceOptions, DeviceStepper, Error, Method, Result, Variant};

/// Components up to which the host is done before a device would have built its kernels.
const FEW: usize = 4096;

/// # Errors
/// [`Error::Unstable`](crate::Error::Unstable) where the steps of a relaxation are past the stability limit of its method in every direction; on a team
/// the same on all ranks.
pub(super) fn check<T: Real>(
    context: &Context,
    team: Option<&Team>,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
) -> Result<()> {
    if !options.watch_stability {
        return Ok(());
    }
    let method = options.method.without_error();
    let several = team.filter(|team| team.ranks() > 1);
    let radius = match several {
        // OpenCL C runs on devices only.
        _ if system.components() <= FEW && system.snippet.is_none() => {
            radius(Reference::<T>::new(&method, system), t0, y0)?
        }
        Some(team) => match TeamStepper::<T>::new(team, &method, system, &TeamOptions::default()) {
            // A grid can have enough blocks to share out and yet too few rows.
            Err(Error::Value { .. }) => alone::<T>(context, &method, system, t0, y0)?,
            stepper => radius(stepper?, t0, y0)?,
        },
        None => alone::<T>(context, &method, system, t0, y0)?,
    };
    check_radius(&method, options.h, radius)
}

fn alone<T: Real>(context: &Context, method: &Method, system: &System, t0: f64, y0: &[T]) -> Result<f64> {
    let fused = DeviceOptions { variant: Variant::Fused, ..DeviceOptions::default() };
    radius(DeviceStepper::<T>::with(context, method, system, &fused)?, t0, y0)
}

fn radius<T: Real, S: Stepper<T>>(mut stepper: S, t0: f64, y0: &[T]) -> Result<f64> {
    stepper.set(&[y0.to_vec()])?;
    PowerMethod::new(&stepper)?.estimate(&stepper, t0, true)
}
