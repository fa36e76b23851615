//! Products of a function of each coordinate on grids of nx by ny by nz points, x fastest.

use crate::{Real, from_f64, to_f64};

/// `out[(k * ny + j) * nx + i] = (scale * x[i]) * (y[j] * z[k])`, in double precision and rounded once; a zero has no sign.
///
/// # Panics
/// When `out` has no value for each point.
pub fn fill<T: Real>(scale: f64, [x, y, z]: [&[f64]; 3], out: &mut [T]) {
    assert_eq!(out.len(), x.len() * y.len() * z.len());
    for (p, value) in out.iter_mut().enumerate() {
        *value = from_f64(at(scale, [x, y, z], p) + 0.0);
    }
}

/// The largest modulus of a difference of `u` from the function; NaN if one is NaN, 0 without points.
///
/// # Panics
/// When `u` has no value for each point.
pub fn error_max<T: Real>(scale: f64, factors: [&[f64]; 3], u: &[T]) -> f64 {
    assert_eq!(u.len(), factors.iter().map(|factor| factor.len()).product());
    let error = |(p, &value): (usize, &T)| (to_f64(value) - at(scale, factors, p)).abs();
    u.iter().enumerate().map(error).fold(0.0, |most: f64, e| if e > most || e.is_nan() { e } else { most })
}

/// The value at point `p`.
fn at(scale: f64, [x, y, z]: [&[f64]; 3], p: usize) -> f64 {
    let (i, row) = (p % x.len(), p / x.len());
    (scale * x[i]) * (y[row % y.len()] * z[row / y.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_by_hand() {
        let factors = [&[1.0, 2.0, 3.0][..], &[1.0, 10.0], &[1.0, -1.0]];
        let mut out = [0.0_f64; 12];
        fill(0.5, factors, &mut out);
        assert_eq!(out, [0.5, 1.0, 1.5, 5.0, 10.0, 15.0, -0.5, -1.0, -1.5, -5.0, -10.0, -15.0]);
        assert_eq!(error_max(0.5, factors, &out), 0.0);
        out[4] = 12.0;
        assert_eq!(error_max(0.5, factors, &out), 2.0);
        out[5] = f64::NAN;
        assert!(error_max(0.5, factors, &out).is_nan());
        assert_eq!(error_max::<f32>(0.5, [&[], &[1.0], &[1.0]], &[]), 0.0);
    }
}
