//! Vector operations and reductions on slices.
//!
//! The reductions accumulate in double precision with the rounding error of each step carried along, so that their
//! result is the exact one rounded, up to conditioning of order `eps^2`: good enough to judge any order of summation.
//! NaN and infinities propagate as in MATLAB, and an empty slice gives 0.
use crate::{Real, from_f64, to_f64};

/// `out = alpha x + beta y`, all of one length. A zero factor does not hide NaN or Inf of its vector.
///
/// # Panics
/// When the lengths differ.
pub fn axpby<T: Real>(alpha: T, x: &[T], beta: T, y: &[T], out: &mut [T]) {
    map2(x, y, out, |x, y| alpha * x + beta * y);
}

/// `y = alpha x + beta y`, both of one length. A zero factor does not hide NaN or Inf of its vector.
///
/// # Panics
/// When the lengths differ.
pub fn update<T: Real>(alpha: T, x: &[T], beta: T, y: &mut [T]) {
    assert_eq!(x.len(), y.len(), "x and y differ in length");
    for (y, &x) in y.iter_mut().zip(x) {
        *y = alpha * x + beta * *y;
    }
}

/// `out = a + b`, all of one length.
///
/// # Panics
/// When the lengths differ.
pub fn add<T: Real>(a: &[T], b: &[T], out: &mut [T]) {
    map2(a, b, out, |a, b| a + b);
}

/// `out = a - b`, all of one length.
///
/// # Panics
/// When the lengths differ.
pub fn sub<T: Real>(a: &[T], b: &[T], out: &mut [T]) {
    map2(a, b, out, |a, b| a - b);
}

/// `out = a - c b`, all of one length.
///
/// # Panics
/// When the lengths differ.
pub fn sub_scaled<T: Real>(a: &[T], b: &[T], c: T, out: &mut [T]) {
    map2(a, b, out, |a, b| a - c * b);
}

/// `out = c a`, both of one length.
///
/// # Panics
/// When the lengths differ.
pub fn scale<T: Real>(c: T, a: &[T], out: &mut [T]) {
    assert_eq!(a.len(), out.len(), "a and out differ in length");
    for (out, &a) in out.iter_mut().zip(a) {
        *out = c * a;
    }
}

/// `out = a .* b`, the element-wise product, all of one length.
///
/// # Panics
/// When the lengths differ.
pub fn multiply<T: Real>(a: &[T], b: &[T], out: &mut [T]) {
    map2(a, b, out, |a, b| a * b);
}

fn map2<T: Real>(a: &[T], b: &[T], out: &mut [T], f: impl Fn(T, T) -> T) {
    assert_eq!(a.len(), out.len(), "the first operand and out differ in length");
    assert_eq!(b.len(), out.len(), "the second operand and out differ in length");
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

/// A sum in double precision with its compensation: Neumaier, ZAMM 54 (1974) 39-51.
#[derive(Default)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    fn add(&mut self, value: f64) {
        let (sum, error) = two_sum(self.sum, value);
        self.sum = sum;
        self.error += error;
    }

    /// Adds `a * b` without rounding the product: Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988.
    fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.error += a.mul_add(b, -product);
        self.add(product);
    }

    fn value(&self) -> f64 {
        // Once the sum overflows or meets a non-finite value, its error term is Inf - Inf and says nothing.
        if self.sum.is_finite() { self.sum + self.error } else { self.sum }
    }
}

fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let error = if a.abs() >= b.abs() { (a - sum) + b } else { (b - sum) + a };
    (sum, error)
}

/// The sum of the entries of `a`.
pub fn sum<T: Real>(a: &[T]) -> T {
    let mut total = Compensated::default();
    a.iter().for_each(|&a| total.add(to_f64(a)));
    from_f64::<T>(total.value())
}

/// The inner product of `a` and `b`.
///
/// # Panics
/// When the lengths differ.
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    assert_eq!(a.len(), b.len(), "a and b differ in length");
    let mut total = Compensated::default();
    a.iter().zip(b).for_each(|(&a, &b)| total.add_product(to_f64(a), to_f64(b)));
    from_f64::<T>(total.value())
}

/// The sum of the moduli of the entries of `a`.
pub fn norm1<T: Real>(a: &[T]) -> T {
    let mut total = Compensated::default();
    a.iter().for_each(|&a| total.add(to_f64(a).abs()));
    from_f64::<T>(total.value())
}

/// The Euclidean norm of `a`, free of overflow and underflow in its squares.
///
/// NaN when any entry is NaN, otherwise Inf when any entry is infinite. Entries are scaled by a power of two, which
/// costs no accuracy, when the largest is far from 1 (Blue, ACM TOMS 4 (1978) 15-23).
pub fn norm2<T: Real>(a: &[T]) -> T {
    let largest = to_f64(norm_inf(a));
    if largest == 0.0 || !largest.is_finite() {
        return from_f64::<T>(largest);
    }
    let exponent = if largest > 1e140 {
        -600
    } else if largest < 1e-140 {
        600
    } else {
        0
    };
    let factor = 2f64.powi(exponent);
    let mut total = Compensated::default();
    for &a in a {
        let scaled = to_f64(a) * factor;
        total.add_product(scaled, scaled);
    }
    from_f64::<T>(total.value().sqrt() / factor)
}

/// The largest modulus of the entries of `a`; NaN when any entry is NaN.
pub fn norm_inf<T: Real>(a: &[T]) -> T {
    a.iter().fold(T::zero(), |largest, a| {
        let modulus = a.abs();
        if modulus > largest || modulus.is_nan() { modulus } else { largest }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call<T: Real>(len: usize, f: impl FnOnce(&mut [T])) -> Vec<T> {
        let mut out = vec![from_f64::<T>(-77.0); len];
        f(&mut out);
        out
    }

    #[test]
    fn element_wise_by_hand() {
        let (a, b) = ([1.0, -2.0, 3.0], [0.5, 4.0, -1.0]);
        assert_eq!(call(3, |o| axpby(2.0, &a, -1.0, &b, o)), [1.5, -8.0, 7.0]);
        assert_eq!(call(3, |o| add(&a, &b, o)), [1.5, 2.0, 2.0]);
        assert_eq!(call(3, |o| sub(&a, &b, o)), [0.5, -6.0, 4.0]);
        assert_eq!(call(3, |o| sub_scaled(&a, &b, 2.0, o)), [0.0, -10.0, 5.0]);
        assert_eq!(call(3, |o| scale(-3.0, &a, o)), [-3.0, 6.0, -9.0]);
        assert_eq!(call(3, |o| multiply(&a, &b, o)), [0.5, -8.0, -3.0]);
        let mut y = b;
        update(2.0, &a, 3.0, &mut y);
        assert_eq!(y, [3.5, 8.0, 3.0]);
    }

    #[test]
    fn reductions_by_hand() {
        let a = [3.0f32, -4.0, 0.0];
        assert_eq!((sum(&a), norm1(&a), norm2(&a), norm_inf(&a)), (-1.0, 7.0, 5.0, 4.0));
        assert_eq!(dot(&a, &[1.0, 2.0, 9.0]), -5.0);
    }

    #[test]
    fn empty_gives_zero() {
        let a: [f64; 0] = [];
        assert_eq!([sum(&a), dot(&a, &a), norm1(&a), norm2(&a), norm_inf(&a)], [0.0; 5]);
        add(&a, &a, &mut []);
    }

    #[test]
    fn cancellation_is_exact() {
        assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]), 2.0);
        let big = 2f64.powi(300);
        assert_eq!(dot(&[big, 3.0, -big], &[big, 2.0, big]), 6.0);
        assert_eq!(sum(&vec![0.1f32; 10_000_000]), (0.1f32 as f64 * 1e7) as f32);
        // (1 + e)(1 - e) - 1 = -e^2 is below the rounding of the product.
        let e = 2f64.powi(-30);
        assert_eq!(dot(&[1.0 + e, -1.0], &[1.0 - e, 1.0]), -e * e);
    }

    #[test]
    fn norm2_neither_overflows_nor_underflows() {
        for s in [1e300f64, 1e160, 1e-160, 1e-300] {
            let norm = norm2(&[3.0 * s, 4.0 * s]);
            assert!((norm / (5.0 * s) - 1.0).abs() < 1e-15, "{norm:e}");
        }
        assert_eq!(norm2(&[5e-324, 0.0]), 5e-324);
        assert_eq!(norm2(&[3e38f32, 0.0]), 3e38);
        assert_eq!(norm2(&[f64::MAX, f64::MAX]), f64::INFINITY);
    }

    #[test]
    fn non_finite_values_propagate() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for a in [[1.0, nan, 2.0], [nan, 1.0, inf], [inf, nan, 1.0]] {
            assert!([sum(&a), dot(&a, &a), norm1(&a), norm2(&a), norm_inf(&a)].iter().all(|v| v.is_nan()), "{a:?}");
        }
        let a = [1.0, -inf, 2.0];
        assert_eq!(sum(&a), -inf);
        assert_eq!([dot(&a, &a), norm1(&a), norm2(&a), norm_inf(&a)], [inf; 4]);
        assert!(sum(&[inf, -inf]).is_nan());
        assert!(dot(&[0.0], &[inf]).is_nan());
        assert_eq!(sum(&[f64::MAX, f64::MAX]), inf);
        assert!(call(1, |o| axpby(0.0, &[nan], 1.0, &[1.0], o))[0].is_nan());
    }

    #[test]
    #[should_panic(expected = "differ in length")]
    fn unequal_lengths_panic() {
        dot(&[1.0], &[1.0, 2.0]);
    }

    proptest! {
        #[test]
        fn integers_sum_exactly(a in prop::collection::vec(-1_000_000_000i64..1_000_000_000, 0..300)) {
            let real: Vec<f64> = a.iter().map(|&a| a as f64).collect();
            prop_assert_eq!(sum(&real), a.iter().sum::<i64>() as f64);
            prop_assert_eq!(norm1(&real), a.iter().map(|a| a.abs()).sum::<i64>() as f64);
            let exact: i128 = a.iter().map(|&a| i128::from(a) * i128::from(a)).sum();
            prop_assert_eq!(dot(&real, &real), exact as f64);
            prop_assert!((norm2(&real) - (exact as f64).sqrt()).abs() <= 1e-15 * norm2(&real));
            prop_assert_eq!(norm_inf(&real), a.iter().map(|a| a.abs()).max().unwrap_or(0) as f64);
        }

        #[test]
        fn reductions_ignore_order(mut a in prop::collection::vec(-1e3f32..1e3, 0..200)) {
            let before = (sum(&a), norm1(&a), norm2(&a), norm_inf(&a));
            a.reverse();
            prop_assert_eq!(before, (sum(&a), norm1(&a), norm2(&a), norm_inf(&a)));
        }
    }
}
