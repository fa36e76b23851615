//! The Octave test suite (`matlab/test`) and the examples of the documentation against the library as cargo builds it.

use std::path::{Path, PathBuf};
use std::process::Command;

mod common;

fn octave_is_there() -> bool {
    let there = Command::new("octave-cli").arg("--version").output().is_ok();
    if !there {
        clinalg_testing::skip("octave-cli is not installed (Debian: apt-get install octave)");
    }
    there
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn octave(folder: &Path, statements: &str) -> String {
    let mut octave = Command::new("octave-cli");
    common::run(octave.current_dir(folder).args(["-qf", "--no-history", "--eval", statements])).unwrap()
}

/// Runs tests of the suite, all without a name, with the OpenCL devices that PoCL makes of `pocl`.
fn suite(folder: &str, names: &str, pocl: Option<&str>) {
    if !octave_is_there() {
        return;
    }
    let staged = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&staged).unwrap();
    std::fs::copy(common::library(), staged.join("clinalg_mex.mex")).unwrap();
    let matlab = root().join("matlab");
    let folders = [matlab.join("examples"), matlab.join("test"), matlab, staged.clone()];
    let mut statements: String = folders.iter().map(|f| format!("addpath('{}'); ", f.display())).collect();
    statements += &format!("run_tests({names});");
    let mut octave = Command::new("octave-cli");
    octave.envs(pocl.map(|devices| ("POCL_DEVICES", devices)));
    octave.current_dir(&staged).args(["-qf", "--no-history", "--eval", &statements]);
    let text = common::run(&mut octave).unwrap();
    print!("{text}");
    assert!(text.contains(" passed, 0 failed"), "{text}");
}

#[test]
fn the_octave_suite_passes() {
    suite("octave", "", None);
}

#[test]
fn teams_of_two_devices_in_octave() {
    if !clinalg_testing::thorough() {
        return clinalg_testing::skip(
            "other tests share problems among devices; those of Octave are for CLINALG_TEST_THOROUGH",
        );
    }
    suite("octave_team", "'test_team'", Some("pthread pthread"));
}

/// Copies the files of a folder and of those below it.
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The blocks of a page that are in MATLAB's language.
fn blocks(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(page)).unwrap();
    let mut rest = text.as_str();
    let mut found = Vec::new();
    while let Some((_, after)) = rest.split_once("```matlab\n") {
        let (block, after) = after.split_once("```").unwrap();
        found.push(block.to_owned());
        rest = after;
    }
    found
}

#[test]
fn the_examples_of_the_documentation_run() {
    if !octave_is_there() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documentation");
    let staged = folder.join("target/matlab");
    copy_folder(&root().join("matlab"), &staged);
    std::fs::copy(common::library(), staged.join("clinalg_mex.mex")).unwrap();

    let [first] = &blocks("README.md")[..] else { panic!("README.md has one example") };
    assert_eq!(first.lines().count(), 3);
    let text = octave(&folder, &format!("{first}\nassert(ans < 1e-10 && ans >= 0); disp('same');"));
    assert!(text.ends_with("same\n"), "{text}");

    let page = blocks("docs/guide/matlab.md");
    assert_eq!(&page[0], first, "the page begins as README.md does");
    let text = octave(&folder, &(page.concat() + "assert(flag == 0); disp('done');"));
    assert!(text.contains("clinalg:handle:foreign") && text.ends_with("done\n"), "{text}");
}
