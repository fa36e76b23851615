//! Products whose rows are distributed over the devices of a team.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clinalg::team::{Partition, Team};
use clinalg::{Dense, Real, Result, Vector};

use super::super::space::{Ranks, Shared};
use super::super::{HeatSpace, Kind};
use super::product::Span;
use super::{Form, HeatOperator, OperatorOptions};

/// The rows of the ranks from 1 on; those of rank 0 belong to the operator itself.
///
/// x goes to every device and y comes back through the host, once a product: rows times steps values against rows times columns
/// times steps entries.
#[derive(Debug)]
pub(super) struct Sharing<T: Real> {
    team: Team,
    partition: Partition,
    others: Vec<HeatOperator<T>>,
    transit: Mutex<Transit<T>>,
}

/// What travels. Products of several threads follow one another.
#[derive(Debug)]
struct Transit<T: Real> {
    x: Vec<T>,
    y: Vec<T>,
    /// What a rank owns of y.
    part: Vec<T>,
    /// x on each device from rank 1 on.
    inputs: Vec<Vector<T>>,
    /// What each rank owns of y, on its device.
    outputs: Vec<Vector<T>>,
}

impl<T: Real> HeatOperator<T> {
    /// An operator whose rows are distributed as the space says; the blocks of all devices are made at the same time.
    pub(super) fn shared_out(space: &HeatSpace<T>, kind: Kind, options: &OperatorOptions) -> Result<HeatOperator<T>> {
        let Some(ranks) = &space.ranks else {
            return HeatOperator::on(space.shared.clone(), kind, options, 0..kind.rows(space.mesh()));
        };
        let (team, rows) = (&ranks.team, kind.rows(space.mesh()));
        let partition = Partition::weighted(rows, &ranks.weights)?;
        let made: Vec<Result<HeatOperator<T>>> = std::thread::scope(|scope| {
            let spaces = std::iter::once(&space.shared).chain(&ranks.others).enumerate();
            let threads: Vec<_> = spaces
                .map(|(rank, shared)| {
                    let range = partition.range(rank);
                    scope.spawn(move || HeatOperator::on(shared.clone(), kind, options, range))
                })
                .collect();
            // A panic goes on here.
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let made = made.into_iter().enumerate().map(|(rank, made)| made.map_err(|error| team.at(rank, error)));
        let mut others = made.collect::<Result<Vec<_>>>()?;
        let mut operator = others.remove(0);
        let (steps, cols) = (operator.steps, operator.cols);
        let outputs = team.each(|rank, context| Vector::zeros(context, partition.range(rank).len() * steps))?;
        let mut inputs = team.each(|rank, context| Vector::zeros(context, if rank > 0 { cols * steps } else { 0 }))?;
        inputs.remove(0);
        let transit = Transit {
            x: vec![T::zero(); cols * steps],
            y: vec![T::zero(); rows * steps],
            part: Vec::new(),
            inputs,
            outputs,
        };
        operator.sharing = Some(Sharing { team: team.clone(), partition, others, transit: Mutex::new(transit) });
        Ok(operator)
    }
}

/// Rows of the products that devices are measured by.
const MEASURED: usize = 64;

impl<T: Real> HeatOperator<T> {
    /// What each rank gets done: products of some rows of V, computed on the fly.
    pub(in super::super) fn measured(ranks: &Ranks<T>, first: &Arc<Shared<T>>) -> Result<Vec<f64>> {
        let options = OperatorOptions { form: Form::Otf, ..OperatorOptions::default() };
        let rows = Kind::V.rows(&first.mesh).min(MEASURED);
        let mut parts = ranks.team.each(|rank, context| {
            let shared = rank.checked_sub(1).map_or(first, |other| &ranks.others[other]);
            let operator = HeatOperator::on(shared.clone(), Kind::V, &options, 0..rows)?;
            let [x, y] = [operator.cols, operator.rows].map(|n| Vector::zeros(context, n * operator.steps));
            Ok((operator, x?, y?))
        })?;
        ranks.team.measure(|rank, _| {
            let (operator, x, y) = &mut parts[rank];
            operator.product(Span { from: 0, steps: operator.steps }, T::one(), x, T::zero(), y)
        })
    }
}

impl<T: Real> Sharing<T> {
    /// The buffers. A panic of another thread leaves them as good as before: every product writes them anew.
    fn lock(&self) -> MutexGuard<'_, Transit<T>> {
        self.transit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows of all devices.
    pub(super) fn rows(&self) -> usize {
        self.partition.rows()
    }

    /// y = alpha A x + beta y over the time steps of `span`; `first` has the rows of rank 0, x and y are on its device.
    pub(super) fn apply(
        &self,
        first: &HeatOperator<T>,
        span: Span,
        alpha: T,
        x: &Vector<T>,
        beta: T,
        y: &mut Vector<T>,
    ) -> Result<()> {
        let steps = span.steps;
        let mut transit = self.lock();
        let Transit { x: host_x, y: host_y, part, inputs, outputs } = &mut *transit;
        let (host_x, host_y) = (&mut host_x[..x.len()], &mut host_y[..y.len()]);
        let rows = self.rows();
        // The rows of a rank in every time step, of the whole and of its part.
        let places = |range: Range<usize>| {
            let count = range.len();
            (0..steps).map(move |s| (s * rows + range.start..s * rows + range.end, s * count..(s + 1) * count))
        };
        x.read(host_x)?;
        if beta != T::zero() {
            y.read(host_y)?;
        }
        self.team.each(|rank, context| {
            let output = &mut outputs[rank];
            if beta != T::zero() {
                let range = self.partition.range(rank);
                part.resize(range.len() * steps, T::zero());
                places(range).for_each(|(whole, own)| part[own].copy_from_slice(&host_y[whole]));
                output.buffer_mut().write_range(0, part)?;
            }
            match rank.checked_sub(1) {
                None => first.product(span, alpha, x, beta, output)?,
                Some(other) => {
                    let input = &mut inputs[other];
                    input.buffer_mut().write_range(0, host_x)?;
                    self.others[other].product(span, alpha, input, beta, output)?;
                }
            }
            // The others begin meanwhile.
            context.queue().flush()
        })?;
        self.team.each(|rank, _| {
            let range = self.partition.range(rank);
            part.resize(range.len() * steps, T::zero());
            outputs[rank].buffer().read_range(0, part)?;
            places(range).for_each(|(whole, own)| host_y[whole].copy_from_slice(&part[own]));
            Ok(())
        })?;
        y.write(host_y)
    }

    /// Block `d` on the device of rank 0.
    pub(super) fn block(&self, first: &HeatOperator<T>, d: usize) -> Result<Dense<T>> {
        let (rows, cols) = (self.rows(), first.cols);
        let mut values = vec![T::zero(); rows * cols];
        self.team.each(|rank, _| {
            let operator = rank.checked_sub(1).map_or(first, |other| &self.others[other]);
            let (range, part) = (self.partition.range(rank), operator.own_block(d)?.to_column_major()?);
            for (whole, own) in values.chunks_exact_mut(rows).zip(part.chunks_exact(range.len())) {
                whole[range.clone()].copy_from_slice(own);
            }
            Ok(())
        })?;
        Dense::from_column_major(&first.shared.context, rows, cols, &values)
    }
}
