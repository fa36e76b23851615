//! Watching, stopping and continuing a waveform relaxation.

use std::ops::Range;
use std::time::Duration;

use clinalg::solve::Progress;

use crate::waveform::options::{Report, WaveformOptions, Windows};
use crate::{Error, Result};

/// Callback with the time and the solution at the end of every window; an error ends the integration.
pub type See<'a, T> = &'a mut dyn FnMut(f64, &[T]) -> Result<()>;

/// How a relaxation is watched, stopped and continued.
pub struct Control<'a, T> {
    /// Called at the end of every window.
    pub see: Option<See<'a, T>>,
    /// Called after every iteration with the number of iterations of all windows so far and the difference of the last two iterates;
    /// [`Break`](std::ops::ControlFlow::Break) stops the relaxation. With a team of several processes all of them must stop after the same iteration.
    pub progress: Option<Progress<'a>>,
    /// Whether a relaxation that is stopped leaves its state, which takes as much memory on the host as the waveforms on the device.
    pub keep_state: bool,
    /// Where another relaxation of the same system with the same options was stopped; this one continues there, to the same bits.
    pub resume: Option<&'a WaveformState<T>>,
}

impl<T> Default for Control<'_, T> {
    fn default() -> Self {
        Control { see: None, progress: None, keep_state: false, resume: None }
    }
}

impl<T> std::fmt::Debug for Control<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("keep_state", &self.keep_state).finish_non_exhaustive()
    }
}

/// Where a relaxation on one device was stopped, within a window.
#[derive(Debug, Clone, PartialEq)]
pub struct WaveformState<T> {
    /// The windows that ended, and the differences of the window that was stopped.
    pub report: Report,
    /// The step at which the window begins, and its length.
    pub steps: [usize; 2],
    /// The solution at the beginning of the window, in the system's own order in memory.
    pub start: Vec<T>,
    /// The stored waveforms of the last iterate.
    pub iterate: Vec<T>,
    /// Those of the iterate before, where windows change their length: the initial guess of a longer window may begin with them. Else empty.
    pub before: Vec<T>,
}

/// The windows and iterations of a relaxation.
pub(crate) struct TimeLoop<'a, T> {
    control: Control<'a, T>,
    windows: Windows,
    pub(crate) report: Report,
    /// Steps of the window before.
    pub(crate) before: usize,
    /// Iterations of all windows.
    count: usize,
    stopped: bool,
}

/// What the iterations of a window begin with.
pub(crate) struct Window {
    pub(crate) steps: Range<usize>,
    /// The number of the window.
    pub(crate) number: usize,
    /// The differences of iterations that were made before the relaxation was stopped.
    pub(crate) history: Vec<f64>,
}

impl<'a, T> TimeLoop<'a, T> {
    /// # Errors
    /// [`Error::Value`] for states where several devices share the work, and for a state of other options.
    pub(crate) fn new(
        options: &WaveformOptions,
        ranks: usize,
        report: Report,
        control: Control<'a, T>,
    ) -> Result<TimeLoop<'a, T>> {
        if ranks > 1 && (control.keep_state || control.resume.is_some()) {
            return Err(Error::value("keep_state", "false, and no state, on several devices", ranks));
        }
        let mut time_loop =
            TimeLoop { windows: options.schedule(), report, before: 0, count: 0, stopped: false, control };
        if let Some(state) = time_loop.control.resume {
            let [begin, length] = state.steps;
            let sound = begin < options.steps && (1..=options.window()).contains(&length);
            if !sound || (options.adaptive.is_none() && length != options.window()) {
                let expected = "the steps of a window of the same options";
                return Err(Error::value("resume", expected, format!("{:?}", state.steps)));
            }
            time_loop.windows.go_to(begin, length);
            time_loop.report = state.report.clone();
            time_loop.count = state.report.count();
        }
        Ok(time_loop)
    }

    /// The state to continue from, for the window that comes next; none for those after it.
    pub(crate) fn take_state(&mut self) -> Option<&'a WaveformState<T>> {
        self.control.resume.take()
    }

    /// The next window; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Window> {
        let steps = self.windows.next()?;
        let history = std::mem::take(&mut self.report.unfinished);
        Some(Window { steps, number: self.report.iterations.len(), history })
    }

    /// Calls `progress` after an iteration that left this difference.
    pub(crate) fn iterated(&mut self, difference: f64) {
        self.count += 1;
        if let Some(progress) = &mut self.control.progress {
            self.stopped = self.stopped || progress(self.count, difference).is_break();
        }
    }

    /// Whether `progress` has stopped the relaxation.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped
    }

    /// Ends a window.
    pub(crate) fn ended(&mut self, steps: usize, history: Vec<f64>, time: Duration) {
        self.windows.took(history.len());
        self.report.add(steps, history, time);
        self.before = steps;
    }

    /// What sees the ends of windows.
    pub(crate) fn see(&mut self) -> Option<&mut See<'a, T>> {
        self.control.see.as_mut()
    }

    /// Keeps the differences of the window that is stopped, and makes its state from these arrays where it is wanted.
    pub(crate) fn stop(
        &mut self,
        window: &Range<usize>,
        history: Vec<f64>,
        time: Duration,
        arrays: impl FnOnce() -> Result<[Vec<T>; 3]>,
    ) -> Result<Option<WaveformState<T>>> {
        self.report.unfinished = history;
        self.report.seconds += time.as_secs_f64();
        if !self.control.keep_state {
            return Ok(None);
        }
        let [start, iterate, before] = arrays()?;
        let steps = [window.start, self.windows.length()];
        Ok(Some(WaveformState { report: self.report.clone(), steps, start, iterate, before }))
    }
}
