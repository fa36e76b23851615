//! The methods by name.

use serde::{Deserialize, Serialize};

/// An iterative method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Method {
    /// [`Cg`](crate::solve::Cg).
    Cg,
    /// [`BlockCg`](crate::solve::BlockCg), for all right-hand sides at once.
    BlockCg,
    /// [`FlexibleCg`](crate::solve::FlexibleCg).
    FlexibleCg,
    /// [`Minres`](crate::solve::Minres).
    Minres,
    /// [`BiCgStab`](crate::solve::BiCgStab).
    BiCgStab,
    /// [`Idr`](crate::solve::Idr).
    Idr,
    /// [`Gmres`](crate::solve::Gmres).
    Gmres,
    /// [`Richardson`](crate::solve::Richardson).
    Richardson,
    /// [`LeastSquares`](crate::solve::LeastSquares) by LSQR.
    Lsqr,
    /// [`LeastSquares`](crate::solve::LeastSquares) by LSMR.
    Lsmr,
}

impl Method {
    /// Its abbreviation, as a heading names it.
    pub fn title(self) -> &'static str {
        match self {
            Method::Cg => "CG",
            Method::BlockCg => "block CG",
            Method::FlexibleCg => "flexible CG",
            Method::Minres => "MINRES",
            Method::BiCgStab => "BiCGStab",
            Method::Idr => "IDR(s)",
            Method::Gmres => "GMRES",
            Method::Richardson => "Richardson iteration",
            Method::Lsqr => "LSQR",
            Method::Lsmr => "LSMR",
        }
    }

    /// Its name, written out where the abbreviation is not itself the usual name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Cg => "conjugate gradients",
            Method::BlockCg => "block conjugate gradients",
            Method::FlexibleCg => "flexible conjugate gradients",
            other => other.title(),
        }
    }

    /// Whether it is a variant of conjugate gradients, which need a positive definite matrix.
    pub fn is_conjugate_gradients(self) -> bool {
        matches!(self, Method::Cg | Method::BlockCg | Method::FlexibleCg)
    }

    /// Whether it minimises |b - A x| for matrices that need not be square.
    pub fn is_least_squares(self) -> bool {
        matches!(self, Method::Lsqr | Method::Lsmr)
    }

    /// Whether it needs a definite preconditioner.
    pub(super) fn needs_definite(self) -> bool {
        !matches!(self, Method::BiCgStab | Method::Gmres | Method::Idr)
    }
}
