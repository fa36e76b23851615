//! What a wave on a box is made from.

use crate::{Error, Result};

/// The boundary condition on a side of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaveSide {
    /// u keeps its initial values (Dirichlet).
    Fixed,
    /// du/dn = 0 (Neumann): waves are reflected without a change of sign.
    Free,
    /// u_t + c du/dn = 0, the first-order condition of Engquist and Majda (1977). A plane wave incident at the angle theta to the normal is
    /// reflected with the factor (1 - cos theta) / (1 + cos theta): 0 at normal incidence, 0.17 at 45 degrees. A layer along the side
    /// ([`BoxWaveParams::sponge`]) damps waves at other angles.
    Absorbing,
    /// u is periodic in this direction; the opposite side must be periodic too.
    Periodic,
}

/// The grid, the boundary conditions and the time step of a [`BoxWave`](super::BoxWave).
#[derive(Debug, Clone, PartialEq)]
pub struct BoxWaveParams {
    pub(super) points: Vec<usize>,
    size: Vec<f64>,
    pub(super) sides: Vec<[WaveSide; 2]>,
    sponge: Option<f64>,
    pub(super) dt: f64,
}

/// What a plane wave at right angles keeps of its amplitude on its way through a layer and back. Less would reflect more at the layer; the side behind
/// it absorbs such waves.
const SPONGE_LEFT: f64 = 0.1;

impl BoxWaveParams {
    /// A box of two or three directions with `points[i]` points in direction i (at least 3, those on the sides included) and the time step
    /// `dt`. All lengths are 1 and all sides fixed until [`size`](BoxWaveParams::size) and [`sides`](BoxWaveParams::sides) change them.
    pub fn new(points: &[usize], dt: f64) -> BoxWaveParams {
        let dim = points.len();
        let sides = vec![[WaveSide::Fixed; 2]; dim];
        BoxWaveParams { points: points.to_vec(), size: vec![1.0; dim], sides, sponge: None, dt }
    }

    /// The length of the box in each direction.
    pub fn size(mut self, size: &[f64]) -> BoxWaveParams {
        self.size = size.to_vec();
        self
    }

    /// The conditions at the low and the high end of each direction.
    pub fn sides(mut self, sides: &[[WaveSide; 2]]) -> BoxWaveParams {
        self.sides = sides.to_vec();
        self
    }

    /// Lays a damping layer (sponge) of this width along the inside of every absorbing side: there the equation is
    /// `u_tt + sigma u_t = c^2 Laplace u` with `sigma = 4 ln(10) c / width (d / width)^3`, d the distance from the inner edge of
    /// the layer (Israeli and Orszag 1981). Where layers cross, their sigmas add up. A plane wave at right angles keeps a tenth of its
    /// amplitude on its way through the layer and back, one at the angle theta `0.1^(1 / cos theta)`, of which the side itself reflects a part:
    /// less than 0.01 remains at 70 degrees and below. Layers reflect waves that are long against their width, and the slow end of a pulse that is
    /// not 0 on average: take at least two wavelengths.
    pub fn sponge(mut self, width: f64) -> BoxWaveParams {
        self.sponge = Some(width);
        self
    }

    /// Number of points in each direction.
    pub fn points(&self) -> &[usize] {
        &self.points
    }

    /// The time step.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Spacing of a direction: its length divided by the number of intervals, which is n - 1, in a periodic direction n.
    pub(super) fn spacing(&self, axis: usize) -> f64 {
        let periodic = self.sides[axis][0] == WaveSide::Periodic;
        self.size[axis] / (self.points[axis] - usize::from(!periodic)) as f64
    }

    /// Coordinates of the points in the direction `axis` (0, 1 or 2), starting at 0.
    ///
    /// # Errors
    /// As [`BoxWave::new`](super::BoxWave::new); [`Error::Value`] if there is no such direction.
    pub fn coordinates(&self, axis: usize) -> Result<Vec<f64>> {
        self.check()?;
        if axis >= self.points.len() {
            return Err(Error::value("axis", format!("less than {}", self.points.len()), axis));
        }
        let h = self.spacing(axis);
        Ok((0..self.points[axis]).map(|i| i as f64 * h).collect())
    }

    /// The largest stable time step if `c` is the largest speed: 1 / (c sqrt(sum of 1 / h^2)) (Courant, Friedrichs, Lewy 1928).
    ///
    /// # Errors
    /// As [`BoxWave::new`](super::BoxWave::new).
    pub fn limit(&self, c: f64) -> Result<f64> {
        self.check()?;
        Ok(1.0 / (c * (0..self.points.len()).map(|axis| self.spacing(axis).powi(-2)).sum::<f64>().sqrt()))
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

    pub(super) fn check(&self) -> Result<()> {
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
            return Err(Error::value("points", "at least 3 of each direction", n));
        }
        if let Some(length) = self.size.iter().find(|length| !(**length > 0.0 && length.is_finite())) {
            return Err(Error::value("size", "finite lengths above 0", length));
        }
        let periodic = |side: WaveSide| side == WaveSide::Periodic;
        if let Some(axis) = self.sides.iter().position(|ends| periodic(ends[0]) != periodic(ends[1])) {
            let got = format!("{:?} in direction {}", self.sides[axis], axis + 1);
            return Err(Error::value("sides", "both or none of the sides of a direction periodic", got));
        }
        self.check_sponge()?;
        if self.dt > 0.0 && self.dt.is_finite() {
            Ok(())
        } else {
            Err(Error::value("dt", "a finite number above 0", self.dt))
        }
    }

    fn check_sponge(&self) -> Result<()> {
        let Some(width) = self.sponge else { return Ok(()) };
        if !(width > 0.0 && width.is_finite()) {
            return Err(Error::value("sponge", "a finite width above 0", width));
        }
        let layers = |axis: usize| self.sides[axis].iter().filter(|side| **side == WaveSide::Absorbing).count();
        let axes = 0..self.points.len();
        if axes.clone().all(|axis| layers(axis) == 0) {
            return Err(Error::value("sponge", "an absorbing side, along which the layer lies", "none"));
        }
        for axis in axes.filter(|&axis| layers(axis) > 0) {
            let most = self.size[axis] / layers(axis) as f64;
            let least = 2.0 * self.spacing(axis);
            // Rounding decides nothing.
            if width > most * (1.0 + 1e-12) || width < least * (1.0 - 1e-12) {
                let expected = format!(
                    "a width from {least:e}, two spacings of direction {}, to {most:e}, what the box has room for",
                    axis + 1
                );
                return Err(Error::value("sponge", expected, width));
            }
        }
        Ok(())
    }
}
