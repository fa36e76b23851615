//! Least squares with matrices of any shape and rank.

use super::triangular::{Diagonal, Side, Solver, Triangle, Triangular};
use super::{OfColumn, Part, Qr, adjoint, check_rows, condition, copy_part, of_columns};
use crate::matrix::Values;
use crate::ops::gemm::{Block, Transpose};
use crate::ops::reduce::largest;
use crate::{Dense, Real, Result, Scalar, number};

/// What [`least_squares`] gives.
#[derive(Debug)]
pub struct LeastSquaresSolution<T: Scalar> {
    /// The solutions, one per column of B.
    pub x: Dense<T>,
    /// The numerical rank of A.
    pub rank: usize,
    /// Diagonal elements of R of at most this magnitude count as zero.
    pub tolerance: f64,
}

/// The X of smallest norm among those that minimise |A X - B| in the 2-norm, column by column, for an A of any shape and rank.
///
/// A = Q R by Householder reflections on the device, of A' for fewer rows than columns. Where an estimate of the condition number does not
/// rule out rank deficiency, R is factorised again with column pivoting, on the host (Golub and Van Loan, *Matrix Computations*,
/// 4th ed., sections 5.4.2 and 5.5.2). Its rank is the number of diagonal elements above max(m, n) eps(|r11|); a rank below min(m, n) is
/// logged as a warning through the crate `log`.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) unless B has as many rows as A; [`Error::Context`](crate::Error::Context);
/// [`Error::Allocation`](crate::Error::Allocation). Waits for the device.
pub fn least_squares<T: Scalar>(a: &Dense<T>, b: &Dense<T>) -> Result<LeastSquaresSolution<T>> {
    let context = a.context();
    check_rows(context, a.rows(), b)?;
    let is_wide = a.rows() < a.cols();
    let (most, order) = (a.rows().max(a.cols()), a.rows().min(a.cols()));
    let qr = Qr::new(if is_wide { adjoint(a)? } else { a.try_clone()? })?;
    let r = qr.r()?;
    // The system of R, of R' for fewer rows than columns.
    let mut y = if is_wide {
        b.try_clone()?
    } else {
        let mut rotated = b.try_clone()?;
        qr.apply_q(Transpose::Conjugate, &mut rotated)?;
        resized(&rotated, order)?
    };
    let triangle = Triangle::Upper;
    let substitute = |op: Transpose, x: &mut Dense<T>| {
        let t = Triangular { block: Block::of(&r), triangle, op, diagonal: Diagonal::Stored };
        Solver::<T>::new(context).run(Side::Left, t, Block::of(x))
    };
    let columns = of_columns(&r, OfColumn::Sum)?.into_iter().zip(of_columns(&r, OfColumn::Largest)?);
    // A bound of the largest 2-norm of a column.
    let size = largest(columns.map(|(sum, most)| sum.sqrt() * most.sqrt()));
    let mut found = (order, tolerance::<T>(most, size));
    // The factor 3 allows for the estimates being lower bounds. With elements that are not finite the rank is undefined, and there is no pivoting.
    let is_certain = order == 0 || !size.is_finite() || {
        let norm1 = condition::inverse_norm1(context, order, substitute)?;
        let other = |op| if op == Transpose::No { Transpose::Conjugate } else { Transpose::No };
        let norm_inf = condition::inverse_norm1(context, order, |op, x| substitute(other(op), x))?;
        3.0 * norm1.sqrt() * norm_inf.sqrt() * found.1 < 1.0
    };
    let op = if is_wide { Transpose::Conjugate } else { Transpose::No };
    let wide = |values: Vec<T>| values.into_iter().map(T::widen).collect::<Vec<_>>();
    let (host, right) = match is_certain {
        true => (None, Vec::new()),
        false => {
            let mut values = wide(r.to_column_major()?);
            if is_wide {
                values = (0..order * order).map(|at| values[at % order * order + at / order].conj()).collect();
            }
            let mut right = columns_of(&wide(y.to_column_major()?), order);
            let system = Pivoted::new(columns_of(&values, order), &mut right, |size| tolerance::<T>(most, size));
            found = (system.rank, system.tolerance);
            (Some(system), right)
        }
    };
    match host {
        Some(system) if system.rank < order => {
            log::warn!(
                "the matrix is rank deficient: numerical rank {} of {order} (tolerance {}); the result is the minimum-norm least-squares solution",
                found.0,
                number(found.1, 2)
            );
            let solved: Vec<T> = right.into_iter().flat_map(|c| system.solve(c)).map(T::narrow).collect();
            y = Dense::from_column_major(context, order, b.cols(), &solved)?;
        }
        _ => substitute(op, &mut y)?,
    }
    if is_wide {
        y = resized(&y, a.cols())?;
        qr.apply_q(Transpose::No, &mut y)?;
    }
    Ok(LeastSquaresSolution { x: y, rank: found.0, tolerance: found.1 })
}

/// max(m, n) eps(size), where eps(size) is the spacing of floating-point numbers at `size`.
fn tolerance<T: Scalar>(most: usize, size: f64) -> f64 {
    let epsilon = <T::Real as num_traits::Float>::epsilon().into_f64();
    let binade = if size > 0.0 { 2.0_f64.powi(size.log2().floor() as i32) } else { 0.0 };
    most as f64 * binade * epsilon
}

/// The first rows of a matrix, with zeros below where there are more.
fn resized<T: Scalar>(a: &Dense<T>, rows: usize) -> Result<Dense<T>> {
    let made = Dense::zeros(a.context(), rows, a.cols())?;
    let both = 0..rows.min(a.rows());
    let [from, to] = [a, &made].map(|matrix| Block::of(matrix).part(both.clone(), 0..a.cols()));
    copy_part::<T>(a.context(), Part::All, from, to)?;
    Ok(made)
}

fn columns_of<W: Copy>(values: &[W], rows: usize) -> Vec<Vec<W>> {
    values.chunks(rows.max(1)).map(<[W]>::to_vec).collect()
}

/// Q A P = [R11 R12; 0 0] of a square matrix on the host, by Householder reflections with column pivoting up to the numerical rank, and a
/// second factorisation [R11 R12]' = Z T.
struct Pivoted<W> {
    rank: usize,
    tolerance: f64,
    /// Column k of A P is column `order[k]` of A.
    order: Vec<usize>,
    /// T on and above the diagonal, below it the vectors of the reflections, and their factors.
    columns: Vec<Vec<W>>,
    tau: Vec<W>,
    /// The power of two by which A was divided: squares neither overflow nor underflow.
    scale: f64,
}

impl<W: Scalar<Real = f64, Wide = W>> Pivoted<W> {
    /// Overwrites `right` with Q `right`.
    fn new(mut a: Vec<Vec<W>>, right: &mut [Vec<W>], tolerance: impl Fn(f64) -> f64) -> Pivoted<W> {
        let n = a.len();
        let size = a.iter().flatten().map(|v| v.modulus()).fold(0.0, f64::max);
        let scale = if size > 0.0 { 2.0_f64.powi(size.log2().floor() as i32) } else { 1.0 };
        a.iter_mut().flatten().for_each(|v| *v *= W::from_f64(1.0 / scale));
        let mut order: Vec<usize> = (0..n).collect();
        let (mut rank, mut least) = (n, 0.0);
        for k in 0..n {
            let norms = a[k..].iter().map(|column| norm(&column[k..]));
            let (ahead, norm) = norms.enumerate().max_by(|x, y| x.1.total_cmp(&y.1)).expect("k is below n");
            if k == 0 {
                least = tolerance(norm);
            }
            if norm <= least {
                rank = k;
                break;
            }
            a.swap(k, k + ahead);
            order.swap(k, k + ahead);
            let (done, rest) = a.split_at_mut(k + 1);
            let vector = &mut done[k][k..];
            let tau = reflector(vector).conj();
            rest.iter_mut().chain(right.iter_mut()).for_each(|column| reflect(vector, tau, &mut column[k..]));
        }
        // The rows of [R11 R12] as columns.
        let mut columns: Vec<Vec<W>> =
            (0..rank).map(|i| (0..n).map(|j| if j < i { W::zero() } else { a[j][i].conj() }).collect()).collect();
        let mut factors = Vec::with_capacity(rank);
        for k in 0..rank {
            let (done, rest) = columns.split_at_mut(k + 1);
            let vector = &mut done[k][k..];
            let tau = reflector(vector);
            rest.iter_mut().for_each(|column| reflect(vector, tau.conj(), &mut column[k..]));
            factors.push(tau);
        }
        Pivoted { rank, tolerance: least * scale, order, columns, tau: factors, scale }
    }

    /// P Z T^-H of the first elements of a right-hand side.
    fn solve(&self, mut right: Vec<W>) -> Vec<W> {
        right[self.rank..].fill(W::zero());
        for k in 0..self.rank {
            let above = &self.columns[k][..k];
            let sum: W = above.iter().zip(&right).map(|(t, y)| t.conj() * *y).sum();
            right[k] = (right[k] - sum) / self.columns[k][k].conj();
        }
        for k in (0..self.rank).rev() {
            reflect(&self.columns[k][k..], self.tau[k], &mut right[k..]);
        }
        let mut x = right.clone();
        for (value, &at) in right.into_iter().zip(&self.order) {
            x[at] = value * W::from_f64(1.0 / self.scale);
        }
        x
    }
}

fn norm<W: Scalar<Real = f64>>(values: &[W]) -> f64 {
    values.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt()
}

/// Overwrites x with the vector v of the reflection H = 1 - tau v v' with H' x = beta e1; v1 = 1 is not stored, its place holds beta. Returns tau.
fn reflector<W: Scalar<Real = f64>>(x: &mut [W]) -> W {
    let (head, size) = (x[0], norm(x));
    if size == 0.0 || (head.im() == 0.0 && norm(&x[1..]) == 0.0) {
        return W::zero();
    }
    let beta = W::from_f64(-size.copysign(head.re()));
    x[1..].iter_mut().for_each(|v| *v /= head - beta);
    x[0] = beta;
    (beta - head) / beta
}

/// x = (1 - tau v v') x with v1 = 1.
fn reflect<W: Scalar<Real = f64>>(v: &[W], tau: W, x: &mut [W]) {
    let dot = x[0] + v[1..].iter().zip(&x[1..]).map(|(v, x)| v.conj() * *x).sum::<W>();
    let by = tau * dot;
    x[0] -= by;
    v[1..].iter().zip(&mut x[1..]).for_each(|(v, x)| *x -= *v * by);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Complex;

    fn solved<W: Scalar<Real = f64, Wide = W>>(a: &[&[W]], b: &[W]) -> (usize, Vec<W>) {
        let mut right = [b.to_vec()];
        let columns = a.iter().map(|column| column.to_vec()).collect();
        let system = Pivoted::new(columns, &mut right, |size| tolerance::<W>(a.len(), size));
        let [right] = right;
        (system.rank, system.solve(right))
    }

    #[test]
    fn least_norm_of_a_rank_one_matrix() {
        // A = u v' has x = v (u' b) / (|u|^2 |v|^2).
        let i = |re: f64, im: f64| Complex::new(re, im);
        let (u, v, b) = (
            [i(1.0, 1.0), i(2.0, 0.0), i(0.0, -3.0)],
            [i(1.0, 0.0), i(0.0, 2.0), i(1.0, -1.0)],
            [i(1.0, 0.0), i(0.0, 1.0), i(3.0, 0.0)],
        );
        let columns: Vec<Vec<_>> = v.iter().map(|v| u.iter().map(|u| *u * v.conj()).collect()).collect();
        let columns: Vec<&[_]> = columns.iter().map(|column| &column[..]).collect();
        let (rank, x) = solved(&columns, &b);
        let dot: Complex<f64> = u.iter().zip(&b).map(|(u, b)| u.conj() * b).sum();
        assert_eq!(rank, 1);
        for (x, v) in x.iter().zip(v) {
            assert!((x - v * dot / (15.0 * 7.0)).norm() < 1e-15, "{x}");
        }
    }

    #[test]
    fn rank_does_not_depend_on_the_scale() {
        for scale in [1e-300, 1.0, 1e300] {
            let columns: Vec<Vec<f64>> = [[2.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]
                .iter()
                .map(|c| c.map(|v| v * scale).to_vec())
                .collect();
            let columns: Vec<&[_]> = columns.iter().map(|column| &column[..]).collect();
            let (rank, x) = solved(&columns, &[4.0 * scale, 5.0 * scale, 6.0 * scale]);
            assert_eq!(rank, 2);
            for (x, expected) in x.iter().zip([1.0, 1.0, 2.0]) {
                assert!((x - expected).abs() < 1e-15, "{x} at {scale}");
            }
        }
        assert_eq!(solved(&[&[0.0, 0.0], &[0.0, 0.0]], &[1.0, 2.0]), (0, vec![0.0, 0.0]));
    }
}
