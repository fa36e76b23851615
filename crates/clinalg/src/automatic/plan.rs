//! The choice for a matrix, and its set-up.

use super::decision::{Decision, Event};
use super::policy::{self, Facts};
use super::preconditioner::Prepared;
use super::space::{MethodSolver, OnTeam, OneDevice, PreparedFor, Space};
use super::stages::{Automatic, Stage};
use super::{AutomaticParams, Conflict, Method, Observer, PreconditionerKind, SystemScalar};
use crate::amg::Cycle;
use crate::matrix::Inspection;
use crate::precond::{NullVectors, Split, check_finite, check_finite_columns, check_zeros, is_unsuited};
use crate::team::Team;
use crate::{Csr, CsrParts, KernelFamily, Real, Result, Scalar, number};

/// The method and the preconditioner for a matrix, before anything is set up.
pub struct Plan<S: Space> {
    space: S,
    params: AutomaticParams,
    inspection: Inspection,
    /// Whether the space has -A.
    is_negated: bool,
    null_vectors: Option<NullVectors>,
    kind: PreconditionerKind,
    method: Method,
    unknowns_per_node: Option<usize>,
    decisions: Vec<Decision>,
}

impl<'a, T: SystemScalar> Plan<OneDevice<'a, T>> {
    /// For systems with a matrix on one device.
    ///
    /// # Errors
    /// As [`Plan::of`].
    pub fn new(a: &'a Csr<T>, params: AutomaticParams) -> Result<Plan<OneDevice<'a, T>>> {
        Plan::of(OneDevice::new(a), params)
    }
}

impl<'a, T: Real + SystemScalar> Plan<OnTeam<'a, T>> {
    /// For systems on a team. GMRES, where it takes over, has the preconditioner of the first method.
    ///
    /// # Errors
    /// As [`Plan::of`] and [`OnTeam::new`].
    pub fn on_team(team: &'a Team, parts: &'a CsrParts<T>, params: AutomaticParams) -> Result<Plan<OnTeam<'a, T>>> {
        Plan::of(OnTeam::new(team, parts)?, params)
    }
}

impl<S: Space> Plan<S> {
    /// Inspects the matrix and chooses.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) for a parameter; [`Error::Unsuitable`](crate::Error::Unsuitable) that names the row and the column (counted from 1) of an entry that is not finite; [`Error::Length`](crate::Error::Length)
    /// for near-null vectors; those of the device. Whether method and preconditioner go together is the concern of [`Plan::conflict`].
    pub fn of(mut space: S, params: AutomaticParams) -> Result<Plan<S>> {
        params.stopping.check()?;
        let mut inspection = space.inspect()?;
        if inspection.first_not_finite.is_some() {
            check_finite(space.parts()?, &[])?;
        }
        let is_square = inspection.rows == inspection.cols;
        let is_system = is_square && !params.method.is_some_and(Method::is_least_squares);
        let is_hermitian = inspection.hermitian && is_system;
        let mut decisions = Vec::new();
        // -A x = -b then has what suits positive definite matrices.
        let is_negative = is_hermitian && inspection.rows > 0 && inspection.negative_diagonal == inspection.rows;
        let is_negated = is_negative && space.negate()?;
        if is_negated {
            inspection = space.inspect()?;
            decisions.push(Decision::Negated);
        }
        let mut null_vectors = None;
        if is_hermitian {
            let mut constants = space.constant_null_vectors(&inspection)?;
            if constants.count() > 0 {
                constants = constants.judged(space.parts()?);
            }
            null_vectors = Some(match &params.preconditioner_params.near_null {
                Some(vectors) => constants.with_span(space.parts()?, vectors)?,
                None => constants,
            });
        }
        let may_be_saddle = is_hermitian
            && params.preconditioner.is_none()
            && !S::Scalar::IS_COMPLEX
            && !S::IS_TEAM
            && inspection.zero_diagonal + inspection.negative_diagonal > 0;
        let is_saddle = may_be_saddle && Split::find(space.parts()?).is_some();
        let is_chosen = params.preconditioner.is_none() && params.multigrid_reason.is_none();
        let lesser_triangle =
            if is_system && is_chosen && !inspection.hermitian { space.lesser_triangle()? } else { None };
        let (kind, reason) = match (params.preconditioner, &params.multigrid_reason) {
            (Some(kind), _) => (kind, None),
            (None, Some(reason)) => (PreconditionerKind::Amg, Some(reason.clone())),
            (None, None) => {
                let (kind, reason) = policy::preconditioner(&Facts {
                    matrix: &inspection,
                    is_complex: S::Scalar::IS_COMPLEX,
                    is_saddle,
                    lesser_triangle,
                    on_cpu: space.context().is_some_and(|context| context.family() == KernelFamily::Cpu),
                    null_vectors: null_vectors.as_ref().map_or(0, NullVectors::count),
                    method: params.method,
                    on_team: S::IS_TEAM,
                });
                (kind, Some(reason))
            }
        };
        let of_nodes = &params.preconditioner_params;
        let may_have_nodes = inspection.hermitian
            && matches!(kind, PreconditionerKind::Amg | PreconditionerKind::SmoothedAggregation)
            && of_nodes.finds_unknowns_per_node
            && of_nodes.near_null.is_none()
            && !of_nodes.amg.aggressive;
        let unknowns_per_node = if may_have_nodes { space.unknowns_per_node()? } else { None };
        if let Some(mut reason) = reason {
            if let Some(unknowns) = unknowns_per_node {
                reason.push_str(&format!("; dense {unknowns} x {unknowns} blocks, so {unknowns} unknowns per node"));
            }
            decisions.push(Decision::Chosen { kind, reason });
        }
        let varies = of_nodes.amg.cycle == Cycle::K;
        let method = params.method.unwrap_or_else(|| policy::method(&inspection, kind, varies));
        if kind == PreconditionerKind::Saddle && is_hermitian {
            null_vectors = NullVectors::of_saddle(space.parts()?)?;
        }
        let null_vectors = null_vectors.filter(|null| null.count() > 0);
        Ok(Plan { space, params, inspection, is_negated, null_vectors, kind, method, unknowns_per_node, decisions })
    }

    /// The first method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The first preconditioner.
    pub fn preconditioner(&self) -> PreconditionerKind {
        self.kind
    }

    /// What the entries of the matrix show.
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// The null vectors of a Hermitian matrix that are known before the solve; `None` where there are none.
    pub fn null_vectors(&self) -> Option<&NullVectors> {
        self.null_vectors.as_ref()
    }

    /// Why the method, the preconditioner and the matrix do not go together; `None` if they do.
    pub fn conflict(&self) -> Option<Conflict> {
        Conflict::of(self.method, self.kind, &self.inspection)
    }

    /// Tests the right-hand sides, column by column in `b`. If A only has unknowns that appear in no equation, whose values are arbitrary, returns a sentence that
    /// names the first of them, and notes it in the explanation.
    ///
    /// # Errors
    /// Those of [`check_finite`] and [`check_zeros`].
    pub fn check_right_sides(&mut self, b: &[S::Scalar]) -> Result<Option<String>> {
        let rows = self.inspection.rows;
        check_finite_columns(b, rows)?;
        if rows != self.inspection.cols
            || self.method.is_least_squares()
            || self.inspection.zero_rows + self.inspection.zero_columns == 0
        {
            return Ok(None);
        }
        let sentence = check_zeros(self.space.parts()?, b)?;
        self.decisions.extend(sentence.clone().map(Decision::Singular));
        Ok(sentence)
    }

    /// Notes in the explanation along which null vectors A is singular, and the first of the right-hand sides, column by column in `b`, without a solution.
    /// Returns whether there is one.
    pub fn note_null_vectors(&mut self, b: &[S::Scalar]) -> bool {
        let Some(null) = &self.null_vectors else { return false };
        self.decisions.push(Decision::Singular(format!("A is singular along {}", null.words())));
        let Some((column, part)) = null.obstacle(b, self.params.stopping.tolerance_of::<S::Scalar>()) else {
            return false;
        };
        let sentence = format!(
            "no solution for column {} of b, whose component along them is {} of its norm",
            column + 1,
            number(part, 2)
        );
        self.decisions.push(Decision::Singular(sentence));
        true
    }

    /// Sets up the preconditioner and the method.
    ///
    /// # Errors
    /// [`Error::Unsuitable`](crate::Error::Unsuitable) for a [conflict](Plan::conflict); those of a prescribed preconditioner and of the method.
    pub fn set_up(self, observe: Observer<'_>) -> Result<Automatic<S>> {
        if let Some(conflict) = self.conflict() {
            return Err(conflict.error());
        }
        let Plan {
            space,
            params,
            inspection,
            is_negated,
            null_vectors,
            kind,
            method,
            unknowns_per_node,
            mut decisions,
        } = self;
        let mut observe = |event: Event<'_>| {
            if let Event::Decision(decision) = event {
                decisions.push(decision.clone());
            }
            observe(event)
        };
        let setup = SetUp { space: &space, params: &params, inspection: &inspection, method, unknowns_per_node };
        let (prepared, has_fallback) = setup.first(kind, &mut observe)?;
        let solver = MethodSolver::new(&space, method, &params)?;
        let mut methods = vec![method];
        if params.method.is_none() {
            methods.extend(policy::takeovers(method, inspection.hermitian));
        }
        let mut stages = vec![Stage::Own(prepared)];
        stages.resize_with(methods.len(), || Stage::Pending);
        Ok(Automatic {
            space,
            params,
            inspection,
            is_negated,
            null_vectors,
            decisions,
            methods,
            stages,
            stage: 0,
            has_fallback,
            is_exhausted: false,
            solver,
        })
    }
}

/// The set-up of preconditioners, with what stands in for those that fail.
struct SetUp<'s, S: Space> {
    space: &'s S,
    params: &'s AutomaticParams,
    inspection: &'s Inspection,
    method: Method,
    unknowns_per_node: Option<usize>,
}

impl<S: Space> SetUp<'_, S> {
    fn of(&self, kind: PreconditionerKind, observe: Observer<'_>) -> Result<PreparedFor<S>> {
        self.space.set_up(kind, self.method, self.params, self.unknowns_per_node, observe)
    }

    /// The first preconditioner. If it was chosen and is unstable or cannot be set up, ILUT stands in for ILU(0), the factors of a last resort for ILUT,
    /// and the diagonal, or none, for all. Also returns whether the factors are those of the last resort.
    fn first(&self, kind: PreconditionerKind, observe: Observer<'_>) -> Result<(PreparedFor<S>, bool)> {
        let mut last = self.of(kind, observe);
        if !self.params.may_replace() {
            return Ok((last?, false));
        }
        let mut failed = kind;
        if let (PreconditionerKind::Ilu, Ok(prepared)) = (kind, &mut last)
            && let Some(gain) = self.space.instability(prepared, self.inspection)?
        {
            let _ = observe(Event::Decision(&Decision::Unstable { gain }));
            failed = PreconditionerKind::Ilut;
            last = self.of(failed, observe);
        }
        let mut is_fallback = false;
        for &substitute in substitutes(failed, self.inspection.hermitian) {
            let error = match &last {
                Err(error) if is_unsuited(error) => error.to_string(),
                _ => break,
            };
            is_fallback = substitute == PreconditionerKind::Lu;
            last = match substitute {
                PreconditionerKind::Lu => self.space.fallback(self.params),
                kind => self.of(kind, observe),
            };
            if let Ok(Prepared { kind: by, .. }) = last {
                let _ = observe(Event::Decision(&Decision::Replaced { failed, by, error }));
            } else if !is_fallback {
                failed = substitute;
            }
        }
        Ok((last?, is_fallback))
    }
}

/// What is tried in place of a preconditioner, one after the other; LU stands for the factors of a last resort.
fn substitutes(kind: PreconditionerKind, hermitian: bool) -> &'static [PreconditionerKind] {
    use PreconditionerKind::{Amg, Ilu, Ilut, Jacobi, Lu, None as Plain};
    match kind {
        Ilu => &[Ilut, Lu, Jacobi, Plain],
        Ilut => &[Lu, Jacobi, Plain],
        Amg if !hermitian => &[Ilut, Lu, Jacobi, Plain],
        Jacobi => &[Plain],
        Plain => &[],
        _ => &[Jacobi, Plain],
    }
}
