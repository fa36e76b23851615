//! NumPy's arrays and SciPy's sparse matrices (`scipy.sparse.save_npz`).

use std::io::Read;
use std::path::Path;

use clinalg::{Complex, CsrParts, Scalar};

use super::{Columns, Stored, check_size};
use crate::data::Values;
use crate::data::array::{self, Array, Either, Limits};
use crate::exit::Failure;

/// An array of one or two dimensions.
pub(super) fn read_npy(path: &Path) -> Result<Stored, Failure> {
    Ok(match array::read_either(path, None, Limits::NONE)? {
        Either::Complex((shape, values)) => Stored::ComplexDense(columns(path, &shape, values)?),
        Either::Real(Array { shape, values }) => Stored::Dense(columns(path, &shape, values)?),
    })
}

fn columns<T: Copy>(path: &Path, shape: &[usize], values: Vec<T>) -> Result<Columns<T>, Failure> {
    let (rows, cols) = match shape[..] {
        [rows] => (rows, 1),
        [rows, cols] => (rows, cols),
        _ => {
            let message = format!("an array of {} dimensions, expected one or two", shape.len());
            return Err(Failure::file(path, message));
        }
    };
    if rows == 1 || cols == 1 {
        return Ok(Columns { rows, cols, values });
    }
    let by_columns = (0..cols).flat_map(|j| (0..rows).map(move |i| i * cols + j)).map(|e| values[e]).collect();
    Ok(Columns { rows, cols, values: by_columns })
}

/// A sparse matrix as `scipy.sparse.save_npz` writes it.
pub(super) fn read_npz(path: &Path) -> Result<Stored, Failure> {
    let format = format_of(path)?;
    if !["csr", "csc", "coo", "bsr", "dia"].contains(&format.as_str()) {
        let advice = "expected csr, csc, coo, bsr or dia: save it with scipy.sparse.save_npz(FILE, A.tocsr())";
        return Err(Failure::file(path, format!("a matrix in the format {format}; {advice}")));
    }
    let made = |error: Fault| match error {
        Fault::File(failure) => failure,
        Fault::Content(reason) => Failure::file(path, reason),
    };
    let (shape, layout) = layout(path, &format).map_err(made)?;
    Ok(match array::read_either(path, Some("data"), layout.limits(path, shape))? {
        Either::Complex((of_data, data)) => Stored::ComplexSparse(layout.matrix(shape, &of_data, data).map_err(made)?),
        Either::Real(Array { shape: of_data, values }) => {
            Stored::Sparse(layout.matrix(shape, &of_data, values).map_err(made)?)
        }
    })
}

/// Why a matrix cannot be made.
enum Fault {
    /// An array cannot be read.
    File(Failure),
    /// The arrays describe no matrix.
    Content(String),
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Fault {
        Fault::File(failure)
    }
}

impl From<clinalg::Error> for Fault {
    fn from(error: clinalg::Error) -> Fault {
        Fault::Content(format!("the arrays describe no matrix: {error}"))
    }
}

impl From<String> for Fault {
    fn from(reason: String) -> Fault {
        Fault::Content(reason)
    }
}

/// A matrix of fewer positions may repeat so many entries.
const MANY_REPEATED: usize = 1 << 21;

/// Where the values of a matrix belong.
enum Layout {
    /// Row and column of each value.
    Triplets(Vec<usize>, Vec<usize>),
    /// Offsets of rows, and columns.
    Rows(Vec<usize>, Vec<usize>),
    /// Offsets of columns, and rows.
    Columns(Vec<usize>, Vec<usize>),
    /// Offsets of rows of blocks, and their columns.
    Blocks(Vec<usize>, Vec<usize>),
    /// Offsets of diagonals.
    Diagonals(Vec<f64>),
}

/// Bytes of a file.
fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |about| about.len())
}

/// The shape of the matrix in this format and where its values belong. An array is read once the ones before it say how long it may be.
fn layout(path: &Path, format: &str) -> Result<((usize, usize), Layout), Fault> {
    let whole = |name: &str, values: usize| -> Result<Vec<usize>, Fault> {
        let limits = Limits { values, compressed: Some(size(path)) };
        Ok(array::read_indices(path, name, limits)?)
    };
    let shape = whole("shape", 8)?;
    let &[rows, cols] = &shape[..] else {
        return Err(Fault::Content(format!("array shape has {} numbers, expected rows and columns", shape.len())));
    };
    let positions = rows.saturating_mul(cols).max(MANY_REPEATED);
    let offsets = |lines: usize| whole("indptr", lines.saturating_add(1));
    let indices = |offsets: &[usize]| whole("indices", offsets.last().map_or(0, |&entries| entries.min(positions)));
    let layout = match format {
        "coo" => Layout::Triplets(whole("row", positions)?, whole("col", positions)?),
        "csc" => {
            let offsets = offsets(cols)?;
            let rows = indices(&offsets)?;
            Layout::Columns(offsets, rows)
        }
        "dia" => {
            let limits = Limits { values: rows.saturating_add(cols), compressed: Some(size(path)) };
            Layout::Diagonals(Array::read_named(path, "offsets", limits)?.values)
        }
        _ => {
            let offsets = offsets(rows)?;
            let columns = indices(&offsets)?;
            if format == "bsr" { Layout::Blocks(offsets, columns) } else { Layout::Rows(offsets, columns) }
        }
    };
    Ok(((rows, cols), layout))
}

impl Layout {
    /// How many values there can be.
    fn limits(&self, path: &Path, (rows, cols): (usize, usize)) -> Limits {
        match self {
            Layout::Triplets(rows, _) => Limits { values: rows.len(), compressed: Some(size(path)) },
            Layout::Rows(_, indices) | Layout::Columns(_, indices) => {
                Limits { values: indices.len(), compressed: Some(size(path)) }
            }
            Layout::Blocks(..) => {
                Limits { values: rows.saturating_mul(cols).max(MANY_REPEATED), compressed: Some(size(path)) }
            }
            // Constant diagonals are compressed to next to nothing.
            Layout::Diagonals(offsets) => {
                Limits { values: offsets.len().saturating_mul(cols).max(MANY_REPEATED), compressed: None }
            }
        }
    }

    /// The matrix with these values, in an array of this shape.
    fn matrix<T: Scalar>(
        self,
        (rows, cols): (usize, usize),
        of_data: &[usize],
        data: Vec<T>,
    ) -> Result<CsrParts<T>, Fault> {
        check_size(rows, cols, data.len())?;
        Ok(match self {
            Layout::Triplets(row, col) => {
                if row.len() != data.len() || col.len() != data.len() {
                    let lengths = [row.len(), col.len(), data.len()].map(|len| len.to_string()).join(", ");
                    let reason = format!("row, col and data have the lengths {lengths}; they must agree");
                    return Err(Fault::Content(reason));
                }
                let entries: Vec<_> = row.into_iter().zip(col).zip(data).map(|((i, j), v)| (i, j, v)).collect();
                CsrParts::from_triplets(rows, cols, &entries)?
            }
            Layout::Columns(offsets, indices) => CsrParts::from_csc(rows, cols, &offsets, &indices, &data)?,
            Layout::Blocks(offsets, indices) => blocks((rows, cols), &offsets, &indices, of_data, &data)?,
            Layout::Diagonals(offsets) => diagonals((rows, cols), &offsets, of_data, &data)?,
            Layout::Rows(offsets, indices) => CsrParts { rows, cols, offsets, indices, values: data }.canonical()?,
        })
    }
}

/// A matrix from its dense blocks, row of blocks by row of blocks.
fn blocks<T: Scalar>(
    (rows, cols): (usize, usize),
    indptr: &[usize],
    indices: &[usize],
    of_data: &[usize],
    data: &[T],
) -> Result<CsrParts<T>, Fault> {
    let &[count, height, width] = of_data else {
        let message = format!("array data has {} dimensions, expected blocks, rows and columns", of_data.len());
        return Err(Fault::Content(message));
    };
    if height == 0 || width == 0 || rows % height != 0 || cols % width != 0 {
        let message = format!("blocks of {height} x {width} do not divide a matrix of {rows} x {cols}");
        return Err(Fault::Content(message));
    }
    let of_blocks = (rows / height, cols / width);
    let ones = vec![1f32; count];
    let pattern = CsrParts {
        rows: of_blocks.0,
        cols: of_blocks.1,
        offsets: indptr.to_vec(),
        indices: indices.to_vec(),
        values: ones,
    };
    pattern.check()?;
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::with_capacity(data.len()), Vec::with_capacity(data.len()));
    for block_row in indptr.windows(2) {
        for i in 0..height {
            for k in block_row[0]..block_row[1] {
                columns.extend((0..width).map(|j| indices[k] * width + j));
                values.extend_from_slice(&data[(k * height + i) * width..][..width]);
            }
            offsets.push(values.len());
        }
    }
    Ok(CsrParts { rows, cols, offsets, indices: columns, values }.canonical()?)
}

/// A matrix from its diagonals: the value j of the diagonal k is in column j, `offsets[k]` above the main diagonal. Zeros are left out.
fn diagonals<T: Scalar>(
    (rows, cols): (usize, usize),
    offsets: &[f64],
    of_data: &[usize],
    data: &[T],
) -> Result<CsrParts<T>, Fault> {
    let length = match *of_data {
        [count, length] if count == offsets.len() => length,
        _ => {
            let message = format!("array data has no row for each of the {} diagonals of array offsets", offsets.len());
            return Err(Fault::Content(message));
        }
    };
    let mut entries = Vec::new();
    for (&offset, diagonal) in offsets.iter().zip(data.chunks(length.max(1))) {
        let row = |j: usize| (j as i64).checked_sub(offset as i64).and_then(|i| usize::try_from(i).ok());
        let stored = diagonal.iter().take(cols).enumerate().filter(|(_, value)| **value != T::zero());
        entries.extend(stored.filter_map(|(j, &value)| Some((row(j).filter(|&i| i < rows)?, j, value))));
    }
    Ok(CsrParts::from_triplets(rows, cols, &entries)?)
}

/// The word in the array `format`, which is no number: bytes, or characters of four bytes each.
fn format_of(path: &Path) -> Result<String, Failure> {
    let mut archive = array::npz(path)?;
    let no_matrix = "no matrix of scipy.sparse.save_npz: the archive has no array `format`";
    let mut entry = archive.by_name("format.npy").map_err(|_| Failure::file(path, no_matrix))?;
    let mut bytes = Vec::new();
    // A header and a word.
    entry.by_ref().take(1 << 12).read_to_end(&mut bytes).map_err(|error| Failure::file(path, error))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// [1 2 0 0; 3 4 0 0; 5 6 7 8; 0 9 1 2] in blocks of 2 x 2.
    #[test]
    fn blocks_and_diagonals_become_rows() {
        let data: Vec<f64> =
            [[1, 2], [3, 4], [5, 6], [0, 9], [7, 8], [1, 2]].concat().into_iter().map(f64::from).collect();
        let made = |shape, indptr: &[usize], indices: &[usize], of_data: &[usize]| {
            blocks(shape, indptr, indices, of_data, &data).map_err(|error| match error {
                Fault::Content(reason) => reason,
                Fault::File(failure) => failure.message(),
            })
        };
        let a = made((4, 4), &[0, 1, 3], &[0, 0, 1], &[3, 2, 2]).unwrap();
        let rows = [[1.0, 2.0, 0.0, 0.0], [3.0, 4.0, 0.0, 0.0], [5.0, 6.0, 7.0, 8.0], [0.0, 9.0, 1.0, 2.0]];
        let dense: Vec<f64> = (0..16).map(|k| rows[k % 4][k / 4]).collect();
        assert_eq!((a.to_dense().unwrap(), a.nnz()), (dense, 12));
        for (shape, indptr, indices, of_data, needle) in [
            ((5, 4), &[0, 1, 3][..], &[0, 0, 1][..], &[3, 2, 2][..], "do not divide"),
            ((4, 4), &[0, 1, 3], &[0, 0, 2], &[3, 2, 2], "`indices`"),
            ((4, 4), &[0, 3], &[0, 0, 1], &[3, 2, 2], "`offsets`"),
            ((4, 4), &[0, 1, 3], &[0, 0, 1], &[12], "1 dimensions"),
        ] {
            let reason = made(shape, indptr, indices, of_data).unwrap_err();
            assert!(reason.contains(needle), "{reason}");
        }
        // The first value of the upper diagonal and the last one of the lower are outside of the matrix.
        let data = [9.0, 1.0, 2.0, 3.0, 4.0, 0.0, 5.0, 6.0, 9.0];
        let Ok(a) = diagonals((3, 3), &[1.0, 0.0, -1.0], &[3, 3], &data) else { panic!() };
        let want = [(0, 0, 3.0), (0, 1, 1.0), (1, 0, 5.0), (1, 1, 4.0), (1, 2, 2.0), (2, 1, 6.0)];
        assert_eq!(a.triplets().collect::<Vec<_>>(), want);
        assert!(diagonals((3, 3), &[0.0], &[3, 3], &data).is_err());
    }
}
