//! Sparse matrices in compressed rows.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use once_cell::sync::OnceCell;
#[cfg(feature = "sprs")]
use sprs::CsMatI;

use super::balanced::NnzBalanced;
use super::bsr::Bsr;
use super::convert::{Columns, Rows};
use super::dia::{Dia, Stencil};
use super::format::{self, Format, Found, Packed, Plan, Product, Sell};
use super::host::{CsrParts, check_offsets};
use super::offsets::Offsets;
use super::sorted::Sorted;
use super::{Values, check_context, index32, sealed};
use crate::runtime::host;
use crate::runtime::kernels::csr;
use crate::runtime::{HostValues, KernelFamily, Out, Range};
use crate::{Buffer, Context, Error, Result, Scalar, ViewMut};

/// A sparse `rows` x `cols` matrix in compressed rows: 32-bit offsets and sorted columns, values.
///
/// Unsorted entries are sorted and duplicates summed at upload. The upload also looks for structure that makes products
/// faster and chooses the [`Format`] of the product; [`Csr::explain`] says which and why. The compressed rows stay as
/// they are.
///
/// ```
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
pub struct Csr<T: Scalar> {
    structure: Arc<Structure>,
    plan: Arc<Plan<T>>,
    values: Buffer<T>,
    /// `Some` while the values are those in which it was found.
    stencil: Option<Arc<Stencil<T>>>,
    packed: OnceCell<Packed<T>>,
    partial: OnceCell<Mutex<Buffer<T>>>,
    side_by_side: OnceCell<Mutex<Buffer<T>>>,
    transposed: OnceCell<Box<Csr<T>>>,
    /// Of a matrix from triplets, the entry that each triplet belongs to.
    pub(super) entry_of_triplet: Option<Arc<[u32]>>,
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

/// Compressed rows without a plan for their products, as sparse algebra makes them.
#[derive(Debug)]
pub(crate) struct Entries<T: Scalar> {
    pub(crate) structure: Structure,
    pub(crate) values: Buffer<T>,
}

/// Compressed rows to be read.
#[derive(Debug)]
pub(crate) struct EntriesRef<'a, T: Scalar> {
    pub(crate) structure: &'a Structure,
    pub(crate) values: &'a Buffer<T>,
}

impl<T: Scalar> Clone for EntriesRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Scalar> Copy for EntriesRef<'_, T> {}

impl<'a, T: Scalar> From<&'a Entries<T>> for EntriesRef<'a, T> {
    fn from(entries: &'a Entries<T>) -> Self {
        EntriesRef { structure: &entries.structure, values: &entries.values }
    }
}

impl<'a, T: Scalar> From<&'a Csr<T>> for EntriesRef<'a, T> {
    fn from(a: &'a Csr<T>) -> Self {
        a.entries()
    }
}

impl<T: Scalar> EntriesRef<'_, T> {
    /// The transpose.
    pub(crate) fn transposed(self) -> Result<Entries<T>> {
        let s = self.structure;
        // The rows are the columns of the transpose.
        let columns = Columns {
            context: s.offset.context(),
            rows: s.cols,
            cols: s.rows,
            offset: &s.offset,
            nnz: s.nnz,
            row: Rows::Narrow((&s.column).into()),
            value: self.values.into(),
        };
        Ok(columns.to_rows()?.expect("the columns of each row increase"))
    }
}

impl Structure {
    /// From the offsets; `offset` holds the same values on the device.
    pub(super) fn new(cols: usize, offsets: &[u32], offset: Buffer<u32>, column: Buffer<u32>) -> Structure {
        let rows = offsets.len() - 1;
        Structure { rows, cols, nnz: offsets[rows] as usize, offset, column }
    }
}

/// Minimum number of entries that are worth a thread.
const ENTRIES_PER_THREAD: usize = 1 << 18;

/// The columns in 32 bits; `None` where those of a row do not increase strictly or one is not below `cols`.
fn narrow_columns(cols: usize, offsets: &[usize], indices: &[usize]) -> Result<Option<Vec<u32>>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(host::MOST_THREADS);
    let parts = (indices.len() / ENTRIES_PER_THREAD).clamp(1, threads);
    let mut columns = host::filled(indices.len(), 0)?;
    let mut rest = columns.as_mut_slice();
    let mut first = 0;
    let mut work = Vec::with_capacity(parts);
    for part in 1..=parts {
        let end = match part == parts {
            true => offsets.len() - 1,
            false => offsets.partition_point(|&offset| offset < indices.len() / parts * part).max(first),
        };
        let own = &offsets[first..=end];
        let (columns, after) = rest.split_at_mut(own[own.len() - 1] - own[0]);
        (rest, first) = (after, end);
        work.push((own, columns));
    }
    let work = Mutex::new(work);
    let next = || work.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let narrow = || {
        let mut sound = true;
        while let Some((offsets, columns)) = next() {
            sound &= narrow_rows(cols, offsets, indices, columns);
        }
        sound
    };
    let sound = std::thread::scope(|scope| {
        // A thread that cannot be started leaves its work to the others.
        let others: Vec<_> = (1..parts).filter_map(|_| host::spawn(scope, narrow)).collect();
        let own = narrow();
        others.into_iter().fold(own, |sound, part| part.join().unwrap_or(false) && sound)
    });
    Ok(sound.then_some(columns))
}

/// [`narrow_columns`] for the rows that begin at `offsets`; returns whether their columns are valid.
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

/// Nondecreasing values in 32 bits.
fn narrow(argument: &'static str, values: &[usize]) -> Result<Vec<u32>> {
    if let Some(&last) = values.last() {
        index32(argument, last)?;
    }
    let mut narrow = host::reserved(values.len())?;
    narrow.extend(values.iter().map(|&v| v as u32));
    Ok(narrow)
}

/// Scratch memory for `len` numbers, allocated at the first call and again whenever it is too small.
fn scratch<'a, T: Scalar>(
    held: &'a OnceCell<Mutex<Buffer<T>>>,
    context: &Context,
    len: usize,
) -> Result<MutexGuard<'a, Buffer<T>>> {
    let held = held.get_or_try_init(|| Buffer::uninit(context, len).map(Mutex::new))?;
    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
    if held.len() < len {
        *held = Buffer::uninit(context, len)?;
    }
    Ok(held)
}

impl<T: Scalar> Csr<T> {
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
        let Some(columns) = narrow_columns(cols, offsets, indices)? else {
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
        let (row, value) = (HostValues::new(context, indices)?, HostValues::new(context, values)?);
        let columns = Columns {
            context,
            rows,
            cols,
            offset: &offset,
            nnz: values.len(),
            row: Rows::Wide((&row).into()),
            value: (&value).into(),
        };
        match columns.to_rows()? {
            Some(entries) => Csr::from_entries(entries),
            None => Csr::from_parts(context, &CsrParts::from_csc(rows, cols, offsets, indices, values)?),
        }
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
    #[cfg(feature = "sprs")]
    pub fn from_sprs(context: &Context, a: &CsMatI<T, usize>) -> Result<Csr<T>> {
        let offsets = a.proper_indptr();
        let make = if a.is_csr() { Csr::from_csr } else { Csr::from_csc };
        make(context, a.rows(), a.cols(), &offsets, a.indices(), a.data())
    }

    fn analysed(structure: Structure, offsets: &[u32], values: Buffer<T>) -> Result<Csr<T>> {
        let found = format::analyse(&structure, &Offsets::known(&structure.offset, offsets), &values, None)?;
        Ok(Csr::of_found(Arc::new(structure), found, values))
    }

    fn of_found(structure: Arc<Structure>, found: Found<T>, values: Buffer<T>) -> Csr<T> {
        Csr {
            structure,
            plan: Arc::new(found.plan),
            values,
            stencil: found.stencil.map(Arc::new),
            packed: OnceCell::new(),
            partial: OnceCell::new(),
            side_by_side: OnceCell::new(),
            transposed: OnceCell::new(),
            entry_of_triplet: None,
        }
    }

    /// The current format of the products. A change of the values ends [`Format::Stencil`]; later products
    /// read the values.
    pub fn format(&self) -> Format {
        if self.stencil.is_some() {
            Format::Stencil
        } else if self.plan.dia.is_some() || self.plan.runs.is_some() {
            Format::Dia
        } else if self.plan.bsr.is_some() {
            Format::Bsr
        } else if self.plan.sorted.is_some() {
            Format::Sell
        } else if self.plan.balanced.is_some() || self.plan.sell.is_some() {
            Format::Balanced
        } else {
            Format::Csr
        }
    }

    /// Analyses the matrix with its current values again: for the best format, or for a given one.
    ///
    /// # Errors
    /// [`Error::Value`] when the matrix or the device does not allow the format; the matrix is then unchanged.
    pub fn set_format(&mut self, format: Option<Format>) -> Result<()> {
        let offsets = Offsets::on_device(&self.structure.offset);
        let found = format::analyse(&self.structure, &offsets, &self.values, format)?;
        self.plan = Arc::new(found.plan);
        self.stencil = found.stencil.map(Arc::new);
        self.packed.take();
        self.partial.take();
        self.transposed.take();
        Ok(())
    }

    /// Seconds that the search for the format took at upload or in [`Csr::set_format`], without the time for building its kernels,
    /// which happens once per context; [`Csr::explain`] reports both.
    pub fn analysis_seconds(&self) -> f64 {
        self.plan.seconds
    }

    /// The format of the products and why, in a sentence.
    pub fn explain(&self) -> String {
        let s = &*self.structure;
        let bytes = size_of::<T>();
        let pattern = |p: &Dia, others: usize| {
            let others = match others {
                0 => String::new(),
                n => format!(" (other rows: {n}; they are read as compressed rows)"),
            };
            format!(
                "rows have entries at the same {} distances from the diagonal, or at some of them{others}",
                p.deltas.len()
            )
        };
        let why = match (self.format(), &self.stencil, &self.plan.dia, &self.plan.balanced) {
            (Format::Stencil, Some(stencil), ..) => {
                format!(
                    "{}, with constant coefficients: neither columns nor values are read",
                    pattern(&stencil.dia, stencil.others)
                )
            }
            (Format::Dia, _, Some(p), _) => format!("{}: columns are not read", pattern(p, p.others)),
            (Format::Dia, ..) => {
                "rows come in runs in which the columns are shifted by one from row to row: the columns of a \
                run's first row serve for all"
                    .to_owned()
            }
            (Format::Bsr, ..) => self.plan.bsr.as_ref().map_or_else(String::new, Bsr::words),
            (Format::Sell, ..) => self.plan.sorted.as_ref().map_or_else(String::new, Sorted::words),
            (Format::Balanced, .., Some(balanced)) => balanced.words(),
            (Format::Balanced, ..) => self.plan.sell.as_ref().map_or_else(String::new, Sell::words),
            _ if T::IS_COMPLEX => "the compressed rows as they are, the only format of complex matrices".to_owned(),
            _ if self.plan.plain => "the compressed rows as they are, as requested".to_owned(),
            _ if self.plan.split.is_some() => {
                "no structure that pays off was found; a chunk of rows per work-item".to_owned()
            }
            _ => "no structure that pays off was found; one or several work-items per row".to_owned(),
        };
        let building = match 1e3 * self.plan.building {
            ms if ms < 0.1 => String::new(),
            ms => format!(", and building its kernels {ms:.1} ms"),
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

    pub(crate) fn plan(&self) -> &Plan<T> {
        &self.plan
    }

    pub(crate) fn stencil(&self) -> Option<&Stencil<T>> {
        self.stencil.as_deref()
    }

    /// Bytes of the second copy of the values, in the order of the format, that products make.
    pub(crate) fn packed_bytes(&self) -> u64 {
        let Plan { product, dia, sell, sorted, .. } = &*self.plan;
        let places = match product {
            // CPUs take diagonals from the rows.
            Product::Dia(_) if self.stencil.is_none() && self.context().family() == KernelFamily::Gpu => {
                dia.as_ref().map_or(0, |dia| dia.deltas.len() * self.rows())
            }
            Product::Sell(_) => sell.as_ref().map_or(0, |sell| sell.column.len()),
            Product::Sorted => sorted.as_ref().map_or(0, |sorted| sorted.places),
            _ => 0,
        };
        (places * size_of::<T>()) as u64
    }

    /// The values by diagonals, brought up to date where they were changed.
    pub(crate) fn dia_values(&self, dia: &Dia) -> Result<&Buffer<T>> {
        let packed = self.packed.get_or_try_init(|| Packed::dia(&self.structure, dia))?;
        packed.refresh(&self.structure, dia, &self.values)
    }

    /// The values in chunks, brought up to date where they were changed.
    pub(crate) fn sell_values(&self, sell: &Sell) -> Result<&Buffer<T>> {
        let packed = self.packed.get_or_try_init(|| Packed::sell(&self.structure, sell))?;
        packed.refresh_sell(&self.structure, sell, &self.values)
    }

    /// The values in chunks of sorted rows, brought up to date where they were changed.
    pub(crate) fn sorted_values(&self, sorted: &Sorted<T::Real>) -> Result<&Buffer<T>> {
        let packed = self.packed.get_or_try_init(|| Packed::sorted(&self.structure, sorted))?;
        packed.refresh_sorted(&self.structure, sorted, &self.values)
    }

    /// Scratch memory for the partial sums of rows that begin in earlier blocks, for `columns` right-hand sides; locked from the kernel that writes them
    /// to the one that reads them.
    pub(crate) fn partial(&self, balanced: &NnzBalanced<T::Real>, columns: usize) -> Result<MutexGuard<'_, Buffer<T>>> {
        scratch(&self.partial, self.context(), balanced.count * columns)
    }

    /// Scratch memory for `count` columns of X side by side, locked likewise.
    pub(crate) fn side_by_side(&self, count: usize) -> Result<MutexGuard<'_, Buffer<T>>> {
        scratch(&self.side_by_side, self.context(), self.cols() * count)
    }

    /// The matrix as a `sprs` matrix in row storage.
    ///
    /// # Errors
    /// Those of the transfer.
    #[cfg(feature = "sprs")]
    pub fn to_sprs(&self) -> Result<CsMatI<T, usize>> {
        let parts = self.to_parts()?;
        Ok(CsMatI::new((parts.rows, parts.cols), parts.offsets, parts.indices, parts.values))
    }

    /// The transpose, converted on the device.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn transpose(&self) -> Result<Csr<T>> {
        Csr::from_entries(self.entries().transposed()?)
    }

    /// What is stored.
    pub(crate) fn entries(&self) -> EntriesRef<'_, T> {
        EntriesRef { structure: &self.structure, values: &self.values }
    }

    /// A matrix with these values, possibly of another precision, at the same positions; searches for the format of its products.
    pub(crate) fn with_values<U: Scalar>(&self, values: Buffer<U>) -> Result<Csr<U>> {
        let found = format::analyse(&self.structure, &Offsets::on_device(&self.structure.offset), &values, None)?;
        Ok(Csr::of_found(self.structure.clone(), found, values))
    }

    /// The matrix with these entries; searches for the format of its products.
    pub(crate) fn from_entries(entries: Entries<T>) -> Result<Csr<T>> {
        let Entries { structure, values } = entries;
        let found = format::analyse(&structure, &Offsets::on_device(&structure.offset), &values, None)?;
        Ok(Csr::of_found(Arc::new(structure), found, values))
    }

    /// The matrix with these entries, for a few products only: on a GPU it uses compressed rows without analysing the sparsity pattern.
    pub(crate) fn for_few_products(entries: Entries<T>) -> Result<Csr<T>> {
        let Entries { structure, values } = entries;
        match structure.offset.context().family() {
            KernelFamily::Cpu => Csr::from_entries(Entries { structure, values }),
            KernelFamily::Gpu => {
                let found = format::compressed_rows(&structure);
                Ok(Csr::of_found(Arc::new(structure), found, values))
            }
        }
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
        let (program, range) = (csr::Program::<T>::new(), Range::d1(n, self.context().local()));
        let to = Out::shared(diagonal.buffer());
        program.diagonal_csr(self.context(), range, n, &s.offset, &s.column, &self.values, to)?;
        Ok(diagonal)
    }
}

impl<T: Scalar> sealed::Sealed for Csr<T> {}

impl<T: Scalar> Values<T> for Csr<T> {
    fn values(&self) -> &Buffer<T> {
        &self.values
    }

    fn values_mut(&mut self) -> ViewMut<'_, T> {
        self.transposed.take();
        self.stencil = None;
        if let Some(packed) = self.packed.get_mut() {
            packed.outdate();
        }
        (&mut self.values).into()
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

    unsafe fn like_uninit(&self) -> Result<Self> {
        let values = Buffer::uninit(self.context(), self.values.len())?;
        Ok(Csr {
            structure: self.structure.clone(),
            plan: self.plan.clone(),
            values,
            stencil: None,
            packed: OnceCell::new(),
            partial: OnceCell::new(),
            side_by_side: OnceCell::new(),
            transposed: OnceCell::new(),
            entry_of_triplet: self.entry_of_triplet.clone(),
        })
    }

    fn try_clone(&self) -> Result<Self> {
        // SAFETY: all values are written here.
        let mut copy = unsafe { self.like_uninit()? };
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
        // Enough entries for several threads; rows of different lengths, some of them long.
        let lengths = (0..3000).map(|i: usize| if i % 700 == 5 { 40_000 } else { i * 37 % 400 });
        let mut offsets = vec![0];
        let mut indices = Vec::new();
        for length in lengths {
            indices.extend((0..length).map(|k| 3 * k + length % 3));
            offsets.push(indices.len());
        }
        let want: Vec<u32> = indices.iter().map(|&j| j as u32).collect();
        assert_eq!(narrow_columns(120_001, &offsets, &indices).unwrap(), Some(want));
        for (at, value) in [(indices.len() - 1, 120_001), (offsets[2999], indices[offsets[2999] + 1]), (700_000, 0)] {
            let mut wrong = indices.clone();
            wrong[at] = value;
            assert_eq!(narrow_columns(120_001, &offsets, &wrong).unwrap(), None, "entry {at}");
        }
        assert_eq!(narrow_columns(0, &[0], &[]).unwrap(), Some(vec![]));
        assert_eq!(narrow_columns(0, &[0, 0, 0], &[]).unwrap(), Some(vec![]));
    }
}
