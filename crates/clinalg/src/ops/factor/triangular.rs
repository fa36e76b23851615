//! Triangular systems with several right-hand sides.

use std::ops::Range as Span;

use crate::ops::gemm::{Block, Product, Transpose};
use crate::runtime::kernels::triangular::Program;
use crate::runtime::{KernelFamily, Range};
use crate::{Context, Dense, Error, Result, Scalar};

/// Which triangle of a matrix holds the numbers; the other one is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Triangle {
    /// On and below the diagonal.
    Lower,
    /// On and above the diagonal.
    Upper,
}

/// On which side of the unknown the triangular matrix stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// op(A) X = B.
    Left,
    /// X op(A) = B.
    Right,
}

/// What the diagonal of a triangular matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diagonal {
    /// The one that is stored.
    Stored,
    /// All ones; the stored one is not read.
    Unit,
}

/// A triangular matrix as an operand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangular<T: Scalar> {
    pub(crate) block: Block<T>,
    pub(crate) triangle: Triangle,
    pub(crate) op: Transpose,
    pub(crate) diagonal: Diagonal,
}

/// Solves op(A) X = B or X op(A) = B with a triangular A by substitution; X takes the place of B.
///
/// n^2 operations for each of the other dimension's columns or rows. The computed X satisfies (A + E) x = b for each right-hand
/// side with |E| <= c n eps |A| (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., theorem 8.5).
///
/// # Errors
/// [`Error::Shape`] unless A is square and its order is that of B on its side; [`Error::Context`];
/// [`Error::Singular`] where a stored diagonal element is zero, which waits for the device.
pub fn solve_triangular<T: Scalar>(
    side: Side,
    triangle: Triangle,
    op: Transpose,
    diagonal: Diagonal,
    a: &Dense<T>,
    b: &mut Dense<T>,
) -> Result<()> {
    let context = b.context().clone();
    let n = super::check_square("a", a)?;
    if !context.same(a.context()) {
        return Err(Error::Context { argument: "a" });
    }
    let given = if side == Side::Left { b.rows() } else { b.cols() };
    if given != n {
        let expected =
            if side == Side::Left { format!("{n} rows, as A has") } else { format!("{n} columns, as A has") };
        return Err(Error::Shape { argument: "b", expected, got: format!("{} x {}", b.rows(), b.cols()) });
    }
    if diagonal == Diagonal::Stored
        && let Some(zero) = a.diagonal()?.to_vec()?.iter().position(|&d| d == T::zero())
    {
        return Err(Error::Singular { pivot: zero });
    }
    let triangular = Triangular { block: Block::of(a), triangle, op, diagonal };
    Solver::<T>::new(&context).run(side, triangular, Block::of(b))
}

/// Triangular solves, with what products need in between.
pub(crate) struct Solver<T: Scalar> {
    pub(crate) context: Context,
    pub(crate) product: Product<T>,
}

impl<T: Scalar> Solver<T> {
    pub(crate) fn new(context: &Context) -> Solver<T> {
        Solver { context: context.clone(), product: Product::new(context) }
    }

    /// X takes the place of B; halves the triangle until a kernel takes it.
    pub(crate) fn run(&mut self, side: Side, t: Triangular<T>, b: Block<T>) -> Result<()> {
        let n = t.block.rows;
        if n == 0 || b.rows == 0 || b.cols == 0 {
            return Ok(());
        }
        let most = if size_of::<T>() == 16 { ROWS / 2 } else { ROWS };
        if n <= most {
            return self.leaf(side, t, b);
        }
        let half = (n / 2).next_multiple_of(most);
        let [upper, lower] = [0..half, half..n];
        let of_b = |part: Span<usize>| match side {
            Side::Left => b.part(part, 0..b.cols),
            Side::Right => b.part(0..b.rows, part),
        };
        let diagonal = |part: Span<usize>| Triangular { block: t.block.part(part.clone(), part), ..t };
        // op(A) is lower triangular.
        let is_lower = (t.triangle == Triangle::Lower) == (t.op == Transpose::No);
        let stored = match t.triangle {
            Triangle::Lower => t.block.part(lower.clone(), upper.clone()),
            Triangle::Upper => t.block.part(upper.clone(), lower.clone()),
        };
        let [first, second] = if is_lower == (side == Side::Left) { [upper, lower] } else { [lower, upper] };
        self.run(side, diagonal(first.clone()), of_b(first.clone()))?;
        let (solved, rest) = (of_b(first), of_b(second.clone()));
        match side {
            Side::Left => {
                self.product.run(-T::one(), (t.op, stored), (Transpose::No, solved), T::one(), rest)?;
            }
            Side::Right => {
                self.product.run(-T::one(), (Transpose::No, solved), (t.op, stored), T::one(), rest)?;
            }
        }
        self.run(side, diagonal(second.clone()), of_b(second))
    }

    /// A triangle that a kernel takes, as a lower one that is solved from its first row on.
    fn leaf(&self, side: Side, t: Triangular<T>, b: Block<T>) -> Result<()> {
        let n = t.block.rows;
        let ld = t.block.ld as i64;
        let is_lower = (t.triangle == Triangle::Lower) == (t.op == Transpose::No);
        let forward = is_lower == (side == Side::Left);
        // Steps along the rows and columns of op(A), or of its transpose where it stands on the right.
        let along_rows = (t.op == Transpose::No) == (side == Side::Left);
        let (mut ti, mut tj) = if along_rows { (1, ld) } else { (ld, 1) };
        let (mut bi, br, count) = match side {
            Side::Left => (1, b.ld as i64, b.cols),
            Side::Right => (b.ld as i64, 1, b.rows),
        };
        let (mut t_offset, mut b_offset) = (t.block.offset, b.offset);
        if !forward {
            t_offset += (n - 1) * (t.block.ld + 1);
            b_offset += (n - 1) * bi as usize;
            (ti, tj, bi) = (-ti, -tj, -bi);
        }
        // The bits of a negative number are those of `long`.
        let [ti, tj, bi, br] = [ti, tj, bi, br].map(|step| step as usize);
        let (unit, conjugate) = ((t.diagonal == Diagonal::Unit).into(), (t.op == Transpose::Conjugate).into());
        let range = match self.context.family() {
            KernelFamily::Gpu => Range::d1(count, SOLVERS),
            KernelFamily::Cpu => Range::d1(count.div_ceil(LANES), 1),
        };
        let (n, t, b) = (n as u32, t.block.input(), b.memory);
        Program::<T>::new().solve_triangle(
            &self.context,
            range,
            n,
            count,
            t,
            t_offset,
            ti,
            tj,
            unit,
            conjugate,
            b,
            b_offset,
            bi,
            br,
        )
    }
}

/// `ROWS`, `SOLVERS` and `LANES` of the kernels.
pub(super) const ROWS: usize = 32;
const SOLVERS: usize = 64;
const LANES: usize = 8;
