//! `clinalg solve`.

mod effect;
mod hierarchy;
pub(crate) mod method;
mod null;
mod number;
mod pattern;
mod renumbered;
mod report;
mod resume;
mod run;
mod system;

use std::path::PathBuf;
use std::time::Instant;

use clinalg::automatic::SolverText;
use clinalg::multigrid::Backend;
use clinalg::solve::{GmresParams, Stop, Stopping};
use clinalg::{Complex, CsrParts, Scalar};

use self::method::{CycleArg, Method, Order, Precond, Reorder, SmootherArg};
use self::number::Number;
pub(crate) use self::report::Document;
use self::run::{Job, Outcome};
use self::system::{InputFiles, LinearSystem};
use crate::args::{self, PrecisionArg};
use crate::checkpoint::Checkpoints;
use crate::data::norm;
use crate::executor::Executor;
use crate::exit::{Exit, Failure, usage};
use crate::files;
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::plot::{Picture, PlotArgs};
use crate::progress::Progress;

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
  direct    gmres with --precond lu: a complete factorisation, and an iteration or two that
            refine the solution; --inertia and --determinant report what the factors show
  lsmr      least squares, for rectangular A; the default if A is not square
  lsqr      as lsmr; its residual never grows
  richardson
            stationary iteration x += M^-1 (b - A x) with a preconditioner M, such as
            multigrid (--precond amg) as a solver of its own; for real systems
If cg, minres or bicgstab was chosen by default and fails, or reaches the default
limit of iterations, gmres continues from its best iterate, with a complete factorisation of
A where the device computes it within seconds, else with ilut; for symmetric A, minres
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
  lu             complete factorisation: Cholesky for positive definite, LDL for other
                 symmetric (also complex symmetric), LU for any other A; needs more memory
                 than the others
  saddle         blocks for saddle points [A B'; B -C] (Stokes, constraints): multigrid
                 for A, a diagonal or multigrid for the Schur complement; minres
                 where the matrix is symmetric, else gmres

Complex numbers: if the matrix, the right-hand side or x0 is complex, the system is
solved in complex arithmetic, and x is complex. Symmetric then means Hermitian, above and
below. Complex systems are supported except by classical, saddle, richardson and --devices.

Several devices (--devices): all methods but block-cg and those for least squares,
preconditioners none, jacobi, amg, sa and classical.

JSON keys: matrix, rows, cols, nnz, symmetric (up to rounding; of complex matrices: Hermitian),
complex, rhs, null_vectors (number of null vectors found), null_part_removed (whether their
component was removed from b), singularity (what the residual of a failed solve shows about A),
advice (options with which a failed solve may succeed, or null),
seed, method, failed_method (the method that failed before this one, or null), precond,
precond_description, inertia (positive, negative and zero eigenvalues), determinant (sign,
the real part of det A / |det A|, sign_imaginary, ln_modulus, the logarithm of |det A|), order, sweeps, reorder, reorder_description, explanation (why auto chose it, and in
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
  clinalg solve A.mtx --solver cg,amg,tol=1e-8
  clinalg solve A.mtx --method direct --inertia --determinant
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
    /// Method, preconditioner, tol=, max-iterations=, restart= and idr-dimension= in one string, such as cg,amg,tol=1e-8; the options of these names override it
    #[arg(long, value_name = "TEXT")]
    solver: Option<SolverText>,
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
    /// Smoother of amg: what reduces the error on each level [default: chebyshev, spai0 where A is far from symmetric]
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
    /// Report how many eigenvalues of a symmetric A are positive, negative and zero, with --method direct
    #[arg(long)]
    inertia: bool,
    /// Report the sign and the logarithm of the determinant of A, with --method direct
    #[arg(long)]
    determinant: bool,
    /// Order in which ilu, ilut and ic eliminate and ssor sweeps; the matrix keeps its numbering, unlike with --reorder [default: natural; ssor: multicolour]
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// Compute the factors of ilu or ic by this many sweeps (3 to 5 often suffice, at most 100) of a fixed-point iteration, not by levels; for
    /// matrices with many levels
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
    /// Relative residual to reach; 0: as small as rounding allows [default: 1e-10 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance_or_zero, allow_hyphen_values = true)]
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
    #[command(flatten)]
    style: PlotArgs,
    /// Draw the entries of A into FILE (.png or .svg), in the numbering of --reorder; beyond 400 rows or columns their density
    #[arg(long, value_name = "FILE")]
    plot_pattern: Option<PathBuf>,
    /// Write a checkpoint (.npz) where --max-iterations or Ctrl-C ends the solve; Ctrl-C writes clinalg-solve-checkpoint.npz without this option
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue from a checkpoint; limits, tolerances and devices given with it override those of its run, all other options must stay the same; files to write are not taken from the checkpoint: name them again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

/// What is read before the type of the numbers is known.
struct Input {
    picture: Option<Picture>,
    pattern: Option<Picture>,
    checkpoints: Checkpoints,
    files: InputFiles,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let args = &args.with_matrix(global)?.with_solver();
    out.phase("reading");
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    let pattern = args.plot_pattern.as_deref().map(|path| Picture::given("--plot-pattern", path)).transpose()?;
    files::check_output(&args.out)?;
    if args.seed.is_some() && args.rhs != "random" {
        return usage!("--seed is for --rhs random, not for --rhs {}", args.rhs);
    }
    let checkpoints = Checkpoints::new("solve", &args.checkpoint, &args.resume)?;
    interrupt::watch(checkpoints.is_given() || args.out.is_some());
    let files = InputFiles::read(args, out)?;
    let is_complex = files.are_complex();
    let input = Input { picture, pattern, checkpoints, files };
    match (args.precision, is_complex) {
        (PrecisionArg::F32, false) => solve::<f32>(args, global, input, out),
        (PrecisionArg::F64, false) => solve::<f64>(args, global, input, out),
        (PrecisionArg::F32, true) => solve::<Complex<f32>>(args, global, input, out),
        (PrecisionArg::F64, true) => solve::<Complex<f64>>(args, global, input, out),
    }
}

fn solve<T: Number>(args: &Args, global: &Global, input: Input, out: &mut Output) -> Result<Exit, Failure> {
    let Input { picture, pattern, checkpoints, files } = input;
    let mut system = LinearSystem::<T>::new(args, files)?;
    let mut pictures = Vec::new();
    if let Some(picture) = pattern {
        pictures.push(pattern::draw(&picture, args, &system.parts, system.renumbered.as_ref())?);
    }

    out.phase("device");
    let begin = Instant::now();
    let executor = Executor::new(global, Backend::Kernels)?;
    args.check_checkpoints(&executor)?;
    let stopping = args.stopping::<T>();
    let progress = Progress::new(out, "iteration", stopping.tolerance_of::<T>());
    progress.stage("setting up");
    out.phase("set-up");
    let job = Job {
        args,
        executor: &executor,
        parts: &system.parts,
        b: &mut system.b,
        starts: system.starts.as_deref(),
        from_file: system.from_file,
        stopping,
        checkpoints: &checkpoints,
        progress: &progress,
        begin,
    };
    let mut solved = job.solve(out)?;
    drop(progress);

    out.phase("output");
    if let Some(renumbered) = &system.renumbered {
        renumbered.undo(&mut solved.x)?;
    }
    if let Some(path) = &args.out {
        files::write(path, system.parts.cols, solved.columns.len(), &solved.x)?;
    }
    let norms = || Ok([("b", norm(&system.b)), ("x", norm(&solved.x))]);
    let mut document = Document::new(args, &system, &solved, &executor, global)?;
    document.files.pictures = pictures;
    if let Some(picture) = picture {
        document.draw(&picture)?;
    }
    out.report(&document, executor.contexts(), norms)
}

/// The default of --seed.
const SEED: u64 = 1;

impl Args {
    /// With the matrix that is meant.
    fn with_matrix(&self, global: &Global) -> Result<Args, Failure> {
        let mut args = self.clone();
        args.matrix = self.matrices.last().cloned().unwrap_or_default();
        match self.matrices.get(1) {
            Some(second) if self.resume.is_none() && global.options.is_none() => usage!(
                "unexpected argument '{}': a solve takes one matrix; --rhs FILE and --x0 FILE read vectors",
                second.display()
            ),
            _ => args.with_direct(),
        }
    }

    /// With the method and the preconditioner that a direct solver is.
    fn with_direct(mut self) -> Result<Args, Failure> {
        if self.method != Some(Method::Direct) {
            return Ok(self);
        }
        if !matches!(self.precond, Precond::Auto | Precond::Lu) {
            let given = self.precond.name();
            return usage!("--method direct factorises A: --precond {given} does not go with it");
        }
        self.method = Some(Method::Gmres);
        self.precond = Precond::Lu;
        Ok(self)
    }

    /// With what --solver names where the option of that name is not given.
    fn with_solver(mut self) -> Args {
        let Some(text) = self.solver else { return self };
        self.method = self.method.or(text.method.map(Method::from));
        if self.precond == Precond::Auto {
            self.precond = text.preconditioner.map_or(Precond::Auto, Precond::from);
        }
        self.tol = self.tol.or(text.tolerance);
        self.max_iterations = self.max_iterations.or(text.max_iterations);
        self.given_restart = self.given_restart.or(text.restart);
        self.idr_dimension = self.idr_dimension.or(text.idr_dimensions);
        self
    }

    fn stopping<T: Scalar>(&self) -> Stopping {
        let usual = Stopping::default();
        let most = self.max_iterations.unwrap_or(usual.max_iterations);
        // No residual but 0 is below, so that a solve ends where rounding ends it.
        let tolerance = self.tol.map_or(usual.tolerance_of::<T>(), |tolerance| tolerance.max(f64::MIN_POSITIVE));
        usual.tolerance(tolerance).max_iterations(most)
    }

    fn restart(&self) -> usize {
        self.given_restart.unwrap_or(GmresParams::default().restart)
    }

    /// An error for checkpoints of what has none.
    fn check_checkpoints(&self, executor: &Executor) -> Result<(), Failure> {
        if self.checkpoint.is_none() && self.resume.is_none() {
            return Ok(());
        }
        if matches!(executor, Executor::Team(_)) {
            return usage!(
                "checkpoints are of solves on one device: leave --devices out, or --checkpoint and --resume"
            );
        }
        match self.method.filter(|method| !method.is_resumable()) {
            Some(method) => usage!(
                "--method {} does not support --checkpoint and --resume: omit them, or use --method cg",
                method.name()
            ),
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

    /// The option for a complete factorisation, where a method failed and its preconditioner was not equally exact already.
    fn advice<T: Scalar>(&self, parts: &CsrParts<T>, solved: &Outcome<T>, is_team: bool) -> Option<String> {
        let (rows, stop, precond) = (parts.rows, solved.report.stop, solved.precond);
        let at_default_limit = stop == Stop::IterationLimit && self.max_iterations.is_none();
        let failed = stop.is_failure_of_method() || at_default_limit;
        let may_factor = failed && rows == parts.cols && !is_team && solved.singularity.is_none();
        let is_exact = precond == Precond::Lu;
        (may_factor && !is_exact).then(|| "--method direct computes a complete factorisation of A".to_owned())
    }
}
