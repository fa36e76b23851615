//! Forked processes: drivers keep threads and device connections that a child does not get, so that its first call would
//! wait forever.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// Whether this process, or the one it was forked from before that, has called a driver.
static USED: AtomicBool = AtomicBool::new(false);
/// Whether this process was forked from one that had.
static FORKED: AtomicBool = AtomicBool::new(false);

/// An error in a child that was forked after its parent's first call of a driver.
///
/// # Errors
/// [`Error::Forked`] where [`is_child`].
#[inline]
pub fn check() -> Result<()> {
    if is_child() { Err(Error::Forked) } else { Ok(()) }
}

/// Whether this process was forked from one that had used OpenCL: no driver must be called, not even to release something, and a lock
/// that another thread held at the fork is never released.
#[inline]
pub fn is_child() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Notes that drivers are about to be called, for children that are forked from now on.
pub(super) fn note_use() {
    static WATCH: Once = Once::new();
    WATCH.call_once(watch);
    USED.store(true, Ordering::Relaxed);
}

#[cfg(unix)]
fn watch() {
    extern "C" fn in_child() {
        FORKED.store(USED.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    // SAFETY: the handler stores one flag, which is allowed after a fork. Without memory for it children are as they
    // would be without this.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

#[cfg(not(unix))]
fn watch() {}
