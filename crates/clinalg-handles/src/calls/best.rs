//! Solves that give the best iterate.

use clinalg::Result;
use clinalg::solve::{Progress, Report, Stop, Stopping};

use super::preconditioner::varies;
use super::solve::{INVERSE, Method, Preconditioning};
use crate::kind::Kind;
use crate::registry::{Operand, Registry};

/// Relative to its residual, what that of an iterate in a history may differ by from the true one.
const SAME: f64 = 1e-6;

/// The iteration after which the residual was smallest, the last one of a solve that succeeded or was stopped. The solver may have returned an
/// earlier iterate already, whose residual is then the last one as well.
fn smallest(report: &Report) -> usize {
    if matches!(report.stop, Stop::Converged | Stop::Cancelled) {
        return report.iterations;
    }
    let mut best = (report.iterations, report.relative_residual);
    for (at, &residual) in report.history.iter().enumerate().take(report.iterations) {
        let limit = if best.0 == report.iterations { (1.0 + SAME) * best.1 } else { best.1 };
        if residual < limit || (best.1.is_nan() && residual.is_finite()) {
            best = (at, residual);
        }
    }
    best.0
}

impl Registry {
    /// [`Registry::solve_with`] with the number of the iterate that x is: where CG or BiCGStab ends without success, and not on request, the one with
    /// the smallest residual. It is computed again, which gives the same bits, in at most as many iterations once more. The report has its residual,
    /// and the history of all iterations. With a K-cycle of algebraic multigrid, CG is flexible.
    ///
    /// # Errors
    /// As [`Registry::solve`].
    pub fn solve_to_best(
        &self,
        method: Method,
        preconditioning: Preconditioning,
        (a, b, x): (u64, u64, Option<u64>),
        stopping: &Stopping,
        progress: Progress<'_>,
    ) -> Result<(u64, Report, usize)> {
        let varies = match preconditioning {
            Preconditioning::Inverse(m) if method == Method::Cg && self.info(a)?.kind != Kind::TeamMatrix => {
                self.call(&[Operand::new(INVERSE, m, Kind::MATRIX)], None, |inputs, _| varies(inputs[0]))?
            }
            _ => false,
        };
        let method = if varies { Method::FlexibleCg } else { method };
        let of_a = self.cell(&Operand::new("a", a, Kind::SYSTEM))?.info();
        if let Some(x) = x {
            self.cell(&Operand::new("x", x, Kind::FULL))?;
        }
        let goes_back = !matches!(method, Method::Gmres(_)) && of_a.kind != Kind::TeamMatrix;
        let start = x.filter(|_| goes_back).map(|x| self.copy(x, None)).transpose()?;
        let solved =
            self.solve_with(method, preconditioning, (a, b, x), stopping, progress).and_then(|(x, report)| match Some(
                smallest(&report),
            )
            .filter(|_| goes_back)
            {
                Some(at) if at < report.iterations => {
                    let system = (a, b, x);
                    self.go_back(method, preconditioning, (system, start), (stopping, at), (report, progress))
                }
                _ => {
                    let iterations = report.iterations;
                    Ok((x, report, iterations))
                }
            });
        if let Some(start) = start {
            self.release(start, Kind::VALUES)?;
        }
        solved
    }

    /// Makes x the iterate of iteration `at` if its residual is smaller. After an error x is the last iterate; where there is no `start`, as the
    /// call has made x, it is released.
    fn go_back(
        &self,
        method: Method,
        preconditioning: Preconditioning,
        ((a, b, x), start): ((u64, u64, u64), Option<u64>),
        (stopping, at): (&Stopping, usize),
        (mut report, progress): (Report, Progress<'_>),
    ) -> Result<(u64, Report, usize)> {
        let mut number = report.iterations;
        let outcome = self.copy(x, None).and_then(|last| {
            let mut again = || -> Result<(f64, usize, Stop)> {
                match start {
                    Some(start) => self.copy(start, Some(x)).map(drop)?,
                    None => self.fill(x, 0.0)?,
                }
                if at == 0 {
                    return Ok((report.history[0], 0, report.stop));
                }
                let stopping = stopping.clone().max_iterations(at);
                let (_, again) = self.solve_with(method, preconditioning, (a, b, Some(x)), &stopping, progress)?;
                Ok((again.relative_residual, again.iterations, again.stop))
            };
            let again = again();
            if let Ok((.., Stop::Cancelled)) = again {
                report.stop = Stop::Cancelled;
            }
            let outcome = match again {
                Ok((residual, at, _))
                    if residual < (1.0 + SAME) * report.relative_residual || !report.relative_residual.is_finite() =>
                {
                    (report.relative_residual, number) = (residual, at);
                    Ok(())
                }
                Ok(_) => self.copy(last, Some(x)).map(drop),
                Err(error) if start.is_none() => Err(error),
                Err(error) => self.copy(last, Some(x)).and(Err(error)),
            };
            self.release(last, Kind::VALUES)?;
            outcome
        });
        if outcome.is_err() && start.is_none() {
            self.release(x, Kind::VALUES)?;
        }
        outcome.map(|()| (x, report, number))
    }
}
