//! Krylov solvers that are made once, on handles.

use std::sync::Arc;

use clinalg::amg::{Amg, AmgParams};
use clinalg::solve::{
    BiCgStab, Cg, FlexibleCg, Gmres, GmresParams, Idr, IdrParams, KrylovVector, Minres, Preconditioner, Progress,
    Report, Richardson, Solver, Stopping,
};
use clinalg::{Context, Csr, Error, Result, Scalar, Vector};

use super::preconditioner::{EntryPreconditioner, PreconditionerKind, PreconditionerParams, jacobi, not_sparse};
use super::solve::{INVERSE, Inverse, Method, Preconditioning, check_inverse};
use crate::kind::Kind;
use crate::object::cell::Cell;
use crate::object::{Krylov, KrylovSolver, Matrix, Object, Remade, SolverPreconditioner, Stored, typed};
use crate::registry::{Operand, Registry};

/// What errors call the handle of a solver.
const ARGUMENT: &str = "solver";

/// A solver that uses this method, for vectors like `vector`.
pub(super) fn solver_of<T: Scalar, V: KrylovVector<Scalar = T>>(
    method: Method,
    vector: &V,
    stopping: &Stopping,
) -> Result<Box<dyn Solver<T, V> + Send>> {
    let stopping = stopping.clone();
    Ok(match method {
        Method::Cg => Box::new(Cg::like(vector, stopping.into())?),
        Method::BiCgStab => Box::new(BiCgStab::like(vector, stopping.into())?),
        Method::Gmres(restart) => Box::new(Gmres::like(vector, GmresParams::from(stopping).restart(restart))?),
        Method::Minres => Box::new(Minres::like(vector, stopping.into())?),
        Method::Idr(dimensions) => Box::new(Idr::like(vector, IdrParams::from(stopping).dimensions(dimensions))?),
        Method::FlexibleCg => Box::new(FlexibleCg::like(vector, stopping.into())?),
        Method::Richardson if T::IS_COMPLEX => {
            let expected = "a real matrix for Richardson iteration; BiCGStab and GMRES take complex ones";
            return Err(Error::value("a", expected, "complex"));
        }
        Method::Richardson => Box::new(Richardson::like(vector, stopping.into())?),
    })
}

/// A preconditioner with the parameters that it was made with.
struct Refactored<T: Scalar> {
    made: EntryPreconditioner<T>,
    params: PreconditionerParams,
}

impl<T: Scalar> Preconditioner<T> for Refactored<T> {
    fn size(&self) -> usize {
        self.made.size()
    }

    fn context(&self) -> &Context {
        self.made.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        self.made.apply(r, z)
    }
}

impl<T: Scalar> Remade<T> for Refactored<T> {
    fn remake(&mut self, a: &Csr<T>) -> Result<()> {
        self.made = EntryPreconditioner::new(a, &self.params)?;
        Ok(())
    }
}

/// For hierarchies that are [reusable](clinalg::amg::AmgParams::reusable).
impl<T: Scalar> Remade<T> for Amg<T> {
    fn remake(&mut self, a: &Csr<T>) -> Result<()> {
        self.refill(a)
    }
}

/// The sparse matrix that a preconditioner is made of.
pub(super) fn entries<'a, T: Scalar>(a: &Matrix<'a, T>) -> Result<&'a Csr<T>> {
    match a {
        Matrix::Stored(Stored::Csr(a)) => Ok(a),
        Matrix::Stored(a) => Err(not_sparse(a.kind().words())),
        Matrix::Applied(_) => Err(not_sparse("operator")),
    }
}

fn solver_preconditioner<T: Scalar>(
    preconditioning: Preconditioning,
    a: &Matrix<'_, T>,
) -> Result<SolverPreconditioner<T>> {
    Ok(match preconditioning {
        Preconditioning::None | Preconditioning::Inverse(_) => SolverPreconditioner::None,
        Preconditioning::Jacobi => SolverPreconditioner::Jacobi(jacobi(&a.diagonal()?)?),
        Preconditioning::Saddle => {
            let expected = "an approximate inverse for saddle points; the function for saddle points makes one";
            return Err(Error::value(INVERSE, expected, "the kind alone"));
        }
        Preconditioning::Of(PreconditionerKind::Amg) => {
            SolverPreconditioner::Entries(Box::new(Amg::new(entries(a)?, &AmgParams::default().reusable(true))?))
        }
        Preconditioning::Of(kind) => {
            let params = kind.params().expect("only algebraic multigrid has none");
            SolverPreconditioner::Entries(Box::new(Refactored {
                made: EntryPreconditioner::new(entries(a)?, &params)?,
                params,
            }))
        }
    })
}

/// The number of rows; an error that names the matrix unless it is square.
pub(super) fn check_square(a: &Matrix<'_, impl Scalar>) -> Result<usize> {
    match a.shape() {
        (rows, cols) if rows == cols => Ok(rows),
        (rows, cols) => {
            let (expected, got) =
                ("a square matrix; LSQR and LSMR take rectangular ones".into(), format!("{rows} x {cols}"));
            Err(Error::Shape { argument: "a", expected, got })
        }
    }
}

impl Registry {
    /// A solver of A x = b for one matrix or operator and many right-hand sides: the method with its memory, and the preconditioner. It keeps
    /// `a`, and the object of [`Preconditioning::Inverse`], alive after their handles are released. Gives its handle, which
    /// [`Registry::release`] takes with [`Kind::SOLVER`].
    ///
    /// # Errors
    /// [`Error::Handle`], also for matrices on a team; [`Error::Shape`] unless `a` is square; those of the method and of the preconditioner.
    pub fn solver(&self, method: Method, preconditioning: Preconditioning, a: u64, stopping: &Stopping) -> Result<u64> {
        let of_a = Operand::new("a", a, Kind::MATRIX);
        let of_inverse = match preconditioning {
            Preconditioning::Inverse(inverse) => Some(Operand::new(INVERSE, inverse, Kind::MATRIX)),
            _ => None,
        };
        // Before the objects are locked, so that they are those that the solver keeps.
        let (cell, inverse) = (self.cell(&of_a)?, of_inverse.as_ref().map(|inverse| self.cell(inverse)).transpose()?);
        stopping.check()?;
        let inputs: Vec<_> = std::iter::once(of_a).chain(of_inverse).collect();
        let object = self.call(&inputs, None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = inputs[0].matrix::<T>("a")?;
                let (n, context) = (check_square(&a)?, a.operator()?.context());
                if let Some(inverse) = inputs.get(1) {
                    check_inverse(&inverse.matrix::<T>(INVERSE)?, (context, n))?;
                }
                let preconditioner = match inverse {
                    Some(inverse) => SolverPreconditioner::Inverse(inverse),
                    None => solver_preconditioner(preconditioning, &a)?,
                };
                let solver = solver_of(method, &Vector::<T>::zeros(context, n)?, stopping)?;
                Ok(Object::from(KrylovSolver::new(Krylov { solver, preconditioner, a: cell })))
            })
        })?;
        Ok(self.insert(object))
    }

    /// Solves for b; x as in [`Registry::solve`]. Solves into an existing x, after a first one, take no memory on the device. `progress` may read A and b.
    ///
    /// # Errors
    /// [`Error::Handle`], [`Error::Precision`], [`Error::Length`], [`Error::Context`]; [`Error::Value`] where x is an object that the solver reads.
    pub fn solver_solve(
        &self,
        solver: u64,
        (b, x): (u64, Option<u64>),
        progress: Progress<'_>,
    ) -> Result<(u64, Report)> {
        let of_solver = Operand::new(ARGUMENT, solver, Kind::SOLVER);
        let mut cells = self.read_by(of_solver)?;
        let inputs = [of_solver, Operand::new("b", b, Kind::FULL)];
        self.solve_into(x, ("b", b), |x| {
            let output = Some(Operand::new("x", x, Kind::FULL));
            loop {
                let solved = self.call_beside(&inputs, &cells, output, |inputs, objects, x| {
                    let x = x.expect("an output was named");
                    typed!(inputs[0], T => {
                        let solver = inputs[0].expect_content::<KrylovSolver<T>>();
                        let a = objects[0].matrix::<T>("a")?;
                        let b = inputs[1].stored::<T>("b")?.vector("b")?;
                        let x = x.stored_mut::<T>("x")?.vector_mut("x")?;
                        let Krylov { solver, preconditioner, a: held } = &mut *solver.lock()?;
                        if !Arc::ptr_eq(held, &cells[0]) {
                            return Ok(None);
                        }
                        let mut inverse;
                        let m: Option<&mut dyn Preconditioner<T>> = match preconditioner {
                            SolverPreconditioner::None => None,
                            SolverPreconditioner::Jacobi(m) => Some(m),
                            SolverPreconditioner::Entries(m) => Some(&mut **m),
                            SolverPreconditioner::Inverse(_) => {
                                let matrix = objects[1].matrix::<T>(INVERSE)?;
                                inverse = Inverse(matrix.operator()?);
                                check_inverse(&matrix, (b.context(), b.len()))?;
                                return solver.solve_with(a.operator()?, Some(&mut inverse), b, x, progress).map(Some);
                            }
                        };
                        solver.solve_with(a.operator()?, m, b, x, progress).map(Some)
                    })
                })?;
                match solved {
                    Some(report) => return Ok(report),
                    // Another thread has refilled the solver with another matrix since.
                    None => cells = self.read_by(of_solver)?,
                }
            }
        })
    }

    /// The objects that a solve reads, the matrix first.
    fn read_by(&self, of_solver: Operand) -> Result<Vec<Cell>> {
        self.call(
            &[of_solver],
            None,
            |inputs, _| typed!(inputs[0], T => inputs[0].expect_content::<KrylovSolver<T>>().objects()),
        )
    }

    /// Makes the preconditioner for the present values of the matrix, or for `a`, which then takes its place: it has the same size and type
    /// of values, and for algebraic multigrid the same positions.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for a solver with an approximate inverse and the same matrix, as the solver cannot make that;
    /// [`Error::Shape`], [`Error::Precision`], [`Error::Context`] that names `a`; those of the preconditioner.
    pub fn solver_refill(&self, solver: u64, a: Option<u64>) -> Result<()> {
        let of_solver = Operand::new(ARGUMENT, solver, Kind::SOLVER);
        let of_a = a.map(|a| Operand::new("a", a, Kind::MATRIX));
        loop {
            let cell = match &of_a {
                Some(of_a) => self.cell(of_a)?,
                None => self.read_by(of_solver)?.swap_remove(0),
            };
            let done = self.call_beside(&[of_solver], std::slice::from_ref(&cell), None, |inputs, objects, _| {
                typed!(inputs[0], T => {
                    let solver = inputs[0].expect_content::<KrylovSolver<T>>();
                    let matrix = objects[0].matrix::<T>("a")?;
                    let n = check_square(&matrix)?;
                    if n != solver.size {
                        let (expected, got) = (format!("{0} x {0}", solver.size), format!("{n} x {n}"));
                        return Err(Error::Shape { argument: "a", expected, got });
                    }
                    let state = &mut *solver.lock()?;
                    // Another thread has refilled the solver with another matrix since.
                    if a.is_none() && !Arc::ptr_eq(&state.a, &cell) {
                        return Ok(false);
                    }
                    if !matrix.operator()?.context().same(state.solver.context()) {
                        return Err(Error::Context { argument: "a" });
                    }
                    match &mut state.preconditioner {
                        SolverPreconditioner::None => {}
                        SolverPreconditioner::Jacobi(m) => *m = jacobi(&matrix.diagonal()?)?,
                        SolverPreconditioner::Entries(m) => m.remake(entries(&matrix)?)?,
                        SolverPreconditioner::Inverse(_) if a.is_none() => {
                            let reason = "the solver was given its preconditioner, options.inverse; refill that object by clinalg_amg_refill";
                            return Err(Error::unsuitable(ARGUMENT, reason));
                        }
                        SolverPreconditioner::Inverse(_) => {}
                    }
                    state.a = cell.clone();
                    Ok(true)
                })
            })?;
            if done {
                return Ok(());
            }
        }
    }

    /// Changes when the next solves end.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] as [`Stopping::check`].
    pub fn solver_set_stopping(&self, solver: u64, stopping: &Stopping) -> Result<()> {
        stopping.check()?;
        self.call(&[Operand::new(ARGUMENT, solver, Kind::SOLVER)], None, |inputs, _| {
            typed!(inputs[0], T => {
                *inputs[0].expect_content::<KrylovSolver<T>>().lock()?.solver.stopping_mut() = stopping.clone();
            });
            Ok(())
        })
    }
}
