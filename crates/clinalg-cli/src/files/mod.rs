//! Files of matrices and vectors: MatrixMarket, NumPy, SciPy and MATLAB.

mod mat;
mod numpy;

use std::io::Read;
use std::path::Path;

use clinalg::io::matrix_market;
use clinalg::{CsrParts, Error, Real};
use flate2::read::MultiGzDecoder;

use crate::exit::Failure;
use crate::processes;

/// A dense matrix, column by column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Columns<T> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Vec<T>,
}

/// A matrix of real numbers as a file stores it.
#[derive(Debug, Clone, PartialEq)]
enum Stored {
    Sparse(CsrParts<f64>),
    Dense(Columns<f64>),
}

/// The formats, by the names of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    MatrixMarket,
    Compressed,
    Npy,
    Npz,
    Mat,
}

impl Format {
    /// By the end of the name; MatrixMarket where it says nothing else.
    fn of(path: &Path) -> Format {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match name.rsplit('.').next() {
            Some("gz") => Format::Compressed,
            Some("npy") => Format::Npy,
            Some("npz") => Format::Npz,
            Some("mat") => Format::Mat,
            _ => Format::MatrixMarket,
        }
    }
}

/// What a file is read for: which variable of several is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Matrix,
    RightSide,
    Start,
}

impl Role {
    /// The usual names of the variable.
    fn names(self) -> &'static [&'static str] {
        match self {
            Role::Matrix => &["A"],
            Role::RightSide => &["b", "B", "rhs"],
            Role::Start => &["x0", "x", "X"],
        }
    }
}

fn fault(path: &Path, reason: impl std::fmt::Display) -> Failure {
    Failure::File { path: path.to_owned(), reason: reason.to_string() }
}

/// The sparse matrix in a file: `.mtx`, `.mtx.gz`, `.npz` (SciPy), `.npy` or `.mat`.
pub(crate) fn read_matrix<T: Real>(path: &Path) -> Result<CsrParts<T>, Failure> {
    let stored = match Format::of(path) {
        Format::MatrixMarket => return Ok(matrix_market::read(path)?.to_csr_parts()?),
        Format::Compressed => return Ok(compressed(path)?.to_csr_parts()?),
        Format::Npy => numpy::read_npy(path)?,
        Format::Npz => numpy::read_npz(path)?,
        Format::Mat => mat::read(path, Role::Matrix)?,
    };
    let parts = match stored {
        Stored::Sparse(parts) => parts,
        Stored::Dense(dense) => CsrParts::from_dense(dense.rows, dense.cols, &dense.values)?,
    };
    let values = narrowed(path, &parts.values)?;
    Ok(CsrParts { rows: parts.rows, cols: parts.cols, offsets: parts.offsets, indices: parts.indices, values })
}

/// Right-hand sides in a file.
pub(crate) fn read_right_side<T: Real>(path: &Path) -> Result<Columns<T>, Failure> {
    read_columns(path, Role::RightSide)
}

/// Starts of an iteration in a file.
pub(crate) fn read_start<T: Real>(path: &Path) -> Result<Columns<T>, Failure> {
    read_columns(path, Role::Start)
}

fn read_columns<T: Real>(path: &Path, role: Role) -> Result<Columns<T>, Failure> {
    let of = |file: matrix_market::MatrixMarket| -> Result<Columns<T>, Failure> {
        Ok(Columns { rows: file.rows, cols: file.cols, values: file.to_column_major()? })
    };
    let stored = match Format::of(path) {
        Format::MatrixMarket => return of(matrix_market::read(path)?),
        Format::Compressed => return of(compressed(path)?),
        Format::Npy => numpy::read_npy(path)?,
        Format::Npz => numpy::read_npz(path)?,
        Format::Mat => mat::read(path, role)?,
    };
    let dense = match stored {
        Stored::Dense(dense) => dense,
        Stored::Sparse(parts) => Columns { rows: parts.rows, cols: parts.cols, values: parts.to_dense()? },
    };
    Ok(Columns { rows: dense.rows, cols: dense.cols, values: narrowed(path, &dense.values)? })
}

/// A MatrixMarket file that gzip compressed.
fn compressed(path: &Path) -> Result<matrix_market::MatrixMarket, Failure> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(io)?;
    let mut text = Vec::new();
    MultiGzDecoder::new(std::io::BufReader::new(file)).read_to_end(&mut text).map_err(io)?;
    Ok(matrix_market::read_bytes(&text, path)?)
}

/// The values in the precision of the computation.
fn narrowed<T: Real>(path: &Path, values: &[f64]) -> Result<Vec<T>, Failure> {
    let narrow = |&value: &f64| {
        let narrow = T::from_f64(value);
        if narrow.into_f64().is_infinite() && value.is_finite() {
            return Err(fault(path, format!("{value:e} is too large for {}; use --precision f64", T::PRECISION)));
        }
        Ok(narrow)
    };
    values.iter().map(narrow).collect()
}

/// An error unless `path` can be written in a format that its name says.
pub(crate) fn check_output(path: &Path) -> Result<(), Failure> {
    match Format::of(path) {
        Format::MatrixMarket | Format::Npy | Format::Mat => Ok(()),
        Format::Compressed | Format::Npz => {
            Err(Failure::usage(format!("--out {}: solutions are written as .mtx, .npy or .mat", path.display())))
        }
    }
}

/// Writes a dense matrix as `.mtx`, `.npy` or `.mat` (variable `x`), as the name says.
pub(crate) fn write<T: Real>(path: &Path, rows: usize, cols: usize, values: &[T]) -> Result<(), Failure> {
    if !processes::writes() {
        return Ok(());
    }
    let wide = || values.iter().map(|v| v.into_f64()).collect::<Vec<f64>>();
    match Format::of(path) {
        Format::Npy => numpy::write_npy(path, rows, cols, &wide()),
        Format::Mat => mat::write(path, rows, cols, &wide()),
        _ => Ok(matrix_market::write_array(path, rows, cols, values)?),
    }
}
