//! Borrowed parts of buffers.

use std::ffi::c_void;
use std::fmt;
use std::ops::Range;

use super::buffer::{Buffer, check_inside, check_part};
use super::context::Context;
use crate::Element;
use crate::Result;
use crate::error::check_length;

/// Consecutive values of a buffer, to be read.
///
/// ```
/// use clinalg::{Buffer, Context};
///
/// let context = Context::global()?;
/// let buffer = Buffer::from_slice(&context, &[1, 2, 3, 4_u32])?;
/// assert_eq!(buffer.slice(1..3)?.to_vec()?, [2, 3]);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct View<'a, T: Element> {
    buffer: &'a Buffer<T>,
    offset: usize,
    len: usize,
}

/// Consecutive values of a buffer, to be written.
///
/// The buffer behind it cannot be replaced, so that its length and context stay what they are.
pub struct ViewMut<'a, T: Element> {
    buffer: &'a mut Buffer<T>,
    offset: usize,
    len: usize,
}

impl<T: Element> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View").field("offset", &self.offset).field("len", &self.len).finish()
    }
}

impl<T: Element> fmt::Debug for ViewMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewMut").field("offset", &self.offset).field("len", &self.len).finish()
    }
}

impl<'a, T: Element> From<&'a Buffer<T>> for View<'a, T> {
    fn from(buffer: &'a Buffer<T>) -> View<'a, T> {
        View { buffer, offset: 0, len: buffer.len() }
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for ViewMut<'a, T> {
    fn from(buffer: &'a mut Buffer<T>) -> ViewMut<'a, T> {
        let len = buffer.len();
        ViewMut { buffer, offset: 0, len }
    }
}

impl<'a, T: Element> View<'a, T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The context the values live in.
    pub fn context(&self) -> &'a Context {
        self.buffer.context()
    }

    /// The values of `range`, counted from the start of this view.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when the range leaves the view.
    pub fn slice(self, range: Range<usize>) -> Result<View<'a, T>> {
        check_inside(&range, self.len)?;
        Ok(View { offset: self.offset + range.start, len: range.len(), ..self })
    }

    /// All values, copied to the host.
    ///
    /// # Errors
    /// Those of the transfer; [`Error::Value`](crate::Error::Value) for more than the host's memory holds.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.buffer.to_vec_range(self.offset, self.len)
    }

    /// Copies all values to `target`, of the same length.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for another length.
    pub fn read(&self, target: &mut [T]) -> Result<()> {
        check_length("target", self.len, target.len())?;
        self.buffer.read_range(self.offset, target)
    }

    /// Copies the values from `offset` on to `target`.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when the range leaves the view.
    pub fn read_range(&self, offset: usize, target: &mut [T]) -> Result<()> {
        check_part("offset", offset, target.len(), self.len)?;
        self.buffer.read_range(self.offset + offset, target)
    }

    /// The memory, and where the values begin and how many bytes they are.
    pub(super) fn raw(&self) -> (*mut c_void, usize, usize) {
        (self.buffer.raw(), self.offset * size_of::<T>(), self.len * size_of::<T>())
    }

    /// The buffer and the place of the values in it.
    pub(crate) fn place(&self) -> (&'a Buffer<T>, usize) {
        (self.buffer, self.offset)
    }
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The context the values live in.
    pub fn context(&self) -> &Context {
        self.buffer.context()
    }

    /// The same values, to be read.
    pub fn as_view(&self) -> View<'_, T> {
        View { buffer: self.buffer, offset: self.offset, len: self.len }
    }

    /// The same view for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        ViewMut { buffer: self.buffer, offset: self.offset, len: self.len }
    }

    /// The values of `range`, counted from the start of this view.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when the range leaves the view.
    pub fn slice(self, range: Range<usize>) -> Result<ViewMut<'a, T>> {
        check_inside(&range, self.len)?;
        Ok(ViewMut { offset: self.offset + range.start, len: range.len(), ..self })
    }

    /// Replaces all values by `values`, of the same length.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for another length.
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        check_length("values", self.len, values.len())?;
        self.buffer.write_range(self.offset, values)
    }

    /// Replaces the values from `offset` on.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when the range leaves the view.
    pub fn write_range(&mut self, offset: usize, values: &[T]) -> Result<()> {
        check_part("offset", offset, values.len(), self.len)?;
        self.buffer.write_range(self.offset + offset, values)
    }

    /// Copies all of `source`, of the same length, on the device.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) for another length, [`Error::Context`](crate::Error::Context) for another
    /// context.
    pub fn copy_from<'s>(&mut self, source: impl Into<View<'s, T>>) -> Result<()> {
        let source = source.into();
        check_length("source", self.len, source.len())?;
        self.copy_range(0, source, 0..source.len())
    }

    /// Copies `range` of `source` to the values from `offset` on, on the device.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) when a range leaves its view, [`Error::Context`](crate::Error::Context) for
    /// another context.
    pub fn copy_range<'s>(&mut self, offset: usize, source: impl Into<View<'s, T>>, range: Range<usize>) -> Result<()> {
        let source = source.into().slice(range)?;
        check_part("offset", offset, source.len(), self.len)?;
        self.buffer.copy_view(self.offset + offset, source)
    }

    /// Sets every value to `value`.
    ///
    /// # Errors
    /// Those of the enqueue.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.buffer.fill_range(self.offset, self.len, value)
    }

    /// The buffer behind the view, to be read.
    pub(crate) fn buffer(&self) -> &Buffer<T> {
        self.buffer
    }
}
