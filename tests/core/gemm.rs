//! Products of dense matrices against sums in plain Rust.

use crate::common::{Noise, capable, contexts, single};
use clinalg::ops::{self, Transpose};
use clinalg::{Complex, Context, Dense, Error, KernelFamily, Precision, Real, Scalar};

type C = Complex<f64>;

/// Each form of A and of B; for real numbers the conjugate transpose is the transpose.
const PAIRS: [[Transpose; 2]; 6] = [
    [Transpose::No, Transpose::No],
    [Transpose::Yes, Transpose::No],
    [Transpose::No, Transpose::Yes],
    [Transpose::Conjugate, Transpose::Yes],
    [Transpose::No, Transpose::Conjugate],
    [Transpose::Conjugate, Transpose::Conjugate],
];

/// A matrix of the host whose op has so many rows and columns.
struct Operand<T> {
    op: Transpose,
    rows: usize,
    cols: usize,
    values: Vec<T>,
}

/// Numbers in [-1, 1), with imaginary parts where `T` has them.
fn noise<T: Scalar>(n: usize, seed: u64) -> Vec<T> {
    let mut noise = Noise::new(seed);
    (0..n).map(|_| T::from_parts(noise.value(), noise.value())).collect()
}

fn wide<T: Scalar>(v: T) -> C {
    C::new(v.re().into_f64(), v.im().into_f64())
}

fn narrow<T: Scalar>(v: C) -> T {
    T::from_parts(T::Real::from_f64(v.re), T::Real::from_f64(v.im))
}

/// Unit roundoff times two; a complex product has a relative error of up to 2 sqrt(2) of them (Higham, lemma 3.5).
fn eps<T: Scalar>() -> f64 {
    let real = crate::common::eps::<T::Real>();
    if T::IS_COMPLEX { 8.0_f64.sqrt() * real } else { real }
}

impl<T: Scalar> Operand<T> {
    fn new(op: Transpose, rows: usize, cols: usize, seed: u64) -> Operand<T> {
        let (rows, cols) = if op == Transpose::No { (rows, cols) } else { (cols, rows) };
        Operand { op, rows, cols, values: noise(rows * cols, seed) }
    }

    fn at(&self, i: usize, j: usize) -> C {
        let (i, j) = if self.op == Transpose::No { (i, j) } else { (j, i) };
        let value = wide(self.values[j * self.rows + i]);
        if self.op == Transpose::Conjugate { value.conj() } else { value }
    }

    fn upload(&self, context: &Context) -> Dense<T> {
        Dense::from_column_major(context, self.rows, self.cols, &self.values).unwrap()
    }
}

fn check<T: Scalar>(context: &Context, [m, n, k]: [usize; 3], op_a: Transpose, op_b: Transpose, alpha: C, beta: C) {
    let (a, b) = (Operand::<T>::new(op_a, m, k, 1), Operand::<T>::new(op_b, k, n, 2));
    let (alpha, beta) = (narrow::<T>(alpha), narrow::<T>(beta));
    let zero = T::zero();
    // Where beta is 0, C must not be read.
    let start: Vec<T> = if beta == zero { vec![T::from_f64(f64::NAN); m * n] } else { noise(m * n, 3) };
    let mut c = Dense::from_column_major(context, m, n, &start).unwrap();
    ops::gemm(alpha, op_a, &a.upload(context), op_b, &b.upload(context), beta, &mut c).unwrap();
    let got = c.to_column_major().unwrap();
    for j in 0..n {
        for i in 0..m {
            let (mut sum, mut size) = (C::from(0.0), 0.0);
            for l in 0..k {
                let term = a.at(i, l) * b.at(l, j);
                sum += term;
                size += term.norm();
            }
            let before = if beta == zero { C::from(0.0) } else { wide(beta) * wide(start[j * m + i]) };
            // k products, k sums, two for alpha and beta; Higham, section 3.1.
            let bound = (k + 4) as f64 * eps::<T>() * (wide(alpha).norm() * size + before.norm());
            let (got, want) = (wide(got[j * m + i]), wide(alpha) * sum + before);
            let what = format!("{m} x {n} x {k} {op_a:?} {op_b:?} ({i}, {j}), {context:?}");
            assert!((got - want).norm() <= bound, "{what}: {got:e}, not {want:e}");
        }
    }
}

fn all_shapes<T: Scalar>(context: &Context) {
    let sides = [0, 1, 2, 33, 64];
    let (one, zero) = (C::from(1.0), C::from(0.0));
    for m in sides {
        for n in sides {
            for k in sides {
                check::<T>(context, [m, n, k], Transpose::No, Transpose::No, one, zero);
            }
        }
    }
    let pairs = if T::IS_COMPLEX { &PAIRS[..] } else { &PAIRS[..4] };
    // Each pair is another program. Without the long cases every other one in single precision, the others in double, and the
    // other way round in the other family of kernels.
    let all = clinalg_testing::long();
    let turn = usize::from(T::PRECISION == Precision::F64) + usize::from(context.family() == KernelFamily::Gpu);
    for (_, &[op_a, op_b]) in pairs.iter().enumerate().filter(|(k, _)| all || (k + turn).is_multiple_of(2)) {
        for shape in [[1, 1, 1], [32, 33, 31], [65, 130, 17], [3, 100, 257]] {
            check::<T>(context, shape, op_a, op_b, C::new(-1.5, 0.75), C::new(0.5, -2.0));
        }
        check::<T>(context, [100, 33, 65], op_a, op_b, one, zero);
    }
    check::<T>(context, [70, 66, 1000], Transpose::No, Transpose::Yes, one, one);
}

#[test]
fn products_of_any_shape_in_single_precision() {
    if single() {
        capable::<f32>().for_each(all_shapes::<f32>);
    }
}

#[test]
fn products_of_any_shape_in_double_precision() {
    capable::<f64>().for_each(all_shapes::<f64>);
}

#[test]
fn products_of_any_shape_in_complex_single_precision() {
    if single() {
        capable::<f32>().for_each(all_shapes::<Complex<f32>>);
    }
}

#[test]
fn products_of_any_shape_in_complex_double_precision() {
    capable::<f64>().for_each(all_shapes::<Complex<f64>>);
}

#[test]
fn sizes_that_disagree_are_errors() {
    for context in contexts() {
        let matrix = |rows, cols| Dense::<f32>::zeros(context, rows, cols).unwrap();
        let run = |a: (usize, usize), op, b: (usize, usize), c: (usize, usize)| {
            ops::gemm(1.0, op, &matrix(a.0, a.1), Transpose::No, &matrix(b.0, b.1), 0.0, &mut matrix(c.0, c.1))
        };
        for (result, which) in [
            (run((3, 4), Transpose::No, (3, 5), (3, 5)), "b"),
            (run((3, 4), Transpose::Yes, (4, 5), (4, 5)), "b"),
            (run((3, 4), Transpose::No, (4, 5), (4, 5)), "c"),
            (run((3, 4), Transpose::No, (4, 5), (3, 4)), "c"),
        ] {
            let Err(Error::Shape { argument, .. }) = result else { panic!("{result:?}") };
            assert_eq!(argument, which);
        }
    }
}
