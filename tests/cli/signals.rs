//! Ctrl-C and SIGTERM.

use super::*;

/// The program with this line in a folder with the matrix line.mtx.
fn started(folder: &tempfile::TempDir, line: &str) -> std::process::Child {
    file(folder, "line.mtx", &solve::laplace(100_000, false));
    command(folder, line).spawn().expect("it starts")
}

fn command(folder: &tempfile::TempDir, line: &str) -> Command {
    // Jobs in the background of a shell ignore SIGINT, and so would what they start.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_clinalg")]).current_dir(folder.path());
    command.env_remove("CLINALG_KERNEL_FAMILY").env("CLINALG_TUNE_DIR", "").args(line.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn send(signal: &str, child: &std::process::Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Seconds from a signal, sent after `wait`, to the end of the program, and what it left.
pub(super) fn interrupted(signal: &str, wait: Duration, line: &str) -> (f64, std::process::Output) {
    let folder = folder();
    let child = started(&folder, line);
    std::thread::sleep(wait);
    send(signal, &child);
    let start = Instant::now();
    let out = child.wait_with_output().expect("it ends");
    (start.elapsed().as_secs_f64(), out)
}

/// Milliseconds after which a run is at work.
const LATER: [u64; 2] = [1500, 3000];

#[test]
fn no_command_goes_on_after_a_signal() {
    if !device() {
        return;
    }
    for (line, waits) in [
        // During set-up, and later.
        ("poisson --n 2049 --tol 0", [300, 900]),
        ("wave --n 1025 --end-time 100", LATER),
        // Its checkpoint holds the waveforms: 131 MB.
        ("waveform --problem heat2d --n 64 --steps 4000 --h 1e-6", LATER),
        ("ode --problem bruss2d-mix --n 300 --rtol 1e-10", LATER),
        ("ode --problem heat2d --n 513 --method rkc --rtol 1e-10", LATER),
        // A step takes tenths of a second.
        ("ode --problem bruss2d-mix --n 1500 --h 1e-5 --method rk4 --reference none", [3000, 8000]),
        ("heat-bem --refine 5 --steps 20", LATER),
        ("elastodynamics --mesh cube:8 --frequencies 1:2:500", LATER),
        ("elastodynamics --mesh cube:6 --frequencies 1:2:500 --method lu", LATER),
        ("solve line.mtx --method minres --precond none --max-iterations 1000000", LATER),
        ("solve line.mtx --method lsmr --precond none --tol 0 --max-iterations 1000000", LATER),
        ("cache --warm", LATER),
        ("bench", LATER),
        ("tune --dry-run", LATER),
        ("doctor", LATER),
    ] {
        for (signal, wait) in ["-INT", "-TERM"].into_iter().zip(waits) {
            let (seconds, out) = interrupted(signal, Duration::from_millis(wait), line);
            let errors = String::from_utf8_lossy(&out.stderr);
            assert!(!errors.contains("panicked"), "{line}: {errors}");
            // 2: the line is wrong, and nothing ran.
            assert_ne!(out.status.code(), Some(2), "{line}: {errors}");
            // A second on a machine of its own.
            assert!(seconds < 6.0, "{line}, {signal} after {wait} ms: {seconds} s\n{errors}");
        }
    }
}

/// Exit handlers of the driver destroyed what its compiler was using: a crash in one of four of these runs.
#[test]
fn a_signal_while_kernels_are_compiled_crashed_the_compiler() {
    if !device() {
        return;
    }
    for wait in (0..12).map(|k| 1700 + 150 * k) {
        let folder = folder();
        let mut command = command(&folder, "ode --problem bruss2d-mix --n 32");
        command.env("CLINALG_CACHE_DIR", folder.path().join("c")).env("POCL_CACHE_DIR", folder.path().join("p"));
        let child = command.spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(wait));
        send("-INT", &child);
        let out = child.wait_with_output().expect("it ends");
        let is_an_end = matches!(out.status.code(), Some(0 | 1 | 130));
        assert!(is_an_end, "{:?} {wait} ms: {}", out.status, String::from_utf8_lossy(&out.stderr));
    }
}

/// Signals while a file is written: one lets the program write it, a second one ends the program, and the previous file stays.
#[test]
fn a_file_that_a_signal_meets_is_whole_or_the_previous_one() {
    if !device() {
        return;
    }
    for signals in [1, 2] {
        let folder = folder();
        let path = file(&folder, "u.csv", "previous");
        let child = started(&folder, "poisson --n 2049 --tol 1e-1 --out u.csv");
        // Bytes in temporary files, and how many there are.
        let unfinished = || {
            let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
            let temporary = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp"));
            temporary.fold((0, 0), |(n, bytes), entry| (n + 1, bytes + entry.metadata().map_or(0, |file| file.len())))
        };
        // It writes 200 MB.
        let start = Instant::now();
        while unfinished().1 < 1 << 16 {
            assert!(start.elapsed().as_secs() < 100, "it writes nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        for _ in 0..signals {
            send("-INT", &child);
            std::thread::sleep(Duration::from_millis(100));
        }
        let start = Instant::now();
        let out = child.wait_with_output().expect("it ends");
        let errors = String::from_utf8_lossy(&out.stderr);
        assert_eq!(unfinished(), (0, 0), "{errors}");
        let text = std::fs::read_to_string(&path).unwrap();
        if signals == 2 {
            assert_eq!((out.status.code(), text.as_str()), (Some(130), "previous"), "{errors}");
            assert!(start.elapsed().as_secs_f64() < 6.0, "{:?}", start.elapsed());
        } else {
            assert_eq!(text.lines().count(), 1 + 2049 * 2049, "{errors}");
        }
    }
}
