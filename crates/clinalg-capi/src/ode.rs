//! Initial value problems.
//!
//! Their handles are of this module alone: nothing of them is on a device between calls.

use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use clinalg::{Context, Error, HandleFault};
use clinalg_ode::integrate::{Norm, Options};
use clinalg_ode::ivp::{Settings, Solution, solve};
use clinalg_ode::problems::{Problem, problem};
use clinalg_ode::{System, Variant};

use crate::object::{ClinalgHandle, ClinalgPrecision, precision_of};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice, slice_mut, text};

/// How the error of a step is measured.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgOdeNorm {
    /// Root of the mean square over the components.
    Rms = 0,
    /// Largest component.
    Max = 1,
}

/// Tolerances and steps; fill it with `clinalg_ode_options_default` first.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgOdeOptions {
    /// Relative tolerance, at least 0.
    pub relative: f64,
    /// Absolute tolerance, at least 0; one of both must be above 0.
    pub absolute: f64,
    /// Norm of the error, a `clinalg_ode_norm`.
    pub norm: u32,
    /// What is computed with, a `clinalg_precision`.
    pub precision: u32,
    /// Steps of this size at most, all equal between stops, instead of such that follow the error; 0 for the latter.
    pub fixed_step: f64,
    /// First step; 0 finds one.
    pub first_step: f64,
    /// Largest step.
    pub largest_step: f64,
    /// Most steps, rejected ones counted.
    pub step_limit: usize,
}

/// What an integration took.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgOdeReport {
    /// Time reached.
    pub t: f64,
    /// Steps taken.
    pub accepted: usize,
    /// Steps tried and thrown away.
    pub rejected: usize,
    /// Evaluations of the right-hand side by the method.
    pub rhs_evaluations: usize,
    /// Smallest step taken.
    pub smallest_step: f64,
    /// Largest step taken.
    pub largest_step: f64,
}

/// What a handle of this module names.
#[derive(Clone)]
struct Ode {
    system: System,
    /// Initial values and times, of the test problems.
    problem: Option<Problem>,
}

/// The systems by handle. Numbers are never used again, so that a released handle stays one.
#[derive(Default)]
struct Table {
    last: u64,
    all: HashMap<u64, Arc<Ode>>,
}

/// First of the numbers of this module: a kind of object that the registry of the core does not have.
const FIRST: ClinalgHandle = 0xEF << 56;

fn table() -> MutexGuard<'static, Table> {
    static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn insert(ode: Ode) -> ClinalgHandle {
    let mut table = table();
    table.last += 1;
    let handle = FIRST + table.last;
    table.all.insert(handle, Arc::new(ode));
    handle
}

fn unknown(table: &Table, handle: ClinalgHandle) -> Fault {
    let released = handle > FIRST && handle <= FIRST + table.last;
    let fault = if released { HandleFault::Stale } else { HandleFault::Foreign };
    Fault::Library(Error::Handle {
        argument: "ode",
        handle,
        fault,
        expected: "system of differential equations".into(),
    })
}

fn get(handle: ClinalgHandle) -> Result<Arc<Ode>, Fault> {
    let table = table();
    table.all.get(&handle).cloned().ok_or_else(|| unknown(&table, handle))
}

/// Makes a test problem: `name` is one of those that `clinalg ode --list` prints, `n` the number of points along each axis.
/// `clinalg_ode_release` frees it.
///
/// # Safety
/// `name` is a text that ends in zero, `ode` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_problem(name: *const c_char, n: usize, ode: *mut ClinalgHandle) -> ClinalgStatus {
    guard(|| {
        if ode.is_null() {
            return Err(Fault::Null("ode"));
        }
        // SAFETY: by the contract above.
        let problem = problem(&unsafe { text("name", name)? }, n)?;
        let handle = insert(Ode { system: problem.system.clone(), problem: Some(problem) });
        // SAFETY: by the contract above.
        unsafe { put("ode", ode, handle) }
    })
}

/// Makes a system of equations from a description: a statement a line, such as `grid 100`, `parameter a = 2`,
/// `boundary periodic` and `u' = a*(u[-1] - 2*u + u[1])`; the guide lists them all. `data` has the numbers for its
/// `data_count` lines `data name`, one for each point, one line after the other; it may be null where there is none.
/// A formula that cannot be read is an error that names the column. `clinalg_ode_release` frees it.
///
/// # Safety
/// `description` is a text that ends in zero, `data` names `data_length` values, `ode` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_system(
    description: *const c_char,
    data: *const f64,
    data_length: usize,
    data_count: usize,
    ode: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if ode.is_null() {
            return Err(Fault::Null("ode"));
        }
        // SAFETY: by the contract above.
        let (description, data) = unsafe { (text("description", description)?, slice("data", data, data_length)?) };
        if data_count > data_length || !data_length.is_multiple_of(data_count.max(1)) {
            let expected = format!("a multiple of {data_count} numbers");
            return Err(Error::Value { argument: "data_length", expected, got: data_length.to_string() }.into());
        }
        let parts: Vec<Vec<f64>> = match data_count {
            0 => Vec::new(),
            count => data.chunks(data_length / count).map(<[f64]>::to_vec).collect(),
        };
        let system = System::from_text(&description, &parts)?;
        let handle = insert(Ode { system, problem: None });
        // SAFETY: by the contract above.
        unsafe { put("ode", ode, handle) }
    })
}

/// Makes a system whose derivatives are given in OpenCL C: `body` is the body of a function that returns the derivative of
/// component `I` at time `T` of `N` components, with `Y(j)` for component j. It reads no component further than `distance`
/// from `I`; `clinalg_ode_solve` fails if it does. `functions`, which may be null, stands before it.
///
/// # Safety
/// `body` and `functions` are texts that end in zero, the latter or null; `ode` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_snippet(
    components: usize,
    body: *const c_char,
    functions: *const c_char,
    distance: usize,
    ode: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if ode.is_null() {
            return Err(Fault::Null("ode"));
        }
        // SAFETY: by the contract above.
        let mut snippet = System::snippet(components, unsafe { text("body", body)? }, distance);
        if !functions.is_null() {
            // SAFETY: by the contract above.
            snippet = snippet.functions(unsafe { text("functions", functions)? });
        }
        let handle = insert(Ode { system: snippet.build()?, problem: None });
        // SAFETY: by the contract above.
        unsafe { put("ode", ode, handle) }
    })
}

/// Frees a system of equations.
#[unsafe(no_mangle)]
pub extern "C" fn clinalg_ode_release(ode: ClinalgHandle) -> ClinalgStatus {
    guard(|| {
        let mut table = table();
        match table.all.remove(&ode) {
            Some(_) => Ok(()),
            None => Err(unknown(&table, ode)),
        }
    })
}

/// Changes a parameter; calls of `clinalg_ode_solve` that run keep the old value.
///
/// # Safety
/// `name` is a text that ends in zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_set_parameter(
    ode: ClinalgHandle,
    name: *const c_char,
    value: f64,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let name = unsafe { text("name", name)? };
        let mut table = table();
        let Some(entry) = table.all.get_mut(&ode) else { return Err(unknown(&table, ode)) };
        Ok(Arc::make_mut(entry).system.set_parameter(&name, value)?)
    })
}

/// The number of fields and of points, whose product is the number of components, and how far apart in memory a formula
/// reads. Each pointer may be null.
///
/// # Safety
/// The pointers are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_shape(
    ode: ClinalgHandle,
    fields: *mut usize,
    points: *mut usize,
    access_distance: *mut usize,
) -> ClinalgStatus {
    guard(|| {
        let ode = get(ode)?;
        let system = &ode.system;
        let values = [system.fields().len(), system.grid().points(), system.access_distance()];
        for (pointer, value) in [fields, points, access_distance].into_iter().zip(values) {
            if !pointer.is_null() {
                // SAFETY: by the contract above.
                unsafe { pointer.write(value) };
            }
        }
        Ok(())
    })
}

/// The initial values of a test problem, all points of the first field first, and its usual interval of time. `t0` and
/// `t_end` may be null. An error for other systems.
///
/// # Safety
/// `y0` has room for `components` values; `t0` and `t_end` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_initial(
    ode: ClinalgHandle,
    y0: *mut f64,
    components: usize,
    t0: *mut f64,
    t_end: *mut f64,
) -> ClinalgStatus {
    guard(|| {
        let ode = get(ode)?;
        let Some(problem) = &ode.problem else {
            let expected = "a test problem made by clinalg_ode_problem".into();
            return Err(
                Error::Value { argument: "ode", expected, got: "a system without initial values".into() }.into()
            );
        };
        // SAFETY: by the contract above.
        let target = unsafe { slice_mut("y0", y0, components)? };
        if components != problem.y0.len() {
            return Err(Error::Length { argument: "y0", expected: problem.y0.len(), got: components }.into());
        }
        target.copy_from_slice(&ode.system.by_fields(&problem.y0));
        for (pointer, value) in [(t0, problem.t0), (t_end, problem.t_end)] {
            if !pointer.is_null() {
                // SAFETY: by the contract above.
                unsafe { pointer.write(value) };
            }
        }
        Ok(())
    })
}

/// The defaults: tolerances 1e-6 and 1e-9, root mean square, double precision, steps that follow the error.
///
/// # Safety
/// `options` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_options_default(options: *mut ClinalgOdeOptions) -> ClinalgStatus {
    let defaults = Options::default();
    let value = ClinalgOdeOptions {
        relative: defaults.relative,
        absolute: defaults.absolute,
        norm: ClinalgOdeNorm::Rms as u32,
        precision: ClinalgPrecision::F64 as u32,
        fixed_step: 0.0,
        first_step: 0.0,
        largest_step: defaults.largest_step,
        step_limit: defaults.step_limit,
    };
    // SAFETY: by the contract above.
    guard(|| unsafe { put("options", options, value) })
}

/// Integrates on the current device from `times[0]`, where the solution is `y0`, and gives the solution at each of the
/// `count` times, at least two that increase: `y` has room for `count` times `components` values, one time after
/// the other, the first being `y0` again. Components are all points of the first field, then those of the next.
///
/// `method` is a name such as "dopri54" (null for this one) or "rk4", `variant` how it becomes kernels (null for "auto").
/// `report` may be null. Jumps of test problems in time are steps' ends. What fails leaves `y` as it was.
///
/// # Safety
/// `method` and `variant` are null or texts that end in zero; `options` is valid for reading; `times` names `count` values,
/// `y0` names `components`; `y` has the room said; `report` is null or valid for a write.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_ode_solve(
    ode: ClinalgHandle,
    method: *const c_char,
    variant: *const c_char,
    options: *const ClinalgOdeOptions,
    times: *const f64,
    count: usize,
    y0: *const f64,
    components: usize,
    y: *mut f64,
    report: *mut ClinalgOdeReport,
) -> ClinalgStatus {
    guard(|| {
        if options.is_null() {
            return Err(Fault::Null("options"));
        }
        let ode = get(ode)?;
        // SAFETY: by the contract above.
        let (asked, times, y0) = unsafe { (*options, slice("times", times, count)?, slice("y0", y0, components)?) };
        // An array of `count` times `components` values has a length that fits only where both products do.
        let room = count.checked_mul(components).ok_or_else(|| crate::too_many("y"))?;
        // SAFETY: by the contract above.
        let target = unsafe { slice_mut("y", y, room)? };
        let norms = [(ClinalgOdeNorm::Rms as u32, Norm::Rms), (ClinalgOdeNorm::Max as u32, Norm::Max)];
        let positive = |v: f64| (v != 0.0).then_some(v);
        let options = Options {
            relative: asked.relative,
            absolute: asked.absolute,
            norm: choice("norm", asked.norm, &norms)?,
            fixed_step: positive(asked.fixed_step),
            first_step: positive(asked.first_step),
            largest_step: asked.largest_step,
            step_limit: asked.step_limit,
            stops: ode.problem.as_ref().map(|p| p.stops.clone()).unwrap_or_default(),
            ..Options::default()
        };
        let mut settings = Settings { precision: precision_of(asked.precision)?, options, ..Settings::default() };
        if !method.is_null() {
            // SAFETY: by the contract above.
            settings.method = unsafe { text("method", method)? }.into_owned();
        }
        if !variant.is_null() {
            // SAFETY: by the contract above.
            settings.variant = Variant::named(&unsafe { text("variant", variant)? })?;
        }
        let Solution { y, report: done, .. } = solve(&Context::global()?, &ode.system, times, y0, &settings)?;
        target.copy_from_slice(&y);
        if report.is_null() {
            return Ok(());
        }
        let value = ClinalgOdeReport {
            t: done.t,
            accepted: done.accepted,
            rejected: done.rejected,
            rhs_evaluations: done.rhs_evaluations,
            smallest_step: done.smallest_step,
            largest_step: done.largest_step,
        };
        // SAFETY: by the contract above.
        unsafe { put("report", report, value) }
    })
}
