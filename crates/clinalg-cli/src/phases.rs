//! Where the time of a run goes.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::text::{seconds, table};

/// A part of a run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Phase {
    phase: &'static str,
    seconds: f64,
}

/// The parts of a run so far, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Phases {
    ended: Vec<Phase>,
    current: Option<(&'static str, Instant)>,
}

impl Phases {
    /// From now on `phase` goes on; one of that name which has been goes on further.
    pub(crate) fn begin(&mut self, phase: &'static str) {
        self.end();
        self.current = Some((phase, Instant::now()));
    }

    /// Ends the phase that goes on, of which `parts` are phases of their own.
    pub(crate) fn split(&mut self, parts: &[(&'static str, Duration)]) {
        let Some((phase, start)) = self.current.take() else { return };
        let all: Duration = parts.iter().map(|(_, time)| *time).sum();
        self.add(phase, start.elapsed().saturating_sub(all));
        parts.iter().for_each(|(part, time)| self.add(part, *time));
    }

    /// Ends the phase that goes on.
    fn end(&mut self) {
        self.split(&[]);
    }

    fn add(&mut self, phase: &'static str, time: Duration) {
        let seconds = time.as_secs_f64();
        match self.ended.iter_mut().find(|other| other.phase == phase) {
            Some(other) => other.seconds += seconds,
            None => self.ended.push(Phase { phase, seconds }),
        }
    }

    /// All phases; the one that goes on goes on.
    pub(crate) fn all(&mut self) -> &[Phase] {
        if let Some((phase, _)) = self.current {
            self.begin(phase);
        }
        &self.ended
    }

    /// A table, a line for each phase.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        let phases = self.all();
        let all: f64 = phases.iter().map(|phase| phase.seconds).sum();
        let row = |name: &str, time: f64| {
            vec![name.to_owned(), seconds(time), format!("{:.0} %", 100.0 * time / all.max(f64::MIN_POSITIVE))]
        };
        let mut rows: Vec<_> = phases.iter().map(|phase| row(phase.phase, phase.seconds)).collect();
        rows.push(row("all", all));
        table(&["phase", ">time", ">share"], &rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_add_up() {
        let mut phases = Phases::default();
        assert!(phases.all().is_empty());
        for phase in ["set-up", "solve", "set-up"] {
            phases.begin(phase);
        }
        let names: Vec<_> = phases.all().iter().map(|phase| phase.phase).collect();
        assert_eq!(names, ["set-up", "solve"]);
        phases.split(&[("upload", Duration::from_secs(2))]);
        assert_eq!((phases.all()[2].phase, phases.all()[2].seconds), ("upload", 2.0));
        phases.ended = vec![Phase { phase: "set-up", seconds: 3.0 }, Phase { phase: "solve", seconds: 1.0 }];
        phases.current = None;
        assert_eq!(phases.lines()[1..], ["set-up  3.00 s   75 %", "solve   1.00 s   25 %", "all     4.00 s  100 %"]);
    }
}
