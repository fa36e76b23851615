//! Problems of elastodynamics in either precision.

use clinalg::{Complex, Precision};
use clinalg_bem::elastodynamics::Problem;

/// A problem of elastodynamics whose precision is known at run time only.
#[derive(Debug)]
pub enum AnyElastodynamics {
    /// In single precision.
    F32(Problem<Complex<f32>>),
    /// In double precision.
    F64(Problem<Complex<f64>>),
}

/// Evaluates the body for the problem inside.
macro_rules! each_problem {
    ($any:expr, $problem:ident => $body:expr) => {
        match $any {
            $crate::object::AnyElastodynamics::F32($problem) => $body,
            $crate::object::AnyElastodynamics::F64($problem) => $body,
        }
    };
}
pub(crate) use each_problem;

impl AnyElastodynamics {
    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            AnyElastodynamics::F32(_) => Precision::F32,
            AnyElastodynamics::F64(_) => Precision::F64,
        }
    }

    /// Rows and columns of H and G.
    pub fn shape(&self) -> (usize, usize) {
        each_problem!(self, problem => (3 * problem.rows().len(), 3 * problem.mesh().boundary()))
    }
}
