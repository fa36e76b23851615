//! A speed that varies, and a force.

use super::params::{Scheme, Square, WaveParams};
use super::parts::{Parts, Source, Target};
use crate::error::check_length;
use crate::{Error, Real, Result};

/// The factor of a force at a time.
pub type Amplitude = Box<dyn Fn(f64) -> f64 + Send>;

/// The factor of a force at time `t`.
pub(super) fn factor_at(amplitude: &Amplitude, t: f64) -> Result<f64> {
    let factor = amplitude(t);
    if factor.is_finite() {
        Ok(factor)
    } else {
        Err(Error::value("force", "a finite factor at each time step", format!("{factor} at t = {t}")))
    }
}

/// A speed that varies, and a force: `u_tt = c(x)^2 Laplace u + g(t) s(x)`. For
/// [`Wave::with_medium`](super::Wave::with_medium).
pub struct Medium<'a, T> {
    /// The speed c at each point, positive and at most [`WaveParams::c`], from which the stability limit follows.
    pub speed: Option<&'a [T]>,
    /// The force s at each point, and its factor g at time t. Values on fixed sides are not read.
    pub force: Option<(&'a [T], Amplitude)>,
}

impl<T> Default for Medium<'_, T> {
    /// One speed everywhere, no force.
    fn default() -> Self {
        Medium { speed: None, force: None }
    }
}

impl<T> std::fmt::Debug for Medium<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Medium")
            .field("speed", &self.speed.map(<[T]>::len))
            .field("force", &self.force.as_ref().map(|(values, _)| values.len()))
            .finish()
    }
}

impl<T: Real> Medium<'_, T> {
    /// Whether there is one speed everywhere and no force.
    pub(super) fn is_uniform(&self) -> bool {
        self.speed.is_none() && self.force.is_none()
    }

    /// An error unless it fits `params`, which are right.
    pub(super) fn check(&self, params: &WaveParams) -> Result<()> {
        let points = params.total_points();
        if !self.is_uniform() && params.scheme != Scheme::Explicit {
            return Err(Error::value("scheme", "explicit where the speed varies or a force acts", "implicit"));
        }
        if let Some(speed) = self.speed {
            check_length("speed", points, speed.len())?;
            let most = T::from_f64(params.c);
            if let Some(bad) = speed.iter().find(|c| !(**c > T::zero() && **c <= most)) {
                let expected = format!("positive numbers, at most c = {}", params.c);
                return Err(Error::value("speed", expected, bad));
            }
        }
        let Some((force, _)) = &self.force else { return Ok(()) };
        check_length("force", points, force.len())?;
        match force.iter().enumerate().find(|(p, s)| !s.is_finite() && !params.is_fixed(*p)) {
            Some((_, bad)) => Err(Error::value("force", "finite numbers", bad)),
            None => Ok(()),
        }
    }
}

/// A medium on the grids of a backend.
pub(crate) struct Placed<T: Real, G> {
    /// dt^2 c^2, and c_max / c for the energy.
    speed: Option<[G; 2]>,
    force: Option<(G, Amplitude)>,
    /// For the energy.
    work: [G; 2],
    /// dt^2.
    dt2: f64,
    one: T,
}

impl<T: Real, G: Send> Placed<T, G> {
    pub(crate) fn new<P: Parts<T, Grid = G>>(
        parts: &mut P,
        square: &Square,
        medium: Medium<'_, T>,
    ) -> Result<Placed<T, G>> {
        let mut placed = |values: &[T]| {
            let mut grid = parts.zeros()?;
            parts.load(Source::Host(values), true, &mut grid)?;
            Ok::<G, Error>(grid)
        };
        let speed = match medium.speed {
            Some(speed) => {
                let of = |value: &dyn Fn(f64) -> f64| -> Vec<T> {
                    speed.iter().map(|c| T::from_f64(value(c.into_f64()))).collect()
                };
                let factor = of(&|c| (c / square.length * square.dt).powi(2));
                let slowness = of(&|c| square.c * square.length / c);
                Some([placed(&factor)?, placed(&slowness)?])
            }
            None => None,
        };
        let force = match medium.force {
            Some((values, amplitude)) => {
                let mut grid = parts.zeros()?;
                parts.load(Source::Host(values), false, &mut grid)?;
                Some((grid, amplitude))
            }
            None => None,
        };
        let work = [parts.zeros()?, parts.zeros()?];
        Ok(Placed { speed, force, work, dt2: square.dt * square.dt, one: T::one() })
    }

    /// `out` += weight dt^2 g(time) s.
    fn push<P: Parts<T, Grid = G>>(&self, parts: &mut P, weight: f64, time: f64, out: &mut G) -> Result<()> {
        match &self.force {
            Some((force, amplitude)) => {
                let factor = factor_at(amplitude, time)?;
                parts.update(T::from_f64(weight * self.dt2 * factor), force, self.one, out)
            }
            None => Ok(()),
        }
    }

    /// `out` = weight dt^2 (c^2 Laplace_h u + g(time) s); `spare` is another grid.
    pub(crate) fn acceleration<P: Parts<T, Grid = G>>(
        &self,
        parts: &mut P,
        c: f64,
        weight: f64,
        time: f64,
        u: &G,
        [out, spare]: [&mut G; 2],
    ) -> Result<()> {
        match &self.speed {
            Some([factor, _]) => {
                parts.laplacian(u, spare)?;
                parts.multiply(factor, spare, out)?;
                parts.update(T::zero(), u, T::from_f64(weight), out)?;
            }
            None => {
                parts.laplacian(u, out)?;
                parts.update(T::zero(), u, T::from_f64(weight * self.dt2 * c * c), out)?;
            }
        }
        self.push(parts, weight, time, out)
    }

    /// A leapfrog step from `u` at `time` and `p` one step before; both are the last two on return.
    pub(crate) fn leap<P: Parts<T, Grid = G>>(
        &self,
        parts: &mut P,
        time: f64,
        u: &mut G,
        p: &mut G,
        spare: &mut [G; 2],
    ) -> Result<()> {
        match &self.speed {
            None => parts.leap(1, u, p, spare)?,
            Some([factor, _]) => {
                let [f, w] = spare;
                parts.laplacian(u, f)?;
                parts.multiply(factor, f, w)?;
                parts.update(T::from_f64(2.0), u, -self.one, p)?;
                parts.update(self.one, w, self.one, p)?;
                std::mem::swap(u, p);
            }
        }
        self.push(parts, 1.0, time, u)
    }

    /// The two sums of the energy, the first of the squares of c_max / c (u - p).
    pub(crate) fn energy_sums<P: Parts<T, Grid = G>>(
        &mut self,
        parts: &mut P,
        u: &G,
        p: &G,
        spare: &mut [G; 2],
    ) -> Result<[f64; 2]> {
        let sums = parts.energy_sums(false, u, p, spare)?;
        let Some([_, slowness]) = &self.speed else { return Ok(sums) };
        let [a, b] = &mut self.work;
        parts.multiply(slowness, u, a)?;
        parts.multiply(slowness, p, b)?;
        let [squares, _] = parts.energy_sums(false, a, b, spare)?;
        Ok([squares, sums[1]])
    }
}

/// The state of a [`Wave`](super::Wave): with it and the same parameters the steps continue to the same bits.
#[derive(Debug, Clone, PartialEq)]
pub struct WaveState<T> {
    /// The displacement, a value for each point.
    pub u: Vec<T>,
    /// That of one step before.
    pub before: Vec<T>,
    /// Of the implicit scheme: the initial guess of the next solution.
    pub guess: Option<Vec<T>>,
    /// Steps since the start.
    pub steps: u64,
}

/// A copy of a grid on the host.
pub(crate) fn stored<T: Real, P: Parts<T>>(parts: &mut P, points: usize, grid: &P::Grid) -> Result<Vec<T>> {
    let mut values = vec![T::zero(); points];
    parts.store(grid, Target::Host(&mut values))?;
    Ok(values)
}
