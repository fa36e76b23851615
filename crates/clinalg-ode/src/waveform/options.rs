//! Options and reports of a waveform relaxation.

use clinalg::number;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Method;
use crate::model::System;
use crate::waveform::control::WaveformState;
use crate::waveform::partition::Partition;
use crate::waveform::stages::Stages;
use crate::{Error, Result};

/// When the iterations of a window end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// After this many, or at a difference of 0.
    Iterations(usize),
    /// When the difference between two iterates, the largest 2-norm over the steps and stages of the window, is at most this; 0 for
    /// the method's solution to the last bit.
    Difference(f64),
}

/// The waveforms that a window begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// The solution at the beginning of the window, constant.
    Constant,
    /// The waveforms of the previous window, step by step; constant in the first window.
    Previous,
    /// Linear extrapolation from the last step of the previous window; constant in the first window.
    Linear,
}

/// Which waveforms are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Those of all components.
    All,
    /// Those of points that other blocks may read; for blocks of points, whose other values stay in the kernel. Differences between
    /// iterates are those of the stored waveforms.
    Boundary,
}

/// What the right-hand side of a component reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// Its own value from a register, others from the waveforms.
    None,
    /// A private copy of all components, renewed in each step: for right-hand sides with an unknown access pattern.
    All,
    /// A private copy of the components within the access distance.
    AccessDistance,
}

/// Names of the variants with what they are.
pub const VARIANTS: [(&str, &str); 7] = [
    ("component", "every component a block: Jacobi iteration; the own value apart"),
    ("copy-all", "as component; right-hand sides read private copies of all components"),
    (
        "copy-access-distance",
        "as component; right-hand sides read private copies of the components within the access distance",
    ),
    ("point", "all fields of a grid point a block"),
    ("block", "all fields of a box of grid points a block"),
    ("block-boundary", "as block; only waveforms at the boundaries of blocks are stored"),
    (
        "device",
        "the part of the grid of each device of a team; only waveforms at the boundaries of these parts are stored",
    ),
];

/// Options of a waveform relaxation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WaveformOptions {
    /// The blocks.
    pub partition: Partition,
    /// The method of the steps: an explicit Runge-Kutta method. Its error estimate is not used.
    pub method: Method,
    /// Size of a step.
    pub h: f64,
    /// Number of steps, at least 1.
    pub steps: usize,
    /// Number of windows, which divides the number of steps.
    pub windows: usize,
    /// When the iterations of a window end.
    pub stop: Stop,
    /// The waveforms that a window begins with.
    pub guess: Guess,
    /// Target number of iterations per window: windows that take more are followed by windows of half as many steps, those that took at most
    /// half as many iterations by windows of twice as many. `windows` gives the first and largest length.
    pub adaptive: Option<usize>,
    /// Which waveforms are in memory.
    pub storage: Storage,
    /// What right-hand sides read, for blocks of one component.
    pub copies: Copies,
    /// Whether the waveforms of the last window are returned.
    pub keep: bool,
    /// Returns an error for steps past the method's stability limit, by an estimate of the largest eigenvalue at the beginning.
    pub watch_stability: bool,
    /// One weight per device of a team, proportional to the work that the device does per unit of time. Blocks or rows are distributed in this ratio;
    /// if empty, all devices get an equal share.
    pub weights: Vec<f64>,
    /// Measures these weights before the first window, with one iteration of it on each device.
    pub balance: bool,
}

impl WaveformOptions {
    /// `steps` steps of Euler's method of size `h` in one window, iterated until its solution is reached to the last bit; every
    /// component a block.
    pub fn new(h: f64, steps: usize) -> WaveformOptions {
        WaveformOptions {
            partition: Partition::Component,
            method: Method::named("euler").expect("Euler's method has a name"),
            h,
            steps,
            windows: 1,
            stop: Stop::Difference(0.0),
            guess: Guess::Previous,
            adaptive: None,
            storage: Storage::All,
            copies: Copies::None,
            keep: false,
            watch_stability: true,
            weights: Vec::new(),
            balance: false,
        }
    }

    /// Sets blocks, storage and copies to those of one of [`VARIANTS`]; `sides` are the points of a block along each axis.
    ///
    /// # Errors
    /// [`Error::Value`] for another name.
    pub fn set_variant(&mut self, name: &str, sides: [usize; 3]) -> Result<()> {
        let (partition, storage, copies) = match name {
            "component" => (Partition::Component, Storage::All, Copies::None),
            "copy-all" => (Partition::Component, Storage::All, Copies::All),
            "copy-access-distance" => (Partition::Component, Storage::All, Copies::AccessDistance),
            "point" => (Partition::Point, Storage::All, Copies::None),
            "block" => (Partition::Block(sides), Storage::All, Copies::None),
            "block-boundary" => (Partition::Block(sides), Storage::Boundary, Copies::None),
            "device" => (Partition::Device, Storage::Boundary, Copies::None),
            _ => {
                let names = VARIANTS.map(|(name, _)| name).join(", ");
                return Err(Error::value("variant", format!("one of {names}"), name));
            }
        };
        (self.partition, self.storage, self.copies) = (partition, storage, copies);
        Ok(())
    }

    /// The name of the variant, one of [`VARIANTS`].
    pub fn variant(&self) -> &'static str {
        match (self.partition, self.storage, self.copies) {
            (Partition::Component, _, Copies::None) => "component",
            (Partition::Component, _, Copies::All) => "copy-all",
            (Partition::Component, _, Copies::AccessDistance) => "copy-access-distance",
            (Partition::Point, ..) => "point",
            (Partition::Block(_), Storage::All, _) => "block",
            (Partition::Block(_), Storage::Boundary, _) => "block-boundary",
            (Partition::Device, ..) => "device",
        }
    }

    /// Points of a block along each axis of a grid with so many, where nothing else is said: 32, or 8 in three dimensions, and half of
    /// it for methods with several stages, which need more local memory.
    pub fn usual_side(&self, dims: usize) -> usize {
        let side = if dims == 3 { 8 } else { 32 };
        if self.method.graph().rhs_count() > 1 { side / 2 } else { side }
    }

    /// Words moved per component, step and iteration, where this part of the components is stored in so many rows a step: the old
    /// waveform read and the new one written, and both read for their difference. Copies are not counted.
    pub(crate) fn words(&self, stored: f64, rows: usize) -> f64 {
        4.0 * stored * rows as f64
    }

    /// Components of the private copy of each component.
    pub(crate) fn copied(&self, system: &System) -> usize {
        match self.copies {
            Copies::None => 0,
            Copies::All => system.components(),
            Copies::AccessDistance => 2 * system.access_distance() + 1,
        }
    }

    /// Steps of a window.
    pub(crate) fn window(&self) -> usize {
        self.steps / self.windows
    }

    /// The time at which a step begins.
    pub(crate) fn time(&self, t0: f64, step: usize) -> f64 {
        t0 + step as f64 * self.h
    }

    /// Times at which these steps begin.
    pub(crate) fn times(&self, t0: f64, steps: Range<usize>) -> Vec<f64> {
        steps.map(|k| self.time(t0, k)).collect()
    }

    /// The steps of each window.
    pub(crate) fn schedule(&self) -> Windows {
        Windows { begin: 0, length: self.window(), most: self.window(), steps: self.steps, target: self.adaptive }
    }

    /// Checks all but the memory.
    pub(crate) fn check<T: clinalg::Real>(&self, system: &System, y0: &[T]) -> Result<()> {
        self.check_without_values(system)?;
        if y0.len() != system.components() {
            return Err(Error::value("y0", format!("{} components", system.components()), y0.len()));
        }
        match y0.iter().position(|v| !v.is_finite()) {
            Some(k) => Err(Error::value(format!("y0[{k}]"), "a finite number", y0[k].into_f64())),
            None => Ok(()),
        }
    }

    /// As [`WaveformOptions::check`], before there are initial values.
    pub(crate) fn check_without_values(&self, system: &System) -> Result<()> {
        self.partition.check(system)?;
        Stages::new(&self.method)?;
        // Not `<=`: NaN fails as well.
        if !(self.h > 0.0 && self.h.is_finite()) {
            return Err(Error::value("h", "a finite number above 0", self.h));
        }
        if self.steps == 0 {
            return Err(Error::value("steps", "at least 1", 0));
        }
        if self.windows == 0 || !self.steps.is_multiple_of(self.windows) {
            return Err(Error::value("windows", format!("a divisor of the {} steps", self.steps), self.windows));
        }
        match self.stop {
            Stop::Iterations(0) => return Err(Error::value("iterations", "at least 1", 0)),
            Stop::Difference(eps) if eps.is_nan() || eps < 0.0 => {
                return Err(Error::value("eps", "a number of at least 0", eps));
            }
            _ => {}
        }
        if self.adaptive == Some(0) {
            return Err(Error::value("adaptive", "at least 1 iteration", 0));
        }
        if self.storage == Storage::Boundary && matches!(self.partition, Partition::Component | Partition::Point) {
            return Err(Error::value(
                "storage",
                "all waveforms, unless blocks are boxes of points",
                "their boundaries",
            ));
        }
        if self.copies != Copies::None && self.partition != Partition::Component {
            return Err(Error::value("copies", "none, unless every component is a block", "some"));
        }
        if self.keep && self.storage == Storage::Boundary {
            return Err(Error::value("keep", "false where only waveforms at boundaries are stored", true));
        }
        Ok(())
    }

    /// Whether the iterations of a window end after this one; `iteration` counts from 1.
    pub(crate) fn ends(&self, iteration: usize, difference: f64) -> bool {
        match self.stop {
            Stop::Iterations(count) => iteration == count || difference == 0.0,
            Stop::Difference(eps) => difference <= eps,
        }
    }

    /// Checks that the iterations of a window have terminated: for any problem, as many iterations as there are rows must leave nothing to change.
    ///
    /// # Errors
    /// [`Error::Variant`] if they have not, for example on a device whose results are not reproducible.
    pub(crate) fn terminated(&self, window: usize, history: &[f64]) -> Result<()> {
        let count = history.len();
        match history.last() {
            Some(last) if !self.ends(count, *last) => {
                let reason = format!(
                    "window {} still changes by {} after {count} iterations, where no more can change: the device does not \
                     compute the same values twice; run `clinalg doctor`",
                    window + 1,
                    number(*last, 2)
                );
                Err(Error::Variant { variant: "waveform", reason })
            }
            _ => Ok(()),
        }
    }

    /// Values of the two iterates of a window.
    ///
    /// # Errors
    /// [`Error::Memory`] for more bytes than an address has.
    pub(crate) fn values<T>(&self, system: &System) -> Result<usize> {
        let rows = self.window().checked_mul(Stages::new(&self.method)?.count()).and_then(|rows| rows.checked_add(1));
        let values = rows.and_then(|rows| rows.checked_mul(system.components()));
        let fits =
            values.filter(|values| values.checked_mul(2 * size_of::<T>()).is_some_and(|b| b <= isize::MAX as usize));
        fits.ok_or_else(|| Error::Memory {
            place: "on the device",
            needs: "waveform more than 2^63".into(),
            available: isize::MAX as u64,
        })
    }
}

/// The windows, one after the other.
pub(crate) struct Windows {
    begin: usize,
    length: usize,
    most: usize,
    steps: usize,
    target: Option<usize>,
}

impl Windows {
    /// The steps of the next window; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Range<usize>> {
        let begin = self.begin;
        self.begin = self.steps.min(begin + self.length);
        (begin < self.begin).then_some(begin..self.begin)
    }

    /// Goes to the window of so many steps that begins at step `begin`.
    pub(crate) fn go_to(&mut self, begin: usize, length: usize) {
        (self.begin, self.length) = (begin, length);
    }

    /// Steps of a window, but for the last one.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The window took so many iterations.
    pub(crate) fn took(&mut self, iterations: usize) {
        match self.target {
            Some(target) if iterations > target => self.length = (self.length / 2).max(1),
            Some(target) if 2 * iterations <= target => self.length = (2 * self.length).min(self.most),
            _ => {}
        }
    }
}

/// The outcome of a waveform relaxation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Iterations of each window.
    pub iterations: Vec<usize>,
    /// Steps of each window.
    pub window_steps: Vec<usize>,
    /// Difference between two iterates after each iteration of each window: the largest 2-norm over steps and stages.
    pub error_history: Vec<Vec<f64>>,
    /// The differences of the window in which the relaxation was stopped; empty where it was not.
    pub unfinished: Vec<f64>,
    /// Bytes of the waveforms, copies and indices, on all devices together.
    pub memory_bytes: u64,
    /// Words moved per component, step and iteration by the model, those of the difference included.
    pub words_per_component: f64,
    /// Seconds of all iterations. Set-up, uploads, and reading the solution at the ends of windows are not included.
    pub seconds: f64,
}

impl Report {
    pub(crate) fn new(memory_bytes: u64, words_per_component: f64) -> Report {
        Report {
            iterations: Vec::new(),
            window_steps: Vec::new(),
            error_history: Vec::new(),
            unfinished: Vec::new(),
            memory_bytes,
            words_per_component,
            seconds: 0.0,
        }
    }

    /// Iterations of all windows.
    pub fn count(&self) -> usize {
        self.iterations.iter().sum::<usize>() + self.unfinished.len()
    }

    /// The difference of the last two iterates; `None` before the first iteration.
    pub fn difference(&self) -> Option<f64> {
        self.unfinished.last().or_else(|| self.error_history.last()?.last()).copied()
    }

    /// Adds a window.
    pub(crate) fn add(&mut self, steps: usize, history: Vec<f64>, time: Duration) {
        self.seconds += time.as_secs_f64();
        self.iterations.push(history.len());
        self.window_steps.push(steps);
        self.error_history.push(history);
    }
}

/// The result of a waveform relaxation.
#[derive(Debug, Clone, PartialEq)]
pub struct Relaxation<T> {
    /// The solution at the end, in the system's own order in memory; of a relaxation that was stopped at the end of the last complete window.
    pub solution: Vec<T>,
    /// The time of the solution.
    pub t: f64,
    /// Whether [`Control::progress`](crate::waveform::Control) stopped the relaxation before its end.
    pub stopped: bool,
    /// Where it was stopped, if that was asked for.
    pub state: Option<WaveformState<T>>,
    /// The waveforms of the last window where they are kept, else empty: the components at its beginning, after its first step, and so
    /// on; for methods with several stages those of the stages between.
    pub waveform: Vec<T>,
    /// What was done.
    pub report: Report,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_does_not_end_is_an_error() {
        let mut options = WaveformOptions::new(0.1, 2);
        assert!(options.terminated(0, &[1.0, 0.5, 0.0]).is_ok());
        let error = options.terminated(3, &[1.0, 0.5, 0.25]).unwrap_err();
        assert!(error.to_string().contains("window 4") && error.to_string().contains("after 3 iterations"), "{error}");
        options.stop = Stop::Iterations(3);
        assert!(options.terminated(0, &[1.0, 0.5, 0.25]).is_ok());
        assert!(options.terminated(0, &[1.0, 0.5]).is_err());
        options.stop = Stop::Difference(0.3);
        assert!(options.terminated(0, &[1.0, 0.25]).is_ok() && options.terminated(0, &[1.0]).is_err());
    }
}
