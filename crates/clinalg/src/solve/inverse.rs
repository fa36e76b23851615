//! Inverses of dense matrices.

use crate::runtime::kernels::inverse;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Dense, Error, Real, Result};

/// Columns that are swept together, as in the kernels.
const BLOCK: usize = 32;
/// The side is padded to a multiple of this, as in the kernels.
const TILE: usize = 64;
/// Items of a work-group along each side, as in the kernels.
const ITEMS: usize = 16;
/// Rows of an item on CPUs, as in the kernels.
const ROWS_CPU: usize = 16;

/// The inverse of a symmetric positive definite matrix, for many successive right-hand sides: a product with it is faster on a
/// device than two triangular solves.
///
/// Gauss-Jordan elimination without pivoting in symmetric sweeps (Goodnight 1979), about n^3 multiplications and as many additions.
/// The error of the inverse is about the condition number times the machine precision (Higham 2002, section 14.4).
///
/// # Errors
/// [`Error::Shape`] unless `a` is square; [`Error::Value`] that names the row whose pivot is not positive: `a` is not
/// positive definite to working precision; [`Error::Allocation`].
///
/// ```
/// use clinalg::solve::inverse_definite;
/// use clinalg::{Context, Dense};
///
/// let a = Dense::from_column_major(&Context::global()?, 2, 2, &[2.0, 1.0, 1.0, 1.0])?;
/// assert_eq!(inverse_definite(&a)?.to_column_major()?, [1.0, -1.0, -1.0, 2.0]);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub fn inverse_definite<T: Real>(a: &Dense<T>) -> Result<Dense<T>> {
    let n = a.rows();
    if a.cols() != n {
        let (expected, got) = ("a square matrix".into(), format!("{n} x {}", a.cols()));
        return Err(Error::Shape { argument: "a", expected, got });
    }
    let context = a.context();
    let result = Dense::zeros(context, n, n)?;
    if n == 0 {
        return Ok(result);
    }
    let cpu = context.family() == KernelFamily::Cpu;
    let side = n.next_multiple_of(TILE);
    let mut whole = Buffer::<T>::uninit(context, side * side)?;
    let mut block = Buffer::<T>::uninit(context, BLOCK * BLOCK)?;
    let [mut before, mut after] = [Buffer::<T>::uninit(context, BLOCK * side)?, Buffer::uninit(context, BLOCK * side)?];
    let mut fault = Buffer::from_slice(context, &[0_u32])?;
    let program = inverse::Program::<T>::new();
    let square = |side: usize| Range::d2([side, side], if cpu { [TILE, 1] } else { [TILE, 4] });
    let (one, tiles) = if cpu {
        (Range::d1(1, 1), Range::d1(side / ROWS_CPU, 1))
    } else {
        let items = side / TILE * ITEMS;
        (Range::d1(ITEMS * ITEMS, ITEMS * ITEMS), Range::d2([items, items], [ITEMS, ITEMS]))
    };
    program.pad_square(context, square(side), n, side, a.as_vector().buffer(), &mut whole)?;
    for first in (0..n).step_by(BLOCK) {
        program.sweep_block(context, one, side, first, &mut whole, &mut block, &mut fault)?;
        let columns = Range::d1(side, TILE);
        program.sweep_columns(context, columns, side, first, &mut whole, &block, &mut before, &mut after)?;
        program.sweep_rest(context, tiles, side, &mut whole, &before, &after)?;
    }
    program.take_square(context, square(n), n, side, &whole, Out::shared(result.as_vector().buffer()))?;
    match fault.to_vec()?[0] {
        0 => Ok(result),
        row => {
            let got = format!("not positive in the pivot of row {}", row - 1);
            Err(Error::value("a", "symmetric positive definite", got))
        }
    }
}
