//! Initial value problems.

use clinalg::Precision;
use clinalg_ode::integrate::Options;
use clinalg_ode::ivp::{Settings, Solution, solve_while};
use clinalg_ode::problems::{PROBLEMS, problem};
use clinalg_ode::waveform::{Guess, Relaxation, Stop, WaveformOptions, relax_fields};
use clinalg_ode::{Description, Method, Powers, System, Variant};

use super::{GPU, count, handle, text};
use crate::args::{Args, Input, Kind, Value};
use crate::emit::{Answer, Out};
use crate::fault::{Fault, id};
use crate::function::Function;
use crate::interrupt;
use crate::runs::{self, Task};
use crate::session;

const fn full(name: &'static str) -> Input {
    Input::new(name, Kind::Full)
}

/// Of the functions that solve.
const INPUTS: &[Input] = &[
    GPU,
    text("system"),
    full("times"),
    full("y0"),
    full("tol"),
    text("method"),
    full("steps"),
    text("variant"),
    full("data"),
    count("n"),
    Input::new("single", Kind::Flag),
];

const OUTPUTS: &[&str] = &["t", "y", "stats", "te", "ye", "ie"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexOde",
        title: "Solve an initial value problem of ordinary differential equations.",
        inputs: INPUTS,
        required: 4,
        outputs: OUTPUTS,
        text: "\
system is a description of y' = f(t, y), one statement per line, such as
  grid 64 32                       points along each axis; one point without this line
  parameter a = 0.25
  u' = a*(u[-1,0] - 2*u + u[1,0])  the derivative of a field by a formula
  boundary periodic                or mirror, copy, value and a formula for each field
  event falling terminal = u       zeros of a formula; rising, falling, terminal, and 'at 3 0' with grid indices
                                   from 0 on, are optional
(docs/guide/ode/reference.md lists them all), or the name of a test problem, with n points along each axis; lines with events
may follow. Powers group as in MATLAB: 2^3^2 is 64 (512 in files of the program). y0 has all points of the first field,
then those of the next; [] takes the values of a test problem.

times has the first and the last time; the solution is then returned at the end of every step. With more than two
times it is returned at these. Decreasing times integrate backwards. Row k of y is the solution at t(k). te are the
times of events, the rows of ye the solutions there, ie the numbers of the events, in the order of their lines from 1
on; the last row of y is that of a terminal event.
  tol      [relative absolute] tolerance of a step (default [1e-3 1e-6]); [relative absolute_1 ...] with
           an absolute tolerance for each number of y0
  method   'dopri54' (default), 'bs32', 'verner65', 'dopri87', 'rk4', ...; 'rkc', stabilised steps for diffusion
  steps    [fixed first largest limit refine]: steps of a fixed size, the first and the largest step, the
           maximum number of steps; with two times, the number of output times per step in place of
           its end alone; 0 for the default
  variant  how a step is divided into kernels, 'auto' (default), 'fused', 'basic', ...
  data     a column for each line 'data name' of the system, with a number for each point
  n        points along each axis of a test problem
  single   1 computes in single precision (default 0)
stats counts steps and evaluations.",
        example: "\
gpu = MexInitOpenCL();
[t, y] = MexOde(gpu, sprintf('x'' = v\\nv'' = -x'), [0 pi], [0 1], [1e-8 1e-10]);
[y(end, 1), y(end, 2)]",
        see: &["MexInitOpenCL", "MexOdeBegin", "MexWave"],
        run: |args| {
            let Task { context, system, times, y0, settings } = Task::read(args)?;
            let solution = solve_while(&context, &system, &times, &y0, &settings, &mut interrupt::goes_on)?;
            Ok(answer(solution, y0.len()))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexOdeBegin",
        title: "Start an integration that is continued step by step.",
        inputs: INPUTS,
        required: 4,
        outputs: &["run", "y0"],
        text: "\
The arguments are those of MexOde. run is the argument of MexOdeNext and MexOdeEnd, y0 a column with the initial
values, also for a test problem. Errors in the equations are reported by MexOdeEnd.",
        example: "\
gpu = MexInitOpenCL();
run = MexOdeBegin(gpu, 'u'' = -u', [0 10], 1);
[t, y] = MexOdeNext(gpu, run);
while ~isempty(t) && y > 0.5
  [t, y] = MexOdeNext(gpu, run);
end
[t, y] = MexOdeEnd(gpu, run);
y(end)",
        see: &["MexOdeNext", "MexOdeEnd", "MexOde"],
        run: |args| {
            let task = Task::read(args)?;
            let y0 = task.y0.clone();
            Ok(Answer::Several(vec![Out::Handle(runs::begin(task)?), Out::column(y0)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexOdeNext",
        title: "The next step of a solution.",
        inputs: &[GPU, handle("run")],
        required: 2,
        outputs: &["t", "y"],
        text: "\
run is the result of MexOdeBegin. Row k of y is the solution at t(k): at the end of the step, at more times in it,
or at the given times in it (steps without such a time are skipped). After the last step both are empty.",
        example: "\
gpu = MexInitOpenCL();
run = MexOdeBegin(gpu, 'u'' = -u', [0 0.5 1], 1);
[t, y] = MexOdeNext(gpu, run)
MexOdeEnd(gpu, run);",
        see: &["MexOdeBegin", "MexOdeEnd"],
        run: |args| {
            session::check(args.handle(0))?;
            let (t, y) = runs::next(args.handle(1))?;
            let rows = t.len();
            let values = by_rows(&y, rows, y.len() / rows.max(1));
            Ok(Answer::Several(vec![Out::column(t), Out::Reals { rows, values }]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexOdeEnd",
        title: "End a solution begun by MexOdeBegin.",
        inputs: &[GPU, handle("run")],
        required: 2,
        outputs: OUTPUTS,
        text: "\
run is the result of MexOdeBegin, and is not valid afterwards. The results are those of MexOde, up to the last call
of MexOdeNext. End every solution that was begun; MexReleaseOpenCL ends them all.",
        example: "\
gpu = MexInitOpenCL();
run = MexOdeBegin(gpu, 'u'' = -u', [0 10], 1);
MexOdeNext(gpu, run);
[t, y] = MexOdeEnd(gpu, run)",
        see: &["MexOdeBegin", "MexOdeNext"],
        run: |args| {
            session::check(args.handle(0))?;
            let (solution, columns) = runs::end(args.handle(1))?;
            Ok(answer(solution, columns))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexWaveform",
        title: "Solve an initial value problem by waveform relaxation.",
        inputs: &[
            GPU,
            text("system"),
            full("times"),
            full("y0"),
            full("steps"),
            text("variant"),
            full("block"),
            text("guess"),
            full("data"),
            count("n"),
            Input::new("single", Kind::Flag),
            text("method"),
        ],
        required: 5,
        outputs: &["y", "stats"],
        text: "\
Blocks of numbers are integrated over a window of steps with those of other blocks from the previous iteration, until the
iterates agree; with Euler's method its first w steps are reached after w iterations. It pays only where launches of
kernels cost more than arithmetic. system, data and n are those of MexOde; times has the first and the last time,
y0 all points of the first field, then those of the next, [] for those of a test problem. y is a column in this order.
  steps    [steps windows eps iterations adaptive]: the number of steps; windows, a divisor (default 1); the
           difference of two iterates at which a window ends (0, the method's solution); iterations of each window in
           place of eps (0 for eps); iterations that a window should take, its length follows (0 for equal windows)
  variant  'component' (default), 'point', 'block', 'block-boundary', 'device', 'copy-all' or 'copy-access-distance'
  block    points of a block along each axis (default 32, or 8 in three dimensions, half of it for other methods than
           Euler's; at most those of the grid)
  guess    of a window: 'previous' (default), 'constant' or 'linear'
  single   1 computes in single precision (default 0)
  method   'euler' (default), 'heun2', 'rk4', 'dopri54', ...: the explicit Runge-Kutta methods of MexOde
stats has iterations and steps of each window, the difference of the last iterates, bytes of the waveforms, words
moved per number, step and iteration, and t, the time of y. Ctrl-C stops it after the current iteration.
y is then the solution at the end of the last complete window, or y0 if there is none, and t is less than times(2).",
        example: "\
gpu = MexInitOpenCL();
heat = sprintf('grid 32 32\\nu'' = u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u');
[y, stats] = MexWaveform(gpu, heat, [0 1], rand(1024, 1), [20 2], 'block', [8 8]);
stats.iterations",
        see: &["MexOde", "MexInitOpenCL"],
        run: waveform,
        ..Function::DEFAULT
    },
];

fn waveform(args: &Args<'_>) -> Result<Answer, Fault> {
    let vector = |position: usize| match args.value(position) {
        Value::Full(full) => Some(full.values.reals()),
        _ => None,
    };
    let wrong = |position: usize, name: &'static str, problem: &str| {
        Err(Fault::argument(id::VALUE, position + 1, name, problem.to_owned()))
    };
    let context = args.context()?;
    let Described { system, y0, .. } = Described::read(args)?;
    let [t0, t_end] = vector(2).unwrap_or_default()[..] else {
        return wrong(2, "times", "must have the first and the last time");
    };
    if !(t_end > t0 && t0.is_finite() && t_end.is_finite()) {
        return wrong(2, "times", "must be finite and increase");
    }
    let steps = vector(4).unwrap_or_default();
    let whole = |v: f64| v >= 0.0 && v.fract() == 0.0 && v < 1e15;
    if steps.is_empty() || steps.len() > 5 || (0..steps.len()).any(|k| k != 2 && !whole(steps[k])) || steps[0] < 1.0 {
        return wrong(4, "steps", "must be [steps windows eps iterations adaptive], whole numbers except eps");
    }
    let said = |k: usize| steps.get(k).copied().filter(|v| *v != 0.0);
    let count = steps[0] as usize;
    let mut options = WaveformOptions::new((t_end - t0) / steps[0], count);
    options.windows = said(1).unwrap_or(1.0) as usize;
    options.stop = match said(3) {
        Some(iterations) => Stop::Iterations(iterations as usize),
        None => Stop::Difference(said(2).unwrap_or(0.0)),
    };
    options.adaptive = said(4).map(|v| v as usize);
    let shape = system.grid().shape();
    if let Some(method) = args.maybe_text(11) {
        options.method = Method::named(&method)?;
    }
    let sides = vector(6).unwrap_or_default();
    if !sides.is_empty() && (sides.len() != shape.len() || !sides.iter().all(|v| whole(*v))) {
        return wrong(6, "block", "must be a number of points for each axis");
    }
    let usual = |axis: usize| shape.get(axis).map_or(1, |n| options.usual_side(shape.len()).min(*n));
    let block = std::array::from_fn(|axis| sides.get(axis).map_or_else(|| usual(axis), |v| *v as usize));
    options.set_variant(args.maybe_text(5).as_deref().unwrap_or("component"), block)?;
    options.guess = match args.maybe_text(7).as_deref() {
        None | Some("previous") => Guess::Previous,
        Some("constant") => Guess::Constant,
        Some("linear") => Guess::Linear,
        Some(_) => return wrong(7, "guess", "must be 'previous', 'constant' or 'linear'"),
    };
    let precision = if args.maybe_flag(10) == Some(true) { Precision::F32 } else { Precision::F64 };
    let start = initial(vector(3).unwrap_or_default(), y0)?;
    let Relaxation { solution, t, report, .. } =
        relax_fields(&context, &system, t0, &start, &options, precision, &mut interrupt::progress)?;
    let column = |values: &[usize]| Out::column(values.iter().map(|v| *v as f64).collect());
    let fields = vec![c"iterations", c"steps", c"difference", c"memory_bytes", c"words", c"t"];
    let record = vec![
        column(&report.iterations),
        column(&report.window_steps),
        Out::Real(report.difference().unwrap_or(0.0)),
        Out::Real(report.memory_bytes as f64),
        Out::Real(report.words_per_component),
        Out::Real(t),
    ];
    Ok(Answer::Several(vec![Out::column(solution), Out::Records { fields, records: vec![record] }]))
}

/// The initial values given, or those of a test problem.
fn initial(given: Vec<f64>, own: Option<Vec<f64>>) -> Result<Vec<f64>, Fault> {
    if let Some(k) = given.iter().position(|v| !v.is_finite()) {
        let problem = format!("holds {} at place {}, expected finite numbers", given[k], k + 1);
        return Err(Fault::argument(id::VALUE, 4, "y0", problem));
    }
    Ok(if given.is_empty() { own.unwrap_or_default() } else { given })
}

/// The system of the arguments `system`, `data` and `n`, which have the same places in all functions.
struct Described {
    system: System,
    /// Those of a test problem.
    y0: Option<Vec<f64>>,
    /// Those of a test problem.
    stops: Vec<f64>,
}

impl Described {
    fn read(args: &Args<'_>) -> Result<Described, Fault> {
        let described = args.text(1);
        if described.trim().is_empty() {
            return Err(Fault::argument(
                id::VALUE,
                2,
                "system",
                "is empty, expected equations or the name of a test problem",
            ));
        }
        let (name, rest) = described.split_once('\n').unwrap_or((described.as_str(), ""));
        if PROBLEMS.contains(&name) {
            let Some(n) = args.maybe_count(9) else {
                return Err(Fault::argument(id::VALUE, 10, "n", "is missing: a test problem needs a number of points"));
            };
            let mut p = problem(name, n)?;
            for line in rest.lines().map(str::trim).filter(|line| !line.is_empty()) {
                p.system.set_powers(Powers::LeftToRight);
                p.system.event_from_text(line.strip_prefix("event").unwrap_or(line))?;
            }
            let y0 = p.system.by_fields(&p.y0()?);
            return Ok(Described { system: p.system, y0: Some(y0), stops: p.stops });
        }
        let data: Vec<Vec<f64>> = match args.value(8) {
            Value::Full(full) => full.values.reals().chunks(full.rows.max(1)).map(<[f64]>::to_vec).collect(),
            _ => Vec::new(),
        };
        let mut described = Description::read(&described)?;
        described.set_powers(Powers::LeftToRight);
        Ok(Described { system: described.system(&data)?, y0: None, stops: Vec::new() })
    }
}

impl Task {
    fn read(args: &Args<'_>) -> Result<Task, Fault> {
        let vector = |position: usize| match args.value(position) {
            Value::Full(full) => Some(full.values.reals()),
            _ => None,
        };
        let context = args.context()?;
        let Described { system, y0, stops } = Described::read(args)?;
        let mut options = Options { relative: 1e-3, absolute: 1e-6, stops, ..Options::default() };
        let y0 = initial(vector(3).unwrap_or_default(), y0)?;
        if let Some(tolerances) = vector(4) {
            match tolerances[..] {
                [relative, absolute] => (options.relative, options.absolute) = (relative, absolute),
                [relative, ref each @ ..] if each.len() == y0.len() && each.len() > 1 => {
                    (options.relative, options.absolute_each) = (relative, each.to_vec());
                }
                _ => {
                    let expected =
                        "must be [relative absolute], with one absolute tolerance or one for each number of y0";
                    return Err(Fault::argument(id::SHAPE, 5, "tol", expected));
                }
            }
        }
        let steps = vector(6).unwrap_or_default();
        if steps.len() > 5 {
            return Err(Fault::argument(id::SHAPE, 7, "steps", "has more than 5 numbers"));
        }
        if let Some(k) = steps.iter().position(|v| v.is_nan()) {
            return Err(Fault::argument(id::VALUE, 7, "steps", format_args!("holds NaN at place {}", k + 1)));
        }
        let said = |k: usize| steps.get(k).copied().filter(|v| *v != 0.0);
        (options.fixed_step, options.first_step) = (said(0), said(1));
        options.largest_step = said(2).unwrap_or(options.largest_step);
        if let Some(limit) = said(3) {
            if limit.is_nan() || limit < 1.0 {
                return Err(Fault::argument(
                    id::VALUE,
                    7,
                    "steps",
                    format_args!("allows {limit} steps, expected at least 1"),
                ));
            }
            options.step_limit = limit as usize;
        }
        let times = vector(2).unwrap_or_default();
        let mut settings = Settings { options, every_step: times.len() == 2, ..Settings::default() };
        if let Some(method) = args.maybe_text(5) {
            settings.method = method;
        }
        if let Some(variant) = args.maybe_text(7) {
            settings.variant = Variant::named(&variant)?;
        }
        if args.maybe_flag(10) == Some(true) {
            settings.precision = Precision::F32;
        }
        if let Some(refine) = said(4) {
            if !(1.0..=1e6).contains(&refine) {
                let problem = format_args!("has {refine} as `refine`, expected 1 to 1000000");
                return Err(Fault::argument(id::VALUE, 7, "steps", problem));
            }
            settings.refine = refine as usize;
        }
        Ok(Task { context, system, times, y0, settings })
    }
}

/// The results of a function for a solution with this many components.
fn answer(solution: Solution, columns: usize) -> Answer {
    let Solution { t, y, at_events, report } = solution;
    let rows = t.len();
    let happened = report.events.len();
    let fields = vec![c"accepted", c"rejected", c"rhs_evaluations", c"smallest_step", c"largest_step"];
    let record = vec![
        Out::Real(report.accepted as f64),
        Out::Real(report.rejected as f64),
        Out::Real(report.rhs_evaluations as f64),
        Out::Real(report.smallest_step),
        Out::Real(report.largest_step),
    ];
    Answer::Several(vec![
        Out::column(t),
        Out::Reals { rows, values: by_rows(&y, rows, columns) },
        Out::Records { fields, records: vec![record] },
        Out::column(report.events.iter().map(|e| e.t).collect()),
        Out::Reals { rows: happened, values: by_rows(&at_events, happened, columns) },
        Out::column(report.events.iter().map(|e| e.event as f64 + 1.0).collect()),
    ])
}

/// Numbers row by row in the host's order, column by column.
fn by_rows(y: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| y[r * columns + c]).collect()
}
