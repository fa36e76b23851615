//! Least squares of `clinalg solve`.

use clinalg::ops::conj_transpose;
use clinalg::precond::Jacobi;
use clinalg::solve::{
    KrylovMemory, LeastSquares, LeastSquaresMethod, LeastSquaresParams, Preconditioner, Report, Stopping,
};
use clinalg::{Context, Csr, CsrParts, Scalar, Vector};

use super::method::{Made, Method, Precond, preconditioner};
use super::number::Number;
use super::system::on_one_device;
use super::{AnySystem, Args};
use crate::exit::Failure;
use crate::interrupt;

/// A rectangular system with its solver, on one device.
pub(super) struct LeastSquaresSystem<T: Scalar> {
    a: Csr<T>,
    b: Vector<T>,
    x: Vector<T>,
    /// That of the normal equations.
    preconditioner: Made<T>,
    solver: LeastSquares<T>,
    stopping: Stopping,
}

impl<T: Number> LeastSquaresSystem<T> {
    pub(super) fn new(
        context: &Context,
        args: &Args,
        method: Method,
        stopping: &Stopping,
        parts: &CsrParts<T>,
        b: &[T],
    ) -> Result<LeastSquaresSystem<T>, Failure> {
        let a = Csr::from_parts(context, parts)?;
        let preconditioner = of_normal_equations(&a, args)?;
        let method = if method == Method::Lsqr { LeastSquaresMethod::Lsqr } else { LeastSquaresMethod::Lsmr };
        let params = LeastSquaresParams::from(stopping.clone()).method(method);
        let solver = LeastSquares::new(context, parts.rows, parts.cols, params)?;
        let (b, x) = (Vector::from_slice(context, b)?, Vector::zeros(context, parts.cols)?);
        Ok(LeastSquaresSystem { a, b, x, preconditioner, solver, stopping: stopping.clone() })
    }
}

/// The preconditioner that was asked for, of A^H A.
fn of_normal_equations<T: Number>(a: &Csr<T>, args: &Args) -> Result<Made<T>, Failure> {
    match args.precond {
        Precond::None => Ok(None),
        Precond::Jacobi => Ok(Some((Box::new(Jacobi::of_normal_equations(a)?), String::new()))),
        precond => {
            let normal = conj_transpose(a)?.multiply(a)?;
            match precond.coarsening() {
                Some(coarsening) => T::hierarchy(&normal, coarsening, args),
                None => preconditioner(&normal, &normal.to_parts()?, args.precond_options()),
            }
        }
    }
}

impl<T: Scalar> AnySystem<T> for LeastSquaresSystem<T> {
    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.stopping
    }

    fn change_method(&mut self, _: &Args, method: Method, _: Stopping) -> Result<(), Failure> {
        Err(Failure::usage(format!("--method {} is not for least squares; use lsmr or lsqr", method.name())))
    }

    fn solve(
        &mut self,
        memory: Option<&mut KrylovMemory<T>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report, Failure> {
        let LeastSquaresSystem { a, b, x, preconditioner, solver, stopping } = self;
        let m = preconditioner.as_mut().map(|made| &mut *made.0 as &mut dyn Preconditioner<T>);
        solver.stopping_mut().clone_from(stopping);
        let progress = &mut |iteration, residual| {
            progress(iteration, residual);
            interrupt::go_on()
        };
        let found = match memory {
            Some(memory) => solver.solve_from(memory, a, m, b, x, progress)?,
            None => solver.solve_with(a, m, b, x, progress)?,
        };
        Ok(found.report)
    }

    on_one_device!();
}
