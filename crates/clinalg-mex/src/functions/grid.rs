//! The components of multigrid, and the Poisson problem.

use clinalg::multigrid::{Backend, Cycle, PoissonParams, Smoother};

use super::{GPU, Outcome, count, count_as, flag, handle, handle_as, real, real_as, text};
use crate::args::{Args, Input, Kind};
use crate::emit::{Answer, Out};
use crate::fault::Fault;
use crate::function::Function;
use crate::interrupt;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexJacobi",
        title: "Jacobi sweeps for the Poisson problem.",
        inputs: &[GPU, handle("u"), handle("f"), handle_as("o", "out"), count("sweeps"), real("omega")],
        required: 3,
        outputs: &["o"],
        text: "\
u, f and o are N x N grids of one precision, boundary points included, or vectors of N^2 values; the mesh
width is h = 1 / (N - 1). o is u after a number of sweeps (default 1) of weighted Jacobi for
-Laplace u = f: inside, each sweep is
  u + omega h^2 / 4 (f + Laplace_h u)
with the 5-point stencil for Laplace_h and omega = 1 by default; the boundary of o is that of u. The result
goes to o if it is given, which may be u, else to a new grid.",
        example: "\
gpu = MexInitOpenCL();
N = 33;
u = MexZeros(gpu, N, N);
f = MexMatrix(gpu, ones(N));
u = MexJacobi(gpu, u, f, u, 10);
MexNorm2(gpu, MexPoissonDefect(gpu, u, f))",
        see: &["MexRBGS", "MexPoissonDefect", "MexPoisson"],
        run: |args| {
            let (u, f, o) = (args.handle(1), args.handle(2), args.maybe_handle(3));
            let (sweeps, omega) = (args.maybe_count(4).unwrap_or(1), args.maybe_real(5).unwrap_or(1.0));
            Ok(Out::Handle(args.objects()?.jacobi(u, f, o, sweeps, omega)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexRBGS",
        title: "Red-black Gauss-Seidel sweeps for the Poisson problem.",
        inputs: &[GPU, handle("u"), handle("f"), handle_as("o", "out"), count("sweeps")],
        required: 3,
        outputs: &["o"],
        text: "\
u, f and o are N x N grids of one precision, boundary points included, or vectors of N^2 values; the mesh
width is h = 1 / (N - 1). o is u after a number of sweeps (default 1) of Gauss-Seidel for -Laplace u = f,
first at the points (i, j) with even i + j, then at the others; the boundary of o is that of u. The result
goes to o if it is given, which may be u, else to a new grid.",
        example: "\
gpu = MexInitOpenCL();
N = 33;
u = MexZeros(gpu, N, N);
f = MexMatrix(gpu, ones(N));
u = MexRBGS(gpu, u, f, u, 10);
MexNorm2(gpu, MexPoissonDefect(gpu, u, f))",
        see: &["MexJacobi", "MexPoissonDefect", "MexPoisson"],
        run: |args| {
            let (u, f, o) = (args.handle(1), args.handle(2), args.maybe_handle(3));
            Ok(Out::Handle(args.objects()?.red_black(u, f, o, args.maybe_count(4).unwrap_or(1))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexPoissonDefect",
        title: "Defect of the Poisson problem.",
        inputs: &[GPU, handle("u"), handle("f"), handle("d")],
        required: 3,
        outputs: &["d"],
        text: "\
u, f and d are N x N grids of one precision, boundary points included, or vectors of N^2 values. Inside, d
is f + Laplace_h u with the 5-point stencil and h = 1 / (N - 1); on the boundary it is 0. The result goes
to d if it is given, else to a new grid.",
        example: "\
gpu = MexInitOpenCL();
N = 33;
u = MexZeros(gpu, N, N);
f = MexMatrix(gpu, ones(N));
d = MexPoissonDefect(gpu, u, f);
MexNorm2(gpu, d)",
        see: &["MexJacobi", "MexRBGS", "MexFineToCoarse"],
        run: |args| {
            let (u, f, d) = (args.handle(1), args.handle(2), args.maybe_handle(3));
            Ok(Out::Handle(args.objects()?.defect(u, f, d)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexCoarseToFine",
        title: "Interpolate a grid to the next finer one.",
        inputs: &[GPU, handle_as("e", "coarse"), handle_as("U", "fine")],
        required: 2,
        outputs: &["U"],
        text: "\
e is an M x M grid, boundary points included, or a vector of M^2 values; U has 2 M - 1 points per side. The
interpolation is bilinear, with the stencil 1/4 [1 2 1; 2 4 2; 1 2 1]. The result goes to U if it is
given, else to a new grid.",
        example: "\
gpu = MexInitOpenCL();
U = MexCoarseToFine(gpu, MexMatrix(gpu, magic(3)));
MexHandleMatrix(gpu, U)",
        see: &["MexFineToCoarse"],
        run: |args| Ok(Out::Handle(args.objects()?.interpolate(args.handle(1), args.maybe_handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexFineToCoarse",
        title: "Restrict a grid to the next coarser one.",
        inputs: &[GPU, handle_as("d", "fine"), handle_as("R", "coarse")],
        required: 2,
        outputs: &["R"],
        text: "\
d is an N x N grid, boundary points included, or a vector of N^2 values, with N odd; R has (N + 1) / 2
points per side. Inside it is the full weighting with the stencil 1/16 [1 2 1; 2 4 2; 1 2 1], on the
boundary 0. The result goes to R if it is given, else to a new grid.",
        example: "\
gpu = MexInitOpenCL();
R = MexFineToCoarse(gpu, MexMatrix(gpu, ones(5)));
MexHandleMatrix(gpu, R)",
        see: &["MexCoarseToFine", "MexPoissonDefect"],
        run: |args| Ok(Out::Handle(args.objects()?.restrict(args.handle(1), args.maybe_handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexPoisson",
        title: "Solve the Poisson problem by multigrid.",
        inputs: &[
            GPU,
            handle("f"),
            real_as("tol", "tolerance"),
            count_as("maxit", "max_cycles"),
            handle("u"),
            text("cycle"),
            text("smoother"),
            text("backend"),
            count_as("d", "dim"),
            real_as("s", "shift"),
            Input::new("mixed", Kind::Flag),
        ],
        required: 2,
        outputs: &["u", "flag", "relres", "iter", "history", "reason"],
        text: "\
Solves -Laplace u + s u = f on the unit square, or on the unit cube. f and u are N x N grids with
N = 2^k + 1, boundary points included, or vectors of N^2 values (N^3 on the cube). u holds the boundary
values and an initial guess; without it both are zero and the result is a new grid.
  tol       relative residual to reach (default 1e-10 in double, 1e-5 in single precision)
  maxit     maximum number of cycles (default 100)
  cycle     'v' (default, the fastest to a small residual), 'w' or 'fmg' for full multigrid
  smoother  'rbgs' for red-black Gauss-Seidel (default) or 'jacobi'
  backend   'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or
            'reference' for sequential code on the host
  d         dimensions: 2 for the square (default), 3 for the cube
  s         a number of at least 0 (default 0)
  mixed     1 keeps u in double precision and computes its corrections in single precision: for devices with slow
            double precision, with the backend 'kernels' (default 0)
flag is 0 if tol was met, 1 if maxit was reached, 3 if the residual stopped falling (for smooth data
possibly at the rounding floor), 4 for data that are not finite, 5 if Ctrl-C stopped it. relres is the relative
residual, iter the number of cycles, history the relative residual before the first and after each cycle, reason the meaning
of flag as text.",
        example: "\
gpu = MexInitOpenCL();
N = 129;
[x, y] = meshgrid(linspace(0, 1, N));
f = MexMatrix(gpu, 2 * pi^2 * sin(pi * x) .* sin(pi * y));
[u, flag, relres, iter] = MexPoisson(gpu, f, 1e-9);
max(max(abs(MexHandleMatrix(gpu, u) - sin(pi * x) .* sin(pi * y))))",
        see: &["MexCG", "MexRBGS", "MexJacobi", "MexPoissonDefect"],
        run: poisson,
        ..Function::DEFAULT
    },
];

fn poisson(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let f = args.handle(1);
    let mut params =
        PoissonParams { tolerance: super::solve::default_tolerance(objects, "f", f)?, ..Default::default() };
    if let Some(tolerance) = args.maybe_real(2) {
        params.tolerance = tolerance;
    }
    if let Some(cycles) = args.maybe_count(3) {
        params.max_cycles = cycles;
    }
    params.cycle = choice(args, 5, "cycle", &[("v", Cycle::V), ("w", Cycle::W), ("fmg", Cycle::Full)])?;
    params.smoother = choice(args, 6, "smoother", &[("rbgs", Smoother::RedBlack), ("jacobi", Smoother::Jacobi)])?;
    let backends = [("kernels", Backend::Kernels), ("matrix", Backend::Matrix), ("reference", Backend::Reference)];
    params.backend = choice(args, 7, "backend", &backends)?;
    if let Some(dim) = args.maybe_count(8) {
        params.dim = dim;
    }
    if let Some(shift) = args.maybe_real(9) {
        params.shift = shift;
    }
    params.mixed = args.maybe_flag(10).unwrap_or(false);
    let (u, report) = objects.poisson_with(f, args.maybe_handle(4), &params, &mut interrupt::progress)?;
    Ok(Answer::Several(vec![
        Out::Handle(u),
        Out::Real(flag(report.stop)),
        Out::Real(report.relative_residual),
        Out::Real(report.cycles as f64),
        Out::column(report.history),
        Out::Text(report.stop.to_string()),
    ]))
}

/// The value that a text argument names; the first where it is left out.
pub(super) fn choice<T: Copy>(
    args: &Args<'_>,
    position: usize,
    argument: &'static str,
    known: &[(&str, T)],
) -> Result<T, Fault> {
    let Some(name) = args.maybe_text(position) else { return Ok(known[0].1) };
    match known.iter().find(|(word, _)| word.eq_ignore_ascii_case(&name)) {
        Some((_, value)) => Ok(*value),
        None => {
            let words: Vec<_> = known.iter().map(|(word, _)| format!("'{word}'")).collect();
            let expected = match words.as_slice() {
                [most @ .., last] if !most.is_empty() => format!("{} or {last}", most.join(", ")),
                _ => words.concat(),
            };
            Err(clinalg::Error::Value { argument, expected, got: format!("'{name}'") }.into())
        }
    }
}
