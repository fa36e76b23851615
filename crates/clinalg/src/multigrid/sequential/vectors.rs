//! Sums and updates of vectors on the host.

use crate::Real;
use crate::ops::reduce::largest;

/// A sum in double precision with its rounding errors: Neumaier, ZAMM 54 (1974) 39-51.
#[derive(Default)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    /// Adds `a * b`, the rounding of the product included: Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988.
    fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.error += a.mul_add(b, -product);
        let sum = self.sum + product;
        self.error += match self.sum.abs() >= product.abs() {
            true => (self.sum - sum) + product,
            false => (product - sum) + self.sum,
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        // Once the sum overflows or meets a non-finite value, its error term is Inf - Inf and says nothing.
        if self.sum.is_finite() { self.sum + self.error } else { self.sum }
    }
}

/// The inner product.
pub(super) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut total = Compensated::default();
    a.iter().zip(b).for_each(|(a, b)| total.add_product(a.into_f64(), b.into_f64()));
    T::from_f64(total.value())
}

/// The Euclidean norm, free of overflow and underflow in its squares: values far from 1 are scaled by a power of two (Blue,
/// ACM TOMS 4 (1978) 15-23).
pub(super) fn norm2<T: Real>(a: &[T]) -> T {
    let largest = largest(a.iter().map(|a| a.into_f64().abs()));
    if largest == 0.0 || !largest.is_finite() {
        return T::from_f64(largest);
    }
    let exponent = match largest {
        _ if largest > 1e140 => -600,
        _ if largest < 1e-140 => 600,
        _ => 0,
    };
    let factor = 2_f64.powi(exponent);
    let mut total = Compensated::default();
    for a in a {
        let scaled = a.into_f64() * factor;
        total.add_product(scaled, scaled);
    }
    T::from_f64(total.value().sqrt() / factor)
}

/// `y = alpha x + beta y`.
pub(crate) fn update<T: Real>(alpha: T, x: &[T], beta: T, y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = alpha * x + beta * *y;
    }
}

#[cfg(test)]
mod tests {
    use clinalg_reference::vector;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn bits_are_those_of_the_oracle() {
        let mut rng = StdRng::seed_from_u64(3);
        for (len, scale) in [(0, 1.0), (1, 1.0), (1000, 1.0), (1000, 1e-300), (1000, 1e200)] {
            let mut random = || -> Vec<f64> { (0..len).map(|_| scale * rng.random_range(-1.0..1.0)).collect() };
            let (a, b) = (random(), random());
            assert_eq!(dot(&a, &b).to_bits(), vector::dot(&a, &b).to_bits());
            assert_eq!(norm2(&a).to_bits(), vector::norm2(&a).to_bits());
            let (mut got, mut want) = (b.clone(), b.clone());
            update(2.0, &a, -0.5, &mut got);
            vector::update(2.0, &a, -0.5, &mut want);
            assert_eq!(got, want);
        }
        for special in [[1.0, f64::NAN], [f64::NAN, f64::INFINITY], [f64::INFINITY, f64::NAN]] {
            assert!(norm2(&special).is_nan());
        }
        assert_eq!(norm2(&[1.0, f64::NEG_INFINITY]), f64::INFINITY);
    }
}
