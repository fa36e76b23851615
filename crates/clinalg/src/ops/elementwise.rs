//! Elementwise operations on the value arrays of vectors and matrices.

use crate::error::check_length;
use crate::matrix::Values;
use crate::runtime::kernels::{complex, vector};
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::tune::{self, Needs, Operation, Parameters};
use crate::{Buffer, Complex, Context, Csr, Error, Real, Result, Scalar, Vector};

/// The parameters of the kernels for GPUs.
pub(crate) static ELEMENTWISE: Operation = Operation::new(
    "elementwise",
    ABOUT,
    Parameters {
        family: KernelFamily::Gpu,
        names: &[
            ("local", "items of a work-group"),
            ("width", "elements that an item reads at once: 1, 2 or 4"),
            ("items", "such reads per item"),
        ],
        needs: |&[local, width, items, ..], _| {
            let sound = local > 0 && [1, 2, 4].contains(&width) && (1..=64).contains(&items);
            sound.then_some(Needs { group: local as usize, local_bytes: 0, tensor: false })
        },
        // Reads of 16 bytes (NVIDIA H200: 100 % of the copy bandwidth, single elements 90 %, in f32 63 %).
        default: |device, precision, _| [tune::local_size(device, 256, 0), 16 / precision.bytes() as u32, 1, 0, 0, 0],
    },
);

/// The parameters of the kernels for CPUs.
pub(crate) static ELEMENTWISE_CPU: Operation = Operation::new("elementwise_cpu", ABOUT, tune::CHUNKS);

const ABOUT: &str = "a x + b y and the like: each element read and written once";

/// Bytes from which the output of an elementwise operation on a CPU is written by non-temporal stores (AMD EPYC with
/// 32 MiB of last-level cache: copy 1.4 times, a x + b y 1.3 times as fast).
const STREAM_BYTES: usize = 32 << 20;

/// How an elementwise kernel for reals runs on the parts of `out`: its compilation, its range and the number of parts.
/// `in_place` says whether `out` is one of the inputs.
fn program<T: Scalar>(out: &Buffer<T>, in_place: bool) -> (vector::Program<T::Real>, Range, usize) {
    let (context, n) = (out.context(), out.len() * T::COMPONENTS);
    let program = vector::Program::new();
    match context.family() {
        KernelFamily::Gpu => {
            let [local, width, items, ..] = context.choice(&ELEMENTWISE, T::PRECISION, n);
            let wide = (n / width as usize).div_ceil(items as usize);
            // At least one group, for what is left of a few elements.
            let items_in_all = if n == 0 { 0 } else { wide.max(1) };
            (program.width(width.into()).items(items.into()), Range::d1(items_in_all, local as usize), n)
        }
        KernelFamily::Cpu => {
            // In place, the lines of the output are in the cache already.
            let stream = !in_place && n * T::PRECISION.bytes() >= STREAM_BYTES;
            let [chunks, ..] = context.choice(&ELEMENTWISE_CPU, T::PRECISION, n);
            let range = Range::d1((context.units() * chunks as usize).min(n), 1);
            (if stream { program.stream(1) } else { program }, range, n)
        }
    }
}

/// An error unless the operands are as long as `out` and in its context: the launch relies on nothing else.
fn check<T: Scalar, const N: usize>(operands: [(&'static str, &Buffer<T>); N], out: &Buffer<T>) -> Result<()> {
    for (argument, operand) in operands {
        if !operand.context().same(out.context()) {
            return Err(Error::Context { argument });
        }
        check_length(argument, out.len(), operand.len())?;
    }
    Ok(())
}

/// An item for each of `n` elements on a GPU, an item for each part of them on a CPU.
pub(crate) fn items(context: &Context, n: usize) -> Range {
    match context.family() {
        KernelFamily::Gpu => Range::d1(n, context.local()),
        KernelFamily::Cpu => Range::d1(context.chunks().min(n), 1),
    }
}

/// How a kernel of `complex.cl` runs on `n` elements.
fn scalar_program<T: Scalar>(context: &Context, n: usize) -> (complex::Program<T>, Range) {
    (complex::Program::new(), items(context, n))
}

/// Whether the imaginary parts of all factors are zero: then the parts of complex values are reals of their own.
fn are_real<T: Scalar>(factors: &[T]) -> bool {
    factors.iter().all(|factor| factor.im().into_f64() == 0.0)
}

/// out = alpha x + beta y on arrays of equal length; `out` may be one of the others.
fn axpby_raw<T: Scalar>(alpha: T, x: &Buffer<T>, beta: T, y: &Buffer<T>, out: &Buffer<T>) -> Result<()> {
    check([("x", x), ("y", y)], out)?;
    let (context, n) = (out.context(), out.len());
    if !are_real(&[alpha, beta]) {
        let (program, range) = scalar_program(context, n);
        return program.axpby_scalars(context, range, n, alpha, x, beta, y, Out::shared(out));
    }
    let (program, range, n) = program(out, out.same(x) || out.same(y));
    let (alpha, beta) = (alpha.re(), beta.re());
    program.axpby(context, range, n, alpha, In::parts(x), beta, In::parts(y), Out::parts(out))
}

/// out = x with the signs of its elements, or of their parts, changed without a pattern, always the same; one length and
/// context.
pub(crate) fn scatter_signs<T: Scalar>(x: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
    let (x, out) = (x.buffer(), out.buffer());
    check([("x", x)], out)?;
    let (program, range, n) = program(out, out.same(x));
    program.scatter_signs(out.context(), range, n, In::parts(x), Out::parts(out))
}

/// out = alpha x on arrays of equal length; `out` may be `x`.
pub(crate) fn scale_raw<T: Scalar>(alpha: T, x: &Buffer<T>, out: &Buffer<T>) -> Result<()> {
    check([("x", x)], out)?;
    let (context, n) = (out.context(), out.len());
    if !are_real(&[alpha]) {
        let (program, range) = scalar_program(context, n);
        return program.scale_scalars(context, range, n, alpha, x, Out::shared(out));
    }
    let (program, range, n) = program(out, out.same(x));
    program.scale(context, range, n, alpha.re(), In::parts(x), Out::parts(out))
}

/// out = x .* y on arrays of equal length; `out` may be one of the others.
fn multiply_raw<T: Scalar>(x: &Buffer<T>, y: &Buffer<T>, out: &Buffer<T>) -> Result<()> {
    check([("x", x), ("y", y)], out)?;
    let (context, n) = (out.context(), out.len());
    if T::IS_COMPLEX {
        let (program, range) = scalar_program(context, n);
        return program.multiply_scalars(context, range, n, x, y, Out::shared(out));
    }
    let (program, range, n) = program(out, out.same(x) || out.same(y));
    program.multiply(context, range, n, In::parts(x), In::parts(y), Out::parts(out))
}

/// Puts back what is no entry of `out` unless all factors are finite, for zero times them is zero.
fn restore_padding<T: Scalar, V: Values<T>>(out: &V, factors: &[T]) -> Result<()> {
    if factors.iter().all(|f| f.has_finite_parts()) { Ok(()) } else { out.restore() }
}

/// out = alpha x + beta y.
///
/// # Errors
/// Any of the operations of this module: [`Error::Shape`](crate::Error::Shape),
/// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that names
/// the argument which does not fit the first.
pub fn axpby<T: Scalar, V: Values<T>>(alpha: T, x: &V, beta: T, y: &V, out: &mut V) -> Result<()> {
    x.check_same(y, "y")?;
    x.check_same(out, "out")?;
    axpby_raw(alpha, x.values(), beta, y.values(), out.values_mut().buffer())?;
    restore_padding(out, &[alpha, beta])
}

/// y = alpha x + beta y; `beta = 0` never reads `y`.
///
/// # Errors
/// As [`axpby`].
pub fn update<T: Scalar, V: Values<T>>(alpha: T, x: &V, beta: T, y: &mut V) -> Result<()> {
    x.check_same(y, "y")?;
    let values = y.values_mut();
    if beta == T::zero() {
        scale_raw(alpha, x.values(), values.buffer())?;
    } else {
        axpby_raw(alpha, x.values(), beta, values.buffer(), values.buffer())?;
    }
    restore_padding(y, &[alpha, beta])
}

/// out = a + b.
///
/// # Errors
/// As [`axpby`].
pub fn add<T: Scalar, V: Values<T>>(a: &V, b: &V, out: &mut V) -> Result<()> {
    sub_scaled(a, b, -T::one(), out)
}

/// out = a - b.
///
/// # Errors
/// As [`axpby`].
pub fn sub<T: Scalar, V: Values<T>>(a: &V, b: &V, out: &mut V) -> Result<()> {
    sub_scaled(a, b, T::one(), out)
}

/// out = a - c b.
///
/// # Errors
/// As [`axpby`].
pub fn sub_scaled<T: Scalar, V: Values<T>>(a: &V, b: &V, c: T, out: &mut V) -> Result<()> {
    a.check_same(b, "b")?;
    a.check_same(out, "out")?;
    axpby_raw(T::one(), a.values(), -c, b.values(), out.values_mut().buffer())?;
    restore_padding(out, &[c])
}

/// out = c a.
///
/// # Errors
/// As [`axpby`].
pub fn scale<T: Scalar, V: Values<T>>(c: T, a: &V, out: &mut V) -> Result<()> {
    a.check_same(out, "out")?;
    scale_raw(c, a.values(), out.values_mut().buffer())?;
    restore_padding(out, &[c])
}

/// out = a .* b, element by element.
///
/// # Errors
/// As [`axpby`].
pub fn multiply<T: Scalar, V: Values<T>>(a: &V, b: &V, out: &mut V) -> Result<()> {
    a.check_same(b, "b")?;
    a.check_same(out, "out")?;
    multiply_raw(a.values(), b.values(), out.values_mut().buffer())
}

/// out = conj(a), element by element; a itself for real types.
///
/// # Errors
/// As [`axpby`].
pub fn conj<T: Scalar, V: Values<T>>(a: &V, out: &mut V) -> Result<()> {
    if !T::IS_COMPLEX {
        return copy(a, out);
    }
    a.check_same(out, "out")?;
    let (a, out) = (a.values(), out.values_mut());
    let (program, range) = scalar_program(a.context(), a.len());
    program.conj_scalars(a.context(), range, a.len(), a, Out::shared(out.buffer()))
}

/// The conjugate transpose of a sparse matrix, converted on the device.
///
/// # Errors
/// [`Error::Allocation`].
pub fn conj_transpose<T: Scalar>(a: &Csr<T>) -> Result<Csr<T>> {
    let transposed = a.transpose()?;
    if !T::IS_COMPLEX {
        return Ok(transposed);
    }
    let mut out = transposed.like()?;
    conj(&transposed, &mut out)?;
    Ok(out)
}

/// out = the real parts of a.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that names `out`.
pub fn real_part<T: Scalar>(a: &Vector<T>, out: &mut Vector<T::Real>) -> Result<()> {
    check_other("out", a, out)?;
    let (program, range) = scalar_program::<T>(a.context(), a.len());
    program.real_parts(a.context(), range, a.len(), a.buffer(), Out::shared(out.buffer()))
}

/// out = the imaginary parts of a; zeros for real types.
///
/// # Errors
/// As [`real_part`].
pub fn imaginary_part<T: Scalar>(a: &Vector<T>, out: &mut Vector<T::Real>) -> Result<()> {
    check_other("out", a, out)?;
    let (program, range) = scalar_program::<T>(a.context(), a.len());
    program.imaginary_parts(a.context(), range, a.len(), a.buffer(), Out::shared(out.buffer()))
}

/// out = |a|, element by element, without overflow or underflow of the squares.
///
/// # Errors
/// As [`real_part`].
pub fn abs<T: Scalar>(a: &Vector<T>, out: &mut Vector<T::Real>) -> Result<()> {
    check_other("out", a, out)?;
    let (program, range) = scalar_program::<T>(a.context(), a.len());
    program.moduli(a.context(), range, a.len(), a.buffer(), Out::shared(out.buffer()))
}

/// The 1-norm of a sparse matrix: the largest sum of the moduli of a column.
pub(crate) fn norm1_of_columns<T: Scalar>(a: &Csr<T>) -> Result<f64> {
    let context = a.context();
    let moduli = Buffer::uninit(context, a.nnz())?;
    let (program, range) = scalar_program::<T>(context, a.nnz());
    program.moduli(context, range, a.nnz(), a.values(), Out::shared(&moduli))?;
    let (zero, one) = (<T::Real as num_traits::Zero>::zero(), <T::Real as num_traits::One>::one());
    let ones = Vector::filled(context, a.rows(), one)?;
    let mut sums = Vector::zeros(context, a.cols())?;
    super::mv_transposed(one, &a.with_values(moduli)?, &ones, zero, &mut sums)?;
    Ok(super::norm_inf(&sums)?.into_f64())
}

/// out = re + i im, element by element.
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) or [`Error::Context`](crate::Error::Context) that names `im` or `out`.
pub fn complex<R: Real>(re: &Vector<R>, im: &Vector<R>, out: &mut Vector<Complex<R>>) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    check_other("im", re, im)?;
    check_other("out", re, out)?;
    let (program, range) = scalar_program::<Complex<R>>(re.context(), re.len());
    program.join_parts(re.context(), range, re.len(), re.buffer(), im.buffer(), Out::shared(out.buffer()))
}

/// An error that names `argument` unless `other` fits `a`, whose values may be of another type.
fn check_other<T: Scalar, U: Scalar>(argument: &'static str, a: &Vector<T>, other: &Vector<U>) -> Result<()> {
    if !a.context().same(other.context()) {
        return Err(Error::Context { argument });
    }
    check_length(argument, a.len(), other.len())
}

/// out = a, on the device.
///
/// # Errors
/// As [`axpby`].
pub fn copy<T: Scalar, V: Values<T>>(a: &V, out: &mut V) -> Result<()> {
    a.check_same(out, "out")?;
    let mut out = out.values_mut();
    match out.context().family() {
        // PoCL copies a buffer with one thread (25 GB/s where a kernel on two reaches 50).
        KernelFamily::Cpu => scale_raw(T::one(), a.values(), out.buffer()),
        KernelFamily::Gpu => out.copy_from(a.values()),
    }
}

/// Every stored value of `out` = `value`; the padding of a band stays zero.
///
/// # Errors
/// Those of the enqueue.
pub fn fill<T: Scalar, V: Values<T>>(value: T, out: &mut V) -> Result<()> {
    out.values_mut().fill(value)?;
    if value == T::zero() { Ok(()) } else { out.restore() }
}

/// An input of [`elementwise`].
#[derive(Debug)]
pub enum Input<'a, V> {
    /// Another object than the output.
    Other(&'a V),
    /// The output, as it was before the call.
    Output,
}

/// What [`elementwise`] computes from x and y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Elementwise<T> {
    /// alpha x + beta y.
    Axpby(T, T),
    /// alpha x.
    Scale(T),
    /// x .* y.
    Multiply,
}

/// An elementwise operation whose output may be one of its inputs or both. `Scale` ignores `y`.
///
/// # Errors
/// As [`axpby`].
pub fn elementwise<T: Scalar, V: Values<T>>(
    operation: Elementwise<T>,
    x: &Input<'_, V>,
    y: &Input<'_, V>,
    out: &mut V,
) -> Result<()> {
    for (input, argument) in [(x, "x"), (y, "y")] {
        if let Input::Other(input) = input {
            out.check_same(input, argument)?;
        }
    }
    let view = out.values_mut();
    let to = view.buffer();
    let [x, y] = [x, y].map(|input| match input {
        Input::Other(input) => input.values(),
        Input::Output => to,
    });
    match operation {
        Elementwise::Axpby(alpha, beta) => {
            axpby_raw(alpha, x, beta, y, to)?;
            restore_padding(out, &[alpha, beta])
        }
        Elementwise::Scale(alpha) => {
            scale_raw(alpha, x, to)?;
            restore_padding(out, &[alpha])
        }
        Elementwise::Multiply => multiply_raw(x, y, to),
    }
}
