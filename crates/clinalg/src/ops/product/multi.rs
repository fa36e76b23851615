//! Products with several right-hand sides.

use super::{MultiRhs, Operator};
use crate::matrix::{Band, Csr, Dense, Dia, MultiLaunch, Values};
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::{Buffer, Error, Result, Scalar};

/// The range of a product with several right-hand sides; an error unless X and Y fit.
fn multi_range<T: Scalar>(a: &impl Operator<T>, launch: &MultiLaunch<T>, x: &Dense<T>, y: &Dense<T>) -> Result<Range> {
    let context = a.context();
    for (argument, (rows, cols), dense) in [("x", (a.cols(), x.cols()), x), ("y", (a.rows(), x.cols()), y)] {
        if !context.same(Dense::context(dense)) {
            return Err(Error::Context { argument });
        }
        if (Dense::rows(dense), Dense::cols(dense)) != (rows, cols) {
            let got = format!("{} x {}", Dense::rows(dense), Dense::cols(dense));
            return Err(Error::Shape { argument, expected: format!("{rows} x {cols}"), got });
        }
    }
    Ok(launch.range(a.rows(), x.cols()))
}

impl<T: Scalar> MultiRhs<T> for Csr<T> {
    fn apply_multi(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let (s, plan) = (self.structure(), self.plan());
        let (rows, cols, nrhs) = (s.rows, s.cols, x.cols());
        let (context, value) = (Csr::context(self), self.values());
        let to = y.values();
        if context.family() == KernelFamily::Gpu && rows > 0 {
            let dia = |launch: &MultiLaunch<T>, p: &Dia, full: &Buffer<u8>, diagonal: &Buffer<T>| {
                let range = multi_range(self, launch, x, y)?;
                let (alpha, beta) = (alpha.re(), beta.re());
                let [diagonal, value, x] = [diagonal, value, x.values()].map(In::parts);
                launch.program.mm_dia(
                    context,
                    range,
                    rows,
                    cols,
                    nrhs,
                    full,
                    &p.mask,
                    &p.delta,
                    diagonal,
                    alpha,
                    &s.offset,
                    &s.column,
                    value,
                    x,
                    beta,
                    Out::parts(to),
                )
            };
            if let Some(stencil) = self.stencil() {
                return dia(&stencil.multi, &stencil.dia, &stencil.full, &stencil.coefficient);
            }
            if let Some(p) = &plan.dia {
                return dia(&plan.multi, p, &p.full, self.dia_values(p)?);
            }
        }
        let range = multi_range(self, &plan.multi, x, y)?;
        if self.interleaves(nrhs) {
            return self.multiply_interleaved(alpha, x, beta, y);
        }
        plan.multi.program.mm_csr(
            context,
            range,
            rows,
            cols,
            nrhs,
            alpha,
            &s.offset,
            &s.column,
            value,
            x.values(),
            beta,
            Out::shared(to),
        )
    }
}

/// Right-hand sides that are interleaved; `SIDE_BY_SIDE` of `multivector.cl`.
const SIDE_BY_SIDE: usize = 4;

/// Minimum number of entries per column of A for which the columns of X are interleaved, which takes two passes over them.
const ENTRIES_OF_COLUMN: usize = 2;

impl<T: Scalar> Csr<T> {
    /// Whether the right-hand sides are interleaved first, so that an entry gathers one line of memory for four of them.
    fn interleaves(&self, nrhs: usize) -> bool {
        let s = self.structure();
        let gpu = Csr::context(self).family() == KernelFamily::Gpu;
        gpu && !T::IS_COMPLEX && nrhs > 1 && s.nnz > 0 && s.nnz >= ENTRIES_OF_COLUMN * s.cols
    }

    fn multiply_interleaved(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let (s, plan) = (self.structure(), self.plan());
        let (context, value, nrhs) = (Csr::context(self), In::parts(self.values()), x.cols());
        let (alpha, beta, to) = (alpha.re(), beta.re(), Out::parts(y.values()));
        let launch = &plan.multi;
        let held = self.side_by_side(SIDE_BY_SIDE)?;
        let every = Range::d1(s.cols, context.local());
        for first in (0..nrhs).step_by(SIDE_BY_SIDE) {
            let from = In::parts(x.values());
            launch.program.interleave_columns(context, every, s.cols, first, nrhs, from, Out::parts(&*held))?;
            let from = In::parts(&*held);
            let Some((blocks, cut)) = plan.balanced.as_ref().and_then(|blocks| Some((blocks, blocks.cut.as_ref()?)))
            else {
                let (range, offset) = (launch.one_pass(s.rows), &s.offset);
                launch.program.mm_csr_interleaved(
                    context, range, s.rows, first, nrhs, alpha, offset, &s.column, value, from, beta, to,
                )?;
                continue;
            };
            let columns = (nrhs - first).min(SIDE_BY_SIDE);
            let held = self.partial(blocks, SIDE_BY_SIDE)?;
            let (program, items, partial) = (cut.multi, cut.multi_items, Out::parts(&*held));
            program.mm_cut_balanced(
                context,
                Range::d1(blocks.count * items, items),
                s.rows,
                first,
                columns as u32,
                &blocks.start,
                &blocks.begin,
                alpha,
                &s.offset,
                &s.column,
                value,
                from,
                beta,
                partial,
                to,
            )?;
            if cut.rows > 0 {
                let range = Range::d2([cut.join_groups(items) * items, columns], [items, 1]);
                let (far, partial) = (cut.far as u32, partial.as_input());
                let (row, from, end) = (&cut.row, &cut.from, &cut.to);
                program.join_columns(
                    context,
                    range,
                    cut.rows,
                    far,
                    blocks.count,
                    s.rows,
                    first,
                    row,
                    from,
                    end,
                    partial,
                    alpha,
                    to,
                )?;
            }
        }
        Ok(())
    }
}

/// Y = alpha A X + beta Y for a dense A.
fn multiply_dense<T: Scalar>(
    a: &Dense<T>,
    launch: &MultiLaunch<T>,
    (alpha, x, beta, y): (T, &Dense<T>, T, &mut Dense<T>),
) -> Result<()> {
    let range = multi_range(a, launch, x, y)?;
    let (context, rows, cols) = (Dense::context(a), Dense::rows(a), Dense::cols(a));
    let to = Out::shared(y.values());
    launch.program.mm_dense(context, range, rows, cols, x.cols(), alpha, a.values(), x.values(), beta, to)
}

impl<T: Scalar> MultiRhs<T> for Dense<T> {
    fn apply_multi(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        multiply_dense(self, self.products().multi(x.cols()), (alpha, x, beta, y))
    }
}

impl<T: Scalar> MultiRhs<T> for Band<T> {
    fn apply_multi(&self, alpha: T, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
        let launch = &self.products().multi;
        let range = multi_range(self, launch, x, y)?;
        let (context, rows, cols) = (Band::context(self), Band::rows(self), Band::cols(self));
        let (kl, width, to) = (self.kl(), self.kl() + 1 + self.ku(), Out::shared(y.values()));
        launch.program.mm_band(
            context,
            range,
            rows,
            cols,
            x.cols(),
            kl,
            width,
            alpha,
            self.values(),
            x.values(),
            beta,
            to,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::devices;
    use crate::tuner::whole_numbers;
    use crate::{Context, ContextOptions};

    /// The kernel for tensor cores, with these emulated in local memory.
    #[test]
    fn products_on_tensor_cores_fit_every_shape() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        let context = Context::new(&devices[0], &ContextOptions::default()).unwrap();
        if context.require::<f64>().is_err() {
            return clinalg_testing::skip("no double precision");
        }
        for (rows, cols, nrhs) in [(2, 2, 1), (130, 150, 8), (64, 256, 5), (66, 1002, 16), (300, 64, 19), (4, 0, 3)] {
            let [a, x, old] = [(rows * cols, 1), (cols * nrhs, 2), (rows * nrhs, 3)].map(|(n, s)| whole_numbers(n, s));
            let mut want = old.clone();
            for (q, want) in want.chunks_mut(rows).enumerate() {
                clinalg_reference::dense::mv(2.0, &a, rows, cols, &x[q * cols..(q + 1) * cols], 3.0, want);
            }
            let a = Dense::from_column_major(&context, rows, cols, &a).unwrap();
            let x = Dense::from_column_major(&context, cols, nrhs, &x).unwrap();
            for choice in [[128, 32, 1, 8, 2, 0], [256, 256, 2, 8, 1, 0], [256, 64, 2, 16, 2, 0], [64, 64, 4, 8, 1, 0]]
            {
                let launch = MultiLaunch::tensor(choice, 0);
                let mut y = Dense::from_column_major(&context, rows, nrhs, &old).unwrap();
                multiply_dense(&a, &launch, (2.0, &x, 3.0, &mut y)).unwrap();
                assert_eq!(y.to_column_major().unwrap(), want, "{rows} x {cols}, {nrhs} right-hand sides, {choice:?}");
                let mut y = Dense::from_column_major(&context, rows, nrhs, &vec![f64::NAN; old.len()]).unwrap();
                multiply_dense(&a, &launch, (2.0, &x, 0.0, &mut y)).unwrap();
                let twice: Vec<f64> = want.iter().zip(&old).map(|(want, old)| want - 3.0 * old).collect();
                assert_eq!(y.to_column_major().unwrap(), twice, "{rows} x {cols}, {nrhs}, {choice:?}, Y not read");
            }
        }
    }
}
