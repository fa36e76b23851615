//! Vectors on a team.

use std::ops::Range;
use std::sync::Arc;

use super::{Partition, Reduction, Team, joined_norm};
use crate::error::check_length;
use crate::ops::{self, DotParts, SpaceDots, SpaceVector, norm_of_squares};
use crate::solve::basis::Projection;
use crate::solve::bicgstab_host::HostBiCgStab;
use crate::solve::bicgstab_steps::BiCgStabSteps;
use crate::solve::cg_host::HostCg;
use crate::solve::cg_steps::CgSteps;
use crate::solve::{BasisProducts, EachColumn, KrylovVector};
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
    layout: Layout,
    /// Of each rank of this process.
    pub(super) parts: Vec<crate::Vector<T>>,
}

/// Where vectors of a team live: a team with the rows of each rank.
#[derive(Debug, Clone)]
pub struct Layout {
    team: Team,
    partition: Arc<Partition>,
}

impl Layout {
    /// These rows on each rank of the team.
    ///
    /// # Errors
    /// [`Error::Length`] for a partition among another number of ranks.
    pub fn new(team: &Team, partition: &Partition) -> Result<Layout> {
        check_length("partition", team.ranks(), partition.ranks())?;
        Ok(Layout { team: team.clone(), partition: Arc::new(partition.clone()) })
    }

    /// The team.
    pub fn team(&self) -> &Team {
        &self.team
    }

    /// The rows of each rank.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }
}

impl<T: Real> Vector<T> {
    /// Zeros.
    ///
    /// # Errors
    /// [`Error::Length`] for a partition among another number of ranks; as [`Error::Rank`], [`Error::Allocation`] and
    /// [`Error::NoFp64`].
    pub fn zeros(team: &Team, partition: &Partition) -> Result<Vector<T>> {
        Vector::zeros_in(&Layout::new(team, partition)?)
    }

    /// Zeros in this layout.
    ///
    /// # Errors
    /// As [`Error::Rank`], [`Error::Allocation`] and [`Error::NoFp64`].
    pub fn zeros_in(layout: &Layout) -> Result<Vector<T>> {
        let (first, partition) = (layout.team.local().start, &layout.partition);
        let parts = layout.team.each(|k, context| crate::Vector::zeros(context, partition.range(first + k).len()))?;
        Ok(Vector { layout: layout.clone(), parts })
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
        self.layout.partition.rows()
    }

    /// Whether there is no row; a partition has one at least.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The team it lives on.
    pub fn team(&self) -> &Team {
        &self.layout.team
    }

    /// The rows of each rank.
    pub fn partition(&self) -> &Partition {
        &self.layout.partition
    }

    /// The rows of the ranks of this process.
    pub fn local_rows(&self) -> Range<usize> {
        let Layout { team, partition } = &self.layout;
        let local = team.local();
        partition.range(local.start).start..partition.range(local.end - 1).end
    }

    /// Replaces all values.
    ///
    /// # Errors
    /// [`Error::Length`] that names `values`; as [`Error::Rank`], what a device reports.
    pub fn write(&mut self, values: &[T]) -> Result<()> {
        check_length("values", self.len(), values.len())?;
        let Vector { layout: Layout { team, partition }, parts } = self;
        let first = team.local().start;
        team.each(|k, _| parts[k].write(&values[partition.range(first + k)])).map(drop)
    }

    /// Reads the rows of the ranks of this process, which in one process are all, into their place in `values`.
    ///
    /// # Errors
    /// As [`Vector::write`].
    pub fn read(&self, values: &mut [T]) -> Result<()> {
        check_length("values", self.len(), values.len())?;
        let Layout { team, partition } = &self.layout;
        let first = team.local().start;
        team.each(|k, _| self.parts[k].read(&mut values[partition.range(first + k)])).map(drop)
    }

    /// Sets every value to `value`.
    ///
    /// # Errors
    /// As [`Error::Rank`], those of the enqueue.
    pub fn fill(&mut self, value: T) -> Result<()> {
        let Vector { layout: Layout { team, .. }, parts } = self;
        team.each(|k, _| parts[k].fill(value)).map(drop)
    }

    /// Copies `source`.
    ///
    /// # Errors
    /// As [`Vector::update`].
    pub fn copy_from(&mut self, source: &Vector<T>) -> Result<()> {
        self.check_same(source, "source")?;
        let Vector { layout: Layout { team, .. }, parts } = self;
        team.each(|k, _| parts[k].copy_from(&source.parts[k])).map(drop)
    }

    /// y = alpha x + beta y, where this vector is y.
    ///
    /// # Errors
    /// [`Error::Context`] for a vector of another team; [`Error::Shape`] for another partition; as [`Error::Rank`], those of the
    /// enqueue.
    pub fn update(&mut self, alpha: T, x: &Vector<T>, beta: T) -> Result<()> {
        self.check_same(x, "x")?;
        let Vector { layout: Layout { team, .. }, parts } = self;
        team.each(|k, _| ops::update(alpha, &x.parts[k], beta, &mut parts[k])).map(drop)
    }

    /// z = x y, element by element, where this vector is z.
    ///
    /// # Errors
    /// As [`Vector::update`].
    pub fn set_product(&mut self, x: &Vector<T>, y: &Vector<T>) -> Result<()> {
        self.check_same(x, "x")?;
        self.check_same(y, "y")?;
        let Vector { layout: Layout { team, .. }, parts } = self;
        team.each(|k, _| ops::multiply(&x.parts[k], &y.parts[k], &mut parts[k])).map(drop)
    }

    /// The Euclidean norm, from those of the ranks in their order.
    ///
    /// # Errors
    /// As [`Error::Rank`], what a device reports.
    pub fn norm2(&self) -> Result<f64> {
        self.team().norm(self.team().each(|k, _| Ok(ops::norm2(&self.parts[k])?.into_f64()))?)
    }

    /// An error unless `other` is of the same team and partition.
    fn check_same(&self, other: &Vector<T>, argument: &'static str) -> Result<()> {
        other.check(&self.layout, self.len(), argument)
    }
}

impl<T: Real> SpaceVector for Vector<T> {
    type Scalar = T;
    type Space = Layout;
    type Dots = Dots<T>;

    fn size(&self) -> usize {
        self.len()
    }

    fn space(&self) -> &Layout {
        &self.layout
    }

    /// Whether both have the same team.
    fn is_same_space(one: &Layout, other: &Layout) -> bool {
        one.team.same(&other.team)
    }

    fn check(&self, layout: &Layout, size: usize, argument: &'static str) -> Result<()> {
        if !layout.team.same(self.team()) {
            return Err(Error::Context { argument });
        }
        check_length(argument, size, self.len())?;
        if layout.partition == self.layout.partition {
            return Ok(());
        }
        let rows = |partition: &Partition| format!("partitioned at rows {:?}", partition.starts());
        Err(Error::Shape { argument, expected: rows(&layout.partition), got: rows(self.partition()) })
    }

    unsafe fn uninit_like(&self) -> Result<Vector<T>> {
        Vector::zeros_in(&self.layout)
    }

    fn dots(&self) -> Result<Dots<T>> {
        Dots::new(self.team())
    }

    fn to_host(&self) -> Result<Vec<T>> {
        let mut values = vec![T::zero(); self.len()];
        self.read(&mut values)?;
        self.team().gather(self.partition(), 1, &mut values)?;
        Ok(values)
    }

    fn set_from_host(&mut self, values: &[T]) -> Result<()> {
        self.write(values)
    }

    fn set_all(&mut self, value: T) -> Result<()> {
        self.fill(value)
    }

    fn set_copy(&mut self, x: &Vector<T>) -> Result<()> {
        self.copy_from(x)
    }

    fn axpby(&mut self, alpha: T, x: &Vector<T>, beta: T) -> Result<()> {
        self.update(alpha, x, beta)
    }

    fn scale_by(&mut self, alpha: T) -> Result<()> {
        let Vector { layout, parts } = self;
        layout.team.each(|k, _| parts[k].scale_by(alpha)).map(drop)
    }

    fn set_products(&mut self, x: &Vector<T>, y: &Vector<T>) -> Result<()> {
        self.set_product(x, y)
    }

    fn set_scattered_signs(&mut self, x: &Vector<T>) -> Result<()> {
        self.check_same(x, "x")?;
        let Vector { layout, parts } = self;
        layout.team.each(|k, _| parts[k].set_scattered_signs(&x.parts[k])).map(drop)
    }

    fn norm(&self) -> Result<f64> {
        self.norm2()
    }

    fn dot(&self, y: &Vector<T>) -> Result<T> {
        self.check_same(y, "y")?;
        let parts = self.team().each(|k, _| Ok(ops::dot(&self.parts[k], &y.parts[k])?.into_f64()))?;
        Ok(T::from_f64(self.team().sum(parts)?))
    }
}

/// Dot products of vectors of a team: all devices form theirs at the same time, the sums are taken in the order of the ranks.
#[derive(Debug)]
pub struct Dots<T: Real> {
    team: Team,
    /// A part per rank of this process.
    parts: Vec<DotParts<T>>,
    /// The same of the squares of a norm.
    squares: Vec<DotParts<T>>,
}

impl<T: Real> Dots<T> {
    fn new(team: &Team) -> Result<Dots<T>> {
        let parts = || team.each(|_, context| DotParts::new(context));
        Ok(Dots { team: team.clone(), parts: parts()?, squares: parts()? })
    }
}

impl<T: Real> SpaceDots<T, Vector<T>> for Dots<T> {
    fn check_space(&self, layout: &Layout) -> Result<()> {
        if self.team.same(layout.team()) { Ok(()) } else { Err(Error::Context { argument: "dots" }) }
    }

    fn set_dot(&mut self, x: &Vector<T>, y: &Vector<T>) -> Result<()> {
        x.check_same(y, "y")?;
        let Dots { team, parts, .. } = self;
        team.each(|k, _| parts[k].set(&x.parts[k], &y.parts[k])).map(drop)
    }

    fn set_dots(&mut self, y: &Vector<T>, w: &Vector<T>) -> Result<()> {
        y.check_same(w, "w")?;
        let Dots { team, parts, .. } = self;
        team.each(|k, _| parts[k].set_pair(&y.parts[k], &w.parts[k])).map(drop)
    }

    fn first(&self) -> Result<f64> {
        self.team.flush()?;
        self.team.sum(self.team.each(|k, _| self.parts[k].value())?)
    }

    fn both(&self) -> Result<(f64, f64)> {
        self.team.flush()?;
        let parts = self.team.each(|k, _| self.parts[k].values().map(|(first, second)| vec![first, second]))?;
        let sums = self.team.all_reduce(Reduction::Sum, &parts)?;
        Ok((sums[0], sums[1]))
    }

    fn both_and_norm(&mut self, x: &Vector<T>) -> Result<((f64, f64), f64)> {
        let Dots { team, parts, squares } = self;
        team.each(|k, _| squares[k].set(&x.parts[k], &x.parts[k]))?;
        team.flush()?;
        let all = team.gathered(&team.each(|k, _| {
            let ((first, second), part) = (parts[k].values()?, &x.parts[k]);
            let norm = match norm_of_squares::<T>(squares[k].value()?, part.len()) {
                Some(norm) => norm,
                None => part.norm()?,
            };
            Ok(vec![first, second, norm])
        })?)?;
        let column = |j: usize| all.chunks_exact(3).map(move |rank| rank[j]);
        let norms: Vec<f64> = column(2).collect();
        Ok(((column(0).sum(), column(1).sum()), joined_norm(&norms)))
    }
}

/// Products with several vectors of a team: those of each rank, and their sums.
#[derive(Debug)]
pub struct Basis<T: Real> {
    team: Team,
    /// Of each rank of this process.
    parts: Vec<Projection<T>>,
    /// The coefficients of the orthogonalisations not yet read, and the norms before and after.
    made: Vec<(Vec<f64>, f64, f64)>,
}

/// The parts of rank `k` of this process.
fn parts_of<T: Real>(v: &[Vector<T>], k: usize) -> Vec<&crate::Vector<T>> {
    v.iter().map(|v| &v.parts[k]).collect()
}

impl<T: Real> Basis<T> {
    /// The dot products of w with the vectors `v` and, if `itself`, last with itself.
    fn products(&mut self, v: &[Vector<T>], itself: bool, w: &Vector<T>) -> Result<Vec<f64>> {
        let Basis { team, parts, .. } = self;
        team.each(|k, _| parts[k].enqueue_dots(&parts_of(v, k), itself, &w.parts[k]))?;
        team.flush()?;
        let count = v.len() + usize::from(itself);
        let sums = team.each(|k, _| {
            let mut products = vec![0.0; count];
            parts[k].read_dots(&mut products)?;
            Ok(products)
        })?;
        team.all_reduce(Reduction::Sum, &sums)
    }

    /// w -= V V'w twice. Returns the sums of the coefficients, and |w| before and after.
    fn project(&mut self, v: &[Vector<T>], w: &mut Vector<T>) -> Result<(Vec<f64>, f64, f64)> {
        let mut first = self.products(v, true, w)?;
        let before = first.pop().unwrap_or(0.0).sqrt();
        if v.is_empty() {
            return Ok((first, before, before));
        }
        let negative = |column: &[f64]| column.iter().map(|c| -c).collect::<Vec<_>>();
        self.combine(v, &negative(&first), w)?;
        let second = self.products(v, false, w)?;
        self.combine(v, &negative(&second), w)?;
        let after = self.products(&[], true, w)?[0].sqrt();
        Ok((first.iter().zip(&second).map(|(one, two)| one + two).collect(), before, after))
    }
}

impl<T: Real> BasisProducts<T, Vector<T>> for Basis<T> {
    fn at_once(&self) -> usize {
        1
    }

    fn orthogonalise(&mut self, v: &[Vector<T>], w: &mut Vector<T>) -> Result<f64> {
        Ok(self.project(v, w)?.2)
    }

    fn begin(&mut self) {
        self.made.clear();
    }

    fn extend(&mut self, v: &[Vector<T>], w: &mut Vector<T>) -> Result<()> {
        let made = self.project(v, w)?;
        // What follows an exhausted space is zero, and not looked at.
        w.scale_by(T::from_f64(if made.2 > 0.0 { 1.0 / made.2 } else { 0.0 }))?;
        self.made.push(made);
        Ok(())
    }

    fn read(&mut self, each: EachColumn<'_, f64>) -> Result<()> {
        let made = self.made.drain(..).enumerate();
        made.for_each(|(k, (column, before, after))| each(k, &column, before, after));
        Ok(())
    }

    fn dots(&mut self, v: &[Vector<T>], w: &Vector<T>, products: &mut [f64]) -> Result<()> {
        products.copy_from_slice(&self.products(v, false, w)?);
        Ok(())
    }

    fn combine(&mut self, v: &[Vector<T>], y: &[f64], x: &mut Vector<T>) -> Result<()> {
        let Basis { team, parts, .. } = self;
        team.each(|k, _| parts[k].combine(&parts_of(v, k), y, &mut x.parts[k])).map(drop)
    }
}

impl<T: Real> KrylovVector for Vector<T> {
    type Basis = Basis<T>;

    fn basis(&self, most: usize, _: usize) -> Result<Basis<T>> {
        let team = self.team();
        let parts = team.each(|k, context| Projection::new(context, self.parts[k].len(), most, 1))?;
        Ok(Basis { team: team.clone(), parts, made: Vec::new() })
    }

    fn cg_steps(&self) -> Result<Box<dyn CgSteps<T, Vector<T>>>> {
        Ok(Box::new(HostCg::new(self)?))
    }

    fn bicgstab_steps(&self) -> Result<Box<dyn BiCgStabSteps<T, Vector<T>>>> {
        Ok(Box::new(HostBiCgStab::new(self)?))
    }
}
