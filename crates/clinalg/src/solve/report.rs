//! What a solver is asked for and what it answers.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Why an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stop {
    /// The true relative residual is at most the tolerance.
    Converged,
    /// The most iterations allowed were done before that.
    IterationLimit,
    /// A coefficient of the method vanished: the matrix is singular to working precision, or the
    /// method cannot go on from this start.
    Breakdown,
    /// A NaN or infinity in the matrix, the right-hand side, the start or a result.
    NotFinite,
    /// A direction p with p'Ap <= 0: the matrix or the preconditioner is not positive definite.
    Indefinite,
    /// The residual did not fall any more, well above what rounding allows.
    Stagnated,
    /// The residual grew by more than the reciprocal of the machine precision.
    Diverged,
    /// The residual is as small as rounding allows in this precision, above the tolerance.
    RoundingFloor,
}

impl Stop {
    /// Whether the tolerance was met.
    pub fn is_success(self) -> bool {
        self == Stop::Converged
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Converged => "converged",
            Stop::IterationLimit => "not converged within the iteration limit",
            Stop::Breakdown => {
                "the method broke down: the matrix may be singular; try another method or start, or a preconditioner"
            }
            Stop::NotFinite => "met a NaN or an infinity: check the matrix, the right-hand side and the start",
            Stop::Indefinite => {
                "the matrix or the preconditioner is not positive definite, as CG needs; use BiCGStab or GMRES"
            }
            Stop::Stagnated => {
                "the residual no longer falls: the system may have no solution, or needs a preconditioner or a longer restart"
            }
            Stop::Diverged => "the residual grows: the method does not converge for this matrix",
            Stop::RoundingFloor => "the residual is as small as rounding allows; the tolerance is out of reach",
        })
    }
}

/// The outcome of one solve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Why the iteration ended.
    pub stop: Stop,
    /// Iterations (sweeps, cycles) done.
    pub iterations: usize,
    /// |b - A x| / |b| in the Euclidean norm, computed from the returned x; 0 where b = 0, whose
    /// solution x = 0 is returned; NaN where it is not defined (null in JSON).
    pub relative_residual: f64,
    /// Relative residual at the start and after each iteration, `iterations + 1` numbers. Krylov
    /// methods give the residual of their recurrence; the last entry is the true one.
    pub history: Vec<f64>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} iterations, relative residual {:.2e}: {}", self.iterations, self.relative_residual, self.stop)
    }
}

/// When an iteration ends, and the parameters of methods that have some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Relative residual |b - A x| / |b| to reach; positive and finite. Default 1e-10, which single
    /// precision seldom reaches: see [`Params::of`].
    pub tolerance: f64,
    /// Most iterations; 0 only computes the residual. Default 10 000.
    pub max_iterations: usize,
    /// Iterations over which the smallest residual must fall by one part in a thousand, or the
    /// iteration has stagnated; at least 1, and never fewer than n for [`Cg`](crate::solve::Cg).
    /// Default 1000.
    pub stagnation_window: usize,
    /// Weight of [`JacobiIteration`](crate::solve::JacobiIteration); positive and finite. Default
    /// 2/3 (Saad 2003, section 13.2.2).
    pub omega: f64,
}

impl Default for Params {
    fn default() -> Params {
        Params { tolerance: 1e-10, max_iterations: 10_000, stagnation_window: 1000, omega: 2.0 / 3.0 }
    }
}

impl Params {
    /// Defaults with a tolerance that suits the precision: 1e-10 in double, 1e-5 in single.
    pub fn of<T: crate::Real>() -> Params {
        let tolerance = match T::PRECISION {
            crate::Precision::F32 => 1e-5,
            crate::Precision::F64 => 1e-10,
        };
        Params { tolerance, ..Params::default() }
    }

    /// An error unless every field is in its range.
    ///
    /// # Errors
    /// [`Error::Value`] that names the field.
    pub fn check(&self) -> Result<()> {
        for (argument, value) in [("tolerance", self.tolerance), ("omega", self.omega)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::value(argument, "a positive finite number", value));
            }
        }
        if self.stagnation_window == 0 {
            return Err(Error::value("stagnation_window", "at least 1", 0));
        }
        Ok(())
    }
}
