//! Systems of differential equations behind handles.

use std::sync::Arc;

use clinalg::{Context, Precision, Result};
use clinalg_ode::System;
use clinalg_ode::integrate::Report;
use clinalg_ode::ivp::{OnDevice, Settings, solve_on_device};

use crate::kind::Kind;
use crate::object::{Object, Ode, OdeStepper, typed_real};
use crate::registry::{Operand, Registry};

/// What errors call the handle.
const ARGUMENT: &str = "ode";

impl Registry {
    /// Names a system of differential equations; [`Registry::release`] with [`Kind::ODE`] frees it.
    pub fn ode(&self, ode: Ode) -> u64 {
        self.insert(Arc::new(ode))
    }

    /// The system of a handle as it is now; later changes by [`change_ode`](Registry::change_ode) do not reach it.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn get_ode(&self, handle: u64) -> Result<Arc<Ode>> {
        self.call(&[Operand::new(ARGUMENT, handle, Kind::ODE)], None, |inputs, _| {
            Ok(inputs[0].expect_content::<Arc<Ode>>().clone())
        })
    }

    /// Changes the system of a handle; integrations that run keep the old one.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn change_ode<R>(&self, handle: u64, change: impl FnOnce(&mut Ode) -> R) -> Result<R> {
        self.call(&[], Some(Operand::new(ARGUMENT, handle, Kind::ODE)), |_, output| {
            let ode = output.and_then(Object::content_mut::<Arc<Ode>>).expect("the operand is a system");
            Ok(change(Arc::make_mut(ode)))
        })
    }

    /// Integrates from the vector `y0` at `span[0]` to `span[1]`, where the solution is written to the vector `y`, on their
    /// device; errors of the objects are outside, those of the integration inside.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision),
    /// [`Error::Value`](clinalg::Error::Value) when `y` is `y0`.
    pub fn ode_solve(
        &self,
        system: &System,
        span: [f64; 2],
        y0: u64,
        y: u64,
        settings: &Settings,
    ) -> Result<clinalg_ode::Result<Report>> {
        let output = Operand::new("y", y, Kind::FULL);
        self.call(&[Operand::new("y0", y0, Kind::FULL)], Some(output), |inputs, output| {
            let output = output.expect("an output was named");
            typed_real!(inputs[0], "y0", T => {
                let y0 = inputs[0].stored::<T>("y0")?.vector("y0")?;
                Ok(solve_on_device(system, span, y0, output.stored_mut::<T>("y")?.vector_mut("y")?, settings))
            })
        })
    }

    /// Makes the kernels and takes the memory for several integrations of a system: [`OnDevice`]. Gives its handle, which
    /// [`Registry::release`] frees with [`Kind::ODE_STEPPER`].
    ///
    /// # Errors
    /// Those of [`OnDevice::new`].
    pub fn ode_stepper(&self, context: &Context, system: &System, settings: &Settings) -> clinalg_ode::Result<u64> {
        Ok(match settings.precision {
            Precision::F32 => self.insert(OdeStepper::<f32>::new(system, OnDevice::new(context, system, settings)?)),
            Precision::F64 => self.insert(OdeStepper::<f64>::new(system, OnDevice::new(context, system, settings)?)),
        })
    }

    /// As [`Registry::ode_solve`] with a stepper, in whose precision the vectors are.
    ///
    /// # Errors
    /// As [`Registry::ode_solve`].
    pub fn ode_stepper_solve(
        &self,
        stepper: u64,
        span: [f64; 2],
        y0: u64,
        y: u64,
    ) -> Result<clinalg_ode::Result<Report>> {
        let inputs = [Operand::new("stepper", stepper, Kind::ODE_STEPPER), Operand::new("y0", y0, Kind::FULL)];
        self.call(&inputs, Some(Operand::new("y", y, Kind::FULL)), |inputs, output| {
            let output = output.expect("an output was named");
            typed_real!(inputs[0], "stepper", T => {
                let y0 = inputs[1].stored::<T>("y0")?.vector("y0")?;
                let y = output.stored_mut::<T>("y")?.vector_mut("y")?;
                Ok(inputs[0].expect_content::<OdeStepper<T>>().lock()?.solve(span, y0, y))
            })
        })
    }
}
