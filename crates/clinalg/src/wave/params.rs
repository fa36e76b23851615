//! Parameters and reports of the wave solver.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use crate::multigrid::Backend;
use crate::solve::Stop;
use crate::{Error, Real, Result, number, shown};

/// How time is stepped through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Leapfrog: a stencil per step, stable up to the Courant number 1 / sqrt(2).
    #[default]
    Explicit,
    /// Newmark with beta = 1/4, gamma = 1/2 (the trapezoidal rule, Crank-Nicolson): a multigrid solution per step,
    /// stable for every time step.
    Implicit,
}

/// The boundary condition on a side of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum WaveSide {
    /// u keeps its initial values (Dirichlet).
    Fixed,
    /// du/dn = 0 (Neumann): waves are reflected without a change of sign.
    Free,
    /// u_t + c du/dn = 0, the first-order condition of Engquist and Majda (1977). A plane wave incident at the angle
    /// theta to the normal is reflected with the factor (1 - cos theta) / (1 + cos theta): 0 at normal incidence, 0.17
    /// at 45 degrees. A layer along the side ([`WaveParams::sponge`]) damps waves at other angles.
    Absorbing,
    /// u is periodic in this direction; the opposite side must be periodic too.
    Periodic,
}

/// Parameters of [`Wave`](super::Wave): the grid with its sides, the speed, the time step and the scheme.
///
/// A square has two directions with equally many points, equal lengths and fixed sides. Every other grid takes
/// [`Scheme::Explicit`] and [`Backend::Kernels`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaveParams {
    /// Number of points in each of two or three directions, those on the sides included: at least 3; on a square at
    /// most 2^30, and 2^k + 1 for the implicit scheme.
    pub points: Vec<usize>,
    /// The length in each direction.
    pub size: Vec<f64>,
    /// The conditions at the low and the high end of each direction.
    pub sides: Vec<[WaveSide; 2]>,
    /// The width of the damping layer (sponge) along the inside of every absorbing side: there the equation is `u_tt +
    /// sigma u_t = c^2 Laplace u` with `sigma = 4 ln(10) c / width (d / width)^3`, d the distance from the inner edge
    /// of the layer (Israeli and Orszag 1981). Where layers cross, their sigmas add up. A plane wave at right angles
    /// keeps a tenth of its amplitude on its way through the layer and back, one at the angle theta `0.1^(1 / cos
    /// theta)`, of which the side itself reflects a part: less than 0.01 remains at 70 degrees and below. Layers
    /// reflect waves that are long against their width, and the slow end of a pulse that is not 0 on average: take at
    /// least two wavelengths.
    pub sponge: Option<f64>,
    /// What the steps are made of.
    pub backend: Backend,
    /// How time is stepped through.
    pub scheme: Scheme,
    /// Speed of the waves; where it [varies](super::Medium), a bound of it.
    pub c: f64,
    /// Time step.
    pub dt: f64,
    /// Most explicit steps that the kernels for squares make in one pass over memory, 1 to 8; the results have the same
    /// bits for each.
    pub steps_per_pass: usize,
    /// Of the implicit scheme: relative residual of the accelerations to reach in each step.
    pub tolerance: f64,
    /// Of the implicit scheme: most multigrid cycles per step.
    pub max_cycles: usize,
}

impl Default for WaveParams {
    /// The square of 1025 by 1025 points.
    fn default() -> WaveParams {
        WaveParams::square(1025)
    }
}

/// Most steps in one pass.
pub(crate) const MOST_STEPS: usize = 8;

/// Most points per side of a square; columns are counted in 32 bits on the device.
const MOST_POINTS: usize = 1 << 30;

/// What a Courant number computed from a time step may be too large by.
const ROUNDING: f64 = 1e-12;

/// What a plane wave at right angles keeps of its amplitude on its way through a damping layer and back. Less would
/// reflect more at the layer; the side behind it absorbs such waves.
const SPONGE_LEFT: f64 = 0.1;

impl WaveParams {
    /// The largest Courant number c dt / h at which the explicit scheme is stable on a square, 1 / sqrt(2).
    pub const COURANT_LIMIT: f64 = FRAC_1_SQRT_2;

    /// The unit square with fixed sides and `n` points per side: leapfrog with c = 1 and the Courant number 1/2.
    pub fn square(n: usize) -> WaveParams {
        WaveParams::new(&[n, n])
    }

    /// `points[i]` points in direction i, two or three; all lengths 1, all sides fixed, leapfrog with c = 1 and the
    /// Courant number 1/2.
    pub fn new(points: &[usize]) -> WaveParams {
        let params = WaveParams {
            points: points.to_vec(),
            size: vec![1.0; points.len()],
            sides: vec![[WaveSide::Fixed; 2]; points.len()],
            sponge: None,
            backend: Backend::default(),
            scheme: Scheme::default(),
            c: 1.0,
            dt: 0.0,
            steps_per_pass: MOST_STEPS,
            tolerance: 1e-10,
            max_cycles: 100,
        };
        WaveParams { dt: params.dt_of(0.5), ..params }
    }

    /// Number of points in all directions together.
    pub fn total_points(&self) -> usize {
        self.points.iter().fold(1, |product, &n| product.saturating_mul(n))
    }

    /// Spacing of the points in a direction: its length divided by the number of intervals, which is n - 1, in a
    /// periodic direction n.
    pub(super) fn spacing(&self, axis: usize) -> f64 {
        let periodic = self.sides.get(axis).is_some_and(|ends| ends[0] == WaveSide::Periodic);
        let intervals = self.points[axis].saturating_sub(usize::from(!periodic)).max(1);
        self.size.get(axis).copied().unwrap_or(1.0) / intervals as f64
    }

    fn spacings(&self) -> impl Iterator<Item = f64> {
        (0..self.points.len()).map(|axis| self.spacing(axis))
    }

    /// The smallest spacing of the points.
    pub fn h(&self) -> f64 {
        self.spacings().fold(f64::INFINITY, f64::min)
    }

    /// The Courant number c dt / h with the smallest spacing h.
    pub fn courant(&self) -> f64 {
        self.c * self.dt / self.h()
    }

    /// The time step at the Courant number `courant`.
    pub fn dt_of(&self, courant: f64) -> f64 {
        courant * self.h() / self.c
    }

    /// The largest stable time step of the explicit scheme: 1 / (c sqrt(sum of 1 / h^2)) (Courant, Friedrichs, Lewy
    /// 1928). `dt` is not read.
    ///
    /// # Errors
    /// [`Error::Value`] and [`Error::Length`] for a grid or a speed out of range.
    pub fn limit(&self) -> Result<f64> {
        self.check_grid()?;
        above_zero("c", self.c)?;
        Ok(1.0 / (self.c * self.spacings().map(|h| h.powi(-2)).sum::<f64>().sqrt()))
    }

    /// Coordinates of the points in the direction `axis` (0, 1 or 2), starting at 0.
    ///
    /// # Errors
    /// As [`WaveParams::limit`]; [`Error::Value`] if there is no such direction.
    pub fn coordinates(&self, axis: usize) -> Result<Vec<f64>> {
        self.check_grid()?;
        if axis >= self.points.len() {
            return Err(Error::value("axis", format!("less than {}", self.points.len()), axis));
        }
        let h = self.spacing(axis);
        Ok((0..self.points[axis]).map(|i| i as f64 * h).collect())
    }

    /// Number of points in each of three directions, 1 in one that is not there.
    pub(crate) fn three_points(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.points.get(axis).copied().unwrap_or(1))
    }

    /// Whether u keeps its values at a point.
    pub(super) fn is_fixed(&self, p: usize) -> bool {
        let mut rest = p;
        self.points.iter().zip(&self.sides).any(|(&n, ends)| {
            let i = rest % n;
            rest /= n;
            (i == 0 && ends[0] == WaveSide::Fixed) || (i == n - 1 && ends[1] == WaveSide::Fixed)
        })
    }

    /// sigma / (2 c) at the points of a direction in the layers along its sides; 0 elsewhere.
    pub(super) fn damping(&self, axis: usize) -> Vec<f64> {
        let (n, h) = (self.points[axis], self.spacing(axis));
        let Some(width) = self.sponge else { return vec![0.0; n] };
        let depth = |side: WaveSide, from_side: f64| match side {
            WaveSide::Absorbing => (1.0 - from_side / width).max(0.0),
            _ => 0.0,
        };
        let [low, high] = self.sides[axis];
        let steepest = -2.0 * SPONGE_LEFT.ln() / width;
        let at = |i: usize| depth(low, i as f64 * h).max(depth(high, (n - 1 - i) as f64 * h));
        (0..n).map(|i| steepest * at(i).powi(3)).collect()
    }

    /// The square, if the grid is one.
    pub(crate) fn as_square(&self) -> Option<Square> {
        let WaveParams { backend, scheme, dt, steps_per_pass, tolerance, max_cycles, .. } = *self;
        let fixed = self.sides.iter().all(|ends| *ends == [WaveSide::Fixed; 2]);
        match (&self.points[..], &self.size[..]) {
            (&[n, ny], &[length, ly]) if n == ny && length == ly && fixed => {
                let c = self.c / length;
                Some(Square { n, length, c, dt, backend, scheme, steps_per_pass, tolerance, max_cycles })
            }
            _ => None,
        }
    }

    /// An error unless every value is in its range.
    pub(crate) fn check(&self) -> Result<()> {
        let limit = self.limit()?;
        above_zero("dt", self.dt)?;
        if !(1..=MOST_STEPS).contains(&self.steps_per_pass) {
            return Err(Error::value("steps_per_pass", format!("1 to {MOST_STEPS}"), self.steps_per_pass));
        }
        let is_square = self.as_square().is_some();
        if is_square && self.points[0] > MOST_POINTS {
            let expected = format!("at most {MOST_POINTS} points per side of a square");
            return Err(Error::value("points", expected, self.points[0]));
        }
        let elsewhere = "a square: two directions with equally many points, equal lengths and fixed sides";
        if !is_square && self.scheme != Scheme::Explicit {
            let expected = format!("explicit on this grid; the implicit scheme is for {elsewhere}");
            return Err(Error::value("scheme", expected, "implicit"));
        }
        if !is_square && self.backend != Backend::Kernels {
            let expected = format!("kernels, on a device, on this grid; the other backends are for {elsewhere}");
            return Err(Error::value("backend", expected, format!("{:?}", self.backend).to_lowercase()));
        }
        let courant = self.courant();
        // A step at the limit is stable; rounding decides nothing.
        if self.scheme == Scheme::Explicit && self.dt > limit * (1.0 + ROUNDING) {
            let points = self.points.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            let expected = format!(
                "at most 1 / (c sqrt(sum of 1 / h^2)) = {}, the stability limit of the explicit scheme for \
                 c = {} and {points} points (Courant number c dt / h at most {}){}",
                number(limit, 7),
                self.c,
                number(self.c * limit / self.h(), 4),
                if is_square { "; the implicit scheme has none" } else { "" }
            );
            let found = format!("{} (Courant number {})", shown(self.dt), number(courant, 4));
            return Err(Error::value("dt", expected, found));
        }
        if !courant.is_normal() {
            return Err(Error::value("dt", "a time step whose Courant number c dt / h is a normal number", self.dt));
        }
        Ok(())
    }

    fn check_grid(&self) -> Result<()> {
        let dim = self.points.len();
        if !(2..=3).contains(&dim) {
            return Err(Error::value("points", "two or three directions", dim));
        }
        for (argument, count) in [("size", self.size.len()), ("sides", self.sides.len())] {
            if count != dim {
                return Err(Error::Length { argument, expected: dim, got: count });
            }
        }
        if let Some(n) = self.points.iter().find(|n| **n < 3) {
            return Err(Error::value("points", "at least 3 in each direction", n));
        }
        if self.points.iter().try_fold(1_usize, |product, &n| product.checked_mul(n)).is_none() {
            return Err(Error::value("points", "fewer points than memory has addresses", format!("{:?}", self.points)));
        }
        if let Some(length) = self.size.iter().find(|length| !(**length > 0.0 && length.is_finite())) {
            return Err(Error::value("size", "finite lengths above 0", length));
        }
        let periodic = |side: WaveSide| side == WaveSide::Periodic;
        if let Some(axis) = self.sides.iter().position(|ends| periodic(ends[0]) != periodic(ends[1])) {
            let got = format!("{:?} in direction {}", self.sides[axis], axis + 1);
            return Err(Error::value("sides", "both or none of the sides of a direction periodic", got));
        }
        let Some(width) = self.sponge else { return Ok(()) };
        if !(width > 0.0 && width.is_finite()) {
            return Err(Error::value("sponge", "a finite width above 0", width));
        }
        let layers = |axis: usize| self.sides[axis].iter().filter(|side| **side == WaveSide::Absorbing).count();
        if (0..dim).all(|axis| layers(axis) == 0) {
            return Err(Error::value("sponge", "an absorbing side, along which the layer lies", "none"));
        }
        for axis in (0..dim).filter(|&axis| layers(axis) > 0) {
            let most = self.size[axis] / layers(axis) as f64;
            let least = 2.0 * self.spacing(axis);
            // Rounding decides nothing.
            if width > most * (1.0 + ROUNDING) || width < least * (1.0 - ROUNDING) {
                let expected = format!(
                    "a width from {}, two spacings in direction {}, to {}, the room in the box",
                    shown(least),
                    axis + 1,
                    shown(most)
                );
                return Err(Error::value("sponge", expected, width));
            }
        }
        Ok(())
    }
}

fn above_zero(argument: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::value(argument, "a finite number above 0", value))
}

/// A square with fixed sides, in units of its side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Square {
    /// Points per side.
    pub(crate) n: usize,
    /// The length of a side.
    pub(crate) length: f64,
    /// Speed of the waves, sides per unit of time.
    pub(crate) c: f64,
    pub(crate) dt: f64,
    pub(crate) backend: Backend,
    pub(crate) scheme: Scheme,
    pub(crate) steps_per_pass: usize,
    pub(crate) tolerance: f64,
    pub(crate) max_cycles: usize,
}

impl Square {
    /// Mesh width.
    pub(crate) fn h(&self) -> f64 {
        1.0 / (self.n - 1) as f64
    }

    /// a = 2 - 4 r2 and r2 = (c dt / h)^2 of the leapfrog step.
    ///
    /// `r2` is taken to a multiple of epsilon / 4, so that `a` has no error of its own: one would act as a force on
    /// every point, and be much larger than the steps of slow waves.
    pub(crate) fn coefficients<T: Real>(&self) -> (T, T) {
        let quantum = T::epsilon().into_f64() / 4.0;
        let courant = self.c * self.dt / self.h();
        let r2 = (courant.powi(2).min(0.5) / quantum).round() * quantum;
        (T::from_f64(2.0 - 4.0 * r2), T::from_f64(r2))
    }
}

/// The discrete energy of a medium whose density is 1 where its speed is [`WaveParams::c`], see
/// [`Wave::energy`](super::Wave::energy).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WaveEnergy {
    /// Half the integral of the density times u_t^2.
    pub kinetic: f64,
    /// Half c^2 times the integral of |grad u|^2, with c = [`WaveParams::c`].
    pub potential: f64,
}

impl WaveEnergy {
    /// The sum, which the schemes keep where no side absorbs waves and no force acts.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// What some steps took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WaveReport {
    /// Steps made by this call; fewer than requested only if the implicit scheme did not meet its tolerance or a
    /// callback ended the call.
    pub steps: usize,
    /// The equations of the implicit scheme, `None` for the explicit one.
    pub implicit: Option<ImplicitReport>,
}

impl WaveReport {
    /// Adds what later steps took.
    pub(crate) fn add(&mut self, later: WaveReport) {
        self.steps += later.steps;
        self.implicit = match (self.implicit, later.implicit) {
            (Some(before), Some(later)) => Some(ImplicitReport {
                stop: later.stop,
                cycles: before.cycles + later.cycles,
                relative_residual: before.relative_residual.max(later.relative_residual),
            }),
            (before, later) => later.or(before),
        };
    }
}

/// What the elliptic problems of some implicit steps took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ImplicitReport {
    /// Why the last solution ended; no further step is made after a failure.
    pub stop: Stop,
    /// Multigrid cycles of all steps together.
    pub cycles: usize,
    /// Largest relative residual that a step was left with.
    pub relative_residual: f64,
}
