//! The Octave test suite (`matlab/test`) against the library as cargo builds it.

use std::path::Path;
use std::process::Command;

mod common;

#[test]
fn the_octave_suite_passes() {
    if Command::new("octave-cli").arg("--version").output().is_err() {
        eprintln!("skipped: octave-cli is not installed (Debian: apt-get install octave)");
        return;
    }
    let staged = Path::new(env!("CARGO_TARGET_TMPDIR")).join("octave");
    std::fs::create_dir_all(&staged).unwrap();
    std::fs::copy(common::library(), staged.join("clinalg_mex.mex")).unwrap();
    let matlab = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../matlab").canonicalize().unwrap();
    let folders = [matlab.join("examples"), matlab.join("test"), matlab, staged];
    let mut statements: String = folders.iter().map(|f| format!("addpath('{}'); ", f.display())).collect();
    statements += "run_tests();";
    let mut octave = Command::new("octave-cli");
    let text = common::run(octave.args(["-qf", "--no-history", "--eval", &statements])).unwrap();
    print!("{text}");
    assert!(text.contains(" passed, 0 failed"), "{text}");
}
