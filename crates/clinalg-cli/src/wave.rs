//! `clinalg wave`.

mod motion;
mod problem;
mod report;
mod shape;
mod time_loop;

use std::path::PathBuf;
use std::time::Instant;

use clap::ValueEnum;
use clinalg::wave::{Scheme, WaveParams, WaveSide};
use clinalg::{Real, shown};
use schemars::JsonSchema;
use serde::Serialize;

use self::problem::{PointData, Problem};
use self::report::Range;
pub(crate) use self::report::{Boxed, Document, Square};
use self::shape::Shape;
use self::time_loop::{Energies, TimeLoop};
use crate::args::boxes::{Each, Sides};
use crate::args::{self, BackendArg, PrecisionArg};
use crate::checkpoint::{Checkpoints, Loaded};
use crate::data::{Target, Values, norm};
use crate::executor::Executor;
use crate::exit::{Exit, Failure, usage};
use crate::global::Global;
use crate::interrupt;
use crate::output::Output;
use crate::paths;
use crate::plot::{Frames, PlotArgs};
use crate::progress::Progress;
use crate::series::Series;
use crate::text::number;

/// Integrate the wave equation
///
/// u_tt = c^2 Laplace u on the unit square with fixed edges, N x N points, mesh width h = 1 / (N - 1), 5-point stencil, or with
/// --points on a box in two or three dimensions with fixed, free, absorbing or periodic sides. The report has the drift of the discrete energy, which the schemes conserve, and for a standing wave the error against the
/// exact solution.
#[derive(clap::Args)]
#[command(after_help = "\
Schemes:
  explicit  leapfrog, u_next = 2 u - u_before + (c dt)^2 Laplace_h u: stable if
            the Courant number c dt / h is at most 1 / sqrt(2) = 0.7071. The
            kernels compute up to 8 steps per pass over memory.
  implicit  Newmark's with beta = 1/4 (Crank-Nicolson): stable for every time
            step, one multigrid solution per step; N = 2^k + 1.
The error of both is O(h^2 + dt^2).

Initial displacements, at rest:
  mode   sin(k pi x) sin(l pi y), --mode K,L: a standing wave with the frequency
         c pi sqrt(k^2 + l^2), whose exact solution is known
  gauss  exp(-r^2 / 0.005) around (0.3, 0.4)
  pluck  1 at (0.3, 0.4), linear down to the edges

Boxes (--points, --size, --sides), explicit scheme on one device, each side x0, x1,
y0, ... or both of a direction (x=...) or all:
  fixed      u keeps its initial values
  free       du/dn = 0
  absorbing  u_t + c du/dn = 0 lets waves out, those at right angles without reflection;
             with --sponge WIDTH layers along them, sigma u_t on the left side with sigma
             growing as the third power of the depth, damp waves at other angles, too;
             layers reflect waves that are long against their width
  periodic   u is periodic in this direction
A time step is stable up to 1 / (c sqrt(sum of 1 / h^2)). On a box gauss and pluck are at
0.3, 0.4 and 0.5 of its sides, and mode has the half waves that fit their conditions.

--initial, --velocity, --speed and --force also take formulas with x, y (0 to 1; on a box
0 to its lengths, and z), pi, comparisons (1 or 0), if(c, a, b), ..., and files .npy,
.npz, .csv, .txt, the value of the point x = i h, y = j h in a[j, i]. --out and --series write in the same order, a
series with the frame as its first index. With --speed the energy is that of the mass
(c_max / c)^2, which the scheme conserves; --force changes it.

Ctrl-C ends after the steps at hand and writes a checkpoint; clinalg wave --resume FILE
goes on as if nothing had happened, on the same device to the same bits. Frames and
series then begin with the next frame; give --series another file name.

--plot DIR writes --frames pictures DIR/wave-0000.png, ...; --plot FILE, ending in
.png or .svg, writes FILE with -0000, ... before the extension. To make a film:
  ffmpeg -i DIR/wave-%04d.png wave.mp4

JSON keys: n, scheme, backend, precision, device, devices, kernel_family, initial, mode, velocity,
speed, force, force_time, c, steps, dt, end_time, courant, courant_limit, steps_per_pass, energy, energy_drift, energy_end,
error_max, implicit, points_per_second, seconds_setup, seconds_solve,
peak_device_bytes, out, series, checkpoint, pictures. energy_drift is the largest change of the energy
relative to its initial value (unless that is 0) over the frames, null with --force, which changes it;
error_max is null except for --initial mode.
With --points: points, size, sides and sponge in place of n, scheme, backend, devices, courant,
courant_limit, steps_per_pass and implicit; dt_limit.
implicit holds stop, cycles, relative_residual, and is null for explicit;
points_per_second counts points times steps over seconds_solve, which excludes
set-up, energies and pictures. devices lists all devices, device is the first.

Examples:
  clinalg wave                                 500 steps at 1025 x 1025 points
  clinalg wave --n 513 --end-time 2 --initial gauss --plot frames --frames 60
  clinalg wave --n 513 --initial 0 --force 'exp(-500*((x-0.5)^2+(y-0.5)^2))' --force-time 'sin(40*t)'
  clinalg wave --n 513 --initial gauss --speed '1 + (y>0.5)' --series w.pvd
  clinalg wave --points 601x301 --size 2x1 --sides all=absorbing --plot frames
  clinalg wave --points 601x301 --size 2x1 --sides all=absorbing --sponge 0.2
  clinalg wave --points 101x101x101 --sides all=free --initial 'cos(pi*x)*cos(pi*z)'
  clinalg wave --resume clinalg-wave-checkpoint.npz
  clinalg wave --n 257 --scheme implicit --courant 4
  clinalg wave --n 129 --backend reference        in plain Rust, without OpenCL
  clinalg wave --n 8193 --devices 0,1          on two devices

The exit code is 1 if the solver of an implicit step did not converge or Ctrl-C
ended the run, else 0.")]
pub(crate) struct Args {
    /// Points per side, boundary included; 2^k + 1 for the implicit scheme
    #[arg(long, default_value_t = WaveParams::default().points[0], value_parser = args::points, allow_hyphen_values = true)]
    n: usize,
    /// Points in each direction of a box, including those on its sides, in place of the square: 300x200 or 300x200x100
    #[arg(
        long,
        value_name = "NXxNY[xNZ]",
        value_parser = args::boxes::counts,
        conflicts_with_all = ["n", "steps_per_pass", "tol"]
    )]
    points: Option<Each<usize>>,
    /// Lengths of the sides of the box [default: 1 each]
    #[arg(long, value_name = "LXxLY[xLZ]", value_parser = args::boxes::lengths, requires = "points")]
    size: Option<Each<f64>>,
    /// Conditions on the sides of the box: x=absorbing,y0=free [default: fixed]
    #[arg(long, value_name = "LIST", value_parser = shape::sides, requires = "points")]
    sides: Option<Sides<WaveSide>>,
    /// Width of damping layers along the inside of the absorbing sides, at least two wavelengths for small reflections
    #[arg(long, value_name = "WIDTH", value_parser = args::above_zero, requires = "points", allow_hyphen_values = true)]
    sponge: Option<f64>,
    /// Number of time steps [default: 500]
    #[arg(long, value_name = "COUNT", value_parser = args::positive, conflicts_with = "end_time", allow_hyphen_values = true)]
    steps: Option<usize>,
    /// End time, in place of --steps; the time step is reduced so that the last step ends there. A resumed run keeps its time step and may pass the new end by a fraction of a step
    #[arg(long, value_name = "T", value_parser = args::above_zero, allow_hyphen_values = true)]
    end_time: Option<f64>,
    /// Courant number c dt / h; on a box h is the smallest spacing [default: 0.7 explicit, 2 implicit, on a box 0.99 of the limit]
    #[arg(long, value_parser = args::above_zero, conflicts_with = "dt", allow_hyphen_values = true)]
    courant: Option<f64>,
    /// Time step; with --end-time, an upper bound
    #[arg(long, value_parser = args::above_zero, allow_hyphen_values = true)]
    dt: Option<f64>,
    /// Wave speed, in side lengths of the square per unit of time
    #[arg(long, default_value_t = WaveParams::default().c, value_parser = args::above_zero, allow_hyphen_values = true)]
    c: f64,
    /// Time stepping scheme
    #[arg(long, value_enum, default_value_t = SchemeArg::Explicit)]
    scheme: SchemeArg,
    /// Implementation of the steps
    #[arg(long, value_enum, default_value_t = BackendArg::Kernels)]
    backend: BackendArg,
    /// Displacement at time 0: mode, gauss, pluck, a formula in x and y (and z), or a file with a value for each point [default: mode, on a box with absorbing sides gauss]
    #[arg(long, value_name = "NAME|FORMULA|FILE", allow_hyphen_values = true)]
    initial: Option<String>,
    /// Velocity at time 0: a formula or a file [default: 0]
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    velocity: Option<String>,
    /// Positive, variable wave speed in place of --c: a formula or a file; explicit scheme
    #[arg(long, value_name = "FORMULA|FILE", conflicts_with = "c", allow_hyphen_values = true)]
    speed: Option<String>,
    /// Force s in u_tt = c^2 Laplace u + g s: a formula in x and y, or a file; explicit scheme
    #[arg(long, value_name = "FORMULA|FILE", allow_hyphen_values = true)]
    force: Option<String>,
    /// Factor g of the force: a formula in t [default: 1]
    #[arg(long, value_name = "FORMULA", requires = "force", allow_hyphen_values = true)]
    force_time: Option<String>,
    /// Number of half waves of --initial mode along x and y (and z)
    #[arg(long, value_name = "K,L[,M]", default_value = "2,1", value_parser = mode, allow_hyphen_values = true)]
    mode: Mode,
    /// Precision of the computation
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Maximum number of explicit steps per pass over memory, 1 to 8; the result has the same bits
    #[arg(long, default_value_t = WaveParams::default().steps_per_pass, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    steps_per_pass: usize,
    /// Relative residual of each implicit step [default: 1e-10 in f64, 1e-5 in f32, larger if the Courant number is too large for these]
    #[arg(long, value_name = "T", value_parser = args::tolerance_or_zero, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// Write the displacement at the end: .npy, .npz, .csv, .vti or .vtu
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the displacement at the times of the frames: .npy, .npz, .csv, or .pvd with a .vti per frame
    #[arg(long, value_name = "FILE")]
    series: Option<PathBuf>,
    /// Write a checkpoint (.npz) at the end; Ctrl-C writes clinalg-wave-checkpoint.npz without this option
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue from a checkpoint; limits, tolerances and devices given with it override those of its run, all other options must stay the same; files to write are not taken from the checkpoint: name them again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Draw frames into a folder, or into files named after FILE (.png or .svg)
    #[arg(long, value_name = "DIR|FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    style: PlotArgs,
    /// Number of frames from time 0 to the end, at most one per step besides the one at time 0; the energy is computed at each frame
    #[arg(long, default_value_t = 11, value_name = "COUNT", value_parser = args::frames, allow_hyphen_values = true)]
    frames: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchemeArg {
    /// Leapfrog
    Explicit,
    /// Newmark with beta = 1/4, by multigrid
    Implicit,
}

/// Half waves along each direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct Mode(Vec<u32>);

fn mode(text: &str) -> Result<Mode, String> {
    let part = |text: &str| text.trim().parse::<u32>().ok().filter(|k| (1..=1000).contains(k));
    let parts: Option<Vec<u32>> = text.split(',').map(part).collect();
    parts
        .filter(|parts| (2..=3).contains(&parts.len()))
        .map(Mode)
        .ok_or_else(|| "expected two or three whole numbers from 1 to 1000, such as 2,1".into())
}

impl Mode {
    /// In `dim` directions; along a third one that is not given, 1.
    fn along(&self, dim: usize) -> Result<Mode, Failure> {
        let mut counts = self.0.clone();
        if counts.len() > dim {
            return usage!("--mode has {} numbers, the problem has {dim} directions; they must agree", counts.len());
        }
        counts.resize(dim, 1);
        Ok(Mode(counts))
    }
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    if args.points.is_some() && args.scheme == SchemeArg::Implicit {
        return usage!("--scheme implicit is for the square: leave out --points, or use --scheme explicit");
    }
    match args.precision {
        PrecisionArg::F32 => solve::<f32>(args, global, out),
        PrecisionArg::F64 => solve::<f64>(args, global, out),
    }
}

/// Part of the stability limit that a time step on a box is by default.
const PART: f64 = 0.99;

impl Args {
    /// The parameters for the largest speed `c`, and the number of steps; `loaded` is what is continued.
    fn params(&self, shape: &Shape, c: f64, loaded: Option<&Loaded>) -> Result<(WaveParams, usize), Failure> {
        let scheme = match self.scheme {
            SchemeArg::Explicit => Scheme::Explicit,
            SchemeArg::Implicit => Scheme::Implicit,
        };
        let (backend, steps_per_pass) = (self.backend.into(), self.steps_per_pass);
        let params = WaveParams { backend, scheme, c, steps_per_pass, ..shape.params.clone() };
        let dt = match (self.dt, self.courant, scheme) {
            (Some(dt), ..) => dt,
            (None, Some(courant), _) => params.dt_of(courant),
            (None, None, _) if shape.is_box => PART * params.limit()?,
            (None, None, Scheme::Explicit) => params.dt_of(0.7),
            (None, None, Scheme::Implicit) => params.dt_of(2.0),
        };
        let (dt, steps) = self.steps(dt, loaded)?;
        let params = WaveParams { dt, ..params };
        let tolerance = self.tol.unwrap_or_else(|| self.tolerance(params.courant()));
        Ok((WaveParams { tolerance, ..params }, steps))
    }

    /// The tolerance where --tol is not given. The matrix of an implicit step, 1 - (c dt)^2 / 4 Laplace_h, has row sums of
    /// magnitudes up to 1 + 2 courant^2 and no eigenvalue below 1, so that rounding leaves a relative residual of up to eps
    /// times this.
    fn tolerance(&self, courant: f64) -> f64 {
        let (least, eps) = match self.precision {
            PrecisionArg::F32 => (1e-5, f64::from(f32::EPSILON)),
            PrecisionArg::F64 => (1e-10, f64::EPSILON),
        };
        (eps * (1.0 + 2.0 * courant * courant)).clamp(least, MOST_TOLERANCE)
    }

    /// The time step and the number of steps. The time step is `dt`, with --end-time reduced so that the last step ends
    /// there; a run that is continued keeps its own.
    fn steps(&self, dt: f64, loaded: Option<&Loaded>) -> Result<(f64, usize), Failure> {
        let Some(end) = self.end_time else { return Ok((dt, self.steps.unwrap_or(500))) };
        let kept = loaded.map(|loaded| loaded.number("dt")).transpose()?;
        let dt = kept.unwrap_or(dt);
        // A quotient that rounding put just above a whole number needs no step more.
        let count = (end / dt * (1.0 - 1e-12)).ceil().max(1.0);
        if count > 1e15 {
            return usage!(
                "--end-time {} needs {} steps of {}; at most 1e15 are possible: choose an earlier end time",
                shown(end),
                number(count, 2),
                shown(dt)
            );
        }
        let fits = (count * dt / end - 1.0).abs() <= 1e-12;
        Ok((if kept.is_some() || fits { dt } else { end / count }, count as usize))
    }

    /// The displacement at the start, as given.
    fn initial_name(&self, shape: &Shape) -> &str {
        self.initial.as_deref().unwrap_or(if shape.absorbs() { "gauss" } else { "mode" })
    }
}

/// The largest tolerance by default.
const MOST_TOLERANCE: f64 = 1e-3;

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let shape = Shape::new(args)?;
    let lattice = &shape.lattice;
    let pictures = args.plot.as_deref().map(|path| Frames::new(path, &args.style, "wave", args.frames)).transpose()?;
    let target = args.out.as_deref().map(|path| Target::new("--out", path)).transpose()?;
    let series = args.series.as_deref().map(|path| Series::of_field(path, lattice, "u", args.resume.is_some()));
    let mut series = series.transpose()?;
    let checkpoints = Checkpoints::new("wave", &args.checkpoint, &args.resume)?;
    let initial = shape.initial(args)?;
    out.phase("device");
    let executor = Executor::new(global, args.backend.into())?;
    args.check_executor::<T>(&shape, &executor, global)?;
    out.phase("options and files");
    let (data, amplitude) = PointData::<T>::read(args, lattice)?;
    let (params, steps) = args.params(&shape, data.c, checkpoints.unchecked())?;

    interrupt::watch(checkpoints.is_given() || args.out.is_some() || args.series.is_some());
    let progress = Progress::of_steps(out, steps as u64);
    progress.stage("setting up");
    out.phase("set-up");
    let start = Instant::now();
    let shown = pictures.is_some() || series.is_some();
    let problem = Problem { args, shape: &shape, initial: &initial, data, params, executor: &executor };
    let mut wave = problem.motion(amplitude, global)?;
    let (mut u, implicit) = problem.start(&mut *wave, shown)?;
    let mut energies = Energies::new(&mut *wave, checkpoints.resumed(|| problem.fingerprint())?)?;
    let mut document = Document::new(&problem, energies, start.elapsed(), global)?;
    document.run.out = paths::name(&args.out);
    document.run.series = paths::name(&args.series);

    out.phase("steps and frames");
    let first = wave.steps();
    let mut range = Range::new(&u, args.force.is_some());
    let time_loop = TimeLoop::new(steps, args.frames, shown, &progress);
    let integrated = time_loop.run(&mut *wave, energies, implicit, &mut u, |frame, time, u| {
        if let Some(frames) = &pictures {
            document.draw(frames, &shape, (frame, time), u, range.of(u))?;
        }
        series.iter_mut().try_for_each(|series| Ok(series.keep(time, &Values::of(u))?))
    })?;
    drop((progress, u));

    out.phase("output");
    energies.drift = integrated.drift;
    document.end(&*wave, first, steps, &integrated);
    document.run.peak_device_bytes = executor.peak_bytes_of_all()?;
    document.run.error_max = problem.error_max(&mut *wave)?;
    document.run.checkpoint = checkpoints.write(interrupt::interrupted(), |path| {
        energies.save(path, &mut *wave, problem.params.dt, problem.fingerprint()?)
    })?;
    if let Some(target) = &target {
        target.write(lattice, "u", &Values::of(&problem.displacement(&mut *wave)?))?;
    }
    if let Some(series) = series {
        series.finish()?;
    }
    out.report(&document, executor.contexts(), || Ok([("u", norm(&problem.displacement(&mut *wave)?))]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_counts() {
        assert_eq!(mode("2,1"), Ok(Mode(vec![2, 1])));
        assert_eq!(mode(" 3 , 7 "), Ok(Mode(vec![3, 7])));
        assert_eq!(mode("3,7").unwrap().along(3).unwrap(), Mode(vec![3, 7, 1]));
        assert!(mode("1,2,3").unwrap().along(2).is_err());
        for text in ["", "2", "0,1", "1,-1", "1,2,3,4", "a,b", "1001,1"] {
            assert!(mode(text).is_err(), "{text}");
        }
    }
}
