//! Preconditioners for the Krylov methods of [`solve`](crate::solve).
//!
//! | preconditioner | for |
//! |---|---|
//! | [`Jacobi`] | matrices whose diagonal entries differ greatly in magnitude |
//! | [`Spai0`] | the same, where rows are far from diagonally dominant |
//! | [`Ssor`] | M-matrices and positive definite matrices; needs no factorisation |
//! | [`Ilu`] | any matrix: ILU(0) first, ILUT where that is not enough |
//! | [`IncompleteCholesky`] | positive definite matrices, with CG or MINRES |
//! | [`Fsai`] | the same where triangular systems have too many levels for the device |
//! | [`MultigridPreconditioner`] | the Poisson problem on a square or a cube, also with a shift or a coefficient, and problems close to it |
//! | [`Saddle`] | saddle points: a block of zeros, or of negative entries, on the diagonal |
//!
//! [`automatic`](crate::automatic) chooses the one that suits a sparse matrix; [`check_finite`], [`check_zeros`], [`NullVectors`] and [`singularity`] report what is wrong with a singular system.

mod advice;
mod approximate;
mod diagnosis;
mod equations;
mod incomplete;
mod jacobi;
mod multigrid;
mod rotations;
mod saddle;
mod singular;

pub use crate::solve::{Identity, Preconditioner};
pub use advice::{fallback_factors, instability, is_hermitian, is_unsuited, unknowns_per_node};
pub use approximate::{Fsai, Spai0};
pub use diagnosis::{diagnose_singularity, singularity};
pub(crate) use equations::check_finite_columns;
pub use equations::{check_finite, check_zeros};
pub(crate) use incomplete::lesser_triangle;
pub use incomplete::{
    CholeskyParams, Ilu, IluKind, IluParams, IncompleteCholesky, Matching, Ordering, Ssor, SsorParams, Triangle,
};
pub use jacobi::Jacobi;
pub use multigrid::{MultigridParams, MultigridPreconditioner};
pub use saddle::{Inner, Saddle, SaddleParams, SaddleReport, SaddleShape, Schur, SchurKind, Split};
pub use singular::NullVectors;
pub(crate) use singular::sums_to_zero;
