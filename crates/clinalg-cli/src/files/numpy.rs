//! NumPy's arrays and SciPy's sparse matrices (`scipy.sparse.save_npz`).

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use clinalg::{Complex, CsrParts, Scalar};
use zip::ZipArchive;

use super::{Columns, Stored, fault};
use crate::data::Values;
use crate::data::array::{self, Array};
use crate::exit::Failure;

/// An array of one or two dimensions.
pub(super) fn read_npy(path: &Path) -> Result<Stored, Failure> {
    if let Some((shape, values)) = array::read_complex(path, None)? {
        return Ok(Stored::ComplexDense(columns(path, &shape, &values)?));
    }
    let Array { shape, values } = Array::read(path, "x")?;
    Ok(Stored::Dense(columns(path, &shape, &values)?))
}

fn columns<T: Copy>(path: &Path, shape: &[usize], values: &[T]) -> Result<Columns<T>, Failure> {
    let (rows, cols) = match shape[..] {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        _ => {
            let words = format!("an array of {} dimensions, expected one or two", shape.len());
            return Err(fault(path, words));
        }
    };
    let by_columns = (0..cols).flat_map(|j| (0..rows).map(move |i| i * cols + j)).map(|e| values[e]).collect();
    Ok(Columns { rows, cols, values: by_columns })
}

/// A sparse matrix as `scipy.sparse.save_npz` writes it, in the formats csr, csc and coo.
pub(super) fn read_npz(path: &Path) -> Result<Stored, Failure> {
    let format = format_of(path)?;
    if !["csr", "csc", "coo"].contains(&format.as_str()) {
        let advice = "expected csr, csc or coo: save it with scipy.sparse.save_npz(FILE, A.tocsr())";
        return Err(fault(path, format!("a matrix in the format {format}; {advice}")));
    }
    Ok(match array::read_complex(path, Some("data"))? {
        Some((_, data)) => Stored::ComplexSparse(sparse(path, &format, data)?),
        None => Stored::Sparse(sparse(path, &format, Array::read_named(path, "data")?.values)?),
    })
}

/// The matrix in this format with these values.
fn sparse<T: Scalar>(path: &Path, format: &str, data: Vec<T>) -> Result<CsrParts<T>, Failure> {
    let array = |name: &str| Ok::<_, Failure>(Array::read_named(path, name)?.values);
    let whole = |values: Vec<f64>| -> Result<Vec<usize>, Failure> {
        let index = |v: f64| if v >= 0.0 && v.fract() == 0.0 { Some(v as usize) } else { None };
        values.into_iter().map(index).collect::<Option<_>>().ok_or_else(|| fault(path, "an index is negative"))
    };
    let shape = whole(array("shape")?)?;
    let &[rows, cols] = &shape[..] else {
        return Err(fault(path, format!("a shape of {} numbers, expected two", shape.len())));
    };
    let parts = if format == "coo" {
        let (row, col) = (whole(array("row")?)?, whole(array("col")?)?);
        if row.len() != data.len() || col.len() != data.len() {
            return Err(fault(path, "row, col and data have different lengths"));
        }
        let entries: Vec<_> = row.into_iter().zip(col).zip(data).map(|((i, j), v)| (i, j, v)).collect();
        CsrParts::from_triplets(rows, cols, &entries)
    } else {
        let (offsets, indices) = (whole(array("indptr")?)?, whole(array("indices")?)?);
        let make = if format == "csr" { CsrParts::from_csr } else { CsrParts::from_csc };
        make(rows, cols, &offsets, &indices, &data)
    };
    parts.map_err(|error| fault(path, error))
}

/// The word in the array `format`, which is no number: bytes, or characters of four bytes each.
fn format_of(path: &Path) -> Result<String, Failure> {
    let file = File::open(path).map_err(|error| fault(path, error))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| fault(path, error))?;
    let no_matrix = "no matrix of scipy.sparse.save_npz: the archive has no array `format`";
    let mut entry = archive.by_name("format.npy").map_err(|_| fault(path, no_matrix))?;
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(|error| fault(path, error))?;
    let content = &bytes[bytes.len().saturating_sub(12)..];
    let letters: String = content.iter().filter(|b| b.is_ascii_lowercase()).map(|&b| b as char).collect();
    Ok(letters[letters.len().saturating_sub(3)..].to_owned())
}

/// Writes an array of two dimensions, of one where there is one column.
pub(super) fn write_npy<T: Scalar>(path: &Path, rows: usize, cols: usize, values: &[T]) -> Result<(), Failure> {
    let by_rows = (0..rows).flat_map(|i| (0..cols).map(move |j| j * rows + i)).map(|e| values[e].widen());
    let shape = [rows, cols];
    let shape = if cols == 1 { &shape[..1] } else { &shape };
    match T::IS_COMPLEX {
        true => {
            let values: Vec<_> = by_rows.map(|v| Complex::new(v.re(), v.im())).collect();
            array::write_npy_complex(path, shape, &values)
        }
        false => array::write_npy(path, shape, &Values::F64(by_rows.map(|v| v.re()).collect())),
    }
}
