//! The wave equation `u_tt = c^2 Laplace u` on the unit square with fixed edges, and on boxes ([`BoxWave`]).

mod box_params;
mod boxes;
pub(crate) mod kernels;
mod matrix;
mod medium;
mod params;
pub(crate) mod parts;
mod sequential;
pub(crate) mod strides;

pub use box_params::{BoxWaveParams, WaveSide};
pub use boxes::BoxWave;
pub use medium::{Amplitude, Medium, WaveState};
pub use params::{ImplicitReport, Scheme, WaveEnergy, WaveParams, WaveReport};

use kernels::Kernels;
use matrix::Matrices;
use parts::{Membrane, Motion, Source, Target};
use sequential::Sequential;

use crate::error::check_length;
use crate::multigrid::{Backend, Grid, Poisson, PoissonParams, Separable};
use crate::solve::Progress;
use crate::{Context, Error, Real, Result, Vector};

/// A membrane in motion: `u_tt = c^2 Laplace u` on the unit square, the values on the boundary fixed.
///
/// Grids have N by N points, boundary included, as in [`multigrid`](crate::multigrid). The state are the values at two successive
/// steps; [`start`](Wave::start) takes them from a displacement and a velocity, with an error of second order. With
/// r = c dt / h and the 5-point stencil Laplace_h:
///
/// - [`Scheme::Explicit`]: u_next = 2 u - u_before + (c dt)^2 Laplace_h u, stable for r at most 1 / sqrt(2) (Courant, Friedrichs,
///   Lewy 1928). Standing waves keep their shape; one of frequency omega moves with the omega' of
///   sin(omega' dt / 2) = r sqrt(sin^2(k pi h / 2) + sin^2(l pi h / 2)).
/// - [`Scheme::Implicit`]: u_next - 2 u + u_before = (c dt)^2 Laplace_h (u_next + 2 u + u_before) / 4 (Newmark 1959 with beta = 1/4,
///   gamma = 1/2), stable for every dt; tan in place of sin. The accelerations are solved for by multigrid.
///
/// Both err by O(h^2 + dt^2) and keep a discrete energy exactly but for rounding (and the tolerance of the implicit scheme), see
/// [`energy`](Wave::energy). In single precision the rounding of each step adds up: after s steps the displacement can
/// be off by up to about 3e-8 s^1.5 of its size.
///
/// Traffic of an explicit step by kernels, f64: 24 bytes per point alone, 32 / s bytes with s steps in one pass.
///
/// ```
/// use clinalg::{Context, wave::{Wave, WaveParams}};
///
/// let params = WaveParams { n: 129, dt: 0.5 / 128.0, ..WaveParams::default() };
/// let mut wave = Wave::<f64>::new(&Context::global()?, &params)?;
/// let mut u = vec![0.0; 129 * 129];
/// u[64 * 129 + 64] = 1.0;
/// wave.start(&u, None)?;
/// wave.step(100)?;
/// wave.displacement(&mut u)?;
/// println!("t = {}, energy {}", wave.time(), wave.energy()?.total());
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Wave<T: Real> {
    params: WaveParams,
    /// Of the device backends.
    context: Option<Context>,
    motion: Box<dyn Motion<T>>,
    steps: u64,
}

impl<T: Real> std::fmt::Debug for Wave<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wave").field("params", &self.params).field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl<T: Real> Wave<T> {
    /// A membrane at rest in the backend that `params` names; [`Backend::Reference`] needs no device, see [`Wave::reference`].
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range; a time step past the stability limit of the explicit scheme names the
    /// limit, sizes other than 2^k + 1 with the implicit scheme name the nearest. [`Error::Allocation`]; [`Error::NoFp64`] for
    /// `f64` on a device without it.
    pub fn new(context: &Context, params: &WaveParams) -> Result<Wave<T>> {
        params.check()?;
        let poisson = poisson(params)?;
        let poisson = |make: fn(&Context, &Grid, &PoissonParams) -> Result<Poisson<T>>| {
            poisson.map(|(grid, params)| make(context, &grid, &params)).transpose()
        };
        let motion: Box<dyn Motion<T>> = match params.backend {
            Backend::Reference => return Wave::reference(params),
            Backend::Matrix => {
                Box::new(Membrane::new(Matrices::new(context, params, poisson(Poisson::new)?)?, params)?)
            }
            Backend::Kernels => {
                Box::new(Membrane::new(Kernels::new(context, params, poisson(Poisson::new)?)?, params)?)
            }
        };
        Ok(Wave { params: *params, context: Some(context.clone()), motion, steps: 0 })
    }

    /// The solver in plain Rust, whatever backend `params` names; no device is needed.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters out of range or grids that do not fit the memory.
    pub fn reference(params: &WaveParams) -> Result<Wave<T>> {
        let params = WaveParams { backend: Backend::Reference, ..*params };
        params.check()?;
        let poisson = poisson(&params)?.map(|(grid, params)| Poisson::reference(&grid, &params, None)).transpose()?;
        let motion = Box::new(Membrane::new(Sequential::new(&params, poisson), &params)?);
        Ok(Wave { params, context: None, motion, steps: 0 })
    }

    /// A membrane whose speed varies or on which a force acts, with the explicit scheme: `u_tt = c^2 Laplace u + g(t) s`, in the
    /// backend that `params` names; without a context, in plain Rust.
    ///
    /// A step is u_next = 2 u - u_before + dt^2 (c^2 Laplace_h u + g(t) s), whatever the number of steps a pass; with one speed and
    /// a force it takes one pass more than [`Wave::new`]'s, with a speed that varies four. The [energy](Wave::energy) has the mass
    /// (c_max / c)^2 in its kinetic part, c_max = [`WaveParams::c`], and stays the same where no force acts.
    ///
    /// # Errors
    /// As [`Wave::new`]; [`Error::Length`] or [`Error::Value`] that names `speed` or `force`; [`Error::Value`] for the implicit scheme.
    pub fn with_medium(context: Option<&Context>, params: &WaveParams, medium: Medium<'_, T>) -> Result<Wave<T>> {
        params.check()?;
        medium.check(params)?;
        if params.scheme != Scheme::Explicit {
            return Err(Error::value("scheme", "explicit where the speed varies or a force acts", "implicit"));
        }
        let context = context.filter(|_| params.backend != Backend::Reference);
        let (params, motion): (WaveParams, Box<dyn Motion<T>>) = match (context, params.backend) {
            (Some(context), Backend::Matrix) => {
                (*params, Box::new(Membrane::new(Matrices::new(context, params, None)?, params)?.with_medium(medium)?))
            }
            (Some(context), _) => {
                (*params, Box::new(Membrane::new(Kernels::new(context, params, None)?, params)?.with_medium(medium)?))
            }
            (None, _) => {
                let params = WaveParams { backend: Backend::Reference, ..*params };
                let membrane = Membrane::new(Sequential::new(&params, None), &params)?;
                (params, Box::new(membrane.with_medium(medium)?))
            }
        };
        Ok(Wave { params, context: context.cloned(), motion, steps: 0 })
    }

    /// The parameters the solver was made with.
    pub fn params(&self) -> &WaveParams {
        &self.params
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Time since the start.
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.params.dt
    }

    /// Sets the displacement `u`, whose boundary values stay, and the velocity `v`, 0 where there is none, at time 0; arrays
    /// have n^2 values. Values of `v` on the boundary are not read.
    ///
    /// # Errors
    /// [`Error::Length`] that names `u` or `v`; what the device reports.
    pub fn start(&mut self, u: &[T], v: Option<&[T]>) -> Result<WaveReport> {
        self.check("u", u.len())?;
        if let Some(v) = v {
            self.check("v", v.len())?;
        }
        self.steps = 0;
        self.motion.start(Source::Host(u), v.map(Source::Host))
    }

    /// [`Wave::start`] from device vectors.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `u` or `v`; what the device reports.
    pub fn start_device(&mut self, u: &Vector<T>, v: Option<&Vector<T>>) -> Result<WaveReport> {
        self.check_vector("u", u)?;
        if let Some(v) = v {
            self.check_vector("v", v)?;
        }
        self.steps = 0;
        self.motion.start(Source::Device(u), v.map(Source::Device))
    }

    /// [`Wave::start`] with the displacement `u`, whose values a device computes itself.
    ///
    /// # Errors
    /// [`Error::Shape`] that names `u` unless it is on n by n points; [`Error::Length`] that names `v`; [`Error::NoFp64`] for a
    /// device without double precision, whatever `T` is; what the device reports.
    pub fn start_separable(&mut self, u: &Separable, v: Option<&[T]>) -> Result<WaveReport> {
        u.check_points("u", [self.params.n, self.params.n, 1])?;
        if let Some(v) = v {
            self.check("v", v.len())?;
        }
        self.steps = 0;
        self.motion.start(Source::Separable(u), v.map(Source::Host))
    }

    /// Makes `steps` steps. The explicit scheme on a device only enqueues them.
    ///
    /// The implicit scheme stops early where a solution neither meets its tolerance nor the floor of rounding, and says so in
    /// the report.
    ///
    /// # Errors
    /// What the device reports.
    pub fn step(&mut self, steps: usize) -> Result<WaveReport> {
        let report = self.motion.step(steps)?;
        self.steps += report.steps as u64;
        Ok(report)
    }

    /// [`Wave::step`] that waits for the device about ten times a second and then calls `progress` with the number of steps made by this call
    /// and the time reached. [`Break`](std::ops::ControlFlow::Break) ends the call. The results are bitwise those of [`Wave::step`].
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

    /// Reads the displacement, n^2 values.
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
        exact.check_points("exact", [self.params.n, self.params.n, 1])?;
        self.motion.error_max(exact)
    }

    /// Reads the velocity, n^2 values, 0 on the boundary: of second order, and such that a start with it and the displacement
    /// continues in the same way.
    ///
    /// # Errors
    /// [`Error::Length`] that names `v`; what the device reports.
    pub fn velocity(&mut self, v: &mut [T]) -> Result<()> {
        self.check("v", v.len())?;
        self.motion.velocity(Target::Host(v))
    }

    /// [`Wave::velocity`] into a device vector.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `v`; what the device reports.
    pub fn velocity_device(&mut self, v: &mut Vector<T>) -> Result<()> {
        self.check_vector("v", v)?;
        self.motion.velocity(Target::Device(v))
    }

    /// The discrete energy half a step before the time reached.
    ///
    /// With the sums over interior points and over pairs of neighbours of which one at least is inside, the kinetic part is
    /// h^2 / 2 * sum ((u - u_before) / dt)^2. The potential part is c^2 / 2 times the sum of the product of the differences of u
    /// and of u_before for the explicit scheme, of the squared differences of (u + u_before) / 2 for the implicit one. The
    /// total stays the same in exact arithmetic. Squares must fit the range of `T`.
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
    /// [`Error::Length`] that names the part of the state; [`Error::Value`] where the implicit scheme misses its initial guess; what
    /// the device reports.
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
        self.steps = state.steps;
        self.motion.restore(state)
    }

    fn check(&self, argument: &'static str, len: usize) -> Result<()> {
        check_length(argument, self.params.n * self.params.n, len)
    }

    fn check_vector(&self, argument: &'static str, vector: &Vector<T>) -> Result<()> {
        if self.context.as_ref().is_some_and(|context| !context.same(vector.context())) {
            return Err(Error::Context { argument });
        }
        self.check(argument, vector.len())
    }
}

/// The elliptic problem of the implicit scheme, (4 / (c dt)^2 - Laplace_h) e = f.
///
/// # Errors
/// [`Error::Value`] that names the nearest sizes unless n = 2^k + 1.
fn poisson(params: &WaveParams) -> Result<Option<(Grid, PoissonParams)>> {
    if params.scheme == Scheme::Explicit {
        return Ok(None);
    }
    crate::multigrid::sides(params.n, 2)?;
    let shift = 4.0 / (params.c * params.dt).powi(2);
    let WaveParams { n, backend, tolerance, max_cycles, .. } = *params;
    let params = PoissonParams { backend, shift, tolerance, max_cycles, ..PoissonParams::default() };
    Ok(Some((Grid::square(n), params)))
}
