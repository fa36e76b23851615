//! Sparse direct solvers: factors of sparse matrices by multifrontal elimination on the device.
//!
//! | [`Kind`] | for | factors |
//! |---|---|---|
//! | [`Kind::Cholesky`] | Hermitian positive definite matrices | P A P' = L L' |
//! | [`Kind::Ldl`] | Hermitian and complex symmetric matrices | P S A S P' = L D L' with a scaling S and blocks of up to two rows in D |
//! | [`Kind::Lu`] | any other square matrix | P R A C Q = L U with scalings R and C |
//!
//! The order of elimination is that of nested dissection (George 1973) by METIS. Supernodes of the elimination tree become dense fronts
//! (Duff and Reid 1983), which are assembled and eliminated on the device: small ones by a work-group each; larger ones of a level together by
//! panels on GPUs; the largest, and on CPUs all larger ones, by the factorisations and products of [`ops`](crate::ops). LU factors take their pivots
//! from the rows of the front, after rows were permuted for a large diagonal where it is weak (Duff and Koster 2001); a pivot that is too small is
//! replaced by sqrt(eps), and [`Factors::solve`] refines the solution (Arioli, Demmel and Duff 1989). L D L' factors take
//! 1-by-1 and 2-by-2 pivots within the front (Bunch and Kaufman 1977); where the diagonal is weak, the same matching gives
//! the scaling and pairs of rows that are kept together (Duff and Pralet 2005). On GPUs the triangles of the pivots are
//! inverted after the factorisation, so that solves are products (Alvarado and Schreiber 1993).
//!
//! ```
//! use clinalg::direct::{Factors, FactorsParams};
//! use clinalg::{Context, Csr, Vector};
//!
//! let context = Context::global()?;
//! let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 4.0_f64), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
//! let mut factors = Factors::new(&a, &FactorsParams::default())?;
//! let b = Vector::from_slice(&context, &[1.0, 2.0])?;
//! let mut x = Vector::zeros(&context, 2)?;
//! let solved = factors.solve(&a, &b, &mut x)?;
//! assert!(solved.backward_error < 1e-15);
//! let x = x.to_vec()?;
//! assert!((x[0] - 1.0 / 11.0).abs() < 1e-15 && (x[1] - 7.0 / 11.0).abs() < 1e-15);
//! # Ok::<(), clinalg::Error>(())
//! ```

mod analysis;
mod elimination;
mod factors;
mod kind;
mod ldl;
mod ordering;
mod pairs;
mod products;
mod substitution;
mod tree;

pub use factors::Factors;
pub use kind::{FactorsParams, FactorsReport, Inertia, Kind, Solved};
