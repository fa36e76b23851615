//! Launches of the grid kernels.

use super::components::StartNorms;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::{REDUCE_GROUPS_PER_UNIT, REDUCE_PARTIALS, ROWS_AHEAD};
use crate::{Context, Real, Result, Vector};

/// Items of a two-dimensional work-group along a row, where the group has as many.
const LOCAL_WIDTH: usize = 32;

/// Rows of an item that interpolates, as in the kernel (NVIDIA H200: 4 rows at 84 % of the copy rate, one row at 58 %).
const INTERPOLATED_ROWS: usize = 4;

/// What chooses the kernels for processors.
pub(super) const PROCESSOR: &[(&str, u64)] = &[("PROCESSOR", 1)];

/// Enqueues a kernel of the variant that the context builds.
pub(super) fn enqueue<T: Real>(context: &Context, name: &'static str, range: Range, args: &[Arg]) -> Result<()> {
    let kernel = Kernel::new(&files::GRID2, name, T::PRECISION);
    let kernel = match context.shape() {
        Shape::Gpu => kernel,
        Shape::Cpu if context.fetches_ahead() => kernel.with(ROWS_AHEAD),
        Shape::Cpu => kernel.with(PROCESSOR),
    };
    context.run(&kernel, range, args)
}

/// An item per point of `width` by `height`.
pub(super) fn points(context: &Context, width: usize, height: usize) -> Range {
    let x = LOCAL_WIDTH.min(context.local());
    Range::d2([width, height], [x, context.local() / x])
}

/// Runs the variant for the device: an item per point of `width` by `height`, or one per band of
/// `rows` rows.
pub(super) fn run<T: Real>(
    context: &Context,
    names: [&'static str; 2],
    [width, height]: [usize; 2],
    rows: usize,
    args: &[Arg],
) -> Result<()> {
    match context.shape() {
        Shape::Gpu => enqueue::<T>(context, names[0], points(context, width, height), args),
        Shape::Cpu => enqueue::<T>(context, names[1], Range::d1(context.chunks().min(rows), 1), args),
    }
}

/// 1 / h^2.
pub(super) fn inverse_h2<T: Real>(n: usize) -> T {
    T::of(((n - 1) * (n - 1)) as f64)
}

/// h^2, a power of two where n = 2^k + 1.
pub(super) fn h2<T: Real>(n: usize) -> T {
    let h = T::one() / T::of((n - 1) as f64);
    h * h
}

/// 1 / (4 + shift h^2), the weight of a relaxation for -Laplace_h + shift; a quarter where shift = 0.
pub(super) fn weight<T: Real>(n: usize, shift: T) -> T {
    T::one() / (T::of(4.0) + shift * h2(n))
}

/// `out` = one Jacobi sweep over `u`.
pub(super) fn jacobi<T: Real>(
    n: usize,
    shift: T,
    omega: T,
    u: &Vector<T>,
    f: &Vector<T>,
    out: &mut Vector<T>,
) -> Result<()> {
    let args = [
        Arg::size(n),
        weight(n, shift).arg().0,
        h2::<T>(n).arg().0,
        omega.arg().0,
        u.buffer().arg(),
        f.buffer().arg(),
        out.buffer().arg(),
    ];
    run::<T>(u.context(), ["jacobi_gpu", "jacobi_cpu"], [n, n], n, &args)
}

/// Half a red-black sweep on `u`.
pub(super) fn half_sweep<T: Real>(n: usize, shift: T, colour: u32, f: &Vector<T>, u: &mut Vector<T>) -> Result<()> {
    let args = [
        Arg::size(n),
        weight(n, shift).arg().0,
        h2::<T>(n).arg().0,
        Arg::U32(colour),
        f.buffer().arg(),
        u.buffer().arg(),
    ];
    run::<T>(u.context(), ["red_black_gpu", "red_black_cpu"], [(n - 1) / 2, n - 2], n, &args)
}

/// `d` = f + Laplace_h u - shift u.
pub(super) fn defect<T: Real>(n: usize, shift: T, u: &Vector<T>, f: &Vector<T>, d: &mut Vector<T>) -> Result<()> {
    let args =
        [Arg::size(n), inverse_h2::<T>(n).arg().0, shift.arg().0, u.buffer().arg(), f.buffer().arg(), d.buffer().arg()];
    run::<T>(u.context(), ["defect_gpu", "defect_cpu"], [n, n], n, &args)
}

/// `coarse`, m a side, = restricted `fine`.
pub(super) fn restrict<T: Real>(m: usize, fine: &Vector<T>, coarse: &mut Vector<T>) -> Result<()> {
    let args = [Arg::size(m), fine.buffer().arg(), coarse.buffer().arg()];
    run::<T>(fine.context(), ["restrict_gpu", "restrict_cpu"], [m, m], m, &args)
}

/// `fine`, n a side, = interpolated `coarse`.
pub(super) fn interpolate<T: Real>(n: usize, coarse: &Vector<T>, fine: &mut Vector<T>) -> Result<()> {
    let args = [Arg::size(n), coarse.buffer().arg(), fine.buffer().arg()];
    let names = ["interpolate_gpu", "interpolate_cpu"];
    run::<T>(coarse.context(), names, [n, n.div_ceil(INTERPOLATED_ROWS)], n, &args)
}

/// Boundary of `to`, m a side, = boundary of `from` at every `stride`-th point.
pub(super) fn copy_boundary<T: Real>(m: usize, stride: usize, from: &Vector<T>, to: &mut Vector<T>) -> Result<()> {
    let args = [Arg::size(m), Arg::size(stride), from.buffer().arg(), to.buffer().arg()];
    let context = from.context();
    // One group on a processor: there is nothing to share out.
    let local = if context.shape() == Shape::Cpu { 1 } else { context.local() };
    enqueue::<T>(context, "copy_boundary", Range::d1(4 * (m - 1), local), &args)
}

/// `b` = f plus the contributions of the boundary values of u inside, u on the boundary.
pub(super) fn source<T: Real>(n: usize, u: &Vector<T>, f: &Vector<T>, b: &mut Vector<T>) -> Result<()> {
    let args = [Arg::size(n), inverse_h2::<T>(n).arg().0, u.buffer().arg(), f.buffer().arg(), b.buffer().arg()];
    run::<T>(u.context(), ["source_gpu", "source_cpu"], [n, n], n, &args)
}

/// y = alpha A x + beta y with the matrix of [`PoissonOperator`](super::PoissonOperator).
pub(super) fn apply<T: Real>(n: usize, shift: T, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
    let args = [
        Arg::size(n),
        inverse_h2::<T>(n).arg().0,
        shift.arg().0,
        alpha.arg().0,
        x.buffer().arg(),
        beta.arg().0,
        y.buffer().arg(),
    ];
    run::<T>(x.context(), ["apply_poisson_gpu", "apply_poisson_cpu"], [n, n], n, &args)
}

/// Rows that an item of the sums for a start value goes up, as in the kernel.
const SUMMED_ROWS: usize = 8;

/// How many parts have partial sums, `sums` each, when so many rows are shared out, and their range.
pub(super) fn shares(context: &Context, rows: usize, sums: usize) -> (usize, Range) {
    let most = REDUCE_PARTIALS / sums;
    let (wanted, local) = match context.shape() {
        Shape::Gpu => (context.units() * REDUCE_GROUPS_PER_UNIT, context.local()),
        Shape::Cpu => (context.chunks(), 1),
    };
    let parts = rows.min(wanted).clamp(1, most);
    (parts, Range::d1(parts * local, local))
}

/// The name of the variant for the device.
pub(super) fn of_shape(context: &Context, [gpu, cpu]: [&'static str; 2]) -> &'static str {
    match context.shape() {
        Shape::Gpu => gpu,
        Shape::Cpu => cpu,
    }
}

/// What the terms of a norm are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Term {
    /// f + Laplace_h u - shift u.
    Defect,
    /// The same with u = 0 inside.
    Source,
}

/// The Euclidean norm of a term over the interior.
pub(super) fn norm<T: Real>(term: Term, n: usize, shift: T, u: &Vector<T>, f: &Vector<T>) -> Result<f64> {
    let context = u.context();
    let names = match term {
        Term::Defect => ["sum_square_defect_gpu", "sum_square_defect_cpu"],
        Term::Source => ["sum_square_source_gpu", "sum_square_source_cpu"],
    };
    let (count, range) = shares(context, n, 1);
    let name = of_shape(context, names);
    root_of_squares(|scale: T| {
        let partials: Vec<T> = context.partials(count, |partial| {
            let args = [
                Arg::size(n),
                inverse_h2::<T>(n).arg().0,
                shift.arg().0,
                scale.arg().0,
                u.buffer().arg(),
                f.buffer().arg(),
                partial,
            ];
            enqueue::<T>(context, name, range, &args)
        })?;
        Ok(total(&partials))
    })
}

/// The norms of a start value on a GPU, in one pass.
pub(super) fn norms_of_start<T: Real>(n: usize, shift: T, u: &Vector<T>, f: &Vector<T>) -> Result<StartNorms> {
    let context = u.context();
    let (count, range) = shares(context, n.div_ceil(SUMMED_ROWS), 3);
    let partials: Vec<T> = context.partials(3 * count, |partial| {
        let args =
            [Arg::size(n), inverse_h2::<T>(n).arg().0, shift.arg().0, u.buffer().arg(), f.buffer().arg(), partial];
        enqueue::<T>(context, "sum_squares_start_gpu", range, &args)
    })?;
    Ok(start_norms(&partials))
}

/// The three sums whose parts lie one after the other.
pub(super) fn triple<T: Real>(partials: &[T]) -> [f64; 3] {
    [0, 1, 2].map(|which| partials.iter().skip(which).step_by(3).map(|p| p.wide()).sum())
}

/// The norms from the partial sums of the kernels of start values; `None` where the squares are out of range.
pub(super) fn start_norms<T: Real>(partials: &[T]) -> StartNorms {
    let [size, defect, source] = triple(partials);
    let root = |squares: f64| in_range::<T>(squares).then(|| squares.sqrt());
    // Whether it is finite is all that is asked of the first.
    [size.is_finite().then(|| size.sqrt()), root(defect), root(source)]
}

pub(super) fn total<T: Real>(partials: &[T]) -> f64 {
    partials.iter().map(|p| p.wide()).sum()
}

/// Whether a sum of squares neither overflowed nor lost its smallest terms.
pub(super) fn in_range<T: Real>(squares: f64) -> bool {
    squares.is_finite() && squares >= T::min_positive_value().wide() / T::epsilon().wide().powi(2)
}

/// The root of a sum of squares, which is taken again of scaled terms when it left the range of
/// `T`. NaN or infinity where the terms themselves are.
pub(super) fn root_of_squares<T: Real>(mut squares: impl FnMut(T) -> Result<f64>) -> Result<f64> {
    let plain = squares(T::one())?;
    if in_range::<T>(plain) {
        return Ok(plain.sqrt());
    }
    // Scaling by a power of two is exact; two thirds of the range lift or lower all that was lost.
    let factor = (T::max_value().wide().log2() * 2.0 / 3.0).floor().exp2();
    let scale = if plain < 1.0 { factor } else { 1.0 / factor };
    Ok(squares(T::of(scale))?.sqrt() / scale)
}
