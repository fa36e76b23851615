//! What is given on the surface, and at the start.

use clinalg_bem::heat::data::{PointSource, error_nodes, error_triangles, project_nodes, project_triangles};
use clinalg_bem::heat::{HeatParams, InitialHeat, Problem};
use clinalg_bem::{Mesh, Point};
use clinalg_ode::Function;

use super::{Args, ProblemArg};
use crate::exit::{Failure, usage};

/// Where boundary values come from.
enum Source {
    /// Those of a known solution.
    Known(PointSource),
    Formula(Function),
}

/// An initial temperature.
struct Start {
    formula: Function,
    heat: InitialHeat,
}

/// What is given on the surface and at the start.
pub(super) struct BoundaryValues {
    source: Source,
    start: Option<Start>,
}

/// Boundary values of all time steps.
pub(super) struct BoundaryData {
    /// As given.
    pub(super) given: Vec<f64>,
    /// Without the part of the initial temperature: what is solved for vanishes at the start.
    pub(super) homogeneous: Vec<f64>,
    /// The part of the initial temperature in the values that are computed.
    of_start: Option<Vec<f64>>,
}

impl BoundaryData {
    /// A solution with the part of the initial temperature.
    pub(super) fn whole(&self, found: Vec<f64>) -> Vec<f64> {
        match &self.of_start {
            Some(part) => found.iter().zip(part).map(|(found, part)| found + part).collect(),
            None => found,
        }
    }
}

/// Part of the largest |u| by which u may differ from the initial temperature at t = 0: the rounding of formulas that agree there.
const START: f64 = 1e-10;

impl Start {
    fn new(text: &str, mesh: &Mesh, alpha: f64) -> Result<Start, Failure> {
        let formula =
            Function::parse(text, &["x", "y", "z"]).map_err(|error| Failure::usage(format!("--initial: {error}")))?;
        let heat = InitialHeat::new(mesh, alpha, &|x| formula.at(&x, 0.0)).map_err(|error| match error {
            clinalg::Error::Value { argument: "initial", expected, got } => {
                Failure::usage(format!("--initial {text}: expected {expected}; got {got}"))
            }
            other => other.into(),
        })?;
        Ok(Start { formula, heat })
    }
}

impl BoundaryValues {
    pub(super) fn new(args: &Args, mesh: &Mesh, params: &HeatParams) -> Result<BoundaryValues, Failure> {
        if args.boundary.trim() == "fundamental" {
            let source = args.source.0;
            let inside = mesh.contains(source);
            if inside || mesh.touches(source) {
                let at = if inside { "inside" } else { "on" };
                return usage!("--source {source:?} is {at} the surface; it must lie outside");
            }
            if args.initial.is_some() {
                return usage!(
                    "--initial needs the boundary values that belong to it: give a formula for --boundary; those of `fundamental` begin with u = 0"
                );
            }
            return Ok(BoundaryValues {
                source: Source::Known(PointSource { source, alpha: args.alpha }),
                start: None,
            });
        }
        let formula = Function::parse(&args.boundary, &["x", "y", "z", "nx", "ny", "nz"])
            .map_err(|error| Failure::usage(format!("--boundary: {error}")))?;
        let start = args.initial.as_deref().map(|text| Start::new(text, mesh, args.alpha)).transpose()?;
        let given = BoundaryValues { source: Source::Formula(formula), start };
        // A flux may start at once.
        if matches!(args.problem, ProblemArg::Dirichlet) {
            given.check_start(mesh, params)?;
        }
        Ok(given)
    }

    fn at(&self, problem: Problem, x: Point, n: Point, t: f64) -> f64 {
        match (&self.source, problem) {
            (Source::Known(source), Problem::Dirichlet) => source.value(x, t),
            (Source::Known(source), Problem::Neumann) => source.flux(x, n, t),
            (Source::Formula(f), _) => f.at(&[x[0], x[1], x[2], n[0], n[1], n[2]], t),
        }
    }

    /// The values of all time steps, projected.
    pub(super) fn data(&self, problem: Problem, mesh: &Mesh, params: &HeatParams) -> Result<BoundaryData, Failure> {
        let given = project(problem, mesh, params, &|x, n, t| self.at(problem, x, n, t))?;
        if matches!(self.source, Source::Known(_)) && given.iter().all(|v| *v == 0.0) {
            return usage!(
                "--source: its heat does not reach the surface before the end time, so all values are 0: move it nearer, \
                           or raise --end-time or --alpha"
            );
        }
        let (homogeneous, of_start) = match self.of_start(problem, mesh, params)? {
            Some([part, other]) => (given.iter().zip(&part).map(|(all, part)| all - part).collect(), Some(other)),
            None => (given.clone(), None),
        };
        Ok(BoundaryData { given, homogeneous, of_start })
    }

    /// The error of a solution, relative, in L2 over surface and time; `None` where the exact one is not known.
    pub(super) fn error(
        &self,
        problem: Problem,
        mesh: &Mesh,
        params: &HeatParams,
        found: &[f64],
    ) -> Result<Option<f64>, Failure> {
        let Source::Known(exact) = &self.source else { return Ok(None) };
        Ok(Some(match problem {
            Problem::Dirichlet => {
                error_triangles(mesh, params, found, &|x: Point, n: Point, t: f64| exact.flux(x, n, t))?
            }
            Problem::Neumann => error_nodes(mesh, params, found, &|x: Point, _: Point, t: f64| exact.value(x, t))?,
        }))
    }

    /// What the initial temperature alone makes of the given values and of the wanted ones, as of a body without a surface.
    fn of_start(&self, problem: Problem, mesh: &Mesh, params: &HeatParams) -> Result<Option<[Vec<f64>; 2]>, Failure> {
        let Some(Start { heat, .. }) = &self.start else { return Ok(None) };
        let values = |problem| match problem {
            Problem::Dirichlet => project(problem, mesh, params, &|x, _, t| heat.value(x, t)),
            Problem::Neumann => project(problem, mesh, params, &|x, n, t| heat.flux(x, n, t)),
        };
        let other = if problem == Problem::Dirichlet { Problem::Neumann } else { Problem::Dirichlet };
        Ok(Some([values(problem)?, values(other)?]))
    }

    /// The same in a point.
    pub(super) fn of_start_at(&self, point: Point, time: f64) -> f64 {
        self.start.as_ref().map_or(0.0, |start| start.heat.value(point, time))
    }

    /// An error where u is not the initial temperature at t = 0.
    fn check_start(&self, mesh: &Mesh, params: &HeatParams) -> Result<(), Failure> {
        let centre = |k: usize| (mesh.point(k, [1.0 / 3.0; 3]), mesh.normals()[k]);
        let at = |k: usize, t: f64| self.at(Problem::Dirichlet, centre(k).0, centre(k).1, t);
        let start = |k: usize| self.start.as_ref().map_or(0.0, |start| start.formula.at(&centre(k).0, 0.0));
        let all = 0..mesh.triangles().len();
        let later = |k: usize| (0..=params.steps).map(move |s| at(k, s as f64 * params.step()).abs());
        // u at t = 0 counts only with an initial temperature.
        let largest = all.clone().flat_map(|k| later(k).skip(usize::from(self.start.is_none()))).fold(0.0, f64::max);
        match all.map(|k| (k, at(k, 0.0))).find(|(k, u)| u.is_nan() || (u - start(*k)).abs() > START * largest) {
            None => Ok(()),
            Some((k, u)) if self.start.is_some() => usage!(
                "--boundary gives u = {u} at t = 0 in {:?}, --initial {}; they must agree there",
                centre(k).0,
                start(k)
            ),
            Some((k, u)) => usage!(
                "--boundary gives u = {u} at t = 0 in {:?}; u must be 0 at t = 0, as in the interior: multiply by a function such as \
                 t^2 or 1-exp(-10*t), or give the temperature at the start by --initial",
                centre(k).0
            ),
        }
    }
}

/// The projection of the values that a problem is given.
fn project(
    problem: Problem,
    mesh: &Mesh,
    params: &HeatParams,
    f: &(dyn Fn(Point, Point, f64) -> f64 + Sync),
) -> Result<Vec<f64>, Failure> {
    Ok(match problem {
        Problem::Dirichlet => project_nodes(mesh, params, &f)?,
        Problem::Neumann => project_triangles(mesh, params, &f)?,
    })
}
