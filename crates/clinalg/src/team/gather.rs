//! Values of the host that go from all processes to that of rank 0.

use std::ops::Range;

use super::{Partition, Received, Sent, Team};
use crate::error::check_length;
use crate::runtime::{bytes_of, bytes_of_mut};
use crate::{Element, Error, Result};

impl Team {
    /// Brings the rows that each rank owns to the process of rank 0: `values` has all rows of `partition`, of `width` values each, of
    /// which a process has those of its own ranks. In one process there is nothing to do; in several, all of them make the call.
    ///
    /// ```
    /// use clinalg::team::{Partition, Team};
    /// use clinalg::{Context, ContextOptions, Device};
    ///
    /// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
    /// let team = Team::of_contexts(vec![context()?, context()?])?;
    /// let mut rows = [1.0, 2.0, 3.0];
    /// team.gather(&Partition::even(3, 2)?, 1, &mut rows)?;
    /// assert_eq!(rows, [1.0, 2.0, 3.0]);
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] for a partition among another number of ranks or another number of values; those of the network.
    pub fn gather<T: Element>(&self, partition: &Partition, width: usize, values: &mut [T]) -> Result<()> {
        check_length("partition", self.ranks(), partition.ranks())?;
        check_length("values", partition.rows() * width, values.len())?;
        let own = |rank: usize| partition.range(rank).start * width..partition.range(rank).end * width;
        self.gather_ranges(&(0..self.ranks()).map(own).collect::<Vec<_>>(), values)
    }

    /// The values that the process of rank 0 passes, on all processes; what the others pass does not matter.
    pub(super) fn broadcast<T: Element>(&self, mut values: Vec<T>) -> Result<Vec<T>> {
        let local = self.local();
        if local.len() == self.ranks() {
            return Ok(values);
        }
        // The rank that receives in each process, and how many values there are.
        let mine: Vec<f64> = local.clone().flat_map(|_| [local.start as f64, values.len() as f64]).collect();
        let all = self.network().all_gather(&mine)?;
        let count = all[1] as usize;
        let mut firsts: Vec<usize> = all.chunks_exact(2).map(|rank| rank[0] as usize).collect();
        firsts.dedup();
        if local.contains(&0) {
            let bytes = bytes_of(&values);
            let sent: Vec<_> = firsts.into_iter().skip(1).map(|to| Sent { from: 0, to, bytes }).collect();
            self.network().exchange(&sent, &mut [])?;
            return Ok(values);
        }
        values.clear();
        values.resize(count, T::default());
        let received = Received { from: 0, to: local.start, bytes: bytes_of_mut(&mut values) };
        self.network().exchange(&[], &mut [received])?;
        Ok(values)
    }

    /// As [`Team::gather`], where rank `r` has the values `ranges[r]`; these do not overlap.
    ///
    /// # Errors
    /// [`Error::Length`] for another number of ranges; [`Error::Value`] for ranges that overlap or pass the end; those of the network.
    pub fn gather_ranges<T: Element>(&self, ranges: &[Range<usize>], values: &mut [T]) -> Result<()> {
        check_length("ranges", self.ranks(), ranges.len())?;
        let local = self.local();
        if local.len() == self.ranks() {
            return Ok(());
        }
        let mut order: Vec<usize> = (0..ranges.len()).collect();
        order.sort_by_key(|&rank| (ranges[rank].start, ranges[rank].end));
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        let (mut rest, mut done) = (values, 0);
        for rank in order {
            let Range { start, end } = ranges[rank].clone();
            if start < done || end < start || end - done > rest.len() {
                let expected = "ranges within the values that do not overlap";
                return Err(Error::value("ranges", expected, format!("{:?}", ranges[rank])));
            }
            let (part, later) = std::mem::take(&mut rest).split_at_mut(end - done);
            let part = &mut part[start - done..];
            (rest, done) = (later, end);
            match (local.contains(&0), local.contains(&rank)) {
                (true, true) | (false, false) => {}
                (true, false) => received.push(Received { from: rank, to: 0, bytes: bytes_of_mut(part) }),
                (false, true) => sent.push(Sent { from: rank, to: 0, bytes: bytes_of(part) }),
            }
        }
        self.network().exchange(&sent, &mut received)
    }
}
