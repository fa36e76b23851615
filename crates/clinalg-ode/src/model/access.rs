//! How far a right-hand side reads: offsets on the grid, and distances in memory.

use crate::model::grid::{Bound, Layout};
use crate::model::system::System;

/// A field whose formula reads, the field read, and where.
pub(super) type Access = (usize, usize, [i32; 3]);

impl System {
    /// The largest offset along each axis.
    pub fn radius(&self) -> [usize; 3] {
        let reach = |axis: usize| self.accesses.iter().map(|(_, _, o)| o[axis].unsigned_abs() as usize).max();
        std::array::from_fn(|axis| reach(axis).unwrap_or(0))
    }

    /// How far along each axis a component reads: the offsets of formulas, the declared distance of OpenCL C, the whole grid for sums.
    pub(crate) fn reads_within(&self) -> [usize; 3] {
        match &self.snippet {
            Some(snippet) => [snippet.distance, 0, 0],
            None if self.is_dense() => self.grid.n,
            None => self.radius(),
        }
    }

    /// The largest distance in memory between a component and one that its formula reads, across periodic sides as well; what
    /// was declared for a snippet.
    pub fn access_distance(&self) -> usize {
        match &self.snippet {
            Some(snippet) => snippet.distance,
            None => self.distance(&(0..self.fields.len()).collect::<Vec<_>>(), self.layout),
        }
    }

    /// The access distance with the fields in other places.
    pub(super) fn distance(&self, places: &[usize], layout: Layout) -> usize {
        if self.is_dense() {
            return self.components() - 1;
        }
        let n = self.grid.n.map(|n| n as i64);
        let (fields, points) = (self.fields.len() as i64, self.grid.points() as i64);
        let mut largest = 0;
        for (to, from, offset) in &self.accesses {
            // Along a periodic axis the neighbour may be at the other end.
            let ways = |axis: usize| {
                let d = i64::from(offset[axis]);
                let wrapped = d - d.signum() * n[axis];
                match self.bounds[axis][0] {
                    // Inside the grid the offset can be met only if some point has the neighbour inside.
                    Bound::Periodic if d != 0 && d.abs() < n[axis] => vec![d, wrapped],
                    Bound::Periodic if d != 0 => vec![wrapped],
                    _ => vec![d],
                }
            };
            for dx in ways(0) {
                for dy in ways(1) {
                    for dz in ways(2) {
                        let points_apart = dx + n[0] * (dy + n[1] * dz);
                        let fields_apart = places[*from] as i64 - places[*to] as i64;
                        let distance = match layout {
                            Layout::Interleaved => points_apart * fields + fields_apart,
                            Layout::FieldWise => points_apart + points * fields_apart,
                        };
                        largest = largest.max(distance.unsigned_abs() as usize);
                    }
                }
            }
        }
        largest
    }

    /// Offsets read, by any field of any field.
    pub(crate) fn offsets(&self) -> Vec<[i32; 3]> {
        let mut all: Vec<_> = self.accesses.iter().map(|(_, _, o)| *o).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Largest distance along the index of points between a point and one that is read there. Along the slowest axis, periodic
/// grids continue past their end.
pub(crate) fn distance(system: &System) -> usize {
    if let Some(snippet) = &system.snippet {
        return snippet.distance;
    }
    let [nx, ny, _] = system.grid.n;
    let slow = slow_axis(system);
    let reach = |axis: usize, d: i32| match system.bounds[axis][0] {
        Bound::Periodic if axis != slow && d != 0 => system.grid.n[axis] - 1,
        _ => d.unsigned_abs() as usize,
    };
    let far = |o: &[i32; 3]| reach(0, o[0]) + nx * (reach(1, o[1]) + ny * reach(2, o[2]));
    system.offsets().iter().map(far).max().unwrap_or(0)
}

/// The axis along which whole rows or planes follow each other.
pub(crate) fn slow_axis(system: &System) -> usize {
    system.grid.dims - 1
}

/// Whether the points form a ring: the slowest axis is periodic.
pub(crate) fn ring(system: &System) -> bool {
    system.bounds[slow_axis(system)][0] == Bound::Periodic
}

#[cfg(test)]
mod tests {
    use crate::{Boundary, Grid, Layout, System};

    #[test]
    fn access_distances_of_known_systems() {
        let brusselator = |layout| {
            let b = System::builder(Grid::unit(&[16, 8]))
                .field("u", "v + u[-1,0] + u[1,0] + u[0,-1] + u[0,1]")
                .field("v", "u + v[-1,0] + v[1,0] + v[0,-1] + v[0,1]");
            match layout {
                Some(layout) => b.layout(layout),
                None => b,
            }
            .build()
            .unwrap()
        };
        assert_eq!(brusselator(Some(Layout::Interleaved)).access_distance(), 32);
        assert_eq!(brusselator(Some(Layout::FieldWise)).access_distance(), 128);
        assert_eq!(brusselator(None).layout(), Layout::Interleaved);
        let ring = |n: usize| {
            let b = System::builder(Grid::unit(&[n])).field("u", "u[-1] + u[1]").boundary(Boundary::Periodic);
            b.build().unwrap()
        };
        assert_eq!(ring(10).access_distance(), 9);
        assert_eq!(ring(10).radius(), [1, 0, 0]);
        // Pairs without neighbours: 1 interleaved, the number of points field-wise.
        let pairs = System::builder(Grid::unit(&[50])).field("a", "a*b").field("b", "-a*b").build().unwrap();
        assert_eq!((pairs.access_distance(), pairs.layout()), (1, Layout::Interleaved));
    }
}
