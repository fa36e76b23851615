//! Ctrl-C of the user while a solver runs: the host only notes it, and acts on it after the call.
//!
//! MATLAB answers by `utIsInterruptPending` and forgets by `utSetInterruptPending`, functions of its library libut; Octave's handler
//! counts in the variable `octave_interrupt_state` of liboctave. A solver that stops takes the interruption for itself, so that the
//! caller gets what it has found; a second Ctrl-C stops what follows.

use std::ffi::{c_int, c_void};
use std::mem::transmute_copy;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::host::Libraries;

#[derive(Clone, Copy)]
enum Source {
    Matlab { pending: unsafe extern "C" fn() -> bool, set: Option<unsafe extern "C" fn(bool)> },
    Octave(&'static AtomicI32),
    Unknown,
}

fn source() -> Source {
    static FOUND: OnceLock<Source> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let libraries = Libraries::open();
        if let Some(pending) = libraries.find("utIsInterruptPending", "") {
            // SAFETY: MATLAB's functions of these names have these signatures.
            return unsafe {
                let set = libraries.find("utSetInterruptPending", "");
                Source::Matlab {
                    pending: transmute_copy(&pending),
                    set: set.map(|set| transmute_copy::<*mut c_void, _>(&set)),
                }
            };
        }
        match libraries.find("octave_interrupt_state", "") {
            // SAFETY: liboctave's variable of this name is a `volatile sig_atomic_t`, an aligned int that lives as long as the process; a
            // signal handler writes it.
            Some(state) => Source::Octave(unsafe { AtomicI32::from_ptr(state.cast::<c_int>()) }),
            None => Source::Unknown,
        }
    })
}

/// Whether the user has pressed Ctrl-C since the last question, in the host's own thread; the host forgets it.
fn taken() -> bool {
    match source() {
        // SAFETY: the functions take and give plain values.
        Source::Matlab { pending, set } => unsafe {
            let pressed = pending();
            if let (true, Some(set)) = (pressed, set) {
                set(false);
            }
            pressed
        },
        // Octave adds one at each; a negative number is of an interruption under way.
        Source::Octave(state) => {
            state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count > 0).then_some(0)).is_ok()
        }
        Source::Unknown => false,
    }
}

/// Whether a solver is to continue; it stops at Ctrl-C with what it has.
pub(crate) fn progress(_: usize, _: f64) -> ControlFlow<()> {
    if taken() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Whether an integration is to continue.
pub(crate) fn goes_on() -> bool {
    !taken()
}
