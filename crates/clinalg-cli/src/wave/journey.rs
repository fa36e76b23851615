//! What the reports on waves on squares and on boxes have in common.

use std::time::Duration;

use clinalg::{KernelFamily, Precision, Real};
use schemars::JsonSchema;
use serde::Serialize;

use super::course::{Begun, Travelled};
use super::motion::Motion;
use super::{Args, Mode};
use crate::args::DeviceName;
use crate::data::Target;
use crate::exit::Failure;
use crate::output::{Output, bytes, seconds};
use crate::place::Place;
use crate::plot::{Field, Frames};
use crate::series::Series;

/// From the start of a wave to its end.
#[derive(Serialize, JsonSchema)]
pub(super) struct Journey {
    #[schemars(with = "String")]
    precision: Precision,
    pub(super) device: Option<DeviceName>,
    #[schemars(with = "Option<String>")]
    pub(super) kernel_family: Option<KernelFamily>,
    pub(super) initial: String,
    velocity: Option<String>,
    speed: Option<String>,
    force: Option<String>,
    force_time: Option<String>,
    pub(super) mode: Option<Mode>,
    c: f64,
    pub(super) steps: u64,
    pub(super) dt: f64,
    end_time: f64,
    pub(super) energy: f64,
    pub(super) energy_drift: Option<f64>,
    pub(super) energy_end: f64,
    pub(super) error_max: Option<f64>,
    points_per_second: f64,
    seconds_setup: f64,
    seconds_solve: f64,
    pub(super) peak_device_bytes: u64,
    out: Option<String>,
    series: Option<String>,
    pub(super) checkpoint: Option<String>,
    pictures: Vec<String>,
}

/// What is known of a wave when it starts.
pub(super) struct Start {
    pub(super) initial: String,
    /// That of `initial`, if it is a standing wave.
    pub(super) mode: Option<Mode>,
    pub(super) c: f64,
    pub(super) dt: f64,
    pub(super) setup: Duration,
}

impl Journey {
    /// Of a wave that starts or continues.
    pub(super) fn new<T: Real>(
        args: &Args,
        place: &Place,
        start: Start,
        begun: Begun,
        target: Option<&Target>,
        series: Option<&Series>,
    ) -> Journey {
        Journey {
            precision: T::PRECISION,
            device: place.device(),
            kernel_family: place.family(),
            initial: start.initial,
            velocity: args.velocity.clone(),
            speed: args.speed.clone(),
            force: args.force.clone(),
            force_time: args.force_time.clone(),
            mode: start.mode,
            c: start.c,
            steps: 0,
            dt: start.dt,
            end_time: 0.0,
            energy: begun.energy,
            energy_drift: Some(begun.drift),
            energy_end: begun.energy,
            error_max: None,
            points_per_second: 0.0,
            seconds_setup: start.setup.as_secs_f64(),
            seconds_solve: 0.0,
            peak_device_bytes: 0,
            out: target.map(|target| target.path().display().to_string()),
            series: series.map(|series| series.files[0].clone()),
            checkpoint: None,
            pictures: Vec::new(),
        }
    }

    /// After the steps from `first` on with `points` points; a force changes the energy.
    pub(super) fn end<T: Real>(
        &mut self,
        wave: &dyn Motion<T>,
        first: u64,
        points: usize,
        travelled: &Travelled,
        forced: bool,
    ) {
        self.energy_drift = (!forced).then_some(travelled.drift);
        self.energy_end = travelled.energy;
        self.steps = wave.steps();
        self.end_time = wave.time();
        self.seconds_solve = travelled.solving.as_secs_f64();
        self.points_per_second = points as f64 * (wave.steps() - first) as f64 / self.seconds_solve;
    }

    fn precision(&self) -> &'static str {
        match self.precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }

    /// What stands below the title of a frame.
    pub(super) fn subtitle(&self) -> String {
        let device = self.device.as_ref().map_or("plain Rust", DeviceName::name);
        let speed = self.speed.as_ref().map_or(format!("c = {}", self.c), |speed| format!("c = {speed}"));
        format!("{speed}, dt = {:.3e} · {} · {device}", self.dt, self.precision())
    }

    pub(super) fn draw(&mut self, frames: &Frames, frame: usize, field: &Field<'_>) -> Result<(), Failure> {
        let picture = frames.picture(frame)?;
        picture.field(field)?;
        self.pictures.push(picture.path().display().to_string());
        Ok(())
    }

    /// The first line of the report; `points` names them.
    pub(super) fn print_title(&self, points: &str, out: &mut Output) -> Result<(), Failure> {
        let force = if self.force.is_some() { " + force" } else { "" };
        out.line(format!("Wave equation u_tt = c^2 Laplace u{force}, {points}, {}", self.precision()))?;
        out.line("")
    }

    /// How it starts, with `initial` in words, and what moves it.
    pub(super) fn print_start(&self, initial: &str, out: &mut Output) -> Result<(), Failure> {
        let velocity = self.velocity.as_ref().map_or("at rest".into(), |v| format!("u_t = {v}"));
        out.field("start", format!("{initial}, {velocity}"))?;
        if let Some(speed) = &self.speed {
            out.field("speed", format!("c = {speed}, at most {}", self.c))?;
        }
        if let Some(force) = &self.force {
            let factor = self.force_time.as_ref().map_or(String::new(), |g| format!(" * ({g})"));
            out.field("force", format!("({force}){factor}"))?;
        }
        Ok(())
    }

    pub(super) fn print_steps(&self, out: &mut Output) -> Result<(), Failure> {
        out.field("steps", format!("{}, to t = {:.6}", self.steps, self.end_time))
    }

    /// The energy at the start and at the end, and its largest change as text from `change`.
    pub(super) fn print_energy(&self, change: impl Fn(f64) -> String, out: &mut Output) -> Result<(), Failure> {
        let change = self.energy_drift.map_or("the force changes it".to_owned(), change);
        out.field("energy", format!("{:.6e}, at the end {:.6e}; {change}", self.energy, self.energy_end))
    }

    /// What follows the energy.
    pub(super) fn print_end(&self, out: &mut Output) -> Result<(), Failure> {
        if let Some(error) = self.error_max {
            out.field("error", format!("{error:.4e} at most, against the exact standing wave"))?;
        }
        let time = format!("set-up {}, steps {}", seconds(self.seconds_setup), seconds(self.seconds_solve));
        out.field("time", format!("{time}: {:.3e} points per second", self.points_per_second))?;
        if self.device.is_some() {
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        for (name, file) in [("displacement", &self.out), ("series", &self.series), ("checkpoint", &self.checkpoint)] {
            file.iter().try_for_each(|file| out.field(name, file))?;
        }
        if let (Some(first), Some(last)) = (self.pictures.first(), self.pictures.last()) {
            out.field("pictures", format!("{first} to {last}"))?;
        }
        Ok(())
    }
}
