//! The components of multigrid on handles: grids of n x n points of the unit square, boundary points included.

use crate::object::ClinalgHandle;
use crate::operation::into;
use crate::status::ClinalgStatus;

/// `sweeps` sweeps of Jacobi, weighted with `omega`, from u for -Laplace_h u = f. out may be u; out = 0 makes a new grid.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_multigrid_jacobi(
    u: ClinalgHandle,
    f: ClinalgHandle,
    out: *mut ClinalgHandle,
    sweeps: usize,
    omega: f64,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.jacobi(u, f, given, sweeps, omega))
}

/// `sweeps` sweeps of red-black Gauss-Seidel from u for -Laplace_h u = f. out may be u; out = 0 makes a new grid.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_multigrid_red_black(
    u: ClinalgHandle,
    f: ClinalgHandle,
    out: *mut ClinalgHandle,
    sweeps: usize,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.red_black(u, f, given, sweeps))
}

/// out = f + Laplace_h u, 0 on the boundary; out = 0 makes a new grid.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_multigrid_defect(
    u: ClinalgHandle,
    f: ClinalgHandle,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.defect(u, f, given))
}

/// Bilinear interpolation of n x n points to 2n - 1 by 2n - 1; out = 0 makes a new grid.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_multigrid_interpolate(
    coarse: ClinalgHandle,
    out: *mut ClinalgHandle,
) -> ClinalgStatus {
    into("out", out, |registry, given| registry.interpolate(coarse, given))
}

/// Full weighting of 2n - 1 by 2n - 1 points to n x n; out = 0 makes a new grid.
///
/// # Safety
/// `out` is null or valid for reading and writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_multigrid_restrict(fine: ClinalgHandle, out: *mut ClinalgHandle) -> ClinalgStatus {
    into("out", out, |registry, given| registry.restrict(fine, given))
}
