//! An integration from the command line to the document.

use std::path::Path;
use std::time::{Duration, Instant};

use clinalg::Real;
use clinalg_ode::integrate::{Report, Stabilised, State, Stored};
use clinalg_ode::reference::Reference;
use clinalg_ode::team::{TeamOptions, TeamStepper};
use clinalg_ode::{DeviceOptions, DeviceStepper};

use super::compare::compare;
use super::document::{Document, Event, Invariant};
use super::film::Film;
use super::integration::{Frames, Run, Summary};
use super::reference::{computed, exact, is_computed};
use super::{Args, PLAIN, default_n, variant};
use crate::checkpoint::{self, Fingerprint};
use crate::data::Values;
use crate::data::array::write_npy;
use crate::exit::{Exit, Failure};
use crate::files;
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::paths::{check_target, ending};
use crate::place::Place;
use crate::plot::Frames as Pictures;
use crate::processes;
use crate::progress::Progress;

/// Default number of fixed steps per pass.
const AT_ONCE: usize = 4;

pub(super) fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let problem = args.system.problem("", default_n)?;
    let method = args.method()?;
    let variant = variant(&args.variant)?;
    if args.explain && variant.is_none() {
        return Err(Failure::usage(format!("--explain: the variant {PLAIN} has no kernels to explain")));
    }
    if let (Some(option), true) = (args.alone(variant.is_none()), global.is_shared()) {
        let instead = global.on_no_device();
        return Err(Failure::usage(format!("{option} takes one device, by --device, or none: {instead}")));
    }
    if args.compare {
        return compare::<T>(&problem, &method, args, global, out);
    }
    let mut steps_options = args.options(&problem, &method)?;
    if let Some(path) = &args.out {
        files::check_output(path)?;
        check_target(path)?;
    }
    let frames = args.plot.as_deref().map(|path| Pictures::new(path, "ode", args.frames)).transpose()?;
    let drawn = match (&frames, &args.field) {
        (Some(_), Some(field)) => problem.system.fields().iter().position(|name| name == field).ok_or_else(|| {
            Failure::usage(format!("--field {field}: expected one of {}", problem.system.fields().join(", ")))
        })?,
        _ => 0,
    };
    steps_options.check()?;
    let t_end = args.t_end.unwrap_or(problem.t_end);
    if t_end < problem.t0 {
        return Err(Failure::usage(format!(
            "--t-end {t_end}: the problem begins at t = {}; to go back in time, write the system of y(-t), whose \
             right-hand sides are -f with -t for t",
            problem.t0
        )));
    }
    if frames.is_some() || args.series.is_given() {
        let last = args.frames - 1;
        let time =
            |k: usize| if k == last { t_end } else { problem.t0 + (t_end - problem.t0) * k as f64 / last as f64 };
        steps_options.save_at = (0..args.frames).map(time).collect();
    }
    // Fixed steps need no error estimate.
    let method = if args.h.is_some() { method.without_error() } else { method };
    let series = args.series.open(&problem, "ode", args.resume.is_some())?;
    let checkpoints = args.checkpoints()?;
    let fingerprint = || {
        let options = crate::system::fingerprint(&problem)?.option("--method", &args.method).option("--h", args.h);
        Ok::<_, Failure>(options.option("--norm", steps_options.norm).option("--precision", T::PRECISION))
    };
    let resumed = checkpoints.resumed(fingerprint)?.map(restored::<T>).transpose()?;
    interrupt::watch();
    // What a stepper computes as one step.
    let step = if args.is_stabilised() { Stabilised::<()>::stage()? } else { method.clone() };
    let way = Progress::of_time(out);
    way.stage("setting up");
    out.phase("frames");
    let start = Instant::now();
    let place = match (variant, global.team()?) {
        (None, _) => Place::Host,
        (Some(_), Some(team)) => Place::Team(team),
        (Some(_), None) => Place::Device(global.context(false)?),
    };
    let mut document = Document {
        problem: problem.name.clone(),
        n: problem.system.grid().shape()[0],
        components: problem.system.components(),
        method: args.method.clone(),
        order: method.order(),
        variant: args.variant.clone(),
        precision: T::PRECISION,
        kernel_family: place.family(),
        t: problem.t0,
        t_end,
        h: args.h,
        rtol: args.h.is_none().then_some(steps_options.relative),
        atol: args.h.is_none().then_some(steps_options.absolute),
        steps: 0,
        rejected: 0,
        rhs_evaluations: 0,
        stages: None,
        smallest_step: 0.0,
        largest_step: 0.0,
        stiff_at: None,
        events: Vec::new(),
        ended_by: None,
        reference: None,
        error_vs_reference: None,
        invariants: Vec::new(),
        kernels: None,
        words_per_component_step: None,
        explain: None,
        seconds_setup: 0.0,
        seconds_upload: 0.0,
        seconds: 0.0,
        seconds_download: 0.0,
        component_steps_per_second: 0.0,
        peak_device_bytes: 0,
        device: place.device(),
        devices: place.devices_of_all(global)?,
        steps_per_exchange: None,
        out: None,
        checkpoint: None,
        times: Vec::new(),
        files: Vec::new(),
        pictures: Vec::new(),
    };
    let reached = resumed.as_ref().and_then(|state| state.numbers.first().copied());
    let before = reached.map_or(0, |t| steps_options.save_at.iter().filter(|save| **save <= t).count());
    let mut kept = Frames { film: frames.is_some().then(|| Film::new(&problem, drawn, before)), series };
    let usual = if args.h.is_some() || args.is_stabilised() { AT_ONCE } else { 1 };
    let steps = args.steps_at_once.unwrap_or(usual);
    let (resume, keeps) = (resumed.as_ref(), checkpoints.is_given());
    let whole = args.out.is_some() || is_computed(args.reference, &problem);
    let summarise = |y0: Stored<'_, T>, y: Stored<'_, T>, report: &Report| {
        let start = Instant::now();
        let error = if report.t == t_end { exact(args.reference, &problem, y, t_end)? } else { None };
        let comparing = start.elapsed();
        let kept = problem.invariants_of(y0)?.into_iter().zip(problem.invariants_of(y)?);
        let invariants = kept.map(|((name, start), (_, end))| Invariant { name, start, end }).collect();
        let norms = if global.verbose { [y0.norm2()?, y.norm2()?] } else { [0.0; 2] };
        Ok(Summary { error, invariants, norms, comparing, summing: start.elapsed().saturating_sub(comparing) })
    };
    let started = |upload| Run {
        problem: &problem,
        t_end,
        options: &steps_options,
        resume,
        keeps,
        whole,
        summarise: &summarise,
        way: &way,
        start,
        upload,
    };
    let done = match (&place, variant) {
        (Place::Team(team), Some(variant)) => {
            let mut options = TeamOptions::default();
            options.device = DeviceOptions { variant, steps, tile: None };
            let make = if global.balance { TeamStepper::<T>::balanced } else { TeamStepper::new };
            let mut stepper = make(team, &method, &problem.system, &options)?;
            let first = &stepper.ranks()[0];
            document.variant = first.variant().name().into();
            document.kernels = Some(first.kernels());
            document.words_per_component_step = Some(first.words());
            document.steps_per_exchange = stepper.steps_per_exchange();
            let y0 = problem.y0_as()?;
            let run = started(Duration::ZERO);
            run.integrate(&mut stepper, (&y0).into(), &mut kept)?
        }
        (Place::Device(context), Some(variant)) => {
            let options = DeviceOptions { variant, steps, tile: None };
            let mut stepper = DeviceStepper::<T>::with(context, &step, &problem.system, &options)?;
            document.variant = stepper.variant().name().into();
            document.kernels = Some(stepper.kernels());
            document.words_per_component_step = Some(stepper.words());
            if args.explain {
                stepper.measure()?;
                document.explain = Some(stepper.explain());
            }
            let before_upload = Instant::now();
            let y0 = problem.y0_on(context)?;
            context.finish()?;
            let is_uploaded = !problem.has_kernel_for_y0(context);
            let run = started(if is_uploaded { before_upload.elapsed() } else { Duration::ZERO });
            if args.is_stabilised() {
                let mut stepper = args.stabilised(stepper)?;
                let done = run.integrate(&mut stepper, (&y0).into(), &mut kept)?;
                document.stages = Some(stepper.most_stages());
                done
            } else {
                run.integrate(&mut stepper, (&y0).into(), &mut kept)?
            }
        }
        _ => {
            let y0 = problem.y0_as()?;
            let mut stepper = Reference::<T>::new(&step, &problem.system);
            let run = started(Duration::ZERO);
            if args.is_stabilised() {
                let mut stepper = args.stabilised(stepper)?;
                let done = run.integrate(&mut stepper, (&y0).into(), &mut kept)?;
                document.stages = Some(stepper.most_stages());
                done
            } else {
                run.integrate(&mut stepper, (&y0).into(), &mut kept)?
            }
        }
    };
    out.split_phase(&[
        ("set-up", done.setup),
        ("upload", done.upload),
        ("integration", done.solving),
        ("download", done.download),
        ("reference", done.summary.comparing),
        ("output", done.summary.summing),
    ]);
    out.phase("output");
    let (y, summary, report, ended_by) = (done.y, done.summary, done.report, done.ended_by);
    let Frames { film, series } = kept;
    (document.files, document.times) = series.finish()?;
    if let (Some(path), Some(y)) = (&args.out, &y) {
        let system = &problem.system;
        let (points, fields) = (system.grid().points(), system.fields().len());
        let columns: Vec<T> = (0..fields)
            .flat_map(|f| (0..points).map(move |p| (f, p)))
            .map(|(f, p)| y[system.component(f, p)])
            .collect();
        if ending(path) == "npy" {
            // As a frame of --series: --initial reads both.
            let axes = if points == 1 { &[] } else { system.grid().shape() };
            let shape: Vec<usize> = [fields].iter().chain(axes.iter().rev()).copied().collect();
            if processes::writes() {
                write_npy(path, &shape, &Values::of(&columns))?;
            }
        } else {
            files::write(path, points, fields, &columns)?;
        }
        document.out = Some(path.display().to_string());
    }
    if let Some(state) = &done.state {
        document.checkpoint = checkpoints.write(interrupt::interrupted(), |path| save(path, fingerprint()?, state))?;
    }
    document.t = report.t;
    document.steps = report.accepted;
    document.rejected = report.rejected;
    document.rhs_evaluations = report.rhs_evaluations;
    document.smallest_step = if report.accepted == 0 { 0.0 } else { report.smallest_step };
    document.largest_step = report.largest_step;
    document.stiff_at = report.stiff;
    document.events = report.events.iter().map(|happened| Event { event: happened.event, t: happened.t }).collect();
    document.ended_by = ended_by;
    document.seconds_setup = done.setup.as_secs_f64();
    document.seconds_upload = done.upload.as_secs_f64();
    document.seconds = done.solving.as_secs_f64();
    document.seconds_download = done.download.as_secs_f64();
    document.component_steps_per_second =
        document.components as f64 * report.accepted as f64 / done.solving.as_secs_f64().max(f64::MIN_POSITIVE);
    document.peak_device_bytes = place.peak_bytes_of_all()?;
    way.stage("computing the reference");
    out.phase("reference");
    (document.error_vs_reference, document.reference) = (summary.error, summary.error.map(|_| "exact"));
    if let (None, true, Some(y)) = (summary.error, report.t == t_end && is_computed(args.reference, &problem), &y)
        && let Some(expected) = computed(args.reference, &problem, &report)?
    {
        let error = y.iter().zip(&expected).map(|(y, e)| (y.into_f64() - e).abs());
        (document.error_vs_reference, document.reference) = (Some(error.fold(0.0, f64::max)), Some("dopri87"));
    }
    out.phase("output");
    document.invariants = summary.invariants;
    if let (Some(film), Some(pictures)) = (&film, &frames) {
        way.stage("drawing");
        film.draw(&mut document, &problem, pictures)?;
    }
    drop(way);
    document.print(&problem, out)?;
    out.norms(|| Ok([("y0", summary.norms[0]), ("y", summary.norms[1])]))?;
    out.details(place.contexts())?;
    out.json(&document)?;
    Ok(if document.t == t_end || ended_by.is_some() { Exit::Done } else { Exit::NotReached })
}

/// The array of a checkpoint with the numbers of the state.
const NUMBERS: &str = "control";

/// The array of a checkpoint with an input of the method.
fn input_name(k: usize) -> String {
    format!("input{k}")
}

/// Writes a checkpoint.
fn save<T: Real>(path: &Path, fingerprint: Fingerprint, state: &State<T>) -> Result<(), Failure> {
    let names: Vec<String> = (0..state.inputs.len()).map(input_name).collect();
    let values = state.inputs.iter().map(|input| Values::of(input));
    let mut arrays: Vec<(&str, Values)> = names.iter().map(String::as_str).zip(values).collect();
    arrays.push((NUMBERS, Values::of(&state.numbers)));
    checkpoint::save(path, fingerprint, serde_json::json!({ "inputs": names.len() }), &arrays)
}

/// The state that a checkpoint holds.
fn restored<T: Real>(loaded: &checkpoint::Loaded) -> Result<State<T>, Failure> {
    let input = |k: usize| loaded.array(&input_name(k));
    let inputs = (0..loaded.number("inputs")? as usize).map(input).collect::<Result<_, Failure>>()?;
    Ok(State { inputs, numbers: loaded.array(NUMBERS)? })
}
