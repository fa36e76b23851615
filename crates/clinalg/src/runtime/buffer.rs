//! Typed device memory.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::context::Context;
use super::host;
use super::interop;
use super::kernels::vector;
use super::launch::{self, Arg, In, Mem, Out};
use super::memory::Allocation;
use super::view::{View, ViewMut};
use crate::error::check_length;
use crate::{Element, Error, Result, Scalar};

/// Most bytes that the driver's own fill is trusted with (see [`faults`](super::faults)).
const FILL_BYTES: usize = 1 << 30;
/// Values of the block that is copied to parts of a buffer at far offsets.
const FILL_BLOCK: usize = 1 << 20;

/// A fixed number of values in the memory of one device.
///
/// Transfers block until the host memory may be used again; their lengths are checked. The bytes
/// are counted in [`Context::memory`] until the buffer is dropped.
pub struct Buffer<T: Element> {
    context: Context,
    mem: *mut c_void,
    len: usize,
    bytes: u64,
    owner: Owner,
    values: PhantomData<T>,
}

/// Where the memory of a buffer goes when it is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// To the driver.
    Driver,
    /// To the pool, for later buffers.
    Pool,
    /// To the driver; a caller may hold it.
    Exported,
    /// Back to the caller, whose it is.
    Caller,
    /// Nowhere: it is that of another buffer.
    Borrowed,
}

// SAFETY: OpenCL memory objects may be used from any thread (OpenCL 1.2, appendix A.2).
unsafe impl<T: Element> Send for Buffer<T> {}
// SAFETY: as above; the device's queue orders concurrent use.
unsafe impl<T: Element> Sync for Buffer<T> {}

impl<T: Element> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("len", &self.len).field("device", &self.context.device().name).finish()
    }
}

impl<T: Element> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.owner == Owner::Borrowed {
            return;
        }
        if matches!(self.owner, Owner::Exported | Owner::Caller) {
            interop::forget(&self.context, self.mem);
        }
        self.context.release_mem(self.mem, self.bytes, self.owner == Owner::Pool);
    }
}

impl<T: Element> Buffer<T> {
    /// A buffer of `len` values in memory of the caller, which was retained and counted.
    pub(super) fn imported(context: &Context, mem: *mut c_void, len: usize) -> Buffer<T> {
        Buffer { context: context.clone(), mem, len, bytes: 0, owner: Owner::Caller, values: PhantomData }
    }

    /// Lets no other buffer have the memory later, as a caller holds it; whether it is the first time.
    pub(super) fn leave_pool(&mut self) -> bool {
        let first = matches!(self.owner, Owner::Driver | Owner::Pool);
        if first {
            self.owner = Owner::Exported;
        }
        first
    }

    /// A buffer of `len` values whose content is not defined, for callers that write all of it before anybody reads.
    ///
    /// # Errors
    /// As [`Buffer::zeroed`].
    pub(crate) fn uninit(context: &Context, len: usize) -> Result<Buffer<T>> {
        // Whole words, which a fill by kernel writes.
        let bytes = (len.max(1) as u64).saturating_mul(size_of::<T>() as u64).div_ceil(4).saturating_mul(4);
        let Allocation { mem, bytes, kept } = context.create_mem(bytes)?;
        let owner = if kept { Owner::Pool } else { Owner::Driver };
        Ok(Buffer { context: context.clone(), mem, len, bytes, owner, values: PhantomData })
    }

    /// A buffer of `len` values whose content is not defined: it may be what another buffer held, of another process even.
    ///
    /// # Safety
    /// All values are written before any is read.
    ///
    /// # Errors
    /// As [`Buffer::zeroed`].
    pub unsafe fn uninit_unchecked(context: &Context, len: usize) -> Result<Buffer<T>> {
        Buffer::uninit(context, len)
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    /// [`Error::Allocation`] when the device cannot hold it.
    pub fn zeroed(context: &Context, len: usize) -> Result<Buffer<T>> {
        let mut buffer = Buffer::uninit(context, len)?;
        buffer.fill(T::default())?;
        Ok(buffer)
    }

    /// A buffer with a copy of `values`.
    ///
    /// # Errors
    /// As [`Buffer::zeroed`].
    pub fn from_slice(context: &Context, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = Buffer::uninit(context, values.len())?;
        buffer.write(values)?;
        Ok(buffer)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The context the buffer lives in.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The values of `range`, to be read.
    ///
    /// # Errors
    /// [`Error::Value`] when the range leaves the buffer.
    pub fn slice(&self, range: Range<usize>) -> Result<View<'_, T>> {
        View::from(self).slice(range)
    }

    /// The values of `range`, to be written.
    ///
    /// # Errors
    /// [`Error::Value`] when the range leaves the buffer.
    pub fn slice_mut(&mut self, range: Range<usize>) -> Result<ViewMut<'_, T>> {
        ViewMut::from(self).slice(range)
    }

    /// All values, copied to the host.
    ///
    /// # Errors
    /// Those of the transfer; [`Error::Value`] for more than the host's memory holds.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.to_vec_range(0, self.len)
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.mem
    }

    /// `len` values from `offset` on, which the caller has checked.
    pub(super) fn to_vec_range(&self, offset: usize, len: usize) -> Result<Vec<T>> {
        let mut values = host::reserved::<T>(len)?;
        if len > 0 {
            let size = size_of::<T>();
            self.context.command_queue().read(self.mem, offset * size, len * size, values.as_mut_ptr().cast())?;
            // SAFETY: there is room for `len` values, the transfer wrote all of them, and every bit pattern is a value.
            unsafe { values.set_len(len) };
        }
        Ok(values)
    }

    /// Copies all values to `target`, of the same length.
    ///
    /// # Errors
    /// [`Error::Length`] for another length.
    pub fn read(&self, target: &mut [T]) -> Result<()> {
        check_length("target", self.len, target.len())?;
        self.read_range(0, target)
    }

    /// Copies the values from `offset` on to `target`.
    ///
    /// # Errors
    /// [`Error::Value`] when the range leaves the buffer.
    pub fn read_range(&self, offset: usize, target: &mut [T]) -> Result<()> {
        check_part("offset", offset, target.len(), self.len)?;
        if target.is_empty() {
            return Ok(());
        }
        let bytes = size_of_val(target);
        self.context.command_queue().read(self.mem, offset * size_of::<T>(), bytes, target.as_mut_ptr().cast())
    }

    /// Replaces all values by `values`, of the same length.
    ///
    /// # Errors
    /// [`Error::Length`] for another length.
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        check_length("values", self.len, values.len())?;
        self.write_range(0, values)
    }

    /// Replaces the values from `offset` on.
    ///
    /// # Errors
    /// [`Error::Value`] when the range leaves the buffer.
    pub fn write_range(&mut self, offset: usize, values: &[T]) -> Result<()> {
        check_part("offset", offset, values.len(), self.len)?;
        if values.is_empty() {
            return Ok(());
        }
        let bytes = size_of_val(values);
        self.context.command_queue().write(self.mem, offset * size_of::<T>(), bytes, values.as_ptr().cast())
    }

    /// Copies all of `source`, of the same length, on the device.
    ///
    /// # Errors
    /// [`Error::Length`] for another length, [`Error::Context`] for another context.
    pub fn copy_from<'s>(&mut self, source: impl Into<View<'s, T>>) -> Result<()> {
        ViewMut::from(self).copy_from(source)
    }

    /// Copies `range` of `source` to the values from `offset` on, on the device.
    ///
    /// # Errors
    /// [`Error::Value`] when a range leaves its buffer, [`Error::Context`] for another context.
    pub fn copy_range<'s>(&mut self, offset: usize, source: impl Into<View<'s, T>>, range: Range<usize>) -> Result<()> {
        ViewMut::from(self).copy_range(offset, source, range)
    }

    /// Copies `source`, which fits behind `offset`.
    pub(super) fn copy_view(&mut self, offset: usize, source: View<'_, T>) -> Result<()> {
        let (from, start) = source.place();
        if !self.context.same(&from.context) {
            return Err(Error::Context { argument: "source" });
        }
        if source.is_empty() {
            return Ok(());
        }
        let size = size_of::<T>();
        self.context.command_queue().copy(from.mem, start * size, self.mem, offset * size, source.len() * size)
    }

    /// Sets every value to `value`.
    ///
    /// # Errors
    /// Those of the enqueue.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.fill_range(0, self.len, value)
    }

    /// Sets `len` values from `offset` on, which the caller has checked.
    pub(super) fn fill_range(&mut self, offset: usize, len: usize, value: T) -> Result<()> {
        let size = size_of::<T>();
        let pattern = std::ptr::from_ref(&value).cast();
        if len == 0 {
            return Ok(());
        }
        if (offset + len) * size <= FILL_BYTES {
            return self.context.command_queue().fill(self.mem, pattern, size, offset * size, len * size);
        }
        // The kernel writes whole words, which memory of a caller need not end with.
        if len == self.len && (self.owner != Owner::Caller || (len * size).is_multiple_of(4)) {
            return self.fill_by_kernel(value);
        }
        let mut block = Buffer::uninit(&self.context, len.min(FILL_BLOCK))?;
        block.fill(value)?;
        for start in (0..len).step_by(FILL_BLOCK) {
            let count = FILL_BLOCK.min(len - start);
            self.copy_view(offset + start, block.slice(0..count)?)?;
        }
        Ok(())
    }

    fn fill_by_kernel(&mut self, value: T) -> Result<()> {
        let count = (self.len * size_of::<T>()).div_ceil(4);
        let [w0, w1, w2, w3] = value.words();
        let range = launch::Range::d1(count, self.context.local());
        let out = Out::shared(self).cast::<u32>();
        vector::Program::<f32>::new().fill_words(&self.context, range, count, w0, w1, w2, w3, out)
    }

    /// The real and imaginary parts, one after the other, as a buffer of the same memory; the values themselves for a real type.
    ///
    /// # Safety
    /// It is used only while `self` lives.
    pub(crate) unsafe fn parts(&self) -> Buffer<T::Real>
    where
        T: Scalar,
    {
        let (context, mem, len) = (self.context.clone(), self.mem, self.len * T::COMPONENTS);
        Buffer { context, mem, len, bytes: 0, owner: Owner::Borrowed, values: PhantomData }
    }

    /// `len` values from `offset` on as a buffer of their own, to watch what is written around them.
    #[cfg(test)]
    pub(crate) fn part(&self, offset: usize, len: usize) -> Result<Buffer<T>> {
        check_inside(&(offset..offset + len), self.len)?;
        let mem = self.context.part_of_mem(self.mem, offset * size_of::<T>(), len * size_of::<T>())?;
        Ok(Buffer { context: self.context.clone(), mem, len, bytes: 0, owner: Owner::Driver, values: PhantomData })
    }

    /// Whether both are the same memory.
    pub(crate) fn same(&self, other: &Buffer<T>) -> bool {
        self.mem == other.mem
    }

    /// The memory as an argument of a kernel; valid while the buffer lives.
    pub fn arg(&self) -> Arg {
        Arg::Mem(Mem(self.mem))
    }
}

/// An error unless `range` is a part of `len` values; a range that runs backwards is none.
pub(super) fn check_inside(range: &Range<usize>, len: usize) -> Result<()> {
    if range.start <= range.end && range.end <= len {
        return Ok(());
    }
    Err(Error::value("range", format!("a range inside 0..{len}"), format!("{}..{}", range.start, range.end)))
}

/// An error unless `count` values from `offset` on are a part of `len` values.
pub(super) fn check_part(argument: &'static str, offset: usize, count: usize, len: usize) -> Result<()> {
    match offset.checked_add(count) {
        Some(end) if end <= len => Ok(()),
        _ => Err(Error::value(
            argument,
            format!("a range inside the {len} values"),
            format!("{count} values from {offset} on"),
        )),
    }
}

/// Values of the host for kernels to read: where they lie, if the device shares the host's memory, or else a copy.
pub(crate) enum HostValues<'a, T: Element> {
    Shared(Shared<'a, T>),
    Copied(Buffer<T>),
}

impl<'a, T: Element> HostValues<'a, T> {
    /// # Errors
    /// As [`Buffer::from_slice`].
    pub(crate) fn new(context: &Context, values: &'a [T]) -> Result<HostValues<'a, T>> {
        // Rust and C align a complex number to one of its parts, a kernel to both: an aligned load would fault.
        let aligned = values.as_ptr().addr().is_multiple_of(size_of::<T>());
        if context.device().unified_memory && aligned && !values.is_empty() {
            let mem = context.share_mem(values.as_ptr().cast(), size_of_val(values));
            // A driver that refuses may still take a copy.
            if let Ok(mem) = mem {
                return Ok(HostValues::Shared(Shared { context: context.clone(), mem, values: PhantomData }));
            }
        }
        Ok(HostValues::Copied(Buffer::from_slice(context, values)?))
    }

    pub(crate) fn arg(&self) -> Arg {
        match self {
            HostValues::Shared(shared) => Arg::Mem(Mem(shared.mem)),
            HostValues::Copied(buffer) => buffer.arg(),
        }
    }
}

impl<'a, T: Element> From<&'a HostValues<'_, T>> for In<'a, T> {
    fn from(view: &'a HostValues<'_, T>) -> In<'a, T> {
        In::new(view.arg())
    }
}

impl<'a> From<&'a HostValues<'_, usize>> for In<'a, u64> {
    fn from(view: &'a HostValues<'_, usize>) -> In<'a, u64> {
        In::new(view.arg())
    }
}

/// The host's memory as a memory object. Dropping it waits for the kernels that read it.
pub(crate) struct Shared<'a, T> {
    context: Context,
    mem: *mut c_void,
    values: PhantomData<&'a [T]>,
}

impl<T> Drop for Shared<'_, T> {
    fn drop(&mut self) {
        // A queue that fails runs nothing more.
        let _ = self.context.finish();
        self.context.release_mem(self.mem, 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Complex;
    use crate::runtime::pool::rounded;
    use crate::runtime::{ContextOptions, KernelFamily, Reuse, devices};

    #[test]
    fn kernels_read_values_of_the_host() {
        for device in clinalg_testing::found(devices()).unwrap_or_default() {
            let context = Context::new(&device, &ContextOptions::default()).unwrap();
            let before = context.memory();
            for n in [0, 1, 7, 100_000] {
                let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
                // A part of an array starts anywhere.
                for given in [&values[..], &values[n.min(1)..]] {
                    let view = HostValues::new(&context, given).unwrap();
                    let mut twice = Buffer::<f32>::uninit(&context, given.len()).unwrap();
                    let local = if context.family() == KernelFamily::Gpu { context.local() } else { 1 };
                    let range = launch::Range::d1(given.len(), local);
                    vector::Program::new().scale(&context, range, given.len(), 2.0, &view, &mut twice).unwrap();
                    drop(view);
                    assert_eq!(twice.to_vec().unwrap(), given.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
                }
            }
            assert_eq!(context.memory().live_bytes, before.live_bytes);
            assert_eq!(context.memory().live_buffers, before.live_buffers);
        }
    }

    #[test]
    fn memory_is_used_again_where_it_may_be() {
        for device in clinalg_testing::found(devices()).unwrap_or_default() {
            let context = Context::new(&device, &ContextOptions::default()).unwrap();
            let reuse = Reuse::start();
            let [first, other] = [(); 2].map(|()| Buffer::<f64>::uninit(&context, 100_000).unwrap());
            let mem = first.mem;
            drop(first);
            let mut again = Buffer::<f32>::zeroed(&context, 190_000).unwrap();
            assert!(again.mem == mem && context.memory().live_buffers == 2);
            again.fill(2.5).unwrap();
            assert_eq!(again.to_vec().unwrap(), vec![2.5; 190_000]);
            drop(reuse);
            drop((again, other));
            // Without `Reuse`, buffers get new memory, which is not pooled.
            let new = Buffer::<f64>::zeroed(&context, 100_000).unwrap();
            assert_eq!(context.memory().live_bytes, 800_000);
            drop(new);
            assert_eq!((context.memory().live_bytes, context.memory().live_buffers), (0, 0));
            assert_eq!(context.release_kept_memory(), 2 * rounded(800_000));
            assert_eq!(context.release_kept_memory(), 0);
            // One block serves small buffers one after the other.
            let reuse = Reuse::start();
            (0..10).for_each(|n| drop(Buffer::<f64>::uninit(&context, 1 + n).unwrap()));
            drop(reuse);
            assert_eq!(context.release_kept_memory(), rounded(1));
        }
    }

    #[test]
    fn long_fills_by_kernel_match_the_drivers() {
        fn check<T: Element + PartialEq>(context: &Context, value: T) {
            for n in [1, 2, 255, 256, 257, 1001] {
                let mut buffer = Buffer::<T>::zeroed(context, n).unwrap();
                buffer.fill_by_kernel(value).unwrap();
                assert_eq!(buffer.to_vec().unwrap(), vec![value; n]);
                buffer.fill(value).unwrap();
                assert_eq!(buffer.to_vec().unwrap(), vec![value; n]);
            }
        }
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        for device in devices {
            let context = Context::new(&device, &ContextOptions::default()).unwrap();
            check(&context, 0x0102_0304_u32);
            check(&context, 0x0102_0304_0506_0708_u64);
            check(&context, -1.25_f32);
            check(&context, -1.0e-200_f64);
            check(&context, Complex::new(-1.25_f32, 3.5));
            check(&context, Complex::new(-1.0e-200_f64, 2.5));
        }
    }
}
