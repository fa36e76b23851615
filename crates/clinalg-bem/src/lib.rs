//! Boundary elements on OpenCL devices.
//!
//! [`Mesh`] holds the surface of a bounded domain as triangles; [`heat`] has the operators of the heat
//! equation on it. [`ElementMesh`] has quadrilaterals and triangles; [`elastodynamics`] has waves in elastic materials.

mod assembly;
pub mod elastodynamics;
pub mod heat;
mod kernels;
pub mod quadrature;
pub mod surface;

pub use surface::{ElementMesh, Mesh, Point};

/// The example of the guide's page on the heat equation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/heat-bem.md")]
struct Guide;

/// The example of that on elastodynamics.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/elastodynamics.md")]
struct ElastodynamicsGuide;
