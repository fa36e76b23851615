//! Parameters and reports of the wave solver.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use crate::multigrid::Backend;
use crate::solve::Stop;
use crate::{Error, Real, Result};

/// How time is stepped through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Leapfrog: a stencil per step, stable up to the Courant number 1 / sqrt(2).
    #[default]
    Explicit,
    /// Newmark with beta = 1/4, gamma = 1/2 (the trapezoidal rule, Crank-Nicolson): a multigrid solution per step, stable
    /// for every time step.
    Implicit,
}

/// Parameters of [`Wave`](super::Wave).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaveParams {
    /// Points per side, boundary included: at least 3; 2^k + 1 for the implicit scheme.
    pub n: usize,
    /// What the steps are made of.
    pub backend: Backend,
    /// How time is stepped through.
    pub scheme: Scheme,
    /// Speed of the waves, sides of the square per unit of time.
    pub c: f64,
    /// Time step.
    pub dt: f64,
    /// Most explicit steps that the kernels make in one pass over memory, 1 to 8; the results have the same bits for each.
    pub steps_per_pass: usize,
    /// Of the implicit scheme: relative residual of the accelerations to reach in each step.
    pub tolerance: f64,
    /// Of the implicit scheme: most multigrid cycles per step.
    pub max_cycles: usize,
}

impl Default for WaveParams {
    /// Leapfrog at N = 1025 with c = 1 and the Courant number 1/2.
    fn default() -> WaveParams {
        WaveParams {
            n: 1025,
            backend: Backend::default(),
            scheme: Scheme::default(),
            c: 1.0,
            dt: 0.5 / 1024.0,
            steps_per_pass: MOST_STEPS,
            tolerance: 1e-10,
            max_cycles: 100,
        }
    }
}

/// Most steps in one pass.
pub(crate) const MOST_STEPS: usize = 8;

/// Most points per side; columns are counted in 32 bits on the device.
const MOST_POINTS: usize = 1 << 30;

/// What a Courant number computed from a time step may be too large by.
const ROUNDING: f64 = 1e-12;

impl WaveParams {
    /// The largest Courant number c dt / h at which the explicit scheme is stable, 1 / sqrt(2).
    pub const COURANT_LIMIT: f64 = FRAC_1_SQRT_2;

    /// Mesh width, 1 / (n - 1).
    pub fn h(&self) -> f64 {
        1.0 / (self.n.max(2) - 1) as f64
    }

    /// The Courant number c dt / h.
    pub fn courant(&self) -> f64 {
        self.c * self.dt / self.h()
    }

    /// The time step at the Courant number `courant`.
    pub fn dt_of(&self, courant: f64) -> f64 {
        courant * self.h() / self.c
    }

    pub(crate) fn check(&self) -> Result<()> {
        if !(3..=MOST_POINTS).contains(&self.n) || self.n.checked_mul(self.n).is_none() {
            return Err(Error::value("n", format!("at least 3 points per side, at most {MOST_POINTS}"), self.n));
        }
        for (argument, value) in [("c", self.c), ("dt", self.dt)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::value(argument, "a finite number above 0", value));
            }
        }
        if !(1..=MOST_STEPS).contains(&self.steps_per_pass) {
            return Err(Error::value("steps_per_pass", format!("1 to {MOST_STEPS}"), self.steps_per_pass));
        }
        let courant = self.courant();
        if self.scheme == Scheme::Explicit && courant > WaveParams::COURANT_LIMIT * (1.0 + ROUNDING) {
            let limit = self.dt_of(WaveParams::COURANT_LIMIT);
            let expected = format!(
                "at most h / (c sqrt(2)) = {limit:.6e}, the stability limit of the explicit scheme for c = {} and {} points \
                 per side (Courant number c dt / h at most {:.4}); the implicit scheme has none",
                self.c,
                self.n,
                WaveParams::COURANT_LIMIT
            );
            return Err(Error::value("dt", expected, format!("{:e} (Courant number {courant:.4})", self.dt)));
        }
        if !courant.is_normal() {
            return Err(Error::value("dt", "a time step whose Courant number c dt / h is a normal number", self.dt));
        }
        Ok(())
    }

    /// a = 2 - 4 r2 and r2 = (c dt / h)^2 of the leapfrog step.
    ///
    /// `r2` is taken to a multiple of epsilon / 4, so that `a` has no error of its own: one would act as a force on every
    /// point, and be much larger than the steps of slow waves.
    pub(crate) fn coefficients<T: Real>(&self) -> (T, T) {
        let quantum = T::epsilon().into_f64() / 4.0;
        let r2 = (self.courant().powi(2).min(0.5) / quantum).round() * quantum;
        (T::from_f64(2.0 - 4.0 * r2), T::from_f64(r2))
    }
}

/// The discrete energy of a membrane of unit density, see [`Wave::energy`](super::Wave::energy).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WaveEnergy {
    /// Half the integral of u_t^2.
    pub kinetic: f64,
    /// Half c^2 times the integral of |grad u|^2.
    pub potential: f64,
}

impl WaveEnergy {
    /// The sum, which the schemes keep.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// What some steps took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WaveReport {
    /// Steps made by this call; fewer than requested only if the implicit scheme did not meet its tolerance or a callback ended the call.
    pub steps: usize,
    /// The equations of the implicit scheme, `None` for the explicit one.
    pub implicit: Option<ImplicitReport>,
}

impl WaveReport {
    /// Adds what later steps took.
    pub(crate) fn add(&mut self, later: WaveReport) {
        self.steps += later.steps;
        self.implicit = match (self.implicit, later.implicit) {
            (Some(before), Some(later)) => Some(ImplicitReport {
                stop: later.stop,
                cycles: before.cycles + later.cycles,
                relative_residual: before.relative_residual.max(later.relative_residual),
            }),
            (before, later) => later.or(before),
        };
    }
}

/// What the elliptic problems of some implicit steps took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ImplicitReport {
    /// Why the last solution ended; no further step is made after a failure.
    pub stop: Stop,
    /// Multigrid cycles of all steps together.
    pub cycles: usize,
    /// Largest relative residual that a step was left with.
    pub relative_residual: f64,
}
