//! Inverses of dense matrices.

use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::{Buffer, Dense, Error, Real, Result};

/// Columns that are swept together, as in the kernels.
const BLOCK: usize = 32;
/// What the side is padded to a multiple of, as in the kernels.
const TILE: usize = 64;
/// Items of a work-group along each side, as in the kernels.
const ITEMS: usize = 16;
/// Rows of an item on processors, as in the kernels.
const ROWS_CPU: usize = 16;

/// The inverse of a symmetric positive definite matrix, for many right-hand sides in a row: a product with it is quicker on a
/// device than two triangular solves.
///
/// Gauss-Jordan elimination without pivoting in symmetric sweeps (Goodnight 1979), about n^3 multiplications and as many additions.
/// The error of the inverse is about the condition number times the machine precision (Higham 2002, section 14.4).
///
/// # Errors
/// [`Error::Shape`] unless `a` is square; [`Error::Value`] that names the row whose pivot is not positive: `a` is not
/// positive definite to working precision; [`Error::Allocation`].
///
/// ```no_run
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
    let inverse = Dense::zeros(context, n, n)?;
    if n == 0 {
        return Ok(inverse);
    }
    let cpu = context.shape() == Shape::Cpu;
    let side = n.next_multiple_of(TILE);
    let whole = Buffer::<T>::uninit(context, side * side)?;
    let block = Buffer::<T>::uninit(context, BLOCK * BLOCK)?;
    let [before, after] = [Buffer::<T>::uninit(context, BLOCK * side)?, Buffer::uninit(context, BLOCK * side)?];
    let fault = Buffer::from_slice(context, &[0_u32])?;
    let kernel = |name: &'static str| Kernel::new(&files::INVERSE, name, T::PRECISION);
    let square = |side: usize| Range::d2([side, side], if cpu { [TILE, 1] } else { [TILE, 4] });
    let sizes = [Arg::size(n), Arg::size(side)];
    let args = [sizes[0], sizes[1], a.as_vector().buffer().arg(), whole.arg()];
    context.run(&kernel("pad_square"), square(side), &args)?;
    for first in (0..n).step_by(BLOCK) {
        let place = [Arg::size(side), Arg::size(first), whole.arg(), block.arg()];
        let args = [place[0], place[1], place[2], place[3], fault.arg()];
        let (name, range) = if cpu {
            ("sweep_block_cpu", Range::d1(1, 1))
        } else {
            ("sweep_block_gpu", Range::d1(ITEMS * ITEMS, ITEMS * ITEMS))
        };
        context.run(&kernel(name), range, &args)?;
        let args = [place[0], place[1], place[2], place[3], before.arg(), after.arg()];
        context.run(&kernel("sweep_columns"), Range::d1(side, TILE), &args)?;
        let args = [place[0], whole.arg(), before.arg(), after.arg()];
        let (name, range) = if cpu {
            ("sweep_rest_cpu", Range::d1(side / ROWS_CPU, 1))
        } else {
            let items = side / TILE * ITEMS;
            ("sweep_rest_gpu", Range::d2([items, items], [ITEMS, ITEMS]))
        };
        context.run(&kernel(name), range, &args)?;
    }
    let args = [sizes[0], sizes[1], whole.arg(), inverse.as_vector().buffer().arg()];
    context.run(&kernel("take_square"), square(n), &args)?;
    match fault.to_vec()?[0] {
        0 => Ok(inverse),
        row => {
            let got = format!("not positive in the pivot of row {}", row - 1);
            Err(Error::value("a", "symmetric positive definite", got))
        }
    }
}
