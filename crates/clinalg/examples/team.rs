//! Times the phases of multigrid on teams: `team poisson2|poisson3 N DEVICES [SIDE ...]`. Prints one JSON object per device list and size of the
//! gathered levels. `clinalg bench --devices` times transfers and the other solvers.
//!
//! DEVICES are the indices of the devices: `0,1`; `0,0` makes two contexts on one device. The first device alone is timed in the same run, once with
//! the single-device solver and once as a team of one. Poisson starts from zero with a random right-hand side and ends at a relative residual of
//! 1e-10. SIDE is the number of points per side up to which levels are gathered on the first device; the default is the library's choice.
//! A further solve gives the time of each phase on each level; in it, phases do not overlap. `benches/team.py` runs this program.

use std::ops::ControlFlow;
use std::time::Instant;

use clinalg::multigrid::{self, Grid, PoissonParams};
use clinalg::team::{Poisson, Team};
use clinalg::{Context, ContextOptions, Device, Error, Vector};

const RUNS: usize = 7;
const USAGE: &str = "usage: team poisson2|poisson3 N DEVICES [SIDE ...]";

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
fn team_poisson(case: &Case<'_>, team: &Team, grid: &Grid, f: &[f64], zero: &[f64]) -> Result<(), Error> {
    let (weights, params) = (vec![1.0; team.ranks()], PoissonParams::default());
    let mut solver = match case.side {
        Some(side) => Poisson::<f64>::with_gather_side(team, grid, &params, &weights, side)?,
        None => Poisson::new(team, grid, &params)?,
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
    let grid = Grid::new(&vec![n; dim]);
    let points = grid.len();
    // The sequence of Weyl: values between -1/2 and 1/2 without a pattern on the grid.
    let f: Vec<f64> = (1..=points).map(|k| (k as f64 * 0.618_033_988_749_894_9).fract() - 0.5).collect();
    let zero = vec![0.0; points];
    let [first, team] = teams else { unreachable!("one device, and all of them") };
    let context = &first.contexts()[0];
    {
        let mut one = multigrid::Poisson::<f64>::new(context, &grid, &PoissonParams::default())?;
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
    team_poisson(&of(1, None), first, &grid, &f, &zero)?;
    let sides = if sides.is_empty() { vec![None] } else { sides.iter().copied().map(Some).collect() };
    for side in sides.into_iter().filter(|_| team.ranks() > 1) {
        team_poisson(&of(team.ranks(), side), team, &grid, &f, &zero)?;
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
        _ => return Err(USAGE.into()),
    }
    Ok(())
}
