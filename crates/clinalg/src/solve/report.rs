//! What a solve reports.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{counted, number};

/// Why an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stop {
    /// The true relative residual is at most the tolerance.
    Converged,
    /// The maximum number of iterations was reached first.
    IterationLimit,
    /// A coefficient of the method vanished to working precision, and a restart did not help: the matrix is singular to
    /// working precision, or the method cannot continue from this initial guess.
    Breakdown,
    /// A NaN or infinity in the matrix, the right-hand side, the initial guess or a result.
    NotFinite,
    /// A direction p with p'Ap <= 0: the matrix or the preconditioner is not positive definite.
    Indefinite,
    /// The residual no longer fell, although it is well above rounding level.
    Stagnated,
    /// The residual grew by more than the reciprocal of the machine precision.
    Diverged,
    /// Restarts no longer reduce the residual, which is within 16 times the estimated rounding error and above the tolerance.
    RoundingFloor,
    /// The progress callback stopped it.
    Cancelled,
    /// x is so large that the rounding error of b - A x is as large as the residual, as happens where A is singular or nearly so.
    Unbounded,
    /// |A (b - A x)| is zero to working accuracy although b - A x is not: x is a least-squares solution, and the system has no solution. Only MINRES.
    LeastSquares,
}

impl Stop {
    /// Whether the tolerance was met.
    pub fn is_success(self) -> bool {
        self == Stop::Converged
    }

    /// Whether the method failed for a reason that need not affect another method, such as GMRES after CG or BiCGStab.
    pub fn is_failure_of_method(self) -> bool {
        matches!(self, Stop::Breakdown | Stop::Diverged | Stop::Stagnated | Stop::Indefinite | Stop::Unbounded)
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Converged => "converged",
            Stop::IterationLimit => "not converged within the iteration limit",
            Stop::Breakdown => {
                "a coefficient of the method vanished and a restart did not help; try another method, a preconditioner or another initial guess"
            }
            Stop::NotFinite => "met a NaN or an infinity: check the matrix, the right-hand side and the initial guess",
            Stop::Indefinite => {
                "the matrix or the preconditioner is not positive definite, as the method needs; use BiCGStab or GMRES, for least squares another preconditioner"
            }
            Stop::Stagnated => {
                "the residual no longer falls; try a preconditioner, another method or a longer restart"
            }
            Stop::Diverged => "the residual grows: the method does not converge for this matrix",
            Stop::RoundingFloor => "the residual no longer falls: it is near the rounding error of this precision",
            Stop::Cancelled => "stopped on request, before the tolerance was met",
            Stop::Unbounded => "x grows without bound, which happens where the matrix is singular or nearly so",
            Stop::LeastSquares => {
                "the system has no solution to this accuracy, as the matrix is singular or nearly so; x minimises the residual (least squares)"
            }
        })
    }
}

/// The outcome of one solve.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Why the iteration ended.
    pub stop: Stop,
    /// Iterations (sweeps, cycles) done.
    pub iterations: usize,
    /// The number of the iterate that x is: `iterations`, or where a solve did not converge that of an earlier one with a smaller residual; 0 is
    /// the start.
    pub iterate: usize,
    /// |b - A x| / |b| in the Euclidean norm, computed from the returned x; 0 where b = 0, whose
    /// solution x = 0 is returned; NaN where it is not defined (null in JSON).
    pub relative_residual: f64,
    /// Relative residual at the start and after each iteration, `iterations + 1` numbers. Krylov
    /// methods report the residual of their recurrence; the last entry is the true one.
    pub history: Vec<f64>,
}

impl Report {
    /// A report whose iterations and residual are those of `history`, which begins with the start.
    pub fn new(stop: Stop, history: Vec<f64>) -> Report {
        let relative_residual = history.last().copied().unwrap_or(f64::NAN);
        let iterations = history.len().saturating_sub(1);
        Report { stop, iterations, iterate: iterations, relative_residual, history }
    }

    /// The report of a solve whose initial guess had this relative residual, and whether x is to be reset to the initial guess because its residual is larger. GMRES
    /// minimises the preconditioned residual; the true one may rise.
    pub fn or_start(mut self, residual: f64) -> (Report, bool) {
        let has_risen = self.relative_residual > residual || self.relative_residual.is_nan();
        if has_risen {
            (self.iterate, self.relative_residual) = (0, residual);
            if let Some(last) = self.history.last_mut() {
                *last = residual;
            }
        }
        (self, has_risen)
    }

    /// Merges this report with that of the preceding solve, whose x was the start of this one. Without a preceding solve, returns the report unchanged.
    pub fn after(self, before: Option<Report>) -> Report {
        let Some(before) = before else { return self };
        // The start of the second may be an earlier iterate of the first than the last one.
        let iterate = if self.iterate == 0 { before.iterate } else { before.iterations + self.iterate };
        let mut history = before.history;
        // The history of the second begins where that of the first ends.
        history.pop();
        history.extend(self.history);
        Report { iterate, relative_residual: self.relative_residual, ..Report::new(self.stop, history) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let iterations = counted(self.iterations, "iteration");
        write!(f, "{iterations}, relative residual {}: {}", number(self.relative_residual, 3), self.stop)?;
        match self.iterate < self.iterations {
            true => write!(f, "; the best iterate is that of iteration {}", self.iterate),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A failed solve with these residuals, which returned this iterate.
    fn failed(history: &[f64], iterate: usize) -> Report {
        Report { iterate, ..Report::new(Stop::Stagnated, history.to_vec()) }
    }

    #[test]
    fn the_iterate_is_counted_over_all_methods() {
        // It returned its second iterate, whose residual is the last one.
        let first = failed(&[1.0, 0.7, 0.5, 0.9, 0.5], 2);
        let (second, has_risen) = failed(&[0.5, 0.6, 0.8], 2).or_start(0.5);
        assert!(has_risen);
        assert_eq!((second.iterate, second.relative_residual, second.history[2]), (0, 0.5, 0.5));
        let both = second.after(Some(first.clone()));
        assert_eq!((both.iterations, both.iterate, both.relative_residual), (6, 2, 0.5));
        assert_eq!(both.history, [1.0, 0.7, 0.5, 0.9, 0.5, 0.6, 0.5]);
        // The third method makes progress.
        let (third, has_risen) = failed(&[0.5, 0.4, 0.45, 0.4], 1).or_start(0.5);
        assert!(!has_risen);
        let all = third.after(Some(both));
        assert_eq!((all.iterations, all.iterate, all.relative_residual), (9, 7, 0.4));
        assert_eq!(first.clone().after(None), first);
    }
}
