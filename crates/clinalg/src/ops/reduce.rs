//! Reductions to one number.
//!
//! A launch leaves one partial result per work-group or chunk; the host joins them in their order,
//! in double precision. The partition depends on the device and the length only, so the result is
//! the same bits each time.

use crate::matrix::Values;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::{self, Choice, Needs, Op, Operation, REDUCE_PARTIALS, Trial, both_precisions};
use crate::{Buffer, Context, DeviceInfo, Precision, Real, Result, Vector, reference};

/// The parameters of the kernels for GPUs, tried on `sum`.
pub(crate) static TUNING: Operation = Operation {
    name: "reduce",
    about: "sum, dot product and norms",
    shape: Shape::Gpu,
    parameters: &[
        ("local", "items of a work-group, a power of two"),
        ("width", "elements that an item reads at once: 1, 2 or 4"),
        ("unroll", "sums that an item has under way"),
        ("groups", "work-groups per compute unit"),
    ],
    per_item: |&[_, width, unroll, ..]| width * unroll,
    needs,
    // Many bytes under way per item (NVIDIA H200: 106 % of the copy bandwidth, with single elements 93 %).
    default: |device, precision, _| {
        let local = tune::local_size(device, 256, SUMS * precision.bytes());
        [local, 16 / precision.bytes() as u32, 2, 8, 0, 0]
    },
    candidates,
    largest: 27,
    check: both_precisions!(check),
    trial: both_precisions!(trial),
};

/// The parameters of the kernels for processors, tried on `sum`.
pub(crate) static TUNING_CPU: Operation = Operation {
    name: "reduce_cpu",
    shape: Shape::Cpu,
    parameters: tune::CHUNKS,
    per_item: |_| 32,
    needs: tune::chunks_needs,
    default: tune::chunks_default,
    candidates: tune::chunks_candidates,
    ..TUNING
};

/// The most sums that one of the kernels makes at once, each with a place per item.
const SUMS: usize = 2;

fn needs(&[local, width, unroll, groups, ..]: &Choice, precision: Precision) -> Option<Needs> {
    let sound = local.is_power_of_two() && [1, 2, 4].contains(&width) && (1..=16).contains(&unroll) && groups > 0;
    sound.then_some(Needs {
        group: local as usize,
        local_bytes: SUMS * local as usize * precision.bytes(),
        tensor: false,
    })
}

fn candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    let mut all = Vec::new();
    for local in [64, 128, 256, 512, 1024] {
        for width in [1, 2, 4] {
            for unroll in [1, 2, 4, 8] {
                // 512 to 4096 items a unit.
                let groups = [512, 1024, 2048, 4096].map(|items| items / local).into_iter().filter(|&g| g > 0);
                all.extend(groups.map(|groups| [local, width, unroll, groups, 0, 0]));
            }
        }
    }
    all
}

fn check<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    use reference::vector as plain;
    let [x, y] = [1, 2].map(|seed| tune::whole_numbers::<T>(n, seed));
    let [dx, dy] = [Vector::from_slice(context, &x)?, Vector::from_slice(context, &y)?];
    let got = [sum(&dx)?, norm1(&dx)?, norm_inf(&dx)?, dot(&dx, &dy)?];
    let want = [plain::sum(&x), plain::norm1(&x), plain::norm_inf(&x), plain::dot(&x, &y)];
    Ok(tune::first_difference(&got, &want))
}

fn trial<T: Real>(context: &Context, n: usize) -> Result<Trial> {
    let x = Vector::filled(context, n, T::one())?;
    Ok(Trial { bytes: (n * size_of::<T>()) as u64, run: Box::new(move || sum(&x).map(drop)) })
}

/// The kernel over `n` elements that leaves `sums` partial results per work-group or chunk, all of the first sum before
/// those of the next; how many of each there are; the range.
fn plan<T: Real>(names: [&'static str; 2], context: &Context, n: usize, sums: usize) -> (Kernel, usize, Range) {
    let kernel = |name| Kernel::new(&files::REDUCE, name, T::PRECISION);
    match context.shape() {
        Shape::Gpu => {
            let [local, width, unroll, groups, ..] = context.choice(Op::Reduce, T::PRECISION, n);
            let kernel =
                kernel(names[0]).with(&[("LOCAL", local.into()), ("WIDTH", width.into()), ("UNROLL", unroll.into())]);
            let most = (context.units() * groups as usize).clamp(1, REDUCE_PARTIALS / sums);
            let groups = n.div_ceil((local * width * unroll) as usize).min(most);
            (kernel, groups, Range::d1(groups * local as usize, local as usize))
        }
        Shape::Cpu => {
            let [chunks, ..] = context.choice(Op::ReduceCpu, T::PRECISION, n);
            let chunks = (context.units() * chunks as usize).min(n).min(REDUCE_PARTIALS / sums);
            (kernel(names[1]), chunks, Range::d1(chunks, 1))
        }
    }
}

/// The partial results of such a kernel; `launch` appends the place for them to its arguments.
fn reduce<T: Real>(
    names: [&'static str; 2],
    context: &Context,
    n: usize,
    sums: usize,
    launch: impl FnOnce(&Kernel, Range, Arg) -> Result<()>,
) -> Result<Vec<T>> {
    if n == 0 {
        return Ok(vec![T::zero(); sums]);
    }
    let (kernel, count, range) = plan::<T>(names, context, n, sums);
    context.partials(sums * count, |partial| launch(&kernel, range, partial))
}

/// Most parts of a [`DotParts`]: a kernel of few items then still joins them in no time.
const DOT_PARTS: usize = 8192;

/// One dot product, or two, that stay on the device, in parts that the kernels of a solver join themselves.
///
/// [`Operator::apply_dot`](crate::ops::Operator::apply_dot) and
/// [`Operator::apply_dots`](crate::ops::Operator::apply_dots) fill it.
#[derive(Debug)]
pub struct DotParts<T: Real> {
    /// All of the first product before those of the second.
    parts: Buffer<T>,
    /// Parts of each.
    count: usize,
}

impl<T: Real> DotParts<T> {
    /// Room for the parts; the products are 0.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context) -> Result<DotParts<T>> {
        context.require::<T>()?;
        Ok(DotParts { parts: Buffer::uninit(context, DOT_PARTS)?, count: 0 })
    }

    /// The dot product of x and y, enqueued.
    ///
    /// # Errors
    /// As [`dot`].
    pub fn set(&mut self, x: &Vector<T>, y: &Vector<T>) -> Result<()> {
        x.check_same(y, "y")?;
        let (context, n) = (x.context(), x.len());
        if n == 0 {
            self.count = 0;
            return Ok(());
        }
        let (kernel, count, range) = plan::<T>(["dot_gpu", "dot_cpu"], context, n, 1);
        let partial = self.parts(count);
        let args = [Arg::size(n), T::one().arg().0, x.buffer().arg(), y.buffer().arg(), partial];
        context.run(&kernel, range, &args)
    }

    /// The dot products of y with w and with itself, enqueued.
    ///
    /// # Errors
    /// As [`dot`].
    pub fn set_pair(&mut self, y: &Vector<T>, w: &Vector<T>) -> Result<()> {
        y.check_same(w, "w")?;
        let (context, n) = (y.context(), y.len());
        if n == 0 {
            self.count = 0;
            return Ok(());
        }
        let (kernel, count, range) = plan::<T>(["dot_pair_gpu", "dot_pair_cpu"], context, n, 2);
        let args = [Arg::size(n), y.buffer().arg(), w.buffer().arg(), self.pairs(count)];
        context.run(&kernel, range, &args)
    }

    /// The first product, or the only one; waits for the device. The parts are joined in their order and in double precision.
    ///
    /// # Errors
    /// What the device reports.
    pub fn value(&self) -> Result<f64> {
        let mut parts = vec![T::zero(); self.count];
        self.parts.read_range(0, &mut parts)?;
        Ok(total(&parts))
    }

    /// Both products, after what leaves two; otherwise as [`DotParts::value`].
    ///
    /// # Errors
    /// What the device reports.
    pub fn values(&self) -> Result<[f64; 2]> {
        let mut parts = vec![T::zero(); 2 * self.count];
        self.parts.read_range(0, &mut parts)?;
        let (first, second) = parts.split_at(self.count);
        Ok([total(first), total(second)])
    }

    /// How many work-groups may leave a part where each takes at least `per_group` of `n` elements, and how many times
    /// `per_group` each takes then.
    pub(crate) fn groups(n: usize, per_group: usize) -> (usize, usize) {
        let blocks = n.div_ceil(per_group);
        let turns = blocks.div_ceil(DOT_PARTS).max(1);
        (blocks.div_ceil(turns), turns)
    }

    /// The place for `count` parts, which a kernel is about to write.
    pub(crate) fn parts(&mut self, count: usize) -> Arg {
        assert!(count <= DOT_PARTS, "a dot product has at most {DOT_PARTS} parts");
        self.count = count;
        self.parts.arg()
    }

    /// The same for two products.
    pub(crate) fn pairs(&mut self, count: usize) -> Arg {
        assert!(2 * count <= DOT_PARTS, "two dot products have at most {DOT_PARTS} parts");
        self.parts(count)
    }

    /// Number of the parts of each product and place of all, for a kernel that joins them.
    pub(crate) fn args(&self) -> [Arg; 2] {
        [Arg::U32(self.count as u32), self.parts.arg()]
    }
}

/// The partial results of `name` over x, y and the scale `s`.
fn partials<T: Real>(names: [&'static str; 2], s: T, x: &Buffer<T>, y: &Buffer<T>) -> Result<Vec<T>> {
    let (context, n) = (x.context(), x.len());
    reduce(names, context, n, 1, |kernel, range, partial| {
        context.run(kernel, range, &[Arg::size(n), s.arg().0, x.arg(), y.arg(), partial])
    })
}

fn total<T: Real>(partials: &[T]) -> f64 {
    partials.iter().map(|p| p.wide()).sum()
}

/// Sum of the stored values; 0 for none.
///
/// # Errors
/// What the device reports.
pub fn sum<T: Real, V: Values<T>>(a: &V) -> Result<T> {
    let x = a.values();
    Ok(T::of(total(&partials(["sum_gpu", "sum_cpu"], T::one(), x, x)?)))
}

/// Dot product of the stored values.
///
/// # Errors
/// As [`axpby`](crate::ops::axpby).
pub fn dot<T: Real, V: Values<T>>(a: &V, b: &V) -> Result<T> {
    a.check_same(b, "b")?;
    Ok(T::of(total(&partials(["dot_gpu", "dot_cpu"], T::one(), a.values(), b.values())?)))
}

/// Sum of the magnitudes of the stored values (for a matrix the entrywise norm).
///
/// # Errors
/// What the device reports.
pub fn norm1<T: Real, V: Values<T>>(a: &V) -> Result<T> {
    let x = a.values();
    Ok(T::of(total(&partials(["sum_abs_gpu", "sum_abs_cpu"], T::one(), x, x)?)))
}

/// Largest magnitude of the stored values; NaN if one is NaN; 0 for none.
///
/// # Errors
/// What the device reports.
pub fn norm_inf<T: Real, V: Values<T>>(a: &V) -> Result<T> {
    let x = a.values();
    let partials = partials(["max_abs_gpu", "max_abs_cpu"], T::one(), x, x)?;
    Ok(partials.into_iter().fold(T::zero(), |m, p| if p > m || p.is_nan() { p } else { m }))
}

/// Euclidean norm of the stored values (for a matrix the Frobenius norm).
///
/// One pass where the squares neither overflow nor lose the small ones; otherwise a second pass
/// over values scaled by the largest magnitude.
///
/// # Errors
/// What the device reports.
pub fn norm2<T: Real, V: Values<T>>(a: &V) -> Result<T> {
    let x = a.values();
    let squares = |s: T| partials(["sum_square_gpu", "sum_square_cpu"], s, x, x).map(|p| total(&p));
    if let Some(norm) = norm_of_squares::<T>(squares(T::one())?, x.len()) {
        return Ok(T::of(norm));
    }
    let largest = norm_inf(a)?;
    if !largest.is_normal() {
        if largest == T::zero() || !largest.is_finite() {
            return Ok(largest);
        }
        // A power of two lifts subnormal values exactly; its reciprocal is no longer finite.
        let lift = T::one() / T::min_positive_value();
        return Ok(T::of(squares(lift)?.sqrt() * T::min_positive_value().wide()));
    }
    // A power of two scales exactly; the last one whose reciprocal is a normal number is the limit.
    let top = T::max_value().wide().log2().ceil() - 2.0;
    let unit = T::of(largest.wide().log2().floor().min(top).exp2());
    Ok(T::of(squares(T::one() / unit)?.sqrt() * unit.wide()))
}

/// The root of a sum of `n` squares, unless some of them may have overflowed or lost digits.
pub(crate) fn norm_of_squares<T: Real>(squares: f64, n: usize) -> Option<f64> {
    // Below this an element's square may have been rounded to a multiple of the smallest number.
    let smallest = T::min_positive_value().wide() / T::epsilon().wide() * n.max(1) as f64;
    (squares.is_finite() && squares >= smallest).then(|| squares.sqrt())
}
