//! Arrays by parts, element by element and along a dimension.

use clinalg::ops::{self, Binary, Reduction, Span, Transpose, Unary};
use clinalg::{Dense, Error, Result, Scalar, Vector};

use crate::kind::{Info, Kind};
use crate::object::{Object, Stored, typed, typed_real};
use crate::registry::{Operand, Registry};

/// Positions along one dimension of an object, from 0 on; `None` for all.
pub type Positions<'a> = Option<&'a [usize]>;

fn span(positions: Positions<'_>, length: usize) -> Span<'_> {
    positions.map_or(Span::all(length), Span::of)
}

/// Which elements of an array are meant.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// Rows and columns.
    Block(Positions<'a>, Positions<'a>),
    /// Elements by their number, column by column, as an m x n array; `put` ignores the shape.
    Linear(Positions<'a>, (usize, usize)),
}

/// The array's own shape for a part, the part's rows and columns, and its shape.
type Spans<'a> = ((usize, usize), Span<'a>, Span<'a>, (usize, usize));

impl<'a> Part<'a> {
    pub(super) fn spans(self, shape: (usize, usize)) -> Result<Spans<'a>> {
        match self {
            Part::Block(rows, cols) => {
                let (rows, cols) = (span(rows, shape.0), span(cols, shape.1));
                Ok((shape, rows, cols, (rows.count(), cols.count())))
            }
            Part::Linear(positions, made) => {
                let length = shape.0 * shape.1;
                let positions = span(positions, length);
                let count = positions.count();
                if made.0.checked_mul(made.1) != Some(count) {
                    let fits = made.0 > 0 && count.is_multiple_of(made.0);
                    let (argument, got) = if fits { ("n", made.1) } else { ("m", made.0) };
                    return Err(Error::value(argument, format!("m n = {count}, the number of elements"), got));
                }
                Ok(((length, 1), positions, Span::all(1), made))
            }
        }
    }
}

/// A full object of values that `fill` writes.
fn made<T: Scalar>(
    like: &Vector<T>,
    (rows, cols): (usize, usize),
    fill: impl FnOnce(&mut Vector<T>) -> Result<()>,
) -> Result<Object> {
    let mut out = Dense::<T>::zeros(like.context(), rows, cols)?;
    fill(out.as_vector_mut())?;
    Ok(out.into())
}

fn dense<'a, T: Scalar>(stored: &'a Stored<T>, argument: &'static str) -> Result<&'a Dense<T>> {
    match stored {
        Stored::Dense(a) => Ok(a),
        other => {
            let expected = "a dense matrix".into();
            Err(Error::Shape { argument, expected, got: format!("a {}", other.kind().words()) })
        }
    }
}

fn product<T: Scalar>((op_a, a): (Transpose, &Dense<T>), (op_b, b): (Transpose, &Dense<T>)) -> Result<Dense<T>> {
    let rows = if op_a == Transpose::No { a.rows() } else { a.cols() };
    let cols = if op_b == Transpose::No { b.cols() } else { b.rows() };
    let mut c = Dense::zeros(a.context(), rows, cols)?;
    ops::gemm(T::one(), op_a, a, op_b, b, T::zero(), &mut c)?;
    Ok(c)
}

impl Registry {
    /// A part of a vector or dense matrix as a new dense matrix.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for a position that `a` does not have; [`Error::Allocation`].
    pub fn take(&self, a: u64, part: Part<'_>) -> Result<u64> {
        let small = self.on_host(&[Operand::new("a", a, Kind::FULL)], |inputs| {
            typed!(inputs[0], T => {
                let Info { rows, cols, .. } = inputs[0].info();
                let (shape, rows, cols, result) = part.spans((rows, cols))?;
                // The device reports positions that are not there.
                let values = inputs[0].host_values::<T>().and_then(|a| ops::host::take(shape, a, rows, cols));
                values.map(|values| inputs[0].dense_like(result, values)).transpose()
            })
        })?;
        if let Some(small) = small {
            return Ok(self.insert(small));
        }
        let object = self.call(&[Operand::new("a", a, Kind::FULL)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = inputs[0].stored::<T>("a")?;
                let (shape, rows, cols, result) = part.spans(a.shape())?;
                let a = a.full("a")?;
                made(a, result, |out| ops::take(shape, a, rows, cols, out))
            })
        })?;
        Ok(self.insert(object))
    }

    /// Writes a part of the vector or dense matrix `a`: `values` has its elements column by column, or one for all.
    ///
    /// # Errors
    /// As [`take`](Registry::take); [`Error::Length`] that names `values`; [`Error::Value`] for a position that occurs twice, and where `values` is `a`.
    pub fn put(&self, a: u64, part: Part<'_>, values: u64) -> Result<()> {
        let (values, out) = (Operand::new("values", values, Kind::FULL), Operand::new("a", a, Kind::FULL));
        self.call(&[values], Some(out), |inputs, output| {
            let output = output.expect("an output was named");
            typed!(inputs[0], T => {
                let values = inputs[0].stored::<T>("values")?.full("values")?;
                let a = output.stored_mut::<T>("a")?;
                let own = a.shape();
                let part = match part {
                    Part::Linear(positions, _) => {
                        Part::Linear(positions, (positions.map_or(own.0 * own.1, <[usize]>::len), 1))
                    }
                    block => block,
                };
                let (shape, rows, cols, _) = part.spans(own)?;
                ops::put(shape, a.full_mut("a")?, rows, cols, values)
            })
        })
    }

    /// f(a), element by element, of a real vector or dense matrix as a new dense matrix.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for a complex object; [`Error::Allocation`].
    pub fn map(&self, f: Unary, a: u64) -> Result<u64> {
        let object = self.call(&[Operand::new("a", a, Kind::FULL)], None, |inputs, _| {
            typed_real!(inputs[0], "a", T => {
                let a = inputs[0].stored::<T>("a")?;
                let (shape, a) = (a.shape(), a.full("a")?);
                made(a, shape, |out| ops::map(f, a, out))
            })
        })?;
        Ok(self.insert(object))
    }

    /// f(a, b), element by element, of two vectors or dense matrices as a new dense matrix; a row, a column or a number is repeated.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Precision`], [`Error::Shape`] or [`Error::Context`] that names `b`; [`Error::Value`] where real and complex objects
    /// meet or `f` has real arguments only; [`Error::Allocation`].
    pub fn map2(&self, f: Binary, a: u64, b: u64) -> Result<u64> {
        let operands = [Operand::new("a", a, Kind::FULL), Operand::new("b", b, Kind::FULL)];
        let object = self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let (a, b) = (inputs[0].stored::<T>("a")?, inputs[1].stored::<T>("b")?);
                let (a_shape, b_shape) = (a.shape(), b.shape());
                let (a, b) = (a.full("a")?, b.full("b")?);
                let whole = ops::expanded(a_shape, b_shape)?;
                made(a, whole, |out| ops::map2(f, (a_shape, a), (b_shape, b), out))
            })
        })?;
        Ok(self.insert(object))
    }

    /// The elements of each column (`dimension` 0) or row (1) joined: a new dense matrix of one row or column.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Value`] for another dimension, and for an extremum of complex numbers; [`Error::Allocation`].
    pub fn reduce_along(&self, join: Reduction, a: u64, dimension: usize) -> Result<u64> {
        let operand = [Operand::new("a", a, Kind::FULL)];
        let sizes = |Info { rows, cols, .. }| match dimension {
            0 => Ok(([1, rows, cols], (1, cols))),
            1 => Ok(([rows, cols, 1], (rows, 1))),
            other => Err(Error::value("dimension", "0 for columns or 1 for rows", other)),
        };
        let small = self.on_host(&operand, |inputs| {
            typed!(inputs[0], T => {
                let (sizes, result) = sizes(inputs[0].info())?;
                let is_extremum = matches!(join, Reduction::Max | Reduction::Min);
                let values = inputs[0].host_values::<T>().filter(|_| !(T::IS_COMPLEX && is_extremum));
                let values = values.map(|a| ops::host::reduce_along(join, sizes, a));
                values.map(|values| inputs[0].dense_like(result, values)).transpose()
            })
        })?;
        if let Some(small) = small {
            return Ok(self.insert(small));
        }
        let object = self.call(&operand, None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = inputs[0].stored::<T>("a")?;
                let (sizes, result) = sizes(inputs[0].info())?;
                let a = a.full("a")?;
                made(a, result, |out| ops::reduce_along(join, sizes, a, out))
            })
        })?;
        Ok(self.insert(object))
    }

    /// op(A) op(B) of two dense matrices as a new one.
    ///
    /// # Errors
    /// [`Error::Handle`]; those of [`ops::gemm`].
    pub fn gemm(&self, (op_a, a): (Transpose, u64), (op_b, b): (Transpose, u64)) -> Result<u64> {
        let operands = [Operand::new("a", a, Kind::DENSE), Operand::new("b", b, Kind::DENSE)];
        let object = self.call(&operands, None, |inputs, _| {
            typed!(inputs[0], T => {
                let (a, b) = (dense(inputs[0].stored::<T>("a")?, "a")?, dense(inputs[1].stored::<T>("b")?, "b")?);
                product((op_a, a), (op_b, b)).map(Object::from)
            })
        })?;
        Ok(self.insert(object))
    }
}
