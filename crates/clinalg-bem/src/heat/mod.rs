//! The heat equation in space-time by Galerkin boundary elements.
//!
//! du/dt - alpha Laplace u = 0 in a bounded domain for 0 < t < T with u = 0 at t = 0. Boundary values are
//! u and the flux w = alpha du/dn, n outward. Flat triangles, equal time steps; u is continuous and
//! linear on the triangles, w constant, both constant on each time step. Vectors hold the steps one
//! after the other: the coefficient of node or triangle i in step k (0-based) is at `k * n + i`.
//!
//! The four operators are block lower triangular Toeplitz matrices in time:
//! (A x)_k = sum over d <= k of A_d x_(k-d).
//!
//! | operator | test x trial | kernel |
//! |---|---|---|
//! | [`Kind::V`] | triangles x triangles | G |
//! | [`Kind::K`] | triangles x nodes | alpha dG/dn_y |
//! | [`Kind::Ks`] | nodes x triangles | alpha dG/dn_x |
//! | [`Kind::D`] | nodes x nodes | -alpha^2 d^2 G / dn_x dn_y |
//!
//! Sources: Costabel 1990; Arnold and Noon 1989; Dohr, Niino and Steinbach 2019 (operators, boundary integral
//! equations); Sauter and Schwab 2011 (quadrature on triangles that share a vertex or an edge).

mod algorithms;
mod calderon;
pub mod data;
mod forward;
pub mod functions;
mod initial;
mod operator;
mod potential;
pub mod reference;
mod solve;
mod space;
mod times;
mod toeplitz;
mod work;

use clinalg::{Error, Result};
pub use operator::{Forecast, Form, HeatOperator, OperatorOptions};
use serde::{Deserialize, Serialize};

pub use algorithms::Algorithm;
pub use calderon::OperatorPreconditioner;
pub use forward::{Forward, ForwardMemory};
pub use initial::InitialHeat;
pub use potential::interior;
pub use solve::{BoundaryProblem, Problem};
pub use space::HeatSpace;
pub use work::multiply_add_rate;

use crate::Mesh;
use crate::assembly::SingularPair;
use crate::quadrature::Contact;

/// One of the four boundary integral operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Single layer.
    V,
    /// Double layer.
    K,
    /// Adjoint double layer.
    Ks,
    /// Hypersingular.
    D,
}

impl Kind {
    /// All four.
    pub const ALL: [Kind; 4] = [Kind::V, Kind::K, Kind::Ks, Kind::D];

    /// Whether test functions belong to nodes (hats), else to triangles.
    pub fn tests_nodes(self) -> bool {
        matches!(self, Kind::Ks | Kind::D)
    }

    /// Whether trial functions belong to nodes (hats), else to triangles.
    pub fn tries_nodes(self) -> bool {
        matches!(self, Kind::K | Kind::D)
    }

    /// Rows of a block.
    pub fn rows(self, mesh: &Mesh) -> usize {
        if self.tests_nodes() { mesh.nodes().len() } else { mesh.triangles().len() }
    }

    /// Columns of a block.
    pub fn cols(self, mesh: &Mesh) -> usize {
        if self.tries_nodes() { mesh.nodes().len() } else { mesh.triangles().len() }
    }

    /// Whether the blocks are symmetric.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Kind::V | Kind::D)
    }

    /// How the rules for triangles that share a vertex or an edge lie on `i` (test) and `j` (trial); none for disjoint
    /// ones.
    ///
    /// The rule for a common edge is not symmetric: exchanged triangles give numbers that differ by
    /// its error. The rule's first triangle is the test triangle for K and the trial triangle for Ks,
    /// which so is the transpose of K; V and D take the mean of both, which makes them symmetric.
    pub(crate) fn singular_pairs(self, mesh: &Mesh, i: usize, j: usize) -> Vec<SingularPair> {
        let Some((contact, ..)) = mesh.contact(i, j) else { return Vec::new() };
        let ways: &[bool] = match self {
            Kind::V | Kind::D if contact == Contact::Edge => &[false, true],
            Kind::V | Kind::K | Kind::D => &[false],
            Kind::Ks => &[true],
        };
        let pair = |&exchanged: &bool| {
            let (contact, first, second) = if exchanged { mesh.contact(j, i) } else { mesh.contact(i, j) }?;
            Some(SingularPair { contact, exchanged, halved: ways.len() == 2, first, second })
        };
        ways.iter().filter_map(pair).collect()
    }

    /// Row and column of the contribution `slot` of test triangle i and trial triangle j.
    pub(crate) fn place(self, mesh: &Mesh, i: usize, j: usize, slot: usize) -> (usize, usize) {
        let node = |k: usize, c: usize| mesh.triangles()[k][c] as usize;
        match self {
            Kind::V => (i, j),
            Kind::K => (i, node(j, slot)),
            Kind::Ks => (node(i, slot), j),
            Kind::D => (node(i, slot / 3), node(j, slot % 3)),
        }
    }

    /// Numbers that a pair of triangles contributes to each block: 1, 3, 3 or 9.
    pub fn slots(self) -> usize {
        (if self.tests_nodes() { 3 } else { 1 }) * (if self.tries_nodes() { 3 } else { 1 })
    }
}

/// What the discretisation is made with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeatParams {
    /// Diffusivity, positive.
    pub alpha: f64,
    /// End of the time interval, positive.
    pub end_time: f64,
    /// Number of time steps, at least 1.
    pub steps: usize,
    /// Order of the rule on disjoint triangles, one of
    /// [`TRIANGLE_ORDERS`](crate::quadrature::TRIANGLE_ORDERS). Default 4.
    #[serde(default = "default_order")]
    pub order: usize,
    /// Points in each of the four directions of the rules for triangles that share a vertex or an edge, 1 to 10. Default 4.
    #[serde(default = "default_order")]
    pub singular_order: usize,
}

fn default_order() -> usize {
    4
}

impl HeatParams {
    /// Parameters with the default quadrature.
    pub fn new(alpha: f64, end_time: f64, steps: usize) -> HeatParams {
        HeatParams { alpha, end_time, steps, order: default_order(), singular_order: default_order() }
    }

    /// Length of a time step.
    pub fn step(&self) -> f64 {
        self.end_time / self.steps as f64
    }

    /// How short the time steps are for the triangles: the largest quotient of what the points of a triangle that coincide contribute to block 2 of V, and the
    /// integral of the kernel over a whole plane, which the entry does not exceed: `A (sum of w^2) / (8 pi alpha h)` with the area A and the weights w of the
    /// rule. Above 1 the rule does not resolve the kernel, and early blocks are too large. From about 3 on, solutions of V grow from step to step; D is not
    /// positive definite before that.
    ///
    /// # Errors
    /// [`Error::Value`] for an order without a rule.
    pub fn shortness(&self, mesh: &Mesh) -> Result<f64> {
        let rule = crate::quadrature::TriangleRule::of_order(self.order)?;
        let squares: f64 = rule.weights.iter().map(|w| w * w).sum();
        let area = mesh.areas().iter().copied().fold(0.0, f64::max);
        Ok(area * squares / (8.0 * std::f64::consts::PI * self.alpha * self.step()))
    }

    /// An error unless every field is in its range.
    ///
    /// # Errors
    /// [`Error::Value`] that names the field.
    pub fn check(&self) -> Result<()> {
        for (argument, value) in [("alpha", self.alpha), ("end_time", self.end_time)] {
            if !(value > 0.0 && value.is_finite()) {
                let (expected, got) = ("a positive finite number".into(), value.to_string());
                return Err(Error::Value { argument, expected, got });
            }
        }
        for (argument, value, most) in [("steps", self.steps, 1 << 20), ("singular_order", self.singular_order, 10)] {
            if !(1..=most).contains(&value) {
                let (expected, got) = (format!("1 to {most}"), value.to_string());
                return Err(Error::Value { argument, expected, got });
            }
        }
        crate::quadrature::TriangleRule::of_order(self.order).map(|_| ())
    }
}
