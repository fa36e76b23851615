//! Methods: a data-flow graph with its order and what it needs before the first step.

mod draw;
pub mod graph;
pub(crate) mod interpolant;
mod rewrite;
pub(crate) mod rkc;
mod stability;
pub mod tableau;
mod transform;
pub(crate) mod weights;

use crate::method::graph::{Coefficient, Graph};
use crate::method::tableau::Tableau;
use crate::method::weights::weights;
use crate::{Error, Result};

/// What an input of a graph holds when a step begins at t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Input {
    /// y(t + offset h).
    Solution {
        /// In units of h, at most 0.
        offset: f64,
    },
    /// f(t + offset h, y(t + offset h)).
    Derivative {
        /// In units of h, at most 0.
        offset: f64,
    },
    /// The absolute tolerances of the components.
    Tolerances,
}

impl Input {
    /// In units of h, at most 0.
    pub fn offset(&self) -> f64 {
        match self {
            Input::Solution { offset } | Input::Derivative { offset } => *offset,
            Input::Tolerances => 0.0,
        }
    }
}

/// The solution where the step begins.
pub(crate) const BEGIN: Input = Input::Solution { offset: 0.0 };

/// An explicit ODE method.
#[derive(Debug, Clone, PartialEq)]
pub struct Method {
    graph: Graph,
    order: usize,
    error_order: Option<usize>,
    inputs: Vec<Input>,
}

/// Names that [`Method::named`] knows.
pub const METHODS: [&str; 21] = [
    "euler",
    "heun2",
    "ssprk3",
    "rk4",
    "rk38",
    "bs32",
    "rkf45",
    "dopri54",
    "verner65",
    "dopri87",
    "pirk-radau-iia-5",
    "pirk-radau-iia-7",
    "pirk-lobatto-iiic-6",
    "peer4",
    "peer6",
    "peer8",
    "ab2",
    "ab3",
    "ab4",
    "ab5",
    "ab6",
];

impl Method {
    /// The method of this name, one of [`METHODS`].
    ///
    /// # Errors
    /// [`Error::Value`] for a name that is not among them.
    pub fn named(name: &str) -> Result<Method> {
        let tableau = match name {
            "euler" => Tableau::euler(),
            "heun2" => Tableau::heun2(),
            "ssprk3" => Tableau::ssprk3(),
            "rk4" => Tableau::rk4(),
            "rk38" => Tableau::rk38(),
            "bs32" => Tableau::bs32(),
            "rkf45" => Tableau::rkf45(),
            "dopri54" => Tableau::dopri54(),
            "verner65" => Tableau::verner65(),
            "dopri87" => Tableau::dopri87(),
            "pirk-radau-iia-5" => return Method::pirk(Tableau::radau_iia(3)?, 4),
            "pirk-radau-iia-7" => return Method::pirk(Tableau::radau_iia(4)?, 6),
            "pirk-lobatto-iiic-6" => return Method::pirk(Tableau::lobatto_iiic6(), 5),
            "peer4" => return Method::peer(4),
            "peer6" => return Method::peer(6),
            "peer8" => return Method::peer(8),
            "ab2" => return Method::adams_bashforth(2),
            "ab3" => return Method::adams_bashforth(3),
            "ab4" => return Method::adams_bashforth(4),
            "ab5" => return Method::adams_bashforth(5),
            "ab6" => return Method::adams_bashforth(6),
            _ => return Err(Error::value("method", format!("one of {}", METHODS.join(", ")), name)),
        };
        Method::runge_kutta(tableau)
    }

    /// A method of one's own. The graph's inputs hold `inputs`, one for each, when a step begins.
    ///
    /// # Errors
    /// Those of [`Graph::finish`]; [`Error::Graph`] unless there is one entry of `inputs` for each input of the graph, one of
    /// which is the solution at the beginning of the step, and none lies after that.
    pub fn new(graph: Graph, order: usize, error_order: Option<usize>, inputs: Vec<Input>) -> Result<Method> {
        let graph = graph.finish()?;
        let fail = |reason: &str| Err(Error::Graph { graph: graph.name().into(), reason: reason.into() });
        if inputs.len() != graph.inputs().len() {
            return fail("it does not say what each input holds");
        }
        if inputs.iter().filter(|i| **i == BEGIN).count() != 1 {
            return fail("not exactly one input is the solution at the beginning of the step");
        }
        // Not `>`: NaN fails as well.
        if !inputs.iter().all(|i| i.offset() <= 0.0 && i.offset().is_finite()) {
            return fail("an input lies after the beginning of the step");
        }
        if error_order.is_some() != graph.has_error() {
            return fail("the order of the error estimate must be given if, and only if, there is an estimate");
        }
        Ok(Method { graph, order, error_order, inputs })
    }

    /// The explicit Runge-Kutta method of a tableau, with an error estimate where the tableau is embedded. A last stage
    /// that equals the solution is computed once.
    ///
    /// # Errors
    /// Those of [`Tableau::check`]; [`Error::Graph`] for an implicit tableau.
    pub fn runge_kutta(tableau: Tableau) -> Result<Method> {
        let tableau = tableau.check()?;
        let mut g = Graph::new(tableau.name.clone());
        if !tableau.is_explicit() {
            let reason = "the tableau is implicit; it can be iterated by `Method::pirk`".into();
            return Err(Error::Graph { graph: tableau.name, reason });
        }
        let one = Coefficient::constant(1.0);
        let y = g.input("y");
        let mut f = Vec::new();
        let mut last = y;
        for (i, row) in tableau.a.iter().enumerate() {
            let mut x = y;
            if i > 0 {
                let terms: Vec<_> = std::iter::once((one, y))
                    .chain(row.iter().zip(&f).map(|(a, f)| (Coefficient::h(*a), *f)))
                    .collect();
                x = g.lc(format!("X{}", i + 1), &terms);
            }
            f.push(g.rhs(format!("F{}", i + 1), tableau.c[i], x));
            last = x;
        }
        let s = f.len();
        let new = if s > 1 && tableau.a[s - 1] == tableau.b {
            last
        } else {
            let sum = tableau.b.iter().zip(&f).map(|(b, f)| (Coefficient::h(*b), *f));
            g.lc("y'", &std::iter::once((one, y)).chain(sum).collect::<Vec<_>>())
        };
        if let Some((low, _)) = &tableau.embedded {
            let difference = tableau.b.iter().zip(low).map(|(b, l)| Coefficient::h(b - l));
            let error = g.lc("e", &difference.zip(f.iter().copied()).collect::<Vec<_>>());
            g.red("err", error, y, new);
        }
        g.carry(y, new);
        g.solution_is(new);
        let error_order = tableau.embedded.as_ref().map(|(_, p)| *p);
        Method::new(g, tableau.order, error_order, vec![BEGIN])
    }

    /// The explicit method that iterates an implicit tableau `corrections` times, all stages of an iteration independent of
    /// each other (PIRK; van der Houwen and Sommeijer). The predictor is Y_i = y + c_i h f(t, y); the order is the smaller of
    /// the tableau's and corrections + 1.
    ///
    /// # Errors
    /// Those of [`Tableau::check`], for the tableau and for the explicit method as a tableau; [`Error::Value`] without
    /// corrections.
    pub fn pirk(tableau: Tableau, corrections: usize) -> Result<Method> {
        let tableau = tableau.check()?;
        if corrections == 0 {
            return Err(Error::value("corrections", "at least 1", 0));
        }
        let s = tableau.b.len();
        let order = tableau.order.min(corrections + 1);
        let name = format!("pirk-{}", tableau.name);
        let one = Coefficient::constant(1.0);
        let mut g = Graph::new(name.clone());
        let y = g.input("y");
        let f0 = g.rhs("F0", 0.0, y);
        // The same method as a long explicit tableau, for its order conditions.
        let mut flat = Tableau { name, a: vec![vec![]], b: Vec::new(), c: vec![0.0], order, embedded: None };
        let mut f = Vec::new();
        for m in 1..=corrections {
            let first = flat.a.len() - s.min(flat.a.len());
            let x: Vec<_> = (0..s)
                .map(|i| {
                    let row: Vec<_> = match m {
                        1 => vec![(Coefficient::h(tableau.c[i]), f0)],
                        _ => tableau.a[i].iter().zip(&f).map(|(a, f)| (Coefficient::h(*a), *f)).collect(),
                    };
                    g.lc(format!("Y{}.{m}", i + 1), &[vec![(one, y)], row].concat())
                })
                .collect();
            for i in 0..s {
                let row = if m == 1 { vec![tableau.c[i]] } else { tableau.a[i].clone() };
                flat.a.push([vec![0.0; if m == 1 { 0 } else { first }], row].concat());
            }
            flat.c.extend(&tableau.c);
            f = (0..s).map(|i| g.rhs(format!("F{}.{m}", i + 1), tableau.c[i], x[i])).collect();
        }
        flat.b = [vec![0.0; flat.a.len() - s], tableau.b.clone()].concat();
        flat.check()?;
        let sum = tableau.b.iter().zip(&f).map(|(b, f)| (Coefficient::h(*b), *f));
        let new = g.lc("y'", &std::iter::once((one, y)).chain(sum).collect::<Vec<_>>());
        g.carry(y, new);
        g.solution_is(new);
        Method::new(g, order, None, vec![BEGIN])
    }

    /// The Adams-Bashforth method with `k` steps, order k: y' = y + h sum_j beta_j f(t - j h), where the weights integrate
    /// polynomials of degree below k exactly.
    ///
    /// # Errors
    /// [`Error::Value`] unless k is 1 to 8.
    pub fn adams_bashforth(k: usize) -> Result<Method> {
        if !(1..=8).contains(&k) {
            return Err(Error::value("k", "1 to 8", k));
        }
        let nodes: Vec<f64> = (0..k).map(|j| -(j as f64)).collect();
        let moments: Vec<f64> = (1..=k).map(|q| 1.0 / q as f64).collect();
        let beta = weights(&nodes, &moments);
        let mut g = Graph::new(format!("ab{k}"));
        let y = g.input("y");
        let old: Vec<_> = (1..k).map(|j| g.input(format!("F-{j}"))).collect();
        let f = g.rhs("F", 0.0, y);
        // The right-hand side just computed comes last: all other terms can be summed before it is known.
        let sum = beta[1..].iter().zip(&old).chain([(&beta[0], &f)]).map(|(b, f)| (Coefficient::h(*b), *f));
        let new = g.lc("y'", &std::iter::once((Coefficient::constant(1.0), y)).chain(sum).collect::<Vec<_>>());
        g.carry(y, new);
        for (input, value) in old.iter().zip(std::iter::once(&f).chain(&old)) {
            g.carry(*input, *value);
        }
        g.solution_is(new);
        let back = (1..k).map(|j| Input::Derivative { offset: -(j as f64) });
        Method::new(g, k, None, std::iter::once(BEGIN).chain(back).collect())
    }

    /// An explicit two-step peer method with 2 to 8 stages, all evaluated independently of each other, order s:
    /// Y_i' = Y_s + h sum_j a_ij f(Y_j) with Y_i at t + (c_i - 1) h, c_s = 1. The nodes are those of Chebyshev on an interval of
    /// length [`PEER_SPREAD`] that ends with the step, the a_ij integrate polynomials of degree below s exactly. Its matrix B
    /// has the eigenvalues 1, 0, ..., 0, so it is zero-stable.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of stages.
    pub fn peer(stages: usize) -> Result<Method> {
        if !(2..=8).contains(&stages) {
            return Err(Error::value("stages", "2 to 8", stages));
        }
        let s = stages;
        let node = |i: usize| {
            let angle = std::f64::consts::PI * (s - 1 - i) as f64 / (s - 1) as f64;
            if i + 1 == s { 1.0 } else { 1.0 - PEER_SPREAD * (1.0 - angle.cos()) / 2.0 }
        };
        let c: Vec<f64> = (0..s).map(node).collect();
        let old: Vec<f64> = c.iter().map(|c| c - 1.0).collect();
        let a: Vec<Vec<f64>> = c
            .iter()
            .map(|c| weights(&old, &(1..=s).map(|q| c.powi(q as i32) / q as f64).collect::<Vec<_>>()))
            .collect();
        let mut b = vec![vec![0.0; s]; s];
        for row in &mut b {
            row[s - 1] = 1.0;
        }
        Method::general_peer(&format!("peer{s}"), &c, &b, &a)
    }

    /// The explicit two-step peer method Y' = B Y + h A F with nodes `c`, of which the last is 1, and order s, the number
    /// of stages. Stage i stands at t + (c_i - 1) h before the step and at t + c_i h after it.
    ///
    /// # Errors
    /// [`Error::Graph`] when lengths do not fit or a node is not in (-8, 1]; [`Error::Condition`] for the first row and power
    /// for which the stage is not exact, and when B is not zero-stable (its powers grow).
    pub fn general_peer(name: &str, c: &[f64], b: &[Vec<f64>], a: &[Vec<f64>]) -> Result<Method> {
        let s = c.len();
        let square = |m: &[Vec<f64>]| m.len() == s && m.iter().all(|row| row.len() == s);
        if s == 0 || !square(a) || !square(b) || !c.iter().all(|c| (-8.0..=1.0).contains(c)) || c[s - 1] != 1.0 {
            let reason =
                "a peer method needs nodes up to 1, the last being 1, and square matrices whose size is their number"
                    .into();
            return Err(Error::Graph { graph: name.into(), reason });
        }
        for i in 0..s {
            for q in 0..=s {
                let power = |x: f64, q: usize| if q == 0 { 1.0 } else { x.powi(q as i32) };
                let terms = (0..s).flat_map(|j| {
                    let x = c[j] - 1.0;
                    let slope = if q == 0 { 0.0 } else { q as f64 * power(x, q - 1) };
                    [b[i][j] * power(x, q), a[i][j] * slope]
                });
                let (got, size) = terms.fold((0.0, 1.0), |(sum, size), v| (sum + v, size + f64::abs(v)));
                let expected = power(c[i], q);
                let off = (got - expected).abs();
                if off.is_nan() || off > 1e-12 * size {
                    let condition = format!("stage {} for the power {q}", i + 1);
                    return Err(Error::Condition { method: name.into(), condition, got, expected });
                }
            }
        }
        // 2^12 steps by repeated squaring: powers of a stable matrix stay bounded.
        let mut power = b.to_vec();
        for _ in 0..12 {
            let square = |i: usize, j: usize| (0..s).map(|k| power[i][k] * power[k][j]).sum::<f64>();
            power = (0..s).map(|i| (0..s).map(|j| square(i, j)).collect()).collect();
        }
        let largest =
            power.iter().flatten().fold(0.0_f64, |m, v| if v.is_nan() { f64::INFINITY } else { m.max(v.abs()) });
        let bound = 100.0 * b.iter().flatten().fold(1.0_f64, |m, v| m.max(v.abs()));
        if largest > bound {
            let condition = "zero stability: the largest entry of B to the power 4096, at most".into();
            return Err(Error::Condition { method: name.into(), condition, got: largest, expected: bound });
        }
        let mut g = Graph::new(name);
        let y: Vec<_> = (0..s).map(|i| g.input(format!("Y{}", i + 1))).collect();
        let f: Vec<_> = (0..s).map(|i| g.rhs(format!("F{}", i + 1), c[i] - 1.0, y[i])).collect();
        for i in 0..s {
            let values = b[i].iter().zip(&y).map(|(b, y)| (Coefficient::constant(*b), *y));
            let slopes = a[i].iter().zip(&f).map(|(a, f)| (Coefficient::h(*a), *f));
            let new = g.lc(format!("Y{}'", i + 1), &values.chain(slopes).collect::<Vec<_>>());
            g.carry(y[i], new);
            if i + 1 == s {
                g.solution_is(new);
            }
        }
        let inputs = c.iter().map(|c| Input::Solution { offset: c - 1.0 }).collect();
        Method::new(g, s, None, inputs)
    }

    /// The method's name.
    pub fn name(&self) -> &str {
        self.graph.name()
    }

    /// The data flow of a step.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Order of convergence.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Order of the solution that the error is estimated with.
    pub fn error_order(&self) -> Option<usize> {
        self.error_order
    }

    /// What each input of the graph holds when a step begins.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The input that is the solution at the beginning of a step.
    pub(crate) fn begin(&self) -> usize {
        self.inputs.iter().position(|input| *input == BEGIN).expect("`Method::new` checks that there is one")
    }

    /// Steps that other methods must take before the first one; 0 for one-step methods.
    pub fn start_steps(&self) -> usize {
        self.inputs.iter().map(|i| (-i.offset()).ceil() as usize).max().unwrap_or(0)
    }

    /// The method without its error estimate, for steps of fixed size.
    pub fn without_error(&self) -> Method {
        let inputs = self.inputs.iter().copied().filter(|input| *input != Input::Tolerances).collect();
        Method { graph: self.graph.without_error(), order: self.order, error_order: None, inputs }
    }

    /// The method with its right-hand sides recovered from stages ([`Graph::recover_stages`] with [`RECOVERY_WEIGHT`]): fewer
    /// words moved where each stage group has one right-hand side, and solutions that differ by rounding.
    pub fn with_stage_recovery(&self) -> Method {
        Method { graph: self.graph.recover_stages(RECOVERY_WEIGHT), inputs: self.inputs.clone(), ..*self }
    }

    /// The method with an absolute tolerance for each component in its error estimate; the method itself where it has that
    /// already, or has no estimate. [`Options::absolute_each`](crate::run::integrate::Options::absolute_each) are the tolerances.
    pub fn with_tolerances(&self) -> Method {
        if !self.graph.has_error() || self.graph.tolerances().is_some() {
            return self.clone();
        }
        let inputs = self.inputs.iter().copied().chain([Input::Tolerances]).collect();
        Method { graph: self.graph.with_tolerances(), inputs, ..self.clone() }
    }
}

/// By how much [`Method::with_stage_recovery`] lets rounding errors of a stage grow in a right-hand side, in units of the
/// stage over h.
pub const RECOVERY_WEIGHT: f64 = 1000.0;

/// Length of the interval, in steps, that the nodes of [`Method::peer`] fill.
pub const PEER_SPREAD: f64 = 2.0;
