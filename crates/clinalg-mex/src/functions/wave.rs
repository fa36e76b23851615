//! The wave equation.

use std::ops::ControlFlow;

use clinalg::multigrid::Backend;
use clinalg::solve::Stop;
use clinalg::wave::{ImplicitReport, Scheme, WaveParams, WaveSide};
use clinalg::{Error, Precision};
use clinalg_handles::Registry;

use super::grid::choice;
use super::poisson::{counts, maybe_full};
use super::{GPU, Outcome, count, flag, handle, real, text};
use crate::args::{Args, Input, Kind};
use crate::emit::{Answer, Out};
use crate::function::Function;
use crate::interrupt;

const POINTS: Input = Input::new("points", Kind::Full);
const SPEED: Input = Input::named("c", "speed", Kind::Full);
const LENGTHS: Input = Input::new("lengths", Kind::Full);
const SIDES: Input = Input::new("sides", Kind::Full);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexWave",
        title: "Make a wave on a box of two or three dimensions.",
        inputs: &[
            GPU,
            POINTS,
            real("dt"),
            SPEED,
            text("scheme"),
            Input::new("single", Kind::Flag),
            text("backend"),
            real("tolerance"),
            LENGTHS,
            SIDES,
            real("sponge"),
        ],
        required: 3,
        outputs: &["wave"],
        text: "\
For u_tt = c^2 Laplace u, of order 2 in space and time, with the time step dt. points is [nx ny] or [nx ny nz], at least
3 each, those on the sides included, or n for [n n]. u is 0 and at rest until MexWaveStart. A square has equally many
points in two directions, equal lengths and fixed sides; other grids take the explicit scheme and the kernels only.
  c          speed of the waves, a number or one for each point, x fastest, for the explicit scheme (default 1)
  scheme     'explicit' for leapfrog (default), whose dt is at most what MexWaveLimit gives, on squares
             c dt / h <= 1 / sqrt(2), or 'implicit' for Newmark's with beta = 1/4 on squares, which takes any dt,
             n = 2^k + 1, and solves its equations by multigrid
  single     1 computes in single precision (default 0)
  backend    'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or
             'reference' for sequential code on the host
  tolerance  of the implicit scheme, relative residual of each step (default 1e-10, in single precision 1e-5)
  lengths    of the box, 2 or 3: n - 1 equal intervals in each direction, n in a periodic one (default 1)
  sides      2 x d numbers, the low and the high side of each of d directions: Inf (default) for fixed values of u, 0 for
             du/dn = 0, 1 for u_t + c du/dn = 0, which absorbs waves (Engquist and Majda 1977), NaN for periodic
  sponge     width of the damping layers along absorbing sides, in the unit of the lengths (Israeli and Orszag 1981);
             layers of three wavelengths reflect much less than the sides alone (default 0, none)
MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
n = 65;
[x, y] = meshgrid(linspace(0, 1, n));
wave = MexWave(gpu, n, 0.7 / (n - 1));
MexWaveStart(gpu, wave, MexMatrix(gpu, sin(pi * x) .* sin(pi * y)));
t = MexWaveStep(gpu, wave, 100);
u = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
u(33, 33) - cos(sqrt(2) * pi * t)
channel = MexWave(gpu, [201 101], 0.004, [], [], [], [], [], [2 1], [1 0; 1 0]);
[x, y] = ndgrid(linspace(0, 2, 201), linspace(0, 1, 101));
MexWaveStart(gpu, channel, MexMatrix(gpu, exp(-100 * (x - 1) .^ 2)));
MexWaveStep(gpu, channel, 400);
MexWaveEnergy(gpu, channel)",
        see: &["MexWaveLimit", "MexWaveStart", "MexWaveStep", "MexWaveDisplacement", "MexWaveEnergy", "MexRelease"],
        run: wave,
        ..Function::DEFAULT
    },
    Function {
        name: "MexWaveLimit",
        title: "Largest stable time step of the explicit scheme.",
        inputs: &[GPU, POINTS, SPEED, LENGTHS, SIDES],
        required: 2,
        outputs: &["dt"],
        text: "\
dt = 1 / (c * sqrt(1 / hx^2 + 1 / hy^2 + ...)) with the largest speed c and the distances h of the points; the arguments are
those of MexWave.",
        example: "\
gpu = MexInitOpenCL();
dt = MexWaveLimit(gpu, [201 101], [], [2 1])",
        see: &["MexWave"],
        run: |args| {
            args.objects()?;
            let (params, speed) = params(args, 2, 3)?;
            Ok(Out::Real(Registry::wave_limit(&params, speed.as_deref()).map_err(of_speed)?).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexWaveStart",
        title: "Set displacement and velocity of a wave at time 0.",
        inputs: &[GPU, handle("wave"), handle("u"), handle("v")],
        required: 3,
        outputs: &["flag"],
        text: "\
u and v have a value for each point, x fastest, in the precision of the wave. The values of u on fixed sides
stay; those of v are not read. Without v the wave is at rest. flag is 0, or as for MexPoissonSolve if
the solver of the implicit scheme did not converge.",
        example: "\
gpu = MexInitOpenCL();
wave = MexWave(gpu, 33, 0.02);
u = MexZeros(gpu, 33, 33);
v = MexMatrix(gpu, ones(33));
MexWaveStart(gpu, wave, u, v);",
        see: &["MexWave", "MexWaveStep", "MexWaveVelocity"],
        run: |args| {
            let done = args.objects()?.wave_start(args.handle(1), args.handle(2), args.maybe_handle(3))?;
            Ok(Out::Real(outcome(done.implicit)).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexWaveStep",
        title: "Make time steps.",
        inputs: &[GPU, handle("wave"), count("steps")],
        required: 2,
        outputs: &["t", "flag", "cycles"],
        text: "\
Makes a number of steps (default 1) and returns the time reached. The kernels for squares compute up to 8 explicit
steps per pass over memory, so one call with many steps is faster than many calls. flag is 0 if all
steps were made, 5 if Ctrl-C ended the call, and as for MexPoissonSolve if the solver of an implicit step did not
converge, which also ends it. cycles is the number of multigrid cycles of all steps together.",
        example: "\
gpu = MexInitOpenCL();
wave = MexWave(gpu, 33, 0.1, 1, 'implicit');
MexWaveStart(gpu, wave, MexZeros(gpu, 33, 33), MexMatrix(gpu, ones(33)));
[t, flag, cycles] = MexWaveStep(gpu, wave, 5)",
        see: &["MexWave", "MexWaveDisplacement"],
        run: |args| {
            let (objects, wave) = (args.objects()?, args.handle(1));
            let steps = args.maybe_count(2).unwrap_or(1);
            let mut cancelled = false;
            let done = objects.wave_step_with(wave, steps, &mut |made, time| {
                // The host acts on what comes at the end.
                let flow = if made < steps { interrupt::progress(made, time) } else { ControlFlow::Continue(()) };
                cancelled = flow.is_break();
                flow
            })?;
            let stopped = if cancelled { flag(Stop::Cancelled) } else { outcome(done.implicit) };
            let cycles = done.implicit.map_or(0, |implicit| implicit.cycles);
            Ok(Answer::Several(vec![
                Out::Real(objects.wave_state(wave)?.time),
                Out::Real(stopped),
                Out::Real(cycles as f64),
            ]))
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexWaveDisplacement",
        title: "Displacement of a wave.",
        inputs: &[GPU, handle("wave"), handle("u")],
        required: 2,
        outputs: &["u"],
        text: "\
The result goes to u if it is given, with a value for each point in the precision of the wave, else to a new matrix:
nx x ny, in three dimensions nx x (ny nz).",
        example: "\
gpu = MexInitOpenCL();
wave = MexWave(gpu, 33, 0.02);
MexWaveStart(gpu, wave, MexMatrix(gpu, ones(33)));
MexWaveStep(gpu, wave, 10);
u = MexWaveDisplacement(gpu, wave);
norm(MexHandleMatrix(gpu, u) - 1)",
        see: &["MexWave", "MexWaveVelocity", "MexHandleMatrix"],
        run: |args| Ok(Out::Handle(args.objects()?.wave_displacement(args.handle(1), args.maybe_handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexWaveVelocity",
        title: "Velocity of a wave.",
        inputs: &[GPU, handle("wave"), handle("v")],
        required: 2,
        outputs: &["v"],
        text: "\
The result goes to v if it is given, as for MexWaveDisplacement. MexWaveStart with displacement and velocity continues
the integration.",
        example: "\
gpu = MexInitOpenCL();
wave = MexWave(gpu, 33, 0.02);
MexWaveStart(gpu, wave, MexZeros(gpu, 33, 33), MexMatrix(gpu, ones(33)));
v = MexHandleMatrix(gpu, MexWaveVelocity(gpu, wave));
v(17, 17)",
        see: &["MexWave", "MexWaveStart", "MexWaveDisplacement"],
        run: |args| Ok(Out::Handle(args.objects()?.wave_velocity(args.handle(1), args.maybe_handle(2))?).into()),
        ..Function::DEFAULT
    },
    Function {
        name: "MexWaveEnergy",
        title: "Energy of a wave.",
        inputs: &[GPU, handle("wave")],
        required: 2,
        outputs: &["E", "kinetic", "potential"],
        text: "\
E = kinetic + potential is the discrete energy half a step before the time reached, of unit density where the speed is
largest. Without absorbing sides both schemes conserve it up to rounding, the implicit one also up to its tolerance;
absorbing sides can only decrease it.",
        example: "\
gpu = MexInitOpenCL();
wave = MexWave(gpu, 33, 0.02);
MexWaveStart(gpu, wave, MexMatrix(gpu, rand(33)));
E = MexWaveEnergy(gpu, wave);
MexWaveStep(gpu, wave, 1000);
MexWaveEnergy(gpu, wave) / E - 1",
        see: &["MexWave", "MexWaveStep"],
        run: |args| {
            let energy = args.objects()?.wave_energy(args.handle(1))?;
            Ok(Answer::Several(vec![Out::Real(energy.total()), Out::Real(energy.kinetic), Out::Real(energy.potential)]))
        },
        ..Function::DEFAULT
    },
];

/// Grid, sides and speed, with the arguments `c`, `lengths` and `sides` from these positions on; the speeds where there is one for each point.
fn params(args: &Args<'_>, speed: usize, lengths: usize) -> Result<(WaveParams, Option<Vec<f64>>), Error> {
    let points = args.full(1).values.reals();
    let mut params = WaveParams::new(&match points[..] {
        [n] => counts(&[n, n])?,
        _ => counts(&points)?,
    });
    let dim = params.points.len();
    if let Some(lengths) = maybe_full(args, lengths) {
        params.size = lengths.values.reals();
    }
    if let Some(sides) = maybe_full(args, lengths + 1) {
        if (sides.rows, sides.cols) != (2, dim) {
            let (expected, got) = (format!("2 x {dim}"), format!("{} x {}", sides.rows, sides.cols));
            return Err(Error::Shape { argument: "sides", expected, got });
        }
        let side = |value: f64| match value {
            f64::INFINITY => Ok(WaveSide::Fixed),
            0.0 => Ok(WaveSide::Free),
            1.0 => Ok(WaveSide::Absorbing),
            value if value.is_nan() => Ok(WaveSide::Periodic),
            value => Err(Error::value("sides", "Inf (fixed), 0 (free), 1 (absorbing) or NaN (periodic)", value)),
        };
        let sides: Vec<_> = sides.values.reals().into_iter().map(side).collect::<Result<_, Error>>()?;
        params.sides = sides.chunks_exact(2).map(|ends| [ends[0], ends[1]]).collect();
    }
    let speeds = maybe_full(args, speed).map(|speed| speed.values.reals());
    if let Some(&[c]) = speeds.as_deref() {
        params.c = c;
        return Ok((params, None));
    }
    Ok((params, speeds))
}

/// One speed and several are one argument.
fn of_speed(error: Error) -> Error {
    error.renamed("c", "speed")
}

fn wave(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let schemes = [("explicit", Scheme::Explicit), ("implicit", Scheme::Implicit)];
    let backends = [("kernels", Backend::Kernels), ("matrix", Backend::Matrix), ("reference", Backend::Reference)];
    let (precision, tolerance) =
        if args.maybe_flag(5).unwrap_or(false) { (Precision::F32, 1e-5) } else { (Precision::F64, 1e-10) };
    let (params, speed) = params(args, 3, 8)?;
    let params = WaveParams {
        dt: args.real(2),
        scheme: choice(args, 4, "scheme", &schemes)?,
        backend: choice(args, 6, "backend", &backends)?,
        tolerance: args.maybe_real(7).unwrap_or(tolerance),
        sponge: args.maybe_real(10).filter(|width| *width != 0.0),
        ..params
    };
    let made = objects.wave(&args.context()?, precision, &params, speed.as_deref()).map_err(of_speed)?;
    Ok(Out::Handle(made).into())
}

/// MATLAB's flag for the equations of some steps; the floor of rounding is as good as the tolerance.
fn outcome(implicit: Option<ImplicitReport>) -> f64 {
    implicit.filter(|implicit| !implicit.stop.is_success()).map_or(0.0, |implicit| flag(implicit.stop))
}
