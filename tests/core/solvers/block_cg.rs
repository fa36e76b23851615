//! Block conjugate gradients.

use super::*;
use clinalg::Complex;
use clinalg::amg::{Amg, AmgParams};
use clinalg::ops::mm;
use clinalg::precond::{CholeskyParams, IncompleteCholesky};
use clinalg::solve::{BlockCg, BlockReport};

/// Columns one after the other.
fn block<T: Real>(context: &Context, n: usize, columns: &[Vec<f64>]) -> Dense<T> {
    let values: Vec<T> = columns.iter().flatten().map(|&v| T::from_f64(v)).collect();
    Dense::from_column_major(context, n, columns.len(), &values).unwrap()
}

/// The largest relative residual, computed on the host.
fn worst(a: &CsrParts<f64>, b: &[Vec<f64>], x: &[f64]) -> f64 {
    let n = a.rows;
    let of = |(k, b): (usize, &Vec<f64>)| {
        let x = &x[k * n..(k + 1) * n];
        let r: Vec<f64> = (0..n).map(|i| b[i] - a.row(i).map(|(j, v)| v * x[j]).sum::<f64>()).collect();
        if norm(&r) == 0.0 { 0.0 } else { norm(&r) / norm(b) }
    };
    b.iter().enumerate().map(of).fold(0.0, f64::max)
}

fn solved<T: Real>(
    context: &Context,
    a: &CsrParts<f64>,
    b: &[Vec<f64>],
    m: Option<&mut dyn Preconditioner<T>>,
) -> (Vec<f64>, BlockReport) {
    let (n, device) = (a.rows, upload::<T>(context, a));
    let mut x = Dense::zeros(context, n, b.len()).unwrap();
    let mut solver = BlockCg::<T>::new(context, n, b.len(), stopping::<T>().into()).unwrap();
    let report = solver.solve(&device, m, &block(context, n, b), &mut x).unwrap();
    let again = {
        let mut x = Dense::zeros(context, n, b.len()).unwrap();
        solver.solve(&device, None, &block(context, n, b), &mut x).unwrap();
        solver.solve(&device, None, &block(context, n, b), &mut x).unwrap()
    };
    // From the solution there is nothing to do.
    assert_eq!((again.stop, again.iterations), (Stop::Converged, 0), "{again}");
    (x.to_column_major().unwrap().into_iter().map(T::into_f64).collect(), report)
}

fn columns_share_their_directions<T: Real>(context: &Context) {
    let n = 24;
    let a = stencil(n, 0.0);
    let b: Vec<Vec<f64>> = (0..6).map(|k| random(n * n, 40 + k)).collect();
    let (x, report) = solved::<T>(context, &a, &b, None);
    assert_eq!((report.stop, report.least_directions), (Stop::Converged, 6), "{report}");
    let found = worst(&a, &b, &x);
    assert!(found <= tolerance::<T>() + 200.0 * eps::<T>(), "{found:e}");
    assert_eq!(report.history.len(), report.iterations + 1);
    let told = report.relative_residuals.iter().copied().fold(0.0, f64::max);
    assert!((told - report.history[report.iterations]).abs() == 0.0 && told <= tolerance::<T>(), "{report:?}");
    // O'Leary 1980: as the method with the largest eigenvalues left out; each column alone takes more.
    let device = upload::<T>(context, &a);
    let alone = b.iter().map(|b| {
        let mut x = Vector::zeros(context, n * n).unwrap();
        let mut cg = Cg::new(context, n * n, stopping::<T>().into()).unwrap();
        cg.solve(&device, None, &vector::<T>(context, b), &mut x).unwrap().iterations
    });
    let fewest = alone.min().unwrap();
    assert!(4 * report.iterations <= 3 * fewest, "{} iterations, alone {fewest}", report.iterations);
    // One column is conjugate gradients.
    let (x, one) = solved::<T>(context, &a, &b[..1], None);
    assert!(worst(&a, &b[..1], &x) <= tolerance::<T>() + 200.0 * eps::<T>());
    assert!(one.iterations.abs_diff(fewest) <= fewest / 10 + 2, "{one}, alone {fewest}");

    let mut m = Amg::new(&device, &AmgParams::default().coarse_size(60)).unwrap();
    let (x, with) = solved::<T>(context, &a, &b, Some(&mut m));
    assert!(with.stop.is_success() && with.iterations < report.iterations / 2, "{with}");
    assert!(worst(&a, &b, &x) <= tolerance::<T>() + 200.0 * eps::<T>());
    let mut m = IncompleteCholesky::new(&device, &CholeskyParams::default()).unwrap();
    let (x, with) = solved::<T>(context, &a, &b, Some(&mut m));
    assert!(with.stop.is_success() && with.iterations < report.iterations, "{with}");
    assert!(worst(&a, &b, &x) <= tolerance::<T>() + 200.0 * eps::<T>());
}

fn dependent_columns_leave_the_block<T: Real>(context: &Context) {
    let n = 20;
    let a = stencil(n, 0.0);
    let [u, v] = [50, 51].map(|seed| random(n * n, seed));
    let sum = |p: f64, q: f64| -> Vec<f64> { u.iter().zip(&v).map(|(u, v)| p * u + q * v).collect() };
    // The third is dependent, the fourth nearly, the fifth is zero, and columns differ in size.
    let small = 30.0 * eps::<T>();
    let w = random(n * n, 52);
    let near: Vec<f64> = sum(2.0, -1.0).iter().zip(&w).map(|(s, w)| s + small * w).collect();
    let b = [u.clone(), v.iter().map(|v| 1e6 * v).collect(), sum(1.0, 1.0), near, vec![0.0; n * n]];
    let (x, report) = solved::<T>(context, &a, &b, None);
    assert_eq!(report.stop, Stop::Converged, "{report}");
    assert_eq!(report.least_directions, 2, "{report}");
    assert!(worst(&a, &b, &x) <= tolerance::<T>() + 200.0 * eps::<T>());
    assert!(x[4 * n * n..].iter().all(|&x| x == 0.0));
    // An eigenvector is solved in a step, and its direction ends.
    let (_, exact) = waves(n);
    let (x, report) = solved::<T>(context, &a, &[exact.clone(), u.clone()], None);
    assert_eq!(report.stop, Stop::Converged, "{report}");
    assert!(worst(&a, &[exact, u.clone()], &x) <= tolerance::<T>() + 200.0 * eps::<T>());
    // As many columns as equations: one step.
    let small = stencil(3, 0.0);
    let all: Vec<Vec<f64>> = (0..9).map(|k| (0..9).map(|i| f64::from(i == k)).collect()).collect();
    let (x, report) = solved::<T>(context, &small, &all, None);
    assert!(report.stop.is_success() && report.iterations <= 2, "{report}");
    assert!(worst(&small, &all, &x) <= tolerance::<T>() + 200.0 * eps::<T>());
}

fn ends_are_reported<T: Real>(context: &Context) {
    let n = 12;
    let a = stencil(n, 0.0);
    let device = upload::<T>(context, &a);
    let b: Vec<Vec<f64>> = (0..3).map(|k| random(n * n, 60 + k)).collect();
    let right = block::<T>(context, n * n, &b);
    let solve = |a: &Csr<T>, b: &Dense<T>, stopping: Stopping, last: usize| {
        let mut x = Dense::zeros(context, n * n, 3).unwrap();
        let mut progress = |k: usize, _| if k < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let mut solver = BlockCg::new(context, n * n, 3, stopping.into()).unwrap();
        (solver.solve_with(a, None, b, &mut x, &mut progress).unwrap(), x)
    };
    let (report, x) = solve(&device, &right, stopping::<T>().max_iterations(5), usize::MAX);
    assert_eq!((report.stop, report.iterations), (Stop::IterationLimit, 5));
    let values: Vec<f64> = x.to_column_major().unwrap().into_iter().map(T::into_f64).collect();
    let told = report.history[5];
    assert!((worst(&a, &b, &values) - told).abs() <= 1e3 * eps::<T>() * told, "{report}");
    let (report, _) = solve(&device, &right, stopping::<T>(), 4);
    assert_eq!((report.stop, report.iterations), (Stop::Cancelled, 4));
    let (report, _) = solve(&device, &right, stopping::<T>().max_iterations(0), usize::MAX);
    assert_eq!((report.stop, report.iterations), (Stop::IterationLimit, 0));
    let mut negative = a.clone();
    negative.values.iter_mut().for_each(|v| *v = -*v);
    let (report, _) = solve(&upload(context, &negative), &right, stopping::<T>(), usize::MAX);
    assert_eq!(report.stop, Stop::Indefinite, "{report}");
    let mut wrong = b.clone();
    wrong[1][7] = f64::NAN;
    let (report, _) = solve(&device, &block(context, n * n, &wrong), stopping::<T>(), usize::MAX);
    assert_eq!(report.stop, Stop::NotFinite, "{report}");
    // A tolerance below rounding.
    let (report, _) = solve(&device, &right, Stopping::default().tolerance(1e-3 * eps::<T>()), usize::MAX);
    assert_eq!(report.stop, Stop::RoundingFloor, "{report}");
    // Numbers whose squares are out of range.
    for size in if eps::<T>() > 1e-10 { [1e-30, 1e30] } else { [1e-250, 1e250] } {
        let scaled: Vec<Vec<f64>> = b.iter().map(|b| b.iter().map(|v| v * size).collect()).collect();
        let (report, _) = solve(&device, &block(context, n * n, &scaled), stopping::<T>(), usize::MAX);
        assert_eq!(report.stop, Stop::Converged, "{size:e}: {report}");
    }

    let mut solver = BlockCg::<T>::new(context, n * n, 3, stopping::<T>().into()).unwrap();
    let shape = |error: Error, name: &str| {
        assert_eq!(error.id(), "clinalg:argument:shape", "{error}");
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
    };
    let mut x = Dense::zeros(context, n * n, 3).unwrap();
    let narrow = Dense::zeros(context, n * n, 2).unwrap();
    shape(solver.solve(&device, None, &narrow, &mut x).unwrap_err(), "b");
    shape(solver.solve(&upload(context, &stencil(11, 0.0)), None, &right, &mut x).unwrap_err(), "a");
    let mut other = Dense::zeros(context, n, 3).unwrap();
    shape(solver.solve(&device, None, &right, &mut other).unwrap_err(), "x");
    assert_eq!(BlockCg::<T>::new(context, 4, 0, CgParams::default()).unwrap_err().id(), "clinalg:argument:value");
}

#[test]
fn several_right_hand_sides() {
    crate::on_every_device!(columns_share_their_directions);
    crate::on_every_device!(dependent_columns_leave_the_block);
    crate::on_every_device!(ends_are_reported);
}

/// A Hermitian matrix, and an operator that is not a matrix in compressed rows.
#[test]
fn hermitian_systems_and_operators() {
    type C = Complex<f64>;
    let n = 200;
    for context in capable::<f64>() {
        let mut entries = Vec::new();
        for i in 0..n {
            entries.push((i, i, C::new(2.2 + (i % 3) as f64, 0.0)));
            if i + 1 < n {
                entries.push((i, i + 1, C::new(-0.6, 0.8)));
                entries.push((i + 1, i, C::new(-0.6, -0.8)));
            }
        }
        let parts = CsrParts::from_triplets(n, n, &entries).unwrap();
        let a = Csr::from_parts(context, &parts).unwrap();
        let (re, im) = (random(4 * n, 70), random(4 * n, 71));
        let wanted: Vec<C> = re.into_iter().zip(im).map(|(re, im)| C::new(re, im)).collect();
        let wanted = Dense::from_column_major(context, n, 4, &wanted).unwrap();
        let mut b = Dense::zeros(context, n, 4).unwrap();
        mm(C::new(1.0, 0.0), &a, &wanted, C::new(0.0, 0.0), &mut b).unwrap();
        let mut x = Dense::zeros(context, n, 4).unwrap();
        let mut solver = BlockCg::new(context, n, 4, CgParams::default().tolerance(1e-12)).unwrap();
        let report = solver.solve(&a, None, &b, &mut x).unwrap();
        assert!(report.stop.is_success(), "{report}");
        let pairs = x.to_column_major().unwrap().into_iter().zip(wanted.to_column_major().unwrap());
        assert!(pairs.map(|(x, y)| (x - y).norm()).fold(0.0, f64::max) < 1e-9);
        let dense = Dense::from_column_major(context, n, n, &parts.to_dense().unwrap()).unwrap();
        let mut other = Dense::zeros(context, n, 4).unwrap();
        let second = solver.solve(&dense, None, &b, &mut other).unwrap();
        assert!(second.stop.is_success() && second.iterations.abs_diff(report.iterations) <= 2, "{second}");
    }
}

/// What the documents show: seconds of columns together and one after the other.
#[test]
fn columns_together_against_one_after_the_other() {
    if !clinalg_testing::long() {
        return;
    }
    let n = 300;
    let host = stencil(n, 0.0);
    for context in capable::<f64>().take(1) {
        let a = upload::<f64>(context, &host);
        for columns in [1, 2, 4, 8, 16] {
            let b: Vec<Vec<f64>> = (0..columns).map(|k| random(n * n, 80 + k)).collect();
            let stopping = Stopping::default().tolerance(1e-8);
            let mut cg = Cg::new(context, n * n, stopping.clone().into()).unwrap();
            let mut together = BlockCg::<f64>::new(context, n * n, b.len(), stopping.into()).unwrap();
            let right = block::<f64>(context, n * n, &b);
            // The first round builds kernels.
            for round in 0..3 {
                let started = std::time::Instant::now();
                let mut x = Dense::zeros(context, n * n, b.len()).unwrap();
                let report = together.solve(&a, None, &right, &mut x).unwrap();
                let seconds = started.elapsed().as_secs_f64();
                let started = std::time::Instant::now();
                let mut most = 0;
                for b in &b {
                    let mut x = Vector::zeros(context, n * n).unwrap();
                    let report = cg.solve(&a, None, &vector::<f64>(context, b), &mut x).unwrap();
                    most = most.max(report.iterations);
                }
                let alone = started.elapsed().as_secs_f64();
                assert!(report.stop.is_success() && report.iterations <= most + 2, "{report}, alone {most}");
                if round > 0 {
                    println!(
                        "{columns} columns: {} iterations, {seconds:.3} s; alone {most}, {alone:.3} s",
                        report.iterations
                    );
                }
            }
        }
    }
}
