//! Where a command computes.

use clinalg::multigrid::Backend;
use clinalg::team::{Reduction, Team};
use clinalg::{Context, Error, KernelFamily};

use crate::args::DeviceName;
use crate::exit::{Failure, usage};
use crate::global::Global;
use crate::processes;
use crate::text::bytes;

/// The smallest number of points at which devices compute values themselves (separable functions, random numbers). For
/// fewer, the host needs less time than the driver needs to build the kernels.
const COMPUTED_POINTS: usize = 1 << 22;

/// Plain Rust, a device, or several.
pub(crate) enum Executor {
    Host,
    Device(Context),
    Team(Team),
}

impl Executor {
    /// As `--device` and `--devices` say; the backend `reference` takes no device.
    pub(crate) fn new(global: &Global, backend: Backend) -> Result<Executor, Failure> {
        Ok(match (global.team()?, backend) {
            (Some(_), Backend::Reference) => {
                return usage!("--backend reference uses no device: {}", global.on_no_device());
            }
            (Some(team), _) => Executor::Team(team),
            (None, Backend::Reference) => Executor::Host,
            (None, _) => Executor::Device(global.context(false)?),
        })
    }

    /// The contexts, in the order of the ranks.
    pub(crate) fn contexts(&self) -> &[Context] {
        match self {
            Executor::Host => &[],
            Executor::Device(context) => std::slice::from_ref(context),
            Executor::Team(team) => team.contexts(),
        }
    }

    /// The only device, or the first.
    pub(crate) fn device(&self) -> Option<DeviceName> {
        self.contexts().first().map(|context| context.device().into())
    }

    /// All devices.
    pub(crate) fn devices(&self) -> Vec<DeviceName> {
        self.contexts().iter().map(|context| context.device().into()).collect()
    }

    /// All devices, those of other processes included.
    pub(crate) fn devices_of_all(&self, global: &Global) -> Result<Vec<DeviceName>, Failure> {
        let own = self.devices();
        Ok(match &global.processes.0 {
            Some(processes) => processes::devices_of_all(&**processes, &own)?,
            None => own,
        })
    }

    /// The kernel family of the first device.
    pub(crate) fn family(&self) -> Option<KernelFamily> {
        self.contexts().first().map(Context::family)
    }

    /// Peak memory of all devices together.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.contexts().iter().map(|context| context.memory().peak_bytes).sum()
    }

    /// [`Executor::peak_bytes`] with the devices of other processes.
    pub(crate) fn peak_bytes_of_all(&self) -> Result<u64, Failure> {
        let Executor::Team(team) = self else { return Ok(self.peak_bytes()) };
        let of = |context: &Context| vec![context.memory().peak_bytes as f64];
        let bytes: Vec<Vec<f64>> = team.contexts().iter().map(of).collect();
        Ok(team.all_reduce(Reduction::Sum, &bytes)?[0] as u64)
    }

    /// Whether the devices compute the values at this many points.
    pub(crate) fn computes_values(&self, points: usize) -> bool {
        points >= COMPUTED_POINTS && !self.contexts().is_empty()
    }

    /// Whether they compute the values of separable functions, for which they need double precision.
    pub(crate) fn computes_separable(&self, points: usize) -> bool {
        self.computes_values(points) && self.contexts().iter().all(|context| context.device().fp64)
    }

    /// Waits for all devices.
    pub(crate) fn finish(&self) -> clinalg::Result<()> {
        match self {
            Executor::Host => Ok(()),
            Executor::Device(context) => context.finish(),
            Executor::Team(team) => team.finish(),
        }
    }
}

/// An error where the device cannot hold arrays of `all` bytes in total, or one array of `one` bytes on a grid of `points`; to be called before
/// anything is allocated.
///
/// # Errors
/// [`Error::Allocation`].
pub(crate) fn check_memory(context: &Context, points: &str, one: f64, all: f64) -> Result<(), Failure> {
    let device = context.device();
    let limit = if one > device.max_alloc as f64 {
        let (one, most) = (bytes(one as u64), bytes(device.max_alloc));
        format!("each grid of {points} points takes {one}, its largest single allocation is {most}")
    } else if all > device.global_mem as f64 {
        format!("it has {}", bytes(device.global_mem))
    } else {
        return Ok(());
    };
    Err(Failure::Library(Error::Allocation { bytes: all as u64, device: device.name.clone(), limit }))
}

/// The line of a report that names the devices.
pub(crate) fn device_description(devices: &[DeviceName], family: Option<KernelFamily>) -> String {
    let family = match family {
        Some(KernelFamily::Cpu) => ", kernels for cpu",
        Some(KernelFamily::Gpu) => ", kernels for gpu",
        None => "",
    };
    match devices {
        [] => "none, plain Rust".into(),
        [device] => format!("{device}{family}"),
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("{} devices{family}: {}", several.len(), names.join("; "))
        }
    }
}
