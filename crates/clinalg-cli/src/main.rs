//! The program `clinalg`: devices, self-test, Poisson by multigrid, sparse solves, benchmarks.

mod args;
mod bench;
mod devices;
mod doctor;
mod exit;
mod output;
mod plot;
mod poisson;
mod progress;
mod solve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use clinalg::{Context, ContextOptions, Device};

use crate::exit::{Exit, Failure};
use crate::output::Output;

const AFTER_HELP: &str = "\
Examples:
  clinalg devices                         what OpenCL devices there are
  clinalg doctor                          does every operation compute right on each of them?
  clinalg poisson --n 1025 --plot u.png   solve -Laplace u = f by multigrid and draw the solution
  clinalg solve A.mtx --out x.mtx         solve a sparse system from a MatrixMarket file
  clinalg bench                           each operation against the memory bandwidth

Environment:
  CLINALG_DEVICE     the device where --device is not given: an index or a part of a name
  CLINALG_SHAPE      cpu or gpu: the family of kernels, where the device's kind shall not decide
  CLINALG_CACHE_DIR  folder for built kernels; empty for none [default: the user's cache folder]

Exit codes:
  0  done; for a solver: the tolerance is met, or the residual is as small as rounding allows
  1  a solver stopped before its tolerance, or a self-test failed
  2  wrong usage, or an argument or matrix that cannot be used
  3  no OpenCL, no device, or no device that matches the selector
  4  the device or its driver failed: memory, kernel build, no double precision
  5  a file could not be read or written, or its content is damaged
With --json an error is printed as {\"error\": {\"id\", \"message\", \"exit_code\"}} as well.";

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
    #[arg(long, global = true, value_name = "SELECTOR")]
    device: Option<String>,
    /// Print one JSON document on stdout and nothing else
    #[arg(long, global = true)]
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
    Solve(solve::Args),
    Bench(bench::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let mut out = Output::new(cli.global.json);
    let done = match &cli.command {
        Command::Devices(args) => devices::run(args, &cli.global, &mut out),
        Command::Doctor(args) => doctor::run(args, &cli.global, &mut out),
        Command::Poisson(args) => poisson::run(args, &cli.global, &mut out),
        Command::Solve(args) => solve::run(args, &cli.global, &mut out),
        Command::Bench(args) => bench::run(args, &cli.global, &mut out),
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
        let message = error.render().to_string();
        let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Output::new(true).json_failure(&Failure::usage(first));
    }
    Exit::Usage.into()
}
