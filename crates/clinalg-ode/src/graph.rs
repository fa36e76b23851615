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
}

impl Coefficient {
    /// A number that does not depend on h.
    pub const fn constant(value: f64) -> Coefficient {
        Coefficient { value, power: 0 }
    }

    /// `value` times h.
    pub const fn h(value: f64) -> Coefficient {
        Coefficient { value, power: 1 }
    }

    /// Whether it is the number 1, by which nothing is multiplied.
    pub fn is_one(&self) -> bool {
        self.power == 0 && self.value == 1.0
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
    /// The link in which it is computed at the earliest; 0 for as soon as what it reads is known. See [`Graph::clone_into`].
    pub since: usize,
    /// Whether right-hand sides compute it at each neighbour that they read. See [`Graph::inline`].
    pub inlined: bool,
}

/// The data flow of one step; nodes stand after what they read.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    name: String,
    nodes: Vec<Node>,
    next: Vec<(Value, Value)>,
    solution: Option<Value>,
}

impl Graph {
    /// A graph without nodes.
    pub fn new(name: impl Into<String>) -> Graph {
        Graph { name: name.into(), nodes: Vec::new(), next: Vec::new(), solution: None }
    }

    fn push(&mut self, label: impl Into<String>, op: Op) -> Value {
        self.place(Node { label: label.into(), op, since: 0, inlined: false })
    }

    /// Adds a node.
    pub(crate) fn place(&mut self, node: Node) -> Value {
        self.nodes.push(node);
        Value(self.nodes.len() - 1)
    }

    /// Adds a node like `node`, with the vectors that it reads called as `place` says.
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

    /// Evaluations of the right-hand side in a step.
    pub fn rhs_count(&self) -> usize {
        self.nodes.iter().filter(|n| matches!(n.op, Op::Rhs { .. })).count()
    }

    /// Link of each node along the chain of right-hand sides, counted from 1: a right-hand side stands one link after
    /// what its argument needs, everything else in the last link it reads from, or later where the node says so. 0 stands for
    /// what needs no right-hand side. What is inlined stands in the link of the right-hand sides that read it.
    pub fn links(&self) -> Vec<usize> {
        let mut links: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let last = node.op.reads().iter().map(|v| links[v.0]).max().unwrap_or(0);
            let next = match node.op {
                Op::Rhs { x, .. } => !self.node(x).inlined,
                _ => node.inlined,
            };
            links.push(node.since.max(last + usize::from(next)));
        }
        links
    }

    /// The vectors whose neighbours a right-hand side reads: its argument, or what that is computed from where it is inlined.
    pub(crate) fn neighbours(&self, rhs: &Op) -> Vec<Value> {
        match rhs {
            Op::Rhs { x, .. } if self.node(*x).inlined => self.node(*x).op.reads(),
            Op::Rhs { x, .. } => vec![*x],
            _ => Vec::new(),
        }
    }

    /// The same step without its error estimate and without what only that needs.
    pub fn without_error(&self) -> Graph {
        let mut wanted = vec![false; self.nodes.len()];
        let tolerances = self.tolerances();
        for (input, value) in self.next.iter().filter(|(input, _)| Some(*input) != tolerances) {
            wanted[input.0] = true;
            wanted[value.0] = true;
        }
        for k in (0..self.nodes.len()).rev() {
            if wanted[k] {
                for v in self.nodes[k].op.reads() {
                    wanted[v.0] = true;
                }
            }
        }
        let mut place = vec![Value(usize::MAX); self.nodes.len()];
        let mut graph = Graph::new(self.name.clone());
        for (k, node) in self.nodes.iter().enumerate().filter(|(k, _)| wanted[*k]) {
            place[k] = graph.copy(node, &place);
        }
        let kept = self.next.iter().filter(|(input, _)| wanted[input.0]);
        graph.next = kept.map(|(i, v)| (place[i.0], place[v.0])).collect();
        graph.solution = self.solution.map(|v| place[v.0]);
        graph
    }

    /// The input that holds absolute tolerances of the components, where there is one.
    pub fn tolerances(&self) -> Option<Value> {
        self.nodes.iter().find_map(|n| if let Op::Red { absolute, .. } = n.op { absolute } else { None })
    }

    /// The same step with an absolute tolerance for each component, in a further input, the last one.
    pub(crate) fn with_tolerances(&self) -> Graph {
        let mut place = vec![Value(usize::MAX); self.nodes.len()];
        let mut graph = Graph::new(self.name.clone());
        // It stands after the other inputs and before what reads it.
        let last = self.inputs().last().map_or(0, |v| v.0);
        let mut tolerances = None;
        for (k, node) in self.nodes.iter().enumerate() {
            let mut op = renamed(&node.op, &place);
            if let Op::Red { absolute, .. } = &mut op {
                *absolute = tolerances;
            }
            place[k] = graph.place(Node { op, ..node.clone() });
            if k == last {
                tolerances = Some(graph.input("atol"));
            }
        }
        graph.next = self.next.iter().map(|(i, v)| (place[i.0], place[v.0])).collect();
        graph.next.extend(tolerances.map(|v| (v, v)));
        graph.solution = self.solution.map(|v| place[v.0]);
        graph
    }

    /// `steps` steps in a row as one, each with its error estimate where there is one; every node is computed as soon as it can
    /// be.
    pub fn repeat(&self, steps: usize) -> Graph {
        let one = self;
        let mut graph = Graph::new(one.name.clone());
        // What the inputs of the step at hand are.
        let mut now: Vec<(Value, Value)> = Vec::new();
        for input in one.inputs() {
            now.push((input, graph.push(one.node(input).label.clone(), Op::Input)));
        }
        let inputs = now.clone();
        for step in 0..steps {
            let mut place = vec![Value(usize::MAX); one.nodes.len()];
            for (input, value) in &now {
                place[input.0] = *value;
            }
            for (k, node) in one.nodes.iter().enumerate().filter(|(_, n)| n.op != Op::Input) {
                let op = match renamed(&node.op, &place) {
                    Op::Rhs { c, x, .. } => Op::Rhs { step, c, x },
                    other => other,
                };
                let label = format!("{}({})", node.label, step + 1);
                place[k] = graph.place(Node { label, op, since: 0, inlined: node.inlined });
            }
            now = one.next.iter().map(|(i, v)| (*i, place[v.0])).collect();
            graph.solution = one.solution.map(|v| place[v.0]);
        }
        let start = |input: &Value| inputs.iter().find(|(i, _)| i == input).expect("every input was placed").1;
        graph.next = now.iter().map(|(i, v)| (start(i), *v)).collect();
        graph
    }

    /// Steps that the graph takes: 1 but for those made by [`Graph::repeat`].
    pub fn steps(&self) -> usize {
        let step = |n: &Node| if let Op::Rhs { step, .. } = n.op { step + 1 } else { 1 };
        self.nodes.iter().map(step).max().unwrap_or(1)
    }

    /// Splits linear combinations into partial sums: combination `k` of [`Graph::splittable`] is gathered up to link
    /// `starts[k]`, where its terms so far are added up, and from there on each link adds its own terms; what is inlined takes
    /// the rest in its own link. The value stays the same to the last bit, because terms keep their order.
    ///
    /// # Panics
    /// When `starts` does not have one entry for each of [`Graph::splittable`].
    pub fn split(&self, starts: &[usize]) -> Graph {
        let which = self.splittable();
        assert_eq!(starts.len(), which.len(), "one start for each combination that can be split");
        let links = self.links();
        // Partial sums in the order of links, so that every node stands after what it reads.
        let mut place = vec![Value(usize::MAX); self.nodes.len()];
        let mut graph = Graph::new(self.name.clone());
        let mut partial: Vec<Option<Value>> = vec![None; which.len()];
        let mut taken = vec![0; which.len()];
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|&k| links[k]);
        let last = links.iter().copied().max().unwrap_or(0);
        for link in 0..=last {
            for &k in order.iter().filter(|&&k| links[k] == link) {
                let node = &self.nodes[k];
                let op = match which.iter().position(|v| v.0 == k) {
                    Some(m) if partial[m].is_some() => {
                        let Op::Lc { terms } = &node.op else { unreachable!("only combinations are split") };
                        let head = partial[m].map(|p| (Coefficient::constant(1.0), p));
                        let rest = terms[taken[m]..].iter().map(|(c, v)| (*c, place[v.0]));
                        Op::Lc { terms: head.into_iter().chain(rest).collect() }
                    }
                    _ => renamed(&node.op, &place),
                };
                place[k] = graph.place(Node { op, ..node.clone() });
            }
            for (m, target) in which.iter().enumerate() {
                let waits = self.node(*target).inlined && partial[m].is_some();
                if link < starts[m] || link >= links[target.0] || waits {
                    continue;
                }
                let Op::Lc { terms } = &self.nodes[target.0].op else { unreachable!("only combinations are split") };
                let until = taken[m] + terms[taken[m]..].iter().take_while(|(_, v)| links[v.0] <= link).count();
                let whole = until == taken[m] || (partial[m].is_none() && until == 1 && terms[0].0.is_one());
                if whole {
                    continue;
                }
                let head = partial[m].map(|p| (Coefficient::constant(1.0), p));
                let more = terms[taken[m]..until].iter().map(|(c, v)| (*c, place[v.0]));
                let terms = head.into_iter().chain(more).collect();
                partial[m] = Some(graph.push(format!("{}.{link}", self.nodes[target.0].label), Op::Lc { terms }));
                taken[m] = until;
            }
        }
        graph.end_like(self, &place);
        graph
    }

    /// The ends of `other`, whose nodes are called as `place` says.
    pub(crate) fn end_like(&mut self, other: &Graph, place: &[Value]) {
        self.next = other.next.iter().map(|(i, v)| (place[i.0], place[v.0])).collect();
        self.solution = other.solution.map(|v| place[v.0]);
    }

    /// The linear combinations with terms from more than one link.
    pub fn splittable(&self) -> Vec<Value> {
        let links = self.links();
        let spread = |terms: &[(Coefficient, Value)]| {
            let mut seen: Vec<usize> = terms.iter().map(|(_, v)| links[v.0]).filter(|l| *l > 0).collect();
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

    /// One line a node, as formulas.
    pub fn to_text(&self) -> String {
        let links = self.links();
        let mut text = format!("{}: {} nodes\n", self.name, self.nodes.len());
        for (k, node) in self.nodes.iter().enumerate() {
            text.push_str(&format!("  link {:>2}  {} = {}\n", links[k], node.label, self.formula(node)));
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

/// The operation with the vectors that it reads called as `place` says.
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
