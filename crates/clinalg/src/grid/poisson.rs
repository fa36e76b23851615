//! The solver of the Poisson problem.

use super::algebra::Algebra;
use super::coefficient::{Coefficient, Varying};
use super::components::{Components, Multigrid, Norms, Plan, Sweeps};
use super::conjugate::Accelerated;
use super::equation::Equation;
use super::host::Host;
use super::mixed::Mixed;
use super::params::{Cycle, Form, PoissonParams, PoissonReport};
use super::processor::Processor;
use super::space::{Planes, Slabs};
use super::wide::Wide;
use crate::error::check_length;
use crate::reference::grid2::Order;
use crate::runtime::Shape;
use crate::solve::Stop;
use crate::{Context, Error, Precision, Real, Result, Vector};

/// Called before the first cycle and after each one with the number of cycles made and the
/// relative residual.
type Progress<'a> = &'a mut dyn FnMut(usize, f64);

/// A multigrid solver of `-Laplace u + shift u = f` on the unit square or the unit cube, or of
/// `-div(a grad u) + shift u = f` on the unit square.
///
/// Owns the memory of all coarse levels, and on a GPU a second grid for every level, the finest
/// included. Can be used again and again, and neither allocates nor compiles in its cycles.
pub struct Poisson<T: Real> {
    params: PoissonParams,
    /// Bound of the sum of the moduli of a row of the matrix, by which rounding enters the defect.
    row_sum: f64,
    engine: Engine<T>,
}

enum Engine<T: Real> {
    /// The reference form with its finest grids, u and f.
    Host { multigrid: Box<dyn Iteration<T, Vec<T>>>, u: Vec<T>, f: Vec<T> },
    Device {
        context: Context,
        multigrid: Box<dyn Iteration<T, Vector<T>>>,
        /// u and f of problems given on the host; made for the first one.
        finest: Option<(Vector<T>, Vector<T>)>,
    },
}

/// Multigrid on grids of the type `G`, whatever its components.
trait Iteration<T: Real, G>: Send {
    fn solve(
        &mut self,
        params: &PoissonParams,
        row_sum: f64,
        f: &G,
        u: &mut G,
        progress: Progress<'_>,
    ) -> Result<PoissonReport>;
}

/// What the iteration to a solution is made of.
pub(super) trait Cycles {
    /// A grid in the memory that the cycles work on.
    type Grid;

    /// The norms of u, everywhere, and of its defect and the source, inside, before the first cycle.
    fn start_norms(&mut self, u: &Self::Grid, f: &Self::Grid) -> Result<[f64; 3]>;

    /// Euclidean norm of all values.
    fn norm(&self, u: &Self::Grid) -> Result<f64>;

    /// Number of grids.
    fn levels(&self) -> usize;

    /// Forgets what a solve left unfinished.
    fn reset(&mut self) {}

    /// Most cycles for [`Cycles::cycles`], where defects are about as large as `size` at first.
    fn batch(&self, _size: f64) -> usize {
        1
    }

    /// `count` cycles and what each leaves, the last one after the others; see [`Multigrid::cycles`].
    fn cycles(&mut self, u: &mut Self::Grid, f: &Self::Grid, count: usize, last: bool, size: f64)
    -> Result<Vec<Norms>>;

    /// Ends the cycle that [`Cycles::cycles`] began, and what it leaves; `None` where there is none.
    fn end(&mut self, _u: &mut Self::Grid, _f: &Self::Grid) -> Result<Option<Norms>> {
        Ok(None)
    }

    /// One pass of full multigrid and what it leaves.
    fn full(&mut self, u: &mut Self::Grid, f: &Self::Grid) -> Result<Norms>;
}

impl<C: Components> Cycles for Multigrid<C> {
    type Grid = C::Grid;

    fn start_norms(&mut self, u: &C::Grid, f: &C::Grid) -> Result<[f64; 3]> {
        self.components.start_norms(u, f)
    }

    fn norm(&self, u: &C::Grid) -> Result<f64> {
        self.components.norm(u)
    }

    fn levels(&self) -> usize {
        Multigrid::levels(self)
    }

    fn reset(&mut self) {
        Multigrid::reset(self);
    }

    fn batch(&self, size: f64) -> usize {
        Multigrid::batch(self, size)
    }

    fn cycles(&mut self, u: &mut C::Grid, f: &C::Grid, count: usize, last: bool, size: f64) -> Result<Vec<Norms>> {
        Multigrid::cycles(self, u, f, count, last, size)
    }

    fn end(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<Option<Norms>> {
        Multigrid::end(self, u, f)
    }

    fn full(&mut self, u: &mut C::Grid, f: &C::Grid) -> Result<Norms> {
        self.full_norm(u, f)
    }
}

impl<T: Real, G, C: Cycles<Grid = G> + Send> Iteration<T, G> for C {
    fn solve(
        &mut self,
        params: &PoissonParams,
        row_sum: f64,
        f: &G,
        u: &mut G,
        progress: Progress<'_>,
    ) -> Result<PoissonReport> {
        iterate::<T, C>(self, params, row_sum, f, u, progress)
    }
}

impl<T: Real> std::fmt::Debug for Poisson<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poisson").field("params", &self.params).finish_non_exhaustive()
    }
}

impl<T: Real> Poisson<T> {
    /// A solver in the form that `params` names; [`Form::Reference`] needs no device, see
    /// [`Poisson::reference`].
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range (sizes other than 2^k + 1 name the nearest);
    /// [`Error::Allocation`]; [`Error::NoFp64`] for `f64` on a device without it.
    pub fn new(context: &Context, params: &PoissonParams) -> Result<Poisson<T>> {
        params.check()?;
        Poisson::build(Some(context), params, Equation::new(params.n, params.dim, params.shift)?)
    }

    /// The solver in plain Rust, whatever form `params` names; no device is needed.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range or grids that do not fit the memory.
    pub fn reference(params: &PoissonParams) -> Result<Poisson<T>> {
        params.check()?;
        Poisson::build(None, params, Equation::new(params.n, params.dim, params.shift)?)
    }

    /// A solver of `-div(a grad u) + shift u = f` on the unit square with the coefficient `a`, in the form that
    /// `params` names. Without a context, in plain Rust.
    ///
    /// Interpolation and restriction follow the coefficient, coarser grids have Galerkin operators of nine points, and the
    /// cycles precondition conjugate gradients, one of whose steps the report counts as a cycle. For that cycles are
    /// symmetric: half of the sweeps `pre + post`, rounded up, before the coarse-grid correction and as many after it in
    /// the opposite order. So jumps of 1 : 1000 and 1 : 1e6 take about as many cycles as a smooth coefficient and hardly
    /// more on finer grids, along lines of the grid or not, also where four pieces meet in a point as on a chess board. Not so
    /// for a coefficient that jumps at random from one cell to the next.
    ///
    /// The coarser grids are made on the host, in about two seconds per ten million points.
    ///
    /// # Errors
    /// As [`Poisson::new`]; [`Error::Length`] or [`Error::Value`] that names `a` when it does not fit the grid or is not
    /// positive and finite everywhere; [`Error::Value`] for a cube.
    pub fn with_coefficient(
        context: Option<&Context>,
        params: &PoissonParams,
        a: Coefficient<'_, T>,
    ) -> Result<Poisson<T>> {
        params.check()?;
        if params.dim != 2 {
            return Err(Error::value("dim", "2 with a coefficient that varies", params.dim));
        }
        let equation = Equation::new(params.n, params.dim, params.shift)?.with_faces(a.faces(params.n)?);
        Poisson::build(context, params, equation)
    }

    fn build(context: Option<&Context>, params: &PoissonParams, equation: Equation<T>) -> Result<Poisson<T>> {
        let PoissonParams { smoother, omega, shift, .. } = *params;
        let full = params.cycle == Cycle::Full;
        let varying = !equation.faces.is_empty();
        let plan = if varying { symmetric_plan(params) } else { plan(params) };
        let row_sum = equation.row_sum();
        let sides = equation.sides.clone();
        if params.mixed {
            check_mixed::<T>(context, params, varying)?;
        }
        let context = context.filter(|_| params.form != Form::Reference);
        let Some(context) = context else {
            let params = PoissonParams { form: Form::Reference, ..*params };
            let (u, f) = (equation.grid(0)?, equation.grid(0)?);
            let multigrid = Multigrid::new(Host::new(equation, smoother, omega)?, &sides, plan, full)?;
            let multigrid: Box<dyn Iteration<T, Vec<T>>> =
                if varying { Box::new(Accelerated::new(multigrid)?) } else { Box::new(multigrid) };
            return Ok(Poisson { params, row_sum, engine: Engine::Host { multigrid, u, f } });
        };
        if params.mixed {
            return Poisson::build_mixed(context, params, row_sum, &equation);
        }
        let sweeps = params.pre.max(params.post);
        let multigrid: Box<dyn Iteration<T, Vector<T>>> = match (params.form, context.shape()) {
            (Form::Matrix | Form::Reference, _) => {
                let components = Algebra::new(context, &equation, smoother, omega, full)?;
                let multigrid = Multigrid::new(components, &sides, plan, full)?;
                if varying { Box::new(Accelerated::new(multigrid)?) } else { Box::new(multigrid) }
            }
            _ if varying => {
                let components = Varying::new(context, equation, smoother, omega)?;
                Box::new(Accelerated::new(Multigrid::new(components, &sides, plan, full)?)?)
            }
            (Form::Kernels, Shape::Gpu) if equation.dim == 3 => {
                let components = Planes::<T>::new(context, &sides, shift, smoother, omega)?;
                Box::new(Multigrid::new(components, &sides, plan, full)?)
            }
            (Form::Kernels, Shape::Cpu) if equation.dim == 3 => {
                let components = Slabs::<T>::new(context, &sides, shift, smoother, omega)?;
                Box::new(Multigrid::new(components, &sides, plan, full)?)
            }
            (Form::Kernels, Shape::Gpu) => {
                let components = Wide::<T>::new(context, &sides, shift, smoother, omega)?;
                Box::new(Multigrid::new(components, &sides, plan, full)?)
            }
            (Form::Kernels, Shape::Cpu) => {
                let components = Processor::<T>::new(context, &sides, shift, smoother, omega, sweeps)?;
                Box::new(Multigrid::new(components, &sides, plan, full)?)
            }
        };
        let engine = Engine::Device { context: context.clone(), multigrid, finest: None };
        Ok(Poisson { params: *params, row_sum, engine })
    }

    /// The solver whose cycles are in single precision.
    fn build_mixed(
        context: &Context,
        params: &PoissonParams,
        row_sum: f64,
        equation: &Equation<T>,
    ) -> Result<Poisson<T>> {
        let PoissonParams { smoother, omega, shift, .. } = *params;
        let full = params.cycle == Cycle::Full;
        let sides = &equation.sides;
        let (plan, sweeps) = (plan(params), params.pre.max(params.post));
        macro_rules! cycles {
            ($components:expr) => {{
                let multigrid = Multigrid::new($components, sides, plan, full)?;
                Box::new(Mixed::<T, _>::new(context, params.n, equation.dim, shift, multigrid)?)
            }};
        }
        let multigrid: Box<dyn Iteration<T, Vector<T>>> = match (context.shape(), equation.dim) {
            (Shape::Gpu, 3) => cycles!(Planes::<f32>::new(context, sides, shift, smoother, omega)?),
            (Shape::Cpu, 3) => cycles!(Slabs::<f32>::new(context, sides, shift, smoother, omega)?),
            (Shape::Gpu, _) => cycles!(Wide::<f32>::new(context, sides, shift, smoother, omega)?),
            (Shape::Cpu, _) => cycles!(Processor::<f32>::new(context, sides, shift, smoother, omega, sweeps)?),
        };
        let engine = Engine::Device { context: context.clone(), multigrid, finest: None };
        Ok(Poisson { params: *params, row_sum, engine })
    }

    /// Values of a grid.
    fn points(&self) -> usize {
        self.params.n.pow(self.params.dim as u32)
    }

    /// The parameters the solver was made with.
    pub fn params(&self) -> &PoissonParams {
        &self.params
    }

    /// Solves for `u`, given its boundary values and a start value inside; both arrays have n^dim
    /// values. When the data are not finite, `u` is left as it was.
    ///
    /// # Errors
    /// [`Error::Length`] that names `f` or `u`; what the device reports.
    pub fn solve(&mut self, f: &[T], u: &mut [T]) -> Result<PoissonReport> {
        self.solve_with(f, u, &mut |_, _| {})
    }

    /// [`Poisson::solve`], which calls `progress` before the first cycle and after each one with
    /// the number of cycles made and the relative residual.
    ///
    /// # Errors
    /// As [`Poisson::solve`].
    pub fn solve_with(&mut self, f: &[T], u: &mut [T], progress: Progress<'_>) -> Result<PoissonReport> {
        let points = self.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        match &mut self.engine {
            Engine::Host { multigrid, u: own_u, f: own_f } => {
                own_u.copy_from_slice(u);
                own_f.copy_from_slice(f);
                let report = multigrid.solve(&self.params, self.row_sum, own_f, own_u, progress)?;
                u.copy_from_slice(own_u);
                Ok(report)
            }
            Engine::Device { context, multigrid, finest } => {
                let (own_u, own_f) = match finest {
                    Some(made) => made,
                    None => finest.insert((Vector::uninit(context, points)?, Vector::uninit(context, points)?)),
                };
                own_u.write(u)?;
                own_f.write(f)?;
                let report = multigrid.solve(&self.params, self.row_sum, own_f, own_u, progress)?;
                own_u.read(u)?;
                Ok(report)
            }
        }
    }

    /// [`Poisson::solve`] on device vectors, without a copy of either. On a GPU `u`
    /// may end up in other memory than before.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `f` or `u`; what the device reports.
    pub fn solve_device(&mut self, f: &Vector<T>, u: &mut Vector<T>) -> Result<PoissonReport> {
        self.solve_device_with(f, u, &mut |_, _| {})
    }

    /// [`Poisson::solve_device`] with `progress` as in [`Poisson::solve_with`].
    ///
    /// # Errors
    /// As [`Poisson::solve_device`].
    pub fn solve_device_with(
        &mut self,
        f: &Vector<T>,
        u: &mut Vector<T>,
        progress: Progress<'_>,
    ) -> Result<PoissonReport> {
        let points = self.points();
        check_length("f", points, f.len())?;
        check_length("u", points, u.len())?;
        match &mut self.engine {
            Engine::Host { multigrid, u: own_u, f: own_f } => {
                u.read(own_u)?;
                f.read(own_f)?;
                let report = multigrid.solve(&self.params, self.row_sum, own_f, own_u, progress)?;
                u.write(own_u)?;
                Ok(report)
            }
            Engine::Device { context, multigrid, .. } => {
                for (argument, vector) in [("f", f), ("u", &*u)] {
                    if !context.same(vector.context()) {
                        return Err(Error::Context { argument });
                    }
                }
                multigrid.solve(&self.params, self.row_sum, f, u, progress)
            }
        }
    }
}

/// An error unless corrections in single precision are possible.
fn check_mixed<T: Real>(context: Option<&Context>, params: &PoissonParams, varying: bool) -> Result<()> {
    if T::PRECISION == Precision::F32 {
        return Err(Error::value("mixed", "false in single precision: there is nothing to refine", true));
    }
    if params.form != Form::Kernels || context.is_none() || varying {
        return Err(Error::value("mixed", "false but for kernels with a constant coefficient", true));
    }
    Ok(())
}

fn plan(params: &PoissonParams) -> Plan {
    let visits = if params.cycle == Cycle::W { 2 } else { 1 };
    let sweeps = |count| Sweeps { count, order: Order::RedFirst };
    Plan { visits, pre: sweeps(params.pre), post: sweeps(params.post) }
}

/// A cycle that is symmetric, with no fewer sweeps.
fn symmetric_plan(params: &PoissonParams) -> Plan {
    let sweeps = |order| Sweeps { count: (params.pre + params.post).div_ceil(2), order };
    Plan { pre: sweeps(Order::RedFirst), post: sweeps(Order::BlackFirst), ..plan(params) }
}

/// A cycle that leaves more than this part of the residual may have met the rounding floor.
const SUSPECT: f64 = 0.5;
/// Residuals up to this multiple of the estimated rounding floor are taken for it.
const FLOOR: f64 = 4.0;
/// Cycles before the residuals are first looked at, where cycles overlap.
const FIRST_LOOK: usize = 2;
/// Cycles that are foreseen well enough to be the last ones.
const LAST_LOOK: usize = 2;
/// Cycles in a row without a new smallest residual after which the iteration has stagnated.
const PATIENCE: usize = 5;
/// A residual is new when it is below this multiple of the smallest one.
const PROGRESS: f64 = 0.99;

/// Cycles until the relative residual is small enough or will not become smaller.
fn iterate<T: Real, C: Cycles>(
    multigrid: &mut C,
    params: &PoissonParams,
    row_sum: f64,
    f: &C::Grid,
    u: &mut C::Grid,
    progress: Progress<'_>,
) -> Result<PoissonReport> {
    let [size, start, source] = multigrid.start_norms(u, f)?;
    let scale = [source, start].into_iter().find(|&norm| norm != 0.0).unwrap_or(1.0);
    let rounding = 0.5 * T::epsilon().wide() * row_sum / scale;
    let full = params.cycle == Cycle::Full;

    multigrid.reset();
    let largest = source.max(start);
    let most = multigrid.batch(largest);
    // The residual that rounding leaves, unless the tolerance is above it anyway: of a solution |u| <= |b| / 16, as the
    // least eigenvalue of the stencil is at least 16.
    let mut floor = (params.tolerance >= rounding * scale / 16.0).then_some(0.0);

    let mut run = Run { history: vec![start / scale], told: 0, size: None };
    run.tell(progress);
    let mut smallest = run.history[0];
    let mut idle = 0;
    let stop = loop {
        let cycles = run.told - 1;
        let residual = run.history[cycles];
        if !residual.is_finite() || (cycles == 0 && !size.is_finite()) {
            break Stop::NotFinite;
        }
        if residual <= params.tolerance {
            // What has been begun is ended, and is the solution.
            run.finish(multigrid, f, u, scale, progress)?;
            if run.history[run.told - 1] <= params.tolerance {
                break Stop::Converged;
            }
            continue;
        }
        if cycles > 0 && residual > run.history[cycles - 1] * suspect(&run.history[..cycles]) {
            let floor = rounding * multigrid.norm(u)?;
            if residual <= FLOOR * floor {
                break Stop::RoundingFloor;
            }
        }
        if residual < PROGRESS * smallest || cycles == 0 {
            idle = 0;
        } else {
            idle += 1;
        }
        smallest = smallest.min(residual);
        if idle >= PATIENCE {
            break Stop::Stagnated;
        }
        if residual * T::epsilon().wide() > run.history[0] {
            break Stop::Diverged;
        }
        if cycles >= params.max_cycles {
            break Stop::IterationLimit;
        }
        if run.told == run.history.len() {
            let left = params.max_cycles - cycles;
            if full && cycles == 0 {
                run.add(&[multigrid.full(u, f)?], scale);
            } else {
                if most > 1 && cycles >= FIRST_LOOK && floor.is_none() {
                    floor = Some(rounding * multigrid.norm(u)?);
                }
                let (count, last) = ahead(&run.history, params.tolerance.max(floor.unwrap_or(0.0)), most);
                let (count, last) = if count < left { (count, last) } else { (left, true) };
                run.add(&multigrid.cycles(u, f, count, last, largest)?, scale);
            }
        }
        run.tell(progress);
    };
    run.finish(multigrid, f, u, scale, progress)?;
    let Run { history, size, .. } = run;
    let cycles = history.len() - 1;
    let size = size.map_or_else(|| multigrid.norm(u), Ok)?;
    Ok(PoissonReport {
        stop,
        cycles,
        levels: multigrid.levels(),
        relative_residual: history[cycles],
        convergence_factor: mean_factor(&history[usize::from(full).min(cycles)..]),
        rounding_floor: rounding * size,
        history,
    })
}

/// The course of a solution.
struct Run {
    /// The relative residuals, of which the first `told` have been looked at.
    history: Vec<f64>,
    told: usize,
    /// The norm of u after the last cycle, where it is known.
    size: Option<f64>,
}

impl Run {
    fn add(&mut self, norms: &[Norms], scale: f64) {
        self.history.extend(norms.iter().map(|norms| norms.defect / scale));
        self.size = norms.last().and_then(|norms| norms.size);
    }

    fn tell(&mut self, progress: Progress<'_>) {
        progress(self.told, self.history[self.told]);
        self.told += 1;
    }

    /// Ends the cycle that has begun, and tells of all cycles.
    fn finish<C: Cycles>(
        &mut self,
        multigrid: &mut C,
        f: &C::Grid,
        u: &mut C::Grid,
        scale: f64,
        progress: Progress<'_>,
    ) -> Result<()> {
        if let Some(norms) = multigrid.end(u, f)? {
            self.add(&[norms], scale);
        }
        while self.told < self.history.len() {
            self.tell(progress);
        }
        Ok(())
    }
}

/// How many cycles to make before the residuals are looked at again, and whether the last of them will be the last of
/// all, by the progress so far towards `target`: where cycles overlap, each look costs the wait for it, and each end a
/// pass over the finest level.
fn ahead(history: &[f64], target: f64, most: usize) -> (usize, bool) {
    let cycles = history.len() - 1;
    if most == 1 {
        return (1, true);
    }
    if cycles < FIRST_LOOK {
        return (FIRST_LOOK - cycles, false);
    }
    let factor = history[cycles] / history[cycles - 1];
    let left = (target / history[cycles]).ln() / factor.ln();
    if !(factor < SUSPECT && left > 1.0) {
        return (1, true);
    }
    // The factor of the last cycles is not quite that of those to come.
    let left = left.ceil() as usize;
    if left <= LAST_LOOK { (left, true) } else { ((left - LAST_LOOK).min(most), false) }
}

/// The geometric mean of the factors between successive residuals.
fn mean_factor(history: &[f64]) -> Option<f64> {
    let (first, last) = (history.first()?, history.last()?);
    let factor = (last / first).powf(1.0 / (history.len() - 1) as f64);
    (history.len() > 1 && factor.is_finite()).then_some(factor)
}

/// The factor above which a cycle is slow by the measure of those before it: half way, on a
/// logarithmic scale, between their mean and no progress at all.
fn suspect(history: &[f64]) -> f64 {
    mean_factor(history).map_or(SUSPECT, |mean| mean.min(1.0).sqrt().max(SUSPECT))
}
