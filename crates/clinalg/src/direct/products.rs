//! Solves by products with inverses of the pivots' triangles, on GPUs.

use super::analysis::{Front, Level};
use super::elimination::{TILE, groups, is_batched};
use super::factors::Parts;
use super::kind::Kind;
use super::substitution::{gather_children, program, program_of, solve_blocks};
use crate::runtime::kernels::multifrontal_inverse;
use crate::runtime::kernels::multifrontal_solve::Program;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Result, Scalar};

/// `COLUMNS` and `RIGHT` of the kernels.
const COLUMNS: usize = 8;
const RIGHT: usize = 8;

/// Pairs of a front and the first of some of its rows or columns, which a work-group has; those of each level.
#[derive(Debug)]
struct Tasks {
    list: Buffer<u32>,
    levels: Vec<std::ops::Range<usize>>,
}

impl Tasks {
    /// Up to `size` rows or columns of the `count` of a front each.
    fn new(
        context: &Context,
        fronts: &[Front],
        levels: &[Level],
        size: usize,
        count: impl Fn(&Front) -> usize,
    ) -> Result<Tasks> {
        let mut list = Vec::new();
        let ranges = levels.iter().map(|level| {
            let begin = list.len() / 2;
            for position in level.fronts.clone() {
                let firsts = (0..count(&fronts[position])).step_by(size);
                list.extend(firsts.flat_map(|first| [position as u32, first as u32]));
            }
            begin..list.len() / 2
        });
        let levels = ranges.collect();
        Ok(Tasks { list: Buffer::from_slice(context, &list)?, levels })
    }
}

/// The tasks of inversions and products.
#[derive(Debug)]
pub(super) struct Products {
    /// Rows of pivots, and other rows.
    pivots: Tasks,
    rest: Tasks,
    /// Columns of pivots, and of the other rows of U.
    columns: Tasks,
    columns_of_rest: Option<Tasks>,
    /// Tiles on the diagonals that are not inverted by the factorisation.
    tiles: Tasks,
    /// The fronts of more than a tile, those with the most pivots first; where each has memory for products.
    wide: Buffer<u32>,
    scratch_of: Buffer<u64>,
    wide_pivots: Vec<usize>,
    /// Numbers that inversions need.
    pub(super) scratch: usize,
}

impl Products {
    /// `None` on CPUs.
    pub(super) fn new(context: &Context, fronts: &[Front], levels: &[Level], kind: Kind) -> Result<Option<Products>> {
        if context.family() == KernelFamily::Cpu {
            return Ok(None);
        }
        let tasks = |size, count: fn(&Front) -> usize| Tasks::new(context, fronts, levels, size, count);
        let mut wide: Vec<u32> = (0..fronts.len() as u32).filter(|&k| fronts[k as usize].pivots > TILE).collect();
        wide.sort_by_key(|&k| std::cmp::Reverse(fronts[k as usize].pivots));
        let wide_pivots: Vec<usize> = wide.iter().map(|&k| fronts[k as usize].pivots).collect();
        let mut scratch = 0;
        let of_fronts = wide_pivots.iter().map(|&pivots| {
            let begin = scratch;
            scratch += between(pivots);
            begin as u64
        });
        let scratch_of: Vec<u64> = of_fronts.collect();
        Ok(Some(Products {
            pivots: tasks(TILE, |front| front.pivots)?,
            rest: tasks(TILE, |front| front.rest)?,
            tiles: Tasks::new(context, fronts, levels, TILE, |front| {
                // Those of L D L' factors end where their panels do.
                if kind != Kind::Ldl && is_batched(context, front, kind) { 0 } else { front.pivots }
            })?,
            columns: tasks(COLUMNS, |front| front.pivots)?,
            columns_of_rest: (kind == Kind::Lu).then(|| tasks(COLUMNS, |front| front.rest)).transpose()?,
            wide: Buffer::from_slice(context, &wide)?,
            scratch_of: Buffer::from_slice(context, &scratch_of)?,
            wide_pivots,
            scratch,
        }))
    }

    pub(super) fn bytes(&self) -> u64 {
        let tasks = [&self.pivots, &self.rest, &self.tiles, &self.columns];
        let tasks = tasks.into_iter().chain(&self.columns_of_rest);
        let short = tasks.map(|tasks| tasks.list.len()).sum::<usize>() + self.wide.len();
        (4 * short + 8 * self.scratch_of.len()) as u64
    }

    /// The inverses of the triangles take their place.
    pub(super) fn invert<T: Scalar>(&self, context: &Context, parts: &Parts<'_, T>, scratch: &Buffer<T>) -> Result<()> {
        let &Parts { kind, analysis, values, pivots, rows_of_pivots, .. } = parts;
        let program = multifrontal_inverse::Program::new();
        let program = if kind == Kind::Lu { program } else { program.symmetric(1) };
        let (fronts, count) = (&analysis.device.fronts, analysis.fronts.len());
        let tiles = self.tiles.list.len() / 2;
        program.invert_tiles(
            context,
            Range::d1(2 * TILE * tiles, 2 * TILE),
            &self.tiles.list,
            fronts,
            Out::shared(values),
        )?;
        let triangles = if kind == Kind::Lu { 0..2 } else { 0..1 };
        for half in halves(self.wide_pivots.first().copied().unwrap_or(0)) {
            let (most, side) = (self.wide_pivots[0], half / TILE);
            let pairs = (most - half).div_ceil(2 * half);
            let fronts_of_step = self.wide_pivots.partition_point(|&pivots| pivots > half);
            let range = groups(context, pairs * side * side).times(fronts_of_step);
            for (upper, second) in triangles.clone().flat_map(|upper| [(upper, 0), (upper, 1)]) {
                let (half, values, scratch) = (half as u32, Out::shared(values), Out::shared(scratch));
                let (list, scratch_of) = (&self.wide, &self.scratch_of);
                program.join_tiles(context, range, half, upper, second, list, scratch_of, fronts, values, scratch)?;
            }
        }
        if kind == Kind::Cholesky {
            return Ok(());
        }
        let range = Range::d1(count, context.local());
        let program = multifrontal_inverse::Program::<T>::new();
        program.order_pivots(context, range, count, fronts, pivots, Out::shared(rows_of_pivots))
    }

    /// z with A z = y, or A' z = y where `adjoint`, for scaled and permuted columns of y, which is overwritten; `sums` are what the fronts of
    /// two levels leave for their other rows.
    pub(super) fn solve<T: Scalar>(
        &self,
        context: &Context,
        parts: &Parts<'_, T>,
        adjoint: bool,
        columns: usize,
        [y, z]: [&Buffer<T>; 2],
        sums: &[Buffer<T>; 2],
    ) -> Result<()> {
        let &Parts { analysis, values, rows_of_pivots, .. } = parts;
        let of_columns = |program: Program<T>| if columns > 1 { program.right(RIGHT as u64) } else { program };
        let (gather, program) = (of_columns(program(parts)), of_columns(program_of(parts, adjoint)));
        let tables = &analysis.device;
        // The adjoint of LU factors is taken by columns in both steps, that of symmetric ones in the second.
        let (forward, forward_rest, backward) = match (&self.columns_of_rest, adjoint) {
            (Some(columns_of_rest), true) => (&self.columns, columns_of_rest, &self.columns),
            (Some(_), false) => (&self.pivots, &self.rest, &self.pivots),
            (None, _) => (&self.pivots, &self.rest, &self.columns),
        };
        let at_once = if columns > 1 { columns.div_ceil(RIGHT) } else { 1 };
        let of_level = |tasks: &Tasks, number: usize| {
            let range = tasks.levels[number].clone();
            (groups(context, range.len()).times(at_once), range.start)
        };
        for (number, level) in analysis.levels.iter().enumerate() {
            gather_children(parts, &gather, number, columns, at_once, y, sums)?;
            let (own, begin) = (&sums[number % 2], level.rows.start);
            let (range, first) = of_level(forward, number);
            let (list, fronts) = (&forward.list, &tables.fronts);
            let out = Out::shared(z);
            program.forward_pivots(context, range, first, columns, list, fronts, values, rows_of_pivots, y, out)?;
            let (range, first) = of_level(forward_rest, number);
            let (list, out) = (&forward_rest.list, Out::shared(own));
            program.forward_rest(context, range, first, columns, begin, list, fronts, values, z, out)?;
        }
        solve_blocks(parts, columns, z)?;
        for number in (0..analysis.levels.len()).rev() {
            let (range, first) = of_level(backward, number);
            let (list, fronts, rows) = (&backward.list, &tables.fronts, &tables.rows);
            program.backward_rest(context, range, first, columns, list, fronts, rows, values, z, Out::shared(y))?;
            let out = Out::shared(z);
            program.backward_pivots(context, range, first, columns, list, fronts, values, rows_of_pivots, y, out)?;
        }
        Ok(())
    }
}

/// The sizes of the squares that are joined by pairs.
fn halves(pivots: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(TILE), |half| Some(2 * half)).take_while(move |&half| half < pivots)
}

/// Numbers that the products between two squares take, of the step that needs most.
fn between(pivots: usize) -> usize {
    let of_step = |half: usize| {
        let pairs = (pivots - half).div_ceil(2 * half);
        (pairs - 1) * half * half + half.min(pivots - (2 * pairs - 1) * half) * half
    };
    halves(pivots).map(of_step).max().unwrap_or(0)
}
