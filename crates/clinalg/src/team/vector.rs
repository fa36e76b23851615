//! Vectors on a team.

use std::ops::Range;
use std::sync::Arc;

use super::{Partition, Team};
use crate::error::check_length;
use crate::ops::{self, DotParts};
use crate::{Error, Real, Result};

/// A vector whose rows are distributed.
///
/// ```
/// use clinalg::team::{Partition, Team, Vector};
/// use clinalg::{Context, ContextOptions, Device};
///
/// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
/// let team = Team::of_contexts(vec![context()?, context()?])?;
/// let x = Vector::from_slice(&team, &Partition::even(3, 2)?, &[1.0_f64, 2.0, 2.0])?;
/// assert_eq!(x.norm2()?, 3.0);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Vector<T: Real> {
    team: Team,
    partition: Arc<Partition>,
    /// Of each rank of this process.
    pub(super) parts: Vec<crate::Vector<T>>,
}

impl<T: Real> Vector<T> {
    /// Zeros.
    ///
    /// # Errors
    /// [`Error::Length`] for a partition among another number of ranks; as [`Error::Rank`], [`Error::Allocation`] and
    /// [`Error::NoFp64`].
    pub fn zeros(team: &Team, partition: &Partition) -> Result<Vector<T>> {
        Vector::shared(team, &Arc::new(partition.clone()))
    }

    pub(super) fn shared(team: &Team, partition: &Arc<Partition>) -> Result<Vector<T>> {
        check_length("partition", team.ranks(), partition.ranks())?;
        let first = team.local().start;
        let parts = team.each(|k, context| crate::Vector::zeros(context, partition.range(first + k).len()))?;
        Ok(Vector { team: team.clone(), partition: partition.clone(), parts })
    }

    /// A copy of `values`, which are those of all rows on every process.
    ///
    /// # Errors
    /// As [`Vector::zeros`]; [`Error::Length`] that names `values`.
    pub fn from_slice(team: &Team, partition: &Partition, values: &[T]) -> Result<Vector<T>> {
        let mut vector = Vector::zeros(team, partition)?;
        vector.write(values)?;
        Ok(vector)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.partition.rows()
    }

    /// Whether there is no row; a partition has one at least.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The team it lives on.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// The rows of each rank.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The rows of the ranks of this process.
    pub fn local_rows(&self) -> Range<usize> {
        let local = self.team.local();
        self.partition.range(local.start).start..self.partition.range(local.end - 1).end
    }

    /// Replaces all values.
    ///
    /// # Errors
    /// [`Error::Length`] that names `values`; as [`Error::Rank`], what a device reports.
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        check_length("values", self.len(), values.len())?;
        let Vector { team, partition, parts } = self;
        let first = team.local().start;
        team.each(|k, _| parts[k].write(&values[partition.range(first + k)])).map(drop)
    }

    /// Reads the rows of the ranks of this process, which in one process are all, into their place in `values`.
    ///
    /// # Errors
    /// As [`Vector::write`].
    pub fn read(&self, values: &mut [T]) -> Result<()> {
        check_length("values", self.len(), values.len())?;
        let first = self.team.local().start;
        self.team.each(|k, _| self.parts[k].read(&mut values[self.partition.range(first + k)])).map(drop)
    }

    /// Sets every value to `value`.
    ///
    /// # Errors
    /// As [`Error::Rank`], those of the enqueue.
    pub fn fill(&mut self, value: T) -> Result<()> {
        let Vector { team, parts, .. } = self;
        team.each(|k, _| parts[k].fill(value)).map(drop)
    }

    /// Copies `source`.
    ///
    /// # Errors
    /// As [`Vector::update`].
    pub fn copy_from(&mut self, source: &Vector<T>) -> Result<()> {
        self.check(source, "source")?;
        let Vector { team, parts, .. } = self;
        team.each(|k, _| parts[k].copy_from(&source.parts[k])).map(drop)
    }

    /// y = alpha x + beta y, where this vector is y.
    ///
    /// # Errors
    /// [`Error::Context`] for a vector of another team; [`Error::Shape`] for another partition; as [`Error::Rank`], those of the
    /// enqueue.
    pub fn update(&mut self, alpha: T, x: &Vector<T>, beta: T) -> Result<()> {
        self.check(x, "x")?;
        let Vector { team, parts, .. } = self;
        team.each(|k, _| ops::update(alpha, &x.parts[k], beta, &mut parts[k])).map(drop)
    }

    /// Multiplies every value by `alpha`.
    ///
    /// # Errors
    /// As [`Error::Rank`], those of the enqueue.
    pub fn scale(&mut self, alpha: T) -> Result<()> {
        self.team.each(|k, _| ops::scale_raw(alpha, self.parts[k].buffer(), self.parts[k].buffer())).map(drop)
    }

    /// z = x y, element by element, where this vector is z.
    ///
    /// # Errors
    /// As [`Vector::update`].
    pub fn set_product(&mut self, x: &Vector<T>, y: &Vector<T>) -> Result<()> {
        self.check(x, "x")?;
        self.check(y, "y")?;
        let Vector { team, parts, .. } = self;
        team.each(|k, _| ops::multiply(&x.parts[k], &y.parts[k], &mut parts[k])).map(drop)
    }

    /// Copies the values of `x` with pseudo-random signs.
    pub(super) fn scatter_signs(&mut self, x: &Vector<T>) -> Result<()> {
        self.check(x, "x")?;
        let Vector { team, parts, .. } = self;
        team.each(|k, _| ops::scatter_signs(&x.parts[k], &mut parts[k])).map(drop)
    }

    /// The Euclidean norm, from those of the ranks in their order.
    ///
    /// # Errors
    /// As [`Error::Rank`], what a device reports.
    pub fn norm2(&self) -> Result<f64> {
        self.team.norm(self.team.each(|k, _| Ok(ops::norm2(&self.parts[k])?.into_f64()))?)
    }

    /// An error unless `other` is of the same team and partition.
    pub(super) fn check(&self, other: &Vector<T>, argument: &'static str) -> Result<()> {
        if !self.team.same(&other.team) {
            return Err(Error::Context { argument });
        }
        check_partition(argument, &self.partition, &other.partition)
    }
}

/// An error unless both share the rows out alike.
pub(super) fn check_partition(argument: &'static str, expected: &Partition, got: &Partition) -> Result<()> {
    if expected == got {
        return Ok(());
    }
    let words = |partition: &Partition| format!("shared out at rows {:?}", partition.starts());
    Err(Error::Shape { argument, expected: words(expected), got: words(got) })
}

/// Dot products of vectors of a team: all devices form theirs at the same time, the sums are taken in the order of the ranks.
#[derive(Debug)]
pub(super) struct Dots<T: Real> {
    team: Team,
    /// Of each product, a part per rank of this process.
    parts: Vec<Vec<DotParts<T>>>,
}

impl<T: Real> Dots<T> {
    /// Room for up to `count` products at once.
    pub(super) fn new(team: &Team, count: usize) -> Result<Dots<T>> {
        let parts = (0..count).map(|_| team.each(|_, context| DotParts::new(context))).collect::<Result<_>>()?;
        Ok(Dots { team: team.clone(), parts })
    }

    /// The dot products of all pairs, at most as many as there is room for, in one reduction over the ranks.
    pub(super) fn of(&mut self, pairs: &[(&Vector<T>, &Vector<T>)]) -> Result<Vec<f64>> {
        let Dots { team, parts } = self;
        for ((x, y), parts) in pairs.iter().zip(&mut *parts) {
            team.each(|k, _| parts[k].set(&x.parts[k], &y.parts[k]))?;
        }
        team.each(|_, context| context.queue().flush())?;
        let values =
            team.each(|k, _| parts[..pairs.len()].iter().map(|parts| parts[k].value()).collect::<Result<Vec<f64>>>())?;
        team.all_reduce(super::Reduction::Sum, &values)
    }
}
