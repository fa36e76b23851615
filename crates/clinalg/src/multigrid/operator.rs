//! The Poisson problem for the iterative methods: its operator without a matrix, and its matrix.

use super::algebra::matrix;
use super::coefficient::Coefficient;
use super::equation::Equation;
use super::params::check_shift;
use super::poisson2;
use crate::error::check_length;
use crate::ops::Operator;
use crate::{Context, Csr, Error, Real, Result, Vector};

/// -Laplace_h, or -Laplace_h + shift, on vectors of N by N points, boundary included, without a stored matrix.
///
/// Interior points have the 5-point stencil `1 / h^2 [. -1 .; -1 4 -1; . -1 .]` among themselves,
/// h = 1 / (N - 1); boundary points have the identity and are coupled to no other. So the matrix is
/// symmetric and positive definite on all N^2 values. For the boundary value problem -Laplace u = f
/// (or -Laplace u + shift u = f) with u = g on the boundary, solve A u = b with the b of [`PoissonOperator::right_side`].
///
/// Traffic of a product, f64: 16 bytes per point, 24 where beta is not 0.
#[derive(Debug, Clone)]
pub struct PoissonOperator {
    context: Context,
    n: usize,
    shift: f64,
}

impl PoissonOperator {
    /// The operator on `n` by `n` points, n at least 3.
    ///
    /// # Errors
    /// [`Error::Value`] for a smaller `n`.
    pub fn new(context: &Context, n: usize) -> Result<PoissonOperator> {
        if n < 3 || n.checked_mul(n).is_none() {
            return Err(Error::value("n", "at least 3 points per side, and a number of points that usize can hold", n));
        }
        Ok(PoissonOperator { context: context.clone(), n, shift: 0.0 })
    }

    /// The operator -Laplace_h + shift: `shift` is added to the diagonal of interior points.
    ///
    /// # Errors
    /// As [`PoissonOperator::new`], and for a `shift` that is negative or not finite.
    pub fn shifted(context: &Context, n: usize, shift: f64) -> Result<PoissonOperator> {
        check_shift(shift)?;
        Ok(PoissonOperator { shift, ..PoissonOperator::new(context, n)? })
    }

    /// What is added to the diagonal of interior points.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// Points per side.
    pub fn side(&self) -> usize {
        self.n
    }

    /// b = f plus the contributions of the boundary values of `u` inside, b = u on the boundary;
    /// the interior of `u` is not read.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `f`, `u` or `b`.
    pub fn right_side<T: Real>(&self, f: &Vector<T>, u: &Vector<T>, b: &mut Vector<T>) -> Result<()> {
        for (argument, vector) in [("f", f), ("u", u), ("b", &*b)] {
            if !self.context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, self.n * self.n, vector.len())?;
        }
        poisson2::source(self.n, u, f, b)
    }
}

impl<T: Real> Operator<T> for PoissonOperator {
    fn rows(&self) -> usize {
        self.n * self.n
    }

    fn cols(&self) -> usize {
        self.n * self.n
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        for (argument, vector) in [("x", x), ("y", &*y)] {
            if !self.context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, self.n * self.n, vector.len())?;
        }
        poisson2::apply(self.n, T::from_f64(self.shift), alpha, x, beta, y)
    }
}

/// The matrix of `-Laplace u + shift u`, or of `-div(a grad u) + shift u` with a coefficient, on the unit square (`dim` 2) or the
/// unit cube (`dim` 3) with `n` points per side, n = 2^k + 1, boundary included.
///
/// As [`PoissonOperator`]: interior points are coupled among themselves, boundary points have the identity, and the matrix
/// is symmetric and positive definite. Made on the host.
///
/// # Errors
/// [`Error::Value`] for `n`, `dim` or `shift` out of range, or a coefficient on the cube; [`Error::Length`] or
/// [`Error::Value`] that names `a`; [`Error::Allocation`].
pub fn assemble<T: Real>(
    context: &Context,
    n: usize,
    dim: usize,
    shift: f64,
    a: Option<Coefficient<'_, T>>,
) -> Result<Csr<T>> {
    check_shift(shift)?;
    let equation = Equation::given(n, dim, shift, a)?;
    let inside = |p: usize| (0..equation.dim).all(|d| (1..n - 1).contains(&(p / n.pow(d) % n)));
    let inverse_h2 = ((n - 1) * (n - 1)) as f64;
    let points = n.pow(equation.dim);
    matrix(context, points, points, |p, put| {
        if !inside(p) {
            return put(p, 1.0);
        }
        let around = equation.neighbours(0, p);
        let centre = around.iter().map(|(_, w)| w).sum::<f64>() * inverse_h2 + equation.shift_at(0, p);
        let (before, after) = around.split_at(around.len() / 2);
        before.iter().filter(|(q, _)| inside(*q)).for_each(|(q, w)| put(*q, -inverse_h2 * w));
        put(p, centre);
        after.iter().filter(|(q, _)| inside(*q)).for_each(|(q, w)| put(*q, -inverse_h2 * w));
    })
}
