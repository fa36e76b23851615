//! The components of the cycles on boxes, as kernels.

use super::axis::{Interpolation, REACH};
use super::levels::{self, Level, Part};
use super::sweep::{self, Sweep};
use crate::multigrid::conjugate::Space;
use crate::multigrid::cycle::{Components, Hierarchy, Norms, Order, Start, Sweeps};
use crate::multigrid::launch::{self, After};
use crate::runtime::kernels::boxes;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Dense, Real, Result, Vector, ops};

/// What the kernels read of a level besides its grids.
pub(super) struct Lines<T: Real> {
    context: Context,
    /// Unknowns of each direction.
    pub(super) counts: [usize; 3],
    pub(super) dim: u64,
    pub(super) lines: Buffer<T>,
}

impl<T: Real> Lines<T> {
    pub(super) fn new(context: &Context, level: &Level) -> Result<Lines<T>> {
        let lines: Vec<_> = Lines::factors(level).collect();
        let (counts, dim) = (level.counts(), level.axes.len() as u64);
        Ok(Lines { context: context.clone(), counts, dim, lines: Buffer::from_slice(context, &lines)? })
    }

    /// The factors of all directions, as the kernels have them.
    pub(super) fn factors(level: &Level) -> impl Iterator<Item = T> + '_ {
        let parts = level.factors.iter().flat_map(|factors| [&factors.couplings, &factors.more, &factors.mass]);
        parts.flatten().map(|&value| T::from_f64(value))
    }

    fn program(&self) -> boxes::Program<T> {
        boxes::Program::new().dim(self.dim)
    }

    pub(super) fn unknowns(&self) -> usize {
        self.counts.iter().product()
    }

    /// The items for `width` points of `rows` rows.
    fn items(&self, width: usize, rows: usize) -> Range {
        launch::items(&self.context, [width, rows], rows)
    }

    fn all(&self) -> Range {
        self.items(self.counts[0], self.counts[1] * self.counts[2])
    }

    /// y = alpha A x + beta y.
    pub(super) fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let [nx, ny, nz] = self.counts;
        let y = Out::shared(y.buffer());
        self.program().apply_box(&self.context, self.all(), nx, ny, nz, &self.lines, alpha, x.buffer(), beta, y)
    }

    fn residual(&self, u: &Vector<T>, f: &Vector<T>, d: &Vector<T>) -> Result<()> {
        let [nx, ny, nz] = self.counts;
        let d = Out::shared(d.buffer());
        self.program().residual(&self.context, self.all(), nx, ny, nz, &self.lines, f.buffer(), u.buffer(), d)
    }

    fn residual_norm(&self, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let [nx, ny, nz] = self.counts;
        let (count, range) = launch::shares(&self.context, ny * nz, 1);
        launch::root_of_squares(|scale: T| {
            let partials = self.context.partials(count, |partial| {
                let (f, u) = (f.buffer(), u.buffer());
                let (program, context) = (self.program(), &self.context);
                program.sum_square_residual(context, range, nx, ny, nz, scale, &self.lines, f, u, partial)
            })?;
            Ok(launch::total(&partials))
        })
    }
}

/// Interpolation from the next coarser level, and its transpose.
pub(super) struct Transfer<T: Real> {
    pub(super) from: Buffer<u32>,
    pub(super) weights: Buffer<T>,
    pub(super) to: Buffer<u32>,
    pub(super) transposed: Buffer<T>,
    /// Fine points that a coarse one takes at most, by direction.
    reach: [u32; 3],
}

/// What [`Transfer`] has, on the host.
pub(super) struct TransferTables<T> {
    pub(super) from: Vec<u32>,
    pub(super) weights: Vec<T>,
    pub(super) to: Vec<u32>,
    pub(super) transposed: Vec<T>,
    pub(super) reach: [u32; 3],
}

impl<T: Real> Transfer<T> {
    fn new(context: &Context, interpolations: &[Interpolation]) -> Result<Transfer<T>> {
        let TransferTables { from, weights, to, transposed, reach } = Transfer::<T>::tables(interpolations);
        Ok(Transfer {
            from: Buffer::from_slice(context, &from)?,
            weights: Buffer::from_slice(context, &weights)?,
            to: Buffer::from_slice(context, &to)?,
            transposed: Buffer::from_slice(context, &transposed)?,
            reach,
        })
    }

    /// The interpolations of all directions, and their transposes.
    pub(super) fn tables(interpolations: &[Interpolation]) -> TransferTables<T> {
        let (mut from, mut to, mut reach) = (Vec::new(), Vec::new(), [1; 3]);
        for (interpolation, reach) in interpolations.iter().zip(&mut reach) {
            from.extend(interpolation.from.iter().flatten().copied());
            let (transposed, most) = interpolation.transposed();
            to.extend(transposed.iter().flatten().copied());
            *reach = most as u32;
        }
        debug_assert!(reach.iter().all(|&reach| reach as usize <= REACH));
        let indices = |pairs: &[(usize, f64)]| pairs.iter().map(|pair| pair.0 as u32).collect();
        let weights = |pairs: &[(usize, f64)]| pairs.iter().map(|pair| T::from_f64(pair.1)).collect();
        TransferTables {
            from: indices(&from),
            weights: weights(&from),
            to: indices(&to),
            transposed: weights(&to),
            reach,
        }
    }
}

/// One level on the device.
struct OnDevice<T: Real> {
    lines: Lines<T>,
    /// None on the coarsest level.
    transfer: Option<Transfer<T>>,
    /// None on the coarsest level, and where a colour has neighbours of its own.
    sweep: Option<Sweep<T>>,
    parts: Vec<Part>,
    omega: T,
    /// Residuals; allocated where they are first needed.
    work: Vector<T>,
}

/// Kernels for boxes.
pub(crate) struct Boxes<T: Real> {
    pub(super) context: Context,
    levels: Vec<OnDevice<T>>,
    /// Of the matrix of the coarsest level; with 1 added to the eigenvalue 0 of a constant.
    pub(super) inverse: Dense<T>,
    /// Rows for the bands of sweeps.
    across: Buffer<T>,
}

impl<T: Real> Boxes<T> {
    /// For the levels; `singular` where constants are in the null space.
    pub(super) fn new(context: &Context, levels: &[Level], singular: bool) -> Result<Boxes<T>> {
        let on_device = |level: &Level| {
            let lines = Lines::new(context, level)?;
            let transfer = (!level.interpolations.is_empty()).then(|| Transfer::new(context, &level.interpolations));
            let (transfer, parts, omega) = (transfer.transpose()?, level.parts(), T::from_f64(level.omega));
            let in_bands = context.family() == KernelFamily::Cpu && parts.len() == 1;
            let regular = transfer.as_ref().filter(|_| in_bands);
            let sweep = regular.map(|transfer| Sweep::new(context, level, transfer.reach)).transpose()?;
            let needed = lines.dim == 3 && sweep.is_some();
            let work = Vector::zeros(context, if needed { lines.unknowns() } else { 0 })?;
            Ok(OnDevice { lines, transfer, sweep, parts, omega, work })
        };
        let coarsest = levels.last().expect("a box has a level");
        let inverse = levels::inverse(context, coarsest.unknowns(), coarsest.dense(), singular)?;
        let levels = levels.iter().map(on_device).collect::<Result<Vec<_>>>()?;
        let room = |level: &OnDevice<T>| {
            let bands = level.sweep.as_ref().and_then(|sweep| sweep.bands(context, &level.lines, 0));
            bands.unwrap_or(0) * sweep::room(&level.lines)
        };
        let across = Buffer::zeroed(context, levels.iter().map(room).max().unwrap_or(0))?;
        Ok(Boxes { context: context.clone(), levels, inverse, across })
    }

    /// A visit in one pass, where the level is cut into bands for that; `other` is the grid of the coarser level. Whether it was made.
    fn pass(
        &self,
        level: usize,
        visit: (Start, Sweeps, After<'_, T>),
        u: &Vector<T>,
        f: &Vector<T>,
        other: &Vector<T>,
    ) -> Result<bool> {
        let OnDevice { lines, work, omega, .. } = &self.levels[level];
        let Some((sweep, bands)) = self.bands(level, visit.1) else { return Ok(false) };
        let (both, transfer) = ((lines, &self.levels[level + 1].lines), self.transfer(level));
        sweep.run(&self.context, both, transfer, bands, visit, *omega, f, [u, other, work], &self.across)?;
        Ok(true)
    }

    /// A visit in one pass, and the norm of the residual after it; `None` if squares overflow or underflow, or if no pass was made.
    fn summed_pass(
        &self,
        level: usize,
        (start, sweeps): (Start, Sweeps),
        u: &Vector<T>,
        f: &Vector<T>,
        other: &Vector<T>,
    ) -> Result<Option<f64>> {
        let Some((sweep, bands)) = self.bands(level, sweeps) else { return Ok(None) };
        let partials = self.context.partials(sweep.partials(bands), |partial| {
            self.pass(level, (start, sweeps, After::Summed(partial)), u, f, other).map(drop)
        })?;
        Ok(sweep::root(&partials))
    }

    /// The bands of a visit in one pass.
    fn bands(&self, level: usize, sweeps: Sweeps) -> Option<(&Sweep<T>, usize)> {
        let OnDevice { lines, sweep, .. } = &self.levels[level];
        let sweep = sweep.as_ref()?;
        Some((sweep, sweep.bands(&self.context, lines, sweeps.count)?))
    }

    fn half_sweep(&self, level: usize, part: &Part, colour: u32, u: &Vector<T>, f: &Vector<T>) -> Result<()> {
        let OnDevice { lines, omega, .. } = &self.levels[level];
        let ([nx, ny, nz], [(x0, x1), (y0, y1), (z0, z1)]) = (lines.counts, *part);
        let range = lines.items((x1 - x0).div_ceil(2), (y1 - y0) * (z1 - z0));
        let (context, f, u) = (&self.context, f.buffer(), Out::shared(u.buffer()));
        let program = lines.program();
        program.relax(context, range, nx, ny, nz, x0, x1, y0, y1, z0, z1, colour, *omega, &lines.lines, f, u)
    }

    fn transfer(&self, level: usize) -> &Transfer<T> {
        self.levels[level].transfer.as_ref().expect("the coarsest level has no coarser one")
    }

    fn restrict(&self, level: usize, fine: &Vector<T>, coarse: &Vector<T>) -> Result<()> {
        let Transfer { to, transposed, reach: [rx, ry, rz], .. } = self.transfer(level);
        let ([nx, ny, _], coarser) = (self.levels[level].lines.counts, &self.levels[level + 1].lines);
        let [mx, my, mz] = coarser.counts;
        let (program, range, out) = (coarser.program(), coarser.all(), Out::shared(coarse.buffer()));
        let (context, fine) = (&self.context, fine.buffer());
        program.restrict_box(context, range, mx, my, mz, nx, ny, *rx, *ry, *rz, to, transposed, fine, out)
    }
}

impl<T: Real> Space<T> for Boxes<T> {
    fn defect_to(&mut self, u: &Vector<T>, f: &Vector<T>, d: &mut Vector<T>) -> Result<()> {
        self.levels[0].lines.residual(u, f, d)
    }

    fn dot(&self, a: &Vector<T>, b: &Vector<T>) -> Result<T> {
        ops::dot(a, b)
    }

    fn update(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        ops::update(alpha, x, beta, y)
    }
}

impl<T: Real> Hierarchy for Boxes<T> {
    type Grid = Vector<T>;

    fn zeros(&self, level: usize) -> Result<Vector<T>> {
        Vector::zeros(&self.context, self.levels[level].lines.unknowns())
    }

    fn clear(&self, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())
    }

    fn solve_coarsest(&mut self, u: &mut Vector<T>, f: &Vector<T>, _zero: bool) -> Result<()> {
        ops::mv(T::one(), &self.inverse, f, T::zero(), u)
    }

    fn defect_norm(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
        let none = Sweeps { count: 0, order: Order::RedFirst };
        match self.summed_pass(level, (Start::Current, none), u, f, f)? {
            Some(norm) => Ok(norm),
            None => self.levels[level].lines.residual_norm(u, f),
        }
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

impl<T: Real> Components for Boxes<T> {
    type Grid = Vector<T>;
    type Hierarchy = Self;

    fn hierarchy(&self) -> &Self {
        self
    }

    fn hierarchy_mut(&mut self) -> &mut Self {
        self
    }

    fn smooth(&mut self, level: usize, u: &mut Vector<T>, f: &Vector<T>, sweeps: Sweeps) -> Result<()> {
        let steps = self.levels[level].parts.iter().flat_map(|part| [(part, 0), (part, 1)]);
        for _ in 0..sweeps.count {
            let step = |(part, colour)| self.half_sweep(level, part, colour, u, f);
            match sweeps.order {
                Order::RedFirst => steps.clone().try_for_each(step)?,
                Order::BlackFirst => steps.clone().rev().try_for_each(step)?,
            }
        }
        Ok(())
    }

    fn restrict_defect(&mut self, level: usize, u: &Vector<T>, f: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
        let OnDevice { lines, work, .. } = &mut self.levels[level];
        if work.is_empty() {
            *work = Vector::zeros(&self.context, lines.unknowns())?;
        }
        lines.residual(u, f, work)?;
        self.restrict(level, &self.levels[level].work, coarse)
    }

    fn interpolate_add(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        let Transfer { from, weights, .. } = self.transfer(level);
        let (lines, [mx, my, _]) = (&self.levels[level].lines, self.levels[level + 1].lines.counts);
        let ([nx, ny, nz], u) = (lines.counts, Out::shared(u.buffer()));
        let (program, context, coarse) = (lines.program(), &self.context, coarse.buffer());
        program.add_interpolated(context, lines.all(), nx, ny, nz, mx, my, from, weights, coarse, u)
    }

    fn descend(
        &mut self,
        level: usize,
        u: &mut Vector<T>,
        f: &Vector<T>,
        zero: bool,
        sweeps: Sweeps,
        coarse: &mut Vector<T>,
    ) -> Result<()> {
        let start = Start::zero_if(zero);
        if self.pass(level, (start, sweeps, After::Restricted), u, f, coarse)? {
            return Ok(());
        }
        if zero {
            self.clear(u)?;
        }
        self.smooth(level, u, f, sweeps)?;
        self.restrict_defect(level, u, f, coarse)
    }

    fn ascend(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<()> {
        if self.pass(level, (Start::Corrected, sweeps, After::Nothing), u, f, coarse)? {
            return Ok(());
        }
        self.interpolate_add(level, coarse, u)?;
        self.smooth(level, u, f, sweeps)
    }

    fn ascend_norm(
        &mut self,
        level: usize,
        coarse: &Vector<T>,
        u: &mut Vector<T>,
        f: &Vector<T>,
        sweeps: Sweeps,
    ) -> Result<Norms> {
        let defect = if self.bands(level, sweeps).is_some() {
            self.summed_pass(level, (Start::Corrected, sweeps), u, f, coarse)?
        } else {
            self.ascend(level, coarse, u, f, sweeps)?;
            None
        };
        // Squares out of range are rare enough to be summed in a pass of their own.
        let defect = defect.map_or_else(|| self.levels[level].lines.residual_norm(u, f), Ok)?;
        Ok(Norms { defect, size: None })
    }

    /// By linear interpolation.
    fn refine(&mut self, level: usize, coarse: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
        u.fill(T::zero())?;
        self.interpolate_add(level, coarse, u)
    }
}
