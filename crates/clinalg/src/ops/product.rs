//! Matrix-vector products and what a solver takes for a matrix.

pub(crate) mod tuning;

use super::DotParts;
use super::fused::{Fused, is_gpu};
use crate::matrix::{Band, Blocks, Columns, Csr, Dense, Format, ManyLaunch, Stencil, Tiles, Values, Vector};
use crate::runtime::{Arg, Kernel, Launch, Range, Shape, files};
use crate::tune::{Op, RowProduct};
use crate::{Context, Error, Real, Result};

/// A linear map y = A x on device vectors: a matrix of any storage, a stencil, a matrix applied on
/// the fly.
pub trait Operator<T: Real> {
    /// Length of the result.
    fn rows(&self) -> usize;
    /// Length of the argument.
    fn cols(&self) -> usize;
    /// The context the operator lives in.
    fn context(&self) -> &Context;
    /// y = alpha A x + beta y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `x` or `y`.
    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()>;
    /// y = A x for a square A, and x'y in the same pass where the operator can; enqueued.
    ///
    /// # Errors
    /// As [`Operator::apply`]; [`Error::Length`] where A is not square.
    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        self.apply(T::one(), x, T::zero(), y)?;
        dot.set(x, y)
    }
    /// y = alpha A x + beta u, where `plus` holds beta and u, and the dot products of y with w and with itself, in the same
    /// pass where the operator can; enqueued. With alpha = -1, beta = 1 and the right-hand side for u, this is the residual
    /// and its norm.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `x`, `u`, `w` or `y`.
    fn apply_dots(
        &self,
        alpha: T,
        x: &Vector<T>,
        plus: Option<(T, &Vector<T>)>,
        w: &Vector<T>,
        y: &mut Vector<T>,
        dots: &mut DotParts<T>,
    ) -> Result<()> {
        let fused = Fused { alpha, x, plus, w, y, dots };
        fused.check(self.context(), self.rows(), self.cols())?;
        fused.apart(self)
    }
}

/// An operator whose transpose can be applied as well.
pub trait Transposed<T: Real>: Operator<T> {
    /// y = alpha A' x + beta y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// As [`Operator::apply`].
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()>;
}

/// An operator that takes several right-hand sides at once.
pub trait Many<T: Real>: Operator<T> {
    /// Y = alpha A X + beta Y for the columns of X and Y, enqueued; `beta = 0` never reads `y`.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Context`] that names `x` or `y`.
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()>;
}

/// Y = alpha A X + beta Y with several right-hand sides at once, the columns of X: the matrix is read once for four or
/// eight of them. `beta = 0` never reads `y`.
///
/// # Errors
/// [`Error::Shape`] unless X has as many rows as A has columns and Y the rows of A and the columns of X;
/// [`Error::Context`].
pub fn mm<T: Real>(alpha: T, a: &(impl Many<T> + ?Sized), x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
    a.apply_many(alpha, x, beta, y)
}

/// y = alpha A x + beta y; `beta = 0` never reads `y`.
///
/// # Errors
/// [`Error::Length`] or [`Error::Context`] that names `x` or `y`.
pub fn mv<T: Real>(alpha: T, a: &(impl Operator<T> + ?Sized), x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
    a.apply(alpha, x, beta, y)
}

/// y = alpha A' x + beta y; `beta = 0` never reads `y`.
///
/// A sparse matrix converts itself to its transpose on the first call and keeps it, so that the
/// result is deterministic and later calls are as fast as [`mv`].
///
/// # Errors
/// As [`mv`].
pub fn mv_transposed<T: Real>(
    alpha: T,
    a: &(impl Transposed<T> + ?Sized),
    x: &Vector<T>,
    beta: T,
    y: &mut Vector<T>,
) -> Result<()> {
    a.apply_transposed(alpha, x, beta, y)
}

/// An error unless x and y fit a `rows` x `cols` operator of `context`.
pub(crate) fn check_operands<T: Real>(
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

/// The launch of a kernel of `many.cl`; `matrix` are the arguments before X.
fn launch_many<T: Real>(
    a: &(impl Operator<T> + Values<T>),
    launch: &ManyLaunch,
    (x, beta, y): (&Dense<T>, T, &mut Dense<T>),
    matrix: &[Arg],
) -> Result<()> {
    let context = Operator::context(a);
    for (argument, (rows, cols), dense) in [("x", (a.cols(), x.cols()), x), ("y", (a.rows(), x.cols()), &*y)] {
        if !context.same(Dense::context(dense)) {
            return Err(Error::Context { argument });
        }
        if (Dense::rows(dense), Dense::cols(dense)) != (rows, cols) {
            let got = format!("{} x {}", Dense::rows(dense), Dense::cols(dense));
            return Err(Error::Shape { argument, expected: format!("{rows} x {cols}"), got });
        }
    }
    let sizes = [Arg::size(a.rows()), Arg::size(a.cols()), Arg::size(x.cols())];
    let vectors = [x.values().arg(), beta.arg().0, y.values().arg()];
    let args = [sizes.as_slice(), matrix, &vectors].concat();
    context.run(&launch.kernel, launch.range(a.rows(), x.cols()), &args)
}

impl<T: Real> Many<T> for Csr<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let s = self.structure();
        let plan = self.plan();
        let rows = [alpha.arg().0, s.offset.arg(), s.column.arg(), self.values().arg()];
        if Csr::context(self).shape() == Shape::Gpu && s.rows > 0 {
            if let Some(stencil) = self.stencil() {
                let p = &stencil.pattern;
                let pattern = [stencil.full.arg(), p.mask.arg(), p.delta.arg(), stencil.coefficient.arg()];
                return launch_many(self, &stencil.many, (x, beta, y), &[pattern, rows].concat());
            }
            if let Some(p) = &plan.pattern {
                let pattern = [p.full.arg(), p.mask.arg(), p.delta.arg(), self.slots(p)?.arg()];
                return launch_many(self, &plan.many, (x, beta, y), &[pattern, rows].concat());
            }
        }
        launch_many(self, &plan.many, (x, beta, y), &rows)
    }
}

impl<T: Real> Many<T> for Dense<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let matrix = [alpha.arg().0, self.values().arg()];
        launch_many(self, self.products().many(x.cols()), (x, beta, y), &matrix)
    }
}

impl<T: Real> Many<T> for Band<T> {
    fn apply_many(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let width = self.kl() + 1 + self.ku();
        let matrix = [Arg::size(self.kl()), Arg::size(width), alpha.arg().0, self.values().arg()];
        launch_many(self, &self.products().many, (x, beta, y), &matrix)
    }
}

impl<T: Real> Operator<T> for Csr<T> {
    fn rows(&self) -> usize {
        Csr::rows(self)
    }

    fn cols(&self) -> usize {
        Csr::cols(self)
    }

    fn context(&self) -> &Context {
        Csr::context(self)
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        check_operands(context, s.rows, s.cols, x, y)?;
        if s.rows == 0 {
            return Ok(());
        }
        if let (None, Some((blocks, Columns::Cut { rows, row, from, to, join }))) = (self.stencil(), self.blocks()) {
            let partial = self.partial(blocks)?;
            let [a, o, c, v, x, b, y] = self.operands(alpha, x, beta, y);
            let args = [Arg::U32(s.nnz as u32), blocks.start.arg(), a, o, c, v, x, b, partial.arg(), y];
            context.start(&self.plan().product, &args)?;
            let args = [Arg::size(*rows), row.arg(), from.arg(), to.arg(), partial.arg(), a, y];
            return context.start(join, &args);
        }
        let (launch, args) = self.in_one(alpha, x, beta, y)?;
        context.start(&launch, &args)
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        if context.shape() == Shape::Gpu && s.rows == s.cols && s.rows > 0 {
            let tiles = |stencil: &Stencil<T>| stencil.tiles.as_ref().is_some_and(|t| t.groups[0] <= MOST_PARTS);
            if let Some(stencil) = self.stencil().filter(|stencil| tiles(stencil)) {
                check_operands(context, s.rows, s.cols, x, y)?;
                return self.apply_dot_by_tiles(stencil, MOST_PARTS, x, y, dot);
            }
        }
        let cut = self.plan().blocks.as_ref().is_some_and(|blocks| matches!(blocks.columns, Columns::Cut { .. }));
        let plain = !cut && matches!(self.format(), Format::Rows | Format::Blocks);
        let by_rows = plain && self.plan().rows == RowProduct::Short;
        if context.shape() == Shape::Gpu && by_rows && s.rows == s.cols && s.rows > 0 {
            check_operands(context, s.rows, s.cols, x, y)?;
            return self.apply_dot_by_rows(x, y, dot);
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
        let context = Csr::context(self);
        let fused = Fused { alpha, x, plus, w, y, dots };
        fused.check(context, Csr::rows(self), Csr::cols(self))?;
        match (Csr::rows(self), is_gpu(context)) {
            (0, _) => fused.apart(self),
            (_, true) => self.fused_on_gpu(MOST_PARTS, fused),
            (_, false) => fused.on_processor(self, |alpha, x, beta, y| self.in_one(alpha, x, beta, y)),
        }
    }
}

impl<T: Real> Csr<T> {
    /// What every product is given at the end: alpha, offsets, columns, values, x, beta and y.
    fn operands(&self, alpha: T, x: &Vector<T>, beta: T, y: &Vector<T>) -> [Arg; 7] {
        let s = self.structure();
        let [x, y] = [x, y].map(|v| v.buffer().arg());
        [alpha.arg().0, s.offset.arg(), s.column.arg(), self.values().arg(), x, beta.arg().0, y]
    }

    /// The blocks, and how they are cut, where the matrix has no pattern.
    fn blocks(&self) -> Option<(&Blocks, &Columns)> {
        let plan = self.plan();
        let blocks = plan.blocks.as_ref().filter(|_| plan.pattern.is_none())?;
        Some((blocks, &blocks.columns))
    }

    /// The product where it takes one launch: of all formats but rows that are cut.
    fn in_one(&self, alpha: T, x: &Vector<T>, beta: T, y: &Vector<T>) -> Result<(Launch, Vec<Arg>)> {
        let context = Csr::context(self);
        let rows = Arg::size(self.structure().rows);
        let rest = self.operands(alpha, x, beta, y);
        if let Some(stencil) = self.stencil() {
            let p = &stencil.pattern;
            let marks = [stencil.full.arg(), p.mask.arg(), p.delta.arg(), stencil.coefficient.arg()];
            let args = match &stencil.tiles {
                Some(tiles) => {
                    [tiles_args(self.structure().rows, tiles).as_slice(), &[tiles.full.arg()], &marks, &rest].concat()
                }
                None => [[rows].as_slice(), &marks, &rest].concat(),
            };
            return Ok((stencil.product, args));
        }
        let plan = self.plan();
        let made = |args: &[Arg], rest: &[Arg]| Ok((plan.product, [args, rest].concat()));
        if let Some(p) = &plan.pattern {
            let (full, mask, delta) = (p.full.arg(), p.mask.arg(), p.delta.arg());
            return match context.shape() {
                Shape::Gpu => made(&[rows, full, mask, delta, self.slots(p)?.arg()], &rest),
                Shape::Cpu => made(&[rows, full, mask, delta], &rest),
            };
        }
        if let Some(blocks) = &plan.blocks {
            let [a, o, _, v, x, b, y] = rest;
            return match &blocks.columns {
                Columns::Short(base, column) => {
                    made(&[blocks.start.arg(), base.arg()], &[a, o, column.arg(), v, x, b, y])
                }
                _ => made(&[blocks.start.arg()], &rest),
            };
        }
        if let Some(chunks) = &plan.chunks {
            let placed = self.chunk_values(chunks)?.arg();
            return made(&[rows, chunks.split.arg(), chunks.start.arg(), chunks.column.arg(), placed], &rest);
        }
        if let Some(runs) = &plan.runs {
            return made(&[runs.split.arg(), runs.first.arg(), runs.start.arg()], &rest);
        }
        match &plan.split {
            Some(split) => made(&[rows, split.arg()], &rest),
            None => made(&[rows], &rest),
        }
    }

    /// y = A x for a square A with short rows on a GPU, and x'y in the same pass.
    fn apply_dot_by_rows(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let [local, rows, ..] = context.choice(Op::MvCsrDot, T::PRECISION, s.rows);
        let (groups, turns) = DotParts::<T>::groups(s.rows, (local * rows) as usize);
        let args = [
            Arg::size(s.rows),
            Arg::U32(turns as u32),
            s.offset.arg(),
            s.column.arg(),
            self.values().arg(),
            x.buffer().arg(),
            y.buffer().arg(),
            dot.parts(groups),
        ];
        let kernel = Kernel::new(&files::KRYLOV, "mv_csr_row_dot_gpu", T::PRECISION);
        let kernel = kernel.with(&[("LOCAL", local.into()), ("ROWS", rows.into())]);
        context.run(&kernel, Range::d1(groups * local as usize, local as usize), &args)
    }
}

/// Parts of a dot product that a product with a pattern leaves: enough for all units, few for the kernel that joins them.
pub(super) const MOST_PARTS: usize = 4096;

/// Rows and lines of a stencil, and where all tiles are whole.
pub(super) fn tiles_args(rows: usize, tiles: &Tiles) -> [Arg; 6] {
    let [left, right, low, high] = tiles.inner.map(Arg::U32);
    [Arg::size(rows), Arg::size(tiles.line), left, right, low, high]
}

impl<T: Real> Csr<T> {
    /// y = A x with constant coefficients on a GPU, and x'y in the same pass, in at most `most` parts.
    fn apply_dot_by_tiles(
        &self,
        stencil: &Stencil<T>,
        most: usize,
        x: &Vector<T>,
        y: &mut Vector<T>,
        dot: &mut DotParts<T>,
    ) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let p = &*stencil.pattern;
        let tiles = stencil.tiles.as_ref().expect("a stencil on a GPU has tiles");
        let [local, _] = tiles.size;
        let [across, along] = tiles.groups;
        let turns = along.div_ceil((most / across).max(1));
        let groups = along.div_ceil(turns);
        let sizes = tiles_args(s.rows, tiles);
        let args = [
            sizes.as_slice(),
            &[Arg::size(along), Arg::U32(turns as u32), tiles.full.arg()],
            &[stencil.full.arg(), p.mask.arg(), p.delta.arg(), stencil.coefficient.arg()],
            &[s.offset.arg(), s.column.arg(), self.values().arg(), x.buffer().arg(), y.buffer().arg()],
            &[dot.parts(across * groups)],
        ];
        let range = Range::d2([across * local, groups], [local, 1]);
        context.run(&tiles.kernel::<T>(context, p, "mv_stencil_dot_gpu"), range, &args.concat())
    }
}

impl<T: Real> Transposed<T> for Csr<T> {
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        check_operands(Csr::context(self), Csr::cols(self), Csr::rows(self), x, y)?;
        self.transposed()?.apply(alpha, x, beta, y)
    }
}

impl<T: Real> Operator<T> for Band<T> {
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
        let context = Band::context(self);
        check_operands(context, Band::rows(self), Band::cols(self), x, y)?;
        let (launch, args) = self.in_one(alpha, x, beta, y)?;
        context.start(&launch, &args)
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
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
            (0, _) => fused.apart(self),
            (_, true) => self.fused_on_gpu(MOST_PARTS, fused),
            (_, false) => fused.on_processor(self, |alpha, x, beta, y| self.in_one(alpha, x, beta, y)),
        }
    }
}

impl<T: Real> Band<T> {
    /// The product.
    fn in_one(&self, alpha: T, x: &Vector<T>, beta: T, y: &Vector<T>) -> Result<(Launch, Vec<Arg>)> {
        let sizes = [Band::rows(self), Band::cols(self), self.kl(), self.kl() + 1 + self.ku()].map(Arg::size);
        let [x, y] = [x, y].map(|v| v.buffer().arg());
        let args = [sizes.as_slice(), &[alpha.arg().0, self.values().arg(), x, beta.arg().0, y]].concat();
        Ok((self.products().one, args))
    }
}

impl<T: Real> Operator<T> for Dense<T> {
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
        if context.shape() == Shape::Cpu {
            let (launch, args) = self.in_one(alpha, x, beta, y)?;
            return context.start(&launch, &args);
        }
        let sizes = [Arg::size(rows), Arg::size(Dense::cols(self))];
        let [alpha, a, x, beta, y] =
            [alpha.arg().0, self.values().arg(), x.buffer().arg(), beta.arg().0, y.buffer().arg()];
        let parts = [Arg::size(products.parts), Arg::size(products.chunk)];
        if products.parts == 1 {
            return context.start(&products.one, &[sizes.as_slice(), &parts, &[alpha, a, x, beta, y, y]].concat());
        }
        let partial = self.partial(products.parts)?;
        let args = [sizes.as_slice(), &parts, &[alpha, a, x, beta, partial.arg(), y]].concat();
        context.start(&products.one, &args)?;
        let args = [sizes[0], parts[0], alpha, partial.arg(), beta, y];
        let join = Kernel::new(&files::DENSE, "join_parts_gpu", T::PRECISION);
        context.run(&join, Range::d1(rows, context.local()), &args)
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
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
            (0, _) => fused.apart(self),
            (_, true) => self.fused_on_gpu(MOST_PARTS, fused),
            (_, false) => fused.on_processor(self, |alpha, x, beta, y| self.in_one(alpha, x, beta, y)),
        }
    }
}

impl<T: Real> Dense<T> {
    /// The product on a processor.
    fn in_one(&self, alpha: T, x: &Vector<T>, beta: T, y: &Vector<T>) -> Result<(Launch, Vec<Arg>)> {
        let sizes = [Dense::rows(self), Dense::cols(self)].map(Arg::size);
        let [x, y] = [x, y].map(|v| v.buffer().arg());
        let args = [sizes.as_slice(), &[alpha.arg().0, self.values().arg(), x, beta.arg().0, y]].concat();
        Ok((self.products().one, args))
    }
}

impl<T: Real> Transposed<T> for Dense<T> {
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let context = Dense::context(self);
        let cols = Dense::cols(self);
        check_operands(context, cols, Dense::rows(self), x, y)?;
        let args = [
            Arg::size(Dense::rows(self)),
            Arg::size(cols),
            alpha.arg().0,
            self.values().arg(),
            x.buffer().arg(),
            beta.arg().0,
            y.buffer().arg(),
        ];
        context.start(&self.products().transposed, &args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextOptions;
    use crate::runtime::{Element, devices};
    use crate::tune::whole_numbers;

    /// The product with a constant stencil and its dot product, in few parts of several turns and in many.
    fn dots<T: Real>(context: &Context) {
        let parts = tuning::stencil::<T>(130 * 130).unwrap();
        let a = Csr::from_parts(context, &parts).unwrap();
        let stencil = a.stencil().expect("constant coefficients are found");
        let x = whole_numbers::<T>(parts.rows, 3);
        let mut want = vec![T::zero(); parts.rows];
        parts.mv(T::one(), &x, T::zero(), &mut want);
        let want_dot: f64 = x.iter().zip(&want).map(|(x, y)| x.wide() * y.wide()).sum();
        let x = Vector::from_slice(context, &x).unwrap();
        for most in [1, 3, 7, 4096] {
            let mut y = Vector::filled(context, parts.rows, T::nan()).unwrap();
            let mut dot = DotParts::new(context).unwrap();
            a.apply_dot_by_tiles(stencil, most, &x, &mut y, &mut dot).unwrap();
            assert_eq!(y.to_vec().unwrap(), want, "at most {most} parts");
            assert_eq!(dot.value().unwrap(), want_dot, "at most {most} parts");
        }
    }

    #[test]
    fn products_with_a_constant_stencil_leave_their_dot_product() {
        let Ok(devices) = devices() else { return eprintln!("skipped: no device") };
        for device in &devices {
            let options = ContextOptions { shape: Some(Shape::Gpu), ..ContextOptions::default() };
            let context = Context::new(device, &options).unwrap();
            dots::<f32>(&context);
            if context.require::<f64>().is_ok() {
                dots::<f64>(&context);
            }
        }
    }

    /// The kernel for tensor cores, these by local memory.
    #[test]
    fn products_on_tensor_cores_fit_every_shape() {
        let Ok(devices) = devices() else { return eprintln!("skipped: no device") };
        let context = Context::new(&devices[0], &ContextOptions::default()).unwrap();
        if context.require::<f64>().is_err() {
            return eprintln!("skipped: no double precision");
        }
        for (rows, cols, right) in [(2, 2, 1), (130, 150, 8), (64, 256, 5), (66, 1002, 16), (300, 64, 19), (4, 0, 3)] {
            let [a, x, old] =
                [(rows * cols, 1), (cols * right, 2), (rows * right, 3)].map(|(n, s)| whole_numbers(n, s));
            let mut want = old.clone();
            for (q, want) in want.chunks_mut(rows).enumerate() {
                crate::reference::dense::mv(2.0, &a, rows, cols, &x[q * cols..(q + 1) * cols], 3.0, want);
            }
            let a = Dense::from_column_major(&context, rows, cols, &a).unwrap();
            let x = Dense::from_column_major(&context, cols, right, &x).unwrap();
            for choice in [[128, 32, 1, 8, 2, 0], [256, 256, 2, 8, 1, 0], [256, 64, 2, 16, 2, 0], [64, 64, 4, 8, 1, 0]]
            {
                let launch = ManyLaunch::tensor(choice, f64::PRECISION, 0);
                let matrix = [2.0_f64.arg().0, a.values().arg()];
                let mut y = Dense::from_column_major(&context, rows, right, &old).unwrap();
                launch_many(&a, &launch, (&x, 3.0, &mut y), &matrix).unwrap();
                assert_eq!(y.to_column_major().unwrap(), want, "{rows} x {cols}, {right} right-hand sides, {choice:?}");
                let mut y = Dense::from_column_major(&context, rows, right, &vec![f64::NAN; old.len()]).unwrap();
                launch_many(&a, &launch, (&x, 0.0, &mut y), &matrix).unwrap();
                let twice: Vec<f64> = want.iter().zip(&old).map(|(want, old)| want - 3.0 * old).collect();
                assert_eq!(y.to_column_major().unwrap(), twice, "{rows} x {cols}, {right}, {choice:?}, Y not read");
            }
        }
    }
}
