//! The components as kernels for GPUs: an item per point, one launch per step.

use super::components::{Components, Sweeps};
use super::launch::{self, Term};
use super::params::Smoother;
use crate::runtime::Arg;
use crate::{Context, Real, Result, Vector, ops};

/// Kernels with an item per point.
pub(super) struct Wide<T: Real> {
    context: Context,
    sides: Vec<usize>,
    shift: T,
    omega: T,
    /// What a Jacobi sweep writes, on each level; none for red-black.
    spare: Vec<Vector<T>>,
}

impl<T: Real> Wide<T> {
    pub(super) fn new(
        context: &Context,
        sides: &[usize],
        shift: f64,
        smoother: Smoother,
        omega: f64,
    ) -> Result<Wide<T>> {
        let spare = match smoother {
            Smoother::RedBlack => Vec::new(),
            Smoother::Jacobi => sides.iter().map(|n| Vector::zeros(context, n * n)).collect::<Result<_>>()?,
        };
        Ok(Wide { context: context.clone(), sides: sides.to_vec(), shift: T::of(shift), omega: T::of(omega), spare })
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        let n = self.sides[level];
        for _ in 0..sweeps.count {
            match self.spare.get_mut(level) {
                Some(spare) => {
                    launch::jacobi(n, self.shift, self.omega, u, f, spare)?;
                    std::mem::swap(u, spare);
                }
                None => launch::sweep(n, self.shift, sweeps.order, f, u)?,
            }
        }
        Ok(())
    }
}

impl<T: Real> Components for Wide<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.sides[level] * self.sides[level])
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        self.smooth(level, u, f, sweeps)?;
        let (n, m) = (self.sides[level], self.sides[level + 1]);
        let args = [
            Arg::size(m),
            launch::inverse_h2::<T>(n).arg().0,
            self.shift.arg().0,
            u.buffer().arg(),
            f.buffer().arg(),
            coarse.buffer().arg(),
        ];
        launch::enqueue::<T>(&self.context, "restrict_defect_gpu", launch::points(&self.context, m, m), &args)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        let n = self.sides[level];
        let args = [Arg::size(n), coarse.buffer().arg(), u.buffer().arg()];
        let range = launch::points(&self.context, n - 2, n - 2);
        launch::enqueue::<T>(&self.context, "interpolate_add_gpu", range, &args)?;
        self.smooth(level, u, f, sweeps)
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero())?;
        }
        launch::half_sweep(3, self.shift, 0, f, u)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        launch::norm(Term::Defect, self.sides[level], self.shift, u, f)
    }

    fn source_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        launch::norm(Term::Source, self.sides[level], self.shift, u, f)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.wide())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vector<T>,
        f: &Vector<T>,
        coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        let m = self.sides[level + 1];
        launch::copy_boundary(m, 2, u, coarse_u)?;
        launch::restrict(m, f, coarse_f)
    }

    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let n = self.sides[level];
        let args = [Arg::size(n), coarse.buffer().arg(), u.buffer().arg()];
        let range = launch::points(&self.context, n - 2, n - 2);
        launch::enqueue::<T>(&self.context, "interpolate_cubic_gpu", range, &args)
    }
}
