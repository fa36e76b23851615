//! Parameters of algebraic multigrid.

use serde::{Deserialize, Serialize};

use super::classical::THETA;
use crate::{Error, Result};

/// The smoother of [`Amg`](super::Amg).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Smoother {
    /// Chebyshev iteration of this degree for D^-1 A on the upper part of its spectrum (Adams, Brezina, Hu and Tuminaro 2003).
    Chebyshev(usize),
    /// This many l1-Jacobi sweeps (scaled by the sums of the moduli of each row), which converge for every symmetric positive definite matrix
    /// (Baker, Falgout, Kolev and Yang 2011).
    L1Jacobi(usize),
    /// This many sweeps with the diagonal matrix that is closest to the inverse in the Frobenius norm (Broeker and Grote 2002).
    Spai0(usize),
    /// This many Gauss-Seidel sweeps by colours: rows of one colour are not coupled and are updated at once. After the coarse-level correction, sweeps take
    /// the colours in reverse order, so that the cycle is symmetric where the matrix is. They converge for every symmetric positive definite
    /// matrix. A sweep takes a launch per colour; colours are found when the hierarchy is set up (Jones and Plassmann 1993). On one device.
    GaussSeidel(usize),
}

impl Default for Smoother {
    fn default() -> Smoother {
        Smoother::Chebyshev(2)
    }
}

impl Smoother {
    /// Its degree or number of sweeps.
    pub fn steps(self) -> usize {
        let (Smoother::Chebyshev(steps)
        | Smoother::L1Jacobi(steps)
        | Smoother::Spai0(steps)
        | Smoother::GaussSeidel(steps)) = self;
        steps
    }
}

/// How [`Amg`](super::Amg) visits coarser levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Cycle {
    /// V-cycle: one visit to the next coarser level per visit.
    V,
    /// W-cycle: two visits to the next coarser level per visit.
    W,
    /// Two steps of flexible conjugate gradients on each level between the finest and the coarsest, each with a cycle of the level below as
    /// preconditioner (Notay and Vassilevski 2008). For symmetric positive definite matrices. The cycle is nonlinear:
    /// use it with [`FlexibleCg`](crate::solve::FlexibleCg). A visit to such a level reads five numbers back from the device.
    K,
}

/// How [`Amg`](super::Amg) makes coarser levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Coarsening {
    /// Chosen from the matrix.
    ///
    /// [`Classical`](Coarsening::Classical) where A is far from symmetric, as with convection: in more than a quarter of the rows some a_ij and a_ji differ
    /// by more than a tenth of the larger. One row in 16 is looked at.
    ///
    /// [`Classical`](Coarsening::Classical) where more than 2 % of the off-diagonal entries are one-sided. An entry is one-sided if it is at least
    /// 0.25 times the largest in its row and less than 0.08 times the largest in the row of its column; only entries whose sign differs from that of the
    /// diagonal are considered for the largest. There are many where coefficients vary from point to point by orders of magnitude.
    ///
    /// Where more than 5 % of the off-diagonal entries have the sign of the diagonal and are at least 0.08 times the largest, as for an
    /// anisotropy that is not aligned with the grid, 12 iterations of conjugate gradients with aggregation, and if these are slow, with
    /// classical coarsening, decide which takes less work. The set-up then takes up to three times as long.
    ///
    /// Otherwise, and always with several unknowns per node or given near-null vectors, [`Aggregation`](Coarsening::Aggregation).
    Auto,
    /// Smoothed aggregation (Vanek, Mandel and Brezina 1996).
    Aggregation,
    /// Some of the unknowns, chosen by a parallel maximal independent set (PMIS; De Sterck, Yang and Heys 2006), are those of the coarser level; the
    /// others are interpolated from at most 4 of them (extended+i interpolation; De Sterck, Falgout, Nolting and Yang 2008).
    /// For one unknown per node and constant near-null vectors.
    Classical,
}

/// Parameters of [`Amg`](super::Amg).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AmgParams {
    /// Default [`Coarsening::Auto`].
    pub coarsening: Coarsening,
    /// The threshold of strong connections, at least 0 and below 1; by default 0.08 for aggregation and 0.25 for classical coarsening. Aggregation: rows i and j
    /// are strongly connected where |a_ij| exceeds `theta` times the geometric mean of the largest off-diagonal moduli of both rows,
    /// on every level. The prolongator is smoothed by the entries of a row above `theta` times its own largest modulus.
    /// Classical: i depends strongly on j where |a_ij| is at least `theta` times the largest modulus of the row among entries whose sign is
    /// not that of the diagonal, and a_ij is one of these.
    pub theta: Option<f64>,
    /// Default: Chebyshev of degree 2, and two sweeps with SPAI-0 where [`Coarsening::Auto`] finds A to be far from symmetric.
    pub smoother: Option<Smoother>,
    /// Default [`Cycle::V`].
    pub cycle: Cycle,
    /// Coarsen the finest level aggressively, with [`Coarsening::Classical`]: coarse unknowns are two strong connections apart, and others are
    /// interpolated from at most 4 of them in two passes (multipass interpolation; Stüben 2001, Yang 2010). The hierarchy takes less memory and a cycle
    /// less time; more iterations are needed. Where strong connections are one-sided, it hardly coarsens more. Default false.
    pub aggressive: bool,
    /// A level of at most this many rows is solved by the inverse of its matrix; 1 to 4096. Default 400.
    pub coarse_size: usize,
    /// Maximum number of levels, at least 1. Default 25.
    pub max_levels: usize,
    /// Unknowns per node, numbered consecutively: 3 for elasticity in three dimensions. Default 1.
    pub block: usize,
    /// Keep the hierarchy in single precision, for solvers in double precision. Default false.
    pub single: bool,
    /// Keep what [`Amg::refill`](super::Amg::refill) reuses for the next matrix. Default false.
    pub reusable: bool,
    /// Measure the phases of the set-up for [`AmgReport::phases`](super::AmgReport::phases). This waits for the device after each phase. Default
    /// false.
    pub timed: bool,
}

impl Default for AmgParams {
    fn default() -> AmgParams {
        AmgParams {
            coarsening: Coarsening::Auto,
            theta: None,
            smoother: None,
            cycle: Cycle::V,
            aggressive: false,
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
    /// With coarser levels made in this way.
    pub fn coarsening(mut self, coarsening: Coarsening) -> AmgParams {
        self.coarsening = coarsening;
        self
    }

    /// With this threshold of strong connections.
    pub fn theta(mut self, theta: f64) -> AmgParams {
        self.theta = Some(theta);
        self
    }

    /// With this smoother.
    pub fn smoother(mut self, smoother: Smoother) -> AmgParams {
        self.smoother = Some(smoother);
        self
    }

    /// With this cycle.
    pub fn cycle(mut self, cycle: Cycle) -> AmgParams {
        self.cycle = cycle;
        self
    }

    /// With aggressive coarsening of the finest level or not.
    pub fn aggressive(mut self, aggressive: bool) -> AmgParams {
        self.aggressive = aggressive;
        self
    }

    /// With a dense inverse for levels of at most this many rows.
    pub fn coarse_size(mut self, rows: usize) -> AmgParams {
        self.coarse_size = rows;
        self
    }

    /// With at most this many levels.
    pub fn max_levels(mut self, levels: usize) -> AmgParams {
        self.max_levels = levels;
        self
    }

    /// With this many unknowns per node.
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

    /// The smoother, where none was chosen from the matrix.
    pub(super) fn relaxation(&self) -> Smoother {
        self.smoother.unwrap_or_default()
    }

    /// The threshold of strong connections.
    pub(super) fn bound(&self) -> f64 {
        self.theta.unwrap_or(match self.coarsening {
            Coarsening::Classical => THETA,
            Coarsening::Auto | Coarsening::Aggregation => 0.08,
        })
    }

    pub(super) fn check(&self) -> Result<()> {
        let within =
            |name, expected: &str, found: usize, range: std::ops::RangeInclusive<usize>| match range.contains(&found) {
                true => Ok(()),
                false => Err(Error::value(name, expected, found)),
            };
        if !(0.0..1.0).contains(&self.bound()) {
            return Err(Error::value("theta", "at least 0 and below 1", self.bound()));
        }
        if self.coarsening == Coarsening::Classical && self.block > 1 {
            let expected = "auto or aggregation where a node has several unknowns";
            return Err(Error::value("coarsening", expected, "classical"));
        }
        if self.aggressive && self.coarsening != Coarsening::Classical {
            return Err(Error::value("aggressive", "false unless coarsening is classical", true));
        }
        within("smoother_steps", "1 to 100", self.relaxation().steps(), 1..=100)?;
        within("coarse_size", "1 to 4096", self.coarse_size, 1..=4096)?;
        within("max_levels", "1 to 100", self.max_levels, 1..=100)?;
        within("block", "1 to 64 unknowns per node", self.block, 1..=64)
    }
}
