//! Factors L D L' by fronts, level by level.

use num_traits::Float;

use super::analysis::{Front, Level};
use super::elimination::{BLOCK, BLOCK_ITEMS, Elimination, Fronts, HEAVY, TILE, block, groups, is_heavy};
use super::factors::{Counts, Parts};
use crate::ops::Transpose;
use crate::ops::gemm::{Block, Product};
use crate::runtime::kernels::multifrontal_ldl::Program;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Csr, Real, Result, Scalar};

/// Numbers of each step in the buffer of D: `STEP` of the kernels.
pub(super) const STEP: usize = 4;
/// The fewest pivots of a panel, but of the last: it leaves its last column to the next where that begins a pair.
const LEAST: usize = TILE - 1;
/// Columns of L D that a product for a contribution takes.
const COLUMNS: usize = 512;

fn program<T: Scalar>(op: Transpose) -> Program<T> {
    if op == Transpose::Yes { Program::new().transposed(1) } else { Program::new() }
}

/// Factors with the elements of L' as `parts.op` says.
pub(super) fn ldl<T: Scalar>(parts: &Parts<'_, T>, a: &Csr<T>) -> Result<Counts> {
    let tiny = T::Real::epsilon().into_f64().sqrt();
    let elimination = Elimination::new(parts, a, tiny)?;
    let panels = Panels::new(&elimination)?;
    let mut product = Product::<T>::new(a.context());
    for (number, level) in parts.analysis.levels.iter().enumerate() {
        let contributions = elimination.assemble(number)?;
        panels.small(level, contributions)?;
        match a.context().family() {
            KernelFamily::Gpu => panels.together(level, contributions)?,
            KernelFamily::Cpu => panels.one_by_one(level, &mut product)?,
        }
        panels.heavy(level, contributions, &mut product)?;
    }
    elimination.finish()?;
    let counts = elimination.info.to_vec()?;
    let [others, zeros, negative] = [0, 1, 2].map(|k| counts[k] as usize);
    Ok(Counts { replaced: others + zeros, zeros, negative })
}

/// The memory of an elimination by panels.
struct Panels<'a, T: Scalar> {
    elimination: &'a Elimination<'a, T>,
    context: &'a Context,
    program: Program<T>,
    /// Two columns of each front.
    columns: Buffer<T>,
    /// The panel of each front.
    progress: Buffer<u32>,
    /// On GPUs the inverses of the panels' triangles, of the fronts of a level.
    inverses: Buffer<T>,
    /// Factors of products: on CPUs those of a panel, and L D of the other rows.
    left: Buffer<T>,
    right: Buffer<T>,
}

impl<'a, T: Scalar> Panels<'a, T> {
    fn new(elimination: &'a Elimination<'a, T>) -> Result<Panels<'a, T>> {
        let (context, parts) = (elimination.context, elimination.parts);
        let analysis = parts.analysis;
        let is_gpu = context.family() == KernelFamily::Gpu;
        let large =
            || analysis.levels.iter().flat_map(|level| &level.large).map(|&position| &analysis.fronts[position]);
        let most = |size: &dyn Fn(&Front) -> usize| large().map(size).max().unwrap_or(0);
        let of_panel = |size: usize| if is_gpu { 0 } else { TILE * size };
        let at_once = analysis.levels.iter().map(|level| level.large.len()).max().unwrap_or(0);
        let of_rest =
            most(&|front| if multiplies(context, front) { front.rest * front.pivots.min(COLUMNS) } else { 0 });
        Ok(Panels {
            elimination,
            context,
            program: program(parts.op),
            columns: Buffer::uninit(context, 2 * analysis.n)?,
            progress: Buffer::zeroed(context, 2 * analysis.fronts.len())?,
            inverses: Buffer::uninit(context, if is_gpu { TILE * TILE * at_once } else { 0 })?,
            left: Buffer::uninit(context, of_panel(most(&Front::order)))?,
            right: Buffer::uninit(context, of_panel(most(&|front| front.pivots)).max(of_rest))?,
        })
    }

    /// The fronts that a work-group eliminates each.
    fn small(&self, level: &Level, contributions: &Buffer<T>) -> Result<()> {
        let Panels { elimination, context, program, .. } = self;
        let &Parts { analysis, values, blocks, pivots, .. } = elimination.parts;
        let (tables, small) = (&analysis.device, &level.small);
        let [values, contributions, blocks, columns] = [values, contributions, blocks, &self.columns].map(Out::shared);
        let [pivots, info] = [pivots, &elimination.info].map(Out::shared);
        program.factor_fronts(
            context,
            groups(context, small.len()),
            small.start as u32,
            &tables.list,
            &tables.fronts,
            elimination.tiny,
            elimination.zero,
            values,
            contributions,
            blocks,
            columns,
            pivots,
            info,
        )
    }

    /// The next panels of so many fronts of the list: L, and what the exchanges change elsewhere. The most rows of their orders and other rows.
    fn panel(&self, first: usize, fronts: usize, [order, rest]: [usize; 2]) -> Result<()> {
        let Panels { elimination, context, program, progress, inverses, .. } = self;
        let &Parts { analysis, values, blocks, pivots, .. } = elimination.parts;
        let (list, table) = (&analysis.device.list, &analysis.device.fronts);
        let out = Out::shared(values);
        program.factor_panels(
            context,
            groups(context, fronts),
            first,
            list,
            table,
            elimination.tiny,
            elimination.zero,
            out,
            Out::shared(blocks),
            Out::shared(&self.columns),
            Out::shared(pivots),
            Out::shared(progress),
            Out::shared(inverses),
            Out::shared(&elimination.info),
        )?;
        let of_items = match context.family() {
            KernelFamily::Gpu => order.div_ceil(groups(context, 1).items()),
            KernelFamily::Cpu => order - rest,
        };
        let range = groups(context, of_items).times(fronts);
        program.exchange_rows(context, range, first, list, table, pivots, progress, out)?;
        let range = groups(context, rest.div_ceil(TILE)).times(fronts);
        program.scale_tiles(context, range, first, list, table, pivots, progress, inverses, blocks, out)
    }

    /// The larger fronts of a level on GPUs.
    fn together(&self, level: &Level, contributions: &Buffer<T>) -> Result<()> {
        let Panels { elimination, context, program, progress, .. } = self;
        let &Parts { analysis, values, blocks, .. } = elimination.parts;
        let (list, table) = (&analysis.device.list, &analysis.device.fronts);
        let large: Vec<&Front> = level.large.iter().map(|&position| &analysis.fronts[position]).collect();
        let first = level.small.end;
        let subtract = |last: bool, [across, down]: [usize; 2], count: usize| {
            let range = Range::d1(across * down * BLOCK_ITEMS, BLOCK_ITEMS).times(count);
            let (out, contributions) = (Out::shared(values), Out::shared(contributions));
            let (last, across) = (last.into(), across as u32);
            program.subtract_products(
                context,
                range,
                first,
                last,
                HEAVY,
                across,
                list,
                table,
                progress,
                blocks,
                out,
                contributions,
            )
        };
        for from in (0..large.first().map_or(0, |front| front.pivots)).step_by(LEAST) {
            let active = &large[..large.partition_point(|front| front.pivots > from)];
            let most = |size: &dyn Fn(&Front) -> usize| active.iter().map(|front| size(front)).max().unwrap_or(0);
            self.panel(first, active.len(), [most(&|front| front.order()), most(&|front| front.rest)])?;
            let next = from + LEAST;
            let rows = most(&|front| front.order().saturating_sub(next)).div_ceil(BLOCK);
            let columns = most(&|front| front.pivots.saturating_sub(next)).div_ceil(BLOCK);
            let with_pivots = large.partition_point(|front| front.pivots > next);
            subtract(false, [columns, rows], with_pivots)?;
        }
        let blocks = large.iter().map(|front| front.rest).max().unwrap_or(0).div_ceil(BLOCK);
        subtract(true, [blocks, blocks], large.len())
    }

    /// The larger fronts of a level on CPUs.
    fn one_by_one(&self, level: &Level, product: &mut Product<T>) -> Result<()> {
        let Panels { elimination, context, program, progress, left, right, .. } = self;
        let &Parts { analysis, values, blocks, op, .. } = elimination.parts;
        let (list, table) = (&analysis.device.list, &analysis.device.fronts);
        for (number, &position) in level.large.iter().enumerate() {
            let (front, place) = (&analysis.fronts[position], level.small.end + number);
            let (pivots, rest, order) = (front.pivots, front.rest, front.order());
            for from in (0..pivots).step_by(LEAST) {
                self.panel(place, 1, [order, rest])?;
                // The panel ends there or later; rows before its end have zeros in the products.
                let next = pivots.min(from + LEAST);
                let range = Range::d1(TILE, 1);
                let out = [left, right].map(Out::shared);
                program
                    .copy_panel(context, range, place, next, list, table, progress, values, blocks, out[0], out[1])?;
                let remaining = pivots - next;
                let scaled = (op, block(right, 0, remaining, TILE, remaining));
                let of_panel =
                    |first: usize, rows: usize| (Transpose::No, block(left, first, rows, TILE, order - next));
                let to =
                    |row: usize, rows: usize| block(values, front.factors + next * order + row, rows, remaining, order);
                let minus = -T::one();
                product.run_lower(minus, of_panel(0, remaining), scaled, T::one(), to(next, remaining))?;
                product.run(minus, of_panel(remaining, rest), scaled, T::one(), to(pivots, rest))?;
            }
        }
        Ok(())
    }

    /// The contributions that are products of their own.
    fn heavy(&self, level: &Level, contributions: &Buffer<T>, product: &mut Product<T>) -> Result<()> {
        let Panels { elimination, context, program, right, .. } = self;
        let &Parts { analysis, values, blocks, op, .. } = elimination.parts;
        let (list, table) = (&analysis.device.list, &analysis.device.fronts);
        for (number, &position) in level.large.iter().enumerate() {
            let front = &analysis.fronts[position];
            if !multiplies(context, front) {
                continue;
            }
            let Fronts { below, rest, .. } = Fronts::new(front, values, contributions);
            for first in (0..front.pivots).step_by(COLUMNS) {
                let count = (front.pivots - first).min(COLUMNS);
                let place = level.small.end + number;
                let range = match context.family() {
                    KernelFamily::Gpu => Range::d1(front.rest * count, context.local()),
                    KernelFamily::Cpu => Range::d1(count, 1),
                };
                program.scale_columns(
                    context,
                    range,
                    place,
                    first,
                    count,
                    list,
                    table,
                    values,
                    blocks,
                    Out::shared(right),
                )?;
                let left: Block<T> = below.part(0..front.rest, first..first + count);
                let scaled = block(right, 0, front.rest, count, front.rest);
                product.run_lower(-T::one(), (Transpose::No, left), (op, scaled), T::one(), rest)?;
            }
        }
        Ok(())
    }
}

/// Whether the contribution of a larger front is a product of its own.
fn multiplies(context: &Context, front: &Front) -> bool {
    front.rest > 0 && (context.family() == KernelFamily::Cpu || is_heavy(front))
}
