//! Devices, the one context, memory.

use std::ffi::c_char;

use clinalg::runtime::devices;
use clinalg::{Context, ContextOptions, Device};
use clinalg_handles::Registry;

use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, put_text, text};

/// The texts of [`clinalg_device_text`].
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum ClinalgDeviceText {
    /// The device's name.
    Name = 0,
    /// The device's vendor.
    Vendor = 1,
    /// The platform (driver).
    Platform = 2,
    /// The driver's version.
    Driver = 3,
    /// The OpenCL version.
    Version = 4,
}

/// The numbers of [`clinalg_device_number`].
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum ClinalgDeviceNumber {
    /// 1 with double precision, else 0.
    Fp64 = 0,
    /// Compute units.
    ComputeUnits = 1,
    /// Bytes of global memory.
    GlobalMem = 2,
    /// Bytes of the largest single allocation.
    MaxAlloc = 3,
    /// Bytes of local memory of a work-group.
    LocalMem = 4,
}

/// Device memory held by the objects of the process.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgMemory {
    /// Bytes in live objects.
    pub live_bytes: u64,
    /// Peak number of bytes.
    pub peak_bytes: u64,
    /// Number of live device buffers.
    pub live_buffers: u64,
}

fn device(index: usize) -> Result<Device, Fault> {
    Ok(Device::select(&index.to_string())?)
}

/// Number of OpenCL devices.
///
/// # Safety
/// `count` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_device_count(count: *mut usize) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put("count", count, devices()?.len()) })
}

/// A text about device `index` (`what` is a `clinalg_text`), cut to `capacity` bytes with the ending zero. `needed`, if not
/// null, gets the bytes of the whole text with its zero.
///
/// # Safety
/// `buffer` is null or has room for `capacity` bytes; `needed` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_device_text(
    index: usize,
    what: u32,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> ClinalgStatus {
    guard(|| {
        let device = device(index)?;
        let info = device.info();
        let text = choice(
            "what",
            what,
            &[
                (ClinalgDeviceText::Name, &info.name),
                (ClinalgDeviceText::Vendor, &info.vendor),
                (ClinalgDeviceText::Platform, &info.platform),
                (ClinalgDeviceText::Driver, &info.driver),
                (ClinalgDeviceText::Version, &info.version),
            ],
        )?;
        // SAFETY: by the contract above.
        unsafe { put_text(text, (buffer, capacity), needed) }
    })
}

/// A number about device `index`; `what` is a `clinalg_number`.
///
/// # Safety
/// `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_device_number(index: usize, what: u32, value: *mut u64) -> ClinalgStatus {
    guard(|| {
        let device = device(index)?;
        let info = device.info();
        let number = choice(
            "what",
            what,
            &[
                (ClinalgDeviceNumber::Fp64, u64::from(info.fp64)),
                (ClinalgDeviceNumber::ComputeUnits, u64::from(info.compute_units)),
                (ClinalgDeviceNumber::GlobalMem, info.global_mem),
                (ClinalgDeviceNumber::MaxAlloc, info.max_alloc),
                (ClinalgDeviceNumber::LocalMem, info.local_mem),
            ],
        )?;
        // SAFETY: by the contract above.
        unsafe { put("value", value, number) }
    })
}

/// Selects the device of this index or name for new objects. Without this call the first object
/// selects the default device (`CLINALG_DEVICE`, else the first GPU, else the first).
///
/// # Safety
/// `selector` is null or a text that ends in zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_device_select(selector: *const c_char) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let selector = unsafe { text("selector", selector)? };
        Context::set_global(Context::new(&Device::select(selector)?, &ContextOptions::default())?);
        Ok(())
    })
}

/// Waits until the device has executed all enqueued work.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_device_finish() -> ClinalgStatus {
    guard(|| Ok(Context::global()?.finish()?))
}

/// Device memory held by the objects of the current device.
///
/// # Safety
/// `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_device_memory(report: *mut ClinalgMemory) -> ClinalgStatus {
    guard(|| {
        let memory = Context::global()?.memory();
        let value = ClinalgMemory {
            live_bytes: memory.live_bytes,
            peak_bytes: memory.peak_bytes,
            live_buffers: memory.live_buffers,
        };
        // SAFETY: by the contract above.
        unsafe { put("report", report, value) }
    })
}

/// Releases every object and the device. All handles become stale; the library can be used again.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_shutdown() -> ClinalgStatus {
    guard(|| {
        Registry::global().release_all();
        Context::release_global();
        Ok(())
    })
}
