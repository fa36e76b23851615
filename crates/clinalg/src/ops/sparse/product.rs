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
    /// Whether the tables are in global memory.
    long: bool,
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
const FILL_SIZES: &[usize] = &[16, 32, 64, 128, 512, 2048];
/// Places of the largest table of 16-byte values.
const WIDE_FILL_SIZES: &[usize] = &[16, 32, 64, 128, 512, 1024];
/// A row of the product is first assumed to have this fraction (one over `SHARE`) of its products as entries, since the products of a Galerkin
/// product often fall on the same columns. Rows whose table turns out too small are counted again.
const SHARE: u32 = 8;
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
            bins = binned::<T>(&count, lanes, sizes, size_of::<u32>() + size_of::<T>(), |size| size / 4 * 3)?;
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
    for bin in &binned::<T>(bound, lanes, COUNT_SIZES, size_of::<u32>(), |size| size)? {
        let (list, listed, lanes, size) = (&bin.list, bin.listed as u32, bin.lanes as u32, bin.size as u32);
        let (range, places) = (bin.range(context, size_of::<u32>()), bin.places());
        let to = &mut *count;
        if bin.long {
            let mut key = Buffer::<u32>::uninit(context, range.groups() * places)?;
            let (program, key) = (Long::<T>::from(program), &mut key);
            program.count_product(context, range, listed, lanes, size, list, ao, ac, bo, bc, key, to)?;
        } else {
            program.count_product_gpu(context, range, listed, lanes, size, list, ao, ac, bo, bc, places, to)?;
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
            if bin.long {
                let mut key = Buffer::<u32>::uninit(context, range.groups() * places)?;
                let mut sum = Buffer::<T>::uninit(context, range.groups() * places)?;
                let (key, sum) = (&mut key, &mut sum);
                Long::<T>::from(program).fill_product(
                    context, range, listed, lanes, size, list, ao, ac, av, bo, bc, bv, key, sum, offset, column, values,
                )?;
            } else {
                program.fill_product_gpu(
                    context, range, listed, lanes, size, list, ao, ac, av, bo, bc, bv, places, places, offset, column,
                    values,
                )?;
            }
        }
        Ok(())
    }
}

impl Bin {
    /// Places of all tables of a work-group. Tables in local memory are padded by one place each, so that they start in different banks.
    fn places(&self) -> usize {
        self.rows * (self.size + usize::from(!self.long))
    }

    fn range(&self, context: &Context, bytes: usize) -> Range {
        let local = self.lanes * self.rows;
        let groups = self.listed.div_ceil(self.rows);
        let groups = match self.long {
            true => groups.min((LONG_BYTES / (self.size * bytes)).clamp(1, 4 * context.units())),
            false => groups,
        };
        Range::d1(groups * local, local)
    }
}

/// Items that share a row of a product with `b`: as many as its rows have entries.
fn lanes(b: &Structure) -> usize {
    (b.nnz / b.rows.max(1)).next_power_of_two().clamp(1, 32)
}

/// The rows by size, each in the first class whose table holds it. `most` is how many columns a table of so many places takes.
fn binned<T: Scalar>(
    bound: &Buffer<u32>,
    lanes: usize,
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
        bins.push(if long {
            let largest = bound.to_vec()?.into_iter().max().unwrap_or(0) as usize;
            let places = largest.div_ceil(most(4)) * 4;
            Bin { list, listed, lanes: context.local().min(256), size: places.next_power_of_two(), rows: 1, long }
        } else {
            let size = sizes[k];
            let lanes = if size <= ALONE.0 && lanes <= ALONE.1 { 1 } else { lanes };
            let rows = (64 / lanes).min(LOCAL_BYTES / ((size + 1) * bytes)).max(1);
            // A power of two, and no fewer items than a warp has.
            let rows = 1 << rows.ilog2();
            Bin { list, listed, lanes: lanes.max(32 / rows), size, rows, long }
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
