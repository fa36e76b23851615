//! Factorisations of dense matrices, with values of any type.

use clinalg::Scalar;
use clinalg::ops::{Cholesky, Lu, Qr};

use super::Content;
use crate::kind::{Info, Kind, ScalarType};

/// The factors of a dense matrix.
#[derive(Debug)]
pub(crate) enum Factors<T: Scalar> {
    /// P A = L U.
    Lu(Lu<T>),
    /// A = L L'.
    Cholesky(Cholesky<T>),
    /// A = Q R.
    Qr(Qr<T>),
}

/// The factors of a dense matrix of `rows` x `cols`.
#[derive(Debug)]
pub(crate) struct Factored<T: Scalar> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) factors: Factors<T>,
}

impl<T: Scalar> Content for Factored<T> {
    fn info(&self) -> Info {
        Info::new(Kind::Factorisation, ScalarType::of::<T>(), self.rows, self.cols)
    }
}
