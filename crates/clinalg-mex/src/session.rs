//! The time between `MexInitOpenCL` and `MexReleaseOpenCL`.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::{Context, Error, HandleFault, Result, runtime};
use clinalg_handles::Registry;

use crate::{runs, solves};

/// Highest byte of a session's handle, which no object has.
const MARK: u64 = 0x3f << 56;
/// Sessions that have handles of their own.
const SESSIONS: u64 = 1 << 32;

struct Session {
    /// Number of the first session, at random, so that handles of other processes are foreign.
    first: u64,
    /// Sessions opened so far.
    opened: u64,
    live: bool,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

fn session() -> MutexGuard<'static, Option<Session>> {
    // No critical section below panics half-way.
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    fn handle(&self) -> u64 {
        MARK | ((self.first + self.opened) % SESSIONS)
    }
}

/// The handle of the session that runs, opening one if none does.
///
/// # Errors
/// Those of [`runtime::devices`] when it opens one.
pub(crate) fn open() -> Result<u64> {
    let mut session = session();
    let session = session.get_or_insert_with(|| {
        let first = RandomState::new().hash_one(std::process::id()) % SESSIONS;
        Session { first, opened: 0, live: false }
    });
    if !session.live {
        runtime::devices()?;
        session.live = true;
        session.opened += 1;
    }
    Ok(session.handle())
}

/// An error unless `handle` is the session that runs; 0 stands for that one.
///
/// # Errors
/// [`Error::Handle`]; those of [`open`] for 0.
pub(crate) fn check(handle: u64) -> Result<()> {
    if handle == 0 {
        return open().map(drop);
    }
    let fault = match &*session() {
        Some(s) if s.live && s.handle() == handle => return Ok(()),
        Some(s) if handle & !(SESSIONS - 1) == MARK => {
            let number = (handle % SESSIONS + SESSIONS - s.first) % SESSIONS;
            if (1..=s.opened).contains(&number) { HandleFault::Stale } else { HandleFault::Foreign }
        }
        _ => HandleFault::Foreign,
    };
    Err(Error::Handle { argument: "gpu", fault, handle, expected: "handle of MexInitOpenCL".into() })
}

/// Frees every object and the context; all handles are stale then.
pub(crate) fn close() {
    if let Some(session) = &mut *session() {
        session.live = false;
    }
    runs::end_all();
    solves::end_all();
    Registry::global().release_all();
    Context::release_global();
}
