//! What the command draws and prints.

use clinalg::Precision;
use clinalg_bem::heat::{Form, HeatParams, Problem};
use clinalg_bem::surface::Quality;
use clinalg_bem::{Mesh, Point};

use super::{Document, Method, PreconditionerArg, shown};
use crate::exit::Failure;
use crate::output::Output;
use crate::place::device_words;
use crate::plot::{Body, Convergence, Picture};
use crate::text::{bytes, seconds};

impl Document {
    /// Which values [`shown`] gives.
    fn shown(&self) -> String {
        if self.extrapolate {
            return format!("extrapolated to t = {}", self.end_time);
        }
        let begin = self.end_time * (self.steps - 1) as f64 / self.steps as f64;
        format!("mean over t = {begin} to {}", self.end_time)
    }

    fn subtitle(&self) -> String {
        let precision = if self.precision == Precision::F32 { "f32" } else { "f64" };
        format!("{} triangles · {} time steps · {precision} · {}", self.elements, self.steps, self.device.name())
    }

    pub(super) fn draw(&mut self, picture: &Picture, mesh: &Mesh, values: &[f64]) -> Result<(), Failure> {
        let last = shown(values, self.steps, self.extrapolate);
        let (what, label) = match self.problem {
            Problem::Dirichlet => ("flux w = α ∂u/∂n", "w"),
            Problem::Neumann => ("u on the surface", "u"),
        };
        let of_triangle = |k: usize| match self.problem {
            Problem::Dirichlet => last[k],
            Problem::Neumann => mesh.triangles()[k].iter().map(|&v| last[v as usize]).sum::<f64>() / 3.0,
        };
        let corners: Vec<[Point; 3]> = (0..self.elements).map(|k| mesh.corners(k)).collect();
        let colours: Vec<f64> = (0..self.elements).map(of_triangle).collect();
        picture.body(&Body {
            title: format!("Heat equation: {what}, {}", self.shown()),
            subtitle: self.subtitle(),
            label,
            triangles: &corners,
            values: &colours,
        })?;
        let beside = picture.beside("-convergence");
        beside.convergence(&Convergence {
            title: match self.method {
                Method::Gmres => "Heat equation: residual after each iteration of GMRES".into(),
                Method::Forward => "Heat equation: residual after each pass of forward elimination".into(),
            },
            subtitle: self.subtitle(),
            steps: if self.method == Method::Gmres { "iteration" } else { "pass" },
            residual: match (self.method, self.preconditioner) {
                (Method::Gmres, PreconditionerArg::None) => "residual of the recurrence, relative to that of x = b",
                (Method::Gmres, _) => "relative residual of the recurrence",
                _ => "relative residual |b − A x| / |b|",
            },
            history: &self.residual_history,
            tolerance: self.tolerance,
            floor: None,
        })?;
        self.pictures = [picture, &beside].map(|p| p.path().display().to_string()).to_vec();
        Ok(())
    }

    pub(super) fn print(&self, quality: &Quality, params: &HeatParams, out: &mut Output) -> Result<(), Failure> {
        let (given, found) = match self.problem {
            Problem::Dirichlet => ("u", "w = alpha du/dn"),
            Problem::Neumann => ("w = alpha du/dn", "u"),
        };
        out.line(format!("Heat equation by boundary elements: {given} given on the surface, {found} computed"))?;
        out.line("")?;
        out.field("device", device_words(&self.devices, None))?;
        out.field("mesh", format!("{}: {} triangles, {} nodes", self.mesh, self.elements, self.nodes))?;
        let Quality { area, volume, smallest_angle, largest_angle, .. } = quality;
        let angles = format!("{smallest_angle:.0} to {largest_angle:.0} degrees");
        let size = |v: &f64| if (1e-2..1e6).contains(v) { format!("{v:.4}") } else { format!("{v:.4e}") };
        out.field("", format!("area {}, volume {}, angles {angles}", size(area), size(volume)))?;
        out.field("time", format!("{} steps to {}, alpha = {}", self.steps, self.end_time, self.alpha))?;
        if let Some(initial) = &self.initial {
            out.field("start", format!("u = {initial}"))?;
        }
        let form = match self.apply {
            Form::Assembled => format!("stored, {}", bytes(self.stored_bytes)),
            _ => format!("computed in every product (stored it would take {})", bytes(self.stored_bytes)),
        };
        let plan = if self.plan.is_empty() { String::new() } else { format!("; {}", self.plan) };
        out.field("matrix", format!("{form}, algorithm {}{plan}", self.algorithm))?;
        out.line("")?;
        let what = match (self.method, self.preconditioner) {
            (Method::Forward, _) => ("passes of forward elimination", "pass of forward elimination"),
            (_, PreconditionerArg::Opposite) => ("iterations, preconditioned", "iteration, preconditioned"),
            _ => ("iterations", "iteration"),
        };
        let what = if self.iterations == 1 { what.1 } else { what.0 };
        out.field("stop", format!("{} ({} {what})", self.stop, self.iterations))?;
        out.field("residual", format!("{:.2e}, tolerance {:e}", self.relative_residual, self.tolerance))?;
        if let Some(error) = self.error_l2 {
            out.field("error", format!("{error:.4e} in L2 over surface and time, relative"))?;
        }
        self.inside.iter().try_for_each(|inside| super::inside::print(&self.times, inside, out))?;
        self.block_norms.iter().try_for_each(|norms| super::inside::print_norms(norms, params, out))?;
        let [assemble, solve] = [self.seconds_assemble, self.seconds_solve].map(seconds);
        let product = self.seconds_per_apply.map_or(String::new(), |t| format!(" ({} per product)", seconds(t)));
        out.field("seconds", format!("operators {assemble}, solve {solve}{product}"))?;
        out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        for picture in &self.pictures {
            out.field("picture", picture)?;
        }
        if let Some(vtk) = &self.vtk {
            out.field("for ParaView", vtk)?;
        }
        for (name, file) in [("temperatures", &self.out), ("checkpoint", &self.checkpoint)] {
            file.iter().try_for_each(|file| out.field(name, file))?;
        }
        Ok(())
    }
}
