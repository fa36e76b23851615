//! File formats, and files that are replaced as a whole.
mod atomic;
mod input;
pub mod matrix_market;

pub use atomic::{AtomicFile, remove_unfinished_files};
pub use input::{check_expansion, read_bytes, read_text};
pub use matrix_market::{MatrixMarket, Storage, Symmetry};
