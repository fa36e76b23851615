//! The wave equation on boxes.

use std::ops::ControlFlow;

use clinalg::solve::Stop;
use clinalg::wave::{BoxWaveParams, WaveSide};
use clinalg::{Error, Precision};

use super::poisson::{maybe_full, points};
use super::{GPU, Outcome, count, flag, handle, real};
use crate::args::{Args, Input, Kind};
use crate::emit::{Answer, Out};
use crate::function::Function;
use crate::interrupt;

const WAVE: Input = handle("wave");
const LENGTHS: Input = Input::new("lengths", Kind::Full);
const SIDES: Input = Input::new("sides", Kind::Full);
const SPEED: Input = Input::named("c", "speed", Kind::Full);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexGridWave",
        title: "Make a wave on a box.",
        inputs: &[
            GPU,
            Input::new("points", Kind::Full),
            real("dt"),
            LENGTHS,
            SIDES,
            SPEED,
            Input::new("single", Kind::Flag),
            real("sponge"),
        ],
        required: 3,
        outputs: &["wave"],
        text: "\
For u_tt = c^2 Laplace u on a box of d = 2 or 3 dimensions by leapfrog, of order 2 in space and time, with the time step
dt, at most what MexGridWaveLimit gives. points is [nx ny] or [nx ny nz], at least 3 each, those on the sides included. u is
0 and at rest until MexGridWaveStart.
  lengths  d lengths of the box: n - 1 equal intervals in each direction, n in a periodic one (default 1)
  sides    2 x d numbers, the low and the high side of each direction: Inf (default) for fixed values of u, 0 for
           du/dn = 0, 1 for u_t + c du/dn = 0, which absorbs waves (Engquist and Majda 1977), NaN for periodic
  c        speed of the waves, a number or one for each point, x fastest (default 1)
  single   1 computes in single precision (default 0)
  sponge   width of the damping layers along absorbing sides, in the unit of the lengths (Israeli and Orszag 1981);
           layers of three wavelengths reflect much less than the sides alone (default 0, none)
MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
wave = MexGridWave(gpu, [201 101], 0.004, [2 1], [1 0; 1 0]);
[x, y] = ndgrid(linspace(0, 2, 201), linspace(0, 1, 101));
MexGridWaveStart(gpu, wave, MexMatrix(gpu, exp(-100 * (x - 1) .^ 2)));
MexGridWaveStep(gpu, wave, 400);
MexGridWaveEnergy(gpu, wave)",
        see: &["MexGridWaveLimit", "MexGridWaveStart", "MexGridWaveStep", "MexGridWaveDisplacement", "MexWave", "MexRelease"],
        run: make,
        ..Function::DEFAULT
    },
    Function {
        name: "MexGridWaveLimit",
        title: "Largest stable time step of a wave on a box.",
        inputs: &[GPU, Input::new("points", Kind::Full), LENGTHS, SIDES, SPEED],
        required: 2,
        outputs: &["dt"],
        text: "\
dt = 1 / (c * sqrt(1 / hx^2 + 1 / hy^2 + ...)) with the largest speed c and the distances h of the points; the arguments are
those of MexGridWave.",
        example: "\
gpu = MexInitOpenCL();
dt = MexGridWaveLimit(gpu, [201 101], [2 1])",
        see: &["MexGridWave"],
        run: limit,
        ..Function::DEFAULT
    },
    Function {
        name: "MexGridWaveStart",
        title: "Set displacement and velocity of a wave on a box at time 0.",
        inputs: &[GPU, WAVE, handle("u"), handle("v")],
        required: 3,
        outputs: &[],
        text: "\
u and v have a value for each point, x fastest, in the precision of the wave. The values of v on fixed sides are not read.
Without v the wave is at rest.",
        example: "\
gpu = MexInitOpenCL();
wave = MexGridWave(gpu, [33 17], 0.02);
MexGridWaveStart(gpu, wave, MexZeros(gpu, 33, 17), MexMatrix(gpu, ones(33, 17)));",
        see: &["MexGridWave", "MexGridWaveStep", "MexGridWaveVelocity"],
        run: |args| {
            args.objects()?.grid_wave_start(args.handle(1), args.handle(2), args.maybe_handle(3))?;
            Ok(Answer::Nothing)
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexGridWaveStep",
        title: "Make time steps of a wave on a box.",
        inputs: &[GPU, WAVE, count("steps")],
        required: 2,
        outputs: &["t", "flag"],
        text: "\
Makes a number of steps (default 1) and returns the time reached. flag is 0 if all steps were made, 5 if Ctrl-C ended
the call.",
        example: "\
gpu = MexInitOpenCL();
wave = MexGridWave(gpu, [33 33 33], 0.015);
MexGridWaveStart(gpu, wave, MexMatrix(gpu, rand(33, 33 * 33)));
t = MexGridWaveStep(gpu, wave, 10)",
        see: &["MexGridWave", "MexGridWaveDisplacement"],
        run: step,
        ..Function::DEFAULT
    },
    Function {
        name: "MexGridWaveDisplacement",
        title: "Displacement of a wave on a box.",
        inputs: &[GPU, WAVE, handle("u")],
        required: 2,
        outputs: &["u"],
        text: "\
The result goes to u if it is given, with a value for each point in the precision of the wave, otherwise to a new column; x is
fastest.",
        example: "\
gpu = MexInitOpenCL();
wave = MexGridWave(gpu, [33 17], 0.02);
MexGridWaveStart(gpu, wave, MexMatrix(gpu, ones(33, 17)));
u = reshape(MexHandleMatrix(gpu, MexGridWaveDisplacement(gpu, wave)), 33, 17);",
        see: &["MexGridWave", "MexGridWaveVelocity", "MexHandleMatrix"],
        run: |args| {
            let u = args.objects()?.grid_wave_displacement(args.handle(1), args.maybe_handle(2))?;
            Ok(Out::Handle(u).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexGridWaveVelocity",
        title: "Velocity of a wave on a box.",
        inputs: &[GPU, WAVE, handle("v")],
        required: 2,
        outputs: &["v"],
        text: "\
The result goes to v if it is given, as for MexGridWaveDisplacement. MexGridWaveStart with displacement and velocity
continues the motion.",
        example: "\
gpu = MexInitOpenCL();
wave = MexGridWave(gpu, [33 17], 0.02);
MexGridWaveStart(gpu, wave, MexZeros(gpu, 33, 17), MexMatrix(gpu, ones(33, 17)));
v = reshape(MexHandleMatrix(gpu, MexGridWaveVelocity(gpu, wave)), 33, 17);
v(17, 9)",
        see: &["MexGridWave", "MexGridWaveStart", "MexGridWaveDisplacement"],
        run: |args| {
            let v = args.objects()?.grid_wave_velocity(args.handle(1), args.maybe_handle(2))?;
            Ok(Out::Handle(v).into())
        },
        ..Function::DEFAULT
    },
    Function {
        name: "MexGridWaveEnergy",
        title: "Energy of a wave on a box.",
        inputs: &[GPU, WAVE],
        required: 2,
        outputs: &["E", "kinetic", "potential"],
        text: "\
E = kinetic + potential is the discrete energy half a step before the time reached, of unit density. Without absorbing
sides it is conserved up to rounding; absorbing sides never increase it.",
        example: "\
gpu = MexInitOpenCL();
wave = MexGridWave(gpu, [33 17], 0.02, [], [0 NaN; 0 NaN]);
MexGridWaveStart(gpu, wave, MexMatrix(gpu, rand(33, 17)));
E = MexGridWaveEnergy(gpu, wave);
MexGridWaveStep(gpu, wave, 100);
MexGridWaveEnergy(gpu, wave) / E - 1",
        see: &["MexGridWave", "MexGridWaveStep"],
        run: |args| {
            let energy = args.objects()?.grid_wave_energy(args.handle(1))?;
            Ok(Answer::Several(vec![Out::Real(energy.total()), Out::Real(energy.kinetic), Out::Real(energy.potential)]))
        },
        ..Function::DEFAULT
    },
];

/// Grid and sides, with the arguments `lengths` and `sides` from `position` on.
fn params(args: &Args<'_>, dt: f64, position: usize) -> Result<BoxWaveParams, Error> {
    let points = points(args)?;
    let dim = points.len();
    let mut params = BoxWaveParams::new(&points, dt);
    if let Some(lengths) = maybe_full(args, position) {
        let lengths = lengths.values.reals();
        if lengths.len() != dim {
            return Err(Error::Length { argument: "lengths", expected: dim, got: lengths.len() });
        }
        params = params.size(&lengths);
    }
    let Some(sides) = maybe_full(args, position + 1) else { return Ok(params) };
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
    Ok(params.sides(&sides.chunks_exact(2).map(|ends| [ends[0], ends[1]]).collect::<Vec<_>>()))
}

/// The speeds, with a value for each point or one for all.
fn speeds(args: &Args<'_>, position: usize) -> Vec<f64> {
    maybe_full(args, position).map_or_else(|| vec![1.0], |speed| speed.values.reals())
}

/// The core's name of an argument as this one's.
fn named(error: Error) -> Error {
    match error {
        Error::Value { argument: "size", expected, got } => Error::Value { argument: "lengths", expected, got },
        other => other,
    }
}

fn make(args: &Args<'_>) -> Outcome {
    let context = args.context()?;
    let params = params(args, args.real(2), 3)?;
    let params = match args.maybe_real(7) {
        Some(width) if width != 0.0 => params.sponge(width),
        _ => params,
    };
    let precision = if args.maybe_flag(6) == Some(true) { Precision::F32 } else { Precision::F64 };
    Ok(Out::Handle(args.objects()?.grid_wave(&context, precision, &params, &speeds(args, 5))?).into())
}

fn limit(args: &Args<'_>) -> Outcome {
    args.objects()?;
    // Any step serves.
    let params = params(args, 1.0, 2)?;
    let speeds = speeds(args, 4);
    let count: usize = params.points().iter().product();
    if speeds.len() != 1 && speeds.len() != count {
        return Err(Error::Length { argument: "speed", expected: count, got: speeds.len() }.into());
    }
    if let Some(c) = speeds.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
        return Err(Error::value("speed", "finite numbers above 0", c).into());
    }
    let fastest = speeds.iter().fold(0.0, |most: f64, c| most.max(*c));
    Ok(Out::Real(params.limit(fastest).map_err(named)?).into())
}

fn step(args: &Args<'_>) -> Outcome {
    let steps = args.maybe_count(2).unwrap_or(1);
    let progress = &mut |made: usize, time: f64| {
        // The host acts on what comes at the end.
        if made < steps { interrupt::progress(made, time) } else { ControlFlow::Continue(()) }
    };
    let (made, time) = args.objects()?.grid_wave_step(args.handle(1), steps, Some(progress))?;
    let stopped = if made < steps { flag(Stop::Cancelled) } else { 0.0 };
    Ok(Answer::Several(vec![Out::Real(time), Out::Real(stopped)]))
}
