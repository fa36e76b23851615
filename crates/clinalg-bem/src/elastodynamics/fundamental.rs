//! Fundamental solutions: displacements and tractions of a point force in the whole space.

use std::f64::consts::PI;

use clinalg::Result;

use super::{C64, Material, check_frequency};
use crate::Point;
use crate::surface::{dot, norm, scaled, sub};

/// A 3 x 3 matrix by rows.
pub(crate) type Block = [[C64; 3]; 3];

const ZERO: C64 = C64::new(0.0, 0.0);
const ONE: C64 = C64::new(1.0, 0.0);

/// |z_S| below which the radial functions are power series, and terms of these: the last is below 1e-17.
const NEAR: f64 = 1.0;
const TERMS: i32 = 20;

/// The waves of a material at one frequency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waves {
    pub(super) material: Material,
    /// -i k of shear waves and of pressure waves.
    pub(super) decay: [C64; 2],
}

/// psi, chi and their derivatives by r.
#[derive(Debug, Clone, Copy)]
struct Radial {
    psi: C64,
    chi: C64,
    dpsi: C64,
    dchi: C64,
}

impl Waves {
    /// The waves at the angular frequency `frequency`; 0 for statics.
    ///
    /// # Errors
    /// [`Error::Value`](clinalg::Error::Value) unless the frequency is finite and at least 0.
    pub fn new(material: Material, frequency: f64) -> Result<Waves> {
        check_frequency(frequency)?;
        let speed = (material.complex_shear() / material.density()).sqrt();
        let shear = C64::new(0.0, -frequency) / speed;
        Ok(Waves { material, decay: [shear, shear * material.speed_ratio_squared().sqrt()] })
    }

    /// Complex wave numbers k_S and k_P.
    pub fn wave_numbers(&self) -> [C64; 2] {
        self.decay.map(|z| z * C64::i())
    }

    /// psi and chi at the distance `r` > 0 less their static parts.
    pub(super) fn dynamic(&self, r: f64) -> [C64; 2] {
        let [zs, zp] = self.decay.map(|z| z * r);
        let beta2 = self.material.speed_ratio_squared();
        if zs.norm() < NEAR {
            // The terms n >= 1 of the series, over r: z^n / r = z^(n - 1) times -i k.
            let mut sums = [ZERO; 2];
            let ([mut s, mut p], mut factorial) = (self.decay, 6.0);
            for n in 1..TERMS {
                let f = f64::from(n);
                sums[0] += (s * (f + 1.0).powi(2) + p * beta2 * (f + 1.0)) / factorial;
                sums[1] += (s - p * beta2) * (f * f - 1.0) / factorial;
                (s, p, factorial) = (s * zs, p * zp, factorial * (f + 3.0));
            }
            return sums;
        }
        let all = self.radial(r);
        [all.psi - (1.0 + beta2) / (2.0 * r), all.chi + (1.0 - beta2) / (2.0 * r)]
    }

    /// Real and imaginary parts of psi' and chi' less their static parts.
    #[cfg(test)]
    pub(super) fn slopes(&self, r: f64) -> [f64; 4] {
        let beta2 = self.material.speed_ratio_squared();
        let Radial { dpsi, dchi, .. } = self.radial(r);
        let (dpsi, dchi) = (dpsi + (1.0 + beta2) / (2.0 * r * r), dchi - (1.0 - beta2) / (2.0 * r * r));
        [dpsi.re, dpsi.im, dchi.re, dchi.im]
    }

    fn radial(&self, r: f64) -> Radial {
        let [zs, zp] = self.decay.map(|z| z * r);
        let beta2 = self.material.speed_ratio_squared();
        if zs.norm() < NEAR {
            let mut sums = [ZERO; 4];
            let (mut s, mut p, mut factorial) = (ONE, ONE, 2.0);
            for n in 0..TERMS {
                let f = f64::from(n);
                let psi = (s * (f + 1.0).powi(2) + p * beta2 * (f + 1.0)) / factorial;
                let chi = (s - p * beta2) * (f * f - 1.0) / factorial;
                for (sum, term) in sums.iter_mut().zip([psi, chi, psi * (f - 1.0), chi * (f - 1.0)]) {
                    *sum += term;
                }
                (s, p, factorial) = (s * zs, p * zp, factorial * (f + 3.0));
            }
            let [psi, chi, dpsi, dchi] = sums;
            return Radial { psi: psi / r, chi: chi / r, dpsi: dpsi / (r * r), dchi: dchi / (r * r) };
        }
        let (s, p) = (ONE / zs, ONE / zp);
        let (es, ep) = (zs.exp(), zp.exp() * beta2);
        let (s2, p2) = (s * s, p * p);
        Radial {
            psi: ((ONE - s + s2) * es - (p2 - p) * ep) / r,
            chi: ((ONE - s * 3.0 + s2 * 3.0) * es - (ONE - p * 3.0 + p2 * 3.0) * ep) / r,
            dpsi: ((zs - 2.0 + s * 3.0 - s2 * 3.0) * es - (-ONE + p * 3.0 - p2 * 3.0) * ep) / (r * r),
            dchi: ((zs - 4.0 + s * 9.0 - s2 * 9.0) * es - (zp - 4.0 + p * 9.0 - p2 * 9.0) * ep) / (r * r),
        }
    }

    /// U: element \[l\]\[k\] is the displacement k at `x` of a unit force in the direction l at `xi` (length per force).
    pub fn displacement(&self, x: Point, xi: Point) -> [[C64; 3]; 3] {
        let d = sub(x, xi);
        let r = norm(d);
        self.displacement_of(&self.radial(r), scaled(1.0 / r, d))
    }

    /// T: element \[l\]\[k\] is the traction k at `x`, on the side with the unit normal `n`, of a unit force in the direction l at
    /// `xi` (1 per area).
    pub fn traction(&self, x: Point, n: Point, xi: Point) -> [[C64; 3]; 3] {
        let d = sub(x, xi);
        let r = norm(d);
        self.traction_of(&self.radial(r), scaled(1.0 / r, d), r, n)
    }

    /// U and T.
    pub(crate) fn both(&self, x: Point, n: Point, xi: Point) -> (Block, Block) {
        let d = sub(x, xi);
        let r = norm(d);
        let (radial, g) = (self.radial(r), scaled(1.0 / r, d));
        (self.displacement_of(&radial, g), self.traction_of(&radial, g, r, n))
    }

    fn displacement_of(&self, radial: &Radial, g: Point) -> Block {
        let factor = (self.material.complex_shear() * 4.0 * PI).inv();
        let (psi, chi) = (radial.psi * factor, radial.chi * factor);
        block(|l, k| (if l == k { psi } else { ZERO }) - chi * (g[l] * g[k]))
    }

    fn traction_of(&self, radial: &Radial, g: Point, r: f64, n: Point) -> Block {
        let gn = dot(g, n);
        let Radial { chi, dpsi, dchi, .. } = *radial;
        let over = chi / r;
        let a = dpsi - over;
        let b = over * 4.0 - dchi * 2.0;
        let c = (dpsi - dchi - over * 2.0) * (1.0 / self.material.speed_ratio_squared() - 2.0) - over * 2.0;
        let [a, b, c] = [a, b * gn, c].map(|v| v / (4.0 * PI));
        block(|l, k| {
            let same = if l == k { gn } else { 0.0 };
            a * (same + n[l] * g[k]) + b * (g[l] * g[k]) + c * (g[l] * n[k])
        })
    }
}

/// Kelvin's U of statics for the shear modulus 1; arguments as of [`Waves::displacement`].
pub(crate) fn static_displacement(poisson: f64, x: Point, xi: Point) -> [[f64; 3]; 3] {
    let d = sub(x, xi);
    let r = norm(d);
    let g = scaled(1.0 / r, d);
    let factor = 1.0 / (16.0 * PI * (1.0 - poisson) * r);
    [0, 1, 2].map(|l| [0, 1, 2].map(|k| factor * (if l == k { 3.0 - 4.0 * poisson } else { 0.0 } + g[l] * g[k])))
}

/// Kelvin's T of statics; arguments as of [`Waves::traction`].
pub(crate) fn static_traction(poisson: f64, x: Point, n: Point, xi: Point) -> [[f64; 3]; 3] {
    let d = sub(x, xi);
    let r = norm(d);
    let g = scaled(1.0 / r, d);
    let gn = dot(g, n);
    let m = 1.0 - 2.0 * poisson;
    let factor = -1.0 / (8.0 * PI * (1.0 - poisson) * r * r);
    let entry = |l: usize, k: usize| {
        let same = if l == k { m } else { 0.0 };
        factor * (gn * (same + 3.0 * g[l] * g[k]) + m * (n[l] * g[k] - g[l] * n[k]))
    };
    [0, 1, 2].map(|l| [0, 1, 2].map(|k| entry(l, k)))
}

pub(crate) fn block(entry: impl Fn(usize, usize) -> C64) -> Block {
    [0, 1, 2].map(|l| [0, 1, 2].map(|k| entry(l, k)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(values: impl IntoIterator<Item = C64>) -> f64 {
        values.into_iter().map(|v| v.norm()).fold(0.0, f64::max)
    }

    #[test]
    fn tractions_are_those_of_the_displacements() {
        // sigma = lambda div u I + mu (grad u + grad u'), derivatives by central differences of sixth order.
        let material = Material::new(1.3, 0.27, 0.9).unwrap().with_damping(0.03).unwrap();
        let (xi, x) = ([0.1, -0.2, 0.3], [0.7, 0.4, -0.5]);
        let n = scaled(1.0 / norm([1.0, 2.0, -0.5]), [1.0, 2.0, -0.5]);
        for frequency in [0.0, 0.1, 1.0, 3.0, 12.0] {
            let waves = Waves::new(material, frequency).unwrap();
            let h = 0.01;
            let moved = |axis: usize, by: f64| {
                let mut y = x;
                y[axis] += by * h;
                waves.displacement(y, xi)
            };
            let gradient = [0, 1, 2].map(|axis| {
                let difference = |by: f64| {
                    let (a, b) = (moved(axis, by), moved(axis, -by));
                    block(|l, k| a[l][k] - b[l][k])
                };
                let (one, two, three) = (difference(1.0), difference(2.0), difference(3.0));
                block(|l, k| (one[l][k] * 45.0 - two[l][k] * 9.0 + three[l][k]) / (60.0 * h))
            });
            let mu = material.complex_shear();
            let lambda = mu * (2.0 * 0.27 / (1.0 - 2.0 * 0.27));
            let want = block(|l, k| {
                let divergence = gradient[0][l][0] + gradient[1][l][1] + gradient[2][l][2];
                let shear: C64 = (0..3).map(|j| mu * (gradient[j][l][k] + gradient[k][l][j]) * n[j]).sum();
                lambda * divergence * n[k] + shear
            });
            let got = waves.traction(x, n, xi);
            let error = largest((0..9).map(|e| got[e / 3][e % 3] - want[e / 3][e % 3])) / largest(want.concat());
            assert!(error < 1e-9, "w = {frequency}: {error:e}");
        }
    }

    #[test]
    fn series_and_closed_forms_meet_and_frequency_0_is_kelvins() {
        let material = Material::new(2.0, 0.2, 1.5).unwrap();
        let (x, n, xi) = ([0.3, 0.5, -0.2], [0.0, 0.6, 0.8], [0.0; 3]);
        let r = norm(x);
        // The same point at frequencies on both sides of |z_S| = 1.
        let limit = (2.0_f64 / 1.5).sqrt() / r;
        let [below, above] =
            [1.0 - 1e-12, 1.0 + 1e-12].map(|f| Waves::new(material, f * limit).unwrap().traction(x, n, xi));
        assert!(largest((0..9).map(|e| below[e / 3][e % 3] - above[e / 3][e % 3])) < 1e-11 * largest(above.concat()));
        let still = Waves::new(material, 0.0).unwrap();
        let (u, t) = (still.displacement(x, xi), still.traction(x, n, xi));
        let (us, ts) = (static_displacement(0.2, x, xi), static_traction(0.2, x, n, xi));
        for e in 0..9 {
            assert!((u[e / 3][e % 3] * 2.0 - us[e / 3][e % 3]).norm() < 1e-15);
            assert!((t[e / 3][e % 3] - ts[e / 3][e % 3]).norm() < 1e-15);
        }
    }
}
