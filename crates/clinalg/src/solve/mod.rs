//! Iterative solvers for A x = b.
//!
//! | solver | for |
//! |---|---|
//! | [`Cg`] | symmetric positive definite A |
//! | [`BiCgStab`] | any nonsingular A, fixed memory |
//! | [`Gmres`] | any nonsingular A, smallest residual; memory grows with the restart |
//! | [`Idr`] | any nonsingular A, fixed memory, more robust than BiCGStab |
//! | [`Minres`] | symmetric A, definite or not |
//! | [`FlexibleCg`] | as [`Cg`], with a preconditioner that varies |
//! | [`LeastSquares`] | rectangular A: LSQR and LSMR |
//! | [`Richardson`] | any A with a preconditioner that converges by itself, such as multigrid |
//! | [`JacobiIteration`], [`RedBlackGaussSeidel`] | diagonally dominant or (with a small weight) positive definite A |
//!
//! A is any [`Operator`]; a [`Preconditioner`] is optional where the method takes one. All implement [`Solver`], except [`LeastSquares`]. A solver owns
//! its parameters and vectors and can be reused; iterations allocate nothing on the device and read back only
//! the scalars needed to decide when to stop. The same solve gives the same bits.
//!
//! The vectors are those of one device or, except for [`LeastSquares`], [`BlockCg`] and [`RedBlackGaussSeidel`], of a
//! [team](crate::team): a method is written once for any [`KrylovVector`]. `new` of a method takes a context, `like` a
//! vector of either kind:
//!
//! ```
//! use clinalg::solve::{Cg, CgParams, Solver};
//! use clinalg::team::{Csr, Partition, Team, Vector};
//! use clinalg::{Context, ContextOptions, CsrParts, Device};
//!
//! let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
//! let team = Team::of_contexts(vec![context()?, context()?])?;
//! let a = CsrParts::from_triplets(2, 2, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
//! let partition = Partition::even(2, team.ranks())?;
//! let a = Csr::new(&team, &a, &partition)?;
//! let b = Vector::from_slice(&team, &partition, &[1.0, 2.0])?;
//! let mut x = a.vector()?;
//! let report = Cg::like(&b, CgParams::default())?.solve(&a, None, &b, &mut x)?;
//! assert!(report.stop.is_success());
//! # Ok::<(), clinalg::Error>(())
//! ```
//!
//! A solve ends when the true relative residual |b - A x| / |b| meets the tolerance, or for another
//! reason that [`Report::stop`] names. When the recurrence of a Krylov method meets the tolerance,
//! the true residual is computed; if it is too large, the iteration restarts from it as long as this reduces it. A solve that fails
//! returns the iterate with the smallest residual among those it has checked, also at the limit of iterations, and never one whose true residual is larger than
//! that of the initial guess; conjugate gradients and MINRES that were stopped on request return the last iterate.
//!
//! # Rounding floor
//! No method can reduce |b - A x| far below the rounding error of the residual itself. This error is estimated
//! as eps (|A s| + |b|), with eps the machine precision and s = x with random signs. A solve that
//! ends within 16 times this without meeting the tolerance reports [`Stop::RoundingFloor`] if its residual is below |b| / 10 and the estimate below
//! eps^(1/4) |b|; otherwise x has grown along null vectors, and it reports [`Stop::Unbounded`]. A solve that ends further away reports
//! [`Stop::Stagnated`]. The estimate costs one product and is computed only when it is needed.
//!
//! # Range
//! The residual is scaled by a power of two at each start, so b may be of any size. Dot products are
//! formed in the working precision: the squares of |A| must be representable (in single precision
//! entries between about 1e-15 and 1e15).

pub(crate) mod basis;
pub(crate) mod best;
mod bicgstab;
mod bicgstab_device;
pub(crate) mod bicgstab_host;
mod bicgstab_state;
pub(crate) mod bicgstab_steps;
pub(crate) mod block;
mod block_cg;
mod cg;
pub(crate) mod cg_device;
pub(crate) mod cg_host;
pub(crate) mod cg_steps;
mod checked;
mod driver;
mod flexible;
mod gmres;
mod gmres_state;
mod idr;
mod idr_state;
mod inverse;
mod krylov_vector;
mod least_squares;
mod memory;
mod minres;
mod minres_state;
pub(crate) mod monitor;
mod params;
mod precondition;
mod report;
mod richardson;
mod run;
pub(crate) mod scalars;
mod solver;
mod stationary;
mod sweeps;

pub use crate::ops::{Operator, SpaceVector};
pub use bicgstab::BiCgStab;
pub use block::BlockScalar;
pub use block_cg::{BlockCg, BlockReport};
pub use cg::Cg;
pub use flexible::FlexibleCg;
pub use gmres::Gmres;
pub use idr::Idr;
pub use inverse::inverse_definite;
pub use krylov_vector::{BasisProducts, EachColumn, KrylovVector};
pub use least_squares::{LeastSquares, LeastSquaresMethod, LeastSquaresReport};
pub use memory::{KrylovMemory, KrylovState};
pub use minres::Minres;
pub use params::{
    BiCgStabParams, CgParams, FlexibleCgParams, GaussSeidelParams, GmresParams, IdrParams, JacobiParams,
    LeastSquaresParams, MinresParams, RichardsonParams, Stopping,
};
pub use precondition::{Identity, Preconditioner};
pub use report::{Report, Stop};
pub use richardson::Richardson;
pub use solver::{Progress, Resumable, Solver};
pub(crate) use stationary::{ColouredRows, colour, invert_diagonal, inverted};
pub use stationary::{JacobiIteration, RedBlackGaussSeidel};
