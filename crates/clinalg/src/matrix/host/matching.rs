//! A permutation that puts large entries on the diagonal.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::filled;
use crate::{CsrParts, Error, Real, Result, Scalar};

/// A row for each column, and scalings after which the matched entries have modulus 1 and no other is larger.
#[derive(Debug)]
pub(crate) struct Matched {
    /// The row whose entry in column j goes to the diagonal.
    pub(crate) row_of: Vec<usize>,
    /// The factors by which rows and columns are multiplied, as logarithms.
    pub(crate) row_log: Vec<f64>,
    pub(crate) column_log: Vec<f64>,
}

/// None yet.
const FREE: usize = usize::MAX;

/// A distance as the key of a heap.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Key(f64, usize);

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// A diagonal entry below this fraction of its row's largest needs a matching.
pub(crate) const SMALL_DIAGONAL: f64 = 1e-6;

/// Whether a diagonal entry is missing, zero or small beside the largest of its row.
pub(crate) fn has_weak_diagonal<T: Scalar>(a: &CsrParts<T>) -> bool {
    (0..a.rows).any(|i| {
        let largest = a.row(i).map(|e| e.1.modulus().into_f64()).fold(0.0, f64::max);
        let diagonal: T = a.row(i).filter(|e| e.0 == i).map(|e| e.1).sum();
        diagonal.modulus().into_f64() <= SMALL_DIAGONAL * largest
    })
}

/// Scalings, as logarithms, after which the largest entries of rows, and then of columns, have modulus 1.
pub(crate) fn equilibrated<T: Scalar>(a: &CsrParts<T>) -> [Vec<f64>; 2] {
    let inverse = |largest: f64| if largest > 0.0 && largest.is_finite() { -largest.ln() } else { 0.0 };
    let modulus = |value: T| value.modulus().into_f64();
    let rows: Vec<f64> = (0..a.rows).map(|i| inverse(a.row(i).map(|e| modulus(e.1)).fold(0.0, f64::max))).collect();
    let mut largest = vec![0.0_f64; a.cols];
    a.triplets().for_each(|(i, j, value)| largest[j] = largest[j].max(modulus(value) * rows[i].exp()));
    let columns = largest.into_iter().map(inverse).collect();
    [rows, columns]
}

/// The matching whose product of moduli is largest, by shortest augmenting paths (Duff and Koster 1999 and 2001; the dual variables
/// are the scalings).
///
/// # Errors
/// [`Error::Unsuitable`] for a structurally singular matrix: some rows have entries in too few columns.
pub(crate) fn largest_product<T: Scalar>(a: &CsrParts<T>) -> Result<Matched> {
    matching(a)?.map_err(|row| {
        let reason = format!(
            "the matrix is structurally singular: row {} (counted from 1) cannot be matched to a column",
            row + 1
        );
        Error::unsuitable("a", reason)
    })
}

/// In a structurally singular matrix, a row from a set of rows that have entries in fewer columns than there are rows in the set.
///
/// # Errors
/// [`Error::Allocation`].
pub(crate) fn unmatched_row<T: Scalar>(a: &CsrParts<T>) -> Result<Option<usize>> {
    Ok(matching(a)?.err())
}

/// The matching of [`largest_product`], or the row of [`unmatched_row`].
pub(crate) fn matching<T: Scalar>(a: &CsrParts<T>) -> Result<std::result::Result<Matched, usize>> {
    let n = a.rows;
    let filled = |value: f64| filled("a", Some(n), value);
    // c_ij = log(largest of row i) - log |a_ij|, at least 0; zeros count as absent.
    let largest: Vec<f64> =
        (0..n).map(|i| a.row(i).map(|e| e.1.modulus().into_f64()).fold(0.0, f64::max).ln()).collect();
    let costs: Vec<f64> = (0..n)
        .flat_map(|i| {
            let largest = largest[i];
            a.row(i).map(move |(_, value)| largest - value.modulus().into_f64().ln())
        })
        .collect();
    let row = |i: usize| (a.offsets[i]..a.offsets[i + 1]).map(|e| (a.indices[e], costs[e])).filter(|e| e.1.is_finite());
    let (mut u, mut v) = (filled(0.0)?, filled(f64::INFINITY)?);
    (0..n).for_each(|i| row(i).for_each(|(j, cost)| v[j] = v[j].min(cost)));
    let (mut column_of, mut row_of) = (vec![FREE; n], vec![FREE; n]);
    for i in 0..n {
        u[i] = row(i).map(|(j, cost)| cost - v[j]).fold(f64::INFINITY, f64::min);
        // An entry without reduced cost whose column is free, the diagonal first.
        let tight = |&(j, cost): &(usize, f64)| cost - v[j] <= u[i] && row_of[j] == FREE;
        let chosen = row(i).filter(tight).min_by_key(|&(j, _)| j != i);
        if let Some((j, _)) = chosen {
            (column_of[i], row_of[j]) = (j, i);
        }
    }
    let mut distance = filled(f64::INFINITY)?;
    let (mut before, mut is_final) = (vec![FREE; n], vec![false; n]);
    let mut heap = BinaryHeap::new();
    let (mut met, mut reached) = (Vec::new(), Vec::new());
    for start in 0..n {
        if column_of[start] != FREE {
            continue;
        }
        heap.clear();
        let (mut i, mut base) = (start, 0.0);
        let end = loop {
            for (j, cost) in row(i).filter(|&(j, _)| !is_final[j]) {
                let new = base + (cost - u[i] - v[j]).max(0.0);
                if new < distance[j] {
                    if distance[j] == f64::INFINITY {
                        met.push(j);
                    }
                    (distance[j], before[j]) = (new, i);
                    heap.push(Reverse(Key(new, j)));
                }
            }
            let next = std::iter::from_fn(|| heap.pop()).find(|Reverse(key)| !is_final[key.1]);
            let Some(Reverse(Key(nearest, j))) = next else { return Ok(Err(start)) };
            base = nearest;
            is_final[j] = true;
            if row_of[j] == FREE {
                break j;
            }
            reached.push(j);
            i = row_of[j];
        };
        u[start] += base;
        for &j in &reached {
            v[j] -= base - distance[j];
            u[row_of[j]] += base - distance[j];
        }
        let mut j = end;
        loop {
            let i = before[j];
            row_of[j] = i;
            j = std::mem::replace(&mut column_of[i], j);
            if i == start {
                break;
            }
        }
        for j in met.drain(..) {
            (distance[j], is_final[j]) = (f64::INFINITY, false);
        }
        reached.clear();
    }
    let row_log = (0..n).map(|i| u[i] - largest[i]).collect();
    Ok(Ok(Matched { row_of, row_log, column_log: v }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best product over all permutations.
    fn best(n: usize, a: &[f64], used: u32, i: usize) -> f64 {
        if i == n {
            return 1.0;
        }
        let free = (0..n).filter(|j| used & (1 << j) == 0);
        free.map(|j| a[j * n + i].abs() * best(n, a, used | 1 << j, i + 1)).fold(0.0, f64::max)
    }

    #[test]
    fn the_product_is_the_largest_of_all_permutations() {
        let mut seed = 7_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f64 / (1 << 24) as f64
        };
        let mut found = 0;
        for trial in 0..200 {
            let n = 1 + trial % 6;
            let mut entries = Vec::new();
            for i in 0..n {
                for j in 0..n {
                    if random() < 0.5 {
                        entries.push((i, j, (8.0 * random() - 4.0).exp() * if random() < 0.5 { -1.0 } else { 1.0 }));
                    }
                }
            }
            let a = CsrParts::from_triplets(n, n, &entries).unwrap();
            let dense = a.to_dense().unwrap();
            let wanted = best(n, &dense, 0, 0);
            let Ok(matched) = largest_product(&a) else {
                assert_eq!(wanted, 0.0);
                continue;
            };
            found += 1;
            let product: f64 = (0..n).map(|j| dense[j * n + matched.row_of[j]].abs()).product();
            assert!((product - wanted).abs() <= 1e-12 * wanted, "{product} and {wanted}");
            for (i, j, value) in a.triplets() {
                let scaled = (matched.row_log[i] + matched.column_log[j]).exp() * value.abs();
                let is_chosen = matched.row_of[j] == i;
                assert!(scaled <= 1.0 + 1e-12 && (!is_chosen || scaled >= 1.0 - 1e-12), "{scaled}");
            }
        }
        assert!(found > 50);
    }
}
