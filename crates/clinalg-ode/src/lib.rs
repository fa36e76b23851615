//! Explicit methods for ordinary differential equations, as data-flow graphs.
//!
//! A [`Method`] is the data flow of one step, a [`Graph`]: evaluations of the right-hand side, linear combinations,
//! a reduction of the error estimate. Runge-Kutta tableaux, iterated implicit tableaux (PIRK), peer methods and
//! Adams-Bashforth methods are turned into such graphs, with their order conditions checked. A [`System`] is a right-hand
//! side written as formulas on a grid. Steps are computed by [`reference::Reference`] in plain Rust or by [`DeviceStepper`]
//! with kernels made for method and system; [`integrate`] puts them together.

pub mod choose;
mod dense;
pub mod device;
mod draw;
pub mod error;
mod events;
mod formula;
mod function;
pub mod graph;
pub mod integrate;
mod integrator;
mod interpolant;
pub mod ivp;
pub mod method;
mod opencl;
pub mod plan;
pub mod problems;
pub mod reference;
pub mod rhs;
pub mod schedule;
pub mod snippet;
mod solve;
mod stability;
mod start;
mod stream;
pub mod tableau;
mod text;
mod tile;
mod transform;
mod wavefront;

pub use device::{DeviceOptions, DeviceStepper, Timing};
pub use error::{Error, Result};
pub use function::Function;
pub use graph::Graph;
pub use method::{METHODS, Method};
pub use plan::{Plan, Variant};
pub use rhs::{Boundary, Grid, Layout, Rhs, Side, System};
pub use schedule::Tile;
pub use tableau::Tableau;

/// The examples of the guide's page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/ode.md")]
struct Guide;
