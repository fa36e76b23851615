//! `clinalg solve`.

mod advice;
mod hierarchy;
mod least_squares;
pub(crate) mod method;
mod system;
mod team;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clinalg::CsrParts;
use clinalg::multigrid::Backend;
use clinalg::solve::{Report, Stop, Stopping};
use clinalg::{Error, Precision, Real};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Global;
use crate::args::{self, DeviceName, PrecisionArg};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::interrupt;
use crate::output::{Output, bytes, check_target, seconds};
use crate::place::{Place, device_words};
use crate::plot::{Convergence, Picture};
use crate::progress::Progress;
use advice::{Advice, advise};
use least_squares::LeastSquaresSystem;
use method::{Method, Order, Precond, PrecondOptions, check_combination};
use system::System;
use team::TeamSystem;

/// Solve a sparse system A x = b, or a least-squares problem, from a file
///
/// Reads MatrixMarket files (.mtx, .mtx.gz: coordinate and array, real, integer and pattern, general, symmetric and skew-symmetric),
/// SciPy's sparse matrices (.npz), arrays of NumPy (.npy) and MATLAB's files up to version 7.2 (.mat: the variable A, or the only sparse
/// one). The initial guess is x = 0; the solver stops when |b - A x| / |b| is at most the tolerance.
#[derive(Clone, clap::Args)]
#[command(after_help = "\
Methods:
  cg        conjugate gradients, for symmetric positive definite A; the default
            if A is symmetric and its diagonal positive
  bicgstab  for any nonsingular A, with little memory; the default otherwise
  gmres     restarted after --restart iterations, for any nonsingular A
  idrs      IDR(4), for any nonsingular A; more robust than bicgstab
  minres    for symmetric A, definite or not
  fcg       as cg, for preconditioners that are not quite symmetric
  lsmr      least squares, for rectangular A; the default if A is not square
  lsqr      the same; its residual never rises
Where cg or bicgstab was chosen by default and gives up, gmres goes on from its
iterate.

Preconditioners:
  auto           the default: none below 1000 equations; else amg, jacobi, ilu or
                 ilut from symmetry, signs and sizes of the entries
  amg            algebraic multigrid, for symmetric positive definite A; --coordinates
                 (or --nullspace and --block) for elasticity; sa or classical where
                 the entries tell (--report says which and why)
  sa, classical  the same by smoothed aggregation; by classical coarsening
  jacobi, spai0  diagonal; with lsmr and lsqr, jacobi scales the columns
  ssor           symmetric Gauss-Seidel, by colours unless --order says otherwise
  ic, fsai       for symmetric positive definite A: incomplete Cholesky, factored
                 approximate inverse (no triangular systems)
  ilu            ILU(0); rows are permuted where the diagonal has zeros
  ilut           ILU with --drop and --fill, for difficult matrices

JSON keys: matrix, rows, cols, nnz, symmetric (up to rounding), rhs, seed, method,
gave_up (the method that did before this one, or null), precond, precond_about,
order, explanation (why auto took it, or null), restart, precision, tolerance, device,
devices, kernel_family, stop, converged, iterations, relative_residual, residual_history, seconds_read, seconds_setup (upload, and
building the kernels), seconds_solve, peak_device_bytes, out, pictures, columns. devices
lists all devices, device is the first. columns has stop, iterations and
relative_residual for each of several right-hand sides (else null); the keys
outside are those of the one with the largest residual.

Examples:
  clinalg solve A.mtx                           b = (1, ..., 1)
  clinalg solve A.mtx --rhs b.mtx --out x.mtx --tol 1e-12
  clinalg solve A.mtx --method gmres --restart 50 --plot residuals.svg
  clinalg solve circuit.mat --method gmres --precond ilut --out x.mat
  clinalg solve A.npz --rhs b.npy --x0 x0.npy --precond ic --out x.npy

The exit code is 0 if the tolerance is reached, or the rounding floor at up to ten
times the tolerance, else 1; x is written in either case.")]
pub(crate) struct Args {
    /// The matrix, a file .mtx, .mtx.gz, .npz or .mat; entries that occur twice are summed
    #[arg(value_name = "A.mtx")]
    matrix: PathBuf,
    /// Right-hand side: a file with one column (or row) or several columns, `ones`, or `random` (uniform in (-1, 1), by --seed)
    #[arg(long, default_value = "ones", value_name = "FILE|ones|random")]
    rhs: String,
    /// Seed of the random numbers of --rhs random
    #[arg(long, default_value_t = 1, allow_hyphen_values = true)]
    seed: u64,
    /// Where the iteration starts: a file with as many columns as there are right-hand sides [default: 0]
    #[arg(long, value_name = "FILE")]
    x0: Option<PathBuf>,
    /// Iterative method [default: cg where A is symmetric with a positive diagonal, else bicgstab; lsmr where A is not square]
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// Preconditioner; the options --coordinates, --nullspace, --block and --single imply amg
    #[arg(long, value_enum, default_value_t = Precond::Auto)]
    precond: Precond,
    /// Say why this method and this preconditioner were chosen
    #[arg(long)]
    explain: bool,
    /// Coordinates of the nodes for amg, a file with a row per node: unknowns are displacements, numbered node by node
    #[arg(long, value_name = "FILE", conflicts_with = "nullspace")]
    coordinates: Option<PathBuf>,
    /// Vectors that A nearly takes to zero for amg, a file with a column per vector [default: constants]
    #[arg(long, value_name = "FILE")]
    nullspace: Option<PathBuf>,
    /// Unknowns per node for amg, numbered one after the other [default: 1, with --coordinates their dimension]
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    block: Option<usize>,
    /// Keep the hierarchy of amg in single precision
    #[arg(long)]
    single: bool,
    /// Say what amg made: levels, complexities, memory, convergence factor
    #[arg(long)]
    report: bool,
    /// Why `auto` took the preconditioner.
    #[arg(skip)]
    explanation: Option<String>,
    /// Order of elimination of ilu, ilut and ic, and of the sweeps of ssor [default: natural; ssor: multicolour]
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// Entries below this share of their row are dropped from the factors of ilut
    #[arg(long, default_value_t = 1e-4, value_name = "T", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    drop: f64,
    /// How many times the entries of A the factors of ilut may have
    #[arg(long, default_value_t = 10.0, value_name = "TIMES", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    fill: f64,
    /// Relative residual to reach [default: 1e-10 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// Maximum number of iterations
    #[arg(long, default_value_t = 10_000, value_name = "COUNT", allow_hyphen_values = true)]
    max_iterations: usize,
    /// Iterations of gmres between restarts; its memory grows with them
    #[arg(long, default_value_t = 30, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    restart: usize,
    /// Precision of the computation
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Write x as a MatrixMarket array, or as .npy or .mat
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the residual after each iteration into FILE (.png or .svg)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Serialize, JsonSchema)]
struct Document {
    matrix: String,
    rows: usize,
    cols: usize,
    nnz: usize,
    symmetric: bool,
    rhs: String,
    seed: Option<u64>,
    method: Method,
    gave_up: Option<Method>,
    precond: Precond,
    precond_about: Option<String>,
    order: Option<Order>,
    explanation: Option<String>,
    restart: Option<usize>,
    #[schemars(with = "String")]
    precision: Precision,
    tolerance: f64,
    device: Option<DeviceName>,
    devices: Vec<DeviceName>,
    #[schemars(with = "Option<String>")]
    kernel_family: Option<clinalg::KernelFamily>,
    #[schemars(with = "String")]
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
    columns: Option<Vec<Column>>,
}

/// The outcome for one of several right-hand sides.
#[derive(Serialize, JsonSchema)]
struct Column {
    #[schemars(with = "String")]
    stop: Stop,
    iterations: usize,
    relative_residual: f64,
}
/// The schema of the JSON document.
pub(crate) fn schema() -> schemars::Schema {
    crate::schema::of::<Document>()
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => solve::<f32>(args, global, out),
        PrecisionArg::F64 => solve::<f64>(args, global, out),
    }
}

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let picture = args.plot.as_deref().map(Picture::new).transpose()?;
    if let Some(path) = &args.out {
        args.keeps_its_input(path)?;
        files::check_output(path)?;
        check_target(path)?;
    }
    let tolerance = args.tol.unwrap_or(Stopping::default().tolerance_of::<T>());
    let stopping = Stopping::default().tolerance(tolerance).max_iterations(args.max_iterations);
    interrupt::watch();
    let progress = Progress::new(out, "iteration", tolerance);
    progress.stage(format!("reading {}", args.matrix.display()));
    let start = Instant::now();
    let parts = files::read_matrix::<T>(&args.matrix)?;
    let b = args.right_sides::<T>(parts.rows)?;
    let starts = args.starts::<T>(parts.cols, b.len() / parts.rows.max(1))?;
    let read = start.elapsed();

    let start = Instant::now();
    let place = Place::new(global, Backend::Kernels)?;
    progress.stage("setting up");
    let square = parts.rows == parts.cols;
    let symmetric = square && is_symmetric(&parts)?;
    let args = &args.resolved(&parts, symmetric, matches!(place, Place::Team(_)));
    let method = args.method.unwrap_or_else(|| {
        let positive = symmetric && parts.diagonal().iter().all(|&d| d > T::zero());
        match positive {
            _ if !square => Method::Lsmr,
            true if !matches!(args.precond, Precond::Ilu | Precond::Ilut) => Method::Cg,
            _ => Method::BiCgStab,
        }
    });
    check_combination(method, args.precond, symmetric, square)?;
    if let Some(option) = args.amg_options().filter(|_| args.precond.coarsening().is_none()) {
        return Err(Failure::usage(format!("{option} is for --precond amg, not for {}", args.precond.name())));
    }
    if matches!(method, Method::Cg | Method::Fcg) && !symmetric {
        log::warn!("{} is not symmetric, which conjugate gradients need; use bicgstab or gmres", args.matrix.display());
    }
    let first = &b[..parts.rows];
    let mut system: Box<dyn AnySystem<T>> = match &place {
        Place::Team(team) => Box::new(TeamSystem::new(team, args, method, &stopping, &parts, first)?),
        _ if method.is_least_squares() => {
            Box::new(LeastSquaresSystem::new(&place.contexts()[0], args, method, &stopping, &parts, first)?)
        }
        _ => Box::new(System::new(&place.contexts()[0], args, method, &stopping, &parts, first)?),
    };
    // One iteration, thrown away, builds the kernels.
    system.stopping_mut().max_iterations = 1;
    system.solve(&mut |_, _| ())?;
    *system.stopping_mut() = stopping.clone();
    place.finish()?;
    let setup = start.elapsed();

    let start = Instant::now();
    let mut all = Solved { method, gave_up: None, reports: Vec::new(), x: Vec::new() };
    for (k, right) in b.chunks(parts.rows.max(1)).enumerate() {
        let from = starts.as_ref().map(|starts| &starts[k * parts.cols..(k + 1) * parts.cols]);
        all.column(args, &mut *system, &stopping, &progress, (right, from))?;
    }
    place.finish()?;
    let solved = start.elapsed();
    drop(progress);

    let Solved { method, gave_up, reports, x } = all;
    let columns = reports.len();
    if let Some(path) = &args.out {
        files::write(path, parts.cols, columns, &x)?;
    }
    let outcome = |report: &Report| {
        let Report { stop, iterations, relative_residual, .. } = *report;
        Column { stop, iterations, relative_residual }
    };
    let each = (columns > 1).then(|| reports.iter().map(outcome).collect());
    // NaN counts as the largest.
    let worst = |a: &Report, b: &Report| a.relative_residual.abs().total_cmp(&b.relative_residual.abs());
    let report = reports.into_iter().max_by(worst).unwrap_or_else(|| Report::new(Stop::Converged, vec![0.0]));
    let mut document = Document {
        matrix: args.matrix.display().to_string(),
        rows: parts.rows,
        cols: parts.cols,
        nnz: parts.nnz(),
        symmetric,
        rhs: args.rhs.clone(),
        seed: (args.rhs == "random").then_some(args.seed),
        method,
        gave_up,
        precond: system.precond().unwrap_or(args.precond),
        precond_about: Some(system.preconditioner()).filter(|words| !words.is_empty()),
        order: args.order,
        explanation: args.explanation.clone(),
        restart: (method == Method::Gmres).then_some(args.restart),
        precision: T::PRECISION,
        tolerance,
        device: place.device(),
        devices: place.devices_of_all(global)?,
        kernel_family: place.family(),
        stop: report.stop,
        converged: report.stop.is_success(),
        iterations: report.iterations,
        relative_residual: report.relative_residual,
        residual_history: report.history,
        seconds_read: read.as_secs_f64(),
        seconds_setup: setup.as_secs_f64(),
        seconds_solve: solved.as_secs_f64(),
        peak_device_bytes: place.peak_bytes_of_all()?,
        out: args.out.as_ref().map(|path| path.display().to_string()),
        pictures: Vec::new(),
        columns: each,
    };
    if let Some(picture) = picture {
        document.draw(&picture)?;
    }
    document.print(args.method.is_none(), args.explain, out)?;
    out.detail("matrix storage", system.storage())?;
    for context in place.contexts() {
        out.details_of(context)?;
    }
    out.json(&document)?;
    Ok(match document.stop {
        Stop::Converged => Exit::Done,
        Stop::RoundingFloor if document.relative_residual <= NEAR * tolerance => Exit::Done,
        _ => Exit::NotReached,
    })
}

/// What a residual at the rounding floor may be of the tolerance for a success.
pub(crate) const NEAR: f64 = 10.0;

impl Args {
    /// An error where `path`, which is to be written, is one of the files read.
    fn keeps_its_input(&self, path: &Path) -> Result<(), Failure> {
        let same =
            |input: &Path| input.canonicalize().is_ok_and(|input| path.canonicalize().is_ok_and(|out| out == input));
        let inputs = [("the matrix", Some(self.matrix.as_path())), ("--rhs", Some(Path::new(&self.rhs)))];
        for (option, input) in inputs.into_iter().chain([("--x0", self.x0.as_deref())]) {
            if input.is_some_and(same) {
                let words =
                    format!("--out {} is {option}, which would be overwritten; give another name", path.display());
                return Err(Failure::usage(words));
            }
        }
        Ok(())
    }

    /// With the preconditioner that suits the matrix where none was named.
    fn resolved<T: Real>(&self, parts: &CsrParts<T>, symmetric: bool, several_devices: bool) -> Args {
        let mut resolved = self.clone();
        if self.precond == Precond::Auto {
            let advice = match self.amg_options() {
                Some(option) if !several_devices => {
                    Advice { precond: Precond::Amg, why: format!("{option} was given") }
                }
                _ => advise(parts, symmetric, self.method, several_devices),
            };
            let explanation = format!("{}: {}", advice.precond.title(), advice.why);
            (resolved.precond, resolved.explanation) = (advice.precond, Some(explanation));
        }
        resolved
    }

    /// The first of the options given that shape the hierarchy of `amg`.
    fn amg_options(&self) -> Option<&'static str> {
        let given = [
            ("--coordinates", self.coordinates.is_some()),
            ("--nullspace", self.nullspace.is_some()),
            ("--block", self.block.is_some()),
            ("--single", self.single),
        ];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }

    /// Whether the program chose the preconditioner, so that another one may stand in for it.
    fn may_fall_back(&self) -> bool {
        self.explanation.is_some() && self.amg_options().is_none()
    }

    /// The preconditioner of the method that takes over from one that gave up.
    fn second(&self) -> Precond {
        match (self.precond, &self.explanation) {
            (Precond::Amg, Some(_)) => Precond::Ilut,
            (precond, _) => precond,
        }
    }

    fn precond_options(&self) -> PrecondOptions {
        PrecondOptions { precond: self.precond, order: self.order, drop: self.drop, fill: self.fill }
    }

    /// The right-hand sides, column by column.
    fn right_sides<T: Real>(&self, rows: usize) -> Result<Vec<T>, Failure> {
        match self.rhs.as_str() {
            "ones" => Ok(vec![T::one(); rows]),
            "random" => {
                let mut rng = StdRng::seed_from_u64(self.seed);
                Ok((0..rows).map(|_| T::from_f64(rng.random_range(-1.0..1.0))).collect())
            }
            file => {
                let b = files::read_right_side(Path::new(file))?;
                if b.rows != rows && (b.rows, b.cols) != (1, rows) {
                    let got = format!("{} x {} ({file})", b.rows, b.cols);
                    let expected = format!("{rows} x 1 as A has {rows} rows, or more columns");
                    return Err(Error::Shape { argument: "b", expected, got }.into());
                }
                Ok(b.values)
            }
        }
    }

    /// Where the solves start, for each right-hand side.
    fn starts<T: Real>(&self, cols: usize, count: usize) -> Result<Option<Vec<T>>, Failure> {
        let Some(path) = &self.x0 else { return Ok(None) };
        let x0 = files::read_start(path)?;
        if (x0.rows, x0.cols) != (cols, count) && (x0.rows, x0.cols, count) != (1, cols, 1) {
            let got = format!("{} x {} ({})", x0.rows, x0.cols, path.display());
            let expected = format!("{cols} x {count}, for the columns of A and of b");
            return Err(Error::Shape { argument: "x0", expected, got }.into());
        }
        Ok(Some(x0.values))
    }
}

/// What a method that gives up leaves.
fn iterate(method: Method) -> &'static str {
    match method {
        Method::BiCgStab => "best iterate",
        _ => "last iterate",
    }
}

/// What was found for the right-hand sides so far.
struct Solved<T> {
    method: Method,
    gave_up: Option<Method>,
    reports: Vec<Report>,
    /// Column by column.
    x: Vec<T>,
}

impl<T: Real> Solved<T> {
    /// Solves for one more right-hand side, from a start or from 0; GMRES takes over where a method that was chosen here gives up.
    fn column(
        &mut self,
        args: &Args,
        system: &mut dyn AnySystem<T>,
        stopping: &Stopping,
        progress: &Progress,
        (right, from): (&[T], Option<&[T]>),
    ) -> Result<(), Failure> {
        system.set_right_side(right)?;
        system.start_from(from)?;
        let mut report = system.solve(&mut |iteration, residual| progress.step(iteration, residual))?;
        let gives_up = matches!(report.stop, Stop::Breakdown | Stop::Diverged | Stop::Stagnated | Stop::Indefinite);
        if gives_up && args.method.is_none() && matches!(self.method, Method::BiCgStab | Method::Cg) {
            progress.stage(format!("{} gave up; GMRES goes on from its {}", self.method.title(), iterate(self.method)));
            system.change_method(args, Method::Gmres, stopping.clone())?;
            let before = report.iterations;
            let next = system.solve(&mut |iteration, residual| progress.step(before + iteration, residual))?;
            // The history of the second begins where that of the first ends.
            report.history.pop();
            report.history.extend(next.history);
            report = Report::new(next.stop, report.history);
            self.gave_up = Some(self.method);
            self.method = Method::Gmres;
        }
        self.reports.push(report);
        self.x.extend(system.solution()?);
        Ok(())
    }
}

/// The folder of `path` where it does not exist.
pub(crate) fn missing_folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
}

/// Units roundoff that an entry may differ from its mirror image by, relative to the larger of the two and to the diagonal:
/// what sums in another order leave.
const ASYMMETRY: f64 = 64.0;

/// Whether A equals its transpose up to rounding.
fn is_symmetric<T: Real>(parts: &CsrParts<T>) -> Result<bool, Failure> {
    let transposed = parts.transpose()?;
    if *parts == transposed {
        return Ok(true);
    }
    let diagonal: Vec<f64> = parts.diagonal().into_iter().map(|d| d.into_f64().abs()).collect();
    let unit = ASYMMETRY * T::epsilon().into_f64() / 2.0;
    let near = |i: usize, j: usize, a: f64, b: f64| {
        (a - b).abs() <= unit * a.abs().max(b.abs()).max((diagonal[i] * diagonal[j]).sqrt())
    };
    let row = |parts: &CsrParts<T>, i: usize| -> Vec<(usize, f64)> {
        let range = parts.offsets[i]..parts.offsets[i + 1];
        let values = parts.values[range.clone()].iter().map(|v| v.into_f64());
        parts.indices[range].iter().copied().zip(values).collect()
    };
    Ok((0..parts.rows).all(|i| {
        let (mut own, mut mirrored) = (row(parts, i), row(&transposed, i));
        own.sort_by_key(|entry| entry.0);
        mirrored.sort_by_key(|entry| entry.0);
        let (mut k, mut l) = (0, 0);
        let mut all = true;
        while all && (k < own.len() || l < mirrored.len()) {
            let (j, other) = (own.get(k).map_or(usize::MAX, |e| e.0), mirrored.get(l).map_or(usize::MAX, |e| e.0));
            let (a, b) = (if j <= other { own[k].1 } else { 0.0 }, if other <= j { mirrored[l].1 } else { 0.0 });
            all = near(i, j.min(other), a, b);
            k += usize::from(j <= other);
            l += usize::from(other <= j);
        }
        all
    }))
}

/// A system with its solver, on a device or several.
trait AnySystem<T: Real> {
    /// When the next solve ends.
    fn stopping_mut(&mut self) -> &mut Stopping;
    /// Another method from here on.
    fn change_method(&mut self, args: &Args, method: Method, stopping: Stopping) -> Result<(), Failure>;
    /// Solves from x.
    fn solve(&mut self, progress: &mut dyn FnMut(usize, f64)) -> Result<Report, Failure>;
    /// How the matrix is stored.
    fn storage(&self) -> String;
    /// The preconditioner in use where another one than that of the options may be.
    fn precond(&self) -> Option<Precond> {
        None
    }
    /// What is known of the preconditioner.
    fn preconditioner(&self) -> String {
        String::new()
    }
    /// Another right-hand side.
    fn set_right_side(&mut self, b: &[T]) -> Result<(), Failure>;
    /// The x that the next solve starts from; `None` is 0.
    fn start_from(&mut self, x: Option<&[T]>) -> Result<(), Failure>;
    /// x.
    fn solution(&self) -> Result<Vec<T>, Failure>;
}

impl Document {
    fn method_words(&self) -> String {
        let method = match self.method {
            Method::Gmres => format!("GMRES({})", self.restart.unwrap_or_default()),
            other => other.title().to_owned(),
        };
        let precond = self.precond.title();
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
            subtitle: format!("{} · {}", self.method_words(), self.device.as_ref().map_or("", DeviceName::name)),
            steps: "iteration",
            residual: "relative residual of the recurrence, at the end |b − A x| / |b|",
            history: &self.residual_history,
            tolerance: self.tolerance,
            floor: None,
        })?;
        self.pictures.push(picture.path().display().to_string());
        Ok(())
    }

    fn print(&self, chosen: bool, explain: bool, out: &mut Output) -> Result<(), Failure> {
        let kind = if self.symmetric { "symmetric" } else { "not symmetric" };
        let Document { rows, cols, nnz, iterations, relative_residual, tolerance, .. } = self;
        out.field("matrix", format!("{}: {rows} x {cols}, {nnz} entries, {kind}", self.matrix))?;
        out.field("device", device_words(&self.devices, None))?;
        let why = match (chosen, self.method) {
            (false, _) => "",
            (true, Method::Lsmr) => " (chosen: the matrix is not square)",
            (true, Method::Cg) => " (chosen: the matrix is symmetric with a positive diagonal)",
            (true, _) if self.symmetric && matches!(self.precond, Precond::Ilu | Precond::Ilut) => {
                " (chosen: the preconditioner is not symmetric)"
            }
            (true, _) if self.symmetric => " (chosen: the diagonal of the matrix is not positive)",
            (true, _) => " (chosen: the matrix is not symmetric)",
        };
        let why = match self.gave_up {
            Some(before) => format!(" (from the {} of {}, which gave up)", iterate(before), before.title()),
            None => why.to_owned(),
        };
        out.field("method", format!("{}{why}", self.method_words()))?;
        if let Some(explanation) = self.explanation.as_ref().filter(|_| explain) {
            out.field("explanation", explanation)?;
        }
        if let Some(about) = &self.precond_about {
            out.field("preconditioner", about)?;
        }
        if let Some(columns) = &self.columns {
            let met = columns.iter().filter(|column| column.stop.is_success()).count();
            out.field("systems", format!("{} of {} converged; below, the worst", met, columns.len()))?;
        }
        out.field("stop", format!("{} ({iterations} iterations)", self.stop))?;
        out.field("residual", format!("{relative_residual:.2e}, tolerance {tolerance:e}"))?;
        out.field(
            "time",
            format!(
                "read {}, set-up {}, solve {} ({} per iteration)",
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
