//! Fields on the surface and in the material.

use clinalg::{Error, Precision, Result, Vector, number};

use super::fundamental::block;
use super::product::{self, Quantity, Sums};
use super::{C64, ComplexScalar, Domain, Problem, Waves, check_frequency, radial, widen};
use crate::Point;

/// Points whose sums a launch forms at once.
const AT_ONCE: usize = 1 << 16;
/// Distance from an element, relative to its diameter, up to which a point counts as on the surface.
const ON_SURFACE: f64 = 1e-3;
/// Largest phase error of a wave, in radians, that rounding of a distance may cause.
const PHASE: f64 = 0.1;

/// Displacements and tractions on the boundary elements at one frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    pub(super) displacements: Vec<C64>,
    pub(super) tractions: Vec<C64>,
    pub(super) frequency: f64,
}

impl Solution {
    /// Displacements and tractions, 3 m numbers each, at the angular frequency `frequency`.
    ///
    /// # Errors
    /// [`Error::Length`] where one has more numbers than the other; [`Error::Value`] for a frequency that is negative or not finite.
    pub fn new(displacements: Vec<C64>, tractions: Vec<C64>, frequency: f64) -> Result<Solution> {
        check_frequency(frequency)?;
        if tractions.len() != displacements.len() {
            let (expected, got) = (displacements.len(), tractions.len());
            return Err(Error::Length { argument: "tractions", expected, got });
        }
        Ok(Solution { displacements, tractions, frequency })
    }

    /// Displacements, 3 m numbers (length).
    pub fn displacements(&self) -> &[C64] {
        &self.displacements
    }

    /// Tractions, 3 m numbers (force per area).
    pub fn tractions(&self) -> &[C64] {
        &self.tractions
    }

    /// The angular frequency.
    pub fn frequency(&self) -> f64 {
        self.frequency
    }
}

/// The largest distance that the precision resolves: its rounding error is a small fraction of the shear wavelength, and its square does not
/// overflow.
fn resolved<S: ComplexScalar>(waves: &Waves) -> f64 {
    let [epsilon, largest] = match S::PRECISION {
        Precision::F32 => [f32::EPSILON, f32::MAX].map(f64::from),
        Precision::F64 => [f64::EPSILON, f64::MAX],
    };
    (PHASE / (epsilon * waves.wave_numbers()[0].norm())).min(largest.sqrt() / 4.0)
}

impl<S: ComplexScalar> Problem<S> {
    /// Displacements at `points` in the material (Somigliana's identity, u = int U t dS - int T u dS). Nearer to the surface than about a third of an
    /// element's diameter they lose accuracy.
    ///
    /// # Errors
    /// [`Error::Value`] for points outside the material, on the surface, or so far from it that rounding makes the phase of the waves inaccurate;
    /// [`Error::Length`] for a solution on another mesh; [`Error::Allocation`].
    pub fn evaluate(&self, solution: &Solution, points: &[Point]) -> Result<Vec<[C64; 3]>> {
        let mut all = Vec::with_capacity(points.len());
        self.sum_at(Quantity::Product, solution, points, &mut |values| all.push([0, 1, 2].map(|k| -values[k])))?;
        Ok(all)
    }

    /// Stresses at `points` in the material (force per area): element \[l\]\[m\] is the component l of the traction on the side with the normal m,
    /// sigma = lambda div u I + mu (grad u + grad u'), from the derivatives of Somigliana's identity. Near the surface they lose accuracy sooner than
    /// displacements.
    ///
    /// # Errors
    /// As [`Problem::evaluate`].
    pub fn stresses(&self, solution: &Solution, points: &[Point]) -> Result<Vec<[[C64; 3]; 3]>> {
        let mu = self.material().complex_shear();
        let nu = self.material().poisson();
        let lambda = mu * (2.0 * nu / (1.0 - 2.0 * nu));
        let mut all = Vec::with_capacity(points.len());
        self.sum_at(Quantity::Gradient, solution, points, &mut |gradient| {
            let dilation = lambda * (gradient[0] + gradient[4] + gradient[8]);
            all.push(block(|l, m| {
                let shear = mu * (gradient[3 * l + m] + gradient[3 * m + l]);
                if l == m { dilation + shear } else { shear }
            }));
        })?;
        Ok(all)
    }

    /// Calls `take` with the sums at each of `points`.
    fn sum_at(
        &self,
        quantity: Quantity,
        solution: &Solution,
        points: &[Point],
        take: &mut dyn FnMut(&[C64]),
    ) -> Result<()> {
        let size = 3 * self.mesh().boundary();
        for values in [&solution.displacements, &solution.tractions] {
            if values.len() != size {
                return Err(Error::Length { argument: "solution", expected: size, got: values.len() });
            }
        }
        self.check_points(points)?;
        let fields = product::fields(self, &solution.displacements, &solution.tractions)?;
        let waves = Waves::new(self.material(), solution.frequency)?;
        let mut left: Vec<&[Point]> = points.chunks(AT_ONCE).rev().collect();
        while let Some(part) = left.pop() {
            let places = self.places(part)?;
            let (far, limit) = (self.distances(&places)[1], resolved::<S>(&waves));
            if far.is_nan() || far > limit {
                let expected =
                    format!("points within {} of the surface, where distances resolve the waves", number(limit, 2));
                return Err(Error::value("points", expected, format!("a point at a distance of {}", number(far, 2))));
            }
            // Points that are far from each other take tables of their own.
            if part.len() > 1 && !radial::fits::<S>(&waves, self.distances(&places)) {
                let (first, second) = part.split_at(part.len() / 2);
                left.extend([second, first]);
                continue;
            }
            let sums = Sums::new(self, &places, quantity, solution.frequency)?;
            let count = quantity.count();
            let y = Vector::zeros(self.context(), count * part.len())?;
            // No point is the centre of an element.
            let what = (&places, self.mesh().len(), quantity);
            self.sum(&sums, what, &fields, [S::one(), S::zero()], &y)?;
            let values: Vec<C64> = y.to_vec()?.into_iter().map(widen).collect();
            values.chunks_exact(count).for_each(&mut *take);
        }
        Ok(())
    }

    fn check_points(&self, points: &[Point]) -> Result<()> {
        let mesh = self.mesh();
        for (k, &point) in points.iter().enumerate() {
            let fault = |expected: &str| {
                Err(Error::value("points", expected, format!("{point:?}, point {} (counted from 1)", k + 1)))
            };
            if point.iter().any(|v| !v.is_finite()) {
                return fault("finite coordinates");
            }
            if mesh.relative_distance(point) < ON_SURFACE {
                return fault("points away from the surface; on it the solution itself has the values");
            }
            // Enclosing elements bound the patch's material only formally.
            let encloses = mesh.len() > mesh.boundary();
            if !encloses && (mesh.winding(point) > 0.5) != (self.domain() == Domain::Interior) {
                return fault("points in the material");
            }
        }
        Ok(())
    }
}
