//! Matrix-vector products and what a solver takes for a matrix.

use super::DotParts;
use crate::matrix::{Band, Blocks, Columns, Csr, Dense, Format, Plan, Values, Vector, block};
use crate::reference::CsrParts;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::{
    self, AHEAD, DenseTile, GATHER_AHEAD, GATHERED_BYTES, Needs, Op, Operation, RowProduct, Trial, UNROLLED_DIAGONALS,
    both_precisions,
};
use crate::{Context, Error, Real, Result};

/// A linear map y = A x on device vectors: a matrix of any storage, a stencil, a matrix applied on
/// the fly.
pub trait Operator<T: Real> {
    /// Length of the result.
    fn rows(&self) -> usize;
    /// Length of the argument.
    fn cols(&self) -> usize;
    /// The context the operator lives in.
    fn context(&self) -> &Context;
    /// y = alpha A x + beta y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `x` or `y`.
    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()>;
    /// y = A x for a square A, and x'y in the same pass where the operator can; enqueued.
    ///
    /// # Errors
    /// As [`Operator::apply`]; [`Error::Length`] where A is not square.
    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        self.apply(T::one(), x, T::zero(), y)?;
        dot.set(x, y)
    }
}

/// An operator whose transpose can be applied as well.
pub trait Transposed<T: Real>: Operator<T> {
    /// y = alpha A' x + beta y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// As [`Operator::apply`].
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()>;
}

/// An operator that takes several right-hand sides at once.
pub trait Many<T: Real>: Operator<T> {
    /// Y = alpha A X + beta Y for the columns of X and Y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Context`] that names `x` or `y`.
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()>;
}

/// Y = alpha A X + beta Y with several right-hand sides at once, the columns of X: the matrix is read once for four of
/// them. `beta = 0` never reads `y`.
///
/// # Errors
/// [`Error::Shape`] unless X has as many rows as A has columns and Y the rows of A and the columns of X;
/// [`Error::Context`].
pub fn mm<T: Real>(alpha: T, a: &(impl Many<T> + ?Sized), x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
    a.apply_many(alpha, x, beta, y)
}

/// y = alpha A x + beta y; `beta = 0` never reads `y`.
///
/// # Errors
/// [`Error::Length`] or [`Error::Context`] that names `x` or `y`.
pub fn mv<T: Real>(alpha: T, a: &(impl Operator<T> + ?Sized), x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
    a.apply(alpha, x, beta, y)
}

/// y = alpha A' x + beta y; `beta = 0` never reads `y`.
///
/// A sparse matrix converts itself to its transpose on the first call and keeps it, so that the
/// result is deterministic and later calls are as fast as [`mv`].
///
/// # Errors
/// As [`mv`].
pub fn mv_transposed<T: Real>(
    alpha: T,
    a: &(impl Transposed<T> + ?Sized),
    x: &Vector<T>,
    beta: T,
    y: &mut Vector<T>,
) -> Result<()> {
    a.apply_transposed(alpha, x, beta, y)
}

/// An error unless x and y fit a `rows` x `cols` operator of `context`.
pub(crate) fn check_operands<T: Real>(
    context: &Context,
    rows: usize,
    cols: usize,
    x: &Vector<T>,
    y: &Vector<T>,
) -> Result<()> {
    for (argument, expected, vector) in [("x", cols, x), ("y", rows, y)] {
        if !context.same(vector.context()) {
            return Err(Error::Context { argument });
        }
        crate::error::check_length(argument, expected, vector.len())?;
    }
    Ok(())
}

/// Items per cut row; `LANES` of `join_blocks_gpu`.
const JOIN_LANES: usize = 8;

/// The kernel for a processor, with the hint to fetch memory ahead where the compiler takes it.
fn ahead(context: &Context, kernel: Kernel) -> Kernel {
    if context.fetches_ahead() { kernel.with(AHEAD) } else { kernel }
}

/// Columns of X per item; `COLUMNS` of `many.cl`.
const COLUMNS: usize = 4;

/// The launch of a kernel of `many.cl`: `rows * lanes` items for every [`COLUMNS`] columns.
fn launch_many<T: Real>(
    a: &(impl Operator<T> + Values<T>),
    name: &'static str,
    lanes: usize,
    (x, beta, y): (&Dense<T>, T, &mut Dense<T>),
    matrix: &[Arg],
) -> Result<()> {
    let context = Operator::context(a);
    for (argument, (rows, cols), dense) in [("x", (a.cols(), x.cols()), x), ("y", (a.rows(), x.cols()), &*y)] {
        if !context.same(Dense::context(dense)) {
            return Err(Error::Context { argument });
        }
        if (Dense::rows(dense), Dense::cols(dense)) != (rows, cols) {
            let got = format!("{} x {}", Dense::rows(dense), Dense::cols(dense));
            return Err(Error::Shape { argument, expected: format!("{rows} x {cols}"), got });
        }
    }
    let local = context.local();
    let kernel = Kernel::new(&files::MANY, name, T::PRECISION).with(&[("LANES", lanes as u64)]);
    // Whole groups of rows.
    let items = a.rows().div_ceil(local / lanes) * local;
    let sizes = [Arg::size(a.rows()), Arg::size(a.cols()), Arg::size(x.cols())];
    let vectors = [x.values().arg(), beta.arg().0, y.values().arg()];
    let args = [sizes.as_slice(), matrix, &vectors].concat();
    context.run(&kernel, Range::d2([items, x.cols().div_ceil(COLUMNS)], [local, 1]), &args)
}

impl<T: Real> Many<T> for Csr<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let s = self.structure();
        let lanes = match (Csr::context(self).shape(), self.plan()) {
            (Shape::Cpu, _) => 1,
            // Rows of very different lengths.
            (Shape::Gpu, Plan { blocks: Some(Blocks { columns: Columns::Cut { .. }, .. }), .. }) => 32,
            (Shape::Gpu, plan) => plan.rows.lanes(),
        };
        let matrix = [alpha.arg().0, s.offset.arg(), s.column.arg(), self.values().arg()];
        launch_many(self, "mm_csr", lanes, (x, beta, y), &matrix)
    }
}

impl<T: Real> Many<T> for Dense<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let lanes = if Dense::context(self).shape() == Shape::Cpu { 1 } else { 8 };
        launch_many(self, "mm_dense", lanes, (x, beta, y), &[alpha.arg().0, self.values().arg()])
    }
}

impl<T: Real> Many<T> for Band<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let sizes = [Arg::size(self.kl()), Arg::size(self.kl() + 1 + self.ku())];
        let matrix = [sizes.as_slice(), &[alpha.arg().0, self.values().arg()]].concat();
        launch_many(self, "mm_band", 1, (x, beta, y), &matrix)
    }
}

impl<T: Real> Operator<T> for Csr<T> {
    fn rows(&self) -> usize {
        Csr::rows(self)
    }

    fn cols(&self) -> usize {
        Csr::cols(self)
    }

    fn context(&self) -> &Context {
        Csr::context(self)
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        check_operands(context, s.rows, s.cols, x, y)?;
        if s.rows == 0 {
            return Ok(());
        }
        let kernel = |name| Kernel::new(&files::CSR, name, T::PRECISION);
        let [a, o, c, v, x, b, y] = [
            alpha.arg().0,
            s.offset.arg(),
            s.column.arg(),
            self.values().arg(),
            x.buffer().arg(),
            beta.arg().0,
            y.buffer().arg(),
        ];
        if let Some(stencil) = self.stencil() {
            let p = &stencil.pattern;
            let pattern = [p.full.arg(), p.mask.arg(), p.delta.arg(), stencil.coefficient.arg()];
            let rest = [a, o, c, v, x, b, y];
            if context.shape() == Shape::Cpu {
                let range = Range::d1(context.chunks().min(s.rows.div_ceil(block(Shape::Cpu))), 1);
                let args = [&[Arg::size(s.rows)], pattern.as_slice(), &rest].concat();
                return context.run(&p.kernel::<T>(context, "mv_stencil_cpu"), range, &args);
            }
            let (tiles, local) = (&stencil.tiles, context.local());
            let range = Range::d2([tiles.groups[0] * local, tiles.groups[1]], [local, 1]);
            let sizes = [Arg::size(s.rows), Arg::size(tiles.line), tiles.full.arg()];
            return context.run(
                &p.kernel::<T>(context, "mv_stencil_gpu"),
                range,
                &[sizes.as_slice(), &pattern, &rest].concat(),
            );
        }
        let plan = self.plan();
        match (context.shape(), &s.split) {
            (Shape::Cpu, Some(split)) => {
                let range = Range::d1(split.len() - 1, 1);
                if let Some(p) = &plan.pattern {
                    let range = Range::d1(context.chunks().min(s.rows.div_ceil(block(Shape::Cpu))), 1);
                    let pattern = [Arg::size(s.rows), p.full.arg(), p.mask.arg(), p.delta.arg()];
                    let args = [pattern.as_slice(), &[a, o, c, v, x, b, y]].concat();
                    return context.run(&ahead(context, p.kernel::<T>(context, "mv_pattern_cpu")), range, &args);
                }
                if let Some(chunks) = &plan.chunks {
                    let placed = [chunks.start.arg(), chunks.column.arg(), self.chunk_values(chunks)?.arg()];
                    let args = [&[Arg::size(s.rows), split.arg()], placed.as_slice(), &[a, o, c, v, x, b, y]].concat();
                    let kernel = Kernel::new(&files::CHUNKS, "mv_chunks_cpu", T::PRECISION);
                    return context.run(&ahead(context, kernel), range, &args);
                }
                if let Some(runs) = s.runs.as_ref().filter(|_| plan.takes_runs()) {
                    let args = [split.arg(), runs.first.arg(), runs.start.arg(), a, o, c, v, x, b, y];
                    return context.run(&ahead(context, kernel("mv_csr_runs_cpu")), range, &args);
                }
                let gathers = context.fetches_ahead() && s.cols * size_of::<T>() >= GATHERED_BYTES;
                let kernel = ahead(context, kernel("mv_csr_cpu"));
                let kernel = if gathers { kernel.with(GATHER_AHEAD) } else { kernel };
                context.run(&kernel, range, &[Arg::size(s.rows), split.arg(), a, o, c, v, x, b, y])
            }
            _ => match (&plan.pattern, &plan.blocks) {
                (Some(p), _) => {
                    let slots = self.slots(p)?;
                    let pattern = [Arg::size(s.rows), p.full.arg(), p.mask.arg(), p.delta.arg(), slots.arg()];
                    let args = [pattern.as_slice(), &[a, o, c, v, x, b, y]].concat();
                    context.run(&p.kernel::<T>(context, "mv_slots_gpu"), Range::d1(s.rows, context.local()), &args)
                }
                (None, Some(blocks)) => {
                    let range = Range::d1(blocks.count * blocks.items, blocks.items);
                    let start = blocks.start.arg();
                    match &blocks.columns {
                        Columns::Whole => context.run(&blocks.product, range, &[start, a, o, c, v, x, b, y]),
                        Columns::Short(base, column) => {
                            let args = [start, base.arg(), a, o, column.arg(), v, x, b, y];
                            context.run(&blocks.product, range, &args)
                        }
                        Columns::Cut { rows, row, from, to, join } => {
                            let partial = self.partial(blocks)?;
                            let total = Arg::U32(s.nnz as u32);
                            let args = [total, start, a, o, c, v, x, b, partial.arg(), y];
                            context.run(&blocks.product, range, &args)?;
                            let args = [Arg::size(*rows), row.arg(), from.arg(), to.arg(), partial.arg(), a, y];
                            context.run(join, Range::d1(rows * JOIN_LANES, blocks.items), &args)
                        }
                    }
                }
                (None, None) => {
                    let lanes = plan.rows.lanes();
                    let kernel = match lanes {
                        1 => kernel("mv_csr_row_gpu"),
                        _ => kernel("mv_csr_lanes_gpu").with(&[("LANES", lanes as u64)]),
                    };
                    let range = Range::d1(s.rows * lanes, context.local());
                    context.run(&kernel, range, &[Arg::size(s.rows), a, o, c, v, x, b, y])
                }
            },
        }
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        // Other formats move so much less that a pass of its own for the dot product is faster.
        let cut = matches!(self.plan().blocks, Some(Blocks { columns: Columns::Cut { .. }, .. }));
        let plain = !cut && matches!(self.format(), Format::Rows | Format::Blocks);
        let by_rows = plain && self.plan().rows == RowProduct::Row;
        if context.shape() == Shape::Gpu && by_rows && s.rows == s.cols {
            check_operands(context, s.rows, s.cols, x, y)?;
            return self.apply_dot_by_rows(x, y, dot);
        }
        self.apply(T::one(), x, T::zero(), y)?;
        dot.set(x, y)
    }
}

/// The parameters of the product with its dot product, a row per item, on a GPU; tried on a 5-point stencil.
pub(crate) static TUNING_DOT: Operation = Operation {
    name: "mv_csr_dot",
    about: "y = A x and x'y with short rows, as in conjugate gradients",
    shape: Shape::Gpu,
    parameters: &[("local", "items of a work-group, a power of two"), ("rows", "rows that an item has under way")],
    per_item: |&[_, rows, ..]| rows,
    needs: |&[local, rows, ..], precision| {
        let sound = local.is_power_of_two() && (1..=64).contains(&rows);
        sound.then_some(Needs { group: local as usize, local_bytes: local as usize * precision.bytes() })
    },
    // Few rows: work-groups for all units. Many: longer work-groups, of which the last round wastes less.
    default: |device, precision, class| {
        let rows = if class < 23 { 4 } else { 8 };
        [tune::local_size(device, 256, precision.bytes()), rows, 0, 0, 0, 0]
    },
    candidates: |_, _| {
        let locals = [64, 128, 256, 512, 1024].into_iter();
        locals.flat_map(|local| [1, 2, 4, 8].map(|rows| [local, rows, 0, 0, 0, 0])).collect()
    },
    // The host builds the matrix.
    largest: 24,
    check: both_precisions!(check_dot),
    trial: both_precisions!(trial_dot),
};

/// The 5-point stencil on a square of about `n` points, with whole numbers.
fn stencil<T: Real>(n: usize) -> Result<CsrParts<T>> {
    let side = (n as f64).sqrt() as usize;
    crate::reference::grid2::poisson5_interior::<T>(side.max(1) + 2).map(|mut a| {
        let unit = a.values.iter().fold(T::max_value(), |m, v| m.min(v.abs()));
        a.values.iter_mut().for_each(|v| *v /= unit);
        a
    })
}

fn check_dot<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    let a = stencil::<T>(n)?;
    let x = tune::whole_numbers::<T>(a.rows, 1);
    let dx = Vector::from_slice(context, &x)?;
    let (mut y, mut dot) = (Vector::filled(context, a.rows, T::nan())?, DotParts::new(context)?);
    Csr::from_parts(context, &a)?.apply_dot_by_rows(&dx, &mut y, &mut dot)?;
    let mut want = vec![T::zero(); a.rows];
    a.mv(T::one(), &x, T::zero(), &mut want);
    let sum: f64 = x.iter().zip(&want).map(|(x, y)| x.wide() * y.wide()).sum();
    let wrong = tune::first_difference(&y.to_vec()?, &want);
    Ok(wrong.or(tune::first_difference(&[dot.value()?], &[sum])))
}

fn trial_dot<T: Real>(context: &Context, n: usize) -> Result<Trial> {
    let a = stencil::<T>(n)?;
    let (rows, entries) = (a.rows, a.values.len());
    let a = Csr::from_parts(context, &a)?;
    let (x, mut y) = (Vector::filled(context, rows, T::one())?, Vector::zeros(context, rows)?);
    let mut dot = DotParts::new(context)?;
    let run = move || a.apply_dot_by_rows(&x, &mut y, &mut dot);
    let bytes = entries * (size_of::<T>() + 4) + rows * (2 * size_of::<T>() + 4);
    Ok(Trial { bytes: bytes as u64, run: Box::new(run) })
}

impl<T: Real> Csr<T> {
    /// y = A x for a square A with short rows on a GPU, and x'y in the same pass.
    fn apply_dot_by_rows(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let [local, rows, ..] = context.choice(Op::MvCsrDot, T::PRECISION, s.rows);
        let (groups, turns) = DotParts::<T>::groups(s.rows, (local * rows) as usize);
        let args = [
            Arg::size(s.rows),
            Arg::U32(turns as u32),
            s.offset.arg(),
            s.column.arg(),
            self.values().arg(),
            x.buffer().arg(),
            y.buffer().arg(),
            dot.parts(groups),
        ];
        let kernel = Kernel::new(&files::KRYLOV, "mv_csr_row_dot_gpu", T::PRECISION);
        let kernel = kernel.with(&[("LOCAL", local.into()), ("ROWS", rows.into())]);
        context.run(&kernel, Range::d1(groups * local as usize, local as usize), &args)
    }
}

impl<T: Real> Transposed<T> for Csr<T> {
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        check_operands(Csr::context(self), Csr::cols(self), Csr::rows(self), x, y)?;
        self.transposed()?.apply(alpha, x, beta, y)
    }
}

impl<T: Real> Operator<T> for Band<T> {
    fn rows(&self) -> usize {
        Band::rows(self)
    }

    fn cols(&self) -> usize {
        Band::cols(self)
    }

    fn context(&self) -> &Context {
        Band::context(self)
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let context = Band::context(self);
        let rows = Band::rows(self);
        check_operands(context, rows, Band::cols(self), x, y)?;
        let (name, range) = match context.shape() {
            Shape::Cpu => ("mv_band_cpu", Range::d1(context.chunks().min(rows), 1)),
            Shape::Gpu => ("mv_band_gpu", Range::d1(rows, context.local())),
        };
        let args = [
            Arg::size(rows),
            Arg::size(Band::cols(self)),
            Arg::size(self.kl()),
            Arg::size(self.kl() + 1 + self.ku()),
            alpha.arg().0,
            self.values().arg(),
            x.buffer().arg(),
            beta.arg().0,
            y.buffer().arg(),
        ];
        let kernel = Kernel::new(&files::BAND, name, T::PRECISION);
        let width = self.kl() + 1 + self.ku();
        let unrolled = context.shape() == Shape::Gpu && width <= UNROLLED_DIAGONALS;
        let kernel = if unrolled { kernel.with(&[("DIAGONALS", width as u64)]) } else { kernel };
        context.run(&kernel, range, &args)
    }
}

impl<T: Real> Operator<T> for Dense<T> {
    fn rows(&self) -> usize {
        Dense::rows(self)
    }

    fn cols(&self) -> usize {
        Dense::cols(self)
    }

    fn context(&self) -> &Context {
        Dense::context(self)
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let context = Dense::context(self);
        let rows = Dense::rows(self);
        check_operands(context, rows, Dense::cols(self), x, y)?;
        let sizes = [Arg::size(rows), Arg::size(Dense::cols(self))];
        let [alpha, a, x, beta, y] =
            [alpha.arg().0, self.values().arg(), x.buffer().arg(), beta.arg().0, y.buffer().arg()];
        let kernel = |name| Kernel::new(&files::DENSE, name, T::PRECISION);
        if context.shape() == Shape::Cpu {
            // As few chunks as keep all units busy: their parts of a column are read in one go.
            let range = Range::d1((context.device().compute_units.max(1) as usize).min(rows), 1);
            let args = [sizes.as_slice(), &[alpha, a, x, beta, y]].concat();
            return context.run(&ahead(context, kernel("mv_dense_cpu")), range, &args);
        }
        let tile = DenseTile::choose(context.device(), context.local(), rows, Dense::cols(self));
        let kernel_of_tile = kernel("mv_dense_gpu").with(&[("LOCAL", tile.items as u64), ("TILE", tile.rows as u64)]);
        let range = Range::d2([rows.div_ceil(tile.rows) * tile.items, tile.parts], [tile.items, 1]);
        let parts = [Arg::size(tile.parts), Arg::size(tile.chunk)];
        if tile.parts == 1 {
            let args = [sizes.as_slice(), &parts, &[alpha, a, x, beta, y, y]].concat();
            return context.run(&kernel_of_tile, range, &args);
        }
        let partial = self.partial(tile.parts)?;
        let args = [sizes.as_slice(), &parts, &[alpha, a, x, beta, partial.arg(), y]].concat();
        context.run(&kernel_of_tile, range, &args)?;
        let args = [sizes[0], parts[0], alpha, partial.arg(), beta, y];
        context.run(&kernel("join_parts_gpu"), Range::d1(rows, context.local()), &args)
    }
}

impl<T: Real> Transposed<T> for Dense<T> {
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let context = Dense::context(self);
        let cols = Dense::cols(self);
        check_operands(context, cols, Dense::rows(self), x, y)?;
        let args = [
            Arg::size(Dense::rows(self)),
            Arg::size(cols),
            alpha.arg().0,
            self.values().arg(),
            x.buffer().arg(),
            beta.arg().0,
            y.buffer().arg(),
        ];
        let kernel = |name| Kernel::new(&files::DENSE, name, T::PRECISION);
        match context.shape() {
            Shape::Cpu => {
                let range = Range::d1(context.chunks().min(cols), 1);
                context.run(&ahead(context, kernel("mv_dense_transposed_cpu")), range, &args)
            }
            Shape::Gpu => {
                let kernel = kernel("mv_dense_transposed_gpu");
                let kernel = if Dense::rows(self).is_multiple_of(2) { kernel.with(&[("PAIRS", 1)]) } else { kernel };
                let local = context.local();
                context.run(&kernel, Range::d1(cols * local, local), &args)
            }
        }
    }
}
