//! Parameters and reports of the Poisson solver.

use serde::{Deserialize, Serialize};

use super::boxes::is_positive;
use super::cycle::{Order, Plan, Sweeps};
use super::{Centring, Condition, Grid};
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

/// Parameters of [`Poisson`](super::Poisson): the equation `-div(D grad u) + c u = f` on a [`Grid`], and how it is solved.
///
/// ```
/// use clinalg::multigrid::{Cycle, PoissonParams};
///
/// let params = PoissonParams { cycle: Cycle::Full, tolerance: 1e-8, ..PoissonParams::default() };
/// assert_eq!((params.pre, params.post), (2, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PoissonParams {
    /// The diagonal dx, dy, dz of D, positive; the third is not read in two dimensions.
    pub diffusion: [f64; 3],
    /// The off-diagonal entries dxy, dxz and dyz of D, which must be positive definite; the last two are not read in two dimensions.
    /// Non-zero entries need a vertex-centred grid, and a varying coefficient must be given per cell; stencils have 9 or
    /// 19 points.
    pub mixed_derivatives: [f64; 3],
    /// The c of -div(D grad u) + c u = f: finite, at least 0.
    pub shift: f64,
    /// The order of the discretisation: 2, or 4 by compact stencils of 9 or 19 points (Spotz and Carey 1996), for which f is
    /// read on all sides. 4 needs a vertex-centred grid with equal spacing in each direction, Dirichlet or periodic sides, and a
    /// constant diagonal tensor.
    pub order: usize,
    /// The implementation of the components. Only [regular grids](super::Poisson#regular-grids) have others than
    /// [`Backend::Kernels`].
    pub backend: Backend,
    /// The order in which levels are visited.
    pub cycle: Cycle,
    /// The relaxation; Jacobi on [regular grids](super::Poisson#regular-grids) only.
    pub smoother: Smoother,
    /// Sweeps before the coarse-grid correction.
    pub pre: usize,
    /// Sweeps after it. Preconditioners are symmetric: half of the sweeps `pre + post`, rounded up, come before the coarse-grid
    /// correction and as many after it. So are the cycles of the solver with a coefficient, a tensor, mixed
    /// derivatives or order 4, where they precondition conjugate gradients.
    pub post: usize,
    /// Weight of Jacobi, between 0 and 2; red-black Gauss-Seidel has none.
    pub omega: f64,
    /// Relative residual to reach.
    pub tolerance: f64,
    /// Most cycles; the pass of full multigrid counts as one.
    pub max_cycles: usize,
    /// Where u is determined up to a constant only: the largest imbalance of the right-hand side that is removed. See
    /// [`PoissonReport::imbalance`].
    pub max_imbalance: f64,
    /// Whether the cycles correct the solution in single precision, while the solution and its defect stay in double
    /// precision: the same accuracy is reached in the end. For `Poisson<f64>` on
    /// [regular grids](super::Poisson#regular-grids) with [`Backend::Kernels`] and no coefficient. The pass
    /// of full multigrid then starts from the interior of the initial guess instead of ignoring it.
    pub mixed_precision: bool,
}

impl Default for PoissonParams {
    /// V(2,1) with red-black Gauss-Seidel for -Laplace u = f to a relative residual of 1e-10.
    fn default() -> PoissonParams {
        PoissonParams {
            diffusion: [1.0; 3],
            mixed_derivatives: [0.0; 3],
            shift: 0.0,
            order: 2,
            backend: Backend::default(),
            cycle: Cycle::default(),
            smoother: Smoother::default(),
            pre: 2,
            post: 1,
            omega: 0.8,
            tolerance: 1e-10,
            max_cycles: 100,
            max_imbalance: 0.1,
            mixed_precision: false,
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
    /// The off-diagonal entries that `dim` dimensions have.
    pub(super) fn mixed_in(&self, dim: usize) -> [f64; 3] {
        if dim == 3 { self.mixed_derivatives } else { [self.mixed_derivatives[0], 0.0, 0.0] }
    }

    /// An error unless the parameters can be used on `grid`.
    pub(crate) fn check(&self, grid: &Grid) -> Result<()> {
        grid.check()?;
        check_shift(self.shift)?;
        check_smoothing(self.pre, self.post, self.omega)?;
        if let Some(d) = self.diffusion[..grid.dim()].iter().find(|d| !(**d > 0.0 && d.is_finite())) {
            return Err(Error::value("diffusion", "positive, finite coefficients", d));
        }
        if !is_positive(grid.dim(), self.diffusion, self.mixed_in(grid.dim())) {
            let got = format!("{:?} with the diagonal {:?}", self.mixed_derivatives, self.diffusion);
            return Err(Error::value(
                "mixed_derivatives",
                "off-diagonal entries for which the tensor is positive definite",
                got,
            ));
        }
        self.check_order(grid)?;
        for (argument, value) in [("tolerance", self.tolerance), ("max_imbalance", self.max_imbalance)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::value(argument, "a finite number, at least 0", value));
            }
        }
        Ok(())
    }

    fn check_order(&self, grid: &Grid) -> Result<()> {
        let refused = |expected: &str| Err(Error::value("order", expected, self.order));
        match self.order {
            2 => return Ok(()),
            4 => {}
            _ => return refused("2 or 4"),
        }
        if self.mixed_in(grid.dim()) != [0.0; 3] {
            return refused("2 with off-diagonal entries of the tensor");
        }
        for axis in grid.axes(&self.diffusion)? {
            if axis.centring == Centring::Cell {
                return refused("2 on a cell-centred grid; order 4 needs a vertex-centred one");
            }
            if !axis.sides.iter().all(|side| matches!(side, Condition::Dirichlet | Condition::Periodic)) {
                return refused("2 with Neumann or Robin sides; order 4 needs Dirichlet or periodic ones");
            }
            let mean = axis.lengths.iter().sum::<f64>() / axis.lengths.len() as f64;
            // Coordinates are rounded.
            if axis.lengths.iter().any(|length| (length - mean).abs() > 1e-9 * mean) {
                return refused("2 where the spacing of a direction varies");
            }
        }
        Ok(())
    }

    fn visits(&self) -> usize {
        if self.cycle == Cycle::W { 2 } else { 1 }
    }

    /// How a cycle of the solver goes.
    pub(crate) fn plan(&self) -> Plan {
        let sweeps = |count| Sweeps { count, order: Order::RedFirst };
        Plan { visits: self.visits(), pre: sweeps(self.pre), post: sweeps(self.post) }
    }

    /// How a symmetric cycle goes, with no fewer sweeps.
    pub(super) fn symmetric_plan(&self) -> Plan {
        let sweeps = |order| Sweeps { count: (self.pre + self.post).div_ceil(2), order };
        Plan { visits: self.visits(), pre: sweeps(Order::RedFirst), post: sweeps(Order::BlackFirst) }
    }
}

/// What a solution of the Poisson problem took.
///
/// Residuals are |b - A u| / |b| in the Euclidean norm over the unknowns, with the equations integrated over the cells,
/// where b is f plus the contributions of the values on the sides. Where b = 0, the residual of
/// the initial guess stands in the denominator, and an initial guess without residual has 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoissonReport {
    /// Why it ended.
    pub stop: Stop,
    /// Cycles made; the pass of full multigrid counts as one. Where cycles precondition conjugate gradients, its steps.
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
    /// Estimate of the largest relative residual that rounding leaves, eps / 2 * s * |u| / |b|: of roundings that add up. Those of
    /// random signs leave a third of it in two dimensions, half of it in three. On
    /// [regular grids](super::Poisson#regular-grids) s bounds the sum of the magnitudes in a row of A, (4 dim / h^2 + shift) with the
    /// largest value of a coefficient before 4; elsewhere it is twice the root of the mean square of the diagonal.
    pub rounding_floor: f64,
    /// Where u is determined up to a constant only, without a Dirichlet or Robin side and without shift: the sum of all
    /// sources and fluxes over the sum of their magnitudes. It was removed by adding a constant to f. `None` elsewhere.
    pub imbalance: Option<f64>,
}

/// What a solution that was stopped leaves besides u, for [`Poisson::resume`](super::Poisson::resume).
#[derive(Debug, Clone, PartialEq)]
pub struct PoissonMemory<T> {
    /// The history of the report.
    pub history: Vec<f64>,
    /// Where cycles precondition conjugate gradients: the direction of the last step, and the product of residual and
    /// preconditioned residual in it.
    pub direction: Option<(Vec<T>, f64)>,
    /// The iterate, where it is more than u tells: where u is determined up to a constant only, its mean is not yet removed.
    pub unknowns: Option<Vec<T>>,
}
