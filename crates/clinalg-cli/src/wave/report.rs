//! The report on a wave, in words, pictures and JSON.

use clinalg::multigrid::Backend;
use clinalg::wave::{ImplicitReport, Scheme};
use clinalg::{KernelFamily, Precision, Real};
use schemars::JsonSchema;
use serde::Serialize;

use super::Mode;
use crate::args::DeviceName;
use crate::exit::Failure;
use crate::output::{Output, bytes, seconds};
use crate::place::device_words;
use crate::plot::{Field, Frames, UNIT};

#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    pub(super) n: usize,
    #[schemars(with = "String")]
    pub(super) scheme: Scheme,
    #[serde(rename = "form")]
    #[schemars(with = "String")]
    pub(super) backend: Backend,
    #[schemars(with = "String")]
    pub(super) precision: Precision,
    pub(super) device: Option<DeviceName>,
    pub(super) devices: Vec<DeviceName>,
    #[schemars(with = "Option<String>")]
    pub(super) kernel_family: Option<KernelFamily>,
    pub(super) initial: String,
    pub(super) velocity: Option<String>,
    pub(super) speed: Option<String>,
    pub(super) force: Option<String>,
    pub(super) force_time: Option<String>,
    pub(super) mode: Option<Mode>,
    pub(super) c: f64,
    pub(super) steps: u64,
    pub(super) dt: f64,
    pub(super) end_time: f64,
    pub(super) courant: f64,
    pub(super) courant_limit: Option<f64>,
    pub(super) steps_per_pass: Option<usize>,
    pub(super) energy: f64,
    pub(super) energy_drift: f64,
    pub(super) error_max: Option<f64>,
    #[schemars(with = "Option<crate::schema::ImplicitReport>")]
    pub(super) implicit: Option<ImplicitReport>,
    pub(super) points_per_second: f64,
    pub(super) seconds_setup: f64,
    pub(super) seconds_solve: f64,
    pub(super) peak_device_bytes: u64,
    pub(super) out: Option<String>,
    pub(super) series: Option<String>,
    pub(super) checkpoint: Option<String>,
    pub(super) pictures: Vec<String>,
}

/// What the colours of all frames reach to on both sides of 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    most: f64,
    /// Whether a force moves what is drawn, whose frames may be larger than the first.
    grows: bool,
}

impl Range {
    /// From the first frame.
    pub(super) fn new<T: Real>(u: &[T], grows: bool) -> Range {
        Range { most: largest(u), grows }
    }

    /// For the frame `u`, the next one: the largest so far where it grows.
    pub(super) fn of<T: Real>(&mut self, u: &[T]) -> f64 {
        if self.grows {
            self.most = self.most.max(largest(u));
        }
        if self.most > 0.0 { self.most } else { 1.0 }
    }
}

fn largest<T: Real>(u: &[T]) -> f64 {
    u.iter().map(|v| v.into_f64().abs()).filter(|v| v.is_finite()).fold(0.0, f64::max)
}

impl Document {
    fn precision(&self) -> &'static str {
        match self.precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        }
    }

    fn scheme(&self) -> &'static str {
        match self.scheme {
            Scheme::Explicit => "leapfrog",
            Scheme::Implicit => "Newmark with beta = 1/4, by multigrid",
        }
    }

    pub(super) fn draw<T: Real>(
        &mut self,
        frames: &Frames,
        frame: usize,
        time: f64,
        u: &[T],
        most: f64,
    ) -> Result<(), Failure> {
        let n = self.n;
        let device = self.device.as_ref().map_or("plain Rust", DeviceName::name);
        let values: Vec<f64> = u.iter().map(|v| v.into_f64()).collect();
        let speed = self.speed.as_ref().map_or(format!("c = {}", self.c), |speed| format!("c = {speed}"));
        let picture = frames.picture(frame)?;
        picture.field(&Field {
            title: format!("Wave equation, {n} × {n} points, t = {time:.4}"),
            subtitle: format!("{speed}, dt = {:.3e} · {} · {device}", self.dt, self.precision()),
            label: "u",
            columns: n,
            bounds: UNIT,
            values: &values,
            range: Some((-most, most)),
        })?;
        self.pictures.push(picture.path().display().to_string());
        Ok(())
    }

    pub(super) fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let n = self.n;
        let force = if self.force.is_some() { " + force" } else { "" };
        out.line(format!("Wave equation u_tt = c^2 Laplace u{force}, {n} x {n} points, {}", self.precision()))?;
        out.line("")?;
        let device = device_words(&self.devices, self.kernel_family);
        let backend = match self.backend {
            Backend::Kernels => "kernels for this stencil",
            Backend::Matrix => "sparse matrices and vectors",
            Backend::Reference => "plain Rust",
        };
        let initial = match (self.initial.as_str(), &self.mode) {
            (_, Some(Mode(counts))) => {
                let times = |axis: usize| if counts[axis] == 1 { String::new() } else { format!("{} ", counts[axis]) };
                format!("sin({}pi x) sin({}pi y)", times(0), times(1))
            }
            ("gauss", _) => "exp(-r^2 / 0.005) around (0.3, 0.4)".to_owned(),
            ("pluck", _) => "drawn out to 1 at (0.3, 0.4)".to_owned(),
            (given, _) => given.to_owned(),
        };
        let passes = self.steps_per_pass.map_or(String::new(), |most| match most {
            1 => ", one step a pass".to_owned(),
            most => format!(", up to {most} steps a pass"),
        });
        out.field("device", device)?;
        let velocity = self.velocity.as_ref().map_or("at rest".into(), |v| format!("u_t = {v}"));
        out.field("start", format!("u = {initial}, {velocity}"))?;
        if let Some(speed) = &self.speed {
            out.field("speed", format!("c = {speed}, at most {}", self.c))?;
        }
        if let Some(force) = &self.force {
            let factor = self.force_time.as_ref().map_or(String::new(), |g| format!(" * ({g})"));
            out.field("force", format!("({force}){factor}"))?;
        }
        out.field("method", format!("{}; {backend}{passes}", self.scheme()))?;
        let limit = self.courant_limit.map_or(String::new(), |limit| format!(", stable to {limit:.4}"));
        out.field("time step", format!("{:.6e}, Courant number {:.4}{limit}", self.dt, self.courant))?;
        out.field("steps", format!("{}, to t = {:.6}", self.steps, self.end_time))?;
        if let Some(implicit) = &self.implicit {
            let per_step = implicit.cycles as f64 / self.steps.max(1) as f64;
            out.field(
                "equations",
                format!(
                    "{}; {per_step:.1} cycles per step, relative residuals up to {:.1e}",
                    implicit.stop, implicit.relative_residual
                ),
            )?;
        }
        out.line("")?;
        let of = if self.energy == 0.0 { "" } else { " of it" };
        out.field("energy", format!("{:.6e}, drifted by {:.1e}{of} at most", self.energy, self.energy_drift))?;
        if let Some(error) = self.error_max {
            out.field("error", format!("{error:.4e} at most, against the exact standing wave"))?;
        }
        let time = format!("set-up {}, steps {}", seconds(self.seconds_setup), seconds(self.seconds_solve));
        out.field("time", format!("{time}: {:.3e} points per second", self.points_per_second))?;
        if self.device.is_some() {
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        for (name, file) in [("displacement", &self.out), ("series", &self.series), ("checkpoint", &self.checkpoint)] {
            if let Some(file) = file {
                out.field(name, file)?;
            }
        }
        if let (Some(first), Some(last)) = (self.pictures.first(), self.pictures.last()) {
            out.field("pictures", format!("{first} to {last}"))?;
        }
        Ok(())
    }
}
