//! Memory and threads of the host, whose lack is an error or is done without, never the end of the process.

use std::ops::Range;
use std::thread::{self, Builder, Scope, ScopedJoinHandle};

use crate::{Error, Result};

/// Address space of a thread: its stack and what the standard library maps beside it.
const THREAD_BYTES: usize = 4 << 20;

fn lacking(bytes: u64) -> Error {
    Error::Allocation { bytes, device: "host".into(), limit: "the process has no memory left for it".into() }
}

/// An empty vector with room for `len` values.
///
/// # Errors
/// [`Error::Allocation`].
pub(crate) fn reserved<T>(len: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    if fails() || values.try_reserve_exact(len).is_err() {
        return Err(lacking((len as u64).saturating_mul(size_of::<T>() as u64)));
    }
    Ok(values)
}

/// A vector of `len` times `value`.
///
/// # Errors
/// [`Error::Allocation`].
pub(crate) fn filled<T: Clone>(len: usize, value: T) -> Result<Vec<T>> {
    let mut values = reserved(len)?;
    values.resize(len, value);
    Ok(values)
}

/// Starts `work` in a new thread; `None` if the system provides none.
pub(crate) fn spawn<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    work: impl FnOnce() -> T + Send + 's,
) -> Option<ScopedJoinHandle<'s, T>> {
    // A thread that starts without memory for its signal stack ends the process.
    if fails() || !has_room(THREAD_BYTES) {
        return None;
    }
    Builder::new().spawn_scoped(scope, work).ok()
}

/// More threads than this only wait for the memory.
pub(crate) const MOST_THREADS: usize = 16;

/// Whether `holds` for all of so many items, asked for parts of them in threads; fewer items than `per_thread` are not worth one.
pub(crate) fn all_in_parts(items: usize, per_thread: usize, holds: impl Fn(Range<usize>) -> bool + Sync) -> bool {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let parts = (items / per_thread).clamp(1, threads);
    let part = |k: usize| items / parts * k..if k + 1 == parts { items } else { items / parts * (k + 1) };
    let holds = &holds;
    thread::scope(|scope| {
        let others: Vec<_> = (1..parts).map(|k| (k, spawn(scope, move || holds(part(k))))).collect();
        let own = holds(part(0));
        // A thread that cannot be started leaves its work to this one.
        let of = |(k, thread): (usize, Option<ScopedJoinHandle<'_, bool>>)| match thread {
            Some(thread) => thread.join().unwrap_or(false),
            None => holds(part(k)),
        };
        others.into_iter().fold(own, |all, other| of(other) && all)
    })
}

/// Whether the process can map so many bytes more. Another thread may take them meanwhile.
#[cfg(unix)]
pub(crate) fn has_room(bytes: usize) -> bool {
    if fails() {
        return false;
    }
    // SAFETY: a new mapping that nobody uses, ended at once.
    unsafe {
        let start = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANON, -1, 0);
        start != libc::MAP_FAILED && libc::munmap(start, bytes) == 0
    }
}

/// Whether the process can map so many bytes more.
#[cfg(not(unix))]
pub(crate) fn has_room(_bytes: usize) -> bool {
    !fails()
}

/// Whether a test wants the next allocation, mapping, write or thread of this thread to fail.
#[cfg(not(test))]
#[inline]
pub(crate) fn fails() -> bool {
    false
}

#[cfg(test)]
pub(crate) use injection::fails;

#[cfg(test)]
pub(crate) mod injection {
    //! Lets one call after the other fail, as SQLite's tests do.

    use std::cell::Cell;

    thread_local! {
        /// How many calls succeed before the one that fails; `None` once it has, and where none is to fail.
        static COUNTDOWN: Cell<Option<usize>> = const { Cell::new(None) };
    }

    pub(crate) fn fails() -> bool {
        match COUNTDOWN.get() {
            Some(0) => {
                COUNTDOWN.set(None);
                true
            }
            Some(left) => {
                COUNTDOWN.set(Some(left - 1));
                false
            }
            None => false,
        }
    }

    /// Runs `work` with the call number `k` of this thread failing; gives its result and whether there was such a call.
    pub(crate) fn with_failure<T>(k: usize, work: impl FnOnce() -> T) -> (T, bool) {
        COUNTDOWN.set(Some(k));
        let result = work();
        (result, COUNTDOWN.take().is_none())
    }
}
