//! Other numberings of the unknowns of a square matrix.

use super::{CsrParts, check_square};
use crate::error::check_length;
use crate::{Context, Error, Result, Scalar, Vector};

/// Another numbering of the rows and columns of a square matrix: applied at upload, undone at download.
///
/// A system A x = b becomes P A P' (P x) = P b. Products gather values of x that are close to each other where the bandwidth is small, and
/// incomplete factors are better.
///
/// ```
/// use clinalg::solve::{Cg, CgParams, Solver};
/// use clinalg::{Context, Csr, CsrParts, Reordering};
///
/// let context = Context::global()?;
/// // A chain 0 - 2 - 1.
/// let entries = [(0, 0, 2.0), (1, 1, 2.0), (2, 2, 2.0), (0, 2, -1.0), (2, 0, -1.0), (2, 1, -1.0), (1, 2, -1.0)];
/// let parts = CsrParts::from_triplets(3, 3, &entries)?;
/// let order = Reordering::cuthill_mckee(&parts)?;
/// let a = Csr::from_parts(&context, &order.matrix(&parts)?)?;
/// let b = order.upload(&context, &[1.0, 1.0, 0.0])?;
/// let mut x = order.upload(&context, &[0.0; 3])?;
/// Cg::new(&context, 3, CgParams::default())?.solve(&a, None, &b, &mut x)?;
/// let x = order.download(&x)?;
/// assert!(x.iter().all(|x: &f64| (x - 1.0).abs() < 1e-12));
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reordering {
    /// For each k, the row that becomes the k-th.
    order: Vec<usize>,
    /// The new position of each row.
    place: Vec<usize>,
}

/// The inverse of a permutation.
pub(crate) fn inverse_of(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, &i)| inverse[i] = k);
    inverse
}

impl Reordering {
    /// Row `order[k]` becomes the k-th.
    ///
    /// # Errors
    /// [`Error::Index`] unless `order` has each row once.
    pub fn from_order(order: Vec<usize>) -> Result<Reordering> {
        let mut seen = vec![false; order.len()];
        for (position, &row) in order.iter().enumerate() {
            if seen.get(row).copied() != Some(false) {
                let expected = format!("each of the rows below {} once", order.len());
                return Err(Error::Index { argument: "order", position, index: row as u64, expected });
            }
            seen[row] = true;
        }
        Ok(Reordering { place: inverse_of(&order), order })
    }

    /// Reverse Cuthill-McKee (Cuthill and McKee 1969; George 1971): a small bandwidth. Entries couple unknowns in both directions.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square; those of [`CsrParts::check`].
    pub fn cuthill_mckee<T: Scalar>(a: &CsrParts<T>) -> Result<Reordering> {
        check_square(a)?;
        let order = cuthill_mckee(a)?;
        Ok(Reordering { place: inverse_of(&order), order })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The row that becomes the k-th, for each k.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// `a` in this numbering, columns sorted.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square; [`Error::Length`] unless it has as many rows; those of [`CsrParts::check`].
    pub fn matrix<T: Scalar>(&self, a: &CsrParts<T>) -> Result<CsrParts<T>> {
        check_square(a)?;
        check_length("a", self.len(), a.rows)?;
        permuted(a, &self.order, &self.place, false)
    }

    /// `values`, one for each row, in this numbering.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn apply<T: Copy>(&self, values: &[T]) -> Result<Vec<T>> {
        check_length("values", self.len(), values.len())?;
        Ok(self.order.iter().map(|&i| values[i]).collect())
    }

    /// Values in this numbering, returned in that of the matrix it was made for.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn undo<T: Copy>(&self, values: &[T]) -> Result<Vec<T>> {
        check_length("values", self.len(), values.len())?;
        Ok(self.place.iter().map(|&k| values[k]).collect())
    }

    /// A vector of `values` in this numbering.
    ///
    /// # Errors
    /// [`Error::Length`]; those of [`Vector::from_slice`].
    pub fn upload<T: Scalar>(&self, context: &Context, values: &[T]) -> Result<Vector<T>> {
        Vector::from_slice(context, &self.apply(values)?)
    }

    /// The values of a vector in this numbering, returned in that of the matrix it was made for.
    ///
    /// # Errors
    /// [`Error::Length`]; what the device reports.
    pub fn download<T: Scalar>(&self, x: &Vector<T>) -> Result<Vec<T>> {
        check_length("x", self.len(), x.len())?;
        self.undo(&x.to_vec()?)
    }
}

/// The rows and columns of a square matrix in another order: row k is row `rows[k]`, whose entries in column j go to column `column_of[j]`.
/// Rows are sorted; with `diagonal`, each has an entry on the diagonal, if need be a zero.
pub(crate) fn permuted<T: Scalar>(
    a: &CsrParts<T>,
    rows: &[usize],
    column_of: &[usize],
    diagonal: bool,
) -> Result<CsrParts<T>> {
    let entries = a.nnz() + if diagonal { rows.len() } else { 0 };
    let mut offsets = super::filled("a", rows.len().checked_add(1), 0)?;
    let (mut indices, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    let mut row: Vec<(usize, T)> = Vec::new();
    for (k, &i) in rows.iter().enumerate() {
        row.clear();
        row.extend(a.row(i).map(|(j, value)| (column_of[j], value)));
        if diagonal && row.iter().all(|&(j, _)| j != k) {
            row.push((k, T::zero()));
        }
        row.sort_by_key(|entry| entry.0);
        indices.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        offsets[k + 1] = indices.len();
    }
    Ok(CsrParts { rows: rows.len(), cols: rows.len(), offsets, indices, values })
}

/// Breadth-first from a peripheral row of each component, neighbours of lower degree first; then reversed.
pub(crate) fn cuthill_mckee<T: Scalar>(a: &CsrParts<T>) -> Result<Vec<usize>> {
    let transposed = a.transpose()?;
    let neighbours = |i: usize| a.row(i).chain(transposed.row(i)).map(|(j, _)| j).filter(move |&j| j != i);
    let degree: Vec<usize> = (0..a.rows).map(|i| neighbours(i).count()).collect();
    let mut seeds: Vec<usize> = (0..a.rows).collect();
    seeds.sort_by_key(|&i| degree[i]);
    // The search that last visited a row, counted from 1; `DONE` for one that is numbered.
    const DONE: usize = usize::MAX;
    let mut met = vec![0; a.rows];
    let mut search = 0;
    let mut order = Vec::with_capacity(a.rows);
    let visit = |seed: usize, mark: usize, met: &mut Vec<usize>, order: &mut Vec<usize>| {
        let mut at = order.len();
        order.push(seed);
        met[seed] = mark;
        while at < order.len() {
            let first = order.len();
            for j in neighbours(order[at]) {
                if met[j] != mark && met[j] != DONE {
                    met[j] = mark;
                    order.push(j);
                }
            }
            order[first..].sort_by_key(|&j| degree[j]);
            at += 1;
        }
    };
    for seed in seeds {
        if met[seed] == DONE {
            continue;
        }
        // The row visited last is far from the first: a better start.
        search += 1;
        let mut trial = Vec::new();
        visit(seed, search, &mut met, &mut trial);
        let far = *trial.last().expect("a search meets its start");
        search += 1;
        let first = order.len();
        visit(far, search, &mut met, &mut order);
        order[first..].iter().for_each(|&i| met[i] = DONE);
    }
    order.reverse();
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuthill_mckee_makes_a_shuffled_chain_a_band() {
        // A chain whose k-th node is row 7 k mod 30, and an isolated row.
        let link = |k: usize| 7 * k % 30;
        let mut entries: Vec<_> = (0..31).map(|i| (i, i, 2.0)).collect();
        for k in 0..29 {
            entries.push((link(k), link(k + 1), -1.0));
            entries.push((link(k + 1), link(k), -1.0));
        }
        let a = CsrParts::from_triplets(31, 31, &entries).unwrap();
        let order = cuthill_mckee(&a).unwrap();
        let place = inverse_of(&order);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..31).collect::<Vec<_>>());
        assert!(a.triplets().all(|(i, j, _)| place[i].abs_diff(place[j]) <= 1));
    }

    #[test]
    fn what_is_reordered_comes_back() {
        let a = CsrParts::from_triplets(3, 3, &[(0, 1, 1.0), (1, 2, 2.0), (2, 0, 3.0)]).unwrap();
        let turned = Reordering::from_order(vec![2, 0, 1]).unwrap();
        let entries: Vec<_> = turned.matrix(&a).unwrap().triplets().collect();
        assert_eq!(entries, [(0, 1, 3.0), (1, 2, 1.0), (2, 0, 2.0)]);
        assert_eq!(turned.apply(&[10, 11, 12]).unwrap(), [12, 10, 11]);
        assert_eq!(turned.undo(&[12, 10, 11]).unwrap(), [10, 11, 12]);
        for wrong in [vec![0, 0, 1], vec![0, 1, 3]] {
            assert_eq!(Reordering::from_order(wrong).unwrap_err().id(), "clinalg:argument:index");
        }
        assert_eq!(turned.apply(&[1]).unwrap_err().id(), "clinalg:argument:length");
        let wide = CsrParts::from_triplets(2, 3, &[(0, 0, 1.0)]).unwrap();
        assert_eq!(Reordering::cuthill_mckee(&wide).unwrap_err().id(), "clinalg:argument:shape");
    }
}
