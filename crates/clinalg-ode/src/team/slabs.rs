//! How a grid is distributed: the rows that ranks own and store, and where their components stand.

use std::ops::Range;

use clinalg::team::{Message, Partition};

use crate::model::access::{ring, slow_axis};
use crate::{Error, Layout, Result, System};

/// The slabs of a grid, consecutive rows or planes along its slowest axis; below, *rows* stands for both.
#[derive(Debug, Clone)]
pub(crate) struct Slabs {
    pub(crate) partition: Partition,
    /// Whether the last row has the first one as a neighbour.
    ring: bool,
    /// Points of a row.
    width: usize,
    fields: usize,
    layout: Layout,
    /// Rows of a halo.
    pub(crate) depth: usize,
}

impl Slabs {
    /// # Errors
    /// [`Error::Value`] where a halo of so many rows on either side of a ring is more than the other ranks have.
    pub(crate) fn new(system: &System, partition: &Partition, depth: usize) -> Result<Slabs> {
        let rows = partition.rows();
        let ring = ring(system) && partition.ranks() > 1;
        let largest = (0..partition.ranks()).map(|rank| partition.range(rank).len()).max().unwrap_or(0);
        if ring && largest + 2 * depth > rows {
            let expected = format!("at least {} for halos of {depth} rows on a periodic grid", largest + 2 * depth);
            return Err(Error::value("rows of the grid", expected, rows));
        }
        let width = system.grid().points() / rows;
        Ok(Slabs {
            partition: partition.clone(),
            ring,
            width,
            fields: system.fields().len(),
            layout: system.layout(),
            depth,
        })
    }

    /// Rows along the slowest axis of the grid.
    pub(crate) fn rows(system: &System) -> usize {
        system.grid().shape()[slow_axis(system)]
    }

    /// The first row that a rank stores, and how many; on a ring rows continue at the beginning.
    fn stored(&self, rank: usize) -> (usize, usize) {
        let (own, rows) = (self.partition.range(rank), self.partition.rows());
        if self.ring {
            return ((own.start + rows - self.depth) % rows, own.len() + 2 * self.depth);
        }
        let first = own.start.saturating_sub(self.depth);
        (first, (own.end + self.depth).min(rows) - first)
    }

    /// The rows that a rank owns, counted from the first that it stores.
    fn own_rows(&self, rank: usize) -> Range<usize> {
        let own = self.partition.range(rank);
        let before = if self.ring { self.depth } else { own.start - self.stored(rank).0 };
        before..before + own.len()
    }

    /// The right-hand side on what a rank stores.
    pub(crate) fn system(&self, whole: &System, rank: usize) -> System {
        let (first, count) = self.stored(rank);
        if count == self.partition.rows() && self.partition.ranks() == 1 {
            return whole.clone();
        }
        whole.slab(first, count, self.own_rows(rank))
    }

    /// Consecutive components of `count` rows from row `first` on, where `rows` are stored: one piece, or one for each field.
    fn pieces(&self, rows: usize, first: usize, count: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (pieces, step, width) = match self.layout {
            Layout::Interleaved => (1, 0, self.width * self.fields),
            Layout::FieldWise => (self.fields, rows * self.width, self.width),
        };
        (0..pieces).map(move |f| f * step + first * width..f * step + (first + count) * width)
    }

    /// Where the components that a rank owns stand in its memory.
    pub(crate) fn own(&self, rank: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let own = self.own_rows(rank);
        self.pieces(self.stored(rank).1, own.start, own.len())
    }

    /// Where they stand in the whole vector.
    pub(crate) fn of_whole(&self, rank: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let own = self.partition.range(rank);
        self.pieces(self.partition.rows(), own.start, own.len())
    }

    /// The rank that owns a component, and where it stands there.
    pub(crate) fn place(&self, component: usize) -> (usize, usize) {
        let (block, width) = match self.layout {
            Layout::Interleaved => (self.partition.rows() * self.width * self.fields, self.width * self.fields),
            Layout::FieldWise => (self.partition.rows() * self.width, self.width),
        };
        let (field, row) = (component / block, component % block / width);
        let rank = self.partition.owner(row);
        let local = row - self.partition.range(rank).start + self.own_rows(rank).start;
        (rank, (field * self.stored(rank).1 + local) * width + component % width)
    }

    /// What a rank stores of a whole vector.
    pub(crate) fn part<V: Copy>(&self, whole: &[V], rank: usize) -> Vec<V> {
        let ((first, count), rows) = (self.stored(rank), self.partition.rows());
        let once = count.min(rows - first);
        let mut part = Vec::with_capacity(count * self.width * self.fields);
        let runs = |first: usize, count: usize| self.pieces(rows, first, count);
        for (before, after) in runs(first, once).zip(runs(0, count - once)) {
            part.extend_from_slice(&whole[before]);
            part.extend_from_slice(&whole[after]);
        }
        part
    }

    /// The messages that fill the halos.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let rows = self.partition.rows();
        let mut messages = Vec::new();
        for to in 0..self.partition.ranks() {
            let ((first, count), own) = (self.stored(to), self.own_rows(to));
            for wanted in [0..own.start, own.end..count] {
                let mut row = wanted.start;
                while row < wanted.end {
                    let whole = (first + row) % rows;
                    let from = self.partition.owner(whole);
                    let theirs = self.partition.range(from);
                    let run = (theirs.end - whole).min(wanted.end - row);
                    let source = whole - theirs.start + self.own_rows(from).start;
                    let sources = self.pieces(self.stored(from).1, source, run);
                    messages.extend(sources.zip(self.pieces(count, row, run)).map(|(source, target)| Message {
                        from,
                        source: source.start,
                        to,
                        target: target.start,
                        len: source.len(),
                    }));
                    row += run;
                }
            }
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Boundary, Grid};

    /// Every value that a rank stores is its owner's, before and after messages.
    #[test]
    fn halos_hold_the_values_of_their_owners() {
        for (boundary, layout) in [
            (Boundary::Copy, Layout::Interleaved),
            (Boundary::Copy, Layout::FieldWise),
            (Boundary::Periodic, Layout::Interleaved),
            (Boundary::Periodic, Layout::FieldWise),
        ] {
            let system = System::builder(Grid::unit(&[3, 17]))
                .field("u", "v[0,1] - v[0,-1]")
                .field("v", "u[1,0]")
                .boundary(boundary)
                .layout(layout)
                .build()
                .unwrap();
            for (starts, depth) in
                [(vec![0, 17], 3), (vec![0, 8, 17], 4), (vec![0, 1, 3, 17], 1), (vec![0, 6, 11, 17], 5)]
            {
                let partition = Partition::from_starts(starts).unwrap();
                let slabs = Slabs::new(&system, &partition, depth).unwrap();
                let whole: Vec<usize> = (0..system.components()).collect();
                let parts: Vec<_> = (0..partition.ranks()).map(|rank| slabs.part(&whole, rank)).collect();
                let what = format!("{slabs:?}");
                for component in 0..whole.len() {
                    let (rank, at) = slabs.place(component);
                    assert_eq!(parts[rank][at], component, "{what}");
                }
                for (rank, part) in parts.iter().enumerate() {
                    let (own, theirs) = (slabs.own(rank).flatten(), slabs.of_whole(rank).flatten());
                    assert!(own.map(|k| part[k]).eq(theirs), "{what}");
                    assert_eq!(slabs.system(&system, rank).components(), part.len(), "{what}");
                }
                let mut filled: Vec<Vec<usize>> = (parts.iter().enumerate())
                    .map(|(rank, part)| {
                        let own: Vec<usize> = slabs.own(rank).flatten().collect();
                        (0..part.len()).map(|k| if own.contains(&k) { part[k] } else { usize::MAX }).collect()
                    })
                    .collect();
                for Message { from, source, to, target, len } in slabs.messages() {
                    let sent = filled[from][source..source + len].to_vec();
                    assert!(!sent.contains(&usize::MAX), "{what}: owners send");
                    filled[to][target..target + len].copy_from_slice(&sent);
                }
                assert_eq!(filled, parts, "{what}");
            }
        }
    }
}
