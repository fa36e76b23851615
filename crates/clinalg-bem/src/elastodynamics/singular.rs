//! Static integrals over the element of the collocation point.

use super::fundamental::static_displacement;
use crate::quadrature::gauss_legendre;
use crate::surface::{cross, norm, sub};
use crate::{ElementMesh, Point};

/// Gauss points of each part of a cut element: away from the centre, where the integrand is smooth, and along the side, where it
/// is the less so the farther the side extends.
const OUTWARDS: usize = 8;
const ALONG: usize = 32;

/// The integral of Kelvin's U for the shear modulus 1 over element `j` from its centre.
///
/// The element is cut into the triangles between its centre and its sides, each the image of a square one side of which is the
/// centre: the Jacobian cancels 1 / r (Lachat and Watson 1976).
pub(super) fn static_own(mesh: &ElementMesh, j: usize, poisson: f64) -> [[f64; 3]; 3] {
    let (outwards, along) = (gauss_legendre(OUTWARDS), gauss_legendre(ALONG));
    let xi = mesh.centres()[j];
    let mut sum = [[0.0; 3]; 3];
    let mut add = |point: Point, weight: f64| {
        let u = static_displacement(poisson, point, xi);
        (0..9).for_each(|e| sum[e / 3][e % 3] += weight * u[e / 3][e % 3]);
    };
    let squares = outwards.iter().flat_map(|&(out, w)| along.iter().map(move |&(along, v)| (out, along, w * v * out)));
    let corners = mesh.corners(j);
    if mesh.is_triangle(j) {
        // Flat: the parts between the centre and the three sides have a third of the area each.
        let twice = norm(cross(sub(corners[1], corners[0]), sub(corners[2], corners[0])));
        for (out, along, weight) in squares {
            for side in 0..3 {
                let [a, b] = [corners[side], corners[(side + 1) % 3]];
                let point = [0, 1, 2].map(|d| xi[d] + out * (a[d] + along * (b[d] - a[d]) - xi[d]));
                add(point, weight * twice / 3.0);
            }
        }
        return sum;
    }
    let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    for (out, along, weight) in squares {
        for side in 0..4 {
            let [a, b] = [square[side], square[(side + 1) % 4]];
            let [s, t] = [0, 1].map(|d| 0.5 + out * (a[d] + along * (b[d] - a[d]) - 0.5));
            // Each part has a quarter of the square.
            let at = mesh.at(j, s, t);
            add(at.point, 0.5 * weight * at.jacobian);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_over_a_square_is_the_closed_one() {
        // int 1/r over a square of side 2 from its centre is 8 asinh(1); by symmetry that of g_x g_x / r is half of it.
        let mesh = ElementMesh::cube(1, 2.0).unwrap();
        let nu = 0.3;
        let u = static_own(&mesh, 0, nu);
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
            let u = static_own(&mesh, j, nu);
            let trace = u[0][0] + u[1][1] + u[2][2];
            assert!((trace - want).abs() < 1e-10, "{trace} is not {want}");
        }
    }
}
