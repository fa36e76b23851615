//! Pairs of rows of a symmetric matrix that are eliminated together (Duff and Pralet 2005).

use super::ordering::Adjacency;

/// Pairs from a matching of columns with rows: neighbours in its cycles. Of a cycle of odd length the row whose entry on the diagonal has the largest
/// modulus stays alone. With the scalings of the matching all entries between neighbours have modulus 1. The partner of each row, itself for none.
pub(super) fn partners(row_of: &[usize], diagonal: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut partner: Vec<usize> = (0..row_of.len()).collect();
    let mut seen = vec![false; row_of.len()];
    for start in 0..row_of.len() {
        let mut cycle = Vec::new();
        let mut at = start;
        while !std::mem::replace(&mut seen[at], true) {
            cycle.push(at);
            at = row_of[at];
        }
        if cycle.len() % 2 == 1 {
            let sizes = cycle.iter().map(|&i| diagonal(i)).enumerate();
            let (alone, _) = sizes.max_by(|a, b| a.1.total_cmp(&b.1)).expect("it has rows");
            cycle.rotate_left(alone);
            cycle.remove(0);
        }
        for pair in cycle.chunks(2) {
            (partner[pair[0]], partner[pair[1]]) = (pair[1], pair[0]);
        }
    }
    partner
}

/// Rows by the pairs that they are in.
pub(super) struct Pairs<'a> {
    partner: &'a [usize],
    /// The pair or single row of each row, and the first row of each.
    group_of: Vec<usize>,
    first: Vec<usize>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(partner: &'a [usize]) -> Pairs<'a> {
        let first: Vec<usize> = (0..partner.len()).filter(|&i| partner[i] >= i).collect();
        let mut group_of = vec![0; partner.len()];
        for (group, &i) in first.iter().enumerate() {
            (group_of[i], group_of[partner[i]]) = (group, group);
        }
        Pairs { partner, group_of, first }
    }

    fn of_group(&self, group: usize) -> impl Iterator<Item = usize> {
        let (first, second) = (self.first[group], self.partner[self.first[group]]);
        std::iter::once(first).chain((second != first).then_some(second))
    }

    /// The rows of the groups in this order.
    pub(super) fn members(&self, groups: &[usize]) -> Vec<usize> {
        groups.iter().flat_map(|&group| self.of_group(group)).collect()
    }

    /// The graph of the groups.
    pub(super) fn compressed<I: Iterator<Item = usize>>(&self, row: impl Fn(usize) -> I) -> Adjacency {
        Adjacency::of(self.first.len(), |group| {
            let columns: Vec<usize> = self.of_group(group).flat_map(|i| row(i).map(|j| self.group_of[j])).collect();
            columns.into_iter()
        })
    }

    /// The graph of the rows in which those of a pair have the same neighbours, so that they stay in one front.
    pub(super) fn expanded(&self, compressed: &Adjacency) -> Adjacency {
        let mut offsets = vec![0];
        let mut neighbours = Vec::new();
        for (i, &group) in self.group_of.iter().enumerate() {
            let begin = neighbours.len();
            let others = compressed.of_row(group).flat_map(|other| self.of_group(other));
            neighbours.extend(others.chain(self.of_group(group).filter(|&j| j != i)).map(|j| j as u32));
            neighbours[begin..].sort_unstable();
            offsets.push(neighbours.len());
        }
        Adjacency { offsets, neighbours }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_fall_into_pairs_beside_their_largest_diagonal() {
        let row_of = [1, 2, 3, 0, 5, 6, 4, 7, 9, 8];
        assert_eq!(partners(&row_of, |i| if i == 5 { 0.5 } else { 0.1 }), [1, 0, 3, 2, 6, 5, 4, 7, 9, 8]);
        assert_eq!(partners(&row_of, |i| if i == 4 { 0.5 } else { 0.1 })[4..7], [4, 6, 5]);
    }

    #[test]
    fn pairs_have_the_neighbours_of_both_rows() {
        let partner = [2, 1, 0, 3];
        let pairs = Pairs::new(&partner);
        let rows = [vec![0, 1], vec![0], vec![], vec![3, 2]];
        let graph = pairs.expanded(&pairs.compressed(|i| rows[i].iter().copied()));
        let of_row = |i: usize| graph.of_row(i).collect::<Vec<_>>();
        assert_eq!(
            [of_row(0), of_row(1), of_row(2), of_row(3)],
            [vec![1, 2, 3], vec![0, 2], vec![0, 1, 3], vec![0, 2]]
        );
        assert_eq!(pairs.members(&[2, 0, 1]), [3, 0, 2, 1]);
    }
}
