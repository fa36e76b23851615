//! Dense column-major matrices.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ndarray::{Array2, ArrayView2, ShapeBuilder};
use once_cell::sync::OnceCell;

use super::launch::DenseProducts;
use super::{Values, Vector, check_context};
use crate::error::check_length;
use crate::runtime::{Arg, Kernel, Range, files};
use crate::{Buffer, Context, Error, Real, Result};

/// A dense `rows` x `cols` matrix, stored by columns as MATLAB and LAPACK do.
#[derive(Debug)]
pub struct Dense<T: Real> {
    rows: usize,
    cols: usize,
    values: Vector<T>,
    products: OnceCell<Box<DenseProducts>>,
    partial: OnceCell<Mutex<Buffer<T>>>,
}

impl<T: Real> Dense<T> {
    /// A matrix whose column `j` is `values[j * rows..(j + 1) * rows]`.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are `rows * cols` values; [`Error::Allocation`];
    /// [`Error::NoFp64`] for `f64` on a device without it.
    pub fn from_column_major(context: &Context, rows: usize, cols: usize, values: &[T]) -> Result<Dense<T>> {
        check_length("values", entries(rows, cols)?, values.len())?;
        Ok(Dense::of(rows, cols, Vector::from_slice(context, values)?))
    }

    /// The matrix whose columns are in `values`.
    #[cfg(test)]
    pub(crate) fn from_vector(rows: usize, cols: usize, values: Vector<T>) -> Dense<T> {
        assert_eq!(rows * cols, values.len());
        Dense::of(rows, cols, values)
    }

    /// A matrix of zeros.
    ///
    /// # Errors
    /// As [`Dense::from_column_major`].
    pub fn zeros(context: &Context, rows: usize, cols: usize) -> Result<Dense<T>> {
        Ok(Dense::of(rows, cols, Vector::zeros(context, entries(rows, cols)?)?))
    }

    fn of(rows: usize, cols: usize, values: Vector<T>) -> Dense<T> {
        Dense { rows, cols, values, products: OnceCell::new(), partial: OnceCell::new() }
    }

    /// A matrix with a copy of `array`, of any layout.
    ///
    /// # Errors
    /// As [`Dense::from_column_major`].
    pub fn from_array(context: &Context, array: &ArrayView2<'_, T>) -> Result<Dense<T>> {
        let (rows, cols) = array.dim();
        match array.t().as_slice() {
            Some(values) => Dense::from_column_major(context, rows, cols, values),
            None => {
                let values: Vec<T> = array.t().iter().copied().collect();
                Dense::from_column_major(context, rows, cols, &values)
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The context the matrix lives in.
    pub fn context(&self) -> &Context {
        self.values.context()
    }

    /// The values as one vector, column by column.
    pub fn as_vector(&self) -> &Vector<T> {
        &self.values
    }

    /// The values as one vector, column by column, to be written.
    pub fn as_vector_mut(&mut self) -> &mut Vector<T> {
        &mut self.values
    }

    /// The values, column by column.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn to_column_major(&self) -> Result<Vec<T>> {
        self.values.to_vec()
    }

    /// The diagonal, `min(rows, cols)` values.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn diagonal(&self) -> Result<Vector<T>> {
        let n = self.rows.min(self.cols);
        let diagonal = Vector::uninit(self.context(), n)?;
        self.context().run(
            &Kernel::new(&files::DENSE, "diagonal_dense", T::PRECISION),
            Range::d1(n, self.context().local()),
            &[Arg::size(n), Arg::size(self.rows), self.values.buffer().arg(), diagonal.buffer().arg()],
        )?;
        Ok(diagonal)
    }

    /// How its products are launched, made before the first.
    pub(crate) fn products(&self) -> &DenseProducts {
        self.products.get_or_init(|| Box::new(DenseProducts::new::<T>(self.context(), self.rows, self.cols)))
    }

    /// Lets the next product look its launch parameters up once more.
    pub(crate) fn forget_products(&mut self) {
        self.products.take();
        self.partial.take();
    }

    /// Room for the sums of so many parts of the columns, as many in every call; held from the kernel that writes them
    /// to the one that reads.
    pub(crate) fn partial(&self, parts: usize) -> Result<MutexGuard<'_, Buffer<T>>> {
        let make = || Buffer::uninit(self.context(), parts * self.rows).map(Mutex::new);
        Ok(self.partial.get_or_try_init(make)?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The matrix as an `ndarray` array of column-major layout.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn to_array(&self) -> Result<Array2<T>> {
        let values = self.to_column_major()?;
        Ok(Array2::from_shape_vec((self.rows, self.cols).f(), values).expect("rows * cols values"))
    }
}

fn entries(rows: usize, cols: usize) -> Result<usize> {
    rows.checked_mul(cols)
        .ok_or_else(|| Error::value("rows x cols", "a number of entries below 2^64", format!("{rows} x {cols}")))
}

impl<T: Real> Values<T> for Dense<T> {
    fn values(&self) -> &Buffer<T> {
        self.values.buffer()
    }

    fn values_mut(&mut self) -> &mut Buffer<T> {
        self.values.buffer_mut()
    }

    fn check_same(&self, other: &Self, argument: &'static str) -> Result<()> {
        check_context(argument, self.context(), other.context())?;
        if (self.rows, self.cols) == (other.rows, other.cols) {
            return Ok(());
        }
        Err(Error::Shape {
            argument,
            expected: format!("{} x {}", self.rows, self.cols),
            got: format!("{} x {}", other.rows, other.cols),
        })
    }

    fn like(&self) -> Result<Self> {
        Ok(Dense::of(self.rows, self.cols, self.values.like()?))
    }
}
