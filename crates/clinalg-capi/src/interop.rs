//! OpenCL objects of the caller, and those of this library for the caller.

use std::ffi::c_void;
use std::ptr::null_mut;

use clinalg::runtime::OpenCl;
use clinalg::{Complex, Context, ContextOptions};
use clinalg_handles::{Registry, ScalarType};

use crate::object::{ClinalgHandle, scalar_of, typed, upload};
use crate::put;
use crate::status::{ClinalgStatus, Fault, guard};

/// Makes OpenCL objects of the caller those that new objects live on, in the place of `clinalg_device_select`: a `cl_context`, one of its
/// devices (a `cl_device_id`), and an in-order `cl_command_queue` of both, in which this library enqueues its commands; null there makes
/// a queue of the library's own. Context and queue are retained until the last object is released and another device is selected, or
/// `clinalg_shutdown` is called.
///
/// Commands that the caller enqueues in the same queue run in the order of the calls. Order those in other queues by events, or by
/// `clinalg_device_finish` and `clFinish`.
///
/// # Safety
/// The pointers are null or live objects of the OpenCL library that this process has loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_opencl_select(
    context: *mut c_void,
    device: *mut c_void,
    queue: *mut c_void,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let made = unsafe { Context::from_opencl(&OpenCl { context, device, queue }, &ContextOptions::default())? };
        Context::set_global(made);
        Ok(())
    })
}

/// The OpenCL objects that new objects live on: a `cl_context`, a `cl_device_id` and a `cl_command_queue`. Context and queue are retained for the
/// caller, who releases them with `clReleaseContext` and `clReleaseCommandQueue`. Each pointer may be null.
///
/// All commands go to this queue in the order of the calls, except those of teams that transfer values, which go to a second queue and are ordered
/// by events; finish them first. Calls that give numbers or arrays wait for the commands. To use a result in another queue, enqueue a marker in
/// this one, flush it (`clFlush`), and let the other queue wait for the marker's event.
///
/// # Safety
/// The pointers are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_opencl_export(
    context: *mut *mut c_void,
    device: *mut *mut c_void,
    queue: *mut *mut c_void,
) -> ClinalgStatus {
    guard(|| {
        let current = Context::global()?;
        let of_queue = if queue.is_null() { null_mut() } else { current.export_queue()? };
        let of_context = if context.is_null() { Ok(null_mut()) } else { current.export_context() };
        // SAFETY: the queue was exported or is null.
        let of_context = unsafe { or_release(of_context, of_queue)? };
        // SAFETY: by the contract above.
        unsafe {
            if !context.is_null() {
                context.write(of_context);
            }
            if !device.is_null() {
                device.write(current.opencl().device);
            }
            if !queue.is_null() {
                queue.write(of_queue);
            }
        }
        Ok(())
    })
}

/// What was exported; where that failed, the queue that was exported before is released, which may be null.
///
/// # Safety
/// `queue` is null or from [`Context::export_queue`] and not released.
unsafe fn or_release(exported: clinalg::Result<*mut c_void>, queue: *mut c_void) -> clinalg::Result<*mut c_void> {
    if exported.is_err() && !queue.is_null() {
        // SAFETY: by the contract above.
        unsafe { Context::release_queue(queue) };
    }
    exported
}

/// A vector of `len` values of the type `precision` in the memory of `mem`, a `cl_mem` of the current context (`clinalg_opencl_select`) that kernels
/// and host may read and write. Nothing is copied. `mem` is retained until the vector is released. For a part of a buffer, pass a
/// sub-buffer (`clCreateSubBuffer`). Memory that a live object uses cannot be imported a second time.
///
/// # Safety
/// `mem` is null or a live `cl_mem`; while the vector lives, other commands use its memory in the order that `clinalg_opencl_export` says;
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_vector_import(
    precision: u32,
    mem: *mut c_void,
    len: usize,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        // SAFETY: by the contract above.
        typed!(precision, T => Ok(unsafe { Registry::global().import_vector::<T>(context, mem, len)? }))
    })
}

/// A dense `rows` x `cols` matrix by columns in the memory of `mem`, as `clinalg_vector_import`.
///
/// # Safety
/// As `clinalg_vector_import`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_dense_import(
    precision: u32,
    mem: *mut c_void,
    rows: usize,
    cols: usize,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        // SAFETY: by the contract above.
        typed!(precision, T => Ok(unsafe { Registry::global().import_dense::<T>(context, mem, (rows, cols))? }))
    })
}

/// The `cl_mem` that holds the values of a vector or dense matrix (column by column), from its beginning, and the `cl_command_queue` in which
/// this library uses it. Both are retained for the caller, who releases them with `clReleaseMemObject` and `clReleaseCommandQueue`, also after
/// the object is released. `queue` may be null. `clinalg_opencl_export` says how to order commands.
///
/// # Safety
/// `mem` and `queue` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_object_export(
    object: ClinalgHandle,
    mem: *mut *mut c_void,
    queue: *mut *mut c_void,
) -> ClinalgStatus {
    guard(|| {
        if mem.is_null() {
            return Err(Fault::Null("mem"));
        }
        let registry = Registry::global();
        let mut of_queue = null_mut();
        if !queue.is_null() {
            of_queue = registry.context_of(object)?.export_queue()?;
        }
        // SAFETY: the queue was exported or is null.
        let exported = unsafe { or_release(registry.export(object), of_queue)? };
        // SAFETY: by the contract above.
        unsafe {
            if !queue.is_null() {
                put("queue", queue, of_queue)?;
            }
            put("mem", mem, exported)
        }
    })
}
