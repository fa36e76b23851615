//! Systems of `clinalg solve` on one device.

use clinalg::precond::{IluKind, instability, last_threshold};
use clinalg::solve::{KrylovMemory, Preconditioner, Report, Resumable, Stopping};
use clinalg::{Context, Csr, CsrParts, Error, Scalar, Vector};

use super::method::{Made, Method, Precond, PrecondOptions, preconditioner, solver};
use super::number::Number;
use super::{AnySystem, Args};
use crate::exit::Failure;
use crate::interrupt;

/// A system on one device.
pub(super) struct System<T: Scalar> {
    a: Csr<T>,
    b: Vector<T>,
    x: Vector<T>,
    /// The name of `preconditioner`.
    precond: Precond,
    preconditioner: Made<T>,
    solver: Box<dyn Resumable<T>>,
}

impl<T: Number> System<T> {
    pub(super) fn new(
        context: &Context,
        args: &Args,
        method: Method,
        stopping: &Stopping,
        parts: &CsrParts<T>,
        b: &[T],
    ) -> Result<System<T>, Failure> {
        let a = Csr::from_parts(context, parts)?;
        let (precond, preconditioner) = made(&a, parts, args, method)?;
        let solver = solver(context, method, stopping.clone(), args.restart, parts.rows)?;
        let (b, x) = (Vector::from_slice(context, b)?, Vector::zeros(context, parts.rows)?);
        Ok(System { a, b, x, precond, preconditioner, solver })
    }
}

/// The preconditioner that was asked for or chosen. Where a chosen one cannot be made, the diagonal stands in, or none.
fn made<T: Number>(
    a: &Csr<T>,
    parts: &CsrParts<T>,
    args: &Args,
    method: Method,
) -> Result<(Precond, Made<T>), Failure> {
    let make = |precond: Precond| match precond.coarsening() {
        Some(coarsening) => T::hierarchy(a, coarsening, args),
        None if precond == Precond::Saddle => T::saddle(a, parts, method),
        None => preconditioner(a, parts, PrecondOptions { precond, ..args.precond_options() }),
    };
    let mut last = make(args.precond).map(|made| (args.precond, made));
    if args.may_fall_back() {
        if let (Precond::Ilu, Ok((_, Some((m, _))))) = (args.precond, &mut last)
            && let Some(gain) = instability(&mut **m, a, parts)?
        {
            log::warn!(
                "ILU(0) is unstable for this matrix (it enlarges the vector of ones by {gain:.0e}, relative to A); using ILUT instead"
            );
            last = make(Precond::Ilut).map(|made| (Precond::Ilut, made));
        }
        for other in [Precond::Jacobi, Precond::None] {
            match &last {
                Err(Failure::Library(error)) if unsuited(error) => {
                    log::warn!(
                        "the chosen preconditioner could not be set up ({error}); using {} instead",
                        other.title()
                    );
                    last = make(other).map(|made| (other, made));
                }
                _ => break,
            }
        }
    }
    last
}

/// Whether another preconditioner may do: an error of the values of the matrix or of memory.
pub(super) fn unsuited(error: &Error) -> bool {
    matches!(error, Error::Value { .. } | Error::Singular { .. } | Error::Allocation { .. })
}

impl<T: Number> AnySystem<T> for System<T> {
    fn stopping_mut(&mut self) -> &mut Stopping {
        self.solver.stopping_mut()
    }

    fn change_method(&mut self, args: &Args, method: Method, stopping: Stopping) -> Result<(), Failure> {
        self.solver = solver(self.a.context(), method, stopping, args.restart, self.a.rows())?;
        // MINRES is the last method, where GMRES failed with another preconditioner.
        let precond = if method == Method::Minres { Precond::None } else { args.second() };
        if precond == self.precond && precond != Precond::Ilut {
            return Ok(());
        }
        let mut options = PrecondOptions { precond, ..args.precond_options() };
        if args.may_fall_back()
            && let IluKind::Threshold { drop, fill } = last_threshold(self.a.nnz())
        {
            (options.drop, options.fill) = (options.drop.min(drop), options.fill.max(fill));
        }
        match preconditioner(&self.a, &self.a.to_parts()?, options) {
            Ok(made) => (self.precond, self.preconditioner) = (precond, made),
            Err(Failure::Library(error)) if unsuited(&error) => {
                log::warn!(
                    "{} could not be set up for GMRES ({error}); keeping {}",
                    precond.title(),
                    self.precond.title()
                );
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn storage(&self) -> String {
        self.a.explain()
    }

    fn precond(&self) -> Option<Precond> {
        Some(self.precond)
    }

    fn preconditioner(&self) -> String {
        self.preconditioner.as_ref().map_or_else(String::new, |made| made.1.clone())
    }

    fn set_right_side(&mut self, b: &[T]) -> Result<(), Failure> {
        Ok(self.b.write(b)?)
    }

    fn start_from(&mut self, x: Option<&[T]>) -> Result<(), Failure> {
        match x {
            Some(x) => self.x.write(x)?,
            None => self.x.fill(T::zero())?,
        }
        Ok(())
    }

    fn solution(&self) -> Result<Vec<T>, Failure> {
        Ok(self.x.to_vec()?)
    }

    fn solve(
        &mut self,
        memory: Option<&mut KrylovMemory<T>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report, Failure> {
        let System { a, b, x, preconditioner, solver, .. } = self;
        let m = preconditioner.as_mut().map(|(m, _)| &mut **m as &mut dyn Preconditioner<T>);
        let progress = &mut |iteration, residual| {
            progress(iteration, residual);
            interrupt::go_on()
        };
        Ok(match memory {
            Some(memory) => solver.solve_from(memory, a, m, b, x, progress)?,
            None => solver.solve_with(a, m, b, x, progress)?,
        })
    }
}
