//! The scalar types that devices compute with: real and complex, in two precisions.

use std::fmt;
use std::iter::Sum;
use std::ops::Neg;

use num_complex::Complex;
use num_traits::{Float, NumAssign};
use serde::{Deserialize, Serialize};

use crate::element::Element;

/// Single or double precision, where a type parameter cannot say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::F32 => "single precision (f32)",
            Precision::F64 => "double precision (f64)",
        })
    }
}

impl Precision {
    /// Bytes of one real value.
    pub fn bytes(self) -> usize {
        match self {
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }
}

/// A number as messages show it: 0.0625, 12, 1e-7.
#[doc(hidden)]
pub fn shown<T: Real>(value: T) -> String {
    match value.into_f64().abs() {
        size if size == 0.0 || (1e-4..1e6).contains(&size) || !size.is_finite() => value.to_string(),
        _ => format!("{value:e}"),
    }
}

/// A number as messages show it, with this many significant digits: 0.0906, 1500, 6.62e-9.
#[doc(hidden)]
pub fn number(value: f64, digits: usize) -> String {
    // Adding 0 makes -0 positive.
    format!("{value:.*e}", digits - 1).parse().map_or_else(|_| value.to_string(), |rounded: f64| shown(rounded + 0.0))
}

/// A count as messages show it: 1 step, 2 steps, 3 entries.
#[doc(hidden)]
pub fn counted(n: usize, what: &str) -> String {
    match (n, what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        (_, None) => format!("{n} {what}s"),
    }
}

/// A scalar type that devices compute with: `f32`, `f64`, `Complex<f32>` or `Complex<f64>`.
///
/// A complex value is stored as its real part followed by its imaginary part, as in C99, Fortran, NumPy and MATLAB's
/// interleaved arrays.
///
/// ```
/// use clinalg::{Complex, Scalar};
///
/// fn squared_norm<T: Scalar>(x: &[T]) -> T::Real {
///     x.iter().map(|x| x.norm_sqr()).sum()
/// }
/// assert_eq!(squared_norm(&[3.0_f64, 4.0]), 25.0);
/// assert_eq!(squared_norm(&[Complex::new(3.0_f64, 4.0)]), 25.0);
/// ```
pub trait Scalar:
    Element + NumAssign + Neg<Output = Self> + Sum + fmt::Display + fmt::LowerExp + PartialEq + Unpin
{
    /// The type of real and imaginary parts and of norms.
    type Real: Real;
    /// The same kind of scalar in double precision, in which the host joins sums.
    type Wide: Scalar<Real = f64, Wide = Self::Wide>;
    /// Precision of the real and the imaginary part.
    const PRECISION: Precision;
    /// Whether there is an imaginary part.
    const IS_COMPLEX: bool;
    /// Real numbers that a value consists of: 1 or 2.
    const COMPONENTS: usize = if Self::IS_COMPLEX { 2 } else { 1 };

    /// `re + i im`; real types drop `im`.
    fn from_parts(re: Self::Real, im: Self::Real) -> Self;
    /// Nearest value of this type.
    fn narrow(value: Self::Wide) -> Self;
    /// The value in double precision (exact).
    fn widen(self) -> Self::Wide;
    /// Real part.
    fn re(self) -> Self::Real;
    /// Imaginary part; 0 for real types.
    fn im(self) -> Self::Real;

    /// `re + 0 i`.
    fn from_real(re: Self::Real) -> Self {
        Self::from_parts(re, <Self::Real as num_traits::Zero>::zero())
    }
    /// Nearest value of this type; its imaginary part is 0.
    fn from_f64(value: f64) -> Self {
        Self::from_real(<Self::Real as Real>::nearest(value))
    }
    /// Complex conjugate; real values as they are.
    fn conj(self) -> Self {
        Self::from_parts(self.re(), -self.im())
    }
    /// |z|, without overflow or underflow of the squares.
    fn modulus(self) -> Self::Real;
    /// |z|^2.
    fn norm_sqr(self) -> Self::Real {
        let (re, im) = (self.re(), self.im());
        if Self::IS_COMPLEX { re * re + im * im } else { re * re }
    }
    /// Whether no part is a NaN or infinite.
    fn has_finite_parts(self) -> bool {
        self.re().is_finite() && self.im().is_finite()
    }
}

/// A real scalar type that devices compute with: `f32` or `f64`.
pub trait Real: Scalar<Real = Self, Wide = f64> + Float + fmt::LowerExp {
    /// Nearest value of this type.
    #[doc(hidden)]
    fn nearest(value: f64) -> Self;
    /// Nearest value of this type; `None` where a finite value overflows, or falls below the normal numbers: there digits are lost, and
    /// devices may compute with 0.
    #[doc(hidden)]
    fn narrowed(value: f64) -> Option<Self> {
        let nearest = Self::nearest(value);
        let exact = Self::PRECISION == Precision::F64 || value == 0.0 || !value.is_finite();
        (exact || nearest.is_normal()).then_some(nearest)
    }
    /// The value in double precision (exact).
    fn into_f64(self) -> f64;
}

macro_rules! scalars {
    ($($real:ident $precision:ident)*) => {$(
        impl Scalar for $real {
            type Real = $real;
            type Wide = f64;
            const PRECISION: Precision = Precision::$precision;
            const IS_COMPLEX: bool = false;

            fn from_parts(re: $real, _: $real) -> $real {
                re
            }
            fn narrow(value: f64) -> $real {
                value as $real
            }
            fn widen(self) -> f64 {
                f64::from(self)
            }
            fn re(self) -> $real {
                self
            }
            fn im(self) -> $real {
                0.0
            }
            fn modulus(self) -> $real {
                self.abs()
            }
        }

        impl Real for $real {
            fn nearest(value: f64) -> $real {
                value as $real
            }
            fn into_f64(self) -> f64 {
                f64::from(self)
            }
        }

        impl Scalar for Complex<$real> {
            type Real = $real;
            type Wide = Complex<f64>;
            const PRECISION: Precision = Precision::$precision;
            const IS_COMPLEX: bool = true;

            fn from_parts(re: $real, im: $real) -> Self {
                Complex::new(re, im)
            }
            fn narrow(value: Complex<f64>) -> Self {
                Complex::new(value.re as $real, value.im as $real)
            }
            fn widen(self) -> Complex<f64> {
                Complex::new(f64::from(self.re), f64::from(self.im))
            }
            fn re(self) -> $real {
                self.re
            }
            fn im(self) -> $real {
                self.im
            }
            fn modulus(self) -> $real {
                self.re.hypot(self.im)
            }
        }
    )*};
}
scalars! { f32 F32 f64 F64 }

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_of_messages_read_well() {
        for (value, text) in [
            (4.9541, "4.954"),
            (-1.0, "-1"),
            (-0.0, "0"),
            (0.795_04, "0.795"),
            (1e-4, "0.0001"),
            (6.625e-9, "6.625e-9"),
            (999.96, "1000"),
            (999_999.0, "1e6"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(super::number(value, 4), text);
        }
        assert_eq!(super::shown(0.1_f32), "0.1");
    }

    use super::*;

    fn laws<T: Scalar>(values: &[T]) {
        for &z in values {
            assert_eq!(T::from_parts(z.re(), z.im()), z);
            assert_eq!(T::narrow(z.widen()), z);
            assert_eq!(z.conj().conj(), z);
            assert_eq!((z * z.conj()).re(), z.norm_sqr());
            assert_eq!((z * z.conj()).im(), T::Real::from_f64(0.0));
            assert!(z.has_finite_parts());
        }
        assert_eq!(size_of::<T>(), T::COMPONENTS * T::PRECISION.bytes());
    }

    #[test]
    fn scalars_keep_the_laws() {
        laws(&[-2.5_f32, 0.0, 3.0]);
        laws(&[-2.5_f64, 0.0, 3.0]);
        laws(&[Complex::new(-2.5_f32, 1.0), Complex::new(0.0, -3.0)]);
        laws(&[Complex::new(-2.5_f64, 1.0), Complex::new(0.0, -3.0)]);
    }

    #[test]
    fn a_modulus_neither_overflows_nor_underflows() {
        assert_eq!(Complex::new(3e300_f64, 4e300).modulus(), 5e300);
        assert_eq!(Complex::new(3e-30_f32, -4e-30).modulus(), 5e-30);
        assert!(!Complex::new(1.0, f64::NAN).has_finite_parts());
    }
}
