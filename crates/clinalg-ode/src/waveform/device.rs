//! Waveform relaxation on a device.

use std::time::Instant;

use clinalg::runtime::{Arg, Buffer, GeneratedKernel, Range};
use clinalg::team::Team;
use clinalg::{Context, KernelFamily, Real, counted, number};

use crate::model::System;
use crate::plan::{Plan, Variant};
use crate::run::check_access;
use crate::schedule::candidates::available;
use crate::team::TeamOptions;
use crate::waveform::boundary::Boundary;
use crate::waveform::control::{Control, TimeLoop, WaveformState, Window};
use crate::waveform::difference::{Difference, largest};
use crate::waveform::kernel;
use crate::waveform::options::{Guess, Relaxation, Report, Storage, WaveformOptions};
use crate::waveform::partition::Partition;
use crate::waveform::stages::Stages;
use crate::waveform::team::{self, Sharing};
use crate::waveform::{devices, stability};
use crate::{Error, Result};

/// Bytes of the two waveforms and of private copies.
///
/// # Errors
/// [`Error::Memory`] where they do not fit the device.
fn memory<T: Real>(context: &Context, system: &System, options: &WaveformOptions) -> Result<u64> {
    let waveforms = 2 * size_of::<T>() * options.values::<T>(system)?;
    let copies = system.components() as u128 * options.copied(system) as u128 * size_of::<T>() as u128;
    fits(context, options, waveforms as u128 + copies)
}

/// # Errors
/// [`Error::Memory`] where so many bytes do not fit the device.
pub(super) fn fits(context: &Context, options: &WaveformOptions, bytes: u128) -> Result<u64> {
    let available = available(context);
    match u64::try_from(bytes) {
        Ok(bytes) if bytes <= available => Ok(bytes),
        _ => Err(Error::Memory {
            place: "on the device",
            needs: format!("waveform relaxation, {}: {bytes}", options.variant()),
            available,
        }),
    }
}

/// Blocks, memory and words moved, and when waveform relaxation pays.
///
/// # Errors
/// Those of [`relax`] but for values that are not finite.
pub fn explain<T: Real>(context: &Context, system: &System, options: &WaveformOptions) -> Result<String> {
    options.check_without_values(system)?;
    let stages = Stages::new(&options.method)?;
    if options.partition == Partition::Device {
        return devices::explain(system, options);
    }
    let (bytes, stored) = match options.storage {
        Storage::All => (memory::<T>(context, system, options)?, 1.0),
        Storage::Boundary => {
            let boundary = Boundary::new(system, &options.partition)?;
            let bytes = team::memory::<T>(context, system, options, &boundary)?;
            (bytes, boundary.points.len() as f64 / system.grid().points() as f64)
        }
    };
    let copies = match options.copied(system) {
        0 => String::new(),
        copied => format!("{copied} values are copied for each component and step\n"),
    };
    let blocks = match options.partition {
        Partition::Component => system.components(),
        _ => options.partition.counts(system).iter().product(),
    };
    let words = options.words(stored, stages.count());
    // The words of the method itself, a kernel for each of its stages.
    let plain = Plan::new(stages.graph(), Variant::Fused).words();
    Ok(format!(
        "waveform relaxation by {}: {}, {} of {} of {}, at most {} each\n\
         {bytes} bytes of waveforms; {} words moved per component, step and iteration, the method itself moves {plain} per step\n\
         {copies}\
         by words moved, an iteration takes {} times as long as the method itself, not counting work in local memory\n\
         `auto` never takes waveform relaxation: it pays where launches or messages cost more than arithmetic\n",
        options.variant(),
        counted(blocks, "block"),
        counted(options.windows, "window"),
        counted(options.window(), "step"),
        options.method.name(),
        counted(options.window() * stages.count() + 1, "iteration"),
        number(words, 4),
        number(words / plain as f64, 3),
    ))
}

/// Integrates `system` on a device from `t0`, where the solution is `y0` in the system's own order in memory. The iterates are
/// those of [`relax_sequentially`](crate::waveform::relax_sequentially) up to the device's elementary functions.
///
/// ```
/// use clinalg::Context;
/// use clinalg_ode::waveform::{Partition, Stop, WaveformOptions, relax};
/// use clinalg_ode::{Grid, System};
///
/// let heat = System::builder(Grid::unit(&[40, 40])).field("u", "u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u").build()?;
/// let y0 = heat.sample(|_, [x, y, _]| (3.0 * x).cos() * y);
/// let mut options = WaveformOptions::new(0.01, 20);
/// options.partition = Partition::Block([16, 16, 1]);
/// options.stop = Stop::Difference(1e-12);
/// let result = relax::<f64>(&Context::global()?, &heat, 0.0, &y0, &options)?;
/// assert!(result.report.iterations[0] < 21);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
///
/// # Errors
/// Those of [`relax_sequentially`](crate::waveform::relax_sequentially); [`Error::Memory`] where the waveforms do not fit the
/// device; [`Error::Unstable`] for steps past the stability limit, with the largest that can be stable; [`Error::Access`] for OpenCL C
/// that reads further than it declares; [`Error::Variant`] for blocks that do not fit local memory; those of the device.
pub fn relax<T: Real>(
    context: &Context,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
) -> Result<Relaxation<T>> {
    relax_with(context, system, t0, y0, options, Control::default())
}

/// As [`relax`]; calls `see` with time and solution at the end of every window. An error of `see` ends the integration.
///
/// # Errors
/// Those of [`relax`] and of `see`.
pub fn relax_windows<T: Real>(
    context: &Context,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    mut see: impl FnMut(f64, &[T]) -> Result<()>,
) -> Result<Relaxation<T>> {
    relax_with(context, system, t0, y0, options, Control { see: Some(&mut see), ..Control::default() })
}

/// As [`relax`], watched, stopped or continued by `control`.
///
/// ```
/// use std::ops::ControlFlow;
///
/// use clinalg::Context;
/// use clinalg_ode::waveform::{Control, WaveformOptions, relax, relax_with};
/// use clinalg_ode::{Grid, System};
///
/// let context = Context::global()?;
/// let heat = System::builder(Grid::unit(&[20])).field("u", "u[-1] - 2*u + u[1]").build()?;
/// let y0 = heat.sample(|_, [x, ..]| x * x);
/// let options = WaveformOptions::new(0.1, 8);
/// let mut progress = |iteration, _| if iteration < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
/// let control = Control { progress: Some(&mut progress), keep_state: true, ..Control::default() };
/// let stopped = relax_with(&context, &heat, 0.0, &y0, &options, control)?;
/// assert!(stopped.stopped && stopped.t == 0.0);
/// let control = Control { resume: stopped.state.as_ref(), ..Control::default() };
/// let whole = relax_with(&context, &heat, 0.0, &y0, &options, control)?;
/// assert_eq!(whole.solution, relax(&context, &heat, 0.0, &y0, &options)?.solution);
/// # Ok::<(), clinalg_ode::Error>(())
/// ```
///
/// # Errors
/// Those of [`relax`] and of `control.see`; [`Error::Value`] for a state of other options or of another system.
pub fn relax_with<T: Real>(
    context: &Context,
    system: &System,
    t0: f64,
    y0: &[T],
    options: &WaveformOptions,
    control: Control<'_, T>,
) -> Result<Relaxation<T>> {
    if options.partition == Partition::Device {
        let team = Team::of_contexts(vec![context.clone()])?;
        return devices::run(&team, system, t0, y0, options, &TeamOptions::default(), control);
    }
    if options.storage == Storage::Boundary {
        let team = Team::of_contexts(vec![context.clone()])?;
        return team::run(&team, system, t0, y0, options, Sharing::General, control);
    }
    options.check(system, y0)?;
    context.require::<T>()?;
    let memory_bytes = memory::<T>(context, system, options)?;
    let stages = Stages::new(&options.method)?;
    let (d, count, most) = (system.components(), stages.count(), options.window());
    let sweep = Sweep::new::<T>(context, system, options, &stages, None)?;
    check_access(context, system, t0, y0)?;
    stability::check(context, None, system, t0, y0, options)?;
    let begin = GeneratedKernel::new("waveform_begin", kernel::begin::<T>(&stages), T::PRECISION);
    let compare = Difference::<T>::new(context, most * count, 0, d, 0..d)?;
    context.prepare_generated(&[sweep.kernel.clone(), begin.clone(), compare.kernel.clone()])?;
    let values = options.values::<T>(system)?;
    let mut old = Buffer::<T>::zeroed(context, values)?;
    let mut next = Buffer::<T>::zeroed(context, values)?;
    old.write_range(0, y0)?;
    let mut times = Buffer::<T>::zeroed(context, most)?;
    let constants = constants::<T>(context, system)?;
    let copies = match options.copied(system) {
        0 => None,
        copied => Some(Buffer::<T>::zeroed(context, d * copied)?),
    };
    let mut time_loop = TimeLoop::new(options, 1, Report::new(memory_bytes, options.words(1.0, count)), control)?;
    let mut solution = vec![T::zero(); d];
    while let Some(Window { steps: range, number: window, mut history }) = time_loop.next() {
        let (steps, begun) = (range.len(), Instant::now());
        let rows = steps * count;
        match time_loop.take_state() {
            Some(state) => {
                check_state(state, [d, values, if state.before.is_empty() { 0 } else { values }])?;
                old.write_range(0, &state.iterate)?;
                next.write_range(0, if state.before.is_empty() { &state.iterate } else { &state.before })?;
                next.write_range(0, &state.start)?;
            }
            None => {
                let args = begin_args(options, 0..d, time_loop.before * count, rows, [old.arg(), next.arg()]);
                // SAFETY: the arguments are those of the kernel, in its order; rows up to the end of the window before and of this
                // one are among the rows of d values that both waveforms have, and there is a step before the row that a line
                // begins at.
                unsafe { context.launch_generated(&begin, all_items(context, d), &args)? };
            }
        }
        let now: Vec<T> = options.times(t0, range.clone()).into_iter().map(T::from_f64).collect();
        times.write_range(0, &now)?;
        let mut ended = false;
        // Finite termination: the iteration after as many others as rows changes nothing.
        for iteration in history.len() + 1..=rows + 1 {
            if time_loop.stopped() {
                break;
            }
            let more: Vec<Arg> = copies.iter().map(Buffer::arg).collect();
            sweep.launch(context, options.h, steps, [&times, &constants, &old, &next], &more)?;
            compare.enqueue(rows, &old, &next)?;
            let difference = largest(compare.read(rows)?.into_iter());
            if !difference.is_finite() {
                let values = &next.to_vec()?[..(rows + 1) * d];
                let component = values.iter().position(|v| !v.is_finite()).unwrap_or(0) % d;
                return Err(Error::Waveform { window, iteration, component });
            }
            history.push(difference);
            std::mem::swap(&mut old, &mut next);
            time_loop.iterated(difference);
            ended = options.ends(iteration, difference);
            if ended {
                break;
            }
        }
        if !ended && time_loop.stopped() {
            old.read_range(0, &mut solution)?;
            let state = time_loop.stop(&range, history, begun.elapsed(), || {
                let before = if options.adaptive.is_some() { next.to_vec()? } else { Vec::new() };
                Ok([solution.clone(), old.to_vec()?, before])
            })?;
            let (t, report) = (options.time(t0, range.start), time_loop.report);
            return Ok(Relaxation { solution, t, stopped: true, state, waveform: Vec::new(), report });
        }
        options.terminated(window, &history)?;
        time_loop.ended(steps, history, begun.elapsed());
        if let Some(see) = time_loop.see() {
            old.read_range(rows * d, &mut solution)?;
            see(options.time(t0, range.end), &solution)?;
        }
    }
    let before = time_loop.before;
    old.read_range(before * count * d, &mut solution)?;
    let mut waveform = if options.keep { old.to_vec()? } else { Vec::new() };
    waveform.truncate((before * count + 1) * d);
    let (t, report) = (options.time(t0, options.steps), time_loop.report);
    Ok(Relaxation { solution, t, stopped: false, state: None, waveform, report })
}

/// # Errors
/// [`Error::Value`] unless the arrays of a state have so many values.
pub(super) fn check_state<T>(state: &WaveformState<T>, expected: [usize; 3]) -> Result<()> {
    let got = [state.start.len(), state.iterate.len(), state.before.len()];
    if got == expected {
        return Ok(());
    }
    Err(Error::value(
        "resume",
        format!("arrays of {expected:?} values, for this system and these options"),
        format!("{got:?}"),
    ))
}

/// Parameters and data; at least one value, as there is no buffer without.
pub(super) fn constants<T: Real>(context: &Context, system: &System) -> Result<Buffer<T>> {
    let mut constants = system.constants::<T>();
    constants.resize(constants.len().max(1), T::zero());
    Ok(Buffer::from_slice(context, &constants)?)
}

/// Items that share out `n` values.
pub(super) fn all_items(context: &Context, n: usize) -> Range {
    match context.family() {
        KernelFamily::Cpu => Range::d1(context.chunks(), 1),
        KernelFamily::Gpu => {
            let local = context.local();
            Range::d1(n.max(1).next_multiple_of(local).min(1 << 20), local)
        }
    }
}

/// Arguments of `waveform_begin` for a window of `rows` rows after one of `before`, 0 for the first window. `row` is where the first row of
/// the waveforms stands.
pub(super) fn begin_args(
    options: &WaveformOptions,
    row: std::ops::Range<usize>,
    before: usize,
    rows: usize,
    waveforms: [Arg; 2],
) -> Vec<Arg> {
    let whole = before == 0 || options.guess != Guess::Previous;
    let linear = before > 0 && options.guess == Guess::Linear;
    let guessed = if whole { rows + 1 } else { 1 };
    let [old, next] = waveforms;
    let numbers = [row.start, row.len(), before, guessed].map(Arg::size);
    numbers.into_iter().chain([Arg::U32(u32::from(linear)), old, next]).collect()
}

/// The kernel of an iteration.
pub(super) struct Sweep {
    pub(super) kernel: GeneratedKernel,
    range: Range,
    /// Work-items in the work-group of a block.
    local: usize,
}

impl Sweep {
    /// `stored` is the number of points whose waveforms are stored where it is not all, and the number of blocks of this device.
    pub(super) fn new<T: Real>(
        context: &Context,
        system: &System,
        options: &WaveformOptions,
        stages: &Stages,
        stored: Option<(usize, usize)>,
    ) -> Result<Sweep> {
        let family = context.family();
        let points = system.grid().points();
        let (range, local) = match (options.partition, family) {
            (Partition::Block(sides), _) => {
                let size: usize = sides.iter().fold(1, |product, side| product.saturating_mul(*side));
                let bytes = size.saturating_mul(stages.slots().count * system.fields().len() * size_of::<T>());
                let most = context.device().local_mem as usize;
                if bytes > most {
                    let reason = format!(
                        "a block needs {bytes} bytes of local memory, the device has {most}; take a smaller one"
                    );
                    return Err(Error::Variant { variant: "waveform", reason });
                }
                let local = if family == KernelFamily::Cpu { 1 } else { context.local().min(size.next_power_of_two()) };
                let all: usize = options.partition.counts(system).iter().product();
                let groups = stored.map_or(all, |(_, blocks)| blocks);
                (Range::d1(groups * local, local), local)
            }
            (_, KernelFamily::Cpu) => (Range::d1(context.chunks(), 1), 1),
            (_, KernelFamily::Gpu) => {
                let local = context.local();
                (Range::d1(points.next_multiple_of(local), local), local)
            }
        };
        let source = kernel::sweep::<T>(system, options, stages, family, stored.map(|(points, _)| points));
        let kernel = GeneratedKernel::new("waveform_sweep", source, T::PRECISION);
        // As the kernels of the method itself.
        let kernel = if system.is_dense() { kernel.flushing() } else { kernel };
        Ok(Sweep { kernel, range, local })
    }

    /// `more` are the arguments after those of every variant.
    pub(super) fn launch<T: Real>(
        &self,
        context: &Context,
        h: f64,
        steps: usize,
        buffers: [&Buffer<T>; 4],
        more: &[Arg],
    ) -> Result<()> {
        self.launch_range(context, self.range, h, steps, buffers, more)
    }

    /// As [`Sweep::launch`] for `blocks` blocks; the index of the first one is the last argument in `more`.
    pub(super) fn launch_blocks<T: Real>(
        &self,
        context: &Context,
        blocks: usize,
        h: f64,
        steps: usize,
        buffers: [&Buffer<T>; 4],
        more: &[Arg],
    ) -> Result<()> {
        self.launch_range(context, Range::d1(blocks * self.local, self.local), h, steps, buffers, more)
    }

    fn launch_range<T: Real>(
        &self,
        context: &Context,
        range: Range,
        h: f64,
        steps: usize,
        [times, constants, old, next]: [&Buffer<T>; 4],
        more: &[Arg],
    ) -> Result<()> {
        let steps = u32::try_from(steps).map_err(|_| Error::value("steps", "at most 2^32 - 1 in a window", steps))?;
        let mut args = vec![Arg::real::<T>(h), Arg::U32(steps), times.arg(), constants.arg(), old.arg(), next.arg()];
        args.extend_from_slice(more);
        // SAFETY: the arguments are those of the kernel, in its order. Both waveforms have the rows of all stored components for
        // each step and one more, `times` a value for each step, `constants` all parameters and data, `copies` its part for each
        // component, `numbers` a value for each point, `start` and `end` one for each component; the range covers the
        // points or blocks that the kernel was made for, and items past them do nothing.
        unsafe { context.launch_generated(&self.kernel, range, &args)? };
        Ok(())
    }
}
