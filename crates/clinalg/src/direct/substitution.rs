//! Systems with factors, level by level.

use super::analysis::Analysis;
use super::elimination::groups;
use super::factors::Parts;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Result, Scalar};

/// The memory of solves with up to a number of right-hand sides.
pub(super) struct Substitution<T: Scalar> {
    context: Context,
    /// The unknowns in the order of elimination.
    y: Buffer<T>,
    /// What the fronts of two levels leave for their other rows, or know of them.
    sums: [Buffer<T>; 2],
    /// The solutions in the order of elimination, on GPUs.
    z: Buffer<T>,
}

impl<T: Scalar> Substitution<T> {
    pub(super) fn new(context: &Context, analysis: &Analysis, columns: usize) -> Result<Substitution<T>> {
        let y = Buffer::uninit(context, analysis.n * columns)?;
        let width = analysis.widest * columns;
        let sums = [Buffer::uninit(context, width)?, Buffer::uninit(context, width)?];
        let of_products = analysis.device.products.as_ref().map_or(0, |_| analysis.n * columns);
        let z = Buffer::uninit(context, of_products)?;
        Ok(Substitution { context: context.clone(), y, sums, z })
    }

    /// X with A X = B for column-major B and X of so many columns.
    pub(super) fn run(&self, parts: &Parts<'_, T>, columns: usize, b: &Buffer<T>, x: &Buffer<T>) -> Result<()> {
        let &Parts { ref program, analysis, scales, values, pivots, .. } = parts;
        let (context, n, width, tables) = (&self.context, analysis.n, analysis.widest, &analysis.device);
        let flat = Range::d1(n * columns, context.local());
        let y = Out::shared(&self.y);
        program.permute(context, flat, n, columns, &tables.row_place, &scales.rows, b, y)?;
        if let Some(products) = &tables.products {
            products.solve(context, parts, columns, [&self.y, &self.z], &self.sums)?;
            let (place, x) = (&tables.column_place, Out::shared(x));
            return program.permute_back(context, flat, n, columns, place, &scales.columns, &self.z, x);
        }
        let mut children_begin = 0;
        for (number, level) in analysis.levels.iter().enumerate() {
            let [own, children] = [number, number + 1].map(|k| &self.sums[k % 2]);
            let (range, first, begin) =
                (self.groups(level.fronts.len(), columns), level.fronts.start, level.rows.start);
            let sums = Out::shared(own);
            program.gather_forward(
                context,
                range,
                first,
                n,
                width,
                columns,
                begin,
                children_begin,
                &tables.fronts,
                &tables.map,
                children,
                y,
                sums,
            )?;
            program.forward(context, range, first, n, width, begin, &tables.fronts, values, pivots, y, sums)?;
            children_begin = begin;
        }
        let known = &self.sums[0];
        for level in analysis.levels.iter().rev() {
            let (first, begin, count) = (level.fronts.start, level.rows.start, level.rows.len());
            let out = Out::shared(known);
            let range = Range::d1(count * columns, context.local());
            program.gather_backward(context, range, begin, count, columns, n, width, &tables.rows, &self.y, out)?;
            let range = self.groups(level.fronts.len(), columns);
            program.backward(context, range, first, n, width, begin, &tables.fronts, values, y, known)?;
        }
        program.permute_back(context, flat, n, columns, &tables.column_place, &scales.columns, &self.y, Out::shared(x))
    }

    fn groups(&self, fronts: usize, columns: usize) -> Range {
        groups(&self.context, fronts).times(columns)
    }
}
