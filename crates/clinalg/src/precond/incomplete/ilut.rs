//! Incomplete LU factorisation with a threshold, on the host.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::{CsrParts, Scalar};

/// Compressed rows of one factor.
#[derive(Debug)]
pub(super) struct Rows<W> {
    pub(super) offsets: Vec<usize>,
    pub(super) columns: Vec<usize>,
    pub(super) values: Vec<W>,
}

impl<W> Rows<W> {
    fn new(n: usize) -> Rows<W> {
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        Rows { offsets, columns: Vec::new(), values: Vec::new() }
    }
}

/// L and U without their diagonals, numbered by the steps of elimination.
#[derive(Debug)]
pub(super) struct Factors<W> {
    pub(super) lower: Rows<W>,
    pub(super) upper: Rows<W>,
    pub(super) diagonal: Vec<W>,
    /// The row and the column eliminated in each step.
    pub(super) row_at: Vec<usize>,
    pub(super) column_at: Vec<usize>,
    /// Pivots that were replaced.
    pub(super) replaced: usize,
}

/// If a diagonal entry is below this many times the row's largest candidate, their columns are exchanged.
const PIVOT_SHARE: f64 = 0.1;

/// Where pivots are replaced, one below this many machine epsilons times the sum of the moduli of its row counts as zero and is replaced by the square root
/// of epsilon times that sum. SuperLU_DIST (Li and Demmel 2003) uses the norm of A instead of that sum.
const ROUNDING: f64 = 64.0;

/// Which entries are kept, and how zero pivots are treated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Entries below this many times the row's mean modulus, and multipliers below it, are dropped.
    pub(super) drop: f64,
    /// Maximum number of entries that a row keeps on each side of the diagonal.
    pub(super) most: usize,
    /// Whether a row whose pivot is zero up to rounding is moved to the end, and the pivot replaced by a small number if it is still zero there.
    pub(super) replaces: bool,
    /// The machine precision of the matrix and of the stored factors.
    pub(super) epsilon: f64,
}

/// ILUT with column exchanges (Saad 1994; 2003, sections 10.4.1 and 10.4.3); the row that has no pivot is the error.
pub(super) fn factorise<W: Scalar<Real = f64>>(a: &CsrParts<W>, rules: Rules) -> Result<Factors<W>, usize> {
    let Rules { drop, most, replaces, epsilon } = rules;
    let n = a.rows;
    let (mut lower, mut upper) = (Rows::new(n), Rows::new(n));
    let mut diagonal: Vec<W> = Vec::with_capacity(n);
    // The step that eliminates each column, and back.
    let (mut step_of, mut column_at): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..n).collect());
    let mut w = vec![W::zero(); n];
    let mut met = vec![usize::MAX; n];
    let mut touched = Vec::new();
    let mut pending = BinaryHeap::new();
    let mut left: Vec<(usize, W)> = Vec::new();
    let mut right: Vec<(usize, W)> = Vec::new();
    // Postponed rows come last, so that no other row lacks the column of a replaced pivot. A row of zeros remains one.
    let mut queue: VecDeque<usize> = (0..n).collect();
    let mut row_at = Vec::with_capacity(n);
    let mut postponed = 0;
    let (mut attempt, mut replaced) = (0, 0);
    while let Some(row) = queue.pop_front() {
        let i = row_at.len();
        attempt += 1;
        touched.clear();
        left.clear();
        right.clear();
        let mut sum = 0.0;
        for (j, value) in a.row(row) {
            (w[j], met[j]) = (value, attempt);
            touched.push(j);
            sum += value.modulus();
            if step_of[j] < i {
                pending.push(Reverse(step_of[j]));
            }
        }
        let least = drop * sum / touched.len().max(1) as f64;
        while let Some(Reverse(k)) = pending.pop() {
            let factor = w[column_at[k]] / diagonal[k];
            if factor.modulus() <= drop {
                continue;
            }
            left.push((k, factor));
            for e in upper.offsets[k]..upper.offsets[k + 1] {
                let j = upper.columns[e];
                if met[j] != attempt {
                    (w[j], met[j]) = (W::zero(), attempt);
                    touched.push(j);
                    if step_of[j] < i {
                        pending.push(Reverse(step_of[j]));
                    }
                }
                w[j] -= factor * upper.values[e];
            }
        }
        let own = column_at[i];
        let candidates = touched.iter().filter(|&&j| step_of[j] >= i).map(|&j| (j, w[j]));
        right.extend(candidates.filter(|&(j, value)| j == own || value.modulus() > least));
        let pivot = if met[own] == attempt { w[own] } else { W::zero() };
        let largest = right.iter().max_by(|a, b| a.1.modulus().total_cmp(&b.1.modulus()).then(b.0.cmp(&a.0)));
        let zero = if replaces { ROUNDING * epsilon * sum } else { 0.0 };
        let (chosen, value) = match largest {
            Some(&(other, value)) if value.modulus() > zero && value.has_finite_parts() => {
                if pivot.modulus() < PIVOT_SHARE * value.modulus() { (other, value) } else { (own, pivot) }
            }
            _ if replaces && largest.is_none_or(|entry| entry.1.has_finite_parts()) => {
                if queue.len() > postponed {
                    queue.push_back(row);
                    postponed += 1;
                    continue;
                }
                replaced += 1;
                (own, W::from_f64(epsilon.sqrt() * if sum > 0.0 { sum } else { 1.0 }))
            }
            _ => return Err(row),
        };
        if chosen != own {
            let step = step_of[chosen];
            (column_at[i], column_at[step]) = (chosen, own);
            (step_of[chosen], step_of[own]) = (i, step);
        }
        row_at.push(row);
        diagonal.push(value);
        right.retain(|entry| entry.0 != chosen);
        keep_largest(&mut left, most);
        keep_largest(&mut right, most);
        for (rows, kept) in [(&mut lower, &left), (&mut upper, &right)] {
            rows.columns.extend(kept.iter().map(|entry| entry.0));
            rows.values.extend(kept.iter().map(|entry| entry.1));
            rows.offsets.push(rows.columns.len());
        }
    }
    upper.columns.iter_mut().for_each(|j| *j = step_of[*j]);
    Ok(Factors { lower, upper, diagonal, row_at, column_at, replaced })
}

/// Keeps the entries with the `most` largest moduli, sorted by column.
fn keep_largest<W: Scalar<Real = f64>>(entries: &mut Vec<(usize, W)>, most: usize) {
    if entries.len() > most {
        let larger_first = |a: &(usize, W), b: &(usize, W)| b.1.modulus().total_cmp(&a.1.modulus()).then(a.0.cmp(&b.0));
        entries.select_nth_unstable_by(most, larger_first);
        entries.truncate(most);
    }
    entries.sort_unstable_by_key(|entry| entry.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_dropping_the_factors_are_those_of_gaussian_elimination() {
        // Zeros on the diagonal: columns must be exchanged.
        let rows = [[0.0, 2.0, 1.0, 0.0], [4.0, 1.0, 0.0, 3.0], [1.0, 0.0, 0.0, 5.0], [0.0, 3.0, 2.0, 1.0]];
        let a = CsrParts::from_dense(4, 4, &(0..16).map(|e| rows[e % 4][e / 4]).collect::<Vec<f64>>()).unwrap();
        let epsilon = f64::EPSILON;
        let rules = Rules { drop: 0.0, most: 4, replaces: false, epsilon };
        let f = factorise(&a, rules).unwrap();
        let get = |rows: &Rows<f64>, i: usize, j: usize| -> f64 {
            let range = rows.offsets[i]..rows.offsets[i + 1];
            range.filter(|&e| rows.columns[e] == j).map(|e| rows.values[e]).sum()
        };
        for (i, row) in rows.iter().enumerate() {
            for k in 0..4 {
                let l = |m: usize| if m == i { 1.0 } else { get(&f.lower, i, m) };
                let u = |m: usize| if m == k { f.diagonal[m] } else { get(&f.upper, m, k) };
                let product: f64 = (0..4).map(|m| l(m) * u(m)).sum();
                assert!((product - row[f.column_at[k]]).abs() < 1e-14, "({i}, {k})");
            }
        }
        let singular = CsrParts::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)]).unwrap();
        assert_eq!(factorise(&singular, rules).unwrap_err(), 1);
        // In its place there is a small pivot; 6 is the sum of the row.
        let replaced = factorise(&singular, Rules { replaces: true, ..rules }).unwrap();
        assert_eq!((&replaced.diagonal[..], replaced.replaced), (&[1.0, 6.0 * epsilon.sqrt()][..], 1));
        // Where the entries are rounded to single precision, so is what their difference leaves, and the pivot is of that size.
        let third = f64::from(1.0_f32 / 3.0);
        let rounded =
            CsrParts::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, third), (1, 1, 1.0 / 3.0)]).unwrap();
        let narrow = f64::from(f32::EPSILON);
        let of = |epsilon| factorise(&rounded, Rules { replaces: true, epsilon, ..rules }).unwrap();
        assert_eq!((of(epsilon).replaced, of(narrow).replaced), (0, 1));
        assert_eq!(of(narrow).diagonal[1], (third + 1.0 / 3.0) * narrow.sqrt());
        // Row 1 is a multiple of row 0; row 2 is eliminated before it, and the product is the matrix but for one pivot.
        let rows = [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 3.0]];
        let b = CsrParts::from_dense(3, 3, &(0..9).map(|e| rows[e % 3][e / 3]).collect::<Vec<f64>>()).unwrap();
        let replaced = factorise(&b, Rules { replaces: true, ..rules }).unwrap();
        assert_eq!((&replaced.row_at[..], replaced.diagonal[2]), (&[0, 2, 1][..], 6.0 * epsilon.sqrt()));
    }
}
