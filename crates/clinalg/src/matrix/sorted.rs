//! SELL-C-sigma on a GPU: entries in chunks of rows that are sorted by their length within windows.

use super::balanced::{Measured, Near, PAGES, start_blocks};
use super::csr::Structure;
use super::scan::scan;
use crate::runtime::Range;
use crate::runtime::kernels::{sell_sorted, sparse_blocks};
use crate::{Buffer, Real, Result};

/// Rows of a chunk; `CHUNK` of `sell_sorted.cl`.
const CHUNK: usize = 32;

/// Rows that are sorted by their length, a work-group; `LOCAL` of `sell_sorted.cl`.
const WINDOW: usize = 128;

/// Padding may be so many places per entry where the format is asked for.
const MOST_PADDING: usize = 3;

/// Where it is not, padding may be a place for so many entries. (NVIDIA H100, local rows, microseconds by chunks and by blocks: with
/// a place for 12 entries 157 and 180, for 5 161 and 158, for 4 194 and 189.)
const PADDING_SHARE: usize = 6;

/// Rows that occupy a compute unit, an item each. (NVIDIA H100 with 132 units, local rows of 80 and of 300, microseconds by chunks, by
/// blocks and by compressed rows: 20 000 rows 14, 13, 12 and 78, 63, 33; 40 000 rows 17, 20, 24 and 84, 123, 61; 80 000 rows 33,
/// 37, 47 and 106, 235, 111.)
const ROWS_OF_UNIT: usize = 512;

/// Windows of the sample that is examined first.
const SAMPLED: usize = 256;

/// The values once more may take one in so many bytes of the device's memory.
const MEMORY_SHARE: usize = 8;

/// Entries in chunks of sorted rows, for `sell_sorted.cl`; their values are kept apart, as they change.
#[derive(Debug)]
pub(crate) struct Sorted<R: Real> {
    /// Where each chunk begins and the last one ends, in units of [`CHUNK`] places.
    pub(crate) start: Buffer<u32>,
    /// The place in its window of the row of each item.
    pub(crate) order: Buffer<u8>,
    pub(crate) columns: SortedColumns<R>,
    /// Number of windows.
    pub(crate) windows: usize,
    pub(crate) range: Range,
    /// Places of all chunks.
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

/// Whether there are entries, and a work-group can sort a window of them.
fn fits(s: &Structure) -> bool {
    s.nnz > 0 && s.offset.context().device().max_work_group >= WINDOW
}

impl<R: Real> Sorted<R> {
    /// Whether chunks are likely to be faster than blocks of entries: enough rows for an item each, few places that stay empty, and
    /// columns that take 16 bits in most windows, so that neighbouring rows find in the caches what others have read. (NVIDIA
    /// H100, GB/s by chunks and by blocks: triangles 2992 and 2537, tetrahedra 3185 and 2272, rows of 80 3310 and 2554; random
    /// columns, 16 a row, 949 and 1094.)
    pub(super) fn pays(s: &Structure) -> Result<bool> {
        let context = s.offset.context();
        let device = context.device();
        let room = device.global_mem / MEMORY_SHARE as u64;
        let bytes = (s.nnz + s.nnz / PADDING_SHARE) * (size_of::<R>() + size_of::<u16>());
        if !fits(s) || s.rows < context.units() * ROWS_OF_UNIT || bytes as u64 > room {
            return Ok(false);
        }
        let windows = s.rows.div_ceil(WINDOW);
        let step = windows.div_ceil(SAMPLED);
        let Windows { total, entries, .. } = Windows::sort(s, step)?;
        if total * CHUNK > entries + entries / PADDING_SHARE {
            return Ok(false);
        }
        let (_, begin) = start_blocks(s, windows, WINDOW)?;
        Ok(Measured::new(s, &begin, windows, step)?.is_narrow())
    }

    /// The chunks, unless most of them would be padding; those of a matrix for which they [pay](Sorted::pays), or of any.
    pub(super) fn new(s: &Structure, pays: bool) -> Result<Option<Sorted<R>>> {
        if !fits(s) {
            return Ok(None);
        }
        let context = s.offset.context();
        let Windows { order, width, total, .. } = Windows::sort(s, 1)?;
        let places = total * CHUNK;
        let most = if pays { s.nnz + s.nnz / PADDING_SHARE } else { (1 + MOST_PADDING) * s.nnz };
        // 32 bits count the places.
        if places > most || places > u32::MAX as usize {
            return Ok(None);
        }
        let padding = places - s.nnz;
        let (start, _) = scan(context, &width)?;
        let range = Range::d1(s.rows, WINDOW);
        let windows = s.rows.div_ceil(WINDOW);
        let (_, begin) = start_blocks(s, windows, WINDOW)?;
        let program = sell_sorted::Program::<R>::new().local(WINDOW as u64);
        let place = || -> Result<Buffer<u32>> {
            let mut column = Buffer::uninit(context, places)?;
            program.place_columns(context, range, s.rows, &start, &order, &s.offset, &s.column, &mut column)?;
            Ok(column)
        };
        let columns = match Near::find(s, &begin, windows, !pays)? {
            Some(Near { base, wide }) => {
                let short = sell_sorted::Short::from(program);
                let short = if wide.is_some() { short.pages(PAGES as u64) } else { short };
                let mut narrow = Buffer::<u16>::uninit(context, places)?;
                short.place_near(context, range, s.rows, &start, &order, &s.offset, &base, &s.column, &mut narrow)?;
                let column = if wide.is_some_and(|blocks| blocks > 0) { Some(place()?) } else { None };
                SortedColumns::Short { program: short, base, narrow, column }
            }
            None if pays => return Ok(None),
            None => SortedColumns::Whole { program, column: place()? },
        };
        Ok(Some(Sorted { start, order, columns, windows, range, places, padding }))
    }

    /// Items of the work-group of a window.
    pub(crate) fn items(&self) -> usize {
        WINDOW
    }

    /// The program that places values.
    pub(super) fn program(&self) -> sell_sorted::Program<R> {
        sell_sorted::Program::new().local(WINDOW as u64)
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
