//! Expressions element by element that wait until their values are needed.

use std::sync::Arc;

use clinalg::ops::{self, Binary, Node, Unary};
use clinalg::{Complex, Context, Dense, Result, Scalar, Vector};

use crate::kind::{Info, Kind, ScalarType};
use crate::object::cell::{Cell, Guard, use_all, use_one};
use crate::object::resident::is_small;
use crate::object::{Content, Object, typed};

/// A dense matrix that is computed when its values are needed.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) scalar: ScalarType,
    pub(crate) shape: (usize, usize),
    pub(crate) context: Context,
    /// Whether no value is negative; NaN may be.
    pub(crate) nonnegative: bool,
    pub(crate) expression: Expression,
}

impl Content for Arc<Pending> {
    fn info(&self) -> Info {
        Pending::info(self)
    }
}

/// A function of one or two operands.
#[derive(Debug, Clone)]
pub(crate) enum Expression {
    One(Unary, Cell),
    Two(Binary, Term, Term),
}

/// An operand.
#[derive(Debug, Clone)]
pub(crate) enum Term {
    Cell(Cell),
    Number(Complex<f64>),
}

/// The operations of an expression and the objects that they read.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Node<Complex<f64>>>,
    pub(crate) inputs: Vec<Cell>,
    /// The node of each object met so far.
    known: Vec<(Cell, usize)>,
}

impl Expression {
    pub(crate) fn terms(&self) -> impl Iterator<Item = &Cell> {
        fn cell(term: &Term) -> Option<&Cell> {
            if let Term::Cell(cell) = term { Some(cell) } else { None }
        }
        let both = match self {
            Expression::One(_, a) => [Some(a), None],
            Expression::Two(_, a, b) => [cell(a), cell(b)],
        };
        both.into_iter().flatten()
    }

    /// What one kernel would do.
    pub(crate) fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        plan.add(self);
        plan
    }
}

impl Plan {
    fn push(&mut self, node: Node<Complex<f64>>) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn add(&mut self, expression: &Expression) -> usize {
        let node = match expression {
            Expression::One(f, a) => Node::One(*f, self.cell(a)),
            Expression::Two(f, a, b) => Node::Two(*f, self.term(a), self.term(b)),
        };
        self.push(node)
    }

    fn term(&mut self, term: &Term) -> usize {
        match term {
            Term::Cell(cell) => self.cell(cell),
            Term::Number(number) => {
                let bits = |z: &Complex<f64>| (z.re.to_bits(), z.im.to_bits());
                let same = |node: &Node<_>| matches!(node, Node::Number(known) if bits(known) == bits(number));
                let known = self.nodes.iter().position(same);
                known.unwrap_or_else(|| self.push(Node::Number(*number)))
            }
        }
    }

    fn cell(&mut self, cell: &Cell) -> usize {
        if let Some((_, node)) = self.known.iter().find(|(other, _)| Arc::ptr_eq(other, cell)) {
            return *node;
        }
        let node = match cell.pending() {
            Some(pending) => self.add(&pending.expression),
            None => {
                self.inputs.push(cell.clone());
                self.push(Node::Input(self.inputs.len() - 1))
            }
        };
        self.known.push((cell.clone(), node));
        node
    }

    /// Whether one kernel does it.
    pub(crate) fn fits(&self) -> bool {
        ops::fits_kernel(&self.nodes)
    }
}

impl Pending {
    /// Whether it reads `cell` itself.
    pub(crate) fn reads(&self, cell: &Cell) -> bool {
        self.expression.terms().any(|own| Arc::ptr_eq(own, cell))
    }

    fn evaluate(&self) -> Result<Object> {
        let mut plan = self.expression.plan();
        if !plan.fits() {
            // Parts that were evaluated meanwhile count as inputs of their own.
            self.expression.terms().try_for_each(evaluate)?;
            plan = self.expression.plan();
        }
        let guards = || {
            let inputs = plan.inputs.iter().map(|cell| (cell, false));
            use_all(inputs).map_err(|refused| refused.error(|_| "a"))
        };
        if let Some(object) = self.on_host(&plan, &guards()?)? {
            return Ok(object);
        }
        plan.inputs.iter().try_for_each(settle)?;
        let guards = guards()?;
        typed!(self, T => {
            let nodes: Vec<Node<T>> = plan.nodes.iter().map(typed_node).collect();
            let inputs = guards.iter().map(|object| {
                let stored = object.stored::<T>("a")?;
                Ok((stored.shape(), stored.full("a")?))
            });
            let inputs: Vec<((usize, usize), &Vector<T>)> = inputs.collect::<Result<_>>()?;
            let result: Dense<T> = ops::evaluate(&self.context, &nodes, &inputs, self.shape)?;
            Ok(result.into())
        })
    }

    /// The result on the host where it is small, and so are the inputs, of which one at least is there.
    fn on_host(&self, plan: &Plan, inputs: &[Guard<'_>]) -> Result<Option<Object>> {
        if !is_small(&self.info(), &self.context) || !inputs.iter().any(|input| input.has_host_values()) {
            return Ok(None);
        }
        inputs.iter().try_for_each(|input| input.fetch())?;
        typed!(self, T => {
            let nodes: Vec<Node<T>> = plan.nodes.iter().map(typed_node).collect();
            let inputs: Vec<((usize, usize), &[T])> = inputs
                .iter()
                .map(|input| ((input.info().rows, input.info().cols), input.host_values::<T>().expect("they were read")))
                .collect();
            let values = ops::host::evaluate(&nodes, &inputs, self.shape)?;
            values.map(|values| Object::full(&self.context, Kind::Dense, self.shape, values)).transpose()
        })
    }

    fn scalar(&self) -> ScalarType {
        self.scalar
    }

    fn info(&self) -> Info {
        let (rows, cols) = self.shape;
        Info { entries: rows * cols, ..Info::new(Kind::Dense, self.scalar, rows, cols) }
    }

    /// The expression in the language of the host, its inputs as x1, x2, ..., and what one kernel does for it.
    pub(crate) fn explain(&self) -> String {
        let plan = self.expression.plan();
        let mut words: Vec<String> = Vec::new();
        let mut operations = 0;
        for node in &plan.nodes {
            operations += usize::from(!matches!(node, Node::Input(_) | Node::Number(_)));
            words.push(match *node {
                Node::Input(k) => format!("x{}", k + 1),
                Node::Number(z) if z.im == 0.0 => format!("{}", z.re),
                Node::Number(z) => format!("({}{:+}i)", z.re, z.im),
                Node::One(Unary::Negative, a) => format!("-{}", words[a]),
                Node::One(f, a) => format!("{}({})", format!("{f:?}").to_lowercase(), bare(&words[a])),
                Node::Two(f, a, b) => match symbol(f) {
                    Some(symbol) => format!("({} {symbol} {})", words[a], words[b]),
                    None => format!("{}({}, {})", format!("{f:?}").to_lowercase(), bare(&words[a]), bare(&words[b])),
                },
                _ => "?".to_owned(),
            });
        }
        let arrays = if plan.inputs.len() == 1 { "array" } else { "arrays" };
        let plural = if operations == 1 { "operation" } else { "operations" };
        format!(
            "not evaluated yet: {}; one kernel of {operations} {plural} reads {} {arrays} and writes {} x {} numbers, {}",
            bare(words.last().map_or("", |last| last)),
            plan.inputs.len(),
            self.shape.0,
            self.shape.1,
            self.scalar
        )
    }
}

/// Without the outer parentheses.
fn bare(words: &str) -> &str {
    let inner = words.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let mut depth = 0;
    let whole = inner.is_some_and(|inner| {
        inner.chars().all(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth >= 0
        })
    });
    if whole { inner.unwrap_or(words) } else { words }
}

fn symbol(f: Binary) -> Option<&'static str> {
    match f {
        Binary::Plus => Some("+"),
        Binary::Minus => Some("-"),
        Binary::Times | Binary::TimesReal => Some(".*"),
        Binary::Divide | Binary::DivideReal => Some("./"),
        Binary::Power => Some(".^"),
        _ => None,
    }
}

fn typed_node<T: Scalar>(node: &Node<Complex<f64>>) -> Node<T> {
    match *node {
        Node::Number(number) => Node::Number(T::from_parts(T::Real::from_f64(number.re), T::Real::from_f64(number.im))),
        Node::Input(k) => Node::Input(k),
        Node::One(f, a) => Node::One(f, a),
        Node::Two(f, a, b) => Node::Two(f, a, b),
        _ => unreachable!("a plan has no other nodes"),
    }
}

/// Evaluates an expression that waits and makes the copy on the device of an object on the host; everything else is left alone.
pub(crate) fn settle(cell: &Cell) -> Result<()> {
    evaluate(cell)?;
    if cell.is_resident()
        && let Some(own) = use_one("a", cell, true)?.written()
    {
        own.upload()?;
    }
    Ok(())
}

/// Evaluates an expression that waits; everything else is left alone.
pub(crate) fn evaluate(cell: &Cell) -> Result<()> {
    let Some(pending) = cell.pending() else { return Ok(()) };
    let object = pending.evaluate()?;
    let mut own = use_one("a", cell, true)?;
    // Another thread may have been faster.
    if let Some(own) = own.written()
        && own.pending().is_some()
    {
        *own = object;
    }
    Ok(())
}
