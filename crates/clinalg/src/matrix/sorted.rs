//! SELL-C-sigma on a GPU: entries in chunks of rows that are sorted by their length within windows.

use super::balanced::{Measured, Near, PAGES, start_blocks};
use super::csr::Structure;
use super::launch;
use super::scan::scan;
use crate::runtime::Range;
use crate::runtime::kernels::{sell_sorted, sparse_blocks};
use crate::{Buffer, Real, Result, tune};

/// Rows of a chunk; `CHUNK` of `sell_sorted.cl`.
const CHUNK: usize = 32;

/// Rows that are sorted by their length; `WINDOW` of `sell_sorted.cl`.
const WINDOW: usize = 128;

/// Rows of a work-group, if the device allows that many. (NVIDIA H100, microseconds with 128, 256, 512 and 1024: rows of 4 to 40 that
/// gather from 9000 columns 165, 138, 122, 120; triangles shuffled in windows of 4096 110, 97, 84, 82; rows of 80 144, 142, 141, 141.)
const GROUP: usize = 512;

/// Maximum number of padding slots per entry where the format is requested.
const MOST_PADDING: usize = 3;

/// Otherwise, the maximum number of padding slots per 100 entries with 16-bit columns. (NVIDIA H100, local rows, GB/s by SELL and by
/// nnz-balanced CSR: with 8 per 100 entries 2449 and 1784, with 20 2316 and 1787, with 24 1802 and 1959, with 37 1971 and 2166.)
const PADDING: usize = 22;

/// The same with 32-bit columns, which gain less and take more memory. (With 1 per 100 entries, shuffled tetrahedra, 1507 and 1420; with 7,
/// rows of 5 to 9, 1399 and 1408; with 24 1313 and 1404.)
const WIDE_PADDING: usize = 6;

/// How many more padding slots per 100 entries all windows may have than those of the sample.
const SLACK: usize = 2;

/// Rows that occupy a compute unit, an item each. (NVIDIA H100 with 132 units, local rows of 80 and of 300, microseconds by chunks, by
/// blocks and by compressed rows: 20 000 rows 14, 13, 12 and 78, 63, 33; 40 000 rows 17, 20, 24 and 84, 123, 61; 80 000 rows 33,
/// 37, 47 and 106, 235, 111.)
const ROWS_OF_UNIT: usize = 512;

/// Windows of the sample that is examined first.
const SAMPLED: usize = 256;

/// The second copy of the values may take one in this many bytes of the device's memory.
const MEMORY_SHARE: usize = 8;

/// Entries in chunks of sorted rows, for `sell_sorted.cl`; their values are kept apart, as they change.
#[derive(Debug)]
pub(crate) struct Sorted<R: Real> {
    /// Where each chunk begins and the last one ends, in units of [`CHUNK`] slots.
    pub(crate) start: Buffer<u32>,
    /// The position within its window of the row of each item.
    pub(crate) order: Buffer<u8>,
    pub(crate) columns: SortedColumns<R>,
    /// Work-items of a work-group.
    pub(crate) items: usize,
    /// A work-group for as many rows as it has items.
    pub(crate) range: Range,
    /// Number of slots of all chunks.
    pub(crate) places: usize,
    padding: usize,
}

/// The columns of the chunks.
#[derive(Debug)]
pub(crate) enum SortedColumns<R: Real> {
    Whole {
        program: sell_sorted::Program<R>,
        column: Buffer<u32>,
    },
    /// 16-bit distances, and the columns as they are if a window needs them.
    Short {
        program: sell_sorted::Short<R>,
        base: Buffer<u32>,
        narrow: Buffer<u16>,
        column: Option<Buffer<u32>>,
    },
}

/// The rows of windows sorted by their length.
struct Windows {
    order: Buffer<u8>,
    /// Entries of the longest row of each chunk.
    width: Buffer<u32>,
    /// Their sum.
    total: usize,
    /// Entries of the windows.
    entries: usize,
}

impl Windows {
    /// Sorts every `step`-th window.
    fn sort(s: &Structure, step: usize) -> Result<Windows> {
        let context = s.offset.context();
        let windows = s.rows.div_ceil(WINDOW).div_ceil(step);
        let rows = s.rows.min(windows * WINDOW);
        let mut order = Buffer::<u8>::uninit(context, rows)?;
        let mut width = Buffer::<u32>::uninit(context, rows.div_ceil(CHUNK))?;
        let mut total = Buffer::<u32>::zeroed(context, 2)?;
        let range = Range::d1(windows * WINDOW, WINDOW);
        let program = sparse_blocks::Program::<f32>::new().local(WINDOW as u64);
        let chunk = CHUNK as u32;
        program.sort_windows(context, range, s.rows, step, chunk, &s.offset, &mut order, &mut width, &mut total)?;
        let total = total.to_vec()?;
        Ok(Windows { order, width, total: total[0] as usize, entries: total[1] as usize })
    }
}

/// The maximum number of padding slots, `percent` per 100 entries.
fn most_padding(entries: usize, percent: usize) -> usize {
    entries / 100 * percent
}

/// Whether there are entries, and a work-group can sort a window of them.
fn fits(s: &Structure) -> bool {
    s.nnz > 0 && s.offset.context().device().max_work_group >= WINDOW
}

impl<R: Real> Sorted<R> {
    /// Whether SELL is likely to be faster than nnz-balanced CSR: enough rows for a work-item each, and little padding, less if
    /// columns do not fit 16 bits in most windows. (NVIDIA H100, GB/s by SELL and by nnz-balanced CSR: triangles 2992 and 2537, tetrahedra 3185 and
    /// 1851, rows of 80 3366 and 2556.)
    pub(super) fn pays(s: &Structure) -> Result<bool> {
        let context = s.offset.context();
        if !fits(s) || s.rows < context.units() * ROWS_OF_UNIT {
            return Ok(false);
        }
        let windows = s.rows.div_ceil(WINDOW);
        let step = windows.div_ceil(SAMPLED);
        let Windows { total, entries, .. } = Windows::sort(s, step)?;
        let padding = (total * CHUNK).saturating_sub(entries);
        if padding > most_padding(entries, PADDING) {
            return Ok(false);
        }
        let (_, begin) = start_blocks(s, windows, WINDOW)?;
        let narrow = Measured::new(s, &begin, windows, step)?.is_narrow();
        let (most, column) = if narrow { (PADDING, size_of::<u16>()) } else { (WIDE_PADDING, size_of::<u32>()) };
        let bytes = (s.nnz + most_padding(s.nnz, most)) * (size_of::<R>() + column);
        Ok(padding <= most_padding(entries, most) && bytes as u64 <= context.device().global_mem / MEMORY_SHARE as u64)
    }

    /// The chunks, unless most of them would be padding; those of a matrix for which they [pay](Sorted::pays), or of any.
    pub(super) fn new(s: &Structure, pays: bool) -> Result<Option<Sorted<R>>> {
        if !fits(s) {
            return Ok(None);
        }
        let context = s.offset.context();
        let Windows { order, width, total, .. } = Windows::sort(s, 1)?;
        let places = total * CHUNK;
        let most = s.nnz + if pays { most_padding(s.nnz, PADDING + SLACK) } else { MOST_PADDING * s.nnz };
        // Slots are counted in 32 bits.
        if places > most || places > u32::MAX as usize {
            return Ok(None);
        }
        let padding = places - s.nnz;
        let (start, _) = scan::<R>(context, &width)?;
        let wanted = tune::local_size(context.device(), GROUP, 2 * size_of::<R>()) as usize;
        let items = launch::group_items(context, wanted, s.rows);
        let range = Range::d1(s.rows, items);
        let windows = s.rows.div_ceil(WINDOW);
        let (_, begin) = start_blocks(s, windows, WINDOW)?;
        let program = sell_sorted::Program::<R>::new().local(items as u64);
        let place = || -> Result<Buffer<u32>> {
            let mut column = Buffer::uninit(context, places)?;
            program.place_columns(context, range, s.rows, &start, &order, &s.offset, &s.column, &mut column)?;
            Ok(column)
        };
        let columns = match Near::find(s, &begin, windows)? {
            Some(Near { base, wide }) => {
                let short = sell_sorted::Short::from(program);
                let short = if wide.is_some() { short.pages(PAGES as u64) } else { short };
                let mut narrow = Buffer::<u16>::uninit(context, places)?;
                short.place_near(context, range, s.rows, &start, &order, &s.offset, &base, &s.column, &mut narrow)?;
                let column = if wide.is_some_and(|blocks| blocks > 0) { Some(place()?) } else { None };
                SortedColumns::Short { program: short, base, narrow, column }
            }
            None if pays && padding > most_padding(s.nnz, WIDE_PADDING + SLACK) => return Ok(None),
            None => {
                SortedColumns::Whole { program: program.once(context.device().l1_no_allocate.into()), column: place()? }
            }
        };
        Ok(Some(Sorted { start, order, columns, items, range, places, padding }))
    }

    /// The program that copies values into the chunks.
    pub(super) fn program(&self) -> sell_sorted::Program<R> {
        sell_sorted::Program::new().local(self.items as u64)
    }

    pub(super) fn words(&self) -> String {
        let columns = match &self.columns {
            SortedColumns::Whole { .. } => "32-bit columns",
            SortedColumns::Short { column: None, .. } => "16-bit columns",
            SortedColumns::Short { .. } => "16-bit columns in most windows",
        };
        format!(
            "chunks of {CHUNK} rows sorted by length within windows of {WINDOW} (SELL-{CHUNK}-{WINDOW}), \
             {columns}, {} padding entries",
            self.padding
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::devices;
    use crate::{Context, ContextOptions, Csr, KernelFamily};

    #[test]
    fn rows_are_sorted_within_windows() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let options = ContextOptions { family: Some(KernelFamily::Gpu), ..ContextOptions::default() };
        let context = Context::new(&devices[0], &options).unwrap();
        // The rows of the second window have twice the length of those of the first.
        let length = |row: usize| (row % 3 + 1) * (1 + row / WINDOW);
        let rows = WINDOW + 40;
        let entries: Vec<_> = (0..rows).flat_map(|i| (0..length(i)).map(move |j| (i, j, 1.0_f32))).collect();
        let a = Csr::from_triplets(&context, rows, 9, &entries).unwrap();
        let sorted = Sorted::<f32>::new(a.structure(), false).unwrap().unwrap();
        let order = sorted.order.to_vec().unwrap();
        assert_eq!(order[..3], [2, 5, 8]);
        assert_eq!((order[WINDOW - 1], order[WINDOW]), (126, 0));
        for (first, count) in [(0, WINDOW), (WINDOW, 40)] {
            let mut window: Vec<u8> = order[first..first + count].to_vec();
            window.sort_unstable();
            assert!(window.into_iter().eq(0..count as u8));
        }
        // 42 rows of three, 43 of two and 43 of one entry; 13 of six, 14 of four and 13 of two.
        assert_eq!(sorted.start.to_vec().unwrap(), [0, 3, 6, 8, 9, 15, 17]);
        assert_eq!((sorted.places, sorted.padding), (17 * CHUNK, 17 * CHUNK - entries.len()));
    }
}
