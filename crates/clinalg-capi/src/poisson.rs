//! The Poisson problem.

use std::ffi::c_void;
use std::ptr::null;

use clinalg::Error;
use clinalg::multigrid::{Centring, Coefficient, Condition, End, Grid, PoissonParams, PoissonReport, Smoother};
use clinalg_handles::Registry;

use crate::callback::{ClinalgProgress, progress as callback};
use crate::object::{ClinalgHandle, ClinalgPrecision, precision_of, upload};
use crate::operation::into;
use crate::options::{Versioned, given, put_defaults, read};
use crate::solver::{
    ClinalgBackend, ClinalgCycle, ClinalgSmoother, ClinalgStop, backend_of, check_tolerance, cycle_of, stop,
};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice, slice_mut};

/// The boundary condition on a side of a box. `clinalg_poisson_set_side` sets its values g.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgCondition {
    /// u = g.
    Dirichlet = 0,
    /// k D du/dn = g, with the outward normal n.
    Neumann = 1,
    /// alpha u + k D du/dn = g.
    Robin = 2,
    /// u is periodic in this direction; the opposite side must be periodic too.
    Periodic = 3,
}

/// Where the values of a grid lie.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgCentring {
    /// At the points, those on the sides included: n points bound n - 1 intervals, in a periodic direction n.
    Vertex = 0,
    /// At the centres of n cells.
    Cell = 1,
}

/// Where a coefficient is given.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgCoefficientAt {
    /// At the points; between two points their harmonic mean is used.
    Points = 0,
    /// In the cells between the points.
    Cells = 1,
}

/// Options of a Poisson solver. Fill them with `clinalg_poisson_options_default(&options, sizeof options)`, then set the
/// numbers of points and change what is to differ. Later versions append members, which take their defaults in programs compiled before.
///
/// Arrays have one entry per direction; in two dimensions the third is not read. A regular grid is the unit square or cube with 2^k + 1
/// equally spaced points per side and u = g on all sides, for D = 1, order 2 and, in three dimensions, k = 1: it has the fastest
/// kernels, and more choices.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgPoissonOptions {
    /// `sizeof(clinalg_poisson_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Dimensions: 2 or 3.
    pub dim: usize,
    /// Number of points in each direction.
    pub points: [usize; 3],
    /// Length of the box in each direction.
    pub lengths: [f64; 3],
    /// Ascending coordinates in each direction: those of the n points, or, on a cell-centred grid or in a periodic direction, those of the
    /// n + 1 ends of the intervals. Null for equal spacing, starting at 0. They are copied.
    pub coordinates: [*const f64; 3],
    /// The conditions of the low and the high side of each direction, each a `clinalg_condition`.
    pub sides: [[u32; 2]; 3],
    /// The alpha of each Robin side, finite and at least 0; not read on other sides.
    pub alpha: [[f64; 2]; 3],
    /// Where the values lie, a `clinalg_centring`.
    pub centring: u32,
    /// The precision of the solver, a `clinalg_precision`: single or double.
    pub precision: u32,
    /// The diagonal dx, dy, dz of D, positive.
    pub diffusion: [f64; 3],
    /// The off-diagonal entries dxy, dxz and dyz of D; the last two are not read in two dimensions. D must be positive definite. Non-zero
    /// entries need a vertex-centred grid; a coefficient must then be given in the cells.
    pub mixed_derivatives: [f64; 3],
    /// The shift c, at least 0.
    pub shift: f64,
    /// The order of the discretisation: 2 (finite volumes) or 4 (compact stencils). Order 4 also reads f on all sides. It needs a vertex-centred
    /// grid with equal spacing in each direction, Dirichlet or periodic sides, a diagonal D and no coefficient.
    pub order: usize,
    /// The positive coefficient k, a value for each point or cell, x fastest; null for 1. It is copied.
    pub coefficient: *const f64,
    /// Number of values of the coefficient.
    pub coefficient_count: usize,
    /// Where the coefficient is given, a `clinalg_coefficient_at`; on a cell-centred grid both mean the cells.
    pub coefficient_at: u32,
    /// The order in which the levels are visited, a `clinalg_cycle`.
    pub cycle: u32,
    /// The smoother, a `clinalg_smoother`; Jacobi on regular grids only.
    pub smoother: u32,
    /// The implementation, a `clinalg_backend`; others than kernels on regular grids only.
    pub backend: u32,
    /// Smoothing sweeps before the coarse-grid correction.
    pub pre: usize,
    /// Smoothing sweeps after it. With a coefficient, mixed derivatives or order 4, and in preconditioners, half of the sweeps, rounded up,
    /// come before the correction and as many after it.
    pub post: usize,
    /// Weight of the Jacobi smoother, between 0 and 2.
    pub omega: f64,
    /// Relative residual to reach.
    pub tolerance: f64,
    /// Maximum number of cycles.
    pub max_cycles: usize,
    /// Where u is determined only up to a constant: the largest `imbalance` of the data (see `clinalg_poisson_report`) that is removed.
    pub max_imbalance: f64,
    /// Non-zero if the cycles compute their corrections in single precision, while the solution and its residual stay in double precision and
    /// the same residuals are reached: for devices with slow double precision, on regular grids without a coefficient.
    pub mixed_precision: i32,
}

/// The outcome of a Poisson solve. Residuals are |b - A u| / |b| over the unknowns, for the equations integrated over the cells.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgPoissonReport {
    /// Why the solve ended.
    pub stop: ClinalgStop,
    /// Number of cycles. With a coefficient, mixed derivatives or order 4: number of iterations of conjugate gradients, with one cycle each.
    pub cycles: usize,
    /// Number of grids.
    pub levels: usize,
    /// True relative residual of the solution.
    pub relative_residual: f64,
    /// Geometric mean of the factors by which the cycles reduced the residual; NaN where there was no cycle.
    pub convergence_factor: f64,
    /// Estimate of the largest relative residual that rounding leaves.
    pub rounding_floor: f64,
    /// Where u is determined only up to a constant: the sum of all sources and fluxes, which was removed, divided by the sum of their
    /// magnitudes. NaN otherwise.
    pub imbalance: f64,
    /// Length of the residual history, `cycles + 1`.
    pub history: usize,
}

// SAFETY: numbers and pointers in `repr(C)`, the size first; what the caller's pointers name is read only by the contract of the functions.
unsafe impl Versioned for ClinalgPoissonOptions {
    fn defaults() -> ClinalgPoissonOptions {
        let defaults = PoissonParams::default();
        ClinalgPoissonOptions {
            struct_size: size_of::<ClinalgPoissonOptions>(),
            dim: 2,
            points: [0; 3],
            lengths: [1.0; 3],
            coordinates: [null(); 3],
            sides: [[ClinalgCondition::Dirichlet as u32; 2]; 3],
            alpha: [[0.0; 2]; 3],
            centring: ClinalgCentring::Vertex as u32,
            precision: ClinalgPrecision::F64 as u32,
            diffusion: defaults.diffusion,
            mixed_derivatives: defaults.mixed_derivatives,
            shift: defaults.shift,
            order: defaults.order,
            coefficient: null(),
            coefficient_count: 0,
            coefficient_at: ClinalgCoefficientAt::Points as u32,
            cycle: ClinalgCycle::V as u32,
            smoother: ClinalgSmoother::RedBlack as u32,
            backend: ClinalgBackend::Kernels as u32,
            pre: defaults.pre,
            post: defaults.post,
            omega: defaults.omega,
            tolerance: defaults.tolerance,
            max_cycles: defaults.max_cycles,
            max_imbalance: defaults.max_imbalance,
            mixed_precision: i32::from(defaults.mixed_precision),
        }
    }
}

impl ClinalgPoissonOptions {
    /// The box.
    ///
    /// # Safety
    /// Coordinates are null or as many as the points and sides say.
    pub(crate) unsafe fn grid(&self) -> Result<Grid, Fault> {
        if !(2..=3).contains(&self.dim) {
            return Err(Error::value("dim", "2 or 3", self.dim).into());
        }
        let centrings = [(ClinalgCentring::Vertex, Centring::Vertex), (ClinalgCentring::Cell, Centring::Cell)];
        let centring = choice("centring", self.centring, &centrings)?;
        let mut grid = Grid::new(&self.points[..self.dim]).size(&self.lengths[..self.dim]).centring(centring);
        for axis in 0..self.dim {
            for (index, end) in [End::Low, End::High].into_iter().enumerate() {
                let conditions = [
                    (ClinalgCondition::Dirichlet, Condition::Dirichlet),
                    (ClinalgCondition::Neumann, Condition::Neumann),
                    (ClinalgCondition::Robin, Condition::Robin { alpha: self.alpha[axis][index] }),
                    (ClinalgCondition::Periodic, Condition::Periodic),
                ];
                grid = grid.side(axis, end, choice("sides", self.sides[axis][index], &conditions)?);
            }
            if !self.coordinates[axis].is_null() {
                let whole = centring == Centring::Cell || grid.condition(axis, End::Low) == Condition::Periodic;
                let count = self.points[axis].saturating_add(usize::from(whole));
                // SAFETY: by the contract of this function.
                let coordinates = unsafe { slice("coordinates", self.coordinates[axis], count)? };
                grid = grid.spacing(axis, coordinates.to_vec());
            }
        }
        Ok(grid)
    }

    pub(crate) fn params(&self) -> Result<PoissonParams, Fault> {
        check_tolerance(self.tolerance)?;
        let smoothers = [(ClinalgSmoother::RedBlack, Smoother::RedBlack), (ClinalgSmoother::Jacobi, Smoother::Jacobi)];
        Ok(PoissonParams {
            diffusion: self.diffusion,
            mixed_derivatives: self.mixed_derivatives,
            shift: self.shift,
            order: self.order,
            backend: backend_of(self.backend)?,
            cycle: cycle_of(self.cycle)?,
            smoother: choice("smoother", self.smoother, &smoothers)?,
            pre: self.pre,
            post: self.post,
            omega: self.omega,
            tolerance: self.tolerance,
            max_cycles: self.max_cycles,
            max_imbalance: self.max_imbalance,
            mixed_precision: self.mixed_precision != 0,
        })
    }

    /// The coefficient, if there is one.
    ///
    /// # Safety
    /// It is null or has as many values as its number says.
    unsafe fn coefficient(&self) -> Result<Option<Coefficient<'_, f64>>, Fault> {
        if self.coefficient.is_null() {
            return Ok(None);
        }
        // SAFETY: by the contract above.
        let values = unsafe { slice("coefficient", self.coefficient, self.coefficient_count)? };
        let places = [
            (ClinalgCoefficientAt::Points, Coefficient::Points(values)),
            (ClinalgCoefficientAt::Cells, Coefficient::Cells(values)),
        ];
        Ok(Some(choice("coefficient_at", self.coefficient_at, &places)?))
    }
}

/// Writes the outcome of a solve.
///
/// # Safety
/// Each pointer is null or valid for a write, `history` of `capacity` values.
pub(crate) unsafe fn results(
    done: &PoissonReport,
    report: *mut ClinalgPoissonReport,
    (history, capacity): (*mut f64, usize),
) -> Result<(), Fault> {
    if !report.is_null() {
        let value = ClinalgPoissonReport {
            stop: stop(done.stop),
            cycles: done.cycles,
            levels: done.levels,
            relative_residual: done.relative_residual,
            convergence_factor: done.convergence_factor.unwrap_or(f64::NAN),
            rounding_floor: done.rounding_floor,
            imbalance: done.imbalance.unwrap_or(f64::NAN),
            history: done.history.len(),
        };
        // SAFETY: by the contract above.
        unsafe { report.write(value) };
    }
    if !history.is_null() {
        let kept = capacity.min(done.history.len());
        // SAFETY: by the contract above.
        unsafe { slice_mut("history", history, kept)? }.copy_from_slice(&done.history[..kept]);
    }
    Ok(())
}

/// The defaults: two dimensions of length 1, a vertex-centred grid with equal spacing, u = g on all sides, D = 1, order 2, V(2,1)-cycles to 1e-10
/// in at most 100 cycles, double precision. Set `points`. `struct_size` is `sizeof(clinalg_poisson_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson_options_default(
    options: *mut ClinalgPoissonOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// A multigrid solver of -div(k D grad u) + c u = f, made once for many right-hand sides; it owns the memory of all levels. D is a
/// constant symmetric positive definite tensor, k a positive coefficient. Until `clinalg_poisson_set_side` sets the values g of the sides, u keeps
/// the values that it has on vertex-centred sides with u = g, and g is 0 on others. `clinalg_object_release` releases the solver.
///
/// # Safety
/// `options` names as many bytes as its first member says, its coordinates as many values as the points and sides say, its
/// coefficient `coefficient_count` values; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson_create(
    options: *const ClinalgPoissonOptions,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |context| {
        // SAFETY: by the contract above.
        let options = unsafe { read(options)? };
        // SAFETY: by the contract above.
        let (grid, coefficient) = unsafe { (options.grid()?, options.coefficient()?) };
        let (precision, params) = (precision_of(options.precision)?, options.params()?);
        Ok(Registry::global().poisson(context, precision, &grid, &params, coefficient)?)
    })
}

/// Sets the values g of a side. `axis` is 0, 1 or 2; `high` is 0 for the side where the coordinate is smallest, non-zero for the side where
/// it is largest. `values` has one value for each point of the side, the lower of the other directions fastest; null clears them. Where
/// sides with u = g meet, the values of the last direction hold.
///
/// # Safety
/// `values` is null or names `count` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson_set_side(
    poisson: ClinalgHandle,
    axis: usize,
    high: i32,
    values: *const f64,
    count: usize,
) -> ClinalgStatus {
    guard(|| {
        let end = if high == 0 { End::Low } else { End::High };
        let values = match values.is_null() {
            true => None,
            // SAFETY: by the contract above.
            false => Some(unsafe { slice("values", values, count)? }),
        };
        Ok(Registry::global().poisson_set_side(poisson, axis, end, values)?)
    })
}

/// Solves for host arrays. `f` has one value for each of `count` points, x fastest. `u`, which must not overlap `f`, holds the initial guess on
/// entry and the solution on return. Points on vertex-centred sides with u = g get g, or keep their values where no g was set; f is read there for
/// order 4 only.
///
/// `report` may be null. `history`, if not null, gets the first `capacity` relative residuals, beginning with that of the initial guess.
/// `progress`, if not null, is called with `progress_data` after every cycle. A solve that does not converge is not a failed call: check
/// `stop`. If the data are not finite, `stop` is `CLINALG_STOP_NOT_FINITE` and u is unchanged. A solver in single precision rounds the values.
///
/// # Safety
/// `f` and `u` name `count` values; `progress` is null or valid to be called with `progress_data`; `report` is null or valid for a write, `history` null or valid for
/// `capacity` values.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_poisson_solve(
    poisson: ClinalgHandle,
    f: *const f64,
    u: *mut f64,
    count: usize,
    progress: ClinalgProgress,
    progress_data: *mut c_void,
    report: *mut ClinalgPoissonReport,
    history: *mut f64,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        if !u.is_null() && f.addr().abs_diff(u.addr()) < count.saturating_mul(size_of::<f64>()) {
            return Err(Error::value("u", "an array that does not overlap f", "one that overlaps f").into());
        }
        // SAFETY: by the contract above.
        let (f, u) = unsafe { (slice("f", f, count)?, slice_mut("u", u, count)?) };
        let mut progress = callback(progress, progress_data);
        let done = Registry::global().poisson_solve(poisson, f, u, &mut progress)?;
        // SAFETY: by the contract above.
        unsafe { results(&done, report, (history, capacity)) }
    })
}

/// As `clinalg_poisson_solve`, for vectors or dense matrices of the solver's precision and device, whose values stay there. `*u` holds
/// the initial guess on entry and the solution on return. If `*u` is 0, a new object like f is made, and the initial guess is zero.
///
/// # Safety
/// `u` is valid for reading and writing; the other pointers as for `clinalg_poisson_solve`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_poisson_solve_vector(
    poisson: ClinalgHandle,
    f: ClinalgHandle,
    u: *mut ClinalgHandle,
    progress: ClinalgProgress,
    progress_data: *mut c_void,
    report: *mut ClinalgPoissonReport,
    history: *mut f64,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let start = unsafe { given("u", u)? };
        let mut progress = callback(progress, progress_data);
        let (handle, done) = Registry::global().poisson_solve_vector(poisson, f, start, &mut progress)?;
        // SAFETY: by the contract above.
        unsafe {
            put("u", u, handle)?;
            results(&done, report, (history, capacity))
        }
    })
}

/// The matrix of the equations integrated over the cells: a symmetric operator on vectors of the unknowns. The unknowns are the values at all
/// points except those on vertex-centred sides with u = g; `clinalg_object_get_info` gives their number. The solver may be released before the operator.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson_operator_create(
    poisson: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().poisson_operator(poisson)?))
}

/// A symmetric multigrid cycle: an approximate inverse of the matrix of `clinalg_poisson_operator_create`, for `clinalg_solver_options.inverse`.
/// The solver may be released before the preconditioner.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson_preconditioner_create(
    poisson: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().poisson_preconditioner(poisson)?))
}

/// The right-hand side for `clinalg_poisson_operator_create`, one value per unknown, from the source f, one value per point, and the values of the
/// sides. Where u is determined only up to a constant, the imbalance is removed. If `*b` is 0, a new vector is made.
///
/// # Safety
/// `b` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson_right_side(
    poisson: ClinalgHandle,
    f: ClinalgHandle,
    b: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("b", b, |registry, given| registry.poisson_right_side(poisson, f, given))
}

/// The values at all points, from the unknowns x and the values of the sides with u = g. If `*u` is 0, a new vector is made.
///
/// # Safety
/// `u` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_poisson_points(
    poisson: ClinalgHandle,
    x: ClinalgHandle,
    u: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("u", u, |registry, given| registry.poisson_points(poisson, x, given))
}
