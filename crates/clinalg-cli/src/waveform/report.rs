//! The report on a relaxation, as text, pictures and JSON.

use clinalg::{Precision, Real, counted};
use clinalg_ode::problems::Problem;
use clinalg_ode::waveform::{Prediction, WaveformOptions};
use schemars::JsonSchema;
use serde::Serialize;

use super::measured::{Devices, Measured};
use super::{Args, block, is_euler};
use crate::args::DeviceName;
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::{Output, Report};
use crate::plot::{Convergence, Picture};
use crate::text::{bytes, number, precision, seconds};

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    problem: String,
    n: usize,
    components: usize,
    variant: &'static str,
    block: Option<Vec<usize>>,
    method: String,
    #[schemars(with = "String")]
    precision: Precision,
    h: f64,
    steps: usize,
    windows: usize,
    iterations: Vec<usize>,
    window_steps: Vec<usize>,
    error_history: Vec<Vec<f64>>,
    memory_bytes: u64,
    words_per_component: f64,
    seconds: f64,
    seconds_setup: f64,
    method_seconds: Option<f64>,
    predicted_seconds: Option<f64>,
    predicted_method_seconds: Option<f64>,
    break_even_iterations: Option<f64>,
    max_difference: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    euler_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_difference_from_euler: Option<f64>,
    pub(super) explain: String,
    #[schemars(with = "String")]
    kernel_family: clinalg::KernelFamily,
    device: DeviceName,
    devices: Vec<DeviceName>,
    peak_device_bytes: u64,
    pub(super) times: Vec<f64>,
    pub(super) files: Vec<String>,
    /// The time reached.
    t: f64,
    unfinished: Vec<f64>,
    pub(super) checkpoint: Option<String>,
    /// Whether the run was ended early.
    #[serde(skip)]
    stopped: bool,
}

impl Document {
    /// Of a run; its explanation and its files are still to be set.
    pub(super) fn new<T: Real>(
        args: &Args,
        (problem, options): (&Problem, &WaveformOptions),
        (devices, global): (&Devices, &Global),
        measured: Measured<T>,
        predicted: Option<&Prediction>,
    ) -> Result<Document, Failure> {
        let Measured { result, seconds, seconds_setup, compared } = measured;
        let (report, system) = (result.report, &problem.system);
        let (method_seconds, max_difference) = (compared.map(|c| c.method_seconds), compared.map(|c| c.max_difference));
        let shape = system.grid().shape();
        let context = devices.context();
        Ok(Document {
            problem: problem.name.clone(),
            n: shape[0],
            components: system.components(),
            variant: options.variant(),
            block: block(options, shape.len()),
            method: args.method.clone(),
            precision: T::PRECISION,
            h: args.h,
            steps: args.steps,
            windows: args.windows,
            predicted_seconds: predicted.map(|p| p.windows(&report.window_steps, &report.iterations)),
            predicted_method_seconds: predicted.map(|p| p.method(args.steps)),
            break_even_iterations: predicted.map(|p| p.break_even_iterations(options)),
            iterations: report.iterations,
            window_steps: report.window_steps,
            error_history: report.error_history,
            memory_bytes: report.memory_bytes,
            words_per_component: report.words_per_component,
            seconds,
            seconds_setup,
            method_seconds,
            max_difference,
            euler_seconds: method_seconds.filter(|_| is_euler(options)),
            max_difference_from_euler: max_difference.filter(|_| is_euler(options)),
            explain: String::new(),
            kernel_family: context.family(),
            device: context.device().into(),
            devices: devices.names(global)?,
            peak_device_bytes: devices.peak_bytes_of_all()?,
            times: Vec::new(),
            files: Vec::new(),
            t: result.t,
            unfinished: report.unfinished,
            checkpoint: None,
            stopped: result.stopped,
        })
    }

    /// The differences after the iterations of all windows, one after the other, on a logarithmic axis.
    pub(super) fn draw(&self, eps: f64, picture: &Picture) -> Result<String, Failure> {
        let history: Vec<f64> = [&self.error_history.concat()[..], &self.unfinished].concat();
        // The axis begins at the first difference.
        let first = history.iter().copied().find(|e| *e > 0.0).unwrap_or(1.0);
        let scaled: Vec<f64> = history.iter().map(|e| e / first).collect();
        let points = self.n;
        let title =
            format!("{}, {points} points per axis, waveform relaxation, variant {}", self.problem, self.variant);
        let subtitle = format!("{} · {}", counted(self.window_steps.len(), "window"), precision(self.precision));
        let ends = self.error_history.iter().scan(0, |end, part| {
            *end += part.len();
            Some(*end)
        });
        let starts = [0].into_iter().chain(ends).filter(|start| *start < scaled.len()).collect();
        let residual = "difference of iterates over the first";
        let tolerance = eps / first;
        let steps = "iteration";
        picture.draw(&Convergence {
            title,
            subtitle,
            steps,
            residual,
            history: &scaled,
            starts,
            tolerance,
            floor: None,
        })
    }
}

impl Report for Document {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        out.line(self.explain.trim_end())?;
        out.line("")?;
        let counts: Vec<String> = self.iterations.iter().map(usize::to_string).collect();
        out.field("iterations", counts.join(", "))?;
        if !self.unfinished.is_empty() {
            let count = counted(self.unfinished.len(), "iteration");
            out.field(
                "unfinished",
                format!("a window, after {count}; the solution is that at t = {}", number(self.t, 7)),
            )?;
        }
        let last = self.unfinished.last().or_else(|| self.error_history.last()?.last());
        out.field("last change", last.map_or(String::new(), |e| number(*e, 4)))?;
        self.checkpoint.iter().try_for_each(|file| out.field("checkpoint", file))?;
        out.field("memory", bytes(self.memory_bytes))?;
        if !self.files.is_empty() {
            out.field("frames", format!("{} in {}", self.times.len(), self.files.join(", ")))?;
        }
        out.field("time", format!("set-up {}, relaxation {}", seconds(self.seconds_setup), seconds(self.seconds)))?;
        let (Some(method_seconds), Some(difference)) = (self.method_seconds, self.max_difference) else {
            return Ok(());
        };
        out.field("method itself", format!("{} by {}", seconds(method_seconds), self.method))?;
        out.field("difference", format!("{} from the method itself, at most", number(difference, 4)))
    }

    fn exit(&self) -> Exit {
        if self.stopped { Exit::NotReached } else { Exit::Done }
    }
}
