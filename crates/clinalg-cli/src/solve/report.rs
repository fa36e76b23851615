//! What `clinalg solve` reports.

use std::path::Path;

use clinalg::Precision;
use clinalg::solve::{Report, Stop};
use schemars::JsonSchema;
use serde::Serialize;

use super::method::{Method, Order, Precond, Reorder};
use crate::args::DeviceName;
use crate::exit::Failure;
use crate::output::Output;
use crate::place::device_words;
use crate::plot::{Convergence, Picture};
use crate::text::{bytes, seconds};

#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    pub(super) matrix: String,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) nnz: usize,
    pub(super) symmetric: bool,
    pub(super) complex: bool,
    pub(super) rhs: String,
    pub(super) null_vectors: usize,
    pub(super) null_part_removed: bool,
    pub(super) seed: Option<u64>,
    pub(super) method: Method,
    pub(super) gave_up: Option<Method>,
    pub(super) precond: Precond,
    pub(super) precond_about: Option<String>,
    pub(super) order: Option<Order>,
    pub(super) sweeps: Option<usize>,
    pub(super) reorder: Reorder,
    pub(super) reorder_about: Option<String>,
    pub(super) explanation: Option<String>,
    pub(super) restart: Option<usize>,
    pub(super) idr_dimension: Option<usize>,
    #[schemars(with = "String")]
    pub(super) precision: Precision,
    pub(super) tolerance: f64,
    pub(super) device: Option<DeviceName>,
    pub(super) devices: Vec<DeviceName>,
    #[schemars(with = "Option<String>")]
    pub(super) kernel_family: Option<clinalg::KernelFamily>,
    pub(super) verdict: Option<String>,
    pub(super) advice: Option<String>,
    #[schemars(with = "String")]
    pub(super) stop: Stop,
    pub(super) converged: bool,
    pub(super) iterations: usize,
    pub(super) iterate: usize,
    pub(super) relative_residual: f64,
    pub(super) residual_history: Vec<f64>,
    pub(super) seconds_read: f64,
    pub(super) seconds_setup: f64,
    pub(super) seconds_solve: f64,
    pub(super) peak_device_bytes: u64,
    pub(super) out: Option<String>,
    pub(super) checkpoint: Option<String>,
    pub(super) pictures: Vec<String>,
    pub(super) columns: Option<Vec<Column>>,
}

/// The outcome for one of several right-hand sides.
#[derive(Serialize, JsonSchema)]
pub(super) struct Column {
    #[schemars(with = "String")]
    pub(super) stop: Stop,
    pub(super) iterations: usize,
    pub(super) iterate: usize,
    pub(super) relative_residual: f64,
}

impl From<&Report> for Column {
    fn from(report: &Report) -> Column {
        let Report { stop, iterations, iterate, relative_residual, .. } = *report;
        Column { stop, iterations, iterate, relative_residual }
    }
}

impl Document {
    fn method_words(&self) -> String {
        let method = match self.method {
            Method::Gmres => format!("GMRES({})", self.restart.unwrap_or_default()),
            Method::Idrs => format!("IDR({})", self.idr_dimension.unwrap_or_default()),
            other => other.title().to_owned(),
        };
        let precond = self.precond.title();
        let precision = match (self.precision, self.complex) {
            (Precision::F32, false) => "f32",
            (Precision::F64, false) => "f64",
            (Precision::F32, true) => "complex f32",
            (Precision::F64, true) => "complex f64",
        };
        format!("{method}, {precond}, {precision}")
    }

    pub(super) fn draw(&mut self, picture: &Picture) -> Result<(), Failure> {
        let name = Path::new(&self.matrix).file_name().unwrap_or_default().to_string_lossy();
        picture.convergence(&Convergence {
            title: format!("{name}, {} equations: residual after each iteration", self.rows),
            subtitle: format!("{} · {}", self.method_words(), self.device.as_ref().map_or("", DeviceName::name)),
            steps: "iteration",
            residual: "relative residual of the recurrence, at the end |b − A x| / |b|",
            history: &self.residual_history,
            tolerance: self.tolerance,
            floor: None,
        })?;
        self.pictures.push(picture.path().display().to_string());
        Ok(())
    }

    pub(super) fn print(&self, chosen: bool, explain: bool, out: &mut Output) -> Result<(), Failure> {
        let symmetric = if self.complex { "Hermitian" } else { "symmetric" };
        let kind = if self.symmetric { symmetric.to_owned() } else { format!("not {symmetric}") };
        let Document { rows, cols, nnz, iterations, relative_residual, tolerance, .. } = self;
        out.field("matrix", format!("{}: {rows} x {cols}, {nnz} entries, {kind}", self.matrix))?;
        if let Some(about) = &self.reorder_about {
            out.field("reordering", about)?;
        }
        out.field("device", device_words(&self.devices, None))?;
        let why = match (chosen, self.method) {
            (false, _) => "",
            (true, Method::Minres) => " (chosen: the matrix is a symmetric saddle point)",
            (true, Method::Lsmr) => " (chosen: the matrix is not square)",
            (true, Method::Cg) if self.complex => " (chosen: the matrix is Hermitian with a positive diagonal)",
            (true, Method::Cg) => " (chosen: the matrix is symmetric with a positive diagonal)",
            (true, _) if self.symmetric && matches!(self.precond, Precond::Ilu | Precond::Ilut | Precond::Lu) => {
                " (chosen: the preconditioner is not symmetric)"
            }
            (true, _) if self.symmetric => " (chosen: the diagonal of the matrix is not positive)",
            (true, _) if self.complex => " (chosen: the matrix is not Hermitian)",
            (true, _) => " (chosen: the matrix is not symmetric)",
        };
        let why = match self.gave_up {
            Some(before) => format!(" (from the best iterate of {}, which gave up)", before.title()),
            None => why.to_owned(),
        };
        out.field("method", format!("{}{why}", self.method_words()))?;
        let explanation = self.explanation.as_deref().filter(|_| explain).unwrap_or_default();
        for (k, line) in explanation.lines().enumerate() {
            out.field("explanation", if k == 0 { line.to_owned() } else { format!("then {line}") })?;
        }
        if let Some(about) = &self.precond_about {
            out.field("preconditioner", about)?;
        }
        if let Some(columns) = &self.columns {
            let met = columns.iter().filter(|column| column.stop.is_success()).count();
            out.field("systems", format!("{} of {} converged; below, the worst", met, columns.len()))?;
        }
        out.field("stop", format!("{} ({iterations} iterations)", self.stop))?;
        if let Some(verdict) = &self.verdict {
            out.field("verdict", verdict)?;
        }
        if let Some(advice) = &self.advice {
            out.field("advice", advice)?;
        }
        let of = match self.iterate < *iterations {
            true => format!(" of iterate {}, the best one", self.iterate),
            false => String::new(),
        };
        out.field("residual", format!("{relative_residual:.2e}{of}, tolerance {tolerance:e}"))?;
        out.field(
            "time",
            format!(
                "read {}, set-up {}, solve {} ({} per iteration)",
                seconds(self.seconds_read),
                seconds(self.seconds_setup),
                seconds(self.seconds_solve),
                seconds(self.seconds_solve / (*iterations).max(1) as f64)
            ),
        )?;
        out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        for (name, file) in [("solution", &self.out), ("checkpoint", &self.checkpoint)] {
            file.iter().try_for_each(|file| out.field(name, file))?;
        }
        for picture in &self.pictures {
            out.field("picture", picture)?;
        }
        Ok(())
    }
}
