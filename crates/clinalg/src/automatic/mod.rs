//! Solves sparse systems by a method and a preconditioner that are chosen from the matrix, and by others where these fail.
//!
//! An [`Inspection`](crate::Inspection) of the entries gives symmetry, signs, sizes and null vectors. From these a [`Plan`] takes a preconditioner and a method, each of which may
//! also be prescribed:
//!
//! | matrix | preconditioner | method |
//! |---|---|---|
//! | not square | none | LSMR |
//! | fewer than 1000 rows with diagonal entries of similar size | none | CG or BiCGStab |
//! | symmetric saddle point | blocks | MINRES |
//! | a zero on the diagonal | ILUT with permuted rows | BiCGStab |
//! | strongly diagonally dominant | Jacobi | CG or BiCGStab |
//! | Hermitian with a positive diagonal and several null vectors | SSOR | CG |
//! | symmetric (complex: Hermitian) with a positive diagonal | algebraic multigrid (complex: IC(0)) | CG |
//! | Hermitian, with negative diagonal entries | ILUT | BiCGStab |
//! | real, not symmetric, nearly an M-matrix, neither triangle negligible | algebraic multigrid (on CPUs with long rows: ILU(0)) | BiCGStab |
//! | others | ILU(0) | BiCGStab |
//!
//! CG is for Hermitian matrices with a positive diagonal. Where a preconditioner cannot be set up or is unstable, a more accurate one takes its place, then the
//! diagonal, then none. Where CG, MINRES or BiCGStab was chosen and fails or reaches the limit of iterations, GMRES continues from its best iterate with complete
//! factors (Cholesky, LDL or LU), if these take at most about ten seconds, or with ILUT; for Hermitian matrices MINRES without a preconditioner continues after it. The next
//! right-hand side begins with the method that solved the last one. [`Automatic::explanation`] says what was done and why.
//!
//! ```
//! use clinalg::automatic::{Automatic, AutomaticParams};
//! use clinalg::{Context, Csr, Vector};
//!
//! let context = Context::global()?;
//! let a = Csr::from_triplets(&context, 2, 2, &[(0, 0, 4.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
//! let b = Vector::from_slice(&context, &[1.0, 2.0])?;
//! let mut x = Vector::zeros(&context, 2)?;
//! let mut system = Automatic::new(&a, AutomaticParams::default())?;
//! let report = system.solve(&b, &mut x)?;
//! println!("{}: {report}\n{}", system.method().name(), system.explanation());
//! assert!(report.stop.is_success());
//! # Ok::<(), clinalg::Error>(())
//! ```

mod conflict;
mod decision;
mod inspection;
mod method;
mod plan;
mod policy;
mod preconditioner;
mod scalar;
mod space;
mod stages;
mod text;

use std::ops::ControlFlow;

pub use conflict::Conflict;
pub use decision::{Decision, Event};
pub use method::Method;
pub use plan::Plan;
pub use preconditioner::{Boxed, FactorFacts, PreconditionerKind, PreconditionerParams, Prepared};
pub use scalar::SystemScalar;
pub use space::{MethodSolver, OnTeam, OneDevice, PreparedFor, Space};
pub use stages::{Automatic, Suspended};
pub use text::SolverText;

use crate::solve::{GmresParams, IdrParams, Stopping};

/// Called during set-up and solves; [`ControlFlow::Break`] after an [`Event::Iteration`] ends the solve, after others it has no effect.
pub type Observer<'o> = &'o mut dyn FnMut(Event<'_>) -> ControlFlow<()>;

/// A failed solve whose relative residual is at most this many times the tolerance is no sign of a singular matrix, and one
/// that ended at the rounding floor within it counts as a success.
pub const NEAR: f64 = 10.0;

/// What is prescribed. By default all is chosen.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AutomaticParams {
    /// When the solve by a method ends.
    pub stopping: Stopping,
    /// Whether another method takes over where one reaches the limit of iterations; otherwise the solve ends there. Default true.
    pub takes_over_at_limit: bool,
    /// The only method. Default: chosen, and others take over.
    pub method: Option<Method>,
    /// The only preconditioner, also of GMRES where it takes over; MINRES, the last method, runs without one. Default: chosen.
    pub preconditioner: Option<PreconditionerKind>,
    /// If set, and no preconditioner is prescribed, algebraic multigrid is used and not replaced by another preconditioner; the
    /// text is the reason in the explanation. Default: none, and the preconditioner is chosen from the matrix.
    pub multigrid_reason: Option<String>,
    /// The parameters of the preconditioner.
    pub preconditioner_params: PreconditionerParams,
    /// Iterations of GMRES between restarts. Default 30.
    pub restart: usize,
    /// The dimension of the shadow space of IDR(s). Default 4.
    pub idr_dimensions: usize,
}

impl Default for AutomaticParams {
    fn default() -> AutomaticParams {
        AutomaticParams {
            stopping: Stopping::default(),
            takes_over_at_limit: true,
            method: None,
            preconditioner: None,
            multigrid_reason: None,
            preconditioner_params: PreconditionerParams::default(),
            restart: GmresParams::default().restart,
            idr_dimensions: IdrParams::default().dimensions,
        }
    }
}

impl AutomaticParams {
    /// With these stopping criteria for each method.
    pub fn stopping(mut self, stopping: Stopping) -> AutomaticParams {
        self.stopping = stopping;
        self
    }

    /// With this limit of iterations, at which the solve ends.
    pub fn max_iterations(mut self, iterations: usize) -> AutomaticParams {
        self.stopping.max_iterations = iterations;
        self.takes_over_at_limit = false;
        self
    }

    /// With this relative residual to reach.
    pub fn tolerance(mut self, tolerance: f64) -> AutomaticParams {
        self.stopping.tolerance = Some(tolerance);
        self
    }

    /// With this method alone.
    pub fn method(mut self, method: Method) -> AutomaticParams {
        self.method = Some(method);
        self
    }

    /// With this preconditioner alone.
    pub fn preconditioner(mut self, kind: PreconditionerKind) -> AutomaticParams {
        self.preconditioner = Some(kind);
        self
    }

    /// Whether another preconditioner may stand in for the first one.
    fn may_replace(&self) -> bool {
        self.preconditioner.is_none() && self.multigrid_reason.is_none()
    }
}
