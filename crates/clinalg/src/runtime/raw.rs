//! OpenCL objects as the binding names them.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An OpenCL object owned by what holds this.
#[derive(Clone, Copy)]
pub(super) struct Raw(pub(super) *mut c_void);
// SAFETY: OpenCL 1.2 entry points are thread-safe for these objects, except `clSetKernelArg`,
// which is only called under the kernel's lock.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

/// A lock whose data stays good when a holder panicked: every critical section here leaves it whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
