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
mod solver;
mod stored;
mod team;
mod wave;

pub use download::{Download, Host};
#[cfg(feature = "heat")]
pub use elastodynamics::AnyElastodynamics;
#[cfg(feature = "heat")]
pub(crate) use elastodynamics::each_problem;
pub use factorisation::{AnyFactored, Factored, Factors};
#[cfg(feature = "ode")]
pub(crate) use ode::{AnyStepper, Prepared};
#[cfg(feature = "ode")]
pub use ode::{Ode, OdeStepper};
pub use operator::{AnyOperator, Applied};
pub use pending::Pending;
pub(crate) use poisson::PoissonState;
pub use poisson::{AnyPoisson, PoissonSolver};
pub use solver::{AnySolver, KrylovSolver};
pub(crate) use solver::{Kept, Krylov, Remade, each_solver};
pub use stored::Stored;
pub(crate) use stored::each;
pub use team::{AnyDistributed, AnyTeamAmg, Distributed, TeamAmg};
pub use wave::{AnyWave, Membrane};

use std::sync::Arc;

use clinalg::multigrid::Poisson;
use clinalg::solve::Operator;
use clinalg::team::Team;
use clinalg::{Band, Complex, Csr, Dense, Error, Precision, Real, Result, Scalar, Vector};

use crate::kind::{Info, Kind, ScalarType};

/// An object whose type of values is known at run time only.
#[derive(Debug)]
pub enum Object {
    /// In single precision.
    F32(Stored<f32>),
    /// In double precision.
    F64(Stored<f64>),
    /// Complex, in single precision.
    C32(Stored<Complex<f32>>),
    /// Complex, in double precision.
    C64(Stored<Complex<f64>>),
    /// A dense matrix that is computed when its values are needed.
    Pending(Arc<Pending>),
    /// A wave, in either precision.
    Wave(AnyWave),
    /// An operator, with values of any type.
    Operator(AnyOperator),
    /// A team of devices, without values.
    Team(Team),
    /// A sparse matrix on a team, in either precision.
    TeamMatrix(AnyDistributed),
    /// A Poisson solver on a box, in either precision.
    Poisson(Box<AnyPoisson>),
    /// A Krylov solver, with values of any type.
    Solver(Box<AnySolver>),
    /// The factors of a dense matrix, with values of any type.
    Factorisation(Box<AnyFactored>),
    /// Algebraic multigrid on a team, in either precision.
    TeamAmg(Box<AnyTeamAmg>),
    /// A problem of elastodynamics, in either precision.
    #[cfg(feature = "heat")]
    Elastodynamics(Box<AnyElastodynamics>),
    /// A system of differential equations, which is on no device between calls.
    #[cfg(feature = "ode")]
    Ode(Arc<Ode>),
    /// A method for one system of differential equations.
    #[cfg(feature = "ode")]
    OdeStepper(Box<OdeStepper>),
}

/// A type of values whose objects a registry holds.
pub trait Element: Scalar {
    /// Forgets the type.
    fn erase(object: Stored<Self>) -> Object;
    /// The object, if it has this type.
    fn of_object(object: &Object) -> Option<&Stored<Self>>;
    /// The object, if it has this type.
    fn of_object_mut(object: &mut Object) -> Option<&mut Stored<Self>>;
    /// The operator, if it is one of this type.
    fn of_operator(object: &Object) -> Option<&Applied<Self>>;
    /// Forgets the type of an operator.
    fn erase_operator(operator: Applied<Self>) -> AnyOperator;
    /// The Krylov solver, if it is one of this type.
    fn of_solver(object: &Object) -> Option<&KrylovSolver<Self>>;
    /// A Krylov solver as an object.
    fn erase_solver(solver: KrylovSolver<Self>) -> Object;
    /// The factors of a dense matrix, if they are of this type.
    fn of_factored(object: &Object) -> Option<&Factored<Self>>;
    /// The factors of a dense matrix as an object.
    fn erase_factored(factored: Factored<Self>) -> Object;
    /// The values, as a download holds them.
    fn erase_host(host: Host<Self>) -> Download;
}

/// A real type of values: waves and what is on a team have one.
pub trait RealElement: Element + Real {
    /// The wave, if it is one of this precision.
    ///
    /// # Errors
    /// [`Error::Precision`] that names the argument `wave`; what is no wave counts as the other precision.
    fn of_wave(object: &Object) -> Result<&Membrane<Self>>;
    /// The matrix on a team, if it is one of this precision.
    fn of_distributed(object: &Object) -> Option<&Distributed<Self>>;
    /// Algebraic multigrid on a team, if it is one of this precision.
    fn of_team_amg(object: &Object) -> Option<&TeamAmg<Self>>;
    /// Algebraic multigrid on a team as an object.
    fn erase_team_amg(amg: TeamAmg<Self>) -> Object;
    /// Forgets the precision of a matrix on a team.
    fn erase_distributed(matrix: Distributed<Self>) -> AnyDistributed;
    /// The Poisson solver on a box, if it is one of this precision.
    ///
    /// # Errors
    /// [`Error::Precision`] that names the argument `poisson`; what is no such solver counts as the other precision.
    fn of_poisson(object: &Object) -> Result<&PoissonSolver<Self>>;
    /// A Poisson solver on a box as an object.
    fn erase_poisson(solver: Poisson<Self>) -> Object;
}

macro_rules! scalars {
    ($($t:ty => $variant:ident),*) => {$(
        impl Element for $t {
            fn erase(object: Stored<$t>) -> Object {
                Object::$variant(object)
            }
            fn of_object(object: &Object) -> Option<&Stored<$t>> {
                if let Object::$variant(stored) = object { Some(stored) } else { None }
            }
            fn of_object_mut(object: &mut Object) -> Option<&mut Stored<$t>> {
                if let Object::$variant(stored) = object { Some(stored) } else { None }
            }
            fn of_operator(object: &Object) -> Option<&Applied<$t>> {
                if let Object::Operator(AnyOperator::$variant(operator)) = object { Some(operator) } else { None }
            }
            fn erase_operator(operator: Applied<$t>) -> AnyOperator {
                AnyOperator::$variant(operator)
            }
            fn of_solver(object: &Object) -> Option<&KrylovSolver<$t>> {
                match object {
                    Object::Solver(solver) => match &**solver {
                        AnySolver::$variant(solver) => Some(solver),
                        _ => None,
                    },
                    _ => None,
                }
            }
            fn erase_solver(solver: KrylovSolver<$t>) -> Object {
                Object::Solver(Box::new(AnySolver::$variant(solver)))
            }
            fn of_factored(object: &Object) -> Option<&Factored<$t>> {
                match object {
                    Object::Factorisation(factored) => match &**factored {
                        AnyFactored::$variant(factored) => Some(factored),
                        _ => None,
                    },
                    _ => None,
                }
            }
            fn erase_factored(factored: Factored<$t>) -> Object {
                Object::Factorisation(Box::new(AnyFactored::$variant(factored)))
            }
            fn erase_host(host: Host<$t>) -> Download {
                Download::$variant(host)
            }
        }
    )*};
}
scalars!(f32 => F32, f64 => F64, Complex<f32> => C32, Complex<f64> => C64);

macro_rules! reals {
    ($($t:ty => $variant:ident),*) => {$(
        impl RealElement for $t {
            fn of_wave(object: &Object) -> Result<&Membrane<$t>> {
                match object {
                    Object::Wave(AnyWave::$variant(wave)) => Ok(wave),
                    _ => Err(object.scalar().mismatch("wave", ScalarType::of::<$t>())),
                }
            }
            fn of_distributed(object: &Object) -> Option<&Distributed<$t>> {
                if let Object::TeamMatrix(AnyDistributed::$variant(matrix)) = object { Some(matrix) } else { None }
            }
            fn of_team_amg(object: &Object) -> Option<&TeamAmg<$t>> {
                match object {
                    Object::TeamAmg(amg) => match &**amg {
                        AnyTeamAmg::$variant(amg) => Some(amg),
                        _ => None,
                    },
                    _ => None,
                }
            }
            fn erase_team_amg(amg: TeamAmg<$t>) -> Object {
                Object::TeamAmg(Box::new(AnyTeamAmg::$variant(amg)))
            }
            fn erase_distributed(matrix: Distributed<$t>) -> AnyDistributed {
                AnyDistributed::$variant(matrix)
            }
            fn of_poisson(object: &Object) -> Result<&PoissonSolver<$t>> {
                if let Object::Poisson(solver) = object
                    && let AnyPoisson::$variant(solver) = &**solver
                {
                    return Ok(solver);
                }
                Err(object.scalar().mismatch("poisson", ScalarType::of::<$t>()))
            }
            fn erase_poisson(solver: Poisson<$t>) -> Object {
                Object::Poisson(Box::new(AnyPoisson::$variant(PoissonSolver::new(solver))))
            }
        }
    )*};
}
reals!(f32 => F32, f64 => F64);

macro_rules! from_object {
    ($($variant:ident),*) => {$(
        impl<T: Element> From<$variant<T>> for Object {
            fn from(object: $variant<T>) -> Object {
                T::erase(Stored::$variant(object))
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
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Object::F32(stored) => stored.kind(),
            Object::F64(stored) => stored.kind(),
            Object::C32(stored) => stored.kind(),
            Object::C64(stored) => stored.kind(),
            Object::Pending(_) => Kind::Dense,
            Object::Wave(_) => Kind::Wave,
            Object::Operator(_) => Kind::Operator,
            Object::Team(_) => Kind::Team,
            Object::TeamMatrix(_) => Kind::TeamMatrix,
            Object::Poisson(_) => Kind::Poisson,
            Object::Solver(_) => Kind::Solver,
            Object::Factorisation(_) => Kind::Factorisation,
            Object::TeamAmg(_) => Kind::TeamAmg,
            #[cfg(feature = "heat")]
            Object::Elastodynamics(_) => Kind::Elastodynamics,
            #[cfg(feature = "ode")]
            Object::Ode(_) => Kind::Ode,
            #[cfg(feature = "ode")]
            Object::OdeStepper(_) => Kind::OdeStepper,
        }
    }

    /// The type of its values; that of a system of differential equations, whose numbers are the host's, and of a team is `f64`.
    pub fn scalar(&self) -> ScalarType {
        match self {
            Object::F32(_) => ScalarType::F32,
            Object::F64(_) | Object::Team(_) => ScalarType::F64,
            #[cfg(feature = "ode")]
            Object::Ode(_) => ScalarType::F64,
            #[cfg(feature = "ode")]
            Object::OdeStepper(stepper) => stepper.precision().into(),
            Object::C32(_) => ScalarType::C32,
            Object::C64(_) => ScalarType::C64,
            Object::Pending(pending) => pending.scalar,
            Object::Wave(wave) => wave.precision().into(),
            Object::Operator(operator) => operator.scalar(),
            Object::TeamMatrix(matrix) => matrix.precision().into(),
            Object::Poisson(solver) => solver.precision().into(),
            Object::Solver(solver) => solver.scalar(),
            Object::Factorisation(factored) => factored.scalar(),
            Object::TeamAmg(amg) => amg.precision().into(),
            #[cfg(feature = "heat")]
            Object::Elastodynamics(problem) => problem.precision().into(),
        }
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
    pub fn stored<T: Element>(&self, argument: &'static str) -> Result<&Stored<T>> {
        T::of_object(self).ok_or_else(|| self.scalar().mismatch(argument, ScalarType::of::<T>()))
    }

    /// As [`stored`](Object::stored), to be written.
    ///
    /// # Errors
    /// As [`stored`](Object::stored).
    pub fn stored_mut<T: Element>(&mut self, argument: &'static str) -> Result<&mut Stored<T>> {
        let got = self.scalar();
        T::of_object_mut(self).ok_or_else(|| got.mismatch(argument, ScalarType::of::<T>()))
    }

    /// Its kind, precision and dimensions; a system of differential equations, and a stepper of one, has a row for each point and a column for each field, a team a row
    /// for each device, a Poisson solver on a box a row for each point, a wave the rows and columns of its grids as matrices, a Krylov solver a row for each equation.
    pub fn info(&self) -> Info {
        let mut entries = 0;
        let (rows, cols) = match self {
            Object::F32(stored) => return stored.info(),
            Object::F64(stored) => return stored.info(),
            Object::C32(stored) => return stored.info(),
            Object::C64(stored) => return stored.info(),
            Object::Pending(pending) => {
                entries = pending.shape.0 * pending.shape.1;
                pending.shape
            }
            Object::Wave(wave) => wave.shape(),
            Object::Operator(operator) => operator.shape(),
            Object::Team(team) => (team.ranks(), 1),
            Object::TeamMatrix(matrix) => {
                let (rows, stored) = matrix.size();
                entries = stored;
                (rows, rows)
            }
            Object::Poisson(solver) => (solver.points(), 1),
            Object::Solver(solver) => (solver.size(), 1),
            Object::Factorisation(factored) => factored.shape(),
            Object::TeamAmg(amg) => (amg.rows(), amg.rows()),
            #[cfg(feature = "heat")]
            Object::Elastodynamics(problem) => problem.shape(),
            #[cfg(feature = "ode")]
            Object::Ode(ode) => (ode.system.grid().points(), ode.system.fields().len()),
            #[cfg(feature = "ode")]
            Object::OdeStepper(stepper) => (stepper.points, stepper.fields),
        };
        let complex = self.scalar().is_complex();
        Info { kind: self.kind(), precision: self.precision(), complex, rows, cols, entries, kl: 0, ku: 0 }
    }

    /// The expression that waits for its evaluation.
    pub(crate) fn pending(&self) -> Option<&Arc<Pending>> {
        if let Object::Pending(pending) = self { Some(pending) } else { None }
    }

    /// The matrix with values of the type `T`.
    pub(crate) fn matrix<T: Element>(&self, argument: &'static str) -> Result<Matrix<'_, T>> {
        match T::of_operator(self) {
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

impl<T: Element> Matrix<'_, T> {
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
