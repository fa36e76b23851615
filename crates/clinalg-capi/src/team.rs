//! Teams of devices.

use std::ffi::c_void;

use clinalg::Error;
use clinalg_handles::Registry;

use crate::callback::{ClinalgProgress, progress as callback};
use crate::object::{ClinalgHandle, upload};
use crate::options::{given, read};
use crate::poisson::{ClinalgPoissonOptions, ClinalgPoissonReport, results};
use crate::preconditioner::ClinalgAmgOptions;
use crate::status::{ClinalgStatus, Fault, guard};
use crate::wave::{ClinalgWaveOptions, make};
use crate::{put, slice, slice_mut};

/// A team of the devices of these indices (from 0 on, below the number that `clinalg_device_count` gives), in the order of their ranks. They share
/// the work of what is made on the team. `clinalg_object_release` releases it; what was made on it lives on.
///
/// # Safety
/// `devices` names `count` values; `team` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_team_create(
    devices: *const usize,
    count: usize,
    team: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if team.is_null() {
            return Err(Fault::Null("team"));
        }
        // SAFETY: by the contract above.
        unsafe {
            let made = Registry::global().team(slice("devices", devices, count)?)?;
            put("team", team, made)
        }
    })
}

/// The number of devices of a team, and in `devices`, if not null, the first `capacity` of their indices.
///
/// # Safety
/// `count` is null or valid for a write; `devices` is null or has room for `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_team_info(
    team: ClinalgHandle,
    count: *mut usize,
    devices: *mut usize,
    capacity: usize,
) -> ClinalgStatus {
    guard(|| {
        let found = Registry::global().team_devices(team)?;
        // SAFETY: by the contract above.
        unsafe {
            if !devices.is_null() {
                let kept = capacity.min(found.len());
                slice_mut("devices", devices, kept)?.copy_from_slice(&found[..kept]);
            }
            put("count", count, found.len())
        }
    })
}

/// A real sparse matrix with its rows distributed over the devices of a team, about as many entries for each. `clinalg_system_solve` takes it
/// in the place of a matrix, without preconditioner, with `CLINALG_PRECONDITIONER_JACOBI` or with the handle of
/// `clinalg_team_amg_create` in `options.inverse`; b and x are vectors on the current device.
///
/// # Safety
/// `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_team_matrix_create(
    team: ClinalgHandle,
    a: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| Ok(Registry::global().team_matrix(team, a)?))
}

/// Algebraic multigrid for a matrix on a team, as `clinalg_solver_options.inverse` of its solves. `a` is the sparse matrix on one device that `matrix` was made
/// of; nothing of it is kept. The hierarchy is set up on the device of rank 0, whose memory has to hold it meanwhile; then its finer levels are shared
/// out among the devices. Near-null vectors are constants. K-cycles, Gauss-Seidel sweeps, a hierarchy in single precision and a reusable one are errors.
/// `clinalg_amg_info` tells levels and sizes.
///
/// # Safety
/// `options` names as many bytes as its first member says; `handle` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_team_amg_create(
    options: *const ClinalgAmgOptions,
    matrix: ClinalgHandle,
    a: ClinalgHandle,
    handle: *mut ClinalgHandle,
) -> ClinalgStatus {
    upload(handle, |_| {
        // SAFETY: by the contract above.
        let params = unsafe { read(options)? }.params()?;
        Ok(Registry::global().team_amg(matrix, a, &params)?)
    })
}

/// Solves -Laplace u + c u = f on strips of the unit square, or slabs of the unit cube, one for each device of a team, for vectors or dense
/// matrices of one precision. The options are those of a regular grid, see `clinalg_poisson_options`, without a coefficient; `precision` is not read.
/// `*u` holds the values on the boundary and the initial guess on entry and the solution on return. If `*u` is 0, a new object like f is
/// made, and both are zero. The solution after each cycle has the bits of one device. `progress`, `report` and `history` as in
/// `clinalg_poisson_solve`.
///
/// # Safety
/// As `clinalg_poisson_create` and `clinalg_poisson_solve_vector`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_team_solve_poisson(
    options: *const ClinalgPoissonOptions,
    team: ClinalgHandle,
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
        let (options, start) = unsafe { (read(options)?, given("u", u)?) };
        if !options.coefficient.is_null() {
            let expected = "null on several devices; clinalg_poisson_create solves with a coefficient on one device";
            return Err(Error::value("coefficient", expected, "a coefficient").into());
        }
        // SAFETY: by the contract above.
        let grid = unsafe { options.grid()? };
        let mut progress = callback(progress, progress_data);
        let problem = (&grid, &options.params()?);
        let (handle, done) = Registry::global().team_poisson(team, (f, start), problem, &mut progress)?;
        // SAFETY: by the contract above.
        unsafe {
            put("u", u, handle)?;
            results(&done, report, (history, capacity))
        }
    })
}

/// `clinalg_wave_create` on strips of a square, one for each device of a team, for the explicit scheme with one speed. All functions on waves take the
/// handle; grids that they read or write are on the current device. Displacement and velocity have the bits of one device.
///
/// # Safety
/// `options` names as many bytes as its first member says; `wave` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_team_wave_create(
    options: *const ClinalgWaveOptions,
    team: ClinalgHandle,
    wave: *mut ClinalgHandle,
) -> ClinalgStatus {
    // SAFETY: by the contract above.
    guard(|| unsafe { make(&read(options)?, Some(team), wave) })
}
