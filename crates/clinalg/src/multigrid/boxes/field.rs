//! The finest operator for a coefficient or a tensor that varies, for a tensor with off-diagonal entries, and of order 4.

use std::borrow::Cow;

use super::axis::Axis;
use super::grid::{Centring, Condition};
use super::points::Layout;
use super::stencil::{OnDevice, offsets};
use crate::error::check_length;
use crate::multigrid::params::PoissonParams;
use crate::multigrid::{Coefficient, launch};
use crate::runtime::kernels::boxes_setup;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Error, Real, Result, Vector};

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

/// Whether the tensor with this diagonal and these off-diagonal entries is positive definite.
pub(in crate::multigrid) fn is_positive(dim: usize, [x, y, z]: [f64; 3], [xy, xz, yz]: [f64; 3]) -> bool {
    let planes = x * y - xy * xy;
    let whole = z * planes - x * yz * yz - y * xz * xz + 2.0 * xy * xz * yz;
    x > 0.0 && planes > 0.0 && planes.is_finite() && (dim == 2 || (whole > 0.0 && whole.is_finite()))
}

/// What varies over a grid, numbered as in boxes_setup.cl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Constant = 0,
    Points = 1,
    Cells = 2,
    Tensor = 3,
    /// Nothing: the same coupling for each offset at all points.
    Offsets = 4,
}

/// A grid and what varies over it, on the device: makes the finest operator, and adds what its right-hand side takes from the sides.
pub(super) struct Finest<T: Real> {
    context: Context,
    axes: Vec<Axis>,
    counts: [usize; 3],
    /// Of the points, and of the values that vary.
    points: [u32; 3],
    lattice: [u32; 3],
    /// How many offsets have couplings.
    used: u32,
    kind: Kind,
    shift: T,
    places: Buffer<u32>,
    factors: Buffer<T>,
    entries: Buffer<T>,
    field: Buffer<T>,
    /// The places of the first values of the sides among those of all.
    starts: Buffer<u32>,
}

/// Where couplings with given points go.
enum Into<'a, T: Real> {
    /// The couplings of an operator, and its masses.
    Operator(&'a OnDevice<T>),
    /// A right-hand side, by the values of the sides.
    RightSide(&'a Buffer<T>, &'a Vector<T>),
}

impl<T: Real> Finest<T> {
    /// # Errors
    /// [`Error::Length`] and [`Error::Value`] that name `coefficient` or `tensor`; [`Error::Value`] that names `mixed_derivatives` for
    /// off-diagonal entries where they are not supported, or `points`; [`Error::Allocation`].
    pub(super) fn new(
        context: &Context,
        axes: &[Axis],
        layout: &Layout,
        params: &PoissonParams,
        varying: Option<Varying<'_, T>>,
    ) -> Result<Finest<T>> {
        let (dim, mixed) = (axes.len(), params.mixed_in(axes.len()));
        let (kind, field) = match varying {
            Some(Varying::Coefficient(given)) => coefficient(axes, layout, given)?,
            Some(Varying::Tensor(given)) => (Kind::Tensor, Cow::Owned(tensor(axes, params, given)?)),
            None if params.order == 4 => {
                let couplings = compact4(axes, params.shift).into_iter().map(T::from_f64);
                (Kind::Offsets, Cow::Owned(couplings.collect()))
            }
            None => (Kind::Constant, Cow::Owned(vec![T::one()])),
        };
        let is_full = match kind {
            Kind::Offsets => true,
            Kind::Tensor => field.len() > dim * cells(axes),
            _ => mixed.iter().any(|d| *d != 0.0),
        };
        if is_full {
            check_mixed(axes, kind, mixed)?;
        }
        let mut rows: Vec<_> = axes.iter().flat_map(Axis::rows).collect();
        if dim == 2 {
            rows.push(([0; 7], [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]));
        }
        let places: Vec<u32> = rows.iter().flat_map(|(places, _)| *places).collect();
        let factors: Vec<T> = rows.iter().flat_map(|(_, factors)| factors.map(T::from_f64)).collect();
        let entries = if kind == Kind::Tensor { [1.0; 3] } else { mixed };
        let points = layout.all().map(|count| count as u32);
        let intervals = [0, 1, 2].map(|d| axes.get(d).map_or(1, |axis| axis.lengths.len() as u32));
        Ok(Finest {
            context: context.clone(),
            axes: axes.to_vec(),
            counts: layout.counts(),
            points,
            lattice: if kind == Kind::Points { points } else { intervals },
            used: if is_full { offsets(dim).len() } else { dim } as u32,
            kind,
            shift: T::from_f64(params.shift),
            places: Buffer::from_slice(context, &places)?,
            factors: Buffer::from_slice(context, &factors)?,
            entries: Buffer::from_slice(context, &entries.map(T::from_f64))?,
            field: Buffer::from_slice(context, &field)?,
            starts: Buffer::from_slice(context, &layout.starts()?)?,
        })
    }

    fn program(&self) -> boxes_setup::Program<T> {
        boxes_setup::Program::new().dim(self.axes.len() as u64)
    }

    fn range(&self, [nx, ny, nz]: [usize; 3]) -> Range {
        launch::items(&self.context, [nx, ny * nz], ny * nz)
    }

    fn is_cell_centred(&self) -> bool {
        self.axes[0].centring == Centring::Cell
    }

    /// The operator.
    pub(super) fn operator(&self) -> Result<OnDevice<T>> {
        // Of a full tensor in three dimensions those along the diagonals of the box are 0.
        let couplings = Buffer::zeroed(&self.context, self.used as usize * self.counts.iter().product::<usize>())?;
        let operator = OnDevice::new(&self.context, self.counts, &self.axes, couplings)?;
        if !self.is_cell_centred() {
            self.couple(&Into::Operator(&operator))?;
            return Ok(operator);
        }
        let Finest { context, shift, places, factors, field, .. } = self;
        let ([nx, ny, nz], range, kind) = (self.counts.map(|n| n as u32), self.range(self.counts), self.kind as u32);
        let [couplings, mass] = [operator.couplings(), operator.mass()].map(Out::shared);
        self.program()
            .finest_cells(context, range, nx, ny, nz, kind, *shift, places, factors, field, couplings, mass)?;
        Ok(operator)
    }

    /// The couplings of a vertex-centred grid.
    fn couple(&self, into: &Into<'_, T>) -> Result<()> {
        let Finest { context, shift, places, factors, entries, field, starts, .. } = self;
        let ([nx, ny, nz], [lx, ly, lz], [px, py, _]) = (self.counts.map(|n| n as u32), self.lattice, self.points);
        let (range, kind) = (self.range(self.counts), self.kind as u32);
        // Without sides their values are not read, and neither are couplings written with them.
        let (sides, values, c, sums) = match *into {
            Into::Operator(operator) => (0, field, operator.couplings(), operator.mass()),
            Into::RightSide(values, b) => (1, values, values, b.buffer()),
        };
        let out = || [c, sums].map(Out::shared);
        if self.kind == Kind::Offsets {
            let [c, sums] = out();
            return self.program().couple_equally(
                context, range, nx, ny, nz, px, py, sides, *shift, places, factors, field, starts, values, c, sums,
            );
        }
        let [along, sums] = out();
        self.program().couple_along(
            context, range, nx, ny, nz, lx, ly, lz, px, py, kind, sides, *shift, places, factors, field, starts,
            values, along, sums,
        )?;
        if self.used as usize == self.axes.len() {
            return Ok(());
        }
        let [across, sums] = out();
        self.program().couple_diagonals(
            context, range, nx, ny, nz, lx, ly, lz, px, py, kind, sides, places, factors, entries, field, starts,
            values, across, sums,
        )
    }

    /// Whether the values of a side are added to the right-hand side here, with a factor that varies.
    pub(super) fn takes(axis: &Axis, end: usize) -> bool {
        match axis.sides[end] {
            Condition::Dirichlet => true,
            Condition::Robin { .. } => axis.centring == Centring::Cell,
            _ => false,
        }
    }

    /// Adds what the unknowns take from the values of the sides, of which those with `any` may differ from 0.
    pub(super) fn add_sides(&self, any: &[[bool; 2]; 3], values: &Buffer<T>, b: &Vector<T>) -> Result<()> {
        let Finest { context, factors, field, starts, .. } = self;
        if !self.is_cell_centred() {
            return self.couple(&Into::RightSide(values, b));
        }
        let ([nx, ny, nz], kind) = (self.counts.map(|n| n as u32), self.kind as u32);
        for (d, axis) in self.axes.iter().enumerate() {
            for end in (0..2).filter(|&end| any[d][end] && Finest::<T>::takes(axis, end)) {
                let mut face = self.counts;
                face[d] = 1;
                let (range, b, d, end) = (self.range(face), Out::shared(b.buffer()), d as u32, end as u32);
                let program = self.program();
                program.add_side_cells(context, range, nx, ny, nz, d, end, kind, factors, field, starts, values, b)?;
            }
        }
        Ok(())
    }
}

fn cells(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.lengths.len()).product()
}

fn coefficient<'a, T: Real>(axes: &[Axis], layout: &Layout, given: Coefficient<'a, T>) -> Result<(Kind, Cow<'a, [T]>)> {
    let (values, len) = match given {
        Coefficient::Points(values) => (values, layout.points()),
        Coefficient::Cells(values) => (values, cells(axes)),
    };
    check_length("coefficient", len, values.len())?;
    if let Some(bad) = values.iter().find(|k| !(**k > T::zero() && k.is_finite())) {
        return Err(Error::value("coefficient", "positive, finite numbers", bad));
    }
    // Cells have their points in the middle.
    let kind = match given {
        Coefficient::Points(_) if axes[0].centring == Centring::Vertex => Kind::Points,
        _ => Kind::Cells,
    };
    Ok((kind, Cow::Borrowed(values)))
}

/// The entries of the tensor one after the other, those of its diagonal first; without those off it where all are 0.
fn tensor<T: Real>(axes: &[Axis], params: &PoissonParams, given: Tensor<'_, T>) -> Result<Vec<T>> {
    let (dim, cells) = (axes.len(), cells(axes));
    let mixed = params.mixed_in(dim);
    if mixed != [0.0; 3] || params.diffusion[..dim].iter().any(|d| *d != 1.0) {
        let got = format!("one beside the diagonal {:?} and off-diagonal {mixed:?}", params.diffusion);
        return Err(Error::value("tensor", "one without a constant tensor: multiply its entries by that", got));
    }
    let off_diagonal = &given.mixed[..if dim == 3 { 3 } else { 1 }];
    for entries in &given.diagonal[..dim] {
        check_length("tensor", cells, entries.len())?;
    }
    for entries in off_diagonal.iter().filter(|entries| !entries.is_empty()) {
        check_length("tensor", cells, entries.len())?;
    }
    let entry =
        |entries: &[T], cell: usize, other: f64| entries.get(cell).copied().map_or(other, |entry| entry.into_f64());
    for cell in 0..cells {
        let d = [0, 1, 2].map(|e| if e < dim { entry(given.diagonal[e], cell, 1.0) } else { 1.0 });
        let m = [0, 1, 2].map(|e| off_diagonal.get(e).map_or(0.0, |entries| entry(entries, cell, 0.0)));
        if !is_positive(dim, d, m) {
            let (d, m) = (&d[..dim], &m[..off_diagonal.len()]);
            let got = format!("diagonal {d:?}, off-diagonal {m:?} in cell {} (counted from 1)", cell + 1);
            return Err(Error::value("tensor", "a positive definite, finite tensor in each cell", got));
        }
    }
    let mut entries = given.diagonal[..dim].concat();
    if off_diagonal.iter().any(|entries| entries.iter().any(|d| *d != T::zero())) {
        for own in off_diagonal {
            entries.extend_from_slice(own);
            entries.resize(entries.len() + cells - own.len(), T::zero());
        }
    }
    Ok(entries)
}

/// An error unless off-diagonal entries are supported there.
fn check_mixed(axes: &[Axis], kind: Kind, mixed: [f64; 3]) -> Result<()> {
    let cell_centred = axes[0].centring == Centring::Cell;
    if kind == Kind::Tensor && cell_centred {
        let expected = "a diagonal one on a cell-centred grid; use a vertex-centred grid for others";
        return Err(Error::value("tensor", expected, "one with off-diagonal entries"));
    }
    let expected = match kind {
        _ if cell_centred => "0 on a cell-centred grid; use a vertex-centred grid",
        Kind::Points => "0 with a coefficient at the points; give the coefficient per cell",
        _ => return Ok(()),
    };
    Err(Error::value("mixed_derivatives", expected, format!("{mixed:?}")))
}

/// The couplings by offset of order 4 of points with equal spacing (Spotz and Carey 1996): the leading errors h^2/12 D u_xxxx of the second
/// differences, expressed by the equation itself, become mixed differences, and differences of the right-hand side, which
/// [`Points::right_side`](super::points::Points::right_side) takes.
fn compact4(axes: &[Axis], shift: f64) -> Vec<f64> {
    let dim = axes.len();
    let volume: f64 = axes.iter().map(|axis| axis.lengths[0]).product();
    // d / h^2 of each direction.
    let rate = |d: usize| axes[d].diffusion / (axes[d].lengths[0] * axes[d].lengths[0]);
    let mixed = |a: usize, b: usize| volume * (rate(a) + rate(b)) / 12.0;
    let mut couplings = vec![0.0; offsets(dim).len()];
    // A direction of one point leads nowhere else.
    let leads = |d: usize| !(axes[d].periodic() && axes[d].lengths.len() == 1);
    let mut couple = |offset: [i8; 3], value: f64| {
        let offset = [0, 1, 2].map(|d| if d < dim && leads(d) { offset[d] } else { 0 });
        let opposite = offset.map(|d| -d);
        if let Some(number) = offsets(dim).iter().position(|known| *known == offset || *known == opposite) {
            couplings[number] += value;
        }
    };
    let unit = |axis: usize| [0, 1, 2].map(|d| i8::from(d == axis));
    for a in 0..dim {
        let across: f64 = (0..dim).filter(|&b| b != a).map(|b| mixed(a, b)).sum();
        couple(unit(a), volume * (rate(a) - shift / 12.0) - 2.0 * across);
        for b in a + 1..dim {
            for step in [1, -1] {
                let mut offset = unit(b);
                offset[a] = step;
                couple(offset, mixed(a, b));
            }
        }
    }
    couplings
}
