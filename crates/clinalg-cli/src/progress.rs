//! A bar on stderr while a solver runs, where a person watches.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;
use crate::text::number;

/// Shows how far a run has come; nothing unless stderr is a terminal and no JSON is wanted.
pub(crate) struct Progress {
    bar: ProgressBar,
    measure: Measure,
    /// Whether there is a bar: only where something is counted.
    counts: AtomicBool,
}

/// What a bar shows.
enum Measure {
    /// How far the residual has fallen towards the tolerance, by steps of this name.
    Residual(&'static str, f64),
    /// The steps taken, of a known number.
    Steps(u64),
    /// How large a part is done, such as of a time interval.
    Part,
}

/// Positions of a full bar.
const FULL: u64 = 1000;

impl Progress {
    fn of(out: &Output, measure: Measure) -> Progress {
        let length = if let Measure::Steps(count) = measure { count } else { FULL };
        let target = if out.is_silent() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(length), target);
        bar.set_style(style(false));
        Progress { bar, measure, counts: AtomicBool::new(false) }
    }

    /// Draws with a bar or without one.
    fn draw_bar(&self, counts: bool) {
        if self.counts.swap(counts, Ordering::Relaxed) != counts {
            self.bar.set_style(style(counts));
        }
    }

    /// A bar for a solver that counts `steps` (cycles, iterations) until the relative residual is at most `tolerance`.
    pub(crate) fn new(out: &Output, steps: &'static str, tolerance: f64) -> Progress {
        Progress::of(out, Measure::Residual(steps, tolerance))
    }

    /// A bar for a known number of steps.
    pub(crate) fn of_steps(out: &Output, count: u64) -> Progress {
        Progress::of(out, Measure::Steps(count))
    }

    /// A bar for the part that is done, such as of a time interval.
    pub(crate) fn of_part(out: &Output) -> Progress {
        Progress::of(out, Measure::Part)
    }

    /// Says what goes on where nothing is counted.
    pub(crate) fn stage(&self, what: impl Into<String>) {
        self.draw_bar(false);
        self.bar.set_message(what.into());
        self.bar.enable_steady_tick(Duration::from_millis(120));
    }

    /// After step number `step`, with this residual.
    pub(crate) fn step(&self, step: u64, residual: f64) {
        self.draw_bar(true);
        match self.measure {
            Measure::Residual(name, tolerance) => {
                self.bar.set_message(format!("{name} {step}, relative residual {}", number(residual, 2)));
                self.bar.set_position(position(residual, tolerance));
            }
            Measure::Steps(count) => {
                self.bar.set_message(format!("step {step} of {count}"));
                self.bar.set_position(step);
            }
            Measure::Part => {}
        }
    }

    /// Ends the bar.
    pub(crate) fn clear(&self) {
        if !self.bar.is_finished() {
            self.bar.finish_and_clear();
        }
    }

    /// When this part is done, from 0 to 1.
    pub(crate) fn reached(&self, part: f64, what: impl Into<String>) {
        self.draw_bar(true);
        self.bar.set_message(what.into());
        self.bar.enable_steady_tick(Duration::from_millis(120));
        self.bar.set_position((part.clamp(0.0, 1.0) * FULL as f64) as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn style(counts: bool) -> ProgressStyle {
    let template = if counts { "{spinner} [{bar:28}] {msg} ({elapsed})" } else { "{spinner} {msg} ({elapsed})" };
    ProgressStyle::with_template(template)
        .map_or_else(|_| ProgressStyle::default_bar(), |style| style.progress_chars("=> "))
}

/// The part of the bar in powers of ten; towards the smallest tolerance where that is 0.
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
