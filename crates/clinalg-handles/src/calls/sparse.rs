//! Sparse matrices made of sparse matrices.

use std::ops::Range;

use clinalg::matrix::Values as _;
use clinalg::ops::Span;
use clinalg::{Complex, Csr, CsrParts, Error, Result, Scalar, Vector};

use crate::calls::complex::constant;
use crate::kind::Kind;
use crate::object::{Object, Stored, typed};
use crate::registry::{Operand, Registry};

pub(super) fn sparse<'a, T: Scalar>(object: &'a Object, argument: &'static str) -> Result<&'a Csr<T>> {
    match object.stored::<T>(argument)? {
        Stored::Csr(a) => Ok(a),
        _ => unreachable!("the operand is sparse"),
    }
}

fn operand(argument: &'static str, handle: u64) -> Operand {
    Operand::new(argument, handle, Kind::SPARSE)
}

impl Registry {
    /// A B of two sparse matrices as a new one: [`Csr::multiply`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of the method.
    pub fn sparse_multiply(&self, a: u64, b: u64) -> Result<u64> {
        let object = self.call(&[operand("a", a), operand("b", b)], None, |inputs, _| {
            typed!(inputs[0], T => Ok(Object::from(sparse::<T>(inputs[0], "a")?.multiply(sparse(inputs[1], "b")?)?)))
        })?;
        Ok(self.insert(object))
    }

    /// alpha A + beta B of two sparse matrices as a new one, with the positions of either: [`Csr::combine`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of the method;
    /// [`Error::Value`](clinalg::Error::Value) for complex numbers beside real matrices.
    pub fn sparse_add(
        &self,
        alpha: impl Into<Complex<f64>>,
        a: u64,
        beta: impl Into<Complex<f64>>,
        b: u64,
    ) -> Result<u64> {
        let (alpha, beta) = (alpha.into(), beta.into());
        let object = self.call(&[operand("a", a), operand("b", b)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let (alpha, beta) = (constant::<T>("alpha", alpha)?, constant::<T>("beta", beta)?);
                Ok(Object::from(sparse::<T>(inputs[0], "a")?.combine(alpha, beta, sparse(inputs[1], "b")?)?))
            })
        })?;
        Ok(self.insert(object))
    }

    /// Rows and columns of a sparse matrix, `None` for all, as a new one: [`Csr::select`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn sparse_part(&self, a: u64, rows: Option<Span<'_>>, cols: Option<Span<'_>>) -> Result<u64> {
        let object = self.call(&[operand("a", a)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let a = sparse::<T>(inputs[0], "a")?;
                let (rows, cols) = (rows.unwrap_or(Span::all(a.rows())), cols.unwrap_or(Span::all(a.cols())));
                Ok(Object::from(a.select(rows, cols)?))
            })
        })?;
        Ok(self.insert(object))
    }

    /// The entries of a sparse matrix with `low <= column - row <= high` as a new one: [`Csr::band_part`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn sparse_band(&self, a: u64, low: i64, high: i64) -> Result<u64> {
        let object = self.call(
            &[operand("a", a)],
            None,
            |inputs, _| typed!(inputs[0], T => Ok(Object::from(sparse::<T>(inputs[0], "a")?.band_part(low, high)?))),
        )?;
        Ok(self.insert(object))
    }

    /// Removes the stored zeros of a sparse matrix, in place: [`Csr::without_zeros`]. Gives the number of entries that are left.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the method.
    pub fn sparse_drop_zeros(&self, a: u64) -> Result<usize> {
        self.call(&[], Some(operand("a", a)), |_, object| {
            let object = object.expect("an output was named");
            typed!(object, T => {
                let stored = object.stored_mut::<T>("a")?;
                let Stored::Csr(a) = &*stored else { unreachable!("the operand is sparse") };
                if let Some(kept) = a.without_zeros()? {
                    *stored = Stored::Csr(kept);
                }
                Ok(object.info().entries)
            })
        })
    }

    /// Other values at the positions of a sparse matrix, row by row with ascending columns.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision), [`Error::Length`](clinalg::Error::Length)
    /// for another number of values than entries.
    pub fn sparse_write<T: Scalar>(&self, a: u64, values: &[T]) -> Result<()> {
        self.call(&[], Some(operand("a", a)), |_, object| {
            let stored = object.expect("an output was named").stored_mut::<T>("a")?;
            let Stored::Csr(a) = stored else { unreachable!("the operand is sparse") };
            if a.nnz() != values.len() {
                return Err(Error::Length { argument: "values", expected: a.nnz(), got: values.len() });
            }
            a.values_mut().write_range(0, values)
        })
    }

    /// Other values at the positions of a sparse matrix from triplets, in their order: [`Csr::write_triplets`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of the method.
    pub fn sparse_write_triplets<T: Scalar>(&self, a: u64, values: &[T]) -> Result<()> {
        self.call(&[], Some(operand("a", a)), |_, object| {
            match object.expect("an output was named").stored_mut::<T>("a")? {
                Stored::Csr(a) => a.write_triplets(values),
                _ => unreachable!("the operand is sparse"),
            }
        })
    }

    /// Rows of a sparse or band matrix on the host: [`Csr::rows_to_parts`].
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle), [`Error::Precision`](clinalg::Error::Precision) and those of the method.
    pub fn sparse_rows<T: Scalar>(&self, a: u64, rows: Range<usize>) -> Result<CsrParts<T>> {
        self.call(&[Operand::new("handle", a, &[Kind::Csr, Kind::Band])], None, |inputs, _| {
            match inputs[0].stored::<T>("handle")? {
                Stored::Csr(a) => a.rows_to_parts(rows),
                Stored::Band(a) => a.to_parts()?.to_csr()?.part_of_rows(rows),
                _ => unreachable!("the operand is a sparse or band matrix"),
            }
        })
    }

    /// The entries of a sparse matrix that are not zero, column by column, as a new vector.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle) and those of the device.
    pub fn nonzeros(&self, a: u64) -> Result<u64> {
        let object = self.call(&[operand("a", a)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let columns = sparse::<T>(inputs[0], "a")?.transpose()?;
                let kept = columns.without_zeros()?.unwrap_or(columns);
                Ok(Object::from(Vector::from_view(kept.values().into())?))
            })
        })?;
        Ok(self.insert(object))
    }
}
