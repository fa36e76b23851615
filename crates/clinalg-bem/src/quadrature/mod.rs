//! Quadrature rules: on intervals, on triangles, on pairs of triangles.

mod gauss;
mod pair;
mod triangle;

pub use gauss::{MOST_HAT_POINTS, gauss_legendre, hat_rule};
pub use pair::{Contact, PairPoint, sauter_schwab};
pub use triangle::{TRIANGLE_ORDERS, TriangleRule};

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
        for (contact, count) in [(Contact::Vertex, 512), (Contact::Edge, 1280), (Contact::Coincident, 1536)] {
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
        let whole = integral(Contact::Coincident, order, corners, corners);
        let middle = [ab, bc, ca];
        let small = [[a, ab, ca], [b, bc, ab], [c, ca, bc]];
        let far = |t: [[f64; 2]; 3]| middle.into_iter().find(|p| !t.contains(p)).unwrap();
        let mut parts = integral(Contact::Coincident, order, middle, middle);
        for t in small {
            parts += integral(Contact::Coincident, order, t, t);
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
