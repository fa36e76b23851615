//! Solves that are ended and go on.

use super::*;
use clinalg::precond::Jacobi;
use clinalg::solve::{
    FlexibleCg, Idr, IdrParams, KrylovMemory, LeastSquares, LeastSquaresMethod, LeastSquaresParams, Minres, Resumable,
};
use clinalg::{Complex, Scalar};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Cg,
    FlexibleCg,
    Minres,
    BiCgStab,
    Idr,
}

use Method::{BiCgStab as Bi, Cg as C, FlexibleCg as F, Idr as I, Minres as M};

fn solver<T: Scalar>(context: &Context, method: Method, n: usize, stopping: Stopping) -> Box<dyn Resumable<T>> {
    match method {
        C => Box::new(Cg::new(context, n, stopping.into()).unwrap()),
        F => Box::new(FlexibleCg::new(context, n, stopping.into()).unwrap()),
        M => Box::new(Minres::new(context, n, stopping.into()).unwrap()),
        Bi => Box::new(BiCgStab::new(context, n, stopping.into()).unwrap()),
        I => Box::new(Idr::new(context, n, IdrParams::from(stopping)).unwrap()),
    }
}

/// A line with a slowly varying diagonal: Hermitian, or with convection. `shift` makes it indefinite.
fn line<T: Scalar>(context: &Context, n: usize, hermitian: bool, shift: f64) -> Csr<T> {
    let (lower, upper) = if hermitian { (-1.0, -1.0) } else { (-1.6, -0.4) };
    let turned = |re: f64, im: f64| T::from_parts(<T::Real as Scalar>::from_f64(re), <T::Real as Scalar>::from_f64(im));
    let mut entries = Vec::new();
    for i in 0..n {
        let diagonal = 2.0 + (i % 5) as f64 * 0.1 - shift;
        for (j, value) in
            [(i.wrapping_sub(1), turned(lower, -0.3)), (i, turned(diagonal, 0.0)), (i + 1, turned(upper, 0.3))]
        {
            if j < n {
                entries.push((i, j, value));
            }
        }
    }
    Csr::from_triplets(context, n, n, &entries).unwrap()
}

/// Ended by the callback and by the limit in turn and continued by another solver each time, against a solve that is not.
fn check<T: Scalar + PartialEq>(method: Method, tolerance: f64, shift: f64, jacobi: bool, most: usize) {
    let Some(context) = capable::<T::Real>().next() else { return };
    let n = 60;
    let a = line::<T>(context, n, matches!(method, C | F | M), shift);
    let b: Vec<T> = (0..n).map(|k| T::from_f64((k as f64).cos())).collect();
    let b = Vector::from_slice(context, &b).unwrap();
    let run = |memory: &mut KrylovMemory<T>, last: usize, limit: usize| {
        let stopping = Stopping::default().tolerance(tolerance).max_iterations(limit).stagnation_window(25);
        let mut solver = solver::<T>(context, method, n, stopping);
        let mut x = Vector::zeros(context, n).unwrap();
        let mut progress = |k: usize, _| if k < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let mut m = jacobi.then(|| Jacobi::new(&a.diagonal().unwrap()).unwrap());
        let m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let report = solver.solve_from(memory, &a, m, &b, &mut x, &mut progress).unwrap();
        (x.to_vec().unwrap(), report)
    };
    let message = format!("{method:?}, {:?}, {tolerance}, {shift}, {jacobi}", T::PRECISION);
    let mut memory = KrylovMemory::default();
    let (whole, expected) = run(&mut memory, usize::MAX, most);
    assert!(memory.is_empty() == (expected.stop != Stop::IterationLimit), "{message}: {expected:?}");
    let count = expected.iterations;
    assert!(count > 12, "{message}: {count}");
    memory = KrylovMemory::default();
    let (mut at, mut times) = (1, 0);
    loop {
        let by_limit = times % 2 == 0;
        let (x, report) = run(&mut memory, if by_limit { usize::MAX } else { at }, if by_limit { at } else { most });
        times += 1;
        if memory.is_empty() || report.iterations >= most {
            assert!(times > 5, "{message}: {times}");
            assert_eq!(report, expected, "{message} after {times}");
            assert!(x == whole, "{message}");
            break;
        }
        let stop = if by_limit { Stop::IterationLimit } else { Stop::Cancelled };
        assert_eq!(report.stop, stop, "{message} at {at}");
        // Those that are looked at in batches finish the batch.
        assert!(report.iterations == at || !by_limit && report.iterations > at, "{message} at {at}: {report:?}");
        at = report.iterations + 1 + times % 3;
    }
}

#[test]
fn solves_go_on_to_the_same_bits() {
    for method in [C, F, M, Bi, I] {
        check::<f64>(method, 1e-9, 0.0, false, 1000);
        check::<f64>(method, 1e-9, 0.0, true, 1000);
        check::<Complex<f64>>(method, 1e-9, 0.0, false, 1000);
        // Restarts at the rounding floor.
        for tolerance in [1e-8, 7e-9, 5e-9, 3e-9, 2e-9] {
            check::<f32>(method, tolerance, 0.0, false, 1000);
            check::<Complex<f32>>(method, tolerance, 0.0, false, 1000);
        }
    }
    // Indefinite matrices: iterates that rise and fall, restarts, changed shadows.
    check::<f64>(M, 1e-9, 1.3, false, 1000);
    for shift in [0.4, 0.8, 1.3, 1.9] {
        check::<f64>(Bi, 1e-12, shift, false, 300);
        check::<f64>(I, 1e-12, shift, false, 300);
        check::<Complex<f64>>(Bi, 1e-12, shift, false, 300);
    }
}

#[test]
fn least_squares_go_on_to_the_same_bits() {
    let Some(context) = capable::<f64>().next() else { return };
    let (rows, cols) = (70, 50);
    let entries: Vec<(usize, usize, f64)> = (0..rows)
        .flat_map(|i| [(i, i % cols, 1.0 + (i % 7) as f64), (i, (i * 3 + 1) % cols, 0.5 + (i % 3) as f64)])
        .collect();
    let a = Csr::from_triplets(context, rows, cols, &entries).unwrap();
    let b: Vec<f64> = (0..rows).map(|k| (k as f64).sin()).collect();
    let b = Vector::from_slice(context, &b).unwrap();
    let (lsqr, lsmr) = (LeastSquaresMethod::Lsqr, LeastSquaresMethod::Lsmr);
    for (method, is_scaled) in [(lsqr, false), (lsmr, false), (lsqr, true), (lsmr, true)] {
        let run = |memory: &mut KrylovMemory<f64>, last: usize, limit: usize| {
            let mut m = is_scaled.then(|| Jacobi::of_normal_equations(&a).unwrap());
            let m = m.as_mut().map(|m| m as &mut dyn Preconditioner<f64>);
            let params = LeastSquaresParams::default().method(method).max_iterations(limit);
            let mut x = Vector::zeros(context, cols).unwrap();
            let mut progress = |k: usize, _| if k < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            let mut solver = LeastSquares::new(context, rows, cols, params).unwrap();
            let report = solver.solve_from(memory, &a, m, &b, &mut x, &mut progress).unwrap();
            (x.to_vec().unwrap(), report)
        };
        let mut memory = KrylovMemory::default();
        let (whole, expected) = run(&mut memory, usize::MAX, 1000);
        assert!(expected.report.stop == Stop::Converged && expected.report.iterations > 12, "{expected:?}");
        for at in 1..expected.report.iterations {
            let by_limit = at % 2 == 0;
            let (_, report) =
                run(&mut memory, if by_limit { usize::MAX } else { at }, if by_limit { at } else { 1000 });
            assert!(report.report.iterations == at && !memory.is_empty(), "{at}: {report:?}");
        }
        let (x, report) = run(&mut memory, usize::MAX, 1000);
        assert!(x == whole && report == expected && memory.is_empty(), "{method:?}");
    }
}

#[test]
fn memories_of_other_solves_are_refused() {
    let Some(context) = capable::<f64>().next() else { return };
    let (a, b) = (line::<f64>(context, 60, true, 0.0), Vector::filled(context, 60, 1.0).unwrap());
    let stopping = || Stopping::default().max_iterations(5);
    for method in [C, F, M, Bi, I] {
        let mut memory = KrylovMemory::default();
        let mut x = Vector::zeros(context, 60).unwrap();
        let mut go_on = |_, _| ControlFlow::Continue(());
        solver(context, method, 60, stopping()).solve_from(&mut memory, &a, None, &b, &mut x, &mut go_on).unwrap();
        assert!(!memory.is_empty());
        for (other, n) in [C, F, M, Bi, I].map(|other| (other, 60)).into_iter().chain([(method, 50)]) {
            if (other, n) == (method, 60) {
                continue;
            }
            let (a, b) = (line::<f64>(context, n, true, 0.0), Vector::filled(context, n, 1.0).unwrap());
            let mut x = Vector::zeros(context, n).unwrap();
            let mut solver = solver(context, other, n, stopping());
            let error = solver.solve_from(&mut memory.clone(), &a, None, &b, &mut x, &mut go_on).unwrap_err();
            assert!(error.to_string().contains("memory"), "{method:?} to {other:?} {n}: {error}");
        }
    }
}
