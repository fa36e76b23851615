//! The variants of a method's kernels beside each other: median time of a step, share of copy bandwidth by the word model,
//! bits compared with the basic variant. One JSON object a line.
//!
//! `cargo run --release -p clinalg-ode --example variants -- [key=value]...` with the keys `problem` (bruss2d, heat2d),
//! `columns` and `rows` of the grid, `methods` and `variants` (names with commas between), `steps` (numbers of steps at
//! once), `tiles` (`auto`, or stage groups:items:points:rows), `repeats`, `profile` (1 for
//! the time of each kernel), `compare` (1 for all candidates in turn, as `clinalg ode --compare` times them, in place of one
//! after the other: for machines that others use). Tiled variants run with each of `steps` and `tiles`.

use std::collections::HashMap;
use std::error::Error;
use std::time::Instant;

use clinalg::runtime::Device;
use clinalg::{Context, ContextOptions, Vector, ops};
use clinalg_ode::integrate::{Norm, Stepper, Tolerance};
use clinalg_ode::survey::{Measured, survey};
use clinalg_ode::{DeviceOptions, DeviceStepper, Grid, Layout, Method, System, Tile, Variant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Median seconds of `count` runs after two for warming up.
fn median(count: usize, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for k in 0..count + 2 {
        let start = Instant::now();
        run()?;
        if k >= 2 {
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[count / 2])
}

/// The Brusselator or the heat equation on `nx` by `ny` points, mirrored at the boundary, with a stable step size.
fn system(problem: &str, nx: usize, ny: usize) -> Result<(System, f64)> {
    let laplace = |f: &str| format!("{f}[-1,0] + {f}[1,0] + {f}[0,-1] + {f}[0,1] - 4*{f}");
    let base = System::builder(Grid::unit(&[nx, ny])).layout(Layout::Interleaved);
    match problem {
        "bruss2d" => {
            let system = base
                .parameter("diffusion", 0.5)
                .field("u", format!("1 + u*u*v - 4.4*u + diffusion*({})", laplace("u")))
                .field("v", format!("3.4*u - u*u*v + diffusion*({})", laplace("v")));
            Ok((system.build()?, 0.02))
        }
        "heat2d" => {
            Ok((base.parameter("diffusion", 0.5).field("u", format!("diffusion*({})", laplace("u"))).build()?, 0.1))
        }
        _ => Err(format!("problem {problem}, expected bruss2d or heat2d").into()),
    }
}

fn main() -> Result<()> {
    let given: HashMap<String, String> = std::env::args()
        .skip(1)
        .map(|text| {
            text.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).ok_or(format!("`{text}`: key=value"))
        })
        .collect::<std::result::Result<_, _>>()?;
    let get = |key: &str, rest: &str| given.get(key).cloned().unwrap_or_else(|| rest.to_owned());
    let (nx, ny, repeats): (usize, usize, usize) =
        (get("columns", "512").parse()?, get("rows", "512").parse()?, get("repeats", "20").parse()?);
    let name = get("problem", "bruss2d");
    let (system, h) = system(&name, nx, ny)?;
    let profile = get("profile", "0") == "1";
    let context = match profile {
        true => {
            Context::new(&Device::default_device()?, &ContextOptions { profiling: true, ..ContextOptions::default() })?
        }
        false => Context::global()?,
    };
    let components = system.components();
    let y0 = system.sample(|f, [x, y, _]| 1.0 + 2.0 * f as f64 + 0.5 * (7.0 * x + 3.0 * y).sin());
    let source = Vector::from_slice(&context, &y0)?;
    let mut target = Vector::<f64>::zeros(&context, components)?;
    let copy = median(repeats, || {
        ops::copy(&source, &mut target)?;
        Ok(context.finish()?)
    })?;
    drop((source, target));
    let bandwidth = 16.0 * components as f64 / copy;
    println!(
        "{{\"device\":\"{}\",\"driver\":\"{}\",\"problem\":\"{name}\",\"columns\":{nx},\"rows\":{ny},\"components\":{components},\"access_distance\":{},\"copy_gbytes_per_second\":{:.1}}}",
        context.device().name,
        context.device().driver,
        system.access_distance(),
        bandwidth * 1e-9
    );
    let list = |key: &str, rest: &str| get(key, rest).split(',').map(str::to_owned).collect::<Vec<_>>();
    for method in list("methods", "rk4,bs32,dopri54,verner65,dopri87,pirk-radau-iia-7,peer4,ab4") {
        let method = Method::named(&method)?;
        if get("compare", "0") == "1" {
            let found = survey::<f64>(&context, &method, &system, &DeviceOptions::default(), [7, 6])?;
            let seconds = |m: &Measured| m.seconds;
            let basic = found.measured.iter().find(|m| m.options.variant == Variant::Basic).map_or(f64::NAN, seconds);
            for (k, m) in found.measured.iter().enumerate() {
                let points = m.options.tile.map_or(0, |t| t.points);
                let stage_groups = m.options.tile.map_or(0, |t| t.stage_groups);
                println!(
                    "{{\"method\":\"{}\",\"variant\":\"{}\",\"links\":{stage_groups},\"points\":{points},\"words\":{:.2},\"seconds\":{:.6e},\"expected\":{:.6e},\"share_of_copy\":{:.3},\"over_basic\":{:.3},\"tried\":{}}}",
                    method.name(),
                    m.options.variant.name(),
                    m.words,
                    m.seconds,
                    m.expected,
                    m.words * 8.0 * components as f64 / m.seconds / found.copy,
                    basic / m.seconds,
                    k == found.tried
                );
            }
            println!(
                "{{\"method\":\"{}\",\"copy_gbytes_per_second\":{:.1},\"model_over_best\":{:.3},\"trial_over_best\":{:.3}}}",
                method.name(),
                found.copy * 1e-9,
                found.model_over_best(),
                found.trial_over_best()
            );
            continue;
        }
        let mut known: Option<(u64, f64)> = None;
        for variant in list("variants", "basic,fused") {
            let variant = Variant::named(&variant)?;
            let tiled = !matches!(variant, Variant::Auto | Variant::Basic | Variant::Fused);
            for (steps, tile) in (list("steps", "1").iter())
                .flat_map(|s| list("tiles", "auto").into_iter().map(|t| (s.clone(), t)).collect::<Vec<_>>())
                .take(if tiled { usize::MAX } else { 1 })
            {
                let steps: usize = if tiled { steps.parse()? } else { 1 };
                let numbers: Vec<usize> = tile.split(':').filter_map(|n| n.parse().ok()).collect();
                let sizes = match numbers[..] {
                    [stage_groups, items, points, rows] if tiled => Some(Tile { stage_groups, items, points, rows }),
                    _ => None,
                };
                let options = DeviceOptions { variant, steps, tile: sizes };
                if profile {
                    context.reset_timings();
                }
                match measure(&context, &method, &system, &options, &y0, h, repeats) {
                    Ok((words, seconds, bits)) => {
                        let (basic_bits, basic) = *known.get_or_insert((bits, seconds));
                        println!(
                            "{{\"method\":\"{}\",\"variant\":\"{}\",\"steps\":{steps},\"tile\":\"{tile}\",\"words\":{words:.2},\"seconds\":{seconds:.6e},\"component_steps_per_second\":{:.4e},\"share_of_copy\":{:.3},\"over_first\":{:.3},\"same_bits\":{}}}",
                            method.name(),
                            variant.name(),
                            components as f64 / seconds,
                            words * 8.0 * components as f64 / seconds / bandwidth,
                            basic / seconds,
                            bits == basic_bits
                        );
                        if profile {
                            for one in context.timings()? {
                                let seconds = one.seconds / one.launches as f64;
                                println!("{{\"kernel\":\"{}\",\"seconds\":{seconds:.4e}}}", one.kernel);
                            }
                        }
                    }
                    Err(error) => println!(
                        "{{\"method\":\"{}\",\"variant\":\"{}\",\"steps\":{steps},\"tile\":\"{tile}\",\"error\":{:?}}}",
                        method.name(),
                        variant.name(),
                        error.to_string()
                    ),
                }
            }
        }
    }
    Ok(())
}

/// Words and median seconds of a step, and the hash of the solution after 48.
fn measure(
    context: &Context,
    method: &Method,
    system: &System,
    options: &DeviceOptions,
    y0: &[f64],
    h: f64,
    repeats: usize,
) -> Result<(f64, f64, u64)> {
    let tolerance = Tolerance { relative: 1e-6, absolute: 1e-6, norm: Norm::Rms };
    let mut stepper = DeviceStepper::<f64>::with(context, method, system, options)?;
    // Times do not depend on the values; the same vector starts every input.
    stepper.set(&vec![y0.to_vec(); method.inputs().len()])?;
    let times = [0.0; 48];
    stepper.advance(&times, h)?;
    let mix = |hash: u64, v: &f64| (hash.rotate_left(5) ^ v.to_bits()).wrapping_mul(0x517c_c1b7_2722_0a95);
    let bits = stepper.solution()?.iter().fold(0, mix);
    let times = &times[..options.steps];
    let seconds = median(repeats, || {
        match options.steps {
            1 => stepper.trial(0.0, h, &tolerance).map(|_| ())?,
            _ => stepper.advance(times, h)?,
        }
        Ok(context.finish()?)
    })?;
    Ok((stepper.words(), seconds / options.steps as f64, bits))
}
