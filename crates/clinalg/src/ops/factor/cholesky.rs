//! Cholesky factorisation.

use super::triangular::{Diagonal, Side, Solver, Triangle, Triangular};
use super::{Determinant, Part, check_order, check_rows, check_square, copy_part, identity, tuning};
use crate::matrix::Values;
use crate::ops::gemm::{Block, Transpose};
use crate::runtime::kernels::cholesky::Program;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Dense, Error, Real, Result, Scalar};

/// A = L L' with a lower triangular L, for a Hermitian positive definite A.
///
/// Blocked and right-looking; |A - L L'| <= c n eps |L| |L'| (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed.,
/// section 10.1). Half the operations of [`Lu`](super::Lu).
#[derive(Debug)]
pub struct Cholesky<T: Scalar> {
    lower: Dense<T>,
}

impl<T: Scalar> Cholesky<T> {
    /// Factorises `a` in its own memory, from its lower triangle; what lies above the diagonal is not read. Waits for the device.
    ///
    /// # Errors
    /// [`Error::NotPositiveDefinite`] with the order of the first leading minor that is not positive; [`Error::Shape`] unless `a` is
    /// square; [`Error::Allocation`]; OpenCL errors.
    pub fn new(a: Dense<T>) -> Result<Cholesky<T>> {
        let n = check_square("a", &a)?;
        check_order(&a)?;
        let context = a.context().clone();
        let mut work = Factoriser::<T>::new(&context, n, 0.0)?;
        work.run(Block::of(&a))?;
        match work.info.to_vec()?[0] {
            0 => Ok(Cholesky { lower: a }),
            minor => Err(Error::NotPositiveDefinite { minor: minor as usize }),
        }
    }

    /// L; zero above the diagonal.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn factor(&self) -> Result<Dense<T>> {
        let factor = self.lower.like()?;
        let part = Part::Lower { unit: false };
        copy_part::<T>(self.lower.context(), part, Block::of(&self.lower), Block::of(&factor))?;
        Ok(factor)
    }

    /// X with A X = B.
    ///
    /// # Errors
    /// As [`Cholesky::solve_in_place`]; [`Error::Allocation`].
    pub fn solve(&self, b: &Dense<T>) -> Result<Dense<T>> {
        let mut x = b.try_clone()?;
        self.solve_in_place(&mut x)?;
        Ok(x)
    }

    /// X with A X = B takes the place of B; enqueued. 2 n^2 operations per right-hand side.
    ///
    /// # Errors
    /// [`Error::Shape`] unless B has as many rows as A; [`Error::Context`].
    pub fn solve_in_place(&self, b: &mut Dense<T>) -> Result<()> {
        let context = self.lower.context();
        check_rows(context, self.lower.rows(), b)?;
        let mut solver = Solver::<T>::new(context);
        for op in [Transpose::No, Transpose::Conjugate] {
            let block = Block::of(&self.lower);
            let t = Triangular { block, triangle: Triangle::Lower, op, diagonal: Diagonal::Stored };
            solver.run(Side::Left, t, Block::of(b))?;
        }
        Ok(())
    }

    /// The inverse of A.
    ///
    /// # Errors
    /// As [`Cholesky::solve`].
    pub fn inverse(&self) -> Result<Dense<T>> {
        let n = self.lower.rows();
        let mut inverse = identity(self.lower.context(), n, n)?;
        self.solve_in_place(&mut inverse)?;
        Ok(inverse)
    }

    /// The determinant of A.
    ///
    /// # Errors
    /// Those of the transfer.
    pub fn determinant(&self) -> Result<Determinant<T>> {
        let diagonal = self.lower.diagonal()?.to_vec()?;
        let both: Vec<T> = diagonal.iter().flat_map(|&d| [d, d]).collect();
        Ok(Determinant::of_diagonal(&both, false))
    }
}

/// A factorisation under way.
pub(crate) struct Factoriser<T: Scalar> {
    pub(crate) solver: Solver<T>,
    /// The order of the first leading minor that is not positive.
    pub(crate) info: Buffer<u32>,
    tiny: T::Real,
    /// Columns that a kernel takes, and columns after which all to their right are updated.
    width: usize,
    step: usize,
}

impl<T: Scalar> Factoriser<T> {
    /// For matrices of at most so many rows, whose pivots have to be above `tiny`.
    pub(crate) fn new(context: &Context, n: usize, tiny: f64) -> Result<Factoriser<T>> {
        let op = tuning::cholesky::<T>(context.family());
        let [width, step, ..] = context.choice(op, T::PRECISION, n * n).map(|value| value as usize);
        Ok(Factoriser {
            solver: Solver::new(context),
            info: Buffer::zeroed(context, 1)?,
            tiny: T::Real::nearest(tiny),
            width,
            step,
        })
    }

    pub(crate) fn run(&mut self, a: Block<T>) -> Result<()> {
        for left in (0..a.rows).step_by(self.step) {
            let right = a.rows.min(left + self.step);
            self.square(a, left, right)?;
            self.follow(a, left, right, a.rows)?;
        }
        Ok(())
    }

    /// The square block on the diagonal, by halves.
    fn square(&mut self, a: Block<T>, left: usize, right: usize) -> Result<()> {
        if right - left <= self.width {
            return self.leaf(a.part(left..right, left..right), left);
        }
        let middle = left + ((right - left) / 2).next_multiple_of(self.width);
        self.square(a, left, middle)?;
        self.follow(a, left, middle, right)?;
        self.square(a, middle, right)
    }

    /// What the columns `left..right` mean for rows and columns from `right` up to `end`.
    fn follow(&mut self, a: Block<T>, left: usize, right: usize, end: usize) -> Result<()> {
        let block = a.part(left..right, left..right);
        let below = a.part(right..end, left..right);
        let t = Triangular { block, triangle: Triangle::Lower, op: Transpose::Conjugate, diagonal: Diagonal::Stored };
        self.solver.run(Side::Right, t, below)?;
        let rest = a.part(right..end, right..end);
        let product = &mut self.solver.product;
        product.run_lower(-T::one(), (Transpose::No, below), (Transpose::Conjugate, below), T::one(), rest)
    }

    fn leaf(&self, block: Block<T>, above: usize) -> Result<()> {
        let context = &self.solver.context;
        let range = match context.family() {
            KernelFamily::Gpu => Range::d1(BLOCK_ITEMS, BLOCK_ITEMS),
            KernelFamily::Cpu => Range::d1(1, 1),
        };
        let (n, above, info) = (block.rows as u32, above as u32, Out::shared(&self.info));
        Program::<T>::new().cholesky_block(
            context,
            range,
            n,
            block.memory,
            block.offset,
            block.ld,
            above,
            self.tiny,
            info,
        )
    }
}

/// `BLOCK` and `BLOCK_ITEMS` of the kernels.
pub(super) const BLOCK: usize = 32;
const BLOCK_ITEMS: usize = 256;
