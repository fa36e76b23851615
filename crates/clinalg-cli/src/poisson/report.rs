//! The report on a solution, in words, pictures and JSON.

use clinalg::KernelFamily;
use clinalg::multigrid::{Backend, Cycle, Smoother};
use clinalg::solve::Stop;
use schemars::JsonSchema;
use serde::Serialize;

use super::problem::{product, size};
use super::{Arithmetic, RightSide};
use crate::args::DeviceName;
use crate::exit::Failure;
use crate::output::{Align, Output, bytes, seconds, table};
use crate::place::device_words;
use crate::plot::{Convergence, Field, Picture, UNIT};

#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    pub(super) n: usize,
    pub(super) dim: usize,
    pub(super) shift: f64,
    pub(super) rhs: Option<RightSide>,
    pub(super) f: Option<String>,
    pub(super) boundary: Option<String>,
    pub(super) coefficient: Option<String>,
    pub(super) seed: Option<u64>,
    #[schemars(with = "String")]
    pub(super) backend: Backend,
    #[schemars(with = "String")]
    pub(super) cycle: Cycle,
    pub(super) pre: usize,
    pub(super) post: usize,
    #[schemars(with = "String")]
    pub(super) smoother: Smoother,
    pub(super) omega: Option<f64>,
    pub(super) precision: Arithmetic,
    pub(super) tolerance: f64,
    pub(super) device: Option<DeviceName>,
    pub(super) devices: Vec<DeviceName>,
    #[schemars(with = "Option<String>")]
    pub(super) kernel_family: Option<KernelFamily>,
    pub(super) levels: usize,
    pub(super) cycles: usize,
    #[schemars(with = "String")]
    pub(super) stop: Stop,
    pub(super) converged: bool,
    pub(super) residual_history: Vec<f64>,
    pub(super) relative_residual: f64,
    pub(super) convergence_factor: Option<f64>,
    pub(super) rounding_floor: f64,
    pub(super) error_max: Option<f64>,
    pub(super) discretisation_error: Option<f64>,
    pub(super) seconds_setup: f64,
    pub(super) seconds_solve: f64,
    pub(super) peak_device_bytes: u64,
    pub(super) out: Option<String>,
    pub(super) checkpoint: Option<String>,
    pub(super) pictures: Vec<String>,
}

/// The residuals of a solve, for the picture beside that of the solution.
pub(super) struct Residuals<'a> {
    pub(super) points: &'a str,
    pub(super) subtitle: String,
    pub(super) history: &'a [f64],
    pub(super) tolerance: f64,
    pub(super) floor: f64,
}

/// Draws the solution into `picture` and the residuals beside it; gives the paths of both.
pub(super) fn draw(picture: &Picture, solution: &Field<'_>, residuals: Residuals<'_>) -> Result<Vec<String>, Failure> {
    let Residuals { points, subtitle, history, tolerance, floor } = residuals;
    picture.field(solution)?;
    let beside = picture.beside("-convergence");
    beside.convergence(&Convergence {
        title: format!("Poisson problem, {points} points: residual after each cycle"),
        subtitle,
        steps: "cycle",
        residual: "relative residual |b − A u| / |b|",
        history,
        tolerance,
        floor: Some(floor),
    })?;
    Ok([picture, &beside].map(|p| p.path().display().to_string()).to_vec())
}

impl Document {
    /// The cycle and its smoother in the field's short form.
    fn method(&self) -> String {
        let cycle = match self.cycle {
            Cycle::V => "V",
            Cycle::W => "W",
            Cycle::Full => "full multigrid, then V",
        };
        let smoother = match self.smoother {
            Smoother::RedBlack => "red-black Gauss-Seidel".to_owned(),
            Smoother::Jacobi => format!("Jacobi with weight {}", self.omega.unwrap_or_default()),
        };
        if self.coefficient.is_some() {
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

    pub(super) fn draw(&mut self, picture: &Picture, u: &[f64]) -> Result<(), Failure> {
        let n = self.n;
        let device = self.device.as_ref().map_or("plain Rust", DeviceName::name);
        let f = match self.rhs {
            None => format!("f = {}", self.f.as_deref().unwrap_or_default()),
            Some(RightSide::Sine) if self.dim == 3 => "f = 3π² sin πx sin πy sin πz".into(),
            Some(RightSide::Sine) => "f = 2π² sin πx sin πy".into(),
            Some(RightSide::Random) => "f random".into(),
        };
        let a = self.coefficient.as_ref().map_or(String::new(), |a| format!(", a = {a}"));
        let plane = if self.dim == 3 { ", plane z = 1/2" } else { "" };
        let problem = format!("{f}{a}{plane}");
        let equation = if self.coefficient.is_some() { "−∇·(a∇u) = f" } else { "−Δu = f" };
        let points = vec![n.to_string(); self.dim].join(" × ");
        let solution = Field {
            title: format!("Poisson problem {equation}, {points} points"),
            subtitle: format!("{problem} · {} · {device}", self.precision()),
            label: "u",
            columns: n,
            bounds: UNIT,
            values: u,
            range: None,
        };
        let residuals = Residuals {
            points: &points,
            subtitle: format!("{} · {} · {device}", self.method(), self.precision()),
            history: &self.residual_history,
            tolerance: self.tolerance,
            floor: self.rounding_floor,
        };
        self.pictures = draw(picture, &solution, residuals)?;
        Ok(())
    }

    pub(super) fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let n = self.n;
        let shift = if self.shift == 0.0 { String::new() } else { format!(" + {} u", self.shift) };
        let points = size(n, self.dim);
        let operator = if self.coefficient.is_some() { "-div(a grad u)" } else { "-Laplace u" };
        out.line(format!("Poisson problem {operator}{shift} = f, {points} points, {}", self.precision()))?;
        out.line("")?;
        let backend = match self.backend {
            Backend::Kernels => "kernels for this stencil",
            Backend::Matrix => "sparse matrices and vectors",
            Backend::Reference => "plain Rust",
        };
        let rhs = match self.rhs {
            None => format!("f = {}", self.f.as_deref().unwrap_or_default()),
            Some(RightSide::Sine) => {
                let scale = if self.shift == 0.0 {
                    format!("{} pi^2", self.dim)
                } else {
                    format!("({} pi^2 + {})", self.dim, self.shift)
                };
                format!("f = {scale} {}", product(self.dim))
            }
            Some(RightSide::Random) => format!("f uniform in [-1, 1), seed {}", self.seed.unwrap_or_default()),
        };
        out.field("device", device_words(&self.devices, self.kernel_family))?;
        out.field("problem", rhs)?;
        if let Some(a) = &self.coefficient {
            out.field("", format!("a = {a}"))?;
        }
        if let Some(boundary) = &self.boundary {
            out.field("", format!("u = {boundary} on the boundary"))?;
        }
        out.field("method", format!("{}; {backend}", self.method()))?;
        out.field("levels", format!("{} ({n} to 3 points per side)", self.levels))?;
        out.line("")?;
        let columns = [("cycle", Align::Right), ("relative residual", Align::Right), ("factor", Align::Right)];
        let rows: Vec<Vec<String>> = self
            .residual_history
            .iter()
            .enumerate()
            .map(|(cycle, residual)| {
                let factor = cycle.checked_sub(1).map(|before| residual / self.residual_history[before]);
                vec![cycle.to_string(), format!("{residual:.3e}"), factor.map_or(String::new(), |f| format!("{f:.3}"))]
            })
            .collect();
        for line in table(&columns, &rows) {
            out.line(line)?;
        }
        out.line("")?;
        let Document { cycles, relative_residual, tolerance, rounding_floor, .. } = self;
        out.field("stop", format!("{} ({cycles} cycles)", self.stop))?;
        out.field(
            "residual",
            format!("{relative_residual:.2e}, tolerance {tolerance:e}, rounding floor about {rounding_floor:.0e}"),
        )?;
        if let (Some(error), Some(stencil)) = (self.error_max, self.discretisation_error) {
            out.field("error", format!("{error:.4e} at most, against {}", product(self.dim)))?;
            let about = if self.shift == 0.0 { ", about pi^2 h^2 / 12" } else { "" };
            out.field("", format!("{stencil:.4e} is the stencil's own{about}"))?;
        }
        let per_cycle = self.seconds_solve / (*cycles).max(1) as f64;
        out.field(
            "time",
            format!(
                "set-up {}, solve {} ({} per cycle)",
                seconds(self.seconds_setup),
                seconds(self.seconds_solve),
                seconds(per_cycle)
            ),
        )?;
        if self.device.is_some() {
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        for (name, file) in [("solution", &self.out), ("checkpoint", &self.checkpoint)] {
            if let Some(file) = file {
                out.field(name, file)?;
            }
        }
        for picture in &self.pictures {
            out.field("picture", picture)?;
        }
        Ok(())
    }
}
