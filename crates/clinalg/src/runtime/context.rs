//! One device's queue, memory account and built kernels.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::fmt;
use std::hash::BuildHasherDefault;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Instant;

use ocl::ffi;
use once_cell::sync::Lazy;
use serde::Serialize;

use super::cache;
use super::device::{Device, DeviceInfo, DeviceKind};
use super::faults::{self, Quirk};
use super::kernel::{self, Arg, COMMON, Kernel, Launch, Mem, ProgramKey, Quick, Range};
use super::status::{self, SUCCESS};
use crate::tune::{AHEAD_PLATFORMS, Choice, Choices, Op};
use crate::{Error, Precision, Real, Result};

/// The family of kernels that runs: processors and GPUs want different shapes of the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A chunk of the work per item, wide vectors, no barriers.
    Cpu,
    /// One or a few elements per item, work-groups that share local memory.
    Gpu,
}

/// How a context is made.
#[derive(Debug, Clone, Default)]
pub struct ContextOptions {
    /// Keep the time of every kernel for [`Context::timings`].
    pub profiling: bool,
    /// The kernel family; `None` takes `CLINALG_SHAPE` (`cpu` or `gpu`), else what suits the device.
    pub shape: Option<Shape>,
}

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

/// Device time of one kernel, summed over its launches.
#[derive(Debug, Clone, Serialize)]
pub struct KernelTiming {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Launches counted.
    pub launches: u64,
    /// Seconds from start to end on the device, summed.
    pub seconds: f64,
}

/// One device in use: its in-order queue, the kernels built for it, its memory account.
///
/// Cheap to clone; objects made in a context keep it alive. All methods may be called from any
/// thread.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

/// An OpenCL object owned by a context.
#[derive(Clone, Copy)]
struct Raw(*mut c_void);
// SAFETY: OpenCL 1.2 entry points are thread-safe for these objects, except `clSetKernelArg`,
// which is only called under the kernel's lock.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

struct Slot {
    kernel: Mutex<Raw>,
    max_local: usize,
}

struct Inner {
    device: Device,
    shape: Shape,
    local: usize,
    choices: Choices,
    context: Raw,
    queue: Raw,
    scratch: Mutex<Raw>,
    event_per_launch: bool,
    profile: Option<Mutex<Profile>>,
    programs: Mutex<HashMap<ProgramKey, Raw>>,
    kernels: RwLock<HashMap<Kernel, Arc<Slot>, BuildHasherDefault<Quick>>>,
    build_nanoseconds: AtomicU64,
    live_bytes: AtomicU64,
    peak_bytes: AtomicU64,
    live_buffers: AtomicU64,
}

#[derive(Default)]
struct Profile {
    pending: Vec<(&'static str, Raw)>,
    totals: HashMap<&'static str, (u64, f64)>,
}

/// Finished events are turned into times when this many wait.
const PENDING_EVENTS: usize = 1024;
/// Bytes for the partial results of reductions.
const SCRATCH_BYTES: usize = 64 * 1024;
/// Items that kernels of [`Shape::Gpu`] need in a work-group: those of a sparse row and of a dense tile.
const SMALLEST_GROUP: usize = 32;
/// Items of a work-group where a kernel has no reason for another number.
const DEFAULT_LOCAL: usize = 256;
/// Buffers of a processor from this size on ask for large pages (NumPy's number).
const HUGE_PAGE_BYTES: usize = 4 << 20;

static GLOBAL: Lazy<Mutex<Option<Context>>> = Lazy::new(|| Mutex::new(None));

/// A lock whose data stays good when a holder panicked: every critical section here leaves it whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("device", &self.device().name).field("shape", &self.shape()).finish()
    }
}

impl Context {
    /// A context on `device`, apart from the global one.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] or [`Error::OpenCl`] when the driver refuses,
    /// [`Error::Value`] when `CLINALG_SHAPE` is neither `cpu` nor `gpu`.
    pub fn new(device: &Device, options: &ContextOptions) -> Result<Context> {
        let info = device.info();
        let shape = choose_shape(options, info)?;
        let properties = [ffi::CL_CONTEXT_PLATFORM as isize, device.platform() as isize, 0];
        let mut code = SUCCESS;
        // SAFETY: the property list ends in zero and one device is named.
        let context =
            unsafe { ffi::clCreateContext(properties.as_ptr(), 1, &device.id(), None, null_mut(), &mut code) };
        status::check("clCreateContext", &info.name, code)?;
        let flags = if options.profiling { ffi::CL_QUEUE_PROFILING_ENABLE } else { 0 };
        // SAFETY: `context` was made for this device.
        let queue = unsafe { ffi::clCreateCommandQueue(context, device.id(), flags, &mut code) };
        if let Err(error) = status::check("clCreateCommandQueue", &info.name, code) {
            // SAFETY: the context is released once, here.
            unsafe { ffi::clReleaseContext(context) };
            return Err(error);
        }
        let largest = 1 << info.max_work_group.max(1).ilog2();
        let mut inner = Inner {
            device: device.clone(),
            shape,
            local: DEFAULT_LOCAL.min(largest),
            choices: Choices::of(info),
            context: Raw(context),
            queue: Raw(queue),
            scratch: Mutex::new(Raw(null_mut())),
            event_per_launch: faults::of(info).any(|f| f.quirk == Quirk::EventPerLaunch),
            profile: options.profiling.then(Mutex::default),
            programs: Mutex::default(),
            kernels: RwLock::default(),
            build_nanoseconds: AtomicU64::new(0),
            live_bytes: AtomicU64::new(0),
            peak_bytes: AtomicU64::new(0),
            live_buffers: AtomicU64::new(0),
        };
        let scratch = inner.new_mem(SCRATCH_BYTES)?;
        inner.scratch = Mutex::new(Raw(scratch));
        Ok(Context { inner: Arc::new(inner) })
    }

    /// The one context of the process; the first call makes it on [`Device::default_device`].
    ///
    /// # Errors
    /// Those of [`Device::default_device`] and [`Context::new`].
    pub fn global() -> Result<Context> {
        let mut global = lock(&GLOBAL);
        if let Some(context) = &*global {
            return Ok(context.clone());
        }
        let context = Context::new(&Device::default_device()?, &ContextOptions::default())?;
        *global = Some(context.clone());
        Ok(context)
    }

    /// The one context of the process, if it has been made.
    pub fn current() -> Option<Context> {
        lock(&GLOBAL).clone()
    }

    /// Makes `context` the one of the process. Objects of the former one stay usable.
    pub fn set_global(context: Context) {
        *lock(&GLOBAL) = Some(context);
    }

    /// Forgets the context of the process; its memory goes when its last object does.
    pub fn release_global() {
        *lock(&GLOBAL) = None;
    }

    /// What the device says of itself.
    pub fn device(&self) -> &DeviceInfo {
        self.inner.device.info()
    }

    /// The kernel family in use.
    pub fn shape(&self) -> Shape {
        self.inner.shape
    }

    /// An error unless the device computes in `T`.
    ///
    /// # Errors
    /// [`Error::NoFp64`].
    pub fn require<T: Real>(&self) -> Result<()> {
        self.require_precision(T::PRECISION)
    }

    fn require_precision(&self, precision: Precision) -> Result<()> {
        if precision == Precision::F64 && !self.device().fp64 {
            return Err(Error::NoFp64 { device: self.device().name.clone() });
        }
        Ok(())
    }

    /// Whether both are the same context.
    pub fn same(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Device memory held by buffers of this context.
    pub fn memory(&self) -> MemoryReport {
        MemoryReport {
            live_bytes: self.inner.live_bytes.load(Ordering::Relaxed),
            peak_bytes: self.inner.peak_bytes.load(Ordering::Relaxed),
            live_buffers: self.inner.live_buffers.load(Ordering::Relaxed),
        }
    }

    /// Starts the peak of [`Context::memory`] anew from the bytes live now.
    pub fn reset_peak(&self) {
        self.inner.peak_bytes.store(self.inner.live_bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Waits until the device has done all that was enqueued.
    ///
    /// # Errors
    /// What the device reports of the work done.
    pub fn finish(&self) -> Result<()> {
        // SAFETY: the queue lives as long as the context.
        self.check("clFinish", unsafe { ffi::clFinish(self.inner.queue.0) })
    }

    /// Device time per kernel, the longest first; empty unless made with `profiling`.
    ///
    /// # Errors
    /// Those of [`Context::finish`].
    pub fn timings(&self) -> Result<Vec<KernelTiming>> {
        let Some(profile) = &self.inner.profile else { return Ok(Vec::new()) };
        self.finish()?;
        let mut profile = lock(profile);
        profile.drain();
        let mut all: Vec<_> = profile
            .totals
            .iter()
            .map(|(&kernel, &(launches, seconds))| KernelTiming { kernel, launches, seconds })
            .collect();
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(a.kernel.cmp(b.kernel)));
        Ok(all)
    }

    /// Forgets the times kept so far.
    pub fn reset_timings(&self) {
        if let Some(profile) = &self.inner.profile {
            let mut profile = lock(profile);
            profile.drain();
            profile.totals.clear();
        }
    }

    /// Items of a work-group where a kernel has no reason for another number; a power of two.
    pub fn local(&self) -> usize {
        self.inner.local
    }

    /// The launch parameters of an operation on `n` elements.
    pub(crate) fn choice(&self, op: Op, precision: Precision, n: usize) -> Choice {
        self.inner.choices.get(op, precision, n)
    }

    /// All launch parameters, which the search changes while it tries candidates.
    pub(crate) fn choices(&self) -> &Choices {
        &self.inner.choices
    }

    /// Seconds that the host has spent on building kernels in this context.
    pub(crate) fn build_seconds(&self) -> f64 {
        self.inner.build_nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    /// Enqueues what was made before.
    pub(crate) fn start(&self, launch: &Launch, args: &[Arg]) -> Result<()> {
        self.run(&launch.kernel, launch.range, args)
    }

    /// Compute units, at least one.
    pub(crate) fn units(&self) -> usize {
        self.device().compute_units.max(1) as usize
    }

    /// Work-items that keep a processor busy and balanced, for kernels of [`Shape::Cpu`].
    pub fn chunks(&self) -> usize {
        self.units() * 8
    }

    /// Whether kernels for processors may carry the hint of [`AHEAD_PLATFORMS`].
    pub(crate) fn fetches_ahead(&self) -> bool {
        let info = self.device();
        info.kind == DeviceKind::Cpu && AHEAD_PLATFORMS.iter().any(|p| info.platform.contains(p))
    }

    fn check(&self, call: &'static str, code: i32) -> Result<()> {
        status::check(call, &self.device().name, code)
    }

    /// Builds `kernel`, so that its first launch finds it.
    pub(crate) fn prepare(&self, kernel: &Kernel) -> Result<()> {
        self.slot(kernel).map(drop)
    }

    /// Enqueues a kernel of another crate; it is built at its first launch. An empty range is no launch.
    ///
    /// # Safety
    /// `args` are what the kernel takes, in its order, and their buffers are alive and of this context; for every item of
    /// `range` the kernel stays inside them.
    ///
    /// # Errors
    /// [`Error::Build`]; [`Error::NoFp64`]; [`Error::Value`] for a work-group larger than the device runs;
    /// those of the enqueue.
    pub unsafe fn launch_kernel(&self, kernel: &Kernel, range: Range, args: &[Arg]) -> Result<()> {
        self.run(kernel, range, args)
    }

    /// Enqueues `kernel`; an empty range is no launch.
    pub(crate) fn run(&self, kernel: &Kernel, range: Range, args: &[Arg]) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let slot = self.slot(kernel)?;
        let group = range.local[0] * range.local[1];
        if group > slot.max_local {
            return Err(Error::value(
                "work-group size",
                format!("at most {} for kernel {} on this device", slot.max_local, kernel.name()),
                group,
            ));
        }
        let raw = lock(&slot.kernel);
        // SAFETY: the kernel is live and locked.
        unsafe { self.launch(kernel.name(), *raw, range, args) }
    }

    /// Builds `source` anew, runs its kernel `name` and forgets both: for kernels that are made up at run time.
    pub(crate) fn run_source(
        &self,
        name: &'static str,
        source: &str,
        precision: Precision,
        range: Range,
        args: &[Arg],
    ) -> Result<()> {
        self.require_precision(precision)?;
        let source = format!("{COMMON}\n{source}");
        let options = CString::new(kernel::options(precision, self.inner.local)).expect("options hold no zero byte");
        let program = self.build_source(name, &source, &options)?;
        let name_text = CString::new(name).expect("kernel names hold no zero byte");
        let mut code = SUCCESS;
        // SAFETY: the program is built and the name ends in zero; the kernel is used by this call only. Each is
        // released once, and the driver keeps what the launch still needs.
        unsafe {
            let raw = ffi::clCreateKernel(program, name_text.as_ptr(), &mut code);
            let done = self
                .check("clCreateKernel", code)
                .and_then(|()| self.launch(name, Raw(raw), range, args).and_then(|()| self.finish()));
            if !raw.is_null() {
                ffi::clReleaseKernel(raw);
            }
            ffi::clReleaseProgram(program);
            done
        }
    }

    /// Sets the arguments and enqueues.
    ///
    /// # Safety
    /// `raw` is a live kernel that nobody else uses meanwhile.
    unsafe fn launch(&self, name: &'static str, raw: Raw, range: Range, args: &[Arg]) -> Result<()> {
        for (index, arg) in args.iter().enumerate() {
            let (size, value) = arg.raw();
            // SAFETY: `value` points to `size` bytes and the caller has the kernel to itself.
            self.check("clSetKernelArg", unsafe { ffi::clSetKernelArg(raw.0, index as u32, size, value) })?;
        }
        let wants_event = self.inner.profile.is_some() || self.inner.event_per_launch;
        let mut event = null_mut();
        let event_pointer = if wants_event { &raw mut event } else { null_mut() };
        // SAFETY: the ranges have `dims` entries and all arguments are set.
        let code = unsafe {
            ffi::clEnqueueNDRangeKernel(
                self.inner.queue.0,
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
        match &self.inner.profile {
            Some(profile) => {
                let mut profile = lock(profile);
                profile.pending.push((name, Raw(event)));
                if profile.pending.len() >= PENDING_EVENTS {
                    profile.drain();
                }
            }
            // SAFETY: the event was made by the launch and is released once.
            None if wants_event => drop(unsafe { ffi::clReleaseEvent(event) }),
            None => {}
        }
        Ok(())
    }

    /// Runs `launch`, which writes `count` partial results of a reduction, and reads them.
    pub(crate) fn partials<T: Real>(&self, count: usize, launch: impl FnOnce(Arg) -> Result<()>) -> Result<Vec<T>> {
        assert!(count * size_of::<T>() <= SCRATCH_BYTES, "a reduction has at most {SCRATCH_BYTES} bytes of partials");
        let mut values = vec![T::default(); count];
        let scratch = lock(&self.inner.scratch);
        launch(Arg::Mem(Mem(scratch.0)))?;
        // The device starts now instead of when the read arrives (NVIDIA H200: 8 of 24 microseconds less).
        // SAFETY: the queue lives as long as the context.
        self.check("clFlush", unsafe { ffi::clFlush(self.inner.queue.0) })?;
        self.read_mem(scratch.0, 0, count * size_of::<T>(), values.as_mut_ptr().cast())?;
        Ok(values)
    }

    fn slot(&self, kernel: &Kernel) -> Result<Arc<Slot>> {
        let known = self.inner.kernels.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = known.get(kernel) {
            return Ok(slot.clone());
        }
        drop(known);
        self.require_precision(kernel.precision)?;
        let started = Instant::now();
        let mut programs = lock(&self.inner.programs);
        let key = kernel.program();
        let program = match programs.get(&key) {
            Some(program) => *program,
            None => {
                let program = Raw(self.build(&key)?);
                programs.insert(key, program);
                program
            }
        };
        let name = CString::new(kernel.name()).expect("kernel names hold no zero byte");
        let mut code = SUCCESS;
        // SAFETY: the program is built and the name ends in zero.
        let raw = unsafe { ffi::clCreateKernel(program.0, name.as_ptr(), &mut code) };
        self.check("clCreateKernel", code)?;
        // The slot releases the kernel on every way out.
        let mut slot = Slot { kernel: Mutex::new(Raw(raw)), max_local: 0 };
        let query = |what, answer: *mut usize, sizes: usize| {
            // SAFETY: the answer has room for so many size_t.
            let code = unsafe {
                let bytes = sizes * size_of::<usize>();
                ffi::clGetKernelWorkGroupInfo(raw, self.inner.device.id(), what, bytes, answer.cast(), null_mut())
            };
            self.check("clGetKernelWorkGroupInfo", code)
        };
        query(ffi::CL_KERNEL_WORK_GROUP_SIZE, &mut slot.max_local, 1)?;
        // NVIDIA's driver says 256 also of kernels that were compiled for a work-group of 512.
        let mut fixed = [0_usize; 3];
        query(ffi::CL_KERNEL_COMPILE_WORK_GROUP_SIZE, fixed.as_mut_ptr(), 3)?;
        slot.max_local = slot.max_local.max(fixed.iter().product());
        let slot = Arc::new(slot);
        self.inner.build_nanoseconds.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let mut known = self.inner.kernels.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first; its kernel is used and this one goes with its slot.
        Ok(known.entry(*kernel).or_insert(slot).clone())
    }

    /// Builds a program, from the disk cache where it holds one that the driver takes.
    fn build(&self, key: &ProgramKey) -> Result<*mut c_void> {
        let file = key.file();
        let source = format!("{COMMON}\n#line 1 \"{}.cl\"\n{}", file.name, file.source);
        let options = key.options(self.inner.local);
        let key = cache::Key::new(self.device(), &source, &options);
        let options = CString::new(options).expect("options hold no zero byte");
        let Some(folder) = cache::folder(self.device()) else {
            return self.build_source(file.name, &source, &options);
        };
        if let Some(binary) = cache::load(&folder, &key) {
            match self.build_binary(&binary, &options) {
                Some(program) => return Ok(program),
                None => cache::remove(&folder, &key),
            }
        }
        let program = self.build_source(file.name, &source, &options)?;
        // Asked for the binary, drivers compile every kernel of the program at once.
        if let Some(binary) = binary_of(program) {
            cache::store(&folder, &key, &binary);
        }
        Ok(program)
    }

    /// Builds a program from its text; `name` is for the error.
    fn build_source(&self, name: &str, source: &str, options: &CString) -> Result<*mut c_void> {
        let text = source.as_ptr().cast();
        let mut code = SUCCESS;
        // SAFETY: one string of the given length.
        let program =
            unsafe { ffi::clCreateProgramWithSource(self.inner.context.0, 1, &text, &source.len(), &mut code) };
        self.check("clCreateProgramWithSource", code)?;
        if self.compile(program, options) != SUCCESS {
            let log = self.build_log(program);
            // SAFETY: the program is released once, here.
            unsafe { ffi::clReleaseProgram(program) };
            return Err(Error::Build { device: self.device().name.clone(), program: format!("{name}.cl"), log });
        }
        Ok(program)
    }

    fn build_binary(&self, binary: &[u8], options: &CString) -> Option<*mut c_void> {
        let (mut code, mut binary_status) = (SUCCESS, SUCCESS);
        // SAFETY: one binary of the given length for the one device.
        let program = unsafe {
            ffi::clCreateProgramWithBinary(
                self.inner.context.0,
                1,
                &self.inner.device.id(),
                &binary.len(),
                &binary.as_ptr(),
                &mut binary_status,
                &mut code,
            )
        };
        if program.is_null() {
            return None;
        }
        if code == SUCCESS && binary_status == SUCCESS && self.compile(program, options) == SUCCESS {
            return Some(program);
        }
        // SAFETY: the program is released once, here.
        unsafe { ffi::clReleaseProgram(program) };
        None
    }

    fn compile(&self, program: *mut c_void, options: &CString) -> i32 {
        // SAFETY: the program belongs to this context and the options end in zero.
        unsafe { ffi::clBuildProgram(program, 1, &self.inner.device.id(), options.as_ptr(), None, null_mut()) }
    }

    fn build_log(&self, program: *mut c_void) -> String {
        let query = |n: usize, p: *mut c_void, r: *mut usize| {
            // SAFETY: `p` is null or has room for `n` bytes.
            unsafe { ffi::clGetProgramBuildInfo(program, self.inner.device.id(), ffi::CL_PROGRAM_BUILD_LOG, n, p, r) }
        };
        super::device::text(query)
    }

    pub(super) fn create_mem(&self, bytes: u64) -> Result<*mut c_void> {
        let inner = &*self.inner;
        let info = self.device();
        let refuse = |limit: String| Error::Allocation { bytes, device: info.name.clone(), limit };
        if bytes > info.max_alloc {
            return Err(refuse(format!("its largest single allocation is {} bytes", info.max_alloc)));
        }
        let live = inner.live_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let made = if live > info.global_mem {
            Err(refuse(format!("{} of its {} bytes are in use", live - bytes, info.global_mem)))
        } else {
            inner.new_mem(bytes as usize).map_err(|error| match error {
                Error::Allocation { device, limit, .. } => Error::Allocation { bytes, device, limit },
                other => other,
            })
        };
        match made {
            Ok(mem) => {
                inner.peak_bytes.fetch_max(live, Ordering::Relaxed);
                inner.live_buffers.fetch_add(1, Ordering::Relaxed);
                Ok(mem)
            }
            Err(error) => {
                inner.live_bytes.fetch_sub(bytes, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    /// The host's memory as a memory object that kernels read. Its owner keeps the memory as it is until the queue is
    /// through with it.
    pub(super) fn share_mem(&self, from: *const c_void, bytes: usize) -> Result<*mut c_void> {
        let mut code = SUCCESS;
        let flags = ffi::CL_MEM_READ_ONLY | ffi::CL_MEM_USE_HOST_PTR;
        // SAFETY: the caller's memory holds `bytes` and outlives the object, which kernels only read.
        let mem = unsafe { ffi::clCreateBuffer(self.inner.context.0, flags, bytes, from.cast_mut(), &mut code) };
        self.check("clCreateBuffer", code)?;
        self.inner.live_buffers.fetch_add(1, Ordering::Relaxed);
        Ok(mem)
    }

    pub(super) fn release_mem(&self, mem: *mut c_void, bytes: u64) {
        // SAFETY: a buffer releases its memory object once; the queue keeps what it still needs.
        unsafe { ffi::clReleaseMemObject(mem) };
        self.inner.live_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.inner.live_buffers.fetch_sub(1, Ordering::Relaxed);
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
        self.inner.live_buffers.fetch_add(1, Ordering::Relaxed);
        Ok(part)
    }

    pub(super) fn read_mem(&self, mem: *mut c_void, offset: usize, bytes: usize, to: *mut c_void) -> Result<()> {
        // SAFETY: the caller's memory has room for `bytes` and the call blocks until it is filled.
        self.check("clEnqueueReadBuffer", unsafe {
            ffi::clEnqueueReadBuffer(self.inner.queue.0, mem, 1, offset, bytes, to, 0, null(), null_mut())
        })
    }

    pub(super) fn write_mem(&self, mem: *mut c_void, offset: usize, bytes: usize, from: *const c_void) -> Result<()> {
        // SAFETY: the caller's memory holds `bytes` and the call blocks until they are taken.
        self.check("clEnqueueWriteBuffer", unsafe {
            ffi::clEnqueueWriteBuffer(self.inner.queue.0, mem, 1, offset, bytes, from, 0, null(), null_mut())
        })
    }

    pub(super) fn copy_mem(
        &self,
        from: *mut c_void,
        from_offset: usize,
        to: *mut c_void,
        to_offset: usize,
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller checked both ranges; they do not overlap, as the buffers differ.
        self.check("clEnqueueCopyBuffer", unsafe {
            ffi::clEnqueueCopyBuffer(self.inner.queue.0, from, to, from_offset, to_offset, bytes, 0, null(), null_mut())
        })
    }

    pub(super) fn fill_mem(&self, mem: *mut c_void, pattern: *const c_void, size: usize, bytes: usize) -> Result<()> {
        // SAFETY: the pattern has `size` bytes, copied by the call, and `bytes` is a multiple of it.
        self.check("clEnqueueFillBuffer", unsafe {
            ffi::clEnqueueFillBuffer(self.inner.queue.0, mem, pattern, size, 0, bytes, 0, null(), null_mut())
        })
    }
}

fn choose_shape(options: &ContextOptions, info: &DeviceInfo) -> Result<Shape> {
    let wanted = match (options.shape, std::env::var("CLINALG_SHAPE").as_deref()) {
        (Some(shape), _) => Some(shape),
        (None, Ok("cpu")) => Some(Shape::Cpu),
        (None, Ok("gpu")) => Some(Shape::Gpu),
        (None, Ok(other)) if !other.is_empty() => return Err(Error::value("CLINALG_SHAPE", "`cpu` or `gpu`", other)),
        _ => None,
    };
    let small = info.max_work_group < SMALLEST_GROUP;
    match wanted {
        Some(Shape::Gpu) if small => {
            let expected = format!("`cpu` on a device whose work-groups have fewer than {SMALLEST_GROUP} items");
            Err(Error::value("shape", expected, "gpu"))
        }
        Some(shape) => Ok(shape),
        None if info.kind == DeviceKind::Cpu || small => Ok(Shape::Cpu),
        None => Ok(Shape::Gpu),
    }
}

/// The binary of a program built for one device; `None` where the driver gives none.
fn binary_of(program: *mut c_void) -> Option<Vec<u8>> {
    let mut size = 0_usize;
    // SAFETY: one device, so the answer is one size_t.
    let code = unsafe {
        ffi::clGetProgramInfo(
            program,
            ffi::CL_PROGRAM_BINARY_SIZES,
            size_of::<usize>(),
            (&raw mut size).cast(),
            null_mut(),
        )
    };
    if code != SUCCESS || size == 0 {
        return None;
    }
    let mut binary = vec![0_u8; size];
    let mut pointer = binary.as_mut_ptr();
    // SAFETY: one device, so one pointer to `size` bytes is wanted.
    let code = unsafe {
        ffi::clGetProgramInfo(
            program,
            ffi::CL_PROGRAM_BINARIES,
            size_of::<*mut u8>(),
            (&raw mut pointer).cast(),
            null_mut(),
        )
    };
    (code == SUCCESS).then_some(binary)
}

impl Inner {
    fn new_mem(&self, bytes: usize) -> Result<*mut c_void> {
        let mut code = SUCCESS;
        // SAFETY: no host memory is passed.
        let mem = unsafe { ffi::clCreateBuffer(self.context.0, ffi::CL_MEM_READ_WRITE, bytes, null_mut(), &mut code) };
        status::check("clCreateBuffer", &self.device.info().name, code)?;
        if bytes >= HUGE_PAGE_BYTES && self.device.info().kind == DeviceKind::Cpu {
            self.advise_huge_pages(mem, bytes);
        }
        Ok(mem)
    }

    /// Asks the system for large pages under a new buffer of a processor: with small ones the page walks cost up to a
    /// fifth of the memory bandwidth. A hint; whatever fails leaves the buffer as it was.
    #[cfg(target_os = "linux")]
    fn advise_huge_pages(&self, mem: *mut c_void, bytes: usize) {
        let mut code = SUCCESS;
        // SAFETY: the buffer has `bytes` bytes and the call blocks until they are mapped.
        let start = unsafe {
            let flags = ffi::CL_MAP_WRITE_INVALIDATE_REGION;
            ffi::clEnqueueMapBuffer(self.queue.0, mem, 1, flags, 0, bytes, 0, null(), null_mut(), &mut code)
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
            ffi::clEnqueueUnmapMemObject(self.queue.0, mem, start, 0, null(), null_mut());
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn advise_huge_pages(&self, _mem: *mut c_void, _bytes: usize) {}
}

impl Profile {
    /// Turns the events kept into times and releases them; waits for those still running.
    fn drain(&mut self) {
        for (kernel, event) in self.pending.drain(..) {
            let (mut start, mut end) = (0_u64, 0_u64);
            // SAFETY: the event is live, each answer is one u64, and the event is released once.
            let code = unsafe {
                let mut code = ffi::clWaitForEvents(1, &event.0);
                for (what, value) in
                    [(ffi::CL_PROFILING_COMMAND_START, &mut start), (ffi::CL_PROFILING_COMMAND_END, &mut end)]
                {
                    code |= ffi::clGetEventProfilingInfo(
                        event.0,
                        what,
                        size_of::<u64>(),
                        std::ptr::from_mut(value).cast(),
                        null_mut(),
                    );
                }
                ffi::clReleaseEvent(event.0);
                code
            };
            let total = self.totals.entry(kernel).or_default();
            total.0 += 1;
            if code == SUCCESS {
                total.1 += end.saturating_sub(start) as f64 * 1e-9;
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: the slot owns its kernel.
        unsafe { ffi::clReleaseKernel(lock(&self.kernel).0) };
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: nothing refers to these objects any more; each is released once, after the queue
        // is idle. Status codes are of no use here: the device may be gone.
        unsafe {
            ffi::clFinish(self.queue.0);
            if let Some(profile) = &self.profile {
                for (_, event) in lock(profile).pending.drain(..) {
                    ffi::clReleaseEvent(event.0);
                }
            }
            let scratch = lock(&self.scratch).0;
            if !scratch.is_null() {
                ffi::clReleaseMemObject(scratch);
            }
            self.kernels.write().unwrap_or_else(PoisonError::into_inner).clear();
            for program in lock(&self.programs).values() {
                ffi::clReleaseProgram(program.0);
            }
            ffi::clReleaseCommandQueue(self.queue.0);
            ffi::clReleaseContext(self.context.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::{devices, files};
    use crate::{Vector, ops};

    fn context() -> Option<Context> {
        match devices() {
            Ok(devices) => Some(Context::new(&devices[0], &ContextOptions::default()).unwrap()),
            Err(error) => {
                eprintln!("skipped: {error}");
                None
            }
        }
    }

    #[test]
    fn a_build_failure_carries_the_compilers_words() {
        let Some(context) = context() else { return };
        let x = Vector::from_slice(&context, &[1.0_f32, 2.0]).unwrap();
        // The definition makes the kernel's name a number.
        let broken = Kernel::new(&files::VECTOR, "scale_gpu", Precision::F32).with(&[("scale_gpu", 7)]);
        for _ in 0..2 {
            let args = [Arg::size(2), Arg::F32(1.0), x.buffer().arg(), x.buffer().arg()];
            let error = context.run(&broken, Range::d1(2, 1), &args).unwrap_err();
            assert_eq!(error.id(), "clinalg:device:build");
            let Error::Build { device, program, log } = &error else { panic!("{error}") };
            assert_eq!((device, program.as_str()), (&context.device().name, "vector.cl"));
            assert!(!log.is_empty());
        }
        let unknown = Kernel::new(&files::VECTOR, "no_such_kernel", Precision::F32);
        let error = context.run(&unknown, Range::d1(2, 1), &[]).unwrap_err();
        assert_eq!(error.id(), "clinalg:device:opencl", "{error}");
        assert_eq!(ops::sum(&x).unwrap(), 3.0);
    }

    #[test]
    fn kernels_for_gpus_need_work_groups() {
        let Some(context) = context() else { return };
        let choose = |shape, max_work_group, kind| {
            let info = DeviceInfo { max_work_group, kind, ..context.device().clone() };
            choose_shape(&ContextOptions { shape, ..ContextOptions::default() }, &info)
        };
        // With a single item in a group the tree of a dense product would have no end.
        let error = choose(Some(Shape::Gpu), 1, DeviceKind::Gpu).unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:value", "{error}");
        assert_eq!(choose(Some(Shape::Gpu), 32, DeviceKind::Cpu).unwrap(), Shape::Gpu);
        assert_eq!(choose(Some(Shape::Cpu), 1, DeviceKind::Gpu).unwrap(), Shape::Cpu);
    }

    #[test]
    fn a_bad_launch_is_an_error() {
        let Some(context) = context() else { return };
        let mut x = Vector::from_slice(&context, &[1.0_f32, 2.0]).unwrap();
        let kernel = Kernel::new(&files::VECTOR, "scale_gpu", Precision::F32);
        let args = [Arg::size(2), Arg::F32(1.0), x.buffer().arg(), x.buffer().arg()];
        let many = context.device().max_work_group * 2;
        let error = context.run(&kernel, Range::d1(many, many), &args).unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:value", "{error}");
        // One argument more than the kernel has.
        let more = [args.as_slice(), &[Arg::size(1)]].concat();
        let error = context.run(&kernel, Range::d1(2, 1), &more).unwrap_err();
        assert_eq!(error.id(), "clinalg:device:opencl", "{error}");
        // An empty range launches nothing and needs no kernel.
        context.run(&Kernel::new(&files::VECTOR, "no_such_kernel", Precision::F32), Range::d1(0, 64), &[]).unwrap();
        let y = x.slice(0..2).unwrap();
        ops::scale(2.0, &y, &mut x).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0, 4.0]);
    }
}
