//! What the iterative methods of a team share: the residual history, and the judgement of an end.

use std::ops::ControlFlow;

use super::vector::{Dots, Vector};
use super::{Operator, Team};
use crate::error::check_length;
use crate::ops::scatter_signs;
use crate::solve::run::{FLOOR_CEILING, FLOOR_FACTOR, RESTART_PROGRESS, WINDOW_PROGRESS, unit};
use crate::solve::{Progress, Report, Stop, Stopping};
use crate::{Real, Result};

/// Restarts from the true residual after the recurrence has claimed convergence or broken down.
const RESTARTS: usize = 10;

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
    /// For a matrix with this diagonal, of all rows; rows with 0 there are left as they are.
    ///
    /// # Errors
    /// As [`Vector::from_slice`].
    pub fn new(team: &Team, partition: &super::Partition, diagonal: &[T]) -> Result<Jacobi<T>> {
        let inverse = |&d: &T| if d == T::zero() { T::one() } else { T::one() / d };
        let inverse: Vec<T> = diagonal.iter().map(inverse).collect();
        Ok(Jacobi { inverse: Vector::from_slice(team, partition, &inverse)? })
    }
}

impl<T: Real> Preconditioner<T> for Jacobi<T> {
    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        z.set_product(&self.inverse, r)
    }
}

/// A method as the loop around it sees it.
pub(super) trait Method<T: Real> {
    /// When a solve ends.
    fn stopping(&self) -> &Stopping;

    /// Iterations that the residual may go without a new minimum, whatever the stopping criteria say.
    fn patience(&self, _rows: usize) -> usize {
        0
    }

    /// A vector for b - A x, and two more that may be overwritten between the cycles.
    fn vectors(&mut self) -> [&mut Vector<T>; 3];

    /// Iterates from the residual in the first vector, which is scaled by 1 / `unit`, until a stopping criterion is met; `None` asks
    /// for another cycle from the true residual.
    fn cycle(
        &mut self,
        run: &mut Run<'_>,
        a: &mut dyn Operator<T>,
        m: Option<&mut (dyn Preconditioner<T> + '_)>,
        x: &mut Vector<T>,
        unit: f64,
    ) -> Result<Option<Stop>>;
}

/// One solve in progress.
pub(super) struct Run<'a> {
    stopping: Stopping,
    tolerance: f64,
    epsilon: f64,
    progress: Progress<'a>,
    cancelled: bool,
    norm_b: f64,
    history: Vec<f64>,
    best: f64,
    mark: usize,
    window: usize,
    first: f64,
}

impl Run<'_> {
    fn notify(&mut self, iteration: usize, relative: f64) {
        self.cancelled = self.cancelled || (self.progress)(iteration, relative) == ControlFlow::Break(());
    }

    /// `norm` / |b|; 0 for a zero residual, whatever b is.
    fn relative(&self, norm: f64) -> f64 {
        if norm == 0.0 { 0.0 } else { norm / self.norm_b }
    }

    /// Enters an iteration whose recurrence gives the residual norm `norm`, after which x is that of the iteration.
    pub(super) fn record(&mut self, norm: f64) -> Option<Stop> {
        let relative = self.relative(norm);
        let iteration = self.history.len();
        self.history.push(relative);
        self.notify(iteration, relative);
        if norm < WINDOW_PROGRESS * self.best {
            (self.best, self.mark) = (norm, iteration);
        }
        if !relative.is_finite() {
            Some(Stop::NotFinite)
        } else if relative <= self.tolerance {
            Some(Stop::Converged)
        } else if iteration >= self.stopping.max_iterations {
            Some(Stop::IterationLimit)
        } else if norm * self.epsilon > self.first {
            Some(Stop::Diverged)
        } else if iteration - self.mark >= self.window {
            Some(Stop::Stagnated)
        } else if self.cancelled {
            Some(Stop::Cancelled)
        } else {
            None
        }
    }
}

/// Solves A x = b from the start x: cycles of the method, each from the true residual, until that decides.
pub(super) fn solve<T: Real>(
    method: &mut dyn Method<T>,
    a: &mut dyn Operator<T>,
    mut m: Option<&mut dyn Preconditioner<T>>,
    b: &Vector<T>,
    x: &mut Vector<T>,
    progress: Progress<'_>,
) -> Result<Report> {
    method.stopping().check()?;
    let n = a.partition().rows();
    let [r, ..] = method.vectors();
    check_length("a", r.len(), n)?;
    r.check(b, "b")?;
    r.check(x, "x")?;
    let stopping = method.stopping().clone();
    let mut run = Run {
        tolerance: stopping.tolerance_of::<T>(),
        epsilon: T::epsilon().into_f64(),
        progress,
        cancelled: false,
        norm_b: b.norm2()?,
        history: vec![f64::NAN],
        best: f64::INFINITY,
        mark: 0,
        window: stopping.stagnation_window.max(method.patience(n)),
        first: f64::INFINITY,
        stopping,
    };
    if run.norm_b == 0.0 {
        x.fill(T::zero())?;
    }
    let (mut restarts, mut restarted_at) = (0, f64::INFINITY);
    let (mut begun, mut seen) = (false, None);
    let (stop, norm) = loop {
        let [r, p, q] = method.vectors();
        a.apply(x, r)?;
        r.update(T::one(), b, -T::one())?;
        let norm = r.norm2()?;
        let relative = run.relative(norm);
        *run.history.last_mut().expect("the history starts with the first residual") = relative;
        if !begun {
            run.first = norm;
            run.notify(0, relative);
        }
        if !(run.norm_b.is_finite() && norm.is_finite()) {
            break (Stop::NotFinite, norm);
        }
        if relative <= run.tolerance {
            break (Stop::Converged, norm);
        }
        match seen {
            None if run.stopping.max_iterations == 0 => break (Stop::IterationLimit, norm),
            None if begun => {}
            None => restarted_at = norm,
            Some(Stop::Converged | Stop::Breakdown | Stop::Stagnated) => {
                let seen = seen.expect("it was just looked at");
                let rounding = rounding(a, x, p, q, run.norm_b)?;
                let at_floor = norm <= FLOOR_FACTOR * rounding && relative <= FLOOR_CEILING;
                if at_floor && run.tolerance * run.norm_b * FLOOR_FACTOR < rounding {
                    break (Stop::RoundingFloor, norm);
                }
                if run.history.len() > run.stopping.max_iterations {
                    break (Stop::IterationLimit, norm);
                }
                let progress = norm <= RESTART_PROGRESS * restarted_at;
                if seen == Stop::Stagnated || !progress || restarts == RESTARTS {
                    let stop = match seen {
                        _ if at_floor => Stop::RoundingFloor,
                        Stop::Converged => Stop::Stagnated,
                        other => other,
                    };
                    break (stop, norm);
                }
                restarts += 1;
                restarted_at = norm;
                run.best = f64::INFINITY;
            }
            Some(stop) => break (stop, norm),
        }
        if run.cancelled {
            break (Stop::Cancelled, norm);
        }
        let unit = unit::<T>(norm);
        let [r, ..] = method.vectors();
        r.scale(T::from_f64(1.0 / unit))?;
        begun = true;
        seen = method.cycle(&mut run, a, m.as_deref_mut(), x, unit)?;
    };
    let Run { history, norm_b, .. } = run;
    let relative_residual = if norm == 0.0 { 0.0 } else { norm / norm_b };
    Ok(Report { stop, iterations: history.len() - 1, relative_residual, history })
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
    let team = x.team().clone();
    team.each(|k, _| scatter_signs(&x.parts[k], &mut p.parts[k]))?;
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
