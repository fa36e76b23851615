//! Elementwise operations.

use clinalg::matrix::Values;
use clinalg::ops::{self, Elementwise, Input};
use clinalg::{Complex, Result, Scalar, Vector};

use crate::calls::complex::constant;
use crate::object::{Object, Stored, each, typed};
use crate::registry::{Operand, Registry};

/// A number and what errors call it.
type Constant = (&'static str, Complex<f64>);

/// An elementwise operation.
#[derive(Clone, Copy)]
enum Op {
    /// With what errors call the two numbers.
    Axpby(Constant, Constant),
    /// The first input less a number times the second.
    SubScaled(Constant),
    Scale(Constant),
    Multiply,
    Copy,
    Conj,
}

/// The input as an object of the output's own type; structures were compared before.
macro_rules! input {
    ($input:expr, $variant:ident) => {
        match $input {
            Input::Output => Input::Output,
            Input::Other(Stored::$variant(a)) => Input::Other(a),
            Input::Other(_) => unreachable!("structures were compared"),
        }
    };
}

/// The input as a vector, which a dense matrix is as well.
fn full<'a, T: Scalar>(input: &Input<'a, Stored<T>>) -> Result<Input<'a, Vector<T>>> {
    match input {
        Input::Output => Ok(Input::Output),
        Input::Other(a) => a.full("x").map(Input::Other),
    }
}

impl Op {
    /// Enqueues the operation on objects of one structure.
    fn run<T: Scalar>(self, x: &Input<'_, Stored<T>>, y: &Input<'_, Stored<T>>, out: &mut Stored<T>) -> Result<()> {
        match out {
            Stored::Vector(_) | Stored::Dense(_) => self.run_typed(&full(x)?, &full(y)?, out.full_mut("out")?),
            Stored::Csr(out) => self.run_typed(&input!(x, Csr), &input!(y, Csr), out),
            Stored::Band(out) => self.run_typed(&input!(x, Band), &input!(y, Band), out),
        }
    }

    fn run_typed<T: Scalar, V: Values<T>>(self, x: &Input<'_, V>, y: &Input<'_, V>, out: &mut V) -> Result<()> {
        let operation = match (self, x) {
            (Op::Axpby(alpha, beta), _) => Elementwise::Axpby(constant(alpha.0, alpha.1)?, constant(beta.0, beta.1)?),
            (Op::SubScaled(c), _) => Elementwise::Axpby(T::one(), -constant::<T>(c.0, c.1)?),
            (Op::Scale(alpha), _) => Elementwise::Scale(constant(alpha.0, alpha.1)?),
            (Op::Multiply, _) => Elementwise::Multiply,
            (Op::Copy, Input::Output) => return Ok(()),
            (Op::Copy, Input::Other(x)) => return ops::copy(*x, out),
            (Op::Conj, Input::Other(x)) => return ops::conj(*x, out),
            // The kernel reads each value before it writes it, but takes two objects.
            (Op::Conj, Input::Output) => {
                let copy = out.try_clone()?;
                return ops::conj(&copy, out);
            }
        };
        ops::elementwise(operation, x, y, out)
    }
}

/// `op` on objects with the names of `inputs`, `None` for those that are the output; a new object where there is no output.
fn apply<T: Scalar>(
    op: Op,
    inputs: &[(&'static str, u64)],
    objects: &[Option<&Object>],
    output: Option<&mut Object>,
) -> Result<Option<Object>> {
    let stored = |k: usize| match objects[k] {
        Some(object) => object.stored::<T>(inputs[k].0).map(Input::Other),
        None => Ok(Input::Output),
    };
    let [x, y] = [stored(0)?, stored(inputs.len() - 1)?];
    let mut made = None;
    let out = match output {
        Some(output) => output.stored_mut::<T>("out")?,
        None => {
            let Input::Other(x) = x else { unreachable!("without an output no input is one") };
            // SAFETY: the operation writes all values, and what fails is dropped.
            made.insert(unsafe { x.like_uninit()? })
        }
    };
    let [first, second] = [&x, &y].map(|input| match input {
        Input::Other(input) => *input,
        Input::Output => &*out,
    });
    first.check_same(second, inputs[inputs.len() - 1].0)?;
    first.check_same(out, "out")?;
    op.run(&x, &y, out)?;
    Ok(made.map(Object::from))
}

impl Registry {
    /// `op` on the values of `inputs` (one or two) into `out`, which may be one of them, or into a new object.
    fn elementwise(&self, op: Op, inputs: &[(&'static str, u64)], out: Option<u64>) -> Result<u64> {
        let operands: Vec<_> = inputs.iter().map(|&(argument, handle)| Operand::any(argument, handle)).collect();
        let output = out.map(|handle| Operand::any("out", handle));
        let made = self.call_aliased(&operands, output, |objects, output| {
            let first = objects[0].or(output.as_deref()).expect("what is no object of its own is the output");
            typed!(first, T => apply::<T>(op, inputs, objects, output))
        })?;
        Ok(self.result(made, out))
    }

    /// a + b on the values of any two objects of the same structure; `out` may be one of them, `None` makes a new one.
    ///
    /// # Errors
    /// Any of the elementwise operations: [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Length`](clinalg::Error::Length), [`Error::Shape`](clinalg::Error::Shape)
    /// or [`Error::Context`](clinalg::Error::Context) that names the argument which does not fit the first.
    pub fn plus(&self, a: u64, b: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Axpby(("alpha", 1.0.into()), ("beta", 1.0.into())), &[("a", a), ("b", b)], out)
    }

    /// a - b.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn minus(&self, a: u64, b: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Axpby(("alpha", 1.0.into()), ("beta", (-1.0).into())), &[("a", a), ("b", b)], out)
    }

    /// a - c b.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn minus_scaled(&self, a: u64, b: u64, c: impl Into<Complex<f64>>, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::SubScaled(("c", c.into())), &[("a", a), ("b", b)], out)
    }

    /// alpha x + beta y.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn axpby(
        &self,
        alpha: impl Into<Complex<f64>>,
        x: u64,
        beta: impl Into<Complex<f64>>,
        y: u64,
        out: Option<u64>,
    ) -> Result<u64> {
        self.elementwise(Op::Axpby(("alpha", alpha.into()), ("beta", beta.into())), &[("x", x), ("y", y)], out)
    }

    /// c a.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn times_constant(&self, a: u64, c: impl Into<Complex<f64>>, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Scale(("c", c.into())), &[("a", a)], out)
    }

    /// a .* b, element by element.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn multiply(&self, a: u64, b: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Multiply, &[("a", a), ("b", b)], out)
    }

    /// A copy of `a`; a copy onto itself does nothing.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn copy(&self, a: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Copy, &[("a", a)], out)
    }

    /// conj(a), element by element; of a real object a copy.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn conj(&self, a: u64, out: Option<u64>) -> Result<u64> {
        self.elementwise(Op::Conj, &[("a", a)], out)
    }

    /// Sets every stored value to `value`.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Value`](clinalg::Error::Value) for a complex value of a real object.
    pub fn fill(&self, handle: u64, value: impl Into<Complex<f64>>) -> Result<()> {
        let value = value.into();
        self.call(&[], Some(Operand::any("handle", handle)), |_, output| {
            let output = output.expect("an output was named");
            typed!(output, T => each!(output.stored_mut::<T>("handle")?, a => ops::fill(constant::<T>("value", value)?, a)))
        })
    }
}
