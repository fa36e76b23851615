//! Parameters of algebraic multigrid.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The smoother of [`Amg`](super::Amg).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Smoother {
    /// Chebyshev iteration of this degree for D^-1 A on the upper part of its spectrum (Adams, Brezina, Hu and Tuminaro 2003).
    Chebyshev(usize),
    /// So many Jacobi sweeps with the sums of moduli of the rows, which converge for every symmetric positive definite matrix
    /// (Baker, Falgout, Kolev and Yang 2011).
    L1Jacobi(usize),
    /// So many sweeps with the diagonal that is closest to the inverse in the Frobenius norm (Broeker and Grote 2002).
    Spai0(usize),
}

/// Parameters of [`Amg`](super::Amg).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AmgParams {
    /// Rows i and j are strongly connected where |a_ij| exceeds `theta` times the geometric mean of the largest moduli of
    /// both rows outside of the diagonal, on every level. The prolongator is smoothed by the entries of a row above `theta`
    /// times its own largest modulus. At least 0 and below 1. Default 0.08.
    pub theta: f64,
    /// Default Chebyshev of degree 2.
    pub smoother: Smoother,
    /// Visits of the next coarser level per visit: 1 is a V-cycle, 2 a W-cycle. Default 1.
    pub visits: usize,
    /// A level of at most so many rows is solved by the inverse of its matrix; 1 to 4096. Default 400.
    pub coarse_size: usize,
    /// Most levels, at least 1. Default 25.
    pub max_levels: usize,
    /// Unknowns per node, numbered one after the other: 3 for elasticity in space. Default 1.
    pub block: usize,
    /// Keep the hierarchy in single precision, for solvers in double precision. Default false.
    pub single: bool,
    /// Keep what [`Amg::refill`](super::Amg::refill) takes from one matrix to the next. Default false.
    pub reusable: bool,
    /// Measure the phases of the set-up for [`AmgReport::phases`](super::AmgReport::phases). This waits for the device after each phase. Default
    /// false.
    pub timed: bool,
}

impl Default for AmgParams {
    fn default() -> AmgParams {
        AmgParams {
            theta: 0.08,
            smoother: Smoother::Chebyshev(2),
            visits: 1,
            coarse_size: 400,
            max_levels: 25,
            block: 1,
            single: false,
            reusable: false,
            timed: false,
        }
    }
}

impl AmgParams {
    /// With this bound of strong connections.
    pub fn theta(mut self, theta: f64) -> AmgParams {
        self.theta = theta;
        self
    }

    /// With this smoother.
    pub fn smoother(mut self, smoother: Smoother) -> AmgParams {
        self.smoother = smoother;
        self
    }

    /// With so many visits of the next coarser level per visit.
    pub fn visits(mut self, visits: usize) -> AmgParams {
        self.visits = visits;
        self
    }

    /// With a dense inverse for levels of at most so many rows.
    pub fn coarse_size(mut self, rows: usize) -> AmgParams {
        self.coarse_size = rows;
        self
    }

    /// With at most so many levels.
    pub fn max_levels(mut self, levels: usize) -> AmgParams {
        self.max_levels = levels;
        self
    }

    /// With so many unknowns per node.
    pub fn block(mut self, unknowns: usize) -> AmgParams {
        self.block = unknowns;
        self
    }

    /// With the hierarchy in single precision or not.
    pub fn single(mut self, single: bool) -> AmgParams {
        self.single = single;
        self
    }

    /// With what [`Amg::refill`](super::Amg::refill) needs or without.
    pub fn reusable(mut self, reusable: bool) -> AmgParams {
        self.reusable = reusable;
        self
    }

    /// Whether to measure the phases of the set-up.
    pub fn timed(mut self, timed: bool) -> AmgParams {
        self.timed = timed;
        self
    }

    pub(super) fn check(&self) -> Result<()> {
        let within =
            |name, expected: &str, found: usize, range: std::ops::RangeInclusive<usize>| match range.contains(&found) {
                true => Ok(()),
                false => Err(Error::value(name, expected, found)),
            };
        if !(0.0..1.0).contains(&self.theta) {
            return Err(Error::value("theta", "at least 0 and below 1", self.theta));
        }
        let (Smoother::Chebyshev(steps) | Smoother::L1Jacobi(steps) | Smoother::Spai0(steps)) = self.smoother;
        within("smoother", "1 to 100 steps", steps, 1..=100)?;
        within("visits", "1 (V-cycle) or 2 (W-cycle)", self.visits, 1..=2)?;
        within("coarse_size", "1 to 4096", self.coarse_size, 1..=4096)?;
        within("max_levels", "1 to 100", self.max_levels, 1..=100)?;
        within("block", "1 to 64 unknowns per node", self.block, 1..=64)
    }
}
