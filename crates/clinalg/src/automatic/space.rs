//! Where a system is solved: on one device or on a team.

use std::borrow::Cow;

use once_cell::unsync::OnceCell;

use super::inspection::inspect;
use super::preconditioner::{Boxed, Prepared, Source, complete_factors, factors, in_a_line, or_by_unknowns};
use super::scalar::{SystemScalar, narrowed, not_real};
use super::{AutomaticParams, Method, Observer, PreconditionerKind};
use crate::amg::Coarsening;
use crate::direct::FactorsParams;
use crate::matrix::{Inspection, Values as _, unknowns_per_node};
use crate::ops::{SpaceVector as _, conj_transpose};
use crate::precond::{self, Jacobi, NullVectors, fallback_factors, is_unsuited, lesser_triangle};
use crate::solve::{
    BiCgStab, Cg, FlexibleCg, Gmres, GmresParams, Idr, IdrParams, KrylovMemory, KrylovVector, LeastSquares,
    LeastSquaresMethod, LeastSquaresParams, Minres, Operator, Preconditioner, Progress, Report, Resumable, Richardson,
    Solver, Stopping,
};
use crate::team::{self, Partition, Team};
use crate::{Buffer, Context, Csr, CsrParts, Error, Real, Result, Scalar, Vector};

/// A matrix with the device or the devices on which systems with it are solved: [`OneDevice`] or [`OnTeam`].
pub trait Space {
    /// The type of the numbers.
    type Scalar: SystemScalar;
    /// A vector.
    type Vector: KrylovVector<Scalar = Self::Scalar>;

    /// Whether it is a team, which has fewer preconditioners.
    const IS_TEAM: bool;

    /// The host form of the matrix.
    ///
    /// # Errors
    /// Those of a download.
    fn parts(&self) -> Result<&CsrParts<Self::Scalar>>;

    /// Takes -A in the place of A from now on, if the space can.
    ///
    /// # Errors
    /// Those of an allocation.
    fn negate(&mut self) -> Result<bool> {
        Ok(false)
    }

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

    /// Of the sum of |a_ij| / |a_ii| over all off-diagonal entries of a square matrix, the fraction in the strict lower or
    /// the strict upper triangle, whichever is smaller; `None` for complex matrices and on a team.
    ///
    /// # Errors
    /// Those of the device.
    fn lesser_triangle(&self) -> Result<Option<f64>>;

    /// The context for what is done on one device; `None` on a team.
    fn context(&self) -> Option<&Context>;

    /// How the matrix is stored, in a line or several.
    fn storage(&self) -> String;

    /// A vector with these values.
    ///
    /// # Errors
    /// Those of an allocation and of an upload.
    fn vector(&self, values: &[Self::Scalar]) -> Result<Self::Vector>;

    /// A vector of zeros, as long as the matrix has rows.
    ///
    /// # Errors
    /// Those of an allocation.
    fn zeros(&self) -> Result<Self::Vector>;

    /// A vector of zeros, as long as the matrix has columns: an initial guess.
    ///
    /// # Errors
    /// Those of an allocation.
    fn initial_guess(&self) -> Result<Self::Vector>;

    /// The matrix.
    fn operator(&self) -> &dyn Operator<Self::Scalar, Self::Vector>;

    /// A method for least squares or for several right-hand sides.
    ///
    /// # Errors
    /// [`Error::Value`] for a method that does not run here; those of an allocation.
    fn other_solver(
        &self,
        method: Method,
        params: &AutomaticParams,
    ) -> Result<MethodSolver<Self::Scalar, Self::Vector>>;

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
    ) -> Result<PreparedFor<Self>>;

    /// By how much a preconditioner enlarges the vector of ones if that shows that it is unstable: [`instability`](precond::instability).
    ///
    /// # Errors
    /// Those of the device.
    fn instability(&self, prepared: &mut PreparedFor<Self>, inspection: &Inspection) -> Result<Option<f64>>;

    /// Factors to fall back on: complete ones if the device computes them within seconds, else [`fallback_factors`].
    ///
    /// # Errors
    /// [`Error::Value`] on a team, which has none; those of [`fallback_factors`].
    fn fallback(&self, params: &AutomaticParams) -> Result<PreparedFor<Self>>;

    /// Minimises |b - A x| from x, or from `memory` if there is one that is not empty.
    ///
    /// # Errors
    /// [`Error::Value`] on a team; those of the method.
    fn least_squares(
        &self,
        solver: &mut LeastSquares<Self::Scalar>,
        m: Option<&mut dyn Preconditioner<Self::Scalar, Self::Vector>>,
        memory: Option<&mut KrylovMemory<Self::Scalar>>,
        b: &Self::Vector,
        x: &mut Self::Vector,
        progress: Progress<'_>,
    ) -> Result<Report>;
}

/// A method with its vectors.
pub enum MethodSolver<T: Scalar, V: KrylovVector<Scalar = T>> {
    /// A method that can be continued from a memory.
    Resumable(Box<dyn Resumable<T, V>>),
    /// A method that begins anew.
    Stationary(Box<dyn Solver<T, V>>),
    /// A method for matrices that need not be square.
    LeastSquares(Box<LeastSquares<T>>),
    /// Block conjugate gradients, whose vectors depend on the number of right-hand sides.
    Block(Stopping),
}

impl<T: SystemScalar, V: KrylovVector<Scalar = T>> MethodSolver<T, V> {
    /// A method for a matrix in `space` and vectors like this one.
    ///
    /// # Errors
    /// [`Error::Value`] for a method that does not run here; those of an allocation.
    pub fn new<S: Space<Scalar = T, Vector = V>>(
        space: &S,
        method: Method,
        params: &AutomaticParams,
    ) -> Result<MethodSolver<T, V>> {
        if method.is_least_squares() || method == Method::BlockCg {
            return space.other_solver(method, params);
        }
        let (vector, stopping) = (&space.zeros()?, params.stopping.clone());
        let resumable: Box<dyn Resumable<T, V>> = match method {
            Method::Cg => Box::new(Cg::like(vector, stopping.into())?),
            Method::FlexibleCg => Box::new(FlexibleCg::like(vector, stopping.into())?),
            Method::Minres => Box::new(Minres::like(vector, stopping.into())?),
            Method::BiCgStab => Box::new(BiCgStab::like(vector, stopping.into())?),
            Method::Idr => Box::new(Idr::like(vector, IdrParams::from(stopping).dimensions(params.idr_dimensions))?),
            Method::Gmres => Box::new(Gmres::like(vector, GmresParams::from(stopping).restart(params.restart))?),
            Method::Richardson if T::IS_COMPLEX => {
                return Err(not_real("Richardson iteration", "GMRES and BiCGStab take"));
            }
            Method::Richardson => {
                return Ok(MethodSolver::Stationary(Box::new(Richardson::like(vector, stopping.into())?)));
            }
            Method::Lsqr | Method::Lsmr | Method::BlockCg => unreachable!("it is another solver"),
        };
        Ok(MethodSolver::Resumable(resumable))
    }

    /// The stopping criteria, for changes.
    pub(super) fn stopping_mut(&mut self) -> &mut Stopping {
        match self {
            MethodSolver::Resumable(solver) => solver.stopping_mut(),
            MethodSolver::Stationary(solver) => solver.stopping_mut(),
            MethodSolver::LeastSquares(solver) => solver.stopping_mut(),
            MethodSolver::Block(stopping) => stopping,
        }
    }

    /// Solves A x = b from x, or from `memory` if there is one that is not empty, and leaves there what another solve
    /// needs to continue.
    pub(super) fn solve<S: Space<Scalar = T, Vector = V>>(
        &mut self,
        space: &S,
        prepared: &mut Prepared<Boxed<T, V>>,
        memory: Option<&mut KrylovMemory<T>>,
        (b, x): (&V, &mut V),
        progress: Progress<'_>,
    ) -> Result<Report> {
        let (a, m) = (space.operator(), prepared.preconditioner.as_mut());
        let m = m.map(|m| &mut **m as &mut dyn Preconditioner<T, V>);
        match (self, memory) {
            (MethodSolver::Resumable(solver), Some(memory)) => solver.solve_from(memory, a, m, b, x, progress),
            (MethodSolver::Resumable(solver), None) => solver.solve_with(a, m, b, x, progress),
            (MethodSolver::Stationary(solver), _) => solver.solve_with(a, m, b, x, progress),
            (MethodSolver::LeastSquares(solver), memory) => space.least_squares(solver, m, memory, b, x, progress),
            (MethodSolver::Block(_), _) => {
                let expected = "a method for one right-hand side; `solve_block` takes several at once";
                Err(Error::value("method", expected, Method::BlockCg.name()))
            }
        }
    }
}

/// A preconditioner that was set up for a matrix in the space `S`.
pub type PreparedFor<S> = Prepared<Boxed<<S as Space>::Scalar, <S as Space>::Vector>>;

/// A matrix on one device.
pub struct OneDevice<'a, T: Scalar> {
    given: &'a Csr<T>,
    /// -A, where that stands in for A.
    negative: Option<Box<Csr<T>>>,
    parts: OnceCell<Cow<'a, CsrParts<T>>>,
}

impl<'a, T: Scalar> OneDevice<'a, T> {
    /// A matrix whose host form is downloaded where it is needed.
    pub fn new(a: &'a Csr<T>) -> OneDevice<'a, T> {
        OneDevice { given: a, negative: None, parts: OnceCell::new() }
    }

    /// A matrix with its host form, which must be that of `a`.
    pub fn with_parts(a: &'a Csr<T>, parts: &'a CsrParts<T>) -> OneDevice<'a, T> {
        OneDevice { given: a, negative: None, parts: OnceCell::with_value(Cow::Borrowed(parts)) }
    }

    /// The matrix, or its negative.
    pub(super) fn a(&self) -> &Csr<T> {
        self.negative.as_deref().unwrap_or(self.given)
    }
}

impl<T: SystemScalar> Space for OneDevice<'_, T> {
    type Scalar = T;
    type Vector = Vector<T>;

    const IS_TEAM: bool = false;

    fn parts(&self) -> Result<&CsrParts<T>> {
        self.parts.get_or_try_init(|| Ok(Cow::Owned(self.a().to_parts()?))).map(|parts| &**parts)
    }

    fn negate(&mut self) -> Result<bool> {
        let mut values = Buffer::uninit(self.given.context(), self.given.nnz())?;
        values.copy_from(self.given.values())?;
        let mut values = Vector::from_buffer(values);
        values.scale_by(-T::one())?;
        self.negative = Some(Box::new(self.given.with_values(values.into_buffer())?));
        self.parts = OnceCell::new();
        Ok(true)
    }

    fn inspect(&self) -> Result<Inspection> {
        Inspection::of(self.a())
    }

    fn constant_null_vectors(&self, inspection: &Inspection) -> Result<NullVectors> {
        NullVectors::constants_on_device(self.a(), inspection)
    }

    fn unknowns_per_node(&self) -> Result<Option<usize>> {
        unknowns_per_node(self.a())
    }

    fn lesser_triangle(&self) -> Result<Option<f64>> {
        if T::IS_COMPLEX { Ok(None) } else { lesser_triangle(self.a()).map(Some) }
    }

    fn context(&self) -> Option<&Context> {
        Some(self.a().context())
    }

    fn storage(&self) -> String {
        self.a().explain()
    }

    fn vector(&self, values: &[T]) -> Result<Vector<T>> {
        Vector::from_slice(self.a().context(), values)
    }

    fn zeros(&self) -> Result<Vector<T>> {
        Vector::zeros(self.a().context(), self.a().rows())
    }

    fn initial_guess(&self) -> Result<Vector<T>> {
        Vector::zeros(self.a().context(), self.a().cols())
    }

    fn operator(&self) -> &dyn Operator<T> {
        self.a()
    }

    fn other_solver(&self, method: Method, params: &AutomaticParams) -> Result<MethodSolver<T, Vector<T>>> {
        let stopping = params.stopping.clone();
        let method = match method {
            Method::Lsqr => LeastSquaresMethod::Lsqr,
            Method::Lsmr => LeastSquaresMethod::Lsmr,
            _ => return Ok(MethodSolver::Block(stopping)),
        };
        let params = LeastSquaresParams::from(stopping).method(method);
        let solver = LeastSquares::new(self.a().context(), self.a().rows(), self.a().cols(), params)?;
        Ok(MethodSolver::LeastSquares(Box::new(solver)))
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
            return Source { a: self.a(), parts: &parts, params, unknowns_per_node, method }.set_up(kind, observe);
        }
        match kind {
            PreconditionerKind::None => Ok(Prepared::none()),
            PreconditionerKind::Jacobi => {
                Ok(Prepared::new(kind, Box::new(Jacobi::of_normal_equations(self.a())?), String::new()))
            }
            kind => {
                let normal = conj_transpose(self.a())?.multiply(self.a())?;
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
        let own = &params.preconditioner_params;
        let (a, context) = (self.a(), self.a().context());
        match complete_factors(a, &FactorsParams::within_seconds(context), own) {
            Err(error) if is_unsuited(&error) => {}
            made => return made,
        }
        let ilut = own.ilu(PreconditionerKind::Ilut);
        Ok(factors(fallback_factors(context, self.parts()?, &ilut)?, a.nnz()))
    }

    fn least_squares(
        &self,
        solver: &mut LeastSquares<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        memory: Option<&mut KrylovMemory<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let report = match memory {
            Some(memory) => solver.solve_from(memory, self.a(), m, b, x, progress),
            None => solver.solve_with(self.a(), m, b, x, progress),
        };
        Ok(report?.report)
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
    ) -> Result<Prepared<Boxed<T, team::Vector<T>>>> {
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

/// The error about a method that does not run on a team.
fn not_on_team(method: &str) -> Error {
    Error::value("method", "one for a square matrix and one right-hand side on several devices", method)
}

/// The error about a preconditioner that does not run on a team.
fn unsupported(kind: PreconditionerKind) -> Error {
    Error::value("preconditioner", "none, Jacobi or algebraic multigrid on several devices", kind.name())
}

impl<T: Real + SystemScalar> Space for OnTeam<'_, T> {
    type Scalar = T;
    type Vector = team::Vector<T>;

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

    fn lesser_triangle(&self) -> Result<Option<f64>> {
        Ok(None)
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

    fn zeros(&self) -> Result<team::Vector<T>> {
        self.a.vector()
    }

    fn initial_guess(&self) -> Result<team::Vector<T>> {
        self.a.vector()
    }

    fn operator(&self) -> &dyn Operator<T, team::Vector<T>> {
        &self.a
    }

    fn other_solver(&self, method: Method, _: &AutomaticParams) -> Result<MethodSolver<T, team::Vector<T>>> {
        Err(not_on_team(method.name()))
    }

    fn set_up(
        &self,
        kind: PreconditionerKind,
        _: Method,
        params: &AutomaticParams,
        unknowns_per_node: Option<usize>,
        observe: Observer<'_>,
    ) -> Result<Prepared<Boxed<T, team::Vector<T>>>> {
        match kind.coarsening(&params.preconditioner_params.amg) {
            Some(coarsening) => self.hierarchy(kind, coarsening, params, unknowns_per_node, observe),
            None if kind == PreconditionerKind::None => Ok(Prepared::none()),
            None if kind == PreconditionerKind::Jacobi => {
                let m = Jacobi::like(&self.a.vector()?, &self.parts.diagonal())?;
                Ok(Prepared::new(kind, Box::new(m), String::new()))
            }
            None => Err(unsupported(kind)),
        }
    }

    fn instability(&self, _: &mut Prepared<Boxed<T, team::Vector<T>>>, _: &Inspection) -> Result<Option<f64>> {
        Ok(None)
    }

    fn fallback(&self, _: &AutomaticParams) -> Result<Prepared<Boxed<T, team::Vector<T>>>> {
        Err(unsupported(PreconditionerKind::Lu))
    }

    fn least_squares(
        &self,
        _: &mut LeastSquares<T>,
        _: Option<&mut dyn Preconditioner<T, team::Vector<T>>>,
        _: Option<&mut KrylovMemory<T>>,
        _: &team::Vector<T>,
        _: &mut team::Vector<T>,
        _: Progress<'_>,
    ) -> Result<Report> {
        Err(not_on_team("least squares"))
    }
}
