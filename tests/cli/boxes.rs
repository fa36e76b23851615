//! Boxes: waves, and tensors that vary.

use std::path::Path;

use super::*;

/// On every kind of side without loss a standing wave moves with the frequency of the scheme, sin^2(w' dt / 2) = dt^2 sum of sin^2(k h / 2) / h^2.
#[test]
fn standing_waves_on_boxes_meet_the_scheme() {
    if !device() {
        return;
    }
    let pi = std::f64::consts::PI;
    let cases = [
        ("25x17", "2x0.7", "x0=fixed,x1=free,y=free", "2,1", [1.5 * pi / 2.0, pi / 0.7, 0.0]),
        ("24x9", "1x3", "x=periodic", "1,2", [2.0 * pi, 2.0 * pi / 3.0, 0.0]),
        ("13x9x11", "1x1x2", "z=free", "2,1,3", [2.0 * pi, pi, 1.5 * pi]),
    ];
    for (points, size, sides, mode, k) in cases {
        let line = format!("wave --points {points} --size {size} --sides {sides} --mode {mode} --steps 40 --json");
        let report = words(&line).json();
        let (dt, t) = (number(&report, "dt"), number(&report, "end_time"));
        let counts: Vec<f64> = points.split('x').map(|n| n.parse().expect("a count")).collect();
        let lengths: Vec<f64> = size.split('x').map(|l| l.parse().expect("a length")).collect();
        let intervals = |axis: usize| counts[axis] - if sides == "x=periodic" && axis == 0 { 0.0 } else { 1.0 };
        let part = |axis: usize| {
            let h = lengths[axis] / intervals(axis);
            (dt / h * (0.5 * k[axis] * h).sin()).powi(2)
        };
        let sum: f64 = (0..counts.len()).map(part).sum();
        let frequency = 2.0 * sum.sqrt().asin() / dt;
        let exact: f64 = k.iter().map(|k| k * k).sum::<f64>().sqrt();
        let difference = ((frequency * t).cos() - (exact * t).cos()).abs();
        // The largest value of the shape at a point is almost 1.
        let error = number(&report, "error_max");
        assert!(error <= difference + 1e-12 && error > 0.8 * difference, "{line}: {error}, {difference}");
        assert!(number(&report, "energy_drift") < 1e-11 && report["steps"] == 40, "{report:#}");
        assert!(dt < number(&report, "dt_limit") && dt > 0.98 * number(&report, "dt_limit"));
    }
}

/// A force drives a box from rest, in one run and in two.
#[test]
fn forces_files_and_checkpoints_of_boxes() {
    if !device() {
        return;
    }
    let folder = folder();
    let line = "wave --points 33x17 --size 1x0.5 --initial 0 --force sin(pi*x)*sin(2*pi*y) --force-time 1+t";
    let line: Vec<&str> = line.split(' ').collect();
    let run = |rest: &str| run_in(folder.path(), &[&line[..], &rest.split(' ').collect::<Vec<_>>()].concat()).json();
    let straight = run("--steps 30 --frames 4 --json --series s.npz --out u.npy --plot u.svg");
    // The energy at the start, half a step before it, is that of the force's first push.
    assert!(number(&straight, "energy") < 0.01 * number(&straight, "energy_end"), "{straight:#}");
    // u'' + w^2 u = 1 + t with u = u' = 0: u = (1 + t - cos(w t) - sin(w t) / w) / w^2.
    let (t, w) = (number(&straight, "end_time"), std::f64::consts::PI * 5.0_f64.sqrt());
    let want = (1.0 + t - (w * t).cos() - (w * t).sin() / w) / (w * w);
    let values = npy_values(&folder.path().join("u.npy"));
    let middle = values[8 * 33 + 16];
    assert!((middle - want).abs() < 0.01 * want, "{middle}, expected {want}");
    assert!(svg(&folder.path().join("u-0003.svg")).contains("Wave equation, 33 × 17 points"));
    run("--steps 11 --frames 2 --json --checkpoint c.npz");
    let rest = "wave --resume c.npz --steps 30 --frames 4 --json --out resumed.npy";
    let resumed = run_in(folder.path(), &rest.split(' ').collect::<Vec<_>>()).json();
    assert_eq!(resumed["steps"], 30);
    assert!(npy_values(&folder.path().join("resumed.npy")) == values);
    let done = run_in(folder.path(), &["wave", "--resume", "c.npz", "--sides", "x=free"]);
    assert!(done.code == 2 && done.stderr.contains("--sides"), "{}", done.stderr);
}

fn npy_values(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).expect("the file is written");
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[10 + header..].chunks_exact(8).map(|v| f64::from_le_bytes(v.try_into().expect("8 bytes"))).collect()
}

#[test]
fn open_sides_let_waves_out_and_wrong_boxes_are_refused() {
    if !device() {
        return;
    }
    let done = words("wave --points 61x61 --sides all=absorbing --end-time 2 --verbose");
    let text = done.fine();
    assert!(text.contains("a bump") && text.contains("2-norms") && text.contains("steps and frames"), "{text}");
    let report = words("wave --points 61x61 --sides all=absorbing --end-time 2 --json").json();
    assert!(number(&report, "energy_end") < 0.02 * number(&report, "energy"), "{report:#}");
    // Waves at other angles come back in part; layers damp them.
    let r2 = "200*((x-0.5)^2+(y-0.4)^2)";
    let line = format!("wave --points 61x61 --sides all=absorbing --initial (1-{r2})*exp(-{r2}) --end-time 2 --json");
    let [sides, layers] = ["", " --sponge 0.3"].map(|sponge| words(&format!("{line}{sponge}")).json());
    let [without, with] = [&sides, &layers].map(|report| number(report, "energy_end"));
    assert!(with < 0.1 * without && layers["sponge"] == 0.3 && sides["sponge"].is_null(), "{with}, {without}");
    let text = words("wave --points 61x61 --sides all=absorbing --sponge 0.2 --steps 2").fine();
    assert!(text.contains("x0=absorbing") && text.contains("damping layers of width 0.2"), "{text}");
    let names: Vec<&Value> = report["phases"].as_array().expect("phases").iter().map(|p| &p["phase"]).collect();
    assert_eq!(names, ["options and files", "device", "set-up", "steps and frames", "output"]);
    super::schema::meets("wave-points", &report);
    for (line, needles) in [
        ("--points 61x61 --initial mode --sides x0=absorbing", &["standing waves"][..]),
        ("--points 61x61 --scheme implicit", &["explicit"]),
        ("--points 61x61 --backend reference", &["--backend kernels"]),
        ("--points 61x61 --dt 1", &["stability limit"]),
        ("--points 61x61 --sponge 0.2", &["`sponge`", "absorbing side"]),
        ("--points 61x61 --sides x=absorbing --sponge 0.6", &["`sponge`", "0.5"]),
        ("--points 61x61 --sides x=absorbing --sponge -1", &["--sponge"]),
        ("--points 61x61 --size 1x1x1", &["--size has 3", "--points has 2"]),
        ("--points 61x61 --sides z=free", &["direction z"]),
        ("--points 61x61 --sides x0=periodic", &["periodic", "direction 1"]),
        ("--points 61x61 --sides x=open", &["`x=open`", "absorbing"]),
        ("--points 61x2", &["at least 3"]),
        ("--points 61x61 --mode 1,2,3", &["--mode has 3"]),
        ("--points 61x61 --initial z", &["--initial", "`z`"]),
        ("--points 61x61 --n 61", &["--n"]),
        ("--sides x=free", &["--points"]),
        ("--points 61x61 --speed x", &["speed"]),
    ] {
        let done = words(&format!("wave {line}"));
        assert!(done.code == 2 && needles.iter().all(|n| done.stderr.contains(n)), "{line}: {}", done.stderr);
    }
    for line in ["--points 61x61", "--n 17 --backend reference"] {
        let done = words(&format!("wave {line} --force 1 --force-time 1/t --steps 3"));
        assert!(done.code == 2 && done.stderr.contains("inf at t = 0"), "{line}: {}", done.stderr);
    }
    let done = words("wave --points 100000x100000x100");
    assert!(done.code == 4 && done.stderr.contains("100000 x 100000 x 100"), "{}", done.stderr);
}

/// u = exp(y / 2) cos x + x y, which has another flux through each side, also at the corners: the error falls by four.
#[test]
fn each_side_has_its_own_values() {
    if !device() {
        return;
    }
    let folder = folder();
    let exact = "cos(x)*exp(y/2)+x*y";
    let [dx, dy] = ["(y-sin(x)*exp(y/2))", "(0.5*cos(x)*exp(y/2)+x)"];
    let cases = [
        ("x1=neumann", vec![format!("x1={dx}")]),
        ("y0=neumann", vec![format!("y0=-{dy}")]),
        ("x1=robin:2,y0=neumann", vec![format!("x1={dx}+2*({exact})"), format!("y0=-{dy}")]),
        ("x0=neumann,y1=neumann", vec![format!("x0=-{dx}"), format!("y1={dy}")]),
    ];
    let run = |line: &str, values: &[String]| {
        let boundary = values.iter().flat_map(|value| ["--boundary", value]);
        run_in(folder.path(), &line.split(' ').chain(boundary).collect::<Vec<_>>())
    };
    for (sides, mut values) in cases {
        values.push(exact.to_owned());
        let error = |n: usize| {
            let points = format!("{n}x{n}");
            let line =
                format!("poisson --points {points} --sides {sides} --f 0.75*cos(x)*exp(y/2) --tol 1e-11 --out u.npy");
            let done = run(&line, &values);
            assert!(done.code == 0 && done.stderr.is_empty(), "{sides}: {}", done.stderr);
            let h = 1.0 / (n - 1) as f64;
            let differences = npy_values(&folder.path().join("u.npy")).into_iter().enumerate().map(|(k, u)| {
                let (x, y) = ((k % n) as f64 * h, (k / n) as f64 * h);
                (u - (x.cos() * (0.5 * y).exp() + x * y)).abs()
            });
            differences.fold(0.0, f64::max)
        };
        let [coarse, fine] = [17, 33].map(error);
        assert!(coarse < 1e-3 && fine < 0.27 * coarse, "{sides}: {coarse}, {fine}");
    }
    // On the fast kernels: u = 1 on the left, 0 elsewhere, corners included.
    let done = run("poisson --n 9 --f 0 --tol 1e-12 --out u.npy", &["x0=1".to_owned()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let u = npy_values(&folder.path().join("u.npy"));
    assert_eq!((u[0], u[9], u[72], u[17]), (0.0, 1.0, 0.0, 0.0));
    let mirrored = run("poisson --n 9 --f 0 --tol 1e-12 --out u.npy", &["x1=1".to_owned()]);
    assert_eq!(mirrored.code, 0, "{}", mirrored.stderr);
    let v = npy_values(&folder.path().join("u.npy"));
    assert!((0..81).all(|k| (u[k] - v[k / 9 * 9 + 8 - k % 9]).abs() < 1e-11));
    let done = run("poisson --points 9x9 --sides x1=neumann --f 0", &["x".to_owned()]);
    assert!(
        done.code == 0 && done.stderr.contains("u on x0, y0, y1 and as the right-hand side of the condition on x1"),
        "{}",
        done.stderr
    );
    for (values, needle) in [
        (vec!["x0=1", "x=2"], "sets side x0 twice"),
        (vec!["1", "2"], "twice without a side"),
        (vec!["z0=1"], "direction z"),
        (vec!["y=1"], "side y0 is periodic"),
        (vec!["x0=q"], "x, y"),
    ] {
        let values: Vec<String> = values.into_iter().map(str::to_owned).collect();
        let done = run("poisson --points 9x9 --sides y=periodic --f 0", &values);
        assert!(done.code == 2 && done.stderr.contains(needle), "{values:?}: {}", done.stderr);
    }
}

/// u = x y with D = [[2 + x, x y / 2], [x y / 2, 1 + y]]; constant entries are those of --diffusion.
#[test]
fn tensors_that_vary_on_boxes() {
    if !device() {
        return;
    }
    let folder = folder();
    let run = |line: &str| run_in(folder.path(), &line.split(' ').collect::<Vec<_>>());
    // D grad u = ((2 + x) y + x^2 y / 2, x y^2 / 2 + (1 + y) x), whose divergence is y + x y + x y + x.
    let line =
        "poisson --points 25x33 --dxx 2+x --dyy 1+y --dxy x*y/2 --boundary x*y --f -(x+y+2*x*y) --out u.npy --json";
    let report = run(line).json();
    assert!(report["converged"] == true && report["tensor"][2] == "dxy = x*y/2", "{report:#}");
    for (k, u) in npy_values(&folder.path().join("u.npy")).into_iter().enumerate() {
        let want = (k % 25) as f64 / 24.0 * ((k / 25) as f64 / 32.0);
        assert!((u - want).abs() < 3e-4, "point {k}: {u}, expected {want}");
    }
    super::schema::meets("poisson", &report);
    let solved = |rest: &str| {
        run(&format!("poisson --points 25x33 --rhs random --out v.npy --tol 1e-12 --json {rest}")).json();
        npy_values(&folder.path().join("v.npy"))
    };
    let [cells, constant] = ["--dyy 4", "--diffusion 1x4"].map(solved);
    assert!(cells.iter().zip(&constant).all(|(a, b)| (a - b).abs() < 1e-10));
    for (rest, needle) in [
        ("--dxy 2", "positive definite"),
        ("--dzz 2", "three dimensions"),
        ("--dxx 1/(x-x)", "--dxx"),
        ("--dxx 2 --coefficient 2", "--coefficient"),
        ("--dxy 0.5 --cells", "cell-centred"),
        ("--dxx 2 --order 4", "order"),
    ] {
        let done = run(&format!("poisson --points 25x33 --f 1 {rest}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{rest}: {}", done.stderr);
    }
    // Squares of such numbers overflow. Along x nothing flows: u is y (1 - y) / 2 over D.
    assert_eq!(run("poisson --points 25x33 --dyy 1e300 --f 1 --out w.npy --quiet").code, 0);
    for (k, u) in npy_values(&folder.path().join("w.npy")).into_iter().enumerate().filter(|(k, _)| k % 25 % 24 > 0) {
        let y = (k / 25) as f64 / 32.0;
        assert!((1e300 * u - y * (1.0 - y) / 2.0).abs() < 1e-10, "point {k}: {u}");
    }
    let done = run("poisson --points 25x33 --dxx 2");
    assert!(done.code == 2 && done.stderr.contains("--f"), "{}", done.stderr);
}
