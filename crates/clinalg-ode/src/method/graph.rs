//! The data flow of one step of a method.
//!
//! A [`Graph`] has vectors that come in ([`Op::Input`]), evaluations of the right-hand side ([`Op::Rhs`]), linear
//! combinations ([`Op::Lc`]) and the reduction of an error estimate to a number ([`Op::Red`]). Coefficients are numbers
//! times powers of the step size h, which stays a symbol. A linear combination is summed from left to right in the order
//! of its terms, so that every schedule of the graph gives the same bits.

use crate::{Error, Result};

/// A vector of a graph: an input, a right-hand side or a linear combination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub(crate) usize);

/// A number times a power of the step size h.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// The number.
    pub value: f64,
    /// The power of h.
    pub power: u32,
    /// The argument of the step, by its number, that it is multiplied by; see
    /// [`Stepper::advance_with`](crate::integrate::Stepper::advance_with).
    pub argument: Option<usize>,
}

impl Coefficient {
    /// A number that does not depend on h.
    pub const fn constant(value: f64) -> Coefficient {
        Coefficient { value, power: 0, argument: None }
    }

    /// `value` times h.
    pub const fn h(value: f64) -> Coefficient {
        Coefficient { value, power: 1, argument: None }
    }

    /// Whether it is the number 1, by which nothing is multiplied.
    pub fn is_one(&self) -> bool {
        self.power == 0 && self.value == 1.0 && self.argument.is_none()
    }

    /// The coefficient times an argument of the step.
    pub(crate) fn times_argument(self, argument: usize) -> Coefficient {
        Coefficient { argument: Some(argument), ..self }
    }
}

/// What a node of a graph computes.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// A vector that the step before left.
    Input,
    /// F = f(t + c h, X).
    Rhs {
        /// Which step of several: 0 in the graph of one step, see [`Graph::repeat`].
        step: usize,
        /// Where in the step.
        c: f64,
        /// X.
        x: Value,
    },
    /// Z = c_1 V_1 + c_2 V_2 + ..., summed in this order.
    Lc {
        /// Coefficients and vectors.
        terms: Vec<(Coefficient, Value)>,
    },
    /// The weighted norm of an error estimate, with the weights taken from the solution at both ends of the step.
    Red {
        /// The estimate.
        error: Value,
        /// The solution at the beginning of the step.
        from: Value,
        /// The solution at the end of the step.
        to: Value,
        /// Absolute tolerances of the components, where they are not one number.
        absolute: Option<Value>,
    },
}

impl Op {
    /// The vectors read.
    pub fn reads(&self) -> Vec<Value> {
        match self {
            Op::Input => Vec::new(),
            Op::Rhs { x, .. } => vec![*x],
            Op::Lc { terms } => terms.iter().map(|(_, v)| *v).collect(),
            Op::Red { error, from, to, absolute } => [*error, *from, *to].into_iter().chain(*absolute).collect(),
        }
    }
}

/// One operation with the name of its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Name of the result, for drawings and listings.
    pub label: String,
    /// The operation.
    pub op: Op,
    /// The stage group in which it is computed at the earliest; 0 for as soon as what it reads is known. See [`Graph::clone_into`].
    pub since: usize,
    /// Whether right-hand sides compute it at each neighbour that they read. See [`Graph::inline`].
    pub inlined: bool,
}

/// The data flow of one step; nodes stand after what they read.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    pub(super) name: String,
    pub(super) nodes: Vec<Node>,
    pub(super) next: Vec<(Value, Value)>,
    pub(super) solution: Option<Value>,
}

impl Graph {
    /// A graph without nodes.
    pub fn new(name: impl Into<String>) -> Graph {
        Graph { name: name.into(), nodes: Vec::new(), next: Vec::new(), solution: None }
    }

    pub(super) fn push(&mut self, label: impl Into<String>, op: Op) -> Value {
        self.place(Node { label: label.into(), op, since: 0, inlined: false })
    }

    /// Adds a node.
    pub(crate) fn place(&mut self, node: Node) -> Value {
        self.nodes.push(node);
        Value(self.nodes.len() - 1)
    }

    /// Adds a node like `node`, whose operands are renamed by `place`.
    pub(crate) fn copy(&mut self, node: &Node, place: &[Value]) -> Value {
        self.place(Node { op: renamed(&node.op, place), ..node.clone() })
    }

    /// Adds a vector that the step before left; [`Graph::carry`] says what it becomes.
    pub fn input(&mut self, label: impl Into<String>) -> Value {
        self.push(label, Op::Input)
    }

    /// Adds F = f(t + c h, x).
    pub fn rhs(&mut self, label: impl Into<String>, c: f64, x: Value) -> Value {
        self.push(label, Op::Rhs { step: 0, c, x })
    }

    /// Adds a linear combination, summed in the order of `terms`. Terms with the coefficient 0 are left out.
    pub fn lc(&mut self, label: impl Into<String>, terms: &[(Coefficient, Value)]) -> Value {
        let terms = terms.iter().copied().filter(|(c, _)| c.value != 0.0).collect();
        self.push(label, Op::Lc { terms })
    }

    /// Adds the weighted norm of the error estimate `error` of a step between the solutions `from` and `to`.
    pub fn red(&mut self, label: impl Into<String>, error: Value, from: Value, to: Value) {
        self.push(label, Op::Red { error, from, to, absolute: None });
    }

    /// Says that the input `input` of the next step is `value`.
    pub fn carry(&mut self, input: Value, value: Value) {
        self.next.push((input, value));
    }

    /// Says that `value` is the solution at the end of the step.
    pub fn solution_is(&mut self, value: Value) {
        self.solution = Some(value);
    }

    /// Checks that the graph can be run.
    ///
    /// # Errors
    /// [`Error::Graph`] for a node that reads a later node or the result of a reduction, an empty linear combination, a
    /// coefficient that is not finite, an input without or with two successors, a successor shared by two inputs, more
    /// than one reduction, a missing solution or one that is not carried on.
    pub fn finish(self) -> Result<Graph> {
        let fail = |reason: String| Err(Error::Graph { graph: self.name.clone(), reason });
        let label = |v: Value| &self.nodes[v.0].label;
        let vector = |v: Value| v.0 < self.nodes.len() && !matches!(self.nodes[v.0].op, Op::Red { .. });
        for (k, node) in self.nodes.iter().enumerate() {
            if let Some(v) = node.op.reads().into_iter().find(|v| v.0 >= k || !vector(*v)) {
                return fail(format!("`{}` reads node {}, which is no vector made before it", node.label, v.0));
            }
            let finite = match &node.op {
                Op::Lc { terms } if terms.is_empty() => return fail(format!("`{}` has no terms", node.label)),
                Op::Lc { terms } => terms.iter().all(|(c, _)| c.value.is_finite()),
                Op::Rhs { c, .. } => c.is_finite(),
                _ => true,
            };
            if !finite {
                return fail(format!("`{}` has a coefficient that is not finite", node.label));
            }
        }
        if self.nodes.iter().filter(|n| matches!(n.op, Op::Red { .. })).count() > 1 {
            return fail("it has more than one reduction".into());
        }
        for input in self.inputs() {
            let count = self.next.iter().filter(|(i, _)| *i == input).count();
            if count != 1 {
                return fail(format!("input `{}` has {count} successors, expected one", label(input)));
            }
        }
        for (k, (input, value)) in self.next.iter().enumerate() {
            if !vector(*value) || input.0 >= self.nodes.len() || self.nodes[input.0].op != Op::Input {
                return fail("a carry does not go from a vector to an input".into());
            }
            if self.next[..k].iter().any(|(_, other)| other == value) {
                return fail(format!("`{}` is carried to two inputs", label(*value)));
            }
        }
        match self.solution {
            Some(v) if self.next.iter().any(|(_, value)| *value == v) => {}
            Some(_) => return fail("the solution is not carried to the next step".into()),
            None => return fail("it does not say which vector is the solution".into()),
        }
        Ok(self)
    }

    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All nodes; each stands after those it reads.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node that makes `value`.
    pub fn node(&self, value: Value) -> &Node {
        &self.nodes[value.0]
    }

    /// The inputs, in the order they were added.
    pub fn inputs(&self) -> Vec<Value> {
        (0..self.nodes.len()).map(Value).filter(|v| self.nodes[v.0].op == Op::Input).collect()
    }

    /// What each input becomes.
    pub fn carries(&self) -> &[(Value, Value)] {
        &self.next
    }

    /// The solution at the end of the step.
    ///
    /// # Panics
    /// For a graph that did not pass [`Graph::finish`].
    pub fn solution(&self) -> Value {
        self.solution.expect("a finished graph has a solution")
    }

    /// Whether the step gives an error estimate.
    pub fn has_error(&self) -> bool {
        self.nodes.iter().any(|n| matches!(n.op, Op::Red { .. }))
    }

    /// The reductions: one a step at most, in the order of the steps.
    pub(crate) fn reductions(&self) -> Vec<Value> {
        (0..self.nodes.len()).map(Value).filter(|v| matches!(self.nodes[v.0].op, Op::Red { .. })).collect()
    }

    /// Arguments that coefficients are multiplied by.
    pub(crate) fn step_arguments(&self) -> usize {
        let terms = self.nodes.iter().filter_map(|n| if let Op::Lc { terms } = &n.op { Some(terms) } else { None });
        terms.flatten().filter_map(|(c, _)| c.argument).map(|k| k + 1).max().unwrap_or(0)
    }

    /// Evaluations of the right-hand side in a step.
    pub fn rhs_count(&self) -> usize {
        self.nodes.iter().filter(|n| matches!(n.op, Op::Rhs { .. })).count()
    }

    /// Stage group of each node along the chain of right-hand sides, counted from 1: a right-hand side stands one stage group after
    /// what its argument needs, everything else in the last stage group it reads from, or later where [`Node::since`] is later. 0 stands for
    /// what needs no right-hand side. What is inlined stands in the stage group of the right-hand sides that read it.
    pub fn stage_groups(&self) -> Vec<usize> {
        let mut stage_groups: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let last = node.op.reads().iter().map(|v| stage_groups[v.0]).max().unwrap_or(0);
            let next = match node.op {
                Op::Rhs { x, .. } => !self.node(x).inlined,
                _ => node.inlined,
            };
            stage_groups.push(node.since.max(last + usize::from(next)));
        }
        stage_groups
    }

    /// The vectors whose neighbours a right-hand side reads: its argument, or what that is computed from where it is inlined.
    pub(crate) fn neighbours(&self, rhs: &Op) -> Vec<Value> {
        match rhs {
            Op::Rhs { x, .. } if self.node(*x).inlined => self.node(*x).op.reads(),
            Op::Rhs { x, .. } => vec![*x],
            _ => Vec::new(),
        }
    }

    /// The input that holds absolute tolerances of the components, where there is one.
    pub fn tolerances(&self) -> Option<Value> {
        self.nodes.iter().find_map(|n| if let Op::Red { absolute, .. } = n.op { absolute } else { None })
    }

    /// Steps that the graph takes: 1 but for those made by [`Graph::repeat`].
    pub fn steps(&self) -> usize {
        let step = |n: &Node| if let Op::Rhs { step, .. } = n.op { step + 1 } else { 1 };
        self.nodes.iter().map(step).max().unwrap_or(1)
    }

    /// The carries and the solution of `other`, whose nodes are renamed by `place`.
    pub(crate) fn end_like(&mut self, other: &Graph, place: &[Value]) {
        self.next = other.next.iter().map(|(i, v)| (place[i.0], place[v.0])).collect();
        self.solution = other.solution.map(|v| place[v.0]);
    }

    /// The linear combinations with terms from more than one stage group.
    pub fn splittable(&self) -> Vec<Value> {
        let stage_groups = self.stage_groups();
        let spread = |terms: &[(Coefficient, Value)]| {
            let mut seen: Vec<usize> = terms.iter().map(|(_, v)| stage_groups[v.0]).filter(|l| *l > 0).collect();
            seen.dedup();
            seen.len() > 1
        };
        (0..self.nodes.len())
            .filter(|&k| matches!(&self.nodes[k].op, Op::Lc { terms } if spread(terms)))
            .map(Value)
            .collect()
    }

    /// Arguments of right-hand sides that are linear combinations, which can be inlined.
    pub(crate) fn arguments(&self) -> Vec<Value> {
        let argument = |v: &Value| {
            let read = |n: &Node| matches!(n.op, Op::Rhs { x, .. } if x == *v);
            matches!(self.node(*v).op, Op::Lc { .. }) && self.nodes.iter().any(read)
        };
        (0..self.nodes.len()).map(Value).filter(argument).collect()
    }

    /// One line per node, as formulas.
    pub fn to_text(&self) -> String {
        let stage_groups = self.stage_groups();
        let mut text = format!("{}: {} nodes\n", self.name, self.nodes.len());
        for (k, node) in self.nodes.iter().enumerate() {
            text.push_str(&format!("  stage group {:>2}  {} = {}\n", stage_groups[k], node.label, self.formula(node)));
        }
        for (input, value) in &self.next {
            text.push_str(&format!("  next     {} <- {}\n", self.nodes[input.0].label, self.nodes[value.0].label));
        }
        text
    }

    /// The right side of a node as a formula.
    pub(crate) fn formula(&self, node: &Node) -> String {
        let formula = self.bare_formula(node);
        if node.inlined { format!("{formula}, at neighbours") } else { formula }
    }

    fn bare_formula(&self, node: &Node) -> String {
        let name = |v: Value| self.nodes[v.0].label.as_str();
        match &node.op {
            Op::Input => "input".into(),
            Op::Rhs { c, x, .. } if *c == 0.0 => format!("f(t, {})", name(*x)),
            Op::Rhs { c, x, .. } => format!("f(t + {c} h, {})", name(*x)),
            Op::Lc { terms } => {
                let term = |(c, v): &(Coefficient, Value)| match (c.is_one(), c.power) {
                    (true, _) => name(*v).to_owned(),
                    (_, 0) => format!("{} {}", c.value, name(*v)),
                    (_, 1) => format!("{} h {}", c.value, name(*v)),
                    (_, p) => format!("{} h^{p} {}", c.value, name(*v)),
                };
                terms.iter().map(term).collect::<Vec<_>>().join(" + ")
            }
            Op::Red { error, from, to, absolute } => {
                let absolute = absolute.map_or(String::new(), |v| format!("{}, ", name(v)));
                format!("norm({} / ({absolute}{}, {}))", name(*error), name(*from), name(*to))
            }
        }
    }
}

/// The operation whose operands are renamed by `place`.
pub(crate) fn renamed(op: &Op, place: &[Value]) -> Op {
    match op {
        Op::Input => Op::Input,
        Op::Rhs { step, c, x } => Op::Rhs { step: *step, c: *c, x: place[x.0] },
        Op::Lc { terms } => Op::Lc { terms: terms.iter().map(|(c, v)| (*c, place[v.0])).collect() },
        Op::Red { error, from, to, absolute } => Op::Red {
            error: place[error.0],
            from: place[from.0],
            to: place[to.0],
            absolute: absolute.map(|v| place[v.0]),
        },
    }
}
