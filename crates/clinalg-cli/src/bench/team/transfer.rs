//! Times of transfers between host and devices and between devices, and of reductions.

use std::time::Instant;

use clinalg::ops::SpaceVector as _;
use clinalg::runtime::{Staging, View, ViewMut};
use clinalg::team::{Exchange, Message, Partition, Team, Vector};
use clinalg::{Buffer, Context, Real};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::median;
use crate::exit::Failure;

/// Transfers per sample: as many as move this many bytes, at most and at least so many.
const BYTES: usize = 1 << 26;
const CALLS: [usize; 2] = [4, 50];

/// Values of the vectors by which devices that work at the same time are compared with one.
const VALUES: usize = 1 << 21;

/// A transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Route {
    /// From device `from` to pinned memory of the host
    Read,
    /// From there to device `to`
    Write,
    /// From one device to the other
    OneWay,
    /// Between two devices, both ways at the same time
    BothWays,
    /// Between all neighbours of the team, both ways at the same time: a halo exchange
    Exchange,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Transfer {
    pub(super) transfer: Route,
    /// Ranks; null for the host or all
    pub(super) from: Option<usize>,
    pub(super) to: Option<usize>,
    /// Bytes of each message
    pub(super) bytes: usize,
    pub(super) seconds: f64,
    /// Bytes of a message over its time, in 10^9 per second
    pub(super) gb_per_s: f64,
}

/// 8 bytes, 64 bytes, and so on.
pub(super) fn sizes(most: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(8), |bytes| Some(8 * bytes)).take_while(move |bytes| *bytes <= most)
}

/// The seconds of `call`, median over samples.
fn seconds(
    samples: usize,
    bytes: usize,
    mut call: impl FnMut() -> Result<(), Failure>,
    mut finish: impl FnMut() -> Result<(), Failure>,
) -> Result<f64, Failure> {
    let calls = (BYTES / bytes).clamp(CALLS[0], CALLS[1]);
    let mut all = Vec::with_capacity(samples);
    for sample in 0..=samples {
        finish()?;
        let start = Instant::now();
        (0..calls).try_for_each(|_| call())?;
        finish()?;
        if sample > 0 {
            all.push(start.elapsed().as_secs_f64() / calls as f64);
        }
    }
    Ok(median(&all))
}

fn transfer(way: Route, from: Option<usize>, to: Option<usize>, bytes: usize, seconds: f64) -> Transfer {
    Transfer { transfer: way, from, to, bytes, seconds, gb_per_s: bytes as f64 / seconds * 1e-9 }
}

/// Reads and writes of one device.
pub(super) fn of_device(
    context: &Context,
    rank: usize,
    bytes: usize,
    samples: usize,
) -> Result<[Transfer; 2], Failure> {
    let values = bytes / 8;
    let mut buffer = Buffer::<f64>::zeroed(context, values)?;
    let mut staging = Staging::new(context);
    let finish = || Ok(context.finish()?);
    let read = seconds(samples, bytes, || Ok(View::from(&buffer).read_async(&mut staging)?.finish()?), finish)?;
    staging.set(&vec![0.0; values])?;
    let write =
        seconds(samples, bytes, || Ok(ViewMut::from(&mut buffer).write_async(&mut staging)?.finish()?), finish)?;
    Ok([transfer(Route::Read, Some(rank), None, bytes, read), transfer(Route::Write, None, Some(rank), bytes, write)])
}

/// Messages between the ranks of each pair, all at the same time.
fn exchange(team: &Team, pairs: &[(usize, usize)], bytes: usize, samples: usize) -> Result<f64, Failure> {
    let values = bytes / 8;
    // A rank sends to the rank after it from its first values, and to the one before from the second.
    let message = |&(from, to): &(usize, usize)| {
        let (source, target) = if from < to { (0, 2 * values) } else { (values, 3 * values) };
        Message { from, source, to, target, len: values }
    };
    let mut exchange = Exchange::<f64>::new(team, &pairs.iter().map(message).collect::<Vec<_>>())?;
    let mut parts = team.each(|_, context| Buffer::zeroed(context, 4 * values))?;
    seconds(samples, bytes, || Ok(exchange.run(&mut parts)?), || Ok(team.finish()?))
}

/// Messages between all pairs of neighbours, one pair after the other, and between all at once.
pub(super) fn of_team(team: &Team, bytes: usize, samples: usize) -> Result<Vec<Transfer>, Failure> {
    let mut all = Vec::new();
    let neighbours: Vec<_> = (1..team.ranks()).map(|rank| (rank - 1, rank)).collect();
    for &(a, b) in &neighbours {
        for (from, to) in [(a, b), (b, a)] {
            let time = exchange(team, &[(from, to)], bytes, samples)?;
            all.push(transfer(Route::OneWay, Some(from), Some(to), bytes, time));
        }
        let time = exchange(team, &[(a, b), (b, a)], bytes, samples)?;
        all.push(transfer(Route::BothWays, Some(a), Some(b), bytes, time));
    }
    all.push(transfer(Route::Exchange, None, None, bytes, exchange_seconds(team, bytes, samples)?));
    Ok(all)
}

/// Seconds of messages between all neighbours at the same time.
pub(super) fn exchange_seconds(team: &Team, bytes: usize, samples: usize) -> Result<f64, Failure> {
    let pairs: Vec<_> = (1..team.ranks()).flat_map(|rank| [(rank - 1, rank), (rank, rank - 1)]).collect();
    exchange(team, &pairs, bytes, samples)
}

/// Seconds of the norm of a vector with one value per rank: a kernel and a value read from each device.
pub(super) fn reduction<T: Real>(team: &Team, samples: usize) -> Result<f64, Failure> {
    let vector = Vector::<T>::zeros(team, &Partition::even(team.ranks(), team.ranks())?)?;
    seconds(samples, 8, || Ok(vector.norm2().map(drop)?), || Ok(team.finish()?))
}

/// How many times longer all devices take for the same work at the same time than the first one alone, at least 1: devices of one CPU share its cores.
pub(super) fn contention<T: Real>(team: &Team, samples: usize) -> Result<f64, Failure> {
    let first = Team::of_contexts(vec![team.contexts()[0].clone()])?;
    let [alone, together] = [&first, team].map(|team| {
        let ranks = team.ranks();
        let mut vector = Vector::<T>::zeros(team, &Partition::even(ranks * VALUES, ranks)?)?;
        seconds(samples, VALUES * size_of::<T>(), || Ok(vector.scale_by(T::one())?), || Ok(team.finish()?))
    });
    Ok((together? / alone?).max(1.0))
}
