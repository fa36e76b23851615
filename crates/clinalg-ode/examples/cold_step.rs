//! Times the first step with a formula that is new to the caches: `cold_step rigid|grid`.
//!
//! `benches/cold_start.py` runs it with empty kernel caches.

use std::error::Error;
use std::time::Instant;

use clinalg::Context;
use clinalg_ode::integrate::{Norm, Stepper, Tolerance};
use clinalg_ode::{DeviceOptions, DeviceStepper, Grid, Method, System};

fn main() -> Result<(), Box<dyn Error>> {
    let what = std::env::args().nth(1).unwrap_or_default();
    let system = match what.as_str() {
        // Three components.
        "rigid" => System::builder(Grid::unit(&[1])).field("u", "-2*v*w").field("v", "1.25*u*w").field("w", "-0.5*u*v"),
        // The heat equation.
        "grid" => System::builder(Grid::unit(&[128, 128])).field("u", "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u"),
        other => return Err(format!("argument `{other}`, expected `rigid` or `grid`").into()),
    };
    let system = system.build()?;
    let method = Method::named("dopri54")?;
    let context = Context::global()?;
    let y0 = system.sample(|field, [x, y, _]| 1.0 + field as f64 + x * y);
    let start = Instant::now();
    let mut stepper = DeviceStepper::<f64>::with(&context, &method, &system, &DeviceOptions::default())?;
    stepper.set(&vec![y0; method.inputs().len()])?;
    stepper.trial(0.0, 1e-3, &Tolerance { relative: 1e-6, absolute: 1e-6, norm: Norm::Rms })?;
    let solution = stepper.solution()?;
    let seconds = start.elapsed().as_secs_f64();
    assert!(solution.iter().all(|value| value.is_finite()));
    println!("{seconds}");
    Ok(())
}
