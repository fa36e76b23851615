//! Operations with vectors and matrices, every format and factorisation.

mod common;

mod cpu_paths;
mod expression;
mod factor;
mod formats;
mod gemm;
mod host;
mod inspection;
mod inverse;
mod matrix;
mod multivector;
mod ops;
mod props;
mod random;
mod scalars;
mod sparse;
