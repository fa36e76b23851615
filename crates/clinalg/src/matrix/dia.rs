//! Matrices most of whose rows have their entries at the same distances from the diagonal, as for stencils on grids:
//! the pattern, and the rows that do not have it.
//!
//! A sample of rows shows the most frequent kind. If too few rows of the sample fit it, the search ends; otherwise one pass on
//! the device compares every row with it, bit by bit where coefficients must be constant.

use std::collections::HashMap;
use std::sync::Arc;

use super::csr::Structure;
use super::launch::{self, MultiLaunch, Prepared};
use super::spread;
use super::tuning::{MV_DIA, MV_DIA_CPU, MV_STENCIL_CPU};
use crate::runtime::kernels::stencil;
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::tune::Operation;
use crate::{Buffer, Context, Real, Result, Scalar};

/// Rows of a block of `stencil.cl`: neighbours that share lines of memory on a GPU, or a SIMD vector on a CPU.
pub(crate) fn block(family: KernelFamily) -> usize {
    match family {
        KernelFamily::Gpu => 64,
        KernelFamily::Cpu => 8,
    }
}

/// Maximum number of entries of a pattern: the bits of a mask in `stencil.cl` besides its flags.
const WIDEST: usize = 30;

/// Rows looked at to find the pattern.
const SAMPLE: usize = 512;

/// The diagonals of most rows.
#[derive(Debug)]
pub(crate) struct Dia {
    /// Distances of the columns from the row, modulo 2^32, in the order of the columns.
    pub(crate) deltas: Vec<u32>,
    pub(crate) delta: Buffer<u32>,
    pub(crate) mask: Buffer<u32>,
    /// Blocks whose rows all have the pattern, whatever their values.
    pub(crate) full: Buffer<u8>,
    /// Rows that have entries outside the pattern.
    pub(crate) others: usize,
}

/// A pattern with constant coefficients.
#[derive(Debug)]
pub(crate) struct Stencil<T: Scalar> {
    pub(crate) dia: Arc<Dia>,
    pub(crate) coefficient: Buffer<T>,
    /// Blocks whose rows all have the pattern with its values.
    pub(crate) full: Buffer<u8>,
    /// Rows that are read from the compressed rows.
    pub(crate) others: usize,
    /// On a GPU.
    pub(crate) tiles: Option<Tiles>,
    pub(crate) product: Prepared<stencil::Program<T::Real>>,
    /// With several right-hand sides, on a GPU.
    pub(crate) multi: MultiLaunch<T>,
}

/// The order in which a GPU processes the rows of a stencil.
#[derive(Debug)]
pub(crate) struct Tiles {
    /// Items of a work-group, and lines of its tile.
    pub(crate) size: [usize; 2],
    /// Rows of a line.
    pub(crate) line: usize,
    /// Groups in the direction of the lines and across them.
    pub(crate) groups: [usize; 2],
    /// Whether all rows of a tile have the whole pattern.
    pub(crate) full: Buffer<u8>,
    /// Range of tiles in which all rows have the whole pattern: the first and the end in the direction of the lines, and across them.
    pub(crate) inner: [u32; 4],
}

/// When a pattern is used.
pub(super) struct Rule {
    /// Whether it is used even where it hardly pays off.
    pub(super) forced: bool,
}

impl Rule {
    fn few(&self, others: usize, rows: usize) -> bool {
        others <= rows / if self.forced { 2 } else { spread::DIA_SHARE }
    }
}

/// The rows of a matrix compared with the most frequent one.
pub(super) struct Marked<T: Scalar> {
    dia: Arc<Dia>,
    coefficients: Vec<T>,
    /// Blocks that are full with constant coefficients.
    full: Buffer<u8>,
    /// Rows with other values.
    differing: usize,
}

impl<T: Scalar> Marked<T> {
    /// `None` where no kind of row is frequent enough.
    pub(super) fn find(s: &Structure, values: &Buffer<T>, rule: &Rule) -> Result<Option<Marked<T>>> {
        let context = values.context();
        let Some((deltas, coefficients)) = most_frequent(s, values, rule)? else { return Ok(None) };
        let delta = Buffer::from_slice(context, &deltas)?;
        let coefficient = Buffer::from_slice(context, &coefficients)?;
        let mut mask = Buffer::<u32>::uninit(context, s.rows)?;
        let mut totals = Buffer::<u32>::zeroed(context, 2)?;
        let blocks = s.rows.div_ceil(block(context.family()));
        let [mut full, mut full_constant] = [Buffer::<u8>::uninit(context, blocks)?, Buffer::uninit(context, blocks)?];
        let range = match context.family() {
            // A work-group has whole blocks.
            KernelFamily::Gpu => Range::d1(s.rows.div_ceil(group_rows(context)) * context.local(), context.local()),
            KernelFamily::Cpu => Range::d1(context.chunks().min(blocks), 1),
        };
        let (width, value, of_pattern) = (deltas.len() as u32, In::parts(values), In::parts(&coefficient));
        program::<T>(context).mark_rows(
            context,
            range,
            s.rows,
            width,
            &s.offset,
            &s.column,
            value,
            &delta,
            of_pattern,
            &mut mask,
            &mut full,
            &mut full_constant,
            &mut totals,
        )?;
        let totals = totals.to_vec()?;
        let [others, differing] = [0, 1].map(|k| totals[k] as usize);
        let dia = Arc::new(Dia { deltas, delta, mask, full, others });
        Ok(Some(Marked { dia, coefficients, full: full_constant, differing }))
    }

    /// The pattern with constant coefficients, if few rows have others.
    pub(super) fn stencil(self, s: &Structure, rule: &Rule) -> Result<Option<Stencil<T>>> {
        let others = self.dia.others + self.differing;
        if !rule.few(others, s.rows) {
            return Ok(None);
        }
        let context = s.offset.context();
        let dia = self.dia;
        let coefficient = Buffer::from_slice(context, &self.coefficients)?;
        let (tiles, product) = match context.family() {
            KernelFamily::Gpu => {
                let tiles = Tiles::new::<T>(s, &dia)?;
                let [local, _] = tiles.size;
                let range = Range::d2([tiles.groups[0] * local, tiles.groups[1]], [local, 1]);
                let program = tiles.program::<T>(context, &dia);
                (Some(tiles), Prepared { program, range })
            }
            KernelFamily::Cpu => (None, dia.chunked::<T>(context, &MV_STENCIL_CPU, s.rows)),
        };
        let multi = MultiLaunch::dia(context, s.rows, dia.deltas.len(), true);
        Ok(Some(Stencil { dia, coefficient, full: self.full, others, tiles, product, multi }))
    }

    /// The pattern for values by diagonals, if few rows do not fit and there is little padding.
    pub(super) fn diagonals(&self, s: &Structure, rule: &Rule) -> Option<Arc<Dia>> {
        let packed = s.rows.saturating_mul(self.dia.deltas.len());
        let dense = packed <= s.nnz + s.nnz / spread::DIA_PADDING;
        (rule.few(self.dia.others, s.rows) && (dense || rule.forced)).then(|| self.dia.clone())
    }
}

/// Rows of a work-group of `mark_rows`.
fn group_rows(context: &Context) -> usize {
    context.local().max(block(KernelFamily::Gpu))
}

impl Dia {
    /// The compilation of `stencil.cl` for the pattern.
    pub(crate) fn program<T: Scalar>(&self, context: &Context) -> stencil::Program<T::Real> {
        program::<T>(context).points(self.deltas.len() as u64)
    }

    /// The product with values by diagonals, on a CPU with those of the compressed rows.
    pub(super) fn product<T: Scalar>(&self, context: &Context, rows: usize) -> Prepared<stencil::Program<T::Real>> {
        match context.family() {
            KernelFamily::Gpu => {
                let (range, per) = launch::rows_gpu::<T>(context, &MV_DIA, rows);
                Prepared { program: self.program::<T>(context).rows_unless(per, 1), range }
            }
            KernelFamily::Cpu => self.chunked::<T>(context, &MV_DIA_CPU, rows),
        }
    }

    /// For a CPU kernel that processes chunks of blocks.
    fn chunked<T: Scalar>(
        &self,
        context: &Context,
        op: &Operation,
        rows: usize,
    ) -> Prepared<stencil::Program<T::Real>> {
        let blocks = rows.div_ceil(block(KernelFamily::Cpu));
        let (range, ahead) = launch::chunked::<T>(context, op, rows, blocks);
        Prepared { program: self.program::<T>(context).ahead_unless(ahead, 0), range }
    }
}

impl Tiles {
    fn new<T: Scalar>(s: &Structure, dia: &Dia) -> Result<Tiles> {
        let context = s.offset.context();
        let size = launch::tile::<T>(context, s.rows);
        let [local, lines] = size;
        let line = line_of(&dia.deltas).filter(|&line| line >= local).unwrap_or(spread::LINE);
        let groups = [line.div_ceil(local), s.rows.div_ceil(line * lines)];
        let tiles = groups[0] * groups[1];
        let mut full = Buffer::<u8>::uninit(context, tiles)?;
        let whole = (1_u32 << dia.deltas.len()) - 1;
        let range = Range::d1(tiles * context.local(), context.local());
        let program = program::<T>(context);
        program.find_full_tiles(context, range, s.rows, line, local, lines, groups[0], whole, &dia.mask, &mut full)?;
        let inner = inner(&full.to_vec()?, groups);
        Ok(Tiles { size, line, groups, full, inner })
    }

    /// The compilation of `stencil.cl` for these tiles.
    pub(crate) fn program<T: Scalar>(&self, context: &Context, dia: &Dia) -> stencil::Program<T::Real> {
        let [local, lines] = self.size;
        let program = dia.program::<T>(context).lines_unless(lines as u64, 4);
        program.local_unless(local as u64, context.local() as u64)
    }
}

/// Of `groups[0]` by `groups[1]` tiles, a rectangle of full ones around the middle: left, right, low, high. Empty where that
/// is not full itself.
fn inner(full: &[u8], [across, along]: [usize; 2]) -> [u32; 4] {
    let is_full = |x: usize, y: usize| full[y * across + x] != 0;
    let (x, y) = (across / 2, along / 2);
    let grow = |from: usize, last: usize, full: &dyn Fn(usize) -> bool| {
        let low = (0..from).rev().take_while(|&k| full(k)).count();
        let high = (from..last).take_while(|&k| full(k)).count();
        (from - low, from + high)
    };
    let (low, high) = grow(y, along, &|y| is_full(x, y));
    if !(low..high).contains(&y) {
        return [0; 4];
    }
    let (left, right) = grow(x, across, &|x| (low..high).all(|y| is_full(x, y)));
    [left, right, low, high].map(|k| k as u32)
}

/// The length of the grid's lines, or of its planes, behind a pattern: the middle of the distances that are more than half
/// of the largest.
fn line_of(deltas: &[u32]) -> Option<usize> {
    let largest = deltas.iter().map(|&d| d as i32).max().filter(|&d| d > 0)?;
    let far: Vec<i32> = deltas.iter().map(|&d| d as i32).filter(|&d| d > largest / 2).collect();
    Some(far[far.len() / 2] as usize)
}

/// Distances and values of the most frequent row of a sample; `None` where no row is frequent or it is too long, or where
/// far more rows of the sample have entries elsewhere than the rule allows of all.
fn most_frequent<T: Scalar>(s: &Structure, values: &Buffer<T>, rule: &Rule) -> Result<Option<(Vec<u32>, Vec<T>)>> {
    // Distances are signed and 32 bits wide in the kernels.
    if s.nnz == 0 || s.rows.max(s.cols) > i32::MAX as usize {
        return Ok(None);
    }
    let context = values.context();
    let list = sample(s.rows);
    let count = list.len();
    // For each row, its width, then its distances.
    let mut distances = Buffer::<u32>::uninit(context, count * (1 + WIDEST))?;
    let coefficient = Buffer::<T>::uninit(context, count * WIDEST)?;
    let rows = Buffer::from_slice(context, &list)?;
    let (range, widest) = (Range::d1(count, context.local()), WIDEST as u32);
    let (value, of_rows) = (In::parts(values), Out::parts(&coefficient));
    program::<T>(context).gather_rows(
        context,
        range,
        count,
        widest,
        &rows,
        &s.offset,
        &s.column,
        value,
        &mut distances,
        of_rows,
    )?;
    let distances = distances.to_vec()?;
    let row = |k: usize| &distances[k * (1 + WIDEST)..(k + 1) * (1 + WIDEST)];
    let width = |k: usize| row(k)[0] as usize;
    let delta = |k: usize| &row(k)[1..1 + width(k)];
    let usable = |k: &usize| (1..=WIDEST).contains(&width(*k));
    // Positions first; among the rows that have them, values.
    let Some(positions) = winner((0..count).filter(usable), delta) else { return Ok(None) };
    let fits = |k: usize| width(k) <= WIDEST && is_part(delta(k), delta(positions));
    let others = (0..count).filter(|&k| !fits(k)).count();
    // In a sample of this size, the fraction of other rows differs by far less than a quarter from that of all rows.
    if !rule.few(others.saturating_sub(SAMPLE / 4), count) {
        return Ok(None);
    }
    let coefficient = coefficient.to_vec()?;
    let values_of = |k: usize| &coefficient[k * WIDEST..k * WIDEST + width(k)];
    let same = (0..count).filter(usable).filter(|&k| delta(k) == delta(positions));
    let Some(k) = winner(same, |k| values_of(k).iter().map(|v| bits(*v)).collect::<Vec<_>>()) else {
        return Ok(None);
    };
    Ok(Some((delta(k).to_vec(), values_of(k).to_vec())))
}

/// A value by its bits, which tells zeros of different signs and NaNs apart as well.
fn bits<T: Scalar>(value: T) -> [u64; 2] {
    [value.re(), value.im()].map(|part| part.into_f64().to_bits())
}

/// Whether `part` is a subsequence of `all`.
fn is_part(part: &[u32], all: &[u32]) -> bool {
    let mut rest = all.iter();
    part.iter().all(|own| rest.any(|other| other == own))
}

/// The first of the items whose `key` is the most frequent.
fn winner<K: std::hash::Hash + Eq>(items: impl Iterator<Item = usize>, key: impl Fn(usize) -> K) -> Option<usize> {
    let mut seen: HashMap<K, (usize, usize)> = HashMap::new();
    for k in items {
        seen.entry(key(k)).or_insert((0, k)).0 += 1;
    }
    seen.into_values().max_by_key(|&(count, first)| (count, std::cmp::Reverse(first))).map(|(_, first)| first)
}

/// Rows spread without a period that a grid could have: multiples of the golden ratio, each row at most once.
fn sample(rows: usize) -> Vec<u32> {
    if rows <= SAMPLE {
        return (0..rows as u32).collect();
    }
    let step = |k: usize| (k as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut list: Vec<u32> = (0..SAMPLE).map(|k| ((u128::from(step(k)) * rows as u128) >> 64) as u32).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// The compilation of `stencil.cl` for any pattern.
fn program<T: Scalar>(context: &Context) -> stencil::Program<T::Real> {
    match context.family() {
        KernelFamily::Gpu => stencil::Program::new(),
        KernelFamily::Cpu => stencil::Program::new().block(block(KernelFamily::Cpu) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_grid() {
        let line = |deltas: &[i32]| line_of(&deltas.iter().map(|&d| d as u32).collect::<Vec<_>>());
        assert_eq!(line(&[-100, -1, 0, 1, 100]), Some(100));
        assert_eq!(line(&[-2500, -50, -1, 0, 1, 50, 2500]), Some(2500));
        let cube: Vec<i32> = (0..27).map(|k| (k / 9 - 1) * 2500 + (k / 3 % 3 - 1) * 50 + k % 3 - 1).collect();
        assert_eq!(line(&cube), Some(2500));
        assert_eq!(line(&[-7, -1, 0]), None);
    }

    #[test]
    fn the_inner_tiles_are_a_rectangle_around_the_middle() {
        let tiles = |rows: &[&str]| rows.concat().bytes().map(|b| b - b'0').collect::<Vec<u8>>();
        assert_eq!(inner(&tiles(&["0000", "0111", "0111", "0101"]), [4, 4]), [1, 4, 1, 3]);
        assert_eq!(inner(&tiles(&["111", "111"]), [3, 2]), [0, 3, 0, 2]);
        assert_eq!(inner(&tiles(&["111", "101", "111"]), [3, 3]), [0; 4]);
        assert_eq!(inner(&tiles(&["1"]), [1, 1]), [0, 1, 0, 1]);
    }

    #[test]
    fn samples_hold_each_row_once_at_most() {
        assert_eq!(sample(3), [0, 1, 2]);
        for rows in [513, 1000, 1 << 20, u32::MAX as usize] {
            let list = sample(rows);
            assert!(list.len() > 300 && list.windows(2).all(|w| w[0] < w[1]), "{rows}");
            assert!((*list.last().unwrap() as usize) < rows);
        }
    }

    #[test]
    fn parts_keep_the_order() {
        for (part, want) in
            [(&[][..], true), (&[1], true), (&[1, 3], true), (&[1, 2, 3], true), (&[3, 1], false), (&[4], false)]
        {
            assert_eq!(is_part(part, &[1, 2, 3]), want, "{part:?}");
        }
    }
}
