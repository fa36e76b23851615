//! Reports on a hierarchy.

use std::fmt;

use serde::Serialize;

use super::choice::GOOD;
use super::cycle::LAST_SWEEPS;
use super::setup::Coarsest;
use super::{AmgParams, Cycle, Levels, Smoother};
use crate::{Csr, Real};

/// A level of a hierarchy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AmgLevel {
    /// Rows of its matrix.
    pub rows: usize,
    /// Stored entries of its matrix.
    pub nnz: usize,
    /// Stored entries of the prolongator to it from the next coarser level; 0 on the coarsest.
    pub prolongator_nnz: usize,
    /// How products with its matrix are computed.
    pub format: crate::matrix::Format,
}

/// A phase of the set-up on one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AmgPhase {
    /// The level; 0 is the finest.
    pub level: usize,
    /// The name of the phase.
    pub name: &'static str,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// What [`Coarsening::Auto`](super::Coarsening::Auto) found where it tried hierarchies: the factor by which an iteration of conjugate gradients
/// with each reduces the residual.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AmgTrial {
    /// With smoothed aggregation.
    pub aggregation: f64,
    /// With classical coarsening; `None` where it was not tried, since aggregation is good enough, or where it gave no hierarchy.
    pub classical: Option<f64>,
}

/// Levels, sizes and complexities of a hierarchy.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AmgReport {
    /// Whether coarser levels are made by classical coarsening; by smoothed aggregation otherwise.
    pub classical: bool,
    /// Whether the finest level was coarsened aggressively ([`AmgParams::aggressive`](super::AmgParams::aggressive)).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub aggressive: bool,
    /// The fraction of the rows that are far from those of the transpose, where [`Coarsening::Auto`](super::Coarsening::Auto) chose by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsymmetric: Option<f64>,
    /// The fraction of the off-diagonal entries that are one-sided, where [`Coarsening::Auto`](super::Coarsening::Auto) chose by it.
    pub one_sided: Option<f64>,
    /// The trial by which [`Coarsening::Auto`](super::Coarsening::Auto) has chosen.
    pub trial: Option<AmgTrial>,
    /// The levels, the finest first.
    pub levels: Vec<AmgLevel>,
    /// Entries of the matrices of all levels over those of the finest.
    pub operator_complexity: f64,
    /// Rows of all levels over those of the finest.
    pub grid_complexity: f64,
    /// Bytes of matrices and vectors on the device, without the additional data of the formats of products.
    pub bytes: u64,
    /// Whether the coarsest level is solved by a dense inverse; by the smoother where it has no strong entries.
    pub direct: bool,
    /// Near-null vectors that the matrix maps to zero up to rounding: 0 unless it is singular.
    pub null_vectors: usize,
    /// Seconds of the set-up, or of the last refill.
    pub seconds: f64,
    /// The phases of the set-up, if they were measured ([`AmgParams::timed`](super::AmgParams::timed)).
    pub phases: Vec<AmgPhase>,
    /// The result of [`Amg::convergence_factor`](super::Amg::convergence_factor), once it has been computed.
    pub convergence_factor: Option<f64>,
}

impl AmgReport {
    /// How coarser levels are made.
    pub fn kind(&self) -> &'static str {
        match (self.classical, self.aggressive) {
            (false, _) => "smoothed aggregation",
            (true, false) => "classical coarsening",
            (true, true) => "classical coarsening, aggressive on the finest level",
        }
    }

    /// How coarser levels are made, and the reason where [`Coarsening::Auto`](super::Coarsening::Auto) chose.
    pub fn coarsening(&self) -> String {
        let kind = self.kind();
        if let Some(AmgTrial { aggregation, classical }) = self.trial {
            let other = match classical {
                Some(factor) => format!("with classical coarsening to {factor:.2}"),
                None if aggregation <= GOOD => "classical coarsening was not tried".into(),
                None => "classical coarsening gave no hierarchy".into(),
            };
            return format!(
                "{kind} (a trial iteration with smoothed aggregation reduces the residual to {aggregation:.2}, {other})"
            );
        }
        if let Some(share) = self.unsymmetric {
            return format!("{kind} (in {:.0} % of the rows a_ij and a_ji differ by more than a tenth)", 100.0 * share);
        }
        match self.one_sided {
            Some(share) => format!(
                "{kind} ({:.1} % of the off-diagonal entries are strong in their row but weak in that of their column)",
                100.0 * share
            ),
            None => kind.into(),
        }
    }

    /// Matrix entries that conjugate gradients read until the residual is e times smaller, over those of the finest matrix, where an iteration reduces the residual
    /// by `factor`.
    pub(super) fn work(&self, params: &AmgParams, factor: f64) -> f64 {
        if factor >= 1.0 {
            return f64::INFINITY;
        }
        let cycle = self.entries_of_cycle(params) / (self.levels[0].nnz as f64).max(1.0);
        (1.0 + cycle) / -factor.max(f64::MIN_POSITIVE).ln()
    }

    /// Entries of matrices that a cycle from 0 reads.
    fn entries_of_cycle(&self, params: &AmgParams) -> f64 {
        let steps = params.relaxation().steps();
        // The first step from 0 reads no matrix, but for Gauss-Seidel.
        let saved = usize::from(!matches!(params.relaxation(), Smoother::GaussSeidel(_)));
        let last = self.levels.len() - 1;
        let (mut entries, mut visits) = (0, 1);
        for (k, level) in self.levels.iter().enumerate() {
            // The second visit of a pair does not start from 0.
            let fresh = if params.cycle == Cycle::W && k > 0 { visits / 2 } else { visits };
            entries += if k < last {
                let flexible = usize::from(params.cycle == Cycle::K && k > 0);
                let products = visits * (2 * steps + 1 + flexible) - saved * fresh;
                products * level.nnz + 2 * visits * level.prolongator_nnz
            } else if self.direct {
                // Of a pair of visits, only the first solves.
                fresh * level.rows * level.rows
            } else {
                (visits * 2 * LAST_SWEEPS * steps - saved * fresh) * level.nnz
            };
            visits *= match params.cycle {
                Cycle::V => 1,
                Cycle::W => 2,
                // The coarsest level has no flexible steps.
                Cycle::K => 1 + usize::from(k + 1 < last),
            };
        }
        entries as f64
    }

    /// Counts rows and entries of a matrix with so many real numbers per value, of whose real form the report is.
    pub(super) fn count_by(&mut self, components: usize) {
        for level in &mut self.levels {
            level.rows /= components;
            level.nnz /= components * components;
            level.prolongator_nnz /= components * components;
        }
        self.null_vectors /= components;
    }

    pub(super) fn of<T: Real>(hierarchy: &Levels<T>) -> AmgReport {
        let bytes = |a: &Csr<T>| (a.nnz() * (size_of::<T>() + 4) + 4 * (a.rows() + 1)) as u64;
        let mut total = 0;
        let mut levels = Vec::new();
        for level in &hierarchy.levels {
            total += bytes(&level.a) + (3 * level.a.rows() * size_of::<T>()) as u64;
            total += level.colours.as_ref().map_or(0, |_| 4 * level.a.rows() as u64);
            let mut prolongator_nnz = 0;
            if let Some(step) = &level.coarser {
                prolongator_nnz = step.prolong.nnz();
                total += bytes(&step.prolong) + bytes(&step.restrict) + (2 * step.b.len() * size_of::<T>()) as u64;
            }
            let (rows, nnz, format) = (level.a.rows(), level.a.nnz(), level.a.format());
            levels.push(AmgLevel { rows, nnz, prolongator_nnz, format });
        }
        let (direct, null_vectors) = match &hierarchy.end {
            Coarsest::Inverse(inverse, null) => {
                total += (inverse.rows() * inverse.cols() * size_of::<T>()) as u64;
                (true, *null)
            }
            Coarsest::Smoothed => (false, 0),
        };
        let over = |of: fn(&AmgLevel) -> usize| {
            levels.iter().map(|level| of(level) as f64).sum::<f64>() / (of(&levels[0]) as f64).max(1.0)
        };
        AmgReport {
            operator_complexity: over(|level| level.nnz),
            grid_complexity: over(|level| level.rows),
            classical: false,
            aggressive: false,
            unsymmetric: None,
            one_sided: None,
            trial: None,
            levels,
            bytes: total,
            direct,
            null_vectors,
            seconds: 0.0,
            phases: Vec::new(),
            convergence_factor: None,
        }
    }
}

impl fmt::Display for AmgReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.coarsening())?;
        writeln!(f, "{:>5} {:>12} {:>13} {:>9}  format", "level", "rows", "entries", "per row")?;
        for (k, level) in self.levels.iter().enumerate() {
            let per_row = level.nnz as f64 / level.rows.max(1) as f64;
            writeln!(f, "{k:>5} {:>12} {:>13} {per_row:>9.1}  {}", level.rows, level.nnz, level.format)?;
        }
        write!(
            f,
            "operator complexity {:.2}, grid complexity {:.2}, {:.1} MiB, set-up {:.3} s",
            self.operator_complexity,
            self.grid_complexity,
            self.bytes as f64 / f64::from(1 << 20),
            self.seconds
        )?;
        if !self.direct {
            write!(f, ", coarsest level by the smoother (nothing strong in it)")?;
        }
        if self.null_vectors > 0 {
            write!(f, ", singular ({} near-null vectors are null vectors)", self.null_vectors)?;
        }
        match self.convergence_factor {
            Some(factor) => write!(f, ", convergence factor {factor:.3}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Format;

    #[test]
    fn work_follows_cycle_and_smoother() {
        let level = |rows, nnz, prolongator_nnz| AmgLevel { rows, nnz, prolongator_nnz, format: Format::Csr };
        let mut report = AmgReport {
            classical: false,
            aggressive: false,
            unsymmetric: None,
            one_sided: None,
            trial: None,
            levels: vec![level(1000, 5000, 2000), level(100, 900, 300), level(10, 80, 0)],
            operator_complexity: 1.0,
            grid_complexity: 1.0,
            bytes: 0,
            direct: true,
            null_vectors: 0,
            seconds: 0.0,
            phases: Vec::new(),
            convergence_factor: None,
        };
        let params = AmgParams::default;
        let prolongators = |coarse: usize| 2 * (2000 + coarse * 300);
        let cases = [
            // Two steps of the smoother on both sides, the first without a product, and the residual.
            (params(), 4 * 5900 + prolongators(1) + 100),
            (params().smoother(Smoother::L1Jacobi(1)), 2 * 5900 + prolongators(1) + 100),
            (params().smoother(Smoother::GaussSeidel(1)), 3 * 5900 + prolongators(1) + 100),
            // The second visit does not begin from 0.
            (params().cycle(Cycle::W), 4 * 5000 + 9 * 900 + prolongators(2) + 2 * 100),
            // A product for each of two flexible steps.
            (params().cycle(Cycle::K), 4 * 5000 + 10 * 900 + prolongators(2) + 2 * 100),
        ];
        for (params, entries) in &cases {
            assert_eq!(report.entries_of_cycle(params), *entries as f64, "{params:?}");
        }
        // A product of conjugate gradients, and a cycle.
        let work = report.work(&cases[0].0, (-1.0_f64).exp());
        assert!((work - (1.0 + cases[0].1 as f64 / 5000.0)).abs() < 1e-12);
        assert_eq!(report.work(&cases[0].0, 1.0), f64::INFINITY);
        report.direct = false;
        assert_eq!(report.entries_of_cycle(&params()), (4 * 5900 + prolongators(1) + 7 * 80) as f64);
    }
}
