//! The steps in plain Rust.

use super::params::Square;
use super::parts::{Parts, Source, Target};
use crate::multigrid::sequential::stencil::Stencil;
use crate::multigrid::sequential::{grid, vectors};
use crate::multigrid::{Poisson, PoissonReport, Separable};
use crate::{Real, Result};

/// Grids in vectors of the host.
pub(crate) struct Sequential<T: Real> {
    n: usize,
    a: T,
    r2: T,
    poisson: Option<Poisson<T>>,
}

impl<T: Real> Sequential<T> {
    pub(crate) fn new(square: &Square, poisson: Option<Poisson<T>>) -> Sequential<T> {
        let (a, r2) = square.coefficients();
        Sequential { n: square.n, a, r2, poisson }
    }

    fn stencil(&self) -> Stencil {
        Stencil { n: self.n, dim: 2, shift: 0.0 }
    }
}

impl<T: Real> Parts<T> for Sequential<T> {
    type Grid = Vec<T>;

    fn zeros(&self) -> Result<Vec<T>> {
        grid(self.n)
    }

    fn load(&mut self, from: Source<'_, T>, edges: bool, to: &mut Vec<T>) -> Result<()> {
        match from {
            Source::Host(values) => to.copy_from_slice(values),
            Source::Device(vector) => vector.read(to)?,
            Source::Separable(function) => function.fill_host(to)?,
        }
        if !edges {
            let n = self.n;
            for (j, row) in to.chunks_mut(n).enumerate() {
                if j == 0 || j == n - 1 {
                    row.fill(T::zero());
                }
                (row[0], row[n - 1]) = (T::zero(), T::zero());
            }
        }
        Ok(())
    }

    fn error_max(&mut self, grid: &Vec<T>, exact: &Separable) -> Result<f64> {
        exact.error_max_host(grid)
    }

    fn store(&mut self, from: &Vec<T>, to: Target<'_, T>) -> Result<()> {
        match to {
            Target::Host(values) => {
                values.copy_from_slice(from);
                Ok(())
            }
            Target::Device(vector) => vector.write(from),
        }
    }

    fn leap(&mut self, steps: usize, u: &mut Vec<T>, p: &mut Vec<T>, _spare: &mut [Vec<T>; 2]) -> Result<()> {
        for _ in 0..steps {
            let inside = self.stencil();
            for k in inside.interior() {
                p[k] = self.a * u[k] + (self.r2 * inside.neighbours(u, k) - p[k]);
            }
            std::mem::swap(u, p);
        }
        Ok(())
    }

    fn laplacian(&mut self, u: &Vec<T>, out: &mut Vec<T>) -> Result<()> {
        out.fill(T::zero());
        let (inside, four) = (self.stencil(), T::from_f64(4.0));
        let inverse_h2 = T::from_f64(((self.n - 1) * (self.n - 1)) as f64);
        for k in inside.interior() {
            out[k] = inverse_h2 * (inside.neighbours(u, k) - four * u[k]);
        }
        Ok(())
    }

    fn clear(&mut self, g: &mut Vec<T>) -> Result<()> {
        g.fill(T::zero());
        Ok(())
    }

    fn update(&mut self, alpha: T, x: &Vec<T>, beta: T, y: &mut Vec<T>) -> Result<()> {
        vectors::update(alpha, x, beta, y);
        Ok(())
    }

    fn multiply(&mut self, a: &Vec<T>, b: &Vec<T>, out: &mut Vec<T>) -> Result<()> {
        for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
            *out = a * b;
        }
        Ok(())
    }

    fn solve(&mut self, f: &Vec<T>, e: &mut Vec<T>) -> Result<PoissonReport> {
        self.poisson.as_mut().expect("the implicit scheme has a solver").solve(f, e)
    }

    fn energy_sums(&mut self, mean: bool, u: &Vec<T>, p: &Vec<T>, _spare: &mut [Vec<T>; 2]) -> Result<[f64; 2]> {
        let n = self.n;
        let squares = self.stencil().interior().map(|k| (u[k].into_f64() - p[k].into_f64()).powi(2)).sum();
        let pair = |k: usize, to: usize| {
            let (du, dp) = (u[to].into_f64() - u[k].into_f64(), p[to].into_f64() - p[k].into_f64());
            if mean { (0.5 * (du + dp)).powi(2) } else { du * dp }
        };
        let rows: f64 = (1..n - 1).flat_map(|j| (0..n - 1).map(move |i| j * n + i)).map(|k| pair(k, k + 1)).sum();
        let columns: f64 = (0..n - 1).flat_map(|j| (1..n - 1).map(move |i| j * n + i)).map(|k| pair(k, k + n)).sum();
        Ok([squares, rows + columns])
    }
}
