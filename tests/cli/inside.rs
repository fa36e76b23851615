//! Temperatures at the start and inside, and norms of blocks.

use clinalg_bem::Mesh;
use clinalg_bem::heat::reference::Reference;
use clinalg_bem::heat::{HeatParams, Kind};

use super::*;

/// u = exp(-0.2 t) cos(x) cos(y) solves the equation for alpha = 0.1: given on the surface and at the start, it comes out inside.
#[test]
fn an_initial_temperature_is_found_inside() {
    if !device() {
        return;
    }
    let folder = folder();
    let points = file(&folder, "p.txt", "0 0 0\n0.3, -0.2, 0.1\n");
    let out = folder.path().join("u.csv");
    let base = "heat-bem --mesh cube24 --refine 1 --steps 4 --end-time 1 --alpha 0.1 --json";
    let start = "--initial cos(x)*cos(y)";
    // By closed forms in time, in plain Rust.
    let mesh = Mesh::cube24().refined().expect("a mesh");
    let blocks = Reference::new(&mesh, &HeatParams::new(0.1, 1.0, 4)).expect("parameters");
    let exact = |t: f64, x: f64, y: f64| (-0.2 * t).exp() * x.cos() * y.cos();
    let flux = "-0.1*exp(-0.2*t)*(nx*sin(x)*cos(y)+ny*cos(x)*sin(y))";
    for (problem, boundary) in [("dirichlet", "exp(-0.2*t)*cos(x)*cos(y)"), ("neumann", flux)] {
        let files = format!("--points {points} --out {}", out.display());
        let report =
            words(&format!("{base} {start} --problem {problem} --boundary {boundary} {files} --report")).json();
        let times = numbers(&report, "times");
        assert_eq!(times, [0.125, 0.375, 0.625, 0.875]);
        for inside in report["inside"].as_array().expect("points") {
            let point = numbers(inside, "point");
            for (t, u) in times.iter().zip(numbers(inside, "u")) {
                let want = exact(*t, point[0], point[1]);
                // 96 triangles and 4 steps; without the initial temperature u would be off by about 1.
                assert!((u - want).abs() < 0.02, "{problem}, t = {t}, {point:?}: {u}, expected {want}");
            }
        }
        let kind = if problem == "dirichlet" { Kind::V } else { Kind::D };
        let norms = numbers(&report, "block_norms");
        assert_eq!(norms.len(), 4);
        for (d, norm) in norms.into_iter().enumerate() {
            let want = blocks.blocks(kind).block(d).iter().map(|a| a * a).sum::<f64>().sqrt();
            assert!((norm / want - 1.0).abs() < 1e-8, "{problem}, block {d}: {norm}, expected {want}");
        }
        let text = std::fs::read_to_string(&out).expect("a table");
        assert!(text.starts_with("t,x,y,z,u\n1.25e-1,0e0,0e0,0e0,") && text.lines().count() == 9, "{text}");
        super::schema::meets("heat-bem", &report);
    }
    for (rest, needle) in [
        ("--initial 1 --boundary cos(x)", "they must agree"),
        ("--initial 1 --boundary fundamental", "--initial needs the boundary values"),
        ("--boundary 1 --initial x>0.2", "smooth"),
        ("--boundary 1 --initial 1/(x-1.3)", "--initial"),
        ("--boundary 1 --initial w", "`w`"),
        ("--boundary t --out u.csv", "--points"),
        ("--boundary t --report --apply otf", "--apply assembled"),
    ] {
        let done = words(&format!("{base} {rest}"));
        assert!(done.code == 2 && done.stderr.contains(needle), "{rest}: {}", done.stderr);
    }
    let outside = file(&folder, "q.txt", "0 0 0\n2 0 0\n");
    let done = words(&format!("{base} --boundary t --points {outside}"));
    assert!(done.code == 2 && done.stderr.contains("point 2 at [2.0, 0.0, 0.0]"), "{}", done.stderr);
}
