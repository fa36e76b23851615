//! The components of the cycles for operators by their couplings, as kernels.

use super::levels::{self, Part};
use super::stencil::{Parts, Stencil, StencilLevel};
use crate::multigrid::conjugate::Space;
use crate::multigrid::cycle::{Components, Hierarchy, Order, Sweeps};
use crate::multigrid::launch;
use crate::runtime::kernels::boxes_stencil;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Dense, Real, Result, Vector, ops};

/// An operator on the device.
pub(super) struct OnDevice<T: Real> {
    context: Context,
    counts: [usize; 3],
    dim: u64,
    full: bool,
    couplings: Buffer<T>,
    mass: Buffer<T>,
}

impl<T: Real> OnDevice<T> {
    pub(super) fn new(context: &Context, stencil: &Stencil) -> Result<OnDevice<T>> {
        let converted =
            |values: &mut dyn Iterator<Item = &f64>| -> Vec<T> { values.map(|&value| T::from_f64(value)).collect() };
        let couplings = Buffer::from_slice(context, &converted(&mut stencil.couplings.iter().flatten()))?;
        let mass = Buffer::from_slice(context, &converted(&mut stencil.mass.iter()))?;
        let (context, counts, full) = (context.clone(), stencil.counts, stencil.full());
        Ok(OnDevice { context, counts, dim: stencil.dim as u64, full, couplings, mass })
    }

    fn program(&self) -> boxes_stencil::Program<T> {
        boxes_stencil::Program::new().dim(self.dim).full(u64::from(self.full))
    }

    pub(super) fn unknowns(&self) -> usize {
        self.counts.iter().product()
    }

    fn items(&self, width: usize, rows: usize) -> Range {
        launch::items(&self.context, [width, rows], rows)
    }

    fn all(&self) -> Range {
        self.items(self.counts[0], self.counts[1] * self.counts[2])
    }

    /// y = alpha A x + beta y.
    pub(super) fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let [nx, ny, nz] = self.counts;
        let (program, context, y) = (self.program(), &self.context, Out::shared(y.buffer()));
        program.apply_stencil(context, self.all(), nx, ny, nz, &self.couplings, &self.mass, alpha, x.buffer(), beta, y)
    }

    fn residual(&self, u: &Vector<T>, f: &Vector<T>, d: &Vector<T>) -> Result<()> {
        let [nx, ny, nz] = self.counts;
        let (program, context, d) = (self.program(), &self.context, Out::shared(d.buffer()));
        program.residual(context, self.all(), nx, ny, nz, &self.couplings, &self.mass, f.buffer(), u.buffer(), d)
    }

    /// The colours in the order of a sweep: points of the same colour are no neighbours.
    fn colours(&self) -> Vec<u32> {
        match (self.full, self.dim) {
            (false, _) => vec![0, 1],
            (true, 3) => vec![0, 3, 5, 6, 7, 4, 2, 1],
            (true, _) => vec![0, 3, 1, 2],
        }
    }

    fn relax(&self, part: &Part, colour: u32, u: &Vector<T>, f: &Vector<T>) -> Result<()> {
        let ([nx, ny, nz], [(x0, x1), (y0, y1), (z0, z1)]) = (self.counts, *part);
        let half = |low: usize, high: usize| (high - low).div_ceil(2);
        let rows = match (self.full, self.dim) {
            (false, _) => (y1 - y0) * (z1 - z0),
            (true, 3) => half(y0, y1) * half(z0, z1),
            (true, _) => half(y0, y1),
        };
        let (range, program, context) = (self.items(half(x0, x1), rows), self.program(), &self.context);
        let (c, mass, f, u) = (&self.couplings, &self.mass, f.buffer(), Out::shared(u.buffer()));
        program.relax(context, range, nx, ny, nz, x0, x1, y0, y1, z0, z1, colour, c, mass, f, u)
    }
}

/// Interpolation from the next coarser level, and its transpose.
struct Transfer<T: Real> {
    coarsened: u32,
    from: Buffer<u32>,
    to: Buffer<u32>,
    parts: [Buffer<T>; 3],
}

/// Fine points that a coarse one takes along a direction.
const REACH: usize = 3;

impl<T: Real> Transfer<T> {
    fn new(context: &Context, parts: &Parts, fine: [usize; 3], coarse: [usize; 3]) -> Result<Transfer<T>> {
        let (mut from, mut to, mut coarsened) = (Vec::new(), Vec::new(), 0);
        for (d, along) in parts.along.iter().enumerate() {
            // Directions that stay as they are keep their places and are not read.
            let Some(along) = along else {
                from.resize(from.len() + 2 * fine[d], 0);
                to.resize(to.len() + REACH * coarse[d], u32::MAX);
                continue;
            };
            coarsened |= 1 << d;
            let mut takes = vec![[u32::MAX; REACH]; along.coarse];
            let mut counts = vec![0; along.coarse];
            for (i, pair) in along.from.iter().enumerate() {
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
        let upload = |values: &Vec<f64>| {
            let mut values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
            // Buffers have something in them.
            values.resize(values.len().max(1), T::zero());
            Buffer::from_slice(context, &values)
        };
        let [x, y, z] = &parts.parts;
        let parts = [upload(x)?, upload(y)?, upload(z)?];
        let (from, to) = (Buffer::from_slice(context, &from)?, Buffer::from_slice(context, &to)?);
        Ok(Transfer { coarsened, from, to, parts })
    }
}

/// One level on the device.
struct Level<T: Real> {
    operator: OnDevice<T>,
    /// None on the coarsest level.
    transfer: Option<Transfer<T>>,
    parts: Vec<Part>,
    /// Residuals.
    work: Vector<T>,
}

/// Kernels for operators by their couplings.
pub(super) struct Stencils<T: Real> {
    context: Context,
    levels: Vec<Level<T>>,
    /// Of the matrix of the coarsest level; with 1 added to the eigenvalue 0 of a constant.
    inverse: Dense<T>,
}

impl<T: Real> Stencils<T> {
    /// For the levels; `singular` where constants are in the null space.
    pub(super) fn new(context: &Context, levels: &[StencilLevel], singular: bool) -> Result<Stencils<T>> {
        let coarsest = &levels.last().expect("a box has a level").stencil;
        let inverse = levels::inverse(context, coarsest.unknowns(), coarsest.dense(), singular)?;
        let counts = |level: usize| levels[level].stencil.counts;
        let on_device = |(number, level): (usize, &StencilLevel)| {
            let operator = OnDevice::new(context, &level.stencil)?;
            let transfer =
                level.transfer.as_ref().map(|parts| Transfer::new(context, parts, counts(number), counts(number + 1)));
            let work = Vector::zeros(context, operator.unknowns())?;
            let parts = levels::parts(operator.counts, level.stencil.wraps);
            Ok(Level { operator, transfer: transfer.transpose()?, parts, work })
        };
        let levels = levels.iter().enumerate().map(on_device).collect::<Result<_>>()?;
        Ok(Stencils { context: context.clone(), levels, inverse })
    }

    fn transfer(&self, level: usize) -> &Transfer<T> {
        self.levels[level].transfer.as_ref().expect("the coarsest level has no coarser one")
    }

    fn restrict(&self, level: usize, fine: &Vector<T>, coarse: &Vector<T>) -> Result<()> {
        let Transfer { coarsened, to, parts: [wx, wy, wz], .. } = self.transfer(level);
        let ([nx, ny, _], coarser) = (self.levels[level].operator.counts, &self.levels[level + 1].operator);
        let [mx, my, mz] = coarser.counts;
        let (program, range, out) = (coarser.program(), coarser.all(), Out::shared(coarse.buffer()));
        let (context, fine) = (&self.context, fine.buffer());
        program.restrict_stencil(context, range, mx, my, mz, nx, ny, *coarsened, to, wx, wy, wz, fine, out)
    }
}

impl<T: Real> Space<T> for Stencils<T> {
    fn defect_to(&mut self, u: &Vector<T>, f: &Vector<T>, d: &mut Vector<T>) -> Result<()> {
        self.levels[0].operator.residual(u, f, d)
    }

    fn dot(&self, a: &Vector<T>, b: &Vector<T>) -> Result<T> {
        ops::dot(a, b)
    }

    fn update(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        ops::update(alpha, x, beta, y)
    }
}

impl<T: Real> Hierarchy for Stencils<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.levels[level].operator.unknowns())
    }

    fn clear(&self, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, _zero: bool) -> Result<()> {
        ops::mv(T::one(), &self.inverse, f, T::zero(), u)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let Level { operator, work, .. } = &self.levels[level];
        operator.residual(u, f, work)?;
        self.norm(work)
    }

    fn source_norm(&mut self, _level: usize, _u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        self.norm(f)
    }

    fn norm(&self, u: &Vector<T>) -> Result<f64> {
        Ok(ops::norm2(u)?.into_f64())
    }

    fn coarsen(
        &mut self,
        level: usize,
        _u: &Vector<T>,
        f: &Vector<T>,
        _coarse_u: &mut Vector<T>,
        coarse_f: &mut Vector<T>,
    ) -> Result<()> {
        self.restrict(level, f, coarse_f)
    }
}

impl<T: Real> Components for Stencils<T> {
    type Grid = Vector<T>;
    type Hierarchy = Self;

    fn hierarchy(&self) -> &Self {
        self
    }

    fn hierarchy_mut(&mut self) -> &mut Self {
        self
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        let Level { operator, parts, .. } = &self.levels[level];
        let colours = operator.colours();
        let steps = parts.iter().flat_map(|part| colours.iter().map(move |&colour| (part, colour)));
        let mut steps: Vec<_> = steps.collect();
        if sweeps.order == Order::BlackFirst {
            steps.reverse();
        }
        for _ in 0..sweeps.count {
            steps.iter().try_for_each(|(part, colour)| operator.relax(part, *colour, u, f))?;
        }
        Ok(())
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let Level { operator, work, .. } = &self.levels[level];
        operator.residual(u, f, work)?;
        self.restrict(level, work, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let Transfer { coarsened, from, parts: [wx, wy, wz], .. } = self.transfer(level);
        let (operator, [mx, my, _]) = (&self.levels[level].operator, self.levels[level + 1].operator.counts);
        let ([nx, ny, nz], u) = (operator.counts, Out::shared(u.buffer()));
        let (program, context, coarse) = (operator.program(), &self.context, coarse.buffer());
        program.add_interpolated(context, operator.all(), nx, ny, nz, mx, my, *coarsened, from, wx, wy, wz, coarse, u)
    }

    /// By the interpolation of corrections.
    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())?;
        self.interpolate_add(level, coarse, u)
    }
}
