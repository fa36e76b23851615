//! Child processes that run commands of this program.

use std::path::Path;
use std::process::Command;

use crate::exit::Failure;

/// The command line `line` of this program on one device, to be run in a child process.
///
/// # Errors
/// [`Failure::File`] where the file of this program cannot be found.
pub(crate) fn command(line: &str, device: usize) -> Result<Command, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::file(Path::new("clinalg"), error))?;
    let mut command = Command::new(program);
    command.args(line.split(' ')).args(["--device", &device.to_string()]);
    Ok(command)
}
