//! Products of sparse matrices.

use super::scan;
use crate::matrix::{Csr, Entries, EntriesRef, Structure};
use crate::ops::items;
use crate::runtime::kernels::sparse_product::{Long, Program};
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Error, Result, Scalar};

/// Rows of a product that GPUs make alike.
#[derive(Debug)]
struct Bin {
    list: Buffer<u32>,
    listed: usize,
    /// Items per row.
    lanes: usize,
    /// Places of a row's table, a power of two.
    size: usize,
    /// Rows of a work-group.
    rows: usize,
    tables: Tables,
}

/// Where the entries of a row are accumulated.
#[derive(Debug)]
enum Tables {
    /// In a hash table in local memory.
    Local,
    /// In dense accumulators in local memory, one slot per column of a range: `count` ranges of `width` columns. `part` holds the number of entries of
    /// each row before each range, and in total.
    Ranges { count: usize, width: usize, part: Buffer<u32> },
    /// In a hash table in global memory.
    Global,
}

/// How a product of two patterns is made, for values that change.
#[derive(Debug)]
pub(crate) struct Product {
    /// On GPUs.
    bins: Vec<Bin>,
}

/// Bytes of local memory of a work-group.
const LOCAL_BYTES: usize = 16 << 10;
/// Bytes of the tables in global memory that are in use at a time.
const LONG_BYTES: usize = 256 << 20;
/// Places of tables in local memory when entries are counted; a table holds as many columns as it has places.
const COUNT_SIZES: &[usize] = &[32, 64, 128, 512, 4096];
/// The same when entries are summed; three quarters are filled at most.
const FILL_SIZES: &[usize] = &[16, 32, 64, 128, 256, 512, 1024, 2048];
/// The same with 16-byte values.
const WIDE_FILL_SIZES: &[usize] = &[16, 32, 64, 128, 256, 512, 1024];
/// Longer rows are computed in ranges of columns, with this many work-items each. There are at most this many ranges per row, and in total; otherwise the
/// rows are hashed into global memory.
const RANGE_ITEMS: usize = 128;
/// Work-items that traverse a row of B together; `SLICE` of `sparse_product.cl`.
const FEWEST_ITEMS: usize = 32;
const MOST_RANGES: usize = 512;
const MOST_RANGES_OF_ALL: usize = 1 << 24;
/// A row of the product is first assumed to have this fraction (one over `SHARE`) of its products as entries, since the products of a Galerkin
/// product often fall on the same columns. Rows whose table turns out too small are counted again.
const SHARE: u32 = 8;
/// Slots of a table for each work-item that sorts them, and the maximum number of such work-items.
const SORTED_PLACES: usize = 8;
const SORTING_ITEMS: usize = 128;
/// Limits for a row handled by a single work-item: places of its table, and entries per row of B.
const ALONE: (usize, usize) = (32, 4);

/// The product of the patterns and values.
pub(crate) fn multiply<T: Scalar>(a: EntriesRef<'_, T>, b: EntriesRef<'_, T>) -> Result<(Entries<T>, Product)> {
    let (left, right) = (a.structure, b.structure);
    let context = left.offset.context();
    let mut count = Buffer::<u32>::uninit(context, left.rows)?;
    let mut bins = Vec::new();
    let program = Program::<T>::new();
    match context.family() {
        KernelFamily::Cpu => {
            let range = parts(context, left.rows);
            let mut place = places(context, range, right.cols)?;
            let (rows, cols) = (left.rows, right.cols);
            let (ao, ac, bo, bc) = (&left.offset, &left.column, &right.offset, &right.column);
            program.count_product_cpu(context, range, rows, cols, ao, ac, bo, bc, &mut place, &mut count)?;
        }
        KernelFamily::Gpu => {
            let [mut bound, mut guess] =
                [Buffer::<u32>::uninit(context, left.rows)?, Buffer::uninit(context, left.rows)?];
            let (rows, cols, least) = (left.rows, right.cols as u32, COUNT_SIZES[0] as u32);
            let (ao, ac, bo) = (&left.offset, &left.column, &right.offset);
            let range = items(context, rows);
            program.bound_product(context, range, rows, cols, SHARE, least, ao, ac, bo, &mut bound, &mut guess)?;
            count.fill(0)?;
            let lanes = lanes(right);
            count_rows::<T>(left, right, lanes, &guess, &mut count)?;
            let mut full = Buffer::<u32>::zeroed(context, 1)?;
            program.keep_full(context, range, rows, &count, &mut bound, &mut full)?;
            if full.to_vec()? != [0] {
                count_rows::<T>(left, right, lanes, &bound, &mut count)?;
            }
            let sizes = if size_of::<T>() > 8 { WIDE_FILL_SIZES } else { FILL_SIZES };
            let bytes = size_of::<u32>() + size_of::<T>();
            bins = binned::<T>(&count, right.cols, (lanes, true), sizes, bytes, |size| size / 4 * 3)?;
            for bin in &mut bins {
                bin.count_ranges::<T>(left, right, &mut count)?;
            }
        }
    }
    let (offset, nnz) = scan(context, &count)?;
    let column = Buffer::uninit(context, nnz)?;
    let structure = Structure { rows: left.rows, cols: right.cols, nnz, offset, column };
    let values = Buffer::uninit(context, nnz)?;
    let product = Product { bins };
    product.fill(a, b, &structure, Out::shared(&values))?;
    Ok((Entries { structure, values }, product))
}

/// Counts the entries of the rows whose `bound` is not 0, in tables of the given size.
fn count_rows<T: Scalar>(
    a: &Structure,
    b: &Structure,
    lanes: usize,
    bound: &Buffer<u32>,
    count: &mut Buffer<u32>,
) -> Result<()> {
    let context = a.offset.context();
    let program = Program::<T>::new();
    let (ao, ac, bo, bc) = (&a.offset, &a.column, &b.offset, &b.column);
    for bin in &mut binned::<T>(bound, b.cols, (lanes, false), COUNT_SIZES, size_of::<u32>(), |size| size)? {
        let (list, listed, lanes, size) = (&bin.list, bin.listed as u32, bin.lanes as u32, bin.size as u32);
        let (range, places) = (bin.range(context, size_of::<u32>()), bin.places());
        let to = &mut *count;
        match &bin.tables {
            Tables::Local => {
                program.count_product_gpu(context, range, listed, lanes, size, list, ao, ac, bo, bc, places, to)?;
            }
            Tables::Ranges { .. } => bin.count_ranges::<T>(a, b, count)?,
            Tables::Global => {
                let mut key = Buffer::<u32>::uninit(context, range.groups() * places)?;
                let (program, key) = (Long::<T>::from(program), &mut key);
                program.count_product(context, range, listed, lanes, size, list, ao, ac, bo, bc, key, to)?;
            }
        }
    }
    Ok(())
}

impl Product {
    /// The columns, which are the same for the same patterns, and the values.
    pub(crate) fn fill<T: Scalar>(
        &self,
        a: EntriesRef<'_, T>,
        b: EntriesRef<'_, T>,
        to: &Structure,
        values: Out<'_, T>,
    ) -> Result<()> {
        let context = to.offset.context();
        let program = Program::<T>::new();
        let (ao, ac, av) = (&a.structure.offset, &a.structure.column, a.values);
        let (bo, bc, bv) = (&b.structure.offset, &b.structure.column, b.values);
        let (offset, column) = (&to.offset, Out::shared(&to.column));
        if context.family() == KernelFamily::Cpu {
            let range = parts(context, to.rows);
            let mut place = places(context, range, to.cols)?;
            let place = &mut place;
            return program.fill_product_cpu(
                context, range, to.rows, to.cols, ao, ac, av, bo, bc, bv, place, offset, column, values,
            );
        }
        for bin in &self.bins {
            let (list, listed, lanes, size) = (&bin.list, bin.listed as u32, bin.lanes as u32, bin.size as u32);
            let range = bin.range(context, size_of::<u32>() + size_of::<T>());
            let places = bin.places();
            match &bin.tables {
                Tables::Local => program.fill_product_gpu(
                    context, range, listed, lanes, size, list, ao, ac, av, bo, bc, bv, places, places, offset, column,
                    values,
                )?,
                Tables::Ranges { count, width, part } => {
                    let (items, words, ranges) = (bin.lanes, width / 32, *count as u32);
                    let range = Range::d1(bin.listed * count * items, items);
                    program.fill_ranges(
                        context,
                        range,
                        ranges,
                        *width as u32,
                        part,
                        list,
                        ao,
                        ac,
                        av,
                        bo,
                        bc,
                        bv,
                        *width,
                        items,
                        words,
                        words,
                        items,
                        items,
                        offset,
                        column,
                        values,
                    )?;
                }
                Tables::Global => {
                    let mut key = Buffer::<u32>::uninit(context, range.groups() * places)?;
                    let mut sum = Buffer::<T>::uninit(context, range.groups() * places)?;
                    let (key, sum) = (&mut key, &mut sum);
                    Long::<T>::from(program).fill_product(
                        context, range, listed, lanes, size, list, ao, ac, av, bo, bc, bv, key, sum, offset, column,
                        values,
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl Bin {
    /// Counts the entries of rows that are computed in ranges, in each range and in total.
    fn count_ranges<T: Scalar>(&mut self, a: &Structure, b: &Structure, count: &mut Buffer<u32>) -> Result<()> {
        let Tables::Ranges { count: ranges, width, part } = &mut self.tables else { return Ok(()) };
        let context = a.offset.context();
        let program = Program::<T>::new();
        let words = *width / 32;
        let several = (LOCAL_BYTES / size_of::<u32>() / words).clamp(1, *ranges);
        let groups = ranges.div_ceil(several);
        let range = Range::d1(self.listed * groups * self.lanes, self.lanes);
        let (ao, ac, bo, bc) = (&a.offset, &a.column, &b.offset, &b.column);
        let [of_row, several_32, ranges_32, width_32] = [groups, several, *ranges, *width].map(|n| n as u32);
        program.count_ranges(
            context,
            range,
            of_row,
            several_32,
            ranges_32,
            width_32,
            &self.list,
            ao,
            ac,
            bo,
            bc,
            several * words,
            &mut *part,
        )?;
        let every = items(context, self.listed);
        program.scan_ranges(context, every, self.listed as u32, ranges_32, &self.list, part, count)
    }

    /// Places of all tables of a work-group. Tables in local memory are padded by one place each, so that they start in different banks.
    fn places(&self) -> usize {
        self.rows * (self.size + usize::from(matches!(self.tables, Tables::Local)))
    }

    fn range(&self, context: &Context, bytes: usize) -> Range {
        let local = self.lanes * self.rows;
        let groups = self.listed.div_ceil(self.rows);
        let groups = match self.tables {
            Tables::Global => groups.min((LONG_BYTES / (self.size * bytes)).clamp(1, 4 * context.units())),
            _ => groups,
        };
        Range::d1(groups * local, local)
    }
}

/// Items that share a row of a product with `b`: as many as its rows have entries.
fn lanes(b: &Structure) -> usize {
    (b.nnz / b.rows.max(1)).next_power_of_two().clamp(1, 32)
}

/// The rows by size, each in the first class whose table holds it. The product has `cols` columns; `lanes` work-items traverse a row of B,
/// and more sort a table that is to be sorted; `most` is how many columns a table with that many slots
/// holds.
fn binned<T: Scalar>(
    bound: &Buffer<u32>,
    cols: usize,
    (lanes, sorts): (usize, bool),
    sizes: &[usize],
    bytes: usize,
    most: impl Fn(usize) -> usize,
) -> Result<Vec<Bin>> {
    let (context, rows) = (bound.context(), bound.len());
    if rows == 0 {
        return Ok(Vec::new());
    }
    let program = Program::<T>::new();
    let each = items(context, rows);
    let highs: Vec<u32> = sizes.iter().map(|&size| most(size) as u32).collect();
    let high = Buffer::from_slice(context, &highs)?;
    let mut classes = Buffer::<u32>::zeroed(context, 1)?;
    program.mark_classes(context, each, rows, sizes.len() as u32, &high, bound, &mut classes)?;
    let classes = classes.to_vec()?[0];
    let mut bins = Vec::new();
    for k in (0..=sizes.len()).filter(|k| classes >> k & 1 == 1) {
        let long = k == sizes.len();
        let (list, listed) = if classes == 1 << k {
            let mut list = Buffer::<u32>::uninit(context, rows)?;
            program.list_rows(context, each, rows, &mut list)?;
            (list, rows)
        } else {
            let low = if k == 0 { 0 } else { highs[k - 1] };
            let high = if long { u32::MAX } else { highs[k] };
            let mut flag = Buffer::<u32>::uninit(context, rows)?;
            program.flag_sizes(context, each, rows, low, high, bound, &mut flag)?;
            let (offset, listed) = scan(context, &flag)?;
            let mut list = Buffer::<u32>::uninit(context, listed)?;
            program.list_flagged(context, each, rows, &flag, &offset, &mut list)?;
            (list, listed)
        };
        let width = LOCAL_BYTES / size_of::<T>();
        let ranges = cols.div_ceil(width);
        let is_few = ranges <= MOST_RANGES && listed <= MOST_RANGES_OF_ALL / (ranges + 1);
        bins.push(if long && is_few && context.local() >= FEWEST_ITEMS {
            let part = Buffer::uninit(context, listed * (ranges + 1))?;
            let (lanes, tables) = (context.local().min(RANGE_ITEMS), Tables::Ranges { count: ranges, width, part });
            Bin { list, listed, lanes, size: width, rows: 1, tables }
        } else if long {
            let largest = bound.to_vec()?.into_iter().max().unwrap_or(0) as usize;
            let size = (largest.div_ceil(most(4)) * 4).next_power_of_two();
            Bin { list, listed, lanes: context.local().min(256), size, rows: 1, tables: Tables::Global }
        } else {
            let size = sizes[k];
            let most = SORTING_ITEMS.min(context.local());
            let lanes = match lanes {
                few if size <= ALONE.0 && few <= ALONE.1 => 1,
                few if sorts => few.max((size / SORTED_PLACES).min(most)),
                few => few,
            };
            let rows = (64 / lanes).min(LOCAL_BYTES / ((size + 1) * bytes)).max(1);
            // A power of two, and no fewer items than a warp has.
            let rows = 1 << rows.ilog2();
            Bin { list, listed, lanes: lanes.max(32 / rows), size, rows, tables: Tables::Local }
        });
    }
    Ok(bins)
}

/// A part of the rows per item of a CPU.
fn parts(context: &Context, rows: usize) -> Range {
    Range::d1(context.units().min(rows).max(1), 1)
}

/// The place of each column, for each item.
fn places(context: &Context, range: Range, cols: usize) -> Result<Buffer<u32>> {
    Buffer::zeroed(context, range.groups() * cols)
}

impl<T: Scalar> Csr<T> {
    /// The product A B (MATLAB's `A*B`). Entries that cancel are stored as zeros.
    ///
    /// The products of a row are added in the order of the entries of A's row (Gustavson 1978), so that the same call gives the same
    /// bits on every device.
    ///
    /// # Errors
    /// [`Error::Shape`] unless B has as many rows as A has columns; [`Error::Context`]; [`Error::Value`] for more than
    /// 2^32 - 1 entries; [`Error::Allocation`].
    ///
    /// ```
    /// use clinalg::{Context, Csr};
    ///
    /// let a = Csr::from_triplets(&Context::global()?, 2, 2, &[(0, 0, 2.0), (0, 1, 1.0), (1, 1, 3.0)])?;
    /// assert_eq!(a.multiply(&a)?.to_parts()?.values, [4.0, 5.0, 9.0]);
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    pub fn multiply(&self, b: &Csr<T>) -> Result<Csr<T>> {
        self.check_product(b)?;
        Csr::from_entries(multiply(self.entries(), b.entries())?.0)
    }

    fn check_product(&self, b: &Csr<T>) -> Result<()> {
        if !self.context().same(b.context()) {
            return Err(Error::Context { argument: "b" });
        }
        if self.cols() != b.rows() {
            let expected = format!("a matrix of {} rows as A has {} columns", self.cols(), self.cols());
            return Err(Error::Shape { argument: "b", expected, got: format!("{} x {}", b.rows(), b.cols()) });
        }
        Ok(())
    }
}
