//! Device time per kernel.

use std::collections::HashMap;
use std::ptr::null_mut;

use ocl::ffi;
use serde::Serialize;

use super::fork;
use super::kernel::Name;
use super::raw::Raw;
use super::status::SUCCESS;

/// Device time of one kernel, summed over its launches.
#[derive(Debug, Clone, Serialize)]
pub struct KernelTiming {
    /// The kernel's name.
    pub kernel: String,
    /// Launches counted.
    pub launches: u64,
    /// Seconds from start to end on the device, summed.
    pub seconds: f64,
}

/// Finished events are turned into times when this many wait.
const PENDING_EVENTS: usize = 1024;

/// The events of launches not yet evaluated, and the time per kernel of the others.
#[derive(Default)]
pub(super) struct Profile {
    pending: Vec<(Name, Raw)>,
    totals: HashMap<Name, (u64, f64)>,
}

impl Profile {
    /// Keeps the event of a launch; the profile releases it.
    pub(super) fn keep(&mut self, kernel: Name, event: Raw) {
        self.pending.push((kernel, event));
        if self.pending.len() >= PENDING_EVENTS {
            self.drain();
        }
    }

    /// The times, the longest first.
    pub(super) fn timings(&mut self) -> Vec<KernelTiming> {
        self.drain();
        let mut all: Vec<_> = self
            .totals
            .iter()
            .map(|(kernel, &(launches, seconds))| KernelTiming {
                kernel: kernel.as_str().to_owned(),
                launches,
                seconds,
            })
            .collect();
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(a.kernel.cmp(&b.kernel)));
        all
    }

    /// Forgets the times kept so far.
    pub(super) fn reset(&mut self) {
        self.drain();
        self.totals.clear();
    }

    /// Turns the events kept into times and releases them; waits for those still running.
    fn drain(&mut self) {
        for (kernel, event) in self.pending.drain(..) {
            let (mut start, mut end) = (0_u64, 0_u64);
            // SAFETY: the event is live, each answer is one u64, and the event is released once.
            let code = unsafe {
                let mut code = ffi::clWaitForEvents(1, &event.0);
                for (what, value) in
                    [(ffi::CL_PROFILING_COMMAND_START, &mut start), (ffi::CL_PROFILING_COMMAND_END, &mut end)]
                {
                    code |= ffi::clGetEventProfilingInfo(
                        event.0,
                        what,
                        size_of::<u64>(),
                        std::ptr::from_mut(value).cast(),
                        null_mut(),
                    );
                }
                ffi::clReleaseEvent(event.0);
                code
            };
            let total = self.totals.entry(kernel).or_default();
            total.0 += 1;
            if code == SUCCESS {
                total.1 += end.saturating_sub(start) as f64 * 1e-9;
            }
        }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        for (_, event) in self.pending.drain(..).filter(|_| !fork::is_child()) {
            // SAFETY: the profile owns the event.
            unsafe { ffi::clReleaseEvent(event.0) };
        }
    }
}
