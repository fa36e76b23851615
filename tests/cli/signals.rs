//! Ctrl-C and SIGTERM.

use super::*;

/// Seconds from a signal, sent after `wait`, to the end of the program, and what it left.
pub(super) fn interrupted(signal: &str, wait: Duration, line: &str) -> (f64, std::process::Output) {
    let folder = folder();
    file(&folder, "line.mtx", &solve::laplace(100_000, false));
    // Jobs in the background of a shell ignore SIGINT, and so would what they start.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_clinalg")]).current_dir(folder.path());
    command.env_remove("CLINALG_KERNEL_FAMILY").env("CLINALG_TUNE_DIR", "").args(line.split_whitespace());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(wait);
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    let start = Instant::now();
    let out = child.wait_with_output().expect("it ends");
    assert!(sent.success());
    (start.elapsed().as_secs_f64(), out)
}

#[test]
fn no_command_goes_on_after_a_signal() {
    if !device() {
        return;
    }
    for line in [
        "poisson --n 2049 --tol 0",
        "wave --n 1025 --end-time 100",
        // Its checkpoint holds the waveforms: 131 MB.
        "waveform --problem heat2d --n 64 --steps 4000 --h 1e-6",
        "ode --problem bruss2d-mix --n 300 --rtol 1e-10",
        "heat-bem --refine 5 --steps 20",
        "elastodynamics --mesh cube24 --refine 5",
        "solve line.mtx --method minres --precond none --max-iterations 1000000",
        "cache --warm",
        "bench",
        "tune --dry-run",
        "doctor",
    ] {
        for (signal, wait) in [("-INT", 1500), ("-TERM", 3000)] {
            let (seconds, out) = interrupted(signal, Duration::from_millis(wait), line);
            let errors = String::from_utf8_lossy(&out.stderr);
            assert!(!errors.contains("panicked"), "{line}: {errors}");
            // A second on a machine of its own.
            assert!(seconds < 6.0, "{line}, {signal} after {wait} ms: {seconds} s\n{errors}");
        }
    }
}
