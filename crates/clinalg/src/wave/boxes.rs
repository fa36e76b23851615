//! The steps on boxes.

use std::borrow::Cow;

use super::medium::{Amplitude, Medium, WaveState, factor_at};
use super::params::{WaveEnergy, WaveParams, WaveReport, WaveSide};
use super::parts::{Motion, Source, Target};
use crate::multigrid::{Separable, launch};
use crate::runtime::Out;
use crate::runtime::kernels::wave_box;
use crate::{Context, Real, Result, Vector, ops};

/// Leapfrog on a grid of two or three directions.
pub(super) struct BoxMotion<T: Real> {
    params: WaveParams,
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

impl<T: Real> BoxMotion<T> {
    /// u = 0, at rest; parameters and medium fit. Every kernel has been built.
    pub(super) fn new(context: &Context, params: &WaveParams, medium: Medium<'_, T>) -> Result<BoxMotion<T>> {
        context.require::<T>()?;
        let points = params.total_points();
        // What does not fit the device is an error before anything of that size is made on the host.
        let (u, before) = (Vector::zeros(context, points)?, Vector::zeros(context, points)?);
        let courant = match medium.speed {
            Some(speed) => speed.iter().map(|c| T::from_f64(c.into_f64() * params.dt)).collect(),
            None => vec![T::from_f64(params.c * params.dt); points],
        };
        let layers: Vec<Vec<f64>> = (0..params.points.len()).map(|axis| params.damping(axis)).collect();
        let mut damping: Vec<T> = layers.iter().flatten().map(|&v| T::from_f64(v)).collect();
        // A direction that is not there has one point.
        damping.resize(damping.len() + 3 - layers.len(), T::zero());
        let mut motion = BoxMotion {
            params: params.clone(),
            context: context.clone(),
            courant: Vector::from_slice(context, &courant)?,
            damping: Vector::from_slice(context, &damping)?,
            layers,
            u,
            before,
            force: None,
            steps: 0,
        };
        // Zero stays zero; afterwards nothing is left to be built in a loop.
        motion.leap()?;
        if let Some((values, amplitude)) = medium.force {
            let share = |p: usize| motion.around(p).map(|at| (1.0 + courant[p].into_f64() * at.loss).recip());
            let forces: Vec<T> = values
                .iter()
                .enumerate()
                .map(|(p, s)| share(p).map_or(T::zero(), |share| T::from_f64(s.into_f64() * share)))
                .collect();
            let force = Force { values: Vector::from_slice(context, &forces)?, amplitude };
            ops::update(T::zero(), &force.values, T::one(), &mut motion.u)?;
            motion.force = Some(force);
        }
        Ok(motion)
    }

    /// Time since the start.
    fn time(&self) -> f64 {
        self.steps as f64 * self.params.dt
    }

    /// The step's force now without dt^2, as [`Force::values`].
    fn force_now(&self) -> Result<Option<Vec<f64>>> {
        let Some(force) = &self.force else { return Ok(None) };
        let factor = factor_at(&force.amplitude, self.time())?;
        Ok(Some(force.values.to_vec()?.into_iter().map(|s| factor * s.into_f64()).collect()))
    }

    /// One value for each of three directions, 0 for one that is not there.
    fn each(&self, of: impl Fn(f64) -> f64) -> [T; 3] {
        let there = |axis: usize| axis < self.params.points.len();
        [0, 1, 2].map(|axis| if there(axis) { T::from_f64(of(self.params.spacing(axis))) } else { T::zero() })
    }

    /// A step without the force.
    fn leap(&mut self) -> Result<()> {
        let [nx, ny, nz] = self.params.three_points();
        let ([ax, ay, az], [bx, by, bz]) = (self.each(|h| h.powi(-2)), self.each(f64::recip));
        let code = |side: WaveSide| match side {
            WaveSide::Fixed => 0,
            WaveSide::Free => 1,
            WaveSide::Absorbing => 2,
            WaveSide::Periodic => 3,
        };
        let ends = self.params.sides.iter().flatten().enumerate();
        let sides: u32 = ends.map(|(k, side)| code(*side) << (2 * k)).sum();
        let range = launch::items(&self.context, [nx, ny * nz], ny * nz);
        let (program, before) = (wave_box::Program::<T>::new(), Out::shared(self.before.buffer()));
        let (damping, courant, u) = (self.damping.buffer(), self.courant.buffer(), self.u.buffer());
        let context = &self.context;
        program.leap_box(context, range, nx, ny, nz, ax, ay, az, bx, by, bz, sides, damping, courant, u, before)?;
        std::mem::swap(&mut self.u, &mut self.before);
        Ok(())
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

/// Values on the host.
fn on_host<T: Real>(from: Source<'_, T>, points: usize) -> Result<Cow<'_, [T]>> {
    Ok(match from {
        Source::Host(values) => Cow::Borrowed(values),
        Source::Device(vector) => Cow::Owned(vector.to_vec()?),
        Source::Separable(function) => {
            let mut values = vec![T::zero(); points];
            function.fill_host(&mut values)?;
            Cow::Owned(values)
        }
    })
}

impl<T: Real> Motion<T> for BoxMotion<T> {
    fn steps(&self) -> u64 {
        self.steps
    }

    /// On the host.
    fn start(&mut self, u: Source<'_, T>, v: Option<Source<'_, T>>) -> Result<WaveReport> {
        self.steps = 0;
        let points = self.u.len();
        let (u, v) = (on_host(u, points)?, v.map(|v| on_host(v, points)).transpose()?);
        let (courant, forces) = (self.courant.to_vec()?, self.force_now()?);
        let dt = self.params.dt;
        let before: Vec<T> = (0..points)
            .map(|p| {
                let Some(at) = self.around(p) else { return u[p] };
                let c = courant[p].into_f64();
                let moved = v.as_ref().map_or(0.0, |v| v[p].into_f64() * dt);
                let force = forces.as_ref().map_or(0.0, |f| f[p] * dt * dt * (1.0 + c * at.loss));
                // The step after u, u + dt v (1 - s) + ((c dt)^2 Laplace_h u + dt^2 g s) / 2, less 2 dt v.
                let change = at.laplacian(&u, p);
                T::from_f64(u[p].into_f64() - moved * (1.0 + c * at.loss) + 0.5 * (c * c * change + force))
            })
            .collect();
        self.u.write(&u)?;
        self.before.write(&before)?;
        Ok(WaveReport { steps: 0, implicit: None })
    }

    fn step(&mut self, steps: usize) -> Result<WaveReport> {
        for _ in 0..steps {
            let factor = self.force.as_ref().map(|force| factor_at(&force.amplitude, self.time())).transpose()?;
            self.leap()?;
            if let (Some(force), Some(factor)) = (&self.force, factor) {
                let factor = T::from_f64(self.params.dt * self.params.dt * factor);
                ops::update(factor, &force.values, T::one(), &mut self.u)?;
            }
            self.steps += 1;
        }
        Ok(WaveReport { steps, implicit: None })
    }

    fn displacement(&mut self, to: Target<'_, T>) -> Result<()> {
        match to {
            Target::Host(u) => self.u.read(u),
            Target::Device(u) => ops::copy(&self.u, u),
        }
    }

    fn error_max(&mut self, exact: &Separable) -> Result<f64> {
        exact.error_max_host(&self.u.to_vec()?)
    }

    /// On the host.
    fn velocity(&mut self, to: Target<'_, T>) -> Result<()> {
        let (u, before, courant) = (self.u.to_vec()?, self.before.to_vec()?, self.courant.to_vec()?);
        let (forces, dt) = (self.force_now()?, self.params.dt);
        let at_point = |p: usize| {
            let Some(at) = self.around(p) else { return T::zero() };
            let c = courant[p].into_f64();
            let moved = u[p].into_f64() - before[p].into_f64() + 0.5 * c * c * at.laplacian(&u, p);
            let force = forces.as_ref().map_or(0.0, |f| 0.5 * dt * f[p]);
            T::from_f64(moved / (dt * (1.0 + c * at.loss)) + force)
        };
        match to {
            Target::Host(v) => {
                v.iter_mut().enumerate().for_each(|(p, v)| *v = at_point(p));
                Ok(())
            }
            Target::Device(v) => v.write(&(0..u.len()).map(at_point).collect::<Vec<T>>()),
        }
    }

    /// Summed on the host. With the volume V of the cell of a point and the area A of the face between two neighbours,
    /// half the sum of V (c_max / c)^2 ((u - u_before) / dt)^2 over the points, and c_max^2 / 2 times that of A / h
    /// (difference of u) (difference of u_before) over pairs of neighbours.
    fn energy(&mut self) -> Result<WaveEnergy> {
        let (u, before, courant) = (self.u.to_vec()?, self.before.to_vec()?, self.courant.to_vec()?);
        let volume: f64 = (0..self.params.points.len()).map(|axis| self.params.spacing(axis)).product();
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for p in 0..u.len() {
            // Nothing moves on fixed sides.
            let Some(Around { neighbours, share, .. }) = self.around(p) else { continue };
            let change = (u[p].into_f64() - before[p].into_f64()) / courant[p].into_f64();
            kinetic += 0.5 * share * change * change;
            for &(q, weight) in neighbours.iter().flatten() {
                let [now, then] = [&u, &before].map(|of| of[q].into_f64() - of[p].into_f64());
                // Pairs are met from both points, those with a fixed one from one of them.
                let part = if self.params.is_fixed(q) { 0.5 } else { 0.25 };
                potential += part * share * weight * now * then;
            }
        }
        let scale = volume * self.params.c * self.params.c;
        Ok(WaveEnergy { kinetic: scale * kinetic, potential: scale * potential })
    }

    fn state(&mut self) -> Result<WaveState<T>> {
        Ok(WaveState { u: self.u.to_vec()?, before: self.before.to_vec()?, guess: None, steps: self.steps })
    }

    fn restore(&mut self, state: &WaveState<T>) -> Result<()> {
        self.u.write(&state.u)?;
        self.before.write(&state.before)?;
        self.steps = state.steps;
        Ok(())
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

impl Around {
    /// Laplace_h u at the point `p`.
    fn laplacian<T: Real>(&self, u: &[T], p: usize) -> f64 {
        let here = u[p].into_f64();
        self.neighbours.iter().flatten().map(|&(q, weight)| weight * (u[q].into_f64() - here)).sum()
    }
}
