//! Several right-hand sides of `clinalg solve` at once.

use clinalg::solve::{BlockCg, KrylovMemory, Preconditioner, Report, Stopping};
use clinalg::{Context, Csr, CsrParts, Dense};

use super::method::{Made, Method, Precond};
use super::number::Number;
use super::system::made;
use super::{AnySystem, Args};
use crate::exit::Failure;
use crate::interrupt;

/// A system with all its right-hand sides, on one device.
pub(super) struct BlockSystem<T: Number> {
    a: Csr<T>,
    b: Dense<T>,
    x: Dense<T>,
    precond: Precond,
    preconditioner: Made<T>,
    solver: BlockCg<T>,
    /// What took the place of the chosen preconditioner, and why.
    replaced: Vec<String>,
    /// The relative residuals of the columns after the last solve, with the numbers of their iterates.
    residuals: Vec<(f64, usize)>,
}

impl<T: Number> BlockSystem<T> {
    pub(super) fn new(
        context: &Context,
        args: &Args,
        stopping: &Stopping,
        parts: &CsrParts<T>,
        b: &[T],
    ) -> Result<BlockSystem<T>, Failure> {
        let a = Csr::from_parts(context, parts)?;
        let mut replaced = Vec::new();
        let (precond, preconditioner) = made(&a, parts, args, Method::BlockCg, &mut replaced, &mut false)?;
        let (n, columns) = (parts.rows, b.len() / parts.rows.max(1));
        let solver = BlockCg::new(context, n, columns, stopping.clone().into())?;
        let (b, x) = (Dense::from_column_major(context, n, columns, b)?, Dense::zeros(context, n, columns)?);
        Ok(BlockSystem { a, b, x, precond, preconditioner, solver, replaced, residuals: Vec::new() })
    }
}

impl<T: Number> AnySystem<T> for BlockSystem<T> {
    fn stopping_mut(&mut self) -> &mut Stopping {
        self.solver.stopping_mut()
    }

    fn change_method(&mut self, _: &Args, method: Method, _: Stopping) -> Result<(), Failure> {
        Err(Failure::usage(format!("--method {} cannot continue a solve by block-cg", method.name())))
    }

    fn solve(
        &mut self,
        _: Option<&mut KrylovMemory<T>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report, Failure> {
        let BlockSystem { a, b, x, preconditioner, solver, residuals, .. } = self;
        let m = preconditioner.as_mut().map(|(m, _)| &mut **m as &mut dyn Preconditioner<T>);
        let found = solver.solve_with(a, m, b, x, &mut |iteration, residual| {
            progress(iteration, residual);
            interrupt::go_on()
        })?;
        *residuals = found.relative_residuals.iter().copied().zip(found.iterates.iter().copied()).collect();
        Ok(found.worst())
    }

    fn column_residuals(&self) -> Option<&[(f64, usize)]> {
        Some(&self.residuals)
    }

    fn storage(&self) -> String {
        self.a.explain()
    }

    fn precond(&self) -> Option<Precond> {
        Some(self.precond)
    }

    fn replaced(&self) -> &[String] {
        &self.replaced
    }

    fn preconditioner(&self) -> String {
        self.preconditioner.as_ref().map_or_else(String::new, |made| made.1.clone())
    }

    fn set_right_side(&mut self, b: &[T]) -> Result<(), Failure> {
        Ok(self.b.as_vector_mut().write(b)?)
    }

    fn start_from(&mut self, x: Option<&[T]>) -> Result<(), Failure> {
        match x {
            Some(x) => self.x.as_vector_mut().write(x)?,
            None => self.x.as_vector_mut().fill(T::from_f64(0.0))?,
        }
        Ok(())
    }

    fn solution(&self) -> Result<Vec<T>, Failure> {
        Ok(self.x.to_column_major()?)
    }
}
