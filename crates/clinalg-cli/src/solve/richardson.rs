//! Richardson iteration of `clinalg solve`: a preconditioner as a solver of its own.

use clinalg::solve::{KrylovMemory, Preconditioner, Report, Richardson, Solver, Stopping};
use clinalg::{Context, Csr, CsrParts, Real, Vector};

use super::method::{Made, Method, Precond};
use super::number::Number;
use super::system::{made, on_one_device};
use super::{AnySystem, Args};
use crate::exit::Failure;
use crate::interrupt;

/// A system with its preconditioner, on one device.
pub(super) struct RichardsonSystem<T: Real> {
    a: Csr<T>,
    b: Vector<T>,
    x: Vector<T>,
    precond: Precond,
    preconditioner: Made<T>,
    solver: Richardson<T>,
    /// What took the place of the chosen preconditioner, and why.
    replaced: Vec<String>,
}

impl<T: Number + Real> RichardsonSystem<T> {
    pub(super) fn new(
        context: &Context,
        args: &Args,
        stopping: &Stopping,
        parts: &CsrParts<T>,
        b: &[T],
    ) -> Result<RichardsonSystem<T>, Failure> {
        let a = Csr::from_parts(context, parts)?;
        let mut replaced = Vec::new();
        let (precond, preconditioner) = made(&a, parts, args, Method::Richardson, &mut replaced, &mut false)?;
        let solver = Richardson::new(context, parts.rows, stopping.clone().into())?;
        let (b, x) = (Vector::from_slice(context, b)?, Vector::zeros(context, parts.rows)?);
        Ok(RichardsonSystem { a, b, x, precond, preconditioner, solver, replaced })
    }
}

impl<T: Number + Real> AnySystem<T> for RichardsonSystem<T> {
    fn stopping_mut(&mut self) -> &mut Stopping {
        self.solver.stopping_mut()
    }

    fn change_method(&mut self, _: &Args, method: Method, _: Stopping) -> Result<(), Failure> {
        Err(Failure::usage(format!("--method {} cannot continue a solve by richardson", method.name())))
    }

    fn solve(
        &mut self,
        _: Option<&mut KrylovMemory<T>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report, Failure> {
        let RichardsonSystem { a, b, x, preconditioner, solver, .. } = self;
        let m = preconditioner.as_mut().map(|(m, _)| &mut **m as &mut dyn Preconditioner<T>);
        let progress = &mut |iteration, residual| {
            progress(iteration, residual);
            interrupt::go_on()
        };
        Ok(solver.solve_with(a, m, b, x, progress)?)
    }

    on_one_device!();

    fn precond(&self) -> Option<Precond> {
        Some(self.precond)
    }

    fn replaced(&self) -> &[String] {
        &self.replaced
    }
}
