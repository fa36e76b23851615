//! Factorisations of dense matrices, with values of any type.

use clinalg::ops::{Cholesky, Lu, Qr};
use clinalg::{Complex, Scalar};

use crate::kind::ScalarType;

/// The factors of a dense matrix.
#[derive(Debug)]
pub enum Factors<T: Scalar> {
    /// P A = L U.
    Lu(Lu<T>),
    /// A = L L'.
    Cholesky(Cholesky<T>),
    /// A = Q R.
    Qr(Qr<T>),
}

/// The factors of a dense matrix of `rows` x `cols`.
#[derive(Debug)]
pub struct Factored<T: Scalar> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) factors: Factors<T>,
}

/// A factorisation whose type of values is known at run time only.
#[derive(Debug)]
pub enum AnyFactored {
    /// In single precision.
    F32(Factored<f32>),
    /// In double precision.
    F64(Factored<f64>),
    /// Complex, in single precision.
    C32(Factored<Complex<f32>>),
    /// Complex, in double precision.
    C64(Factored<Complex<f64>>),
}

impl AnyFactored {
    /// The type of its values.
    pub fn scalar(&self) -> ScalarType {
        match self {
            AnyFactored::F32(_) => ScalarType::F32,
            AnyFactored::F64(_) => ScalarType::F64,
            AnyFactored::C32(_) => ScalarType::C32,
            AnyFactored::C64(_) => ScalarType::C64,
        }
    }

    /// Rows and columns of the matrix.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            AnyFactored::F32(factored) => (factored.rows, factored.cols),
            AnyFactored::F64(factored) => (factored.rows, factored.cols),
            AnyFactored::C32(factored) => (factored.rows, factored.cols),
            AnyFactored::C64(factored) => (factored.rows, factored.cols),
        }
    }
}
