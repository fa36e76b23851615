//! Blocks of vectors and their products.

use super::EigenScalar;
use super::ritz::Small;
use crate::matrix::Values;
use crate::ops::{self, Operator, items};
use crate::runtime::kernels::block_vectors::Program;
use crate::runtime::{Out, Range};
use crate::solve::Preconditioner;
use crate::{Buffer, Context, Dense, KernelFamily, Result, Scalar, Vector};

/// Columns of a block that a work-group multiplies with as many of another; `TILE` of `block_vectors.cl`.
const TILE: usize = 4;
/// Work-groups for each compute unit of a GPU.
const GROUPS: usize = 8;

/// The first `cols` columns of a matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a, T: EigenScalar> {
    pub(super) of: &'a Dense<T>,
    pub(super) cols: usize,
}

/// What products of blocks need on the device, and columns for operators that take one vector at a time.
pub(super) struct Products<T: EigenScalar> {
    context: Context,
    rows: usize,
    /// Partial sums, their sums, and coefficients.
    partial: Buffer<T>,
    sums: Buffer<T>,
    coefficients: Buffer<T>,
    from: Vector<T>,
    to: Vector<T>,
}

impl<T: EigenScalar> Products<T> {
    /// For blocks of at most `most` columns.
    pub(super) fn new(context: &Context, rows: usize, most: usize) -> Result<Products<T>> {
        let parts = parts(context, rows, 1);
        let column = || Vector::zeros(context, rows);
        Ok(Products {
            context: context.clone(),
            rows,
            partial: Buffer::zeroed(context, parts * most * most)?,
            sums: Buffer::zeroed(context, most * most)?,
            coefficients: Buffer::zeroed(context, most * most)?,
            from: column()?,
            to: column()?,
        })
    }

    /// X' Y, read by the host.
    pub(super) fn gram(&mut self, x: Columns<'_, T>, y: Columns<'_, T>) -> Result<Small<T::Small>> {
        let (p, q) = (x.cols, y.cols);
        if p == 0 || q == 0 {
            return Ok(Small::zeros(p, q));
        }
        let tiles = p.div_ceil(TILE) * q.div_ceil(TILE);
        let parts = parts(&self.context, self.rows, tiles);
        let local = if self.context.family() == KernelFamily::Cpu { 1 } else { self.context.local() };
        let (program, groups) = (Program::<T>::new(), Range::d1(parts * tiles * local, local));
        let (context, sizes) = (&self.context, (p as u32, q as u32, parts as u32));
        let partial = Out::shared(&self.partial);
        let (x, y) = (x.of.values(), y.of.values());
        program.gram(context, groups, self.rows, sizes.0, sizes.1, sizes.2, x, y, partial)?;
        let sums = Out::shared(&self.sums);
        program.gram_sum(context, items(context, p * q), p * q, sizes.2, &self.partial, sums)?;
        let mut values = vec![T::zero(); p * q];
        self.sums.read_range(0, &mut values)?;
        Ok(Small::from_iterator(p, q, values.into_iter().map(T::to_small)))
    }

    /// The first columns of Y become alpha X C + beta Y, enqueued; beta = 0 never reads Y.
    pub(super) fn combine(
        &mut self,
        alpha: f64,
        x: Columns<'_, T>,
        c: &Small<T::Small>,
        beta: f64,
        y: &mut Dense<T>,
    ) -> Result<()> {
        assert!(c.nrows() == x.cols && c.ncols() <= y.cols(), "coefficients of other blocks");
        if c.ncols() == 0 {
            return Ok(());
        }
        let values: Vec<T> = c.iter().map(|&value| T::of_small(value)).collect();
        self.coefficients.write_range(0, &values)?;
        let (context, range) = (&self.context, items(&self.context, self.rows));
        let (p, q) = (x.cols as u32, c.ncols() as u32);
        let [alpha, beta] = [alpha, beta].map(<T::Real as Scalar>::from_f64);
        let y = Out::shared(y.values());
        Program::new().combine(context, range, self.rows, p, q, alpha, x.of.values(), &self.coefficients, beta, y)
    }

    /// The first columns of Y become X, enqueued.
    pub(super) fn copy(&self, x: Columns<'_, T>, y: &mut Dense<T>) -> Result<()> {
        let len = x.cols * self.rows;
        y.as_vector_mut().slice_mut(0..len)?.copy_from(x.of.as_vector().slice(0..len)?)
    }

    /// The first columns of Y become A X, enqueued.
    pub(super) fn apply(&mut self, a: &dyn Operator<T>, x: Columns<'_, T>, y: &mut Dense<T>) -> Result<()> {
        if let Some(a) = a.as_csr().filter(|_| x.cols == x.of.cols()) {
            return ops::mm(T::one(), a, x.of, T::zero(), y);
        }
        self.by_column(x, y, |x, y| a.apply(T::one(), x, T::zero(), y))
    }

    /// The first columns of Z become M^-1 R, enqueued.
    pub(super) fn precondition(
        &mut self,
        m: &mut dyn Preconditioner<T>,
        r: Columns<'_, T>,
        z: &mut Dense<T>,
    ) -> Result<()> {
        self.by_column(r, z, |r, z| m.apply(r, z))
    }

    fn by_column(
        &mut self,
        x: Columns<'_, T>,
        y: &mut Dense<T>,
        mut apply: impl FnMut(&Vector<T>, &mut Vector<T>) -> Result<()>,
    ) -> Result<()> {
        for k in 0..x.cols {
            let at = k * self.rows;
            self.from.buffer_mut().copy_from(x.of.as_vector().slice(at..at + self.rows)?)?;
            apply(&self.from, &mut self.to)?;
            y.as_vector_mut().write_slice(at, &self.to)?;
        }
        Ok(())
    }
}

/// Parts of the rows, each summed by a work-group for each of `tiles` tiles.
fn parts(context: &Context, rows: usize, tiles: usize) -> usize {
    match context.family() {
        KernelFamily::Cpu => context.chunks().min(rows.div_ceil(8)).max(1),
        KernelFamily::Gpu => (context.units() * GROUPS).div_ceil(tiles).min(rows.div_ceil(4 * context.local())).max(1),
    }
}
