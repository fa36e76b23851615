//! Systems with factors, level by level.

use super::analysis::Analysis;
use super::elimination::groups;
use super::factors::Parts;
use super::kind::Kind;
use crate::ops::Transpose;
use crate::runtime::kernels::multifrontal_solve::Program;
use crate::runtime::{Out, Range};
use crate::{Buffer, Context, Result, Scalar};

/// The kernels.
pub(super) fn program<T: Scalar>(parts: &Parts<'_, T>) -> Program<T> {
    match (parts.kind, parts.op) {
        (Kind::Cholesky, _) => Program::new().symmetric(1),
        (Kind::Ldl, Transpose::Yes) => Program::new().symmetric(1).indefinite(1).transposed(1),
        (Kind::Ldl, _) => Program::new().symmetric(1).indefinite(1),
        (Kind::Lu, _) => Program::new(),
    }
}

/// Those of systems with A, or where `adjoint` with A'. Symmetric factors serve both.
pub(super) fn program_of<T: Scalar>(parts: &Parts<'_, T>, adjoint: bool) -> Program<T> {
    if adjoint && parts.kind == Kind::Lu { program(parts).adjoint(1) } else { program(parts) }
}

/// Solves with D of L D L' factors, in the order of the steps.
pub(super) fn solve_blocks<T: Scalar>(parts: &Parts<'_, T>, columns: usize, x: &Buffer<T>) -> Result<()> {
    if parts.kind != Kind::Ldl {
        return Ok(());
    }
    let (context, n) = (x.context(), parts.analysis.n);
    let range = Range::d1(n * columns, context.local());
    program(parts).solve_blocks(context, range, n, columns, parts.blocks, Out::shared(x))
}

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

    /// X with A X = B, or A' X = B where `adjoint`, for column-major B and X of so many columns.
    pub(super) fn run(
        &self,
        parts: &Parts<'_, T>,
        adjoint: bool,
        columns: usize,
        b: &Buffer<T>,
        x: &Buffer<T>,
    ) -> Result<()> {
        let &Parts { analysis, scales, .. } = parts;
        let (context, n, tables, program) = (&self.context, analysis.n, &analysis.device, program(parts));
        // The adjoint of a complex symmetric matrix is its conjugate.
        let conjugates = u32::from(adjoint && parts.kind == Kind::Ldl && parts.op == Transpose::Yes);
        let flat = Range::d1(n * columns, context.local());
        let y = Out::shared(&self.y);
        let rows = (&tables.row_place, &scales.rows);
        let cols = (&tables.column_place, &scales.columns);
        let (of_equations, of_unknowns) = if adjoint { (cols, rows) } else { (rows, cols) };
        program.permute(context, flat, n, columns, conjugates, of_equations.0, of_equations.1, b, y)?;
        let solution = match &tables.products {
            Some(products) => {
                products.solve(context, parts, adjoint, columns, [&self.y, &self.z], &self.sums)?;
                &self.z
            }
            None => {
                self.substitute(parts, adjoint, columns)?;
                &self.y
            }
        };
        let (place, scale) = of_unknowns;
        program.permute_back(context, flat, n, columns, conjugates, place, scale, solution, Out::shared(x))
    }

    /// The solutions take the place of y.
    fn substitute(&self, parts: &Parts<'_, T>, adjoint: bool, columns: usize) -> Result<()> {
        let &Parts { analysis, values, pivots, .. } = parts;
        let (gather, program) = (program(parts), program_of(parts, adjoint));
        let (context, n, width, tables) = (&self.context, analysis.n, analysis.widest, &analysis.device);
        let y = Out::shared(&self.y);
        for (number, level) in analysis.levels.iter().enumerate() {
            gather_children(parts, &gather, number, columns, columns, &self.y, &self.sums)?;
            let (first, begin, sums) = (level.fronts.start, level.rows.start, Out::shared(&self.sums[number % 2]));
            let range = self.groups(level.fronts.len(), columns);
            program.forward(context, range, first, n, width, begin, &tables.fronts, values, pivots, y, sums)?;
        }
        solve_blocks(parts, columns, &self.y)?;
        let known = &self.sums[0];
        for level in analysis.levels.iter().rev() {
            let (first, begin, count) = (level.fronts.start, level.rows.start, level.rows.len());
            let out = Out::shared(known);
            let range = Range::d1(count * columns, context.local());
            gather.gather_backward(context, range, begin, count, columns, n, width, &tables.rows, &self.y, out)?;
            let range = self.groups(level.fronts.len(), columns);
            program.backward(context, range, first, n, width, begin, &tables.fronts, values, pivots, y, known)?;
        }
        Ok(())
    }

    fn groups(&self, fronts: usize, columns: usize) -> Range {
        groups(&self.context, fronts).times(columns)
    }
}

/// Adds what the children leave for the fronts of a level to y and to the level's own of `sums`, `times` work-groups per front.
pub(super) fn gather_children<T: Scalar>(
    parts: &Parts<'_, T>,
    program: &Program<T>,
    number: usize,
    columns: usize,
    times: usize,
    y: &Buffer<T>,
    sums: &[Buffer<T>; 2],
) -> Result<()> {
    let (context, analysis, tables) = (y.context(), parts.analysis, &parts.analysis.device);
    let level = &analysis.levels[number];
    let [own, children] = [number, number + 1].map(|k| &sums[k % 2]);
    let children_begin = number.checked_sub(1).map_or(0, |below| analysis.levels[below].rows.start);
    program.gather_forward(
        context,
        groups(context, level.fronts.len()).times(times),
        level.fronts.start,
        analysis.n,
        analysis.widest,
        columns,
        level.rows.start,
        children_begin,
        &tables.fronts,
        &tables.map,
        children,
        Out::shared(y),
        Out::shared(own),
    )
}
