//! What the command says, draws and writes.

use std::fmt::Write as _;
use std::path::Path;

use clinalg::solve::Stop;
use clinalg::{KernelFamily, Precision, counted, shown};
use clinalg_bem::elastodynamics::{C64, ComplexScalar, Domain, Problem, Solution};
use clinalg_bem::{ElementMesh, Point};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::boundary::BoundaryFields;
use super::solver::Solver;
use super::{Args, Method, ProblemArg};
use crate::args::DeviceName;
use crate::data::norm;
use crate::document::BoundaryFiles;
use crate::executor::{Executor, device_description};
use crate::exit::{Exit, Failure};
use crate::output::{Output, Report};
use crate::paths;
use crate::plot::{Body, Picture, Profile};
use crate::text::{bytes, number, precision, seconds};

/// Of the size of a body, how far its largest displacement is drawn.
const DEFORMED: f64 = 0.1;

type Parts = [[f64; 2]; 3];

fn parts(v: &[C64]) -> Parts {
    [0, 1, 2].map(|k| [v[k].re, v[k].im])
}

/// One frequency.
#[derive(Serialize, Deserialize, JsonSchema, Clone)]
pub(super) struct Response {
    pub(super) frequency: f64,
    residual_identity: Option<f64>,
    error_u: Option<f64>,
    error_t: Option<f64>,
    displacement: Parts,
    largest_displacement: f64,
    #[schemars(with = "Option<String>")]
    pub(super) stop: Option<Stop>,
    pub(super) iterations: Option<usize>,
    pub(super) converged: bool,
    pub(super) seconds_assemble: f64,
    pub(super) seconds_factor: Option<f64>,
    pub(super) seconds_solve: f64,
    evaluations_per_second: f64,
}

/// A point in the material.
#[derive(Serialize, JsonSchema)]
pub(super) struct Inside {
    point: Point,
    displacement: Parts,
    stress: [Parts; 3],
}

/// The fields at `points`.
pub(super) fn inside(points: &[Point], fields: &[[C64; 3]], stresses: &[[[C64; 3]; 3]]) -> Vec<Inside> {
    let all = points.iter().zip(fields).zip(stresses);
    all.map(|((&point, u), s)| Inside { point, displacement: parts(u), stress: [0, 1, 2].map(|l| parts(&s[l])) })
        .collect()
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Document {
    mesh: String,
    #[schemars(with = "String")]
    domain: Domain,
    problem: ProblemArg,
    boundary: String,
    method: Method,
    #[schemars(with = "String")]
    precision: Precision,
    elements: usize,
    unknowns: usize,
    elements_per_wavelength: Option<f64>,
    #[serde(flatten)]
    last: Response,
    responses: Vec<Response>,
    points: Vec<Inside>,
    peak_device_bytes: u64,
    device: DeviceName,
    devices: Vec<DeviceName>,
    #[schemars(with = "String")]
    kernel_family: KernelFamily,
    #[serde(flatten)]
    pub(super) files: BoundaryFiles,
    /// Whether all frequencies are solved for to the tolerance.
    #[serde(skip)]
    complete: bool,
}

impl Response {
    pub(super) fn new(frequency: f64, seconds_assemble: f64, residual_identity: Option<f64>) -> Response {
        Response {
            frequency,
            residual_identity,
            error_u: None,
            error_t: None,
            displacement: Parts::default(),
            largest_displacement: 0.0,
            stop: None,
            iterations: None,
            converged: true,
            seconds_assemble,
            seconds_factor: None,
            seconds_solve: 0.0,
            evaluations_per_second: 0.0,
        }
    }

    /// Errors and the displacement at the top.
    pub(super) fn measure<S: ComplexScalar>(
        &mut self,
        problem: &Problem<S>,
        fields: &BoundaryFields,
        solution: &Solution,
        evaluations_per_second: f64,
    ) {
        let mesh = problem.mesh();
        let areas: Vec<f64> = (0..mesh.boundary()).map(|j| mesh.area(j)).collect();
        let squared = |values: &mut dyn Iterator<Item = C64>| -> f64 {
            values.enumerate().map(|(k, v)| areas[k / 3] * v.norm_sqr()).sum()
        };
        let error = |got: &[C64], want: &[C64]| {
            let difference = squared(&mut got.iter().zip(want).map(|(a, b)| a - b));
            (difference / squared(&mut want.iter().copied())).sqrt()
        };
        if let Some((u, t)) = &fields.known {
            // What was given has no error.
            let differs = |a: &[C64]| a != fields.given;
            self.error_u = differs(u).then(|| error(solution.displacements(), u));
            self.error_t = differs(t).then(|| error(solution.tractions(), t));
        }
        self.displacement = parts(&solution.displacements()[3 * top(mesh)..]);
        self.largest_displacement = solution.displacements().chunks(3).map(norm).fold(0.0, f64::max);
        self.evaluations_per_second = evaluations_per_second;
    }
}

/// The element with the largest z, of several the nearest to the z axis.
fn top(mesh: &ElementMesh) -> usize {
    let centre = |j: usize| mesh.centres()[j];
    let key = |j: usize| (centre(j)[2], -centre(j)[0].hypot(centre(j)[1]));
    let better = |a: usize, b: usize| {
        let ((za, ra), (zb, rb)) = (key(a), key(b));
        // Rounding decides nothing.
        let near = 1e-9 * mesh.diameters()[a];
        if zb > za + near || (zb > za - near && rb > ra + near) { b } else { a }
    };
    (0..mesh.boundary()).reduce(better).unwrap_or(0)
}

/// The first line of `--out`.
pub(super) fn table_header() -> String {
    "frequency,x,y,z,ux_re,ux_im,uy_re,uy_im,uz_re,uz_im\n".into()
}

/// Lines of `--out`: the points, or without any the elements.
pub(super) fn append(
    table: &mut String,
    frequency: f64,
    mesh: &ElementMesh,
    points: &[Point],
    fields: &[[C64; 3]],
    solution: &Solution,
) {
    let mut line = |[x, y, z]: Point, u: &[C64]| {
        let numbers = parts(u).concat().iter().map(|v| format!("{v:e}")).collect::<Vec<_>>().join(",");
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{frequency:e},{x:e},{y:e},{z:e},{numbers}");
    };
    if points.is_empty() {
        mesh.centres().iter().zip(solution.displacements().chunks(3)).for_each(|(&x, u)| line(x, u));
    } else {
        points.iter().zip(fields).for_each(|(&x, u)| line(x, u));
    }
}

/// Writes both fields for ParaView, real and imaginary parts.
pub(super) fn write_vtk(path: &Path, mesh: &ElementMesh, solution: &Solution) -> Result<(), Failure> {
    let part = |values: &[C64], k: usize| -> Vec<Point> { values.chunks(3).map(|v| parts(v).map(|c| c[k])).collect() };
    let (u, t) = (solution.displacements(), solution.tractions());
    let fields = [part(u, 0), part(u, 1), part(t, 0), part(t, 1)];
    let names = ["u_re", "u_im", "t_re", "t_im"];
    let fields: Vec<(&str, &[Point])> = names.into_iter().zip(fields.iter().map(Vec::as_slice)).collect();
    Ok(mesh.write_vtk(path, &fields)?)
}

impl Document {
    pub(super) fn new<S: ComplexScalar>(
        args: &Args,
        solver: &Solver<'_, S>,
        executor: &Executor,
        responses: Vec<Response>,
        points: Vec<Inside>,
    ) -> Document {
        let (problem, per_wavelength) = (solver.problem(), solver.elements_per_wavelength());
        let context = problem.context();
        Document {
            mesh: args.mesh.clone(),
            domain: problem.domain(),
            problem: args.problem,
            boundary: args.boundary.clone(),
            method: args.method,
            precision: S::PRECISION,
            elements: problem.mesh().boundary(),
            unknowns: 3 * problem.mesh().boundary(),
            elements_per_wavelength: per_wavelength.is_finite().then_some(per_wavelength),
            complete: responses.len() == args.all_frequencies().len() && responses.iter().all(|r| r.converged),
            last: responses[responses.len() - 1].clone(),
            responses,
            points,
            peak_device_bytes: executor.peak_bytes(),
            device: context.device().into(),
            devices: executor.devices(),
            kernel_family: context.family(),
            files: BoundaryFiles { vtk: paths::name(&args.vtk), out: paths::name(&args.out), ..Default::default() },
        }
    }

    fn subtitle(&self) -> String {
        format!("{} elements · {}", self.elements, precision(self.precision))
    }

    pub(super) fn draw(&mut self, picture: &Picture, mesh: &ElementMesh, solution: &Solution) -> Result<(), Failure> {
        let u = solution.displacements();
        // The mean of the elements around a node.
        let mut moved = vec![([0.0; 3], 0.0); mesh.nodes().len()];
        for (element, u) in mesh.elements().iter().zip(u.chunks(3)) {
            for &node in element {
                let (sum, count) = &mut moved[node as usize];
                (0..3).for_each(|d| sum[d] += u[d].re);
                *count += 1.0;
            }
        }
        let boundary = || (0..mesh.boundary()).flat_map(|j| mesh.corners(j));
        let reach = |d: usize| {
            let (least, most) =
                boundary().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p[d]), b.max(p[d])));
            most - least
        };
        let extent = (0..3).map(reach).fold(0.0, f64::max);
        let largest = self.last.largest_displacement;
        let scale = if largest > 0.0 { DEFORMED * extent / largest } else { 0.0 };
        let place = |node: u32| {
            let (p, (sum, count)) = (mesh.nodes()[node as usize], moved[node as usize]);
            [0, 1, 2].map(|d| p[d] + scale * sum[d] / f64::max(count, 1.0))
        };
        // A triangle has its last corner twice.
        let corners = |j: usize| mesh.elements()[j][..if mesh.is_triangle(j) { 3 } else { 4 }].iter();
        let elements: Vec<Vec<Point>> = (0..u.len() / 3).map(|j| corners(j).copied().map(place).collect()).collect();
        let values: Vec<f64> = u.chunks(3).map(norm).collect();
        let name = picture.draw(&Body {
            title: format!(
                "Elastodynamics: |u| at omega = {}, deformed by {} u",
                shown(self.last.frequency),
                number(scale, 3)
            ),
            subtitle: self.subtitle(),
            label: "|u|",
            elements: &elements,
            values: &values,
        })?;
        self.files.pictures.push(name);
        if let [first, .., last] = &self.responses[..] {
            let beside = picture.beside("-response");
            let curve = |of: fn(&Response) -> f64| -> Vec<f64> { self.responses.iter().map(of).collect() };
            let largest = curve(|r| r.largest_displacement);
            let top = curve(|r| r.displacement.iter().flatten().map(|v| v * v).sum::<f64>().sqrt());
            let curves = match is_one_curve(&largest, &top) {
                true => vec![("|u| at the top (also the largest)".to_owned(), largest)],
                false => vec![("largest |u|".to_owned(), largest), ("|u| at the top".to_owned(), top)],
            };
            let high = curves.iter().flat_map(|(_, values)| values).fold(0.0, |a: f64, &b| a.max(b));
            let name = beside.draw(&Profile {
                title: "Elastodynamics: response over the angular frequency".into(),
                subtitle: self.subtitle(),
                x: ("ω", first.frequency, last.frequency),
                curves: &curves,
                range: (0.0, high),
            })?;
            self.files.pictures.push(name);
        }
        Ok(())
    }
}

/// Whether two curves differ by less than can be seen.
fn is_one_curve(a: &[f64], b: &[f64]) -> bool {
    const SEEN: f64 = 1e-3;
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SEEN * a.abs().max(b.abs()))
}

impl Report for Document {
    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let given = match self.problem {
            ProblemArg::Dirichlet => "displacements given",
            ProblemArg::Neumann => "tractions given",
            ProblemArg::Mixed => "displacements given where z < 0, tractions elsewhere",
        };
        out.line(format!("Elastodynamics by boundary elements: {given}"))?;
        out.line("")?;
        out.field("device", device_description(&self.devices, Some(self.kernel_family)))?;
        let domain = if self.domain == Domain::Interior { "material inside" } else { "material outside" };
        out.field("mesh", format!("{}: {} elements, {} unknowns, {domain}", self.mesh, self.elements, self.unknowns))?;
        if let Some(count) = self.elements_per_wavelength {
            out.field("", format!("{} elements per shear wavelength", number(count, 3)))?;
        }
        out.line("")?;
        let entry = |value: Option<f64>| value.map_or_else(String::new, |v| number(v, 4));
        let columns = [">frequency", ">residual", ">error u", ">error t", ">largest |u|", ">seconds"];
        let row = |r: &Response| {
            let time = r.seconds_assemble + r.seconds_factor.unwrap_or(0.0) + r.seconds_solve;
            let frequency = number(r.frequency, 5);
            let rest = [r.residual_identity, r.error_u, r.error_t, Some(r.largest_displacement)].map(entry);
            [vec![frequency], rest.to_vec(), vec![seconds(time)]].concat()
        };
        out.table(&columns, self.responses.iter().map(row))?;
        out.line("")?;
        for inside in &self.points {
            let component = |[re, im]: [f64; 2]| {
                let sign = if im < 0.0 { '-' } else { '+' };
                format!("{} {sign} {} i", number(re, 6), number(im.abs(), 6))
            };
            let text = inside.displacement.map(component).join(", ");
            out.field("point", format!("{:?}: u = {text}", inside.point))?;
        }
        let last = &self.last;
        let factor = last.seconds_factor.map_or_else(String::new, |time| format!("factors {}, ", seconds(time)));
        let times = [last.seconds_assemble, last.seconds_solve].map(seconds);
        out.field("seconds", format!("matrices {}, {factor}solution {}", times[0], times[1]))?;
        if let (Some(stop), Some(iterations)) = (&last.stop, last.iterations) {
            out.field("stop", format!("{stop} ({})", counted(iterations, "iteration")))?;
        }
        out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        self.files.print("displacements", out)
    }

    fn exit(&self) -> Exit {
        if self.complete { Exit::Done } else { Exit::NotReached }
    }
}
