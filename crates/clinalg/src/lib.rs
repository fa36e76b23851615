//! Linear algebra and multigrid on any OpenCL device.
//!
//! A [`Context`] represents one device in use. [`Vector`], [`Dense`], [`Csr`] and [`Band`] own
//! device memory in it; [`ops`] are the primitives on them. libOpenCL is opened at run time, so
//! programs start without it and get [`Error::NoLoader`].
//!
//! ```
//! use clinalg::{Context, Vector, ops};
//!
//! let context = Context::global()?;
//! let x = Vector::from_slice(&context, &[1.0_f64, 2.0, 3.0])?;
//! assert_eq!(ops::dot(&x, &x)?, 14.0);
//! # Ok::<(), clinalg::Error>(())
//! ```

pub mod amg;
pub mod automatic;
#[cfg(doctest)]
mod book;
#[cfg(test)]
mod canary;
pub mod direct;
pub mod eigen;
mod element;
mod error;
#[cfg(test)]
mod failures;
pub mod io;
pub mod matrix;
pub mod multigrid;
pub mod ops;
pub mod precond;
pub mod runtime;
mod scalar;
pub mod solve;
pub mod team;
pub mod tune;
pub mod tuner;
pub mod wave;

pub use element::Element;
pub use error::{Error, HandleFault, Result};
pub use matrix::{Band, BandParts, Csr, CsrParts, Dense, Inspection, Reordering, Vector};
pub use num_complex::Complex;
pub use runtime::{Buffer, Context, ContextOptions, Device, DeviceInfo, KernelFamily, View, ViewMut};
pub use scalar::{Precision, Real, Scalar};
#[doc(hidden)]
pub use scalar::{counted, number, shown};
