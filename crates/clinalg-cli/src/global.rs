//! Options of every command.

use clinalg::team::Team;
use clinalg::{Context, ContextOptions, Device};

use crate::processes::{self, Shared};

/// Options of every command.
#[derive(clap::Args)]
pub(crate) struct Global {
    /// Device to use: its index in `clinalg devices`, or a part of its name or platform (case-insensitive)
    /// [default: CLINALG_DEVICE, else the first GPU, else the first device]
    #[arg(
        long,
        global = true,
        value_name = "SELECTOR",
        help_heading = "Options of every command",
        allow_negative_numbers = true
    )]
    pub(crate) device: Option<String>,
    /// Devices that share the work of poisson, wave, waveform, solve, ode, heat-bem or elastodynamics, or that bench measures: indices or parts of names, separated by commas, or `all`
    #[arg(
        long,
        global = true,
        value_name = "LIST",
        conflicts_with = "device",
        help_heading = "Options of every command",
        allow_negative_numbers = true
    )]
    pub(crate) devices: Option<String>,
    /// Read options from a TOML file, as written by --print-options; those on the command line override them
    #[arg(long, global = true, value_name = "FILE", help_heading = "Options of every command")]
    pub(crate) options: Option<std::path::PathBuf>,
    /// Print the options of this command line as TOML, with the defaults as comments, and do nothing else
    #[arg(long, global = true, help_heading = "Options of every command")]
    pub(crate) print_options: bool,
    /// Distribute the work according to the speed of the devices, measured by a short trial on each, instead of evenly
    #[arg(long, global = true, help_heading = "Options of every command")]
    pub(crate) balance: bool,
    /// Print one JSON document on stdout and nothing else; `clinalg schema COMMAND` says what its keys mean
    #[arg(long, global = true, help_heading = "Options of every command")]
    pub(crate) json: bool,
    /// Print errors only: no report, no warnings, no progress (with --json, the document)
    #[arg(long, short, global = true, help_heading = "Options of every command", conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Add to the report levels and norms, the storage format of a matrix, the kernels built, the device memory, and a table of times by phase; name each kernel as it is compiled
    #[arg(long, short, global = true, help_heading = "Options of every command")]
    pub(crate) verbose: bool,
    /// The other processes, if any.
    #[arg(skip)]
    pub(crate) processes: Shared,
}

impl Global {
    /// The selected device, or the default one.
    pub(crate) fn device(&self) -> clinalg::Result<Device> {
        match &self.device {
            Some(selector) => Device::select(selector),
            None => Device::default_device(),
        }
    }

    /// The devices of `--devices`, or those of all processes.
    pub(crate) fn team(&self) -> clinalg::Result<Option<Team>> {
        if let Some(processes) = &self.processes.0 {
            return processes::team(&**processes, self.device.as_deref(), self.devices.as_deref()).map(Some);
        }
        self.devices.as_deref().map(|list| Team::select(list, &ContextOptions::default())).transpose()
    }

    /// Whether several devices, or processes, share the work.
    pub(crate) fn is_shared(&self) -> bool {
        self.devices.is_some() || self.processes.0.is_some()
    }

    /// What to do in place of that for work that takes one device.
    pub(crate) fn on_one_device(&self) -> &'static str {
        match &self.processes.0 {
            Some(_) => "start `clinalg` in one process instead",
            None => "use --device instead of --devices",
        }
    }

    /// What to do in place of that for work that takes no device.
    pub(crate) fn on_no_device(&self) -> &'static str {
        match &self.processes.0 {
            Some(_) => "start `clinalg` in one process instead",
            None => "leave --devices out",
        }
    }

    /// A context on [`Global::device`].
    pub(crate) fn context(&self, profiling: bool) -> clinalg::Result<Context> {
        Context::new(&self.device()?, &ContextOptions { profiling, ..ContextOptions::default() })
    }
}
