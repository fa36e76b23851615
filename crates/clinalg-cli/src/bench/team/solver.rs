//! The solvers that run on a team: their times, and their work for the model.

use std::ops::ControlFlow;
use std::time::Instant;

use clap::ValueEnum;
use clinalg::multigrid::{self, Grid, PoissonParams};
use clinalg::solve::{Cg, CgParams, Operator as _, Solver as _};
use clinalg::team::{self, Partition, Team, Work};
use clinalg::wave::{self, WaveParams};
use clinalg::{Context, Csr, Real, Vector};
use clinalg_bem::Mesh;
use clinalg_bem::heat::{Form, HeatParams, HeatSpace, Kind, OperatorOptions};
use clinalg_ode::integrate::Stepper;
use clinalg_ode::team::{TeamOptions, TeamStepper};
use clinalg_ode::{DeviceStepper, Method, Variant, problems};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::case::{poisson5, random};
use super::super::median;
use crate::args::value_name;
use crate::exit::Failure;

/// Cycles, iterations, or steps of a run.
const CYCLES: usize = 6;
const ITERATIONS: usize = 20;
const STEPS: usize = 64;

/// Steps of an ODE between two exchanges; the rows that a step of rk4 reads on either side; the steps of the wave equation, whose steps read one row.
const ODE_EXCHANGE: usize = 4;
const ODE_REACH: usize = 4;
const WAVE_EXCHANGE: usize = 16;

/// Time steps of the heat operator.
const HEAT_STEPS: usize = 8;

/// A solver on a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::bench) enum Solver {
    /// Multigrid V-cycles on the square of N^2 points
    Poisson2,
    /// Multigrid V-cycles on the cube with at most about N^2 points
    Poisson3,
    /// Conjugate gradients with the 5-point matrix of (N - 1)^2 rows
    Cg,
    /// Leapfrog steps of the wave equation on N^2 points
    Wave,
    /// Steps of rk4 for the heat equation on (N - 1)^2 points
    Ode,
    /// Products with V of the heat equation on at most N / 2 triangles, at least 48, on the fly
    Heat,
}

impl Solver {
    pub(super) fn name(self) -> String {
        value_name(&self)
    }

    /// What is repeated.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Solver::Poisson2 | Solver::Poisson3 => "cycle",
            Solver::Cg => "iteration",
            Solver::Wave | Solver::Ode => "step",
            Solver::Heat => "product",
        }
    }

    /// Its size for `--n`: points per side, or triangles.
    pub(super) fn size(self, n: usize) -> usize {
        match self {
            Solver::Poisson2 | Solver::Wave => n,
            Solver::Poisson3 => (1 << (2 * (n - 1).ilog2() / 3).max(2)) + 1,
            Solver::Cg | Solver::Ode => n - 1,
            Solver::Heat => 12 << (2 * ((n / 24).max(4).ilog2() / 2)),
        }
    }

    /// A smaller size, for the fit of the model.
    pub(super) fn smaller(self, size: usize) -> usize {
        match self {
            Solver::Poisson2 | Solver::Poisson3 | Solver::Wave => size.div_ceil(2),
            Solver::Cg | Solver::Ode => size / 2,
            Solver::Heat => size / 4,
        }
    }

    /// The size for weak scaling on so many devices: about as many unknowns for each as on one. Grids that are halved have the next larger size that
    /// exists; boundary elements have none.
    pub(super) fn weak(self, size: usize, devices: usize) -> Option<usize> {
        let wanted = self.unknowns(size) * devices as f64;
        match self {
            Solver::Poisson2 | Solver::Poisson3 => std::iter::successors(Some(size), |n| Some(2 * n - 1))
                .find(|n| ((n - 1) as f64) >= (size - 1) as f64 * (devices as f64).powf(1.0 / self.dimension() as f64)),
            Solver::Wave | Solver::Cg | Solver::Ode => Some(wanted.sqrt().round() as usize),
            Solver::Heat => None,
        }
    }

    fn dimension(self) -> usize {
        if self == Solver::Poisson3 { 3 } else { 2 }
    }

    /// Unknowns, of boundary elements pairs of triangles: what the time grows with.
    pub(super) fn unknowns(self, size: usize) -> f64 {
        (size as f64).powi(self.dimension() as i32)
    }

    fn poisson(self, n: usize) -> (Grid, PoissonParams) {
        let params = PoissonParams { tolerance: 0.0, max_cycles: CYCLES, ..PoissonParams::default() };
        (Grid::new(&vec![n; self.dimension()]), params)
    }

    /// The work of a cycle, iteration, step or product.
    ///
    /// # Errors
    /// As [`Work::poisson`].
    pub(super) fn work(self, size: usize, value_bytes: usize, devices: usize) -> clinalg::Result<Vec<Work>> {
        let row_bytes = size * value_bytes;
        Ok(match self {
            Solver::Poisson2 | Solver::Poisson3 => {
                let (grid, params) = self.poisson(size);
                Work::poisson(&grid, &params, value_bytes, devices)?
            }
            // Two rows of values per point: displacement at two times.
            Solver::Wave => vec![Work::explicit_step(size, size, 2 * row_bytes, 1, WAVE_EXCHANGE)],
            Solver::Ode => vec![Work::explicit_step(size, size, row_bytes, ODE_REACH, ODE_EXCHANGE)],
            Solver::Cg => {
                let product = Work::explicit_step(size, size, row_bytes, 1, 1);
                vec![Work { halo: 0.0, reductions: 2.0, reduction_bytes: 8.0, ..product }]
            }
            Solver::Heat => {
                let (rows, row_points) = (size as f64, size as f64);
                let gathered_bytes = (HEAT_STEPS * row_bytes) as f64;
                vec![Work { launches: 1.0, rows, row_points, gathered_bytes, ..Work::default() }]
            }
        })
    }

    /// Median of the seconds of a cycle, iteration, step or product over `samples` runs after one that builds the kernels. A team of one device has the
    /// solver for one device.
    pub(super) fn seconds<T: Real>(self, team: &Team, size: usize, samples: usize) -> Result<f64, Failure> {
        let mut run = self.run::<T>(team, size)?;
        run()?;
        let seconds = (0..samples).map(|_| run()).collect::<Result<Vec<_>, Failure>>()?;
        Ok(median(&seconds))
    }

    fn run<'a, T: Real>(self, team: &'a Team, size: usize) -> Result<Run<'a>, Failure> {
        let one = (team.ranks() == 1).then(|| &team.contexts()[0]);
        match self {
            Solver::Poisson2 | Solver::Poisson3 => self.cycles::<T>(team, one, size),
            Solver::Cg => iterations::<T>(team, one, size),
            Solver::Wave => waves::<T>(team, one, size),
            Solver::Ode => steps::<T>(team, one, size),
            Solver::Heat => products::<T>(team, size),
        }
    }

    fn cycles<'a, T: Real>(self, team: &'a Team, one: Option<&'a Context>, n: usize) -> Result<Run<'a>, Failure> {
        let (grid, params) = self.poisson(n);
        let points = grid.len();
        let values = random::<T>(points, 1);
        let Some(context) = one else {
            let mut solver = team::Poisson::<T>::new(team, &grid, &params)?;
            let zero = vec![T::zero(); points];
            return Ok(Box::new(move || {
                solver.load(&values, &zero)?;
                clocked(team, || Ok(solver.iterate(&mut |_, _| ControlFlow::Continue(()))?.cycles))
            }));
        };
        let mut solver = multigrid::Poisson::<T>::new(context, &grid, &params)?;
        let (f, mut u) = (Vector::from_slice(context, &values)?, Vector::zeros(context, points)?);
        Ok(Box::new(move || {
            u.fill(T::zero())?;
            clocked(team, || Ok(solver.solve_device(&f, &mut u)?.cycles))
        }))
    }
}

/// A run of a solver, which gives the seconds of a cycle, iteration, step or product.
type Run<'a> = Box<dyn FnMut() -> Result<f64, Failure> + 'a>;

/// The time of `work` divided by what it returns.
fn clocked(team: &Team, work: impl FnOnce() -> Result<usize, Failure>) -> Result<f64, Failure> {
    team.finish()?;
    let start = Instant::now();
    let count = work()?;
    team.finish()?;
    Ok(start.elapsed().as_secs_f64() / count.max(1) as f64)
}

fn iterations<'a, T: Real>(team: &'a Team, one: Option<&'a Context>, side: usize) -> Result<Run<'a>, Failure> {
    let (a, right) = (poisson5::<T>(side), random::<T>(side * side, 1));
    let params = CgParams::default().tolerance(f64::MIN_POSITIVE).max_iterations(ITERATIONS);
    let Some(context) = one else {
        let partition = Partition::by_entries(&a.offsets, &vec![1.0; team.ranks()])?;
        let a = team::Csr::new(team, &a, &partition)?;
        let b = team::Vector::from_slice(team, &partition, &right)?;
        let mut x = a.vector()?;
        let mut cg = Cg::like(&b, params)?;
        return Ok(Box::new(move || {
            x.fill(T::zero())?;
            clocked(team, || Ok(cg.solve(&a, None, &b, &mut x)?.iterations))
        }));
    };
    let a = Csr::from_parts(context, &a)?;
    let (b, mut x) = (Vector::from_slice(context, &right)?, Vector::zeros(context, right.len())?);
    let mut cg = Cg::new(context, right.len(), params)?;
    Ok(Box::new(move || {
        x.fill(T::zero())?;
        clocked(team, || Ok(cg.solve(&a, None, &b, &mut x)?.iterations))
    }))
}

fn waves<'a, T: Real>(team: &'a Team, one: Option<&'a Context>, n: usize) -> Result<Run<'a>, Failure> {
    let params = WaveParams::square(n);
    let params = WaveParams { dt: params.dt_of(0.5), ..params };
    let rest = vec![T::zero(); n * n];
    let Some(context) = one else {
        let mut wave = team::Wave::<T>::weighted(team, &params, &vec![1.0; team.ranks()], WAVE_EXCHANGE)?;
        wave.start(&rest, None)?;
        return Ok(Box::new(move || clocked(team, || Ok(wave.step(STEPS).map(|_| STEPS)?))));
    };
    let mut wave = wave::Wave::<T>::new(context, &params)?;
    wave.start(&rest, None)?;
    Ok(Box::new(move || clocked(team, || Ok(wave.step(STEPS).map(|_| STEPS)?))))
}

fn steps<'a, T: Real>(team: &'a Team, one: Option<&'a Context>, n: usize) -> Result<Run<'a>, Failure> {
    let (problem, method) = (problems::problem("heat2d", n)?, Method::named("rk4")?);
    let y0: Vec<T> = problem.y0_as()?;
    // Far below the limit of stability.
    let h = 0.1 / (n as f64 + 1.0).powi(2);
    let times: Vec<f64> = (0..STEPS).map(|k| problem.t0 + k as f64 * h).collect();
    if let Some(context) = one {
        let mut stepper = DeviceStepper::<T>::new(context, &method, &problem.system, Variant::Fused)?;
        return Ok(Box::new(move || advance(team, &mut stepper, &y0, &times, h)));
    }
    let mut options = TeamOptions::default();
    options.steps_per_exchange = Some(ODE_EXCHANGE);
    let mut stepper = TeamStepper::<T>::new(team, &method, &problem.system, &options)?;
    Ok(Box::new(move || advance(team, &mut stepper, &y0, &times, h)))
}

fn advance<T: Real>(
    team: &Team,
    stepper: &mut impl Stepper<T>,
    y0: &[T],
    times: &[f64],
    h: f64,
) -> Result<f64, Failure> {
    stepper.set(&[y0.to_vec()])?;
    clocked(team, || Ok(stepper.advance(times, h).map(|()| times.len())?))
}

fn products<'a, T: Real>(team: &'a Team, triangles: usize) -> Result<Run<'a>, Failure> {
    let mesh = Mesh::cube12().refined_times(((triangles / 12).ilog2() / 2) as usize)?;
    let params = HeatParams::new(0.5, 1.0, HEAT_STEPS);
    let space = HeatSpace::<T>::on_team(team, &mesh, &params, &vec![1.0; team.ranks()])?;
    let a = space.operator(Kind::V, &OperatorOptions { form: Form::Otf, ..OperatorOptions::default() })?;
    let x = Vector::from_slice(space.context(), &random::<T>(a.cols(), 1))?;
    let mut y = Vector::zeros(space.context(), a.rows())?;
    Ok(Box::new(move || clocked(team, || Ok(a.apply(T::one(), &x, T::zero(), &mut y).map(|()| 1)?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_fit_the_grids() {
        let sizes = |n: usize| <Solver as ValueEnum>::value_variants().iter().map(|s| s.size(n)).collect::<Vec<_>>();
        assert_eq!(sizes(513), [513, 65, 512, 513, 512, 192]);
        assert_eq!(sizes(16385), [16385, 513, 16384, 16385, 16384, 3072]);
        assert_eq!(sizes(5), [5, 5, 4, 5, 4, 48]);
        assert_eq!([1, 2, 4, 16].map(|p| Solver::Poisson2.weak(257, p)), [257, 513, 513, 1025].map(Some));
        assert_eq!([1, 8, 9].map(|p| Solver::Poisson3.weak(33, p)), [33, 65, 129].map(Some));
        assert_eq!((Solver::Wave.weak(100, 4), Solver::Heat.weak(192, 4)), (Some(200), None));
    }
}
