//! Nnz-balanced CSR on a GPU: blocks of about equally many entries, and their columns in 16 bits.

use super::csr::Structure;
use super::launch;
use crate::runtime::Range;
use crate::runtime::kernels::nnz_balanced;
use crate::{Buffer, Real, Result};

/// Items per cut row; `LANES` of `join_balanced`.
pub(crate) const JOIN_LANES: usize = 8;

/// Blocks of a cut row beyond which it has a work-group of `join_balanced` to itself.
const FAR: u32 = 32;

/// Most rows of a block that may cut rows, for each item.
const ROWS_OF_ITEM: usize = 8;

/// Pages of a block; `PAGES` of `nnz_balanced.cl`.
pub(super) const PAGES: usize = 16;

/// Columns of a page; as in `nnz_balanced.cl`.
pub(super) const PAGE: u32 = 4096;

/// One in so many entries may lie in a block that touches more pages.
const WIDE_SHARE: usize = 4;

/// A matrix in blocks of entries, for `nnz_balanced.cl`.
#[derive(Debug)]
pub(crate) struct NnzBalanced<R: Real> {
    /// Number of blocks.
    pub(crate) count: usize,
    /// The first row that begins in each block, and the number of rows.
    pub(crate) start: Buffer<u32>,
    pub(crate) columns: Columns<R>,
    /// Where blocks are not of whole rows.
    pub(crate) cut: Option<CutRows<R>>,
    /// Items of the work-group of a block, and those of all.
    pub(crate) items: usize,
    pub(crate) range: Range,
}

/// The columns of the blocks.
#[derive(Debug)]
pub(crate) enum Columns<R: Real> {
    /// Those of the compressed rows.
    Whole(nnz_balanced::Program<R>),
    /// 16-bit distances.
    Short {
        program: nnz_balanced::Short<R>,
        /// The lowest column of each block, or the first ones of its pages.
        base: Buffer<u32>,
        narrow: Buffer<u16>,
        /// Blocks that read the columns of the compressed rows; `None` where there are no pages.
        wide: Option<usize>,
    },
}

/// The rows that go over several blocks.
#[derive(Debug)]
pub(crate) struct CutRows<R: Real> {
    pub(crate) rows: usize,
    /// The first rows so many have a work-group of the join each.
    pub(crate) far: usize,
    /// First entry of each block, and the number of entries.
    pub(crate) begin: Buffer<u32>,
    pub(crate) row: Buffer<u32>,
    /// The first block in which each goes on, and the end of them.
    pub(crate) from: Buffer<u32>,
    pub(crate) to: Buffer<u32>,
    /// Adds what the blocks left.
    pub(crate) join: nnz_balanced::Program<R>,
}

impl<R: Real> CutRows<R> {
    /// Work-groups of the join with so many items each.
    pub(crate) fn join_groups(&self, items: usize) -> usize {
        self.far + (self.rows - self.far).div_ceil(items / JOIN_LANES)
    }
}

impl<R: Real> NnzBalanced<R> {
    pub(super) fn words(&self) -> String {
        let how = match &self.cut {
            None => "of whole rows".to_owned(),
            Some(cut) => {
                format!(
                    "of about equally many entries, as row lengths differ ({} rows go over several blocks)",
                    cut.rows
                )
            }
        };
        let columns = match &self.columns {
            Columns::Whole(_) => "32-bit columns".to_owned(),
            Columns::Short { wide: None, .. } => "16-bit columns".to_owned(),
            Columns::Short { wide: Some(0), .. } => "16-bit columns in pages".to_owned(),
            Columns::Short { wide: Some(wide), .. } => {
                format!("16-bit columns in pages, but for {wide} blocks that touch more than {PAGES} pages")
            }
        };
        format!("no pattern of rows that pays was found; {} blocks {how} with {columns}", self.count)
    }

    pub(super) fn new(s: &Structure, offsets: &[u32]) -> Result<Option<NnzBalanced<R>>> {
        if s.nnz == 0 {
            return Ok(None);
        }
        let context = s.offset.context();
        let shape = launch::block_shape::<R>(context, s.rows, s.nnz);
        let whole = whole_rows(offsets, shape.entries(), shape.rows);
        let whole = whole.filter(|starts| shape.fills(starts.len() - 1, s.nnz));
        let (shape, starts, cut) = match whole {
            Some(starts) => (shape, starts, None),
            None => {
                let shape = launch::full_blocks::<R>(context, s.rows);
                let mut cut = Cut::new(offsets, shape.entries(), ROWS_OF_ITEM * shape.items);
                (shape, std::mem::take(&mut cut.start), Some(cut))
            }
        };
        let (items, program, count) = (shape.items, shape.program::<R>(), starts.len() - 1);
        let begin = match &cut {
            Some(cut) => Buffer::from_slice(context, &cut.begin)?,
            None => {
                let begin: Vec<u32> = starts.iter().map(|&row| offsets[row as usize]).collect();
                Buffer::from_slice(context, &begin)?
            }
        };
        let program = if cut.is_some() { program.cut(1) } else { program };
        let columns = match Narrow::find(s, &begin, count)? {
            Some(Narrow { base, narrow, wide }) => {
                let program = nnz_balanced::Short::from(program);
                let program = if wide.is_some() { program.pages(PAGES as u64) } else { program };
                Columns::Short { program, base, narrow, wide }
            }
            None => Columns::Whole(program.once(1)),
        };
        let cut = match cut {
            None => None,
            Some(cut) => Some(CutRows {
                rows: cut.row.len(),
                far: cut.far,
                begin,
                row: Buffer::from_slice(context, &cut.row)?,
                from: Buffer::from_slice(context, &cut.from)?,
                to: Buffer::from_slice(context, &cut.to)?,
                join: program,
            }),
        };
        let (start, range) = (Buffer::from_slice(context, &starts)?, Range::d1(count * items, items));
        Ok(Some(NnzBalanced { count, start, columns, cut, items, range }))
    }
}

/// Columns in 16 bits.
pub(super) struct Narrow {
    /// As in [`Columns::Short`].
    pub(super) base: Buffer<u32>,
    pub(super) narrow: Buffer<u16>,
    pub(super) wide: Option<usize>,
}

impl Narrow {
    /// If those of every block lie close together, or those of most blocks in few pages.
    pub(super) fn find(s: &Structure, begin: &Buffer<u32>, count: usize) -> Result<Option<Narrow>> {
        let context = begin.context();
        let program = nnz_balanced::Program::<f32>::new();
        let mut base = Buffer::<u32>::uninit(context, count)?;
        let mut reach = Buffer::<u32>::uninit(context, count)?;
        let mut page = Buffer::<u32>::uninit(context, PAGES * count)?;
        let range = Range::d1(count * context.local(), context.local());
        program.measure_blocks(context, range, begin, &s.column, &mut base, &mut reach, &mut page)?;
        if reach.to_vec()?.into_iter().all(|reach| reach <= u32::from(u16::MAX)) {
            let mut narrow = Buffer::<u16>::uninit(context, s.nnz)?;
            program.narrow_columns(context, range, begin, &base, &s.column, &mut narrow)?;
            return Ok(Some(Narrow { base, narrow, wide: None }));
        }
        let begins = begin.to_vec()?;
        let pages = page.to_vec()?;
        let wide = pages.chunks(PAGES).zip(begins.windows(2)).filter(|(pages, _)| pages[0] == u32::MAX);
        let (mut blocks, mut entries) = (0, 0);
        wide.for_each(|(_, begin)| {
            blocks += 1;
            entries += (begin[1] - begin[0]) as usize;
        });
        if entries > s.nnz / WIDE_SHARE {
            return Ok(None);
        }
        let mut narrow = Buffer::<u16>::uninit(context, s.nnz)?;
        program.page_columns(context, range, begin, &page, &s.column, &mut narrow)?;
        Ok(Some(Narrow { base: page, narrow, wide: Some(blocks) }))
    }
}

/// First rows of blocks of at most `rows` whole rows and `entries` entries; `None` where a row has more.
fn whole_rows(offsets: &[u32], entries: usize, rows: usize) -> Option<Vec<u32>> {
    let last = offsets.len() - 1;
    let mut start = vec![0];
    let (mut row, mut guess) = (0, rows);
    while row < last {
        let limit = u64::from(offsets[row]) + entries as u64;
        let next = last_within(offsets, row, (row + rows).min(last), limit, guess);
        if next == row {
            return None;
        }
        (row, guess) = (next, next - row);
        start.push(row as u32);
    }
    Some(start)
}

/// The last of the offsets `row` to `end` that is at most `limit`, as that of `row` is: around `row + guess` first, since blocks beside
/// each other have about equally many rows, and each place looked at is a miss of the cache.
fn last_within(offsets: &[u32], row: usize, end: usize, limit: u64, guess: usize) -> usize {
    let fits = |n: usize| u64::from(offsets[n]) <= limit;
    let (mut low, mut high) = (row, end + 1);
    let at = (row + guess).min(end);
    let mut step = 1;
    if fits(at) {
        low = at;
        while low + step < high {
            if !fits(low + step) {
                high = low + step;
                break;
            }
            low += step;
            step *= 2;
        }
    } else {
        high = at;
        while row + step < high {
            if fits(high - step) {
                low = high - step;
                break;
            }
            high -= step;
            step *= 2;
        }
    }
    low + offsets[low + 1..high].partition_point(|&offset| u64::from(offset) <= limit)
}

/// Blocks of rows as far as they fill them; longer rows are cut.
#[derive(Debug, PartialEq, Eq)]
struct Cut {
    start: Vec<u32>,
    begin: Vec<u32>,
    row: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    /// The first rows, those over more than [`FAR`] further blocks.
    far: usize,
}

impl Cut {
    /// Blocks of at most so many entries and rows that begin there.
    fn new(offsets: &[u32], entries: usize, most: usize) -> Cut {
        let (rows, total) = (offsets.len() - 1, offsets[offsets.len() - 1]);
        let (mut start, mut begin) = (Vec::new(), Vec::new());
        let mut cut: Vec<[u32; 3]> = Vec::new();
        let (mut row, mut first, mut guess) = (0, 0_u32, most);
        while row < rows || first < total {
            start.push(row as u32);
            begin.push(first);
            let limit = (u64::from(first) + entries as u64).min(total.into()) as u32;
            if first < offsets[row] {
                // The rest of an earlier row.
                let last = cut.last_mut().expect("its first block has noted it");
                last[2] = begin.len() as u32;
                if offsets[row] > limit {
                    first = limit;
                    continue;
                }
            }
            let end = (row + most).min(rows);
            let next = last_within(offsets, row, end, limit.into(), guess);
            guess = next - row;
            let filled = (offsets[next] - first) as usize;
            (row, first) = (next, offsets[next]);
            if next < end && filled < entries / 4 * 3 {
                cut.push([next as u32, begin.len() as u32, begin.len() as u32]);
                (row, first) = (next + 1, limit);
            }
        }
        start.push(rows as u32);
        begin.push(total);
        cut.sort_by_key(|&[_, from, to]| to - from <= FAR);
        let far = cut.partition_point(|&[_, from, to]| to - from > FAR);
        let [row, from, to] = [0, 1, 2].map(|k| cut.iter().map(|cut| cut[k]).collect());
        Cut { start, begin, row, from, to, far }
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
    fn places_are_found_from_any_guess() {
        let mut offsets = vec![0_u32];
        // Lengths from 0 to 36.
        (0..59).for_each(|i| offsets.push(offsets[i] + ((i * i % 7) * (i / 6)) as u32));
        for (row, end) in [(0, 59), (7, 31), (40, 40), (58, 59)] {
            for limit in offsets[row]..=offsets[end] + 1 {
                let expected = (row..=end).rev().find(|&n| offsets[n] <= limit).unwrap();
                for guess in 0..=end - row + 2 {
                    assert_eq!(
                        last_within(&offsets, row, end, limit.into(), guess),
                        expected,
                        "{row} {end} {limit} {guess}"
                    );
                }
            }
        }
    }

    #[test]
    fn blocks_cut_long_rows_only() {
        // Rows of 2, 2, 0, 9, 1, 0, 2, 0 entries.
        let offsets = [0, 2, 4, 4, 13, 14, 14, 16, 16];
        let cut = Cut::new(&offsets, 4, 100);
        assert_eq!((cut.start, cut.begin), (vec![0, 3, 4, 4, 8], vec![0, 4, 8, 12, 16]));
        assert_eq!((cut.row, cut.from, cut.to, cut.far), (vec![3], vec![2], vec![4], 0));
        // Four of five entries are enough for a block; the rest of row 3 and two more rows fill another.
        let cut = Cut::new(&offsets, 5, 100);
        assert_eq!((cut.start, cut.begin), (vec![0, 3, 4, 6, 8], vec![0, 4, 9, 14, 16]));
        let whole = Cut::new(&offsets, 16, 100);
        assert_eq!((whole.start, whole.begin, whole.row), (vec![0, 8], vec![0, 16], vec![]));
        let few = Cut::new(&offsets, 16, 3);
        assert_eq!((few.start, few.begin), (vec![0, 3, 6, 8], vec![0, 4, 14, 16]));
        // Empty rows behind the last entry, and a row over many blocks between two over few.
        let cut = Cut::new(&[0, 0, 3, 3, 3], 4, 2);
        assert_eq!((cut.start, cut.begin), (vec![0, 2, 4], vec![0, 3, 3]));
        let cut = Cut::new(&[0, 6, 406, 412, 412], 4, 9);
        assert_eq!((cut.row, cut.far), (vec![1, 0, 2], 1));
    }
}
