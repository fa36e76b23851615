//! Waveform relaxation for language bindings: components field by field, in double precision.

use clinalg::{Context, Precision, Real};

use crate::model::System;
use crate::waveform::device::relax;
use crate::waveform::options::{Relaxation, WaveformOptions};
use crate::{Error, Result};

/// As [`relax`], with initial values and solution field by field, all points of the field added first, then those of the next;
/// computed in a precision. Waveforms are not kept.
///
/// # Errors
/// Those of [`relax`].
pub fn relax_fields(
    context: &Context,
    system: &System,
    t0: f64,
    y0: &[f64],
    options: &WaveformOptions,
    precision: Precision,
) -> Result<Relaxation<f64>> {
    match precision {
        Precision::F32 => by_fields::<f32>(context, system, t0, y0, options),
        Precision::F64 => by_fields::<f64>(context, system, t0, y0, options),
    }
}

fn by_fields<T: Real>(
    context: &Context,
    system: &System,
    t0: f64,
    y0: &[f64],
    options: &WaveformOptions,
) -> Result<Relaxation<f64>> {
    if y0.len() != system.components() {
        return Err(Error::value("y0", format!("{} components", system.components()), y0.len()));
    }
    let start: Vec<T> = system.from_fields(y0).into_iter().map(T::from_f64).collect();
    let options = WaveformOptions { keep: false, ..options.clone() };
    let Relaxation { solution, report, .. } = relax(context, system, t0, &start, &options)?;
    let solution = system.by_fields(&solution).into_iter().map(Real::into_f64).collect();
    Ok(Relaxation { solution, waveform: Vec::new(), report })
}
