//! QR factorisation by Householder reflections.

use super::triangular::{Diagonal, Side, Solver, Triangle, Triangular};
use super::{OfColumn, Part, check_order, check_rows, copy_part, identity, of_columns, scale_columns, tuning};
use crate::matrix::Values;
use crate::ops::gemm::{Block, Product, Transpose};
use crate::runtime::kernels::qr::Program;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Dense, Error, Result, Scalar, Vector};

/// A = Q R with a unitary Q and an upper triangular R, for an m x n matrix.
///
/// Blocked, by compact WY products of reflections as in LAPACK's `geqrf`. Columns are scaled by powers of two beforehand, so that no
/// sum of squares overflows or vanishes. |A - Q R| <= c m n eps |A|, column by column (Higham, *Accuracy and Stability of Numerical
/// Algorithms*, 2nd ed., theorem 19.4).
#[derive(Debug)]
pub struct Qr<T: Scalar> {
    factors: Dense<T>,
    tau: Vector<T>,
}

impl<T: Scalar> Qr<T> {
    /// Factorises `a`, of any shape, in its own memory; waits for the device once, for the sizes of the columns.
    ///
    /// # Errors
    /// [`Error::Allocation`] for the work space; [`Error::Value`] for more than 2147483647 rows or columns; OpenCL errors.
    pub fn new(mut a: Dense<T>) -> Result<Qr<T>> {
        check_order(&a)?;
        let context = a.context().clone();
        let order = a.rows().min(a.cols());
        let tau = Vector::zeros(&context, order)?;
        if order == 0 {
            return Ok(Qr { factors: a, tau });
        }
        let sizes = of_columns(&a, OfColumn::Largest)?;
        // Numbers that are not finite stay what they are.
        let power = |size: f64| if size > 0.0 && size.is_finite() { size.log2().floor() as i32 } else { 0 };
        let powers: Vec<i32> = sizes.into_iter().map(power).collect();
        scale_columns(&mut a, false, &powers, -1)?;
        let mut work = Reflections::new(&context, a.rows(), a.cols())?;
        work.factorise(Block::of(&a), &tau)?;
        scale_columns(&mut a, true, &powers, 1)?;
        Ok(Qr { factors: a, tau })
    }

    /// R on and above the diagonal, below it the reflections' vectors, whose first element is 1 and not stored.
    pub fn factors(&self) -> &Dense<T> {
        &self.factors
    }

    /// R, min(m, n) x n.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn r(&self) -> Result<Dense<T>> {
        let (rows, cols) = (self.tau.len(), self.factors.cols());
        let r = Dense::zeros(self.factors.context(), rows, cols)?;
        let source = Block::of(&self.factors).part(0..rows, 0..cols);
        copy_part::<T>(self.factors.context(), Part::Upper, source, Block::of(&r))?;
        Ok(r)
    }

    /// The first min(m, n) columns of Q.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn q(&self) -> Result<Dense<T>> {
        let mut q = identity(self.factors.context(), self.factors.rows(), self.tau.len())?;
        self.apply_q(Transpose::No, &mut q)?;
        Ok(q)
    }

    /// All of Q, m x m.
    ///
    /// # Errors
    /// [`Error::Allocation`].
    pub fn full_q(&self) -> Result<Dense<T>> {
        let rows = self.factors.rows();
        let mut q = identity(self.factors.context(), rows, rows)?;
        self.apply_q(Transpose::No, &mut q)?;
        Ok(q)
    }

    /// C = Q C or, for [`Transpose::Conjugate`], C = Q' C; enqueued. 4 m n operations per column, less those of the triangle.
    ///
    /// # Errors
    /// [`Error::Shape`] unless C has as many rows as A; [`Error::Context`]; [`Error::Value`] for [`Transpose::Yes`].
    pub fn apply_q(&self, op: Transpose, c: &mut Dense<T>) -> Result<()> {
        let context = self.factors.context();
        check_rows(context, self.factors.rows(), c)?;
        if op == Transpose::Yes {
            return Err(Error::value("op", "`No` or `Conjugate`", "Yes"));
        }
        let (order, c) = (self.tau.len(), Block::of(c));
        if order == 0 || c.cols == 0 {
            return Ok(());
        }
        let mut work = Reflections::<T>::new(context, self.factors.rows(), c.cols)?;
        let block = work.block;
        let starts: Vec<usize> = (0..order).step_by(block).collect();
        let mut apply = |left: usize| {
            let right = order.min(left + block);
            let below = left..c.rows;
            work.load(Block::of(&self.factors).part(below.clone(), left..right), &self.tau, left)?;
            work.apply(op, c.part(below, 0..c.cols))
        };
        match op {
            Transpose::No => starts.into_iter().rev().try_for_each(&mut apply),
            _ => starts.into_iter().try_for_each(&mut apply),
        }
    }

    /// The X that minimises |A X - B| in the 2-norm, column by column, for an A with at least as many rows as columns.
    ///
    /// # Errors
    /// [`Error::Shape`] unless A has at least as many rows as columns and B as many rows as A; [`Error::Singular`] where a diagonal
    /// element of R is zero; [`Error::Context`]; [`Error::Allocation`]. Waits for the device.
    pub fn solve(&self, b: &Dense<T>) -> Result<Dense<T>> {
        let (rows, cols) = (self.factors.rows(), self.factors.cols());
        if rows < cols {
            let expected = "at least as many rows as columns".to_owned();
            return Err(Error::Shape { argument: "a", expected, got: format!("{rows} x {cols}") });
        }
        let context = self.factors.context();
        check_rows(context, rows, b)?;
        if let Some(pivot) = self.factors.diagonal()?.to_vec()?.iter().position(|&d| d == T::zero()) {
            return Err(Error::Singular { pivot });
        }
        let mut rotated = b.try_clone()?;
        self.apply_q(Transpose::Conjugate, &mut rotated)?;
        let x = Dense::zeros(context, cols, b.cols())?;
        let top = Block::of(&rotated).part(0..cols, 0..b.cols());
        copy_part::<T>(context, Part::All, top, Block::of(&x))?;
        let block = Block::of(&self.factors).part(0..cols, 0..cols);
        let (triangle, op, diagonal) = (Triangle::Upper, Transpose::No, Diagonal::Stored);
        Solver::<T>::new(context).run(Side::Left, Triangular { block, triangle, op, diagonal }, Block::of(&x))?;
        Ok(x)
    }
}

/// The product of some reflections as 1 - V T V', with room for its products with matrices.
struct Reflections<T: Scalar> {
    context: Context,
    product: Product<T>,
    /// Vectors with their ones and zeros, their products with each other, the triangle.
    v: Dense<T>,
    gram: Dense<T>,
    t: Dense<T>,
    /// V' C and T V' C.
    projected: [Dense<T>; 2],
    /// Sums of the columns of a panel, and their rows; two places each.
    partial: Buffer<T>,
    head: Buffer<T>,
    rows: usize,
    count: usize,
    /// Columns of a panel that kernels take, and reflections that are joined.
    width: usize,
    block: usize,
}

impl<T: Scalar> Reflections<T> {
    fn new(context: &Context, rows: usize, cols: usize) -> Result<Reflections<T>> {
        let groups = rows.div_ceil(PANEL_ITEMS);
        let op = tuning::qr::<T>(context.family());
        let [width, block, ..] = context.choice(op, T::PRECISION, rows * cols).map(|value| value as usize);
        let cols = cols.max(block);
        Ok(Reflections {
            context: context.clone(),
            product: Product::new(context),
            v: Dense::zeros(context, rows, block)?,
            gram: Dense::zeros(context, block, block)?,
            t: Dense::zeros(context, block, block)?,
            projected: [Dense::zeros(context, block, cols)?, Dense::zeros(context, block, cols)?],
            partial: Buffer::uninit(context, 2 * groups * WIDTH)?,
            head: Buffer::uninit(context, 2 * WIDTH)?,
            rows: 0,
            count: 0,
            width,
            block,
        })
    }

    fn factorise(&mut self, a: Block<T>, tau: &Vector<T>) -> Result<()> {
        let order = tau.len();
        for left in (0..order).step_by(self.block) {
            let right = order.min(left + self.block);
            let below = left..a.rows;
            for first in (left..right).step_by(self.width) {
                let last = right.min(first + self.width);
                self.columns(a.part(first..a.rows, first..last), tau, first)?;
                if last < right {
                    self.load(a.part(first..a.rows, first..last), tau, first)?;
                    self.apply(Transpose::Conjugate, a.part(first..a.rows, last..right))?;
                }
            }
            if right < a.cols {
                self.load(a.part(below.clone(), left..right), tau, left)?;
                self.apply(Transpose::Conjugate, a.part(below, right..a.cols))?;
            }
        }
        Ok(())
    }

    /// A panel that kernels take.
    fn columns(&self, part: Block<T>, tau: &Vector<T>, first: usize) -> Result<()> {
        let (m, width) = (part.rows as u32, part.cols as u32);
        let (a, offset, ld) = (part.memory, part.offset, part.ld);
        let (context, program, tau) = (&self.context, Program::<T>::new(), Out::shared(tau.values()));
        if context.family() == KernelFamily::Cpu {
            return program.qr_panel(context, Range::d1(1, 1), m, width, a, offset, ld, tau, first);
        }
        let groups = part.rows.div_ceil(PANEL_ITEMS);
        let range = Range::d1(groups * PANEL_ITEMS, PANEL_ITEMS);
        let [partial, head] = [&self.partial, &self.head].map(Out::shared);
        (0..=width).try_for_each(|step| {
            let groups = groups as u32;
            program.qr_column(context, range, m, width, step, groups, a, offset, ld, partial, head, tau, first)
        })
    }

    fn vectors(&self) -> Block<T> {
        Block::of(&self.v).part(0..self.rows, 0..self.count)
    }

    /// A block of `count` rows and so many columns in one of the small matrices.
    fn small(&self, matrix: &Dense<T>, cols: usize) -> Block<T> {
        Block { rows: self.count, cols, ld: self.count, ..Block::of(matrix) }
    }

    /// Takes the reflections whose vectors are below the diagonal of a block.
    fn load(&mut self, block: Block<T>, tau: &Vector<T>, first: usize) -> Result<()> {
        (self.rows, self.count) = (block.rows, block.cols);
        let v = self.vectors();
        copy_part::<T>(&self.context, Part::Lower { unit: true }, block, v)?;
        let gram = self.small(&self.gram, self.count);
        self.product.run(T::one(), (Transpose::Conjugate, v), (Transpose::No, v), T::zero(), gram)?;
        let local = if self.context.family() == KernelFamily::Cpu { 1 } else { TRIANGLE_ITEMS };
        let (range, count) = (Range::d1(self.count, local), self.count as u32);
        let (gram, t) = (self.gram.values(), Out::shared(self.t.values()));
        Program::<T>::new().qr_triangle(&self.context, range, count, gram, tau.values(), first, t)
    }

    /// C = (1 - V op(T) V') C.
    fn apply(&mut self, op: Transpose, c: Block<T>) -> Result<()> {
        let v = self.vectors();
        let [first, second] = self.projected.each_ref().map(|matrix| self.small(matrix, c.cols));
        let t = self.small(&self.t, self.count);
        let product = &mut self.product;
        product.run(T::one(), (Transpose::Conjugate, v), (Transpose::No, c), T::zero(), first)?;
        product.run(T::one(), (op, t), (Transpose::No, first), T::zero(), second)?;
        product.run(-T::one(), (Transpose::No, v), (Transpose::No, second), T::one(), c)
    }
}

/// `PANEL` and `PANEL_ITEMS` of the kernels; items of a work-group that makes a triangle.
pub(super) const WIDTH: usize = 16;
const PANEL_ITEMS: usize = 64;
const TRIANGLE_ITEMS: usize = 64;
