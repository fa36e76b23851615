//! The cycle.

use super::params::{AmgParams, Smoother};
use super::setup::{Coarsest, Level};
use crate::ops::{self, items};
use crate::runtime::Out;
use crate::runtime::kernels::amg_cycle::Program;
use crate::{Real, Result, Vector};

/// Eigenvalues above this part of the largest are the smoother's.
const SMOOTHED: f64 = 0.25;
/// Sweeps on the coarsest level where there is no inverse.
const LAST_SWEEPS: usize = 2;

/// How a level is visited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    smoother: Smoother,
    visits: usize,
}

impl Plan {
    pub(super) fn new(params: &AmgParams) -> Plan {
        Plan { smoother: params.smoother, visits: params.visits }
    }

    /// What a step keeps of the one before, and its weight, for each step.
    fn steps(&self, largest: f64) -> Vec<(f64, f64)> {
        let degree = match self.smoother {
            Smoother::Chebyshev(degree) => degree,
            Smoother::L1Jacobi(sweeps) | Smoother::Spai0(sweeps) => return vec![(0.0, 1.0); sweeps],
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

/// x after the steps of the smoother, from 0 where `fresh`.
fn smooth<T: Real>(level: &mut Level<T>, plan: Plan, b: &Vector<T>, x: &mut Vector<T>, fresh: bool) -> Result<()> {
    let Level { a, inverse, largest, step, product, .. } = level;
    let (context, n) = (a.context(), a.rows());
    let (program, range) = (Program::<T>::new(), items(context, n));
    for (k, (keep, scale)) in plan.steps(*largest).into_iter().enumerate() {
        let (keep, scale) = (T::from_f64(keep), T::from_f64(scale));
        let (inverse, b) = (inverse.buffer(), b.buffer());
        if k == 0 && fresh {
            let (d, x) = (Out::shared(step.buffer()), Out::shared(x.buffer()));
            program.first_step(context, range, n, scale, inverse, b, d, x)?;
            continue;
        }
        ops::mv(T::one(), &*a, x, T::zero(), product)?;
        let (ax, d, x) = (product.buffer(), Out::shared(step.buffer()), Out::shared(x.buffer()));
        program.next_step(context, range, n, keep, scale, inverse, b, ax, d, x)?;
    }
    Ok(())
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
                (0..2 * LAST_SWEEPS).try_for_each(|sweep| smooth(level, plan, b, x, fresh && sweep == 0))
            }
        };
    }
    smooth(level, plan, b, x, fresh)?;
    let Level { a, product, coarser: step, .. } = level;
    let step = step.as_mut().expect("all levels but the last have a coarser one");
    ops::mv(T::one(), &*a, x, T::zero(), product)?;
    ops::update(T::one(), b, -T::one(), product)?;
    ops::mv(T::one(), &step.restrict, product, T::zero(), &mut step.b)?;
    for k in 0..plan.visits {
        visit(coarser, end, plan, &step.b, &mut step.x, k == 0)?;
    }
    ops::mv(T::one(), &step.prolong, &step.x, T::one(), x)?;
    smooth(level, plan, b, x, false)
}
