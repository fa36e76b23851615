//! The wave equation on boxes.

use super::box_params::{BoxWaveParams, WaveSide};
use super::medium::{Amplitude, WaveState, factor_at};
use super::params::{WaveEnergy, WaveReport};
use super::strides::in_strides;
use crate::error::check_length;
use crate::matrix::Values as _;
use crate::multigrid::launch;
use crate::ops;
use crate::runtime::Out;
use crate::runtime::kernels::wave_box;
use crate::solve::Progress;
use crate::{Context, Error, Real, Result, Vector};

/// The wave equation `u_tt = c^2 Laplace u` on a box of two or three dimensions. The speed c may vary from point to point, the spacing h from
/// direction to direction, and each side has a [`WaveSide`] condition. A force adds g(t) s to the right-hand side ([`BoxWave::with_force`]).
///
/// The scheme is leapfrog, u_next = 2 u - u_before + (c dt)^2 Laplace_h u + dt^2 g(t) s, of order 2 in space and time. On free and absorbing sides the missing
/// neighbour is the mirrored one; on absorbing sides h / (c dt) (u_next - u_before) is subtracted from it. In damping layers
/// ([`BoxWaveParams::sponge`]) the step has the term sigma dt / 2 (u_next - u_before), too. The scheme is stable for time steps up to
/// [`BoxWaveParams::limit`]. Without absorbing sides and a force it conserves the discrete energy ([`BoxWave::energy`]) up to rounding; absorbing sides and
/// layers never increase it.
///
/// Arrays have one value per point, x fastest. A step in f64 moves 32 bytes per point, with a force 56.
///
/// ```
/// use clinalg::Context;
/// use clinalg::wave::{BoxWave, BoxWaveParams, WaveSide};
///
/// // A channel of 2 by 1 with open ends.
/// let params = BoxWaveParams::new(&[201, 101], 0.006).size(&[2.0, 1.0]);
/// let params = params.sides(&[[WaveSide::Absorbing; 2], [WaveSide::Free; 2]]);
/// let x = params.coordinates(0)?;
/// let u: Vec<f64> = (0..101).flat_map(|_| x.iter().map(|x| (-100.0 * (x - 1.0) * (x - 1.0)).exp())).collect();
/// let mut wave = BoxWave::new(&Context::global()?, &params, &[1.0])?;
/// wave.start(&u, None)?;
/// let before = wave.energy()?.total();
/// wave.step(400)?;
/// assert!(wave.energy()?.total() < 1e-5 * before);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct BoxWave<T: Real> {
    params: BoxWaveParams,
    context: Context,
    /// c dt at each point.
    courant: Vector<T>,
    /// sigma / (2 c) of damping layers: at the points of x, then of y, then of z.
    damping: Vector<T>,
    /// The same in double precision, by direction.
    layers: Vec<Vec<f64>>,
    u: Vector<T>,
    before: Vector<T>,
    force: Option<Force<T>>,
    steps: u64,
}

/// A force on the device.
struct Force<T: Real> {
    /// s / (1 + c dt loss), with the loss of [`Around`]; 0 on fixed sides: what a step of size 1 adds to u.
    values: Vector<T>,
    amplitude: Amplitude,
}

impl<T: Real> std::fmt::Debug for Force<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Force").field("values", &self.values).finish_non_exhaustive()
    }
}

/// One value for each of three directions.
fn each(params: &BoxWaveParams, of: impl Fn(usize) -> f64) -> [f64; 3] {
    [0, 1, 2].map(|axis| if axis < params.points.len() { of(axis) } else { 0.0 })
}

impl<T: Real> BoxWave<T> {
    /// A box with u = 0, at rest. `speed` has one positive value for each point, or one for all.
    ///
    /// # Errors
    /// [`Error::Value`] for parameters outside their ranges, and for a time step past the stability limit, which the message gives;
    /// [`Error::Length`] that names `speed`, `size` or `sides`; [`Error::NoFp64`]; [`Error::Allocation`].
    pub fn new(context: &Context, params: &BoxWaveParams, speed: &[T]) -> Result<BoxWave<T>> {
        params.check()?;
        context.require::<T>()?;
        let points = params.points.iter().product();
        if speed.len() != 1 {
            check_length("speed", points, speed.len())?;
        }
        if let Some(c) = speed.iter().find(|c| !(**c > T::zero() && c.is_finite())) {
            return Err(Error::value("speed", "finite numbers above 0", c));
        }
        let fastest = speed.iter().fold(0.0, |most: f64, c| most.max(c.into_f64()));
        let limit = params.limit(fastest)?;
        // A step at the limit is stable; rounding decides nothing.
        if params.dt > limit * (1.0 + 1e-12) {
            return Err(Error::value("dt", format!("at most {limit:e}, the stability limit of leapfrog"), params.dt));
        }
        let courant: Vec<T> =
            speed.iter().cycle().take(points).map(|c| T::from_f64(c.into_f64() * params.dt)).collect();
        let layers: Vec<Vec<f64>> = (0..params.points.len()).map(|axis| params.damping(axis)).collect();
        let mut damping: Vec<T> = layers.iter().flatten().map(|&v| T::from_f64(v)).collect();
        // A direction that is not there has one point.
        damping.resize(damping.len() + 3 - layers.len(), T::zero());
        Ok(BoxWave {
            params: params.clone(),
            context: context.clone(),
            courant: Vector::from_slice(context, &courant)?,
            damping: Vector::from_slice(context, &damping)?,
            layers,
            u: Vector::zeros(context, points)?,
            before: Vector::zeros(context, points)?,
            force: None,
            steps: 0,
        })
    }

    /// Adds the force g(t) s to the right-hand side: `values` has s at each point, `amplitude` is g. Values on fixed sides are not read.
    ///
    /// # Errors
    /// [`Error::Length`] that names `force`; [`Error::Value`] for values that are not finite; [`Error::Allocation`].
    pub fn with_force(mut self, values: &[T], amplitude: Amplitude) -> Result<BoxWave<T>> {
        check_length("force", self.u.len(), values.len())?;
        let courant = self.courant.to_vec()?;
        let share = |p: usize| self.around(p).map(|at| (1.0 + courant[p].into_f64() * at.loss).recip());
        let forces: Vec<T> = values
            .iter()
            .enumerate()
            .map(|(p, s)| share(p).map_or(T::zero(), |share| T::from_f64(s.into_f64() * share)))
            .collect();
        if let Some(s) = forces.iter().find(|s| !s.is_finite()) {
            return Err(Error::value("force", "finite numbers", s));
        }
        self.force = Some(Force { values: Vector::from_slice(&self.context, &forces)?, amplitude });
        Ok(self)
    }

    /// The step's force at time `t` without dt^2, as [`Force::values`].
    fn force_at(&self, t: f64) -> Result<Option<Vec<f64>>> {
        let Some(force) = &self.force else { return Ok(None) };
        let factor = factor_at(&force.amplitude, t)?;
        Ok(Some(force.values.to_vec()?.into_iter().map(|s| factor * s.into_f64()).collect()))
    }

    /// The parameters.
    pub fn params(&self) -> &BoxWaveParams {
        &self.params
    }

    /// The context it lives in.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Number of steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Time since the start.
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.params.dt
    }

    /// Sets the displacement `u` and the velocity `v` at time 0, one value per point each; without `v` the velocity is 0. Values of `v` on
    /// fixed sides are not read.
    ///
    /// # Errors
    /// [`Error::Length`] that names `u` or `v`; what the device reports.
    pub fn start(&mut self, u: &[T], v: Option<&[T]>) -> Result<()> {
        check_length("u", self.u.len(), u.len())?;
        if let Some(v) = v {
            check_length("v", self.u.len(), v.len())?;
        }
        let (courant, forces) = (self.courant.to_vec()?, self.force_at(0.0)?);
        let at = |p: usize| u[p].into_f64();
        let before: Vec<T> = (0..u.len())
            .map(|p| {
                let Some(Around { neighbours, loss, .. }) = self.around(p) else { return u[p] };
                let c = courant[p].into_f64();
                let change: f64 = neighbours.iter().flatten().map(|&(q, weight)| weight * (at(q) - at(p))).sum();
                let moved = v.map_or(0.0, |v| v[p].into_f64() * self.params.dt);
                let force = forces.as_ref().map_or(0.0, |f| f[p] * self.params.dt * self.params.dt * (1.0 + c * loss));
                // The step after u, u + dt v (1 - s) + ((c dt)^2 Laplace_h u + dt^2 g s) / 2, less 2 dt v.
                T::from_f64(at(p) - moved * (1.0 + c * loss) + 0.5 * (c * c * change + force))
            })
            .collect();
        self.u.write(u)?;
        self.before.write(&before)?;
        self.steps = 0;
        Ok(())
    }

    /// Enqueues `steps` time steps on the device and returns without waiting for them.
    ///
    /// # Errors
    /// [`Error::Value`] for a factor of the force that is not finite at a time step; what the device reports.
    pub fn step(&mut self, steps: usize) -> Result<()> {
        let points = |axis: usize| self.params.points.get(axis).copied().unwrap_or(1);
        let [nx, ny, nz] = [0, 1, 2].map(points);
        let [ax, ay, az] = each(&self.params, |axis| self.params.spacing(axis).powi(-2)).map(T::from_f64);
        let [bx, by, bz] = each(&self.params, |axis| self.params.spacing(axis).recip()).map(T::from_f64);
        let code = |side: WaveSide| match side {
            WaveSide::Fixed => 0,
            WaveSide::Free => 1,
            WaveSide::Absorbing => 2,
            WaveSide::Periodic => 3,
        };
        let ends = self.params.sides.iter().flatten().enumerate();
        let sides: u32 = ends.map(|(k, side)| code(*side) << (2 * k)).sum();
        let range = launch::items(&self.context, [nx, ny * nz], ny * nz);
        for _ in 0..steps {
            let force = self.force.as_ref().map(|force| factor_at(&force.amplitude, self.time())).transpose()?;
            let (program, before) = (wave_box::Program::<T>::new(), Out::shared(self.before.buffer()));
            let (damping, courant, u) = (self.damping.buffer(), self.courant.buffer(), self.u.buffer());
            let context = &self.context;
            program.leap_box(context, range, nx, ny, nz, ax, ay, az, bx, by, bz, sides, damping, courant, u, before)?;
            std::mem::swap(&mut self.u, &mut self.before);
            if let (Some(force), Some(factor)) = (&self.force, force) {
                let factor = T::from_f64(self.params.dt * self.params.dt * factor);
                ops::update(factor, &force.values, T::one(), &mut self.u)?;
            }
            self.steps += 1;
        }
        Ok(())
    }

    /// [`BoxWave::step`] with `progress` as in [`Wave::step_with`](super::Wave::step_with). Returns the number of steps made.
    ///
    /// # Errors
    /// As [`BoxWave::step`].
    pub fn step_with(&mut self, steps: usize, progress: Progress<'_>) -> Result<usize> {
        let made = in_strides(steps, None, progress, |steps| {
            self.step(steps)?;
            self.context.finish()?;
            Ok((WaveReport { steps, implicit: None }, self.time()))
        })?;
        Ok(made.steps)
    }

    /// Reads the displacement into `u`, one value per point.
    ///
    /// # Errors
    /// [`Error::Length`] that names `u`; what the device reports.
    pub fn displacement(&self, u: &mut [T]) -> Result<()> {
        check_length("u", self.u.len(), u.len())?;
        self.u.read(u)
    }

    /// Copies the displacement to a vector on the device.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `u`; what the device reports.
    pub fn displacement_device(&self, u: &mut Vector<T>) -> Result<()> {
        self.u.check_same(u, "u")?;
        ops::copy(&self.u, u)
    }

    /// Reads the velocity into `v`, one value per point; it is 0 on fixed sides. It is accurate to second order, and
    /// [`start`](BoxWave::start) with it and the displacement continues the same motion.
    ///
    /// # Errors
    /// [`Error::Length`] that names `v`; what the device reports.
    pub fn velocity(&self, v: &mut [T]) -> Result<()> {
        check_length("v", self.u.len(), v.len())?;
        let (u, before, courant) = (self.u.to_vec()?, self.before.to_vec()?, self.courant.to_vec()?);
        let forces = self.force_at(self.time())?;
        for (p, v) in v.iter_mut().enumerate() {
            let at = |q: usize| u[q].into_f64();
            *v = T::from_f64(self.around(p).map_or(0.0, |Around { neighbours, loss, .. }| {
                let c = courant[p].into_f64();
                let change: f64 = neighbours.iter().flatten().map(|&(q, weight)| weight * (at(q) - at(p))).sum();
                let force = forces.as_ref().map_or(0.0, |f| 0.5 * self.params.dt * f[p]);
                (at(p) - before[p].into_f64() + 0.5 * c * c * change) / (self.params.dt * (1.0 + c * loss)) + force
            }));
        }
        Ok(())
    }

    /// What a checkpoint of the motion has to hold; with [`restore`](BoxWave::restore) and the same parameters, speed and force the steps go
    /// on to the same bits.
    ///
    /// # Errors
    /// What the device reports.
    pub fn state(&self) -> Result<WaveState<T>> {
        Ok(WaveState { u: self.u.to_vec()?, before: self.before.to_vec()?, guess: None, steps: self.steps })
    }

    /// Continues from `state`.
    ///
    /// # Errors
    /// [`Error::Length`] that names `u` or `before`; what the device reports.
    pub fn restore(&mut self, state: &WaveState<T>) -> Result<()> {
        check_length("u", self.u.len(), state.u.len())?;
        check_length("before", self.u.len(), state.before.len())?;
        self.u.write(&state.u)?;
        self.before.write(&state.before)?;
        self.steps = state.steps;
        Ok(())
    }

    /// The discrete energy of a medium of density 1 / c^2, half a step before the time reached. It is summed on the host.
    ///
    /// Let d = u - u_before be the change in the last step, V the volume of the cell of a point, and A the area of the face between two
    /// neighbours. The kinetic energy is the sum of V (d / (c dt))^2 / 2 over the points. The potential energy is the sum of
    /// A / h (difference of u) (difference of u_before) / 2 over pairs of neighbours.
    ///
    /// # Errors
    /// What the device reports.
    pub fn energy(&self) -> Result<WaveEnergy> {
        let (u, before, courant) = (self.u.to_vec()?, self.before.to_vec()?, self.courant.to_vec()?);
        let volume: f64 = (0..self.params.points.len()).map(|axis| self.params.spacing(axis)).product();
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for p in 0..u.len() {
            // Nothing moves on fixed sides.
            let Some(Around { neighbours, share, .. }) = self.around(p) else { continue };
            let change = (u[p].into_f64() - before[p].into_f64()) / courant[p].into_f64();
            kinetic += 0.5 * volume * share * change * change;
            for &(q, weight) in neighbours.iter().flatten() {
                let [now, then] = [&u, &before].map(|of| of[q].into_f64() - of[p].into_f64());
                // Pairs are met from both points, those with a fixed one from one of them.
                let part = if self.around(q).is_none() { 0.5 } else { 0.25 };
                potential += part * volume * share * weight * now * then;
            }
        }
        Ok(WaveEnergy { kinetic, potential })
    }

    /// What is around a point; `None` for one that is held.
    fn around(&self, p: usize) -> Option<Around> {
        let params = &self.params;
        let mut around = Around { neighbours: [[(p, 0.0); 2]; 3], loss: 0.0, share: 1.0 };
        let (mut rest, mut stride) = (p, 1);
        for (axis, &n) in params.points.iter().enumerate() {
            let (i, h) = (rest % n, params.spacing(axis));
            rest /= n;
            let row = p - i * stride;
            let periodic = params.sides[axis][0] == WaveSide::Periodic;
            let wrapped = |near: usize, mirrored: usize| row + stride * if periodic { near } else { mirrored };
            let low = if i > 0 { p - stride } else { wrapped(n - 1, 1) };
            let high = if i < n - 1 { p + stride } else { wrapped(0, n - 2) };
            around.neighbours[axis] = [(low, h.powi(-2)), (high, h.powi(-2))];
            around.loss += self.layers[axis][i];
            for (at_end, side) in [(i == 0, params.sides[axis][0]), (i == n - 1, params.sides[axis][1])] {
                match side {
                    WaveSide::Fixed if at_end => return None,
                    WaveSide::Free if at_end => around.share *= 0.5,
                    WaveSide::Absorbing if at_end => {
                        around.share *= 0.5;
                        around.loss += h.recip();
                    }
                    _ => {}
                }
            }
            stride *= n;
        }
        Some(around)
    }
}

/// A point that moves.
struct Around {
    /// Neighbours of each direction with 1 / h^2; mirrored where there is none.
    neighbours: [[(usize, f64); 2]; 3],
    /// The sum of 1 / h over its absorbing sides, and of sigma / (2 c) over damping layers.
    loss: f64,
    /// Its part of a whole cell.
    share: f64,
}
