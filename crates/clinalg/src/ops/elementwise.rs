//! Elementwise operations on the value arrays of vectors and matrices.

use crate::matrix::Values;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::{self, Choice, Needs, Op, Operation, STREAM_BYTES, Trial, both_precisions};
use crate::{Buffer, Context, DeviceInfo, Precision, Real, Result, Vector, reference};

/// The parameters of the kernels for GPUs, tried on `axpby`.
pub(crate) static TUNING: Operation = Operation {
    name: "elementwise",
    about: "a x + b y and the like: each element read and written once",
    shape: Shape::Gpu,
    parameters: &[
        ("local", "items of a work-group"),
        ("width", "elements that an item reads at once: 1, 2 or 4"),
        ("items", "such reads per item"),
    ],
    per_item: |&[_, width, items, ..]| width * items,
    needs,
    // Reads of 16 bytes (NVIDIA H200: 100 % of the copy bandwidth, single elements 90 %, in f32 63 %).
    default: |device, precision, _| [tune::local_size(device, 256, 0), 16 / precision.bytes() as u32, 1, 0, 0, 0],
    candidates,
    largest: 27,
    check: both_precisions!(check),
    trial: both_precisions!(trial),
};

/// The parameters of the kernels for processors, tried on `axpby`.
pub(crate) static TUNING_CPU: Operation = Operation {
    name: "elementwise_cpu",
    shape: Shape::Cpu,
    parameters: tune::CHUNKS,
    per_item: |_| 8,
    needs: tune::chunks_needs,
    default: tune::chunks_default,
    candidates: tune::chunks_candidates,
    ..TUNING
};

fn needs(&[local, width, items, ..]: &Choice, _: Precision) -> Option<Needs> {
    let sound = local > 0 && [1, 2, 4].contains(&width) && (1..=64).contains(&items);
    sound.then_some(Needs { group: local as usize, local_bytes: 0, tensor: false })
}

fn candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    let mut all = Vec::new();
    for local in [64, 128, 256] {
        for width in [1, 2, 4] {
            all.extend([1, 2, 4, 8].map(|items| [local, width, items, 0, 0, 0]));
        }
    }
    all
}

fn check<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    let (alpha, beta) = (T::of(2.0), T::of(-3.0));
    let [x, y] = [1, 2].map(|seed| tune::whole_numbers::<T>(n, seed));
    let mut out = Vector::filled(context, n, T::nan())?;
    axpby(alpha, &Vector::from_slice(context, &x)?, beta, &Vector::from_slice(context, &y)?, &mut out)?;
    let mut want = vec![T::zero(); n];
    reference::vector::axpby(alpha, &x, beta, &y, &mut want);
    Ok(tune::first_difference(&out.to_vec()?, &want))
}

fn trial<T: Real>(context: &Context, n: usize) -> Result<Trial> {
    let vector = |value| Vector::filled(context, n, T::of(value));
    let (x, y, mut out) = (vector(1.0)?, vector(2.0)?, vector(0.0)?);
    let run = move || axpby(T::of(2.0), &x, T::of(-3.0), &y, &mut out);
    Ok(Trial { bytes: (3 * n * size_of::<T>()) as u64, run: Box::new(run) })
}

/// Runs the variant of an elementwise kernel for the device: an item per element or per chunk. The last argument is `out`.
fn run<T: Real>(names: [&'static str; 2], out: &Buffer<T>, args: &[Arg]) -> Result<()> {
    let context = out.context();
    if out.is_empty() {
        return Ok(());
    }
    let kernel = |name| Kernel::new(&files::VECTOR, name, T::PRECISION);
    let (kernel, range) = match context.shape() {
        Shape::Gpu => {
            let [local, width, items, ..] = context.choice(Op::Elementwise, T::PRECISION, out.len());
            let wide = out.len() / width as usize;
            let kernel = kernel(names[0]).with(&[("WIDTH", width.into()), ("ITEMS", items.into())]);
            // At least one group, for what is left of a few elements.
            (kernel, Range::d1(wide.div_ceil(items as usize).max(1), local as usize))
        }
        Shape::Cpu => {
            // In place, the lines of the output are in the cache already.
            let in_place = args[..args.len() - 1].contains(&out.arg());
            let stream = !in_place && out.len() * size_of::<T>() >= STREAM_BYTES;
            let kernel = kernel(names[1]);
            let kernel = if stream { kernel.with(&[("STREAM", 1)]) } else { kernel };
            let [chunks, ..] = context.choice(Op::ElementwiseCpu, T::PRECISION, out.len());
            (kernel, Range::d1((context.units() * chunks as usize).min(out.len()), 1))
        }
    };
    context.run(&kernel, range, args)
}

/// out = alpha x + beta y on arrays of equal length; `out` may be one of the others.
pub(crate) fn axpby_raw<T: Real>(alpha: T, x: &Buffer<T>, beta: T, y: &Buffer<T>, out: &Buffer<T>) -> Result<()> {
    let n = Arg::size(out.len());
    run(["axpby_gpu", "axpby_cpu"], out, &[n, alpha.arg().0, x.arg(), beta.arg().0, y.arg(), out.arg()])
}

/// out = x with the signs of its elements changed without a pattern, always the same; one length and
/// context.
pub(crate) fn scatter_signs<T: Real>(x: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
    let (x, out) = (x.buffer(), out.buffer());
    run(["scatter_signs_gpu", "scatter_signs_cpu"], out, &[Arg::size(out.len()), x.arg(), out.arg()])
}

/// out = alpha x on arrays of equal length; `out` may be `x`.
pub(crate) fn scale_raw<T: Real>(alpha: T, x: &Buffer<T>, out: &Buffer<T>) -> Result<()> {
    run(["scale_gpu", "scale_cpu"], out, &[Arg::size(out.len()), alpha.arg().0, x.arg(), out.arg()])
}

/// out = x .* y on arrays of equal length; `out` may be one of the others.
pub(crate) fn multiply_raw<T: Real>(x: &Buffer<T>, y: &Buffer<T>, out: &Buffer<T>) -> Result<()> {
    run(["multiply_gpu", "multiply_cpu"], out, &[Arg::size(out.len()), x.arg(), y.arg(), out.arg()])
}

/// Puts back what is no entry of `out` unless all factors are finite, for zero times them is zero.
pub(crate) fn settle<T: Real, V: Values<T>>(out: &V, factors: &[T]) -> Result<()> {
    if factors.iter().all(|f| f.is_finite()) { Ok(()) } else { out.restore() }
}

/// out = alpha x + beta y.
///
/// # Errors
/// Any of the operations of this module: [`Error::Shape`](crate::Error::Shape),
/// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that names
/// the argument which does not fit the first.
pub fn axpby<T: Real, V: Values<T>>(alpha: T, x: &V, beta: T, y: &V, out: &mut V) -> Result<()> {
    x.check_same(y, "y")?;
    x.check_same(out, "out")?;
    axpby_raw(alpha, x.values(), beta, y.values(), out.values_mut())?;
    settle(out, &[alpha, beta])
}

/// y = alpha x + beta y; `beta = 0` never reads `y`.
///
/// # Errors
/// As [`axpby`].
pub fn update<T: Real, V: Values<T>>(alpha: T, x: &V, beta: T, y: &mut V) -> Result<()> {
    x.check_same(y, "y")?;
    let values = y.values_mut();
    if beta == T::zero() {
        scale_raw(alpha, x.values(), values)?;
    } else {
        axpby_raw(alpha, x.values(), beta, values, values)?;
    }
    settle(y, &[alpha, beta])
}

/// out = a + b.
///
/// # Errors
/// As [`axpby`].
pub fn add<T: Real, V: Values<T>>(a: &V, b: &V, out: &mut V) -> Result<()> {
    sub_scaled(a, b, -T::one(), out)
}

/// out = a - b.
///
/// # Errors
/// As [`axpby`].
pub fn sub<T: Real, V: Values<T>>(a: &V, b: &V, out: &mut V) -> Result<()> {
    sub_scaled(a, b, T::one(), out)
}

/// out = a - c b.
///
/// # Errors
/// As [`axpby`].
pub fn sub_scaled<T: Real, V: Values<T>>(a: &V, b: &V, c: T, out: &mut V) -> Result<()> {
    a.check_same(b, "b")?;
    a.check_same(out, "out")?;
    axpby_raw(T::one(), a.values(), -c, b.values(), out.values_mut())?;
    settle(out, &[c])
}

/// out = c a.
///
/// # Errors
/// As [`axpby`].
pub fn scale<T: Real, V: Values<T>>(c: T, a: &V, out: &mut V) -> Result<()> {
    a.check_same(out, "out")?;
    scale_raw(c, a.values(), out.values_mut())?;
    settle(out, &[c])
}

/// out = a .* b, element by element.
///
/// # Errors
/// As [`axpby`].
pub fn multiply<T: Real, V: Values<T>>(a: &V, b: &V, out: &mut V) -> Result<()> {
    a.check_same(b, "b")?;
    a.check_same(out, "out")?;
    multiply_raw(a.values(), b.values(), out.values_mut())
}

/// out = a, on the device.
///
/// # Errors
/// As [`axpby`].
pub fn copy<T: Real, V: Values<T>>(a: &V, out: &mut V) -> Result<()> {
    a.check_same(out, "out")?;
    let out = out.values_mut();
    match out.context().shape() {
        // PoCL copies a buffer with one thread (25 GB/s where a kernel on two reaches 50).
        Shape::Cpu => scale_raw(T::one(), a.values(), out),
        Shape::Gpu => out.copy_from(a.values()),
    }
}

/// Every stored value of `out` = `value`; the padding of a band stays zero.
///
/// # Errors
/// Those of the enqueue.
pub fn fill<T: Real, V: Values<T>>(value: T, out: &mut V) -> Result<()> {
    out.values_mut().fill(value)?;
    if value == T::zero() { Ok(()) } else { out.restore() }
}
