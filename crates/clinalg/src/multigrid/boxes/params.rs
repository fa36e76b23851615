//! Parameters and reports of the solver on boxes.

use serde::{Deserialize, Serialize};

use super::field::is_positive;
use super::grid::{Centring, Condition, Grid};
use crate::multigrid::cycle::{Order, Plan, Sweeps};
use crate::multigrid::params::{Cycle, PoissonParams, PoissonReport, check_shift, check_smoothing};
use crate::solve::Stop;
use crate::{Error, Result};

/// Parameters of [`GridPoisson`](super::GridPoisson), [`GridOperator`](super::GridOperator) and
/// [`GridPreconditioner`](super::GridPreconditioner).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GridParams {
    /// The diagonal dx, dy, dz of D, positive; the third is not read in two dimensions.
    pub diffusion: [f64; 3],
    /// The off-diagonal entries dxy, dxz and dyz of D, which must be positive definite; the last two are not read in two dimensions.
    /// Non-zero entries need a vertex-centred grid, and a varying coefficient must be given per cell; stencils have 9 or 19 points.
    pub mixed: [f64; 3],
    /// The c of -div(D grad u) + c u = f: finite, at least 0.
    pub shift: f64,
    /// The order of the discretisation: 2, or 4 by compact stencils of 9 or 19 points (Spotz and Carey 1996), for which f is read on
    /// all sides. 4 needs a vertex-centred grid with equal spacing in each direction, Dirichlet or periodic sides, and a constant
    /// diagonal tensor.
    pub order: usize,
    /// The order in which levels are visited.
    pub cycle: Cycle,
    /// Sweeps of multicolour Gauss-Seidel before the coarse-grid correction; a preconditioner has as many after it.
    pub pre: usize,
    /// Sweeps after it; not read where cycles precondition conjugate gradients (`mixed`, order 4, a coefficient), which take `pre` on
    /// both sides.
    pub post: usize,
    /// Relative residual to reach.
    pub tolerance: f64,
    /// Most cycles; the pass of full multigrid counts as one.
    pub max_cycles: usize,
    /// Where u is determined up to a constant only: the largest imbalance of the right-hand side that is removed. See
    /// [`GridReport::imbalance`].
    pub max_imbalance: f64,
}

impl Default for GridParams {
    /// V(2,1) for D = 1 to a relative residual of 1e-10.
    fn default() -> GridParams {
        GridParams {
            diffusion: [1.0; 3],
            mixed: [0.0; 3],
            shift: 0.0,
            order: 2,
            cycle: Cycle::V,
            pre: 2,
            post: 1,
            tolerance: 1e-10,
            max_cycles: 100,
            max_imbalance: 0.1,
        }
    }
}

impl GridParams {
    /// With these coefficients.
    pub fn diffusion(mut self, diffusion: [f64; 3]) -> GridParams {
        self.diffusion = diffusion;
        self
    }

    /// With these off-diagonal entries dxy, dxz and dyz of D.
    pub fn mixed(mut self, mixed: [f64; 3]) -> GridParams {
        self.mixed = mixed;
        self
    }

    /// The off-diagonal entries that `dim` dimensions have.
    pub(super) fn mixed_in(&self, dim: usize) -> [f64; 3] {
        if dim == 3 { self.mixed } else { [self.mixed[0], 0.0, 0.0] }
    }

    /// With this shift.
    pub fn shift(mut self, shift: f64) -> GridParams {
        self.shift = shift;
        self
    }

    /// With a discretisation of this order.
    pub fn order(mut self, order: usize) -> GridParams {
        self.order = order;
        self
    }

    /// With this order of the levels.
    pub fn cycle(mut self, cycle: Cycle) -> GridParams {
        self.cycle = cycle;
        self
    }

    /// With so many sweeps before and after the coarse-grid correction.
    pub fn sweeps(mut self, pre: usize, post: usize) -> GridParams {
        (self.pre, self.post) = (pre, post);
        self
    }

    /// With this tolerance.
    pub fn tolerance(mut self, tolerance: f64) -> GridParams {
        self.tolerance = tolerance;
        self
    }

    /// With at most so many cycles.
    pub fn max_cycles(mut self, max_cycles: usize) -> GridParams {
        self.max_cycles = max_cycles;
        self
    }

    /// Removing an imbalance up to this.
    pub fn max_imbalance(mut self, max_imbalance: f64) -> GridParams {
        self.max_imbalance = max_imbalance;
        self
    }

    /// An error unless the parameters can be used on `grid`.
    pub(super) fn check(&self, grid: &Grid) -> Result<()> {
        grid.check()?;
        check_shift(self.shift)?;
        check_smoothing(self.pre, self.post, 1.0)?;
        if let Some(d) = self.diffusion[..grid.dim()].iter().find(|d| !(**d > 0.0 && d.is_finite())) {
            return Err(Error::value("diffusion", "positive, finite coefficients", d));
        }
        if !is_positive(grid.dim(), self.diffusion, self.mixed_in(grid.dim())) {
            let got = format!("{:?} with the diagonal {:?}", self.mixed, self.diffusion);
            return Err(Error::value("mixed", "off-diagonal entries for which the tensor is positive definite", got));
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
    pub(super) fn plan(&self) -> Plan {
        let sweeps = |count| Sweeps { count, order: Order::RedFirst };
        Plan { visits: self.visits(), pre: sweeps(self.pre), post: sweeps(self.post) }
    }

    /// How a symmetric cycle goes.
    pub(super) fn symmetric_plan(&self) -> Plan {
        let sweeps = |order| Sweeps { count: self.pre.max(1), order };
        Plan { visits: self.visits(), pre: sweeps(Order::RedFirst), post: sweeps(Order::BlackFirst) }
    }

    /// What the iteration asks for.
    pub(super) fn iteration(&self) -> PoissonParams {
        let GridParams { cycle, tolerance, max_cycles, .. } = *self;
        PoissonParams { cycle, tolerance, max_cycles, ..PoissonParams::default() }
    }
}

/// What a solution on a box took. Residuals are |b - A u| / |b| in the Euclidean norm over the unknowns, with the equations
/// integrated over the cells; where b = 0, the residual of the initial guess stands in the denominator.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GridReport {
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
    /// Geometric mean of the factors by which the cycles reduced the residual, without the pass of full multigrid; `None` where
    /// there was no such cycle.
    pub convergence_factor: Option<f64>,
    /// Estimate of the relative residual that rounding leaves: eps times the root of the mean square of the diagonal of A times
    /// |u| / |b|.
    pub rounding_floor: f64,
    /// Where u is determined up to a constant only, without a Dirichlet or Robin side and without shift: the sum of all sources and
    /// fluxes over the sum of their magnitudes. It was removed by adding a constant to f. `None` elsewhere.
    pub imbalance: Option<f64>,
}

impl GridReport {
    pub(super) fn new(report: PoissonReport, imbalance: Option<f64>) -> GridReport {
        let PoissonReport { stop, cycles, levels, relative_residual, history, convergence_factor, rounding_floor } =
            report;
        GridReport { stop, cycles, levels, relative_residual, history, convergence_factor, rounding_floor, imbalance }
    }
}
