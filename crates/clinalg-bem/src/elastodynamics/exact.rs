//! Known solutions.

use clinalg::Result;

use super::{C64, Material, Waves};
use crate::Point;

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
