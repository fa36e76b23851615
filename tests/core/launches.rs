//! How many kernels an iteration of a solver launches, for every storage and in both families of kernels.

use std::collections::BTreeSet;

use clinalg::matrix::Format;
use clinalg::precond::Jacobi;
use clinalg::runtime::{KernelFamily, devices};
use clinalg::solve::{
    BiCgStab, BiCgStabParams, Cg, CgParams, JacobiIteration, JacobiParams, Operator, Preconditioner, Report, Solver,
    Stop, Stopping,
};
use clinalg::{Band, Context, ContextOptions, Csr, Dense, Vector};

type Entries = Vec<(usize, usize, f64)>;

/// Symmetric and diagonally dominant, from the entries above the diagonal.
fn dominant(n: usize, upper: BTreeSet<(usize, usize)>, value: impl Fn(usize, usize) -> f64) -> Entries {
    let mut diagonal = vec![1.0; n];
    let mut all = Vec::new();
    for (i, j) in upper {
        let v = -value(i, j);
        diagonal[i] -= v;
        diagonal[j] -= v;
        all.extend([(i, j, v), (j, i, v)]);
    }
    all.extend(diagonal.into_iter().enumerate().map(|(i, v)| (i, i, v)));
    all
}

/// Neighbours on a grid of `side` points squared.
fn grid(side: usize) -> BTreeSet<(usize, usize)> {
    let rows = (0..side * side).flat_map(|i| {
        let right = (i % side + 1 < side).then_some((i, i + 1));
        let below = (i + side < side * side).then_some((i, i + side));
        right.into_iter().chain(below)
    });
    rows.collect()
}

/// `each` neighbours without a pattern for every row.
fn scattered(n: usize, each: usize) -> BTreeSet<(usize, usize)> {
    let step = |i: usize, k: usize| (i * (2 * k + 3) + k * k * 7919 + i * i % (k + 11)) % n;
    let pairs = (0..n).flat_map(|i| (0..each).map(move |k| (i, step(i, k))));
    pairs.filter(|(i, j)| i != j).map(|(i, j)| (i.min(j), i.max(j))).collect()
}

/// Launches for one iteration of `solve`, from solves that end at different limits, where x is the last iterate: going back to a better one
/// takes another product. Copies of the iterate, which are a `scale` by one on CPUs, do not count: CG and BiCGStab keep the best one at the
/// ends of blocks of iterations, twice in these at most. The residual of a Jacobi iteration may rise above that of the initial guess first, which is then returned.
fn launches(context: &Context, solve: &mut dyn FnMut(Stopping) -> Report) -> f64 {
    let mut count = |max_iterations: usize| {
        context.finish().unwrap();
        context.reset_timings();
        let report = solve(Stopping::default().tolerance(1e-300).max_iterations(max_iterations));
        assert_eq!((report.stop, report.iterations), (Stop::IterationLimit, max_iterations), "{report}");
        let timings = context.timings().unwrap();
        let (copies, others): (Vec<_>, Vec<_>) = timings.iter().partition(|kernel| kernel.kernel == "scale");
        let sums = [copies, others].map(|kernels| kernels.iter().map(|kernel| kernel.launches as f64).sum::<f64>());
        (report.iterate == max_iterations).then_some((max_iterations as f64, sums))
    };
    // A first product may arrange values for those that follow.
    count(1);
    let mut from = |limit: usize| (limit..).find_map(&mut count).expect("the residual falls");
    let (limit_before, [copies_before, others_before]) = from(4);
    let (limit, [copies, others]) = from(limit_before as usize + 8);
    assert!(copies - copies_before <= 2.0, "{copies} copies, {copies_before} of them in four iterations");
    (others - others_before) / (limit - limit_before)
}

/// Of CG, of it with a preconditioner, of BiCGStab, of it with a preconditioner.
fn krylov(context: &Context, a: &dyn Operator<f64>, diagonal: &Vector<f64>) -> [f64; 4] {
    let n = a.rows();
    let b: Vec<f64> = (0..n).map(|i| ((i * 37 + i * i % 101) % 64) as f64 - 31.0).collect();
    let b = Vector::from_slice(context, &b).unwrap();
    let mut jacobi = Jacobi::new(diagonal).unwrap();
    let mut cg = Cg::new(context, n, CgParams::default()).unwrap();
    let mut bicgstab = BiCgStab::new(context, n, BiCgStabParams::default()).unwrap();
    let mut count = |solver: &mut dyn Solver<f64>, preconditioned: bool| {
        launches(context, &mut |stopping| {
            *solver.stopping_mut() = stopping;
            let m = preconditioned.then_some(&mut jacobi as &mut dyn Preconditioner<f64>);
            solver.solve(a, m, &b, &mut Vector::zeros(context, n).unwrap()).unwrap()
        })
    };
    [count(&mut cg, false), count(&mut cg, true), count(&mut bicgstab, false), count(&mut bicgstab, true)]
}

/// A context for each device in this family that has double precision.
fn contexts(family: KernelFamily) -> Vec<Context> {
    let options = ContextOptions { profiling: true, family: Some(family), ..ContextOptions::default() };
    let contexts = clinalg_testing::found(devices())
        .unwrap_or_default()
        .into_iter()
        .map(|device| Context::new(&device, &options).unwrap());
    contexts.filter(|context| context.require::<f64>().is_ok()).collect()
}

const ONE_LAUNCH: [f64; 4] = [3.0, 5.0, 5.0, 7.0];
/// The product has a second launch, which joins what several work-groups have of a row.
const TWO_LAUNCHES: [f64; 4] = [4.0, 6.0, 7.0, 9.0];

fn every_storage(family: KernelFamily) {
    let gpu = family == KernelFamily::Gpu;
    for context in contexts(family) {
        let constant = dominant(90 * 90, grid(90), |_, _| 1.0);
        let varying = |i: usize, j: usize| 1.0 + ((i + j) % 7) as f64;
        let mut hubs = scattered(4000, 3);
        hubs.extend((4..4000).flat_map(|j| [(1, j), (3, j)]));
        for (n, entries, format, explained, expected) in [
            (90 * 90, constant, Format::Stencil, "", ONE_LAUNCH),
            (70 * 70, dominant(70 * 70, grid(70), varying), Format::Dia, "", ONE_LAUNCH),
            (4000, dominant(4000, scattered(4000, 8), varying), Format::Balanced, "", ONE_LAUNCH),
            (4000, dominant(4000, scattered(4000, 8), varying), Format::Csr, "", ONE_LAUNCH),
            (3000, dominant(3000, scattered(3000, 2), varying), Format::Csr, "", ONE_LAUNCH),
            (4000, dominant(4000, hubs, varying), Format::Balanced, "several blocks", TWO_LAUNCHES),
        ] {
            let mut a = Csr::from_triplets(&context, n, n, &entries).unwrap();
            a.set_format(Some(format)).unwrap();
            let words = a.explain();
            assert!(!gpu || words.contains(explained), "{words}");
            let expected = if gpu { expected } else { ONE_LAUNCH };
            assert_eq!(krylov(&context, &a, &a.diagonal().unwrap()), expected, "{words}, {family:?}");

            let b = Vector::filled(&context, n, 1.0).unwrap();
            let mut jacobi = JacobiIteration::new(&a.diagonal().unwrap(), JacobiParams::default()).unwrap();
            let mut sweep = |stopping: Stopping| {
                *jacobi.stopping_mut() = stopping;
                jacobi.solve(&a, None, &b, &mut Vector::zeros(&context, n).unwrap()).unwrap()
            };
            let product = expected[0] - 2.0;
            assert_eq!(launches(&context, &mut sweep), 2.0 + product, "Jacobi, {words}, {family:?}");
        }
        let entries = dominant(600, (0..599).map(|i| (i, i + 1)).collect(), varying);
        let a = Csr::from_triplets(&context, 600, 600, &entries).unwrap().to_parts().unwrap();
        let band = Band::from_csr(&context, &a, 1, 1).unwrap();
        assert_eq!(krylov(&context, &band, &band.diagonal().unwrap()), ONE_LAUNCH, "band, {family:?}");
        let mut values = vec![0.0; 600 * 600];
        entries.iter().for_each(|&(i, j, v)| values[j * 600 + i] = v);
        let dense = Dense::from_column_major(&context, 600, 600, &values).unwrap();
        let got = krylov(&context, &dense, &dense.diagonal().unwrap());
        // On a GPU of many units the columns of so few rows are cut.
        assert!(got == ONE_LAUNCH || gpu && got == TWO_LAUNCHES, "dense: {got:?}, {family:?}");
    }
}

#[test]
fn an_iteration_takes_few_launches_on_gpus() {
    every_storage(KernelFamily::Gpu);
}

#[test]
fn an_iteration_takes_few_launches_on_processors() {
    every_storage(KernelFamily::Cpu);
}
