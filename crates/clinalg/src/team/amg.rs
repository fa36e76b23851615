//! Algebraic multigrid on a team.

use std::fmt;

use super::{Csr, Exchange, Layout, Message, Partition, Reduction, Team, Vector};
use crate::amg::{self, AmgParams, AmgReport, Cycle, HostLevel, Smoother, Step};
use crate::error::check_length;
use crate::ops::{SpaceVector, mv};
use crate::runtime::{View, ViewMut};
use crate::solve::Preconditioner;
use crate::{CsrParts, Error, Real, Result};

/// Algebraic multigrid as a preconditioner on a team: a cycle of [`amg::Amg`], to rounding.
///
/// The hierarchy is set up on the device of rank 0, whose memory has to hold it meanwhile. Its finer levels are then distributed by rows;
/// the first level of at most [`Amg::GATHERED`] rows, and the coarser ones, stay on that device. A cycle exchanges values at each product of a
/// shared level.
///
/// ```
/// use clinalg::amg::AmgParams;
/// use clinalg::solve::{Cg, CgParams, Solver};
/// use clinalg::team::{Amg, Csr, Partition, Team, Vector};
/// use clinalg::{Context, ContextOptions, CsrParts, Device};
///
/// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
/// let team = Team::of_contexts(vec![context()?, context()?])?;
/// let n = 1000;
/// let entries = |i: usize| [(i, i, 2.0), (i, i.wrapping_sub(1), -1.0), (i, i + 1, -1.0)];
/// let entries: Vec<_> = (0..n).flat_map(entries).filter(|&(_, j, _)| j < n).collect();
/// let a = CsrParts::from_triplets(n, n, &entries)?;
/// let partition = Partition::by_entries(&a.offsets, &[1.0, 1.0])?;
/// let mut m = Amg::new(&team, &a, &partition, &AmgParams::default())?;
/// let a = Csr::new(&team, &a, &partition)?;
/// let b = Vector::from_slice(&team, &partition, &vec![1.0; n])?;
/// let mut x = a.vector()?;
/// let report = Cg::like(&b, CgParams::default())?.solve(&a, Some(&mut m), &b, &mut x)?;
/// assert!(report.stop.is_success() && report.iterations < 40);
/// # Ok::<(), clinalg::Error>(())
/// ```
pub struct Amg<T: Real> {
    /// Of the finest level.
    layout: Layout,
    cycle: Cycle,
    levels: Vec<Level<T>>,
    end: Gathered<T>,
    report: Option<AmgReport>,
}

/// A level whose rows are distributed, and the way to the next coarser one.
struct Level<T: Real> {
    a: Csr<T>,
    inverse: Vector<T>,
    steps: Vec<(f64, f64)>,
    step: Vector<T>,
    product: Vector<T>,
    prolong: Csr<T>,
    restrict: Csr<T>,
    b: Vector<T>,
    x: Vector<T>,
}

/// The levels on the device of rank 0, with what brings vectors there and back.
struct Gathered<T: Real> {
    gather: Exchange<T>,
    scatter: Exchange<T>,
    /// In the process of rank 0: the hierarchy, b and x.
    root: Option<(amg::Amg<T>, crate::Vector<T>, crate::Vector<T>)>,
    /// What the other ranks have of b and x.
    none: Vec<crate::Vector<T>>,
}

impl<T: Real> fmt::Debug for Amg<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Amg { layout, levels, report, .. } = self;
        f.debug_struct("Amg")
            .field("team", layout.team())
            .field("shared", &levels.len())
            .field("report", report)
            .finish()
    }
}

/// The rows of each rank on the next coarser level: each rank has as many consecutive coarse unknowns as have their mean row in the prolongator
/// among its rows, and at least one. `None` with fewer coarse unknowns than ranks.
fn coarse_partition<T: Real>(prolong: &CsrParts<T>, fine: &Partition) -> Result<Option<Partition>> {
    let (ranks, cols) = (fine.ranks(), prolong.cols);
    if cols < ranks {
        return Ok(None);
    }
    let (mut sum, mut count) = (vec![0.0_f64; cols], vec![0_usize; cols]);
    for (row, col, _) in prolong.triplets() {
        sum[col] += row as f64;
        count[col] += 1;
    }
    let mut starts = vec![0];
    for rank in 1..ranks {
        let first = fine.range(rank).start as f64;
        let before = sum.iter().zip(&count).filter(|&(sum, &count)| *sum < first * count as f64).count();
        starts.push(before.clamp(starts[rank - 1] + 1, cols - (ranks - rank)));
    }
    starts.push(cols);
    Partition::from_starts(starts).map(Some)
}

impl<T: Real> Amg<T> {
    /// The finest level of at most this many rows, and all coarser ones, stay on one device.
    pub const GATHERED: usize = 20_000;

    /// The hierarchy for `a`, the same on every process, with constant near-null vectors, one for each unknown of a node. Cycles are V or W.
    ///
    /// # Errors
    /// As [`amg::Amg::new`], as [`Error::Rank`]; [`Error::Value`] for K-cycles, Gauss-Seidel sweeps, a hierarchy in single precision or a reusable one; [`Error::Shape`]
    /// unless `a` has the rows of `partition`; [`Error::Length`] for a partition among another number of ranks.
    pub fn new(team: &Team, a: &CsrParts<T>, partition: &Partition, params: &AmgParams) -> Result<Amg<T>> {
        Amg::gathered_from(team, a, partition, None, params, Self::GATHERED)
    }

    /// The hierarchy for `a` with `count` near-null vectors, one after the other.
    ///
    /// # Errors
    /// As [`Amg::new`] and [`amg::Amg::with_near_null`].
    pub fn with_near_null(
        team: &Team,
        a: &CsrParts<T>,
        partition: &Partition,
        (vectors, count): (&[T], usize),
        params: &AmgParams,
    ) -> Result<Amg<T>> {
        Amg::gathered_from(team, a, partition, Some((vectors, count)), params, Self::GATHERED)
    }

    /// [`Amg::new`], or [`Amg::with_near_null`] where near-null vectors are given, with levels on one device from one of at most `rows` rows on.
    ///
    /// # Errors
    /// As these.
    pub fn gathered_from(
        team: &Team,
        a: &CsrParts<T>,
        partition: &Partition,
        near: Option<(&[T], usize)>,
        params: &AmgParams,
        rows: usize,
    ) -> Result<Amg<T>> {
        let sweeps = matches!(params.smoother, Some(Smoother::GaussSeidel(_)));
        let refused = [
            (sweeps, "smoother", "chebyshev, l1-jacobi or spai0 on several devices", "gauss-seidel"),
            (params.cycle == Cycle::K, "cycle", "v or w on several devices", "k"),
            (params.single, "single", "false on several devices", "true"),
            (params.reusable, "reusable", "false on several devices", "true"),
        ];
        if let Some((_, name, expected, got)) = refused.into_iter().find(|refused| refused.0) {
            return Err(Error::value(name, expected, got));
        }
        check_length("partition", team.ranks(), partition.ranks())?;
        let n = partition.rows();
        if (a.rows, a.cols) != (n, n) {
            let (expected, got) = (format!("{n} x {n}"), format!("{} x {}", a.rows, a.cols));
            return Err(Error::Shape { argument: "a", expected, got });
        }
        let is_root = team.local().contains(&0);
        let make = || -> Result<(amg::Amg<T>, AmgReport, Vec<HostLevel<T>>)> {
            let whole = crate::Csr::from_parts(&team.contexts()[0], a)?;
            let mut m = match near {
                Some((vectors, count)) => amg::Amg::with_near_null(&whole, vectors, count, params)?,
                None => amg::Amg::new(&whole, params)?,
            };
            let report = m.report().clone();
            let is_shared = |own: usize, coarser: usize| own > rows && coarser >= team.ranks();
            let levels = m.take_finest(is_shared)?;
            Ok((m, report, levels))
        };
        let made = is_root.then(make);
        let failed = f64::from(u8::from(matches!(made, Some(Err(_)))));
        let failed = team.all_reduce(Reduction::Max, &vec![vec![failed]; team.local().len()])?[0] > 0.0;
        let made = match made {
            Some(made) => Some(made.map_err(|error| team.at(0, error))?),
            None if failed => {
                return Err(Error::value("a", "a matrix that rank 0 can coarsen", "an error there, which it reports"));
            }
            None => None,
        };
        let (root, report, host) = match made {
            Some((m, report, levels)) => (Some(m), Some(report), levels),
            None => (None, None, Vec::new()),
        };
        let host = from_root(team, host)?;
        let mut levels = Vec::with_capacity(host.len());
        let mut fine = partition.clone();
        for HostLevel { a, inverse, steps, prolong } in host {
            let coarse = coarse_partition(&prolong, &fine)?.expect("a shared level has a coarse unknown for each rank");
            let restrict = prolong.transpose()?;
            levels.push(Level {
                a: Csr::new(team, &a, &fine)?,
                inverse: Vector::from_slice(team, &fine, &inverse)?,
                steps,
                step: Vector::zeros(team, &fine)?,
                product: Vector::zeros(team, &fine)?,
                prolong: Csr::shared_out(team, &prolong, &fine, &coarse)?,
                restrict: Csr::shared_out(team, &restrict, &coarse, &fine)?,
                b: Vector::zeros(team, &coarse)?,
                x: Vector::zeros(team, &coarse)?,
            });
            fine = coarse;
        }
        let end = Gathered::new(team, fine, root)?;
        Ok(Amg { layout: Layout::new(team, partition)?, cycle: params.cycle, levels, end, report })
    }

    /// Levels, sizes and complexities of the whole hierarchy, in the process of rank 0.
    pub fn report(&self) -> Option<&AmgReport> {
        self.report.as_ref()
    }

    /// How many levels are distributed.
    pub fn shared_levels(&self) -> usize {
        self.levels.len()
    }
}

impl<T: Real> Gathered<T> {
    fn new(team: &Team, partition: Partition, root: Option<amg::Amg<T>>) -> Result<Gathered<T>> {
        let stored: Vec<_> = (0..partition.ranks()).map(|rank| partition.range(rank)).collect();
        let rows = partition.rows();
        let vector = || crate::Vector::zeros(&team.contexts()[0], rows);
        let with_vectors = |m| -> Result<_> { Ok((m, vector()?, vector()?)) };
        Ok(Gathered {
            gather: Exchange::new(team, &Message::gather(&partition, &stored, 1, 0)?)?,
            scatter: Exchange::new(team, &Message::scatter(&stored, 1, 0)?)?,
            root: root.map(with_vectors).transpose().map_err(|error| team.at(0, error))?,
            none: team.each(|_, context| crate::Vector::zeros(context, 0))?,
        })
    }

    fn visit(&mut self, from: &Vector<T>, to: &mut Vector<T>, fresh: bool) -> Result<()> {
        let Gathered { gather, scatter, root, none, .. } = self;
        let sources: Vec<View<'_, T>> = from.parts.iter().map(Into::into).collect();
        gather.read(&sources)?;
        let mut targets: Vec<ViewMut<'_, T>> = none.iter_mut().map(Into::into).collect();
        if let Some((_, b, _)) = root {
            targets[0] = b.into();
        }
        gather.finish(&mut targets)?;
        if let Some((m, b, x)) = root {
            // x is still here where the visit is not the first.
            m.visit(b, x, fresh).map_err(|error| from.team().at(0, error))?;
        }
        let mut sources: Vec<View<'_, T>> = none.iter().map(Into::into).collect();
        if let Some((_, _, x)) = root {
            sources[0] = (&*x).into();
        }
        scatter.read(&sources)?;
        let mut targets: Vec<ViewMut<'_, T>> = to.parts.iter_mut().map(Into::into).collect();
        scatter.finish(&mut targets)
    }
}

/// x after the steps of the smoother, from 0 where `fresh`.
fn smooth<T: Real>(level: &mut Level<T>, b: &Vector<T>, x: &mut Vector<T>, fresh: bool) -> Result<()> {
    let Level { a, inverse, steps, step, product, .. } = level;
    for (k, &weights) in steps.iter().enumerate() {
        let from_zero = k == 0 && fresh;
        if !from_zero {
            mv(T::one(), a, x, T::zero(), product)?;
        }
        let team = inverse.team();
        team.each(|r, _| {
            let product = (!from_zero).then_some(&product.parts[r]);
            let (inverse, b) = (&inverse.parts[r], &b.parts[r]);
            Step { weights, inverse, b, product }.take(&mut step.parts[r], &mut x.parts[r])
        })?;
    }
    Ok(())
}

/// A cycle for A x = b, from x = 0 where `fresh`.
fn visit<T: Real>(
    levels: &mut [Level<T>],
    end: &mut Gathered<T>,
    cycle: Cycle,
    b: &Vector<T>,
    x: &mut Vector<T>,
    fresh: bool,
) -> Result<()> {
    let Some((level, coarser)) = levels.split_first_mut() else { return end.visit(b, x, fresh) };
    smooth(level, b, x, fresh)?;
    mv(T::one(), &level.a, x, T::zero(), &mut level.product)?;
    level.product.update(T::one(), b, -T::one())?;
    mv(T::one(), &level.restrict, &level.product, T::zero(), &mut level.b)?;
    let visits = if cycle == Cycle::W { 2 } else { 1 };
    (0..visits).try_for_each(|k| visit(coarser, end, cycle, &level.b, &mut level.x, k == 0))?;
    mv(T::one(), &level.prolong, &level.x, T::zero(), &mut level.product)?;
    x.update(T::one(), &level.product, T::one())?;
    smooth(level, b, x, false)
}

impl<T: Real> Preconditioner<T, Vector<T>> for Amg<T> {
    fn size(&self) -> usize {
        self.layout.partition().rows()
    }

    fn context(&self) -> &Layout {
        &self.layout
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        let Amg { layout, cycle, levels, end, .. } = self;
        for (argument, vector) in [("r", r), ("z", &*z)] {
            vector.check(layout, layout.partition().rows(), argument)?;
        }
        visit(levels, end, *cycle, r, z, true)
    }
}

/// The levels that the process of rank 0 has, on all processes.
fn from_root<T: Real>(team: &Team, levels: Vec<HostLevel<T>>) -> Result<Vec<HostLevel<T>>> {
    if team.local().len() == team.ranks() {
        return Ok(levels);
    }
    let count = team.broadcast(vec![levels.len()])?[0];
    let mut levels = levels.into_iter();
    (0..count)
        .map(|_| {
            let level = levels.next();
            let parts = |of: fn(&HostLevel<T>) -> &CsrParts<T>| -> Result<CsrParts<T>> {
                let a = level.as_ref().map(of);
                let shape = team.broadcast(a.map_or(Vec::new(), |a| vec![a.rows, a.cols]))?;
                Ok(CsrParts {
                    rows: shape[0],
                    cols: shape[1],
                    offsets: team.broadcast(a.map_or(Vec::new(), |a| a.offsets.clone()))?,
                    indices: team.broadcast(a.map_or(Vec::new(), |a| a.indices.clone()))?,
                    values: team.broadcast(a.map_or(Vec::new(), |a| a.values.clone()))?,
                })
            };
            let (a, prolong) = (parts(|level| &level.a)?, parts(|level| &level.prolong)?);
            let steps = level.as_ref().map_or(&[][..], |level| &level.steps).iter().flat_map(|s| [s.0, s.1]).collect();
            let steps = team.broadcast::<f64>(steps)?.chunks_exact(2).map(|s| (s[0], s[1])).collect();
            let inverse = team.broadcast(level.as_ref().map_or(Vec::new(), |level| level.inverse.clone()))?;
            Ok(HostLevel { a, inverse, steps, prolong })
        })
        .collect()
}
