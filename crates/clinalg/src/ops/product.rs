//! Matrix-vector products and what a solver takes for a matrix.

use super::DotParts;
use crate::matrix::{Band, Csr, Dense, Values, Vector};
use crate::reference::CsrParts;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::{self, AHEAD, Needs, Op, Operation, RowProduct, Trial, both_precisions};
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

/// The kernel for a processor, with the hint to fetch memory ahead where the compiler takes it.
fn ahead(context: &Context, kernel: Kernel) -> Kernel {
    if context.fetches_ahead() { kernel.with(AHEAD) } else { kernel }
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
        match context.shape() {
            Shape::Cpu if s.rows == 0 => Ok(()),
            Shape::Cpu => {
                let range = Range::d1(s.split.len() - 1, 1);
                let split = s.split.arg();
                match &s.runs {
                    Some(runs) => {
                        let args = [split, runs.first.arg(), runs.start.arg(), a, o, c, v, x, b, y];
                        context.run(&ahead(context, kernel("mv_csr_runs_cpu")), range, &args)
                    }
                    None => context.run(&ahead(context, kernel("mv_csr_cpu")), range, &[split, a, o, c, v, x, b, y]),
                }
            }
            Shape::Gpu => {
                let (kernel, lanes) = match s.product {
                    RowProduct::Row => (kernel("mv_csr_row_gpu"), 1),
                    RowProduct::Lanes8 => (kernel("mv_csr_lanes_gpu").with(&[("LANES", 8)]), 8),
                    RowProduct::Lanes32 => (kernel("mv_csr_lanes_gpu").with(&[("LANES", 32)]), 32),
                };
                let range = Range::d1(s.rows * lanes, context.local());
                context.run(&kernel, range, &[Arg::size(s.rows), a, o, c, v, x, b, y])
            }
        }
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        if context.shape() == Shape::Gpu && s.product == RowProduct::Row && s.rows == s.cols {
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
        context.run(&Kernel::new(&files::BAND, name, T::PRECISION), range, &args)
    }
}

/// Rows that a work-group of the dense product takes; `TILE` in `dense.cl`.
const DENSE_TILE: usize = 32;

impl<T: Real> Dense<T> {
    fn launch(
        &self,
        name: &'static str,
        range: Range,
        alpha: T,
        x: &Vector<T>,
        beta: T,
        y: &mut Vector<T>,
    ) -> Result<()> {
        let args = [
            Arg::size(Dense::rows(self)),
            Arg::size(Dense::cols(self)),
            alpha.arg().0,
            self.values().arg(),
            x.buffer().arg(),
            beta.arg().0,
            y.buffer().arg(),
        ];
        let context = Dense::context(self);
        let kernel = Kernel::new(&files::DENSE, name, T::PRECISION);
        let kernel = if context.shape() == Shape::Cpu { ahead(context, kernel) } else { kernel };
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
        let (name, range) = match context.shape() {
            // As few chunks as keep all units busy: their parts of a column are read in one go.
            Shape::Cpu => ("mv_dense_cpu", Range::d1((context.device().compute_units.max(1) as usize).min(rows), 1)),
            Shape::Gpu => {
                let local = context.local();
                ("mv_dense_gpu", Range::d1(rows.div_ceil(DENSE_TILE) * local, local))
            }
        };
        self.launch(name, range, alpha, x, beta, y)
    }
}

impl<T: Real> Transposed<T> for Dense<T> {
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let context = Dense::context(self);
        let cols = Dense::cols(self);
        check_operands(context, cols, Dense::rows(self), x, y)?;
        let (name, range) = match context.shape() {
            Shape::Cpu => ("mv_dense_transposed_cpu", Range::d1(context.chunks().min(cols), 1)),
            Shape::Gpu => {
                let local = context.local();
                ("mv_dense_transposed_gpu", Range::d1(cols * local, local))
            }
        };
        self.launch(name, range, alpha, x, beta, y)
    }
}
