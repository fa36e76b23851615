//! Test problems against SciPy (data/reference.py, the formulas written anew in NumPy), exact solutions and invariants.

use clinalg_ode::integrate::{Options, integrate};
use clinalg_ode::problems::{NBody, PROBLEMS, Problem, problem};
use clinalg_ode::reference::Reference;
use clinalg_ode::{Method, Rhs};

fn solve(p: &Problem, method: &str, t_end: f64, tolerance: f64) -> Vec<f64> {
    let options = Options {
        relative: tolerance,
        absolute: tolerance,
        stops: p.stops.clone(),
        step_limit: 1_000_000,
        ..Options::default()
    };
    let mut stepper = Reference::new(&Method::named(method).unwrap(), &p.system);
    let (y, report) = integrate(&mut stepper, p.t0, t_end, &p.y0().unwrap(), &options, &mut |_, _| ()).unwrap();
    println!("{}: {} steps, {} rejected", p.name, report.accepted, report.rejected);
    y
}

/// Number of points, time and solution of the file for a problem; see data/reference.py.
fn scipy(name: &str) -> (usize, f64, Vec<f64>) {
    let path = format!("{}/ode/data/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let (head, values) = text.split_once('\n').unwrap();
    let (n, t) = head.split_once(' ').unwrap();
    (n.parse().unwrap(), t.parse().unwrap(), values.lines().map(|v| v.parse().unwrap()).collect())
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn scipy_finds_the_same_solutions() {
    for name in PROBLEMS {
        let (n, t_end, expected) = scipy(name);
        let p = problem(name, n).unwrap();
        let y = solve(&p, "dopri54", t_end, 1e-10);
        let error = largest_difference(&y, &expected);
        assert!(error < 1e-6, "{name}: {error}");
        if let Some(exact) = p.exact(t_end) {
            let error = largest_difference(&exact, &expected);
            assert!(error < 1e-10, "{name}: {error}");
        }
    }
    assert!(problem("cusp", 5).unwrap().exact(1.0).is_none());
}

#[test]
fn invariants_hold() {
    for (name, n, count) in
        [("heat2d", 9, 1), ("heat3d", 5, 1), ("wave1d", 120, 2), ("lotka-volterra", 7, 1), ("nbody", 9, 7)]
    {
        let p = problem(name, n).unwrap();
        let y = solve(&p, "dopri87", p.t_end.min(20.0), 1e-12);
        let (before, after) = (p.invariants(&p.y0().unwrap()), p.invariants(&y));
        assert_eq!(before.len(), count);
        for ((name, before), (_, after)) in before.iter().zip(&after) {
            assert!((before - after).abs() < 1e-9, "{}: {name} was {before}, is {after}", p.name);
        }
        assert!(largest_difference(&y, &p.y0().unwrap()) > 0.05, "{name}");
    }
    assert!(problem("cusp", 5).unwrap().invariants(&[0.0; 15]).is_empty());
}

/// The formulas of `nbody` against plain Rust; the sums in another order.
#[test]
fn bodies_by_formulas_and_by_hand() {
    let p = problem("nbody", 40).unwrap();
    let (bodies, y) = NBody::ring(40);
    let (mut f, mut g) = (vec![0.0; 240], vec![0.0; 240]);
    p.system.eval(0.0, &y, &mut f);
    bodies.eval(0.0, &y, &mut g);
    assert!(largest_difference(&f, &g) < 1e-14);
}

#[test]
fn access_distances_of_the_literature() {
    let distance = |name, n| problem(name, n).unwrap().system.access_distance();
    assert_eq!(distance("bruss2d-mix", 20), 40);
    assert_eq!(distance("heat2d", 20), 20);
    assert_eq!(distance("heat3d", 20), 400);
    assert_eq!(distance("medakzo", 20), 2);
    assert_eq!(distance("inverter-chain", 20), 1);
    assert_eq!(distance("lotka-volterra", 20), 1);
    assert_eq!(distance("nbody", 20), 119);
    for name in PROBLEMS {
        let p = problem(name, 20).unwrap();
        let y0 = p.y0().unwrap();
        assert_eq!(y0.len(), p.system.components());
        assert!(p.t_end > p.t0 && y0.iter().all(|v| v.is_finite()), "{name}");
    }
    assert!(problem("bruss2d-mix", 2).is_err() && problem("no-such-problem", 20).is_err());
}

#[test]
fn sizes_that_fit_no_memory_are_errors() {
    for name in PROBLEMS {
        for n in [usize::MAX, 1 << 63, 1 << 50, 1 << 45] {
            let error = problem(name, n).and_then(|p| p.y0()).unwrap_err();
            let known = ["clinalg:argument:value", "clinalg:ode:memory"].contains(&error.id());
            assert!(known, "{name} {n}: {error}");
        }
    }
}
