//! Steps on an OpenCL device.

use clinalg::runtime::{Arg, Buffer, GeneratedKernel};
use clinalg::{Context, Real, Vector, ops};

use crate::codegen::kernels::{Launch, Schedule};
use crate::method::Method;
use crate::method::graph::Value;
use crate::model::system::System;
use crate::plan::{Plan, Variant};
use crate::run::explain::Timing;
use crate::run::multi_workgroup::Common;
use crate::run::stepper::{Norm, Slot, Stepper, Stored, Tolerance, all_times, per_step};
use crate::schedule::candidates::check_memory;
use crate::schedule::outline::{Outline, Together};
use crate::schedule::target::Target;
use crate::schedule::{DeviceOptions, work};
use crate::{Error, Result};

/// A method's steps for a system, by kernels made for both.
///
/// A change of the step size, the time or a parameter compiles nothing. Sizes of the grid are part of the kernels.
pub struct DeviceStepper<T: Real> {
    pub(crate) context: Context,
    method: Method,
    pub(super) system: System,
    /// The kernels of one step.
    pub(super) one: Schedule,
    /// Those of several, and with the error of each.
    pub(super) many: Option<Schedule>,
    band: Option<Schedule>,
    /// Which of them ran last.
    tried: Tried,
    /// Where the steps of the band tried last began, with their size and tolerance.
    begins: (Vec<f64>, f64, Tolerance),
    pub(super) buffers: Vec<Vector<T>>,
    /// Which buffer plays which part of the plan; changes when a step is taken.
    roles: Vec<usize>,
    parameters: Buffer<T>,
    /// Of coefficients, for the steps enqueued next.
    arguments: Vec<f64>,
    /// Between which the times of stages stay.
    times: [f64; 2],
    partial: Vector<T>,
    /// What work-groups that wait for each other have in common.
    common: Option<Common>,
    /// Why this variant runs, where `auto` chose it.
    pub(super) reason: Option<String>,
    /// Seconds of a step, where they were measured.
    pub(super) timing: Option<Timing>,
    /// What a step costs by the model, in words moved per component at the rate of a copy.
    pub(super) price: f64,
}

/// Runs of a candidate whose median counts, and runs before that.
pub(crate) const RUNS: usize = 5;

pub(crate) const WARM: usize = 2;

/// Most parts of an error norm that are read back; more are joined on the device first.
const PARTIALS: usize = 8192;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tried {
    One,
    Many,
    Band,
}

impl<T: Real> DeviceStepper<T> {
    pub(super) fn made(
        context: &Context,
        method: &Method,
        system: &System,
        options: &DeviceOptions,
        reason: Option<String>,
    ) -> Result<DeviceStepper<T>> {
        let Schedules { one, many, band, price } = Schedules::new::<T>(context, method, system, options)?;
        let n = system.components();
        let zeroed = |len| Vector::zeros(context, len).map_err(Error::from);
        let several = || many.iter().chain(&band);
        let count = several().map(|m| m.plan.buffers()).fold(one.plan.buffers(), usize::max);
        let partials = several().map(|m| m.partials.iter().sum()).fold(one.partials.iter().sum(), usize::max);
        check_memory::<T>(context, method, system, options, count)?;
        // Several at a time, and none in the first step.
        context.prepare_generated(&kernels(&one, &many, &band))?;
        let buffers = (0..count).map(|_| zeroed(n)).collect::<Result<Vec<_>>>()?;
        let flags = all_launches(&one, &many, &band).filter_map(|l| l.together).map(|t| t.flags).max();
        let common = flags.map(|flags| Common::new(context, flags)).transpose()?;
        let mut stepper = DeviceStepper {
            context: context.clone(),
            method: method.clone(),
            system: system.clone(),
            roles: (0..count).collect(),
            tried: Tried::One,
            begins: (Vec::new(), 0.0, Tolerance::UNUSED),
            buffers,
            parameters: Buffer::zeroed(context, system.constants::<T>().len().max(1))?,
            arguments: Vec::new(),
            times: all_times::<T>(),
            partial: zeroed(partials.max(1))?,
            common,
            one,
            many,
            band,
            reason,
            timing: None,
            price,
        };
        stepper.parameters.write_range(0, &system.constants::<T>())?;
        if stepper.common.is_some() && !stepper.meet()? {
            let reason = "too few work-groups run at the same time on this device".into();
            return Err(Error::Variant { variant: options.variant.name(), reason });
        }
        Ok(stepper)
    }

    /// Lets the work-groups that will wait for each other meet, of every kernel as many as run at the same time; whether they
    /// are enough.
    fn meet(&mut self) -> Result<bool> {
        for what in [Tried::One, Tried::Many, Tried::Band] {
            let times = vec![0.0; self.schedule(what).plan.graph().steps()];
            for k in 0..self.schedule(what).launches.len() {
                while let (Some(together), Some(common)) = (self.schedule(what).launches[k].together, &self.common) {
                    let meeting = Some(common.meeting);
                    self.enqueue(what, k, &times, 0.0, &Tolerance::UNUSED, meeting)?;
                    let Some(common) = &mut self.common else { break };
                    if common.met()? {
                        break;
                    }
                    common.sync.write_range(1, &[0])?;
                    if together.groups == together.fewest {
                        return Ok(false);
                    }
                    // A compute unit may hold fewer than were launched.
                    let units = self.context.device().compute_units as usize;
                    let groups = together.groups.saturating_sub(units).max(together.fewest);
                    self.schedule_mut(what).launches[k].together = Some(Together { groups, ..together });
                }
            }
        }
        Ok(true)
    }

    /// The schedule of one step.
    pub fn plan(&self) -> &Plan {
        &self.one.plan
    }

    /// The variant that runs.
    pub fn variant(&self) -> Variant {
        self.one.plan.variant()
    }

    /// Kernels that a step launches.
    pub fn kernels(&self) -> usize {
        self.one.launches.len()
    }

    /// Words moved per component and step by the model, margins of tiles counted; of several steps at once where they are.
    pub fn words(&self) -> f64 {
        self.many.as_ref().unwrap_or(&self.one).words
    }

    /// The OpenCL C of each kernel, in their order.
    pub fn sources(&self) -> Vec<&str> {
        let all = [Some(&self.one), self.many.as_ref(), self.band.as_ref()].into_iter().flatten();
        let mut sources: Vec<&str> = all.flat_map(|s| &s.launches).map(|launch| launch.kernel.source()).collect();
        // The blocks of a wavefront have the same kernels.
        let mut seen = std::collections::HashSet::new();
        sources.retain(|source| seen.insert(*source));
        sources
    }

    /// Changes a parameter of the right-hand side from the next step on.
    ///
    /// # Errors
    /// Those of [`System::set_parameter`] and of the device.
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<()> {
        self.system.set_parameter(name, value)?;
        self.upload_parameters()
    }

    fn upload_parameters(&mut self) -> Result<()> {
        let values: Vec<T> = self.system.parameters().map(|(_, v)| T::from_f64(v)).collect();
        Ok(self.parameters.write_range(0, &values)?)
    }

    /// Bytes that a step moves by the word model: words times components times bytes of a value.
    pub fn bytes_per_step(&self) -> u64 {
        (self.one.words * (self.system.components() * size_of::<T>()) as f64) as u64
    }

    /// Enqueues the kernels of one step or of several from `times` on.
    pub(super) fn launch(&mut self, what: Tried, times: &[f64], h: f64, tolerance: &Tolerance) -> Result<()> {
        for number in 0..self.schedule(what).launches.len() {
            self.enqueue(what, number, times, h, tolerance, None)?;
        }
        self.tried = what;
        Ok(())
    }

    /// Enqueues one kernel. With `meet`, work-groups that wait for each other only meet, and poll so often.
    fn enqueue(
        &mut self,
        what: Tried,
        number: usize,
        times: &[f64],
        h: f64,
        tolerance: &Tolerance,
        meet: Option<u32>,
    ) -> Result<()> {
        let launch = &self.schedule(what).launches[number];
        let (kernel, range, together) = (launch.kernel.clone(), launch.range, launch.together);
        let mut args: Vec<Arg> = times.iter().map(|t| Arg::real::<T>(*t)).collect();
        args.extend(self.times.map(Arg::real::<T>));
        args.extend([
            Arg::real::<T>(h),
            Arg::real::<T>(tolerance.relative),
            Arg::real::<T>(tolerance.absolute),
            Arg::U32(u32::from(tolerance.norm == Norm::Max)),
        ]);
        // Trials of variants have none.
        let argument = |k: usize| Arg::real::<T>(self.arguments.get(k).copied().unwrap_or(0.0));
        args.extend((0..self.schedule(what).plan.graph().step_arguments()).map(argument));
        args.extend([self.parameters.arg(), self.partial.buffer().arg()]);
        args.extend(launch.buffers.iter().map(|role| self.buffers[self.roles[*role]].buffer().arg()));
        args.extend(launch.block.iter().flatten().map(|k| Arg::size(*k)));
        if let (Some(together), Some(common)) = (together, &mut self.common) {
            common.launches = common.launches.wrapping_add(1);
            args.extend([
                common.sync.arg(),
                Arg::U32(together.groups as u32),
                Arg::U32(common.arrived),
                Arg::U32(common.launches),
                Arg::U32(meet.unwrap_or(common.patience)),
                Arg::U32(u32::from(meet.is_some())),
            ]);
            common.arrived = common.arrived.wrapping_add(together.launched as u32);
        }
        // SAFETY: the arguments are those that `Writer::open` writes, in its order; all buffers are of this context and have
        // the components that the kernels were made for, `partial` one value for each item or work-group that writes
        // there, `sync` the flags of the kernel that raises most.
        unsafe { self.context.launch_generated(&kernel, range, &args)? };
        Ok(())
    }

    fn schedule_mut(&mut self, what: Tried) -> &mut Schedule {
        match (what, &mut self.many, &mut self.band) {
            (Tried::Many, Some(many), _) => many,
            (Tried::Band, _, Some(band)) => band,
            _ => &mut self.one,
        }
    }

    fn schedule(&self, what: Tried) -> &Schedule {
        match (what, &self.many, &self.band) {
            (Tried::Many, Some(many), _) => many,
            (Tried::Band, _, Some(band)) => band,
            _ => &self.one,
        }
    }

    /// # Errors
    /// [`Error::Variant`] when work-groups waited in vain: what was computed since is no solution.
    fn check(&self) -> Result<()> {
        match &self.common {
            Some(common) if !common.met()? => {
                let reason = "work-groups that wait for each other did not run at the same time".into();
                Err(Error::Variant { variant: self.variant().name(), reason })
            }
            _ => Ok(()),
        }
    }

    /// The norm of each step's error, of the steps that ran last.
    fn norms(&self, norm: Norm) -> Result<Vec<f64>> {
        let mean = |sum: f64| (sum / self.components().max(1) as f64).sqrt();
        let sums = self.sums(norm)?;
        Ok(if norm == Norm::Rms { sums.into_iter().map(mean).collect() } else { sums })
    }

    /// The sum of the squares of each step's error, of the steps that ran last, or the largest magnitude.
    pub(crate) fn sums(&self, norm: Norm) -> Result<Vec<f64>> {
        self.check()?;
        let counts = &self.schedule(self.tried).partials;
        let total = counts.iter().sum();
        if total > PARTIALS {
            let mut first = 0;
            let mut take = |&count: &usize| {
                let part;
                let own = if count == self.partial.len() {
                    &self.partial
                } else {
                    part = self.partial.copy_range(first..first + count)?;
                    &part
                };
                first += count;
                Ok(match norm {
                    Norm::Rms => ops::sum(own)?.into_f64(),
                    Norm::Max => ops::norm_inf(own)?.into_f64(),
                })
            };
            return counts.iter().map(&mut take).collect();
        }
        let mut parts = vec![T::zero(); total];
        self.partial.buffer().read_range(0, &mut parts)?;
        let mut rest = &parts[..];
        let mut take = |count: &usize| {
            let (own, later) = rest.split_at(*count);
            rest = later;
            let values = own.iter().map(|v| v.into_f64());
            match norm {
                Norm::Rms => values.sum(),
                // `f64::max` would lose NaN.
                Norm::Max => values.fold(0.0, |m: f64, q| if m.is_nan() || q <= m { m } else { q }),
            }
        };
        Ok(counts.iter().map(&mut take).collect())
    }

    /// Enqueues a step from t to t + h, whose error is not read back.
    pub(crate) fn enqueue_step(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<()> {
        self.launch(Tried::One, &[t], h, tolerance)
    }

    /// One of the vectors kept.
    pub(crate) fn slot(&self, slot: Slot) -> &Vector<T> {
        let graph = self.one.plan.graph();
        self.vector(match slot {
            Slot::Input(k) => graph.inputs()[k],
            Slot::Result => graph.solution(),
        })
    }

    /// The solution after the steps that were accepted.
    pub(super) fn solution_on_device(&self) -> Result<&Vector<T>> {
        let graph = self.one.plan.graph();
        let carry = graph.carries().iter().find(|(_, value)| *value == graph.solution());
        let (input, _) = carry.expect("the solution of a finished graph is carried on");
        self.check()?;
        Ok(self.vector(*input))
    }

    /// What an input of the graph holds.
    pub(crate) fn input_mut(&mut self, input: usize) -> &mut Vector<T> {
        let place = self.one.plan.graph().inputs()[input];
        let role = self.roles[self.one.plan.place(place).expect("inputs are stored")];
        &mut self.buffers[role]
    }

    fn vector(&self, value: Value) -> &Vector<T> {
        &self.buffers[self.roles[self.one.plan.place(value).expect("inputs and what is carried on are stored")]]
    }
}

/// The kernels of a method for a system.
struct Schedules {
    one: Schedule,
    many: Option<Schedule>,
    band: Option<Schedule>,
    /// As [`DeviceStepper::price`].
    price: f64,
}

impl Schedules {
    fn new<T: Real>(context: &Context, method: &Method, system: &System, options: &DeviceOptions) -> Result<Schedules> {
        let target = Target::of(context);
        let work = work(&target, method.graph(), system);
        let make = |steps| {
            let outline = Outline::new::<T>(&target, method.graph(), system, options.variant, steps, options.tile)?;
            Ok::<_, Error>((outline.price(work), outline.build::<T>(system, target.family)))
        };
        let (mut price, one) = make(1)?;
        let many = match options.steps > 1 && options.variant.tiled() {
            true => {
                let (less, many) = make(options.steps)?;
                price = less;
                Some(many)
            }
            false => None,
        };
        let band = (many.is_some() && method.graph().has_error()).then(|| {
            let DeviceOptions { variant, steps, tile } = *options;
            let outline = Outline::with_errors::<T>(&target, method.graph(), system, variant, steps, tile)?;
            Ok::<_, Error>(outline.build::<T>(system, target.family))
        });
        let band = band.transpose()?;
        Ok(Schedules { one, many, band, price })
    }
}

/// Builds the kernels of several options, those of each in one program. What cannot be built is left to whoever uses it.
pub(super) fn prepare<T: Real>(
    context: &Context,
    method: &Method,
    system: &System,
    options: impl Iterator<Item = DeviceOptions>,
) {
    let made = options.filter_map(|options| Schedules::new::<T>(context, method, system, &options).ok());
    for schedules in made {
        let _ = context.prepare_generated(&kernels(&schedules.one, &schedules.many, &schedules.band));
    }
}

/// The kernels of all schedules of a stepper.
fn kernels(one: &Schedule, many: &Option<Schedule>, band: &Option<Schedule>) -> Vec<GeneratedKernel> {
    all_launches(one, many, band).map(|launch| launch.kernel.clone()).collect()
}

/// The launches of all schedules of a stepper.
fn all_launches<'s>(
    one: &'s Schedule,
    many: &'s Option<Schedule>,
    band: &'s Option<Schedule>,
) -> impl Iterator<Item = &'s Launch> {
    std::iter::once(one).chain(many).chain(band).flat_map(|schedule| &schedule.launches)
}

impl<T: Real> Stepper<T> for DeviceStepper<T> {
    fn method(&self) -> &Method {
        &self.method
    }

    fn components(&self) -> usize {
        self.system.components()
    }

    fn set(&mut self, inputs: &[Vec<T>]) -> Result<()> {
        let places = self.one.plan.graph().inputs();
        if inputs.len() != places.len() || inputs.iter().any(|v| v.len() != self.system.components()) {
            let expected = format!("{} vectors of {} components", places.len(), self.system.components());
            return Err(Error::value("inputs", expected, format!("{} vectors", inputs.len())));
        }
        for (place, input) in places.iter().zip(inputs) {
            let role = self.one.plan.place(*place).expect("inputs are stored");
            self.buffers[self.roles[role]].write(input)?;
        }
        Ok(())
    }

    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>> {
        self.launch(Tried::One, &[t], h, tolerance)?;
        if !self.one.plan.graph().has_error() {
            return Ok(None);
        }
        Ok(self.norms(tolerance.norm)?.first().copied())
    }

    fn accept(&mut self) -> Result<()> {
        let plan = &self.schedule(self.tried).plan;
        let role = |v: Value| plan.place(v).expect("inputs and what is carried on are stored");
        let mut roles = vec![usize::MAX; self.roles.len()];
        for (input, value) in plan.graph().carries() {
            roles[role(*input)] = self.roles[role(*value)];
        }
        let mut left = self.roles.iter().copied().filter(|b| !roles.contains(b)).collect::<Vec<_>>();
        for empty in roles.iter_mut().filter(|r| **r == usize::MAX) {
            *empty = left.pop().expect("as many buffers are left as parts without one");
        }
        self.roles = roles;
        Ok(())
    }

    fn advance(&mut self, times: &[f64], h: f64) -> Result<()> {
        self.advance_with(times, h, &[])
    }

    fn advance_with(&mut self, times: &[f64], h: f64, arguments: &[f64]) -> Result<()> {
        let per = per_step(&self.method, times, arguments)?;
        let mut rest = times;
        let mut own = arguments;
        while !rest.is_empty() {
            let together = self.many.as_ref().map_or(1, |m| m.plan.graph().steps());
            let (now, later) = rest.split_at(if rest.len() < together { 1 } else { together });
            let (these, next) = own.split_at(per * now.len());
            self.arguments.clear();
            self.arguments.extend_from_slice(these);
            own = next;
            self.launch(if now.len() > 1 { Tried::Many } else { Tried::One }, now, h, &Tolerance::UNUSED)?;
            self.accept()?;
            rest = later;
        }
        Ok(())
    }

    fn steps_at_once(&self) -> usize {
        self.band.as_ref().map_or(1, |band| band.plan.graph().steps())
    }

    fn trial_steps(&mut self, t: f64, h: f64, steps: usize, tolerance: &Tolerance) -> Result<Vec<f64>> {
        if steps < self.steps_at_once() || self.band.is_none() {
            return Ok(self.trial(t, h, tolerance)?.into_iter().collect());
        }
        let times: Vec<f64> = (0..steps).map(|k| t + k as f64 * h).collect();
        self.launch(Tried::Band, &times, h, tolerance)?;
        self.begins = (times, h, *tolerance);
        self.norms(tolerance.norm)
    }

    fn accept_steps(&mut self, count: usize) -> Result<()> {
        if self.tried != Tried::Band || count == self.steps_at_once() {
            return self.accept();
        }
        // What a band began with is still there: the steps that are kept are computed once more.
        let (times, h, tolerance) = self.begins.clone();
        for t in &times[..count] {
            self.launch(Tried::One, &[*t], h, &tolerance)?;
            self.accept()?;
        }
        Ok(())
    }

    fn solution(&self) -> Result<Vec<T>> {
        Ok(self.solution_on_device()?.to_vec()?)
    }

    fn sibling(&self, method: &Method) -> Result<Self> {
        let stepper = DeviceStepper::new(&self.context, method, &self.system, Variant::Fused)?;
        Ok(DeviceStepper { times: self.times, ..stepper })
    }

    fn limit_times(&mut self, times: [f64; 2]) {
        self.times = times;
    }

    fn finish(&self) -> Result<bool> {
        self.context.finish()?;
        Ok(true)
    }

    fn component_name(&self, component: usize) -> String {
        self.system.component_name(component)
    }

    fn stored(&self, slot: Slot) -> Stored<'_, T> {
        Stored::Device(self.slot(slot))
    }

    fn load(&mut self, input: usize, from: Stored<'_, T>) -> Result<()> {
        from.copy_to(self.input_mut(input))
    }
}
