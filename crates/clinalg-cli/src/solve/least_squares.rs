//! Least squares of `clinalg solve`.

use clinalg::solve::{KrylovMemory, LeastSquares, LeastSquaresMethod, LeastSquaresParams, Report, Stopping};
use clinalg::{Context, Csr, CsrParts, Scalar, Vector};

use super::method::{Method, Precond};
use super::{AnySystem, Args};
use crate::exit::Failure;
use crate::interrupt;

/// A rectangular system with its solver, on one device.
pub(super) struct LeastSquaresSystem<T: Scalar> {
    a: Csr<T>,
    b: Vector<T>,
    x: Vector<T>,
    /// What the columns were multiplied by.
    scale: Option<Vec<f64>>,
    solver: LeastSquares<T>,
    stopping: Stopping,
}

impl<T: Scalar> LeastSquaresSystem<T> {
    pub(super) fn new(
        context: &Context,
        args: &Args,
        method: Method,
        stopping: &Stopping,
        parts: &CsrParts<T>,
        b: &[T],
    ) -> Result<LeastSquaresSystem<T>, Failure> {
        let scale = (args.precond == Precond::Jacobi).then(|| column_scale(parts));
        let a = match &scale {
            None => Csr::from_parts(context, parts)?,
            Some(scale) => {
                let mut scaled = parts.clone();
                for (value, &j) in scaled.values.iter_mut().zip(&parts.indices) {
                    *value = times(*value, scale[j]);
                }
                Csr::from_parts(context, &scaled)?
            }
        };
        let method = if method == Method::Lsqr { LeastSquaresMethod::Lsqr } else { LeastSquaresMethod::Lsmr };
        let params = LeastSquaresParams::from(stopping.clone()).method(method);
        let solver = LeastSquares::new(context, parts.rows, parts.cols, params)?;
        let (b, x) = (Vector::from_slice(context, b)?, Vector::zeros(context, parts.cols)?);
        Ok(LeastSquaresSystem { a, b, x, scale, solver, stopping: stopping.clone() })
    }
}

/// The value times the factor, rounded once.
fn times<T: Scalar>(value: T, factor: f64) -> T {
    T::narrow(value.widen() * T::Wide::from_f64(factor))
}

/// The inverse norms of the columns; 1 for a column of zeros.
fn column_scale<T: Scalar>(parts: &CsrParts<T>) -> Vec<f64> {
    let mut squares = vec![0.0; parts.cols];
    parts.triplets().for_each(|(_, j, value)| squares[j] += value.widen().norm_sqr());
    squares.into_iter().map(|s: f64| if s > 0.0 && s.is_finite() { s.sqrt().recip() } else { 1.0 }).collect()
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
        let LeastSquaresSystem { a, b, x, solver, stopping, .. } = self;
        solver.stopping_mut().clone_from(stopping);
        let progress = &mut |iteration, residual| {
            progress(iteration, residual);
            interrupt::go_on()
        };
        let found = match memory {
            Some(memory) => solver.solve_from(memory, a, b, x, progress)?,
            None => solver.solve_with(a, b, x, progress)?,
        };
        Ok(found.report)
    }

    fn storage(&self) -> String {
        self.a.explain()
    }

    fn set_right_side(&mut self, b: &[T]) -> Result<(), Failure> {
        Ok(self.b.write(b)?)
    }

    fn start_from(&mut self, x: Option<&[T]>) -> Result<(), Failure> {
        let Some(x) = x else { return Ok(self.x.fill(T::zero())?) };
        let scaled: Vec<T> = match &self.scale {
            None => x.to_vec(),
            Some(scale) => x.iter().zip(scale).map(|(x, s)| T::narrow(x.widen() / T::Wide::from_f64(*s))).collect(),
        };
        Ok(self.x.write(&scaled)?)
    }

    fn solution(&self) -> Result<Vec<T>, Failure> {
        let mut x = self.x.to_vec()?;
        if let Some(scale) = &self.scale {
            x.iter_mut().zip(scale).for_each(|(x, s)| *x = times(*x, *s));
        }
        Ok(x)
    }
}
