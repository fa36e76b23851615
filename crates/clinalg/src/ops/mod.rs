//! The device primitives: products, vector operations, reductions.
//!
//! Outputs are given by the caller; everything but a reduction is enqueued and returns at once.
//! The same call on the same device gives the same bits.
//!
//! | operation | function |
//! |---|---|
//! | y = alpha A x + beta y | [`mv`], and [`mv_transposed`] with A' |
//! | out = alpha x + beta y | [`axpby`]; in place [`update`]; [`add`], [`sub`], [`sub_scaled`] |
//! | out = c a | [`scale`] |
//! | out = a .* b | [`multiply`] |
//! | sum, dot product, norms | [`sum`], [`dot`], [`norm1`], [`norm2`], [`norm_inf`] |

pub(crate) mod elementwise;
mod fused;
pub(crate) mod product;
pub(crate) mod reduce;

pub use elementwise::{add, axpby, copy, fill, multiply, scale, sub, sub_scaled, update};
pub(crate) use elementwise::{axpby_raw, multiply_raw, scale_raw, scatter_signs, settle};
pub use product::{Many, Operator, Transposed, mm, mv, mv_transposed};
pub(crate) use reduce::norm_of_squares;
pub use reduce::{DotParts, dot, norm_inf, norm1, norm2, sum};
