//! Explicit methods for ordinary differential equations, as data-flow graphs.
//!
//! A [`Method`] is the data flow of one step, a [`Graph`]: evaluations of the right-hand side, linear combinations,
//! a reduction of the error estimate. Runge-Kutta tableaux, iterated implicit tableaux (PIRK), peer methods and
//! Adams-Bashforth methods are turned into such graphs, with their order conditions checked. A [`System`] is a right-hand
//! side written as formulas on a grid. Steps are computed by [`reference::Reference`] in plain Rust or by [`DeviceStepper`]
//! with kernels generated for method and system; [`integrate`] combines them.

pub mod codegen;
pub mod error;
pub mod method;
pub mod model;
pub mod plan;
mod run;
pub mod schedule;
pub mod team;
mod tiling;
pub mod waveform;

pub use error::{Error, Result};
pub use method::graph::Graph;
pub use method::tableau::Tableau;
pub use method::{METHODS, Method, graph, tableau};
pub use model::{Boundary, Description, Function, Grid, Layout, Powers, Rhs, Side, System, problems};
pub use plan::{Plan, Variant};
pub use run::device::DeviceStepper;
pub use run::{Places, Timing, check_access, device, integrate, ivp, reference, survey};
pub use schedule::{DeviceOptions, Tile};

/// The examples of the guide's pages.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/ode/tutorial.md")]
    struct Tutorial;
    #[doc = include_str!("../../../docs/guide/ode/how-to.md")]
    struct HowTo;
}
