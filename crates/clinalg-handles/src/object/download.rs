//! What a download gives.

use clinalg::Complex;

/// A downloaded object in MATLAB's storage.
#[derive(Debug, Clone, PartialEq)]
pub enum Host<T> {
    /// A vector (one column) or dense matrix: `values[j * rows + i]`.
    Full {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
        /// The values, column by column.
        values: Vec<T>,
    },
    /// A sparse or band matrix in compressed columns, sorted.
    Sparse {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
        /// Where each column starts, and the number of entries: `cols + 1` values.
        offsets: Vec<usize>,
        /// The row of each entry.
        indices: Vec<usize>,
        /// The value of each entry.
        values: Vec<T>,
    },
}

/// A downloaded object whose type is known at run time only.
#[derive(Debug, Clone, PartialEq)]
pub enum Download {
    /// In single precision.
    F32(Host<f32>),
    /// In double precision.
    F64(Host<f64>),
    /// Complex, in single precision.
    C32(Host<Complex<f32>>),
    /// Complex, in double precision.
    C64(Host<Complex<f64>>),
}

macro_rules! from_host {
    ($($t:ty => $variant:ident),*) => {$(
        impl From<Host<$t>> for Download {
            fn from(host: Host<$t>) -> Download {
                Download::$variant(host)
            }
        }
    )*};
}
from_host!(f32 => F32, f64 => F64, Complex<f32> => C32, Complex<f64> => C64);
