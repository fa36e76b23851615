//! The report on a wave, as text, pictures and JSON.

use std::time::Duration;

use clinalg::multigrid::Backend;
use clinalg::wave::{ImplicitReport, Scheme, WaveParams};
use clinalg::{KernelFamily, Precision, Real};
use schemars::JsonSchema;
use serde::Serialize;

use super::Mode;
use super::motion::Motion;
use super::problem::Problem;
use super::shape::{Initial, Shape};
use super::time_loop::{Energies, Integrated};
use crate::args::DeviceName;
use crate::executor::device_description;
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::{Output, Report};
use crate::plot::{Field, Frames};
use crate::text::{bytes, number, precision, seconds};

/// The report on a wave on a grid that `G` describes.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Document<G> {
    #[serde(flatten)]
    grid: G,
    #[serde(flatten)]
    pub(super) run: Run,
}

/// A grid, and how its steps are made.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Grid {
    Square(Square),
    Box(Boxed),
}

impl Grid {
    fn new<T: Real>(problem: &Problem<'_, T>, global: &Global) -> Result<Grid, Failure> {
        let Problem { args, shape, params, executor, .. } = problem;
        if shape.is_box {
            let WaveParams { points, size, sponge, .. } = params.clone();
            return Ok(Grid::Box(Boxed { points, size, sides: shape.side_names(), sponge, dt_limit: params.limit()? }));
        }
        let explicit = params.scheme == Scheme::Explicit;
        let passes = explicit && params.backend == Backend::Kernels && !args.has_medium();
        Ok(Grid::Square(Square {
            n: args.n,
            scheme: params.scheme,
            backend: params.backend,
            devices: executor.devices_of_all(global)?,
            courant: params.courant(),
            courant_limit: explicit.then_some(WaveParams::COURANT_LIMIT),
            steps_per_pass: passes.then_some(params.steps_per_pass),
            implicit: None,
        }))
    }
}

/// The square of `--n`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Square {
    n: usize,
    #[schemars(with = "String")]
    scheme: Scheme,
    #[schemars(with = "String")]
    backend: Backend,
    devices: Vec<DeviceName>,
    courant: f64,
    courant_limit: Option<f64>,
    steps_per_pass: Option<usize>,
    #[schemars(with = "Option<crate::document::ImplicitReport>")]
    implicit: Option<ImplicitReport>,
}

/// The grid of `--points`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Boxed {
    points: Vec<usize>,
    size: Vec<f64>,
    sides: Vec<String>,
    sponge: Option<f64>,
    dt_limit: f64,
}

/// A wave from its start to its end.
#[derive(Serialize, JsonSchema)]
pub(super) struct Run {
    #[schemars(with = "String")]
    precision: Precision,
    device: Option<DeviceName>,
    #[schemars(with = "Option<String>")]
    kernel_family: Option<KernelFamily>,
    initial: String,
    velocity: Option<String>,
    speed: Option<String>,
    force: Option<String>,
    force_time: Option<String>,
    mode: Option<Mode>,
    c: f64,
    steps: u64,
    dt: f64,
    end_time: f64,
    energy: f64,
    energy_drift: Option<f64>,
    energy_end: f64,
    pub(super) error_max: Option<f64>,
    points_per_second: f64,
    seconds_setup: f64,
    seconds_solve: f64,
    pub(super) peak_device_bytes: u64,
    pub(super) out: Option<String>,
    pub(super) series: Option<String>,
    pub(super) checkpoint: Option<String>,
    pictures: Vec<String>,
    #[serde(skip)]
    points: Vec<usize>,
    /// Whether waves leave by a side.
    #[serde(skip)]
    absorbs: bool,
    /// Whether all steps were taken.
    #[serde(skip)]
    complete: bool,
}

/// What the colours of all frames reach to on both sides of 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    most: f64,
    /// Whether a force moves what is drawn, whose frames may be larger than the first.
    grows: bool,
}

impl Range {
    /// From the first frame.
    pub(super) fn new<T: Real>(u: &[T], grows: bool) -> Range {
        Range { most: largest(u), grows }
    }

    /// For the frame `u`, the next one: the largest so far where it grows.
    pub(super) fn of<T: Real>(&mut self, u: &[T]) -> f64 {
        if self.grows {
            self.most = self.most.max(largest(u));
        }
        if self.most > 0.0 { self.most } else { 1.0 }
    }
}

fn largest<T: Real>(u: &[T]) -> f64 {
    u.iter().map(|v| v.into_f64().abs()).filter(|v| v.is_finite()).fold(0.0, f64::max)
}

impl Run {
    /// What stands below the title of a frame.
    fn subtitle(&self) -> String {
        let speed = self.speed.as_ref().map_or(format!("c = {}", self.c), |speed| format!("c = {speed}"));
        format!("{speed}, dt = {} · {}", number(self.dt, 4), precision(self.precision))
    }
}

impl Document<Grid> {
    /// Of a wave that starts or continues after this time of set-up.
    pub(super) fn new<T: Real>(
        problem: &Problem<'_, T>,
        energies: Energies,
        setup: Duration,
        global: &Global,
    ) -> Result<Document<Grid>, Failure> {
        let Problem { args, shape, initial, params, executor, .. } = problem;
        let run = Run {
            precision: T::PRECISION,
            device: executor.device(),
            kernel_family: executor.family(),
            initial: args.initial_name(shape).to_owned(),
            velocity: args.velocity.clone(),
            speed: args.speed.clone(),
            force: args.force.clone(),
            force_time: args.force_time.clone(),
            mode: if let Initial::Mode(mode, _) = initial { Some(mode.clone()) } else { None },
            c: params.c,
            steps: 0,
            dt: params.dt,
            end_time: 0.0,
            energy: energies.energy,
            energy_drift: Some(energies.drift),
            energy_end: energies.energy,
            error_max: None,
            points_per_second: 0.0,
            seconds_setup: setup.as_secs_f64(),
            seconds_solve: 0.0,
            peak_device_bytes: 0,
            out: None,
            series: None,
            checkpoint: None,
            pictures: Vec::new(),
            points: shape.params.points.clone(),
            absorbs: shape.absorbs(),
            complete: false,
        };
        Ok(Document { grid: Grid::new(problem, global)?, run })
    }

    /// After the steps from `first` on to `last`, if they all were taken.
    pub(super) fn end<T: Real>(&mut self, wave: &dyn Motion<T>, first: u64, last: usize, integrated: &Integrated) {
        if let Grid::Square(square) = &mut self.grid {
            square.implicit = integrated.implicit;
        }
        let run = &mut self.run;
        // A force changes the energy.
        run.energy_drift = run.force.is_none().then_some(integrated.drift);
        run.energy_end = integrated.energy;
        run.steps = wave.steps();
        run.end_time = wave.time();
        run.seconds_solve = integrated.solving.as_secs_f64();
        let points: usize = run.points.iter().product();
        run.points_per_second = points as f64 * (run.steps - first) as f64 / run.seconds_solve;
        run.complete = integrated.went_well() && run.steps >= last as u64;
    }

    /// Draws one frame, of three dimensions on the plane in the middle of the last one.
    pub(super) fn draw<T: Real>(
        &mut self,
        frames: &Frames,
        shape: &Shape,
        (frame, time): (usize, f64),
        u: &[T],
        most: f64,
    ) -> Result<(), Failure> {
        let lattice = &shape.lattice;
        let plane = lattice.points(0) * lattice.points(1);
        let middle = lattice.points(2) / 2;
        let values: Vec<f64> = u[middle * plane..][..plane].iter().map(|v| v.into_f64()).collect();
        let across = match lattice.dim() {
            3 => format!(", plane z = {}", lattice.coordinates(2)[middle]),
            _ => String::new(),
        };
        let field = Field {
            title: format!("Wave equation, {} points, t = {}{across}", shape.name(" × "), number(time, 5)),
            subtitle: self.run.subtitle(),
            label: "u",
            columns: lattice.points(0),
            bounds: [0, 1].map(|axis| {
                let along = lattice.coordinates(axis);
                [along[0], along[along.len() - 1]]
            }),
            values: &values,
            range: Some((-most, most)),
        };
        let picture = frames.picture(frame)?;
        self.run.pictures.push(picture.draw(&field)?);
        Ok(())
    }

    /// The displacement at the start.
    fn initial(&self) -> String {
        let is_square = matches!(self.grid, Grid::Square(_));
        match (self.run.initial.as_str(), &self.run.mode) {
            (_, Some(Mode(counts))) if is_square => {
                let times = |axis: usize| if counts[axis] == 1 { String::new() } else { format!("{} ", counts[axis]) };
                format!("u = sin({}pi x) sin({}pi y)", times(0), times(1))
            }
            (_, Some(Mode(counts))) => {
                let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
                format!("a standing wave, mode {}", counts.join(","))
            }
            ("gauss", _) if is_square => "u = exp(-r^2 / 0.005) around (0.3, 0.4)".to_owned(),
            ("gauss", _) => "a bump exp(-r^2 / 0.005) in units of the shortest side".to_owned(),
            ("pluck", _) if is_square => "drawn out to 1 at (0.3, 0.4)".to_owned(),
            ("pluck", _) => "drawn out to 1 at one point".to_owned(),
            (given, _) => format!("u = {given}"),
        }
    }

    /// How steps are made, and how large they are.
    fn print_method(&self, out: &mut Output) -> Result<(), Failure> {
        let dt = self.run.dt;
        match &self.grid {
            Grid::Box(grid) => {
                let sponge = grid.sponge.map_or(String::new(), |width| format!("; damping layers of width {width}"));
                out.field("sides", format!("{}{sponge}", grid.sides.join(", ")))?;
                out.field("method", "leapfrog; kernels for this stencil")?;
                out.field("time step", format!("{}, stable to {}", number(dt, 7), number(grid.dt_limit, 7)))
            }
            Grid::Square(square) => {
                let scheme = match square.scheme {
                    Scheme::Explicit => "leapfrog",
                    Scheme::Implicit => "Newmark with beta = 1/4, by multigrid",
                };
                let backend = match square.backend {
                    Backend::Kernels => "kernels for this stencil",
                    Backend::Matrix => "sparse matrices and vectors",
                    Backend::Reference => "plain Rust",
                };
                let passes = square.steps_per_pass.map_or(String::new(), |most| match most {
                    1 => ", one step per pass".to_owned(),
                    most => format!(", up to {most} steps per pass"),
                });
                out.field("method", format!("{scheme}; {backend}{passes}"))?;
                let limit =
                    square.courant_limit.map_or(String::new(), |limit| format!(", stable to {}", number(limit, 4)));
                let courant = number(square.courant, 4);
                out.field("time step", format!("{}, Courant number {courant}{limit}", number(dt, 7)))
            }
        }
    }
}

impl Report for Document<Grid> {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let run = &self.run;
        let size = match &self.grid {
            Grid::Square(_) => String::new(),
            Grid::Box(grid) => {
                format!(" on {}", grid.size.iter().map(f64::to_string).collect::<Vec<_>>().join(" x "))
            }
        };
        let force = if run.force.is_some() { " + force" } else { "" };
        let points = run.points.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        out.line(format!(
            "Wave equation u_tt = c^2 Laplace u{force}, {points} points{size}, {}",
            precision(run.precision)
        ))?;
        out.line("")?;
        let devices = match &self.grid {
            Grid::Square(square) => &square.devices[..],
            Grid::Box(_) => run.device.as_slice(),
        };
        out.field("device", device_description(devices, run.kernel_family))?;
        let velocity = run.velocity.as_ref().map_or("at rest".into(), |v| format!("u_t = {v}"));
        out.field("start", format!("{}, {velocity}", self.initial()))?;
        if let Some(speed) = &run.speed {
            out.field("speed", format!("c = {speed}, at most {}", run.c))?;
        }
        if let Some(force) = &run.force {
            let factor = run.force_time.as_ref().map_or(String::new(), |g| format!(" * ({g})"));
            out.field("force", format!("({force}){factor}"))?;
        }
        self.print_method(out)?;
        out.field("steps", format!("{}, to t = {}", run.steps, number(run.end_time, 7)))?;
        if let Grid::Square(Square { implicit: Some(implicit), .. }) = &self.grid {
            let per_step = implicit.cycles as f64 / run.steps.max(1) as f64;
            let most = implicit.relative_residual;
            let outcome = implicit.stop;
            out.field(
                "equations",
                format!("{outcome}; {per_step:.1} cycles per step, relative residuals up to {}", number(most, 2)),
            )?;
        }
        out.line("")?;
        let of = if run.energy == 0.0 { "" } else { " relative to the start" };
        let verb = if run.absorbs { "changed" } else { "drifted" };
        let change = run.energy_drift.map_or("the force changes it".to_owned(), |drift| {
            format!("it {verb} by at most {}{of}", number(drift, 2))
        });
        out.field("energy", format!("{}, at the end {}; {change}", number(run.energy, 7), number(run.energy_end, 7)))?;
        run.print_end(out)
    }

    fn exit(&self) -> Exit {
        if self.run.complete { Exit::Done } else { Exit::NotReached }
    }
}

impl Run {
    /// What follows the energy.
    fn print_end(&self, out: &mut Output) -> Result<(), Failure> {
        if let Some(error) = self.error_max {
            out.field("error", format!("{} at most, against the exact standing wave", number(error, 5)))?;
        }
        let time = format!("set-up {}, steps {}", seconds(self.seconds_setup), seconds(self.seconds_solve));
        out.field("time", format!("{time}: {} points per second", number(self.points_per_second, 4)))?;
        if self.device.is_some() {
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        for (name, file) in [("displacement", &self.out), ("series", &self.series), ("checkpoint", &self.checkpoint)] {
            file.iter().try_for_each(|file| out.field(name, file))?;
        }
        if let (Some(first), Some(last)) = (self.pictures.first(), self.pictures.last()) {
            out.field("pictures", format!("{first} to {last}"))?;
        }
        Ok(())
    }
}
