//! What the launches of the grid kernels share: ranges, mesh widths and norms.

use super::cycle::StartNorms;
use crate::ops::reduce::{REDUCE_GROUPS_PER_UNIT, REDUCE_PARTIALS};
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Context, Real, Result};

/// What a pass does after the relaxations.
#[derive(Debug, Clone, Copy)]
pub(crate) enum After<'a, T> {
    Nothing,
    /// Restricts the defect.
    Restricted,
    /// The place for the sums of the squares of the defect.
    Summed(Out<'a, T>),
}

/// Items of a two-dimensional work-group along a row, where the group has as many.
const LOCAL_WIDTH: usize = 32;

/// An item per point of `width` by `height`.
pub(crate) fn points(context: &Context, width: usize, height: usize) -> Range {
    let x = LOCAL_WIDTH.min(context.local());
    Range::d2([width, height], [x, context.local() / x])
}

/// The items for the family: one per point of `width` by `height` on a GPU, one per part of at most `parts` on a CPU.
pub(crate) fn items(context: &Context, [width, height]: [usize; 2], parts: usize) -> Range {
    match context.family() {
        KernelFamily::Gpu => points(context, width, height),
        KernelFamily::Cpu => Range::d1(context.chunks().min(parts), 1),
    }
}

/// 1 / h^2.
pub(crate) fn inverse_h2<T: Real>(n: usize) -> T {
    T::from_f64(((n - 1) * (n - 1)) as f64)
}

/// h^2, a power of two where n = 2^k + 1.
pub(crate) fn h2<T: Real>(n: usize) -> T {
    let h = T::one() / T::from_f64((n - 1) as f64);
    h * h
}

/// How many parts have partial sums, `sums` each, when so many rows are distributed, and their range.
pub(crate) fn shares(context: &Context, rows: usize, sums: usize) -> (usize, Range) {
    let most = REDUCE_PARTIALS / sums;
    let (wanted, local) = match context.family() {
        KernelFamily::Gpu => (context.units() * REDUCE_GROUPS_PER_UNIT, context.local()),
        KernelFamily::Cpu => (context.chunks(), 1),
    };
    let parts = rows.min(wanted).clamp(1, most);
    (parts, Range::d1(parts * local, local))
}

/// The rows of a square, or the planes of a cube, that a context has of a level: all of them, or those of a strip or slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    /// How many, odd.
    pub(crate) count: usize,
    /// The row or plane of the next coarser level that lies on the first of them.
    pub(crate) skip: usize,
    /// Rows `low` to `high` - 1, counted from the first, are summed; the others are copies of rows that another context owns.
    pub(crate) low: usize,
    pub(crate) high: usize,
}

impl Rows {
    /// All of a grid with n points per side.
    pub(crate) fn all(n: usize) -> Rows {
        Rows { count: n, skip: 0, low: 0, high: n }
    }

    /// Those of the next coarser level that lie on them.
    pub(crate) fn coarse(self) -> usize {
        self.count.div_ceil(2)
    }
}

/// What the terms of a norm are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Term {
    /// f + Laplace_h u - shift u.
    Defect,
    /// The same with u = 0 inside.
    Source,
}

/// The three sums whose parts lie one after the other.
pub(crate) fn triple<T: Real>(partials: &[T]) -> [f64; 3] {
    [0, 1, 2].map(|which| partials.iter().skip(which).step_by(3).map(|p| p.into_f64()).sum())
}

/// The norms from the sums that the kernel for the start values computes; `None` where the squares are out of range.
pub(crate) fn start_norms<T: Real>([size, defect, source]: [f64; 3]) -> StartNorms {
    let root = |squares: f64| in_range::<T>(squares).then(|| squares.sqrt());
    // Of the first only whether it is finite matters.
    [size.is_finite().then(|| size.sqrt()), root(defect), root(source)]
}

pub(crate) fn total<T: Real>(partials: &[T]) -> f64 {
    partials.iter().map(|p| p.into_f64()).sum()
}

/// Whether a sum of squares neither overflowed nor lost its smallest terms.
pub(crate) fn in_range<T: Real>(squares: f64) -> bool {
    squares.is_finite() && squares >= T::min_positive_value().into_f64() / T::epsilon().into_f64().powi(2)
}

/// The root of a sum of squares, which is taken again of scaled terms when it left the range of
/// `T`. NaN or infinity where the terms themselves are.
pub(crate) fn root_of_squares<T: Real>(mut squares: impl FnMut(T) -> Result<f64>) -> Result<f64> {
    let plain = squares(T::one())?;
    if in_range::<T>(plain) {
        return Ok(plain.sqrt());
    }
    // Scaling by a power of two is exact; two thirds of the range lift or lower all that was lost.
    let factor = (T::max_value().into_f64().log2() * 2.0 / 3.0).floor().exp2();
    let scale = if plain < 1.0 { factor } else { 1.0 / factor };
    Ok(squares(T::from_f64(scale))?.sqrt() / scale)
}
