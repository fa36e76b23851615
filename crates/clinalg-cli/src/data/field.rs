//! Regular grids, and values on them.

use clinalg::multigrid::{Centring, Condition, End, Grid};
use clinalg::{Precision, Real};

/// A regular grid on a box with a corner in the origin.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lattice {
    /// Points along x, y and, in a cube, z.
    points: Vec<usize>,
    /// Lengths of the sides.
    lengths: Vec<f64>,
    /// Into how many intervals the points divide each side.
    intervals: Vec<usize>,
    /// Coordinates of the first point.
    first: Vec<f64>,
}

impl Lattice {
    /// `n` points per side of the unit square or cube.
    #[cfg(test)]
    pub(crate) fn unit(n: usize, dim: usize) -> Lattice {
        Lattice::with_ends(&vec![n; dim], &vec![1.0; dim], &vec![false; dim])
    }

    /// The points of an evenly spaced grid on a box of these lengths.
    pub(crate) fn of_box(grid: &Grid, lengths: &[f64], centring: Centring) -> Lattice {
        let cells = centring == Centring::Cell;
        let whole = |axis| cells || grid.condition(axis, End::Low) == Condition::Periodic;
        let intervals: Vec<_> =
            grid.points().iter().enumerate().map(|(axis, n)| n - usize::from(!whole(axis))).collect();
        let first = |(length, n): (&f64, &usize)| if cells { 0.5 * length / *n as f64 } else { 0.0 };
        Lattice {
            points: grid.points().to_vec(),
            lengths: lengths.to_vec(),
            first: lengths.iter().zip(&intervals).map(first).collect(),
            intervals,
        }
    }

    /// Points that include both ends of each direction, in periodic ones one end.
    pub(crate) fn with_ends(points: &[usize], lengths: &[f64], periodic: &[bool]) -> Lattice {
        let intervals = points.iter().zip(periodic).map(|(n, periodic)| n - usize::from(!periodic)).collect();
        Lattice { points: points.to_vec(), lengths: lengths.to_vec(), intervals, first: vec![0.0; points.len()] }
    }

    pub(crate) fn dim(&self) -> usize {
        self.points.len()
    }

    /// Points along `axis`, 1 along a third axis of a square.
    pub(crate) fn points(&self, axis: usize) -> usize {
        self.points.get(axis).copied().unwrap_or(1)
    }

    pub(crate) fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// Extents of an array of one value per point, slowest first, as in NumPy.
    pub(crate) fn shape(&self) -> Vec<usize> {
        self.points.iter().rev().copied().collect()
    }

    /// The same of an array of one value per cell.
    pub(crate) fn cell_shape(&self) -> Vec<usize> {
        self.intervals.iter().rev().copied().collect()
    }

    /// Coordinates of the points along `axis`.
    pub(crate) fn coordinates(&self, axis: usize) -> Vec<f64> {
        let (n, length) = (self.points[axis], self.lengths[axis]);
        (0..n).map(|i| self.first[axis] + length * (i as f64 / self.intervals[axis] as f64)).collect()
    }

    /// Coordinates of the points along each axis, x first.
    pub(crate) fn axes(&self) -> Vec<Vec<f64>> {
        (0..self.dim()).map(|axis| self.coordinates(axis)).collect()
    }

    /// The points that a picture shows of the plane x, y, of three dimensions of that in the middle: all, or of each
    /// direction with more than can be seen evenly distributed ones; and how many of them are in a row.
    pub(crate) fn shown(&self) -> (Vec<usize>, usize) {
        /// Most points along a direction.
        const MOST: usize = 2048;
        let [x, y] = [0, 1].map(|axis| {
            let n = self.points(axis);
            let count = n.div_ceil(n.div_ceil(MOST));
            // The nearest of the points to each of `count`.
            (0..count).map(|k| (2 * k * (n - 1) + count - 1) / (2 * (count - 1)).max(1)).collect::<Vec<_>>()
        });
        let (width, middle) = (self.points(0), self.points(2) / 2);
        let first = middle * width * self.points(1);
        let points = y.iter().flat_map(|j| x.iter().map(move |i| first + j * width + i)).collect();
        (points, x.len())
    }

    /// Coordinates of the centres of the cells along `axis`.
    pub(crate) fn centres(&self, axis: usize) -> Vec<f64> {
        let (n, length) = (self.intervals[axis], self.lengths[axis]);
        (0..n).map(|i| length * ((i as f64 + 0.5) / n as f64)).collect()
    }
}

/// Values with the precision in which they were computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Values {
    pub(crate) fn of<T: Real>(values: &[T]) -> Values {
        match T::PRECISION {
            // Values of `f32` come back from `f64` as they were.
            Precision::F32 => Values::F32(values.iter().map(|v| v.into_f64() as f32).collect()),
            Precision::F64 => Values::F64(values.iter().map(|v| v.into_f64()).collect()),
        }
    }

    /// Makes values of single precision that were read as double ones what they were.
    pub(crate) fn round_to_f32(&mut self) {
        if let Values::F64(values) = self {
            *self = Values::F32(values.iter().map(|v| *v as f32).collect());
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
        }
    }

    /// The value at `k` with the digits that tell it from its neighbours.
    pub(crate) fn text(&self, k: usize) -> String {
        match self {
            Values::F32(values) => format!("{:e}", values[k]),
            Values::F64(values) => format!("{:e}", values[k]),
        }
    }

    /// NumPy's name of their type.
    pub(crate) fn dtype(&self) -> &'static str {
        match self {
            Values::F32(_) => "<f4",
            Values::F64(_) => "<f8",
        }
    }

    /// Bytes, the least significant first.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Values::F32(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Values::F64(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lattices_know_their_cells() {
        let square = Lattice::unit(5, 2);
        assert_eq!((square.len(), square.shape(), square.cell_shape()), (25, vec![5, 5], vec![4, 4]));
        assert_eq!(square.coordinates(0), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(square.centres(1), [0.125, 0.375, 0.625, 0.875]);
        assert_eq!(square.points(2), 1);
    }

    #[test]
    fn pictures_show_all_points_of_small_planes_and_some_of_large_ones() {
        assert_eq!(Lattice::unit(3, 2).shown(), ((0..9).collect(), 3));
        assert_eq!(Lattice::unit(3, 3).shown(), ((9..18).collect(), 3));
        let long = Lattice::with_ends(&[4097, 1], &[1.0; 2], &[false; 2]);
        let (points, columns) = long.shown();
        assert_eq!((points.len(), columns), (1366, 1366));
        assert_eq!((points[0], points[1], points[1365]), (0, 3, 4096));
        assert!(points.windows(2).all(|pair| (3..=4).contains(&(pair[1] - pair[0]))));
    }
}
