//! Elementwise operations on the value arrays of vectors and matrices.

use crate::matrix::Values;
use crate::runtime::{Arg, Kernel, Range, Shape, files};
use crate::tune::STREAM_BYTES;
use crate::{Buffer, Real, Result, Vector};

/// Runs the variant of an elementwise kernel for the device: an item per element or per chunk. The last argument is `out`.
fn run<T: Real>(names: [&'static str; 2], out: &Buffer<T>, args: &[Arg]) -> Result<()> {
    let context = out.context();
    let kernel = |name| Kernel::new(&files::VECTOR, name, T::PRECISION);
    let (kernel, range) = match context.shape() {
        Shape::Gpu => (kernel(names[0]), Range::d1(out.len(), context.local())),
        Shape::Cpu => {
            // In place, the lines of the output are in the cache already.
            let in_place = args[..args.len() - 1].contains(&out.arg());
            let stream = !in_place && out.len() * size_of::<T>() >= STREAM_BYTES;
            let kernel = kernel(names[1]);
            let kernel = if stream { kernel.with(&[("STREAM", 1)]) } else { kernel };
            (kernel, Range::d1(context.chunks().min(out.len()), 1))
        }
    };
    context.run(&kernel, range, args)
}

/// out = alpha x + beta y on arrays of equal length; `out` may be one of the others.
pub(crate) fn axpby_raw<T: Real>(alpha: T, x: &Buffer<T>, beta: T, y: &Buffer<T>, out: &Buffer<T>) -> Result<()> {
    let n = Arg::size(out.len());
    run(["axpby_gpu", "axpby_cpu"], out, &[n, alpha.arg().0, x.arg(), beta.arg().0, y.arg(), out.arg()])
}

/// out = a x + b y + c z on vectors of one length and context; `None` stands for `out` itself.
pub(crate) fn axpbypcz<T: Real>(
    a: T,
    x: &Vector<T>,
    b: T,
    y: Option<&Vector<T>>,
    c: T,
    z: &Vector<T>,
    out: &mut Vector<T>,
) -> Result<()> {
    let y = y.unwrap_or(out).buffer().arg();
    let (x, z, out) = (x.buffer(), z.buffer(), out.buffer());
    let n = Arg::size(out.len());
    let args = [n, a.arg().0, x.arg(), b.arg().0, y, c.arg().0, z.arg(), out.arg()];
    run(["axpbypcz_gpu", "axpbypcz_cpu"], out, &args)
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
