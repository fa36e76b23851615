//! `clinalg poisson`.

use std::f64::consts::PI;
use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use clinalg::grid::{Cycle, Form, Poisson, PoissonParams, Smoother};
use clinalg::solve::Stop;
use clinalg::{Context, Real, Shape, Vector};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::Serialize;

use crate::Global;
use crate::args::{self, DeviceName, FormArg};
use crate::exit::{Exit, Failure};
use crate::output::{Align, Output, bytes, seconds, table};
use crate::plot::{Convergence, Field, Picture};
use crate::progress::Progress;

/// Solve the Poisson problem by multigrid
///
/// -Laplace u = f on the unit square or cube, u = 0 on its boundary, N points a side, mesh width h = 1 / (N - 1), 5-point or
/// 7-point stencil; with --shift S, -Laplace u + S u = f. The report gives the relative residual |b - A u| / |b| after each cycle, and with the sine problem the error against the
/// exact solution beside the error that the stencil itself makes.
#[derive(clap::Args)]
#[command(after_help = "\
Problems:
  sine    f = 2 pi^2 sin(pi x) sin(pi y), solved by u = sin(pi x) sin(pi y). The
          stencil errs by ((pi h / 2) / sin(pi h / 2))^2 - 1, which is about
          pi^2 h^2 / 12. Rounding leaves a relative residual of about
          1e-16 * 8 / h^2 * |u| / |f|; the solver stops there and says so.
          On the cube, 3 pi^2, a third sine and 12 / h^2.
  random  f uniform in (-1, 1), whose residual can fall much further.

JSON keys: n, dim, shift, rhs, seed, form, cycle, pre, post, smoother, omega,
precision, tolerance, device, shape, levels, cycles, stop, converged, residual_history,
relative_residual, convergence_factor, rounding_floor, error_max,
discretisation_error, seconds_setup, seconds_solve, peak_device_bytes, pictures.
seconds_setup holds data, upload and kernels, seconds_solve the cycles alone.
error_max and discretisation_error are null for random data, device and shape
for --form reference.

Examples:
  clinalg poisson                            1025 x 1025 points in f64
  clinalg poisson --n 4097 --rhs random --cycle fmg
  clinalg poisson --dim 3 --n 129            129 x 129 x 129 points
  clinalg poisson --precision mixed --n 4097
  clinalg poisson --n 257 --plot u.png       u.png and u-convergence.png
  clinalg poisson --n 129 --form reference   in plain Rust, without OpenCL

The exit code is 0 when the tolerance or the floor of rounding is reached,
else 1.")]
pub(crate) struct Args {
    /// Points a side, boundary included: 3, 5, 9, ... 2^k + 1 [default: 1025, of a cube 129]
    #[arg(long, value_parser = args::side, allow_hyphen_values = true)]
    n: Option<usize>,
    /// Dimensions: 2 for the square, 3 for the cube
    #[arg(long, default_value_t = 2, value_parser = args::dimension, allow_hyphen_values = true)]
    dim: usize,
    /// What is added to -Laplace, at least 0
    #[arg(long, default_value_t = 0.0, value_name = "S", value_parser = args::shift, allow_hyphen_values = true)]
    shift: f64,
    /// Right-hand side
    #[arg(long, value_enum, default_value_t = RightSide::Sine)]
    rhs: RightSide,
    /// Start of the random numbers of --rhs random
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    seed: u64,
    /// Precision of all that is computed
    #[arg(long, value_enum, default_value_t = Arithmetic::F64)]
    precision: Arithmetic,
    /// What the components are made of
    #[arg(long, value_enum, default_value_t = FormArg::Kernels)]
    form: FormArg,
    /// Order in which the levels are visited
    #[arg(long, value_enum, default_value_t = CycleArg::V)]
    cycle: CycleArg,
    /// Relaxation on each level
    #[arg(long, value_enum, default_value_t = SmootherArg::Rbgs)]
    smoother: SmootherArg,
    /// Sweeps before the coarse-grid correction
    #[arg(long, default_value_t = 2, allow_hyphen_values = true)]
    pre: usize,
    /// Sweeps after the coarse-grid correction
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    post: usize,
    /// Weight of Jacobi, between 0 and 2
    #[arg(long, default_value_t = 0.8, allow_hyphen_values = true)]
    omega: f64,
    /// Relative residual to reach; 0 goes on to the floor of rounding [default: 1e-10 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance_or_zero, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// Most cycles
    #[arg(long, default_value_t = 100, value_name = "COUNT", allow_hyphen_values = true)]
    max_cycles: usize,
    /// Draw the solution, of a cube that on its middle plane, into FILE (.png or .svg) and the residuals into FILE with -convergence before the extension
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum RightSide {
    /// f = 2 pi^2 sin(pi x) sin(pi y); on the cube 3 pi^2 sin(pi x) sin(pi y) sin(pi z)
    Sine,
    /// Uniform in (-1, 1), by --seed
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Arithmetic {
    /// IEEE single precision, 24 bits
    F32,
    /// IEEE double precision, 53 bits
    F64,
    /// Solution and defect in f64, the cycles that correct it in f32: as accurate as f64; --form kernels only
    Mixed,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CycleArg {
    /// Each coarser level once: the fastest to a small residual, on GPUs by far
    V,
    /// Each coarser level twice per visit of the finer one: fewer cycles, for few or weak sweeps
    W,
    /// Full multigrid: one pass from the coarsest level up, then V-cycles; the pass alone (--max-cycles 1) gives the accuracy of the stencil
    Fmg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SmootherArg {
    /// Red-black Gauss-Seidel
    Rbgs,
    /// Weighted Jacobi
    Jacobi,
}

#[derive(Serialize)]
struct Document {
    n: usize,
    dim: usize,
    shift: f64,
    rhs: RightSide,
    seed: Option<u64>,
    form: Form,
    cycle: Cycle,
    pre: usize,
    post: usize,
    smoother: Smoother,
    omega: Option<f64>,
    precision: Arithmetic,
    tolerance: f64,
    device: Option<DeviceName>,
    shape: Option<Shape>,
    levels: usize,
    cycles: usize,
    stop: Stop,
    converged: bool,
    residual_history: Vec<f64>,
    relative_residual: f64,
    convergence_factor: Option<f64>,
    rounding_floor: f64,
    error_max: Option<f64>,
    discretisation_error: Option<f64>,
    seconds_setup: f64,
    seconds_solve: f64,
    peak_device_bytes: u64,
    pictures: Vec<String>,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        Arithmetic::F32 => solve::<f32>(args, global, out),
        Arithmetic::F64 | Arithmetic::Mixed => solve::<f64>(args, global, out),
    }
}

impl Args {
    /// Points a side.
    fn side(&self) -> usize {
        self.n.unwrap_or(if self.dim == 3 { 129 } else { 1025 })
    }

    fn params(&self) -> PoissonParams {
        let default = match self.precision {
            Arithmetic::F32 => 1e-5,
            Arithmetic::F64 | Arithmetic::Mixed => 1e-10,
        };
        PoissonParams {
            n: self.side(),
            dim: self.dim,
            shift: self.shift,
            form: self.form.into(),
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
            mixed: self.precision == Arithmetic::Mixed,
        }
    }
}

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let picture = args.plot.as_deref().map(Picture::new).transpose()?;
    let params = args.params();
    let context = match params.form {
        Form::Reference => None,
        Form::Kernels | Form::Matrix => Some(global.context(false)?),
    };
    let progress = Progress::new(out, "cycle", params.tolerance);
    progress.stage("setting up");
    let start = Instant::now();
    let mut solver = match &context {
        Some(context) => Poisson::<T>::new(context, &params)?,
        None => Poisson::<T>::reference(&params)?,
    };
    let f = right_side::<T>(args)?;
    let mut u = grid::<T>(args.side(), args.dim)?;
    let mut step = |cycle: usize, residual: f64| progress.step(cycle, residual);
    let (report, setup, solve) = match &context {
        None => {
            let setup = start.elapsed();
            let start = Instant::now();
            let report = solver.solve_with(&f, &mut u, &mut step)?;
            (report, setup, start.elapsed())
        }
        Some(context) => {
            let device_f = Vector::from_slice(context, &f)?;
            let mut device_u = Vector::zeros(context, u.len())?;
            context.finish()?;
            let setup = start.elapsed();
            let start = Instant::now();
            let report = solver.solve_device_with(&device_f, &mut device_u, &mut step)?;
            context.finish()?;
            let solve = start.elapsed();
            device_u.read(&mut u)?;
            (report, setup, solve)
        }
    };
    drop(progress);
    let sine = args.rhs == RightSide::Sine;
    let mut document = Document {
        n: args.side(),
        dim: args.dim,
        shift: args.shift,
        rhs: args.rhs,
        seed: (!sine).then_some(args.seed),
        form: params.form,
        cycle: params.cycle,
        pre: params.pre,
        post: params.post,
        smoother: params.smoother,
        omega: (params.smoother == Smoother::Jacobi).then_some(params.omega),
        precision: args.precision,
        tolerance: params.tolerance,
        device: context.as_ref().map(|c| c.device().into()),
        shape: context.as_ref().map(Context::shape),
        levels: report.levels,
        cycles: report.cycles,
        stop: report.stop,
        converged: report.stop.is_success(),
        residual_history: report.history,
        relative_residual: report.relative_residual,
        convergence_factor: report.convergence_factor,
        rounding_floor: report.rounding_floor,
        error_max: sine.then(|| error_max(args, &u)),
        discretisation_error: sine.then(|| discretisation_error(args.side(), args.dim, args.shift)),
        seconds_setup: setup.as_secs_f64(),
        seconds_solve: solve.as_secs_f64(),
        peak_device_bytes: context.as_ref().map_or(0, |c| c.memory().peak_bytes),
        pictures: Vec::new(),
    };
    if let Some(picture) = picture {
        let plane = args.side() * args.side();
        let middle = if args.dim == 3 { args.side() / 2 * plane } else { 0 };
        let values: Vec<f64> = u[middle..middle + plane].iter().map(|v| v.wide()).collect();
        document.draw(&picture, &values)?;
    }
    document.print(out)?;
    out.json(&document)?;
    Ok(match document.stop {
        Stop::Converged | Stop::RoundingFloor => Exit::Done,
        _ => Exit::NotReached,
    })
}

/// A grid of zeros in `dim` dimensions, or words where this machine cannot hold it.
pub(crate) fn grid<T: Real>(n: usize, dim: usize) -> Result<Vec<T>, Failure> {
    let mut values = Vec::new();
    let points = n.checked_pow(dim as u32).filter(|&points| values.try_reserve_exact(points).is_ok());
    let words = || Failure::usage(format!("{} points do not fit this machine's memory", size(n, dim)));
    values.resize(points.ok_or_else(words)?, T::zero());
    Ok(values)
}

/// n x n or n x n x n.
fn size(n: usize, dim: usize) -> String {
    vec![n.to_string(); dim].join(" x ")
}

/// The exact solution of the sine problem.
fn product(dim: usize) -> &'static str {
    if dim == 3 { "sin(pi x) sin(pi y) sin(pi z)" } else { "sin(pi x) sin(pi y)" }
}

/// sin(pi i h) for each point of a side, 0 at both ends.
fn sines(n: usize) -> Vec<f64> {
    let last = n - 1;
    // From the nearer end, so that the field is symmetric.
    (0..n).map(|i| (PI * i.min(last - i) as f64 / last as f64).sin()).collect()
}

/// Each row of a grid with what its points' sines along it are multiplied by: the sines of y, and of z.
fn rows(args: &Args, sines: &[f64]) -> impl Iterator<Item = f64> {
    let above = if args.dim == 3 { sines.to_vec() } else { vec![1.0] };
    let row = sines.to_vec();
    above.into_iter().flat_map(move |sz| row.clone().into_iter().map(move |sy| sy * sz))
}

fn right_side<T: Real>(args: &Args) -> Result<Vec<T>, Failure> {
    let mut f = grid(args.side(), args.dim)?;
    match args.rhs {
        RightSide::Sine => {
            let sines = sines(args.side());
            let scale = args.dim as f64 * PI * PI + args.shift;
            for (row, across) in f.chunks_mut(args.side()).zip(rows(args, &sines)) {
                for (value, sx) in row.iter_mut().zip(&sines) {
                    *value = T::of(scale * sx * across);
                }
            }
        }
        RightSide::Random => {
            let mut rng = StdRng::seed_from_u64(args.seed);
            f.iter_mut().for_each(|value| *value = T::of(rng.random_range(-1.0..1.0)));
        }
    }
    Ok(f)
}

/// The largest difference from the product of the sines at a point; NaN if a value is NaN.
fn error_max<T: Real>(args: &Args, u: &[T]) -> f64 {
    let sines = sines(args.side());
    let mut largest = 0.0;
    for (row, across) in u.chunks(args.side()).zip(rows(args, &sines)) {
        for (value, sx) in row.iter().zip(&sines) {
            let error = (value.wide() - sx * across).abs();
            if error > largest || error.is_nan() {
                largest = error;
            }
        }
    }
    largest
}

/// What the stencil's solution differs from the exact one by, at most.
///
/// u = sin(pi x) sin(pi y) is an eigenvector of the 5-point stencil: sin(pi (x + h)) + sin(pi (x - h)) = 2 cos(pi h) sin(pi x),
/// so -Laplace_h u = l_h u with l_h = (4 - 4 cos(pi h)) / h^2 = 8 / h^2 sin^2(pi h / 2), while f = l u with l = 2 pi^2. The
/// stencil's solution is l / l_h u, and its error is largest where u = 1, in the middle, which is a point as N is odd:
/// l / l_h - 1 = ((pi h / 2) / sin(pi h / 2))^2 - 1 = pi^2 h^2 / 12 + O(h^4). A third dimension gives half as much to both
/// eigenvalues; a shift s adds to both, which leaves (l - l_h) / (l_h + s).
fn discretisation_error(n: usize, dim: usize, shift: f64) -> f64 {
    let t = PI / (2.0 * (n - 1) as f64);
    let s = t.sin();
    // (t - s)(t + s) / s^2; t - s by its series where the difference would cancel.
    let difference = if t > 0.1 { t - s } else { t.powi(3) / 6.0 * (1.0 - t * t / 20.0 * (1.0 - t * t / 42.0)) };
    let eigenvalue = dim as f64 * PI * PI * (s / t).powi(2);
    difference * (t + s) / (s * s) * (eigenvalue / (eigenvalue + shift))
}

impl Document {
    /// The cycle and its smoother in the field's short form.
    fn method(&self) -> String {
        let cycle = match self.cycle {
            Cycle::V => "V",
            Cycle::W => "W",
            Cycle::Full => "full multigrid, then V",
        };
        let smoother = match self.smoother {
            Smoother::RedBlack => "red-black Gauss-Seidel".to_owned(),
            Smoother::Jacobi => format!("Jacobi with weight {}", self.omega.unwrap_or_default()),
        };
        format!("{cycle}({},{}), {smoother}", self.pre, self.post)
    }

    fn precision(&self) -> &'static str {
        match self.precision {
            Arithmetic::F32 => "f32",
            Arithmetic::F64 => "f64",
            Arithmetic::Mixed => "f64, corrections in f32",
        }
    }

    fn draw(&mut self, picture: &Picture, u: &[f64]) -> Result<(), Failure> {
        let n = self.n;
        let device = self.device.as_ref().map_or("plain Rust", DeviceName::name);
        let problem = match self.rhs {
            RightSide::Sine if self.dim == 3 => "f = 3π² sin πx sin πy sin πz, plane z = 1/2",
            RightSide::Sine => "f = 2π² sin πx sin πy",
            RightSide::Random if self.dim == 3 => "f random, plane z = 1/2",
            RightSide::Random => "f random",
        };
        let points = vec![n.to_string(); self.dim].join(" × ");
        picture.field(&Field {
            title: format!("Poisson problem −Δu = f, {points} points"),
            subtitle: format!("{problem} · {} · {device}", self.precision()),
            label: "u",
            n,
            values: u,
            range: None,
        })?;
        let beside = picture.beside("-convergence");
        beside.convergence(&Convergence {
            title: format!("Poisson problem, {points} points: residual after each cycle"),
            subtitle: format!("{} · {} · {device}", self.method(), self.precision()),
            steps: "cycle",
            residual: "relative residual |b − A u| / |b|",
            history: &self.residual_history,
            tolerance: self.tolerance,
            floor: Some(self.rounding_floor),
        })?;
        self.pictures = [picture, &beside].map(|p| p.path().display().to_string()).to_vec();
        Ok(())
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let n = self.n;
        let shift = if self.shift == 0.0 { String::new() } else { format!(" + {} u", self.shift) };
        let points = size(n, self.dim);
        out.line(format!("Poisson problem -Laplace u{shift} = f, {points} points, {}", self.precision()))?;
        out.line("")?;
        let shape = match self.shape {
            Some(Shape::Cpu) => ", kernels for cpu",
            Some(Shape::Gpu) => ", kernels for gpu",
            None => "",
        };
        let device = self.device.as_ref().map_or("none, plain Rust".into(), |d| format!("{d}{shape}"));
        let form = match self.form {
            Form::Kernels => "kernels for this stencil",
            Form::Matrix => "sparse matrices and vectors",
            Form::Reference => "plain Rust",
        };
        let rhs = match self.rhs {
            RightSide::Sine => {
                let scale = if self.shift == 0.0 {
                    format!("{} pi^2", self.dim)
                } else {
                    format!("({} pi^2 + {})", self.dim, self.shift)
                };
                format!("f = {scale} {}", product(self.dim))
            }
            RightSide::Random => format!("f uniform in (-1, 1), seed {}", self.seed.unwrap_or_default()),
        };
        out.field("device", device)?;
        out.field("problem", rhs)?;
        out.field("method", format!("{}; {form}", self.method()))?;
        out.field("levels", format!("{} ({n} to 3 points a side)", self.levels))?;
        out.line("")?;
        let columns = [("cycle", Align::Right), ("relative residual", Align::Right), ("factor", Align::Right)];
        let rows: Vec<Vec<String>> = self
            .residual_history
            .iter()
            .enumerate()
            .map(|(cycle, residual)| {
                let factor = cycle.checked_sub(1).map(|before| residual / self.residual_history[before]);
                vec![cycle.to_string(), format!("{residual:.3e}"), factor.map_or(String::new(), |f| format!("{f:.3}"))]
            })
            .collect();
        for line in table(&columns, &rows) {
            out.line(line)?;
        }
        out.line("")?;
        let Document { cycles, relative_residual, tolerance, rounding_floor, .. } = self;
        out.field("stop", format!("{} ({cycles} cycles)", self.stop))?;
        out.field(
            "residual",
            format!("{relative_residual:.2e}, asked {tolerance:e}, rounding leaves about {rounding_floor:.0e}"),
        )?;
        if let (Some(error), Some(stencil)) = (self.error_max, self.discretisation_error) {
            out.field("error", format!("{error:.4e} at most, against {}", product(self.dim)))?;
            let about = if self.shift == 0.0 { ", about pi^2 h^2 / 12" } else { "" };
            out.field("", format!("{stencil:.4e} is the stencil's own{about}"))?;
        }
        let per_cycle = self.seconds_solve / (*cycles).max(1) as f64;
        out.field(
            "time",
            format!(
                "set-up {}, solve {} ({} a cycle)",
                seconds(self.seconds_setup),
                seconds(self.seconds_solve),
                seconds(per_cycle)
            ),
        )?;
        if self.device.is_some() {
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        for picture in &self.pictures {
            out.field("picture", picture)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stencils_error_is_exact_and_tends_to_its_leading_term() {
        // N = 3: the one inner equation is 4 / h^2 u = f with h = 1/2 and f = 2 pi^2.
        assert!((discretisation_error(3, 2, 0.0) - (2.0 * PI * PI / 16.0 - 1.0)).abs() < 1e-15);
        // N = 3 in three dimensions with shift 6: (6 / h^2 + 6) u = f with f = 3 pi^2 + 6.
        assert!((discretisation_error(3, 3, 6.0) - ((3.0 * PI * PI + 6.0) / 30.0 - 1.0)).abs() < 1e-15);
        for n in [17, 33, 1025, 8193] {
            let h = 1.0 / (n - 1) as f64;
            let leading = PI * PI * h * h / 12.0;
            for dim in [2, 3] {
                assert!((discretisation_error(n, dim, 0.0) / leading - 1.0).abs() < h * h, "n {n}");
            }
        }
    }

    #[test]
    fn sines_are_symmetric_and_vanish_at_the_ends() {
        let s = sines(65);
        assert_eq!((s[0], s[32], s[64]), (0.0, 1.0, 0.0));
        assert!((0..65).all(|i| s[i] == s[64 - i]));
    }
}
