//! Solves by GMRES that are ended and go on.

use super::*;
use std::cell::Cell;

use clinalg::Scalar;
use clinalg::solve::{KrylovMemory, Operator, Resumable};

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

/// A matrix that counts its products.
struct Counted<'a, T: Scalar> {
    a: &'a Csr<T>,
    products: Cell<usize>,
}

impl<T: Scalar> Operator<T> for Counted<'_, T> {
    fn rows(&self) -> usize {
        self.a.rows()
    }

    fn cols(&self) -> usize {
        self.a.cols()
    }

    fn context(&self) -> &Context {
        self.a.context()
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.products.set(self.products.get() + 1);
        self.a.apply(alpha, x, beta, y)
    }
}

/// Iterations whose numbers are read together are shown to the callback after the same number of products. With restart 12, the first cycle
/// takes a few batches, because nothing is known about the convergence; later cycles take one. Few products are wasted, wherever the solve ends.
#[test]
fn gmres_reads_many_iterations_at_once() {
    for context in capable::<f64>() {
        let n = 20;
        let a = upload::<f64>(context, &stencil(n, 0.3));
        let b = Vector::filled(context, n * n, 1.0).unwrap();
        let solve = |restart: usize, limit: usize, last: usize| {
            let stopping = Stopping::default().tolerance(1e-13).max_iterations(limit);
            let mut solver = Gmres::new(context, n * n, GmresParams::from(stopping).restart(restart)).unwrap();
            let counted = Counted { a: &a, products: Cell::new(0) };
            let mut groups: Vec<(usize, usize)> = Vec::new();
            let mut x = Vector::zeros(context, n * n).unwrap();
            let mut progress = |k: usize, _| {
                let products = counted.products.get();
                match groups.last_mut() {
                    Some((before, count)) if *before == products => *count += 1,
                    _ => groups.push((products, 1)),
                }
                if k < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let report = solver.solve_with(&counted, None, &b, &mut x, &mut progress).unwrap();
            (report, x.to_vec().unwrap(), groups, counted.products.get())
        };
        let (whole, _, groups, products) = solve(12, 1000, usize::MAX);
        assert!(whole.stop == Stop::Converged && whole.iterations > 60, "{whole}");
        // The start is shown first; a product for the residual at the beginning of each cycle, and for the last one.
        let cycles = whole.iterations.div_ceil(12);
        assert!(groups.len() <= cycles + 10, "{groups:?}");
        assert!(groups.iter().any(|&(_, count)| count == 12), "{groups:?}");
        assert!(products <= whole.iterations + cycles + 1 + 6, "{products} for {whole}");
        // The callback and the limit end it in the middle of a group, at the same iterate, with the history of the whole solve.
        for last in [1, 2, 5, 17, 31, whole.iterations - 1] {
            let (by_callback, x, _, _) = solve(12, 1000, last);
            let (by_limit, y, _, products) = solve(12, last, usize::MAX);
            assert_eq!((by_callback.stop, by_callback.iterations), (Stop::Cancelled, last));
            assert_eq!((by_limit.stop, by_limit.iterations), (Stop::IterationLimit, last));
            assert!(x == y && by_callback.history == by_limit.history, "{last}");
            assert_eq!(by_limit.history[..last], whole.history[..last]);
            assert!(products <= last + last.div_ceil(12) + 3, "{products} for {last}");
        }
    }
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
