//! Times of the heat operators on the cube of the ladder: `operators LEVEL [f32|f64] [otf|assembled]`.
//!
//! Level q has 24 * 2^q triangles and 2^q time steps.

use std::time::Instant;

use clinalg::solve::Operator;
use clinalg::{Context, ContextOptions, Device, Real, Vector};
use clinalg_bem::Mesh;
use clinalg_bem::heat::{Form, HeatParams, HeatSpace, Kind, OperatorOptions};

fn main() -> clinalg::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let level: usize = words.first().and_then(|w| w.parse().ok()).unwrap_or(3);
    let forms: &[Form] = match words.get(2).map(String::as_str) {
        Some("otf") => &[Form::Otf],
        Some("assembled") => &[Form::Assembled],
        _ => &[Form::Otf, Form::Assembled],
    };
    let device = Device::default_device()?;
    println!("{}", device.info().name);
    for form in forms {
        match words.get(1).map(String::as_str) {
            Some("f32") => run::<f32>(&device, level, *form)?,
            _ => run::<f64>(&device, level, *form)?,
        }
    }
    Ok(())
}

fn run<T: Real>(device: &Device, level: usize, form: Form) -> clinalg::Result<()> {
    let context = Context::new(device, &ContextOptions { profiling: true, ..ContextOptions::default() })?;
    let mesh =
        if level.is_multiple_of(2) { Mesh::cube24() } else { Mesh::cube12() }.refined_times(level.div_ceil(2))?;
    let params = HeatParams::new(0.5, 1.0, 1 << level);
    let space = HeatSpace::<T>::new(&context, &mesh, &params)?;
    for kind in Kind::ALL {
        let start = Instant::now();
        let operator = space.operator(kind, &OperatorOptions { form, ..OperatorOptions::default() })?;
        context.finish()?;
        let setup = start.elapsed().as_secs_f64();
        let values: Vec<T> = (0..operator.cols()).map(|k| T::of(((k * 7919) % 1009) as f64 / 504.5 - 1.0)).collect();
        let x = Vector::from_slice(&context, &values)?;
        let mut y = Vector::zeros(&context, operator.rows())?;
        let mut times = Vec::new();
        for repetition in 0..6 {
            if repetition == 1 {
                context.reset_timings();
            }
            let start = Instant::now();
            operator.apply(T::one(), &x, T::zero(), &mut y)?;
            context.finish()?;
            times.push(start.elapsed().as_secs_f64());
        }
        times.remove(0);
        times.sort_by(f64::total_cmp);
        let time = times[2];
        println!(
            "{kind:?} level {level} {form:?} {}: set-up {setup:.3} s, product {:.3} ms, {:.2e} evaluations/s, {}",
            T::PRECISION,
            1e3 * time,
            operator.evaluations() / time,
            operator.plan_words()
        );
        for timing in context.timings()? {
            println!("    {:<24} {:>9.3} ms", timing.kernel, 1e3 * timing.seconds / 5.0);
        }
    }
    Ok(())
}
