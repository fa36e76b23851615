//! Stabilised biconjugate gradients.

use num_traits::Float;

use super::best::Best;
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::memory::{Kept, Kind, number_of, numbers_from, seen_by};
use super::run::{Run, check_system};
use super::scalars::{self, Blocks, Limits, Ring, after_step, precondition};
use super::solver::{own_parts, resumable, without_memory};
use super::{BiCgStabParams, KrylovMemory, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts, scatter_signs};
use crate::runtime::{In, Out};
use crate::{Context, Real, Result, Scalar, Vector};

/// BiCGStab for any square nonsingular A, with an optional preconditioner applied from the right
/// (van der Vorst 1992; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 7.7;
/// Barrett et al., Templates, 1994, section 2.3.8).
///
/// Owns eight vectors of `n` values, and one more where the initial guess is not zero. One iteration takes two products with two dot products each
/// ([`Operator::apply_dots`](crate::ops::Operator::apply_dots)) and three launches on vectors; a preconditioner is
/// applied twice. Real scalars stay on the device and the host checks several iterations at once, as in
/// [`Cg`](crate::solve::Cg); complex ones are read back five times per iteration.
///
/// If a coefficient or A M^-1 p vanishes to working precision, the iteration restarts from the true residual. Where that does
/// not help, and where the residual grew or no longer falls, it restarts from the best iterate with another shadow residual: the
/// residual with scattered signs. [`Stop::Breakdown`], [`Stop::Diverged`] and [`Stop::Stagnated`] mean that this did not help
/// either; [`Gmres`](crate::solve::Gmres) needs no shadow residual.
///
/// Residuals may rise far above the initial one. The best iterate among those that the host has checked is kept, and it is
/// the one returned if the solve does not converge, or the initial guess if its true residual is smaller.
#[derive(Debug)]
pub struct BiCgStab<T: Scalar> {
    params: BiCgStabParams,
    r: Vector<T>,
    shadow: Vector<T>,
    p: Vector<T>,
    v: Vector<T>,
    t: Vector<T>,
    /// M^-1 p and M^-1 r.
    y: Vector<T>,
    z: Vector<T>,
    best: Best<Vector<T>>,
    norms: DotParts<T>,
    scalars: Scalars<T>,
}

/// The fraction to which the residual must fall between changes of the shadow residual.
const SHADOW_PROGRESS: f64 = 0.9;

/// The shadow residual of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shadow {
    /// The residual that the cycle starts from.
    Residual,
    /// The same with scattered sign changes.
    Scattered,
}

/// The reason to stop where the device stopped within its safety margin; the true residual decides.
fn within<T: Scalar>(squares: f64, to_reach: f64) -> Stop {
    let margin = 64.0 * T::Real::epsilon().into_f64();
    if squares <= to_reach * (1.0 + margin) { Stop::Converged } else { Stop::Breakdown }
}

/// The state of a solve after the last iteration that was checked.
#[derive(Debug, Clone, Copy)]
struct State<W> {
    kind: Shadow,
    /// |b - A x| at the last change of the shadow.
    changed_at: f64,
    /// The largest |A M^-1 p| / |p| so far.
    largest: f64,
    /// The scale of the residual, and the norm of the shadow residual with its square.
    unit: f64,
    shadow_length: f64,
    shadow_square: f64,
    /// The residual of the recurrence.
    norm: f64,
    blocks: Blocks,
    /// What the next iteration starts from, with scalars on the device.
    row: Row,
    /// The same with scalars on the host: |p|, r'r, and what the next direction follows from.
    length: f64,
    squares: f64,
    rho: W,
    alpha: W,
    omega: W,
    next: W,
    /// Whether the next cycle continues from here.
    goes_on: bool,
}

/// The number of values of a [`State`] before r'r and those of its row.
const SINGLE: usize = 22;

impl<W: Scalar<Real = f64>> Default for State<W> {
    fn default() -> State<W> {
        State {
            kind: Shadow::Residual,
            changed_at: f64::INFINITY,
            largest: 0.0,
            unit: 1.0,
            shadow_length: 0.0,
            shadow_square: 0.0,
            norm: 0.0,
            blocks: Blocks::default(),
            row: Row::default(),
            length: 0.0,
            squares: 0.0,
            rho: W::zero(),
            alpha: W::one(),
            omega: W::one(),
            next: W::zero(),
            goes_on: false,
        }
    }
}

impl<W: Scalar<Real = f64>> State<W> {
    fn numbers(&self, seen: Stop, best: [f64; 3], lengths: &[f64]) -> Vec<f64> {
        let State { changed_at, largest, unit, shadow_length, shadow_square, norm, length, squares, .. } = *self;
        let scattered = f64::from(u8::from(self.kind == Shadow::Scattered));
        let mut numbers = vec![number_of(seen), scattered, changed_at, largest, unit, shadow_length, shadow_square];
        numbers.push(norm);
        numbers.extend(self.blocks.numbers());
        numbers.push(length);
        numbers.extend(best);
        numbers.extend([self.rho, self.alpha, self.omega, self.next].into_iter().flat_map(|v| [v.re(), v.im()]));
        numbers.extend([squares].into_iter().chain(self.row.numbers()).chain(lengths.iter().copied()));
        numbers
    }

    /// Continues from these numbers; returns the reason to stop that was seen there, the numbers of the best iterate and the partial sums of p'p.
    fn restore<'n>(&mut self, numbers: &'n [f64]) -> (Option<Stop>, [f64; 3], &'n [f64]) {
        let [seen, scattered, changed_at, largest, unit, shadow_length, shadow_square] = numbers_from(numbers, 0);
        let [norm, block, left, length, best @ ..]: [f64; 7] = numbers_from(numbers, 7);
        let blocks = Blocks::of([block, left]);
        let [rho, alpha, omega, next] = [14, 16, 18, 20].map(|k| {
            let [re, im] = numbers_from(numbers, k);
            W::from_parts(re, im)
        });
        let [squares] = numbers_from(numbers, SINGLE);
        let kind = if scattered == 0.0 { Shadow::Residual } else { Shadow::Scattered };
        let row = Row::of(numbers_from(numbers, SINGLE + 1));
        *self = State {
            kind,
            changed_at,
            largest,
            unit,
            shadow_length,
            shadow_square,
            norm,
            blocks,
            row,
            length,
            squares,
            rho,
            alpha,
            omega,
            next,
            goes_on: true,
        };
        let lengths = numbers.get(SINGLE + 1 + NUMBERS..).unwrap_or_default();
        (seen_by(seen), best, lengths)
    }
}

impl<T: Scalar> BiCgStab<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: BiCgStabParams) -> Result<BiCgStab<T>> {
        let vector = || Vector::uninit(context, n);
        let (norms, scalars) = (DotParts::new(context)?, Scalars::new(context)?);
        let [r, shadow, p, v, t, y, z] = [vector()?, vector()?, vector()?, vector()?, vector()?, vector()?, vector()?];
        let best = Best::new(vector()?);
        Ok(BiCgStab { params, r, shadow, p, v, t, y, z, best, norms, scalars })
    }

    /// Iterates from r = b - A x, or from where `state` is, until a stopping criterion is met.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        state: &mut State<T::Wide>,
    ) -> Result<Stop> {
        let BiCgStab { r, shadow, p, v, t, y, z, best, scalars, .. } = self;
        let eps = T::Real::epsilon().into_f64();
        if !state.goes_on {
            let unit = run.rescale(r)?;
            let shadow_square = (run.norm() / unit).powi(2);
            let rho = match state.kind {
                Shadow::Residual => {
                    ops::copy(r, shadow)?;
                    shadow_square
                }
                Shadow::Scattered => {
                    scatter_signs(r, shadow)?;
                    scalars.lengths.set(shadow, r)?;
                    scalars.lengths.value()?.re()
                }
            };
            ops::copy(r, p)?;
            scalars.lengths.set(p, p)?;
            state.row = Row { rho, squares: shadow_square, largest: state.largest.powi(2), ..Row::default() };
            (state.unit, state.shadow_square, state.norm) = (unit, shadow_square, run.norm());
            state.blocks = Blocks::default();
        }
        let (unit, shadow_square) = (state.unit, state.shadow_square);
        let to_reach = run.squares_to_reach(unit);
        let limits = Limits::<T::Real>::new(unit, to_reach, run.squares_to_diverge(unit));
        scalars.start(state.row, shadow_square.sqrt())?;
        loop {
            if state.goes_on && state.blocks.is_at_end() {
                best.look(x, state.norm, run.iterations())?;
            }
            state.goes_on = false;
            let block = state.blocks.next(run);
            for _ in 0..block {
                // v = A M^-1 p, and the step along M^-1 p that makes r orthogonal to the shadow.
                let along_p = precondition(&mut m, p, y)?;
                a.apply_dots(T::one(), along_p, None, shadow, v, &mut scalars.dots)?;
                scalars.half(&limits, v, r)?;
                // t = A M^-1 r, and the step along M^-1 r that makes r smallest.
                let along_r = precondition(&mut m, r, z)?;
                a.apply_dots(T::one(), along_r, None, r, t, &mut scalars.dots)?;
                scalars.whole(&limits, [along_p, along_r], t, shadow, x, r)?;
                scalars.direction(&limits, r, v, p)?;
            }
            let largest = &mut state.largest;
            for (row, next) in scalars.read(block)? {
                let Row { sigma, square, length, half, mixed, other, made, .. } = row;
                if !(sigma.is_finite() && square.is_finite()) {
                    return Ok(Stop::NotFinite);
                }
                let quotient = (square / length).sqrt();
                if quotient <= eps * *largest || sigma.abs() <= eps * (shadow_square * square).sqrt() || made == 0.0 {
                    return Ok(Stop::Breakdown);
                }
                *largest = largest.max(quotient);
                let norm = unit * half.sqrt();
                if run.reaches(norm) {
                    return Ok(run.record(norm, norm).unwrap_or(Stop::Converged));
                }
                if !(mixed.is_finite() && other.is_finite() && half.is_finite()) {
                    return Ok(Stop::NotFinite);
                }
                if mixed.abs() <= eps * (other * half).sqrt() || made == 1.0 {
                    return Ok(run.record(norm, norm).unwrap_or(within::<T>(half, to_reach)));
                }
                let norm = unit * next.squares.sqrt();
                (state.row, state.norm) = (next, norm);
                if let Some(stop) = run.record(norm, norm) {
                    return Ok(stop);
                }
                if next.stop != 0.0 {
                    // The shadow's product with r has vanished, or the device stopped in its safety margin.
                    return Ok(within::<T>(next.squares, to_reach));
                }
            }
            best.look(x, state.norm, run.iterations())?;
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
        }
    }
}

impl<T: Scalar> BiCgStab<T> {
    /// As [`BiCgStab::cycle`], with the scalars on the host: for complex types.
    fn cycle_on_host<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        state: &mut State<T::Wide>,
    ) -> Result<Stop> {
        let BiCgStab { r, shadow, p, v, t, y, z, best, scalars, .. } = self;
        let dots = &mut scalars.dots;
        let eps = T::Real::epsilon().into_f64();
        let real = <T::Wide as Scalar>::from_real;
        if !state.goes_on {
            let unit = run.rescale(r)?;
            let shadow_length = run.norm() / unit;
            state.rho = match state.kind {
                Shadow::Residual => {
                    ops::copy(r, shadow)?;
                    real(shadow_length * shadow_length)
                }
                Shadow::Scattered => {
                    scatter_signs(r, shadow)?;
                    dots.set(shadow, r)?;
                    dots.value()?
                }
            };
            ops::copy(r, p)?;
            (state.unit, state.shadow_square) = (unit, shadow_length * shadow_length);
            (state.shadow_length, state.length) = (shadow_length, shadow_length);
        }
        let (unit, shadow_length) = (state.unit, state.shadow_length);
        loop {
            if state.goes_on {
                let next = state.next;
                if next.modulus() <= eps * shadow_length * state.squares.sqrt() {
                    return Ok(Stop::Breakdown);
                }
                // p = r + beta (p - omega v).
                let beta = next / state.rho * (state.alpha / state.omega);
                state.rho = next;
                ops::update(T::narrow(-beta * state.omega), v, T::narrow(beta), p)?;
                ops::update(T::one(), r, T::one(), p)?;
                state.length = ops::norm2(p)?.into_f64();
            }
            state.goes_on = false;
            // v = A M^-1 p, and the step along M^-1 p that makes r orthogonal to the shadow.
            let along_p = precondition(&mut m, p, y)?;
            a.apply_dots(T::one(), along_p, None, shadow, v, dots)?;
            let (sigma, square) = dots.values()?;
            let sigma = sigma.conj();
            if !(sigma.has_finite_parts() && square.is_finite()) {
                return Ok(Stop::NotFinite);
            }
            let quotient = square.sqrt() / state.length;
            if quotient <= eps * state.largest || sigma.modulus() <= eps * shadow_length * square.sqrt() {
                return Ok(Stop::Breakdown);
            }
            state.largest = state.largest.max(quotient);
            let alpha = state.rho / sigma;
            ops::update(T::narrow(-alpha), v, T::one(), r)?;
            // t = A M^-1 r, and the step along M^-1 r that makes r smallest.
            let along = precondition(&mut m, r, z)?;
            a.apply_dots(T::one(), along, None, r, t, dots)?;
            let (mixed, other) = dots.values()?;
            let half = ops::norm2(r)?.into_f64();
            let norm = unit * half;
            let omega = mixed / real(other);
            let is_sound = mixed.has_finite_parts() && other.is_finite() && half.is_finite();
            let goes_on = is_sound && mixed.modulus() > eps * other.sqrt() * half && !run.reaches(norm);
            let next = if goes_on { unit * after_step(half, mixed, other, omega) } else { norm };
            best.before(x, run.iterations(), next)?;
            ops::update(T::narrow(real(unit) * alpha), along_p, T::one(), x)?;
            if run.reaches(norm) {
                return Ok(run.record(norm, norm).unwrap_or(Stop::Converged));
            }
            if !is_sound {
                return Ok(Stop::NotFinite);
            }
            if !goes_on {
                return Ok(run.record(norm, norm).unwrap_or(Stop::Breakdown));
            }
            ops::update(T::narrow(real(unit) * omega), along, T::one(), x)?;
            ops::update(T::narrow(-omega), t, T::one(), r)?;
            // The shadow's product with r, and r's length.
            dots.set_pair(r, shadow)?;
            let (next, squares) = dots.values()?;
            let norm = unit * squares.sqrt();
            best.correct(norm);
            (state.alpha, state.omega, state.next) = (alpha, omega, next.conj());
            (state.squares, state.norm) = (squares, norm);
            if let Some(stop) = run.record(norm, norm) {
                return Ok(stop);
            }
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
            state.goes_on = true;
        }
    }
}

impl<T: Scalar> BiCgStab<T> {
    fn solve_kept(
        &mut self,
        memory: Option<&mut KrylovMemory<T>>,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<Report> {
        let n = self.r.len();
        check_own([&self.r, &self.shadow, &self.p, &self.v, &self.t, &self.y, &self.z, self.best.vector()])?;
        check_system(self.r.context(), n, a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let mut kept = Kept::new(if T::IS_COMPLEX { Kind::ComplexBiCgStab } else { Kind::BiCgStab }, memory);
        let stopping = self.params.stopping.clone();
        let (mut run, mut end) = kept.start((a, b, x, &mut self.r), &mut self.norms, stopping, progress)?;
        let mut state = State::default();
        let mut resumed = None;
        let BiCgStab { r, shadow, p, v, best, scalars, .. } = self;
        let (of_best, start) = best.parts_mut();
        match kept.resume(&mut run, x, [r, shadow, p, v, of_best], Some(start))? {
            None => best.start(x, run.norm())?,
            Some(numbers) => {
                let (seen, of_best, lengths) = state.restore(&numbers);
                best.restore(of_best);
                scalars.lengths.restore(lengths)?;
                // The device's margin above the tolerance.
                let margin =
                    (state.row.stop != 0.0).then(|| within::<T>(state.row.squares, run.squares_to_reach(state.unit)));
                resumed = run.end_of(state.norm).or(seen).or(margin);
            }
        }
        loop {
            if let Some(stop) = end {
                return Ok(kept.end(run.report(stop)));
            }
            let seen = match resumed.take() {
                Some(seen) => seen,
                None if T::IS_COMPLEX => self.cycle_on_host(&mut run, a, m.as_deref_mut(), x, &mut state)?,
                None => self.cycle(&mut run, a, m.as_deref_mut(), x, &mut state)?,
            };
            let BiCgStab { r, shadow, p, v, best, scalars, .. } = self;
            if kept.is_due(&run) {
                let numbers = state.numbers(seen, best.numbers(), &scalars.lengths.numbers()?);
                kept.keep(&run, x, [&*r, shadow, p, v].into_iter().chain(best.vectors()), numbers)?;
            }
            state.goes_on = false;
            end = run.confirm(seen, x, &mut self.r, &mut self.p, &mut self.v, &mut self.norms)?;
            let vectors = [&mut self.r, &mut self.p, &mut self.v];
            end = run.settle(end, &mut self.best, x, vectors, &mut self.norms)?;
            let gives_up = end.is_some_and(|stop| stop.is_failure_of_method() || stop == Stop::NotFinite);
            if gives_up && run.norm() <= SHADOW_PROGRESS * state.changed_at {
                if !run.may_go_on() {
                    end = Some(if run.cancelled() { Stop::Cancelled } else { Stop::IterationLimit });
                    continue;
                }
                state.changed_at = run.norm();
                state.kind = Shadow::Scattered;
                let norm = run.go_back(x, &mut self.r, &mut self.norms)?;
                self.best.correct(norm);
                end = None;
            }
        }
    }
}

impl<T: Scalar> Solver<T> for BiCgStab<T> {
    own_parts!(r);

    without_memory!();
}

resumable!(BiCgStab);

/// Number of values per row.
const NUMBERS: usize = 11;

/// Input and results of an iteration; the numbers are listed in `krylov.cl`.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    rho: f64,
    squares: f64,
    largest: f64,
    stop: f64,
    sigma: f64,
    square: f64,
    length: f64,
    half: f64,
    mixed: f64,
    other: f64,
    made: f64,
}

impl Row {
    fn of(n: [f64; NUMBERS]) -> Row {
        let [rho, squares, largest, stop, sigma, square, length, half, mixed, other, made] = n;
        Row { rho, squares, largest, stop, sigma, square, length, half, mixed, other, made }
    }

    fn numbers(self) -> [f64; NUMBERS] {
        let Row { rho, squares, largest, stop, sigma, square, length, half, mixed, other, made } = self;
        [rho, squares, largest, stop, sigma, square, length, half, mixed, other, made]
    }
}

/// The scalars of BiCGStab on the device.
#[derive(Debug)]
struct Scalars<T: Scalar> {
    ring: Ring<T::Real, NUMBERS>,
    /// The length of the shadow residual.
    shadow: T::Real,
    /// Of a product A M^-1 p or A M^-1 r: with the shadow or r, and with itself.
    dots: DotParts<T>,
    /// p'p; r'r after the half step; the shadow's product with r and r'r after the iteration.
    lengths: DotParts<T>,
    halves: DotParts<T>,
    ends: DotParts<T>,
}

impl<T: Scalar> Scalars<T> {
    fn new(context: &Context) -> Result<Scalars<T>> {
        let parts = || DotParts::new(context);
        let (ring, shadow) = (Ring::new(context)?, T::Real::from_f64(0.0));
        Ok(Scalars { ring, shadow, dots: parts()?, lengths: parts()?, halves: parts()?, ends: parts()? })
    }

    fn start(&mut self, first: Row, shadow: f64) -> Result<()> {
        self.shadow = T::Real::from_f64(shadow);
        self.ring.start(first.numbers())
    }

    /// The last `count` iterations enqueued, each with its successor's row.
    fn read(&self, count: usize) -> Result<impl Iterator<Item = (Row, Row)> + use<T>> {
        Ok(self.ring.read(count)?.map(|(row, next)| (Row::of(row), Row::of(next))))
    }

    /// r -= alpha v.
    fn half(&mut self, limits: &Limits<T::Real>, v: &Vector<T>, r: &mut Vector<T>) -> Result<()> {
        let (context, n) = (v.context(), v.len());
        let (program, parts, range) = scalars::update::<T::Real>(context, n);
        let (count, dots) = self.dots.joined();
        let (length_count, lengths) = self.lengths.joined();
        let (rows, at) = (self.ring.rows(), self.ring.at());
        let (unsound, shadow) = (limits.unsound, self.shadow);
        let (v, r) = (In::parts(v.buffer()), Out::parts(r.buffer()));
        let partial = self.halves.parts(parts);
        program.bicgstab_half(
            context,
            range,
            n,
            count,
            dots,
            length_count,
            lengths,
            rows,
            at,
            unsound,
            shadow,
            v,
            r,
            partial,
        )
    }

    /// x += unit (alpha y + omega z) with the `steps` y and z, of which the second may be r; r -= omega t.
    fn whole(
        &mut self,
        limits: &Limits<T::Real>,
        steps: [&Vector<T>; 2],
        t: &Vector<T>,
        shadow: &Vector<T>,
        x: &mut Vector<T>,
        r: &Vector<T>,
    ) -> Result<()> {
        let (context, n) = (t.context(), t.len());
        let (program, parts, range) = scalars::update::<T::Real>(context, n);
        let (half_count, halves) = self.halves.joined();
        let (count, dots) = self.dots.joined();
        let (rows, at) = (self.ring.rows(), self.ring.at());
        let Limits { unsound, low, unit, .. } = *limits;
        let [y, z, t, shadows] = [steps[0], steps[1], t, shadow].map(|vector| In::parts(vector.buffer()));
        let [x, r] = [&*x, r].map(|vector| Out::parts(vector.buffer()));
        let (shadow, partial) = (self.shadow, self.ends.pairs(parts));
        program.bicgstab_whole(
            context, range, n, half_count, halves, count, dots, rows, at, unsound, shadow, low, unit, y, z, t, shadows,
            x, r, partial,
        )
    }

    /// p = r + beta (p - omega v), and advances to the next iteration.
    fn direction(&mut self, limits: &Limits<T::Real>, r: &Vector<T>, v: &Vector<T>, p: &mut Vector<T>) -> Result<()> {
        let (context, n) = (r.context(), r.len());
        let (program, parts, range) = scalars::update::<T::Real>(context, n);
        let (count, dots) = self.ends.joined();
        let (at, next) = (self.ring.at(), self.ring.advance());
        let rows = self.ring.rows();
        let (Limits { unsound, low, high, .. }, shadow) = (*limits, self.shadow);
        let (r, v, p) = (In::parts(r.buffer()), In::parts(v.buffer()), Out::parts(p.buffer()));
        let partial = self.lengths.parts(parts);
        program.bicgstab_direction(
            context, range, n, count, dots, rows, at, next, unsound, shadow, low, high, r, v, p, partial,
        )
    }
}
