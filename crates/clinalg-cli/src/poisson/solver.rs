//! A solve where it runs: on the host, on a device or on a team. Values stay on the devices until the host needs them.

use std::borrow::Cow;
use std::ops::ControlFlow;

use clinalg::multigrid::{Poisson, PoissonMemory, PoissonReport};
use clinalg::team::{self, Team};
use clinalg::{Real, Vector, ops};

use super::boundary::Boundary;
use super::problem::{Problem, error_on};
use super::tensor::Entries;
use crate::data::{CoefficientValues, norm};
use crate::executor::Executor;
use crate::exit::Failure;
use crate::global::Global;

/// A solver with its right-hand side and its solution.
pub(super) struct Solver<'a, T: Real> {
    problem: &'a Problem,
    engine: Engine<'a, T>,
}

enum Engine<'a, T: Real> {
    Host { solver: Poisson<T>, f: Vec<T>, u: Vec<T> },
    Device { solver: Poisson<T>, f: Vector<T>, u: Vector<T> },
    Team { team: &'a Team, solver: team::Poisson<T> },
}

/// What varies from point to point.
pub(super) enum Medium<T> {
    Constant,
    Coefficient(CoefficientValues<T>),
    Tensor(Entries<T>),
}

impl<'a, T: Real> Solver<'a, T> {
    /// A solver that starts from the values on the sides, 0 without them.
    pub(super) fn new(
        executor: &'a Executor,
        problem: &'a Problem,
        medium: &Medium<T>,
        boundary: &Boundary<T>,
        global: &Global,
    ) -> Result<Solver<'a, T>, Failure> {
        let Problem { grid, params, .. } = problem;
        let points = grid.len();
        let engine = match executor {
            Executor::Host => {
                let faces = match medium {
                    Medium::Coefficient(faces) => Some(faces.borrowed()),
                    _ => None,
                };
                let (f, u) = (problem.right_side()?, problem.start(boundary)?);
                Engine::Host { solver: Poisson::reference(grid, params, faces)?, f, u }
            }
            Executor::Device(context) => {
                let mut solver = match medium {
                    Medium::Constant => Poisson::new(context, grid, params)?,
                    Medium::Coefficient(faces) => Poisson::with_coefficient(context, grid, params, faces.borrowed())?,
                    Medium::Tensor(tensor) => Poisson::with_tensor(context, grid, params, tensor.borrowed())?,
                };
                let (mut f, mut u) = (Vector::zeros(context, points)?, Vector::zeros(context, points)?);
                problem.right_side_values(executor)?.fill(0..points, &mut f)?;
                boundary.fill(0..points, &mut u)?;
                if let Boundary::Sides(sides) = boundary {
                    solver.set_sides(sides)?;
                }
                Engine::Device { solver, f, u }
            }
            Executor::Team(team) => {
                let make = if global.balance { team::Poisson::balanced } else { team::Poisson::new };
                let mut solver = make(team, grid, params)?;
                let f = problem.right_side_values(executor)?;
                let mut f_of = |points, out: &mut Vector<T>| f.fill(points, out);
                solver.load_with(&mut f_of, &mut |points, out| boundary.fill(points, out))?;
                Engine::Team { team, solver }
            }
        };
        let solver = Solver { problem, engine };
        if problem.has_formulas()
            && executor.computes_values(points)
            && !solver.norms()?.iter().all(|norm| norm.is_finite())
        {
            problem.check_finite(boundary)?;
        }
        Ok(solver)
    }

    /// Continues from `values` of the solution. Teams do not resume.
    pub(super) fn resume(&mut self, values: Vec<T>, memory: &PoissonMemory<T>) -> Result<(), Failure> {
        match &mut self.engine {
            Engine::Host { solver, u, .. } => {
                solver.resume(memory)?;
                *u = values;
            }
            Engine::Device { solver, u, .. } => {
                solver.resume(memory)?;
                u.write(&values)?;
            }
            Engine::Team { .. } => unreachable!("--resume is for one device"),
        }
        Ok(())
    }

    /// Unknowns of each direction of each level; none on a team.
    pub(super) fn levels(&self) -> Vec<[usize; 3]> {
        match &self.engine {
            Engine::Host { solver, .. } | Engine::Device { solver, .. } => solver.levels(),
            Engine::Team { .. } => Vec::new(),
        }
    }

    pub(super) fn solve(
        &mut self,
        step: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
    ) -> Result<PoissonReport, Failure> {
        Ok(match &mut self.engine {
            Engine::Host { solver, f, u } => solver.solve_with(f, u, step)?,
            Engine::Device { solver, f, u } => solver.solve_device_with(f, u, step)?,
            Engine::Team { solver, .. } => solver.iterate(step)?,
        })
    }

    /// What a checkpoint has beside the solution; none on a team.
    pub(super) fn memory(&self, history: &[f64]) -> Result<Option<PoissonMemory<T>>, Failure> {
        match &self.engine {
            Engine::Host { solver, .. } | Engine::Device { solver, .. } => Ok(Some(solver.memory(history)?)),
            Engine::Team { .. } => Ok(None),
        }
    }

    /// The values of f as the host computes them: those of formulas differ between devices by rounding.
    pub(super) fn right_side(&self) -> Result<Cow<'_, [T]>, Failure> {
        Ok(match &self.engine {
            Engine::Host { f, .. } => Cow::Borrowed(f),
            Engine::Device { f, .. } if self.problem.f.is_none() => Cow::Owned(f.to_vec()?),
            _ => Cow::Owned(self.problem.right_side()?),
        })
    }

    /// The values of u. All processes call it; the one that writes gets the values of all.
    pub(super) fn solution(&self) -> Result<Cow<'_, [T]>, Failure> {
        Ok(match &self.engine {
            Engine::Host { u, .. } => Cow::Borrowed(u),
            Engine::Device { u, .. } => Cow::Owned(u.to_vec()?),
            Engine::Team { team, solver } => {
                let mut u = self.problem.zeros()?;
                solver.store(&mut u)?;
                team.gather(solver.partition(), u.len() / self.problem.lattice.points(0), &mut u)?;
                Cow::Owned(u)
            }
        })
    }

    /// The solution at some points. All processes call it.
    pub(super) fn pick(&self, points: &[usize]) -> Result<Vec<T>, Failure> {
        Ok(match &self.engine {
            Engine::Host { u, .. } => points.iter().map(|&point| u[point]).collect(),
            Engine::Device { u, .. } => ops::pick(u, points)?,
            Engine::Team { solver, .. } => solver.pick(points)?,
        })
    }

    /// The 2-norms of f and u, where they are. All processes call it.
    pub(super) fn norms(&self) -> Result<[f64; 2], Failure> {
        Ok(match &self.engine {
            Engine::Host { f, u, .. } => [norm(f), norm(u)],
            Engine::Device { f, u, .. } => [ops::norm2(f)?.into_f64(), ops::norm2(u)?.into_f64()],
            Engine::Team { solver, .. } => solver.norms()?,
        })
    }

    /// The largest difference from the exact solution, where that is known; NaN if a value is NaN. All processes call it.
    pub(super) fn error_max(&self, executor: &Executor) -> Result<Option<f64>, Failure> {
        let Some(exact) = self.problem.solution()? else { return Ok(None) };
        Ok(Some(match &self.engine {
            Engine::Device { u, .. } => error_on(executor, &exact, u)?,
            Engine::Team { solver, .. } if executor.computes_separable(self.problem.lattice.len()) => {
                solver.error_max(&exact)?
            }
            _ => exact.error_max_host(&self.solution()?)?,
        }))
    }
}
