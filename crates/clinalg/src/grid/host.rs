//! The components in plain Rust.

use super::components::{Components, Sweeps};
use super::params::Smoother;
use crate::reference::grid2;
use crate::reference::{vector, zeros};
use crate::{Real, Result};

/// The functions of [`reference::grid2`](crate::reference::grid2) on vectors of the host.
pub(super) struct Host<T> {
    sides: Vec<usize>,
    shift: T,
    smoother: Smoother,
    omega: T,
    /// Defects, and what a Jacobi sweep writes, on each level.
    work: Vec<Vec<T>>,
}

impl<T: Real> Host<T> {
    pub(super) fn new(sides: &[usize], shift: f64, smoother: Smoother, omega: f64) -> Result<Host<T>> {
        let work = sides.iter().map(|&side| grid(side)).collect::<Result<_>>()?;
        Ok(Host { sides: sides.to_vec(), shift: T::of(shift), smoother, omega: T::of(omega), work })
    }

    fn smooth(&mut self, level: usize, u: &mut Vec<T>, f: &[T], sweeps: Sweeps) {
        let n = self.sides[level];
        for _ in 0..sweeps.count {
            match self.smoother {
                Smoother::RedBlack => grid2::red_black_shifted(n, self.shift, u, f, sweeps.order),
                Smoother::Jacobi => {
                    grid2::jacobi_shifted(n, self.shift, self.omega, u, f, &mut self.work[level]);
                    std::mem::swap(u, &mut self.work[level]);
                }
            }
        }
    }
}

/// A grid of zeros, `side` points a side.
pub(super) fn grid<T: Real>(side: usize) -> Result<Vec<T>> {
    zeros("n", side.checked_mul(side))
}

impl<T: Real> Components for Host<T> {
    type Grid = Vec<T>;

    fn zeros(&self, level: usize) -> Result<Vec<T>> {
        grid(self.sides[level])
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vec<T>,
        f: &Vec<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Vec<T>,
    ) -> Result<()> {
        if zero {
            u.fill(T::zero());
        }
        self.smooth(level, u, f, sweeps);
        let n = self.sides[level];
        grid2::defect_shifted(n, self.shift, u, f, &mut self.work[level]);
        grid2::restrict(n, &self.work[level], coarse);
        Ok(())
    }

    fn ascend(&mut self, level: usize, coarse: &Vec<T>, u: &mut Vec<T>, f: &Vec<T>, sweeps: Sweeps) -> Result<()> {
        grid2::interpolate_add(self.sides[level], coarse, u);
        self.smooth(level, u, f, sweeps);
        Ok(())
    }

    fn solve_coarsest(&mut self, u: &mut Vec<T>, f: &Vec<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero());
        }
        grid2::half_sweep_shifted(3, self.shift, u, f, 0);
        Ok(())
    }

    fn defect_norm(&mut self, level: usize, u: &Vec<T>, f: &Vec<T>) -> Result<f64> {
        let work = &mut self.work[level];
        grid2::defect_shifted(self.sides[level], self.shift, u, f, work);
        Ok(vector::norm2(work).wide())
    }

    fn source_norm(&mut self, level: usize, u: &Vec<T>, f: &Vec<T>) -> Result<f64> {
        let n = self.sides[level];
        let mut boundary = u.clone();
        boundary.chunks_mut(n).skip(1).take(n - 2).for_each(|row| row[1..n - 1].fill(T::zero()));
        self.defect_norm(level, &boundary, f)
    }

    fn norm(&self, u: &Vec<T>) -> Result<f64> {
        Ok(vector::norm2(u).wide())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vec<T>,
        f: &Vec<T>,
        coarse_u: &mut Vec<T>,
        coarse_f: &mut Vec<T>,
    ) -> Result<()> {
        let n = self.sides[level];
        grid2::inject_boundary(n, u, coarse_u);
        grid2::restrict(n, f, coarse_f);
        Ok(())
    }

    fn refine(&mut self, level: usize, coarse: &Vec<T>, u: &mut Vec<T>) -> Result<()> {
        grid2::interpolate_cubic(self.sides[level], coarse, u);
        Ok(())
    }
}
