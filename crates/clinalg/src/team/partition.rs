//! Which rank owns which rows.

use std::ops::Range;

use crate::error::check_length;
use crate::{Error, Result};

/// Consecutive rows, of a vector, a matrix or a grid, for each rank; every rank has at least one.
///
/// ```
/// use clinalg::team::Partition;
///
/// let partition = Partition::even(10, 3)?;
/// assert_eq!(partition.range(1), 3..7);
/// assert_eq!(partition.owner(7), 2);
/// // A device that is three times as fast gets three times as many rows.
/// assert_eq!(Partition::weighted(8, &[3.0, 1.0])?.range(0), 0..6);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Rank `r` owns the rows `starts[r]..starts[r + 1]`.
    starts: Vec<usize>,
}

impl Partition {
    /// Rank `r` owns the rows `starts[r]..starts[r + 1]`.
    ///
    /// # Errors
    /// [`Error::Index`] unless `starts` begins with 0 and increases strictly; [`Error::Length`] for less than two values.
    pub fn from_starts(starts: Vec<usize>) -> Result<Partition> {
        if starts.len() < 2 {
            return Err(Error::Length { argument: "starts", expected: 2, got: starts.len() });
        }
        for (position, &start) in starts.iter().enumerate() {
            let expected = match position {
                0 if start == 0 => continue,
                0 => "0".into(),
                _ if start > starts[position - 1] => continue,
                _ => format!("more than {}", starts[position - 1]),
            };
            return Err(Error::Index { argument: "starts", position, index: start as u64, expected });
        }
        Ok(Partition { starts })
    }

    /// About as many rows for each rank.
    ///
    /// # Errors
    /// [`Error::Value`] for more ranks than rows, or no rank.
    pub fn even(rows: usize, ranks: usize) -> Result<Partition> {
        Partition::weighted(rows, &vec![1.0; ranks])
    }

    /// Rows in proportion to `weights`, one for each rank: the speed of its device, in any unit.
    ///
    /// # Errors
    /// [`Error::Value`] for more ranks than rows, no rank, or a weight that is not positive and finite.
    pub fn weighted(rows: usize, weights: &[f64]) -> Result<Partition> {
        Partition::by_work(rows, |row| row as f64, weights)
    }

    /// Rows with entries in proportion to `weights`, where row `i` has the entries `offsets[i]..offsets[i + 1]`. A row counts as
    /// much as two entries for the vectors of a product, beside its entries.
    ///
    /// # Errors
    /// As [`Partition::weighted`]; [`Error::Length`] for no offset.
    pub fn by_entries(offsets: &[usize], weights: &[f64]) -> Result<Partition> {
        check_length("offsets", offsets.len().max(1), offsets.len())?;
        let rows = offsets.len() - 1;
        Partition::by_work(rows, |row| (offsets[row] - offsets[0] + 2 * row) as f64, weights)
    }

    /// Rows in proportion to `weights` of the work, where the first `row` rows are `before(row)`, which does not decrease.
    fn by_work(rows: usize, before: impl Fn(usize) -> f64, weights: &[f64]) -> Result<Partition> {
        let ranks = weights.len();
        if ranks == 0 {
            return Err(Error::value("ranks", "at least one", 0));
        }
        if ranks > rows {
            return Err(Error::value("ranks", format!("at most {rows}, so that each has a row"), ranks));
        }
        if let Some(weight) = weights.iter().find(|&&weight| !(weight > 0.0 && weight.is_finite())) {
            return Err(Error::value("weights", "positive finite numbers", weight));
        }
        let (work, sum) = (before(rows), weights.iter().sum::<f64>());
        let mut starts = vec![0];
        let mut share = 0.0;
        for (rank, weight) in weights.iter().enumerate() {
            share += weight;
            let target = work * share / sum;
            // The row whose middle is nearest to the share.
            let mut bounds = (starts[rank], rows);
            while bounds.0 < bounds.1 {
                let row = usize::midpoint(bounds.0, bounds.1);
                if 0.5 * (before(row) + before(row + 1)) < target { bounds.0 = row + 1 } else { bounds.1 = row }
            }
            let left = ranks - rank - 1;
            let end = if left == 0 { rows } else { bounds.0.clamp(starts[rank] + 1, rows - left) };
            starts.push(end);
        }
        Ok(Partition { starts })
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts[self.ranks()]
    }

    /// The rows of `rank`.
    ///
    /// # Panics
    /// For a rank that does not exist.
    pub fn range(&self, rank: usize) -> Range<usize> {
        self.starts[rank]..self.starts[rank + 1]
    }

    /// The rank that owns `row`.
    ///
    /// # Panics
    /// For a row that does not exist.
    pub fn owner(&self, row: usize) -> usize {
        assert!(row < self.rows(), "row {row} of {}", self.rows());
        self.starts.partition_point(|&start| start <= row) - 1
    }

    /// The first row of each rank, and the number of rows.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }
}
