//! `clinalg solve`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use clinalg::io::matrix_market;
use clinalg::reference::CsrParts;
use clinalg::solve::{BiCgStab, Cg, Gmres, Jacobi, Params, Preconditioner, Report, Stop};
use clinalg::{Context, Csr, Error, Precision, Real, Vector};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::Serialize;

use crate::Global;
use crate::args::{self, DeviceName, PrecisionArg};
use crate::exit::{Exit, Failure};
use crate::output::{Output, bytes, seconds};
use crate::plot::{Convergence, Picture};
use crate::progress::Progress;

/// Solve a sparse system A x = b from a MatrixMarket file
///
/// Coordinate and array files, real, integer and pattern, general, symmetric and skew-symmetric. The start is x = 0, the
/// solver stops when |b - A x| / |b| is at most the tolerance.
#[derive(clap::Args)]
#[command(after_help = "\
Methods:
  cg        conjugate gradients, for symmetric positive definite A; taken by
            itself where A is symmetric and its diagonal positive
  bicgstab  for any nonsingular A, with little memory; taken by itself else
  gmres     restarted after --restart iterations, for any nonsingular A

JSON keys: matrix, rows, cols, nnz, symmetric, rhs, seed, method, precond,
restart, precision, tolerance, device, shape, stop, converged, iterations,
relative_residual, residual_history, seconds_read, seconds_setup (upload, and
building the kernels), seconds_solve, peak_device_bytes, out, pictures.

Examples:
  clinalg solve A.mtx                           b = (1, ..., 1)
  clinalg solve A.mtx --rhs b.mtx --out x.mtx --tol 1e-12
  clinalg solve A.mtx --method gmres --restart 50 --plot residuals.svg

The exit code is 0 when the tolerance or the floor of rounding is reached, else
1; x is written in either case.")]
pub(crate) struct Args {
    /// The matrix, a MatrixMarket file; entries that occur twice are summed
    #[arg(value_name = "A.mtx")]
    matrix: PathBuf,
    /// Right-hand side: a MatrixMarket file with one column or row, `ones`, or `random` (uniform in (-1, 1), by --seed)
    #[arg(long, default_value = "ones", value_name = "FILE|ones|random")]
    rhs: String,
    /// Start of the random numbers of --rhs random
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    seed: u64,
    /// Iterative method [default: cg where A is symmetric with a positive diagonal, else bicgstab]
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// Preconditioner
    #[arg(long, value_enum, default_value_t = Precond::None)]
    precond: Precond,
    /// Relative residual to reach [default: 1e-10 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// Most iterations
    #[arg(long, default_value_t = 10_000, value_name = "COUNT", allow_hyphen_values = true)]
    max_iterations: usize,
    /// Iterations of gmres between restarts; its memory grows with them
    #[arg(long, default_value_t = 30, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    restart: usize,
    /// Precision of all that is computed
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Write x as a MatrixMarket array
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the residual after each iteration into FILE (.png or .svg)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// Conjugate gradients
    Cg,
    /// Stabilised bi-conjugate gradients
    #[value(name = "bicgstab")]
    BiCgStab,
    /// Generalised minimal residuals, restarted
    Gmres,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Precond {
    /// No preconditioner
    None,
    /// The inverse of the diagonal
    Jacobi,
}

#[derive(Serialize)]
struct Document {
    matrix: String,
    rows: usize,
    cols: usize,
    nnz: usize,
    symmetric: bool,
    rhs: String,
    seed: Option<u64>,
    method: Method,
    precond: Precond,
    restart: Option<usize>,
    precision: Precision,
    tolerance: f64,
    device: DeviceName,
    shape: clinalg::Shape,
    stop: Stop,
    converged: bool,
    iterations: usize,
    relative_residual: f64,
    residual_history: Vec<f64>,
    seconds_read: f64,
    seconds_setup: f64,
    seconds_solve: f64,
    peak_device_bytes: u64,
    out: Option<String>,
    pictures: Vec<String>,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => solve::<f32>(args, global, out),
        PrecisionArg::F64 => solve::<f64>(args, global, out),
    }
}

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let picture = args.plot.as_deref().map(Picture::new).transpose()?;
    if let Some(folder) = args.out.as_deref().and_then(missing_folder) {
        return Err(Failure::File { path: folder.to_owned(), reason: "no such folder".into() });
    }
    let params = Params {
        tolerance: args.tol.unwrap_or(Params::of::<T>().tolerance),
        max_iterations: args.max_iterations,
        ..Params::default()
    };
    let progress = Progress::new(out, "iteration", params.tolerance);
    progress.stage(format!("reading {}", args.matrix.display()));
    let start = Instant::now();
    let parts = matrix_market::read(&args.matrix)?.to_csr_parts::<T>()?;
    square(&args.matrix, &parts)?;
    let b = right_side::<T>(args, parts.rows)?;
    let read = start.elapsed();

    let start = Instant::now();
    let context = global.context(false)?;
    progress.stage("setting up");
    let symmetric = is_symmetric(&parts)?;
    let method = args.method.unwrap_or_else(|| {
        let positive = symmetric && parts.diagonal().iter().all(|&d| d > T::zero());
        if positive { Method::Cg } else { Method::BiCgStab }
    });
    let mut system = System::new(&context, args, method, &parts, &b)?;
    // One iteration, thrown away, builds the kernels.
    system.solve(&Params { max_iterations: 1, ..params.clone() }, &mut |_, _| ())?;
    system.x.fill(T::zero())?;
    context.finish()?;
    let setup = start.elapsed();

    let start = Instant::now();
    let report = system.solve(&params, &mut |iteration, residual| progress.step(iteration, residual))?;
    context.finish()?;
    let solved = start.elapsed();
    drop(progress);

    if let Some(path) = &args.out {
        matrix_market::write_array(path, parts.rows, 1, &system.x.to_vec()?)?;
    }
    let mut document = Document {
        matrix: args.matrix.display().to_string(),
        rows: parts.rows,
        cols: parts.cols,
        nnz: parts.nnz(),
        symmetric,
        rhs: args.rhs.clone(),
        seed: (args.rhs == "random").then_some(args.seed),
        method,
        precond: args.precond,
        restart: (method == Method::Gmres).then_some(args.restart),
        precision: T::PRECISION,
        tolerance: params.tolerance,
        device: context.device().into(),
        shape: context.shape(),
        stop: report.stop,
        converged: report.stop.is_success(),
        iterations: report.iterations,
        relative_residual: report.relative_residual,
        residual_history: report.history,
        seconds_read: read.as_secs_f64(),
        seconds_setup: setup.as_secs_f64(),
        seconds_solve: solved.as_secs_f64(),
        peak_device_bytes: context.memory().peak_bytes,
        out: args.out.as_ref().map(|path| path.display().to_string()),
        pictures: Vec::new(),
    };
    if let Some(picture) = picture {
        document.draw(&picture)?;
    }
    document.print(args.method.is_none(), out)?;
    out.json(&document)?;
    Ok(match document.stop {
        Stop::Converged | Stop::RoundingFloor => Exit::Done,
        _ => Exit::NotReached,
    })
}

/// The folder of `path` where it does not exist.
pub(crate) fn missing_folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
}

fn square<T: Real>(path: &Path, parts: &CsrParts<T>) -> Result<(), Failure> {
    if parts.rows == parts.cols {
        return Ok(());
    }
    let got = format!("{} x {} ({})", parts.rows, parts.cols, path.display());
    Err(Error::Shape { argument: "A", expected: "a square matrix".into(), got }.into())
}

fn is_symmetric<T: Real>(parts: &CsrParts<T>) -> Result<bool, Failure> {
    Ok(*parts == parts.transpose()?)
}

fn right_side<T: Real>(args: &Args, rows: usize) -> Result<Vec<T>, Failure> {
    match args.rhs.as_str() {
        "ones" => Ok(vec![T::one(); rows]),
        "random" => {
            let mut rng = StdRng::seed_from_u64(args.seed);
            Ok((0..rows).map(|_| T::of(rng.random_range(-1.0..1.0))).collect())
        }
        file => {
            let b = matrix_market::read(file)?;
            if (b.rows, b.cols) != (rows, 1) && (b.rows, b.cols) != (1, rows) {
                let got = format!("{} x {} ({file})", b.rows, b.cols);
                return Err(
                    Error::Shape { argument: "b", expected: format!("{rows} x 1 as A has {rows} rows"), got }.into()
                );
            }
            Ok(b.to_column_major()?)
        }
    }
}

/// A system on the device with its solver.
struct System<T: Real> {
    a: Csr<T>,
    b: Vector<T>,
    x: Vector<T>,
    jacobi: Option<Jacobi<T>>,
    solver: Solver<T>,
}

enum Solver<T: Real> {
    Cg(Cg<T>),
    BiCgStab(BiCgStab<T>),
    Gmres(Gmres<T>),
}

impl<T: Real> System<T> {
    fn new(context: &Context, args: &Args, method: Method, parts: &CsrParts<T>, b: &[T]) -> Result<System<T>, Failure> {
        let a = Csr::from_parts(context, parts)?;
        let jacobi = match args.precond {
            Precond::None => None,
            Precond::Jacobi => Some(Jacobi::new(&a.diagonal()?)?),
        };
        let solver = match method {
            Method::Cg => Solver::Cg(Cg::new(context, parts.rows)?),
            Method::BiCgStab => Solver::BiCgStab(BiCgStab::new(context, parts.rows)?),
            Method::Gmres => Solver::Gmres(Gmres::new(context, parts.rows, args.restart)?),
        };
        let (b, x) = (Vector::from_slice(context, b)?, Vector::zeros(context, parts.rows)?);
        Ok(System { a, b, x, jacobi, solver })
    }

    fn solve(&mut self, params: &Params, progress: &mut dyn FnMut(usize, f64)) -> Result<Report, Failure> {
        let System { a, b, x, jacobi, solver } = self;
        let m = jacobi.as_mut().map(|jacobi| jacobi as &mut dyn Preconditioner<T>);
        Ok(match solver {
            Solver::Cg(solver) => solver.solve_with(a, m, b, x, params, progress)?,
            Solver::BiCgStab(solver) => solver.solve_with(a, m, b, x, params, progress)?,
            Solver::Gmres(solver) => solver.solve_with(a, m, b, x, params, progress)?,
        })
    }
}

impl Document {
    fn method_words(&self) -> String {
        let method = match self.method {
            Method::Cg => "CG".to_owned(),
            Method::BiCgStab => "BiCGStab".to_owned(),
            Method::Gmres => format!("GMRES({})", self.restart.unwrap_or_default()),
        };
        let precond = match self.precond {
            Precond::None => "no preconditioner",
            Precond::Jacobi => "Jacobi preconditioner",
        };
        let precision = match self.precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        };
        format!("{method}, {precond}, {precision}")
    }

    fn draw(&mut self, picture: &Picture) -> Result<(), Failure> {
        let name = Path::new(&self.matrix).file_name().unwrap_or_default().to_string_lossy();
        picture.convergence(&Convergence {
            title: format!("{name}, {} equations: residual after each iteration", self.rows),
            subtitle: format!("{} · {}", self.method_words(), self.device.name()),
            steps: "iteration",
            residual: "relative residual |b − A x| / |b|",
            history: &self.residual_history,
            tolerance: self.tolerance,
            floor: None,
        })?;
        self.pictures.push(picture.path().display().to_string());
        Ok(())
    }

    fn print(&self, chosen: bool, out: &mut Output) -> Result<(), Failure> {
        let kind = if self.symmetric { "symmetric" } else { "not symmetric" };
        let Document { rows, nnz, iterations, relative_residual, tolerance, .. } = self;
        out.field("matrix", format!("{}: {rows} x {rows}, {nnz} entries, {kind}", self.matrix))?;
        out.field("device", self.device.to_string())?;
        let why = match (chosen, self.method) {
            (false, _) => "",
            (true, Method::Cg) => " (chosen: the matrix is symmetric with a positive diagonal)",
            (true, _) if self.symmetric => " (chosen: the diagonal of the matrix is not positive)",
            (true, _) => " (chosen: the matrix is not symmetric)",
        };
        out.field("method", format!("{}{why}", self.method_words()))?;
        out.field("stop", format!("{} ({iterations} iterations)", self.stop))?;
        out.field("residual", format!("{relative_residual:.2e}, asked {tolerance:e}"))?;
        out.field(
            "time",
            format!(
                "read {}, set-up {}, solve {} ({} an iteration)",
                seconds(self.seconds_read),
                seconds(self.seconds_setup),
                seconds(self.seconds_solve),
                seconds(self.seconds_solve / (*iterations).max(1) as f64)
            ),
        )?;
        out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        if let Some(file) = &self.out {
            out.field("solution", file)?;
        }
        for picture in &self.pictures {
            out.field("picture", picture)?;
        }
        Ok(())
    }
}
