//! The finest operator for a coefficient or a tensor that varies, for a tensor with off-diagonal entries, and of order 4.

use super::axis::Axis;
use super::grid::{Centring, Condition};
use super::stencil::Stencil;
use crate::error::check_length;
use crate::multigrid::Coefficient;
use crate::multigrid::params::PoissonParams;
use crate::{Error, Real, Result};

/// The coefficient k by which the tensor D is multiplied, or a tensor in each cell, as `f64`.
pub(super) enum Field {
    Constant,
    Points(Vec<f64>),
    Cells(Vec<f64>),
    /// The entries of the diagonal by direction, then dxy, dxz and dyz; an empty list stands for zeros.
    Tensor([Vec<f64>; 3], [Vec<f64>; 3]),
}

/// The entries of a tensor D(x), symmetric and positive definite, in the cells between the points of a grid (on a cell-centred grid, in its cells), x fastest.
/// For [`Poisson::with_tensor`](crate::multigrid::Poisson::with_tensor).
#[derive(Debug, Clone, Copy)]
pub struct Tensor<'a, T> {
    /// dxx, dyy and dzz; the last is not read in two dimensions.
    pub diagonal: [&'a [T]; 3],
    /// dxy, dxz and dyz; an empty slice stands for zeros. The last two are not read in two dimensions.
    pub mixed: [&'a [T]; 3],
}

/// What varies over a grid.
#[derive(Debug, Clone, Copy)]
pub(in crate::multigrid) enum Varying<'a, T> {
    Coefficient(Coefficient<'a, T>),
    Tensor(Tensor<'a, T>),
}

/// Where a value comes from that the right-hand side takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// A point of the grid where u is given.
    Point(usize),
    /// Value `at` of a side.
    Side { axis: usize, end: usize, at: usize },
}

/// `factor` times the value is added to the right-hand side of `unknown`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) unknown: usize,
    pub(super) from: Origin,
    pub(super) factor: f64,
}

/// An operator and what given values add to the right-hand side, without those that [`Factors`](super::axis::Factors) has.
pub(super) struct Finest {
    pub(super) stencil: Stencil,
    pub(super) loads: Vec<Load>,
}

/// Whether the tensor with this diagonal and these off-diagonal entries is positive definite.
pub(in crate::multigrid) fn is_positive(dim: usize, [x, y, z]: [f64; 3], [xy, xz, yz]: [f64; 3]) -> bool {
    let planes = x * y - xy * xy;
    let whole = z * planes - x * yz * yz - y * xz * xz + 2.0 * xy * xz * yz;
    x > 0.0 && planes > 0.0 && planes.is_finite() && (dim == 2 || (whole > 0.0 && whole.is_finite()))
}

impl Field {
    /// # Errors
    /// [`Error::Length`] and [`Error::Value`] that name `coefficient` or `tensor`.
    pub(super) fn new<T: Real>(axes: &[Axis], points: &[usize], given: Varying<'_, T>) -> Result<Field> {
        match given {
            Varying::Coefficient(given) => Field::coefficient(axes, points, given),
            Varying::Tensor(given) => Field::tensor(axes, given),
        }
    }

    fn tensor<T: Real>(axes: &[Axis], given: Tensor<'_, T>) -> Result<Field> {
        let dim = axes.len();
        let cells = axes.iter().map(|axis| axis.lengths.len()).product();
        let wide = |values: &[T]| values.iter().map(|v| v.into_f64()).collect::<Vec<f64>>();
        let mut diagonal = [const { Vec::new() }; 3];
        for (entries, given) in diagonal.iter_mut().zip(&given.diagonal[..dim]) {
            check_length("tensor", cells, given.len())?;
            *entries = wide(given);
        }
        let mut mixed = [const { Vec::new() }; 3];
        for (entries, given) in mixed.iter_mut().zip(&given.mixed[..if dim == 3 { 3 } else { 1 }]) {
            if !given.is_empty() {
                check_length("tensor", cells, given.len())?;
                if given.iter().any(|d| *d != T::zero()) {
                    *entries = wide(given);
                }
            }
        }
        let entry = |entries: &Vec<f64>, cell: usize, other: f64| entries.get(cell).copied().unwrap_or(other);
        for cell in 0..cells {
            let [d, m] =
                [(&diagonal, 1.0), (&mixed, 0.0)].map(|(all, other)| [0, 1, 2].map(|e| entry(&all[e], cell, other)));
            if !is_positive(dim, d, m) {
                let entries = if dim == 3 { 3 } else { 1 };
                let got = format!(
                    "diagonal {:?}, off-diagonal {:?} in cell {} (counted from 1)",
                    &d[..dim],
                    &m[..entries],
                    cell + 1
                );
                return Err(Error::value("tensor", "a positive definite, finite tensor in each cell", got));
            }
        }
        Ok(Field::Tensor(diagonal, mixed))
    }

    /// The factor of the flux along a direction in a cell. On vertex-centred grids not for coefficients at the points.
    fn along(&self, axis: usize, cell: usize) -> f64 {
        match self {
            Field::Constant => 1.0,
            Field::Points(values) | Field::Cells(values) => values[cell],
            Field::Tensor(diagonal, _) => diagonal[axis][cell],
        }
    }

    /// Off-diagonal entry number `entry` in a cell, where D has the constant one `constant`.
    fn mixed(&self, entry: usize, constant: f64, cell: usize) -> f64 {
        match self {
            Field::Constant | Field::Points(_) => constant,
            Field::Cells(values) => constant * values[cell],
            Field::Tensor(_, mixed) => mixed[entry].get(cell).copied().unwrap_or(0.0),
        }
    }

    /// Whether a tensor in the cells has off-diagonal entries.
    fn is_full(&self) -> bool {
        matches!(self, Field::Tensor(_, mixed) if mixed.iter().any(|entries| !entries.is_empty()))
    }

    fn coefficient<T: Real>(axes: &[Axis], points: &[usize], given: Coefficient<'_, T>) -> Result<Field> {
        let (values, len) = match given {
            Coefficient::Points(values) => (values, points.iter().product()),
            Coefficient::Cells(values) => (values, axes.iter().map(|axis| axis.lengths.len()).product::<usize>()),
        };
        check_length("coefficient", len, values.len())?;
        if let Some(bad) = values.iter().find(|k| !(**k > T::zero() && k.is_finite())) {
            return Err(Error::value("coefficient", "positive, finite numbers", bad));
        }
        let values = values.iter().map(|k| k.into_f64()).collect();
        // Cells have their points in the middle.
        Ok(match given {
            Coefficient::Points(_) if axes[0].centring == Centring::Vertex => Field::Points(values),
            _ => Field::Cells(values),
        })
    }
}

/// The operator of `axes` with the coefficient `field`.
///
/// # Errors
/// [`Error::Value`] that names `mixed_derivatives` for off-diagonal entries where they are not supported.
pub(super) fn finest(axes: &[Axis], params: &PoissonParams, field: &Field) -> Result<Finest> {
    let dim = axes.len();
    let mixed = params.mixed_in(dim);
    if let Field::Tensor(..) = field {
        if mixed != [0.0; 3] || params.diffusion[..dim].iter().any(|d| *d != 1.0) {
            let got = format!("the diagonal {:?} and off-diagonal {mixed:?}", params.diffusion);
            return Err(Error::value("tensor", "not combined with a constant tensor", got));
        }
        if field.is_full() && axes[0].centring == Centring::Cell {
            let got = "others on a cell-centred grid; use a vertex-centred grid";
            return Err(Error::value("tensor", "off-diagonal entries of 0", got));
        }
    }
    if mixed.iter().any(|d| *d != 0.0) {
        if axes[0].centring == Centring::Cell {
            return Err(Error::value(
                "mixed_derivatives",
                "0 on a cell-centred grid; use a vertex-centred grid",
                format!("{mixed:?}"),
            ));
        }
        if let Field::Points(_) = field {
            let got = format!("{mixed:?}");
            return Err(Error::value(
                "mixed_derivatives",
                "0 with a coefficient at the points; give the coefficient per cell",
                got,
            ));
        }
    }
    Ok(match axes[0].centring {
        Centring::Cell => cells(axes, params, field),
        Centring::Vertex => vertices(axes, params, field, mixed),
    })
}

fn three<T: Copy>(dim: usize, other: T, value: impl Fn(usize) -> T) -> [T; 3] {
    [0, 1, 2].map(|d| if d < dim { value(d) } else { other })
}

/// All points of a box of these counts, x fastest.
fn each(counts: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..counts.iter().product()).map(move |p| [p % counts[0], p / counts[0] % counts[1], p / (counts[0] * counts[1])])
}

fn unit(axis: usize) -> [i8; 3] {
    [0, 1, 2].map(|d| i8::from(d == axis))
}

/// The place of a point on a side across `axis`.
fn on_side(counts: [usize; 3], at: [usize; 3], axis: usize) -> usize {
    (0..3).filter(|&d| d != axis).fold((0, 1), |(q, stride), d| (q + at[d] * stride, stride * counts[d])).0
}

/// Fluxes between the middles of cells through two halves of them one after the other: their harmonic mean.
fn cells(axes: &[Axis], params: &PoissonParams, field: &Field) -> Finest {
    let dim = axes.len();
    let counts = three(dim, 1, |d| axes[d].unknowns());
    let wraps = three(dim, false, |d| axes[d].periodic());
    let mut stencil = Stencil::new(counts, dim, wraps, false);
    let mut loads = Vec::new();
    let length = |d: usize, i: usize| axes.get(d).map_or(1.0, |axis: &Axis| axis.lengths[i]);
    for (p, at) in each(counts).enumerate() {
        let volume: f64 = (0..dim).map(|d| length(d, at[d])).product();
        stencil.mass[p] += params.shift * volume;
        for (d, axis) in axes.iter().enumerate() {
            let half = |p: usize, i: usize| 0.5 * axis.lengths[i] / (axis.diffusion * field.along(d, p));
            let area = volume / axis.lengths[at[d]];
            if let Some(to) = stencil.neighbour(at, unit(d)) {
                let value = area / (half(p, at[d]) + half(stencil.place(to), to[d]));
                stencil.couple(at, unit(d), value);
            }
            for end in [0, 1] {
                if at[d] != [0, counts[d] - 1][end] {
                    continue;
                }
                let beta = 1.0 / half(p, at[d]);
                let (diagonal, factor) = match axis.sides[end] {
                    Condition::Dirichlet => (beta, beta),
                    Condition::Robin { alpha } => (alpha * beta / (alpha + beta), beta / (alpha + beta)),
                    _ => continue,
                };
                stencil.mass[p] += area * diagonal;
                let from = Origin::Side { axis: d, end, at: on_side(counts, at, d) };
                loads.push(Load { unknown: p, from, factor: area * factor });
            }
        }
    }
    Finest { stencil, loads }
}

/// Bilinear or trilinear elements with the integrals taken at the corners, so that without off-diagonal entries the
/// neighbours are those along the directions. The tensor of each corner is positive definite, so the operator is positive semidefinite.
fn vertices(axes: &[Axis], params: &PoissonParams, field: &Field, mixed: [f64; 3]) -> Finest {
    let dim = axes.len();
    let compact = params.order == 4;
    let full = compact || field.is_full() || mixed.iter().any(|d| *d != 0.0);
    let intervals = three(dim, 1, |d| axes[d].lengths.len());
    let wraps = three(dim, false, |d| axes[d].periodic());
    let points = three(dim, 1, |d| intervals[d] + usize::from(!wraps[d]));
    let all = Stencil::new(points, dim, wraps, full);
    let all = if compact { compact4(all, axes, params.shift) } else { assembled(all, axes, field, mixed, intervals) };

    let first = three(dim, 0, |d| usize::from(axes[d].held(0)));
    let counts = three(dim, 1, |d| axes[d].unknowns());
    let factors: Vec<_> = axes.iter().map(Axis::factors).collect();
    let mass = |d: usize, i: usize| factors.get(d).map_or(1.0, |factors| factors.mass[i]);
    let mut stencil = Stencil::new(counts, dim, wraps, full);
    let mut loads = Vec::new();
    for (p, at) in each(counts).enumerate() {
        let volume: f64 = (0..dim).map(|d| mass(d, at[d])).product();
        stencil.mass[p] += params.shift * volume;
        for d in 0..dim {
            // Of Robin conditions, and of points that are held, whose share is that of their couplings below.
            let robin = [0, 1].map(|end| match axes[d].sides[end] {
                Condition::Robin { alpha } if at[d] == [0, counts[d] - 1][end] => alpha,
                _ => 0.0,
            });
            stencil.mass[p] += (robin[0] + robin[1]) * volume / mass(d, at[d]);
        }
        let point = [0, 1, 2].map(|d| at[d] + first[d]);
        for (to, offset, coupling) in all.around(point) {
            let inside = (0..3).all(|d| (first[d]..first[d] + counts[d]).contains(&to[d]));
            if !inside {
                stencil.mass[p] += coupling;
                loads.push(Load { unknown: p, from: Origin::Point(all.place(to)), factor: coupling });
            } else if stencil.full() || offset.iter().filter(|d| **d != 0).count() == 1 {
                // Each pair is seen from both of its points.
                stencil.couple(at, offset, 0.5 * coupling);
            }
        }
    }
    Finest { stencil, loads }
}

/// The couplings of order 4 of points with equal spacing (Spotz and Carey 1996): the leading errors h^2/12 D u_xxxx of the second
/// differences, expressed by the equation itself, become mixed differences, and differences of the right-hand side, which
/// [`Points::right_side`](super::points::Points::right_side) takes.
fn compact4(mut all: Stencil, axes: &[Axis], shift: f64) -> Stencil {
    let dim = axes.len();
    let volume: f64 = axes.iter().map(|axis| axis.lengths[0]).product();
    // d / h^2 of each direction.
    let rate = |d: usize| axes[d].diffusion / (axes[d].lengths[0] * axes[d].lengths[0]);
    let mixed = |a: usize, b: usize| volume * (rate(a) + rate(b)) / 12.0;
    let mut neighbours = Vec::new();
    for a in 0..dim {
        let across: f64 = (0..dim).filter(|&b| b != a).map(|b| mixed(a, b)).sum();
        neighbours.push((unit(a), volume * (rate(a) - shift / 12.0) - 2.0 * across));
        for b in a + 1..dim {
            for step in [1, -1] {
                let mut offset = unit(b);
                offset[a] = step;
                neighbours.push((offset, mixed(a, b)));
            }
        }
    }
    for at in each(all.counts) {
        for &(offset, value) in &neighbours {
            if all.neighbour(at, offset).is_some() {
                all.couple(at, offset, value);
            }
        }
    }
    all
}

/// The couplings of all points of a vertex-centred grid, cell by cell.
fn assembled(mut all: Stencil, axes: &[Axis], field: &Field, mixed: [f64; 3], intervals: [usize; 3]) -> Stencil {
    let dim = axes.len();
    let corner = |all: &Stencil, cell: [usize; 3], step: [usize; 3]| {
        [0, 1, 2].map(|d| if cell[d] + step[d] == all.counts[d] { 0 } else { cell[d] + step[d] })
    };
    for (number, cell) in each(intervals).enumerate() {
        let length = |d: usize| axes.get(d).map_or(1.0, |axis: &Axis| axis.lengths[cell[d]]);
        for (d, axis) in axes.iter().enumerate() {
            // A quarter of the cross-section for each edge, half of it in two dimensions.
            let share: f64 = (0..dim).filter(|&other| other != d).map(|other| 0.5 * length(other)).product();
            let edges = three(dim, 1, |other| if other == d { 1 } else { 2 });
            for step in each(edges) {
                let at = corner(&all, cell, step);
                let k = match field {
                    Field::Constant | Field::Cells(_) | Field::Tensor(..) => field.along(d, number),
                    Field::Points(values) => {
                        let to = corner(&all, at, unit(d).map(|step| step as usize));
                        let [a, b] = [values[all.place(at)], values[all.place(to)]];
                        2.0 * a * b / (a + b)
                    }
                };
                all.couple(at, unit(d), k * axis.diffusion * share / length(d));
            }
        }
        // 2 d ux uy of a plane from the differences along its two diagonals, of which one rises.
        for (entry, (a, b, other)) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)].into_iter().enumerate() {
            let d = field.mixed(entry, mixed[entry], number);
            if d == 0.0 {
                continue;
            }
            let planes = if other < dim { 2 } else { 1 };
            let value = 0.5 * d * if planes == 2 { 0.5 * length(other) } else { 1.0 };
            for plane in 0..planes {
                let at = |low_a: usize| [0, 1, 2].map(|e| if e == a { low_a } else { usize::from(e == other) * plane });
                let mut rising = unit(a);
                rising[b] = 1;
                let mut falling = rising;
                falling[a] = -1;
                all.couple(corner(&all, cell, at(0)), rising, value);
                all.couple(corner(&all, cell, at(1)), falling, -value);
            }
        }
    }
    all
}
