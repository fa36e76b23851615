//! How a sparse matrix is multiplied: what its upload finds in it, and what is chosen.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

use super::csr::{Structure, balanced};
use super::launch::{self, Many};
use super::pattern::{Marked, Pattern, Rule, Stencil, block};
use crate::runtime::{Arg, Kernel, Launch, Range, Shape, files};
use crate::tune::{self, Op, RowProduct};
use crate::{Buffer, Error, Precision, Real, Result};

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

/// Items per cut row; `LANES` of `join_blocks_gpu`.
const JOIN_LANES: usize = 8;

/// Rows of a chunk of `chunks.cl`.
const CHUNK: usize = 8;

/// What the analysis of the positions found, the product that follows from it, and the time that all analysis took.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) pattern: Option<Arc<Pattern>>,
    pub(crate) blocks: Option<Blocks>,
    pub(crate) chunks: Option<Chunks>,
    pub(crate) runs: Option<Runs>,
    /// On a processor, first rows of parts with about equally many entries, and the number of rows; for products by
    /// compressed rows.
    pub(crate) split: Option<Buffer<u32>>,
    /// Whether the compressed rows were asked for.
    pub(crate) plain: bool,
    /// Items per row of a GPU where there are no blocks.
    pub(crate) rows: RowProduct,
    /// The product; of blocks that cut rows, its first kernel.
    pub(crate) product: Launch,
    /// With several right-hand sides.
    pub(crate) many: Many,
    pub(crate) seconds: f64,
    /// Seconds in which kernels were built, apart from `seconds`.
    pub(crate) building: f64,
}

/// A matrix in blocks of entries, for `blocks.cl`.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Number of blocks.
    pub(crate) count: usize,
    /// The first row that begins in each block, and the number of rows.
    pub(crate) start: Buffer<u32>,
    pub(crate) columns: Columns,
    product: Launch,
}

/// How the blocks are cut, and what follows for the columns.
#[derive(Debug)]
pub(crate) enum Columns {
    /// Between rows, columns as they are.
    Whole,
    /// Between rows; lowest column of each block, and 16-bit distances from it.
    Short(Buffer<u32>, Buffer<u16>),
    /// After as many entries each; the rows that go on in later blocks, and the first and the end of those blocks.
    Cut { rows: usize, row: Buffer<u32>, from: Buffer<u32>, to: Buffer<u32>, join: Box<Launch> },
}

/// Entries in chunks of rows, for `chunks.cl`; their values are in [`Slots`].
#[derive(Debug)]
pub(crate) struct Chunks {
    /// First rows of parts with about equally many entries, and the number of rows.
    pub(crate) split: Buffer<u32>,
    /// Where each chunk begins and the last one ends, in units of [`CHUNK`] entries.
    pub(crate) start: Buffer<u32>,
    pub(crate) column: Buffer<u32>,
    /// Entries outside of the chunks.
    others: usize,
}

/// Runs of rows, as stencils have them: within a run, each row has the columns of the row before moved on by one. On
/// processors.
#[derive(Debug)]
pub(crate) struct Runs {
    /// First rows of parts with about equally many entries, and the number of rows.
    pub(crate) split: Buffer<u32>,
    /// First row of each run, and the number of rows.
    pub(crate) start: Buffer<u32>,
    /// The run in which each part begins.
    pub(crate) first: Buffer<u32>,
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
    let context = s.offset.context();
    let built = context.build_seconds();
    let gpu = context.shape() == Shape::Gpu;
    let plain = forced == Some(Format::Rows);
    // A look at every row, which only a forced choice takes the time for.
    let longest = if plain { offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0) } else { 0 };
    let rows = RowProduct::choose(s.rows, s.nnz, longest as usize);
    let (mut pattern, mut stencil) = (None, None);
    let worth = s.rows >= tune::PATTERN_ROWS && forced.is_none();
    if worth || matches!(forced, Some(Format::Diagonals | Format::Stencil)) {
        let rule = Rule { forced: forced.is_some() };
        if let Some(marked) = Marked::find(s, values, &rule)? {
            // Also what the products of a stencil fall back to when the values change.
            pattern = marked.diagonals(s, &rule);
            if forced != Some(Format::Diagonals) {
                stencil = marked.stencil(s, &rule)?;
            }
        }
    }
    let without = pattern.is_none() && !plain;
    let blocks = if gpu && without { Blocks::new::<T>(s, offsets)? } else { None };
    let takes_runs = !gpu && without && matches!(forced, None | Some(Format::Diagonals));
    let runs = if takes_runs { Runs::find::<T>(s, offsets)? } else { None };
    let unforced = forced.is_none() && without && runs.is_none();
    let takes_chunks = !gpu && (forced == Some(Format::Blocks) || unforced && !launch::gathers_far::<T>(s, offsets)?);
    let chunks = if takes_chunks { Chunks::new::<T>(s, offsets, forced.is_some())? } else { None };
    let possible = match forced {
        Some(Format::Stencil) => stencil.is_some(),
        Some(Format::Diagonals) => pattern.is_some() || runs.is_some(),
        Some(Format::Blocks) => blocks.is_some() || chunks.is_some(),
        Some(Format::Rows) | None => true,
    };
    if !possible {
        let format = forced.unwrap_or(Format::Rows);
        let expected = "a format that the matrix and the device allow (see Csr::explain)";
        return Err(Error::value("format", expected, format));
    }
    let mut split = None;
    let product = match (&pattern, &blocks, &chunks, &runs) {
        (Some(pattern), ..) => pattern.product::<T>(context, s.rows),
        (None, Some(blocks), ..) => blocks.product,
        (None, None, Some(chunks), _) => chunks.product::<T>(s),
        (None, None, None, Some(runs)) => runs.product::<T>(s),
        _ if gpu => launch::csr_gpu::<T>(context, s.rows, rows),
        _ => {
            let launch = launch::csr_cpu::<T>(context, s.rows, s.cols);
            split = Some(Buffer::from_slice(context, &balanced(offsets, launch.range.items()))?);
            launch
        }
    };
    let skewed = blocks.as_ref().is_some_and(|blocks| matches!(blocks.columns, Columns::Cut { .. }));
    let many = match &pattern {
        Some(pattern) if gpu => Many::pattern::<T>(context, s.rows, pattern.deltas.len(), false),
        _ => Many::csr::<T>(context, s.rows, rows, skewed),
    };
    context.finish()?;
    let building = context.build_seconds() - built;
    let seconds = (started.elapsed().as_secs_f64() - building).max(0.0);
    let plan = Plan { pattern, blocks, chunks, runs, split, plain, rows, product, many, seconds, building };
    Ok(Found { plan, stencil })
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
            let context = values.context();
            context.run(&pattern.kernel::<T>(context, "fill_slots"), Range::d1(s.rows, context.local()), &args)
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

impl Chunks {
    /// The chunks, if few entries stay outside or they are `forced`.
    fn new<T: Real>(s: &Structure, offsets: &[u32], forced: bool) -> Result<Option<Chunks>> {
        let context = s.offset.context();
        let starts = chunk_starts(offsets);
        let entries = starts[starts.len() - 1] as usize * CHUNK;
        let others = s.nnz - entries;
        if s.nnz == 0 || !forced && others > s.nnz / tune::OUTSIDE_CHUNKS {
            return Ok(None);
        }
        let [parts, ..] = launch::numbers::<T>(context, Op::MvChunksCpu, s.rows);
        let split = Buffer::from_slice(context, &balanced(offsets, launch::parts(context, parts, s.rows)))?;
        let start = Buffer::from_slice(context, &starts)?;
        let chunks = Chunks { split, start, column: Buffer::uninit(context, entries)?, others };
        chunks.fill::<T>("fill_columns", s, s.column.arg(), chunks.column.arg())?;
        Ok(Some(chunks))
    }

    fn product<T: Real>(&self, s: &Structure) -> Launch {
        let kernel = (&files::CHUNKS, "mv_chunks_cpu");
        launch::chunked::<T>(s.offset.context(), Op::MvChunksCpu, s.rows, kernel, s.rows)
    }

    /// Puts the numbers of `entry`, one an entry of the matrix, where the chunks have them.
    fn fill<T: Real>(&self, name: &'static str, s: &Structure, entry: Arg, placed: Arg) -> Result<()> {
        let args = [Arg::size(s.rows), self.split.arg(), self.start.arg(), s.offset.arg(), entry, placed];
        let range = Range::d1(self.split.len() - 1, 1);
        s.offset.context().run(&Kernel::new(&files::CHUNKS, name, T::PRECISION), range, &args)
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

impl Runs {
    /// The runs of a matrix, if they are long enough to pay.
    fn find<T: Real>(s: &Structure, offsets: &[u32]) -> Result<Option<Runs>> {
        let context = s.offset.context();
        let parts = context.chunks().min(s.rows.div_ceil(1024)).max(1);
        let run = |name, last: &[Arg]| {
            let kernel = Kernel::new(&files::CONVERT, name, T::PRECISION);
            let matrix = [Arg::size(s.rows), s.offset.arg(), s.column.arg()];
            context.run(&kernel, Range::d1(parts, 1), &[matrix.as_slice(), last].concat())
        };
        let count = Buffer::<u32>::uninit(context, parts)?;
        run("count_runs_cpu", &[count.arg()])?;
        let mut place = count.to_vec()?;
        let runs: usize = place.iter().map(|&count| count as usize).sum();
        if runs >= s.rows / tune::RUN_ROWS {
            return Ok(None);
        }
        let mut next = 0;
        place.iter_mut().for_each(|place| next += std::mem::replace(place, next));
        let mut start = Buffer::<u32>::uninit(context, runs + 1)?;
        run("list_runs_cpu", &[Buffer::from_slice(context, &place)?.arg(), start.arg()])?;
        start.write_range(runs, &[s.rows as u32])?;
        let [parts, ..] = launch::numbers::<T>(context, Op::MvRunsCpu, s.rows);
        let split = balanced(offsets, launch::parts(context, parts, s.rows));
        let starts = start.to_vec()?;
        let run_of = |&row: &u32| starts.partition_point(|&s| s <= row).saturating_sub(1) as u32;
        let first: Vec<u32> = split.iter().map(run_of).collect();
        let first = Buffer::from_slice(context, &first)?;
        Ok(Some(Runs { split: Buffer::from_slice(context, &split)?, start, first }))
    }

    fn product<T: Real>(&self, s: &Structure) -> Launch {
        let kernel = (&files::CSR, "mv_csr_runs_cpu");
        launch::chunked::<T>(s.offset.context(), Op::MvRunsCpu, s.rows, kernel, s.rows)
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
        let shape = launch::block_shape::<T>(context, s.rows, s.nnz);
        let kernel = |name| Kernel::new(&files::BLOCKS, name, T::PRECISION).with(&shape.defines());
        let launch = |kernel, count: usize| Launch { kernel, range: Range::d1(count * shape.items, shape.items) };
        let whole = whole_rows(offsets, shape.entries(), shape.rows);
        if let Some(starts) = whole.filter(|starts| shape.fills(starts.len() - 1, s.nnz)) {
            let count = starts.len() - 1;
            let start = Buffer::from_slice(context, &starts)?;
            let product = kernel("mv_blocks_gpu");
            let (columns, product) = match narrow(s, &start, count)? {
                Some((base, column)) => (Columns::Short(base, column), product.with(&[("SHORT", 1)])),
                None => (Columns::Whole, product.with(&[("ONCE", 1)])),
            };
            return Ok(Some(Blocks { count, start, columns, product: launch(product, count) }));
        }
        let cut = Cut::new(offsets, shape.entries());
        let columns = Columns::Cut {
            rows: cut.row.len(),
            row: Buffer::from_slice(context, &cut.row)?,
            from: Buffer::from_slice(context, &cut.from)?,
            to: Buffer::from_slice(context, &cut.to)?,
            join: Box::new(Launch {
                kernel: kernel("join_blocks_gpu").with(&[("CUT", 1)]),
                range: Range::d1(cut.row.len() * JOIN_LANES, shape.items),
            }),
        };
        let count = cut.start.len() - 1;
        let start = Buffer::from_slice(context, &cut.start)?;
        let product = launch(kernel("mv_cut_blocks_gpu").with(&[("CUT", 1), ("ONCE", 1)]), count);
        Ok(Some(Blocks { count, start, columns, product }))
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
}
