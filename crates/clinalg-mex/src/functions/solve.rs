//! Krylov methods with MATLAB's orders of arguments and results.

use clinalg::automatic::SolverText;
use clinalg::solve::{LeastSquaresMethod, Report, Stop, Stopping};
use clinalg::{Precision, Real};
use clinalg_handles::{Kind as Object, Method, Operand, PreconditionerKind, Preconditioning, Registry};

use super::grid::choice;
use super::preconditioner::KINDS;
use super::{GPU, Outcome, count_as, flag, handle, handle_as, real_as, text};
use crate::args::{Args, Input, Kind};
use crate::emit::{Answer, Out};
use crate::fault::Fault;
use crate::function::Function;
use crate::interrupt;

const TOLERANCE: Input = real_as("tol", "tolerance");
const PRECONDITIONER: Input = Input::named("precond", "preconditioner", Kind::TextOrHandle);
/// The arguments of `pcg` and `bicgstab`.
const KRYLOV: &[Input] = &[
    GPU,
    handle_as("A", "a"),
    handle("b"),
    TOLERANCE,
    count_as("maxit", "max_iterations"),
    PRECONDITIONER,
    handle("x"),
];
const RESULTS: &[&str] = &["x", "flag", "relres", "iter", "resvec", "reason"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexCG",
        title: "Solve a symmetric positive definite system by conjugate gradients.",
        inputs: KRYLOV,
        required: 3,
        outputs: RESULTS,
        text: "\
Solves A x = b for a full, sparse or band matrix A and a vector b of one precision, with pcg's order of
arguments. x holds the initial guess and receives the result; without it the initial guess is zero and
the result is a new object. The columns of a full matrix b are solved for together; relres is then the largest
relative residual of a column, and resvec that times norm(b, 'fro').
  tol      relative residual norm(b - A x) / norm(b) to reach (default 1e-6)
  maxit    maximum number of iterations (default the smaller of numel(b) and 20)
  precond  'none' (default), 'jacobi', the diagonal of A; for a sparse matrix 'ilu', 'ilut', 'ic', 'ssor', 'spai0',
           'fsai', 'amg', 'saddle' or 'lu', made for this solve with the defaults of MexPreconditioner, MexAmg and
           MexSaddle; or the handle of a matrix or operator whose product approximates the inverse of A, as these make
flag is 0 if tol was met, 1 if maxit was reached, 3 if the residual stopped falling, 4 if the method broke down or A
is not positive definite, 5 if Ctrl-C stopped it: x is the current iterate. With flags 1, 3 and 4, x is the iterate
with the smallest residual and iter its number; up to iter iterations are repeated to compute it again. relres is the
relative residual of x, resvec the norm of the residual at the start and after each iteration, reason the meaning of
flag as text.",
        example: "\
gpu = MexInitOpenCL();
e = ones(100, 1);
A = MexSparseMatrix(gpu, spdiags([-e 4*e -e], -1:1, 100, 100));
b = MexMatrix(gpu, e);
[x, flag, relres, iter] = MexCG(gpu, A, b, 1e-10, 100);
flag",
        see: &["MexBiCGStab", "MexGMRES", "MexMINRES", "MexSolveSparse", "MexPreconditioner", "MexAmg"],
        run: |args| krylov(args, Method::Cg),
        ..Function::DEFAULT
    },
    Function {
        name: "MexBiCGStab",
        title: "Solve a system by stabilised biconjugate gradients.",
        inputs: KRYLOV,
        required: 3,
        outputs: RESULTS,
        text: "\
Solves A x = b for any full, sparse or band matrix A that is not singular; the arguments and results are
those of MexCG. An iteration takes two products; resvec has one entry per iteration.",
        example: "\
gpu = MexInitOpenCL();
e = ones(100, 1);
A = MexSparseMatrix(gpu, spdiags([-2*e 4*e -e], -1:1, 100, 100));
b = MexMatrix(gpu, e);
[x, flag, relres, iter] = MexBiCGStab(gpu, A, b, 1e-10, 100, 'jacobi');
flag",
        see: &["MexCG", "MexGMRES"],
        run: |args| krylov(args, Method::BiCgStab),
        ..Function::DEFAULT
    },
    Function {
        name: "MexMINRES",
        title: "Solve a symmetric system by minimal residuals.",
        inputs: KRYLOV,
        required: 3,
        outputs: RESULTS,
        text: "\
Solves A x = b for any symmetric (complex: Hermitian) full, sparse or band matrix A, definite or not; the arguments and
results are those of MexCG. The preconditioner must be symmetric positive definite; 'saddle' is one for symmetric saddle
points.",
        example: "\
gpu = MexInitOpenCL();
e = ones(100, 1);
A = MexSparseMatrix(gpu, spdiags([-e 1*e -e], -1:1, 100, 100));
[x, flag, relres, iter] = MexMINRES(gpu, A, MexMatrix(gpu, e), 1e-8, 200);
flag",
        see: &["MexCG", "MexGMRES", "MexSaddle"],
        run: |args| krylov(args, Method::Minres),
        ..Function::DEFAULT
    },
    Function {
        name: "MexGMRES",
        title: "Solve a system by generalised minimal residuals.",
        inputs: &[
            GPU,
            handle_as("A", "a"),
            handle("b"),
            count_as("restart", "restart"),
            TOLERANCE,
            count_as("maxit", "max_iterations"),
            PRECONDITIONER,
            handle("x"),
        ],
        required: 3,
        outputs: RESULTS,
        text: "\
Solves A x = b for any full, sparse or band matrix A that is not singular, with gmres's order of arguments:
the method restarts after restart iterations, at most maxit times (default the smaller of
numel(b) / restart and 10); without restart it runs for at most maxit iterations (default the smaller
of numel(b) and 10). iter is [outer inner]. The rest is as for MexCG; the preconditioner acts from the
left, and with a preconditioner resvec holds the norms of the preconditioned residual.",
        example: "\
gpu = MexInitOpenCL();
e = ones(100, 1);
A = MexSparseMatrix(gpu, spdiags([-2*e 4*e -e], -1:1, 100, 100));
b = MexMatrix(gpu, e);
[x, flag, relres, iter] = MexGMRES(gpu, A, b, 20, 1e-10, 5);
flag",
        see: &["MexCG", "MexBiCGStab"],
        run: gmres,
        ..Function::DEFAULT
    },
    Function {
        name: "MexLSQR",
        title: "Solve a least-squares problem by LSQR.",
        inputs: &[
            GPU,
            handle_as("A", "a"),
            handle("b"),
            TOLERANCE,
            count_as("maxit", "max_iterations"),
            Input::named("precond", "preconditioner", Kind::Text),
            handle("x"),
        ],
        required: 3,
        outputs: RESULTS,
        text: "\
Finds the x that makes norm(b - A x) smallest, for a full, sparse or band matrix A of any shape and one or more columns b,
with lsqr's order of arguments. Of several solutions it is the one nearest to the initial guess, which x holds and which is
zero without it.
  tol      norm(b - A x) / norm(b) or norm(A' r) / (norm(A, 'fro') norm(r)) for r = b - A x to reach (default 1e-6)
  maxit    maximum number of iterations for each column (default the smallest of the rows and columns of A and 20)
  precond  'none' (default) or, for a sparse A, 'jacobi', which scales its columns to norm 1, or 'ic', 'ssor',
           'spai0', 'fsai' or 'amg', made from A' A, which is computed; of several solutions x is the nearest in the norm
           of the preconditioner
The results are those of MexCG; flag is 0 where either of the two quotients met tol. relres is norm(b - A x) / norm(b), which
stays large where no x solves the system. Of several columns relres, iter and resvec are those of one that did not converge,
else of the one with the largest relres.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, sparse([1 0; 1 1; 1 2]));
[x, flag] = MexLSQR(gpu, A, MexMatrix(gpu, [1; 2; 4]), 1e-12);
MexHandleMatrix(gpu, x) - [5/6; 3/2]",
        see: &["MexSolveSparse", "MexCG", "MexQr"],
        run: least_squares,
        ..Function::DEFAULT
    },
    Function {
        name: "MexSolveSparse",
        title: "Solve a sparse system by a method and a preconditioner that suit the matrix.",
        inputs: &[GPU, handle_as("A", "a"), handle("b"), TOLERANCE, count_as("maxit", "max_iterations"), text("solver")],
        required: 3,
        outputs: &["x", "flag", "relres", "iter", "method", "precond", "why", "reason"],
        text: "\
Solves A x = b for a sparse matrix A and one or more columns b, as the command `clinalg solve` does: by conjugate gradients
with algebraic multigrid, MINRES with blocks, BiCGStab with incomplete factors or the like, with GMRES where one of them
fails, and by LSMR in the least-squares sense where A is not square. x is a new matrix.
  tol    relative residual norm(b - A x) / norm(b) to reach (default 1e-10 in double, 1e-5 in single precision)
  maxit  maximum number of iterations for each column and method (default 10000); where it is given, the solve ends there,
         otherwise another method takes over
  solver a method, a preconditioner and limits by name, in the place of the choice: 'cg,amg', 'gmres,ilut,restart=50',
         'minres,tol=1e-8,max-iterations=200'; tol and maxit above come first
flag, relres and iter are rows with a number for each column, as of MexCG; they end with a column that Ctrl-C
stopped. method and precond name what was used, why says why it was chosen, and reason what flag means.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 40));
[x, flag, relres, iter, method, precond] = MexSolveSparse(gpu, A, MexMatrix(gpu, ones(1600, 2)));
method, precond",
        see: &["MexCG", "MexMINRES", "MexBiCGStab", "MexGMRES", "MexSolveDense"],
        run: automatic,
        ..Function::DEFAULT
    },
];

/// A sparse system by what suits the matrix.
fn automatic(args: &Args<'_>) -> Outcome {
    let mut wanted = args.maybe_text(5).map_or(Ok(SolverText::default()), |text| text.parse())?;
    wanted.max_iterations = args.maybe_count(4).or(wanted.max_iterations);
    wanted.tolerance = args.maybe_real(3).or(wanted.tolerance);
    let (x, found) =
        args.objects()?.solve_automatic(args.handle(1), args.handle(2), &wanted, &mut interrupt::progress)?;
    let row = |of: fn(&Report) -> f64| Out::Reals { rows: 1, values: found.reports.iter().map(of).collect() };
    let worst = found.reports.iter().find(|report| !report.stop.is_success()).or(found.reports.last());
    Ok(Answer::Several(vec![
        Out::Handle(x),
        row(|report| flag(report.stop)),
        row(|report| report.relative_residual),
        row(|report| report.iterations as f64),
        Out::Text(found.method.to_owned()),
        Out::Text(found.preconditioner.to_owned()),
        Out::Text(found.why.clone()),
        Out::Text(worst.map_or_else(String::new, |report| report.stop.to_string())),
    ]))
}

/// The x that makes |b - A x| smallest.
fn least_squares(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let (a, b) = (args.handle(1), args.handle(2));
    let preconditioning = preconditioning(args, 5)?;
    let most = match args.maybe_count(4) {
        Some(most) => most,
        None => {
            let shape =
                objects.call(&[Operand::new("a", a, Object::MATRIX)], None, |inputs, _| Ok(inputs[0].info()))?;
            shape.rows.min(shape.cols).min(20)
        }
    };
    let stopping = Stopping::default().tolerance(args.maybe_real(3).unwrap_or(1e-6)).max_iterations(most);
    let system = (a, b, args.maybe_handle(6));
    let (x, report) = objects.least_squares(
        LeastSquaresMethod::Lsqr,
        preconditioning,
        system,
        &stopping,
        &mut interrupt::progress,
    )?;
    Ok(Answer::Several(results(objects, (Some(a), b), x, &report, report.iterations)?))
}

/// The tolerance that suits the precision of an argument.
pub(super) fn default_tolerance(objects: &Registry, argument: &'static str, handle: u64) -> clinalg::Result<f64> {
    fn of<T: Real>() -> f64 {
        Stopping::default().tolerance_of::<T>()
    }
    let operand = Operand::new(argument, handle, Object::FULL);
    let precision = objects.call(&[operand], None, |inputs, _| Ok(inputs[0].precision()))?;
    Ok(match precision {
        Precision::F32 => of::<f32>(),
        Precision::F64 => of::<f64>(),
    })
}

/// The preconditioner that an argument names.
pub(super) fn preconditioning(args: &Args<'_>, position: usize) -> Result<Preconditioning, Fault> {
    let mut known = vec![("none", Preconditioning::None), ("jacobi", Preconditioning::Jacobi)];
    let made = KINDS.iter().filter(|(_, kind)| *kind != PreconditionerKind::Jacobi);
    known.extend(made.map(|&(name, kind)| (name, Preconditioning::Of(kind))));
    known.push(("saddle", Preconditioning::Saddle));
    match args.maybe_handle(position) {
        Some(inverse) => Ok(Preconditioning::Inverse(inverse)),
        None => choice(args, position, "preconditioner", &known),
    }
}

/// `solve` with the arguments from `tol` on at `position`; gives the results and the iterations.
fn solve(args: &Args<'_>, method: Method, position: usize, most: usize) -> Result<(Vec<Out>, usize), Fault> {
    let objects = args.objects()?;
    let (a, b) = (args.handle(1), args.handle(2));
    let preconditioning = preconditioning(args, position + 2)?;
    let stopping = Stopping::default().tolerance(args.maybe_real(position).unwrap_or(1e-6)).max_iterations(most);
    let system = (a, b, args.maybe_handle(position + 3));
    let (x, report, number) =
        objects.solve_to_best(method, preconditioning, system, &stopping, &mut interrupt::progress)?;
    Ok((results(objects, (Some(a), b), x, &report, number)?, number))
}

/// Why a solve of A x = b ended; where it met a NaN or an infinity, with the first entry of A or b that is one.
fn reason(objects: &Registry, (a, b): (Option<u64>, u64), stop: Stop) -> Result<String, Fault> {
    let mut reason = stop.to_string();
    if stop == Stop::NotFinite {
        for (name, handle) in a.map(|a| ("A", a)).into_iter().chain([("b", b)]) {
            if let Some((i, j, value)) = objects.first_not_finite(handle)? {
                reason += &format!("; {name}({}, {}) is {value}", i + 1, j + 1);
                break;
            }
        }
    }
    Ok(reason)
}

/// The results of a solve of A x = b whose x is that of iteration `number`; A is `None` for a function of the caller.
pub(super) fn results(
    objects: &Registry,
    (a, b): (Option<u64>, u64),
    x: u64,
    report: &Report,
    number: usize,
) -> Result<Vec<Out>, Fault> {
    let norm = objects.norm2(b)?;
    let unit = if norm == 0.0 { 1.0 } else { norm };
    Ok(vec![
        Out::Handle(x),
        Out::Real(flag(report.stop)),
        Out::Real(report.relative_residual),
        Out::Real(number as f64),
        Out::column(report.history.iter().map(|r| r * unit).collect()),
        Out::Text(reason(objects, (a, b), report.stop)?),
    ])
}

fn krylov(args: &Args<'_>, method: Method) -> Outcome {
    let most = match args.maybe_count(4) {
        Some(most) => most,
        None => length(args, 2)?.min(20),
    };
    Ok(Answer::Several(solve(args, method, 3, most)?.0))
}

/// Number of equations, of the vector at a position.
pub(super) fn length(args: &Args<'_>, position: usize) -> Result<usize, Fault> {
    let b = Operand::new("b", args.handle(position), Object::FULL);
    Ok(args.objects()?.call(&[b], None, |inputs, _| Ok(inputs[0].info().entries))?)
}

fn gmres(args: &Args<'_>) -> Outcome {
    let (restart, most) = gmres_limits(length(args, 2)?, args.maybe_count(3), args.maybe_count(5));
    let (mut outs, iterations) = solve(args, Method::Gmres(restart), 4, most)?;
    outs[3] = outer_and_inner(iterations, restart);
    Ok(Answer::Several(outs))
}

/// The number of a GMRES iteration, as MATLAB counts.
pub(super) fn outer_and_inner(iterations: usize, restart: usize) -> Out {
    let outer = iterations.div_ceil(restart.max(1)).max(1);
    let inner = iterations - (outer - 1) * restart;
    Out::Reals { rows: 1, values: vec![outer as f64, inner as f64] }
}

/// The restart and the most iterations of GMRES for n equations, from what the caller gives.
pub(super) fn gmres_limits(n: usize, restart: Option<usize>, most: Option<usize>) -> (usize, usize) {
    match restart {
        Some(restart) => {
            let outer = most.unwrap_or_else(|| n.div_ceil(restart.max(1)).min(10));
            (restart, restart.saturating_mul(outer))
        }
        None => {
            let most = most.unwrap_or(10).min(n);
            (most.max(1), most)
        }
    }
}
