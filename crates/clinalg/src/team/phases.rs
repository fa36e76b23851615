//! The time that each phase of a team's cycles takes.

use std::cell::RefCell;
use std::time::Instant;

use super::Team;
use crate::Result;

/// A phase of a team's cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Relaxation, including restriction and interpolation.
    Sweeps,
    /// Exchange of the halos of a right-hand side, or of a solution that the next kernels need at once.
    Exchange,
    /// Exchange of the halos of the finest solution, which overlaps with the visits of the coarse levels.
    Background,
    /// Gathering of strips on rank 0.
    Gather,
    /// Distribution of the solution from rank 0 to the strips.
    Scatter,
    /// Cycles of rank 0 on the gathered levels.
    Coarse,
    /// Computation of residual norms.
    Norm,
}

impl Phase {
    /// The name of the phase, a single word.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Sweeps => "sweeps",
            Phase::Exchange => "exchange",
            Phase::Background => "background",
            Phase::Gather => "gather",
            Phase::Scatter => "scatter",
            Phase::Coarse => "coarse",
            Phase::Norm => "norm",
        }
    }
}

/// The time of a phase on a level; level 0 is the finest.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PhaseTime {
    /// The phase.
    pub phase: Phase,
    /// The level.
    pub level: usize,
    /// Number of times that the phase ran.
    pub count: usize,
    /// Total time of these runs, in seconds.
    pub seconds: f64,
}

/// Measures phases while it is on.
#[derive(Debug, Default)]
pub(super) struct Clock {
    times: RefCell<Option<Vec<PhaseTime>>>,
}

impl Clock {
    /// Starts the measurement anew or ends it, and returns what was measured so far.
    pub(super) fn switch(&self, on: bool) -> Vec<PhaseTime> {
        self.times.replace(on.then(Vec::new)).unwrap_or_default()
    }

    /// The start time of a phase, taken after the devices have finished their earlier work.
    pub(super) fn start(&self, team: &Team) -> Result<Option<Instant>> {
        if self.times.borrow().is_none() {
            return Ok(None);
        }
        team.finish()?;
        Ok(Some(Instant::now()))
    }

    /// Ends the phase that began at `since`, once the devices have finished its work.
    pub(super) fn stop(&self, team: &Team, since: Option<Instant>, phase: Phase, level: usize) -> Result<()> {
        let Some(since) = since else { return Ok(()) };
        team.finish()?;
        let seconds = since.elapsed().as_secs_f64();
        if let Some(times) = &mut *self.times.borrow_mut() {
            match times.iter_mut().find(|time| time.phase == phase && time.level == level) {
                Some(time) => {
                    time.count += 1;
                    time.seconds += seconds;
                }
                None => times.push(PhaseTime { phase, level, count: 1, seconds }),
            }
        }
        Ok(())
    }
}
