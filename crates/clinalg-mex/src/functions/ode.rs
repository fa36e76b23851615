//! Initial value problems.

use clinalg::{Context, Precision};
use clinalg_ode::integrate::Options;
use clinalg_ode::ivp::{Settings, Solution, solve};
use clinalg_ode::problems::{PROBLEMS, problem};
use clinalg_ode::{System, Variant};

use super::{GPU, count, handle, text};
use crate::args::{Args, Full, Input, Kind, Reals, Value};
use crate::emit::{Answer, Out};
use crate::fault::{Fault, id};
use crate::table::Function;
use crate::{runs, session};

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
system is a description of y' = f(t, y), a statement a line, such as
  grid 64 32                       points along each axis; one point without this line
  parameter a = 0.25
  u' = a*(u[-1,0] - 2*u + u[1,0])  the derivative of a field by a formula
  boundary periodic                or mirror, copy, value and a formula for each field
  event falling terminal = u       zeros of a formula; rising, falling, terminal, and 'at 3 0' with grid indices
                                   from 0 on, are said where they are wanted
(docs/guide/ode.md has them all), or the name of a test problem, with n points along each axis; lines with events
may follow. y0 has all points of the first field, then those of the next; [] takes the values of a test problem.

times has the first and the last time; the solution is then given at the end of every step. With more times it is
given at these. Row k of y is the solution at t(k). te are the times of events, the rows of ye the solutions there,
ie which events they were, in the order of their lines from 1 on; the last row of y is that of a terminal one.
  tol      [relative absolute] tolerance of a step (default [1e-3 1e-6]); [relative absolute_1 ...] with
           an absolute tolerance for each number of y0
  method   'dopri54' (default), 'bs32', 'verner65', 'dopri87', 'rk4', ...
  steps    [fixed first largest limit refine]: steps of a fixed size, the first and the largest step, the
           most steps; with two times, times in every step that the solution is given at instead of
           its end alone; 0 where nothing is said
  variant  how the method becomes kernels, 'auto' (default), 'fused', 'basic', ...
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
            Ok(answer(solve(&context, &system, &times, &y0, &settings)?, y0.len()))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexOdeBegin",
        title: "Begin to solve an initial value problem, to go on step by step.",
        inputs: INPUTS,
        required: 4,
        outputs: &["run", "y0"],
        text: "\
The arguments are those of MexOde. run is what MexOdeNext and MexOdeEnd take, y0 a column with the initial
values, those of a test problem among them. What is wrong with the equations, MexOdeEnd tells.",
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
            Ok(Answer::Several(vec![Out::Handle(runs::begin(task)), Out::column(y0)]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexOdeNext",
        title: "What the next step adds to a solution.",
        inputs: &[GPU, handle("run")],
        required: 2,
        outputs: &["t", "y"],
        text: "\
run is what MexOdeBegin gave. Row k of y is the solution at t(k): at the end of the step, at more times in it,
or at those asked for that lie in it, steps without one being passed over. At the end both are empty.",
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
        title: "End a solution that MexOdeBegin began.",
        inputs: &[GPU, handle("run")],
        required: 2,
        outputs: OUTPUTS,
        text: "\
run is what MexOdeBegin gave, and is not valid afterwards. The results are those of MexOde, up to what MexOdeNext
gave last. Every solution that was begun is to be ended; MexReleaseOpenCL ends them all.",
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
];

impl From<clinalg_ode::Error> for Fault {
    fn from(error: clinalg_ode::Error) -> Fault {
        Fault::new(error.id(), &error)
    }
}

fn numbers(full: &Full<'_>) -> Vec<f64> {
    match full.values {
        Reals::Single(values) => values.iter().map(|v| f64::from(*v)).collect(),
        Reals::Double(values) => values.to_vec(),
        Reals::Logical(values) => values.iter().map(|v| f64::from(u8::from(*v != 0))).collect(),
    }
}

/// What is to be solved.
pub(crate) struct Task {
    pub(crate) context: Context,
    pub(crate) system: System,
    pub(crate) times: Vec<f64>,
    pub(crate) y0: Vec<f64>,
    pub(crate) settings: Settings,
}

impl Task {
    fn read(args: &Args<'_>) -> Result<Task, Fault> {
        let vector = |position: usize| match args.value(position) {
            Value::Full(full) => Some(numbers(full)),
            _ => None,
        };
        let context = args.context()?;
        let described = args.text(1);
        if described.trim().is_empty() {
            return Err(Fault::argument(
                id::VALUE,
                2,
                "system",
                "is empty, expected equations or the name of a test problem",
            ));
        }
        let mut options = Options { relative: 1e-3, absolute: 1e-6, ..Options::default() };
        let (name, rest) = described.split_once('\n').unwrap_or((described.as_str(), ""));
        let (system, y0) = if PROBLEMS.contains(&name) {
            let Some(n) = args.maybe_count(9) else {
                return Err(Fault::argument(id::VALUE, 10, "n", "is missing: a test problem needs a number of points"));
            };
            let mut p = problem(name, n)?;
            for line in rest.lines().map(str::trim).filter(|line| !line.is_empty()) {
                p.system.event_from_text(line.strip_prefix("event").unwrap_or(line))?;
            }
            options.stops = p.stops;
            let y0 = p.system.by_fields(&p.y0);
            (p.system, Some(y0))
        } else {
            let data = match args.value(8) {
                Value::Full(full) => numbers(full).chunks(full.rows.max(1)).map(<[f64]>::to_vec).collect(),
                _ => Vec::new(),
            };
            (System::from_text(&described, &data)?, None)
        };
        let given = vector(3).unwrap_or_default();
        if let Some(k) = given.iter().position(|v| !v.is_finite()) {
            let problem = format!("holds {} at place {}, expected finite numbers", given[k], k + 1);
            return Err(Fault::argument(id::VALUE, 4, "y0", problem));
        }
        let y0 = if given.is_empty() { y0.unwrap_or_default() } else { given };
        if let Some(tolerances) = vector(4) {
            match tolerances[..] {
                [relative, absolute] => (options.relative, options.absolute) = (relative, absolute),
                [relative, ref each @ ..] if each.len() == y0.len() && each.len() > 1 => {
                    (options.relative, options.absolute_each) = (relative, each.to_vec());
                }
                _ => {
                    let expected = "has not the numbers [relative absolute], with one absolute tolerance or one for each number of y0";
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
