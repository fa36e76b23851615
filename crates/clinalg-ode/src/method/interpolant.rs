//! Interpolants of a step as graphs: the coefficient vectors of a polynomial in theta, from 0 at the beginning of the step to
//! 1 at its end, y(theta) = y_0 + theta V_1 + theta^2 V_2 + ...

use crate::method::graph::{Coefficient, Graph};
use crate::method::tableau::Tableau;
use crate::method::{BEGIN, Input, Method};
use crate::{Error, Result};

/// What computes V_1, V_2, ... from the solution at the beginning of a step, and at its end where that is needed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interpolant {
    /// Its inputs become V_1, V_2, ...; the first two hold the solutions at both ends before.
    pub(crate) method: Method,
    /// Whether the solution at the end is read.
    pub(crate) ends: bool,
}

/// Inputs of an interpolant: the first the solution, the others as if they were derivatives.
fn inputs(count: usize) -> Vec<Input> {
    let rest = (1..count).map(|_| Input::Derivative { offset: 0.0 });
    std::iter::once(BEGIN).chain(rest).collect()
}

/// The graph with its results carried to the inputs, in their order.
fn finished(
    mut g: Graph,
    inputs_of: &[crate::method::graph::Value],
    results: &[crate::method::graph::Value],
) -> Result<Method> {
    for (input, value) in inputs_of.iter().zip(results) {
        g.carry(*input, *value);
    }
    g.solution_is(results[0]);
    Method::new(g, 1, None, inputs(inputs_of.len()))
}

impl Interpolant {
    /// The method's own interpolant where it is known, else that of Hermite.
    pub(crate) fn of(method: &Method) -> Result<Interpolant> {
        let same = |name: &str| Ok::<_, Error>(Method::named(name)?.without_error() == method.without_error());
        if same("dopri54")? { Interpolant::dopri54() } else { Interpolant::hermite() }
    }

    /// The cubic that meets the solution and its derivative at both ends: of third order in the step.
    pub(crate) fn hermite() -> Result<Interpolant> {
        let (one, h) = (Coefficient::constant(1.0), Coefficient::h(1.0));
        let scaled = |c: Coefficient, factor: f64| Coefficient { value: factor * c.value, ..c };
        let mut g = Graph::new("hermite");
        let (y0, y1, spare) = (g.input("y0"), g.input("y1"), g.input("v"));
        let (f0, f1) = (g.rhs("F0", 0.0, y0), g.rhs("F1", 1.0, y1));
        let v1 = g.lc("V1", &[(h, f0)]);
        let rise = |a: f64, b: f64, c: f64| {
            [(scaled(one, a), y1), (scaled(one, -a), y0), (scaled(h, b), f0), (scaled(h, c), f1)]
        };
        let v2 = g.lc("V2", &rise(3.0, -2.0, -1.0));
        let v3 = g.lc("V3", &rise(-2.0, 1.0, 1.0));
        Ok(Interpolant { method: finished(g, &[y0, y1, spare], &[v1, v2, v3])?, ends: true })
    }

    /// The interpolant of order 4 for the pair of Dormand and Prince 5(4) (Shampine 1986; Hairer, Norsett, Wanner, Solving ODEs I,
    /// II.6): y_0 + theta (D + (1 - theta) (B + theta (R + (1 - theta) Q))) with D the rise of the step, B = h F_1 - D,
    /// R = D - h F_7 - B and Q a combination of the stages.
    pub(crate) fn dopri54() -> Result<Interpolant> {
        let tableau = Tableau::dopri54();
        let stages = tableau.b.len();
        let q = [
            -12715105075.0 / 11282082432.0,
            0.0,
            87487479700.0 / 32700410799.0,
            -10690763975.0 / 1880347072.0,
            701980252875.0 / 199316789632.0,
            -1453857185.0 / 822651844.0,
            69997945.0 / 29380423.0,
        ];
        let unit = |i: usize, k: usize| f64::from(u8::from(i == k));
        let rise = |i: usize| tableau.b[i];
        let b = |i: usize| unit(i, 0) - rise(i);
        let r = |i: usize| rise(i) - unit(i, stages - 1) - b(i);
        let powers: [Vec<f64>; 4] = [
            (0..stages).map(|i| unit(i, 0)).collect(),
            (0..stages).map(|i| -b(i) + r(i) + q[i]).collect(),
            (0..stages).map(|i| -r(i) - 2.0 * q[i]).collect(),
            q.to_vec(),
        ];
        let mut g = Graph::new("dopri54-dense");
        let all: Vec<_> = ["y", "v2", "v3", "v4"].map(|name| g.input(name)).into();
        let mut f = Vec::new();
        for (i, row) in tableau.a.iter().enumerate() {
            let x = if i == 0 {
                all[0]
            } else {
                let sum = row.iter().zip(&f).map(|(a, f)| (Coefficient::h(*a), *f));
                let y = std::iter::once((Coefficient::constant(1.0), all[0]));
                g.lc(format!("X{}", i + 1), &y.chain(sum).collect::<Vec<_>>())
            };
            f.push(g.rhs(format!("F{}", i + 1), tableau.c[i], x));
        }
        let results: Vec<_> = (0..4)
            .map(|k| {
                let terms: Vec<_> = powers[k].iter().zip(&f).map(|(c, f)| (Coefficient::h(*c), *f)).collect();
                g.lc(format!("V{}", k + 1), &terms)
            })
            .collect();
        Ok(Interpolant { method: finished(g, &all, &results)?, ends: false })
    }

    /// y_0 + theta V_1 + theta^2 V_2 + ..., with theta as its step size.
    pub(crate) fn sum(&self) -> Result<Method> {
        let degree = self.method.inputs().len();
        let mut g = Graph::new(format!("power-sum-{degree}"));
        let all: Vec<_> = (0..=degree).map(|k| g.input(format!("V{k}"))).collect();
        let terms: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(k, v)| (Coefficient { value: 1.0, power: k as u32, argument: None }, *v))
            .collect();
        let y = g.lc("y", &terms);
        // It is never taken; what it reads stays.
        g.carry(all[0], y);
        for v in &all[1..] {
            g.carry(*v, *v);
        }
        g.solution_is(y);
        Method::new(g, 1, None, inputs(degree + 1))
    }
}
