//! Which kind of coarsening suits a matrix.

use std::ops::ControlFlow;

use super::classical::{ONE_SIDED, SAME_SIGN, Shares, UNSYMMETRIC};
use super::prolongator::NearNull;
use super::report::AmgTrial;
use super::{Amg, AmgParams, Coarsening, Cycle, Smoother};
use crate::matrix::Values;
use crate::runtime::Out;
use crate::runtime::kernels::amg_setup;
use crate::solve::{Cg, FlexibleCg, Solver, Stopping};
use crate::{Csr, Error, Real, Result, Vector, ops};

/// Iterations of conjugate gradients in a trial, and how many of the first do not count.
const ITERATIONS: usize = 12;
const UNCOUNTED: usize = 4;
/// Aggregation is kept where an iteration reduces the residual to at most this fraction.
pub(super) const GOOD: f64 = 0.35;
/// The smoother for matrices that are far from symmetric, whose eigenvalues are complex: those of D^-1 A are bounded by no interval, as Chebyshev
/// iteration needs it.
const UNSYMMETRIC_SMOOTHER: Smoother = Smoother::Spai0(2);
/// Classical coarsening has to promise this many times less work, as its set-up takes longer.
const ADVANTAGE: f64 = 1.5;

impl<T: Real> Amg<T> {
    /// The hierarchy by the kind of coarsening that suits `a`.
    pub(super) fn chosen(a: &Csr<T>, params: &AmgParams) -> Result<Amg<T>> {
        let Shares { unsymmetric, one_sided, same_sign } = Shares::of(a.entries())?;
        if unsymmetric > UNSYMMETRIC {
            let mut params = params.clone().coarsening(Coarsening::Classical);
            params.smoother.get_or_insert(UNSYMMETRIC_SMOOTHER);
            let mut m = Amg::build(a.try_clone()?, NearNull::constant(a.context(), a.rows(), 1)?, &params)?;
            m.report.unsymmetric = Some(unsymmetric);
            return Ok(m);
        }
        let by = |coarsening| {
            let params = params.clone().coarsening(coarsening);
            Amg::build(a.try_clone()?, NearNull::constant(a.context(), a.rows(), 1)?, &params)
        };
        let mut m = if one_sided > ONE_SIDED {
            by(Coarsening::Classical)?
        } else if same_sign > SAME_SIGN {
            return Amg::better(a, by);
        } else {
            by(Coarsening::Aggregation)?
        };
        m.report.one_sided = Some(one_sided);
        Ok(m)
    }

    /// Aggregation, or classical coarsening where iterations with each promise less work with the latter.
    fn better(a: &Csr<T>, by: impl Fn(Coarsening) -> Result<Amg<T>>) -> Result<Amg<T>> {
        // The two are never on the device at the same time.
        let (aggregation, work) = {
            let mut m = match by(Coarsening::Aggregation) {
                // A matrix that does not coarsen by aggregation may do so by classical coarsening.
                Err(Error::Value { .. } | Error::Unsuitable { .. }) => return by(Coarsening::Classical),
                made => made?,
            };
            let factor = m.trial(a)?;
            m.report.trial = Some(AmgTrial { aggregation: factor, classical: None });
            if factor <= GOOD {
                return Ok(m);
            }
            (factor, m.report.work(&m.params, factor))
        };
        let classical = match by(Coarsening::Classical) {
            Ok(mut m) => {
                let factor = m.trial(a)?;
                m.report.trial = Some(AmgTrial { aggregation, classical: Some(factor) });
                if ADVANTAGE * m.report.work(&m.params, factor) < work {
                    return Ok(m);
                }
                Some(factor)
            }
            Err(Error::Value { .. } | Error::Unsuitable { .. } | Error::Allocation { .. }) => None,
            Err(error) => return Err(error),
        };
        let mut m = by(Coarsening::Aggregation)?;
        m.report.trial = Some(AmgTrial { aggregation, classical });
        Ok(m)
    }

    /// The mean factor by which an iteration of conjugate gradients reduces the residual, over a few of them for an irregular right-hand side; 1
    /// where it does not.
    fn trial(&mut self, a: &Csr<T>) -> Result<f64> {
        let (context, n) = (a.context(), a.rows());
        let (mut b, mut x) = (Vector::<T>::uninit(context, n)?, Vector::zeros(context, n)?);
        let program = amg_setup::Program::<T>::new();
        program.fill_noise(context, ops::items(context, n), n, Out::shared(b.buffer()))?;
        if self.report.null_vectors > 0 {
            // Without a component along the constants, there is a solution where A is symmetric.
            let ones = Vector::filled(context, n, T::one())?;
            let mean = ops::dot(&ones, &b)?.into_f64() / n as f64;
            ops::update(T::from_f64(-mean), &ones, T::one(), &mut b)?;
        }
        // Well above rounding, where residuals no longer tell the rate.
        let stopping = Stopping::default().max_iterations(ITERATIONS).tolerance(T::epsilon().into_f64().sqrt());
        let mut solver: Box<dyn Solver<T>> = match self.params.cycle {
            Cycle::K => Box::new(FlexibleCg::new(context, n, stopping.into())?),
            _ => Box::new(Cg::new(context, n, stopping.into())?),
        };
        // The last residual of the report may be that of an earlier iterate, which x is where residuals rise.
        let mut residuals = Vec::with_capacity(ITERATIONS + 1);
        solver.solve_with(a, Some(self), &b, &mut x, &mut |_, residual| {
            residuals.push(residual);
            ControlFlow::Continue(())
        })?;
        Ok(reduction(&residuals))
    }
}

/// The mean factor by which an iteration reduces the residual, given the residuals at the start and after each iteration: from the one after the
/// iterations that do not count to the last; 1 where that is not smaller.
fn reduction(residuals: &[f64]) -> f64 {
    // All iterations count where a solve ends before those that should.
    let from = if residuals.len() > UNCOUNTED + 1 { UNCOUNTED } else { 0 };
    let Some((&first, &last)) = residuals.get(from).zip(residuals.last()) else { return 1.0 };
    let counted = residuals.len() - 1 - from;
    if last == 0.0 {
        return 0.0;
    }
    if last < first { (last / first).powf(1.0 / counted as f64) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, CsrParts};

    #[test]
    fn the_last_residual_decides() {
        let falling: Vec<f64> = (0..=12).map(|k| 0.5_f64.powi(k)).collect();
        assert_eq!(reduction(&falling), 0.5);
        // Two iterations all count.
        assert_eq!(reduction(&[1.0, 0.5, 0.25]), 0.5);
        let with_last = |last| [&falling[..], &[last]].concat();
        assert_eq!([2.0, f64::INFINITY, f64::NAN].map(|last| reduction(&with_last(last))), [1.0; 3]);
        assert_eq!((reduction(&with_last(0.0)), reduction(&[1.0]), reduction(&[])), (0.0, 1.0, 1.0));
    }

    /// Two unknowns at each of 40 points of a line without boundary conditions; its null space is the constants.
    fn singular() -> CsrParts<f64> {
        let (points, own) = (40_usize, [[1.0, 0.5], [0.5, 1.25]]);
        let mut entries = Vec::new();
        for (i, j) in (0..points).flat_map(|i| [(i, i), (i, i + 1), (i + 1, i)]).filter(|&(i, j)| i.max(j) < points) {
            let neighbours = if i == 0 || i + 1 == points { 1.0 } else { 2.0 };
            for (k, l) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                // The unknowns are equal in the last point.
                let equal = if i == j && i + 1 == points { if k == l { 1.0 } else { -1.0 } } else { 0.0 };
                let value = if i == j { neighbours } else { -1.0 } * own[k][l] + equal;
                entries.push((2 * i + k, 2 * j + l, value));
            }
        }
        CsrParts::from_triplets(2 * points, 2 * points, &entries).unwrap()
    }

    #[test]
    fn a_trial_that_diverges_counts_as_no_reduction() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let a = Csr::<f64>::from_parts(&context, &singular()).unwrap();
        let mut m = Amg::new(&a, &AmgParams::default().coarsening(Coarsening::Aggregation)).unwrap();
        assert_eq!(m.report.null_vectors, 1);
        let factor = m.trial(&a).unwrap();
        assert!(factor < 1e-6, "{factor}");
        // With a component along the null space there is no solution; the residual falls in the first iteration and rises in the second.
        m.report.null_vectors = 0;
        assert_eq!(m.trial(&a).unwrap(), 1.0);
    }
}
