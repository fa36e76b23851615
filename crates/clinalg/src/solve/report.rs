//! How an iteration ends.

use std::fmt;

use serde::{Deserialize, Serialize};

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
