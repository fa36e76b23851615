//! Methods for differential equations, in the program and in generated kernels.

mod common;

mod convergence;
mod device;
mod integration;
mod problems;
mod rhs;
mod tiles;
