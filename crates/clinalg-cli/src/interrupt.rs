//! Ctrl-C: a solver ends after the iteration at hand, and what it has is reported and written. Where no iteration ends within a second, the
//! program ends at once, unless a run that writes files has done iterations.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether a solver has seen that, and ends.
static SEEN: AtomicBool = AtomicBool::new(false);
/// Whether a solver has done an iteration.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// Whether the run writes what it has at its end.
static WRITES: AtomicBool = AtomicBool::new(false);

/// For so long an interrupted run may take to end an iteration.
const PATIENCE: Duration = Duration::from_millis(700);

/// The exit code of a process that a signal ended, as shells count it: 128 + SIGINT.
const SIGINT: i32 = 130;

/// From now on the first Ctrl-C (or SIGTERM) lets [`go_on`] end the solver at hand, the second ends the process. `writes` is whether the run
/// writes files at its end, which long iterations are worth waiting for.
///
/// Of several processes the launcher ends all: they would have to stop after the same iteration.
pub(crate) fn watch(writes: bool) {
    WRITES.store(writes, Ordering::Relaxed);
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
        let end = Instant::now() + PATIENCE;
        while !SEEN.load(Ordering::Relaxed) {
            if Instant::now() < end {
                std::thread::sleep(Duration::from_millis(10));
            } else if BEGUN.load(Ordering::Relaxed) && WRITES.load(Ordering::Relaxed) {
                let _ = writeln!(
                    std::io::stderr(),
                    "clinalg: the iteration at hand takes longer; its end is awaited to write the files"
                );
                return;
            } else {
                let _ = writeln!(std::io::stderr(), "clinalg: ended before an iteration was done; there is no result");
                std::process::exit(SIGINT);
            }
        }
    };
    WATCHES.call_once(|| {
        // The thread of the handler takes the signal; a parent may have kept it from this one.
        #[cfg(unix)]
        keep_from_this_thread(false);
        match ctrlc::set_handler(handler) {
            #[cfg(unix)]
            Ok(()) => keep_from_this_thread(true),
            #[cfg(not(unix))]
            Ok(()) => {}
            Err(error) => log::warn!("Ctrl-C ends the program at once: {error}"),
        }
    });
}

/// Keeps Ctrl-C from this thread, and from the threads and processes that it starts from now on, or lets it come. A terminal sends Ctrl-C to
/// the linker too with which a driver compiles a kernel: without it the build fails and is repeated, or the driver aborts.
#[cfg(unix)]
fn keep_from_this_thread(keeps: bool) {
    let how = if keeps { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
    // SAFETY: `sigemptyset` initialises the set; the old mask is not asked for.
    unsafe {
        let mut signals = std::mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, libc::SIGINT);
        libc::pthread_sigmask(how, &signals, std::ptr::null_mut());
    }
}

/// Whether Ctrl-C was pressed.
pub(crate) fn interrupted() -> bool {
    BEGUN.store(true, Ordering::Relaxed);
    let interrupted = INTERRUPTED.load(Ordering::Relaxed);
    if interrupted {
        SEEN.store(true, Ordering::Relaxed);
    }
    interrupted
}

/// What a solver's callback returns.
pub(crate) fn go_on() -> ControlFlow<()> {
    if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}
