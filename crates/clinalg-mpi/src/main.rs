//! The program `clinalg-mpi`: the commands of `clinalg` in several processes, `mpirun -n 4 clinalg-mpi poisson`.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use clinalg_mpi::Mpi;

/// The exit code where a device, its driver or another process failed, as that of `clinalg`.
const DEVICE: u8 = 4;

fn main() -> ExitCode {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let said = |error: clinalg::Error| {
        // Nothing is left to do where stderr cannot be written.
        let _ = writeln!(std::io::stderr(), "clinalg-mpi: {error}");
        ExitCode::from(DEVICE)
    };
    let mpi = match Mpi::start() {
        Ok(mpi) => mpi,
        Err(error) => return said(error),
    };
    if let Err(error) = ctrlc::set_handler(clinalg_mpi::signalled) {
        let _ = writeln!(std::io::stderr(), "clinalg-mpi: a signal ends this process without a message: {error}");
    }
    let ended = clinalg_cli::run(words, Some(Arc::new(mpi.clone())));
    let reason = ended.failure.as_ref().map(|reason| (reason.id, reason.message.as_str()));
    match (mpi.end(reason), ended.code) {
        (Err(error), 0) => said(error),
        (_, code) => code.into(),
    }
}
