//! Functions element by element, with operands that are repeated, and reductions along a dimension.

use super::elementwise::items;
use super::expression::{Node, evaluate_to};
use crate::error::check_length;
use crate::runtime::Out;
use crate::runtime::kernels::array;
use crate::{Error, KernelFamily, Result, Scalar, Vector};

/// A function of one number, a real one where nothing else is said; of complex numbers [`Exp`](Unary::Exp), [`Log`](Unary::Log), [`Sqrt`](Unary::Sqrt)
/// (principal values), [`Sin`](Unary::Sin) and [`Cos`](Unary::Cos) as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
#[non_exhaustive]
pub enum Unary {
    /// Exponential.
    Exp = 0,
    /// Natural logarithm; NaN for negative real numbers.
    Log = 1,
    /// Square root; NaN for negative real numbers.
    Sqrt = 2,
    /// Sine.
    Sin = 3,
    /// Cosine.
    Cos = 4,
    /// Tangent.
    Tan = 5,
    /// Inverse tangent.
    Atan = 6,
    /// Hyperbolic tangent.
    Tanh = 7,
    /// Towards minus infinity.
    Floor = 8,
    /// Towards plus infinity.
    Ceil = 9,
    /// To the nearest integer, halves away from zero.
    Round = 10,
    /// Towards zero.
    Fix = 11,
    /// -1, 0 or 1; 0 of -0, NaN of NaN.
    Sign = 12,
    /// -x, of real and complex numbers.
    Negative = 13,
    /// Magnitude.
    Abs = 14,
    /// exp(x) - 1.
    Expm1 = 15,
    /// Hyperbolic sine.
    Sinh = 16,
    /// Hyperbolic cosine.
    Cosh = 17,
    /// Inverse hyperbolic sine.
    Asinh = 18,
    /// Conjugate, of complex numbers.
    Conjugate = 19,
}

/// A function of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
#[non_exhaustive]
pub enum Binary {
    /// x + y.
    Plus = 0,
    /// x - y.
    Minus = 1,
    /// x y.
    Times = 2,
    /// x / y, of complex numbers by Smith's scaling.
    Divide = 3,
    /// The larger one, of real numbers; the first of equal ones (0 and -0), the other one of NaN.
    Max = 4,
    /// The smaller one, of real numbers; the first of equal ones, the other one of NaN.
    Min = 5,
    /// The angle of the point (y, x), of real numbers.
    Atan2 = 6,
    /// sqrt(x^2 + y^2) without overflow, of real numbers.
    Hypot = 7,
    /// x to the power y, of real numbers; NaN where that is complex.
    Power = 8,
    /// x times the real part of y, part by part, of complex numbers.
    TimesReal = 9,
    /// x divided by the real part of y, part by part, of complex numbers.
    DivideReal = 10,
    /// x - y floor(x / y), with the sign of y, of real numbers; x for y = 0. Where y is no integer and x / y is one up to rounding, 0. The
    /// quotient is rounded: 0 for quotients beyond the range of exact integers.
    Mod = 11,
    /// x - y trunc(x / y), with the sign of x, of real numbers; NaN for y = 0. Otherwise as [`Binary::Mod`].
    Rem = 12,
}

/// What joins the elements of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
#[non_exhaustive]
pub enum Reduction {
    /// The sum; 0 of none.
    Sum = 0,
    /// The product; 1 of none.
    Product = 1,
    /// The largest of real numbers; NaN where all are.
    Max = 2,
    /// The smallest of real numbers; NaN where all are.
    Min = 3,
}

/// out = f(x), element by element. Traffic: one read and one write per element. The functions round as the device's OpenCL does (within 4 ulp).
///
/// # Errors
/// [`Error::Length`] or [`Error::Context`] that names `out`; [`Error::Value`] for a function that numbers of this type do not have.
pub fn map<T: Scalar>(f: Unary, x: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
    if !x.context().same(out.context()) {
        return Err(Error::Context { argument: "out" });
    }
    check_length("out", x.len(), out.len())?;
    let shape = (x.len(), 1);
    evaluate_to(&[Node::Input(0), Node::One(f, 0)], &[(shape, x)], shape, out)
}

/// Steps down and right through an operand of this shape, 0 where it is repeated to `whole`.
pub(super) fn steps(argument: &'static str, shape: (usize, usize), whole: (usize, usize)) -> Result<(usize, usize)> {
    let fits = |own: usize, other: usize| own == other || own == 1;
    if !fits(shape.0, whole.0) || !fits(shape.1, whole.1) {
        return Err(Error::Shape {
            argument,
            expected: format!("{} x {}, or 1 in place of one of them", whole.0, whole.1),
            got: format!("{} x {}", shape.0, shape.1),
        });
    }
    Ok((usize::from(shape.0 != 1), if shape.1 == 1 { 0 } else { shape.0 }))
}

/// The shape of the result for operands of these shapes, of which a length of 1 is repeated.
///
/// # Errors
/// [`Error::Shape`] that names `y`.
pub fn expanded(x: (usize, usize), y: (usize, usize)) -> Result<(usize, usize)> {
    let longer = |a: usize, b: usize| if a == 1 { b } else { a };
    let whole = (longer(x.0, y.0), longer(x.1, y.1));
    steps("y", y, whole)?;
    Ok(whole)
}

/// out = f(x, y), element by element, for arrays of these shapes; a row, a column or a number is repeated. `out` has the shape that
/// [`expanded`] gives. Traffic: two reads and one write per element of `out`.
///
/// # Errors
/// [`Error::Shape`] that names `y`; [`Error::Length`] or [`Error::Context`] that names the argument; [`Error::Value`] for a function of real numbers
/// where they are complex.
pub fn map2<T: Scalar>(
    f: Binary,
    (x_shape, x): ((usize, usize), &Vector<T>),
    (y_shape, y): ((usize, usize), &Vector<T>),
    out: &mut Vector<T>,
) -> Result<()> {
    let whole = expanded(x_shape, y_shape)?;
    for (argument, length, operand) in
        [("x", x_shape.0 * x_shape.1, x), ("y", y_shape.0 * y_shape.1, y), ("out", whole.0 * whole.1, &*out)]
    {
        check_length(argument, length, operand.len())?;
        if !operand.context().same(x.context()) {
            return Err(Error::Context { argument });
        }
    }
    evaluate_to(&[Node::Input(0), Node::Input(1), Node::Two(f, 0, 1)], &[(x_shape, x), (y_shape, y)], whole, out)
}

/// Elements that one item joins one after the other: the rounding error of a sum grows with their number.
const BLOCK: usize = 512;
/// Items side by side that read neighbouring elements of a column on a GPU.
const LANES: usize = 32;

/// out = the elements of x along its second dimension joined, where x is `inner` x `length` x `outer` and out `inner` x `outer`: sums of the columns of a
/// matrix for `inner` = 1, of its rows for `outer` = 1. Traffic: each element read once. The same device gives the same bits.
///
/// # Errors
/// [`Error::Length`] or [`Error::Context`] that names the argument; [`Error::Value`] for an extremum of complex numbers;
/// [`Error::Allocation`] for partial results.
pub fn reduce_along<T: Scalar>(
    join: Reduction,
    [inner, length, outer]: [usize; 3],
    x: &Vector<T>,
    out: &mut Vector<T>,
) -> Result<()> {
    if T::IS_COMPLEX && matches!(join, Reduction::Max | Reduction::Min) {
        return Err(Error::value("join", "a sum or product of complex numbers", format!("{join:?}")));
    }
    if !x.context().same(out.context()) {
        return Err(Error::Context { argument: "out" });
    }
    check_length("x", inner * length * outer, x.len())?;
    check_length("out", inner * outer, out.len())?;
    let (context, program) = (x.context(), array::Program::<T>::new());
    if inner * outer == 0 {
        return Ok(());
    }
    let lanes = match context.family() {
        KernelFamily::Gpu if inner < LANES => LANES,
        _ => 1,
    };
    let (mut partial, mut length): (Option<Vector<T>>, usize) = (None, length);
    loop {
        let parts = length.div_ceil(BLOCK).max(if length > 4 * lanes { lanes } else { 1 });
        let results = inner * parts * outer;
        let from = partial.as_ref().unwrap_or(x);
        let launch = |to: &Vector<T>| {
            let to = Out::shared(to.buffer());
            let range = items(context, results);
            program.reduce_along(context, range, join as usize, inner, length, parts, results, from.buffer(), to)
        };
        if parts <= 1 {
            return launch(out);
        }
        let next = Vector::zeros(context, results)?;
        launch(&next)?;
        (partial, length) = (Some(next), parts);
    }
}
