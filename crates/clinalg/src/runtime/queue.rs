//! The in-order queues of a device.

use std::ffi::c_void;
use std::fmt;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use ocl::ffi;

use super::context::Context;
use super::device::Device;
use super::event::Event;
use super::faults::{self, Quirk};
use super::fork;
use super::kernel::Name;
use super::launch::{Arg, Range};
use super::profile::{KernelTiming, Profile};
use super::raw::{Raw, lock};
use super::status::{self, SUCCESS};
use crate::Result;

/// An in-order queue of a context, for kernels ([`Context::queue`]) or for transfers ([`Context::transfers`]): what is
/// enqueued runs in the order of the calls, beside what other queues hold.
///
/// The work in flight is bounded: a call that finds more than [`Queue::IN_FLIGHT`] launches ahead of it waits for the
/// oldest, so that nobody is held up for long by what was enqueued before.
#[derive(Debug, Clone, Copy)]
pub struct Queue<'c> {
    context: &'c Context,
    queue: &'c CommandQueue,
}

impl<'c> Queue<'c> {
    /// The most launches, copies and fills in flight.
    pub const IN_FLIGHT: u32 = 2 * FENCE;

    pub(super) fn new(context: &'c Context, queue: &'c CommandQueue) -> Queue<'c> {
        Queue { context, queue }
    }

    /// A point that is reached when all that was enqueued so far is done.
    ///
    /// # Errors
    /// Those of the enqueue.
    pub fn mark(&self) -> Result<Event> {
        self.queue.mark_in(self.context)
    }

    /// What is enqueued from now on starts when `event` is reached; the host does not wait.
    ///
    /// # Errors
    /// [`Error::Context`](crate::Error::Context) for an event of another context, which the host can wait for
    /// ([`Event::wait`]).
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.queue.wait_in(self.context, event)
    }

    /// The queue of kernels itself.
    pub(super) fn inner(&self) -> &CommandQueue {
        self.queue
    }

    /// Makes the device start on what was enqueued.
    ///
    /// # Errors
    /// Those of the enqueue.
    pub fn flush(&self) -> Result<()> {
        self.queue.flush()
    }

    /// Waits until all that was enqueued is done.
    ///
    /// # Errors
    /// What the device reports of the work done.
    pub fn finish(&self) -> Result<()> {
        self.queue.finish()
    }
}

/// The OpenCL queue.
pub(super) struct CommandQueue {
    raw: Raw,
    device: Device,
    event_per_launch: bool,
    profile: Option<Mutex<Profile>>,
    enqueued: AtomicU32,
    /// The event after the last whole [`FENCE`] launches.
    last_fence: Mutex<Option<Raw>>,
}

/// Launches between two fences.
const FENCE: u32 = 256;

impl fmt::Debug for CommandQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandQueue").field("device", &self.device.info().name).finish()
    }
}

impl CommandQueue {
    /// A queue of `context`, which was made for `device`.
    pub(super) fn new(context: Raw, device: &Device, profiling: bool) -> Result<CommandQueue> {
        let flags = if profiling { ffi::CL_QUEUE_PROFILING_ENABLE } else { 0 };
        let mut code = SUCCESS;
        // SAFETY: `context` was made for this device.
        let raw = unsafe { ffi::clCreateCommandQueue(context.0, device.id(), flags, &mut code) };
        status::check("clCreateCommandQueue", &device.info().name, code)?;
        // SAFETY: the queue was just made.
        Ok(unsafe { CommandQueue::adopt(Raw(raw), device, profiling) })
    }

    /// Takes over a queue, which is released when this is dropped.
    ///
    /// # Safety
    /// `raw` is a live in-order queue of the device, with profiling where that is wanted.
    pub(super) unsafe fn adopt(raw: Raw, device: &Device, profiling: bool) -> CommandQueue {
        CommandQueue {
            raw,
            device: device.clone(),
            event_per_launch: faults::of(device.info()).any(|f| f.quirk == Quirk::EventPerLaunch),
            profile: profiling.then(Mutex::default),
            enqueued: AtomicU32::new(0),
            last_fence: Mutex::default(),
        }
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.raw.0
    }

    fn check(&self, call: &'static str, code: i32) -> Result<()> {
        status::check(call, &self.device.info().name, code)
    }

    /// Counts what was enqueued just now. After every [`FENCE`] it waits for what was enqueued before the last ones, so
    /// that the device always has as many ahead of it.
    fn count(&self) -> Result<()> {
        if (self.enqueued.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(FENCE) { self.fence() } else { Ok(()) }
    }

    #[cold]
    fn fence(&self) -> Result<()> {
        let mut new = null_mut();
        let waited = {
            let mut last = lock(&self.last_fence);
            // SAFETY: the queue is live and no events are waited for.
            let code = unsafe { ffi::clEnqueueMarkerWithWaitList(self.raw.0, 0, null(), &mut new) };
            self.check("clEnqueueMarkerWithWaitList", code)?;
            last.replace(Raw(new))
        };
        self.flush()?;
        let Some(event) = waited else { return Ok(()) };
        // SAFETY: the event is live and released once.
        let code = unsafe {
            let code = ffi::clWaitForEvents(1, &event.0);
            ffi::clReleaseEvent(event.0);
            code
        };
        self.check("clWaitForEvents", code)
    }

    /// A point that is reached when all that was enqueued so far is done. `context` is that of the queue.
    fn mark_in(&self, context: &Context) -> Result<Event> {
        fork::check()?;
        let mut event = null_mut();
        // SAFETY: the queue is live and no events are waited for.
        let code = unsafe { ffi::clEnqueueMarkerWithWaitList(self.raw.0, 0, null(), &mut event) };
        self.check("clEnqueueMarkerWithWaitList", code)?;
        self.flush()?;
        Ok(Event::of(context, event))
    }

    /// What is enqueued from now on starts when `event`, of the same context, is reached.
    pub(super) fn wait_in(&self, context: &Context, event: &Event) -> Result<()> {
        fork::check()?;
        event.check_context(context)?;
        // SAFETY: queue and event are live and of one context.
        let code = unsafe { ffi::clEnqueueBarrierWithWaitList(self.raw.0, 1, &event.raw(), null_mut()) };
        self.check("clEnqueueBarrierWithWaitList", code)
    }

    /// Waits until all that was enqueued is done.
    pub(super) fn finish(&self) -> Result<()> {
        fork::check()?;
        // SAFETY: the queue is live.
        self.check("clFinish", unsafe { ffi::clFinish(self.raw.0) })
    }

    /// Makes the device start on what was enqueued.
    pub(super) fn flush(&self) -> Result<()> {
        // SAFETY: the queue is live.
        self.check("clFlush", unsafe { ffi::clFlush(self.raw.0) })
    }

    /// Device time per kernel; empty without profiling.
    pub(super) fn timings(&self) -> Result<Vec<KernelTiming>> {
        let Some(profile) = &self.profile else { return Ok(Vec::new()) };
        self.finish()?;
        Ok(lock(profile).timings())
    }

    /// Forgets the times kept so far.
    pub(super) fn reset_timings(&self) {
        if let Some(profile) = &self.profile {
            lock(profile).reset();
        }
    }

    /// Sets the arguments and enqueues; `name` is asked for the profile only.
    ///
    /// # Safety
    /// `raw` is a live kernel that nobody else uses meanwhile.
    pub(super) unsafe fn launch(
        &self,
        name: impl FnOnce() -> Name,
        raw: Raw,
        range: Range,
        args: &[Arg],
    ) -> Result<()> {
        fork::check()?;
        for (index, arg) in args.iter().enumerate() {
            let (size, value) = arg.raw();
            // SAFETY: `value` points to `size` bytes and the caller has the kernel to itself.
            self.check("clSetKernelArg", unsafe { ffi::clSetKernelArg(raw.0, index as u32, size, value) })?;
        }
        let wants_event = self.profile.is_some() || self.event_per_launch;
        let mut event = null_mut();
        let event_pointer = if wants_event { &raw mut event } else { null_mut() };
        // SAFETY: the ranges have `dims` entries and all arguments are set.
        let code = unsafe {
            ffi::clEnqueueNDRangeKernel(
                self.raw.0,
                raw.0,
                range.dims,
                null(),
                range.global.as_ptr(),
                range.local.as_ptr(),
                0,
                null(),
                event_pointer,
            )
        };
        self.check("clEnqueueNDRangeKernel", code)?;
        match &self.profile {
            Some(profile) => lock(profile).keep(name(), Raw(event)),
            // SAFETY: the event was made by the launch and is released once.
            None if wants_event => drop(unsafe { ffi::clReleaseEvent(event) }),
            None => {}
        }
        self.count()
    }

    /// Reads `(memory, offset, bytes)` to `to` when `event` is reached, without waiting for it; gives the end as an event of
    /// `context`, that of the queue.
    ///
    /// # Safety
    /// Until then `to` has room for so many bytes that nobody else touches.
    pub(super) unsafe fn read_after(
        &self,
        event: Option<&Event>,
        (mem, offset, bytes): (*mut c_void, usize, usize),
        to: *mut c_void,
        context: &Context,
    ) -> Result<Event> {
        let raw = event.map(Event::raw);
        let (count, list) = raw.as_ref().map_or((0, null()), |raw| (1, raw as *const _));
        let mut done = null_mut();
        // SAFETY: as the caller says.
        let code = unsafe { ffi::clEnqueueReadBuffer(self.raw.0, mem, 0, offset, bytes, to, count, list, &mut done) };
        self.check("clEnqueueReadBuffer", code)?;
        let done = Event::of(context, done);
        self.flush().map(|()| done)
    }

    /// Writes `(memory, offset, bytes)` from `from` when `event` is reached, as [`CommandQueue::read_after`].
    ///
    /// # Safety
    /// Until then `from` holds so many bytes that nobody changes.
    pub(super) unsafe fn write_after(
        &self,
        event: Option<&Event>,
        (mem, offset, bytes): (*mut c_void, usize, usize),
        from: *const c_void,
        context: &Context,
    ) -> Result<Event> {
        let raw = event.map(Event::raw);
        let (count, list) = raw.as_ref().map_or((0, null()), |raw| (1, raw as *const _));
        let mut done = null_mut();
        // SAFETY: as the caller says.
        let code =
            unsafe { ffi::clEnqueueWriteBuffer(self.raw.0, mem, 0, offset, bytes, from, count, list, &mut done) };
        self.check("clEnqueueWriteBuffer", code)?;
        let done = Event::of(context, done);
        self.flush().map(|()| done)
    }

    pub(super) fn read(&self, mem: *mut c_void, offset: usize, bytes: usize, to: *mut c_void) -> Result<()> {
        fork::check()?;
        // SAFETY: the caller's memory has room for `bytes` and the call blocks until it is filled.
        self.check("clEnqueueReadBuffer", unsafe {
            ffi::clEnqueueReadBuffer(self.raw.0, mem, 1, offset, bytes, to, 0, null(), null_mut())
        })
    }

    pub(super) fn write(&self, mem: *mut c_void, offset: usize, bytes: usize, from: *const c_void) -> Result<()> {
        fork::check()?;
        // SAFETY: the caller's memory holds `bytes` and the call blocks until they are taken.
        self.check("clEnqueueWriteBuffer", unsafe {
            ffi::clEnqueueWriteBuffer(self.raw.0, mem, 1, offset, bytes, from, 0, null(), null_mut())
        })
    }

    pub(super) fn copy(
        &self,
        from: *mut c_void,
        from_offset: usize,
        to: *mut c_void,
        to_offset: usize,
        bytes: usize,
    ) -> Result<()> {
        fork::check()?;
        // SAFETY: the caller checked both ranges; they do not overlap, as the buffers differ.
        self.check("clEnqueueCopyBuffer", unsafe {
            ffi::clEnqueueCopyBuffer(self.raw.0, from, to, from_offset, to_offset, bytes, 0, null(), null_mut())
        })?;
        self.count()
    }

    pub(super) fn fill(
        &self,
        mem: *mut c_void,
        pattern: *const c_void,
        size: usize,
        offset: usize,
        bytes: usize,
    ) -> Result<()> {
        fork::check()?;
        // SAFETY: the pattern has `size` bytes, copied by the call, and `bytes` is a multiple of it.
        self.check("clEnqueueFillBuffer", unsafe {
            ffi::clEnqueueFillBuffer(self.raw.0, mem, pattern, size, offset, bytes, 0, null(), null_mut())
        })?;
        self.count()
    }

    /// Asks the system for large pages under a new buffer of a CPU: with small ones the page walks cost up to a
    /// fifth of the memory bandwidth. A hint; whatever fails leaves the buffer as it was.
    #[cfg(target_os = "linux")]
    pub(super) fn advise_huge_pages(&self, mem: *mut c_void, bytes: usize) {
        let mut code = SUCCESS;
        // SAFETY: the buffer has `bytes` bytes and the call blocks until they are mapped.
        let start = unsafe {
            let flags = ffi::CL_MAP_WRITE_INVALIDATE_REGION;
            ffi::clEnqueueMapBuffer(self.raw.0, mem, 1, flags, 0, bytes, 0, null(), null_mut(), &mut code)
        };
        if start.is_null() || code != SUCCESS {
            return;
        }
        // SAFETY: the answer is one long; then whole pages inside the mapped range are named, and the advice does not
        // change what they hold. The mapping is ended once.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE).max(1) as usize;
            let skip = start.addr().next_multiple_of(page) - start.addr();
            let length = bytes.saturating_sub(skip) / page * page;
            libc::madvise(start.byte_add(skip), length, libc::MADV_HUGEPAGE);
            ffi::clEnqueueUnmapMemObject(self.raw.0, mem, start, 0, null(), null_mut());
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn advise_huge_pages(&self, _mem: *mut c_void, _bytes: usize) {}
}

impl Drop for CommandQueue {
    fn drop(&mut self) {
        if fork::is_child() {
            return;
        }
        // SAFETY: queue and event are released once. Status codes are of no use here: the device may be gone.
        unsafe {
            ffi::clFinish(self.raw.0);
            if let Some(event) = lock(&self.last_fence).take() {
                ffi::clReleaseEvent(event.0);
            }
            ffi::clReleaseCommandQueue(self.raw.0);
        }
    }
}
