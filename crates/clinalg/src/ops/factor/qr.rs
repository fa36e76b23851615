//! QR factorisation by Householder reflections.

use super::together::{CAPABILITY, PATIENCE, Panels, check_together};
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
    /// The triangles T of blocks of reflections, beside each other: the reflections of a block are 1 - V T V'.
    triangles: Dense<T>,
}

impl<T: Scalar> Qr<T> {
    /// Factorises `a`, of any shape, in its own memory. Waits for the device.
    ///
    /// # Errors
    /// [`Error::Allocation`] for the work space; [`Error::Value`] for more than 2147483647 rows or columns; OpenCL errors.
    pub fn new(mut a: Dense<T>) -> Result<Qr<T>> {
        check_order(&a)?;
        let context = a.context().clone();
        let order = a.rows().min(a.cols());
        let tau = Vector::zeros(&context, order)?;
        if order == 0 {
            let triangles = Dense::zeros(&context, 0, 0)?;
            return Ok(Qr { factors: a, tau, triangles });
        }
        let sizes = of_columns(&a, OfColumn::Largest)?;
        // Numbers that are not finite stay what they are.
        let power = |size: f64| if size > 0.0 && size.is_finite() { size.log2().floor() as i32 } else { 0 };
        let powers: Vec<i32> = sizes.into_iter().map(power).collect();
        scale_columns(&mut a, false, &powers, -1)?;
        let choice = choice::<T>(&context, a.rows() * a.cols());
        let triangles = Dense::zeros(&context, choice[1], order)?;
        let mut work = Panel::new(&context, a.rows(), choice)?;
        work.factorise(Block::of(&a), &tau, Block::of(&triangles))?;
        scale_columns(&mut a, true, &powers, 1)?;
        work.check()?;
        Ok(Qr { factors: a, tau, triangles })
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
        let block = self.triangles.rows();
        let mut work = Reflections::<T>::new(context, self.factors.rows(), c.cols, block)?;
        let starts: Vec<usize> = (0..order).step_by(block).collect();
        let mut apply = |left: usize| {
            let right = order.min(left + block);
            let below = left..c.rows;
            work.load(Block::of(&self.factors).part(below.clone(), left..right))?;
            let t = Block::of(&self.triangles).part(0..right - left, left..right);
            work.apply(op, t, c.part(below, 0..c.cols))
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

/// Columns of a panel, of a block, and whether work-groups of a panel wait for each other.
fn choice<T: Scalar>(context: &Context, elements: usize) -> [usize; 3] {
    let [panel, block, together, ..] = context.choice(tuning::qr::<T>(context.family()), T::PRECISION, elements);
    [panel, block, together].map(|value| value as usize)
}

/// The product of some reflections as 1 - V T V', with room for its products with matrices.
struct Reflections<T: Scalar> {
    context: Context,
    product: Product<T>,
    /// Vectors with their ones and zeros.
    v: Dense<T>,
    /// V' C and T V' C.
    projected: [Dense<T>; 2],
    rows: usize,
    count: usize,
}

impl<T: Scalar> Reflections<T> {
    /// For at most `block` reflections of so many rows, and matrices of so many columns.
    fn new(context: &Context, rows: usize, cols: usize, block: usize) -> Result<Reflections<T>> {
        Ok(Reflections {
            context: context.clone(),
            product: Product::new(context),
            v: Dense::zeros(context, rows, block)?,
            projected: [Dense::zeros(context, block, cols)?, Dense::zeros(context, block, cols)?],
            rows: 0,
            count: 0,
        })
    }

    fn vectors(&self) -> Block<T> {
        Block::of(&self.v).part(0..self.rows, 0..self.count)
    }

    /// Takes the reflections whose vectors are below the diagonal of a block.
    fn load(&mut self, block: Block<T>) -> Result<()> {
        (self.rows, self.count) = (block.rows, block.cols);
        copy_part::<T>(&self.context, Part::Lower { unit: true }, block, self.vectors())
    }

    /// C = (1 - V op(T) V') C.
    fn apply(&mut self, op: Transpose, t: Block<T>, c: Block<T>) -> Result<()> {
        let v = self.vectors();
        let [first, second] = self.projected.each_ref().map(|matrix| small(matrix, self.count, c.cols));
        let product = &mut self.product;
        product.run(T::one(), (Transpose::Conjugate, v), (Transpose::No, c), T::zero(), first)?;
        product.run(T::one(), (op, t), (Transpose::No, first), T::zero(), second)?;
        product.run(-T::one(), (Transpose::No, v), (Transpose::No, second), T::one(), c)
    }
}

/// A block of so many rows and columns at the start of a matrix's memory.
fn small<T: Scalar>(matrix: &Dense<T>, rows: usize, cols: usize) -> Block<T> {
    Block { rows, cols, ld: rows, ..Block::of(matrix) }
}

/// A factorisation under way.
struct Panel<T: Scalar> {
    context: Context,
    /// Sums of the columns of a panel, and their rows; two places each.
    partial: Buffer<T>,
    head: Buffer<T>,
    /// V'V of a block.
    gram: Dense<T>,
    /// The number of the last step that each work-group of a panel has finished, never reset; whether one waited in vain.
    signals: Buffer<u32>,
    signalled: u32,
    late: Buffer<u32>,
    panels: Panels,
    width: usize,
    block: usize,
}

impl<T: Scalar> Panel<T> {
    fn new(context: &Context, rows: usize, [width, block, together]: [usize; 3]) -> Result<Panel<T>> {
        let groups = rows.div_ceil(PANEL_ROWS).min(most_groups(context));
        Ok(Panel {
            context: context.clone(),
            partial: Buffer::uninit(context, 2 * groups * WIDTH)?,
            head: Buffer::uninit(context, 2 * WIDTH)?,
            gram: Dense::zeros(context, block, block)?,
            signals: Buffer::zeroed(context, groups)?,
            signalled: 0,
            late: Buffer::zeroed(context, 1)?,
            panels: Panels::new(context, together),
            width,
            block,
        })
    }

    /// An error if work-groups that have to run together did not.
    fn check(&self) -> Result<()> {
        if self.signalled == 0 { Ok(()) } else { check_together("together of qr", self.late.to_vec()?[0]) }
    }

    fn factorise(&mut self, a: Block<T>, tau: &Vector<T>, triangles: Block<T>) -> Result<()> {
        let order = tau.len();
        let mut work = Reflections::new(&self.context, a.rows, a.cols, self.block)?;
        for left in (0..order).step_by(self.block) {
            let right = order.min(left + self.block);
            let below = left..a.rows;
            for first in (left..right).step_by(self.width) {
                let last = right.min(first + self.width);
                let panel = a.part(first..a.rows, first..last);
                let t = triangles.part(first - left..last - left, first..last);
                self.columns(panel, tau, first, t)?;
                if last < right {
                    work.load(panel)?;
                    work.apply(Transpose::Conjugate, t, a.part(first..a.rows, last..right))?;
                }
            }
            let t = triangles.part(0..right - left, left..right);
            work.load(a.part(below.clone(), left..right))?;
            self.join(&mut work, t)?;
            if right < a.cols {
                work.apply(Transpose::Conjugate, t, a.part(below, right..a.cols))?;
            }
        }
        Ok(())
    }

    /// A panel that kernels take, with its triangle.
    fn columns(&mut self, part: Block<T>, tau: &Vector<T>, first: usize, t: Block<T>) -> Result<()> {
        let (m, width) = (part.rows as u32, part.cols as u32);
        let (a, offset, ld) = (part.memory, part.offset, part.ld);
        let (context, tau) = (&self.context, Out::shared(tau.values()));
        let program = Program::<T>::new();
        if context.family() == KernelFamily::Cpu {
            let one = Range::d1(1, 1);
            return program.qr_panel(context, one, m, width, a, offset, ld, tau, first, t.memory, t.offset, t.ld);
        }
        let groups = part.rows.div_ceil(PANEL_ROWS);
        let panels = self.panels.of(context, groups);
        let groups = groups.min(most_groups(context));
        let rows_each = part.rows.div_ceil(groups).next_multiple_of(PANEL_ROWS) as u32;
        let program = match panels {
            Panels::Columns => program,
            Panels::Groups => program.cooperative(PATIENCE).capability(CAPABILITY),
        };
        let range = Range::d1(groups * PANEL_ITEMS, PANEL_ITEMS);
        let [partial, head] = [&self.partial, &self.head].map(Out::shared);
        let [signals, late] = [&self.signals, &self.late].map(Out::shared);
        let (groups, signalled) = (groups as u32, self.signalled);
        let launch = |from: u32, until: u32| {
            program.qr_columns(
                context, range, m, width, from, until, groups, rows_each, a, offset, ld, partial, head, tau, first,
                t.memory, t.offset, t.ld, signals, signalled, late,
            )
        };
        panels.launch(width + 1, &mut self.signalled, launch)
    }

    /// The triangle of a block from those of its panels.
    fn join(&self, work: &mut Reflections<T>, t: Block<T>) -> Result<()> {
        if work.count <= self.width {
            return Ok(());
        }
        let (v, gram) = (work.vectors(), small(&self.gram, work.count, work.count));
        work.product.run(T::one(), (Transpose::Conjugate, v), (Transpose::No, v), T::zero(), gram)?;
        let (items, columns) = if self.context.family() == KernelFamily::Cpu { (1, 1) } else { (JOINERS, JOINED) };
        let (program, gram) = (Program::<T>::new(), self.gram.values());
        let halves = std::iter::successors(Some(self.width), |half| Some(2 * half));
        for half in halves.take_while(|&half| half < work.count) {
            let groups = work.count.div_ceil(2 * half) * half.div_ceil(columns);
            let range = Range::d1(groups * items, items);
            let (count, half) = (work.count as u32, half as u32);
            program.join_triangles(&self.context, range, count, half, gram, t.memory, t.offset, t.ld)?;
        }
        Ok(())
    }
}

/// Work-groups of a panel, at most: each reads the sums of all.
fn most_groups(context: &Context) -> usize {
    2 * context.units()
}

/// `PANEL` for GPUs and CPUs, `BLOCK`, `PANEL_ITEMS`, `PANEL_ROWS`, and `JOINED` columns by `JOINERS` items, of the kernels.
pub(super) const WIDTH: usize = 16;
pub(super) const WIDTH_CPU: usize = 32;
pub(super) const BLOCK: usize = 128;
const PANEL_ITEMS: usize = 256;
const PANEL_ROWS: usize = 256;
const JOINED: usize = 4;
const JOINERS: usize = 256;
