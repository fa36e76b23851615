//! The wave equation on strips of the square.

use std::ops::Range;

use super::{Exchange, Message, Partition, Reduction, Team};
use crate::error::check_length;
use crate::multigrid::{Backend, PoissonReport, Separable};
use crate::solve::Progress;
use crate::wave::kernels::Kernels;
use crate::wave::parts::{Membrane, Motion, Parts, Source, Target};
use crate::wave::strides::{AGREED, in_strides};
use crate::wave::{Scheme, Square, WaveEnergy, WaveParams, WaveReport, WaveState};
use crate::{Error, Real, Result, Vector};

/// Steps between two exchanges, unless others are asked for: their halo of so many rows on either side is worked on twice.
const STEPS: usize = 16;

/// Most points per side of the membranes that devices are measured on: several times their caches.
const MEASURED_GPU: usize = 4097;
const MEASURED_CPU: usize = 1025;

/// [`wave::Wave`](crate::wave::Wave) on a team: explicit steps of `u_tt = c^2 Laplace u`, each rank with a strip of rows.
///
/// Strips keep a halo of as many rows of their neighbours as steps are made between two exchanges, and step them as well. So
/// displacement and velocity have the bits of one device after any number of steps; the sums of the energy are taken per rank and
/// then in the order of the ranks.
///
/// ```
/// use clinalg::team::{Team, Wave};
/// use clinalg::wave::WaveParams;
/// use clinalg::{Context, ContextOptions, Device};
///
/// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
/// let team = Team::of_contexts(vec![context()?, context()?])?;
/// let params = WaveParams { dt: 0.5 / 128.0, ..WaveParams::square(129) };
/// let mut wave = Wave::<f64>::new(&team, &params)?;
/// let mut u = vec![0.0; 129 * 129];
/// u[64 * 129 + 64] = 1.0;
/// wave.start(&u, None)?;
/// wave.step(100)?;
/// wave.displacement(&mut u)?;
/// println!("t = {}, energy {}", wave.time(), wave.energy()?.total());
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Wave<T: Real> {
    team: Team,
    params: WaveParams,
    membrane: Membrane<T, Strips<T>>,
}

impl<T: Real> std::fmt::Debug for Wave<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wave").field("params", &self.params).field("team", &self.team).finish_non_exhaustive()
    }
}

impl<T: Real> Wave<T> {
    /// A membrane at rest, with strips of about as many rows for each rank.
    ///
    /// # Errors
    /// As [`wave::Wave::new`](crate::wave::Wave::new); [`Error::Value`] for more ranks than rows, and for what only one device
    /// does: the implicit scheme, backends other than kernels. As [`Error::Rank`], [`Error::Allocation`] and [`Error::NoFp64`].
    pub fn new(team: &Team, params: &WaveParams) -> Result<Wave<T>> {
        Wave::weighted(team, params, &vec![1.0; team.ranks()], STEPS)
    }

    /// A membrane whose strips are in proportion to `weights`, one for each rank, with `steps` steps between two exchanges.
    ///
    /// # Errors
    /// As [`Wave::new`]; [`Error::Length`] for another number of weights; [`Error::Value`] for no step.
    pub fn weighted(team: &Team, params: &WaveParams, weights: &[f64], steps: usize) -> Result<Wave<T>> {
        let square = square(params)?;
        check_length("weights", team.ranks(), weights.len())?;
        if params.scheme != Scheme::Explicit {
            return Err(Error::value(
                "scheme",
                "explicit on several devices; the implicit scheme runs on one device",
                "implicit",
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
        if steps == 0 {
            return Err(Error::value("steps", "at least one between two exchanges", steps));
        }
        let partition = Partition::weighted(square.n, weights)?;
        let membrane = Membrane::new(Strips::new(team, &square, partition, steps)?, &square)?;
        Ok(Wave { team: team.clone(), params: params.clone(), membrane })
    }

    /// A membrane whose strips are in proportion to what each rank gets done, measured by some steps of a smaller membrane on
    /// each device alone, see [`Team::measure`].
    ///
    /// # Errors
    /// As [`Wave::new`].
    pub fn balanced(team: &Team, params: &WaveParams) -> Result<Wave<T>> {
        let most = if team.has_gpu() { MEASURED_GPU } else { MEASURED_CPU };
        let small =
            WaveParams { steps_per_pass: params.steps_per_pass, ..WaveParams::square(square(params)?.n.min(most)) };
        let at_rest = vec![T::zero(); small.total_points()];
        let mut waves = team.each(|_, context| {
            let mut wave = crate::wave::Wave::<T>::new(context, &small)?;
            wave.start(&at_rest, None)?;
            Ok(wave)
        })?;
        let weights = team.measure(|k, _| waves[k].step(STEPS).map(drop))?;
        drop(waves);
        Wave::weighted(team, params, &weights, STEPS)
    }

    /// The parameters it was made with.
    pub fn params(&self) -> &WaveParams {
        &self.params
    }

    /// The team it runs on.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// The rows of the square that each rank owns.
    pub fn partition(&self) -> &Partition {
        &self.membrane.parts().partition
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.membrane.steps()
    }

    /// Time since the start.
    pub fn time(&self) -> f64 {
        self.steps() as f64 * self.params.dt
    }

    /// Sets displacement and velocity at time 0 as [`wave::Wave::start`](crate::wave::Wave::start); n^2 values each, the same on
    /// every process.
    ///
    /// # Errors
    /// [`Error::Length`] that names `u` or `v`; as [`Error::Rank`], what a device reports.
    pub fn start(&mut self, u: &[T], v: Option<&[T]>) -> Result<()> {
        self.check("u", u.len())?;
        if let Some(v) = v {
            self.check("v", v.len())?;
        }
        self.membrane.start(Source::Host(u), v.map(Source::Host)).map(drop)
    }

    /// [`Wave::start`] with the displacement `u`, whose values the devices compute themselves.
    ///
    /// # Errors
    /// As [`wave::Wave::start_separable`](crate::wave::Wave::start_separable), what a device reports as [`Error::Rank`].
    pub fn start_separable(&mut self, u: &Separable, v: Option<&[T]>) -> Result<()> {
        u.check_points("u", self.params.three_points())?;
        if let Some(v) = v {
            self.check("v", v.len())?;
        }
        self.membrane.start(Source::Separable(u), v.map(Source::Host)).map(drop)
    }

    /// Makes `steps` steps. The host waits for the devices at each exchange.
    ///
    /// # Errors
    /// As [`Error::Rank`], what a device reports; the state is lost then, until the next [`Wave::start`].
    pub fn step(&mut self, steps: usize) -> Result<()> {
        self.membrane.step(steps).map(drop)
    }

    /// [`Wave::step`] with `progress` as in [`wave::Wave::step_with`](crate::wave::Wave::step_with). Of a team of several processes all must end after
    /// the same steps.
    ///
    /// # Errors
    /// As [`Wave::step`].
    pub fn step_with(&mut self, steps: usize, progress: Progress<'_>) -> Result<WaveReport> {
        // Processes make the same steps between two exchanges.
        let fixed = (self.team.local().len() < self.team.ranks()).then_some(AGREED);
        in_strides(steps, fixed, progress, |steps| {
            self.step(steps)?;
            self.team.finish()?;
            Ok((WaveReport { steps, implicit: None }, self.time()))
        })
    }

    /// Reads the displacement into n^2 values: the rows of the ranks of this process, which in one process are all.
    ///
    /// # Errors
    /// As [`Wave::start`].
    pub fn displacement(&mut self, u: &mut [T]) -> Result<()> {
        self.check("u", u.len())?;
        self.membrane.displacement(Target::Host(u))
    }

    /// The largest difference of the displacement from `exact` at a point, of all ranks; NaN if a value is NaN. All processes
    /// call it.
    ///
    /// # Errors
    /// As [`Wave::start_separable`], with `exact` in place of `u`.
    pub fn error_max(&mut self, exact: &Separable) -> Result<f64> {
        exact.check_points("exact", self.params.three_points())?;
        self.membrane.error_max(exact)
    }

    /// Reads the velocity as [`Wave::displacement`], see [`wave::Wave::velocity`](crate::wave::Wave::velocity).
    ///
    /// # Errors
    /// As [`Wave::start`].
    pub fn velocity(&mut self, v: &mut [T]) -> Result<()> {
        self.check("v", v.len())?;
        self.membrane.velocity(Target::Host(v))
    }

    /// The discrete energy, see [`wave::Wave::energy`](crate::wave::Wave::energy).
    ///
    /// # Errors
    /// As [`Error::Rank`], what a device reports.
    pub fn energy(&mut self) -> Result<WaveEnergy> {
        self.membrane.energy()
    }

    /// The state, see [`wave::Wave::state`](crate::wave::Wave::state): that of one device has the same bits.
    ///
    /// # Errors
    /// As [`Error::Rank`], what a device reports.
    pub fn state(&mut self) -> Result<WaveState<T>> {
        self.membrane.state()
    }

    /// Goes on from a state, see [`wave::Wave::restore`](crate::wave::Wave::restore).
    ///
    /// # Errors
    /// [`Error::Length`] that names the part of the state; as [`Error::Rank`], what a device reports.
    pub fn restore(&mut self, state: &WaveState<T>) -> Result<()> {
        self.check("state.u", state.u.len())?;
        self.check("state.before", state.before.len())?;
        self.membrane.restore(state)
    }

    fn check(&self, argument: &'static str, len: usize) -> Result<()> {
        check_length(argument, self.params.total_points(), len)
    }
}

/// The square of parameters that are right.
fn square(params: &WaveParams) -> Result<Square> {
    params.check()?;
    params.as_square().ok_or_else(|| {
        let expected = "a square with equal lengths and fixed sides on several devices; other grids run on one device";
        Error::value("points", expected, format!("{:?}", params.points))
    })
}

/// The operations on strips, a grid for each rank of this process.
struct Strips<T: Real> {
    team: Team,
    n: usize,
    partition: Partition,
    stored: Vec<Range<usize>>,
    parts: Vec<Kernels<T>>,
    /// Of u and of the values one step before.
    halos: [Exchange<T>; 2],
    /// Rows of each halo after an exchange.
    depth: usize,
    /// Rows of each halo whose values are right now, in u and one step before; at least one.
    right: usize,
}

impl<T: Real> Strips<T> {
    fn new(team: &Team, square: &Square, partition: Partition, steps: usize) -> Result<Strips<T>> {
        let n = square.n;
        // One row more than steps: the Laplacian and the energy need one at any time.
        let depth = steps + 1;
        let around = |own: Range<usize>| own.start.saturating_sub(depth)..(own.end + depth).min(n);
        let stored: Vec<_> = (0..partition.ranks()).map(|rank| around(partition.range(rank))).collect();
        let first = team.local().start;
        let parts = team.each(|k, context| {
            let (rows, own) = (&stored[first + k], partition.range(first + k));
            Kernels::strip(context, square, None, rows.len(), own.start - rows.start..own.end - rows.start)
        })?;
        let pitch = parts[0].pitch();
        let messages = Message::halos(&partition, &stored, pitch)?;
        let halos = [Exchange::new(team, &messages)?, Exchange::new(team, &messages)?];
        Ok(Strips { team: team.clone(), n, partition, stored, parts, halos, depth, right: depth })
    }

    /// Calls `work` with each rank's operations.
    fn each(&mut self, mut work: impl FnMut(usize, &mut Kernels<T>) -> Result<()>) -> Result<()> {
        let Strips { team, parts, .. } = self;
        team.each(|k, _| work(k, &mut parts[k])).map(drop)
    }

    fn exchange(&mut self, u: &mut [Vector<T>], p: &mut [Vector<T>]) -> Result<()> {
        let [of_u, of_p] = &mut self.halos;
        of_u.run(u)?;
        of_p.run(p)?;
        self.right = self.depth;
        Ok(())
    }
}

impl<T: Real> Parts<T> for Strips<T> {
    type Grid = Vec<Vector<T>>;

    fn zeros(&self) -> Result<Vec<Vector<T>>> {
        self.team.each(|k, _| self.parts[k].zeros())
    }

    fn load(&mut self, from: Source<'_, T>, edges: bool, to: &mut Vec<Vector<T>>) -> Result<()> {
        let (n, first) = (self.n, self.team.local().start);
        let rows = self.stored[first..].to_vec();
        // The values one step before are computed from these, except those of the outermost rows.
        self.right = self.depth - 1;
        self.each(|k, part| match from {
            Source::Host(values) => {
                part.load(Source::Host(&values[rows[k].start * n..rows[k].end * n]), edges, &mut to[k])
            }
            Source::Separable(function) => {
                part.load(Source::Separable(&function.part(1, rows[k].clone())), edges, &mut to[k])
            }
            Source::Device(_) => unreachable!("a team takes no vector of one device"),
        })
    }

    fn error_max(&mut self, grid: &Vec<Vector<T>>, exact: &Separable) -> Result<f64> {
        let Strips { team, parts, partition, .. } = self;
        let first = team.local().start;
        let errors = team.each(|k, _| {
            let own = exact.part(1, partition.range(first + k));
            Ok(vec![parts[k].error_max(&grid[k], &own)?])
        })?;
        Ok(team.all_reduce(Reduction::Max, &errors)?[0])
    }

    fn store(&mut self, from: &Vec<Vector<T>>, to: Target<'_, T>) -> Result<()> {
        let Target::Host(values) = to else { unreachable!("a team gives values to the host") };
        let (n, first) = (self.n, self.team.local().start);
        let Strips { team, parts, partition, stored, .. } = self;
        let store = |k: usize, _: &crate::Context| {
            let (own, rows) = (partition.range(first + k), &stored[first + k]);
            let mut strip = vec![T::zero(); rows.len() * n];
            parts[k].store(&from[k], Target::Host(&mut strip))?;
            let inside = (own.start - rows.start) * n..(own.end - rows.start) * n;
            values[own.start * n..own.end * n].copy_from_slice(&strip[inside]);
            Ok(())
        };
        team.each(store).map(drop)
    }

    fn leap(
        &mut self,
        steps: usize,
        u: &mut Vec<Vector<T>>,
        p: &mut Vec<Vector<T>>,
        spare: &mut [Vec<Vector<T>>; 2],
    ) -> Result<()> {
        let mut left = steps;
        while left > 0 {
            if self.right < 2 {
                self.exchange(u, p)?;
            }
            // Each step spoils a row more.
            let steps = left.min(self.right - 1);
            self.each(|k, part| {
                let [a, b] = spare;
                part.leap_with(steps, [&mut u[k], &mut p[k]], [&mut a[k], &mut b[k]])?;
                // The others start meanwhile.
                u[k].context().queue().flush()
            })?;
            self.right -= steps;
            left -= steps;
        }
        Ok(())
    }

    fn trial(&self) -> usize {
        self.parts[0].trial()
    }

    fn laplacian(&mut self, u: &Vec<Vector<T>>, out: &mut Vec<Vector<T>>) -> Result<()> {
        self.each(|k, part| part.laplacian(&u[k], &mut out[k]))
    }

    fn clear(&mut self, g: &mut Vec<Vector<T>>) -> Result<()> {
        self.each(|k, part| part.clear(&mut g[k]))
    }

    fn update(&mut self, alpha: T, x: &Vec<Vector<T>>, beta: T, y: &mut Vec<Vector<T>>) -> Result<()> {
        self.each(|k, part| part.update(alpha, &x[k], beta, &mut y[k]))
    }

    fn multiply(&mut self, a: &Vec<Vector<T>>, b: &Vec<Vector<T>>, out: &mut Vec<Vector<T>>) -> Result<()> {
        self.each(|k, part| part.multiply(&a[k], &b[k], &mut out[k]))
    }

    fn solve(&mut self, _f: &Vec<Vector<T>>, _e: &mut Vec<Vector<T>>) -> Result<PoissonReport> {
        Err(Error::value("scheme", "explicit on several devices; the implicit scheme runs on one device", "implicit"))
    }

    fn energy_sums(
        &mut self,
        mean: bool,
        u: &Vec<Vector<T>>,
        p: &Vec<Vector<T>>,
        _spare: &mut [Vec<Vector<T>>; 2],
    ) -> Result<[f64; 2]> {
        let sums = self.team.each(|k, _| Ok(self.parts[k].energy_of(mean, &u[k], &p[k])?.to_vec()))?;
        let total = self.team.all_reduce(Reduction::Sum, &sums)?;
        Ok([total[0], total[1]])
    }
}
