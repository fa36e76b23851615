//! Dense column-major matrices.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "ndarray")]
use ndarray::{Array2, ArrayView2, ShapeBuilder};
use once_cell::sync::OnceCell;

use super::launch::DenseProducts;
use super::{Values, Vector, check_context, sealed};
use crate::error::check_length;
use crate::runtime::kernels::dense;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Error, Result, Scalar, ViewMut};

/// A dense `rows` x `cols` matrix, stored by columns as MATLAB and LAPACK do.
#[derive(Debug)]
pub struct Dense<T: Scalar> {
    /// Rows of a matrix without columns; of others the length of `values` says them.
    rows: usize,
    cols: usize,
    values: Vector<T>,
    products: OnceCell<Arc<DenseProducts<T>>>,
    partial: OnceCell<Arc<Mutex<Buffer<T>>>>,
    kept: Option<PreparedProducts<T>>,
}

/// What was made for products before [`Dense::as_vector_mut`] gave the values away.
#[derive(Debug)]
struct PreparedProducts<T: Scalar> {
    rows: usize,
    context: Context,
    products: Arc<DenseProducts<T>>,
    partial: Option<Arc<Mutex<Buffer<T>>>>,
}

impl<T: Scalar> Dense<T> {
    /// A matrix whose column `j` is `values[j * rows..(j + 1) * rows]`.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are `rows * cols` values; [`Error::Allocation`];
    /// [`Error::NoFp64`] for `f64` on a device without it.
    pub fn from_column_major(context: &Context, rows: usize, cols: usize, values: &[T]) -> Result<Dense<T>> {
        check_length("values", entries(rows, cols)?, values.len())?;
        Ok(Dense::of(rows, cols, Vector::from_slice(context, values)?))
    }

    /// The matrix whose columns are in `values`, without a copy.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are `rows * cols` values.
    pub fn from_vector(rows: usize, cols: usize, values: Vector<T>) -> Result<Dense<T>> {
        check_length("values", entries(rows, cols)?, values.len())?;
        Ok(Dense::of(rows, cols, values))
    }

    /// A matrix of zeros.
    ///
    /// # Errors
    /// As [`Dense::from_column_major`].
    pub fn zeros(context: &Context, rows: usize, cols: usize) -> Result<Dense<T>> {
        Ok(Dense::of(rows, cols, Vector::zeros(context, entries(rows, cols)?)?))
    }

    /// A matrix whose values are not defined: they may be what another object held, of another process even.
    ///
    /// # Safety
    /// All values are written before any is read.
    ///
    /// # Errors
    /// As [`Dense::zeros`].
    pub unsafe fn uninit_unchecked(context: &Context, rows: usize, cols: usize) -> Result<Dense<T>> {
        Ok(Dense::of(rows, cols, Vector::uninit(context, entries(rows, cols)?)?))
    }

    /// A matrix by columns in the memory of `mem`, a `cl_mem` of the caller: [`Buffer::from_opencl`].
    ///
    /// # Safety
    /// As [`Buffer::from_opencl`].
    ///
    /// # Errors
    /// As [`Vector::from_opencl`].
    pub unsafe fn from_opencl(context: &Context, mem: *mut c_void, rows: usize, cols: usize) -> Result<Dense<T>> {
        // SAFETY: by the contract above.
        Ok(Dense::of(rows, cols, unsafe { Vector::from_opencl(context, mem, entries(rows, cols)?)? }))
    }

    /// The `cl_mem` of the values, column by column: [`Buffer::export`].
    ///
    /// # Errors
    /// As [`Buffer::export`].
    pub fn export(&mut self) -> Result<*mut c_void> {
        self.values.export()
    }

    fn of(rows: usize, cols: usize, values: Vector<T>) -> Dense<T> {
        Dense { rows, cols, values, products: OnceCell::new(), partial: OnceCell::new(), kept: None }
    }

    /// A matrix with a copy of `array`, of any layout.
    ///
    /// # Errors
    /// As [`Dense::from_column_major`].
    #[cfg(feature = "ndarray")]
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
        self.values.len().checked_div(self.cols).unwrap_or(self.rows)
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
    ///
    /// The number of columns stays. Another vector assigned here brings its context and as many rows as it has whole ones.
    pub fn as_vector_mut(&mut self) -> &mut Vector<T> {
        if let Some(products) = self.products.take() {
            let (rows, context, partial) = (self.rows(), self.context().clone(), self.partial.take());
            self.kept = Some(PreparedProducts { rows, context, products, partial });
        }
        &mut self.values
    }

    /// What was made for products with these rows in this context.
    fn prepared_products(&self) -> Option<&PreparedProducts<T>> {
        self.kept.as_ref().filter(|kept| kept.rows == self.rows() && kept.context.same(self.context()))
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
        let n = self.rows().min(self.cols);
        let diagonal = Vector::uninit(self.context(), n)?;
        let (program, range) = (dense::Program::<T>::new(), Range::d1(n, self.context().local()));
        let to = Out::shared(diagonal.buffer());
        program.diagonal_dense(self.context(), range, n, self.rows(), self.values.buffer(), to)?;
        Ok(diagonal)
    }

    /// How its products are launched, computed before the first.
    pub(crate) fn products(&self) -> &DenseProducts<T> {
        self.products.get_or_init(|| match self.prepared_products() {
            Some(kept) => kept.products.clone(),
            None => Arc::new(DenseProducts::new(self.context(), self.rows(), self.cols)),
        })
    }

    /// Lets the next product look its launch parameters up once more.
    pub(crate) fn forget_products(&mut self) {
        self.products.take();
        self.partial.take();
        self.kept = None;
    }

    /// Memory for the sums of `parts` parts of the columns, the same number in every call; locked from the kernel that writes them
    /// to the one that reads.
    pub(crate) fn partial(&self, parts: usize) -> Result<MutexGuard<'_, Buffer<T>>> {
        let make = || match self.prepared_products().and_then(|kept| kept.partial.clone()) {
            Some(partial) => Ok(partial),
            None => Buffer::uninit(self.context(), parts * self.rows()).map(|partial| Arc::new(Mutex::new(partial))),
        };
        Ok(self.partial.get_or_try_init(make)?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The matrix as an `ndarray` array of column-major layout.
    ///
    /// # Errors
    /// Those of the transfer.
    #[cfg(feature = "ndarray")]
    pub fn to_array(&self) -> Result<Array2<T>> {
        let values = self.to_column_major()?;
        Ok(Array2::from_shape_vec((self.rows(), self.cols).f(), values).expect("rows * cols values"))
    }
}

fn entries(rows: usize, cols: usize) -> Result<usize> {
    rows.checked_mul(cols)
        .ok_or_else(|| Error::value("rows x cols", "a number of entries below 2^64", format!("{rows} x {cols}")))
}

impl<T: Scalar> sealed::Sealed for Dense<T> {}

impl<T: Scalar> Values<T> for Dense<T> {
    fn values(&self) -> &Buffer<T> {
        self.values.buffer()
    }

    fn values_mut(&mut self) -> ViewMut<'_, T> {
        self.values.buffer_mut()
    }

    fn check_same(&self, other: &Self, argument: &'static str) -> Result<()> {
        check_context(argument, self.context(), other.context())?;
        if (self.rows(), self.cols) == (other.rows(), other.cols) {
            return Ok(());
        }
        Err(Error::Shape {
            argument,
            expected: format!("{} x {}", self.rows(), self.cols),
            got: format!("{} x {}", other.rows(), other.cols),
        })
    }

    unsafe fn like_uninit(&self) -> Result<Self> {
        let values = Vector::uninit(self.context(), self.rows() * self.cols)?;
        Ok(Dense::of(self.rows(), self.cols, values))
    }
}
