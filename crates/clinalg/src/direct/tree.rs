//! The elimination tree and the supernodes of a symmetric pattern.

use super::ordering::{Adjacency, NONE};

/// The parent of each column in the elimination tree (Liu 1986), [`NONE`] for a root.
fn parents(graph: &Adjacency) -> Vec<usize> {
    let n = graph.len();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for i in 0..n {
        for j in graph.of_row(i).filter(|&j| j < i) {
            let mut k = j;
            while ancestor[k] != NONE && ancestor[k] != i {
                k = std::mem::replace(&mut ancestor[k], i);
            }
            if ancestor[k] == NONE {
                (ancestor[k], parent[k]) = (i, i);
            }
        }
    }
    parent
}

/// The columns with all descendants before each, and the parents in that numbering.
fn postordered(parent: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let n = parent.len();
    let (mut first_child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
    for j in (0..n).rev().filter(|&j| parent[j] != NONE) {
        sibling[j] = std::mem::replace(&mut first_child[parent[j]], j);
    }
    let mut order = Vec::with_capacity(n);
    for root in (0..n).filter(|&j| parent[j] == NONE) {
        let mut path = vec![root];
        while let Some(&j) = path.last() {
            let child = first_child[j];
            if child == NONE {
                order.push(j);
                path.pop();
            } else {
                first_child[j] = sibling[child];
                path.push(child);
            }
        }
    }
    let place = crate::matrix::host::inverse_of(&order);
    let parent = order.iter().map(|&j| if parent[j] == NONE { NONE } else { place[parent[j]] }).collect();
    (order, parent)
}

/// Entries of each column of L, with the diagonal, for a postordered tree (Gilbert, Ng and Peyton 1994).
fn counts(graph: &Adjacency, parent: &[usize]) -> Vec<usize> {
    let n = graph.len();
    let mut first = vec![NONE; n];
    let mut count = vec![0_isize; n];
    for k in 0..n {
        count[k] = isize::from(first[k] == NONE);
        let mut j = k;
        while j != NONE && first[j] == NONE {
            first[j] = k;
            j = parent[j];
        }
    }
    let mut ancestor: Vec<usize> = (0..n).collect();
    let (mut latest, mut previous) = (vec![NONE; n], vec![NONE; n]);
    for j in 0..n {
        if parent[j] != NONE {
            count[parent[j]] -= 1;
        }
        for i in graph.of_row(j).filter(|&i| i > j) {
            if latest[i] != NONE && first[j] <= latest[i] {
                continue;
            }
            latest[i] = first[j];
            count[j] += 1;
            let leaf = std::mem::replace(&mut previous[i], j);
            if leaf != NONE {
                let mut common = leaf;
                while common != ancestor[common] {
                    common = ancestor[common];
                }
                let mut k = leaf;
                while k != common {
                    k = std::mem::replace(&mut ancestor[k], common);
                }
                count[common] -= 1;
            }
        }
        if parent[j] != NONE {
            ancestor[j] = parent[j];
        }
    }
    for j in 0..n {
        if parent[j] != NONE {
            count[parent[j]] += count[j];
        }
    }
    count.into_iter().map(|count| count as usize).collect()
}

/// A supernode with up to this many columns is joined to its parent whatever the zeros.
const FEW_COLUMNS: usize = 4;
/// Up to so many columns together, the share of zeros that a joined supernode may have (Chen, Davis, Hager and Rajamanickam 2008).
const ZEROS: [(usize, f64); 3] = [(16, 0.8), (48, 0.1), (usize::MAX, 0.05)];

/// The first columns of the supernodes, in order, and the number of columns.
fn supernodes(parent: &[usize], count: &[usize]) -> Vec<usize> {
    let n = parent.len();
    let mut first: Vec<usize> =
        (0..n).filter(|&j| j == 0 || parent[j - 1] != j || count[j - 1] != count[j] + 1).collect();
    first.push(n);
    // From the roots on, each with its last child where few zeros result. Entries of the supernode's columns, of which zeros.
    let mut kept = vec![true; first.len()];
    let entries = |columns: usize, rows: usize| columns as f64 * (2 * rows + 1 - columns) as f64 / 2.0;
    let (mut end, mut rows, mut zeros) = (n, 0, 0.0);
    for s in (0..first.len().saturating_sub(1)).rev() {
        let (begin, next) = (first[s], first[s + 1]);
        let (own, own_rows) = (next - begin, count[begin]);
        if next < n && parent[next - 1] == next {
            let (columns, all_rows) = (end - begin, own + rows);
            let new = zeros + entries(columns, all_rows) - entries(own, own_rows) - entries(end - next, rows);
            let share = new / entries(columns, all_rows);
            let allowed = ZEROS.iter().find(|(most, _)| columns <= *most).expect("the last has no limit").1;
            if columns <= FEW_COLUMNS || share < allowed {
                (rows, zeros) = (all_rows, new);
                kept[s + 1] = false;
                continue;
            }
        }
        (end, rows, zeros) = (next, own_rows, 0.0);
    }
    let mut kept = kept.into_iter();
    first.retain(|_| kept.next().expect("one for each"));
    first
}

/// What the tree of a pattern says about its factors.
#[derive(Debug)]
pub(super) struct Tree {
    /// The row that each step eliminates.
    pub(super) order: Vec<usize>,
    /// The pattern in that order.
    pub(super) graph: Adjacency,
    /// The first columns of the supernodes, and the number of columns.
    pub(super) first: Vec<usize>,
}

impl Tree {
    /// Of a pattern that is eliminated in this order, or in another that gives the same factors.
    pub(super) fn new(graph: &Adjacency, order: &[usize]) -> Tree {
        let graph = graph.renumbered(order, &crate::matrix::host::inverse_of(order));
        let (post, parent) = postordered(&parents(&graph));
        let graph = graph.renumbered(&post, &crate::matrix::host::inverse_of(&post));
        let first = supernodes(&parent, &counts(&graph, &parent));
        Tree { order: post.into_iter().map(|k| order[k]).collect(), graph, first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pattern of L by elimination, row by row.
    fn eliminated(graph: &Adjacency) -> Vec<Vec<bool>> {
        let n = graph.len();
        let mut filled = vec![vec![false; n]; n];
        (0..n).for_each(|i| graph.of_row(i).for_each(|j| filled[i][j] = true));
        for k in 0..n {
            let below: Vec<usize> = (k + 1..n).filter(|&i| filled[i][k]).collect();
            below.iter().for_each(|&i| below.iter().filter(|&&j| j != i).for_each(|&j| filled[i][j] = true));
        }
        filled
    }

    #[test]
    fn parents_and_counts_are_those_of_elimination() {
        let mut state = 1_u64;
        let mut next = move |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for n in [1, 2, 3, 7, 20, 60] {
            for entries in [0, n / 2, n, 3 * n] {
                let rows: Vec<(usize, usize)> = (0..entries).map(|_| (next(n), next(n))).collect();
                let graph = Adjacency::of(n, |i| rows.iter().filter(move |e| e.0 == i).map(|e| e.1));
                let tree = Tree::new(&graph, &(0..n).collect::<Vec<_>>());
                let filled = eliminated(&tree.graph);
                let parent = parents(&tree.graph);
                let count = counts(&tree.graph, &parent);
                for j in 0..n {
                    let below: Vec<usize> = (j + 1..n).filter(|&i| filled[i][j]).collect();
                    assert_eq!(parent[j], below.first().copied().unwrap_or(NONE), "column {j} of {n}");
                    assert_eq!(count[j], below.len() + 1, "column {j} of {n}");
                }
                assert!(tree.first.is_sorted() && tree.first[0] == 0 && tree.first.last() == Some(&n));
            }
        }
    }
}
