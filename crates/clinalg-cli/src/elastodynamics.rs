//! `clinalg elastodynamics`.

mod boundary;
mod report;
mod resume;
mod solver;

use std::path::PathBuf;

use clap::ValueEnum;
use clinalg::Complex;
use clinalg::multigrid::Backend;
use clinalg::solve::GmresParams;
use clinalg_bem::elastodynamics::{ComplexScalar, Domain, Material, Rule};
use clinalg_bem::{ElementMesh, Point};
use schemars::JsonSchema;
use serde::Serialize;

use self::boundary::BoundaryValues;
pub(crate) use self::report::Document;
use self::resume::Sweep;
use self::solver::Solver;
use crate::args::{self, PrecisionArg};
use crate::checkpoint::Checkpoints;
use crate::data::{norm, read_points};
use crate::executor::Executor;
use crate::exit::{Exit, Failure, check_options, usage};
use crate::global::Global;
use crate::output::Output;
use crate::paths::{check_outputs, write_file};
use crate::plot::{Picture, PlotArgs};

/// Solve elastodynamics in the frequency domain by boundary elements
///
/// Waves exp(i omega t) in an elastic material inside or outside a closed surface, or in a half-space under a patch of its surface.
/// Displacements or tractions are given on the boundary elements, the others are computed.
#[derive(clap::Args)]
#[command(after_help = "\
JSON keys: mesh, domain, problem, boundary, method, precision, elements, unknowns,
frequency, elements_per_wavelength, residual_identity, error_u, error_t,
displacement, largest_displacement, stop, iterations, converged, responses, points,
seconds_assemble, seconds_factor, seconds_solve, evaluations_per_second, peak_device_bytes, device, kernel_family,
pictures, vtk, out, checkpoint, devices. Each of points has displacement and stress (by rows), as pairs
[re, im].
residual_identity is |H u - G t| / |G t| of the known field of point-force; error_u
and error_t are relative, in L2 over the surface, null where nothing is known.
displacement is that of the element nearest to the top (the largest z, then the
nearest to the z axis): [re, im] of x, y, z. With --frequencies responses has an
entry for each, and the keys above are those of the last one. seconds_assemble
includes kernel compilation in the first one.

A formula EXPR gives the pressure p in terms of x, y, z and the normal nx, ny, nz out
of the material: tractions -p n, or with dirichlet displacements -p n. It may use
+ - * / ^, comparisons, if(c,a,b), min, max, sin, cos, exp, sqrt, abs, pi.

Examples:
  clinalg elastodynamics                     a point force in a cavity, 96 elements
  clinalg elastodynamics --mesh cavity:8 --problem neumann --boundary pressure
  clinalg elastodynamics --mesh cavity:8 --method gmres --otf --devices 0,1
  clinalg elastodynamics --mesh half-space:12 --problem neumann \\
    --boundary 'if(abs(x)<0.2, if(abs(y)<0.2, 1, 0), 0)' --frequencies 0:4:9 --plot c.png

Ctrl-C ends the run after the current iteration of GMRES, with LU after the current assembly or
factorisation. It writes a checkpoint of the frequencies that are done and of the state of GMRES.
--resume FILE continues from it; on the same device the result is bitwise that of an uninterrupted
run. Before the first frequency is assembled (with LU: solved) Ctrl-C ends the program at once.

The exit code is 0; 1 if GMRES stops before its tolerance or Ctrl-C ends the run.")]
pub(crate) struct Args {
    /// cubed-sphere:N or cavity:N (radius 1), cube:N (side 2), half-space:N (a patch of side 2), disc:N (a disc of radius 1 of the surface of a
    /// half-space, with rings around it out to 4), with N elements along an edge, or a file .obj, .off, .stl or .msh
    #[arg(long, default_value = "cavity:4")]
    mesh: String,
    /// Angular frequency omega; 0 for statics
    #[arg(long, default_value_t = 1.0, value_parser = args::at_least_zero, value_name = "OMEGA", allow_hyphen_values = true)]
    frequency: f64,
    /// N angular frequencies from A to B in place of --frequency
    #[arg(long, value_parser = frequencies, value_name = "A:B:N", conflicts_with = "frequency")]
    frequencies: Option<FrequencyRange>,
    /// Shear modulus
    #[arg(long, default_value_t = 1.0, value_parser = args::above_zero, allow_hyphen_values = true)]
    shear: f64,
    /// Poisson's ratio, above -1 and below 0.5
    #[arg(long, default_value_t = 0.3, value_name = "NU", allow_hyphen_values = true)]
    poisson: f64,
    /// Density
    #[arg(long, default_value_t = 1.0, value_parser = args::above_zero, value_name = "RHO", allow_hyphen_values = true)]
    density: f64,
    /// Hysteretic damping ratio: the shear modulus times 1 + 2 i D
    #[arg(long, default_value_t = 0.0, value_parser = args::at_least_zero, value_name = "D", allow_hyphen_values = true)]
    damping: f64,
    /// The side of the surface on which the material lies [default: exterior for cavity, else interior]
    #[arg(long, value_enum)]
    domain: Option<DomainArg>,
    /// Which boundary value is given
    #[arg(long, value_enum, default_value_t = ProblemArg::Dirichlet)]
    problem: ProblemArg,
    /// The given values: those of a point force outside the material, a unit pressure, or a formula for the pressure
    #[arg(long, default_value = "point-force", value_name = "NAME|EXPR", allow_hyphen_values = true)]
    boundary: String,
    /// Where the point force acts [default: 0.2,-0.1,0.15 in a cavity, else 1.6,-0.9,0.7]
    #[arg(long, value_parser = args::point, value_name = "X,Y,Z", allow_hyphen_values = true)]
    source: Option<args::Place>,
    /// The point force [default: 1,0.5,-0.3]
    #[arg(long, value_parser = args::point, value_name = "FX,FY,FZ", allow_hyphen_values = true)]
    force: Option<args::Place>,
    /// Solver of the system
    #[arg(long, value_enum, default_value_t = Method::Lu)]
    method: Method,
    /// Residual that GMRES has to reach [default: 1e-8 in f64, 1e-5 in f32]
    #[arg(long, value_name = "T", value_parser = args::tolerance, allow_hyphen_values = true)]
    tol: Option<f64>,
    /// Maximum number of iterations of GMRES per frequency; with --checkpoint the run ends there
    #[arg(long, default_value_t = GmresParams::default().stopping.max_iterations, value_name = "COUNT", value_parser = args::positive, allow_hyphen_values = true)]
    max_iterations: usize,
    /// Gauss points: an even number per direction, or adaptive by the distance
    #[arg(long, default_value = "8", value_parser = rule, value_name = "N|adaptive", allow_hyphen_values = true)]
    rule: Rule,
    /// Algorithm of the assembly: tiled, or a work-group for each pair of elements as published
    #[arg(long, value_enum, default_value_t = AlgorithmArg::Tiled)]
    algorithm: AlgorithmArg,
    /// Compute the products of GMRES from the Gauss points each time instead of storing H and G
    #[arg(long)]
    otf: bool,
    /// Precision of the computation on the device
    #[arg(long, value_enum, default_value_t = PrecisionArg::F64)]
    precision: PrecisionArg,
    /// File of points in the material, three numbers per line, at which displacements and stresses are evaluated
    #[arg(long, value_name = "FILE")]
    points: Option<PathBuf>,
    /// Write displacements as CSV: at the --points, or else on the elements
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the deformed surface coloured by |u| into FILE (.png or .svg), and with --frequencies the response into a second file (-response)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    style: PlotArgs,
    /// Write displacements and tractions for ParaView (.vtu), real and imaginary parts
    #[arg(long, value_name = "FILE")]
    vtk: Option<PathBuf>,
    /// Write a checkpoint (.npz) after each frequency but the last, and if the run is ended early; Ctrl-C writes clinalg-elastodynamics-checkpoint.npz without this option
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Continue from a checkpoint; limits, tolerances and devices given with it override those of its run, all other options must stay the same; files to write are not taken from the checkpoint: name them again
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum DomainArg {
    /// Inside the surface
    Interior,
    /// Outside the surface, unbounded
    Exterior,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ProblemArg {
    /// Displacements are given
    Dirichlet,
    /// Tractions are given
    Neumann,
    /// Displacements are given where z < 0, tractions elsewhere
    Mixed,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// LU factors of the dense matrix
    Lu,
    /// Generalised minimal residuals; with --otf without stored matrices
    Gmres,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum AlgorithmArg {
    /// A work-item for each collocation point
    Tiled,
    /// A work-group for each pair of elements
    Pairwise,
}

/// Frequencies from the first to the last.
#[derive(Debug, Clone, Copy)]
struct FrequencyRange {
    first: f64,
    last: f64,
    count: usize,
}

fn frequencies(text: &str) -> Result<FrequencyRange, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let fault = || "expected A:B:N, from A >= 0 to B > A in N steps, N from 2 to 10000, such as 0:4:9".to_string();
    let [first, last, count] = parts[..] else { return Err(fault()) };
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|v| v.is_finite() && *v >= 0.0);
    match (number(first), number(last), count.trim().parse()) {
        (Some(first), Some(last), Ok(count)) if last > first && (2..=10_000).contains(&count) => {
            Ok(FrequencyRange { first, last, count })
        }
        _ => Err(fault()),
    }
}

fn rule(text: &str) -> Result<Rule, String> {
    match (text.trim(), text.trim().parse()) {
        ("adaptive", _) => Ok(Rule::Adaptive),
        (_, Ok(n)) if (2..=16).contains(&n) && n % 2 == 0 => Ok(Rule::Fixed(n)),
        _ => Err("expected an even number from 2 to 16, or adaptive".into()),
    }
}
pub(crate) fn run(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    match args.precision {
        PrecisionArg::F32 => solve::<Complex<f32>>(args, global, out),
        PrecisionArg::F64 => solve::<Complex<f64>>(args, global, out),
    }
}

/// The surfaces that `--mesh` names, each with a number of elements along an edge.
pub(crate) const MESHES: [&str; 5] = ["cubed-sphere:4", "cavity:4", "cube:4", "half-space:8", "disc:4"];

impl Args {
    fn surface(&self) -> Result<ElementMesh, Failure> {
        let expected = "cubed-sphere:N, cavity:N, cube:N, half-space:N, disc:N or a file";
        let Some((name, count)) = self.mesh.split_once(':').filter(|(name, _)| name.len() > 1) else {
            return ElementMesh::read(&self.mesh).map_err(|error| match error {
                clinalg::Error::Value { argument: "mesh", expected: file, .. } => {
                    Failure::usage(format!("--mesh {}: expected {expected}: {file}", self.mesh))
                }
                other => other.into(),
            });
        };
        let n: usize = count
            .parse()
            .map_err(|_| Failure::usage(format!("--mesh {}: `{count}` is not a number of elements", self.mesh)))?;
        Ok(match name {
            "cubed-sphere" | "cavity" => ElementMesh::cubed_sphere(n, 1.0)?,
            "cube" => ElementMesh::cube(n, 2.0)?,
            "half-space" => ElementMesh::half_space(n, 2.0, 2.0)?,
            "disc" => ElementMesh::half_space_disc(n, 1.0, 4.0)?,
            _ => return usage!("--mesh {}: expected {expected}", self.mesh),
        })
    }

    fn domain(&self) -> Domain {
        match self.domain {
            Some(DomainArg::Exterior) => Domain::Exterior,
            None if self.mesh.starts_with("cavity:") => Domain::Exterior,
            _ => Domain::Interior,
        }
    }

    fn all_frequencies(&self) -> Vec<f64> {
        match self.frequencies {
            None => vec![self.frequency],
            Some(FrequencyRange { first, last, count }) => {
                (0..count).map(|k| first + (last - first) * k as f64 / (count - 1) as f64).collect()
            }
        }
    }
}

/// What options and files describe.
struct Input {
    mesh: ElementMesh,
    domain: Domain,
    material: Material,
    frequencies: Vec<f64>,
    points: Vec<Point>,
    boundary: BoundaryValues,
}

impl Input {
    fn read(args: &Args) -> Result<Input, Failure> {
        let material = Material::new(args.shear, args.poisson, args.density)?.with_damping(args.damping)?;
        let (mesh, domain, frequencies) = (args.surface()?, args.domain(), args.all_frequencies());
        let points = args.points.as_deref().map_or(Ok(Vec::new()), read_points)?;
        let boundary = BoundaryValues::new(args, &mesh, domain)?;
        let of_point_force = args.boundary.trim() == "point-force";
        let faults = [
            (args.otf && args.method == Method::Lu, "--otf stores no matrix: it needs --method gmres"),
            (
                args.tol.is_some() && args.method == Method::Lu,
                "--tol is for --method gmres; LU factors solve up to rounding",
            ),
            (
                !of_point_force && (args.source.is_some() || args.force.is_some()),
                "--source and --force are for --boundary point-force",
            ),
            (
                args.otf && args.algorithm == AlgorithmArg::Pairwise,
                "--algorithm pairwise is for assembled matrices, but --otf assembles none: leave out one of them",
            ),
        ];
        check_options(&faults)?;
        Ok(Input { mesh, domain, material, frequencies, points, boundary })
    }

    fn highest_frequency(&self) -> f64 {
        self.frequencies.last().copied().unwrap_or(0.0)
    }
}

fn solve<S: ComplexScalar>(args: &Args, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    out.phase("options and files");
    let picture = args.plot.as_deref().map(|path| Picture::new(path, &args.style)).transpose()?;
    check_outputs(&[("--vtk", &args.vtk, &["vtu"]), ("--out", &args.out, &["csv"])])?;
    let input = Input::read(args)?;
    let checkpoints = Checkpoints::new("elastodynamics", &args.checkpoint, &args.resume)?;
    let mut sweep = Sweep::<S>::new(checkpoints.resumed(|| Ok(resume::fingerprint::<S>(args, &input)))?)?;

    out.phase("device");
    let executor = Executor::new(global, Backend::Kernels)?;
    let mut solver = Solver::set_up(args, &input, &executor, out)?;
    let (last, checkpoint) = solver.run(&mut sweep, &checkpoints, out)?;
    if let Some(path) = &args.out {
        write_file(path, sweep.table.as_bytes())?;
    }
    let Some((solution, fields)) = last else {
        return usage!("--resume: all frequencies of the checkpoint are done; nothing is left to compute");
    };
    let stresses = solver.at_points(|problem| problem.stresses(&solution, &input.points))?;
    solver.progress.clear();

    let inside = report::inside(&input.points, &fields, &stresses);
    let mut document = Document::new(args, &solver, &executor, sweep.responses, inside);
    document.files.checkpoint = checkpoint;
    if let Some(path) = &args.vtk {
        report::write_vtk(path, &input.mesh, &solution)?;
    }
    if let Some(picture) = &picture {
        document.draw(picture, &input.mesh, &solution)?;
    }
    let norms = || Ok([("u", norm(solution.displacements())), ("t", norm(solution.tractions()))]);
    out.report(&document, executor.contexts(), norms)
}
