//! The two precisions as types.

use std::fmt;
use std::iter::Sum;

use num_traits::{Float, NumAssign};
use serde::{Deserialize, Serialize};

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
    /// Bytes of one value.
    pub fn bytes(self) -> usize {
        match self {
            Precision::F32 => 4,
            Precision::F64 => 8,
        }
    }
}

/// A real scalar type that devices compute with: `f32` or `f64`.
pub trait Real:
    crate::runtime::Element + Float + NumAssign + Sum + Default + fmt::Debug + fmt::Display + fmt::LowerExp
{
    /// This type as a value.
    const PRECISION: Precision;
    /// Nearest value of this type.
    fn of(value: f64) -> Self;
    /// The value in double precision (exact).
    fn wide(self) -> f64;
}

impl Real for f32 {
    const PRECISION: Precision = Precision::F32;
    fn of(value: f64) -> f32 {
        value as f32
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const PRECISION: Precision = Precision::F64;
    fn of(value: f64) -> f64 {
        value
    }
    fn wide(self) -> f64 {
        self
    }
}
