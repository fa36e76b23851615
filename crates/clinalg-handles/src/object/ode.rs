//! Systems of differential equations.

use std::fmt;
use std::sync::Arc;

use clinalg::{Real, Result};
use clinalg_ode::System;
use clinalg_ode::ivp::OnDevice;
use clinalg_ode::problems::Problem;

use super::Content;
use super::cell::{Exclusive, ExclusiveGuard};
use crate::kind::{Info, Kind, ScalarType};

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

/// A method with its kernels and memory, for one caller at a time, with the points and fields of its system.
pub(crate) struct OdeStepper<T: Real> {
    points: usize,
    fields: usize,
    stepper: Exclusive<OnDevice<T>>,
}

impl<T: Real> OdeStepper<T> {
    pub(crate) fn new(system: &System, stepper: OnDevice<T>) -> OdeStepper<T> {
        let (points, fields) = (system.grid().points(), system.fields().len());
        OdeStepper { points, fields, stepper: Exclusive::new(stepper) }
    }

    pub(crate) fn lock(&self) -> Result<ExclusiveGuard<'_, OnDevice<T>>> {
        self.stepper.lock("stepper")
    }
}

impl<T: Real> fmt::Debug for OdeStepper<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OdeStepper({} points, {} fields)", self.points, self.fields)
    }
}

impl<T: Real> Content for OdeStepper<T> {
    /// It has a row for each point and a column for each field.
    fn info(&self) -> Info {
        Info::new(Kind::OdeStepper, ScalarType::of::<T>(), self.points, self.fields)
    }
}

impl Content for Arc<Ode> {
    /// It has a row for each point and a column for each field; its numbers are the host's.
    fn info(&self) -> Info {
        Info::new(Kind::Ode, ScalarType::F64, self.system.grid().points(), self.system.fields().len())
    }
}
