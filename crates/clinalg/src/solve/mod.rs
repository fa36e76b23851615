//! Iterative solvers for A x = b.
//!
//! | solver | for |
//! |---|---|
//! | [`Cg`] | symmetric positive definite A |
//! | [`BiCgStab`] | any nonsingular A, fixed memory |
//! | [`Gmres`] | any nonsingular A, smallest residual; memory grows with the restart |
//! | [`JacobiIteration`], [`RedBlackGaussSeidel`] | diagonally dominant or (with a small weight) positive definite A |
//!
//! A is any [`Operator`]; a [`Preconditioner`] is optional where the method takes one. A solver owns
//! its vectors for the whole solve and can be used again; nothing is allocated on the device while
//! it iterates, and only numbers that decide are read back. The same solve gives the same bits.
//!
//! A solve ends when the true relative residual |b - A x| / |b| meets the tolerance, or for another
//! reason that [`Report::stop`] tells. Where the recurrence of a Krylov method claims convergence,
//! the true residual is computed; if it is too large, the iteration starts again from it, up to ten
//! times and as long as that helps. x then is the last iterate, of any ending.
//!
//! # Rounding floor
//! No method can push |b - A x| far below the rounding error of the residual itself. It is estimated
//! as eps (|A s| + |b|), with eps the machine precision and s = x with scattered signs. A solve that
//! ends within 16 times this, and below |b| / 10, without meeting the tolerance reports
//! [`Stop::RoundingFloor`], else [`Stop::Stagnated`]. The estimate takes one product, only when the question arises.
//!
//! # Range
//! The residual is scaled by a power of two at each start, so b may be of any size. Dot products are
//! formed in the working precision: the squares of |A| must be representable (in single precision
//! entries between about 1e-15 and 1e15).

mod bicgstab;
pub(crate) mod cg;
mod gmres;
mod inverse;
mod precondition;
mod report;
mod run;
mod scalars;
mod stationary;

pub use crate::ops::Operator;
pub use bicgstab::BiCgStab;
pub use cg::Cg;
pub use gmres::Gmres;
pub use inverse::inverse_definite;
pub use precondition::{Identity, Jacobi, Preconditioner};
pub use report::{Params, Report, Stop};
pub use stationary::{JacobiIteration, RedBlackGaussSeidel};
