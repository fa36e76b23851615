//! Incomplete factorisations, with triangular systems solved by levels on the device.

mod cholesky;
mod ilu;
mod ilut;
mod matching;
mod order;
mod schedule;
mod ssor;
mod triangle;

pub use cholesky::{CholeskyParams, IncompleteCholesky};
pub use ilu::{Ilu, IluKind, IluParams, Matching};
pub use order::Ordering;
pub use ssor::{Ssor, SsorParams};
pub use triangle::Triangle;

use crate::matrix::host::inverse_of;
use crate::matrix::{Values, host};
use crate::{CsrParts, Error, Result, Scalar, Vector};

/// A pivot below this many times the machine precision, relative to the matrix, counts as zero.
const UNSOUND: f64 = 4.0;

/// An error unless the matrix is square.
fn check_square<T: Scalar>(a: &CsrParts<T>) -> Result<()> {
    if a.rows == a.cols {
        return Ok(());
    }
    let (expected, got) = ("a square matrix".into(), format!("{} x {}", a.rows, a.cols));
    Err(Error::Shape { argument: "a", expected, got })
}

/// An error that names the row (counted from 1) whose pivot fails, and what to use.
fn failed_pivot(row: usize, what: &str, advice: &str) -> Error {
    let got = format!("one whose pivot of row {} (counted from 1) is {what}", row + 1);
    Error::value("a", format!("a matrix with this incomplete factorisation; {advice}"), got)
}

/// The rows and columns of `a` in another order: row k is row `rows[k]`, whose entries in column j go to column `column_of[j]`. Rows are
/// sorted, and have an entry on the diagonal, if need be a zero.
fn permuted<T: Scalar>(a: &CsrParts<T>, rows: &[usize], column_of: &[usize]) -> Result<CsrParts<T>> {
    let entries = a.nnz() + rows.len();
    let mut offsets = host::filled("a", rows.len().checked_add(1), 0)?;
    let (mut indices, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    let mut row: Vec<(usize, T)> = Vec::new();
    for (k, &i) in rows.iter().enumerate() {
        row.clear();
        row.extend(a.row(i).map(|(j, value)| (column_of[j], value)));
        if row.iter().all(|&(j, _)| j != k) {
            row.push((k, T::zero()));
        }
        row.sort_unstable_by_key(|entry| entry.0);
        indices.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        offsets[k + 1] = indices.len();
    }
    Ok(CsrParts { rows: rows.len(), cols: rows.len(), offsets, indices, values })
}

/// An error that names `r` or `z` unless they are like a preconditioner's own vector.
pub(super) fn check_apply<T: Scalar>(own: &Vector<T>, r: &Vector<T>, z: &Vector<T>) -> Result<()> {
    own.check_same(r, "r")?;
    own.check_same(z, "z")
}
