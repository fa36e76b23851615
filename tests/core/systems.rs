//! Iterative solvers, preconditioners and eigenvalues of given matrices.

mod common;

mod direct;
mod direct_indefinite;
mod eigen;
mod heat_sink;
mod histories;
mod mixed;
mod precond;
mod solvers;
