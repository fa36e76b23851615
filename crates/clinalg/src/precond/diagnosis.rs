//! Whether a matrix is singular: from the residual of a solve that did not converge, and by inverse iteration.

use num_traits::{Float, Zero};

use super::singular::{ROUNDING, norm, normalise};
use super::{Jacobi, is_unsuited};
use crate::direct::{Factors, FactorsParams};
use crate::matrix::host::unmatched_row;
use crate::solve::{LeastSquares, LeastSquaresParams, Preconditioner, Progress, Stopping};
use crate::{Context, Csr, CsrParts, Precision, Real, Result, Scalar, Vector, number};

/// A residual r with |A' r| below this fraction of |A| |r| counts as a null vector of A'.
const NULL: f64 = 1e-8;

/// Maximum number of least-squares iterations that look for a null vector of A', and of entries of A that they read in total.
const EXAMINED: (usize, usize) = (10_000, 1_000_000_000);

/// What counts as a null vector after them, in units of roundoff: they reduce |A' r| of nonsingular matrices as well.
const EXAMINED_NULL: f64 = 1e4;

/// Steps of power iteration.
const POWERS: usize = 8;

/// Steps of inverse iteration; where A is singular to working precision the first one or two suffice.
const STEPS: usize = 4;

/// Complete factors for solves with vectors in the host's memory.
struct Complete<T: Scalar> {
    m: Factors<T>,
    r: Vector<T>,
    z: Vector<T>,
}

impl<T: Scalar> Complete<T> {
    /// `None` where they take too long.
    fn new(context: &Context, a: &CsrParts<T>) -> Result<Option<Complete<T>>> {
        let vector = || Vector::zeros(context, a.rows);
        match Factors::new(&Csr::from_parts(context, a)?, &FactorsParams::within_seconds(context)) {
            Ok(m) => Ok(Some(Complete { m, r: vector()?, z: vector()? })),
            Err(error) if is_unsuited(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn solve(&mut self, r: &[T::Wide]) -> Result<Vec<T::Wide>> {
        self.r.write(&r.iter().copied().map(T::narrow).collect::<Vec<T>>())?;
        self.m.apply(&self.r, &mut self.z)?;
        Ok(self.z.to_vec()?.into_iter().map(T::widen).collect())
    }
}

fn product<T: Scalar>(a: &CsrParts<T>, w: &[T::Wide]) -> Vec<T::Wide> {
    (0..a.rows).map(|i| a.row(i).map(|(j, value)| value.widen() * w[j]).sum()).collect()
}

/// The fractional parts of multiples of the golden ratio, shifted.
fn scattered<W: Scalar<Real = f64>>(n: usize, shift: f64) -> Vec<W> {
    (0..n).map(|i| W::from_f64((i as f64 * 0.618_033_988_749_895).fract() + shift)).collect()
}

/// A lower bound of |A|, by power iteration with A' A.
fn spectral_norm<T: Scalar>(a: &CsrParts<T>, adjoint: &CsrParts<T>) -> f64 {
    let mut w: Vec<T::Wide> = scattered(a.cols, 0.7);
    let mut most = largest_norm(a);
    for _ in 0..POWERS {
        if !normalise(&mut w) {
            break;
        }
        let image = product(a, &w);
        most = most.max(norm(&image));
        w = product(adjoint, &image);
    }
    most
}

/// A vector w with a small |A' w|, and this norm over a lower bound of |A|: by inverse iteration with A A' and complete factors of both, since
/// A' alone only leads to an eigenvector. The iteration starts from `first`, or from another vector if that has no component along w. `None` if the factors take too
/// long.
fn least_vector<T: Scalar>(context: &Context, a: &CsrParts<T>, first: &[T]) -> Result<Option<(f64, Vec<T::Wide>)>> {
    let mut adjoint = a.transpose()?;
    adjoint.values.iter_mut().for_each(|value| *value = value.conj());
    let Some(mut of_adjoint) = Complete::new(context, &adjoint)? else { return Ok(None) };
    let mut of_a = if adjoint == *a { None } else { Complete::new(context, a)? };
    let size = spectral_norm(a, &adjoint);
    let mut found: Option<(f64, Vec<T::Wide>)> = None;
    let enter = |mut w: Vec<T::Wide>, found: &mut Option<(f64, Vec<T::Wide>)>| -> Option<[Vec<T::Wide>; 2]> {
        let is_sound = normalise(&mut w);
        let image = product(&adjoint, &w);
        let ratio = norm(&image) / size;
        if is_sound && found.as_ref().is_none_or(|best| ratio < best.0) {
            *found = Some((ratio, w.clone()));
        }
        is_sound.then_some([w, image])
    };
    for mut w in [first.iter().map(|value| value.widen()).collect::<Vec<_>>(), scattered(a.rows, -0.3)] {
        if found.as_ref().is_some_and(|best| best.0 <= ROUNDING * <T::Real as Float>::epsilon().into_f64()) {
            break;
        }
        for _ in 0..STEPS {
            let Some([next, image]) = enter(of_adjoint.solve(&w)?, &mut found) else { break };
            // A replaced pivot leaves a component that is not a null vector; without one, only rounding errors are left here.
            let correction = of_adjoint.solve(&image)?;
            enter(next.iter().zip(correction).map(|(&w, correction)| w - correction).collect(), &mut found);
            w = of_a.as_mut().unwrap_or(&mut of_adjoint).solve(&next)?;
            if !normalise(&mut w) {
                break;
            }
        }
    }
    Ok(found)
}

/// The largest Euclidean norm of a row or column, a lower bound of |A|.
fn largest_norm<T: Scalar>(a: &CsrParts<T>) -> f64 {
    let (mut rows, mut cols) = (vec![0.0; a.rows], vec![0.0; a.cols]);
    for (i, j, value) in a.triplets() {
        let square = value.widen().norm_sqr();
        rows[i] += square;
        cols[j] += square;
    }
    rows.iter().chain(&cols).fold(0.0_f64, |most, &square| most.max(square)).sqrt()
}

/// b - A x.
fn residual<T: Scalar>(a: &CsrParts<T>, b: &[T], x: &[T]) -> Vec<T::Wide> {
    let mut r: Vec<T::Wide> = b.iter().map(|value| value.widen()).collect();
    a.triplets().for_each(|(i, j, value)| r[i] -= value.widen() * x[j].widen());
    r
}

/// A' w, and the sum of the moduli of the products of each of its components.
fn adjoint_product<T: Scalar>(a: &CsrParts<T>, w: &[T::Wide]) -> (Vec<T::Wide>, Vec<f64>) {
    let (mut image, mut size) = (vec![T::Wide::zero(); a.cols], vec![0.0; a.cols]);
    for (i, j, value) in a.triplets() {
        let product = value.widen().conj() * w[i];
        image[j] += product;
        size[j] += product.modulus();
    }
    (image, size)
}

/// What a vector of [`least_vector`] says about A and b, if anything.
fn words_of<T: Scalar>(a: &CsrParts<T>, b: &[T], (ratio, w): (f64, Vec<T::Wide>)) -> Result<Option<String>> {
    let eps = <T::Real as Float>::epsilon().into_f64();
    // Rows of small entries make |A' w| small as well, but not relative to the products that it is the sum of.
    let (image, size) = adjoint_product(a, &w);
    let is_null = norm(&image) <= ROUNDING * eps * norm(&size);
    if ratio > ROUNDING * eps || !is_null {
        // A condition number from which on rounding errors become visible.
        let bad = ratio < eps.powf(0.75);
        return Ok(bad.then(|| {
            format!(
                "A is nearly singular: its condition number is at least {}; check units and redundant equations of A, or scale its rows",
                number(ratio.recip(), 1)
            )
        }));
    }
    let part = w.iter().zip(b).map(|(w, b)| w.conj() * b.widen()).sum::<T::Wide>().modulus() / norm(b);
    let size = small("|A' w|", ratio, "|A| |w|");
    Ok(Some(match unmatched_row(a)? {
        Some(row) => format!(
            "A is structurally singular (rows, one of them row {} counted from 1, have entries in too few columns): {size} for a vector w, and b \
             has a component of {} of its norm along it, for which there is no solution",
            row + 1,
            number(part, 2)
        ),
        None => format!(
            "A is singular to working precision: {size} for a vector w{}; if A is singular, there is no solution for a component of b of {} \
             of its norm",
            in_doubt::<T>(),
            number(part, 2)
        ),
    }))
}

/// What tells a singular matrix from one that is nearly so.
fn in_doubt<T: Scalar>() -> &'static str {
    match T::PRECISION {
        Precision::F32 => ", in f32; f64 tells whether A is singular",
        Precision::F64 => "",
    }
}

/// How small a norm is, relative to another one.
fn small(name: &str, ratio: f64, other: &str) -> String {
    if ratio == 0.0 { format!("{name} is 0") } else { format!("{name} is {} {other}", number(ratio, 1)) }
}

/// Says whether A is singular, in three steps: [`singularity`]; if that finds nothing, inverse iteration with complete factors of A and A'; if these would
/// take more than a few seconds, least squares from x, whose remaining residual lies along null vectors of A' if the system has no solution. If `progress`
/// ends the last step, the last iterate is examined.
///
/// # Errors
/// Those of the device.
pub fn diagnose_singularity<T: Scalar>(
    context: &Context,
    a: &CsrParts<T>,
    b: &[T],
    x: &[T],
    progress: Progress<'_>,
) -> Result<Option<String>> {
    let seen = singularity(a, b, x);
    if seen.is_some() {
        return Ok(seen);
    }
    // The residual contains the component of b for which there is no solution; where it is zero or not finite, b does.
    let r: Vec<T> = residual(a, b, x).into_iter().map(T::narrow).collect();
    let length = norm(&r);
    let first = if length > 0.0 && length.is_finite() { &r } else { b };
    if let Some(found) = least_vector(context, a, first)? {
        return words_of(a, b, found);
    }
    let matrix = Csr::from_parts(context, a)?;
    // Columns whose norms cannot be inverted point to another failure.
    let Ok(mut m) = Jacobi::of_normal_equations(&matrix) else { return Ok(None) };
    let start: Vec<T> = if x.iter().all(|x| x.has_finite_parts()) { x.to_vec() } else { vec![T::zero(); a.cols] };
    let (of_b, mut of_x) = (Vector::from_slice(context, b)?, Vector::from_slice(context, &start)?);
    let most = EXAMINED.0.min(EXAMINED.1 / a.nnz().max(1));
    let tolerance = 10.0 * <T::Real as Float>::epsilon().into_f64();
    let params = LeastSquaresParams::from(Stopping::default().tolerance(tolerance).max_iterations(most));
    let mut solver = LeastSquares::new(context, a.rows, a.cols, params)?;
    solver.solve_with(&matrix, Some(&mut m), &of_b, &mut of_x, progress)?;
    Ok(singularity_to(EXAMINED_NULL * <T::Real as Float>::epsilon().into_f64(), a, b, &of_x.to_vec()?))
}

/// What the residual of x, to which a solve for one column b did not converge, says about the square matrix A: a sentence if it shows that A is
/// singular and for how large a part of b there is no solution, `None` if it shows nothing.
///
/// |A' r| is at least |r| times the smallest singular value, and the largest is at least the norm of each row and column.
pub fn singularity<T: Scalar>(a: &CsrParts<T>, b: &[T], x: &[T]) -> Option<String> {
    singularity_to(NULL, a, b, x)
}

/// The same, with the bound of |A' r| / (|A| |r|) below which r counts as a null vector.
fn singularity_to<T: Scalar>(bound: f64, a: &CsrParts<T>, b: &[T], x: &[T]) -> Option<String> {
    let r = residual(a, b, x);
    let size = largest_norm(a);
    let [left, product, whole] = [norm(&r), norm(&adjoint_product(a, &r).0), norm(b)];
    let ratio = product / (size * left);
    if !(ratio < bound && left > 0.0) {
        return None;
    }
    let size = small("|A' r|", ratio, "|A| |r|");
    Some(format!(
        "A is singular to this accuracy: {size} for the residual r, so r is close to a null vector of A'{}; if A is singular, there is no solution \
         for a component of b of {} of its norm",
        in_doubt::<T>(),
        number(left / whole, 2)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_numbers_are_bounded_closely() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let words = |a: &CsrParts<f64>| {
            let (b, x) = (vec![1.0; a.rows], vec![0.0; a.rows]);
            let go_on = &mut |_: usize, _: f64| std::ops::ControlFlow::Continue(());
            diagnose_singularity(&context, a, &b, &x, go_on).unwrap().unwrap()
        };
        // Wilkinson's triangle of ones and minus ones, of 40 rows: numpy.linalg.cond gives 8.9989e12.
        let n = 40;
        let entries: Vec<_> =
            (0..n).flat_map(|i| (i..n).map(move |j| (i, j, if i == j { 1.0 } else { -1.0 }))).collect();
        let found = words(&CsrParts::from_triplets(n, n, &entries).unwrap());
        assert!(found.contains("nearly singular: its condition number is at least 9e12"), "{found}");
        // A cycle with one weak link, whose singular values are the moduli of the entries: 2^42 is their ratio. The singular vectors on
        // both sides of the weak link are orthogonal.
        let n = 400;
        let size = |i: usize| if i == n / 3 { 2.0_f64.powi(-42) } else { 1.0 };
        let entries: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, size(i))).collect();
        let found = words(&CsrParts::from_triplets(n, n, &entries).unwrap());
        assert!(found.contains("at least 4e12"), "{found}");
    }
}
