//! Factors by fronts, level by level.

use num_traits::Float;

use super::analysis::{Front, Level};
use super::factors::{Counts, Parts};
use super::kind::Kind;
use crate::matrix::Values;
use crate::ops::factor::{CholeskyFactoriser, Diagonal, LuFactoriser, Side, Triangle, Triangular};
use crate::ops::gemm::{Block, Product, Transpose};
use crate::runtime::kernels::multifrontal::Program;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Csr, Error, Real, Result, Scalar};

/// What rounding leaves of a pivot that is zero, in units of roundoff times the square root of the number of rows.
const LEFT: f64 = 4.0;

/// The same of a pivot that LU factors find for a row of a singular matrix, in units of roundoff.
const ROUNDING: f64 = 64.0;

/// `ITEMS` of the kernels for GPUs.
const ITEMS: usize = 128;

/// `TILE` and `BLOCK` of the kernels for GPUs.
pub(super) const TILE: usize = 32;
pub(super) const BLOCK: usize = 64;
/// Items of a work-group that has such a block.
pub(super) const BLOCK_ITEMS: usize = 256;
/// `PANEL_ITEMS`.
const PANEL_ITEMS: usize = 256;

/// The most pivots of a batched front with Cholesky and LU factors; those of LU factors are searched by one work-group.
const MOST_BATCHED: [usize; 2] = [2048, 1024];

/// Operations for a contribution from which on a front has a product of its own.
pub(super) const HEAVY: usize = 1 << 30;

pub(super) fn is_heavy(front: &Front) -> bool {
    front.rest * front.rest * front.pivots >= HEAVY
}

/// Work-groups of one kernel, with an item each on CPUs.
pub(super) fn groups(context: &Context, count: usize) -> Range {
    match context.family() {
        KernelFamily::Gpu => Range::d1(count * ITEMS, ITEMS),
        KernelFamily::Cpu => Range::d1(count, 1),
    }
}

/// Parts of the rows whose backward errors are compared on the device.
pub(super) fn parts_of_rows(context: &Context, n: usize) -> usize {
    match context.family() {
        KernelFamily::Gpu => n.div_ceil(2 * ITEMS).min(1024),
        KernelFamily::Cpu => n.div_ceil(64).min(8 * context.units()),
    }
}

/// Whether one work-group eliminates the pivots of a front; those of others are left to the factorisations of dense matrices.
pub(super) fn is_small(context: &Context, front: &Front) -> bool {
    match context.family() {
        KernelFamily::Gpu => front.order() <= 64,
        KernelFamily::Cpu => front.pivots * front.order() * front.order() <= 1 << 19,
    }
}

/// Whether the pivots of a front are eliminated together with those of other fronts of its level.
pub(super) fn is_batched(context: &Context, front: &Front, kind: Kind) -> bool {
    let most = match kind {
        Kind::Cholesky => MOST_BATCHED[0],
        Kind::Ldl => usize::MAX,
        Kind::Lu => MOST_BATCHED[1],
    };
    context.family() == KernelFamily::Gpu && !is_small(context, front) && front.pivots <= most
}

/// The kernels.
fn program<T: Scalar>(kind: Kind) -> Program<T> {
    if kind == Kind::Lu { Program::new() } else { Program::new().symmetric(1) }
}

/// The numbers that a factorisation on the device works on.
pub(super) struct Elimination<'a, T: Scalar> {
    pub(super) context: &'a Context,
    program: Program<T>,
    pub(super) parts: &'a Parts<'a, T>,
    /// The contributions of two levels.
    contributions: [Buffer<T>; 2],
    /// Counts of the kernels, three with L D L' factors and else one.
    pub(super) info: Buffer<u32>,
    pub(super) tiny: T::Real,
    /// Below what a pivot of the last front is rounding.
    pub(super) zero: T::Real,
}

impl<'a, T: Scalar> Elimination<'a, T> {
    pub(super) fn new(parts: &'a Parts<'a, T>, a: &'a Csr<T>, tiny: f64) -> Result<Elimination<'a, T>> {
        let &Parts { kind, analysis, scales, values, .. } = parts;
        let program = program(kind);
        let (context, structure, n) = (a.context(), a.structure(), analysis.n);
        let [first, second] = analysis.contributions;
        // Inversions use the first of them again.
        let first = first.max(analysis.device.products.as_ref().map_or(0, |products| products.scratch));
        let contributions = [Buffer::uninit(context, first)?, Buffer::uninit(context, second)?];
        program.scatter(
            context,
            Range::d1(n, context.local()),
            n,
            &structure.offset,
            &structure.column,
            a.values(),
            &analysis.device.target,
            &scales.rows,
            &scales.columns,
            Out::shared(values),
        )?;
        let info = Buffer::zeroed(context, 3)?;
        let zero = <T::Real as Real>::nearest(ROUNDING) * T::Real::epsilon();
        Ok(Elimination { context, program, parts, contributions, info, tiny: T::Real::nearest(tiny), zero })
    }

    /// All levels; `large` eliminates a front that is not small or batched.
    fn run(&self, mut large: impl FnMut(&Front, Fronts<T>) -> Result<()>) -> Result<()> {
        let &Parts { kind, analysis, values, .. } = self.parts;
        let mut product = Product::<T>::new(self.context);
        for (number, level) in analysis.levels.iter().enumerate() {
            let own = self.assemble(number)?;
            self.small(level, own)?;
            panels(self, level, own)?;
            for front in level.large.iter().map(|&position| &analysis.fronts[position]) {
                let (parts, alone) = (Fronts::new(front, values, own), !is_batched(self.context, front, kind));
                if alone {
                    large(front, parts)?;
                }
                if alone || is_heavy(front) {
                    let Fronts { below, right, rest, .. } = parts;
                    if kind == Kind::Lu {
                        product.run(-T::one(), (Transpose::No, below), (Transpose::No, right), T::one(), rest)?;
                    } else {
                        let adjoint = (Transpose::Conjugate, below);
                        product.run_lower(-T::one(), (Transpose::No, below), adjoint, T::one(), rest)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the contributions of the children to the fronts of a level; where their own contributions are.
    pub(super) fn assemble(&self, number: usize) -> Result<&Buffer<T>> {
        let &Parts { analysis, values, .. } = self.parts;
        let (tables, level) = (&analysis.device, &analysis.levels[number]);
        let [own, children] = [number, number + 1].map(|k| &self.contributions[k % 2]);
        self.program.assemble(
            self.context,
            groups(self.context, level.tasks.len()),
            level.tasks.start as u32,
            &tables.tasks,
            &tables.fronts,
            &tables.map,
            children,
            Out::shared(values),
            Out::shared(own),
        )?;
        Ok(own)
    }

    /// Prepares solves.
    pub(super) fn finish(&self) -> Result<()> {
        match &self.parts.analysis.device.products {
            Some(products) => products.invert(self.context, self.parts, &self.contributions[0]),
            None => Ok(()),
        }
    }

    fn small(&self, level: &Level, contributions: &Buffer<T>) -> Result<()> {
        let &Parts { analysis, values, pivots, .. } = self.parts;
        let [pivots, info] = [pivots, &self.info].map(Out::shared);
        self.program.factor_fronts(
            self.context,
            groups(self.context, level.small.len()),
            level.small.start as u32,
            &analysis.device.list,
            &analysis.device.fronts,
            analysis.n,
            self.tiny,
            self.zero,
            Out::shared(values),
            Out::shared(contributions),
            pivots,
            info,
        )
    }

    /// The most pivots of a front that is left to dense factorisations.
    fn most_pivots(&self) -> usize {
        let analysis = self.parts.analysis;
        let large = analysis.levels.iter().flat_map(|level| &level.large);
        large.map(|&position| analysis.fronts[position].pivots).max().unwrap_or(0)
    }
}

/// A part of a column-major matrix.
pub(super) fn block<T: Scalar>(memory: &Buffer<T>, offset: usize, rows: usize, cols: usize, ld: usize) -> Block<T> {
    Block { memory: Out::unbound(memory), offset, rows, cols, ld }
}

/// The parts of a front.
#[derive(Clone, Copy)]
pub(super) struct Fronts<T: Scalar> {
    /// Pivots by pivots, other rows by pivots, pivots by other columns, and what remains.
    pub(super) square: Block<T>,
    pub(super) below: Block<T>,
    right: Block<T>,
    pub(super) rest: Block<T>,
}

impl<T: Scalar> Fronts<T> {
    pub(super) fn new(front: &Front, values: &Buffer<T>, contributions: &Buffer<T>) -> Fronts<T> {
        let (pivots, rest, order) = (front.pivots, front.rest, front.order());
        Fronts {
            square: block(values, front.factors, pivots, pivots, order),
            below: block(values, front.factors + pivots, rest, pivots, order),
            right: block(values, front.factors + order * pivots, pivots, rest, pivots),
            rest: block(contributions, front.contribution, rest, rest, rest),
        }
    }
}

/// Factors of the larger fronts of a level on GPUs, together, but those that are not batched.
fn panels<T: Scalar>(elimination: &Elimination<'_, T>, level: &Level, contributions: &Buffer<T>) -> Result<()> {
    let &Parts { kind, analysis, values, pivots: pivot_of, .. } = elimination.parts;
    let (context, program, symmetric) = (elimination.context, &elimination.program, kind == Kind::Cholesky);
    let (list, fronts) = (&analysis.device.list, &analysis.device.fronts);
    let large: Vec<&Front> = level.large.iter().map(|&position| &analysis.fronts[position]).collect();
    let before = large.partition_point(|front| !is_batched(context, front, kind));
    let (first, large, out) = (level.small.end + before, &large[before..], Out::shared(values));
    let subtract = |from: usize, last: bool, [across, down]: [usize; 2], count: usize| {
        let range = Range::d1(across * down * BLOCK_ITEMS, BLOCK_ITEMS).times(count);
        let (last, across, contributions) = (last.into(), across as u32, Out::shared(contributions));
        program.subtract_products(context, range, first, from, last, HEAVY, across, list, fronts, out, contributions)
    };
    for from in (0..large.first().map_or(0, |front| front.pivots)).step_by(TILE) {
        let active = &large[..large.partition_point(|front| front.pivots > from)];
        let (count, next, info) = (active.len(), from + TILE, Out::shared(&elimination.info));
        let (n, tiny, zero) = (analysis.n, elimination.tiny, elimination.zero);
        let most = |length: &dyn Fn(&Front) -> usize| active.iter().map(|front| length(front)).max().unwrap_or(0);
        let each = |groups_of_front| groups(context, groups_of_front).times(count);
        let right = most(&|front| front.order() - next.min(front.pivots));
        let below = if symmetric {
            program.factor_tiles(context, groups(context, count), first, from, list, fronts, n, tiny, out, info)?;
            right
        } else {
            let (range, out_pivots) = (Range::d1(count * PANEL_ITEMS, PANEL_ITEMS), Out::shared(pivot_of));
            program.factor_panels(context, range, first, from, list, fronts, tiny, zero, out, out_pivots, info)?;
            let columns = each(most(&Front::order).div_ceil(ITEMS));
            program.exchange_rows(context, columns, first, from, list, fronts, pivot_of, out)?;
            program.solve_tiles(context, each(right.div_ceil(TILE)), first, from, list, fronts, out)?;
            most(&|front| front.rest)
        };
        program.scale_tiles(context, each(below.div_ceil(TILE)), first, from, list, fronts, out)?;
        let rows = most(&|front| front.order().saturating_sub(next)).div_ceil(BLOCK);
        let columns = most(&|front| front.pivots.saturating_sub(next)).div_ceil(BLOCK);
        let with_pivots = large.partition_point(|front| front.pivots > next);
        subtract(from, false, [if symmetric { columns } else { rows }, rows], with_pivots)?;
    }
    let blocks = large.iter().map(|front| front.rest).max().unwrap_or(0).div_ceil(BLOCK);
    subtract(0, true, [blocks, blocks], large.len())
}

/// Cholesky factors; no pivots are replaced.
pub(super) fn cholesky<T: Scalar>(parts: &Parts<'_, T>, a: &Csr<T>) -> Result<Counts> {
    let (context, analysis) = (a.context(), parts.analysis);
    // What rounding leaves of a pivot that is zero, of a matrix with ones on its diagonal.
    let tiny = LEFT * (analysis.n as f64).sqrt() * T::Real::epsilon().into_f64();
    let elimination = Elimination::new(parts, a, tiny)?;
    let mut dense = CholeskyFactoriser::<T>::new(context, elimination.most_pivots(), tiny)?;
    elimination.run(|front, Fronts { square, below, .. }| {
        dense.run(square)?;
        let triangle = Triangle::Lower;
        let t = Triangular { block: square, triangle, op: Transpose::Conjugate, diagonal: Diagonal::Stored };
        dense.solver.run(Side::Right, t, below)?;
        let [of_front, info] = [&dense.info, &elimination.info].map(Out::shared);
        elimination.program.note_minor(context, Range::d1(1, 1), analysis.n, front.first, of_front, info)
    })?;
    checked(&elimination)
}

/// An error where a pivot is not positive.
fn checked<T: Scalar>(elimination: &Elimination<'_, T>) -> Result<Counts> {
    let analysis = elimination.parts.analysis;
    match elimination.info.to_vec()?[0] as usize {
        0 => elimination.finish().map(|()| Counts::default()),
        found => {
            let step = analysis.n - found;
            let row = analysis.column_place.iter().position(|&place| place == step).expect("each step has a row");
            Err(Error::NotPositiveDefinite { minor: row + 1 })
        }
    }
}

/// LU factors.
pub(super) fn lu<T: Scalar>(parts: &Parts<'_, T>, a: &Csr<T>) -> Result<Counts> {
    let context = a.context();
    let tiny = T::Real::epsilon().into_f64().sqrt();
    let elimination = Elimination::new(parts, a, tiny)?;
    let most = elimination.most_pivots();
    let local = Buffer::zeroed(context, most)?;
    let mut dense = LuFactoriser::<T>::new(context, [most, most], local)?;
    elimination.run(|front, Fronts { square, below, right, .. }| {
        dense.tiny = [if front.rest == 0 { elimination.zero } else { elimination.tiny }, elimination.tiny];
        dense.run(square)?;
        dense.exchange.rows(&dense.pivots, 0..front.pivots, false, right)?;
        let lower =
            Triangular { block: square, triangle: Triangle::Lower, op: Transpose::No, diagonal: Diagonal::Unit };
        dense.solver.run(Side::Left, lower, right)?;
        let upper = Triangular { triangle: Triangle::Upper, diagonal: Diagonal::Stored, ..lower };
        dense.solver.run(Side::Right, upper, below)?;
        let (range, count) = (Range::d1(front.pivots, context.local()), front.pivots as u32);
        elimination.program.place_pivots(context, range, front.first, count, &dense.pivots, Out::shared(parts.pivots))
    })?;
    elimination.finish()?;
    let of_dense = dense.info.to_vec()?;
    dense.check(&of_dense)?;
    let replaced = elimination.info.to_vec()?[0] as usize + of_dense[2] as usize;
    Ok(Counts { replaced, ..Counts::default() })
}

/// The pivots by their steps: the diagonal of L of Cholesky factors, or of U.
pub(super) fn pivots<T: Scalar>(context: &Context, parts: &Parts<'_, T>) -> Result<Vec<T>> {
    let &Parts { kind, analysis, values, .. } = parts;
    let (count, mut found) = (analysis.fronts.len(), Buffer::uninit(context, analysis.n)?);
    let range = Range::d1(count, context.local());
    program(kind).gather_pivots(context, range, count, &analysis.device.fronts, values, &mut found)?;
    let is_inverted = analysis.device.products.is_some();
    Ok(found.to_vec()?.into_iter().map(|pivot: T| if is_inverted { T::one() / pivot } else { pivot }).collect())
}
