//! What the iterative methods of a team share: preconditioners, and the outer loop.

use super::vector::{Dots, Vector};
use super::{Operator, Team};
use crate::error::check_length;
use crate::solve::best::{Best, Iterate, Start};
use crate::solve::judge::{Judge, Verdict, unit};
use crate::solve::{Progress, Report, Stop, Stopping, invert_diagonal};
use crate::{Real, Result};

/// M^-1 as a preconditioner of the methods of a team.
pub trait Preconditioner<T: Real> {
    /// z = M^-1 r.
    ///
    /// # Errors
    /// As [`Vector::update`].
    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()>;
}

/// The inverse of the diagonal.
#[derive(Debug)]
pub struct Jacobi<T: Real> {
    inverse: Vector<T>,
}

impl<T: Real> Jacobi<T> {
    /// From the diagonal of a matrix, given for all rows.
    ///
    /// # Errors
    /// [`Error::Value`](crate::Error::Value) that names the first row whose value has no finite inverse; as [`Vector::from_slice`].
    pub fn new(team: &Team, partition: &super::Partition, diagonal: &[T]) -> Result<Jacobi<T>> {
        let mut inverse = diagonal.to_vec();
        invert_diagonal(&mut inverse)?;
        Ok(Jacobi { inverse: Vector::from_slice(team, partition, &inverse)? })
    }
}

impl<T: Real> Preconditioner<T> for Jacobi<T> {
    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        z.set_product(&self.inverse, r)
    }
}

/// The best iterate, and the vectors of [`Method::vectors`].
pub(super) type BestAnd<'a, T> = (&'a mut Best<Vector<T>>, [&'a mut Vector<T>; 3]);

/// A method as the loop around it sees it.
pub(super) trait Method<T: Real> {
    /// When a solve ends.
    fn stopping(&self) -> &Stopping;

    /// Resets what the method remembers of the previous solve.
    fn begin(&mut self) {}

    /// Iterations that the residual may go without a new minimum, whatever the stopping criteria say.
    fn patience(&self, _rows: usize) -> usize {
        0
    }

    /// A vector for b - A x, and two more that may be overwritten between the cycles.
    fn vectors(&mut self) -> [&mut Vector<T>; 3];

    /// The best iterate, for methods whose residuals may rise, with [`Method::vectors`].
    fn best(&mut self) -> Option<BestAnd<'_, T>> {
        None
    }

    /// Whether x becomes the best iterate also where the solve is stopped from outside.
    fn takes_best_when_stopped(&self) -> bool {
        true
    }

    /// Lets the method vary its next cycles after those so far have failed at this residual norm. Returns false if it has no other way or that has
    /// not helped.
    fn changes_after(&mut self, _norm: f64) -> bool {
        false
    }

    /// Iterates from the residual in the first vector, which is scaled by 1 / `unit`, until a stopping criterion is met; `None` asks
    /// for another cycle from the true residual.
    fn cycle(
        &mut self,
        judge: &mut Judge<'_>,
        a: &mut dyn Operator<T>,
        m: Option<&mut (dyn Preconditioner<T> + '_)>,
        x: &mut Vector<T>,
        unit: f64,
    ) -> Result<Option<Stop>>;
}

impl<T: Real> Iterate for Vector<T> {
    fn set(&mut self, other: &Vector<T>) -> Result<()> {
        self.copy_from(other)
    }

    fn set_zero(&mut self) -> Result<()> {
        self.fill(T::zero())
    }

    fn is_zero(&self) -> Result<bool> {
        Ok(self.norm2()? == 0.0)
    }

    fn copied(&self) -> Result<Vector<T>> {
        let mut copy = Vector::zeros(self.team(), self.partition())?;
        copy.copy_from(self)?;
        Ok(copy)
    }
}

/// Records an iteration whose recurrence gives the residual norm `norm`; x must be that of this iteration.
pub(super) fn record(judge: &mut Judge<'_>, norm: f64) -> Option<Stop> {
    judge.record(norm, norm).or(judge.cancelled().then_some(Stop::Cancelled))
}

/// Computes r = b - A x and returns its norm.
fn residual<T: Real>(a: &mut dyn Operator<T>, b: &Vector<T>, x: &Vector<T>, r: &mut Vector<T>) -> Result<f64> {
    a.apply(x, r)?;
    r.update(T::one(), b, -T::one())?;
    r.norm2()
}

/// Solves A x = b from the initial guess x: cycles of the method, each from the true residual, until the stopping criteria are met. These are the
/// same as on one device.
pub(super) fn solve<T: Real>(
    method: &mut dyn Method<T>,
    a: &mut dyn Operator<T>,
    mut m: Option<&mut dyn Preconditioner<T>>,
    b: &Vector<T>,
    x: &mut Vector<T>,
    progress: Progress<'_>,
) -> Result<Report> {
    let stopping = method.stopping().clone();
    stopping.check()?;
    let n = a.partition().rows();
    let [r, ..] = method.vectors();
    check_length("a", r.len(), n)?;
    r.check(b, "b")?;
    r.check(x, "x")?;
    method.begin();
    let tolerance = stopping.tolerance_of::<T>();
    let mut judge = Judge::new::<T>(b.norm2()?, stopping, tolerance, progress);
    judge.be_patient(method.patience(n));
    if !judge.norm_b().is_finite() {
        return Ok(judge.report(Stop::NotFinite));
    }
    if judge.norm_b() == 0.0 {
        x.fill(T::zero())?;
    }
    let [r, ..] = method.vectors();
    let stop = judge.enter(residual(a, b, x, r)?);
    let mut end = judge.begin(stop);
    let mut start = Start::new();
    match method.best() {
        Some((best, _)) => best.start(x, judge.norm())?,
        None => start.keep(x)?,
    }
    loop {
        if let Some(stop) = end {
            return Ok(judge.report(stop));
        }
        let unit = unit::<T>(judge.norm());
        let [r, ..] = method.vectors();
        r.scale(T::from_f64(1.0 / unit))?;
        let seen = method.cycle(&mut judge, a, m.as_deref_mut(), x, unit)?;
        let [r, p, q] = method.vectors();
        end = match (judge.enter(residual(a, b, x, r)?), seen) {
            (None, Some(seen)) => match judge.judge(seen) {
                Verdict::End(stop) => Some(stop),
                Verdict::Restart => None,
                Verdict::AtRounding => Some(judge.end_at(seen, rounding(a, x, p, q, judge.norm_b())?)),
            },
            (None, None) => continue,
            (stop, _) => stop,
        };
        if end == Some(Stop::Converged) {
            continue;
        }
        if let (None, Some((best, [r, ..]))) = (end, method.best()) {
            best.look_at_true(x, (judge.norm(), judge.iterations()), |x| residual(a, b, x, r))?;
        }
        // As on one device: who stops a solve may go on from its last iterate.
        if end.is_none() || end == Some(Stop::Cancelled) && !method.takes_best_when_stopped() {
            continue;
        }
        end = take_best(method, &start, &mut judge, (a, b, x), end)?;
        let gives_up = end.is_some_and(|stop| stop.is_failure_of_method() || stop == Stop::NotFinite);
        if gives_up && judge.may_go_on() && method.changes_after(judge.norm()) {
            let [r, ..] = method.vectors();
            end = judge.enter(residual(a, b, x, r)?);
            judge.watch_anew();
            if let Some((best, _)) = method.best() {
                best.correct(judge.norm());
            }
        }
    }
}

/// Resets x to the best iterate, and to the initial guess if that is better. Returns the reason to stop, as on one device.
fn take_best<T: Real>(
    method: &mut dyn Method<T>,
    start: &Start<Vector<T>>,
    judge: &mut Judge<'_>,
    (a, b, x): (&mut dyn Operator<T>, &Vector<T>, &mut Vector<T>),
    end: Option<Stop>,
) -> Result<Option<Stop>> {
    let (last, first, length) = ((judge.norm(), judge.iterations()), judge.first(), x.norm2()?);
    let go_back = |judge: &mut Judge<'_>, a: &mut dyn Operator<T>, x: &Vector<T>, r: &mut Vector<T>| -> Result<f64> {
        judge.enter(residual(a, b, x, r)?);
        judge.watch_anew();
        Ok(judge.norm())
    };
    let number = match method.best() {
        Some((best, [r, ..])) => best.take(x, last, first, |x| go_back(judge, a, x, r))?,
        None if first < last.0 || !last.0.is_finite() => {
            start.give(x)?;
            let [r, ..] = method.vectors();
            go_back(judge, a, x, r)?;
            Some(0)
        }
        None => None,
    };
    let Some(number) = number else { return Ok(end) };
    judge.went_back_to(number);
    if end != Some(Stop::RoundingFloor) {
        return Ok(end);
    }
    let [_, p, q] = method.vectors();
    let rounding = rounding(a, x, p, q, judge.norm_b())?;
    Ok(Some(judge.end_after(length, x.norm2()?, rounding)))
}

/// The rounding error of b - A x, as eps (|A s| + |b|) where s is x with scattered signs, compare
/// [`solve`](crate::solve). `p` and `q` are overwritten.
fn rounding<T: Real>(
    a: &mut dyn Operator<T>,
    x: &Vector<T>,
    p: &mut Vector<T>,
    q: &mut Vector<T>,
    norm_b: f64,
) -> Result<f64> {
    p.scatter_signs(x)?;
    a.apply(p, q)?;
    Ok(T::epsilon().into_f64() * (q.norm2()? + norm_b))
}

/// M^-1 r in z, or r itself without a preconditioner.
pub(super) fn precondition<'v, T: Real>(
    m: &mut Option<&mut (dyn Preconditioner<T> + '_)>,
    r: &'v Vector<T>,
    z: &'v mut Vector<T>,
) -> Result<&'v Vector<T>> {
    match m {
        Some(m) => {
            m.apply(r, z)?;
            Ok(z)
        }
        None => Ok(r),
    }
}

/// A method's dot products, with the only one where there is one.
pub(super) fn dot<T: Real>(dots: &mut Dots<T>, x: &Vector<T>, y: &Vector<T>) -> Result<f64> {
    Ok(dots.of(&[(x, y)])?[0])
}
