//! Initial value problems in one call, as the language bindings need them.

use std::borrow::Cow;
use std::cell::OnceCell;

use clinalg::{Context, Precision, Real, Vector};

use crate::run::access_check::check_access;
use crate::run::integrate::{
    Integrator, Occurrence, Options, Report, STABILISED, Stabilised, StepOutcome, Stored, integrate_on_device,
};
use crate::{DeviceStepper, Error, METHODS, Method, Result, System, Variant};

/// How to solve.
#[derive(Debug, Clone)]
pub struct Settings {
    /// One of [`METHODS`], or [`STABILISED`], whose steps have as many stages as stability asks for.
    pub method: String,
    /// How the method is divided into kernels; [`Variant::Auto`] without a trial, see [`DeviceStepper::untried`].
    pub variant: Variant,
    /// The precision of the computation.
    pub precision: Precision,
    /// Tolerances and steps; `save_at` is ignored, `absolute_each` is by fields.
    pub options: Options,
    /// Returns the solution at the end of every step instead of at the times in between.
    pub every_step: bool,
    /// Output times per step with `every_step`, equally spaced, the end of the step among them.
    pub refine: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        let options = Options::default();
        Settings {
            method: "dopri54".into(),
            variant: Variant::Auto,
            precision: Precision::F64,
            options,
            every_step: false,
            refine: 1,
        }
    }
}

/// A solution at some times.
#[derive(Debug, Clone)]
pub struct Solution {
    /// The times, the first one being the beginning.
    pub t: Vec<f64>,
    /// The components at each time, one time after the other, by fields ([`System::by_fields`]).
    pub y: Vec<f64>,
    /// The components at each of the report's events.
    pub at_events: Vec<f64>,
    /// Steps and evaluations.
    pub report: Report,
}

/// The step of an integration that was taken last.
pub trait Step {
    /// The time at which it began.
    fn begin(&self) -> f64;

    /// The time at which it ended.
    fn end(&self) -> f64;

    /// The report of the integration so far.
    fn report(&self) -> &Report;

    /// Events inside the step.
    fn events(&self) -> &[Occurrence];

    /// The solution at a time inside the step, by fields.
    ///
    /// # Errors
    /// [`Error::Value`] for a time outside; those of the device.
    fn at(&mut self, t: f64) -> Result<Vec<f64>>;
}

struct Last<'s, 'a, T: Real> {
    integrator: &'s mut Integrator<'a, T, Stabilised<DeviceStepper<T>>>,
    system: &'s System,
    begin: f64,
    /// Events before the step.
    before: usize,
}

impl<T: Real> Step for Last<'_, '_, T> {
    fn begin(&self) -> f64 {
        self.begin
    }

    fn end(&self) -> f64 {
        self.integrator.t()
    }

    fn report(&self) -> &Report {
        self.integrator.report()
    }

    fn events(&self) -> &[Occurrence] {
        &self.integrator.report().events[self.before..]
    }

    fn at(&mut self, t: f64) -> Result<Vec<f64>> {
        if t == self.integrator.t() {
            return by_fields(self.system, self.integrator.stored()?);
        }
        by_fields(self.system, (&self.integrator.at(t)?).into())
    }
}

/// A step of a system whose time runs the other way.
struct Reversed<'s> {
    step: &'s mut dyn Step,
    report: OnceCell<Report>,
    /// Events before the step.
    before: usize,
}

impl Step for Reversed<'_> {
    fn begin(&self) -> f64 {
        -self.step.begin()
    }

    fn end(&self) -> f64 {
        -self.step.end()
    }

    fn report(&self) -> &Report {
        self.report.get_or_init(|| self.step.report().time_reversed())
    }

    fn events(&self) -> &[Occurrence] {
        &self.report().events[self.before..]
    }

    fn at(&mut self, t: f64) -> Result<Vec<f64>> {
        self.step.at(-t)
    }
}

/// A problem whose times increase: the one given, or that of the system whose time runs the other way.
struct Forward<'s> {
    system: Cow<'s, System>,
    settings: Cow<'s, Settings>,
    reversed: bool,
}

impl<'s> Forward<'s> {
    fn new(system: &'s System, settings: &'s Settings, t0: f64, t_end: f64) -> Result<Forward<'s>> {
        if t0 <= t_end || t0.is_nan() || t_end.is_nan() {
            let (system, settings) = (Cow::Borrowed(system), Cow::Borrowed(settings));
            return Ok(Forward { system, settings, reversed: false });
        }
        let Some(system) = system.time_reversed() else {
            let expected = "increasing times, for a right-hand side in OpenCL C: for y' = f(t, y) integrate z' = -f(-t, z) \
                            from -t0 on";
            return Err(Error::value("times", expected, format!("from {t0} to {t_end}")));
        };
        let mut settings = settings.clone();
        settings.options.stops.iter_mut().for_each(|t| *t = -*t);
        Ok(Forward { system: Cow::Owned(system), settings: Cow::Owned(settings), reversed: true })
    }

    /// A time of the problem as that of the system, or back.
    fn time(&self, t: f64) -> f64 {
        // 0 stays without a sign.
        if self.reversed && t != 0.0 { -t } else { t }
    }

    fn solution(&self, mut solution: Solution) -> Solution {
        if self.reversed {
            solution.t.iter_mut().for_each(|t| *t = self.time(*t));
            solution.report = solution.report.time_reversed();
        }
        solution
    }
}

/// Solves y' = f(t, y) on a device, from the first of `times`, where the solution is `y0`, to the last: forwards, or backwards in
/// time where the times decrease. `y0` is by fields, all points of the first one first. Where an event of the system
/// ([`System::add_event`]) is terminal, the solution there is the last. Directions of events are those along the integration. Steps
/// end at the times of `stop` lines of the system's text.
///
/// ```
/// use clinalg::Context;
/// use clinalg_ode::System;
/// use clinalg_ode::ivp::{Settings, solve};
///
/// let swing = System::from_text("x' = v\nv' = -x\nevent falling = x", &[])?;
/// let solution = solve(&Context::global()?, &swing, &[0.0, 1.0, 4.0], &[0.0, 1.0], &Settings::default())?;
/// assert_eq!(solution.t, [0.0, 1.0, 4.0]);
/// assert!((solution.y[2] - 1.0_f64.sin()).abs() < 1e-5);
/// assert!((solution.report.events[0].t - std::f64::consts::PI).abs() < 1e-5);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
///
/// # Errors
/// [`Error::Value`] for fewer than two times, times that neither increase nor decrease, a `y0` of another length, and what
/// [`integrate`](crate::run::integrate::integrate()) refuses; [`Error::Access`] for a snippet that reads further than it declares;
/// those of the integration and the device.
pub fn solve(context: &Context, system: &System, times: &[f64], y0: &[f64], settings: &Settings) -> Result<Solution> {
    if settings.every_step {
        return watch(context, system, times, y0, settings, &mut |_, _| true);
    }
    let [t0, t_end] = ends(times)?;
    let forward = Forward::new(system, settings, t0, t_end)?;
    let save_at = times[1..].iter().map(|t| forward.time(*t)).collect();
    let span = [t0, t_end].map(|t| forward.time(t));
    let wanted = Wanted { save_at, dense: false, see: None };
    Ok(forward.solution(in_precision(context, &forward.system, span, y0, &forward.settings, wanted)?))
}

/// As [`solve`]; `seen` is given what each step adds to the solution, its times and the components there, and ends the
/// integration by `false`.
///
/// # Errors
/// Those of [`solve`].
pub fn watch(
    context: &Context,
    system: &System,
    times: &[f64],
    y0: &[f64],
    settings: &Settings,
    seen: &mut dyn FnMut(&[f64], &[f64]) -> bool,
) -> Result<Solution> {
    follow(context, system, times, y0, settings, &mut |t, y| t.is_empty() || seen(t, y))
}

/// As [`solve`]; `go_on` is called after each step; `false` ends the integration, and the solution holds the times reached so far.
///
/// # Errors
/// Those of [`solve`].
pub fn solve_while(
    context: &Context,
    system: &System,
    times: &[f64],
    y0: &[f64],
    settings: &Settings,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Solution> {
    follow(context, system, times, y0, settings, &mut |_, _| go_on())
}

/// Solves with `seen` after each step.
fn follow(
    context: &Context,
    system: &System,
    times: &[f64],
    y0: &[f64],
    settings: &Settings,
    seen: &mut dyn FnMut(&[f64], &[f64]) -> bool,
) -> Result<Solution> {
    let span = ends(times)?;
    if settings.refine == 0 {
        return Err(Error::value("refine", "at least 1", 0));
    }
    let (mut t, mut y, mut go_on) = (vec![span[0]], y0.to_vec(), true);
    let mut see = |step: &mut dyn Step| {
        let (begin, end, rows) = (step.begin(), step.end(), t.len());
        if settings.every_step {
            let part = |k| begin + k as f64 / settings.refine as f64 * (end - begin);
            t.extend((1..settings.refine).map(part).chain([end]));
        } else {
            let passed =
                |time: f64| if begin < end { begin < time && time <= end } else { end <= time && time < begin };
            t.extend(times.iter().filter(|time| passed(**time)));
        }
        for time in &t[rows..] {
            y.extend(step.at(*time)?);
        }
        go_on = seen(&t[rows..], &y[rows * y0.len()..]);
        Ok(go_on)
    };
    let dense = !settings.every_step || settings.refine > 1;
    let solution = stepwise(context, system, span, y0, settings, dense, &mut see)?;
    // An event between the times has ended it.
    if go_on && t.last() != solution.t.last() {
        t.extend(solution.t.last());
        y.extend(&solution.y[y0.len()..]);
    }
    Ok(Solution { t, y, ..solution })
}

/// The first and the last of times.
fn ends(times: &[f64]) -> Result<[f64; 2]> {
    match times {
        [t0, .., t_end] if times.windows(2).all(|w| w[0] < w[1]) || times.windows(2).all(|w| w[0] > w[1]) => {
            Ok([*t0, *t_end])
        }
        _ => {
            let expected = "at least two times, each after the one before or each before it";
            Err(Error::value("times", expected, format!("{times:?}")))
        }
    }
}

/// Solves y' = f(t, y) on a device, from the first time to the second, and calls `see` after every step, which gives the solution
/// inside it; the integration ends where `see` gives `false`. The times of the result are the first and the one
/// reached; otherwise as [`solve`].
///
/// # Errors
/// Those of [`solve`] and of `see`.
pub fn run(
    context: &Context,
    system: &System,
    span: [f64; 2],
    y0: &[f64],
    settings: &Settings,
    see: &mut See,
) -> Result<Solution> {
    stepwise(context, system, span, y0, settings, true, see)
}

/// Solves with `see` after each step, whichever way the time runs.
fn stepwise(
    context: &Context,
    system: &System,
    [t0, t_end]: [f64; 2],
    y0: &[f64],
    settings: &Settings,
    dense: bool,
    see: &mut See,
) -> Result<Solution> {
    let forward = Forward::new(system, settings, t0, t_end)?;
    let mut reversed = |step: &mut dyn Step| {
        let before = step.report().events.len() - step.events().len();
        see(&mut Reversed { step, report: OnceCell::new(), before })
    };
    // What sees steps of the time reversed turns them back.
    let see: &mut See = if forward.reversed { &mut reversed } else { see };
    let span = [t0, t_end].map(|t| forward.time(t));
    let wanted = Wanted { save_at: Vec::new(), dense, see: Some(see) };
    Ok(forward.solution(in_precision(context, &forward.system, span, y0, &forward.settings, wanted)?))
}

/// Solves y' = f(t, y) from a vector on a device to one that is written there, in the precision of both. Components stand in
/// the system's own order in memory ([`System::component`]), which text can choose (`layout field-wise`).
///
/// # Errors
/// Those of [`integrate_on_device`]; of snippets the access is not checked.
pub fn solve_on_device<T: Real>(
    system: &System,
    [t0, t_end]: [f64; 2],
    y0: &Vector<T>,
    y: &mut Vector<T>,
    settings: &Settings,
) -> Result<Report> {
    let forward = Forward::new(system, settings, t0, t_end)?;
    let span = [t0, t_end].map(|t| forward.time(t));
    let report = OnDevice::new(y0.context(), &forward.system, &forward.settings)?.solve(span, y0, y)?;
    Ok(if forward.reversed { report.time_reversed() } else { report })
}

/// [`solve_on_device`] for several integrations of one system, forwards in time: kernels and memory are set up once.
pub struct OnDevice<T: Real> {
    context: Context,
    stepper: Stabilised<DeviceStepper<T>>,
    options: Options,
}

impl<T: Real> OnDevice<T> {
    /// Compiles the kernels and allocates the memory. Later changes of the system have no effect on it.
    ///
    /// # Errors
    /// Those of [`DeviceStepper::untried`]; [`Error::Value`] for settings that do not fit the system.
    pub fn new(context: &Context, system: &System, settings: &Settings) -> Result<OnDevice<T>> {
        let (stepper, options) = stepper(context, system, settings)?;
        Ok(OnDevice { context: context.clone(), stepper, options })
    }

    /// As [`solve_on_device`].
    ///
    /// # Errors
    /// Those of [`solve_on_device`]; [`clinalg::Error::Context`] for vectors of another context.
    pub fn solve(&mut self, [t0, t_end]: [f64; 2], y0: &Vector<T>, y: &mut Vector<T>) -> Result<Report> {
        for (argument, context) in [("y0", y0.context()), ("y", y.context())] {
            if !context.same(&self.context) {
                return Err(clinalg::Error::Context { argument }.into());
            }
        }
        integrate_on_device(&mut self.stepper, t0, t_end, y0, y, &self.options)
    }
}

/// Callback after a step; returns whether the integration continues.
pub type See<'s> = dyn FnMut(&mut dyn Step) -> Result<bool> + 's;

/// Outputs of an integration besides its end.
struct Wanted<'w> {
    save_at: Vec<f64>,
    dense: bool,
    /// What sees every step; then nothing is saved but the end.
    see: Option<&'w mut See<'w>>,
}

/// A stepper of the settings' method, and the options with tolerances in the order of memory.
fn stepper<T: Real>(
    context: &Context,
    system: &System,
    settings: &Settings,
) -> Result<(Stabilised<DeviceStepper<T>>, Options)> {
    let is_stabilised = settings.method == STABILISED;
    if !is_stabilised && !METHODS.contains(&settings.method.as_str()) {
        let expected = format!("one of {}, {STABILISED}", METHODS.join(", "));
        return Err(Error::value("method", expected, &settings.method));
    }
    let mut method = if is_stabilised { Stabilised::<()>::stage()? } else { Method::named(&settings.method)? };
    let mut options = settings.options.clone();
    options.stops.extend(&system.stops);
    if options.fixed_step.is_some() {
        // The estimate of the error is work that steps of a fixed size do not need.
        method = if is_stabilised { method } else { method.without_error() };
        options.absolute_each = Vec::new();
    } else if !options.absolute_each.is_empty() {
        if options.absolute_each.len() != system.components() {
            let expected = format!("{} components", system.components());
            return Err(Error::value("absolute_each", expected, options.absolute_each.len()));
        }
        if is_stabilised {
            let expected = format!("one absolute tolerance for all components, with the method {STABILISED}");
            return Err(Error::value("absolute_each", expected, "one for each"));
        }
        method = method.with_tolerances();
        options.absolute_each = system.from_fields(&options.absolute_each);
    }
    let stepper = DeviceStepper::untried(context, &method, system, settings.variant)?;
    Ok((if is_stabilised { Stabilised::new(stepper)? } else { Stabilised::plain(stepper) }, options))
}

fn by_fields<T: Real>(system: &System, y: Stored<'_, T>) -> Result<Vec<f64>> {
    let wide = |y: &[T]| system.by_fields(&y.iter().map(|v| v.into_f64()).collect::<Vec<f64>>());
    Ok(match y {
        Stored::Host(y) => wide(y),
        y => wide(&y.to_vec()?),
    })
}

fn in_precision(
    context: &Context,
    system: &System,
    span: [f64; 2],
    y0: &[f64],
    settings: &Settings,
    wanted: Wanted<'_>,
) -> Result<Solution> {
    match settings.precision {
        Precision::F32 => typed::<f32>(context, system, span, y0, settings, wanted),
        Precision::F64 => typed::<f64>(context, system, span, y0, settings, wanted),
    }
}

fn typed<T: Real>(
    context: &Context,
    system: &System,
    [t0, t_end]: [f64; 2],
    y0: &[f64],
    settings: &Settings,
    wanted: Wanted<'_>,
) -> Result<Solution> {
    if y0.len() != system.components() {
        return Err(Error::value("y0", format!("{} components", system.components()), y0.len()));
    }
    if let Some(k) = y0.iter().position(|v| !v.is_finite()) {
        return Err(Error::value(format!("y0[{k}]"), "a finite number", y0[k]));
    }
    let start: Vec<T> = system.from_fields(y0).into_iter().map(T::from_f64).collect();
    check_access(context, system, t0, &start)?;
    let (mut stepper, options) = stepper::<T>(context, system, settings)?;
    let options = Options { save_at: wanted.save_at, dense: wanted.dense, ..options };
    let (mut t, mut y, mut at_events) = (vec![t0], y0.to_vec(), Vec::new());
    let mut integrator = Integrator::new(&mut stepper, t0, t_end, &start, &options)?
        .on_save_stored(|time, values| {
            t.push(time);
            y.extend(by_fields(system, values)?);
            Ok(())
        })
        .on_event(|_, values| {
            at_events.extend(by_fields(system, values)?);
            Ok(())
        });
    for event in system.events() {
        integrator = integrator.event(event)?;
    }
    let mut end = None;
    if let Some(see) = wanted.see {
        loop {
            let (begin, before) = (integrator.t(), integrator.report().events.len());
            let taken = integrator.step()?;
            if integrator.t() == begin {
                break;
            }
            let go_on = see(&mut Last { integrator: &mut integrator, system, begin, before })?;
            if !go_on || !matches!(taken, StepOutcome::Step | StepOutcome::Stop) {
                break;
            }
        }
        end = Some((integrator.t(), by_fields(system, integrator.stored()?)?));
    } else if let StepOutcome::Event(_) = integrator.run()? {
        end = Some((integrator.t(), by_fields(system, integrator.stored()?)?));
    }
    let report = integrator.into_report();
    if let Some((time, values)) = end.filter(|(time, _)| t.last() != Some(time)) {
        t.push(time);
        y.extend(values);
    }
    Ok(Solution { t, y, at_events, report })
}
