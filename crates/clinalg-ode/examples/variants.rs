//! Basic against fused kernels: the Brusselator on n by n points, median time of a step, same bits checked.
//!
//! `cargo run --release -p clinalg-ode --example variants -- [n] [steps]`

use std::error::Error;
use std::time::Instant;

use clinalg::{Buffer, Context};
use clinalg_ode::integrate::{Norm, Stepper, Tolerance};
use clinalg_ode::problems::problem;
use clinalg_ode::{DeviceStepper, Method, Variant};

/// Median seconds of `count` runs after two for warming up.
fn median(count: usize, mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
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

fn main() -> Result<(), Box<dyn Error>> {
    let argument = |k: usize, rest: usize| std::env::args().nth(k).map_or(Ok(rest), |text| text.parse());
    let (n, steps) = (argument(1, 512)?, argument(2, 20)?);
    let context = Context::global()?;
    let p = problem("bruss2d-mix", n)?;
    let components = p.system.components();
    let source = Buffer::<f64>::zeroed(&context, components)?;
    let mut target = Buffer::<f64>::zeroed(&context, components)?;
    let copy = median(steps, || {
        target.copy_from(&source)?;
        Ok(context.finish()?)
    })?;
    drop((source, target));
    let bandwidth = 16.0 * components as f64 / copy;
    println!("{}, {components} components, copy {:.0} GB/s", context.device().name, bandwidth * 1e-9);
    println!("method                 words        basic   share   fused   share  ratio  model  bits");
    let tolerance = Tolerance { relative: 1e-6, absolute: 1e-6, norm: Norm::Rms };
    let h = 0.1 / (2e-3 * ((n - 1) * (n - 1)) as f64);
    for name in ["rk4", "bs32", "dopri54", "verner65", "dopri87", "pirk-radau-iia-7", "peer4", "ab4"] {
        let method = Method::named(name)?;
        let mut row = Vec::new();
        for variant in [Variant::Basic, Variant::Fused] {
            let mut stepper = DeviceStepper::<f64>::new(&context, &method, &p.system, variant)?;
            // Times do not depend on the values; the same vector starts every input.
            stepper.set(&vec![p.y0.clone(); method.inputs().len()])?;
            stepper.trial(0.0, h, &tolerance)?;
            stepper.accept()?;
            let bits: Vec<u64> = stepper.solution()?.iter().map(|v| v.to_bits()).collect();
            let seconds = median(steps, || {
                stepper.trial(0.0, h, &tolerance)?;
                Ok(context.finish()?)
            })?;
            row.push((stepper.plan().words(), seconds, stepper.bytes_per_step() as f64 / seconds / bandwidth, bits));
        }
        let [(w0, t0, s0, b0), (w1, t1, s1, b1)] = &row[..] else { unreachable!("two variants ran") };
        println!(
            "{name:20} {w0:4} {w1:4} {:8.3} ms {:5.0} % {:8.3} ms {:4.0} % {:6.2} {:6.2}  {}",
            t0 * 1e3,
            s0 * 100.0,
            t1 * 1e3,
            s1 * 100.0,
            t0 / t1,
            *w0 as f64 / *w1 as f64,
            if b0 == b1 { "same" } else { "DIFFERENT" }
        );
    }
    Ok(())
}
