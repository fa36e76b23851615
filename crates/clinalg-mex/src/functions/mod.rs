//! The functions by topic.

use clinalg::solve::Stop;
use clinalg::{Complex, Context, Precision};
use clinalg_handles::{Registry, ScalarType};

use crate::args::{Args, Input, Kind};
use crate::emit::{Answer, Out};
use crate::fault::Fault;
use crate::function::Function;
use crate::session;

mod algebra;
mod array;
mod complex;
mod dense;
mod eigen;
mod elastodynamics;
mod expression;
mod factorisation;
mod factors;
mod grid;
mod heat;
mod objects;
mod ode;
mod part;
mod poisson;
mod preconditioner;
mod products;
mod runtime;
mod saddle;
mod small;
mod solve;
mod sparse;
mod team;
mod transfer;
mod wave;

/// The topics in the order in which `Contents.m` lists them.
pub(crate) const GROUPS: &[(&str, &[&[Function]])] = &[
    ("Devices and sessions", &[runtime::FUNCTIONS]),
    ("Objects on the device", &[transfer::FUNCTIONS, objects::FUNCTIONS]),
    ("Linear algebra", &[algebra::FUNCTIONS]),
    ("Arrays", &[array::FUNCTIONS, expression::FUNCTIONS, small::FUNCTIONS, part::FUNCTIONS]),
    ("Sparse algebra", &[sparse::FUNCTIONS]),
    ("Complex numbers", &[complex::FUNCTIONS]),
    (
        "Systems of equations and eigenvalues",
        &[
            dense::FUNCTIONS,
            factorisation::FUNCTIONS,
            solve::FUNCTIONS,
            products::FUNCTIONS,
            preconditioner::FUNCTIONS,
            factors::FUNCTIONS,
            saddle::FUNCTIONS,
            eigen::FUNCTIONS,
        ],
    ),
    ("Grids and the Poisson problem", &[grid::FUNCTIONS, poisson::FUNCTIONS]),
    ("The wave equation", &[wave::FUNCTIONS]),
    ("Several devices", &[team::FUNCTIONS]),
    ("Differential equations", &[ode::FUNCTIONS]),
    ("Boundary elements for the heat equation", &[heat::FUNCTIONS]),
    ("Boundary elements for elastodynamics", &[elastodynamics::FUNCTIONS]),
];

type Outcome = Result<Answer, Fault>;

const GPU: Input = Input::new("gpu", Kind::Runtime);

const fn handle(name: &'static str) -> Input {
    Input::new(name, Kind::Handle)
}

/// A handle whose name in the core is another one.
const fn handle_as(name: &'static str, core: &'static str) -> Input {
    Input::named(name, core, Kind::Handle)
}

const fn real(name: &'static str) -> Input {
    Input::new(name, Kind::Real)
}

/// A real or complex number.
const fn scalar(name: &'static str) -> Input {
    Input::new(name, Kind::Number)
}

/// A number whose name in the core is another one.
const fn real_as(name: &'static str, core: &'static str) -> Input {
    Input::named(name, core, Kind::Real)
}

const fn count(name: &'static str) -> Input {
    Input::new(name, Kind::Count)
}

/// A count whose name in the core is another one.
const fn count_as(name: &'static str, core: &'static str) -> Input {
    Input::named(name, core, Kind::Count)
}

const fn text(name: &'static str) -> Input {
    Input::new(name, Kind::Text)
}

fn registry() -> &'static Registry {
    Registry::global()
}

impl Args<'_> {
    /// The objects of the session that the first argument names.
    fn objects(&self) -> Result<&'static Registry, Fault> {
        session::check(self.handle(0))?;
        Ok(registry())
    }

    /// The context for new objects of the session that the first argument names.
    fn context(&self) -> Result<Context, Fault> {
        session::check(self.handle(0))?;
        Ok(Context::global()?)
    }
}

/// A number in the class of the object that it came from.
fn number(precision: Precision, value: f64) -> Out {
    match precision {
        Precision::F32 => Out::Single(value as f32),
        Precision::F64 => Out::Real(value),
    }
}

/// A number of the type of the object that it came from.
fn number_of(scalar: ScalarType, value: Complex<f64>) -> Out {
    match scalar {
        ScalarType::F32 | ScalarType::F64 => number(scalar.precision(), value.re),
        ScalarType::C32 => Out::ComplexSingle(Complex::new(value.re as f32, value.im as f32)),
        ScalarType::C64 => Out::Complex(value),
    }
}

/// MATLAB's flag for the end of an iteration.
fn flag(stop: Stop) -> f64 {
    match stop {
        Stop::Converged => 0.0,
        Stop::IterationLimit => 1.0,
        Stop::Stagnated | Stop::RoundingFloor | Stop::Unbounded | Stop::LeastSquares => 3.0,
        Stop::Cancelled => 5.0,
        _ => 4.0,
    }
}

fn class_name(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "single",
        Precision::F64 => "double",
    }
}
