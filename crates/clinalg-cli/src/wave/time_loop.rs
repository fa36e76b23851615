//! The steps of a wave from frame to frame.

use std::path::Path;
use std::time::{Duration, Instant};

use clinalg::Real;
use clinalg::wave::{ImplicitReport, WaveState};
use serde_json::json;

use super::motion::Motion;
use crate::checkpoint::{self, Fingerprint, Loaded};
use crate::data::Values;
use crate::exit::Failure;
use crate::interrupt;
use crate::progress::Progress;

/// What a checkpoint holds beside the state of the wave: the energy at the start, and its largest change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Energies {
    pub(super) energy: f64,
    pub(super) drift: f64,
}

impl Energies {
    /// Of a wave that starts or continues.
    pub(super) fn new<T: Real>(wave: &mut dyn Motion<T>, loaded: Option<&Loaded>) -> Result<Energies, Failure> {
        let Some(loaded) = loaded else { return Ok(Energies { energy: wave.energy()?, drift: 0.0 }) };
        wave.restore(&WaveState {
            u: loaded.array("u")?,
            before: loaded.array("before")?,
            guess: if wave.is_implicit() { Some(loaded.array("guess")?) } else { None },
            steps: loaded.number("steps")? as u64,
        })?;
        Ok(Energies { energy: loaded.number("energy")?, drift: loaded.number("energy_drift")? })
    }

    /// Writes a checkpoint.
    pub(super) fn save<T: Real>(
        self,
        path: &Path,
        wave: &mut dyn Motion<T>,
        dt: f64,
        fingerprint: Fingerprint,
    ) -> Result<(), Failure> {
        let WaveState { u, before, guess, steps } = wave.state()?;
        let numbers = json!({ "dt": dt, "steps": steps, "energy": self.energy, "energy_drift": self.drift });
        let mut arrays = vec![("u", Values::of(&u)), ("before", Values::of(&before))];
        arrays.extend(guess.map(|guess| ("guess", Values::of(&guess))));
        checkpoint::save(path, fingerprint, numbers, &arrays)
    }
}

/// The steps to make, and when to look.
pub(super) struct TimeLoop<'a> {
    steps: usize,
    frames: usize,
    /// Whether frames are drawn or written.
    shown: bool,
    progress: &'a Progress,
}

/// The result of the steps.
pub(super) struct Integrated {
    pub(super) solving: Duration,
    /// The largest change of the energy; relative to the energy at the start unless that is 0.
    pub(super) drift: f64,
    /// The energy at the last frame.
    pub(super) energy: f64,
    pub(super) implicit: Option<ImplicitReport>,
}

impl Integrated {
    pub(super) fn went_well(&self) -> bool {
        self.implicit.is_none_or(|implicit| implicit.stop.is_success())
    }
}

impl<'a> TimeLoop<'a> {
    /// With `frames` frames, but at most the initial one and one per step.
    pub(super) fn new(steps: usize, frames: usize, shown: bool, progress: &'a Progress) -> TimeLoop<'a> {
        TimeLoop { steps, frames: frames.min(steps.saturating_add(1)), shown, progress }
    }

    /// Steps from frame to frame until the end, Ctrl-C, or an implicit step without a solution. `see` gets the number, the time and the
    /// values of each frame; `u` has those of the start, and at the end those of the last one shown. It may be empty where no frame is shown.
    pub(super) fn run<T: Real>(
        &self,
        wave: &mut dyn Motion<T>,
        energies: Energies,
        implicit: Option<ImplicitReport>,
        u: &mut [T],
        mut see: impl FnMut(usize, f64, &[T]) -> Result<(), Failure>,
    ) -> Result<Integrated, Failure> {
        let first = wave.steps();
        let mut done = Integrated { solving: Duration::ZERO, drift: energies.drift, energy: energies.energy, implicit };
        if first == 0 && self.shown {
            see(0, 0.0, u)?;
        }
        let scale = if energies.energy == 0.0 { 1.0 } else { energies.energy };
        for frame in 1..self.frames {
            let until = (self.steps as u128 * frame as u128 / (self.frames - 1) as u128) as u64;
            if until <= first {
                continue;
            }
            let start = Instant::now();
            if done.went_well() && !interrupt::interrupted() {
                let taken = wave.steps();
                let report = wave.step_with((until - taken) as usize, &mut |steps, _| {
                    self.progress.step(taken + steps as u64, 0.0);
                    interrupt::go_on()
                })?;
                add(&mut done.implicit, report);
            }
            done.solving += start.elapsed();
            if wave.steps() < until {
                break;
            }
            done.energy = wave.energy()?;
            let drift = (done.energy - energies.energy).abs() / scale;
            done.drift = if drift.is_nan() { drift } else { drift.max(done.drift) };
            if self.shown {
                wave.displacement(u)?;
                see(frame, wave.time(), u)?;
            }
        }
        Ok(done)
    }
}

/// Adds the solutions of some steps.
fn add(all: &mut Option<ImplicitReport>, these: Option<ImplicitReport>) {
    if let (Some(all), Some(these)) = (all, these) {
        all.stop = these.stop;
        all.cycles += these.cycles;
        all.relative_residual = all.relative_residual.max(these.relative_residual);
    }
}
