//! Methods and preconditioners of `clinalg solve` by name.

use clap::ValueEnum;
use clinalg::amg::{Coarsening, Cycle, Smoother};
use clinalg::precond::{
    CholeskyParams, Fsai, Ilu, IluKind, IluParams, IncompleteCholesky, Jacobi, Ordering, Spai0, Ssor, SsorParams,
};
use clinalg::solve::{
    BiCgStab, Cg, FlexibleCg, Gmres, GmresParams, Idr, IdrParams, Minres, Preconditioner, Resumable, Stopping,
};
use clinalg::{Context, Csr, CsrParts, Scalar};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Least squares, residual never rising
    Lsqr,
    /// Least squares, residual of the normal equations never rising
    Lsmr,
}

impl Method {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::Cg => "cg",
            Method::BlockCg => "block-cg",
            Method::Fcg => "fcg",
            Method::Minres => "minres",
            Method::BiCgStab => "bicgstab",
            Method::Idrs => "idrs",
            Method::Gmres => "gmres",
            Method::Richardson => "richardson",
            Method::Lsqr => "lsqr",
            Method::Lsmr => "lsmr",
        }
    }

    /// As a heading names it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Method::Cg => "CG",
            Method::BlockCg => "block CG",
            Method::Fcg => "flexible CG",
            Method::Minres => "MINRES",
            Method::BiCgStab => "BiCGStab",
            Method::Idrs => "IDR(s)",
            Method::Gmres => "GMRES",
            Method::Richardson => "Richardson iteration",
            Method::Lsqr => "LSQR",
            Method::Lsmr => "LSMR",
        }
    }

    /// Whether it is a variant of conjugate gradients, which need a positive definite matrix.
    pub(crate) fn is_conjugate_gradients(self) -> bool {
        matches!(self, Method::Cg | Method::BlockCg | Method::Fcg)
    }

    /// Whether its solves can be continued from a checkpoint.
    pub(crate) fn is_resumable(self) -> bool {
        !matches!(self, Method::BlockCg | Method::Richardson)
    }

    pub(crate) fn is_least_squares(self) -> bool {
        matches!(self, Method::Lsqr | Method::Lsmr)
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
    /// Complete LU factors, which stand in where others fail
    #[value(skip)]
    Lu,
    /// Incomplete Cholesky factorisation, IC(0)
    Ic,
    /// Factored sparse approximate inverse
    Fsai,
    /// Blocks for saddle points
    Saddle,
}

impl Precond {
    /// How algebraic multigrid coarsens; `None` for other preconditioners.
    pub(crate) fn coarsening(self) -> Option<Coarsening> {
        match self {
            Precond::Amg => Some(Coarsening::Auto),
            Precond::Sa => Some(Coarsening::Aggregation),
            Precond::Classical => Some(Coarsening::Classical),
            _ => None,
        }
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Precond::Auto => "auto",
            Precond::None => "none",
            Precond::Jacobi => "jacobi",
            Precond::Amg => "amg",
            Precond::Sa => "sa",
            Precond::Classical => "classical",
            Precond::Spai0 => "spai0",
            Precond::Ssor => "ssor",
            Precond::Ilu => "ilu",
            Precond::Ilut => "ilut",
            Precond::Lu => "lu",
            Precond::Ic => "ic",
            Precond::Fsai => "fsai",
            Precond::Saddle => "saddle",
        }
    }

    /// As a heading names it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Precond::Auto | Precond::None => "no preconditioner",
            Precond::Amg => "algebraic multigrid",
            Precond::Sa => "smoothed aggregation multigrid",
            Precond::Classical => "classical algebraic multigrid",
            Precond::Jacobi => "Jacobi preconditioner",
            Precond::Spai0 => "SPAI-0 preconditioner",
            Precond::Ssor => "SSOR preconditioner",
            Precond::Ilu => "ILU(0) preconditioner",
            Precond::Ilut => "ILUT preconditioner",
            Precond::Lu => "complete LU factors",
            Precond::Ic => "IC(0) preconditioner",
            Precond::Fsai => "FSAI preconditioner",
            Precond::Saddle => "block preconditioner",
        }
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

/// What a preconditioner is made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PrecondOptions {
    pub(crate) precond: Precond,
    pub(crate) order: Option<Order>,
    /// Of the fixed-point iteration; 0 for factors by levels.
    pub(crate) sweeps: usize,
    pub(crate) drop: f64,
    pub(crate) fill: f64,
    /// The relaxation factor of SSOR.
    pub(crate) omega: f64,
}

impl PrecondOptions {
    /// The parameters of incomplete LU factors: of ILU(0) where that is the preconditioner, else of ILUT.
    pub(crate) fn ilu(&self) -> IluParams {
        let (kind, sweeps) = match self.precond {
            Precond::Ilu => (IluKind::Zero, self.sweeps),
            _ => (IluKind::Threshold { drop: self.drop, fill: self.fill }, 0),
        };
        let order = self.order.map_or(Ordering::Natural, Ordering::from);
        IluParams::default().kind(kind).ordering(order).sweeps(sweeps)
    }
}

/// Methods that need a symmetric positive definite preconditioner.
const SYMMETRIC: [Method; 3] = [Method::Cg, Method::BlockCg, Method::Minres];
/// Preconditioners that are not symmetric or not definite, even where the matrix is.
const UNSYMMETRIC: [Precond; 2] = [Precond::Ilu, Precond::Ilut];

/// An error that says what to use instead for a combination that does not work.
pub(crate) fn check_combination(
    method: Method,
    precond: Precond,
    symmetric: bool,
    square: bool,
) -> Result<(), Failure> {
    let (m, p) = (method.name(), precond.name());
    if !square && !method.is_least_squares() {
        return Err(Failure::usage(format!("--method {m} needs a square matrix; use lsmr or lsqr for least squares")));
    }
    if method.is_least_squares() {
        // Of A'A, which is Hermitian.
        return match precond {
            Precond::Ilu | Precond::Ilut | Precond::Saddle => Err(Failure::usage(format!(
                "--method {m} needs a positive definite preconditioner of A'A, which {p} is not; use --precond jacobi, ic, ssor, fsai or amg, or for square systems gmres with {p}"
            ))),
            _ => Ok(()),
        };
    }
    if SYMMETRIC.contains(&method) && UNSYMMETRIC.contains(&precond) {
        return Err(Failure::usage(format!(
            "--method {m} needs a symmetric positive definite preconditioner, which {p} is not; use --precond ic, fsai, ssor or jacobi, or --method gmres with {p}"
        )));
    }
    if precond == Precond::Saddle && method.is_conjugate_gradients() {
        return Err(Failure::usage(format!(
            "--method {m} needs a positive definite matrix, which a saddle point is not; use minres, or gmres"
        )));
    }
    if precond == Precond::Saddle && method == Method::Richardson {
        return Err(Failure::usage(
            "--method richardson does not converge with --precond saddle, whose blocks are meant for minres and gmres; use one of these",
        ));
    }
    if method == Method::Minres && !symmetric {
        return Err(Failure::usage(
            "--method minres needs a symmetric (complex: Hermitian) matrix; use gmres, idrs or bicgstab",
        ));
    }
    if matches!(precond, Precond::Ic | Precond::Fsai) && !symmetric {
        return Err(Failure::usage(format!(
            "--precond {p} needs a symmetric (complex: Hermitian) matrix; use ilu or ilut"
        )));
    }
    Ok(())
}

/// Sizes of the spaces of methods.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Iterations of GMRES between restarts.
    pub(crate) restart: usize,
    /// The dimension s of the shadow space of IDR(s).
    pub(crate) idr: usize,
}

/// The solver of a method for `n` equations; the least-squares methods have solvers of their own.
pub(crate) fn solver<T: Scalar>(
    context: &Context,
    method: Method,
    stopping: Stopping,
    sizes: Sizes,
    n: usize,
) -> Result<Box<dyn Resumable<T>>, Failure> {
    Ok(match method {
        Method::Cg => Box::new(Cg::new(context, n, stopping.into())?),
        Method::Fcg => Box::new(FlexibleCg::new(context, n, stopping.into())?),
        Method::Minres => Box::new(Minres::new(context, n, stopping.into())?),
        Method::BiCgStab => Box::new(BiCgStab::new(context, n, stopping.into())?),
        Method::Idrs => Box::new(Idr::new(context, n, IdrParams::from(stopping).dimensions(sizes.idr))?),
        Method::Gmres => Box::new(Gmres::new(context, n, GmresParams::from(stopping).restart(sizes.restart))?),
        Method::BlockCg => {
            return Err(Failure::usage(
                "--method block-cg solves for all right-hand sides at once, not for one; use cg",
            ));
        }
        Method::Richardson => return Err(Failure::usage("--method richardson cannot take over from another method")),
        Method::Lsqr | Method::Lsmr => {
            return Err(Failure::usage(format!("--method {} is for least squares, not for systems", method.name())));
        }
    })
}

/// A preconditioner with a description of what was made.
pub(crate) type Made<T> = Option<(Box<dyn Preconditioner<T>>, String)>;

/// Incomplete LU factors of a matrix, with their description.
pub(crate) fn described<T: Scalar>(m: Ilu<T>, parts: &CsrParts<T>) -> Made<T> {
    let matched = if m.is_matched() { ", rows permuted for a large diagonal" } else { "" };
    let replaced = match m.replaced_pivots() {
        0 => String::new(),
        1 => ", 1 zero pivot replaced".to_owned(),
        count => format!(", {count} zero pivots replaced"),
    };
    let [lower, upper] = m.levels();
    let words = format!(
        "{} entries ({:.1} times those of the matrix), {lower} and {upper} levels, {} launches per application{matched}{replaced}",
        m.nnz(),
        m.nnz() as f64 / parts.nnz().max(1) as f64,
        m.launches()
    );
    Some((Box::new(m), words))
}

/// The preconditioner that the options ask for, of the matrix `a`, whose host form is `parts`.
pub(crate) fn preconditioner<T: Scalar>(
    a: &Csr<T>,
    parts: &CsrParts<T>,
    options: PrecondOptions,
) -> Result<Made<T>, Failure> {
    let context = a.context();
    let order = options.order.map(Ordering::from);
    Ok(match options.precond {
        // `hierarchy` makes multigrid, `saddle` its blocks, `last_resort` complete factors, and `advise` has resolved the choice.
        Precond::Auto
        | Precond::None
        | Precond::Amg
        | Precond::Sa
        | Precond::Classical
        | Precond::Lu
        | Precond::Saddle => None,
        Precond::Jacobi => Some((Box::new(Jacobi::new(&a.diagonal()?)?), String::new())),
        Precond::Spai0 => Some((Box::new(Spai0::from_parts(context, parts)?), String::new())),
        Precond::Ssor => {
            let params = SsorParams::default().omega(options.omega);
            let params = order.map_or(params, |order| params.ordering(order));
            let m = Ssor::from_parts(context, parts, &params)?;
            let words = format!("{} levels", m.levels());
            Some((Box::new(m), words))
        }
        Precond::Ilu | Precond::Ilut => described(Ilu::from_parts(context, parts, &options.ilu())?, parts),
        Precond::Ic => {
            let params = CholeskyParams::default().ordering(order.unwrap_or(Ordering::Natural)).sweeps(options.sweeps);
            let m = IncompleteCholesky::from_parts(context, parts, &params)?;
            let shift = match m.shift() {
                shift if shift > 0.0 => format!(", of the matrix with {shift} times its diagonal added"),
                _ => String::new(),
            };
            let words =
                format!("{} entries, {} levels, {} launches per application{shift}", m.nnz(), m.levels(), m.launches());
            Some((Box::new(m), words))
        }
        Precond::Fsai => {
            let m = Fsai::from_parts(context, parts)?;
            let words = format!("{} entries", m.nnz());
            Some((Box::new(m), words))
        }
    })
}
