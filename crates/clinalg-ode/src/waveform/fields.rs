//! Waveform relaxation for language bindings: components field by field, in double precision.

use clinalg::solve::Progress;
use clinalg::{Context, Precision, Real};

use crate::model::System;
use crate::waveform::control::Control;
use crate::waveform::device::relax_with;
use crate::waveform::options::{Relaxation, WaveformOptions};
use crate::{Error, Result};

/// As [`relax`](crate::waveform::relax), with initial values and solution field by field, all points of the field added first, then those of the next;
/// computed in a precision. Neither waveforms nor states are kept. `progress` is that of [`Control`].
///
/// # Errors
/// Those of [`relax`](crate::waveform::relax).
pub fn relax_fields(
    context: &Context,
    system: &System,
    t0: f64,
    y0: &[f64],
    options: &WaveformOptions,
    precision: Precision,
    progress: Progress<'_>,
) -> Result<Relaxation<f64>> {
    match precision {
        Precision::F32 => by_fields::<f32>(context, system, t0, y0, options, progress),
        Precision::F64 => by_fields::<f64>(context, system, t0, y0, options, progress),
    }
}

fn by_fields<T: Real>(
    context: &Context,
    system: &System,
    t0: f64,
    y0: &[f64],
    options: &WaveformOptions,
    progress: Progress<'_>,
) -> Result<Relaxation<f64>> {
    if y0.len() != system.components() {
        return Err(Error::value("y0", format!("{} components", system.components()), y0.len()));
    }
    let start: Vec<T> = system.from_fields(y0).into_iter().map(T::from_f64).collect();
    let options = WaveformOptions { keep: false, ..options.clone() };
    let control = Control { progress: Some(progress), ..Control::default() };
    let Relaxation { solution, t, stopped, report, .. } = relax_with(context, system, t0, &start, &options, control)?;
    let solution = system.by_fields(&solution).into_iter().map(Real::into_f64).collect();
    Ok(Relaxation { solution, t, stopped, state: None, waveform: Vec::new(), report })
}
