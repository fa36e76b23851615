//! What a handle can name.

use std::fmt;

use clinalg::{Error, Precision, Scalar};
use serde::Serialize;

/// What a handle names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A [`Vector`](clinalg::Vector).
    Vector = 1,
    /// A [`Dense`](clinalg::Dense) matrix.
    Dense = 2,
    /// A [`Csr`](clinalg::Csr) matrix.
    Csr = 3,
    /// A [`Band`](clinalg::Band) matrix.
    Band = 4,
    /// A [`Wave`](clinalg::wave::Wave).
    Wave = 5,
    /// An [`Operator`](clinalg::solve::Operator): of another crate, or a preconditioner, whose products apply its inverse.
    Operator = 6,
    /// A system of differential equations; with the feature `ode`.
    Ode = 7,
    /// A problem of elastodynamics; with the feature `heat`.
    Elastodynamics = 8,
    /// A [`Team`](clinalg::team::Team) of devices.
    Team = 9,
    /// A sparse matrix whose rows are distributed over the devices of a team.
    TeamMatrix = 10,
    /// A method with its kernels and memory for one system of differential equations; with the feature `ode`.
    OdeStepper = 11,
    /// A [`Poisson`](clinalg::multigrid::Poisson) solver and the values of its sides.
    Poisson = 12,
    /// A [`Solver`](clinalg::solve::Solver) of one matrix with its memory.
    Solver = 13,
    /// The factors of a dense matrix.
    Factorisation = 15,
    /// [Algebraic multigrid](clinalg::team::Amg) on a team.
    TeamAmg = 16,
}

impl Info {
    /// Of an object without entries and diagonals.
    pub(crate) fn new(kind: Kind, scalar: ScalarType, rows: usize, cols: usize) -> Info {
        let (precision, complex) = (scalar.precision(), scalar.is_complex());
        Info { kind, precision, complex, rows, cols, entries: 0, kl: 0, ku: 0 }
    }

    /// The type of its values.
    pub fn scalar(&self) -> ScalarType {
        ScalarType::new(self.precision, self.complex)
    }
}

impl Kind {
    /// Every kind.
    pub const ALL: &'static [Kind] = &[
        Kind::Vector,
        Kind::Dense,
        Kind::Csr,
        Kind::Band,
        Kind::Wave,
        Kind::Operator,
        Kind::Ode,
        Kind::Elastodynamics,
        Kind::Team,
        Kind::TeamMatrix,
        Kind::OdeStepper,
        Kind::Poisson,
        Kind::Solver,
        Kind::Factorisation,
        Kind::TeamAmg,
    ];
    /// A wave.
    pub const WAVE: &'static [Kind] = &[Kind::Wave];
    /// An operator.
    pub const OPERATOR: &'static [Kind] = &[Kind::Operator];
    /// A system of differential equations.
    pub const ODE: &'static [Kind] = &[Kind::Ode];
    /// A method for one system of differential equations.
    pub const ODE_STEPPER: &'static [Kind] = &[Kind::OdeStepper];
    /// A problem of elastodynamics.
    pub const ELASTODYNAMICS: &'static [Kind] = &[Kind::Elastodynamics];
    /// A Poisson solver on a box.
    pub const POISSON: &'static [Kind] = &[Kind::Poisson];
    /// A Krylov solver.
    pub const SOLVER: &'static [Kind] = &[Kind::Solver];
    /// The factors of a dense matrix.
    pub const FACTORISATION: &'static [Kind] = &[Kind::Factorisation];
    /// A matrix on a team.
    pub const TEAM_MATRIX: &'static [Kind] = &[Kind::TeamMatrix];
    /// Algebraic multigrid on a team.
    pub const TEAM_AMG: &'static [Kind] = &[Kind::TeamAmg];
    /// What may be algebraic multigrid.
    pub const HIERARCHY: &'static [Kind] = &[Kind::Operator, Kind::TeamAmg];
    /// A team of devices.
    pub const TEAM: &'static [Kind] = &[Kind::Team];
    /// Every kind of vector and matrix.
    pub const VALUES: &'static [Kind] = &[Kind::Vector, Kind::Dense, Kind::Csr, Kind::Band];
    /// Full storage; a dense matrix of one row or column passes for a vector.
    pub const FULL: &'static [Kind] = &[Kind::Vector, Kind::Dense];
    /// Several vectors side by side.
    pub const COLUMNS: &'static [Kind] = &[Kind::Dense];
    /// What can be multiplied with a vector.
    pub const MATRIX: &'static [Kind] = &[Kind::Dense, Kind::Csr, Kind::Band, Kind::Operator];
    /// What Krylov methods solve with.
    pub const SYSTEM: &'static [Kind] = &[Kind::Dense, Kind::Csr, Kind::Band, Kind::Operator, Kind::TeamMatrix];
    /// A matrix whose entries are known.
    pub const ENTRIES: &'static [Kind] = &[Kind::Dense, Kind::Csr, Kind::Band];
    /// What can be multiplied with a vector in its transposed form.
    pub const TRANSPOSED: &'static [Kind] = &[Kind::Dense, Kind::Csr];
    /// A sparse matrix.
    pub const SPARSE: &'static [Kind] = &[Kind::Csr];
    /// A dense matrix.
    pub const DENSE: &'static [Kind] = &[Kind::Dense];

    /// The name of the kind.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Vector => "vector",
            Kind::Dense => "dense matrix",
            Kind::Csr => "sparse matrix",
            Kind::Band => "band matrix",
            Kind::Wave => "wave",
            Kind::Operator => "operator",
            Kind::Ode => "system of differential equations",
            Kind::Elastodynamics => "problem of elastodynamics",
            Kind::Team => "team of devices",
            Kind::TeamMatrix => "matrix on a team",
            Kind::OdeStepper => "stepper of differential equations",
            Kind::Poisson => "Poisson solver",
            Kind::Solver => "Krylov solver",
            Kind::Factorisation => "factorisation of a matrix",
            Kind::TeamAmg => "algebraic multigrid on a team",
        }
    }
}

/// The type of the values of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScalarType {
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// `Complex<f32>`.
    C32,
    /// `Complex<f64>`.
    C64,
}

impl ScalarType {
    /// The type with this precision of its parts.
    pub fn new(precision: Precision, complex: bool) -> ScalarType {
        match (precision, complex) {
            (Precision::F32, false) => ScalarType::F32,
            (Precision::F64, false) => ScalarType::F64,
            (Precision::F32, true) => ScalarType::C32,
            (Precision::F64, true) => ScalarType::C64,
        }
    }

    /// That of `T`.
    pub fn of<T: Scalar>() -> ScalarType {
        ScalarType::new(T::PRECISION, T::IS_COMPLEX)
    }

    /// Precision of the real and the imaginary part.
    pub fn precision(self) -> Precision {
        match self {
            ScalarType::F32 | ScalarType::C32 => Precision::F32,
            ScalarType::F64 | ScalarType::C64 => Precision::F64,
        }
    }

    /// Whether there is an imaginary part.
    pub fn is_complex(self) -> bool {
        matches!(self, ScalarType::C32 | ScalarType::C64)
    }

    /// An error that names `argument`, an object of this type where one of `expected` is wanted.
    pub(crate) fn mismatch(self, argument: &'static str, expected: ScalarType) -> Error {
        if self.is_complex() == expected.is_complex() {
            return Error::Precision { argument, expected: expected.precision(), got: self.precision() };
        }
        let expected = format!("{expected}, like the other values of the call; convert, or use the real part");
        Error::value(argument, expected, self)
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", if self.is_complex() { "complex" } else { "real" }, self.precision())
    }
}

impl From<Precision> for ScalarType {
    fn from(precision: Precision) -> ScalarType {
        ScalarType::new(precision, false)
    }
}

/// What a handle names, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Info {
    /// The kind of object.
    pub kind: Kind,
    /// Precision of its values, of complex ones that of their parts.
    pub precision: Precision,
    /// Whether its values are complex.
    pub complex: bool,
    /// Number of rows; of a vector its length.
    pub rows: usize,
    /// Number of columns; 1 for a vector.
    pub cols: usize,
    /// Number of stored entries; 0 for a band matrix, which has its diagonals.
    pub entries: usize,
    /// Number of subdiagonals of a band matrix, else 0.
    pub kl: usize,
    /// Number of superdiagonals of a band matrix, else 0.
    pub ku: usize,
}
