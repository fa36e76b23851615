//! Runge-Kutta methods as Butcher tableaux, with their order conditions.

use std::fmt;

use crate::{Error, Result};

/// A rooted tree: a root with subtrees, which stands for one order condition (Hairer, Norsett, Wanner, Solving ODEs I,
/// II.2).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tree {
    children: Vec<Tree>,
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.children.is_empty() {
            return f.write_str("T");
        }
        let children: Vec<_> = self.children.iter().map(Tree::to_string).collect();
        write!(f, "[{}]", children.join(","))
    }
}

impl Tree {
    /// All rooted trees with 1 to `order` vertices: 1, 1, 2, 4, 9, 20, 48, 115, ... of each size.
    pub fn up_to(order: usize) -> Vec<Tree> {
        let mut all: Vec<Vec<Tree>> = Vec::new();
        for n in 1..=order {
            let mut found = Vec::new();
            let smaller: Vec<Tree> = all.iter().flatten().cloned().collect();
            forests(&smaller, n - 1, 0, &mut Vec::new(), &mut found);
            all.push(found);
        }
        all.concat()
    }

    /// Number of vertices.
    pub fn order(&self) -> usize {
        1 + self.children.iter().map(Tree::order).sum::<usize>()
    }

    /// The density gamma: the condition is sum_i b_i Phi_i = 1 / gamma.
    pub fn density(&self) -> f64 {
        self.order() as f64 * self.children.iter().map(Tree::density).product::<f64>()
    }

    /// Elementary weights Phi_i of each stage.
    fn weights(&self, a: &[Vec<f64>]) -> Vec<f64> {
        let mut all = vec![1.0; a.len()];
        for child in &self.children {
            let below = child.weights(a);
            for (phi, row) in all.iter_mut().zip(a) {
                *phi *= row.iter().zip(&below).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        all
    }
}

/// All non-decreasing choices of trees, from number `first` on, with `left` vertices together.
fn forests(trees: &[Tree], left: usize, first: usize, chosen: &mut Vec<Tree>, found: &mut Vec<Tree>) {
    if left == 0 {
        found.push(Tree { children: chosen.clone() });
        return;
    }
    for (k, tree) in trees.iter().enumerate().skip(first).filter(|(_, tree)| tree.order() <= left) {
        chosen.push(tree.clone());
        forests(trees, left - tree.order(), k, chosen, found);
        chosen.pop();
    }
}

/// Coefficients of an explicit or implicit Runge-Kutta method.
#[derive(Debug, Clone, PartialEq)]
pub struct Tableau {
    /// The method's name.
    pub name: String,
    /// Rows of coefficients; a row may be shorter than the number of stages, the rest is zero.
    pub a: Vec<Vec<f64>>,
    /// Weights of the solution.
    pub b: Vec<f64>,
    /// Where in the step each stage stands.
    pub c: Vec<f64>,
    /// Order of the solution.
    pub order: usize,
    /// Weights of the solution that the error is estimated with, and its order.
    pub embedded: Option<(Vec<f64>, usize)>,
}

/// How far a condition may be off, relative to the sum of the magnitudes in it.
const ROUNDING: f64 = 1e-13;

impl Tableau {
    /// The tableau with all rows filled up, checked.
    ///
    /// # Errors
    /// [`Error::Graph`] when lengths do not fit, [`Error::Condition`] for the first row sum that is not c or the first
    /// order condition that does not hold, for the solution up to its order and for the embedded one up to its.
    pub fn check(mut self) -> Result<Tableau> {
        let s = self.b.len();
        let lengths = self.a.len() == s
            && self.c.len() == s
            && s > 0
            && self.a.iter().all(|row| row.len() <= s)
            && self.embedded.as_ref().is_none_or(|(b, _)| b.len() == s);
        if !lengths {
            let reason = "rows, weights and nodes of the tableau do not have the same number of stages".into();
            return Err(Error::Graph { graph: self.name, reason });
        }
        for row in &mut self.a {
            row.resize(s, 0.0);
        }
        for (i, row) in self.a.iter().enumerate() {
            let size: f64 = row.iter().map(|v| v.abs()).sum::<f64>() + self.c[i].abs();
            self.condition(format!("the sum of row {}", i + 1), row.iter().sum(), self.c[i], size)?;
        }
        let all = [("", Some((&self.b, self.order))), ("embedded ", self.embedded.as_ref().map(|(b, p)| (b, *p)))];
        for (which, weights) in all {
            let Some((b, order)) = weights else { continue };
            for tree in Tree::up_to(order) {
                let phi = tree.weights(&self.a);
                let sum: f64 = b.iter().zip(&phi).map(|(b, p)| b * p).sum();
                let size: f64 = 1.0 + b.iter().zip(&phi).map(|(b, p)| (b * p).abs()).sum::<f64>();
                // Magnitudes inside the weights of the stages count as well.
                let inner = self.a.iter().map(|row| row.iter().map(|v| v.abs()).sum::<f64>()).fold(1.0, f64::max);
                let name = format!("{which}order condition {tree} of order {}", tree.order());
                self.condition(name, sum, 1.0 / tree.density(), size * inner)?;
            }
        }
        Ok(self)
    }

    fn condition(&self, condition: String, got: f64, expected: f64, size: f64) -> Result<()> {
        // Not `>`: NaN fails as well.
        if (got - expected).abs() <= ROUNDING * size {
            return Ok(());
        }
        Err(Error::Condition { method: self.name.clone(), condition, got, expected })
    }

    /// Whether each stage needs earlier stages only.
    pub fn is_explicit(&self) -> bool {
        self.a.iter().enumerate().all(|(i, row)| row.iter().skip(i).all(|v| *v == 0.0))
    }

    fn new(name: &str, order: usize, c: &[f64], a: &[&[f64]], b: &[f64], embedded: Option<(&[f64], usize)>) -> Tableau {
        Tableau {
            name: name.into(),
            a: a.iter().map(|row| row.to_vec()).collect(),
            b: b.to_vec(),
            c: c.to_vec(),
            order,
            embedded: embedded.map(|(b, p)| (b.to_vec(), p)),
        }
    }

    /// Explicit Euler, order 1.
    pub fn euler() -> Tableau {
        Tableau::new("euler", 1, &[0.0], &[&[]], &[1.0], None)
    }

    /// Heun's method of order 2.
    pub fn heun2() -> Tableau {
        Tableau::new("heun2", 2, &[0.0, 1.0], &[&[], &[1.0]], &[0.5, 0.5], None)
    }

    /// The strong-stability-preserving method of Shu and Osher with three stages, order 3.
    pub fn ssprk3() -> Tableau {
        let b = [1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0];
        Tableau::new("ssprk3", 3, &[0.0, 1.0, 0.5], &[&[], &[1.0], &[0.25, 0.25]], &b, None)
    }

    /// The classical method of Runge and Kutta, order 4.
    pub fn rk4() -> Tableau {
        let b = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
        Tableau::new("rk4", 4, &[0.0, 0.5, 0.5, 1.0], &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]], &b, None)
    }

    /// Kutta's 3/8 rule, order 4.
    pub fn rk38() -> Tableau {
        let (t, e) = (1.0 / 3.0, 1.0 / 8.0);
        let a: &[&[f64]] = &[&[], &[t], &[-t, 1.0], &[1.0, -1.0, 1.0]];
        Tableau::new("rk38", 4, &[0.0, t, 2.0 / 3.0, 1.0], a, &[e, 3.0 * e, 3.0 * e, e], None)
    }

    /// Bogacki and Shampine's pair 3(2) (Appl. Math. Lett. 2, 1989).
    pub fn bs32() -> Tableau {
        let b = [2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0, 0.0];
        let low = [7.0 / 24.0, 0.25, 1.0 / 3.0, 0.125];
        let a: &[&[f64]] = &[&[], &[0.5], &[0.0, 0.75], &b[..3]];
        Tableau::new("bs32", 3, &[0.0, 0.5, 0.75, 1.0], a, &b, Some((&low, 2)))
    }

    /// Fehlberg's pair 4(5); the solution of order 4 is carried on.
    pub fn rkf45() -> Tableau {
        let a: &[&[f64]] = &[
            &[],
            &[1.0 / 4.0],
            &[3.0 / 32.0, 9.0 / 32.0],
            &[1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0],
            &[439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0],
            &[-8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0],
        ];
        let c = [0.0, 0.25, 3.0 / 8.0, 12.0 / 13.0, 1.0, 0.5];
        let b = [25.0 / 216.0, 0.0, 1408.0 / 2565.0, 2197.0 / 4104.0, -0.2, 0.0];
        let high = [16.0 / 135.0, 0.0, 6656.0 / 12825.0, 28561.0 / 56430.0, -9.0 / 50.0, 2.0 / 55.0];
        Tableau::new("rkf45", 4, &c, a, &b, Some((&high, 5)))
    }

    /// Dormand and Prince's pair 5(4) (J. Comput. Appl. Math. 6, 1980).
    pub fn dopri54() -> Tableau {
        let b = [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0];
        let low =
            [5179.0 / 57600.0, 0.0, 7571.0 / 16695.0, 393.0 / 640.0, -92097.0 / 339200.0, 187.0 / 2100.0, 1.0 / 40.0];
        let a: &[&[f64]] = &[
            &[],
            &[1.0 / 5.0],
            &[3.0 / 40.0, 9.0 / 40.0],
            &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
            &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
            &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
            &b[..6],
        ];
        Tableau::new("dopri54", 5, &[0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0], a, &b, Some((&low, 4)))
    }

    /// Verner's pair 6(5) with eight stages (SIAM J. Numer. Anal. 15, 1978).
    pub fn verner65() -> Tableau {
        let a: &[&[f64]] = &[
            &[],
            &[1.0 / 6.0],
            &[4.0 / 75.0, 16.0 / 75.0],
            &[5.0 / 6.0, -8.0 / 3.0, 5.0 / 2.0],
            &[-165.0 / 64.0, 55.0 / 6.0, -425.0 / 64.0, 85.0 / 96.0],
            &[12.0 / 5.0, -8.0, 4015.0 / 612.0, -11.0 / 36.0, 88.0 / 255.0],
            &[-8263.0 / 15000.0, 124.0 / 75.0, -643.0 / 680.0, -81.0 / 250.0, 2484.0 / 10625.0],
            &[
                3501.0 / 1720.0,
                -300.0 / 43.0,
                297275.0 / 52632.0,
                -319.0 / 2322.0,
                24068.0 / 84065.0,
                0.0,
                3850.0 / 26703.0,
            ],
        ];
        let c = [0.0, 1.0 / 6.0, 4.0 / 15.0, 2.0 / 3.0, 5.0 / 6.0, 1.0, 1.0 / 15.0, 1.0];
        let b = [3.0 / 40.0, 0.0, 875.0 / 2244.0, 23.0 / 72.0, 264.0 / 1955.0, 0.0, 125.0 / 11592.0, 43.0 / 616.0];
        let low = [13.0 / 160.0, 0.0, 2375.0 / 5984.0, 5.0 / 16.0, 12.0 / 85.0, 3.0 / 44.0, 0.0, 0.0];
        Tableau::new("verner65", 6, &c, a, &b, Some((&low, 5)))
    }

    /// Prince and Dormand's pair 8(7) with thirteen stages (J. Comput. Appl. Math. 7, 1981).
    pub fn dopri87() -> Tableau {
        let a: &[&[f64]] = &[
            &[],
            &[1.0 / 18.0],
            &[1.0 / 48.0, 1.0 / 16.0],
            &[1.0 / 32.0, 0.0, 3.0 / 32.0],
            &[5.0 / 16.0, 0.0, -75.0 / 64.0, 75.0 / 64.0],
            &[3.0 / 80.0, 0.0, 0.0, 3.0 / 16.0, 3.0 / 20.0],
            &[
                29443841.0 / 614563906.0,
                0.0,
                0.0,
                77736538.0 / 692538347.0,
                -28693883.0 / 1125000000.0,
                23124283.0 / 1800000000.0,
            ],
            &[
                16016141.0 / 946692911.0,
                0.0,
                0.0,
                61564180.0 / 158732637.0,
                22789713.0 / 633445777.0,
                545815736.0 / 2771057229.0,
                -180193667.0 / 1043307555.0,
            ],
            &[
                39632708.0 / 573591083.0,
                0.0,
                0.0,
                -433636366.0 / 683701615.0,
                -421739975.0 / 2616292301.0,
                100302831.0 / 723423059.0,
                790204164.0 / 839813087.0,
                800635310.0 / 3783071287.0,
            ],
            &[
                246121993.0 / 1340847787.0,
                0.0,
                0.0,
                -37695042795.0 / 15268766246.0,
                -309121744.0 / 1061227803.0,
                -12992083.0 / 490766935.0,
                6005943493.0 / 2108947869.0,
                393006217.0 / 1396673457.0,
                123872331.0 / 1001029789.0,
            ],
            &[
                -1028468189.0 / 846180014.0,
                0.0,
                0.0,
                8478235783.0 / 508512852.0,
                1311729495.0 / 1432422823.0,
                -10304129995.0 / 1701304382.0,
                -48777925059.0 / 3047939560.0,
                15336726248.0 / 1032824649.0,
                -45442868181.0 / 3398467696.0,
                3065993473.0 / 597172653.0,
            ],
            &[
                185892177.0 / 718116043.0,
                0.0,
                0.0,
                -3185094517.0 / 667107341.0,
                -477755414.0 / 1098053517.0,
                -703635378.0 / 230739211.0,
                5731566787.0 / 1027545527.0,
                5232866602.0 / 850066563.0,
                -4093664535.0 / 808688257.0,
                3962137247.0 / 1805957418.0,
                65686358.0 / 487910083.0,
            ],
            &[
                403863854.0 / 491063109.0,
                0.0,
                0.0,
                -5068492393.0 / 434740067.0,
                -411421997.0 / 543043805.0,
                652783627.0 / 914296604.0,
                11173962825.0 / 925320556.0,
                -13158990841.0 / 6184727034.0,
                3936647629.0 / 1978049680.0,
                -160528059.0 / 685178525.0,
                248638103.0 / 1413531060.0,
            ],
        ];
        let c = [
            0.0,
            1.0 / 18.0,
            1.0 / 12.0,
            1.0 / 8.0,
            5.0 / 16.0,
            3.0 / 8.0,
            59.0 / 400.0,
            93.0 / 200.0,
            5490023248.0 / 9719169821.0,
            13.0 / 20.0,
            1201146811.0 / 1299019798.0,
            1.0,
            1.0,
        ];
        let b = [
            14005451.0 / 335480064.0,
            0.0,
            0.0,
            0.0,
            0.0,
            -59238493.0 / 1068277825.0,
            181606767.0 / 758867731.0,
            561292985.0 / 797845732.0,
            -1041891430.0 / 1371343529.0,
            760417239.0 / 1151165299.0,
            118820643.0 / 751138087.0,
            -528747749.0 / 2220607170.0,
            0.25,
        ];
        let low = [
            13451932.0 / 455176623.0,
            0.0,
            0.0,
            0.0,
            0.0,
            -808719846.0 / 976000145.0,
            1757004468.0 / 5645159321.0,
            656045339.0 / 265891186.0,
            -3867574721.0 / 1518517206.0,
            465885868.0 / 322736535.0,
            53011238.0 / 667516719.0,
            2.0 / 45.0,
            0.0,
        ];
        Tableau::new("dopri87", 8, &c, a, &b, Some((&low, 7)))
    }

    /// Radau IIA with 2, 3 or 4 stages, order 3, 5 or 7: collocation at the right Radau nodes.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of stages.
    pub fn radau_iia(stages: usize) -> Result<Tableau> {
        let c = match stages {
            2 => vec![1.0 / 3.0, 1.0],
            3 => vec![(4.0 - 6.0_f64.sqrt()) / 10.0, (4.0 + 6.0_f64.sqrt()) / 10.0, 1.0],
            // Roots of 35 x^3 - 45 x^2 + 15 x - 1, which is d^3/dx^3 (x^3 (x - 1)^4) up to x - 1 and a factor.
            4 => [0.09, 0.41, 0.79].map(|x| newton(x, [35.0, -45.0, 15.0, -1.0])).into_iter().chain([1.0]).collect(),
            _ => return Err(Error::value("stages", "2, 3 or 4", stages)),
        };
        let moments = |x: f64| (1..=stages).map(|k| x.powi(k as i32) / k as f64).collect::<Vec<_>>();
        let a: Vec<_> = c.iter().map(|x| crate::method::weights::weights(&c, &moments(*x))).collect();
        let b = crate::method::weights::weights(&c, &moments(1.0));
        let order = 2 * stages - 1;
        Ok(Tableau { name: format!("radau-iia-{order}"), a, b, c, order, embedded: None })
    }

    /// Lobatto IIIC with 4 stages, order 6: a_i1 = b_1 and the conditions C(3) (Hairer, Wanner, Solving ODEs II, IV.5).
    pub fn lobatto_iiic6() -> Tableau {
        let r = 5.0_f64.sqrt();
        let c = vec![0.0, (5.0 - r) / 10.0, (5.0 + r) / 10.0, 1.0];
        let b = vec![1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0];
        let row = |x: f64| {
            let rest = c[1..].to_vec();
            let moments: Vec<f64> =
                (1..=3).map(|k| x.powi(k) / f64::from(k) - b[0] * if k == 1 { 1.0 } else { 0.0 }).collect();
            [vec![b[0]], crate::method::weights::weights(&rest, &moments)].concat()
        };
        let a = c.iter().map(|x| row(*x)).collect();
        Tableau { name: "lobatto-iiic-6".into(), a, b, c, order: 6, embedded: None }
    }
}

/// The root near `x` of a cubic polynomial, highest coefficient first.
fn newton(mut x: f64, [a, b, c, d]: [f64; 4]) -> f64 {
    for _ in 0..50 {
        x -= (((a * x + b) * x + c) * x + d) / ((3.0 * a * x + 2.0 * b) * x + c);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_counted_as_in_the_literature() {
        // OEIS A000081.
        let all = Tree::up_to(8);
        let counts: Vec<_> = (1..=8).map(|n| all.iter().filter(|t| t.order() == n).count()).collect();
        assert_eq!(counts, [1, 1, 2, 4, 9, 20, 48, 115]);
        assert_eq!(all[3].to_string(), "[[T]]");
    }

    #[test]
    fn all_tableaux_meet_their_conditions() {
        let explicit = [
            Tableau::euler(),
            Tableau::heun2(),
            Tableau::ssprk3(),
            Tableau::rk4(),
            Tableau::rk38(),
            Tableau::bs32(),
            Tableau::rkf45(),
            Tableau::dopri54(),
            Tableau::verner65(),
            Tableau::dopri87(),
        ];
        for tableau in explicit {
            let order = tableau.order;
            let tableau = tableau.check().unwrap();
            assert!(tableau.is_explicit(), "{}", tableau.name);
            // The order is not understated.
            let more = Tableau { order: order + 1, ..tableau };
            assert!(more.check().is_err());
        }
        let implicit =
            [Tableau::radau_iia(2), Tableau::radau_iia(3), Tableau::radau_iia(4), Ok(Tableau::lobatto_iiic6())];
        for tableau in implicit {
            let tableau = tableau.unwrap().check().unwrap();
            assert!(!tableau.is_explicit(), "{}", tableau.name);
        }
        // Published: Hairer, Wanner, table IV.5.6.
        let radau = Tableau::radau_iia(3).unwrap();
        let r = 6.0_f64.sqrt();
        assert!((radau.a[0][1] - (296.0 - 169.0 * r) / 1800.0).abs() < 1e-15);
        assert!((radau.b[0] - (16.0 - r) / 36.0).abs() < 1e-15);
    }

    #[test]
    fn a_failing_condition_is_named() {
        let mut wrong = Tableau::rk4();
        wrong.b = vec![0.25, 0.25, 0.25, 0.25];
        let error = wrong.check().unwrap_err();
        assert_eq!(error.id(), "clinalg:ode:condition");
        assert!(error.to_string().contains("order condition [T,T] of order 3"), "{error}");
        let mut wrong = Tableau::rk4();
        wrong.a[2][1] = 0.4;
        assert!(wrong.check().unwrap_err().to_string().contains("the sum of row 3"));
        let mut wrong = Tableau::dopri54();
        wrong.embedded.as_mut().unwrap().1 = 5;
        assert!(wrong.check().unwrap_err().to_string().contains("embedded order condition"));
        let mut wrong = Tableau::rk4();
        wrong.b[0] = f64::NAN;
        assert!(wrong.check().is_err());
        let mut wrong = Tableau::rk4();
        wrong.c.pop();
        assert_eq!(wrong.check().unwrap_err().id(), "clinalg:ode:graph");
    }
}
