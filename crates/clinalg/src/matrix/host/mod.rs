//! Matrices in host memory: the formats in which they are built, checked and converted before they are uploaded.
mod band;
mod csr;
mod matching;
mod reordering;

pub use band::BandParts;
pub use csr::CsrParts;
pub(crate) use csr::{check_offsets, check_rows};
pub(crate) use matching::{SMALL_DIAGONAL, equilibrated, has_weak_diagonal, largest_product, matching, unmatched_row};
pub use reordering::Reordering;
pub(crate) use reordering::{cuthill_mckee, inverse_of, permuted};

use crate::{Error, Result, Scalar};

/// An error unless the matrix is square and its arrays are consistent.
pub(crate) fn check_square<T: Scalar>(a: &CsrParts<T>) -> Result<()> {
    if a.rows == a.cols {
        return a.check();
    }
    Err(Error::Shape { argument: "a", expected: "a square matrix".into(), got: format!("{} x {}", a.rows, a.cols) })
}

/// An error that names row and column (counted from 1) of the first entry that is not finite.
pub(crate) fn check_finite<T: Scalar>(a: &CsrParts<T>) -> Result<()> {
    match a.triplets().find(|entry| !entry.2.has_finite_parts()) {
        None => Ok(()),
        Some((i, j, value)) => {
            let (row, column) = (i + 1, j + 1);
            let reason = format!(
                "the entry in row {row} and column {column} (counted from 1) is {value}, expected a finite number"
            );
            Err(Error::unsuitable("a", reason))
        }
    }
}

/// `len` zeros, or an error where this machine cannot hold them.
pub(crate) fn zeros<T: Scalar>(argument: &'static str, len: Option<usize>) -> Result<Vec<T>> {
    filled(argument, len, T::zero())
}

fn too_large<V>(argument: &'static str, len: Option<usize>) -> Error {
    let got = match len {
        Some(len) => format!("{len} values of {} bytes", size_of::<V>()),
        None => "more values than can be counted".into(),
    };
    Error::value(argument, "a size that fits this machine's memory", got)
}

/// `len` times `value`; `None` stands for a length that does not fit `usize`.
pub(crate) fn filled<V: Copy>(argument: &'static str, len: Option<usize>, value: V) -> Result<Vec<V>> {
    let mut out = Vec::new();
    let reserved = len.is_some_and(|len| out.try_reserve_exact(len).is_ok());
    let Some(len) = len.filter(|_| reserved) else { return Err(too_large::<V>(argument, len)) };
    out.resize(len, value);
    Ok(out)
}
