//! Stabilised biconjugate gradients.

use super::best::Best;
use super::bicgstab_state::{SavedState, Shadow, State};
use super::bicgstab_steps::{BiCgStabSteps, Row};
use super::driver::Method;
use super::krylov_vector::{KrylovVector, like};
use super::memory::MethodState;
use super::run::{Run, Workspace};
use super::scalars::{Blocks, Limits};
use super::{BiCgStabParams, Preconditioner, Stop, Stopping};
use crate::{Context, Result, Scalar, Vector};

/// BiCGStab for any square nonsingular A, with an optional preconditioner applied from the right
/// (van der Vorst 1992; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 7.7;
/// Barrett et al., Templates, 1994, section 2.3.8).
///
/// Owns eight vectors of `n` values, and one more where the initial guess is not zero. One iteration takes two products with two dot products each
/// ([`Operator::apply_dots`](crate::ops::Operator::apply_dots)) and three launches on vectors; a preconditioner is
/// applied twice. Real scalars stay on the device and the host checks several iterations at once, as in
/// [`Cg`](crate::solve::Cg); complex ones are read back five times per iteration. On a team the scalars are on the
/// host, and an iteration takes three reductions.
///
/// If a coefficient or A M^-1 p vanishes to working precision, the iteration restarts from the true residual. Where that does
/// not help, and where the residual grew or no longer falls, it restarts from the best iterate with another shadow residual: the
/// residual with scattered signs. [`Stop::Breakdown`], [`Stop::Diverged`] and [`Stop::Stagnated`] mean that this did not help
/// either; [`Gmres`](crate::solve::Gmres) needs no shadow residual.
///
/// Residuals may rise far above the initial one. The best iterate among those that the host has checked is kept, and it is
/// the one returned if the solve does not converge, or the initial guess if its true residual is smaller.
#[derive(Debug)]
pub struct BiCgStab<T: Scalar, V: KrylovVector<Scalar = T> = Vector<T>> {
    params: BiCgStabParams,
    r: V,
    shadow: V,
    p: V,
    v: V,
    t: V,
    /// M^-1 p and M^-1 r.
    y: V,
    z: V,
    best: Best<V>,
    norms: V::Dots,
    steps: Box<dyn BiCgStabSteps<T, V>>,
    state: State,
}

/// The fraction to which the residual must fall between changes of the shadow residual.
const SHADOW_PROGRESS: f64 = 0.9;

impl<T: Scalar> BiCgStab<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: BiCgStabParams) -> Result<BiCgStab<T>> {
        BiCgStab::with(Vector::uninit(context, n)?, params)
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> BiCgStab<T, V> {
    /// A solver for systems whose vectors are like this one.
    ///
    /// # Errors
    /// As [`BiCgStab::new`].
    pub fn like(vector: &V, params: BiCgStabParams) -> Result<BiCgStab<T, V>> {
        let [r] = like(vector)?;
        BiCgStab::with(r, params)
    }

    fn with(r: V, params: BiCgStabParams) -> Result<BiCgStab<T, V>> {
        let (norms, steps, state) = (r.dots()?, r.bicgstab_steps()?, State::default());
        let [shadow, p, v, t, y, z, best] = like(&r)?;
        Ok(BiCgStab { params, r, shadow, p, v, t, y, z, best: Best::new(best), norms, steps, state })
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Method for BiCgStab<T, V> {
    type Scalar = T;
    type Vector = V;

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn vectors(&self) -> Vec<&V> {
        vec![&self.r, &self.shadow, &self.p, &self.v, &self.t, &self.y, &self.z, self.best.vector()]
    }

    fn workspace(&mut self) -> Workspace<'_, V> {
        let BiCgStab { r, p, v, best, norms, .. } = self;
        Workspace { r, p, q: v, best, norms }
    }

    fn reset(&mut self, _: bool) {
        self.state = State::default();
    }

    fn cycle(
        &mut self,
        run: &mut Run<'_, T, V>,
        mut m: Option<&mut (dyn Preconditioner<T, V> + '_)>,
        x: &mut V,
        mut continues: bool,
    ) -> Result<Option<Stop>> {
        let BiCgStab { r, shadow, p, v, t, y, z, best, steps, state, .. } = self;
        let a = run.a;
        if !continues {
            state.unit = run.rescale(r)?;
            let length = run.norm() / state.unit;
            let scattered = match state.kind {
                Shadow::Residual => {
                    shadow.set_copy(r)?;
                    None
                }
                Shadow::Scattered => {
                    shadow.set_scattered_signs(r)?;
                    Some(&*shadow)
                }
            };
            let row = steps.begin(r, scattered, p, length)?;
            state.row = Row { largest: state.largest.powi(2), ..row };
            (state.shadow_square, state.norm, state.blocks) = (length.powi(2), run.norm(), Blocks::default());
        }
        let (unit, threshold) = (state.unit, run.threshold());
        let limits = Limits::new(unit, run.squares_to_reach(unit), run.squares_to_diverge(unit), threshold);
        steps.start(state.row, state.shadow_square.sqrt())?;
        let in_blocks = steps.at_once() > 1;
        loop {
            if in_blocks && continues && state.blocks.is_at_end() {
                best.look(x, state.norm, run.iterations())?;
            }
            continues = false;
            let block = state.blocks.next(run, steps.at_once());
            for _ in 0..block {
                // v = A M^-1 p, and the step along M^-1 p that makes r orthogonal to the shadow.
                if let Some(m) = &mut m {
                    m.apply(p, y)?;
                }
                let along_p = if m.is_some() { &*y } else { &*p };
                a.apply_dots(T::one(), along_p, None, shadow, v, steps.dots())?;
                steps.half(&limits, (p, v), r)?;
                // t = A M^-1 r, and the step along M^-1 r that makes r smallest.
                if let Some(m) = &mut m {
                    m.apply(r, z)?;
                }
                let along_r = m.is_some().then_some(&*z);
                a.apply_dots(T::one(), along_r.unwrap_or(r), None, r, t, steps.dots())?;
                steps.whole(&limits, (along_p, along_r), (t, shadow), (x, run.iterations()), r, best)?;
                steps.direction(&limits, r, v, p)?;
            }
            for (row, next) in steps.read(block)? {
                if let Some(stop) = state.advance::<T>(run, (row, next), best) {
                    return Ok(Some(stop));
                }
            }
            if in_blocks {
                best.look(x, state.norm, run.iterations())?;
            }
            if run.cancelled() {
                return Ok(Some(Stop::Cancelled));
            }
        }
    }

    /// Where the method gives up, changes the shadow residual, if the residual has fallen since the last change.
    fn end_cycle(&mut self, run: &mut Run<'_, T, V>, seen: Option<Stop>, x: &mut V) -> Result<Option<Stop>> {
        let mut work = self.workspace();
        let end = run.confirm(seen, x, &mut work)?;
        let end = run.settle(end, x, &mut work)?;
        let gives_up = end.is_some_and(|stop| stop.is_failure_of_method() || stop == Stop::NotFinite);
        if !gives_up || run.norm() > SHADOW_PROGRESS * self.state.changed_at || run.norm().is_nan() {
            return Ok(end);
        }
        if !run.may_go_on() {
            return Ok(Some(if run.cancelled() { Stop::Cancelled } else { Stop::IterationLimit }));
        }
        (self.state.kind, self.state.changed_at) = (Shadow::Scattered, run.norm());
        let Workspace { r, best, norms, .. } = self.workspace();
        best.correct(run.go_back(x, r, norms)?);
        Ok(None)
    }

    fn state(&self) -> Result<MethodState> {
        Ok(MethodState::BiCgStab(SavedState { state: self.state, scalars: self.steps.scalars()? }))
    }

    fn restore(&mut self, state: MethodState) -> Result<bool> {
        let MethodState::BiCgStab(SavedState { state, scalars }) = state else { return Ok(false) };
        self.state = state;
        self.steps.restore(&scalars)
    }

    fn kept_vectors(&mut self) -> Vec<&mut V> {
        vec![&mut self.r, &mut self.shadow, &mut self.p, &mut self.v]
    }

    fn recurrence_norm(&self) -> f64 {
        self.state.norm
    }

    fn pending_end(&self, run: &Run<'_, T, V>) -> Option<Stop> {
        self.state.pending_end::<T>(run)
    }
}
