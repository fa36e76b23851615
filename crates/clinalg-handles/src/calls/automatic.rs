//! Solves of sparse systems by the method and the preconditioner that suit the matrix, on handles.

use clinalg::automatic::{AutomaticParams, Decision, Event, Method, Plan, SolverText};
use clinalg::solve::{Progress, Report, Stop};
use clinalg::{Dense, Error, Result, Scalar, Vector};

use super::sparse::sparse;
use crate::kind::Kind;
use crate::object::{Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// How a sparse system was solved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Automatic {
    /// The name of the method that the last column ended with.
    pub method: &'static str,
    /// The name of the preconditioner; empty where there is none.
    pub preconditioner: &'static str,
    /// Why they were chosen; for a singular matrix, what is known about its null vectors and about a column of b without a solution.
    pub why: String,
    /// A report for each column of b.
    pub reports: Vec<Report>,
}

/// The choice and what took its place, as one text.
fn reasons(decisions: &[Decision]) -> String {
    let text = |decision: &Decision| match decision {
        Decision::Chosen { reason, .. } => reason.clone(),
        other => other.to_string(),
    };
    decisions.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// The solution as an object of the kind of b.
fn like<T: Scalar>(b: &Stored<T>, x: Dense<T>) -> Result<Object> {
    Ok(match b {
        Stored::Vector(_) => Object::from(x.as_vector().copy_range(0..x.rows())?),
        _ => Object::from(x),
    })
}

impl Registry {
    /// Solves A x = b for a sparse matrix and one or more columns of b, by what suits the matrix: [`automatic`](clinalg::automatic). Gives the
    /// handle of x, a new object of the kind of b, and what was done. `wanted` prescribes methods and limits as a text does; columns after one that `progress` ended are 0 and have no report.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Shape`]; [`Error::Unsuitable`] that names the row (and column) of an entry of A or b that is not
    /// finite, a row of zeros where b is not 0, or more columns of zeros than rows of zeros; those of the solvers. Failure to converge is not an error: see
    /// [`Report::stop`], and [`Automatic::why`] for singular matrices.
    pub fn solve_automatic(
        &self,
        a: u64,
        b: u64,
        wanted: &SolverText,
        progress: Progress<'_>,
    ) -> Result<(u64, Automatic)> {
        let params = wanted.apply(AutomaticParams::default());
        params.stopping.check()?;
        if params.method == Some(Method::BlockCg) {
            let expected = "a method that solves for one column of b at a time, such as cg";
            return Err(Error::value("solver", expected, "`block-cg`, which solves for all columns at once"));
        }
        let operands = [Operand::new("a", a, Kind::SPARSE), Operand::new("b", b, Kind::FULL)];
        let (x, found) = self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = sparse::<T>(inputs[0], "a")?;
                let b = inputs[1].stored::<T>("b")?;
                let (rows, count) = b.shape();
                if rows != a.rows() {
                    let (expected, got) = (format!("{} rows, as A has", a.rows()), format!("{rows} x {count}"));
                    return Err(Error::Shape { argument: "b", expected, got });
                }
                let values = b.full("b")?;
                if !a.context().same(values.context()) {
                    return Err(Error::Context { argument: "b" });
                }
                let mut plan = Plan::new(a, params)?;
                let host = values.to_vec()?;
                plan.check_right_sides(&host)?;
                // The first column that fails is examined, unless it is known to have no solution.
                let mut is_examined = plan.note_null_vectors(&host);
                let mut observe = |event: Event<'_>| match event {
                    Event::Iteration(iteration, residual) => progress(iteration, residual),
                    _ => std::ops::ControlFlow::Continue(()),
                };
                let mut system = plan.set_up(&mut observe)?;
                let mut x = Dense::zeros(a.context(), a.cols(), count)?;
                let mut reports = Vec::with_capacity(count);
                let mut diagnosis = None;
                for column in 0..count {
                    let right = values.copy_range(column * rows..(column + 1) * rows)?;
                    let mut solution = Vector::zeros(a.context(), a.cols())?;
                    let mut report = system.solve_with(&right, &mut solution, &mut observe)?;
                    if !is_examined && system.may_diagnose(&report) {
                        let mut is_ended = false;
                        let solution = solution.to_vec()?;
                        let right = &host[column * rows..][..rows];
                        let found = system.diagnose(&report, right, &solution, &mut |_, _| {
                            let flow = observe(Event::Iteration(report.iterations, report.relative_residual));
                            is_ended |= flow.is_break();
                            flow
                        });
                        // A device failure during the search for null vectors is no reason to lose x.
                        diagnosis = found.unwrap_or(None);
                        // Only a look at the residual is worth repeating for the next column.
                        let is_search = report.stop != Stop::IterationLimit || system.failed_method().is_some();
                        is_examined = diagnosis.is_some() || is_search;
                        if is_ended {
                            report.stop = Stop::Cancelled;
                        }
                    }
                    x.as_vector_mut().write_slice(column * a.cols(), &solution)?;
                    let ends = report.stop == Stop::Cancelled;
                    reports.push(report);
                    if ends {
                        break;
                    }
                }
                let mut why = reasons(system.decisions());
                if let Some(sentence) = diagnosis {
                    why = format!("{why}; {sentence}");
                }
                let (method, preconditioner) = (system.method().name(), system.preconditioner().name());
                Ok((like(b, x)?, Automatic { method, preconditioner, why, reports }))
            })
        })?;
        Ok((self.insert(x), found))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use clinalg::{Context, Csr, CsrParts};

    use super::*;

    fn go_on(_: usize, _: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// -u'' + `shift` u on `n` points without conditions at the ends.
    fn chain(n: usize, shift: f64) -> CsrParts<f64> {
        let own = |i: usize| shift + f64::from(u8::from(i > 0)) + f64::from(u8::from(i + 1 < n));
        let entries = |i: usize| [(i, i, own(i)), (i, i.wrapping_sub(1), -1.0), (i, i + 1, -1.0)];
        let entries: Vec<_> = (0..n).flat_map(entries).filter(|entry| entry.1 < n).collect();
        CsrParts::from_triplets(n, n, &entries).unwrap()
    }

    fn waves(n: usize) -> Vec<f64> {
        (0..n).map(|k| (k as f64).sin()).collect()
    }

    fn solve(parts: &CsrParts<f64>, b: &[f64]) -> Result<(Vec<f64>, Automatic)> {
        let (registry, context) = (Registry::new(), Context::global().unwrap());
        let a = Csr::from_parts(&context, parts).unwrap();
        let a = registry.insert(Object::from(a));
        let b = registry.upload_vector(&context, b).unwrap();
        let (x, found) = registry.solve_automatic(a, b, &SolverText::default(), &mut go_on)?;
        let mut values = vec![0.0; parts.cols];
        registry.read(x, 0, &mut values).unwrap();
        Ok((values, found))
    }

    /// Two unknowns per node on n x n points, all of neighbours coupled, as in plane elasticity.
    fn plane(n: usize) -> CsrParts<f64> {
        let mut entries = Vec::new();
        for node in 0..n * n {
            let (i, j) = (node % n, node / n);
            let (along, across) = ([-3.0, 0.5, -1.0], [-1.0, -0.5, -3.0]);
            for (di, dj, [x, mixed, y]) in
                [(-1, 0, along), (1, 0, along), (0, -1, across), (0, 1, across), (0, 0, [8.5, 0.1, 8.5])]
            {
                let (Some(k), Some(l)) = (i.checked_add_signed(di), j.checked_add_signed(dj)) else { continue };
                if k < n && l < n {
                    let other = l * n + k;
                    let block = [(0, 0, x), (0, 1, mixed), (1, 0, mixed), (1, 1, y)];
                    entries.extend(block.map(|(p, q, value)| (2 * node + p, 2 * other + q, value)));
                }
            }
        }
        CsrParts::from_triplets(2 * n * n, 2 * n * n, &entries).unwrap()
    }

    #[test]
    fn unknowns_per_node_are_found() {
        if clinalg_testing::found(Context::global()).is_none() {
            return;
        }
        let (_, found) = solve(&plane(30), &waves(1800)).unwrap();
        assert_eq!((found.method, found.preconditioner), ("conjugate gradients", "algebraic multigrid"), "{found:?}");
        assert!(found.why.contains("2 unknowns per node") && found.reports[0].stop == Stop::Converged, "{found:?}");
    }

    #[test]
    fn singular_systems_are_solved_or_named() {
        if clinalg_testing::found(Context::global()).is_none() {
            return;
        }
        let n = 200;
        let a = chain(n, 0.0);
        let mut b = waves(n);
        let (_, found) = solve(&a, &b).unwrap();
        let needles = ["constants (no Dirichlet condition)", "no solution for column 1 of b"];
        assert!(
            !found.reports[0].stop.is_success() && needles.iter().all(|word| found.why.contains(word)),
            "{found:?}"
        );
        let mean = b.iter().sum::<f64>() / n as f64;
        b.iter_mut().for_each(|value| *value -= mean);
        let (x, found) = solve(&a, &b).unwrap();
        assert!(found.reports[0].stop == Stop::Converged && found.why.contains("1 null vector"), "{found:?}");
        assert!(!found.why.contains("no solution"), "{found:?}");
        let mut residual = b.clone();
        a.triplets().for_each(|(i, j, value)| residual[i] -= value * x[j]);
        assert!(residual.iter().all(|value| value.abs() < 1e-8));

        // A null vector that is not constant is found after the solve.
        let size = |i: usize| 1.0 + (i % 5) as f64;
        let scaled: Vec<_> = a.triplets().map(|(i, j, value)| (i, j, value * size(i) * size(j))).collect();
        let (_, found) = solve(&CsrParts::from_triplets(n, n, &scaled).unwrap(), &vec![1.0; n]).unwrap();
        assert!(!found.reports[0].stop.is_success() && found.why.contains("A is singular"), "{found:?}");
    }

    #[test]
    fn entries_that_are_not_finite_and_rows_of_zeros_are_named() {
        if clinalg_testing::found(Context::global()).is_none() {
            return;
        }
        let of = |entries: &[(usize, usize, f64)]| CsrParts::from_triplets(3, 3, entries).unwrap();
        let wrong = of(&[(0, 0, 1.0), (1, 1, 1.0), (2, 1, f64::NAN), (2, 2, 1.0)]);
        let empty = of(&[(0, 0, 1.0), (0, 1, 1.0), (2, 1, 1.0), (2, 2, 1.0)]);
        let unused = of(&[(0, 0, 1.0), (1, 0, 2.0), (1, 2, 1.0), (2, 2, 1.0)]);
        let sound = of(&[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]);
        for (a, b, needle) in [
            (&wrong, [1.0; 3], "row 3 and column 2"),
            (&sound, [1.0, f64::INFINITY, 1.0], "row 2"),
            (&empty, [1.0; 3], "row 2 (counted from 1) has only zeros"),
            (&unused, [1.0; 3], "unknown 2 (counted from 1)"),
        ] {
            let message = solve(a, &b).unwrap_err().to_string();
            assert!(message.contains(needle), "{message}");
        }
    }
}
