//! The device primitives: products, vector operations, reductions.
//!
//! Outputs are given by the caller; everything but a reduction is enqueued and returns at once.
//! The same call on the same device gives the same bits.
//!
//! | operation | function |
//! |---|---|
//! | y = alpha A x + beta y | [`mv`]; with A' [`mv_transposed`], with A^H [`mv_conj_transposed`] |
//! | out = alpha x + beta y | [`axpby`]; in place [`update`] and [`elementwise`]; [`add`], [`sub`], [`sub_scaled`] |
//! | out = c a | [`scale`] |
//! | C = alpha op(A) op(B) + beta C | [`gemm`] |
//! | out = a .* b, conj(a) | [`multiply`], [`conj`] |
//! | parts of complex vectors | [`real_part`], [`imaginary_part`], [`abs`]; from parts [`complex`] |
//! | out = a(rows, cols), a(rows, cols) = values, the transpose | [`take`], [`put`], [`transpose`] |
//! | some elements, on the host | [`pick`] |
//! | f(x), f(x, y) element by element; sums, extrema along a dimension | [`map`], [`map2`]; [`reduce_along`] |
//! | A B, alpha A + beta B, A(p, q), triangles, diag(l) A diag(r) of sparse matrices | methods of [`Csr`](crate::Csr): `multiply`, `combine`, `select`, `band_part`, `scale` |
//! | uniform random numbers; a 64-bit fingerprint of a vector | [`Uniform`]; [`fingerprint`] |
//! | the same for small arrays in the memory of the host | [`host`] |
//! | sum, dot products, norms | [`sum`], [`dot`], [`dotu`], [`norm1`], [`norm2`], [`norm_inf`] |

pub(crate) mod elementwise;
mod expression;
pub mod factor;
mod fused;
pub(crate) mod gemm;
pub mod host;
mod map;
mod part;
pub(crate) mod product;
mod random;
pub(crate) mod reduce;
mod space;
pub(crate) mod sparse;

pub use elementwise::{
    Elementwise, Input, abs, add, axpby, complex, conj, conj_transpose, copy, elementwise, fill, imaginary_part,
    multiply, real_part, scale, sub, sub_scaled, update,
};
pub(crate) use elementwise::{items, norm1_of_columns, scale_raw, scatter_signs};
pub use expression::{Node, evaluate, fits_kernel};
pub use factor::{
    Cholesky, DenseSolve, LeastSquaresSolution, Lu, Qr, Structure, determinant, inverse, least_squares, left_divide,
    solve, solve_triangular, structure,
};
pub use gemm::{Transpose, gemm};
pub use map::{Binary, Reduction, Unary, expanded, map, map2, reduce_along};
pub(crate) use part::Positions;
pub use part::{Span, pick, put, take, transpose};
pub use product::{MultiRhs, Operator, Transposed, mm, mv, mv_conj_transposed, mv_transposed};
pub use random::{Uniform, fingerprint};
pub(crate) use reduce::norm_of_squares;
pub use reduce::{DotParts, dot, dotu, norm_inf, norm1, norm2, sum};
pub use space::{SpaceDots, SpaceVector};
