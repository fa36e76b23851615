//! Preconditioners made of sparse matrices, and algebraic multigrid.

use clinalg::Error;
use clinalg::amg::{AmgParams, Coarsening, Cycle, Smoother};
use clinalg::direct::FactorsParams;
use clinalg::precond::{CholeskyParams, IluKind, IluParams, Matching, Ordering, SsorParams};
use clinalg_handles::{PreconditionerKind, PreconditionerParams, Registry};

use crate::object::{ClinalgHandle, upload};
use crate::options::{Versioned, put_defaults, read};
use crate::solver::ClinalgPreconditioner;
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice, slice_mut};

/// The order in which a factorisation eliminates the unknowns.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgOrdering {
    /// By colours for SSOR, that of the matrix for factorisations.
    Default = 0,
    /// That of the matrix.
    Natural = 1,
    /// By colours: as many levels as colours, and more iterations.
    Multicolour = 2,
    /// Reverse Cuthill-McKee: a small bandwidth.
    CuthillMckee = 3,
}

/// When ILU permutes rows so that the product of the diagonal entries is largest.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgMatching {
    /// Where a diagonal entry is missing, zero or below 1e-6 times the largest of its row.
    WhereNeeded = 0,
    /// Never.
    Never = 1,
    /// Always.
    Always = 2,
}

/// Options of a preconditioner. Fill them with `clinalg_preconditioner_options_default(&options, sizeof options)`, then change what is
/// to differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgPreconditionerOptions {
    /// `sizeof(clinalg_preconditioner_options)`, as the program was compiled.
    pub struct_size: usize,
    /// The preconditioner: `CLINALG_PRECONDITIONER_ILU`, `_ILUT`, `_IC`, `_SSOR`, `_SPAI0`, `_FSAI`, `_JACOBI` or `_LU`.
    pub kind: u32,
    /// Of ILU, ILUT, IC and SSOR, the order of elimination, a `clinalg_ordering`.
    pub ordering: u32,
    /// Of ILU and ILUT, when rows are permuted, a `clinalg_matching`.
    pub matching: u32,
    /// Of ILUT: entries below this fraction of the mean magnitude of their row are dropped.
    pub drop: f64,
    /// Of ILUT: the factors may have about this many times as many entries as the matrix; at least 1. With n rows and nnz entries, each row of L and of U
    /// keeps its `fill` nnz / (2 n) (rounded up) largest off-diagonal entries.
    pub fill: f64,
    /// Of IC: the factors are those of A + shift diag(A). Negative, as by default: 0, or the first of 1e-3, 2e-3, 4e-3, ... that gives
    /// factors.
    pub shift: f64,
    /// Of SSOR: relaxation factor, above 0 and below 2.
    pub omega: f64,
    /// Of ILU and IC: number of sweeps of the fixed-point iteration that approximates the factors, all rows at once. With 0, the default, the factors
    /// are computed level by level. A few sweeps suit matrices with many levels; at most 1000.
    pub sweeps: usize,
}

/// The smoother of algebraic multigrid.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgAmgSmoother {
    /// Chebyshev iteration, `smoother_steps` being its degree.
    Chebyshev = 0,
    /// l1-Jacobi sweeps.
    L1Jacobi = 1,
    /// Sweeps with SPAI-0.
    Spai0 = 2,
    /// Gauss-Seidel sweeps by colours: rows of one colour, which are not coupled, at once.
    GaussSeidel = 3,
}

/// How algebraic multigrid visits coarser levels.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgAmgCycle {
    /// V-cycle: one visit to the next coarser level per visit.
    V = 0,
    /// W-cycle: two visits to the next coarser level per visit.
    W = 1,
    /// Two steps of flexible conjugate gradients on each level between the finest and the coarsest. For symmetric
    /// positive definite matrices. The cycle is a nonlinear preconditioner, for `CLINALG_METHOD_FLEXIBLE_CG`: `CLINALG_METHOD_CG` may need more
    /// iterations or stagnate.
    K = 2,
}

/// How algebraic multigrid makes coarser levels.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgAmgCoarsening {
    /// Classical where more than 2 % of the off-diagonal entries are at least 0.25 times the largest in their row and less than 0.08 times
    /// the largest in the row of their column. Otherwise, where more than 5 % of the off-diagonal entries have the sign of the diagonal and are not small, a
    /// trial decides: 12 iterations of conjugate gradients with aggregation and, if these converge slowly, 12 with classical coarsening; the set-up then takes
    /// up to three times as long. In all other cases, and always for several unknowns per node or given near-null vectors, aggregation.
    Auto = 0,
    /// Smoothed aggregation.
    Aggregation = 1,
    /// PMIS with extended+i interpolation, for one unknown per node.
    Classical = 2,
}

/// Options of algebraic multigrid. Fill them with `clinalg_amg_options_default(&options, sizeof options)`, then change what is to
/// differ. Later versions append members, which take their defaults in programs compiled before.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgAmgOptions {
    /// `sizeof(clinalg_amg_options)`, as the program was compiled.
    pub struct_size: usize,
    /// Threshold of strong connections, at least 0 and below 1. Aggregation: |a_ij| relative to the geometric mean of the largest
    /// off-diagonal magnitudes of rows i and j (default 0.08). Classical: relative to the largest in row i (default 0.25). A negative
    /// value takes the default.
    pub theta: f64,
    /// The smoother, a `clinalg_amg_smoother`.
    pub smoother: u32,
    /// Not 0 keeps the hierarchy in single precision, for solves in double precision.
    pub single: i32,
    /// Degree or sweeps of the smoother.
    pub smoother_steps: usize,
    /// A `clinalg_amg_cycle`.
    pub cycle: u32,
    /// A `clinalg_amg_coarsening`.
    pub coarsening: u32,
    /// A level of at most this many rows is solved by a dense inverse.
    pub coarse_size: usize,
    /// Maximum number of levels.
    pub max_levels: usize,
    /// Unknowns per node, numbered consecutively.
    pub block: usize,
    /// Not 0 keeps what `clinalg_amg_refill` needs.
    pub reusable: i32,
    /// Not 0 coarsens the finest level aggressively, with classical coarsening only: less memory and time for a cycle, more iterations.
    pub aggressive: i32,
}

// SAFETY: numbers in `repr(C)`, the size first.
unsafe impl Versioned for ClinalgPreconditionerOptions {
    fn defaults() -> ClinalgPreconditionerOptions {
        let IluKind::Threshold { drop, fill } = IluKind::threshold() else { unreachable!("ILUT has both") };
        ClinalgPreconditionerOptions {
            struct_size: size_of::<ClinalgPreconditionerOptions>(),
            kind: ClinalgPreconditioner::Ilu as u32,
            ordering: ClinalgOrdering::Default as u32,
            matching: ClinalgMatching::WhereNeeded as u32,
            drop,
            fill,
            shift: -1.0,
            omega: SsorParams::default().omega,
            sweeps: IluParams::default().sweeps,
        }
    }
}

// SAFETY: numbers in `repr(C)`, the size first.
unsafe impl Versioned for ClinalgAmgOptions {
    fn defaults() -> ClinalgAmgOptions {
        let defaults = AmgParams::default();
        let Smoother::Chebyshev(steps) = Smoother::default() else { unreachable!("the default is Chebyshev") };
        ClinalgAmgOptions {
            struct_size: size_of::<ClinalgAmgOptions>(),
            theta: defaults.theta.unwrap_or(-1.0),
            smoother: ClinalgAmgSmoother::Chebyshev as u32,
            single: i32::from(defaults.single),
            smoother_steps: steps,
            cycle: ClinalgAmgCycle::V as u32,
            coarsening: ClinalgAmgCoarsening::Auto as u32,
            coarse_size: defaults.coarse_size,
            max_levels: defaults.max_levels,
            block: defaults.block,
            reusable: i32::from(defaults.reusable),
            aggressive: i32::from(defaults.aggressive),
        }
    }
}

/// Properties of a preconditioner.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgPreconditionerReport {
    /// What it is, a `clinalg_preconditioner`.
    pub kind: u32,
    /// Not 0 where ILU has permuted rows.
    pub is_matched: i32,
    /// Rows and columns.
    pub rows: usize,
    /// Stored entries: of the factors, of G for FSAI, of the diagonal for SPAI-0, of the matrices of all levels for algebraic multigrid; 0
    /// for SSOR.
    pub entries: usize,
    /// Levels of the lower triangular system, each of which takes one step; 0 without such a system. Of a complete factorisation the
    /// depths of the tree of its fronts.
    pub lower_levels: usize,
    /// Levels of the upper triangular system.
    pub upper_levels: usize,
    /// The factors of IC are those of A + shift diag(A).
    pub shift: f64,
}

/// Levels, sizes and complexities of algebraic multigrid.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgAmgReport {
    /// Number of levels.
    pub levels: usize,
    /// Entries of the matrices of all levels over those of the finest.
    pub operator_complexity: f64,
    /// Rows of all levels over those of the finest.
    pub grid_complexity: f64,
    /// Bytes of matrices and vectors on the device.
    pub bytes: u64,
    /// Number of near-null vectors that the matrix maps to zero; 0 unless it is singular.
    pub null_vectors: usize,
    /// Seconds of the set-up, or of the last refill.
    pub seconds: f64,
    /// Not 0 where the coarsest level is solved by a dense inverse, 0 where the smoother takes its place.
    pub direct: i32,
    /// How coarser levels are made, a `clinalg_amg_coarsening`: aggregation or classical.
    pub coarsening: u32,
}

/// A level of algebraic multigrid.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgAmgLevel {
    /// Rows of its matrix.
    pub rows: usize,
    /// Stored entries of its matrix.
    pub entries: usize,
    /// Stored entries of the prolongator to it from the next coarser level; 0 on the coarsest.
    pub prolongator_entries: usize,
}

impl ClinalgPreconditionerOptions {
    fn params(&self) -> Result<PreconditionerParams, Fault> {
        let ordering = choice(
            "ordering",
            self.ordering,
            &[
                (ClinalgOrdering::Default, None),
                (ClinalgOrdering::Natural, Some(Ordering::Natural)),
                (ClinalgOrdering::Multicolour, Some(Ordering::Multicolour)),
                (ClinalgOrdering::CuthillMckee, Some(Ordering::CuthillMcKee)),
            ],
        )?;
        let matching = choice(
            "matching",
            self.matching,
            &[
                (ClinalgMatching::WhereNeeded, Matching::WhereNeeded),
                (ClinalgMatching::Never, Matching::Never),
                (ClinalgMatching::Always, Matching::Always),
            ],
        )?;
        let ilu = |kind| {
            let params = IluParams::default().kind(kind).matching(matching).sweeps(self.sweeps);
            PreconditionerParams::Ilu(ordering.map_or(params, |ordering| params.ordering(ordering)))
        };
        let known = [
            (ClinalgPreconditioner::Ilu, PreconditionerKind::Ilu),
            (ClinalgPreconditioner::Ilut, PreconditionerKind::Ilut),
            (ClinalgPreconditioner::Ic, PreconditionerKind::Cholesky),
            (ClinalgPreconditioner::Ssor, PreconditionerKind::Ssor),
            (ClinalgPreconditioner::Spai0, PreconditionerKind::Spai0),
            (ClinalgPreconditioner::Fsai, PreconditionerKind::Fsai),
            (ClinalgPreconditioner::Jacobi, PreconditionerKind::Jacobi),
            (ClinalgPreconditioner::Lu, PreconditionerKind::Lu),
        ];
        Ok(match choice("kind", self.kind, &known)? {
            PreconditionerKind::Ilut => ilu(IluKind::Threshold { drop: self.drop, fill: self.fill }),
            PreconditionerKind::Cholesky => {
                let params = CholeskyParams::default().ordering(ordering.unwrap_or_default()).sweeps(self.sweeps);
                // NaN is left to the check of the parameters.
                PreconditionerParams::Cholesky(if self.shift < 0.0 { params } else { params.shift(self.shift) })
            }
            PreconditionerKind::Ssor => {
                let params = SsorParams::default().omega(self.omega);
                PreconditionerParams::Ssor(ordering.map_or(params, |ordering| params.ordering(ordering)))
            }
            PreconditionerKind::Spai0 => PreconditionerParams::Spai0,
            PreconditionerKind::Fsai => PreconditionerParams::Fsai,
            PreconditionerKind::Jacobi => PreconditionerParams::Jacobi,
            PreconditionerKind::Lu => PreconditionerParams::Complete(FactorsParams::default()),
            _ => ilu(IluKind::Zero),
        })
    }
}

impl ClinalgAmgOptions {
    pub(crate) fn params(&self) -> Result<AmgParams, Fault> {
        let steps = self.smoother_steps;
        let smoothers = [
            (ClinalgAmgSmoother::Chebyshev, Smoother::Chebyshev(steps)),
            (ClinalgAmgSmoother::L1Jacobi, Smoother::L1Jacobi(steps)),
            (ClinalgAmgSmoother::Spai0, Smoother::Spai0(steps)),
            (ClinalgAmgSmoother::GaussSeidel, Smoother::GaussSeidel(steps)),
        ];
        let cycles = [(ClinalgAmgCycle::V, Cycle::V), (ClinalgAmgCycle::W, Cycle::W), (ClinalgAmgCycle::K, Cycle::K)];
        let coarsenings = [
            (ClinalgAmgCoarsening::Auto, Coarsening::Auto),
            (ClinalgAmgCoarsening::Aggregation, Coarsening::Aggregation),
            (ClinalgAmgCoarsening::Classical, Coarsening::Classical),
        ];
        let params = AmgParams::default();
        // NaN is left to the check of the parameters.
        let params = if self.theta < 0.0 { params } else { params.theta(self.theta) };
        Ok(params
            .smoother(choice("smoother", self.smoother, &smoothers)?)
            .cycle(choice("cycle", self.cycle, &cycles)?)
            .coarsening(choice("coarsening", self.coarsening, &coarsenings)?)
            .coarse_size(self.coarse_size)
            .max_levels(self.max_levels)
            .block(self.block)
            .single(self.single != 0)
            .reusable(self.reusable != 0)
            .aggressive(self.aggressive != 0))
    }
}

/// The code of a preconditioner.
fn code(kind: PreconditionerKind) -> u32 {
    let code = match kind {
        PreconditionerKind::Jacobi => ClinalgPreconditioner::Jacobi,
        PreconditionerKind::Ilu => ClinalgPreconditioner::Ilu,
        PreconditionerKind::Ilut => ClinalgPreconditioner::Ilut,
        PreconditionerKind::Cholesky => ClinalgPreconditioner::Ic,
        PreconditionerKind::Ssor => ClinalgPreconditioner::Ssor,
        PreconditionerKind::Spai0 => ClinalgPreconditioner::Spai0,
        PreconditionerKind::Fsai => ClinalgPreconditioner::Fsai,
        PreconditionerKind::Amg => ClinalgPreconditioner::Amg,
        PreconditionerKind::Lu => ClinalgPreconditioner::Lu,
    };
    code as u32
}

/// The defaults: ILU(0) in the order of the matrix. `struct_size` is `sizeof(clinalg_preconditioner_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_preconditioner_options_default(
    options: *mut ClinalgPreconditionerOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// A preconditioner of a sparse matrix, real or complex: an operator whose product, by `clinalg_matrix_mv`, applies its inverse, for
/// `clinalg_solver_options.inverse`. It does not refer to the matrix afterwards; for other values make another one. IC and FSAI need a Hermitian matrix;
/// for any other the status is `CLINALG_STATUS_VALUE`.
///
/// # Safety
/// `options` names as many bytes as its first member says; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_preconditioner_create(
    options: *const ClinalgPreconditionerOptions,
    a: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| {
        // SAFETY: by the contract above.
        let params = unsafe { read(options)? }.params()?;
        Ok(Registry::global().preconditioner(a, &params)?)
    })
}

/// What is known of a preconditioner of `clinalg_preconditioner_create` or `clinalg_amg_create`.
///
/// # Safety
/// `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_preconditioner_info(
    preconditioner: ClinalgHandle,
    report: *mut ClinalgPreconditionerReport,
) -> ClinalgStatus {
    guard(|| {
        let info = Registry::global().preconditioner_info(preconditioner)?;
        let value = ClinalgPreconditionerReport {
            kind: code(info.kind),
            is_matched: i32::from(info.is_matched),
            rows: info.rows,
            entries: info.entries,
            lower_levels: info.levels[0],
            upper_levels: info.levels[1],
            shift: info.shift,
        };
        // SAFETY: by the contract above.
        unsafe { put("report", report, value) }
    })
}

/// The factors of ILU(0) as sparse matrices: `lower`, with ones on its diagonal, and `upper` have entries where the square sparse matrix `a` has,
/// and their product is `a` there. Rows keep their order: a pivot that is zero is `CLINALG_STATUS_VALUE`, with its row in the message, where
/// `clinalg_preconditioner_create` would permute rows.
///
/// # Safety
/// `lower` and `upper` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_incomplete_lu(
    a: ClinalgHandle,
    lower: *mut ClinalgHandle,
    upper: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if lower.is_null() {
            return Err(Fault::Null("lower"));
        }
        if upper.is_null() {
            return Err(Fault::Null("upper"));
        }
        let [first, second] = Registry::global().incomplete_lu(a)?;
        // SAFETY: checked above, and by the contract.
        unsafe {
            put("lower", lower, first)?;
            put("upper", upper, second)
        }
    })
}

/// The factor of IC(0) as a sparse matrix: `lower` has entries where the lower triangle of the Hermitian positive definite sparse matrix `a` has,
/// and its product with its conjugate transpose is A + shift diag(A) there. The upper triangle of `a` is not read. A pivot that is not positive is
/// `CLINALG_STATUS_VALUE`, with its row in the message; a larger shift, such as 1e-3, avoids it.
///
/// # Safety
/// `lower` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_sparse_incomplete_cholesky(
    a: ClinalgHandle,
    shift: f64,
    lower: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if lower.is_null() {
            return Err(Fault::Null("lower"));
        }
        let factor = Registry::global().incomplete_cholesky(a, shift)?;
        // SAFETY: checked above, and by the contract.
        unsafe { put("lower", lower, factor) }
    })
}

/// A preconditioner of one or two sparse triangular matrices, lower or upper, such as the factors above: its product, by `clinalg_matrix_mv`,
/// solves with `first`, then with `second`, which may be 0 for none. It does not refer to them afterwards.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_preconditioner_create_triangular(
    first: ClinalgHandle,
    second: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().triangular_factors(first, (second != 0).then_some(second))?))
}

/// The defaults: V-cycles with Chebyshev iteration of degree 2. `struct_size` is `sizeof(clinalg_amg_options)`.
///
/// # Safety
/// `options` is null or has room for `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_amg_options_default(
    options: *mut ClinalgAmgOptions,
    struct_size: usize,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { put_defaults(options, struct_size) })
}

/// Algebraic multigrid for a sparse matrix, real or complex: an operator whose product, by `clinalg_matrix_mv`, is a cycle, for
/// `clinalg_solver_options.inverse`. `near_null` is a vector or a dense matrix whose columns the matrix nearly maps to zero, such as the
/// rigid body modes for elasticity, of the same type of values; 0 uses constants. A complex matrix is coarsened by aggregation, with the smoothers
/// except Gauss-Seidel; real and imaginary parts count as rows for `options->coarse_size`.
///
/// # Safety
/// `options` names as many bytes as its first member says; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_amg_create(
    options: *const ClinalgAmgOptions,
    a: ClinalgHandle,
    near_null: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| {
        // SAFETY: by the contract above.
        let params = unsafe { read(options)? }.params()?;
        Ok(Registry::global().amg(a, (near_null != 0).then_some(near_null), &params)?)
    })
}

/// Algebraic multigrid for elasticity, as `clinalg_amg_create` with rigid body modes as near-null vectors. `coordinates` has `dim` values
/// (2 or 3) for each of `nodes` nodes, one node after the other; the unknowns of `a` are the displacements of the nodes in the
/// same order. `options->block` is ignored; each node has `dim` unknowns. `CLINALG_STATUS_LENGTH` unless `nodes * dim` is the number of rows of `a`;
/// `CLINALG_STATUS_VALUE` unless `dim` is 2 or 3, and for classical coarsening.
///
/// # Safety
/// `options` names as many bytes as its first member says; `coordinates` has `nodes * dim` values; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_amg_create_with_coordinates(
    options: *const ClinalgAmgOptions,
    a: ClinalgHandle,
    coordinates: *const f64,
    nodes: usize,
    dim: usize,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| {
        // SAFETY: by the contract above.
        let params = unsafe { read(options)? }.params()?;
        let count = nodes.checked_mul(dim).ok_or_else(|| Error::value("nodes", "at most SIZE_MAX / dim", nodes))?;
        // SAFETY: by the contract above.
        let coordinates = unsafe { slice("coordinates", coordinates, count)? };
        Ok(Registry::global().amg_with_coordinates(a, coordinates, dim, &params)?)
    })
}

/// Refills a hierarchy made with `options.reusable` from other values at the positions of its matrix. The
/// aggregates, or the splitting and the pattern of the interpolation of classical coarsening, stay.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_amg_refill(amg: ClinalgHandle, a: ClinalgHandle) -> ClinalgStatus {
    guard(|| Ok(Registry::global().amg_refill(amg, a)?))
}

/// Levels, sizes and complexities of a hierarchy. `levels`, if not null, gets the first `capacity` levels, the finest first;
/// `report->levels` is their number.
///
/// # Safety
/// `report` is null or valid for a write; `levels` is null or has room for `capacity` levels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_amg_info(
    amg: ClinalgHandle,
    report: *mut ClinalgAmgReport,
    levels: *mut ClinalgAmgLevel,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        let found = Registry::global().amg_report(amg)?;
        let value = ClinalgAmgReport {
            levels: found.levels.len(),
            operator_complexity: found.operator_complexity,
            grid_complexity: found.grid_complexity,
            bytes: found.bytes,
            null_vectors: found.null_vectors,
            seconds: found.seconds,
            direct: i32::from(found.direct),
            coarsening: match found.classical {
                true => ClinalgAmgCoarsening::Classical as u32,
                false => ClinalgAmgCoarsening::Aggregation as u32,
            },
        };
        if !levels.is_null() {
            let kept = capacity.min(found.levels.len());
            // SAFETY: by the contract above.
            let room = unsafe { slice_mut("levels", levels, kept)? };
            for (level, room) in found.levels.iter().zip(room) {
                let (rows, entries) = (level.rows, level.nnz);
                *room = ClinalgAmgLevel { rows, entries, prolongator_entries: level.prolongator_nnz };
            }
        }
        // SAFETY: by the contract above.
        unsafe { put("report", report, value) }
    })
}

/// About the factor by which a single cycle reduces the error, for the matrix of the hierarchy: below 0.2 is good; near 1 the hierarchy does not
/// suit the matrix.
///
/// # Safety
/// `result` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_amg_convergence_factor(
    amg: ClinalgHandle,
    a: ClinalgHandle,
    result: *mut f64,
) -> ClinalgStatus {
    guard(|| {
        if result.is_null() {
            return Err(Fault::Null("result"));
        }
        let factor = Registry::global().amg_convergence_factor(amg, a)?;
        // SAFETY: by the contract above.
        unsafe { put("result", result, factor) }
    })
}
