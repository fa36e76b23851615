//! Typed device memory.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use super::context::Context;
use super::kernel::{self, Arg, Kernel, Mem, files};
use crate::error::check_length;
use crate::{Error, Precision, Result};

/// Most bytes that the driver's own fill is trusted with (see [`faults`](super::faults)).
const FILL_BYTES: usize = 1 << 30;

mod private {
    pub trait Sealed {}
}

/// A plain value that a device buffer can hold.
pub trait Element: private::Sealed + Copy + Default + Send + Sync + fmt::Debug + 'static {
    #[doc(hidden)]
    fn arg(self) -> ElementArg;
    /// The bits of two 32-bit words of memory filled with the value.
    #[doc(hidden)]
    fn words(self) -> [u32; 2];
}

/// A value as a kernel argument.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct ElementArg(pub(crate) Arg);

macro_rules! elements {
    ($($t:ty => $arg:expr, $words:expr;)*) => {$(
        impl private::Sealed for $t {}
        impl Element for $t {
            fn arg(self) -> ElementArg {
                let convert: fn($t) -> Arg = $arg;
                ElementArg(convert(self))
            }
            fn words(self) -> [u32; 2] {
                let words: fn($t) -> [u32; 2] = $words;
                words(self)
            }
        }
    )*};
}
elements! {
    u8 => |v| Arg::U32(v.into()), |v| [u32::from_ne_bytes([v; 4]); 2];
    u16 => |v| Arg::U32(v.into()), |v| [u32::from(v) * 0x1_0001; 2];
    u32 => Arg::U32, |v| [v; 2];
    u64 => Arg::U64, |v| halves(v.to_ne_bytes());
    usize => |v| Arg::U64(v as u64), |v| halves((v as u64).to_ne_bytes());
    f32 => Arg::F32, |v| [v.to_bits(); 2];
    f64 => Arg::F64, |v| halves(v.to_ne_bytes());
}

/// Kernels read `usize` as `ulong`.
const _: () = assert!(size_of::<usize>() == 8);

/// Eight bytes as two words, in the order of memory.
fn halves(bytes: [u8; 8]) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = bytes;
    [u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h])]
}

/// A fixed number of values in the memory of one device.
///
/// Transfers block until the host memory may be used again; their lengths are checked. The bytes
/// are counted in [`Context::memory`] until the buffer is dropped.
pub struct Buffer<T: Element> {
    context: Context,
    mem: *mut c_void,
    len: usize,
    bytes: u64,
    values: PhantomData<T>,
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
        self.context.release_mem(self.mem, self.bytes);
    }
}

impl<T: Element> Buffer<T> {
    /// A buffer of `len` values whose content is not defined.
    ///
    /// # Errors
    /// [`Error::Allocation`] when the device cannot hold it.
    pub fn uninit(context: &Context, len: usize) -> Result<Buffer<T>> {
        // Whole words, which a fill by kernel writes.
        let bytes = (len.max(1) as u64).saturating_mul(size_of::<T>() as u64).div_ceil(4).saturating_mul(4);
        let mem = context.create_mem(bytes)?;
        Ok(Buffer { context: context.clone(), mem, len, bytes, values: PhantomData })
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    /// As [`Buffer::uninit`].
    pub fn zeroed(context: &Context, len: usize) -> Result<Buffer<T>> {
        let mut buffer = Buffer::uninit(context, len)?;
        buffer.fill(T::default())?;
        Ok(buffer)
    }

    /// A buffer with a copy of `values`.
    ///
    /// # Errors
    /// As [`Buffer::uninit`].
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

    /// All values, copied to the host.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut values = Vec::<T>::new();
        if values.try_reserve_exact(self.len).is_err() {
            let got = format!("{} values of {} bytes", self.len, size_of::<T>());
            return Err(Error::value("target", "a size that fits this machine's memory", got));
        }
        if self.len > 0 {
            self.context.read_mem(self.mem, 0, self.len * size_of::<T>(), values.as_mut_ptr().cast())?;
            // SAFETY: there is room for `len` values, the transfer wrote all of them, and every bit pattern is a value.
            unsafe { values.set_len(self.len) };
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
        self.check_range("offset", offset, target.len())?;
        if target.is_empty() {
            return Ok(());
        }
        let bytes = size_of_val(target);
        self.context.read_mem(self.mem, offset * size_of::<T>(), bytes, target.as_mut_ptr().cast())
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
        self.check_range("offset", offset, values.len())?;
        if values.is_empty() {
            return Ok(());
        }
        let bytes = size_of_val(values);
        self.context.write_mem(self.mem, offset * size_of::<T>(), bytes, values.as_ptr().cast())
    }

    /// Copies all of `source`, of the same length, on the device.
    ///
    /// # Errors
    /// [`Error::Length`] for another length, [`Error::Context`] for another context.
    pub fn copy_from(&mut self, source: &Buffer<T>) -> Result<()> {
        check_length("source", self.len, source.len)?;
        self.copy_range(0, source, 0..source.len)
    }

    /// Copies `range` of `source` to the values from `offset` on, on the device.
    ///
    /// # Errors
    /// [`Error::Value`] when a range leaves its buffer, [`Error::Context`] for another context.
    pub fn copy_range(&mut self, offset: usize, source: &Buffer<T>, range: Range<usize>) -> Result<()> {
        if !self.context.same(&source.context) {
            return Err(Error::Context { argument: "source" });
        }
        source.check_inside(&range)?;
        let count = range.len();
        self.check_range("offset", offset, count)?;
        if count == 0 {
            return Ok(());
        }
        let size = size_of::<T>();
        self.context.copy_mem(source.mem, range.start * size, self.mem, offset * size, count * size)
    }

    /// Sets every value to `value`.
    ///
    /// # Errors
    /// Those of the enqueue.
    pub fn fill(&mut self, value: T) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let bytes = self.len * size_of::<T>();
        if bytes > FILL_BYTES {
            return self.fill_by_kernel(value);
        }
        self.context.fill_mem(self.mem, std::ptr::from_ref(&value).cast(), size_of::<T>(), bytes)
    }

    fn fill_by_kernel(&mut self, value: T) -> Result<()> {
        let count = (self.len * size_of::<T>()).div_ceil(4);
        let [even, odd] = value.words();
        let args = [Arg::size(count), Arg::U32(even), Arg::U32(odd), self.arg()];
        let range = kernel::Range::d1(count, self.context.local());
        self.context.run(&Kernel::new(&files::VECTOR, "fill_words", Precision::F32), range, &args)
    }

    /// `len` values from `offset` on as a buffer of their own, to watch what is written around them.
    #[cfg(test)]
    pub(crate) fn part(&self, offset: usize, len: usize) -> Result<Buffer<T>> {
        self.check_inside(&(offset..offset + len))?;
        let mem = self.context.part_of_mem(self.mem, offset * size_of::<T>(), len * size_of::<T>())?;
        Ok(Buffer { context: self.context.clone(), mem, len, bytes: 0, values: PhantomData })
    }

    /// The memory as an argument of a kernel; valid while the buffer lives.
    pub fn arg(&self) -> Arg {
        Arg::Mem(Mem(self.mem))
    }

    /// An error unless `range` is a part of the buffer; a range that runs backwards is none.
    pub(crate) fn check_inside(&self, range: &Range<usize>) -> Result<()> {
        if range.start <= range.end && range.end <= self.len {
            return Ok(());
        }
        Err(Error::value("range", format!("a range inside 0..{}", self.len), format!("{}..{}", range.start, range.end)))
    }

    fn check_range(&self, argument: &'static str, offset: usize, count: usize) -> Result<()> {
        match offset.checked_add(count) {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(Error::value(
                argument,
                format!("a range inside the {} values", self.len),
                format!("{count} values from {offset} on"),
            )),
        }
    }
}

/// Values of the host for kernels to read: where they lie, if the device shares the host's memory, or else a copy.
pub(crate) enum View<'a, T: Element> {
    Shared(Shared<'a, T>),
    Copied(Buffer<T>),
}

impl<'a, T: Element> View<'a, T> {
    /// # Errors
    /// As [`Buffer::from_slice`].
    pub(crate) fn new(context: &Context, values: &'a [T]) -> Result<View<'a, T>> {
        if context.device().unified_memory && !values.is_empty() {
            let mem = context.share_mem(values.as_ptr().cast(), size_of_val(values));
            // A driver that refuses may still take a copy.
            if let Ok(mem) = mem {
                return Ok(View::Shared(Shared { context: context.clone(), mem, values: PhantomData }));
            }
        }
        Ok(View::Copied(Buffer::from_slice(context, values)?))
    }

    pub(crate) fn arg(&self) -> Arg {
        match self {
            View::Shared(shared) => Arg::Mem(Mem(shared.mem)),
            View::Copied(buffer) => buffer.arg(),
        }
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
        self.context.release_mem(self.mem, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{ContextOptions, devices};

    #[test]
    fn kernels_read_views_of_the_host() {
        for device in devices().unwrap_or_default() {
            let context = Context::new(&device, &ContextOptions::default()).unwrap();
            let before = context.memory();
            for n in [0, 1, 7, 100_000] {
                let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
                // A part of an array starts anywhere.
                for given in [&values[..], &values[n.min(1)..]] {
                    let view = View::new(&context, given).unwrap();
                    let twice = Buffer::<f32>::uninit(&context, given.len()).unwrap();
                    let kernel = Kernel::new(&files::VECTOR, "scale_gpu", Precision::F32);
                    let range = kernel::Range::d1(given.len(), context.local());
                    let args = [Arg::size(given.len()), Arg::F32(2.0), view.arg(), twice.arg()];
                    context.run(&kernel, range, &args).unwrap();
                    drop(view);
                    assert_eq!(twice.to_vec().unwrap(), given.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
                }
            }
            assert_eq!(context.memory().live_bytes, before.live_bytes);
            assert_eq!(context.memory().live_buffers, before.live_buffers);
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
        let Ok(devices) = devices() else {
            eprintln!("skipped: no OpenCL device");
            return;
        };
        for device in devices {
            let context = Context::new(&device, &ContextOptions::default()).unwrap();
            check(&context, 0x0102_0304_u32);
            check(&context, 0x0102_0304_0506_0708_u64);
            check(&context, -1.25_f32);
            check(&context, -1.0e-200_f64);
        }
    }
}
