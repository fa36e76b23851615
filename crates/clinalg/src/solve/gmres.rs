//! Generalised minimal residuals.

use super::run::{Run, check_system};
use super::{Operator, Params, Preconditioner, Report, Stop};
use crate::ops::{self, dot_pair, dot_wide, scale_raw, update_dot};
use crate::{Context, Error, Real, Result, Vector};

/// A new basis vector that orthogonalisation shortens below this part of its length is
/// orthogonalised once more: orthogonality then holds to a few times the machine precision
/// (Daniel, Gragg, Kaufman and Stewart 1976).
const ORTHOGONAL: f64 = 0.1;

/// A diagonal entry of R below this many times the machine precision, relative to the largest one,
/// counts as zero.
const DEPENDENT: f64 = 16.0;

/// Restarted GMRES for any square nonsingular A, with an optional preconditioner applied from the
/// left (Saad and Schultz 1986; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithms
/// 6.9, 6.11 and 9.4): modified Gram-Schmidt with one reorthogonalisation where needed, and Givens
/// rotations.
///
/// Owns `restart + 2` vectors of `n` values. Iteration j of a cycle takes a product and `j + 2`
/// launches on vectors.
///
/// With a preconditioner the method minimises |M^-1 (b - A x)|. The history then is this norm,
/// scaled at each restart to agree with |b - A x|; the tolerance holds for the true residual in any
/// case. [`Stop::Stagnated`] is reported for a cycle that gains nothing: every further one would
/// do the same.
#[derive(Debug)]
pub struct Gmres<T: Real> {
    basis: Vec<Vector<T>>,
    w: Vector<T>,
    small: Small,
}

/// The least squares problem of one cycle, on the host.
#[derive(Debug)]
struct Small {
    /// Column j of R, `j + 1` entries (the column in work has one more).
    columns: Vec<Vec<f64>>,
    /// Cosine and sine of each rotation.
    rotations: Vec<(f64, f64)>,
    /// The rotated right-hand side.
    g: Vec<f64>,
    y: Vec<f64>,
}

impl Small {
    fn new(restart: usize) -> Small {
        Small {
            columns: (0..restart).map(|j| vec![0.0; j + 2]).collect(),
            rotations: vec![(1.0, 0.0); restart],
            g: vec![0.0; restart + 1],
            y: vec![0.0; restart],
        }
    }

    /// Rotates column j into R. Returns the norm of the new residual, or `None` where the column
    /// depends on the former ones to working precision `eps` and has to be left out.
    fn rotate(&mut self, j: usize, eps: f64) -> Option<f64> {
        let (former, rest) = self.columns.split_at_mut(j);
        let column = &mut rest[0];
        for (i, &(c, s)) in self.rotations[..j].iter().enumerate() {
            (column[i], column[i + 1]) = (c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]);
        }
        let length = column[j].hypot(column[j + 1]);
        let largest = former.iter().enumerate().map(|(i, c)| c[i]).fold(0.0, f64::max);
        if length <= DEPENDENT * eps * largest || length == 0.0 {
            return None;
        }
        let (c, s) = (column[j] / length, column[j + 1] / length);
        self.rotations[j] = (c, s);
        column[j] = length;
        (self.g[j], self.g[j + 1]) = (c * self.g[j], -s * self.g[j]);
        Some(self.g[j + 1].abs())
    }

    /// Solves R y = g for the first `count` unknowns.
    fn solve(&mut self, count: usize) {
        for i in (0..count).rev() {
            let rest: f64 = (i + 1..count).map(|j| self.columns[j][i] * self.y[j]).sum();
            self.y[i] = (self.g[i] - rest) / self.columns[i][i];
        }
    }
}

impl<T: Real> Gmres<T> {
    /// A solver for systems of `n` equations that restarts after `restart` iterations; more than
    /// `n` are never needed.
    ///
    /// # Errors
    /// [`Error::Value`] for `restart` 0; [`Error::Allocation`]; [`Error::NoFp64`].
    pub fn new(context: &Context, n: usize, restart: usize) -> Result<Gmres<T>> {
        if restart == 0 {
            return Err(Error::value("restart", "at least 1", restart));
        }
        let restart = restart.min(n.max(1));
        let basis = (0..=restart).map(|_| Vector::uninit(context, n)).collect::<Result<_>>()?;
        Ok(Gmres { basis, w: Vector::uninit(context, n)?, small: Small::new(restart) })
    }

    /// Iterations between restarts.
    pub fn restart(&self) -> usize {
        self.small.y.len()
    }

    /// Solves A x = b from the start x, with the preconditioner `m`.
    ///
    /// # Errors
    /// As [`Cg::solve`](crate::solve::Cg::solve).
    pub fn solve(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
    ) -> Result<Report> {
        self.solve_with(a, m, b, x, params, &mut |_, _| ())
    }

    /// As [`Gmres::solve`]; `progress` gets the number of each iteration, 0 for the start, and its
    /// relative residual.
    ///
    /// # Errors
    /// As [`Cg::solve`](crate::solve::Cg::solve).
    pub fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        mut m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report> {
        check_system(self.w.context(), self.w.len(), a, m.as_deref(), b, x)?;
        let (mut run, mut end) = Run::start(a, b, x, &mut self.w, params, progress)?;
        let mut last = f64::INFINITY;
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            // r is in w; the first basis vector is M^-1 r / |M^-1 r|.
            let unit = run.rescale(&mut self.w)?;
            match &mut m {
                Some(m) => m.apply(&self.w, &mut self.basis[0])?,
                None => ops::copy(&self.w, &mut self.basis[0])?,
            }
            let length = ops::norm2(&self.basis[0])?.wide();
            let seen = if !length.is_finite() {
                Stop::NotFinite
            } else if length == 0.0 {
                Stop::Breakdown
            } else if unit * length >= last * (1.0 - 10.0 * T::epsilon().wide()) {
                Stop::Stagnated
            } else {
                last = unit * length;
                match self.cycle(&mut run, a, m.as_deref_mut(), x, unit, length)? {
                    Some(seen) => seen,
                    None => {
                        end = run.check(x, &mut self.w)?;
                        continue;
                    }
                }
            };
            let (p, q) = self.basis.split_at_mut(1);
            end = run.confirm(seen, x, &mut self.w, &mut p[0], &mut q[0])?;
        }
    }

    /// One cycle from the preconditioned residual `unit * basis[0]` of the norm `unit * length`;
    /// `None` where only its length ended it.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        unit: f64,
        length: f64,
    ) -> Result<Option<Stop>> {
        let Gmres { basis, w, small } = self;
        let true_norm = run.norm();
        shrink(&mut basis[0], length)?;
        small.g[0] = length;
        let mut used = 0;
        let mut seen = None;
        while used < small.y.len() && seen.is_none() {
            let j = used;
            let (done, next) = basis.split_at_mut(j + 1);
            let next = &mut next[0];
            match &mut m {
                Some(m) => {
                    a.apply(T::one(), &done[j], T::zero(), w)?;
                    m.apply(w, next)?;
                }
                None => a.apply(T::one(), &done[j], T::zero(), next)?,
            }
            let column = &mut small.columns[j];
            let (first, square) = dot_pair(next, &done[0])?;
            let before = square.sqrt();
            column.fill(0.0);
            let mut after = orthogonalise(done, next, first, column)?;
            if after < ORTHOGONAL * before {
                let first = dot_wide(next, &done[0])?;
                after = orthogonalise(done, next, first, column)?;
            }
            if !(before.is_finite() && after.is_finite()) {
                seen = Some(Stop::NotFinite);
                break;
            }
            // The Krylov space is exhausted: it holds the solution unless A is singular.
            let exhausted = after <= T::epsilon().wide() * before;
            column[j + 1] = if exhausted { 0.0 } else { after };
            let rotated = small.rotate(j, T::epsilon().wide());
            used += usize::from(rotated.is_some());
            let estimate = rotated.unwrap_or(small.g[j].abs());
            seen = run.record(true_norm * (estimate / length), unit * estimate);
            if exhausted || rotated.is_none() {
                seen = seen.or(Some(Stop::Breakdown));
            } else if seen.is_none() {
                shrink(next, after)?;
            }
        }
        small.solve(used);
        for (v, y) in basis.iter().zip(&small.y[..used]) {
            ops::update(T::of(unit * y), v, T::one(), x)?;
        }
        Ok(seen)
    }
}

/// v = v / length.
fn shrink<T: Real>(v: &mut Vector<T>, length: f64) -> Result<()> {
    scale_raw(T::of(1.0 / length), v.buffer(), v.buffer())
}

/// Takes the orthonormal vectors `done` out of w, one after the other, and adds the coefficients to
/// `column`; `first` is the product of w with the first one. Returns the length left.
fn orthogonalise<T: Real>(done: &[Vector<T>], w: &mut Vector<T>, first: f64, column: &mut [f64]) -> Result<f64> {
    let mut product = first;
    for (i, v) in done.iter().enumerate() {
        column[i] += product;
        product = update_dot(T::of(-product), v, w, done.get(i + 1))?;
    }
    Ok(product.sqrt())
}
