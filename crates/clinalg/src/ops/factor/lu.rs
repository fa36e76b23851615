//! LU factorisation with partial pivoting.

use std::ops::Range as Span;

use num_traits::Zero;

use super::together::{CAPABILITY, PATIENCE, Panels, check_together};
use super::triangular::{Diagonal, Side, Solver, Triangle, Triangular};
use super::{Determinant, Part, check_order, check_rows, check_square, condition, copy_part, identity, norm1, tuning};
use crate::matrix::Values;
use crate::ops::gemm::{Block, Transpose};
use crate::runtime::kernels::lu::Program;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Dense, Error, Result, Scalar};

/// P A = L U with a unit lower triangular L, an upper triangular U and a permutation P of the rows.
///
/// Blocked and right-looking, with recursive panels; the pivot of a column is its element of largest |re| + |im| as in LAPACK's
/// `getrf`. |P A - L U| <= c n eps |L| |U| (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 9.3).
///
/// ```
/// use clinalg::ops::Lu;
/// use clinalg::{Context, Dense};
///
/// let context = Context::global()?;
/// let a = Dense::from_column_major(&context, 2, 2, &[1.0_f64, 3.0, 2.0, 4.0])?;
/// let lu = Lu::new(a)?;
/// let b = Dense::from_column_major(&context, 2, 1, &[5.0, 11.0])?;
/// assert_eq!(lu.solve(&b)?.to_column_major()?.len(), 2);
/// assert!((lu.determinant()?.value() + 2.0).abs() < 1e-14);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Lu<T: Scalar> {
    factors: Dense<T>,
    pivots: Buffer<u32>,
    singular: Option<usize>,
    norm: f64,
}

impl<T: Scalar> Lu<T> {
    /// Factorises `a`, of any shape, in its own memory. Waits for the device.
    ///
    /// A singular matrix has a factorisation as well, with a zero on the diagonal of U: see [`Lu::singular_pivot`].
    ///
    /// # Errors
    /// [`Error::Allocation`] for the work space; [`Error::Value`] for more than 2147483647 rows or columns; OpenCL errors.
    pub fn new(a: Dense<T>) -> Result<Lu<T>> {
        check_order(&a)?;
        let norm = norm1(&a)?;
        let context = a.context().clone();
        let (rows, cols) = (a.rows(), a.cols());
        let pivots = Buffer::zeroed(&context, rows.min(cols))?;
        let mut work = Factoriser::<T>::new(&context, [rows, cols], pivots)?;
        work.run(Block::of(&a))?;
        let found = work.info.to_vec()?;
        work.check(&found)?;
        let singular = (found[0] > 0).then(|| found[0] as usize - 1);
        Ok(Lu { factors: a, pivots: work.pivots, singular, norm })
    }

    /// L below the diagonal and U on and above it, in one matrix.
    pub fn factors(&self) -> &Dense<T> {
        &self.factors
    }

    /// Returns the factors, which are stored in the memory of A.
    pub fn into_factors(self) -> Dense<T> {
        self.factors
    }

    /// L, m x min(m, n), with ones on its diagonal.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn lower(&self) -> Result<Dense<T>> {
        let (rows, order) = (self.factors.rows(), self.pivots.len());
        self.part(Part::Lower { unit: true }, rows, order)
    }

    /// U, min(m, n) x n.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn upper(&self) -> Result<Dense<T>> {
        let (order, cols) = (self.pivots.len(), self.factors.cols());
        self.part(Part::Upper, order, cols)
    }

    fn part(&self, part: Part, rows: usize, cols: usize) -> Result<Dense<T>> {
        let made = Dense::zeros(self.factors.context(), rows, cols)?;
        let source = Block::of(&self.factors).part(0..rows, 0..cols);
        copy_part::<T>(self.factors.context(), part, source, Block::of(&made))?;
        Ok(made)
    }

    /// Row k was exchanged with row `pivots()[k]`, in this order; counted from 0.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn pivots(&self) -> Result<Vec<usize>> {
        Ok(self.pivots.to_vec()?.into_iter().map(|p| p as usize).collect())
    }

    /// The first k with U(k, k) = 0, counted from 0: all of column k on and below its diagonal was zero.
    pub fn singular_pivot(&self) -> Option<usize> {
        self.singular
    }

    /// X with A X = B for a square A.
    ///
    /// # Errors
    /// As [`Lu::solve_in_place`]; [`Error::Allocation`].
    pub fn solve(&self, b: &Dense<T>) -> Result<Dense<T>> {
        let mut x = b.try_clone()?;
        self.solve_in_place(&mut x)?;
        Ok(x)
    }

    /// X with A X = B takes the place of B; enqueued. 2 n^2 operations per right-hand side.
    ///
    /// # Errors
    /// [`Error::Singular`]; [`Error::Shape`] unless A is square and B has as many rows; [`Error::Context`].
    pub fn solve_in_place(&self, b: &mut Dense<T>) -> Result<()> {
        self.solve_op(Transpose::No, b)
    }

    /// X with op(A) X = B takes the place of B; enqueued.
    ///
    /// # Errors
    /// As [`Lu::solve_in_place`].
    pub fn solve_op(&self, op: Transpose, b: &mut Dense<T>) -> Result<()> {
        let n = check_square("a", &self.factors)?;
        let context = self.factors.context();
        check_rows(context, n, b)?;
        if let Some(pivot) = self.singular {
            return Err(Error::Singular { pivot });
        }
        let (block, b) = (Block::of(&self.factors), Block::of(b));
        let lower = Triangular { block, triangle: Triangle::Lower, op, diagonal: Diagonal::Unit };
        let upper = Triangular { block, triangle: Triangle::Upper, op, diagonal: Diagonal::Stored };
        let mut solver = Solver::<T>::new(context);
        let exchange = Exchange::new(context)?;
        if op == Transpose::No {
            exchange.all::<T>(&self.pivots, false, b)?;
            solver.run(Side::Left, lower, b)?;
            return solver.run(Side::Left, upper, b);
        }
        solver.run(Side::Left, upper, b)?;
        solver.run(Side::Left, lower, b)?;
        exchange.all::<T>(&self.pivots, true, b)
    }

    /// The inverse of A.
    ///
    /// # Errors
    /// As [`Lu::solve`].
    pub fn inverse(&self) -> Result<Dense<T>> {
        let n = check_square("a", &self.factors)?;
        let mut inverse = identity(self.factors.context(), n, n)?;
        self.solve_in_place(&mut inverse)?;
        Ok(inverse)
    }

    /// The determinant of A; 1 of a matrix without rows.
    ///
    /// # Errors
    /// [`Error::Shape`] unless A is square; those of the transfers.
    pub fn determinant(&self) -> Result<Determinant<T>> {
        check_square("a", &self.factors)?;
        let swaps = self.pivots()?.iter().enumerate().filter(|&(k, &p)| k != p).count();
        Ok(Determinant::of_diagonal(&self.factors.diagonal()?.to_vec()?, swaps % 2 == 1))
    }

    /// An estimate of 1 / (|A| |A^-1|) in the 1-norm, as LAPACK's `gecon`: 0 for a singular matrix, near 1 for a well-conditioned one.
    /// Relative errors of data grow by up to its reciprocal in the solution. Some solves; waits for the device.
    ///
    /// # Errors
    /// [`Error::Shape`] unless A is square; those of the solves.
    pub fn reciprocal_condition(&self) -> Result<f64> {
        let n = check_square("a", &self.factors)?;
        if n > 0 && (self.singular.is_some() || self.norm == 0.0) {
            return Ok(0.0);
        }
        condition::estimate(self.factors.context(), n, self.norm, |op, x| self.solve_op(op, x))
    }

    /// Logs a warning through the crate `log` if the reciprocal condition number is below machine epsilon.
    pub(super) fn warn_if_ill_conditioned(&self) -> Result<()> {
        condition::warn_if_ill_conditioned::<T>(self.reciprocal_condition()?);
        Ok(())
    }
}

/// A factorisation under way.
pub(crate) struct Factoriser<T: Scalar> {
    context: Context,
    pub(crate) solver: Solver<T>,
    pub(crate) exchange: Exchange,
    pub(crate) pivots: Buffer<u32>,
    /// One more than the first column without a pivot; whether work-groups did not run together; pivots replaced.
    pub(crate) info: Buffer<u32>,
    /// Pivots of a modulus below the first are replaced by one of the second.
    pub(crate) tiny: [T::Real; 2],
    /// Candidates for pivots: sizes, rows, elements; two places each.
    sizes: Buffer<T::Real>,
    rows: Buffer<u32>,
    kept: Buffer<T>,
    /// Where the exchanges of a panel bring its rows.
    places: Buffer<u32>,
    /// The number of the last step that each work-group of a panel has finished, never reset.
    signals: Buffer<u32>,
    signalled: u32,
    panels: Panels,
    /// Columns of a panel that kernels take, and columns after which all to their right are updated.
    width: usize,
    step: usize,
}

impl<T: Scalar> Factoriser<T> {
    /// For matrices of at most so many rows and columns; no pivots are replaced.
    pub(crate) fn new(context: &Context, [rows, cols]: [usize; 2], pivots: Buffer<u32>) -> Result<Factoriser<T>> {
        let groups = rows.div_ceil(PANEL_ITEMS).max(1);
        let op = tuning::lu::<T>(context.family());
        let [width, step, together, ..] = context.choice(op, T::PRECISION, rows * cols).map(|value| value as usize);
        Ok(Factoriser {
            context: context.clone(),
            solver: Solver::new(context),
            exchange: Exchange::new(context)?,
            pivots,
            info: Buffer::zeroed(context, 3)?,
            tiny: [T::Real::zero(); 2],
            sizes: Buffer::uninit(context, 2 * groups)?,
            rows: Buffer::uninit(context, 2 * groups)?,
            kept: Buffer::uninit(context, 2 * groups * MOST_WIDTH)?,
            places: Buffer::uninit(context, rows.max(1))?,
            signals: Buffer::zeroed(context, groups)?,
            signalled: 0,
            panels: Panels::new(context, together),
            width,
            step,
        })
    }

    /// An error if work-groups that have to run together did not, by what `info` holds.
    pub(crate) fn check(&self, info: &[u32]) -> Result<()> {
        check_together("together of lu", info[1])
    }

    pub(crate) fn run(&mut self, a: Block<T>) -> Result<()> {
        let order = a.rows.min(a.cols);
        for left in (0..order).step_by(self.step) {
            let right = order.min(left + self.step);
            self.panel(a, left, right, left..right)?;
            self.exchange.around::<T>(&self.pivots, left..right, a, 0..a.cols)?;
            self.follow(a, left, right, a.cols)?;
        }
        Ok(())
    }

    /// Columns `left..right` on and below the diagonal, by halves; their exchanges are made in all columns of `span`.
    fn panel(&mut self, a: Block<T>, left: usize, right: usize, span: Span<usize>) -> Result<()> {
        if right - left <= self.width {
            return self.columns(a, left, right, span);
        }
        let middle = left + ((right - left) / 2).next_multiple_of(self.width);
        self.panel(a, left, middle, span.clone())?;
        self.follow(a, left, middle, right)?;
        self.panel(a, middle, right, span)
    }

    /// What the columns `left..right` mean for those from `right` up to `end`, whose rows are exchanged: rows of U, the elimination.
    fn follow(&mut self, a: Block<T>, left: usize, right: usize, end: usize) -> Result<()> {
        if right == end {
            return Ok(());
        }
        let block = a.part(left..right, left..right);
        let t = Triangular { block, triangle: Triangle::Lower, op: Transpose::No, diagonal: Diagonal::Unit };
        let rows = a.part(left..right, right..end);
        self.solver.run(Side::Left, t, rows)?;
        let below = a.part(right..a.rows, left..right);
        let rest = a.part(right..a.rows, right..end);
        self.solver.product.run(-T::one(), (Transpose::No, below), (Transpose::No, rows), T::one(), rest)
    }

    /// Factorises a panel of at most `self.width` columns; makes its exchanges in all columns of `span`.
    fn columns(&mut self, a: Block<T>, left: usize, right: usize, span: Span<usize>) -> Result<()> {
        let part = a.part(left..a.rows, left..right);
        let (m, width) = (part.rows as u32, part.cols as u32);
        let [pivots, info] = [&self.pivots, &self.info].map(Out::shared);
        let program = Program::<T>::new();
        if self.context.family() == KernelFamily::Cpu {
            let (offset, ld, above) = (part.offset, part.ld, left as u32);
            let one = Range::d1(1, 1);
            let [tiny, instead] = self.tiny;
            program.lu_panel(
                &self.context,
                one,
                m,
                width,
                part.memory,
                offset,
                ld,
                pivots,
                left,
                above,
                tiny,
                instead,
                info,
            )?;
            return self.exchange.around::<T>(&self.pivots, left..right, a, span);
        }
        let groups = part.rows.div_ceil(PANEL_ITEMS);
        let program = program.panel(self.width as u64);
        let panels = self.panels.of(&self.context, groups);
        let program = match panels {
            Panels::Columns => program,
            Panels::Groups => program.cooperative(PATIENCE).capability(CAPABILITY),
        };
        let [rows, places, signals] = [&self.rows, &self.places, &self.signals].map(Out::shared);
        let (sizes, kept) = (Out::shared(&self.sizes), Out::shared(&self.kept));
        let moves = Out::shared(&self.exchange.moves);
        let (range, [tiny, instead]) = (Range::d1(groups * PANEL_ITEMS, PANEL_ITEMS), self.tiny);
        let (groups, above, signalled) = (groups as u32, left as u32, self.signalled);
        let launch = |first: u32, last: u32| {
            program.lu_columns(
                &self.context,
                range,
                m,
                width,
                first,
                last,
                groups,
                part.memory,
                part.offset,
                part.ld,
                sizes,
                rows,
                kept,
                places,
                pivots,
                left,
                above,
                tiny,
                instead,
                info,
                moves,
                signals,
                signalled,
            )
        };
        // The first step finds the first pivot.
        panels.launch(width + 1, &mut self.signalled, launch)?;
        self.exchange.moved::<T>(2 * part.cols, a.part(0..a.rows, span), 0..0)
    }
}

/// Exchanges of rows, with the memory that GPUs join them in.
pub(crate) struct Exchange {
    context: Context,
    /// Where rows move to and from where.
    moves: Buffer<u32>,
}

impl Exchange {
    pub(super) fn new(context: &Context) -> Result<Exchange> {
        Ok(Exchange { context: context.clone(), moves: Buffer::uninit(context, 4 * EXCHANGES)? })
    }

    /// All exchanges, in order or backwards.
    fn all<T: Scalar>(&self, pivots: &Buffer<u32>, backward: bool, a: Block<T>) -> Result<()> {
        self.rows(pivots, 0..pivots.len(), backward, a)
    }

    /// The exchanges of the rows of the columns `own`, in the other columns of `span`.
    fn around<T: Scalar>(&self, pivots: &Buffer<u32>, own: Span<usize>, a: Block<T>, span: Span<usize>) -> Result<()> {
        let without = own.start - span.start..own.end - span.start;
        self.run::<T>(pivots, own, false, a.part(0..a.rows, span), without)
    }

    /// The exchanges of the rows `span` with their pivots, in order or backwards.
    pub(crate) fn rows<T: Scalar>(
        &self,
        pivots: &Buffer<u32>,
        span: Span<usize>,
        backward: bool,
        a: Block<T>,
    ) -> Result<()> {
        let starts = span.clone().step_by(EXCHANGES);
        let spans = starts.map(|start| start..span.end.min(start + EXCHANGES));
        match backward {
            false => spans.into_iter().try_for_each(|span| self.run::<T>(pivots, span, false, a, 0..0)),
            true => spans.rev().try_for_each(|span| self.run::<T>(pivots, span, true, a, 0..0)),
        }
    }

    /// The exchanges of the rows `span`, at most `EXCHANGES`, with their pivots, in all columns of `a` but those of `without`.
    fn run<T: Scalar>(
        &self,
        pivots: &Buffer<u32>,
        span: Span<usize>,
        backward: bool,
        a: Block<T>,
        without: Span<usize>,
    ) -> Result<()> {
        let cols = a.cols - without.len();
        if cols == 0 || span.is_empty() {
            return Ok(());
        }
        let (count, first, at, backward) = (span.len() as u32, span.start as u32, span.start, backward.into());
        let (context, program) = (&self.context, Program::<T>::new());
        if context.family() == KernelFamily::Cpu {
            let (gap, gap_width) = (without.start, without.len());
            let per = cols.div_ceil(context.chunks()).max(1);
            let range = Range::d1(cols.div_ceil(per), 1);
            return program.exchange_rows(
                context, range, count, first, pivots, at, backward, per as u32, cols, gap, gap_width, a.memory,
                a.offset, a.ld,
            );
        }
        let one = Range::d1(MOVERS, MOVERS);
        program.join_exchanges(context, one, count, first, pivots, at, backward, Out::shared(&self.moves))?;
        self.moved(2 * span.len(), a, without)
    }

    /// The first `entries` moves of a GPU, in all columns of `a` but those of `without`.
    fn moved<T: Scalar>(&self, entries: usize, a: Block<T>, without: Span<usize>) -> Result<()> {
        let cols = a.cols - without.len();
        let per = (MOVERS / entries).max(1);
        let range = Range::d1(cols.div_ceil(per) * MOVERS, MOVERS);
        let (gap, gap_width) = (without.start, without.len());
        Program::<T>::new().move_rows(
            &self.context,
            range,
            entries as u32,
            &self.moves,
            per as u32,
            cols,
            gap,
            gap_width,
            a.memory,
            a.offset,
            a.ld,
        )
    }
}

/// `PANEL_ITEMS`, `EXCHANGES` and `MOVERS` of the kernels; the most columns of a panel.
const PANEL_ITEMS: usize = 256;
pub(super) const EXCHANGES: usize = 512;
const MOVERS: usize = 256;
pub(super) const MOST_WIDTH: usize = 32;
