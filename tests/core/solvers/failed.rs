//! Solves that fail: residuals computed on the host, and least-squares solutions by orthogonality to the null space.

use super::*;
use clinalg::Complex;
use clinalg::solve::{BlockCg, Idr, IdrParams, LeastSquares, LeastSquaresParams};

/// The solvers for one right-hand side, ended after `most` iterations.
fn solvers<T: Real>(context: &Context, n: usize, most: usize) -> Vec<(&'static str, Box<dyn Solver<T>>)> {
    let stopping = || stopping::<T>().max_iterations(most);
    vec![
        ("CG", Box::new(Cg::new(context, n, stopping().into()).unwrap())),
        ("flexible CG", Box::new(FlexibleCg::new(context, n, stopping().into()).unwrap())),
        ("MINRES", Box::new(Minres::new(context, n, stopping().into()).unwrap())),
        ("BiCGStab", Box::new(BiCgStab::new(context, n, stopping().into()).unwrap())),
        ("IDR", Box::new(Idr::new(context, n, IdrParams::from(stopping())).unwrap())),
        ("GMRES", Box::new(Gmres::new(context, n, restarted(20, stopping())).unwrap())),
    ]
}

/// The solver's x has no larger residual than the initial guess, and the report is that of x.
fn no_worse<T: Real>(context: &Context, name: &str, host: &CsrParts<f64>, b: &[f64], start: &[f64], most: usize) {
    let (a, right) = (upload::<T>(context, host), vector::<T>(context, b));
    let first = residual(host, b, start).0;
    for (solver, mut solve) in solvers::<T>(context, host.rows, most) {
        let mut x = vector::<T>(context, start);
        let report = solve.solve(&a, None, &right, &mut x).unwrap();
        if report.stop.is_success() {
            continue;
        }
        let (left, scale) = residual(host, b, &download(&x));
        let rounding = 4.0 * eps::<T>() * scale;
        let message = format!("{name}, {solver}: {left:e} from {first:e}, {report}");
        assert!(left <= first + rounding + 4.0 * eps::<T>() * residual(host, b, start).1, "{message}");
        assert!((left - report.relative_residual * norm(b)).abs() <= rounding, "{message}");
        assert_eq!(report.history.last(), Some(&report.relative_residual), "{message}");
        if report.iterate == 0 && report.iterations > 0 {
            assert_eq!(download(&x), download(&vector::<T>(context, start)), "{message}");
        }
    }
}

fn x_is_no_worse_than_the_initial_guess<T: Real>(context: &Context) {
    // Two equal rows with different right-hand sides: BiCGStab's recurrence claims residuals that x does not have.
    let n = 30;
    let doubled: Triplets =
        stencil(n, 0.0).triplets().filter(|e| e.0 != 5 && e.0 != 6).chain([(5, 7, 1.0), (6, 7, 1.0)]).collect();
    let doubled = parts(n * n, &doubled);
    let b: Vec<f64> = random(n * n, 90).iter().map(|v| v.abs()).collect();
    let start = random(n * n, 91);
    for most in [40, 150, 1000, 3000] {
        no_worse::<T>(context, "two equal rows", &doubled, &b, &vec![0.0; n * n], most);
        no_worse::<T>(context, "two equal rows from a guess", &doubled, &b, &start, most);
    }
    // Rows of sizes from 1e-6 to 1e6.
    for seed in 0..4 {
        let size: Vec<f64> = random(n * n, 92 + seed).iter().map(|v| 10.0_f64.powf(6.0 * v)).collect();
        let scaled: Triplets = stencil(n, 0.3).triplets().map(|(i, j, v)| (i, j, v * size[i])).collect();
        no_worse::<T>(context, "scaled rows", &parts(n * n, &scaled), &b, &vec![0.0; n * n], 500);
        no_worse::<T>(context, "scaled rows from a guess", &parts(n * n, &scaled), &b, &start, 500);
    }
}

fn stationary_methods_and_least_squares_are_no_worse<T: Real>(context: &Context) {
    // D^-1 A has an eigenvalue above 2.
    let n = 10;
    let entries: Triplets = (0..n * n).map(|k| (k / n, k % n, if k / n == k % n { 1.0 } else { 0.9 })).collect();
    let host = parts(n, &entries);
    let a = upload::<T>(context, &host);
    let b = vector::<T>(context, &vec![1.0; n]);
    for start in [vec![0.0; n], vec![0.5; n]] {
        let mut x = vector::<T>(context, &start);
        let params = JacobiParams::from(stopping::<T>()).omega(1.0);
        let report = JacobiIteration::new(&a.diagonal().unwrap(), params).unwrap().solve(&a, None, &b, &mut x).unwrap();
        assert_eq!((report.stop, report.iterate, download(&x)), (Stop::Diverged, 0, start), "{report}");
        assert_eq!(report.history[0], report.relative_residual);
    }
    let mut solver =
        LeastSquares::new(context, n, n, LeastSquaresParams::from(stopping::<T>().max_iterations(2))).unwrap();
    let mut x = vector::<T>(context, &random(n, 95));
    let found = solver.solve(&a, None, &b, &mut x).unwrap().report;
    assert!(found.relative_residual <= found.history[0], "{found}");
}

fn columns_are_no_worse_than_their_initial_guesses<T: Real>(context: &Context) {
    let n = 25;
    let wind: Triplets =
        stencil(n, 0.0).triplets().map(|(i, j, v)| (i, j, v * if j == i + 1 { 0.5 } else { 1.0 })).collect();
    let scale: Vec<f64> = random(n * n, 100).iter().map(|v| 10.0_f64.powf(4.0 * v)).collect();
    let scaled: Triplets = stencil(n, 0.0).triplets().map(|(i, j, v)| (i, j, v * scale[i])).collect();
    for (name, entries) in [("wind", wind), ("scaled", scaled)] {
        let host = parts(n * n, &entries);
        let a = upload::<T>(context, &host);
        let columns: Vec<Vec<f64>> = (0..3).map(|k| random(n * n, 101 + k)).collect();
        let all: Vec<T> = columns.iter().flatten().map(|&v| T::from_f64(v)).collect();
        let b = Dense::from_column_major(context, n * n, 3, &all).unwrap();
        for (k, most) in [(0.0, 30), (0.0, 300), (1.0, 300), (0.0, 2000)] {
            let start: Vec<T> = random(3 * n * n, 110).iter().map(|&v| T::from_f64(k * v)).collect();
            let mut x = Dense::from_column_major(context, n * n, 3, &start).unwrap();
            let mut solver = BlockCg::<T>::new(context, n * n, 3, stopping::<T>().max_iterations(most).into()).unwrap();
            let report = solver.solve(&a, None, &b, &mut x).unwrap();
            if report.stop.is_success() {
                continue;
            }
            let found: Vec<f64> = x.to_column_major().unwrap().into_iter().map(T::into_f64).collect();
            for (k, b) in columns.iter().enumerate() {
                let own = k * n * n..(k + 1) * n * n;
                let guess: Vec<f64> = start[own.clone()].iter().map(|&v| v.into_f64()).collect();
                let ((left, scale), (first, of_first)) = (residual(&host, b, &found[own]), residual(&host, b, &guess));
                let message = format!("{name}, column {k}: {left:e} from {first:e}, {report}, {:?}", report.iterates);
                assert!(left <= first + 4.0 * eps::<T>() * (scale + of_first), "{message}");
                assert!((left - report.relative_residuals[k] * norm(b)).abs() <= 4.0 * eps::<T>() * scale, "{message}");
            }
            let worst = report.worst();
            assert_eq!(Some(&worst.relative_residual), report.history.last(), "{worst}");
        }
    }
}

/// A path of `n` nodes without conditions at its ends, scaled on both sides: its null vector is 1 / `scale`.
fn free_path(n: usize, scale: impl Fn(usize) -> f64) -> CsrParts<f64> {
    let mut entries = Triplets::new();
    for i in 0..n - 1 {
        let (p, q) = (scale(i), scale(i + 1));
        entries.extend([(i, i, p * p), (i + 1, i + 1, q * q), (i, i + 1, -p * q), (i + 1, i, -p * q)]);
    }
    parts(n, &entries)
}

fn minres_finds_least_squares_solutions<T: Real>(context: &Context) {
    let n = 80;
    let scale = |i: usize| 1.0 + (i % 5) as f64;
    let host = free_path(n, scale);
    let a = upload::<T>(context, &host);
    let null: Vec<f64> = (0..n).map(|i| 1.0 / scale(i)).collect();
    let mut m = Jacobi::new(&a.diagonal().unwrap()).unwrap();
    for seed in 0..4 {
        let b: Vec<f64> = random(n, 120 + seed).iter().map(|v| v + 0.3).collect();
        let part = b.iter().zip(&null).map(|(b, w)| b * w).sum::<f64>() / norm(&null);
        let least = part.abs() / norm(&b);
        for with in [false, true] {
            let mut x = Vector::zeros(context, n).unwrap();
            let mut solver = Minres::new(context, n, stopping::<T>().max_iterations(4000).into()).unwrap();
            let m = with.then_some(&mut m as &mut dyn Preconditioner<T>);
            let report = solver.solve(&a, m, &vector::<T>(context, &b), &mut x).unwrap();
            let message = format!("seed {seed}, preconditioner {with}: {report}, least {least:e}");
            // In single precision, and where x has grown along null vectors with the preconditioner, |A r| of x may be too inaccurate to tell.
            let is_inaccurate = with || eps::<T>() > 1e-10;
            let is_told = report.stop == Stop::LeastSquares || is_inaccurate && report.stop == Stop::Breakdown;
            assert!(is_told, "{message}");
            let x = download(&x);
            let (left, scale) = residual(&host, &b, &x);
            let rounding = 4.0 * eps::<T>() * scale / norm(&b);
            // |r|^2 exceeds the least value by the square of |A r| over the smallest nonzero eigenvalue, above 1e-3.
            let gradient = 40.0 * 8.0 * eps::<T>().sqrt() / 1e-3;
            let above = if is_inaccurate { 0.02 } else { gradient * gradient };
            assert!((left / norm(&b) - least).abs() <= least * above + rounding, "{message}");
            assert!((left / norm(&b) - report.relative_residual).abs() <= rounding, "{message}");
            let smallest = report.history.iter().copied().fold(f64::INFINITY, f64::min);
            // The residual of the recurrence differs from that of x by rounding.
            assert!(with || smallest >= least - rounding, "{message}: {smallest:e}");
        }
    }
    // Consistent systems of the same matrix are solved.
    let mut b = vec![0.0; n];
    oracle(&host).mv(1.0, &random(n, 130), 0.0, &mut b);
    let mut x = Vector::zeros(context, n).unwrap();
    let tolerance = if eps::<T>() > 1e-10 { 1e-4 } else { 1e-10 };
    let params = Stopping::default().tolerance(tolerance);
    let report =
        Minres::new(context, n, params.into()).unwrap().solve(&a, None, &vector::<T>(context, &b), &mut x).unwrap();
    assert_eq!(report.stop, Stop::Converged, "{report}");
    // All sizes of A: the entries of the tridiagonal matrix are not compared with the residual.
    for size in if eps::<T>() > 1e-10 { [1e-10, 1e10] } else { [1e-25, 1e25] } {
        let scaled: Triplets = stencil(8, 0.0).triplets().map(|(i, j, v)| (i, j, v * size)).collect();
        let (a, b) = (upload::<T>(context, &parts(64, &scaled)), vector::<T>(context, &random(64, 131)));
        let mut x = Vector::zeros(context, 64).unwrap();
        let report = Minres::new(context, 64, stopping::<T>().into()).unwrap().solve(&a, None, &b, &mut x).unwrap();
        assert_eq!(report.stop, Stop::Converged, "{size:e}: {report}");
    }
}

/// The Hermitian path whose null vector has the entries i^k.
#[test]
fn minres_finds_hermitian_least_squares_solutions() {
    type C = Complex<f64>;
    let n = 60_usize;
    let turn = |k: usize| C::new(0.0, 1.0).powu(k as u32 % 4);
    let path = free_path(n, |_| 1.0);
    let entries: Vec<_> = path.triplets().map(|(i, j, v)| (i, j, turn(i) * turn(j).conj() * v)).collect();
    let host = CsrParts::from_triplets(n, n, &entries).unwrap();
    let (re, im) = (random(n, 140), random(n, 141));
    let b: Vec<C> = re.into_iter().zip(im).map(|(re, im)| C::new(re + 0.5, im)).collect();
    let size = |v: &[C]| v.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
    let part: C = b.iter().enumerate().map(|(k, b)| turn(k).conj() * b).sum();
    let least = part.norm() / (n as f64).sqrt() / size(&b);
    for context in capable::<f64>() {
        let a = Csr::from_parts(context, &host).unwrap();
        let mut x = Vector::zeros(context, n).unwrap();
        let right = Vector::from_slice(context, &b).unwrap();
        let report =
            Minres::new(context, n, Stopping::default().into()).unwrap().solve(&a, None, &right, &mut x).unwrap();
        assert_eq!(report.stop, Stop::LeastSquares, "{report}");
        let x = x.to_vec().unwrap();
        let r: Vec<C> = (0..n).map(|i| b[i] - host.row(i).map(|(j, v)| v * x[j]).sum::<C>()).collect();
        let left = size(&r) / size(&b);
        assert!((left - least).abs() < 1e-9 && (left - report.relative_residual).abs() < 1e-12, "{report}, {least:e}");
        assert!(report.history.iter().all(|&h| h >= least * (1.0 - 1e-10)), "{least:e}, {:?}", report.history);
    }
}

/// A residual of several per cent is not said to be rounding, however large x is.
fn growth_is_not_reported_as_rounding<T: Real>(context: &Context) {
    let n = 200;
    let host = free_path(n, |i| 1.0 + (i % 5) as f64);
    let a = upload::<T>(context, &host);
    for seed in 0..3 {
        let mut b = vec![0.0; n];
        oracle(&host).mv(1.0, &random(n, 150 + seed), 0.0, &mut b);
        b.iter_mut().for_each(|b| *b += 0.2);
        let right = vector::<T>(context, &b);
        for (name, mut solver) in solvers::<T>(context, n, 5000) {
            let mut x = Vector::zeros(context, n).unwrap();
            let report = solver.solve(&a, None, &right, &mut x).unwrap();
            assert!(!report.stop.is_success() && report.stop != Stop::RoundingFloor, "{name}: {report}");
        }
    }
}

#[test]
fn failed_solves_are_no_worse() {
    crate::on_every_device!(x_is_no_worse_than_the_initial_guess);
}

#[test]
fn failed_stationary_methods_are_no_worse() {
    crate::on_every_device!(stationary_methods_and_least_squares_are_no_worse);
}

#[test]
fn failed_columns_are_no_worse() {
    crate::on_every_device!(columns_are_no_worse_than_their_initial_guesses);
}

#[test]
fn minres_ends_at_least_squares_solutions() {
    crate::on_every_device!(minres_finds_least_squares_solutions);
}

#[test]
fn growth_of_x_is_reported() {
    crate::on_every_device!(growth_is_not_reported_as_rounding);
}

/// A smooth residual of an ill-conditioned system is nearly orthogonal to the range of A, yet the system has a solution.
fn smooth_residuals<T: Real>(context: &Context) {
    for n in [400_usize, 1500] {
        let entries: Vec<_> = (0..n)
            .flat_map(|i| [(i, i, 2.0), (i, i.wrapping_sub(1), -1.0), (i, i + 1, -1.0)])
            .filter(|&(_, j, _)| j < n)
            .collect();
        let host = CsrParts::from_triplets(n, n, &entries).unwrap();
        let b = vec![1.0; n];
        let mut x = Vector::zeros(context, n).unwrap();
        let mut solver = Minres::new(context, n, stopping::<T>().into()).unwrap();
        let report = solver.solve(&upload::<T>(context, &host), None, &vector::<T>(context, &b), &mut x).unwrap();
        assert!(!matches!(report.stop, Stop::LeastSquares | Stop::Unbounded), "{n}: {report}");
    }
}

#[test]
fn minres_does_not_deny_solutions() {
    crate::on_every_device!(smooth_residuals);
}
