//! Conjugate gradients.

use num_traits::Float;

use super::best::Best;
use super::checked::{CheckedOperator, CheckedPreconditioner, check_own};
use super::memory::{Kept, Kind, number_of, numbers_from, seen_by};
use super::run::{Run, check_system};
use super::scalars::{self, Blocks, Limits, Ring};
use super::solver::{own_parts, resumable, without_memory};
use super::{CgParams, KrylovMemory, Operator, Preconditioner, Progress, Report, Solver, Stop};
use crate::ops::{self, DotParts};
use crate::runtime::kernels::krylov;
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::tune::{self, Needs, Operation, Parameters};
use crate::{Context, Real, Result, Scalar, Vector};

/// Conjugate gradients for symmetric (complex: Hermitian) positive definite A, with an optional symmetric positive
/// definite preconditioner (Hestenes and Stiefel 1952; Saad, Iterative Methods for Sparse Linear
/// Systems, 2003, algorithms 6.18 and 9.1).
///
/// Owns five vectors of `n` values, and one more where the initial guess is not zero. One iteration takes a product with a dot product
/// ([`Operator::apply_dot`](crate::ops::Operator::apply_dot)) and two launches on vectors; a preconditioner adds its
/// own work and one more launch. The scalars stay on the device: the host enqueues 1 to 32 iterations, more while convergence is
/// far away, then reads their scalars and checks each iteration. Iterations after convergence are enqueued but change nothing, so
/// x, the number of iterations and the history are the same as with one iteration at a time.
///
/// The residual may rise for a long time while the error falls, so the stagnation window is at least `n`. If the solve does not converge, the one with the
/// smallest residual among the initial guess, the last iterate of each block of iterations and the final one is returned
/// ([`Report::iterate`]), except where the callback stops it.
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
pub struct Cg<T: Scalar> {
    params: CgParams,
    r: Vector<T>,
    z: Vector<T>,
    p: Vector<T>,
    q: Vector<T>,
    best: Best<Vector<T>>,
    norms: DotParts<T>,
    scalars: Scalars<T>,
}

impl<T: Scalar> Cg<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize, params: CgParams) -> Result<Cg<T>> {
        let vector = || Vector::uninit(context, n);
        let (norms, scalars) = (DotParts::new(context)?, Scalars::new(context)?);
        let best = Best::new(vector()?);
        Ok(Cg { params, r: vector()?, z: vector()?, p: vector()?, q: vector()?, best, norms, scalars })
    }

    /// Iterates from r = b - A x, or from where `state` is, until a stopping criterion is met.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        state: &mut State,
    ) -> Result<Stop> {
        let Cg { r, z, p, q, best, scalars, .. } = self;
        let eps = T::Real::epsilon().into_f64();
        if !state.goes_on {
            state.unit = run.rescale(r)?;
            let squares = (run.norm() / state.unit).powi(2);
            let rho = match &mut m {
                Some(m) => {
                    m.apply(r, z)?;
                    ops::copy(z, p)?;
                    scalars.rhos.set(r, z)?;
                    scalars.rhos.value()?.re()
                }
                None => {
                    ops::copy(r, p)?;
                    squares
                }
            };
            if !rho.is_finite() {
                return Ok(Stop::NotFinite);
            }
            // p'Mp by its recurrence, as r is orthogonal to the former p.
            state.row = Row { rho, squares, square: rho, largest: state.largest, ..Row::default() };
            state.steepest = 0.0;
            state.blocks = Blocks::default();
        }
        scalars.start(state.row)?;
        let unit = state.unit;
        let limits = Limits::<T::Real>::new(unit, run.squares_to_reach(unit), run.squares_to_diverge(unit));
        loop {
            if state.goes_on && state.blocks.is_at_end() {
                best.look(x, state.norm, run.iterations())?;
            }
            state.goes_on = false;
            let block = state.blocks.next(run);
            for _ in 0..block {
                a.apply_dot(p, q, &mut scalars.dots)?;
                scalars.residual(&limits, q, r)?;
                if let Some(m) = &mut m {
                    m.apply(r, z)?;
                    scalars.rhos.set(r, z)?;
                }
                scalars.direction(&limits, m.is_some(), if m.is_some() { z } else { r }, x, p)?;
            }
            let State { largest, steepest, .. } = state;
            for (row, next) in scalars.read(block)? {
                let Row { rho, squares, square, curvature, .. } = row;
                if !rho.is_finite() {
                    return Ok(Stop::NotFinite);
                }
                let singular = eps * eps * *steepest;
                if rho / squares <= singular {
                    return Ok(semidefinite(rho / squares, singular));
                }
                *steepest = steepest.max(rho / squares);
                if !curvature.is_finite() {
                    return Ok(Stop::NotFinite);
                }
                let quotient = curvature / square;
                let singular = eps * *largest;
                if quotient <= singular {
                    return Ok(semidefinite(quotient, singular));
                }
                *largest = largest.max(quotient);
                if row.made == 0.0 {
                    // The device's safety margin above what counts as singular here, or a step of length 0.
                    return Ok(Stop::Breakdown);
                }
                let norm = unit * next.squares.sqrt();
                (state.row, state.norm) = (next, norm);
                if let Some(stop) = run.record(norm, norm) {
                    return Ok(stop);
                }
                if next.stop != 0.0 {
                    // The device's margin above the tolerance; the true residual decides.
                    return Ok(Stop::Converged);
                }
            }
            best.look(x, state.norm, run.iterations())?;
            if run.cancelled() {
                return Ok(Stop::Cancelled);
            }
        }
    }
}

impl<T: Scalar> Cg<T> {
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
        check_own([&self.r, &self.z, &self.p, &self.q, self.best.vector()])?;
        check_system(self.r.context(), n, a, m.as_deref(), b, x)?;
        let a = &CheckedOperator::new(a, n);
        let mut m = m.map(|m| CheckedPreconditioner::new(m, n));
        let mut m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let mut kept = Kept::new(Kind::Cg, memory);
        let stopping = self.params.stopping.clone();
        let (mut run, mut end) = kept.start((a, b, x, &mut self.r), &mut self.norms, stopping, progress)?;
        // The error falls in every step, but its residual may rise until the last of n steps.
        run.be_patient(self.r.len());
        let mut state = State::default();
        let mut resumed = None;
        let (best, start) = self.best.parts_mut();
        match kept.resume(&mut run, x, [&mut self.r, &mut self.p, best], Some(start))? {
            None => self.best.start(x, run.norm())?,
            Some(numbers) => {
                let (seen, best);
                (state, seen, best) = State::of(&numbers);
                self.best.restore(best);
                // The device's margin above the tolerance.
                let margin = (state.row.stop != 0.0).then_some(Stop::Converged);
                resumed = run.end_of(state.norm).or(seen).or(margin);
            }
        }
        loop {
            if let Some(stop) = end {
                return Ok(kept.end(run.report(stop)));
            }
            let seen = match resumed.take() {
                Some(seen) => seen,
                None => self.cycle(&mut run, a, m.as_deref_mut(), x, &mut state)?,
            };
            let own = [&self.r, &self.p].into_iter().chain(self.best.vectors());
            kept.keep(&run, x, own, state.numbers(seen, self.best.numbers()))?;
            state.goes_on = false;
            end = run.confirm(seen, x, &mut self.r, &mut self.p, &mut self.q, &mut self.norms)?;
            // A caller that stops a solve may continue from its last iterate, as the error falls even while the residual rises.
            if end != Some(Stop::Cancelled) {
                let vectors = [&mut self.r, &mut self.p, &mut self.q];
                end = run.settle(end, &mut self.best, x, vectors, &mut self.norms)?;
            }
        }
    }
}

impl<T: Scalar> Solver<T> for Cg<T> {
    own_parts!(r);

    without_memory!();
}

resumable!(Cg);

/// The state of a cycle after the last iteration that was checked.
#[derive(Debug, Clone, Copy, Default)]
struct State {
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
    /// Whether the next cycle continues from here.
    goes_on: bool,
}

impl State {
    fn numbers(&self, seen: Stop, best: [f64; 3]) -> impl Iterator<Item = f64> + use<> {
        let State { unit, largest, steepest, norm, blocks, row, .. } = *self;
        let first = [number_of(seen), unit, largest, steepest, norm];
        first.into_iter().chain(blocks.numbers()).chain(row.numbers()).chain(best)
    }

    /// With the reason to stop that was seen there, and the numbers of the best iterate.
    fn of(numbers: &[f64]) -> (State, Option<Stop>, [f64; 3]) {
        let [seen, unit, largest, steepest, norm] = numbers_from(numbers, 0);
        let blocks = Blocks::of(numbers_from(numbers, 5));
        let row = Row::of(numbers_from(numbers, 7));
        let best = numbers_from(numbers, 7 + NUMBERS);
        (State { unit, largest, steepest, norm, blocks, row, goes_on: true }, seen_by(seen), best)
    }
}

/// The reason to stop at a Rayleigh quotient of at most `singular`, the smallest that counts as positive.
fn semidefinite(quotient: f64, singular: f64) -> Stop {
    if singular > 0.0 && quotient >= -singular { Stop::Breakdown } else { Stop::Indefinite }
}

/// Number of values per row.
const NUMBERS: usize = 8;

/// Input and results of an iteration; the numbers are listed in `krylov.cl`.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    rho: f64,
    squares: f64,
    square: f64,
    largest: f64,
    steepest: f64,
    stop: f64,
    curvature: f64,
    made: f64,
}

impl Row {
    fn of(n: [f64; NUMBERS]) -> Row {
        let [rho, squares, square, largest, steepest, stop, curvature, made] = n;
        Row { rho, squares, square, largest, steepest, stop, curvature, made }
    }

    fn numbers(self) -> [f64; NUMBERS] {
        let Row { rho, squares, square, largest, steepest, stop, curvature, made } = self;
        [rho, squares, square, largest, steepest, stop, curvature, made]
    }
}

/// The scalars of conjugate gradients on the device. They are real for Hermitian matrices, so that the launches on complex
/// vectors are those on their real and imaginary parts.
#[derive(Debug)]
struct Scalars<T: Scalar> {
    ring: Ring<T::Real, NUMBERS>,
    /// Partial sums of p'Ap, r'r and r'z.
    dots: DotParts<T>,
    squares: DotParts<T>,
    rhos: DotParts<T>,
}

impl<T: Scalar> Scalars<T> {
    fn new(context: &Context) -> Result<Scalars<T>> {
        let parts = || DotParts::new(context);
        Ok(Scalars { ring: Ring::new(context)?, dots: parts()?, squares: parts()?, rhos: parts()? })
    }

    fn start(&mut self, first: Row) -> Result<()> {
        self.ring.start(first.numbers())
    }

    /// The last `count` iterations enqueued, each with its successor's row.
    fn read(&self, count: usize) -> Result<impl Iterator<Item = (Row, Row)> + use<T>> {
        Ok(self.ring.read(count)?.map(|(row, next)| (Row::of(row), Row::of(next))))
    }

    /// r -= step q.
    fn residual(&mut self, limits: &Limits<T::Real>, q: &Vector<T>, r: &mut Vector<T>) -> Result<()> {
        let (context, n) = (q.context(), q.len() * T::COMPONENTS);
        let (program, parts, range) = scalars::update::<T::Real>(context, n);
        let (count, dots) = self.dots.joined();
        let (rows, at) = (self.ring.rows(), self.ring.at());
        let (q, r) = (In::parts(q.buffer()), Out::parts(r.buffer()));
        let partial = self.squares.parts(parts);
        program.cg_residual(context, range, n, count, dots, rows, at, limits.unsound, q, r, partial)
    }

    /// x += unit step p, p = z + beta p, and advances to the next iteration. r'z is taken from `rhos` where z is not r.
    fn direction(
        &mut self,
        limits: &Limits<T::Real>,
        preconditioned: bool,
        z: &Vector<T>,
        x: &mut Vector<T>,
        p: &mut Vector<T>,
    ) -> Result<()> {
        let (context, n) = (z.context(), z.len() * T::COMPONENTS);
        let (program, range) = match context.family() {
            KernelFamily::Gpu => {
                let [local, width, _, groups, ..] = context.choice(&CG, T::PRECISION, n);
                let most = context.units() * groups as usize;
                let groups = n.div_ceil((CG_ITEMS * local * width) as usize).min(most.max(1));
                (scalars::gpu(local, width), Range::d1(groups * local as usize, local as usize))
            }
            KernelFamily::Cpu => (krylov::Program::<T::Real>::new(), Range::d1(context.chunks().min(n), 1)),
        };
        let (count, squares) = self.squares.joined();
        let (rho_count, rhos) = if preconditioned { self.rhos.joined() } else { (count, squares) };
        let (at, next) = (self.ring.at(), self.ring.advance());
        let rows = self.ring.rows();
        let Limits { unsound, low, high, unit } = *limits;
        let (z, x, p) = (In::parts(z.buffer()), Out::parts(x.buffer()), Out::parts(p.buffer()));
        program.cg_direction(
            context, range, n, count, squares, rho_count, rhos, rows, at, next, unsound, low, high, unit, z, x, p,
        )
    }
}

/// Reads that an item of `cg_direction` on a GPU has in flight; `ITEMS` in `krylov.cl`.
pub(crate) const CG_ITEMS: u32 = 4;

/// The largest number of sums that a launch forms at once, each with one value per item in local memory.
const SUMS: usize = 3;

/// The parameters of the launches on vectors of conjugate gradients and BiCGStab, on a GPU.
pub(crate) static CG: Operation = Operation::new(
    "cg",
    "the vector updates of conjugate gradients and BiCGStab",
    Parameters {
        family: KernelFamily::Gpu,
        names: &[
            ("local", "items of a work-group, a power of two"),
            ("width", "elements that an item reads at once: 1, 2 or 4"),
            ("groups", "work-groups per compute unit of the update of r"),
            ("spread", "work-groups per compute unit of the update of x and p"),
        ],
        needs: |&[local, width, groups, spread, ..], precision| {
            let sound = local.is_power_of_two() && [1, 2, 4].contains(&width) && groups > 0 && spread > 0;
            let local_bytes = SUMS * local as usize * precision.bytes();
            sound.then_some(Needs { group: local as usize, local_bytes, tensor: false })
        },
        // NVIDIA H200: 99 and 97 % of the copy bandwidth.
        default: |device, precision, _| {
            let local = tune::local_size(device, 256, SUMS * precision.bytes());
            [local, 16 / precision.bytes() as u32, 4, 64, 0, 0]
        },
    },
);

/// One iteration on vectors of its own, as its parameters are tried.
pub(crate) struct Iteration<T: Real> {
    scalars: Scalars<T>,
    limits: Limits<T>,
    pub(crate) x: Vector<T>,
    pub(crate) r: Vector<T>,
    pub(crate) p: Vector<T>,
    q: Vector<T>,
}

impl<T: Real> Iteration<T> {
    /// With rho = 2, p'Ap = 1 and the unit 1 the step is 2.
    pub(crate) fn new(context: &Context, [x, r, p, q]: [Vector<T>; 4]) -> Result<Iteration<T>> {
        let mut scalars = Scalars::new(context)?;
        let one = Vector::filled(context, 1, T::one())?;
        scalars.dots.set(&one, &one)?;
        let limits = Limits::<T>::new(1.0, -1.0, T::max_value().into_f64() / 2.0);
        Ok(Iteration { scalars, limits, x, r, p, q })
    }

    pub(crate) fn make(&mut self) -> Result<()> {
        self.scalars.residual(&self.limits, &self.q, &mut self.r)?;
        self.scalars.direction(&self.limits, false, &self.r, &mut self.x, &mut self.p)
    }

    pub(crate) fn start(&mut self) -> Result<()> {
        self.scalars.start(Row { rho: 2.0, squares: 2.0, square: 2.0, ..Row::default() })
    }

    /// The same iteration once more.
    pub(crate) fn again(&mut self) -> Result<()> {
        self.scalars.ring.repeat();
        self.make()
    }

    /// p'Ap, whether it was made, and the next r'r and rho.
    pub(crate) fn outcome(&self) -> Result<[f64; 4]> {
        let (row, next) = self.scalars.read(1)?.next().expect("one iteration was made");
        Ok([row.curvature, row.made, next.squares, next.rho])
    }
}
