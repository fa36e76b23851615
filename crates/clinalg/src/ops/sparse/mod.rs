//! Sparse matrices made of sparse matrices: products, sums, parts, scalings. All on the device, deterministic, with sorted
//! columns.

mod part;
mod product;
mod scan;

pub(crate) use product::{Product, multiply};
pub(crate) use scan::scan;
