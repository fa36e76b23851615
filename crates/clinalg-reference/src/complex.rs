//! What complex numbers add: conjugation in dot products and transposes. Products with A itself are those of
//! [`dense`](crate::dense), [`csr`](crate::csr) and [`band`](crate::band), which take complex numbers as they are.
use num_complex::Complex;

use crate::{Real, combine, vector};

/// Real and imaginary parts, one after the other.
pub fn parts<T: Real>(a: &[Complex<T>]) -> Vec<T> {
    a.iter().flat_map(|z| [z.re, z.im]).collect()
}

fn each<T: Real>(a: &[Complex<T>], part: impl Fn(&Complex<T>) -> T) -> Vec<T> {
    a.iter().map(part).collect()
}

/// `sum conj(a) b`, each part as two sums in twice the precision.
///
/// # Panics
/// When the lengths differ.
pub fn dot<T: Real>(a: &[Complex<T>], b: &[Complex<T>]) -> Complex<T> {
    assert_eq!(a.len(), b.len(), "a and b differ in length");
    let [ar, ai, br, bi] = [each(a, |z| z.re), each(a, |z| z.im), each(b, |z| z.re), each(b, |z| z.im)];
    let plus = |x: &[T], y: &[T], u: &[T], v: &[T]| vector::dot(&[x, u].concat(), &[y, v].concat());
    let minus: Vec<T> = ai.iter().map(|&v| -v).collect();
    Complex::new(plus(&ar, &br, &ai, &bi), plus(&ar, &bi, &minus, &br))
}

/// `alpha x + beta y`, element by element.
///
/// # Panics
/// When the lengths differ.
pub fn axpby<T: Real>(alpha: Complex<T>, x: &[Complex<T>], beta: Complex<T>, y: &[Complex<T>], out: &mut [Complex<T>]) {
    assert!(x.len() == out.len() && y.len() == out.len(), "lengths differ");
    for (i, out) in out.iter_mut().enumerate() {
        *out = alpha * x[i] + beta * y[i];
    }
}

/// `y = alpha A^H x + beta y` with `A` of `rows` by `cols` column by column, `x` of length `rows` and `y` of length `cols`;
/// `beta = 0` never reads `y`.
///
/// # Panics
/// When a length does not fit the shape.
pub fn mv_conj_transposed<T: Real>(
    alpha: Complex<T>,
    a: &[Complex<T>],
    (rows, cols): (usize, usize),
    x: &[Complex<T>],
    beta: Complex<T>,
    y: &mut [Complex<T>],
) {
    assert_eq!(a.len(), rows * cols, "a is not rows * cols long");
    assert_eq!(x.len(), rows, "x is not rows long");
    assert_eq!(y.len(), cols, "y is not cols long");
    for (j, y) in y.iter_mut().enumerate() {
        let column = a[j * rows..(j + 1) * rows].iter().zip(x);
        let product = column.fold(Complex::new(T::zero(), T::zero()), |sum, (a, &x)| sum + a.conj() * x);
        *y = combine(alpha, product, beta, *y);
    }
}

/// `A B^H` of `m` by `n`, with `A` of `m` by `k` and `B` of `n` by `k`, all column by column.
///
/// # Panics
/// When a length does not fit the shape.
pub fn mm_conj_transposed<T: Real>(
    a: &[Complex<T>],
    b: &[Complex<T>],
    (m, n, k): (usize, usize, usize),
) -> Vec<Complex<T>> {
    assert_eq!(a.len(), m * k, "a is not m * k long");
    assert_eq!(b.len(), n * k, "b is not n * k long");
    let zero = Complex::new(T::zero(), T::zero());
    (0..m * n).map(|e| (0..k).fold(zero, |sum, l| sum + a[l * m + e % m] * b[l * n + e / m].conj())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const I: Complex<f64> = Complex::new(0.0, 1.0);

    fn c(re: f64, im: f64) -> Complex<f64> {
        Complex::new(re, im)
    }

    #[test]
    fn the_dot_product_conjugates_its_first_argument() {
        // conj(1 + 2i) (3 - i) + conj(i) 5 = (3 - 2 - i - 6i) - 5i
        assert_eq!(dot(&[c(1.0, 2.0), I], &[c(3.0, -1.0), c(5.0, 0.0)]), c(1.0, -12.0));
        assert_eq!(dot::<f64>(&[], &[]), c(0.0, 0.0));
    }

    #[test]
    fn sums_by_hand() {
        let mut out = [c(0.0, 0.0)];
        axpby(I, &[c(2.0, 1.0)], c(1.0, 1.0), &[c(0.0, 3.0)], &mut out);
        assert_eq!(out, [c(-4.0, 5.0)]);
        assert_eq!(parts(&[c(1.0, 2.0), I]), [1.0, 2.0, 0.0, 1.0]);
    }

    #[test]
    fn products_by_hand() {
        // [1+i 2; 0 -i] by columns.
        let a = [c(1.0, 1.0), c(0.0, 0.0), c(2.0, 0.0), -I];
        let mut y = [c(f64::NAN, 0.0); 2];
        mv_conj_transposed(c(1.0, 0.0), &a, (2, 2), &[I, c(3.0, 0.0)], c(0.0, 0.0), &mut y);
        assert_eq!(y, [c(1.0, 1.0), c(0.0, 5.0)]);
        // A A^H = [2 + 4, 2 i; -2 i, 1].
        assert_eq!(mm_conj_transposed(&a, &a, (2, 2, 2)), [c(6.0, 0.0), c(0.0, -2.0), c(0.0, 2.0), c(1.0, 0.0)]);
    }
}
