//! The steps of BiCGStab, apart from products with the matrix and the preconditioner.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::best::Best;
use super::memory::Coefficient;
use super::scalars::Limits;
use crate::ops::SpaceVector;
use crate::{Result, Scalar};

/// What an iteration starts from and finds out. Of complex numbers it has the moduli.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The shadow residual's product with r, and r'r.
    pub(super) rho: f64,
    pub(super) squares: f64,
    /// The largest |A M^-1 p|^2 / |p|^2 so far.
    pub(super) largest: f64,
    /// Not zero: the iteration must not be made.
    pub(super) stop: f64,
    /// For v = A M^-1 p the shadow's product with v, v'v and p'p.
    pub(super) sigma: f64,
    pub(super) square: f64,
    pub(super) length: f64,
    /// r'r after the half step.
    pub(super) half: f64,
    /// For t = A M^-1 r the products t'r and t't.
    pub(super) mixed: f64,
    pub(super) other: f64,
    /// How far the iteration went: 0, 1 for the half step alone, 2.
    pub(super) made: f64,
}

/// What the steps need besides a [`Row`] to continue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Scalars {
    /// On the device: p'p in parts.
    Device {
        /// The parts.
        lengths: Vec<f64>,
    },
    /// On the host: the shadow residual's product with r.
    Host {
        /// The product.
        rho: Coefficient,
    },
}

/// The vector updates of an iteration of BiCGStab, with the scalars that they need. An iteration calls them in the
/// order of the trait.
pub trait BiCgStabSteps<T: Scalar, V: SpaceVector<Scalar = T>>: fmt::Debug + Send + Sync {
    /// The most iterations that are made before their rows are read. Where it is 1, an iterate is shown to
    /// [`Best::before`] before it is replaced.
    fn at_once(&self) -> usize;

    /// Begins a cycle whose shadow residual, of norm `length`, is r, or `scattered`. Sets p = r. Returns the first row.
    ///
    /// # Errors
    /// Those of the enqueue; what a device reports.
    fn begin(&mut self, r: &V, scattered: Option<&V>, p: &mut V, length: f64) -> Result<Row>;

    /// Sets the row of the first iteration, and the norm of the shadow residual.
    ///
    /// # Errors
    /// Those of the enqueue.
    fn start(&mut self, first: Row, shadow: f64) -> Result<()>;

    /// The place for the dot products of A M^-1 p and A M^-1 r.
    fn dots(&mut self) -> &mut V::Dots;

    /// r -= alpha v for the `directions` p and v.
    ///
    /// # Errors
    /// Those of the enqueue; what a device reports.
    fn half(&mut self, limits: &Limits<T::Real>, directions: (&V, &V), r: &mut V) -> Result<()>;

    /// x += unit (alpha y + omega z) with the `steps` y and z, of which the second is r where it is `None`; r -= omega
    /// t. `products` are t and the shadow residual; x comes with the number of the iterate that it is.
    ///
    /// # Errors
    /// As [`BiCgStabSteps::half`].
    fn whole(
        &mut self,
        limits: &Limits<T::Real>,
        steps: (&V, Option<&V>),
        products: (&V, &V),
        x: (&mut V, usize),
        r: &mut V,
        best: &mut Best<V>,
    ) -> Result<()>;

    /// p = r + beta (p - omega v), and advances to the next iteration.
    ///
    /// # Errors
    /// As [`BiCgStabSteps::half`].
    fn direction(&mut self, limits: &Limits<T::Real>, r: &V, v: &V, p: &mut V) -> Result<()>;

    /// The last `count` iterations, each with its successor's row.
    ///
    /// # Errors
    /// What a device reports.
    fn read(&self, count: usize) -> Result<Vec<(Row, Row)>>;

    /// What [`BiCgStabSteps::restore`] takes.
    ///
    /// # Errors
    /// What a device reports.
    fn scalars(&self) -> Result<Scalars>;

    /// Continues with these scalars; returns false if they are of other steps.
    ///
    /// # Errors
    /// Those of an upload.
    fn restore(&mut self, scalars: &Scalars) -> Result<bool>;
}
