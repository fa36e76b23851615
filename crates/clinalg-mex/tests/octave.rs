//! The Octave test suite (`matlab/test`) and the examples of the documentation against the library as cargo builds it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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

/// Runs tests of the suite, all without a name, with the OpenCL devices that PoCL makes of `pocl`; they fail after `limit` seconds.
fn suite(folder: &str, names: &str, limit: u32, pocl: Option<&str>) {
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
    let mut octave = Command::new("timeout");
    octave.envs(pocl.map(|devices| ("POCL_DEVICES", devices))).current_dir(&staged);
    octave.args(["--signal=KILL", &limit.to_string(), "octave-cli", "-qf", "--no-history", "--eval", &statements]);
    let text = common::run(&mut octave).unwrap();
    print!("{text}");
    assert!(text.contains(" passed, 0 failed"), "{text}");
}

#[test]
fn the_octave_suite_passes() {
    suite("octave", "", 3600, None);
}

#[test]
fn no_function_of_the_caller_makes_its_call_wait_for_ever() {
    suite("octave_callbacks", "'test_callbacks'", 100, None);
}

/// Runs statements of Octave that print "begins", sends it SIGINT then; gives what it printed after and how long it went on.
fn interrupted(folder: &str, statements: &str) -> (String, Duration) {
    let staged = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&staged).unwrap();
    std::fs::copy(common::library(), staged.join("clinalg_mex.mex")).unwrap();
    let paths = format!("addpath('{}'); addpath('{}'); ", root().join("matlab").display(), staged.display());
    let mut child = Command::new("octave-cli")
        .current_dir(&staged)
        .args(["-qf", "--no-history", "--eval", &(paths + statements)])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("begins") {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "Octave ended early");
    }
    // Octave itself must not meet the signal before the call begins, on a busy machine either.
    std::thread::sleep(Duration::from_secs(1));
    let pressed = Instant::now();
    let process = i32::try_from(child.id()).unwrap();
    // SAFETY: a signal to a process that this one has started and not waited for.
    assert_eq!(unsafe { libc::kill(process, libc::SIGINT) }, 0);
    line.clear();
    output.read_line(&mut line).unwrap();
    let passed = pressed.elapsed();
    output.read_to_string(&mut line).unwrap();
    assert!(child.wait().unwrap().success(), "{line}");
    (line, passed)
}

#[test]
fn ctrl_c_stops_a_solver_that_returns_what_it_has() {
    if !octave_is_there() {
        return;
    }
    // The first solve builds kernels; the second one would take minutes.
    let (text, passed) = interrupted(
        "octave_pcg",
        "A = clinalg.matrix(gallery('poisson', 1000)); b = ones(1e6, 1); [x, flag] = clinalg.pcg(A, b, 1e-2, 1);
        disp('begins'); fflush(stdout); [x, flag] = clinalg.pcg(A, b, 1e-14, 1e9);
        printf('flag %d moved %d\\n', flag, norm(x) > 0); fflush(stdout); disp('goes on');",
    );
    assert_eq!(text, "flag 5 moved 1\ngoes on\n");
    assert!(passed < Duration::from_secs(5), "{passed:?} on a busy machine, expected less than a second on a free one");

    let (text, _) = interrupted(
        "octave_ode",
        "s = struct('u', '-u'); o = struct('FixedStep', 1e-6, 'MaxSteps', 1e9); clinalg.ode(s, [0 1e-5 2e-5], 1, o);
        disp('begins'); fflush(stdout); [t, y] = clinalg.ode(s, [0 1e-3 1e3], 1, o);
        printf('%d\\n', t(end) < 1e3 && abs(y(end) - exp(-t(end))) < 1e-9); fflush(stdout); disp('goes on');",
    );
    assert_eq!(text, "1\ngoes on\n");

    // Iterations over so long a window would take minutes.
    let (text, passed) = interrupted(
        "octave_waveform",
        "s = struct('u', 'u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u'); o = struct('Grid', [64 64], 'Steps', 2);
        clinalg.waveform(s, [0 1e-3], rand(64), o); o.Steps = 4000; y0 = rand(64);
        disp('begins'); fflush(stdout); [y, stats] = clinalg.waveform(s, [0 800], y0, o);
        printf('%g %d %d\\n', stats.t, isequal(y, y0), stats.difference > 0); fflush(stdout);
        disp('goes on');",
    );
    assert_eq!(text, "0 1 1\ngoes on\n");
    assert!(passed < Duration::from_secs(5), "{passed:?}");

    let (text, passed) = interrupted(
        "octave_wave",
        "u = zeros(257); u(100, 80) = 1; w = clinalg.wave(u, 0.7 / 256); step(w, 8);
        disp('begins'); fflush(stdout); t = step(w, 1e9);
        [text, id] = lastwarn(); printf('%d %s\\n', t > 0 && t < 1e6, id); fflush(stdout); disp('goes on');",
    );
    assert_eq!(text, "1 clinalg:solve:notConverged\ngoes on\n");
    assert!(passed < Duration::from_secs(5), "{passed:?}");

    // Products by a function of the caller: Octave ends what it computes itself.
    let (text, passed) = interrupted(
        "octave_product",
        "S = clinalg.matrix(gallery('poisson', 30)); b = ones(900, 1); slow = @(v) S * v + 0 * norm(rand(200));
        [x, flag] = clinalg.pcg(slow, b, 1e-14, 2);
        disp('begins'); fflush(stdout);
        unwind_protect, clinalg.minres(slow, b, 1e-300, 1e9); unwind_protect_cleanup, disp('ended'); fflush(stdout); exit(0);
        end_unwind_protect",
    );
    assert!(text.starts_with("ended\n"), "{text}");
    assert!(passed < Duration::from_secs(5), "{passed:?}");

    let (text, passed) = interrupted(
        "octave_eigs",
        "A = clinalg.matrix(gallery('poisson', 300)); [V, D, flag] = clinalg.eigs(A, 3, 'smallestreal', 'MaxIterations', 1);
        o = struct('Tolerance', 1e-15, 'MaxIterations', 1e9);
        disp('begins'); fflush(stdout); [V, D, flag] = clinalg.eigs(A, 3, 'sa', o);
        printf('%d %d\\n', flag > 0, all(diag(D) > 0)); fflush(stdout); disp('goes on');",
    );
    assert_eq!(text, "1 1\ngoes on\n");
    assert!(passed < Duration::from_secs(5), "{passed:?}");

    // Each of the sets takes a millisecond or more.
    let (text, passed) = interrupted(
        "octave_elasto",
        "nodes = [-1 -1 -1; 1 -1 -1; 1 1 -1; -1 1 -1; -1 -1 1; 1 -1 1; 1 1 1; -1 1 1];
        elements = [1 4 3 2; 5 6 7 8; 1 2 6 5; 2 3 7 6; 3 4 8 7; 4 1 5 8]; gpu = MexInitOpenCL();
        p = MexElasto(gpu, nodes, elements, [1 0.3 1], 'exterior');
        MexElastoSolve(gpu, p, 1, zeros(18, 1), ones(18, 1), 'otf'); given = rand(18, 1e5);
        disp('begins'); fflush(stdout);
        try, MexElastoSolve(gpu, p, 1, zeros(18, 1), given, 'otf'); catch e, disp(e.identifier); disp(e.message); end
        fflush(stdout);",
    );
    assert!(text.starts_with("clinalg:solve:cancelled\n") && text.contains("of 100000 of given values"), "{text}");
    assert!(passed < Duration::from_secs(5), "{passed:?}");
}

#[test]
fn teams_of_two_devices_in_octave() {
    if !clinalg_testing::thorough() {
        return clinalg_testing::skip(
            "other tests share problems among devices; those of Octave are for CLINALG_TEST_THOROUGH",
        );
    }
    suite("octave_team", "'test_team'", 3600, Some("pthread pthread"));
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
