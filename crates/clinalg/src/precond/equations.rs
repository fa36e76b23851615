//! Equations that no solve can satisfy: entries that are not finite, rows and columns of zeros.

use crate::matrix::host;
use crate::{CsrParts, Error, Result, Scalar};

/// An error unless all entries of A and b are finite; b has one or more columns, each with as many values as A has rows.
///
/// # Errors
/// [`Error::Unsuitable`] that names the row, and for A also the column, counted from 1.
pub fn check_finite<T: Scalar>(a: &CsrParts<T>, b: &[T]) -> Result<()> {
    host::check_finite(a)?;
    check_finite_columns(b, a.rows)
}

/// An error unless all entries of b are finite, which has one or more columns with this many rows.
pub(crate) fn check_finite_columns<T: Scalar>(b: &[T], rows: usize) -> Result<()> {
    if let Some(k) = b.iter().position(|value| !value.has_finite_parts()) {
        let (row, column) = (k % rows.max(1) + 1, k / rows.max(1) + 1);
        let reason =
            format!("the value in row {row} of column {column} (counted from 1) is {}, expected a finite number", b[k]);
        return Err(Error::unsuitable("b", reason));
    }
    Ok(())
}

/// An error if a column of b is not 0 in a row of zeros, so that there is no solution, or if the square matrix A has more columns of zeros than rows of zeros,
/// so that a Krylov method finds none. If A only has unknowns that appear in no equation, whose values are arbitrary, returns a sentence that names the first
/// of them, counted from 1.
///
/// # Errors
/// [`Error::Unsuitable`] that names the row or the unknown.
pub fn check_zeros<T: Scalar>(a: &CsrParts<T>, b: &[T]) -> Result<Option<String>> {
    let mut appears = vec![false; a.cols];
    a.triplets().filter(|entry| !entry.2.is_zero()).for_each(|(_, j, _)| appears[j] = true);
    let absent: Vec<usize> = (0..a.cols).filter(|&j| !appears[j]).collect();
    let empty = |&i: &usize| a.row(i).all(|(_, value)| value.is_zero());
    let rows: Vec<usize> = (0..a.rows).filter(empty).collect();
    for &i in &rows {
        if let Some(value) = b.iter().skip(i).step_by(a.rows).find(|value| !value.is_zero()) {
            let reason = format!(
                "row {} (counted from 1) has only zeros and b is {value} there, so A x = b has no solution; remove the row and its unknown, or \
                 solve the least-squares problem",
                i + 1
            );
            return Err(Error::unsuitable("a", reason));
        }
    }
    let Some(first) = absent.first() else { return Ok(None) };
    let singular = format!("singular: unknown {} (counted from 1) appears in no equation", first + 1);
    // Otherwise there are as many other equations as other unknowns.
    if absent.len() > rows.len() {
        let advice = "remove the unknown and one equation, or solve the least-squares problem";
        return Err(Error::unsuitable("a", format!("the matrix is {singular}; {advice}")));
    }
    let arbitrary = match absent.len() {
        1 => "; its value in x is arbitrary".to_owned(),
        2 => ", nor does one other; their values in x are arbitrary".to_owned(),
        count => format!(", nor do {} others; their values in x are arbitrary", count - 1),
    };
    Ok(Some(format!("the matrix is {singular}{arbitrary}")))
}
