//! Known solutions.

use std::f64::consts::PI;

use clinalg::{Error, Result};

use super::{C64, Material, Waves};
use crate::Point;
use crate::quadrature::gauss_legendre;

/// The field of a point force at a place without material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointForce {
    /// The waves.
    pub waves: Waves,
    /// Where the force acts.
    pub source: Point,
    /// The force.
    pub force: Point,
}

impl PointForce {
    /// Displacement at `x`.
    pub fn displacement(&self, x: Point) -> [C64; 3] {
        self.combine(&self.waves.displacement(x, self.source))
    }

    /// Traction at `x` on the side with the unit normal `n`.
    pub fn traction(&self, x: Point, n: Point) -> [C64; 3] {
        self.combine(&self.waves.traction(x, n, self.source))
    }

    fn combine(&self, a: &[[C64; 3]; 3]) -> [C64; 3] {
        [0, 1, 2].map(|k| (0..3).map(|l| a[l][k] * self.force[l]).sum())
    }
}

/// A spherical cavity under pressure in the whole space: the outgoing pressure wave (Achenbach, *Wave Propagation in Elastic
/// Solids*, 1973, section 4.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PressurisedCavity {
    waves: Waves,
    frequency: f64,
    radius: f64,
    pressure: f64,
}

impl PressurisedCavity {
    /// A cavity of `radius` under `pressure` with the time factor exp(i w t), w = `frequency`.
    ///
    /// # Errors
    /// Those of [`Waves::new`].
    pub fn new(material: Material, frequency: f64, radius: f64, pressure: f64) -> Result<PressurisedCavity> {
        Ok(PressurisedCavity { waves: Waves::new(material, frequency)?, frequency, radius, pressure })
    }

    /// Displacement away from the centre at the distance `r` from it, at least the radius:
    /// p (a^3 / r^2) (1 + i k r) exp(-i k (r - a)) / (4 mu (1 + i k a) - rho w^2 a^2).
    pub fn radial(&self, r: f64) -> C64 {
        let (material, a) = (self.waves.material, self.radius);
        let ik = -self.waves.decay[1];
        let below = material.complex_shear() * 4.0 * (ik * a + 1.0) - material.density() * (self.frequency * a).powi(2);
        (ik * r + 1.0) * (ik * (a - r)).exp() * (self.pressure * a.powi(3) / (r * r)) / below
    }
}

/// Gauss points under the disc; the kernel has a kink where both points meet, which leaves an error of about 1e-4.
const UNDER: usize = 32;
/// Gauss points of each part of the integral over wave numbers, and parts of the detour around the poles.
const POINTS: usize = 16;
const DETOUR: usize = 4;
/// Where the detour and the whole integral end, over the shear wave number.
const AROUND: f64 = 2.5;
const END: f64 = 60.0;

/// A rigid disc without friction on the surface of a half-space, moved vertically: force over displacement.
///
/// The pressure under the disc, with the Hankel transform P, makes the displacement w(r) = (1 - nu) / mu int_0^inf P(k) (1 + H(k)) J_0(k r) dk,
/// 1 + H = -k k_S^2 a_P / [(1 - nu) ((2 k^2 - k_S^2)^2 - 4 k^2 a_P a_S)], a_P^2 = k^2 - k_P^2, a_S^2 = k^2 - k_S^2. With P(k) = int_0^a f(t) cos(k t) dt
/// there is no pressure outside, and w = 1 under the disc is the Fredholm equation
/// f(t) + (2 / pi) int_0^a f(s) int_0^inf H(k) cos(k t) cos(k s) dk ds = (2 / pi) mu / (1 - nu), the force 2 pi int_0^a f dt; at frequency 0 it is
/// 4 mu a / (1 - nu). The formulation is that of J. E. Luco, Nuclear Engineering and Design 31 (1974), 204-217, without a layer.
///
/// # Errors
/// Those of [`Waves::new`]; [`Error::Value`] unless the radius is positive and at most 10 / |k_S|.
pub fn rigid_disc(material: Material, frequency: f64, radius: f64) -> Result<C64> {
    let waves = Waves::new(material, frequency)?;
    let [ks, kp] = waves.wave_numbers().map(|k| k * radius);
    let size = ks.norm();
    if !(radius > 0.0 && size <= 10.0) {
        return Err(Error::value("radius", "a positive number, at most 10 divided by the shear wave number", radius));
    }
    let still = material.complex_shear() * (4.0 * radius / (1.0 - material.poisson()));
    if frequency == 0.0 {
        return Ok(still);
    }
    let (ks2, kp2, beta2) = (ks * ks, kp * kp, material.speed_ratio_squared());
    // H is tail / k^2 for large k. tail / (k^2 + size^2) is integrated in closed form, the rest decays as 1 / k^4.
    let tail = ks2 * ((3.0 - 2.0 * beta2 + beta2 * beta2) / (4.0 * (1.0 - beta2)) - 0.5 * beta2);
    let rest = |k: C64| {
        let (k2, ap, shear) = (k * k, (k * k - kp2).sqrt(), (k * k - ks2).sqrt());
        let rayleigh = (k2 * 2.0 - ks2) * (k2 * 2.0 - ks2) - k2 * ap * shear * 4.0;
        -(k * ks2 * ap) / (rayleigh * (1.0 - material.poisson())) - 1.0 - tail / (k2 + size * size)
    };
    let rule = gauss_legendre(POINTS);
    let places = |parts: usize| {
        let of = move |part: usize, (x, w): (f64, f64)| ((part as f64 + x) / parts as f64, w / parts as f64);
        (0..parts).flat_map(|part| rule.iter().map(move |&p| of(part, p)).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    // Waves go outwards: the poles are on the real axis or below, the way leads above them.
    let above = places(DETOUR).into_iter().map(|(t, w)| {
        let (sin, cos) = (PI * t).sin_cos();
        let k = C64::new(AROUND * t, 0.5 * sin) * size;
        (k, C64::new(AROUND, 0.5 * PI * cos) * size * w * rest(k))
    });
    let length = (END - AROUND) * size;
    let along = places((length / 4.0).ceil().max(8.0) as usize).into_iter().map(|(t, w)| {
        let k = C64::from(AROUND * size + length * t);
        (k, rest(k) * (w * length))
    });
    let under = gauss_legendre(UNDER);
    let mut matrix = vec![vec![C64::default(); UNDER]; UNDER];
    for (k, weight) in above.chain(along) {
        let cosines: Vec<C64> =
            under.iter().map(|&(t, _)| (((k * C64::i()) * t).exp() + (k * C64::i() * -t).exp()) * 0.5).collect();
        for (row, t) in matrix.iter_mut().zip(&cosines) {
            row.iter_mut().zip(&cosines).for_each(|(entry, s)| *entry += weight * t * s);
        }
    }
    for (i, (row, &(t, _))) in matrix.iter_mut().zip(&under).enumerate() {
        for (j, (entry, &(s, w))) in row.iter_mut().zip(&under).enumerate() {
            let closed = tail * (PI / (4.0 * size) * ((-size * (t + s)).exp() + (-size * (t - s).abs()).exp()));
            *entry = (*entry + closed) * (2.0 / PI * w) + if i == j { 1.0 } else { 0.0 };
        }
    }
    let f = eliminate(matrix, vec![C64::from(1.0); UNDER]);
    Ok(under.iter().zip(f).map(|(&(_, w), f)| f * w).sum::<C64>() * still)
}

/// The solution of a dense system by Gaussian elimination with row exchanges.
fn eliminate(mut a: Vec<Vec<C64>>, mut b: Vec<C64>) -> Vec<C64> {
    let n = b.len();
    for k in 0..n {
        let larger = |p: usize, i: usize| if a[i][k].norm() > a[p][k].norm() { i } else { p };
        let pivot = (k..n).fold(k, larger);
        a.swap(k, pivot);
        b.swap(k, pivot);
        let (done, below) = a.split_at_mut(k + 1);
        for (i, row) in below.iter_mut().enumerate() {
            let factor = row[k] / done[k][k];
            row[k..].iter_mut().zip(&done[k][k..]).for_each(|(v, above)| *v -= factor * above);
            let above = b[k];
            b[k + 1 + i] -= factor * above;
        }
    }
    for i in (0..n).rev() {
        let known: C64 = (i + 1..n).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_is_as_stiff_as_at_rest_for_long_waves_and_a_dashpot_for_short_ones() {
        let (nu, radius) = (1.0 / 3.0, 0.5);
        let material = Material::new(2.0, nu, 0.5).unwrap();
        let still = 4.0 * 2.0 * radius / (1.0 - nu);
        // c_S = 2 and c_P = 4.
        let slow = rigid_disc(material, 0.04, radius).unwrap() / still;
        assert!((slow.re - 1.0).abs() < 1e-4 && slow.im > 0.0 && slow.im < 0.01, "{slow}");
        // Short waves are plane: the force is rho c_P times the area times the velocity.
        let fast = rigid_disc(material, 40.0, radius).unwrap();
        let plane = 0.5 * 4.0 * PI * radius * radius * 40.0;
        assert!((fast.im / plane - 1.0).abs() < 0.05, "{fast}, {plane}");
        assert_eq!(rigid_disc(material, 0.0, radius).unwrap(), C64::from(still));
        assert!(rigid_disc(material, 100.0, radius).is_err() && rigid_disc(material, 1.0, -1.0).is_err());
    }
}
