//! OpenCL objects of the caller for this library, and those of this library for the caller.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;

use ocl::ffi;

use super::buffer::Buffer;
use super::context::{Context, ContextOptions};
use super::device::devices;
use super::queue::CommandQueue;
use super::raw::{Raw, lock};
use super::status;
use crate::{Element, Error, Result};

/// A `cl_context`, a `cl_device_id` and a `cl_command_queue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCl {
    /// The `cl_context`.
    pub context: *mut c_void,
    /// The `cl_device_id`.
    pub device: *mut c_void,
    /// The `cl_command_queue`.
    pub queue: *mut c_void,
}

/// The largest built-in type of OpenCL C, to which kernels may align their accesses.
const LARGEST_TYPE: usize = 128;
/// CL_QUEUE_ON_DEVICE of OpenCL 2.0.
const ON_DEVICE: u64 = 1 << 2;

/// The answer of an info query of one value.
fn answer<T: Copy>(
    (call, device): (&'static str, &str),
    start: T,
    query: impl Fn(usize, *mut c_void) -> i32,
) -> Result<T> {
    let mut value = start;
    status::check(call, device, query(size_of::<T>(), (&raw mut value).cast()))?;
    Ok(value)
}

/// An error unless `pointer` names something.
fn check_given(argument: &'static str, pointer: *mut c_void) -> Result<()> {
    match pointer.is_null() {
        true => Err(Error::value(argument, "an OpenCL object", "null")),
        false => Ok(()),
    }
}

/// The devices of a context.
///
/// # Safety
/// `context` is a live `cl_context`.
unsafe fn devices_of(context: *mut c_void, device: &str) -> Result<Vec<*mut c_void>> {
    let mut bytes = 0;
    // SAFETY: by the contract above; asking for the size writes `bytes` only.
    let code = unsafe { ffi::clGetContextInfo(context, ffi::CL_CONTEXT_DEVICES, 0, null_mut(), &mut bytes) };
    status::check("clGetContextInfo", device, code)?;
    let mut ids: Vec<*mut c_void> = vec![null_mut(); bytes / size_of::<*mut c_void>()];
    // SAFETY: as above; there is room for so many bytes.
    let code =
        unsafe { ffi::clGetContextInfo(context, ffi::CL_CONTEXT_DEVICES, bytes, ids.as_mut_ptr().cast(), null_mut()) };
    status::check("clGetContextInfo", device, code)?;
    Ok(ids)
}

/// An error unless the queue is an in-order one of the host for this device in this context; gives its properties.
///
/// # Safety
/// `objects.queue` is a live `cl_command_queue`.
unsafe fn check_queue(objects: &OpenCl, device: &str) -> Result<u64> {
    let call = ("clGetCommandQueueInfo", device);
    let query = |what, bytes, to| {
        // SAFETY: by the contract above; `to` has room for `bytes`.
        unsafe { ffi::clGetCommandQueueInfo(objects.queue, what, bytes, to, null_mut()) }
    };
    let pointer = |what| answer(call, null_mut::<c_void>(), |bytes, to| query(what, bytes, to));
    if pointer(ffi::CL_QUEUE_CONTEXT)? != objects.context {
        return Err(Error::Context { argument: "queue" });
    }
    if pointer(ffi::CL_QUEUE_DEVICE)? != objects.device {
        return Err(Error::unsuitable("queue", "the queue belongs to another device than the one given"));
    }
    let properties = answer(call, 0_u64, |bytes, to| query(ffi::CL_QUEUE_PROPERTIES, bytes, to))?;
    if properties & (ffi::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | ON_DEVICE) != 0 {
        let expected = "an in-order queue of the host, made without CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE; or none, for a queue of the library's own";
        return Err(Error::value("queue", expected, format!("a queue with the properties {properties:#x}")));
    }
    Ok(properties)
}

impl Context {
    /// A context on OpenCL objects of the caller, which are retained until its last object is dropped. What is computed in it is enqueued in
    /// `objects.queue`, an in-order queue; a null one stands for a new queue. `objects.context` may have further devices.
    ///
    /// The caller's own commands in that queue and those of this library run in the order of their enqueueing. Commands in other queues
    /// have to be ordered by events ([`Context::opencl`]) or by [`Context::finish`].
    ///
    /// # Safety
    /// `objects.context` and `objects.queue`, if that is not null, are live OpenCL objects of the loader that this process has opened.
    ///
    /// # Errors
    /// [`Error::Value`] that names `context`, `device` or `queue`: a null pointer, a device that [`devices`] does not list or the context lacks, a
    /// queue of another device or that is out of order; [`Error::Context`] for a queue of another context; those of [`Context::new`].
    pub unsafe fn from_opencl(objects: &OpenCl, options: &ContextOptions) -> Result<Context> {
        check_given("context", objects.context)?;
        check_given("device", objects.device)?;
        // Only what a driver listed is known to be a device.
        let device = devices()?.into_iter().find(|device| device.id() == objects.device).ok_or_else(|| {
            let expected = "a device that clGetDeviceIDs lists; sub-devices are not supported";
            Error::value("device", expected, format!("{:p}", objects.device))
        })?;
        let name = device.info().name.clone();
        // SAFETY: by the contract above.
        if !unsafe { devices_of(objects.context, &name)? }.contains(&objects.device) {
            return Err(Error::value("device", "a device of the context given", format!("`{name}`")));
        }
        if !objects.queue.is_null() {
            // SAFETY: by the contract above.
            let properties = unsafe { check_queue(objects, &name)? };
            if options.profiling && properties & ffi::CL_QUEUE_PROFILING_ENABLE == 0 {
                let expected = "a queue made with CL_QUEUE_PROFILING_ENABLE where kernels are timed";
                return Err(Error::value("queue", expected, "one without"));
            }
        }
        // SAFETY: by the contract above; what is retained here is released when the context and the queue are dropped.
        unsafe {
            status::check("clRetainContext", &name, ffi::clRetainContext(objects.context))?;
            Context::on(device, Raw(objects.context), options, |device| match objects.queue.is_null() {
                true => CommandQueue::new(Raw(objects.context), device, options.profiling),
                false => {
                    status::check("clRetainCommandQueue", &name, ffi::clRetainCommandQueue(objects.queue))?;
                    Ok(CommandQueue::adopt(Raw(objects.queue), device, options.profiling))
                }
            })
        }
    }

    /// The OpenCL objects of this context, which live as long as it does.
    ///
    /// All commands go to this queue in the order of the calls, except asynchronous transfers ([`Staging`](super::Staging), teams), which go to a
    /// second queue and are ordered by events; finish them first. To use results in another queue, enqueue a marker here, flush this queue, and
    /// wait for the marker's event there.
    pub fn opencl(&self) -> OpenCl {
        OpenCl { context: self.raw().0, device: self.device_id(), queue: self.command_queue().raw() }
    }

    /// The `cl_context`, retained for the caller, who releases it with `clReleaseContext`.
    ///
    /// # Errors
    /// [`Error::OpenCl`], [`Error::Forked`].
    pub fn export_context(&self) -> Result<*mut c_void> {
        super::fork::check()?;
        let context = self.raw().0;
        // SAFETY: it is live.
        self.check("clRetainContext", unsafe { ffi::clRetainContext(context) })?;
        Ok(context)
    }

    /// The `cl_command_queue`, retained for the caller, who releases it with `clReleaseCommandQueue`; see [`Context::opencl`].
    ///
    /// # Errors
    /// [`Error::OpenCl`], [`Error::Forked`].
    pub fn export_queue(&self) -> Result<*mut c_void> {
        super::fork::check()?;
        let queue = self.command_queue().raw();
        // SAFETY: it is live.
        self.check("clRetainCommandQueue", unsafe { ffi::clRetainCommandQueue(queue) })?;
        Ok(queue)
    }

    /// Releases a `cl_command_queue` of [`Context::export_queue`] that does not reach the caller.
    ///
    /// # Safety
    /// `queue` is from a call of that method, and was not released for that call before.
    pub unsafe fn release_queue(queue: *mut c_void) {
        // SAFETY: by the contract above.
        unsafe { ffi::clReleaseCommandQueue(queue) };
    }
}

/// The memory that live buffers share with callers.
#[derive(Default)]
struct Imports(Mutex<Vec<Part>>);

/// A part of a memory object that a caller may hold.
#[derive(Clone, Copy)]
struct Part {
    mem: Raw,
    /// The memory object that a sub-buffer is a part of, or itself, and the bytes of it.
    root: Raw,
    begin: usize,
    end: usize,
}

impl Part {
    fn overlaps(&self, other: &Part) -> bool {
        self.root.0 == other.root.0 && self.begin < other.end && other.begin < self.end
    }
}

/// Lets memory be imported again.
pub(super) fn forget(context: &Context, mem: *mut c_void) {
    lock(&context.extension(|_| Imports::default()).0).retain(|part| part.mem.0 != mem);
}

impl<T: Element> Buffer<T> {
    /// A buffer of `len` values in the memory of `mem`, a `cl_mem` of the caller, which is retained until the buffer is dropped. A sub-buffer
    /// (`clCreateSubBuffer`) serves for a part of a buffer.
    ///
    /// # Safety
    /// `mem` is a live `cl_mem`. While the buffer lives, other commands use the memory only in the order that [`Context::opencl`] says.
    ///
    /// # Errors
    /// [`Error::Value`] that names `mem`: null, no buffer object, not to be read and written by kernels and host, host memory that is not aligned to 128
    /// bytes, or memory of another live buffer of `context`, which was made of it or has [exported](Buffer::export) it; [`Error::Context`] for memory of another `cl_context`; [`Error::Length`] where it is
    /// shorter.
    pub unsafe fn from_opencl(context: &Context, mem: *mut c_void, len: usize) -> Result<Buffer<T>> {
        super::fork::check()?;
        check_given("mem", mem)?;
        let call = ("clGetMemObjectInfo", context.device().name.as_str());
        let query = |what, bytes, to| {
            // SAFETY: by the contract above; `to` has room for `bytes`.
            unsafe { ffi::clGetMemObjectInfo(mem, what, bytes, to, null_mut()) }
        };
        let pointer = |what| answer(call, null_mut::<c_void>(), |bytes, to| query(what, bytes, to));
        let size = |what| answer(call, 0_usize, |bytes, to| query(what, bytes, to));
        if answer(call, 0_u32, |bytes, to| query(ffi::CL_MEM_TYPE, bytes, to))? != ffi::CL_MEM_OBJECT_BUFFER {
            return Err(Error::value("mem", "a buffer object created by clCreateBuffer", "an image or another object"));
        }
        if pointer(ffi::CL_MEM_CONTEXT)? != context.raw().0 {
            return Err(Error::Context { argument: "mem" });
        }
        let flags = answer(call, 0_u64, |bytes, to| query(ffi::CL_MEM_FLAGS, bytes, to))?;
        let one_way = ffi::CL_MEM_READ_ONLY
            | ffi::CL_MEM_WRITE_ONLY
            | ffi::CL_MEM_HOST_READ_ONLY
            | ffi::CL_MEM_HOST_WRITE_ONLY
            | ffi::CL_MEM_HOST_NO_ACCESS;
        if flags & one_way != 0 {
            let expected = "memory that kernels and host may read and write: CL_MEM_READ_WRITE without CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY and CL_MEM_HOST_NO_ACCESS";
            return Err(Error::value("mem", expected, format!("memory with the flags {flags:#x}")));
        }
        let host = pointer(ffi::CL_MEM_HOST_PTR)?;
        if flags & ffi::CL_MEM_USE_HOST_PTR != 0 && !host.addr().is_multiple_of(LARGEST_TYPE) {
            let expected = format!("host memory at an address that {LARGEST_TYPE} divides");
            return Err(Error::value("mem", expected, format!("{host:p}")));
        }
        let bytes = size(ffi::CL_MEM_SIZE)?;
        if len > bytes / size_of::<T>() {
            return Err(Error::Length { argument: "mem", expected: len, got: bytes / size_of::<T>() });
        }
        let (parent, begin) = (pointer(ffi::CL_MEM_ASSOCIATED_MEMOBJECT)?, size(ffi::CL_MEM_OFFSET)?);
        let root = if parent.is_null() { mem } else { parent };
        let part = Part { mem: Raw(mem), root: Raw(root), begin, end: begin + bytes };
        let mut imports = lock(&context.extension(|_| Imports::default()).0);
        if imports.iter().any(|other| other.overlaps(&part)) {
            let expected = "memory that no other object uses; release that object first";
            return Err(Error::value("mem", expected, "memory of a live object"));
        }
        // SAFETY: by the contract above; the drop of the buffer releases it once.
        status::check(call.0, call.1, unsafe { ffi::clRetainMemObject(mem) })?;
        imports.push(part);
        drop(imports);
        context.count_import();
        Ok(Buffer::imported(context, mem, len))
    }

    /// The `cl_mem` of this buffer, which holds its values from the beginning. It is retained for the caller, who releases it with
    /// `clReleaseMemObject` and may do so after the buffer is dropped. Until then [`Buffer::from_opencl`] does not take it for the same context. See
    /// [`Context::opencl`] for the order of commands.
    ///
    /// # Errors
    /// [`Error::OpenCl`], [`Error::Forked`].
    pub fn export(&mut self) -> Result<*mut c_void> {
        super::fork::check()?;
        let mem = self.raw();
        let call = ("clGetMemObjectInfo", self.context().device().name.as_str());
        let end = answer(call, 0_usize, |bytes, to| {
            // SAFETY: the memory is live; `to` has room for `bytes`.
            unsafe { ffi::clGetMemObjectInfo(mem, ffi::CL_MEM_SIZE, bytes, to, null_mut()) }
        })?;
        // SAFETY: the memory is live.
        self.context().check("clRetainMemObject", unsafe { ffi::clRetainMemObject(mem) })?;
        // The caller may use it after the buffer, so no other buffer may get it, and none may be made of it meanwhile.
        if self.leave_pool() {
            let part = Part { mem: Raw(mem), root: Raw(mem), begin: 0, end };
            lock(&self.context().extension(|_| Imports::default()).0).push(part);
        }
        Ok(mem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Reuse;
    use crate::runtime::status::SUCCESS;

    /// A context, its objects and a second one on them.
    fn pair() -> Option<(Context, OpenCl, Context)> {
        let devices = clinalg_testing::found(devices())?;
        let first = Context::new(&devices[0], &ContextOptions::default()).unwrap();
        let objects = first.opencl();
        // SAFETY: the objects are live.
        let second = unsafe { Context::from_opencl(&objects, &ContextOptions::default()) }.unwrap();
        Some((first, objects, second))
    }

    #[test]
    fn two_contexts_share_a_queue_and_memory() {
        let Some((first, objects, second)) = pair() else { return };
        assert_eq!(second.opencl(), objects);
        let (context, queue) = (first.export_context().unwrap(), first.export_queue().unwrap());
        assert_eq!((context, queue), (objects.context, objects.queue));
        // SAFETY: they were retained for this.
        unsafe {
            ffi::clReleaseContext(context);
            ffi::clReleaseCommandQueue(queue);
        }
        let mut ours = Buffer::from_slice(&first, &[1.0_f32, 2.0, 3.0]).unwrap();
        let mem = ours.export().unwrap();
        // SAFETY: the memory is live and both contexts use one queue.
        let import = |len| unsafe { Buffer::<f32>::from_opencl(&second, mem, len) };
        let mut theirs = import(3).unwrap();
        assert_eq!(second.memory().live_buffers, 1);
        assert_eq!(theirs.to_vec().unwrap(), [1.0, 2.0, 3.0]);
        theirs.write_range(1, &[5.0]).unwrap();
        assert_eq!(ours.to_vec().unwrap(), [1.0, 5.0, 3.0]);
        assert_eq!(import(3).unwrap_err().id(), "clinalg:argument:value");
        drop(theirs);
        assert_eq!(second.memory().live_buffers, 0);
        assert_eq!(import(4).unwrap_err().id(), "clinalg:argument:length");
        // The memory outlives the buffer that it was made for.
        drop(ours);
        assert_eq!(import(2).unwrap().to_vec().unwrap(), [1.0, 5.0]);
        // SAFETY: it was retained for this.
        unsafe { ffi::clReleaseMemObject(mem) };
    }

    #[test]
    fn exported_memory_is_not_used_again() {
        let Some((first, ..)) = pair() else { return };
        let reuse = Reuse::start();
        let mut buffer = Buffer::<f64>::zeroed(&first, 1000).unwrap();
        let mem = buffer.export().unwrap();
        drop(buffer);
        assert_eq!(first.release_kept_memory(), 0);
        assert_ne!(Buffer::<f64>::zeroed(&first, 1000).unwrap().raw(), mem);
        drop(reuse);
        // SAFETY: it was retained for this.
        unsafe { ffi::clReleaseMemObject(mem) };
    }

    #[test]
    fn exported_memory_is_not_imported_beside_its_buffer() {
        let Some((first, ..)) = pair() else { return };
        let mut buffer = Buffer::from_slice(&first, &[1.0_f32, 2.0, 3.0]).unwrap();
        let mem = buffer.export().unwrap();
        assert_eq!(buffer.export().unwrap(), mem);
        // SAFETY: the memory is live.
        let import = || unsafe { Buffer::<f32>::from_opencl(&first, mem, 3) };
        assert_eq!(import().unwrap_err().id(), "clinalg:argument:value");
        drop(buffer);
        let mut again = import().unwrap();
        assert_eq!(again.to_vec().unwrap(), [1.0, 2.0, 3.0]);
        // It stays the caller's.
        assert_eq!(again.export().unwrap(), mem);
        assert_eq!(import().unwrap_err().id(), "clinalg:argument:value");
        drop(again);
        drop(import().unwrap());
        // SAFETY: it was retained three times for this.
        (0..3).for_each(|_| unsafe {
            ffi::clReleaseMemObject(mem);
        });
    }

    #[test]
    fn foreign_objects_are_refused() {
        let Some((first, objects, second)) = pair() else { return };
        let try_with = |objects: OpenCl| {
            // SAFETY: context and queue are live or null.
            unsafe { Context::from_opencl(&objects, &ContextOptions::default()) }.unwrap_err()
        };
        for (part, null) in [
            ("context", OpenCl { context: null_mut(), ..objects }),
            ("device", OpenCl { device: null_mut(), ..objects }),
            // No device begins at the address of a context.
            ("device", OpenCl { device: objects.context, ..objects }),
        ] {
            let error = try_with(null);
            assert!(matches!(error, Error::Value { argument, .. } if argument == part), "{error}");
        }
        let other = Context::new(&devices().unwrap()[0], &ContextOptions::default()).unwrap();
        let elsewhere = other.opencl();
        let error = try_with(OpenCl { queue: elsewhere.queue, ..objects });
        assert!(matches!(error, Error::Context { argument: "queue" }), "{error}");
        let mut code = SUCCESS;
        // SAFETY: context and device are live and belong together.
        let queue = unsafe {
            let flags = ffi::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
            ffi::clCreateCommandQueue(objects.context, objects.device, flags, &mut code)
        };
        if code == SUCCESS {
            let error = try_with(OpenCl { queue, ..objects });
            assert!(error.to_string().contains("in-order"), "{error}");
            // SAFETY: released once.
            unsafe { ffi::clReleaseCommandQueue(queue) };
        }
        let mut foreign = Buffer::from_slice(&other, &[1.0_f64]).unwrap();
        let mem = foreign.export().unwrap();
        // SAFETY: the memory is live.
        let error = unsafe { Buffer::<f64>::from_opencl(&first, mem, 1) }.unwrap_err();
        assert!(matches!(error, Error::Context { argument: "mem" }), "{error}");
        // SAFETY: null is no memory.
        let error = unsafe { Buffer::<f64>::from_opencl(&first, null_mut(), 1) }.unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:value");
        // SAFETY: context and memory are live; each is released once.
        unsafe {
            let flags = ffi::CL_MEM_READ_ONLY;
            let one_way = ffi::clCreateBuffer(objects.context, flags, 64, null_mut(), &mut code);
            let error = Buffer::<f64>::from_opencl(&second, one_way, 1).unwrap_err();
            assert!(error.to_string().contains("CL_MEM_READ_WRITE"), "{error}");
            ffi::clReleaseMemObject(one_way);
            ffi::clReleaseMemObject(mem);
        }
    }
}
