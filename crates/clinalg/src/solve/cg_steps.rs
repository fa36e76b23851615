//! The steps of conjugate gradients, apart from products with the matrix and the preconditioner.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Stop;
use super::best::Best;
use super::scalars::Limits;
use crate::ops::SpaceVector;
use crate::{Result, Scalar};

/// What an iteration starts from and finds out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// r'z with z = M^-1 r, and r'r.
    pub(super) rho: f64,
    pub(super) squares: f64,
    /// p'Mp, by its recurrence.
    pub(super) square: f64,
    /// The largest Rayleigh quotients of M^-1 A and of M^-1 so far.
    pub(super) largest: f64,
    pub(super) steepest: f64,
    /// Not zero: r is small or large enough to stop before this iteration.
    pub(super) stop: f64,
    /// p'Ap.
    pub(super) curvature: f64,
    /// Whether the iteration was made.
    pub(super) made: f64,
}

impl Row {
    /// Why the iteration must not have been made, given the largest Rayleigh quotients of M^-1 A and of M^-1 so far,
    /// which it updates.
    pub(super) fn end(&self, [largest, steepest]: [&mut f64; 2], eps: f64) -> Option<Stop> {
        let Row { rho, squares, square, curvature, made, .. } = *self;
        if !rho.is_finite() {
            return Some(Stop::NotFinite);
        }
        let singular = eps * eps * *steepest;
        if rho / squares <= singular {
            return Some(semidefinite(rho / squares, singular));
        }
        *steepest = steepest.max(rho / squares);
        if !curvature.is_finite() {
            return Some(Stop::NotFinite);
        }
        let (quotient, singular) = (curvature / square, eps * *largest);
        if quotient <= singular {
            return Some(semidefinite(quotient, singular));
        }
        *largest = largest.max(quotient);
        // The device's safety margin above what counts as singular here, or a step of length 0.
        (made == 0.0).then_some(Stop::Breakdown)
    }
}

/// The reason to stop at a Rayleigh quotient of at most `singular`, the largest that does not count as positive.
fn semidefinite(quotient: f64, singular: f64) -> Stop {
    if singular > 0.0 && quotient >= -singular { Stop::Breakdown } else { Stop::Indefinite }
}

/// The vector updates of an iteration of conjugate gradients, with the scalars that they need. An iteration calls them
/// in the order of the trait.
pub trait CgSteps<T: Scalar, V: SpaceVector<Scalar = T>>: fmt::Debug + Send + Sync {
    /// The most iterations that are made before their rows are read. Where it is 1, an iterate is shown to
    /// [`Best::before`] before it is replaced.
    fn at_once(&self) -> usize;

    /// r'z, where a cycle starts.
    ///
    /// # Errors
    /// What a device reports.
    fn rho(&mut self, r: &V, z: &V) -> Result<f64>;

    /// Sets the row of the first iteration.
    ///
    /// # Errors
    /// Those of the enqueue.
    fn start(&mut self, first: Row) -> Result<()>;

    /// The place for p'Ap.
    fn curvature(&mut self) -> &mut V::Dots;

    /// r -= step q.
    ///
    /// # Errors
    /// Those of the enqueue; what a device reports.
    fn residual(&mut self, limits: &Limits<T::Real>, q: &V, r: &mut V) -> Result<()>;

    /// x += unit step p, p = z + beta p, and advances to the next iteration. The `residuals` are r and z = M^-1 r,
    /// `None` for r; x comes with the number of the iterate that it is.
    ///
    /// # Errors
    /// As [`CgSteps::residual`].
    fn direction(
        &mut self,
        limits: &Limits<T::Real>,
        residuals: (&V, Option<&V>),
        x: (&mut V, usize),
        p: &mut V,
        best: &mut Best<V>,
    ) -> Result<()>;

    /// The last `count` iterations, each with its successor's row.
    ///
    /// # Errors
    /// What a device reports.
    fn read(&self, count: usize) -> Result<Vec<(Row, Row)>>;
}
