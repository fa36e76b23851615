//! Preconditioners on handles: operators whose products apply the inverse of the preconditioner.

use std::cell::RefCell;

use clinalg::amg::{Amg, AmgParams, AmgReport, Cycle, rigid_motions};
use clinalg::direct::{Factors, FactorsParams};
use clinalg::precond::{
    CholeskyParams, Fsai, Ilu, IluKind, IluParams, IncompleteCholesky, Jacobi, Preconditioner, Saddle, SaddleParams,
    SaddleShape, Spai0, Split, Ssor, SsorParams, check_finite, is_hermitian,
};
use clinalg::solve::Operator;
use clinalg::{Complex, Context, Csr, CsrParts, Error, Result, Scalar, Vector, ops};
use serde::{Deserialize, Serialize};

use crate::calls::sparse::sparse;
use crate::kind::Kind;
use crate::object::{Object, Stored, TeamAmg, typed, typed_real};
use crate::registry::{Operand, Registry};

/// What errors call the handle of a preconditioner.
const ARGUMENT: &str = "preconditioner";

/// A preconditioner that is made of a sparse matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PreconditionerKind {
    /// ILU(0).
    Ilu,
    /// ILUT.
    Ilut,
    /// IC(0).
    Cholesky,
    /// Symmetric successive over-relaxation.
    Ssor,
    /// SPAI-0.
    Spai0,
    /// FSAI.
    Fsai,
    /// Algebraic multigrid.
    Amg,
    /// The diagonal of the matrix.
    Jacobi,
    /// A complete factorisation, Cholesky or LU.
    Lu,
}

/// A preconditioner that is made of the entries of a sparse matrix, and its parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PreconditionerParams {
    /// An incomplete LU factorisation.
    Ilu(IluParams),
    /// An incomplete Cholesky factorisation.
    Cholesky(CholeskyParams),
    /// Symmetric successive over-relaxation.
    Ssor(SsorParams),
    /// SPAI-0.
    Spai0,
    /// FSAI.
    Fsai,
    /// The diagonal of the matrix.
    Jacobi,
    /// A complete factorisation, Cholesky or LU.
    Complete(FactorsParams),
}

/// What is known of a preconditioner.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PreconditionerInfo {
    /// What it is.
    pub kind: PreconditionerKind,
    /// Rows and columns.
    pub rows: usize,
    /// Stored entries: of the factors, of G for FSAI, of the diagonal for SPAI-0, of the matrices of all levels for algebraic multigrid; 0 for
    /// SSOR, whose entries are those of the matrix.
    pub entries: usize,
    /// Levels of the lower and the upper triangular system, of which each takes a step; 0 without triangular systems.
    pub levels: [usize; 2],
    /// Whether ILU has permuted rows to put large entries on the diagonal.
    pub is_matched: bool,
    /// The factors of IC(0) are those of A + shift diag(A).
    pub shift: f64,
}

/// A preconditioner made of entries.
pub(super) enum EntryPreconditioner<T: Scalar> {
    Ilu(Ilu<T>, PreconditionerKind),
    Cholesky(IncompleteCholesky<T>),
    Ssor(Ssor<T>),
    Spai0(Spai0<T>),
    Fsai(Fsai<T>),
    Jacobi(Jacobi<T>),
    Complete(Box<Factors<T>>),
}

/// The preconditioner of a matrix's diagonal.
pub(super) fn jacobi<T: Scalar>(diagonal: &Vector<T>) -> Result<Jacobi<T>> {
    Jacobi::new(diagonal).map_err(|error| match error {
        Error::Unsuitable { argument: "diagonal", reason } => {
            Error::unsuitable("a", format!("its diagonal cannot be used as a preconditioner: {reason}"))
        }
        other => other,
    })
}

/// The host form of a matrix of which `maker` reads only the lower triangle; an error unless it is Hermitian.
fn hermitian_parts<T: Scalar>(a: &Csr<T>, maker: &str) -> Result<CsrParts<T>> {
    let parts = a.to_parts()?;
    // The sizes are the concern of the preconditioner.
    if parts.rows != parts.cols || is_hermitian(&parts)? {
        return Ok(parts);
    }
    check_finite(&parts, &[])?;
    let kind = if T::IS_COMPLEX { "Hermitian" } else { "symmetric" };
    let reason = format!(
        "{maker} needs a {kind} matrix, and this one is not {kind}; use an incomplete LU factorisation (ilu or ilut) with BiCGStab or GMRES or, if only \
         rounding makes the matrix differ from its transpose, (A + A')/2 in its place"
    );
    Err(Error::unsuitable("a", reason))
}

impl<T: Scalar> EntryPreconditioner<T> {
    /// For a matrix of the caller, which is checked to be Hermitian where it has to be.
    pub(super) fn new(a: &Csr<T>, params: &PreconditionerParams) -> Result<EntryPreconditioner<T>> {
        Ok(match params {
            PreconditionerParams::Cholesky(params) => {
                let parts = hermitian_parts(a, "incomplete Cholesky factorisation (ic)")?;
                EntryPreconditioner::Cholesky(IncompleteCholesky::from_parts(a.context(), &parts, params)?)
            }
            PreconditionerParams::Fsai => {
                let parts = hermitian_parts(a, "a factorised sparse approximate inverse (fsai)")?;
                EntryPreconditioner::Fsai(Fsai::from_parts(a.context(), &parts)?)
            }
            _ => EntryPreconditioner::untested(a, params)?,
        })
    }

    /// For a matrix that is known to be Hermitian where it has to be.
    pub(super) fn untested(a: &Csr<T>, params: &PreconditionerParams) -> Result<EntryPreconditioner<T>> {
        Ok(match params {
            PreconditionerParams::Ilu(params) => {
                let zero = params.kind == IluKind::Zero;
                let kind = if zero { PreconditionerKind::Ilu } else { PreconditionerKind::Ilut };
                EntryPreconditioner::Ilu(Ilu::new(a, params)?, kind)
            }
            PreconditionerParams::Cholesky(params) => {
                EntryPreconditioner::Cholesky(IncompleteCholesky::new(a, params)?)
            }
            PreconditionerParams::Ssor(params) => EntryPreconditioner::Ssor(Ssor::new(a, params)?),
            PreconditionerParams::Spai0 => EntryPreconditioner::Spai0(Spai0::new(a)?),
            PreconditionerParams::Fsai => EntryPreconditioner::Fsai(Fsai::new(a)?),
            PreconditionerParams::Jacobi => EntryPreconditioner::Jacobi(jacobi(&a.diagonal()?)?),
            PreconditionerParams::Complete(params) => EntryPreconditioner::Complete(Box::new(Factors::new(a, params)?)),
        })
    }

    fn inner(&self) -> &dyn Preconditioner<T> {
        match self {
            EntryPreconditioner::Ilu(m, _) => m,
            EntryPreconditioner::Cholesky(m) => m,
            EntryPreconditioner::Ssor(m) => m,
            EntryPreconditioner::Spai0(m) => m,
            EntryPreconditioner::Fsai(m) => m,
            EntryPreconditioner::Jacobi(m) => m,
            EntryPreconditioner::Complete(m) => &**m,
        }
    }

    fn info(&self) -> PreconditionerInfo {
        let rows = self.inner().size();
        let info =
            |kind, entries, levels| PreconditionerInfo { kind, rows, entries, levels, is_matched: false, shift: 0.0 };
        match self {
            EntryPreconditioner::Ilu(m, kind) => {
                PreconditionerInfo { is_matched: m.is_matched(), ..info(*kind, m.nnz(), m.levels()) }
            }
            EntryPreconditioner::Cholesky(m) => {
                PreconditionerInfo { shift: m.shift(), ..info(PreconditionerKind::Cholesky, m.nnz(), [m.levels(); 2]) }
            }
            EntryPreconditioner::Ssor(m) => info(PreconditionerKind::Ssor, 0, [m.levels(); 2]),
            EntryPreconditioner::Spai0(_) => info(PreconditionerKind::Spai0, rows, [0; 2]),
            EntryPreconditioner::Fsai(m) => info(PreconditionerKind::Fsai, m.nnz(), [0; 2]),
            EntryPreconditioner::Jacobi(_) => info(PreconditionerKind::Jacobi, rows, [0; 2]),
            EntryPreconditioner::Complete(m) => {
                let report = m.report();
                let info = info(PreconditionerKind::Lu, report.entries, [report.levels; 2]);
                PreconditionerInfo { is_matched: report.is_matched, ..info }
            }
        }
    }
}

impl<T: Scalar> Preconditioner<T> for EntryPreconditioner<T> {
    fn size(&self) -> usize {
        self.inner().size()
    }

    fn context(&self) -> &Context {
        self.inner().context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        match self {
            EntryPreconditioner::Ilu(m, _) => m.apply(r, z),
            EntryPreconditioner::Cholesky(m) => m.apply(r, z),
            EntryPreconditioner::Ssor(m) => m.apply(r, z),
            EntryPreconditioner::Spai0(m) => m.apply(r, z),
            EntryPreconditioner::Fsai(m) => m.apply(r, z),
            EntryPreconditioner::Jacobi(m) => m.apply(r, z),
            EntryPreconditioner::Complete(m) => m.apply(r, z),
        }
    }
}

/// A preconditioner M as the operator M^-1.
pub(super) struct InverseOf<T: Scalar, M> {
    /// With room for M^-1 x, where this is added to another vector.
    held: RefCell<(M, Option<Vector<T>>)>,
    context: Context,
    size: usize,
    /// Whether it is nonlinear.
    varies: bool,
}

impl<T: Scalar, M: Preconditioner<T>> InverseOf<T, M> {
    pub(super) fn new(m: M) -> InverseOf<T, M> {
        let (context, size) = (m.context().clone(), m.size());
        InverseOf { held: RefCell::new((m, None)), context, size, varies: false }
    }

    /// Calls `f` with the preconditioner.
    pub(super) fn look<R>(&self, f: impl FnOnce(&M) -> R) -> R {
        f(&self.held.borrow().0)
    }
}

impl<T: Scalar> InverseOf<T, Amg<T>> {
    fn hierarchy(m: Amg<T>, params: &AmgParams) -> InverseOf<T, Amg<T>> {
        InverseOf { varies: params.cycle == Cycle::K, ..InverseOf::new(m) }
    }
}

/// Whether an object is a preconditioner that differs from one application to the next, for which conjugate gradients are flexible.
pub(super) fn varies(object: &Object) -> Result<bool> {
    typed!(object, T => Ok(object.with_operator(|m: &InverseOf<T, Amg<T>>| m.varies)?.unwrap_or(false)))
}

impl<T: Scalar, M: Preconditioner<T>> Operator<T> for InverseOf<T, M> {
    fn rows(&self) -> usize {
        self.size
    }

    fn cols(&self) -> usize {
        self.size
    }

    fn context(&self) -> &Context {
        &self.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        for (argument, vector) in [("x", x), ("y", &*y)] {
            if vector.len() != self.size {
                return Err(Error::Length { argument, expected: self.size, got: vector.len() });
            }
            if !self.context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
        }
        let (m, room) = &mut *self.held.borrow_mut();
        if alpha == T::one() && beta == T::zero() {
            return m.apply(x, y);
        }
        let room = match room {
            Some(room) => room,
            None => room.insert(Vector::zeros(&self.context, self.size)?),
        };
        m.apply(x, room)?;
        ops::update(alpha, room, beta, y)
    }
}

/// The error for a matrix without entries of its own.
pub(super) fn not_sparse(got: &str) -> Error {
    let expected = "a sparse matrix, of whose entries this preconditioner is made".into();
    Error::Shape { argument: "a", expected, got: format!("a {got}") }
}

/// The second block of a saddle point.
pub(super) fn found_split<T: Scalar>(parts: &CsrParts<T>) -> Result<Split> {
    Split::find(parts).ok_or_else(|| {
        let reason = "this is not a saddle point [A B'; B -C], whose second block has no positive entries on its diagonal; give the number of rows \
                      of A if it is one";
        Error::unsuitable("a", reason)
    })
}

/// The types of values and which blocks of saddle points there are for them.
pub(super) trait SaddleScalar: Scalar {
    /// A block preconditioner in this shape.
    fn saddle(a: &Csr<Self>, split: &Split, shape: SaddleShape) -> Result<Box<dyn Preconditioner<Self>>>;
}

macro_rules! saddle_scalars {
    (real: $($real:ty),*; complex: $($complex:ty),*) => {
        $(impl SaddleScalar for $real {
            fn saddle(a: &Csr<$real>, split: &Split, shape: SaddleShape) -> Result<Box<dyn Preconditioner<$real>>> {
                Ok(Box::new(Saddle::new(a, split, &SaddleParams::default().shape(shape))?))
            }
        })*
        $(impl SaddleScalar for $complex {
            fn saddle(_: &Csr<$complex>, _: &Split, _: SaddleShape) -> Result<Box<dyn Preconditioner<$complex>>> {
                let expected = "a real matrix for saddle points; an incomplete factorisation takes complex ones";
                Err(Error::value("a", expected, "complex"))
            }
        })*
    };
}
saddle_scalars!(real: f32, f64; complex: Complex<f32>, Complex<f64>);

impl PreconditionerKind {
    /// The preconditioner with its default parameters.
    pub(super) fn of<T: Scalar>(self, a: &Stored<T>) -> Result<Box<dyn Preconditioner<T>>> {
        let Stored::Csr(a) = a else {
            return Err(not_sparse(a.kind().words()));
        };
        match self.params() {
            Some(params) => Ok(Box::new(EntryPreconditioner::new(a, &params)?)),
            None => Ok(Box::new(Amg::new(a, &AmgParams::default())?)),
        }
    }

    /// The preconditioner of A^H A with its default parameters.
    pub(super) fn of_normal_equations<T: Scalar>(self, a: &Csr<T>) -> Result<Box<dyn Preconditioner<T>>> {
        let normal = ops::conj_transpose(a)?.multiply(a)?;
        match self.params() {
            Some(params) => Ok(Box::new(EntryPreconditioner::untested(&normal, &params)?)),
            None => Ok(Box::new(Amg::new(&normal, &AmgParams::default())?)),
        }
    }

    /// The default parameters; `None` for algebraic multigrid.
    pub(super) fn params(self) -> Option<PreconditionerParams> {
        Some(match self {
            PreconditionerKind::Ilu => PreconditionerParams::Ilu(IluParams::default()),
            PreconditionerKind::Ilut => PreconditionerParams::Ilu(IluParams::default().kind(IluKind::threshold())),
            PreconditionerKind::Cholesky => PreconditionerParams::Cholesky(CholeskyParams::default()),
            PreconditionerKind::Ssor => PreconditionerParams::Ssor(SsorParams::default()),
            PreconditionerKind::Spai0 => PreconditionerParams::Spai0,
            PreconditionerKind::Fsai => PreconditionerParams::Fsai,
            PreconditionerKind::Jacobi => PreconditionerParams::Jacobi,
            PreconditionerKind::Lu => PreconditionerParams::Complete(FactorsParams::default()),
            PreconditionerKind::Amg => return None,
        })
    }
}

/// Calls `f` with the hierarchy behind an object.
fn with_hierarchy<T: Scalar, R>(object: &Object, f: impl FnOnce(&mut Amg<T>) -> Result<R>) -> Result<R> {
    let called = object.with_operator(|inverse: &InverseOf<T, Amg<T>>| f(&mut inverse.held.borrow_mut().0))?;
    called.unwrap_or_else(|| {
        let expected = "a hierarchy of algebraic multigrid".into();
        Err(Error::Shape { argument: ARGUMENT, expected, got: "an operator of another kind".into() })
    })
}

fn info_of<T: Scalar>(object: &Object) -> Result<Option<PreconditionerInfo>> {
    object.with_operator(|inverse: &InverseOf<T, EntryPreconditioner<T>>| inverse.look(EntryPreconditioner::info))
}

fn amg_info_of<T: Scalar>(object: &Object) -> Result<Option<PreconditionerInfo>> {
    object.with_operator(|inverse: &InverseOf<T, Amg<T>>| {
        let held = inverse.held.borrow();
        let entries = held.0.report().levels.iter().map(|level| level.nnz).sum();
        let (kind, rows) = (PreconditionerKind::Amg, inverse.size);
        PreconditionerInfo { kind, rows, entries, levels: [0; 2], is_matched: false, shift: 0.0 }
    })
}

impl Registry {
    /// A preconditioner of the sparse matrix `a`, as an operator whose products apply its inverse: what [`Registry::mv`] multiplies with and
    /// [`Preconditioning::Inverse`](super::Preconditioning::Inverse) names. It does not refer to `a` afterwards. Gives its handle, which
    /// [`Registry::release`] takes with [`Kind::OPERATOR`].
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the preconditioner.
    pub fn preconditioner(&self, a: u64, params: &PreconditionerParams) -> Result<u64> {
        self.call(&[Operand::new("a", a, Kind::SPARSE)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let made = EntryPreconditioner::new(sparse::<T>(inputs[0], "a")?, params)?;
                Ok(Object::operator(InverseOf::new(made)))
            })
        })
        .map(|object| self.insert(object))
    }

    /// Algebraic multigrid for the sparse matrix `a`, as [`Registry::preconditioner`]; `near_null` is a vector or a dense matrix whose columns `a`
    /// nearly maps to zero, without it constants are taken.
    ///
    /// # Errors
    /// [`Error::Handle`]; those of [`Amg::new`] and [`Amg::with_near_null`].
    pub fn amg(&self, a: u64, near_null: Option<u64>, params: &AmgParams) -> Result<u64> {
        let near_null = near_null.map(|near_null| Operand::new("near_null", near_null, Kind::FULL));
        let operands: Vec<_> = std::iter::once(Operand::new("a", a, Kind::SPARSE)).chain(near_null).collect();
        self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = sparse::<T>(inputs[0], "a")?;
                let made = match inputs.get(1) {
                    Some(object) => {
                        let vectors = object.stored::<T>("near_null")?;
                        let (rows, count) = vectors.shape();
                        if rows != a.rows() {
                            let (expected, got) = (format!("{} rows", a.rows()), format!("{rows} x {count}"));
                            return Err(Error::Shape { argument: "near_null", expected, got });
                        }
                        let vectors = vectors.full("near_null")?.to_vec()?;
                        Amg::with_near_null(a, &vectors, count, params)
                            .map_err(|error| error.renamed("vectors", "near_null").renamed("count", "near_null"))?
                    }
                    None => Amg::new(a, params)?,
                };
                Ok(Object::operator(InverseOf::hierarchy(made, params)))
            })
        })
        .map(|object| self.insert(object))
    }

    /// Algebraic multigrid for elasticity, as [`Registry::amg`] with the rigid body modes: `coordinates` has `dim` values per
    /// node, whose displacements are numbered one after the other; `params.block` becomes `dim`.
    ///
    /// # Errors
    /// As [`Registry::amg`]; those of [`rigid_motions`]; [`Error::Length`] unless there are as many coordinates as rows.
    pub fn amg_with_coordinates(&self, a: u64, coordinates: &[f64], dim: usize, params: &AmgParams) -> Result<u64> {
        let params = params.clone().block(dim);
        self.call(&[Operand::new("a", a, Kind::SPARSE)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = sparse::<T>(inputs[0], "a")?;
                let motions = rigid_motions(coordinates, dim)?;
                if coordinates.len() != a.rows() {
                    let (argument, expected, got) = ("coordinates", a.rows(), coordinates.len());
                    return Err(Error::Length { argument, expected, got });
                }
                let count = motions.len() / a.rows().max(1);
                let motions: Vec<T> = motions.into_iter().map(T::from_f64).collect();
                let made = Amg::with_near_null(a, &motions, count, &params)?;
                Ok(Object::operator(InverseOf::hierarchy(made, &params)))
            })
        })
        .map(|object| self.insert(object))
    }

    /// Fills a hierarchy again with other values at the positions of its matrix: [`Amg::refill`].
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Shape`] for another preconditioner; [`Error::Precision`]; those of the method.
    pub fn amg_refill(&self, preconditioner: u64, a: u64) -> Result<()> {
        self.with_amg_and_matrix(preconditioner, a, &mut Refill)
    }

    /// How much a cycle reduces the error, about: [`Amg::convergence_factor`] for the matrix of the hierarchy.
    ///
    /// # Errors
    /// As [`Registry::amg_refill`].
    pub fn amg_convergence_factor(&self, preconditioner: u64, a: u64) -> Result<f64> {
        let mut factor = ConvergenceFactor(f64::NAN);
        self.with_amg_and_matrix(preconditioner, a, &mut factor)?;
        Ok(factor.0)
    }

    fn with_amg_and_matrix(&self, preconditioner: u64, a: u64, work: &mut impl OnHierarchy) -> Result<()> {
        let operands = [Operand::new(ARGUMENT, preconditioner, Kind::OPERATOR), Operand::new("a", a, Kind::SPARSE)];
        self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = sparse::<T>(inputs[1], "a")?;
                with_hierarchy::<T, _>(inputs[0], |hierarchy| {
                    if !Preconditioner::context(hierarchy).same(a.context()) {
                        return Err(Error::Context { argument: "a" });
                    }
                    work.run(hierarchy, a)
                })
            })
        })
    }

    /// Levels, sizes and complexities of a hierarchy, of one on a team too: [`Amg::report`].
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Shape`] for another preconditioner.
    pub fn amg_report(&self, preconditioner: u64) -> Result<AmgReport> {
        self.call(&[Operand::new(ARGUMENT, preconditioner, Kind::HIERARCHY)], None, |inputs, _| {
            if inputs[0].kind() == Kind::TeamAmg {
                // All devices of a handle's team are in one process, that of rank 0.
                return typed_real!(inputs[0], ARGUMENT, T => {
                    let amg = inputs[0].expect_content::<TeamAmg<T>>();
                    Ok(amg.report()?.expect("the process of rank 0 has the report"))
                });
            }
            typed!(inputs[0], T => {
                with_hierarchy::<T, _>(inputs[0], |hierarchy| Ok(hierarchy.report().clone()))
            })
        })
    }

    /// What is known of a preconditioner.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Shape`] for an operator that is no preconditioner made of a sparse matrix.
    pub fn preconditioner_info(&self, preconditioner: u64) -> Result<PreconditionerInfo> {
        self.call(&[Operand::new(ARGUMENT, preconditioner, Kind::OPERATOR)], None, |inputs, _| {
            let found = typed!(inputs[0], T => info_of::<T>(inputs[0])?.or(amg_info_of::<T>(inputs[0])?));
            found.ok_or_else(|| Error::Shape {
                argument: ARGUMENT,
                expected: "a preconditioner made of a sparse matrix".into(),
                got: "an operator of another kind".into(),
            })
        })
    }
}

/// What is done with a hierarchy and a matrix.
trait OnHierarchy {
    fn run<T: Scalar>(&mut self, hierarchy: &mut Amg<T>, a: &Csr<T>) -> Result<()>;
}

struct Refill;

impl OnHierarchy for Refill {
    fn run<T: Scalar>(&mut self, hierarchy: &mut Amg<T>, a: &Csr<T>) -> Result<()> {
        hierarchy.refill(a)
    }
}

struct ConvergenceFactor(f64);

impl OnHierarchy for ConvergenceFactor {
    fn run<T: Scalar>(&mut self, hierarchy: &mut Amg<T>, a: &Csr<T>) -> Result<()> {
        self.0 = hierarchy.convergence_factor(a)?;
        Ok(())
    }
}
