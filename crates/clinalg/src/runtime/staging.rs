//! Pinned host memory, and transfers through it that the host does not wait for.
//!
//! No buffer is shared between devices: what travels goes through the host. From pinned memory a GPU reads and writes at
//! the full speed of its bus, beside its kernels (2 NVIDIA H200: 55 GB/s in each direction, 21 microseconds for 64 KB).

use std::fmt;
use std::marker::PhantomData;
use std::ptr::{NonNull, null, null_mut};

use ocl::ffi;

use super::context::Context;
use super::event::Event;
use super::raw::Raw;
use super::status::SUCCESS;
use super::view::{View, ViewMut};
use super::{fork, host};
use crate::Element;
use crate::error::check_length;
use crate::{Error, Result};

/// Pinned host memory of a context that transfers go through; grows on demand and is used again.
///
/// One transfer uses it at a time: the next one waits for the last. Two of them let one be filled while the other travels.
///
/// ```
/// use clinalg::runtime::Staging;
/// use clinalg::{Buffer, Context};
///
/// let context = Context::global()?;
/// let buffer = Buffer::from_slice(&context, &[1.0_f64, 2.0, 3.0])?;
/// let mut staging = Staging::new(&context);
/// buffer.slice(1..3)?.read_async(&mut staging)?.finish()?;
/// // Kernels that are enqueued here run after the transfer; the host waits for it only now.
/// assert_eq!(staging.values()?, [2.0, 3.0]);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Staging<T: Element> {
    context: Context,
    memory: Option<Pinned>,
    /// Values of the last transfer.
    len: usize,
    pending: Option<Event>,
    values: PhantomData<T>,
}

/// The values as bytes.
pub(crate) fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: elements are plain values without padding, whose memory is initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The values as bytes that may be written.
pub(crate) fn bytes_of_mut<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and all bit patterns are values.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// Mapped memory.
struct Pinned {
    mem: Raw,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is owned, and OpenCL objects may be used from any thread.
unsafe impl<T: Element> Send for Staging<T> {}
// SAFETY: shared references do not reach the memory.
unsafe impl<T: Element> Sync for Staging<T> {}

impl<T: Element> fmt::Debug for Staging<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Staging").field("len", &self.len).field("device", &self.context.device().name).finish()
    }
}

impl<T: Element> Staging<T> {
    /// No memory yet; the first transfer takes what it needs.
    pub fn new(context: &Context) -> Staging<T> {
        Staging { context: context.clone(), memory: None, len: 0, pending: None, values: PhantomData }
    }

    /// Number of values of the last transfer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Waits for the last transfer and gives its values.
    ///
    /// # Errors
    /// What the device reports of the transfer and the work it waited for.
    pub fn values(&mut self) -> Result<&[T]> {
        self.wait()?;
        let Some(memory) = &self.memory else { return Ok(&[]) };
        // SAFETY: the memory holds `len` values, all bit patterns are values, and no transfer uses it now.
        Ok(unsafe { std::slice::from_raw_parts(memory.start.cast().as_ptr(), self.len) })
    }

    /// Waits for the last transfer and replaces the values by `values`, for [`ViewMut::write_async`].
    ///
    /// # Errors
    /// As [`Staging::values`]; [`Error::Allocation`].
    pub fn set(&mut self, values: &[T]) -> Result<()> {
        self.reserve(values.len())?;
        if let Some(memory) = &self.memory {
            // SAFETY: there is room for all values, and no transfer uses the memory now.
            unsafe {
                memory.start.cast::<T>().as_ptr().copy_from_nonoverlapping(values.as_ptr(), values.len());
            }
        }
        Ok(())
    }

    /// The values of the last transfer as bytes; otherwise as [`Staging::values`].
    pub(crate) fn bytes(&mut self) -> Result<&[u8]> {
        self.values().map(bytes_of)
    }

    /// Waits for the last transfer and makes room for `len` values, to be written as bytes before [`ViewMut::write_async`].
    ///
    /// # Errors
    /// As [`Staging::set`].
    pub(crate) fn bytes_mut(&mut self, len: usize) -> Result<&mut [u8]> {
        self.reserve(len)?;
        let Some(memory) = &self.memory else { return Ok(&mut []) };
        // SAFETY: the memory has room for `len` values, was initialised when it was made, and no transfer uses it now; all bit
        // patterns are values.
        Ok(unsafe { std::slice::from_raw_parts_mut(memory.start.as_ptr(), len * size_of::<T>()) })
    }

    fn wait(&mut self) -> Result<()> {
        self.pending.take().map_or(Ok(()), |event| event.wait())
    }

    /// Room for `len` values, which no transfer uses.
    fn reserve(&mut self, len: usize) -> Result<()> {
        self.wait()?;
        self.len = 0;
        let bytes = len.saturating_mul(size_of::<T>());
        if self.memory.as_ref().map_or(0, |memory| memory.bytes) < bytes {
            self.release();
            self.memory = Some(Pinned::new(&self.context, bytes)?);
        }
        self.len = len;
        Ok(())
    }

    fn release(&mut self) {
        if let Some(memory) = self.memory.take() {
            memory.release(&self.context);
        }
    }

    /// Where the values of the last transfer lie.
    fn start(&self) -> *mut u8 {
        self.memory.as_ref().map_or(null_mut(), |memory| memory.start.as_ptr())
    }
}

impl<T: Element> Drop for Staging<T> {
    fn drop(&mut self) {
        // What fails uses the memory no more.
        let _ = self.wait();
        self.release();
    }
}

impl Pinned {
    fn new(context: &Context, bytes: usize) -> Result<Pinned> {
        fork::check()?;
        let refuse = |error| match error {
            Error::Allocation { device, limit, .. } => Error::Allocation { bytes: bytes as u64, device, limit },
            other => other,
        };
        let queue = context.transfer_queue()?;
        if !host::has_room(bytes) {
            let limit = "the process has no address space left for it".into();
            return Err(Error::Allocation { bytes: bytes as u64, device: "host".into(), limit });
        }
        let mut code = SUCCESS;
        let flags = ffi::CL_MEM_READ_WRITE | ffi::CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: no host memory is passed.
        let mem = unsafe { ffi::clCreateBuffer(context.raw().0, flags, bytes, null_mut(), &mut code) };
        context.check("clCreateBuffer", code).map_err(refuse)?;
        // SAFETY: the buffer has `bytes` bytes and the call blocks until they are mapped.
        let start = unsafe {
            let flags = ffi::CL_MAP_READ | ffi::CL_MAP_WRITE;
            ffi::clEnqueueMapBuffer(queue.raw(), mem, 1, flags, 0, bytes, 0, null(), null_mut(), &mut code)
        };
        let Some(start) = NonNull::new(start.cast::<u8>()).filter(|_| code == SUCCESS) else {
            // SAFETY: the buffer is released once, here.
            unsafe { ffi::clReleaseMemObject(mem) };
            let code = if code == SUCCESS { super::status::MAP_FAILURE } else { code };
            return Err(context.check("clEnqueueMapBuffer", code).map_err(refuse).expect_err("the code is an error"));
        };
        // SAFETY: the mapped memory has `bytes` bytes. Nobody is to see what it held before.
        unsafe { start.write_bytes(0, bytes) };
        Ok(Pinned { mem: Raw(mem), start, bytes })
    }

    fn release(self, context: &Context) {
        if fork::is_child() {
            return;
        }
        if let Ok(queue) = context.transfer_queue() {
            // SAFETY: the mapping is ended once.
            unsafe {
                ffi::clEnqueueUnmapMemObject(queue.raw(), self.mem.0, self.start.as_ptr().cast(), 0, null(), null_mut())
            };
        }
        // SAFETY: released once; the queue keeps what it still needs.
        unsafe { ffi::clReleaseMemObject(self.mem.0) };
    }
}

/// A transfer under way, which keeps the values on the device borrowed.
///
/// Dropping it does what [`Transfer::finish`] does.
#[must_use = "values stay borrowed until the transfer is finished or dropped"]
#[derive(Debug)]
pub struct Transfer<'a> {
    event: Event,
    /// In the context of the values.
    context: Context,
    ordered: bool,
    values: PhantomData<&'a ()>,
}

impl Transfer<'_> {
    fn new(event: Event, context: &Context) -> Transfer<'static> {
        Transfer { event, context: context.clone(), ordered: false, values: PhantomData }
    }

    /// When the transfer is done.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Lets kernels that are enqueued from now on run after the transfer; the host does not wait.
    ///
    /// # Errors
    /// Those of the enqueue.
    pub fn finish(mut self) -> Result<()> {
        self.order()
    }

    fn order(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.ordered, true) {
            self.context.queue().wait_for(&self.event)?;
        }
        Ok(())
    }
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        if self.order().is_err() {
            // Without a barrier the host has to wait; a transfer that failed is over as well.
            let _ = self.event.wait();
        }
    }
}

impl<'a, T: Element> View<'a, T> {
    /// Copies all values to `staging`, after what is enqueued for kernels so far and beside what is enqueued later; the host
    /// does not wait, except for the last transfer of `staging`.
    ///
    /// # Errors
    /// [`Error::Context`] for memory of another context; [`Error::Allocation`]; those of the enqueue.
    pub fn read_async(&self, staging: &mut Staging<T>) -> Result<Transfer<'a>> {
        let context = self.context();
        if !staging.context.same(context) {
            return Err(Error::Context { argument: "staging" });
        }
        staging.reserve(self.len())?;
        let mut event = context.queue().mark()?;
        if !self.is_empty() {
            let (mem, offset, bytes) = self.raw();
            let queue = context.transfer_queue()?;
            // SAFETY: both memories hold `bytes`; the staging memory is not touched before the event, and the view's is
            // borrowed or kept by the driver.
            event = unsafe { queue.read_after(Some(&event), (mem, offset, bytes), staging.start().cast(), context)? };
        }
        staging.pending = Some(event.clone());
        Ok(Transfer::new(event, context))
    }

    /// [`View::read_async`] between the kernels before and after: for transfers with nothing to do beside them, which two queues that
    /// wait for each other would hold up (20 microseconds each way on an H200).
    pub(crate) fn read_in_order(&self, staging: &mut Staging<T>) -> Result<()> {
        let context = self.context();
        if !staging.context.same(context) {
            return Err(Error::Context { argument: "staging" });
        }
        staging.reserve(self.len())?;
        if !self.is_empty() {
            // SAFETY: both memories hold as many bytes; the staging memory is not touched before the event.
            let read =
                unsafe { context.queue().inner().read_after(None, self.raw(), staging.start().cast(), context)? };
            staging.pending = Some(read);
        }
        Ok(())
    }

    /// As [`View::read_async`], but starts after `ready`, an event of the same context. Nothing may write the values until `staging` has them.
    pub(crate) fn read_beside(&self, ready: &Event, staging: &mut Staging<T>) -> Result<()> {
        let context = self.context();
        if !staging.context.same(context) {
            return Err(Error::Context { argument: "staging" });
        }
        staging.reserve(self.len())?;
        if !self.is_empty() {
            let queue = context.transfer_queue()?;
            // SAFETY: both memories hold as many bytes; the staging memory is not touched before the event, and the driver keeps
            // that of the device.
            let read = unsafe { queue.read_after(Some(ready), self.raw(), staging.start().cast(), context)? };
            staging.pending = Some(read);
        }
        Ok(())
    }
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// Replaces all values by those of `staging`, after what is enqueued for kernels so far and beside what is enqueued
    /// later; the host does not wait.
    ///
    /// # Errors
    /// [`Error::Length`] unless `staging` holds as many values; [`Error::Context`] for memory of another context; those of
    /// the enqueue.
    pub fn write_async(self, staging: &mut Staging<T>) -> Result<Transfer<'a>> {
        if !staging.context.same(self.context()) {
            return Err(Error::Context { argument: "staging" });
        }
        let last = staging.pending.take();
        self.write_after(last, staging)
    }

    /// Replaces all values by those of `staging`, of any context, between the kernels before and after; the host waits for the last
    /// transfer of `staging` first.
    pub(crate) fn write_in_order(self, staging: &mut Staging<T>) -> Result<()> {
        check_length("staging", self.len(), staging.len)?;
        staging.wait()?;
        if !self.is_empty() {
            let context = self.context();
            let raw = self.as_view().raw();
            // SAFETY: both memories hold as many bytes; the staging memory is not touched before the event.
            let written = unsafe { context.queue().inner().write_after(None, raw, staging.start().cast(), context)? };
            staging.pending = Some(written);
        }
        Ok(())
    }

    /// Replaces all values by those of `staging`, of any context. The transfer starts after `ready`, an event of the view's context, and runs
    /// concurrently with kernels; kernels that use the values must wait for the returned event. The host first waits for the last transfer of
    /// `staging`.
    pub(crate) fn write_beside(self, ready: &Event, staging: &mut Staging<T>) -> Result<Event> {
        check_length("staging", self.len(), staging.len)?;
        staging.wait()?;
        if self.is_empty() {
            return Ok(ready.clone());
        }
        let context = self.context();
        let queue = context.transfer_queue()?;
        // SAFETY: both memories hold as many bytes; the staging memory is not touched before the event, and the driver keeps that of
        // the device.
        let written = unsafe { queue.write_after(Some(ready), self.as_view().raw(), staging.start().cast(), context)? };
        staging.pending = Some(written.clone());
        Ok(written)
    }

    /// Copies `source`, of the same length and of any context, through `staging` of the source's context; the host does
    /// not wait, except for the last transfer of `staging`.
    ///
    /// ```
    /// use clinalg::runtime::{Staging, devices};
    /// use clinalg::{Buffer, Context, ContextOptions};
    ///
    /// let all = devices()?;
    /// let here = Context::new(&all[0], &ContextOptions::default())?;
    /// let there = Context::new(&all[all.len() - 1], &ContextOptions::default())?;
    /// let x = Buffer::from_slice(&here, &[1.0_f64, 2.0, 3.0])?;
    /// let mut y = Buffer::<f64>::zeroed(&there, 3)?;
    /// let mut staging = Staging::new(&here);
    /// let (read, written) = y.slice_mut(0..3)?.copy_across(x.slice(0..3)?, &mut staging)?;
    /// read.finish()?;
    /// written.finish()?;
    /// assert_eq!(y.to_vec()?, [1.0, 2.0, 3.0]);
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] for another length; [`Error::Context`] for `staging` of another context than the source's;
    /// [`Error::Allocation`]; those of the enqueue.
    pub fn copy_across<'s>(
        self,
        source: View<'s, T>,
        staging: &mut Staging<T>,
    ) -> Result<(Transfer<'s>, Transfer<'a>)> {
        check_length("source", self.len(), source.len())?;
        let read = source.read_async(staging)?;
        let seen = read.event().seen_from(self.context())?;
        let written = self.write_after(Some(seen), staging)?;
        Ok((read, written))
    }

    /// Writes the values of `staging` after `event` of the view's context.
    fn write_after(self, event: Option<Event>, staging: &mut Staging<T>) -> Result<Transfer<'a>> {
        check_length("staging", self.len(), staging.len)?;
        let context = self.context().clone();
        let ready = context.queue().mark()?;
        let mut done = ready.clone();
        if !self.is_empty() {
            let queue = context.transfer_queue()?;
            if let Some(event) = event {
                queue.wait_in(&context, &event)?;
            }
            let (mem, offset, bytes) = self.as_view().raw();
            // SAFETY: both memories hold `bytes`; the staging memory is not touched before the event, and the view's is
            // borrowed or kept by the driver.
            done = unsafe { queue.write_after(Some(&ready), (mem, offset, bytes), staging.start().cast(), &context)? };
        }
        staging.pending = Some(done.clone());
        Ok(Transfer::new(done, &context))
    }
}
