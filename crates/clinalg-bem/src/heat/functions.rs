//! The fundamental solution of the heat equation and its antiderivatives in time, in plain Rust.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// z up to which the series in z^2 replace the closed forms, which cancel there.
const SERIES: f64 = 0.5;
/// Terms of these series: the next one is below 1e-17 at [`SERIES`].
const TERMS: u32 = 11;

/// G(r, s) = (4 pi alpha s)^(-3/2) exp(-r^2 / (4 alpha s)) for s > 0, else 0.
pub fn fundamental(alpha: f64, r2: f64, s: f64) -> f64 {
    if s <= 0.0 {
        return 0.0;
    }
    (4.0 * PI * alpha * s).powf(-1.5) * (-r2 / (4.0 * alpha * s)).exp()
}

/// A(r, s) = erf(z) / (4 pi alpha r) with z = r / (2 sqrt(alpha s)), an antiderivative of -G in s;
/// s > 0.
pub fn first(alpha: f64, r: f64, s: f64) -> f64 {
    let root = (alpha * s).sqrt();
    let z = 0.5 * r / root;
    // erf(z) / z is smooth; at 0 it is 2 / sqrt(pi).
    let quotient = if z > 1e-8 { libm::erf(z) / z } else { FRAC_2_SQRT_PI };
    quotient / (8.0 * PI * alpha * root)
}

/// B(r, s), an antiderivative of A in s; s > 0.
///
/// B = sqrt(s / alpha^3) / (4 pi) [ (z + 1 / (2 z)) erf z + exp(-z^2) / sqrt(pi) ].
pub fn second(alpha: f64, r: f64, s: f64) -> f64 {
    let z = 0.5 * r / (alpha * s).sqrt();
    let bracket = if z < SERIES {
        // 2 / sqrt(pi) sum (-1)^(n+1) z^(2n) / (n! (4 n^2 - 1))
        series(z * z, |n| -1.0 / (4.0 * n * n - 1.0))
    } else {
        (z + 0.5 / z) * libm::erf(z) + 0.5 * FRAC_2_SQRT_PI * libm::exp(-z * z)
    };
    (s / alpha).sqrt() / (4.0 * PI * alpha) * bracket
}

/// alpha dB/dn_y / d with d = (x - y) . n_y; s > 0.
///
/// -1 / (8 pi alpha r) [ (1 - 1 / (2 z^2)) erf z + exp(-z^2) / (sqrt(pi) z) ].
pub fn second_normal(alpha: f64, r: f64, s: f64) -> f64 {
    let root = (alpha * s).sqrt();
    let z = 0.5 * r / root;
    let quotient = if z < SERIES {
        // The derivative of the series of `second`, over z.
        series(z * z, |n| 2.0 / (4.0 * (n + 1.0) * (n + 1.0) - 1.0))
    } else {
        ((1.0 - 0.5 / (z * z)) * libm::erf(z) + 0.5 * FRAC_2_SQRT_PI * libm::exp(-z * z) / z) / z
    };
    -quotient / (16.0 * PI * alpha * root)
}

/// 2 / sqrt(pi) sum (-1)^n x^n / n! c(n).
fn series(x: f64, c: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut power) = (0.0, 1.0);
    for n in 0..TERMS {
        let n = f64::from(n);
        sum += power * c(n);
        power *= -x / (n + 1.0);
    }
    FRAC_2_SQRT_PI * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, relative: f64) {
        assert!((got - want).abs() <= relative * want.abs(), "{got} is not {want}");
    }

    #[test]
    fn limits_are_those_of_theory() {
        let (alpha, s) = (0.7_f64, 0.3_f64);
        close(first(alpha, 0.0, s), 0.25 / ((PI * alpha).powf(1.5) * s.sqrt()), 1e-15);
        close(second(alpha, 0.0, s), 0.5 * s.sqrt() / (PI * alpha).powf(1.5), 1e-15);
        // s -> 0: A = 1 / (4 pi alpha r), B = r / (8 pi alpha^2), its derivative -d / (8 pi alpha r).
        close(first(alpha, 2.0, 1e-4), 1.0 / (8.0 * PI * alpha), 1e-15);
        close(second(alpha, 2.0, 1e-12), 2.0 / (8.0 * PI * alpha * alpha), 1e-11);
        close(second_normal(alpha, 2.0, 1e-12), -1.0 / (16.0 * PI * alpha), 1e-11);
    }

    #[test]
    fn each_function_is_a_derivative_of_the_next() {
        let alpha = 0.5;
        for r in [0.01, 0.2, 0.8, 3.0] {
            for s in [0.05, 0.4, 1.5] {
                let central = |f: &dyn Fn(f64) -> f64, at: f64| {
                    let e = 1e-3 * at;
                    (8.0 * (f(at + e) - f(at - e)) - (f(at + 2.0 * e) - f(at - 2.0 * e))) / (12.0 * e)
                };
                let scale = first(alpha, r, s) / s;
                let slope = central(&|s| first(alpha, r, s), s);
                assert!((slope + fundamental(alpha, r * r, s)).abs() < 1e-9 * scale);
                close(central(&|s| second(alpha, r, s), s), first(alpha, r, s), 1e-9);
                // d/dn_y of r is -d / r.
                let normal = -alpha * central(&|r| second(alpha, r, s), r) / r;
                assert!((normal - second_normal(alpha, r, s)).abs() < 1e-8 * second(alpha, r, s) / (r * r));
            }
        }
    }

    #[test]
    fn series_meet_the_closed_forms() {
        for (alpha, s) in [(0.5_f64, 1.0_f64), (2.0, 0.01)] {
            let r = |z: f64| 2.0 * z * (alpha * s).sqrt();
            let (below, above) = (r(SERIES * (1.0 - 1e-14)), r(SERIES * (1.0 + 1e-14)));
            close(second(alpha, below, s), second(alpha, above, s), 1e-13);
            close(second_normal(alpha, below, s), second_normal(alpha, above, s), 1e-13);
        }
    }
}
