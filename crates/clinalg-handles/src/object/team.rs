//! Sparse matrices and algebraic multigrid on teams of devices, in either precision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::amg::{AmgParams, AmgReport};
use clinalg::ops::Operator as _;
use clinalg::team::{Amg, Csr, Layout, Partition, Team};
use clinalg::{CsrParts, Precision, Real, Result};

/// A sparse matrix whose rows are distributed over the devices of a team.
#[derive(Debug)]
pub struct Distributed<T: Real> {
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

/// Such a matrix whose precision is known at run time only.
#[derive(Debug)]
pub enum AnyDistributed {
    /// In single precision.
    F32(Distributed<f32>),
    /// In double precision.
    F64(Distributed<f64>),
}

impl AnyDistributed {
    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            AnyDistributed::F32(_) => Precision::F32,
            AnyDistributed::F64(_) => Precision::F64,
        }
    }

    /// Rows and stored entries.
    pub(crate) fn size(&self) -> (usize, usize) {
        match self {
            AnyDistributed::F32(a) => (a.rows, a.entries),
            AnyDistributed::F64(a) => (a.rows, a.entries),
        }
    }
}

/// Algebraic multigrid on a team, for one caller at a time.
#[derive(Debug)]
pub struct TeamAmg<T: Real> {
    pub(crate) rows: usize,
    amg: Mutex<Amg<T>>,
}

impl<T: Real> TeamAmg<T> {
    /// For the rows of `matrix`; `a` has its entries.
    pub(crate) fn new(matrix: &Distributed<T>, a: &CsrParts<T>, params: &AmgParams) -> Result<TeamAmg<T>> {
        let layout = matrix.layout();
        Ok(TeamAmg { rows: a.rows, amg: Mutex::new(Amg::new(layout.team(), a, layout.partition(), params)?) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Amg<T>> {
        // A panic leaves a hierarchy as it was: a cycle changes only its scratch memory.
        self.amg.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) -> Option<AmgReport> {
        self.lock().report().cloned()
    }
}

/// Such a hierarchy whose precision is known at run time only.
#[derive(Debug)]
pub enum AnyTeamAmg {
    /// In single precision.
    F32(TeamAmg<f32>),
    /// In double precision.
    F64(TeamAmg<f64>),
}

impl AnyTeamAmg {
    /// Its precision.
    pub fn precision(&self) -> Precision {
        match self {
            AnyTeamAmg::F32(_) => Precision::F32,
            AnyTeamAmg::F64(_) => Precision::F64,
        }
    }

    /// Rows of its matrix.
    pub(crate) fn rows(&self) -> usize {
        match self {
            AnyTeamAmg::F32(amg) => amg.rows,
            AnyTeamAmg::F64(amg) => amg.rows,
        }
    }

    /// Levels, sizes and complexities.
    pub(crate) fn report(&self) -> Option<AmgReport> {
        match self {
            AnyTeamAmg::F32(amg) => amg.report(),
            AnyTeamAmg::F64(amg) => amg.report(),
        }
    }
}
