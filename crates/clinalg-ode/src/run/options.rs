//! Options and reports of an integration.

use serde::Serialize;

use crate::run::events::Occurrence;
use crate::run::stepper::Norm;
use crate::{Error, Result};

/// The outcome of an integration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Time reached.
    pub t: f64,
    /// Steps taken.
    pub accepted: usize,
    /// Steps rejected.
    pub rejected: usize,
    /// Evaluations of the right-hand side by the method, without those that start multi-step methods, find the first step,
    /// interpolate or look for stiffness.
    pub rhs_evaluations: usize,
    /// Smallest step taken.
    pub smallest_step: f64,
    /// Largest step taken.
    pub largest_step: f64,
    /// Events, in the order in which they happened.
    pub events: Vec<Occurrence>,
    /// Time at which stability, not accuracy, was found to bound the steps: an implicit method may need far fewer.
    pub stiff: Option<f64>,
}

impl Report {
    pub(crate) fn new(t: f64) -> Report {
        Report {
            t,
            accepted: 0,
            rejected: 0,
            rhs_evaluations: 0,
            smallest_step: f64::INFINITY,
            largest_step: 0.0,
            events: Vec::new(),
            stiff: None,
        }
    }

    /// With the times of the system whose time runs the other way.
    pub(crate) fn time_reversed(&self) -> Report {
        let back = |t: f64| if t == 0.0 { 0.0 } else { -t };
        let event = |happened: &Occurrence| Occurrence { t: back(happened.t), ..*happened };
        Report {
            t: back(self.t),
            events: self.events.iter().map(event).collect(),
            stiff: self.stiff.map(back),
            ..self.clone()
        }
    }

    pub(crate) fn took(&mut self, h: f64, steps: usize) {
        self.accepted += steps;
        self.smallest_step = self.smallest_step.min(h);
        self.largest_step = self.largest_step.max(h);
    }
}

/// Step size control. For adaptive steps, with q the smaller order of the pair plus 1 and e the norm of the
/// error, a step is followed by one that is `safety` e^(-alpha/q) e_old^(beta/q) times as large, within `shrink` and `grow`;
/// after a rejected step there is no growth.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Relative tolerance, at least 0.
    pub relative: f64,
    /// Absolute tolerance, at least 0; one of the two tolerances must be above 0.
    pub absolute: f64,
    /// Absolute tolerances of the components in place of `absolute`, where they are not all the same; the method must be
    /// one [`Method::with_tolerances`](crate::Method::with_tolerances).
    pub absolute_each: Vec<f64>,
    /// Norm of the error.
    pub norm: Norm,
    /// Fixed steps of this size instead of adaptive ones. Between two stops all steps are equal, and at most this.
    pub fixed_step: Option<f64>,
    /// First step; `None` determines it from the right-hand side (Hairer, Norsett, Wanner, Solving ODEs I, II.4).
    pub first_step: Option<f64>,
    /// Largest step.
    pub largest_step: f64,
    /// Maximum number of steps, including rejected ones.
    pub step_limit: usize,
    /// Times at which a step must end, where the right-hand side jumps. Multi-step methods restart there.
    pub stops: Vec<f64>,
    /// Times at which the solution is output, both ends allowed: by dense output of at least third order.
    pub save_at: Vec<f64>,
    /// Keeps the data for [`Integrator::at`](crate::integrate::Integrator::at): two vectors, copied in every step.
    pub dense: bool,
    /// Refuses fixed steps past the stability limit ([`Error::Unstable`]), and looks from time to time whether stability bounds
    /// the adaptive steps ([`Report::stiff`]).
    pub watch_stability: bool,
    /// Safety factor.
    pub safety: f64,
    /// Exponent of the error.
    pub alpha: f64,
    /// Exponent of the error of the previous step (0 for an I controller).
    pub beta: f64,
    /// Smallest factor from step to step.
    pub shrink: f64,
    /// Largest factor from step to step.
    pub grow: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            relative: 1e-6,
            absolute: 1e-9,
            absolute_each: Vec::new(),
            norm: Norm::Rms,
            fixed_step: None,
            first_step: None,
            largest_step: f64::INFINITY,
            step_limit: 100_000,
            stops: Vec::new(),
            save_at: Vec::new(),
            dense: false,
            watch_stability: true,
            safety: 0.9,
            alpha: 0.7,
            beta: 0.4,
            shrink: 0.2,
            grow: 5.0,
        }
    }
}

impl Options {
    /// Checks every value that does not depend on the problem.
    ///
    /// # Errors
    /// [`Error::Value`] for the first that is outside of its range.
    pub fn check(&self) -> Result<()> {
        let positive = |v: f64| v > 0.0 && v.is_finite();
        let tolerances = "at least 0 and finite, and above 0 unless the other tolerance is";
        let ranges = [
            ("relative", self.relative, self.relative >= 0.0 && self.relative.is_finite(), tolerances),
            (
                "absolute",
                self.absolute,
                self.absolute >= 0.0 && self.absolute.is_finite() && self.absolute + self.relative > 0.0,
                tolerances,
            ),
            ("h", self.fixed_step.unwrap_or(1.0), self.fixed_step.is_none_or(positive), "a finite number above 0"),
            (
                "first_step",
                self.first_step.unwrap_or(1.0),
                self.first_step.is_none_or(positive),
                "a finite number above 0",
            ),
            ("largest_step", self.largest_step, self.largest_step > 0.0, "above 0"),
            ("safety", self.safety, self.safety > 0.0 && self.safety < 1.0, "between 0 and 1"),
            ("alpha", self.alpha, self.alpha > 0.0 && self.alpha <= 2.0, "above 0, at most 2"),
            ("beta", self.beta, self.beta >= 0.0 && self.beta <= 2.0, "from 0 to 2"),
            ("shrink", self.shrink, self.shrink > 0.0 && self.shrink < 1.0, "between 0 and 1"),
            ("grow", self.grow, self.grow >= 1.0 && self.grow.is_finite(), "at least 1"),
        ];
        let least = if self.relative > 0.0 { 0.0 } else { f64::MIN_POSITIVE };
        if let Some(k) = self.absolute_each.iter().position(|v| !(*v >= least && v.is_finite())) {
            return Err(Error::value(format!("absolute_each[{k}]"), tolerances, self.absolute_each[k]));
        }
        match ranges.iter().find(|(_, _, good, _)| !good) {
            Some((name, value, _, expected)) => Err(Error::value(*name, *expected, value)),
            None => Ok(()),
        }
    }
}
