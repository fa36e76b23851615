//! Grids, what stands outside them, and the order of components in memory.

use crate::model::formula::Expr;

/// A grid of 1, 2 or 3 dimensions; x runs fastest in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    pub(crate) dims: usize,
    pub(crate) n: [usize; 3],
    pub(crate) origin: [f64; 3],
    pub(crate) spacing: [f64; 3],
}

impl Grid {
    /// A grid with `n[axis]` points along each axis, from 0 to 1, both ends being points.
    pub fn unit(n: &[usize]) -> Grid {
        let spacing: Vec<f64> = n.iter().map(|n| 1.0 / (n.max(&2) - 1) as f64).collect();
        Grid::new(n, &vec![0.0; n.len()], &spacing)
    }

    /// A grid with `n[axis]` points along each axis, the first at `origin[axis]`, `spacing[axis]` apart. Whether it can be
    /// used is checked by [`Builder::build`](crate::model::Builder::build).
    pub fn new(n: &[usize], origin: &[f64], spacing: &[f64]) -> Grid {
        let axis = |values: &[f64], unused: f64| {
            std::array::from_fn(|a| match a < n.len() {
                true => values.get(a).copied().unwrap_or(f64::NAN),
                false => unused,
            })
        };
        Grid {
            dims: n.len(),
            n: std::array::from_fn(|a| n.get(a).copied().unwrap_or(1)),
            origin: axis(origin, 0.0),
            spacing: axis(spacing, 1.0),
        }
    }

    /// Number of points; `usize::MAX` where it is larger than that.
    pub fn points(&self) -> usize {
        self.n.iter().fold(1, |product, n| product.saturating_mul(*n))
    }

    /// Number of points along each axis.
    pub fn shape(&self) -> &[usize] {
        &self.n[..self.dims.min(3)]
    }

    /// Coordinates of point `p`, x running fastest.
    pub fn position(&self, p: usize) -> [f64; 3] {
        let index = self.index(p);
        std::array::from_fn(|a| if a < self.dims { self.origin[a] + index[a] as f64 * self.spacing[a] } else { 0.0 })
    }

    pub(crate) fn index(&self, p: usize) -> [usize; 3] {
        [p % self.n[0], p / self.n[0] % self.n[1], p / self.n[0] / self.n[1]]
    }

    /// The point of these indices.
    pub(crate) fn point(&self, index: [i64; 3]) -> usize {
        (index[0] + self.n[0] as i64 * (index[1] + self.n[1] as i64 * index[2])) as usize
    }
}

/// Most components of a system. Bytes of all vectors of a method, and distances between components, stay far below the
/// largest integers.
pub(crate) const MOST_COMPONENTS: usize = 1 << 48;

/// What stands for a neighbour outside the grid.
#[derive(Debug, Clone, PartialEq)]
pub enum Boundary {
    /// The neighbour the same way inside: index -k is k (homogeneous Neumann, the boundary point being on the boundary).
    Mirror,
    /// The last point inside: index -k is 0.
    Copy,
    /// The grid continues at its other end; both sides of an axis or none.
    Periodic,
    /// Formulas, one per field, of t, the parameters and the coordinates of the neighbour. They may read fields further inside,
    /// at offsets from the neighbour: on a lower side `2 - u[1]` makes 1 the mean of the neighbour and the point next to it.
    Value(Vec<String>),
}

/// The lower or the upper end of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Index 0.
    Low,
    /// The last index.
    High,
}

/// Where the components stand in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// All fields of a point together.
    Interleaved,
    /// All points of a field together.
    FieldWise,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bound {
    Mirror,
    Copy,
    Periodic,
    Value(Vec<Expr>),
}
