//! Which rows of a saddle-point matrix belong to which block.

use crate::{CsrParts, Error, Result, Scalar};

/// The rows of the two blocks of [`Saddle`](super::Saddle): velocities and pressures, unknowns and Lagrange multipliers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Split {
    /// The first block is this many rows at the beginning; the others are the second block.
    First(usize),
    /// These rows, counted from 0 and ascending, are the second block.
    Second(Vec<usize>),
}

impl Split {
    /// The second block from the rows whose diagonal entry is zero, not stored or negative; `None` where no row or every row is such a row, or where
    /// an entry of the block that they form is larger in modulus than the diagonal of its row allows for a negative semidefinite one (Gershgorin).
    pub fn find<T: Scalar>(a: &CsrParts<T>) -> Option<Split> {
        if a.rows != a.cols {
            return None;
        }
        let is_second: Vec<bool> = a.diagonal().iter().map(|d| d.widen().re() <= 0.0).collect();
        let second: Vec<usize> = (0..a.rows).filter(|&i| is_second[i]).collect();
        if second.is_empty() || second.len() == a.rows {
            return None;
        }
        let semidefinite = |&i: &usize| {
            let own = |(j, value): (usize, T)| match j == i {
                true => value.widen().re(),
                false if is_second[j] => value.widen().modulus(),
                false => 0.0,
            };
            a.row(i).map(own).sum::<f64>() <= 0.0
        };
        if !second.iter().all(semidefinite) {
            return None;
        }
        let first = a.rows - second.len();
        Some(if second[0] == first { Split::First(first) } else { Split::Second(second) })
    }

    /// The rows of both blocks of a matrix of `n` rows.
    ///
    /// # Errors
    /// [`Error::Value`] that names `split` unless both blocks have a row and the rows named are ascending and below `n`.
    pub fn rows(&self, n: usize) -> Result<[Vec<usize>; 2]> {
        let fault = |expected: &str, got: String| Err(Error::value("split", expected, got));
        match self {
            Split::First(first) if (1..n).contains(first) => Ok([(0..*first).collect(), (*first..n).collect()]),
            Split::First(first) => {
                fault("fewer rows in the first block than the matrix has, at least 1", format!("{first} of {n}"))
            }
            Split::Second(rows) if rows.is_empty() || rows.len() >= n => {
                fault("a row in each block", format!("{} of {n} in the second", rows.len()))
            }
            Split::Second(rows) => {
                let rising = rows.windows(2).all(|pair| pair[0] < pair[1]);
                match rows.iter().find(|&&row| row >= n) {
                    Some(row) => fault("rows of the matrix", format!("{} of {n}, counted from 1", row + 1)),
                    None if !rising => fault("rows in ascending order, each once", "others".into()),
                    None => {
                        let first = (0..n).filter(|row| rows.binary_search(row).is_err()).collect();
                        Ok([first, rows.clone()])
                    }
                }
            }
        }
    }
}
