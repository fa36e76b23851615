//! Files of matrices and vectors: MatrixMarket, NumPy, SciPy and MATLAB.

mod mat;
mod numpy;

use std::any::Any;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clinalg::io::matrix_market::{self, MatrixMarket};
use clinalg::{Complex, CsrParts, Error, Real, Scalar, shown};
use flate2::read::MultiGzDecoder;

use crate::exit::{Failure, usage};
use crate::paths::{check_target, ending};
use crate::processes;

/// A dense matrix, column by column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Columns<T> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Vec<T>,
}

/// A matrix as a file stores it.
#[derive(Debug, Clone)]
enum Stored {
    Sparse(CsrParts<f64>),
    Dense(Columns<f64>),
    ComplexSparse(CsrParts<Complex<f64>>),
    ComplexDense(Columns<Complex<f64>>),
    Market(MatrixMarket),
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
pub(crate) enum Role {
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

/// The failure of reading `path` that an error of a matrix's values is.
fn of_content(path: &Path, error: Error) -> Failure {
    match error {
        error @ (Error::Io { .. } | Error::Format { .. }) => error.into(),
        error => Failure::file(path, error),
    }
}

/// So many rows and columns may have no entries; damaged files declare more.
const MANY_ROWS: usize = 1 << 24;
/// Beyond them there is an entry for each of so many.
const ROWS_PER_ENTRY: usize = 16;
/// A dense matrix of more values has one entry in a file for each of so many.
const MANY_VALUES: usize = 1 << 27;
const VALUES_PER_ENTRY: usize = 64;

/// What is wrong with a matrix of so many entries where nearly all of it is zero, so that a small file would fill the memory.
fn check_size(rows: usize, cols: usize, entries: usize) -> Result<(), String> {
    let longest = rows.max(cols);
    match longest > MANY_ROWS && longest / ROWS_PER_ENTRY > entries {
        true => Err(format!(
            "a matrix of {rows} x {cols} with {entries} entries, so that nearly all rows or columns are zero; leave out those of zeros"
        )),
        false => Ok(()),
    }
}

/// What a file holds, before the type of the values is chosen.
pub(crate) struct Loaded {
    path: PathBuf,
    stored: Stored,
}

impl Loaded {
    /// Reads a `.mtx`, `.mtx.gz`, `.npy`, `.npz` (SciPy) or `.mat`.
    pub(crate) fn read(path: &Path, role: Role) -> Result<Loaded, Failure> {
        let stored = match Format::of(path) {
            Format::MatrixMarket => Stored::Market(matrix_market::read(path)?),
            Format::Compressed => Stored::Market(compressed(path)?),
            Format::Npy => numpy::read_npy(path)?,
            Format::Npz => numpy::read_npz(path)?,
            Format::Mat => mat::read(path, role)?,
        };
        Ok(Loaded { path: path.to_owned(), stored })
    }

    pub(crate) fn is_complex(&self) -> bool {
        match &self.stored {
            Stored::Sparse(_) | Stored::Dense(_) => false,
            Stored::ComplexSparse(_) | Stored::ComplexDense(_) => true,
            Stored::Market(file) => file.storage.is_complex(),
        }
    }

    /// As a sparse matrix.
    pub(crate) fn matrix<T: Scalar>(self) -> Result<CsrParts<T>, Failure> {
        fn sparse<W: Scalar<Real = f64>, T: Scalar>(path: &Path, parts: CsrParts<W>) -> Result<CsrParts<T>, Failure> {
            let values = narrowed(path, parts.values)?;
            Ok(CsrParts { rows: parts.rows, cols: parts.cols, offsets: parts.offsets, indices: parts.indices, values })
        }
        fn dense<W: Scalar<Real = f64>, T: Scalar>(path: &Path, dense: &Columns<W>) -> Result<CsrParts<T>, Failure> {
            check_size(dense.rows, dense.cols, dense.values.len()).map_err(|reason| Failure::file(path, reason))?;
            let parts = CsrParts::from_dense(dense.rows, dense.cols, &dense.values);
            sparse(path, parts.map_err(|error| of_content(path, error))?)
        }
        let (rows, cols) = match &self.stored {
            Stored::Market(file) => (file.rows, file.cols),
            Stored::Sparse(parts) => (parts.rows, parts.cols),
            Stored::ComplexSparse(parts) => (parts.rows, parts.cols),
            Stored::Dense(dense) => (dense.rows, dense.cols),
            Stored::ComplexDense(dense) => (dense.rows, dense.cols),
        };
        if rows == 0 || cols == 0 {
            return Err(Failure::file(&self.path, format!("a matrix of {rows} x {cols}: there is nothing to solve")));
        }
        match self.stored {
            Stored::Market(file) => file.to_csr_parts().map_err(|error| of_content(&self.path, error)),
            Stored::Sparse(parts) => sparse(&self.path, parts),
            Stored::ComplexSparse(parts) => sparse(&self.path, parts),
            Stored::Dense(columns) => dense(&self.path, &columns),
            Stored::ComplexDense(columns) => dense(&self.path, &columns),
        }
    }

    /// As a dense matrix.
    pub(crate) fn columns<T: Scalar>(self) -> Result<Columns<T>, Failure> {
        let path = &self.path;
        let expanded = |rows: usize, cols: usize, entries: usize| {
            let values = rows.saturating_mul(cols);
            match values > MANY_VALUES && values / VALUES_PER_ENTRY > entries {
                true => Err(Failure::file(
                    path,
                    format!(
                        "{rows} x {cols} values with {entries} entries are too sparse for vectors, which are dense"
                    ),
                )),
                false => Ok(()),
            }
        };
        match &self.stored {
            Stored::Market(file) => expanded(file.rows, file.cols, file.storage.len())?,
            Stored::Sparse(parts) => expanded(parts.rows, parts.cols, parts.nnz())?,
            Stored::ComplexSparse(parts) => expanded(parts.rows, parts.cols, parts.nnz())?,
            Stored::Dense(_) | Stored::ComplexDense(_) => {}
        }
        let (rows, cols, values) = match self.stored {
            Stored::Market(file) => {
                (file.rows, file.cols, file.to_column_major().map_err(|error| of_content(path, error))?)
            }
            Stored::Dense(dense) => (dense.rows, dense.cols, narrowed(path, dense.values)?),
            Stored::ComplexDense(dense) => (dense.rows, dense.cols, narrowed(path, dense.values)?),
            Stored::Sparse(parts) => (parts.rows, parts.cols, narrowed(path, parts.to_dense()?)?),
            Stored::ComplexSparse(parts) => (parts.rows, parts.cols, narrowed(path, parts.to_dense()?)?),
        };
        Ok(Columns { rows, cols, values })
    }
}

/// Vectors in a file.
pub(crate) fn read_columns<T: Scalar>(path: &Path) -> Result<Columns<T>, Failure> {
    Loaded::read(path, Role::RightSide)?.columns()
}

/// A MatrixMarket file that gzip compressed, read line by line: a small file can hold gigabytes.
fn compressed(path: &Path) -> Result<matrix_market::MatrixMarket, Failure> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(io)?;
    let bytes = file.metadata().map_err(io)?.len();
    let text = BufReader::with_capacity(1 << 18, MultiGzDecoder::new(BufReader::new(file)));
    matrix_market::read_decompressed(text, path, bytes).map_err(|error| match error {
        Error::Io { source, .. } => Failure::file(
            path,
            format!("the file is no gzip file or is damaged ({source}); copy it again, or compress it again with gzip"),
        ),
        error => error.into(),
    })
}

/// The values in the type of the computation.
fn narrowed<W: Scalar<Real = f64>, T: Scalar>(path: &Path, values: Vec<W>) -> Result<Vec<T>, Failure> {
    let mut values = Some(values);
    if let Some(same) = (&mut values as &mut dyn Any).downcast_mut::<Option<Vec<T>>>() {
        return Ok(same.take().expect("they are there"));
    }
    let values = values.unwrap_or_default();
    if W::IS_COMPLEX && !T::IS_COMPLEX {
        return Err(Failure::file(path, "the values are complex, expected real ones"));
    }
    let part = |part: f64| {
        <T::Real as Real>::narrowed(part).ok_or_else(|| {
            let fault_is = if part.abs() > 1.0 { "large" } else { "small" };
            Failure::file(path, format!("{} is too {fault_is} for {}; use --precision f64", shown(part), T::PRECISION))
        })
    };
    values.iter().map(|value| Ok(T::from_parts(part(value.re())?, part(value.im())?))).collect()
}

/// The endings of the files that [`write`] writes.
const WRITABLE: [&str; 3] = ["mtx", "npy", "mat"];

/// An error unless the file of `--out`, if it is given, can be written in a format that its name says.
pub(crate) fn check_output(path: &Option<PathBuf>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    match WRITABLE.contains(&ending(path).as_str()) {
        true => check_target(path),
        false => usage!(
            "--out {}: the ending of the name says the format, .mtx (MatrixMarket), .npy (NumPy) or .mat (MATLAB)",
            path.display()
        ),
    }
}

/// Writes a dense matrix as `.mtx`, `.npy` or `.mat` (variable `x`), as the name says.
pub(crate) fn write<T: Scalar>(path: &Path, rows: usize, cols: usize, values: &[T]) -> Result<(), Failure> {
    if !processes::writes() {
        return Ok(());
    }
    match Format::of(path) {
        Format::Npy => numpy::write_npy(path, rows, cols, values),
        Format::Mat => mat::write(path, rows, cols, values),
        _ => Ok(matrix_market::write_array(path, rows, cols, values)?),
    }
}
