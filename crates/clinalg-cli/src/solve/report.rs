//! What `clinalg solve` reports.

use std::path::Path;

use clinalg::direct::Inertia;
use clinalg::solve::{self, IdrParams, Stop};
use clinalg::{Precision, Scalar, counted, shown};
use schemars::JsonSchema;
use serde::Serialize;

use super::method::{Method, Order, Precond, Reorder};
use super::run::{Outcome, is_success};
use super::system::LinearSystem;
use super::{Args, SEED};
use crate::args::DeviceName;
use crate::document::SolutionFiles;
use crate::executor::{Executor, device_description};
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::{Output, Report};
use crate::paths;
use crate::plot::{Convergence, Picture};
use crate::text::{bytes, number, seconds};

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    matrix: String,
    rows: usize,
    cols: usize,
    nnz: usize,
    symmetric: bool,
    complex: bool,
    rhs: String,
    null_vectors: usize,
    null_part_removed: bool,
    seed: Option<u64>,
    method: Method,
    failed_method: Option<Method>,
    precond: Precond,
    precond_description: Option<String>,
    inertia: Option<InertiaCounts>,
    determinant: Option<DeterminantParts>,
    order: Option<Order>,
    sweeps: Option<usize>,
    reorder: Reorder,
    reorder_description: Option<String>,
    explanation: Option<String>,
    restart: Option<usize>,
    idr_dimension: Option<usize>,
    #[schemars(with = "String")]
    precision: Precision,
    tolerance: f64,
    device: Option<DeviceName>,
    devices: Vec<DeviceName>,
    #[schemars(with = "Option<String>")]
    kernel_family: Option<clinalg::KernelFamily>,
    singularity: Option<String>,
    advice: Option<String>,
    #[schemars(with = "String")]
    stop: Stop,
    converged: bool,
    iterations: usize,
    iterate: usize,
    relative_residual: f64,
    residual_history: Vec<f64>,
    seconds_read: f64,
    seconds_setup: f64,
    seconds_solve: f64,
    peak_device_bytes: u64,
    #[serde(flatten)]
    pub(super) files: SolutionFiles,
    columns: Option<Vec<Column>>,
    /// Whether the method was chosen from the matrix.
    #[serde(skip)]
    is_chosen: bool,
    /// Whether the reasons are wanted.
    #[serde(skip)]
    explains: bool,
    /// Whether -A x = -b was solved.
    #[serde(skip)]
    is_negated: bool,
    /// How the matrix is stored.
    #[serde(skip)]
    storage: String,
}

/// How many eigenvalues have which sign.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct InertiaCounts {
    positive: usize,
    negative: usize,
    zero: usize,
}

/// det A / |det A|, and the natural logarithm of |det A|.
#[derive(Clone, Copy, Serialize, JsonSchema)]
struct DeterminantParts {
    sign: f64,
    sign_imaginary: f64,
    ln_modulus: f64,
}

impl DeterminantParts {
    fn text(self, is_complex: bool) -> String {
        let DeterminantParts { sign, sign_imaginary, ln_modulus } = self;
        let exponential = format!("exp({})", number(ln_modulus, 6));
        match is_complex {
            true => format!(
                "({} {} {}i) {exponential}",
                number(sign, 6),
                if sign_imaginary < 0.0 { "-" } else { "+" },
                number(sign_imaginary.abs(), 6)
            ),
            false if sign < 0.0 => format!("-{exponential}"),
            false => exponential,
        }
    }
}

/// The outcome for one of several right-hand sides.
#[derive(Clone, Serialize, JsonSchema)]
pub(super) struct Column {
    #[schemars(with = "String")]
    pub(super) stop: Stop,
    pub(super) iterations: usize,
    pub(super) iterate: usize,
    pub(super) relative_residual: f64,
}

impl From<&solve::Report> for Column {
    fn from(report: &solve::Report) -> Column {
        let solve::Report { stop, iterations, iterate, relative_residual, .. } = *report;
        Column { stop, iterations, iterate, relative_residual }
    }
}

impl Document {
    /// Of a solve.
    pub(super) fn new<T: Scalar>(
        args: &Args,
        system: &LinearSystem<T>,
        solved: &Outcome<T>,
        executor: &Executor,
        global: &Global,
    ) -> Result<Document, Failure> {
        let (parts, report, method) = (&system.parts, &solved.report, solved.method);
        let dimensions = || args.idr_dimension.unwrap_or(IdrParams::default().dimensions);
        Ok(Document {
            matrix: args.matrix.display().to_string(),
            rows: parts.rows,
            cols: parts.cols,
            nnz: parts.nnz(),
            symmetric: solved.symmetric,
            complex: T::IS_COMPLEX,
            rhs: args.rhs.clone(),
            null_vectors: solved.null_vectors,
            null_part_removed: solved.null_part_removed,
            seed: (args.rhs == "random").then_some(args.seed.unwrap_or(SEED)),
            method,
            failed_method: solved.failed_method,
            precond: solved.precond,
            precond_description: Some(solved.precond_description.clone()).filter(|description| !description.is_empty()),
            inertia: solved.facts.inertia.map(|Inertia { positive, negative, zero, .. }| InertiaCounts {
                positive,
                negative,
                zero,
            }),
            determinant: solved.facts.determinant.map(|(unit, ln_modulus)| DeterminantParts {
                sign: unit.re,
                sign_imaginary: unit.im,
                ln_modulus,
            }),
            order: args.order,
            sweeps: args.sweeps,
            reorder: args.reorder,
            reorder_description: system.renumbered.as_ref().map(|renumbered| renumbered.description.clone()),
            explanation: solved.explanation.clone(),
            restart: (method == Method::Gmres).then(|| args.restart()),
            idr_dimension: (method == Method::Idrs).then(dimensions),
            precision: T::PRECISION,
            tolerance: args.tol.unwrap_or(args.stopping::<T>().tolerance_of::<T>()),
            device: executor.device(),
            devices: executor.devices_of_all(global)?,
            kernel_family: executor.family(),
            singularity: solved.singularity.clone(),
            advice: args.advice(parts, solved, matches!(executor, Executor::Team(_))),
            stop: report.stop,
            converged: report.stop.is_success(),
            iterations: report.iterations,
            iterate: report.iterate,
            relative_residual: report.relative_residual,
            residual_history: report.history.clone(),
            seconds_read: system.time.as_secs_f64(),
            seconds_setup: solved.setup.as_secs_f64(),
            seconds_solve: solved.solved.as_secs_f64(),
            peak_device_bytes: executor.peak_bytes_of_all()?,
            files: SolutionFiles {
                out: paths::name(&args.out),
                checkpoint: solved.checkpoint.clone(),
                pictures: Vec::new(),
            },
            columns: (solved.columns.len() > 1).then(|| solved.columns.clone()),
            is_chosen: args.method.is_none(),
            explains: args.explain,
            is_negated: solved.is_negated,
            storage: solved.storage.clone(),
        })
    }

    fn method_description(&self) -> String {
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
        let name = picture.draw(&Convergence {
            title: format!("{name}, {} equations: residual after each iteration", self.rows),
            subtitle: self.method_description(),
            steps: "iteration",
            residual: "relative residual |b − A x| / |b|",
            history: &self.residual_history,
            starts: vec![0],
            tolerance: self.tolerance,
            floor: None,
        })?;
        self.files.pictures.push(name);
        Ok(())
    }
}

impl Report for Document {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let symmetric = if self.complex { "Hermitian" } else { "symmetric" };
        let kind = if self.symmetric { symmetric.to_owned() } else { format!("not {symmetric}") };
        let Document { rows, cols, nnz, iterations, relative_residual, tolerance, .. } = self;
        out.field("matrix", format!("{}: {rows} x {cols}, {nnz} entries, {kind}", self.matrix))?;
        if let Some(about) = &self.reorder_description {
            out.field("reordering", about)?;
        }
        out.field("device", device_description(&self.devices, None))?;
        let reason = match (self.is_chosen, self.method) {
            (false, _) => "",
            (true, Method::Minres) => " (chosen: the matrix is a symmetric saddle point)",
            (true, Method::Lsmr) => " (chosen: the matrix is not square)",
            (true, _) if self.is_negated => " (chosen: the diagonal of the matrix is negative, so -A x = -b is solved)",
            (true, Method::Cg) if self.complex => " (chosen: the matrix is Hermitian with a positive diagonal)",
            (true, Method::Cg) => " (chosen: the matrix is symmetric with a positive diagonal)",
            (true, Method::Fcg) => " (chosen: the preconditioner varies from one iteration to the next)",
            (true, _) if self.symmetric && matches!(self.precond, Precond::Ilu | Precond::Ilut | Precond::Lu) => {
                " (chosen: the preconditioner is not symmetric)"
            }
            (true, _) if self.symmetric => " (chosen: the diagonal of the matrix is not positive)",
            (true, _) if self.complex => " (chosen: the matrix is not Hermitian)",
            (true, _) => " (chosen: the matrix is not symmetric)",
        };
        let reason = match self.failed_method {
            Some(before) => format!(" (from the best iterate of {}, which failed)", before.title()),
            None => reason.to_owned(),
        };
        out.field("method", format!("{}{reason}", self.method_description()))?;
        let explanation = self.explanation.as_deref().filter(|_| self.explains).unwrap_or_default();
        for (k, line) in explanation.lines().enumerate() {
            out.field("explanation", if k == 0 { line.to_owned() } else { format!("then {line}") })?;
        }
        if let Some(about) = &self.precond_description {
            let mut lines = about.trim_start().lines();
            out.field("preconditioner", lines.next().unwrap_or_default())?;
            lines.try_for_each(|line| out.line(line))?;
        }
        if let Some(InertiaCounts { positive, negative, zero }) = self.inertia {
            out.field("inertia", format!("{positive} positive, {negative} negative, {zero} zero eigenvalues"))?;
        }
        if let Some(determinant) = self.determinant {
            out.field("determinant", determinant.text(self.complex))?;
        }
        if let Some(columns) = &self.columns {
            let met = columns.iter().filter(|column| column.stop.is_success()).count();
            out.field("systems", format!("{} of {} converged; below, the worst", met, columns.len()))?;
        }
        let settled = self.method.is_least_squares() && self.stop == Stop::Converged && relative_residual > tolerance;
        let stop = match settled {
            true => "converged to a least-squares solution: no x has a smaller residual".to_owned(),
            false => self.stop.to_string(),
        };
        out.field("stop", format!("{stop} ({})", counted(*iterations, "iteration")))?;
        if let Some(singularity) = &self.singularity {
            out.field("singularity", singularity)?;
        }
        if let Some(advice) = &self.advice {
            out.field("advice", advice)?;
        }
        let of = match self.iterate < *iterations {
            true => format!(" of iterate {}, the best one", self.iterate),
            false => String::new(),
        };
        out.field("residual", format!("{}{of}, tolerance {}", number(*relative_residual, 3), shown(*tolerance)))?;
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
        self.files.print(out)?;
        out.detail("matrix storage", &self.storage)
    }

    fn exit(&self) -> Exit {
        match is_success(self.stop, self.relative_residual, self.tolerance) {
            true => Exit::Done,
            false => Exit::NotReached,
        }
    }
}
