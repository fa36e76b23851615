//! Teams of devices.

use clinalg::multigrid::{self, Cycle, Grid, PoissonParams, Smoother};
use clinalg::runtime::devices;
use clinalg::wave::WaveParams;
use clinalg::{Error, Precision};

use super::grid::choice;
use super::poisson::solved;
use super::preconditioner::amg_params;
use super::{GPU, Outcome, count_as, handle, handle_as, real, real_as, text};
use crate::args::{Args, Full, Input, Kind};
use crate::emit::{Answer, Out};
use crate::fault::Fault;
use crate::function::Function;
use crate::interrupt;

const TEAM: Input = handle("team");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexTeam",
        title: "Make a team of devices that share the work of a problem.",
        inputs: &[GPU, Input::new("devices", Kind::Full)],
        required: 2,
        outputs: &["team"],
        text: "\
devices are indices from MexPrintGPU, from 0 on, each once. The team does the work of MexTeamPoisson, MexTeamWave and of
solves with a matrix of MexTeamMatrix. MexRelease frees it; what was made on it lives on.",
        example: "\
gpu = MexInitOpenCL();
team = MexTeam(gpu, 0);
info = MexTeamInfo(gpu, team);
info.devices",
        see: &["MexTeamInfo", "MexTeamMatrix", "MexTeamPoisson", "MexTeamWave", "MexSetGPU"],
        run: |args| {
            args.objects()?;
            Ok(Out::Handle(make(&args.full(1))?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexTeamInfo",
        title: "The devices of a team.",
        inputs: &[GPU, TEAM],
        required: 2,
        outputs: &["info"],
        text: "\
info is a structure with the fields devices, a row of indices in the order of the ranks, and names, a text with their
names.",
        example: "\
gpu = MexInitOpenCL();
info = MexTeamInfo(gpu, MexTeam(gpu, 0));
info.names",
        see: &["MexTeam", "MexPrintGPU"],
        run: |args| {
            let found = args.objects()?.team_devices(args.handle(1))?;
            let all = devices()?;
            let name = |&index: &usize| all.get(index).map_or("", |device| device.info().name.as_str());
            let names: Vec<_> = found.iter().map(name).collect();
            let record = vec![
                Out::Reals { rows: 1, values: found.iter().map(|&index| index as f64).collect() },
                Out::Text(names.join(", ")),
            ];
            Ok(Out::Records { fields: vec![c"devices", c"names"], records: vec![record] }.into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexTeamMatrix",
        title: "Share the rows of a sparse matrix out among the devices of a team.",
        inputs: &[GPU, TEAM, handle_as("A", "a")],
        required: 3,
        outputs: &["T"],
        text: "\
A is a real square sparse matrix. T stands for A in MexCG, MexBiCGStab and MexGMRES, with precond 'none', 'jacobi' or one of
MexTeamAmg; b and x are ordinary vectors. Each device gets about as many entries. T does not refer to A afterwards.
MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 20));
T = MexTeamMatrix(gpu, MexTeam(gpu, 0), A);
[x, flag] = MexCG(gpu, T, MexMatrix(gpu, ones(400, 1)), 1e-8, 200, 'jacobi');
flag",
        see: &["MexTeam", "MexTeamAmg", "MexCG"],
        run: |args| Ok(Out::Handle(args.objects()?.team_matrix(args.handle(1), args.handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexTeamAmg",
        title: "Make an algebraic multigrid preconditioner on a team.",
        inputs: &[
            GPU,
            handle_as("T", "matrix"),
            handle_as("A", "a"),
            real("theta"),
            text("smoother"),
            count_as("steps", "smoother_steps"),
            text("cycle"),
            count_as("coarse", "coarse_size"),
            Input::new("block", Kind::Count),
            text("coarsening"),
            Input::new("aggressive", Kind::Flag),
        ],
        required: 3,
        outputs: &["M"],
        text: "\
T is the result of MexTeamMatrix for the sparse matrix A. M is the argument precond of MexCG, MexBiCGStab and MexGMRES
with T. The options are those of MexAmg. The hierarchy is set up on the first device, whose memory has to hold it; then
its finer levels are shared out. It does not refer to A afterwards. MexAmgInfo takes M; MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
A = MexSparseMatrix(gpu, gallery('poisson', 40));
T = MexTeamMatrix(gpu, MexTeam(gpu, 0), A);
M = MexTeamAmg(gpu, T, A);
[x, flag, relres, iter] = MexCG(gpu, T, MexMatrix(gpu, ones(1600, 1)), 1e-8, 100, M);
iter",
        see: &["MexTeamMatrix", "MexAmg", "MexAmgInfo"],
        run: |args| {
            let params = amg_params(args, 3, [9, 10])?;
            Ok(Out::Handle(args.objects()?.team_amg(args.handle(1), args.handle(2), &params)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexTeamPoisson",
        title: "Solve the Poisson problem by multigrid on a team.",
        inputs: &[
            GPU,
            TEAM,
            handle("f"),
            real_as("tol", "tolerance"),
            count_as("maxit", "max_cycles"),
            handle("u"),
            text("cycle"),
            text("smoother"),
            count_as("d", "dim"),
            real_as("s", "shift"),
        ],
        required: 3,
        outputs: &["u", "flag", "relres", "iter", "history", "reason"],
        text: "\
Solves -Laplace u + s u = f on strips of the unit square, or slabs of the unit cube, one for each device. f and u have N
points per direction, N = 2^k + 1, those on the boundary included: N^2 values, or N^3 on the cube. u holds the values
on the boundary and an initial guess; without it both are zero and the result is a new array like f.
  tol       relative residual to reach (default 1e-10 in double, 1e-5 in single precision)
  maxit     maximum number of cycles (default 100)
  cycle     'v' (default), 'w' or 'fmg' for full multigrid
  smoother  'rbgs' for red-black Gauss-Seidel (default) or 'jacobi'
  d         dimensions: 2 for the square (default), 3 for the cube
  s         a number of at least 0 (default 0)
The results are those of MexPoissonSolve. The solution after each cycle has the bits of one device.",
        example: "\
gpu = MexInitOpenCL();
N = 65;
f = MexMatrix(gpu, ones(N));
[u, flag, relres, iter] = MexTeamPoisson(gpu, MexTeam(gpu, 0), f, 1e-9);
iter",
        see: &["MexTeam", "MexPoisson", "MexPoissonSolve"],
        run: poisson,
        ..Function::DEFAULT
    },
    Function {
        name: "MexTeamWave",
        title: "Make a wave on a team.",
        inputs: &[GPU, TEAM, count_as("n", "points"), real("dt"), real("c"), Input::new("single", Kind::Flag)],
        required: 4,
        outputs: &["wave"],
        text: "\
As MexWave with the explicit scheme on the unit square of n x n points with fixed sides, on strips, one for each device.
MexWaveStart, MexWaveStep, MexWaveDisplacement, MexWaveVelocity and MexWaveEnergy take it. Displacement and velocity have
the bits of one device.",
        example: "\
gpu = MexInitOpenCL();
wave = MexTeamWave(gpu, MexTeam(gpu, 0), 65, 0.01);
MexWaveStart(gpu, wave, MexMatrix(gpu, rand(65)));
t = MexWaveStep(gpu, wave, 100)",
        see: &["MexTeam", "MexWave", "MexWaveStep"],
        run: |args| {
            let objects = args.objects()?;
            let precision = if args.maybe_flag(5).unwrap_or(false) { Precision::F32 } else { Precision::F64 };
            let c = args.maybe_real(4).unwrap_or(1.0);
            let params = WaveParams { dt: args.real(3), c, ..WaveParams::square(args.count(2)) };
            Ok(Out::Handle(objects.team_wave(args.handle(1), &args.context()?, precision, &params)?).into())
        },
        ..Function::DEFAULT
    },
];

/// A team of the devices of these indices; gives its handle.
pub(super) fn make(list: &Full<'_>) -> Result<u64, Fault> {
    let whole = |&value: &f64| (0.0..=9_007_199_254_740_992.0).contains(&value) && value.fract() == 0.0;
    let values = list.values.reals();
    if let Some(wrong) = values.iter().find(|value| !whole(value)) {
        return Err(Error::value("devices", "indices of devices, non-negative integers", wrong).into());
    }
    let indices: Vec<_> = values.iter().map(|&value| value as usize).collect();
    Ok(super::registry().team(&indices)?)
}

fn poisson(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let f = args.handle(2);
    let mut params =
        PoissonParams { tolerance: super::solve::default_tolerance(objects, "f", f)?, ..Default::default() };
    if let Some(tolerance) = args.maybe_real(3) {
        params.tolerance = tolerance;
    }
    if let Some(cycles) = args.maybe_count(4) {
        params.max_cycles = cycles;
    }
    params.cycle = choice(args, 6, "cycle", &[("v", Cycle::V), ("w", Cycle::W), ("fmg", Cycle::Full)])?;
    params.smoother = choice(args, 7, "smoother", &[("rbgs", Smoother::RedBlack), ("jacobi", Smoother::Jacobi)])?;
    let dim = args.maybe_count(8).unwrap_or(2);
    let info = objects.info(f)?;
    let grid = Grid::new(&vec![multigrid::side_in("f", info.rows * info.cols, dim)?; dim]);
    if let Some(shift) = args.maybe_real(9) {
        params.shift = shift;
    }
    let (grids, problem) = ((f, args.maybe_handle(5)), (&grid, &params));
    let (u, report) = objects.team_poisson(args.handle(1), grids, problem, &mut interrupt::progress)?;
    Ok(Answer::Several(solved(u, report)))
}
