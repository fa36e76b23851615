//! File formats.
pub mod matrix_market;

pub use matrix_market::{MatrixMarket, Storage, Symmetry};
