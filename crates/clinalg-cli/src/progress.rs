//! A bar on stderr while a solver runs, where a person watches.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// Shows how far the residual has fallen; nothing unless stderr is a terminal and no JSON is wanted.
pub(crate) struct Progress {
    bar: ProgressBar,
    tolerance: f64,
    steps: &'static str,
}

/// Positions of a full bar.
const FULL: u64 = 1000;

/// A bar of that length; hidden where JSON or nothing is wanted.
fn bar(out: &Output, length: u64) -> ProgressBar {
    let target = if out.is_silent() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:28}] {msg} ({elapsed})") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

impl Progress {
    /// A bar for a solver that counts `steps` (cycles, iterations) until the relative residual is at most `tolerance`.
    pub(crate) fn new(out: &Output, steps: &'static str, tolerance: f64) -> Progress {
        Progress { bar: bar(out, FULL), tolerance, steps }
    }

    /// Says what goes on before the solver counts.
    pub(crate) fn stage(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    /// After step number `step`.
    pub(crate) fn step(&self, step: usize, residual: f64) {
        self.bar.set_message(format!("{} {step}, relative residual {residual:.1e}", self.steps));
        self.bar.set_position(position(residual, self.tolerance));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows how many of a known number of steps are made; nothing unless stderr is a terminal and no JSON is wanted.
pub(crate) struct Steps {
    bar: ProgressBar,
}

impl Steps {
    pub(crate) fn new(out: &Output, count: u64) -> Steps {
        Steps { bar: bar(out, count) }
    }

    /// Says what goes on before the steps.
    pub(crate) fn stage(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    /// So many steps are made.
    pub(crate) fn reached(&self, steps: u64) {
        self.bar.set_message(format!("step {steps} of {}", self.bar.length().unwrap_or(steps)));
        self.bar.set_position(steps);
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows how far time has come; nothing unless stderr is a terminal and no JSON is wanted.
pub(crate) struct Way {
    bar: ProgressBar,
}

impl Way {
    pub(crate) fn new(out: &Output) -> Way {
        Way { bar: bar(out, FULL) }
    }

    /// Says what goes on where time stands still.
    pub(crate) fn stage(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    /// So far, from 0 to 1.
    pub(crate) fn reached(&self, part: f64, what: impl Into<String>) {
        self.bar.set_message(what.into());
        self.bar.set_position((part.clamp(0.0, 1.0) * FULL as f64) as u64);
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The part of the way in powers of ten; towards the smallest tolerance where that is 0.
fn position(residual: f64, tolerance: f64) -> u64 {
    let part = residual.log10() / tolerance.max(1e-16).log10();
    // NaN and negative parts count as none.
    (part.clamp(0.0, 1.0) * FULL as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_counts_powers_of_ten() {
        assert_eq!(position(1.0, 1e-10), 0);
        assert_eq!(position(1e-5, 1e-10), 500);
        assert_eq!(position(1e-12, 1e-10), FULL);
        assert_eq!(position(20.0, 1e-10), 0);
        assert_eq!(position(f64::NAN, 1e-10), 0);
        assert_eq!(position(0.0, 0.0), FULL);
    }
}
