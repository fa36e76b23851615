//! Complex numbers and their parts.

use clinalg::{Complex, Dense, Error, Real, Result, Scalar, Vector, ops};

use crate::kind::Kind;
use crate::object::{Object, Stored, typed};
use crate::registry::{Operand, Registry};

/// A number of a call in the type of the objects, rounded to nearest; real objects take no imaginary part.
pub(crate) fn constant<T: Scalar>(argument: &'static str, value: Complex<f64>) -> Result<T> {
    if !T::IS_COMPLEX && value.im != 0.0 {
        return Err(Error::value(argument, "a real number, as the objects of the call are real", value));
    }
    Ok(T::from_parts(T::Real::from_f64(value.re), T::Real::from_f64(value.im)))
}

/// A real array from a complex one.
#[derive(Clone, Copy)]
enum Part {
    Real,
    Imaginary,
    Modulus,
}

impl Part {
    fn of<T: Scalar>(self, a: &Vector<T>, out: &mut Vector<T::Real>) -> Result<()> {
        match self {
            Part::Real => ops::real_part(a, out),
            Part::Imaginary => ops::imaginary_part(a, out),
            Part::Modulus => ops::abs(a, out),
        }
    }
}

impl Registry {
    /// The real parts of a vector or dense matrix as a new real object of the same shape.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Allocation`].
    pub fn real_part(&self, a: u64) -> Result<u64> {
        self.part(a, Part::Real)
    }

    /// The imaginary parts of a vector or dense matrix as a new real object; zeros for a real one.
    ///
    /// # Errors
    /// As [`real_part`](Registry::real_part).
    pub fn imaginary_part(&self, a: u64) -> Result<u64> {
        self.part(a, Part::Imaginary)
    }

    /// The moduli of a vector or dense matrix as a new real object.
    ///
    /// # Errors
    /// As [`real_part`](Registry::real_part).
    pub fn abs(&self, a: u64) -> Result<u64> {
        self.part(a, Part::Modulus)
    }

    fn part(&self, a: u64, part: Part) -> Result<u64> {
        fn of<T: Scalar>(part: Part, a: &Stored<T>) -> Result<Object>
        where
            T::Real: Scalar,
        {
            if let Stored::Dense(a) = a {
                let mut out = Dense::<T::Real>::zeros(a.context(), a.rows(), a.cols())?;
                part.of(a.as_vector(), out.as_vector_mut())?;
                return Ok(out.into());
            }
            let a = a.full("a")?;
            // SAFETY: the operation writes all values, and what fails is dropped.
            let mut out = unsafe { Vector::<T::Real>::uninit_unchecked(a.context(), a.len())? };
            part.of(a, &mut out)?;
            Ok(out.into())
        }
        let made = self.call(
            &[Operand::new("a", a, Kind::FULL)],
            None,
            |inputs, _| typed!(inputs[0], T => of(part, inputs[0].stored::<T>("a")?)),
        )?;
        Ok(self.insert(made))
    }

    /// re + i im of two real vectors or dense matrices as a new complex object of the same shape.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Precision`], [`Error::Shape`], [`Error::Length`] or [`Error::Context`] that names `im`; [`Error::Value`] for complex
    /// inputs.
    pub fn complex(&self, re: u64, im: u64) -> Result<u64> {
        fn of<R: Real>(re: &Stored<R>, im: &Stored<R>) -> Result<Object>
        where
            Complex<R>: Scalar<Real = R>,
        {
            re.check_same(im, "im")?;
            if let Stored::Dense(matrix) = re {
                let mut out = Dense::<Complex<R>>::zeros(matrix.context(), matrix.rows(), matrix.cols())?;
                ops::complex(matrix.as_vector(), im.full("im")?, out.as_vector_mut())?;
                return Ok(out.into());
            }
            let (re, im) = (re.full("re")?, im.full("im")?);
            // SAFETY: the operation writes all values, and what fails is dropped.
            let mut out = unsafe { Vector::<Complex<R>>::uninit_unchecked(re.context(), re.len())? };
            ops::complex(re, im, &mut out)?;
            Ok(out.into())
        }
        let made = self.call(&[Operand::new("re", re, Kind::FULL), Operand::new("im", im, Kind::FULL)], None, |inputs, _| {
            crate::object::typed_real!(inputs[0], "re", T => of(inputs[0].stored::<T>("re")?, inputs[1].stored::<T>("im")?))
        })?;
        Ok(self.insert(made))
    }

    /// The conjugate transpose of a vector, dense or sparse matrix as a new object; of a real one the transpose.
    ///
    /// # Errors
    /// As [`transpose`](Registry::transpose).
    pub fn conj_transpose(&self, a: u64) -> Result<u64> {
        let transposed = self.transpose(a)?;
        if !self.info(transposed)?.complex {
            return Ok(transposed);
        }
        let done = self.conj(transposed, Some(transposed));
        if done.is_err() {
            self.release(transposed, Kind::VALUES)?;
        }
        done
    }
}
