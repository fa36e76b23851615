//! Where a command computes.

use clinalg::multigrid::Backend;
use clinalg::team::Team;
use clinalg::{Context, KernelFamily};

use crate::Global;
use crate::args::DeviceName;
use crate::exit::Failure;

/// Plain Rust, a device, or several.
pub(crate) enum Place {
    Host,
    Device(Context),
    Team(Team),
}

impl Place {
    /// As `--device` and `--devices` say; the backend `reference` takes no device.
    pub(crate) fn new(global: &Global, backend: Backend) -> Result<Place, Failure> {
        Ok(match (global.team()?, backend) {
            (Some(_), Backend::Reference) => {
                return Err(Failure::usage("--backend reference takes no device: leave --devices out"));
            }
            (Some(team), _) => Place::Team(team),
            (None, Backend::Reference) => Place::Host,
            (None, _) => Place::Device(global.context(false)?),
        })
    }

    /// The contexts, in the order of the ranks.
    pub(crate) fn contexts(&self) -> &[Context] {
        match self {
            Place::Host => &[],
            Place::Device(context) => std::slice::from_ref(context),
            Place::Team(team) => team.contexts(),
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

    /// The kernel family of the first device.
    pub(crate) fn family(&self) -> Option<KernelFamily> {
        self.contexts().first().map(Context::family)
    }

    /// Peak memory of all devices together.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.contexts().iter().map(|context| context.memory().peak_bytes).sum()
    }

    /// Waits for all devices.
    pub(crate) fn finish(&self) -> clinalg::Result<()> {
        match self {
            Place::Host => Ok(()),
            Place::Device(context) => context.finish(),
            Place::Team(team) => team.finish(),
        }
    }
}

/// The line of a report that names the devices.
pub(crate) fn device_words(devices: &[DeviceName], family: Option<KernelFamily>) -> String {
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
