//! Boundary elements.

mod common;

mod elastodynamics;
mod ladder;
mod mesh;
mod operators;
mod reference;
mod solvers;
