//! Tables of the radial functions psi and chi.

use std::f64::consts::PI;

use clinalg::{Buffer, Context, Error, KernelFamily, Precision, Real, Result, Scalar, number};

use super::{ComplexScalar, Waves};

/// Intervals of a table: 0.4 GB at most.
const INTERVALS: f64 = (1 << 20) as f64;

/// As in `bem_elasto.clh`: coefficients of a polynomial. With it |k_S| times the length of an interval; Chebyshev interpolation of exp(i k r) then
/// errs by 2 (|k| h / 4)^n / n!, 1e-8 and 3e-17.
fn shape(precision: Precision) -> (usize, f64) {
    match precision {
        Precision::F32 => (6, 0.5),
        Precision::F64 => (10, 0.4),
    }
}

/// What kernels know of a material at one frequency, for distances in a range.
#[derive(Debug)]
pub(super) struct Tables<S: ComplexScalar> {
    pub(super) waves: Buffer<S::Real>,
    pub(super) table: Buffer<S::Real>,
}

/// Number of intervals that distances from `first` to `last` take.
fn intervals<S: ComplexScalar>(waves: &Waves, [first, last]: [f64; 2]) -> f64 {
    let (_, step) = shape(S::PRECISION);
    ((last - first) * waves.decay[0].norm() / step).ceil().max(1.0)
}

/// Whether a table of that range is small enough.
pub(super) fn fits<S: ComplexScalar>(waves: &Waves, range: [f64; 2]) -> bool {
    intervals::<S>(waves, range) <= INTERVALS
}

impl<S: ComplexScalar> Tables<S> {
    /// Tables for distances in `range`.
    ///
    /// # Errors
    /// [`Error::Value`] for a range of very many wavelengths; [`Error::Allocation`].
    pub(super) fn new(context: &Context, waves: &Waves, range: [f64; 2]) -> Result<Tables<S>> {
        let count = intervals::<S>(waves, range);
        if !fits::<S>(waves, range) {
            let most = INTERVALS * shape(S::PRECISION).1;
            let expected = format!("one with at most {most:.0} radians of a shear wave across the mesh");
            let radians = (range[1] - range[0]) * waves.decay[0].norm();
            return Err(Error::value("frequency", expected, format!("one with {} radians", number(radians, 4))));
        }
        let (terms, _) = shape(S::PRECISION);
        let length = (range[1] - range[0]) / count;
        let columns = if context.family() == KernelFamily::Cpu { 8 } else { 4 };
        let fit = Fit::new(terms);
        let mut table = Vec::with_capacity(count as usize * terms * columns);
        for k in 0..count as usize {
            let start = range[0] + length * k as f64;
            let values = fit.nodes.iter().map(|t| {
                let [psi, chi] = waves.dynamic(start + 0.5 * length * (t + 1.0));
                [psi.re, psi.im, chi.re, chi.im]
            });
            fit.append::<S::Real>(&values.collect::<Vec<_>>(), 2.0 / length, columns, &mut table);
        }
        let material = waves.material;
        let beta2 = material.speed_ratio_squared();
        let factor = (material.complex_shear() * 4.0 * PI).inv();
        let numbers = [
            range[0],
            1.0 / length,
            count - 1.0,
            2.0 / length,
            beta2,
            1.0 / beta2 - 2.0,
            factor.re,
            factor.im,
            1.0 / (4.0 * PI),
        ];
        Ok(Tables {
            waves: Buffer::from_slice(context, &numbers.map(<S::Real as Scalar>::from_f64))?,
            table: Buffer::from_slice(context, &table)?,
        })
    }
}

/// Interpolation at Chebyshev nodes in (-1, 1) by powers.
struct Fit {
    nodes: Vec<f64>,
    /// Row k gives the coefficient of t^k from the values at the nodes.
    powers: Vec<Vec<f64>>,
}

impl Fit {
    fn new(terms: usize) -> Fit {
        let count = terms as f64;
        let angle = |m: usize| PI * (m as f64 + 0.5) / count;
        // Powers of T_0, T_1, ...: T_(n + 1) = 2 t T_n - T_(n - 1).
        let mut polynomials = vec![vec![0.0; terms]; terms];
        polynomials[0][0] = 1.0;
        polynomials[1][1] = 1.0;
        for n in 2..terms {
            for k in 0..terms {
                let shifted = if k > 0 { 2.0 * polynomials[n - 1][k - 1] } else { 0.0 };
                polynomials[n][k] = shifted - polynomials[n - 2][k];
            }
        }
        let of = |k: usize, m: usize| {
            let term = |n: usize| {
                let weight = if n == 0 { 1.0 } else { 2.0 } / count;
                weight * (n as f64 * angle(m)).cos() * polynomials[n][k]
            };
            (0..terms).map(term).sum()
        };
        let powers = (0..terms).map(|k| (0..terms).map(|m| of(k, m)).collect()).collect();
        Fit { nodes: (0..terms).map(|m| angle(m).cos()).collect(), powers }
    }

    /// Appends the coefficients from the highest power down; with 8 `columns` those of the derivative, of the slope `slope` of t, after them.
    fn append<R: Real>(&self, values: &[[f64; 4]], slope: f64, columns: usize, table: &mut Vec<R>) {
        let terms = self.nodes.len();
        let of = |k: usize, c: usize| self.powers[k].iter().zip(values).map(|(a, v)| a * v[c]).sum::<f64>();
        let coefficients: Vec<[f64; 4]> = (0..terms).map(|k| [0, 1, 2, 3].map(|c| of(k, c))).collect();
        for k in (0..terms).rev() {
            table.extend(coefficients[k].map(<R as Scalar>::from_f64));
            if columns == 8 {
                let above = coefficients.get(k + 1).copied().unwrap_or_default();
                table.extend(above.map(|v| <R as Scalar>::from_f64(v * slope * (k + 1) as f64)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elastodynamics::Material;

    #[test]
    fn polynomials_reproduce_the_radial_functions_and_their_derivatives() {
        let material = Material::new(1.3, 0.2, 0.7).unwrap().with_damping(0.05).unwrap();
        let waves = Waves::new(material, 3.0).unwrap();
        let (terms, step) = shape(Precision::F64);
        let fit = Fit::new(terms);
        let length = step / waves.decay[0].norm();
        // Coefficients of powers are sums of values times those of Chebyshev polynomials, whose magnitudes sum to less than (1 + sqrt 2)^n: so much
        // rounding grows. Interpolation itself errs by 3e-17.
        let rounding = f64::EPSILON * (1.0 + 2.0_f64.sqrt()).powi(terms as i32 - 1);
        for start in [0.0, 3.0 * length, 40.0 * length] {
            let values = fit.nodes.iter().map(|t| {
                let [psi, chi] = waves.dynamic(start + 0.5 * length * (t + 1.0));
                [psi.re, psi.im, chi.re, chi.im]
            });
            let mut table: Vec<f64> = Vec::new();
            fit.append(&values.collect::<Vec<_>>(), 2.0 / length, 8, &mut table);
            // From just above 0 on, where the closed forms of the radial functions end.
            let first = if start == 0.0 { 2e-9 / length - 1.0 } else { -1.0 };
            for t in [first, -0.3, 0.4, 1.0] {
                let r: f64 = start + 0.5 * length * (t + 1.0);
                let at = |c: usize| (0..terms).fold(0.0, |sum, k| sum * t + table[8 * k + c]);
                let [psi, chi] = waves.dynamic(r);
                let scale = waves.decay[0].norm();
                for (got, want) in [at(0), at(1), at(2), at(3)].into_iter().zip([psi.re, psi.im, chi.re, chi.im]) {
                    assert!((got - want).abs() < rounding * scale, "{start} {t}: {got} is not {want}");
                }
                // The closed form loses digits near 0.
                if r > 1.0 / scale {
                    let radial = waves.slopes(r);
                    for (got, want) in [at(4), at(5), at(6), at(7)].into_iter().zip(radial) {
                        assert!((got - want).abs() < 1e-12 * scale * scale, "{start} {t}: {got} is not {want}");
                    }
                }
            }
        }
    }
}
