//! MatrixMarket files: Boisvert, Pozo, Remington, *The Matrix Market Exchange Formats*, NISTIR 5935 (1996).
//!
//! Read: `coordinate` and `array`; `real`, `integer`, `unsigned-integer` (SciPy's), `complex` and `pattern` (every entry 1); `general`,
//! `symmetric`, `skew-symmetric` and, of complex files, `hermitian` (expanded). Files with a symmetry list one triangle, which may be the
//! upper one; on the diagonal of a skew-symmetric matrix zeros may stand. The header counts upper and lower case as the
//! same, lines may end in CR LF, and comments and blank lines may stand anywhere below the header. `nan` and `inf` are
//! values, exponents may begin with Fortran's `D`; a finite number too large for double precision is an error. Written: `real` or `complex`, as the values are, with any of
//! these symmetries.
//!
//! ```
//! use clinalg::Complex;
//! use clinalg::io::matrix_market;
//!
//! let file = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n";
//! let a = matrix_market::read_from(file.as_bytes(), "a.mtx")?;
//! assert_eq!(a.to_column_major::<f64>()?, [4.0, -1.0, -1.0, 0.0]);
//!
//! let file = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 4 0\n2 1 -1 3\n";
//! let a = matrix_market::read_from(file.as_bytes(), "a.mtx")?;
//! let [zero, four] = [0.0, 4.0].map(Complex::from);
//! assert_eq!(a.to_column_major::<Complex<f64>>()?, [four, Complex::new(-1.0, 3.0), Complex::new(-1.0, -3.0), zero]);
//! # Ok::<(), clinalg::Error>(())
//! ```
mod parallel;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _};
use std::path::Path;

use num_complex::Complex;

use crate::matrix::CsrParts;
use crate::matrix::host::zeros;
use crate::{Error, Real, Result, Scalar, shown};
use read::Reader;

pub use write::{write_array, write_array_as, write_coordinate, write_coordinate_as};

/// What a MatrixMarket file says, with its symmetry expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixMarket {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// What the header declared; the entries here are expanded already.
    pub symmetry: Symmetry,
    /// The entries.
    pub storage: Storage,
}

/// The symmetry that a file's header declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// Every entry is in the file.
    General,
    /// `A' = A`; the file holds the lower triangle.
    Symmetric,
    /// `A' = -A`; the file holds the lower triangle without the diagonal.
    SkewSymmetric,
    /// `A^H = A` of a complex matrix; the file holds the lower triangle. The diagonal is real.
    Hermitian,
}

impl Symmetry {
    /// The word in the header.
    fn word(self) -> &'static str {
        match self {
            Symmetry::General => "general",
            Symmetry::Symmetric => "symmetric",
            Symmetry::SkewSymmetric => "skew-symmetric",
            Symmetry::Hermitian => "hermitian",
        }
    }

    /// The entry at (j, i) for `value` at (i, j), below the diagonal.
    fn mirrored<T: Scalar>(self, value: T) -> T {
        match self {
            Symmetry::General | Symmetry::Symmetric => value,
            Symmetry::SkewSymmetric => -value,
            Symmetry::Hermitian => value.conj(),
        }
    }
}

/// The entries of a file.
///
/// In coordinates: `(row, column, value)`, 0-based, in the file's order; after an off-diagonal entry of a file with a symmetry stands its
/// mirror image. An entry may occur twice and then counts as a sum. In arrays: `rows * cols` values, column by column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Storage {
    /// Real entries with their positions.
    Coordinate(Vec<(usize, usize, f64)>),
    /// All entries of a real matrix.
    Array(Vec<f64>),
    /// Complex entries with their positions.
    ComplexCoordinate(Vec<(usize, usize, Complex<f64>)>),
    /// All entries of a complex matrix.
    ComplexArray(Vec<Complex<f64>>),
}

impl Storage {
    /// Whether the file is one of complex values.
    pub fn is_complex(&self) -> bool {
        matches!(self, Storage::ComplexCoordinate(_) | Storage::ComplexArray(_))
    }

    /// Number of entries or values.
    pub fn len(&self) -> usize {
        match self {
            Storage::Coordinate(entries) => entries.len(),
            Storage::Array(values) => values.len(),
            Storage::ComplexCoordinate(entries) => entries.len(),
            Storage::ComplexArray(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether entries come with their positions.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Storage::Coordinate(_) | Storage::ComplexCoordinate(_))
    }
}

impl MatrixMarket {
    /// As a canonical sparse matrix, duplicates summed. Zeros that the file lists are kept; of an array, the nonzeros.
    ///
    /// # Errors
    /// [`Error::Value`] when the file is complex and `T` is real, when the row offsets do not fit memory, or when `T` is of single precision
    /// and a value is too large or too small for it.
    pub fn to_csr_parts<T: Scalar>(&self) -> Result<CsrParts<T>> {
        match &self.storage {
            Storage::Coordinate(entries) => CsrParts::from_converted(self.rows, self.cols, entries, narrow),
            Storage::ComplexCoordinate(entries) => CsrParts::from_converted(self.rows, self.cols, entries, narrow),
            Storage::Array(_) | Storage::ComplexArray(_) => {
                CsrParts::from_dense(self.rows, self.cols, &self.to_column_major()?)
            }
        }
    }

    /// As a dense matrix of `rows * cols` values, column by column; duplicates summed.
    ///
    /// # Errors
    /// [`Error::Value`] when the file is complex and `T` is real, when it does not fit memory, or when `T` is of single precision and
    /// a value is too large or too small for it.
    pub fn to_column_major<T: Scalar>(&self) -> Result<Vec<T>> {
        match &self.storage {
            Storage::Array(values) => values.iter().map(|&a| narrow(a)).collect(),
            Storage::ComplexArray(values) => values.iter().map(|&a| narrow(a)).collect(),
            Storage::Coordinate(entries) => self.scattered(entries),
            Storage::ComplexCoordinate(entries) => self.scattered(entries),
        }
    }

    fn scattered<W: Scalar<Real = f64>, T: Scalar>(&self, entries: &[(usize, usize, W)]) -> Result<Vec<T>> {
        let mut out: Vec<T> = zeros("matrix", self.rows.checked_mul(self.cols))?;
        for &(i, j, a) in entries {
            out[j * self.rows + i] += narrow(a)?;
        }
        Ok(out)
    }
}

/// The value in the type wanted, which holds its magnitude and, if it is complex, its imaginary part.
fn narrow<W: Scalar<Real = f64>, T: Scalar>(value: W) -> Result<T> {
    if W::IS_COMPLEX && !T::IS_COMPLEX {
        return Err(Error::value("matrix", "a real file, or a complex type for its values", "a complex file"));
    }
    let part = |part: f64| {
        <T::Real as Real>::narrowed(part).ok_or_else(|| {
            let expected = "values that single precision holds, 0 or from 1.2e-38 to 3.4e38 in magnitude";
            Error::value("matrix", expected, format!("{}; use double precision", shown(part)))
        })
    };
    Ok(T::from_parts(part(value.re())?, part(value.im())?))
}

/// Reads a file.
///
/// # Errors
/// [`Error::Io`] when it cannot be read, [`Error::Format`] with the 1-based line when its content is at fault.
pub fn read(path: impl AsRef<Path>) -> Result<MatrixMarket> {
    let path = path.as_ref();
    let io = |source| io_error(path, source);
    let mut file = File::open(path).map_err(io)?;
    let about = file.metadata().map_err(io)?;
    if about.is_file() {
        let mut text = Vec::new();
        (&mut file).take(parallel::HEAD as u64).read_to_end(&mut text).map_err(io)?;
        if parallel::is_for(&text, about.len()) && text.try_reserve_exact(about.len() as usize).is_ok() {
            file.read_to_end(&mut text).map_err(io)?;
            return read_bytes(&text, path);
        }
        file.rewind().map_err(io)?;
    }
    Reader::new(BufReader::with_capacity(1 << 18, file), path, about.len()).read()
}

/// Reads from memory, with several threads where the text is long; `path` is what messages call it.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(text: &[u8], path: impl AsRef<Path>) -> Result<MatrixMarket> {
    match parallel::read(text) {
        Some(found) => Ok(found),
        None => Reader::new(text, path.as_ref(), text.len() as u64).read(),
    }
}

/// Reads from any source; `path` is what messages call it.
///
/// # Errors
/// As [`read`].
pub fn read_from(reader: impl BufRead, path: impl AsRef<Path>) -> Result<MatrixMarket> {
    Reader::new(reader, path.as_ref(), 0).read()
}

/// Reads from a source that was compressed to `compressed` bytes; `path` is what messages call it.
///
/// # Errors
/// As [`read`]; [`Error::Format`] where the entries that the size line announces would take more than 64 MiB, and more than 100 times the
/// compressed bytes, as those of no matrix do.
pub fn read_decompressed(reader: impl BufRead, path: impl AsRef<Path>, compressed: u64) -> Result<MatrixMarket> {
    Reader::decompressed(reader, path.as_ref(), compressed).read()
}

fn io_error(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.to_owned(), source }
}
