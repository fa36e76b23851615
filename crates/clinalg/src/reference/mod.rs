//! The same operations in plain sequential Rust on slices: the oracle that device results are checked against.
//!
//! Nothing here touches a device, and each function is the definition written down rather than a fast way to it.
//! Functions on slices panic when lengths do not fit, as slice indexing does; whatever builds a matrix from arrays of
//! the caller returns a typed error instead.
pub mod band;
pub mod csr;
pub mod dense;
pub mod faces2;
pub mod grid2;
pub mod grid3;
pub mod vector;
pub mod wave2;

pub use band::BandParts;
pub use csr::CsrParts;
pub(crate) use csr::check_offsets;

use crate::{Error, Real, Result};

/// `len` zeros, or an error in words where this machine cannot hold them.
pub(crate) fn zeros<T: Real>(argument: &'static str, len: Option<usize>) -> Result<Vec<T>> {
    filled(argument, len, T::zero())
}

/// `len` times `value`; `None` stands for a length that does not fit `usize`.
pub(crate) fn filled<V: Copy>(argument: &'static str, len: Option<usize>, value: V) -> Result<Vec<V>> {
    let mut out = Vec::new();
    let reserved = len.is_some_and(|len| out.try_reserve_exact(len).is_ok());
    let Some(len) = len.filter(|_| reserved) else {
        let got = match len {
            Some(len) => format!("{len} values of {} bytes", size_of::<V>()),
            None => "more values than can be counted".into(),
        };
        return Err(Error::value(argument, "a size that fits this machine's memory", got));
    };
    out.resize(len, value);
    Ok(out)
}

/// `alpha * product + beta * y`, where `beta = 0` means that `y` is not read (BLAS's rule).
pub(crate) fn combine<T: Real>(alpha: T, product: T, beta: T, y: T) -> T {
    if beta == T::zero() { alpha * product } else { alpha * product + beta * y }
}
