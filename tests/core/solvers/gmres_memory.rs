//! Solves by GMRES that are ended and go on.

use super::*;
use clinalg::solve::{KrylovMemory, Resumable};

/// Convection and diffusion on a line.
fn line<T: Real>(context: &Context, n: usize) -> Csr<T> {
    let mut entries = Vec::new();
    for i in 0..n {
        for (j, value) in [(i.wrapping_sub(1), -1.6), (i, 2.0 + (i % 5) as f64 * 0.1), (i + 1, -0.4)] {
            if j < n {
                entries.push((i, j, T::from_f64(value)));
            }
        }
    }
    Csr::from_triplets(context, n, n, &entries).unwrap()
}

/// Ended after every iteration, by the callback and by the limit in turn, and continued by another solver each time.
#[test]
fn gmres_goes_on_to_the_same_bits() {
    check::<f32>(1e-4, None);
    check::<f64>(1e-9, None);
    check::<f64>(1e-9, Some(()));
}

fn check<T: Real + PartialEq>(tolerance: f64, jacobi: Option<()>) {
    let Some(context) = capable::<T>().next() else { return };
    let n = 60;
    let a = line::<T>(context, n);
    let b: Vec<T> = (0..n).map(|k| T::from_f64((k as f64).cos())).collect();
    let b = Vector::from_slice(context, &b).unwrap();
    let run = |memory: &mut KrylovMemory<T>, last: usize, limit: usize| {
        let stopping = Stopping::default().tolerance(tolerance).max_iterations(limit);
        let mut solver = Gmres::new(context, n, GmresParams::from(stopping).restart(7)).unwrap();
        let mut x = Vector::zeros(context, n).unwrap();
        let mut progress = |k: usize, _| if k < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let mut m = jacobi.map(|()| Jacobi::new(&a.diagonal().unwrap()).unwrap());
        let m = m.as_mut().map(|m| m as &mut dyn Preconditioner<T>);
        let report = solver.solve_from(memory, &a, m, &b, &mut x, &mut progress).unwrap();
        (x.to_vec().unwrap(), report)
    };
    let mut memory = KrylovMemory::default();
    let (whole, expected) = run(&mut memory, usize::MAX, 1000);
    assert!(expected.stop == Stop::Converged && memory.is_empty(), "{expected:?}");
    let count = expected.iterations;
    assert!(count > 15, "{count}: more than two cycles");
    for last in 1..count {
        let by_limit = last % 2 == 0;
        let (_, report) =
            run(&mut memory, if by_limit { usize::MAX } else { last }, if by_limit { last } else { 1000 });
        let stop = if by_limit { Stop::IterationLimit } else { Stop::Cancelled };
        assert_eq!((report.stop, report.iterations, memory.is_empty()), (stop, last, false));
        assert_eq!(memory.vectors.len(), n * ((last - 1) % 7 + 3));
    }
    let before = memory.clone();
    let (x, report) = run(&mut memory, usize::MAX, 1000);
    assert!(x == whole && report == expected && memory.is_empty());
    // From the beginning, and a memory of another solver.
    let (_, report) = run(&mut memory, 0, 1000);
    assert!(report.stop == Stop::Cancelled && memory.is_empty());
    memory = KrylovMemory { vectors: Vec::new(), ..before };
    let mut solver = Gmres::new(context, n, GmresParams::default()).unwrap();
    let mut x = Vector::zeros(context, n).unwrap();
    let error = solver.solve_from(&mut memory, &a, None, &b, &mut x, &mut |_, _| ControlFlow::Continue(()));
    assert!(error.unwrap_err().to_string().contains("memory"));
}
