//! What the program `clinalg` does, as a library, so that programs that start it in several processes can share it: devices, self-test, Poisson by multigrid, waves, heat and elastodynamics by boundary elements, ODEs,
//! sparse solves, benchmarks, tuning.

mod args;
mod bench;
mod cache;
mod checkpoint;
mod child;
mod data;
mod devices;
mod doctor;
mod document;
mod elastodynamics;
mod executor;
mod exit;
mod files;
mod global;
mod heat_bem;
mod help;
mod interrupt;
mod messages;
mod ode;
mod options;
mod output;
mod overwrite;
mod paths;
mod phases;
mod plot;
mod poisson;
mod processes;
mod progress;
mod schema;
mod series;
mod shell;
mod solve;
mod system;
mod text;
mod tune;
mod wave;
mod waveform;

use std::io::Write as _;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use crate::exit::{Ended, Reason};
use crate::exit::{Exit, Failure, check_options};
use crate::global::Global;
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
  clinalg cache --warm              compile the kernels of all commands in advance
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

impl Cli {
    /// The program with all options of each command.
    fn program() -> clap::Command {
        let mut program = Cli::command();
        program.build();
        program
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
    Cache(cache::Args),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
    Schema(schema::Args),
}

impl Cli {
    /// An error for options of several devices and for several processes, where the command does not take them.
    fn check_sharing(&self) -> Result<(), Failure> {
        use Command::{Bench, Elastodynamics, HeatBem, Ode, Poisson, Solve, Wave, Waveform};
        let (global, command) = (&self.global, &self.command);
        let takes_processes = matches!(command, Poisson(_) | Wave(_) | Waveform(_) | Solve(_) | Ode(_));
        let takes_devices = takes_processes || matches!(command, HeatBem(_) | Elastodynamics(_) | Bench(_));
        let balances = matches!(command, Poisson(_) | Wave(_) | Waveform(_) | Ode(_) | HeatBem(_));
        check_options(&[
            (
                global.devices.is_some() && !takes_devices,
                "--devices works with poisson, wave, waveform, solve, ode, heat-bem, elastodynamics and bench; this command runs on one device; use --device",
            ),
            (
                global.processes.0.is_some() && !takes_processes,
                "this command runs in one process only: start it with `clinalg`, without mpirun; poisson, wave, waveform, solve and ode run in several processes",
            ),
            (global.balance && !global.is_shared(), "--balance is for several devices: add --devices"),
            (global.balance && !balances, "--balance works with poisson, wave, waveform, ode and heat-bem"),
        ])
    }

    fn run(&self, out: &mut Output) -> Result<Exit, Failure> {
        let global = &self.global;
        match &self.command {
            Command::Devices(args) => devices::run(args, global, out),
            Command::Doctor(args) => doctor::run(args, global, out),
            Command::Poisson(args) => poisson::run(args, global, out),
            Command::Wave(args) => wave::run(args, global, out),
            Command::Waveform(args) => waveform::run(args, global, out),
            Command::HeatBem(args) => heat_bem::run(args, global, out),
            Command::Elastodynamics(args) => elastodynamics::run(args, global, out),
            Command::Ode(args) => ode::run(args, global, out),
            Command::Solve(args) => solve::run(args, global, out),
            Command::Bench(args) => bench::run(args, global, out),
            Command::Tune(args) => tune::run(args, global, out),
            Command::Cache(args) => cache::run(args, global, out),
            Command::Completions(args) => shell::completions(args, Cli::command(), out),
            Command::Man(args) => shell::man(args, Cli::command(), out),
            Command::Schema(args) => schema::run(args, out),
        }
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
    let program = Cli::program();
    let joined = options::arguments(words, &program)
        .and_then(|(words, from_file)| checkpoint::arguments(words, &program).map(|arguments| (arguments, from_file)));
    let (checkpoint::Arguments { words, resumed, left_out }, from_file) = match joined {
        Ok(joined) => joined,
        Err(failure) => return Output::new(json).fail(&failure),
    };
    // What is given beside --options and --resume replaces what these files say.
    let command = help::with_short_and_long_help(Cli::command()).args_override_self(from_file || resumed);
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
        return match out.raw(options::print(&matches, &program).as_bytes()) {
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
    let done = cli.check_sharing().and_then(|()| overwrite::check(&matches, &program)).and_then(|()| cli.run(&mut out));
    match done.and_then(|exit| out.flush().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => out.fail(&failure),
    }
}

/// Prints help, version or what is wrong with the command line.
fn refuse(error: &clap::Error, json: bool) -> Ended {
    if processes::writes() {
        // Nothing is left to do where the reader has closed the pipe, or stderr cannot be written.
        let _ = match error.use_stderr() {
            // As all errors of the program begin.
            true => write!(std::io::stderr(), "{}", error.render().to_string().replacen("error: ", "clinalg: ", 1)),
            false => error.print(),
        };
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
