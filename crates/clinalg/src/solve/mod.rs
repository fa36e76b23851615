//! Iterative solvers for A x = b.
//!
//! A is any [`Operator`]; a [`Preconditioner`] is optional where the method takes one.

mod precondition;
mod report;

pub use crate::ops::Operator;
pub use precondition::{Identity, Jacobi, Preconditioner};
pub use report::{Params, Report, Stop};
