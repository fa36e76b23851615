//! Products with the blocks.

use clinalg::runtime::{Arg, Buffer, Range};
use clinalg::solve::Operator;
use clinalg::{Context, Error, Real, Result, Vector};

use super::super::algorithms::Product;
use super::super::space::LANES;
use super::super::toeplitz::Toeplitz;
use super::{BEFORE, HeatOperator, PRODUCTS, ROW_ITEMS, ROWS, START_BLOCKS, STEPS_CPU, count, launch};

/// Blocks `base` to `base + kept - 1` of some rows.
struct Stored<'a, T: Real> {
    base: usize,
    kept: usize,
    values: &'a Buffer<T>,
}

/// Time steps of a product: those of y from `from` on are wanted, and where that is above 0, x is 0 there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) from: usize,
    pub(super) steps: usize,
}

impl<T: Real> HeatOperator<T> {
    /// Time steps of a work-group of the product over `steps` steps.
    pub(super) fn tile(&self, steps: usize) -> usize {
        if self.is_cpu() { STEPS_CPU } else { ROW_ITEMS * steps_per_item(steps) }
    }

    /// Adds the product of the blocks from `base` on to the partial sums of the rows from `first` on.
    fn multiply(&self, span: Span, first: usize, rows: usize, stored: Stored<'_, T>) -> Result<()> {
        let Span { from, steps } = span;
        let Stored { base, kept, values } = stored;
        let more = Arg::U32(u32::from(base > 0));
        let mut args = vec![Arg::size(rows), Arg::size(self.stride()), Arg::size(base), Arg::size(kept)];
        if self.is_cpu() {
            args.extend([Arg::size(from), Arg::size(steps)]);
        }
        args.extend([values.arg(), Arg::size(self.spread_stride), self.spread.arg()]);
        let context = &self.shared.context;
        let tile = self.tile(steps);
        if self.is_cpu() {
            args.extend([Arg::size(first), Arg::size(self.partial_stride), more, self.partial.arg()]);
            return launch(context, self.plain(PRODUCTS, tile), Range::d1(context.chunks().min(rows), 1), &args);
        }
        args.extend([Arg::size(self.splits), Arg::size(first), Arg::size(self.rows), Arg::size(self.partial_stride)]);
        args.extend([more, self.partial.arg()]);
        let groups = [rows.div_ceil(ROWS) * ROW_ITEMS * ROW_ITEMS, self.splits * steps.div_ceil(tile)];
        launch(context, self.plain(PRODUCTS, tile), Range::d2(groups, [ROW_ITEMS * ROW_ITEMS, 1]), &args)
    }

    /// As the products of the start blocks and of `later`, blocks from 2 on, of the rows from `first` on.
    fn multiply_tensor(
        &self,
        toeplitz: Toeplitz,
        steps: usize,
        first: usize,
        rows: usize,
        later: Option<Stored<'_, T>>,
    ) -> Result<()> {
        let base = self.steps.min(START_BLOCKS);
        let (kept, values) = later.as_ref().map_or((0, &self.start), |later| (later.kept, later.values));
        let args = [
            Arg::size(rows),
            Arg::size(self.stride()),
            count(base),
            count(steps.min(base + kept)),
            self.start.arg(),
            Arg::size(kept),
            values.arg(),
            Arg::size(self.spread_stride),
            self.spread.arg(),
            Arg::size(self.splits),
            Arg::size(first),
            Arg::size(self.rows),
            Arg::size(self.partial_stride),
            self.partial.arg(),
        ];
        let tiled = later.is_some() && self.assembled;
        let (kernel, range) = toeplitz.product(rows, steps, self.splits, tiled);
        launch(&self.shared.context, kernel, range, &args)
    }

    /// y = alpha A x + beta y over the first `steps` time steps only, as if there were no others: x has `cols * steps` and y
    /// `rows * steps` values. Blocks from `steps` on are neither read nor computed.
    ///
    /// # Errors
    /// [`Error::Value`] for more steps than there are; otherwise as [`Operator::apply`].
    pub fn apply_first(&self, steps: usize, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.apply_span(Span { from: 0, steps }, alpha, x, beta, y)
    }

    /// As [`HeatOperator::apply_first`] for the steps from `from` on: there x must be 0, and before it the result is of no use. On CPUs
    /// `from (steps - from)` pairs of a block and a step are multiplied, with `from` = 0 `steps (steps + 1) / 2`.
    ///
    /// # Errors
    /// As [`HeatOperator::apply_first`].
    pub(in super::super) fn apply_later(
        &self,
        from: usize,
        steps: usize,
        alpha: T,
        x: &Vector<T>,
        beta: T,
        y: &mut Vector<T>,
    ) -> Result<()> {
        self.apply_span(Span { from, steps }, alpha, x, beta, y)
    }

    fn apply_span(&self, span: Span, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let (context, steps) = (&self.shared.context, span.steps);
        if steps > self.steps {
            let (expected, got) = (format!("at most {}", self.steps), steps.to_string());
            return Err(Error::Value { argument: "steps", expected, got });
        }
        for (argument, vector, expected) in [("x", x, self.cols * steps), ("y", &*y, self.all_rows() * steps)] {
            if !context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            if vector.len() != expected {
                return Err(Error::Length { argument, expected, got: vector.len() });
            }
        }
        match &self.sharing {
            Some(sharing) => sharing.apply(self, span, alpha, x, beta, y),
            None => self.product(span, alpha, x, beta, y),
        }
    }

    /// The rows that are computed here; x and y have at least as many values as are used.
    pub(super) fn product(&self, span: Span, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let (context, Span { from, steps }) = (&self.shared.context, span);
        let _lock = self.lock();
        let tile = self.tile(steps);
        let args = [
            Arg::size(self.cols),
            Arg::size(steps),
            Arg::size(self.spread_stride),
            x.buffer().arg(),
            self.spread.arg(),
        ];
        // What the tiles of the product read: steps before the first, and past the last.
        let width = BEFORE + steps.next_multiple_of(tile) + LANES;
        let local = if self.is_cpu() { [width.min(context.device().max_work_group), 1] } else { [32, 8] };
        let range = Range::d2([width, self.stride()], local);
        launch(context, self.plain(["spread_steps_gpu", "spread_steps_cpu"], tile), range, &args)?;
        let mut first = 0;
        let later = !self.panels.is_empty() && steps > START_BLOCKS;
        match self.toeplitz {
            Some(toeplitz) if !later => self.multiply_tensor(toeplitz, steps, 0, self.rows, None)?,
            // Together with the later blocks.
            Some(_) => {}
            None => {
                let kept = self.steps.min(START_BLOCKS);
                self.multiply(span, 0, self.rows, Stored { base: 0, kept, values: &self.start })?;
            }
        }
        if let Some(published) = &self.published {
            let (spread, partial) = (&self.spread, &self.partial);
            let (spread_stride, partial_stride) = (self.spread_stride, self.partial_stride);
            let product = Product { steps, x, spread, spread_stride, partial, partial_stride };
            published.apply(&self.shared, self.kind, &product)?;
        }
        while later && first < self.rows {
            let index = if self.assembled { first / self.panels[0].rows } else { 0 };
            let rows = self.panels[index].rows.min(self.rows - first);
            // On the fly the panel has the blocks that are wanted.
            let kept = if self.assembled { self.steps } else { steps } - START_BLOCKS;
            if !self.assembled {
                self.fill(first, rows, &self.panels[index].values, steps)?;
            }
            let stored = Stored { base: START_BLOCKS, kept, values: &self.panels[index].values };
            match self.toeplitz {
                Some(toeplitz) => self.multiply_tensor(toeplitz, steps, first, rows, Some(stored))?,
                None => self.multiply(span, first, rows, stored)?,
            }
            first += rows;
        }
        let args = [
            Arg::size(self.rows),
            Arg::size(from),
            Arg::size(steps),
            Arg::size(self.splits),
            Arg::size(self.partial_stride),
            self.partial.arg(),
            Arg::real::<T>(alpha.into_f64()),
            Arg::real::<T>(beta.into_f64()),
            y.buffer().arg(),
        ];
        let range = Range::d2([self.rows, steps - from], if self.is_cpu() { [1, 1] } else { [32, 8] });
        launch(context, self.plain(["join_parts_gpu", "join_parts_cpu"], tile), range, &args)
    }
}

impl<T: Real> Operator<T> for HeatOperator<T> {
    fn rows(&self) -> usize {
        self.all_rows() * self.steps
    }

    fn cols(&self) -> usize {
        self.cols * self.steps
    }

    fn context(&self) -> &Context {
        &self.shared.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.apply_first(self.steps, alpha, x, beta, y)
    }
}

/// Time steps that an item of the product has on a GPU.
pub(super) fn steps_per_item(steps: usize) -> usize {
    match steps {
        0..=16 => 1,
        17..=32 => 2,
        33..=64 => 4,
        _ => 8,
    }
}
