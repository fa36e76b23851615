//! Solves by one method after the other.

use std::ops::ControlFlow;

use num_traits::One as _;

use super::decision::{Decision, Event};
use super::plan::Plan;
use super::preconditioner::{Boxed, FactorFacts, Prepared};
use super::space::{MethodSolver, OneDevice, PreparedFor, Space};
use super::{AutomaticParams, Method, NEAR, Observer, PreconditionerKind, SystemScalar};
use crate::matrix::Inspection;
use crate::ops::SpaceVector;
use crate::precond::{NullVectors, diagnose_singularity, is_unsuited, singularity};
use crate::solve::{BlockCg, BlockReport, KrylovMemory, Preconditioner, Progress, Report, Stop, Stopping};
use crate::{Csr, Dense, Error, Result};

/// A system with a method and a preconditioner, and with those that take over where it fails.
pub struct Automatic<S: Space> {
    pub(super) space: S,
    pub(super) params: AutomaticParams,
    pub(super) inspection: Inspection,
    /// Whether the space has -A.
    pub(super) is_negated: bool,
    pub(super) null_vectors: Option<NullVectors>,
    pub(super) decisions: Vec<Decision>,
    /// The first method and those that take over, one after the other.
    pub(super) methods: Vec<Method>,
    /// The preconditioner of each of them: one that was not needed yet, or that of the first method.
    pub(super) stages: Vec<Stage<Boxed<S::Scalar, S::Vector>>>,
    /// That in use.
    pub(super) stage: usize,
    /// Whether the first preconditioner has the factors of the last resort.
    pub(super) has_fallback: bool,
    /// Whether the last right-hand side was solved with none of the methods, so that the next one begins with the first.
    pub(super) is_exhausted: bool,
    pub(super) solver: MethodSolver<S::Scalar, S::Vector>,
}

/// The preconditioner of a method that takes over.
pub(super) enum Stage<M> {
    /// It was not needed yet.
    Pending,
    /// That of the first method.
    Shared,
    /// One of its own.
    Own(Prepared<M>),
}

/// The preconditioner of a method that takes over, `None` for that of the first, and the error of one that failed.
type TakeOver<M> = (Option<Prepared<M>>, Option<String>);

/// Where a solve was ended by its observer or by the limit of iterations, for [`Automatic::solve_from`].
#[derive(Debug, Clone)]
pub struct Suspended<T> {
    /// The number of the method in use, 0 for the first: see [`Automatic::start_at`].
    pub stage: usize,
    /// The report of the methods before it.
    pub before: Option<Report>,
    /// x where the method in use began, if there was one before it.
    pub start: Vec<T>,
    /// What the method left.
    pub memory: KrylovMemory<T>,
}

// Not derived: `T` need not implement `Default`.
impl<T> Default for Suspended<T> {
    fn default() -> Suspended<T> {
        Suspended { stage: 0, before: None, start: Vec::new(), memory: KrylovMemory::default() }
    }
}

impl<T> Suspended<T> {
    /// Whether a solve with it begins anew.
    pub fn is_empty(&self) -> bool {
        self.before.is_none() && self.memory.is_empty()
    }
}

impl<'a, T: SystemScalar> Automatic<OneDevice<'a, T>> {
    /// Chooses and sets up a method and a preconditioner for systems with a matrix on one device.
    ///
    /// # Errors
    /// Those of [`Plan::of`] and [`Plan::set_up`].
    pub fn new(a: &'a Csr<T>, params: AutomaticParams) -> Result<Automatic<OneDevice<'a, T>>> {
        Plan::new(a, params)?.set_up(&mut unobserved)
    }
}

/// An observer that does nothing.
fn unobserved(_: Event<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

impl<S: Space> Automatic<S> {
    /// The method in use.
    pub fn method(&self) -> Method {
        self.methods[self.stage]
    }

    /// The first method, if another one has taken over.
    pub fn failed_method(&self) -> Option<Method> {
        (self.stage > 0).then(|| self.methods[0])
    }

    fn prepared_for(&self, stage: usize) -> &PreparedFor<S> {
        match (&self.stages[stage], &self.stages[0]) {
            (Stage::Own(prepared), _) | (_, Stage::Own(prepared)) => prepared,
            _ => unreachable!("the first method has a preconditioner of its own"),
        }
    }

    /// The preconditioner in use.
    pub fn preconditioner(&self) -> PreconditionerKind {
        self.prepared_for(self.stage).kind
    }

    /// Sizes and levels of the preconditioner in use; may be empty.
    pub fn preconditioner_description(&self) -> &str {
        &self.prepared_for(self.stage).description
    }

    /// What complete factors in use show about the matrix, or its negative where that is solved with ([`Decision::Negated`]).
    pub fn factor_facts(&self) -> FactorFacts {
        self.prepared_for(self.stage).facts
    }

    /// What was chosen and replaced, one step after the other.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// The decisions, a line each.
    pub fn explanation(&self) -> String {
        self.decisions.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    /// What the entries of the matrix show.
    pub fn inspection(&self) -> &Inspection {
        &self.inspection
    }

    /// The null vectors of a Hermitian matrix that are known before the solve; `None` where there are none.
    pub fn null_vectors(&self) -> Option<&NullVectors> {
        self.null_vectors.as_ref()
    }

    /// The matrix with its device or team.
    pub fn space(&self) -> &S {
        &self.space
    }

    /// Solves A x = b from the initial guess x.
    ///
    /// # Errors
    /// As [`Automatic::solve_with`].
    pub fn solve(&mut self, b: &S::Vector, x: &mut S::Vector) -> Result<Report> {
        self.solve_with(b, x, &mut unobserved)
    }

    /// Solves A x = b from the initial guess x, with events.
    ///
    /// # Errors
    /// Those of the methods and of the preconditioners that take over. An iteration that does not converge is not an error: see [`Report::stop`].
    pub fn solve_with(&mut self, b: &S::Vector, x: &mut S::Vector, observe: Observer<'_>) -> Result<Report> {
        self.run(None, b, x, observe)
    }

    /// As [`Automatic::solve_with`]. If `state` is not empty, continues from it to the bits of an uninterrupted solve with the same right-hand side and initial guess;
    /// [`Automatic::start_at`] has to be called before. A solve that its observer or the limit of iterations ends leaves there what another one needs to continue.
    ///
    /// # Errors
    /// As [`Automatic::solve_with`]; [`Error::Value`] for a state of another method or size.
    pub fn solve_from(
        &mut self,
        state: &mut Suspended<S::Scalar>,
        b: &S::Vector,
        x: &mut S::Vector,
        observe: Observer<'_>,
    ) -> Result<Report> {
        self.run(Some(state), b, x, observe)
    }

    /// Both kinds of solves; only those with a state keep what the methods leave.
    fn run(
        &mut self,
        mut state: Option<&mut Suspended<S::Scalar>>,
        b: &S::Vector,
        x: &mut S::Vector,
        observe: Observer<'_>,
    ) -> Result<Report> {
        let mut negative;
        let b = match self.is_negated {
            true => {
                negative = b.duplicate()?;
                negative.scale_by(-S::Scalar::one())?;
                &negative
            }
            false => b,
        };
        let keeps = state.is_some();
        let resumed = state.as_mut().map(|state| std::mem::take(&mut **state)).unwrap_or_default();
        let Suspended { mut before, start, mut memory, .. } = resumed;
        let begins = before.is_none() && memory.is_empty();
        if begins && std::mem::take(&mut self.is_exhausted) && self.stage > 0 {
            self.go_to(0, observe)?;
        }
        // What a method that takes over may start from.
        let initial = if self.methods.len() > 1 { Some(x.duplicate()?) } else { None };
        if !start.is_empty() {
            x.set_from_host(&start)?;
        }
        loop {
            let start = before.is_some().then(|| x.duplicate()).transpose()?;
            // From an x that has grown along null vectors, the next method would have no accuracy left.
            let has_grown = before.as_ref().is_some_and(|before| before.stop == Stop::Unbounded);
            if let (true, true, Some(initial)) = (has_grown, memory.is_empty(), &initial) {
                x.set_copy(initial)?;
            }
            let kept = keeps.then_some(&mut memory);
            let mut report = self.by_method(before.as_ref(), kept, b, x, observe)?;
            let is_settled = has_grown && report.stop == Stop::LeastSquares;
            if let (Some(start), Some(before), false) = (&start, &before, is_settled) {
                let has_risen;
                (report, has_risen) = report.or_start(before.relative_residual);
                if has_risen {
                    x.set_copy(start)?;
                }
                if has_grown && report.stop.is_failure_of_method() {
                    report.stop = Stop::Unbounded;
                }
            }
            let stop = report.stop;
            let fails =
                stop.is_failure_of_method() || (stop == Stop::IterationLimit && self.params.takes_over_at_limit);
            if fails && self.stage + 1 < self.methods.len() {
                self.go_to(self.stage + 1, observe)?;
                before = Some(report.after(before));
                memory = KrylovMemory::default();
                continue;
            }
            if matches!(stop, Stop::Cancelled | Stop::IterationLimit)
                && let Some(state) = state
            {
                let start = start.map_or_else(|| Ok(Vec::new()), |start| start.to_host())?;
                *state = Suspended { stage: self.stage, before: before.clone(), start, memory };
            }
            self.is_exhausted = !matches!(stop, Stop::Converged | Stop::RoundingFloor | Stop::Cancelled);
            return Ok(report.after(before));
        }
    }

    /// Solves by the method in use. The iterations of the methods before it count in the events.
    fn by_method(
        &mut self,
        before: Option<&Report>,
        memory: Option<&mut KrylovMemory<S::Scalar>>,
        b: &S::Vector,
        x: &mut S::Vector,
        observe: Observer<'_>,
    ) -> Result<Report> {
        let count = before.map_or(0, |before| before.iterations);
        let progress = &mut |iteration: usize, residual: f64| observe(Event::Iteration(count + iteration, residual));
        let Automatic { space, stages, stage, solver, .. } = self;
        let at = if matches!(stages[*stage], Stage::Own(_)) { *stage } else { 0 };
        let Stage::Own(prepared) = &mut stages[at] else {
            unreachable!("the first method has a preconditioner of its own")
        };
        solver.solve(space, prepared, memory, (b, x), progress)
    }

    /// One iteration with the method in use, whose result is dropped, so that its kernels are built.
    ///
    /// # Errors
    /// Those of the method.
    pub fn warm_up(&mut self, b: &S::Vector) -> Result<()> {
        let mut x = self.space.initial_guess()?;
        self.solver.stopping_mut().max_iterations = 1;
        let warmed = self.by_method(None, None, b, &mut x, &mut unobserved);
        self.solver.stopping_mut().max_iterations = self.params.stopping.max_iterations;
        warmed.map(drop)
    }

    /// Goes to the method with this number, which [`Suspended::stage`] has, for the next solve.
    ///
    /// # Errors
    /// [`Error::Value`] for a method that this system does not have; those of its preconditioner.
    pub fn start_at(&mut self, stage: usize, observe: Observer<'_>) -> Result<()> {
        if stage >= self.methods.len() {
            return Err(Error::value("stage", format!("a number below {}", self.methods.len()), stage));
        }
        if stage != self.stage { self.go_to(stage, observe) } else { Ok(()) }
    }

    fn go_to(&mut self, stage: usize, observe: Observer<'_>) -> Result<()> {
        let method = self.methods[stage];
        let is_pending = matches!(self.stages[stage], Stage::Pending);
        let mut error = None;
        if is_pending {
            let own;
            (own, error) = self.take_over(method)?;
            self.stages[stage] = own.map_or(Stage::Shared, Stage::Own);
        }
        if stage > 0 {
            let (failed, kind) = (self.methods[stage - 1], self.prepared_for(stage).kind);
            let is_same = matches!(self.stages[stage], Stage::Shared);
            let decision = Decision::TakenOver { failed, method, kind, is_same, error };
            let _ = observe(Event::Decision(&decision));
            if is_pending {
                self.decisions.push(decision);
            }
        }
        self.solver = MethodSolver::new(&self.space, method, &self.params)?;
        self.stage = stage;
        Ok(())
    }

    /// The preconditioner of a method that takes over, `None` for that of the first, and the error of another one that could not be set up.
    fn take_over(&self, method: Method) -> Result<TakeOver<Boxed<S::Scalar, S::Vector>>> {
        // Without a preconditioner it needs no definite matrix, and its residual never rises.
        if method == Method::Minres {
            return Ok((Some(Prepared::none()), None));
        }
        if S::IS_TEAM || self.params.preconditioner.is_some() || self.has_fallback {
            return Ok((None, None));
        }
        match self.space.fallback(&self.params) {
            Ok(factors) => Ok((Some(factors), None)),
            Err(error) if is_unsuited(&error) => Ok((None, Some(error.to_string()))),
            Err(error) => Err(error),
        }
    }

    /// Whether [`Automatic::diagnose`] can find out anything from a solve with this report.
    pub fn may_diagnose(&self, report: &Report) -> bool {
        let is_square = self.inspection.rows == self.inspection.cols;
        // Not below, if it is NaN.
        let is_near = report.relative_residual <= NEAR * self.params.stopping.tolerance_of::<S::Scalar>();
        is_square && !S::IS_TEAM && !is_near && !matches!(report.stop, Stop::Converged | Stop::Cancelled)
    }

    /// What the failed solve of `report` for one right-hand side shows about A: a sentence if A is singular or nearly so, `None`
    /// if nothing is known. The search for null vectors can take seconds; `progress` is called meanwhile and may end it.
    ///
    /// # Errors
    /// Those of the device.
    pub fn diagnose(
        &self,
        report: &Report,
        b: &[S::Scalar],
        x: &[S::Scalar],
        progress: Progress<'_>,
    ) -> Result<Option<String>> {
        let Some(context) = self.space.context().filter(|_| self.may_diagnose(report)) else { return Ok(None) };
        let parts = self.space.parts()?;
        let negative: Vec<S::Scalar>;
        let b = match self.is_negated {
            true => {
                negative = b.iter().map(|&value| -value).collect();
                &negative
            }
            false => b,
        };
        match report.stop {
            // Reaching a limit says nothing about the matrix.
            Stop::IterationLimit if self.stage == 0 => Ok(singularity(parts, b, x)),
            _ => diagnose_singularity(context, parts, b, x, progress),
        }
    }
}

impl<T: SystemScalar> Automatic<OneDevice<'_, T>> {
    /// Solves A X = B for all columns at once by block conjugate gradients, from the initial guess X.
    ///
    /// # Errors
    /// [`Error::Value`] unless the method is [`Method::BlockCg`]; those of [`BlockCg::new`] and [`BlockCg::solve_with`].
    pub fn solve_block(&mut self, b: &Dense<T>, x: &mut Dense<T>, observe: Observer<'_>) -> Result<BlockReport> {
        self.by_block(b, x, self.params.stopping.clone(), observe)
    }

    /// One iteration of [`Automatic::solve_block`], whose result is dropped, so that its kernels are built.
    ///
    /// # Errors
    /// As [`Automatic::solve_block`].
    pub fn warm_up_block(&mut self, b: &Dense<T>) -> Result<()> {
        let mut x = Dense::zeros(self.space.a().context(), b.rows(), b.cols())?;
        self.by_block(b, &mut x, self.params.stopping.clone().max_iterations(1), &mut unobserved).map(drop)
    }

    fn by_block(
        &mut self,
        b: &Dense<T>,
        x: &mut Dense<T>,
        stopping: Stopping,
        observe: Observer<'_>,
    ) -> Result<BlockReport> {
        if self.method() != Method::BlockCg {
            let expected = "block conjugate gradients, the method for several right-hand sides at once";
            return Err(Error::value("method", expected, self.method().name()));
        }
        let negative = match self.is_negated {
            true => {
                let mut values = b.as_vector().duplicate()?;
                values.scale_by(-T::one())?;
                Some(Dense::from_vector(b.rows(), b.cols(), values)?)
            }
            false => None,
        };
        let Automatic { space, stages, inspection, .. } = self;
        let mut solver = BlockCg::new(space.a().context(), inspection.rows, b.cols(), stopping.into())?;
        let Stage::Own(prepared) = &mut stages[0] else {
            unreachable!("the first method has a preconditioner of its own")
        };
        let m = prepared.preconditioner.as_mut().map(|m| &mut **m as &mut dyn Preconditioner<T>);
        let progress = &mut |iteration: usize, residual: f64| observe(Event::Iteration(iteration, residual));
        solver.solve_with(space.a(), m, negative.as_ref().unwrap_or(b), x, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, CsrParts, Vector};

    /// -u'' + `shift` u on `n` points without conditions at the ends.
    fn chain(n: usize, shift: f64) -> CsrParts<f64> {
        let own = |i: usize| shift + f64::from(u8::from(i > 0)) + f64::from(u8::from(i + 1 < n));
        let entries = |i: usize| [(i, i, own(i)), (i, i.wrapping_sub(1), -1.0), (i, i + 1, -1.0)];
        let entries: Vec<_> = (0..n).flat_map(entries).filter(|entry| entry.1 < n).collect();
        CsrParts::from_triplets(n, n, &entries).unwrap()
    }

    #[test]
    fn methods_that_take_over_are_kept_for_the_next_right_hand_side() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let a = Csr::from_parts(&context, &chain(300, 1e-6)).unwrap();
        let b: Vec<f64> = (0..300).map(|k| f64::from(k).sin()).collect();
        let (b, mut x) = (Vector::from_slice(&context, &b).unwrap(), Vector::zeros(&context, 300).unwrap());
        // CG takes about as many iterations as there are points; the factors are nearly exact.
        let mut params = AutomaticParams::default();
        params.stopping.max_iterations = 20;
        let mut system = Automatic::new(&a, params.clone()).unwrap();
        let first = system.solve(&b, &mut x).unwrap();
        assert!(first.stop == Stop::Converged && first.iterations > 20, "{first}");
        let state = |system: &Automatic<OneDevice<'_, f64>>| (system.method(), system.preconditioner(), system.stage);
        let with_factors = (Method::Gmres, PreconditionerKind::Lu, 1);
        assert_eq!((state(&system), system.failed_method()), (with_factors, Some(Method::Cg)));
        x.fill(0.0).unwrap();
        let second = system.solve(&b, &mut x).unwrap();
        assert!(second.stop == Stop::Converged && second.iterations < 20, "{second}");
        assert_eq!(system.decisions().len(), 2, "{}", system.explanation());
        // A later failure takes the third method, after which the next right-hand side begins with the first again, and nothing is set up twice.
        system.go_to(2, &mut unobserved).unwrap();
        assert_eq!(state(&system), (Method::Minres, PreconditionerKind::None, 2));
        system.is_exhausted = true;
        x.fill(0.0).unwrap();
        let third = system.solve(&b, &mut x).unwrap();
        assert!(third.stop == Stop::Converged && third.iterations > 20, "{third}");
        assert_eq!((state(&system), system.decisions().len()), (with_factors, 3));
        // The caller's own limit ends the solve.
        let mut system = Automatic::new(&a, AutomaticParams::default().max_iterations(20)).unwrap();
        x.fill(0.0).unwrap();
        let report = system.solve(&b, &mut x).unwrap();
        assert_eq!((report.stop, report.iterations, system.stage), (Stop::IterationLimit, 20, 0));
    }

    #[test]
    fn what_does_not_go_together_is_an_error() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let entries = [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 1.0)];
        let a = Csr::from_triplets(&context, 2, 2, &entries).unwrap();
        let error = |params| Automatic::new(&a, params).err().expect("a conflict").to_string();
        let minres = error(AutomaticParams::default().method(Method::Minres));
        assert!(minres.contains("MINRES needs a Hermitian matrix; use GMRES"), "{minres}");
        let with_ilu = AutomaticParams::default().method(Method::Cg).preconditioner(PreconditionerKind::Ilu);
        assert!(error(with_ilu).contains("which ILU(0) is not"));
        let with_ic = AutomaticParams::default().preconditioner(PreconditionerKind::Cholesky);
        assert!(error(with_ic).contains("IC(0) needs a Hermitian matrix"));
    }
}
