//! Reductions to one number.
//!
//! A launch leaves one partial result per work-group or chunk; the host joins them in their order,
//! in double precision. The partition depends on the device and the length only, so the result is
//! the same bits each time.

use num_traits::One;

use crate::error::check_length;
use crate::matrix::Values;
use crate::runtime::kernels::{complex, reduce};
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::tune::{self, Needs, Operation, Parameters};
use crate::{Buffer, Context, Error, Real, Result, Scalar, Vector};

/// The parameters of the kernels for GPUs.
pub(crate) static REDUCE: Operation = Operation::new(
    "reduce",
    ABOUT,
    Parameters {
        family: KernelFamily::Gpu,
        names: &[
            ("local", "items of a work-group, a power of two"),
            ("width", "elements that an item reads at once: 1, 2 or 4"),
            ("unroll", "sums that an item has under way"),
            ("groups", "work-groups per compute unit"),
        ],
        needs: |&[local, width, unroll, groups, ..], precision| {
            let sound =
                local.is_power_of_two() && [1, 2, 4].contains(&width) && (1..=16).contains(&unroll) && groups > 0;
            let local_bytes = SUMS * local as usize * precision.bytes();
            sound.then_some(Needs { group: local as usize, local_bytes, tensor: false })
        },
        // Many bytes under way per item (NVIDIA H200: 106 % of the copy bandwidth, with single elements 93 %).
        default: |device, precision, _| {
            let local = tune::local_size(device, 256, SUMS * precision.bytes());
            [local, 16 / precision.bytes() as u32, 2, 8, 0, 0]
        },
    },
);

/// The parameters of the kernels for CPUs.
pub(crate) static REDUCE_CPU: Operation = Operation::new("reduce_cpu", ABOUT, tune::CHUNKS);

const ABOUT: &str = "sum, dot product and norms";

/// The most sums that one of the kernels makes at once, each with a place per item.
const SUMS: usize = 2;

/// Work-groups of a norm on a grid on a GPU per compute unit: enough loads in flight to reach the
/// bandwidth, few enough partial results to join on the host.
pub(crate) const REDUCE_GROUPS_PER_UNIT: usize = 8;

/// Most partial results of a reduction.
pub(crate) const REDUCE_PARTIALS: usize = 4096;

/// How a kernel of `reduce.cl` over `n` elements runs that leaves `sums` partial results per work-group or chunk, all of the
/// first sum before those of the next; how many of each there are.
fn plan<R: Real>(context: &Context, n: usize, sums: usize) -> (reduce::Program<R>, usize, Range) {
    let program = reduce::Program::new();
    match context.family() {
        KernelFamily::Gpu => {
            let [local, width, unroll, groups, ..] = context.choice(&REDUCE, R::PRECISION, n);
            let program = program.local(local.into()).width(width.into()).unroll(unroll.into());
            let most = (context.units() * groups as usize).clamp(1, REDUCE_PARTIALS / sums);
            let groups = n.div_ceil((local * width * unroll) as usize).min(most);
            (program, groups, Range::d1(groups * local as usize, local as usize))
        }
        KernelFamily::Cpu => {
            let [chunks, ..] = context.choice(&REDUCE_CPU, R::PRECISION, n);
            let chunks = (context.units() * chunks as usize).min(n).min(REDUCE_PARTIALS / sums);
            (program, chunks, Range::d1(chunks, 1))
        }
    }
}

/// The same for a kernel of `complex.cl` over `n` complex elements.
fn plan_complex<T: Scalar>(context: &Context, n: usize, sums: usize) -> (complex::Program<T>, usize, Range) {
    let program = complex::Program::new();
    match context.family() {
        KernelFamily::Gpu => {
            let [_, _, _, groups, ..] = context.choice(&REDUCE, T::PRECISION, n);
            let local = context.local();
            let most = (context.units() * groups as usize).clamp(1, REDUCE_PARTIALS / sums);
            let groups = n.div_ceil(local).min(most);
            (program, groups, Range::d1(groups * local, local))
        }
        KernelFamily::Cpu => {
            let [chunks, ..] = context.choice(&REDUCE_CPU, T::PRECISION, n);
            let chunks = (context.units() * chunks as usize).min(n).min(REDUCE_PARTIALS / sums);
            (program, chunks, Range::d1(chunks, 1))
        }
    }
}

/// An error unless y is as long as x and in its context: the launch relies on nothing else.
fn check_pair<T: Scalar>(x: &Buffer<T>, y: &Buffer<T>) -> Result<()> {
    if !x.context().same(y.context()) {
        return Err(Error::Context { argument: "b" });
    }
    check_length("b", x.len(), y.len())
}

/// The kernels of `reduce.cl` with one result.
#[derive(Debug, Clone, Copy)]
enum Reduction {
    Sum,
    SumAbs,
    SumSquare,
    MaxAbs,
    Dot,
}

/// Partial results of a kernel over reals: the parts of complex elements are elements of their own. `s` scales them.
fn real_partials<T: Scalar>(reduction: Reduction, s: T::Real, x: &Buffer<T>, y: &Buffer<T>) -> Result<Vec<T::Real>> {
    check_pair(x, y)?;
    let (context, n) = (x.context(), x.len() * T::COMPONENTS);
    if n == 0 {
        return Ok(Vec::new());
    }
    let (program, count, range) = plan::<T::Real>(context, n, 1);
    let (x, y) = (In::parts(x), In::parts(y));
    context.partials(count, |partial| match reduction {
        Reduction::Sum => program.sum(context, range, n, s, x, y, partial),
        Reduction::SumAbs => program.sum_abs(context, range, n, s, x, y, partial),
        Reduction::SumSquare => program.sum_square(context, range, n, s, x, y, partial),
        Reduction::MaxAbs => program.max_abs(context, range, n, s, x, y, partial),
        Reduction::Dot => program.dot_product(context, range, n, s, x, y, partial),
    })
}

/// The kernels of `complex.cl` with one result.
#[derive(Debug, Clone, Copy)]
enum ComplexReduction {
    Sum,
    SumModuli,
    MaxModulus,
    Dot,
    Dotu,
}

/// Partial results of a kernel of `complex.cl`: real parts, then imaginary parts.
fn complex_partials<T: Scalar>(reduction: ComplexReduction, x: &Buffer<T>, y: &Buffer<T>) -> Result<Vec<T::Real>> {
    check_pair(x, y)?;
    let (context, n) = (x.context(), x.len());
    if n == 0 {
        return Ok(Vec::new());
    }
    let (program, count, range) = plan_complex::<T>(context, n, 2);
    context.partials(2 * count, |partial| match reduction {
        ComplexReduction::Sum => program.sum_scalars(context, range, n, x, y, partial),
        ComplexReduction::SumModuli => program.sum_moduli(context, range, n, x, y, partial),
        ComplexReduction::MaxModulus => program.max_modulus(context, range, n, x, y, partial),
        ComplexReduction::Dot => program.dot_scalars(context, range, n, x, y, partial),
        ComplexReduction::Dotu => program.dotu_scalars(context, range, n, x, y, partial),
    })
}

/// The value whose real parts are the first half of the partial results and whose imaginary parts the second.
fn joined<T: Scalar>(partials: &[T::Real]) -> T {
    let (re, im) = partials.split_at(partials.len() / 2);
    T::from_parts(T::Real::from_f64(total(re)), T::Real::from_f64(total(im)))
}

/// Most parts of a [`DotParts`]: a kernel of few items then still joins them in no time.
const DOT_PARTS: usize = 8192;

/// One dot product, or two, that stay on the device, in parts that the kernels of a solver join themselves.
///
/// [`Operator::apply_dot`](crate::ops::Operator::apply_dot) and
/// [`Operator::apply_dots`](crate::ops::Operator::apply_dots) fill it.
#[derive(Debug)]
pub struct DotParts<T: Scalar> {
    /// All real parts of the first product, then those of the second product, which is real, and for complex types the
    /// imaginary parts of the first.
    parts: Buffer<T::Real>,
    /// Whether there is a second product.
    pair: bool,
    /// Parts of each.
    count: usize,
}

impl<T: Scalar> DotParts<T> {
    /// Room for the parts; the products are 0.
    ///
    /// # Errors
    /// [`Error::Allocation`](crate::Error::Allocation), [`Error::NoFp64`](crate::Error::NoFp64).
    pub fn new(context: &Context) -> Result<DotParts<T>> {
        context.require::<T>()?;
        Ok(DotParts { parts: Buffer::zeroed(context, T::COMPONENTS * DOT_PARTS)?, pair: false, count: 0 })
    }

    /// An error unless the parts live in `context`.
    pub(crate) fn check(&self, context: &Context) -> Result<()> {
        if self.parts.context().same(context) { Ok(()) } else { Err(Error::Context { argument: "dots" }) }
    }

    /// The dot product of x and y (x is conjugated), enqueued.
    ///
    /// # Errors
    /// As [`dot`].
    pub fn set(&mut self, x: &Vector<T>, y: &Vector<T>) -> Result<()> {
        x.check_same(y, "y")?;
        let (context, n) = (x.context(), x.len());
        self.check(context)?;
        if n == 0 {
            self.count = 0;
            return Ok(());
        }
        let (x, y) = (x.buffer(), y.buffer());
        if T::IS_COMPLEX {
            let (program, count, range) = plan_complex::<T>(context, n, 2);
            return program.dot_scalars(context, range, n, x, y, self.parts(count));
        }
        let (program, count, range) = plan::<T::Real>(context, n, 1);
        program.dot_product(context, range, n, T::Real::one(), In::parts(x), In::parts(y), self.parts(count))
    }

    /// The dot products of y with w (y is conjugated) and with itself, enqueued.
    ///
    /// # Errors
    /// As [`dot`].
    pub fn set_pair(&mut self, y: &Vector<T>, w: &Vector<T>) -> Result<()> {
        y.check_same(w, "w")?;
        let (context, n) = (y.context(), y.len());
        self.check(context)?;
        if n == 0 {
            self.count = 0;
            return Ok(());
        }
        let (y, w) = (y.buffer(), w.buffer());
        if T::IS_COMPLEX {
            let (program, count, range) = plan_complex::<T>(context, n, 3);
            return program.dot_pair_scalars(context, range, n, y, w, self.pairs(count));
        }
        let (program, count, range) = plan::<T::Real>(context, n, 2);
        program.dot_pair(context, range, n, In::parts(y), In::parts(w), self.pairs(count))
    }

    /// The first product, or the only one; waits for the device. The parts are joined in their order and in double precision.
    ///
    /// # Errors
    /// What the device reports.
    pub fn value(&self) -> Result<T::Wide> {
        let sums = self.sums(if self.pair { 1 + T::COMPONENTS } else { T::COMPONENTS })?;
        Ok(T::Wide::from_parts(sums[0], sums[sums.len() - 1]))
    }

    /// Both products, after what leaves two; otherwise as [`DotParts::value`]. The second one is real.
    ///
    /// # Errors
    /// What the device reports.
    pub fn values(&self) -> Result<(T::Wide, f64)> {
        let sums = self.sums(1 + T::COMPONENTS)?;
        Ok((T::Wide::from_parts(sums[0], sums[sums.len() - 1]), sums[1]))
    }

    /// The first `count` sums of the parts.
    fn sums(&self, count: usize) -> Result<Vec<f64>> {
        let mut parts = vec![T::Real::from_f64(0.0); count * self.count];
        self.parts.read_range(0, &mut parts)?;
        Ok((0..count).map(|k| total(&parts[k * self.count..(k + 1) * self.count])).collect())
    }

    /// The parts of a single product.
    pub(crate) fn numbers(&self) -> Result<Vec<f64>> {
        let mut parts = vec![T::Real::from_f64(0.0); self.count];
        self.parts.read_range(0, &mut parts)?;
        Ok(parts.into_iter().map(Real::into_f64).collect())
    }

    /// Puts the parts of a single product back.
    pub(crate) fn restore(&mut self, parts: &[f64]) -> Result<()> {
        (self.count, self.pair) = (parts.len().min(DOT_PARTS), false);
        let parts: Vec<_> = parts.iter().take(self.count).map(|&part| T::Real::from_f64(part)).collect();
        self.parts.write_range(0, &parts)
    }

    /// How many work-groups may leave a part where each takes at least `per_group` of `n` elements, and how many times
    /// `per_group` each takes then.
    pub(crate) fn groups(n: usize, per_group: usize) -> (usize, usize) {
        let blocks = n.div_ceil(per_group);
        let turns = blocks.div_ceil(DOT_PARTS).max(1);
        (blocks.div_ceil(turns), turns)
    }

    /// The place for `count` parts, which a kernel is about to write.
    pub(crate) fn parts(&mut self, count: usize) -> Out<'_, T::Real> {
        assert!(count <= DOT_PARTS, "a dot product has at most {DOT_PARTS} parts");
        (self.count, self.pair) = (count, false);
        Out::from(&mut self.parts)
    }

    /// The same for two products.
    pub(crate) fn pairs(&mut self, count: usize) -> Out<'_, T::Real> {
        assert!(2 * count <= DOT_PARTS, "two dot products have at most {DOT_PARTS} parts");
        (self.count, self.pair) = (count, true);
        Out::from(&mut self.parts)
    }

    /// Number of the parts of each product and place of all, for a kernel that joins them.
    pub(crate) fn joined(&self) -> (u32, In<'_, T::Real>) {
        (self.count as u32, In::from(&self.parts))
    }
}

fn total<R: Real>(partials: &[R]) -> f64 {
    partials.iter().map(|p| p.into_f64()).sum()
}

/// Sum of the stored values; 0 for none.
///
/// # Errors
/// What the device reports.
pub fn sum<T: Scalar, V: Values<T>>(a: &V) -> Result<T> {
    let x = a.values();
    if T::IS_COMPLEX {
        return Ok(joined(&complex_partials(ComplexReduction::Sum, x, x)?));
    }
    Ok(T::from_f64(total(&real_partials(Reduction::Sum, T::Real::one(), x, x)?)))
}

/// Dot product of the stored values, the sum of conj(a) b (the BLAS' `dotc`).
///
/// # Errors
/// As [`axpby`](crate::ops::axpby).
pub fn dot<T: Scalar, V: Values<T>>(a: &V, b: &V) -> Result<T> {
    dot_by(ComplexReduction::Dot, a, b)
}

/// The sum of the products of the stored values, none of which is conjugated (the BLAS' `dotu`).
///
/// # Errors
/// As [`axpby`](crate::ops::axpby).
pub fn dotu<T: Scalar, V: Values<T>>(a: &V, b: &V) -> Result<T> {
    dot_by(ComplexReduction::Dotu, a, b)
}

fn dot_by<T: Scalar, V: Values<T>>(reduction: ComplexReduction, a: &V, b: &V) -> Result<T> {
    a.check_same(b, "b")?;
    if T::IS_COMPLEX {
        return Ok(joined(&complex_partials(reduction, a.values(), b.values())?));
    }
    Ok(T::from_f64(total(&real_partials(Reduction::Dot, T::Real::one(), a.values(), b.values())?)))
}

/// Sum of the moduli of the stored values (for a matrix the entrywise norm).
///
/// # Errors
/// What the device reports.
pub fn norm1<T: Scalar, V: Values<T>>(a: &V) -> Result<T::Real> {
    let x = a.values();
    let total = if T::IS_COMPLEX {
        let partials = complex_partials(ComplexReduction::SumModuli, x, x)?;
        total(&partials[..partials.len() / 2])
    } else {
        total(&real_partials(Reduction::SumAbs, T::Real::one(), x, x)?)
    };
    Ok(T::Real::from_f64(total))
}

/// Largest modulus of the stored values; NaN if one is NaN; 0 for none.
///
/// # Errors
/// What the device reports.
pub fn norm_inf<T: Scalar, V: Values<T>>(a: &V) -> Result<T::Real> {
    let x = a.values();
    if T::IS_COMPLEX {
        let partials = complex_partials(ComplexReduction::MaxModulus, x, x)?;
        return Ok(largest(partials[..partials.len() / 2].iter().copied()));
    }
    largest_part(x)
}

/// The largest magnitude of the real and imaginary parts; NaN if one is NaN; 0 for none.
fn largest_part<T: Scalar>(x: &Buffer<T>) -> Result<T::Real> {
    Ok(largest(real_partials(Reduction::MaxAbs, T::Real::one(), x, x)?))
}

/// The larger of two values; NaN if one is NaN.
pub(crate) fn larger<R: Real>(a: R, b: R) -> R {
    if b > a || b.is_nan() { b } else { a }
}

/// The largest of some magnitudes; NaN if one is NaN; 0 for none.
pub(crate) fn largest<R: Real>(magnitudes: impl IntoIterator<Item = R>) -> R {
    magnitudes.into_iter().fold(R::zero(), larger)
}

/// Euclidean norm of the stored values (for a matrix the Frobenius norm).
///
/// One pass where the squares neither overflow nor lose the small ones; otherwise a second pass
/// over values scaled by the largest magnitude.
///
/// # Errors
/// What the device reports.
pub fn norm2<T: Scalar, V: Values<T>>(a: &V) -> Result<T::Real> {
    norm2_of(a.values())
}

fn norm2_of<T: Scalar>(x: &Buffer<T>) -> Result<T::Real> {
    let squares = |s: T::Real| real_partials(Reduction::SumSquare, s, x, x).map(|partials| total(&partials));
    norm_by_squares(x.len() * T::COMPONENTS, squares, || largest_part(x))
}

/// The root of the sum of the squares of `n` numbers, which `squares` gives of the numbers times a factor.
pub(super) fn norm_by_squares<R: Real>(
    n: usize,
    squares: impl Fn(R) -> Result<f64>,
    largest: impl FnOnce() -> Result<R>,
) -> Result<R> {
    if let Some(norm) = norm_of_squares::<R>(squares(R::one())?, n) {
        return Ok(R::from_f64(norm));
    }
    let largest = largest()?;
    if !largest.is_normal() {
        if largest == R::zero() || !largest.is_finite() {
            return Ok(largest);
        }
        // A power of two lifts subnormal values exactly; its reciprocal is no longer finite.
        let lift = R::one() / R::min_positive_value();
        return Ok(R::from_f64(squares(lift)?.sqrt() * R::min_positive_value().into_f64()));
    }
    // A power of two scales exactly; the last one whose reciprocal is a normal number is the limit.
    let top = R::max_value().into_f64().log2().ceil() - 2.0;
    let unit = R::from_f64(largest.into_f64().log2().floor().min(top).exp2());
    Ok(R::from_f64(squares(R::one() / unit)?.sqrt() * unit.into_f64()))
}

/// The root of a sum of `n` squares, unless some of them may have overflowed or lost digits.
pub(crate) fn norm_of_squares<R: Real>(squares: f64, n: usize) -> Option<f64> {
    // Below this an element's square may have been rounded to a multiple of the smallest number.
    let smallest = R::min_positive_value().into_f64() / R::epsilon().into_f64() * n.max(1) as f64;
    (squares.is_finite() && squares >= smallest).then(|| squares.sqrt())
}
