//! The report on a solution, as text, pictures and JSON.

use std::time::Duration;

use clinalg::multigrid::{Backend, Cycle, PoissonReport, Smoother};
use clinalg::solve::Stop;
use clinalg::{KernelFamily, Real, counted, shown};
use schemars::JsonSchema;
use serde::Serialize;

use super::problem::{Problem, discretisation_error, product};
use super::{Args, Arithmetic, RightSide, side_names};
use crate::args::DeviceName;
use crate::data::{InputField, Lattice};
use crate::document::SolutionFiles;
use crate::executor::{Executor, device_description};
use crate::exit::{Exit, Failure};
use crate::global::Global;
use crate::output::{Output, Report};
use crate::paths;
use crate::plot::{Convergence, Field, Picture};
use crate::text::{bytes, number, seconds};

/// The largest estimate of the relative residual that rounding leaves at which the solution has a digit.
const MOST_FLOOR: f64 = 0.1;

/// The report.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    points: Vec<usize>,
    size: Vec<f64>,
    sides: Vec<String>,
    cells: bool,
    diffusion: Vec<f64>,
    mixed: Vec<f64>,
    tensor: Vec<String>,
    order: usize,
    coefficient: Option<String>,
    shift: f64,
    rhs: Option<RightSide>,
    f: Option<String>,
    boundary: Option<String>,
    seed: Option<u64>,
    #[schemars(with = "String")]
    backend: Backend,
    #[schemars(with = "String")]
    cycle: Cycle,
    pre: usize,
    post: usize,
    #[schemars(with = "String")]
    smoother: Smoother,
    omega: Option<f64>,
    precision: Arithmetic,
    tolerance: f64,
    device: Option<DeviceName>,
    devices: Vec<DeviceName>,
    #[schemars(with = "Option<String>")]
    kernel_family: Option<KernelFamily>,
    levels: usize,
    cycles: usize,
    #[schemars(with = "String")]
    stop: Stop,
    converged: bool,
    residual_history: Vec<f64>,
    relative_residual: f64,
    convergence_factor: Option<f64>,
    rounding_floor: f64,
    imbalance: Option<f64>,
    pub(super) error_max: Option<f64>,
    discretisation_error: Option<f64>,
    seconds_setup: f64,
    seconds_solve: f64,
    peak_device_bytes: u64,
    #[serde(flatten)]
    pub(super) files: SolutionFiles,
    /// Of each direction on each level; none on a team.
    #[serde(skip)]
    pub(super) unknowns: Vec<[usize; 3]>,
    /// Whether the method is one pass of full multigrid.
    #[serde(skip)]
    is_one_pass: bool,
    /// Whether it is a square or a cube with the fastest kernels.
    #[serde(skip)]
    regular: bool,
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

impl Document {
    /// Of a solve with these times of set-up and cycles; the error is still to be set.
    pub(super) fn new(
        args: &Args,
        problem: &Problem,
        (executor, global): (&Executor, &Global),
        report: PoissonReport,
        [setup, solve]: [Duration; 2],
    ) -> Result<Document, Failure> {
        let (params, dim) = (&problem.params, problem.grid.dim());
        let text = |given: &Option<InputField>| given.as_ref().map(|given| given.text().to_owned());
        let stencil = problem.regular.filter(|_| problem.is_solved());
        Ok(Document {
            points: problem.grid.points().to_vec(),
            size: problem.size.clone(),
            sides: side_names(problem),
            cells: args.cells,
            diffusion: params.diffusion[..dim].to_vec(),
            mixed: params.mixed_derivatives[..if dim == 3 { 3 } else { 1 }].to_vec(),
            tensor: args.tensor.descriptions(),
            order: args.order,
            coefficient: text(&problem.coefficient),
            shift: args.shift,
            rhs: problem.rhs,
            f: text(&problem.f),
            boundary: problem.boundary.as_ref().map(|data| data.text().to_owned()),
            seed: (problem.rhs == Some(RightSide::Random)).then_some(args.seed),
            backend: params.backend,
            cycle: params.cycle,
            pre: params.pre,
            post: params.post,
            smoother: params.smoother,
            omega: (params.smoother == Smoother::Jacobi).then_some(params.omega),
            precision: args.precision,
            tolerance: params.tolerance,
            device: executor.device(),
            devices: executor.devices_of_all(global)?,
            kernel_family: executor.family(),
            levels: report.levels,
            cycles: report.cycles,
            stop: report.stop,
            converged: report.stop.is_success(),
            residual_history: report.history,
            relative_residual: report.relative_residual,
            convergence_factor: report.convergence_factor,
            rounding_floor: report.rounding_floor,
            imbalance: report.imbalance,
            error_max: None,
            discretisation_error: stencil.map(|n| discretisation_error(n, dim, args.shift)),
            seconds_setup: setup.as_secs_f64(),
            seconds_solve: solve.as_secs_f64(),
            peak_device_bytes: executor.peak_bytes_of_all()?,
            files: SolutionFiles { out: paths::name(&args.out), ..Default::default() },
            unknowns: Vec::new(),
            is_one_pass: params.cycle == Cycle::Full && params.max_cycles == 1,
            regular: problem.regular.is_some(),
        })
    }

    /// A warning where jumps of what `varies` end the cycles early.
    pub(super) fn warn_of_jumps(&self, varies: bool) {
        if self.points.len() == 3 && matches!(self.stop, Stop::Stagnated | Stop::Diverged) && varies {
            log::warn!(
                target: "clinalg",
                "the cycles do not reach the tolerance: in three dimensions they may not where coefficients that differ by more than about 1e3 meet along edges, \
                 as in a checkerboard; take smaller jumps, a larger --tol, or assemble the matrix and solve it by `clinalg solve --precond amg`"
            );
        }
    }

    /// A table of the residuals by cycle.
    fn print_residuals(&self, out: &mut Output) -> Result<(), Failure> {
        let columns = [">cycle", ">relative residual", ">factor"];
        let rows: Vec<Vec<String>> = self
            .residual_history
            .iter()
            .enumerate()
            .map(|(cycle, residual)| {
                let factor = cycle.checked_sub(1).map(|before| residual / self.residual_history[before]);
                vec![cycle.to_string(), number(*residual, 4), factor.map_or(String::new(), |f| format!("{f:.3}"))]
            })
            .collect();
        out.table(&columns, rows)?;
        Ok(())
    }

    fn is_unit(&self) -> bool {
        self.size.iter().all(|&length| length == 1.0)
    }

    /// Whether D is not the identity.
    fn is_anisotropic(&self) -> bool {
        !self.tensor.is_empty() || self.diffusion.iter().any(|d| *d != 1.0) || self.mixed.iter().any(|d| *d != 0.0)
    }

    fn operator(&self) -> &'static str {
        match (self.coefficient.is_some(), self.is_anisotropic()) {
            (false, false) => "-Laplace u",
            (false, true) => "-div(D grad u)",
            (true, false) => "-div(k grad u)",
            (true, true) => "-div(k D grad u)",
        }
    }

    /// Whether cycles precondition conjugate gradients.
    fn is_preconditioned(&self) -> bool {
        self.coefficient.is_some() || !self.tensor.is_empty() || self.order == 4 || self.mixed.iter().any(|d| *d != 0.0)
    }

    /// The cycle and its smoother in the field's short form.
    fn method(&self) -> String {
        let cycle = match self.cycle {
            Cycle::V => "V",
            Cycle::W => "W",
            Cycle::Full => "full multigrid, then V",
        };
        let smoother = match self.smoother {
            Smoother::RedBlack if self.is_preconditioned() && !self.regular => "Gauss-Seidel by colours".to_owned(),
            Smoother::RedBlack => "red-black Gauss-Seidel".to_owned(),
            Smoother::Jacobi => format!("Jacobi with weight {}", self.omega.unwrap_or_default()),
        };
        if self.is_preconditioned() {
            // What the library makes of them, so that the cycle is symmetric.
            let sweeps = (self.pre + self.post).div_ceil(2);
            return format!("conjugate gradients with {cycle}({sweeps},{sweeps}) as the preconditioner, {smoother}");
        }
        format!("{cycle}({},{}), {smoother}", self.pre, self.post)
    }

    fn precision(&self) -> &'static str {
        match self.precision {
            Arithmetic::F32 => "f32",
            Arithmetic::F64 => "f64",
            Arithmetic::Mixed => "f64, corrections in f32",
        }
    }

    /// The numbers of points with `sign` between.
    fn numbers_of_points(&self, sign: &str) -> String {
        self.points.iter().map(usize::to_string).collect::<Vec<_>>().join(sign)
    }

    fn source(&self) -> String {
        match (&self.f, self.rhs) {
            (Some(f), _) => format!("f = {f}"),
            (None, Some(RightSide::Random)) => {
                format!("f uniform in [-1, 1), seed {}", self.seed.unwrap_or_default())
            }
            _ if self.regular => {
                let dim = self.points.len();
                let scale =
                    if self.shift == 0.0 { format!("{dim} pi^2") } else { format!("({dim} pi^2 + {})", self.shift) };
                format!("f = {scale} {}", product(dim))
            }
            _ => "f chosen so that u is a product of one sine or cosine per direction".into(),
        }
    }

    /// Draws the solution at the points of [`Lattice::shown`], so many of them in a row, into `picture` and the
    /// residuals beside it.
    pub(super) fn draw<T: Real>(
        &mut self,
        picture: &Picture,
        lattice: &Lattice,
        columns: usize,
        u: &[T],
    ) -> Result<(), Failure> {
        let middle = lattice.points(2) / 2;
        let values: Vec<f64> = u.iter().map(|u| u.into_f64()).collect();
        let at = lattice.coordinates(lattice.dim() - 1);
        let across = if lattice.dim() == 3 { format!(", plane z = {}", at[middle]) } else { String::new() };
        let k = self.coefficient.as_ref().map_or(String::new(), |k| format!(", k = {k}"));
        let k = self.tensor.iter().fold(k, |k, entry| format!("{k}, {entry}"));
        let points = self.numbers_of_points(" × ");
        let name = picture.draw(&Field {
            title: format!("Poisson problem {} = f, {points} points", self.operator()),
            subtitle: format!("{}{k}{across} · {}", self.source(), self.precision()),
            label: "u",
            columns,
            bounds: [0, 1].map(|axis| match &lattice.coordinates(axis)[..] {
                [first, .., last] => [*first, *last],
                // One point stands for the whole direction.
                _ => [0.0, self.size[axis]],
            }),
            values: &values,
            range: None,
        })?;
        let beside = picture.beside("-convergence");
        let convergence = beside.draw(&Convergence {
            title: format!("Poisson problem, {points} points: residual after each cycle"),
            subtitle: format!("{} · {}", self.method(), self.precision()),
            steps: "cycle",
            residual: "relative residual |b − A u| / |b|",
            history: &self.residual_history,
            starts: vec![0],
            tolerance: self.tolerance,
            floor: Some(self.rounding_floor),
        })?;
        self.files.pictures = vec![name, convergence];
        Ok(())
    }
}

impl Report for Document {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let shift = if self.shift == 0.0 { String::new() } else { format!(" + {} u", self.shift) };
        let (points, places) = (self.numbers_of_points(" x "), if self.cells { "cells" } else { "points" });
        let size = self.size.iter().map(f64::to_string).collect::<Vec<_>>().join(" x ");
        let size = if self.is_unit() { String::new() } else { format!(" on {size}") };
        let operator = self.operator();
        out.line(format!("Poisson problem {operator}{shift} = f, {points} {places}{size}, {}", self.precision()))?;
        out.line("")?;
        out.field("device", device_description(&self.devices, self.kernel_family))?;
        out.field("problem", self.source())?;
        if let Some(k) = &self.coefficient {
            out.field("", format!("k = {k}"))?;
        }
        if !self.tensor.is_empty() {
            out.field("", format!("D: {}", self.tensor.join(", ")))?;
        } else if self.is_anisotropic() {
            let mixed = match self.mixed.iter().all(|d| *d == 0.0) {
                true => String::new(),
                false => format!(", off-diagonal {}", numbers(&self.mixed)),
            };
            out.field("", format!("D = diag({}){mixed}", numbers(&self.diffusion)))?;
        }
        if self.order == 4 {
            let points = if self.points.len() == 3 { 19 } else { 9 };
            out.field("order", format!("4, compact stencils of {points} points"))?;
        }
        out.field("sides", self.sides.join(", "))?;
        if let Some(boundary) = &self.boundary {
            out.field("", format!("g = {boundary}"))?;
        }
        let backend = match self.backend {
            Backend::Kernels => "kernels for this stencil",
            Backend::Matrix => "sparse matrices and vectors",
            Backend::Reference => "plain Rust",
        };
        out.field("method", format!("{}; {backend}", self.method()))?;
        let sizes = if self.regular { format!(" ({} to 3 points per side)", self.points[0]) } else { String::new() };
        out.field("levels", format!("{}{sizes}", self.levels))?;
        out.line("")?;
        self.print_residuals(out)?;
        out.line("")?;
        let Document { cycles, relative_residual, tolerance, rounding_floor, .. } = self;
        let factor = self.convergence_factor.map_or(String::new(), |factor| format!(", factor {factor:.3}"));
        out.field("stop", format!("{} ({}{factor})", self.stop, counted(*cycles, "cycle")))?;
        out.field(
            "residual",
            format!(
                "{}, tolerance {}, rounding error at most {}",
                number(*relative_residual, 3),
                shown(*tolerance),
                number(*rounding_floor, 1)
            ),
        )?;
        if let Some(imbalance) = self.imbalance {
            out.field(
                "imbalance",
                format!("{} of f and the fluxes, removed; the mean of u is 0", number(imbalance, 2)),
            )?;
        }
        if let Some(error) = self.error_max {
            out.field("error", format!("{} at most, against the exact solution", number(error, 5)))?;
        }
        if let Some(stencil) = self.discretisation_error {
            let about = if self.shift == 0.0 { ", about pi^2 h^2 / 12" } else { "" };
            out.field("", format!("{} is the stencil's own{about}", number(stencil, 5)))?;
        }
        let per_cycle = seconds(self.seconds_solve / (*cycles).max(1) as f64);
        let (setup, solve) = (seconds(self.seconds_setup), seconds(self.seconds_solve));
        out.field("time", format!("set-up {setup}, solve {solve} ({per_cycle} per cycle)"))?;
        if self.device.is_some() {
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        self.files.print(out)?;
        let numbers = |counts: &[usize; 3]| {
            counts[..self.points.len()].iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
        };
        out.detail("unknowns by level", self.unknowns.iter().map(numbers).collect::<Vec<_>>().join(", "))
    }

    fn exit(&self) -> Exit {
        match self.stop {
            Stop::Converged => Exit::Done,
            Stop::RoundingFloor if self.rounding_floor < MOST_FLOOR => Exit::Done,
            Stop::IterationLimit if self.is_one_pass => Exit::Done,
            _ => Exit::NotReached,
        }
    }
}
