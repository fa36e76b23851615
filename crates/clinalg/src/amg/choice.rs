//! Which kind of coarsening suits a matrix.

use super::classical::{ONE_SIDED, SAME_SIGN, Shares};
use super::prolongator::NearNull;
use super::report::AmgTrial;
use super::{Amg, AmgParams, Coarsening, Cycle};
use crate::runtime::Out;
use crate::runtime::kernels::amg_setup;
use crate::solve::{Cg, FlexibleCg, Report, Solver, Stopping};
use crate::{Csr, Error, Real, Result, Vector, ops};

/// Iterations of conjugate gradients in a trial; the first ones do not count.
const ITERATIONS: usize = 12;
const UNCOUNTED: usize = 4;
/// Aggregation stays where an iteration reduces the residual to this part.
pub(super) const GOOD: f64 = 0.35;
/// Classical coarsening has to promise so many times less work, as its set-up takes longer.
const ADVANTAGE: f64 = 1.5;

impl<T: Real> Amg<T> {
    /// The hierarchy by the kind of coarsening that suits `a`.
    pub(super) fn chosen(a: &Csr<T>, params: &AmgParams) -> Result<Amg<T>> {
        let Shares { one_sided, same_sign } = Shares::of(a.entries())?;
        let by = |coarsening| {
            let params = params.clone().coarsening(coarsening);
            Amg::build(a, NearNull::constant(a.context(), a.rows(), 1)?, &params)
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
                // What does not coarsen by aggregates may do otherwise.
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

    /// How much an iteration of conjugate gradients reduces the residual, in the mean over a few of them for a right-hand side without order; 1
    /// where it does not.
    fn trial(&mut self, a: &Csr<T>) -> Result<f64> {
        let (context, n) = (a.context(), a.rows());
        let (b, mut x) = (Vector::<T>::uninit(context, n)?, Vector::zeros(context, n)?);
        let program = amg_setup::Program::<T>::new();
        program.fill_noise(context, ops::items(context, n), n, Out::shared(b.buffer()))?;
        // Well above rounding, where residuals no longer tell the rate.
        let stopping = Stopping::default().max_iterations(ITERATIONS).tolerance(T::epsilon().into_f64().sqrt());
        let mut solver: Box<dyn Solver<T>> = match self.params.cycle {
            Cycle::K => Box::new(FlexibleCg::new(context, n, stopping.into())?),
            _ => Box::new(Cg::new(context, n, stopping.into())?),
        };
        let Report { history, iterate, .. } = solver.solve(a, Some(self), &b, &mut x)?;
        // All count where a solve ends before the others.
        let from = if history.len() > UNCOUNTED + 1 { UNCOUNTED } else { 0 };
        let Some((&first, &last)) = history.get(from).zip(history.last()) else { return Ok(1.0) };
        let counted = history.len() - 1 - from;
        // x may be an early iterate, if residuals rise.
        if counted == 0 || iterate <= from || !(last > 0.0 && last < first) {
            return Ok(if last == 0.0 { 0.0 } else { 1.0 });
        }
        Ok((last / first).powf(1.0 / counted as f64))
    }
}
