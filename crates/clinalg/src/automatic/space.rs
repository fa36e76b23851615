//! Where a system is solved: on one device or on a team.

use std::borrow::Cow;

use once_cell::unsync::OnceCell;

use super::inspection::inspect;
use super::preconditioner::{Boxed, Prepared, Source, factors, in_a_line, or_by_unknowns};
use super::scalar::{SystemScalar, narrowed};
use super::{AutomaticParams, Method, Observer, PreconditionerKind};
use crate::amg::Coarsening;
use crate::matrix::{Inspection, unknowns_per_node};
use crate::ops::{self, conj_transpose};
use crate::precond::{self, Jacobi, NullVectors, Preconditioner, fallback_factors};
use crate::solve::{
    BiCgStab, Cg, FlexibleCg, Gmres, GmresParams, Idr, IdrParams, KrylovMemory, LeastSquares, LeastSquaresMethod,
    LeastSquaresParams, Minres, Progress, Report, Resumable, Solver, Stopping,
};
use crate::team::{self, Partition, Team};
use crate::{Context, Csr, CsrParts, Error, Real, Result, Scalar, Vector};

/// A matrix with the device or the devices on which systems with it are solved: [`OneDevice`] or [`OnTeam`].
pub trait Space {
    /// The type of the numbers.
    type Scalar: SystemScalar;
    /// A vector.
    type Vector;
    /// A preconditioner that was set up.
    type Preconditioner;
    /// A method with its vectors.
    type Solver;

    /// Whether it is a team, which has fewer methods and preconditioners.
    const IS_TEAM: bool;

    /// The host form of the matrix.
    ///
    /// # Errors
    /// Those of a download.
    fn parts(&self) -> Result<&CsrParts<Self::Scalar>>;

    /// What the entries of the matrix show.
    ///
    /// # Errors
    /// Those of the device.
    fn inspect(&self) -> Result<Inspection>;

    /// The null vectors that are constant on a connected component of a Hermitian matrix.
    ///
    /// # Errors
    /// Those of the device.
    fn constant_null_vectors(&self, inspection: &Inspection) -> Result<NullVectors>;

    /// How many unknowns a node has, if the pattern of the matrix shows several.
    ///
    /// # Errors
    /// Those of the device.
    fn unknowns_per_node(&self) -> Result<Option<usize>>;

    /// The context for what is done on one device; `None` on a team.
    fn context(&self) -> Option<&Context>;

    /// How the matrix is stored, in a line or several.
    fn storage(&self) -> String;

    /// A vector with these values.
    ///
    /// # Errors
    /// Those of an allocation and of an upload.
    fn vector(&self, values: &[Self::Scalar]) -> Result<Self::Vector>;

    /// A copy.
    ///
    /// # Errors
    /// Those of an allocation.
    fn duplicate(&self, x: &Self::Vector) -> Result<Self::Vector>;

    /// Makes `y` equal to `x`.
    ///
    /// # Errors
    /// Those of the device.
    fn copy(&self, x: &Self::Vector, y: &mut Self::Vector) -> Result<()>;

    /// Sets the values of a vector.
    ///
    /// # Errors
    /// Those of an upload.
    fn write(&self, x: &mut Self::Vector, values: &[Self::Scalar]) -> Result<()>;

    /// All values of a vector, on every process.
    ///
    /// # Errors
    /// Those of a download.
    fn read(&self, x: &Self::Vector) -> Result<Vec<Self::Scalar>>;

    /// A method.
    ///
    /// # Errors
    /// [`Error::Value`] for a method that does not run here; those of an allocation.
    fn solver(&self, method: Method, params: &AutomaticParams) -> Result<Self::Solver>;

    /// The stopping criteria of a method, for changes.
    fn stopping_mut(solver: &mut Self::Solver) -> &mut Stopping;

    /// Sets up a preconditioner; `unknowns_per_node` is what the pattern of the matrix shows.
    ///
    /// # Errors
    /// [`Error::Value`] for a preconditioner that does not run here; those of the preconditioner.
    fn set_up(
        &self,
        kind: PreconditionerKind,
        method: Method,
        params: &AutomaticParams,
        unknowns_per_node: Option<usize>,
        observe: Observer<'_>,
    ) -> Result<Prepared<Self::Preconditioner>>;

    /// By how much a preconditioner enlarges the vector of ones if that shows that it is unstable: [`instability`](precond::instability).
    ///
    /// # Errors
    /// Those of the device.
    fn instability(
        &self,
        prepared: &mut Prepared<Self::Preconditioner>,
        inspection: &Inspection,
    ) -> Result<Option<f64>>;

    /// Factors to fall back on: [`fallback_factors`].
    ///
    /// # Errors
    /// [`Error::Value`] on a team, which has none; those of [`fallback_factors`].
    fn fallback(&self, params: &AutomaticParams) -> Result<Prepared<Self::Preconditioner>>;

    /// Solves A x = b from x, or from `memory` if there is one that is not empty, and leaves there what another solve
    /// needs to continue. A team leaves nothing.
    ///
    /// # Errors
    /// Those of the method.
    fn solve(
        &mut self,
        solver: &mut Self::Solver,
        prepared: &mut Prepared<Self::Preconditioner>,
        memory: Option<&mut KrylovMemory<Self::Scalar>>,
        b: &Self::Vector,
        x: &mut Self::Vector,
        progress: Progress<'_>,
    ) -> Result<Report>;
}

/// A matrix on one device.
pub struct OneDevice<'a, T: Scalar> {
    pub(super) a: &'a Csr<T>,
    parts: OnceCell<Cow<'a, CsrParts<T>>>,
}

impl<'a, T: Scalar> OneDevice<'a, T> {
    /// A matrix whose host form is downloaded where it is needed.
    pub fn new(a: &'a Csr<T>) -> OneDevice<'a, T> {
        OneDevice { a, parts: OnceCell::new() }
    }

    /// A matrix with its host form, which must be that of `a`.
    pub fn with_parts(a: &'a Csr<T>, parts: &'a CsrParts<T>) -> OneDevice<'a, T> {
        OneDevice { a, parts: OnceCell::with_value(Cow::Borrowed(parts)) }
    }
}

/// A method on one device.
pub enum DeviceSolver<T: Scalar> {
    /// A method that can be continued from a memory.
    Resumable(Box<dyn Resumable<T>>),
    /// A method that begins anew.
    Stationary(Box<dyn Solver<T>>),
    /// A method for matrices that need not be square.
    LeastSquares(Box<LeastSquares<T>>),
    /// Block conjugate gradients, whose vectors depend on the number of right-hand sides.
    Block(Stopping),
}

impl<T: SystemScalar> Space for OneDevice<'_, T> {
    type Scalar = T;
    type Vector = Vector<T>;
    type Preconditioner = Boxed<T>;
    type Solver = DeviceSolver<T>;

    const IS_TEAM: bool = false;

    fn parts(&self) -> Result<&CsrParts<T>> {
        self.parts.get_or_try_init(|| Ok(Cow::Owned(self.a.to_parts()?))).map(|parts| &**parts)
    }

    fn inspect(&self) -> Result<Inspection> {
        Inspection::of(self.a)
    }

    fn constant_null_vectors(&self, inspection: &Inspection) -> Result<NullVectors> {
        NullVectors::constants_on_device(self.a, inspection)
    }

    fn unknowns_per_node(&self) -> Result<Option<usize>> {
        unknowns_per_node(self.a)
    }

    fn context(&self) -> Option<&Context> {
        Some(self.a.context())
    }

    fn storage(&self) -> String {
        self.a.explain()
    }

    fn vector(&self, values: &[T]) -> Result<Vector<T>> {
        Vector::from_slice(self.a.context(), values)
    }

    fn duplicate(&self, x: &Vector<T>) -> Result<Vector<T>> {
        x.copy_range(0..x.len())
    }

    fn copy(&self, x: &Vector<T>, y: &mut Vector<T>) -> Result<()> {
        ops::copy(x, y)
    }

    fn write(&self, x: &mut Vector<T>, values: &[T]) -> Result<()> {
        x.write(values)
    }

    fn read(&self, x: &Vector<T>) -> Result<Vec<T>> {
        x.to_vec()
    }

    fn solver(&self, method: Method, params: &AutomaticParams) -> Result<DeviceSolver<T>> {
        let (context, n, stopping) = (self.a.context(), self.a.rows(), params.stopping.clone());
        let resumable: Box<dyn Resumable<T>> = match method {
            Method::Cg => Box::new(Cg::new(context, n, stopping.into())?),
            Method::FlexibleCg => Box::new(FlexibleCg::new(context, n, stopping.into())?),
            Method::Minres => Box::new(Minres::new(context, n, stopping.into())?),
            Method::BiCgStab => Box::new(BiCgStab::new(context, n, stopping.into())?),
            Method::Idr => Box::new(Idr::new(context, n, IdrParams::from(stopping).dimensions(params.idr_dimensions))?),
            Method::Gmres => Box::new(Gmres::new(context, n, GmresParams::from(stopping).restart(params.restart))?),
            Method::Richardson => return Ok(DeviceSolver::Stationary(T::richardson(context, n, stopping)?)),
            Method::Lsqr | Method::Lsmr => {
                let lsqr = method == Method::Lsqr;
                let method = if lsqr { LeastSquaresMethod::Lsqr } else { LeastSquaresMethod::Lsmr };
                let params = LeastSquaresParams::from(stopping).method(method);
                let solver = LeastSquares::new(context, n, self.a.cols(), params)?;
                return Ok(DeviceSolver::LeastSquares(Box::new(solver)));
            }
            Method::BlockCg => return Ok(DeviceSolver::Block(stopping)),
        };
        Ok(DeviceSolver::Resumable(resumable))
    }

    fn stopping_mut(solver: &mut DeviceSolver<T>) -> &mut Stopping {
        match solver {
            DeviceSolver::Resumable(solver) => solver.stopping_mut(),
            DeviceSolver::Stationary(solver) => solver.stopping_mut(),
            DeviceSolver::LeastSquares(solver) => solver.stopping_mut(),
            DeviceSolver::Block(stopping) => stopping,
        }
    }

    fn set_up(
        &self,
        kind: PreconditionerKind,
        method: Method,
        params: &AutomaticParams,
        unknowns_per_node: Option<usize>,
        observe: Observer<'_>,
    ) -> Result<Prepared<Boxed<T>>> {
        let params = &params.preconditioner_params;
        if !method.is_least_squares() {
            let parts = || self.parts();
            return Source { a: self.a, parts: &parts, params, unknowns_per_node, method }.set_up(kind, observe);
        }
        match kind {
            PreconditionerKind::None => Ok(Prepared::none()),
            PreconditionerKind::Jacobi => {
                Ok(Prepared::new(kind, Box::new(Jacobi::of_normal_equations(self.a)?), String::new()))
            }
            kind => {
                let normal = conj_transpose(self.a)?.multiply(self.a)?;
                let host = OnceCell::new();
                let parts = || host.get_or_try_init(|| normal.to_parts());
                Source { a: &normal, parts: &parts, params, unknowns_per_node, method }.set_up(kind, observe)
            }
        }
    }

    fn instability(&self, prepared: &mut Prepared<Boxed<T>>, inspection: &Inspection) -> Result<Option<f64>> {
        match &mut prepared.preconditioner {
            Some(m) => precond::instability(&mut **m, inspection.infinity_norm),
            None => Ok(None),
        }
    }

    fn fallback(&self, params: &AutomaticParams) -> Result<Prepared<Boxed<T>>> {
        let params = params.preconditioner_params.ilu(PreconditionerKind::Ilut);
        let m = fallback_factors(self.a.context(), self.parts()?, &params)?;
        Ok(factors(m, self.a.nnz()))
    }

    fn solve(
        &mut self,
        solver: &mut DeviceSolver<T>,
        prepared: &mut Prepared<Boxed<T>>,
        memory: Option<&mut KrylovMemory<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let m = prepared.preconditioner.as_mut().map(|m| &mut **m as &mut dyn Preconditioner<T>);
        match solver {
            DeviceSolver::Resumable(solver) => match memory {
                Some(memory) => solver.solve_from(memory, self.a, m, b, x, progress),
                None => solver.solve_with(self.a, m, b, x, progress),
            },
            DeviceSolver::Stationary(solver) => solver.solve_with(self.a, m, b, x, progress),
            DeviceSolver::LeastSquares(solver) => match memory {
                Some(memory) => Ok(solver.solve_from(memory, self.a, m, b, x, progress)?.report),
                None => Ok(solver.solve_with(self.a, m, b, x, progress)?.report),
            },
            DeviceSolver::Block(_) => {
                let expected = "a method for one right-hand side; `solve_block` takes several at once";
                Err(Error::value("method", expected, Method::BlockCg.name()))
            }
        }
    }
}

/// A real matrix on a team, with about as many entries on each rank.
pub struct OnTeam<'a, T: Real> {
    a: team::Csr<T>,
    parts: &'a CsrParts<T>,
    team: &'a Team,
    partition: Partition,
}

impl<'a, T: Real> OnTeam<'a, T> {
    /// Distributes a matrix over a team.
    ///
    /// # Errors
    /// Those of [`Partition::by_entries`] and [`team::Csr::new`].
    pub fn new(team: &'a Team, parts: &'a CsrParts<T>) -> Result<OnTeam<'a, T>> {
        let partition = Partition::by_entries(&parts.offsets, &vec![1.0; team.ranks()])?;
        Ok(OnTeam { a: team::Csr::new(team, parts, &partition)?, parts, team, partition })
    }

    fn hierarchy(
        &self,
        kind: PreconditionerKind,
        coarsening: Coarsening,
        params: &AutomaticParams,
        unknowns_per_node: Option<usize>,
        observe: Observer<'_>,
    ) -> Result<Prepared<TeamPreconditioner<T>>> {
        let params = &params.preconditioner_params;
        let amg = params.hierarchy(coarsening, unknowns_per_node);
        let near_null = params.near_null.as_ref().map(narrowed::<T>);
        let (team, a, partition) = (self.team, self.parts, &self.partition);
        let (m, remark) = or_by_unknowns(amg, unknowns_per_node.is_some(), observe, |amg| match &near_null {
            Some(vectors) => {
                let count = vectors.len().div_ceil(a.rows.max(1));
                team::Amg::with_near_null(team, a, partition, (vectors, count), amg)
            }
            None => team::Amg::new(team, a, partition, amg),
        })?;
        let shared = match m.shared_levels() {
            0 => "all levels on rank 0".to_owned(),
            1 => "1 level on all devices".to_owned(),
            levels => format!("{levels} levels on all devices"),
        };
        let description = match (m.report(), params.reports_levels) {
            (None, _) => shared + &remark,
            (Some(report), true) => format!("{shared}{remark}\n{report}"),
            (Some(report), false) => format!("{}, {shared}{remark}", in_a_line(report)),
        };
        Ok(Prepared::new(kind, Box::new(m), description))
    }
}

/// A preconditioner on a team.
pub type TeamPreconditioner<T> = Box<dyn team::Preconditioner<T>>;

/// A method on a team.
pub enum TeamSolver<T: Real> {
    /// Conjugate gradients.
    Cg(Box<team::Cg<T>>),
    /// BiCGStab.
    BiCgStab(Box<team::BiCgStab<T>>),
    /// Restarted GMRES.
    Gmres(Box<team::Gmres<T>>),
}

/// The error about a preconditioner that does not run on a team.
fn unsupported(kind: PreconditionerKind) -> Error {
    Error::value("preconditioner", "none, Jacobi or algebraic multigrid on several devices", kind.name())
}

impl<T: Real + SystemScalar> Space for OnTeam<'_, T> {
    type Scalar = T;
    type Vector = team::Vector<T>;
    type Preconditioner = TeamPreconditioner<T>;
    type Solver = TeamSolver<T>;

    const IS_TEAM: bool = true;

    fn parts(&self) -> Result<&CsrParts<T>> {
        Ok(self.parts)
    }

    fn inspect(&self) -> Result<Inspection> {
        inspect(self.parts)
    }

    fn constant_null_vectors(&self, _: &Inspection) -> Result<NullVectors> {
        Ok(NullVectors::constants(self.parts))
    }

    fn unknowns_per_node(&self) -> Result<Option<usize>> {
        Ok(precond::unknowns_per_node(self.parts))
    }

    fn context(&self) -> Option<&Context> {
        None
    }

    fn storage(&self) -> String {
        self.a.explain()
    }

    fn vector(&self, values: &[T]) -> Result<team::Vector<T>> {
        team::Vector::from_slice(self.team, &self.partition, values)
    }

    fn duplicate(&self, x: &team::Vector<T>) -> Result<team::Vector<T>> {
        let mut copy = team::Vector::zeros(self.team, &self.partition)?;
        copy.copy_from(x)?;
        Ok(copy)
    }

    fn copy(&self, x: &team::Vector<T>, y: &mut team::Vector<T>) -> Result<()> {
        y.copy_from(x)
    }

    fn write(&self, x: &mut team::Vector<T>, values: &[T]) -> Result<()> {
        x.write(values)
    }

    fn read(&self, x: &team::Vector<T>) -> Result<Vec<T>> {
        let mut values = vec![T::zero(); x.len()];
        x.read(&mut values)?;
        self.team.gather(&self.partition, 1, &mut values)?;
        Ok(values)
    }

    fn solver(&self, method: Method, params: &AutomaticParams) -> Result<TeamSolver<T>> {
        let (team, partition, stopping) = (self.team, &self.partition, params.stopping.clone());
        Ok(match method {
            Method::Cg => TeamSolver::Cg(Box::new(team::Cg::new(team, partition, stopping.into())?)),
            Method::BiCgStab => TeamSolver::BiCgStab(Box::new(team::BiCgStab::new(team, partition, stopping.into())?)),
            Method::Gmres => {
                let params = GmresParams::from(stopping).restart(params.restart);
                TeamSolver::Gmres(Box::new(team::Gmres::new(team, partition, params)?))
            }
            other => {
                return Err(Error::value("method", "CG, BiCGStab or GMRES on several devices", other.name()));
            }
        })
    }

    fn stopping_mut(solver: &mut TeamSolver<T>) -> &mut Stopping {
        match solver {
            TeamSolver::Cg(solver) => solver.stopping_mut(),
            TeamSolver::BiCgStab(solver) => solver.stopping_mut(),
            TeamSolver::Gmres(solver) => solver.stopping_mut(),
        }
    }

    fn set_up(
        &self,
        kind: PreconditionerKind,
        _: Method,
        params: &AutomaticParams,
        unknowns_per_node: Option<usize>,
        observe: Observer<'_>,
    ) -> Result<Prepared<TeamPreconditioner<T>>> {
        match kind.coarsening(&params.preconditioner_params.amg) {
            Some(coarsening) => self.hierarchy(kind, coarsening, params, unknowns_per_node, observe),
            None if kind == PreconditionerKind::None => Ok(Prepared::none()),
            None if kind == PreconditionerKind::Jacobi => {
                let m = team::Jacobi::new(self.team, &self.partition, &self.parts.diagonal())?;
                Ok(Prepared::new(kind, Box::new(m), String::new()))
            }
            None => Err(unsupported(kind)),
        }
    }

    fn instability(&self, _: &mut Prepared<TeamPreconditioner<T>>, _: &Inspection) -> Result<Option<f64>> {
        Ok(None)
    }

    fn fallback(&self, _: &AutomaticParams) -> Result<Prepared<TeamPreconditioner<T>>> {
        Err(unsupported(PreconditionerKind::Lu))
    }

    fn solve(
        &mut self,
        solver: &mut TeamSolver<T>,
        prepared: &mut Prepared<TeamPreconditioner<T>>,
        _: Option<&mut KrylovMemory<T>>,
        b: &team::Vector<T>,
        x: &mut team::Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let m = prepared.preconditioner.as_mut().map(|m| &mut **m as &mut dyn team::Preconditioner<T>);
        match solver {
            TeamSolver::Cg(solver) => solver.solve_with(&mut self.a, m, b, x, progress),
            TeamSolver::BiCgStab(solver) => solver.solve_with(&mut self.a, m, b, x, progress),
            TeamSolver::Gmres(solver) => solver.solve_with(&mut self.a, m, b, x, progress),
        }
    }
}
