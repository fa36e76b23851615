//! The preconditioners by name, with their parameters, and their set-up on one device.

use std::sync::Arc;

use super::decision::{Decision, Event};
use super::scalar::{SystemScalar, hierarchy};
use super::{Method, Observer};
use crate::amg::{AmgParams, AmgReport, Coarsening};
use crate::direct::{Factors, FactorsParams, Inertia};
use crate::precond::{
    CholeskyParams, Fsai, Ilu, IluKind, IluParams, IncompleteCholesky, Jacobi, Ordering, Preconditioner, Spai0, Ssor,
    SsorParams, is_unsuited,
};
use crate::{Complex, Csr, CsrParts, Error, Result, Scalar, Vector, number};

/// A preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PreconditionerKind {
    /// None.
    None,
    /// [`Jacobi`].
    Jacobi,
    /// [`Spai0`].
    Spai0,
    /// [`Ssor`].
    Ssor,
    /// [`Ilu`] without fill-in.
    Ilu,
    /// [`Ilu`] with a threshold.
    Ilut,
    /// A complete factorisation: Cholesky, LDL or LU [`Factors`], whose solution a method refines.
    Lu,
    /// [`IncompleteCholesky`].
    Cholesky,
    /// [`Fsai`].
    Fsai,
    /// [`Amg`](crate::amg::Amg), with the coarsening of [`PreconditionerParams::amg`].
    Amg,
    /// [`Amg`](crate::amg::Amg) by smoothed aggregation.
    SmoothedAggregation,
    /// [`Amg`](crate::amg::Amg) by classical coarsening.
    Classical,
    /// [`Saddle`](crate::precond::Saddle).
    Saddle,
}

impl PreconditionerKind {
    /// How algebraic multigrid coarsens with these parameters; `None` for other preconditioners.
    pub fn coarsening(self, params: &AmgParams) -> Option<Coarsening> {
        match self {
            PreconditionerKind::Amg => Some(params.coarsening),
            PreconditionerKind::SmoothedAggregation => Some(Coarsening::Aggregation),
            PreconditionerKind::Classical => Some(Coarsening::Classical),
            _ => None,
        }
    }

    /// Whether it is algebraic multigrid.
    pub fn is_multigrid(self) -> bool {
        self.coarsening(&AmgParams::default()).is_some()
    }

    /// Its name; empty for none.
    pub fn name(self) -> &'static str {
        match self {
            PreconditionerKind::None => "",
            PreconditionerKind::Jacobi => "Jacobi",
            PreconditionerKind::Spai0 => "SPAI-0",
            PreconditionerKind::Ssor => "SSOR",
            PreconditionerKind::Ilu => IluKind::Zero.name(),
            PreconditionerKind::Ilut => IluKind::threshold().name(),
            PreconditionerKind::Lu => "complete factorisation",
            PreconditionerKind::Cholesky => "IC(0)",
            PreconditionerKind::Fsai => "FSAI",
            PreconditionerKind::Amg => "algebraic multigrid",
            PreconditionerKind::SmoothedAggregation => "smoothed aggregation multigrid",
            PreconditionerKind::Classical => "classical algebraic multigrid",
            PreconditionerKind::Saddle => "saddle-point block preconditioner",
        }
    }

    /// Its name as a heading.
    pub fn title(self) -> String {
        match self {
            PreconditionerKind::None => "no preconditioner".into(),
            PreconditionerKind::Lu | PreconditionerKind::Saddle => self.name().into(),
            kind if kind.is_multigrid() => kind.name().into(),
            kind => format!("{} preconditioner", kind.name()),
        }
    }
}

/// The parameters of whichever preconditioner is set up.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PreconditionerParams {
    /// The order of elimination of incomplete factors and of the sweeps of SSOR. Default: natural, for SSOR by colours.
    pub ordering: Option<Ordering>,
    /// Sweeps of the fixed-point iteration for the factors of ILU(0) and IC(0). Default 0: by levels.
    pub sweeps: usize,
    /// The threshold of ILUT. Default 1e-4.
    pub drop: f64,
    /// The fill of ILUT. Default 10.
    pub fill: f64,
    /// The relaxation factor of SSOR. Default 1.
    pub omega: f64,
    /// Of algebraic multigrid.
    pub amg: AmgParams,
    /// Near-null vectors for algebraic multigrid, one after the other, each with as many values as A has rows. Default: constants.
    pub near_null: Option<Arc<Vec<f64>>>,
    /// Whether the number of unknowns per node of `amg` may be found from the pattern of the matrix. Default true; not with `near_null`.
    pub finds_unknowns_per_node: bool,
    /// Whether the convergence factor of algebraic multigrid is measured, and described with all levels. Default false.
    pub reports_levels: bool,
    /// Whether to report the inertia; set-up fails if the complete factors do not give it. Default false.
    pub reports_inertia: bool,
    /// Whether to report the determinant; set-up fails if the matrix is singular to working precision. Default false.
    pub reports_determinant: bool,
}

impl Default for PreconditionerParams {
    fn default() -> PreconditionerParams {
        PreconditionerParams {
            ordering: None,
            sweeps: 0,
            drop: 1e-4,
            fill: 10.0,
            omega: SsorParams::default().omega,
            amg: AmgParams::default(),
            near_null: None,
            finds_unknowns_per_node: true,
            reports_levels: false,
            reports_inertia: false,
            reports_determinant: false,
        }
    }
}

impl PreconditionerParams {
    /// The parameters of incomplete LU factors: of ILU(0) if `kind` is that, else of ILUT.
    pub(super) fn ilu(&self, kind: PreconditionerKind) -> IluParams {
        let (kind, sweeps) = match kind {
            PreconditionerKind::Ilu => (IluKind::Zero, self.sweeps),
            _ => (IluKind::Threshold { drop: self.drop, fill: self.fill }, 0),
        };
        IluParams::default().kind(kind).ordering(self.ordering.unwrap_or(Ordering::Natural)).sweeps(sweeps)
    }

    /// The parameters of a hierarchy with this coarsening and, unless near-null vectors or unknowns per node were given, with the number of unknowns per
    /// node that was found.
    pub(super) fn hierarchy(&self, coarsening: Coarsening, unknowns_per_node: Option<usize>) -> AmgParams {
        let params = self.amg.clone().coarsening(coarsening);
        match unknowns_per_node {
            Some(unknowns) => params.block(unknowns),
            None => params,
        }
    }
}

/// A preconditioner that was set up, of the type `M`.
#[derive(Debug)]
pub struct Prepared<M> {
    /// What it is.
    pub kind: PreconditionerKind,
    /// The preconditioner; `None` for [`PreconditionerKind::None`].
    pub preconditioner: Option<M>,
    /// Sizes and levels; may be empty.
    pub description: String,
    /// What complete factors show about the matrix.
    pub facts: FactorFacts,
}

/// What complete factors show about the matrix, as far as [`PreconditionerParams`] asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct FactorFacts {
    /// How many eigenvalues have which sign.
    pub inertia: Option<Inertia>,
    /// det A / |det A|, and the natural logarithm of |det A|.
    pub determinant: Option<(Complex<f64>, f64)>,
}

impl FactorFacts {
    /// Those of the negative of a matrix of so many rows.
    pub fn negated(self, rows: usize) -> FactorFacts {
        let sign = if rows.is_multiple_of(2) { 1.0 } else { -1.0 };
        FactorFacts {
            inertia: self.inertia.map(Inertia::negated),
            determinant: self.determinant.map(|(unit, ln_modulus)| (unit * sign, ln_modulus)),
        }
    }
}

impl<M> Prepared<M> {
    pub(super) fn none() -> Prepared<M> {
        let (kind, facts) = (PreconditionerKind::None, FactorFacts::default());
        Prepared { kind, preconditioner: None, description: String::new(), facts }
    }

    pub(super) fn new(kind: PreconditionerKind, preconditioner: M, description: String) -> Prepared<M> {
        Prepared { kind, preconditioner: Some(preconditioner), description, facts: FactorFacts::default() }
    }
}

/// Any preconditioner.
pub type Boxed<T, V = Vector<T>> = Box<dyn Preconditioner<T, V>>;

/// How factors differ from those of the matrix as it is, for their description.
fn remarks(is_matched: bool, replaced_pivots: usize) -> String {
    let matched = if is_matched { ", rows permuted for a large diagonal" } else { "" };
    match replaced_pivots {
        0 => matched.to_owned(),
        1 => format!("{matched}, 1 small pivot replaced"),
        count => format!("{matched}, {count} small pivots replaced"),
    }
}

/// Incomplete LU factors with their description.
pub(super) fn factors<T: Scalar>(m: Ilu<T>, nnz: usize) -> Prepared<Boxed<T>> {
    let kind = match m.kind() {
        IluKind::Zero => PreconditionerKind::Ilu,
        _ => PreconditionerKind::Ilut,
    };
    let remarks = remarks(m.is_matched(), m.replaced_pivots());
    let [lower, upper] = m.levels();
    let description = format!(
        "{} entries ({:.1} times those of the matrix), {lower} and {upper} levels, {} launches per application{remarks}",
        m.nnz(),
        m.nnz() as f64 / nnz.max(1) as f64,
        m.launches()
    );
    Prepared::new(kind, Box::new(m), description)
}

/// Complete factors with their description.
pub(super) fn complete_factors<T: Scalar>(
    a: &Csr<T>,
    params: &FactorsParams,
    of: &PreconditionerParams,
) -> Result<Prepared<Boxed<T>>> {
    let factors = Factors::new(a, params)?;
    let report = factors.report();
    let determinant = || {
        let determinant = factors.determinant()?;
        let mantissa = determinant.mantissa.widen();
        let (re, im, size) = (mantissa.re(), mantissa.im(), mantissa.modulus());
        Ok::<_, Error>((Complex::new(re / size, im / size), determinant.ln_modulus()))
    };
    let facts = FactorFacts {
        inertia: of.reports_inertia.then(|| factors.inertia()).transpose()?,
        determinant: of.reports_determinant.then(determinant).transpose()?,
    };
    let remarks = remarks(report.is_matched, report.replaced_pivots);
    let description = format!(
        "{} factors, {} entries ({:.1} times those of the matrix), {} operations, fronts of at most {} rows{remarks}",
        report.kind.name(),
        report.entries,
        report.entries as f64 / a.nnz().max(1) as f64,
        number(report.operations, 2),
        report.largest_front,
    );
    Ok(Prepared { facts, ..Prepared::new(PreconditionerKind::Lu, Box::new(factors), description) })
}

/// A hierarchy in a line.
pub(super) fn in_a_line(report: &AmgReport) -> String {
    let (kind, levels) = (report.kind(), report.levels.len());
    format!("{kind}, {levels} levels, operator complexity {:.2}", report.operator_complexity)
}

/// Calls `set_up`; if it fails with the number of unknowns per node that was found, once more with one unknown per node, whose coarsening may be classical.
/// Also returns a remark for the description.
pub(super) fn or_by_unknowns<M>(
    params: AmgParams,
    is_found: bool,
    observe: Observer<'_>,
    set_up: impl Fn(&AmgParams) -> Result<M>,
) -> Result<(M, String)> {
    let unknowns = params.block;
    match set_up(&params) {
        Err(error) if unknowns > 1 && is_found && is_unsuited(&error) => {
            let decision = Decision::OneUnknownPerNode { unknowns, error: error.to_string() };
            let _ = observe(Event::Decision(&decision));
            let remark = format!(", with one unknown per node, as the hierarchy with {unknowns} could not be set up");
            Ok((set_up(&params.block(1))?, remark))
        }
        result => Ok((result?, String::new())),
    }
}

/// What a preconditioner on one device is set up from.
pub struct Source<'s, T: Scalar> {
    pub(super) a: &'s Csr<T>,
    /// The host form of `a`.
    pub(super) parts: &'s dyn Fn() -> Result<&'s CsrParts<T>>,
    pub(super) params: &'s PreconditionerParams,
    pub(super) unknowns_per_node: Option<usize>,
    pub(super) method: Method,
}

impl<T: SystemScalar> Source<'_, T> {
    /// The preconditioner of this kind.
    pub(super) fn set_up(&self, kind: PreconditionerKind, observe: Observer<'_>) -> Result<Prepared<Boxed<T>>> {
        let Source { a, params, .. } = *self;
        let context = a.context();
        let (preconditioner, description): (Boxed<T>, String) = match kind {
            PreconditionerKind::None => return Ok(Prepared::none()),
            PreconditionerKind::Amg | PreconditionerKind::SmoothedAggregation | PreconditionerKind::Classical => {
                let coarsening = kind.coarsening(&params.amg).expect("it is multigrid");
                hierarchy(self, coarsening, observe)?
            }
            PreconditionerKind::Saddle => T::saddle(self)?,
            PreconditionerKind::Jacobi => (Box::new(Jacobi::new(&a.diagonal()?)?), String::new()),
            PreconditionerKind::Spai0 => (Box::new(Spai0::from_parts(context, (self.parts)()?)?), String::new()),
            PreconditionerKind::Ssor => {
                let ssor = SsorParams::default().omega(params.omega);
                let ssor = params.ordering.map_or(ssor, |ordering| ssor.ordering(ordering));
                let m = Ssor::from_parts(context, (self.parts)()?, &ssor)?;
                let description = format!("{} levels", m.levels());
                (Box::new(m), description)
            }
            PreconditionerKind::Ilu | PreconditionerKind::Ilut => {
                let m = Ilu::new(a, &params.ilu(kind))?;
                return Ok(factors(m, a.nnz()));
            }
            PreconditionerKind::Lu => return complete_factors(a, &FactorsParams::default(), params),
            PreconditionerKind::Cholesky => {
                let ordering = params.ordering.unwrap_or(Ordering::Natural);
                let cholesky = CholeskyParams::default().ordering(ordering).sweeps(params.sweeps);
                let m = IncompleteCholesky::from_parts(context, (self.parts)()?, &cholesky)?;
                let shift = match m.shift() {
                    shift if shift > 0.0 => format!(", of the matrix with {shift} times its diagonal added"),
                    _ => String::new(),
                };
                let (nnz, levels, launches) = (m.nnz(), m.levels(), m.launches());
                let description = format!("{nnz} entries, {levels} levels, {launches} launches per application{shift}");
                (Box::new(m), description)
            }
            PreconditionerKind::Fsai => {
                let m = Fsai::from_parts(context, (self.parts)()?)?;
                let description = format!("{} entries", m.nnz());
                (Box::new(m), description)
            }
        };
        Ok(Prepared::new(kind, preconditioner, description))
    }
}
