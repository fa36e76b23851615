//! Operators on boxes by the couplings of each unknown with its neighbours, on the device, and how they are coarsened.

use super::axis::{Axis, Interpolation};
use super::grid::Centring;
use super::levels::{self, Part, coarser_axes};
use crate::multigrid::launch;
use crate::runtime::kernels::{boxes_setup, boxes_stencil};
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Real, Result, Vector, ops};

/// Half of the neighbours of a point: along the directions, then along the diagonals. The order is that of boxes_setup.cl.
const OFFSETS2: [[i8; 3]; 4] = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [-1, 1, 0]];
const OFFSETS3: [[i8; 3]; 13] = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 0],
    [-1, 1, 0],
    [1, 0, 1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, 1],
    [1, 1, 1],
    [-1, 1, 1],
    [1, -1, 1],
    [-1, -1, 1],
];

pub(super) fn offsets(dim: usize) -> &'static [[i8; 3]] {
    if dim == 3 { &OFFSETS3 } else { &OFFSETS2 }
}

/// A symmetric operator: (A u)_p is the sum of c_pq (u_p - u_q) over the neighbours q of p, and mass_p u_p.
pub(super) struct OnDevice<T: Real> {
    context: Context,
    counts: [usize; 3],
    dim: usize,
    wraps: [bool; 3],
    /// By offset, those along the directions or all of them: the coupling of each point with the neighbour there; 0 where there is none.
    couplings: Buffer<T>,
    mass: Buffer<T>,
}

impl<T: Real> OnDevice<T> {
    /// Of the unknowns of `axes` with these couplings; the masses are not initialised.
    pub(super) fn new(
        context: &Context,
        counts: [usize; 3],
        axes: &[Axis],
        couplings: Buffer<T>,
    ) -> Result<OnDevice<T>> {
        let wraps = [0, 1, 2].map(|d| axes.get(d).is_some_and(Axis::periodic));
        let mass = Buffer::uninit(context, counts.iter().product())?;
        Ok(OnDevice { context: context.clone(), counts, dim: axes.len(), wraps, couplings, mass })
    }

    pub(super) fn couplings(&self) -> &Buffer<T> {
        &self.couplings
    }

    pub(super) fn mass(&self) -> &Buffer<T> {
        &self.mass
    }

    pub(super) fn counts(&self) -> [usize; 3] {
        self.counts
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Whether all periodic directions have an even number of points, so that colours alternate across their ends.
    pub(super) fn wraps_evenly(&self) -> bool {
        self.wraps.iter().zip(self.counts).all(|(&wraps, count)| !wraps || count % 2 == 0)
    }

    /// How many offsets have couplings.
    fn used(&self) -> u32 {
        (self.couplings.len() / self.unknowns()) as u32
    }

    pub(super) fn is_full(&self) -> bool {
        self.used() as usize > self.dim
    }

    /// A typical entry of the diagonal of the matrix: the root of the mean of the squares.
    pub(super) fn diagonal(&self) -> Result<f64> {
        let diagonal = Vector::uninit(&self.context, self.unknowns())?;
        let ([nx, ny, nz], out) = (self.counts.map(|n| n as u32), Out::shared(diagonal.buffer()));
        let (context, couplings, mass) = (&self.context, &self.couplings, &self.mass);
        self.set_up().write_diagonal(context, self.all(), nx, ny, nz, self.used(), couplings, mass, out)?;
        Ok(ops::norm2(&diagonal)?.into_f64() / (self.unknowns() as f64).sqrt())
    }

    /// The matrix, row by row.
    pub(super) fn dense(&self) -> Result<Vec<f64>> {
        let (n, counts) = (self.unknowns(), self.counts);
        let (couplings, mass) = (self.couplings.to_vec()?, self.mass.to_vec()?);
        let mut matrix = vec![0.0; n * n];
        for p in 0..n {
            let at = [p % counts[0], p / counts[0] % counts[1], p / (counts[0] * counts[1])];
            matrix[p * n + p] += mass[p].into_f64();
            for (offset, couplings) in offsets(self.dim).iter().zip(couplings.chunks(n)) {
                let coupling = couplings[p].into_f64();
                if coupling == 0.0 {
                    continue;
                }
                let to = [0, 1, 2].map(|d| (at[d] + counts[d]).wrapping_add_signed(offset[d].into()) % counts[d]);
                let q = (to[2] * counts[1] + to[1]) * counts[0] + to[0];
                for (row, column) in [(p, q), (q, p)] {
                    matrix[row * n + row] += coupling;
                    matrix[row * n + column] -= coupling;
                }
            }
        }
        Ok(matrix)
    }

    /// The operator where direction `axis` becomes coarser, as P' A P: the interpolation takes its parts from the couplings, and
    /// `tables` are those of all directions.
    fn coarser(&self, axis: usize, axes: &[Axis], tables: &Tables<T>, parts: &Buffer<T>) -> Result<OnDevice<T>> {
        let (context, [nx, ny, nz], m) = (&self.context, self.counts.map(|n| n as u32), tables.coarse[axis]);
        let [fine, coarse] = [tables.fine, tables.coarse].map(|counts| counts[..axis].iter().sum());
        let Tables { from, to, weights, .. } = tables;
        let (number, used, c, mass) = (axis as u32, self.used(), &self.couplings, &self.mass);
        let (program, out) = (self.set_up(), Out::shared(parts));
        program.parts_along(context, self.all(), nx, ny, nz, number, used, fine, from, weights, c, out)?;
        let mut counts = self.counts;
        counts[axis] = m;
        let couplings = Buffer::uninit(context, offsets(self.dim).len() * counts.iter().product::<usize>())?;
        let coarser = OnDevice::new(context, counts, axes, couplings)?;
        let (range, m) = (coarser.all(), m as u32);
        let [out, masses] = [&coarser.couplings, &coarser.mass].map(Out::shared);
        program.coarsen_along(
            context, range, nx, ny, nz, m, number, used, fine, coarse, from, to, parts, c, mass, out, masses,
        )?;
        for o in (0..coarser.used()).filter(|&o| o != number) {
            let out = Out::shared(&coarser.couplings);
            program.coarsen_across(
                context, range, nx, ny, nz, m, number, used, o, fine, coarse, from, to, parts, c, out,
            )?;
        }
        Ok(coarser)
    }

    fn set_up(&self) -> boxes_setup::Program<T> {
        boxes_setup::Program::new().dim(self.dim as u64)
    }

    pub(super) fn program(&self) -> boxes_stencil::Program<T> {
        boxes_stencil::Program::new().dim(self.dim as u64).full(u64::from(self.is_full()))
    }

    pub(super) fn unknowns(&self) -> usize {
        self.counts.iter().product()
    }

    /// A grid of its unknowns.
    pub(super) fn zeros(&self) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.unknowns())
    }

    fn items(&self, width: usize, rows: usize) -> Range {
        launch::items(&self.context, [width, rows], rows)
    }

    pub(super) fn all(&self) -> Range {
        self.items(self.counts[0], self.counts[1] * self.counts[2])
    }

    /// A bit for each periodic direction.
    pub(super) fn wrap_bits(&self) -> u32 {
        self.wraps.iter().rev().fold(0, |bits, &wraps| 2 * bits + u32::from(wraps))
    }

    /// y = alpha A x + beta y.
    pub(super) fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let [nx, ny, nz] = self.counts;
        let (program, context, y) = (self.program(), &self.context, Out::shared(y.buffer()));
        program.apply_stencil(
            context,
            self.all(),
            nx,
            ny,
            nz,
            self.wrap_bits(),
            &self.couplings,
            &self.mass,
            alpha,
            x.buffer(),
            beta,
            y,
        )
    }

    pub(super) fn residual(&self, u: &Vector<T>, f: &Vector<T>, d: &Vector<T>) -> Result<()> {
        let [nx, ny, nz] = self.counts;
        let (program, context, d) = (self.program(), &self.context, Out::shared(d.buffer()));
        program.residual(
            context,
            self.all(),
            nx,
            ny,
            nz,
            self.wrap_bits(),
            &self.couplings,
            &self.mass,
            f.buffer(),
            u.buffer(),
            d,
        )
    }

    /// The colours in the order of a sweep: points of the same colour are no neighbours.
    pub(super) fn colours(&self) -> Vec<u32> {
        match (self.is_full(), self.dim) {
            (false, _) => vec![0, 1],
            (true, 3) => vec![0, 3, 5, 6, 7, 4, 2, 1],
            (true, _) => vec![0, 3, 1, 2],
        }
    }

    pub(super) fn relax(&self, part: &Part, colour: u32, u: &Vector<T>, f: &Vector<T>) -> Result<()> {
        let ([nx, ny, nz], [(x0, x1), (y0, y1), (z0, z1)]) = (self.counts, *part);
        let half = |low: usize, high: usize| (high - low).div_ceil(2);
        let rows = match (self.is_full(), self.dim) {
            (false, _) => (y1 - y0) * (z1 - z0),
            (true, 3) => half(y0, y1) * half(z0, z1),
            (true, _) => half(y0, y1),
        };
        let (range, program, context) = (self.items(half(x0, x1), rows), self.program(), &self.context);
        let (c, mass, f, u) = (&self.couplings, &self.mass, f.buffer(), Out::shared(u.buffer()));
        program.relax(context, range, nx, ny, nz, self.wrap_bits(), x0, x1, y0, y1, z0, z1, colour, c, mass, f, u)
    }
}

/// Fine points that a coarse one takes along a direction.
const REACH: usize = 3;

/// The points that take part in an interpolation along each direction, one direction after the other.
struct Tables<T: Real> {
    fine: [usize; 3],
    coarse: [usize; 3],
    /// For each fine point two coarse ones, one alone twice.
    from: Buffer<u32>,
    /// For each coarse point [`REACH`] fine ones.
    to: Buffer<u32>,
    /// Of the first coarse point, where the couplings tell none.
    weights: Buffer<T>,
}

impl<T: Real> Tables<T> {
    fn new(context: &Context, along: &[Interpolation], fine: [usize; 3]) -> Result<Tables<T>> {
        let coarse = [0, 1, 2].map(|d| along.get(d).map_or(1, |along| along.coarse));
        let (mut from, mut to, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (d, &fine) in fine.iter().enumerate() {
            let Some(along) = along.get(d).filter(|along| along.coarse < fine) else {
                // Directions that stay as they are keep their places and are not read.
                from.resize(from.len() + 2 * fine, 0);
                to.resize(to.len() + REACH * coarse[d], u32::MAX);
                weights.resize(weights.len() + fine, T::one());
                continue;
            };
            let mut takes = vec![[u32::MAX; REACH]; along.coarse];
            let mut counts = vec![0; along.coarse];
            for (i, pair) in along.from.iter().enumerate() {
                weights.push(T::from_f64(pair[0].1));
                for (slot, &(c, weight)) in pair.iter().enumerate() {
                    let used = slot == 0 || weight != 0.0;
                    from.push(if used { c as u32 } else { pair[0].0 as u32 });
                    if used {
                        takes[c][counts[c]] = 2 * i as u32 + slot as u32;
                        counts[c] += 1;
                    }
                }
            }
            to.extend(takes.into_iter().flatten());
        }
        let (from, to) = (Buffer::from_slice(context, &from)?, Buffer::from_slice(context, &to)?);
        Ok(Tables { fine, coarse, from, to, weights: Buffer::from_slice(context, &weights)? })
    }
}

/// Interpolation from the next coarser level, and its transpose.
pub(super) struct Transfer<T: Real> {
    /// A bit for each direction that becomes coarser.
    pub(super) coarsened: u32,
    pub(super) from: Buffer<u32>,
    pub(super) to: Buffer<u32>,
    /// Of the first coarse point: along x by fine points, along y where x is coarse, along z where x and y are.
    pub(super) parts: [Buffer<T>; 3],
}

/// One level.
pub(super) struct StencilLevel<T: Real> {
    pub(super) operator: OnDevice<T>,
    /// None on the coarsest level.
    pub(super) transfer: Option<Transfer<T>>,
    /// The parts that are relaxed one after the other.
    pub(super) parts: Vec<Part>,
}

impl<T: Real> StencilLevel<T> {
    fn coarsest(operator: OnDevice<T>) -> StencilLevel<T> {
        let parts = levels::parts(operator.counts, operator.wraps);
        StencilLevel { operator, transfer: None, parts }
    }
}

/// A direction by the distances of its unknowns, of which the first and the last are always points of the coarser level.
pub(super) fn distances(axis: &Axis) -> Axis {
    use super::grid::Condition::{Neumann, Periodic};
    let unknowns = axis.unknowns();
    let lengths = &axis.lengths;
    let middle = |i: usize| 0.5 * (lengths[i] + lengths[(i + 1) % lengths.len()]);
    let first = usize::from(axis.held(0));
    let count = if axis.periodic() { unknowns } else { unknowns - 1 };
    let between: Vec<f64> = match axis.centring {
        Centring::Cell => (0..count).map(middle).collect(),
        Centring::Vertex => lengths[first..first + count].to_vec(),
    };
    let sides = [if axis.periodic() { Periodic } else { Neumann }; 2];
    if between.is_empty() {
        // Of one unknown nothing is left to be done.
        return Axis { centring: Centring::Cell, sides, lengths: vec![1.0], diffusion: axis.diffusion };
    }
    Axis { centring: Centring::Vertex, sides, lengths: between, diffusion: axis.diffusion }
}

/// All levels, the finest first. `axes` are the distances of the unknowns.
pub(super) fn levels<T: Real>(finest: OnDevice<T>, mut axes: Vec<Axis>) -> Result<Vec<StencilLevel<T>>> {
    let mut levels = vec![StencilLevel::coarsest(finest)];
    while let Some((coarser, interpolations)) = coarser_axes(&axes) {
        let finer = levels.last_mut().expect("there is a finest level");
        let (context, fine) = (&finer.operator.context, finer.operator.counts);
        let tables = Tables::new(context, &interpolations, fine)?;
        let mut parts = [Buffer::uninit(context, 1)?, Buffer::uninit(context, 1)?, Buffer::uninit(context, 1)?];
        let (mut operator, mut coarsened) = (None, 0);
        for d in (0..axes.len()).filter(|&d| tables.coarse[d] < fine[d]) {
            let from: &OnDevice<T> = operator.as_ref().unwrap_or(&finer.operator);
            parts[d] = Buffer::uninit(context, from.unknowns())?;
            operator = Some(from.coarser(d, &axes, &tables, &parts[d])?);
            coarsened |= 1 << d;
        }
        let operator = operator.expect("a coarser level has fewer unknowns");
        let Tables { from, to, .. } = tables;
        finer.transfer = Some(Transfer { coarsened, from, to, parts });
        levels.push(StencilLevel::coarsest(operator));
        axes = coarser;
    }
    Ok(levels)
}
