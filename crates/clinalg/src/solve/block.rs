//! Blocks of vectors and their products, and the small matrices that belong to them.

use nalgebra::{ComplexField, DMatrix, SymmetricEigen};
use num_traits::Zero;

use crate::matrix::Values;
use crate::ops::{self, Operator, items};
use crate::runtime::kernels::block_vectors::Program;
use crate::runtime::{Out, Range};
use crate::solve::Preconditioner;
use crate::{Buffer, Complex, Context, Dense, KernelFamily, Real, Result, Scalar, Vector};

/// Columns of a block that a work-group multiplies with the same number of columns of another; `TILE` of `block_vectors.cl`.
const TILE: usize = 4;
/// Work-groups for each compute unit of a GPU.
const GROUPS: usize = 8;

/// The scalars of methods with blocks of vectors: those of [`Scalar`].
pub trait BlockScalar: Scalar {
    /// The corresponding type in double precision.
    #[doc(hidden)]
    type Small: ComplexField<RealField = f64> + Copy;
    /// The value in double precision.
    #[doc(hidden)]
    fn to_small(self) -> Self::Small;
    /// The nearest value.
    #[doc(hidden)]
    fn of_small(value: Self::Small) -> Self;
    /// A value whose real and imaginary part are drawn from `next`.
    #[doc(hidden)]
    fn random(mut next: impl FnMut() -> f64) -> Self {
        let re = Self::Real::nearest(next());
        let im = if Self::IS_COMPLEX { Self::Real::nearest(next()) } else { Self::Real::zero() };
        Self::from_parts(re, im)
    }
}

impl<T: Real> BlockScalar for T {
    type Small = f64;

    fn to_small(self) -> f64 {
        self.into_f64()
    }

    fn of_small(value: f64) -> T {
        T::from_f64(value)
    }
}

macro_rules! complex {
    ($($real:ident)*) => {$(
        impl BlockScalar for Complex<$real> {
            type Small = Complex<f64>;

            fn to_small(self) -> Complex<f64> {
                self.widen()
            }

            fn of_small(value: Complex<f64>) -> Self {
                Self::narrow(value)
            }
        }
    )*};
}
complex!(f32 f64);

/// A matrix on the host, column after column.
pub(crate) type Small<W> = DMatrix<W>;

/// Eigenvalues in ascending order and their orthonormal eigenvectors, from both triangles of a Hermitian matrix.
pub(crate) fn symmetric<W: ComplexField<RealField = f64>>(a: &Small<W>) -> (Vec<f64>, Small<W>) {
    if a.is_empty() {
        return (Vec::new(), a.clone());
    }
    let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new((a + a.adjoint()) * W::from_real(0.5));
    let mut order: Vec<usize> = (0..a.nrows()).collect();
    order.sort_by(|&i, &j| eigenvalues[i].total_cmp(&eigenvalues[j]));
    let values = order.iter().map(|&i| eigenvalues[i]).collect();
    (values, Small::from_fn(a.nrows(), a.nrows(), |i, j| eigenvectors[(i, order[j])].clone()))
}

/// Z such that the columns of W Z are orthonormal, where `gram` is W' B W; it has as many columns as W has independent ones.
///
/// Stathopoulos and Wu, A block orthogonalization procedure with constant synchronization requirements, SIAM J. Sci. Comput. 23,
/// 2002 (SVQB). A column whose squared norm is at most `noise` counts as zero.
pub(crate) fn orthonormalising<W: ComplexField<RealField = f64>>(gram: &Small<W>, eps: f64, noise: f64) -> Small<W> {
    let n = gram.nrows();
    let own = |i: usize| gram[(i, i)].clone().real();
    let scale: Vec<f64> = (0..n).map(|i| if own(i) > noise { own(i).sqrt().recip() } else { 0.0 }).collect();
    let scaled = Small::from_fn(n, n, |i, j| gram[(i, j)].clone().scale(scale[i]).scale(scale[j]));
    let (values, vectors) = symmetric(&scaled);
    let least = eps * n as f64 * values.last().copied().unwrap_or(0.0).max(1.0);
    let kept: Vec<usize> = (0..n).filter(|&j| values[j] > least).collect();
    Small::from_fn(n, kept.len(), |i, j| vectors[(i, kept[j])].clone().scale(scale[i]).unscale(values[kept[j]].sqrt()))
}

/// The first `cols` columns of a matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a, T: BlockScalar> {
    pub(crate) of: &'a Dense<T>,
    pub(crate) cols: usize,
}

/// Coefficients on the device: where they begin, and their shape.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coefficients {
    at: usize,
    shape: (usize, usize),
}

/// What products of blocks need on the device, and columns for operators that take one vector at a time.
pub(crate) struct Products<T: BlockScalar> {
    context: Context,
    rows: usize,
    /// Partial sums, their sums, and coefficients.
    partial: Buffer<T>,
    sums: Buffer<T>,
    coefficients: Buffer<T>,
    from: Vector<T>,
    to: Vector<T>,
}

impl<T: BlockScalar> Products<T> {
    /// For blocks of at most `most` columns.
    pub(crate) fn new(context: &Context, rows: usize, most: usize) -> Result<Products<T>> {
        let parts = parts(context, rows, 1);
        let column = || Vector::zeros(context, rows);
        Ok(Products {
            context: context.clone(),
            rows,
            partial: Buffer::zeroed(context, parts * most * most)?,
            sums: Buffer::zeroed(context, 2 * most * most)?,
            coefficients: Buffer::zeroed(context, 2 * most * most)?,
            from: column()?,
            to: column()?,
        })
    }

    /// The vectors that operators and preconditioners are given.
    pub(crate) fn columns(&self) -> [&Vector<T>; 2] {
        [&self.from, &self.to]
    }

    /// X' Y, read by the host.
    pub(crate) fn gram(&mut self, x: Columns<'_, T>, y: Columns<'_, T>) -> Result<Small<T::Small>> {
        let [gram] = self.grams([(x, y)])?;
        Ok(gram)
    }

    /// X' Y for one or two pairs, read by the host at once.
    pub(crate) fn grams<const N: usize>(
        &mut self,
        pairs: [(Columns<'_, T>, Columns<'_, T>); N],
    ) -> Result<[Small<T::Small>; N]> {
        let (context, program) = (&self.context, Program::<T>::new());
        let mut ends = [0; N];
        let mut at = 0;
        for ((x, y), end) in pairs.iter().zip(&mut ends) {
            let (p, q) = (x.cols, y.cols);
            if p * q > 0 {
                let tiles = p.div_ceil(TILE) * q.div_ceil(TILE);
                let parts = parts(context, self.rows, tiles);
                let local = if context.family() == KernelFamily::Cpu { 1 } else { context.local() };
                let groups = Range::d1(parts * tiles * local, local);
                let sizes = (p as u32, q as u32, parts as u32);
                let (partial, sums) = (Out::shared(&self.partial), Out::shared(&self.sums));
                let (x, y) = (x.of.values(), y.of.values());
                program.gram(context, groups, self.rows, sizes.0, sizes.1, sizes.2, x, y, partial)?;
                program.gram_sum(context, items(context, p * q), p * q, sizes.2, &self.partial, at, sums)?;
            }
            at += p * q;
            *end = at;
        }
        let mut values = vec![T::zero(); at];
        if at > 0 {
            self.sums.read_range(0, &mut values)?;
        }
        let mut k = 0;
        Ok(pairs.map(|(x, y)| {
            let own = &values[ends[k] - x.cols * y.cols..ends[k]];
            k += 1;
            Small::from_iterator(x.cols, y.cols, own.iter().map(|&value| value.to_small()))
        }))
    }

    /// Writes one or two coefficient matrices to the device, at once; they are there until the next call.
    pub(crate) fn upload<const N: usize>(&mut self, matrices: [&Small<T::Small>; N]) -> Result<[Coefficients; N]> {
        let values: Vec<T> = matrices.iter().flat_map(|c| c.iter()).map(|&value| T::of_small(value)).collect();
        if !values.is_empty() {
            self.coefficients.write_range(0, &values)?;
        }
        let mut next = 0;
        Ok(matrices.map(|c| {
            let at = next;
            next += c.len();
            Coefficients { at, shape: c.shape() }
        }))
    }

    /// The first columns of Y become alpha X C + beta Y, enqueued; beta = 0 never reads Y.
    pub(crate) fn combine(
        &mut self,
        alpha: f64,
        x: Columns<'_, T>,
        c: &Small<T::Small>,
        beta: f64,
        y: &mut Dense<T>,
    ) -> Result<()> {
        let [c] = self.upload([c])?;
        self.combine_by(alpha, x, c, beta, y)
    }

    /// As [`Products::combine`], with coefficients that are on the device.
    pub(crate) fn combine_by(
        &self,
        alpha: f64,
        x: Columns<'_, T>,
        c: Coefficients,
        beta: f64,
        y: &mut Dense<T>,
    ) -> Result<()> {
        let Coefficients { at, shape: (p, q) } = c;
        assert!(p == x.cols && q <= y.cols(), "coefficients of other blocks");
        if q == 0 {
            return Ok(());
        }
        let (context, range) = (&self.context, items(&self.context, self.rows));
        let [alpha, beta] = [alpha, beta].map(<T::Real as Scalar>::from_f64);
        let (p, q, y) = (p as u32, q as u32, Out::shared(y.values()));
        Program::new().combine(context, range, self.rows, p, q, alpha, x.of.values(), at, &self.coefficients, beta, y)
    }

    /// The first columns of Y become X, enqueued.
    pub(crate) fn copy(&self, x: Columns<'_, T>, y: &mut Dense<T>) -> Result<()> {
        let len = x.cols * self.rows;
        y.as_vector_mut().slice_mut(0..len)?.copy_from(x.of.as_vector().slice(0..len)?)
    }

    /// The first columns of Y become A X, enqueued.
    pub(crate) fn apply(&mut self, a: &dyn Operator<T>, x: Columns<'_, T>, y: &mut Dense<T>) -> Result<()> {
        if let Some(a) = a.as_csr().filter(|_| x.cols == x.of.cols()) {
            return ops::mm(T::one(), a, x.of, T::zero(), y);
        }
        self.by_column(x, y, |x, y| a.apply(T::one(), x, T::zero(), y))
    }

    /// The first columns of Z become M^-1 R, enqueued.
    pub(crate) fn precondition(
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
