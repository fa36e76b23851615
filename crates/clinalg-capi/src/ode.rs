//! Initial value problems.

use std::ffi::{c_char, c_void};

use clinalg::{Context, Error};
use clinalg_handles::{Ode, Registry};
use clinalg_ode::System;
use clinalg_ode::integrate::{Direction, Report};
use clinalg_ode::ivp::{Solution, Step, run, solve};
use clinalg_ode::problems::problem;

use crate::object::ClinalgHandle;
use crate::ode_options::{ClinalgOdeOptions, settings};
use crate::status::{ClinalgStatus, Fault, guard};
use crate::{choice, put, slice, slice_mut, text};

/// Steps and evaluations of an integration.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClinalgOdeReport {
    /// Time reached.
    pub t: f64,
    /// Steps taken.
    pub accepted: usize,
    /// Steps rejected.
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

/// The direction in which an event's formula passes through zero.
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

/// The last step of `clinalg_ode_solve_with`; valid only during the callback that receives it.
pub struct ClinalgOdeStep {
    /// A `&mut dyn Step`.
    step: *mut c_void,
}

/// A function that `clinalg_ode_solve_with` calls after every step, with the pointer passed to it; 0 continues, another number ends the
/// integration. It must return: a C++ exception that leaves it ends the process. `clinalg::Ode::run` of clinalg.hpp passes exceptions on.
pub type ClinalgOdeWatch = Option<unsafe extern "C" fn(step: *mut ClinalgOdeStep, data: *mut c_void) -> i32>;

/// Creates a test problem: `name` is one of those that `clinalg ode --list` prints, `n` the number of points along each axis.
/// `clinalg_object_release` releases it.
///
/// # Safety
/// `name` is a text that ends in zero, `ode` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_create_problem(
    name: *const c_char,
    n: usize,
    ode: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if ode.is_null() {
            return Err(Fault::Null("ode"));
        }
        // SAFETY: by the contract above.
        let problem = problem(unsafe { text("name", name)? }, n)?;
        let handle = Registry::global().ode(Ode {
            system: problem.system.clone(),
            absolute_each: Vec::new(),
            problem: Some(problem),
        });
        // SAFETY: by the contract above.
        unsafe { put("ode", ode, handle) }
    })
}

/// Creates a system of equations from a description: one statement per line, such as `grid 100`, `parameter a = 2`,
/// `boundary periodic` and `u' = a*(u[-1] - 2*u + u[1])`; the guide lists them all. `data` has the numbers for its
/// `data_count` lines `data name`, one for each point, one line after the other; it may be null if there is none.
/// A formula that cannot be parsed is an error that names the column. Powers group from right to left: 2^3^2 is 512.
/// `clinalg_object_release` releases it.
///
/// # Safety
/// `description` is a text that ends in zero, `data` names `data_length` values, `ode` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_create(
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
        let system = System::from_text(description, &parts)?;
        let handle = Registry::global().ode(Ode { system, absolute_each: Vec::new(), problem: None });
        // SAFETY: by the contract above.
        unsafe { put("ode", ode, handle) }
    })
}

/// Creates a system whose derivatives are given in OpenCL C: `body` is the body of a function that returns the derivative of
/// component `I` at time `T` of `N` components, with `Y(j)` for component j. It reads no component further than `distance`
/// from `I`; `clinalg_ode_solve` fails if it does. `functions`, which may be null, is placed before it. The text is executed as it is:
/// the caller vouches for it as for the program's own code. It must read components by `Y(j)` alone, for 0 <= j < N, write to no
/// memory except its own variables, divide no integer by 0, and return. For untrusted text use `clinalg_ode_create`, whose
/// formulas are safe.
///
/// # Safety
/// `body` and `functions` are code as said above, in texts that end in zero, the latter or null; `ode` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_create_snippet(
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
        // SAFETY: by the contract above; the caller vouches for the code.
        let mut snippet = unsafe { System::snippet(components, text("body", body)?, distance) };
        if !functions.is_null() {
            // SAFETY: by the contract above.
            snippet = snippet.functions(unsafe { text("functions", functions)? });
        }
        let handle = Registry::global().ode(Ode { system: snippet.build()?, absolute_each: Vec::new(), problem: None });
        // SAFETY: by the contract above.
        unsafe { put("ode", ode, handle) }
    })
}

/// Changes a parameter; running calls of `clinalg_ode_solve` keep the old value.
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
        Ok(Registry::global().change_ode(ode, |ode| ode.system.set_parameter(name, value))??)
    })
}

/// Adds an event: the times at which `formula`, of the time, coordinates, parameters and fields at grid point `point`, passes
/// zero in the direction, a `clinalg_ode_direction`. If `terminal` is not 0, it ends the integration. Events are
/// numbered from 0; those of lines `event` of a description come first. All changes of sign inside a step are found, on its
/// interpolant; a zero where the integration begins is none. The direction is that along the integration.
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
            (ClinalgOdeDirection::Any, Direction::Any),
            (ClinalgOdeDirection::Rising, Direction::Rising),
            (ClinalgOdeDirection::Falling, Direction::Falling),
        ];
        let direction = choice("direction", direction, &directions)?;
        let change = |ode: &mut Ode| ode.system.add_event(formula, point, direction, terminal != 0);
        Ok(Registry::global().change_ode(ode, change)??)
    })
}

/// Absolute tolerances of the components, field by field, in place of that of the options; `components` 0
/// restores that of the options.
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
        Registry::global().change_ode(ode, |ode| {
            let expected = ode.system.components();
            if components != 0 && components != expected {
                return Err(Error::Length { argument: "absolute", expected, got: components });
            }
            ode.absolute_each = absolute.to_vec();
            Ok(())
        })??;
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
        let ode = Registry::global().get_ode(ode)?;
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
        let ode = Registry::global().get_ode(ode)?;
        let Some(problem) = &ode.problem else {
            let expected = "a test problem made by clinalg_ode_create_problem".into();
            return Err(
                Error::Value { argument: "ode", expected, got: "a system without initial values".into() }.into()
            );
        };
        // SAFETY: by the contract above.
        let target = unsafe { slice_mut("y0", y0, components)? };
        let expected = problem.system.components();
        if components != expected {
            return Err(Error::Length { argument: "y0", expected, got: components }.into());
        }
        target.copy_from_slice(&ode.system.by_fields(&problem.y0()?));
        for (pointer, value) in [(t0, problem.t0), (t_end, problem.t_end)] {
            if !pointer.is_null() {
                // SAFETY: by the contract above.
                unsafe { pointer.write(value) };
            }
        }
        Ok(())
    })
}

/// Integrates on the current device from `times[0]`, where the solution is `y0`, and gives the solution at each of the
/// `count` times, at least two, increasing or decreasing: `y` has room for `count` times `components` values, one time after
/// the other, the first being `y0` again. Components are all points of the first field, then those of the next.
///
/// `method` is a name such as "dopri54" (null for this one) or "rk4", or "rkc" for stabilised steps of order 2, which have
/// as many stages as diffusion and the like ask for; an unknown name is an error that lists all. `variant` is the division into kernels (null for "auto").
/// `report` may be null. Steps end at the times of `stop` lines and where a test problem jumps. If a terminal event ends the integration, its solution
/// follows those at the times before, and NaN fills the rest. A failed call does not change `y`.
///
/// # Safety
/// `method` and `variant` are null or texts that end in zero; `options` names as many bytes as its first member says; `times` names `count` values,
/// `y0` names `components`; `y` has room for the solution as said; `report` is null or valid for a write.
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
        let ode = Registry::global().get_ode(ode)?;
        // SAFETY: by the contract above.
        let (times, y0) = unsafe { (slice("times", times, count)?, slice("y0", y0, components)?) };
        // An array of `count` times `components` values has a length that fits only where both products do.
        let room = count.checked_mul(components).ok_or_else(|| crate::too_many("y"))?;
        // SAFETY: by the contract above.
        let target = unsafe { slice_mut("y", y, room)? };
        // SAFETY: by the contract above.
        let settings = unsafe { settings(&ode, options, method, variant)? };
        let Solution { y, report: done, .. } = solve(&Context::global()?, &ode.system, times, y0, &settings)?;
        let (reached, after) = target.split_at_mut(y.len());
        reached.copy_from_slice(&y);
        after.fill(f64::NAN);
        // SAFETY: by the contract above.
        unsafe { write_report(report, &done) };
        Ok(())
    })
}

/// # Safety
/// `report` is null or valid for a write.
unsafe fn write_report(report: *mut ClinalgOdeReport, done: &Report) {
    if !report.is_null() {
        // SAFETY: by the contract above.
        unsafe { report.write(done.into()) };
    }
}

/// Integrates on the current device from `t0`, where the solution is `y0`, to `t_end` and calls `watch` after every step, with
/// `data`; it returns 0 to continue, another number ends the integration. In `watch`, `clinalg_ode_step_info` describes the step,
/// `clinalg_ode_step_at` gives the solution at any time inside it and `clinalg_ode_step_events` the events. `y` gets the solution
/// at the end of the integration, `report` its time. Otherwise as `clinalg_ode_solve`.
///
/// # Safety
/// As `clinalg_ode_solve`; `y` has room for `components` values; `watch` may be called with `data` from this thread.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "C has no named arguments and no slices")]
pub unsafe extern "C" fn clinalg_ode_solve_with(
    ode: ClinalgHandle,
    method: *const c_char,
    variant: *const c_char,
    options: *const ClinalgOdeOptions,
    t0: f64,
    t_end: f64,
    y0: *const f64,
    components: usize,
    watch: ClinalgOdeWatch,
    data: *mut c_void,
    y: *mut f64,
    report: *mut ClinalgOdeReport,
) -> ClinalgStatus {
    guard(|| {
        let Some(watch) = watch else { return Err(Fault::Null("watch")) };
        let ode = Registry::global().get_ode(ode)?;
        // SAFETY: by the contract above.
        let (settings, y0) = unsafe { (settings(&ode, options, method, variant)?, slice("y0", y0, components)?) };
        // SAFETY: by the contract above.
        let target = unsafe { slice_mut("y", y, components)? };
        let mut call = |mut step: &mut dyn Step| {
            let mut view = ClinalgOdeStep { step: (&raw mut step).cast() };
            // SAFETY: by the contract above; `view` is valid until the call returns.
            Ok(unsafe { watch(&raw mut view, data) } == 0)
        };
        let solution = run(&Context::global()?, &ode.system, [t0, t_end], y0, &settings, &mut call)?;
        target.copy_from_slice(&solution.y[solution.y.len() - components..]);
        // SAFETY: by the contract above.
        unsafe { write_report(report, &solution.report) };
        Ok(())
    })
}

/// # Safety
/// `step` is null or what `clinalg_ode_solve_with` gave to the function that runs.
unsafe fn seen<'s>(step: *mut ClinalgOdeStep) -> Result<&'s mut &'s mut dyn Step, Fault> {
    if step.is_null() {
        return Err(Fault::Null("step"));
    }
    // SAFETY: by the contract above it points to one that an integration made from a `&mut &mut dyn Step`.
    Ok(unsafe { &mut *(*step).step.cast::<&mut dyn Step>() })
}

/// Beginning and end of a step, and the report of the integration up to its end. Each pointer but `step` may be null.
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
        unsafe { write_report(report, step.report()) };
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

/// Numbers and times of the events inside a step, the first `capacity` of them in the order in which they happen; `count` gets their
/// number.
///
/// # Safety
/// `step` is what the function that calls this was given; `events` and `times` have room for `capacity` values; `count` is valid for a
/// write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_step_events(
    step: *mut ClinalgOdeStep,
    capacity: usize,
    events: *mut usize,
    times: *mut f64,
    count: *mut usize,
) -> ClinalgStatus {
    guard(|| {
        // SAFETY: by the contract above.
        let step = unsafe { seen(step)? };
        // SAFETY: by the contract above.
        let (events, times) = unsafe { (slice_mut("events", events, capacity)?, slice_mut("times", times, capacity)?) };
        let found = step.events();
        for (k, occurrence) in found.iter().take(capacity).enumerate() {
            (events[k], times[k]) = (occurrence.event, occurrence.t);
        }
        // SAFETY: by the contract above.
        unsafe { put("count", count, found.len()) }
    })
}

/// Integrates from `t0`, where the solution is the vector `y0` on the device, to `t_end`, where it is written to the vector `y`,
/// another one of the same precision, which is what is computed in. Only numbers for the control of the steps pass through the
/// host. Components are in the system's own order in memory: that of the fields if the description says
/// `layout field-wise`. Otherwise as `clinalg_ode_solve`; what OpenCL C reads is not checked.
///
/// # Safety
/// `method` and `variant` are null or texts that end in zero; `options` names as many bytes as its first member says; `report` is null or valid for a
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
        let ode = Registry::global().get_ode(ode)?;
        // SAFETY: by the contract above.
        let settings = unsafe { settings(&ode, options, method, variant)? };
        let done = Registry::global().ode_solve(&ode.system, [t0, t_end], y0, y, &settings)??;
        // SAFETY: by the contract above.
        unsafe { write_report(report, &done) };
        Ok(())
    })
}

/// Creates a stepper: the kernels and the memory of a method for one system on the current device, for several integrations by
/// `clinalg_ode_stepper_solve`, which then cost no set-up. `method`, `variant` and `options` as in `clinalg_ode_solve`. Later changes of the
/// system do not reach it; the system may be released. `clinalg_object_release` releases it.
///
/// # Safety
/// `method` and `variant` are null or texts that end in zero; `options` names as many bytes as its first member says, `stepper` for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_stepper_create(
    ode: ClinalgHandle,
    method: *const c_char,
    variant: *const c_char,
    options: *const ClinalgOdeOptions,
    stepper: *mut ClinalgHandle,
) -> ClinalgStatus {
    guard(|| {
        if stepper.is_null() {
            return Err(Fault::Null("stepper"));
        }
        let ode = Registry::global().get_ode(ode)?;
        // SAFETY: by the contract above.
        let settings = unsafe { settings(&ode, options, method, variant)? };
        let made = Registry::global().ode_stepper(&Context::global()?, &ode.system, &settings)?;
        // SAFETY: by the contract above.
        unsafe { put("stepper", stepper, made) }
    })
}

/// As `clinalg_ode_solve_vector` with a stepper, in whose precision the vectors are.
///
/// # Safety
/// `report` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clinalg_ode_stepper_solve(
    stepper: ClinalgHandle,
    t0: f64,
    t_end: f64,
    y0: ClinalgHandle,
    y: ClinalgHandle,
    report: *mut ClinalgOdeReport,
) -> ClinalgStatus {
    guard(|| {
        let done = Registry::global().ode_stepper_solve(stepper, [t0, t_end], y0, y)??;
        // SAFETY: by the contract above.
        unsafe { write_report(report, &done) };
        Ok(())
    })
}
