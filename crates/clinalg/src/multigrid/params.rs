//! Parameters and reports of the Poisson solver.

use serde::{Deserialize, Serialize};

use crate::solve::Stop;
use crate::{Error, Result};

/// The implementation of the components. All backends agree to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// Kernels specialised for the stencil.
    #[default]
    Kernels,
    /// Sparse matrices and vectors only: the operations of [`ops`](crate::ops).
    Matrix,
    /// Plain sequential Rust on the host.
    Reference,
}

/// The order in which levels are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cycle {
    /// Each coarser level once per cycle.
    #[default]
    V,
    /// Each coarser level twice per visit to the finer one.
    W,
    /// Full multigrid: one pass from the coarsest grid up, which ignores the interior of the start
    /// value, then V-cycles. Its start values also depend on the corners of the boundary (and the
    /// edges of a cube), which the stencil never reads.
    #[serde(rename = "fmg")]
    Full,
}

/// The relaxation on each level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Smoother {
    /// Gauss-Seidel, first the points with even i + j (+ k), then the others.
    #[default]
    #[serde(rename = "rbgs")]
    RedBlack,
    /// Jacobi, weighted by `omega`.
    Jacobi,
}

/// Parameters of [`Poisson`](super::Poisson).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoissonParams {
    /// Points per side, boundary included: 2^k + 1, at least 3.
    pub n: usize,
    /// 2 for the unit square, 3 for the unit cube.
    pub dim: usize,
    /// The sigma of -Laplace u + sigma u = f: finite, at least 0.
    pub shift: f64,
    /// The implementation of the components.
    pub backend: Backend,
    /// The order in which levels are visited.
    pub cycle: Cycle,
    /// The relaxation.
    pub smoother: Smoother,
    /// Sweeps before the coarse-grid correction. With a [coefficient](super::Poisson::with_coefficient) half of the sweeps
    /// before and after it, rounded up, come before it and as many after it.
    pub pre: usize,
    /// Sweeps after it.
    pub post: usize,
    /// Weight of Jacobi, between 0 and 2; red-black Gauss-Seidel has none.
    pub omega: f64,
    /// Relative residual to reach.
    pub tolerance: f64,
    /// Most cycles; the pass of full multigrid counts as one.
    pub max_cycles: usize,
    /// Whether the cycles correct the solution in single precision, while the solution and its defect stay in double
    /// precision: the same accuracy is reached in the end. For `Poisson<f64>` with [`Backend::Kernels`] and a = 1. The pass
    /// of full multigrid then starts from the interior of the initial guess instead of ignoring it.
    pub mixed: bool,
}

impl Default for PoissonParams {
    /// V(2,1) with red-black Gauss-Seidel on the unit square at N = 1025 to a relative residual of 1e-10.
    fn default() -> PoissonParams {
        PoissonParams {
            n: 1025,
            dim: 2,
            shift: 0.0,
            backend: Backend::default(),
            cycle: Cycle::default(),
            smoother: Smoother::default(),
            pre: 2,
            post: 1,
            omega: 0.8,
            tolerance: 1e-10,
            max_cycles: 100,
            mixed: false,
        }
    }
}

/// Most sweeps in a row; more never pay and would not fit the memory for halos.
const MAX_SWEEPS: usize = 100;

/// An error unless the shift keeps the matrix positive definite.
pub(crate) fn check_shift(shift: f64) -> Result<()> {
    if !(shift >= 0.0 && shift.is_finite()) {
        return Err(Error::value(
            "shift",
            "a finite number, at least 0: multigrid needs a positive definite matrix",
            shift,
        ));
    }
    Ok(())
}

/// An error unless the sweeps and the weight make sense.
pub(crate) fn check_smoothing(pre: usize, post: usize, omega: f64) -> Result<()> {
    for (argument, sweeps) in [("pre", pre), ("post", post)] {
        if sweeps > MAX_SWEEPS {
            return Err(Error::value(argument, format!("at most {MAX_SWEEPS} sweeps"), sweeps));
        }
    }
    if pre + post == 0 {
        return Err(Error::value("pre + post", "at least one sweep", 0));
    }
    if !(omega > 0.0 && omega < 2.0) {
        return Err(Error::value("omega", "between 0 and 2", omega));
    }
    Ok(())
}

impl PoissonParams {
    pub(crate) fn check(&self) -> Result<()> {
        check_shift(self.shift)?;
        check_smoothing(self.pre, self.post, self.omega)?;
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(Error::value("tolerance", "a finite number, at least 0", self.tolerance));
        }
        Ok(())
    }
}

/// What a solution of the Poisson problem took.
///
/// Residuals are |b - A u| / |b| in the Euclidean norm over the interior points, where b is f plus
/// the contributions of the boundary values (b = f where these are 0). Where b = 0, the residual of
/// the initial guess stands in the denominator, and an initial guess without residual has 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoissonReport {
    /// Why it ended.
    pub stop: Stop,
    /// Cycles made; the pass of full multigrid counts as one.
    pub cycles: usize,
    /// Number of grids.
    pub levels: usize,
    /// True relative residual of the solution returned.
    pub relative_residual: f64,
    /// Relative residual before the first cycle and after each one.
    pub history: Vec<f64>,
    /// Geometric mean of the factors by which the cycles reduced the residual, without the pass of
    /// full multigrid; `None` where there was no such cycle.
    pub convergence_factor: Option<f64>,
    /// Estimate of the relative residual that rounding leaves, eps / 2 * (4 dim / h^2 + shift) * |u| / |b|;
    /// the largest value of a coefficient multiplies 4 dim / h^2.
    pub rounding_floor: f64,
}

/// What a solution that was stopped leaves besides u, for [`Poisson::resume`](super::Poisson::resume).
#[derive(Debug, Clone, PartialEq)]
pub struct PoissonMemory<T> {
    /// The history of the report.
    pub history: Vec<f64>,
    /// With a coefficient: the direction of the last step of conjugate gradients, n^dim values, and the product of residual and
    /// preconditioned residual in it.
    pub direction: Option<(Vec<T>, f64)>,
}
