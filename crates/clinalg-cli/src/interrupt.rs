//! Ctrl-C: a solver ends after the iteration at hand, and what it has is reported and written.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a process that a signal ended, as shells count it: 128 + SIGINT.
const SIGINT: i32 = 130;

/// From now on the first Ctrl-C (or SIGTERM) lets [`go_on`] end the solver at hand, the second ends the process.
///
/// Of several processes the launcher ends all: they would have to stop after the same iteration.
pub(crate) fn watch() {
    static WATCHES: Once = Once::new();
    if crate::processes::rank().is_some() {
        return;
    }
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(SIGINT);
        }
        // Nothing is left to do where stderr cannot be written.
        let _ = writeln!(std::io::stderr(), "clinalg: ending with what there is; press Ctrl-C again to end at once");
    };
    WATCHES.call_once(|| {
        if let Err(error) = ctrlc::set_handler(handler) {
            log::warn!("Ctrl-C ends the program at once: {error}");
        }
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// What a solver's callback returns.
pub(crate) fn go_on() -> ControlFlow<()> {
    if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
