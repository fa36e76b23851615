//! Platforms and devices.

use std::ffi::c_void;
use std::fmt;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

use ocl::ffi;
use serde::Serialize;

use super::fork;
use super::status::{self, DEVICE_NOT_FOUND, SUCCESS};
use crate::{Error, Result};

/// The kind of hardware behind a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// The host's CPU.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// A dedicated accelerator.
    Accelerator,
    /// Anything else.
    Other,
}

/// Properties that a device reports.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceInfo {
    /// Position in the list of [`devices`], 0-based.
    pub index: usize,
    /// Name of the platform (the driver).
    pub platform: String,
    /// The platform's version text.
    pub platform_version: String,
    /// The device's vendor.
    pub vendor: String,
    /// The device's name.
    pub name: String,
    /// The OpenCL version text of the device.
    pub version: String,
    /// The highest OpenCL C version text.
    pub c_version: String,
    /// The driver's version text.
    pub driver: String,
    /// The kind of hardware.
    pub kind: DeviceKind,
    /// Whether kernels may use double precision (`cl_khr_fp64`).
    pub fp64: bool,
    /// Number of compute units.
    pub compute_units: u32,
    /// Bytes of global memory.
    pub global_mem: u64,
    /// Bytes of the largest single allocation.
    pub max_alloc: u64,
    /// Bytes of local memory that a work-group may use.
    pub local_mem: u64,
    /// Work-items of the largest work-group.
    pub max_work_group: usize,
    /// Highest clock rate in MHz, 0 if the driver does not report it.
    pub clock_mhz: u32,
    /// Whether 64-bit integer atomics are supported.
    pub int64_atomics: bool,
    /// Whether sub-groups are supported (`cl_khr_subgroups` or `cl_intel_subgroups`).
    pub sub_groups: bool,
    /// Whether divisions and square roots in single precision can be correctly rounded; double precision always is.
    pub correctly_rounded_divide_sqrt: bool,
    /// Ten times the compute capability of NVIDIA's GPUs with tensor cores for double precision (80 and later);
    /// 0 for all other devices.
    pub tensor_f64: u32,
    /// Whether the compiler accepts loads that do not allocate in the L1 cache: NVIDIA's GPUs of compute capability 7.0 and later.
    pub l1_no_allocate: bool,
    /// Whether host and device share memory.
    pub unified_memory: bool,
    /// Every extension that the device lists.
    pub extensions: Vec<String>,
}

/// A device of a platform; cheap to clone.
#[derive(Clone)]
pub struct Device {
    id: Id,
    platform: Id,
    info: Arc<DeviceInfo>,
}

/// An OpenCL identifier that stays valid as long as the process.
#[derive(Clone, Copy)]
struct Id(*mut c_void);
// SAFETY: platform and root device identifiers are plain names, valid on every thread.
unsafe impl Send for Id {}
// SAFETY: as above; they are never written through.
unsafe impl Sync for Id {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.info.index).field(&self.info.name).finish()
    }
}

/// Held while devices are listed: PoCL 3.1 crashes when its first queries come from several threads at once.
static LISTING: Mutex<()> = Mutex::new(());

/// Every device of every platform, in the loader's order.
///
/// # Errors
/// [`Error::NoLoader`] without a `libOpenCL`, [`Error::NoPlatform`] without a driver,
/// [`Error::NoDevice`] when no driver lists a device.
pub fn devices() -> Result<Vec<Device>> {
    clinalg_loader::keep_linked();
    clinalg_loader::status().map_err(|reason| Error::NoLoader { reason: reason.to_owned() })?;
    fork::check()?;
    fork::note_use();
    let _listing = LISTING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = Vec::new();
    let mut names = Vec::new();
    for platform in platform_ids()? {
        // SAFETY: `platform` is a platform and the sizes passed are those of the buffers.
        let query = |what, n, p, r| unsafe { ffi::clGetPlatformInfo(platform, what, n, p, r) };
        let text = |what| text(|n, p, r| query(what, n, p, r));
        let name = text(ffi::CL_PLATFORM_NAME);
        let version = text(ffi::CL_PLATFORM_VERSION);
        for id in device_ids(platform) {
            let info = Arc::new(describe(id, found.len(), &name, &version));
            found.push(Device { id: Id(id), platform: Id(platform), info });
        }
        names.push(name);
    }
    if found.is_empty() { Err(Error::NoDevice { platforms: names }) } else { Ok(found) }
}

fn platform_ids() -> Result<Vec<*mut c_void>> {
    let mut count = 0;
    // SAFETY: asking for the count writes `count` only.
    let code = unsafe { ffi::clGetPlatformIDs(0, null_mut(), &mut count) };
    if code != SUCCESS || count == 0 {
        return Err(Error::NoPlatform);
    }
    let mut ids = vec![null_mut(); count as usize];
    // SAFETY: `ids` has room for `count` identifiers.
    let code = unsafe { ffi::clGetPlatformIDs(count, ids.as_mut_ptr(), null_mut()) };
    if code == SUCCESS { Ok(ids) } else { Err(Error::NoPlatform) }
}

fn device_ids(platform: *mut c_void) -> Vec<*mut c_void> {
    let mut count = 0;
    // SAFETY: asking for the count writes `count` only.
    let code = unsafe { ffi::clGetDeviceIDs(platform, ffi::CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut count) };
    if code != SUCCESS || count == 0 {
        if code != SUCCESS && code != DEVICE_NOT_FOUND {
            log::warn!("clGetDeviceIDs failed with {}", status::name(code));
        }
        return Vec::new();
    }
    let mut ids = vec![null_mut(); count as usize];
    // SAFETY: `ids` has room for `count` identifiers.
    let code = unsafe { ffi::clGetDeviceIDs(platform, ffi::CL_DEVICE_TYPE_ALL, count, ids.as_mut_ptr(), null_mut()) };
    if code == SUCCESS { ids } else { Vec::new() }
}

/// A text answer of an info query; empty where the driver does not answer.
pub(super) fn text(query: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> String {
    let mut size = 0;
    if query(0, null_mut(), &mut size) != SUCCESS || size == 0 {
        return String::new();
    }
    let mut bytes = vec![0_u8; size];
    if query(size, bytes.as_mut_ptr().cast(), null_mut()) != SUCCESS {
        return String::new();
    }
    let end = bytes.iter().position(|&b| b == 0).unwrap_or(size);
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

/// Queries of `cl_nv_device_attribute_query`.
const CAPABILITY_MAJOR: u32 = 0x4000;
const CAPABILITY_MINOR: u32 = 0x4001;
/// The first compute capability, times ten, with tensor cores for double precision.
const TENSOR_F64: u32 = 80;
/// The same with loads that do not allocate in the L1 cache (PTX ISA 7.4, `ld`).
const L1_NO_ALLOCATE: u32 = 70;
/// CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
const CORRECTLY_ROUNDED: u64 = 1 << 7;

fn describe(id: *mut c_void, index: usize, platform: &str, platform_version: &str) -> DeviceInfo {
    // SAFETY: `id` is a device and the sizes passed are those of the buffers.
    let query = |what, n, p, r| unsafe { ffi::clGetDeviceInfo(id, what, n, p, r) };
    let text = |what| text(|n, p, r| query(what, n, p, r));
    let number = |what| -> u64 {
        // The answer is 4 or 8 bytes; on a little-endian host one zeroed word takes both.
        let mut value = 0_u64;
        if query(what, 8, (&raw mut value).cast(), null_mut()) == SUCCESS { value } else { 0 }
    };
    let kind = match number(ffi::CL_DEVICE_TYPE) {
        t if t & ffi::CL_DEVICE_TYPE_GPU != 0 => DeviceKind::Gpu,
        t if t & ffi::CL_DEVICE_TYPE_CPU != 0 => DeviceKind::Cpu,
        t if t & ffi::CL_DEVICE_TYPE_ACCELERATOR != 0 => DeviceKind::Accelerator,
        _ => DeviceKind::Other,
    };
    let extensions: Vec<String> = text(ffi::CL_DEVICE_EXTENSIONS).split_whitespace().map(str::to_owned).collect();
    let has = |name: &str| extensions.iter().any(|e| e == name);
    let capability = if has("cl_nv_device_attribute_query") {
        10 * number(CAPABILITY_MAJOR) as u32 + number(CAPABILITY_MINOR) as u32
    } else {
        0
    };
    DeviceInfo {
        index,
        platform: platform.to_owned(),
        platform_version: platform_version.to_owned(),
        vendor: text(ffi::CL_DEVICE_VENDOR),
        name: text(ffi::CL_DEVICE_NAME),
        version: text(ffi::CL_DEVICE_VERSION),
        c_version: text(ffi::CL_DEVICE_OPENCL_C_VERSION),
        driver: text(ffi::CL_DRIVER_VERSION),
        kind,
        fp64: has("cl_khr_fp64") || number(ffi::CL_DEVICE_DOUBLE_FP_CONFIG) != 0,
        compute_units: number(ffi::CL_DEVICE_MAX_COMPUTE_UNITS) as u32,
        global_mem: number(ffi::CL_DEVICE_GLOBAL_MEM_SIZE),
        max_alloc: number(ffi::CL_DEVICE_MAX_MEM_ALLOC_SIZE),
        local_mem: number(ffi::CL_DEVICE_LOCAL_MEM_SIZE),
        max_work_group: number(ffi::CL_DEVICE_MAX_WORK_GROUP_SIZE) as usize,
        clock_mhz: number(ffi::CL_DEVICE_MAX_CLOCK_FREQUENCY) as u32,
        int64_atomics: has("cl_khr_int64_base_atomics"),
        sub_groups: has("cl_khr_subgroups") || has("cl_intel_subgroups"),
        correctly_rounded_divide_sqrt: number(ffi::CL_DEVICE_SINGLE_FP_CONFIG) & CORRECTLY_ROUNDED != 0,
        l1_no_allocate: capability >= L1_NO_ALLOCATE,
        tensor_f64: if capability >= TENSOR_F64 { capability } else { 0 },
        unified_memory: number(ffi::CL_DEVICE_HOST_UNIFIED_MEMORY) != 0,
        extensions,
    }
}

impl Device {
    /// Properties that the device reports.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The device with the index `selector`; where there is none, the first whose name or platform
    /// contains it (case-insensitive).
    ///
    /// # Errors
    /// [`Error::DeviceNotFound`] with the list of devices, and the errors of [`devices`].
    pub fn select(selector: &str) -> Result<Device> {
        let all = devices()?;
        let wanted = selector.trim().to_lowercase();
        let found = match wanted.parse::<usize>() {
            Ok(index) if index < all.len() => Some(all[index].clone()),
            _ if wanted.is_empty() => None,
            // A number past the end may be a part of a name (`590`).
            _ => {
                let holds = |d: &&Device| {
                    d.info.name.to_lowercase().contains(&wanted) || d.info.platform.to_lowercase().contains(&wanted)
                };
                all.iter().find(holds).cloned()
            }
        };
        found.ok_or_else(|| Error::DeviceNotFound {
            wanted: selector.to_owned(),
            available: all.iter().map(|d| format!("{} {}", d.info.index, d.info.name)).collect(),
        })
    }

    /// The device that `CLINALG_DEVICE` selects, else the first GPU, else the first device.
    ///
    /// # Errors
    /// Those of [`Device::select`].
    pub fn default_device() -> Result<Device> {
        if let Ok(selector) = std::env::var("CLINALG_DEVICE")
            && !selector.trim().is_empty()
        {
            return Device::select(&selector);
        }
        let mut all = devices()?;
        let best = all.iter().position(|d| d.info.kind == DeviceKind::Gpu).unwrap_or(0);
        Ok(all.swap_remove(best))
    }

    pub(super) fn id(&self) -> *mut c_void {
        self.id.0
    }

    pub(super) fn platform(&self) -> *mut c_void {
        self.platform.0
    }
}
