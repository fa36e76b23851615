//! New objects from others: transposes, diagonals, other types of values.

use clinalg::{Complex, Context, Dense, Error, Real as _, Result, Scalar, ops};

use crate::calls::complex::constant;
use crate::kind::{Info, Kind, ScalarType};
use crate::object::resident::LIMIT;
use crate::object::{Download, Host, Object, Stored, typed, typed_scalar};
use crate::registry::{Operand, Registry};

impl Registry {
    /// A dense matrix of zeros.
    ///
    /// # Errors
    /// Those of [`Dense::zeros`].
    pub fn zeros(&self, context: &Context, scalar: impl Into<ScalarType>, rows: usize, cols: usize) -> Result<u64> {
        typed_scalar!(scalar.into(), T => {
            Ok(self.insert(match rows.checked_mul(cols) {
                Some(count) if count <= LIMIT => Object::full(context, Kind::Dense, (rows, cols), vec![T::from_f64(0.0); count])?,
                _ => Dense::<T>::zeros(context, rows, cols)?.into(),
            }))
        })
    }

    /// A copy of a vector or matrix with values of the type `scalar`, on its device; values are rounded to nearest.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Value`] for a real copy of a complex object; those of the transfers.
    pub fn convert(&self, a: u64, scalar: impl Into<ScalarType>) -> Result<u64> {
        let (to, argument) = (scalar.into(), "handle");
        let (context, from) = self.call(&[Operand::any(argument, a)], None, |inputs, _| {
            typed!(inputs[0], T => Ok((inputs[0].stored::<T>(argument)?.context().clone(), inputs[0].scalar())))
        })?;
        if from == to {
            return self.copy(a, None);
        }
        if from.is_complex() && !to.is_complex() {
            let expected = "a real object; a complex one has a real and an imaginary part";
            return Err(Error::value(argument, expected, "complex"));
        }
        let info = self.info(a)?;
        match self.download(a)? {
            Download::F32(host) => self.upload_to(to, &context, &info, host),
            Download::F64(host) => self.upload_to(to, &context, &info, host),
            Download::C32(host) => self.upload_to(to, &context, &info, host),
            Download::C64(host) => self.upload_to(to, &context, &info, host),
        }
    }

    fn upload_to<T: Scalar>(&self, to: ScalarType, context: &Context, info: &Info, host: Host<T>) -> Result<u64> {
        match to {
            ScalarType::F32 => self.upload_as::<T, f32>(context, info, host),
            ScalarType::F64 => self.upload_as::<T, f64>(context, info, host),
            ScalarType::C32 => self.upload_as::<T, Complex<f32>>(context, info, host),
            ScalarType::C64 => self.upload_as::<T, Complex<f64>>(context, info, host),
        }
    }

    /// A new object like the one downloaded, with values of the type `U`.
    fn upload_as<T: Scalar, U: Scalar>(&self, context: &Context, info: &Info, host: Host<T>) -> Result<u64> {
        let value = |v: T| constant::<U>("handle", Complex::new(v.re().into_f64(), v.im().into_f64()));
        let converted = |values: Vec<T>| values.into_iter().map(value).collect::<Result<Vec<_>>>();
        match host {
            Host::Full { values, .. } if info.kind == Kind::Vector => self.upload_vector(context, &converted(values)?),
            Host::Full { rows, cols, values } => self.upload_dense(context, rows, cols, &converted(values)?),
            Host::Sparse { rows, cols, offsets, indices, values } => {
                let (shape, values) = ((rows, cols), converted(values)?);
                match info.kind {
                    Kind::Band => self.upload_band_csc(context, shape, (info.kl, info.ku), &offsets, &indices, &values),
                    _ => self.upload_csc(context, shape, &offsets, &indices, &values),
                }
            }
        }
    }

    /// The transpose of a vector, dense or sparse matrix as a new object.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Shape`](clinalg::Error::Shape) for a band matrix; those of the transfers.
    pub fn transpose(&self, a: u64) -> Result<u64> {
        if let Some(transposed) = self.small_transpose(a, false)? {
            return Ok(transposed);
        }
        let made = self.call(&[Operand::any("handle", a)], None, |inputs, _| {
            typed!(inputs[0], T => Ok(match inputs[0].stored::<T>("handle")? {
                Stored::Vector(v) => Object::from(Dense::from_column_major(v.context(), 1, v.len(), &v.to_vec()?)?),
                Stored::Dense(a) => {
                    let mut transposed = Dense::zeros(a.context(), a.cols(), a.rows())?;
                    ops::transpose((a.rows(), a.cols()), a.as_vector(), transposed.as_vector_mut())?;
                    transposed.into()
                }
                Stored::Csr(a) => a.transpose()?.into(),
                Stored::Band(_) => {
                    let expected = "a full or sparse matrix".into();
                    return Err(Error::Shape { argument: "handle", expected, got: "a band matrix".into() });
                }
            }))
        })?;
        Ok(self.insert(made))
    }

    /// The diagonal of a matrix as a new vector.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Shape`](clinalg::Error::Shape) for a vector or a matrix that is not square.
    pub fn diagonal(&self, a: u64) -> Result<u64> {
        let made = self.call(&[Operand::any("handle", a)], None, |inputs, _| {
            typed!(inputs[0], T => match inputs[0].stored::<T>("handle")? {
                Stored::Vector(_) => {
                    let expected = "a matrix".into();
                    Err(Error::Shape { argument: "handle", expected, got: "a vector".into() })
                }
                stored => Ok(Object::from(stored.diagonal()?)),
            })
        })?;
        Ok(self.insert(made))
    }
}
