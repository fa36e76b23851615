//! Sparse matrices in compressed rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use once_cell::sync::OnceCell;
use sprs::CsMatI;

use super::format::{self, Blocks, Chunks, Format, Found, Plan, Slots};
use super::pattern::{Pattern, Stencil};
use super::{Values, check_context, index32};
use crate::reference::{CsrParts, check_offsets};
use crate::runtime::{Arg, Kernel, Range, Shape, View, files};
use crate::tune::{ENTRIES_AHEAD, LONG_ROW};
use crate::{Buffer, Context, Error, Real, Result};

/// A sparse `rows` x `cols` matrix in compressed rows: 32-bit offsets and sorted columns, values.
///
/// Unsorted entries are sorted and duplicates summed at upload. The upload also looks for structure that makes products
/// faster and chooses the [`Format`] of the product; [`Csr::explain`] says which and why. The compressed rows stay as
/// they are.
///
/// ```no_run
/// use clinalg::{Context, Csr, Vector, ops};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 2.0), (1, 0, 1.0), (1, 1, 3.0)])?;
/// let x = Vector::from_slice(&context, &[1.0, 2.0])?;
/// let mut y = Vector::zeros(&context, 2)?;
/// ops::mv(1.0, &a, &x, 0.0, &mut y)?;
/// assert_eq!(y.to_vec()?, [2.0, 7.0]);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Csr<T: Real> {
    structure: Arc<Structure>,
    plan: Arc<Plan>,
    values: Buffer<T>,
    /// While the values are those in which it was found.
    stencil: Option<Arc<Stencil<T>>>,
    slots: OnceCell<Slots<T>>,
    partial: OnceCell<Mutex<Buffer<T>>>,
    transposed: OnceCell<Box<Csr<T>>>,
}

/// Shape and positions, shared by matrices that differ in their values only.
#[derive(Debug)]
pub(crate) struct Structure {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) nnz: usize,
    pub(crate) offset: Buffer<u32>,
    pub(crate) column: Buffer<u32>,
}

impl Structure {
    /// What the offsets say; `offset` holds the same.
    fn new(cols: usize, offsets: &[u32], offset: Buffer<u32>, column: Buffer<u32>) -> Structure {
        let rows = offsets.len() - 1;
        Structure { rows, cols, nnz: offsets[rows] as usize, offset, column }
    }
}

/// Fewest entries that are worth a thread.
const ENTRIES_PER_THREAD: usize = 1 << 18;
/// More threads than that wait for the memory.
const MOST_THREADS: usize = 16;

/// The columns in 32 bits; `None` where those of a row do not increase strictly or one is not below `cols`.
fn narrow_columns(cols: usize, offsets: &[usize], indices: &[usize]) -> Option<Vec<u32>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let parts = (indices.len() / ENTRIES_PER_THREAD).clamp(1, threads);
    let mut columns = vec![0; indices.len()];
    let mut rest = columns.as_mut_slice();
    let mut first = 0;
    std::thread::scope(|scope| {
        let mut work = Vec::with_capacity(parts);
        for part in 1..=parts {
            let end = match part == parts {
                true => offsets.len() - 1,
                false => offsets.partition_point(|&offset| offset < indices.len() / parts * part).max(first),
            };
            let own = &offsets[first..=end];
            let (columns, after) = rest.split_at_mut(own[own.len() - 1] - own[0]);
            (rest, first) = (after, end);
            work.push(move || narrow_rows(cols, own, indices, columns));
        }
        // The last part is done here.
        let last = work.pop();
        let others: Vec<_> = work.into_iter().map(|part| scope.spawn(part)).collect();
        let sound = last.is_none_or(|mut part| part());
        others.into_iter().fold(sound, |sound, part| part.join().unwrap_or(false) && sound)
    })
    .then_some(columns)
}

/// [`narrow_columns`] for the rows that begin at `offsets`; whether they are as they should be.
fn narrow_rows(cols: usize, offsets: &[usize], indices: &[usize], columns: &mut [u32]) -> bool {
    let mut sound = true;
    for row in offsets.windows(2) {
        let indices = &indices[row[0]..row[1]];
        let columns = &mut columns[row[0] - offsets[0]..row[1] - offsets[0]];
        columns.iter_mut().zip(indices).for_each(|(column, &index)| *column = index as u32);
        sound &= indices.windows(2).all(|pair| pair[0] < pair[1]) && indices.last().is_none_or(|&last| last < cols);
    }
    sound
}

/// Cuts the rows into `parts` with about equally many entries plus rows each.
pub(super) fn balanced(offsets: &[u32], parts: usize) -> Vec<u32> {
    let rows = offsets.len() - 1;
    let weight = |row: usize| offsets[row] as u64 + row as u64;
    let total = weight(rows);
    let mut split = Vec::with_capacity(parts + 1);
    let mut row = 0;
    for part in 0..parts as u64 {
        let target = total * part / parts as u64;
        let (mut low, mut high) = (row, rows);
        while low < high {
            let middle = low.midpoint(high);
            if weight(middle) < target { low = middle + 1 } else { high = middle }
        }
        row = low;
        split.push(row as u32);
    }
    split.push(rows as u32);
    split
}

/// Values that do not fall, in 32 bits.
fn narrow(argument: &'static str, values: &[usize]) -> Result<Vec<u32>> {
    if let Some(&last) = values.last() {
        index32(argument, last)?;
    }
    Ok(values.iter().map(|&v| v as u32).collect())
}

fn widen(values: Vec<u32>) -> Vec<usize> {
    values.into_iter().map(|v| v as usize).collect()
}

impl<T: Real> Csr<T> {
    /// A matrix from compressed rows: `offsets` has `rows + 1` entries, the first 0 and the last the
    /// number of `indices` (columns, 0-based) and `values`.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Index`] for arrays that do not fit together; [`Error::Value`]
    /// for more than 2^32 - 1 entries, rows or columns; [`Error::Allocation`]; [`Error::NoFp64`] for
    /// `f64` on a device without it.
    pub fn from_csr(
        context: &Context,
        rows: usize,
        cols: usize,
        offsets: &[usize],
        indices: &[usize],
        values: &[T],
    ) -> Result<Csr<T>> {
        check_offsets(rows, offsets, indices.len(), values.len())?;
        index32("rows", rows)?;
        index32("cols", cols)?;
        index32("offsets", indices.len())?;
        let Some(columns) = narrow_columns(cols, offsets, indices) else {
            // Indices that are wrong, or rows that have to be sorted.
            return Csr::from_parts(context, &CsrParts::from_csr(rows, cols, offsets, indices, values)?);
        };
        context.require::<T>()?;
        let offsets = narrow("offsets", offsets)?;
        let offset = Buffer::from_slice(context, &offsets)?;
        let column = Buffer::from_slice(context, &columns)?;
        drop(columns);
        let structure = Structure::new(cols, &offsets, offset, column);
        Csr::analysed(structure, &offsets, Buffer::from_slice(context, values)?)
    }

    /// A matrix from compressed columns (MATLAB's form): `offsets` has `cols + 1` entries, `indices`
    /// are rows. Sorted columns without duplicates are converted on the device.
    ///
    /// # Errors
    /// As [`Csr::from_csr`].
    pub fn from_csc(
        context: &Context,
        rows: usize,
        cols: usize,
        offsets: &[usize],
        indices: &[usize],
        values: &[T],
    ) -> Result<Csr<T>> {
        context.require::<T>()?;
        check_offsets(cols, offsets, indices.len(), values.len())?;
        index32("rows", rows)?;
        index32("cols", cols)?;
        let narrow_offsets = narrow("offsets", offsets)?;
        let offset = Buffer::from_slice(context, &narrow_offsets)?;
        let (row, value) = (View::new(context, indices)?, View::new(context, values)?);
        let columns = Columns {
            context,
            rows,
            offsets: &narrow_offsets,
            offset: &offset,
            nnz: values.len(),
            row: row.arg(),
            wide: true,
            value: value.arg(),
        };
        match columns.to_rows()? {
            Some(matrix) => Ok(matrix),
            None => Csr::from_parts(context, &CsrParts::from_csc(rows, cols, offsets, indices, values)?),
        }
    }

    /// A matrix from `(row, column, value)` entries in any order; duplicates are summed.
    ///
    /// # Errors
    /// As [`Csr::from_csr`].
    pub fn from_triplets(context: &Context, rows: usize, cols: usize, entries: &[(usize, usize, T)]) -> Result<Csr<T>> {
        // Before the host form takes memory for its offsets.
        index32("rows", rows)?;
        index32("cols", cols)?;
        Csr::from_parts(context, &CsrParts::from_triplets(rows, cols, entries)?)
    }

    /// A matrix from its host form.
    ///
    /// # Errors
    /// As [`Csr::from_csr`].
    pub fn from_parts(context: &Context, parts: &CsrParts<T>) -> Result<Csr<T>> {
        Csr::from_csr(context, parts.rows, parts.cols, &parts.offsets, &parts.indices, &parts.values)
    }

    /// A matrix from a `sprs` matrix in either storage order.
    ///
    /// # Errors
    /// As [`Csr::from_csr`].
    pub fn from_sprs(context: &Context, a: &CsMatI<T, usize>) -> Result<Csr<T>> {
        let offsets = a.proper_indptr();
        let make = if a.is_csr() { Csr::from_csr } else { Csr::from_csc };
        make(context, a.rows(), a.cols(), &offsets, a.indices(), a.data())
    }

    fn analysed(structure: Structure, offsets: &[u32], values: Buffer<T>) -> Result<Csr<T>> {
        let found = format::analyse(&structure, offsets, &values, None)?;
        Ok(Csr::of_found(Arc::new(structure), found, values))
    }

    fn of_found(structure: Arc<Structure>, found: Found<T>, values: Buffer<T>) -> Csr<T> {
        Csr {
            structure,
            plan: Arc::new(found.plan),
            values,
            stencil: found.stencil.map(Arc::new),
            slots: OnceCell::new(),
            partial: OnceCell::new(),
            transposed: OnceCell::new(),
        }
    }

    /// The format in which products are computed now. A change of the values ends a [`Format::Stencil`]; later products
    /// read the values.
    pub fn format(&self) -> Format {
        if self.stencil.is_some() {
            Format::Stencil
        } else if self.plan.pattern.is_some() || self.plan.runs.is_some() {
            Format::Diagonals
        } else if self.plan.blocks.is_some() || self.plan.chunks.is_some() {
            Format::Blocks
        } else {
            Format::Rows
        }
    }

    /// Looks at the matrix, as its values are now, once more: for the best format, or for a given one.
    ///
    /// # Errors
    /// [`Error::Value`] when the matrix or the device does not allow the format; the matrix is as it was then.
    pub fn set_format(&mut self, format: Option<Format>) -> Result<()> {
        let offsets = self.structure.offset.to_vec()?;
        let found = format::analyse(&self.structure, &offsets, &self.values, format)?;
        self.plan = Arc::new(found.plan);
        self.stencil = found.stencil.map(Arc::new);
        self.slots.take();
        self.partial.take();
        self.transposed.take();
        Ok(())
    }

    /// Seconds that the search for the format took at upload or in [`Csr::set_format`], without those in which its kernels
    /// were built, once for all matrices of a context; [`Csr::explain`] tells both.
    pub fn analysis_seconds(&self) -> f64 {
        self.plan.seconds
    }

    /// The format of the products and why, in a sentence.
    pub fn explain(&self) -> String {
        let s = &*self.structure;
        let bytes = size_of::<T>();
        let pattern = |p: &Pattern, others: usize| {
            let others = match others {
                0 => String::new(),
                n => format!(" ({n} are not, and are read as compressed rows)"),
            };
            format!("rows are the same {} distances from the diagonal or some of them{others}", p.deltas.len())
        };
        let why = match (self.format(), &self.stencil, &self.plan.pattern, &self.plan.blocks) {
            (Format::Stencil, Some(stencil), ..) => {
                format!(
                    "{}, with constant coefficients: neither columns nor values are read",
                    pattern(&stencil.pattern, stencil.others)
                )
            }
            (Format::Diagonals, _, Some(p), _) => format!("{}: columns are not read", pattern(p, p.others)),
            (Format::Diagonals, ..) => "rows come in runs in which the columns move on by one: the columns of a run's \
                first row serve for all"
                .to_owned(),
            (Format::Blocks, .., Some(blocks)) => blocks.words(),
            (Format::Blocks, ..) => self.plan.chunks.as_ref().map_or_else(String::new, Chunks::words),
            _ if self.plan.plain => "the compressed rows as they are, as was asked for".to_owned(),
            _ if self.plan.split.is_some() => {
                "no structure that pays was found; a chunk of rows per work-item".to_owned()
            }
            _ => "the compressed rows as they are, one or several work-items per row".to_owned(),
        };
        let building = match 1e3 * self.plan.building {
            ms if ms < 0.1 => String::new(),
            ms => format!(", and {ms:.1} ms the kernels for it"),
        };
        format!(
            "{}: {} x {} with {} entries of {bytes} bytes; {why}; the analysis took {:.1} ms{building}",
            self.format(),
            s.rows,
            s.cols,
            s.nnz,
            1e3 * self.plan.seconds
        )
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.structure.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.structure.cols
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.structure.nnz
    }

    /// The context the matrix lives in.
    pub fn context(&self) -> &Context {
        self.values.context()
    }

    pub(crate) fn structure(&self) -> &Arc<Structure> {
        &self.structure
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn stencil(&self) -> Option<&Stencil<T>> {
        self.stencil.as_deref()
    }

    /// The values by diagonals, brought up to date where they were changed.
    pub(crate) fn slots(&self, pattern: &Pattern) -> Result<&Buffer<T>> {
        let slots = self.slots.get_or_try_init(|| Slots::new(&self.structure, pattern))?;
        slots.refresh(&self.structure, pattern, &self.values)
    }

    /// The values in chunks, brought up to date where they were changed.
    pub(crate) fn chunk_values(&self, chunks: &Chunks) -> Result<&Buffer<T>> {
        let slots = self.slots.get_or_try_init(|| Slots::of_chunks(&self.structure, chunks))?;
        slots.refresh_chunks(&self.structure, chunks, &self.values)
    }

    /// Room for what blocks leave of rows that begin in others; held from the kernel that writes them to the one that reads.
    pub(crate) fn partial(&self, blocks: &Blocks) -> Result<MutexGuard<'_, Buffer<T>>> {
        let partial = self.partial.get_or_try_init(|| Buffer::uninit(self.context(), blocks.count).map(Mutex::new))?;
        Ok(partial.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The matrix in its host form, exactly as stored.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn to_parts(&self) -> Result<CsrParts<T>> {
        Ok(CsrParts {
            rows: self.rows(),
            cols: self.cols(),
            offsets: widen(self.structure.offset.to_vec()?),
            indices: widen(self.structure.column.to_vec()?),
            values: self.values.to_vec()?,
        })
    }

    /// The matrix as a `sprs` matrix in row storage.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn to_sprs(&self) -> Result<CsMatI<T, usize>> {
        let parts = self.to_parts()?;
        Ok(CsMatI::new((parts.rows, parts.cols), parts.offsets, parts.indices, parts.values))
    }

    /// The transpose, converted on the device.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn transpose(&self) -> Result<Csr<T>> {
        let s = &*self.structure;
        // The rows are the columns of the transpose.
        let columns = Columns {
            context: self.context(),
            rows: s.cols,
            offsets: &s.offset.to_vec()?,
            offset: &s.offset,
            nnz: s.nnz,
            row: s.column.arg(),
            wide: false,
            value: self.values.arg(),
        };
        Ok(columns.to_rows()?.expect("the columns of each row increase"))
    }

    /// The transpose, kept for later calls until the values change.
    pub(crate) fn transposed(&self) -> Result<&Csr<T>> {
        self.transposed.get_or_try_init(|| self.transpose().map(Box::new)).map(|b| &**b)
    }

    /// The diagonal, `min(rows, cols)` values, zero where no entry is stored.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn diagonal(&self) -> Result<super::Vector<T>> {
        let s = &*self.structure;
        let n = s.rows.min(s.cols);
        let diagonal = super::Vector::uninit(self.context(), n)?;
        self.context().run(
            &Kernel::new(&files::CSR, "diagonal_csr", T::PRECISION),
            Range::d1(n, self.context().local()),
            &[Arg::size(n), s.offset.arg(), s.column.arg(), self.values.arg(), diagonal.buffer().arg()],
        )?;
        Ok(diagonal)
    }
}

/// For kernels that read indices as the host gives them, in 64 bits.
const WIDE: (&str, u64) = ("WIDE", 1);

/// Compressed columns on the device.
struct Columns<'a> {
    context: &'a Context,
    rows: usize,
    /// What `offset` holds.
    offsets: &'a [u32],
    offset: &'a Buffer<u32>,
    nnz: usize,
    /// The row of each entry.
    row: Arg,
    /// Whether `row` is in 64 bits, as the host gives it.
    wide: bool,
    value: Arg,
}

impl Columns<'_> {
    /// The matrix in compressed rows, or `None` where the rows of a column do not increase strictly or one is not a
    /// row of the matrix.
    fn to_rows<T: Real>(&self) -> Result<Option<Csr<T>>> {
        match self.context.shape() {
            Shape::Cpu => self.to_rows_cpu(),
            Shape::Gpu => self.to_rows_gpu(),
        }
    }

    fn run<T: Real>(&self, name: &'static str, items: usize, local: usize, args: &[Arg]) -> Result<()> {
        let kernel = Kernel::new(&files::CONVERT, name, T::PRECISION);
        self.context.run(&kernel, Range::d1(items, local), args)
    }

    fn to_rows_gpu<T: Real>(&self) -> Result<Option<Csr<T>>> {
        let &Columns { context, rows, nnz, .. } = self;
        let cols = self.offsets.len() - 1;
        let local = context.local();
        let run = |name, items, local, args: &[Arg]| self.run::<T>(name, items, local, args);
        let column_of = Buffer::<u32>::uninit(context, nnz)?;
        run("expand_columns", cols, local, &[Arg::size(cols), self.offset.arg(), column_of.arg()])?;
        let narrow;
        let row = if self.wide {
            narrow = Buffer::<u32>::uninit(context, nnz)?;
            let wrong = Buffer::<u32>::zeroed(context, 1)?;
            let sizes = [Arg::size(nnz), Arg::size(rows)];
            let arrays = [column_of.arg(), self.row, narrow.arg(), wrong.arg()];
            run("narrow_rows", nnz, local, &[sizes.as_slice(), &arrays].concat())?;
            if wrong.to_vec()? != [0] {
                return Ok(None);
            }
            narrow.arg()
        } else {
            self.row
        };
        let cursor = Buffer::<u32>::zeroed(context, rows)?;
        run("count_rows", nnz, local, &[Arg::size(nnz), row, cursor.arg()])?;
        let parts = rows.div_ceil(1024).clamp(1, 4096);
        let part = Buffer::<u32>::uninit(context, parts)?;
        run("sum_parts", parts, 1, &[Arg::size(rows), cursor.arg(), part.arg()])?;
        run("scan_parts", 1, 1, &[Arg::size(parts), part.arg()])?;
        let offset = Buffer::<u32>::zeroed(context, rows + 1)?;
        run("scan_rows", parts, 1, &[Arg::size(rows), part.arg(), cursor.arg(), offset.arg()])?;
        let order = Buffer::<u32>::uninit(context, nnz)?;
        run("drop_entries", nnz, local, &[Arg::size(nnz), row, cursor.arg(), order.arg()])?;
        let offsets = offset.to_vec()?;
        // One item would take seconds for a row of a million entries.
        let long: Vec<u32> = (0..rows).filter(|&i| offsets[i + 1] - offsets[i] > LONG_ROW).map(|i| i as u32).collect();
        run("sort_rows", rows, local, &[Arg::size(rows), Arg::U32(LONG_ROW), offset.arg(), order.arg()])?;
        if !long.is_empty() {
            let list = Buffer::from_slice(context, &long)?;
            run("sort_long_rows_gpu", long.len() * local, local, &[list.arg(), offset.arg(), order.arg()])?;
        }
        let column = Buffer::<u32>::uninit(context, nnz)?;
        let values = Buffer::<T>::uninit(context, nnz)?;
        let arrays = [order.arg(), column_of.arg(), self.value, column.arg(), values.arg()];
        run("gather_entries", nnz, local, &[[Arg::size(nnz)].as_slice(), &arrays].concat())?;
        let structure = Structure::new(cols, &offsets, offset, column);
        Csr::analysed(structure, &offsets, values).map(Some)
    }

    /// Each item takes a part of the columns.
    fn to_rows_cpu<T: Real>(&self) -> Result<Option<Csr<T>>> {
        let &Columns { context, rows, nnz, .. } = self;
        let cols = self.offsets.len() - 1;
        let run = |name, items, args: &[Arg]| self.run::<T>(name, items, 1, args);
        let run_parts = |name, items, args: &[Arg]| {
            let kernel = Kernel::new(&files::CONVERT, name, T::PRECISION);
            let kernel = match (self.wide, context.fetches_ahead()) {
                (true, true) => kernel.with(&[WIDE, ENTRIES_AHEAD]),
                (true, false) => kernel.with(&[WIDE]),
                (false, true) => kernel.with(&[ENTRIES_AHEAD]),
                (false, false) => kernel,
            };
            context.run(&kernel, Range::d1(items, 1), args)
        };
        // Each part has counts for all rows; together they take no more memory than the columns do.
        let units = (context.device().compute_units as usize).max(1);
        let copies = units.min(nnz / rows.max(1)).clamp(1, 64);
        let split = Buffer::from_slice(context, &balanced(self.offsets, copies))?;
        let place = Buffer::<u32>::zeroed(context, copies * rows)?;
        let wrong = Buffer::<u32>::zeroed(context, 1)?;
        let (n, k) = (Arg::size(rows), Arg::size(copies));
        let input = [n, split.arg(), self.offset.arg(), self.row];
        run_parts("count_parts_cpu", copies, &[input.as_slice(), &[place.arg(), wrong.arg()]].concat())?;
        if wrong.to_vec()? != [0] {
            return Ok(None);
        }
        let chunks = context.chunks().min(rows.div_ceil(1024)).max(1);
        let part = Buffer::<u32>::uninit(context, chunks)?;
        let offset = Buffer::<u32>::zeroed(context, rows + 1)?;
        run("sum_copies_cpu", chunks, &[n, k, place.arg(), part.arg()])?;
        run("scan_parts", 1, &[Arg::size(chunks), part.arg()])?;
        run("scan_copies_cpu", chunks, &[n, k, part.arg(), place.arg(), offset.arg()])?;
        let column = Buffer::<u32>::uninit(context, nnz)?;
        let values = Buffer::<T>::uninit(context, nnz)?;
        let output = [self.value, place.arg(), column.arg(), values.arg()];
        run_parts("place_entries_cpu", copies, &[input.as_slice(), &output].concat())?;
        let offsets = offset.to_vec()?;
        let structure = Structure::new(cols, &offsets, offset, column);
        Csr::analysed(structure, &offsets, values).map(Some)
    }
}

impl<T: Real> Values<T> for Csr<T> {
    fn values(&self) -> &Buffer<T> {
        &self.values
    }

    fn values_mut(&mut self) -> &mut Buffer<T> {
        self.transposed.take();
        self.stencil = None;
        if let Some(slots) = self.slots.get_mut() {
            slots.outdate();
        }
        &mut self.values
    }

    fn check_same(&self, other: &Self, argument: &'static str) -> Result<()> {
        check_context(argument, self.context(), other.context())?;
        let (a, b) = (&*self.structure, &*other.structure);
        if Arc::ptr_eq(&self.structure, &other.structure) {
            return Ok(());
        }
        let same_size = (a.rows, a.cols, a.nnz) == (b.rows, b.cols, b.nnz);
        if same_size && a.offset.to_vec()? == b.offset.to_vec()? && a.column.to_vec()? == b.column.to_vec()? {
            return Ok(());
        }
        let words = |s: &Structure| format!("{} x {} with {} entries", s.rows, s.cols, s.nnz);
        Err(Error::Shape {
            argument,
            expected: format!("{} at the same positions", words(a)),
            got: format!("{}{}", words(b), if same_size { " at other positions" } else { "" }),
        })
    }

    fn like(&self) -> Result<Self> {
        let values = Buffer::uninit(self.context(), self.values.len())?;
        Ok(Csr {
            structure: self.structure.clone(),
            plan: self.plan.clone(),
            values,
            stencil: None,
            slots: OnceCell::new(),
            partial: OnceCell::new(),
            transposed: OnceCell::new(),
        })
    }

    fn try_clone(&self) -> Result<Self> {
        let mut copy = self.like()?;
        copy.values.copy_from(&self.values)?;
        copy.stencil.clone_from(&self.stencil);
        Ok(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_narrowed_in_parts() {
        // Enough entries for several threads, rows of different lengths, some of them long.
        let lengths = (0..3000).map(|i: usize| if i % 700 == 5 { 40_000 } else { i * 37 % 400 });
        let mut offsets = vec![0];
        let mut indices = Vec::new();
        for length in lengths {
            indices.extend((0..length).map(|k| 3 * k + length % 3));
            offsets.push(indices.len());
        }
        let want: Vec<u32> = indices.iter().map(|&j| j as u32).collect();
        assert_eq!(narrow_columns(120_001, &offsets, &indices), Some(want));
        for (at, value) in [(indices.len() - 1, 120_001), (offsets[2999], indices[offsets[2999] + 1]), (700_000, 0)] {
            let mut wrong = indices.clone();
            wrong[at] = value;
            assert_eq!(narrow_columns(120_001, &offsets, &wrong), None, "entry {at}");
        }
        assert_eq!(narrow_columns(0, &[0], &[]), Some(vec![]));
        assert_eq!(narrow_columns(0, &[0, 0, 0], &[]), Some(vec![]));
    }
}
