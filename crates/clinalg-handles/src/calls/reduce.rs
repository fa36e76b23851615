//! Reductions of stored values.

use clinalg::matrix::Values;
use clinalg::{Complex, Error, Real, Result, Scalar, ops};

use crate::object::{Stored, each, typed};
use crate::registry::{Operand, Registry};

/// A norm of the stored values.
#[derive(Clone, Copy)]
enum Norm {
    One,
    Two,
    Inf,
}

impl Norm {
    fn of<T: Scalar, V: Values<T>>(self, a: &V) -> Result<T::Real> {
        match self {
            Norm::One => ops::norm1(a),
            Norm::Two => ops::norm2(a),
            Norm::Inf => ops::norm_inf(a),
        }
    }
}

/// The value in double precision.
pub(super) fn wide<T: Scalar>(value: T) -> Complex<f64> {
    Complex::new(value.re().into_f64(), value.im().into_f64())
}

impl Registry {
    /// Sum of the stored values of a real object.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle); [`Error::Value`](clinalg::Error::Value) for a complex object.
    pub fn sum(&self, a: u64) -> Result<f64> {
        self.check_real("a", a, "sum_complex")?;
        Ok(self.sum_complex(a)?.re)
    }

    /// Sum of the stored values of an object of any type.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn sum_complex(&self, a: u64) -> Result<Complex<f64>> {
        self.call(
            &[Operand::any("a", a)],
            None,
            |inputs, _| typed!(inputs[0], T => each!(inputs[0].stored::<T>("a")?, a => ops::sum(a)).map(wide)),
        )
    }

    /// Sum of the magnitudes of the stored values.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn norm1(&self, a: u64) -> Result<f64> {
        self.norm(a, Norm::One)
    }

    /// Euclidean norm of the stored values.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn norm2(&self, a: u64) -> Result<f64> {
        self.norm(a, Norm::Two)
    }

    /// Largest magnitude of the stored values.
    ///
    /// # Errors
    /// [`Error::Handle`](clinalg::Error::Handle).
    pub fn norm_inf(&self, a: u64) -> Result<f64> {
        self.norm(a, Norm::Inf)
    }

    fn norm(&self, a: u64, norm: Norm) -> Result<f64> {
        self.call(
            &[Operand::any("a", a)],
            None,
            |inputs, _| typed!(inputs[0], T => each!(inputs[0].stored::<T>("a")?, a => norm.of(a)).map(Real::into_f64)),
        )
    }

    /// Dot product of the stored values of two real objects.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus); [`Error::Value`](clinalg::Error::Value) for complex objects.
    pub fn dot(&self, a: u64, b: u64) -> Result<f64> {
        self.check_real("a", a, "dot_complex")?;
        Ok(self.dot_complex(a, b)?.re)
    }

    /// Dot product of the stored values of two objects of any type, sum conj(a) b.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn dot_complex(&self, a: u64, b: u64) -> Result<Complex<f64>> {
        self.dot_of(true, a, b)
    }

    /// Dot product without conjugation, sum a b.
    ///
    /// # Errors
    /// As [`plus`](Registry::plus).
    pub fn dotu(&self, a: u64, b: u64) -> Result<Complex<f64>> {
        self.dot_of(false, a, b)
    }

    fn dot_of(&self, conjugate: bool, a: u64, b: u64) -> Result<Complex<f64>> {
        fn of<T: Scalar, V: Values<T>>(conjugate: bool, a: &V, b: &V) -> Result<T> {
            if conjugate { ops::dot(a, b) } else { ops::dotu(a, b) }
        }
        self.call(&[Operand::any("a", a), Operand::any("b", b)], None, |inputs, _| {
            typed!(inputs[0], T => {
                let (a, b) = (inputs[0].stored::<T>("a")?, inputs[1].stored::<T>("b")?);
                a.check_same(b, "b")?;
                let dot = match (a, b) {
                    (Stored::Csr(a), Stored::Csr(b)) => of(conjugate, a, b),
                    (Stored::Band(a), Stored::Band(b)) => of(conjugate, a, b),
                    (a, b) => of(conjugate, a.full("a")?, b.full("b")?),
                };
                dot.map(wide)
            })
        })
    }

    /// An error that names the function for complex objects unless the object is real.
    fn check_real(&self, argument: &'static str, a: u64, instead: &str) -> Result<()> {
        self.call(&[Operand::any(argument, a)], None, |inputs, _| match inputs[0].scalar().is_complex() {
            false => Ok(()),
            true => Err(Error::value(argument, format!("a real object; use {instead} for complex ones"), "complex")),
        })
    }
}
