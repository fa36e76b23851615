//! Parameters of the solvers.

use serde::{Deserialize, Serialize};

use super::LeastSquaresMethod;
use crate::{Error, Precision, Result, Scalar};

/// The stopping criteria of every method.
///
/// ```
/// use clinalg::solve::Stopping;
///
/// let stopping = Stopping::default().tolerance(1e-8).max_iterations(200);
/// assert_eq!(stopping.tolerance_of::<f32>(), 1e-8);
/// assert_eq!(Stopping::default().tolerance_of::<f32>(), 1e-5);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Stopping {
    /// Relative residual |b - A x| / |b| to reach; positive and finite. `None`, the default, depends on the precision of the
    /// solve: 1e-10 in double, 1e-5 in single.
    pub tolerance: Option<f64>,
    /// Maximum number of iterations; 0 only computes the residual. Default 10 000.
    pub max_iterations: usize,
    /// Iterations over which the smallest residual must fall by one part in a thousand, or the
    /// iteration has stagnated; at least 1, and never fewer than n for [`Cg`](crate::solve::Cg).
    /// Default 1000.
    pub stagnation_window: usize,
}

impl Default for Stopping {
    fn default() -> Stopping {
        Stopping { tolerance: None, max_iterations: 10_000, stagnation_window: 1000 }
    }
}

impl Stopping {
    /// With this relative residual to reach.
    pub fn tolerance(mut self, tolerance: f64) -> Stopping {
        self.tolerance = Some(tolerance);
        self
    }

    /// With at most this many iterations.
    pub fn max_iterations(mut self, iterations: usize) -> Stopping {
        self.max_iterations = iterations;
        self
    }

    /// With this stagnation window.
    pub fn stagnation_window(mut self, iterations: usize) -> Stopping {
        self.stagnation_window = iterations;
        self
    }

    /// The relative residual that a solve in the precision of `T` has to reach.
    pub fn tolerance_of<T: Scalar>(&self) -> f64 {
        self.tolerance.unwrap_or(match T::PRECISION {
            Precision::F32 => 1e-5,
            Precision::F64 => 1e-10,
        })
    }

    /// An error unless every field is in its range.
    ///
    /// # Errors
    /// [`Error::Value`] that names the field.
    pub fn check(&self) -> Result<()> {
        if let Some(tolerance) = self.tolerance {
            positive("tolerance", tolerance)?;
        }
        if self.stagnation_window == 0 {
            return Err(Error::value("stagnation_window", "at least 1", 0));
        }
        Ok(())
    }
}

fn positive(argument: &'static str, value: f64) -> Result<()> {
    if !(value > 0.0 && value.is_finite()) {
        return Err(Error::value(argument, "a positive finite number", value));
    }
    Ok(())
}

/// What the parameters of all methods have in common: the stopping criteria and their builders.
macro_rules! with_stopping {
    ($($name:ident),+ $(,)?) => {$(
        impl $name {
            /// With these stopping criteria.
            pub fn stopping(mut self, stopping: Stopping) -> $name {
                self.stopping = stopping;
                self
            }

            /// With this relative residual to reach, see [`Stopping::tolerance`](struct@Stopping).
            pub fn tolerance(mut self, tolerance: f64) -> $name {
                self.stopping.tolerance = Some(tolerance);
                self
            }

            /// With at most this many iterations.
            pub fn max_iterations(mut self, iterations: usize) -> $name {
                self.stopping.max_iterations = iterations;
                self
            }

            /// With this stagnation window, see [`Stopping::stagnation_window`](struct@Stopping).
            pub fn stagnation_window(mut self, iterations: usize) -> $name {
                self.stopping.stagnation_window = iterations;
                self
            }
        }

        impl From<Stopping> for $name {
            fn from(stopping: Stopping) -> $name {
                $name::default().stopping(stopping)
            }
        }
    )+};
}

with_stopping!(
    CgParams,
    BiCgStabParams,
    GmresParams,
    IdrParams,
    MinresParams,
    FlexibleCgParams,
    LeastSquaresParams,
    JacobiParams,
    GaussSeidelParams,
    RichardsonParams,
);

/// Parameters of [`Cg`](crate::solve::Cg).
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct CgParams {
    /// When a solve ends.
    pub stopping: Stopping,
}

/// Parameters of [`Richardson`](crate::solve::Richardson).
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct RichardsonParams {
    /// When a solve ends.
    pub stopping: Stopping,
}

/// Parameters of [`BiCgStab`](crate::solve::BiCgStab).
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct BiCgStabParams {
    /// When a solve ends.
    pub stopping: Stopping,
}

/// Parameters of [`Gmres`](crate::solve::Gmres).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GmresParams {
    /// When a solve ends.
    pub stopping: Stopping,
    /// Iterations between restarts, at least 1; more than the number of equations are never needed. The solver owns
    /// `restart + 3` vectors. Default 30.
    pub restart: usize,
}

impl Default for GmresParams {
    fn default() -> GmresParams {
        GmresParams { stopping: Stopping::default(), restart: 30 }
    }
}

impl GmresParams {
    /// With this many iterations between restarts.
    pub fn restart(mut self, iterations: usize) -> GmresParams {
        self.restart = iterations;
        self
    }
}

/// Parameters of [`Idr`](crate::solve::Idr).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IdrParams {
    /// When a solve ends.
    pub stopping: Stopping,
    /// The dimension s of the shadow space, at least 1. The solver owns `3 s + 5` vectors. Default 4.
    pub dimensions: usize,
}

impl Default for IdrParams {
    fn default() -> IdrParams {
        IdrParams { stopping: Stopping::default(), dimensions: 4 }
    }
}

impl IdrParams {
    /// With a shadow space of this dimension.
    pub fn dimensions(mut self, dimensions: usize) -> IdrParams {
        self.dimensions = dimensions;
        self
    }
}

/// Parameters of [`Minres`](crate::solve::Minres).
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct MinresParams {
    /// When a solve ends.
    pub stopping: Stopping,
}

/// Parameters of [`FlexibleCg`](crate::solve::FlexibleCg).
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct FlexibleCgParams {
    /// When a solve ends.
    pub stopping: Stopping,
}

/// Parameters of [`LeastSquares`](crate::solve::LeastSquares).
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct LeastSquaresParams {
    /// When a solve ends; there is no stagnation window.
    pub stopping: Stopping,
    /// LSMR, the default, or LSQR.
    pub method: LeastSquaresMethod,
}

impl LeastSquaresParams {
    /// By this method.
    pub fn method(mut self, method: LeastSquaresMethod) -> LeastSquaresParams {
        self.method = method;
        self
    }
}

/// Parameters of [`JacobiIteration`](crate::solve::JacobiIteration).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JacobiParams {
    /// When a solve ends.
    pub stopping: Stopping,
    /// Weight of a sweep; positive and finite. Default 2/3 (Saad 2003, section 13.2.2).
    pub omega: f64,
}

impl Default for JacobiParams {
    fn default() -> JacobiParams {
        JacobiParams { stopping: Stopping::default(), omega: 2.0 / 3.0 }
    }
}

impl JacobiParams {
    /// With this weight of a sweep.
    pub fn omega(mut self, omega: f64) -> JacobiParams {
        self.omega = omega;
        self
    }

    pub(super) fn check(&self) -> Result<()> {
        positive("omega", self.omega)
    }
}

/// Parameters of [`RedBlackGaussSeidel`](crate::solve::RedBlackGaussSeidel).
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct GaussSeidelParams {
    /// When a solve ends.
    pub stopping: Stopping,
}
