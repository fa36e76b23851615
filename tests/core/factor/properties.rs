//! Products, factorisations and triangular systems of random shapes: empty, of one row, around the tiles of the kernels, in between.
//!
//! A case is one scalar on every device and family of kernels. Few run by default; `cargo xtask test --long` runs many.

use proptest::prelude::*;

use super::*;

/// Where kernels and blocked algorithms change their path: tiles of products, panels, triangles, blocks of columns.
const TILES: [usize; 7] = [4, 8, 16, 32, 64, 96, 128];
const FEW: u32 = 6;
const MANY: u32 = 300;

fn length() -> impl Strategy<Value = usize> {
    let near = (prop::sample::select(&TILES[..]), 0..3_usize).prop_map(|(tile, above)| tile + above - 1);
    prop_oneof![1 => 0..2_usize, 3 => near, 2 => 2..150_usize]
}

/// Right-hand sides.
fn several() -> impl Strategy<Value = usize> {
    prop_oneof![Just(0_usize), Just(1), 2..10_usize, 30..35_usize]
}

fn op() -> impl Strategy<Value = Transpose> {
    prop::sample::select(&OPS[..])
}

/// Numbers one of the four scalars.
fn scalar() -> impl Strategy<Value = usize> {
    0..4_usize
}

fn run<P: Strategy>(cases: u32, strategy: P, check: impl Fn(P::Value)) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let outcome = runner.run(&strategy, |case| {
        check(case);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Runs a check with the scalar of this number on every device and family of kernels.
macro_rules! with_scalar {
    ($number:expr, $check:ident($($argument:expr),*)) => {
        for context in contexts() {
            // Double precision in place of single where tests do not take that.
            match if takes::<f32>(context) { $number } else { $number | 2 } {
                0 => $check::<f32>(context, $($argument),*),
                1 => $check::<Complex<f32>>(context, $($argument),*),
                _ if !has::<f64>(context) => {}
                2 => $check::<f64>(context, $($argument),*),
                _ => $check::<Complex<f64>>(context, $($argument),*),
            }
        }
    };
}

/// C = alpha op(A) op(B) + beta C; with beta = 0 from a C that is no number.
fn check_gemm<T: Scalar>(context: &Context, [m, n, k]: [usize; 3], [op_a, op_b]: [Transpose; 2], beta: f64) {
    let shape = |op, rows, cols| if op == Transpose::No { (rows, cols) } else { (cols, rows) };
    let [(rows_a, cols_a), (rows_b, cols_b)] = [shape(op_a, m, k), shape(op_b, k, n)];
    let a = Host::noise::<T>(rows_a, cols_a, 50);
    let b = Host::noise::<T>(rows_b, cols_b, 51);
    let old = Host::noise::<T>(m, n, 52);
    let given = if beta == 0.0 { old.map(|_, _, _| C::from(f64::NAN)) } else { old.clone() };
    let mut c = given.upload::<T>(context);
    let alpha = -1.5;
    let (a_up, b_up) = (a.upload::<T>(context), b.upload::<T>(context));
    ops::gemm(T::from_f64(alpha), op_a, &a_up, op_b, &b_up, T::from_f64(beta), &mut c).unwrap();
    let (a, b) = (a.op(op_a), b.op(op_b));
    let product = a.times(&b);
    let want = old.map(|i, j, v| product.at(i, j) * alpha + v * beta);
    let sizes = a.abs().times(&b.abs());
    let size = old.map(|i, j, v| sizes.at(i, j) * alpha.abs() + v.norm() * beta.abs());
    let what = format!("{m} x {n} x {k} {op_a:?} {op_b:?} beta {beta} {context:?}");
    // A sum of k products, times alpha, and the old value: Higham, section 3.5.
    Host::of(&c).assert_close(&want, (k + 4) as f64 * eps::<T>(), &size, &what);
}

fn products(cases: u32) {
    let beta = prop::sample::select(&[0.0, 1.0, -0.75][..]);
    run(cases, (scalar(), [length(), length(), length()], [op(), op()], beta), |(number, shape, ops, beta)| {
        with_scalar!(number, check_gemm(shape, ops, beta));
    });
}

fn lu_case<T: Scalar>(context: &Context, rows: usize, cols: usize) {
    check_lu::<T>(context, &Host::noise::<T>(rows, cols, 60));
}

fn lu_solution<T: Scalar>(context: &Context, n: usize, op: Transpose, nrhs: usize) {
    let a = Host::noise::<T>(n, n, 61);
    let lu = check_lu::<T>(context, &a);
    check_solutions(context, &a, &lu, &[op], &[nrhs]);
}

fn lu_factors(cases: u32) {
    run(cases, (scalar(), length(), length()), |(number, rows, cols)| with_scalar!(number, lu_case(rows, cols)));
    run(cases, (scalar(), length(), op(), several()), |(number, n, op, nrhs)| {
        with_scalar!(number, lu_solution(n, op, nrhs));
    });
}

fn cholesky_factors(cases: u32) {
    run(cases, (scalar(), length(), several()), |(number, n, nrhs)| with_scalar!(number, check_cholesky(n, nrhs)));
}

fn qr_case<T: Scalar>(context: &Context, rows: usize, cols: usize) {
    check_qr::<T>(context, &Host::noise::<T>(rows, cols, 62));
}

fn qr_factors(cases: u32) {
    run(cases, (scalar(), length(), length()), |(number, rows, cols)| with_scalar!(number, qr_case(rows, cols)));
}

fn triangular_systems(cases: u32) {
    let kind = (
        prop::sample::select(&[Side::Left, Side::Right][..]),
        prop::sample::select(&[Triangle::Lower, Triangle::Upper][..]),
        op(),
        prop::sample::select(&[Diagonal::Stored, Diagonal::Unit][..]),
    );
    run(cases, (scalar(), length(), several(), kind), |(number, n, nrhs, kind)| {
        with_scalar!(number, check_triangle(n, nrhs, kind));
    });
}

/// A test with few cases, and one with many for `--long`.
macro_rules! properties {
    ($($property:ident, $few:ident, $many:ident;)*) => {$(
        #[test]
        fn $few() {
            $property(FEW);
        }

        #[test]
        #[ignore = "hundreds of shapes take minutes"]
        fn $many() {
            $property(MANY);
        }
    )*};
}

properties! {
    products, products_of_some_shapes, products_of_many_shapes;
    lu_factors, lu_of_some_shapes, lu_of_many_shapes;
    cholesky_factors, cholesky_of_some_orders, cholesky_of_many_orders;
    qr_factors, qr_of_some_shapes, qr_of_many_shapes;
    triangular_systems, triangular_systems_of_some_shapes, triangular_systems_of_many_shapes;
}
