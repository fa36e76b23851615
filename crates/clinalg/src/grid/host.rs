//! The components in plain Rust.

use super::components::{Components, Sweeps};
use super::conjugate::Space;
use super::equation::Equation;
use super::params::Smoother;
use crate::reference::grid2::Order;
use crate::reference::{faces2, grid2, grid3, vector, zeros};
use crate::{Real, Result};

/// The functions of [`reference`](crate::reference) on vectors of the host.
pub(super) struct Host<T> {
    equation: Equation<T>,
    smoother: Smoother,
    omega: T,
    /// Defects, and what a Jacobi sweep writes, on each level.
    work: Vec<Vec<T>>,
}

impl<T: Real> Host<T> {
    pub(super) fn new(equation: Equation<T>, smoother: Smoother, omega: f64) -> Result<Host<T>> {
        let work = (0..equation.sides.len()).map(|level| equation.grid(level)).collect::<Result<_>>()?;
        Ok(Host { equation, smoother, omega: T::of(omega), work })
    }

    fn smooth(&mut self, level: usize, u: &mut Vec<T>, f: &[T], sweeps: Sweeps) {
        let Equation { sides, dim, shift, faces, .. } = &self.equation;
        let (n, shift, omega) = (sides[level], T::of(*shift), self.omega);
        for _ in 0..sweeps.count {
            match self.smoother {
                Smoother::RedBlack => match (faces.get(level), dim) {
                    (Some(faces), _) => faces2::red_black(faces, shift, u, f, sweeps.order),
                    (None, 2) => grid2::red_black_shifted(n, shift, u, f, sweeps.order),
                    (None, _) => grid3::red_black(n, shift, u, f, sweeps.order),
                },
                Smoother::Jacobi => {
                    let out = &mut self.work[level];
                    match (faces.get(level), dim) {
                        (Some(faces), _) => faces2::jacobi(faces, shift, omega, u, f, out),
                        (None, 2) => grid2::jacobi_shifted(n, shift, omega, u, f, out),
                        (None, _) => grid3::jacobi(n, shift, omega, u, f, out),
                    }
                    std::mem::swap(u, out);
                }
            }
        }
    }

    fn defect(&mut self, level: usize, u: &[T], f: &[T]) -> &[T] {
        let Host { equation, work, .. } = self;
        equation.defect(level, u, f, &mut work[level]);
        &work[level]
    }

    fn restrict(&self, level: usize, fine: &[T], coarse: &mut [T]) {
        let n = self.equation.sides[level];
        match (self.equation.interpolations.get(level), self.equation.dim) {
            (Some(along), _) => faces2::restrict(along, fine, coarse),
            (None, 2) => grid2::restrict(n, fine, coarse),
            (None, _) => grid3::restrict(n, fine, coarse),
        }
    }
}

impl<T: Real> Equation<T> {
    /// `d` = f - A u inside on `level`, 0 on the boundary.
    fn defect(&self, level: usize, u: &[T], f: &[T], d: &mut [T]) {
        let (n, shift) = (self.sides[level], T::of(self.shift));
        match (self.faces.get(level), self.dim) {
            (Some(faces), _) => faces2::defect(faces, shift, u, f, d),
            (None, 2) => grid2::defect_shifted(n, shift, u, f, d),
            (None, _) => grid3::defect(n, shift, u, f, d),
        }
    }
}

impl<T: Real> Space<T> for Host<T> {
    fn defect_to(&mut self, u: &Vec<T>, f: &Vec<T>, d: &mut Vec<T>) -> Result<()> {
        self.equation.defect(0, u, f, d);
        Ok(())
    }

    fn dot(&self, a: &Vec<T>, b: &Vec<T>) -> Result<T> {
        Ok(vector::dot(a, b))
    }

    fn update(&self, alpha: T, x: &Vec<T>, beta: T, y: &mut Vec<T>) -> Result<()> {
        vector::update(alpha, x, beta, y);
        Ok(())
    }
}

/// A square grid of zeros, `side` points a side.
pub(super) fn grid<T: Real>(side: usize) -> Result<Vec<T>> {
    zeros("n", side.checked_mul(side))
}

impl<T: Real> Components for Host<T> {
    type Grid = Vec<T>;

    fn zeros(&self, level: usize) -> Result<Vec<T>> {
        self.equation.grid(level)
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
        self.defect(level, u, f);
        self.restrict(level, &self.work[level], coarse);
        Ok(())
    }

    fn ascend(&mut self, level: usize, coarse: &Vec<T>, u: &mut Vec<T>, f: &Vec<T>, sweeps: Sweeps) -> Result<()> {
        let n = self.equation.sides[level];
        match (self.equation.interpolations.get(level), self.equation.dim) {
            (Some(along), _) => faces2::interpolate_add(along, coarse, u),
            (None, 2) => grid2::interpolate_add(n, coarse, u),
            (None, _) => grid3::interpolate_add(n, coarse, u),
        }
        self.smooth(level, u, f, sweeps);
        Ok(())
    }

    fn solve_coarsest(&mut self, u: &mut Vec<T>, f: &Vec<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero());
        }
        let Equation { dim, shift, faces, .. } = &self.equation;
        let shift = T::of(*shift);
        match (faces.last(), dim) {
            (Some(faces), _) => faces2::half_sweep(faces, shift, u, f, 0, Order::RedFirst),
            (None, 2) => grid2::half_sweep_shifted(3, shift, u, f, 0),
            // The one interior point, (1, 1, 1), is black.
            (None, _) => grid3::half_sweep(3, shift, u, f, 1),
        }
        Ok(())
    }

    fn defect_norm(&mut self, level: usize, u: &Vec<T>, f: &Vec<T>) -> Result<f64> {
        Ok(vector::norm2(self.defect(level, u, f)).wide())
    }

    fn source_norm(&mut self, level: usize, u: &Vec<T>, f: &Vec<T>) -> Result<f64> {
        let n = self.equation.sides[level];
        let mut boundary = u.clone();
        for (row, values) in boundary.chunks_mut(n).enumerate() {
            let inside = |i: usize| (1..n - 1).contains(&i);
            if inside(row % n) && (self.equation.dim == 2 || inside(row / n)) {
                values[1..n - 1].fill(T::zero());
            }
        }
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
        let n = self.equation.sides[level];
        match self.equation.dim {
            2 => grid2::inject_boundary(n, u, coarse_u),
            _ => grid3::inject_boundary(n, u, coarse_u),
        }
        self.restrict(level, f, coarse_f);
        Ok(())
    }

    fn refine(&mut self, level: usize, coarse: &Vec<T>, u: &mut Vec<T>) -> Result<()> {
        let n = self.equation.sides[level];
        match self.equation.dim {
            2 => grid2::interpolate_cubic(n, coarse, u),
            _ => grid3::interpolate_cubic(n, coarse, u),
        }
        Ok(())
    }
}
