//! The loop around the cycles of a Krylov method.

use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::krylov_vector::KrylovVector;
use super::memory::{KrylovState, MethodState, State, SystemState};
use super::run::{Run, Workspace, check_system};
use super::{KrylovMemory, Operator, Preconditioner, Progress, Report, Resumable, Solver, Stop, Stopping};
use crate::ops::SpaceVector;
use crate::{Error, Result, Scalar};

/// A Krylov method: its recurrence, which [`solve`] runs in cycles from a true residual.
pub trait Method {
    /// The type of numbers.
    type Scalar: Scalar;
    /// The type of vectors.
    type Vector: KrylovVector<Scalar = Self::Scalar>;

    /// Whether a solve that is stopped on request returns its last iterate: its error is the smallest even where the
    /// residual has risen.
    const RETURNS_LAST: bool = false;

    /// When a solve ends.
    fn stopping(&self) -> &Stopping;

    /// The same, for changes.
    fn stopping_mut(&mut self) -> &mut Stopping;

    /// All vectors of its own.
    fn vectors(&self) -> Vec<&Self::Vector>;

    /// Those of the outer loop.
    fn workspace(&mut self) -> Workspace<'_, Self::Vector>;

    /// Iterations that the residual may go without a new minimum, whatever the stopping criteria say.
    fn min_window(&self) -> usize {
        0
    }

    /// Forgets the previous solve; the next one has a preconditioner, or none.
    fn reset(&mut self, preconditioned: bool);

    /// Whether the next cycle takes the preconditioner, if there is one.
    fn is_preconditioned(&self) -> bool {
        true
    }

    /// Iterates from the residual in the workspace, or from where a cycle of a former solve was ended if it
    /// `continues`, until a stopping criterion is met; `None` asks for another cycle from the true residual.
    ///
    /// # Errors
    /// Those of the operator and the preconditioner; what a device reports.
    fn cycle(
        &mut self,
        run: &mut Run<'_, Self::Scalar, Self::Vector>,
        m: Option<&mut (dyn Preconditioner<Self::Scalar, Self::Vector> + '_)>,
        x: &mut Self::Vector,
        continues: bool,
    ) -> Result<Option<Stop>>;

    /// Updates x after a cycle, where the cycle has not.
    ///
    /// # Errors
    /// What a device reports.
    fn update_solution(&mut self, _x: &mut Self::Vector) -> Result<()> {
        Ok(())
    }

    /// Judges the end `seen` of a cycle by the true residual; `None` asks for another cycle.
    ///
    /// # Errors
    /// As [`Method::cycle`].
    fn end_cycle(
        &mut self,
        run: &mut Run<'_, Self::Scalar, Self::Vector>,
        seen: Option<Stop>,
        x: &mut Self::Vector,
    ) -> Result<Option<Stop>> {
        let mut work = self.workspace();
        match run.confirm(seen, x, &mut work)? {
            Some(Stop::Cancelled) if Self::RETURNS_LAST => Ok(Some(Stop::Cancelled)),
            end => run.settle(end, x, &mut work),
        }
    }

    /// The scalars after the last iteration that was checked.
    ///
    /// # Errors
    /// What a device reports.
    fn state(&self) -> Result<MethodState>;

    /// Continues from these scalars; returns false if they are those of another method or of other parameters.
    ///
    /// # Errors
    /// Those of an upload.
    fn restore(&mut self, state: MethodState) -> Result<bool>;

    /// The vectors that a continued cycle needs.
    fn kept_vectors(&mut self) -> Vec<&mut Self::Vector>;

    /// The residual of the recurrence.
    fn recurrence_norm(&self) -> f64;

    /// Why the iteration must not continue from where it is, besides what the residual says.
    fn pending_end(&self, _run: &Run<'_, Self::Scalar, Self::Vector>) -> Option<Stop> {
        None
    }
}

impl<M: Method> Solver<M::Scalar, M::Vector> for M {
    fn size(&self) -> usize {
        self.vectors()[0].size()
    }

    fn context(&self) -> &<M::Vector as SpaceVector>::Space {
        self.vectors()[0].space()
    }

    fn stopping(&self) -> &Stopping {
        Method::stopping(self)
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        Method::stopping_mut(self)
    }

    fn solve_with(
        &mut self,
        a: &dyn Operator<M::Scalar, M::Vector>,
        m: Option<&mut dyn Preconditioner<M::Scalar, M::Vector>>,
        b: &M::Vector,
        x: &mut M::Vector,
        progress: Progress<'_>,
    ) -> Result<Report> {
        solve(self, None, (a, m), b, x, progress)
    }
}

impl<M: Method> Resumable<M::Scalar, M::Vector> for M {
    fn solve_from(
        &mut self,
        memory: &mut KrylovMemory<M::Scalar>,
        a: &dyn Operator<M::Scalar, M::Vector>,
        m: Option<&mut dyn Preconditioner<M::Scalar, M::Vector>>,
        b: &M::Vector,
        x: &mut M::Vector,
        progress: Progress<'_>,
    ) -> Result<Report> {
        solve(self, Some(memory), (a, m), b, x, progress)
    }
}

/// A matrix with a preconditioner.
type Preconditioned<'a, 'm, T, V> = (&'a dyn Operator<T, V>, Option<&'m mut dyn Preconditioner<T, V>>);

fn solve<T: Scalar, V: KrylovVector<Scalar = T>, M: Method<Scalar = T, Vector = V>>(
    method: &mut M,
    mut memory: Option<&mut KrylovMemory<T>>,
    (a, m): Preconditioned<'_, '_, T, V>,
    b: &V,
    x: &mut V,
    progress: Progress<'_>,
) -> Result<Report> {
    let own = method.vectors();
    let n = own[0].size();
    check_own(own.iter().copied())?;
    check_system(own[0].space(), n, a, m.as_deref(), b, x)?;
    let a = &CheckedOperator::new(a, n);
    let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
    let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T, V>);
    let before = memory.as_mut().map(|memory| std::mem::take(&mut **memory)).filter(|memory| !memory.is_empty());
    method.reset(m.is_some());
    let mut run = Run::new(a, b, Method::stopping(method).clone(), progress)?;
    run.set_min_window(method.min_window());
    let (mut end, mut resumed, mut continues) = (None, None, before.is_some());
    match before {
        Some(before) => resumed = restore(method, &mut run, x, before)?,
        None => {
            let Workspace { r, best, norms, .. } = method.workspace();
            end = run.start(x, r, norms)?;
            best.start(x, run.norm())?;
        }
    }
    let mut left = None;
    loop {
        if let Some(stop) = end {
            let report = run.report(stop);
            if let (Some(memory), Some(left), Stop::Cancelled | Stop::IterationLimit) = (memory, left, report.stop) {
                *memory = left;
            }
            return Ok(report);
        }
        let seen = match resumed.take() {
            Some(seen) => Some(seen),
            None => {
                let m = m.as_deref_mut().filter(|_| method.is_preconditioned());
                method.cycle(&mut run, m, x, continues)?
            }
        };
        continues = false;
        if memory.is_some() && !run.may_go_on() {
            left = Some(saved(method, &run, seen, x)?);
        }
        method.update_solution(x)?;
        end = method.end_cycle(&mut run, seen, x)?;
    }
}

/// The memory of a solve that is ended here.
fn saved<M: Method>(
    method: &mut M,
    run: &Run<'_, M::Scalar, M::Vector>,
    seen: Option<Stop>,
    x: &M::Vector,
) -> Result<KrylovMemory<M::Scalar>> {
    let best = &*method.workspace().best;
    let mut vectors = Vec::new();
    for vector in best.vectors() {
        vectors.extend(vector.to_host()?);
    }
    let best = best.state();
    for vector in method.kept_vectors() {
        vectors.extend(vector.to_host()?);
    }
    let seen = seen.filter(|seen| matches!(seen, Stop::Converged | Stop::Breakdown | Stop::Stagnated));
    let state = State::System(SystemState { monitor: run.state(), best, seen, method: method.state()? });
    Ok(KrylovMemory {
        x: x.to_host()?,
        vectors,
        state: Some(KrylovState(Box::new(state))),
        history: run.history().to_vec(),
    })
}

/// Continues from a memory; returns why the cycle ended there, if it did.
fn restore<M: Method>(
    method: &mut M,
    run: &mut Run<'_, M::Scalar, M::Vector>,
    x: &mut M::Vector,
    memory: KrylovMemory<M::Scalar>,
) -> Result<Option<Stop>> {
    let n = x.size();
    let KrylovMemory { x: iterate, vectors, state, history } = memory;
    let unfit = || {
        let expected = format!("that of a solve for {n} unknowns by the same method with the same parameters");
        let got = format!("one for {} unknowns, with {} vector entries", iterate.len(), vectors.len());
        Error::value("memory", expected, got)
    };
    let Some(State::System(SystemState { monitor, best, seen, method: state })) = state.map(|state| *state.0) else {
        return Err(unfit());
    };
    if iterate.len() != n || history.len() < 2 || !method.restore(state)? {
        return Err(unfit());
    }
    let count = 1 + usize::from(best.has_start) + method.kept_vectors().len();
    if vectors.len() != count * n {
        return Err(unfit());
    }
    x.set_from_host(&iterate)?;
    let mut values = vectors.chunks_exact(n.max(1));
    let mut next = || values.next().unwrap_or_default();
    let (of_best, start) = (next(), best.has_start.then(&mut next));
    method.workspace().best.restore(best, of_best, start)?;
    for vector in method.kept_vectors() {
        vector.set_from_host(next())?;
    }
    run.restore(monitor, &history);
    Ok(run.end_of(method.recurrence_norm()).or(seen).or_else(|| method.pending_end(run)))
}
