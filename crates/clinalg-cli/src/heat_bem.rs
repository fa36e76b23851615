//! `clinalg heat-bem`.

mod given;
mod inside;
mod memory;
mod predicted;
mod report;

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use clinalg::solve::{GmresParams, Operator, Stop};
use clinalg::{KernelFamily, Precision, Real, Vector};
use clinalg_bem::heat::data::{error_nodes, error_triangles};
use clinalg_bem::heat::{Algorithm, BoundaryProblem, Form, HeatParams, HeatSpace, OperatorOptions, Problem};
use clinalg_bem::surface::Field;
use clinalg_bem::{Mesh, Point};
use schemars::JsonSchema;
use serde::Serialize;

use self::given::{Boundary, Given};
use self::inside::Inside;
use self::memory::Memory;
use self::predicted::Predicted;
use crate::args::{self, DeviceName, PrecisionArg};
use crate::checkpoint::{Checkpoints, Fingerprint};
use crate::data::norm;
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::paths::check_outputs;
use crate::place::Place;
use crate::plot::Picture;
use crate::progress::Progress;
use crate::text::bytes;

/// Tables of algorithm 5 that are made unasked; with larger ones, of 100 000 time steps or more, algorithm 2 is taken.
const MOST_TABLE_BYTES: u64 = 2 << 30;

/// Products whose median is seconds_per_apply; fewer where they take longer than this.
const TIMED: usize = 5;
const TIMED_SECONDS: f64 = 2.0;

/// Solve the heat equation by boundary elements
///
/// du/dt - alpha Laplace u = 0 inside a closed surface, u = 0 or --initial at the start, by space-time Galerkin boundary elements: u
/// continuous and linear on the triangles, the flux w = alpha du/dn constant, both constant on each time step. One of u and w
/// is given on the surface at all times, the other is computed there.
#[derive(clap::Args)]
#[command(after_help = "\
JSON keys: mesh, problem, boundary, method, preconditioner, apply, precision, alpha, end_time,
tolerance, elements, nodes, steps, device, devices, kernel_family, algorithm, plan, iterations, stop,
converged, relative_residual, residual_history, error_l2, extrapolate, predicted_seconds (of the
assembly and of the solve, with GMRES of one iteration; null for short runs), seconds_assemble,
seconds_per_apply (null where the run was ended before its end), seconds_solve, stored_bytes,
peak_device_bytes, initial, times (the middles of the time steps), inside (of --points: point, u),
block_norms (with --report), pictures, vtk, out, checkpoint.
seconds_assemble is the assembly of both operators including kernel compilation,
seconds_solve the iteration; stored_bytes is the size of all blocks of the matrix
if stored, on all devices together. relative_residual is relative to the residual at the start x = b.
error_l2 is relative, in L2 over surface and time.

Values are constant on each time step: pictures and files show the means over the last
one, with --extrapolate those at the end time, by a parabola through the last three.

A formula EXPR gives u (with dirichlet) or w (with neumann) in terms of x, y, z,
the time t and the outward normal nx, ny, nz: + - * / ^, comparisons, if(c,a,b),
min, max, pow, sin cos tan asin acos atan sinh cosh tanh exp log sqrt abs, pi.
u must be 0, or --initial, at t = 0. The exact solution is unknown: error_l2 is null.

--initial is a formula in x, y, z. It is evaluated in a box around the body with a margin of half its
size, where a polynomial of degree 40 must approximate it: it must have no jumps, kinks or poles there.

Examples:
  clinalg heat-bem                           the cube of 768 triangles, 32 steps
  clinalg heat-bem --mesh sphere --boundary 't^2*(1+z)' --plot w.png
  clinalg heat-bem --problem neumann --boundary 'if(nz > 0.9, 1, 0)' --vtk u.vtu
  clinalg heat-bem --problem neumann --plot u.png
  clinalg heat-bem --mesh sphere --problem neumann --initial '1+x' --boundary 0 --points p.txt --out u.csv
  clinalg heat-bem --refine 1 --steps 10000 --end-time 100   by forward elimination
  clinalg heat-bem --refine 4 --devices 0,1
  clinalg heat-bem --mesh body.stl --steps 64 --source 0,0,9 --vtk body.vtu

Ctrl-C ends the solve after the current iteration, with --method forward after the current time
step, and writes a checkpoint. With GMRES it holds the basis since the last restart, one vector of all
unknowns per iteration. --resume FILE assembles again and continues from the checkpoint; on the same
device the result is bitwise that of an uninterrupted run. During the assembly Ctrl-C ends the
program at once.

The exit code is 0 if the tolerance or the rounding floor is reached, else 1.")]
pub(crate) struct Args {
    /// cube12, cube24 (on (-1, 1)^3), sphere (of radius 1), or a file .obj, .off, .stl or .msh
    #[arg(long, default_value = "cube12")]
    mesh: String,
    /// How often each triangle is split in four
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(..=10), value_name = "TIMES", allow_hyphen_values = true)]
    refine: u32,
    /// Number of time steps
    #[arg(long, default_value_t = 32, value_parser = args::positive, allow_hyphen_values = true)]
    steps: usize,
    /// End of the time interval, which starts at 0
    #[arg(long, default_value_t = 1.0, value_parser = args::above_zero, value_name = "T", allow_hyphen_values = true)]
    end_time: f64,
    /// Diffusivity
    #[arg(long, default_value_t = 0.5, value_parser = args::above_zero, allow_hyphen_values = true)]
    alpha: f64,
    /// Which boundary value is given
    #[arg(long, value_enum, default_value_t = ProblemArg::Dirichlet)]
    problem: ProblemArg,
    /// The given values: `fundamental`, the known solution for a point source outside the surface, or a formula
    #[arg(long, default_value = "fundamental", value_name = "fundamental|EXPR", allow_hyphen_values = true)]
    boundary: String,
    /// The temperature at t = 0, a smooth formula in x, y, z that is also defined around the body [default: 0]
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    initial: Option<String>,
    /// Position of the point source of `--boundary fundamental`, outside the surface
    #[arg(long, value_parser = args::point, default_value = "0,0,1.5", value_name = "X,Y,Z", allow_hyphen_values = true)]
    source: args::Place,
    /// Solver of the system
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    method: MethodArg,
    /// Preconditioner of GMRES
    #[arg(long, value_enum, default_value_t = PreconditionerArg::None)]
    preconditioner: PreconditionerArg,
    /// Iterations of GMRES between restarts [default: 200]
    #[arg(long, value_parser = args::positive, value_name = "COUNT", allow_hyphen_values = true)]
    restart: Option<usize>,
    /// Maximum number of iterations of GMRES [default: 10000]
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    max_iterations: Option<usize>,
    /// Whether the blocks of the matrices are stored
    #[arg(long, value_enum, default_value_t = Apply::Auto)]
    apply: Apply,
    /// Algorithm of products on the fly: 1 to 4 as published for GPUs, never stored; 5 by moments [default: 5, or 2 where the
    /// tables of 5 would take more than 2 GiB]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=5), value_name = "1..5", allow_hyphen_values = true)]
    algorithm: Option<u8>,
    /// Precision of the computation on the device
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Residual to reach, relative to the initial one [default: 1e-8 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// File of interior points, three numbers per line, for the temperature at the middle of each time step
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    /// Write the temperatures at the --points as CSV, a line for each time and point
    #[arg(long, value_name = "FILE", requires = "points")]
    out: Option<PathBuf>,
    /// Report the Frobenius norms of the blocks of the matrix, which must be stored
    #[arg(long)]
    report: bool,
    /// Draw and write the values extrapolated to the end time, in place of their means over the last time step
    #[arg(long)]
    extrapolate: bool,
    /// Draw the computed boundary value of the last time step into FILE (.png or .svg), and the residuals into a second file (-convergence)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write both boundary values of the last time step for ParaView (.vtu)
    #[arg(long, value_name = "FILE")]
    vtk: Option<PathBuf>,
    /// Write a checkpoint (.npz) if --max-iterations or Ctrl-C ends the solve; Ctrl-C writes clinalg-heat-bem-checkpoint.npz without this option
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue from a checkpoint; limits, tolerances and devices given with it override those of its run, all other options must stay the same; files to write are not taken from the checkpoint: name them again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ProblemArg {
    /// The temperature u; the flux w is computed
    Dirichlet,
    /// The flux w; the temperature u is computed
    Neumann,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum MethodArg {
    /// GMRES; from 128 time steps on forward elimination where it is predicted to be cheaper than 30 iterations and its inverse fits
    Auto,
    /// Generalised minimal residuals over all time steps at once
    Gmres,
    /// Block forward elimination: the diagonal block is inverted once, then the time steps are solved in order
    Forward,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Method {
    Gmres,
    Forward,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PreconditionerArg {
    None,
    /// Operator (Calderon-type) preconditioning: D for V, V for D, on the same mesh
    Opposite,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Apply {
    /// Stored on the device: the fastest products
    Assembled,
    /// Computed in every product
    Otf,
    /// Stored if they fit
    Auto,
}

#[derive(Serialize, JsonSchema)]
struct Document {
    mesh: String,
    #[schemars(with = "String")]
    problem: Problem,
    boundary: String,
    method: Method,
    preconditioner: PreconditionerArg,
    #[schemars(with = "String")]
    apply: Form,
    #[schemars(with = "String")]
    precision: Precision,
    alpha: f64,
    end_time: f64,
    tolerance: f64,
    elements: usize,
    nodes: usize,
    steps: usize,
    device: DeviceName,
    devices: Vec<DeviceName>,
    #[schemars(with = "String")]
    kernel_family: KernelFamily,
    algorithm: u8,
    plan: String,
    iterations: usize,
    #[schemars(with = "String")]
    stop: Stop,
    converged: bool,
    relative_residual: f64,
    residual_history: Vec<f64>,
    error_l2: Option<f64>,
    extrapolate: bool,
    predicted_seconds: Option<Predicted>,
    seconds_assemble: f64,
    seconds_per_apply: Option<f64>,
    seconds_solve: f64,
    stored_bytes: u64,
    peak_device_bytes: u64,
    initial: Option<String>,
    times: Vec<f64>,
    inside: Option<Vec<Inside>>,
    block_norms: Option<Vec<f64>>,
    pictures: Vec<String>,
    vtk: Option<String>,
    out: Option<String>,
    checkpoint: Option<String>,
}

/// The schema of the JSON document.
pub(crate) fn schema() -> schemars::Schema {
    crate::document::schema::<Document>()
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => solve::<f32>(args, global, out),
        PrecisionArg::F64 => solve::<f64>(args, global, out),
    }
}

/// Most triangles: a block of a matrix for them would have 2^40 entries.
const MOST_TRIANGLES: usize = 1 << 20;

impl Args {
    fn surface(&self) -> Result<Mesh, Failure> {
        let mesh = match self.mesh.as_str() {
            "cube12" => Mesh::cube12(),
            "cube24" => Mesh::cube24(),
            "sphere" => Mesh::icosphere(0)?,
            file => Mesh::read(file).map_err(|error| match error {
                clinalg::Error::Value { argument: "mesh", expected, .. } => {
                    Failure::usage(format!("--mesh {file}: expected cube12, cube24, sphere or {expected}"))
                }
                other => other.into(),
            })?,
        };
        let triangles = mesh.triangles().len() << (2 * self.refine);
        if triangles > MOST_TRIANGLES {
            let words = format!("--refine {} makes {triangles} triangles; at most {MOST_TRIANGLES}", self.refine);
            return Err(Failure::usage(words));
        }
        let times = self.refine as usize;
        Ok(if self.mesh == "sphere" { Mesh::icosphere(times)? } else { mesh.refined_times(times)? })
    }
}

/// [`HeatParams::shortness`] from which on entries are wrong, and from which on solutions are.
const SHORT: f64 = 1.0;
const TOO_SHORT: f64 = 3.0;
/// Iterations of GMRES between restarts where none are asked for.
const RESTART: usize = 200;

impl Args {
    /// A warning where the time steps are short for the triangles, an error where they are too short.
    fn check_steps(&self, params: &HeatParams, mesh: &Mesh) -> Result<(), Failure> {
        let shortness = params.shortness(mesh)?;
        // Blocks 0 and 1 have rules of their own.
        if self.steps <= 2 || shortness <= SHORT {
            return Ok(());
        }
        let most = ((self.steps as f64 / shortness) as usize).max(1);
        let times = self.refine + shortness.log(4.0).ceil() as u32;
        let advice = format!("take at most {most} steps, or --refine {times}");
        let what = format!(
            "time steps of {:e} are too short for these triangles, whose quadrature does not resolve the kernel",
            params.step()
        );
        if shortness > TOO_SHORT {
            return Err(Failure::usage(format!("--steps {}: {what}; {advice}", self.steps)));
        }
        log::warn!(target: "clinalg", "{what}: the values are not accurate, and may grow from step to step; {advice}");
        Ok(())
    }
}

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let picture = args.plot.as_deref().map(Picture::new).transpose()?;
    check_outputs(&[("--vtk", &args.vtk, &["vtu"]), ("--out", &args.out, &["csv"])])?;
    if args.report && matches!(args.apply, Apply::Otf) {
        return Err(Failure::usage("--report needs stored blocks: use --apply assembled"));
    }
    if args.method == MethodArg::Forward && args.preconditioner != PreconditionerArg::None {
        return Err(Failure::usage("--preconditioner is for --method gmres; forward elimination is direct"));
    }
    if args.algorithm.is_some_and(|k| k != 5) && matches!(args.apply, Apply::Assembled) {
        let words = "--apply assembled is for --algorithm 5; the others compute their blocks in every product";
        return Err(Failure::usage(words));
    }
    let tolerance = args.tol.unwrap_or(if T::PRECISION == Precision::F32 { 1e-5 } else { 1e-8 });
    let params = HeatParams::new(args.alpha, args.end_time, args.steps);
    params.check()?;
    let problem = match args.problem {
        ProblemArg::Dirichlet => Problem::Dirichlet,
        ProblemArg::Neumann => Problem::Neumann,
    };
    let form = match args.apply {
        Apply::Assembled => Form::Assembled,
        Apply::Otf => Form::Otf,
        Apply::Auto => Form::Auto,
    };
    let checkpoints = Checkpoints::new("heat-bem", &args.checkpoint, &args.resume)?;
    let mesh = args.surface()?;
    args.check_steps(&params, &mesh)?;
    let points = args.points.as_deref().map(|path| inside::points(path, &mesh)).transpose()?;
    let given = Given::new(args, &mesh, &params)?;
    out.phase("device");
    let place = match global.team()? {
        Some(team) => Place::Team(team),
        None => Place::Device(global.context(false)?),
    };
    let rows = problem.kinds().0.rows(&mesh);
    let preconditioned = args.preconditioner != PreconditionerArg::None;
    let of_gmres = preconditioned || args.restart.is_some() || args.max_iterations.is_some();
    let method = args.method.choose::<T>(of_gmres, &place.contexts()[0], rows, args.steps);
    let progress = match method {
        Method::Gmres => Progress::new(out, "iteration", tolerance),
        Method::Forward => Progress::of_steps(out, args.steps as u64),
    };
    progress.stage("assembling");
    out.phase("assembly");
    let mut start = Instant::now();
    let space = match &place {
        Place::Team(team) if global.balance => HeatSpace::<T>::balanced(team, &mesh, &params)?,
        Place::Team(team) => HeatSpace::on_team(team, &mesh, &params, &vec![1.0; team.ranks()])?,
        _ => HeatSpace::new(&place.contexts()[0], &mesh, &params)?,
    };
    let may_change = args.algorithm.is_none() && !matches!(args.apply, Apply::Assembled) && place.contexts().len() == 1;
    let mut algorithm = args.algorithm.unwrap_or(5);
    let mut options = OperatorOptions {
        form,
        algorithm: Algorithm::ALL[usize::from(algorithm) - 1],
        most_table_bytes: may_change.then_some(MOST_TABLE_BYTES),
        ..OperatorOptions::default()
    };
    progress.stage("predicting the time");
    let asked = Instant::now();
    let predicted = match predicted::predict(&space, problem, &options, method) {
        // Tables that are too large.
        Err(Failure::Library(clinalg::Error::Allocation { .. })) => None,
        predicted => predicted?,
    };
    start += asked.elapsed();
    progress.stage("assembling");
    // The operator of the right-hand side makes one product, which needs no stored blocks.
    let make = |options: &OperatorOptions| {
        let system = BoundaryProblem::new(&space, problem, options)?;
        Ok((system, space.operator(problem.kinds().1, &OperatorOptions { form: Form::Otf, ..*options })?))
    };
    let (system, right) = match make(&options) {
        Err(clinalg::Error::Allocation { .. }) if may_change => {
            algorithm = 2;
            options = OperatorOptions { algorithm: Algorithm::ALL[1], most_table_bytes: None, ..options };
            make(&options)?
        }
        made => made?,
    };
    place.finish()?;
    let matrix = start.elapsed();
    if args.report && !system.matrix().is_assembled() {
        let words = format!(
            "--report needs stored blocks, which take {}: make the mesh or the number of steps smaller",
            bytes(system.matrix().stored_bytes())
        );
        return Err(Failure::usage(words));
    }
    progress.stage("boundary values");
    out.phase("boundary values and right-hand side");
    let all_given = given.values(problem, &mesh, &params)?;
    if given.is_known() && all_given.iter().all(|v| *v == 0.0) {
        let words = "--source: its heat does not reach the surface before the end time, so all values are 0: move it nearer, \
                     or raise --end-time or --alpha";
        return Err(Failure::usage(words));
    }
    // What is solved for vanishes at the start.
    let of_start = given.of_start(problem, &mesh, &params)?;
    let right_values = match &of_start {
        Some([part, _]) => all_given.iter().zip(part).map(|(all, part)| all - part).collect(),
        None => all_given.clone(),
    };
    let fingerprint = || {
        let options = Fingerprint::default().described("--mesh", &(mesh.nodes(), mesh.triangles()));
        let options = options.option("--steps", args.steps).option("--end-time", args.end_time);
        let options = options
            .option("--alpha", args.alpha)
            .option("--problem", problem)
            .values("--boundary", Some(&right_values));
        let options = options.option("--method", method).option("--preconditioner", args.preconditioner);
        let options = options.option("--restart", args.restart.unwrap_or(RESTART)).option("--precision", T::PRECISION);
        options.option("--apply", args.apply).option("--algorithm", args.algorithm)
    };
    let loaded = checkpoints.resumed(|| Ok(fingerprint()))?;
    progress.stage("right-hand side");
    start = Instant::now();
    let b = system.right_side(&right, &right_values)?;
    drop(right);
    let inverse = match args.preconditioner {
        PreconditionerArg::Opposite => Some(system.operator_preconditioner(&options)?),
        PreconditionerArg::None => None,
    };
    place.finish()?;
    let assemble = matrix + start.elapsed();
    out.phase("solve");
    let solver = GmresParams::default().tolerance(tolerance).restart(args.restart.unwrap_or(RESTART));
    let solver = match args.max_iterations {
        Some(count) => solver.max_iterations(count),
        None => solver,
    };
    let mut memory = Memory::of(method, loaded)?;
    let mut forward = match method {
        Method::Gmres => None,
        Method::Forward => {
            progress.stage("inverting the diagonal block");
            Some(system.forward()?)
        }
    };
    place.finish()?;
    // Nothing is solved before.
    interrupt::watch();
    let start = Instant::now();
    let mut step = |step, residual| {
        progress.step(step as u64, residual);
        interrupt::go_on()
    };
    let (x, report) = match (&mut memory, &mut forward) {
        (Memory::Forward(memory), Some(forward)) => {
            forward.solve_from(memory, &b, tolerance, &mut |done| step(done, 1.0))?
        }
        (Memory::Gmres(memory), _) => system.gmres_from(memory, inverse.as_ref(), &b, solver, &mut step)?,
        (Memory::Forward(_), None) => unreachable!("made for this method"),
    };
    place.finish()?;
    let solve = start.elapsed();
    let peak = place.peak_bytes();
    let written = match memory.is_empty() {
        true => None,
        false => checkpoints.write(interrupt::interrupted(), |path| memory.save(path, fingerprint()))?,
    };
    out.phase("timing products");
    let per_apply = match interrupt::interrupted() {
        true => None,
        false => {
            progress.stage("timing products");
            Some(time_product(system.matrix(), &x)?)
        }
    };
    let found: Vec<f64> = x.to_vec()?.into_iter().map(T::into_f64).collect();
    progress.stage("error");
    out.phase("error and output");
    let error = match (&given.boundary, problem) {
        (Boundary::Formula(_), _) => None,
        (Boundary::Known(exact), Problem::Dirichlet) => {
            Some(error_triangles(&mesh, &params, &found, &|x: Point, n: Point, t: f64| exact.flux(x, n, t))?)
        }
        (Boundary::Known(exact), Problem::Neumann) => {
            Some(error_nodes(&mesh, &params, &found, &|x: Point, _: Point, t: f64| exact.value(x, t))?)
        }
    };
    let boundary = match problem {
        Problem::Dirichlet => (&found[..], &right_values[..]),
        Problem::Neumann => (&right_values[..], &found[..]),
    };
    progress.stage("points inside");
    let inside = points.map(|points| inside::evaluate(&points, &mesh, &params, boundary, &given)).transpose()?;
    let times = inside::middles(&params);
    if let (Some(path), Some(inside)) = (&args.out, &inside) {
        inside::write(path, &times, inside)?;
    }
    let norms = if args.report { Some(inside::block_norms(system.matrix())?) } else { None };
    let values: Vec<f64> = match &of_start {
        Some([_, part]) => found.iter().zip(part).map(|(found, part)| found + part).collect(),
        None => found,
    };
    drop(progress);
    let mut document = Document {
        mesh: args.mesh.clone(),
        problem,
        boundary: args.boundary.clone(),
        method,
        preconditioner: args.preconditioner,
        apply: if system.matrix().is_assembled() { Form::Assembled } else { Form::Otf },
        precision: T::PRECISION,
        alpha: args.alpha,
        end_time: args.end_time,
        extrapolate: args.extrapolate,
        tolerance,
        elements: mesh.triangles().len(),
        nodes: mesh.nodes().len(),
        steps: args.steps,
        device: space.context().device().into(),
        devices: place.devices(),
        kernel_family: space.context().family(),
        algorithm,
        plan: system.matrix().plan_description(),
        iterations: report.iterations,
        stop: report.stop,
        converged: report.stop.is_success(),
        relative_residual: report.relative_residual,
        residual_history: report.history,
        error_l2: error,
        predicted_seconds: predicted,
        seconds_assemble: assemble.as_secs_f64(),
        seconds_per_apply: per_apply,
        seconds_solve: solve.as_secs_f64(),
        stored_bytes: system.matrix().stored_bytes(),
        peak_device_bytes: peak,
        initial: args.initial.clone(),
        times,
        inside,
        block_norms: norms,
        pictures: Vec::new(),
        out: args.out.as_ref().map(|path| path.display().to_string()),
        vtk: args.vtk.as_ref().map(|path| path.display().to_string()),
        checkpoint: written,
    };
    if let Some(picture) = picture {
        document.draw(&picture, &mesh, &values)?;
    }
    if let Some(path) = &args.vtk {
        let last = |values: &[f64]| shown(values, args.steps, args.extrapolate);
        let (found, given) = (last(&values), last(&all_given));
        let fields = match problem {
            Problem::Dirichlet => [Field::Triangles("w", &found), Field::Nodes("u", &given)],
            Problem::Neumann => [Field::Triangles("w", &given), Field::Nodes("u", &found)],
        };
        mesh.write_vtk(path, &fields)?;
    }
    if method == Method::Gmres && matches!(document.stop, Stop::Stagnated | Stop::IterationLimit | Stop::RoundingFloor)
    {
        log::warn!(
            target: "clinalg",
            "GMRES has not met the tolerance; --method forward solves the time steps one after the other, without iterations"
        );
    }
    document.print(&mesh.quality(), &params, out)?;
    out.norms(|| Ok([("b", norm(&b.to_vec()?)), ("x", norm(&values))]))?;
    out.details(place.contexts())?;
    out.json(&document)?;
    Ok(match document.stop {
        Stop::Converged | Stop::RoundingFloor => Exit::Done,
        _ => Exit::NotReached,
    })
}

/// The median time of a product.
fn time_product<T: Real>(matrix: &dyn Operator<T>, x: &Vector<T>) -> clinalg::Result<f64> {
    let mut y = Vector::zeros(matrix.context(), matrix.rows())?;
    let mut times = Vec::with_capacity(TIMED);
    for _ in 0..TIMED {
        let start = Instant::now();
        matrix.apply(T::one(), x, T::zero(), &mut y)?;
        matrix.context().finish()?;
        times.push(start.elapsed().as_secs_f64());
        if times.iter().sum::<f64>() > TIMED_SECONDS {
            break;
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// The values on the surface that are drawn and written: means over the last time step, or extrapolated to its end by the
/// parabola that has the means of the last three steps (with two steps, the line): (11 a - 7 b + 2 c) / 6 for the means a, b, c
/// from the last one back.
fn shown(values: &[f64], steps: usize, extrapolate: bool) -> Vec<f64> {
    let count = values.len() / steps;
    let of = |back: usize| &values[count * (steps - 1 - back)..count * (steps - back)];
    match (extrapolate, steps) {
        (true, 3..) => (0..count).map(|k| (11.0 * of(0)[k] - 7.0 * of(1)[k] + 2.0 * of(2)[k]) / 6.0).collect(),
        (true, 2) => (0..count).map(|k| 1.5 * of(0)[k] - 0.5 * of(1)[k]).collect(),
        _ => of(0).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_parabola_is_extrapolated_exactly() {
        // The means of t^2 over eight steps to t = 1; two places with multiples of it.
        let mean = |k: usize| (3 * k * k + 3 * k + 1) as f64 / 192.0;
        let values: Vec<f64> = (0..8).flat_map(|k| [mean(k), 2.0 * mean(k)]).collect();
        assert!((shown(&values, 8, false)[0] - 0.880_208).abs() < 1e-6);
        let end = shown(&values, 8, true);
        assert!((end[0] - 1.0).abs() < 1e-14 && (end[1] - 2.0).abs() < 1e-14, "{end:?}");
        assert_eq!(shown(&[1.0, 3.0], 2, true), [4.0]);
        assert_eq!(shown(&[1.0], 1, true), [1.0]);
    }
}
