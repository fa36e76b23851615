//! The wave equation `u_tt = c^2 Laplace u` on boxes of two or three dimensions.

mod boxes;
pub(crate) mod kernels;
mod matrix;
mod medium;
mod params;
pub(crate) mod parts;
mod sequential;
pub(crate) mod strides;

pub use medium::{Amplitude, Medium, WaveState};
pub(crate) use params::Square;
pub use params::{ImplicitReport, Scheme, WaveEnergy, WaveParams, WaveReport, WaveSide};

use boxes::BoxMotion;
use kernels::Kernels;
use matrix::Matrices;
use parts::{Membrane, Motion, Parts, Source, Target};
use sequential::Sequential;

use crate::error::check_length;
use crate::multigrid::{Backend, Grid, Poisson, PoissonParams, Separable};
use crate::solve::Progress;
use crate::{Context, Error, Real, Result, Vector};

/// The wave equation `u_tt = c^2 Laplace u` on a box of two or three dimensions, with fixed, free, absorbing or
/// periodic sides. The speed c may vary from point to point, and a force g(t) s may act ([`Wave::with_medium`]).
///
/// Arrays have one value per point, those on the sides included, x fastest. The state consists of the values at two successive
/// steps; [`start`](Wave::start) takes them from a displacement and a velocity, with an error of second order. The
/// schemes are, with the stencil Laplace_h of the neighbours in each direction:
///
/// - [`Scheme::Explicit`]: u_next = 2 u - u_before + (c dt)^2 Laplace_h u + dt^2 g(t) s, stable for time steps up to
///   [`WaveParams::limit`], on squares for r = c dt / h at most 1 / sqrt(2) (Courant, Friedrichs, Lewy 1928). Standing
///   waves keep their shape; on the unit square one of frequency omega moves with the omega' of sin(omega' dt / 2) = r
///   sqrt(sin^2(k pi h / 2) + sin^2(l pi h / 2)). On free and absorbing sides the missing neighbour is the mirrored
///   one; on absorbing sides h / (c dt) (u_next - u_before) is subtracted from it. In damping layers
///   ([`WaveParams::sponge`]) the step has the term sigma dt / 2 (u_next - u_before), too.
/// - [`Scheme::Implicit`], on squares: u_next - 2 u + u_before = (c dt)^2 Laplace_h (u_next + 2 u + u_before) / 4
///   (Newmark 1959 with beta = 1/4, gamma = 1/2), stable for every dt; tan in place of sin. The accelerations are
///   solved for by multigrid.
///
/// Both err by O(h^2 + dt^2). Without absorbing sides and a force they keep a discrete energy exactly but for rounding
/// (and the tolerance of the implicit scheme), see [`energy`](Wave::energy); absorbing sides and layers never increase
/// it. In single precision the rounding of each step adds up: after s steps the displacement can be off by up to about
/// 3e-8 s^1.5 of its size.
///
/// Squares, which are grids of two directions with equally many points, equal lengths and fixed sides, have kernels of
/// their own: an explicit step moves, in f64, 24 bytes per point alone and 32 / s bytes with s steps in one pass. On
/// other grids a step moves 32 bytes per point, with a force 56.
///
/// ```
/// use clinalg::Context;
/// use clinalg::wave::{Wave, WaveParams, WaveSide};
///
/// let params = WaveParams { dt: 0.5 / 128.0, ..WaveParams::square(129) };
/// let mut wave = Wave::<f64>::new(&Context::global()?, &params)?;
/// let mut u = vec![0.0; 129 * 129];
/// u[64 * 129 + 64] = 1.0;
/// wave.start(&u, None)?;
/// wave.step(100)?;
/// wave.displacement(&mut u)?;
/// println!("t = {}, energy {}", wave.time(), wave.energy()?.total());
///
/// // A channel of 2 by 1 with open ends.
/// let sides = vec![[WaveSide::Absorbing; 2], [WaveSide::Free; 2]];
/// let params = WaveParams { size: vec![2.0, 1.0], sides, dt: 0.006, ..WaveParams::new(&[201, 101]) };
/// let x = params.coordinates(0)?;
/// let u: Vec<f64> = (0..101).flat_map(|_| x.iter().map(|x| (-100.0 * (x - 1.0) * (x - 1.0)).exp())).collect();
/// let mut wave = Wave::<f64>::new(&Context::global()?, &params)?;
/// wave.start(&u, None)?;
/// let before = wave.energy()?.total();
/// wave.step(400)?;
/// assert!(wave.energy()?.total() < 1e-5 * before);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Wave<T: Real> {
    params: WaveParams,
    /// Of the device backends.
    context: Option<Context>,
    motion: Box<dyn Motion<T>>,
}

impl<T: Real> std::fmt::Debug for Wave<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wave").field("params", &self.params).field("steps", &self.steps()).finish_non_exhaustive()
    }
}

impl<T: Real> Wave<T> {
    /// u = 0 at rest, with one speed everywhere, in the backend that `params` names; [`Backend::Reference`] needs no
    /// device, see [`Wave::reference`].
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::Length`] for parameters out of range; a time step past the stability limit of the
    /// explicit scheme names the limit, sizes other than 2^k + 1 with the implicit scheme name the nearest, and what is
    /// for squares only says so. [`Error::Allocation`]; [`Error::NoFp64`] for `f64` on a device without it.
    pub fn new(context: &Context, params: &WaveParams) -> Result<Wave<T>> {
        Wave::with_medium(Some(context), params, Medium::default())
    }

    /// The solver for squares in plain Rust, whatever backend `params` names; no device is needed.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range, other grids or grids that do not fit the memory.
    pub fn reference(params: &WaveParams) -> Result<Wave<T>> {
        Wave::with_medium(None, params, Medium::default())
    }

    /// [`Wave::new`] with a speed that varies or a force, with the explicit scheme; without a context,
    /// [`Wave::reference`].
    ///
    /// On squares steps are made one by one, whatever the number of steps per pass; with one speed and a force one takes
    /// one pass more than [`Wave::new`]'s, with a speed that varies four. On other grids a speed that varies costs
    /// nothing. The [energy](Wave::energy) has the density (c_max / c)^2 with c_max = [`WaveParams::c`].
    ///
    /// # Errors
    /// As [`Wave::new`]; [`Error::Length`] or [`Error::Value`] that names `speed` or `force`; [`Error::Value`] for the
    /// implicit scheme.
    pub fn with_medium(context: Option<&Context>, params: &WaveParams, medium: Medium<'_, T>) -> Result<Wave<T>> {
        let context = context.filter(|_| params.backend != Backend::Reference);
        let backend = if context.is_some() { params.backend } else { Backend::Reference };
        let params = WaveParams { backend, ..params.clone() };
        params.check()?;
        medium.check(&params)?;
        let motion = match (params.as_square(), context) {
            (Some(square), context) => on_square(context, &square, medium)?,
            (None, Some(context)) => Box::new(BoxMotion::new(context, &params, medium)?),
            (None, None) => unreachable!("a box has no backend without a device"),
        };
        Ok(Wave { params, context: context.cloned(), motion })
    }

    /// The parameters the solver was made with.
    pub fn params(&self) -> &WaveParams {
        &self.params
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.motion.steps()
    }

    /// Time since the start.
    pub fn time(&self) -> f64 {
        self.steps() as f64 * self.params.dt
    }

    /// Sets the displacement `u`, whose values on fixed sides stay, and the velocity `v`, 0 where there is none, at
    /// time 0. Values of `v` on fixed sides are not read.
    ///
    /// # Errors
    /// [`Error::Length`] that names `u` or `v`; what the device reports.
    pub fn start(&mut self, u: &[T], v: Option<&[T]>) -> Result<WaveReport> {
        self.check("u", u.len())?;
        if let Some(v) = v {
            self.check("v", v.len())?;
        }
        self.motion.start(Source::Host(u), v.map(Source::Host))
    }

    /// [`Wave::start`] from device vectors; except on squares the values pass through the host's memory.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `u` or `v`; what the device reports.
    pub fn start_device(&mut self, u: &Vector<T>, v: Option<&Vector<T>>) -> Result<WaveReport> {
        self.check_vector("u", u)?;
        if let Some(v) = v {
            self.check_vector("v", v)?;
        }
        self.motion.start(Source::Device(u), v.map(Source::Device))
    }

    /// [`Wave::start`] with the displacement `u`, whose values on a square a device computes itself.
    ///
    /// # Errors
    /// [`Error::Shape`] that names `u` unless it is on the points of the grid; [`Error::Length`] that names `v`;
    /// [`Error::NoFp64`] for a device without double precision, whatever `T` is; what the device reports.
    pub fn start_separable(&mut self, u: &Separable, v: Option<&[T]>) -> Result<WaveReport> {
        u.check_points("u", self.params.three_points())?;
        if let Some(v) = v {
            self.check("v", v.len())?;
        }
        self.motion.start(Source::Separable(u), v.map(Source::Host))
    }

    /// Makes `steps` steps. The explicit scheme on a device only enqueues them.
    ///
    /// The implicit scheme stops early where a solution neither meets its tolerance nor the floor of rounding, and says
    /// so in the report.
    ///
    /// # Errors
    /// [`Error::Value`] for a factor of the force that is not finite at a time step; what the device reports.
    pub fn step(&mut self, steps: usize) -> Result<WaveReport> {
        self.motion.step(steps)
    }

    /// [`Wave::step`] that waits for the device about ten times a second and then calls `progress` with the number of
    /// steps made by this call and the time reached. [`Break`](std::ops::ControlFlow::Break) ends the call. The results
    /// are bitwise those of [`Wave::step`].
    ///
    /// # Errors
    /// As [`Wave::step`].
    pub fn step_with(&mut self, steps: usize, progress: Progress<'_>) -> Result<WaveReport> {
        // A solution of the implicit scheme takes long, and its end is waited for anyway.
        let fixed = (self.params.scheme == Scheme::Implicit).then_some(1);
        strides::in_strides(steps, fixed, progress, |steps| {
            let report = self.step(steps)?;
            self.context.as_ref().map_or(Ok(()), Context::finish)?;
            Ok((report, self.time()))
        })
    }

    /// Reads the displacement.
    ///
    /// # Errors
    /// [`Error::Length`] that names `u`; what the device reports.
    pub fn displacement(&mut self, u: &mut [T]) -> Result<()> {
        self.check("u", u.len())?;
        self.motion.displacement(Target::Host(u))
    }

    /// [`Wave::displacement`] into a device vector.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `u`; what the device reports.
    pub fn displacement_device(&mut self, u: &mut Vector<T>) -> Result<()> {
        self.check_vector("u", u)?;
        self.motion.displacement(Target::Device(u))
    }

    /// The largest difference of the displacement from `exact` at a point, in double precision; NaN if a value is NaN.
    ///
    /// # Errors
    /// As [`Wave::start_separable`], with `exact` in place of `u`.
    pub fn error_max(&mut self, exact: &Separable) -> Result<f64> {
        exact.check_points("exact", self.params.three_points())?;
        self.motion.error_max(exact)
    }

    /// Reads the velocity, 0 on fixed sides: of second order, and such that a start with it and the displacement
    /// continues in the same way.
    ///
    /// # Errors
    /// [`Error::Length`] that names `v`; what the device reports.
    pub fn velocity(&mut self, v: &mut [T]) -> Result<()> {
        self.check("v", v.len())?;
        self.motion.velocity(Target::Host(v))
    }

    /// [`Wave::velocity`] into a device vector; except on squares the values pass through the host's memory.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `v`; what the device reports.
    pub fn velocity_device(&mut self, v: &mut Vector<T>) -> Result<()> {
        self.check_vector("v", v)?;
        self.motion.velocity(Target::Device(v))
    }

    /// The discrete energy half a step before the time reached, of the density (c_max / c)^2, where c_max is
    /// [`WaveParams::c`] and c the speed at a point: 1 where the speed does not vary. Except on squares it is summed on
    /// the host.
    ///
    /// Let V be the volume of the cell of a point, A the area of the face between two neighbours, and let the sums be
    /// over points that are not on fixed sides and over pairs of neighbours of which at least one is not. The kinetic
    /// part is 1/2 sum V (c_max / c)^2 ((u - u_before) / dt)^2. The potential part is c_max^2 / 2 times the sum of A /
    /// h times the product of the differences of u and of u_before for the explicit scheme, the squared difference of
    /// (u + u_before) / 2 for the implicit one. The total stays the same in exact arithmetic, unless a side absorbs
    /// waves or a force acts. Squares must fit the range of `T`.
    ///
    /// # Errors
    /// What the device reports.
    pub fn energy(&mut self) -> Result<WaveEnergy> {
        self.motion.energy()
    }

    /// The state: with it a solver of the same parameters on the same device continues to the same bits.
    ///
    /// # Errors
    /// What the device reports.
    pub fn state(&mut self) -> Result<WaveState<T>> {
        self.motion.state()
    }

    /// Goes on from a state of a solver with the same parameters.
    ///
    /// # Errors
    /// [`Error::Length`] that names the part of the state; [`Error::Value`] where the implicit scheme misses its
    /// initial guess; what the device reports.
    pub fn restore(&mut self, state: &WaveState<T>) -> Result<()> {
        self.check("state.u", state.u.len())?;
        self.check("state.before", state.before.len())?;
        match (&state.guess, self.params.scheme) {
            (Some(guess), Scheme::Implicit) => self.check("state.guess", guess.len())?,
            (None, Scheme::Implicit) => {
                return Err(Error::value("state.guess", "the start value of the implicit scheme", "none"));
            }
            _ => {}
        }
        self.motion.restore(state)
    }

    fn check(&self, argument: &'static str, len: usize) -> Result<()> {
        check_length(argument, self.params.total_points(), len)
    }

    fn check_vector(&self, argument: &'static str, vector: &Vector<T>) -> Result<()> {
        if self.context.as_ref().is_some_and(|context| !context.same(vector.context())) {
            return Err(Error::Context { argument });
        }
        self.check(argument, vector.len())
    }
}

/// The solver for a square in the backend that it names; without a context, in plain Rust.
fn on_square<T: Real>(context: Option<&Context>, square: &Square, medium: Medium<'_, T>) -> Result<Box<dyn Motion<T>>> {
    let poisson = poisson(square)?;
    let poisson = poisson.map(|(grid, params)| match context {
        Some(context) => Poisson::new(context, &grid, &params),
        None => Poisson::reference(&grid, &params, None),
    });
    let poisson = poisson.transpose()?;
    match context {
        None => membrane(Sequential::new(square, poisson), square, medium),
        Some(context) if square.backend == Backend::Matrix => {
            membrane(Matrices::new(context, square, poisson)?, square, medium)
        }
        Some(context) => membrane(Kernels::new(context, square, poisson)?, square, medium),
    }
}

fn membrane<T: Real, P: Parts<T> + 'static>(
    parts: P,
    square: &Square,
    medium: Medium<'_, T>,
) -> Result<Box<dyn Motion<T>>> {
    let membrane = Membrane::new(parts, square)?;
    Ok(Box::new(if medium.is_uniform() { membrane } else { membrane.with_medium(medium)? }))
}

/// The elliptic problem of the implicit scheme, (4 / (c dt)^2 - Laplace_h) e = f.
///
/// # Errors
/// [`Error::Value`] that names the nearest sizes unless n = 2^k + 1.
fn poisson(square: &Square) -> Result<Option<(Grid, PoissonParams)>> {
    if square.scheme == Scheme::Explicit {
        return Ok(None);
    }
    crate::multigrid::sides(square.n, 2).map_err(|error| error.renamed("n", "points"))?;
    let shift = 4.0 / (square.c * square.dt).powi(2);
    let Square { n, backend, tolerance, max_cycles, .. } = *square;
    let params = PoissonParams { backend, shift, tolerance, max_cycles, ..PoissonParams::default() };
    Ok(Some((Grid::square(n), params)))
}
