//! Systems without a solution, or with many.

use clinalg::precond::Jacobi;
use clinalg::solve::{LeastSquares, LeastSquaresParams, Stopping};
use clinalg::{Context, Csr, CsrParts, Error, Real, Scalar, Vector};
use num_traits::{Float, Zero};

use crate::exit::Failure;
use crate::interrupt;
use crate::output::norm;

/// Units of rounding that a sum may have of its terms and count as zero.
const ROUNDING: f64 = 64.0;
/// A residual r with |A' r| below this part of |A| |r| is a null vector for all that the iteration can tell.
const NULL: f64 = 1e-8;

/// Errors for entries that are not finite, for rows of zeros where b is not 0, and for more columns than rows of zeros.
pub(super) fn check<T: Scalar>(a: &CsrParts<T>, b: &[T], least_squares: bool) -> Result<(), Failure> {
    if let Some((i, j, value)) = a.triplets().find(|entry| !entry.2.has_finite_parts()) {
        let got = format!("{value} in row {} and column {} (counted from 1)", i + 1, j + 1);
        return Err(Error::value("a", "a matrix of finite numbers", got).into());
    }
    if let Some(k) = b.iter().position(|value| !value.has_finite_parts()) {
        let got = format!("{} in row {} (counted from 1)", b[k], k % a.rows + 1);
        return Err(Error::value("b", "finite numbers", got).into());
    }
    if least_squares {
        return Ok(());
    }
    let mut appears = vec![false; a.cols];
    a.triplets().filter(|entry| !entry.2.is_zero()).for_each(|(_, j, _)| appears[j] = true);
    let absent: Vec<usize> = (0..a.cols).filter(|&j| !appears[j]).collect();
    let empty = |&i: &usize| a.row(i).all(|(_, value)| value.is_zero());
    let rows: Vec<usize> = (0..a.rows).filter(empty).collect();
    for &i in &rows {
        if let Some(value) = b.iter().skip(i).step_by(a.rows).find(|value| !value.is_zero()) {
            let expected = "a matrix without rows of zeros, or b = 0 there; leave the row and its unknown out, or use --method lsmr for least squares";
            let got = format!("row {} (counted from 1) of zeros, where b is {value}: there is no solution", i + 1);
            return Err(Error::value("a", expected, got).into());
        }
    }
    let Some(first) = absent.first() else { return Ok(()) };
    let singular = format!("singular: unknown {} (counted from 1) appears in no equation", first + 1);
    // Else the other equations are as many as the other unknowns.
    if absent.len() > rows.len() {
        let expected = "a matrix without columns of zeros; leave the unknown and an equation out, or use --method lsmr for least squares";
        return Err(Error::value("a", expected, singular).into());
    }
    let others = match absent.len() {
        1 => String::new(),
        count => format!(" (nor do {} others)", count - 1),
    };
    log::warn!("the matrix is {singular}{others}; its value in x is arbitrary");
    Ok(())
}

/// Whether A takes the vector with ones where `is_member`, and zeros elsewhere, to zero up to rounding, looking at `rows` alone.
fn is_null<T: Scalar>(a: &CsrParts<T>, rows: impl Iterator<Item = usize>, is_member: impl Fn(usize) -> bool) -> bool {
    let eps = ROUNDING * <T::Real as Float>::epsilon().into_f64();
    let mut rows = rows;
    rows.all(|i| {
        let values = a.row(i).filter(|&(j, _)| is_member(j)).map(|(_, value)| value.widen());
        let (sum, size) = values.fold((T::Wide::zero(), 0.0), |(sum, size), v| (sum + v, size + v.modulus()));
        sum.modulus() <= eps * size
    })
}

/// Null vectors with ones at some rows and zeros elsewhere, of a symmetric matrix.
pub(super) struct NullVectors {
    /// The rows of each.
    members: Vec<Vec<usize>>,
    /// What b has to be orthogonal to, in words.
    along: String,
}

impl NullVectors {
    /// The vector of the second block of a saddle point, if it is one.
    pub(super) fn of_block<T: Scalar>(a: &CsrParts<T>, second: Vec<usize>) -> NullVectors {
        let mut is_second = vec![false; a.rows];
        second.iter().for_each(|&i| is_second[i] = true);
        let null = is_null(a, 0..a.rows, |j| is_second[j]);
        let members = if null { vec![second] } else { Vec::new() };
        NullVectors { members, along: "the constants of the second block (an enclosed flow)".into() }
    }

    /// The constants on connected parts of A whose rows add up to 0, as of a problem without Dirichlet conditions.
    pub(super) fn constants<T: Scalar>(a: &CsrParts<T>) -> NullVectors {
        let mut part = vec![usize::MAX; a.rows];
        let mut members: Vec<Vec<usize>> = Vec::new();
        for seed in 0..a.rows {
            if part[seed] != usize::MAX {
                continue;
            }
            let mut own = vec![seed];
            part[seed] = seed;
            let mut at = 0;
            while at < own.len() {
                for (j, value) in a.row(own[at]) {
                    if part[j] == usize::MAX && !value.is_zero() {
                        part[j] = seed;
                        own.push(j);
                    }
                }
                at += 1;
            }
            if is_null(a, own.iter().copied(), |_| true) {
                members.push(own);
            }
        }
        let along = match members.as_slice() {
            [one] if one.len() == a.rows => "constants (no Dirichlet condition)".into(),
            all => format!("the constants on {} of its connected parts", all.len()),
        };
        NullVectors { members, along }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    /// How many there are, in words.
    fn size(&self) -> String {
        match self.count() {
            1 => "1 null vector".into(),
            count => format!("{count} null vectors"),
        }
    }

    /// Removes the parts of b along them, for which there is no solution, with a warning, or refuses b where it comes from a file or nothing is
    /// left of it.
    pub(super) fn remove<T: Scalar>(
        &self,
        b: &mut [T],
        rows: usize,
        tolerance: f64,
        from_file: bool,
    ) -> Result<bool, Failure> {
        let mut removed = false;
        for (column, b) in b.chunks_mut(rows.max(1)).enumerate() {
            let before = norm(b);
            let mean = |b: &[T], members: &[usize]| {
                members.iter().map(|&i| b[i].widen()).sum::<T::Wide>() / T::Wide::from_f64(members.len() as f64)
            };
            let square = |members: &Vec<usize>| mean(b, members).norm_sqr() * members.len() as f64;
            let part = self.members.iter().map(square).sum::<f64>().sqrt() / before;
            // Of b = 0 it is NaN.
            if part.is_nan() || part <= 0.1 * tolerance {
                continue;
            }
            let got =
                format!("column {}, whose part along the null vectors of A is {part:.1e} of its norm", column + 1);
            let expected = format!(
                "a right-hand side without a component along {}, which A maps to 0 ({})",
                self.along,
                self.size()
            );
            if from_file {
                return Err(Error::value("b", format!("{expected}; subtract its mean there"), got).into());
            }
            for members in &self.members {
                let mean = mean(b, members);
                members.iter().for_each(|&i| b[i] = T::narrow(b[i].widen() - mean));
            }
            if norm(b) <= 1e3 * <T::Real as Float>::epsilon().into_f64() * before {
                return Err(Error::value("b", format!("{expected}; give --rhs random or a file"), got).into());
            }
            removed = true;
        }
        if removed {
            log::warn!(
                "A takes {} to 0 ({}): their part of the right-hand side, for which there is no solution, is left out",
                self.along,
                self.size()
            );
        }
        Ok(removed)
    }
}

/// Iterations of least squares that look for a null vector of A', and entries of A that they may take in all.
const EXAMINED: (usize, usize) = (10_000, 1_000_000_000);

/// What counts as a null vector after them, in units of rounding: they reduce |A' r| of regular matrices as well.
const EXAMINED_NULL: f64 = 1e4;

/// As [`verdict`]; where that says nothing, of the residual that least squares leave from x on: of a system without a solution this is along
/// null vectors of A'.
pub(super) fn examine<T: Scalar>(
    context: &Context,
    a: &CsrParts<T>,
    b: &[T],
    x: &[T],
) -> Result<Option<String>, Failure> {
    let seen = verdict(a, b, x);
    if seen.is_some() {
        return Ok(seen);
    }
    let matrix = Csr::from_parts(context, a)?;
    // Columns whose norms cannot be inverted are those of another failure.
    let Ok(mut m) = Jacobi::of_normal_equations(&matrix) else { return Ok(None) };
    let start: Vec<T> = if x.iter().all(|x| x.has_finite_parts()) { x.to_vec() } else { vec![T::zero(); a.cols] };
    let (of_b, mut of_x) = (Vector::from_slice(context, b)?, Vector::from_slice(context, &start)?);
    let most = EXAMINED.0.min(EXAMINED.1 / a.nnz().max(1));
    let tolerance = 10.0 * <T::Real as Float>::epsilon().into_f64();
    let params = LeastSquaresParams::from(Stopping::default().tolerance(tolerance).max_iterations(most));
    let mut solver = LeastSquares::new(context, a.rows, a.cols, params)?;
    solver.solve_with(&matrix, Some(&mut m), &of_b, &mut of_x, &mut |_, _| interrupt::go_on())?;
    Ok(verdict_to(EXAMINED_NULL * <T::Real as Float>::epsilon().into_f64(), a, b, &of_x.to_vec()?))
}

/// What the residual of a solve that did not converge says of a square matrix; `None` where it says nothing.
///
/// |A' r| is at least |r| times the smallest singular value, and the largest is at least the norm of each row and column.
pub(super) fn verdict<T: Scalar>(a: &CsrParts<T>, b: &[T], x: &[T]) -> Option<String> {
    verdict_to(NULL, a, b, x)
}

/// The same, with what |A' r| over |A| |r| is at most for a null vector.
fn verdict_to<T: Scalar>(bound: f64, a: &CsrParts<T>, b: &[T], x: &[T]) -> Option<String> {
    let mut r: Vec<T::Wide> = b.iter().map(|value| value.widen()).collect();
    let mut rows = vec![0.0; a.rows];
    let mut cols = vec![0.0; a.cols];
    for (i, j, value) in a.triplets() {
        let value = value.widen();
        r[i] -= value * x[j].widen();
        rows[i] += value.norm_sqr();
        cols[j] += value.norm_sqr();
    }
    let mut back = vec![T::Wide::zero(); a.cols];
    for (i, j, value) in a.triplets() {
        back[j] += value.widen().conj() * r[i];
    }
    let size = rows.iter().chain(&cols).fold(0.0_f64, |most, &square| most.max(square)).sqrt();
    let [left, product, whole] = [norm(&r), norm(&back), norm(b)];
    let ratio = product / (size * left);
    if !(ratio < bound && left > 0.0) {
        return None;
    }
    Some(format!(
        "A is singular to this accuracy: |A' r| is {ratio:.0e} |A| |r| for the residual r, so r is along a null vector of A', and b has the part {:.1e} of its norm along it, for which there \
         is no solution; --method lsmr finds the x of the smallest residual",
        left / whole
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two chains of `n` nodes without conditions at their ends, and a node that is fixed.
    fn chains(n: usize) -> CsrParts<f64> {
        let mut entries = vec![(2 * n, 2 * n, 1.0)];
        for first in [0, n] {
            for i in first..first + n - 1 {
                entries.extend([(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)]);
            }
        }
        CsrParts::from_triplets(2 * n + 1, 2 * n + 1, &entries).unwrap()
    }

    #[test]
    fn constants_on_connected_parts_are_found_and_removed() {
        let a = chains(5);
        let null = NullVectors::constants(&a);
        assert_eq!(null.count(), 2);
        let mut b: Vec<f64> = (0..11).map(f64::from).collect();
        assert!(null.remove(&mut b, 11, 1e-10, false).unwrap());
        assert_eq!(b, [-2.0, -1.0, 0.0, 1.0, 2.0, -2.0, -1.0, 0.0, 1.0, 2.0, 10.0]);
        assert!(!null.remove(&mut b, 11, 1e-10, true).unwrap());
        b[0] += 1.0;
        assert!(matches!(
            null.remove(&mut b, 11, 1e-10, true),
            Err(Failure::Library(Error::Value { argument: "b", .. }))
        ));
        let mut null_alone = [1.0; 11];
        null_alone[10] = 0.0;
        assert!(null.remove(&mut null_alone, 11, 1e-10, false).is_err());
        let fixed = CsrParts::from_triplets(2, 2, &[(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0)]).unwrap();
        assert_eq!(NullVectors::constants(&fixed).count(), 0);
    }

    #[test]
    fn rows_of_zeros_and_numbers_that_are_none_are_named() {
        let a = CsrParts::from_triplets(3, 3, &[(0, 0, 1.0), (2, 1, 1.0), (1, 1, 0.0)]).unwrap();
        let words = |a: &CsrParts<f64>, b: &[f64], least_squares| match check(a, b, least_squares) {
            Err(Failure::Library(error)) => error.to_string(),
            other => format!("{other:?}"),
        };
        assert!(words(&a, &[1.0, 1.0, 1.0], false).contains("row 2 (counted from 1) of zeros"));
        assert!(words(&a, &[1.0, 0.0, 1.0, 1.0, 3.0, 1.0], false).contains("b is 3"));
        assert!(check(&a, &[1.0, 0.0, 1.0], false).is_ok() && check(&a, &[1.0; 3], true).is_ok());
        let wrong = CsrParts::from_triplets(2, 2, &[(0, 0, 1.0), (1, 0, f64::NAN)]).unwrap();
        assert!(words(&wrong, &[1.0, 1.0], false).contains("row 2 and column 1"));
        assert!(words(&a, &[1.0, f64::INFINITY, 0.0], true).contains("row 2"));
        // Unknown 2 with an entry that is 0.
        let a = CsrParts::from_triplets(3, 3, &[(0, 0, 1.0), (1, 2, 1.0), (2, 0, 1.0), (2, 1, 0.0)]).unwrap();
        assert!(words(&a, &[1.0, 1.0, 1.0], false).contains("unknown 2 (counted from 1) appears in no equation"));
        assert!(check(&a, &[1.0; 3], true).is_ok());
    }

    #[test]
    fn a_residual_along_a_null_vector_is_reported() {
        let a = chains(5);
        let (mut b, x) = (vec![0.0; 11], vec![0.0; 11]);
        b[..5].fill(1.0);
        assert!(verdict(&a, &b, &x).unwrap().contains("1.0e0 of its norm"));
        b[10] = 1.0;
        assert_eq!(verdict(&a, &b, &x), None);
    }
}
