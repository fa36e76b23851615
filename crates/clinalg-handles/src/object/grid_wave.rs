//! Waves on boxes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::wave::BoxWave;
use clinalg::{Precision, Real};

/// A wave in one precision, for one caller at a time.
#[derive(Debug)]
pub struct BoxMotion<T: Real> {
    points: usize,
    wave: Mutex<BoxWave<T>>,
}

impl<T: Real> BoxMotion<T> {
    pub(crate) fn new(wave: BoxWave<T>) -> BoxMotion<T> {
        BoxMotion { points: wave.params().points().iter().product(), wave: Mutex::new(wave) }
    }

    /// Number of values of a grid.
    pub(crate) fn points(&self) -> usize {
        self.points
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, BoxWave<T>> {
        // A panic leaves the last steps that were enqueued.
        self.wave.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wave whose precision is known at run time only.
#[derive(Debug)]
pub enum AnyBoxWave {
    /// In single precision.
    F32(BoxMotion<f32>),
    /// In double precision.
    F64(BoxMotion<f64>),
}

impl AnyBoxWave {
    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            AnyBoxWave::F32(_) => Precision::F32,
            AnyBoxWave::F64(_) => Precision::F64,
        }
    }

    /// Number of values of a grid.
    pub fn points(&self) -> usize {
        match self {
            AnyBoxWave::F32(wave) => wave.points,
            AnyBoxWave::F64(wave) => wave.points,
        }
    }
}
