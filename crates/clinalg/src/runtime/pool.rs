//! A pool of the memory of dropped buffers, for reuse by later ones. A driver takes about a millisecond per gigabyte to map memory, and as long to
//! unmap it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::marker::PhantomData;

use super::raw::Raw;

/// Sizes are rounded up to a multiple of the next lower power of two divided by this.
const CLASSES: u64 = 8;
/// The smallest size in bytes.
pub(super) const LEAST_BYTES: u64 = 4096;
/// A block of memory may exceed a request by at most the request divided by this.
const WASTE: u64 = 4;

thread_local! {
    static REUSING: Cell<bool> = const { Cell::new(false) };
}

/// While this guard lives, buffers made on this thread take their memory from the pool and return it when they are dropped.
///
/// Use it only for buffers that nothing but the kernel queue accesses: the order of that queue keeps a later owner from writing too early.
pub(crate) struct Reuse {
    before: bool,
    /// The guard must be dropped on the thread that made it, so it is not `Send`.
    thread: PhantomData<*const ()>,
}

impl Reuse {
    pub(crate) fn start() -> Reuse {
        Reuse { before: REUSING.replace(true), thread: PhantomData }
    }

    pub(super) fn is_on() -> bool {
        REUSING.get()
    }
}

impl Drop for Reuse {
    fn drop(&mut self) {
        REUSING.set(self.before);
    }
}

/// The number of bytes to allocate for a request, rounded up so that there are few different sizes.
pub(super) fn rounded(bytes: u64) -> u64 {
    let bytes = bytes.max(LEAST_BYTES);
    let step = (1 << bytes.ilog2()) / CLASSES;
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

/// Free memory, ordered by size.
#[derive(Default)]
pub(super) struct Pool {
    free: BTreeMap<u64, Vec<Raw>>,
    bytes: u64,
}

impl Pool {
    /// Bytes in the pool.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes memory of at least `bytes` from the pool, with its size.
    pub(super) fn take(&mut self, bytes: u64) -> Option<(*mut c_void, u64)> {
        let most = bytes.saturating_add(bytes / WASTE);
        let (&size, some) = self.free.range_mut(bytes..=most).next()?;
        let mem = some.pop()?;
        if some.is_empty() {
            self.free.remove(&size);
        }
        self.bytes -= size;
        Some((mem.0, size))
    }

    /// Adds memory of `bytes` to the pool unless the pool would exceed `limit`; returns whether it was added.
    pub(super) fn keep(&mut self, mem: *mut c_void, bytes: u64, limit: u64) -> bool {
        let fits = self.bytes.saturating_add(bytes) <= limit;
        if fits {
            self.free.entry(bytes).or_default().push(Raw(mem));
            self.bytes += bytes;
        }
        fits
    }

    /// Empties the pool; the caller releases the memory.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Raw> {
        self.bytes = 0;
        std::mem::take(&mut self.free).into_values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_few_and_close() {
        assert_eq!([0, 1, 4096, 4097, 8193].map(rounded), [4096, 4096, 4096, 4608, 9216]);
        assert_eq!(rounded(u64::MAX), u64::MAX);
        for bytes in (5000..1_000_000).step_by(777) {
            assert!(rounded(bytes) >= bytes && rounded(bytes) <= bytes + bytes / 8);
        }
    }

    #[test]
    fn memory_goes_to_what_is_about_as_large() {
        let mem = |k: usize| k as *mut c_void;
        let mut pool = Pool::default();
        assert!(pool.keep(mem(1), 1000, 2500) && pool.keep(mem(2), 1200, 2500));
        assert!(!pool.keep(mem(3), 400, 2500));
        assert_eq!((pool.take(1201), pool.take(700), pool.bytes()), (None, None, 2200));
        assert_eq!(pool.take(900), Some((mem(1), 1000)));
        assert_eq!((pool.take(1000), pool.take(1000), pool.bytes()), (Some((mem(2), 1200)), None, 0));
        assert!(pool.keep(mem(4), 5, 5));
        assert_eq!((pool.drain().count(), pool.bytes(), pool.take(5)), (1, 0, None));
    }
}
