//! Initial value problems.
//!
//! Their handles are of this module alone: nothing of them is on a device between calls.

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use clinalg::registry::{Kind, Object, Operand, Registry, Scalar};
use clinalg::{Context, Error, HandleFault, Precision};
use clinalg_ode::integrate::{Direction, Norm, Options, Report};
use clinalg_ode::ivp::{Settings, Solution, Step, run, solve, solve_on_device};
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

impl From<&Report> for ClinalgOdeReport {
    fn from(done: &Report) -> ClinalgOdeReport {
        ClinalgOdeReport {
            t: done.t,
            accepted: done.accepted,
            rejected: done.rejected,
            rhs_evaluations: done.rhs_evaluations,
            smallest_step: done.smallest_step,
            largest_step: done.largest_step,
        }
    }
}

/// Which way an event's formula passes through zero.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClinalgOdeDirection {
    /// Either way.
    Any = 0,
    /// From below 0 to above.
    Rising = 1,
    /// From above 0 to below.
    Falling = 2,
}

/// The step that `clinalg_ode_run` took last; valid in the call of the function that is given it.
pub struct ClinalgOdeStep {
    /// A `&mut dyn Step`.
    step: *mut c_void,
}

/// A function that `clinalg_ode_run` calls after every step, with the pointer it was given; other than 0 to go on.
pub type ClinalgOdeSee = Option<unsafe extern "C" fn(step: *mut ClinalgOdeStep, data: *mut c_void) -> i32>;

/// What a handle of this module names.
#[derive(Clone)]
struct Ode {
    system: System,
    /// Absolute tolerances of the components, by fields; none where they are that of the options.
    absolute_each: Vec<f64>,
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
        let handle = insert(Ode { system: problem.system.clone(), absolute_each: Vec::new(), problem: Some(problem) });
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
        let handle = insert(Ode { system, absolute_each: Vec::new(), problem: None });
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
        let handle = insert(Ode { system: snippet.build()?, absolute_each: Vec::new(), problem: None });
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

/// Adds an event: the times at which `formula`, of the time, coordinates, parameters and fields at grid point `point`, passes
/// zero in the direction, a `clinalg_ode_direction`. Other than 0 as `terminal` ends integrations there. Events are
/// numbered from 0; those of lines `event` of a description come first. The zero is found on the interpolant of the step; signs are
/// compared at the ends of steps.
///
/// # Safety
/// `formula` is a text that ends in zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_add_event(
    ode: ClinalgHandle,
    formula: *const c_char,
    point: usize,
    direction: u32,
    terminal: i32,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let formula = unsafe { text("formula", formula)? };
        let directions = [
            (ClinalgOdeDirection::Any as u32, Direction::Any),
            (ClinalgOdeDirection::Rising as u32, Direction::Rising),
            (ClinalgOdeDirection::Falling as u32, Direction::Falling),
        ];
        let direction = choice("direction", direction, &directions)?;
        let mut table = table();
        let Some(entry) = table.all.get_mut(&ode) else { return Err(unknown(&table, ode)) };
        Ok(Arc::make_mut(entry).system.add_event(&formula, point, direction, terminal != 0)?)
    })
}

/// Absolute tolerances of the components, all points of the first field first, in the place of that of the options; none
/// (`components` is 0) takes the one of the options again.
///
/// # Safety
/// `absolute` names `components` values, or is null where that is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_set_tolerances(
    ode: ClinalgHandle,
    absolute: *const f64,
    components: usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let absolute = unsafe { slice("absolute", absolute, components)? };
        let mut table = table();
        let Some(entry) = table.all.get_mut(&ode) else { return Err(unknown(&table, ode)) };
        let expected = entry.system.components();
        if components != 0 && components != expected {
            return Err(Error::Length { argument: "absolute", expected, got: components }.into());
        }
        Arc::make_mut(entry).absolute_each = absolute.to_vec();
        Ok(())
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
/// `report` may be null. Jumps of test problems in time are steps' ends. Where a terminal event ended the integration, the solution
/// there follows those at the times before, and NaN fills the rest. What fails leaves `y` as it was.
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
        // SAFETY: by the contract above.
        let settings = unsafe { settings(&ode, &asked, method, variant)? };
        let Solution { y, report: done, .. } = solve(&Context::global()?, &ode.system, times, y0, &settings)?;
        let (reached, after) = target.split_at_mut(y.len());
        reached.copy_from_slice(&y);
        after.fill(f64::NAN);
        // SAFETY: by the contract above.
        unsafe { tell(report, &done) };
        Ok(())
    })
}

/// # Safety
/// `report` is null or valid for a write.
unsafe fn tell(report: *mut ClinalgOdeReport, done: &Report) {
    if !report.is_null() {
        // SAFETY: by the contract above.
        unsafe { report.write(done.into()) };
    }
}

/// # Safety
/// `method` and `variant` are null or texts that end in zero.
unsafe fn settings(
    ode: &Ode,
    asked: &ClinalgOdeOptions,
    method: *const c_char,
    variant: *const c_char,
) -> Result<Settings, Fault> {
    let norms = [(ClinalgOdeNorm::Rms as u32, Norm::Rms), (ClinalgOdeNorm::Max as u32, Norm::Max)];
    let positive = |v: f64| (v != 0.0).then_some(v);
    let options = Options {
        relative: asked.relative,
        absolute: asked.absolute,
        absolute_each: ode.absolute_each.clone(),
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
    Ok(settings)
}

/// Integrates on the current device from `t0`, where the solution is `y0`, to `t_end` and calls `see` after every step, with
/// `data`; where it returns 0 the integration ends there. In `see`, `clinalg_ode_step_info` tells about the step,
/// `clinalg_ode_step_at` gives the solution at any time inside of it and `clinalg_ode_step_events` the events. `y` gets the solution
/// where the integration ended, `report` when that was. Otherwise as `clinalg_ode_solve`.
///
/// # Safety
/// As `clinalg_ode_solve`; `y` has room for `components` values; `see` may be called with `data` from this thread.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_ode_run(
    ode: ClinalgHandle,
    method: *const c_char,
    variant: *const c_char,
    options: *const ClinalgOdeOptions,
    t0: f64,
    t_end: f64,
    y0: *const f64,
    components: usize,
    see: ClinalgOdeSee,
    data: *mut c_void,
    y: *mut f64,
    report: *mut ClinalgOdeReport,
) -> ClinalgStatus {
    guard(|| {
        if options.is_null() {
            return Err(Fault::Null("options"));
        }
        let Some(see) = see else { return Err(Fault::Null("see")) };
        let ode = get(ode)?;
        // SAFETY: by the contract above.
        let (settings, y0) = unsafe { (settings(&ode, &*options, method, variant)?, slice("y0", y0, components)?) };
        // SAFETY: by the contract above.
        let target = unsafe { slice_mut("y", y, components)? };
        let mut call = |mut step: &mut dyn Step| {
            let mut view = ClinalgOdeStep { step: (&raw mut step).cast() };
            // SAFETY: by the contract above; `view` is valid until the call returns.
            Ok(unsafe { see(&raw mut view, data) } != 0)
        };
        let solution = run(&Context::global()?, &ode.system, [t0, t_end], y0, &settings, &mut call)?;
        target.copy_from_slice(&solution.y[solution.y.len() - components..]);
        // SAFETY: by the contract above.
        unsafe { tell(report, &solution.report) };
        Ok(())
    })
}

/// # Safety
/// `step` is null or what `clinalg_ode_run` gave to the function that runs.
unsafe fn seen<'s>(step: *mut ClinalgOdeStep) -> Result<&'s mut &'s mut dyn Step, Fault> {
    if step.is_null() {
        return Err(Fault::Null("step"));
    }
    // SAFETY: by the contract above it points to one that `clinalg_ode_run` made from a `&mut &mut dyn Step`.
    Ok(unsafe { &mut *(*step).step.cast::<&mut dyn Step>() })
}

/// Where a step began and ended, and what the integration did up to its end. Each pointer but `step` may be null.
///
/// # Safety
/// `step` is what the function that calls this was given; the other pointers are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_step_info(
    step: *mut ClinalgOdeStep,
    begin: *mut f64,
    end: *mut f64,
    report: *mut ClinalgOdeReport,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let step = unsafe { seen(step)? };
        for (pointer, value) in [(begin, step.begin()), (end, step.end())] {
            if !pointer.is_null() {
                // SAFETY: by the contract above.
                unsafe { pointer.write(value) };
            }
        }
        // SAFETY: by the contract above.
        unsafe { tell(report, step.report()) };
        Ok(())
    })
}

/// The solution at a time from the step's beginning to its end, interpolated to at least third order.
///
/// # Safety
/// `step` is what the function that calls this was given; `y` has room for `components` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_step_at(
    step: *mut ClinalgOdeStep,
    t: f64,
    y: *mut f64,
    components: usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let (step, target) = unsafe { (seen(step)?, slice_mut("y", y, components)?) };
        let values = step.at(t)?;
        if values.len() != components {
            return Err(Error::Length { argument: "y", expected: values.len(), got: components }.into());
        }
        target.copy_from_slice(&values);
        Ok(())
    })
}

/// Numbers and times of the events inside a step, the first `room` of them in the order of their times; `count` gets how many there
/// are.
///
/// # Safety
/// `step` is what the function that calls this was given; `events` and `times` have room for `room` values; `count` is valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_step_events(
    step: *mut ClinalgOdeStep,
    room: usize,
    events: *mut usize,
    times: *mut f64,
    count: *mut usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let step = unsafe { seen(step)? };
        // SAFETY: by the contract above.
        let (events, times) = unsafe { (slice_mut("events", events, room)?, slice_mut("times", times, room)?) };
        let found = step.events();
        for (k, occurrence) in found.iter().take(room).enumerate() {
            (events[k], times[k]) = (occurrence.event, occurrence.t);
        }
        // SAFETY: by the contract above.
        unsafe { put("count", count, found.len()) }
    })
}

/// Integrates from `t0`, where the solution is the vector `y0` on the device, to `t_end`, where it is written to the vector `y`,
/// another one of the same precision, which is what is computed in. Only numbers for the control of the steps pass through the
/// host. Components stand in the system's own order in memory: that of the fields where the description says
/// `layout field-wise`. Otherwise as `clinalg_ode_solve`; what OpenCL C reads is not checked.
///
/// # Safety
/// `method` and `variant` are null or texts that end in zero; `options` is valid for reading; `report` is null or valid for a
/// write.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments")]
pub unsafe extern "C" fn clinalg_ode_solve_vector(
    ode: ClinalgHandle,
    method: *const c_char,
    variant: *const c_char,
    options: *const ClinalgOdeOptions,
    t0: f64,
    t_end: f64,
    y0: ClinalgHandle,
    y: ClinalgHandle,
    report: *mut ClinalgOdeReport,
) -> ClinalgStatus {
    guard(|| {
        if options.is_null() {
            return Err(Fault::Null("options"));
        }
        let ode = get(ode)?;
        // SAFETY: by the contract above.
        let settings = unsafe { settings(&ode, &*options, method, variant)? };
        let operand = |name, handle| Operand::new(name, handle, &[Kind::Vector]);
        let done = Registry::global().call(&[operand("y0", y0)], Some(operand("y", y)), |inputs, output| {
            let output = output.expect("there is one");
            match inputs[0].precision() {
                Precision::F32 => on_device::<f32>(&ode.system, [t0, t_end], inputs[0], output, &settings),
                Precision::F64 => on_device::<f64>(&ode.system, [t0, t_end], inputs[0], output, &settings),
            }
        })??;
        // SAFETY: by the contract above.
        unsafe { tell(report, &done) };
        Ok(())
    })
}

/// The errors of the objects outside, those of the integration inside.
fn on_device<T: Scalar>(
    system: &System,
    span: [f64; 2],
    y0: &Object,
    y: &mut Object,
    settings: &Settings,
) -> clinalg::Result<clinalg_ode::Result<Report>> {
    let (y0, y) = (y0.stored::<T>("y0")?.vector("y0")?, y.stored_mut::<T>("y")?.vector_mut("y")?);
    Ok(solve_on_device(system, span, y0, y, settings))
}
