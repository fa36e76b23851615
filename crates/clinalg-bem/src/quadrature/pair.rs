//! Rules on pairs of triangles that share a point.

use super::gauss_legendre;

/// How two triangles lie to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contact {
    /// A common vertex.
    Vertex,
    /// A common edge.
    Edge,
    /// The same triangle.
    Coincident,
}

/// A quadrature point on a pair of reference triangles, with its weight for the reference area 1/2
/// of each times 4: weights sum to 1.
///
/// `x` and `y` are barycentric coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairPoint {
    /// On the test triangle.
    pub x: [f64; 3],
    /// On the trial triangle.
    pub y: [f64; 3],
    /// Weight.
    pub weight: f64,
}

/// The rule for a singularity 1/|x - y| on two triangles in contact, of `order`^4 points for each
/// of its 2, 5 or 6 parts (Sauter and Schwab, Boundary Element Methods, 2011, section 5.2).
///
/// The vertices come in an order in which those that are common stand first in both triangles, in
/// the same order.
pub fn sauter_schwab(contact: Contact, order: usize) -> Vec<PairPoint> {
    let line = gauss_legendre(order);
    let mut points = Vec::new();
    for &(xi, w0) in &line {
        for &(a, w1) in &line {
            for &(b, w2) in &line {
                for &(c, w3) in &line {
                    let weight = 4.0 * w0 * w1 * w2 * w3;
                    let mut add = |jacobian: f64, x: [f64; 2], y: [f64; 2]| {
                        let point = |p: [f64; 2]| [1.0 - xi * (p[0] + p[1]), xi * p[0], xi * p[1]];
                        points.push(PairPoint { x: point(x), y: point(y), weight: weight * jacobian });
                    };
                    let cube = xi * xi * xi;
                    match contact {
                        Contact::Vertex => {
                            let (p, q) = ([1.0 - a, a], [b * (1.0 - c), b * c]);
                            add(cube * b, p, q);
                            add(cube * b, q, p);
                        }
                        Contact::Edge => {
                            let (first, rest) = (cube * a * a, cube * a * a * b);
                            add(first, [1.0 - a * c, a * c], [1.0 - a, a * (1.0 - b)]);
                            add(rest, [1.0 - a, a], [1.0 - a * b, a * b * (1.0 - c)]);
                            add(rest, [1.0 - a, a * (1.0 - b)], [1.0 - a * b * c, a * b * c]);
                            add(rest, [1.0 - a * b, a * b * (1.0 - c)], [1.0 - a, a]);
                            add(rest, [1.0 - a, a * (1.0 - b * c)], [1.0 - a * b, a * b]);
                        }
                        Contact::Coincident => {
                            let jacobian = cube * a * a * b;
                            for (p, q) in [
                                ([a * (1.0 - b), 1.0 - a * (1.0 - b)], [a * (1.0 - b * c), 1.0 - a]),
                                (
                                    [1.0 - a * (1.0 - b * (1.0 - c)), a * (1.0 - b * (1.0 - c))],
                                    [1.0 - a, a * (1.0 - b)],
                                ),
                                ([1.0 - a, a * (1.0 - b * c)], [1.0 - a * (1.0 - b), a * (1.0 - b)]),
                            ] {
                                add(jacobian, p, q);
                                add(jacobian, q, p);
                            }
                        }
                    }
                }
            }
        }
    }
    points
}
