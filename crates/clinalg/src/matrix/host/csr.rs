//! Sparse matrices in compressed row storage, on the host.

use std::ops::Range;

use super::{filled, zeros};
use crate::error::check_length;
use crate::runtime::host::all_in_parts;
use crate::{Error, Result, Scalar};

/// Fewer rows, or fewer indices, are not worth a thread.
const ROWS_PER_THREAD: usize = 1 << 16;
const INDICES_PER_THREAD: usize = 1 << 19;

/// A sparse matrix of `rows` by `cols` in compressed row storage: row `i` holds `values[offsets[i]..offsets[i + 1]]` in
/// the columns of the same range of `indices` (0-based).
///
/// *Canonical* means that the columns of each row increase strictly: sorted, and no entry twice. Stored zeros are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct CsrParts<T> {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Where each row starts, and at the end the number of entries: `rows + 1` values.
    pub offsets: Vec<usize>,
    /// The column of each entry.
    pub indices: Vec<usize>,
    /// The value of each entry.
    pub values: Vec<T>,
}

impl<T: Scalar> CsrParts<T> {
    /// From the three arrays of compressed row storage, made canonical: rows sorted by column, duplicates summed.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn from_csr(rows: usize, cols: usize, offsets: &[usize], indices: &[usize], values: &[T]) -> Result<Self> {
        check(rows, cols, offsets, indices, values)?;
        let mut out =
            CsrParts { rows, cols, offsets: offsets.to_vec(), indices: indices.to_vec(), values: values.to_vec() };
        out.canonicalise();
        Ok(out)
    }

    /// The same matrix, made canonical: rows sorted by column, duplicates summed. Copies nothing.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn canonical(mut self) -> Result<Self> {
        self.check()?;
        self.canonicalise();
        Ok(self)
    }

    /// From compressed column storage (MATLAB's `sparse`, `cols + 1` offsets, row indices), made canonical.
    ///
    /// # Errors
    /// As [`check`](Self::check), with rows and columns exchanged.
    pub fn from_csc(rows: usize, cols: usize, offsets: &[usize], indices: &[usize], values: &[T]) -> Result<Self> {
        check(cols, rows, offsets, indices, values)?;
        let mut out = transposed(cols, rows, offsets, indices, values)?;
        out.canonicalise();
        Ok(out)
    }

    /// From `(row, column, value)` in any order (0-based), made canonical; duplicates are summed in the order given.
    ///
    /// # Errors
    /// [`Error::Index`] with the triplet's position when a row or column lies outside the shape, [`Error::Value`] when
    /// the row offsets do not fit memory.
    pub fn from_triplets(rows: usize, cols: usize, triplets: &[(usize, usize, T)]) -> Result<Self> {
        CsrParts::from_converted(rows, cols, triplets, Ok)
    }

    /// [`from_triplets`](Self::from_triplets) with values that `convert` makes; its errors end it.
    pub(crate) fn from_converted<W: Copy>(
        rows: usize,
        cols: usize,
        triplets: &[(usize, usize, W)],
        convert: impl Fn(W) -> Result<T>,
    ) -> Result<Self> {
        let mut offsets = filled("rows", rows.checked_add(1), 0usize)?;
        for (position, &(i, j, _)) in triplets.iter().enumerate() {
            let (index, what, bound) = if i >= rows { (i, "row", rows) } else { (j, "column", cols) };
            if index >= bound {
                let expected = format!("a {what} below {bound}");
                return Err(Error::Index { argument: "triplets", position, index: index as u64, expected });
            }
            offsets[i + 1] += 1;
        }
        accumulate(&mut offsets);
        let mut next = filled("rows", Some(rows), 0)?;
        next.copy_from_slice(&offsets[..rows]);
        let mut indices = filled("triplets", Some(triplets.len()), 0)?;
        let mut values = zeros("triplets", Some(triplets.len()))?;
        for &(i, j, value) in triplets {
            indices[next[i]] = j;
            values[next[i]] = convert(value)?;
            next[i] += 1;
        }
        let mut out = CsrParts { rows, cols, offsets, indices, values };
        out.canonicalise();
        Ok(out)
    }

    /// The nonzeros of a dense matrix held column by column; NaN counts as nonzero.
    ///
    /// # Errors
    /// [`Error::Length`] unless `a` has `rows * cols` values.
    pub fn from_dense(rows: usize, cols: usize, a: &[T]) -> Result<Self> {
        check_dense(rows, cols, a)?;
        let mut out = CsrParts {
            rows,
            cols,
            offsets: filled("rows", rows.checked_add(1), 0usize)?,
            indices: Vec::new(),
            values: Vec::new(),
        };
        for i in 0..rows {
            for j in 0..cols {
                let value = a[j * rows + i];
                if value != T::zero() {
                    out.indices.push(j);
                    out.values.push(value);
                }
            }
            out.offsets[i + 1] = out.values.len();
        }
        Ok(out)
    }

    /// The identity of order `n`.
    ///
    /// # Errors
    /// [`Error::Value`] when it does not fit memory.
    pub fn identity(n: usize) -> Result<Self> {
        let values = filled("n", Some(n), T::one())?;
        Ok(CsrParts { rows: n, cols: n, offsets: (0..=n).collect(), indices: (0..n).collect(), values })
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Checks that the arrays describe a matrix; rows need not be canonical.
    ///
    /// # Errors
    /// [`Error::Length`] when `offsets` is not `rows + 1` long or `values` not as long as `indices`; [`Error::Index`]
    /// naming the array and the position when the offsets do not start at 0, decrease, or do not end at the number of
    /// entries, or when a column is not below `cols`.
    pub fn check(&self) -> Result<()> {
        check(self.rows, self.cols, &self.offsets, &self.indices, &self.values)
    }

    /// Whether the columns of each row increase strictly.
    pub fn is_canonical(&self) -> bool {
        let increases = |w: &[usize]| self.indices[w[0]..w[1]].windows(2).all(|pair| pair[0] < pair[1]);
        all_in_parts(self.rows, ROWS_PER_THREAD, |rows| self.offsets[rows.start..=rows.end].windows(2).all(increases))
    }

    /// Sorts each row by column and sums duplicates, in the order in which they stand.
    pub fn canonicalise(&mut self) {
        if self.is_canonical() {
            return;
        }
        let mut row = Vec::new();
        let mut kept = 0;
        let mut start = 0;
        for i in 0..self.rows {
            let end = self.offsets[i + 1];
            row.clear();
            row.extend((start..end).map(|k| (self.indices[k], self.values[k])));
            row.sort_by_key(|&(j, _)| j);
            start = end;
            let first = kept;
            for &(j, value) in &row {
                if kept > first && self.indices[kept - 1] == j {
                    self.values[kept - 1] += value;
                } else {
                    self.indices[kept] = j;
                    self.values[kept] = value;
                    kept += 1;
                }
            }
            self.offsets[i + 1] = kept;
        }
        self.indices.truncate(kept);
        self.values.truncate(kept);
    }

    /// The transpose, `cols` by `rows`. Its rows are sorted whatever the order here.
    ///
    /// # Errors
    /// [`Error::Value`] when the offsets of the transpose do not fit memory.
    pub fn transpose(&self) -> Result<Self> {
        transposed(self.rows, self.cols, &self.offsets, &self.indices, &self.values)
    }

    /// Some of the rows, as a matrix of so many rows.
    ///
    /// # Errors
    /// [`Error::Value`] for rows that the matrix does not have.
    pub fn part_of_rows(&self, rows: Range<usize>) -> Result<Self> {
        check_rows(&rows, self.rows)?;
        let offsets = &self.offsets[rows.start..=rows.end];
        let entries = offsets[0]..offsets[rows.len()];
        Ok(CsrParts {
            rows: rows.len(),
            cols: self.cols,
            offsets: offsets.iter().map(|offset| offset - entries.start).collect(),
            indices: self.indices[entries.clone()].to_vec(),
            values: self.values[entries].to_vec(),
        })
    }

    /// The main diagonal, of length `min(rows, cols)`; zero where nothing is stored, duplicates summed.
    pub fn diagonal(&self) -> Vec<T> {
        (0..self.rows.min(self.cols))
            .map(|i| self.row(i).filter(|&(j, _)| j == i).fold(T::zero(), |sum, (_, a)| sum + a))
            .collect()
    }

    /// The matrix column by column; duplicates are summed.
    ///
    /// # Errors
    /// [`Error::Value`] when it does not fit memory.
    pub fn to_dense(&self) -> Result<Vec<T>> {
        let mut out = zeros("matrix", self.rows.checked_mul(self.cols))?;
        self.triplets().for_each(|(i, j, a)| out[j * self.rows + i] += a);
        Ok(out)
    }

    /// The entries as `(row, column, value)`, row by row.
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, T)> + '_ {
        (0..self.rows).flat_map(move |i| self.row(i).map(move |(j, a)| (i, j, a)))
    }

    /// The entries of row `i` as `(column, value)`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        (self.offsets[i]..self.offsets[i + 1]).map(|k| (self.indices[k], self.values[k]))
    }
}

fn check<T>(rows: usize, cols: usize, offsets: &[usize], indices: &[usize], values: &[T]) -> Result<()> {
    check_offsets(rows, offsets, indices.len(), values.len())?;
    if all_in_parts(indices.len(), INDICES_PER_THREAD, |part| indices[part].iter().all(|&j| j < cols)) {
        return Ok(());
    }
    let k = indices.iter().position(|&j| j >= cols).expect("one is too large");
    Err(wrong("indices", k, indices[k], format!("an index below {cols}")))
}

/// An error unless the offsets are those of `rows` compressed rows with this many indices and values.
pub(crate) fn check_offsets(rows: usize, offsets: &[usize], indices: usize, values: usize) -> Result<()> {
    check_length("offsets", rows.saturating_add(1), offsets.len())?;
    check_length("values", indices, values)?;
    if offsets[0] != 0 {
        return Err(wrong("offsets", 0, offsets[0], "0".into()));
    }
    if let Some(i) = (1..=rows).find(|&i| offsets[i] < offsets[i - 1]) {
        let expected = format!("at least {}, the entry before it", offsets[i - 1]);
        return Err(wrong("offsets", i, offsets[i], expected));
    }
    if offsets[rows] != indices {
        return Err(wrong("offsets", rows, offsets[rows], format!("{indices}, the number of entries")));
    }
    Ok(())
}

/// An error unless a matrix of so many rows has the rows of a range.
pub(crate) fn check_rows(rows: &Range<usize>, count: usize) -> Result<()> {
    if rows.start <= rows.end && rows.end <= count {
        return Ok(());
    }
    Err(Error::value("rows", format!("rows within 0..{count}"), format!("{}..{}", rows.start, rows.end)))
}

fn wrong(argument: &'static str, position: usize, index: usize, expected: String) -> Error {
    Error::Index { argument, position, index: index as u64, expected }
}

pub(super) fn check_dense<T>(rows: usize, cols: usize, a: &[T]) -> Result<()> {
    match rows.checked_mul(cols) {
        Some(len) => check_length("matrix", len, a.len()),
        None => Err(Error::value("rows", "a shape whose number of values can be counted", format!("{rows} x {cols}"))),
    }
}

/// Counts per row become the offset at which each row starts.
fn accumulate(offsets: &mut [usize]) {
    let mut total = 0;
    for offset in offsets {
        total += *offset;
        *offset = total;
    }
}

fn transposed<T: Scalar>(
    rows: usize,
    cols: usize,
    offsets: &[usize],
    indices: &[usize],
    values: &[T],
) -> Result<CsrParts<T>> {
    let mut out = CsrParts {
        rows: cols,
        cols: rows,
        offsets: filled("cols", cols.checked_add(1), 0usize)?,
        indices: filled("indices", Some(indices.len()), 0)?,
        values: zeros("values", Some(values.len()))?,
    };
    indices.iter().for_each(|&j| out.offsets[j + 1] += 1);
    accumulate(&mut out.offsets);
    let mut next = filled("cols", Some(cols), 0)?;
    next.copy_from_slice(&out.offsets[..cols]);
    for i in 0..rows {
        for k in offsets[i]..offsets[i + 1] {
            let at = next[indices[k]];
            next[indices[k]] += 1;
            out.indices[at] = i;
            out.values[at] = values[k];
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// [1 0 2; 0 3 0]
    fn small() -> CsrParts<f64> {
        CsrParts::from_csr(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0]).unwrap()
    }

    #[test]
    fn transpose_diagonal_dense_by_hand() {
        let a = small();
        let t = a.transpose().unwrap();
        assert_eq!((t.rows, t.cols), (3, 2));
        assert_eq!(
            (&t.offsets[..], &t.indices[..], &t.values[..]),
            (&[0, 1, 2, 3][..], &[0, 1, 0][..], &[1., 3., 2.][..])
        );
        assert_eq!(a.diagonal(), [1.0, 3.0]);
        assert_eq!(a.to_dense().unwrap(), [1.0, 0.0, 0.0, 3.0, 2.0, 0.0]);
        assert_eq!(CsrParts::from_dense(2, 3, &a.to_dense().unwrap()).unwrap(), a);
        assert_eq!(CsrParts::<f32>::identity(2).unwrap().to_dense().unwrap(), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn matlab_storage_is_read_by_columns() {
        // [1 0 2; 0 3 0] as MATLAB keeps it.
        let a = CsrParts::from_csc(2, 3, &[0, 1, 2, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]).unwrap();
        assert_eq!(a, small());
    }

    #[test]
    fn canonical_form_sorts_and_sums() {
        let a = CsrParts::from_csr(3, 3, &[0, 4, 4, 6], &[2, 0, 2, 0], &[1.0; 4]);
        assert_eq!(a.unwrap_err().id(), "clinalg:argument:index");
        let a = CsrParts::from_csr(3, 3, &[0, 4, 4, 6], &[2, 0, 2, 0, 1, 1], &[1.0, 2.0, 4.0, 8.0, 0.5, -0.5]).unwrap();
        assert_eq!(a.offsets, [0, 2, 2, 3]);
        assert_eq!(a.indices, [0, 2, 1]);
        assert_eq!(a.values, [10.0, 5.0, 0.0]);
    }

    #[test]
    fn empty_matrices() {
        for (rows, cols) in [(0, 0), (0, 4), (4, 0), (3, 2)] {
            let a = CsrParts::<f64>::from_triplets(rows, cols, &[]).unwrap();
            a.check().unwrap();
            assert_eq!(a.transpose().unwrap().rows, cols);
            assert_eq!(a.diagonal(), vec![0.0; rows.min(cols)]);
        }
    }

    #[test]
    fn faults_name_array_position_and_expectation() {
        let text = |r: Result<CsrParts<f64>>| r.unwrap_err().to_string();
        let v = [1.0; 2];
        assert_eq!(text(CsrParts::from_csr(2, 2, &[0, 2], &[0, 1], &v)), "argument `offsets` has length 2, expected 3");
        assert_eq!(
            text(CsrParts::from_csr(1, 2, &[0, 2], &[0, 1], &[1.0])),
            "argument `values` has length 1, expected 2"
        );
        assert_eq!(
            text(CsrParts::from_csr(2, 2, &[1, 1, 2], &[0, 1], &v)),
            "argument `offsets`: entry 0 is 1, expected 0"
        );
        assert_eq!(
            text(CsrParts::from_csr(2, 2, &[0, 3, 2], &[0, 1], &v)),
            "argument `offsets`: entry 2 is 2, expected at least 3, the entry before it"
        );
        assert_eq!(
            text(CsrParts::from_csr(2, 2, &[0, 1, 3], &[0, 1], &v)),
            "argument `offsets`: entry 2 is 3, expected 2, the number of entries"
        );
        assert_eq!(
            text(CsrParts::from_csr(2, 2, &[0, 1, 2], &[0, 2], &v)),
            "argument `indices`: entry 1 is 2, expected an index below 2"
        );
        assert_eq!(
            text(CsrParts::from_csc(2, 3, &[0, 1, 2, 2], &[0, 2], &v)),
            "argument `indices`: entry 1 is 2, expected an index below 2"
        );
        assert_eq!(
            text(CsrParts::from_triplets(2, 3, &[(0, 2, 1.0), (2, 0, 1.0)])),
            "argument `triplets`: entry 1 is 2, expected a row below 2"
        );
        assert_eq!(
            text(CsrParts::from_triplets(2, 3, &[(0, 3, 1.0)])),
            "argument `triplets`: entry 0 is 3, expected a column below 3"
        );
        assert_eq!(text(CsrParts::from_dense(2, 3, &[1.0; 5])), "argument `matrix` has length 5, expected 6");
    }

    #[test]
    fn absurd_sizes_are_errors() {
        assert_eq!(CsrParts::<f64>::from_triplets(usize::MAX, 1, &[]).unwrap_err().id(), "clinalg:argument:value");
        assert_eq!(CsrParts::<f64>::from_triplets(usize::MAX / 2, 1, &[]).unwrap_err().id(), "clinalg:argument:value");
        assert_eq!(
            CsrParts::<f64>::from_csr(usize::MAX, 1, &[0], &[], &[]).unwrap_err().id(),
            "clinalg:argument:length"
        );
        let wide = CsrParts::<f64>::from_triplets(1 << 10, usize::MAX, &[]).unwrap();
        assert_eq!(wide.to_dense().unwrap_err().id(), "clinalg:argument:value");
        assert_eq!(wide.transpose().unwrap_err().id(), "clinalg:argument:value");
    }

    /// Small integers, so that every order of summation is exact.
    fn triplets() -> impl Strategy<Value = (usize, usize, Vec<(usize, usize, f64)>)> {
        (1usize..9, 1usize..9).prop_flat_map(|(rows, cols)| {
            let entry = (0..rows, 0..cols, (-9i32..10).prop_map(f64::from));
            (Just(rows), Just(cols), prop::collection::vec(entry, 0..60))
        })
    }

    fn dense_of(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Vec<f64> {
        let mut a = vec![0.0; rows * cols];
        triplets.iter().for_each(|&(i, j, v)| a[j * rows + i] += v);
        a
    }

    proptest! {
        #[test]
        fn every_form_is_the_same_matrix((rows, cols, entries) in triplets()) {
            let a = CsrParts::from_triplets(rows, cols, &entries).unwrap();
            a.check().unwrap();
            prop_assert!(a.is_canonical());
            prop_assert_eq!(a.to_dense().unwrap(), dense_of(rows, cols, &entries));
            let t = a.transpose().unwrap();
            t.check().unwrap();
            prop_assert!(t.is_canonical());
            prop_assert_eq!(&t.transpose().unwrap(), &a);
            prop_assert_eq!(&CsrParts::from_csc(rows, cols, &t.offsets, &t.indices, &t.values).unwrap(), &a);
            let again: Vec<_> = a.triplets().collect();
            prop_assert_eq!(&CsrParts::from_triplets(rows, cols, &again).unwrap(), &a);
            let nonzero: Vec<_> = again.into_iter().filter(|e| e.2 != 0.0).collect();
            let from_dense = CsrParts::from_dense(rows, cols, &a.to_dense().unwrap()).unwrap();
            prop_assert_eq!(from_dense, CsrParts::from_triplets(rows, cols, &nonzero).unwrap());
        }

        #[test]
        fn any_order_gives_one_canonical_form((rows, cols, mut entries) in triplets(), shift in 0usize..60) {
            let a = CsrParts::from_triplets(rows, cols, &entries).unwrap();
            if !entries.is_empty() {
                let shift = shift % entries.len();
                entries.rotate_left(shift);
            }
            prop_assert_eq!(CsrParts::from_triplets(rows, cols, &entries).unwrap(), a);
        }

        #[test]
        fn arbitrary_arrays_never_panic(
            rows in 0usize..5, cols in 0usize..5,
            offsets in prop::collection::vec(0usize..6, 0..7),
            indices in prop::collection::vec(0usize..6, 0..6),
        ) {
            let values = vec![1.0f32; indices.len()];
            for made in [CsrParts::from_csr(rows, cols, &offsets, &indices, &values),
                         CsrParts::from_csc(rows, cols, &offsets, &indices, &values)].into_iter().flatten() {
                made.check().unwrap();
                prop_assert!(made.is_canonical());
            }
        }
    }

    #[test]
    fn rows_outside_a_matrix_are_errors() {
        #[allow(clippy::reversed_empty_ranges)]
        let outside = [0..5, 5..5, 3..2, 0..usize::MAX];
        assert!(outside.iter().all(|rows| check_rows(rows, 4).is_err()));
        assert!([0..0, 4..4, 0..4].iter().all(|rows| check_rows(rows, 4).is_ok()));
    }
}
