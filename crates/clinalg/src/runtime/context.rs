//! One device in use.

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, OnceLock};

use ocl::ffi;
use serde::Serialize;

use super::device::{Device, DeviceInfo, DeviceKind};
use super::memory::Account;
use super::profile::KernelTiming;
use super::programs::Programs;
use super::queue::{CommandQueue, Queue};
use super::raw::{Raw, lock};
use super::status::{self, SUCCESS};
use super::{faults, fork};
use crate::{Error, Precision, Result, Scalar};

/// The kernel family: CPUs and GPUs need the same work divided in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelFamily {
    /// A chunk of the work per item, wide vectors, no barriers.
    Cpu,
    /// One or a few elements per item, work-groups that share local memory.
    Gpu,
}

impl KernelFamily {
    /// The family that the environment variable `CLINALG_KERNEL_FAMILY` names; `None` where it is not set, or empty.
    ///
    /// # Errors
    /// [`Error::Value`] when it is neither `cpu` nor `gpu`.
    pub fn from_environment() -> Result<Option<KernelFamily>> {
        match std::env::var("CLINALG_KERNEL_FAMILY").as_deref() {
            Ok("cpu") => Ok(Some(KernelFamily::Cpu)),
            Ok("gpu") => Ok(Some(KernelFamily::Gpu)),
            Ok(other) if !other.is_empty() => Err(Error::value("CLINALG_KERNEL_FAMILY", "`cpu` or `gpu`", other)),
            _ => Ok(None),
        }
    }
}

/// Options of a context.
#[derive(Debug, Clone, Default)]
pub struct ContextOptions {
    /// Keep the time of every kernel for [`Context::timings`].
    pub profiling: bool,
    /// The kernel family; `None` for `CLINALG_KERNEL_FAMILY` (`cpu` or `gpu`), or else the one for this kind of device.
    pub family: Option<KernelFamily>,
    /// Maximum number of built kernels that the context keeps; `None` for 256. Beyond it the least recently launched one is released, and built again
    /// (from the cache on disk) when it is next launched.
    pub most_kernels: Option<usize>,
}

/// One device in use: its in-order queue, the kernels built for it, its memory account.
///
/// Cheap to clone; objects made in a context keep it alive. All methods may be called from any
/// thread.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

/// The fields are dropped in this order: what the queue may still use goes first and is kept by the driver until then.
struct Inner {
    device: Device,
    family: KernelFamily,
    local: usize,
    extensions: Extensions,
    programs: Programs,
    account: Account,
    queue: CommandQueue,
    transfers: OnceLock<CommandQueue>,
    raw: RawContext,
}

/// The OpenCL context.
struct RawContext(Raw);

impl Drop for RawContext {
    fn drop(&mut self) {
        if !fork::is_child() {
            // SAFETY: released once, after all that was made in it.
            unsafe { ffi::clReleaseContext(self.0.0) };
        }
    }
}

/// What modules above keep in a context, one value per type: a list that only grows, so that a look-up takes no lock.
#[derive(Default)]
struct Extensions(OnceLock<Box<Extension>>);

struct Extension {
    value: Box<dyn Any + Send + Sync>,
    next: Extensions,
}

impl Extensions {
    fn get_or_insert<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> &T {
        let mut place = self;
        let mut make = Some(make);
        let mut made: Option<Box<Extension>> = None;
        loop {
            if let Some(extension) = place.0.get() {
                if let Some(value) = extension.value.downcast_ref() {
                    return value;
                }
                place = &extension.next;
                continue;
            }
            if let Some(make) = make.take() {
                made = Some(Box::new(Extension { value: Box::new(make()), next: Extensions::default() }));
            }
            // Another thread may have been first here; then the loop looks at what it put.
            made = made.take().and_then(|new| place.0.set(new).err());
        }
    }
}

/// Items that kernels of [`KernelFamily::Gpu`] need in a work-group: those of a sparse row and of a dense tile.
const SMALLEST_GROUP: usize = 32;
/// Items of a work-group where a kernel has no reason for another number.
const DEFAULT_LOCAL: usize = 256;

static GLOBAL: Mutex<Option<Context>> = Mutex::new(None);

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("device", &self.device().name).field("family", &self.family()).finish()
    }
}

impl Context {
    /// A context on `device`, separate from the global one.
    ///
    /// # Errors
    /// [`Error::DeviceLost`] or [`Error::OpenCl`] when the driver refuses,
    /// [`Error::Value`] when `CLINALG_KERNEL_FAMILY` is neither `cpu` nor `gpu`.
    pub fn new(device: &Device, options: &ContextOptions) -> Result<Context> {
        fork::check()?;
        let info = device.info();
        let properties = [ffi::CL_CONTEXT_PLATFORM as isize, device.platform() as isize, 0];
        // Checked before anything is made.
        choose_family(options, info)?;
        let mut code = SUCCESS;
        // SAFETY: the property list ends in zero and one device is named.
        let raw = unsafe { ffi::clCreateContext(properties.as_ptr(), 1, &device.id(), None, null_mut(), &mut code) };
        status::check("clCreateContext", &info.name, code)?;
        // SAFETY: the context was just made, for this device.
        unsafe {
            Context::on(device.clone(), Raw(raw), options, |device| {
                CommandQueue::new(Raw(raw), device, options.profiling)
            })
        }
    }

    /// A context on an OpenCL context, which it releases, also where the call fails.
    ///
    /// # Safety
    /// `raw` is a live context with the device, and `queue` makes a queue of both.
    pub(super) unsafe fn on(
        device: Device,
        raw: Raw,
        options: &ContextOptions,
        queue: impl FnOnce(&Device) -> Result<CommandQueue>,
    ) -> Result<Context> {
        let raw = RawContext(raw);
        let info = device.info();
        let family = choose_family(options, info)?;
        let largest = 1 << info.max_work_group.max(1).ilog2();
        let queue = queue(&device)?;
        Ok(Context {
            inner: Arc::new(Inner {
                device,
                family,
                local: DEFAULT_LOCAL.min(largest),
                extensions: Extensions::default(),
                programs: Programs::new(options.most_kernels),
                account: Account::default(),
                queue,
                transfers: OnceLock::new(),
                raw,
            }),
        })
    }

    /// The global context of the process; the first call creates it on [`Device::default_device`].
    ///
    /// # Errors
    /// Those of [`Device::default_device`] and [`Context::new`].
    pub fn global() -> Result<Context> {
        fork::check()?;
        let mut global = lock(&GLOBAL);
        if let Some(context) = &*global {
            return Ok(context.clone());
        }
        let context = Context::new(&Device::default_device()?, &ContextOptions::default())?;
        *global = Some(context.clone());
        Ok(context)
    }

    /// The global context of the process, if it has been created.
    pub fn current() -> Option<Context> {
        if fork::is_child() { None } else { lock(&GLOBAL).clone() }
    }

    /// Makes `context` the global one of the process. Objects of the previous one remain usable.
    pub fn set_global(context: Context) {
        *lock(&GLOBAL) = Some(context);
    }

    /// Drops the global context of the process; its memory is freed with its last object.
    pub fn release_global() {
        if !fork::is_child() {
            *lock(&GLOBAL) = None;
        }
    }

    /// Properties that the device reports.
    pub fn device(&self) -> &DeviceInfo {
        self.inner.device.info()
    }

    /// The kernel family in use.
    pub fn family(&self) -> KernelFamily {
        self.inner.family
    }

    /// An error unless the device supports `T`.
    ///
    /// # Errors
    /// [`Error::NoFp64`].
    pub fn require<T: Scalar>(&self) -> Result<()> {
        self.require_precision(T::PRECISION)
    }

    pub(super) fn require_precision(&self, precision: Precision) -> Result<()> {
        if precision == Precision::F64 && !self.device().fp64 {
            return Err(Error::NoFp64 { device: self.device().name.clone() });
        }
        Ok(())
    }

    /// Whether both are the same context.
    pub fn same(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// What a module above keeps in this context: the value of type `T`, made by the first call.
    pub(crate) fn extension<T: Any + Send + Sync>(&self, make: impl FnOnce(&DeviceInfo) -> T) -> &T {
        self.inner.extensions.get_or_insert(|| make(self.device()))
    }

    /// The queue of kernels.
    pub fn queue(&self) -> Queue<'_> {
        Queue::new(self, self.command_queue())
    }

    /// The queue of transfers that the host does not wait for; what it holds runs beside the kernels.
    ///
    /// # Errors
    /// [`Error::OpenCl`] when the driver refuses a second queue.
    pub fn transfers(&self) -> Result<Queue<'_>> {
        Ok(Queue::new(self, self.transfer_queue()?))
    }

    /// Waits until the device has executed all enqueued kernels.
    ///
    /// # Errors
    /// What the device reports of the work done.
    pub fn finish(&self) -> Result<()> {
        self.command_queue().finish()
    }

    /// Device time per kernel, the longest first; empty unless made with `profiling`.
    ///
    /// # Errors
    /// Those of [`Context::finish`].
    pub fn timings(&self) -> Result<Vec<KernelTiming>> {
        self.command_queue().timings()
    }

    /// Discards the times recorded so far.
    pub fn reset_timings(&self) {
        self.command_queue().reset_timings();
    }

    /// Items of a work-group where a kernel has no reason for another number; a power of two.
    pub fn local(&self) -> usize {
        self.inner.local
    }

    /// Compute units, at least one.
    pub(crate) fn units(&self) -> usize {
        self.device().compute_units.max(1) as usize
    }

    /// Work-items that keep a CPU busy and balanced, for kernels of [`KernelFamily::Cpu`].
    pub fn chunks(&self) -> usize {
        self.units() * 8
    }

    /// Whether kernels for CPUs may carry prefetch hints.
    pub(crate) fn prefetches(&self) -> bool {
        faults::takes_prefetch(self.device())
    }

    pub(super) fn check(&self, call: &'static str, code: i32) -> Result<()> {
        status::check(call, &self.device().name, code)
    }

    pub(super) fn raw(&self) -> Raw {
        self.inner.raw.0
    }

    pub(super) fn device_id(&self) -> *mut c_void {
        self.inner.device.id()
    }

    pub(super) fn command_queue(&self) -> &CommandQueue {
        &self.inner.queue
    }

    /// The queue of transfers, made by the first call.
    pub(super) fn transfer_queue(&self) -> Result<&CommandQueue> {
        if let Some(queue) = self.inner.transfers.get() {
            return Ok(queue);
        }
        // Of two threads that come here at once, one drops its queue again.
        let made = CommandQueue::new(self.raw(), &self.inner.device, false)?;
        Ok(self.inner.transfers.get_or_init(|| made))
    }

    pub(super) fn programs(&self) -> &Programs {
        &self.inner.programs
    }

    pub(super) fn account(&self) -> &Account {
        &self.inner.account
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Nothing may be released while a kernel still uses it; a queue that fails runs nothing more.
        if let Some(transfers) = self.transfers.get() {
            let _ = transfers.finish();
        }
        let _ = self.queue.finish();
    }
}

fn choose_family(options: &ContextOptions, info: &DeviceInfo) -> Result<KernelFamily> {
    let wanted = match options.family {
        Some(family) => Some(family),
        None => KernelFamily::from_environment()?,
    };
    let small = info.max_work_group < SMALLEST_GROUP;
    match wanted {
        Some(KernelFamily::Gpu) if small => {
            let expected = format!("`cpu` on a device whose work-groups have fewer than {SMALLEST_GROUP} items");
            Err(Error::value("family", expected, "gpu"))
        }
        Some(family) => Ok(family),
        None if info.kind == DeviceKind::Cpu || small => Ok(KernelFamily::Cpu),
        None => Ok(KernelFamily::Gpu),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::devices;

    fn context() -> Option<Context> {
        let devices = clinalg_testing::found(devices())?;
        Some(Context::new(&devices[0], &ContextOptions::default()).unwrap())
    }

    #[test]
    fn kernels_for_gpus_need_work_groups() {
        let Some(context) = context() else { return };
        let choose = |family, max_work_group, kind| {
            let info = DeviceInfo { max_work_group, kind, ..context.device().clone() };
            choose_family(&ContextOptions { family, ..ContextOptions::default() }, &info)
        };
        // With a single item in a group the tree of a dense product would have no end.
        let error = choose(Some(KernelFamily::Gpu), 1, DeviceKind::Gpu).unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:value", "{error}");
        assert_eq!(choose(Some(KernelFamily::Gpu), 32, DeviceKind::Cpu).unwrap(), KernelFamily::Gpu);
        assert_eq!(choose(Some(KernelFamily::Cpu), 1, DeviceKind::Gpu).unwrap(), KernelFamily::Cpu);
    }

    #[test]
    fn extensions_are_one_per_type_and_context() {
        let Some(context) = context() else { return };
        std::thread::scope(|scope| {
            for value in 1..=4_u32 {
                let context = &context;
                scope.spawn(move || {
                    let first = *context.extension(|_| value);
                    assert_eq!(*context.extension(|_| -> u32 { unreachable!("it was made") }), first);
                    let name = context.extension(|info| info.name.clone());
                    assert_eq!(name, &context.device().name);
                });
            }
        });
        let other = Context::new(&devices().unwrap()[0], &ContextOptions::default()).unwrap();
        assert_eq!(*other.extension(|_| 7_u32), 7);
        assert_ne!(*context.extension(|_| 7_u32), 7);
    }
}
