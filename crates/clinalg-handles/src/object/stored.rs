//! Vectors and matrices of one type of values.

use clinalg::matrix::Values;
use clinalg::solve::Operator;
use clinalg::{Band, Context, Csr, Dense, Error, Result, Scalar, Vector};

use super::Content;
use crate::kind::{Info, Kind, ScalarType};

/// An object of one type of values.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stored<T: Scalar> {
    /// A vector.
    Vector(Vector<T>),
    /// A dense matrix.
    Dense(Dense<T>),
    /// A sparse matrix.
    Csr(Csr<T>),
    /// A band matrix.
    Band(Band<T>),
}

/// Evaluates the body for the object inside.
macro_rules! each {
    ($stored:expr, $object:ident => $body:expr) => {
        match $stored {
            Stored::Vector($object) => $body,
            Stored::Dense($object) => $body,
            Stored::Csr($object) => $body,
            Stored::Band($object) => $body,
        }
    };
}

impl<T: Scalar> Content for Stored<T> {
    fn info(&self) -> Info {
        let (rows, cols) = self.shape();
        let info = Info::new(self.kind(), ScalarType::of::<T>(), rows, cols);
        match self {
            Stored::Band(a) => Info { kl: a.kl(), ku: a.ku(), ..info },
            stored => Info { entries: each!(stored, a => a.values().len()), ..info },
        }
    }
}

impl<T: Scalar> Stored<T> {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Stored::Vector(_) => Kind::Vector,
            Stored::Dense(_) => Kind::Dense,
            Stored::Csr(_) => Kind::Csr,
            Stored::Band(_) => Kind::Band,
        }
    }

    /// Rows and columns; a vector has one column.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Stored::Vector(v) => (v.len(), 1),
            Stored::Dense(a) => (a.rows(), a.cols()),
            Stored::Csr(a) => (a.rows(), a.cols()),
            Stored::Band(a) => (a.rows(), a.cols()),
        }
    }

    /// The object as a vector, which a dense matrix of one row or column is as well.
    ///
    /// # Errors
    /// [`Error::Shape`] that names `argument`.
    pub fn vector(&self, argument: &'static str) -> Result<&Vector<T>> {
        match self {
            Stored::Vector(v) => Ok(v),
            Stored::Dense(a) if a.rows() == 1 || a.cols() == 1 => Ok(a.as_vector()),
            _ => Err(self.no_vector(argument)),
        }
    }

    /// As [`vector`](Stored::vector), to be written.
    ///
    /// # Errors
    /// [`Error::Shape`] that names `argument`.
    pub(crate) fn vector_mut(&mut self, argument: &'static str) -> Result<&mut Vector<T>> {
        self.vector(argument)?;
        match self {
            Stored::Vector(v) => Ok(v),
            Stored::Dense(a) => Ok(a.as_vector_mut()),
            _ => Err(self.no_vector(argument)),
        }
    }

    /// A dense matrix, to be written.
    ///
    /// # Errors
    /// [`Error::Shape`] that names `argument`.
    pub(crate) fn dense_mut(&mut self, argument: &'static str) -> Result<&mut Dense<T>> {
        match self {
            Stored::Dense(a) => Ok(a),
            other => {
                let got = format!("a {}", other.kind().words());
                Err(Error::Shape { argument, expected: "a dense matrix".into(), got })
            }
        }
    }

    /// The values of a vector or dense matrix, column by column, as a grid function takes them.
    pub(crate) fn full(&self, argument: &'static str) -> Result<&Vector<T>> {
        match self {
            Stored::Vector(v) => Ok(v),
            Stored::Dense(a) => Ok(a.as_vector()),
            _ => Err(self.no_vector(argument)),
        }
    }

    pub(crate) fn full_mut(&mut self, argument: &'static str) -> Result<&mut Vector<T>> {
        match self {
            Stored::Vector(v) => Ok(v),
            Stored::Dense(a) => Ok(a.as_vector_mut()),
            _ => Err(self.no_vector(argument)),
        }
    }

    fn no_vector(&self, argument: &'static str) -> Error {
        Error::Shape {
            argument,
            expected: "a vector, or a dense matrix of one row or column".into(),
            got: self.description(),
        }
    }

    pub(crate) fn no_matrix(&self) -> Error {
        Error::Shape { argument: "a", expected: "a matrix".into(), got: self.description() }
    }

    fn description(&self) -> String {
        let (rows, cols) = self.shape();
        format!("a {rows} x {cols} {}", self.kind().words())
    }

    /// Where the values are.
    pub(crate) fn context(&self) -> &Context {
        each!(self, a => a.context())
    }

    /// An error that names `argument` unless `other` has the same structure; a dense matrix of one column is like a vector.
    pub(crate) fn check_same(&self, other: &Self, argument: &'static str) -> Result<()> {
        match (self, other) {
            (Stored::Vector(a), Stored::Vector(b)) => a.check_same(b, argument),
            (Stored::Dense(a), Stored::Dense(b)) => a.check_same(b, argument),
            (Stored::Csr(a), Stored::Csr(b)) => a.check_same(b, argument),
            (Stored::Band(a), Stored::Band(b)) => a.check_same(b, argument),
            (Stored::Vector(_) | Stored::Dense(_), Stored::Vector(_) | Stored::Dense(_))
                if self.shape() == other.shape() =>
            {
                if self.context().same(other.context()) {
                    Ok(())
                } else {
                    Err(Error::Context { argument })
                }
            }
            _ => Err(Error::Shape { argument, expected: self.description(), got: other.description() }),
        }
    }

    /// An object of the same structure whose values are not defined.
    ///
    /// # Safety
    /// All values are written before any is read.
    pub(crate) unsafe fn like_uninit(&self) -> Result<Self> {
        // SAFETY: the caller writes all values.
        unsafe {
            Ok(match self {
                Stored::Vector(a) => Stored::Vector(a.like_uninit()?),
                Stored::Dense(a) => Stored::Dense(a.like_uninit()?),
                Stored::Csr(a) => Stored::Csr(a.like_uninit()?),
                Stored::Band(a) => Stored::Band(a.like_uninit()?),
            })
        }
    }

    /// The matrix as what a solver takes.
    pub(crate) fn operator(&self) -> Result<&dyn Operator<T>> {
        match self {
            Stored::Dense(a) => Ok(a),
            Stored::Csr(a) => Ok(a),
            Stored::Band(a) => Ok(a),
            Stored::Vector(_) => Err(self.no_matrix()),
        }
    }

    /// The diagonal of a square matrix.
    pub(crate) fn diagonal(&self) -> Result<Vector<T>> {
        match self {
            Stored::Dense(a) => a.diagonal(),
            Stored::Csr(a) => a.diagonal(),
            Stored::Band(a) => a.diagonal(),
            Stored::Vector(_) => Err(self.no_matrix()),
        }
    }
}

pub(crate) use each;
