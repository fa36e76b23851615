//! Times teams: `team poisson2|poisson3|wave|exchange N DEVICES [SIDE ...]`. Prints one JSON object per device list and size of the gathered levels.
//!
//! DEVICES are the indices of the devices: `0,1`; `0,0` makes two contexts on one device. The first device alone is timed in the same run, once with
//! the single-device solver and once as a team of one. Poisson starts from zero with a random right-hand side and ends at a relative residual of
//! 1e-10. SIDE is the number of points per side up to which levels are gathered on the first device; the default is the library's choice.
//! A further solve gives the time of each phase on each level; in it, phases do not overlap. The wave equation makes 200 steps. `exchange` sends
//! messages of up to N bytes from each device to the next one and back. `benches/team.py` runs this program.

use std::ops::ControlFlow;
use std::time::Instant;

use clinalg::multigrid::{self, PoissonParams};
use clinalg::team::{Exchange, Message, Poisson, Team, Wave};
use clinalg::wave::{self, WaveParams};
use clinalg::{Buffer, Context, ContextOptions, Device, Error, Vector};

const RUNS: usize = 7;
const STEPS: usize = 200;
const USAGE: &str = "usage: team poisson2|poisson3|wave|exchange N DEVICES [SIDE ...]";

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

/// The case that a line reports.
struct Case<'a> {
    problem: &'a str,
    n: usize,
    /// `one` for the single-device solver.
    solver: &'a str,
    devices: usize,
    side: Option<usize>,
}

impl Case<'_> {
    fn print(&self, cycles: usize, seconds: &[f64]) {
        let Case { problem, n, solver, devices, side } = self;
        let side = side.map_or("null".to_owned(), |side| side.to_string());
        println!(
            "{{\"problem\": \"{problem}\", \"n\": {n}, \"solver\": \"{solver}\", \"devices\": {devices}, \"gathered\": {side}, \
             \"cycles\": {cycles}, \"seconds\": {}, \"fastest\": {}, \"slowest\": {}}}",
            seconds[seconds.len() / 2],
            seconds[0],
            seconds[seconds.len() - 1]
        );
    }
}

/// Prints the times of a team's solve, and then of its phases.
fn team_poisson(case: &Case<'_>, team: &Team, params: &PoissonParams, f: &[f64], zero: &[f64]) -> Result<(), Error> {
    let weights = vec![1.0; team.ranks()];
    let mut solver = match case.side {
        Some(side) => Poisson::<f64>::with_gather_side(team, params, &weights, side)?,
        None => Poisson::new(team, params)?,
    };
    let mut go_on = |_, _| ControlFlow::Continue(());
    let (seconds, report) = times(|| {
        solver.load(f, zero)?;
        team.finish()?;
        let start = Instant::now();
        let report = solver.iterate(&mut go_on)?;
        team.finish()?;
        Ok((start.elapsed().as_secs_f64(), report))
    })?;
    case.print(report.cycles, &seconds);
    solver.load(f, zero)?;
    let (_, phases) = solver.iterate_phases(&mut |_, _| ControlFlow::Continue(()))?;
    let Case { problem, n, .. } = case;
    let side = case.side.map_or("null".to_owned(), |side| side.to_string());
    for time in phases {
        println!(
            "{{\"problem\": \"{problem}\", \"n\": {n}, \"solver\": \"team\", \"devices\": {}, \"gathered\": {side}, \"phase\": \"{}\", \
             \"level\": {}, \"count\": {}, \"seconds\": {}}}",
            team.ranks(),
            time.phase.name(),
            time.level,
            time.count,
            time.seconds
        );
    }
    Ok(())
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
        Case { problem: name, n, solver: "one", devices: 1, side: None }.print(report.cycles, &seconds);
    }
    let of = |devices, side| Case { problem: name, n, solver: "team", devices, side };
    team_poisson(&of(1, None), first, &params, &f, &zero)?;
    let sides = if sides.is_empty() { vec![None] } else { sides.iter().copied().map(Some).collect() };
    for side in sides.into_iter().filter(|_| team.ranks() > 1) {
        team_poisson(&of(team.ranks(), side), team, &params, &f, &zero)?;
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
        Case { problem: "wave", n, solver: "one", devices: 1, side: None }.print(STEPS, &seconds);
    }
    for team in teams.iter().take(team.ranks().min(2)) {
        let mut several = Wave::<f64>::new(team, &params)?;
        several.start(&u, None)?;
        let (seconds, ()) = times(|| {
            team.finish()?;
            let start = Instant::now();
            several.step(STEPS)?;
            team.finish()?;
            Ok((start.elapsed().as_secs_f64(), ()))
        })?;
        Case { problem: "wave", n, solver: "team", devices: team.ranks(), side: None }.print(STEPS, &seconds);
    }
    Ok(())
}

/// Messages of 8 bytes to `most` bytes from each rank to the next one and back; each exchange waits for the previous one.
fn exchanges(most: usize, team: &Team) -> Result<(), Error> {
    const EXCHANGES: usize = 20;
    let mut values = 1;
    while 8 * values <= most {
        let pair = |r: usize, from: usize, to: usize| {
            let (source, target) = if from == r { (0, 2 * values) } else { (values, 3 * values) };
            Message { from, source, to, target, len: values }
        };
        let messages: Vec<_> = (1..team.ranks()).flat_map(|r| [pair(r - 1, r - 1, r), pair(r - 1, r, r - 1)]).collect();
        let mut exchange = Exchange::<f64>::new(team, &messages)?;
        let mut parts = team.each(|_, context| Buffer::zeroed(context, 4 * values))?;
        let (seconds, ()) = times(|| {
            team.finish()?;
            let start = Instant::now();
            (0..EXCHANGES).try_for_each(|_| exchange.run(&mut parts))?;
            team.finish()?;
            Ok((start.elapsed().as_secs_f64() / EXCHANGES as f64, ()))
        })?;
        Case { problem: "exchange", n: 8 * values, solver: "team", devices: team.ranks(), side: None }
            .print(EXCHANGES, &seconds);
        values *= 8;
    }
    Ok(())
}

/// One context for each device in the list, also for those listed twice.
fn team_of(devices: &str, options: &ContextOptions) -> Result<Team, Error> {
    let contexts = devices.split(',').map(|device| Context::new(&Device::select(device)?, options));
    Team::of_contexts(contexts.collect::<Result<_, _>>()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [problem, n, devices, sides @ ..] = arguments.as_slice() else { return Err(USAGE.into()) };
    let n = n.parse()?;
    let sides: Vec<usize> = sides.iter().map(|side| side.parse()).collect::<Result<_, _>>()?;
    let options = ContextOptions::default();
    let first = devices.split(',').next().unwrap_or_default();
    let teams = [team_of(first, &options)?, team_of(devices, &options)?];
    match problem.as_str() {
        "poisson2" => poisson(problem, n, 2, &teams, &sides)?,
        "poisson3" => poisson(problem, n, 3, &teams, &sides)?,
        "wave" => waves(n, &teams)?,
        "exchange" => exchanges(n, &teams[1])?,
        _ => return Err(USAGE.into()),
    }
    Ok(())
}
