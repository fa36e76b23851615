//! The report on a solution, in words, pictures and JSON.

use clinalg::multigrid::{Backend, Cycle, Smoother};
use clinalg::solve::Stop;
use clinalg::{KernelFamily, Real};
use schemars::JsonSchema;
use serde::Serialize;

use super::problem::product;
use super::{Arithmetic, RightSide};
use crate::args::DeviceName;
use crate::data::Lattice;
use crate::exit::Failure;
use crate::output::Output;
use crate::place::device_words;
use crate::plot::{Convergence, Field, Picture};
use crate::text::{Align, bytes, seconds, table};

/// The report.
#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    pub(super) points: Vec<usize>,
    pub(super) size: Vec<f64>,
    pub(super) sides: Vec<String>,
    pub(super) cells: bool,
    pub(super) diffusion: Vec<f64>,
    pub(super) mixed: Vec<f64>,
    pub(super) tensor: Vec<String>,
    pub(super) order: usize,
    pub(super) coefficient: Option<String>,
    pub(super) shift: f64,
    pub(super) rhs: Option<RightSide>,
    pub(super) f: Option<String>,
    pub(super) boundary: Option<String>,
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
    pub(super) imbalance: Option<f64>,
    pub(super) error_max: Option<f64>,
    pub(super) discretisation_error: Option<f64>,
    pub(super) seconds_setup: f64,
    pub(super) seconds_solve: f64,
    pub(super) peak_device_bytes: u64,
    pub(super) out: Option<String>,
    pub(super) checkpoint: Option<String>,
    pub(super) pictures: Vec<String>,
    /// Whether it is a square or a cube with the fastest kernels.
    #[serde(skip)]
    pub(super) regular: bool,
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

impl Document {
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

    /// Draws the solution, of three dimensions on the plane in the middle of the last one, into `picture` and the residuals beside
    /// it.
    pub(super) fn draw<T: Real>(&mut self, picture: &Picture, lattice: &Lattice, u: &[T]) -> Result<(), Failure> {
        let plane = lattice.points(0) * lattice.points(1);
        let middle = lattice.points(2) / 2;
        let values: Vec<f64> = u[middle * plane..][..plane].iter().map(|u| u.into_f64()).collect();
        let at = lattice.coordinates(lattice.dim() - 1);
        let across = if lattice.dim() == 3 { format!(", plane z = {}", at[middle]) } else { String::new() };
        let device = self.device.as_ref().map_or("plain Rust", DeviceName::name);
        let k = self.coefficient.as_ref().map_or(String::new(), |k| format!(", k = {k}"));
        let k = self.tensor.iter().fold(k, |k, entry| format!("{k}, {entry}"));
        let points = self.numbers_of_points(" × ");
        picture.field(&Field {
            title: format!("Poisson problem {} = f, {points} points", self.operator()),
            subtitle: format!("{}{k}{across} · {} · {device}", self.source(), self.precision()),
            label: "u",
            columns: lattice.points(0),
            bounds: [0, 1].map(|axis| match &lattice.coordinates(axis)[..] {
                [first, .., last] => [*first, *last],
                // One point stands for the whole direction.
                _ => [0.0, self.size[axis]],
            }),
            values: &values,
            range: None,
        })?;
        let beside = picture.beside("-convergence");
        beside.convergence(&Convergence {
            title: format!("Poisson problem, {points} points: residual after each cycle"),
            subtitle: format!("{} · {} · {device}", self.method(), self.precision()),
            steps: "cycle",
            residual: "relative residual |b − A u| / |b|",
            history: &self.residual_history,
            tolerance: self.tolerance,
            floor: Some(self.rounding_floor),
        })?;
        self.pictures = [picture, &beside].map(|p| p.path().display().to_string()).to_vec();
        Ok(())
    }

    pub(super) fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let shift = if self.shift == 0.0 { String::new() } else { format!(" + {} u", self.shift) };
        let (points, places) = (self.numbers_of_points(" x "), if self.cells { "cells" } else { "points" });
        let size = self.size.iter().map(f64::to_string).collect::<Vec<_>>().join(" x ");
        let size = if self.is_unit() { String::new() } else { format!(" on {size}") };
        let operator = self.operator();
        out.line(format!("Poisson problem {operator}{shift} = f, {points} {places}{size}, {}", self.precision()))?;
        out.line("")?;
        out.field("device", device_words(&self.devices, self.kernel_family))?;
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
        let factor = self.convergence_factor.map_or(String::new(), |factor| format!(", factor {factor:.3}"));
        out.field("stop", format!("{} ({cycles} cycles{factor})", self.stop))?;
        out.field(
            "residual",
            format!("{relative_residual:.2e}, tolerance {tolerance:e}, rounding floor about {rounding_floor:.0e}"),
        )?;
        if let Some(imbalance) = self.imbalance {
            out.field("imbalance", format!("{imbalance:.1e} of f and the fluxes, removed; the mean of u is 0"))?;
        }
        if let Some(error) = self.error_max {
            out.field("error", format!("{error:.4e} at most, against the exact solution"))?;
        }
        if let Some(stencil) = self.discretisation_error {
            let about = if self.shift == 0.0 { ", about pi^2 h^2 / 12" } else { "" };
            out.field("", format!("{stencil:.4e} is the stencil's own{about}"))?;
        }
        let per_cycle = seconds(self.seconds_solve / (*cycles).max(1) as f64);
        let (setup, solve) = (seconds(self.seconds_setup), seconds(self.seconds_solve));
        out.field("time", format!("set-up {setup}, solve {solve} ({per_cycle} per cycle)"))?;
        if self.device.is_some() {
            out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        }
        self.out.iter().try_for_each(|file| out.field("solution", file))?;
        self.checkpoint.iter().try_for_each(|file| out.field("checkpoint", file))?;
        self.pictures.iter().try_for_each(|file| out.field("picture", file))
    }
}
