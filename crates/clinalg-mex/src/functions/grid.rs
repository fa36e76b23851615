//! The components of multigrid, and the Poisson problem.

use super::{GPU, count, handle, handle_as, real};
use crate::args::Args;
use crate::emit::Out;
use crate::fault::Fault;
use crate::function::Function;

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
];

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
