//! Criterion benches of the primitives on the default device (`CLINALG_DEVICE` chooses another).
//!
//! `CLINALG_BENCH_N` is the number of points a side of the grid, 257 by default so that all runs in about a minute; vectors
//! have n^2 values, so that from 2049 on (AMD EPYC) nothing fits the caches. Throughput is that of the bytes an operation
//! must read and write.

use std::hint::black_box;
use std::time::Duration;

use clinalg::multigrid::{Backend, Grid, Poisson, PoissonParams};
use clinalg::{Context, Csr, Real, Result, Vector, ops};
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};

/// Points a side of the grid.
fn side() -> usize {
    match std::env::var("CLINALG_BENCH_N") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("CLINALG_BENCH_N is a number of points, not {text:?}")),
        Err(_) => 257,
    }
}

/// Values in (-1/2, 1/2) without a pattern that a sum could use.
fn values<T: Real>(n: usize, seed: u64) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ seed;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    (0..n).map(|_| T::from_f64(next())).collect()
}

/// The 5-point matrix of n x n points, times h^2.
fn poisson<T: Real>(context: &Context, n: usize) -> Csr<T> {
    let mut offsets = vec![0];
    let (mut indices, mut entries) = (Vec::with_capacity(5 * n * n), Vec::with_capacity(5 * n * n));
    for j in 0..n {
        for i in 0..n {
            let k = j * n + i;
            let neighbours = [
                (j > 0, k.wrapping_sub(n)),
                (i > 0, k.wrapping_sub(1)),
                (true, k),
                (i + 1 < n, k + 1),
                (j + 1 < n, k + n),
            ];
            for (_, column) in neighbours.into_iter().filter(|(inside, _)| *inside) {
                indices.push(column);
                entries.push(T::from_f64(if column == k { 4.0 } else { -1.0 }));
            }
            offsets.push(indices.len());
        }
    }
    Csr::from_csr(context, n * n, n * n, &offsets, &indices, &entries).expect("the matrix fits the device")
}

fn context<T: Real>() -> Option<Context> {
    let context = Context::global();
    let usable = context.and_then(|c| c.require::<T>().map(|()| c));
    usable.inspect_err(|error| println!("not measured in {}: {error}", T::PRECISION)).ok()
}

/// One bench; `work` enqueues or returns a number, and the device has finished when a sample ends.
fn measure<R>(
    group: &mut BenchmarkGroup<WallTime>,
    name: &str,
    bytes: usize,
    context: &Context,
    mut work: impl FnMut() -> Result<R>,
) {
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            black_box(work().expect("the operands fit"));
            context.finish().expect("the device works");
        });
    });
}

fn primitives<T: Real>(criterion: &mut Criterion) {
    let Some(context) = context::<T>() else { return };
    let side = side();
    let (n, size) = (side * side, size_of::<T>());
    let mut group = criterion.benchmark_group(format!("{} {side}^2", T::PRECISION));
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_millis(800));

    let matrix = poisson::<T>(&context, side);
    let upload = |seed| Vector::from_slice(&context, &values::<T>(n, seed)).expect("the vectors fit the device");
    let (x, y, mut out) = (upload(1), upload(2), upload(3));
    let (two, three, half) = (T::from_f64(2.0), T::from_f64(3.0), T::from_f64(0.5));

    let bytes = (size + 4) * matrix.nnz() + 4 * n + 2 * size * n;
    measure(&mut group, "mv_csr_poisson5", bytes, &context, || ops::mv(T::one(), &matrix, &x, T::zero(), &mut out));
    measure(&mut group, "copy", 2 * size * n, &context, || ops::copy(&x, &mut out));
    measure(&mut group, "scale", 2 * size * n, &context, || ops::scale(two, &x, &mut out));
    measure(&mut group, "axpby", 3 * size * n, &context, || ops::axpby(two, &x, three, &y, &mut out));
    measure(&mut group, "update", 3 * size * n, &context, || ops::update(half, &x, half, &mut out));
    measure(&mut group, "multiply", 3 * size * n, &context, || ops::multiply(&x, &y, &mut out));
    measure(&mut group, "sum", size * n, &context, || ops::sum(&x));
    measure(&mut group, "dot", 2 * size * n, &context, || ops::dot(&x, &y));
    measure(&mut group, "norm1", size * n, &context, || ops::norm1(&x));
    measure(&mut group, "norm2", size * n, &context, || ops::norm2(&x));
    measure(&mut group, "norm_inf", size * n, &context, || ops::norm_inf(&x));
    group.finish();
}

/// Cycles of a measured multigrid run; the start from zero and the norms of the residuals are included.
const CYCLES: usize = 4;

fn multigrid<T: Real>(criterion: &mut Criterion) {
    let Some(context) = context::<T>() else { return };
    let side = side();
    let mut group = criterion.benchmark_group(format!("{} {side}^2", T::PRECISION));
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_millis(800));
    let f = Vector::from_slice(&context, &values::<T>(side * side, 4)).expect("the vectors fit the device");
    let mut u = Vector::zeros(&context, side * side).expect("the vectors fit the device");
    for (backend, name) in [(Backend::Kernels, "kernels"), (Backend::Matrix, "matrix")] {
        // No residual reaches the tolerance, so that every run makes all its cycles.
        let params =
            PoissonParams { backend, tolerance: f64::MIN_POSITIVE, max_cycles: CYCLES, ..PoissonParams::default() };
        let mut poisson =
            Poisson::<T>::new(&context, &Grid::square(side), &params).expect("CLINALG_BENCH_N is 2^k + 1");
        // 18 values per point and cycle on all levels together: what fused sweeps of V(2,1) move (144 B in f64).
        let bytes = CYCLES * 18 * size_of::<T>() * side * side;
        measure(&mut group, &format!("poisson_{CYCLES}_v_cycles_{name}"), bytes, &context, || {
            ops::fill(T::zero(), &mut u)?;
            poisson.solve_device(&f, &mut u)
        });
    }
    group.finish();
}

criterion_group!(benches, primitives::<f64>, multigrid::<f64>, primitives::<f32>, multigrid::<f32>);
criterion_main!(benches);
