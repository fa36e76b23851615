//! Linear algebra and multigrid on any OpenCL device.
//!
//! A [`Context`] stands for one device in use. [`Vector`], [`Dense`], [`Csr`] and [`Band`] own
//! device memory in it; [`ops`] are the primitives on them. libOpenCL is opened at run time, so
//! programs start without it and get [`Error::NoLoader`].
//!
//! ```no_run
//! use clinalg::{Context, Vector, ops};
//!
//! let context = Context::global()?;
//! let x = Vector::from_slice(&context, &[1.0_f64, 2.0, 3.0])?;
//! assert_eq!(ops::dot(&x, &x)?, 14.0);
//! # Ok::<(), clinalg::Error>(())
//! ```

#[cfg(doctest)]
mod book;
#[cfg(test)]
mod canary;
mod error;
pub mod grid;
pub mod io;
pub mod matrix;
pub mod ops;
mod real;
pub mod reference;
pub mod registry;
pub mod runtime;
pub mod selftest;
pub mod solve;
pub mod tune;

pub use error::{Error, HandleFault, Result};
pub use matrix::{Band, Csr, Dense, Vector};
pub use real::{Precision, Real};
pub use runtime::{Buffer, Context, ContextOptions, Device, DeviceInfo, Shape};
