//! Sparse matrices on teams of devices, in either precision.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::team::{Csr, Partition, Team};
use clinalg::{CsrParts, Precision, Real, Result};

/// A sparse matrix whose rows are distributed over the devices of a team, for one caller at a time.
#[derive(Debug)]
pub struct Distributed<T: Real> {
    pub(crate) rows: usize,
    pub(crate) entries: usize,
    /// Of all rows.
    pub(crate) diagonal: Vec<T>,
    matrix: Mutex<Csr<T>>,
}

impl<T: Real> Distributed<T> {
    pub(crate) fn new(team: &Team, a: &CsrParts<T>) -> Result<Distributed<T>> {
        let partition = Partition::by_entries(&a.offsets, &vec![1.0; team.ranks()])?;
        let matrix = Mutex::new(Csr::new(team, a, &partition)?);
        Ok(Distributed { rows: a.rows, entries: a.nnz(), diagonal: a.diagonal(), matrix })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Csr<T>> {
        // A panic leaves a matrix as it was: a product changes only its scratch memory.
        self.matrix.lock().unwrap_or_else(PoisonError::into_inner)
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
