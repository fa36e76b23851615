//! The Poisson problem on strips of the square or slabs of the cube.

use std::ops::{ControlFlow, Range};

use super::layers::Layers;
use super::strips::{Fill, Grid, Strips, strips_mut};
use super::{Partition, PhaseTime, Reduction, Team};
use crate::error::check_length;
use crate::multigrid::cycle::{Hierarchy, Multigrid};
use crate::multigrid::equation::Equation;
use crate::multigrid::iterate::iterate;
use crate::multigrid::{
    self, Backend, Cycle, PoissonParams, PoissonReport, Separable, poisson2, poisson3, regular_sides,
};
use crate::runtime::KernelFamily;
use crate::solve::Progress;
use crate::{Error, Real, Result, Vector};

/// Most points per side of the levels that rank 0 solves alone. Measured on 2 NVIDIA H200, where gathering at 513 costs more than the exchanges that
/// it saves, by 2 % of a solve at 16385, and on CPUs with 20 GB/s.
const GATHER: usize = 257;
/// The same for a cube; gathering at 65 takes 6 % longer at 257^3 and equally long at 513^3.
const GATHER_CUBE: usize = 33;

/// Most points of the grids that devices are measured on: several times their caches.
const MEASURED_GPU: usize = 1 << 25;
const MEASURED_CPU: usize = 1 << 21;

/// The cycles of a team, whatever the dimension.
trait Solver<T: Real>: Send {
    fn partition(&self) -> &Partition;
    fn zeros(&self) -> Result<Grid<T>>;
    fn load(&self, values: &[T], grid: &mut Grid<T>) -> Result<()>;
    fn store(&self, grid: &Grid<T>, values: &mut [T]) -> Result<()>;
    fn fill(&self, grid: &mut Grid<T>, values: &mut Fill<'_, T>) -> Result<()>;
    fn norm(&self, grid: &Grid<T>) -> Result<f64>;
    fn pick(&self, grid: &Grid<T>, points: &[usize]) -> Result<Vec<T>>;
    fn error_max(&self, function: &Separable, grid: &Grid<T>) -> Result<f64>;
    fn measure_phases(&mut self, on: bool) -> Vec<PhaseTime>;
    fn iterate(
        &mut self,
        params: &PoissonParams,
        f: &Grid<T>,
        u: &mut Grid<T>,
        progress: Progress<'_>,
    ) -> Result<PoissonReport>;
}

impl<T: Real, L: Layers<T>> Solver<T> for Multigrid<Strips<T, L>> {
    fn partition(&self) -> &Partition {
        self.hierarchy().partition()
    }

    fn zeros(&self) -> Result<Grid<T>> {
        self.hierarchy().zeros(0)
    }

    fn load(&self, values: &[T], grid: &mut Grid<T>) -> Result<()> {
        self.hierarchy().load(values, grid)
    }

    fn store(&self, grid: &Grid<T>, values: &mut [T]) -> Result<()> {
        self.hierarchy().store(grid, values)
    }

    fn fill(&self, grid: &mut Grid<T>, values: &mut Fill<'_, T>) -> Result<()> {
        self.hierarchy().fill(grid, values)
    }

    fn norm(&self, grid: &Grid<T>) -> Result<f64> {
        self.hierarchy().norm(grid)
    }

    fn pick(&self, grid: &Grid<T>, points: &[usize]) -> Result<Vec<T>> {
        self.hierarchy().pick(grid, points)
    }

    fn error_max(&self, function: &Separable, grid: &Grid<T>) -> Result<f64> {
        self.hierarchy().error_max(function, grid)
    }

    fn measure_phases(&mut self, on: bool) -> Vec<PhaseTime> {
        self.components().measure_phases(on)
    }

    fn iterate(
        &mut self,
        params: &PoissonParams,
        f: &Grid<T>,
        u: &mut Grid<T>,
        progress: Progress<'_>,
    ) -> Result<PoissonReport> {
        let n = self.partition().rows();
        let row_sum = Equation::<T>::new(n, L::DIM, params.shift)?.row_sum();
        iterate::<T, _>(self, params, row_sum, f, u, &[], progress)
    }
}

/// [`multigrid::Poisson`](crate::multigrid::Poisson) on a team: `-Laplace u + shift u = f` on the unit square, each rank with a
/// strip of rows, or on the unit cube, each rank with a slab of planes.
///
/// Every sweep, restriction and interpolation gives the bits of one device, for strips keep a halo of rows of their neighbours and
/// relax it as well; so does the solution after each cycle. Residual norms are summed per rank and then in the order of the ranks:
/// they differ from those on one device by a relative 1e-12 at most, and the iteration stops after the same cycle
/// unless a residual is as close to the tolerance as that.
///
/// Small levels are gathered on rank 0, where they cost less than exchanges would: those of up to 257 points per side, or 33 for a cube; see
/// [`Poisson::with_gather_side`].
///
/// ```
/// use clinalg::multigrid::{Grid, PoissonParams};
/// use clinalg::team::{Poisson, Team};
/// use clinalg::{Context, ContextOptions, Device};
///
/// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
/// let team = Team::of_contexts(vec![context()?, context()?])?;
/// let grid = Grid::square(129);
/// let mut poisson = Poisson::<f64>::new(&team, &grid, &PoissonParams::default())?;
/// let (f, mut u) = (vec![1.0; grid.len()], vec![0.0; grid.len()]);
/// let report = poisson.solve(&f, &mut u)?;
/// println!("{} after {} cycles on {} devices", report.stop, report.cycles, team.ranks());
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Poisson<T: Real> {
    team: Team,
    grid: multigrid::Grid,
    params: PoissonParams,
    levels: usize,
    solver: Box<dyn Solver<T>>,
    u: Grid<T>,
    f: Grid<T>,
}

impl<T: Real> std::fmt::Debug for Poisson<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poisson")
            .field("grid", &self.grid)
            .field("params", &self.params)
            .field("team", &self.team)
            .finish_non_exhaustive()
    }
}

impl<T: Real> Poisson<T> {
    /// A solver with strips of about as many rows, or planes, for each rank.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range, for more ranks than the grid has rows to share out, and for what only one
    /// device does: mixed precision, backends other than kernels. As [`Error::Rank`], [`Error::Allocation`] and
    /// [`Error::NoFp64`] of a device.
    pub fn new(team: &Team, grid: &multigrid::Grid, params: &PoissonParams) -> Result<Poisson<T>> {
        Poisson::weighted(team, grid, params, &vec![1.0; team.ranks()])
    }

    /// A solver with strips in proportion to `weights`, one for each rank: the speed of its device, in any unit.
    ///
    /// # Errors
    /// As [`Poisson::new`]; [`Error::Length`] for another number of weights.
    pub fn weighted(
        team: &Team,
        grid: &multigrid::Grid,
        params: &PoissonParams,
        weights: &[f64],
    ) -> Result<Poisson<T>> {
        Poisson::with_gather_side(team, grid, params, weights, gather_side(grid.dim()))
    }

    /// A solver with strips in proportion to the speed of each rank, measured by two cycles on a smaller grid that each device
    /// solves alone, see [`Team::measure`]. Processes measure their own ranks.
    ///
    /// # Errors
    /// As [`Poisson::new`].
    pub fn balanced(team: &Team, grid: &multigrid::Grid, params: &PoissonParams) -> Result<Poisson<T>> {
        let (sides, dim) = (regular_sides(grid, params)?, grid.dim());
        let mut solvers = team.each(|_, context| {
            let most = if context.family() == KernelFamily::Gpu { MEASURED_GPU } else { MEASURED_CPU };
            // The same grid on all devices, those of other processes included, if they are of one kind.
            let small = |n: &usize| n.pow(dim as u32) <= most;
            let n = sides.iter().copied().find(small).unwrap_or(3);
            let (grid, cycle) = (multigrid::Grid::new(&vec![n; dim]), Cycle::V);
            let small = PoissonParams { cycle, max_cycles: 2, tolerance: 0.0, mixed_precision: false, ..*params };
            let points = grid.len();
            let solver = multigrid::Poisson::<T>::new(context, &grid, &small)?;
            let (f, u) = (Vector::filled(context, points, T::one())?, Vector::zeros(context, points)?);
            Ok((solver, f, u, points))
        })?;
        let points: Vec<Vec<f64>> = solvers.iter().map(|(.., points)| vec![*points as f64]).collect();
        let most = team.all_reduce(Reduction::Max, &points)?[0];
        let weights = team.measure(|k, _| {
            let (solver, f, u, points) = &mut solvers[k];
            // As much work on each device.
            for _ in 0..(most / *points as f64).round() as usize {
                u.fill(T::zero())?;
                solver.solve_device(f, u)?;
            }
            Ok(())
        })?;
        drop(solvers);
        Poisson::weighted(team, grid, params, &weights)
    }

    /// [`Poisson::weighted`], where levels with at most `side` points per side, but never the finest one, are gathered on rank 0.
    /// The same on all processes.
    ///
    /// # Errors
    /// As [`Poisson::weighted`].
    pub fn with_gather_side(
        team: &Team,
        grid: &multigrid::Grid,
        params: &PoissonParams,
        weights: &[f64],
        side: usize,
    ) -> Result<Poisson<T>> {
        let (sides, n) = (regular_sides(grid, params)?, grid.points()[0]);
        check_length("weights", team.ranks(), weights.len())?;
        if params.mixed_precision {
            return Err(Error::value(
                "mixed_precision",
                "false on several devices; mixed precision runs on one device",
                true,
            ));
        }
        if params.backend != Backend::Kernels {
            let got = format!("{:?}", params.backend).to_lowercase();
            return Err(Error::value(
                "backend",
                "kernels on several devices; the other backends run on one device",
                got,
            ));
        }
        if sides.len() < 2 {
            return Err(Error::value("points", "at least 5 points per side on several devices", n));
        }
        let gathered = gathered_level(&sides, side, team.ranks());
        let partition = Partition::weighted(sides[gathered], weights).map_err(|error| match error {
            Error::Value { argument: "ranks", got, .. } => {
                let parts =
                    if grid.dim() == 3 { "slabs begin with even planes" } else { "strips begin with even rows" };
                let expected = format!("at most {} for {n} points per side: {parts}", sides[1]);
                Error::Value { argument: "ranks", expected, got }
            }
            other => other,
        })?;
        let solver = match grid.dim() {
            3 => solver::<T, poisson3::Levels<T>>(team, params, &sides, gathered, &partition)?,
            _ => solver::<T, poisson2::Levels<T>>(team, params, &sides, gathered, &partition)?,
        };
        let (u, f) = (solver.zeros()?, solver.zeros()?);
        Ok(Poisson { team: team.clone(), grid: grid.clone(), params: *params, levels: sides.len(), solver, u, f })
    }

    /// The grid the solver was made for.
    pub fn grid(&self) -> &multigrid::Grid {
        &self.grid
    }

    /// The parameters the solver was made with.
    pub fn params(&self) -> &PoissonParams {
        &self.params
    }

    /// The team it runs on.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// The rows of the square, or planes of the cube, that each rank owns.
    pub fn partition(&self) -> &Partition {
        self.solver.partition()
    }

    /// Solves for `u`, given its boundary values and an initial guess inside; both arrays have n^dim values. Every process passes the
    /// same ones; a process that does not have all ranks gets the rows of its own ranks and the adjacent ones.
    ///
    /// # Errors
    /// [`Error::Length`] that names `f` or `u`; as [`Error::Rank`], what a device reports. After an error `u` is as it was.
    pub fn solve(&mut self, f: &[T], u: &mut [T]) -> Result<PoissonReport> {
        self.solve_with(f, u, &mut |_, _| ControlFlow::Continue(()))
    }

    /// [`Poisson::solve`] with `progress` as in [`multigrid::Poisson::solve_with`](crate::multigrid::Poisson::solve_with); across
    /// processes all of them have to stop at the same cycle.
    ///
    /// # Errors
    /// As [`Poisson::solve`].
    pub fn solve_with(&mut self, f: &[T], u: &mut [T], progress: Progress<'_>) -> Result<PoissonReport> {
        let points = self.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        self.load(f, u)?;
        let report = self.iterate(progress)?;
        self.store(u)?;
        Ok(report)
    }

    /// Uploads `f` and `u` to the strips, n^dim values each, for [`Poisson::iterate`].
    ///
    /// # Errors
    /// As [`Poisson::solve`].
    pub fn load(&mut self, f: &[T], u: &[T]) -> Result<()> {
        let points = self.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        self.solver.load(f, &mut self.f)?;
        self.solver.load(u, &mut self.u)
    }

    /// In place of [`Poisson::load`]: `f` and `u` write the values at consecutive points of the grid, whose numbers
    /// they get, to a vector on a device; they are called for each rank of this process. The vectors hold zeros.
    ///
    /// ```
    /// use clinalg::multigrid::{Grid, PoissonParams};
    /// use clinalg::ops::Uniform;
    /// use clinalg::team::{Poisson, Team};
    /// use clinalg::{ContextOptions, Device};
    ///
    /// let team = Team::new(&[Device::default_device()?], &ContextOptions::default())?;
    /// let mut poisson = Poisson::<f32>::new(&team, &Grid::square(129), &PoissonParams::default())?;
    /// let numbers = Uniform::new(1, -1.0..1.0)?;
    /// poisson.load_with(&mut |points, f| numbers.skip(points.start).fill(f), &mut |_, _| Ok(()))?;
    /// # Ok::<(), clinalg::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Error::Rank`], those of `f` and `u`, and what a device reports.
    pub fn load_with<'a>(&mut self, f: &mut Fill<'a, T>, u: &mut Fill<'a, T>) -> Result<()> {
        for (grid, values) in [(&mut self.f, f), (&mut self.u, u)] {
            let strips = strips_mut(grid);
            self.team.each(|k, _| strips[k].fill(T::zero()))?;
            self.solver.fill(grid, values)?;
        }
        Ok(())
    }

    /// In place of [`Poisson::load`]: the values of `f`, which each device computes for its strip, and u = 0.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `f` is on the points of this grid; as [`Error::Rank`], what a device reports, such as
    /// [`Error::NoFp64`].
    pub fn load_separable(&mut self, f: &Separable) -> Result<()> {
        f.check_points("f", self.sides())?;
        self.load_with(&mut |points, strip| f.fill_range(points, strip), &mut |_, _| Ok(()))
    }

    /// The 2-norms of f and u at all points. All processes call it.
    ///
    /// # Errors
    /// As [`Error::Rank`], what a device reports.
    pub fn norms(&self) -> Result<[f64; 2]> {
        Ok([self.solver.norm(&self.f)?, self.solver.norm(&self.u)?])
    }

    /// The solution at some points, of all ranks. All processes call it.
    ///
    /// # Errors
    /// [`Error::Value`] for a point that the grid does not have; as [`Error::Rank`], what a device reports.
    pub fn pick(&self, points: &[usize]) -> Result<Vec<T>> {
        if let Some(point) = points.iter().find(|&&point| point >= self.points()) {
            return Err(Error::value("points", format!("below {}", self.points()), point));
        }
        self.solver.pick(&self.u, points)
    }

    /// The largest difference of the solution from `exact` at a point, of all ranks; NaN if a value is NaN. All processes
    /// call it.
    ///
    /// # Errors
    /// As [`Poisson::load_separable`].
    pub fn error_max(&self, exact: &Separable) -> Result<f64> {
        exact.check_points("exact", self.sides())?;
        self.solver.error_max(exact, &self.u)
    }

    /// Points in each direction.
    fn sides(&self) -> [usize; 3] {
        let points = self.grid.points();
        [points[0], points[1], points.get(2).copied().unwrap_or(1)]
    }

    /// Solves with what [`Poisson::load`] has uploaded; the host's arrays take no part.
    ///
    /// # Errors
    /// As [`Error::Rank`], what a device reports.
    pub fn iterate(&mut self, progress: Progress<'_>) -> Result<PoissonReport> {
        let report = self.solver.iterate(&self.params, &self.f, &mut self.u, progress)?;
        Ok(PoissonReport { levels: self.levels, ..report })
    }

    /// As [`Poisson::iterate`], and measures the time of each phase on each level. Phases that normally overlap then wait for each other, so their
    /// sum exceeds the time of a normal solve.
    ///
    /// # Errors
    /// As [`Poisson::iterate`].
    pub fn iterate_phases(&mut self, progress: Progress<'_>) -> Result<(PoissonReport, Vec<PhaseTime>)> {
        self.solver.measure_phases(true);
        let report = self.iterate(progress);
        let phases = self.solver.measure_phases(false);
        Ok((report?, phases))
    }

    /// Reads the solution: the rows of the ranks of this process, which in one process are all, into an array of n^dim values.
    ///
    /// # Errors
    /// As [`Poisson::solve`].
    pub fn store(&self, u: &mut [T]) -> Result<()> {
        check_length("u", self.points(), u.len())?;
        self.solver.store(&self.u, u)
    }

    fn points(&self) -> usize {
        self.grid.len()
    }

    /// The rows, or planes, that the ranks of this process own.
    pub fn local_rows(&self) -> Range<usize> {
        let (partition, local) = (self.partition(), self.team.local());
        partition.range(local.start).start..partition.range(local.end - 1).end
    }
}

/// Most points per side of the levels that rank 0 solves alone.
pub(super) fn gather_side(dim: usize) -> usize {
    if dim == 3 { GATHER_CUBE } else { GATHER }
}

/// The first level that is gathered, of at most `side` points per side; its rows are distributed, so that they have to be as many as the ranks.
pub(super) fn gathered_level(sides: &[usize], side: usize, ranks: usize) -> usize {
    let small = sides.iter().position(|&n| n <= side).unwrap_or(sides.len() - 1).max(1);
    (1..=small).rev().find(|&level| sides[level] >= 2 * ranks).unwrap_or(1)
}

/// Cycles on strips, or slabs, with the levels from `gathered` on at rank 0.
fn solver<T: Real, L: Layers<T>>(
    team: &Team,
    params: &PoissonParams,
    sides: &[usize],
    gathered: usize,
    partition: &Partition,
) -> Result<Box<dyn Solver<T>>> {
    let plan = params.plan();
    let strips = Strips::<T, L>::new(team, sides, gathered, partition, params, plan)?;
    Ok(Box::new(Multigrid::new(strips, &sides[..=gathered], plan, params.cycle == Cycle::Full)?))
}
