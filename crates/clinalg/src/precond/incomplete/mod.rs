//! Incomplete factorisations, with triangular systems solved by levels on the device.

mod cholesky;
mod ilu;
mod ilut;
mod order;
mod schedule;
mod ssor;
mod triangle;

pub use cholesky::{CholeskyParams, IncompleteCholesky};
pub(crate) use ilu::lesser_triangle;
pub use ilu::{Ilu, IluKind, IluParams, Matching};
pub use order::Ordering;
pub use ssor::{Ssor, SsorParams};
pub use triangle::Triangle;

use crate::matrix::host::{check_finite, check_square, inverse_of};
use crate::matrix::{Values, host};
use crate::{CsrParts, Error, Result, Scalar, Vector};

/// A pivot below this many times the machine precision, relative to the matrix, counts as zero.
const UNSOUND: f64 = 4.0;

/// More sweeps of the fixed-point iteration for factors take longer than elimination by levels, and no call can interrupt them.
const MOST_SWEEPS: usize = 1000;

fn check_sweeps(sweeps: usize) -> Result<()> {
    if sweeps > MOST_SWEEPS {
        let expected = format!("at most {MOST_SWEEPS}, or 0 for the exact factors by levels");
        return Err(Error::value("sweeps", expected, sweeps));
    }
    Ok(())
}

/// An error that names the row (counted from 1) whose pivot fails, with advice.
fn failed_pivot(row: usize, what: &str, advice: &str) -> Error {
    let reason = format!(
        "the incomplete factorisation fails: the pivot of row {} (counted from 1) is {what}; {advice}",
        row + 1
    );
    Error::unsuitable("a", reason)
}

/// As [`host::permuted`], with an entry on the diagonal of each row.
fn permuted<T: Scalar>(a: &CsrParts<T>, rows: &[usize], column_of: &[usize]) -> Result<CsrParts<T>> {
    host::permuted(a, rows, column_of, true)
}

/// An error that names `r` or `z` unless they have the length and context of the preconditioner's own vector.
pub(super) fn check_apply<T: Scalar>(own: &Vector<T>, r: &Vector<T>, z: &Vector<T>) -> Result<()> {
    own.check_same(r, "r")?;
    own.check_same(z, "z")
}
