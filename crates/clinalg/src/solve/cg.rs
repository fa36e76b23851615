//! Conjugate gradients.

use num_traits::Float;
use serde::{Deserialize, Serialize};

use super::best::Best;
use super::cg_steps::{CgSteps, Row};
use super::driver::Method;
use super::krylov_vector::{KrylovVector, like};
use super::memory::MethodState;
use super::run::{Run, Workspace};
use super::scalars::{Blocks, Limits, precondition};
use super::{CgParams, Preconditioner, Stop, Stopping};
use crate::{Context, Real, Result, Scalar, Vector};

/// Conjugate gradients for symmetric (complex: Hermitian) positive definite A, with an optional symmetric positive
/// definite preconditioner (Hestenes and Stiefel 1952; Saad, Iterative Methods for Sparse Linear
/// Systems, 2003, algorithms 6.18 and 9.1).
///
/// Owns five vectors of `n` values, and one more where the initial guess is not zero. One iteration takes a product with a dot product
/// ([`Operator::apply_dot`](crate::ops::Operator::apply_dot)) and two launches on vectors; a preconditioner adds its
/// own work and one more launch. The scalars stay on the device: the host enqueues 1 to 32 iterations, more while convergence is
/// far away, then reads their scalars and checks each iteration. Iterations after convergence are enqueued but change nothing, so
/// x, the number of iterations and the history are the same as with one iteration at a time. On a team the scalars are
/// on the host, and an iteration takes two reductions.
///
/// The residual may rise for a long time while the error falls, so the stagnation window is at least `n`. If the solve does not converge, the one with the
/// smallest residual among the initial guess, the last iterate of each block of iterations (on a team every iterate) and the final one is returned
/// ([`Report::iterate`](super::Report::iterate)), except where the callback stops it.
///
/// A direction p with p'Ap <= 0 ends the solve with [`Stop::Indefinite`]; one with p'Ap below the machine
/// precision times the largest Rayleigh quotient so far, with [`Stop::Breakdown`]: A is singular to
/// working precision. The same holds for the preconditioner, with the square of the precision.
///
/// ```
/// use clinalg::solve::{Cg, CgParams, Solver};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
/// let b = Vector::from_slice(&context, &[1.0, 2.0])?;
/// let mut x = Vector::zeros(&context, 2)?;
/// let report = Cg::new(&context, 2, CgParams::default())?.solve(&a, None, &b, &mut x)?;
/// println!("{report}: {:?}", x.to_vec()?);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Cg<T: Scalar, V: KrylovVector<Scalar = T> = Vector<T>> {
    params: CgParams,
    r: V,
    z: V,
    p: V,
    q: V,
    best: Best<V>,
    norms: V::Dots,
    steps: Box<dyn CgSteps<T, V>>,
    state: State,
}

/// After the last iteration that was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The scale of the residual.
    unit: f64,
    /// The largest Rayleigh quotient of M^-1 A so far, and of M^-1 in the cycle.
    largest: f64,
    steepest: f64,
    /// The residual of the recurrence.
    norm: f64,
    blocks: Blocks,
    /// What the next iteration starts from.
    row: Row,
}

impl<T: Scalar> Cg<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: CgParams) -> Result<Cg<T>> {
        Cg::with(Vector::uninit(context, n)?, params)
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Cg<T, V> {
    /// A solver for systems whose vectors are like this one.
    ///
    /// # Errors
    /// As [`Cg::new`].
    pub fn like(vector: &V, params: CgParams) -> Result<Cg<T, V>> {
        let [r] = like(vector)?;
        Cg::with(r, params)
    }

    fn with(r: V, params: CgParams) -> Result<Cg<T, V>> {
        let [z, p, q, best] = like(&r)?;
        let (best, norms, steps) = (Best::new(best), r.dots()?, r.cg_steps()?);
        Ok(Cg { params, r, z, p, q, best, norms, steps, state: State::default() })
    }
}

impl<T: Scalar, V: KrylovVector<Scalar = T>> Method for Cg<T, V> {
    type Scalar = T;
    type Vector = V;

    const RETURNS_LAST: bool = true;

    fn stopping(&self) -> &Stopping {
        &self.params.stopping
    }

    fn stopping_mut(&mut self) -> &mut Stopping {
        &mut self.params.stopping
    }

    fn vectors(&self) -> Vec<&V> {
        vec![&self.r, &self.z, &self.p, &self.q, self.best.vector()]
    }

    fn workspace(&mut self) -> Workspace<'_, V> {
        let Cg { r, p, q, best, norms, .. } = self;
        Workspace { r, p, q, best, norms }
    }

    /// The error falls in every step, but its residual may rise until the last of n steps.
    fn min_window(&self) -> usize {
        self.r.size()
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
        let Cg { r, z, p, q, best, steps, state, .. } = self;
        let (a, eps) = (run.a, T::Real::epsilon().into_f64());
        if !continues {
            state.unit = run.rescale(r)?;
            let squares = (run.norm() / state.unit).powi(2);
            p.set_copy(precondition(&mut m, r, z)?)?;
            let rho = if m.is_some() { steps.rho(r, z)? } else { squares };
            if !rho.is_finite() {
                return Ok(Some(Stop::NotFinite));
            }
            // p'Mp by its recurrence, as r is orthogonal to the former p.
            state.row = Row { rho, squares, square: rho, largest: state.largest, ..Row::default() };
            (state.steepest, state.blocks) = (0.0, Blocks::default());
        }
        steps.start(state.row)?;
        let (unit, threshold) = (state.unit, run.threshold());
        let limits = Limits::new(unit, run.squares_to_reach(unit), run.squares_to_diverge(unit), threshold);
        let in_blocks = steps.at_once() > 1;
        loop {
            if in_blocks && continues && state.blocks.is_at_end() {
                best.look(x, state.norm, run.iterations())?;
            }
            continues = false;
            let block = state.blocks.next(run, steps.at_once());
            for _ in 0..block {
                a.apply_dot(p, q, steps.curvature())?;
                steps.residual(&limits, q, r)?;
                if let Some(m) = &mut m {
                    m.apply(r, z)?;
                }
                let preconditioned = m.is_some().then_some(&*z);
                steps.direction(&limits, (r, preconditioned), (x, run.iterations()), p, best)?;
            }
            for (row, next) in steps.read(block)? {
                if let Some(stop) = row.end([&mut state.largest, &mut state.steepest], eps) {
                    return Ok(Some(stop));
                }
                let norm = unit * next.squares.sqrt();
                (state.row, state.norm) = (next, norm);
                if let Some(stop) = run.record(norm, norm) {
                    return Ok(Some(stop));
                }
                if next.stop != 0.0 {
                    // The device's margin above the tolerance; the true residual decides.
                    return Ok(Some(Stop::Converged));
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

    fn state(&self) -> Result<MethodState> {
        Ok(MethodState::Cg(self.state))
    }

    fn restore(&mut self, state: MethodState) -> Result<bool> {
        let MethodState::Cg(state) = state else { return Ok(false) };
        self.state = state;
        Ok(true)
    }

    fn kept_vectors(&mut self) -> Vec<&mut V> {
        vec![&mut self.r, &mut self.p]
    }

    fn recurrence_norm(&self) -> f64 {
        self.state.norm
    }

    /// Within the device's margin above the tolerance.
    fn pending_end(&self, _: &Run<'_, T, V>) -> Option<Stop> {
        (self.state.row.stop != 0.0).then_some(Stop::Converged)
    }
}
