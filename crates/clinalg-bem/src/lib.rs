//! Boundary elements on OpenCL devices.
//!
//! [`Mesh`] holds the surface of a bounded domain as triangles; [`heat`] has the operators of the heat
//! equation on it.

pub mod heat;
pub mod mesh;
pub mod quadrature;

pub use mesh::{Mesh, Point};

/// The example of the guide's page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/heat-bem.md")]
struct Guide;
