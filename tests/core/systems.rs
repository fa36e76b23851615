//! Iterative solvers, preconditioners and eigenvalues of given matrices.

mod common;

mod eigen;
mod heat_sink;
mod histories;
mod mixed;
mod precond;
mod solvers;
