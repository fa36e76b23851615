//! What kernels compute, in the memory of the host, for arrays so small that a kernel costs more than the work.
//!
//! Arithmetic of real numbers element by element gives the bits of the kernels. Complex products and quotients and functions such as `exp` differ by a few
//! units in the last place; sums, products of matrices and solutions by the order of their additions.

use num_traits::{Float, Zero};

use super::expression::Node;
use super::factor::estimate_by;
use super::gemm::Transpose;
use super::map::{Binary, Reduction, Unary, steps};
use super::part::Span;
use super::reduce::{larger, norm_by_squares};
use crate::{Real, Result, Scalar};

type Shape = (usize, usize);

/// Elements of each intermediate result at a time: they stay in the cache.
const BLOCK: usize = 512;
/// Numbers that are added one after the other; the rounding error of a sum grows with it.
const RUN: usize = 128;

/// The value of the last node, element by element, as [`evaluate`](super::evaluate) gives it; `None` for functions that only kernels have (of complex
/// numbers). Operands are earlier nodes and inputs have their shapes' lengths, as there.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) that names `inputs`.
pub fn evaluate<T: Scalar>(nodes: &[Node<T>], inputs: &[(Shape, &[T])], shape: Shape) -> Result<Option<Vec<T>>> {
    if T::IS_COMPLEX && nodes.iter().any(|node| matches!(node, Node::One(f, _) if !is_plain_complex(*f))) {
        return Ok(None);
    }
    let count = shape.0 * shape.1;
    let same = inputs.iter().all(|(own, _)| *own == shape);
    let rows = if same { count } else { shape.0 };
    let strides = inputs.iter().map(|&(own, _)| if own == shape { Ok((1, rows)) } else { steps("inputs", own, shape) });
    let strides = strides.collect::<Result<Vec<_>>>()?;
    let block = BLOCK.min(count);
    let mut places = vec![T::zero(); nodes.len() * block];
    let mut out = Vec::with_capacity(count);
    while out.len() < count {
        let start = out.len();
        let used = block.min(count - start);
        for (at, node) in nodes.iter().enumerate() {
            let (before, rest) = places.split_at_mut(at * block);
            let to = &mut rest[..used];
            let operand = |k: usize| &before[k * block..k * block + used];
            match *node {
                Node::Input(k) if strides[k] == (1, rows) => to.copy_from_slice(&inputs[k].1[start..start + used]),
                Node::Input(k) => {
                    let (down, right) = strides[k];
                    let (mut i, mut j) = (start % rows, start / rows);
                    for value in to {
                        *value = inputs[k].1[i * down + j * right];
                        i += 1;
                        if i == rows {
                            (i, j) = (0, j + 1);
                        }
                    }
                }
                Node::Number(number) => to.fill(number),
                Node::One(f, a) => one(f, operand(a), to),
                Node::Two(f, a, b) => two(f, operand(a), operand(b), to),
            }
        }
        let last = (nodes.len() - 1) * block;
        out.extend_from_slice(&places[last..last + used]);
    }
    Ok(Some(out))
}

fn is_plain_complex(f: Unary) -> bool {
    matches!(f, Unary::Negative | Unary::Conjugate)
}

/// to = f(a). Complex numbers have the functions of [`is_plain_complex`].
fn one<T: Scalar>(f: Unary, a: &[T], to: &mut [T]) {
    fn each<T: Scalar>(a: &[T], to: &mut [T], f: impl Fn(T) -> T) {
        for (to, a) in to.iter_mut().zip(a) {
            *to = f(*a);
        }
    }
    macro_rules! real {
        ($f:expr) => {
            each(a, to, |a| T::from_real($f(a.re())))
        };
    }
    match f {
        Unary::Negative => each(a, to, |a| -a),
        Unary::Conjugate => each(a, to, T::conj),
        Unary::Exp => real!(Float::exp),
        Unary::Log => real!(Float::ln),
        Unary::Sqrt => real!(Float::sqrt),
        Unary::Sin => real!(Float::sin),
        Unary::Cos => real!(Float::cos),
        Unary::Tan => real!(Float::tan),
        Unary::Atan => real!(Float::atan),
        Unary::Tanh => real!(Float::tanh),
        Unary::Floor => real!(Float::floor),
        Unary::Ceil => real!(Float::ceil),
        Unary::Round => real!(Float::round),
        Unary::Fix => real!(Float::trunc),
        Unary::Sign => real!(|a: T::Real| {
            let zero = T::zero().re();
            if a > zero {
                T::one().re()
            } else if a < zero {
                -T::one().re()
            } else if a == zero {
                zero
            } else {
                a
            }
        }),
        Unary::Abs => real!(Float::abs),
        Unary::Expm1 => real!(Float::exp_m1),
        Unary::Sinh => real!(Float::sinh),
        Unary::Cosh => real!(Float::cosh),
        Unary::Asinh => real!(Float::asinh),
    }
}

/// to = f(a, b).
fn two<T: Scalar>(f: Binary, a: &[T], b: &[T], to: &mut [T]) {
    fn each<T: Scalar>(a: &[T], b: &[T], to: &mut [T], f: impl Fn(T, T) -> T) {
        for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
            *to = f(*a, *b);
        }
    }
    macro_rules! real {
        ($f:expr) => {
            each(a, b, to, |a, b| T::from_real($f(a.re(), b.re())))
        };
    }
    match f {
        Binary::Plus => each(a, b, to, |a, b| a + b),
        Binary::Minus => each(a, b, to, |a, b| a - b),
        Binary::Times => each(a, b, to, |a, b| a * b),
        Binary::Divide => each(a, b, to, quotient),
        Binary::TimesReal => each(a, b, to, |a, b| T::from_parts(a.re() * b.re(), a.im() * b.re())),
        Binary::DivideReal => each(a, b, to, |a, b| T::from_parts(a.re() / b.re(), a.im() / b.re())),
        Binary::Max => real!(|a: T::Real, b: T::Real| if a >= b || b.is_nan() { a } else { b }),
        Binary::Min => real!(|a: T::Real, b: T::Real| if a <= b || b.is_nan() { a } else { b }),
        Binary::Atan2 => real!(Float::atan2),
        Binary::Hypot => real!(Float::hypot),
        Binary::Power => real!(Float::powf),
        Binary::Mod => real!(|a, b| modulo(a, b, false)),
        Binary::Rem => real!(|a, b| modulo(a, b, true)),
    }
}

/// a / b, of complex numbers by Smith's scaling.
fn quotient<T: Scalar>(a: T, b: T) -> T {
    if !T::IS_COMPLEX {
        return a / b;
    }
    let ((x, y), (re, im)) = ((a.re(), a.im()), (b.re(), b.im()));
    let is_wide = re.abs() >= im.abs();
    let ratio = if is_wide { im / re } else { re / im };
    let scale = if is_wide { re + im * ratio } else { re * ratio + im };
    let (top, imaginary) = if is_wide { (x + y * ratio, y - x * ratio) } else { (x * ratio + y, y * ratio - x) };
    T::from_parts(top / scale, imaginary / scale)
}

/// The remainder of [`Binary::Mod`] and [`Binary::Rem`], as the kernel has it.
fn modulo<R: Real>(x: R, y: R, towards_zero: bool) -> R {
    let half = R::nearest(0.5);
    let quotient = x / y;
    let nearest = (quotient + half).floor();
    let mut rest = x - y * if towards_zero { quotient.trunc() } else { quotient.floor() };
    if (y + half).floor() != y && ((quotient - nearest) / nearest).abs() < R::epsilon() {
        rest = R::zero();
    }
    if x != y {
        rest = rest.copysign(if towards_zero { x } else { y });
    }
    if y == R::zero() {
        rest = if towards_zero { R::nan() } else { x };
    }
    rest
}

/// x joined along its second dimension, as [`reduce_along`](super::reduce_along). Extrema are of real numbers.
pub fn reduce_along<T: Scalar>(join: Reduction, [inner, length, outer]: [usize; 3], x: &[T]) -> Vec<T> {
    let mut out = Vec::with_capacity(inner * outer);
    for o in 0..outer {
        let from = &x[o * inner * length..(o + 1) * inner * length];
        match join {
            Reduction::Sum => add_rows(&mut out, inner, from),
            Reduction::Product => fold_rows(&mut out, inner, from, T::one(), |total, a| total * a),
            Reduction::Max => fold_rows(&mut out, inner, from, nan(), |total, a| {
                if a.re() > total.re() || total.re().is_nan() { a } else { total }
            }),
            Reduction::Min => fold_rows(&mut out, inner, from, nan(), |total, a| {
                if a.re() < total.re() || total.re().is_nan() { a } else { total }
            }),
        }
    }
    out
}

fn nan<T: Scalar>() -> T {
    T::from_real(T::Real::nan())
}

fn fold_rows<T: Scalar>(out: &mut Vec<T>, inner: usize, x: &[T], start: T, join: impl Fn(T, T) -> T) {
    if inner == 1 {
        out.push(x.iter().fold(start, |total, &a| join(total, a)));
        return;
    }
    let first = out.len();
    out.resize(first + inner, start);
    for row in x.chunks_exact(inner.max(1)) {
        for (total, &a) in out[first..].iter_mut().zip(row) {
            *total = join(*total, a);
        }
    }
}

/// Appends the sums of the elements of x at equal positions modulo `inner`.
fn add_rows<T: Scalar>(out: &mut Vec<T>, inner: usize, x: &[T]) {
    if inner == 1 {
        out.push(sum_of(x, x, |a, _| a));
        return;
    }
    let length = x.len() / inner.max(1);
    if length <= RUN {
        fold_rows(out, inner, x, T::zero(), |total, a| total + a);
        return;
    }
    let (first, second) = x.split_at(length / 2 * inner);
    let at = out.len();
    add_rows(out, inner, first);
    let mut others = Vec::with_capacity(inner);
    add_rows(&mut others, inner, second);
    for (total, a) in out[at..].iter_mut().zip(others) {
        *total += a;
    }
}

/// The sum of term(a[i], b[i]), in pairs of runs of eight interleaved sums.
fn sum_of<T: Copy, W: Scalar>(a: &[T], b: &[T], term: impl Fn(T, T) -> W + Copy) -> W {
    if a.len() > 8 * RUN {
        let (a, b) = (a.split_at(a.len() / 16 * 8), b.split_at(a.len() / 16 * 8));
        return sum_of(a.0, b.0, term) + sum_of(a.1, b.1, term);
    }
    let mut totals = [W::zero(); 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a.remainder().iter().zip(b.remainder()).fold(W::zero(), |total, (a, b)| total + term(*a, *b));
    for (a, b) in a.zip(b) {
        for lane in 0..8 {
            totals[lane] += term(a[lane], b[lane]);
        }
    }
    let [a, b, c, d, e, f, g, h] = totals;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}

/// The sum of all elements.
pub fn sum<T: Scalar>(x: &[T]) -> T {
    T::narrow(sum_of(x, x, |a, _| a.widen()))
}

/// The sum of conj(a) b, or with `conjugate` false of a b; both have the same length.
pub fn dot<T: Scalar>(conjugate: bool, a: &[T], b: &[T]) -> T {
    T::narrow(match conjugate {
        true => sum_of(a, b, |a, b| a.widen().conj() * b.widen()),
        false => sum_of(a, b, |a, b| a.widen() * b.widen()),
    })
}

/// The sum of the moduli.
pub fn norm1<T: Scalar>(x: &[T]) -> T::Real {
    T::Real::from_f64(sum_of(x, x, |a, _| a.widen().modulus()))
}

/// The Euclidean norm, without overflow or underflow of the squares.
pub fn norm2<T: Scalar>(x: &[T]) -> T::Real {
    let squares = |s: T::Real| {
        let s = s.into_f64();
        Ok(sum_of(x, x, |a, _| {
            let value = a.widen();
            T::Wide::from_parts(value.re() * s, value.im() * s).norm_sqr()
        }))
    };
    let largest = || {
        let part = |a: &T| larger(a.re().abs(), a.im().abs());
        Ok(x.iter().map(part).fold(T::Real::zero(), larger))
    };
    norm_by_squares::<T::Real>(x.len() * T::COMPONENTS, squares, largest).expect("nothing fails on the host")
}

/// The largest modulus; NaN if one is NaN; 0 for none.
pub fn norm_inf<T: Scalar>(x: &[T]) -> T::Real {
    x.iter().map(|a| a.modulus()).fold(T::Real::zero(), larger)
}

/// The elements at positions of an array of this shape, as [`take`](super::take); `None` for positions that it does not have.
pub fn take<T: Scalar>(shape: Shape, a: &[T], rows: Span<'_>, cols: Span<'_>) -> Option<Vec<T>> {
    let mut out = Vec::with_capacity(rows.count() * cols.count());
    if rows.check("rows", shape.0).is_err() || cols.check("cols", shape.1).is_err() {
        return None;
    }
    for j in 0..cols.count() {
        let column = &a[cols.at(j) * shape.0..][..shape.0];
        match rows {
            Span::Range { first, step: 1, count } => out.extend_from_slice(&column[first..first + count]),
            _ => out.extend((0..rows.count()).map(|i| column[rows.at(i)])),
        }
    }
    Some(out)
}

/// An array of this shape with other values at positions that it has, as [`put`](super::put): column by column, or one for all.
pub fn put<T: Scalar>(shape: Shape, mut a: Vec<T>, rows: Span<'_>, cols: Span<'_>, values: &[T]) -> Vec<T> {
    let count = rows.count();
    for j in 0..cols.count() {
        let column = &mut a[cols.at(j) * shape.0..][..shape.0];
        match (values, rows) {
            (&[value], _) => (0..count).for_each(|i| column[rows.at(i)] = value),
            (_, Span::Range { first, step: 1, .. }) => {
                column[first..first + count].copy_from_slice(&values[j * count..(j + 1) * count]);
            }
            _ => (0..count).for_each(|i| column[rows.at(i)] = values[j * count + i]),
        }
    }
    a
}

/// The transpose of a matrix with `rows` rows, conjugated if asked for.
pub fn transpose<T: Scalar>((rows, cols): Shape, a: &[T], conjugate: bool) -> Vec<T> {
    let mut out = Vec::with_capacity(a.len());
    for i in 0..rows {
        let row = (0..cols).map(|j| a[i + j * rows]);
        if conjugate { out.extend(row.map(T::conj)) } else { out.extend(row) }
    }
    out
}

/// A B, where A has `rows` rows and as many columns, `inner`, as B has rows.
pub fn multiply<T: Scalar>(rows: usize, inner: usize, a: &[T], b: &[T]) -> Vec<T> {
    let cols = b.len() / inner.max(1);
    let mut out = vec![T::zero(); rows * cols];
    for (to, b) in out.chunks_exact_mut(rows.max(1)).zip(b.chunks_exact(inner.max(1))) {
        for (a, &factor) in a.chunks_exact(rows.max(1)).zip(b) {
            for (to, &a) in to.iter_mut().zip(a) {
                *to += a * factor;
            }
        }
    }
    out
}

/// X with A X = B for an n x n matrix A, by substitution for a triangle, else LU with partial pivoting, and an estimate of the reciprocal condition
/// number of A in the 1-norm. `None` where A is singular or has elements that are not finite: [`left_divide`](super::left_divide) says what is wrong.
pub fn left_divide<T: Scalar>(n: usize, a: &[T], b: &[T]) -> Option<(Vec<T>, f64)> {
    if n == 0 || !a.iter().all(|value| value.has_finite_parts()) {
        return None;
    }
    let norm = a.chunks_exact(n).map(|column| norm1(column).into_f64()).fold(0.0, f64::max);
    let lu = Lu::new(n, a)?;
    let mut x = b.to_vec();
    x.chunks_exact_mut(n).for_each(|x| lu.solve(Transpose::No, x));
    let apply = |op: Transpose, x: &[T]| {
        let mut x = x.to_vec();
        lu.solve(op, &mut x);
        Ok(x)
    };
    let reciprocal = estimate_by(n, norm, apply).expect("nothing fails on the host");
    Some((x, reciprocal))
}

/// P A = L U.
struct Lu<T> {
    n: usize,
    /// U and, below the diagonal, L.
    factors: Vec<T>,
    /// Row k was exchanged with this one.
    pivots: Vec<usize>,
}

impl<T: Scalar> Lu<T> {
    fn new(n: usize, a: &[T]) -> Option<Lu<T>> {
        let size = |a: T| larger(a.re().abs(), a.im().abs());
        // A lower triangle is solved by substitution, without exchanges.
        let is_lower = (1..n).all(|j| a[j * n..j * n + j].iter().all(T::is_zero));
        let (mut factors, mut pivots) = (a.to_vec(), Vec::with_capacity(n));
        for k in 0..n {
            let (done, rest) = factors.split_at_mut((k + 1) * n);
            let (earlier, column) = done.split_at_mut(k * n);
            let mut pivot = k;
            for i in k + 1..n {
                if !is_lower && size(column[i]) > size(column[pivot]) {
                    pivot = i;
                }
            }
            if column[pivot].is_zero() {
                return None;
            }
            pivots.push(pivot);
            column.swap(k, pivot);
            let diagonal = column[k];
            for value in &mut column[k + 1..] {
                *value = quotient(*value, diagonal);
            }
            for other in rest.chunks_exact_mut(n) {
                other.swap(k, pivot);
                let factor = other[k];
                for (value, &lower) in other[k + 1..].iter_mut().zip(&column[k + 1..]) {
                    *value -= lower * factor;
                }
            }
            for other in earlier.chunks_exact_mut(n) {
                other.swap(k, pivot);
            }
        }
        Some(Lu { n, factors, pivots })
    }

    fn solve(&self, op: Transpose, x: &mut [T]) {
        let n = self.n;
        let column = |k: usize| &self.factors[k * n..(k + 1) * n];
        if op == Transpose::No {
            for (k, &pivot) in self.pivots.iter().enumerate() {
                x.swap(k, pivot);
            }
            for k in 0..n {
                let factor = x[k];
                x[k + 1..].iter_mut().zip(&column(k)[k + 1..]).for_each(|(x, &lower)| *x -= lower * factor);
            }
            for k in (0..n).rev() {
                x[k] = quotient(x[k], column(k)[k]);
                let factor = x[k];
                x[..k].iter_mut().zip(column(k)).for_each(|(x, &upper)| *x -= upper * factor);
            }
            return;
        }
        let part = |a: T| if op == Transpose::Conjugate { a.conj() } else { a };
        for k in 0..n {
            let known = x[..k].iter().zip(column(k)).fold(T::zero(), |total, (&x, &a)| total + part(a) * x);
            x[k] = quotient(x[k] - known, part(column(k)[k]));
        }
        for k in (0..n).rev() {
            let known = x[k + 1..].iter().zip(&column(k)[k + 1..]);
            x[k] -= known.fold(T::zero(), |total, (&x, &a)| total + part(a) * x);
        }
        for (k, &pivot) in self.pivots.iter().enumerate().rev() {
            x.swap(k, pivot);
        }
    }
}
