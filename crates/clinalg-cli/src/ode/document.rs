//! What an integration reports.

use clinalg::{KernelFamily, Precision, Real, counted, shown};
use schemars::JsonSchema;
use serde::Serialize;

use super::integration::{Done, Integration, StepperInfo};
use crate::args::DeviceName;
use crate::executor::{Executor, device_description};
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::{Output, Report};
use crate::paths;
use crate::text::{bytes, number, precision, seconds};

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    problem: String,
    n: usize,
    components: usize,
    pub(super) method: String,
    order: usize,
    variant: String,
    #[schemars(with = "String")]
    pub(super) precision: Precision,
    #[schemars(with = "Option<String>")]
    kernel_family: Option<KernelFamily>,
    /// Time reached; before `t_end` where the integration was interrupted or ended by an event.
    pub(super) t: f64,
    t_end: f64,
    h: Option<f64>,
    rtol: Option<f64>,
    atol: Option<f64>,
    steps: usize,
    rejected: usize,
    rhs_evaluations: usize,
    stages: Option<usize>,
    smallest_step: f64,
    largest_step: f64,
    stiff_at: Option<f64>,
    /// In the order in which they happened.
    events: Vec<Event>,
    /// The terminal event that ended the integration, from 1 on.
    ended_by: Option<usize>,
    pub(super) reference: Option<&'static str>,
    pub(super) error_vs_reference: Option<f64>,
    invariants: Vec<Invariant>,
    kernels: Option<usize>,
    words_per_component_step: Option<f64>,
    explain: Option<String>,
    seconds_setup: f64,
    seconds_upload: f64,
    seconds: f64,
    seconds_download: f64,
    component_steps_per_second: f64,
    peak_device_bytes: u64,
    pub(super) device: Option<DeviceName>,
    devices: Vec<DeviceName>,
    steps_per_exchange: Option<usize>,
    out: Option<String>,
    pub(super) checkpoint: Option<String>,
    /// Of the frames.
    pub(super) times: Vec<f64>,
    pub(super) files: Vec<String>,
    pub(super) pictures: Vec<String>,
    #[serde(skip)]
    title: String,
}

/// A zero of the formula of an `event` line.
#[derive(Serialize, JsonSchema)]
pub(super) struct Event {
    /// The number of its line among these lines, from 1 on.
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
    /// Of an integration; files and the error are still to be set.
    pub(super) fn new<T: Real>(
        integration: &Integration<'_, T>,
        (executor, global): (&Executor, &Global),
        done: Done<T>,
        stepper: StepperInfo,
    ) -> Result<Document, Failure> {
        let Integration { args, problem, method, options, .. } = *integration;
        let (report, components) = (done.report, problem.system.components());
        let adaptive = args.h.is_none();
        let seconds = done.solving.as_secs_f64();
        Ok(Document {
            problem: problem.name.clone(),
            n: problem.system.grid().shape()[0],
            components,
            method: args.method.clone(),
            order: method.order(),
            variant: stepper.variant,
            precision: T::PRECISION,
            kernel_family: executor.family(),
            t: report.t,
            t_end: integration.t_end,
            h: args.h,
            rtol: adaptive.then_some(options.relative),
            atol: adaptive.then_some(options.absolute),
            steps: report.accepted,
            rejected: report.rejected,
            rhs_evaluations: report.rhs_evaluations,
            stages: stepper.stages,
            smallest_step: if report.accepted == 0 { 0.0 } else { report.smallest_step },
            largest_step: report.largest_step,
            stiff_at: report.stiff,
            events: report.events.iter().map(|zero| Event { event: zero.event + 1, t: zero.t }).collect(),
            ended_by: done.ended_by.map(|event| event + 1),
            reference: None,
            error_vs_reference: None,
            invariants: done.summary.invariants,
            kernels: stepper.kernels,
            words_per_component_step: stepper.words,
            explain: stepper.explain,
            seconds_setup: done.setup.as_secs_f64(),
            seconds_upload: done.upload.as_secs_f64(),
            seconds,
            seconds_download: done.download.as_secs_f64(),
            component_steps_per_second: components as f64 * report.accepted as f64 / seconds.max(f64::MIN_POSITIVE),
            peak_device_bytes: executor.peak_bytes_of_all()?,
            device: executor.device(),
            devices: executor.devices_of_all(global)?,
            steps_per_exchange: stepper.steps_per_exchange,
            out: paths::name(&args.out),
            checkpoint: None,
            times: Vec::new(),
            files: Vec::new(),
            pictures: Vec::new(),
            title: problem.title.clone(),
        })
    }
}

impl Report for Document {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        out.line(format!("{}: {}", self.problem, self.title))?;
        out.line(format!("{}, {}", counted(self.components, "component"), precision(self.precision)))?;
        out.line("")?;
        out.field("device", device_description(&self.devices, self.kernel_family))?;
        if let Some(steps) = self.steps_per_exchange {
            out.field("halos", format!("exchanged every {}", counted(steps, "step")))?;
        }
        let kernels = match (self.kernels, self.words_per_component_step) {
            (Some(kernels), Some(words)) => {
                format!(
                    ", {}: {} and {} words per component and step",
                    self.variant,
                    counted(kernels, "kernel"),
                    number(words, 4)
                )
            }
            _ => String::new(),
        };
        out.field("method", format!("{}, order {}{kernels}", self.method, self.order))?;
        for line in self.explain.iter().flat_map(|text| text.lines()) {
            out.line(format!("  {line}"))?;
        }
        match (self.h, self.rtol, self.atol) {
            (None, Some(rtol), Some(atol)) if self.steps > 0 => {
                let sizes = format!("{} to {}", number(self.smallest_step, 3), number(self.largest_step, 3));
                out.field("steps", format!("{} taken, {} rejected, of {sizes}", self.steps, self.rejected))?;
                out.field("tolerance", format!("relative {}, absolute {}", shown(rtol), shown(atol)))?;
            }
            _ if self.steps == 0 => out.field("steps", "none: the interval has no length")?,
            _ => out.field("steps", format!("{} of {}", self.steps, number(self.largest_step, 7)))?,
        }
        out.field(
            "evaluations",
            format!("{} of the right-hand side, to t = {}", self.rhs_evaluations, number(self.t, 7)),
        )?;
        if let Some(stages) = self.stages {
            out.field("stages", format!("up to {stages} per step, as required by stability"))?;
        }
        if let Some(t) = self.stiff_at {
            out.field("stiff", format!("from t = {} on stability, not accuracy, bounds the steps", number(t, 5)))?;
        }
        let shown = self
            .events
            .iter()
            .take(EVENTS)
            .map(|happened| format!("{} at t = {}", happened.event, number(happened.t, 10)));
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
            out.field("error", format!("{} at most in a component, against {what}", number(error, 5)))?;
        }
        for Invariant { name, start, end } in &self.invariants {
            out.field("invariant", format!("{name}: {}, changed by {}", number(*start, 7), number(end - start, 2)))?;
        }
        let rate = self.component_steps_per_second;
        let time = format!("set-up {}, integration {}", seconds(self.seconds_setup), seconds(self.seconds));
        out.field("time", format!("{time}: {} components stepped per second", number(rate, 4)))?;
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

    fn exit(&self) -> Exit {
        if self.t == self.t_end || self.ended_by.is_some() { Exit::Done } else { Exit::NotReached }
    }
}
