//! Products that leave dot products of their result, in the same pass.
//!
//! A part of each is left per work-group or chunk, and the kernels of a solver join them, so that nothing is read back. The
//! partition depends on the device and the matrix only.

use super::product::MOST_PARTS;
use super::{Operator, SpaceDots, SpaceVector};
use crate::matrix::RowProduct;
use crate::matrix::{
    Band, Columns, Csr, Dense, Dia, NnzBalanced, Sorted, SortedColumns, Stencil, Tiles, Values, Vector,
};
use crate::runtime::kernels::{band, csr, dense, nnz_balanced, sell_sorted, stencil};
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::{Context, Result, Scalar};

/// Diagonals of a band up to which a loop over them is unrolled.
const UNROLLED: usize = 32;

/// What a kernel with dot products takes besides the matrix.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a, T: Scalar> {
    pub(super) alpha: T,
    pub(super) x: In<'a, T>,
    pub(super) beta: T,
    pub(super) y: Out<'a, T>,
    pub(super) u: In<'a, T::Real>,
    pub(super) w: In<'a, T::Real>,
    /// The place of the parts.
    pub(super) partial: Out<'a, T::Real>,
}

impl<'a, T: Scalar> Operands<'a, T> {
    /// For kernels of reals, which alone make dot products in the same pass.
    pub(super) fn as_real(self) -> Operands<'a, T::Real> {
        let Operands { alpha, x, beta, y, u, w, partial } = self;
        Operands { alpha: alpha.re(), x: x.as_parts(), beta: beta.re(), y: y.as_parts(), u, w, partial }
    }
}

/// y = alpha A x + beta u with the dot products y'w and y'y.
pub(super) struct Fused<'a, T: Scalar, V: SpaceVector<Scalar = T> = Vector<T>> {
    pub(super) alpha: T,
    pub(super) x: &'a V,
    pub(super) plus: Option<(T, &'a V)>,
    pub(super) w: &'a V,
    pub(super) y: &'a mut V,
    pub(super) dots: &'a mut V::Dots,
}

impl<T: Scalar, V: SpaceVector<Scalar = T>> Fused<'_, T, V> {
    /// An error unless all vectors fit a `rows` x `cols` operator in `space`.
    pub(super) fn check(&self, space: &V::Space, rows: usize, cols: usize) -> Result<()> {
        let vectors = [("x", cols, Some(self.x)), ("y", rows, Some(&*self.y))];
        let others = [("u", rows, self.plus.map(|(_, u)| u)), ("w", rows, Some(self.w))];
        for (argument, size, vector) in vectors.into_iter().chain(others) {
            vector.map_or(Ok(()), |vector| vector.check(space, size, argument))?;
        }
        self.dots.check_space(space)
    }

    /// The product, and the dot products by a launch of their own.
    pub(super) fn apart(self, a: &(impl Operator<T, V> + ?Sized)) -> Result<()> {
        let beta = match self.plus {
            Some((beta, u)) => {
                self.y.set_copy(u)?;
                beta
            }
            None => T::zero(),
        };
        a.apply(self.alpha, self.x, beta, self.y)?;
        self.dots.set_dots(self.y, self.w)
    }
}

impl<T: Scalar> Fused<'_, T> {
    /// What a kernel takes that leaves `parts` parts of each dot product.
    fn operands(&mut self, parts: usize) -> Operands<'_, T> {
        let (beta, u) = self.plus.map_or((T::zero(), self.x), |(beta, u)| (beta, u));
        Operands {
            alpha: self.alpha,
            x: In::from(self.x.buffer()),
            beta,
            y: Out::shared(self.y.buffer()),
            u: In::parts(u.buffer()),
            w: In::parts(self.w.buffer()),
            partial: self.dots.pairs(parts),
        }
    }

    /// Runs the product of a CPU, a part per item.
    pub(super) fn on_cpu(
        mut self,
        a: &(impl Operator<T> + ?Sized),
        items: usize,
        run: impl FnOnce(Operands<'_, T>) -> Result<()>,
    ) -> Result<()> {
        if T::IS_COMPLEX || items > MOST_PARTS {
            return self.apart(a);
        }
        run(self.operands(items))
    }
}

/// How many work-groups leave a part each where there are `blocks` blocks of work, and how many blocks each takes then.
fn turns(blocks: usize, most: usize) -> (usize, usize) {
    let turns = blocks.div_ceil(most).max(1);
    (blocks.div_ceil(turns), turns)
}

impl<T: Scalar> Csr<T> {
    /// On a GPU, in at most `most` parts.
    pub(super) fn fused_on_gpu(&self, most: usize, fused: Fused<'_, T>) -> Result<()> {
        let plan = self.plan();
        match (self.stencil(), &plan.dia, &plan.balanced) {
            (Some(stencil), _, _) => match &stencil.tiles {
                Some(tiles) if tiles.groups[0] <= most => self.fused_by_tiles(stencil, tiles, most, fused),
                _ => fused.apart(self),
            },
            (None, Some(dia), _) => self.fused_by_dia(dia, most, fused),
            (None, None, Some(blocks)) => self.fused_by_nnz_balanced(blocks, most, fused),
            (None, None, None) => match &plan.sorted {
                Some(sorted) => self.fused_by_sorted(sorted, most, fused),
                None if plan.bsr.is_some() => fused.apart(self),
                None => self.fused_by_rows(most, fused),
            },
        }
    }

    fn fused_by_tiles(&self, stencil: &Stencil<T>, tiles: &Tiles, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let (p, [local, _]) = (&*stencil.dia, tiles.size);
        let [across, along] = tiles.groups;
        let (groups, turns) = turns(along, most / across);
        let Operands { alpha, x, beta, y, u, w, partial } = fused.operands(across * groups).as_real();
        let [left, right, low, high] = tiles.inner;
        let [coefficient, value] = [&stencil.coefficient, self.values()].map(In::parts);
        let range = Range::d2([across * local, groups], [local, 1]);
        stencil::Dots::from(tiles.program::<T>(context, p)).mv_stencil_gpu(
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
            alpha,
            &s.offset,
            &s.column,
            value,
            x,
            beta,
            y,
            u,
            w,
            partial,
        )
    }

    fn fused_by_dia(&self, p: &Dia, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let packed = self.dia_values(p)?;
        let local = context.local();
        let (groups, turns) = turns(s.rows.div_ceil(local), most);
        let Operands { alpha, x, beta, y, u, w, partial } = fused.operands(groups).as_real();
        let [diagonal, value] = [packed, self.values()].map(In::parts);
        let range = Range::d1(groups * local, local);
        stencil::Dots::from(p.program::<T>(context)).mv_dia_gpu(
            context,
            range,
            s.rows,
            turns as u32,
            &p.full,
            &p.mask,
            &p.delta,
            diagonal,
            alpha,
            &s.offset,
            &s.column,
            value,
            x,
            beta,
            y,
            u,
            w,
            partial,
        )
    }

    fn fused_by_nnz_balanced(&self, blocks: &NnzBalanced<T::Real>, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let (start, begin, offset, value) = (&blocks.start, &blocks.begin, &s.offset, In::parts(self.values()));
        let (count, items) = (blocks.count as u32, blocks.items);
        let Some(cut) = &blocks.cut else {
            let (groups, turns) = turns(blocks.count, most);
            let (range, turns) = (Range::d1(groups * items, items), turns as u32);
            let Operands { alpha, x, beta, y, u, w, partial } = fused.operands(groups).as_real();
            return match &blocks.columns {
                Columns::Short { program, base, narrow, .. } => nnz_balanced::ShortDots::from(*program)
                    .mv_nnz_balanced(
                        context, range, count, turns, start, begin, base, narrow, alpha, offset, &s.column, value, x,
                        beta, y, u, w, partial,
                    ),
                Columns::Whole(program) => nnz_balanced::Dots::from(*program).mv_nnz_balanced(
                    context, range, count, turns, start, begin, alpha, offset, &s.column, value, x, beta, y, u, w,
                    partial,
                ),
            };
        };
        // Parts of the blocks, and behind them those of the rows that go over several.
        let (groups, block_turns) = turns(blocks.count, most / 2);
        let (joins, join_turns) = match cut.rows {
            0 => (0, 1),
            _ => turns(cut.join_groups(items), most / 2),
        };
        let parts = (groups + joins) as u32;
        let Operands { alpha, x, beta, y, u, w, partial } = fused.operands(groups + joins).as_real();
        let held = self.partial(blocks, 1)?;
        let rest = Out::parts(&*held);
        let (range, block_turns) = (Range::d1(groups * items, items), block_turns as u32);
        match &blocks.columns {
            Columns::Whole(program) => nnz_balanced::Dots::from(*program).mv_cut_balanced(
                context,
                range,
                count,
                block_turns,
                parts,
                start,
                begin,
                alpha,
                offset,
                &s.column,
                value,
                x,
                beta,
                rest,
                y,
                u,
                w,
                partial,
            ),
            Columns::Short { program, base, narrow, .. } => nnz_balanced::ShortDots::from(*program).mv_cut_balanced(
                context,
                range,
                count,
                block_turns,
                parts,
                start,
                begin,
                base,
                narrow,
                alpha,
                offset,
                &s.column,
                value,
                x,
                beta,
                rest,
                y,
                u,
                w,
                partial,
            ),
        }?;
        if joins == 0 {
            return Ok(());
        }
        let (range, join_turns, before) = (Range::d1(joins * items, items), join_turns as u32, groups as u32);
        let (row, from, to, rest, far) = (&cut.row, &cut.from, &cut.to, rest.as_input(), cut.far as u32);
        nnz_balanced::Dots::from(cut.join).join_balanced(
            context, range, cut.rows, far, join_turns, before, parts, row, from, to, rest, alpha, y, w, partial,
        )
    }

    fn fused_by_sorted(&self, sorted: &Sorted<T::Real>, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let value = In::parts(self.sorted_values(sorted)?);
        let (groups, turns) = turns(s.rows.div_ceil(sorted.items), most);
        let (range, turns) = (Range::d1(groups * sorted.items, sorted.items), turns as u32);
        let Operands { alpha, x, beta, y, u, w, partial } = fused.operands(groups).as_real();
        let (start, order, offset) = (&sorted.start, &sorted.order, &s.offset);
        match &sorted.columns {
            SortedColumns::Whole { program, column } => sell_sorted::Dots::from(*program).mv_sell_sorted(
                context, range, s.rows, turns, start, order, alpha, offset, column, value, x, beta, y, u, w, partial,
            ),
            SortedColumns::Short { program, base, narrow, column } => sell_sorted::ShortDots::from(*program)
                .mv_sell_sorted(
                    context,
                    range,
                    s.rows,
                    turns,
                    start,
                    order,
                    base,
                    narrow,
                    alpha,
                    offset,
                    column.as_ref().unwrap_or(&s.column),
                    value,
                    x,
                    beta,
                    y,
                    u,
                    w,
                    partial,
                ),
        }
    }

    fn fused_by_rows(&self, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let local = context.local();
        let lanes = match self.plan().rows {
            RowProduct::Short => 1,
            RowProduct::Medium => 8,
            RowProduct::Long => 32,
        };
        let (groups, turns) = turns((s.rows * lanes).div_ceil(local), most);
        let Operands { alpha, x, beta, y, u, w, partial } = fused.operands(groups);
        let (range, turns) = (Range::d1(groups * local, local), turns as u32);
        csr::Dots::<T>::new().lanes(lanes as u64).mv_csr_gpu(
            context,
            range,
            s.rows,
            turns,
            alpha,
            &s.offset,
            &s.column,
            self.values(),
            x,
            beta,
            y,
            u,
            w,
            partial,
        )
    }
}

impl<T: Scalar> Band<T> {
    /// On a GPU, in at most `most` parts.
    pub(super) fn fused_on_gpu(&self, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let context = Band::context(self);
        let (rows, width, local) = (Band::rows(self), self.kl() + 1 + self.ku(), context.local());
        let (groups, turns) = turns(rows.div_ceil(local), most);
        let Operands { alpha, x, beta, y, u, w, partial } = fused.operands(groups).as_real();
        let program = band::Dots::<T>::new();
        let program = if width <= UNROLLED { program.diagonals(width as u64) } else { program };
        let (range, turns, band) = (Range::d1(groups * local, local), turns as u32, In::parts(self.values()));
        program.mv_band_gpu(
            context,
            range,
            rows,
            turns,
            Band::cols(self),
            self.kl(),
            width,
            alpha,
            band,
            x,
            beta,
            y,
            u,
            w,
            partial,
        )
    }
}

impl<T: Scalar> Dense<T> {
    /// On a GPU, in at most `most` parts.
    pub(super) fn fused_on_gpu(&self, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let context = Dense::context(self);
        let (rows, local) = (Dense::rows(self), context.local());
        let products = self.products();
        let (groups, joins) = (products.one.range.groups(), rows.div_ceil(local));
        // The parts of the product itself count too where the join makes those that are kept.
        if groups > most || joins > most {
            return fused.apart(self);
        }
        let (parts, chunk, range) = (products.parts, products.chunk, products.one.range);
        let held = if parts > 1 { Some(self.partial(parts)?) } else { None };
        let program = dense::Dots::from(products.one.program);
        let Operands { alpha, x, beta, y, u, w, partial } = fused.operands(groups);
        let cut = held.as_ref().map_or(y, |held| Out::shared(&**held));
        let (cols, a) = (Dense::cols(self), self.values());
        program.mv_dense_gpu(context, range, rows, cols, parts, chunk, alpha, a, x, beta, cut, y, u, w, partial)?;
        let Some(held) = &held else { return Ok(()) };
        let cut = In::parts(&**held);
        let Operands { alpha, beta, y, u, w, partial, .. } = fused.operands(joins).as_real();
        let range = Range::d1(rows, local);
        dense::Dots::<T>::new().join_parts(context, range, rows, parts, alpha, cut, beta, y, u, w, partial)
    }
}

/// Whether products of this context are those for GPUs. The fused ones are for reals.
pub(super) fn is_gpu(context: &Context) -> bool {
    context.family() == KernelFamily::Gpu
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canary::oracle;
    use crate::matrix::CsrParts;
    use crate::matrix::Format;
    use crate::ops::DotParts;
    use crate::runtime::devices;
    use crate::{ContextOptions, Real, tuner};

    /// `rows` rows of `width(i)` entries spread over the columns, with whole numbers.
    fn scattered<T: Real>(rows: usize, cols: usize, width: impl Fn(usize) -> usize) -> CsrParts<T> {
        let mut a = CsrParts { rows, cols, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
        for i in 0..rows {
            let width = width(i).min(cols);
            let gap = cols.checked_div(width).unwrap_or(1);
            // The gap leaves each entry a range of its own.
            a.indices.extend((0..width).map(|k| k * gap + (i * 7919 + k * k * 104_729) % gap));
            a.offsets.push(a.indices.len());
        }
        a.values = tuner::whole_numbers(a.indices.len(), 5);
        a
    }

    /// y = alpha A x + beta u, y'w and y'y by `run`, twice, against sums of whole numbers on the host.
    fn compare<T: Real>(
        title: &str,
        context: &Context,
        a: &CsrParts<T>,
        run: &dyn Fn(Fused<'_, T>, &Context) -> Result<()>,
    ) {
        let [x, u, w] = [(a.cols, 1), (a.rows, 2), (a.rows, 3)].map(|(n, seed)| tuner::whole_numbers::<T>(n, seed));
        let [dx, du, dw] = [&x, &u, &w].map(|v| Vector::from_slice(context, v).unwrap());
        for (alpha, beta) in [(1.0, None), (-1.0, Some(1.0)), (2.0, Some(-3.0))] {
            let (alpha, beta) = (T::from_f64(alpha), beta.map(T::from_f64));
            let mut want = u.clone();
            oracle(a).mv(alpha, &x, beta.unwrap_or(T::zero()), &mut want);
            let sum = |v: &[T]| want.iter().zip(v).map(|(y, v)| y.into_f64() * v.into_f64()).sum::<f64>();
            let sums = [sum(&w), sum(&want)];
            let scale =
                [&w, &want].map(|v| want.iter().zip(v).map(|(y, v)| (y.into_f64() * v.into_f64()).abs()).sum::<f64>());
            let mut seen = None;
            for _ in 0..2 {
                let mut y = Vector::filled(context, a.rows, T::nan()).unwrap();
                let mut dots = DotParts::new(context).unwrap();
                let plus = beta.map(|beta| (beta, &du));
                run(Fused { alpha, x: &dx, plus, w: &dw, y: &mut y, dots: &mut dots }, context).unwrap();
                assert_eq!(y.to_vec().unwrap(), want, "{title}");
                let got = <[f64; 2]>::from(dots.values().unwrap());
                for k in 0..2 {
                    // Exact in double precision.
                    let rounding = if T::epsilon().into_f64() > 1e-10 { 1e-5 * scale[k] } else { 0.0 };
                    assert!((got[k] - sums[k]).abs() <= rounding, "{title}: {got:?}, expected {sums:?}");
                }
                assert_eq!(got[0], dots.value().unwrap());
                assert_eq!(*seen.get_or_insert(got), got, "{title}: two calls differ");
            }
        }
    }

    const FEW: [usize; 3] = [2, 7, MOST_PARTS];

    fn sparse<T: Real>(context: &Context) {
        let grid = |side: usize, constant: bool| {
            let mut a = tuner::stencil::<T>(side * side).unwrap();
            if !constant {
                a.values = tuner::whole_numbers(a.values.len(), 4);
            }
            a
        };
        let uneven = |i: usize| if i % 700 == 3 { 5000 } else { i % 5 };
        for (name, parts) in [
            ("one", scattered::<T>(1, 1, |_| 1)),
            ("nothing", scattered(5, 3, |_| 0)),
            ("constant", grid(130, true)),
            ("values", grid(61, false)),
            ("short rows", scattered(3001, 3001, |_| 3)),
            ("long rows", scattered(3001, 3001, |_| 14)),
            ("wide", scattered(3001, 200_000, |_| 14)),
            ("longer rows", scattered(700, 3000, |i| 100 + i % 3)),
            ("uneven", scattered(2100, 6000, uneven)),
        ] {
            let mut a = Csr::from_parts(context, &parts).unwrap();
            let formats =
                [Format::Csr, Format::Balanced, Format::Dia, Format::Stencil, Format::Bsr, Format::Sell].map(Some);
            for format in std::iter::once(None).chain(formats) {
                if a.set_format(format).is_err() {
                    continue;
                }
                for most in FEW {
                    let title = format!("{name}, {}, at most {most} parts, {:?}", a.explain(), context.family());
                    compare(&title, context, &parts, &|fused, context| match is_gpu(context) {
                        true => a.fused_on_gpu(most, fused),
                        false => {
                            let Fused { alpha, x, plus, w, y, dots } = fused;
                            a.apply_dots(alpha, x, plus, w, y, dots)
                        }
                    });
                    if !is_gpu(context) {
                        break;
                    }
                }
            }
        }
    }

    fn others<T: Real>(context: &Context) {
        for (rows, cols) in [(1, 1), (20, 9000), (1500, 70), (130, 131)] {
            let parts = scattered::<T>(rows, cols, |_| cols);
            let mut by_columns = vec![T::zero(); rows * cols];
            for i in 0..rows {
                parts.row(i).for_each(|(j, v)| by_columns[j * rows + i] = v);
            }
            let a = Dense::from_column_major(context, rows, cols, &by_columns).unwrap();
            compare(&format!("dense {rows} x {cols}"), context, &parts, &|fused, _| {
                let Fused { alpha, x, plus, w, y, dots } = fused;
                a.apply_dots(alpha, x, plus, w, y, dots)
            });
        }
        for (rows, cols, kl, ku) in [(1, 1, 0, 0), (2500, 2500, 1, 1), (2500, 2499, 30, 20), (700, 900, 2, 5)] {
            let mut parts = scattered::<T>(rows, cols, |_| 0);
            for i in 0..rows {
                parts.indices.extend(i.saturating_sub(kl)..(i + ku + 1).min(cols));
                parts.offsets[i + 1] = parts.indices.len();
            }
            parts.values = tuner::whole_numbers(parts.indices.len(), 6);
            let a = Band::from_csr(context, &parts, kl, ku).unwrap();
            for most in FEW {
                let title = format!("band {rows} x {cols}, at most {most} parts, {:?}", context.family());
                compare(&title, context, &parts, &|fused, context| match is_gpu(context) {
                    true => a.fused_on_gpu(most, fused),
                    false => {
                        let Fused { alpha, x, plus, w, y, dots } = fused;
                        a.apply_dots(alpha, x, plus, w, y, dots)
                    }
                });
            }
        }
    }

    fn all(family: KernelFamily) {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        for device in &devices {
            let options = ContextOptions { family: Some(family), ..ContextOptions::default() };
            let context = Context::new(device, &options).unwrap();
            // CPUs compile each precision's kernels for half a minute.
            let double = context.require::<f64>().is_ok();
            if clinalg_testing::long() || !double || family == KernelFamily::Cpu {
                sparse::<f32>(&context);
                others::<f32>(&context);
            }
            if double && (clinalg_testing::long() || family == KernelFamily::Gpu) {
                sparse::<f64>(&context);
                others::<f64>(&context);
            }
        }
    }

    #[test]
    fn products_for_gpus_leave_dot_products() {
        all(KernelFamily::Gpu);
    }

    #[test]
    fn products_for_processors_leave_dot_products() {
        all(KernelFamily::Cpu);
    }
}
