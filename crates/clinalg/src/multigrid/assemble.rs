//! The matrix of the Poisson problem.

use super::algebra::matrix;
use super::coefficient::Coefficient;
use super::equation::Equation;
use super::params::check_shift;
use crate::{Context, Csr, Real, Result};

/// The matrix of `-Laplace u + shift u`, or of `-div(a grad u) + shift u` with a coefficient, on the unit square (`dim` 2) or the
/// unit cube (`dim` 3) with `n` points per side, n = 2^k + 1, boundary included.
///
/// Interior points are coupled among themselves, boundary points have the identity, and the matrix is symmetric and positive
/// definite. Made on the host. [`PoissonOperator`](super::PoissonOperator) is the matrix of any grid, without stored entries.
///
/// # Errors
/// [`Error::Value`](crate::Error::Value) for `n`, `dim` or `shift` out of range, or a coefficient on the cube; [`Error::Length`](crate::Error::Length) or
/// `Error::Value` that names `coefficient`; [`Error::Allocation`](crate::Error::Allocation).
pub fn assemble<T: Real>(
    context: &Context,
    n: usize,
    dim: usize,
    shift: f64,
    coefficient: Option<Coefficient<'_, T>>,
) -> Result<Csr<T>> {
    check_shift(shift)?;
    let equation = Equation::given(n, dim, shift, coefficient)?;
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
