//! The processes that share a run out, where a launcher has started several.

use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;

use clinalg::runtime::{DeviceInfo, DeviceKind, devices};
use clinalg::team::{Network, Team};
use clinalg::{Context, ContextOptions, Device, Result};

use crate::args::DeviceName;

/// What starts several processes and connects them, such as MPI. All processes make the same calls in the same order.
pub trait Processes: Send + Sync {
    /// The number of this process, which is the rank of its device; process 0 prints and writes files.
    fn rank(&self) -> usize;

    /// The number of this process among those of its host, which take the devices in turn.
    fn rank_on_host(&self) -> usize;

    /// Compares the version of the library and the command line of all processes; the first call.
    ///
    /// # Errors
    /// [`clinalg::Error::Rank`] with the first rank that differs from rank 0, the same on all processes; as [`Network::exchange`].
    fn agree(&self, version: &str, words: &[String]) -> Result<()>;

    /// The texts that all processes pass, in the order of the ranks.
    ///
    /// # Errors
    /// As [`Network::exchange`].
    fn gather(&self, text: &str) -> Result<Vec<String>>;

    /// The connection of a team with one rank in each process, where this one has the device of that name.
    ///
    /// # Errors
    /// As [`Network::exchange`].
    fn network(&self, device: &str) -> Result<Box<dyn Network>>;
}

/// [`Processes`] as an option that is never on the command line.
#[derive(Clone, Default)]
pub(crate) struct Shared(pub(crate) Option<Arc<dyn Processes>>);

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.0.as_ref().map(|processes| processes.rank())).finish()
    }
}

/// The rank of this process where there are several.
static RANK: OnceLock<usize> = OnceLock::new();

/// From now on this is process `rank` of several.
pub(crate) fn start(rank: usize) {
    let _ = RANK.set(rank);
}

/// The rank of this process where there are several.
pub(crate) fn rank() -> Option<usize> {
    RANK.get().copied()
}

/// Whether this process prints and writes files.
pub(crate) fn writes() -> bool {
    rank().is_none_or(|rank| rank == 0)
}

/// The team with the device of this process, chosen by `--device`, `one`, and `--devices`, `list`.
pub(crate) fn team(processes: &dyn Processes, one: Option<&str>, list: Option<&str>) -> Result<Team> {
    let device = device(processes.rank_on_host(), one, list)?;
    let context = Context::new(&device, &ContextOptions::default())?;
    let network = processes.network(&context.device().name)?;
    Team::with_network(vec![context], network)
}

/// The device of the process `turn` of a host: of the list, else of all GPUs, or of all devices where there is no GPU.
fn device(turn: usize, one: Option<&str>, list: Option<&str>) -> Result<Device> {
    let listed = match (one, list.map(str::trim)) {
        (Some(selector), _) => vec![Device::select(selector)?],
        (None, Some("all")) => devices()?,
        (None, Some(list)) => list.split(',').map(Device::select).collect::<Result<_>>()?,
        (None, None) if std::env::var_os("CLINALG_DEVICE").is_some_and(|name| !name.is_empty()) => {
            vec![Device::default_device()?]
        }
        (None, None) => {
            let all = devices()?;
            let gpu = |info: &DeviceInfo| info.kind == DeviceKind::Gpu;
            let gpus: Vec<Device> = all.iter().filter(|device| gpu(device.info())).cloned().collect();
            if gpus.is_empty() { all } else { gpus }
        }
    };
    match listed.len() {
        // The error that there is none.
        0 => Device::default_device(),
        count => Ok(listed[turn % count].clone()),
    }
}

/// The devices of all processes.
pub(crate) fn devices_of_all(processes: &dyn Processes, own: &[DeviceName]) -> Result<Vec<DeviceName>> {
    let text = own.first().map(DeviceName::to_text).unwrap_or_default();
    Ok(processes.gather(&text)?.iter().filter_map(|text| DeviceName::from_text(text)).collect())
}
