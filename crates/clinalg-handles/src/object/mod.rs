//! What a handle names.

pub(crate) mod cell;
mod download;
#[cfg(feature = "heat")]
mod elastodynamics;
mod factorisation;
#[cfg(feature = "ode")]
mod ode;
mod operator;
pub(crate) mod pending;
mod poisson;
pub(crate) mod resident;
mod solver;
mod stored;
mod team;
mod wave;

pub use cell::Caller;
pub use download::{Download, Host};
pub(crate) use factorisation::{Factored, Factors, SparseFactors};
#[cfg(feature = "ode")]
pub use ode::Ode;
#[cfg(feature = "ode")]
pub(crate) use ode::OdeStepper;
pub(crate) use operator::Applied;
pub(crate) use pending::Pending;
pub(crate) use poisson::{PoissonSolver, PoissonState};
pub(crate) use solver::{Krylov, KrylovSolver, Remade, SolverPreconditioner};
pub use stored::Stored;
pub(crate) use stored::each;
pub(crate) use team::{Distributed, TeamAmg};
pub(crate) use wave::Membrane;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use clinalg::solve::Operator;
use clinalg::{Band, Csr, Dense, Error, Precision, Result, Scalar, Vector};
use once_cell::sync::OnceCell;

use crate::kind::{Info, Kind, ScalarType};
use resident::HostValues;

/// What a handle can name.
pub trait Content: Any + Send + Sync + fmt::Debug {
    /// Its kind, type of values and dimensions.
    fn info(&self) -> Info;
}

/// What a handle names: its type is queried where it is used.
#[derive(Debug)]
pub struct Object {
    content: Box<dyn Content>,
    /// The values of a small full object, on the host as well or only there.
    host: OnceCell<HostValues>,
}

impl<C: Content> From<C> for Object {
    fn from(content: C) -> Object {
        Object { content: Box::new(content), host: OnceCell::new() }
    }
}

macro_rules! from_object {
    ($($variant:ident),*) => {$(
        impl<T: Scalar> From<$variant<T>> for Object {
            fn from(object: $variant<T>) -> Object {
                Stored::$variant(object).into()
            }
        }
    )*};
}
from_object!(Vector, Dense, Csr, Band);

/// Evaluates the body with `$t` the type of the object's values.
macro_rules! typed {
    ($object:expr, $t:ident => $body:expr) => {
        $crate::object::typed_scalar!($object.scalar(), $t => $body)
    };
}

/// As `typed` for a type of values.
macro_rules! typed_scalar {
    ($scalar:expr, $t:ident => $body:expr) => {
        match $scalar {
            $crate::ScalarType::F32 => {
                type $t = f32;
                $body
            }
            $crate::ScalarType::F64 => {
                type $t = f64;
                $body
            }
            $crate::ScalarType::C32 => {
                type $t = clinalg::Complex<f32>;
                $body
            }
            $crate::ScalarType::C64 => {
                type $t = clinalg::Complex<f64>;
                $body
            }
        }
    };
}

/// As `typed` for operations on real objects: `$argument` names the object in the error that a complex one gives.
macro_rules! typed_real {
    ($object:expr, $argument:expr, $t:ident => $body:expr) => {
        match $object.real($argument)? {
            clinalg::Precision::F32 => {
                type $t = f32;
                $body
            }
            clinalg::Precision::F64 => {
                type $t = f64;
                $body
            }
        }
    };
}

pub(crate) use {typed, typed_real, typed_scalar};

impl Object {
    /// Its kind, type of values and dimensions.
    pub fn info(&self) -> Info {
        self.content.info()
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.info().kind
    }

    /// The type of its values.
    pub fn scalar(&self) -> ScalarType {
        self.info().scalar()
    }

    /// As a `C`, if it is one.
    pub fn content<C: Content>(&self) -> Option<&C> {
        let content: &dyn Any = &*self.content;
        content.downcast_ref()
    }

    /// As [`content`](Object::content), to be changed; values on the host are dropped.
    pub fn content_mut<C: Content>(&mut self) -> Option<&mut C> {
        self.host.take();
        let content: &mut dyn Any = &mut *self.content;
        content.downcast_mut()
    }

    /// The content as a `C`; the caller has checked kind and type of values.
    pub(crate) fn expect_content<C: Content>(&self) -> &C {
        self.content().unwrap_or_else(|| {
            unreachable!("the content does not match its kind and type of values: {:?}", self.info())
        })
    }

    /// Precision of its values, of complex ones that of their parts.
    pub fn precision(&self) -> Precision {
        self.scalar().precision()
    }

    /// The precision of a real object.
    ///
    /// # Errors
    /// [`Error::Value`] that names `argument` for a complex one.
    pub(crate) fn real(&self, argument: &'static str) -> Result<Precision> {
        match self.scalar().is_complex() {
            false => Ok(self.precision()),
            true => {
                let expected = "a real object: this operation does not support complex numbers; apply it to the real and the imaginary part";
                Err(Error::value(argument, expected, "complex"))
            }
        }
    }

    /// The object as one with values of the type `T`.
    ///
    /// # Errors
    /// [`Error::Precision`] that names `argument`, or [`Error::Value`] where real and complex values meet.
    pub fn stored<T: Scalar>(&self, argument: &'static str) -> Result<&Stored<T>> {
        self.content().ok_or_else(|| self.scalar().mismatch(argument, ScalarType::of::<T>()))
    }

    /// As [`stored`](Object::stored), to be written.
    ///
    /// # Errors
    /// As [`stored`](Object::stored).
    pub fn stored_mut<T: Scalar>(&mut self, argument: &'static str) -> Result<&mut Stored<T>> {
        let got = self.scalar();
        self.content_mut().ok_or_else(|| got.mismatch(argument, ScalarType::of::<T>()))
    }

    /// The expression that waits for its evaluation.
    pub(crate) fn pending(&self) -> Option<&Arc<Pending>> {
        self.content()
    }

    /// The matrix with values of the type `T`.
    pub(crate) fn matrix<T: Scalar>(&self, argument: &'static str) -> Result<Matrix<'_, T>> {
        match self.content() {
            Some(applied) => Ok(Matrix::Applied(applied)),
            None => Ok(Matrix::Stored(self.stored::<T>(argument)?)),
        }
    }
}

/// What products and solvers take.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Matrix<'a, T: Scalar> {
    Stored(&'a Stored<T>),
    Applied(&'a Applied<T>),
}

impl<T: Scalar> Matrix<'_, T> {
    /// Rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        match self {
            Matrix::Stored(a) => a.shape(),
            Matrix::Applied(a) => (a.rows, a.cols),
        }
    }

    /// As what a solver takes.
    pub(crate) fn operator(&self) -> Result<&dyn Operator<T>> {
        match self {
            Matrix::Stored(a) => a.operator(),
            Matrix::Applied(a) => Ok(*a),
        }
    }

    /// The diagonal, which an operator known by its products only does not have.
    pub(crate) fn diagonal(&self) -> Result<Vector<T>> {
        match self {
            Matrix::Stored(a) => a.diagonal(),
            Matrix::Applied(_) => {
                let expected = "none for an operator, whose diagonal is not known";
                Err(Error::value("preconditioner", expected, "jacobi"))
            }
        }
    }
}
