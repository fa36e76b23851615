//! Steps on an OpenCL device.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use clinalg::runtime::{Arg, Buffer, File, Kernel, Range};
use clinalg::{Context, Real, Shape};

use crate::graph::Value;
use crate::integrate::{Norm, Slot, Stepper, Stored, Tolerance};
use crate::method::Method;
use crate::opencl;
use crate::plan::{Plan, Variant};
use crate::rhs::System;
use crate::{Error, Result};

/// A method's steps for a system, by kernels made for both.
///
/// A change of the step size, the time or a parameter compiles nothing. Sizes of the grid are part of the kernels.
pub struct DeviceStepper<T: Real> {
    context: Context,
    method: Method,
    plan: Plan,
    system: System,
    launches: Vec<Launch>,
    buffers: Vec<Buffer<T>>,
    /// Which buffer plays which part of the plan; changes when a step is taken.
    roles: Vec<usize>,
    parameters: Buffer<T>,
    partial: Buffer<T>,
}

struct Launch {
    kernel: Kernel,
    source: &'static str,
    buffers: Vec<usize>,
    reduces: bool,
}

impl<T: Real> DeviceStepper<T> {
    /// Compiles the kernels and takes the memory. Without an error estimate, drop it by [`Method::without_error`]: it costs
    /// work even where steps have a fixed size.
    ///
    /// # Errors
    /// Those of the device: a missing precision, too little memory, a failed build.
    pub fn new(context: &Context, method: &Method, system: &System, variant: Variant) -> Result<DeviceStepper<T>> {
        context.require::<T>()?;
        let plan = Plan::new(method.graph(), variant);
        let name = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let prefix = format!("{}_{}", method.name().chars().map(name).collect::<String>(), variant_name(variant));
        let prefix = format!("ode_{prefix}");
        let shape = context.shape();
        let launches: Vec<Launch> = (plan.groups().iter().enumerate())
            .map(|(k, group)| {
                let name = interned_name(format!("{prefix}_{k}"));
                let (file, source) =
                    interned(opencl::source::<T>(&plan, group, system, shape, name), system.is_dense());
                Launch {
                    kernel: Kernel::new(file, name, T::PRECISION),
                    source,
                    buffers: opencl::buffers(&plan, group),
                    reduces: opencl::reduces(&plan, group),
                }
            })
            .collect();
        let n = system.components();
        let zeroed = |len| Buffer::zeroed(context, len).map_err(Error::from);
        let buffers = (0..plan.buffers()).map(|_| zeroed(n)).collect::<Result<Vec<_>>>()?;
        let partials = match shape {
            Shape::Cpu => context.chunks(),
            Shape::Gpu => system.grid().points().div_ceil(context.local()),
        };
        let mut stepper = DeviceStepper {
            context: context.clone(),
            method: method.clone(),
            roles: (0..plan.buffers()).collect(),
            plan,
            system: system.clone(),
            launches,
            buffers,
            parameters: zeroed(system.constants::<T>().len().max(1))?,
            partial: zeroed(partials)?,
        };
        stepper.parameters.write_range(0, &system.constants::<T>())?;
        Ok(stepper)
    }

    /// The schedule.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The OpenCL C of each kernel, in their order.
    pub fn sources(&self) -> Vec<&str> {
        self.launches.iter().map(|launch| launch.source).collect()
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
        self.plan.words() as u64 * self.system.components() as u64 * size_of::<T>() as u64
    }

    /// Variant, device, kernels with what they read and write, words moved and memory taken.
    pub fn explain(&self) -> String {
        format!(
            "{}on {} ({:?} kernels), {} components: {} bytes moved a step, {} bytes of memory\n",
            self.plan.explain(),
            self.context.device().name,
            self.context.shape(),
            self.system.components(),
            self.bytes_per_step(),
            self.plan.buffers() as u64 * self.system.components() as u64 * size_of::<T>() as u64
        )
    }

    fn vector(&self, value: Value) -> &Buffer<T> {
        &self.buffers[self.roles[self.plan.place(value).expect("inputs and what is carried on are stored")]]
    }
}

fn variant_name(variant: Variant) -> &'static str {
    match variant {
        Variant::Basic => "basic",
        Variant::Fused => "fused",
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
        let places = self.plan.graph().inputs();
        if inputs.len() != places.len() || inputs.iter().any(|v| v.len() != self.system.components()) {
            let expected = format!("{} vectors of {} components", places.len(), self.system.components());
            return Err(Error::value("inputs", expected, format!("{} vectors", inputs.len())));
        }
        for (place, input) in places.iter().zip(inputs) {
            let role = self.plan.place(*place).expect("inputs are stored");
            self.buffers[self.roles[role]].write(input)?;
        }
        Ok(())
    }

    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>> {
        let points = self.system.grid().points();
        let range = match self.context.shape() {
            Shape::Cpu => Range::d1(self.context.chunks(), 1),
            Shape::Gpu => Range::d1(points, self.context.local()),
        };
        let mut reduced = false;
        for launch in &self.launches {
            let mut args = vec![
                Arg::real::<T>(t),
                Arg::real::<T>(h),
                Arg::real::<T>(tolerance.relative),
                Arg::real::<T>(tolerance.absolute),
                Arg::U32(u32::from(tolerance.norm == Norm::Max)),
                self.parameters.arg(),
                self.partial.arg(),
            ];
            args.extend(launch.buffers.iter().map(|role| self.buffers[self.roles[*role]].arg()));
            // SAFETY: the arguments are those that `opencl::source` writes, in its order; all buffers are of this context and
            // have the components that the kernels were made for, `partial` one value for each item or work-group.
            unsafe { self.context.launch_kernel(&launch.kernel, range, &args)? };
            reduced |= launch.reduces;
        }
        if !reduced {
            return Ok(None);
        }
        let parts = self.partial.to_vec()?;
        Ok(Some(match tolerance.norm {
            Norm::Rms => (parts.iter().map(|v| v.wide()).sum::<f64>() / self.components().max(1) as f64).sqrt(),
            // `f64::max` would lose NaN.
            Norm::Max => parts.iter().map(|v| v.wide()).fold(0.0, |m: f64, q| if m.is_nan() || q <= m { m } else { q }),
        }))
    }

    fn accept(&mut self) -> Result<()> {
        let role = |v: Value| self.plan.place(v).expect("inputs and what is carried on are stored");
        let mut roles = vec![usize::MAX; self.roles.len()];
        for (input, value) in self.plan.graph().carries() {
            roles[role(*input)] = self.roles[role(*value)];
        }
        let mut left = self.roles.iter().copied().filter(|b| !roles.contains(b)).collect::<Vec<_>>();
        for empty in roles.iter_mut().filter(|r| **r == usize::MAX) {
            *empty = left.pop().expect("as many buffers are left as parts without one");
        }
        self.roles = roles;
        Ok(())
    }

    fn solution(&self) -> Result<Vec<T>> {
        let graph = self.plan.graph();
        let carry = graph.carries().iter().find(|(_, value)| *value == graph.solution());
        let (input, _) = carry.expect("the solution of a finished graph is carried on");
        Ok(self.vector(*input).to_vec()?)
    }

    fn sibling(&self, method: &Method) -> Result<Self> {
        DeviceStepper::new(&self.context, method, &self.system, Variant::Fused)
    }

    fn stored(&self, slot: Slot) -> Stored<'_, T> {
        let graph = self.plan.graph();
        Stored::Device(self.vector(match slot {
            Slot::Input(k) => graph.inputs()[k],
            Slot::Result => graph.solution(),
        }))
    }

    fn load(&mut self, input: usize, from: Stored<'_, T>) -> Result<()> {
        let place = self.plan.graph().inputs()[input];
        let role = self.roles[self.plan.place(place).expect("inputs are stored")];
        match from {
            Stored::Host(values) => self.buffers[role].write(values)?,
            Stored::Device(buffer) if buffer.context().same(&self.context) => self.buffers[role].copy_from(buffer)?,
            Stored::Device(buffer) => self.buffers[role].write(&buffer.to_vec()?)?,
        }
        Ok(())
    }
}

type Texts = Mutex<Option<HashMap<String, &'static str>>>;
static NAMES: Texts = Mutex::new(None);
static FILES: Mutex<Option<HashMap<(&'static str, bool), &'static File>>> = Mutex::new(None);

/// The text for the rest of the process, once.
fn interned_name(text: String) -> &'static str {
    let mut all = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_with(HashMap::new);
    if let Some(known) = all.get(&text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.clone().into_boxed_str());
    all.insert(text, kept);
    kept
}

/// A kernel file for a generated source, which may take tiny numbers as zero, once for each source: contexts keep programs by the names of their files, for as
/// long as they live.
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
