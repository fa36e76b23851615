//! Waves in either precision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::wave::{Wave, WaveParams};
use clinalg::{Context, Precision, Real, Result};

/// A wave in one precision, for one caller at a time.
#[derive(Debug)]
pub struct Membrane<T: Real> {
    pub(crate) context: Context,
    wave: Mutex<Wave<T>>,
}

impl<T: Real> Membrane<T> {
    pub(crate) fn new(context: &Context, params: &WaveParams) -> Result<Membrane<T>> {
        Ok(Membrane { context: context.clone(), wave: Mutex::new(Wave::new(context, params)?) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Wave<T>> {
        // A panic leaves the last steps that were enqueued.
        self.wave.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wave whose precision is known at run time only.
#[derive(Debug)]
pub enum AnyWave {
    /// In single precision.
    F32(Membrane<f32>),
    /// In double precision.
    F64(Membrane<f64>),
}

impl AnyWave {
    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            AnyWave::F32(_) => Precision::F32,
            AnyWave::F64(_) => Precision::F64,
        }
    }

    /// Points per side.
    pub fn side(&self) -> usize {
        match self {
            AnyWave::F32(membrane) => membrane.lock().params().n,
            AnyWave::F64(membrane) => membrane.lock().params().n,
        }
    }
}
