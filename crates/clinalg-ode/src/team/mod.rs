//! Steps on several devices, each with a part of the grid.
//!
//! A [`TeamStepper`] is a [`Stepper`] like one on a device: [`integrate`](crate::integrate::integrate()) and
//! [`Integrator`](crate::integrate::Integrator) take it, with events and output between the ends of steps.
//!
//! ```
//! use clinalg::team::Team;
//! use clinalg::{Context, ContextOptions, Device};
//! use clinalg_ode::integrate::{Options, integrate};
//! use clinalg_ode::team::{TeamOptions, TeamStepper};
//! use clinalg_ode::{Boundary, Grid, Method, System};
//!
//! // Two contexts on one device; `Team::select("0,1", ..)` takes two devices.
//! let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
//! let team = Team::of_contexts(vec![context()?, context()?])?;
//! let heat = System::builder(Grid::unit(&[33, 33]))
//!     .field("u", "(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u) / (dx*dx)")
//!     .parameter("dx", 1.0 / 32.0)
//!     .boundary(Boundary::Mirror)
//!     .build()?;
//! let method = Method::named("rk4")?;
//! let mut stepper = TeamStepper::<f64>::new(&team, &method, &heat, &TeamOptions::default())?;
//! let options = Options { fixed_step: Some(1e-4), ..Options::default() };
//! let y0 = heat.sample(|_, [x, y, _]| x * y);
//! let (y, report) = integrate(&mut stepper, 0.0, 1e-2, &y0, &options, &mut |_, _| {})?;
//! assert_eq!((y.len(), report.accepted), (33 * 33, 100));
//! # Ok::<(), clinalg_ode::Error>(())
//! ```

mod shares;
mod simulated;
pub(crate) mod slabs;

use std::sync::Arc;

use clinalg::runtime::{View, ViewMut};
use clinalg::team::{Exchange, Partition, Reduction, Team};
use clinalg::{Context, Real, Vector};

use crate::integrate::{Norm, Slot, Stepper, Stored, Tolerance};
use crate::method::graph::{Graph, Op};
use crate::method::{Input, Method};
use crate::model::access::slow_axis;
use crate::problems::Problem;
use crate::run::stepper::{Shared, all_times};
use crate::{DeviceOptions, DeviceStepper, Error, Result, System, Variant};
pub use clinalg::team::Link;
pub use shares::TeamVector;
use shares::{Ranks, Shares};
pub use simulated::{Traffic, simulate};
use slabs::Slabs;

/// What a team's steps are made of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TeamOptions {
    /// How a step becomes kernels, on every device; `steps` are those of a fixed size that tiles compute at once.
    pub device: DeviceOptions,
    /// What each rank gets done, in any unit; as much for all where it is empty.
    pub weights: Vec<f64>,
    /// Steps between two exchanges of halos; `None` for as many as pay by a model of an exchange's latency against the rows that
    /// are computed twice.
    pub steps_per_exchange: Option<usize>,
}

impl Default for TeamOptions {
    fn default() -> TeamOptions {
        let device = DeviceOptions { variant: Variant::Fused, ..DeviceOptions::default() };
        TeamOptions { device, weights: Vec::new(), steps_per_exchange: None }
    }
}

/// A method's steps for a system on a team: each rank has consecutive rows of the grid, or planes in three dimensions.
///
/// Ranks store a halo of their neighbours' rows and compute it as well, as deep as the stages of all steps between two
/// exchanges reach: an exchange costs 40 microseconds on two NVIDIA H200 whatever its size up to 64 KB, so that one for every
/// stage would cost more than the rows computed twice. Steps of a fixed size so give the bits of one device. The norm of an error is
/// summed per rank and then in the order of the ranks: adaptive steps agree with those of one device but for rounding, and the
/// same team gives the same bits.
pub struct TeamStepper<T: Real> {
    shares: Arc<Shares>,
    method: Method,
    ranks: Vec<DeviceStepper<T>>,
    /// One for each input whose halos are exchanged.
    exchanges: Vec<(usize, Exchange<T>)>,
    /// Rows at either end of a slab that a step leaves wrong.
    reach: usize,
    /// Rows of the halos that hold what their owners have.
    valid: usize,
    /// Between which the times of stages stay.
    times: [f64; 2],
}

impl<T: Real> std::fmt::Debug for TeamStepper<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TeamStepper")
            .field("team", &self.shares.team)
            .field("method", &self.method.name())
            .field("slabs", &self.shares.slabs)
            .finish_non_exhaustive()
    }
}

/// Most steps between two exchanges by the model.
const MOST_STEPS: usize = 16;

/// Seconds of an exchange, and bytes that a device moves in a second: two NVIDIA H200, and CPUs, for which both are guesses.
const GPU: (f64, f64) = (40e-6, 4e12);
const CPU: (f64, f64) = (10e-6, 2e10);

impl<T: Real> TeamStepper<T> {
    /// Shares the grid out, compiles the kernels and takes the memory.
    ///
    /// # Errors
    /// [`Error::Value`] for more ranks than the grid has rows, weights that are not one positive number for each rank, no step
    /// between two exchanges, and what cannot be distributed: right-hand sides with sums over all points, and snippets of
    /// OpenCL C. Those of [`DeviceStepper::with`], of a device as [`clinalg::Error::Rank`].
    pub fn new(team: &Team, method: &Method, system: &System, options: &TeamOptions) -> Result<TeamStepper<T>> {
        let partition = share_out(team, system, options)?;
        let steps = options
            .steps_per_exchange
            .unwrap_or_else(|| paying::<T>(method.graph(), system, &partition, if team.has_gpu() { GPU } else { CPU }));
        TeamStepper::on(team, method, system, &partition, &options.device, steps)
    }

    /// With rows in proportion to what each rank gets done, measured by steps on as many rows for each, see
    /// [`Team::measure`]; the weights of `options` take no part. Where devices differ, kernels are compiled and memory is taken twice, one
    /// after the other.
    ///
    /// # Errors
    /// As [`TeamStepper::new`].
    pub fn balanced(team: &Team, method: &Method, system: &System, options: &TeamOptions) -> Result<TeamStepper<T>> {
        let even = TeamOptions { weights: Vec::new(), ..options.clone() };
        let mut stepper = TeamStepper::new(team, method, system, &even)?;
        let ranks = &mut stepper.ranks;
        let weights = measure(team, |k| ranks[k].enqueue_step(0.0, 0.0, &Tolerance::UNUSED))?;
        if weights.iter().all(|weight| *weight == 1.0) {
            return Ok(stepper);
        }
        drop(stepper);
        TeamStepper::new(team, method, system, &TeamOptions { weights, ..even })
    }

    /// On these rows, with so many steps between two exchanges, or fewer where a ring is too small for their halos.
    fn on(
        team: &Team,
        method: &Method,
        system: &System,
        partition: &Partition,
        options: &DeviceOptions,
        steps: usize,
    ) -> Result<TeamStepper<T>> {
        // One rank alone has no halos.
        let is_alone = team.ranks() == 1;
        let reach = if is_alone { 0 } else { reach(method.graph(), system.radius()[slow_axis(system)]) };
        let deep = (2..=steps).rev().find_map(|steps| Slabs::new(system, partition, steps * reach).ok());
        let slabs = deep.map_or_else(|| Slabs::new(system, partition, reach), Ok)?;
        let shares = Shares::new(team, system, slabs);
        let mut ranks = Vec::with_capacity(shares.parts.len());
        for (k, (context, part)) in team.contexts().iter().zip(&shares.parts).enumerate() {
            ranks.push(DeviceStepper::with(context, method, part, options).map_err(|error| error.of_rank(team, k))?);
        }
        let messages = shares.slabs.messages();
        let shared = method.inputs().iter().enumerate().filter(|(_, input)| **input != Input::Tolerances);
        let exchanges = shared.map(|(k, _)| Ok((k, Exchange::new(team, &messages)?))).collect::<Result<_>>()?;
        let (valid, times) = (shares.slabs.depth, all_times::<T>());
        let (shares, method) = (Arc::new(shares), method.clone());
        Ok(TeamStepper { shares, method, ranks, exchanges, reach, valid, times })
    }

    /// The team it runs on.
    pub fn team(&self) -> &Team {
        &self.shares.team
    }

    /// The rows of the grid's slowest axis that each rank owns.
    pub fn partition(&self) -> &Partition {
        &self.shares.slabs.partition
    }

    /// Steps between two exchanges; `None` where none is needed.
    pub fn steps_per_exchange(&self) -> Option<usize> {
        self.shares.slabs.depth.checked_div(self.reach)
    }

    /// The initial values of a problem for this system, for [`Integrator`](crate::integrate::Integrator). Where
    /// formulas give them, each device computes those of its rows.
    ///
    /// # Errors
    /// [`Error::Value`] for a problem of another size; those of [`Problem::y0_on`], of a device as
    /// [`clinalg::Error::Rank`].
    pub fn y0(&self, problem: &Problem) -> Result<TeamVector<T>> {
        let (components, got) = (self.components(), problem.system.components());
        if components != got {
            return Err(Error::value("problem", format!("one with {components} components"), got));
        }
        TeamVector::y0(&self.shares, problem)
    }

    /// The steppers of the ranks of this process.
    pub fn ranks(&self) -> &[DeviceStepper<T>] {
        &self.ranks
    }

    /// Calls `work` with each rank's stepper and lets its device begin.
    fn each(&mut self, mut work: impl FnMut(&mut DeviceStepper<T>) -> Result<()>) -> Result<()> {
        let TeamStepper { shares, ranks, .. } = self;
        let team = &shares.team;
        for (k, (stepper, context)) in ranks.iter_mut().zip(team.contexts()).enumerate() {
            let begun = work(stepper).and_then(|()| Ok(context.queue().flush()?));
            begun.map_err(|error| error.of_rank(team, k))?;
        }
        Ok(())
    }

    /// Fills the halos, all inputs at the same time.
    fn exchange(&mut self) -> Result<()> {
        let TeamStepper { ranks, exchanges, shares, valid, .. } = self;
        for (input, exchange) in exchanges.iter_mut() {
            let sources: Vec<View<'_, T>> = ranks.iter().map(|rank| rank.slot(Slot::Input(*input)).into()).collect();
            exchange.read(&sources)?;
        }
        for (input, exchange) in exchanges {
            let mut targets: Vec<ViewMut<'_, T>> = ranks.iter_mut().map(|rank| rank.input_mut(*input).into()).collect();
            exchange.finish(&mut targets)?;
        }
        *valid = shares.slabs.depth;
        Ok(())
    }

    /// Makes the halos good for a step.
    fn prepare(&mut self) -> Result<()> {
        if self.valid < self.reach { self.exchange() } else { Ok(()) }
    }

    /// Puts values of the whole vector where the ranks of this process store them.
    fn write(&mut self, input: usize, whole: &[T]) -> Result<()> {
        let first = self.shares.team.local().start;
        for k in 0..self.ranks.len() {
            let part = self.shares.slabs.part(whole, first + k);
            let written = self.ranks[k].input_mut(input).write(&part);
            written.map_err(|error| Error::from(error).of_rank(&self.shares.team, k))?;
        }
        if self.ranks.len() < self.shares.team.ranks() {
            // What other processes own may be unknown here.
            self.valid = 0;
        }
        Ok(())
    }

    /// Copies what another stepper of the same ranks has, device by device.
    fn copy(&mut self, input: usize, from: Shared<'_, T>) -> Result<()> {
        let first = self.shares.team.local().start;
        for k in 0..self.ranks.len() {
            let sources = from.parts.own(from.slot, k)?;
            let target = self.ranks[k].input_mut(input);
            for (range, source) in self.shares.slabs.own(first + k).zip(sources) {
                let copied = target.slice_mut(range).and_then(|mut target| target.copy_from(source));
                copied.map_err(|error| Error::from(error).of_rank(&self.shares.team, k))?;
            }
        }
        self.valid = 0;
        Ok(())
    }
}

/// The rows of the grid's slowest axis that each rank owns.
///
/// # Errors
/// As [`TeamStepper::new`].
pub(crate) fn share_out(team: &Team, system: &System, options: &TeamOptions) -> Result<Partition> {
    let ranks = team.ranks();
    if ranks > 1 && system.is_dense() {
        return Err(Error::value(
            "system",
            "one without sums over all points; such systems run on one device",
            "a sum",
        ));
    }
    if ranks > 1 && system.snippet.is_some() {
        let expected = "formulas, whose neighbours are known; systems in OpenCL C run on one device";
        return Err(Error::value("system", expected, "a snippet"));
    }
    if options.steps_per_exchange == Some(0) {
        return Err(Error::value("steps_per_exchange", "at least 1", 0));
    }
    if !options.weights.is_empty() && options.weights.len() != ranks {
        return Err(Error::value("weights", format!("{ranks}, one for each rank"), options.weights.len()));
    }
    let even = vec![1.0; ranks];
    let weights = if options.weights.is_empty() { &even } else { &options.weights };
    let rows = Slabs::rows(system);
    if ranks > rows {
        let expected = format!("at most {rows}, a row of the grid's slowest axis for each");
        return Err(Error::value("ranks", expected, ranks));
    }
    Ok(Partition::weighted(rows, weights)?)
}

/// As [`Team::measure`], for a `trial` that returns the errors of this crate.
pub(crate) fn measure(team: &Team, mut trial: impl FnMut(usize) -> Result<()>) -> Result<Vec<f64>> {
    let mut failed = None;
    let weights = team.measure(|k, _| match trial(k) {
        Err(Error::Device(error)) => Err(error),
        Err(other) => {
            failed = Some(other);
            Ok(())
        }
        Ok(()) => Ok(()),
    })?;
    failed.map_or(Ok(weights), Err)
}

/// Rows beside a slab that a step reads, where right-hand sides read `radius` rows away.
pub(crate) fn reach(graph: &Graph, radius: usize) -> usize {
    let mut reaches: Vec<usize> = Vec::with_capacity(graph.nodes().len());
    for node in graph.nodes() {
        let read = node.op.reads().iter().map(|v| reaches[v.0]).max().unwrap_or(0);
        reaches.push(if matches!(node.op, Op::Rhs { .. }) { read + radius } else { read });
    }
    reaches.into_iter().max().unwrap_or(0)
}

/// Steps between two exchanges that cost least: the latency of the exchange, shared by them, against the rows that are computed
/// twice. No halo is deeper than a quarter of a slab.
fn paying<T: Real>(graph: &Graph, system: &System, partition: &Partition, (latency, rate): (f64, f64)) -> usize {
    let rows = reach(graph, system.radius()[slow_axis(system)]);
    let smallest = (0..partition.ranks()).map(|rank| partition.range(rank).len()).min().unwrap_or(0);
    if rows == 0 || partition.ranks() == 1 {
        return 1;
    }
    // About four words per component and right-hand side with fused kernels.
    let words = 4 * graph.rhs_count() * (system.components() / partition.rows());
    let seconds = (words * size_of::<T>()) as f64 / rate;
    let steps = (latency / (2.0 * rows as f64 * seconds)).sqrt() as usize;
    steps.min(MOST_STEPS).min(smallest / (4 * rows)).max(1)
}

impl<T: Real> Ranks<T> for TeamStepper<T> {
    fn shares(&self) -> &Arc<Shares> {
        &self.shares
    }

    fn vector(&self, slot: Slot, k: usize) -> &Vector<T> {
        self.ranks[k].slot(slot)
    }
}

impl<T: Real> Stepper<T> for TeamStepper<T> {
    fn method(&self) -> &Method {
        &self.method
    }

    fn components(&self) -> usize {
        self.shares.system.components()
    }

    fn set(&mut self, inputs: &[Vec<T>]) -> Result<()> {
        let count = self.method.inputs().len();
        if inputs.len() != count || inputs.iter().any(|v| v.len() != self.components()) {
            let expected = format!("{count} vectors of {} components", self.components());
            return Err(Error::value("inputs", expected, format!("{} vectors", inputs.len())));
        }
        self.valid = self.shares.slabs.depth;
        inputs.iter().enumerate().try_for_each(|(k, input)| self.write(k, input))
    }

    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>> {
        self.prepare()?;
        self.each(|stepper| stepper.enqueue_step(t, h, tolerance))?;
        if !self.method.graph().has_error() {
            return Ok(None);
        }
        let TeamStepper { shares, ranks, .. } = self;
        let team = &shares.team;
        let mut parts = Vec::with_capacity(ranks.len());
        for (k, stepper) in ranks.iter().enumerate() {
            let sums = stepper.sums(tolerance.norm).map_err(|error| error.of_rank(team, k))?;
            parts.push(vec![sums[0]]);
        }
        Ok(Some(match tolerance.norm {
            Norm::Max => team.all_reduce(Reduction::Max, &parts)?[0],
            Norm::Rms => {
                let sum = team.all_reduce(Reduction::Sum, &parts)?[0];
                (sum / self.components().max(1) as f64).sqrt()
            }
        }))
    }

    fn accept(&mut self) -> Result<()> {
        self.each(|stepper| stepper.accept())?;
        self.valid = self.valid.saturating_sub(self.reach);
        Ok(())
    }

    fn advance(&mut self, times: &[f64], h: f64) -> Result<()> {
        let mut rest = times;
        while !rest.is_empty() {
            self.prepare()?;
            let most = self.valid.checked_div(self.reach).unwrap_or(rest.len());
            let (now, later) = rest.split_at(most.min(rest.len()));
            self.each(|stepper| stepper.advance(now, h))?;
            self.valid -= now.len() * self.reach;
            rest = later;
        }
        Ok(())
    }

    fn solution(&self) -> Result<Vec<T>> {
        self.stored(Slot::Input(self.method.begin())).to_vec()
    }

    fn sibling(&self, method: &Method) -> Result<Self> {
        let options = DeviceOptions { variant: Variant::Fused, ..DeviceOptions::default() };
        let Shares { team, system, slabs, .. } = &*self.shares;
        let mut stepper = TeamStepper::on(team, method, system, &slabs.partition, &options, 1)?;
        stepper.limit_times(self.times);
        Ok(stepper)
    }

    fn limit_times(&mut self, times: [f64; 2]) {
        self.times = times;
        self.ranks.iter_mut().for_each(|rank| rank.limit_times(times));
    }

    fn finish(&self) -> Result<bool> {
        let is_alone = self.shares.team.local().len() == self.shares.team.ranks();
        if is_alone {
            self.shares.team.finish()?;
        }
        Ok(is_alone)
    }

    fn component_name(&self, component: usize) -> String {
        self.shares.system.component_name(component)
    }

    fn stored(&self, slot: Slot) -> Stored<'_, T> {
        Stored::Parts(Shared { parts: self, slot })
    }

    fn load(&mut self, input: usize, from: Stored<'_, T>) -> Result<()> {
        if from.len() != self.components() {
            return Err(Error::value("from", format!("{} components", self.components()), from.len()));
        }
        match from {
            Stored::Host(values) => self.write(input, values),
            Stored::Device(vector) => self.write(input, &vector.to_vec()?),
            Stored::Parts(shared) => {
                let parts = shared.parts;
                if !parts.team().same(&self.shares.team) || parts.partition() != self.partition() {
                    let expected = "a vector of the same team with the same rows for each rank";
                    return Err(Error::value("from", expected, format!("one of {parts:?}")));
                }
                self.copy(input, shared)
            }
        }
    }
}

impl<T: Real> TeamStepper<T> {
    /// The contexts of this process.
    pub fn contexts(&self) -> &[Context] {
        self.shares.team.contexts()
    }
}
