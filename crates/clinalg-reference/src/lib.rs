//! The operations of clinalg in plain sequential Rust: the oracle that results of devices are compared with.
//!
//! Nothing here touches a device or depends on another crate of the workspace. Each function is the definition written
//! down rather than a fast algorithm, takes slices, and panics when their lengths do not fit, as slice indexing does.
//!
//! ```
//! use clinalg_reference::{csr::Csr, vector};
//!
//! // [1 0 2; 0 3 0]
//! let a = Csr { rows: 2, cols: 3, offsets: &[0, 2, 3], indices: &[0, 2, 1], values: &[1.0, 2.0, 3.0] };
//! let mut y = [0.0; 2];
//! a.mv(1.0, &[1.0, 10.0, 100.0], 0.0, &mut y);
//! assert_eq!(y, [201.0, 30.0]);
//! assert_eq!(vector::norm_inf(&y), 201.0);
//! ```
use std::iter::Sum;

use num_traits::{Float, Num, NumAssign};

pub mod band;
pub mod boxes;
pub mod coefficient2;
pub mod complex;
pub mod csr;
pub mod dense;
pub mod grid2;
pub mod grid3;
pub mod separable;
pub mod vector;
pub mod wave2;

/// `f32` or `f64`.
pub trait Real: Float + NumAssign + Sum {}

impl<T: Float + NumAssign + Sum> Real for T {}

/// The nearest value of type `T`.
pub(crate) fn from_f64<T: Real>(value: f64) -> T {
    T::from(value).expect("every f64 has a nearest value")
}

/// `value` in double precision, which is exact.
pub(crate) fn to_f64<T: Real>(value: T) -> f64 {
    value.to_f64().expect("f32 and f64 fit f64")
}

/// `alpha * product + beta * y`, where `beta = 0` means that `y` is not read, as in BLAS.
pub(crate) fn combine<T: Num + Copy>(alpha: T, product: T, beta: T, y: T) -> T {
    if beta == T::zero() { alpha * product } else { alpha * product + beta * y }
}
