//! Factorisations of dense and sparse matrices, with values of any type.

use std::sync::Mutex;

use clinalg::direct::{self, Solved};
use clinalg::ops::{Cholesky, Lu, Qr};
use clinalg::{Csr, Scalar};

use super::Content;
use crate::kind::{Info, Kind, ScalarType};

/// The factors of a sparse matrix with the matrix, by which solutions are refined.
#[derive(Debug)]
pub(crate) struct SparseFactors<T: Scalar> {
    pub(crate) a: Csr<T>,
    pub(crate) factors: direct::Factors<T>,
    /// How well the last system was solved.
    pub(crate) solved: Option<Solved>,
}

/// The factors of a matrix.
#[derive(Debug)]
pub(crate) enum Factors<T: Scalar> {
    /// P A = L U.
    Lu(Lu<T>),
    /// A = L L'.
    Cholesky(Cholesky<T>),
    /// A = Q R.
    Qr(Qr<T>),
    /// Of a sparse matrix. A solve has the memory of the factors to itself.
    Sparse(Box<Mutex<SparseFactors<T>>>),
}

/// The factors of a matrix of `rows` x `cols`.
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
