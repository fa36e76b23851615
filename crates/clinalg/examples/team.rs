//! Times teams: `team poisson2|poisson3|wave N DEVICES [SIDE ...]`, a line of JSON per device list and size of the gathered levels.
//!
//! DEVICES are the indices of the devices, `0,1`. One device alone, the first, is timed in the same run. Poisson starts from zero with a random
//! right-hand side and ends at a relative residual of 1e-10; SIDE is the number of points per side up to which levels are gathered on the first
//! device, the library's choice without. The wave makes 200 steps. `benches/team.py` runs it.

use std::ops::ControlFlow;
use std::time::Instant;

use clinalg::multigrid::{self, PoissonParams};
use clinalg::team::{Poisson, Team, Wave};
use clinalg::wave::{self, WaveParams};
use clinalg::{ContextOptions, Error, Vector};

const RUNS: usize = 7;
const STEPS: usize = 200;
const USAGE: &str = "usage: team poisson2|poisson3|wave N DEVICES [SIDE ...]";

/// Seconds of each run after one that builds kernels and warms up, and what the last one gave.
fn times<R>(mut run: impl FnMut() -> Result<(f64, R), Error>) -> Result<(Vec<f64>, R), Error> {
    let (_, mut last) = run()?;
    let mut seconds = Vec::new();
    for _ in 0..RUNS {
        let (time, result) = run()?;
        seconds.push(time);
        last = result;
    }
    seconds.sort_by(f64::total_cmp);
    Ok((seconds, last))
}

fn line(problem: &str, n: usize, devices: usize, side: Option<usize>, cycles: usize, seconds: &[f64]) {
    let side = side.map_or("null".to_owned(), |side| side.to_string());
    let median = seconds[seconds.len() / 2];
    println!(
        "{{\"problem\": \"{problem}\", \"n\": {n}, \"devices\": {devices}, \"gathered\": {side}, \"cycles\": {cycles}, \"seconds\": {median}, \
         \"fastest\": {}, \"slowest\": {}}}",
        seconds[0],
        seconds[seconds.len() - 1]
    );
}

fn poisson(name: &str, n: usize, dim: usize, teams: &[Team], sides: &[usize]) -> Result<(), Error> {
    let params = PoissonParams { n, dim, ..PoissonParams::default() };
    let points = n.pow(dim as u32);
    // The sequence of Weyl: values between -1/2 and 1/2 without a pattern on the grid.
    let f: Vec<f64> = (1..=points).map(|k| (k as f64 * 0.618_033_988_749_894_9).fract() - 0.5).collect();
    let zero = vec![0.0; points];
    let [first, team] = teams else { unreachable!("one device, and all of them") };
    let context = &first.contexts()[0];
    {
        let mut one = multigrid::Poisson::<f64>::new(context, &params)?;
        let (right, mut u) = (Vector::from_slice(context, &f)?, Vector::zeros(context, points)?);
        let (seconds, report) = times(|| {
            u.fill(0.0)?;
            context.queue().finish()?;
            let start = Instant::now();
            let report = one.solve_device(&right, &mut u)?;
            context.queue().finish()?;
            Ok((start.elapsed().as_secs_f64(), report))
        })?;
        line(name, n, 1, None, report.cycles, &seconds);
    }
    let sides = if sides.is_empty() { vec![None] } else { sides.iter().copied().map(Some).collect() };
    for side in sides {
        let weights = vec![1.0; team.ranks()];
        let mut solver = match side {
            Some(side) => Poisson::<f64>::with_gather_side(team, &params, &weights, side)?,
            None => Poisson::new(team, &params)?,
        };
        let (seconds, report) = times(|| {
            solver.load(&f, &zero)?;
            team.finish()?;
            let start = Instant::now();
            let report = solver.iterate(&mut |_, _| ControlFlow::Continue(()))?;
            team.finish()?;
            Ok((start.elapsed().as_secs_f64(), report))
        })?;
        line(name, n, team.ranks(), side, report.cycles, &seconds);
    }
    Ok(())
}

fn waves(n: usize, teams: &[Team]) -> Result<(), Error> {
    let params = WaveParams { n, dt: 0.5 / (n - 1) as f64, ..WaveParams::default() };
    let h = 1.0 / (n - 1) as f64;
    let hill = |k: usize| (-100.0 * (((k % n) as f64 * h - 0.3).powi(2) + ((k / n) as f64 * h - 0.4).powi(2))).exp();
    let inside = |k: usize| (1..n - 1).contains(&(k % n)) && (1..n - 1).contains(&(k / n));
    let u: Vec<f64> = (0..n * n).map(|k| if inside(k) { hill(k) } else { 0.0 }).collect();
    let [first, team] = teams else { unreachable!("one device, and all of them") };
    let context = &first.contexts()[0];
    {
        let mut one = wave::Wave::<f64>::new(context, &params)?;
        one.start(&u, None)?;
        let (seconds, ()) = times(|| {
            context.queue().finish()?;
            let start = Instant::now();
            one.step(STEPS)?;
            context.queue().finish()?;
            Ok((start.elapsed().as_secs_f64(), ()))
        })?;
        line("wave", n, 1, None, STEPS, &seconds);
    }
    let mut several = Wave::<f64>::new(team, &params)?;
    several.start(&u, None)?;
    let (seconds, ()) = times(|| {
        team.finish()?;
        let start = Instant::now();
        several.step(STEPS)?;
        team.finish()?;
        Ok((start.elapsed().as_secs_f64(), ()))
    })?;
    line("wave", n, team.ranks(), None, STEPS, &seconds);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [problem, n, devices, sides @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };
    let n = n.parse()?;
    let sides: Vec<usize> = sides.iter().map(|side| side.parse()).collect::<Result<_, _>>()?;
    let options = ContextOptions::default();
    let first = devices.split(',').next().unwrap_or_default();
    let teams = [Team::select(first, &options)?, Team::select(devices, &options)?];
    match problem.as_str() {
        "poisson2" => poisson(problem, n, 2, &teams, &sides)?,
        "poisson3" => poisson(problem, n, 3, &teams, &sides)?,
        "wave" => waves(n, &teams)?,
        _ => return Err(USAGE.into()),
    }
    Ok(())
}
