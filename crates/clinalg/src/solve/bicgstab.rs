//! Stabilised biconjugate gradients.

use super::run::{Run, check_system};
use super::scalars::{self, Limits, MOST_AT_ONCE, Ring, precondition};
use super::{Operator, Params, Preconditioner, Report, Stop};
use crate::ops::{self, DotParts};
use crate::runtime::Arg;
use crate::{Context, Real, Result, Vector};

/// BiCGStab for any square nonsingular A, with an optional preconditioner applied from the right
/// (van der Vorst 1992; Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 7.7;
/// Barrett et al., Templates, 1994, section 2.3.8).
///
/// Owns seven vectors of `n` values. One iteration takes two products with two dot products each
/// ([`Operator::apply_dots`](crate::ops::Operator::apply_dots)) and three launches on vectors; with a preconditioner its own
/// work twice. The scalars stay on the device and the host looks at several iterations at once, as in
/// [`Cg`](crate::solve::Cg).
///
/// Where a coefficient or A M^-1 p vanishes to working precision the iteration starts again from the true
/// residual; [`Stop::Breakdown`] says that this did not help.
#[derive(Debug)]
pub struct BiCgStab<T: Real> {
    r: Vector<T>,
    shadow: Vector<T>,
    p: Vector<T>,
    v: Vector<T>,
    t: Vector<T>,
    /// M^-1 p and M^-1 r.
    y: Vector<T>,
    z: Vector<T>,
    norms: DotParts<T>,
    scalars: Scalars<T>,
}

impl<T: Real> BiCgStab<T> {
    /// A solver for systems of `n` equations.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context, n: usize) -> Result<BiCgStab<T>> {
        let vector = || Vector::uninit(context, n);
        let (norms, scalars) = (DotParts::new(context)?, Scalars::new(context)?);
        let [r, shadow, p, v, t, y, z] = [vector()?, vector()?, vector()?, vector()?, vector()?, vector()?, vector()?];
        Ok(BiCgStab { r, shadow, p, v, t, y, z, norms, scalars })
    }

    /// Solves A x = b from the start x, with the preconditioner `m`.
    ///
    /// # Errors
    /// As [`Cg::solve`](crate::solve::Cg::solve).
    pub fn solve(
        &mut self,
        a: &dyn Operator<T>,
        m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
    ) -> Result<Report> {
        self.solve_with(a, m, b, x, params, &mut |_, _| ())
    }

    /// As [`BiCgStab::solve`]; `progress` gets the number of each iteration, 0 for the start, and
    /// its relative residual.
    ///
    /// # Errors
    /// As [`Cg::solve`](crate::solve::Cg::solve).
    pub fn solve_with(
        &mut self,
        a: &dyn Operator<T>,
        mut m: Option<&mut dyn Preconditioner<T>>,
        b: &Vector<T>,
        x: &mut Vector<T>,
        params: &Params,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report> {
        check_system(self.r.context(), self.r.len(), a, m.as_deref(), b, x)?;
        let (mut run, mut end) = Run::start(a, b, x, &mut self.r, &mut self.norms, params, progress)?;
        let mut largest = 0.0;
        loop {
            if let Some(stop) = end {
                return Ok(run.report(stop));
            }
            let seen = self.cycle(&mut run, a, m.as_deref_mut(), x, &mut largest)?;
            end = run.confirm(seen, x, &mut self.r, &mut self.p, &mut self.v, &mut self.norms)?;
        }
    }

    /// Iterates from r = b - A x until there is a reason to stop. `largest` is the largest
    /// |A M^-1 p| / |p| so far.
    fn cycle<'m>(
        &mut self,
        run: &mut Run<'_, T>,
        a: &dyn Operator<T>,
        mut m: Option<&mut (dyn Preconditioner<T> + 'm)>,
        x: &mut Vector<T>,
        largest: &mut f64,
    ) -> Result<Stop> {
        let BiCgStab { r, shadow, p, v, t, y, z, scalars, .. } = self;
        let eps = T::epsilon().wide();
        let unit = run.rescale(r)?;
        ops::copy(r, shadow)?;
        ops::copy(r, p)?;
        scalars.lengths.set(p, p)?;
        let shadow_square = (run.norm() / unit).powi(2);
        let to_reach = run.squares_to_reach(unit);
        let limits = Limits::<T>::new(unit, to_reach, run.squares_to_diverge(unit));
        let first = Row { rho: shadow_square, squares: shadow_square, largest: largest.powi(2), ..Row::default() };
        scalars.start(first, shadow_square.sqrt())?;
        // What an end that only the device saw, in its margin, amounts to; the true residual decides.
        let at_the_margin = |squares: f64| {
            let hair = 64.0 * eps;
            if squares <= to_reach * (1.0 + hair) { Stop::Converged } else { Stop::Breakdown }
        };
        let mut block = 1;
        loop {
            block = run.block(block, MOST_AT_ONCE);
            for _ in 0..block {
                // v = A M^-1 p, and the step along M^-1 p that makes r orthogonal to the shadow.
                let along_p = precondition(&mut m, p, y)?;
                a.apply_dots(T::one(), along_p, None, shadow, v, &mut scalars.dots)?;
                scalars.half(&limits, v, r)?;
                // t = A M^-1 r, and the step along M^-1 r that makes r smallest.
                let along_r = precondition(&mut m, r, z)?;
                a.apply_dots(T::one(), along_r, None, r, t, &mut scalars.dots)?;
                let steps = [along_p.buffer().arg(), along_r.buffer().arg()];
                scalars.whole(&limits, steps, t, shadow, x, r)?;
                scalars.direction(&limits, r, v, p)?;
            }
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
                    return Ok(run.record(norm, norm).unwrap_or(at_the_margin(half)));
                }
                let norm = unit * next.squares.sqrt();
                if let Some(stop) = run.record(norm, norm) {
                    return Ok(stop);
                }
                if next.stop != 0.0 {
                    // The shadow's product with r has vanished, or the device was a hair before the host.
                    return Ok(at_the_margin(next.squares));
                }
            }
        }
    }
}

/// Numbers of a row.
const NUMBERS: usize = 11;

/// What an iteration starts from and finds out; `krylov.cl` says what the numbers are.
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
struct Scalars<T: Real> {
    ring: Ring<T, NUMBERS>,
    /// The length of the shadow residual.
    shadow: T,
    /// Of a product A M^-1 p or A M^-1 r: with the shadow or r, and with itself.
    dots: DotParts<T>,
    /// p'p; r'r after the half step; the shadow's product with r and r'r after the iteration.
    lengths: DotParts<T>,
    halves: DotParts<T>,
    ends: DotParts<T>,
}

impl<T: Real> Scalars<T> {
    fn new(context: &Context) -> Result<Scalars<T>> {
        let parts = || DotParts::new(context);
        let (ring, shadow) = (Ring::new(context)?, T::zero());
        Ok(Scalars { ring, shadow, dots: parts()?, lengths: parts()?, halves: parts()?, ends: parts()? })
    }

    fn start(&mut self, first: Row, shadow: f64) -> Result<()> {
        self.shadow = T::of(shadow);
        self.ring.start(first.numbers())
    }

    /// The last `count` iterations enqueued, each with its successor's row.
    fn read(&self, count: usize) -> Result<impl Iterator<Item = (Row, Row)> + use<T>> {
        Ok(self.ring.read(count)?.map(|(row, next)| (Row::of(row), Row::of(next))))
    }

    /// r -= alpha v.
    fn half(&mut self, limits: &Limits<T>, v: &Vector<T>, r: &mut Vector<T>) -> Result<()> {
        let (context, n) = (v.context(), v.len());
        let names = ["bicgstab_half_gpu", "bicgstab_half_cpu"];
        let (kernel, count, range) = scalars::update::<T>(context, names, n);
        let args: [&[Arg]; 6] = [
            &[Arg::size(n)],
            &self.dots.args(),
            &self.lengths.args(),
            &self.ring.row(),
            &[limits.unsound, self.shadow].map(|number| number.arg().0),
            &[v.buffer().arg(), r.buffer().arg(), self.halves.parts(count)],
        ];
        context.run(&kernel, range, &args.concat())
    }

    /// x += unit (alpha y + omega z) with the `steps` y and z, of which the second may be r; r -= omega t.
    fn whole(
        &mut self,
        limits: &Limits<T>,
        steps: [Arg; 2],
        t: &Vector<T>,
        shadow: &Vector<T>,
        x: &mut Vector<T>,
        r: &mut Vector<T>,
    ) -> Result<()> {
        let (context, n) = (t.context(), t.len());
        let names = ["bicgstab_whole_gpu", "bicgstab_whole_cpu"];
        let (kernel, count, range) = scalars::update::<T>(context, names, n);
        let vectors = [t.buffer(), shadow.buffer(), x.buffer(), r.buffer()].map(|buffer| buffer.arg());
        let args: [&[Arg]; 8] = [
            &[Arg::size(n)],
            &self.halves.args(),
            &self.dots.args(),
            &self.ring.row(),
            &[limits.unsound, self.shadow, limits.low, limits.unit].map(|number| number.arg().0),
            &steps,
            &vectors,
            &[self.ends.pairs(count)],
        ];
        context.run(&kernel, range, &args.concat())
    }

    /// p = r + beta (p - omega v), and on to the next iteration.
    fn direction(&mut self, limits: &Limits<T>, r: &Vector<T>, v: &Vector<T>, p: &mut Vector<T>) -> Result<()> {
        let (context, n) = (r.context(), r.len());
        let names = ["bicgstab_direction_gpu", "bicgstab_direction_cpu"];
        let (kernel, count, range) = scalars::update::<T>(context, names, n);
        let args: [&[Arg]; 6] = [
            &[Arg::size(n)],
            &self.ends.args(),
            &self.ring.row(),
            &[self.ring.advance()],
            &[limits.unsound, self.shadow, limits.low, limits.high].map(|number| number.arg().0),
            &[r.buffer().arg(), v.buffer().arg(), p.buffer().arg(), self.lengths.parts(count)],
        ];
        context.run(&kernel, range, &args.concat())
    }
}
