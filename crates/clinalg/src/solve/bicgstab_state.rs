//! What BiCGStab knows between iterations, and when it ends.

use num_traits::Float;
use serde::{Deserialize, Serialize};

use super::Stop;
use super::best::Best;
use super::bicgstab_steps::{Row, Scalars};
use super::monitor::ConvergenceMonitor;
use super::scalars::Blocks;
use crate::ops::SpaceVector;
use crate::{Real, Scalar};

/// The shadow residual of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Shadow {
    /// The residual that the cycle starts from.
    Residual,
    /// The same with scattered sign changes.
    Scattered,
}

/// After the last iteration that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) kind: Shadow,
    /// |b - A x| at the last change of the shadow.
    pub(super) changed_at: f64,
    /// The largest |A M^-1 p| / |p| so far.
    pub(super) largest: f64,
    /// The scale of the residual, and the squared norm of the shadow residual.
    pub(super) unit: f64,
    pub(super) shadow_square: f64,
    /// The residual of the recurrence.
    pub(super) norm: f64,
    pub(super) blocks: Blocks,
    /// What the next iteration starts from.
    pub(super) row: Row,
}

impl Default for State {
    fn default() -> State {
        State {
            kind: Shadow::Residual,
            changed_at: f64::INFINITY,
            largest: 0.0,
            unit: 1.0,
            shadow_square: 0.0,
            norm: 0.0,
            blocks: Blocks::default(),
            row: Row::default(),
        }
    }
}

/// What a memory holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedState {
    pub(super) state: State,
    pub(super) scalars: Scalars,
}

/// The reason to stop where the device stopped within its safety margin; the true residual decides.
fn within<T: Scalar>(squares: f64, to_reach: f64) -> Stop {
    let margin = 64.0 * T::Real::epsilon().into_f64();
    if squares <= to_reach * (1.0 + margin) { Stop::Converged } else { Stop::Breakdown }
}

impl State {
    /// Checks and records an iteration that found out `row`, and that leaves `next`; returns why the cycle ends.
    pub(super) fn advance<T: Scalar>(
        &mut self,
        monitor: &mut ConvergenceMonitor<'_>,
        (row, next): (Row, Row),
        best: &mut Best<impl SpaceVector>,
    ) -> Option<Stop> {
        let Row { sigma, square, length, half, mixed, other, made, .. } = row;
        let (eps, to_reach) = (T::Real::epsilon().into_f64(), monitor.squares_to_reach(self.unit));
        if !(sigma.is_finite() && square.is_finite()) {
            return Some(Stop::NotFinite);
        }
        let quotient = (square / length).sqrt();
        let vanishes = sigma.abs() <= eps * (self.shadow_square * square).sqrt();
        if quotient <= eps * self.largest || vanishes || made == 0.0 {
            return Some(Stop::Breakdown);
        }
        self.largest = self.largest.max(quotient);
        let norm = self.unit * half.sqrt();
        if monitor.reaches(norm) {
            return monitor.record(norm, norm).or(Some(Stop::Converged));
        }
        if !(mixed.is_finite() && other.is_finite() && half.is_finite()) {
            return Some(Stop::NotFinite);
        }
        if mixed.abs() <= eps * (other * half).sqrt() || made == 1.0 {
            return monitor.record(norm, norm).or(Some(within::<T>(half, to_reach)));
        }
        let norm = self.unit * next.squares.sqrt();
        best.correct(norm);
        (self.row, self.norm) = (next, norm);
        // The shadow's product with r has vanished, or the device stopped in its safety margin.
        monitor.record(norm, norm).or_else(|| self.pending_end::<T>(monitor))
    }

    /// Why the next iteration must not be made.
    pub(super) fn pending_end<T: Scalar>(&self, monitor: &ConvergenceMonitor<'_>) -> Option<Stop> {
        (self.row.stop != 0.0).then(|| within::<T>(self.row.squares, monitor.squares_to_reach(self.unit)))
    }
}
