//! What an integration reports.

use clinalg::{KernelFamily, Precision};
use clinalg_ode::problems::Problem;
use schemars::JsonSchema;
use serde::Serialize;

use super::precision;
use crate::args::DeviceName;
use crate::exit::Failure;
use crate::output::Output;
use crate::place::device_words;
use crate::text::{bytes, seconds};

#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    pub(super) problem: String,
    pub(super) n: usize,
    pub(super) components: usize,
    pub(super) method: String,
    pub(super) order: usize,
    pub(super) variant: String,
    #[schemars(with = "String")]
    pub(super) precision: Precision,
    #[schemars(with = "Option<String>")]
    pub(super) kernel_family: Option<KernelFamily>,
    /// Time reached; before `t_end` where the integration was interrupted or ended by an event.
    pub(super) t: f64,
    pub(super) t_end: f64,
    pub(super) h: Option<f64>,
    pub(super) rtol: Option<f64>,
    pub(super) atol: Option<f64>,
    pub(super) steps: usize,
    pub(super) rejected: usize,
    pub(super) rhs_evaluations: usize,
    pub(super) stages: Option<usize>,
    pub(super) smallest_step: f64,
    pub(super) largest_step: f64,
    pub(super) stiff_at: Option<f64>,
    /// In the order in which they happened.
    pub(super) events: Vec<Event>,
    /// The terminal event that ended the integration.
    pub(super) ended_by: Option<usize>,
    pub(super) reference: Option<&'static str>,
    pub(super) error_vs_reference: Option<f64>,
    pub(super) invariants: Vec<Invariant>,
    pub(super) kernels: Option<usize>,
    pub(super) words_per_component_step: Option<f64>,
    pub(super) explain: Option<String>,
    pub(super) seconds_setup: f64,
    pub(super) seconds_upload: f64,
    pub(super) seconds: f64,
    pub(super) seconds_download: f64,
    pub(super) component_steps_per_second: f64,
    pub(super) peak_device_bytes: u64,
    pub(super) device: Option<DeviceName>,
    pub(super) devices: Vec<DeviceName>,
    pub(super) steps_per_exchange: Option<usize>,
    pub(super) out: Option<String>,
    pub(super) checkpoint: Option<String>,
    /// Of the frames.
    pub(super) times: Vec<f64>,
    pub(super) files: Vec<String>,
    pub(super) pictures: Vec<String>,
}

/// A zero of the formula of an `event` line.
#[derive(Serialize, JsonSchema)]
pub(super) struct Event {
    /// The number of its line among these lines, from 0 on.
    pub(super) event: usize,
    pub(super) t: f64,
}

/// A quantity that the exact solution keeps.
#[derive(Serialize, JsonSchema)]
pub(super) struct Invariant {
    pub(super) name: &'static str,
    pub(super) start: f64,
    pub(super) end: f64,
}

/// Events that are listed; JSON has all.
const EVENTS: usize = 10;

impl Document {
    pub(super) fn print(&self, problem: &Problem, out: &mut Output) -> Result<(), Failure> {
        out.line(format!("{}: {}", self.problem, problem.title))?;
        out.line(format!("{} components, {}", self.components, precision(self.precision)))?;
        out.line("")?;
        out.field("device", device_words(&self.devices, self.kernel_family))?;
        if let Some(steps) = self.steps_per_exchange {
            out.field("halos", format!("exchanged every {steps} steps"))?;
        }
        let kernels = match (self.kernels, self.words_per_component_step) {
            (Some(kernels), Some(words)) => {
                format!(", {}: {kernels} kernels and {words:.3} words per component and step", self.variant)
            }
            _ => String::new(),
        };
        out.field("method", format!("{}, order {}{kernels}", self.method, self.order))?;
        for line in self.explain.iter().flat_map(|text| text.lines()) {
            out.line(format!("  {line}"))?;
        }
        match (self.h, self.rtol, self.atol) {
            (None, Some(rtol), Some(atol)) if self.steps > 0 => {
                let sizes = format!("{:.2e} to {:.2e}", self.smallest_step, self.largest_step);
                out.field("steps", format!("{} taken, {} rejected, of {sizes}", self.steps, self.rejected))?;
                out.field("tolerance", format!("relative {rtol:e}, absolute {atol:e}"))?;
            }
            _ if self.steps == 0 => out.field("steps", "none: the interval has no length")?,
            _ => out.field("steps", format!("{} of {:.6e}", self.steps, self.largest_step))?,
        }
        out.field("evaluations", format!("{} of the right-hand side, to t = {}", self.rhs_evaluations, self.t))?;
        if let Some(stages) = self.stages {
            out.field("stages", format!("up to {stages} per step, as required by stability"))?;
        }
        if let Some(t) = self.stiff_at {
            out.field("stiff", format!("from t = {t:.4e} on stability, not accuracy, bounds the steps"))?;
        }
        let shown = self.events.iter().take(EVENTS).map(|happened| format!("{} at t = {}", happened.event, happened.t));
        let more = self.events.len().saturating_sub(EVENTS);
        let more = (more > 0).then(|| format!("{more} more"));
        if !self.events.is_empty() {
            out.field("events", shown.chain(more).collect::<Vec<_>>().join(", "))?;
        }
        if let Some(event) = self.ended_by {
            out.field("ended", format!("by event {event}, which is terminal"))?;
        }
        out.line("")?;
        if let Some(error) = self.error_vs_reference {
            let what = if self.reference == Some("exact") { "the exact solution" } else { "a solution to 1e-11" };
            out.field("error", format!("{error:.4e} at most in a component, against {what}"))?;
        }
        for Invariant { name, start, end } in &self.invariants {
            out.field("kept", format!("{name}: {start:.6e}, changed by {:+.1e}", end - start))?;
        }
        let rate = self.component_steps_per_second;
        let time = format!("set-up {}, integration {}", seconds(self.seconds_setup), seconds(self.seconds));
        out.field("time", format!("{time}: {rate:.3e} components stepped per second"))?;
        if self.device.is_some() {
            let ways = [seconds(self.seconds_upload), seconds(self.seconds_download)];
            out.field("transfers", format!("{} to the device, {} back", ways[0], ways[1]))?;
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        for (name, file) in [("solution", &self.out), ("checkpoint", &self.checkpoint)] {
            if let Some(path) = file {
                out.field(name, path)?;
            }
        }
        if !self.files.is_empty() {
            out.field("frames", format!("{} in {}", self.times.len(), self.files.join(", ")))?;
        }
        if let (Some(first), Some(last)) = (self.pictures.first(), self.pictures.last()) {
            let names = if first == last { first.clone() } else { format!("{first} to {last}") };
            out.field("pictures", names)?;
        }
        Ok(())
    }
}
