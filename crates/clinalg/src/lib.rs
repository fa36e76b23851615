//! Linear algebra and multigrid on any OpenCL device.
mod error;
mod real;
pub mod io;
pub mod reference;
pub mod runtime;

pub use error::{Error, HandleFault, Result};
pub use real::{Precision, Real};
