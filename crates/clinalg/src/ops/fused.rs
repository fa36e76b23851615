//! Products that leave dot products of their result, in the same pass.
//!
//! A part of each is left per work-group or chunk, and the kernels of a solver join them, so that nothing is read back. The
//! partition depends on the device and the matrix only.

use super::product::{self, MOST_PARTS};
use super::{DotParts, Operator};
use crate::error::check_length;
use crate::matrix::{Band, Blocks, Columns, Csr, Dense, Pattern, Stencil, Tiles, Values, Vector};
use crate::runtime::{Arg, Kernel, Launch, Range, Shape, files};
use crate::tune::RowProduct;
use crate::{Context, Error, Real, Result};

/// Items per cut row; `LANES` of `join_blocks_gpu`.
const JOIN_LANES: usize = 8;

/// Diagonals of a band up to which a loop over them is unrolled.
const UNROLLED: usize = 32;

/// The build of a product that leaves dot products.
const DOTS: &[(&str, u64)] = &[("DOTS", 1)];

/// y = alpha A x + beta u with the dot products y'w and y'y.
pub(super) struct Fused<'a, T: Real> {
    pub(super) alpha: T,
    pub(super) x: &'a Vector<T>,
    pub(super) plus: Option<(T, &'a Vector<T>)>,
    pub(super) w: &'a Vector<T>,
    pub(super) y: &'a mut Vector<T>,
    pub(super) dots: &'a mut DotParts<T>,
}

impl<T: Real> Fused<'_, T> {
    /// An error unless all vectors fit a `rows` x `cols` operator of `context`.
    pub(super) fn check(&self, context: &Context, rows: usize, cols: usize) -> Result<()> {
        product::check_operands(context, rows, cols, self.x, self.y)?;
        for (argument, vector) in [("u", self.plus.map(|(_, u)| u)), ("w", Some(self.w))] {
            let Some(vector) = vector else { continue };
            if !context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            check_length(argument, rows, vector.len())?;
        }
        Ok(())
    }

    /// The product, and the dot products by a launch of their own.
    pub(super) fn apart(self, a: &(impl Operator<T> + ?Sized)) -> Result<()> {
        let beta = match self.plus {
            Some((beta, u)) => {
                super::copy(u, self.y)?;
                beta
            }
            None => T::zero(),
        };
        a.apply(self.alpha, self.x, beta, self.y)?;
        self.dots.set_pair(self.y, self.w)
    }

    fn beta(&self) -> T {
        self.plus.map_or(T::zero(), |(beta, _)| beta)
    }

    /// alpha, x, beta and y.
    fn operands(&self) -> [Arg; 4] {
        [self.alpha.arg().0, self.x.buffer().arg(), self.beta().arg().0, self.y.buffer().arg()]
    }

    /// u, w and the place of `parts` parts of each dot product.
    fn rest(&mut self, parts: usize) -> [Arg; 3] {
        let u = self.plus.map_or(self.x, |(_, u)| u).buffer().arg();
        [u, self.w.buffer().arg(), self.dots.pairs(parts)]
    }

    /// Runs the product of a processor, a part per item; `make` tells how without dot products.
    pub(super) fn on_processor(
        mut self,
        a: &(impl Operator<T> + ?Sized),
        make: impl FnOnce(T, &Vector<T>, T, &Vector<T>) -> Result<(Launch, Vec<Arg>)>,
    ) -> Result<()> {
        let (Launch { kernel, range }, args) = make(self.alpha, self.x, self.beta(), self.y)?;
        let items = range.groups();
        if items > MOST_PARTS {
            return self.apart(a);
        }
        let args = [args.as_slice(), &self.rest(items)].concat();
        a.context().run(&kernel.with(DOTS), range, &args)
    }
}

/// How many work-groups leave a part each where there are `blocks` blocks of work, and how many blocks each takes then.
fn turns(blocks: usize, most: usize) -> (usize, usize) {
    let turns = blocks.div_ceil(most).max(1);
    (blocks.div_ceil(turns), turns)
}

impl<T: Real> Csr<T> {
    /// On a GPU, in at most `most` parts.
    pub(super) fn fused_on_gpu(&self, most: usize, fused: Fused<'_, T>) -> Result<()> {
        let plan = self.plan();
        match (self.stencil(), &plan.pattern, &plan.blocks) {
            (Some(stencil), _, _) => match &stencil.tiles {
                Some(tiles) if tiles.groups[0] <= most => self.fused_by_tiles(stencil, tiles, most, fused),
                _ => fused.apart(self),
            },
            (None, Some(pattern), _) => self.fused_by_slots(pattern, most, fused),
            (None, None, Some(blocks)) => self.fused_by_blocks(blocks, most, fused),
            (None, None, None) => self.fused_by_rows(most, fused),
        }
    }

    fn fused_by_tiles(&self, stencil: &Stencil<T>, tiles: &Tiles, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let (p, [local, _]) = (&*stencil.pattern, tiles.size);
        let [across, along] = tiles.groups;
        let (groups, turns) = turns(along, most / across);
        let [alpha, x, beta, y] = fused.operands();
        let args: [&[Arg]; 5] = [
            &product::tiles_args(s.rows, tiles),
            &[Arg::size(along), Arg::U32(turns as u32), tiles.full.arg()],
            &[stencil.full.arg(), p.mask.arg(), p.delta.arg(), stencil.coefficient.arg()],
            &[alpha, s.offset.arg(), s.column.arg(), self.values().arg(), x, beta, y],
            &fused.rest(across * groups),
        ];
        let kernel = tiles.kernel::<T>(context, p, "mv_stencil_dots_gpu").with(DOTS);
        context.run(&kernel, Range::d2([across * local, groups], [local, 1]), &args.concat())
    }

    fn fused_by_slots(&self, p: &Pattern, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let slots = self.slots(p)?;
        let local = context.local();
        let (groups, turns) = turns(s.rows.div_ceil(local), most);
        let [alpha, x, beta, y] = fused.operands();
        let args: [&[Arg]; 4] = [
            &[Arg::size(s.rows), Arg::U32(turns as u32)],
            &[p.full.arg(), p.mask.arg(), p.delta.arg(), slots.arg()],
            &[alpha, s.offset.arg(), s.column.arg(), self.values().arg(), x, beta, y],
            &fused.rest(groups),
        ];
        let kernel = p.kernel::<T>(context, "mv_slots_dots_gpu").with(DOTS);
        context.run(&kernel, Range::d1(groups * local, local), &args.concat())
    }

    fn fused_by_blocks(&self, blocks: &Blocks, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let s = self.structure();
        let context = Csr::context(self);
        let [alpha, x, beta, y] = fused.operands();
        let (start, offset, value) = (blocks.start.arg(), s.offset.arg(), self.values().arg());
        let count = Arg::U32(blocks.count as u32);
        let product = self.plan().product;
        let items = product.range.items() / product.range.groups();
        let Columns::Cut { rows, row, from, to, join } = &blocks.columns else {
            let (groups, turns) = turns(blocks.count, most);
            let (base, column) = match &blocks.columns {
                Columns::Short(base, column) => (Some(base.arg()), column.arg()),
                _ => (None, s.column.arg()),
            };
            let args: [&[Arg]; 4] = [
                &[count, Arg::U32(turns as u32), start],
                base.as_slice(),
                &[alpha, offset, column, value, x, beta, y],
                &fused.rest(groups),
            ];
            let kernel = product.kernel.renamed("mv_blocks_dots_gpu").with(DOTS);
            return context.run(&kernel, Range::d1(groups * items, items), &args.concat());
        };
        // Parts of the blocks, and behind them those of the rows that go over several.
        let (groups, block_turns) = turns(blocks.count, most / 2);
        let (joins, join_turns) = turns((rows * JOIN_LANES).div_ceil(items), most / 2);
        let [u, w, partial] = fused.rest(groups + joins);
        let parts = Arg::U32((groups + joins) as u32);
        let rest = self.partial(blocks)?;
        let args: [&[Arg]; 2] = [
            &[Arg::U32(s.nnz as u32), count, Arg::U32(block_turns as u32), parts, start],
            &[alpha, offset, s.column.arg(), value, x, beta, rest.arg(), y, u, w, partial],
        ];
        let kernel = product.kernel.renamed("mv_cut_blocks_dots_gpu").with(DOTS);
        context.run(&kernel, Range::d1(groups * items, items), &args.concat())?;
        let args: [&[Arg]; 2] = [
            &[Arg::size(*rows), Arg::U32(join_turns as u32), Arg::U32(groups as u32), parts],
            &[row.arg(), from.arg(), to.arg(), rest.arg(), alpha, y, w, partial],
        ];
        let kernel = join.kernel.renamed("join_blocks_dots_gpu").with(DOTS);
        context.run(&kernel, Range::d1(joins * items, items), &args.concat())
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
        let [alpha, x, beta, y] = fused.operands();
        let args: [&[Arg]; 3] = [
            &[Arg::size(s.rows), Arg::U32(turns as u32), alpha],
            &[s.offset.arg(), s.column.arg(), self.values().arg(), x, beta, y],
            &fused.rest(groups),
        ];
        let kernel = Kernel::new(&files::CSR, "mv_csr_lanes_dots_gpu", T::PRECISION);
        let kernel = kernel.with(&[("LANES", lanes as u64)]).with(DOTS);
        context.run(&kernel, Range::d1(groups * local, local), &args.concat())
    }
}

impl<T: Real> Band<T> {
    /// On a GPU, in at most `most` parts.
    pub(super) fn fused_on_gpu(&self, most: usize, mut fused: Fused<'_, T>) -> Result<()> {
        let context = Band::context(self);
        let (rows, width, local) = (Band::rows(self), self.kl() + 1 + self.ku(), context.local());
        let (groups, turns) = turns(rows.div_ceil(local), most);
        let [alpha, x, beta, y] = fused.operands();
        let args: [&[Arg]; 4] = [
            &[Arg::size(rows), Arg::U32(turns as u32)],
            &[Band::cols(self), self.kl(), width].map(Arg::size),
            &[alpha, self.values().arg(), x, beta, y],
            &fused.rest(groups),
        ];
        let kernel = Kernel::new(&files::BAND, "mv_band_dots_gpu", T::PRECISION).with(DOTS);
        let unrolled = width <= UNROLLED;
        let kernel = if unrolled { kernel.with(&[("DIAGONALS", width as u64)]) } else { kernel };
        context.run(&kernel, Range::d1(groups * local, local), &args.concat())
    }
}

impl<T: Real> Dense<T> {
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
        let [alpha, x, beta, y] = fused.operands();
        let sizes = [rows, Dense::cols(self), products.parts, products.chunk].map(Arg::size);
        let partial = if products.parts > 1 { Some(self.partial(products.parts)?) } else { None };
        let cut = partial.as_ref().map_or(y, |partial| partial.arg());
        let args: [&[Arg]; 3] = [&sizes, &[alpha, self.values().arg(), x, beta, cut, y], &fused.rest(groups)];
        context.run(&products.one.kernel.with(DOTS), products.one.range, &args.concat())?;
        if products.parts == 1 {
            return Ok(());
        }
        let args: [&[Arg]; 2] = [&[sizes[0], sizes[2], alpha, cut, beta, y], &fused.rest(joins)];
        let kernel = Kernel::new(&files::DENSE, "join_parts_dots_gpu", T::PRECISION).with(DOTS);
        context.run(&kernel, Range::d1(rows, local), &args.concat())
    }
}

/// Whether products of this context are those for GPUs.
pub(super) fn is_gpu(context: &Context) -> bool {
    context.shape() == Shape::Gpu
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Format;
    use crate::reference::CsrParts;
    use crate::runtime::devices;
    use crate::{ContextOptions, tune};

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
        a.values = tune::whole_numbers(a.indices.len(), 5);
        a
    }

    /// y = alpha A x + beta u, y'w and y'y by `run`, twice, against sums of whole numbers on the host.
    fn compare<T: Real>(
        title: &str,
        context: &Context,
        a: &CsrParts<T>,
        run: &dyn Fn(Fused<'_, T>, &Context) -> Result<()>,
    ) {
        let [x, u, w] = [(a.cols, 1), (a.rows, 2), (a.rows, 3)].map(|(n, seed)| tune::whole_numbers::<T>(n, seed));
        let [dx, du, dw] = [&x, &u, &w].map(|v| Vector::from_slice(context, v).unwrap());
        for (alpha, beta) in [(1.0, None), (-1.0, Some(1.0)), (2.0, Some(-3.0))] {
            let (alpha, beta) = (T::of(alpha), beta.map(T::of));
            let mut want = u.clone();
            a.mv(alpha, &x, beta.unwrap_or(T::zero()), &mut want);
            let sum = |v: &[T]| want.iter().zip(v).map(|(y, v)| y.wide() * v.wide()).sum::<f64>();
            let sums = [sum(&w), sum(&want)];
            let scale = [&w, &want].map(|v| want.iter().zip(v).map(|(y, v)| (y.wide() * v.wide()).abs()).sum::<f64>());
            let mut seen = None;
            for _ in 0..2 {
                let mut y = Vector::filled(context, a.rows, T::nan()).unwrap();
                let mut dots = DotParts::new(context).unwrap();
                let plus = beta.map(|beta| (beta, &du));
                run(Fused { alpha, x: &dx, plus, w: &dw, y: &mut y, dots: &mut dots }, context).unwrap();
                assert_eq!(y.to_vec().unwrap(), want, "{title}");
                let got = dots.values().unwrap();
                for k in 0..2 {
                    // Exact in double precision.
                    let rounding = if T::epsilon().wide() > 1e-10 { 1e-5 * scale[k] } else { 0.0 };
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
            let mut a = product::tuning::stencil::<T>(side * side).unwrap();
            if !constant {
                a.values = tune::whole_numbers(a.values.len(), 4);
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
            let formats = [Format::Rows, Format::Blocks, Format::Diagonals, Format::Stencil].map(Some);
            for format in std::iter::once(None).chain(formats) {
                if a.set_format(format).is_err() {
                    continue;
                }
                for most in FEW {
                    let title = format!("{name}, {}, at most {most} parts, {:?}", a.explain(), context.shape());
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
            parts.values = tune::whole_numbers(parts.indices.len(), 6);
            let a = Band::from_csr(context, &parts, kl, ku).unwrap();
            for most in FEW {
                let title = format!("band {rows} x {cols}, at most {most} parts, {:?}", context.shape());
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

    fn all(shape: Shape) {
        let Ok(devices) = devices() else { return eprintln!("skipped: no device") };
        for device in &devices {
            let options = ContextOptions { shape: Some(shape), ..ContextOptions::default() };
            let context = Context::new(device, &options).unwrap();
            sparse::<f32>(&context);
            others::<f32>(&context);
            if context.require::<f64>().is_ok() {
                sparse::<f64>(&context);
                others::<f64>(&context);
            }
        }
    }

    #[test]
    fn products_for_gpus_leave_dot_products() {
        all(Shape::Gpu);
    }

    #[test]
    fn products_for_processors_leave_dot_products() {
        all(Shape::Cpu);
    }
}
