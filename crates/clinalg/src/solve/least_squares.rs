//! Least squares by Golub-Kahan bidiagonalisation.

use num_traits::Float;
use serde::{Deserialize, Serialize};

use super::basis::shrink;
use super::best::Start;
use super::checked::CheckedPreconditioner;
use super::memory::{self, KrylovState};
use super::monitor::{FLOOR_CEILING, FLOOR_FACTOR, RESTART_PROGRESS};
use super::{KrylovMemory, LeastSquaresParams, Preconditioner, Progress, Report, Stop};
use crate::error::check_length;
use crate::ops::{self, Transposed, scatter_signs};
use crate::{Context, Error, Real, Result, Scalar, Vector};

/// The fraction of the tolerance that the recurrence of the residual of the normal equations must reach, so that the true one meets the tolerance in spite
/// of rounding: the additional iterations cost less than a restart. After a restart, which shows that the margin was too small, it is [`SECOND_MARGIN`].
const MARGIN: f64 = 0.9;
const SECOND_MARGIN: f64 = 0.45;

/// Which of two methods on the same bidiagonalisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeastSquaresMethod {
    /// LSQR (Paige and Saunders 1982): |b - A x| never rises; conjugate gradients on the normal equations.
    Lsqr,
    /// LSMR (Fong and Saunders 2011): |A^H (b - A x)| never rises, so that it may stop earlier; MINRES on the normal equations.
    #[default]
    Lsmr,
}

/// The outcome of a least-squares solve.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LeastSquaresReport {
    /// As for a system: relative residuals |b - A x| / |b|. [`Stop::Converged`] means that this or
    /// `normal_residual` meets the tolerance.
    #[serde(flatten)]
    pub report: Report,
    /// |A^H (b - A x)| / (|A| |b - A x|) with the Frobenius norm of A, computed from the returned x: small where x is a least-squares solution.
    /// With a preconditioner M = L L^H, the same with A L^-H in place of A. 0 where b - A x is 0. Where neither
    /// [`Transposed::frobenius_norm`] nor [`Preconditioner::preconditioned_frobenius_norm`] gives the norm, it is estimated from products; the estimate is usually too small.
    pub normal_residual: f64,
}

/// Finds the x that minimises |b - A x|, for any rectangular A; of several solutions the one nearest to the initial guess.
///
/// Owns `rows + 3 cols` values in four vectors, and another `cols` where the initial guess is not zero. An iteration takes a product with A and one with its transpose. A solve ends when
/// |b - A x| / |b| or, where the system is not consistent, |A^H (b - A x)| / (|A| |b - A x|) is at most the tolerance. When the recurrence indicates this,
/// both are computed from x; if neither is small enough, the solve restarts from x. Convergence of both methods depends on the square of the condition number.
///
/// A preconditioner M is for the normal equations: Hermitian positive definite, `cols` x `cols` and near A^H A, such as
/// [`Jacobi::of_normal_equations`](crate::precond::Jacobi::of_normal_equations), which scales the columns to a norm of 1, or
/// [`IncompleteCholesky`](crate::precond::IncompleteCholesky) of the product A^H A. No factor of M is needed (Arridge, Betcke and Harhanen
/// 2014). It takes another `cols` values; of several solutions the result is the one nearest to the initial guess in the norm of M.
///
/// ```
/// use clinalg::solve::{LeastSquares, LeastSquaresParams};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// // A line through (0, 1), (1, 2), (2, 4).
/// let a = Csr::from_triplets(&context, 3, 2, &[(0, 0, 1.0), (1, 0, 1.0), (2, 0, 1.0), (1, 1, 1.0), (2, 1, 2.0)])?;
/// let b = Vector::from_slice(&context, &[1.0, 2.0, 4.0])?;
/// let mut x = Vector::zeros(&context, 2)?;
/// let report = LeastSquares::new(&context, 3, 2, LeastSquaresParams::default())?.solve(&a, None, &b, &mut x)?;
/// assert!(report.report.stop.is_success());
/// let x: Vec<f64> = x.to_vec()?;
/// assert!((x[0] - 5.0 / 6.0).abs() < 1e-9 && (x[1] - 1.5_f64).abs() < 1e-9);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct LeastSquares<T: Scalar> {
    params: LeastSquaresParams,
    u: Vector<T>,
    v: Vector<T>,
    h: Vector<T>,
    bar: Vector<T>,
    /// M v; made for the first solve with a preconditioner.
    p: Option<Vector<T>>,
    start: Start<Vector<T>>,
}

/// The rotation (c, s) that takes (a, b) to (r, 0).
fn rotation(a: f64, b: f64) -> (f64, f64, f64) {
    let r = a.hypot(b);
    if r == 0.0 { (1.0, 0.0, 0.0) } else { (a / r, b / r, r) }
}

/// v = v / |v|; returns |v|.
fn normalise<T: Scalar>(v: &mut Vector<T>) -> Result<f64> {
    let norm = ops::norm2(v)?.into_f64();
    if norm > 0.0 && norm.is_finite() {
        shrink(v, norm)?;
    }
    Ok(norm)
}

/// Computes the next right vector v of the bidiagonalisation, of norm 1, from `u` and the previous one; returns its norm before normalisation. With a
/// preconditioner M the norm is that of M, `p` is M v, and the norm is negative if v^H M v is.
fn next_right<T: Scalar>(
    a: &dyn Transposed<T>,
    m: Option<&mut CheckedPreconditioner<'_, T>>,
    u: &Vector<T>,
    beta: f64,
    v: &mut Vector<T>,
    p: Option<&mut Vector<T>>,
) -> Result<f64> {
    let before = T::from_f64(-beta);
    let (Some(m), Some(p)) = (m, p) else {
        a.apply_conj_transposed(T::one(), u, before, v)?;
        return normalise(v);
    };
    a.apply_conj_transposed(T::one(), u, before, p)?;
    m.apply(p, v)?;
    let square = ops::dot(v, p)?.re().into_f64();
    let alpha = square.abs().sqrt();
    if alpha > 0.0 && alpha.is_finite() {
        shrink(v, alpha)?;
        shrink(p, alpha)?;
    }
    Ok(alpha.copysign(square))
}

impl<T: Scalar> LeastSquares<T> {
    /// A solver for matrices of `rows` x `cols`.
    ///
    /// # Errors
    /// [`Error::Allocation`], [`Error::NoFp64`].
    pub fn new(context: &Context, rows: usize, cols: usize, params: LeastSquaresParams) -> Result<LeastSquares<T>> {
        let vector = |n| Vector::uninit(context, n);
        let [v, h, bar] = [vector(cols)?, vector(cols)?, vector(cols)?];
        Ok(LeastSquares { params, u: vector(rows)?, v, h, bar, p: None, start: Start::new() })
    }

    /// The stopping criteria of the next solve, for changes.
    pub fn stopping_mut(&mut self) -> &mut super::Stopping {
        &mut self.params.stopping
    }

    /// [`LeastSquares::solve_with`] without a progress callback.
    ///
    /// # Errors
    /// As [`LeastSquares::solve_with`].
    pub fn solve(
        &mut self,
        a: &dyn Transposed<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
    ) -> Result<LeastSquaresReport> {
        self.solve_with(a, m, b, x, &mut |_, _| std::ops::ControlFlow::Continue(()))
    }

    /// Minimises |b - A x| from the initial guess x, and calls `progress` after each iteration.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Length`] or [`Error::Context`] that names `a`, `m`, `b` or `x`; [`Error::Value`] for a
    /// parameter.
    pub fn solve_with(
        &mut self,
        a: &dyn Transposed<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<LeastSquaresReport> {
        self.solve_kept(None, a, m, b, x, progress)
    }

    /// As [`LeastSquares::solve_with`], with a memory as [`Resumable::solve_from`](super::Resumable::solve_from) takes it.
    ///
    /// # Errors
    /// As [`LeastSquares::solve_with`]; [`Error::Value`] for a memory of another method or size.
    pub fn solve_from(
        &mut self,
        memory: &mut KrylovMemory<T>,
        a: &dyn Transposed<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<LeastSquaresReport> {
        self.solve_kept(Some(memory), a, m, b, x, progress)
    }

    fn solve_kept(
        &mut self,
        mut memory: Option<&mut KrylovMemory<T>>,
        a: &dyn Transposed<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<LeastSquaresReport> {
        self.check(a, m.as_deref(), b, x)?;
        let cols = self.v.len();
        let mut m = m.map(|m| CheckedPreconditioner::new(m, cols));
        match (&m, &self.p) {
            (Some(_), None) => self.p = Some(Vector::uninit(self.v.context(), cols)?),
            (None, Some(_)) => self.p = None,
            _ => {}
        }
        let before = memory.as_mut().map(|memory| std::mem::take(&mut **memory)).filter(|memory| !memory.is_empty());
        let mut left = None;
        let tolerance = self.params.stopping.tolerance_of::<T>();
        let norm_b = ops::norm2(b)?.into_f64();
        let relative = |norm: f64| if norm == 0.0 { 0.0 } else { norm / norm_b };
        let (mut stop, mut normal, mut go_on) = (None, f64::NAN, true);
        let (mut state, mut history);
        if let Some(before) = before {
            (state, history) = self.restore(x, before)?;
        } else {
            if norm_b == 0.0 {
                x.fill(T::zero())?;
            }
            state = State::new(self.norm_or_estimate(a, m.as_mut())?);
            let norm = self.residual(a, b, x)?;
            history = vec![relative(norm)];
            go_on = !progress(0, history[0]).is_break();
            if !norm.is_finite() {
                stop = Some(Stop::NotFinite);
            } else if relative(norm) <= tolerance {
                (stop, normal) = (Some(Stop::Converged), if norm == 0.0 { 0.0 } else { normal });
            } else if self.params.stopping.max_iterations == 0 {
                stop = Some(Stop::IterationLimit);
            } else if !go_on {
                stop = Some(Stop::Cancelled);
            } else {
                self.start.keep(x)?;
                (stop, normal) = self.begin(a, m.as_mut(), &mut state, norm, tolerance)?;
            }
        }
        while stop.is_none() {
            let each = &mut |iteration: usize, norm: f64| {
                history.push(relative(norm));
                go_on = go_on && !progress(iteration, relative(norm)).is_break();
                go_on
            };
            let seen = self.iterate(a, m.as_mut(), x, &mut state, [tolerance * norm_b, tolerance], each)?;
            if matches!(seen, Stop::Cancelled | Stop::IterationLimit) {
                left = memory.is_some().then(|| self.saved(x, &state, &history)).transpose()?;
            }
            let norm = self.residual(a, b, x)?;
            *history.last_mut().expect("the history starts with the first residual") = relative(norm);
            let (end, found) = match norm {
                0.0 => (Some(Stop::Converged), 0.0),
                _ if norm.is_finite() => self.begin(a, m.as_mut(), &mut state, norm, tolerance)?,
                _ => (Some(Stop::NotFinite), f64::NAN),
            };
            normal = found;
            let claims = matches!(seen, Stop::Converged | Stop::Breakdown);
            stop = if !claims {
                Some(seen)
            } else if relative(norm) <= tolerance {
                Some(Stop::Converged)
            } else if end.is_some() || seen == Stop::Breakdown {
                end.or(Some(seen))
            } else if !state.may_restart([relative(norm), normal]) {
                Some(self.floor(a, (norm, norm_b), normal, x)?)
            } else if go_on {
                None
            } else {
                left = memory.is_some().then(|| self.saved(x, &state, &history)).transpose()?;
                Some(Stop::Cancelled)
            };
        }
        let stop = stop.expect("an end was found");
        let (first, mut report) = (history[0], Report::new(stop, history));
        if report.iterations > 0 && !matches!(stop, Stop::Converged | Stop::Cancelled) {
            let has_risen;
            (report, has_risen) = report.or_start(first);
            if has_risen {
                self.start.give(x)?;
                let norm = self.residual(a, b, x)?;
                (_, normal) = self.begin(a, m.as_mut(), &mut state, norm, tolerance)?;
            }
        }
        if let (Some(memory), Some(left), Stop::Cancelled | Stop::IterationLimit) = (memory, left, report.stop) {
            *memory = left;
        }
        Ok(LeastSquaresReport { report, normal_residual: normal })
    }

    /// The memory of a solve that is ended here.
    fn saved(&self, x: &Vector<T>, state: &State, history: &[f64]) -> Result<KrylovMemory<T>> {
        let own = [&self.u, &self.v, &self.h, &self.bar].into_iter().chain(&self.p).chain(self.start.vector());
        let vectors = own.map(Vector::to_vec).collect::<Result<Vec<_>>>()?.concat();
        let has_start = self.start.vector().is_some();
        let saved = SavedState { method: self.params.method, has_start, state: *state };
        let state = Some(KrylovState(Box::new(memory::State::LeastSquares(saved))));
        Ok(KrylovMemory { x: x.to_vec()?, vectors, state, history: history.to_vec() })
    }

    /// Continues from a memory; returns the scalars and the history.
    fn restore(&mut self, x: &mut Vector<T>, memory: KrylovMemory<T>) -> Result<(State, Vec<f64>)> {
        let KrylovMemory { x: iterate, vectors, state, history } = memory;
        let values = self.u.len() + (3 + usize::from(self.p.is_some())) * x.len();
        let saved = match state.map(|state| *state.0) {
            Some(memory::State::LeastSquares(saved))
                if saved.method == self.params.method
                    && iterate.len() == x.len()
                    && vectors.len() == values + usize::from(saved.has_start) * x.len() =>
            {
                saved
            }
            _ => {
                let expected = format!("that of a solve for {} unknowns by the same method", x.len());
                let got = format!("one for {} unknowns, with {} vector entries", iterate.len(), vectors.len());
                return Err(Error::value("memory", expected, got));
            }
        };
        x.write(&iterate)?;
        let mut rest = &vectors[..];
        for vector in [&mut self.u, &mut self.v, &mut self.h, &mut self.bar].into_iter().chain(&mut self.p) {
            let (values, others) = rest.split_at(vector.len());
            vector.write(values)?;
            rest = others;
        }
        let start = saved.has_start.then(|| Vector::from_slice(x.context(), rest)).transpose()?;
        self.start.restore(start);
        Ok((saved.state, history))
    }

    /// The Frobenius norm of A, or of A L^-H for a preconditioner L L^H. Where it is not known, half of the estimate by a vector of random
    /// signs, which is rarely more than twice the norm.
    fn norm_or_estimate(&mut self, a: &dyn Transposed<T>, m: Option<&mut CheckedPreconditioner<'_, T>>) -> Result<f64> {
        let known = match &m {
            Some(m) => m.preconditioned_frobenius_norm(),
            None => a.frobenius_norm()?,
        };
        if let Some(norm) = known {
            return Ok(norm);
        }
        let LeastSquares { u, v, h, p, .. } = self;
        v.fill(T::one())?;
        scatter_signs(v, h)?;
        a.apply(T::one(), h, T::zero(), u)?;
        let norm = normalise(u)?;
        let (Some(m), Some(p)) = (m, p) else { return Ok(0.5 * norm) };
        a.apply_conj_transposed(T::one(), u, T::zero(), p)?;
        m.apply(p, v)?;
        let square = norm * ops::dot(h, v)?.re().into_f64();
        Ok(if square.is_finite() { 0.5 * square.max(0.0).sqrt() } else { 0.0 })
    }

    /// Begins the bidiagonalisation with u = b - A x of norm `norm`. Returns the relative residual of the normal equations, and why there is nothing to
    /// iterate.
    fn begin(
        &mut self,
        a: &dyn Transposed<T>,
        m: Option<&mut CheckedPreconditioner<'_, T>>,
        state: &mut State,
        norm: f64,
        tolerance: f64,
    ) -> Result<(Option<Stop>, f64)> {
        let LeastSquares { u, v, h, bar, p, .. } = self;
        shrink(u, norm)?;
        let alpha = next_right(a, m, u, 0.0, v, p.as_mut())?;
        if alpha < 0.0 {
            return Ok((Some(Stop::Indefinite), f64::NAN));
        }
        if !alpha.is_finite() {
            return Ok((Some(Stop::NotFinite), f64::NAN));
        }
        ops::copy(v, h)?;
        bar.fill(T::zero())?;
        state.begin(alpha, norm);
        // With alpha = 0, b - A x is orthogonal to the range.
        let normal = if alpha == 0.0 { 0.0 } else { alpha / state.norm_of_a };
        Ok(((normal <= tolerance).then_some(Stop::Converged), normal))
    }

    /// Why x does not have the residual that the recurrence claims: rounding or stagnation. `norm` and `normal` are its true residuals.
    fn floor(&mut self, a: &dyn Transposed<T>, (norm, norm_b): (f64, f64), normal: f64, x: &Vector<T>) -> Result<Stop> {
        scatter_signs(x, &mut self.h)?;
        a.apply(T::one(), &self.h, T::zero(), &mut self.u)?;
        let rounding = T::Real::epsilon().into_f64() * (ops::norm2(&self.u)?.into_f64() + norm_b);
        let is_floor = (norm <= FLOOR_FACTOR * rounding && norm <= FLOOR_CEILING * norm_b)
            || (normal * norm <= FLOOR_FACTOR * rounding && normal <= FLOOR_CEILING);
        Ok(if is_floor { Stop::RoundingFloor } else { Stop::Stagnated })
    }

    fn check(
        &self,
        a: &dyn Transposed<T>,
        m: Option<&dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &Vector<T>,
    ) -> Result<()> {
        self.params.stopping.check()?;
        let context = self.u.context();
        let others = [("a", a.context()), ("b", b.context()), ("x", x.context())];
        for (argument, other) in others.into_iter().chain(m.map(|m| ("m", m.context()))) {
            if !context.same(other) {
                return Err(Error::Context { argument });
            }
        }
        let (rows, cols) = (self.u.len(), self.v.len());
        if (a.rows(), a.cols()) != (rows, cols) {
            let (expected, got) = (format!("{rows} x {cols}"), format!("{} x {}", a.rows(), a.cols()));
            return Err(Error::Shape { argument: "a", expected, got });
        }
        if let Some(m) = m {
            check_length("m", cols, m.size())?;
        }
        check_length("b", rows, b.len())?;
        check_length("x", cols, x.len())
    }

    /// u = b - A x; its norm.
    fn residual(&mut self, a: &dyn Transposed<T>, b: &Vector<T>, x: &Vector<T>) -> Result<f64> {
        ops::copy(b, &mut self.u)?;
        a.apply(-T::one(), x, T::one(), &mut self.u)?;
        Ok(ops::norm2(&self.u)?.into_f64())
    }

    /// Iterates from where `state` is. `each` takes the iteration's number and residual and says whether to continue. Returns the reason to stop
    /// according to the recurrence.
    fn iterate(
        &mut self,
        a: &dyn Transposed<T>,
        mut m: Option<&mut CheckedPreconditioner<'_, T>>,
        x: &mut Vector<T>,
        state: &mut State,
        [enough, tolerance]: [f64; 2],
        each: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Result<Stop> {
        let LeastSquares { params, u, v, h, bar, p, .. } = self;
        let real = |value: f64| T::from_f64(value);
        let margin = if state.has_restarted() { SECOND_MARGIN } else { MARGIN };
        let State { alpha, rho_bar, phi_bar, norm_of_a, lsmr, .. } = state;
        for iteration in state.iteration + 1..=params.stopping.max_iterations {
            state.iteration = iteration;
            a.apply(T::one(), v, real(-*alpha), u)?;
            let beta = normalise(u)?;
            // |A v| with |v| = 1 is a lower bound of the Frobenius norm. Sums of these squares exceed the norm once the v lose orthogonality.
            *norm_of_a = norm_of_a.max(alpha.hypot(beta));
            *alpha = if beta == 0.0 { 0.0 } else { next_right(a, m.as_deref_mut(), u, beta, v, p.as_mut())? };
            if *alpha < 0.0 {
                return Ok(Stop::Indefinite);
            }
            if !(alpha.is_finite() && beta.is_finite()) {
                return Ok(Stop::NotFinite);
            }
            let (residual, normal) = match params.method {
                LeastSquaresMethod::Lsqr => {
                    let (c, s, rho) = rotation(*rho_bar, beta);
                    let phi = c * *phi_bar;
                    *rho_bar = -c * *alpha;
                    *phi_bar *= s;
                    ops::update(real(phi / rho), h, T::one(), x)?;
                    ops::update(T::one(), v, real(-s * *alpha / rho), h)?;
                    (*phi_bar, *phi_bar * *alpha * c.abs())
                }
                LeastSquaresMethod::Lsmr => {
                    let [of_bar, of_x, of_h] = lsmr.step(*alpha, beta);
                    ops::update(T::one(), h, real(-of_bar), bar)?;
                    ops::update(real(of_x), bar, T::one(), x)?;
                    ops::update(T::one(), v, real(-of_h), h)?;
                    (lsmr.residual(), lsmr.zeta_bar.abs())
                }
            };
            let normal = if residual == 0.0 { 0.0 } else { normal / (*norm_of_a * residual) };
            let go_on = each(iteration, residual);
            if residual <= enough || normal <= margin * tolerance {
                return Ok(Stop::Converged);
            }
            if !residual.is_finite() {
                return Ok(Stop::NotFinite);
            }
            if *alpha == 0.0 || beta == 0.0 {
                return Ok(Stop::Breakdown);
            }
            if !go_on {
                return Ok(Stop::Cancelled);
            }
            if iteration == params.stopping.max_iterations {
                return Ok(Stop::IterationLimit);
            }
        }
        Ok(Stop::IterationLimit)
    }
}

/// What a memory holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedState {
    method: LeastSquaresMethod,
    /// Whether the initial guess is not zero.
    has_start: bool,
    state: State,
}

/// The state of a solve after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct State {
    iteration: usize,
    alpha: f64,
    /// The Frobenius norm of A, or the best lower bound so far.
    norm_of_a: f64,
    /// The relative residuals of the system and of the normal equations at the last restart.
    restarted_at: [f64; 2],
    /// LSQR: rho of the lower bidiagonal matrix, and the residual.
    rho_bar: f64,
    phi_bar: f64,
    /// LSMR, in the names of the paper.
    lsmr: Lsmr,
}

impl State {
    fn new(norm_of_a: f64) -> State {
        let restarted_at = [f64::INFINITY; 2];
        State { iteration: 0, alpha: 0.0, norm_of_a, restarted_at, rho_bar: 0.0, phi_bar: 0.0, lsmr: Lsmr::default() }
    }

    /// Starts a bidiagonalisation from a residual r of norm `norm`, with |A^H r| = `alpha` |r|.
    fn begin(&mut self, alpha: f64, norm: f64) {
        (self.alpha, self.rho_bar, self.phi_bar, self.lsmr) = (alpha, alpha, norm, Lsmr::new(alpha, norm));
        self.norm_of_a = self.norm_of_a.max(alpha);
    }

    fn has_restarted(&self) -> bool {
        self.restarted_at != [f64::INFINITY; 2]
    }

    /// Whether one of the residuals has become smaller since the last restart.
    fn may_restart(&mut self, residuals: [f64; 2]) -> bool {
        let is_less = residuals.iter().zip(self.restarted_at).any(|(&now, before)| now <= RESTART_PROGRESS * before);
        if is_less {
            self.restarted_at = residuals;
        }
        is_less
    }
}

/// The scalars of LSMR without damping (Fong and Saunders 2011, sections 2 and 5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Lsmr {
    alpha_bar: f64,
    zeta_bar: f64,
    rho: f64,
    rho_bar: f64,
    c_bar: f64,
    s_bar: f64,
    zeta: f64,
    // The quantities that estimate the residual.
    beta_dd: f64,
    beta_d: f64,
    rho_d: f64,
    tau_tilde: f64,
    theta_tilde: f64,
    tau_d: f64,
}

impl Lsmr {
    fn new(alpha: f64, beta: f64) -> Lsmr {
        Lsmr {
            alpha_bar: alpha,
            zeta_bar: alpha * beta,
            rho: 1.0,
            rho_bar: 1.0,
            c_bar: 1.0,
            s_bar: 0.0,
            zeta: 0.0,
            beta_dd: beta,
            beta_d: 0.0,
            rho_d: 1.0,
            tau_tilde: 0.0,
            theta_tilde: 0.0,
            tau_d: 0.0,
        }
    }

    /// The factors of h-bar, of x and of h.
    fn step(&mut self, alpha: f64, beta: f64) -> [f64; 3] {
        let (rho_old, rho_bar_old, zeta_old) = (self.rho, self.rho_bar, self.zeta);
        let (c, s, rho) = rotation(self.alpha_bar, beta);
        let theta = s * alpha;
        self.alpha_bar = c * alpha;
        let theta_bar = self.s_bar * rho;
        let (c_bar, s_bar, rho_bar) = rotation(self.c_bar * rho, theta);
        let zeta = c_bar * self.zeta_bar;
        self.zeta_bar *= -s_bar;
        (self.c_bar, self.s_bar, self.rho, self.rho_bar, self.zeta) = (c_bar, s_bar, rho, rho_bar, zeta);
        let beta_hat = c * self.beta_dd;
        self.beta_dd *= -s;
        let theta_tilde_old = self.theta_tilde;
        let (c_tilde, s_tilde, rho_tilde) = rotation(self.rho_d, theta_bar);
        self.theta_tilde = s_tilde * rho_bar;
        self.rho_d = c_tilde * rho_bar;
        self.beta_d = -s_tilde * self.beta_d + c_tilde * beta_hat;
        self.tau_tilde = (zeta_old - theta_tilde_old * self.tau_tilde) / rho_tilde;
        self.tau_d = (zeta - self.theta_tilde * self.tau_tilde) / self.rho_d;
        [theta_bar * rho / (rho_old * rho_bar_old), zeta / (rho * rho_bar), theta / rho]
    }

    /// |b - A x|.
    fn residual(&self) -> f64 {
        (self.beta_d - self.tau_d).hypot(self.beta_dd)
    }
}
