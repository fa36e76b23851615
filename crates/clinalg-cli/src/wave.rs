//! `clinalg wave`.

use std::f64::consts::PI;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use clinalg::grid::{Form, ImplicitReport, Scheme, Wave, WaveParams};
use clinalg::{Context, Precision, Real, Shape};
use serde::Serialize;

use crate::Global;
use crate::args::{self, DeviceName, FormArg, PrecisionArg};
use crate::exit::{Exit, Failure};
use crate::output::{Output, bytes, seconds};
use crate::plot::{Field, Frames};
use crate::progress::Steps;

/// Follow the wave equation in time
///
/// u_tt = c^2 Laplace u on the unit square with fixed edges, N x N points, mesh width h = 1 / (N - 1), 5-point stencil. The
/// report gives how far the discrete energy has drifted, which the schemes keep, and with a standing wave the error against
/// the exact solution.
#[derive(clap::Args)]
#[command(after_help = "\
Schemes:
  explicit  leapfrog, u_next = 2 u - u_before + (c dt)^2 Laplace_h u: stable while
            the Courant number c dt / h is at most 1 / sqrt(2) = 0.7071. The
            kernels make up to 8 steps in one pass over memory.
  implicit  Newmark's with beta = 1/4 (Crank-Nicolson): stable for every time
            step, one multigrid solution a step; N = 2^k + 1.
Both err by O(h^2 + dt^2).

Initial displacements, at rest:
  mode   sin(k pi x) sin(l pi y), --mode K,L: a standing wave of the frequency
         c pi sqrt(k^2 + l^2), whose exact solution is known
  gauss  exp(-r^2 / 0.005) around (0.3, 0.4)
  pluck  drawn out to 1 at (0.3, 0.4), straight down to the edges

--plot DIR writes --frames pictures DIR/wave-0000.png, ...; --plot FILE, ending in
.png or .svg, writes FILE with -0000, ... before the extension. To make a film:
  ffmpeg -i DIR/wave-%04d.png wave.mp4

JSON keys: n, scheme, form, precision, device, shape, initial, mode, c, steps,
dt, end_time, courant, courant_limit, steps_per_pass, energy, energy_drift,
error_max, implicit, points_per_second, seconds_setup, seconds_solve,
peak_device_bytes, pictures. energy_drift is the largest change of the energy
relative to its start over the frames; error_max is null but for --initial mode;
implicit holds stop, cycles, relative_residual, and is null for explicit;
points_per_second counts points times steps over seconds_solve, which excludes
set-up, energies and pictures.

Examples:
  clinalg wave                                 500 steps at 1025 x 1025 points
  clinalg wave --n 513 --end-time 2 --initial gauss --plot frames --frames 60
  clinalg wave --n 257 --scheme implicit --courant 4
  clinalg wave --n 129 --form reference        in plain Rust, without OpenCL

The exit code is 1 when the implicit scheme met no solution, else 0.")]
pub(crate) struct Args {
    /// Points a side, boundary included; 2^k + 1 for the implicit scheme
    #[arg(long, default_value_t = 1025, value_parser = args::points, allow_hyphen_values = true)]
    n: usize,
    /// Number of time steps [default: 500]
    #[arg(long, value_name = "COUNT", value_parser = args::positive, conflicts_with = "end_time", allow_hyphen_values = true)]
    steps: Option<usize>,
    /// Time to reach instead; the last step may pass it by a part of a step
    #[arg(long, value_name = "T", value_parser = args::above_zero, allow_hyphen_values = true)]
    end_time: Option<f64>,
    /// Courant number c dt / h [default: 0.7 explicit, 2 implicit]
    #[arg(long, value_parser = args::above_zero, conflicts_with = "dt", allow_hyphen_values = true)]
    courant: Option<f64>,
    /// Time step
    #[arg(long, value_parser = args::above_zero, allow_hyphen_values = true)]
    dt: Option<f64>,
    /// Speed of the waves, sides of the square per unit of time
    #[arg(long, default_value_t = 1.0, value_parser = args::above_zero, allow_hyphen_values = true)]
    c: f64,
    /// How time is stepped through
    #[arg(long, value_enum, default_value_t = SchemeArg::Explicit)]
    scheme: SchemeArg,
    /// What the steps are made of
    #[arg(long, value_enum, default_value_t = FormArg::Kernels)]
    form: FormArg,
    /// Displacement at time 0
    #[arg(long, value_enum, default_value_t = Initial::Mode)]
    initial: Initial,
    /// Half waves of --initial mode along x and y
    #[arg(long, value_name = "K,L", default_value = "2,1", value_parser = mode, allow_hyphen_values = true)]
    mode: Mode,
    /// Precision of all that is computed
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// Most explicit steps in one pass over memory, 1 to 8; the result has the same bits
    #[arg(long, default_value_t = 8, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    steps_per_pass: usize,
    /// Relative residual of each implicit step [default: 1e-10 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance_or_zero, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// Draw frames into a folder, or into files named after FILE (.png or .svg)
    #[arg(long, value_name = "DIR|FILE")]
    plot: Option<PathBuf>,
    /// Number of frames from time 0 to the end; the energy is looked at as often
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Initial {
    /// A standing wave, see --mode
    Mode,
    /// A bump that runs out in a ring
    Gauss,
    /// A tent
    Pluck,
}

/// Half waves along x and y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Mode(u32, u32);

fn mode(text: &str) -> Result<Mode, String> {
    let part = |text: &str| text.trim().parse::<u32>().ok().filter(|k| (1..=1000).contains(k));
    text.split_once(',')
        .and_then(|(k, l)| Some(Mode(part(k)?, part(l)?)))
        .ok_or_else(|| "expected two whole numbers from 1 to 1000, such as 2,1".into())
}

#[derive(Serialize)]
struct Document {
    n: usize,
    scheme: Scheme,
    form: Form,
    precision: Precision,
    device: Option<DeviceName>,
    shape: Option<Shape>,
    initial: Initial,
    mode: Option<Mode>,
    c: f64,
    steps: u64,
    dt: f64,
    end_time: f64,
    courant: f64,
    courant_limit: Option<f64>,
    steps_per_pass: Option<usize>,
    energy: f64,
    energy_drift: f64,
    error_max: Option<f64>,
    implicit: Option<ImplicitReport>,
    points_per_second: f64,
    seconds_setup: f64,
    seconds_solve: f64,
    peak_device_bytes: u64,
    pictures: Vec<String>,
}

pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => solve::<f32>(args, global, out),
        PrecisionArg::F64 => solve::<f64>(args, global, out),
    }
}

impl Args {
    fn params(&self) -> WaveParams {
        let (scheme, courant) = match self.scheme {
            SchemeArg::Explicit => (Scheme::Explicit, 0.7),
            SchemeArg::Implicit => (Scheme::Implicit, 2.0),
        };
        let form = self.form.into();
        let tolerance = match self.precision {
            PrecisionArg::F32 => 1e-5,
            PrecisionArg::F64 => 1e-10,
        };
        let params = WaveParams {
            n: self.n,
            form,
            scheme,
            c: self.c,
            steps_per_pass: self.steps_per_pass,
            tolerance: self.tol.unwrap_or(tolerance),
            ..WaveParams::default()
        };
        WaveParams { dt: self.dt.unwrap_or_else(|| params.dt_of(self.courant.unwrap_or(courant))), ..params }
    }

    /// Time steps to make.
    fn count(&self, dt: f64) -> Result<usize, Failure> {
        let Some(end) = self.end_time else { return Ok(self.steps.unwrap_or(500)) };
        // A quotient that rounding put just above a whole number needs no step more.
        let count = (end / dt * (1.0 - 1e-12)).ceil();
        if count > 1e15 {
            return Err(Failure::usage(format!("--end-time {end:?} takes {count:e} steps of {dt:e}")));
        }
        Ok(count.max(1.0) as usize)
    }

    fn displacement<T: Real>(&self) -> Result<Vec<T>, Failure> {
        let n = self.n;
        let mut u = crate::poisson::grid::<T>(n, 2)?;
        let last = (n - 1) as f64;
        let profile: Box<dyn Fn(f64, f64) -> f64> = match self.initial {
            Initial::Mode => {
                let Mode(k, l) = self.mode;
                Box::new(move |x, y| (f64::from(k) * PI * x).sin() * (f64::from(l) * PI * y).sin())
            }
            Initial::Gauss => Box::new(|x, y| (-((x - 0.3).powi(2) + (y - 0.4).powi(2)) / 0.005).exp()),
            Initial::Pluck => Box::new(|x, y| (x / 0.3).min((1.0 - x) / 0.7).min((y / 0.4).min((1.0 - y) / 0.6))),
        };
        for (j, row) in u.chunks_mut(n).enumerate().skip(1).take(n - 2) {
            for (i, value) in row.iter_mut().enumerate().skip(1).take(n - 2) {
                *value = T::of(profile(i as f64 / last, j as f64 / last));
            }
        }
        Ok(u)
    }
}

/// Steps that are enqueued before they are waited for and the bar moves on.
const STRIDE: usize = 128;

fn solve<T: Real>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let pictures = args.plot.as_deref().map(|path| Frames::new(path, "wave", args.frames)).transpose()?;
    let params = args.params();
    let steps = args.count(params.dt)?;
    let context = match params.form {
        Form::Reference => None,
        Form::Kernels | Form::Matrix => Some(global.context(false)?),
    };
    let progress = Steps::new(out, steps as u64);
    progress.stage("setting up");
    let start = Instant::now();
    let mut wave = match &context {
        Some(context) => Wave::<T>::new(context, &params)?,
        None => Wave::<T>::reference(&params)?,
    };
    let mut u = args.displacement::<T>()?;
    let begun = wave.start(&u, None)?;
    let energy = wave.energy()?.total();
    let setup = start.elapsed();
    let mut document = Document {
        n: args.n,
        scheme: params.scheme,
        form: params.form,
        precision: T::PRECISION,
        device: context.as_ref().map(|c| c.device().into()),
        shape: context.as_ref().map(Context::shape),
        initial: args.initial,
        mode: (args.initial == Initial::Mode).then_some(args.mode),
        c: params.c,
        steps: 0,
        dt: params.dt,
        end_time: 0.0,
        courant: params.courant(),
        courant_limit: (params.scheme == Scheme::Explicit).then_some(WaveParams::COURANT_LIMIT),
        steps_per_pass: (params.scheme == Scheme::Explicit && params.form == Form::Kernels)
            .then_some(params.steps_per_pass),
        energy,
        energy_drift: 0.0,
        error_max: None,
        implicit: begun.implicit,
        points_per_second: 0.0,
        seconds_setup: setup.as_secs_f64(),
        seconds_solve: 0.0,
        peak_device_bytes: 0,
        pictures: Vec::new(),
    };
    let range = Range::new(args.initial, &u);
    if let Some(frames) = &pictures {
        document.draw(frames, 0, 0.0, &u, range)?;
    }
    let mut solving = Duration::ZERO;
    for frame in 1..args.frames {
        let until = steps * frame / (args.frames - 1);
        let start = Instant::now();
        while wave.steps() < until as u64 && document.went_well() {
            let report = wave.step(STRIDE.min(until - wave.steps() as usize))?;
            document.add(report.implicit);
            if let Some(context) = &context {
                context.finish()?;
            }
            progress.reached(wave.steps());
        }
        solving += start.elapsed();
        let drift = (wave.energy()?.total() - energy).abs() / energy;
        document.energy_drift = if drift.is_nan() { drift } else { drift.max(document.energy_drift) };
        if let Some(frames) = &pictures {
            wave.displacement(&mut u)?;
            document.draw(frames, frame, wave.time(), &u, range)?;
        }
    }
    drop(progress);
    document.steps = wave.steps();
    document.end_time = wave.time();
    document.seconds_solve = solving.as_secs_f64();
    document.points_per_second = (args.n * args.n) as f64 * wave.steps() as f64 / solving.as_secs_f64();
    document.peak_device_bytes = context.as_ref().map_or(0, |c| c.memory().peak_bytes);
    if let Some(Mode(k, l)) = document.mode {
        wave.displacement(&mut u)?;
        let frequency = params.c * PI * f64::from(k).hypot(f64::from(l));
        let factor = (frequency * wave.time()).cos();
        let exact = args.displacement::<f64>()?;
        document.error_max = Some(error_max(&u, &exact, factor));
    }
    document.print(out)?;
    out.json(&document)?;
    Ok(if document.went_well() { Exit::Done } else { Exit::NotReached })
}

/// The largest difference from `factor * shape` at a point; NaN if a value is NaN.
fn error_max<T: Real>(u: &[T], shape: &[f64], factor: f64) -> f64 {
    u.iter().zip(shape).fold(0.0, |most: f64, (u, shape)| {
        let error = (u.wide() - factor * shape).abs();
        if error > most || error.is_nan() { error } else { most }
    })
}

/// What the colours of all frames reach to on both sides of 0.
#[derive(Debug, Clone, Copy)]
struct Range(f64);

impl Range {
    /// From the first frame; a bump that runs out is soon lower.
    fn new<T: Real>(initial: Initial, u: &[T]) -> Range {
        let most = u.iter().map(|v| v.wide().abs()).filter(|v| v.is_finite()).fold(0.0, f64::max);
        let part = if initial == Initial::Gauss { 0.3 } else { 1.0 };
        Range(if most > 0.0 { part * most } else { 1.0 })
    }
}

impl Document {
    fn went_well(&self) -> bool {
        self.implicit.is_none_or(|implicit| implicit.stop.is_success())
    }

    /// Adds the solutions of some steps.
    fn add(&mut self, implicit: Option<ImplicitReport>) {
        if let (Some(all), Some(these)) = (&mut self.implicit, implicit) {
            all.stop = these.stop;
            all.cycles += these.cycles;
            all.relative_residual = all.relative_residual.max(these.relative_residual);
        }
    }

    fn precision(&self) -> &'static str {
        match self.precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }

    fn scheme(&self) -> &'static str {
        match self.scheme {
            Scheme::Explicit => "leapfrog",
            Scheme::Implicit => "Newmark with beta = 1/4, by multigrid",
        }
    }

    fn draw<T: Real>(
        &mut self,
        frames: &Frames,
        frame: usize,
        time: f64,
        u: &[T],
        Range(most): Range,
    ) -> Result<(), Failure> {
        let n = self.n;
        let device = self.device.as_ref().map_or("plain Rust", DeviceName::name);
        let values: Vec<f64> = u.iter().map(|v| v.wide()).collect();
        let picture = frames.picture(frame)?;
        picture.field(&Field {
            title: format!("Wave equation, {n} × {n} points, t = {time:.4}"),
            subtitle: format!("c = {}, dt = {:.3e} · {} · {device}", self.c, self.dt, self.precision()),
            label: "u",
            n,
            values: &values,
            range: Some((-most, most)),
        })?;
        self.pictures.push(picture.path().display().to_string());
        Ok(())
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let n = self.n;
        out.line(format!("Wave equation u_tt = c^2 Laplace u, {n} x {n} points, {}", self.precision()))?;
        out.line("")?;
        let shape = match self.shape {
            Some(Shape::Cpu) => ", kernels for cpu",
            Some(Shape::Gpu) => ", kernels for gpu",
            None => "",
        };
        let device = self.device.as_ref().map_or("none, plain Rust".into(), |d| format!("{d}{shape}"));
        let form = match self.form {
            Form::Kernels => "kernels for this stencil",
            Form::Matrix => "sparse matrices and vectors",
            Form::Reference => "plain Rust",
        };
        let initial = match (self.initial, self.mode) {
            (Initial::Mode, Some(Mode(k, l))) => {
                let times = |k: u32| if k == 1 { String::new() } else { format!("{k} ") };
                format!("sin({}pi x) sin({}pi y)", times(k), times(l))
            }
            (Initial::Gauss, _) => "exp(-r^2 / 0.005) around (0.3, 0.4)".to_owned(),
            _ => "drawn out to 1 at (0.3, 0.4)".to_owned(),
        };
        let passes = self.steps_per_pass.map_or(String::new(), |most| match most {
            1 => ", one step a pass".to_owned(),
            most => format!(", up to {most} steps a pass"),
        });
        out.field("device", device)?;
        out.field("start", format!("u = {initial}, at rest"))?;
        out.field("method", format!("{}; {form}{passes}", self.scheme()))?;
        let limit = self.courant_limit.map_or(String::new(), |limit| format!(", stable to {limit:.4}"));
        out.field("time step", format!("{:.6e}, Courant number {:.4}{limit}", self.dt, self.courant))?;
        out.field("steps", format!("{}, to t = {:.6}", self.steps, self.end_time))?;
        if let Some(implicit) = &self.implicit {
            let per_step = implicit.cycles as f64 / self.steps.max(1) as f64;
            out.field(
                "equations",
                format!(
                    "{}; {per_step:.1} cycles a step, relative residuals up to {:.1e}",
                    implicit.stop, implicit.relative_residual
                ),
            )?;
        }
        out.line("")?;
        out.field("energy", format!("{:.6e}, drifted by {:.1e} of it at most", self.energy, self.energy_drift))?;
        if let Some(error) = self.error_max {
            out.field("error", format!("{error:.4e} at most, against the exact standing wave"))?;
        }
        let time = format!("set-up {}, steps {}", seconds(self.seconds_setup), seconds(self.seconds_solve));
        out.field("time", format!("{time}: {:.3e} points a second", self.points_per_second))?;
        if self.device.is_some() {
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        if let (Some(first), Some(last)) = (self.pictures.first(), self.pictures.last()) {
            out.field("pictures", format!("{first} to {last}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_two_counts() {
        assert_eq!(mode("2,1"), Ok(Mode(2, 1)));
        assert_eq!(mode(" 3 , 7 "), Ok(Mode(3, 7)));
        for text in ["", "2", "0,1", "1,-1", "1,2,3", "a,b", "1001,1"] {
            assert!(mode(text).is_err(), "{text}");
        }
    }
}
