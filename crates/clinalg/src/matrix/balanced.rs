//! Nnz-balanced CSR on a GPU: blocks of about equally many entries, and their columns in 16 bits where these suffice.

use super::csr::Structure;
use super::launch;
use super::spread::BlockShape;
use crate::runtime::Range;
use crate::runtime::kernels::{nnz_balanced, sparse_blocks};
use crate::{Buffer, Real, Result};

/// Items per cut row; `LANES` of `join_balanced`.
pub(crate) const JOIN_LANES: usize = 8;

/// A row cut into more blocks than this has a work-group of `join_balanced` to itself.
const FAR: u32 = 32;

/// Number of rows that weigh as much as an entry where blocks are cut; as in `sparse_blocks.cl`.
const ROWS_OF_ENTRY: usize = 4;

/// If a row begins within 1 / `CUT_SLACK` of a block after the position of a cut, the block ends there.
const CUT_SLACK: usize = 28;

/// If more than one in this many entries lies in long rows, full blocks are used although rows differ in length, as long rows gather in order.
const LONG_SHARE: usize = 4;

/// This many blocks do not occupy a device for long.
const FEW_BLOCKS: usize = 1024;

/// Work-groups per compute unit of the kernel that reads all offsets.
const GROUPS_OF_UNIT: usize = 16;

/// Blocks of the sample that is examined first.
const SAMPLED: usize = 256;

/// Pages of a block; as in `sparse_blocks.cl`.
pub(super) const PAGES: usize = 16;

/// Columns of a page; as in `sparse_blocks.cl`.
pub(super) const PAGE: u32 = 4096;

/// At most one in this many entries may lie in blocks that touch more pages.
const WIDE_SHARE: u32 = 4;

/// A matrix in blocks of entries, for `nnz_balanced.cl`.
#[derive(Debug)]
pub(crate) struct NnzBalanced<R: Real> {
    /// Number of blocks.
    pub(crate) count: usize,
    /// The first row that begins in each block, and the number of rows.
    pub(crate) start: Buffer<u32>,
    /// First entry of each block, and the number of entries.
    pub(crate) begin: Buffer<u32>,
    pub(crate) columns: Columns<R>,
    /// The cut rows, where blocks are not made of whole rows.
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

/// The rows that span several blocks.
#[derive(Debug)]
pub(crate) struct CutRows<R: Real> {
    pub(crate) rows: usize,
    /// This many rows at the beginning have a work-group of the join each.
    pub(crate) far: usize,
    pub(crate) row: Buffer<u32>,
    /// The first block in which each continues, and the end of them.
    pub(crate) from: Buffer<u32>,
    pub(crate) to: Buffer<u32>,
    /// Adds up the partial sums of the blocks.
    pub(crate) join: nnz_balanced::Program<R>,
    /// For several right-hand sides, and the items of its work-groups.
    pub(crate) multi: nnz_balanced::Multi<R>,
    pub(crate) multi_items: usize,
}

impl<R: Real> CutRows<R> {
    /// Number of work-groups of the join with this many items each.
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
                    "of about equally many entries, as row lengths differ (rows that span several blocks: {})",
                    cut.rows
                )
            }
        };
        let columns = match &self.columns {
            Columns::Whole(_) => "32-bit columns".to_owned(),
            Columns::Short { wide: None, .. } => "16-bit columns".to_owned(),
            Columns::Short { wide: Some(0), .. } => "16-bit columns in pages".to_owned(),
            Columns::Short { wide: Some(wide), .. } => {
                format!(
                    "16-bit columns in pages (blocks that touch more than {PAGES} pages have 32-bit columns: {wide})"
                )
            }
        };
        format!("no pattern of rows that pays off was found; {} blocks {how} with {columns}", self.count)
    }

    pub(super) fn new(s: &Structure) -> Result<Option<NnzBalanced<R>>> {
        if s.nnz == 0 {
            return Ok(None);
        }
        let context = s.offset.context();
        let blocks = Blocks::find::<R>(s)?;
        let near = Near::find(s, &blocks.begin, blocks.count)?;
        let smaller = blocks.shape.for_scattered_columns::<R>();
        let far = near.is_none() && blocks.cut.is_some() && smaller != blocks.shape;
        let Blocks { shape, count, start, begin, cut } = if far { Blocks::cut(s, smaller, None)? } else { blocks };
        let program = shape.program::<R>();
        let program = if cut.is_some() { program.cut(1) } else { program };
        let columns = match near {
            Some(near) => {
                let narrow = near.narrow(s, &begin, count)?;
                let Near { base, wide } = near;
                let program = nnz_balanced::Short::from(program);
                let program = if wide.is_some() { program.pages(PAGES as u64) } else { program };
                Columns::Short { program, base, narrow, wide }
            }
            None => Columns::Whole(program.once(context.device().l1_no_allocate.into())),
        };
        let cut = match cut {
            None => None,
            Some(cut) => {
                let several = if far { shape.for_multivectors() } else { shape };
                let multi = several.program::<R>().cut(1).once(context.device().l1_no_allocate.into());
                let Cut { row, from, to, far } = Cut::new(&cut);
                Some(CutRows {
                    rows: row.len(),
                    far,
                    row: Buffer::from_slice(context, &row)?,
                    from: Buffer::from_slice(context, &from)?,
                    to: Buffer::from_slice(context, &to)?,
                    join: program,
                    multi: multi.into(),
                    multi_items: several.items,
                })
            }
        };
        let items = shape.items;
        Ok(Some(NnzBalanced { count, start, begin, columns, cut, items, range: Range::d1(count * items, items) }))
    }
}

/// Blocks of entries.
struct Blocks {
    shape: BlockShape,
    count: usize,
    /// As in [`NnzBalanced`] and [`CutRows`].
    start: Buffer<u32>,
    begin: Buffer<u32>,
    /// The row in which each block begins, where rows are cut; `u32::MAX` where it begins with one.
    cut: Option<Vec<u32>>,
}

impl Blocks {
    /// Blocks of equally many rows, if these fill the blocks; otherwise blocks of about equally many entries, with cuts inside rows where rows are
    /// long.
    fn find<R: Real>(s: &Structure) -> Result<Blocks> {
        let context = s.offset.context();
        let program = sparse_blocks::Program::<f32>::new();
        let shape = launch::block_shape::<R>(context, s.rows, s.nnz);
        let full = launch::full_blocks::<R>(context, s.rows, s.nnz);
        let mut found = Buffer::<u32>::zeroed(context, 3)?;
        let local = context.local();
        let items = s.rows.next_multiple_of(local).min(context.units() * GROUPS_OF_UNIT * local);
        let (range, most) = (Range::d1(items, local), launch::LONG_ROW as u32);
        program.measure_rows(context, range, s.rows, shape.rows, most, &s.offset, &mut found)?;
        let found = found.to_vec()?;
        let [longest, fullest, in_long_rows] = [0, 1, 2].map(|k| found[k] as usize);
        let count = s.rows.div_ceil(shape.rows);
        if fullest <= shape.entries() && shape.fills(count, s.nnz) {
            let (start, begin) = start_blocks(s, count, shape.rows)?;
            return Ok(Blocks { shape, count, start, begin, cut: None });
        }
        let shape = if in_long_rows > s.nnz / LONG_SHARE { full } else { full.for_uneven_rows() };
        // Blocks that are not full cost less than a second launch where there are few of them.
        let share = if s.nnz <= FEW_BLOCKS * shape.entries() { 2 } else { 5 };
        Blocks::cut(s, shape, (longest <= shape.entries() / share).then_some(longest))
    }

    /// Blocks of about equally many entries, of whole rows if the longest one is given.
    fn cut(s: &Structure, shape: BlockShape, longest: Option<usize>) -> Result<Blocks> {
        let context = s.offset.context();
        let entries = shape.entries();
        let slack = longest.unwrap_or((entries / CUT_SLACK).max(1));
        let weight = (entries - slack).max(1);
        let count = (s.nnz + s.rows / ROWS_OF_ENTRY).div_ceil(weight);
        let mut start = Buffer::<u32>::uninit(context, count + 1)?;
        let mut begin = Buffer::<u32>::uninit(context, count + 1)?;
        let mut cut = Buffer::<u32>::uninit(context, count + 1)?;
        let range = Range::d1(count + 1, context.local());
        let program = sparse_blocks::Program::<f32>::new();
        program
            .cut_blocks(context, range, count, s.rows, weight, slack, &s.offset, &mut start, &mut begin, &mut cut)?;
        let cut = if longest.is_some() { None } else { Some(cut.to_vec()?) };
        Ok(Blocks { shape, count, start, begin, cut })
    }
}

/// The first rows and entries of `count` blocks of `width` rows, and their ends.
pub(super) fn start_blocks(s: &Structure, count: usize, width: usize) -> Result<(Buffer<u32>, Buffer<u32>)> {
    let context = s.offset.context();
    let mut start = Buffer::<u32>::uninit(context, count + 1)?;
    let mut begin = Buffer::<u32>::uninit(context, count + 1)?;
    let range = Range::d1(count + 1, context.local());
    let program = sparse_blocks::Program::<f32>::new();
    program.start_blocks(context, range, count, s.rows, width, &s.offset, &mut start, &mut begin)?;
    Ok((start, begin))
}

/// Statistics of the columns of blocks.
pub(super) struct Measured {
    base: Buffer<u32>,
    page: Buffer<u32>,
    /// The largest distance between two columns of a block.
    reach: u32,
    /// Blocks that touch more than [`PAGES`] pages, and whether they contain more than one in [`WIDE_SHARE`] of the entries.
    wide: usize,
    mostly_wide: bool,
}

impl Measured {
    /// Of every `step`-th of the blocks.
    pub(super) fn new(s: &Structure, begin: &Buffer<u32>, count: usize, step: usize) -> Result<Measured> {
        let context = begin.context();
        let looked_at = count.div_ceil(step);
        let mut base = Buffer::<u32>::uninit(context, looked_at)?;
        let mut page = Buffer::<u32>::uninit(context, PAGES * looked_at)?;
        let mut total = Buffer::<u32>::zeroed(context, 4)?;
        let range = Range::d1(looked_at * context.local(), context.local());
        let program = sparse_blocks::Program::<f32>::new();
        program.measure_blocks(context, range, step, begin, &s.column, &mut base, &mut page, &mut total)?;
        let total = total.to_vec()?;
        let mostly_wide = total[2] > total[3] / WIDE_SHARE;
        Ok(Measured { base, page, reach: total[0], wide: total[1] as usize, mostly_wide })
    }

    /// Whether 16 bits suffice for most entries.
    pub(super) fn is_narrow(&self) -> bool {
        self.reach <= u32::from(u16::MAX) || !self.mostly_wide
    }
}

/// The origins from which the 16-bit columns of blocks are counted.
pub(super) struct Near {
    /// As in [`Columns::Short`].
    pub(super) base: Buffer<u32>,
    pub(super) wide: Option<usize>,
}

impl Near {
    /// `Some` if the columns of every block lie close together, or those of most blocks in few pages.
    pub(super) fn find(s: &Structure, begin: &Buffer<u32>, count: usize) -> Result<Option<Near>> {
        // For most matrices, a few blocks show that 16 bits do not suffice.
        if count > 2 * SAMPLED && !Measured::new(s, begin, count, count.div_ceil(SAMPLED))?.is_narrow() {
            return Ok(None);
        }
        let measured = Measured::new(s, begin, count, 1)?;
        Ok(match measured.reach {
            _ if !measured.is_narrow() => None,
            reach if reach <= u32::from(u16::MAX) => Some(Near { base: measured.base, wide: None }),
            _ => Some(Near { base: measured.page, wide: Some(measured.wide) }),
        })
    }

    /// The columns in 16 bits.
    fn narrow(&self, s: &Structure, begin: &Buffer<u32>, count: usize) -> Result<Buffer<u16>> {
        let context = begin.context();
        let program = sparse_blocks::Program::<f32>::new();
        let range = Range::d1(count * context.local(), context.local());
        let mut narrow = Buffer::<u16>::uninit(context, s.nnz)?;
        match self.wide {
            None => program.narrow_columns(context, range, begin, &self.base, &s.column, &mut narrow)?,
            Some(_) => program.page_columns(context, range, begin, &self.base, &s.column, &mut narrow)?,
        }
        Ok(narrow)
    }
}

/// The rows that span several blocks.
#[derive(Debug, PartialEq, Eq)]
struct Cut {
    row: Vec<u32>,
    from: Vec<u32>,
    to: Vec<u32>,
    /// The first rows, those over more than [`FAR`] further blocks.
    far: usize,
}

impl Cut {
    /// From the row in which each block begins.
    fn new(rows: &[u32]) -> Cut {
        let mut cut: Vec<[u32; 3]> = Vec::new();
        for (block, &row) in (0..).zip(rows).filter(|&(_, &row)| row != u32::MAX) {
            match cut.last_mut() {
                Some([last, _, to]) if *last == row => *to = block + 1,
                _ => cut.push([row, block, block + 1]),
            }
        }
        cut.sort_by_key(|&[_, from, to]| to - from <= FAR);
        let far = cut.partition_point(|&[_, from, to]| to - from > FAR);
        let [row, from, to] = [0, 1, 2].map(|k| cut.iter().map(|cut| cut[k]).collect());
        Cut { row, from, to, far }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::devices;
    use crate::{Context, ContextOptions, Csr, KernelFamily};

    #[test]
    fn rows_over_many_blocks_come_first() {
        let none = u32::MAX;
        assert_eq!(Cut::new(&[none, none]), Cut { row: vec![], from: vec![], to: vec![], far: 0 });
        let mut rows = vec![none, 4, none, 7];
        rows.resize(43, 8);
        rows.extend([9, 9, none]);
        let cut = Cut::new(&rows);
        assert_eq!((cut.row, cut.far), (vec![8, 4, 7, 9], 1));
        assert_eq!((cut.from, cut.to), (vec![4, 1, 3, 43], vec![43, 2, 4, 45]));
    }

    #[test]
    fn blocks_have_all_rows_and_entries() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let options = ContextOptions { family: Some(KernelFamily::Gpu), ..ContextOptions::default() };
        let context = Context::new(&devices[0], &options).unwrap();
        type Length<'a> = &'a dyn Fn(usize) -> usize;
        let lengths: [(&str, usize, Length<'_>); 8] = [
            ("one", 1, &|_| 1),
            ("equal rows", 3000, &|_| 16),
            ("a long row", 1, &|_| 5000),
            ("short rows", 5000, &|i| i % 9),
            ("longer rows", 3000, &|i| 200 + i * i % 300),
            ("empty rows", 30_000, &|i| if i % 9000 == 7 { 3 } else { 0 }),
            ("long rows between empty ones", 9000, &|i| if i % 1000 == 0 { 4500 + i } else { 0 }),
            ("a long last row", 2000, &|i| if i == 1999 { 3000 } else { i % 3 }),
        ];
        for (name, rows, length) in lengths {
            let entries: Vec<_> = (0..rows).flat_map(|i| (0..length(i)).map(move |j| (i, j, 1.0_f32))).collect();
            let a = Csr::from_triplets(&context, rows, 14_000, &entries).unwrap();
            let s = a.structure();
            let offsets = s.offset.to_vec().unwrap();
            let Blocks { shape, count, start, begin, cut } = Blocks::find::<f32>(s).unwrap();
            let (start, begin) = (start.to_vec().unwrap(), begin.to_vec().unwrap());
            assert_eq!((start.len(), start[0], start[count]), (count + 1, 0, rows as u32), "{name}");
            assert_eq!((begin[0], begin[count]), (0, offsets[rows]), "{name}");
            for b in 0..count {
                assert!(start[b] <= start[b + 1] && begin[b] <= begin[b + 1], "{name}, block {b}");
                assert!((begin[b + 1] - begin[b]) as usize <= shape.entries(), "{name}, block {b}");
                let row = cut.as_ref().map_or(u32::MAX, |cut| cut[b]);
                if row == u32::MAX {
                    assert_eq!(begin[b], offsets[start[b] as usize], "{name}, block {b}");
                } else {
                    assert_eq!(row + 1, start[b], "{name}, block {b}");
                    let inside = offsets[row as usize]..offsets[row as usize + 1];
                    assert!(inside.contains(&begin[b]), "{name}, block {b}");
                }
            }
        }
    }
}
