//! The writer of MatrixMarket files.

use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use super::{Symmetry, io_error};
use crate::error::check_length;
use crate::io::AtomicFile;
use crate::matrix::CsrParts;
use crate::{Error, Real, Result, Scalar};

/// Writes a sparse matrix as `coordinate real general` or `coordinate complex general`, row by row, each value in the fewest digits that
/// give it back.
///
/// The file appears whole or not at all, as with [`AtomicFile`].
///
/// # Errors
/// As [`CsrParts::check`]; [`Error::Io`] when the file cannot be written.
pub fn write_coordinate<T: Scalar>(path: impl AsRef<Path>, a: &CsrParts<T>) -> Result<()> {
    write_coordinate_as(path, Symmetry::General, a)
}

/// As [`write_coordinate`] with the header's symmetry: of a symmetric, skew-symmetric or Hermitian matrix the lower triangle is written.
///
/// # Errors
/// As [`write_coordinate`]; [`Error::Value`] for a matrix that does not have this symmetry, to the last bit, or whose rows are not
/// [canonical](CsrParts::is_canonical).
pub fn write_coordinate_as<T: Scalar>(path: impl AsRef<Path>, symmetry: Symmetry, a: &CsrParts<T>) -> Result<()> {
    a.check()?;
    check_kind::<T>(symmetry, (a.rows, a.cols))?;
    if symmetry != Symmetry::General {
        if !a.is_canonical() {
            return Err(Error::value("a", "rows sorted by column without duplicates", "others"));
        }
        // Entry k of each matrix at the same position, or 0 where one has none.
        let transpose = a.transpose()?;
        for i in 0..a.rows {
            let (mut left, mut right) = (a.row(i).peekable(), transpose.row(i).peekable());
            while let Some(j) = left.peek().map(|e| e.0).into_iter().chain(right.peek().map(|e| e.0)).min() {
                let [value, mirror] = [&mut left, &mut right]
                    .map(|row| row.next_if(|entry| entry.0 == j).map_or(T::zero(), |entry| entry.1));
                check_entry(symmetry, (i, j), value, mirror)?;
            }
        }
    }
    let kept = || a.triplets().filter(|&(i, j, _)| is_stored(symmetry, i, j));
    write(path.as_ref(), |out| {
        writeln!(out, "%%MatrixMarket matrix coordinate {} {}", field::<T>(), symmetry.word())?;
        writeln!(out, "{} {} {}", a.rows, a.cols, kept().count())?;
        kept().try_for_each(|(i, j, value)| writeln!(out, "{} {} {}", i + 1, j + 1, shortest(value)))
    })
}

/// Writes a dense matrix of `rows` by `cols`, given column by column, as `array real general` or `array complex general`; otherwise as
/// [`write_coordinate`]. A vector is a matrix of one column.
///
/// # Errors
/// [`Error::Length`] unless `values` is `rows * cols` long; [`Error::Io`] when the file cannot be written.
pub fn write_array<T: Scalar>(path: impl AsRef<Path>, rows: usize, cols: usize, values: &[T]) -> Result<()> {
    write_array_as(path, Symmetry::General, rows, cols, values)
}

/// As [`write_array`] with the header's symmetry: of a symmetric, skew-symmetric or Hermitian matrix the lower triangle is written.
///
/// # Errors
/// As [`write_array`]; [`Error::Value`] for a matrix that does not have this symmetry, to the last bit.
pub fn write_array_as<T: Scalar>(
    path: impl AsRef<Path>,
    symmetry: Symmetry,
    rows: usize,
    cols: usize,
    values: &[T],
) -> Result<()> {
    check_length("values", rows.saturating_mul(cols), values.len())?;
    check_kind::<T>(symmetry, (rows, cols))?;
    if symmetry != Symmetry::General {
        for (i, j) in (0..cols).flat_map(|j| (j..rows).map(move |i| (i, j))) {
            check_entry(symmetry, (i, j), values[j * rows + i], values[i * rows + j])?;
        }
    }
    write(path.as_ref(), |out| {
        writeln!(out, "%%MatrixMarket matrix array {} {}", field::<T>(), symmetry.word())?;
        writeln!(out, "{rows} {cols}")?;
        let kept = values.iter().enumerate().filter(|(k, _)| is_stored(symmetry, k % rows, k / rows));
        kept.map(|(_, &value)| value).try_for_each(|value| writeln!(out, "{}", shortest(value)))
    })
}

fn field<T: Scalar>() -> &'static str {
    if T::IS_COMPLEX { "complex" } else { "real" }
}

/// Whether a file with this symmetry lists the entry.
fn is_stored(symmetry: Symmetry, i: usize, j: usize) -> bool {
    match symmetry {
        Symmetry::General => true,
        Symmetry::Symmetric | Symmetry::Hermitian => i >= j,
        Symmetry::SkewSymmetric => i > j,
    }
}

/// An error where no matrix of this shape and type has the symmetry.
fn check_kind<T: Scalar>(symmetry: Symmetry, (rows, cols): (usize, usize)) -> Result<()> {
    if symmetry == Symmetry::Hermitian && !T::IS_COMPLEX {
        return Err(Error::value("symmetry", "`symmetric` for a real matrix that equals its transpose", "`hermitian`"));
    }
    if symmetry != Symmetry::General && rows != cols {
        let expected = format!("`general` for a matrix of {rows} x {cols}");
        return Err(Error::value("symmetry", expected, format!("`{}`", symmetry.word())));
    }
    Ok(())
}

/// An error unless `mirror` is what the symmetry makes of `value` at (i, j); a NaN mirrors a NaN.
fn check_entry<T: Scalar>(symmetry: Symmetry, (i, j): (usize, usize), value: T, mirror: T) -> Result<()> {
    let wanted = symmetry.mirrored(value);
    let same = |a: T::Real, b: T::Real| a == b || (a.into_f64().is_nan() && b.into_f64().is_nan());
    if same(wanted.re(), mirror.re()) && same(wanted.im(), mirror.im()) {
        return Ok(());
    }
    let expected = format!("a {} matrix, or the symmetry `general`", symmetry.word());
    let got = format!("a matrix with {value} at ({}, {}) and {mirror} at ({}, {})", i + 1, j + 1, j + 1, i + 1);
    Err(Error::value("a", expected, got))
}

/// The fewest digits that give the value back, of a complex one its two parts. In single precision those of the value widened to double,
/// so that no reader rounds twice.
fn shortest<T: Scalar>(value: T) -> impl Display {
    struct Shortest(f64, Option<f64>);
    impl Display for Shortest {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            // `Debug` turns to an exponent where `Display` would write hundreds of zeros.
            write!(f, "{:?}", self.0)?;
            self.1.map_or(Ok(()), |im| write!(f, " {im:?}"))
        }
    }
    Shortest(value.re().into_f64(), T::IS_COMPLEX.then(|| value.im().into_f64()))
}

pub(super) fn write(path: &Path, content: impl FnOnce(&mut AtomicFile) -> std::io::Result<()>) -> Result<()> {
    AtomicFile::write(path, content).map_err(|source| io_error(path, source))
}
