//! The gateway that MATLAB and GNU Octave load to reach clinalg.
//!
//! One library for all hosts: the host's C functions are found by name at run time ([`host`]).
//! A call passes through three phases ([`gateway`]) to one entry of the [`table`].

mod args;
mod emit;
mod fault;
mod function;
mod functions;
mod gateway;
mod host;
mod interrupt;
mod runs;
mod session;
#[cfg(test)]
mod signatures;
mod solves;
mod table;
mod typed;
#[cfg(test)]
mod wrappers;

use std::ffi::c_int;

use fault::Fault;
use host::{MxArray, Report, Scheme, found};

/// The entry point: `[outputs] = clinalg_mex(function, arguments)`.
///
/// # Safety
/// For the host to call, with the arrays that its documentation says.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn mexFunction(
    nlhs: c_int,
    plhs: *mut *mut MxArray,
    nrhs: c_int,
    prhs: *const *const MxArray,
) {
    let outcome = match &found().host {
        // SAFETY: by the contract of this function.
        Ok(host) => unsafe { gateway::call(host, nlhs, plhs, nrhs, prhs) },
        Err(name) => {
            Err(Fault::new(fault::id::HOST, format_args!("this version of MATLAB or Octave has no function {name}")))
        }
    };
    if let Err(fault) = outcome {
        let report = Report::new(&fault);
        drop(fault);
        report.raise();
    }
}

/// Reports to MATLAB which of its interfaces the library was built for; it asks before the first call.
///
/// # Safety
/// Both pointers are valid for a write.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn mexfilerequiredapiversion(built_by_release: *mut u32, target_api: *mut u32) {
    let target = if found().scheme == Scheme::Matlab800 { 0x0800_0000 } else { 0x0730_0000 };
    // SAFETY: by the contract of this function.
    unsafe {
        built_by_release.write(0x2018a);
        target_api.write(target);
    }
}
