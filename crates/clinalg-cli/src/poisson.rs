//! `clinalg poisson`.

mod boundary;
mod problem;
mod report;
mod resume;
mod solver;
mod tensor;

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use clinalg::Real;
use clinalg::multigrid::{Condition, Cycle, PoissonParams, Smoother};
use clinalg::solve::Stop;
use schemars::JsonSchema;
use serde::Serialize;

use self::problem::Problem;
pub(crate) use self::report::Document;
use self::solver::{Medium, Solver};
use crate::args::boxes::{self, Each, Sides};
use crate::args::{self, BackendArg};
use crate::checkpoint::Checkpoints;
use crate::data::{Target, Values};
use crate::executor::{Executor, check_memory};
use crate::exit::{Exit, Failure, check_options, usage};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::plot::{Picture, PlotArgs};
use crate::progress::Progress;

/// Solve the Poisson problem by multigrid
///
/// -Laplace u = f on the unit square or cube with u = 0 on the boundary, N points per side, mesh width h = 1 / (N - 1), 5-point or
/// 7-point stencil; with --shift S, -Laplace u + S u = f; with --points, --size, --sides and --diffusion other boxes, conditions and
/// equations. The report has the relative residual |b - A u| / |b| after each cycle and, where the solution is known, the error.
#[derive(clap::Args)]
#[command(after_help = "\
Problems:
  sine    f = 2 pi^2 sin(pi x) sin(pi y), solved by u = sin(pi x) sin(pi y). The
          discretisation error is ((pi h / 2) / sin(pi h / 2))^2 - 1, about
          pi^2 h^2 / 12. Rounding limits the relative residual to about
          1e-16 * 8 / h^2 * |u| / |f|; the solver stops there and reports it.
          On the cube: 3 pi^2, a third sine and 12 / h^2.
  random  f uniform in [-1, 1), whose residual can fall much further.

Formulas have x, y, z (0 to 1; with --size the coordinates on the box), pi, + - * / ^, comparisons (1 or 0), && ||, if(c, a, b),
min, max, mod, sin, cos, tan, exp, log, sqrt, abs, sign, floor, ...; 2^3^2 is 2^(3^2) = 512. Files: .npy, .npz (the array named as the
option), .csv and .txt (a row of numbers per line of the grid); the value of the point
x = i h, y = j h is a[j, i], in space a[k, j, i]. --out writes u in the same order.
With a coefficient multigrid preconditions conjugate gradients; a step counts as a cycle.

JSON keys: points, size, sides, cells, diffusion, mixed, tensor, order, coefficient, shift, rhs, f,
boundary, seed, backend, cycle, pre, post, smoother, omega, precision, tolerance, device, devices,
kernel_family, levels, cycles, stop, converged, residual_history, relative_residual,
convergence_factor, rounding_floor, imbalance, error_max, discretisation_error, seconds_setup,
seconds_solve, peak_device_bytes, out, checkpoint, pictures. seconds_setup includes data, upload and kernel compilation,
seconds_solve only the cycles.
error_max is null where the solution is not known, discretisation_error elsewhere than in the sine problem on the square and the
cube, device and kernel_family for --backend reference. devices lists all devices, device is the first.

Examples:
  clinalg poisson                            1025 x 1025 points in f64
  clinalg poisson --n 4097 --rhs random --cycle fmg
  clinalg poisson --dim 3 --n 129            129 x 129 x 129 points
  clinalg poisson --precision mixed --n 4097
  clinalg poisson --coefficient '1 + 1000*(x>0.5)' --f 'sin(pi*x)' --out u.vtu
  clinalg poisson --f 0 --boundary boundary.npy --n 513 --out u.npy
  clinalg poisson --n 257 --plot u.png       u.png and u-convergence.png
  clinalg poisson --n 129 --backend reference   in plain Rust, without OpenCL
  clinalg poisson --n 8193 --devices 0,1     on two devices; --dim 3 too
  clinalg poisson --points 300x200 --size 2x1 --sides x0=neumann,y=periodic --f 1
  clinalg poisson --points 65x65 --sides x1=neumann --boundary y --boundary x1=0 --f 0
  clinalg poisson --points 65x65 --order 4   error 2e-8 instead of 2e-4
  clinalg poisson --points 300x200 --coefficient '1 + 1000*(x>0.5)' --f 1 --plot u.png
  clinalg poisson --points 129x129 --dxx '2+sin(6*x)' --dxy '0.5*y' --f 1

Boxes: -div(D grad u) + S u = f on a box of any size, with --coefficient k
-div(k D grad u) + S u = f. --sides names conditions by
side (x0, x1, y0, y1, z0, z1), direction (x) or all: dirichlet (u = g, the default), neumann
(D du/dn = g), robin:ALPHA (ALPHA u + D du/dn = g), periodic (both sides of a direction). --boundary gives
g: one formula for all sides, or one per side with --boundary x0=FORMULA. Where two Dirichlet sides
meet, the later direction (in the order x, y, z) takes precedence. --dxx to --dyz give the entries of a variable tensor D. Without a dirichlet or robin side and without a shift, f and g must balance, and
u is the solution with mean 0. Without --f the solution is a product of one sine or cosine per direction.
The unit square and cube with 2^k + 1 points per side, u = g on the boundary and D = 1, on the square with --coefficient too,
have the fastest kernels; --smoother jacobi, --backend, --precision mixed and --devices are for these.

Ctrl-C ends the run after the current cycle and writes a checkpoint. --resume FILE continues from it;
on the same device the result is bitwise that of an uninterrupted run.

The exit code is 0 if the tolerance or the rounding floor is reached, and for
--cycle fmg --max-cycles 1, which does one pass; else 1.")]
pub(crate) struct Args {
    /// Points per side of the square or cube, boundary included; 2^k + 1 is fastest [default: 1025, for the cube 129]
    #[arg(long, value_parser = args::points_per_side, allow_hyphen_values = true)]
    n: Option<usize>,
    /// Points in each direction of a box: 300x200 or 300x200x100
    #[arg(
        long,
        value_name = "NXxNY[xNZ]",
        value_parser = boxes::counts,
        conflicts_with_all = ["n", "dim"]
    )]
    points: Option<Each<usize>>,
    /// Lengths of the sides of the box [default: 1 each]
    #[arg(long, value_name = "LXxLY[xLZ]", value_parser = boxes::lengths)]
    size: Option<Each<f64>>,
    /// Conditions on the sides of the box: x0=neumann,x1=robin:0.5,y=periodic [default: dirichlet]
    #[arg(long, value_name = "LIST", value_parser = sides)]
    sides: Option<Sides<Condition>>,
    /// Place the points at the centres of cells, instead of including both ends of each direction
    #[arg(long)]
    cells: bool,
    /// Diagonal entries of D on the box [default: 1 each]
    #[arg(long, value_name = "DXxDY[xDZ]", value_parser = boxes::lengths)]
    diffusion: Option<Each<f64>>,
    /// Off-diagonal entries of D: DXY, in three dimensions DXY,DXZ,DYZ [default: 0]
    #[arg(long, value_name = "DXY[,DXZ,DYZ]", value_delimiter = ',', allow_hyphen_values = true)]
    mixed: Option<Vec<f64>>,
    #[command(flatten)]
    tensor: tensor::TensorArgs,
    /// Order of the discretisation on the box: 2, or 4 with Dirichlet and periodic sides, equal spacing and constant, diagonal D
    #[arg(long, default_value_t = 2, value_parser = args::order)]
    order: usize,
    /// Dimensions: 2 for the square, 3 for the cube
    #[arg(long, default_value_t = 2, value_parser = args::dimension, allow_hyphen_values = true)]
    dim: usize,
    /// The constant S >= 0 in -Laplace u + S u = f
    #[arg(long, default_value_t = PoissonParams::default().shift, value_name = "S", value_parser = args::shift, allow_hyphen_values = true)]
    shift: f64,
    /// Right-hand side
    #[arg(long, value_enum, default_value_t = RightSide::Sine)]
    rhs: RightSide,
    /// Right-hand side f: a formula in x, y (and z), or a file with a value for each point, in place of --rhs
    #[arg(long, value_name = "FORMULA|FILE", conflicts_with = "rhs", allow_hyphen_values = true)]
    f: Option<String>,
    /// Values g on the sides: u on Dirichlet sides, the right-hand side of the condition on Neumann and Robin sides. A formula, or a file with a value for each point
    /// (values at interior points are ignored). Prefix SIDE= to set one side, as in x1=sin(y); may be repeated [default: 0]
    #[arg(long, value_name = "[SIDE=]FORMULA|FILE", allow_hyphen_values = true)]
    boundary: Vec<String>,
    /// Positive coefficient k of -div(k D grad u) = f: a formula, evaluated at the centres of the cells, or a file with a value for each point or cell
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    coefficient: Option<String>,
    /// Seed of the random numbers for --rhs random
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    seed: u64,
    /// Precision of the computation
    #[arg(long, value_enum, default_value_t = Arithmetic::F64)]
    precision: Arithmetic,
    /// Implementation of the components
    #[arg(long, value_enum, default_value_t = BackendArg::Kernels)]
    backend: BackendArg,
    /// Order in which the levels are visited
    #[arg(long, value_enum, default_value_t = CycleArg::V)]
    cycle: CycleArg,
    /// Relaxation on each level
    #[arg(long, value_enum, default_value_t = SmootherArg::Rbgs)]
    smoother: SmootherArg,
    /// Sweeps before the coarse-grid correction
    #[arg(long, default_value_t = PoissonParams::default().pre, allow_hyphen_values = true)]
    pre: usize,
    /// Sweeps after the coarse-grid correction
    #[arg(long, default_value_t = PoissonParams::default().post, allow_hyphen_values = true)]
    post: usize,
    /// Weight of the Jacobi smoother, between 0 and 2
    #[arg(long, default_value_t = PoissonParams::default().omega, allow_hyphen_values = true)]
    omega: f64,
    /// Relative residual to reach; 0 iterates to the rounding floor [default: 1e-10 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance_or_zero, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// Maximum number of cycles
    #[arg(long, default_value_t = PoissonParams::default().max_cycles, value_name = "COUNT", allow_hyphen_values = true)]
    max_cycles: usize,
    /// Write the solution, even if the tolerance was not reached: .npy, .npz, .csv, .vti or .vtu
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a checkpoint (.npz) at the end; Ctrl-C writes clinalg-poisson-checkpoint.npz without this option
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue from a checkpoint; limits, tolerances and devices given with it override those of its run, all other options must stay the same; files to write are not taken from the checkpoint: name them again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Draw the solution (in three dimensions on the middle plane) into FILE (.png or .svg) and the residuals into FILE with -convergence before the extension
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    style: PlotArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RightSide {
    /// f = 2 pi^2 sin(pi x) sin(pi y); on the cube 3 pi^2 sin(pi x) sin(pi y) sin(pi z)
    Sine,
    /// Uniform in [-1, 1), by --seed
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Arithmetic {
    /// IEEE single precision, 24 bits
    F32,
    /// IEEE double precision, 53 bits
    F64,
    /// Solution and defect in f64, the correcting cycles in f32: as accurate as f64; --backend kernels only
    Mixed,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CycleArg {
    /// Visit each coarser level once: the fastest to a small residual, on GPUs by far
    V,
    /// Visit each coarser level twice per visit to the finer one: fewer cycles, useful with few sweeps or a weak smoother
    W,
    /// Full multigrid: one pass from the coarsest level up, then V-cycles; the pass alone (--max-cycles 1) reaches the accuracy of the discretisation
    Fmg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SmootherArg {
    /// Red-black Gauss-Seidel
    Rbgs,
    /// Weighted Jacobi
    Jacobi,
}
/// `x0=neumann,x1=robin:0.5,y=periodic`.
fn sides(text: &str) -> Result<Sides<Condition>, String> {
    Sides::parse(text, "dirichlet, neumann, robin:ALPHA or periodic", |word| match word.split_once(':') {
        None => match word {
            "dirichlet" => Some(Condition::Dirichlet),
            "neumann" => Some(Condition::Neumann),
            "periodic" => Some(Condition::Periodic),
            _ => None,
        },
        Some(("robin", alpha)) => Some(Condition::Robin { alpha: alpha.parse().ok()? }),
        Some(_) => None,
    })
}

fn condition_name(condition: Condition) -> String {
    match condition {
        Condition::Neumann => "neumann".into(),
        Condition::Robin { alpha } => format!("robin:{alpha}"),
        Condition::Periodic => "periodic".into(),
        _ => "dirichlet".into(),
    }
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        Arithmetic::F32 => solve::<f32>(args, global, out),
        Arithmetic::F64 | Arithmetic::Mixed => solve::<f64>(args, global, out),
    }
}

impl Args {
    /// Points of each direction.
    fn points(&self) -> Vec<usize> {
        let side = self.n.unwrap_or(if self.dim == 3 { 129 } else { 1025 });
        self.points.as_ref().map_or_else(|| vec![side; self.dim], |points| points.0.clone())
    }

    /// What the method takes; the equation is that of D = 1.
    fn params(&self) -> PoissonParams {
        let default = match self.precision {
            Arithmetic::F32 => 1e-5,
            Arithmetic::F64 | Arithmetic::Mixed => 1e-10,
        };
        PoissonParams {
            shift: self.shift,
            order: self.order,
            backend: self.backend.into(),
            cycle: match self.cycle {
                CycleArg::V => Cycle::V,
                CycleArg::W => Cycle::W,
                CycleArg::Fmg => Cycle::Full,
            },
            smoother: match self.smoother {
                SmootherArg::Rbgs => Smoother::RedBlack,
                SmootherArg::Jacobi => Smoother::Jacobi,
            },
            pre: self.pre,
            post: self.post,
            omega: self.omega,
            tolerance: self.tol.unwrap_or(default),
            max_cycles: self.max_cycles,
            mixed_precision: self.precision == Arithmetic::Mixed,
            ..PoissonParams::default()
        }
    }

    /// An error for options that the executor does not support, and where a device cannot hold u and f: of a square or cube on all levels, of which a level
    /// has 2^-dim of the points of the next, of others at the points and of the unknowns.
    fn check_executor<T: Real>(&self, problem: &Problem, executor: &Executor, global: &Global) -> Result<(), Failure> {
        problem.check_options(executor)?;
        match executor {
            Executor::Host => Ok(()),
            Executor::Device(context) => {
                let grid = problem.grid.len() as f64 * size_of::<T>() as f64;
                let all = match problem.regular {
                    Some(_) => 2.0 * grid / (1.0 - 0.5_f64.powi(problem.grid.dim() as i32)),
                    None => 4.0 * grid,
                };
                check_memory(context, &problem.name(), grid, all)
            }
            Executor::Team(_) => {
                let resumes = self.resume.is_some() || self.checkpoint.is_some();
                let fault = |option: &str| format!("{option}: only on one device; {}", global.on_one_device());
                let faults = [
                    (problem.coefficient.is_some(), &*fault("--coefficient")),
                    (resumes, &*fault("--checkpoint and --resume")),
                ];
                check_options(&faults)
            }
        }
    }

    /// What varies from point to point.
    fn medium<T: Real>(&self, problem: &Problem) -> Result<Medium<T>, Failure> {
        let tensor = self.tensor.entries(&problem.lattice)?;
        Ok(match (problem.faces()?, tensor) {
            (Some(faces), _) => Medium::Coefficient(faces),
            (None, Some(tensor)) => Medium::Tensor(tensor),
            (None, None) => Medium::Constant,
        })
    }

    /// The entries dxy, dxz and dyz of the tensor.
    fn mixed_entries(&self, dim: usize) -> Result<[f64; 3], Failure> {
        let mut mixed = [0.0; 3];
        let count = if dim == 3 { 3 } else { 1 };
        match self.mixed.as_deref() {
            Some(given) if given.len() == count => mixed[..count].copy_from_slice(given),
            Some(given) => {
                let expected = if dim == 3 { "three, DXY,DXZ,DYZ" } else { "one, DXY" };
                let count = given.len();
                return usage!("--mixed has {count} numbers; with {dim} directions it takes {expected}");
            }
            None => {}
        }
        Ok(mixed)
    }
}

/// `x0=dirichlet`, ...
fn side_names(problem: &Problem) -> Vec<String> {
    let grid = &problem.grid;
    boxes::sides(grid.dim())
        .map(|(axis, end)| format!("{}={}", boxes::side_name(axis, end), condition_name(grid.condition(axis, end))))
        .collect()
}

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    let target = args.out.as_deref().map(|path| Target::new("--out", path)).transpose()?;
    let checkpoints = Checkpoints::new("poisson", &args.checkpoint, &args.resume)?;
    let problem = Problem::new(args)?;
    out.phase("device");
    let executor = Executor::new(global, problem.params.backend)?;
    args.check_executor::<T>(&problem, &executor, global)?;

    interrupt::watch(checkpoints.is_given() || args.out.is_some());
    let progress = Progress::new(out, "cycle", problem.params.tolerance);
    progress.stage("setting up");
    out.phase("set-up");
    let start = Instant::now();
    let (medium, boundary) = (args.medium::<T>(&problem)?, problem.boundary_values::<T>(&executor)?);
    let mut solver = Solver::<T>::new(&executor, &problem, &medium, &boundary, global)?;
    let fingerprint = |f: &[T]| resume::fingerprint(args, &problem, (&medium, &boundary), f);
    if let Some(loaded) = checkpoints.resumed(|| fingerprint(&solver.right_side()?))? {
        let (u, memory) = resume::restored::<T>(loaded, problem.lattice.len())?;
        solver.resume(u, &memory)?;
    }
    executor.finish()?;
    let setup = start.elapsed();

    out.phase("solve");
    let start = Instant::now();
    let report = solver.solve(&mut |cycle, residual| {
        progress.step(cycle as u64, residual);
        interrupt::go_on()
    })?;
    executor.finish()?;
    let times = [setup, start.elapsed()];
    drop(progress);

    out.phase("output");
    let cancelled = report.stop == Stop::Cancelled;
    let memory = solver.memory(&report.history)?;
    let error_max = solver.error_max(&executor)?;
    let mut document = Document::new(args, &problem, (&executor, global), report, times)?;
    document.error_max = error_max;
    document.unknowns = solver.levels();
    document.warn_of_jumps(!matches!(medium, Medium::Constant));
    if let Some(memory) = memory {
        document.files.checkpoint = checkpoints.write(cancelled, |path| {
            resume::save(path, fingerprint(&solver.right_side()?)?, &solver.solution()?, memory)
        })?;
    }
    if let Some(target) = &target {
        target.write(&problem.lattice, "u", &Values::of(&solver.solution()?))?;
    }
    if let Some(picture) = &picture {
        let (points, columns) = problem.lattice.shown();
        document.draw(picture, &problem.lattice, columns, &solver.pick(&points)?)?;
    }
    out.report(&document, executor.contexts(), || {
        let [f, u] = solver.norms()?;
        Ok([("f", f), ("u", u)])
    })
}

#[cfg(test)]
mod tests {
    use clinalg::multigrid::End;

    use super::*;

    #[test]
    fn conditions_are_read() {
        let mut robin = Vec::new();
        sides("all=neumann,x1=robin:0.5").unwrap().apply(2, |axis, end, c| robin.push((axis, end, c))).unwrap();
        assert_eq!(robin.last(), Some(&(0, End::High, Condition::Robin { alpha: 0.5 })));
        for wrong in ["x0=robin", "x0=robin:a", "x0=mixed"] {
            assert!(sides(wrong).unwrap_err().contains("robin:ALPHA"), "{wrong}");
        }
    }
}
