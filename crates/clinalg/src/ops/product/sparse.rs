//! Products with sparse matrices.

use super::{MOST_PARTS, Operator, Transposed, check_operands, tuning};
use crate::matrix::{Columns, Csr, Format, Prepared, Product, RowProduct, SortedColumns, Stencil, Values, Vector};
use crate::ops::fused::{Fused, Operands, is_gpu};
use crate::ops::{DotParts, norm2};
use crate::runtime::kernels::{csr, csr_dot, sell, stencil};
use crate::runtime::{In, Kernel, KernelFamily, Out, Range};
use crate::{Context, Real, Result, Scalar};

impl<T: Scalar> Operator<T> for Csr<T> {
    fn rows(&self) -> usize {
        Csr::rows(self)
    }

    fn cols(&self) -> usize {
        Csr::cols(self)
    }

    fn context(&self) -> &Context {
        Csr::context(self)
    }

    fn as_csr(&self) -> Option<&Csr<T>> {
        Some(self)
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        check_operands(context, s.rows, s.cols, x, y)?;
        if s.rows == 0 {
            return Ok(());
        }
        self.product(alpha, x, beta, y)
    }

    fn apply_dot(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        if T::IS_COMPLEX {
            self.apply(T::one(), x, T::zero(), y)?;
            return dot.set(x, y);
        }
        if context.family() == KernelFamily::Gpu && s.rows == s.cols && s.rows > 0 {
            let tiles = |stencil: &Stencil<T>| stencil.tiles.as_ref().is_some_and(|t| t.groups[0] <= MOST_PARTS);
            if let Some(stencil) = self.stencil().filter(|stencil| tiles(stencil)) {
                check_operands(context, s.rows, s.cols, x, y)?;
                return self.apply_dot_by_tiles(stencil, MOST_PARTS, x, y, dot);
            }
        }
        let cut = self.plan().balanced.as_ref().is_some_and(|blocks| blocks.cut.is_some());
        let plain = !cut && matches!(self.format(), Format::Csr | Format::Balanced);
        let by_rows = plain && self.plan().rows == RowProduct::Short;
        if context.family() == KernelFamily::Gpu && by_rows && s.rows == s.cols && s.rows > 0 {
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
            (rows, _) if rows == 0 || T::IS_COMPLEX => fused.apart(self),
            (_, true) => self.fused_on_gpu(MOST_PARTS, fused),
            (_, false) => fused.on_cpu(self, self.items(), |operands| self.product_with_dots(operands)),
        }
    }
}

impl<T: Scalar> Csr<T> {
    /// Number of items of the product on a CPU, each of which computes a part of the rows.
    fn items(&self) -> usize {
        let range = match (self.stencil(), &self.plan().product) {
            (Some(stencil), _) => &stencil.product.range,
            (None, Product::Rows(launch) | Product::Runs(launch)) => &launch.range,
            (None, Product::Dia(launch)) => &launch.range,
            (None, Product::Sell(launch)) => &launch.range,
            (None, Product::Balanced | Product::Bsr(_) | Product::Sorted) => return usize::MAX,
        };
        range.groups()
    }

    fn product(&self, alpha: T, x: &Vector<T>, beta: T, y: &Vector<T>) -> Result<()> {
        let s = self.structure();
        let (plan, context) = (self.plan(), Csr::context(self));
        let (rows, offset, column) = (s.rows, &s.offset, &s.column);
        let real = (alpha.re(), beta.re());
        let [value, from] = [self.values(), x.buffer()].map(In::parts);
        let to = Out::parts(y.buffer());
        if let Some(stencil) = self.stencil() {
            let (p, (alpha, beta)) = (&*stencil.dia, real);
            let Prepared { program, range } = &stencil.product;
            let (full, coefficient) = (&stencil.full, In::parts(&stencil.coefficient));
            return match &stencil.tiles {
                Some(tiles) => {
                    let [left, right, low, high] = tiles.inner;
                    program.mv_stencil_gpu(
                        context,
                        *range,
                        rows,
                        tiles.line,
                        left,
                        right,
                        low,
                        high,
                        &tiles.full,
                        full,
                        &p.mask,
                        &p.delta,
                        coefficient,
                        alpha,
                        offset,
                        column,
                        value,
                        from,
                        beta,
                        to,
                    )
                }
                None => program.mv_stencil_cpu(
                    context,
                    *range,
                    rows,
                    full,
                    &p.mask,
                    &p.delta,
                    coefficient,
                    alpha,
                    offset,
                    column,
                    value,
                    from,
                    beta,
                    to,
                ),
            };
        }
        match &plan.product {
            Product::Rows(launch) => self.product_by_rows(launch, alpha, x, beta, y),
            Product::Runs(Prepared { program, range }) => {
                let (runs, (alpha, beta)) = (plan.runs.as_ref().expect("found with the product"), real);
                let (split, first, start) = (&runs.split, &runs.first, &runs.start);
                program.mv_csr_runs(context, *range, split, first, start, alpha, offset, column, value, from, beta, to)
            }
            Product::Dia(Prepared { program, range }) => {
                let (p, (alpha, beta)) = (plan.dia.as_ref().expect("found with the product"), real);
                let (full, mask, delta) = (&p.full, &p.mask, &p.delta);
                match context.family() {
                    KernelFamily::Gpu => {
                        let diagonal = In::parts(self.dia_values(p)?);
                        program.mv_dia_gpu(
                            context, *range, rows, full, mask, delta, diagonal, alpha, offset, column, value, from,
                            beta, to,
                        )
                    }
                    KernelFamily::Cpu => program.mv_dia_cpu(
                        context, *range, rows, full, mask, delta, alpha, offset, column, value, from, beta, to,
                    ),
                }
            }
            Product::Sell(Prepared { program, range }) => {
                let (sell, (alpha, beta)) = (plan.sell.as_ref().expect("found with the product"), real);
                let placed = In::parts(self.sell_values(sell)?);
                program.mv_sell(
                    context,
                    *range,
                    rows,
                    &sell.split,
                    &sell.start,
                    &sell.column,
                    placed,
                    alpha,
                    offset,
                    column,
                    value,
                    from,
                    beta,
                    to,
                )
            }
            Product::Bsr(Prepared { program, range }) => {
                let (bsr, (alpha, beta)) = (plan.bsr.as_ref().expect("found with the product"), real);
                let blocks = rows / bsr.size;
                program.mv_bsr(context, *range, blocks, alpha, offset, &bsr.block, value, from, beta, to)
            }
            Product::Sorted => {
                let (sorted, (alpha, beta)) = (plan.sorted.as_ref().expect("found with the product"), real);
                let placed = In::parts(self.sorted_values(sorted)?);
                let (range, start, order) = (sorted.range, &sorted.start, &sorted.order);
                match &sorted.columns {
                    SortedColumns::Whole { program, column } => program.mv_sell_sorted(
                        context, range, rows, start, order, alpha, offset, column, placed, from, beta, to,
                    ),
                    SortedColumns::Short { program, base, narrow, column } => program.mv_sell_sorted(
                        context,
                        range,
                        rows,
                        start,
                        order,
                        base,
                        narrow,
                        alpha,
                        offset,
                        column.as_ref().unwrap_or(&s.column),
                        placed,
                        from,
                        beta,
                        to,
                    ),
                }
            }
            Product::Balanced => {
                let (blocks, (alpha, beta)) = (plan.balanced.as_ref().expect("found with the product"), real);
                let (range, start, begin) = (blocks.range, &blocks.start, &blocks.begin);
                let Some(cut) = &blocks.cut else {
                    return match &blocks.columns {
                        Columns::Whole(program) => program.mv_nnz_balanced(
                            context, range, start, begin, alpha, offset, column, value, from, beta, to,
                        ),
                        Columns::Short { program, base, narrow, .. } => program.mv_nnz_balanced(
                            context, range, start, begin, base, narrow, alpha, offset, column, value, from, beta, to,
                        ),
                    };
                };
                let held = self.partial(blocks, 1)?;
                let partial = Out::parts(&*held);
                match &blocks.columns {
                    Columns::Whole(program) => program.mv_cut_balanced(
                        context, range, start, begin, alpha, offset, column, value, from, beta, partial, to,
                    ),
                    Columns::Short { program, base, narrow, .. } => program.mv_cut_balanced(
                        context, range, start, begin, base, narrow, alpha, offset, column, value, from, beta, partial,
                        to,
                    ),
                }?;
                if cut.rows == 0 {
                    return Ok(());
                }
                let range = Range::d1(cut.join_groups(blocks.items) * blocks.items, blocks.items);
                let (far, partial) = (cut.far as u32, partial.as_input());
                cut.join.join_balanced(context, range, cut.rows, far, &cut.row, &cut.from, &cut.to, partial, alpha, to)
            }
        }
    }

    /// A kernel of each program of the products on a CPU, without and with dot products.
    pub(crate) fn product_kernels(&self) -> Option<[Kernel; 2]> {
        if Csr::context(self).family() == KernelFamily::Gpu {
            return None;
        }
        let of_rows = |program: csr::Program<T>, id| [program.kernel(id), csr::Dots::from(program).kernel(id)];
        let of_diagonals =
            |program: stencil::Program<T::Real>, id| [program.kernel(id), stencil::Dots::from(program).kernel(id)];
        match (self.stencil(), &self.plan().product) {
            (Some(stencil), _) => Some(of_diagonals(stencil.product.program, stencil::MV_STENCIL)),
            (None, Product::Rows(launch)) => Some(of_rows(launch.program, csr::MV_CSR)),
            (None, Product::Runs(launch)) => Some(of_rows(launch.program, csr::MV_CSR_RUNS)),
            (None, Product::Dia(launch)) => Some(of_diagonals(launch.program, stencil::MV_DIA)),
            (None, Product::Sell(launch)) => {
                let program = launch.program;
                Some([program.kernel(sell::MV_SELL), sell::Dots::from(program).kernel(sell::MV_SELL)])
            }
            (None, Product::Balanced | Product::Bsr(_) | Product::Sorted) => None,
        }
    }

    fn product_by_rows(
        &self,
        Prepared { program, range }: &Prepared<csr::Program<T>>,
        alpha: T,
        x: &Vector<T>,
        beta: T,
        y: &Vector<T>,
    ) -> Result<()> {
        let s = self.structure();
        let (context, offset, column, value) = (Csr::context(self), &s.offset, &s.column, self.values());
        let (x, y) = (x.buffer(), Out::shared(y.buffer()));
        match &self.plan().split {
            Some(split) => program.mv_csr_cpu(context, *range, s.rows, split, alpha, offset, column, value, x, beta, y),
            None => program.mv_csr_gpu(context, *range, s.rows, alpha, offset, column, value, x, beta, y),
        }
    }

    /// The product on a CPU, with dot products.
    fn product_with_dots(&self, operands: Operands<'_, T>) -> Result<()> {
        let s = self.structure();
        let (plan, context) = (self.plan(), Csr::context(self));
        let (rows, offset, column) = (s.rows, &s.offset, &s.column);
        let value = In::parts(self.values());
        let Operands { alpha, x, beta, y, u, w, partial } = operands.as_real();
        if let Some(Stencil { dia: p, full, coefficient, product: Prepared { program, range }, .. }) = self.stencil() {
            let (program, coefficient) = (stencil::Dots::from(*program), In::parts(coefficient));
            return program.mv_stencil_cpu(
                context,
                *range,
                rows,
                full,
                &p.mask,
                &p.delta,
                coefficient,
                alpha,
                offset,
                column,
                value,
                x,
                beta,
                y,
                u,
                w,
                partial,
            );
        }
        match &plan.product {
            Product::Rows(Prepared { program, range }) => {
                let split = plan.split.as_ref().expect("made with the product of a CPU");
                let Operands { alpha, x, beta, y, .. } = operands;
                csr::Dots::from(*program).mv_csr_cpu(
                    context,
                    *range,
                    rows,
                    split,
                    alpha,
                    offset,
                    column,
                    self.values(),
                    x,
                    beta,
                    y,
                    u,
                    w,
                    partial,
                )
            }
            Product::Runs(Prepared { program, range }) => {
                let runs = plan.runs.as_ref().expect("found with the product");
                let (split, first, start) = (&runs.split, &runs.first, &runs.start);
                csr::Dots::from(*program).mv_csr_runs(
                    context, *range, split, first, start, alpha, offset, column, value, x, beta, y, u, w, partial,
                )
            }
            Product::Dia(Prepared { program, range }) => {
                let p = plan.dia.as_ref().expect("found with the product");
                stencil::Dots::from(*program).mv_dia_cpu(
                    context, *range, rows, &p.full, &p.mask, &p.delta, alpha, offset, column, value, x, beta, y, u, w,
                    partial,
                )
            }
            Product::Sell(Prepared { program, range }) => {
                let sell = plan.sell.as_ref().expect("found with the product");
                let placed = In::parts(self.sell_values(sell)?);
                sell::Dots::from(*program).mv_sell(
                    context,
                    *range,
                    rows,
                    &sell.split,
                    &sell.start,
                    &sell.column,
                    placed,
                    alpha,
                    offset,
                    column,
                    value,
                    x,
                    beta,
                    y,
                    u,
                    w,
                    partial,
                )
            }
            Product::Balanced | Product::Bsr(_) | Product::Sorted => unreachable!("for GPUs"),
        }
    }

    /// y = A x for a square A with short rows on a GPU, and x'y in the same pass.
    pub(crate) fn apply_dot_by_rows(&self, x: &Vector<T>, y: &mut Vector<T>, dot: &mut DotParts<T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let [local, rows, ..] = context.choice(&tuning::MV_CSR_DOT, T::PRECISION, s.rows);
        let (groups, row_tiles) = DotParts::<T>::groups(s.rows, (local * rows) as usize);
        let program = csr_dot::Program::<T::Real>::new().local(local.into()).rows(rows.into());
        let range = Range::d1(groups * local as usize, local as usize);
        let (value, x, y) = (In::parts(self.values()), In::parts(x.buffer()), Out::parts(y.buffer()));
        program.mv_csr_row_dot(
            context,
            range,
            s.rows,
            row_tiles as u32,
            &s.offset,
            &s.column,
            value,
            x,
            y,
            dot.parts(groups),
        )
    }
}

impl<T: Scalar> Csr<T> {
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
        let p = &*stencil.dia;
        let tiles = stencil.tiles.as_ref().expect("a stencil on a GPU has tiles");
        let [local, _] = tiles.size;
        let [across, along] = tiles.groups;
        let turns = along.div_ceil((most / across).max(1));
        let groups = along.div_ceil(turns);
        let range = Range::d2([across * local, groups], [local, 1]);
        let [left, right, low, high] = tiles.inner;
        let [coefficient, value, x] = [&stencil.coefficient, self.values(), x.buffer()].map(In::parts);
        let partial = dot.parts(across * groups);
        tiles.program::<T>(context, p).mv_stencil_dot(
            context,
            range,
            s.rows,
            tiles.line,
            left,
            right,
            low,
            high,
            along,
            turns as u32,
            &tiles.full,
            &stencil.full,
            &p.mask,
            &p.delta,
            coefficient,
            &s.offset,
            &s.column,
            value,
            x,
            Out::parts(y.buffer()),
            partial,
        )
    }
}

impl<T: Scalar> Transposed<T> for Csr<T> {
    fn apply_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        check_operands(Csr::context(self), Csr::cols(self), Csr::rows(self), x, y)?;
        self.transposed()?.apply(alpha, x, beta, y)
    }

    fn apply_conj_transposed(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        if !T::IS_COMPLEX || Csr::cols(self) == 0 {
            return self.apply_transposed(alpha, x, beta, y);
        }
        let context = Csr::context(self);
        check_operands(context, Csr::cols(self), Csr::rows(self), x, y)?;
        let transposed = self.transposed()?;
        let Product::Rows(launch) = &transposed.plan().product else {
            unreachable!("complex matrices are multiplied by compressed rows");
        };
        let launch = Prepared { program: launch.program.conjugate(1), range: launch.range };
        transposed.product_by_rows(&launch, alpha, x, beta, y)
    }

    fn frobenius_norm(&self) -> Result<Option<f64>> {
        Ok(Some(norm2(self)?.into_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextOptions;
    use crate::runtime::devices;
    use crate::tuner::{stencil, whole_numbers};

    /// The product with a constant stencil and its dot product, in few parts with several rounds each and in many.
    fn dots<T: Real>(context: &Context) {
        let parts = stencil::<T>(130 * 130).unwrap();
        let a = Csr::from_parts(context, &parts).unwrap();
        let stencil = a.stencil().expect("constant coefficients are found");
        let x = whole_numbers::<T>(parts.rows, 3);
        let mut want = vec![T::zero(); parts.rows];
        crate::canary::oracle(&parts).mv(T::one(), &x, T::zero(), &mut want);
        let want_dot: f64 = x.iter().zip(&want).map(|(x, y)| x.into_f64() * y.into_f64()).sum();
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
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        for device in &devices {
            let options = ContextOptions { family: Some(KernelFamily::Gpu), ..ContextOptions::default() };
            let context = Context::new(device, &options).unwrap();
            dots::<f32>(&context);
            if context.require::<f64>().is_ok() {
                dots::<f64>(&context);
            }
        }
    }
}
