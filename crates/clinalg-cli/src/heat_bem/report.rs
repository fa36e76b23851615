//! The report on a solution, as text, pictures and JSON.

use std::path::Path;

use clinalg::solve::Stop;
use clinalg::{KernelFamily, Precision, Real};
use clinalg_bem::heat::{Form, Problem};
use clinalg_bem::surface::{Field, Quality};
use clinalg_bem::{Mesh, Point};
use schemars::JsonSchema;
use serde::Serialize;

use super::inside::{self, Inside};
use super::predicted::Predicted;
use super::solver::{Solved, Solver};
use super::{Args, Input, Method, PreconditionerArg};
use crate::args::DeviceName;
use crate::document::BoundaryFiles;
use crate::executor::{Executor, device_description};
use crate::exit::{Exit, Failure};
use crate::output::{Output, Report};
use crate::paths;
use crate::plot::{Body, Convergence, Picture};
use crate::text::{bytes, number, precision, seconds};

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    mesh: String,
    #[schemars(with = "String")]
    problem: Problem,
    boundary: String,
    method: Method,
    preconditioner: PreconditionerArg,
    #[schemars(with = "String")]
    apply: Form,
    #[schemars(with = "String")]
    precision: Precision,
    alpha: f64,
    end_time: f64,
    tolerance: f64,
    elements: usize,
    nodes: usize,
    steps: usize,
    device: DeviceName,
    devices: Vec<DeviceName>,
    #[schemars(with = "String")]
    kernel_family: KernelFamily,
    algorithm: u8,
    plan: String,
    iterations: usize,
    #[schemars(with = "String")]
    stop: Stop,
    converged: bool,
    relative_residual: f64,
    residual_history: Vec<f64>,
    pub(super) error_l2: Option<f64>,
    extrapolate: bool,
    predicted_seconds: Option<Predicted>,
    seconds_assemble: f64,
    pub(super) seconds_per_apply: Option<f64>,
    seconds_solve: f64,
    stored_bytes: u64,
    peak_device_bytes: u64,
    initial: Option<String>,
    pub(super) times: Vec<f64>,
    pub(super) inside: Option<Vec<Inside>>,
    pub(super) block_norms: Option<Vec<f64>>,
    #[serde(flatten)]
    pub(super) files: BoundaryFiles,
    #[serde(skip)]
    quality: Quality,
}

impl Document {
    /// Of a solution; what is computed from it is still to be set.
    pub(super) fn new<T: Real>(
        args: &Args,
        input: &Input,
        solver: &Solver<'_, T>,
        solved: Solved<T>,
        executor: &Executor,
    ) -> Document {
        let (Input { problem, mesh, .. }, Solved { report, time, peak_bytes, .. }) = (input, solved);
        let (matrix, context) = (solver.matrix(), solver.space.context());
        Document {
            mesh: args.mesh.clone(),
            problem: *problem,
            boundary: args.boundary.clone(),
            method: solver.method,
            preconditioner: args.preconditioner,
            apply: if matrix.is_assembled() { Form::Assembled } else { Form::Otf },
            precision: T::PRECISION,
            alpha: args.alpha,
            end_time: args.end_time,
            extrapolate: args.extrapolate,
            tolerance: solver.tolerance,
            elements: mesh.triangles().len(),
            nodes: mesh.nodes().len(),
            steps: args.steps,
            device: context.device().into(),
            devices: executor.devices(),
            kernel_family: context.family(),
            algorithm: solver.algorithm,
            plan: matrix.plan_description(),
            iterations: report.iterations,
            stop: report.stop,
            converged: report.stop.is_success(),
            relative_residual: report.relative_residual,
            residual_history: report.history,
            error_l2: None,
            predicted_seconds: solver.predicted,
            seconds_assemble: solver.assembly.as_secs_f64(),
            seconds_per_apply: None,
            seconds_solve: time.as_secs_f64(),
            stored_bytes: matrix.stored_bytes(),
            peak_device_bytes: peak_bytes,
            initial: args.initial.clone(),
            times: Vec::new(),
            inside: None,
            block_norms: None,
            files: BoundaryFiles { vtk: paths::name(&args.vtk), out: paths::name(&args.out), ..Default::default() },
            quality: mesh.quality(),
        }
    }

    /// Writes both boundary values for ParaView.
    pub(super) fn write_vtk(&self, path: &Path, mesh: &Mesh, found: &[f64], given: &[f64]) -> Result<(), Failure> {
        let [found, given] = [found, given].map(|values| shown(values, self.steps, self.extrapolate));
        let fields = match self.problem {
            Problem::Dirichlet => [Field::Triangles("w", &found), Field::Nodes("u", &given)],
            Problem::Neumann => [Field::Triangles("w", &given), Field::Nodes("u", &found)],
        };
        Ok(mesh.write_vtk(path, &fields)?)
    }

    pub(super) fn warn_of_tolerance(&self) {
        let missed = matches!(self.stop, Stop::Stagnated | Stop::IterationLimit | Stop::RoundingFloor);
        if self.method == Method::Gmres && missed {
            log::warn!(
                target: "clinalg",
                "GMRES has not met the tolerance; --method forward solves the time steps one after the other, without iterations"
            );
        }
    }

    /// Which values [`shown`] gives.
    fn shown(&self) -> String {
        if self.extrapolate {
            return format!("extrapolated to t = {}", number(self.end_time, 5));
        }
        let begin = self.end_time * (self.steps - 1) as f64 / self.steps as f64;
        format!("mean over t = {} to {}", number(begin, 5), number(self.end_time, 5))
    }

    fn subtitle(&self) -> String {
        format!("{} triangles · {} time steps · {}", self.elements, self.steps, precision(self.precision))
    }

    pub(super) fn draw(&mut self, picture: &Picture, mesh: &Mesh, values: &[f64]) -> Result<(), Failure> {
        let last = shown(values, self.steps, self.extrapolate);
        let (what, label) = match self.problem {
            Problem::Dirichlet => ("flux w = alpha du/dn", "w"),
            Problem::Neumann => ("u on the surface", "u"),
        };
        let of_triangle = |k: usize| match self.problem {
            Problem::Dirichlet => last[k],
            Problem::Neumann => mesh.triangles()[k].iter().map(|&v| last[v as usize]).sum::<f64>() / 3.0,
        };
        let corners: Vec<Vec<Point>> = (0..self.elements).map(|k| mesh.corners(k).to_vec()).collect();
        let colours: Vec<f64> = (0..self.elements).map(of_triangle).collect();
        let name = picture.draw(&Body {
            title: format!("Heat equation: {what}, {}", self.shown()),
            subtitle: self.subtitle(),
            label,
            elements: &corners,
            values: &colours,
        })?;
        let beside = picture.beside("-convergence");
        let convergence = beside.draw(&Convergence {
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
            starts: vec![0],
            tolerance: self.tolerance,
            floor: None,
        })?;
        self.files.pictures = vec![name, convergence];
        Ok(())
    }
}

impl Report for Document {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let (given, found) = match self.problem {
            Problem::Dirichlet => ("u", "w = alpha du/dn"),
            Problem::Neumann => ("w = alpha du/dn", "u"),
        };
        out.line(format!("Heat equation by boundary elements: {given} given on the surface, {found} computed"))?;
        out.line("")?;
        out.field("device", device_description(&self.devices, None))?;
        out.field("mesh", format!("{}: {} triangles, {} nodes", self.mesh, self.elements, self.nodes))?;
        let Quality { area, volume, smallest_angle, largest_angle, .. } = &self.quality;
        let angles = format!("{smallest_angle:.0} to {largest_angle:.0} degrees");
        let [area, volume] = [area, volume].map(|v| number(*v, 6));
        out.field("", format!("area {area}, volume {volume}, angles {angles}"))?;
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
            (_, PreconditionerArg::Operator) => ("iterations, preconditioned", "iteration, preconditioned"),
            _ => ("iterations", "iteration"),
        };
        let what = if self.iterations == 1 { what.1 } else { what.0 };
        out.field("stop", format!("{} ({} {what})", self.stop, self.iterations))?;
        out.field(
            "residual",
            format!("{}, tolerance {}", number(self.relative_residual, 3), clinalg::shown(self.tolerance)),
        )?;
        if let Some(error) = self.error_l2 {
            out.field("error", format!("{} in L2 over surface and time, relative", number(error, 5)))?;
        }
        self.inside.iter().try_for_each(|inside| inside::print(&self.times, inside, out))?;
        self.block_norms
            .iter()
            .try_for_each(|norms| inside::print_norms(norms, self.end_time / self.steps as f64, out))?;
        let [assemble, solve] = [self.seconds_assemble, self.seconds_solve].map(seconds);
        let product = self.seconds_per_apply.map_or(String::new(), |t| format!(" ({} per product)", seconds(t)));
        out.field("seconds", format!("operators {assemble}, solve {solve}{product}"))?;
        out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        self.files.print("temperatures", out)
    }

    fn exit(&self) -> Exit {
        match self.stop {
            Stop::Converged | Stop::RoundingFloor => Exit::Done,
            _ => Exit::NotReached,
        }
    }
}

/// The values on the surface that are drawn and written: means over the last time step, or extrapolated to its end by the
/// parabola that has the means of the last three steps (with two steps, the line): (11 a - 7 b + 2 c) / 6 for the means a, b, c
/// from the last one back.
fn shown(values: &[f64], steps: usize, extrapolate: bool) -> Vec<f64> {
    let count = values.len() / steps;
    let of = |back: usize| &values[count * (steps - 1 - back)..count * (steps - back)];
    match (extrapolate, steps) {
        (true, 3..) => (0..count).map(|k| (11.0 * of(0)[k] - 7.0 * of(1)[k] + 2.0 * of(2)[k]) / 6.0).collect(),
        (true, 2) => (0..count).map(|k| 1.5 * of(0)[k] - 0.5 * of(1)[k]).collect(),
        _ => of(0).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_parabola_is_extrapolated_exactly() {
        // The means of t^2 over eight steps to t = 1; two places with multiples of it.
        let mean = |k: usize| (3 * k * k + 3 * k + 1) as f64 / 192.0;
        let values: Vec<f64> = (0..8).flat_map(|k| [mean(k), 2.0 * mean(k)]).collect();
        assert!((shown(&values, 8, false)[0] - 0.880_208).abs() < 1e-6);
        let end = shown(&values, 8, true);
        assert!((end[0] - 1.0).abs() < 1e-14 && (end[1] - 2.0).abs() < 1e-14, "{end:?}");
        assert_eq!(shown(&[1.0, 3.0], 2, true), [4.0]);
        assert_eq!(shown(&[1.0], 1, true), [1.0]);
    }
}
