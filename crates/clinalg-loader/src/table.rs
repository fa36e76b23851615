//! The entry points the `ocl` crate refers to; argument lists from the OpenCL 2.1 headers.

use std::ptr::null_mut;

use crate::{CL_PLATFORM_NOT_FOUND_KHR, Callback, Ptr, forward};

/// Reports the missing library through the status pointer of an entry point that returns an object.
///
/// # Safety
/// `status` is null or valid for a write.
unsafe fn absent(status: *mut i32) -> Ptr {
    if !status.is_null() {
        // SAFETY: by the contract above.
        unsafe { *status = CL_PLATFORM_NOT_FOUND_KHR };
    }
    null_mut()
}

forward! { i32, CL_PLATFORM_NOT_FOUND_KHR;
    clGetPlatformIDs(num_entries: u32, platforms: Ptr, num_platforms: Ptr);
    clGetPlatformInfo(platform: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clGetDeviceIDs(platform: Ptr, device_type: u64, num_entries: u32, devices: Ptr, num_devices: Ptr);
    clGetDeviceInfo(device: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clRetainDevice(device: Ptr);
    clReleaseDevice(device: Ptr);
    clRetainContext(context: Ptr);
    clReleaseContext(context: Ptr);
    clGetContextInfo(context: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clRetainCommandQueue(command_queue: Ptr);
    clReleaseCommandQueue(command_queue: Ptr);
    clGetCommandQueueInfo(command_queue: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clRetainMemObject(memobj: Ptr);
    clReleaseMemObject(memobj: Ptr);
    clGetSupportedImageFormats(context: Ptr, flags: u64, image_type: u32, num_entries: u32, image_formats: Ptr, num_image_formats: Ptr);
    clGetMemObjectInfo(memobj: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clGetImageInfo(image: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clRetainSampler(sampler: Ptr);
    clReleaseSampler(sampler: Ptr);
    clGetSamplerInfo(sampler: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clRetainProgram(program: Ptr);
    clReleaseProgram(program: Ptr);
    clBuildProgram(program: Ptr, num_devices: u32, device_list: Ptr, options: Ptr, pfn_notify: Callback, user_data: Ptr);
    clCompileProgram(program: Ptr, num_devices: u32, device_list: Ptr, options: Ptr, num_input_headers: u32, input_headers: Ptr, header_include_names: Ptr, pfn_notify: Callback, user_data: Ptr);
    clGetProgramInfo(program: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clGetProgramBuildInfo(program: Ptr, device: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clRetainKernel(kernel: Ptr);
    clReleaseKernel(kernel: Ptr);
    clSetKernelArg(kernel: Ptr, arg_index: u32, arg_size: usize, arg_value: Ptr);
    clGetKernelInfo(kernel: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clGetKernelArgInfo(kernel: Ptr, arg_indx: u32, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clGetKernelWorkGroupInfo(kernel: Ptr, device: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clWaitForEvents(num_events: u32, event_list: Ptr);
    clGetEventInfo(event: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clRetainEvent(event: Ptr);
    clReleaseEvent(event: Ptr);
    clSetUserEventStatus(event: Ptr, execution_status: i32);
    clSetEventCallback(event: Ptr, command_exec_callback_type: i32, pfn_notify: Callback, user_data: Ptr);
    clGetEventProfilingInfo(event: Ptr, param_name: u32, param_value_size: usize, param_value: Ptr, param_value_size_ret: Ptr);
    clFlush(command_queue: Ptr);
    clFinish(command_queue: Ptr);
    clEnqueueReadBuffer(command_queue: Ptr, buffer: Ptr, blocking_read: u32, offset: usize, cb: usize, ptr: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueReadBufferRect(command_queue: Ptr, buffer: Ptr, blocking_read: u32, buffer_origin: Ptr, host_origin: Ptr, region: Ptr, buffer_row_pitch: usize, buffer_slc_pitch: usize, host_row_pitch: usize, host_slc_pitch: usize, ptr: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueWriteBuffer(command_queue: Ptr, buffer: Ptr, blocking_write: u32, offset: usize, cb: usize, ptr: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueWriteBufferRect(command_queue: Ptr, buffer: Ptr, blocking_write: u32, buffer_origin: Ptr, host_origin: Ptr, region: Ptr, buffer_row_pitch: usize, buffer_slc_pitch: usize, host_row_pitch: usize, host_slc_pitch: usize, ptr: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueFillBuffer(command_queue: Ptr, buffer: Ptr, pattern: Ptr, pattern_size: usize, offset: usize, size: usize, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueCopyBuffer(command_queue: Ptr, src_buffer: Ptr, dst_buffer: Ptr, src_offset: usize, dst_offset: usize, cb: usize, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueCopyBufferRect(command_queue: Ptr, src_buffer: Ptr, dst_buffer: Ptr, src_origin: Ptr, dst_origin: Ptr, region: Ptr, src_row_pitch: usize, src_slc_pitch: usize, dst_row_pitch: usize, dst_slc_pitch: usize, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueReadImage(command_queue: Ptr, image: Ptr, blocking_read: u32, origin: Ptr, region: Ptr, row_pitch: usize, slc_pitch: usize, ptr: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueWriteImage(command_queue: Ptr, image: Ptr, blocking_write: u32, origin: Ptr, region: Ptr, input_row_pitch: usize, input_slc_pitch: usize, ptr: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueFillImage(command_queue: Ptr, image: Ptr, fill_color: Ptr, origin: Ptr, region: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueCopyImage(command_queue: Ptr, src_image: Ptr, dst_image: Ptr, src_origin: Ptr, dst_origin: Ptr, region: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueCopyImageToBuffer(command_queue: Ptr, src_image: Ptr, dst_buffer: Ptr, src_origin: Ptr, region: Ptr, dst_offset: usize, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueCopyBufferToImage(command_queue: Ptr, src_buffer: Ptr, dst_image: Ptr, src_offset: usize, dst_origin: Ptr, region: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueUnmapMemObject(command_queue: Ptr, memobj: Ptr, mapped_ptr: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueMigrateMemObjects(command_queue: Ptr, num_mem_objects: u32, mem_objects: Ptr, flags: u64, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueNDRangeKernel(command_queue: Ptr, kernel: Ptr, work_dim: u32, global_work_offset: Ptr, global_work_dims: Ptr, local_work_dims: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueTask(command_queue: Ptr, kernel: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueMarkerWithWaitList(command_queue: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueBarrierWithWaitList(command_queue: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueAcquireGLObjects(command_queue: Ptr, num_objects: u32, mem_objects: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
    clEnqueueReleaseGLObjects(command_queue: Ptr, num_objects: u32, mem_objects: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr);
}

forward! { Ptr, {
        // SAFETY: a status pointer is null or valid, by the specification.
        unsafe { absent(status) }
    };
    clCreateContext(properties: Ptr, num_devices: u32, devices: Ptr, pfn_notify: Callback, user_data: Ptr, status: *mut i32);
    clCreateContextFromType(properties: Ptr, device_type: u64, pfn_notify: Callback, user_data: Ptr, status: *mut i32);
    clCreateCommandQueue(context: Ptr, device: Ptr, properties: u64, status: *mut i32);
    clCreateBuffer(context: Ptr, flags: u64, size: usize, host_ptr: Ptr, status: *mut i32);
    clCreateSubBuffer(buffer: Ptr, flags: u64, buffer_create_type: u32, buffer_create_info: Ptr, status: *mut i32);
    clCreateImage(context: Ptr, flags: u64, image_format: Ptr, image_desc: Ptr, host_ptr: Ptr, status: *mut i32);
    clCreateSampler(context: Ptr, normalize_coords: u32, addressing_mode: u32, filter_mode: u32, status: *mut i32);
    clCreateProgramWithSource(context: Ptr, count: u32, strings: Ptr, lengths: Ptr, status: *mut i32);
    clCreateProgramWithBinary(context: Ptr, num_devices: u32, device_list: Ptr, lengths: Ptr, binaries: Ptr, binary_status: Ptr, status: *mut i32);
    clCreateProgramWithIL(context: Ptr, il: Ptr, length: usize, status: *mut i32);
    clLinkProgram(context: Ptr, num_devices: u32, device_list: Ptr, options: Ptr, num_input_programs: u32, input_programs: Ptr, pfn_notify: Callback, user_data: Ptr, status: *mut i32);
    clCreateKernel(program: Ptr, kernel_name: Ptr, status: *mut i32);
    clCreateUserEvent(context: Ptr, status: *mut i32);
    clEnqueueMapBuffer(command_queue: Ptr, buffer: Ptr, blocking_map: u32, map_flags: u64, offset: usize, size: usize, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr, status: *mut i32);
    clEnqueueMapImage(command_queue: Ptr, image: Ptr, blocking_map: u32, map_flags: u64, origin: Ptr, region: Ptr, image_row_pitch: Ptr, image_slc_pitch: Ptr, num_events_in_wait_list: u32, event_wait_list: Ptr, event: Ptr, status: *mut i32);
    clCreateFromGLBuffer(context: Ptr, flags: u64, bufobj: u32, status: *mut i32);
    clCreateFromGLTexture(context: Ptr, flags: u64, texture_target: u32, miplevel: i32, texture: u32, status: *mut i32);
    clCreateFromGLRenderbuffer(context: Ptr, flags: u64, renderbuffer: u32, status: *mut i32);
    clCreateFromGLTexture2D(context: Ptr, flags: u64, texture_target: u32, miplevel: i32, texture: u32, status: *mut i32);
    clCreateFromGLTexture3D(context: Ptr, flags: u64, texture_target: u32, miplevel: i32, texture: u32, status: *mut i32);
}

forward! { Ptr, null_mut();
    clGetExtensionFunctionAddressForPlatform(platform: Ptr, func_name: Ptr);
}
