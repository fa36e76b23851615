//! `clinalg heat-bem`.

mod boundary;
mod inside;
mod memory;
mod predicted;
mod report;
mod solver;

use std::path::PathBuf;

use clap::ValueEnum;
use clinalg::multigrid::Backend;
use clinalg::{Real, shown};
use clinalg_bem::heat::{HeatParams, Problem};
use clinalg_bem::{Mesh, Point};
use schemars::JsonSchema;
use serde::Serialize;

use self::boundary::BoundaryValues;
use self::memory::Memory;
pub(crate) use self::report::Document;
use self::solver::Solver;
use crate::args::{self, PrecisionArg};
use crate::checkpoint::Checkpoints;
use crate::data::norm;
use crate::executor::Executor;
use crate::exit::{Exit, Failure, check_options, usage};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::paths::check_outputs;
use crate::plot::{Picture, PlotArgs};

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
  clinalg heat-bem                           the cube of 384 triangles, 16 steps
  clinalg heat-bem --mesh sphere --boundary 't^2*(1+z)' --plot w.png
  clinalg heat-bem --problem neumann --boundary 'if(nz > 0.9, 1, 0)' --vtk u.vtu
  clinalg heat-bem --problem neumann --plot u.png
  clinalg heat-bem --mesh sphere --problem neumann --initial '1+x' --boundary 0 --points p.txt --out u.csv
  clinalg heat-bem --refine 1 --steps 10000 --end-time 100   by forward elimination
  clinalg heat-bem --refine 3 --devices 0,1
  clinalg heat-bem --mesh body.stl --steps 64 --source 0,0,9 --vtk body.vtu

Ctrl-C ends the solve after the current iteration, with --method forward after the current time
step, and writes a checkpoint. With GMRES it holds the basis since the last restart, one vector of all
unknowns per iteration. --resume FILE assembles again and continues from the checkpoint; on the same
device the result is bitwise that of an uninterrupted run. During the assembly Ctrl-C ends the
program at once.

The exit code is 0 if the tolerance or the rounding floor is reached, else 1.")]
pub(crate) struct Args {
    /// cube12, cube24 (on (-1, 1)^3), sphere (of radius 1), or a file .obj, .off, .stl or .msh
    #[arg(long, default_value = "cube24")]
    mesh: String,
    /// How often each triangle is split in four
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=10), value_name = "TIMES", allow_hyphen_values = true)]
    refine: u32,
    /// Number of time steps
    #[arg(long, default_value_t = 16, value_parser = args::positive, allow_hyphen_values = true)]
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
    #[arg(long, default_value = "fundamental", value_name = "NAME|EXPR", allow_hyphen_values = true)]
    boundary: String,
    /// The temperature at t = 0, a smooth formula in x, y, z that is also defined around the body [default: 0]
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    initial: Option<String>,
    /// Position of the point source of `--boundary fundamental`, outside the surface
    #[arg(long, value_parser = args::point, default_value = "0,0,3", value_name = "X,Y,Z", allow_hyphen_values = true)]
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
    #[command(flatten)]
    style: PlotArgs,
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
    Operator,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Apply {
    /// Stored on the device: the fastest products
    Assembled,
    /// Computed in every product
    Otf,
    /// Stored if they fit
    Auto,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => solve::<f32>(args, global, out),
        PrecisionArg::F64 => solve::<f64>(args, global, out),
    }
}

/// The surfaces that `--mesh` names.
pub(crate) const MESHES: [&str; 3] = ["cube12", "cube24", "sphere"];

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
                    Failure::usage(format!("--mesh {file}: expected {} or {expected}", MESHES.join(", ")))
                }
                other => other.into(),
            })?,
        };
        let triangles = mesh.triangles().len() << (2 * self.refine);
        if triangles > MOST_TRIANGLES {
            return usage!(
                "--refine {} makes {triangles} triangles, but at most {MOST_TRIANGLES} are possible: refine fewer times",
                self.refine
            );
        }
        let times = self.refine as usize;
        Ok(if self.mesh == "sphere" { Mesh::icosphere(times)? } else { mesh.refined_times(times)? })
    }
}

/// [`HeatParams::shortness`] from which on entries are wrong, and from which on solutions are.
const SHORT: f64 = 1.0;
const TOO_SHORT: f64 = 3.0;
impl Args {
    /// The parameters of the discretisation, with options that go together.
    fn params(&self) -> Result<HeatParams, Failure> {
        let is_forward = self.method == MethodArg::Forward;
        let faults = [
            (self.report && self.apply == Apply::Otf, "--report needs stored blocks: use --apply assembled"),
            (
                is_forward && self.preconditioner != PreconditionerArg::None,
                "--preconditioner is for --method gmres; forward elimination is direct",
            ),
            (
                self.algorithm.is_some_and(|k| k != 5) && self.apply == Apply::Assembled,
                "--apply assembled is for --algorithm 5; the others compute their blocks in every product",
            ),
        ];
        check_options(&faults)?;
        let params = HeatParams::new(self.alpha, self.end_time, self.steps);
        params.check()?;
        Ok(params)
    }

    /// Whether an option of GMRES is given.
    fn has_gmres_options(&self) -> bool {
        self.preconditioner != PreconditionerArg::None || self.restart.is_some() || self.max_iterations.is_some()
    }

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
            "time steps of {} are too short for these triangles, whose quadrature does not resolve the kernel",
            shown(params.step())
        );
        if shortness > TOO_SHORT {
            return usage!("--steps {}: {what}; {advice}", self.steps);
        }
        log::warn!(target: "clinalg", "{what}: the values are not accurate, and may grow from step to step; {advice}");
        Ok(())
    }
}

/// What options and files describe.
struct Input {
    problem: Problem,
    params: HeatParams,
    mesh: Mesh,
    points: Option<Vec<Point>>,
    boundary: BoundaryValues,
}

impl Input {
    fn read(args: &Args, params: HeatParams) -> Result<Input, Failure> {
        let problem = match args.problem {
            ProblemArg::Dirichlet => Problem::Dirichlet,
            ProblemArg::Neumann => Problem::Neumann,
        };
        let mesh = args.surface()?;
        args.check_steps(&params, &mesh)?;
        let points = args.points.as_deref().map(|path| inside::points(path, &mesh)).transpose()?;
        let boundary = BoundaryValues::new(args, &mesh, &params)?;
        Ok(Input { problem, params, mesh, points, boundary })
    }
}

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    check_outputs(&[("--vtk", &args.vtk, &["vtu"]), ("--out", &args.out, &["csv"])])?;
    let params = args.params()?;
    let checkpoints = Checkpoints::new("heat-bem", &args.checkpoint, &args.resume)?;
    let input = Input::read(args, params)?;

    out.phase("device");
    let executor = Executor::new(global, Backend::Kernels)?;
    let (mut solver, right) = Solver::<T>::assemble(args, &input, &executor, global, out)?;
    solver.progress.stage("boundary values");
    out.phase("boundary values and right-hand side");
    let data = input.boundary.data(input.problem, &input.mesh, &input.params)?;
    let method = solver.method;
    let fingerprint = || memory::fingerprint::<T>(args, &input, method, &data);
    let loaded = checkpoints.resumed(|| Ok(fingerprint()))?;
    let b = solver.right_side(right, &data)?;

    out.phase("solve");
    let mut memory = Memory::of(method, loaded)?;
    let solved = solver.solve(&b, &mut memory)?;
    let checkpoint = match memory.is_empty() {
        true => None,
        false => checkpoints.write(interrupt::interrupted(), |path| memory.save(path, fingerprint()))?,
    };
    out.phase("timing products");
    let seconds_per_apply = solver.time_product(&solved.x)?;

    solver.progress.stage("error");
    out.phase("error and output");
    let found: Vec<f64> = solved.x.to_vec()?.into_iter().map(T::into_f64).collect();
    let error = input.boundary.error(input.problem, &input.mesh, &input.params, &found)?;
    let inside = solver.inside(&data, &found)?;
    let times = inside::middles(&input.params);
    if let (Some(path), Some(inside)) = (&args.out, &inside) {
        inside::write(path, &times, inside)?;
    }
    let block_norms = if args.report { Some(inside::block_norms(solver.matrix())?) } else { None };
    solver.progress.clear();

    let values = data.whole(found);
    let mut document = Document::new(args, &input, &solver, solved, &executor);
    document.error_l2 = error;
    document.seconds_per_apply = seconds_per_apply;
    (document.times, document.inside, document.block_norms) = (times, inside, block_norms);
    document.files.checkpoint = checkpoint;
    if let Some(picture) = picture {
        document.draw(&picture, &input.mesh, &values)?;
    }
    if let Some(path) = &args.vtk {
        document.write_vtk(path, &input.mesh, &values, &data.given)?;
    }
    document.warn_of_tolerance();
    out.report(&document, executor.contexts(), || Ok([("b", norm(&b.to_vec()?)), ("x", norm(&values))]))
}
