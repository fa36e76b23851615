//! `clinalg ode` and `clinalg waveform`: events, references, sizes, formulas, signals.

use std::time::Duration;

use super::*;

/// `clinalg ode` in plain Rust on a file with this text.
fn ode(text: &str, rest: &str) -> Done {
    let folder = folder();
    let path = file(&folder, "system.ode", text);
    words(&format!("ode {path} --variant reference --json {rest}"))
}

/// The value of each field at the end.
fn end(text: &str, rest: &str) -> Vec<f64> {
    let folder = folder();
    let (path, out) = (file(&folder, "system.ode", text), folder.path().join("y.mtx"));
    words(&format!("ode {path} --variant reference {rest} --out {}", out.display())).fine();
    array(&out)
}

fn events(report: &Value) -> Vec<(f64, f64)> {
    report["events"].as_array().unwrap().iter().map(|e| (number(e, "event"), number(e, "t"))).collect()
}

const CUBIC: &str = "title two zeros in one step\nevent = y\ny' = 3*t^2 + 12*t - 4\ninitial y = -120\ntime -8 4\n";

#[test]
fn event_lines_of_a_file_are_not_ignored() {
    let folder = folder();
    let path = file(&folder, "system.ode", &CUBIC.replace("event", "event rising terminal"));
    let report = words(&format!("ode {path} --variant reference")).stdout;
    assert!(report.contains("1 at t = -6\n") && report.contains("by event 1,"), "{report}"); // Counted from 1, as in MATLAB.

    let report = ode(CUBIC, "").json();
    let found = events(&report);
    assert_eq!(found.len(), 3, "{report:#}");
    assert!(found.iter().zip([-6.0, -2.0, 2.0]).all(|((_, t), e)| (t - e).abs() < 1e-9), "{found:?}");
    assert!(report["ended_by"].is_null());
    super::schema::meets("ode", &report);
    let done = ode(&CUBIC.replace("event", "event rising terminal"), "");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = done.json();
    assert!((number(&report, "t") + 6.0).abs() < 1e-9 && report["ended_by"] == 1, "{report:#}");
    assert!(events(&report).iter().all(|(event, _)| *event == 1.0), "{report:#}");
}

#[test]
fn right_hand_sides_with_a_pole_before_the_beginning_integrate() {
    let y = end("y' = y/t\ninitial y = 1\ntime 1 3", "--rtol 1e-8");
    assert!((y[0] - 3.0).abs() < 1e-6, "{y:?}");
}

#[test]
fn components_that_are_zero_need_no_absolute_tolerance() {
    let text = "y' = 1\nz' = 0\ninitial y = 0\ninitial z = 0\ntime 0 1";
    for rest in ["", "--atol 0", "--atol 0 --norm max"] {
        let report = ode(text, rest).json();
        assert!(number(&report, "steps") + number(&report, "rejected") < 30.0, "{report:#}");
        let y = end(text, rest);
        assert!((y[0] - 1.0).abs() < 1e-12 && y[1] == 0.0, "{rest}: {y:?}");
    }
}

#[test]
fn an_interval_without_length_has_the_initial_values() {
    let text = "y' = 1\nz' = 0\ninitial y = 2\ninitial z = 3\ntime 0 1";
    assert_eq!(end(text, "--t-end 0"), [2.0, 3.0]);
    let folder = folder();
    let (path, series) = (file(&folder, "system.ode", text), folder.path().join("s.csv"));
    let line = format!("ode {path} --variant reference --t-end 0 --series {}", series.display());
    let said = words(&line).fine();
    assert!(!said.contains("inf") && !said.contains("NaN"), "{said}");
    let report = words(&format!("{line} --json")).json();
    assert_eq!((number(&report, "smallest_step"), number(&report, "steps")), (0.0, 0.0));
    assert!(!std::fs::read_to_string(&series).unwrap().contains("NaN"));
    let done = ode(text, "--t-end -1");
    assert!(done.code == 2 && done.stderr.contains("y(-t)"), "{}", done.stderr);
}

#[test]
fn chains_of_powers_in_files_group_as_in_mathematics() {
    let y = end("y' = 2^3^2\nz' = -2^2 + 2^-1 + (-1)^0\ninitial y = 0\ninitial z = 0\ntime 0 1", "");
    assert!((y[0] - 512.0).abs() < 1e-9 && (y[1] + 2.5).abs() < 1e-12, "{y:?}");
}

/// Stabilised steps are some hundreds, those of `dopri87` some millions.
const STIFF: &str = "y' = -1e6*(y - cos(t))\ninitial y = 1\ntime 0 20\n";

#[test]
fn a_reference_is_given_up_where_it_takes_longer_than_the_run() {
    let done = ode(STIFF, "--method rkc --rtol 1e-3");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let report = done.json();
    assert!(report["reference"].is_null() && number(&report, "t") == 20.0, "{report:#}");
    // Where it is quick there is one.
    assert_eq!(ode("y' = -y\ninitial y = 1\ntime 0 1", "").json()["reference"], "dopri87");
}

#[test]
fn chattering_ends_with_where_and_why() {
    for options in
        ["--rtol 1e-9 --atol 1e-12", "--method verner65", "--method rkc", "--t-end 10", "--method bs32 --t-end 2"]
    {
        let done = ode("y' = if(y < 0.5, 1, -1)\ninitial y = 0\ntime 0 1000\n", options);
        let parts = ["`y`", "t is only 0.", "chattering", "event"];
        assert!(done.code == 1 && parts.iter().all(|part| done.stderr.contains(part)), "{options}: {}", done.stderr);
        // A second, not minutes.
        let steps = done.stderr.split_once("after ").and_then(|(_, rest)| rest.split_once(" steps"));
        assert!(steps.unwrap().0.parse::<usize>().unwrap() < 20_000, "{options}: {}", done.stderr);
    }
    // A relay behind a lag: where the switch is near, the solution leaves it.
    let relay = "y' = if(z > 0, -1, 1)\nz' = 200*(y - z)\ninitial y = 1\ninitial z = 1\ntime 0 10\n";
    for options in ["", "--rtol 1e-4", "--rtol 1e-9 --atol 1e-12", "--method bs32", "--method verner65", "--method rkc"]
    {
        let done = ode(relay, &format!("{options} --step-limit 20000"));
        let parts = ["after 8", "of `y` jumps back and forth", "chattering"];
        assert!(done.code == 1 && parts.iter().all(|part| done.stderr.contains(part)), "{options}: {}", done.stderr);
    }
    // A body on a belt, with a friction that falls with the speed.
    let belt = "x' = v\nv' = 1 - x - if(v > 0.1, 1, -1)*(0.3 + 0.7*exp(-abs(v - 0.1)))\ninitial x = 0\ninitial v = 0\n\
                time 0 50\n";
    let done = ode(belt, "--step-limit 20000");
    let parts = ["after 8", "of `v` jumps back and forth", "chattering"];
    assert!(done.code == 1 && parts.iter().all(|part| done.stderr.contains(part)), "{}", done.stderr);
    // Of several components the one that sticks.
    let bodies = "a' = va\nva' = -a\nb' = vb\nvb' = -b - 0.5*if(vb > 0, 1, -1)\n\
                  initial a = 2\ninitial va = 0\ninitial b = 0.4\ninitial vb = 0\ntime 0 50\n";
    let done = ode(bodies, "--rtol 1e-6");
    assert!(done.code == 1 && done.stderr.contains("of `vb` jumps back and forth"), "{}", done.stderr);
}

/// Many steps of stiffness, of jumps in time, and of switches that are crossed, also by a front that is always at one.
#[test]
fn many_steps_without_chattering_are_no_chattering() {
    let front = "grid 400\nu' = 400*(u[-1] - u) + if(u > 0.5, 40, 0) - if(u > 0.9, 400*(u - 0.9), 0)\n\
                 initial u = if(x < 0.1, 1, 0)\ntime 0 9\n";
    for (system, options) in [
        (STIFF, "--rtol 1e-6"),
        ("y' = 1e5*((1 - v^2)*y - v)\nv' = y\ninitial y = 0\ninitial v = 2\ntime 0 10\n", ""),
        ("y' = if(sin(2000*t) > 0, 1, -1) - y\ninitial y = 0\ntime 0 1000\n", ""),
        ("y' = v\nv' = if(y > 0, -1, 1)\ninitial y = 1\ninitial v = 0\ntime 0 1e5\n", ""),
        // Faster and faster.
        ("y' = v\nv' = -(1 + t)^2*if(y > 0, 1, -1)\ninitial y = 1\ninitial v = 0\ntime 0 3000\n", ""),
        ("y' = v\nv' = -exp(t)*if(y > 0, 1, -1)\ninitial y = 1\ninitial v = 0\ntime 0 40\n", ""),
        (front, "--method bs32 --rtol 1e-9 --atol 1e-12"),
    ] {
        let done = ode(system, &format!("{options} --step-limit 15000"));
        assert!(!done.stderr.contains("chattering"), "{system}: {}", done.stderr);
        assert!(done.stderr.contains("after 15000 steps"), "{system}: {} {}", done.code, done.stderr);
    }
}

#[test]
fn grids_that_fit_no_memory_are_errors_before_any_allocation() {
    let folder = folder();
    let text = "u' = u[-1,0] - u\ninitial u = 1\ntime 0 1\n";
    let large = file(&folder, "large.ode", &format!("grid 65536 65536\n{text}"));
    let huge = file(&folder, "huge.ode", &format!("grid 8388608 8388608\n{text}"));
    let small = file(&folder, "small.ode", &format!("grid 8 8\n{text}"));
    for line in [
        format!("ode {huge} --variant reference"),
        format!("ode {small} --n 8388608 --variant reference"),
        format!("waveform --problem {huge} --h 1e-3"),
        format!("waveform --problem {small} --n 8388608 --h 1e-3"),
        "ode --problem heat2d --n 8388608 --variant reference".into(),
    ] {
        let done = words(&line);
        assert!((2..128).contains(&done.code), "{line}: {} {}", done.code, done.stderr);
        assert!(done.stderr.contains("bytes") && done.stderr.contains("grid points"), "{line}: {}", done.stderr);
    }
    // 100 GB: an error where there are not as many.
    let available = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let enough = available
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .is_none_or(|left| left.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0 > 1e11);
    if !enough {
        let done = words(&format!("ode {large} --variant reference"));
        assert!((2..128).contains(&done.code) && done.stderr.contains("103079215104"), "{}", done.stderr);
    }
}

#[test]
fn a_tuning_folder_that_cannot_be_written_is_a_warning() {
    if !device() {
        return;
    }
    let folder = folder();
    let no_folder = file(&folder, "tuning", "");
    let line =
        "ode --problem heat2d --n 513 --precision f32 --method heun2 --h 1e-7 --t-end 2e-7 --steps-at-once 1 --json";
    let done = finish(program().args(line.split_whitespace()).env("CLINALG_TUNE_DIR", no_folder));
    assert_eq!((done.code, done.stderr.matches("is lost").count()), (0, 1), "{}", done.stderr);
    assert!(done.json()["variant"] != "auto");
}

#[cfg(unix)]
#[test]
fn signals_end_the_computation_of_a_reference() {
    let folder = folder();
    let path = file(&folder, "system.ode", STIFF);
    for signal in ["-INT", "-TERM"] {
        // The run has ended when the signal comes.
        let line = format!("ode {path} --variant reference --method rkc --rtol 1e-3 --reference always --json");
        let (seconds, out) = super::signals::interrupted(signal, Duration::from_secs(2), &line);
        let report: Value = serde_json::from_slice(&out.stdout).expect("a report");
        assert!(report["reference"].is_null() && number(&report, "t") == 20.0, "{report:#}");
        assert!(seconds < 5.0, "{signal}: {seconds}");
        assert_eq!(out.status.code(), Some(0));
    }
}

#[cfg(unix)]
#[test]
fn a_waveform_relaxation_ends_soon_after_a_signal() {
    if !device() {
        return;
    }
    // The method itself, which the relaxation is compared with, takes minutes.
    let line = "waveform --problem bruss2d-mix --n 200 --h 1e-5 --steps 100000 --windows 10000 --iterations 1 --json";
    for wait in [4, 25] {
        let (seconds, out) = super::signals::interrupted("-INT", Duration::from_secs(wait), line);
        assert!(
            out.status.code().is_some_and(|code| code < 2 || code == 130),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        // A second on a machine of its own.
        assert!(seconds < 5.0, "after {wait} s: {seconds}");
    }
}

/// A run that the limit on steps ended, with a checkpoint, failed without a word.
#[test]
fn a_step_limit_with_a_checkpoint_is_the_reason_of_the_failure() {
    let folder = folder();
    let line = "ode --problem heat2d --n 9 --h 1e-4 --variant reference --reference none";
    for quiet in ["", " --quiet"] {
        let done = words_in(folder.path(), &format!("{line} --step-limit 4 --checkpoint c.npz{quiet}"));
        assert_eq!((done.code, done.stdout.is_empty()), (1, !quiet.is_empty()), "{}", done.stderr);
        for needle in ["--step-limit 4 ", "t = 0.0004", "--resume c.npz"] {
            assert!(done.stderr.contains(needle), "{}", done.stderr);
        }
    }
    let done = words_in(folder.path(), &format!("{line} --resume c.npz --step-limit 100 --t-end 0.001"));
    assert!(done.code == 0 && !done.stderr.contains("ended the run"), "{}", done.stderr);
}

/// The run was known to be stiff, and its message spoke of the step limit only.
#[test]
fn stiffness_was_not_in_the_message_of_the_step_limit() {
    let line = "ode --problem heat2d --n 33 --variant reference --reference none --t-end 1 --step-limit 200";
    let done = words(line);
    assert_eq!(done.code, 1, "{}", done.stdout);
    for needle in ["after 200 steps", "stability rather than accuracy", "stiff", "rkc"] {
        assert!(done.stderr.contains(needle), "{needle}: {}", done.stderr);
    }
}

/// A parameter `8/3` was refused as "argument `line 1`", and the title kept the value of the file.
#[test]
fn fractions_were_refused_and_titles_kept_the_old_value() {
    let text = "title decay, b = 8/3\nparameter b = 8/3\nu' = -b*u\ninitial u = 1\ntime 0 1\n";
    let u = end(text, "--rtol 1e-10");
    assert!((u[0] - (-8.0_f64 / 3.0).exp()).abs() < 1e-8, "{u:?}");
    let done = ode("parameter b = 8/\nu' = -b*u\ninitial u = 1\n", "");
    assert!(done.code == 2 && done.stderr.starts_with("clinalg: line 1: expected"), "{}", done.stderr);
    let report =
        words("ode --problem bruss2d-mix --n 8 --parameter alpha=0.01 --t-end 0.01 --variant reference").fine();
    assert!(report.contains("alpha = 0.01") && !report.contains("0.002"), "{report}");
}
