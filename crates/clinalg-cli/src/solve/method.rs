//! Methods and preconditioners of `clinalg solve` by name.

use clap::ValueEnum;
use clinalg::amg::{Cycle, Smoother};
use clinalg::automatic::{self, Conflict, PreconditionerKind};
use clinalg::precond::Ordering;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::args::value_name;
use crate::exit::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// Conjugate gradients
    Cg,
    /// Conjugate gradients for all right-hand sides at once
    #[value(name = "block-cg")]
    #[serde(rename = "block-cg")]
    BlockCg,
    /// Flexible conjugate gradients, for preconditioners that vary or are not quite symmetric
    Fcg,
    /// Minimal residuals, for symmetric matrices
    Minres,
    /// Stabilised bi-conjugate gradients
    #[value(name = "bicgstab")]
    BiCgStab,
    /// Induced dimension reduction
    Idrs,
    /// Generalised minimal residuals, restarted
    Gmres,
    /// Stationary iteration with a preconditioner, such as multigrid
    Richardson,
    /// Complete factorisation, with GMRES to refine the solution: --method gmres --precond lu
    Direct,
    /// Least squares, residual never rising
    Lsqr,
    /// Least squares, residual of the normal equations never rising
    Lsmr,
}

impl Method {
    /// The name on the command line.
    pub(crate) fn name(self) -> String {
        value_name(&self)
    }

    /// As a heading names it.
    pub(crate) fn title(self) -> &'static str {
        automatic::Method::from(self).title()
    }

    /// Whether its solves can be continued from a checkpoint.
    pub(crate) fn is_resumable(self) -> bool {
        !matches!(self, Method::BlockCg | Method::Richardson)
    }

    pub(crate) fn is_least_squares(self) -> bool {
        automatic::Method::from(self).is_least_squares()
    }
}

impl From<Method> for automatic::Method {
    fn from(method: Method) -> automatic::Method {
        match method {
            Method::Cg => automatic::Method::Cg,
            Method::BlockCg => automatic::Method::BlockCg,
            Method::Fcg => automatic::Method::FlexibleCg,
            Method::Minres => automatic::Method::Minres,
            Method::BiCgStab => automatic::Method::BiCgStab,
            Method::Idrs => automatic::Method::Idr,
            Method::Gmres | Method::Direct => automatic::Method::Gmres,
            Method::Richardson => automatic::Method::Richardson,
            Method::Lsqr => automatic::Method::Lsqr,
            Method::Lsmr => automatic::Method::Lsmr,
        }
    }
}

impl From<automatic::Method> for Method {
    fn from(method: automatic::Method) -> Method {
        let is_it = |&&own: &&Method| automatic::Method::from(own) == method;
        *Method::value_variants().iter().find(is_it).expect("every method of the library has a name")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Precond {
    /// What suits the matrix; --explain says what and why
    Auto,
    /// No preconditioner
    None,
    /// The inverse of the diagonal
    Jacobi,
    /// Algebraic multigrid; --report says how it coarsens
    Amg,
    /// Algebraic multigrid by smoothed aggregation
    Sa,
    /// Algebraic multigrid by classical coarsening
    Classical,
    /// The diagonal matrix nearest to the inverse
    Spai0,
    /// Symmetric Gauss-Seidel
    Ssor,
    /// Incomplete LU factorisation, ILU(0)
    Ilu,
    /// Incomplete LU factorisation with a threshold
    Ilut,
    /// Complete factorisation, Cholesky, LDL or LU: a sparse direct solver
    Lu,
    /// Incomplete Cholesky factorisation, IC(0)
    Ic,
    /// Factored sparse approximate inverse
    Fsai,
    /// Blocks for saddle points
    Saddle,
}

impl Precond {
    /// The name on the command line.
    pub(crate) fn name(self) -> String {
        value_name(&self)
    }

    /// As a heading names it.
    pub(crate) fn title(self) -> String {
        self.kind().unwrap_or(PreconditionerKind::None).title()
    }

    /// The preconditioner; `None` where it is to be chosen.
    pub(crate) fn kind(self) -> Option<PreconditionerKind> {
        Some(match self {
            Precond::Auto => return None,
            Precond::None => PreconditionerKind::None,
            Precond::Jacobi => PreconditionerKind::Jacobi,
            Precond::Amg => PreconditionerKind::Amg,
            Precond::Sa => PreconditionerKind::SmoothedAggregation,
            Precond::Classical => PreconditionerKind::Classical,
            Precond::Spai0 => PreconditionerKind::Spai0,
            Precond::Ssor => PreconditionerKind::Ssor,
            Precond::Ilu => PreconditionerKind::Ilu,
            Precond::Ilut => PreconditionerKind::Ilut,
            Precond::Lu => PreconditionerKind::Lu,
            Precond::Ic => PreconditionerKind::Cholesky,
            Precond::Fsai => PreconditionerKind::Fsai,
            Precond::Saddle => PreconditionerKind::Saddle,
        })
    }
}

impl From<PreconditionerKind> for Precond {
    fn from(kind: PreconditionerKind) -> Precond {
        let mut named = Precond::value_variants().iter();
        *named.find(|own| own.kind() == Some(kind)).expect("every preconditioner of the library has a name")
    }
}

/// The smoother of algebraic multigrid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SmootherArg {
    /// l1-Jacobi sweeps (scaled by absolute row sums): cheap, always stable
    L1Jacobi,
    /// Chebyshev iteration with the Jacobi sweep: the best rate per product, needs a symmetric matrix
    Chebyshev,
    /// Gauss-Seidel sweeps by colours: fewer iterations, a launch per colour; on one device only
    GaussSeidel,
    /// Sweeps with the diagonal approximate inverse SPAI-0
    Spai0,
}

impl SmootherArg {
    /// With this many sweeps, or of this degree.
    pub(crate) fn with(self, steps: usize) -> Smoother {
        match self {
            SmootherArg::L1Jacobi => Smoother::L1Jacobi(steps),
            SmootherArg::Chebyshev => Smoother::Chebyshev(steps),
            SmootherArg::GaussSeidel => Smoother::GaussSeidel(steps),
            SmootherArg::Spai0 => Smoother::Spai0(steps),
        }
    }
}

/// How a cycle of algebraic multigrid visits the coarser levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CycleArg {
    /// Once each
    V,
    /// Twice from each level to the next: fewer but more expensive iterations
    W,
    /// By two steps of conjugate gradients on each level: robust; with --method fcg
    K,
}

impl From<CycleArg> for Cycle {
    fn from(cycle: CycleArg) -> Cycle {
        match cycle {
            CycleArg::V => Cycle::V,
            CycleArg::W => Cycle::W,
            CycleArg::K => Cycle::K,
        }
    }
}

/// The order of elimination of incomplete factorisations and sweeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// That of the matrix
    Natural,
    /// By colours: few levels, more iterations
    Multicolour,
    /// Reverse Cuthill-McKee: a small bandwidth
    Rcm,
}

impl From<Order> for Ordering {
    fn from(order: Order) -> Ordering {
        match order {
            Order::Natural => Ordering::Natural,
            Order::Multicolour => Ordering::Multicolour,
            Order::Rcm => Ordering::CuthillMcKee,
        }
    }
}

/// Another numbering of the unknowns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reorder {
    /// That of the matrix
    None,
    /// Reverse Cuthill-McKee: a small bandwidth
    Rcm,
}

/// What does not go together, with the options to use instead.
pub(crate) fn conflict(conflict: Conflict) -> Failure {
    let name = |method| Method::from(method).name();
    Failure::usage(match conflict {
        Conflict::NotSquare(m) => {
            format!("--method {} needs a square matrix; use lsmr or lsqr for least squares", name(m))
        }
        Conflict::NormalEquations(m, p) => {
            let (m, p) = (name(m), Precond::from(p).name());
            format!(
                "--method {m} needs a positive definite preconditioner of A'A, which {p} is not; use --precond jacobi, ic, ssor, fsai or amg, or for square systems gmres with {p}"
            )
        }
        Conflict::Indefinite(m, p) => {
            let (m, p) = (name(m), Precond::from(p).name());
            format!(
                "--method {m} needs a symmetric positive definite preconditioner, which {p} is not; use --precond ic, fsai, ssor or jacobi, or --method gmres with {p}"
            )
        }
        Conflict::SaddlePoint(m) => {
            format!(
                "--method {} needs a positive definite matrix, which a saddle point is not; use minres, or gmres",
                name(m)
            )
        }
        Conflict::SaddleIteration => {
            "--method richardson does not converge with --precond saddle, whose blocks are meant for minres and gmres; use one of these".into()
        }
        Conflict::MethodNotHermitian(m) => {
            format!(
                "--method {} needs a symmetric (complex: Hermitian) matrix; use gmres, idrs or bicgstab",
                name(m)
            )
        }
        Conflict::NotHermitian(p) => {
            format!(
                "--precond {} needs a symmetric (complex: Hermitian) matrix; use ilu or ilut",
                Precond::from(p).name()
            )
        }
        other => other.to_string(),
    })
}
