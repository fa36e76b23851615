//! The components in plain sequential Rust: the backend for machines whose drivers are in doubt.

pub(crate) mod stencil;
pub(crate) mod vectors;

use self::stencil::Stencil;
use super::conjugate::Space;
use super::cycle::{Components, Hierarchy, Order, Sweeps};
use super::equation::Equation;
use super::faces;
use super::params::Smoother;
use crate::matrix::host::zeros;
use crate::{Real, Result};

/// Grids in vectors of the host.
pub(crate) struct Sequential<T> {
    equation: Equation<T>,
    smoother: Smoother,
    omega: T,
    /// Defects, and what a Jacobi sweep writes, on each level.
    work: Vec<Vec<T>>,
}

impl<T: Real> Sequential<T> {
    pub(crate) fn new(equation: Equation<T>, smoother: Smoother, omega: f64) -> Result<Sequential<T>> {
        let work = (0..equation.sides.len()).map(|level| equation.grid(level)).collect::<Result<_>>()?;
        Ok(Sequential { equation, smoother, omega: T::from_f64(omega), work })
    }

    fn defect(&mut self, level: usize, u: &[T], f: &[T]) -> &[T] {
        let Sequential { equation, work, .. } = self;
        equation.defect(level, u, f, &mut work[level]);
        &work[level]
    }

    fn restrict(&self, level: usize, fine: &[T], coarse: &mut [T]) {
        match self.equation.interpolations.get(level) {
            Some(along) => faces::restrict(along, fine, coarse),
            None => self.equation.stencil(level).restrict(fine, coarse),
        }
    }
}

impl<T: Real> Equation<T> {
    /// The grid of `level`.
    fn stencil(&self, level: usize) -> Stencil {
        Stencil { n: self.sides[level], dim: self.dim, shift: self.shift }
    }

    /// `d` = f - A u inside on `level`, 0 on the boundary.
    fn defect(&self, level: usize, u: &[T], f: &[T], d: &mut [T]) {
        match self.faces.get(level) {
            Some(faces) => faces::defect(faces, T::from_f64(self.shift), u, f, d),
            None => self.stencil(level).defect(u, f, d),
        }
    }
}

impl<T: Real> Space<T> for Sequential<T> {
    fn defect_to(&mut self, u: &Vec<T>, f: &Vec<T>, d: &mut Vec<T>) -> Result<()> {
        self.equation.defect(0, u, f, d);
        Ok(())
    }

    fn dot(&self, a: &Vec<T>, b: &Vec<T>) -> Result<T> {
        Ok(vectors::dot(a, b))
    }

    fn update(&self, alpha: T, x: &Vec<T>, beta: T, y: &mut Vec<T>) -> Result<()> {
        vectors::update(alpha, x, beta, y);
        Ok(())
    }
}

/// A square grid of zeros with `side` points per side.
pub(crate) fn grid<T: Real>(side: usize) -> Result<Vec<T>> {
    zeros("n", side.checked_mul(side))
}

impl<T: Real> Hierarchy for Sequential<T> {
    type Grid = Vec<T>;

    fn zeros(&self, level: usize) -> Result<Vec<T>> {
        self.equation.grid(level)
    }

    fn clear(&self, u: &mut Vec<T>) -> Result<()> {
        u.fill(T::zero());
        Ok(())
    }

    fn solve_coarsest(&mut self, u: &mut Vec<T>, f: &Vec<T>, zero: bool) -> Result<()> {
        if zero {
            u.fill(T::zero());
        }
        let Equation { dim, shift, faces, .. } = &self.equation;
        match faces.last() {
            Some(faces) => faces::half_sweep(faces, T::from_f64(*shift), u, f, 0, Order::RedFirst),
            // The one interior point is (1, 1), red, or (1, 1, 1), black.
            None => Stencil { n: 3, dim: *dim, shift: *shift }.half_sweep(u, f, *dim as usize % 2),
        }
        Ok(())
    }

    fn defect_norm(&mut self, level: usize, u: &Vec<T>, f: &Vec<T>) -> Result<f64> {
        Ok(vectors::norm2(self.defect(level, u, f)).into_f64())
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
        Ok(vectors::norm2(u).into_f64())
    }

    fn coarsen(
        &mut self,
        level: usize,
        u: &Vec<T>,
        f: &Vec<T>,
        coarse_u: &mut Vec<T>,
        coarse_f: &mut Vec<T>,
    ) -> Result<()> {
        self.equation.stencil(level).inject_boundary(u, coarse_u);
        self.restrict(level, f, coarse_f);
        Ok(())
    }
}

impl<T: Real> Components for Sequential<T> {
    type Grid = Vec<T>;
    type Hierarchy = Self;

    fn hierarchy(&self) -> &Self {
        self
    }

    fn hierarchy_mut(&mut self) -> &mut Self {
        self
    }

    fn smooth(&mut self, level: usize, u: &mut Vec<T>, f: &Vec<T>, sweeps: Sweeps) -> Result<()> {
        let stencil = self.equation.stencil(level);
        let faces = self.equation.faces.get(level);
        let (shift, omega) = (T::from_f64(self.equation.shift), self.omega);
        for _ in 0..sweeps.count {
            match self.smoother {
                Smoother::RedBlack => match faces {
                    Some(faces) => faces::red_black(faces, shift, u, f, sweeps.order),
                    None => stencil.red_black(u, f, sweeps.order),
                },
                Smoother::Jacobi => {
                    let out = &mut self.work[level];
                    match faces {
                        Some(faces) => faces::jacobi(faces, shift, omega, u, f, out),
                        None => stencil.jacobi(omega, u, f, out),
                    }
                    std::mem::swap(u, out);
                }
            }
        }
        Ok(())
    }

    fn restrict_defect(&mut self, level: usize, u: &Vec<T>, f: &Vec<T>, coarse: &mut Vec<T>) -> Result<()> {
        self.defect(level, u, f);
        self.restrict(level, &self.work[level], coarse);
        Ok(())
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vec<T>, u: &mut Vec<T>) -> Result<()> {
        match self.equation.interpolations.get(level) {
            Some(along) => faces::interpolate_add(along, coarse, u),
            None => self.equation.stencil(level).interpolate_add(coarse, u),
        }
        Ok(())
    }

    fn refine(&mut self, level: usize, coarse: &Vec<T>, u: &mut Vec<T>) -> Result<()> {
        self.equation.stencil(level).interpolate_cubic(coarse, u);
        Ok(())
    }
}
