//! OpenCL status codes as errors.

use crate::{Error, Result};

/// Codes of the OpenCL 1.2 headers that a call of this library can meet.
const NAMES: &[(i32, &str)] = &[
    (-1, "CL_DEVICE_NOT_FOUND"),
    (-2, "CL_DEVICE_NOT_AVAILABLE"),
    (-3, "CL_COMPILER_NOT_AVAILABLE"),
    (-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"),
    (-5, "CL_OUT_OF_RESOURCES"),
    (-6, "CL_OUT_OF_HOST_MEMORY"),
    (-7, "CL_PROFILING_INFO_NOT_AVAILABLE"),
    (-8, "CL_MEM_COPY_OVERLAP"),
    (-11, "CL_BUILD_PROGRAM_FAILURE"),
    (-12, "CL_MAP_FAILURE"),
    (-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"),
    (-30, "CL_INVALID_VALUE"),
    (-32, "CL_INVALID_PLATFORM"),
    (-33, "CL_INVALID_DEVICE"),
    (-34, "CL_INVALID_CONTEXT"),
    (-36, "CL_INVALID_COMMAND_QUEUE"),
    (-38, "CL_INVALID_MEM_OBJECT"),
    (-42, "CL_INVALID_BINARY"),
    (-43, "CL_INVALID_BUILD_OPTIONS"),
    (-44, "CL_INVALID_PROGRAM"),
    (-45, "CL_INVALID_PROGRAM_EXECUTABLE"),
    (-46, "CL_INVALID_KERNEL_NAME"),
    (-48, "CL_INVALID_KERNEL"),
    (-49, "CL_INVALID_ARG_INDEX"),
    (-50, "CL_INVALID_ARG_VALUE"),
    (-51, "CL_INVALID_ARG_SIZE"),
    (-52, "CL_INVALID_KERNEL_ARGS"),
    (-54, "CL_INVALID_WORK_GROUP_SIZE"),
    (-55, "CL_INVALID_WORK_ITEM_SIZE"),
    (-58, "CL_INVALID_EVENT"),
    (-59, "CL_INVALID_OPERATION"),
    (-61, "CL_INVALID_BUFFER_SIZE"),
    (-63, "CL_INVALID_GLOBAL_WORK_SIZE"),
    (-1001, "CL_PLATFORM_NOT_FOUND_KHR"),
    (-9999, "illegal read or write to a buffer (NVIDIA)"),
];

pub(super) const SUCCESS: i32 = 0;
pub(super) const DEVICE_NOT_FOUND: i32 = -1;
const DEVICE_NOT_AVAILABLE: i32 = -2;
const MEM_OBJECT_ALLOCATION_FAILURE: i32 = -4;
const OUT_OF_RESOURCES: i32 = -5;
const OUT_OF_HOST_MEMORY: i32 = -6;
pub(super) const MAP_FAILURE: i32 = -12;
const INVALID_DEVICE: i32 = -33;
const INVALID_CONTEXT: i32 = -34;
const INVALID_COMMAND_QUEUE: i32 = -36;

pub(super) fn name(code: i32) -> String {
    NAMES.iter().find(|(c, _)| *c == code).map_or_else(|| format!("status {code}"), |(_, n)| (*n).to_owned())
}

/// Turns the status of `call` on `device` into a typed error.
pub(super) fn check(call: &'static str, device: &str, code: i32) -> Result<()> {
    match code {
        SUCCESS => Ok(()),
        MEM_OBJECT_ALLOCATION_FAILURE | OUT_OF_RESOURCES | OUT_OF_HOST_MEMORY | MAP_FAILURE => Err(Error::Allocation {
            bytes: 0,
            device: device.to_owned(),
            limit: format!("{call} reports {}", name(code)),
        }),
        DEVICE_NOT_AVAILABLE | INVALID_DEVICE | INVALID_CONTEXT | INVALID_COMMAND_QUEUE => {
            Err(Error::DeviceLost { call, device: device.to_owned(), name: name(code) })
        }
        _ => Err(Error::OpenCl { call, device: device.to_owned(), code, name: name(code) }),
    }
}
