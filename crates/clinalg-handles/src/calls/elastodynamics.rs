//! Elastodynamics on handles.

use std::ops::ControlFlow;

use clinalg::solve::{GmresParams, Progress, Stop};
use clinalg::{Complex, Context, Error, Precision, Result, number};
use clinalg_bem::elastodynamics::{C64, Conditions, Domain, Known, Material, Options, Problem, Solution};
use clinalg_bem::{ElementMesh, Point};

use crate::kind::Kind;
use crate::object::{Object, typed_real};
use crate::registry::{Operand, Registry};

/// Restart of GMRES.
const RESTART: usize = 200;

/// How a system is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElastodynamicsMethod {
    /// LU factors of the stored matrix, which all sets of given values share.
    Lu,
    /// GMRES with products from the Gauss points, without stored matrices, to 1e-8, in single precision 1e-5.
    OnTheFly,
}

/// What a problem knows of its surface.
#[derive(Debug, Clone, PartialEq)]
pub struct ElastodynamicsSurface {
    /// Centres of the boundary elements.
    pub centres: Vec<Point>,
    /// Unit normals there, out of the material.
    pub normals: Vec<Point>,
}

/// Evaluates the body for the problem that an object is.
macro_rules! each_problem {
    ($object:expr, $problem:ident => $body:expr) => {
        typed_real!($object, "problem", T => {
            let $problem = $object.expect_content::<Problem<Complex<T>>>();
            $body
        })
    };
}

/// Displacements and stresses at points in the material.
pub type ElastodynamicsFields = (Vec<[C64; 3]>, Vec<[[C64; 3]; 3]>);

impl Registry {
    /// A surface with a material on one side: [`Problem::new`]. [`Registry::release`] takes the handle with [`Kind::ELASTODYNAMICS`].
    ///
    /// # Errors
    /// Those of [`Problem::new`].
    pub fn elastodynamics(
        &self,
        context: &Context,
        precision: Precision,
        mesh: &ElementMesh,
        material: Material,
        domain: Domain,
        options: &Options,
    ) -> Result<u64> {
        Ok(match precision {
            Precision::F32 => self.insert(Problem::<Complex<f32>>::new(context, mesh, material, domain, options)?),
            Precision::F64 => self.insert(Problem::<Complex<f64>>::new(context, mesh, material, domain, options)?),
        })
    }

    fn with_problem<R>(&self, handle: u64, f: impl FnOnce(&Object) -> Result<R>) -> Result<R> {
        self.call(&[Operand::new("problem", handle, Kind::ELASTODYNAMICS)], None, |inputs, _| f(inputs[0]))
    }

    /// Centres and normals of the boundary elements.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn elastodynamics_surface(&self, problem: u64) -> Result<ElastodynamicsSurface> {
        self.with_problem(problem, |object| {
            Ok(each_problem!(object, problem => ElastodynamicsSurface {
                centres: problem.mesh().centres()[..problem.mesh().boundary()].to_vec(),
                normals: problem.normals().to_vec(),
            }))
        })
    }

    /// How many times the longest edge goes into a shear wave; four are the least.
    ///
    /// # Errors
    /// [`Error::Handle`].
    pub fn elastodynamics_resolution(&self, problem: u64, frequency: f64) -> Result<f64> {
        self.with_problem(problem, |object| {
            Ok(each_problem!(object, problem => problem.elements_per_wavelength(frequency)))
        })
    }

    /// H and G as new complex dense matrices: [`Problem::assemble`].
    ///
    /// # Errors
    /// [`Error::Handle`]; those of [`Problem::assemble`].
    pub fn elastodynamics_assemble(&self, problem: u64, frequency: f64) -> Result<[u64; 2]> {
        let made: [Object; 2] = self.with_problem(problem, |object| {
            Ok(each_problem!(object, problem => problem.assemble(frequency)?.into_matrices().map(Object::from)))
        })?;
        Ok(made.map(|object| self.insert(object)))
    }

    /// Displacements and tractions for each set of `given` values, 3 m numbers, as `known` says. `progress` is called after every iteration of GMRES with
    /// the relative residual, of LU between its stages with 0 and 1, and can stop the call.
    ///
    /// # Errors
    /// [`Error::Handle`]; [`Error::Length`]; [`Error::Cancelled`] where `progress` stops it; [`Error::Singular`] of LU; [`Error::Value`] that names `method` where GMRES does not converge; those of
    /// [`Problem::assemble`].
    pub fn elastodynamics_solve(
        &self,
        problem: u64,
        frequency: f64,
        method: ElastodynamicsMethod,
        known: Vec<[Known; 3]>,
        given: &[&[C64]],
        progress: Progress<'_>,
    ) -> Result<Vec<Solution>> {
        let conditions = Conditions::new(known);
        self.with_problem(problem, |object| {
            each_problem!(object, problem => match method {
                ElastodynamicsMethod::Lu => {
                    let assembly = problem.assemble(frequency)?;
                    problem.context().finish()?;
                    goes_on(progress, "after the assembly, before the factorisation")?;
                    let factors = assembly.system(&conditions)?.factorise()?;
                    goes_on(progress, "after the factorisation, before the solution")?;
                    factors.solve_many(given)
                }
                ElastodynamicsMethod::OnTheFly => {
                    let system = problem.on_the_fly(frequency, &conditions)?;
                    let tolerance = if object.precision() == Precision::F32 { 1e-5 } else { 1e-8 };
                    let solve = |(k, set): (usize, &&[C64])| {
                        let params = GmresParams::default().tolerance(tolerance).restart(RESTART);
                        let mut cancelled = false;
                        let mut watch = |iteration, residual| {
                            let flow = progress(iteration, residual);
                            cancelled |= flow.is_break();
                            flow
                        };
                        let (solution, report) = system.gmres(set, params, &mut watch)?;
                        // A request in the last iteration of a set leaves that set solved, and ends the call.
                        let solved = report.stop.is_success();
                        if solved && !(cancelled && k + 1 < given.len()) {
                            return Ok(solution);
                        }
                        if solved || report.stop == Stop::Cancelled {
                            return Err(Error::Cancelled {
                                reached: format!(
                                    "after {} iterations of GMRES for set {} of {} of given values, with the relative residual {}",
                                    report.iterations,
                                    k + 1,
                                    given.len(),
                                    number(report.relative_residual, 2)
                                ),
                            });
                        }
                        let got = format!("{:?} after {} iterations of GMRES", report.stop, report.iterations);
                        Err(Error::value("method", "lu, as GMRES does not converge here", got))
                    };
                    given.iter().enumerate().map(solve).collect()
                }
            })
        })
    }

    /// Displacements at `points` in the material and, if `stresses`, stresses: [`Problem::evaluate`] and [`Problem::stresses`].
    ///
    /// # Errors
    /// [`Error::Handle`]; those of the methods.
    pub fn elastodynamics_evaluate(
        &self,
        problem: u64,
        solution: &Solution,
        points: &[Point],
        stresses: bool,
    ) -> Result<ElastodynamicsFields> {
        self.with_problem(problem, |object| {
            each_problem!(object, problem => {
                let displacements = problem.evaluate(solution, points)?;
                let stresses = if stresses { problem.stresses(solution, points)? } else { Vec::new() };
                Ok((displacements, stresses))
            })
        })
    }
}

/// An error that says how far a solve came where `progress` stops it.
fn goes_on(progress: Progress<'_>, reached: &str) -> Result<()> {
    match progress(0, 1.0) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Cancelled { reached: reached.to_owned() }),
    }
}

/// Complex numbers from their parts, one after the other.
pub fn complex_numbers(parts: &[f64]) -> Vec<C64> {
    parts.chunks_exact(2).map(|v| Complex::new(v[0], v[1])).collect()
}
