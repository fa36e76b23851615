//! The steps by linear algebra: sparse products and operations on vectors only.

use super::params::Square;
use super::parts::{Parts, Source, Target};
use crate::multigrid::algebra::{inside, matrix};
use crate::multigrid::{Poisson, PoissonReport, Separable};
use crate::{Context, Csr, Real, Result, Vector, ops};

/// The matrices of the problem on all n^2 points.
pub(crate) struct Matrices<T: Real> {
    n: usize,
    /// -h^2 Laplace_h on the rows of interior points.
    interior: Csr<T>,
    /// The sums of the differences to interior neighbours, on the rows of boundary points. With `interior`, the matrix of
    /// the sum over pairs of neighbours, which is symmetric.
    boundary: Csr<T>,
    /// The identity on the rows of interior points.
    inside: Csr<T>,
    r2: T,
    poisson: Option<Poisson<T>>,
}

impl<T: Real> Matrices<T> {
    pub(crate) fn new(context: &Context, square: &Square, poisson: Option<Poisson<T>>) -> Result<Matrices<T>> {
        let n = square.n;
        let interior = matrix(context, n * n, n * n, |k, put| {
            if inside(n, k) {
                [(k - n, -1.0), (k - 1, -1.0), (k, 4.0), (k + 1, -1.0), (k + n, -1.0)]
                    .into_iter()
                    .for_each(|(column, value)| put(column, value));
            }
        })?;
        let boundary = matrix(context, n * n, n * n, |k, put| {
            if inside(n, k) {
                return;
            }
            let (i, j) = (k % n, k / n);
            let neighbours = [
                (j > 0).then(|| k - n),
                (i > 0).then(|| k - 1),
                (i < n - 1).then(|| k + 1),
                (j < n - 1).then(|| k + n),
            ];
            // A boundary point has one interior neighbour, a corner none.
            if let Some(neighbour) = neighbours.into_iter().flatten().find(|&k| inside(n, k)) {
                let mut entries = [(k, 1.0), (neighbour, -1.0)];
                entries.sort_by_key(|entry| entry.0);
                entries.into_iter().for_each(|(column, value)| put(column, value));
            }
        })?;
        let inside = matrix(context, n * n, n * n, |k, put| {
            if inside(n, k) {
                put(k, 1.0);
            }
        })?;
        Ok(Matrices { n, interior, boundary, inside, r2: square.coefficients().1, poisson })
    }
}

impl<T: Real> Parts<T> for Matrices<T> {
    type Grid = Vector<T>;

    fn zeros(&self) -> Result<Vector<T>> {
        Vector::zeros(self.interior.context(), self.n * self.n)
    }

    fn load(&mut self, from: Source<'_, T>, edges: bool, to: &mut Vector<T>) -> Result<()> {
        match from {
            Source::Host(values) => to.write(values)?,
            Source::Device(vector) => to.copy_from(vector)?,
            Source::Separable(function) => function.fill(to)?,
        }
        if !edges {
            let all = to.copy_range(0..to.len())?;
            ops::mv(T::one(), &self.inside, &all, T::zero(), to)?;
        }
        Ok(())
    }

    fn error_max(&mut self, grid: &Vector<T>, exact: &Separable) -> Result<f64> {
        exact.error_max(grid)
    }

    fn store(&mut self, from: &Vector<T>, to: Target<'_, T>) -> Result<()> {
        match to {
            Target::Host(values) => from.read(values),
            Target::Device(vector) => vector.copy_from(from),
        }
    }

    fn trial(&self) -> usize {
        1
    }

    fn leap(&mut self, steps: usize, u: &mut Vector<T>, p: &mut Vector<T>, _spare: &mut [Vector<T>; 2]) -> Result<()> {
        for _ in 0..steps {
            ops::update(T::from_f64(2.0), u, -T::one(), p)?;
            ops::mv(-self.r2, &self.interior, u, T::one(), p)?;
            std::mem::swap(u, p);
        }
        Ok(())
    }

    fn laplacian(&mut self, u: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
        let inverse_h2 = T::from_f64(((self.n - 1) * (self.n - 1)) as f64);
        ops::mv(-inverse_h2, &self.interior, u, T::zero(), out)
    }

    fn clear(&mut self, g: &mut Vector<T>) -> Result<()> {
        ops::fill(T::zero(), g)
    }

    fn update(&mut self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        ops::update(alpha, x, beta, y)
    }

    fn multiply(&mut self, a: &Vector<T>, b: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
        ops::multiply(a, b, out)
    }

    fn solve(&mut self, f: &Vector<T>, e: &mut Vector<T>) -> Result<PoissonReport> {
        self.poisson.as_mut().expect("the implicit scheme has a solver").solve_device(f, e)
    }

    fn energy_sums(
        &mut self,
        mean: bool,
        u: &Vector<T>,
        p: &Vector<T>,
        spare: &mut [Vector<T>; 2],
    ) -> Result<[f64; 2]> {
        let [x, y] = spare;
        let (one, half) = (T::one(), T::from_f64(0.5));
        ops::axpby(one, u, -one, p, x)?;
        let squares = ops::dot(x, x)?.into_f64();
        let (left, right) = if mean {
            ops::axpby(half, u, half, p, x)?;
            (&*x, &*x)
        } else {
            (u, p)
        };
        ops::mv(one, &self.interior, left, T::zero(), y)?;
        ops::mv(one, &self.boundary, left, one, y)?;
        Ok([squares, ops::dot(y, right)?.into_f64()])
    }
}
