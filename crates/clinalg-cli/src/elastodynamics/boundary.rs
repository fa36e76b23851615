//! Boundary conditions and known solutions.

use clinalg_bem::elastodynamics::exact::{PointForce, PressurisedCavity};
use clinalg_bem::elastodynamics::{C64, ComplexScalar, Conditions, Domain, Known, Problem, Waves};
use clinalg_bem::{ElementMesh, Point};
use clinalg_ode::Function;

use super::{Args, ProblemArg};
use crate::exit::{Failure, usage};

/// Distance from an element, relative to its diameter, up to which a source counts as on the surface.
const ON_SURFACE: f64 = 1e-3;

/// What is given on the boundary, at all frequencies.
pub(super) struct BoundaryValues {
    conditions: Conditions,
    values: Values,
}

enum Values {
    PointForce {
        source: Point,
        force: Point,
    },
    /// A unit pressure in a spherical cavity of radius 1, whose solution is known.
    Cavity,
    Pressure(Function),
}

/// The boundary values at one frequency, three per element.
pub(super) struct BoundaryFields {
    pub(super) given: Vec<C64>,
    /// All displacements and tractions of the known solution.
    pub(super) known: Option<(Vec<C64>, Vec<C64>)>,
}

impl BoundaryValues {
    pub(super) fn new(args: &Args, mesh: &ElementMesh, domain: Domain) -> Result<BoundaryValues, Failure> {
        let known = |c: &Point| match args.problem {
            ProblemArg::Neumann => Known::Traction,
            ProblemArg::Mixed if c[2] >= 0.0 => Known::Traction,
            _ => Known::Displacement,
        };
        let conditions = Conditions::new(mesh.centres()[..mesh.boundary()].iter().map(|c| [known(c); 3]).collect());
        let held = (0..conditions.len()).filter(|&j| conditions.of(j)[0] == Known::Displacement).count();
        if args.problem == ProblemArg::Mixed && (held == 0 || held == conditions.len()) {
            let (which, other) = if held == 0 { ("no", "neumann") } else { ("every", "dirichlet") };
            return usage!(
                "--problem mixed gives displacements where z < 0, and {which} element of --mesh {} is there: take --problem {other}",
                args.mesh
            );
        }
        let values = match args.boundary.trim() {
            "point-force" => {
                let usual = if domain == Domain::Exterior { [0.2, -0.1, 0.15] } else { [1.6, -0.9, 0.7] };
                let source = args.source.map_or(usual, |place| place.0);
                let inside = mesh.winding(source) > 0.5;
                let on = mesh.relative_distance(source) < ON_SURFACE;
                if on || inside == (domain == Domain::Interior) {
                    let place = if on { "on the surface" } else { "in the material" };
                    return usage!("--source {source:?} is {place}; the point force must act outside the material");
                }
                if mesh.len() > mesh.boundary() {
                    log::warn!(
                        target: "clinalg",
                        "the field of the point force extends beyond the patch, which the equations do not cover: residual_identity, error_u and \
                         error_t include what is left out there"
                    );
                }
                Values::PointForce { source, force: args.force.map_or([1.0, 0.5, -0.3], |force| force.0) }
            }
            "pressure" => {
                let sphere = args.mesh.starts_with("cavity:") || args.mesh.starts_with("cubed-sphere:");
                if sphere && domain == Domain::Exterior && args.problem == ProblemArg::Neumann {
                    Values::Cavity
                } else {
                    Values::Pressure(formula("1")?)
                }
            }
            text => Values::Pressure(formula(text)?),
        };
        if args.problem == ProblemArg::Neumann
            && domain == Domain::Interior
            && args.all_frequencies().contains(&0.0)
            && mesh.len() == mesh.boundary()
        {
            return usage!(
                "--problem neumann at frequency 0 leaves a body free to move rigidly; hold it (--problem mixed or dirichlet), or \
                         give a frequency above 0"
            );
        }
        Ok(BoundaryValues { conditions, values })
    }

    pub(super) fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// The values at the angular frequency `frequency`.
    pub(super) fn fields<S: ComplexScalar>(
        &self,
        problem: &Problem<S>,
        frequency: f64,
    ) -> Result<BoundaryFields, Failure> {
        let centres = &problem.mesh().centres()[..problem.mesh().boundary()];
        let places = || centres.iter().zip(problem.normals());
        let real = |v: f64| C64::new(v, 0.0);
        let known: (Vec<C64>, Vec<C64>) = match &self.values {
            Values::PointForce { source, force } => {
                let waves = Waves::new(problem.material(), frequency)?;
                let exact = PointForce { waves, source: *source, force: *force };
                let u = centres.iter().flat_map(|&x| exact.displacement(x)).collect();
                (u, places().flat_map(|(&x, &n)| exact.traction(x, n)).collect())
            }
            Values::Cavity => {
                let radial = PressurisedCavity::new(problem.material(), frequency, 1.0, 1.0)?.radial(1.0);
                let u = problem.normals().iter().flat_map(|n| n.map(|v| radial * -v)).collect();
                (u, problem.normals().iter().flat_map(|n| n.map(|v| real(-v))).collect())
            }
            Values::Pressure(formula) => {
                let at = |(x, n): (&Point, &Point)| {
                    let p = formula.at(&[x[0], x[1], x[2], n[0], n[1], n[2]], 0.0);
                    n.map(|v| real(-p * v))
                };
                let given: Vec<C64> = places().flat_map(at).collect();
                if let Some(k) = given.iter().position(|v| !v.re.is_finite()) {
                    return usage!("--boundary is not finite at {:?}", centres[k / 3]);
                }
                // Held where displacements are given beside tractions.
                let held = |k: usize| self.is_mixed() && self.displacement_given(k);
                let given = given.iter().enumerate().map(|(k, &v)| if held(k) { C64::default() } else { v }).collect();
                return Ok(BoundaryFields { given, known: None });
            }
        };
        let size = |values: &[C64]| values.iter().map(|v| v.norm_sqr()).sum::<f64>();
        if ![&known.0, &known.1].iter().all(|values| size(values).is_normal()) {
            return usage!(
                "the known field is 0 everywhere or beyond the range of numbers: check --force, --source, --shear and --frequency"
            );
        }
        let given =
            (0..known.0.len()).map(|k| if self.displacement_given(k) { known.0[k] } else { known.1[k] }).collect();
        Ok(BoundaryFields { given, known: Some(known) })
    }

    fn displacement_given(&self, k: usize) -> bool {
        self.conditions.of(k / 3)[k % 3] == Known::Displacement
    }

    fn is_mixed(&self) -> bool {
        let all = self.conditions.len();
        (0..all).any(|j| self.conditions.of(j) != self.conditions.of(0))
    }
}

fn formula(text: &str) -> Result<Function, Failure> {
    Function::parse(text, &["x", "y", "z", "nx", "ny", "nz"])
        .map_err(|error| Failure::usage(format!("--boundary: {error}")))
}
