//! Solves of sparse systems by the method and the preconditioner that suit the matrix, on handles.

use clinalg::precond::{
    Advice, Ilu, IluKind, IluParams, Jacobi, Needs, NullVectors, Preconditioner, Suited, advise, check_finite,
    check_zeros, diagnose_singularity, fallback_factors, instability, is_hermitian, is_unsuited, verdict,
};
use clinalg::solve::{LeastSquares, LeastSquaresParams, Progress, Report, Solver, Stop, Stopping};
use clinalg::{Context, Csr, CsrParts, Dense, Error, Result, Scalar, Vector, ops};

use super::preconditioner::{Coarsened, Made, PreconditionerKind, found_split};
use super::solve::{Method, shape_for};
use super::solver::solver_of;
use super::sparse::sparse;
use crate::kind::Kind;
use crate::object::{Element, Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// Iterations of GMRES between restarts.
const RESTART: usize = 30;

/// Iterations for each column and method, where the caller sets no limit.
const MOST: usize = 1000;
/// The stagnation window: a solve that gets nowhere leaves the system to another method soon.
const WINDOW: usize = 200;
/// A residual up to this multiple of the tolerance is no sign of a singular matrix.
const NEAR: f64 = 10.0;

/// How a sparse system was solved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Automatic {
    /// The method that the last column ended with, in words.
    pub method: &'static str,
    /// The preconditioner, in words; nothing where there is none.
    pub preconditioner: &'static str,
    /// Why they were chosen; for a singular matrix, what is known about its null vectors and about a column of b without a solution.
    pub why: String,
    /// A report for each column of b.
    pub reports: Vec<Report>,
}

impl Automatic {
    /// When [`Registry::solve_automatic`] should end by default. If the first method reaches this limit of iterations, GMRES takes over; if
    /// the caller sets another limit, the solve ends there.
    pub fn stopping() -> Stopping {
        Stopping::default().max_iterations(MOST).stagnation_window(WINDOW)
    }
}

fn title(method: Method) -> &'static str {
    match method {
        Method::Cg => "conjugate gradients",
        Method::Minres => "MINRES",
        Method::Gmres(_) => "GMRES",
        _ => "BiCGStab",
    }
}

fn title_of(suited: Suited) -> &'static str {
    match suited {
        Suited::Jacobi => "the Jacobi preconditioner",
        Suited::Amg => "algebraic multigrid",
        Suited::Ilu => IluKind::Zero.name(),
        Suited::Ilut => IluKind::threshold().name(),
        Suited::Cholesky => "IC(0)",
        Suited::Ssor => "SSOR",
        Suited::Saddle => "a block preconditioner for saddle points",
        _ => "",
    }
}

/// A preconditioner, or none.
type Optional<T> = Option<Box<dyn Preconditioner<T>>>;

/// Incomplete or complete factors with their title.
fn titled<T: Scalar>(m: Ilu<T>) -> (&'static str, Optional<T>) {
    (m.kind().name(), Some(Box::new(m)))
}

/// The preconditioner of a matrix, whose host form is `parts`; `nodes` are its unknowns per node, where several were found.
fn make<T: Element + Coarsened>(
    (suited, nodes): (Suited, Option<usize>),
    a: &Csr<T>,
    parts: &CsrParts<T>,
    method: Method,
) -> Result<Optional<T>> {
    let of = |kind: PreconditionerKind| -> Result<Optional<T>> {
        let params = kind.params().expect("only algebraic multigrid has none");
        // The advice has already distinguished Hermitian matrices from others.
        Ok(Some(Box::new(Made::untested(a, &params)?)))
    };
    match suited {
        Suited::Jacobi => Ok(Some(Box::new(Jacobi::new(&a.diagonal()?)?))),
        Suited::Amg => Ok(Some(T::hierarchy(a, nodes.unwrap_or(1))?)),
        Suited::Ilu => of(PreconditionerKind::Ilu),
        Suited::Ilut => of(PreconditionerKind::Ilut),
        Suited::Cholesky => of(PreconditionerKind::Cholesky),
        Suited::Ssor => of(PreconditionerKind::Ssor),
        Suited::Saddle => Ok(Some(T::saddle(a, &found_split(parts)?, shape_for(method))?)),
        _ => Ok(None),
    }
}

/// What solves the columns of b one by one.
trait Columns<T: Scalar> {
    fn column(&mut self, b: &Vector<T>, x: &mut Vector<T>, progress: Progress<'_>) -> Result<Report>;
    /// Method and preconditioner in words.
    fn words(&self) -> (&'static str, &'static str);
}

/// A method with its preconditioner.
struct Stage<T: Scalar> {
    method: Method,
    /// With its title; `None`: that of the first stage.
    preconditioner: Option<(&'static str, Optional<T>)>,
}

/// A square system.
struct System<'a, T: Scalar> {
    a: &'a Csr<T>,
    parts: CsrParts<T>,
    hermitian: bool,
    null: Option<NullVectors>,
    /// The first method, and those that took over where one failed; they are kept for the following columns.
    stages: Vec<Stage<T>>,
    /// That in use.
    stage: usize,
    /// Whether the last column did not converge with any of them, so that the next one begins with the first.
    is_exhausted: bool,
    /// Whether null vectors were sought after a solve.
    is_examined: bool,
    /// Whether the first method fails where it reaches the limit of iterations.
    fails_at_limit: bool,
    /// The reason for method and preconditioner.
    why: String,
    solver: Box<dyn Solver<T> + Send>,
    stopping: Stopping,
}

impl<'a, T: Element + Coarsened> System<'a, T> {
    fn new(a: &'a Csr<T>, parts: CsrParts<T>, stopping: &Stopping, fails_at_limit: bool) -> Result<System<'a, T>> {
        let hermitian = is_hermitian(&parts)?;
        let null = hermitian.then(|| NullVectors::constants(&parts));
        let null_vectors = null.as_ref().map_or(0, NullVectors::count);
        let Advice { suited: advised, mut why, unknowns_per_node, .. } =
            advise(&parts, hermitian, Needs { null_vectors, ..Needs::default() });
        let mut suited = advised;
        let make = |suited, method| make((suited, unknowns_per_node), a, &parts, method);
        let null = if suited == Suited::Saddle { NullVectors::of_saddle(&parts)? } else { null };
        let null = null.filter(|null| null.count() > 0);
        let positive = hermitian && parts.diagonal().iter().all(|d| d.widen().re() > 0.0);
        let method = match suited {
            Suited::Saddle => Method::Minres,
            Suited::Ilu | Suited::Ilut => Method::BiCgStab,
            _ if positive => Method::Cg,
            _ => Method::BiCgStab,
        };
        let mut made = make(suited, method);
        if let (Suited::Ilu, Ok(Some(m))) = (suited, &mut made)
            && instability(&mut **m, a, &parts)?.is_some()
        {
            suited = Suited::Ilut;
            made = make(suited, method);
        }
        if suited == Suited::Ilu && made.as_ref().is_err_and(is_unsuited) {
            suited = Suited::Ilut;
            made = make(suited, method);
        }
        let mut made = made.map(|made| (title_of(suited), made));
        if suited == Suited::Ilut && made.as_ref().is_err_and(is_unsuited) {
            made = fallback_factors(a.context(), &parts, &IluParams::default()).map(titled);
        }
        for other in [Suited::Jacobi, Suited::None] {
            if !made.as_ref().is_err_and(is_unsuited) {
                break;
            }
            made = make(other, method).map(|made| (title_of(other), made));
        }
        let made = made?;
        let solver = solver_of(method, (a.context(), a.rows()), stopping)?;
        let stopping = stopping.clone();
        if made.0 != title_of(advised) {
            why.push_str("; the first preconditioner was unstable or could not be set up");
        }
        if let Some(null) = &null {
            why.push_str("; singular along ");
            why.push_str(&null.words());
        }
        let stages = vec![Stage { method, preconditioner: Some(made) }];
        let (stage, is_exhausted, is_examined) = (0, false, false);
        Ok(System {
            a,
            parts,
            hermitian,
            null,
            stages,
            stage,
            is_exhausted,
            is_examined,
            fails_at_limit,
            why,
            solver,
            stopping,
        })
    }

    /// An error for rows and columns of zeros. Notes which unknowns have arbitrary values, and which column of b has no solution.
    fn check(&mut self, b: &[T]) -> Result<()> {
        if let Some(words) = check_zeros(&self.parts, b)? {
            self.why.push_str("; ");
            self.why.push_str(&words);
        }
        let tolerance = self.stopping.tolerance_of::<T>();
        if let Some((column, part)) = self.null.as_ref().and_then(|null| null.obstacle(b, tolerance)) {
            let column = column + 1;
            let words =
                format!("; no solution for column {column} of b, whose component along them is {part:.1e} of its norm");
            self.why.push_str(&words);
            self.is_examined = true;
        }
        Ok(())
    }

    /// The next method for a system on which the current one failed: GMRES, then MINRES for Hermitian matrices; `None` after the last.
    fn next(&self) -> Option<Method> {
        match (self.stages[self.stage].method, self.stage) {
            (Method::Gmres(_), 0) => None,
            (_, 0) => Some(Method::Gmres(RESTART)),
            (_, 1) if self.hermitian => Some(Method::Minres),
            _ => None,
        }
    }

    /// The stage that the preconditioner in use belongs to.
    fn source(&self) -> usize {
        if self.stages[self.stage].preconditioner.is_some() { self.stage } else { 0 }
    }

    /// The preconditioner of a method that takes over.
    fn take_over(&self, method: Method) -> Result<Option<(&'static str, Optional<T>)>> {
        // Without a preconditioner it needs no definite matrix, and its residual never rises.
        if method == Method::Minres {
            return Ok(Some((title_of(Suited::None), None)));
        }
        match fallback_factors(self.a.context(), &self.parts, &IluParams::default()) {
            Ok(made) => Ok(Some(titled(made))),
            Err(error) if is_unsuited(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn go_to(&mut self, stage: usize) -> Result<()> {
        self.solver = solver_of(self.stages[stage].method, (self.a.context(), self.a.rows()), &self.stopping)?;
        self.stage = stage;
        Ok(())
    }

    /// The next method from here on.
    fn advance(&mut self, method: Method) -> Result<()> {
        if self.stage + 1 == self.stages.len() {
            let preconditioner = self.take_over(method)?;
            self.why.push_str(if self.stage == 0 { "; the first method gave up" } else { ", and the second" });
            self.stages.push(Stage { method, preconditioner });
        }
        self.go_to(self.stage + 1)
    }

    fn has_failed(&self, stop: Stop) -> bool {
        let at_limit = self.fails_at_limit && self.stage == 0 && stop == Stop::IterationLimit;
        stop.is_failure_of_method() || at_limit
    }

    /// Says whether the first column that failed has no solution. Returns whether `progress` ended the search.
    fn judge(&mut self, report: &Report, b: &Vector<T>, x: &Vector<T>, progress: Progress<'_>) -> Result<bool> {
        let is_near = report.relative_residual <= NEAR * self.stopping.tolerance_of::<T>();
        if self.is_examined || is_near || matches!(report.stop, Stop::Converged | Stop::Cancelled) {
            return Ok(false);
        }
        let (b, x) = (b.to_vec()?, x.to_vec()?);
        let mut is_ended = false;
        // Reaching a limit says nothing about the matrix.
        let found = if report.stop == Stop::IterationLimit && self.stage == 0 {
            verdict(&self.parts, &b, &x)
        } else {
            self.is_examined = true;
            let go_on = &mut |_: usize, _: f64| {
                let flow = progress(report.iterations, report.relative_residual);
                is_ended |= flow.is_break();
                flow
            };
            // A device failure during the search for null vectors is no reason to lose x.
            diagnose_singularity(self.a.context(), &self.parts, &b, &x, go_on).unwrap_or(None)
        };
        if let Some(words) = found {
            self.is_examined = true;
            self.why.push_str("; ");
            self.why.push_str(&words);
        }
        Ok(is_ended)
    }
}

impl<T: Element + Coarsened> Columns<T> for System<'_, T> {
    fn column(&mut self, b: &Vector<T>, x: &mut Vector<T>, progress: Progress<'_>) -> Result<Report> {
        if std::mem::take(&mut self.is_exhausted) && self.stage > 0 {
            self.go_to(0)?;
        }
        let mut before: Option<Report> = None;
        loop {
            let source = self.source();
            let made = self.stages[source].preconditioner.as_mut().and_then(|(_, made)| made.as_mut());
            let m = made.map(|m| &mut **m as &mut dyn Preconditioner<T>);
            let start = before.is_some().then(|| x.copy_range(0..x.len())).transpose()?;
            // From an x that has grown along null vectors, the next method would have no accuracy left.
            let has_grown = before.as_ref().is_some_and(|before| before.stop == Stop::Unbounded);
            if has_grown {
                x.fill(T::zero())?;
            }
            let mut report = self.solver.solve_with(self.a, m, b, x, progress)?;
            let is_settled = has_grown && report.stop == Stop::LeastSquares;
            if let (Some(start), Some(before), false) = (start, &before, is_settled) {
                let has_risen;
                (report, has_risen) = report.or_start(before.relative_residual);
                if has_risen {
                    ops::copy(&start, x)?;
                }
                if has_grown && report.stop.is_failure_of_method() {
                    report.stop = Stop::Unbounded;
                }
            }
            let stop = report.stop;
            report = report.after(before);
            let Some(next) = self.next().filter(|_| self.has_failed(stop)) else {
                self.is_exhausted = !matches!(stop, Stop::Converged | Stop::RoundingFloor);
                if self.judge(&report, b, x, progress)? {
                    report.stop = Stop::Cancelled;
                }
                return Ok(report);
            };
            before = Some(report);
            self.advance(next)?;
        }
    }

    fn words(&self) -> (&'static str, &'static str) {
        let preconditioner = self.stages[self.source()].preconditioner.as_ref().map_or("", |made| made.0);
        (title(self.stages[self.stage].method), preconditioner)
    }
}

/// A rectangular system.
struct Smallest<'a, T: Scalar> {
    a: &'a Csr<T>,
    solver: LeastSquares<T>,
}

impl<T: Scalar> Columns<T> for Smallest<'_, T> {
    fn column(&mut self, b: &Vector<T>, x: &mut Vector<T>, progress: Progress<'_>) -> Result<Report> {
        Ok(self.solver.solve_with(self.a, None, b, x, progress)?.report)
    }

    fn words(&self) -> (&'static str, &'static str) {
        ("LSMR", "")
    }
}

/// The solution as an object of the kind of b.
fn like<T: Element>(b: &Stored<T>, x: Dense<T>) -> Result<Object> {
    Ok(match b {
        Stored::Vector(_) => Object::from(x.as_vector().copy_range(0..x.rows())?),
        _ => Object::from(x),
    })
}

/// The columns of x with a report each.
fn solved<T: Scalar>(
    solver: &mut dyn Columns<T>,
    (context, cols): (&Context, usize),
    (b, rows, count): (&Vector<T>, usize, usize),
    progress: Progress<'_>,
) -> Result<(Dense<T>, Vec<Report>)> {
    let mut all = Dense::zeros(context, cols, count)?;
    let mut reports = Vec::with_capacity(count);
    for column in 0..count {
        let right = b.copy_range(column * rows..(column + 1) * rows)?;
        let mut x = Vector::zeros(context, cols)?;
        let report = solver.column(&right, &mut x, progress)?;
        all.as_vector_mut().write_slice(column * cols, &x)?;
        let ends = report.stop == Stop::Cancelled;
        reports.push(report);
        if ends {
            break;
        }
    }
    Ok((all, reports))
}

impl Registry {
    /// Solves A x = b for a sparse matrix and one or more columns of b, by what suits the matrix: [`advise`] takes the preconditioner; the method is
    /// CG for Hermitian matrices with a positive diagonal, MINRES for saddle points, else BiCGStab. GMRES takes over if one of them gives up or reaches the
    /// default limit of [`Automatic::stopping`], and then MINRES for Hermitian matrices; the next column begins with the method that solved the last one.
    /// A system with a matrix that is not square is solved in the least-squares sense by LSMR. Gives the handle of x, a new object of the kind of b, and what was done;
    /// columns after one that `progress` ended are 0 and have no report.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Shape`]; [`Error::Value`] that names the row (and column) of an entry of A or b that is not finite, a
    /// row of zeros where b is not 0, or more columns of zeros than rows of zeros; those of the solvers. Failure to converge is no error: see [`Report::stop`],
    /// and [`Automatic::why`] for singular matrices.
    pub fn solve_automatic(
        &self,
        a: u64,
        b: u64,
        stopping: &Stopping,
        progress: Progress<'_>,
    ) -> Result<(u64, Automatic)> {
        stopping.check()?;
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
                let (of_b, parts, host) = ((values, rows, count), a.to_parts()?, values.to_vec()?);
                check_finite(&parts, &host)?;
                let place = (a.context(), a.cols());
                if a.rows() != a.cols() {
                    let params = LeastSquaresParams::from(stopping.clone());
                    let solver = LeastSquares::new(a.context(), a.rows(), a.cols(), params)?;
                    let mut solver = Smallest { a, solver };
                    let (x, reports) = solved(&mut solver, place, of_b, progress)?;
                    let (method, preconditioner) = Columns::<T>::words(&solver);
                    let why = format!("{} x {} is not square", a.rows(), a.cols());
                    return Ok((like(b, x)?, Automatic { method, preconditioner, why, reports }));
                }
                let mut system = System::new(a, parts, stopping, stopping.max_iterations == MOST)?;
                system.check(&host)?;
                drop(host);
                let (x, reports) = solved(&mut system, place, of_b, progress)?;
                let (method, preconditioner) = system.words();
                let why = system.why;
                Ok((like(b, x)?, Automatic { method, preconditioner, why, reports }))
            })
        })?;
        Ok((self.insert(x), found))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

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

    #[test]
    fn methods_that_take_over_are_kept_for_the_next_columns() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let parts = chain(300, 1e-6);
        let (a, b) = (Csr::from_parts(&context, &parts).unwrap(), Vector::from_slice(&context, &waves(300)).unwrap());
        // CG takes about as many iterations as there are points; the factors are nearly exact.
        let stopping = Automatic::stopping().max_iterations(20);
        let mut x = Vector::zeros(&context, 300).unwrap();
        let mut system = System::new(&a, parts.clone(), &stopping, true).unwrap();
        let first = system.column(&b, &mut x, &mut go_on).unwrap();
        assert!(first.stop == Stop::Converged && first.iterations > 20, "{first}");
        assert_eq!((system.words(), system.stage), (("GMRES", "complete LU factors"), 1));
        x.fill(0.0).unwrap();
        let second = system.column(&b, &mut x, &mut go_on).unwrap();
        assert!(second.stop == Stop::Converged && second.iterations < 20, "{second}");
        assert_eq!((system.stages.len(), system.next()), (2, Some(Method::Minres)));
        assert_eq!(system.why.matches("gave up").count(), 1);
        // A later failure takes the third method, after which a column begins with the first again, and nothing is made twice.
        system.advance(Method::Minres).unwrap();
        system.is_exhausted = true;
        x.fill(0.0).unwrap();
        let third = system.column(&b, &mut x, &mut go_on).unwrap();
        assert!(third.stop == Stop::Converged && third.iterations > 20, "{third}");
        assert_eq!((system.words(), system.stages.len()), (("GMRES", "complete LU factors"), 3));
        // The caller's own limit ends the solve.
        let mut system = System::new(&a, parts, &stopping, false).unwrap();
        x.fill(0.0).unwrap();
        let report = system.column(&b, &mut x, &mut go_on).unwrap();
        assert_eq!((report.stop, report.iterations, system.stage), (Stop::IterationLimit, 20, 0));
    }

    fn solve(parts: &CsrParts<f64>, b: &[f64]) -> Result<(Vec<f64>, Automatic)> {
        let (registry, context) = (Registry::new(), Context::global().unwrap());
        let a = Csr::from_parts(&context, parts).unwrap();
        let a = registry.insert(Object::from(a));
        let b = registry.upload_vector(&context, b).unwrap();
        let (x, found) = registry.solve_automatic(a, b, &Automatic::stopping(), &mut go_on)?;
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
            let words = solve(a, &b).unwrap_err().to_string();
            assert!(words.contains(needle), "{words}");
        }
    }
}
