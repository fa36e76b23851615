//! Teams of devices, and sparse matrices and algebraic multigrid on them.

use clinalg::amg::{AmgParams, AmgReport};
use clinalg::ops::Operator as _;
use clinalg::team::{Amg, Csr, Layout, Partition, Team};
use clinalg::{CsrParts, Real, Result};

use super::Content;
use super::cell::{Exclusive, ExclusiveGuard};
use crate::kind::{Info, Kind, ScalarType};

/// A sparse matrix whose rows are distributed over the devices of a team.
#[derive(Debug)]
pub(crate) struct Distributed<T: Real> {
    pub(crate) rows: usize,
    pub(crate) entries: usize,
    /// Of all rows.
    pub(crate) diagonal: Vec<T>,
    pub(crate) matrix: Csr<T>,
}

impl<T: Real> Distributed<T> {
    pub(crate) fn new(team: &Team, a: &CsrParts<T>) -> Result<Distributed<T>> {
        let partition = Partition::by_entries(&a.offsets, &vec![1.0; team.ranks()])?;
        let matrix = Csr::new(team, a, &partition)?;
        Ok(Distributed { rows: a.rows, entries: a.nnz(), diagonal: a.diagonal(), matrix })
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.matrix.context()
    }
}

impl<T: Real> Content for Distributed<T> {
    fn info(&self) -> Info {
        let info = Info::new(Kind::TeamMatrix, ScalarType::of::<T>(), self.rows, self.rows);
        Info { entries: self.entries, ..info }
    }
}

/// Algebraic multigrid on a team, for one caller at a time.
#[derive(Debug)]
pub(crate) struct TeamAmg<T: Real> {
    pub(crate) rows: usize,
    amg: Exclusive<Amg<T>>,
}

impl<T: Real> TeamAmg<T> {
    /// For the rows of `matrix`; `a` has its entries.
    pub(crate) fn new(matrix: &Distributed<T>, a: &CsrParts<T>, params: &AmgParams) -> Result<TeamAmg<T>> {
        let layout = matrix.layout();
        Ok(TeamAmg { rows: a.rows, amg: Exclusive::new(Amg::new(layout.team(), a, layout.partition(), params)?) })
    }

    pub(crate) fn lock(&self) -> Result<ExclusiveGuard<'_, Amg<T>>> {
        self.amg.lock("preconditioner")
    }

    /// Levels, sizes and complexities.
    pub(crate) fn report(&self) -> Result<Option<AmgReport>> {
        Ok(self.lock()?.report().cloned())
    }
}

impl<T: Real> Content for TeamAmg<T> {
    fn info(&self) -> Info {
        Info::new(Kind::TeamAmg, ScalarType::of::<T>(), self.rows, self.rows)
    }
}

impl Content for Team {
    /// It has a row for each device, and no values.
    fn info(&self) -> Info {
        Info::new(Kind::Team, ScalarType::F64, self.ranks(), 1)
    }
}
