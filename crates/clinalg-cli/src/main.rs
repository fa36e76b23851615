//! The program `clinalg`: devices, self-test, Poisson by multigrid, waves, heat by boundary elements, ODEs, sparse solves,
//! benchmarks, tuning.

mod args;
mod bench;
mod devices;
mod doctor;
mod exit;
mod heat_bem;
mod ode;
mod output;
mod plot;
mod poisson;
mod progress;
mod solve;
mod tune;
mod wave;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clinalg::{Context, ContextOptions, Device};

use crate::exit::{Exit, Failure};
use crate::output::Output;

const AFTER_HELP: &str = "\
Examples:
  clinalg devices                   what OpenCL devices there are
  clinalg doctor                    is every operation right on each of them?
  clinalg poisson --plot u.png      solve -Laplace u = f by multigrid, draw u
  clinalg wave --plot frames        follow the wave equation, draw frames
  clinalg heat-bem --plot w.png     the heat equation by boundary elements
  clinalg ode --problem heat2d      integrate a system of ODEs; --list lists them
  clinalg solve A.mtx --out x.mtx   solve a sparse system from a file
  clinalg bench                     operations against the memory bandwidth
  clinalg tune                      search this device's launch parameters

Environment:
  CLINALG_DEVICE     the device where --device is not given: an index or a part
                     of a name
  CLINALG_SHAPE      cpu or gpu: which family of kernels runs, where the kind of
                     the device shall not decide
  CLINALG_CACHE_DIR  folder for built kernels, empty for none
                     [default: the user's cache folder]
  CLINALG_TUNE_DIR   folder for the tables of `clinalg tune`, empty for none
                     [default: the user's data folder]

Exit codes:
  0  done; a solver met its tolerance or the floor of rounding
  1  a solver stopped before that, or a self-test failed
  2  wrong usage, or an argument or matrix that cannot be used
  3  no OpenCL, no device, or no device that matches the selector
  4  the device or its driver failed: memory, kernel build, no double precision
  5  a file could not be read or written, or its content is damaged
Errors are told on stderr; with --json also on stdout, as one object
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
    /// Device to use: its index in `clinalg devices`, or a part of its name or platform (letter case ignored)
    /// [default: CLINALG_DEVICE, else the first GPU, else the first device]
    #[arg(
        long,
        global = true,
        value_name = "SELECTOR",
        help_heading = "Options of every command",
        allow_negative_numbers = true
    )]
    device: Option<String>,
    /// Print one JSON document on stdout and nothing else
    #[arg(long, global = true, help_heading = "Options of every command")]
    json: bool,
}

impl Global {
    /// The device asked for, or the default one.
    pub(crate) fn device(&self) -> clinalg::Result<Device> {
        match &self.device {
            Some(selector) => Device::select(selector),
            None => Device::default_device(),
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
    HeatBem(heat_bem::Args),
    Ode(ode::Args),
    Solve(solve::Args),
    Bench(bench::Args),
    Tune(tune::Args),
}

/// Warnings of the library, on stderr.
struct Warnings;

impl log::Log for Warnings {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().starts_with("clinalg")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            // Nothing is left to do where stderr cannot be written.
            let _ = writeln!(std::io::stderr(), "clinalg: warning: {}", record.args());
        }
    }

    fn flush(&self) {}
}

fn main() -> ExitCode {
    // The first and only logger of the process.
    if log::set_logger(&Warnings).is_ok() {
        log::set_max_level(log::LevelFilter::Warn);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let mut out = Output::new(cli.global.json);
    let done = match &cli.command {
        Command::Devices(args) => devices::run(args, &cli.global, &mut out),
        Command::Doctor(args) => doctor::run(args, &cli.global, &mut out),
        Command::Poisson(args) => poisson::run(args, &cli.global, &mut out),
        Command::Wave(args) => wave::run(args, &cli.global, &mut out),
        Command::HeatBem(args) => heat_bem::run(args, &cli.global, &mut out),
        Command::Ode(args) => ode::run(args, &cli.global, &mut out),
        Command::Solve(args) => solve::run(args, &cli.global, &mut out),
        Command::Bench(args) => bench::run(args, &cli.global, &mut out),
        Command::Tune(args) => tune::run(args, &cli.global, &mut out),
    };
    match done.and_then(|exit| out.flush().map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => out.fail(&failure),
    }
}

/// Prints help, version or what is wrong with the command line.
fn refuse(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // A reader that has gone away does not want the help text any more.
        let _ = error.print();
        return Exit::Done.into();
    }
    // Nothing is left to do where stderr cannot be written.
    let _ = error.print();
    if std::env::args_os().any(|arg| arg == "--json") {
        // What is wrong comes before the first empty line; usage and hints follow.
        let message = error.render().to_string();
        let what = message.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ");
        let words = what.split_whitespace().collect::<Vec<_>>().join(" ");
        Output::new(true).json_failure(&Failure::usage(words));
    }
    Exit::Usage.into()
}
