//! Device memory of a context: allocation and its account.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use ocl::ffi;
use serde::Serialize;

use super::context::Context;
use super::device::DeviceKind;
use super::launch::{Arg, Mem, Out};
use super::pool::{LEAST_BYTES, Pool, Reuse, rounded};
use super::raw::{Raw, lock};
use super::status::SUCCESS;
use super::{fork, host};
use crate::{Error, Real, Result};

/// Device memory held by one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MemoryReport {
    /// Bytes in live buffers.
    pub live_bytes: u64,
    /// The most bytes there were since the context was made or [`Context::reset_peak`].
    pub peak_bytes: u64,
    /// Number of live buffers.
    pub live_buffers: u64,
}

/// Bytes for the partial results of reductions.
const SCRATCH_BYTES: usize = 64 * 1024;
/// Buffers of a CPU from this size on ask for large pages (NumPy's number).
const HUGE_PAGE_BYTES: usize = 4 << 20;
/// What a driver takes beside a buffer of a CPU.
const DRIVER_BYTES: usize = 1 << 20;

/// What the live buffers of a context hold.
#[derive(Default)]
pub(super) struct Account {
    live_bytes: AtomicU64,
    peak_bytes: AtomicU64,
    live_buffers: AtomicU64,
    scratch: Mutex<Scratch>,
    pool: Mutex<Pool>,
}

/// Memory of a buffer.
pub(super) struct Allocation {
    pub(super) mem: *mut c_void,
    pub(super) bytes: u64,
    /// Whether the memory goes back to the pool when the buffer is dropped.
    pub(super) kept: bool,
}

/// The pool may hold at most the device's memory divided by this.
const KEPT_SHARE: u64 = 8;
/// The same on a CPU, where new memory is cleared page by page (set-up of algebraic multigrid for 10^7 unknowns, which takes 5 GB: a sixth of its
/// CPU time).
const KEPT_SHARE_CPU: u64 = 4;

impl Drop for Account {
    fn drop(&mut self) {
        release_all(self.pool.get_mut().unwrap_or_else(PoisonError::into_inner));
    }
}

fn release_all(pool: &mut Pool) {
    for mem in pool.drain().filter(|_| !fork::is_child()) {
        // SAFETY: the pool owns the memory objects; the queue keeps what it still needs.
        unsafe { ffi::clReleaseMemObject(mem.0) };
    }
}

/// Memory for the partial results of reductions, made by the first one.
struct Scratch(Raw);

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch(Raw(null_mut()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.0.0.is_null() && !fork::is_child() {
            // SAFETY: the scratch memory is released once; the queue keeps what it still needs.
            unsafe { ffi::clReleaseMemObject(self.0.0) };
        }
    }
}

impl Context {
    /// Device memory held by buffers of this context.
    pub fn memory(&self) -> MemoryReport {
        MemoryReport {
            live_bytes: self.account().live_bytes.load(Ordering::Relaxed),
            peak_bytes: self.account().peak_bytes.load(Ordering::Relaxed),
            live_buffers: self.account().live_buffers.load(Ordering::Relaxed),
        }
    }

    /// Starts the peak of [`Context::memory`] anew from the bytes live now.
    pub fn reset_peak(&self) {
        self.account().peak_bytes.store(self.account().live_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Returns the memory kept for later buffers to the driver, and gives its size in bytes. It is at most an eighth of the device's memory, a quarter
    /// on a CPU, and is not counted by [`Context::memory`]. The set-up of algebraic multigrid keeps its memory this way.
    pub fn release_kept_memory(&self) -> u64 {
        let mut pool = lock(&self.account().pool);
        let bytes = pool.bytes();
        release_all(&mut pool);
        bytes
    }

    /// Memory of at least `bytes`.
    pub(super) fn create_mem(&self, bytes: u64) -> Result<Allocation> {
        if !Reuse::is_on() {
            return Ok(Allocation { mem: self.create_new(bytes)?, bytes, kept: false });
        }
        let account = self.account();
        // Blocks in the pool have the least size or more: a smaller request would find none, and each would leave another one there.
        let taken = lock(&account.pool).take(bytes.max(LEAST_BYTES));
        if let Some((mem, bytes)) = taken {
            let live = account.live_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
            account.peak_bytes.fetch_max(live, Ordering::Relaxed);
            account.live_buffers.fetch_add(1, Ordering::Relaxed);
            return Ok(Allocation { mem, bytes, kept: true });
        }
        let bytes = rounded(bytes).min(self.device().max_alloc).max(bytes);
        Ok(Allocation { mem: self.create_new(bytes)?, bytes, kept: true })
    }

    /// Allocates memory from the driver. Pooled memory is released first if both do not fit.
    fn create_new(&self, bytes: u64) -> Result<*mut c_void> {
        let account = self.account();
        let info = self.device();
        let refuse = |limit: String| Error::Allocation { bytes, device: info.name.clone(), limit };
        if bytes > info.max_alloc {
            return Err(refuse(format!("its largest single allocation is {} bytes", info.max_alloc)));
        }
        let live = account.live_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let kept = lock(&account.pool).bytes();
        if kept > 0 && live.saturating_add(kept) > info.global_mem {
            self.release_kept_memory();
        }
        let made = if live > info.global_mem {
            Err(refuse(format!("{} of its {} bytes are in use", live - bytes, info.global_mem)))
        } else {
            let made = match self.new_mem(bytes as usize) {
                Err(_) if self.release_kept_memory() > 0 => self.new_mem(bytes as usize),
                made => made,
            };
            made.map_err(|error| match error {
                Error::Allocation { device, limit, .. } => Error::Allocation { bytes, device, limit },
                other => other,
            })
        };
        match made {
            Ok(mem) => {
                account.peak_bytes.fetch_max(live, Ordering::Relaxed);
                account.live_buffers.fetch_add(1, Ordering::Relaxed);
                Ok(mem)
            }
            Err(error) => {
                account.live_bytes.fetch_sub(bytes, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    fn new_mem(&self, bytes: usize) -> Result<*mut c_void> {
        fork::check()?;
        let refuse = |limit: &str| {
            Err(Error::Allocation { bytes: bytes as u64, device: self.device().name.clone(), limit: limit.into() })
        };
        if host::fails() {
            return refuse("the driver refuses it");
        }
        let large = bytes >= HUGE_PAGE_BYTES && self.device().kind == DeviceKind::Cpu;
        // PoCL takes the memory when it is mapped, and ends the process where there is none.
        if large && !host::has_room(bytes.saturating_add(DRIVER_BYTES)) {
            return refuse("the process has no address space left for it");
        }
        let mut code = SUCCESS;
        // SAFETY: no host memory is passed.
        let mem = unsafe { ffi::clCreateBuffer(self.raw().0, ffi::CL_MEM_READ_WRITE, bytes, null_mut(), &mut code) };
        self.check("clCreateBuffer", code)?;
        if large {
            self.command_queue().advise_huge_pages(mem, bytes);
        }
        Ok(mem)
    }

    /// The host's memory as a memory object that kernels read. Its owner keeps the memory as it is until the queue is
    /// through with it.
    pub(super) fn share_mem(&self, from: *const c_void, bytes: usize) -> Result<*mut c_void> {
        fork::check()?;
        if host::fails() {
            let (bytes, device) = (bytes as u64, self.device().name.clone());
            return Err(Error::Allocation { bytes, device, limit: "the driver refuses it".into() });
        }
        let mut code = SUCCESS;
        let flags = ffi::CL_MEM_READ_ONLY | ffi::CL_MEM_USE_HOST_PTR;
        // SAFETY: the caller's memory holds `bytes` and outlives the object, which kernels only read.
        let mem = unsafe { ffi::clCreateBuffer(self.raw().0, flags, bytes, from.cast_mut(), &mut code) };
        self.check("clCreateBuffer", code)?;
        self.account().live_buffers.fetch_add(1, Ordering::Relaxed);
        Ok(mem)
    }

    /// Counts a buffer in memory of the caller, whose bytes are not this library's.
    pub(super) fn count_import(&self) {
        self.account().live_buffers.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn release_mem(&self, mem: *mut c_void, bytes: u64, kept: bool) {
        let share = if self.device().kind == DeviceKind::Cpu { KEPT_SHARE_CPU } else { KEPT_SHARE };
        let limit = self.device().global_mem / share;
        let kept = kept && lock(&self.account().pool).keep(mem, bytes, limit);
        if !kept && !fork::is_child() {
            // SAFETY: a buffer releases its memory object once; the queue keeps what it still needs.
            unsafe { ffi::clReleaseMemObject(mem) };
        }
        self.account().live_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.account().live_buffers.fetch_sub(1, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(super) fn part_of_mem(&self, mem: *mut c_void, offset: usize, bytes: usize) -> Result<*mut c_void> {
        let region = [offset, bytes];
        let mut code = SUCCESS;
        // SAFETY: a region is an offset and a size, inside the buffer; the driver checks the alignment.
        let part = unsafe {
            let kind = ffi::CL_BUFFER_CREATE_TYPE_REGION;
            ffi::clCreateSubBuffer(mem, ffi::CL_MEM_READ_WRITE, kind, region.as_ptr().cast(), &mut code)
        };
        self.check("clCreateSubBuffer", code)?;
        self.account().live_buffers.fetch_add(1, Ordering::Relaxed);
        Ok(part)
    }

    /// Runs `launch`, which writes `count` partial results of a reduction, and reads them.
    pub(crate) fn partials<T: Real>(
        &self,
        count: usize,
        launch: impl FnOnce(Out<'_, T>) -> Result<()>,
    ) -> Result<Vec<T>> {
        assert!(count * size_of::<T>() <= SCRATCH_BYTES, "a reduction has at most {SCRATCH_BYTES} bytes of partials");
        let mut values = host::filled(count, T::default())?;
        let mut scratch = lock(&self.account().scratch);
        if scratch.0.0.is_null() {
            scratch.0 = Raw(self.new_mem(SCRATCH_BYTES)?);
        }
        // The lock is held until the read is done: the next reduction writes the same memory.
        let mem = scratch.0.0;
        launch(Out::new(Arg::Mem(Mem(mem))))?;
        // The device starts now instead of when the read arrives (NVIDIA H200: 8 of 24 microseconds less).
        self.command_queue().flush()?;
        self.command_queue().read(mem, 0, count * size_of::<T>(), values.as_mut_ptr().cast())?;
        Ok(values)
    }
}
