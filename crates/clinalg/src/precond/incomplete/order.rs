//! Orders of elimination.

use serde::{Deserialize, Serialize};

use crate::solve::colour;
use crate::{CsrParts, Result, Scalar};

/// The order in which the unknowns are eliminated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ordering {
    /// That of the matrix: the best factors of matrices from grids, with as many levels as the longest chain of dependent rows.
    #[default]
    Natural,
    /// By colours, so that rows of one colour do not depend on each other: as many levels as colours, at the price of more
    /// iterations (Saad 2003, section 12.4).
    Multicolour,
    /// Reverse Cuthill-McKee (Cuthill and McKee 1969; George 1971): a small bandwidth, better factors of matrices in a random order.
    CuthillMcKee,
}

impl Ordering {
    /// The row that is eliminated k-th, for each k.
    pub(super) fn of<T: Scalar>(self, a: &CsrParts<T>) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = (0..a.rows).collect();
        match self {
            Ordering::Natural => {}
            Ordering::Multicolour => {
                let colours = colour(a)?;
                order.sort_by_key(|&i| colours[i]);
            }
            Ordering::CuthillMcKee => order = cuthill_mckee(a)?,
        }
        Ok(order)
    }
}

/// Breadth-first from a row at the edge of each component, neighbours of fewer neighbours first; then backwards.
fn cuthill_mckee<T: Scalar>(a: &CsrParts<T>) -> Result<Vec<usize>> {
    let transposed = a.transpose()?;
    let neighbours = |i: usize| a.row(i).chain(transposed.row(i)).map(|(j, _)| j).filter(move |&j| j != i);
    let degree: Vec<usize> = (0..a.rows).map(|i| neighbours(i).count()).collect();
    let mut seeds: Vec<usize> = (0..a.rows).collect();
    seeds.sort_by_key(|&i| degree[i]);
    // The search that last met a row, counted from 1; `DONE` for one that has its place.
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
        // The row met last is far from the first: a better start.
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
    use super::super::inverse_of;
    use super::*;

    #[test]
    fn cuthill_mckee_makes_a_shuffled_chain_a_band() {
        // A chain whose k-th link is row 7 k mod 30, and a row alone.
        let link = |k: usize| 7 * k % 30;
        let mut entries: Vec<_> = (0..31).map(|i| (i, i, 2.0)).collect();
        for k in 0..29 {
            entries.push((link(k), link(k + 1), -1.0));
            entries.push((link(k + 1), link(k), -1.0));
        }
        let a = CsrParts::from_triplets(31, 31, &entries).unwrap();
        let order = Ordering::CuthillMcKee.of(&a).unwrap();
        let place = inverse_of(&order);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..31).collect::<Vec<_>>());
        assert!(a.triplets().all(|(i, j, _)| place[i].abs_diff(place[j]) <= 1));
    }
}
