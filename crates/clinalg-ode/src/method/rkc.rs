//! The stabilised explicit method RKC of order 2: Runge-Kutta-Chebyshev, whose stability limit along the negative real axis grows
//! with the square of the number of stages.
//!
//! B. P. Sommeijer, L. F. Shampine, J. G. Verwer, "RKC: An explicit solver for parabolic PDEs", J. Comput. Appl. Math. 88 (1997)
//! 315-326, formulas (2.1) to (2.8). With the Chebyshev polynomials T_j, w0 = 1 + 2 / (13 s^2), w1 = T_s'(w0) / T_s''(w0),
//! b_j = T_j''(w0) / T_j'(w0)^2, b_0 = b_1 = b_2 and a_j = 1 - b_j T_j(w0):
//!
//! ```text
//! Y_1 = Y_0 + b_1 w1 h F_0
//! Y_j = (1 - mu - nu) Y_0 + mu Y_(j-1) + nu Y_(j-2) + nt h F_(j-1) - a_(j-1) nt h F_0,  j = 2 to s
//! mu = 2 b_j w0 / b_(j-1),  nu = -b_j / b_(j-2),  nt = 2 b_j w1 / b_(j-1)
//! ```

use crate::method::graph::{Coefficient, Graph};
use crate::method::{BEGIN, Input, Method};
use crate::{Error, Result};

/// Stages of [`Method::rkc`] that stand for all numbers of them.
pub(crate) const NOMINAL: usize = 5;

/// Arguments of a stage in [`Method::rkc_stage`].
pub(crate) const ARGUMENTS: usize = 5;

/// One stage: Y_j = y y_0 + last Y_(j-1) + before Y_(j-2) + slope h F_(j-1) + first h F_0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stage {
    pub(crate) y: f64,
    pub(crate) last: f64,
    pub(crate) before: f64,
    pub(crate) slope: f64,
    pub(crate) first: f64,
    /// Where F_(j-1) is evaluated, in units of h.
    pub(crate) c: f64,
}

impl Stage {
    pub(crate) fn arguments(&self) -> [f64; ARGUMENTS] {
        [self.y, self.last, self.before, self.slope, self.first]
    }
}

/// The stages of the method with `s` of them, at least 2.
pub(crate) fn stages(s: usize) -> Vec<Stage> {
    let w0 = 1.0 + 2.0 / (13.0 * (s * s) as f64);
    // T_j, T_j' and T_j'' at w0 by the recurrence and its derivatives.
    let (mut t, mut d, mut dd) = (vec![1.0, w0], vec![0.0, 1.0], vec![0.0, 0.0]);
    for j in 2..=s {
        t.push(2.0 * w0 * t[j - 1] - t[j - 2]);
        d.push(2.0 * t[j - 1] + 2.0 * w0 * d[j - 1] - d[j - 2]);
        dd.push(4.0 * d[j - 1] + 2.0 * w0 * dd[j - 1] - dd[j - 2]);
    }
    let w1 = d[s] / dd[s];
    let mut b: Vec<f64> = (0..=s).map(|j| dd[j] / (d[j] * d[j])).collect();
    (b[0], b[1]) = (b[2], b[2]);
    let a = |j: usize| 1.0 - b[j] * t[j];
    // Where Y_j stands.
    let c = |j: usize| match j {
        0 => 0.0,
        1 => w1 * dd[2] / d[2] / d[2],
        _ => w1 * dd[j] / d[j],
    };
    let first = Stage { y: 0.0, last: 1.0, before: 0.0, slope: b[1] * w1, first: 0.0, c: 0.0 };
    let later = (2..=s).map(|j| {
        let (mu, nu, slope) = (2.0 * b[j] * w0 / b[j - 1], -b[j] / b[j - 2], 2.0 * b[j] * w1 / b[j - 1]);
        Stage { y: 1.0 - mu - nu, last: mu, before: nu, slope, first: -a(j - 1) * slope, c: c(j - 1) }
    });
    std::iter::once(first).chain(later).collect()
}

/// Fewest stages that are stable for the negative real number `z` = h times an eigenvalue, by magnitude: the limit is about
/// 0.65 (s^2 - 1) (formula (2.9)).
pub(crate) fn stages_for(z: f64) -> f64 {
    (1.0 + (1.54 * z + 1.0).sqrt().floor()).max(2.0)
}

impl Method {
    /// The Runge-Kutta-Chebyshev method RKC of order 2 with `stages` stages, stable along the negative real axis to about
    /// 0.65 (stages^2 - 1), with an error estimate. [`Stabilised`](crate::integrate::Stabilised) takes as many stages as each step
    /// needs.
    ///
    /// # Errors
    /// [`Error::Value`] unless stages is 2 to 200.
    pub fn rkc(stages: usize) -> Result<Method> {
        if !(2..=200).contains(&stages) {
            return Err(Error::value("stages", "2 to 200", stages));
        }
        let (constant, h) = (Coefficient::constant, Coefficient::h);
        let mut g = Graph::new(format!("rkc{stages}"));
        let y = g.input("y");
        let first = g.rhs("F0", 0.0, y);
        let (mut before, mut last, mut slope) = (y, y, first);
        for (j, s) in self::stages(stages).iter().enumerate() {
            if j > 0 {
                slope = g.rhs(format!("F{j}"), s.c, last);
            }
            let terms = [
                (constant(s.y), y),
                (constant(s.last), last),
                (constant(s.before), before),
                (h(s.slope), slope),
                (h(s.first), first),
            ];
            let new = g.lc(format!("Y{}", j + 1), &terms);
            (before, last) = (last, new);
        }
        let end = g.rhs("F'", 1.0, last);
        let error = g.lc("e", &[(constant(0.8), y), (constant(-0.8), last), (h(0.4), first), (h(0.4), end)]);
        g.red("err", error, y, last);
        g.carry(y, last);
        g.solution_is(last);
        Method::new(g, 2, Some(2), vec![BEGIN])
    }

    /// One stage of RKC as a step, its five coefficients as arguments; it carries Y_(j-1), Y_(j-2), y_0 and F_0.
    pub(crate) fn rkc_stage() -> Result<Method> {
        let (constant, h) = (Coefficient::constant(1.0), Coefficient::h(1.0));
        let mut g = Graph::new("rkc-stage");
        let (last, before, y, first) = (g.input("Y"), g.input("Y-1"), g.input("y"), g.input("F0"));
        let slope = g.rhs("F", 0.0, last);
        let terms = [(constant, y), (constant, last), (constant, before), (h, slope), (h, first)];
        let terms: Vec<_> = terms.iter().enumerate().map(|(k, (c, v))| (c.times_argument(k), *v)).collect();
        let new = g.lc("Y'", &terms);
        g.carry(last, new);
        g.carry(before, last);
        g.carry(y, y);
        g.carry(first, first);
        g.solution_is(new);
        let kept = Input::Derivative { offset: 0.0 };
        Method::new(g, 2, None, vec![BEGIN, kept, kept, kept])
    }

    /// The error estimate of RKC: 0.8 (y_0 - y_1) + 0.4 h (F_0 + F_1) (formula (2.14)); carries y_1, y_0 and in place of F_0 F_1.
    pub(crate) fn rkc_error() -> Result<Method> {
        let (constant, h) = (Coefficient::constant, Coefficient::h);
        let mut g = Graph::new("rkc-error");
        let (new, y, first) = (g.input("y1"), g.input("y0"), g.input("F0"));
        let end = g.rhs("F1", 0.0, new);
        let error = g.lc("e", &[(constant(0.8), y), (constant(-0.8), new), (h(0.4), first), (h(0.4), end)]);
        g.red("err", error, y, new);
        g.carry(new, new);
        g.carry(y, y);
        g.carry(first, end);
        g.solution_is(new);
        let kept = Input::Derivative { offset: 0.0 };
        Method::new(g, 2, Some(2), vec![BEGIN, kept, kept])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stability polynomial at z by the recurrence of the stages.
    fn polynomial(s: usize, z: f64) -> f64 {
        let (mut before, mut last) = (1.0, 1.0);
        for stage in stages(s) {
            let new = stage.y + stage.last * last + stage.before * before + z * (stage.slope * last + stage.first);
            (before, last) = (last, new);
        }
        last
    }

    #[test]
    fn the_stability_polynomial_is_that_of_the_paper() {
        for s in [2, 3, 5, 12, 50, 200] {
            // a_s + b_s T_s(w0 + w1 z), T_s by its cosine inside of [-1, 1].
            let n = s as f64;
            let w0 = 1.0 + 2.0 / (13.0 * n * n);
            // T_s' = s sinh(s theta) / sinh(theta) and T_s'' by the differential equation of T_s, cosh(theta) = w0.
            let theta = w0.acosh();
            let t = (n * theta).cosh();
            let d = n * (n * theta).sinh() / theta.sinh();
            let dd = (n * n * t - w0 * d) / (w0 * w0 - 1.0);
            let (b, w1) = (dd / (d * d), d / dd);
            let limit = 0.65 * (n * n - 1.0);
            for k in 1..20 {
                let z = -limit * f64::from(k) / 20.0;
                let x = w0 + w1 * z;
                let want = 1.0 - b * t + b * if x >= 1.0 { (n * x.acosh()).cosh() } else { (n * x.acos()).cos() };
                let got = polynomial(s, z);
                assert!((got - want).abs() < 1e-10 * n * n, "s {s}, z {z}: {got}, expected {want}");
                assert!(got.abs() <= 1.0, "s {s}, z {z}: {got}");
            }
            // Order 2: 1 + z + z^2 / 2 at 0.
            let z = 1e-3;
            assert!((polynomial(s, z) - z.exp()).abs() < z.powi(3), "s {s}");
            // The limit of the paper is (w0 + 1) T_s'' / T_s', where the argument of T_s is -1; few stages reach a little further.
            let limit = (w0 + 1.0) / w1;
            let reached = -first_unstable(s);
            assert!(reached >= limit && (s < 12 || reached < 1.05 * limit), "s {s}: {reached}, expected {limit}");
            assert!((0.64..0.68).contains(&(limit / (n * n - 1.0))), "s {s}: {limit}");
        }
    }

    /// The first negative z at which the polynomial exceeds 1, to a thousandth.
    fn first_unstable(s: usize) -> f64 {
        let scale = (s * s) as f64 / 1000.0;
        -(1..2000).map(|k| f64::from(k) * scale).find(|z| polynomial(s, -z).abs() > 1.0).unwrap_or(f64::NAN)
    }

    #[test]
    fn enough_stages_are_chosen() {
        assert_eq!(stages_for(0.0), 2.0);
        for z in [0.1, 1.0, 3.0, 40.0, 1234.0] {
            let s = stages_for(z) as usize;
            assert!(polynomial(s, -z).abs() <= 1.0, "{z} with {s} stages");
        }
    }
}
