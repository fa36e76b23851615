//! How a sparse matrix is multiplied: what its upload finds in it, and what is chosen.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

use super::csr::Structure;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::{self, BlockShape, RowProduct};
use crate::{Buffer, Context, Error, Precision, Real, Result};

/// How the product with a sparse matrix is computed. Chosen at upload; the compressed rows stay, and can be downloaded
/// as they were given, in every format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// The compressed rows as they are: on a GPU one or several work-items per row, on a processor a chunk of rows per
    /// item.
    Rows,
    /// On a GPU: the compressed rows in blocks of about equally many entries, a work-group per block; long rows are cut
    /// into segments. Columns take 16 bits where those of every block lie close together. On a processor: the entries are
    /// kept once more in chunks of eight rows, entry by entry.
    Blocks,
    /// Most rows have their entries at the same distances from the diagonal. Columns are not read; on a GPU the values
    /// are kept by diagonals as well. Where there is no such pattern, on a processor, rows may come in runs in which the
    /// columns move on by one: those of a run's first row serve for all.
    Diagonals,
    /// Most rows have the same values at the same distances from the diagonal: neither columns nor values are read.
    Stencil,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Rows => "rows",
            Format::Blocks => "blocks",
            Format::Diagonals => "diagonals",
            Format::Stencil => "stencil",
        })
    }
}

/// Rows of a block of `stencil.cl`: as many as neighbours share lines of memory on a GPU, or a vector of a processor.
pub(crate) fn block(shape: Shape) -> usize {
    match shape {
        Shape::Gpu => 64,
        Shape::Cpu => 8,
    }
}

/// Rows of a chunk of `chunks.cl`.
const CHUNK: usize = 8;

/// Lines of a tile of `stencil.cl`.
const TILE_LINES: usize = 4;

/// Entries of the widest pattern; the bits of a mask in `stencil.cl` beyond those of its flags.
const WIDEST: usize = 30;

/// Rows looked at to find the pattern.
const SAMPLE: usize = 512;

/// What the analysis of the positions found, and the time that all analysis took.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) blocks: Option<Blocks>,
    pub(crate) chunks: Option<Chunks>,
    pub(crate) pattern: Option<Pattern>,
    /// Whether runs of rows are to be left alone.
    pub(crate) plain: bool,
    /// Items per row of a GPU where there are no blocks.
    pub(crate) rows: RowProduct,
    pub(crate) seconds: f64,
}

impl Plan {
    /// Whether runs of rows are multiplied as such.
    pub(crate) fn takes_runs(&self) -> bool {
        !self.plain && self.chunks.is_none()
    }
}

/// A matrix in blocks of entries, for `blocks.cl`.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Number of blocks.
    pub(crate) count: usize,
    pub(crate) items: usize,
    /// The first row that begins in each block, and the number of rows.
    pub(crate) start: Buffer<u32>,
    pub(crate) columns: Columns,
    pub(crate) product: Kernel,
}

/// How the blocks are cut, and what follows for the columns.
#[derive(Debug)]
pub(crate) enum Columns {
    /// Between rows, columns as they are.
    Whole,
    /// Between rows; lowest column of each block, and 16-bit distances from it.
    Short(Buffer<u32>, Buffer<u16>),
    /// After as many entries each; the rows that go on in later blocks, and the first and the end of those blocks.
    Cut { rows: usize, row: Buffer<u32>, from: Buffer<u32>, to: Buffer<u32>, join: Box<Kernel> },
}

/// Entries in chunks of rows, for `chunks.cl`; their values are in [`Slots`].
#[derive(Debug)]
pub(crate) struct Chunks {
    /// Where each chunk begins and the last one ends, in units of [`CHUNK`] entries.
    pub(crate) start: Buffer<u32>,
    pub(crate) column: Buffer<u32>,
    /// Entries outside of the chunks.
    others: usize,
}

/// The pattern of most rows.
#[derive(Debug)]
pub(crate) struct Pattern {
    /// Distances of the columns from the row, modulo 2^32, in the order of the columns.
    pub(crate) deltas: Vec<u32>,
    pub(crate) delta: Buffer<u32>,
    pub(crate) mask: Buffer<u32>,
    pub(crate) full: Buffer<u8>,
    /// Rows that are read from the compressed rows.
    pub(crate) others: usize,
}

/// A pattern with constant coefficients.
#[derive(Debug)]
pub(crate) struct Stencil<T: Real> {
    pub(crate) pattern: Pattern,
    pub(crate) coefficient: Buffer<T>,
    pub(crate) tiles: Tiles,
}

/// The order in which a GPU takes the rows of a stencil.
#[derive(Debug)]
pub(crate) struct Tiles {
    /// Rows of a line.
    pub(crate) line: usize,
    /// Groups in the direction of the lines and across them.
    pub(crate) groups: [usize; 2],
    /// Whether all rows of a tile have the whole pattern.
    pub(crate) full: Buffer<u8>,
    /// Tiles that all have: the first and the end in the direction of the lines, and across them.
    pub(crate) inner: [u32; 4],
}

/// The values once more, by diagonals or in chunks; `fresh` while they are those of the matrix.
#[derive(Debug)]
pub(crate) struct Slots<T: Real> {
    pub(crate) value: Buffer<T>,
    pub(crate) fresh: Mutex<bool>,
}

/// What the analysis found in the values of a matrix.
pub(crate) struct Found<T: Real> {
    pub(crate) plan: Plan,
    pub(crate) stencil: Option<Stencil<T>>,
}

/// Looks for the best format, or for what the `forced` one needs.
///
/// # Errors
/// [`Error::Value`] when the matrix cannot have the `forced` format.
pub(crate) fn analyse<T: Real>(
    s: &Structure,
    offsets: &[u32],
    values: &Buffer<T>,
    forced: Option<Format>,
) -> Result<Found<T>> {
    let started = Instant::now();
    let gpu = s.offset.context().shape() == Shape::Gpu;
    let plain = forced == Some(Format::Rows);
    // A look at every row, which only a forced choice takes the time for.
    let longest = if plain { offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) } else { 0 };
    let rows = RowProduct::choose(s.rows, s.nnz, longest as usize);
    let mut found =
        Found { plan: Plan { blocks: None, chunks: None, pattern: None, plain, rows, seconds: 0.0 }, stencil: None };
    let worth = s.rows >= tune::PATTERN_ROWS && forced.is_none();
    if worth || matches!(forced, Some(Format::Diagonals | Format::Stencil)) {
        let rule = Rule { forced: forced.is_some() };
        if let Some(masks) = Masks::find(s, values)? {
            if forced != Some(Format::Diagonals) {
                found.stencil = masks.stencil(s, &rule)?;
            }
            // Also what the products of a stencil fall back to when the values change.
            found.plan.pattern = masks.diagonals(s, &rule)?;
        }
    }
    if gpu && found.plan.pattern.is_none() && !plain {
        found.plan.blocks = Blocks::new::<T>(s, offsets)?;
    }
    let chunks = match forced {
        None => found.plan.pattern.is_none() && s.runs.is_none(),
        Some(format) => format == Format::Blocks,
    };
    if !gpu && chunks {
        found.plan.chunks = Chunks::new(s, offsets, forced.is_some())?;
    }
    let possible = match forced {
        Some(Format::Stencil) => found.stencil.is_some(),
        Some(Format::Diagonals) => found.plan.pattern.is_some() || s.runs.is_some(),
        Some(Format::Blocks) => found.plan.blocks.is_some() || found.plan.chunks.is_some(),
        Some(Format::Rows) | None => true,
    };
    if !possible {
        let format = forced.unwrap_or(Format::Rows);
        let expected = "a format that the matrix and the device allow (see Csr::explain)";
        return Err(Error::value("format", expected, format));
    }
    s.offset.context().finish()?;
    found.plan.seconds = started.elapsed().as_secs_f64();
    Ok(found)
}

/// When a pattern is taken.
struct Rule {
    /// Even where it hardly pays.
    forced: bool,
}

impl Rule {
    fn few(&self, others: usize, rows: usize) -> bool {
        others <= rows / if self.forced { 2 } else { tune::PATTERN_SHARE }
    }
}

/// The rows of a matrix against its most frequent one.
struct Masks<T: Real> {
    deltas: Vec<u32>,
    coefficients: Vec<T>,
    mask: Buffer<u32>,
    /// Rows with entries outside of the pattern, and those with other values.
    others: usize,
    differing: usize,
}

impl<T: Real> Masks<T> {
    fn find(s: &Structure, values: &Buffer<T>) -> Result<Option<Masks<T>>> {
        let context = values.context();
        let run = |name, items, args: &[Arg]| {
            context.run(&kernel::<T>(context, name), Range::d1(items, context.local()), args)
        };
        let Some((deltas, coefficients)) = most_frequent(s, values)? else { return Ok(None) };
        let delta = Buffer::from_slice(context, &deltas)?;
        let coefficient = Buffer::from_slice(context, &coefficients)?;
        let mask = Buffer::<u32>::uninit(context, s.rows)?;
        let arrays = [s.offset.arg(), s.column.arg(), values.arg(), delta.arg(), coefficient.arg(), mask.arg()];
        let sizes = [Arg::size(s.rows), Arg::U32(deltas.len() as u32)];
        run("mask_rows", s.rows, &[sizes.as_slice(), &arrays].concat())?;
        let blocks = s.rows.div_ceil(block(context.shape()));
        let [other, differs] = [Buffer::<u8>::uninit(context, blocks)?, Buffer::<u8>::uninit(context, blocks)?];
        let args = [Arg::size(s.rows), Arg::size(blocks), mask.arg(), other.arg(), differs.arg()];
        run("count_masks", blocks, &args)?;
        let total = |counts: Buffer<u8>| Ok::<_, Error>(counts.to_vec()?.into_iter().map(usize::from).sum::<usize>());
        Ok(Some(Masks { deltas, coefficients, mask, others: total(other)?, differing: total(differs)? }))
    }

    fn pattern(&self, s: &Structure, constant: bool, others: usize) -> Result<Pattern> {
        let context = self.mask.context();
        let run = |name, items, args: &[Arg]| {
            context.run(&kernel::<T>(context, name), Range::d1(items, context.local()), args)
        };
        let mask = Buffer::<u32>::uninit(context, s.rows)?;
        let args = [Arg::size(s.rows), Arg::U32(constant.into()), self.mask.arg(), mask.arg()];
        run("settle_masks", s.rows, &args)?;
        let blocks = s.rows.div_ceil(block(context.shape()));
        let full = Buffer::<u8>::uninit(context, blocks)?;
        let whole = (1_u32 << self.deltas.len()) - 1;
        let args = [Arg::size(s.rows), Arg::size(blocks), Arg::U32(whole), mask.arg(), full.arg()];
        run("find_full_blocks", blocks, &args)?;
        let delta = Buffer::from_slice(context, &self.deltas)?;
        Ok(Pattern { deltas: self.deltas.clone(), delta, mask, full, others })
    }

    /// The pattern with constant coefficients, if few rows have others.
    fn stencil(&self, s: &Structure, rule: &Rule) -> Result<Option<Stencil<T>>> {
        let others = self.others + self.differing;
        if !rule.few(others, s.rows) {
            return Ok(None);
        }
        let coefficient = Buffer::from_slice(self.mask.context(), &self.coefficients)?;
        let pattern = self.pattern(s, true, others)?;
        let tiles = Tiles::new(s, &pattern)?;
        Ok(Some(Stencil { pattern, coefficient, tiles }))
    }

    /// The pattern for values by diagonals, if few rows do not fit and few slots stay empty.
    fn diagonals(&self, s: &Structure, rule: &Rule) -> Result<Option<Pattern>> {
        let slots = s.rows.saturating_mul(self.deltas.len());
        let dense = slots <= s.nnz + s.nnz / tune::EMPTY_SLOTS;
        if !rule.few(self.others, s.rows) || !(dense || rule.forced) {
            return Ok(None);
        }
        self.pattern(s, false, self.others).map(Some)
    }
}

impl Tiles {
    fn new(s: &Structure, pattern: &Pattern) -> Result<Tiles> {
        let context = s.offset.context();
        let local = context.local();
        let line = line_of(&pattern.deltas).filter(|&line| line >= local).unwrap_or(tune::LINE);
        let groups = [line.div_ceil(local), s.rows.div_ceil(line * TILE_LINES)];
        let tiles = groups[0] * groups[1];
        let full = Buffer::<u8>::uninit(context, tiles)?;
        let sizes = [s.rows, line, local, groups[0], tiles].map(Arg::size);
        let whole = (1_u32 << pattern.deltas.len()) - 1;
        let args = [sizes.as_slice(), &[Arg::U32(whole), pattern.mask.arg(), full.arg()]].concat();
        let kernel = Kernel::new(&files::STENCIL, "find_full_tiles", Precision::F32);
        context.run(&kernel, Range::d1(tiles, local), &args)?;
        let inner = inner(&full.to_vec()?, groups);
        Ok(Tiles { line, groups, full, inner })
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

/// Distances and values of the most frequent row of a sample; `None` where no row is frequent or it is too long.
fn most_frequent<T: Real>(s: &Structure, values: &Buffer<T>) -> Result<Option<(Vec<u32>, Vec<T>)>> {
    // Distances are signed and 32 bits wide in the kernels.
    if s.nnz == 0 || s.rows.max(s.cols) > i32::MAX as usize {
        return Ok(None);
    }
    let context = values.context();
    let list = sample(s.rows);
    let count = list.len();
    let width = Buffer::<u32>::uninit(context, count)?;
    let delta = Buffer::<u32>::uninit(context, count * WIDEST)?;
    let coefficient = Buffer::<T>::uninit(context, count * WIDEST)?;
    let rows = Buffer::from_slice(context, &list)?;
    context.run(
        &Kernel::new(&files::STENCIL, "gather_rows", T::PRECISION),
        Range::d1(count, context.local()),
        &[
            Arg::size(count),
            Arg::U32(WIDEST as u32),
            rows.arg(),
            s.offset.arg(),
            s.column.arg(),
            values.arg(),
            width.arg(),
            delta.arg(),
            coefficient.arg(),
        ],
    )?;
    let (width, delta, coefficient) = (width.to_vec()?, delta.to_vec()?, coefficient.to_vec()?);
    let part = |k: usize| k * WIDEST..k * WIDEST + width[k] as usize;
    let usable = |k: &usize| (1..=WIDEST).contains(&(width[*k] as usize));
    // Positions first; among the rows that have them, values.
    let Some(positions) = winner((0..count).filter(usable), |k| &delta[part(k)]) else { return Ok(None) };
    let same = (0..count).filter(usable).filter(|&k| delta[part(k)] == delta[part(positions)]);
    let bits = |k: usize| coefficient[part(k)].iter().map(|v| v.wide().to_bits()).collect::<Vec<_>>();
    let Some(k) = winner(same, bits) else { return Ok(None) };
    Ok(Some((delta[part(k)].to_vec(), coefficient[part(k)].to_vec())))
}

/// The first of those whose `key` is the most frequent.
fn winner<K: std::hash::Hash + Eq>(items: impl Iterator<Item = usize>, key: impl Fn(usize) -> K) -> Option<usize> {
    let mut seen: HashMap<K, (usize, usize)> = HashMap::new();
    for k in items {
        seen.entry(key(k)).or_insert((0, k)).0 += 1;
    }
    seen.into_values().max_by_key(|&(count, first)| (count, std::cmp::Reverse(first))).map(|(_, first)| first)
}

/// Rows spread without a period that a grid could have: multiples of the golden section, each row at most once.
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

impl<T: Real> Slots<T> {
    pub(super) fn new(s: &Structure, pattern: &Pattern) -> Result<Slots<T>> {
        let block = block(Shape::Gpu);
        let len = s.rows.div_ceil(block).saturating_mul(block * pattern.deltas.len());
        Slots::of(s, len)
    }

    pub(super) fn of_chunks(s: &Structure, chunks: &Chunks) -> Result<Slots<T>> {
        Slots::of(s, chunks.column.len())
    }

    fn of(s: &Structure, len: usize) -> Result<Slots<T>> {
        Ok(Slots { value: Buffer::uninit(s.offset.context(), len)?, fresh: Mutex::new(false) })
    }

    pub(super) fn outdate(&mut self) {
        *self.fresh.get_mut().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// The slots with the values of the matrix. What is enqueued next finds them filled.
    pub(super) fn refresh(&self, s: &Structure, pattern: &Pattern, values: &Buffer<T>) -> Result<&Buffer<T>> {
        self.fill(|| {
            let args = [Arg::size(s.rows), pattern.mask.arg(), s.offset.arg(), values.arg(), self.value.arg()];
            let range = Range::d1(s.rows, values.context().local());
            values.context().run(&pattern.kernel::<T>(values.context(), "fill_slots"), range, &args)
        })
    }

    /// The same for the values in chunks.
    pub(super) fn refresh_chunks(&self, s: &Structure, chunks: &Chunks, values: &Buffer<T>) -> Result<&Buffer<T>> {
        self.fill(|| chunks.fill::<T>("fill_values", s, values.arg(), self.value.arg()))
    }

    fn fill(&self, fill: impl FnOnce() -> Result<()>) -> Result<&Buffer<T>> {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if !*fresh {
            fill()?;
            *fresh = true;
        }
        Ok(&self.value)
    }
}

/// A kernel of `stencil.cl` for any pattern.
fn kernel<T: Real>(context: &Context, name: &'static str) -> Kernel {
    let kernel = Kernel::new(&files::STENCIL, name, T::PRECISION);
    match context.shape() {
        Shape::Gpu => kernel,
        Shape::Cpu => kernel.with(&[("BLOCK", block(Shape::Cpu) as u64)]),
    }
}

impl Chunks {
    /// The chunks, if few entries stay outside or they are `forced`.
    fn new(s: &Structure, offsets: &[u32], forced: bool) -> Result<Option<Chunks>> {
        let context = s.offset.context();
        let starts = chunk_starts(offsets);
        let entries = starts[starts.len() - 1] as usize * CHUNK;
        let others = s.nnz - entries;
        if s.nnz == 0 || !forced && others > s.nnz / tune::OUTSIDE_CHUNKS {
            return Ok(None);
        }
        let start = Buffer::from_slice(context, &starts)?;
        let chunks = Chunks { start, column: Buffer::uninit(context, entries)?, others };
        chunks.fill::<f32>("fill_columns", s, s.column.arg(), chunks.column.arg())?;
        Ok(Some(chunks))
    }

    /// Puts the numbers of `entry`, one an entry of the matrix, where the chunks have them.
    fn fill<T: Real>(&self, name: &'static str, s: &Structure, entry: Arg, placed: Arg) -> Result<()> {
        let split = s.split.as_ref().expect("processors have parts of rows");
        let args = [Arg::size(s.rows), split.arg(), self.start.arg(), s.offset.arg(), entry, placed];
        s.offset.context().run(&Kernel::new(&files::CHUNKS, name, T::PRECISION), Range::d1(split.len() - 1, 1), &args)
    }

    pub(super) fn words(&self) -> String {
        let others = match self.others {
            0 => String::new(),
            n => format!(" ({n} are not, and are read from the compressed rows)"),
        };
        format!("no pattern of rows that pays was found; entries are kept in chunks of {CHUNK} rows{others}")
    }
}

/// Where each chunk begins, in units of [`CHUNK`] entries, if it has those that all its rows have; the last rows have a
/// chunk where they are enough.
fn chunk_starts(offsets: &[u32]) -> Vec<u32> {
    let chunks = (offsets.len() - 1).div_ceil(CHUNK);
    let mut starts = Vec::with_capacity(chunks + 1);
    let mut next = 0;
    starts.push(next);
    for c in 0..chunks {
        if let Some(rows) = offsets.get(c * CHUNK..=(c + 1) * CHUNK) {
            next += rows.windows(2).map(|row| row[1] - row[0]).min().unwrap_or(0);
        }
        starts.push(next);
    }
    starts
}

impl Pattern {
    /// A kernel of `stencil.cl` for the pattern.
    pub(crate) fn kernel<T: Real>(&self, context: &Context, name: &'static str) -> Kernel {
        kernel::<T>(context, name).with(&[("POINTS", self.deltas.len() as u64)])
    }
}

impl Blocks {
    pub(super) fn words(&self) -> String {
        let how = match &self.columns {
            Columns::Whole => "of whole rows with 32-bit columns".to_owned(),
            Columns::Short(..) => "of whole rows with 16-bit columns".to_owned(),
            Columns::Cut { rows, .. } => {
                format!("of equally many entries, as row lengths differ ({rows} rows go over several blocks)")
            }
        };
        format!("no pattern of rows that pays was found; {} blocks {how}", self.count)
    }

    fn new<T: Real>(s: &Structure, offsets: &[u32]) -> Result<Option<Blocks>> {
        if s.nnz == 0 {
            return Ok(None);
        }
        let context = s.offset.context();
        let shape = BlockShape::choose(s.rows, s.nnz);
        let kernel = |name| Kernel::new(&files::BLOCKS, name, T::PRECISION).with(&shape.defines());
        let whole = whole_rows(offsets, shape.entries(), shape.rows);
        if let Some(starts) = whole.filter(|starts| shape.fills(starts.len() - 1, s.nnz)) {
            let count = starts.len() - 1;
            let start = Buffer::from_slice(context, &starts)?;
            let product = kernel("mv_blocks_gpu");
            let (columns, product) = match narrow(s, &start, count)? {
                Some((base, column)) => (Columns::Short(base, column), product.with(&[("SHORT", 1)])),
                None => (Columns::Whole, product.with(&[("ONCE", 1)])),
            };
            return Ok(Some(Blocks { count, items: shape.items, start, columns, product }));
        }
        let cut = Cut::new(offsets, shape.entries());
        let columns = Columns::Cut {
            rows: cut.row.len(),
            row: Buffer::from_slice(context, &cut.row)?,
            from: Buffer::from_slice(context, &cut.from)?,
            to: Buffer::from_slice(context, &cut.to)?,
            join: Box::new(kernel("join_blocks_gpu").with(&[("CUT", 1)])),
        };
        Ok(Some(Blocks {
            count: cut.start.len() - 1,
            items: shape.items,
            start: Buffer::from_slice(context, &cut.start)?,
            columns,
            product: kernel("mv_cut_blocks_gpu").with(&[("CUT", 1), ("ONCE", 1)]),
        }))
    }
}

/// The 16-bit columns, if those of every block fit.
fn narrow(s: &Structure, start: &Buffer<u32>, count: usize) -> Result<Option<(Buffer<u32>, Buffer<u16>)>> {
    let context = start.context();
    let run = |name, items, args: &[Arg]| {
        context.run(&Kernel::new(&files::BLOCKS, name, Precision::F32), Range::d1(items, context.local()), args)
    };
    let base = Buffer::<u32>::uninit(context, count)?;
    let reach = Buffer::<u32>::uninit(context, count)?;
    let arrays = [Arg::size(count), start.arg(), s.offset.arg(), s.column.arg(), base.arg(), reach.arg()];
    run("measure_blocks", count, &arrays)?;
    if reach.to_vec()?.into_iter().any(|reach| reach > u32::from(u16::MAX)) {
        return Ok(None);
    }
    let column = Buffer::<u16>::uninit(context, s.nnz)?;
    let arrays = [start.arg(), base.arg(), s.offset.arg(), s.column.arg(), column.arg()];
    run("narrow_columns", count * context.local(), &arrays)?;
    Ok(Some((base, column)))
}

/// First rows of blocks of at most `rows` whole rows and `entries` entries; `None` where a row has more.
fn whole_rows(offsets: &[u32], entries: usize, rows: usize) -> Option<Vec<u32>> {
    let last = offsets.len() - 1;
    let mut start = vec![0];
    let mut row = 0;
    while row < last {
        let most = (row + rows).min(last);
        let end = u64::from(offsets[row]) + entries as u64;
        let fits = |&offset: &u32| u64::from(offset) <= end;
        let next = if fits(&offsets[most]) { most } else { row + offsets[row + 1..most].partition_point(fits) };
        if next == row {
            return None;
        }
        row = next;
        start.push(row as u32);
    }
    Some(start)
}

/// Blocks of equally many entries.
#[derive(Debug, PartialEq, Eq)]
struct Cut {
    start: Vec<u32>,
    row: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
}

impl Cut {
    fn new(offsets: &[u32], entries: usize) -> Cut {
        let rows = offsets.len() - 1;
        let blocks = (offsets[rows] as usize).div_ceil(entries);
        let mut cut = Cut { start: Vec::with_capacity(blocks + 1), row: Vec::new(), from: Vec::new(), to: Vec::new() };
        let mut row = 0;
        for block in 0..blocks {
            let first = block * entries;
            // Rows are short against a block or few: a step, then halves.
            let mut step = 1;
            while row + step < rows && (offsets[row + step] as usize) < first {
                step *= 2;
            }
            let end = (row + step).min(rows);
            row += offsets[row..end].partition_point(|&offset| (offset as usize) < first);
            cut.start.push(row as u32);
            if offsets[row] as usize > first {
                let begun = row as u32 - 1;
                match cut.row.last() {
                    Some(&last) if last == begun => *cut.to.last_mut().expect("as many as rows") += 1,
                    _ => {
                        cut.row.push(begun);
                        cut.from.push(block as u32);
                        cut.to.push(block as u32 + 1);
                    }
                }
            }
        }
        cut.start.push(rows as u32);
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_whole_rows_hold_few_entries() {
        // Rows of 2, 2, 0, 3, 1, 1, 1 entries.
        let offsets = [0, 2, 4, 4, 7, 8, 9, 10];
        assert_eq!(whole_rows(&offsets, 4, 3), Some(vec![0, 3, 5, 7]));
        assert_eq!(whole_rows(&offsets, 4, 2), Some(vec![0, 2, 4, 6, 7]));
        assert_eq!(whole_rows(&offsets, 100, 100), Some(vec![0, 7]));
        assert_eq!(whole_rows(&offsets, 2, 100), None);
        assert_eq!(whole_rows(&[0], 4, 3), Some(vec![0]));
        // The last entries that 32 bits can count.
        assert_eq!(whole_rows(&[0, u32::MAX - 1, u32::MAX], u32::MAX as usize - 1, 9), Some(vec![0, 1, 2]));
    }

    #[test]
    fn blocks_of_equally_many_entries_cut_rows() {
        // Rows of 2, 2, 0, 9, 1, 0, 2, 0 entries: blocks 0..4, 4..8, 8..12, 12..16.
        let offsets = [0, 2, 4, 4, 13, 14, 14, 16, 16];
        let cut = Cut::new(&offsets, 4);
        assert_eq!(cut.start, [0, 2, 4, 4, 8]);
        assert_eq!((cut.row, cut.from, cut.to), (vec![3], vec![2], vec![4]));
        // 5 entries: 0..5, 5..10, 10..15, 15..16; row 6 has entries 14 and 15.
        let cut = Cut::new(&offsets, 5);
        assert_eq!(cut.start, [0, 4, 4, 7, 8]);
        assert_eq!((cut.row, cut.from, cut.to), (vec![3, 6], vec![1, 3], vec![3, 4]));
        let whole = Cut::new(&offsets, 16);
        assert_eq!((whole.start, whole.row), (vec![0, 8], vec![]));
    }

    #[test]
    fn chunks_hold_what_all_their_rows_have() {
        assert_eq!(chunk_starts(&[0]), [0]);
        assert_eq!(chunk_starts(&[0, 3, 6]), [0, 0]);
        let offsets: Vec<u32> = (0..=8).map(|i| 3 * i).chain([25, 27, 30, 34, 39, 45, 52, 60, 70]).collect();
        assert_eq!(chunk_starts(&offsets), [0, 3, 4, 4]);
    }

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
}
