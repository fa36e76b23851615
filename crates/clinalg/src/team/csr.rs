//! Sparse matrices on a team.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Exchange, Layout, Message, Partition, Team, Vector};
use crate::error::check_length;
use crate::ops::{self, Operator, SpaceVector};
use crate::runtime::kernels::team as kernels;
use crate::runtime::{Out, View, ViewMut};
use crate::{Buffer, Context, CsrParts, Error, Real, Result};

/// A square sparse matrix whose rows are distributed.
///
/// A rank stores its rows, and in a product gets the values of x that they refer to and that other ranks own. Rows that refer to no
/// such value are multiplied while these travel. A product is that of one device to rounding: a device may store its rows in another
/// format than the whole matrix, and add them up in another order.
///
/// ```
/// use clinalg::ops::mv;
/// use clinalg::team::{Csr, Partition, Team, Vector};
/// use clinalg::{Context, ContextOptions, CsrParts, Device};
///
/// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
/// let team = Team::of_contexts(vec![context()?, context()?])?;
/// let a = CsrParts::from_triplets(2, 2, &[(0, 0, 4.0_f64), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)])?;
/// let partition = Partition::by_entries(&a.offsets, &[1.0, 1.0])?;
/// let a = Csr::new(&team, &a, &partition)?;
/// let x = Vector::from_slice(&team, &partition, &[1.0, 2.0])?;
/// let mut y = Vector::zeros(&team, &partition)?;
/// mv(1.0, &a, &x, 0.0, &mut y)?;
/// let mut values = [0.0; 2];
/// y.read(&mut values)?;
/// assert_eq!(values, [6.0, 7.0]);
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Csr<T: Real> {
    rows: Layout,
    columns: Layout,
    /// A product changes what the devices have of x.
    shared: Mutex<Shared<T>>,
}

/// The rows of each rank of this process, and the exchange between all ranks.
#[derive(Debug)]
struct Shared<T: Real> {
    parts: Vec<Part<T>>,
    exchange: Exchange<T>,
}

/// The rows of a rank.
#[derive(Debug)]
struct Part<T: Real> {
    /// The values of x that they refer to in the order of all rows: those of lower ranks, the rank's own, those of higher ranks.
    x: crate::Vector<T>,
    /// Where the own ones begin.
    own: usize,
    /// All rows; those of `boundary` are empty.
    interior: crate::Csr<T>,
    /// The rows that refer to values of other ranks, one after the other, their numbers and their product.
    boundary: crate::Csr<T>,
    rows: Buffer<u32>,
    product: crate::Vector<T>,
    /// Which own values other ranks get, and the values.
    list: Buffer<u32>,
    outbox: crate::Vector<T>,
}

/// The values that a rank gets and those that it sends.
struct Needs {
    /// Columns of other ranks that its rows refer to, in ascending order.
    columns: Vec<usize>,
    /// How many of them are below its own.
    below: usize,
}

impl Needs {
    fn new<T>(a: &CsrParts<T>, rows: Range<usize>, own: Range<usize>) -> Needs {
        let entries = &a.indices[a.offsets[rows.start]..a.offsets[rows.end]];
        let mut columns: Vec<usize> = entries.iter().copied().filter(|column| !own.contains(column)).collect();
        columns.sort_unstable();
        columns.dedup();
        let below = columns.partition_point(|&column| column < own.start);
        Needs { columns, below }
    }
}

impl<T: Real> Csr<T> {
    /// The matrix `a`, the same on every process, with the rows of `partition` on each rank.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `a` is square and has as many rows as `partition`; [`Error::Length`] for a partition among another
    /// number of ranks; those of [`CsrParts::check`]; as [`Error::Rank`], [`Error::Allocation`] and [`Error::NoFp64`].
    pub fn new(team: &Team, a: &CsrParts<T>, partition: &Partition) -> Result<Csr<T>> {
        a.check()?;
        check_length("partition", team.ranks(), partition.ranks())?;
        let n = partition.rows();
        if (a.rows, a.cols) != (n, n) {
            let (expected, got) = (format!("{n} x {n}"), format!("{} x {}", a.rows, a.cols));
            return Err(Error::Shape { argument: "a", expected, got });
        }
        Csr::shared_out(team, a, partition, partition)
    }

    /// The matrix `a`, whose columns are distributed as well: y is distributed as the rows, x as the columns.
    pub(super) fn shared_out(team: &Team, a: &CsrParts<T>, rows: &Partition, columns: &Partition) -> Result<Csr<T>> {
        let need = |rank: usize| Needs::new(a, rows.range(rank), columns.range(rank));
        let needs: Vec<Needs> = (0..columns.ranks()).map(need).collect();
        // What each rank sends, in the order of the receivers, and where it goes.
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); columns.ranks()];
        let mut messages = Vec::new();
        for (to, Needs { columns: needed, below }) in needs.iter().enumerate() {
            let mut k = 0;
            while k < needed.len() {
                let from = columns.owner(needed[k]);
                let owned = columns.range(from);
                let count = needed[k..].partition_point(|&column| column < owned.end);
                let target = if k < *below { k } else { k + columns.range(to).len() };
                messages.push(Message { from, source: lists[from].len(), to, target, len: count });
                lists[from].extend(needed[k..k + count].iter().map(|column| (column - owned.start) as u32));
                k += count;
            }
        }
        let first = team.local().start;
        let part = |k: usize, context: &Context| {
            let rank = first + k;
            Part::new(context, a, rows.range(rank), columns.range(rank), &needs[rank], &lists[rank])
        };
        let parts = team.each(part)?;
        let exchange = Exchange::new(team, &messages)?;
        let (rows, columns) = (Layout::new(team, rows)?, Layout::new(team, columns)?);
        Ok(Csr { rows, columns, shared: Mutex::new(Shared { parts, exchange }) })
    }

    /// How each rank of this process stores its rows, in a line each.
    pub fn explain(&self) -> String {
        let shared = self.lock();
        let lines = shared.parts.iter().zip(self.rows.team().local()).map(|(part, rank)| {
            let (rows, outside) = (part.interior.rows(), part.boundary.rows());
            format!(
                "rank {rank}: {rows} rows, {outside} of them with values of other ranks; {}",
                part.interior.explain()
            )
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// A vector of zeros for products with it.
    ///
    /// # Errors
    /// As [`Vector::zeros`].
    pub fn vector(&self) -> Result<Vector<T>> {
        Vector::zeros_in(&self.rows)
    }

    fn lock(&self) -> MutexGuard<'_, Shared<T>> {
        // A panic leaves a matrix as it was: a product changes only its scratch memory.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Real> Part<T> {
    fn new(
        context: &Context,
        a: &CsrParts<T>,
        own_rows: Range<usize>,
        own: Range<usize>,
        Needs { columns, below }: &Needs,
        list: &[u32],
    ) -> Result<Part<T>> {
        let cols = own.len() + columns.len();
        let place = |column: usize| {
            if own.contains(&column) {
                return column - own.start + below;
            }
            let k = columns.partition_point(|&other| other < column);
            if k < *below { k } else { k + own.len() }
        };
        let empty = || CsrParts { rows: 0, cols, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
        let (mut interior, mut boundary, mut rows) = (empty(), empty(), Vec::new());
        for i in own_rows.clone() {
            let outside = a.row(i).any(|(column, _)| !own.contains(&column));
            let target = if outside { &mut boundary } else { &mut interior };
            for (column, value) in a.row(i) {
                target.indices.push(place(column));
                target.values.push(value);
            }
            interior.offsets.push(interior.indices.len());
            if outside {
                boundary.offsets.push(boundary.indices.len());
                rows.push((i - own_rows.start) as u32);
            }
        }
        (interior.rows, boundary.rows) = (own_rows.len(), rows.len());
        Ok(Part {
            x: crate::Vector::zeros(context, cols)?,
            own: *below,
            interior: crate::Csr::from_parts(context, &interior)?,
            boundary: crate::Csr::from_parts(context, &boundary)?,
            product: crate::Vector::zeros(context, rows.len())?,
            rows: Buffer::from_slice(context, &rows)?,
            outbox: crate::Vector::zeros(context, list.len())?,
            list: Buffer::from_slice(context, list)?,
        })
    }

    /// Copies x, and the values that other ranks get.
    fn send(&mut self, x: &crate::Vector<T>) -> Result<()> {
        let own = self.own..self.own + x.len();
        self.x.slice_mut(own)?.copy_from(x)?;
        let (context, n) = (x.context(), self.list.len());
        if n == 0 {
            return Ok(());
        }
        let out = Out::shared(self.outbox.buffer());
        kernels::Program::<T>::new().pick_values(context, ops::items(context, n), n, &self.list, x.buffer(), out)
    }

    /// The rows that refer to values of other ranks, of alpha A x + y, or alpha A x where `fresh`.
    fn apply_boundary(&mut self, alpha: T, fresh: bool, y: &mut crate::Vector<T>) -> Result<()> {
        let (context, n) = (y.context().clone(), self.rows.len());
        if n == 0 {
            return Ok(());
        }
        let (program, items) = (kernels::Program::<T>::new(), ops::items(&context, n));
        let mut beta = T::zero();
        if !fresh {
            program.pick_values(&context, items, n, &self.rows, y.buffer(), Out::shared(self.product.buffer()))?;
            beta = T::one();
        }
        self.boundary.apply(alpha, &self.x, beta, &mut self.product)?;
        program.place_values(&context, items, n, &self.rows, self.product.buffer(), Out::shared(y.buffer()))
    }
}

impl<T: Real> Operator<T, Vector<T>> for Csr<T> {
    fn rows(&self) -> usize {
        self.rows.partition().rows()
    }

    fn cols(&self) -> usize {
        self.columns.partition().rows()
    }

    /// The layout of the rows.
    fn context(&self) -> &Layout {
        &self.rows
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        x.check(&self.columns, self.cols(), "x")?;
        y.check(&self.rows, self.rows(), "y")?;
        let team = self.rows.team();
        let Shared { parts, exchange } = &mut *self.lock();
        team.each(|k, _| parts[k].send(&x.parts[k]))?;
        let outboxes: Vec<View<'_, T>> = parts.iter().map(|part| (&part.outbox).into()).collect();
        let reads = exchange.begin(&outboxes)?;
        team.each(|k, context| {
            ops::mv(alpha, &parts[k].interior, &parts[k].x, beta, &mut y.parts[k])?;
            context.queue().flush()
        })?;
        drop(reads);
        let mut inboxes: Vec<ViewMut<'_, T>> = parts.iter_mut().map(|part| (&mut part.x).into()).collect();
        exchange.finish(&mut inboxes)?;
        team.each(|k, _| parts[k].apply_boundary(alpha, beta == T::zero(), &mut y.parts[k])).map(drop)
    }
}
