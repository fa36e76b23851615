//! Cycles until the relative residual is small enough or will not become smaller.

use super::cycle::{Cycles, Norms};
use super::params::{Cycle, PoissonParams, PoissonReport};
use crate::solve::{Progress, Stop};
use crate::{Real, Result};

/// A cycle that leaves more than this part of the residual may have met the rounding floor.
const SUSPECT: f64 = 0.5;
/// Residuals up to this multiple of the estimated rounding floor are taken for it.
const FLOOR: f64 = 4.0;
/// Cycles before the residuals are first looked at, where cycles overlap.
const FIRST_LOOK: usize = 2;
/// Cycles that are foreseen well enough to be the last ones.
const LAST_LOOK: usize = 2;
/// Cycles in a row without a new smallest residual after which the iteration has stagnated.
const PATIENCE: usize = 5;
/// A residual is new when it is below this multiple of the smallest one.
const PROGRESS: f64 = 0.99;

/// Cycles until the relative residual is small enough or will not become smaller, after those that left the relative residuals `before`, the
/// last of them that of `u`; none at the beginning.
pub(crate) fn iterate<T: Real, G>(
    multigrid: &mut dyn Cycles<Grid = G>,
    params: &PoissonParams,
    row_sum: f64,
    f: &G,
    u: &mut G,
    before: &[f64],
    progress: Progress<'_>,
) -> Result<PoissonReport> {
    let [size, start, source] = multigrid.start_norms(u, f)?;
    // Where f = 0, residuals are relative to that of the first start value.
    let first = before.last().map_or(start, |last| start / last);
    let scale = [source, first].into_iter().find(|&norm| norm != 0.0).unwrap_or(1.0);
    let rounding = 0.5 * T::epsilon().into_f64() * row_sum / scale;
    let full = params.cycle == Cycle::Full;

    multigrid.reset();
    let largest = source.max(start);
    let most = multigrid.batch(largest);
    // The residual that rounding leaves, unless the tolerance is above it anyway: of a solution |u| <= |b| / 16, as the
    // least eigenvalue of the stencil is at least 16.
    let mut floor = (params.tolerance >= rounding * scale / 16.0).then_some(0.0);

    let history = if before.is_empty() { vec![start / scale] } else { before.to_vec() };
    let mut run = Run { reported: history.len() - 1, history, cancelled: false, size: None };
    run.report(progress);
    let mut patience = Patience::new();
    for &residual in &run.history[..run.reported - 1] {
        patience.is_over(residual);
    }
    let stop = loop {
        let cycles = run.reported - 1;
        let residual = run.history[cycles];
        if !residual.is_finite() || (cycles == 0 && !size.is_finite()) {
            break Stop::NotFinite;
        }
        if residual <= params.tolerance {
            // What has been begun is ended, and is the solution.
            run.finish(multigrid, f, u, scale, progress)?;
            if run.history[run.reported - 1] <= params.tolerance {
                break Stop::Converged;
            }
            continue;
        }
        if run.cancelled {
            break Stop::Cancelled;
        }
        if cycles > 0 && residual > run.history[cycles - 1] * suspect(&run.history[..cycles]) {
            let floor = rounding * multigrid.norm(u)?;
            if residual <= FLOOR * floor {
                break Stop::RoundingFloor;
            }
        }
        if patience.is_over(residual) {
            break Stop::Stagnated;
        }
        if residual * T::epsilon().into_f64() > run.history[0] {
            break Stop::Diverged;
        }
        if cycles >= params.max_cycles {
            break Stop::IterationLimit;
        }
        if run.reported == run.history.len() {
            let left = params.max_cycles - cycles;
            if full && cycles == 0 {
                run.add(&[multigrid.full(u, f)?], scale);
            } else {
                if most > 1 && cycles >= FIRST_LOOK && floor.is_none() {
                    floor = Some(rounding * multigrid.norm(u)?);
                }
                let (count, last) = ahead(&run.history, params.tolerance.max(floor.unwrap_or(0.0)), most);
                let (count, last) = if count < left { (count, last) } else { (left, true) };
                run.add(&multigrid.cycles(u, f, count, last, largest)?, scale);
            }
        }
        run.report(progress);
    };
    run.finish(multigrid, f, u, scale, progress)?;
    let Run { history, size, .. } = run;
    let cycles = history.len() - 1;
    // The cycles that had begun may have met the tolerance.
    let met = stop == Stop::Cancelled && history[cycles] <= params.tolerance;
    let stop = if met { Stop::Converged } else { stop };
    let size = size.map_or_else(|| multigrid.norm(u), Ok)?;
    Ok(PoissonReport {
        stop,
        cycles,
        levels: multigrid.levels(),
        relative_residual: history[cycles],
        convergence_factor: mean_factor(&history[usize::from(full).min(cycles)..]),
        rounding_floor: rounding * size,
        imbalance: None,
        history,
    })
}

/// Waits for smaller residuals.
struct Patience {
    smallest: f64,
    /// Cycles in a row without a new smallest residual.
    idle: usize,
}

impl Patience {
    fn new() -> Patience {
        Patience { smallest: f64::INFINITY, idle: 0 }
    }

    /// Whether the residuals, this one the last, have stagnated.
    fn is_over(&mut self, residual: f64) -> bool {
        let falls = residual < PROGRESS * self.smallest;
        self.idle = if falls { 0 } else { self.idle + 1 };
        self.smallest = self.smallest.min(residual);
        self.idle >= PATIENCE
    }
}

/// A solve in progress.
struct Run {
    /// The relative residuals, of which the first `reported` have been judged and passed to `progress`.
    history: Vec<f64>,
    reported: usize,
    /// Whether `progress` stopped the solve.
    cancelled: bool,
    /// The norm of u after the last cycle, where it is known.
    size: Option<f64>,
}

impl Run {
    fn add(&mut self, norms: &[Norms], scale: f64) {
        self.history.extend(norms.iter().map(|norms| norms.defect / scale));
        self.size = norms.last().and_then(|norms| norms.size);
    }

    fn report(&mut self, progress: Progress<'_>) {
        if !self.cancelled {
            self.cancelled = progress(self.reported, self.history[self.reported]).is_break();
        }
        self.reported += 1;
    }

    /// Ends the cycle that has begun, and reports all cycles.
    fn finish<G>(
        &mut self,
        multigrid: &mut dyn Cycles<Grid = G>,
        f: &G,
        u: &mut G,
        scale: f64,
        progress: Progress<'_>,
    ) -> Result<()> {
        if let Some(norms) = multigrid.end(u, f)? {
            self.add(&[norms], scale);
        }
        while self.reported < self.history.len() {
            self.report(progress);
        }
        Ok(())
    }
}

/// How many cycles to make before the residuals are looked at again, and whether the last of them will be the last of
/// all, by the progress so far towards `target`: where cycles overlap, each look costs the wait for it, and each end a
/// pass over the finest level.
fn ahead(history: &[f64], target: f64, most: usize) -> (usize, bool) {
    let cycles = history.len() - 1;
    if most == 1 {
        return (1, true);
    }
    if cycles < FIRST_LOOK {
        return (FIRST_LOOK - cycles, false);
    }
    let factor = history[cycles] / history[cycles - 1];
    let left = (target / history[cycles]).ln() / factor.ln();
    if !(factor < SUSPECT && left > 1.0) {
        return (1, true);
    }
    // The factor of the last cycles is not quite that of those to come.
    let left = left.ceil() as usize;
    if left <= LAST_LOOK { (left, true) } else { ((left - LAST_LOOK).min(most), false) }
}

/// The geometric mean of the factors between successive residuals.
fn mean_factor(history: &[f64]) -> Option<f64> {
    let (first, last) = (history.first()?, history.last()?);
    let factor = (last / first).powf(1.0 / (history.len() - 1) as f64);
    (history.len() > 1 && factor.is_finite()).then_some(factor)
}

/// The factor above which a cycle is slow by the measure of those before it: half way, on a
/// logarithmic scale, between their mean and no progress at all.
fn suspect(history: &[f64]) -> f64 {
    mean_factor(history).map_or(SUSPECT, |mean| mean.min(1.0).sqrt().max(SUSPECT))
}
