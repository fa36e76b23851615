//! Sparse matrices from triplets, new values in the triplets' order, and rows of a matrix on the host.

use std::ops::Range;

use super::host::{CsrParts, check_rows};
use super::{Csr, Values, index32};
use crate::error::check_length;
use crate::runtime::host;
use crate::{Context, Error, Result, Scalar};

/// The entry of the matrix that each of the triplets of which it was made belongs to.
fn entry_of_triplet<T: Scalar>(parts: &CsrParts<T>, triplets: &[(usize, usize, T)]) -> Result<Vec<u32>> {
    let mut entries = host::reserved(triplets.len())?;
    entries.extend(triplets.iter().map(|&(i, j, _)| {
        let row = &parts.indices[parts.offsets[i]..parts.offsets[i + 1]];
        (parts.offsets[i] + row.partition_point(|&column| column < j)) as u32
    }));
    Ok(entries)
}

impl<T: Scalar> Csr<T> {
    /// A matrix from `(row, column, value)` entries in any order; duplicates are summed. The matrix remembers the order,
    /// in four bytes of host memory per triplet, for [`write_triplets`](Csr::write_triplets).
    ///
    /// # Errors
    /// As [`Csr::from_csr`].
    pub fn from_triplets(
        context: &Context,
        rows: usize,
        cols: usize,
        triplets: &[(usize, usize, T)],
    ) -> Result<Csr<T>> {
        // Checked before the host form allocates memory for its offsets.
        index32("rows", rows)?;
        index32("cols", cols)?;
        let parts = CsrParts::from_triplets(rows, cols, triplets)?;
        let mut a = Csr::from_parts(context, &parts)?;
        a.entry_of_triplet = Some(entry_of_triplet(&parts, triplets)?.into());
        Ok(a)
    }

    /// Replaces the values and keeps the positions: a value for each triplet of [`from_triplets`](Csr::from_triplets), in
    /// their order. Those of one position are summed in that order, so that the values of the triplets give the same bits
    /// as at upload. Copies of the matrix take them as well; a matrix that was made otherwise, or whose zeros were
    /// removed, does not.
    ///
    /// # Errors
    /// [`Error::Value`] where the order of triplets is not known; [`Error::Length`] for another number of values than
    /// triplets; [`Error::Allocation`]. The matrix is then unchanged.
    ///
    /// ```
    /// use clinalg::{Context, Csr};
    ///
    /// let mut a = Csr::from_triplets(&Context::global()?, 2, 2, &[(1, 1, 1.0), (0, 0, 2.0), (1, 1, 3.0)])?;
    /// a.write_triplets(&[10.0, 20.0, 30.0])?;
    /// assert_eq!(a.to_parts()?.values, [20.0, 40.0]);
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    pub fn write_triplets(&mut self, values: &[T]) -> Result<()> {
        let Some(entry_of_triplet) = self.entry_of_triplet.clone() else {
            let expected = "a matrix made from triplets, or a copy of one; for others, replace the values row by row";
            return Err(Error::value("a", expected, "a matrix whose order of triplets is not known"));
        };
        check_length("values", entry_of_triplet.len(), values.len())?;
        // Unlike 0, -0 changes no number that is added to it, not even -0.
        let mut sums = host::filled(self.nnz(), -T::zero())?;
        for (&entry, &value) in entry_of_triplet.iter().zip(values) {
            sums[entry as usize] += value;
        }
        self.values_mut().write_range(0, &sums)
    }

    /// The matrix in its host form, exactly as stored.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn to_parts(&self) -> Result<CsrParts<T>> {
        self.rows_to_parts(0..self.rows())
    }

    /// Some rows in their host form, exactly as stored, as a matrix of so many rows; nothing else is transferred.
    ///
    /// # Errors
    /// [`Error::Value`] for rows that the matrix does not have; those of the transfer.
    pub fn rows_to_parts(&self, rows: Range<usize>) -> Result<CsrParts<T>> {
        check_rows(&rows, self.rows())?;
        let structure = &**self.structure();
        let mut narrow = host::filled(rows.len() + 1, 0u32)?;
        structure.offset.read_range(rows.start, &mut narrow)?;
        let (first, count) = (narrow[0] as usize, (narrow[rows.len()] - narrow[0]) as usize);
        let mut offsets = host::reserved(narrow.len())?;
        offsets.extend(narrow.into_iter().map(|offset| offset as usize - first));
        let mut narrow = host::filled(count, 0u32)?;
        structure.column.read_range(first, &mut narrow)?;
        let mut indices = host::reserved(count)?;
        indices.extend(narrow.into_iter().map(|column| column as usize));
        let mut values = host::filled(count, T::zero())?;
        self.values().read_range(first, &mut values)?;
        Ok(CsrParts { rows: rows.len(), cols: self.cols(), offsets, indices, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_of_one_position_belong_to_one_entry() {
        let triplets = [(2, 0, 1.0), (0, 2, 2.0), (2, 0, 3.0), (0, 1, 4.0), (2, 2, 5.0)];
        let parts = CsrParts::from_triplets(3, 3, &triplets).unwrap();
        assert_eq!(entry_of_triplet(&parts, &triplets).unwrap(), [2, 1, 2, 0, 3]);
    }
}
