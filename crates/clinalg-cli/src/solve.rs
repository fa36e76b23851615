//! `clinalg solve`.

mod given;
mod hierarchy;
pub(crate) mod method;
mod null;
mod number;
mod pattern;
mod renumbered;
mod report;
mod resume;
mod run;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clinalg::automatic::OneDevice;
use clinalg::multigrid::Backend;
use clinalg::precond::{check_finite, check_zeros};
use clinalg::solve::{GmresParams, IdrParams, Stop, Stopping};
use clinalg::{Complex, Csr, CsrParts, Error, Scalar};

use crate::args::{self, PrecisionArg};
use crate::checkpoint::Checkpoints;
use crate::data::norm;
use crate::data::random_numbers;
use crate::exit::{Exit, Failure};
use crate::files::{self, Role};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::place::Place;
use crate::plot::Picture;
use crate::progress::Progress;
use method::{CycleArg, Method, Order, Precond, Reorder, SmootherArg};
use null::with_lsmr;
use number::Number;
use renumbered::Renumbered;
use report::Document;
use run::{Job, Outcome, is_success, solve_block, solve_columns};

/// Solve a sparse system A x = b, or a least-squares problem, from a file
///
/// Reads MatrixMarket files (.mtx, .mtx.gz: coordinate and array, real, complex, integer and pattern, general, symmetric, skew-symmetric
/// and Hermitian), SciPy's sparse matrices (.npz), arrays of NumPy (.npy) and MATLAB's files, including version 7.3 (.mat: the variable A, or
/// the only sparse one), real or complex. The initial guess is x = 0; the solver stops when |b - A x| / |b| is at most the tolerance.
#[derive(Clone, clap::Args)]
#[command(
    override_usage = "clinalg solve [OPTIONS] <A.mtx>\n       clinalg solve --resume FILE [OPTIONS] [A.mtx]",
    after_help = "\
Methods:
  cg        conjugate gradients, for symmetric positive definite A; the default
            if A is symmetric and its diagonal positive
  block-cg  block conjugate gradients: as cg, for all right-hand sides at once, with
            fewer iterations; each product reads A once for all columns
  bicgstab  for any nonsingular A, with little memory; the default otherwise
  gmres     restarted after --restart iterations, for any nonsingular A
  idrs      IDR(s) with s = 4 or --idr-dimension, for any nonsingular A; more robust
            than bicgstab
  minres    for symmetric A, definite or not
  fcg       as cg, for preconditioners that vary or are not quite symmetric; the default
            with --cycle k
  lsmr      least squares, for rectangular A; the default if A is not square
  lsqr      as lsmr; its residual never grows
  richardson
            stationary iteration x += M^-1 (b - A x) with a preconditioner M, such as
            multigrid (--precond amg) as a solver of its own; for real systems
If cg, minres or bicgstab was chosen by default and fails, or reaches the default
limit of iterations, gmres continues from its best iterate, with complete LU factors of A
where these take at most about ten seconds, else with ilut; for symmetric A, minres
continues after gmres.

Preconditioners:
  auto           the default: none below 1000 equations; else amg, jacobi, ilu,
                 ilut or saddle from symmetry, signs and sizes of the entries
  amg            algebraic multigrid, for symmetric positive definite A; --coordinates
                 (or --nullspace and --block) for elasticity. Coarsens as sa or as
                 classical, chosen from the entries (--report says which and why).
                 Further options: --smoother to --aggressive
  sa, classical  amg by smoothed aggregation; amg by classical coarsening
  jacobi, spai0  diagonal; with lsmr and lsqr, jacobi scales the columns
  ssor           symmetric Gauss-Seidel, over-relaxed by --omega, by colours unless
                 --order says otherwise
  ic, fsai       for symmetric positive definite A: incomplete Cholesky, factored
                 approximate inverse (no triangular systems)
  ilu            ILU(0); rows are permuted where the diagonal has zeros
  ilut           ILU with --drop and --fill, for difficult matrices
  saddle         blocks for saddle points [A B'; B -C] (Stokes, constraints): multigrid
                 for A, a diagonal or multigrid for the Schur complement; minres
                 where the matrix is symmetric, else gmres

Complex numbers: if the matrix, the right-hand side or x0 is complex, the system is
solved in complex arithmetic, and x is complex. Symmetric then means Hermitian, above and
below. Complex systems are supported except by amg, saddle, richardson and --devices.

Several devices (--devices): all methods but block-cg and those for least squares,
preconditioners none, jacobi, amg, sa and classical.

JSON keys: matrix, rows, cols, nnz, symmetric (up to rounding; of complex matrices: Hermitian),
complex, rhs, null_vectors (number of null vectors found), null_part_removed (whether their
component was removed from b), verdict (what the residual of a failed solve shows about A),
advice (options with which a failed solve may succeed, or null),
seed, method, gave_up (the method that failed before this one, or null), precond,
precond_about, order, sweeps, reorder, reorder_about, explanation (why auto chose it, and in
further lines what took its place, or null), restart, idr_dimension, precision, tolerance,
device, devices, kernel_family, stop, converged, iterations, iterate (the number of the
iterate that is returned as x: the best one where the solve did not converge),
relative_residual (of x), residual_history, seconds_read, seconds_setup (upload, and building
the kernels), seconds_solve, peak_device_bytes, out, checkpoint, pictures, columns. devices
lists all devices, device is the first. columns has stop, iterations, iterate and
relative_residual for each of several right-hand sides (else null); the keys
outside are those of the one with the largest residual.

Ctrl-C ends the solve with the current iterate, and writes a checkpoint of the
iteration: with gmres the basis since the last restart, with the others 2 to 14
vectors. clinalg solve --resume FILE reads the files, repeats the set-up and continues from
the checkpoint; on the same device the results are bitwise those of an uninterrupted run.
Not with block-cg, richardson or --devices.

Examples:
  clinalg solve A.mtx                           b = (1, ..., 1)
  clinalg solve A.mtx --rhs b.mtx --out x.mtx --tol 1e-12
  clinalg solve A.mtx --method gmres --restart 50 --plot residuals.svg
  clinalg solve A.mtx --reorder rcm --plot-pattern pattern.png
  clinalg solve circuit.mat --method gmres --precond ilut --out x.mat
  clinalg solve A.npz --rhs b.npy --x0 x0.npy --precond ic --out x.npy

The exit code is 0 if the tolerance is reached, or the rounding floor at up to ten
times the tolerance, else 1; x is written in either case."
)]
pub(crate) struct Args {
    /// The matrix, a file .mtx, .mtx.gz, .npz or .mat; duplicate entries are summed
    #[arg(id = "matrix", value_name = "A.mtx", required = true, num_args = 1..)]
    matrices: Vec<PathBuf>,
    /// The last of them: one given beside --resume or --options stands in for the one named there.
    #[arg(skip)]
    matrix: PathBuf,
    /// Right-hand side: a file with one column (or row) or several columns, `ones`, or `random` (uniform in [-1, 1), for complex A in real and imaginary part; see --seed)
    #[arg(long, default_value = "ones", value_name = "FILE|ones|random")]
    rhs: String,
    /// Seed of the random numbers for --rhs random [default: 1]
    #[arg(long, allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Initial guess: a file with as many columns as there are right-hand sides [default: 0]
    #[arg(long, value_name = "FILE")]
    x0: Option<PathBuf>,
    /// Iterative method [default: cg if A is symmetric with a positive diagonal, minres if it is a symmetric saddle point matrix, lsmr if A is not square, else bicgstab]
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// Preconditioner; --coordinates, --nullspace, --block, --single and the options from --smoother to --aggressive imply amg
    #[arg(long, value_enum, default_value_t = Precond::Auto)]
    precond: Precond,
    /// Say why this method and this preconditioner were chosen
    #[arg(long)]
    explain: bool,
    /// Coordinates of the nodes for amg, a file with a row per node: unknowns are displacements, numbered node by node
    #[arg(long, value_name = "FILE", conflicts_with = "nullspace")]
    coordinates: Option<PathBuf>,
    /// Near-null vectors of A for amg, a file with a column per vector [default: constants]
    #[arg(long, value_name = "FILE")]
    nullspace: Option<PathBuf>,
    /// Unknowns per node for amg, numbered consecutively [default: with --coordinates their dimension, else found from the pattern of the matrix, or 1]
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    block: Option<usize>,
    /// Keep the hierarchy of amg in single precision
    #[arg(long)]
    single: bool,
    /// Smoother of amg: what reduces the error on each level [default: chebyshev]
    #[arg(long, value_enum)]
    smoother: Option<SmootherArg>,
    /// Smoother sweeps of amg before and after the coarse-level correction; for chebyshev, the polynomial degree [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    steps: Option<usize>,
    /// How a cycle of amg visits the coarser levels [default: v]
    #[arg(long, value_enum)]
    cycle: Option<CycleArg>,
    /// Threshold of strong connections of amg, at least 0 and below 1: a larger one follows anisotropy more closely and coarsens more slowly [default: 0.08, classical 0.25]
    #[arg(long, value_name = "T", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    theta: Option<f64>,
    /// Rows of the level that amg solves by a dense inverse, up to 4096 [default: 400]
    #[arg(long, value_name = "ROWS", value_parser = args::positive, allow_hyphen_values = true)]
    coarse_size: Option<usize>,
    /// Coarsen the finest level of amg aggressively, with classical coarsening: less memory and a cheaper cycle, more iterations
    #[arg(long)]
    aggressive: bool,
    /// Report the hierarchy of amg: levels, complexities, memory, convergence factor
    #[arg(long)]
    report: bool,
    /// Order in which ilu, ilut and ic eliminate and ssor sweeps; the matrix keeps its numbering, unlike with --reorder [default: natural; ssor: multicolour]
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// Compute the factors of ilu or ic by this many sweeps (at most 100) of a fixed-point iteration, not by levels; for matrices with many levels
    #[arg(long, value_name = "COUNT", value_parser = args::sweeps, allow_hyphen_values = true)]
    sweeps: Option<usize>,
    /// Renumber the matrix itself at upload, which also speeds up its products, unlike --order; solutions are written in the numbering of the file
    #[arg(long, value_enum, default_value_t = Reorder::None)]
    reorder: Reorder,
    /// Entries below this fraction of the mean magnitude of their row are dropped from the factors of ilut [default: 1e-4]
    #[arg(long = "drop", value_name = "T", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    given_drop: Option<f64>,
    /// The factors of ilut may have about TIMES as many entries as A: each row of L and of U keeps its TIMES nnz / (2 n) (rounded up) largest off-diagonal entries [default: 10]
    #[arg(long = "fill", value_name = "TIMES", value_parser = args::at_least_zero, allow_hyphen_values = true)]
    given_fill: Option<f64>,
    /// Relaxation factor of ssor, above 0 and below 2 [default: 1]
    #[arg(long, value_name = "W", value_parser = args::relaxation, allow_hyphen_values = true)]
    omega: Option<f64>,
    /// Relative residual to reach [default: 1e-10 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// Maximum number of iterations per method; if given, the solve ends there, otherwise another method takes over [default: 10000]
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    max_iterations: Option<usize>,
    /// Iterations of gmres between restarts; its memory grows with them [default: 30]
    #[arg(long = "restart", value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    given_restart: Option<usize>,
    /// Dimension s of the shadow space of idrs: each increase by 1 saves iterations and takes 3 more vectors [default: 4]
    #[arg(long, value_name = "S", value_parser = args::positive, allow_hyphen_values = true)]
    idr_dimension: Option<usize>,
    /// Precision of the computation
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Write x as a MatrixMarket array, or as .npy or .mat
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the residual after each iteration into FILE (.png or .svg)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw the entries of A into FILE (.png or .svg), in the numbering of --reorder
    #[arg(long, value_name = "FILE")]
    plot_pattern: Option<PathBuf>,
    /// Write a checkpoint (.npz) where --max-iterations or Ctrl-C ends the solve; Ctrl-C writes clinalg-solve-checkpoint.npz without this option
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue from a checkpoint; limits, tolerances and devices given with it override those of its run, all other options must stay the same; files to write are not taken from the checkpoint: name them again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

/// The schema of the JSON document.
pub(crate) fn schema() -> schemars::Schema {
    crate::document::schema::<Document>()
}

/// What a run reads before the type of its numbers is known.
struct Given {
    picture: Option<Picture>,
    pattern: Option<Picture>,
    checkpoints: Checkpoints,
    matrix: files::Loaded,
    rhs: Option<files::Loaded>,
    x0: Option<files::Loaded>,
    seconds: Duration,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let args = &args.with_matrix(global)?;
    out.phase("reading");
    let picture = args.plot.as_deref().map(Picture::new).transpose()?;
    let pattern = args.plot_pattern.as_deref().map(|path| Picture::given("--plot-pattern", path)).transpose()?;
    files::check_output(&args.out)?;
    if args.seed.is_some() && args.rhs != "random" {
        return Err(Failure::usage(format!("--seed is for --rhs random, not for --rhs {}", args.rhs)));
    }
    let checkpoints = Checkpoints::new("solve", &args.checkpoint, &args.resume)?;
    interrupt::watch();
    let progress = Progress::new(out, "iteration", 1.0);
    progress.stage(format!("reading {}", args.matrix.display()));
    let start = Instant::now();
    let (matrix, rhs, x0) = args.read_files()?;
    drop(progress);
    let is_complex =
        matrix.is_complex() || [&rhs, &x0].iter().any(|file| file.as_ref().is_some_and(|f| f.is_complex()));
    let given = Given { picture, pattern, checkpoints, matrix, rhs, x0, seconds: start.elapsed() };
    match (args.precision, is_complex) {
        (PrecisionArg::F32, false) => solve::<f32>(args, global, given, out),
        (PrecisionArg::F64, false) => solve::<f64>(args, global, given, out),
        (PrecisionArg::F32, true) => solve::<Complex<f32>>(args, global, given, out),
        (PrecisionArg::F64, true) => solve::<Complex<f64>>(args, global, given, out),
    }
}

fn solve<T: Number>(args: &Args, global: &Global, given: Given, out: &mut Output) -> Result<Exit, Failure> {
    let Given { picture, pattern, checkpoints, matrix, rhs, x0, seconds } = given;
    let tolerance = args.tol.unwrap_or(Stopping::default().tolerance_of::<T>());
    let stopping = Stopping::default().tolerance(tolerance);
    let most = args.max_iterations.unwrap_or(stopping.max_iterations);
    let stopping = stopping.max_iterations(most);
    let progress = Progress::new(out, "iteration", tolerance);
    let start = Instant::now();
    let mut parts = matrix.matrix::<T>()?;
    let from_file = rhs.is_some();
    let mut b = args.right_sides::<T>(rhs, parts.rows)?;
    let mut starts = args.starts::<T>(x0, parts.cols, b.len() / parts.rows.max(1))?;
    if args.reorder != Reorder::None {
        args.check_numbered(&parts, &b)?;
    }
    let renumbered = Renumbered::new(args, &mut parts, &mut b, starts.as_mut())?;
    let read = seconds + start.elapsed();
    let mut pictures = Vec::new();
    if let Some(picture) = pattern {
        pattern::draw(&picture, args, &parts, renumbered.as_ref())?;
        pictures.push(picture.path().display().to_string());
    }

    out.phase("device");
    let begin = Instant::now();
    let place = Place::new(global, Backend::Kernels)?;
    args.check_checkpoints(&place)?;
    progress.stage("setting up");
    out.phase("set-up");
    let job = Job {
        args,
        place: &place,
        parts: &parts,
        b: &mut b,
        starts: starts.as_deref(),
        from_file,
        stopping,
        checkpoints: &checkpoints,
        progress: &progress,
        begin,
    };
    let solved = match &place {
        Place::Team(team) => T::on_team(team, job, out)?,
        _ => {
            let a = Csr::from_parts(&place.contexts()[0], &parts)?;
            let space = OneDevice::with_parts(&a, &parts);
            match args.method {
                Some(Method::BlockCg) => solve_block(space, job, out)?,
                _ => solve_columns(space, job, out)?,
            }
        }
    };
    drop(progress);
    out.phase("output");

    let Outcome { columns, report, mut x, method, failed_method, precond, singularity, .. } = solved;
    let at_default_limit = report.stop == Stop::IterationLimit && args.max_iterations.is_none();
    let failed = report.stop.is_failure_of_method() || at_default_limit;
    let may_factor = failed && parts.rows == parts.cols && !matches!(place, Place::Team(_)) && singularity.is_none();
    let advice = may_factor.then(|| args.factors(precond, parts.rows, parts.nnz())).flatten();
    if let Some(renumbered) = &renumbered {
        renumbered.undo(&mut x)?;
    }
    if let Some(path) = &args.out {
        files::write(path, parts.cols, columns.len(), &x)?;
    }
    let mut document = Document {
        matrix: args.matrix.display().to_string(),
        rows: parts.rows,
        cols: parts.cols,
        nnz: parts.nnz(),
        symmetric: solved.symmetric,
        complex: T::IS_COMPLEX,
        rhs: args.rhs.clone(),
        null_vectors: solved.null_vectors,
        null_part_removed: solved.null_part_removed,
        seed: (args.rhs == "random").then_some(args.seed.unwrap_or(SEED)),
        method,
        gave_up: failed_method,
        precond,
        precond_about: Some(solved.precond_description).filter(|description| !description.is_empty()),
        order: args.order,
        sweeps: args.sweeps,
        reorder: args.reorder,
        reorder_about: renumbered.map(|renumbered| renumbered.words),
        explanation: solved.explanation,
        restart: (method == Method::Gmres).then(|| args.restart()),
        idr_dimension: (method == Method::Idrs).then(|| args.idr_dimension.unwrap_or(IdrParams::default().dimensions)),
        precision: T::PRECISION,
        tolerance,
        device: place.device(),
        devices: place.devices_of_all(global)?,
        kernel_family: place.family(),
        verdict: singularity,
        advice,
        stop: report.stop,
        converged: report.stop.is_success(),
        iterations: report.iterations,
        iterate: report.iterate,
        relative_residual: report.relative_residual,
        residual_history: report.history,
        seconds_read: read.as_secs_f64(),
        seconds_setup: solved.setup.as_secs_f64(),
        seconds_solve: solved.solved.as_secs_f64(),
        peak_device_bytes: place.peak_bytes_of_all()?,
        out: args.out.as_ref().map(|path| path.display().to_string()),
        checkpoint: solved.checkpoint,
        pictures,
        columns: (columns.len() > 1).then_some(columns),
    };
    if let Some(picture) = picture {
        document.draw(&picture)?;
    }
    document.print(args.method.is_none(), args.explain, out)?;
    out.detail("matrix storage", solved.storage)?;
    out.norms(|| Ok([("b", norm(&b)), ("x", norm(&x))]))?;
    out.details(place.contexts())?;
    out.json(&document)?;
    Ok(match is_success(document.stop, document.relative_residual, tolerance) {
        true => Exit::Done,
        false => Exit::NotReached,
    })
}

/// The default of --seed.
const SEED: u64 = 1;

/// Largest number of equations for which complete factors by ILUT take seconds to minutes.
const FACTORED: usize = 20_000;

/// A driver takes up to half a second to start, and does so while a file of more bytes is read.
const WORTH_A_THREAD: u64 = 16 << 20;

/// A matrix, and where there are files of them, right-hand sides and initial guesses.
type Files = (files::Loaded, Option<files::Loaded>, Option<files::Loaded>);

impl Args {
    fn read_files(&self) -> Result<Files, Failure> {
        let is_large = self.matrix.metadata().is_ok_and(|about| about.len() > WORTH_A_THREAD);
        thread::scope(|scope| {
            let start = || drop(clinalg::runtime::devices());
            let _driver = is_large.then(|| thread::Builder::new().spawn_scoped(scope, start));
            let matrix = files::Loaded::read(&self.matrix, Role::Matrix)?;
            let rhs = match self.rhs.as_str() {
                "ones" | "random" => None,
                file => Some(files::Loaded::read(Path::new(file), Role::RightSide)?),
            };
            let x0 = self.x0.as_deref().map(|path| files::Loaded::read(path, Role::Start)).transpose()?;
            Ok((matrix, rhs, x0))
        })
    }

    /// With the matrix that is meant.
    fn with_matrix(&self, global: &Global) -> Result<Args, Failure> {
        let mut args = self.clone();
        args.matrix = self.matrices.last().cloned().unwrap_or_default();
        match self.matrices.get(1) {
            Some(second) if self.resume.is_none() && global.options.is_none() => Err(Failure::usage(format!(
                "unexpected argument '{}': a solve takes one matrix; --rhs FILE and --x0 FILE read vectors",
                second.display()
            ))),
            _ => Ok(args),
        }
    }

    fn restart(&self) -> usize {
        self.given_restart.unwrap_or(GmresParams::default().restart)
    }

    /// An error for entries that are not finite and for rows and columns of zeros, by the numbering of the file.
    fn check_numbered<T: Scalar>(&self, parts: &CsrParts<T>, b: &[T]) -> Result<(), Failure> {
        check_finite(parts, b)?;
        if parts.rows == parts.cols && !self.method.is_some_and(Method::is_least_squares) {
            let sentence = check_zeros(parts, b).map_err(with_lsmr)?;
            sentence.iter().for_each(|sentence| log::warn!("{sentence}"));
        }
        Ok(())
    }

    /// An error for checkpoints of what has none.
    fn check_checkpoints(&self, place: &Place) -> Result<(), Failure> {
        if self.checkpoint.is_none() && self.resume.is_none() {
            return Ok(());
        }
        if matches!(place, Place::Team(_)) {
            return Err(Failure::usage(
                "checkpoints are of solves on one device: leave --devices out, or --checkpoint and --resume",
            ));
        }
        match self.method.filter(|method| !method.is_resumable()) {
            Some(method) => Err(Failure::usage(format!(
                "--method {} does not support --checkpoint and --resume: omit them, or use --method cg",
                method.name()
            ))),
            None => Ok(()),
        }
    }

    /// The first of the options given that shape the hierarchy of `amg`.
    fn amg_options(&self) -> Option<&'static str> {
        let given = [
            ("--single", self.single),
            ("--smoother", self.smoother.is_some()),
            ("--steps", self.steps.is_some()),
            ("--cycle", self.cycle.is_some()),
            ("--theta", self.theta.is_some()),
            ("--coarse-size", self.coarse_size.is_some()),
            ("--aggressive", self.aggressive),
        ];
        self.node_options().or(given.into_iter().find(|option| option.1).map(|option| option.0))
    }

    /// The first of the options given that say what the nodes of `amg` are.
    fn node_options(&self) -> Option<&'static str> {
        let given = [
            ("--coordinates", self.coordinates.is_some()),
            ("--nullspace", self.nullspace.is_some()),
            ("--block", self.block.is_some()),
        ];
        given.into_iter().find(|option| option.1).map(|option| option.0)
    }

    /// The options for complete factors of a matrix with this many rows and entries, if it is small and `precond` was not equally exact already.
    fn factors(&self, precond: Precond, rows: usize, entries: usize) -> Option<String> {
        let is_exact = precond == Precond::Lu || (precond == Precond::Ilut && self.given_drop == Some(0.0));
        // With this, a row may keep all its entries in L and in U.
        let fill = (2 * rows * rows).div_ceil(entries.max(1));
        (!is_exact && rows <= FACTORED).then(|| {
            format!(
                "--method gmres --precond ilut --order rcm --drop 0 --fill {fill} computes complete LU factors of A"
            )
        })
    }

    /// The right-hand sides, column by column.
    fn right_sides<T: Scalar>(&self, file: Option<files::Loaded>, rows: usize) -> Result<Vec<T>, Failure> {
        let Some(file) = file else {
            if self.rhs == "ones" {
                return Ok(vec![T::one(); rows]);
            }
            let mut values = vec![T::zero(); rows];
            random_numbers(self.seed.unwrap_or(SEED)).fill_host(&mut values);
            return Ok(values);
        };
        let b = file.columns()?;
        let is_empty = b.cols == 0 && rows > 0;
        if is_empty || (b.rows != rows && (b.rows, b.cols) != (1, rows)) {
            let got = format!("{} x {} ({})", b.rows, b.cols, self.rhs);
            let expected = format!("{rows} x 1 as A has {rows} rows, or more columns");
            return Err(Error::Shape { argument: "b", expected, got }.into());
        }
        Ok(b.values)
    }

    /// Where the solves start, for each right-hand side.
    fn starts<T: Scalar>(
        &self,
        file: Option<files::Loaded>,
        cols: usize,
        count: usize,
    ) -> Result<Option<Vec<T>>, Failure> {
        let Some(file) = file else { return Ok(None) };
        let x0 = file.columns::<T>()?;
        if (x0.rows, x0.cols) != (cols, count) && (x0.rows, x0.cols, count) != (1, cols, 1) {
            let name = self.x0.as_deref().unwrap_or(Path::new("")).display();
            let got = format!("{} x {} ({name})", x0.rows, x0.cols);
            let expected = format!("{cols} x {count}, for the columns of A and of b");
            return Err(Error::Shape { argument: "x0", expected, got }.into());
        }
        if let Some(k) = x0.values.iter().position(|value| !value.has_finite_parts()) {
            let reason = format!(
                "the value in row {} of column {} (counted from 1) is {}, expected a finite number",
                k % cols + 1,
                k / cols + 1,
                x0.values[k]
            );
            return Err(Error::unsuitable("x0", reason).into());
        }
        Ok(Some(x0.values))
    }
}
