//! Rules on a triangle.

use clinalg::{Error, Result};

/// Points of a triangle rule with weights that sum to 1; multiply by the area.
#[derive(Debug, Clone, PartialEq)]
pub struct TriangleRule {
    /// Barycentric coordinates.
    pub points: Vec<[f64; 3]>,
    /// One weight a point.
    pub weights: Vec<f64>,
}

/// Orders of [`TriangleRule::of_order`].
pub const TRIANGLE_ORDERS: [usize; 4] = [1, 2, 4, 5];

impl TriangleRule {
    /// A rule that is exact for polynomials of degree `order`, all of whose points are inside:
    /// order 1 has 1 point, order 2 has 3, order 4 has 6 (Dunavant 1985), order 5 has 7 (Radon 1948).
    ///
    /// # Errors
    /// [`Error::Value`] for another order than those of [`TRIANGLE_ORDERS`].
    pub fn of_order(order: usize) -> Result<TriangleRule> {
        let third = 1.0 / 3.0;
        let orbits: &[(f64, f64)] = match order {
            1 => &[(third, 1.0)],
            2 => &[(1.0 / 6.0, third)],
            4 => &[
                (0.445_948_490_915_964_9, 0.223_381_589_678_011_47),
                (0.091_576_213_509_770_74, 0.109_951_743_655_321_87),
            ],
            5 => {
                let root = 15.0_f64.sqrt();
                let orbits = [
                    (third, 0.225),
                    ((6.0 - root) / 21.0, (155.0 - root) / 1200.0),
                    ((6.0 + root) / 21.0, (155.0 + root) / 1200.0),
                ];
                return Ok(TriangleRule::from_orbits(&orbits));
            }
            _ => {
                return Err(Error::Value {
                    argument: "order",
                    expected: "1, 2, 4 or 5, the orders of the triangle rules".into(),
                    got: order.to_string(),
                });
            }
        };
        Ok(TriangleRule::from_orbits(orbits))
    }

    /// Points (a, a, 1 - 2 a) and their permutations; one point where a = 1/3.
    fn from_orbits(orbits: &[(f64, f64)]) -> TriangleRule {
        let mut rule = TriangleRule { points: Vec::new(), weights: Vec::new() };
        for &(a, weight) in orbits {
            let b = 1.0 - 2.0 * a;
            let points = [[b, a, a], [a, b, a], [a, a, b]];
            let count = if (a - b).abs() < 1e-9 { 1 } else { 3 };
            rule.points.extend(&points[..count]);
            rule.weights.extend(std::iter::repeat_n(weight, count));
        }
        rule
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no point; there always is one.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}
