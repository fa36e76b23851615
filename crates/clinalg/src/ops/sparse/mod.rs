//! Sparse matrices computed from sparse matrices: products, sums, parts, scalings. All on the device, deterministic, with sorted
//! columns.

mod long_rows;
mod part;
mod product;

pub(crate) use crate::matrix::scan;
pub(crate) use part::combine;
pub(crate) use product::{Product, multiplication, multiply, parts, places};
