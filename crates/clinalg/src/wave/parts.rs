//! The two schemes over the operations that each backend has.

use super::medium::{Medium, Placed, WaveState, stored};
use super::params::{ImplicitReport, Scheme, Square, WaveEnergy, WaveReport};
use crate::multigrid::{PoissonReport, Separable};
use crate::solve::Stop;
use crate::{Real, Result, Vector};

/// Where values come from.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a, T: Real> {
    Host(&'a [T]),
    Device(&'a Vector<T>),
    Separable(&'a Separable),
}

/// Where values go to.
pub(crate) enum Target<'a, T: Real> {
    Host(&'a mut [T]),
    Device(&'a mut Vector<T>),
}

/// What a backend does with its grids. The boundary of a grid is that of its last load, or 0.
pub(crate) trait Parts<T: Real>: Send {
    /// A grid in the memory that the backend works on.
    type Grid: Send;

    /// A grid of zeros.
    fn zeros(&self) -> Result<Self::Grid>;

    /// `to` = given values; with zeros on the boundary unless `edges`.
    fn load(&mut self, from: Source<'_, T>, edges: bool, to: &mut Self::Grid) -> Result<()>;

    /// The largest difference of a value of the grid from `exact`; NaN if a value is NaN.
    fn error_max(&mut self, grid: &Self::Grid, exact: &Separable) -> Result<f64>;

    /// The values of a grid.
    fn store(&mut self, from: &Self::Grid, to: Target<'_, T>) -> Result<()>;

    /// `steps` leapfrog steps from `u` now and `p` before; both are the last two on return. `spare` are two grids.
    fn leap(&mut self, steps: usize, u: &mut Self::Grid, p: &mut Self::Grid, spare: &mut [Self::Grid; 2])
    -> Result<()>;

    /// Steps in which every kernel of [`Parts::leap`] runs.
    fn trial(&self) -> usize {
        0
    }

    /// `out` = Laplace_h u inside, 0 on the boundary.
    fn laplacian(&mut self, u: &Self::Grid, out: &mut Self::Grid) -> Result<()>;

    /// g = 0.
    fn clear(&mut self, g: &mut Self::Grid) -> Result<()>;

    /// y = alpha x + beta y.
    fn update(&mut self, alpha: T, x: &Self::Grid, beta: T, y: &mut Self::Grid) -> Result<()>;

    /// out = a .* b, point by point.
    fn multiply(&mut self, a: &Self::Grid, b: &Self::Grid, out: &mut Self::Grid) -> Result<()>;

    /// Solves (shift - Laplace_h) e = f with e = 0 on the boundary, from the initial guess e.
    fn solve(&mut self, f: &Self::Grid, e: &mut Self::Grid) -> Result<PoissonReport>;

    /// The two sums of the energy: of the squares of `u - p` inside, and over the pairs of neighbours of which at least one
    /// lies inside, of the products of the differences of `u` and of `p`, or with `mean` of the squared differences of
    /// `(u + p) / 2`.
    fn energy_sums(
        &mut self,
        mean: bool,
        u: &Self::Grid,
        p: &Self::Grid,
        spare: &mut [Self::Grid; 2],
    ) -> Result<[f64; 2]>;
}

/// A solver whatever its grid and its backend.
pub(crate) trait Motion<T: Real>: Send {
    /// Steps since the start.
    fn steps(&self) -> u64;
    fn start(&mut self, u: Source<'_, T>, v: Option<Source<'_, T>>) -> Result<WaveReport>;
    fn step(&mut self, steps: usize) -> Result<WaveReport>;
    fn displacement(&mut self, to: Target<'_, T>) -> Result<()>;
    fn error_max(&mut self, exact: &Separable) -> Result<f64>;
    fn velocity(&mut self, to: Target<'_, T>) -> Result<()>;
    fn energy(&mut self) -> Result<WaveEnergy>;
    fn state(&mut self) -> Result<WaveState<T>>;
    /// Takes a state whose lengths are right.
    fn restore(&mut self, state: &WaveState<T>) -> Result<()>;
}

/// The state: two successive time steps.
pub(crate) struct Membrane<T: Real, P: Parts<T>> {
    parts: P,
    square: Square,
    /// Values now and one step before.
    u: P::Grid,
    p: P::Grid,
    spare: [P::Grid; 2],
    /// The last e of the implicit scheme, u_next = 2 u - p + 4 e.
    e: Option<P::Grid>,
    /// A speed that varies or a force, with the explicit scheme only.
    medium: Option<Placed<T, P::Grid>>,
    steps: u64,
}

impl<T: Real, P: Parts<T>> Membrane<T, P> {
    /// A membrane at rest; every kernel has been built.
    pub(crate) fn new(parts: P, square: &Square) -> Result<Membrane<T, P>> {
        let e = match square.scheme {
            Scheme::Explicit => None,
            Scheme::Implicit => Some(parts.zeros()?),
        };
        let [u, p] = [parts.zeros()?, parts.zeros()?];
        let spare = [parts.zeros()?, parts.zeros()?];
        let mut membrane = Membrane { parts, square: *square, u, p, spare, e, medium: None, steps: 0 };
        // Zero stays zero; afterwards nothing is left to be built in a loop.
        if square.scheme == Scheme::Explicit {
            let Membrane { parts, u, p, spare, .. } = &mut membrane;
            parts.leap(parts.trial(), u, p, spare)?;
        }
        Ok(membrane)
    }

    /// The operations on grids.
    pub(crate) fn parts(&self) -> &P {
        &self.parts
    }

    /// Takes a medium that fits the parameters.
    pub(crate) fn with_medium(mut self, medium: Medium<'_, T>) -> Result<Membrane<T, P>> {
        self.medium = Some(Placed::new(&mut self.parts, &self.square, medium)?);
        Ok(self)
    }

    /// Steps of the explicit scheme.
    fn leap(&mut self, steps: usize) -> Result<()> {
        let Membrane { parts, square, u, p, spare, medium, steps: made, .. } = self;
        let Some(medium) = medium else {
            parts.leap(steps, u, p, spare)?;
            *made += steps as u64;
            return Ok(());
        };
        for _ in 0..steps {
            medium.leap(parts, *made as f64 * square.dt, u, p, spare)?;
            *made += 1;
        }
        Ok(())
    }

    /// Solves for e and adds the outcome to `report`; whether it is good.
    fn solve(&mut self, report: &mut ImplicitReport) -> Result<bool> {
        let e = self.e.as_mut().expect("the implicit scheme has its own grid");
        let solved = self.parts.solve(&self.spare[0], e)?;
        report.stop = solved.stop;
        report.cycles += solved.cycles;
        report.relative_residual = report.relative_residual.max(solved.relative_residual);
        Ok(solved.stop.is_success())
    }
}

fn no_solution() -> ImplicitReport {
    ImplicitReport { stop: Stop::Converged, cycles: 0, relative_residual: 0.0 }
}

impl<T: Real, P: Parts<T>> Motion<T> for Membrane<T, P> {
    fn steps(&self) -> u64 {
        self.steps
    }

    /// u now, and p = the values that the scheme, run backwards, has one step before.
    fn start(&mut self, u: Source<'_, T>, v: Option<Source<'_, T>>) -> Result<WaveReport> {
        let Square { c, dt, .. } = self.square;
        let one = T::one();
        self.steps = 0;
        let Membrane { parts, u: now, p, spare: [f, w], medium, .. } = self;
        parts.load(u, true, now)?;
        if let Some(v) = v {
            parts.load(v, false, w)?;
        }
        if self.e.is_none() {
            // u - dt v + dt^2 / 2 c^2 Laplace u, and half of what a force does.
            match medium {
                None => {
                    parts.laplacian(now, p)?;
                    parts.update(one, now, T::from_f64(0.5 * (c * dt).powi(2)), p)?;
                }
                Some(medium) => {
                    medium.acceleration(parts, c, 0.5, 0.0, now, [p, f])?;
                    parts.update(one, now, one, p)?;
                }
            }
            if v.is_some() {
                parts.update(T::from_f64(-dt), w, one, p)?;
            }
            return Ok(WaveReport { steps: 0, implicit: None });
        }
        // p = u + 2 e with (s - Laplace) e = Laplace u - s dt / 2 v, s = 4 / (c dt)^2.
        parts.laplacian(now, f)?;
        if v.is_some() {
            parts.update(T::from_f64(-2.0 / (c * c * dt)), w, one, f)?;
        }
        // The first guess is that of no earlier run.
        if let Some(e) = &mut self.e {
            parts.clear(e)?;
        }
        let mut report = no_solution();
        self.solve(&mut report)?;
        let Membrane { parts, u: now, p, e, .. } = self;
        let e = e.as_ref().expect("the implicit scheme has its own grid");
        parts.update(one, now, T::zero(), p)?;
        parts.update(T::from_f64(2.0), e, one, p)?;
        Ok(WaveReport { steps: 0, implicit: Some(report) })
    }

    fn step(&mut self, steps: usize) -> Result<WaveReport> {
        if self.e.is_none() {
            self.leap(steps)?;
            return Ok(WaveReport { steps, implicit: None });
        }
        let (one, two, four) = (T::one(), T::from_f64(2.0), T::from_f64(4.0));
        let mut report = no_solution();
        for done in 0..steps {
            let Membrane { parts, u, spare: [f, _], .. } = self;
            parts.laplacian(u, f)?;
            if !self.solve(&mut report)? {
                return Ok(WaveReport { steps: done, implicit: Some(report) });
            }
            let Membrane { parts, u, p, e, .. } = self;
            let e = e.as_ref().expect("the implicit scheme has its own grid");
            parts.update(two, u, -one, p)?;
            parts.update(four, e, one, p)?;
            std::mem::swap(u, p);
            self.steps += 1;
        }
        Ok(WaveReport { steps, implicit: Some(report) })
    }

    fn displacement(&mut self, to: Target<'_, T>) -> Result<()> {
        self.parts.store(&self.u, to)
    }

    fn error_max(&mut self, exact: &Separable) -> Result<f64> {
        self.parts.error_max(&self.u, exact)
    }

    /// What [`Motion::start`] takes for these u and p.
    fn velocity(&mut self, to: Target<'_, T>) -> Result<()> {
        let Square { c, dt, .. } = self.square;
        let (zero, one) = (T::zero(), T::one());
        let time = self.steps as f64 * dt;
        let Membrane { parts, u, p, spare: [w, f], e, medium, .. } = self;
        if let Some(medium) = medium {
            // (u - p) / dt + dt / 2 (c^2 Laplace u + g s)
            medium.acceleration(parts, c, 0.5 / dt, time, u, [f, w])?;
            parts.update(one, u, zero, w)?;
            parts.update(-one, p, one, w)?;
            parts.update(one, f, T::from_f64(1.0 / dt), w)?;
            return parts.store(w, to);
        }
        let weight = if e.is_none() {
            parts.laplacian(u, f)?;
            0.5
        } else {
            parts.update(one, u, zero, w)?;
            parts.update(one, p, one, w)?;
            parts.laplacian(w, f)?;
            0.25
        };
        // Exactly 0 on the boundary, where u and p agree.
        parts.update(one, u, zero, w)?;
        parts.update(-one, p, one, w)?;
        parts.update(T::from_f64(weight * c * c * dt), f, T::from_f64(1.0 / dt), w)?;
        parts.store(w, to)
    }

    fn energy(&mut self) -> Result<WaveEnergy> {
        let Square { c, dt, .. } = self.square;
        let Membrane { parts, u, p, spare, e, medium, .. } = self;
        let [squares, pairs] = match medium {
            Some(medium) => medium.energy_sums(parts, u, p, spare)?,
            None => parts.energy_sums(e.is_some(), u, p, spare)?,
        };
        // From units of the side.
        let area = self.square.length.powi(2);
        let kinetic = 0.5 * (self.square.h() / dt).powi(2) * squares;
        Ok(WaveEnergy { kinetic: area * kinetic, potential: area * 0.5 * c * c * pairs })
    }

    fn state(&mut self) -> Result<WaveState<T>> {
        let points = self.square.n.pow(2);
        let Membrane { parts, u, p, e, steps, .. } = self;
        let guess = e.as_ref().map(|e| stored(parts, points, e)).transpose()?;
        Ok(WaveState { u: stored(parts, points, u)?, before: stored(parts, points, p)?, guess, steps: *steps })
    }

    fn restore(&mut self, state: &WaveState<T>) -> Result<()> {
        let Membrane { parts, u, p, e, steps, .. } = self;
        parts.load(Source::Host(&state.u), true, u)?;
        parts.load(Source::Host(&state.before), true, p)?;
        if let (Some(e), Some(guess)) = (e, &state.guess) {
            parts.load(Source::Host(guess), true, e)?;
        }
        *steps = state.steps;
        Ok(())
    }
}
