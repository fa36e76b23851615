//! Status codes and the error text of a thread.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use clinalg::Error;
use clinalg::runtime::fork;

/// The outcome of a call. Numbers are never reused or changed; new ones may be added, below 64.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgStatus {
    /// The call did what it says.
    Ok = 0,
    /// A fault of the library itself; please report it.
    Internal = 1,
    /// A pointer that must not be null is null.
    NullPointer = 2,
    /// No OpenCL loader library (clinalg:device:noLoader).
    NoLoader = 10,
    /// No OpenCL platform (clinalg:device:noPlatform).
    NoPlatform = 11,
    /// No OpenCL device (clinalg:device:noDevice).
    NoDevice = 12,
    /// No device matches the selector (clinalg:device:notFound).
    DeviceNotFound = 13,
    /// The device has no double precision (clinalg:device:noFp64).
    NoFp64 = 14,
    /// A kernel could not be built (clinalg:device:build).
    Build = 15,
    /// An allocation that the device cannot hold (clinalg:device:memory).
    Memory = 16,
    /// Another failure of OpenCL (clinalg:device:opencl).
    OpenCl = 17,
    /// The device is lost (clinalg:device:lost).
    DeviceLost = 18,
    /// The process was forked after OpenCL was in use (clinalg:device:forked).
    Forked = 19,
    /// Another process of a team is lost (clinalg:team:lost).
    TeamLost = 33,
    /// An array of the wrong length (clinalg:argument:length).
    Length = 20,
    /// An object of the wrong shape (clinalg:argument:shape).
    Shape = 21,
    /// A value outside its range (clinalg:argument:value).
    Value = 22,
    /// Single and double precision mixed (clinalg:argument:precision).
    Precision = 23,
    /// An index out of range or order (clinalg:argument:index).
    Index = 24,
    /// Objects of different devices (clinalg:argument:context).
    Context = 25,
    /// The handle was released (clinalg:handle:stale).
    HandleStale = 30,
    /// The handle was never issued by this process (clinalg:handle:foreign).
    HandleForeign = 31,
    /// The handle refers to another kind of object (clinalg:handle:kind).
    HandleKind = 32,
    /// A file that does not follow its format (clinalg:file:format).
    FileFormat = 40,
    /// A file that cannot be read or written (clinalg:file:io).
    FileIo = 41,
    /// A formula that cannot be read (clinalg:ode:formula).
    OdeFormula = 50,
    /// A right-hand side in OpenCL C that reads further than it declares (clinalg:ode:access).
    OdeAccess = 51,
    /// A solution that is infinite or NaN (clinalg:ode:notFinite).
    OdeNotFinite = 52,
    /// A tolerance that requires steps too small to advance the time (clinalg:ode:stepTooSmall).
    OdeStepTooSmall = 53,
    /// Too many steps (clinalg:ode:stepLimit).
    OdeStepLimit = 54,
    /// Steps of a fixed size past the stability limit (clinalg:ode:unstable).
    OdeUnstable = 55,
    /// A variant that does not fit the method, the system or the device (clinalg:ode:variant).
    OdeVariant = 56,
    /// Vectors that do not fit the device in any variant (clinalg:ode:memory).
    OdeMemory = 57,
    /// Coefficients that violate a row sum, an order condition or zero stability (clinalg:ode:condition).
    OdeCondition = 58,
    /// A data-flow graph that cannot be executed (clinalg:ode:graph).
    OdeGraph = 59,
    /// A system with a singular matrix (clinalg:matrix:singular).
    Singular = 60,
    /// A Cholesky factorisation of a matrix that is not positive definite (clinalg:matrix:notPositiveDefinite).
    NotPositiveDefinite = 61,
    /// Infinity or NaN in a waveform relaxation (clinalg:ode:waveform).
    OdeWaveform = 62,
    /// A progress callback stopped a call that has no partial result (clinalg:solve:cancelled).
    Cancelled = 63,
}

/// The code of an identifier; every identifier of the crates below has one, which a test compares with their lists.
fn status_of(id: &str) -> Option<ClinalgStatus> {
    Some(match id {
        "clinalg:device:noLoader" => ClinalgStatus::NoLoader,
        "clinalg:device:noPlatform" => ClinalgStatus::NoPlatform,
        "clinalg:device:noDevice" => ClinalgStatus::NoDevice,
        "clinalg:device:notFound" => ClinalgStatus::DeviceNotFound,
        "clinalg:device:noFp64" => ClinalgStatus::NoFp64,
        "clinalg:device:build" => ClinalgStatus::Build,
        "clinalg:device:memory" => ClinalgStatus::Memory,
        "clinalg:device:opencl" => ClinalgStatus::OpenCl,
        "clinalg:device:lost" => ClinalgStatus::DeviceLost,
        "clinalg:device:forked" => ClinalgStatus::Forked,
        "clinalg:team:lost" => ClinalgStatus::TeamLost,
        "clinalg:argument:length" => ClinalgStatus::Length,
        "clinalg:argument:shape" => ClinalgStatus::Shape,
        "clinalg:argument:value" => ClinalgStatus::Value,
        "clinalg:argument:precision" => ClinalgStatus::Precision,
        "clinalg:argument:index" => ClinalgStatus::Index,
        "clinalg:argument:context" => ClinalgStatus::Context,
        "clinalg:handle:stale" => ClinalgStatus::HandleStale,
        "clinalg:handle:foreign" => ClinalgStatus::HandleForeign,
        "clinalg:handle:kind" => ClinalgStatus::HandleKind,
        "clinalg:file:format" => ClinalgStatus::FileFormat,
        "clinalg:file:io" => ClinalgStatus::FileIo,
        "clinalg:ode:formula" => ClinalgStatus::OdeFormula,
        "clinalg:ode:access" => ClinalgStatus::OdeAccess,
        "clinalg:ode:notFinite" => ClinalgStatus::OdeNotFinite,
        "clinalg:ode:waveform" => ClinalgStatus::OdeWaveform,
        "clinalg:ode:stepTooSmall" => ClinalgStatus::OdeStepTooSmall,
        "clinalg:ode:stepLimit" => ClinalgStatus::OdeStepLimit,
        "clinalg:ode:unstable" => ClinalgStatus::OdeUnstable,
        "clinalg:ode:variant" => ClinalgStatus::OdeVariant,
        "clinalg:ode:memory" => ClinalgStatus::OdeMemory,
        "clinalg:ode:condition" => ClinalgStatus::OdeCondition,
        "clinalg:ode:graph" => ClinalgStatus::OdeGraph,
        "clinalg:matrix:singular" => ClinalgStatus::Singular,
        "clinalg:matrix:notPositiveDefinite" => ClinalgStatus::NotPositiveDefinite,
        "clinalg:solve:cancelled" => ClinalgStatus::Cancelled,
        _ => return None,
    })
}

/// Why a call failed.
pub(crate) enum Fault {
    Null(&'static str),
    Library(Error),
    Ode(clinalg_ode::Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Library(error)
    }
}

impl From<clinalg_ode::Error> for Fault {
    fn from(error: clinalg_ode::Error) -> Fault {
        Fault::Ode(error)
    }
}

thread_local! {
    static LAST: RefCell<(CString, CString)> = RefCell::default();
}

fn remember(id: &str, message: String) {
    let text = |s: String| CString::new(s.replace('\0', " ")).unwrap_or_default();
    // While a thread ends, its error text may be gone before its last call; the status is left.
    let _ = LAST.try_with(|last| *last.borrow_mut() = (text(id.to_owned()), text(message)));
}

fn failed(id: &str, message: String) -> ClinalgStatus {
    remember(id, message);
    status_of(id).unwrap_or(ClinalgStatus::Internal)
}

/// While it lives, `pthread_cancel` does not end this thread: it would unwind calls half-way.
struct Uncancelled(#[cfg(target_os = "linux")] i32);

#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn pthread_setcancelstate(state: i32, old: *mut i32) -> i32;
}

#[cfg(target_os = "linux")]
impl Uncancelled {
    fn new() -> Uncancelled {
        /// `PTHREAD_CANCEL_DISABLE` of glibc and musl.
        const DISABLE: i32 = 1;
        let mut old = 0;
        // SAFETY: `old` is valid for the write.
        unsafe { pthread_setcancelstate(DISABLE, &raw mut old) };
        Uncancelled(old)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Uncancelled {
    fn drop(&mut self) {
        // SAFETY: the state is the one that was read; the place of the old one may be null.
        unsafe { pthread_setcancelstate(self.0, std::ptr::null_mut()) };
    }
}

#[cfg(not(target_os = "linux"))]
impl Uncancelled {
    fn new() -> Uncancelled {
        Uncancelled()
    }
}

/// Runs one entry point: nothing unwinds into C, and the message of a failure is kept for the thread. In the child of a fork, where a lock
/// that another thread held is never released, nothing runs.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Fault>) -> ClinalgStatus {
    let _uncancelled = Uncancelled::new();
    let body = || fork::check().map_err(Fault::from).and_then(|()| body());
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => ClinalgStatus::Ok,
        Ok(Err(Fault::Null(argument))) => {
            remember("clinalg:argument:null", format!("argument `{argument}` is a null pointer"));
            ClinalgStatus::NullPointer
        }
        Ok(Err(Fault::Library(error))) => failed(error.id(), error.to_string()),
        Ok(Err(Fault::Ode(error))) => failed(error.id(), error.to_string()),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
            remember("clinalg:internal:panic", format!("internal error of clinalg, please report it: {message}"));
            ClinalgStatus::Internal
        }
    }
}

/// The message of the last failure on this thread, in UTF-8; empty before the first.
///
/// Valid until the next failing call on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_last_error_message() -> *const c_char {
    LAST.try_with(|last| last.borrow().1.as_ptr()).unwrap_or(c"".as_ptr())
}

/// The identifier `clinalg:<topic>:<what>` of the last failure on this thread; empty before the
/// first. Valid until the next failing call on this thread.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_last_error_id() -> *const c_char {
    LAST.try_with(|last| last.borrow().0.as_ptr()).unwrap_or(c"".as_ptr())
}

/// The library's version, "major.minor.patch"; valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version holds no zero byte"),
    };
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_identifier_has_a_status() {
        let mut statuses = HashSet::new();
        for &id in clinalg::Error::IDS.iter().chain(clinalg_ode::Error::IDS) {
            let status = status_of(id);
            assert!(status.is_some_and(|status| status != ClinalgStatus::Internal), "{id} has no status");
            // `clinalg:argument:value` is an identifier of both crates.
            assert!(statuses.insert(status.map(|s| s as u32)) || clinalg::Error::IDS.contains(&id), "{id}");
        }
        assert_eq!(status_of("clinalg:no:such"), None);
    }

    #[test]
    fn a_panic_is_an_internal_error_with_its_message() {
        // SAFETY: both functions give a text that ends in zero.
        let text = |pointer| unsafe { CStr::from_ptr(pointer) }.to_str().unwrap().to_owned();
        let status = guard(|| panic!("row {} of 3", 7));
        assert_eq!(status, ClinalgStatus::Internal);
        assert_eq!(text(clinalg_last_error_id()), "clinalg:internal:panic");
        assert!(text(clinalg_last_error_message()).ends_with(": row 7 of 3"));
    }

    #[test]
    fn failures_of_differential_equations_keep_their_status() {
        let error = clinalg_ode::Error::Memory { place: "on the device", needs: "10".into(), available: 5 };
        assert_eq!(guard(|| Err(error.into())), ClinalgStatus::OdeMemory);
        let device = clinalg_ode::Error::from(Error::NoPlatform);
        assert_eq!(guard(|| Err(device.into())), ClinalgStatus::NoPlatform);
    }
}
