//! The Poisson problem.

use clinalg::multigrid::{
    Backend, Centring, Coefficient, Condition, Cycle, End, Grid, PoissonParams, PoissonReport, Smoother, Tensor,
};
use clinalg::solve::Stopping;
use clinalg::{Error, Precision};
use clinalg_handles::PoissonField;

use super::grid::choice;
use super::{GPU, Outcome, count, count_as, flag, handle, handle_as, real_as, registry, text};
use crate::args::{Args, Full, Input, Kind, Value};
use crate::emit::{Answer, Out};
use crate::fault::Fault;
use crate::function::Function;
use crate::interrupt;

const SOLVER: Input = handle_as("S", "poisson");
/// The arguments that say where the points of each direction are.
const DIRECTIONS: [&str; 3] = ["x", "y", "z"];

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexPoisson",
        title: "Make a solver of the Poisson problem on a square, a cube or another box.",
        inputs: &[
            GPU,
            Input::new("points", Kind::Full),
            Input::new("x", Kind::Full),
            Input::new("y", Kind::Full),
            Input::new("z", Kind::Full),
            Input::new("sides", Kind::Full),
            text("centring"),
            Input::named("D", "diffusion", Kind::Full),
            Input::named("k", "coefficient", Kind::Full),
            text("at"),
            real_as("c", "shift"),
            count("order"),
            real_as("tol", "tolerance"),
            count_as("maxit", "max_cycles"),
            text("cycle"),
            Input::new("single", Kind::Flag),
            text("smoother"),
            text("backend"),
            Input::named("mixed", "mixed_precision", Kind::Flag),
        ],
        required: 2,
        outputs: &["S"],
        text: "\
Multigrid for -div(k D grad u) + c u = f on a box of d = 2 or 3 dimensions, made once for many right-hand sides.
points is [nx ny] or [nx ny nz].
  x, y, z   length of the direction (default 1), or its ascending coordinates: those of the points, or, on a
            cell-centred grid and in a periodic direction, those of the ends of the intervals (one more than points)
  sides     2 x d numbers, the low and the high side of each direction: Inf (default) for u = g, 0 for
            k D du/dn = g with the outward normal n, alpha > 0 for alpha u + k D du/dn = g, NaN for periodic
  centring  'vertex' (default): the first and the last point lie on the sides; 'cell': points at the centres of cells
  D         a number, the diagonal, or a symmetric positive definite d x d matrix (default 1); or, where it varies, a row for
            each cell between the points (on a cell-centred grid, each cell), x fastest, with the columns dxx, dyy, dxy, in
            three dimensions dxx, dyy, dzz, dxy, dxz, dyz, and without k
  k         positive values at the points or in the cells, x fastest (default 1)
  at        where k is given: 'points' (default) or 'cells'; a D that is not diagonal needs 'cells'
  c         the shift, at least 0 (default 0)
  order     of the discretisation: 2 (default) or 4; order 4 needs a diagonal D, no k, equal spacing, a vertex-centred
            grid, and sides with u = g or periodic ones
  tol       relative residual to reach (default 1e-10 in double, 1e-5 in single precision)
  maxit     maximum number of cycles (default 100)
  cycle     'v' (default), 'w' or 'fmg' for full multigrid
  single    1 for single precision (default 0)
The unit square or cube with 2^k + 1 equally spaced points per direction, u = g on all sides, D = 1 and, on the cube, k = 1
has the fastest kernels, and more choices:
  smoother  'rbgs' for red-black Gauss-Seidel (default) or 'jacobi'
  backend   'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or 'reference' for
            sequential code on the host
  mixed     1 keeps u in double precision and computes its corrections in single precision: for devices with slow
            double precision, with the backend 'kernels' and without k (default 0)
Until MexPoissonSide sets the values g of the sides, u keeps the values that it has on vertex-centred sides with u = g, and g
is 0 on others. MexRelease frees S.",
        example: "\
gpu = MexInitOpenCL();
S = MexPoisson(gpu, [60 40], 2, 1, [], [0 Inf; Inf Inf]);
[u, flag, relres, iter] = MexPoissonSolve(gpu, S, MexMatrix(gpu, ones(60, 40)));
MexNormInf(gpu, u)",
        see: &["MexPoissonSide", "MexPoissonSolve", "MexRelease"],
        run: make,
        ..Function::DEFAULT
    },
    Function {
        name: "MexPoissonSide",
        title: "Set the values of a side of a box.",
        inputs: &[
            GPU,
            SOLVER,
            Input::named("direction", "axis", Kind::Count),
            Input::new("high", Kind::Flag),
            Input::named("g", "values", Kind::Full),
        ],
        required: 4,
        outputs: &[],
        text: "\
S is a solver of MexPoisson. direction is 1 for x, 2 for y, 3 for z; high is 0 for the side where the coordinate
is smallest, 1 where it is largest. g has one value for each point of the side, the lower of the other
directions fastest; without g, the values of the side are cleared. Where sides with u = g meet, the values of the
last direction hold.",
        example: "\
gpu = MexInitOpenCL();
S = MexPoisson(gpu, [60 40]);
MexPoissonSide(gpu, S, 2, 1, ones(60, 1));
u = MexHandleMatrix(gpu, MexPoissonSolve(gpu, S, MexZeros(gpu, 60, 40)));
u(30, 20)",
        see: &["MexPoisson", "MexPoissonSolve"],
        run: set_side,
        ..Function::DEFAULT
    },
    Function {
        name: "MexPoissonSolve",
        title: "Solve the Poisson problem by multigrid.",
        inputs: &[GPU, SOLVER, handle("f"), handle("u")],
        required: 3,
        outputs: &["u", "flag", "relres", "iter", "history", "reason", "imbalance"],
        text: "\
S is a solver of MexPoisson. f has one value for each point, x fastest. u holds the initial guess and becomes the
solution; without it the guess is 0 and the result a new array like f. On vertex-centred sides with u = g, u is g, or keeps
its values where MexPoissonSide has set none, and f is read for order 4 only.
flag is 0 if the tolerance was met, 1 if the maximum number of cycles was reached, 3 if the residual stopped
falling (possibly at the rounding floor), 4 for data that are not finite, 5 if Ctrl-C stopped it. relres is
the relative residual, iter the number of cycles, history the relative residual before the first and after each
cycle, reason the meaning of flag as text.
With all sides 0 or NaN and c = 0, u is determined only up to a constant. Its mean is then 0, f and the values of
the sides must balance, and imbalance is their relative imbalance, which was removed. Otherwise imbalance is NaN.",
        example: "\
gpu = MexInitOpenCL();
N = 129;
[x, y] = ndgrid(linspace(0, 1, N));
f = MexMatrix(gpu, 2 * pi^2 * sin(pi * x) .* sin(pi * y));
[u, flag, relres, iter] = MexPoissonSolve(gpu, MexPoisson(gpu, [N N]), f);
max(max(abs(MexHandleMatrix(gpu, u) - sin(pi * x) .* sin(pi * y))))",
        see: &["MexPoisson", "MexPoissonSide", "MexRBGS", "MexPoissonDefect"],
        run: solve,
        ..Function::DEFAULT
    },
    Function {
        name: "MexPoissonOperator",
        title: "Matrix of the Poisson problem, as an operator.",
        inputs: &[GPU, SOLVER],
        required: 2,
        outputs: &["A"],
        text: "\
S is a solver of MexPoisson. A stands for the symmetric matrix that it inverts, with a row for each unknown, in
MexMultiply, MexCG and the like: the unknowns are the values where u is not given by a side. MexRelease frees it; S may be
released before.",
        example: "\
gpu = MexInitOpenCL();
S = MexPoisson(gpu, [60 40]);
A = MexPoissonOperator(gpu, S);
b = MexPoissonRightSide(gpu, S, MexMatrix(gpu, ones(60, 40)));
[x, flag, relres, iter] = MexCG(gpu, A, b, 1e-8, 50, MexPoissonPreconditioner(gpu, S));
u = reshape(MexHandleMatrix(gpu, MexPoissonPoints(gpu, S, x)), 60, 40);",
        see: &["MexPoissonPreconditioner", "MexPoissonRightSide", "MexPoissonPoints", "MexPoisson", "MexCG"],
        run: |args| Ok(Out::Handle(args.objects()?.poisson_operator(args.handle(1))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexPoissonPreconditioner",
        title: "Multigrid cycle as a preconditioner.",
        inputs: &[GPU, SOLVER],
        required: 2,
        outputs: &["M"],
        text: "\
S is a solver of MexPoisson. M is a symmetric positive definite approximate inverse of MexPoissonOperator, a cycle
with the parameters of S: the argument precond of MexCG, also for a matrix close to that one. MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
S = MexPoisson(gpu, [60 40], [], [], [], [0 NaN; Inf NaN]);
M = MexPoissonPreconditioner(gpu, S);
info = MexInfo(gpu, M);
info.rows",
        see: &["MexPoissonOperator", "MexPoisson", "MexCG"],
        run: |args| Ok(Out::Handle(args.objects()?.poisson_preconditioner(args.handle(1))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexPoissonRightSide",
        title: "Right-hand side for the operator of the Poisson problem.",
        inputs: &[GPU, SOLVER, handle("f"), handle("b")],
        required: 3,
        outputs: &["b"],
        text: "\
S is a solver of MexPoisson, f has one value for each point. b, a new column or the one that is given, is the right-hand
side of MexPoissonOperator for f and the values that MexPoissonSide has set: f integrated over the surroundings of
each unknown.",
        example: "\
gpu = MexInitOpenCL();
S = MexPoisson(gpu, [60 40]);
b = MexPoissonRightSide(gpu, S, MexMatrix(gpu, ones(60, 40)));
MexSize(gpu, b)",
        see: &["MexPoissonOperator", "MexPoissonPoints"],
        run: |args| {
            let b = args.objects()?.poisson_right_side(args.handle(1), args.handle(2), args.maybe_handle(3))?;
            Ok(Out::Handle(b).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexPoissonPoints",
        title: "Values at all points, from the unknowns.",
        inputs: &[GPU, SOLVER, handle("x"), handle("u")],
        required: 3,
        outputs: &["u"],
        text: "\
S is a solver of MexPoisson, x a solution with MexPoissonOperator. u, a new column or the one that is given, has
the values at all points, x fastest, on sides with u = g those of MexPoissonSide.",
        example: "\
gpu = MexInitOpenCL();
S = MexPoisson(gpu, [60 40]);
MexPoissonSide(gpu, S, 1, 0, ones(40, 1));
b = MexPoissonRightSide(gpu, S, MexZeros(gpu, 60, 40));
u = MexHandleMatrix(gpu, MexPoissonPoints(gpu, S, b));
u(1)",
        see: &["MexPoissonOperator", "MexPoissonRightSide"],
        run: |args| {
            let u = args.objects()?.poisson_points(args.handle(1), args.handle(2), args.maybe_handle(3))?;
            Ok(Out::Handle(u).into())
        },
        ..Function::DEFAULT
    },
];

/// An array that may be left out.
pub(super) fn maybe_full<'a>(args: &Args<'a>, position: usize) -> Option<Full<'a>> {
    match args.value(position) {
        Value::Full(full) => Some(*full),
        _ => None,
    }
}

/// The numbers of points.
fn points(args: &Args<'_>) -> Result<Vec<usize>, Error> {
    counts(&args.full(1).values.reals())
}

/// Numbers of points in two or three directions.
pub(super) fn counts(given: &[f64]) -> Result<Vec<usize>, Error> {
    if !(2..=3).contains(&given.len()) {
        return Err(Error::value("points", "[nx ny] or [nx ny nz]", format!("{} numbers", given.len())));
    }
    let whole = |n: &f64| match *n {
        n if n >= 1.0 && n.fract() == 0.0 && n <= f64::from(u32::MAX) => Ok(n as usize),
        n => Err(Error::value("points", "positive integers", n)),
    };
    given.iter().map(whole).collect()
}

/// The grid with its sides and coordinates; errors name the arguments of `MexPoisson`.
fn grid(args: &Args<'_>) -> Result<Grid, Fault> {
    let points = points(args)?;
    let dim = points.len();
    let centring = choice(args, 6, "centring", &[("vertex", Centring::Vertex), ("cell", Centring::Cell)])?;
    let mut grid = Grid::new(&points).centring(centring);
    if let Some(sides) = maybe_full(args, 5) {
        if (sides.rows, sides.cols) != (2, dim) {
            let (expected, got) = (format!("2 x {dim}"), format!("{} x {}", sides.rows, sides.cols));
            return Err(Error::Shape { argument: "sides", expected, got }.into());
        }
        for (place, alpha) in sides.values.reals().into_iter().enumerate() {
            let end = if place % 2 == 0 { End::Low } else { End::High };
            let condition = match alpha {
                f64::INFINITY => Condition::Dirichlet,
                0.0 => Condition::Neumann,
                alpha if alpha.is_nan() => Condition::Periodic,
                alpha => Condition::Robin { alpha },
            };
            grid = grid.side(place / 2, end, condition);
        }
    }
    let mut lengths = vec![1.0; dim];
    for (axis, argument) in DIRECTIONS.into_iter().enumerate() {
        let Some(values) = maybe_full(args, 2 + axis) else { continue };
        if axis >= dim {
            return Err(Error::value(argument, "[] in two dimensions", "given").into());
        }
        grid = match values.values.reals()[..] {
            [length] => {
                lengths[axis] = length;
                grid.size(&lengths)
            }
            ref coordinates => grid.spacing(axis, coordinates.to_vec()),
        };
        grid.check().map_err(|error| match error {
            Error::Value { argument: "size" | "spacing", expected, got } => Error::Value { argument, expected, got },
            other => other,
        })?;
    }
    Ok(grid)
}

/// The diagonal of a constant D and its off-diagonal entries dxy, dxz and dyz.
fn constant_tensor(tensor: Option<Full<'_>>, dim: usize) -> Result<([f64; 3], [f64; 3]), Error> {
    let (mut diagonal, none) = ([1.0; 3], [0.0; 3]);
    let Some(tensor) = tensor.filter(|tensor| columns(*tensor, dim).is_none()) else { return Ok((diagonal, none)) };
    let values = tensor.values.reals();
    let at = |i: usize, j: usize| if i < dim && j < dim { values[j * dim + i] } else { 0.0 };
    match values.len() {
        1 => Ok(([values[0]; 3], none)),
        count if count == dim => {
            diagonal[..dim].copy_from_slice(&values);
            Ok((diagonal, none))
        }
        _ if (tensor.rows, tensor.cols) == (dim, dim) => {
            if (0..dim).any(|i| (0..i).any(|j| at(i, j) != at(j, i))) {
                return Err(Error::unsuitable("diffusion", "the matrix is not symmetric"));
            }
            (0..dim).for_each(|i| diagonal[i] = at(i, i));
            Ok((diagonal, [at(0, 1), at(0, 2), at(1, 2)]))
        }
        _ => {
            let entries = dim * (dim + 1) / 2;
            let expected =
                format!("a number, {dim} numbers, a {dim} x {dim} matrix, or a row of {entries} numbers for each cell");
            Err(Error::Shape { argument: "diffusion", expected, got: format!("{} x {}", tensor.rows, tensor.cols) })
        }
    }
}

/// The entries of a tensor that varies, a column each; nothing where it has another shape.
fn columns(tensor: Full<'_>, dim: usize) -> Option<Vec<Vec<f64>>> {
    let entries = dim * (dim + 1) / 2;
    // A single row of as many numbers as directions is a diagonal.
    let varies = tensor.cols == entries && (tensor.rows, tensor.cols) != (dim, dim) && tensor.rows > 0;
    varies.then(|| tensor.values.reals().chunks(tensor.rows).map(<[f64]>::to_vec).collect())
}

/// The tensor of these columns.
fn tensor_of(columns: &[Vec<f64>]) -> Tensor<'_, f64> {
    match columns {
        [xx, yy, xy] => Tensor { diagonal: [xx, yy, &[]], mixed: [xy, &[], &[]] },
        [xx, yy, zz, xy, xz, yz] => Tensor { diagonal: [xx, yy, zz], mixed: [xy, xz, yz] },
        _ => unreachable!("columns are those of two or three dimensions"),
    }
}

fn make(args: &Args<'_>) -> Outcome {
    let context = args.context()?;
    let grid = grid(args)?;
    let precision = if args.maybe_flag(15) == Some(true) { Precision::F32 } else { Precision::F64 };
    let tolerance = match precision {
        Precision::F32 => Stopping::default().tolerance_of::<f32>(),
        Precision::F64 => Stopping::default().tolerance_of::<f64>(),
    };
    let defaults = PoissonParams::default();
    let (diffusion, mixed_derivatives) = constant_tensor(maybe_full(args, 7), grid.dim())?;
    let backends = [("kernels", Backend::Kernels), ("matrix", Backend::Matrix), ("reference", Backend::Reference)];
    let params = PoissonParams {
        diffusion,
        mixed_derivatives,
        shift: args.maybe_real(10).unwrap_or(defaults.shift),
        order: args.maybe_count(11).unwrap_or(defaults.order),
        tolerance: args.maybe_real(12).unwrap_or(tolerance),
        max_cycles: args.maybe_count(13).unwrap_or(defaults.max_cycles),
        cycle: choice(args, 14, "cycle", &[("v", Cycle::V), ("w", Cycle::W), ("fmg", Cycle::Full)])?,
        smoother: choice(args, 16, "smoother", &[("rbgs", Smoother::RedBlack), ("jacobi", Smoother::Jacobi)])?,
        backend: choice(args, 17, "backend", &backends)?,
        mixed_precision: args.maybe_flag(18).unwrap_or(false),
        ..defaults
    };
    let in_cells = choice(args, 9, "at", &[("points", false), ("cells", true)])?;
    let values = maybe_full(args, 8).map(|k| k.values.reals());
    let coefficient = values.as_deref().map(|k| if in_cells { Coefficient::Cells(k) } else { Coefficient::Points(k) });
    let columns = maybe_full(args, 7).and_then(|tensor| columns(tensor, grid.dim()));
    let varying = match (&columns, coefficient) {
        (Some(_), Some(_)) => return Err(Error::value("coefficient", "[] beside a tensor that varies", "given").into()),
        (Some(columns), None) => Some(PoissonField::Tensor(tensor_of(columns))),
        (None, coefficient) => coefficient.map(PoissonField::Coefficient),
    };
    let made = registry().poisson_varying(&context, precision, &grid, &params, varying);
    let solver = made.map_err(|error| match error {
        // The argument D has them all.
        Error::Value { argument: "mixed_derivatives" | "tensor", expected, got } => {
            Error::Value { argument: "diffusion", expected, got }
        }
        Error::Length { argument: "tensor", expected, got } => {
            let (expected, got) = (format!("{expected} rows, one for each cell"), format!("{got} rows"));
            Error::Shape { argument: "diffusion", expected, got }
        }
        other => other,
    })?;
    Ok(Out::Handle(solver).into())
}

fn set_side(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let end = if args.flag(3) { End::High } else { End::Low };
    let values = maybe_full(args, 4).map(|g| g.values.reals());
    let direction = args.count(2);
    let set = match direction.checked_sub(1) {
        Some(axis) => objects.poisson_set_side(args.handle(1), axis, end, values.as_deref()),
        None => Err(Error::value("axis", "", direction)),
    };
    set.map_err(|error| match error {
        // Directions count from 1 here.
        Error::Value { argument: "axis", .. } => Error::value("axis", "1, 2 or, in three dimensions, 3", direction),
        other => other,
    })?;
    Ok(Answer::Nothing)
}

fn solve(args: &Args<'_>) -> Outcome {
    let (solver, f, u) = (args.handle(1), args.handle(2), args.maybe_handle(3));
    let (u, report) = args.objects()?.poisson_solve_vector(solver, f, u, &mut interrupt::progress)?;
    let imbalance = Out::Real(report.imbalance.unwrap_or(f64::NAN));
    let mut outputs = solved(u, report);
    outputs.push(imbalance);
    Ok(Answer::Several(outputs))
}

/// The solution, and what it took: `u`, `flag`, `relres`, `iter`, `history` and `reason`.
pub(super) fn solved(u: u64, report: PoissonReport) -> Vec<Out> {
    vec![
        Out::Handle(u),
        Out::Real(flag(report.stop)),
        Out::Real(report.relative_residual),
        Out::Real(report.cycles as f64),
        Out::column(report.history),
        Out::Text(report.stop.to_string()),
    ]
}
