//! Every operation on every device and in both shapes against the reference.

use crate::common::{
    LARGE, Noise, SIZES, assert_close, assert_error, assert_same, band_oracle, contexts, eps, noise, oracle,
    product_bound, sparse,
};
use clinalg::matrix::Values;
use clinalg::ops::{Binary, Reduction, Span, Unary};
use clinalg::{Band, Context, ContextOptions, Csr, Dense, Device, Real, Vector, ops};
use clinalg::{BandParts, CsrParts};
use clinalg_reference::{dense, vector};

fn upload<T: Real>(context: &Context, values: &[T]) -> Vector<T> {
    Vector::from_slice(context, values).unwrap()
}

fn elementwise<T: Real>(context: &Context) {
    for &n in SIZES.iter().chain(&[LARGE]) {
        let (x, y) = (noise::<T>(n, 1), noise::<T>(n, 2));
        let (a, b) = (T::from_f64(1.75), T::from_f64(-0.625));
        let (dx, dy) = (upload(context, &x), upload(context, &y));
        let mut out = Vector::filled(context, n, T::nan()).unwrap();
        let mut want = vec![T::zero(); n];
        // Two products and a sum, each rounded on both sides, or fused.
        let bound = |i: usize| 2.0 * eps::<T>() * ((a * x[i]).into_f64().abs() + (b * y[i]).into_f64().abs());

        ops::axpby(a, &dx, b, &dy, &mut out).unwrap();
        vector::axpby(a, &x, b, &y, &mut want);
        assert_close("axpby", &out.to_vec().unwrap(), &want, bound);

        ops::sub_scaled(&dx, &dy, b, &mut out).unwrap();
        vector::sub_scaled(&x, &y, b, &mut want);
        assert_close("sub_scaled", &out.to_vec().unwrap(), &want, |i| {
            2.0 * eps::<T>() * (x[i].into_f64().abs() + (b * y[i]).into_f64().abs())
        });

        // One rounding: the same bits.
        ops::add(&dx, &dy, &mut out).unwrap();
        vector::add(&x, &y, &mut want);
        assert_same("add", &out.to_vec().unwrap(), &want);
        ops::sub(&dx, &dy, &mut out).unwrap();
        vector::sub(&x, &y, &mut want);
        assert_same("sub", &out.to_vec().unwrap(), &want);
        ops::scale(a, &dx, &mut out).unwrap();
        vector::scale(a, &x, &mut want);
        assert_same("scale", &out.to_vec().unwrap(), &want);
        ops::multiply(&dx, &dy, &mut out).unwrap();
        vector::multiply(&x, &y, &mut want);
        assert_same("multiply", &out.to_vec().unwrap(), &want);
        ops::copy(&dy, &mut out).unwrap();
        assert_same("copy", &out.to_vec().unwrap(), &y);
        ops::fill(a, &mut out).unwrap();
        assert_same("fill", &out.to_vec().unwrap(), &vec![a; n]);

        out.write(&y).unwrap();
        ops::update(a, &dx, b, &mut out).unwrap();
        vector::axpby(a, &x, b, &y, &mut want);
        assert_close("update", &out.to_vec().unwrap(), &want, bound);
        // The inputs are as they were.
        assert_same("x", &dx.to_vec().unwrap(), &x);
        assert_same("y", &dy.to_vec().unwrap(), &y);
    }
}

#[test]
fn elementwise_operations_match_the_reference() {
    crate::on_every_device!(elementwise);
}

/// Additions that one after the other enter a partial result: blocks of 4096 on a CPU; on a GPU the strides of at
/// least eight groups of 256 items; then the tree and the partial results.
fn depth(n: usize) -> f64 {
    n as f64 / 2048.0 + 200.0
}

fn reductions<T: Real>(context: &Context) {
    for &n in SIZES.iter().chain(&[LARGE]) {
        let (x, y) = (noise::<T>(n, 3), noise::<T>(n, 4));
        let (dx, dy) = (upload(context, &x), upload(context, &y));
        let magnitude = vector::norm1(&x).into_f64();
        let products: f64 = x.iter().zip(&y).map(|(a, b)| (a.into_f64() * b.into_f64()).abs()).sum();
        let bound = depth(n) * eps::<T>() * magnitude;
        let check = |what: &str, got: T, want: T, bound: f64| {
            assert_close(&format!("{what} of {n}"), &[got], &[want], |_| bound);
        };
        check("sum", ops::sum(&dx).unwrap(), vector::sum(&x), bound);
        check("norm1", ops::norm1(&dx).unwrap(), vector::norm1(&x), bound);
        check("dot", ops::dot(&dx, &dy).unwrap(), vector::dot(&x, &y), depth(n) * eps::<T>() * products);
        let norm2 = vector::norm2(&x);
        check("norm2", ops::norm2(&dx).unwrap(), norm2, depth(n) * eps::<T>() * norm2.into_f64());
        check("norm_inf", ops::norm_inf(&dx).unwrap(), vector::norm_inf(&x), 0.0);
        check("dot with itself", ops::dot(&dx, &dx).unwrap(), vector::dot(&x, &x), depth(n) * eps::<T>() * products);
    }
}

#[test]
fn reductions_match_the_reference() {
    crate::on_every_device!(reductions);
}

fn whole_numbers<T: Real>(context: &Context) {
    // Below 2^24 every partial sum is exact, in whatever order.
    for n in [1, 1000, 65_537, 1 << 20] {
        let values: Vec<T> = (0..n).map(|i| T::from_f64((i % 7) as f64 - 2.0)).collect();
        let x = upload(context, &values);
        let (sum, abs) = (0..n).map(|i| (i % 7) as f64 - 2.0).fold((0.0, 0.0), |(s, a), v: f64| (s + v, a + v.abs()));
        assert_eq!(ops::sum(&x).unwrap().into_f64(), sum);
        assert_eq!(ops::norm1(&x).unwrap().into_f64(), abs);
        assert_eq!(ops::dot(&x, &x).unwrap().into_f64(), (0..n).map(|i| ((i % 7) as f64 - 2.0).powi(2)).sum::<f64>());
    }
}

#[test]
fn sums_of_whole_numbers_are_exact() {
    crate::on_every_device!(whole_numbers);
}

fn not_finite<T: Real>(context: &Context) {
    let (nan, inf) = (T::nan(), T::infinity());
    for n in [1, 9, 300, 5000, 100_003] {
        for at in [0, n / 2, n - 1] {
            let reduce = |values: &[T]| {
                let x = upload(context, values);
                [ops::sum(&x), ops::norm1(&x), ops::norm2(&x), ops::norm_inf(&x), ops::dot(&x, &x)].map(Result::unwrap)
            };
            let mut values = noise::<T>(n, 5);
            values[at] = nan;
            assert!(reduce(&values).iter().all(|r| r.is_nan()), "NaN at {at} of {n}");
            values[at] = inf;
            assert_eq!(reduce(&values), [inf; 5], "Inf at {at} of {n}");
            values[at] = -inf;
            assert_eq!(reduce(&values), [-inf, inf, inf, inf, inf], "-Inf at {at} of {n}");
            if n > 1 {
                // MATLAB: sum([Inf -Inf]) is NaN, norm([NaN Inf]) is NaN.
                values[(at + 1) % n] = inf;
                assert!(reduce(&values)[0].is_nan());
                values[(at + 1) % n] = nan;
                assert!(reduce(&values).iter().all(|r| r.is_nan()), "NaN and -Inf at {at} of {n}");
            }
        }
    }
    // A zero factor does not hide what is not finite, and Inf - Inf is NaN.
    let x = upload(context, &[nan, inf, T::one()]);
    let mut out = Vector::zeros(context, 3).unwrap();
    ops::scale(T::zero(), &x, &mut out).unwrap();
    assert_same("0 x", &out.to_vec().unwrap(), &[nan, nan, T::zero()]);
    ops::sub(&x, &x, &mut out).unwrap();
    assert_same("x - x", &out.to_vec().unwrap(), &[nan, nan, T::zero()]);
    ops::axpby(T::one(), &x, T::zero(), &x, &mut out).unwrap();
    assert_same("x + 0 x", &out.to_vec().unwrap(), &[nan, nan, T::one()]);
}

#[test]
fn nan_and_inf_propagate() {
    crate::on_every_device!(not_finite);
}

fn wide_norms<T: Real>(context: &Context) {
    let max = T::max_value();
    let tiny = T::min_positive_value();
    let smallest = tiny * T::epsilon();
    let scales =
        if eps::<T>() < 1e-10 { [1e300, 1e-300, 1e155, 1e-155, 3e-308] } else { [1e30, 1e-30, 1e19, 1e-20, 2e-38] };
    for n in [1, 3, 1000, 100_003] {
        // The largest values first: the norm itself must not overflow.
        let fits = T::from_f64(max.into_f64() / (n as f64).sqrt() * 0.99);
        for scale in scales.into_iter().map(T::from_f64).chain([fits]) {
            let values: Vec<T> = noise::<T>(n, 6).into_iter().map(|v| v * scale).collect();
            let want = vector::norm2(&values);
            let got = ops::norm2(&upload(context, &values)).unwrap();
            // The smallest number is the unit in which a subnormal result is rounded.
            let bound = depth(n) * eps::<T>() * want.into_f64() + smallest.into_f64();
            assert_close(&format!("norm2 of {n} around {scale:e}"), &[got], &[want], |_| bound);
        }
        // All subnormal: |x| is exact up to the rounding of the result to a multiple of the smallest number.
        let values: Vec<T> = (0..n).map(|i| smallest * T::from_f64((i % 5) as f64)).collect();
        let want = vector::norm2(&values);
        let got = ops::norm2(&upload(context, &values)).unwrap();
        assert_close("norm2 of subnormal values", &[got], &[want], |_| {
            depth(n) * eps::<T>() * want.into_f64() + smallest.into_f64()
        });
    }
    assert_eq!(ops::norm2(&upload(context, &[max])).unwrap(), max);
    assert_eq!(ops::norm2(&upload(context, &[-max, T::zero()])).unwrap(), max);
    assert_eq!(ops::norm2(&upload(context, &[smallest])).unwrap(), smallest);
    assert_eq!(ops::norm2(&upload(context, &[tiny, T::zero()])).unwrap(), tiny);
    assert_eq!(ops::norm2(&upload(context, &[max, max])).unwrap(), T::infinity());
    // One large value hides no crowd of small ones: 1 and a million times 1e-3 (f32: 2^-12) is sqrt(2) and not 1.
    let mut values = vec![T::from_f64(1e-3); 1_000_001];
    values[0] = T::one();
    let got = ops::norm2(&upload(context, &values)).unwrap().into_f64();
    assert!((got - 2.0_f64.sqrt()).abs() <= depth(values.len()) * eps::<T>(), "{got}");
}

#[test]
fn norm2_neither_overflows_nor_underflows() {
    crate::on_every_device!(wide_norms);
}

fn same_bits<T: Real>(context: &Context) {
    for n in [1000, 100_003, LARGE] {
        let (x, y) = (upload(context, &noise::<T>(n, 7)), upload(context, &noise::<T>(n, 8)));
        let all =
            || [ops::sum(&x), ops::norm1(&x), ops::norm2(&x), ops::norm_inf(&x), ops::dot(&x, &y)].map(Result::unwrap);
        let first = all();
        (0..10).for_each(|_| assert_eq!(all(), first));
    }
    let a = sparse::<T>(2000, 1500, 9, |i| if i == 7 { 900 } else { i % 30 });
    let device = Csr::from_parts(context, &a).unwrap();
    let x = upload(context, &noise::<T>(1500, 10));
    let mut y = Vector::zeros(context, 2000).unwrap();
    let mut z = Vector::zeros(context, 1500).unwrap();
    let mut product = || {
        ops::mv(T::one(), &device, &x, T::zero(), &mut y).unwrap();
        // Converted anew each time: the order of the atomic operations inside must not show.
        ops::mv_transposed(T::one(), &device.try_clone().unwrap(), &y, T::zero(), &mut z).unwrap();
        (y.to_vec().unwrap(), z.to_vec().unwrap())
    };
    let first = product();
    (0..10).for_each(|_| assert_eq!(product(), first));
}

#[test]
fn repeated_calls_give_the_same_bits() {
    crate::on_every_device!(same_bits);
}

/// Compares `apply` (which computes y = alpha A x + beta y on the device) with the reference for several factors.
fn check_product<T: Real>(
    what: &str,
    context: &Context,
    a: &CsrParts<T>,
    apply: impl Fn(T, &Vector<T>, T, &mut Vector<T>) -> clinalg::Result<()>,
) {
    let x = noise::<T>(a.cols, 11);
    let dx = upload(context, &x);
    for (alpha, beta) in
        [(1.0, 0.0), (-1.5, 0.0), (0.75, 1.0), (2.0, -0.5), (0.0, 2.0)].map(|(a, b)| (T::from_f64(a), T::from_f64(b)))
    {
        let mut want = if beta == T::zero() { vec![T::nan(); a.rows] } else { noise::<T>(a.rows, 12) };
        let old = want.clone();
        let mut y = upload(context, &want);
        apply(alpha, &dx, beta, &mut y).unwrap();
        oracle(a).mv(alpha, &x, beta, &mut want);
        let what = format!("{what}, {} x {}, alpha {alpha}, beta {beta}, {:?}", a.rows, a.cols, context.family());
        assert_close(&what, &y.to_vec().unwrap(), &want, |i| product_bound(a, alpha, &x, beta, &old, i));
    }
}

fn csr_product<T: Real>(context: &Context) {
    let check = |what: &str, a: CsrParts<T>| {
        let device = Csr::from_parts(context, &a).unwrap();
        check_product(what, context, &a, |alpha, x, beta, y| ops::mv(alpha, &device, x, beta, y));
        let transposed = a.transpose().unwrap();
        check_product(what, context, &transposed, |alpha, x, beta, y| ops::mv_transposed(alpha, &device, x, beta, y));
    };
    for n in [1, 2, 7, 8, 9, 31, 255, 256, 257, 4097] {
        check("short rows", sparse(n, n, 13, |_| 5));
        check("some empty rows", sparse(n, n + 3, 14, |i| i % 3));
    }
    check("eight lanes", sparse(1000, 700, 15, |_| 30));
    check("32 lanes", sparse(300, 5000, 16, |i| 60 + i % 100));
    check("one long row", sparse(4097, 4097, 17, |i| if i == 4096 { 4000 } else { 3 }));
    check("one long row among empty ones", sparse(1000, 20_000, 18, |i| if i == 500 { 15_000 } else { 0 }));
    check("a single row", sparse(1, 10_007, 19, |_| 9000));
    check("a single column", sparse(10_007, 1, 20, |_| 1));
    check("no entries", sparse(100, 50, 21, |_| 0));
    check("0 x 5", sparse(0, 5, 22, |_| 0));
    check("5 x 0", sparse(5, 0, 23, |_| 0));
    check("0 x 0", sparse(0, 0, 24, |_| 0));
    check("many rows", sparse(100_003, 50_001, 25, |i| i % 11));
}

#[test]
fn sparse_products_match_the_reference() {
    crate::on_every_device!(csr_product);
}

fn dense_product<T: Real>(context: &Context) {
    let shapes = [
        (0, 0),
        (0, 5),
        (5, 0),
        (1, 1),
        (1, 1000),
        (1000, 1),
        (2, 3),
        (7, 9),
        (8, 8),
        (9, 7),
        (31, 33),
        (32, 32),
        (33, 31),
        (64, 255),
        (257, 256),
        (255, 70),
        (4097, 13),
        (13, 4097),
        (1000, 777),
    ];
    for (rows, cols) in shapes {
        let values = noise::<T>(rows * cols, 26);
        let a = CsrParts::from_dense(rows, cols, &values).unwrap();
        let device = Dense::from_column_major(context, rows, cols, &values).unwrap();
        check_product("dense", context, &a, |alpha, x, beta, y| ops::mv(alpha, &device, x, beta, y));
        let transposed = a.transpose().unwrap();
        check_product("dense'", context, &transposed, |alpha, x, beta, y| {
            ops::mv_transposed(alpha, &device, x, beta, y)
        });
        // The sparse oracle against the dense one, so that the conversion above cannot hide an error.
        let x = noise::<T>(cols, 27);
        let (mut one, mut two) = (vec![T::zero(); rows], vec![T::zero(); rows]);
        oracle(&a).mv(T::one(), &x, T::zero(), &mut one);
        dense::mv(T::one(), &values, rows, cols, &x, T::zero(), &mut two);
        assert_close("oracles", &one, &two, |i| product_bound(&a, T::one(), &x, T::zero(), &one, i));
    }
}

#[test]
fn dense_products_match_the_reference() {
    crate::on_every_device!(dense_product);
}

/// A band matrix with random entries, on the host.
fn band<T: Real>(rows: usize, cols: usize, kl: usize, ku: usize) -> BandParts<T> {
    let mut parts = BandParts::zeros(rows, cols, kl, ku).unwrap();
    let mut noise = Noise::new(28);
    for d in 0..kl + 1 + ku {
        for i in 0..rows {
            if i + d >= kl && i + d - kl < cols {
                parts.data[d * rows + i] = noise.value();
            }
        }
    }
    parts
}

fn band_product<T: Real>(context: &Context) {
    let cases = [
        (0, 0, 0, 0),
        (0, 4, 1, 1),
        (4, 0, 1, 1),
        (1, 1, 0, 0),
        (1, 1, 3, 3),
        (5, 5, 0, 0),
        (9, 9, 1, 1),
        (9, 9, 0, 3),
        (9, 9, 3, 0),
        (5, 5, 10, 12),
        (8, 20, 2, 2),
        (20, 8, 2, 2),
        (33, 33, 7, 5),
        (257, 257, 1, 1),
        (1000, 1003, 3, 20),
        (1003, 990, 20, 3),
        (4097, 4097, 1, 1),
        (100_003, 100_003, 2, 2),
        (300, 100, 250, 40),
        (100, 300, 40, 250),
    ];
    for (rows, cols, kl, ku) in cases {
        let parts = band::<T>(rows, cols, kl, ku);
        let device = Band::from_parts(context, &parts).unwrap();
        let a = parts.to_csr().unwrap();
        check_product(&format!("band {kl} {ku}"), context, &a, |alpha, x, beta, y| ops::mv(alpha, &device, x, beta, y));
        let x = noise::<T>(cols, 27);
        let (mut one, mut two) = (vec![T::zero(); rows], vec![T::zero(); rows]);
        oracle(&a).mv(T::one(), &x, T::zero(), &mut one);
        band_oracle(&parts).mv(T::one(), &x, T::zero(), &mut two);
        assert_close("oracles", &one, &two, |i| product_bound(&a, T::one(), &x, T::zero(), &one, i));
    }
}

#[test]
fn band_products_match_the_reference() {
    crate::on_every_device!(band_product);
}

fn nan_in_x<T: Real>(context: &Context) {
    // Only the rows that meet the entry see it; zeros stored in a matrix meet it as well (0 NaN is NaN).
    let n = 100;
    let mut x = noise::<T>(n, 29);
    x[50] = T::nan();
    let dx = upload(context, &x);
    let mut y = Vector::zeros(context, n).unwrap();
    let tridiagonal = band::<T>(n, n, 1, 1);
    let expect = |what: &str, y: &Vector<T>| {
        let values = y.to_vec().unwrap();
        let found: Vec<_> = (0..n).filter(|&i| values[i].is_nan()).collect();
        assert_eq!(found, [49, 50, 51], "{what}");
    };
    ops::mv(T::one(), &Band::from_parts(context, &tridiagonal).unwrap(), &dx, T::zero(), &mut y).unwrap();
    expect("band", &y);
    let sparse = tridiagonal.to_csr().unwrap();
    ops::mv(T::one(), &Csr::from_parts(context, &sparse).unwrap(), &dx, T::zero(), &mut y).unwrap();
    expect("csr", &y);
    let dense = Dense::from_column_major(context, n, n, &sparse.to_dense().unwrap()).unwrap();
    ops::mv(T::one(), &dense, &dx, T::zero(), &mut y).unwrap();
    assert!(y.to_vec().unwrap().iter().all(|v| v.is_nan()), "dense: every row has column 50");
}

#[test]
fn nan_in_x_reaches_its_rows() {
    crate::on_every_device!(nan_in_x);
}

fn zero_beta<T: Real>(context: &Context) {
    let x = upload(context, &noise::<T>(3, 30));
    let mut y = Vector::filled(context, 3, T::nan()).unwrap();
    ops::update(T::from_f64(2.0), &x, T::zero(), &mut y).unwrap();
    let want: Vec<T> = x.to_vec().unwrap().into_iter().map(|v| v * T::from_f64(2.0)).collect();
    assert_same("update", &y.to_vec().unwrap(), &want);
}

#[test]
fn update_with_zero_beta_does_not_read_y() {
    crate::on_every_device!(zero_beta);
}

fn in_place<T: Real>(context: &Context) {
    for n in [9, 5000] {
        let (x, old) = (noise::<T>(n, 31), noise::<T>(n, 32));
        let dx = upload(context, &x);
        let mut y = upload(context, &old);
        let mut want = old.clone();
        for (alpha, beta) in [(0.5, 2.0), (-1.0, 1.0), (3.0, -0.25)].map(|(a, b)| (T::from_f64(a), T::from_f64(b))) {
            let before = want.clone();
            ops::update(alpha, &dx, beta, &mut y).unwrap();
            vector::update(alpha, &x, beta, &mut want);
            assert_close("update", &y.to_vec().unwrap(), &want, |i| {
                4.0 * eps::<T>() * ((alpha * x[i]).into_f64().abs() + (beta * before[i]).into_f64().abs())
            });
            want = y.to_vec().unwrap();
        }
        // Both inputs the same object.
        let mut out = Vector::zeros(context, n).unwrap();
        ops::multiply(&dx, &dx, &mut out).unwrap();
        let squares: Vec<T> = x.iter().map(|&v| v * v).collect();
        assert_same("x .* x", &out.to_vec().unwrap(), &squares);
        ops::axpby(T::one(), &dx, T::one(), &dx, &mut out).unwrap();
        let twice: Vec<T> = x.iter().map(|&v| v + v).collect();
        assert_same("x + x", &out.to_vec().unwrap(), &twice);
    }
}

#[test]
fn an_output_may_be_an_input() {
    crate::on_every_device!(in_place);
}

fn on_matrices<T: Real>(context: &Context) {
    // The value arrays of matrices of one structure.
    let parts = sparse::<T>(50, 60, 33, |i| i % 7);
    let a = Csr::from_parts(context, &parts).unwrap();
    let mut b = a.try_clone().unwrap();
    ops::scale(T::from_f64(2.0), &a, &mut b).unwrap();
    ops::update(T::one(), &a, T::one(), &mut b).unwrap();
    let thrice = b.to_parts().unwrap();
    assert_eq!(thrice.indices, parts.indices);
    let want: Vec<T> = parts.values.iter().map(|&v| v * T::from_f64(3.0)).collect();
    assert_close("3 A", &thrice.values, &want, |i| 2.0 * eps::<T>() * want[i].into_f64().abs());
    let norm = ops::norm2(&a).unwrap();
    assert_close("Frobenius", &[norm], &[vector::norm2(&parts.values)], |_| depth(0) * eps::<T>() * norm.into_f64());
    // The same positions in an object of its own are the same structure; others are not.
    ops::add(&a, &Csr::from_parts(context, &parts).unwrap(), &mut b).unwrap();
    let wider = CsrParts { cols: 61, ..parts.clone() };
    let wider = Csr::from_parts(context, &wider).unwrap();
    let message = assert_error(ops::add(&a, &wider, &mut b), "clinalg:argument:shape", "b");
    assert!(message.contains("50 x 61") && message.contains("50 x 60"), "{message}");
    let mut moved = parts.clone();
    moved.indices.iter_mut().for_each(|j| *j = 59 - *j);
    let moved = Csr::from_parts(context, &moved).unwrap();
    assert_eq!(moved.nnz(), a.nnz());
    let message = assert_error(ops::add(&a, &moved, &mut b), "clinalg:argument:shape", "b");
    assert!(message.contains("at other positions"), "{message}");

    let values = noise::<T>(35, 34);
    let d = Dense::from_column_major(context, 5, 7, &values).unwrap();
    let mut e = Dense::zeros(context, 5, 7).unwrap();
    ops::copy(&d, &mut e).unwrap();
    assert_same("dense copy", &e.to_column_major().unwrap(), &values);
    let mut f = Dense::zeros(context, 7, 5).unwrap();
    assert_error(ops::copy(&d, &mut f), "clinalg:argument:shape", "out");
}

#[test]
fn elementwise_operations_act_on_matrices() {
    crate::on_every_device!(on_matrices);
}

fn padding<T: Real>(context: &Context) {
    for (rows, cols, kl, ku) in [(5, 5, 1, 2), (3, 9, 2, 2), (9, 3, 2, 2), (4, 4, 6, 6), (0, 3, 1, 1), (3, 0, 1, 1)] {
        let parts = band::<T>(rows, cols, kl, ku);
        let mut a = Band::from_parts(context, &parts).unwrap();
        let entries = (0..rows).map(|i| (i + ku + 1).min(cols).saturating_sub(i.saturating_sub(kl))).sum::<usize>();
        let what = format!("{rows} x {cols}, {kl}, {ku}, {:?}", context.family());

        ops::fill(T::from_f64(3.0), &mut a).unwrap();
        assert_eq!(ops::sum(&a).unwrap().into_f64(), 3.0 * entries as f64, "fill of {what}");
        a.to_parts().unwrap().check().unwrap();

        // 0 Inf is NaN in the padding, which is no entry.
        let mut b = a.like().unwrap();
        ops::scale(T::infinity(), &a, &mut b).unwrap();
        assert!(!ops::sum(&b).unwrap().is_nan(), "scale of {what}");
        ops::axpby(T::infinity(), &a, T::one(), &a, &mut b).unwrap();
        assert!(!ops::sum(&b).unwrap().is_nan(), "axpby of {what}");
        ops::update(T::infinity(), &a, T::one(), &mut b).unwrap();
        assert!(!ops::sum(&b).unwrap().is_nan(), "update of {what}");
        ops::sub_scaled(&a, &a, -T::infinity(), &mut b).unwrap();
        assert!(!ops::sum(&b).unwrap().is_nan(), "sub_scaled of {what}");
    }
}

#[test]
fn filling_a_band_left_its_padding_filled() {
    crate::on_every_device!(padding);
}

fn bad_operands<T: Real>(context: &Context) {
    let short = Vector::<T>::zeros(context, 3).unwrap();
    let long = Vector::<T>::zeros(context, 4).unwrap();
    let mut out = Vector::<T>::zeros(context, 4).unwrap();
    let length = "clinalg:argument:length";
    assert_error(ops::axpby(T::one(), &long, T::one(), &short, &mut out), length, "y");
    assert_error(ops::axpby(T::one(), &short, T::one(), &short, &mut out), length, "out");
    assert_error(ops::update(T::one(), &short, T::one(), &mut out), length, "y");
    assert_error(ops::add(&long, &short, &mut out), length, "b");
    assert_error(ops::sub(&short, &short, &mut out), length, "out");
    assert_error(ops::sub_scaled(&long, &short, T::one(), &mut out), length, "b");
    assert_error(ops::scale(T::one(), &short, &mut out), length, "out");
    assert_error(ops::multiply(&long, &short, &mut out), length, "b");
    assert_error(ops::copy(&short, &mut out), length, "out");
    assert_error(ops::dot(&long, &short), length, "b");

    let parts = sparse::<T>(3, 4, 35, |_| 2);
    let csr = Csr::from_parts(context, &parts).unwrap();
    let dense = Dense::from_column_major(context, 3, 4, &parts.to_dense().unwrap()).unwrap();
    let band = Band::from_csr(context, &parts, 3, 4).unwrap();
    let mut y = Vector::<T>::zeros(context, 3).unwrap();
    let one = T::one();
    assert_error(ops::mv(one, &csr, &short, one, &mut y), length, "x");
    assert_error(ops::mv(one, &dense, &short, one, &mut y), length, "x");
    assert_error(ops::mv(one, &band, &short, one, &mut y), length, "x");
    assert_error(ops::mv(one, &csr, &long, one, &mut out), length, "y");
    assert_error(ops::mv(one, &dense, &long, one, &mut out), length, "y");
    assert_error(ops::mv(one, &band, &long, one, &mut out), length, "y");
    assert_error(ops::mv_transposed(one, &csr, &long, one, &mut out), length, "x");
    assert_error(ops::mv_transposed(one, &dense, &long, one, &mut out), length, "x");
    assert_error(ops::mv_transposed(one, &csr, &short, one, &mut y), length, "y");
    assert_error(ops::mv_transposed(one, &dense, &short, one, &mut y), length, "y");

    let device = Device::select(&context.device().index.to_string()).unwrap();
    let other = Context::new(&device, &ContextOptions::default()).unwrap();
    let mut foreign = Vector::<T>::zeros(&other, 4).unwrap();
    let id = "clinalg:argument:context";
    assert_error(ops::axpby(one, &long, one, &foreign, &mut out), id, "y");
    assert_error(ops::scale(one, &long, &mut foreign), id, "out");
    assert_error(ops::copy(&long, &mut foreign), id, "out");
    assert_error(ops::dot(&long, &foreign), id, "b");
    assert_error(ops::mv(one, &csr, &foreign, one, &mut y), id, "x");
    assert_error(ops::mv(one, &dense, &foreign, one, &mut y), id, "x");
    assert_error(ops::mv(one, &band, &foreign, one, &mut y), id, "x");
    assert_error(ops::mv_transposed(one, &csr, &short, one, &mut foreign), id, "y");
    assert_error(foreign.copy_from(&long), id, "source");

    // Nothing was lost on the way.
    out.write(&[one; 4]).unwrap();
    assert_eq!(ops::sum(&out).unwrap().into_f64(), 4.0);
    ops::mv(one, &csr, &out, T::zero(), &mut y).unwrap();
    let mut want = vec![T::zero(); 3];
    oracle(&parts).mv(one, &[one; 4], T::zero(), &mut want);
    assert_close("afterwards", &y.to_vec().unwrap(), &want, |_| 8.0 * eps::<T>());
}

fn array_parts<T: Real>(context: &Context) {
    let (rows, cols) = (9, 7);
    let values = noise::<T>(rows * cols, 3);
    let a = upload(context, &values);
    let back = Span::Range { first: 8, step: -2, count: 4 };
    let lists = [&[3, 3, 0, 6][..], &[1, 2, 3], &[5]];
    for row in [Span::all(rows), back, Span::of(lists[0]), Span::of(lists[1]), Span::of(lists[2])] {
        for col in [Span::all(cols), Span::of(lists[0]), Span::of(lists[1])] {
            let positions = |span: Span<'_>| match span {
                Span::Range { first, step, count } => {
                    (0..count).map(|k| first.wrapping_add_signed(step * k as isize)).collect::<Vec<_>>()
                }
                Span::List(list) => list.to_vec(),
            };
            let (is, js) = (positions(row), positions(col));
            let want: Vec<T> =
                js.iter().flat_map(|j| is.iter().map(move |i| i + j * rows)).map(|p| values[p]).collect();
            let mut out = upload(context, &vec![T::nan(); want.len()]);
            ops::take((rows, cols), &a, row, col, &mut out).unwrap();
            assert_same("take", &out.to_vec().unwrap(), &want);
            let repeated = |v: &[usize]| v.iter().enumerate().any(|(k, p)| v[..k].contains(p));
            let mut into = upload(context, &vec![T::zero(); rows * cols]);
            let put = ops::put((rows, cols), &mut into, row, col, &out);
            if repeated(&is) || repeated(&js) {
                assert_error(put, "clinalg:argument:value", if repeated(&is) { "rows" } else { "cols" });
                continue;
            }
            put.unwrap();
            let mut want = vec![T::zero(); rows * cols];
            js.iter().flat_map(|j| is.iter().map(move |i| i + j * rows)).for_each(|p| want[p] = values[p]);
            assert_same("put", &into.to_vec().unwrap(), &want);
            ops::put((rows, cols), &mut into, row, col, &upload(context, &[T::one()])).unwrap();
            let ones = into.to_vec().unwrap().iter().filter(|&&v| v == T::one()).count();
            assert_eq!(ones, is.len() * js.len());
        }
    }
    let mut turned = upload(context, &vec![T::nan(); rows * cols]);
    ops::transpose((rows, cols), &a, &mut turned).unwrap();
    let want: Vec<T> = (0..rows).flat_map(|i| (0..cols).map(move |j| i + j * rows)).map(|p| values[p]).collect();
    assert_same("transpose", &turned.to_vec().unwrap(), &want);
    let mut out = upload(context, &[T::zero()]);
    for wrong in
        [Span::of(&[9]), Span::Range { first: 0, step: -1, count: 2 }, Span::Range { first: 9, step: 0, count: 1 }]
    {
        let result = ops::take((rows, cols), &a, wrong, Span::all(1), &mut out);
        assert_error(result, "clinalg:argument:value", "rows");
    }
}

#[test]
fn parts_of_arrays_are_those_of_the_indices() {
    crate::on_every_device!(array_parts);
}

fn zeros_and_nan<T: Real>(context: &Context) {
    let values = |list: &[f64]| upload(context, &list.iter().map(|&v| T::from_f64(v)).collect::<Vec<_>>());
    let x = values(&[-0.0, 0.0, f64::NAN, 1.0, f64::NAN, -0.0, 0.0, -3.0, f64::INFINITY]);
    let y = values(&[0.0, -0.0, 1.0, f64::NAN, f64::NAN, -0.0, 0.0, -4.0, f64::NEG_INFINITY]);
    let bits = |out: &Vector<T>| -> Vec<(f64, bool)> {
        let whole = out.to_vec().unwrap().into_iter().map(T::into_f64);
        whole.map(|v| if v.is_nan() { (7.0, false) } else { (v, v.is_sign_negative()) }).collect()
    };
    let shape = (9, 1);
    let mut out = upload(context, &[T::zero(); 9]);
    for (f, sign) in [(Binary::Max, 1.0), (Binary::Min, -1.0)] {
        ops::map2(f, (shape, &x), (shape, &y), &mut out).unwrap();
        let [most, of_finite] = if sign > 0.0 { [f64::INFINITY, -3.0] } else { [f64::NEG_INFINITY, -4.0] };
        let expected = [-0.0, 0.0, 1.0, 1.0, 7.0, -0.0, 0.0, of_finite, most];
        assert_eq!(bits(&out), expected.map(|v: f64| (v, v.is_sign_negative())), "{f:?}");
    }
    ops::map(Unary::Sign, &x, &mut out).unwrap();
    let expected = [0.0, 0.0, 7.0, 1.0, 7.0, 0.0, 0.0, -1.0, 1.0];
    assert_eq!(bits(&out), expected.map(|v: f64| (v, v.is_sign_negative())));
}

#[test]
fn sign_max_and_min_of_zeros_and_nan() {
    crate::on_every_device!(zeros_and_nan);
}

fn array_functions<T: Real>(context: &Context) {
    let (rows, cols) = (5, 40);
    let (x, y) = (noise::<T>(rows * cols, 4), noise::<T>(rows * cols, 5));
    let shapes =
        [((rows, cols), (rows, cols)), ((rows, cols), (rows, 1)), ((1, cols), (rows, 1)), ((1, 1), (rows, cols))];
    for (own, other) in shapes {
        let (dx, dy) = (upload(context, &x[..own.0 * own.1]), upload(context, &y[..other.0 * other.1]));
        let at = |v: &[T], s: (usize, usize), i: usize, j: usize| v[i % s.0 + j % s.1 * s.0];
        let by_hand = |f: Binary, a: T, b: T| match f {
            Binary::Plus => a + b,
            Binary::Minus => a - b,
            Binary::Times => a * b,
            Binary::Divide => a / b,
            Binary::Max if a > b => a,
            Binary::Min if a < b => a,
            Binary::Max | Binary::Min => b,
            _ => unreachable!("not tested here"),
        };
        for f in [Binary::Plus, Binary::Minus, Binary::Times, Binary::Divide, Binary::Max, Binary::Min] {
            let mut out = upload(context, &vec![T::nan(); rows * cols]);
            ops::map2(f, (own, &dx), (other, &dy), &mut out).unwrap();
            let pairs = (0..cols).flat_map(|j| (0..rows).map(move |i| (i, j)));
            let want: Vec<T> = pairs.map(|(i, j)| by_hand(f, at(&x, own, i, j), at(&y, other, i, j))).collect();
            // OpenCL lets division in single precision differ by 2.5 ulp.
            let ulps = if f == Binary::Divide && eps::<T>() > 1e-10 { 2.5 } else { 0.0 };
            assert_close("map2", &out.to_vec().unwrap(), &want, |k| ulps * eps::<T>() * want[k].into_f64().abs());
        }
    }
    let dx = upload(context, &x);
    let mut out = upload(context, &x);
    type Function = fn(f64) -> f64;
    let functions: [(Unary, Function); 4] =
        [(Unary::Exp, f64::exp), (Unary::Cos, f64::cos), (Unary::Floor, f64::floor), (Unary::Round, f64::round)];
    for (f, by_hand) in functions {
        ops::map(f, &dx, &mut out).unwrap();
        let want: Vec<T> = x.iter().map(|&v| T::from_f64(by_hand(v.into_f64()))).collect();
        assert_close("map", &out.to_vec().unwrap(), &want, |k| 4.0 * eps::<T>() * want[k].into_f64().abs());
    }
    // Along the middle dimension: short, and long enough for several launches.
    for [inner, length, outer] in [[1, 4, 50], [5, 40, 1], [2, 5, 20], [1, 1500, 2], [3, 0, 2]] {
        let values = noise::<T>(inner * length * outer, 6);
        let a = upload(context, &values);
        let mut out = upload(context, &vec![T::zero(); inner * outer]);
        for join in [Reduction::Sum, Reduction::Product, Reduction::Max, Reduction::Min] {
            ops::reduce_along(join, [inner, length, outer], &a, &mut out).unwrap();
            let of = |i: usize, o: usize| (0..length).map(move |l| i + inner * (l + length * o));
            let ends = (0..outer).flat_map(|o| (0..inner).map(move |i| (i, o)));
            let want: Vec<T> = ends
                .map(|(i, o)| of(i, o).map(|p| values[p].into_f64()))
                .map(|line| match join {
                    Reduction::Sum => line.sum::<f64>(),
                    Reduction::Product => line.product(),
                    Reduction::Max => line.fold(f64::NAN, f64::max),
                    _ => line.fold(f64::NAN, f64::min),
                })
                .map(T::from_f64)
                .collect();
            let exact = matches!(join, Reduction::Max | Reduction::Min);
            let bound = if exact { 0.0 } else { 4.0 * (length as f64 + 1.0) * eps::<T>() };
            assert_close("reduce_along", &out.to_vec().unwrap(), &want, |_| bound);
        }
    }
    let small = upload(context, &x[..3]);
    let result = ops::map2(Binary::Plus, ((rows, cols), &dx), ((3, 1), &small), &mut out);
    assert_error(result, "clinalg:argument:shape", "y");
}

#[test]
fn functions_of_arrays_match_those_of_the_host() {
    crate::on_every_device!(array_functions);
}

#[test]
fn operands_that_do_not_fit_are_named() {
    crate::on_every_device!(bad_operands);
}

#[test]
fn both_shapes_were_tested() {
    if !clinalg_testing::thorough() {
        return clinalg_testing::skip(crate::common::ONE_FAMILY);
    }
    let shapes: Vec<_> = contexts().iter().map(Context::family).collect();
    assert_eq!(shapes.len() % 2, 0);
    assert!(shapes.chunks(2).all(|pair| pair[0] != pair[1]));
}
