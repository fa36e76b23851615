//! Expressions element by element in one kernel, which follows a list of operations: nothing is compiled for a new expression.
//!
//! Every result is rounded as by an operation of its own, so that an expression gives the bits of its operations one after the other.

use super::elementwise::items;
use super::map::{Binary, Unary, steps};
use crate::error::check_length;
use crate::runtime::kernels::expression;
use crate::runtime::{In, Out, Reuse};
use crate::{Context, Dense, Error, Result, Scalar, Vector};

/// Intermediate results at once; `PLACES` of the kernel.
const PLACES: usize = 6;
/// Inputs, and numbers, of an expression.
const MOST: usize = 6;
/// Operations of an expression, those that read inputs and numbers included.
const STEPS: usize = 24;

/// A part of an expression; operands are the positions of earlier parts in the list.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Node<T> {
    /// The input of this number.
    Input(usize),
    /// A number.
    Number(T),
    /// A function of one part.
    One(Unary, usize),
    /// A function of two parts.
    Two(Binary, usize, usize),
}

/// The operations of an expression in the form of the kernel.
#[derive(Debug)]
struct Program<T> {
    code: [u64; STEPS / 2],
    count: usize,
    numbers: [T; MOST],
    /// Whether a function is called whose code is long.
    functions: bool,
}

impl Unary {
    /// Whether complex numbers have it.
    pub fn is_complex(self) -> bool {
        use Unary::{Conjugate, Cos, Exp, Log, Negative, Sin, Sqrt};
        matches!(self, Exp | Log | Sqrt | Sin | Cos | Negative | Conjugate)
    }

    fn is_long(self, complex: bool) -> bool {
        use Unary::{Abs, Ceil, Conjugate, Fix, Floor, Negative, Round, Sign, Sqrt};
        !matches!(self, Floor | Ceil | Round | Fix | Sign | Negative | Abs | Conjugate) && (complex || self != Sqrt)
    }
}

impl Binary {
    /// Whether complex numbers have it.
    pub fn is_complex(self) -> bool {
        use Binary::{Atan2, Hypot, Max, Min, Mod, Power, Rem};
        !matches!(self, Max | Min | Atan2 | Hypot | Power | Mod | Rem)
    }

    fn is_long(self) -> bool {
        matches!(self, Binary::Atan2 | Binary::Hypot | Binary::Power | Binary::Mod | Binary::Rem)
    }
}

impl<T: Scalar> Program<T> {
    /// `None` where the expression is too long for one kernel.
    fn new(nodes: &[Node<T>]) -> Option<Program<T>> {
        if nodes.is_empty() || nodes.len() > STEPS {
            return None;
        }
        let mut last_use = [0; STEPS];
        for (at, node) in nodes.iter().enumerate() {
            for operand in node.operands() {
                last_use[operand] = at;
            }
        }
        let mut program = Program { code: [0; _], count: nodes.len(), numbers: [T::zero(); _], functions: false };
        let (mut free, mut place, mut numbers) = ([true; PLACES], [0; STEPS], 0);
        for (at, node) in nodes.iter().enumerate() {
            let (operation, operands) = match *node {
                Node::Input(input) if input < MOST => (0, [input, 0]),
                Node::Input(_) => return None,
                Node::Number(number) => {
                    *program.numbers.get_mut(numbers)? = number;
                    numbers += 1;
                    (1, [numbers - 1, 0])
                }
                Node::One(f, a) => {
                    program.functions |= f.is_long(T::IS_COMPLEX);
                    (16 + f as u64, [place[a], 0])
                }
                Node::Two(f, a, b) => {
                    program.functions |= f.is_long();
                    (64 + f as u64, [place[a], place[b]])
                }
            };
            // A result may take the place of an operand: elements are read before they are written.
            for operand in node.operands().filter(|&operand| last_use[operand] == at) {
                free[place[operand]] = true;
            }
            let to = free.iter().position(|&is_free| is_free)?;
            free[to] = false;
            place[at] = to;
            let step = operation | (to as u64) << 8 | (operands[0] as u64) << 16 | (operands[1] as u64) << 24;
            program.code[at / 2] |= step << (at % 2 * 32);
        }
        Some(program)
    }
}

impl<T> Node<T> {
    fn operands(&self) -> impl Iterator<Item = usize> + use<T> {
        let operands = match *self {
            Node::Input(_) | Node::Number(_) => [None; 2],
            Node::One(_, a) => [Some(a), None],
            Node::Two(_, a, b) => [Some(a), Some(b)],
        };
        operands.into_iter().flatten()
    }
}

/// Whether one kernel evaluates the expression: at most 24 nodes, 6 inputs, 6 numbers and 6 intermediate results at once.
pub fn fits_kernel<T: Scalar>(nodes: &[Node<T>]) -> bool {
    Program::new(nodes).is_some()
}

/// The value of the last node, element by element, for inputs of these shapes: a row, a column or a single element is repeated. Traffic: one read per
/// element of each input, one write. The memory of the result comes from what [`Context::release_kept_memory`] speaks of.
///
/// # Errors
/// [`Error::Shape`], [`Error::Length`] or [`Error::Context`] that names `inputs`; [`Error::Value`] for an expression that is too long
/// ([`fits_kernel`]), for operands that are no earlier nodes, and for functions of real numbers where they are complex; [`Error::Allocation`].
pub fn evaluate<T: Scalar>(
    context: &Context,
    nodes: &[Node<T>],
    inputs: &[((usize, usize), &Vector<T>)],
    shape: (usize, usize),
) -> Result<Dense<T>> {
    // Nothing but kernels and transfers of the same queue use the memory, as `Reuse` requires.
    let reuse = Reuse::start();
    // SAFETY: all elements are written below.
    let mut out = unsafe { Dense::uninit_unchecked(context, shape.0, shape.1)? };
    drop(reuse);
    evaluate_to(nodes, inputs, shape, out.as_vector_mut())?;
    Ok(out)
}

/// As [`evaluate`], to memory that is there.
pub(super) fn evaluate_to<T: Scalar>(
    nodes: &[Node<T>],
    inputs: &[((usize, usize), &Vector<T>)],
    shape: (usize, usize),
    out: &mut Vector<T>,
) -> Result<()> {
    check(nodes, inputs.len())?;
    let Some(Program { code: c, count, numbers: k, functions }) = Program::new(nodes) else {
        return Err(Error::value("nodes", "an expression that fits one kernel", format!("{} nodes", nodes.len())));
    };
    let (context, n) = (out.context(), out.len());
    // Without repetitions, the array is one column.
    let same = inputs.iter().all(|(own, _)| *own == shape);
    let rows = if same { n } else { shape.0 };
    let mut place = [(0, 0); MOST];
    let mut memory = [In::from(out.buffer()); MOST];
    for (at, &(own, x)) in inputs.iter().enumerate() {
        if !x.context().same(context) {
            return Err(Error::Context { argument: "inputs" });
        }
        check_length("inputs", own.0 * own.1, x.len())?;
        place[at] = if own == shape { (1, rows) } else { steps("inputs", own, shape)? };
        memory[at] = x.buffer().into();
    }
    if n == 0 {
        return Ok(());
    }
    let (range, to) = (items(context, n), Out::shared(out.buffer()));
    let program = expression::Program::<T>::new();
    let program = if functions { program.functions(1) } else { program };
    let [p, q, r, s, t, u] = place;
    program.evaluate(
        context,
        range,
        n,
        rows,
        count,
        c[0] as usize,
        c[1] as usize,
        c[2] as usize,
        c[3] as usize,
        c[4] as usize,
        c[5] as usize,
        c[6] as usize,
        c[7] as usize,
        c[8] as usize,
        c[9] as usize,
        c[10] as usize,
        c[11] as usize,
        k[0],
        k[1],
        k[2],
        k[3],
        k[4],
        k[5],
        p.0,
        p.1,
        q.0,
        q.1,
        r.0,
        r.1,
        s.0,
        s.1,
        t.0,
        t.1,
        u.0,
        u.1,
        memory,
        to,
    )
}

/// An error for operands that are no earlier nodes, inputs that are not there, and functions that complex numbers lack.
fn check<T: Scalar>(nodes: &[Node<T>], inputs: usize) -> Result<()> {
    for (at, node) in nodes.iter().enumerate() {
        let (there, known) = match *node {
            Node::Input(input) => (input < inputs, true),
            Node::Number(_) => (true, true),
            Node::One(f, _) => (true, if T::IS_COMPLEX { f.is_complex() } else { f != Unary::Conjugate }),
            Node::Two(f, ..) => {
                (true, if T::IS_COMPLEX { f.is_complex() } else { f != Binary::TimesReal && f != Binary::DivideReal })
            }
        };
        if !there || node.operands().any(|operand| operand >= at) {
            return Err(Error::value(
                "nodes",
                "inputs that are given and operands that stand before",
                format!("node {at}"),
            ));
        }
        if !known {
            let numbers = if T::IS_COMPLEX { "complex" } else { "real" };
            return Err(Error::value("nodes", format!("functions of {numbers} numbers"), format!("node {at}")));
        }
    }
    Ok(())
}
