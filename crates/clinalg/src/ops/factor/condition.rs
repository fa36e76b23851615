//! Condition numbers and determinants.

use crate::ops::gemm::Transpose;
use crate::{Context, Dense, Real, Result, Scalar, number};

/// A determinant as `mantissa` times 2 to the power `exponent`: that of a large matrix overflows as a single number.
///
/// The larger of |re| and |im| of the mantissa is at least 0.5 and below 1, or all is 0; a mantissa that is no number has the exponent 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Determinant<T> {
    /// The leading part.
    pub mantissa: T,
    /// The power of two.
    pub exponent: i64,
}

impl<T: Scalar> Determinant<T> {
    /// The product of a triangle's diagonal, negated for an odd permutation.
    pub(crate) fn of_diagonal(diagonal: &[T], negated: bool) -> Determinant<T> {
        let sign = if negated { -T::one() } else { T::one() };
        let start = Determinant { mantissa: sign, exponent: 0 }.normalised();
        diagonal.iter().fold(start, |d, &factor| {
            let factor = Determinant { mantissa: factor, exponent: 0 }.normalised();
            let product =
                Determinant { mantissa: d.mantissa * factor.mantissa, exponent: d.exponent + factor.exponent };
            product.normalised()
        })
    }

    fn normalised(self) -> Determinant<T> {
        let wide = self.mantissa.widen();
        let size = if self.mantissa.has_finite_parts() { wide.re().abs().max(wide.im().abs()) } else { f64::NAN };
        if size == 0.0 || !size.is_finite() {
            return Determinant { exponent: 0, ..self };
        }
        let exponent = exponent(size);
        // In two steps, as a power of two of its own may overflow.
        let half = exponent / 2;
        let mantissa = scaled(self.mantissa, &[-half, half - exponent]);
        Determinant { mantissa, exponent: self.exponent + exponent }
    }

    /// The determinant as one number; infinite or zero where it leaves the range.
    pub fn value(&self) -> T {
        let exponent = self.exponent.clamp(-4400, 4400);
        let parts = [exponent / 4, exponent / 4, exponent / 4, exponent - 3 * (exponent / 4)];
        scaled(self.mantissa, &parts)
    }

    /// The natural logarithm of the modulus; minus infinity for 0.
    pub fn ln_modulus(&self) -> f64 {
        self.mantissa.widen().modulus().ln() + self.exponent as f64 * std::f64::consts::LN_2
    }
}

/// A number times powers of two, one after the other.
fn scaled<T: Scalar>(number: T, powers: &[i64]) -> T {
    let wide = number.widen();
    let scale = |part: f64| powers.iter().fold(part, |value, &exponent| value * power(exponent));
    T::narrow(T::Wide::from_parts(scale(wide.re()), scale(wide.im())))
}

/// The e with 2^(e - 1) <= size < 2^e.
fn exponent(size: f64) -> i64 {
    let (scaled, shift) = if size < f64::MIN_POSITIVE { (size * power(64), -64) } else { (size, 0) };
    (scaled.to_bits() >> 52) as i64 - 1022 + shift
}

/// 2 to a power that a double holds, else 0 or infinity.
fn power(exponent: i64) -> f64 {
    2.0_f64.powi(exponent.clamp(-1100, 1100) as i32)
}

/// 1 / (norm inverse_norm), without overflow.
fn reciprocal(norm: f64, inverse_norm: f64) -> f64 {
    let reciprocal = 1.0 / norm / inverse_norm;
    if norm.is_nan() || inverse_norm.is_nan() || norm.is_infinite() || inverse_norm.is_infinite() {
        0.0
    } else {
        reciprocal
    }
}

/// An estimate of the reciprocal condition number of a matrix with the 1-norm `norm`; 1 without rows. `solve` as for [`inverse_norm1`].
pub(super) fn estimate<T: Scalar>(
    context: &Context,
    n: usize,
    norm: f64,
    solve: impl Fn(Transpose, &mut Dense<T>) -> Result<()>,
) -> Result<f64> {
    estimate_by(n, norm, on_device(context, n, solve))
}

/// As [`estimate`], where `apply` gives the solution of op(A) x = b.
pub(crate) fn estimate_by<T: Scalar>(
    n: usize,
    norm: f64,
    apply: impl Fn(Transpose, &[T]) -> Result<Vec<T>>,
) -> Result<f64> {
    if n == 0 {
        return Ok(1.0);
    }
    Ok(reciprocal(norm, inverse_norm1_by(n, apply)?))
}

/// Logs a warning through the crate `log` if a reciprocal condition number is below machine epsilon.
pub(super) fn warn_if_ill_conditioned<T: Scalar>(reciprocal: f64) {
    if reciprocal < <T::Real as num_traits::Float>::epsilon().into_f64() {
        log::warn!(
            "the matrix is nearly singular: its reciprocal condition number is about {}; the result may have no correct digit",
            number(reciprocal, 2)
        );
    }
}

/// A lower bound of the 1-norm of an inverse, most often within a factor of three: algorithm 15.1 of Higham, *Accuracy and
/// Stability of Numerical Algorithms*, 2nd ed. `solve` puts the solution of op(A) x = b in place of b.
pub(super) fn inverse_norm1<T: Scalar>(
    context: &Context,
    n: usize,
    solve: impl Fn(Transpose, &mut Dense<T>) -> Result<()>,
) -> Result<f64> {
    inverse_norm1_by(n, on_device(context, n, solve))
}

fn on_device<T: Scalar>(
    context: &Context,
    n: usize,
    solve: impl Fn(Transpose, &mut Dense<T>) -> Result<()>,
) -> impl Fn(Transpose, &[T]) -> Result<Vec<T>> {
    move |op, x| {
        let mut x = Dense::from_column_major(context, n, 1, x)?;
        solve(op, &mut x)?;
        x.to_column_major()
    }
}

fn inverse_norm1_by<T: Scalar>(n: usize, apply: impl Fn(Transpose, &[T]) -> Result<Vec<T>>) -> Result<f64> {
    let norm = |x: &[T]| x.iter().map(|v| v.modulus().into_f64()).sum::<f64>();
    let mut x = vec![T::from_f64(1.0 / n as f64); n];
    let (mut estimate, mut at) = (0.0, None);
    let mut signs: Vec<T> = Vec::new();
    for _ in 0..5 {
        let y = apply(Transpose::No, &x)?;
        let found = norm(&y);
        if found.is_nan() {
            return Ok(f64::NAN);
        }
        let now: Vec<T> = y.iter().map(|&v| sign(v)).collect();
        let (no_more, same) = (at.is_some() && found <= estimate, now == signs);
        estimate = found.max(estimate);
        if no_more || same || n == 1 {
            break;
        }
        signs = now;
        let z = apply(Transpose::Conjugate, &signs)?;
        let largest =
            (0..n).max_by(|&i, &j| z[i].modulus().into_f64().total_cmp(&z[j].modulus().into_f64())).expect("n > 0");
        if at == Some(largest) {
            break;
        }
        at = Some(largest);
        x = vec![T::zero(); n];
        x[largest] = T::one();
    }
    // Against matrices that the iteration is blind for.
    let alternating: Vec<T> = (0..n)
        .map(|i| (1.0 + i as f64 / (n.max(2) - 1) as f64) * if i % 2 == 0 { 1.0 } else { -1.0 })
        .map(T::from_f64)
        .collect();
    let other = 2.0 * norm(&apply(Transpose::No, &alternating)?) / (3.0 * n as f64);
    Ok(estimate.max(other))
}

/// x / |x|; 1 for 0.
fn sign<T: Scalar>(x: T) -> T {
    let size = x.modulus();
    if size.into_f64() == 0.0 { T::one() } else { x / T::from_real(size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn determinants_keep_their_size() {
        let d = Determinant::of_diagonal(&[1e200_f64, 1e200, -3.0, 1e-300, 0.5], true);
        assert!((0.5..1.0).contains(&d.mantissa));
        assert!((d.value() / 1.5e100 - 1.0).abs() < 1e-14, "{d:?}");
        let large = Determinant::of_diagonal(&[1e300_f64; 100], false);
        assert!((large.ln_modulus() / (30_000.0 * 10.0_f64.ln()) - 1.0).abs() < 1e-14);
        assert_eq!(large.value(), f64::INFINITY);
        let small = Determinant::of_diagonal(&[f64::from_bits(3); 2], false);
        assert!((small.ln_modulus() / (2.0 * f64::from_bits(3).ln()) - 1.0).abs() < 1e-14);
        assert_eq!(small.value(), 0.0);
        assert_eq!(Determinant::of_diagonal(&[0.0_f32, 1e30], false).value(), 0.0);
        assert_eq!(Determinant::<f64>::of_diagonal(&[], false).value(), 1.0);
        assert!(Determinant::of_diagonal(&[f64::NAN, 1.0], false).value().is_nan());
        let subnormal = Determinant::of_diagonal(&[f64::from_bits(3)], false);
        assert_eq!(subnormal.value(), f64::from_bits(3));
    }
}
