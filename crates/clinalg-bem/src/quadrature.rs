//! Quadrature on triangles, on pairs of triangles that touch, and in time.

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

/// Nodes and weights of the Gauss rule of `n` points for a weight function with moment
/// recurrence coefficients `alpha` (diagonal) and `beta` (squared off-diagonal, `beta[0]` = total
/// mass) by the eigenvalues of the Jacobi matrix (Golub and Welsch 1969), with Newton's method on
/// the orthogonal polynomial between bounds that interlace.
fn gauss(alpha: &[f64], beta: &[f64], low: f64, high: f64) -> Vec<(f64, f64)> {
    let n = alpha.len();
    // Monic polynomials p_k at x, with derivative of the last.
    let value = |k: usize, x: f64| {
        let (mut p, mut d, mut before, mut before_d) = (1.0, 0.0, 0.0, 0.0);
        for i in 0..k {
            let b = if i == 0 { 0.0 } else { beta[i] };
            let next = (x - alpha[i]) * p - b * before;
            let next_d = p + (x - alpha[i]) * d - b * before_d;
            (before, before_d, p, d) = (p, d, next, next_d);
        }
        (p, d)
    };
    let mut roots: Vec<f64> = Vec::new();
    for k in 1..=n {
        let mut bounds = vec![low];
        bounds.extend(&roots);
        bounds.push(high);
        roots = bounds
            .windows(2)
            .map(|pair| {
                let (mut a, mut b) = (pair[0], pair[1]);
                let sign = value(k, a).0.signum();
                let mut x = 0.5 * (a + b);
                for _ in 0..100 {
                    let (p, d) = value(k, x);
                    if p.signum() == sign {
                        a = x
                    } else {
                        b = x
                    }
                    let newton = x - p / d;
                    let next = if newton > a && newton < b { newton } else { 0.5 * (a + b) };
                    if (next - x).abs() <= f64::EPSILON * (1.0 + x.abs()) {
                        return next;
                    }
                    x = next;
                }
                x
            })
            .collect();
    }
    let weight = |x: f64| {
        // 1 / sum of squares of the orthonormal polynomials.
        let (mut p, mut before, mut norm, mut sum) = (1.0, 0.0, beta[0], 0.0);
        for i in 0..n {
            sum += p * p / norm;
            let b = if i == 0 { 0.0 } else { beta[i] };
            (before, p) = (p, (x - alpha[i]) * p - b * before);
            norm *= beta.get(i + 1).copied().unwrap_or(1.0);
        }
        1.0 / sum
    };
    roots.iter().map(|&x| (x, weight(x))).collect()
}

/// The Gauss-Legendre rule of `n` points on (0, 1).
pub fn gauss_legendre(n: usize) -> Vec<(f64, f64)> {
    let alpha = vec![0.5; n];
    let beta: Vec<f64> = (0..n)
        .map(|k| {
            let k = k as f64;
            if k == 0.0 { 1.0 } else { k * k / (4.0 * (4.0 * k * k - 1.0)) }
        })
        .collect();
    gauss(&alpha, &beta, 0.0, 1.0)
}

/// Most points of [`hat_rule`].
pub const MOST_HAT_POINTS: usize = 24;

/// The Gauss rule of `n` points for the weight 1 - |t| on (-1, 1); weights sum to 1.
///
/// The recurrence coefficients come from the discretised Stieltjes procedure (Gautschi 2004,
/// section 2.2.3), exact here because a Gauss-Legendre rule on each half integrates all products.
///
/// # Panics
/// For more than [`MOST_HAT_POINTS`] points.
pub fn hat_rule(n: usize) -> Vec<(f64, f64)> {
    assert!(n <= MOST_HAT_POINTS, "the hat rule has at most {MOST_HAT_POINTS} points");
    let half = gauss_legendre(MOST_HAT_POINTS + 1);
    let support: Vec<(f64, f64)> = half.iter().flat_map(|&(x, w)| [(-x, w * (1.0 - x)), (x, w * (1.0 - x))]).collect();
    let mut beta = Vec::with_capacity(n);
    let mut p = vec![1.0; support.len()];
    let mut before = vec![0.0; support.len()];
    let mut norm = 1.0;
    for k in 0..n {
        let square: f64 = support.iter().zip(&p).map(|((_, w), p)| w * p * p).sum();
        let b = square / norm;
        beta.push(b);
        norm = square;
        let b = if k == 0 { 0.0 } else { b };
        // Symmetric weight: the diagonal coefficients vanish.
        let next: Vec<f64> = support.iter().zip(&p).zip(&before).map(|((&(x, _), p), q)| x * p - b * q).collect();
        before = std::mem::replace(&mut p, next);
    }
    gauss(&vec![0.0; n], &beta, -1.0, 1.0)
}

/// How two triangles lie to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Contact {
    /// A common vertex.
    Vertex,
    /// A common edge.
    Edge,
    /// The same triangle.
    Identical,
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
                        Contact::Identical => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangle_rules_integrate_their_degree() {
        // Integral of b0^i b1^j b2^k over a triangle of area 1: 2 i! j! k! / (i + j + k + 2)!.
        let factorial = |n: i32| (1..=n).map(f64::from).product::<f64>();
        for order in TRIANGLE_ORDERS {
            let rule = TriangleRule::of_order(order).unwrap();
            for i in 0..=order as i32 {
                for j in 0..=order as i32 - i {
                    let k = order as i32 - i - j;
                    let terms = rule.points.iter().zip(&rule.weights);
                    let got: f64 = terms.map(|(b, w)| w * b[0].powi(i) * b[1].powi(j) * b[2].powi(k)).sum();
                    let want = 2.0 * factorial(i) * factorial(j) * factorial(k) / factorial(i + j + k + 2);
                    assert!((got - want).abs() < 1e-15, "order {order}: {got} is not {want}");
                }
            }
        }
        assert!(TriangleRule::of_order(3).is_err());
    }

    #[test]
    fn rules_in_one_dimension_integrate_their_degree() {
        for n in 1..=MOST_HAT_POINTS as i32 {
            for (k, p) in (0..2 * n).flat_map(|p| [(0, p), (1, p)]) {
                let rule = if k == 0 { gauss_legendre(n as usize) } else { hat_rule(n as usize) };
                let got: f64 = rule.iter().map(|(x, w)| w * x.powi(p)).sum();
                // The integral of (1 - |t|) t^p over (-1, 1) for even p.
                let hat = if p % 2 == 1 { 0.0 } else { 2.0 / f64::from((p + 1) * (p + 2)) };
                let want = if k == 0 { 1.0 / f64::from(p + 1) } else { hat };
                assert!((got - want).abs() < 1e-14, "{n} points, degree {p}: {got} is not {want}");
            }
        }
    }

    #[test]
    fn pair_rules_have_the_published_sizes_and_weight_one() {
        for (contact, count) in [(Contact::Vertex, 512), (Contact::Edge, 1280), (Contact::Identical, 1536)] {
            let rule = sauter_schwab(contact, 4);
            assert_eq!(rule.len(), count);
            let sum: f64 = rule.iter().map(|p| p.weight).sum();
            assert!((sum - 1.0).abs() < 1e-14);
            for p in &rule {
                for b in p.x.iter().chain(&p.y) {
                    assert!((-1e-15..=1.0).contains(b));
                }
            }
        }
    }

    #[test]
    fn pair_rules_add_up_over_a_refinement() {
        // The integral of 1 / |x - y| over a triangle with itself is the sum over the four triangles of its refinement
        // and their pairs, which ties the three rules together.
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let mid = |a: [f64; 2], b: [f64; 2]| [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
        let [a, b, c] = corners;
        let (ab, bc, ca) = (mid(a, b), mid(b, c), mid(c, a));
        let integral = |contact, order, t: [[f64; 2]; 3], s: [[f64; 2]; 3]| {
            let at = |t: [[f64; 2]; 3], p: [f64; 3], d: usize| (0..3).map(|k| p[k] * t[k][d]).sum::<f64>();
            let area = |t: [[f64; 2]; 3]| {
                0.5 * ((t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) - (t[1][1] - t[0][1]) * (t[2][0] - t[0][0])).abs()
            };
            let sum: f64 = sauter_schwab(contact, order)
                .iter()
                .map(|p| p.weight / (at(t, p.x, 0) - at(s, p.y, 0)).hypot(at(t, p.x, 1) - at(s, p.y, 1)))
                .sum();
            sum * area(t) * area(s)
        };
        let order = 12;
        let whole = integral(Contact::Identical, order, corners, corners);
        let middle = [ab, bc, ca];
        let small = [[a, ab, ca], [b, bc, ab], [c, ca, bc]];
        let far = |t: [[f64; 2]; 3]| middle.into_iter().find(|p| !t.contains(p)).unwrap();
        let mut parts = integral(Contact::Identical, order, middle, middle);
        for t in small {
            parts += integral(Contact::Identical, order, t, t);
            // Edge of t opposite its corner.
            parts += 2.0 * integral(Contact::Edge, order, [t[1], t[2], t[0]], [t[1], t[2], far(t)]);
        }
        for (s, t, common) in [(0, 1, ab), (1, 2, bc), (2, 0, ca)] {
            let first = |t: [[f64; 2]; 3]| {
                let k = t.iter().position(|&p| p == common).unwrap();
                [t[k], t[(k + 1) % 3], t[(k + 2) % 3]]
            };
            parts += 2.0 * integral(Contact::Vertex, order, first(small[s]), first(small[t]));
        }
        assert!((whole - parts).abs() < 1e-8, "{whole} is not {parts}");
    }
}
