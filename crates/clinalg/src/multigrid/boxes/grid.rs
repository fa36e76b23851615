//! Boxes of any size: points, spacings and conditions on the sides.

use super::axis::Axis;
use crate::{Error, Result};

/// Where the values of a grid lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Centring {
    /// At the points, the ends of each direction included.
    #[default]
    Vertex,
    /// In the middle of the cells.
    Cell,
}

/// What holds on a side of a box. The value g of a side enters by [`SideValues`](super::SideValues).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Condition {
    /// u = g.
    #[default]
    Dirichlet,
    /// D du/dn = g, with the normal n that points out of the box.
    Neumann,
    /// alpha u + D du/dn = g.
    Robin {
        /// Finite, at least 0; with 0 it is [`Condition::Neumann`].
        alpha: f64,
    },
    /// The box continues with the opposite side, which must be periodic too.
    Periodic,
}

/// The two sides of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// Where the coordinate is smallest.
    Low,
    /// Where it is largest.
    High,
}

impl End {
    /// 0 for the low end, 1 for the high one.
    pub(crate) fn index(self) -> usize {
        match self {
            End::Low => 0,
            End::High => 1,
        }
    }
}

/// A direction in messages.
fn along(axis: usize) -> String {
    match axis {
        0 => "along x".into(),
        1 => "along y".into(),
        2 => "along z".into(),
        _ => format!("along direction {axis}"),
    }
}

/// Numbers of points in messages.
pub(in crate::multigrid) fn by(points: &[usize]) -> String {
    points.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
}

/// A box of two or three dimensions with points of any number and spacing in each direction.
///
/// Value (i, j, k) is `u[(k * ny + j) * nx + i]`: x runs fastest. With [`Centring::Vertex`] a direction of n points has them at
/// both ends and n - 1 intervals between; a periodic one has n intervals, since its last end is its first point again.
/// With [`Centring::Cell`] a direction of n points has n cells with the points in their middle.
///
/// ```
/// use clinalg::multigrid::{Centring, Condition, End, Grid};
///
/// let grid = Grid::new(&[300, 200]).size(&[2.0, 1.0]).side(0, End::Low, Condition::Neumann).periodic(1);
/// assert_eq!(grid.len(), 60_000);
/// assert_eq!(grid.coordinates(0)?[299], 2.0);
/// assert_eq!(Grid::new(&[10, 10]).centring(Centring::Cell).coordinates(1)?[0], 0.05);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    points: Vec<usize>,
    size: Vec<f64>,
    given: Vec<Option<Vec<f64>>>,
    sides: Vec<[Condition; 2]>,
    centring: Centring,
}

impl Grid {
    /// A box with so many points in each direction, evenly spaced on the unit square or cube, vertex-centred, with Dirichlet
    /// conditions everywhere. Values out of range are reported by the functions that take the grid.
    pub fn new(points: &[usize]) -> Grid {
        let dim = points.len();
        Grid {
            points: points.to_vec(),
            size: vec![1.0; dim],
            given: vec![None; dim],
            sides: vec![[Condition::Dirichlet; 2]; dim],
            centring: Centring::Vertex,
        }
    }

    /// The unit square with `n` points per side, those on the boundary included.
    pub fn square(n: usize) -> Grid {
        Grid::new(&[n; 2])
    }

    /// The unit cube with `n` points per side, those on the boundary included.
    pub fn cube(n: usize) -> Grid {
        Grid::new(&[n; 3])
    }

    /// With these lengths of the directions, from 0 on.
    pub fn size(mut self, size: &[f64]) -> Grid {
        self.size = size.to_vec();
        self
    }

    /// With points or cells of any widths along `axis`: ascending coordinates of the n points, for a periodic direction or for
    /// cells of the n + 1 ends of the intervals.
    ///
    /// # Panics
    /// When there is no such axis.
    pub fn spacing(mut self, axis: usize, coordinates: Vec<f64>) -> Grid {
        self.given[axis] = Some(coordinates);
        self
    }

    /// With this condition on one side.
    ///
    /// # Panics
    /// When there is no such axis.
    pub fn side(mut self, axis: usize, end: End, condition: Condition) -> Grid {
        self.sides[axis][end.index()] = condition;
        self
    }

    /// With this condition on all sides.
    pub fn sides(mut self, condition: Condition) -> Grid {
        self.sides.fill([condition; 2]);
        self
    }

    /// Periodic along `axis`.
    ///
    /// # Panics
    /// When there is no such axis.
    pub fn periodic(mut self, axis: usize) -> Grid {
        self.sides[axis] = [Condition::Periodic; 2];
        self
    }

    /// With the values at the points or in the cells.
    pub fn centring(mut self, centring: Centring) -> Grid {
        self.centring = centring;
        self
    }

    /// Number of dimensions.
    pub fn dim(&self) -> usize {
        self.points.len()
    }

    /// Points of each direction.
    pub fn points(&self) -> &[usize] {
        &self.points
    }

    /// Number of values of a grid.
    pub fn len(&self) -> usize {
        self.points.iter().product()
    }

    /// Whether a grid has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The condition of a side.
    ///
    /// # Panics
    /// When there is no such axis.
    pub fn condition(&self, axis: usize, end: End) -> Condition {
        self.sides[axis][end.index()]
    }

    /// Whether u is given at the points of a side.
    ///
    /// # Panics
    /// When there is no such axis.
    pub fn is_held(&self, axis: usize, end: End) -> bool {
        self.centring == Centring::Vertex && self.condition(axis, end) == Condition::Dirichlet
    }

    /// The points per side, if this is a regular grid: the unit square or cube, equally spaced with 2^k + 1 points per
    /// side, u given on the boundary.
    pub fn regular(&self) -> Option<usize> {
        let n = *self.points.first()?;
        let plain = (2..=3).contains(&self.dim())
            && self.centring == Centring::Vertex
            && self.points.iter().all(|&points| points == n)
            && self.size.iter().all(|&length| length == 1.0)
            && self.given.iter().all(Option::is_none)
            && self.sides.as_flattened().iter().all(|&side| side == Condition::Dirichlet);
        (plain && n >= 3 && (n - 1).is_power_of_two()).then_some(n)
    }

    /// Coordinates of the points along `axis`.
    ///
    /// # Errors
    /// [`Error::Value`] that names what is out of range.
    ///
    /// # Panics
    /// When there is no such axis.
    pub fn coordinates(&self, axis: usize) -> Result<Vec<f64>> {
        let ends = self.ends(axis)?;
        Ok(match self.centring {
            Centring::Vertex => ends[..self.points[axis]].to_vec(),
            Centring::Cell => ends.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect(),
        })
    }

    /// The coordinates of the two sides across `axis`, of a checked grid.
    pub(super) fn around(&self, axis: usize) -> Result<[f64; 2]> {
        let ends = self.ends(axis)?;
        Ok([ends[0], ends[ends.len() - 1]])
    }

    /// The ends of the intervals along `axis`.
    fn ends(&self, axis: usize) -> Result<Vec<f64>> {
        let n = self.points[axis];
        let intervals = self.intervals(axis);
        match &self.given[axis] {
            None => {
                let length = self.size[axis];
                Ok((0..=intervals).map(|i| length * i as f64 / intervals as f64).collect())
            }
            Some(ends) if ends.len() == intervals + 1 => Ok(ends.clone()),
            Some(ends) => {
                let expected = format!("{} for {n} points", intervals + 1);
                Err(Error::value("spacing", expected, format!("{} coordinates {}", ends.len(), along(axis))))
            }
        }
    }

    pub(in crate::multigrid) fn intervals(&self, axis: usize) -> usize {
        let whole = self.centring == Centring::Cell || self.sides[axis][0] == Condition::Periodic;
        self.points[axis] - usize::from(!whole)
    }

    /// An error unless the grid can be used.
    ///
    /// # Errors
    /// [`Error::Value`] that names `points`, `size`, `spacing` or `sides`.
    pub fn check(&self) -> Result<()> {
        let dim = self.dim();
        if !(2..=3).contains(&dim) {
            return Err(Error::value("points", "two or three numbers, one per direction", format!("{dim} numbers")));
        }
        if self.size.len() != dim {
            return Err(Error::value("size", format!("{dim} lengths, one per direction"), self.size.len()));
        }
        let product = self.points.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        // Positions along a direction are 32-bit numbers on the device.
        if product.is_none() || self.points.iter().any(|&n| n > u32::MAX as usize / 4) {
            return Err(Error::value(
                "points",
                "a smaller grid: its points cannot be counted",
                format!("{:?}", self.points),
            ));
        }
        for axis in 0..dim {
            let (n, sides) = (self.points[axis], self.sides[axis]);
            let length = self.size[axis];
            if !(length > 0.0 && length.is_finite()) {
                return Err(Error::value("size", "positive, finite lengths", format!("{length} {}", along(axis))));
            }
            for side in sides {
                if let Condition::Robin { alpha } = side
                    && !(alpha >= 0.0 && alpha.is_finite())
                {
                    return Err(Error::value("sides", "Robin conditions with a finite alpha, at least 0", alpha));
                }
            }
            let periodic = sides.map(|side| side == Condition::Periodic);
            if periodic[0] != periodic[1] {
                let got = format!("one periodic side {}", along(axis));
                return Err(Error::value("sides", "both sides of a direction periodic, or neither", got));
            }
            let held = sides.iter().filter(|&&side| side == Condition::Dirichlet).count();
            let least = match self.centring {
                Centring::Cell => 1,
                Centring::Vertex if periodic[0] => 1,
                Centring::Vertex => (1 + held).max(2),
            };
            if n < least {
                return Err(Error::value("points", format!("at least {least} {}", along(axis)), n));
            }
            let ends = self.ends(axis)?;
            let ascending = ends.windows(2).all(|pair| pair[0] < pair[1]) && ends.iter().all(|x| x.is_finite());
            if !ascending {
                let got = format!("not finite or not ascending {}", along(axis));
                return Err(Error::value("spacing", "finite, strictly ascending coordinates", got));
            }
        }
        Ok(())
    }

    /// The directions of the finest level, of a checked grid, with the coefficients `diffusion`.
    pub(crate) fn axes(&self, diffusion: &[f64]) -> Result<Vec<Axis>> {
        (0..self.dim())
            .map(|axis| {
                let intervals = self.intervals(axis);
                let lengths = match self.given[axis] {
                    Some(_) => self.ends(axis)?.windows(2).map(|pair| pair[1] - pair[0]).collect(),
                    None => vec![self.size[axis] / intervals as f64; intervals],
                };
                Ok(Axis { centring: self.centring, sides: self.sides[axis], lengths, diffusion: diffusion[axis] })
            })
            .collect()
    }
}
