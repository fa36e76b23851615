//! Products of sparse matrices.

use super::long_rows::{LongRows, MOST_RANGES, RANGE_WIDTH};
use super::scan;
use crate::matrix::{Csr, Entries, EntriesRef, Structure};
use crate::ops::items;
use crate::runtime::kernels::sparse_product::{Long, Program};
use crate::runtime::kernels::{sparse_product_merge, sparse_product_sizes};
use crate::runtime::{KernelFamily, Out, Range, Reuse};
use crate::{Buffer, Context, Error, Result, Scalar};

/// Rows of a product that GPUs compute in the same way.
#[derive(Debug)]
struct Bin {
    list: Buffer<u32>,
    listed: usize,
    /// Work-items per row, and how many of them traverse a row of B together.
    lanes: usize,
    slice: usize,
    /// Slots of a row's table, a power of two.
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
    /// In hash tables in local memory, one per segment of the row.
    Segments(LongRows),
    /// In a hash table in global memory.
    Global,
    /// Nowhere: few rows of B are merged.
    Merged,
}

/// How a product of two patterns is computed, for new values in the same patterns.
#[derive(Debug)]
pub(crate) struct Product {
    /// On GPUs.
    bins: Vec<Bin>,
}

/// The tables of one of the two passes: their numbers of slots, of which at most `filled.0` in `filled.1` are used, the bytes per slot, and the slots
/// per work-item that shares a table.
pub(super) struct Sizes {
    sizes: Vec<usize>,
    filled: (usize, usize),
    bytes: usize,
    each: usize,
}

/// Bytes of local memory of a work-group.
pub(super) const LOCAL_BYTES: usize = 16 << 10;
/// Bytes of the tables and lists in global memory that are in use at a time.
pub(super) const LONG_BYTES: usize = 256 << 20;
/// Work-items of a group whose tables are small, and the maximum number for one row.
const GROUP_ITEMS: usize = 64;
pub(super) const MOST_ITEMS: usize = 128;
/// Slots of the table of a segment of a long row.
pub(super) const SEGMENT_SIZE: usize = 1024;
/// Maximum number of entries that a work-item merges.
const MERGED: u32 = 32;
/// Number of rows on which the ratio of entries to products is measured, one per work-group with a table of `SAMPLE_SIZE`;
/// `SAMPLE_UNIT` as in `sparse_product_sizes.cl`.
const SAMPLES: usize = 256;
const SAMPLE_SIZE: usize = 4096;
const SAMPLE_UNIT: u32 = 256;
/// The numbers of entries of rows are estimated if for at least nine in ten of the sampled rows the ratio of entries to products is at most this.
const ESTIMATED: u32 = SAMPLE_UNIT / 8 * 5;
/// Maximum number of probes for a column in a table whose size was estimated.
const PROBES: usize = 64;
/// Slots of a table per bucket by which its entries are sorted.
pub(super) const BUCKET_PLACES: usize = 4;
/// Limits for a row handled by a single work-item: slots of its table, and entries per row of B.
const ALONE: (usize, usize) = (32, 4);

impl Sizes {
    /// Tables of columns, for products with `cols` columns. A range of all columns takes less memory than large tables if there are few of them.
    fn to_count(cols: usize) -> Sizes {
        let sizes = (5..=12).map(|k| 1 << k).filter(|&size| size <= 512 || size * 32 <= cols).collect();
        Sizes { sizes, filled: (1, 2), bytes: size_of::<u32>(), each: 16 }
    }

    /// Tables of columns and values, and what sorts them.
    pub(super) fn to_fill<T: Scalar>() -> Sizes {
        let most = if size_of::<T>() > 8 { 10 } else { 11 };
        let bytes = size_of::<u32>() + size_of::<T>() + size_of::<u32>() / BUCKET_PLACES + size_of::<u16>();
        Sizes { sizes: (4..=most).map(|k| 1 << k).collect(), filled: (5, 8), bytes, each: 8 }
    }

    /// Entries that a table of the given size holds.
    pub(super) fn most(&self, size: usize) -> usize {
        size * self.filled.0 / self.filled.1
    }
}

/// The product of the patterns and values.
pub(crate) fn multiply<T: Scalar>(a: EntriesRef<'_, T>, b: EntriesRef<'_, T>) -> Result<(Entries<T>, Product)> {
    let (left, right) = (a.structure, b.structure);
    let context = left.offset.context();
    let mut count = Buffer::<u32>::uninit(context, left.rows)?;
    let mut bins = Vec::new();
    let program = multiplication::<T>(context);
    match context.family() {
        KernelFamily::Cpu => {
            let range = parts(context, left.rows);
            let mut place = places(context, range, right.cols)?;
            let (rows, cols) = (left.rows, right.cols);
            let (ao, ac, bo, bc) = (&left.offset, &left.column, &right.offset, &right.column);
            program.count_product_cpu(context, range, rows, cols, ao, ac, bo, bc, &mut place, &mut count)?;
        }
        KernelFamily::Gpu => {
            count_by_tables::<T>(left, right, &mut count)?;
            bins = bins_to_fill::<T>(left, right, &count)?;
        }
    }
    let (offset, nnz) = scan::<T>(context, &count)?;
    let column = Buffer::uninit(context, nnz)?;
    let structure = Structure { rows: left.rows, cols: right.cols, nnz, offset, column };
    let values = Buffer::uninit(context, nnz)?;
    let product = Product { bins };
    product.fill(a, b, &structure, Out::shared(&values))?;
    Ok((Entries { structure, values }, product))
}

/// count[i] = entries of row i of the product.
fn count_by_tables<T: Scalar>(a: &Structure, b: &Structure, count: &mut Buffer<u32>) -> Result<()> {
    let (context, rows) = (a.offset.context(), a.rows);
    let program = sparse_product_sizes::Program::<T::Real>::new();
    let (range, local) = (items(context, rows), context.local());
    let mut bound = Buffer::<u32>::uninit(context, rows)?;
    let cols = b.cols as u32;
    program.bound_product(context, range, rows, cols, &a.offset, &a.column, &b.offset, local + 1, local, &mut bound)?;
    count.fill(0)?;
    let sizes = Sizes::to_count(b.cols);
    if let Some(share) = share::<T>(a, b, &bound)? {
        let mut guess = Buffer::<u32>::uninit(context, rows)?;
        let least = sizes.most(sizes.sizes[0]) as u32;
        program.guess_product(context, range, rows, share, least, &bound, &mut guess)?;
        count_rows::<T>(a, b, &sizes, PROBES, &guess, count)?;
        let mut full = Buffer::<u32>::zeroed(context, 1)?;
        program.keep_full(context, range, rows, &*count, &mut bound, &mut full)?;
        if full.to_vec()? == [0] {
            return Ok(());
        }
    }
    count_rows::<T>(a, b, &sizes, usize::MAX, &bound, count)
}

/// The rows of a product by how they are filled.
fn bins_to_fill<T: Scalar>(a: &Structure, b: &Structure, count: &Buffer<u32>) -> Result<Vec<Bin>> {
    let (context, rows) = (a.offset.context(), a.rows);
    let range = items(context, rows);
    let mut rest = Buffer::<u32>::uninit(context, rows)?;
    let mut flag = Buffer::<u32>::uninit(context, rows)?;
    let program = sparse_product_merge::Program::<T>::new();
    program.flag_merged(context, range, rows, MERGED, &a.offset, count, &mut flag, &mut rest)?;
    let (offset, listed) = scan::<T>(context, &flag)?;
    let mut bins = binned::<T>(&rest, a, b, &Sizes::to_fill::<T>())?;
    if listed > 0 {
        let mut list = Buffer::<u32>::uninit(context, listed)?;
        let program = sparse_product_sizes::Program::<T::Real>::new();
        program.list_flagged(context, range, rows, &flag, &offset, &mut list)?;
        bins.push(Bin { list, listed, lanes: 1, slice: 1, size: 1, rows: 1, tables: Tables::Merged });
    }
    for bin in &mut bins {
        if let Tables::Segments(rows) = &mut bin.tables {
            rows.cut::<T>(a, b)?;
        }
    }
    Ok(bins)
}

/// A ratio of entries to products that most rows of the product do not exceed, in units of 1 / `SAMPLE_UNIT`; `None` if it is large or there are few rows.
fn share<T: Scalar>(a: &Structure, b: &Structure, bound: &Buffer<u32>) -> Result<Option<u32>> {
    let context = a.offset.context();
    if a.rows < 4 * SAMPLES {
        return Ok(None);
    }
    let items = context.local().min(MOST_ITEMS);
    let range = Range::d1(SAMPLES * items, items);
    let mut ratio = Buffer::<u32>::uninit(context, SAMPLES)?;
    let (size, most) = (SAMPLE_SIZE as u32, (SAMPLE_SIZE / 4 * 3) as u32);
    let (ao, ac, bo, bc) = (&a.offset, &a.column, &b.offset, &b.column);
    let program = sparse_product_sizes::Program::<T::Real>::new();
    program.sample_product(context, range, a.rows, size, most, ao, ac, bo, bc, bound, SAMPLE_SIZE, &mut ratio)?;
    let mut ratios: Vec<u32> = ratio.to_vec()?.into_iter().filter(|&ratio| ratio > 0).collect();
    ratios.sort_unstable();
    Ok(ratios.get(ratios.len() * 9 / 10).copied().filter(|&share| share <= ESTIMATED))
}

/// Counts the entries of the rows whose `bound` is not 0, in tables of the given sizes.
fn count_rows<T: Scalar>(
    a: &Structure,
    b: &Structure,
    sizes: &Sizes,
    probes: usize,
    bound: &Buffer<u32>,
    count: &mut Buffer<u32>,
) -> Result<()> {
    let context = a.offset.context();
    let program = Program::<T>::new();
    let (ao, ac, bo, bc) = (&a.offset, &a.column, &b.offset, &b.column);
    for bin in binned::<T>(bound, a, b, sizes)? {
        let [listed, lanes, slice, size] = [bin.listed, bin.lanes, bin.slice, bin.size].map(|n| n as u32);
        let probes = probes.min(bin.size) as u32;
        let (list, range, places) = (&bin.list, bin.range(context, sizes.bytes), bin.places());
        let to = &mut *count;
        match &bin.tables {
            Tables::Merged => {}
            Tables::Local => program.count_product_gpu(
                context, range, listed, lanes, slice, size, probes, list, ao, ac, bo, bc, places, to,
            )?,
            Tables::Segments(rows) => rows.count::<T>(a, b, to)?,
            Tables::Global => {
                let mut key = Buffer::<u32>::uninit(context, range.groups() * places)?;
                let (program, key) = (Long::<T>::from(program), &mut key);
                program
                    .count_product(context, range, listed, lanes, slice, size, size, list, ao, ac, bo, bc, key, to)?;
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
        let program = multiplication::<T>(context);
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
        let sizes = Sizes::to_fill::<T>();
        for bin in &self.bins {
            let (list, buckets, most) = (&bin.list, bin.size / BUCKET_PLACES, sizes.most(bin.size));
            let [listed, lanes, size, bucket_count, most_32] =
                [bin.listed, bin.lanes, bin.size, buckets, most].map(|n| n as u32);
            let (range, places) = (bin.range(context, sizes.bytes), bin.places());
            match &bin.tables {
                Tables::Merged => {
                    let each = items(context, bin.listed);
                    let program = sparse_product_merge::Program::<T>::new();
                    program
                        .merge_product(context, each, listed, list, ao, ac, av, bo, bc, bv, offset, column, values)?
                }
                Tables::Local => {
                    let (counters, order) = (bin.rows * (buckets + 1), bin.rows * most);
                    program.fill_product_gpu(
                        context,
                        range,
                        listed,
                        lanes,
                        size,
                        bucket_count,
                        most_32,
                        list,
                        ao,
                        ac,
                        av,
                        bo,
                        bc,
                        bv,
                        places,
                        places,
                        counters,
                        order,
                        offset,
                        column,
                        values,
                    )?;
                }
                Tables::Segments(rows) => rows.fill(a, b, offset, column, values)?,
                Tables::Global => {
                    let groups = range.groups();
                    let [mut key, mut bucket, mut order] = [
                        Buffer::<u32>::uninit(context, groups * places)?,
                        Buffer::uninit(context, groups * buckets)?,
                        Buffer::uninit(context, groups * most)?,
                    ];
                    let mut sum = Buffer::<T>::uninit(context, groups * places)?;
                    let (key, sum, bucket, order) = (&mut key, &mut sum, &mut bucket, &mut order);
                    Long::<T>::from(program).fill_product(
                        context,
                        range,
                        listed,
                        lanes,
                        size,
                        bucket_count,
                        most_32,
                        list,
                        ao,
                        ac,
                        av,
                        bo,
                        bc,
                        bv,
                        key,
                        sum,
                        bucket,
                        order,
                        offset,
                        column,
                        values,
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl Bin {
    /// The listed rows, whose tables have `size` slots.
    fn local(list: Buffer<u32>, listed: usize, size: usize, slice: usize, sizes: &Sizes) -> Bin {
        let items = list.context().local();
        let (most, slice) = (MOST_ITEMS.min(items), slice.min(items));
        let lanes = if size <= ALONE.0 && slice <= ALONE.1 { 1 } else { slice.max((size / sizes.each).min(most)) };
        let rows = (GROUP_ITEMS.min(items) / lanes).min(LOCAL_BYTES / ((size + 1) * sizes.bytes)).max(1);
        // A power of two, and no fewer items than a warp has.
        let rows = 1 << rows.ilog2();
        let lanes = lanes.max(32.min(items) / rows);
        Bin { list, listed, lanes, slice: slice.min(lanes), size, rows, tables: Tables::Local }
    }

    /// The listed rows, which are too long for tables in local memory.
    fn long<T: Scalar>(
        a: &Structure,
        list: Buffer<u32>,
        listed: usize,
        bound: &Buffer<u32>,
        cols: usize,
        slice: usize,
        sizes: &Sizes,
    ) -> Result<Bin> {
        let items = list.context().local();
        if cols.div_ceil(RANGE_WIDTH) <= MOST_RANGES {
            let (lanes, slice) = (items.min(MOST_ITEMS), slice.min(items.min(MOST_ITEMS)));
            let tables = Tables::Segments(LongRows::new::<T>(a, cols, &list, listed, slice)?);
            return Ok(Bin { list, listed, lanes, slice, size: SEGMENT_SIZE, rows: 1, tables });
        }
        let largest = bound.to_vec()?.into_iter().max().unwrap_or(0) as usize;
        let size = (largest * sizes.filled.1).div_ceil(sizes.filled.0).next_power_of_two();
        let lanes = items.min(256);
        Ok(Bin { list, listed, lanes, slice: slice.min(lanes), size, rows: 1, tables: Tables::Global })
    }

    /// Number of slots of all tables of a work-group. Tables in local memory are padded by one slot each, so that they start in different banks.
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

/// Number of work-items that traverse a row of B together: about as many as its rows have entries.
fn slice(b: &Structure) -> usize {
    (b.nnz / b.rows.max(1)).next_power_of_two().clamp(1, 32)
}

/// The rows of a product with B by size, each in the first class whose table holds it.
fn binned<T: Scalar>(bound: &Buffer<u32>, a: &Structure, b: &Structure, sizes: &Sizes) -> Result<Vec<Bin>> {
    let (context, rows) = (bound.context(), bound.len());
    if rows == 0 {
        return Ok(Vec::new());
    }
    let program = sparse_product_sizes::Program::<T::Real>::new();
    let each = items(context, rows);
    let highs: Vec<u32> = sizes.sizes.iter().map(|&size| sizes.most(size) as u32).collect();
    let high = Buffer::from_slice(context, &highs)?;
    let mut classes = Buffer::<u32>::zeroed(context, 1)?;
    program.mark_classes(context, each, rows, highs.len() as u32, &high, bound, &mut classes)?;
    let classes = classes.to_vec()?[0];
    let slice = slice(b);
    let mut bins = Vec::new();
    for k in (0..=highs.len()).filter(|k| classes >> k & 1 == 1) {
        let (list, listed) = if classes == 1 << k {
            let mut list = Buffer::<u32>::uninit(context, rows)?;
            program.list_rows(context, each, rows, &mut list)?;
            (list, rows)
        } else {
            let low = if k == 0 { 0 } else { highs[k - 1] };
            let high = highs.get(k).copied().unwrap_or(u32::MAX);
            let mut flag = Buffer::<u32>::uninit(context, rows)?;
            program.flag_sizes(context, each, rows, low, high, bound, &mut flag)?;
            let (offset, listed) = scan::<T>(context, &flag)?;
            let mut list = Buffer::<u32>::uninit(context, listed)?;
            program.list_flagged(context, each, rows, &flag, &offset, &mut list)?;
            (list, listed)
        };
        bins.push(match sizes.sizes.get(k) {
            Some(&size) => Bin::local(list, listed, size, slice, sizes),
            None => Bin::long::<T>(a, list, listed, bound, b.cols, slice, sizes)?,
        });
    }
    Ok(bins)
}

/// How many entries of A ahead rows of B are prefetched, on CPUs whose compiler supports the hint.
const ENTRIES_AHEAD: u64 = 4;

/// The kernels of `sparse_product.cl`.
pub(crate) fn multiplication<T: Scalar>(context: &Context) -> Program<T> {
    let program = Program::new();
    let fetches = context.family() == KernelFamily::Cpu && context.prefetches();
    if fetches { program.entries_ahead(ENTRIES_AHEAD) } else { program }
}

/// A part of the rows per item of a CPU.
pub(crate) fn parts(context: &Context, rows: usize) -> Range {
    Range::d1(context.units().min(rows).max(1), 1)
}

/// Memory for the position of each column, for each item.
pub(crate) fn places(context: &Context, range: Range, cols: usize) -> Result<Buffer<u32>> {
    Buffer::zeroed(context, range.groups() * cols)
}

impl<T: Scalar> Csr<T> {
    /// The product A B (MATLAB's `A*B`). Entries that cancel are stored as zeros.
    ///
    /// The products of a row are added in the order of the entries of A's row (Gustavson 1978), so that a device
    /// gives the same bits whenever the call is repeated.
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
        // Only kernels and transfers of the same queue use the memory, as `Reuse` requires.
        let _reuse = Reuse::start();
        Csr::from_entries(multiply(self.entries(), b.entries())?.0)
    }

    fn check_product(&self, b: &Csr<T>) -> Result<()> {
        if !self.context().same(b.context()) {
            return Err(Error::Context { argument: "b" });
        }
        if self.cols() != b.rows() {
            let expected = format!("a matrix of {} rows, as A has {} columns", self.cols(), self.cols());
            return Err(Error::Shape { argument: "b", expected, got: format!("{} x {}", b.rows(), b.cols()) });
        }
        Ok(())
    }
}
