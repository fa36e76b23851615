//! The wave equation.

use std::ops::ControlFlow;

use clinalg::Precision;
use clinalg::multigrid::Backend;
use clinalg::solve::Stop;
use clinalg::wave::{ImplicitReport, Scheme, WaveParams};

use super::grid::choice;
use super::{GPU, Outcome, count, flag, handle, real, text};
use crate::args::{Args, Input, Kind};
use crate::emit::{Answer, Out};
use crate::function::Function;
use crate::interrupt;

const SINGLE: Input = Input::new("single", Kind::Flag);

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "MexWave",
        title: "Make a membrane for the wave equation.",
        inputs: &[GPU, count("n"), real("dt"), real("c"), text("scheme"), SINGLE, text("backend"), real("tolerance")],
        required: 3,
        outputs: &["wave"],
        text: "\
For u_tt = c^2 Laplace u on the unit square, the values on the boundary fixed, on n x n points, boundary
points included, with the mesh width h = 1 / (n - 1) and the time step dt. The initial displacement and
velocity are 0.
  c          wave speed (default 1)
  scheme     'explicit' for leapfrog (default), which needs c dt / h <= 1 / sqrt(2), or 'implicit' for Newmark's
             with beta = 1/4, which takes any dt, n = 2^k + 1, and solves its equations by multigrid
  single     1 computes in single precision (default 0)
  backend    'kernels' for kernels made for this problem (default), 'matrix' for sparse matrices, or
             'reference' for sequential code on the host
  tolerance  of the implicit scheme, relative residual of each step (default 1e-10, in single precision 1e-5)
MexRelease frees it.",
        example: "\
gpu = MexInitOpenCL();
n = 65;
[x, y] = meshgrid(linspace(0, 1, n));
wave = MexWave(gpu, n, 0.7 / (n - 1));
MexWaveStart(gpu, wave, MexMatrix(gpu, sin(pi * x) .* sin(pi * y)));
t = MexWaveStep(gpu, wave, 100);
u = MexHandleMatrix(gpu, MexWaveDisplacement(gpu, wave));
u(33, 33) - cos(sqrt(2) * pi * t)",
        see: &["MexWaveStart", "MexWaveStep", "MexWaveDisplacement", "MexWaveEnergy", "MexRelease"],
        run: wave,
        ..Function::DEFAULT
    },
    Function {
        name: "MexWaveStart",
        title: "Set displacement and velocity of a membrane at time 0.",
        inputs: &[GPU, handle("wave"), handle("u"), handle("v")],
        required: 3,
        outputs: &["flag"],
        text: "\
u and v are n x n grids of the membrane's precision, or vectors of n^2 values. The boundary values of u
stay fixed; those of v are not read. Without v the membrane is at rest. flag is 0, or as for MexPoisson if
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
Makes a number of steps (default 1) and returns the time reached. The kernels compute up to 8 explicit
steps per pass over memory, so one call with many steps is faster than many calls. flag is 0 if all
steps were made, 5 if Ctrl-C ended the call, and as for MexPoisson if the solver of an implicit step did not
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
        title: "Displacement of a membrane.",
        inputs: &[GPU, handle("wave"), handle("u")],
        required: 2,
        outputs: &["u"],
        text: "\
The result goes to u if it is given, an n x n grid of the membrane's precision or a vector of n^2 values,
else to a new n x n matrix.",
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
        title: "Velocity of a membrane.",
        inputs: &[GPU, handle("wave"), handle("v")],
        required: 2,
        outputs: &["v"],
        text: "\
The result goes to v if it is given, an n x n grid of the membrane's precision or a vector of n^2 values,
else to a new n x n matrix. MexWaveStart with displacement and velocity continues the integration.",
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
        title: "Energy of a membrane.",
        inputs: &[GPU, handle("wave")],
        required: 2,
        outputs: &["E", "kinetic", "potential"],
        text: "\
E = kinetic + potential is the discrete energy half a step before the time reached, of a membrane of unit
density. Both schemes conserve it up to rounding, the implicit one also up to its tolerance.",
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

fn wave(args: &Args<'_>) -> Outcome {
    let objects = args.objects()?;
    let schemes = [("explicit", Scheme::Explicit), ("implicit", Scheme::Implicit)];
    let backends = [("kernels", Backend::Kernels), ("matrix", Backend::Matrix), ("reference", Backend::Reference)];
    let (precision, tolerance) =
        if args.maybe_flag(5).unwrap_or(false) { (Precision::F32, 1e-5) } else { (Precision::F64, 1e-10) };
    let params = WaveParams {
        n: args.count(1),
        dt: args.real(2),
        c: args.maybe_real(3).unwrap_or(1.0),
        scheme: choice(args, 4, "scheme", &schemes)?,
        backend: choice(args, 6, "backend", &backends)?,
        tolerance: args.maybe_real(7).unwrap_or(tolerance),
        ..WaveParams::default()
    };
    Ok(Out::Handle(objects.wave(&args.context()?, precision, &params)?).into())
}

/// MATLAB's flag for the equations of some steps; the floor of rounding is as good as the tolerance.
fn outcome(implicit: Option<ImplicitReport>) -> f64 {
    implicit.filter(|implicit| !implicit.stop.is_success()).map_or(0.0, |implicit| flag(implicit.stop))
}
