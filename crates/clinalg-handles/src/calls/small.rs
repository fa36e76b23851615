//! Operations on small arrays in one call, for interpreters whose calls cost more than the work. Each leaves what it does not do to the caller.

use std::sync::atomic::Ordering;

use clinalg::ops::Transpose;
use clinalg::{Complex, Precision, Real as _, Result, Scalar};

use crate::kind::{Info, Kind, ScalarType};
use crate::object::typed_scalar;
use crate::registry::{Operand, Registry};

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
        Ok(Some(match what {
            VectorNumber::Sum => (self.sum_complex(a)?, info.scalar()),
            VectorNumber::Norm1 => norm(self.norm1(a)?),
            VectorNumber::Norm2 => norm(self.norm2(a)?),
            VectorNumber::NormInf => norm(self.norm_inf(a)?),
        }))
    }

    /// The product of a matrix, its transpose or its conjugate transpose with a column of the same type; `None` where that is left to the caller: for
    /// sizes that do not agree, objects of different types, several columns and results of one element but of a transposed column.
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
        if marked || info.scalar() != right.scalar() || right.cols != 1 || cols != right.rows || cols == 0 {
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
}
