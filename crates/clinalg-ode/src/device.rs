//! Steps on an OpenCL device.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clinalg::runtime::{Arg, Buffer, DeviceKind, File};
use clinalg::{Context, Real, Vector, ops};

use crate::choose::{Choice, RUNS, WARM, check_memory, choose, choose_untried};
use crate::graph::Value;
use crate::integrate::{Norm, Slot, Stepper, Stored, Tolerance};
use crate::method::Method;
use crate::plan::{Plan, Variant};
use crate::rhs::System;
use crate::schedule::{Outline, Schedule, Target, Tile, Together, work};
use crate::{Error, Result};

/// How the kernels of a [`DeviceStepper`] are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceOptions {
    /// The variant.
    pub variant: Variant,
    /// Steps of a fixed size that tiles compute at once where they can, see [`Stepper::advance`]; 1 for none.
    pub steps: usize,
    /// Sizes of tiles; `None` for those of the model.
    pub tile: Option<Tile>,
}

impl Default for DeviceOptions {
    fn default() -> DeviceOptions {
        DeviceOptions { variant: Variant::Auto, steps: 1, tile: None }
    }
}

/// A method's steps for a system, by kernels made for both.
///
/// A change of the step size, the time or a parameter compiles nothing. Sizes of the grid are part of the kernels.
pub struct DeviceStepper<T: Real> {
    context: Context,
    method: Method,
    system: System,
    /// The kernels of one step.
    one: Schedule,
    /// Those of several, and with the error of each.
    many: Option<Schedule>,
    band: Option<Schedule>,
    /// Which of them ran last.
    tried: Tried,
    /// Where the steps of the band tried last began, with their size and tolerance.
    begins: (Vec<f64>, f64, Tolerance),
    buffers: Vec<Vector<T>>,
    /// Which buffer plays which part of the plan; changes when a step is taken.
    roles: Vec<usize>,
    parameters: Buffer<T>,
    partial: Vector<T>,
    /// What work-groups that wait for each other have in common.
    common: Option<Common>,
    /// Why this variant runs, where nobody said which.
    reason: Option<String>,
    /// Seconds of a step, where they were measured.
    timing: Option<Timing>,
    /// What a step costs by the model, in words of a component moved at the rate of a copy.
    price: f64,
}

/// What work-groups that wait for each other have in common.
struct Common {
    /// How many have arrived, over all launches; whether any gave up; the flags.
    sync: Buffer<u32>,
    arrived: u32,
    launches: u32,
    /// How often a group asks for a flag before it gives up, and for the others of a meeting.
    patience: u32,
    meeting: u32,
}

impl Common {
    fn new(context: &Context, flags: usize) -> Result<Common> {
        // Seconds, where microseconds are needed; of a meeting a part of one. Processors ask their own cache.
        let (patience, meeting) = match context.device().kind {
            DeviceKind::Cpu => (1 << 31, 1 << 28),
            _ => (1 << 22, 1 << 16),
        };
        Ok(Common { sync: Buffer::zeroed(context, 2 + flags)?, arrived: 0, launches: 0, patience, meeting })
    }

    /// Whether no group has waited in vain.
    fn met(&self) -> Result<bool> {
        let mut gave_up = [0];
        self.sync.read_range(1, &mut gave_up)?;
        Ok(gave_up == [0])
    }
}

/// What a step takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Median seconds measured.
    pub seconds: f64,
    /// Seconds by the model, at the rate of `copy`.
    pub expected: f64,
    /// Bytes read and written in a second by a copy of a vector.
    pub copy: f64,
}

/// Most parts of an error norm that are read back; more are joined on the device first.
const PARTIALS: usize = 8192;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Tried {
    One,
    Many,
    Band,
}

impl<T: Real> DeviceStepper<T> {
    /// Compiles the kernels and takes the memory. Without an error estimate, drop it by [`Method::without_error`]: it costs
    /// work even where steps have a fixed size.
    ///
    /// # Errors
    /// Those of the device: a missing precision, too little memory, a failed build; [`Error::Variant`] where the system
    /// does not allow the variant.
    pub fn new(context: &Context, method: &Method, system: &System, variant: Variant) -> Result<DeviceStepper<T>> {
        DeviceStepper::with(context, method, system, &DeviceOptions { variant, ..DeviceOptions::default() })
    }

    /// The same with sizes of tiles and several steps at once.
    ///
    /// # Errors
    /// Those of [`DeviceStepper::new`].
    pub fn with(
        context: &Context,
        method: &Method,
        system: &System,
        options: &DeviceOptions,
    ) -> Result<DeviceStepper<T>> {
        context.require::<T>()?;
        let chosen = match options.variant {
            Variant::Auto => Some(choose::<T>(context, method, system, options)?),
            _ => None,
        };
        let options = chosen.as_ref().map_or(*options, |c| c.options);
        DeviceStepper::possible(context, method, system, &options, chosen.map(|c| c.reason))
    }

    /// Of these kernels, or where work-groups would have to wait for each other and cannot, of those of a wavefront.
    fn possible(
        context: &Context,
        method: &Method,
        system: &System,
        options: &DeviceOptions,
        reason: Option<String>,
    ) -> Result<DeviceStepper<T>> {
        match DeviceStepper::made(context, method, system, options, reason) {
            Err(Error::Variant { reason, .. }) if options.variant == Variant::Cooperative => {
                let instead = DeviceOptions { variant: Variant::Wavefront, tile: None, ..*options };
                DeviceStepper::made(context, method, system, &instead, Some(format!("not cooperative: {reason}")))
            }
            made => made,
        }
    }

    /// As [`DeviceStepper::new`], but [`Variant::Auto`] takes what the tuning table has for such problems, or what the model
    /// says, without a trial.
    ///
    /// # Errors
    /// Those of [`DeviceStepper::new`].
    pub fn untried(context: &Context, method: &Method, system: &System, variant: Variant) -> Result<DeviceStepper<T>> {
        if variant != Variant::Auto {
            return DeviceStepper::new(context, method, system, variant);
        }
        context.require::<T>()?;
        let Choice { options, reason } = choose_untried::<T>(context, method, system)?;
        DeviceStepper::possible(context, method, system, &options, Some(reason))
    }

    fn made(
        context: &Context,
        method: &Method,
        system: &System,
        options: &DeviceOptions,
        reason: Option<String>,
    ) -> Result<DeviceStepper<T>> {
        let target = Target::of(context);
        let work = work(&target, method.graph(), system);
        let make = |steps| {
            let outline = Outline::new::<T>(&target, method.graph(), system, options.variant, steps, options.tile)?;
            Ok::<_, Error>((outline.price(work), outline.build::<T>(system, target.shape)))
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
            Ok::<_, Error>(outline.build::<T>(system, target.shape))
        });
        let band = band.transpose()?;
        let n = system.components();
        let zeroed = |len| Vector::zeros(context, len).map_err(Error::from);
        let several = || many.iter().chain(&band);
        let count = several().map(|m| m.plan.buffers()).fold(one.plan.buffers(), usize::max);
        let partials = several().map(|m| m.partials.iter().sum()).fold(one.partials.iter().sum(), usize::max);
        check_memory::<T>(context, method, system, options, count)?;
        let buffers = (0..count).map(|_| zeroed(n)).collect::<Result<Vec<_>>>()?;
        let all = || [&one].into_iter().chain(several()).flat_map(|m| &m.launches);
        let flags = all().filter_map(|l| l.together).map(|t| t.flags).max();
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
                    // A unit may have room for fewer than were wanted.
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
        let mut sources: Vec<&str> = all.flat_map(|s| &s.launches).map(|launch| launch.source).collect();
        // The blocks of a wavefront have the same kernels.
        let mut seen = std::collections::HashSet::new();
        sources.retain(|source| seen.insert(*source));
        sources
    }

    /// Measures what a step takes and a copy of a vector beside it. Steps of size 0 are computed for that and not taken.
    ///
    /// # Errors
    /// Those of the device; memory for two more vectors is needed.
    pub fn measure(&mut self) -> Result<Timing> {
        let n = self.system.components();
        let (what, steps) = match &self.many {
            Some(many) => (Tried::Many, many.plan.graph().steps()),
            None => (Tried::One, 1),
        };
        let from = Vector::<T>::zeros(&self.context, n)?;
        let mut to = Vector::<T>::zeros(&self.context, n)?;
        let context = self.context.clone();
        let times = vec![0.0; steps];
        let (mut step, mut copied) = (Vec::new(), Vec::new());
        for run in 0..WARM + RUNS {
            let start = Instant::now();
            self.launch(what, &times, 0.0, &Tolerance::UNUSED)?;
            context.finish()?;
            let between = Instant::now();
            ops::copy(&from, &mut to)?;
            context.finish()?;
            if run >= WARM {
                step.push((between - start).as_secs_f64() / steps as f64);
                copied.push(between.elapsed().as_secs_f64());
            }
        }
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[RUNS / 2].max(f64::MIN_POSITIVE)
        };
        let bytes = (n * size_of::<T>()) as f64;
        let copy = 2.0 * bytes / median(&mut copied);
        let timing = Timing { seconds: median(&mut step), expected: self.price * bytes / copy, copy };
        self.timing = Some(timing);
        Ok(timing)
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
        let values: Vec<T> = self.system.parameters().map(|(_, v)| T::of(v)).collect();
        Ok(self.parameters.write_range(0, &values)?)
    }

    /// Bytes that a step moves by the word model: words times components times bytes of a value.
    pub fn bytes_per_step(&self) -> u64 {
        (self.one.words * (self.system.components() * size_of::<T>()) as f64) as u64
    }

    /// Variant, device, kernels with what they read and write, words moved and memory taken; what a step takes by the model
    /// and by the clock after [`DeviceStepper::measure`].
    pub fn explain(&self) -> String {
        let reason = self.reason.as_ref().map_or(String::new(), |r| format!("chosen: {r}\n"));
        let many = self.many.as_ref().map_or(String::new(), Schedule::explain);
        let timing = self.timing.map_or(String::new(), |t| {
            format!(
                "a step: {:.4} ms expected at the {:.1} GB/s of a copy, {:.4} ms measured\n",
                t.expected * 1e3,
                t.copy * 1e-9,
                t.seconds * 1e3
            )
        });
        format!(
            "{reason}{}{many}{timing}on {} ({:?} kernels), {} components: {} bytes moved a step, {} bytes of memory\n",
            self.one.explain(),
            self.context.device().name,
            self.context.shape(),
            self.system.components(),
            self.bytes_per_step(),
            self.buffers.len() as u64 * self.system.components() as u64 * size_of::<T>() as u64
        )
    }

    /// Enqueues the kernels of one step or of several from `times` on.
    fn launch(&mut self, what: Tried, times: &[f64], h: f64, tolerance: &Tolerance) -> Result<()> {
        for number in 0..self.schedule(what).launches.len() {
            self.enqueue(what, number, times, h, tolerance, None)?;
        }
        self.tried = what;
        Ok(())
    }

    /// Enqueues one kernel. Where groups wait for each other, they only meet if it is said how often they ask.
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
        let (kernel, range, together) = (launch.kernel, launch.range, launch.together);
        let mut args: Vec<Arg> = times.iter().map(|t| Arg::real::<T>(*t)).collect();
        args.extend([
            Arg::real::<T>(h),
            Arg::real::<T>(tolerance.relative),
            Arg::real::<T>(tolerance.absolute),
            Arg::U32(u32::from(tolerance.norm == Norm::Max)),
            self.parameters.arg(),
            self.partial.buffer().arg(),
        ]);
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
        unsafe { self.context.launch_kernel(&kernel, range, &args)? };
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
        self.check()?;
        let counts = &self.schedule(self.tried).partials;
        let mean = |sum: f64| (sum / self.components().max(1) as f64).sqrt();
        let total = counts.iter().sum();
        if total > PARTIALS {
            let mut first = 0;
            let mut take = |&count: &usize| {
                let part;
                let own = if count == self.partial.len() {
                    &self.partial
                } else {
                    part = self.partial.slice(first..first + count)?;
                    &part
                };
                first += count;
                Ok(match norm {
                    Norm::Rms => mean(ops::sum(own)?.wide()),
                    Norm::Max => ops::norm_inf(own)?.wide(),
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
            let values = own.iter().map(|v| v.wide());
            match norm {
                Norm::Rms => mean(values.sum()),
                // `f64::max` would lose NaN.
                Norm::Max => values.fold(0.0, |m: f64, q| if m.is_nan() || q <= m { m } else { q }),
            }
        };
        Ok(counts.iter().map(&mut take).collect())
    }

    fn vector(&self, value: Value) -> &Vector<T> {
        &self.buffers[self.roles[self.one.plan.place(value).expect("inputs and what is carried on are stored")]]
    }
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
        let mut rest = times;
        while !rest.is_empty() {
            let together = self.many.as_ref().map_or(1, |m| m.plan.graph().steps());
            let (now, later) = rest.split_at(if rest.len() < together { 1 } else { together });
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
        let graph = self.one.plan.graph();
        let carry = graph.carries().iter().find(|(_, value)| *value == graph.solution());
        let (input, _) = carry.expect("the solution of a finished graph is carried on");
        self.check()?;
        Ok(self.vector(*input).to_vec()?)
    }

    fn sibling(&self, method: &Method) -> Result<Self> {
        DeviceStepper::new(&self.context, method, &self.system, Variant::Fused)
    }

    fn stored(&self, slot: Slot) -> Stored<'_, T> {
        let graph = self.one.plan.graph();
        Stored::Device(self.vector(match slot {
            Slot::Input(k) => graph.inputs()[k],
            Slot::Result => graph.solution(),
        }))
    }

    fn load(&mut self, input: usize, from: Stored<'_, T>) -> Result<()> {
        let place = self.one.plan.graph().inputs()[input];
        let role = self.roles[self.one.plan.place(place).expect("inputs are stored")];
        from.copy_to(&mut self.buffers[role])
    }
}

type Texts = Mutex<Option<HashMap<String, &'static str>>>;
static NAMES: Texts = Mutex::new(None);
static FILES: Mutex<Option<HashMap<(&'static str, bool), &'static File>>> = Mutex::new(None);

/// The text for the rest of the process, once.
pub(crate) fn interned_name(text: String) -> &'static str {
    let mut all = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_with(HashMap::new);
    if let Some(known) = all.get(&text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.clone().into_boxed_str());
    all.insert(text, kept);
    kept
}

/// A kernel file for a generated source, which may take tiny numbers as zero, once for each source: contexts keep programs by
/// the names of their files, for as long as they live.
pub(crate) fn interned(source: String, flushes: bool) -> (&'static File, &'static str) {
    let source = interned_name(source);
    let mut all = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let file = all.get_or_insert_with(HashMap::new).entry((source, flushes)).or_insert_with(|| {
        // Two hashes, so that no two sources share a name; the same in every process, for the cache on disk.
        let hash = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, source, flushes).hash(&mut hasher);
            hasher.finish()
        };
        let name = interned_name(format!("ode_{:016x}{:016x}", hash(0), hash(1)));
        let file = File::new(name, source);
        Box::leak(Box::new(if flushes { file.flushing() } else { file }))
    });
    (file, source)
}
