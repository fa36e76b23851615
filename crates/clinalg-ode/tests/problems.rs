//! Test problems against exact solutions, invariants, and SciPy (DOP853, tolerances 1e-10 to 1e-12, the formulas written
//! anew in NumPy).

use std::f64::consts::PI;

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
    let (y, report) = integrate(&mut stepper, p.t0, t_end, &p.y0, &options, &mut |_, _| ()).unwrap();
    println!("{}: {} steps, {} rejected", p.name, report.accepted, report.rejected);
    y
}

#[test]
fn scipy_finds_the_same_solutions() {
    type Case = (&'static str, usize, f64, &'static [(usize, f64)], f64);
    let cases: [Case; 6] = [
        (
            "bruss2d-mix",
            16,
            1.0,
            &[(0, 0.26591479250928457), (1, 2.1515245129600307), (100, 0.2969579642357296), (511, 1.0291832116084665)],
            2.3356286908989152,
        ),
        (
            "bruss2d-hairer",
            16,
            11.5,
            &[(0, 0.4878418880464365), (1, 4.889618077732352), (250, 0.5011564054625696), (511, 4.889817691197851)],
            3.455030657132836,
        ),
        (
            "bruss2d-sciml",
            8,
            2.0,
            &[(0, 0.34122304229115913), (1, 3.7074201514934346), (70, 0.34301694343426925), (127, 3.707419796026295)],
            2.632651827823556,
        ),
        (
            "cusp",
            32,
            0.1,
            &[(0, -1.4386569010843369), (1, -1.9294022358718808), (2, 0.20390649948311423), (50, -0.1697297062917848)],
            1.3310683998708404,
        ),
        (
            "medakzo",
            40,
            6.0,
            &[(0, 0.052021767622918325), (38, 0.006837484088137892), (39, 0.7451283951644576), (79, 1.0)],
            0.53761087344708,
        ),
        (
            "inverter-chain",
            20,
            20.0,
            &[(0, 0.5958541445855219), (1, 4.803936479367292), (10, 5.0), (19, 0.594875162046659)],
            3.32787702304738,
        ),
    ];
    for (name, n, t_end, values, rms) in cases {
        let p = problem(name, n).unwrap();
        let y = solve(&p, "dopri54", t_end, 1e-8);
        for (k, expected) in values {
            assert!((y[*k] - expected).abs() < 1e-6, "{name}[{k}]: {} instead of {expected}", y[*k]);
        }
        let norm = (y.iter().map(|v| v * v).sum::<f64>() / y.len() as f64).sqrt();
        assert!((norm - rms).abs() < 1e-6, "{name}: {norm} instead of {rms}");
    }
}

/// e^(t L) u for the mirrored second difference L times `scale`, by its eigenvectors cos(pi k j / (n - 1)).
fn heat_exact(u: &[f64], scale: f64, t: f64) -> Vec<f64> {
    let m = u.len() - 1;
    let half = |k: usize| if k == 0 || k == m { 0.5 } else { 1.0 };
    let cos = |k: usize, j: usize| (PI * (k * j % (2 * m)) as f64 / m as f64).cos();
    let amplitude = |k: usize| {
        let sum: f64 = (0..=m).map(|j| half(j) * u[j] * cos(k, j)).sum();
        2.0 / m as f64 * sum * (scale * (2.0 * (PI * k as f64 / m as f64).cos() - 2.0) * t).exp()
    };
    let all: Vec<f64> = (0..=m).map(amplitude).collect();
    (0..=m).map(|j| (0..=m).map(|k| half(k) * all[k] * cos(k, j)).sum()).collect()
}

#[test]
fn heat_follows_its_eigenvectors() {
    for (name, n) in [("heat2d", 13), ("heat3d", 6)] {
        let p = problem(name, n).unwrap();
        let scale = ((n - 1) * (n - 1)) as f64;
        let exact = heat_exact(&p.y0[..n], scale, 0.05);
        let y = solve(&p, "dopri54", 0.05, 1e-10);
        for (k, v) in y.iter().enumerate() {
            assert!((v - exact[k % n]).abs() < 1e-8, "{name}[{k}]: {v} instead of {}", exact[k % n]);
        }
    }
}

#[test]
fn the_wave_moves_as_its_modified_wave_numbers_say() {
    let n = 250;
    let p = problem("wave1d", n).unwrap();
    let (h, t) = (2.0, 40.0);
    let speed = |angle: f64| {
        let c = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
        2.0 * c.iter().enumerate().map(|(k, c)| c * ((k + 1) as f64 * angle).sin()).sum::<f64>() / h
    };
    let mut exact = vec![0.0; n];
    for k in 0..n {
        let angle = 2.0 * PI * k as f64 / n as f64;
        let phase = |j: usize| 2.0 * PI * (k * j % n) as f64 / n as f64;
        let (mut re, mut im) = (0.0, 0.0);
        for (j, u) in p.y0.iter().enumerate() {
            re += u * phase(j).cos();
            im -= u * phase(j).sin();
        }
        let turn = -speed(angle) * t;
        for (j, e) in exact.iter_mut().enumerate() {
            *e += (re * (phase(j) + turn).cos() - im * (phase(j) + turn).sin()) / n as f64;
        }
    }
    let y = solve(&p, "dopri87", t, 1e-11);
    for (got, want) in y.iter().zip(&exact) {
        assert!((got - want).abs() < 1e-9, "{got} instead of {want}");
    }
}

#[test]
fn invariants_hold() {
    let p = problem("lotka-volterra", 7).unwrap();
    let invariant =
        |y: &[f64]| -> Vec<f64> { y.chunks(2).map(|c| c[0] - 3.0 * c[0].ln() + c[1] - 1.5 * c[1].ln()).collect() };
    let y = solve(&p, "verner65", p.t_end, 1e-10);
    assert!(invariant(&y).iter().zip(invariant(&p.y0)).all(|(a, b)| (a - b).abs() < 1e-7));

    let (bodies, y0) = NBody::ring(9);
    assert_eq!(Rhs::<f64>::len(&bodies), 54);
    let options = Options { relative: 1e-11, absolute: 1e-12, ..Options::default() };
    let mut stepper = Reference::new(&Method::named("dopri87").unwrap(), &bodies);
    let (y, _) = integrate(&mut stepper, 0.0, 3.0, &y0, &options, &mut |_, _| ()).unwrap();
    assert!((bodies.energy(&y) - bodies.energy(&y0)).abs() < 1e-9);
    assert!(bodies.momentum(&y).iter().zip(bodies.momentum(&y0)).all(|(a, b)| (a - b).abs() < 1e-12));
    assert!(y.iter().zip(&y0).any(|(a, b)| (a - b).abs() > 0.1));
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
    for name in PROBLEMS {
        let p = problem(name, 20).unwrap();
        assert_eq!(p.y0.len(), p.system.components());
        assert!(p.t_end > p.t0 && p.y0.iter().all(|v| v.is_finite()), "{name}");
    }
    assert!(problem("bruss2d-mix", 2).is_err() && problem("no-such-problem", 20).is_err());
}
