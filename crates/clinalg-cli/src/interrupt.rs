//! Ctrl-C: a solver stops after the current iteration, and the result so far is reported and written. If no iteration ends within
//! [`PATIENCE`], the program ends at once, unless the run writes files and has done an iteration: its result is worth waiting for. A second
//! Ctrl-C ends the program at once; files that it was writing keep their previous content.

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
        let end_at_once = || {
            clinalg::io::remove_unfinished_files();
            exit_at_once(SIGINT)
        };
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            end_at_once();
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
                    "clinalg: waiting for the current iteration to finish, to write the files"
                );
                return;
            } else {
                let reason = match BEGUN.load(Ordering::Relaxed) {
                    true => "stopped at once, since the current step did not finish",
                    false => "stopped during set-up",
                };
                let _ = writeln!(std::io::stderr(), "clinalg: {reason}; there is no result");
                end_at_once();
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

/// Ends the process without the exit handlers of its libraries. Those of a driver destroy what its compiler needs, while another thread may be in
/// there, which then aborts. Whole lines on stdout are written as they are made.
pub(crate) fn exit_at_once(code: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: the process ends.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}

/// Blocks SIGINT in this thread, and in the threads and processes that it starts from now on, or unblocks it. A terminal sends Ctrl-C to the
/// whole process group. If that ends the linker with which a driver compiles a kernel, the build fails and is repeated, or the driver aborts.
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
