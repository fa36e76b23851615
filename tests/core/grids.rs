//! Solvers on grids: the Poisson problem, the wave equation.

mod common;

mod boxes;
mod boxes_coefficient;
mod boxes_points;
mod boxes_tensor;
mod coefficient;
mod helmholtz;
mod poisson;
mod poisson3;
mod regular;
mod separable;
mod wave;
mod wave_box;
