//! Sums, parts and scalings of sparse matrices.

use super::scan;
use crate::error::check_length;
use crate::matrix::{Csr, Entries, EntriesRef, Structure, Values};
use crate::ops::{Span, items};
use crate::runtime::kernels::sparse_part::Program;
use crate::{Buffer, Error, Result, Scalar, Vector};

/// No column.
const NONE: u32 = u32::MAX;

/// alpha A + beta B for matrices of one shape and context.
pub(crate) fn combine<T: Scalar>(alpha: T, a: EntriesRef<'_, T>, beta: T, b: EntriesRef<'_, T>) -> Result<Entries<T>> {
    let (left, right) = (a.structure, b.structure);
    let (context, rows) = (left.offset.context(), left.rows);
    let (program, range) = (Program::<T>::new(), items(context, rows));
    let (ao, ac, bo, bc) = (&left.offset, &left.column, &right.offset, &right.column);
    let mut count = Buffer::<u32>::uninit(context, rows)?;
    program.count_sum(context, range, rows, ao, ac, bo, bc, &mut count)?;
    let (offset, nnz) = scan::<T>(context, &count)?;
    let mut column = Buffer::uninit(context, nnz)?;
    let mut values = Buffer::uninit(context, nnz)?;
    let (av, bv, to, out) = (a.values, b.values, &mut column, &mut values);
    program.fill_sum(context, range, rows, alpha, ao, ac, av, beta, bo, bc, bv, &offset, to, out)?;
    Ok(Entries { structure: Structure { rows, cols: left.cols, nnz, offset, column }, values })
}

/// Which rows and entries belong to a part of a matrix.
struct Part<'a> {
    /// The row of the matrix for each row of the part; `None` takes all rows.
    source: Option<&'a Buffer<u32>>,
    /// The column of the part for each column of the matrix, increasing where it is not [`NONE`], and the number of columns.
    target: Option<(&'a Buffer<u32>, usize)>,
    /// Smallest and largest value of column minus row in the part.
    low: i64,
    high: i64,
}

impl Part<'_> {
    fn of<T: Scalar>(&self, a: EntriesRef<'_, T>) -> Result<Entries<T>> {
        let s = a.structure;
        let context = s.offset.context();
        let rows = self.source.map_or(s.rows, |source| source.len());
        let cols = self.target.map_or(s.cols, |(_, cols)| cols);
        let (program, range) = (Program::<T>::new(), items(context, rows));
        let (listed, source) = (u32::from(self.source.is_some()), self.source.unwrap_or(&s.offset));
        let (mapped, target) = (u32::from(self.target.is_some()), self.target.map_or(&s.offset, |(target, _)| target));
        // Two's complement in 64 bits, as the kernels read it.
        let (low, high) = (self.low as usize, self.high as usize);
        let (from, at) = (&s.offset, &s.column);
        let mut count = Buffer::<u32>::uninit(context, rows)?;
        program.count_part(context, range, rows, low, high, listed, source, mapped, target, from, at, &mut count)?;
        let (offset, nnz) = scan::<T>(context, &count)?;
        let mut column = Buffer::uninit(context, nnz)?;
        let mut values = Buffer::uninit(context, nnz)?;
        let (v, to, out) = (a.values, &mut column, &mut values);
        program.fill_part(
            context, range, rows, low, high, listed, source, mapped, target, from, at, v, &offset, to, out,
        )?;
        Ok(Entries { structure: Structure { rows, cols, nnz, offset, column }, values })
    }
}

/// Whether the positions are strictly increasing.
fn rises(span: Span<'_>) -> bool {
    match span {
        Span::Range { step, count, .. } => step > 0 || count < 2,
        Span::List(list) => list.windows(2).all(|pair| pair[0] < pair[1]),
    }
}

/// Whether the span is all of a dimension.
fn is_all(span: Span<'_>, length: usize) -> bool {
    span == Span::all(length) || (length <= 1 && span.count() == length && rises(span))
}

fn rows_of<T: Scalar>(a: EntriesRef<'_, T>, rows: Span<'_>) -> Result<Entries<T>> {
    let source: Vec<u32> = (0..rows.count()).map(|k| rows.at(k) as u32).collect();
    let source = Buffer::from_slice(a.structure.offset.context(), &source)?;
    Part { source: Some(&source), target: None, low: i64::MIN, high: i64::MAX }.of(a)
}

impl<T: Scalar> Csr<T> {
    /// alpha A + beta B, with entries at the positions of either, zeros included.
    ///
    /// # Errors
    /// [`Error::Shape`] unless both have the same shape; [`Error::Context`]; [`Error::Value`] for more than 2^32 - 1 entries;
    /// [`Error::Allocation`].
    pub fn combine(&self, alpha: T, beta: T, b: &Csr<T>) -> Result<Csr<T>> {
        if !self.context().same(b.context()) {
            return Err(Error::Context { argument: "b" });
        }
        if (self.rows(), self.cols()) != (b.rows(), b.cols()) {
            let expected = format!("{} x {} as A", self.rows(), self.cols());
            return Err(Error::Shape { argument: "b", expected, got: format!("{} x {}", b.rows(), b.cols()) });
        }
        Csr::from_entries(combine(alpha, self.entries(), beta, b.entries())?)
    }

    /// A(rows, cols), in this order; positions may occur several times.
    ///
    /// Columns that are not in ascending order cost two transpositions.
    ///
    /// # Errors
    /// [`Error::Value`] that names `rows` or `cols` for a position that A does not have, or for more than 2^32 - 1 entries;
    /// [`Error::Allocation`].
    ///
    /// ```
    /// use clinalg::ops::Span;
    /// use clinalg::{Context, Csr};
    ///
    /// let a = Csr::from_triplets(&Context::global()?, 2, 2, &[(0, 0, 2.0), (0, 1, 1.0), (1, 1, 3.0)])?;
    /// let swapped = a.select(Span::List(&[1, 0]), Span::List(&[1, 0]))?.to_parts()?;
    /// assert_eq!((swapped.indices, swapped.values), (vec![0, 0, 1], vec![3.0, 1.0, 2.0]));
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    pub fn select(&self, rows: Span<'_>, cols: Span<'_>) -> Result<Csr<T>> {
        rows.check("rows", self.rows())?;
        cols.check("cols", self.cols())?;
        for (argument, span) in [("rows", rows), ("cols", cols)] {
            if u32::try_from(span.count()).is_err() {
                return Err(Error::value(argument, "at most 4294967295 positions", span.count()));
            }
        }
        if !rises(cols) {
            let part = rows_of(self.entries(), rows)?;
            let turned = EntriesRef::from(&part).transposed()?;
            return Csr::from_entries(EntriesRef::from(&rows_of((&turned).into(), cols)?).transposed()?);
        }
        let source: Option<Vec<u32>> =
            (!is_all(rows, self.rows())).then(|| (0..rows.count()).map(|k| rows.at(k) as u32).collect());
        let source = source.map(|list| Buffer::from_slice(self.context(), &list)).transpose()?;
        let target = match is_all(cols, self.cols()) {
            true => None,
            false => {
                let mut target = vec![NONE; self.cols()];
                (0..cols.count()).for_each(|k| target[cols.at(k)] = k as u32);
                Some(Buffer::from_slice(self.context(), &target)?)
            }
        };
        let target = target.as_ref().map(|target| (target, cols.count()));
        let part = Part { source: source.as_ref(), target, low: i64::MIN, high: i64::MAX };
        Csr::from_entries(part.of(self.entries())?)
    }

    /// The entries with `low <= column - row <= high`: `band_part(i64::MIN, 0)` is the lower triangle, `band_part(1, i64::MAX)` the strict
    /// upper one, `band_part(0, 0)` the diagonal as a matrix.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn band_part(&self, low: i64, high: i64) -> Result<Csr<T>> {
        Csr::from_entries(Part { source: None, target: None, low, high }.of(self.entries())?)
    }

    /// The matrix without stored zeros, such as sums of entries that cancel; `None` where there are none.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    ///
    /// ```
    /// use clinalg::{Context, Csr};
    ///
    /// let a = Csr::from_triplets(&Context::global()?, 2, 2, &[(0, 0, 2.0), (0, 1, 1.0), (1, 1, 3.0)])?;
    /// let zero = a.combine(1.0, -1.0, &a)?;
    /// assert_eq!((zero.nnz(), zero.without_zeros()?.map(|a| a.nnz())), (3, Some(0)));
    /// assert!(a.without_zeros()?.is_none());
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    pub fn without_zeros(&self) -> Result<Option<Csr<T>>> {
        let (context, a) = (self.context(), self.entries());
        let (rows, cols) = (self.rows(), self.cols());
        let (program, range) = (Program::<T>::new(), items(context, rows));
        let (from, at) = (&a.structure.offset, &a.structure.column);
        let mut count = Buffer::<u32>::uninit(context, rows)?;
        program.count_nonzeros(context, range, rows, from, a.values, &mut count)?;
        let (offset, nnz) = scan::<T>(context, &count)?;
        if nnz == self.nnz() {
            return Ok(None);
        }
        let mut column = Buffer::uninit(context, nnz)?;
        let mut values = Buffer::uninit(context, nnz)?;
        program.fill_nonzeros(context, range, rows, from, at, a.values, &offset, &mut column, &mut values)?;
        Csr::from_entries(Entries { structure: Structure { rows, cols, nnz, offset, column }, values }).map(Some)
    }

    /// A = diag(left) A diag(right), in place; a side without a vector stays as it is. Enqueued.
    ///
    /// # Errors
    /// [`Error::Length`] unless `left` has a value per row and `right` one per column; [`Error::Context`].
    pub fn scale(&mut self, left: Option<&Vector<T>>, right: Option<&Vector<T>>) -> Result<()> {
        for (argument, vector, length) in [("left", left, self.rows()), ("right", right, self.cols())] {
            let Some(vector) = vector else { continue };
            if !self.context().same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, length, vector.len())?;
        }
        let (context, structure) = (self.context().clone(), self.structure().clone());
        let rows = structure.rows;
        let view = self.values_mut();
        let values = view.buffer();
        Program::<T>::new().scale_entries(
            &context,
            items(&context, rows),
            rows,
            u32::from(left.is_some()),
            left.map_or(values, Vector::buffer),
            u32::from(right.is_some()),
            right.map_or(values, Vector::buffer),
            &structure.offset,
            &structure.column,
            crate::runtime::Out::shared(values),
        )
    }
}
