//! Parts of a grid: consecutive rows, or planes, along its slowest axis.

use std::ops::Range;
use std::sync::Arc;

use crate::model::access::{ring, slow_axis};
use crate::model::grid::Bound;
use crate::model::system::System;

/// Which rows of a larger grid a system has, along the slowest axis: points of a line, rows of a square, planes of a cube.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slab {
    /// The number of its first row in the whole grid. Rows past the last are those at the beginning of a ring.
    pub(crate) first: usize,
    /// Rows of the whole grid.
    pub(crate) rows: usize,
    /// Its rows that norms count.
    pub(crate) own: Range<usize>,
}

impl System {
    /// The same right-hand side on `count` rows from row `first` on, where norms count the rows `own` of them alone. Beside a
    /// first or last row that is no boundary of the grid derivatives are wrong, [`System::radius`] rows deep.
    pub(crate) fn slab(&self, first: usize, count: usize, own: Range<usize>) -> System {
        let axis = slow_axis(self);
        let rows = self.grid.n[axis];
        let width = self.grid.points() / rows;
        let mut slab = self.clone();
        slab.grid.n[axis] = count;
        if ring(self) || first > 0 {
            slab.bounds[axis][0] = Bound::Copy;
        }
        if ring(self) || first + count < rows {
            slab.bounds[axis][1] = Bound::Copy;
        }
        let of = |values: &Arc<[f64]>| -> Arc<[f64]> {
            (0..count).flat_map(|row| &values[(first + row) % rows * width..][..width]).copied().collect()
        };
        slab.data = self.data.iter().map(of).collect();
        slab.watched = Vec::new();
        slab.slab = Some(Slab { first, rows, own });
        slab
    }

    /// The points that norms and sums count: all, or those of the own rows.
    pub(crate) fn own_points(&self) -> Range<usize> {
        let Some(slab) = &self.slab else { return 0..self.grid.points() };
        let width = self.grid.points() / self.grid.n[slow_axis(self)];
        slab.own.start * width..slab.own.end * width
    }

    /// The number in the whole grid of the first point; past the end of a ring the numbers begin anew.
    pub(crate) fn first_point(&self) -> usize {
        let width = self.grid.points() / self.grid.n[slow_axis(self)];
        self.slab.as_ref().map_or(0, |slab| slab.first * width)
    }

    /// The number of row `i` of the slowest axis in the whole grid.
    pub(crate) fn whole_row(&self, i: i64) -> i64 {
        let Some(slab) = &self.slab else { return i };
        let row = i + slab.first as i64;
        // Past the last row a ring goes on at its beginning; otherwise the row is outside of the grid.
        if slab.first + self.grid.n[slow_axis(self)] > slab.rows { row % slab.rows as i64 } else { row }
    }
}
