//! Times of the heat operators on the cube of the ladder:
//! `operators LEVEL [f32|f64] [otf|assembled|all|reference] [1 to 5|all] [V|K|Ks|D|all] [direct]`, the last without instructions for
//! small matrices.
//!
//! Level q has 24 * 2^q triangles and 2^q time steps. Products are timed from the call until the device has finished, the
//! median of five after one that is not counted (two where one takes over 0.3 s). Evaluations are pairs of quadrature points times
//! blocks: what the published algorithms compute. Operations are those that `HeatOperator::flops` counts, over evaluations, and
//! over time as a share of the rate of multiply-adds measured before. With several algorithms, the difference of each from the last
//! one is printed.
//! `reference` times the plain Rust loops over pairs of points on all threads of the CPU, once.

use std::time::Instant;

use clinalg::solve::Operator;
use clinalg::{Context, ContextOptions, Device, Real, Vector};
use clinalg_bem::Mesh;
use clinalg_bem::heat::reference::Reference;
use clinalg_bem::heat::{Algorithm, Form, HeatParams, HeatSpace, Kind, OperatorOptions, multiply_add_rate};

fn main() -> clinalg::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |k: usize| words.get(k).map(String::as_str);
    let level: usize = word(0).and_then(|w| w.parse().ok()).unwrap_or(3);
    let forms: &[Form] = match word(2) {
        Some("otf") => &[Form::Otf],
        Some("assembled") => &[Form::Assembled],
        _ => &[Form::Otf, Form::Assembled],
    };
    let algorithms = match word(3) {
        Some("all") => Algorithm::ALL.to_vec(),
        Some(number) => vec![number.parse()?],
        None => vec![Algorithm::default()],
    };
    let kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| word(4).is_none_or(|w| w == "all" || w == format!("{kind:?}"))).collect();
    if word(2) == Some("reference") {
        return kinds.iter().try_for_each(|kind| reference(level, *kind));
    }
    let tensor = word(5) != Some("direct");
    let device = Device::default_device()?;
    println!("{}", device.info().name);
    for form in forms {
        for kind in &kinds {
            match word(1) {
                Some("f32") => run::<f32>(&device, level, *form, *kind, &algorithms, tensor)?,
                _ => run::<f64>(&device, level, *form, *kind, &algorithms, tensor)?,
            }
        }
    }
    Ok(())
}

/// Mesh and time steps of a level.
fn rung(level: usize) -> clinalg::Result<(Mesh, HeatParams)> {
    let cube = if level.is_multiple_of(2) { Mesh::cube24() } else { Mesh::cube12() };
    Ok((cube.refined_times(level.div_ceil(2))?, HeatParams::new(0.5, 1.0, 1 << level)))
}

/// Value k of x.
fn value(k: usize) -> f64 {
    ((k * 7919) % 1009) as f64 / 504.5 - 1.0
}

fn reference(level: usize, kind: Kind) -> clinalg::Result<()> {
    let (mesh, params) = rung(level)?;
    let x: Vec<f64> = (0..kind.cols(&mesh) * params.steps).map(value).collect();
    let operator = Reference::new(&mesh, &params)?;
    let start = Instant::now();
    operator.apply(kind, &x)?;
    println!("{kind:?} level {level} plain Rust loops: product {:.3} ms", 1e3 * start.elapsed().as_secs_f64());
    Ok(())
}

fn run<T: Real>(
    device: &Device,
    level: usize,
    form: Form,
    kind: Kind,
    algorithms: &[Algorithm],
    tensor: bool,
) -> clinalg::Result<()> {
    let context = Context::new(device, &ContextOptions { profiling: true, ..ContextOptions::default() })?;
    let (mesh, params) = rung(level)?;
    let space = HeatSpace::<T>::new(&context, &mesh, &params)?;
    let rate = multiply_add_rate::<T>(&context)?;
    let mut last: Option<Vec<T>> = None;
    for &algorithm in algorithms.iter().rev() {
        let start = Instant::now();
        let operator =
            space.operator(kind, &OperatorOptions { form, algorithm, tensor, ..OperatorOptions::default() })?;
        context.finish()?;
        let setup = start.elapsed().as_secs_f64();
        let values: Vec<T> = (0..operator.cols()).map(|k| T::from_f64(value(k))).collect();
        let x = Vector::from_slice(&context, &values)?;
        let mut y = Vector::zeros(&context, operator.rows())?;
        let mut product = || -> clinalg::Result<f64> {
            let start = Instant::now();
            operator.apply(T::one(), &x, T::zero(), &mut y)?;
            context.finish()?;
            Ok(start.elapsed().as_secs_f64())
        };
        let repetitions = if product()? > 0.3 { 2 } else { 5 };
        context.reset_timings();
        let mut times = (0..repetitions).map(|_| product()).collect::<clinalg::Result<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        let time = times[(repetitions - 1) / 2];
        println!(
            "{kind:?} level {level} {form:?} algorithm {algorithm} {}: set-up {setup:.3} s, product {:.3} ms, {:.2e} evaluations/s{}{}",
            T::PRECISION,
            1e3 * time,
            operator.evaluations() / time,
            if algorithm == Algorithm::Moments { ", " } else { "" },
            operator.plan_description()
        );
        let flops = operator.flops()?;
        println!(
            "    {:.1} operations per evaluation, {:.1} GFLOP/s, {:.0} % of {:.1} GFLOP/s",
            flops / operator.evaluations(),
            1e-9 * flops / time,
            100.0 * flops / time / rate,
            1e-9 * rate
        );
        for timing in context.timings()? {
            println!("    {:<28} {:>9.3} ms", timing.kernel, 1e3 * timing.seconds / repetitions as f64);
        }
        let got = y.to_vec()?;
        if let Some(want) = &last {
            let norm = |v: &mut dyn Iterator<Item = T>| v.map(|v| v.into_f64().powi(2)).sum::<f64>().sqrt();
            let error = norm(&mut got.iter().zip(want).map(|(&a, &b)| a - b)) / norm(&mut want.iter().copied());
            println!("    differs by {error:.1e} from algorithm {}", algorithms[algorithms.len() - 1]);
        } else {
            last = Some(got);
        }
    }
    Ok(())
}
