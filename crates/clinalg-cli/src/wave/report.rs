//! The report on a wave, in words, pictures and JSON.

use clinalg::Real;
use clinalg::multigrid::Backend;
use clinalg::wave::{ImplicitReport, Scheme};
use schemars::JsonSchema;
use serde::Serialize;

use super::Mode;
use super::journey::Journey;
use crate::args::DeviceName;
use crate::exit::Failure;
use crate::output::Output;
use crate::place::device_words;
use crate::plot::{Field, Frames, UNIT};

#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    pub(super) n: usize,
    #[schemars(with = "String")]
    pub(super) scheme: Scheme,
    #[schemars(with = "String")]
    pub(super) backend: Backend,
    pub(super) devices: Vec<DeviceName>,
    pub(super) courant: f64,
    pub(super) courant_limit: Option<f64>,
    pub(super) steps_per_pass: Option<usize>,
    #[schemars(with = "Option<crate::schema::ImplicitReport>")]
    pub(super) implicit: Option<ImplicitReport>,
    #[serde(flatten)]
    pub(super) journey: Journey,
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
        let values: Vec<f64> = u.iter().map(|v| v.into_f64()).collect();
        let field = Field {
            title: format!("Wave equation, {n} × {n} points, t = {time:.4}"),
            subtitle: self.journey.subtitle(),
            label: "u",
            columns: n,
            bounds: UNIT,
            values: &values,
            range: Some((-most, most)),
        };
        self.journey.draw(frames, frame, &field)
    }

    pub(super) fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let (n, journey) = (self.n, &self.journey);
        journey.print_title(&format!("{n} x {n} points"), out)?;
        let device = device_words(&self.devices, journey.kernel_family);
        let backend = match self.backend {
            Backend::Kernels => "kernels for this stencil",
            Backend::Matrix => "sparse matrices and vectors",
            Backend::Reference => "plain Rust",
        };
        let initial = match (journey.initial.as_str(), &journey.mode) {
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
        journey.print_start(&format!("u = {initial}"), out)?;
        out.field("method", format!("{}; {backend}{passes}", self.scheme()))?;
        let limit = self.courant_limit.map_or(String::new(), |limit| format!(", stable to {limit:.4}"));
        out.field("time step", format!("{:.6e}, Courant number {:.4}{limit}", journey.dt, self.courant))?;
        journey.print_steps(out)?;
        if let Some(implicit) = &self.implicit {
            let per_step = implicit.cycles as f64 / journey.steps.max(1) as f64;
            out.field(
                "equations",
                format!(
                    "{}; {per_step:.1} cycles per step, relative residuals up to {:.1e}",
                    implicit.stop, implicit.relative_residual
                ),
            )?;
        }
        out.line("")?;
        let of = if journey.energy == 0.0 { "" } else { " of it" };
        journey.print_energy(|drift| format!("it drifted by {drift:.1e}{of} at most"), out)?;
        journey.print_end(out)
    }
}
