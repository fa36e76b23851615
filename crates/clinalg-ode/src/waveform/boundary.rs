//! Points at the boundaries of blocks, whose waveforms other blocks read.

use std::ops::Range;

use crate::model::System;
use crate::model::grid::Bound;
use crate::waveform::partition::Partition;
use crate::{Error, Result};

/// What stands for a point that is not stored.
pub(super) const NOT_STORED: u32 = u32::MAX;

/// The points that are stored, numbered by block after block.
pub(super) struct Boundary {
    /// The number of each point of the grid, or [`NOT_STORED`].
    pub(super) numbers: Vec<u32>,
    /// The point of each number.
    pub(super) points: Vec<usize>,
    /// The first number of each block, and the end.
    pub(super) starts: Vec<usize>,
    /// Boxes of points: the blocks.
    boxes: Vec<[Range<usize>; 3]>,
}

impl Boundary {
    /// Points no further from a side of their block than the right-hand side reads, if there is a block on that side. Neighbours
    /// past the end of the grid are points inside that are no further away.
    ///
    /// # Errors
    /// [`Error::Memory`] for more than 2^32 - 1 points.
    pub(super) fn new(system: &System, partition: &Partition) -> Result<Boundary> {
        let grid = system.grid();
        let (n, sides, counts, radius) =
            (grid.n, partition.sides(system), partition.counts(system), system.reads_within());
        let mut all = Boundary {
            numbers: vec![NOT_STORED; grid.points()],
            points: Vec::new(),
            starts: vec![0],
            boxes: Vec::new(),
        };
        for block in 0..counts.iter().product() {
            let index = [block % counts[0], block / counts[0] % counts[1], block / counts[0] / counts[1]];
            let range = |a: usize| index[a] * sides[a]..((index[a] + 1) * sides[a]).min(n[a]);
            let own = [range(0), range(1), range(2)];
            let near = |a: usize, i: usize| {
                let around = system.bounds[a][0] == Bound::Periodic && counts[a] > 1;
                let (low, high) = (own[a].start > 0 || around, own[a].end < n[a] || around);
                (low && i - own[a].start < radius[a]) || (high && own[a].end - 1 - i < radius[a])
            };
            for z in own[2].clone() {
                for y in own[1].clone() {
                    for x in own[0].clone() {
                        if near(0, x) || near(1, y) || near(2, z) {
                            let point = x + n[0] * (y + n[1] * z);
                            all.numbers[point] = u32::try_from(all.points.len()).unwrap_or(NOT_STORED);
                            all.points.push(point);
                        }
                    }
                }
            }
            all.starts.push(all.points.len());
            all.boxes.push(own);
        }
        if all.points.len() >= NOT_STORED as usize {
            let needs = format!("indices of {} points at boundaries", all.points.len());
            return Err(Error::Memory { place: "on the device", needs, available: u64::from(NOT_STORED) });
        }
        Ok(all)
    }

    /// Whether each component is stored, in the order of memory.
    pub(super) fn components(&self, system: &System) -> Vec<bool> {
        let mut all = vec![false; system.components()];
        for point in &self.points {
            for field in 0..system.fields().len() {
                all[system.component(field, *point)] = true;
            }
        }
        all
    }

    /// The box of a block.
    pub(super) fn points_of(&self, block: usize) -> &[Range<usize>; 3] {
        &self.boxes[block]
    }

    /// Numbers of the stored points outside `blocks` that these may read, in order.
    pub(super) fn read_by(&self, system: &System, blocks: Range<usize>) -> Vec<u32> {
        let (n, radius) = (system.grid().n, system.reads_within());
        let own = self.starts[blocks.start] as u32..self.starts[blocks.end] as u32;
        let mut read = vec![false; self.points.len()];
        for block in blocks {
            // The box with what is around it; at the ends of a periodic axis, and of a short one, that of the other end.
            let around = |a: usize| {
                let own = &self.boxes[block][a];
                let wide = own.start as i64 - radius[a] as i64..(own.end + radius[a]) as i64;
                let wraps = system.bounds[a][0] == Bound::Periodic;
                let inside = move |i: i64| (wraps || (0..n[a] as i64).contains(&i)).then(|| i.rem_euclid(n[a] as i64));
                wide.filter_map(inside).map(|i| i as usize)
            };
            for z in around(2) {
                for y in around(1) {
                    for x in around(0) {
                        let number = self.numbers[x + n[0] * (y + n[1] * z)];
                        if number != NOT_STORED {
                            read[number as usize] = true;
                        }
                    }
                }
            }
        }
        (0..self.points.len() as u32).filter(|k| read[*k as usize] && !own.contains(k)).collect()
    }
}
