//! How long an operator takes, from a few rows of it.

use std::time::{Duration, Instant};

use clinalg::{Real, Result, Vector};

use super::super::{Algorithm, HeatSpace, Kind};
use super::product::Span;
use super::{Form, HeatOperator, OperatorOptions};

/// Rows on a GPU.
const ROWS_GPU: usize = 64;

/// Predicted times of an operator of algorithm 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The plan and blocks 0 and 1, with kernel compilation.
    pub setup: Duration,
    /// The other blocks, once.
    pub blocks: Duration,
    /// A product with blocks that are there.
    pub product: Duration,
}

impl<T: Real> HeatSpace<T> {
    /// Makes a few rows of an operator, and a product with them, to predict the times of the whole. `None` for algorithms 1 to 4 and for spaces on
    /// several devices.
    ///
    /// # Errors
    /// Those of [`HeatSpace::operator`].
    pub fn forecast(&self, kind: Kind, options: &OperatorOptions) -> Result<Option<Forecast>> {
        if options.algorithm != Algorithm::Moments || self.ranks.is_some() {
            return Ok(None);
        }
        let (context, rows) = (self.context(), kind.rows(self.mesh()));
        let few = match context.family() {
            // Two rows at a time on each unit, as in the kernels.
            clinalg::KernelFamily::Cpu => 2 * context.device().compute_units as usize,
            clinalg::KernelFamily::Gpu => ROWS_GPU,
        };
        let few = few.min(rows);
        let whole = |part: Duration| part.mul_f64(rows as f64 / few as f64);
        let start = Instant::now();
        let options = OperatorOptions { form: Form::Assembled, ..*options };
        let operator = HeatOperator::on(self.shared.clone(), kind, &options, 0..few)?;
        context.finish()?;
        let made = start.elapsed();
        // Once more, without the compilation.
        let start = Instant::now();
        for panel in operator.panels.iter().take(1) {
            operator.fill(0, panel.rows, &panel.values, operator.steps)?;
        }
        context.finish()?;
        let filled = start.elapsed();
        let x = Vector::zeros(context, operator.cols * operator.steps)?;
        let mut y = Vector::zeros(context, few * operator.steps)?;
        let mut product = Duration::ZERO;
        for _ in 0..2 {
            let start = Instant::now();
            operator.product(Span { from: 0, steps: operator.steps }, T::one(), &x, T::zero(), &mut y)?;
            context.finish()?;
            product = start.elapsed();
        }
        Ok(Some(Forecast { setup: made.saturating_sub(filled), blocks: whole(filled), product: whole(product) }))
    }
}
