//! `clinalg solve`.

mod advice;
mod block;
mod given;
mod hierarchy;
mod least_squares;
pub(crate) mod method;
mod null;
mod number;
mod pattern;
mod renumbered;
mod report;
mod resume;
mod richardson;
mod saddle;
mod system;
mod team;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clinalg::CsrParts;
use clinalg::multigrid::Backend;
use clinalg::precond::{
    Advice as Suggestion, NullVectors, SsorParams, Suited, check_finite, check_zeros, diagnose_singularity,
    is_hermitian, unknowns_per_node, verdict,
};
use clinalg::solve::{GmresParams, IdrParams, KrylovMemory, Report, Stop, Stopping};
use clinalg::{Complex, Error, Scalar};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::Global;
use crate::args::{self, PrecisionArg};
use crate::checkpoint;
use crate::exit::{Exit, Failure};
use crate::files::{self, Role};
use crate::interrupt;
use crate::output::{Output, check_target, norm};
use crate::place::Place;
use crate::plot::Picture;
use crate::progress::Progress;
use advice::{Advice, advise};
use block::BlockSystem;
use hierarchy::NearNull;
use least_squares::LeastSquaresSystem;
use method::{CycleArg, Method, Order, Precond, PrecondOptions, Reorder, Sizes, SmootherArg, check_combination};
use null::{about_coordinates, with_lsmr, with_sentence};
use number::Number;
use renumbered::Renumbered;
use report::{Column, Document};
use resume::Begun;
use system::System;

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

Several devices (--devices): methods cg, bicgstab and gmres, preconditioners none,
jacobi, amg, sa and classical.

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
    /// Right-hand side: a file with one column (or row) or several columns, `ones`, or `random` (uniform in (-1, 1), for complex A in real and imaginary part; see --seed)
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
    /// The vectors of --coordinates or --nullspace.
    #[arg(skip)]
    near_null: Option<NearNull>,
    /// Unknowns per node that the pattern shows.
    #[arg(skip)]
    found_block: Option<usize>,
    /// Report the hierarchy of amg: levels, complexities, memory, convergence factor
    #[arg(long)]
    report: bool,
    /// Why `auto` took the preconditioner.
    #[arg(skip)]
    explanation: Option<String>,
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
    /// That in use.
    #[arg(skip)]
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
    crate::schema::of::<Document>()
}

/// What a run reads before the type of its numbers is known.
struct Given {
    picture: Option<Picture>,
    pattern: Option<Picture>,
    keep: checkpoint::Target,
    loaded: Option<checkpoint::Loaded>,
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
    if let Some(path) = &args.out {
        files::check_output(path)?;
        check_target(path)?;
    }
    if args.seed.is_some() && args.rhs != "random" {
        return Err(Failure::usage(format!("--seed is for --rhs random, not for --rhs {}", args.rhs)));
    }
    let keep = checkpoint::Target::new(args.checkpoint.as_deref(), "solve")?;
    let loaded = args.resume.as_deref().map(checkpoint::Loaded::new).transpose()?;
    interrupt::watch();
    let progress = Progress::new(out, "iteration", 1.0);
    progress.stage(format!("reading {}", args.matrix.display()));
    let start = Instant::now();
    let matrix = files::Loaded::read(&args.matrix, Role::Matrix)?;
    let rhs = match args.rhs.as_str() {
        "ones" | "random" => None,
        file => Some(files::Loaded::read(Path::new(file), Role::RightSide)?),
    };
    let x0 = args.x0.as_deref().map(|path| files::Loaded::read(path, Role::Start)).transpose()?;
    drop(progress);
    let is_complex =
        matrix.is_complex() || [&rhs, &x0].iter().any(|file| file.as_ref().is_some_and(|f| f.is_complex()));
    let given = Given { picture, pattern, keep, loaded, matrix, rhs, x0, seconds: start.elapsed() };
    match (args.precision, is_complex) {
        (PrecisionArg::F32, false) => solve::<f32>(args, global, given, out),
        (PrecisionArg::F64, false) => solve::<f64>(args, global, given, out),
        (PrecisionArg::F32, true) => solve::<Complex<f32>>(args, global, given, out),
        (PrecisionArg::F64, true) => solve::<Complex<f64>>(args, global, given, out),
    }
}

fn solve<T: Number>(args: &Args, global: &Global, given: Given, out: &mut Output) -> Result<Exit, Failure> {
    let Given { picture, pattern, keep, loaded, matrix, rhs, x0, seconds } = given;
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
    let least_squares = parts.rows != parts.cols || args.method.is_some_and(Method::is_least_squares);
    check_finite(&parts, &b)?;
    if !least_squares && let Some(words) = check_zeros(&parts, &b).map_err(with_lsmr)? {
        log::warn!("{words}");
    }
    let renumbered = Renumbered::new(args, &mut parts, &mut b, starts.as_mut())?;
    let read = seconds + start.elapsed();
    let mut pictures = Vec::new();
    if let Some(picture) = pattern {
        pattern::draw(&picture, args, &parts, renumbered.as_ref())?;
        pictures.push(picture.path().display().to_string());
    }

    out.phase("device");
    let start = Instant::now();
    let place = Place::new(global, Backend::Kernels)?;
    let one_device = !matches!(place, Place::Team(_));
    if !one_device && (args.checkpoint.is_some() || args.resume.is_some()) {
        return Err(Failure::usage(
            "checkpoints are of solves on one device: leave --devices out, or --checkpoint and --resume",
        ));
    }
    if let Some(method) = args.method.filter(|method| !method.is_resumable())
        && (args.checkpoint.is_some() || args.resume.is_some())
    {
        return Err(Failure::usage(format!(
            "--method {} does not support --checkpoint and --resume: omit them, or use --method cg",
            method.name()
        )));
    }
    progress.stage("setting up");
    out.phase("set-up");
    let square = parts.rows == parts.cols;
    let symmetric = square && is_hermitian(&parts)?;
    let near_null = NearNull::read(args, parts.cols)?;
    let constants = match (symmetric && !least_squares, &near_null) {
        (false, _) => None,
        (true, None) => Some(NullVectors::constants(&parts)),
        (true, Some(near)) => Some(NullVectors::constants(&parts).with_span(&parts, &near.vectors)?),
    };
    let args = &Args { near_null, ..args.clone() };
    let args = &args.resolved(&parts, symmetric, constants.as_ref(), !one_device);
    let method = args.method.unwrap_or_else(|| {
        let positive = symmetric && parts.diagonal().iter().all(|d| d.widen().re() > 0.0);
        match positive {
            _ if !square => Method::Lsmr,
            _ if args.precond == Precond::Saddle && symmetric => Method::Minres,
            _ if args.precond == Precond::Saddle => Method::Gmres,
            _ if args.cycle == Some(CycleArg::K) => Method::Fcg,
            true if !matches!(args.precond, Precond::Ilu | Precond::Ilut) => Method::Cg,
            _ => Method::BiCgStab,
        }
    });
    check_combination(method, args.precond, symmetric, square)?;
    args.check_effect(method)?;
    if method.is_conjugate_gradients() && !symmetric {
        log::warn!(
            "{} is not {}, which conjugate gradients need; use bicgstab or gmres",
            args.matrix.display(),
            if T::IS_COMPLEX { "Hermitian" } else { "symmetric" }
        );
    }
    let null = match symmetric && !method.is_least_squares() {
        true if args.precond == Precond::Saddle => NullVectors::of_saddle(&parts)?,
        true => constants,
        false => None,
    };
    let null_vectors = null.as_ref().map_or(0, NullVectors::count);
    let may_be_body = args.node_options().is_none() && args.precond != Precond::Saddle;
    let about_body = |null: &NullVectors| if may_be_body { about_coordinates(&parts, null) } else { None };
    let null_part_removed = match &null {
        Some(null) if from_file => {
            null.check(&b, tolerance).map_err(|error| with_sentence(error, about_body(null)))?;
            false
        }
        Some(null) => null.remove(&mut b, tolerance)?,
        None => false,
    };
    if let (Some(null), true) = (&null, null_part_removed) {
        log::warn!(
            "removed the component of the right-hand side along {}, for which there is no solution",
            null.words()
        );
    }
    let first = &b[..parts.rows];
    let mut system: Box<dyn AnySystem<T>> = match &place {
        Place::Team(team) => T::on_team(team, args, method, &stopping, &parts, first)?,
        _ if method.is_least_squares() => {
            Box::new(LeastSquaresSystem::new(&place.contexts()[0], args, method, &stopping, &parts, first)?)
        }
        _ if method == Method::BlockCg => {
            Box::new(BlockSystem::new(&place.contexts()[0], args, &stopping, &parts, &b)?)
        }
        _ if method == Method::Richardson => T::stationary(&place.contexts()[0], args, &stopping, &parts, first)?,
        _ => Box::new(System::new(&place.contexts()[0], args, method, &stopping, &parts, first)?),
    };
    let fingerprint = || resume::fingerprint(args, &parts, &b, starts.as_deref());
    if let Some(loaded) = &loaded {
        loaded.check(&fingerprint()?)?;
    }
    // One iteration, thrown away, builds the kernels.
    system.stopping_mut().max_iterations = 1;
    system.solve(None, &mut |_, _| ())?;
    *system.stopping_mut() = stopping.clone();
    let begun = match &loaded {
        Some(loaded) => Begun::of(loaded)?,
        None => Begun::new(method),
    };
    // MINRES may be the first method, with a preconditioner, and the last, without one.
    if begun.gave_up.is_some() {
        system.change_method(args, begun.method, stopping.clone())?;
    }
    place.finish()?;
    let setup = start.elapsed();

    out.phase("solve");
    let start = Instant::now();
    let mut all = Solved { begun, first: method, left: None, symmetric: symmetric && one_device };
    // The columns that are solved for at once.
    let together = if method == Method::BlockCg { b.len() / parts.rows.max(1) } else { 1 };
    for (k, right) in b.chunks((together * parts.rows).max(1)).enumerate().skip(all.begun.reports.len()) {
        let size = together * parts.cols;
        let from = starts.as_ref().map(|starts| &starts[k * size..(k + 1) * size]);
        all.column(args, &mut *system, &stopping, &progress, (right, from))?;
    }
    place.finish()?;
    let solved = start.elapsed();
    drop(progress);
    out.phase("output");

    let left = all.left.filter(|left| one_device && method.is_resumable() && !left.is_empty());
    let mut written = None;
    if let (Some(path), Some(left)) = (keep.due(interrupt::asked()), left) {
        left.save(&path, fingerprint()?)?;
        written = Some(path.display().to_string());
    }
    let Begun { method, gave_up, reports, mut x, .. } = all.begun;
    let outcomes = match (system.column_residuals(), reports.first()) {
        (Some(residuals), Some(&Report { stop, iterations, .. })) => {
            let column = |&(relative_residual, iterate): &(f64, usize)| {
                let stop = if relative_residual <= tolerance { Stop::Converged } else { stop };
                Column { stop, iterations, iterate, relative_residual }
            };
            residuals.iter().map(column).collect()
        }
        _ => reports.iter().map(Column::from).collect::<Vec<_>>(),
    };
    let columns = outcomes.len();
    let each = (columns > 1).then_some(outcomes);
    // NaN counts as the largest.
    let worst = |a: &Report, b: &Report| a.relative_residual.abs().total_cmp(&b.relative_residual.abs());
    let report = reports.into_iter().max_by(worst).unwrap_or_else(|| Report::new(Stop::Converged, vec![0.0]));
    // Not below, if it is NaN.
    let is_near = report.relative_residual <= NEAR * tolerance;
    let judged = square && one_device && columns == 1 && !is_near && report.stop != Stop::Cancelled;
    let verdict = match judged {
        // Reaching a limit says nothing about the matrix.
        true if report.stop == Stop::IterationLimit && gave_up.is_none() => verdict(&parts, &b, &x),
        true => {
            let go_on = &mut |_: usize, _: f64| interrupt::go_on();
            diagnose_singularity(&place.contexts()[0], &parts, &b, &x, go_on).unwrap_or_else(|_| {
                log::warn!("the device failed during the search for null vectors of A");
                None
            })
        }
        false => None,
    };
    let verdict = verdict.map(|words| {
        let of_body = null.as_ref().and_then(about_body).map_or_else(String::new, |words| format!(". {words}"));
        format!("{words}; --method lsmr finds the x with the smallest residual{of_body}")
    });
    let precond = system.precond().unwrap_or(args.precond);
    let at_default_limit = report.stop == Stop::IterationLimit && args.max_iterations.is_none();
    let failed = report.stop.is_failure_of_method() || at_default_limit;
    let may_factor = failed && square && one_device && verdict.is_none();
    let advice = may_factor.then(|| args.factors(precond, parts.rows, parts.nnz())).flatten();
    if let Some(renumbered) = &renumbered {
        renumbered.undo(&mut x)?;
    }
    if let Some(path) = &args.out {
        files::write(path, parts.cols, columns, &x)?;
    }
    let mut document = Document {
        matrix: args.matrix.display().to_string(),
        rows: parts.rows,
        cols: parts.cols,
        nnz: parts.nnz(),
        symmetric,
        complex: T::IS_COMPLEX,
        rhs: args.rhs.clone(),
        null_vectors,
        null_part_removed,
        seed: (args.rhs == "random").then_some(args.seed.unwrap_or(SEED)),
        method,
        gave_up,
        precond,
        precond_about: Some(system.preconditioner()).filter(|words| !words.is_empty()),
        order: args.order,
        sweeps: args.sweeps,
        reorder: args.reorder,
        reorder_about: renumbered.map(|renumbered| renumbered.words),
        explanation: explanation(args.explanation.as_deref(), system.replaced()),
        restart: (method == Method::Gmres).then_some(args.restart),
        idr_dimension: (method == Method::Idrs).then_some(args.sizes().idr),
        precision: T::PRECISION,
        tolerance,
        device: place.device(),
        devices: place.devices_of_all(global)?,
        kernel_family: place.family(),
        verdict,
        advice,
        stop: report.stop,
        converged: report.stop.is_success(),
        iterations: report.iterations,
        iterate: report.iterate,
        relative_residual: report.relative_residual,
        residual_history: report.history,
        seconds_read: read.as_secs_f64(),
        seconds_setup: setup.as_secs_f64(),
        seconds_solve: solved.as_secs_f64(),
        peak_device_bytes: place.peak_bytes_of_all()?,
        out: args.out.as_ref().map(|path| path.display().to_string()),
        checkpoint: written,
        pictures,
        columns: each,
    };
    if let Some(picture) = picture {
        document.draw(&picture)?;
    }
    document.print(args.method.is_none(), args.explain, out)?;
    out.detail("matrix storage", system.storage())?;
    out.norms(&[("b", norm(&b)), ("x", norm(&x))])?;
    out.details(place.contexts())?;
    out.json(&document)?;
    Ok(match document.stop {
        Stop::Converged => Exit::Done,
        Stop::RoundingFloor if document.relative_residual <= NEAR * tolerance => Exit::Done,
        _ => Exit::NotReached,
    })
}

/// The default of --seed.
const SEED: u64 = 1;

/// The defaults of --drop and --fill.
const DROP: f64 = 1e-4;
const FILL: f64 = 10.0;

/// Largest number of equations for which complete factors by ILUT take seconds to minutes.
const FACTORED: usize = 20_000;

/// What a residual at the rounding floor may be of the tolerance for a success.
pub(crate) const NEAR: f64 = 10.0;

/// The choice, and in further lines what took its place.
fn explanation(chosen: Option<&str>, replaced: &[String]) -> Option<String> {
    let mut lines: Vec<&str> = chosen.into_iter().collect();
    for line in replaced {
        if !lines.contains(&line.as_str()) {
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

impl Args {
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

    fn sizes(&self) -> Sizes {
        Sizes { restart: self.restart, idr: self.idr_dimension.unwrap_or(IdrParams::default().dimensions) }
    }

    /// With the default of --restart, and with the preconditioner that suits the matrix where none was named.
    fn resolved<T: Scalar>(
        &self,
        parts: &CsrParts<T>,
        symmetric: bool,
        null: Option<&NullVectors>,
        several_devices: bool,
    ) -> Args {
        let mut resolved = self.clone();
        resolved.restart = self.given_restart.unwrap_or(GmresParams::default().restart);
        let may_have_nodes = symmetric && !self.aggressive && self.node_options().is_none();
        if self.precond == Precond::Auto {
            let advice = match self.amg_options() {
                Some(option) => {
                    let advice = Suggestion::new(Suited::Amg, format!("{option} was given"));
                    Advice::from(if may_have_nodes { advice.detect_unknowns_per_node(parts) } else { advice })
                }
                _ => advise(parts, symmetric, self.method, several_devices, null.map_or(0, NullVectors::count)),
            };
            let advice = if self.method == Some(Method::Richardson) { advice.for_richardson() } else { advice };
            let explanation = format!("{}: {}", advice.precond.title(), advice.why);
            (resolved.precond, resolved.explanation) = (advice.precond, Some(explanation));
            resolved.found_block = advice.unknowns_per_node;
        } else if matches!(self.precond, Precond::Amg | Precond::Sa) && may_have_nodes {
            resolved.found_block = unknowns_per_node(parts);
        }
        resolved
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

    /// Whether the program chose the preconditioner, so that another one may stand in for it.
    fn may_fall_back(&self) -> bool {
        self.explanation.is_some() && self.amg_options().is_none()
    }

    /// The preconditioner of the method that takes over from one that gave up.
    fn second(&self) -> Precond {
        if self.explanation.is_some() { Precond::Ilut } else { self.precond }
    }

    fn precond_options(&self) -> PrecondOptions {
        let Args { precond, order, sweeps, given_drop, given_fill, omega, .. } = *self;
        PrecondOptions {
            precond,
            order,
            sweeps: sweeps.unwrap_or(0),
            drop: given_drop.unwrap_or(DROP),
            fill: given_fill.unwrap_or(FILL),
            omega: omega.unwrap_or(SsorParams::default().omega),
        }
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
            let mut rng = StdRng::seed_from_u64(self.seed.unwrap_or(SEED));
            let mut part = || T::Real::from_f64(rng.random_range(-1.0..1.0));
            let zero = T::Real::from_f64(0.0);
            return Ok((0..rows).map(|_| T::from_parts(part(), if T::IS_COMPLEX { part() } else { zero })).collect());
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

/// What was found for the right-hand sides so far.
struct Solved<T> {
    begun: Begun<T>,
    /// The first method.
    first: Method,
    /// What there was when the first solve was ended from outside.
    left: Option<Begun<T>>,
    /// Whether the matrix is symmetric or Hermitian.
    symmetric: bool,
}

impl<T: Scalar> Solved<T> {
    /// Solves for one more right-hand side, from a start or from 0; where a method that was chosen here gives up, GMRES takes over, and after it
    /// MINRES for symmetric matrices. GMRES is kept for the next right-hand side; MINRES, which then has no preconditioner, is not.
    fn column(
        &mut self,
        args: &Args,
        system: &mut dyn AnySystem<T>,
        stopping: &Stopping,
        progress: &Progress,
        (right, from): (&[T], Option<&[T]>),
    ) -> Result<(), Failure> {
        system.set_right_side(right)?;
        let start = std::mem::take(&mut self.begun.start);
        system.start_from(if start.is_empty() { from } else { Some(&start) })?;
        let is_at_start = self.begun.before.is_none() && self.begun.memory.is_empty();
        if is_at_start && self.begun.method == Method::Minres && self.begun.gave_up.is_some() {
            system.first_method(args, self.first, stopping.clone())?;
            (self.begun.gave_up, self.begun.method) = (None, self.first);
        }
        let mut before = self.begun.before.take();
        let mut is_known = self.begun.memory.is_empty() || !start.is_empty();
        let mut report;
        loop {
            let count = before.as_ref().map_or(0, |before| before.iterations);
            let mut step = |iteration: usize, residual: f64| progress.step(count + iteration, residual);
            let at_start = if before.is_none() || !is_known { Vec::new() } else { system.solution()? };
            // From an x that has grown along null vectors, the next method would have no accuracy left.
            let has_grown = before.as_ref().is_some_and(|before| before.stop == Stop::Unbounded);
            if has_grown && is_known && self.begun.memory.is_empty() {
                system.start_from(from)?;
            }
            let mut memory = std::mem::take(&mut self.begun.memory);
            report = system.solve(Some(&mut memory), &mut step)?;
            let is_settled = has_grown && report.stop == Stop::LeastSquares;
            if let Some(before) = before.as_ref().filter(|_| !at_start.is_empty() && !is_settled) {
                let has_risen;
                (report, has_risen) = report.or_start(before.relative_residual);
                if has_risen {
                    system.start_from(Some(&at_start))?;
                }
                if has_grown && report.stop.is_failure_of_method() {
                    report.stop = Stop::Unbounded;
                }
            }
            is_known = true;
            let Begun { method, gave_up, .. } = self.begun;
            let next = match (method, gave_up) {
                (Method::BiCgStab | Method::Cg | Method::Minres, None) => Some(Method::Gmres),
                // Without a preconditioner it needs no definite matrix, and its residual never rises.
                (Method::Gmres, Some(_)) if self.symmetric => Some(Method::Minres),
                _ => None,
            };
            let at_default_limit = report.stop == Stop::IterationLimit && args.max_iterations.is_none();
            let failed = report.stop.is_failure_of_method() || at_default_limit;
            let Some(next) = next.filter(|_| failed && args.method.is_none()) else {
                if matches!(report.stop, Stop::Cancelled | Stop::IterationLimit) && self.left.is_none() {
                    let before = before.clone();
                    self.left = Some(Begun { before, start: at_start, memory, ..self.begun.clone() });
                }
                break;
            };
            progress.stage(format!("{} failed; {} continues from its best iterate", method.title(), next.title()));
            system.change_method(args, next, stopping.clone())?;
            (self.begun.gave_up, self.begun.method) = (gave_up.or(Some(method)), next);
            before = Some(report.after(before));
        }
        self.begun.reports.push(report.after(before));
        self.begun.x.extend(system.solution()?);
        Ok(())
    }
}

/// A system with its solver, on a device or several.
trait AnySystem<T: Scalar> {
    /// When the next solve ends.
    fn stopping_mut(&mut self) -> &mut Stopping;
    /// Another method from here on.
    fn change_method(&mut self, args: &Args, method: Method, stopping: Stopping) -> Result<(), Failure>;
    /// The first method again.
    fn first_method(&mut self, args: &Args, method: Method, stopping: Stopping) -> Result<(), Failure> {
        self.change_method(args, method, stopping)
    }
    /// Solves from x, or from where a memory is that is not empty, and leaves there where a solve was ended from outside. A team leaves nothing.
    fn solve(
        &mut self,
        memory: Option<&mut KrylovMemory<T>>,
        progress: &mut dyn FnMut(usize, f64),
    ) -> Result<Report, Failure>;
    /// The relative residuals of the columns of x, where a solve is for all of them.
    fn column_residuals(&self) -> Option<&[(f64, usize)]> {
        None
    }
    /// How the matrix is stored.
    fn storage(&self) -> String;
    /// The preconditioner in use where another one than that of the options may be.
    fn precond(&self) -> Option<Precond> {
        None
    }
    /// What took the place of the first choice of method and preconditioner, and why.
    fn replaced(&self) -> &[String] {
        &[]
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
