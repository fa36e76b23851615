//! The differences between two iterates.

use std::ops::Range as Span;

use clinalg::runtime::{Arg, Buffer, GeneratedKernel, Range};
use clinalg::{Context, KernelFamily, Real};

use crate::Result;
use crate::waveform::kernel;

/// Least number of values that a work-group sums, or a work-item on CPUs.
const LEAST: usize = 8192;

/// Most sums that are read back after an iteration; there is at least one per row.
const MOST: usize = 4096;

/// The squared 2-norm of the difference of two iterates, for each row but the first. Each row is summed in parts; their number depends only on the
/// sizes.
pub(super) struct Difference<T: Real> {
    context: Context,
    pub(super) kernel: GeneratedKernel,
    /// The columns that are summed, of the `n` values per row; the first row begins at index `base` of the waveforms.
    base: usize,
    n: usize,
    columns: Span<usize>,
    parts: usize,
    squares: Buffer<T>,
}

impl<T: Real> Difference<T> {
    /// For waveforms with at most `rows` rows after the first.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn new(
        context: &Context,
        rows: usize,
        base: usize,
        n: usize,
        columns: Span<usize>,
    ) -> Result<Difference<T>> {
        let kernel =
            GeneratedKernel::new("waveform_difference", kernel::difference(context.family()).into(), T::PRECISION);
        let parts = parts(rows, columns.len());
        let squares = Buffer::zeroed(context, rows.max(1) * parts)?;
        Ok(Difference { context: context.clone(), kernel, base, n, columns, parts, squares })
    }

    /// Enqueues the sums over the first `rows` rows.
    pub(super) fn enqueue(&self, rows: usize, old: &Buffer<T>, next: &Buffer<T>) -> Result<()> {
        let numbers = [self.base, self.n, self.columns.start, self.columns.len(), self.parts].map(Arg::size);
        let args: Vec<Arg> = numbers.into_iter().chain([old.arg(), next.arg(), self.squares.arg()]).collect();
        let groups = rows * self.parts;
        let range = match self.context.family() {
            KernelFamily::Cpu => Range::d1(groups, 1),
            KernelFamily::Gpu => Range::d1(groups * self.context.local(), self.context.local()),
        };
        // SAFETY: the arguments are those of the kernel, in its order, one item or work-group for each part of `rows` rows after
        // the first; `squares` has as many values, and the columns are among the n of each row from `base` on in both waveforms.
        unsafe { self.context.launch_generated(&self.kernel, range, &args)? };
        Ok(())
    }

    /// Waits for the sums over `rows` rows and reads them.
    pub(super) fn read(&self, rows: usize) -> Result<Vec<f64>> {
        let mut all = vec![T::zero(); rows * self.parts];
        self.squares.read_range(0, &mut all)?;
        Ok(all.chunks(self.parts).map(|parts| parts.iter().map(|part| part.into_f64()).sum()).collect())
    }
}

/// Number of parts per row.
fn parts(rows: usize, columns: usize) -> usize {
    columns.div_ceil(LEAST).min(MOST / rows.max(1)).max(1)
}

/// The largest norm, given all squares; NaN if any is NaN.
pub(super) fn largest(squares: impl Iterator<Item = f64>) -> f64 {
    squares.map(f64::sqrt).fold(0.0, |m: f64, e| if m.is_nan() || e <= m { m } else { e })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_summed_in_parts() {
        for (rows, columns, expected) in
            [(10, 18_000_000, 409), (100, 2_000_000, 40), (100, 20_000, 3), (5000, 1 << 30, 1), (0, 0, 1)]
        {
            assert_eq!(parts(rows, columns), expected, "{rows} {columns}");
        }
    }
}
