//! Solves of sparse systems by the method and the preconditioner that suit the matrix, on handles.

use clinalg::precond::{
    Ilu, IluParams, Jacobi, Needs, Preconditioner, Suited, advise, instability, is_hermitian, last_threshold,
};
use clinalg::solve::{LeastSquares, LeastSquaresParams, Progress, Report, Solver, Stop, Stopping};
use clinalg::{Context, Csr, CsrParts, Dense, Error, Result, Scalar, Vector};

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

/// How a sparse system was solved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Automatic {
    /// The method that the last column ended with, in words.
    pub method: &'static str,
    /// The preconditioner, in words; nothing where there is none.
    pub preconditioner: &'static str,
    /// Why they were taken.
    pub why: String,
    /// A report for each column of b.
    pub reports: Vec<Report>,
}

impl Automatic {
    /// When [`Registry::solve_automatic`] should end by default.
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
        Suited::Ilu => "ILU(0)",
        Suited::Ilut => "ILUT",
        Suited::Cholesky => "IC(0)",
        Suited::Saddle => "a block preconditioner for saddle points",
        _ => "",
    }
}

/// A preconditioner, or none.
type Optional<T> = Option<Box<dyn Preconditioner<T>>>;

/// The preconditioner of a matrix, whose host form is `parts`.
fn make<T: Element + Coarsened>(
    suited: Suited,
    a: &Csr<T>,
    parts: &CsrParts<T>,
    method: Method,
) -> Result<Optional<T>> {
    let of = |kind: PreconditionerKind| -> Result<Optional<T>> {
        let params = kind.params().expect("only algebraic multigrid has none");
        Ok(Some(Box::new(Made::new(a, &params)?)))
    };
    match suited {
        Suited::Jacobi => Ok(Some(Box::new(Jacobi::new(&a.diagonal()?)?))),
        Suited::Amg => Ok(Some(T::hierarchy(a)?)),
        Suited::Ilu => of(PreconditionerKind::Ilu),
        Suited::Ilut => of(PreconditionerKind::Ilut),
        Suited::Cholesky => of(PreconditionerKind::Cholesky),
        Suited::Saddle => Ok(Some(T::saddle(a, &found_split(parts)?, shape_for(method))?)),
        _ => Ok(None),
    }
}

/// Whether another preconditioner may do: an error of the values of the matrix or of memory.
fn is_unsuited(error: &Error) -> bool {
    matches!(error, Error::Value { .. } | Error::Singular { .. } | Error::Allocation { .. })
}

/// What solves the columns of b one by one.
trait Columns<T: Scalar> {
    fn column(&mut self, b: &Vector<T>, x: &mut Vector<T>, progress: Progress<'_>) -> Result<Report>;
    /// Method and preconditioner in words.
    fn words(&self) -> (&'static str, &'static str);
}

/// A square system.
struct System<'a, T: Scalar> {
    a: &'a Csr<T>,
    parts: CsrParts<T>,
    hermitian: bool,
    method: Method,
    suited: Suited,
    /// The reason for method and preconditioner.
    why: String,
    preconditioner: Optional<T>,
    solver: Box<dyn Solver<T> + Send>,
    stopping: Stopping,
}

impl<'a, T: Element + Coarsened> System<'a, T> {
    fn new(a: &'a Csr<T>, parts: CsrParts<T>, stopping: &Stopping) -> Result<System<'a, T>> {
        let hermitian = is_hermitian(&parts)?;
        let advice = advise(&parts, hermitian, Needs::default());
        let mut suited = advice.suited;
        let positive = hermitian && parts.diagonal().iter().all(|d| d.widen().re() > 0.0);
        let method = match suited {
            Suited::Saddle => Method::Minres,
            Suited::Ilu | Suited::Ilut => Method::BiCgStab,
            _ if positive => Method::Cg,
            _ => Method::BiCgStab,
        };
        let mut made = make(suited, a, &parts, method);
        if let (Suited::Ilu, Ok(Some(m))) = (suited, &mut made)
            && instability(&mut **m, a, &parts)?.is_some()
        {
            suited = Suited::Ilut;
            made = make(suited, a, &parts, method);
        }
        for other in [Suited::Jacobi, Suited::None] {
            if !made.as_ref().is_err_and(is_unsuited) {
                break;
            }
            suited = other;
            made = make(suited, a, &parts, method);
        }
        let solver = solver_of(method, (a.context(), a.rows()), stopping)?;
        let stopping = stopping.clone();
        let mut why = advice.why;
        if suited != advice.suited {
            why.push_str("; the first preconditioner was unstable or could not be made");
        }
        Ok(System { a, parts, hermitian, method, suited, why, preconditioner: made?, solver, stopping })
    }

    /// The next method for a system on which the one before failed: GMRES, after it MINRES for Hermitian matrices; `None` after the last.
    fn next(&self, failed: usize) -> Option<Method> {
        match (self.method, failed) {
            (Method::Gmres(_), 1) if self.hermitian => Some(Method::Minres),
            (Method::Gmres(_), _) | (_, 1..) => None,
            _ => Some(Method::Gmres(RESTART)),
        }
    }

    fn change(&mut self, method: Method) -> Result<()> {
        self.method = method;
        self.solver = solver_of(self.method, (self.a.context(), self.a.rows()), &self.stopping)?;
        if method == Method::Minres {
            (self.suited, self.preconditioner) = (Suited::None, None);
            return Ok(());
        }
        if self.suited != Suited::Jacobi {
            let params = IluParams::default().kind(last_threshold(self.parts.nnz()));
            match Ilu::from_parts(self.a.context(), &self.parts, &params) {
                Ok(made) => {
                    self.suited = Suited::Ilut;
                    self.preconditioner = Some(Box::new(made));
                }
                Err(error) if is_unsuited(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<T: Element + Coarsened> Columns<T> for System<'_, T> {
    fn column(&mut self, b: &Vector<T>, x: &mut Vector<T>, progress: Progress<'_>) -> Result<Report> {
        let mut before: Vec<f64> = Vec::new();
        let mut failed = 0;
        loop {
            let m = self.preconditioner.as_mut().map(|m| &mut **m as &mut dyn Preconditioner<T>);
            let report = self.solver.solve_with(self.a, m, b, x, progress)?;
            let next = self.next(failed).filter(|_| report.stop.is_failure_of_method());
            let Some(next) = next else { return Ok(report.after(before)) };
            before = report.after(before).history;
            failed += 1;
            self.change(next)?;
            self.why.push_str(if failed == 1 { "; the first method gave up" } else { ", and the second" });
        }
    }

    fn words(&self) -> (&'static str, &'static str) {
        (title(self.method), title_of(self.suited))
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
    /// CG for Hermitian matrices with a positive diagonal, MINRES for saddle points, else BiCGStab, and GMRES goes on where one of them gives up.
    /// A matrix that is not square is solved in the sense of least squares by LSMR. Gives the handle of x, a new object of the kind of b, and what was done;
    /// columns after one that `progress` ended are 0 and have no report.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Shape`]; those of the solvers. Not to converge is no error: see [`Report::stop`].
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
                let of_b = (values, rows, count);
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
                let mut system = System::new(a, a.to_parts()?, stopping)?;
                let (x, reports) = solved(&mut system, place, of_b, progress)?;
                let (method, preconditioner) = system.words();
                let why = system.why;
                Ok((like(b, x)?, Automatic { method, preconditioner, why, reports }))
            })
        })?;
        Ok((self.insert(x), found))
    }
}
