//! Matrix-vector products and what a solver takes for a matrix.

use super::DotParts;
use crate::matrix::{Band, Blocks, Columns, Csr, Dense, Format, Pattern, Plan, Stencil, Tiles, Values, Vector, block};
use crate::reference::CsrParts;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::{
    self, AHEAD, DenseTile, GATHER_AHEAD, GATHERED_BYTES, Needs, Op, Operation, Panel, RowProduct, Trial,
    UNROLLED_DIAGONALS, both_precisions,
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

/// Y = alpha A X + beta Y with several right-hand sides at once, the columns of X: the matrix is read once for four or
/// eight of them. `beta = 0` never reads `y`.
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

/// Columns of X per item where nothing else is said; `COLUMNS` of `many.cl`.
const COLUMNS: usize = 4;

/// How the rows of a product of `many.cl` are spread over items.
struct Spread {
    /// Items of a work-group, and the rows it has.
    local: usize,
    rows: usize,
    /// Columns of X per item.
    columns: usize,
}

impl Spread {
    /// Groups of the usual size with so many items per row.
    fn lanes(context: &Context, lanes: usize) -> Spread {
        Spread { local: context.local(), rows: context.local() / lanes, columns: COLUMNS }
    }
}

/// The launch of a kernel of `many.cl`; `matrix` are the arguments before X.
fn launch_many<T: Real>(
    a: &(impl Operator<T> + Values<T>),
    kernel: Kernel,
    spread: &Spread,
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
    // Whole groups of rows.
    let items = a.rows().div_ceil(spread.rows) * spread.local;
    let sizes = [Arg::size(a.rows()), Arg::size(a.cols()), Arg::size(x.cols())];
    let vectors = [x.values().arg(), beta.arg().0, y.values().arg()];
    let args = [sizes.as_slice(), matrix, &vectors].concat();
    context.run(&kernel, Range::d2([items, x.cols().div_ceil(spread.columns)], [spread.local, 1]), &args)
}

/// A kernel of `many.cl`.
fn many<T: Real>(name: &'static str, defines: &[(&'static str, u64)]) -> Kernel {
    Kernel::new(&files::MANY, name, T::PRECISION).with(defines)
}

impl<T: Real> Many<T> for Csr<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let rows = [alpha.arg().0, s.offset.arg(), s.column.arg(), self.values().arg()];
        let plan = self.plan();
        if context.shape() == Shape::Gpu && s.rows > 0 {
            let stencil = self.stencil();
            if let Some(p) = stencil.map(|stencil| &stencil.pattern).or(plan.pattern.as_ref()) {
                let points = ("POINTS", p.deltas.len() as u64);
                let (kernel, values) = match stencil {
                    Some(stencil) => {
                        (many::<T>("mm_pattern_gpu", &[points, ("CONSTANT", 1)]), stencil.coefficient.arg())
                    }
                    None => (many::<T>("mm_pattern_gpu", &[points]), self.slots(p)?.arg()),
                };
                let pattern = [p.full.arg(), p.mask.arg(), p.delta.arg(), values];
                let spread = Spread { local: PATTERN_ITEMS, rows: PATTERN_ITEMS, columns: COLUMNS };
                return launch_many(self, kernel, &spread, (x, beta, y), &[pattern, rows].concat());
            }
        }
        // NVIDIA H200, 27 points and random columns: 2.6 and 1.07 times the rate of cuSPARSE with 4 items a row.
        let (lanes, unroll) = match (context.shape(), plan) {
            (Shape::Cpu, _) => (1, 1),
            // Rows of very different lengths.
            (Shape::Gpu, Plan { blocks: Some(Blocks { columns: Columns::Cut { .. }, .. }), .. }) => (32, 2),
            (Shape::Gpu, plan) => match plan.rows {
                RowProduct::Row => (2, 4),
                RowProduct::Lanes8 => (4, 2),
                RowProduct::Lanes32 => (32, 2),
            },
        };
        let kernel = many::<T>("mm_csr", &[("LANES", lanes as u64), ("UNROLL", unroll)]);
        launch_many(self, kernel, &Spread::lanes(context, lanes), (x, beta, y), &rows)
    }
}

/// Items of a work-group of a product with a pattern and several right-hand sides.
const PATTERN_ITEMS: usize = 128;

impl<T: Real> Many<T> for Dense<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let context = Dense::context(self);
        let matrix = [alpha.arg().0, self.values().arg()];
        if context.shape() == Shape::Cpu {
            let kernel = many::<T>("mm_dense_cpu", &[]);
            return launch_many(self, kernel, &Spread::lanes(context, 1), (x, beta, y), &matrix);
        }
        let panel = Panel::choose(context.device(), x.cols());
        let kernel = many::<T>(
            "mm_dense_gpu",
            &[
                ("LOCAL", panel.items as u64),
                ("PANEL", panel.columns as u64),
                ("PER", panel.per as u64),
                ("COLUMNS", panel.sums as u64),
            ],
        );
        let spread = Spread { local: panel.items, rows: Panel::TILE * panel.per, columns: panel.sums };
        launch_many(self, kernel, &spread, (x, beta, y), &matrix)
    }
}

impl<T: Real> Many<T> for Band<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let context = Band::context(self);
        let width = self.kl() + 1 + self.ku();
        let sizes = [Arg::size(self.kl()), Arg::size(width)];
        let matrix = [sizes.as_slice(), &[alpha.arg().0, self.values().arg()]].concat();
        let kernel = many::<T>("mm_band", &[]);
        let unrolled = context.shape() == Shape::Gpu && width <= UNROLLED_DIAGONALS;
        let kernel = if unrolled { kernel.with(&[("DIAGONALS", width as u64)]) } else { kernel };
        launch_many(self, kernel, &Spread::lanes(context, 1), (x, beta, y), &matrix)
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
            let sizes = [tiles_args(s.rows, tiles).as_slice(), &[tiles.full.arg()]].concat();
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
        if context.shape() == Shape::Gpu && s.rows == s.cols && s.rows > 0 {
            if let Some(stencil) = self.stencil().filter(|stencil| stencil.tiles.groups[0] <= MOST_PARTS) {
                check_operands(context, s.rows, s.cols, x, y)?;
                return self.apply_dot_by_tiles(stencil, MOST_PARTS, x, y, dot);
            }
            if let (None, Some(pattern)) = (self.stencil(), &self.plan().pattern) {
                check_operands(context, s.rows, s.cols, x, y)?;
                return self.apply_dot_by_slots(pattern, MOST_PARTS, x, y, dot);
            }
        }
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

/// Parts of a dot product that a product with a pattern leaves: enough for all units, few for the kernel that joins them.
const MOST_PARTS: usize = 4096;

/// Rows and lines of a stencil, and where all tiles are whole.
fn tiles_args(rows: usize, tiles: &Tiles) -> [Arg; 6] {
    let [left, right, low, high] = tiles.inner.map(Arg::U32);
    [Arg::size(rows), Arg::size(tiles.line), left, right, low, high]
}

impl<T: Real> Csr<T> {
    /// y = A x with constant coefficients on a GPU, and x'y in the same pass, in at most `most` parts.
    fn apply_dot_by_tiles(
        &self,
        stencil: &Stencil<T>,
        most: usize,
        x: &Vector<T>,
        y: &mut Vector<T>,
        dot: &mut DotParts<T>,
    ) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let (tiles, p, local) = (&stencil.tiles, &stencil.pattern, context.local());
        let [across, along] = tiles.groups;
        let turns = along.div_ceil((most / across).max(1));
        let groups = along.div_ceil(turns);
        let sizes = tiles_args(s.rows, tiles);
        let args = [
            sizes.as_slice(),
            &[Arg::size(along), Arg::U32(turns as u32), tiles.full.arg()],
            &[p.full.arg(), p.mask.arg(), p.delta.arg(), stencil.coefficient.arg()],
            &[s.offset.arg(), s.column.arg(), self.values().arg(), x.buffer().arg(), y.buffer().arg()],
            &[dot.parts(across * groups)],
        ];
        let range = Range::d2([across * local, groups], [local, 1]);
        context.run(&p.kernel::<T>(context, "mv_stencil_dot_gpu"), range, &args.concat())
    }

    /// The same with the values by diagonals.
    fn apply_dot_by_slots(
        &self,
        p: &Pattern,
        most: usize,
        x: &Vector<T>,
        y: &mut Vector<T>,
        dot: &mut DotParts<T>,
    ) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let slots = self.slots(p)?;
        let local = context.local();
        let turns = s.rows.div_ceil(local).div_ceil(most);
        let groups = s.rows.div_ceil(local * turns);
        let args = [
            Arg::size(s.rows),
            Arg::U32(turns as u32),
            p.full.arg(),
            p.mask.arg(),
            p.delta.arg(),
            slots.arg(),
            s.offset.arg(),
            s.column.arg(),
            self.values().arg(),
            x.buffer().arg(),
            y.buffer().arg(),
            dot.parts(groups),
        ];
        context.run(&p.kernel::<T>(context, "mv_slots_dot_gpu"), Range::d1(groups * local, local), &args)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextOptions;
    use crate::runtime::devices;

    /// The products with a pattern and their dot products, in few parts of several turns and in many.
    fn dots<T: Real>(context: &Context) {
        for (side, format) in [(130, Format::Stencil), (61, Format::Diagonals)] {
            let mut parts = stencil::<T>(side * side).unwrap();
            if format == Format::Diagonals {
                parts.values = tune::whole_numbers(parts.values.len(), 2);
            }
            let a = Csr::from_parts(context, &parts).unwrap();
            assert_eq!(a.format(), format, "{}", a.explain());
            let x = tune::whole_numbers::<T>(parts.rows, 3);
            let mut want = vec![T::zero(); parts.rows];
            parts.mv(T::one(), &x, T::zero(), &mut want);
            let want_dot: f64 = x.iter().zip(&want).map(|(x, y)| x.wide() * y.wide()).sum();
            let x = Vector::from_slice(context, &x).unwrap();
            for most in [1, 3, 7, 4096] {
                let mut y = Vector::filled(context, parts.rows, T::nan()).unwrap();
                let mut dot = DotParts::new(context).unwrap();
                match (a.stencil(), &a.plan().pattern) {
                    (Some(stencil), _) => a.apply_dot_by_tiles(stencil, most, &x, &mut y, &mut dot).unwrap(),
                    (None, Some(pattern)) => a.apply_dot_by_slots(pattern, most, &x, &mut y, &mut dot).unwrap(),
                    _ => panic!("{}", a.explain()),
                }
                assert_eq!(y.to_vec().unwrap(), want, "{format}, at most {most} parts");
                assert_eq!(dot.value().unwrap(), want_dot, "{format}, at most {most} parts");
            }
        }
    }

    #[test]
    fn products_with_a_pattern_leave_their_dot_product() {
        let Ok(devices) = devices() else { return eprintln!("skipped: no device") };
        for device in &devices {
            let options = ContextOptions { shape: Some(Shape::Gpu), ..ContextOptions::default() };
            let context = Context::new(device, &options).unwrap();
            dots::<f32>(&context);
            if context.require::<f64>().is_ok() {
                dots::<f64>(&context);
            }
        }
    }
}
