//! NumPy's arrays and SciPy's sparse matrices (`scipy.sparse.save_npz`).

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use clinalg::CsrParts;
use zip::ZipArchive;

use super::{Columns, Stored, fault};
use crate::data::Values;
use crate::data::array::{self, Array};
use crate::exit::Failure;

/// An array of one or two dimensions.
pub(super) fn read_npy(path: &Path) -> Result<Stored, Failure> {
    let Array { shape, values } = Array::read(path, "x")?;
    let (rows, cols) = match shape[..] {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        _ => {
            let words = format!("an array of {} dimensions, expected one or two", shape.len());
            return Err(fault(path, words));
        }
    };
    let by_columns = (0..cols).flat_map(|j| (0..rows).map(move |i| i * cols + j)).map(|e| values[e]).collect();
    Ok(Stored::Dense(Columns { rows, cols, values: by_columns }))
}

/// A sparse matrix as `scipy.sparse.save_npz` writes it, in the formats csr, csc and coo.
pub(super) fn read_npz(path: &Path) -> Result<Stored, Failure> {
    let format = format_of(path)?;
    if !["csr", "csc", "coo"].contains(&format.as_str()) {
        let advice = "expected csr, csc or coo: save it with scipy.sparse.save_npz(FILE, A.tocsr())";
        return Err(fault(path, format!("a matrix in the format {format}; {advice}")));
    }
    let array = |name: &str| Ok::<_, Failure>(Array::read_named(path, name)?.values);
    let data = array("data")?;
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
    Ok(Stored::Sparse(parts.map_err(|error| fault(path, error))?))
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
pub(super) fn write_npy(path: &Path, rows: usize, cols: usize, values: &[f64]) -> Result<(), Failure> {
    let by_rows = (0..rows).flat_map(|i| (0..cols).map(move |j| j * rows + i)).map(|e| values[e]).collect();
    let shape = [rows, cols];
    array::write_npy(path, if cols == 1 { &shape[..1] } else { &shape }, &Values::F64(by_rows))
}
