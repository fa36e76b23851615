//! Fields given by formulas and files, files of results, checkpoints.

use std::path::Path;

use super::*;

/// The numbers of a `.npy` of `f64`, by the description of the format.
fn npy(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).expect("the file is written");
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert!(String::from_utf8_lossy(&bytes[10..10 + header]).contains("'<f8'"));
    bytes[10 + header..].chunks_exact(8).map(|v| f64::from_le_bytes(v.try_into().expect("8 bytes"))).collect()
}

/// u is linear on either side of a jump and continuous with its flux, which cells meet exactly.
#[test]
fn a_coefficient_that_jumps_at_a_line_is_met_exactly() {
    let folder = folder();
    let boundary = "if(x <= 0.5, x, 0.5 + (x - 0.5)/1001)";
    let line = "poisson --n 33 --backend reference --f 0 --tol 1e-12 --out u.npy --json --coefficient";
    let mut args: Vec<&str> = line.split(' ').collect();
    args.extend(["1 + 1000*(x>0.5)", "--boundary", boundary]);
    let done = run_in(folder.path(), &args);
    let report = done.json();
    assert!(report["converged"] == true && report["error_max"].is_null() && report["rhs"].is_null(), "{report:#}");
    assert_eq!(report["coefficient"], "1 + 1000*(x>0.5)");
    for (k, u) in npy(&folder.path().join("u.npy")).into_iter().enumerate() {
        let x = (k % 33) as f64 / 32.0;
        let want = if x <= 0.5 { x } else { 0.5 + (x - 0.5) / 1001.0 };
        assert!((u - want).abs() < 1e-9, "point {k}: {u}, expected {want}");
    }
    let words = run_in(folder.path(), &args[..args.len() - 5]).fine();
    assert!(words.contains("u.npy"), "{words}");
}

#[test]
fn fields_of_files_are_those_of_formulas() {
    let folder = folder();
    let run = |args: &[&str]| {
        let base = ["poisson", "--n", "9", "--backend", "reference", "--json"];
        run_in(folder.path(), &[&base[..], args].concat()).json()
    };
    let formula = run(&["--f", "1 + x*y", "--boundary", "x - y", "--out", "u.npz"]);
    let value = |k: usize| ((k % 9) as f64 / 8.0, (k / 9) as f64 / 8.0);
    let rows = |of: &dyn Fn(f64, f64) -> f64| -> String {
        let row = |j: usize| (0..9).map(|i| value(9 * j + i)).map(|(x, y)| of(x, y).to_string()).collect::<Vec<_>>();
        (0..9).map(|j| row(j).join(",") + "\n").collect()
    };
    std::fs::write(folder.path().join("f.csv"), rows(&|x, y| 1.0 + x * y)).expect("written");
    std::fs::write(folder.path().join("g.txt"), rows(&|x, y| x - y)).expect("written");
    let file = run(&["--f", "f.csv", "--boundary", "g.txt"]);
    assert_eq!(formula["residual_history"], file["residual_history"]);
    // The solution as the start value and boundary: only the boundary is taken.
    let again = run(&["--f", "f.csv", "--boundary", "u.npz", "--out", "v.vtu"]);
    assert!(again["error"]["message"].as_str().expect("a message").contains("u, x, y"), "{again:#}");
    run_in(folder.path(), &["poisson", "--n", "9", "--backend", "reference", "--f", "1", "--out", "w.vti"]).fine();
    let bytes = std::fs::read(folder.path().join("w.vti")).expect("written");
    assert!(String::from_utf8_lossy(&bytes).contains("WholeExtent=\"0 8 0 8 0 0\""));
}

/// To the last bit, whether the host computes it or, on large grids, the device.
#[test]
fn the_error_is_that_of_the_values_written() {
    let mut cases = vec![("reference", "", 33, 2), ("reference", "", 17, 3)];
    if device() {
        cases.extend([("kernels", "cpu", 17, 3), ("kernels", "cpu", 2049, 2), ("kernels", "gpu", 2049, 2)]);
    }
    let folder = folder();
    for (backend, family, n, dim) in cases {
        let line = format!("poisson --n {n} --dim {dim} --backend {backend} --max-cycles 1 --out u.npy --json");
        let mut command = program();
        command.current_dir(folder.path()).args(line.split(' ')).env("CLINALG_KERNEL_FAMILY", family);
        let report = finish(&mut command).json();
        let sine = |i: usize| (std::f64::consts::PI * i.min(n - 1 - i) as f64 / (n - 1) as f64).sin();
        let sines: Vec<f64> = (0..n).map(sine).collect();
        let exact = |k: usize| sines[k % n] * (sines[k / n % n] * if dim == 3 { sines[k / n / n] } else { 1.0 });
        let values = npy(&folder.path().join("u.npy"));
        assert_eq!(values.len(), n.pow(dim));
        let errors = values.iter().enumerate().map(|(k, u)| (u - exact(k)).abs());
        assert_eq!(number(&report, "error_max"), errors.fold(0.0, f64::max), "{line} on {family}");
    }
}

#[test]
fn what_cannot_be_a_field_is_refused_with_what_can() {
    let refused: [(&[&str], i32, &[&str]); 11] = [
        (&["poisson", "--f", "x +"], 2, &["--f", "column 4", ".npy"]),
        (&["poisson", "--f", "z"], 2, &["`z` is not known"]),
        (&["poisson", "--f", "none.npz"], 5, &["none.npz", "no such file"]),
        (&["poisson", "--f", "1", "--rhs", "sine"], 2, &["cannot be used with"]),
        (&["poisson", "--coefficient", "1 + x", "--dim", "3"], 2, &["--coefficient", "--f", "--rhs random"]),
        (
            &["poisson", "--n", "9", "--backend", "reference", "--coefficient", "x - 0.3"],
            2,
            &["positive", "x = 0.0625"],
        ),
        (&["poisson", "--n", "9", "--backend", "reference", "--boundary", "1/x"], 2, &["x = 0, y = 0", "finite"]),
        (&["poisson", "--out", "u.hdf5"], 2, &["u.hdf5", ".vtu"]),
        (&["wave", "--series", "u.vti"], 2, &["u.vti", ".pvd"]),
        (&["wave", "--speed", "1", "--scheme", "implicit", "--backend", "reference", "--n", "9"], 2, &["explicit"]),
        (&["wave", "--resume", "none.npz"], 5, &["none.npz"]),
    ];
    for (args, code, needles) in refused {
        let done = run(args);
        assert_eq!(done.code, code, "{args:?}: {}", done.stderr);
        for needle in needles {
            assert!(done.stderr.contains(needle), "{args:?}: no `{needle}` in {}", done.stderr);
        }
    }
}

/// -(k u')' = 0 with u(0) = 0 and k u' = 1 at the end of two layers: u = x where k = 1 and grows by a tenth as much where k = 10.
/// With a mixed entry -2 dxy u_xy = f has the solution x y on the whole plane.
#[test]
fn boxes_take_coefficients_tensors_and_pictures() {
    let folder = folder();
    let line = "poisson --points 40x6 --cells --size 1x0.3 --sides x1=neumann,y=periodic --f 0 --out u.npy --plot u.png --json --tol 1e-12";
    let words = [&line.split(' ').collect::<Vec<_>>()[..], &["--coefficient", "1 + 9*(x>0.5)", "--boundary", "x"]];
    let report = run_in(folder.path(), &words.concat()).json();
    assert!(report["converged"] == true && report["coefficient"] == "1 + 9*(x>0.5)", "{report:#}");
    assert_eq!(report["pictures"], serde_json::json!(["u.png", "u-convergence.png"]));
    for (k, u) in npy(&folder.path().join("u.npy")).into_iter().enumerate() {
        let x = ((k % 40) as f64 + 0.5) / 40.0;
        let exact = if x < 0.5 { x } else { 0.5 + 0.1 * (x - 0.5) };
        assert!((u - exact).abs() < 1e-9, "point {k}: {u}");
    }
    let picture = std::fs::read(folder.path().join("u.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"), "{:?}", &picture[..8]);
    let line = "poisson --points 9x7 --mixed 0.5 --f -1 --boundary x*y --out v.npy --json --tol 1e-12";
    let report = run_in(folder.path(), &line.split(' ').collect::<Vec<_>>()).json();
    assert!(report["converged"] == true && report["mixed"] == serde_json::json!([0.5]), "{report:#}");
    for (k, u) in npy(&folder.path().join("v.npy")).into_iter().enumerate() {
        let exact = (k % 9) as f64 / 8.0 * ((k / 9) as f64 / 6.0);
        assert!((u - exact).abs() < 1e-9, "point {k}: {u}, expected {exact}");
    }
}

/// u = x (2 - x) with u = 0 at x = 0, no flux at x = 1 and periodic along y: central differences are exact.
#[test]
fn boxes_take_conditions_and_formulas() {
    let folder = folder();
    let line = "poisson --points 41x6 --size 1x0.3 --sides x1=neumann,y=periodic --f 2 --out u.npy --json --tol 1e-12";
    let report = run_in(folder.path(), &line.split(' ').collect::<Vec<_>>()).json();
    assert!(report["converged"] == true && report["imbalance"].is_null(), "{report:#}");
    assert_eq!(report["sides"], serde_json::json!(["x0=dirichlet", "x1=neumann", "y0=periodic", "y1=periodic"]));
    for (k, u) in npy(&folder.path().join("u.npy")).into_iter().enumerate() {
        let x = (k % 41) as f64 / 40.0;
        assert!((u - x * (2.0 - x)).abs() < 1e-9, "point {k}: {u}");
    }
    // Without --f the solution is a product of sines and cosines, met to order two.
    for sides in ["all=dirichlet", "all=neumann", "x0=neumann,y1=neumann", "y=periodic", "all=periodic"] {
        let error = |points: &str| {
            let line = format!("poisson --points {points} --cells --size 2x1 --diffusion 1x3 --json --sides {sides}");
            let report = run(&line.split(' ').collect::<Vec<_>>()).json();
            assert!(report["converged"] == true && report["rhs"] == "sine" && report["f"].is_null(), "{report:#}");
            report["error_max"].as_f64().unwrap()
        };
        let (coarse, fine) = (error("24x16"), error("48x32"));
        assert!((3.6..4.4).contains(&(coarse / fine)), "{sides}: {coarse:e} / {fine:e}");
    }
    // By compact stencils to order four; f is read on the sides too.
    let error = |points: &str| {
        let report = run(&["poisson", "--points", points, "--order", "4", "--tol", "1e-12", "--json"]).json();
        assert!(report["converged"] == true && report["order"] == 4, "{report:#}");
        report["error_max"].as_f64().unwrap()
    };
    let (coarse, fine) = (error("21x25"), error("41x49"));
    assert!((15.0..17.0).contains(&(coarse / fine)), "{coarse:e} / {fine:e}");
    let line = "poisson --points 17x13 --order 4 --tol 1e-12 --f=-12*x^2 --boundary x^4 --out u.npy --json";
    assert!(run_in(folder.path(), &line.split(' ').collect::<Vec<_>>()).json()["converged"] == true);
    for (k, u) in npy(&folder.path().join("u.npy")).into_iter().enumerate() {
        let x = (k % 17) as f64 / 16.0;
        assert!((u - x.powi(4)).abs() < 1e-10, "point {k}: {u} at x = {x}");
    }
    let refused: [(&[&str], i32, &[&str]); 14] = [
        (&["--order", "4", "--sides", "x0=neumann"], 2, &["order", "Dirichlet or periodic"]),
        (&["--coefficient", "1 + x"], 2, &["--f", "--rhs random"]),
        (&["--f", "1", "--smoother", "jacobi"], 2, &["--smoother rbgs", "2^k + 1"]),
        (&["--coefficient", "x - 2", "--f", "1"], 2, &["--coefficient", "positive"]),
        (&["--mixed", "0.1,0.2", "--f", "1"], 2, &["--mixed has 2 numbers", "DXY"]),
        (&["--mixed", "-1", "--f", "1"], 2, &["positive definite"]),
        (&["--n", "5", "--f", "1"], 2, &["--points", "--n"]),
        (&["--f", "1", "--sides", "x0=warm"], 2, &["x0=warm", "robin:ALPHA"]),
        (&["--f", "1", "--sides", "z0=neumann"], 2, &["direction z"]),
        (&["--f", "1", "--size", "1x1x1"], 2, &["--size has 3 numbers"]),
        (&["--f", "1", "--precision", "mixed"], 2, &["f64"]),
        (&["--f", "1", "--boundary", "1/x"], 2, &["x = 0, y = 0", "finite"]),
        (&["--f", "1", "--backend", "reference"], 2, &["--backend kernels"]),
        (&["--sides", "x0=robin:1"], 2, &["--f", "--rhs random"]),
    ];
    for (args, code, needles) in refused {
        let done = run(&[&["poisson", "--points", "9x7"], args].concat());
        assert_eq!(done.code, code, "{args:?}: {}", done.stderr);
        for needle in needles {
            assert!(done.stderr.contains(needle), "{args:?}: no `{needle}` in {}", done.stderr);
        }
    }
}

/// The series of a wave that a force drives as u = t^2 sin(pi x) sin(pi y), which leapfrog meets exactly.
#[test]
fn waves_take_forces_and_write_series() {
    let folder = folder();
    let n = 17;
    // Of the stencil.
    let eigenvalue = 8.0 * (n as f64 - 1.0).powi(2) * (std::f64::consts::PI / 32.0).sin().powi(2);
    let factor = format!("2 + {eigenvalue}*t^2");
    let args = ["wave", "--n", "17", "--backend", "reference", "--steps", "30", "--frames", "3", "--json"];
    let force = ["--initial", "0", "--force", "sin(pi*x)*sin(pi*y)", "--force-time", &factor];
    let report = run_in(folder.path(), &[&args[..], &force, &["--series", "s.npy", "--out", "u.csv"]].concat()).json();
    let t = number(&report, "end_time");
    let series = npy(&folder.path().join("s.npy"));
    assert_eq!(series.len(), 3 * n * n);
    for (frame, time) in [(1, t / 2.0), (2, t)] {
        let middle = series[frame * n * n + n * n / 2];
        assert!((middle - time * time).abs() < 1e-12, "{middle} at {time}");
    }
    let text = std::fs::read_to_string(folder.path().join("u.csv")).expect("written");
    assert!(text.starts_with("x,y,u\n") && text.lines().count() == 1 + n * n);
    let speed = ["--initial", "gauss", "--speed", "1 + (y>0.5)", "--series", "w.pvd"];
    let report = run_in(folder.path(), &[&args[..], &speed].concat()).json();
    assert!(number(&report, "energy_drift") < 1e-10 && number(&report, "c") == 2.0, "{report:#}");
    assert!(folder.path().join("w-0002.vti").is_file() && folder.path().join("w.pvd").is_file());
}

#[test]
fn a_checkpoint_goes_on_to_the_same_bits() {
    let folder = folder();
    let mut lines: Vec<(String, &str, &str)> = vec![
        ("wave --n 33 --backend reference --initial gauss".into(), "--steps 17", "--steps 40"),
        ("wave --n 33 --backend reference --scheme implicit --precision f32".into(), "--steps 7", "--steps 12"),
        (
            "poisson --n 65 --backend reference --coefficient 1+1000*(x>y) --f 1".into(),
            "--max-cycles 3",
            "--max-cycles 50",
        ),
        ("poisson --n 33 --backend reference --cycle fmg --rhs random".into(), "--max-cycles 2", "--max-cycles 50"),
    ];
    let ode = "ode --problem bruss2d-mix --n 6 --t-end 0.5 --reference none";
    for rest in ["--variant reference", "--variant reference --method ab3 --h 0.001", "--method rkc", "--precision f32"]
    {
        if rest.contains("reference") || device() {
            lines.push((format!("{ode} {rest}"), "--step-limit 7", "--step-limit 100000"));
        }
    }
    if device() {
        lines.push(("poisson --n 65 --rhs random".into(), "--max-cycles 3", "--max-cycles 50"));
        lines.push(("poisson --n 65 --coefficient 1+x --f 1".into(), "--max-cycles 3", "--max-cycles 50"));
        for rest in ["--rhs random --cycle fmg", "--f x-0.5 --sides all=neumann", "--f 1 --coefficient 1+9*(x>0.5)"] {
            lines.push((format!("poisson --points 40x30 {rest}"), "--max-cycles 3", "--max-cycles 50"));
        }
    }
    for (line, some, all) in &lines {
        let run = |rest: &str| {
            let words = format!("{line} {rest} --json");
            let mut words: Vec<&str> = words.split(' ').collect();
            if rest.starts_with("--resume") {
                words = [&line[..line.find(' ').expect("a command")]].into_iter().chain(rest.split(' ')).collect();
                words.push("--json");
            }
            run_in(folder.path(), &words).json()
        };
        run(&format!("{some} --checkpoint c.npz"));
        // Differential equations are written as text, with all digits.
        let kind = if line.starts_with("ode") { "mtx" } else { "npz" };
        let resumed = run(&format!("--resume c.npz {all} --out resumed.{kind}"));
        let straight = run(&format!("{all} --out straight.{kind}"));
        for key in [
            "residual_history",
            "cycles",
            "rejected",
            "rhs_evaluations",
            "steps",
            "energy",
            "energy_drift",
            "error_max",
            "end_time",
        ] {
            assert_eq!(resumed[key], straight[key], "{line}: {key}");
        }
        let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
        let [resumed, straight] = ["resumed", "straight"].map(|name| bytes(&format!("{name}.{kind}")));
        assert!(resumed == straight, "{line}");
    }
    for (words, needle) in [
        ("ode --problem bruss2d-mix --n 6 --checkpoint c.txt", ".npz"),
        ("ode --problem heat2d --resume none.npz", "none.npz"),
    ] {
        let done = run_in(folder.path(), &words.split(' ').collect::<Vec<_>>());
        assert!(done.code != 0 && done.stderr.contains(needle), "{words}: {}", done.stderr);
    }
    let done = run_in(folder.path(), &["ode", "--resume", "c.npz"]);
    assert!(done.code == 2 && done.stderr.contains("clinalg poisson"), "{}", done.stderr);
}

/// Within a window and past it; frames go on with the first one that was not written.
#[test]
fn a_relaxation_goes_on_from_its_checkpoint() {
    if !device() {
        return;
    }
    let folder = folder();
    let run = |line: String| run_in(folder.path(), &line.split(' ').collect::<Vec<_>>()).json();
    let line = "waveform --problem bruss2d-mix --n 12 --steps 12 --windows 3 --json";
    for (rest, series) in [
        ("--variant block-boundary --block 4x4 --eps 1e-9", "blocks.npy"),
        ("--precision f32 --adaptive 3 --eps 1e-4", "adaptive.npy"),
    ] {
        let straight = run(format!("{line} {rest} --series straight.npy"));
        let counts = straight["iterations"].as_array().expect("an array").clone();
        let limit = counts[0].as_u64().expect("a count") + 1;
        let some = run(format!("{line} {rest} --iteration-limit {limit} --checkpoint c.npz"));
        assert_eq!((&some["iterations"], &some["checkpoint"]), (&serde_json::json!(counts[..1]), &"c.npz".into()));
        assert!(some["max_difference"].is_null() && some["unfinished"].as_array().map(Vec::len) == Some(1), "{some:#}");
        let t = straight["window_steps"][0].as_f64().expect("steps") * number(&straight, "h");
        assert!((number(&some, "t") - t).abs() < 1e-12, "{some:#}");
        let resumed = run(format!("waveform --resume c.npz --iteration-limit 100000 --series {series} --json"));
        for key in ["iterations", "window_steps", "error_history", "max_difference", "t", "unfinished"] {
            assert_eq!(resumed[key], straight[key], "{rest}: {key}");
        }
        let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
        let (straight, resumed) = (bytes("straight.npy"), bytes(series));
        // Without that of the beginning, and that of the first window.
        let frames = (counts.len() - 1) * 288 * if rest.contains("f32") { 4 } else { 8 };
        assert_eq!(straight.len() - resumed.len(), frames / (counts.len() - 1) * 2, "{rest}");
        assert!(straight.ends_with(&resumed[resumed.len() - frames..]), "{rest}");
    }
    let done = run_in(folder.path(), &["waveform", "--resume", "c.npz", "--windows", "2"]);
    assert!(
        done.code == 2 && done.stderr.contains("with --windows 3, but is continued with --windows 2"),
        "{}",
        done.stderr
    );
}

/// With restarts, with a preconditioner, and for the file that is drawn and written in the end.
#[test]
fn heat_goes_on_from_its_checkpoint() {
    if !device() {
        return;
    }
    let folder = folder();
    let run = |line: String| run_in(folder.path(), &line.split(' ').collect::<Vec<_>>());
    let line = "heat-bem --refine 0 --steps 8 --json";
    for rest in ["--restart 5", "--problem neumann --preconditioner operator"] {
        let straight = run(format!("{line} {rest} --vtk straight.vtu")).json();
        let count = number(&straight, "iterations") as usize;
        assert!(straight["converged"] == true && straight["checkpoint"].is_null() && count > 4, "{straight:#}");
        let some = run(format!("{line} {rest} --max-iterations {} --checkpoint c.npz", count - 2)).json();
        assert_eq!((&some["stop"], &some["checkpoint"]), (&"iteration-limit".into(), &"c.npz".into()), "{some:#}");
        let resumed = run("heat-bem --resume c.npz --max-iterations 1000 --vtk resumed.vtu --json".into()).json();
        for key in ["iterations", "residual_history", "error_l2", "stop"] {
            assert_eq!(resumed[key], straight[key], "{rest}: {key}");
        }
        let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
        assert!(bytes("resumed.vtu") == bytes("straight.vtu"), "{rest}");
    }
    let done = run("heat-bem --resume c.npz --source 0,0,4".into());
    assert!(done.code == 2 && done.stderr.contains("--boundary has other values"), "{}", done.stderr);
}

/// In the middle of GMRES at the second frequency.
#[test]
fn frequencies_go_on_from_their_checkpoint() {
    if !device() {
        return;
    }
    let folder = folder();
    let run = |line: String| run_in(folder.path(), &line.split(' ').collect::<Vec<_>>());
    let line = "elastodynamics --mesh cavity:2 --problem neumann --method gmres --frequencies 0.5:2.5:3 --json";
    for rest in ["", " --otf --precision f32"] {
        let straight = run(format!("{line}{rest} --out straight.csv --vtk straight.vtu")).json();
        let counts: Vec<f64> =
            straight["responses"].as_array().expect("an array").iter().map(|r| number(r, "iterations")).collect();
        assert!(counts[0] + 1.0 < counts[1] && straight["checkpoint"].is_null(), "{counts:?}");
        let limit = counts[1] - 1.0;
        let done = run(format!("{line}{rest} --max-iterations {limit} --checkpoint c.npz"));
        let some: Value = serde_json::from_str(&done.stdout).expect("a report");
        assert_eq!((done.code, &some["stop"], &some["checkpoint"]), (1, &"iteration-limit".into(), &"c.npz".into()));
        assert_eq!(some["responses"].as_array().map(Vec::len), Some(2));
        let resume = "elastodynamics --resume c.npz --max-iterations 1000 --json";
        let resumed = run(format!("{resume} --out resumed.csv --vtk resumed.vtu")).json();
        for kind in ["csv", "vtu"] {
            let bytes = |name: &str| std::fs::read(folder.path().join(format!("{name}.{kind}"))).expect("written");
            assert!(bytes("resumed") == bytes("straight"), "{rest}: {kind}");
        }
        for (k, response) in resumed["responses"].as_array().expect("an array").iter().enumerate() {
            for key in ["iterations", "stop", "error_u", "largest_displacement"] {
                assert_eq!(response[key], straight["responses"][k][key], "{rest}: {key}");
            }
        }
    }
    let done = run("elastodynamics --resume c.npz --shear 2".into());
    assert!(
        done.code == 2 && done.stderr.contains("with --shear 1.0, but is continued with --shear 2.0"),
        "{}",
        done.stderr
    );
}

/// LU: the frequency at hand is computed again.
#[cfg(unix)]
#[test]
fn interrupted_frequencies_go_on() {
    if !device() {
        return;
    }
    let folder = folder();
    let line = "elastodynamics --mesh cavity:5 --frequencies 0:2:40 --json";
    let mut command = program();
    command.current_dir(folder.path()).args(line.split(' ')).args(["--checkpoint", "c.npz"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    // It is written after the first frequency.
    while !folder.path().join("c.npz").is_file() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(out.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&out.stdout).expect("a report");
    let done = report["responses"].as_array().expect("an array").len();
    assert!((1..40).contains(&done) && report["checkpoint"] == "c.npz" && report["converged"] == true, "{report:#}");
    let resume = ["elastodynamics", "--resume", "c.npz", "--out", "resumed.csv"];
    run_in(folder.path(), &resume).fine();
    let words: Vec<&str> = line.split(' ').collect();
    run_in(folder.path(), &[&words[..], &["--out", "straight.csv"]].concat()).fine();
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("written");
    assert!(bytes("resumed.csv") == bytes("straight.csv"));
}

#[test]
fn checkpoints_of_other_problems_are_refused() {
    let folder = folder();
    let run = |line: &str| run_in(folder.path(), &line.split(' ').collect::<Vec<_>>());
    let ode = "ode --problem heat2d --n 9 --variant reference --step-limit 3 --reference none";
    let mut cases = vec![
        ("wave --n 17 --backend reference --steps 3", "--speed 1+x --initial gauss", "with --c 1.0"),
        ("wave --n 17 --backend reference --steps 3", "--initial gauss", "--initial has other values"),
        ("poisson --n 9 --backend reference --f 1 --max-cycles 1", "--f 1+x", "--f has other values"),
        (
            "poisson --n 9 --backend reference --f 1 --max-cycles 1",
            "--cycle w",
            "with --cycle v, but is continued with --cycle w",
        ),
        (ode, "--parameter scale=2", "the system has other values"),
        (ode, "--method bs32", "with --method dopri54"),
    ];
    if device() {
        let line = "poisson --points 12x9 --f 1 --max-cycles 1";
        cases.push((line, "--points 12x10", "with --points [12, 9], but is continued with --points [12, 10]"));
        cases.push((line, "--sides x=periodic", "--sides"));
        cases.push((line, "--coefficient 1+x", "without --coefficient, but is continued with --coefficient"));
    }
    for (line, other, needle) in cases {
        let command = line.split(' ').next().expect("a command");
        run(&format!("{line} --checkpoint c.npz"));
        let done = run(&format!("{command} --resume c.npz {other}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{line}, {other}: {}", done.stderr);
        // Limits may change.
        let limit = if command == "ode" { "--rtol 1e-3" } else { "--checkpoint d.npz" };
        assert!(run(&format!("{command} --resume c.npz {limit}")).code < 2, "{line}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_wave_leaves_a_checkpoint() {
    let folder = folder();
    let line = "wave --n 65 --backend reference --json";
    let mut command = program();
    command.current_dir(folder.path()).args(line.split(' ')).args(["--steps", "100000000", "--frames", "2"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(700));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(out.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&out.stdout).expect("a report");
    assert_eq!(report["checkpoint"], "clinalg-wave-checkpoint.npz");
    let steps = (number(&report, "steps") as u64 + 10).to_string();
    let last = ["--steps", &steps, "--frames", "2", "--out"];
    let resume = ["wave", "--resume", "clinalg-wave-checkpoint.npz"];
    run_in(folder.path(), &[&resume[..], &last, &["resumed.npy"]].concat()).fine();
    let line: Vec<&str> = line.split(' ').collect();
    run_in(folder.path(), &[&line[..], &last, &["straight.npy"]].concat()).fine();
    assert!(npy(&folder.path().join("resumed.npy")) == npy(&folder.path().join("straight.npy")));
}

#[test]
fn options_come_from_a_file() {
    let folder = folder();
    let line = ["poisson", "--n", "17", "--backend", "reference", "--f", "1 + x", "--print-options"];
    let text = run_in(folder.path(), &line).fine();
    assert!(text.contains("n = 17\n") && text.contains("# cycle = \"v\""), "{text}");
    std::fs::write(folder.path().join("run.toml"), text).expect("written");
    let report = run_in(folder.path(), &["--options", "run.toml", "--json"]).json();
    assert!(
        report["points"] == serde_json::json!([17, 17]) && report["f"] == "1 + x" && report["backend"] == "reference",
        "{report:#}"
    );
    let report = run_in(folder.path(), &["poisson", "--options", "run.toml", "--json", "--n", "33"]).json();
    assert_eq!(report["points"], serde_json::json!([33, 33]));
    let done = run_in(folder.path(), &["wave", "--options", "run.toml"]);
    assert!(done.code == 2 && done.stderr.contains("clinalg poisson"), "{}", done.stderr);
}

/// All variants make the same steps; their stages follow the spectral radius, which is 8 / h^2.
#[test]
fn a_stabilised_method_takes_few_evaluations_of_a_diffusion() {
    let run = |args: &str| words(&format!("ode --problem heat2d --n 33 --rtol 1e-4 --atol 1e-6 --json {args}")).json();
    let plain = run("--method rkc --variant reference");
    let explicit = run("--method dopri54 --variant reference");
    assert!(number(&plain, "error_vs_reference") < 1e-3, "{plain:#}");
    let ratio = number(&explicit, "rhs_evaluations") / number(&plain, "rhs_evaluations");
    assert!(ratio > 2.0 && number(&plain, "stages") > 5.0, "{ratio}: {plain:#}");
    if !device() {
        return;
    }
    for variant in ["fused --steps-at-once 1", "trapezoidal"] {
        let report = run(&format!("--method rkc --variant {variant}"));
        for key in ["steps", "stages"] {
            assert_eq!(report[key], plain[key], "{variant}: {key}");
        }
        assert!(number(&report, "error_vs_reference") < 1e-3, "{report:#}");
    }
    let done = words("ode --problem heat2d --radius 3");
    assert!(done.code == 2 && done.stderr.contains("--method rkc"), "{}", done.stderr);
}

/// Three bodies: a path and a dot for each in one picture, in place of coordinates over the number of the body.
#[test]
fn bodies_are_drawn_as_paths() {
    let folder = folder();
    let line = "ode --problem nbody --n 3 --variant reference --t-end 1 --frames 9 --plot paths.svg --json";
    let report = run_in(folder.path(), &line.split(' ').collect::<Vec<_>>()).json();
    let picture = report["pictures"][0].as_str().expect("a picture");
    assert_eq!(report["pictures"].as_array().map(Vec::len), Some(1));
    let svg = std::fs::read_to_string(folder.path().join(picture)).expect("it is written");
    assert!(svg.contains("3 bodies, t from 0 to 1"), "{svg}");
    assert_eq!(svg.matches("<circle").count(), 3);
    // Nine points each.
    let paths =
        svg.split("<polyline").skip(1).filter(|path| path.split('"').any(|p| p.split_whitespace().count() == 9));
    assert_eq!(paths.count(), 3, "{svg}");
}
