//! The steps in plain Rust.

use super::params::WaveParams;
use super::parts::{Parts, Source, Target};
use crate::grid::host::grid;
use crate::grid::{Poisson, PoissonReport};
use crate::reference::{vector, wave2};
use crate::{Real, Result};

/// The functions of [`reference::wave2`](crate::reference::wave2) on vectors of the host.
pub(super) struct Host<T: Real> {
    n: usize,
    a: T,
    r2: T,
    poisson: Option<Poisson<T>>,
}

impl<T: Real> Host<T> {
    pub(super) fn new(params: &WaveParams, poisson: Option<Poisson<T>>) -> Host<T> {
        let (a, r2) = params.coefficients();
        Host { n: params.n, a, r2, poisson }
    }
}

impl<T: Real> Parts<T> for Host<T> {
    type Grid = Vec<T>;

    fn zeros(&self) -> Result<Vec<T>> {
        grid(self.n)
    }

    fn load(&mut self, from: Source<'_, T>, edges: bool, to: &mut Vec<T>) -> Result<()> {
        match from {
            Source::Host(values) => to.copy_from_slice(values),
            Source::Device(vector) => vector.read(to)?,
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
            wave2::leap(self.n, self.a, self.r2, u, p);
            std::mem::swap(u, p);
        }
        Ok(())
    }

    fn laplacian(&mut self, u: &Vec<T>, out: &mut Vec<T>) -> Result<()> {
        wave2::laplacian(self.n, u, out);
        Ok(())
    }

    fn clear(&mut self, g: &mut Vec<T>) -> Result<()> {
        g.fill(T::zero());
        Ok(())
    }

    fn update(&mut self, alpha: T, x: &Vec<T>, beta: T, y: &mut Vec<T>) -> Result<()> {
        vector::update(alpha, x, beta, y);
        Ok(())
    }

    fn solve(&mut self, f: &Vec<T>, e: &mut Vec<T>) -> Result<PoissonReport> {
        self.poisson.as_mut().expect("the implicit scheme has a solver").solve(f, e)
    }

    fn energy_sums(&mut self, mean: bool, u: &Vec<T>, p: &Vec<T>, _spare: &mut [Vec<T>; 2]) -> Result<[f64; 2]> {
        Ok(wave2::energy_sums(self.n, mean, u, p))
    }
}
