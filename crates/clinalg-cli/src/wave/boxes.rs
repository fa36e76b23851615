//! `clinalg wave --points`: boxes of any size.

use std::f64::consts::PI;
use std::time::Instant;

use clinalg::multigrid::{Backend, End};
use clinalg::wave::{BoxWave, BoxWaveParams, WaveSide};
use clinalg::{Context, Real};
use schemars::JsonSchema;
use serde::Serialize;

use super::course::{Begun, Course};
use super::journey::{Journey, Start};
use super::report::Range;
use super::{Args, Mode, SchemeArg, given};
use crate::Global;
use crate::args::boxes::{self, ENDS, Each, Sides};
use crate::checkpoint::{self, Fingerprint};
use crate::data::{Given, Lattice, Target, Values};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{Output, norm};
use crate::place::{Place, check_memory, device_words};
use crate::plot::{Field, Frames};
use crate::progress::Steps;
use crate::series::Series;

/// Part of the stability limit that a time step is by default.
const PART: f64 = 0.99;

/// `x=absorbing,y0=free`.
pub(super) fn sides(text: &str) -> Result<Sides<WaveSide>, String> {
    let names = ["fixed", "free", "absorbing", "periodic"];
    let all = [WaveSide::Fixed, WaveSide::Free, WaveSide::Absorbing, WaveSide::Periodic];
    Sides::parse(text, "fixed, free, absorbing or periodic", |word| {
        names.iter().position(|name| *name == word).map(|k| all[k])
    })
}

fn side_words(side: WaveSide) -> &'static str {
    match side {
        WaveSide::Free => "free",
        WaveSide::Absorbing => "absorbing",
        WaveSide::Periodic => "periodic",
        _ => "fixed",
    }
}

/// The report.
#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    points: Vec<usize>,
    size: Vec<f64>,
    sides: Vec<String>,
    sponge: Option<f64>,
    dt_limit: f64,
    #[serde(flatten)]
    journey: Journey,
}

/// A box as the options describe it.
struct Shape {
    points: Vec<usize>,
    size: Vec<f64>,
    sides: Vec<[WaveSide; 2]>,
    sponge: Option<f64>,
    lattice: Lattice,
}

impl Shape {
    fn new(args: &Args, points: &[usize]) -> Result<Shape, Failure> {
        let dim = points.len();
        boxes::check_count("--size", args.size.as_ref(), dim)?;
        let size = args.size.as_ref().map_or(vec![1.0; dim], |size| size.0.clone());
        let mut sides = vec![[WaveSide::Fixed; 2]; dim];
        if let Some(given) = &args.sides {
            given.apply(dim, |axis, end, side| sides[axis][usize::from(end == End::High)] = side)?;
        }
        let periodic: Vec<bool> = sides.iter().map(|ends| ends.contains(&WaveSide::Periodic)).collect();
        let lattice = Lattice::with_ends(points, &size, &periodic);
        let shape = Shape { points: points.to_vec(), size, sides, sponge: args.sponge, lattice };
        // A time step that is not known yet stands for any.
        shape.params(1.0).limit(1.0)?;
        Ok(shape)
    }

    fn dim(&self) -> usize {
        self.points.len()
    }

    fn params(&self, dt: f64) -> BoxWaveParams {
        let params = BoxWaveParams::new(&self.points, dt).size(&self.size).sides(&self.sides);
        self.sponge.into_iter().fold(params, BoxWaveParams::sponge)
    }

    fn absorbs(&self) -> bool {
        self.sides.iter().flatten().any(|side| *side == WaveSide::Absorbing)
    }

    /// Whether u is held at a point with these indices.
    fn held(&self, at: &[usize]) -> bool {
        at.iter().zip(&self.points).zip(&self.sides).any(|((i, n), ends)| {
            (*i == 0 && ends[0] == WaveSide::Fixed) || (i + 1 == *n && ends[1] == WaveSide::Fixed)
        })
    }

    /// Values of `profile` where u is not held, 0 elsewhere; `profile` gets the indices.
    fn sample<T: Real>(&self, profile: impl Fn(&[usize]) -> f64) -> Vec<T> {
        let mut at = vec![0; self.dim()];
        let value = |k: usize| {
            let mut rest = k;
            for (i, n) in at.iter_mut().zip(&self.points) {
                *i = rest % n;
                rest /= n;
            }
            T::from_f64(if self.held(&at) { 0.0 } else { profile(&at) })
        };
        (0..self.lattice.len()).map(value).collect()
    }

    /// The standing wave with these counts of half waves: by direction whether it is a sine, and its wave number.
    fn standing(&self, Mode(counts): &Mode) -> Result<Vec<(bool, f64)>, Failure> {
        use WaveSide::{Absorbing, Fixed, Free, Periodic};
        let along = |axis: usize| {
            let count = f64::from(counts[axis]);
            let (sine, halves) = match self.sides[axis] {
                [Absorbing, _] | [_, Absorbing] => {
                    let words = "--initial mode is for boxes without absorbing sides, which have no standing waves; give --initial gauss or a formula";
                    return Err(Failure::usage(words));
                }
                [Fixed, Fixed] => (true, count),
                [Fixed, _] => (true, count - 0.5),
                [_, Fixed] => (false, count - 0.5),
                [Free, _] => (false, count),
                [Periodic, _] => (true, 2.0 * count),
                _ => (true, count),
            };
            Ok((sine, halves * PI / self.size[axis]))
        };
        (0..self.dim()).map(along).collect()
    }

    /// The displacement at the start, and for a standing wave the square of its wave number.
    fn displacement<T: Real>(&self, initial: &str, mode: &Mode) -> Result<(Vec<T>, Option<f64>), Failure> {
        let axes: Vec<Vec<f64>> = (0..self.dim()).map(|axis| self.lattice.coordinates(axis)).collect();
        let centre = |axis: usize| [0.3, 0.4, 0.5][axis];
        Ok(match initial {
            "mode" => {
                let factors = self.standing(mode)?;
                let along = |((sine, k), x): (&(bool, f64), &Vec<f64>)| -> Vec<f64> {
                    x.iter().map(|x| if *sine { (k * x).sin() } else { (k * x).cos() }).collect()
                };
                let tables: Vec<Vec<f64>> = factors.iter().zip(&axes).map(along).collect();
                let square = factors.iter().map(|(_, k)| k * k).sum();
                (self.sample(|at| tables.iter().zip(at).map(|(table, i)| table[*i]).product()), Some(square))
            }
            "gauss" => {
                let shortest = self.size.iter().copied().fold(f64::INFINITY, f64::min);
                let square =
                    |(axis, i): (usize, &usize)| ((axes[axis][*i] - centre(axis) * self.size[axis]) / shortest).powi(2);
                (self.sample(|at| (-at.iter().enumerate().map(square).sum::<f64>() / 0.005).exp()), None)
            }
            "pluck" => {
                let height = |(axis, i): (usize, &usize)| {
                    let part = axes[axis][*i] / self.size[axis];
                    (part / centre(axis)).min((1.0 - part) / (1.0 - centre(axis)))
                };
                (self.sample(|at| at.iter().enumerate().map(height).fold(1.0, f64::min)), None)
            }
            text => (Given::new("--initial", text, self.dim())?.at_points(&self.lattice, |_| true)?, None),
        })
    }
}

pub(super) fn run(args: &Args, points: &Each<usize>, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    if args.scheme == SchemeArg::Implicit {
        return Err(Failure::usage("--scheme implicit is for the square: leave out --points, or use explicit"));
    }
    match args.precision {
        crate::args::PrecisionArg::F32 => solve::<f32>(args, &points.0, global, out),
        crate::args::PrecisionArg::F64 => solve::<f64>(args, &points.0, global, out),
    }
}

/// The device, if it can hold the grids.
fn device<'a, T: Real>(place: &'a Place, args: &Args, shape: &Shape) -> Result<&'a Context, Failure> {
    let (Place::Device(context), Backend::Kernels) = (place, args.backend.into()) else {
        return Err(Failure::usage(
            "--points runs on one device with --backend kernels; leave out --devices and any other --backend",
        ));
    };
    let names: Vec<String> = shape.points.iter().map(usize::to_string).collect();
    let one = shape.points.iter().map(|n| *n as f64).product::<f64>() * size_of::<T>() as f64;
    // u, the step before, the speed, and the force.
    let grids = if args.force.is_some() { 4.0 } else { 3.0 };
    check_memory(context, &names.join(" x "), one, grids * one)?;
    Ok(context)
}

fn solve<T: Real>(args: &Args, points: &[usize], global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let shape = Shape::new(args, points)?;
    let mode = args.mode.along(shape.dim())?;
    let default = if shape.absorbs() { "gauss" } else { "mode" };
    let initial = args.initial.clone().unwrap_or_else(|| default.into());
    let pictures = args.plot.as_deref().map(|path| Frames::new(path, "wave", args.frames)).transpose()?;
    let target = args.out.as_deref().map(|path| Target::new("--out", path)).transpose()?;
    let series = args.series.as_deref().map(|path| Series::of_field(path, &shape.lattice, "u", args.resume.is_some()));
    let mut series = series.transpose()?;
    let keep = checkpoint::Target::new(args.checkpoint.as_deref(), "wave")?;
    let loaded = args.resume.as_deref().map(checkpoint::Loaded::new).transpose()?;
    out.phase("device");
    let place = Place::new(global, args.backend.into())?;
    let context = device::<T>(&place, args, &shape)?;
    out.phase("options and files");
    let amplitude = args.amplitude()?;
    let velocity = given("--velocity", &args.velocity, &shape.lattice)?;
    let speed = given("--speed", &args.speed, &shape.lattice)?;
    let force = given("--force", &args.force, &shape.lattice)?;
    let c = args.largest_speed(speed.as_deref())?;
    let dt_limit = shape.params(1.0).limit(c)?;
    let smallest = (0..shape.dim()).map(|axis| shape.lattice.spacing(axis)).fold(f64::INFINITY, f64::min);
    let dt = args.dt.or(args.courant.map(|courant| courant * smallest / c)).unwrap_or(PART * dt_limit);
    let (dt, steps) = args.steps(dt, loaded.as_ref())?;
    interrupt::watch();
    let progress = Steps::new(out, steps as u64);
    progress.stage("setting up");
    out.phase("set-up");
    let start = Instant::now();
    let taken = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect::<Vec<T>>();
    let (speed, force, velocity) = (speed.map(taken), force.map(taken), velocity.map(taken));
    let (mut u, square) = shape.displacement::<T>(&initial, &mode)?;
    let side_names: Vec<String> = (0..shape.dim())
        .flat_map(|axis| ENDS.map(|end| (axis, end)))
        .map(|(axis, end)| {
            let side = shape.sides[axis][usize::from(end == End::High)];
            format!("{}={}", boxes::side_name(axis, end), side_words(side))
        })
        .collect();
    let options = Fingerprint::default().option("--points", points).option("--size", &shape.size);
    let options = options.option("--sides", &side_names).option("--sponge", args.sponge);
    let options = options
        .option("--precision", args.precision)
        .option("--c", c)
        .option("--dt", args.dt)
        .option("--courant", args.courant);
    let options = options.values("--initial", Some(&u));
    let options = options.values("--velocity", velocity.as_deref()).values("--speed", speed.as_deref());
    let fingerprint = options.values("--force", force.as_deref()).option("--force-time", &args.force_time);
    let same = [T::from_f64(c)];
    let mut wave = BoxWave::<T>::new(context, &shape.params(dt), speed.as_deref().unwrap_or(&same))?;
    if let Some(force) = &force {
        wave = wave.with_force(force, amplitude)?;
    }
    // A step from rest builds the kernels.
    wave.step(1)?;
    wave.start(&u, velocity.as_deref())?;
    let mut begun = Begun::new(&mut wave, loaded.as_ref(), || Ok(fingerprint.clone()))?;
    context.finish()?;
    let setup = start.elapsed();
    // The speed and the force are on the device now.
    let (varies, forced) = (speed.is_some(), force.is_some());
    drop((speed, force));
    let known = Start { initial, mode: square.map(|_| mode.clone()), c, dt, setup };
    let mut document = Document {
        points: points.to_vec(),
        size: shape.size.clone(),
        sides: side_names,
        sponge: args.sponge,
        dt_limit,
        journey: Journey::new::<T>(args, &place, known, begun, target.as_ref(), series.as_ref()),
    };
    out.phase("steps and frames");
    let first = wave.steps();
    let mut range = Range::new(&u, forced);
    let shown = pictures.is_some() || series.is_some();
    let course = Course::new(steps, args.frames, shown, &progress);
    let travelled = course.run(&mut wave, begun, None, &mut u, |frame, time, u| {
        if let Some(frames) = &pictures {
            document.draw(frames, &shape.lattice, frame, time, u, range.of(u))?;
        }
        series.iter_mut().try_for_each(|series| Ok(series.keep(time, &Values::of(u))?))
    })?;
    drop(progress);
    out.phase("output");
    begun.drift = travelled.drift;
    document.journey.end::<T>(&wave, first, u.len(), &travelled, forced);
    wave.displacement(&mut u)?;
    if let (Some(square), false, None) = (square, varies || forced, &velocity) {
        let factor = (c * square.sqrt() * wave.time()).cos();
        let (exact, _) = shape.displacement::<f64>("mode", &mode)?;
        document.journey.error_max = Some(error_max(&u, &exact, factor));
    }
    if let Some(path) = keep.due(interrupt::asked()) {
        begun.save(&path, &mut wave, dt, fingerprint)?;
        document.journey.checkpoint = Some(path.display().to_string());
    }
    document.journey.peak_device_bytes = place.peak_bytes();
    if let Some(target) = &target {
        target.write(&shape.lattice, "u", &Values::of(&u))?;
    }
    if let Some(series) = series {
        series.finish()?;
    }
    document.print(out)?;
    out.norms(|| Ok([("u", norm(&u))]))?;
    out.details(std::slice::from_ref(context))?;
    out.json(&document)?;
    Ok(if document.journey.steps >= steps as u64 { Exit::Done } else { Exit::NotReached })
}

/// The largest difference from `factor * shape` at a point; NaN if a value is NaN.
fn error_max<T: Real>(u: &[T], shape: &[f64], factor: f64) -> f64 {
    u.iter().zip(shape).fold(0.0, |most: f64, (u, shape)| {
        let error = (u.into_f64() - factor * shape).abs();
        if error > most || error.is_nan() { error } else { most }
    })
}

impl Document {
    /// One frame, of three dimensions on the plane in the middle of the last one.
    fn draw<T: Real>(
        &mut self,
        frames: &Frames,
        lattice: &Lattice,
        frame: usize,
        time: f64,
        u: &[T],
        most: f64,
    ) -> Result<(), Failure> {
        let plane = lattice.points(0) * lattice.points(1);
        let middle = lattice.points(2) / 2;
        let values: Vec<f64> = u[middle * plane..][..plane].iter().map(|v| v.into_f64()).collect();
        let across = match lattice.dim() {
            3 => format!(", plane z = {}", lattice.coordinates(2)[middle]),
            _ => String::new(),
        };
        let points = self.points.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
        let field = Field {
            title: format!("Wave equation, {points} points, t = {time:.4}{across}"),
            subtitle: self.journey.subtitle(),
            label: "u",
            columns: lattice.points(0),
            bounds: [0, 1].map(|axis| {
                let along = lattice.coordinates(axis);
                [along[0], along[along.len() - 1]]
            }),
            values: &values,
            range: Some((-most, most)),
        };
        self.journey.draw(frames, frame, &field)
    }

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let journey = &self.journey;
        let by = |words: Vec<String>| words.join(" x ");
        let points = by(self.points.iter().map(usize::to_string).collect());
        let size = by(self.size.iter().map(f64::to_string).collect());
        journey.print_title(&format!("{points} points on {size}"), out)?;
        out.field("device", device_words(journey.device.as_slice(), journey.kernel_family))?;
        let initial = match (journey.initial.as_str(), &journey.mode) {
            (_, Some(Mode(counts))) => {
                let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
                format!("a standing wave, mode {}", counts.join(","))
            }
            ("gauss", _) => "a bump exp(-r^2 / 0.005) in units of the shortest side".to_owned(),
            ("pluck", _) => "drawn out to 1 at one point".to_owned(),
            (given, _) => format!("u = {given}"),
        };
        journey.print_start(&initial, out)?;
        let sponge = self.sponge.map_or(String::new(), |width| format!("; damping layers of width {width}"));
        out.field("sides", format!("{}{sponge}", self.sides.join(", ")))?;
        out.field("method", "leapfrog; kernels for boxes")?;
        out.field("time step", format!("{:.6e}, stable to {:.6e}", journey.dt, self.dt_limit))?;
        journey.print_steps(out)?;
        out.line("")?;
        let of = if journey.energy == 0.0 { "" } else { " of that" };
        journey.print_energy(|drift| format!("it changed by at most {drift:.1e}{of}"), out)?;
        journey.print_end(out)
    }
}
