//! The program `clinalg`, see the library `clinalg_cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    clinalg_cli::run(words, None).code.into()
}
