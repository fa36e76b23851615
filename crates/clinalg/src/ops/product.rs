//! Matrix-vector products, and the operators that solvers accept in place of matrices.

mod multi;
mod sparse;
pub(crate) mod tuning;

use super::fused::{Fused, Operands, is_gpu};
use super::{DotParts, SpaceDots, SpaceVector, norm2};
use crate::matrix::{Band, Csr, Dense, Prepared, Values, Vector};
use crate::runtime::kernels::{band, dense};
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Context, Error, Real, Result, Scalar};

/// A linear map y = A x on device vectors, those of one device or of a team: a matrix of any storage, a stencil, a
/// matrix applied on
/// the fly.
pub trait Operator<T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    /// Length of the result.
    fn rows(&self) -> usize;
    /// Length of the argument.
    fn cols(&self) -> usize;
    /// Where the operator lives: a context, or the layout of a team.
    fn context(&self) -> &V::Space;
    /// The matrix itself where it is one of compressed sparse rows, for methods that need its entries.
    fn as_csr(&self) -> Option<&Csr<T>> {
        None
    }
    /// y = alpha A x + beta y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Context`] or, for another partition on a team, [`Error::Shape`] that names `x` or `y`.
    fn apply(&self, alpha: T, x: &V, beta: T, y: &mut V) -> Result<()>;
    /// y = A x for a square A, and x'y (x is conjugated) in the same pass where the operator can; enqueued.
    ///
    /// # Errors
    /// As [`Operator::apply`]; [`Error::Length`] where A is not square.
    fn apply_dot(&self, x: &V, y: &mut V, dot: &mut V::Dots) -> Result<()> {
        self.apply(T::one(), x, T::zero(), y)?;
        dot.set_dot(x, y)
    }
    /// y = alpha A x + beta u, where `plus` holds beta and u, and the dot products of y with w (y is conjugated) and with itself, in the same
    /// pass where the operator can; enqueued. With alpha = -1, beta = 1 and the right-hand side for u, this is the residual
    /// and its norm.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Context`] or, for another partition on a team, [`Error::Shape`] that names `x`, `u`, `w`
    /// or `y`.
    fn apply_dots(&self, alpha: T, x: &V, plus: Option<(T, &V)>, w: &V, y: &mut V, dots: &mut V::Dots) -> Result<()> {
        let fused = Fused { alpha, x, plus, w, y, dots };
        fused.check(self.context(), self.rows(), self.cols())?;
        fused.apart(self)
    }
}

/// An operator whose transpose can be applied as well.
pub trait Transposed<T: Scalar>: Operator<T> {
    /// y = alpha A' x + beta y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// As [`Operator::apply`].
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()>;
    /// y = alpha A^H x + beta y with the conjugate transpose, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// As [`Operator::apply`].
    fn apply_conj_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()>;
    /// The Frobenius norm of A; `None` where its entries are not available, so that methods estimate it from products.
    ///
    /// # Errors
    /// What the device reports.
    fn frobenius_norm(&self) -> Result<Option<f64>> {
        Ok(None)
    }
}

/// An operator that takes several right-hand sides at once.
pub trait MultiRhs<T: Scalar>: Operator<T> {
    /// Y = alpha A X + beta Y for the columns of X and Y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Context`] that names `x` or `y`.
    fn apply_multi(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()>;
}

/// Y = alpha A X + beta Y with several right-hand sides at once, the columns of X: the matrix is read once for four or
/// eight of them. `beta = 0` never reads `y`.
///
/// # Errors
/// [`Error::Shape`] unless X has as many rows as A has columns and Y the rows of A and the columns of X;
/// [`Error::Context`].
pub fn mm<T: Scalar>(alpha: T, a: &(impl MultiRhs<T> + ?Sized), x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
    a.apply_multi(alpha, x, beta, y)
}

/// y = alpha A x + beta y; `beta = 0` never reads `y`.
///
/// # Errors
/// [`Error::Length`] or [`Error::Context`] that names `x` or `y`.
pub fn mv<T: Scalar, V: SpaceVector<Scalar = T>>(
    alpha: T,
    a: &(impl Operator<T, V> + ?Sized),
    x: &V,
    beta: T,
    y: &mut V,
) -> Result<()> {
    a.apply(alpha, x, beta, y)
}

/// y = alpha A' x + beta y; `beta = 0` never reads `y`.
///
/// A sparse matrix converts itself to its transpose on the first call and keeps it, so that the
/// result is deterministic and later calls are as fast as [`mv`].
///
/// # Errors
/// As [`mv`].
pub fn mv_transposed<T: Scalar>(
    alpha: T,
    a: &(impl Transposed<T> + ?Sized),
    x: &Vector<T>,
    beta: T,
    y: &mut Vector<T>,
) -> Result<()> {
    a.apply_transposed(alpha, x, beta, y)
}

/// y = alpha A^H x + beta y with the conjugate transpose of A; for real types [`mv_transposed`].
///
/// # Errors
/// As [`mv`].
pub fn mv_conj_transposed<T: Scalar>(
    alpha: T,
    a: &(impl Transposed<T> + ?Sized),
    x: &Vector<T>,
    beta: T,
    y: &mut Vector<T>,
) -> Result<()> {
    a.apply_conj_transposed(alpha, x, beta, y)
}

/// An error unless x and y fit a `rows` x `cols` operator of `context`.
pub(crate) fn check_operands<T: Scalar>(
    context: &Context,
    rows: usize,
    cols: usize,
    x: &Vector<T>,
    y: &Vector<T>,
) -> Result<()> {
    for (argument, expected, vector) in [("x", cols, x), ("y", rows, y)] {
        if !context.same(vector.context()) {
            return Err(Error::Context { argument });
        }
        crate::error::check_length(argument, expected, vector.len())?;
    }
    Ok(())
}

/// Maximum number of partial sums of a dot product that a product with a pattern leaves: enough for all compute units, few for the kernel that adds them up.
pub(super) const MOST_PARTS: usize = 4096;

impl<T: Scalar> Operator<T> for Band<T> {
    fn rows(&self) -> usize {
        Band::rows(self)
    }

    fn cols(&self) -> usize {
        Band::cols(self)
    }

    fn context(&self) -> &Context {
        Band::context(self)
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let (context, rows, cols) = (Band::context(self), Band::rows(self), Band::cols(self));
        check_operands(context, rows, cols, x, y)?;
        let Prepared { program, range } = &self.products().one;
        let (kl, width, band) = (self.kl(), self.kl() + 1 + self.ku(), self.values());
        let (x, y) = (x.buffer(), Out::shared(y.buffer()));
        program.mv_band(context, *range, rows, cols, kl, width, alpha, band, x, beta, y)
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        if T::IS_COMPLEX {
            self.apply(T::one(), x, T::zero(), y)?;
            return dot.set(x, y);
        }
        self.apply_dots(T::one(), x, None, x, y, dot)
    }

    fn apply_dots(
        &self,
        alpha: T,
        x: &Vector<T>,
        plus: Option<(T, &Vector<T>)>,
        w: &Vector<T>,
        y: &mut Vector<T>,
        dots: &mut DotParts<T>,
    ) -> Result<()> {
        let context = Band::context(self);
        let fused = Fused { alpha, x, plus, w, y, dots };
        fused.check(context, Band::rows(self), Band::cols(self))?;
        match (Band::rows(self), is_gpu(context)) {
            (rows, _) if rows == 0 || T::IS_COMPLEX => fused.apart(self),
            (_, true) => self.fused_on_gpu(MOST_PARTS, fused),
            (_, false) => {
                fused.on_cpu(self, self.products().one.range.groups(), |operands| self.product_with_dots(operands))
            }
        }
    }
}

impl<T: Scalar> Band<T> {
    /// The product on a CPU, with dot products.
    fn product_with_dots(&self, operands: Operands<'_, T>) -> Result<()> {
        let Prepared { program, range } = &self.products().one;
        let (context, rows, cols) = (Band::context(self), Band::rows(self), Band::cols(self));
        let (kl, width, band) = (self.kl(), self.kl() + 1 + self.ku(), self.values());
        let Operands { alpha, x, beta, y, u, w, partial } = operands;
        band::Dots::from(*program)
            .mv_band_cpu(context, *range, rows, cols, kl, width, alpha, band, x, beta, y, u, w, partial)
    }
}

impl<T: Scalar> Operator<T> for Dense<T> {
    fn rows(&self) -> usize {
        Dense::rows(self)
    }

    fn cols(&self) -> usize {
        Dense::cols(self)
    }

    fn context(&self) -> &Context {
        Dense::context(self)
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let context = Dense::context(self);
        let rows = Dense::rows(self);
        check_operands(context, rows, Dense::cols(self), x, y)?;
        let products = self.products();
        let Prepared { program, range } = products.one;
        let (cols, a, x) = (Dense::cols(self), self.values(), x.buffer());
        let y = Out::shared(y.buffer());
        if context.family() == KernelFamily::Cpu {
            return program.mv_dense_cpu(context, range, rows, cols, alpha, a, x, beta, y);
        }
        let (parts, chunk) = (products.parts, products.chunk);
        if parts == 1 {
            return program.mv_dense_gpu(context, range, rows, cols, parts, chunk, alpha, a, x, beta, y, y);
        }
        let partial = self.partial(parts)?;
        let cut = Out::shared(&*partial);
        program.mv_dense_gpu(context, range, rows, cols, parts, chunk, alpha, a, x, beta, cut, y)?;
        let (join, range) = (dense::Program::<T>::new(), Range::d1(rows, context.local()));
        join.join_parts(context, range, rows, parts, alpha, cut.as_input(), beta, y)
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        if T::IS_COMPLEX {
            self.apply(T::one(), x, T::zero(), y)?;
            return dot.set(x, y);
        }
        self.apply_dots(T::one(), x, None, x, y, dot)
    }

    fn apply_dots(
        &self,
        alpha: T,
        x: &Vector<T>,
        plus: Option<(T, &Vector<T>)>,
        w: &Vector<T>,
        y: &mut Vector<T>,
        dots: &mut DotParts<T>,
    ) -> Result<()> {
        let context = Dense::context(self);
        let fused = Fused { alpha, x, plus, w, y, dots };
        fused.check(context, Dense::rows(self), Dense::cols(self))?;
        match (Dense::rows(self), is_gpu(context)) {
            (rows, _) if rows == 0 || T::IS_COMPLEX => fused.apart(self),
            (_, true) => self.fused_on_gpu(MOST_PARTS, fused),
            (_, false) => {
                fused.on_cpu(self, self.products().one.range.groups(), |operands| self.product_with_dots(operands))
            }
        }
    }
}

impl<T: Scalar> Dense<T> {
    /// The product on a CPU, with dot products.
    fn product_with_dots(&self, operands: Operands<'_, T>) -> Result<()> {
        let Prepared { program, range } = self.products().one;
        let (context, rows, cols) = (Dense::context(self), Dense::rows(self), Dense::cols(self));
        let Operands { alpha, x, beta, y, u, w, partial } = operands;
        dense::Dots::from(program).mv_dense_cpu(
            context,
            range,
            rows,
            cols,
            alpha,
            self.values(),
            x,
            beta,
            y,
            u,
            w,
            partial,
        )
    }

    /// With the transpose, or the conjugate transpose.
    fn transposed_product(&self, conjugate: bool, alpha: T, x: &Vector<T>, beta: T, y: &Vector<T>) -> Result<()> {
        let context = Dense::context(self);
        let (rows, cols) = (Dense::rows(self), Dense::cols(self));
        check_operands(context, cols, rows, x, y)?;
        let Prepared { program, range } = self.products().transposed;
        let program = program.conjugate_unless((conjugate && T::IS_COMPLEX).into(), 0);
        let (a, x, y) = (self.values(), x.buffer(), Out::shared(y.buffer()));
        program.mv_dense_transposed(context, range, rows, cols, alpha, a, x, beta, y)
    }
}

impl<T: Scalar> Transposed<T> for Dense<T> {
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.transposed_product(false, alpha, x, beta, y)
    }

    fn apply_conj_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.transposed_product(true, alpha, x, beta, y)
    }

    fn frobenius_norm(&self) -> Result<Option<f64>> {
        Ok(Some(norm2(self)?.into_f64()))
    }
}

impl<T: Scalar> Band<T> {
    /// With the transpose, or the conjugate transpose.
    fn transposed_product(&self, conjugate: bool, alpha: T, x: &Vector<T>, beta: T, y: &Vector<T>) -> Result<()> {
        let context = Band::context(self);
        let (rows, cols) = (Band::rows(self), Band::cols(self));
        check_operands(context, cols, rows, x, y)?;
        let program = band::Program::new().conjugate_unless((conjugate && T::IS_COMPLEX).into(), 0);
        let (range, kl, width) = (Range::d1(cols, context.local()), self.kl(), self.kl() + 1 + self.ku());
        let (band, x, y) = (self.values(), x.buffer(), Out::shared(y.buffer()));
        program.mv_band_transposed(context, range, rows, cols, kl, width, alpha, band, x, beta, y)
    }
}

impl<T: Scalar> Transposed<T> for Band<T> {
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.transposed_product(false, alpha, x, beta, y)
    }

    fn apply_conj_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.transposed_product(true, alpha, x, beta, y)
    }

    fn frobenius_norm(&self) -> Result<Option<f64>> {
        Ok(Some(norm2(self)?.into_f64()))
    }
}
