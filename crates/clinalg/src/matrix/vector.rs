//! Contiguous vectors.

use std::ffi::c_void;
use std::ops::Range;

#[cfg(feature = "ndarray")]
use ndarray::{Array1, ArrayView1};

use super::{Values, check_context, sealed};
use crate::error::check_length;
use crate::{Buffer, Context, Result, Scalar, View, ViewMut};

/// A vector of `len` values in device memory.
///
/// ```
/// use clinalg::{Context, Vector, ops};
///
/// let context = Context::global()?;
/// let x = Vector::from_slice(&context, &[3.0_f64, 4.0])?;
/// assert_eq!(ops::norm2(&x)?, 5.0);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Vector<T: Scalar> {
    values: Buffer<T>,
}

impl<'a, T: Scalar> From<&'a Vector<T>> for View<'a, T> {
    fn from(vector: &'a Vector<T>) -> View<'a, T> {
        (&vector.values).into()
    }
}

impl<'a, T: Scalar> From<&'a mut Vector<T>> for ViewMut<'a, T> {
    fn from(vector: &'a mut Vector<T>) -> ViewMut<'a, T> {
        (&mut vector.values).into()
    }
}

impl<T: Scalar> Vector<T> {
    /// A vector of `len` values that are not defined, for callers that write all of them before anybody reads.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    pub(crate) fn uninit(context: &Context, len: usize) -> Result<Vector<T>> {
        context.require::<T>()?;
        Ok(Vector { values: Buffer::uninit(context, len)? })
    }

    /// A vector of `len` values that are not defined: they may be what another object held, of another process even.
    ///
    /// # Safety
    /// All values are written before any is read.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    pub unsafe fn uninit_unchecked(context: &Context, len: usize) -> Result<Vector<T>> {
        Vector::uninit(context, len)
    }

    /// A vector of `len` zeros.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), and [`Error::NoFp64`](crate::Error::NoFp64)
    /// for `f64` on a device without it.
    pub fn zeros(context: &Context, len: usize) -> Result<Vector<T>> {
        Vector::filled(context, len, T::zero())
    }

    /// A vector of `len` times `value`.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    pub fn filled(context: &Context, len: usize, value: T) -> Result<Vector<T>> {
        let mut vector = Vector::uninit(context, len)?;
        vector.values.fill(value)?;
        Ok(vector)
    }

    /// A vector with a copy of `values`.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    pub fn from_slice(context: &Context, values: &[T]) -> Result<Vector<T>> {
        context.require::<T>()?;
        Ok(Vector { values: Buffer::from_slice(context, values)? })
    }

    /// A vector with a copy of `array`, of any stride.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    #[cfg(feature = "ndarray")]
    pub fn from_array(context: &Context, array: &ArrayView1<'_, T>) -> Result<Vector<T>> {
        match array.as_slice() {
            Some(values) => Vector::from_slice(context, values),
            None => Vector::from_slice(context, &array.to_vec()),
        }
    }

    /// A vector with a copy of `view`, made on the device.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    pub fn from_view(view: View<'_, T>) -> Result<Vector<T>> {
        let mut vector = Vector::uninit(view.context(), view.len())?;
        vector.values.copy_from(view)?;
        Ok(vector)
    }

    /// A vector of `len` values in the memory of `mem`, a `cl_mem` of the caller: [`Buffer::from_opencl`].
    ///
    /// # Safety
    /// As [`Buffer::from_opencl`].
    ///
    /// # Errors
    /// As [`Buffer::from_opencl`]; [`Error::NoFp64`](crate::Error::NoFp64).
    pub unsafe fn from_opencl(context: &Context, mem: *mut c_void, len: usize) -> Result<Vector<T>> {
        context.require::<T>()?;
        // SAFETY: by the contract above.
        Ok(Vector { values: unsafe { Buffer::from_opencl(context, mem, len)? } })
    }

    /// The `cl_mem` of the values: [`Buffer::export`].
    ///
    /// # Errors
    /// As [`Buffer::export`].
    pub fn export(&mut self) -> Result<*mut c_void> {
        self.values.export()
    }

    pub(crate) fn from_buffer(values: Buffer<T>) -> Vector<T> {
        Vector { values }
    }

    pub(crate) fn into_buffer(self) -> Buffer<T> {
        self.values
    }

    /// Calls `f` with the real and imaginary parts, one after the other, as a vector of the same memory; with the values themselves for a real
    /// type.
    pub(crate) fn with_parts<R>(&self, f: impl FnOnce(&Vector<T::Real>) -> R) -> R {
        // SAFETY: `self` lives until `f` is done, which has a reference only.
        f(&Vector { values: unsafe { self.values.parts() } })
    }

    /// As [`with_parts`](Self::with_parts), to be written.
    pub(crate) fn with_parts_mut<R>(&mut self, f: impl FnOnce(&mut Vector<T::Real>) -> R) -> R {
        // SAFETY: as above; `f` does not exchange the vector for another.
        f(&mut Vector { values: unsafe { self.values.parts() } })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The context the vector lives in.
    pub fn context(&self) -> &Context {
        self.values.context()
    }

    /// The device memory.
    pub fn buffer(&self) -> &Buffer<T> {
        &self.values
    }

    /// The device memory, to be written.
    pub fn buffer_mut(&mut self) -> ViewMut<'_, T> {
        (&mut self.values).into()
    }

    /// The values of `range`, to be read.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when the range leaves the vector.
    pub fn slice(&self, range: Range<usize>) -> Result<View<'_, T>> {
        self.values.slice(range)
    }

    /// The values of `range`, to be written.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when the range leaves the vector.
    pub fn slice_mut(&mut self, range: Range<usize>) -> Result<ViewMut<'_, T>> {
        self.values.slice_mut(range)
    }

    /// All values, copied to the host.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.values.to_vec()
    }

    /// All values as an `ndarray` array.
    ///
    /// # Errors
    /// Those of the transfer.
    #[cfg(feature = "ndarray")]
    pub fn to_array(&self) -> Result<Array1<T>> {
        Ok(Array1::from_vec(self.to_vec()?))
    }

    /// Copies all values to `target`, of the same length.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for another length.
    pub fn read(&self, target: &mut [T]) -> Result<()> {
        self.values.read(target)
    }

    /// Replaces all values by `values`, of the same length.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for another length.
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        self.values.write(values)
    }

    /// Sets every value to `value`.
    ///
    /// # Errors
    /// Those of the enqueue.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.values.fill(value)
    }

    /// Copies `source`, of the same length, on the device.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context).
    pub fn copy_from(&mut self, source: &Vector<T>) -> Result<()> {
        self.values.copy_from(&source.values)
    }

    /// A new vector with the values of `range`.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when the range leaves the vector.
    pub fn copy_range(&self, range: Range<usize>) -> Result<Vector<T>> {
        Vector::from_view(self.slice(range)?)
    }

    /// Replaces the values from `offset` on by those of `source`.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when they do not fit.
    pub fn write_slice(&mut self, offset: usize, source: &Vector<T>) -> Result<()> {
        self.values.copy_range(offset, &source.values, 0..source.len())
    }
}

impl<T: Scalar> sealed::Sealed for Vector<T> {}

impl<T: Scalar> Values<T> for Vector<T> {
    fn values(&self) -> &Buffer<T> {
        &self.values
    }

    fn values_mut(&mut self) -> ViewMut<'_, T> {
        self.buffer_mut()
    }

    fn check_same(&self, other: &Self, argument: &'static str) -> Result<()> {
        check_context(argument, self.context(), other.context())?;
        check_length(argument, self.len(), other.len())
    }

    unsafe fn like_uninit(&self) -> Result<Self> {
        Vector::uninit(self.context(), self.len())
    }
}
