//! What the program `clinalg` does, as a library, so that programs that start it in several processes can share it: devices, self-test, Poisson by multigrid, waves, heat and elastodynamics by boundary elements, ODEs,
//! sparse solves, benchmarks, tuning.

mod args;
mod bench;
mod checkpoint;
mod data;
mod devices;
mod doctor;
mod elastodynamics;
mod exit;
mod files;
mod heat_bem;
mod interrupt;
mod messages;
mod ode;
mod options;
mod output;
mod overwrite;
mod phases;
mod place;
mod plot;
mod poisson;
mod processes;
mod progress;
mod schema;
mod series;
mod shell;
mod solve;
mod system;
mod tune;
mod wave;
mod waveform;

use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clinalg::team::Team;
use clinalg::{Context, ContextOptions, Device};

use crate::exit::{Exit, Failure};
use crate::output::Output;
pub use crate::processes::Processes;
use crate::processes::Shared;

const AFTER_HELP: &str = "\
Examples:
  clinalg devices                   list the OpenCL devices
  clinalg doctor                    test every operation on each of them
  clinalg poisson --plot u.png      solve -Laplace u = f by multigrid, draw u
  clinalg wave --plot frames        integrate the wave equation, draw frames
  clinalg heat-bem --plot w.png     solve the heat equation by boundary elements
  clinalg elastodynamics            waves in elastic materials by boundary elements
  clinalg ode --problem heat2d      integrate a system of ODEs; --list lists them
  clinalg ode FILE --series u.csv   integrate your own system, written as formulas
  clinalg waveform --n 64           integrate by waveform relaxation
  clinalg solve A.mtx --out x.mtx   solve a sparse system from a file
  clinalg bench                     measure operations against the memory bandwidth
  clinalg tune                      search for this device's launch parameters
  clinalg completions bash          completions of a shell; clinalg man: this manual

Environment:
  CLINALG_DEVICE     the default of --device: an index or a part of a name
  CLINALG_KERNEL_FAMILY
                     cpu or gpu: the kernel family [default: by the kind of
                     the device]
  CLINALG_CACHE_DIR  folder for built kernels, empty for none
                     [default: the user's cache folder]
  CLINALG_TUNE_DIR   folder for the tables of `clinalg tune`, empty for none
                     [default: the user's data folder]

Exit codes:
  0  success; a solver met its tolerance or reached the rounding floor
  1  a solver stopped before that, or a self-test failed
  2  wrong usage, or an argument or matrix that cannot be used
  3  no OpenCL, no device, or no device that matches the selector
  4  the device or its driver failed: memory, kernel build, no double precision
  5  a file could not be read or written, or its content is damaged
On the first Ctrl-C solve, poisson, wave, heat-bem, elastodynamics, waveform and ode stop and write
the result so far (exit code 1), on the second at once; --resume continues from the checkpoint.
Errors are reported on stderr; with --json also on stdout, as one object
{\"error\": {\"id\", \"message\", \"exit_code\"}}.";

/// Linear algebra and multigrid on any OpenCL device
#[derive(Parser)]
#[command(name = "clinalg", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

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
    device: Option<String>,
    /// Devices that share the work of poisson, wave, waveform, solve, ode, heat-bem or elastodynamics, or that bench measures: indices or parts of names, separated by commas, or `all`
    #[arg(
        long,
        global = true,
        value_name = "LIST",
        conflicts_with = "device",
        help_heading = "Options of every command",
        allow_negative_numbers = true
    )]
    devices: Option<String>,
    /// Read options from a TOML file, as written by --print-options; those on the command line override them
    #[arg(long, global = true, value_name = "FILE", help_heading = "Options of every command")]
    options: Option<std::path::PathBuf>,
    /// Print the options of this command line as TOML, with the defaults as comments, and do nothing else
    #[arg(long, global = true, help_heading = "Options of every command")]
    print_options: bool,
    /// Distribute the work according to the speed of the devices, measured by a short trial on each, instead of evenly
    #[arg(long, global = true, help_heading = "Options of every command")]
    balance: bool,
    /// Print one JSON document on stdout and nothing else
    #[arg(long, global = true, help_heading = "Options of every command")]
    json: bool,
    /// Print errors only: no report, no warnings, no progress (with --json, the document)
    #[arg(long, short, global = true, help_heading = "Options of every command", conflicts_with = "verbose")]
    quiet: bool,
    /// Add to the report levels and norms, the storage format of a matrix, the kernels built, the device memory, and a table of times by phase; name each kernel as it is compiled
    #[arg(long, short, global = true, help_heading = "Options of every command")]
    verbose: bool,
    /// The other processes, if any.
    #[arg(skip)]
    processes: Shared,
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
            return processes::team(&**processes, self).map(Some);
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

#[derive(Subcommand)]
enum Command {
    Devices(devices::Args),
    Doctor(doctor::Args),
    Poisson(poisson::Args),
    Wave(wave::Args),
    Waveform(waveform::Args),
    HeatBem(heat_bem::Args),
    Elastodynamics(elastodynamics::Args),
    Ode(ode::Args),
    Solve(solve::Args),
    Bench(bench::Args),
    Tune(tune::Args),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
    Schema(schema::Args),
}

impl Command {
    /// Whether several devices can share its work.
    fn takes_devices(&self) -> bool {
        matches!(
            self,
            Command::Poisson(_)
                | Command::Wave(_)
                | Command::Waveform(_)
                | Command::Solve(_)
                | Command::Ode(_)
                | Command::HeatBem(_)
                | Command::Elastodynamics(_)
                | Command::Bench(_)
        )
    }

    /// Whether several processes can share its work.
    fn takes_processes(&self) -> bool {
        matches!(
            self,
            Command::Poisson(_) | Command::Wave(_) | Command::Waveform(_) | Command::Solve(_) | Command::Ode(_)
        )
    }
}

/// How a run has ended. What there is to report is printed.
#[derive(Debug)]
pub struct Ended {
    /// The exit code, see `clinalg --help`.
    pub code: u8,
    /// Why it failed, if it did.
    pub failure: Option<Reason>,
}

/// Why a run failed.
#[derive(Debug)]
pub struct Reason {
    /// The identifier, such as `clinalg:argument:value`.
    pub id: &'static str,
    /// The message; of what failed on one device of a team, that of the cause.
    pub message: String,
}

impl From<Exit> for Ended {
    fn from(exit: Exit) -> Ended {
        Ended { code: exit as u8, failure: None }
    }
}

/// Runs the program with this command line, the program's name first. With `processes` the work is distributed over them: all of
/// them run the same command line, one prints and writes files.
pub fn run(words: Vec<String>, processes: Option<Arc<dyn Processes>>) -> Ended {
    if let Some(processes) = &processes {
        processes::start(processes.rank());
    }
    let json = words.iter().any(|word| word == "--json");
    if let Some(Err(error)) = processes.as_ref().map(|processes| processes.agree(env!("CARGO_PKG_VERSION"), &words)) {
        return Output::new(json).fail(&error.into());
    }
    let joined = options::arguments(words)
        .and_then(|(words, from_file)| checkpoint::arguments(words).map(|arguments| (arguments, from_file)));
    let (checkpoint::Arguments { words, resumed, left_out }, from_file) = match joined {
        Ok(joined) => joined,
        Err(failure) => return Output::new(json).fail(&failure),
    };
    // What is given beside --options and --resume replaces what these files say.
    let command = Cli::command().args_override_self(from_file || resumed);
    let matches = match command.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => return refuse(&error, json),
    };
    let mut cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => return refuse(&error, json),
    };
    cli.global.processes = Shared(processes);
    if cli.global.print_options {
        let mut out = Output::new(false);
        return match out.raw(options::print(&matches).as_bytes()) {
            Ok(()) => Exit::Done.into(),
            Err(failure) => out.fail(&failure),
        };
    }
    messages::start(&cli.global);
    if !left_out.is_empty() {
        let options = left_out.join(", ");
        log::warn!(
            target: "clinalg",
            "the run that wrote the checkpoint was given {options}; files to write are taken from this command line alone: give {} again to write {}",
            if left_out.len() == 1 { "the option" } else { "the options" },
            if left_out.len() == 1 { "it" } else { "them" }
        );
    }
    let mut out = Output::new(cli.global.json).quiet(cli.global.quiet).verbose(cli.global.verbose);
    if cli.global.devices.is_some() && !cli.command.takes_devices() {
        let words = "--devices works with poisson, wave, waveform, solve, ode, heat-bem, elastodynamics and bench; this command runs on one device; use --device";
        return out.fail(&Failure::usage(words));
    }
    if cli.global.processes.0.is_some() && !cli.command.takes_processes() {
        let words =
            "poisson, wave, waveform, solve and ode run in several processes; start `clinalg` for the other commands";
        return out.fail(&Failure::usage(words));
    }
    if cli.global.balance && !cli.global.is_shared() {
        return out.fail(&Failure::usage("--balance is for several devices: add --devices"));
    }
    let balances = matches!(
        cli.command,
        Command::Poisson(_) | Command::Wave(_) | Command::Waveform(_) | Command::Ode(_) | Command::HeatBem(_)
    );
    if cli.global.balance && !balances {
        let words = "--balance works with poisson, wave, waveform, ode and heat-bem";
        return out.fail(&Failure::usage(words));
    }
    if let Err(failure) = overwrite::check(&matches) {
        return out.fail(&failure);
    }
    let done = match &cli.command {
        Command::Devices(args) => devices::run(args, &cli.global, &mut out),
        Command::Doctor(args) => doctor::run(args, &cli.global, &mut out),
        Command::Poisson(args) => poisson::run(args, &cli.global, &mut out),
        Command::Wave(args) => wave::run(args, &cli.global, &mut out),
        Command::Waveform(args) => waveform::run(args, &cli.global, &mut out),
        Command::HeatBem(args) => heat_bem::run(args, &cli.global, &mut out),
        Command::Elastodynamics(args) => elastodynamics::run(args, &cli.global, &mut out),
        Command::Ode(args) => ode::run(args, &cli.global, &mut out),
        Command::Solve(args) => solve::run(args, &cli.global, &mut out),
        Command::Bench(args) => bench::run(args, &cli.global, &mut out),
        Command::Tune(args) => tune::run(args, &cli.global, &mut out),
        Command::Completions(args) => shell::completions(args, &mut out),
        Command::Man(args) => shell::man(args, &mut out),
        Command::Schema(args) => schema::run(args, &mut out),
    };
    match done.and_then(|exit| out.flush().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => out.fail(&failure),
    }
}

/// Prints help, version or what is wrong with the command line.
fn refuse(error: &clap::Error, json: bool) -> Ended {
    if processes::writes() {
        // Nothing is left to do where the reader has closed the pipe, or stderr cannot be written.
        let _ = error.print();
    }
    if !error.use_stderr() {
        return Exit::Done.into();
    }
    // What is wrong comes before the first empty line; usage and hints follow.
    let message = error.render().to_string();
    let what = message.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
    let failure = Failure::usage(what.split_whitespace().collect::<Vec<_>>().join(" "));
    Output::new(json).json_failure(&failure);
    failure.ended()
}
