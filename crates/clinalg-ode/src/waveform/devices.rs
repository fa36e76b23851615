//! Waveform relaxation with a device as a block.
//!
//! Each device has consecutive rows of the grid, and beside them a halo of its neighbours' rows as deep as a step reads, or several
//! steps. In an iteration it integrates its rows over the whole window by the kernels of the method, fused or tiled, while its halo
//! follows the waveforms that the neighbours had in the previous iterate. Then all devices exchange the waveforms of the
//! rows at their sides, once an iteration instead of once a step. A step reads nothing past the halo, so that stages need no
//! waveforms: after w iterations the first w steps, or w times the steps that a halo serves, are those of one device.

use std::time::Instant;

use clinalg::runtime::{Buffer, GeneratedKernel, View, ViewMut};
use clinalg::team::{Exchange, Message, Reduction, Team};
use clinalg::{Real, Vector, counted, ops};

use crate::integrate::{Slot, Stepper};
use crate::method::Method;
use crate::model::System;
use crate::model::access::slow_axis;
use crate::run::check_access;
use crate::schedule::candidates::available;
use crate::team::slabs::Slabs;
use crate::team::{TeamOptions, measure, reach, share_out};
use crate::waveform::control::{Control, See, TimeLoop, WaveformState, Window};
use crate::waveform::device::{all_items, begin_args, check_state};
use crate::waveform::difference::{Difference, largest};
use crate::waveform::options::{Relaxation, Report, Storage, WaveformOptions};
use crate::waveform::partition::Partition;
use crate::waveform::stages::Stages;
use crate::waveform::{kernel, stability};
use crate::{DeviceStepper, Error, Result};

/// As [`relax_windows`](crate::waveform::relax_windows), with the part of the grid on each device of a team as one block, whatever
/// `options.partition` says. `team_options` are those of a [`TeamStepper`](crate::team::TeamStepper): the kernels of a step, the weights of the
/// ranks, and the number of steps between two stored rows of a waveform. Empty weights are taken from `options`; the number of steps is 1 if it is
/// `None`. The halos are as deep as that many steps read. When a window ends with a difference of 0, the solution is bitwise equal to that of one
/// device.
///
/// The team may span several processes, all of which must make this call. The process of rank 0 gets the whole solution, and `see` receives it there.
/// The other processes get the rows of their own ranks, and zeros elsewhere.
///
/// ```
/// use clinalg::team::Team;
/// use clinalg::{Context, ContextOptions, Device};
/// use clinalg_ode::team::TeamOptions;
/// use clinalg_ode::waveform::{WaveformOptions, relax_by_devices};
/// use clinalg_ode::{Grid, Method, System};
///
/// let context = || Context::new(&Device::default_device()?, &ContextOptions::default());
/// let team = Team::of_contexts(vec![context()?, context()?])?;
/// let heat = System::builder(Grid::unit(&[20, 30])).field("u", "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u").build()?;
/// let y0 = heat.sample(|_, [x, y, _]| (3.0 * x).cos() * y);
/// let mut options = WaveformOptions::new(0.1, 8);
/// options.method = Method::named("heun2")?;
/// let result = relax_by_devices::<f64>(&team, &heat, 0.0, &y0, &options, &TeamOptions::default(), None)?;
/// assert!(result.report.iterations[0] <= 9);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
///
/// # Errors
/// Those of [`relax_windows`](crate::waveform::relax_windows) and of [`TeamStepper::new`](crate::team::TeamStepper::new).
pub fn relax_by_devices<T: Real>(
    team: &Team,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    team_options: &TeamOptions,
    see: Option<See<'_, T>>,
) -> Result<Relaxation<T>> {
    let options = WaveformOptions { partition: Partition::Device, storage: Storage::Boundary, ..options.clone() };
    run(team, system, t0, y0, &options, team_options, Control { see, ..Control::default() })
}

/// What `explain` says of it.
pub(super) fn explain(system: &System, options: &WaveformOptions) -> Result<String> {
    let reach = reach(options.method.without_error().graph(), system.radius()[slow_axis(system)]);
    let width = system.components() / Slabs::rows(system);
    Ok(format!(
        "waveform relaxation by device: a block for each device, {} of {} of {}, at most {} each\n\
         {reach} rows of {width} components at each side of a block are exchanged, once an iteration for all steps of the window\n\
         An iteration computes what the method itself computes over the window: it pays where messages cost more than arithmetic.\n",
        counted(options.windows, "window"),
        counted(options.window(), "step"),
        options.method.name(),
        counted(options.window() + 1, "iteration"),
    ))
}

/// Components that travel together: where they stand in a rank's vectors, and where their waveform begins in its list.
struct Piece {
    at: usize,
    len: usize,
    list: usize,
}

/// A rank of this process.
struct Part<T: Real> {
    stepper: DeviceStepper<T>,
    /// The solution at the beginning of the window.
    start: Vector<T>,
    /// What is sent: the rows of each piece, except the first.
    sent: Vec<Piece>,
    outbox: Buffer<T>,
    /// What is received: all rows of each piece, of the previous iterate and of the current one.
    received: Vec<Piece>,
    old: Buffer<T>,
    next: Buffer<T>,
    /// The differences of the two iterates, one per received piece.
    differences: Vec<Difference<T>>,
    begin: GeneratedKernel,
}

/// The waveforms that ranks exchange.
struct Waveforms {
    /// For each rank what it sends and receives.
    sent: Vec<Vec<Piece>>,
    received: Vec<Vec<Piece>>,
    messages: Vec<Message>,
}

impl Waveforms {
    /// With at most `most` rows after the first.
    fn new(slabs: &Slabs, ranks: usize, most: usize) -> Waveforms {
        let lists = || (0..ranks).map(|_| Vec::new()).collect::<Vec<Vec<Piece>>>();
        let mut all = Waveforms { sent: lists(), received: lists(), messages: Vec::new() };
        for Message { from, source, to, target, len } in slabs.messages() {
            let (out, into) = (values(&all.sent[from], most), values(&all.received[to], most + 1));
            all.sent[from].push(Piece { at: source, len, list: out });
            all.received[to].push(Piece { at: target, len, list: into });
            all.messages.push(Message { from, source: out, to, target: into + len, len: most * len });
        }
        all
    }
}

/// Values of so many rows of all pieces.
fn values(pieces: &[Piece], rows: usize) -> usize {
    pieces.iter().map(|piece| piece.len * rows).sum()
}

impl<T: Real> Part<T> {
    fn new(stepper: DeviceStepper<T>, y0: &[T], most: usize, [sent, received]: [Vec<Piece>; 2]) -> Result<Part<T>> {
        let context = stepper.context.clone();
        // There is no buffer without values.
        let zeros = |count: usize| Buffer::<T>::zeroed(&context, count.max(1));
        let waveform = values(&received, most + 1);
        let list = values(&sent, most);
        let bytes = ((2 * waveform + list + y0.len()) * size_of::<T>()) as u64;
        if bytes > available(&context) {
            let needs = format!("waveform relaxation, device: {bytes}");
            return Err(Error::Memory { place: "on the device", needs, available: available(&context) });
        }
        let stages = Stages::new(&Method::named("euler")?)?;
        let generated = |name: &'static str, source: String| GeneratedKernel::new(name, source, T::PRECISION);
        let part = Part {
            start: Vector::from_slice(&context, y0)?,
            outbox: zeros(list)?,
            old: zeros(waveform)?,
            next: zeros(waveform)?,
            differences: received
                .iter()
                .map(|piece| Difference::new(&context, most, piece.list, piece.len, 0..piece.len))
                .collect::<Result<_>>()?,
            // Rows are steps here, or several of them.
            begin: generated("waveform_begin", kernel::begin::<T>(&stages)),
            stepper,
            sent,
            received,
        };
        if let Some(difference) = part.differences.first() {
            context.prepare_generated(&[part.begin.clone(), difference.kernel.clone()])?;
        }
        Ok(part)
    }

    /// Bytes of the waveforms and of the solution at the beginning of a window.
    fn bytes(&self) -> usize {
        (self.outbox.len() + self.old.len() + self.next.len() + self.start.len()) * size_of::<T>()
    }

    /// Makes the initial guess of a window of `rows` rows after one of `before`.
    fn first_guess(&mut self, options: &WaveformOptions, before: usize, rows: usize) -> Result<()> {
        for piece in &self.received {
            if before == 0 {
                self.old.copy_range(piece.list, &self.start, piece.at..piece.at + piece.len)?;
            }
            let row = piece.list..piece.list + piece.len;
            let args = begin_args(options, row, before, rows, [self.old.arg(), self.next.arg()]);
            let context = &self.stepper.context;
            // SAFETY: the arguments are those of the kernel, in its order; rows up to the end of the window before and of this one
            // are among the rows of the piece that both waveforms have.
            unsafe { context.launch_generated(&self.begin, all_items(context, piece.len), &args)? };
        }
        Ok(())
    }

    /// Takes up a window where it was stopped.
    fn restore(&mut self, state: &WaveformState<T>) -> Result<()> {
        let before = if state.before.is_empty() { &state.iterate } else { &state.before };
        let values = if state.before.is_empty() { 0 } else { self.next.len() };
        check_state(state, [self.start.len(), self.old.len(), values])?;
        self.start.write(&state.start)?;
        self.old.write_range(0, &state.iterate)?;
        self.next.write_range(0, before)?;
        for Piece { len, list, .. } in &self.received {
            self.next.write_range(*list, &state.iterate[*list..list + len])?;
        }
        Ok(())
    }

    /// Integrates over the window, `times` being the beginnings of its steps and `steps` those between two rows.
    fn iterate(&mut self, times: &[f64], h: f64, steps: usize) -> Result<()> {
        let input = self.stepper.method().begin();
        self.stepper.input_mut(input).copy_from(&self.start)?;
        for (row, times) in times.chunks(steps).enumerate() {
            for Piece { at, len, list } in &self.received {
                let halo = self.old.slice(list + row * len..list + (row + 1) * len)?;
                self.stepper.input_mut(input).slice_mut(*at..at + len)?.copy_from(halo)?;
            }
            self.stepper.advance(times, h)?;
            for Piece { at, len, list } in &self.sent {
                let solution = self.stepper.slot(Slot::Input(input));
                self.outbox.copy_range(list + row * len, solution, *at..at + len)?;
            }
        }
        Ok(self.stepper.context.queue().flush()?)
    }

    /// The squared differences of both iterates in each row.
    fn differences(&self, rows: usize) -> Result<Vec<f64>> {
        self.differences.iter().try_for_each(|difference| difference.enqueue(rows, &self.old, &self.next))?;
        let mut sums = vec![0.0; rows];
        for difference in &self.differences {
            sums.iter_mut().zip(difference.read(rows)?).for_each(|(sum, square)| *sum += square);
        }
        Ok(sums)
    }
}

/// The blocks of a team.
struct Blocks<T: Real> {
    team: Team,
    slabs: Slabs,
    parts: Vec<Part<T>>,
    exchange: Exchange<T>,
}

impl<T: Real> Blocks<T> {
    fn new(
        team: &Team,
        system: &System,
        y0: &[T],
        options: &WaveformOptions,
        team_options: &TeamOptions,
        steps: usize,
    ) -> Result<Blocks<T>> {
        let method = options.method.without_error();
        let partition = share_out(team, system, team_options)?;
        let slabs = Slabs::new(system, &partition, steps * reach(method.graph(), system.radius()[slow_axis(system)]))?;
        let most = options.window().div_ceil(steps);
        let mut waveforms = Waveforms::new(&slabs, team.ranks(), most);
        let mut parts = Vec::new();
        for (k, context) in team.contexts().iter().enumerate() {
            let rank = team.local().start + k;
            let lists = [std::mem::take(&mut waveforms.sent[rank]), std::mem::take(&mut waveforms.received[rank])];
            let own = slabs.system(system, rank);
            let stepper = DeviceStepper::with(context, &method, &own, &team_options.device);
            let part = stepper.and_then(|stepper| Part::new(stepper, &slabs.part(y0, rank), most, lists));
            parts.push(part.map_err(|error| error.of_rank(team, k))?);
        }
        let exchange = Exchange::new(team, &waveforms.messages)?;
        Ok(Blocks { team: team.clone(), slabs, parts, exchange })
    }

    /// Calls `work` with each part; an error names its rank.
    fn each<R>(&mut self, mut work: impl FnMut(&mut Part<T>) -> Result<R>) -> Result<Vec<R>> {
        let team = &self.team;
        self.parts.iter_mut().enumerate().map(|(k, part)| work(part).map_err(|error| error.of_rank(team, k))).collect()
    }

    /// Sends the waveforms of the sides, and gives the largest difference of a row to the previous iterate, of all ranks.
    fn exchange(&mut self, rows: usize) -> Result<f64> {
        let sources: Vec<View<'_, T>> = self.parts.iter().map(|part| (&part.outbox).into()).collect();
        self.exchange.read(&sources)?;
        let mut targets: Vec<ViewMut<'_, T>> = self.parts.iter_mut().map(|part| (&mut part.next).into()).collect();
        self.exchange.finish(&mut targets)?;
        drop(targets);
        let squares = self.each(|part| {
            let squares = part.differences(rows)?;
            std::mem::swap(&mut part.old, &mut part.next);
            Ok(squares)
        })?;
        Ok(largest(self.team.all_reduce(Reduction::Sum, &squares)?.into_iter()))
    }

    /// Measures the weight of each rank, by one iteration over these steps.
    fn measure(&mut self, times: &[f64], h: f64, steps: usize) -> Result<Vec<f64>> {
        let parts = &mut self.parts;
        measure(&self.team, |k| parts[k].iterate(times, h, steps))
    }

    /// Whether any rank has a non-finite value at the end of the window.
    fn is_broken(&self) -> Result<bool> {
        let mut broken = Vec::new();
        for (k, part) in self.parts.iter().enumerate() {
            let largest = ops::norm_inf(part.stepper.slot(Slot::Input(part.stepper.method().begin())));
            let largest = largest.map_err(|error| Error::from(error).of_rank(&self.team, k))?;
            broken.push(vec![f64::from(u8::from(!largest.into_f64().is_finite()))]);
        }
        Ok(self.team.all_reduce(Reduction::Max, &broken)?[0] > 0.0)
    }

    /// Reads the solution at the end of the window; the process of rank 0 gets all of it. Returns the first non-finite component over all ranks.
    fn collect(&self, solution: &mut [T]) -> Result<Option<usize>> {
        let mut worst = Vec::new();
        for (k, part) in self.parts.iter().enumerate() {
            let rank = self.team.local().start + k;
            let mut all = vec![T::zero(); part.start.len()];
            let read = part.stepper.slot(Slot::Input(part.stepper.method().begin())).read(&mut all);
            read.map_err(|error| Error::from(error).of_rank(&self.team, k))?;
            let mut first = solution.len();
            for (own, whole) in self.slabs.own(rank).zip(self.slabs.of_whole(rank)) {
                let bad = all[own.clone()].iter().position(|v| !v.is_finite());
                first = first.min(bad.map_or(first, |bad| whole.start + bad));
                solution[whole].copy_from_slice(&all[own]);
            }
            worst.push(vec![(solution.len() - first) as f64]);
        }
        let pieces: Vec<Vec<_>> = (0..self.team.ranks()).map(|rank| self.slabs.of_whole(rank).collect()).collect();
        for piece in 0..pieces[0].len() {
            let ranges: Vec<_> = pieces.iter().map(|pieces| pieces[piece].clone()).collect();
            self.team.gather_ranges(&ranges, solution)?;
        }
        let worst = self.team.all_reduce(Reduction::Max, &worst)?[0] as usize;
        Ok((worst > 0).then(|| solution.len() - worst))
    }
}

pub(super) fn run<T: Real>(
    team: &Team,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    team_options: &TeamOptions,
    control: Control<'_, T>,
) -> Result<Relaxation<T>> {
    options.check(system, y0)?;
    for context in team.contexts() {
        context.require::<T>()?;
    }
    let steps_per_row = team_options.steps_per_exchange.unwrap_or(1);
    check_access(&team.contexts()[0], system, t0, y0)?;
    stability::check(&team.contexts()[0], Some(team), system, t0, y0, options)?;
    let weighted = |weights: Vec<f64>| {
        let with = TeamOptions { weights, ..team_options.clone() };
        Blocks::new(team, system, y0, options, &with, steps_per_row)
    };
    let given = if team_options.weights.is_empty() { &options.weights } else { &team_options.weights };
    let mut blocks = weighted(given.clone())?;
    if options.balance && team.ranks() > 1 {
        let weights = blocks.measure(&options.times(t0, 0..options.window()), options.h, steps_per_row)?;
        drop(blocks);
        blocks = weighted(weights)?;
    }
    let bytes: Vec<_> = blocks.parts.iter().map(|part| vec![part.bytes() as f64]).collect();
    let memory_bytes = team.all_reduce(Reduction::Sum, &bytes)?[0] as u64;
    let mut time_loop =
        TimeLoop::new(options, team.ranks(), Report::new(memory_bytes, blocks.parts[0].stepper.words()), control)?;
    let mut solution = vec![T::zero(); system.components()];
    // Rows of the window before.
    let mut before = 0;
    team.finish()?;
    while let Some(Window { steps: range, number: window, mut history }) = time_loop.next() {
        let begun = Instant::now();
        let times = options.times(t0, range.clone());
        let rows = times.len().div_ceil(steps_per_row);
        match time_loop.take_state() {
            Some(state) => blocks.each(|part| part.restore(state))?,
            None => blocks.each(|part| part.first_guess(options, before, rows))?,
        };
        let mut ended = false;
        // Finite termination: the iteration after as many others as rows changes nothing.
        for iteration in history.len() + 1..=rows + 1 {
            if time_loop.stopped() {
                break;
            }
            blocks.each(|part| part.iterate(&times, options.h, steps_per_row))?;
            let difference = blocks.exchange(rows)?;
            history.push(difference);
            time_loop.iterated(difference);
            ended = options.ends(iteration, difference);
            if !difference.is_finite() || ended && blocks.is_broken()? {
                let component = blocks.collect(&mut solution)?.unwrap_or(0);
                return Err(Error::Waveform { window, iteration, component });
            }
            if ended {
                break;
            }
        }
        let input = blocks.parts[0].stepper.method().begin();
        if !ended && time_loop.stopped() {
            // Where solutions are collected from.
            blocks.each(|part| Ok(part.stepper.input_mut(input).copy_from(&part.start)?))?;
            blocks.collect(&mut solution)?;
            let state = time_loop.stop(&range, history, begun.elapsed(), || {
                // States are those of one device.
                let part = &blocks.parts[0];
                let before = if options.adaptive.is_some() { part.next.to_vec()? } else { Vec::new() };
                Ok([part.start.to_vec()?, part.old.to_vec()?, before])
            })?;
            let (t, report) = (options.time(t0, range.start), time_loop.report);
            return Ok(Relaxation { solution, t, stopped: true, state, waveform: Vec::new(), report });
        }
        blocks.each(|part| Ok(part.start.copy_from(part.stepper.slot(Slot::Input(input)))?))?;
        options.terminated(window, &history)?;
        time_loop.ended(times.len(), history, begun.elapsed());
        before = rows;
        if let Some(see) = time_loop.see() {
            blocks.collect(&mut solution)?;
            see(options.time(t0, range.end), &solution)?;
        }
    }
    blocks.collect(&mut solution)?;
    let (t, report) = (options.time(t0, options.steps), time_loop.report);
    Ok(Relaxation { solution, t, stopped: false, state: None, waveform: Vec::new(), report })
}
