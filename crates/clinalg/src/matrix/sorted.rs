//! SELL-C-sigma on a GPU: entries in chunks of rows that are sorted by their length within windows.

use super::balanced::{Narrow, PAGES};
use super::csr::Structure;
use crate::runtime::Range;
use crate::runtime::kernels::sell_sorted;
use crate::{Buffer, Real, Result};

/// Rows of a chunk; `CHUNK` of `sell_sorted.cl`.
const CHUNK: usize = 32;

/// Rows that are sorted by their length, a work-group; `WINDOW` of `sell_sorted.cl`.
const WINDOW: usize = 128;

/// Padding may be so many places per entry.
const MOST_PADDING: usize = 3;

/// Entries in chunks of sorted rows, for `sell_sorted.cl`; their values are kept apart, as they change.
#[derive(Debug)]
pub(crate) struct Sorted<R: Real> {
    /// Where each chunk begins and the last one ends, in units of [`CHUNK`] places.
    pub(crate) start: Buffer<u32>,
    /// The row of each item.
    pub(crate) order: Buffer<u32>,
    pub(crate) columns: SortedColumns<R>,
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

impl<R: Real> Sorted<R> {
    /// The chunks, unless most of them would be padding.
    pub(super) fn new(s: &Structure, offsets: &[u32]) -> Result<Option<Sorted<R>>> {
        let Some((starts, order)) = chunks(offsets) else { return Ok(None) };
        let places = starts[starts.len() - 1] as usize * CHUNK;
        let padding = places - s.nnz;
        if s.nnz == 0 || padding > MOST_PADDING * s.nnz {
            return Ok(None);
        }
        let context = s.offset.context();
        let (start, order) = (Buffer::from_slice(context, &starts)?, Buffer::from_slice(context, &order)?);
        let range = Range::d1(s.rows, WINDOW);
        let begin: Vec<u32> = (0..s.rows).step_by(WINDOW).chain([s.rows]).map(|row| offsets[row]).collect();
        let (count, begin) = (begin.len() - 1, Buffer::from_slice(context, &begin)?);
        let program = sell_sorted::Program::<R>::new();
        let place = || -> Result<Buffer<u32>> {
            let mut column = Buffer::uninit(context, places)?;
            program.place_columns(context, range, s.rows, &start, &order, &s.offset, &s.column, &mut column)?;
            Ok(column)
        };
        let columns = match Narrow::find(s, &begin, count)? {
            Some(found) => {
                let mut narrow = Buffer::<u16>::uninit(context, places)?;
                program.place_narrow(context, range, s.rows, &start, &order, &s.offset, &found.narrow, &mut narrow)?;
                let program = sell_sorted::Short::new();
                let program = if found.wide.is_some() { program.pages(PAGES as u64) } else { program };
                let column = if found.wide.is_some_and(|blocks| blocks > 0) { Some(place()?) } else { None };
                SortedColumns::Short { program, base: found.base, narrow, column }
            }
            None => SortedColumns::Whole { program, column: place()? },
        };
        Ok(Some(Sorted { start, order, columns, range, places, padding }))
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

/// Where the chunks begin and the rows in their order; `None` where 32 bits cannot count the places.
fn chunks(offsets: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let rows = offsets.len() - 1;
    let length = |row: u32| offsets[row as usize + 1] - offsets[row as usize];
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.chunks_mut(WINDOW).for_each(|window| window.sort_by_key(|&row| std::cmp::Reverse(length(row))));
    let mut starts = Vec::with_capacity(rows.div_ceil(CHUNK) + 1);
    let mut next = 0_u32;
    starts.push(next);
    for chunk in order.chunks(CHUNK) {
        next = next.checked_add(length(chunk[0]))?;
        starts.push(next);
    }
    next.checked_mul(CHUNK as u32)?;
    Some((starts, order))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_within_windows() {
        assert_eq!(chunks(&[0]), Some((vec![0], vec![])));
        // The rows of the second window have twice the length of those of the first.
        let length = |row: usize| (row % 3 + 1) * (1 + row / WINDOW);
        let mut offsets = vec![0];
        (0..WINDOW + 40).for_each(|row| offsets.push(offsets[row] + length(row) as u32));
        let (starts, order) = chunks(&offsets).unwrap();
        assert_eq!(order[..3], [2, 5, 8]);
        assert_eq!(order[WINDOW - 1], 126);
        assert!(order[WINDOW..].iter().all(|&row| row as usize >= WINDOW));
        // 42 rows of three, 43 of two and 43 of one entry; 13 of six, 14 of four and 13 of two.
        assert_eq!(starts, [0, 3, 6, 8, 9, 15, 17]);
        // A row of each chunk that 32 bits can count, and one more.
        assert!(chunks(&[0, u32::MAX / 32]).is_some());
        assert!(chunks(&[0, u32::MAX / 32 + 1]).is_none());
    }
}
