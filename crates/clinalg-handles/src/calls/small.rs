//! Operations on small arrays in one call, for interpreters whose calls cost more than the work. Each leaves what it does not do to the caller.

use std::sync::atomic::Ordering;

use clinalg::ops::{Reduction, Transpose, host};
use clinalg::{Complex, Precision, Real as _, Result, Scalar};

use crate::calls::array::Part;
use crate::calls::part::PartValue;
use crate::calls::reduce::wide;
use crate::kind::{Info, Kind, ScalarType};
use crate::object::{Object, typed, typed_scalar};
use crate::registry::{Operand, Registry};

/// Multiplications up to which a product is formed on the host: the device spends as long on starting a kernel.
const SMALL_PRODUCT: usize = 1 << 18;

/// A number made of the elements of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorNumber {
    /// Their sum.
    Sum,
    /// The sum of magnitudes.
    Norm1,
    /// The Euclidean norm.
    Norm2,
    /// The largest magnitude.
    NormInf,
}

/// A product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SmallProduct {
    /// Of a row and a column.
    Number(Complex<f64>, ScalarType),
    /// The handle of a new vector.
    Handle(u64),
}

impl Registry {
    /// What a full object is, and whether its caller keeps dimensions; `None` for other objects.
    pub(super) fn full_info(&self, argument: &'static str, handle: u64) -> Result<Option<(Info, bool)>> {
        let cell = self.cell(&Operand::new(argument, handle, Kind::ALL))?;
        let info = cell.info();
        Ok(Kind::FULL.contains(&info.kind).then_some((info, cell.marked.load(Ordering::Relaxed))))
    }

    /// The offset of an element by its number, or by row and column, counted from 1.
    fn offset(&self, a: u64, (i, j): (f64, Option<f64>)) -> Result<Option<(Info, usize)>> {
        let Some((info, marked)) = self.full_info("a", a)? else { return Ok(None) };
        let place = |index: f64, length: usize| {
            (index >= 1.0 && index <= length as f64 && index.fract() == 0.0).then(|| index as usize - 1)
        };
        let offset = match j {
            None => place(i, info.rows * info.cols),
            Some(_) if marked => None,
            Some(j) => place(i, info.rows).zip(place(j, info.cols)).map(|(i, j)| i + j * info.rows),
        };
        Ok(offset.map(|offset| (info, offset)))
    }

    /// An element of a full object, by its number or by row and column, counted from 1; `None` where there is none.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn element(&self, a: u64, index: (f64, Option<f64>)) -> Result<Option<(Complex<f64>, ScalarType)>> {
        let Some((info, offset)) = self.offset(a, index)? else { return Ok(None) };
        let scalar = info.scalar();
        typed_scalar!(scalar, T => {
            let mut value = [T::from_f64(0.0)];
            self.read(a, offset, &mut value)?;
            Ok(Some((Complex::new(value[0].re().into_f64(), value[0].im().into_f64()), scalar)))
        })
    }

    /// A copy of a full object with another element; `None` where there is none, and where the value has another type than the elements: is complex
    /// beside real ones, or in single precision beside doubles.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn with_element(
        &self,
        a: u64,
        index: (f64, Option<f64>),
        (value, precision): (Complex<f64>, Precision),
    ) -> Result<Option<u64>> {
        let Some((info, offset)) = self.offset(a, index)? else { return Ok(None) };
        let marked = self.full_info("a", a)?.is_some_and(|(_, marked)| marked);
        if marked
            || (value.im != 0.0 && !info.complex)
            || (precision == Precision::F32 && info.precision == Precision::F64)
        {
            return Ok(None);
        }
        let copy = self.copy(a, None)?;
        let written = typed_scalar!(info.scalar(), T => {
            type R = <T as Scalar>::Real;
            self.write(copy, offset, &[T::from_parts(R::from_f64(value.re), R::from_f64(value.im))])
        });
        if written.is_err() {
            self.release(copy, Kind::VALUES)?;
        }
        written.map(|()| Some(copy))
    }

    /// A number made of the elements of a vector, a full object of one row or one column that is not empty; `None` for others.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn vector_number(&self, what: VectorNumber, a: u64) -> Result<Option<(Complex<f64>, ScalarType)>> {
        let Some((info, false)) = self.full_info("a", a)? else { return Ok(None) };
        if info.rows * info.cols == 0 || (info.rows != 1 && info.cols != 1) {
            return Ok(None);
        }
        let norm = |norm: f64| (Complex::from(norm), ScalarType::new(info.precision, false));
        let small = self.on_host(&[Operand::new("a", a, Kind::FULL)], |inputs| {
            typed!(inputs[0], T => {
                Ok(inputs[0].host_values::<T>().map(|a| match what {
                    VectorNumber::Sum => (wide(host::sum(a)), info.scalar()),
                    VectorNumber::Norm1 => norm(host::norm1(a).into_f64()),
                    VectorNumber::Norm2 => norm(host::norm2(a).into_f64()),
                    VectorNumber::NormInf => norm(host::norm_inf(a).into_f64()),
                }))
            })
        })?;
        if small.is_some() {
            return Ok(small);
        }
        Ok(Some(match what {
            VectorNumber::Sum => (self.sum_complex(a)?, info.scalar()),
            VectorNumber::Norm1 => norm(self.norm1(a)?),
            VectorNumber::Norm2 => norm(self.norm2(a)?),
            VectorNumber::NormInf => norm(self.norm_inf(a)?),
        }))
    }

    /// The elements of each column (`dimension` 0) or row (1) joined, without a dimension along the first one that is longer than 1: a number, or a new
    /// dense matrix; `None` for other dimensions, objects that are not full or are empty, and extrema of complex numbers.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn reduced(&self, join: Reduction, a: u64, dimension: Option<usize>) -> Result<Option<PartValue>> {
        let Some((info, false)) = self.full_info("a", a)? else { return Ok(None) };
        let lengths = [info.rows, info.cols];
        let Some(dimension) = dimension.or_else(|| lengths.iter().position(|&n| n != 1)) else { return Ok(None) };
        let is_extremum = matches!(join, Reduction::Max | Reduction::Min);
        if info.entries == 0 || dimension > 1 || (info.complex && is_extremum) {
            return Ok(None);
        }
        let has_one = lengths[1 - dimension] == 1;
        if has_one && join == Reduction::Sum {
            return Ok(self.vector_number(VectorNumber::Sum, a)?.map(|(sum, scalar)| PartValue::Number(sum, scalar)));
        }
        let made = self.reduce_along(join, a, dimension)?;
        if !has_one {
            return Ok(Some(PartValue::Handle(made)));
        }
        let value = self.element(made, (1.0, None));
        self.release(made, Kind::VALUES)?;
        Ok(value?.map(|(value, scalar)| PartValue::Number(value, scalar)))
    }

    /// The product of a matrix, its transpose or its conjugate transpose with a column of the same type, or of small full ones with any columns; `None`
    /// where that is left to the caller: for sizes that do not agree, objects of different types, large factors with several columns and results of one
    /// element but of a transposed column.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), those of the product.
    pub fn small_product(&self, op: Transpose, a: u64, b: u64) -> Result<Option<SmallProduct>> {
        let of_a = self.cell(&Operand::new("a", a, Kind::ALL))?;
        let (info, marked) = (of_a.info(), of_a.marked.load(Ordering::Relaxed));
        let Some((right, false)) = self.full_info("b", b)? else { return Ok(None) };
        let kinds = if op == Transpose::No { Kind::ENTRIES } else { Kind::TRANSPOSED };
        let is_vector = info.kind == Kind::Vector;
        let (rows, cols) = if op == Transpose::No { (info.rows, info.cols) } else { (info.cols, info.rows) };
        if marked || info.scalar() != right.scalar() || cols != right.rows || cols == 0 {
            return Ok(None);
        }
        if (1..=SMALL_PRODUCT).contains(&(rows * cols * right.cols))
            && Kind::FULL.contains(&info.kind)
            && let Some(product) = self.product_on_host(op, a, b)?
        {
            return Ok(Some(product));
        }
        if right.cols != 1 {
            return Ok(None);
        }
        if op != Transpose::No && rows == 1 && Kind::FULL.contains(&info.kind) {
            let number = if op == Transpose::Yes { self.dotu(a, b)? } else { self.dot_complex(a, b)? };
            return Ok(Some(SmallProduct::Number(number, info.scalar())));
        }
        if rows < 2 || is_vector || !kinds.contains(&info.kind) {
            return Ok(None);
        }
        Ok(Some(SmallProduct::Handle(self.mv_op(op, 1.0, a, b, 0.0, None)?)))
    }

    fn product_on_host(&self, op: Transpose, a: u64, b: u64) -> Result<Option<SmallProduct>> {
        let operands = [Operand::new("a", a, Kind::FULL), Operand::new("b", b, Kind::FULL)];
        let made = self.on_host(&operands, |inputs| {
            typed!(inputs[0], T => {
                let (Some(a), Some(b)) = (inputs[0].host_values::<T>(), inputs[1].host_values::<T>()) else { return Ok(None) };
                let (info, cols) = (inputs[0].info(), inputs[1].info().cols);
                let rows = if op == Transpose::No { info.rows } else { info.cols };
                let is_one = rows * cols == 1;
                let values = match op {
                    _ if is_one => vec![host::dot(op == Transpose::Conjugate, a, b)],
                    Transpose::No => host::multiply(rows, info.cols, a, b),
                    op => {
                        let a = host::transpose((info.rows, info.cols), a, op == Transpose::Conjugate);
                        host::multiply(rows, info.rows, &a, b)
                    }
                };
                if is_one {
                    return Ok(Some(Err(SmallProduct::Number(wide(values[0]), info.scalar()))));
                }
                Ok(Some(Ok(inputs[0].dense_like((rows, cols), values)?)))
            })
        })?;
        Ok(made.map(|made| made.map_or_else(|number| number, |object| SmallProduct::Handle(self.insert(object)))))
    }

    /// The transpose of a small full object, conjugated if asked for; `None` for other objects and of one element.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn small_transpose(&self, a: u64, conjugate: bool) -> Result<Option<u64>> {
        if self.full_info("handle", a)?.is_none_or(|(info, marked)| marked || info.entries == 1) {
            return Ok(None);
        }
        let made = self.on_host(&[Operand::new("handle", a, Kind::FULL)], |inputs| {
            typed!(inputs[0], T => {
                let info = inputs[0].info();
                let values = inputs[0].host_values::<T>().map(|a| host::transpose((info.rows, info.cols), a, conjugate));
                values.map(|values| inputs[0].dense_like((info.cols, info.rows), values)).transpose()
            })
        })?;
        Ok(made.map(|made| self.insert(made)))
    }

    /// The dot product of two vectors of one type and length, which may be rows and columns; the first is conjugated. `None` for other objects.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn vector_dot(&self, a: u64, b: u64) -> Result<Option<(Complex<f64>, ScalarType)>> {
        let (Some((of_a, false)), Some((of_b, false))) = (self.full_info("a", a)?, self.full_info("b", b)?) else {
            return Ok(None);
        };
        let is_vector = |info: &Info| info.rows == 1 || info.cols == 1;
        let scalar = of_a.scalar();
        if !is_vector(&of_a)
            || !is_vector(&of_b)
            || of_a.entries != of_b.entries
            || of_a.entries == 0
            || scalar != of_b.scalar()
        {
            return Ok(None);
        }
        let operands = [Operand::new("a", a, Kind::FULL), Operand::new("b", b, Kind::FULL)];
        let small = self.on_host(&operands, |inputs| {
            typed!(inputs[0], T => {
                let values = inputs[0].host_values::<T>().zip(inputs[1].host_values::<T>());
                Ok(values.map(|(a, b)| wide(host::dot(true, a, b))))
            })
        })?;
        if small.is_none() && of_a.rows != of_b.rows {
            return Ok(None);
        }
        Ok(Some((small.map_or_else(|| self.dot_complex(a, b), Ok)?, scalar)))
    }

    /// A dense matrix of the type and in the context of a full object; `None` for other objects.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn upload_like(&self, like: u64, (rows, cols): (usize, usize), values: &[Complex<f64>]) -> Result<Option<u64>> {
        let Some((info, _)) = self.full_info("like", like)? else { return Ok(None) };
        let context = self.context_of(like)?;
        typed_scalar!(info.scalar(), T => {
            type R = <T as Scalar>::Real;
            let narrow = |z: &Complex<f64>| T::from_parts(R::from_f64(z.re), R::from_f64(z.im));
            let values: Vec<T> = values.iter().map(narrow).collect();
            Ok(Some(self.insert(Object::full(&context, Kind::Dense, (rows, cols), values)?)))
        })
    }

    /// Full objects of one type side by side (`dimension` 1) or one below the other (0); `None` for other objects and where sizes do not agree.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Allocation`](clinalg::Error::Allocation).
    pub fn join(&self, dimension: usize, parts: &[u64]) -> Result<Option<u64>> {
        let mut shapes = Vec::with_capacity(parts.len());
        let mut scalar = None;
        for (at, &part) in parts.iter().enumerate() {
            let argument = ["a", "b", "c", "d", "e", "f"].get(at).unwrap_or(&"parts");
            let Some((info, false)) = self.full_info(argument, part)? else { return Ok(None) };
            if info.entries == 0 || scalar.is_some_and(|scalar| scalar != info.scalar()) {
                return Ok(None);
            }
            scalar = Some(info.scalar());
            shapes.push([info.rows, info.cols]);
        }
        let (Some(first), Some(scalar)) = (shapes.first(), scalar) else { return Ok(None) };
        let mut whole = *first;
        whole[dimension] = shapes.iter().map(|shape| shape[dimension]).sum();
        if shapes.iter().any(|shape| shape[1 - dimension] != first[1 - dimension]) {
            return Ok(None);
        }
        let operands: Vec<_> = parts.iter().map(|&part| Operand::new("a", part, Kind::FULL)).collect();
        let small = self.on_host(&operands, |inputs| {
            typed_scalar!(scalar, T => {
                let mut out = Vec::with_capacity(whole[0] * whole[1]);
                // A row of parts is their columns in order, a column of parts a piece of each per column.
                for column in 0..if dimension == 0 { whole[1] } else { 1 } {
                    for (input, [rows, cols]) in inputs.iter().zip(&shapes) {
                        let Some(values) = input.host_values::<T>() else { return Ok(None) };
                        let length = if dimension == 0 { *rows } else { rows * cols };
                        out.extend_from_slice(&values[column * length..(column + 1) * length]);
                    }
                }
                Ok(Some(inputs[0].dense_like((whole[0], whole[1]), out)?))
            })
        })?;
        if let Some(small) = small {
            return Ok(Some(self.insert(small)));
        }
        let context = self.context_of(parts[0])?;
        let made = self.zeros(&context, scalar, whole[0], whole[1])?;
        let mut start = 0;
        for (&part, shape) in parts.iter().zip(&shapes) {
            let at: Vec<usize> = (start..start + shape[dimension]).collect();
            start += shape[dimension];
            let to = if dimension == 0 { Part::Block(Some(&at), None) } else { Part::Block(None, Some(&at)) };
            if let Err(error) = self.put(made, to, part) {
                self.release(made, Kind::VALUES)?;
                return Err(error);
            }
        }
        Ok(Some(made))
    }
}
