//! The multigrid cycle.

use super::params::{AmgParams, Cycle, Smoother};
use super::setup::{Coarsest, Level};
use crate::ops::{self, items};
use crate::runtime::Out;
use crate::runtime::kernels::amg_cycle::Program;
use crate::{Real, Result, Vector};

/// The smoother reduces errors to eigenvalues above this fraction of the largest.
const SMOOTHED: f64 = 0.25;
/// Sweeps on the coarsest level where there is no inverse.
pub(super) const LAST_SWEEPS: usize = 2;

/// How a level is visited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    smoother: Smoother,
    cycle: Cycle,
}

impl Plan {
    pub(super) fn new(params: &AmgParams) -> Plan {
        Plan { smoother: params.relaxation(), cycle: params.cycle }
    }

    /// For each step, the factor by which it keeps the previous one, and its weight.
    pub(super) fn steps(&self, largest: f64) -> Vec<(f64, f64)> {
        let degree = match self.smoother {
            Smoother::Chebyshev(degree) => degree,
            Smoother::L1Jacobi(sweeps) | Smoother::Spai0(sweeps) | Smoother::GaussSeidel(sweeps) => {
                return vec![(0.0, 1.0); sweeps];
            }
        };
        // Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 12.1.
        let (low, high) = (SMOOTHED * largest, largest);
        let (centre, half) = ((high + low) / 2.0, (high - low) / 2.0);
        let sigma = centre / half;
        let mut rho = 1.0 / sigma;
        let mut steps = vec![(0.0, 1.0 / centre)];
        for _ in 1..degree {
            let next = 1.0 / (2.0 * sigma - rho);
            steps.push((next * rho, 2.0 * next / half));
            rho = next;
        }
        steps
    }
}

/// A step of the smoother on x for the right-hand side b.
pub(crate) struct Step<'a, T: Real> {
    /// The factor by which the step keeps the previous one, and its weight.
    pub(crate) weights: (f64, f64),
    /// What residuals are multiplied by.
    pub(crate) inverse: &'a Vector<T>,
    pub(crate) b: &'a Vector<T>,
    /// A x; `None` for the first step from x = 0.
    pub(crate) product: Option<&'a Vector<T>>,
}

impl<T: Real> Step<'_, T> {
    /// Sets d to the step and adds it to x.
    pub(crate) fn take(&self, d: &mut Vector<T>, x: &mut Vector<T>) -> Result<()> {
        let (program, context, n) = (Program::<T>::new(), x.context(), x.len());
        let range = items(context, n);
        let (keep, scale) = (T::from_f64(self.weights.0), T::from_f64(self.weights.1));
        let (inverse, b) = (self.inverse.buffer(), self.b.buffer());
        let (d, to) = (Out::shared(d.buffer()), Out::shared(x.buffer()));
        match self.product {
            None => program.first_step(context, range, n, scale, inverse, b, d, to),
            Some(ax) => program.next_step(context, range, n, keep, scale, inverse, b, ax.buffer(), d, to),
        }
    }
}

/// x after the steps of the smoother, from 0 where `fresh`; after the coarser level, `reversed`.
fn smooth<T: Real>(
    level: &mut Level<T>,
    plan: Plan,
    b: &Vector<T>,
    x: &mut Vector<T>,
    (fresh, reversed): (bool, bool),
) -> Result<()> {
    let Level { a, inverse, largest, step, product, colours, .. } = level;
    if let Some(colours) = colours {
        if fresh {
            x.fill(T::zero())?;
        }
        return (0..plan.smoother.steps()).try_for_each(|_| colours.sweep(a, b, x, reversed));
    }
    for (k, weights) in plan.steps(*largest).into_iter().enumerate() {
        let from_zero = k == 0 && fresh;
        if !from_zero {
            ops::mv(T::one(), &*a, x, T::zero(), product)?;
        }
        Step { weights, inverse, b, product: (!from_zero).then_some(&*product) }.take(step, x)?;
    }
    Ok(())
}

/// Two steps of flexible conjugate gradients for A x = b from x = 0 with a cycle as preconditioner (Notay and Vassilevski, Numer. Linear
/// Algebra Appl. 15 (2008) 473-487, algorithm 3.2, without its exit after the first step). Changes b.
fn flexible_steps<T: Real>(
    levels: &mut [Level<T>],
    end: &Coarsest<T>,
    plan: Plan,
    b: &mut Vector<T>,
    x: &mut Vector<T>,
) -> Result<()> {
    let mut own = match levels[0].steps.take() {
        Some(own) => own,
        None => {
            let vector = || Vector::uninit(b.context(), b.len());
            [vector()?, vector()?, vector()?]
        }
    };
    let done = along_two(levels, end, plan, b, x, &mut own);
    levels[0].steps = Some(own);
    done
}

/// x minimises the energy norm of the error over the span of a cycle for b and one for the residual that the first leaves.
fn along_two<T: Real>(
    levels: &mut [Level<T>],
    end: &Coarsest<T>,
    plan: Plan,
    b: &mut Vector<T>,
    x: &mut Vector<T>,
    [v, d, w]: &mut [Vector<T>; 3],
) -> Result<()> {
    let dot = |a: &Vector<T>, b: &Vector<T>| ops::dot(a, b).map(|d| d.into_f64());
    visit(levels, end, plan, b, x, true)?;
    ops::mv(T::one(), &levels[0].a, &*x, T::zero(), v)?;
    let (rho, alpha) = (dot(x, v)?, dot(x, b)?);
    let first = alpha / rho;
    // The cycle alone, where no step along it lowers the energy.
    if !(rho > 0.0 && first.is_finite()) {
        return Ok(());
    }
    ops::update(T::from_f64(-first), v, T::one(), b)?;
    visit(levels, end, plan, b, d, true)?;
    ops::mv(T::one(), &levels[0].a, &*d, T::zero(), w)?;
    let (gamma, beta, rest) = (dot(d, v)?, dot(d, w)?, dot(d, b)?);
    let curvature = beta - gamma * gamma / rho;
    let second = if curvature > 0.0 { rest / curvature } else { 0.0 };
    let second = if second.is_finite() { second } else { 0.0 };
    ops::update(T::from_f64(second), d, T::from_f64(first - second * gamma / rho), x)
}

/// A cycle for A x = b, from x = 0 where `fresh`.
pub(super) fn visit<T: Real>(
    levels: &mut [Level<T>],
    end: &Coarsest<T>,
    plan: Plan,
    b: &Vector<T>,
    x: &mut Vector<T>,
    fresh: bool,
) -> Result<()> {
    let (level, coarser) = levels.split_first_mut().expect("a visit is to a level");
    if coarser.is_empty() {
        return match end {
            Coarsest::Inverse(inverse, _) => ops::mv(T::one(), inverse, b, T::zero(), x),
            Coarsest::Smoothed => {
                let how = |sweep: usize| (fresh && sweep == 0, !sweep.is_multiple_of(2));
                (0..2 * LAST_SWEEPS).try_for_each(|sweep| smooth(level, plan, b, x, how(sweep)))
            }
        };
    }
    smooth(level, plan, b, x, (fresh, false))?;
    let Level { a, product, coarser: step, .. } = level;
    let step = step.as_mut().expect("all levels but the last have a coarser one");
    ops::mv(T::one(), &*a, x, T::zero(), product)?;
    ops::update(T::one(), b, -T::one(), product)?;
    ops::mv(T::one(), &step.restrict, product, T::zero(), &mut step.b)?;
    match plan.cycle {
        // The coarsest level is solved.
        Cycle::K if coarser.len() > 1 => flexible_steps(coarser, end, plan, &mut step.b, &mut step.x)?,
        Cycle::V | Cycle::K => visit(coarser, end, plan, &step.b, &mut step.x, true)?,
        Cycle::W if coarser.len() == 1 && matches!(end, Coarsest::Inverse(..)) => {
            visit(coarser, end, plan, &step.b, &mut step.x, true)?;
        }
        Cycle::W => (0..2).try_for_each(|k| visit(coarser, end, plan, &step.b, &mut step.x, k == 0))?,
    }
    ops::mv(T::one(), &step.prolong, &step.x, T::one(), x)?;
    smooth(level, plan, b, x, (false, true))
}
