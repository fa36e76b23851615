//! The time of each phase of the set-up.

use std::time::Instant;

use super::report::AmgPhase;
use crate::{Context, Result};

/// Records how long each phase of each level takes. If it is on, it waits for the device after each phase; otherwise it does nothing.
pub(super) struct Clock<'c> {
    context: &'c Context,
    last: Option<Instant>,
    level: usize,
    phases: Vec<AmgPhase>,
}

impl<'c> Clock<'c> {
    pub(super) fn new(context: &'c Context, on: bool) -> Clock<'c> {
        Clock { context, last: on.then(Instant::now), level: 0, phases: Vec::new() }
    }

    /// The phases that follow belong to this level.
    pub(super) fn enter(&mut self, level: usize) {
        self.level = level;
    }

    /// Ends the current phase and records it under `name`.
    pub(super) fn mark(&mut self, name: &'static str) -> Result<()> {
        let Some(last) = &mut self.last else { return Ok(()) };
        self.context.finish()?;
        let now = Instant::now();
        let seconds = (now - std::mem::replace(last, now)).as_secs_f64();
        self.phases.push(AmgPhase { level: self.level, name, seconds });
        Ok(())
    }

    pub(super) fn phases(self) -> Vec<AmgPhase> {
        self.phases
    }
}
