//! The iteration of LOBPCG.

use std::mem::swap;
use std::ops::ControlFlow;

use nalgebra::{Cholesky, ComplexField};
use num_traits::Float;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::ritz::{Ritz, ritz};
use super::{EigenParams, EigenScalar, Eigenpairs, Which};
use crate::ops::Operator;
use crate::solve::block::{Columns, Products, Small, orthonormalising, symmetric};
use crate::solve::{Preconditioner, Progress, Stop};
use crate::{Context, Dense, Error, Real, Result};

/// Residuals below this many rounding errors of a product with A cannot be reduced further.
const ROUNDING: f64 = 16.0;

/// x' B x is negative if it is below minus this many rounding errors of a sum of as many terms as x has entries.
const INDEFINITE: f64 = 16.0;

/// A block and its products with A and, where there is one, B.
struct Block<T: EigenScalar> {
    v: Dense<T>,
    a: Dense<T>,
    b: Option<Dense<T>>,
    /// Columns in use.
    cols: usize,
}

impl<T: EigenScalar> Block<T> {
    fn new(context: &Context, rows: usize, cols: usize, with_b: bool) -> Result<Block<T>> {
        let zeros = || Dense::zeros(context, rows, cols);
        Ok(Block { v: zeros()?, a: zeros()?, b: with_b.then(zeros).transpose()?, cols: 0 })
    }

    fn v(&self) -> Columns<'_, T> {
        self.first(self.cols)
    }

    fn first(&self, cols: usize) -> Columns<'_, T> {
        Columns { of: &self.v, cols }
    }

    fn a(&self, cols: usize) -> Columns<'_, T> {
        Columns { of: &self.a, cols }
    }

    /// B V, which is V itself without B.
    fn b(&self, cols: usize) -> Columns<'_, T> {
        Columns { of: self.b.as_ref().unwrap_or(&self.v), cols }
    }
}

/// The residuals of the wanted pairs.
struct Residuals {
    /// Relative to the moduli of the eigenvalues.
    relative: Vec<f64>,
    /// Relative to the rounding error of a product with A.
    in_roundings: Vec<f64>,
}

impl Residuals {
    /// The pairs that neither meet the tolerance nor are as accurate as rounding allows.
    fn open(&self, tolerance: f64) -> impl Iterator<Item = usize> {
        (0..self.relative.len()).filter(move |&k| self.relative[k] > tolerance && self.in_roundings[k] > ROUNDING)
    }

    fn is_finite(&self) -> bool {
        self.relative.iter().chain(&self.in_roundings).all(|value| value.is_finite())
    }
}

pub(super) struct Iteration<'a, T: EigenScalar> {
    operator: &'a dyn Operator<T>,
    mass: Option<&'a dyn Operator<T>>,
    params: &'a EigenParams,
    /// Columns of the block of vectors.
    width: usize,
    products: Products<T>,
    /// The vectors, then the directions of the last step.
    basis: Block<T>,
    next: Block<T>,
    /// Preconditioned residuals, and the residuals they are computed from.
    search: Block<T>,
    spare: Dense<T>,
    values: Vec<f64>,
    /// An estimate of the norm of A.
    norm: f64,
}

impl<'a, T: EigenScalar> Iteration<'a, T> {
    pub(super) fn new(
        operator: &'a dyn Operator<T>,
        mass: Option<&'a dyn Operator<T>>,
        start: Option<&Dense<T>>,
        params: &'a EigenParams,
    ) -> Result<Iteration<'a, T>> {
        let (context, n) = (operator.context(), operator.rows());
        let width = params.width(n);
        let with_b = mass.is_some();
        let mut iteration = Iteration {
            operator,
            mass,
            params,
            width,
            products: Products::new(context, n, 3 * width)?,
            basis: Block::new(context, n, 2 * width, with_b)?,
            next: Block::new(context, n, 2 * width, with_b)?,
            search: Block::new(context, n, width, with_b)?,
            spare: Dense::zeros(context, n, width)?,
            values: Vec::new(),
            norm: 0.0,
        };
        iteration.start(start)?;
        Ok(iteration)
    }

    /// The Ritz vectors of the initial block, whose missing columns are random.
    fn start(&mut self, start: Option<&Dense<T>>) -> Result<()> {
        let (n, given) = (self.operator.rows(), start.map_or(0, Dense::cols).min(self.width));
        let mut random = StdRng::seed_from_u64(self.params.seed);
        let values: Vec<T> = (0..n * self.width).map(|_| T::random(|| random.random_range(-1.0..1.0))).collect();
        self.search.v.as_vector_mut().write(&values)?;
        if let Some(start) = start {
            self.products.copy(Columns { of: start, cols: given }, &mut self.search.v)?;
        }
        self.search.cols = self.width;
        self.restart()?;
        let (vectors, products) = (self.basis.first(self.width), self.basis.a(self.width));
        let lengths = diagonal(&self.products.gram(vectors, vectors)?);
        let squares = diagonal(&self.products.gram(products, products)?);
        let gains = squares.iter().zip(&lengths).map(|(square, length)| (square / length).sqrt());
        self.norm = gains.fold(0.0, f64::max);
        Ok(())
    }

    /// Begins anew from the Ritz vectors of the span of the search directions, without directions of an earlier step.
    fn restart(&mut self) -> Result<()> {
        for _ in 0..2 {
            self.orthonormalise(0.0)?;
        }
        if self.search.cols == 0 {
            return Err(Error::unsuitable("x", "all its columns are 0; leave it out for random vectors"));
        }
        self.multiply_search()?;
        self.width = self.search.cols;
        self.basis.cols = 0;
        let projected = self.products.gram(self.search.v(), self.search.a(self.width))?;
        if !is_finite(&projected) {
            self.values = vec![f64::NAN; self.width];
            return self.rotate(&Small::identity(self.width, self.width));
        }
        let Ritz { values, coefficients, .. } = ritz(&projected, self.width, self.params.which == Which::Largest);
        self.values = values;
        self.rotate(&coefficients)
    }

    pub(super) fn run(
        mut self,
        mut m: Option<&mut dyn Preconditioner<T>>,
        progress: Progress<'_>,
    ) -> Result<Eigenpairs<T>> {
        let tolerance = self.params.tolerance_of::<T>();
        let (mut iterations, mut best, mut since) = (0, f64::INFINITY, 0);
        let (mut residuals, stop) = loop {
            let mut residuals = self.residuals()?;
            if residuals.is_finite() && residuals.open(tolerance).next().is_none() {
                self.refresh()?;
                residuals = self.residuals()?;
            }
            if !residuals.is_finite() {
                break (residuals, Stop::NotFinite);
            }
            let open: Vec<usize> = residuals.open(tolerance).collect();
            if open.is_empty() {
                let met = residuals.relative.iter().all(|&r| r <= tolerance);
                break (residuals, if met { Stop::Converged } else { Stop::RoundingFloor });
            }
            let worst = |of: &[f64]| open.iter().fold(0.0, |most: f64, &k| most.max(of[k]));
            if progress(iterations, worst(&residuals.relative)).is_break() {
                break (residuals, Stop::Cancelled);
            }
            let now = worst(&residuals.in_roundings);
            since = if now < 0.99 * best { 0 } else { since + 1 };
            best = best.min(now);
            if since > self.params.stagnation_window {
                break (residuals, Stop::Stagnated);
            }
            if iterations == self.params.max_iterations {
                break (residuals, Stop::IterationLimit);
            }
            if let ControlFlow::Break(stop) = self.step(&mut m)? {
                break (residuals, stop);
            }
            iterations += 1;
        };
        let count = self.params.count.min(self.width);
        self.values.truncate(count);
        residuals.relative.truncate(count);
        let mut vectors = Dense::zeros(self.operator.context(), self.operator.rows(), count)?;
        self.products.copy(self.basis.first(count), &mut vectors)?;
        Ok(Eigenpairs { values: self.values, vectors, residuals: residuals.relative, iterations, stop })
    }

    /// Computes A X - B X diag(values) into `spare`; returns the norms of the wanted columns.
    fn residuals(&mut self) -> Result<Residuals> {
        let width = self.width;
        let values = self.values.iter().map(|&value| T::Small::from_real(value));
        let shift = Small::from_diagonal(&nalgebra::DVector::from_iterator(width, values));
        self.products.copy(self.basis.a(width), &mut self.spare)?;
        self.products.combine(-1.0, self.basis.b(width), &shift, 1.0, &mut self.spare)?;
        let spare = Columns { of: &self.spare, cols: width };
        let squares = self.products.gram(spare, spare)?;
        let (scales, lengths) = match self.mass {
            None => (vec![1.0; width], vec![1.0; width]),
            Some(_) => {
                let root = |gram| diagonal(&gram).into_iter().map(f64::sqrt).collect::<Vec<_>>();
                let scales = root(self.products.gram(self.basis.b(width), self.basis.b(width))?);
                (scales, root(self.products.gram(self.basis.first(width), self.basis.first(width))?))
            }
        };
        let wanted = 0..self.params.count.min(width);
        let norms: Vec<f64> = wanted.clone().map(|k| squares[(k, k)].real().sqrt()).collect();
        let rounding = T::Real::epsilon().into_f64() * self.norm;
        Ok(Residuals {
            relative: wanted.clone().map(|k| relative(norms[k], self.values[k].abs() * scales[k])).collect(),
            in_roundings: wanted.map(|k| relative(norms[k], rounding * lengths[k])).collect(),
        })
    }

    fn step(&mut self, m: &mut Option<&mut dyn Preconditioner<T>>) -> Result<ControlFlow<Stop>> {
        let width = self.width;
        let residual = Columns { of: &self.spare, cols: width };
        match m {
            Some(m) => self.products.precondition(*m, residual, &mut self.search.v)?,
            None => self.products.copy(residual, &mut self.search.v)?,
        }
        self.search.cols = width;
        // The norm that rounding alone leaves of a unit vector after projection.
        let noise = (1e3 * T::Real::epsilon().into_f64()).powi(2);
        self.orthonormalise(0.0)?;
        for _ in 0..2 {
            self.project()?;
            self.orthonormalise(noise)?;
        }
        if self.search.cols == 0 {
            return Ok(ControlFlow::Break(Stop::Stagnated));
        }
        self.multiply_search()?;
        let (old, new) = (self.basis.cols, self.search.cols);
        let corner = self.products.gram(self.basis.v(), self.basis.a(old))?;
        let side = self.products.gram(self.basis.v(), self.search.a(new))?;
        let other = self.products.gram(self.search.v(), self.search.a(new))?;
        let mut projected = Small::zeros(old + new, old + new);
        projected.view_mut((0, 0), (old, old)).copy_from(&corner);
        projected.view_mut((0, old), (old, new)).copy_from(&side);
        projected.view_mut((old, 0), (new, old)).copy_from(&side.adjoint());
        projected.view_mut((old, old), (new, new)).copy_from(&other);
        if !is_finite(&projected) {
            return Ok(ControlFlow::Break(Stop::NotFinite));
        }
        let Ritz { values, coefficients, spread } = ritz(&projected, width, self.params.which == Which::Largest);
        self.values = values;
        if self.mass.is_none() {
            self.norm = self.norm.max(spread);
        }
        self.rotate(&coefficients)?;
        Ok(ControlFlow::Continue(()))
    }

    /// Removes from the search directions their components in the basis.
    fn project(&mut self) -> Result<()> {
        let cols = self.search.cols;
        let parts = self.products.gram(self.basis.b(self.basis.cols), self.search.first(cols))?;
        let Block { v, .. } = &mut self.search;
        self.products.combine(-1.0, self.basis.v(), &parts, 1.0, v)
    }

    /// Makes the search directions orthonormal, dropping those that are linearly dependent.
    fn orthonormalise(&mut self, noise: f64) -> Result<()> {
        let Block { v, b, cols, .. } = &mut self.search;
        let columns = Columns { of: &*v, cols: *cols };
        if let (Some(mass), Some(b)) = (self.mass, b.as_mut()) {
            self.products.apply(mass, columns, b)?;
        }
        let gram = self.products.gram(columns, Columns { of: b.as_ref().unwrap_or(v), cols: *cols })?;
        if !is_finite(&gram) {
            // Non-finite residuals report this.
            return Ok(());
        }
        if self.mass.is_some() {
            self.check_definite(&gram)?;
        }
        let Block { v, cols, .. } = &mut self.search;
        let columns = Columns { of: &*v, cols: *cols };
        let z = orthonormalising(&gram, T::Real::epsilon().into_f64(), noise);
        self.products.combine(1.0, columns, &z, 0.0, &mut self.next.v)?;
        *cols = z.ncols();
        self.products.copy(Columns { of: &self.next.v, cols: *cols }, v)
    }

    /// An error if `gram` = S' B S of the search directions S shows beyond rounding that B is not positive definite.
    fn check_definite(&mut self, gram: &Small<T::Small>) -> Result<()> {
        let cols = self.search.cols;
        if Cholesky::new(gram.clone()).is_some() {
            return Ok(());
        }
        let (s, b) = (self.search.first(cols), self.search.b(cols));
        let (lengths, images) = (diagonal(&self.products.gram(s, s)?), diagonal(&self.products.gram(b, b)?));
        let own = diagonal(gram);
        let not_definite = |why: &str| Err(Error::unsuitable("b", format!("B is not positive definite: {why}")));
        if (0..cols).any(|k| own[k] <= 0.0 && lengths[k] > 0.0 && images[k] == 0.0) {
            return not_definite("B x is 0 for a vector x that is not 0");
        }
        // Rounding errors are relative to |x| |B x|.
        let scale = |k: usize| match (lengths[k] * images[k]).sqrt().sqrt() {
            0.0 => 0.0,
            root => root.recip(),
        };
        let scaled = Small::from_fn(cols, cols, |i, j| gram[(i, j)].scale(scale(i)).scale(scale(j)));
        let least = symmetric(&scaled).0.first().copied().unwrap_or(0.0);
        let rounding = T::Real::epsilon().into_f64() * (self.operator.rows() as f64).sqrt();
        if least < -INDEFINITE * rounding * cols as f64 {
            return not_definite("x' B x is negative for a vector x");
        }
        Ok(())
    }

    /// A and B times the search directions.
    fn multiply_search(&mut self) -> Result<()> {
        let Block { v, a, b, cols } = &mut self.search;
        let columns = Columns { of: &*v, cols: *cols };
        self.products.apply(self.operator, columns, a)?;
        match (self.mass, b) {
            (Some(mass), Some(b)) => self.products.apply(mass, columns, b),
            _ => Ok(()),
        }
    }

    /// The new vectors and directions from the old ones and the search directions.
    fn rotate(&mut self, coefficients: &Small<T::Small>) -> Result<()> {
        let (old, new, cols) = (self.basis.cols, self.search.cols, coefficients.ncols());
        let first = coefficients.rows(0, old).into_owned();
        let last = coefficients.rows(old, new).into_owned();
        let mut both = |basis: &Dense<T>, search: &Dense<T>, to: &mut Dense<T>| {
            let mut beta = 0.0;
            if old > 0 {
                self.products.combine(1.0, Columns { of: basis, cols: old }, &first, 0.0, to)?;
                beta = 1.0;
            }
            self.products.combine(1.0, Columns { of: search, cols: new }, &last, beta, to)
        };
        both(&self.basis.v, &self.search.v, &mut self.next.v)?;
        both(&self.basis.a, &self.search.a, &mut self.next.a)?;
        if let (Some(basis), Some(search), Some(next)) = (&self.basis.b, &self.search.b, &mut self.next.b) {
            both(basis, search, next)?;
        }
        self.next.cols = cols;
        swap(&mut self.basis, &mut self.next);
        Ok(())
    }

    /// Recomputes orthonormal vectors and true products, from which the updated ones drift.
    fn refresh(&mut self) -> Result<()> {
        let width = self.width;
        self.products.copy(self.basis.first(width), &mut self.search.v)?;
        self.search.cols = width;
        self.restart()
    }
}

fn is_finite<W: ComplexField<RealField = f64>>(a: &Small<W>) -> bool {
    a.iter().all(|value| value.is_finite())
}

fn diagonal<W: ComplexField<RealField = f64>>(a: &Small<W>) -> Vec<f64> {
    a.diagonal().iter().map(|value| value.clone().real()).collect()
}

fn relative(norm: f64, scale: f64) -> f64 {
    if norm == 0.0 { 0.0 } else { norm / scale }
}
