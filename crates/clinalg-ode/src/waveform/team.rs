//! Waveform relaxation on one or several devices with only the waveforms at boundaries of blocks in memory.
//!
//! Blocks read the previous iterate of others alone, so that devices need each other's waveforms once an iteration, not once a
//! step. Each device has the blocks that follow each other in its part of their order, and the stored waveforms of all points.

use std::ops::Range as Span;
use std::time::Instant;

use clinalg::runtime::{Arg, Buffer, GeneratedKernel, View, ViewMut};
use clinalg::team::{Exchange, Message, Partition as Ranks, Reduction, Team};
use clinalg::{Context, Real, Vector, ops};

use crate::model::System;
use crate::run::check_access;
use crate::team::{TeamOptions, measure};
use crate::waveform::boundary::Boundary;
use crate::waveform::control::{Control, See, TimeLoop, WaveformState, Window};
use crate::waveform::device::{Sweep, all_items, begin_args, check_state, constants, fits};
use crate::waveform::difference::{Difference, largest};
use crate::waveform::options::{Relaxation, Report, Storage, WaveformOptions};
use crate::waveform::partition::Partition;
use crate::waveform::stages::Stages;
use crate::waveform::{devices, kernel, stability};
use crate::{Error, Result};

/// Which waveforms devices send each other after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// All stored ones to all others: for right-hand sides that may read anything.
    General,
    /// Those that another device may read by the right-hand side's offsets.
    Limited,
    /// As [`Sharing::Limited`], but each device first integrates the blocks whose waveforms are sent. It integrates the others while these waveforms
    /// are in transit.
    EdgesFirst,
}

/// Bytes on each device: two waveforms of the stored points, their numbers, all components at both ends of the window.
///
/// # Errors
/// [`Error::Memory`] where they do not fit the device.
pub(super) fn memory<T: Real>(
    context: &Context,
    system: &System,
    options: &WaveformOptions,
    boundary: &Boundary,
) -> Result<u64> {
    let stored = (boundary.points.len() * system.fields().len()) as u128;
    let rows = options.window() as u128 * Stages::new(&options.method)?.count() as u128 + 1;
    let values = 2 * rows * stored + 2 * system.components() as u128;
    let indices = (boundary.numbers.len() + boundary.points.len()) as u128;
    fits(context, options, values * size_of::<T>() as u128 + 4 * indices)
}

/// As [`relax_windows`](crate::waveform::relax_windows) on the devices of a team, for blocks of points. Only the waveforms at block boundaries are
/// stored, whatever `options.storage` says. For [`Partition::Device`], as [`relax_by_devices`](crate::waveform::relax_by_devices).
///
/// Each device has consecutive blocks, distributed by `options.weights` or `options.balance`. The iterates are bitwise equal to those of one device;
/// differences are summed per device. The team may span several processes, all of which must make this call. The process of rank 0 gets the whole
/// solution, and `see` receives it there. The other processes get the components of their own ranks, and zeros elsewhere.
///
/// # Errors
/// Those of [`relax_windows`](crate::waveform::relax_windows); [`Error::Value`] for fewer blocks than devices, and for weights unless there is one
/// positive number per device; those of the network.
pub fn relax_on_team<T: Real>(
    team: &Team,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    sharing: Sharing,
    see: Option<See<'_, T>>,
) -> Result<Relaxation<T>> {
    relax_on_team_with(team, system, t0, y0, options, sharing, Control { see, ..Control::default() })
}

/// As [`relax_on_team`], watched, stopped or continued by `control`; one device alone keeps states and continues from them.
///
/// # Errors
/// Those of [`relax_on_team`]; [`Error::Value`] for states on several devices.
pub fn relax_on_team_with<T: Real>(
    team: &Team,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    sharing: Sharing,
    control: Control<'_, T>,
) -> Result<Relaxation<T>> {
    let options = WaveformOptions { storage: Storage::Boundary, ..options.clone() };
    if options.partition == Partition::Device {
        return devices::run(team, system, t0, y0, &options, &TeamOptions::default(), control);
    }
    run(team, system, t0, y0, &options, sharing, control)
}

/// A device with its blocks.
struct Part<T: Real> {
    context: Context,
    blocks: Span<usize>,
    /// The blocks that are integrated while the waveforms of the others are in transit.
    inner: Span<usize>,
    sweep: Sweep,
    begin: GeneratedKernel,
    gather: GeneratedKernel,
    difference: Difference<T>,
    pack: GeneratedKernel,
    unpack: GeneratedKernel,
    old: Buffer<T>,
    next: Buffer<T>,
    start: Buffer<T>,
    end: Buffer<T>,
    times: Buffer<T>,
    constants: Buffer<T>,
    numbers: Buffer<u32>,
    points: Buffer<u32>,
    /// Numbers of the points that are sent, for one receiver after the other, and their values.
    sent: Buffer<u32>,
    outbox: Buffer<T>,
    /// The same of those received.
    received: Buffer<u32>,
    inbox: Buffer<T>,
    counts: [usize; 2],
}

/// A buffer of these values; at least one, as there is no buffer without.
fn indices(context: &Context, values: &[u32]) -> Result<Buffer<u32>> {
    Ok(Buffer::from_slice(context, if values.is_empty() { &[0] } else { values })?)
}

impl<T: Real> Part<T> {
    #[expect(clippy::too_many_arguments, reason = "what all parts have in common, and what differs")]
    fn new(
        context: &Context,
        system: &System,
        y0: &[T],
        options: &WaveformOptions,
        stages: &Stages,
        boundary: &Boundary,
        [blocks, inner]: [Span<usize>; 2],
        [sent, received]: [&[u32]; 2],
    ) -> Result<Part<T>> {
        let (fields, rows) = (system.fields().len(), options.window() * stages.count());
        let zeros = |count: usize| Buffer::<T>::zeroed(context, count.max(1));
        let stored = boundary.points.len() * fields;
        let columns = boundary.starts[blocks.start] * fields..boundary.starts[blocks.end] * fields;
        let points: Vec<u32> = boundary.points.iter().map(|p| *p as u32).collect();
        let generated = |name: &'static str, source: String| GeneratedKernel::new(name, source, T::PRECISION);
        let part = Part {
            sweep: Sweep::new::<T>(context, system, options, stages, Some((boundary.points.len(), blocks.len())))?,
            begin: generated("waveform_begin", kernel::begin::<T>(stages)),
            gather: generated("waveform_gather", kernel::gather(system)),
            difference: Difference::new(context, rows, 0, stored, columns)?,
            pack: generated("waveform_pack", kernel::PACK.into()),
            unpack: generated("waveform_unpack", kernel::UNPACK.into()),
            blocks,
            inner,
            old: zeros((rows + 1) * stored)?,
            next: zeros((rows + 1) * stored)?,
            start: Buffer::from_slice(context, y0)?,
            end: zeros(y0.len())?,
            times: zeros(options.window())?,
            constants: constants(context, system)?,
            numbers: indices(context, &boundary.numbers)?,
            points: indices(context, &points)?,
            sent: indices(context, sent)?,
            outbox: zeros(sent.len() * rows * fields)?,
            received: indices(context, received)?,
            inbox: zeros(received.len() * rows * fields)?,
            counts: [sent.len(), received.len()],
            context: context.clone(),
        };
        let mut kernels =
            vec![part.sweep.kernel.clone(), part.begin.clone(), part.gather.clone(), part.difference.kernel.clone()];
        if part.counts != [0, 0] {
            kernels.extend([part.pack.clone(), part.unpack.clone()]);
        }
        context.prepare_generated(&kernels)?;
        Ok(part)
    }

    /// Makes the initial guess of a window of `rows` rows after one of `before`.
    fn first_guess(
        &mut self,
        options: &WaveformOptions,
        times: &[T],
        rows: usize,
        n: usize,
        fields: usize,
        before: usize,
    ) -> Result<()> {
        if before == 0 {
            let args = [Arg::size(n / fields), self.points.arg(), self.start.arg(), self.old.arg()];
            // SAFETY: the arguments are those of the kernel, in its order; `points` has the points of the n values of a row, and
            // `start` a value for each component.
            unsafe { self.context.launch_generated(&self.gather, all_items(&self.context, n), &args)? };
        }
        let args = begin_args(options, 0..n, before, rows, [self.old.arg(), self.next.arg()]);
        // SAFETY: as for waveforms of all components, whose rows have n values here.
        unsafe { self.context.launch_generated(&self.begin, all_items(&self.context, n), &args)? };
        Ok(self.times.write_range(0, times)?)
    }

    /// Takes up a window where it was stopped; `n` values are stored of each row.
    fn restore(&mut self, state: &WaveformState<T>, times: &[T], n: usize) -> Result<()> {
        let before = if state.before.is_empty() { &state.iterate } else { &state.before };
        let values = if state.before.is_empty() { 0 } else { self.next.len() };
        check_state(state, [self.start.len(), self.old.len(), values])?;
        self.start.write_range(0, &state.start)?;
        self.old.write_range(0, &state.iterate)?;
        self.next.write_range(0, before)?;
        self.next.write_range(0, &state.iterate[..n])?;
        Ok(self.times.write_range(0, times)?)
    }

    /// Integrates the given blocks over `steps` steps.
    fn integrate(&self, h: f64, steps: usize, blocks: Span<usize>) -> Result<()> {
        if blocks.is_empty() {
            return Ok(());
        }
        let more = [self.numbers.arg(), self.start.arg(), self.end.arg(), Arg::size(blocks.start)];
        let buffers = [&self.times, &self.constants, &self.old, &self.next];
        self.sweep.launch_blocks(&self.context, blocks.len(), h, steps, buffers, &more)
    }

    /// Integrates the blocks whose waveforms other devices may read, and packs up to `most` rows for sending.
    fn edges(&self, h: f64, steps: usize, n: usize, most: usize, fields: usize) -> Result<()> {
        self.integrate(h, steps, self.blocks.start..self.inner.start)?;
        self.integrate(h, steps, self.inner.end..self.blocks.end)?;
        self.move_rows(&self.pack, self.counts[0], [&self.next, &self.outbox], &self.sent, n, most, fields)?;
        Ok(self.context.queue().flush()?)
    }

    /// Integrates the other blocks, and enqueues the squared differences of the two iterates.
    fn rest(&self, h: f64, [steps, rows]: [usize; 2]) -> Result<()> {
        self.integrate(h, steps, self.inner.clone())?;
        self.difference.enqueue(rows, &self.old, &self.next)?;
        Ok(self.context.queue().flush()?)
    }

    /// Whether any value at the end of the window is not finite.
    fn is_broken(&self) -> Result<bool> {
        Ok(!ops::norm_inf(&Vector::from_view((&self.end).into())?)?.into_f64().is_finite())
    }

    #[expect(clippy::too_many_arguments, reason = "the arguments of the kernel")]
    fn move_rows(
        &self,
        kernel: &GeneratedKernel,
        points: usize,
        [waveform, list]: [&Buffer<T>; 2],
        numbers: &Buffer<u32>,
        n: usize,
        most: usize,
        fields: usize,
    ) -> Result<()> {
        if points == 0 {
            return Ok(());
        }
        let args = [
            Arg::size(n),
            Arg::size(most),
            Arg::size(fields),
            Arg::size(points),
            numbers.arg(),
            waveform.arg(),
            list.arg(),
        ];
        // SAFETY: the arguments are those of both kernels, in their order; `numbers` has so many points, the list as many
        // times `most` times `fields` values, the waveform `most` rows after the first.
        unsafe { self.context.launch_generated(kernel, all_items(&self.context, points * most * fields), &args)? };
        Ok(())
    }
}

/// The numbers of the stored points that belong to a rank.
fn own_numbers(boundary: &Boundary, ranks: &Ranks, rank: usize) -> Span<u32> {
    let blocks = ranks.range(rank);
    boundary.starts[blocks.start] as u32..boundary.starts[blocks.end] as u32
}

/// The longest run of blocks with no point that is sent.
fn inner(boundary: &Boundary, blocks: Span<usize>, sent: &[u32]) -> Span<usize> {
    let mut is_sent = vec![false; blocks.len()];
    for number in sent {
        let block = boundary.starts.partition_point(|start| *start <= *number as usize) - 1;
        is_sent[block - blocks.start] = true;
    }
    let (mut longest, mut begin) = (blocks.end..blocks.end, blocks.start);
    for (k, sent) in is_sent.iter().enumerate() {
        let end = blocks.start + k + 1;
        if *sent {
            begin = end;
        } else if end - begin > longest.len() {
            longest = begin..end;
        }
    }
    longest
}

/// The data that stay the same when blocks move from one device to another.
struct Case<'a> {
    team: &'a Team,
    system: &'a System,
    options: &'a WaveformOptions,
    stages: Stages,
    boundary: Boundary,
    sharing: Sharing,
}

impl Case<'_> {
    fn fields(&self) -> usize {
        self.system.fields().len()
    }

    /// Number of values in a row of the stored waveforms.
    fn width(&self) -> usize {
        self.boundary.points.len() * self.fields()
    }

    /// Most rows of a window, not counting the first.
    fn most(&self) -> usize {
        self.options.window() * self.stages.count()
    }

    fn blocks(&self) -> usize {
        self.boundary.starts.len() - 1
    }

    /// The blocks of each rank.
    fn ranks(&self, weights: &[f64]) -> Result<Ranks> {
        let (blocks, ranks) = (self.blocks(), self.team.ranks());
        if blocks < ranks {
            return Err(Error::value("blocks", format!("at least {ranks}, one for each device"), blocks));
        }
        if !weights.is_empty() && weights.len() != ranks {
            return Err(Error::value("weights", format!("{ranks}, one for each device"), weights.len()));
        }
        let even = vec![1.0; ranks];
        Ok(Ranks::weighted(blocks, if weights.is_empty() { &even } else { weights })?)
    }

    /// For each rank: the numbers of the other ranks' points that it reads, the numbers of its own points that others read, ordered by reader, and
    /// the messages.
    fn routes(&self, ranks: &Ranks) -> (Vec<Vec<u32>>, Vec<Vec<u32>>, Vec<Message>) {
        let stored = self.boundary.points.len() as u32;
        let count = self.team.ranks();
        let wanted = |rank: usize| {
            let own = own_numbers(&self.boundary, ranks, rank);
            match self.sharing {
                Sharing::General => (0..stored).filter(|k| !own.contains(k)).collect(),
                Sharing::Limited | Sharing::EdgesFirst => self.boundary.read_by(self.system, ranks.range(rank)),
            }
        };
        let wanted: Vec<Vec<u32>> = (0..count).map(wanted).collect();
        let (mut messages, mut sent) = (Vec::new(), vec![Vec::new(); count]);
        let width = self.most() * self.fields();
        for (to, numbers) in wanted.iter().enumerate() {
            for (from, sent) in sent.iter_mut().enumerate() {
                let own = own_numbers(&self.boundary, ranks, from);
                let first = numbers.partition_point(|k| *k < own.start);
                let last = numbers.partition_point(|k| *k < own.end);
                if first < last {
                    let (source, target) = (sent.len() * width, first * width);
                    messages.push(Message { from, source, to, target, len: (last - first) * width });
                    sent.extend_from_slice(&numbers[first..last]);
                }
            }
        }
        (wanted, sent, messages)
    }

    /// The components of a rank's blocks, block by block.
    fn components(&self, blocks: Span<usize>) -> impl Iterator<Item = usize> + '_ {
        let n = self.system.grid().n;
        blocks.flat_map(move |block| {
            let [xs, ys, zs] = self.boundary.points_of(block).clone();
            let points = zs.flat_map(move |z| {
                let xs = xs.clone();
                ys.clone().flat_map(move |y| xs.clone().map(move |x| x + n[0] * (y + n[1] * z)))
            });
            points.flat_map(move |p| (0..self.fields()).map(move |field| self.system.component(field, p)))
        })
    }
}

/// An end of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// The blocks of all devices.
struct Blocks<'a, T: Real> {
    case: &'a Case<'a>,
    ranks: Ranks,
    parts: Vec<Part<T>>,
    exchange: Exchange<T>,
}

impl<'a, T: Real> Blocks<'a, T> {
    fn new(case: &'a Case<'a>, y0: &[T], ranks: Ranks) -> Result<Blocks<'a, T>> {
        let Case { team, system, options, stages, boundary, sharing } = case;
        let (wanted, sent, messages) = case.routes(&ranks);
        let mut parts = Vec::new();
        for (k, context) in team.contexts().iter().enumerate() {
            let rank = team.local().start + k;
            let lists = [&sent[rank][..], &wanted[rank][..]];
            let blocks = ranks.range(rank);
            let inner = match sharing {
                Sharing::EdgesFirst => inner(boundary, blocks.clone(), &sent[rank]),
                _ => blocks.end..blocks.end,
            };
            let part = Part::new(context, system, y0, options, stages, boundary, [blocks, inner], lists);
            parts.push(part.map_err(|error| error.of_rank(team, k))?);
        }
        let exchange = Exchange::new(team, &messages)?;
        Ok(Blocks { case, ranks, parts, exchange })
    }

    /// Calls `work` on each part; errors name the rank.
    fn each(&mut self, mut work: impl FnMut(&mut Part<T>) -> Result<()>) -> Result<()> {
        let team = self.case.team;
        let mut parts = self.parts.iter_mut().enumerate();
        parts.try_for_each(|(k, part)| work(part).map_err(|error| error.of_rank(team, k)))
    }

    /// Measures the weight of each rank, by one iteration over these steps.
    fn measure(&mut self, times: &[T], steps: usize) -> Result<Vec<f64>> {
        let Case { team, options, .. } = self.case;
        let (n, fields, rows) = (self.case.width(), self.case.fields(), steps * self.case.stages.count());
        self.each(|part| part.first_guess(options, times, rows, n, fields, 0))?;
        let parts = &self.parts;
        measure(team, |k| parts[k].integrate(options.h, steps, parts[k].blocks.clone()))
    }

    /// One iteration over `steps` steps; returns the largest difference of a row from the previous iterate.
    fn iterate(&mut self, steps: usize) -> Result<f64> {
        let Case { team, options, stages, .. } = self.case;
        let (n, most, fields) = (self.case.width(), self.case.most(), self.case.fields());
        let rows = steps * stages.count();
        self.each(|part| part.edges(options.h, steps, n, most, fields))?;
        {
            let sources: Vec<View<'_, T>> = self.parts.iter().map(|part| (&part.outbox).into()).collect();
            // Dropped before the values are written, which may then change again.
            let _transfers = match self.case.sharing {
                Sharing::EdgesFirst => self.exchange.begin(&sources)?,
                _ => {
                    self.exchange.read(&sources)?;
                    Vec::new()
                }
            };
            for (k, part) in self.parts.iter().enumerate() {
                part.rest(options.h, [steps, rows]).map_err(|error| error.of_rank(team, k))?;
            }
        }
        let mut targets: Vec<ViewMut<'_, T>> = self.parts.iter_mut().map(|part| (&mut part.inbox).into()).collect();
        self.exchange.finish(&mut targets)?;
        drop(targets);
        let mut squares = Vec::new();
        for (k, part) in self.parts.iter().enumerate() {
            squares.push(part.difference.read(rows).map_err(|error| error.of_rank(team, k))?);
        }
        self.each(|part| {
            let points = part.counts[1];
            part.move_rows(&part.unpack, points, [&part.next, &part.inbox], &part.received, n, most, fields)?;
            std::mem::swap(&mut part.old, &mut part.next);
            Ok(())
        })?;
        Ok(largest(team.all_reduce(Reduction::Sum, &squares)?.into_iter()))
    }

    /// Whether any rank has a non-finite value at the end of the window.
    fn is_broken(&self) -> Result<bool> {
        let team = self.case.team;
        let mut broken = Vec::new();
        for (k, part) in self.parts.iter().enumerate() {
            broken.push(vec![f64::from(u8::from(part.is_broken().map_err(|error| error.of_rank(team, k))?))]);
        }
        Ok(team.all_reduce(Reduction::Max, &broken)?[0] > 0.0)
    }

    /// Reads the solution at an end of the window; the process of rank 0 gets all of it. Returns the first non-finite component over all ranks.
    fn collect(&self, end: End, solution: &mut [T]) -> Result<Option<usize>> {
        let (case, team) = (self.case, self.case.team);
        let mut all = vec![T::zero(); solution.len()];
        let mut first = solution.len();
        for (k, part) in self.parts.iter().enumerate() {
            let values = if end == End::First { &part.start } else { &part.end };
            values.read(&mut all).map_err(|error| Error::from(error).of_rank(team, k))?;
            for c in case.components(part.blocks.clone()) {
                solution[c] = all[c];
                first = if all[c].is_finite() { first } else { first.min(c) };
            }
        }
        self.gather(solution)?;
        let worst = vec![vec![(solution.len() - first) as f64]; self.parts.len()];
        let worst = team.all_reduce(Reduction::Max, &worst)?[0] as usize;
        Ok((worst > 0).then(|| solution.len() - worst))
    }

    /// Sends the components of the other processes to the process of rank 0.
    fn gather(&self, solution: &mut [T]) -> Result<()> {
        let (case, team) = (self.case, self.case.team);
        if team.local().len() == team.ranks() {
            return Ok(());
        }
        let order: Vec<usize> = case.components(0..case.blocks()).collect();
        let mut by_blocks: Vec<T> = order.iter().map(|c| solution[*c]).collect();
        let mut end = 0;
        let ranges: Vec<Span<usize>> = (0..team.ranks())
            .map(|rank| {
                let begin = end;
                end += case.components(self.ranks.range(rank)).count();
                begin..end
            })
            .collect();
        team.gather_ranges(&ranges, &mut by_blocks)?;
        order.into_iter().zip(by_blocks).for_each(|(c, value)| solution[c] = value);
        Ok(())
    }
}

pub(super) fn run<T: Real>(
    team: &Team,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    sharing: Sharing,
    control: Control<'_, T>,
) -> Result<Relaxation<T>> {
    options.check(system, y0)?;
    let boundary = Boundary::new(system, &options.partition)?;
    let stages = Stages::new(&options.method)?;
    let case = Case { team, system, options, stages, boundary, sharing };
    let ranks = case.ranks(&options.weights)?;
    let mut bytes = Vec::new();
    for context in team.contexts() {
        context.require::<T>()?;
        bytes.push(vec![memory::<T>(context, system, options, &case.boundary)? as f64]);
    }
    let memory_bytes = team.all_reduce(Reduction::Sum, &bytes)?[0] as u64;
    check_access(&team.contexts()[0], system, t0, y0)?;
    stability::check(&team.contexts()[0], Some(team), system, t0, y0, options)?;
    let mut blocks = Blocks::new(&case, y0, ranks)?;
    let (n, fields, count) = (case.width(), case.fields(), case.stages.count());
    let times_of = |range: Span<usize>| -> Vec<T> { options.times(t0, range).into_iter().map(T::from_f64).collect() };
    if options.balance && team.ranks() > 1 {
        let steps = options.window();
        let weights = blocks.measure(&times_of(0..steps), steps)?;
        drop(blocks);
        blocks = Blocks::new(&case, y0, case.ranks(&weights)?)?;
    }
    let part = case.boundary.points.len() as f64 / system.grid().points() as f64;
    let mut time_loop =
        TimeLoop::new(options, team.ranks(), Report::new(memory_bytes, options.words(part, count)), control)?;
    let mut solution = vec![T::zero(); y0.len()];
    team.finish()?;
    while let Some(Window { steps: range, number: window, mut history }) = time_loop.next() {
        let (steps, begun) = (range.len(), Instant::now());
        let (rows, times) = (steps * count, times_of(range.clone()));
        match time_loop.take_state() {
            Some(state) => blocks.each(|part| part.restore(state, &times, n))?,
            None => blocks.each(|part| {
                if time_loop.before > 0 {
                    std::mem::swap(&mut part.start, &mut part.end);
                }
                part.first_guess(options, &times, rows, n, fields, time_loop.before * count)
            })?,
        }
        let mut ended = false;
        // Finite termination: the iteration after as many others as rows changes nothing.
        for iteration in history.len() + 1..=rows + 1 {
            if time_loop.stopped() {
                break;
            }
            let difference = blocks.iterate(steps)?;
            history.push(difference);
            time_loop.iterated(difference);
            ended = options.ends(iteration, difference);
            if !difference.is_finite() || ended && blocks.is_broken()? {
                let component = blocks.collect(End::Last, &mut solution)?.unwrap_or(0);
                return Err(Error::Waveform { window, iteration, component });
            }
            if ended {
                break;
            }
        }
        if !ended && time_loop.stopped() {
            blocks.collect(End::First, &mut solution)?;
            let state = time_loop.stop(&range, history, begun.elapsed(), || {
                // States are those of one device.
                let part = &blocks.parts[0];
                let before = if options.adaptive.is_some() { part.next.to_vec()? } else { Vec::new() };
                Ok([solution.clone(), part.old.to_vec()?, before])
            })?;
            let (t, report) = (options.time(t0, range.start), time_loop.report);
            return Ok(Relaxation { solution, t, stopped: true, state, waveform: Vec::new(), report });
        }
        options.terminated(window, &history)?;
        time_loop.ended(steps, history, begun.elapsed());
        if let Some(see) = time_loop.see() {
            blocks.collect(End::Last, &mut solution)?;
            see(options.time(t0, range.end), &solution)?;
        }
    }
    blocks.collect(End::Last, &mut solution)?;
    let (t, report) = (options.time(t0, options.steps), time_loop.report);
    Ok(Relaxation { solution, t, stopped: false, state: None, waveform: Vec::new(), report })
}
