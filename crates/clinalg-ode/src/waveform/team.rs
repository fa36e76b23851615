//! Waveform relaxation on one or several devices with only the waveforms at boundaries of blocks in memory.
//!
//! Blocks read the previous iterate of others alone, so that devices need each other's waveforms once an iteration, not once a
//! step. Each device has the blocks that follow each other in its part of their order, and the stored waveforms of all points.

use std::ops::Range as Span;

use clinalg::runtime::{Arg, Buffer, GeneratedKernel};
use clinalg::team::{Exchange, Message, Partition as Ranks, Team};
use clinalg::{Context, Real};

use crate::model::System;
use crate::team::TeamOptions;
use crate::waveform::boundary::Boundary;
use crate::waveform::device::{
    See, Sweep, all_items, begin_args, constants, difference_args, fits, largest, rows_range,
};
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

/// As [`relax_windows`](crate::waveform::relax_windows) on the devices of a team, for blocks of points and with only waveforms at their
/// boundaries stored, whatever `options.storage` says; for [`Partition::Device`] as [`relax_by_devices`](crate::waveform::relax_by_devices). The iterates have the bits of one device; differences are summed device by
/// device.
///
/// # Errors
/// Those of [`relax_windows`](crate::waveform::relax_windows); [`Error::Value`] for fewer blocks than devices; [`Error::Variant`] for a team of several
/// processes, which takes [`relax_by_devices`](crate::waveform::relax_by_devices).
pub fn relax_on_team<T: Real>(
    team: &Team,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    sharing: Sharing,
    mut see: impl FnMut(f64, &[T]) -> Result<()>,
) -> Result<Relaxation<T>> {
    let options = WaveformOptions { storage: Storage::Boundary, ..options.clone() };
    if options.partition == Partition::Device {
        return devices::run(team, system, t0, y0, &options, &TeamOptions::default(), Some(&mut see));
    }
    run(team, system, t0, y0, &options, sharing, Some(&mut see))
}

/// A device with its blocks.
struct Part<T: Real> {
    context: Context,
    blocks: Span<usize>,
    /// Its stored columns.
    columns: Span<usize>,
    sweep: Sweep,
    begin: GeneratedKernel,
    gather: GeneratedKernel,
    compare: GeneratedKernel,
    pack: GeneratedKernel,
    unpack: GeneratedKernel,
    old: Buffer<T>,
    next: Buffer<T>,
    start: Buffer<T>,
    end: Buffer<T>,
    times: Buffer<T>,
    squares: Buffer<T>,
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
        blocks: Span<usize>,
        [sent, received]: [&[u32]; 2],
    ) -> Result<Part<T>> {
        let (fields, rows) = (system.fields().len(), options.window() * stages.count());
        let zeros = |count: usize| Buffer::<T>::zeroed(context, count.max(1));
        let stored = boundary.points.len() * fields;
        let points: Vec<u32> = boundary.points.iter().map(|p| *p as u32).collect();
        let generated = |name: &'static str, source: String| GeneratedKernel::new(name, source, T::PRECISION);
        let part = Part {
            sweep: Sweep::new::<T>(context, system, options, stages, Some((boundary.points.len(), blocks.len())))?,
            begin: generated("waveform_begin", kernel::begin::<T>(stages)),
            gather: generated("waveform_gather", kernel::gather(system)),
            compare: generated("waveform_difference", kernel::difference(context.family()).into()),
            pack: generated("waveform_pack", kernel::PACK.into()),
            unpack: generated("waveform_unpack", kernel::UNPACK.into()),
            columns: boundary.starts[blocks.start] * fields..boundary.starts[blocks.end] * fields,
            blocks,
            old: zeros((rows + 1) * stored)?,
            next: zeros((rows + 1) * stored)?,
            start: Buffer::from_slice(context, y0)?,
            end: zeros(y0.len())?,
            times: zeros(options.window())?,
            squares: zeros(rows)?,
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
            vec![part.sweep.kernel.clone(), part.begin.clone(), part.gather.clone(), part.compare.clone()];
        if part.counts != [0, 0] {
            kernels.extend([part.pack.clone(), part.unpack.clone()]);
        }
        context.prepare_generated(&kernels)?;
        Ok(part)
    }

    /// Makes the first guess of a window of `rows` rows after one of `before`.
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

    /// An iteration of the device's blocks over these steps and rows; then packs what is sent of `most` rows.
    fn iterate(&self, h: f64, [steps, rows]: [usize; 2], n: usize, most: usize, fields: usize) -> Result<()> {
        let more = [self.numbers.arg(), self.start.arg(), self.end.arg(), Arg::size(self.blocks.start)];
        self.sweep.launch(&self.context, h, steps, [&self.times, &self.constants, &self.old, &self.next], &more)?;
        let buffers = [self.old.arg(), self.next.arg(), self.squares.arg()];
        let args = difference_args(0, n, self.columns.clone(), buffers);
        // SAFETY: the arguments are those of the kernel, in its order, one item or work-group for each of `rows` rows after
        // the first; `squares` has as many values, and the columns are among the n of a row.
        unsafe { self.context.launch_generated(&self.compare, rows_range(&self.context, rows), &args)? };
        self.move_rows(&self.pack, self.counts[0], [&self.next, &self.outbox], &self.sent, n, most, fields)
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

pub(super) fn run<T: Real>(
    team: &Team,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    sharing: Sharing,
    mut see: Option<See<'_, T>>,
) -> Result<Relaxation<T>> {
    options.check(system, y0)?;
    if team.local().len() != team.ranks() {
        let reason = "its devices must be those of one process".into();
        return Err(Error::Variant { variant: "waveform", reason });
    }
    let boundary = Boundary::new(system, &options.partition)?;
    let stages = Stages::new(&options.method)?;
    let count = stages.count();
    let (fields, most, stored) = (system.fields().len(), options.window() * count, boundary.points.len());
    let n = stored * fields;
    let mut memory_bytes = 0;
    for context in team.contexts() {
        context.require::<T>()?;
        memory_bytes += memory::<T>(context, system, options, &boundary)?;
    }
    let ranks = Ranks::even(boundary.starts.len() - 1, team.ranks())?;
    // What each rank reads of each other one, in the order of the numbers.
    let wanted: Vec<Vec<u32>> = (0..team.ranks())
        .map(|rank| {
            let own = boundary.starts[ranks.range(rank).start] as u32..boundary.starts[ranks.range(rank).end] as u32;
            match sharing {
                Sharing::General => (0..stored as u32).filter(|k| !own.contains(k)).collect(),
                Sharing::Limited => boundary.read_by(system, ranks.range(rank)),
            }
        })
        .collect();
    let mut messages = Vec::new();
    let mut sent = vec![Vec::new(); team.ranks()];
    for (to, numbers) in wanted.iter().enumerate() {
        for (from, sent) in sent.iter_mut().enumerate() {
            let span = ranks.range(from);
            let own = boundary.starts[span.start] as u32..boundary.starts[span.end] as u32;
            let first = numbers.partition_point(|k| *k < own.start);
            let last = numbers.partition_point(|k| *k < own.end);
            let width = most * fields;
            messages.push(Message {
                from,
                source: sent.len() * width,
                to,
                target: first * width,
                len: (last - first) * width,
            });
            sent.extend_from_slice(&numbers[first..last]);
        }
    }
    messages.retain(|message| message.len > 0);
    let mut exchange = Exchange::<T>::new(team, &messages)?;
    let mut parts = Vec::new();
    for (rank, context) in team.contexts().iter().enumerate() {
        let lists = [&sent[rank][..], &wanted[rank][..]];
        parts.push(Part::new(context, system, y0, options, &stages, &boundary, ranks.range(rank), lists)?);
    }
    stability::check(&team.contexts()[0], Some(team), system, t0, y0, options)?;
    let part = stored as f64 / system.grid().points() as f64;
    let mut report = Report::new(memory_bytes, options.words(part, count));
    let mut solution = y0.to_vec();
    let mut windows = options.schedule();
    let mut before = 0;
    while let Some(range) = windows.next() {
        let (window, steps) = (report.iterations.len(), range.len());
        let times: Vec<T> = options.times(t0, range.clone()).into_iter().map(T::from_f64).collect();
        for part in &mut parts {
            part.first_guess(options, &times, steps * count, n, fields, before * count)?;
        }
        let (rows, mut history) = (steps * count, Vec::new());
        // Finite termination: the iteration after as many others as rows changes nothing.
        for iteration in 1..=rows + 1 {
            for part in &parts {
                part.iterate(options.h, [steps, rows], n, most, fields)?;
            }
            let difference = exchanged(&mut exchange, &mut parts, rows)?;
            for part in &mut parts {
                part.move_rows(
                    &part.unpack,
                    part.counts[1],
                    [&part.next, &part.inbox],
                    &part.received,
                    n,
                    most,
                    fields,
                )?;
                std::mem::swap(&mut part.old, &mut part.next);
            }
            history.push(difference);
            let ends = options.ends(iteration, difference);
            if ends || !difference.is_finite() {
                collect(&parts, system, &boundary, &mut solution)?;
            }
            if !difference.is_finite() || ends && solution.iter().any(|v| !v.is_finite()) {
                let component = solution.iter().position(|v| !v.is_finite()).unwrap_or(0);
                return Err(Error::Waveform { window, iteration, component });
            }
            if ends {
                break;
            }
        }
        for part in &mut parts {
            std::mem::swap(&mut part.start, &mut part.end);
        }
        windows.took(history.len());
        report.add(steps, history);
        before = steps;
        if let Some(see) = &mut see {
            see(t0 + range.end as f64 * options.h, &solution)?;
        }
    }
    Ok(Relaxation { solution, waveform: Vec::new(), report })
}

/// Exchanges what was packed; the difference between the iterates of all devices.
fn exchanged<T: Real>(exchange: &mut Exchange<T>, parts: &mut [Part<T>], rows: usize) -> Result<f64> {
    {
        let sources: Vec<_> = parts.iter().map(|part| (&part.outbox).into()).collect();
        exchange.read(&sources)?;
    }
    let mut targets: Vec<_> = parts.iter_mut().map(|part| (&mut part.inbox).into()).collect();
    exchange.finish(&mut targets)?;
    drop(targets);
    let mut squares = vec![0.0; rows];
    for part in parts.iter() {
        let mut own = vec![T::zero(); rows];
        part.squares.read_range(0, &mut own)?;
        squares.iter_mut().zip(own).for_each(|(sum, square)| *sum += square.into_f64());
    }
    Ok(largest(squares.into_iter()))
}

/// The components at the end of the window, from the devices that have them.
fn collect<T: Real>(parts: &[Part<T>], system: &System, boundary: &Boundary, solution: &mut [T]) -> Result<()> {
    if let [part] = parts {
        return Ok(part.end.read(solution)?);
    }
    let n = system.grid().n;
    let mut all = vec![T::zero(); solution.len()];
    for part in parts {
        part.end.read(&mut all)?;
        for block in part.blocks.clone() {
            let [xs, ys, zs] = boundary.points_of(block);
            for z in zs.clone() {
                for y in ys.clone() {
                    for x in xs.clone() {
                        for field in 0..system.fields().len() {
                            let component = system.component(field, x + n[0] * (y + n[1] * z));
                            solution[component] = all[component];
                        }
                    }
                }
            }
        }
    }
    Ok(())
}
