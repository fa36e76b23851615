//! Messages of the library on stderr: warnings, and that kernels are built.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::global::Global;

/// Building kernels for as long as this is worth a line.
const PATIENCE: Duration = Duration::from_secs(2);

/// The only logger of the process.
struct Messages {
    /// Each message of level `info` too.
    verbose: bool,
    /// Whether the line about kernels may be written.
    notice: bool,
    building_since: OnceLock<Instant>,
    told: AtomicBool,
}

static MESSAGES: OnceLock<Messages> = OnceLock::new();

/// Lets the messages of the library through that the options ask for.
pub(crate) fn start(global: &Global) {
    let messages = MESSAGES.get_or_init(|| Messages {
        verbose: global.verbose,
        notice: !global.json && !global.verbose && std::io::stderr().is_terminal(),
        building_since: OnceLock::new(),
        told: AtomicBool::new(false),
    });
    let level =
        if global.quiet || !crate::processes::writes() { log::LevelFilter::Off } else { log::LevelFilter::Info };
    if log::set_logger(messages).is_ok() {
        log::set_max_level(level);
    }
}

/// A line on stderr, unless nothing but errors is to be written.
pub(crate) fn tell(text: &str) {
    if log::max_level() > log::LevelFilter::Off {
        // Nothing is left to do where stderr cannot be written.
        let _ = writeln!(std::io::stderr(), "clinalg: {text}");
    }
}

/// A line on stderr, with `--quiet` too: why a run with a result has failed.
pub(crate) fn reason(text: &str) {
    if crate::processes::writes() {
        // Nothing is left to do where stderr cannot be written.
        let _ = writeln!(std::io::stderr(), "clinalg: {text}");
    }
}

impl log::Log for Messages {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Info && metadata.target().starts_with("clinalg")
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        // Nothing is left to do where stderr cannot be written.
        let _ = match record.level() {
            log::Level::Info if self.verbose => writeln!(std::io::stderr(), "clinalg: {}", record.args()),
            log::Level::Info => {
                let builds = record.target() == clinalg::runtime::BUILDING && self.notice;
                let long = builds && self.building_since.get_or_init(Instant::now).elapsed() > PATIENCE;
                if !long || self.told.swap(true, Ordering::Relaxed) {
                    return;
                }
                writeln!(std::io::stderr(), "clinalg: building kernels for this device; the first run takes longest")
            }
            _ => writeln!(std::io::stderr(), "clinalg: warning: {}", record.args()),
        };
    }

    fn flush(&self) {}
}
