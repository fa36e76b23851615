//! Static integrals over the element of the collocation point.

use std::f64::consts::PI;

use crate::quadrature::gauss_legendre;
use crate::surface::{SurfacePoint, cross, dot, norm, scaled, sub};
use crate::{ElementMesh, Point};

/// Gauss points of each part of a cut element, away from the centre and along the side: the first number that the error bound allows.
const OUTWARDS: [usize; 3] = [2, 4, 8];
const ALONG: [usize; 4] = [16, 20, 24, 32];
/// What the bound has to be below.
const BOUND: f64 = 1e-16;

/// The rules for elements that are cut at their centre.
#[derive(Debug)]
pub(super) struct CutRules {
    outwards: [Vec<(f64, f64)>; 3],
    along: [Vec<(f64, f64)>; 4],
}

impl CutRules {
    pub(super) fn new() -> CutRules {
        CutRules { outwards: OUTWARDS.map(gauss_legendre), along: ALONG.map(gauss_legendre) }
    }

    /// The integral of Kelvin's U for the shear modulus 1 over element `j` from its centre.
    ///
    /// The element is cut into the triangles between its centre and its sides, each the image of a square one side of which is the
    /// centre: the Jacobian cancels 1 / r (Lachat and Watson 1976).
    pub(super) fn static_own(&self, mesh: &ElementMesh, j: usize, poisson: f64) -> [[f64; 3]; 3] {
        let xi = mesh.centres()[j];
        let corners = mesh.corners(j);
        let mut sums = Sums::default();
        if mesh.is_triangle(j) {
            // Flat: the parts between the centre and the three sides have a third of the area each.
            let twice = norm(cross(sub(corners[1], corners[0]), sub(corners[2], corners[0])));
            for side in 0..3 {
                let [a, b] = [corners[side], corners[(side + 1) % 3]];
                for &(t, v) in self.along(xi, a, b) {
                    // r grows in proportion to the distance from the centre, whose share of the integral is 1.
                    let d = [0, 1, 2].map(|k| a[k] + t * (b[k] - a[k]) - xi[k]);
                    sums.add(d, v * twice / 3.0);
                }
            }
            return sums.block(poisson);
        }
        let outwards = self.outwards(&corners);
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        for side in 0..4 {
            let [a, b] = [square[side], square[(side + 1) % 4]];
            for &(along, v) in self.along(xi, corners[side], corners[(side + 1) % 4]) {
                for &(out, w) in outwards {
                    let [s, t] = [0, 1].map(|d| 0.5 + out * (a[d] + along * (b[d] - a[d]) - 0.5));
                    let at = SurfacePoint::of(&corners, s, t);
                    // Each part has a quarter of the square.
                    sums.add(sub(at.point, xi), 0.5 * v * w * out * at.jacobian);
                }
            }
        }
        sums.block(poisson)
    }

    /// The rule along the side from `a` to `b`: 1 / r is singular where r^2 is 0, at complex places on the ellipse around the side's ends, as foci, that
    /// goes through `xi`.
    fn along(&self, xi: Point, a: Point, b: Point) -> &[(f64, f64)] {
        enough(&self.along, (norm(sub(a, xi)) + norm(sub(b, xi))) / norm(sub(b, a)))
    }

    /// The rule away from the centre: the element is a parallelogram but for the term s t of its bilinear map, and only that makes the
    /// integrand depend on the distance. r is 0 again where that term is as large as the linear ones.
    fn outwards(&self, [a, b, c, d]: &[Point; 4]) -> &[(f64, f64)] {
        let along = [0, 1, 2].map(|k| 0.5 * (b[k] - a[k] + c[k] - d[k]));
        let up = [0, 1, 2].map(|k| 0.5 * (d[k] - a[k] + c[k] - b[k]));
        let both = [0, 1, 2].map(|k| a[k] - b[k] + c[k] - d[k]);
        let height = norm(cross(along, up)) / norm(along).max(norm(up));
        enough(&self.outwards, 4.0 * height / norm(both) - 1.0)
    }
}

/// The first of `rules` whose error is small: rho^(-2 n) for n points and an integrand that is analytic in the ellipse around the interval whose semi-axes add
/// up to rho half-lengths; `major` is its major one.
fn enough(rules: &[Vec<(f64, f64)>], major: f64) -> &[(f64, f64)] {
    let major = major.max(1.0);
    let rho = major + (major * major - 1.0).sqrt();
    let last = rules.len() - 1;
    // An infinite rho is that of a parallelogram.
    let fits = |rule: &&Vec<(f64, f64)>| rho.powi(-2 * rule.len() as i32) < BOUND;
    rules[..last].iter().find(fits).unwrap_or(&rules[last])
}

/// The integrals of 1 / r and of d d' / r^3.
#[derive(Default)]
struct Sums {
    inverse: f64,
    products: [f64; 6],
}

impl Sums {
    fn add(&mut self, d: Point, weight: f64) {
        let inverse = 1.0 / dot(d, d).sqrt();
        let once = weight * inverse;
        let g = scaled(inverse, d);
        self.inverse += once;
        let products = [g[0] * g[0], g[1] * g[1], g[2] * g[2], g[0] * g[1], g[0] * g[2], g[1] * g[2]];
        (0..6).for_each(|e| self.products[e] += once * products[e]);
    }

    fn block(&self, poisson: f64) -> [[f64; 3]; 3] {
        let factor = 1.0 / (16.0 * PI * (1.0 - poisson));
        let entry = |l: usize, k: usize| {
            let same = if l == k { (3.0 - 4.0 * poisson) * self.inverse } else { 0.0 };
            factor * (same + self.products[if l == k { l } else { l + k + 2 }])
        };
        [0, 1, 2].map(|l| [0, 1, 2].map(|k| entry(l, k)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_over_a_square_is_the_closed_one() {
        // int 1/r over a square of side 2 from its centre is 8 asinh(1); by symmetry that of g_x g_x / r is half of it.
        let mesh = ElementMesh::cube(1, 2.0).unwrap();
        let nu = 0.3;
        let u = CutRules::new().static_own(&mesh, 0, nu);
        let whole = 8.0 * 1.0_f64.asinh();
        let factor = 1.0 / (16.0 * std::f64::consts::PI * (1.0 - nu));
        let along = factor * whole * (3.0 - 4.0 * nu + 0.5);
        let out = factor * whole * (3.0 - 4.0 * nu);
        for (got, want) in [(u[0][0], along), (u[1][1], along), (u[2][2], out), (u[0][1], 0.0), (u[0][2], 0.0)] {
            assert!((got - want).abs() < 1e-12, "{got} is not {want}");
        }
    }

    #[test]
    fn the_integral_over_a_regular_triangle_is_the_closed_one() {
        let nodes = vec![[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        let elements = vec![[0, 1, 2, 2], [0, 3, 1, 1], [0, 2, 3, 3], [1, 3, 2, 2]];
        let mesh = ElementMesh::new(nodes, elements, 4).unwrap();
        let nu = 0.3;
        // With the radius d of the inner circle, int 1/r over the triangle from its centre is 6 d asinh(sqrt(3)).
        let d = 8.0_f64.sqrt() / 12.0_f64.sqrt();
        let whole = 6.0 * d * 3.0_f64.sqrt().asinh();
        let want = whole * (3.0 * (3.0 - 4.0 * nu) + 1.0) / (16.0 * std::f64::consts::PI * (1.0 - nu));
        for j in 0..4 {
            let u = CutRules::new().static_own(&mesh, j, nu);
            let trace = u[0][0] + u[1][1] + u[2][2];
            assert!((trace - want).abs() < 1e-10, "{trace} is not {want}");
        }
    }
}
