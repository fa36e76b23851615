//! What the tests share.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The library under test: the file that `CLINALG_TEST_GATEWAY` names, or the one of this profile; cargo does not build a `cdylib` for a test by itself.
pub(crate) fn library() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        if let Some(file) = std::env::var_os("CLINALG_TEST_GATEWAY") {
            return file.into();
        }
        let test = std::env::current_exe().expect("a test has a path");
        let folder = test.parent().and_then(Path::parent).expect("tests lie in target/PROFILE/deps");
        let profile = if folder.ends_with("release") { "release" } else { "dev" };
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--lib", "--profile", profile]);
        run(build.current_dir(env!("CARGO_MANIFEST_DIR"))).unwrap();
        folder.join("libclinalg_mex.so")
    })
}

/// Runs a command; gives what it printed, or as an error that and how it ended.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let message = format!("{command:?}");
    let output = command.output().map_err(|e| format!("{message}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text) } else { Err(format!("{message}: {}\n{text}", output.status)) }
}
