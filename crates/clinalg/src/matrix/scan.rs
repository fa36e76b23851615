//! Exclusive prefix sums.

use super::convert::conversion;
use crate::runtime::{KernelFamily, Range};
use crate::{Buffer, Context, Error, Result, Scalar};

/// Consecutive counts of an item of a GPU, as in the kernels.
const EACH: usize = 8;

/// The exclusive prefix sums of the counts, and their total. `T` only selects the program, which also holds the conversions of matrices of `T`.
///
/// # Errors
/// [`Error::Value`] where they exceed 32 bits; [`Error::Allocation`].
pub(crate) fn scan<T: Scalar>(context: &Context, count: &Buffer<u32>) -> Result<(Buffer<u32>, usize)> {
    let n = count.len();
    if n == 0 {
        return Ok((Buffer::zeroed(context, 1)?, 0));
    }
    let program = conversion::<T>(context);
    let local = context.local();
    let (parts, each, one) = match context.family() {
        KernelFamily::Cpu => {
            let parts = context.chunks().min(n.div_ceil(1024)).max(1);
            (parts, Range::d1(parts, 1), Range::d1(1, 1))
        }
        KernelFamily::Gpu => {
            let parts = n.div_ceil(EACH * local);
            (parts, Range::d1(parts * local, local), Range::d1(local, local))
        }
    };
    let mut part = Buffer::<u64>::uninit(context, parts + 1)?;
    let mut offset = Buffer::<u32>::uninit(context, n + 1)?;
    program.sum_counts(context, each, n, count, &mut part)?;
    program.scan_sums(context, one, parts, &mut part)?;
    program.scan_counts(context, each, n, &part, count, &mut offset)?;
    let mut total = [0];
    part.read_range(parts, &mut total)?;
    if total[0] > u64::from(u32::MAX) {
        let expected = "a result of at most 4294967295 entries (indices are stored in 32 bits)";
        return Err(Error::value("a", expected, format!("a matrix with {} in the result", total[0])));
    }
    Ok((offset, total[0] as usize))
}
