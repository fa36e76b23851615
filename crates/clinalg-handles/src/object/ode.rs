//! Systems of differential equations.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::{Precision, Real};
use clinalg_ode::System;
use clinalg_ode::ivp::OnDevice;
use clinalg_ode::problems::Problem;

/// A system of differential equations with what a binding keeps beside it.
#[derive(Debug, Clone)]
pub struct Ode {
    /// The equations.
    pub system: System,
    /// Absolute tolerances of the components, by fields; none where they are that of the options.
    pub absolute_each: Vec<f64>,
    /// Initial values and times, of the test problems.
    pub problem: Option<Problem>,
}

/// A method with its kernels and memory, for one caller at a time.
pub(crate) struct Prepared<T: Real>(Mutex<OnDevice<T>>);

impl<T: Real> Prepared<T> {
    pub(crate) fn new(stepper: OnDevice<T>) -> Prepared<T> {
        Prepared(Mutex::new(stepper))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, OnDevice<T>> {
        // An integration begins anew whatever one before left.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A method for one system whose precision is known at run time only.
pub(crate) enum AnyStepper {
    /// In single precision.
    F32(Prepared<f32>),
    /// In double precision.
    F64(Prepared<f64>),
}

/// The stepper with the points and fields of its system.
pub struct OdeStepper {
    pub(crate) stepper: AnyStepper,
    pub(crate) points: usize,
    pub(crate) fields: usize,
}

impl OdeStepper {
    pub(crate) fn precision(&self) -> Precision {
        match self.stepper {
            AnyStepper::F32(_) => Precision::F32,
            AnyStepper::F64(_) => Precision::F64,
        }
    }
}

impl fmt::Debug for OdeStepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OdeStepper({} points, {} fields)", self.points, self.fields)
    }
}
