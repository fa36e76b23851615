//! Factorisations of dense matrices in all four scalars: residuals, exact cases, errors, numbers of SciPy.

#[path = "factor/properties.rs"]
mod properties;

use crate::common::{Noise, contexts, has, takes};
use clinalg::ops::factor::{Diagonal, Side, Triangle};
use clinalg::ops::{self, Cholesky, Lu, Qr, Transpose};
use clinalg::{Complex, Context, Dense, Error, Precision, Real, Scalar};

type C = Complex<f64>;

const SIZES: [usize; 10] = [0, 1, 2, 31, 32, 33, 64, 100, 257, 1000];
const OPS: [Transpose; 3] = [Transpose::No, Transpose::Yes, Transpose::Conjugate];
const ZERO: C = C::new(0.0, 0.0);
const ONE: C = C::new(1.0, 0.0);

/// [`SIZES`]; the largest in double precision only, unless the long cases are asked for: the sums on the host take a while.
fn sizes<T: Scalar>() -> impl Iterator<Item = usize> {
    let all = clinalg_testing::long() || (T::PRECISION == Precision::F64 && !T::IS_COMPLEX);
    SIZES.into_iter().filter(move |&n| n < 1000 || all)
}

/// Runs a check on every device and family of kernels with the four scalars.
macro_rules! with_all_scalars {
    ($check:ident) => {
        for context in contexts() {
            if takes::<f32>(context) {
                $check::<f32>(context);
                $check::<Complex<f32>>(context);
            }
            if has::<f64>(context) {
                $check::<f64>(context);
                $check::<Complex<f64>>(context);
            }
        }
    };
}

/// Unit roundoff times two; a complex product has a relative error of up to 2 sqrt(2) of them (Higham, lemma 3.5).
fn eps<T: Scalar>() -> f64 {
    let real = crate::common::eps::<T::Real>();
    if T::IS_COMPLEX { 8.0_f64.sqrt() * real } else { real }
}

/// A column-major matrix of the host in double precision.
#[derive(Clone, Debug, PartialEq)]
struct Host {
    rows: usize,
    cols: usize,
    values: Vec<C>,
}

impl Host {
    fn build(rows: usize, cols: usize, value: impl Fn(usize, usize) -> C) -> Host {
        let values = (0..rows * cols).map(|e| value(e % rows, e / rows)).collect();
        Host { rows, cols, values }
    }

    fn new(rows: usize, cols: usize, value: impl Fn(usize, usize) -> f64) -> Host {
        Host::build(rows, cols, |i, j| C::from(value(i, j)))
    }

    fn identity(n: usize) -> Host {
        Host::new(n, n, |i, j| f64::from(i == j))
    }

    /// Numbers in [-1, 1) that every scalar holds exactly, with imaginary parts where `T` has them.
    fn noise<T: Scalar>(rows: usize, cols: usize, seed: u64) -> Host {
        let mut noise = Noise::new(seed);
        let mut part = || noise.value::<f32>().into_f64();
        let values = (0..rows * cols).map(|_| C::new(part(), if T::IS_COMPLEX { part() } else { 0.0 })).collect();
        Host { rows, cols, values }
    }

    /// Vectors that a matrix is compared with another one by: the unit vectors, or for a large one some random ones.
    fn probes(cols: usize) -> Host {
        if cols <= 64 { Host::identity(cols) } else { Host::noise::<C>(cols, 3, 99) }
    }

    fn of<T: Scalar>(matrix: &Dense<T>) -> Host {
        let wide = |v: T| C::new(v.re().into_f64(), v.im().into_f64());
        let values = matrix.to_column_major().unwrap().into_iter().map(wide).collect();
        Host { rows: matrix.rows(), cols: matrix.cols(), values }
    }

    fn upload<T: Scalar>(&self, context: &Context) -> Dense<T> {
        let narrow = |v: &C| T::from_parts(T::Real::from_f64(v.re), T::Real::from_f64(v.im));
        let values: Vec<T> = self.values.iter().map(narrow).collect();
        Dense::from_column_major(context, self.rows, self.cols, &values).unwrap()
    }

    fn at(&self, i: usize, j: usize) -> C {
        self.values[j * self.rows + i]
    }

    fn map(&self, f: impl Fn(usize, usize, C) -> C) -> Host {
        Host::build(self.rows, self.cols, |i, j| f(i, j, self.at(i, j)))
    }

    /// The moduli.
    fn abs(&self) -> Host {
        self.map(|_, _, v| C::from(v.norm()))
    }

    fn op(&self, op: Transpose) -> Host {
        match op {
            Transpose::No => self.clone(),
            Transpose::Yes => Host::build(self.cols, self.rows, |i, j| self.at(j, i)),
            Transpose::Conjugate => Host::build(self.cols, self.rows, |i, j| self.at(j, i).conj()),
        }
    }

    fn adjoint(&self) -> Host {
        self.op(Transpose::Conjugate)
    }

    fn times(&self, other: &Host) -> Host {
        assert_eq!(self.cols, other.rows);
        let mut product = Host::new(self.rows, other.cols, |_, _| 0.0);
        for j in 0..other.cols {
            let column = &mut product.values[j * self.rows..(j + 1) * self.rows];
            for (l, &factor) in other.values[j * other.rows..(j + 1) * other.rows].iter().enumerate() {
                if factor != ZERO {
                    let of_self = &self.values[l * self.rows..(l + 1) * self.rows];
                    column.iter_mut().zip(of_self).for_each(|(sum, v)| *sum += v * factor);
                }
            }
        }
        product
    }

    /// The first columns, zero above the diagonal.
    fn lower(&self, unit: bool) -> Host {
        Host::build(self.rows, self.rows.min(self.cols), |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => ZERO,
            std::cmp::Ordering::Equal if unit => ONE,
            _ => self.at(i, j),
        })
    }

    /// The first rows, zero below the diagonal.
    fn upper(&self) -> Host {
        Host::build(self.rows.min(self.cols), self.cols, |i, j| if i <= j { self.at(i, j) } else { ZERO })
    }

    /// Row i is row `order[i]`.
    fn reordered(&self, order: &[usize]) -> Host {
        Host::build(self.rows, self.cols, |i, j| self.at(order[i], j))
    }

    /// Fails unless every element is within `factor` times the bound of the other's.
    fn assert_close(&self, other: &Host, factor: f64, bound: &Host, what: &str) {
        assert_eq!((self.rows, self.cols), (other.rows, other.cols), "{what}");
        assert_eq!((self.rows, self.cols), (bound.rows, bound.cols), "{what}");
        for j in 0..self.cols {
            for i in 0..self.rows {
                let (got, want, bound) = (self.at(i, j), other.at(i, j), factor * bound.at(i, j).re);
                assert!((got - want).norm() <= bound, "{what} ({i}, {j}): {got:e}, not {want:e} to {bound:e}");
            }
        }
    }
}

/// Row i of P A is row `order[i]` of A.
fn order_of(rows: usize, pivots: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    pivots.iter().enumerate().for_each(|(k, &p)| order.swap(k, p));
    order
}

/// P A = L U to rounding, with multipliers of at most 1.
fn check_lu<T: Scalar>(context: &Context, a: &Host) -> Lu<T> {
    let lu = Lu::new(a.upload::<T>(context)).unwrap();
    let (factors, pivots) = (Host::of(lu.factors()), lu.pivots().unwrap());
    let (l, u) = (factors.lower(true), factors.upper());
    // Complex pivots are chosen by |re| + |im|.
    let most = if T::IS_COMPLEX { 2.0_f64.sqrt() } else { 1.0 };
    assert!(l.values.iter().all(|v| v.norm() <= most * (1.0 + 4.0 * eps::<T>())), "multipliers above {most}");
    let order = a.rows.min(a.cols);
    let what = format!("P A = L U, {} x {}, {context:?}", a.rows, a.cols);
    let x = Host::probes(a.cols);
    let left = a.reordered(&order_of(a.rows, &pivots)).times(&x);
    let size = l.abs().times(&u.abs().times(&x.abs()));
    // Higham, theorem 9.3; complex divisions by Smith's method take some more roundings.
    left.assert_close(&l.times(&u.times(&x)), (order + 4) as f64 * eps::<T>(), &size, &what);
    lu
}

/// Solutions of op(A) X = B to rounding, each with so many right-hand sides.
fn check_solutions<T: Scalar>(context: &Context, a: &Host, lu: &Lu<T>, ops: &[Transpose], nrhs: &[usize]) {
    let n = a.rows;
    let factors = Host::of(lu.factors());
    let order = order_of(n, &lu.pivots().unwrap());
    let mut back = vec![0; n];
    order.iter().enumerate().for_each(|(i, &from)| back[from] = i);
    for &op in ops {
        for &right in nrhs {
            let b = Host::noise::<T>(n, right, 7);
            let mut x = b.upload::<T>(context);
            lu.solve_op(op, &mut x).unwrap();
            let x = Host::of(&x);
            // |L| |U| |x|, or its transpose; Higham, theorem 9.4.
            let (l, u) = (factors.lower(true).abs(), factors.upper().abs());
            let size = match op {
                Transpose::No => l.times(&u.times(&x.abs())).reordered(&back),
                _ => u.adjoint().times(&l.adjoint().times(&x.abs().reordered(&order))),
            };
            let what = format!("op(A) X = B, {n}, {op:?}, {context:?}");
            a.op(op).times(&x).assert_close(&b, (3 * n + 6) as f64 * eps::<T>(), &size, &what);
        }
    }
}

fn lu<T: Scalar>(context: &Context) {
    for n in sizes::<T>() {
        let a = Host::noise::<T>(n, n, n as u64);
        let lu = check_lu::<T>(context, &a);
        if n == 0 {
            assert_eq!(lu.determinant().unwrap().value(), T::one());
        }
        check_solutions(context, &a, &lu, &OPS, if n < 1000 { &[1, 33] } else { &[1, 2] });
    }
    for (rows, cols) in [(100, 40), (40, 100), (700, 33), (33, 700), (5, 1), (1, 5)] {
        check_lu::<T>(context, &Host::noise::<T>(rows, cols, 11));
    }
}

#[test]
fn lu_and_its_solutions() {
    with_all_scalars!(lu);
}

fn exact_cases<T: Scalar>(context: &Context) {
    // By hand: the pivot is 3.
    let a = Host::new(2, 2, |i, j| [[1.0, 2.0], [3.0, 4.0]][i][j]);
    let lu = check_lu::<T>(context, &a);
    assert_eq!(lu.pivots().unwrap(), [1, 1]);
    let determinant = lu.determinant().unwrap().value();
    assert!((determinant + T::from_f64(2.0)).modulus().into_f64() < 8.0 * eps::<T>());
    // A permutation is factorised and solved without rounding.
    let n = 300;
    let shift = Host::new(n, n, |i, j| if j == (i + 7) % n { 2.0 } else { 0.0 });
    let lu = check_lu::<T>(context, &shift);
    let b = Host::new(n, 3, |i, j| (i + 3 * j) as f64);
    let x = Host::of(&lu.solve(&b.upload(context)).unwrap());
    assert_eq!(x, Host::build(n, 3, |i, j| b.at((i + n - 7) % n, j) / 2.0));
    assert_eq!(Host::of(&lu.inverse().unwrap()), shift.adjoint().map(|_, _, v| v / 4.0));
    // The shift by 7 is a cycle of 300 elements, which is odd.
    let determinant = lu.determinant().unwrap();
    assert_eq!((determinant.mantissa.re().into_f64(), determinant.exponent), (-0.5, 301));
    // Of equal candidates the first one, as in LAPACK.
    let ones = Host::new(260, 2, |i, j| if j == 0 { [1.0, -1.0][i % 2] } else { i as f64 });
    assert_eq!(Lu::new(ones.upload::<T>(context)).unwrap().pivots().unwrap()[0], 0);
}

#[test]
fn exact_cases_come_out_exactly() {
    with_all_scalars!(exact_cases);
}

/// Results of SciPy, by `tests/data/factor.py`.
fn numbers_of_scipy<T: Scalar>(context: &Context) {
    let fixture: serde_json::Value = serde_json::from_str(include_str!("data/factor.json")).unwrap();
    let case = &fixture[if T::IS_COMPLEX { "complex" } else { "real" }];
    let matrix = |name: &str| {
        let columns = case[name].as_array().unwrap();
        let parts = |v: &serde_json::Value| C::new(v[0].as_f64().unwrap(), v[1].as_f64().unwrap());
        let values: Vec<C> = columns.iter().flat_map(|column| column.as_array().unwrap().iter().map(parts)).collect();
        Host { rows: values.len() / columns.len(), cols: columns.len(), values }
    };
    let same = |got: &Host, name: &str| {
        let want = matrix(name);
        let largest = want.values.iter().map(|v| v.norm()).fold(0.0, f64::max);
        // The condition number of the matrices is below 100.
        got.assert_close(&want, 1000.0 * eps::<T>() * largest, &want.map(|_, _, _| ONE), name);
    };
    let a = matrix("a");
    let lu = Lu::new(a.upload::<T>(context)).unwrap();
    same(&Host::of(lu.factors()), "lu");
    let pivots: Vec<usize> = case["pivots"].as_array().unwrap().iter().map(|p| p.as_u64().unwrap() as usize).collect();
    assert_eq!(lu.pivots().unwrap(), pivots);
    same(&Host::of(&lu.solve(&matrix("b").upload(context)).unwrap()), "x");
    same(&Host::of(&ops::inverse(&a.upload::<T>(context)).unwrap()), "inverse");
    let determinant = ops::determinant(&a.upload::<T>(context)).unwrap().value();
    same(&Host::build(1, 1, |_, _| C::new(determinant.re().into_f64(), determinant.im().into_f64())), "determinant");
    let reciprocal = lu.reciprocal_condition().unwrap();
    let exact = case["reciprocal_condition"].as_f64().unwrap();
    // The estimate of the condition number is a lower bound.
    assert!((0.999 * exact..3.0 * exact).contains(&reciprocal), "{reciprocal} and {exact}");
    let cholesky = Cholesky::new(matrix("positive").upload::<T>(context)).unwrap();
    same(&Host::of(&cholesky.factor().unwrap()), "cholesky");
    same(&Host::of(&Qr::new(matrix("tall").upload::<T>(context)).unwrap().r().unwrap()), "r");
    let qr = Qr::new(matrix("tall").upload::<T>(context)).unwrap();
    same(&Host::of(&qr.solve(&matrix("tall_b").upload(context)).unwrap()), "least_squares");
}

#[test]
fn results_are_those_of_scipy() {
    with_all_scalars!(numbers_of_scipy);
}

fn singular<T: Scalar>(context: &Context) {
    for (n, at) in [(1, 0), (5, 2), (200, 131), (300, 0), (300, 299)] {
        // Column `at` is zero.
        let a = Host::noise::<T>(n, n, 3).map(|_, j, v| if j == at { ZERO } else { v });
        let lu = Lu::new(a.upload::<T>(context)).unwrap();
        assert_eq!(lu.singular_pivot(), Some(at));
        assert_eq!(lu.determinant().unwrap().value(), T::zero());
        assert_eq!(lu.reciprocal_condition().unwrap(), 0.0);
        let b = Host::noise::<T>(n, 1, 4).upload::<T>(context);
        let error = lu.solve(&b).unwrap_err();
        assert!(matches!(error, Error::Singular { pivot } if pivot == at), "{error}");
        assert!(error.to_string().contains(&format!("pivot {} ", at + 1)), "{error}");
        assert!(matches!(ops::solve(&a.upload::<T>(context), &b), Err(Error::Singular { .. })));
        assert!(matches!(ops::inverse(&a.upload::<T>(context)), Err(Error::Singular { .. })));
    }
}

#[test]
fn singular_matrices_are_named_with_their_pivot() {
    with_all_scalars!(singular);
}

fn not_finite<T: Scalar>(context: &Context) {
    for value in [f64::NAN, f64::INFINITY] {
        let a = Host::noise::<T>(150, 150, 5).map(|i, j, v| if (i, j) == (97, 60) { C::from(value) } else { v });
        let lu = Lu::new(a.upload::<T>(context)).unwrap();
        let x = lu.solve(&Host::noise::<T>(150, 1, 6).upload(context)).unwrap();
        assert!(Host::of(&x).values.iter().any(|v| v.is_nan()));
        assert!(lu.reciprocal_condition().unwrap() == 0.0);
    }
    let mut a = Host::identity(50);
    a.values[7 * 50 + 9] = C::from(f64::NAN);
    let r = Qr::new(a.upload::<T>(context)).unwrap().r().unwrap();
    assert!(Host::of(&r).values.iter().any(|v| v.is_nan()));
}

#[test]
fn what_is_not_finite_reaches_the_result() {
    with_all_scalars!(not_finite);
}

/// A = L L' and a solution, to rounding.
fn check_cholesky<T: Scalar>(context: &Context, n: usize, nrhs: usize) {
    // Positive definite, as its diagonal is larger than the sum of the others in its row.
    let noise = Host::noise::<T>(n, n, 9);
    let a = Host::build(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => noise.at(j, i).conj(),
        std::cmp::Ordering::Equal => C::from(2.0 * n as f64),
        std::cmp::Ordering::Greater => noise.at(i, j),
    });
    // What lies above the diagonal is not read.
    let given = a.map(|i, j, v| if i < j { C::from(f64::NAN) } else { v });
    let cholesky = Cholesky::new(given.upload::<T>(context)).unwrap();
    let l = Host::of(&cholesky.factor().unwrap());
    let x = Host::probes(n);
    let size = |x: &Host| l.abs().times(&l.adjoint().abs().times(&x.abs()));
    let what = format!("{n} {context:?}");
    // Higham, theorems 10.3 and 10.4.
    let product = l.times(&l.adjoint().times(&x));
    product.assert_close(&a.times(&x), (n + 6) as f64 * eps::<T>(), &size(&x), &format!("L L' {what}"));
    let b = Host::noise::<T>(n, nrhs, 10);
    let x = Host::of(&cholesky.solve(&b.upload(context)).unwrap());
    a.times(&x).assert_close(&b, (3 * n + 6) as f64 * eps::<T>(), &size(&x), &format!("solve {what}"));
}

fn cholesky<T: Scalar>(context: &Context) {
    for n in sizes::<T>() {
        check_cholesky::<T>(context, n, 5);
    }
    let inverse = Host::of(
        &Cholesky::new(Host::identity(70).map(|_, _, v| 4.0 * v).upload::<T>(context)).unwrap().inverse().unwrap(),
    );
    assert_eq!(inverse, Host::identity(70).map(|_, _, v| 0.25 * v));
}

#[test]
fn cholesky_and_its_solutions() {
    with_all_scalars!(cholesky);
}

fn indefinite<T: Scalar>(context: &Context) {
    for (n, minor) in [(1, 1), (40, 33), (100, 1), (257, 257), (600, 550)] {
        let a = Host::new(n, n, |i, j| {
            if i != j {
                0.0
            } else if i + 1 == minor {
                -1.0
            } else {
                2.0
            }
        });
        let error = Cholesky::new(a.upload::<T>(context)).unwrap_err();
        assert!(matches!(error, Error::NotPositiveDefinite { minor: found } if found == minor), "{error}");
    }
    let a = Host::new(50, 50, |i, j| {
        if i != j {
            0.0
        } else if i == 20 {
            f64::NAN
        } else {
            1.0
        }
    });
    assert!(matches!(Cholesky::new(a.upload::<T>(context)), Err(Error::NotPositiveDefinite { minor: 21 })));
}

#[test]
fn indefinite_matrices_are_named_with_their_minor() {
    with_all_scalars!(indefinite);
}

type Kind = (Side, Triangle, Transpose, Diagonal);

/// op(A) X = B or X op(A) = B to rounding, with `other` right-hand sides.
fn check_triangle<T: Scalar>(context: &Context, n: usize, other: usize, (side, triangle, op, diagonal): Kind) {
    // Small beside the diagonal, so that solutions do not grow.
    let full = Host::noise::<T>(n, n, 20).map(|i, j, v| if i == j { 2.0 + v } else { v / 128.0 });
    let full = Host::of(&full.upload::<T>(context));
    let read = |i: usize, j: usize| match triangle {
        Triangle::Lower => i > j || i == j && diagonal == Diagonal::Stored,
        Triangle::Upper => i < j || i == j && diagonal == Diagonal::Stored,
    };
    let given = full.map(|i, j, v| if read(i, j) { v } else { C::from(f64::NAN) });
    let zeros = |i, j, v| match read(i, j) {
        true => v,
        false if i == j => ONE,
        false => ZERO,
    };
    let t = full.map(zeros).op(op);
    let (rows, cols) = if side == Side::Left { (n, other) } else { (other, n) };
    let b = Host::noise::<T>(rows, cols, 21);
    let mut x = b.upload::<T>(context);
    ops::solve_triangular(side, triangle, op, diagonal, &given.upload(context), &mut x).unwrap();
    let x = Host::of(&x);
    let (product, size) = match side {
        Side::Left => (t.times(&x), t.abs().times(&x.abs())),
        Side::Right => (x.times(&t), x.abs().times(&t.abs())),
    };
    let what = format!("{n} {side:?} {triangle:?} {op:?} {diagonal:?} {context:?}");
    product.assert_close(&b, (n + 4) as f64 * eps::<T>(), &size, &what);
}

fn triangles<T: Scalar>(context: &Context) {
    for (n, other) in [(0, 3), (1, 1), (2, 5), (31, 9), (32, 1), (33, 64), (100, 7)] {
        for side in [Side::Left, Side::Right] {
            for triangle in [Triangle::Lower, Triangle::Upper] {
                for (op, diagonal) in OPS.into_iter().flat_map(|op| [(op, Diagonal::Stored), (op, Diagonal::Unit)]) {
                    check_triangle::<T>(context, n, other, (side, triangle, op, diagonal));
                }
            }
        }
    }
    let a = Host::new(40, 40, |i, j| if i == j && i != 35 { 1.0 } else { 0.0 }).upload::<T>(context);
    let mut b = Host::noise::<T>(40, 2, 1).upload::<T>(context);
    let solve =
        |diagonal, b: &mut Dense<T>| ops::solve_triangular(Side::Left, Triangle::Lower, Transpose::No, diagonal, &a, b);
    assert!(matches!(solve(Diagonal::Stored, &mut b), Err(Error::Singular { pivot: 35 })));
    solve(Diagonal::Unit, &mut b).unwrap();
}

#[test]
fn triangular_systems_of_every_kind() {
    with_all_scalars!(triangles);
}

fn condition<T: Scalar>(context: &Context) {
    // The 1-norm condition number of a diagonal matrix is that of its entries.
    let n = 70;
    let a = Host::new(n, n, |i, j| {
        if i != j {
            0.0
        } else if i == 3 {
            1.0 / 1024.0
        } else {
            2.0
        }
    });
    let reciprocal = Lu::new(a.upload::<T>(context)).unwrap().reciprocal_condition().unwrap();
    assert!((reciprocal * 2048.0 - 1.0).abs() <= n as f64 * eps::<T>(), "{reciprocal:e}");
    let reciprocal = Lu::new(Host::identity(n).upload::<T>(context)).unwrap().reciprocal_condition().unwrap();
    assert!((reciprocal - 1.0).abs() <= n as f64 * eps::<T>(), "{reciprocal:e}");
    if T::PRECISION == Precision::F64 {
        let hilbert = |n| Host::new(n, n, |i, j| 1.0 / (i + j + 1) as f64);
        // 3.387e10 for n = 8: Higham, section 28.1.
        let reciprocal = Lu::new(hilbert(8).upload::<T>(context)).unwrap().reciprocal_condition().unwrap();
        assert!((1.0 / reciprocal / 3.387e10 - 1.0).abs() < 1e-3, "{reciprocal:e}");
        check_lu::<T>(context, &hilbert(12));
        let reciprocal = Lu::new(hilbert(20).upload::<T>(context)).unwrap().reciprocal_condition().unwrap();
        assert!(reciprocal < 1e-16, "{reciprocal:e}");
    }
}

#[test]
fn condition_numbers_of_known_matrices() {
    with_all_scalars!(condition);
}

fn graded<T: Scalar>(context: &Context) {
    // Rows from 1 down to 2^-60: every equation is solved to its own size.
    let n = 100;
    let base = Host::noise::<T>(n, n, 30).map(|i, j, v| if i == j { 4.0 + v } else { v / 128.0 });
    let grade = |i: usize| 0.5_f64.powi((60 * i / n) as i32);
    let a = Host::of(&base.map(|i, _, v| v * grade(i)).upload::<T>(context));
    let b = Host::new(n, 1, |i, _| grade(i));
    let x = Host::of(&Lu::new(a.upload::<T>(context)).unwrap().solve(&b.upload(context)).unwrap());
    let size = a.abs().times(&x.abs()).map(|i, _, v| v + grade(i));
    a.times(&x).assert_close(&b, 4.0 * n as f64 * eps::<T>(), &size, "graded");
    check_lu::<T>(context, &a.adjoint());
}

#[test]
fn graded_matrices_are_solved_row_by_row() {
    with_all_scalars!(graded);
}

#[test]
fn shapes_that_do_not_fit_are_errors() {
    for context in contexts() {
        let matrix = |rows, cols| Dense::<f32>::zeros(context, rows, cols).unwrap();
        assert!(matches!(Cholesky::new(matrix(3, 4)), Err(Error::Shape { argument: "a", .. })));
        assert!(matches!(ops::solve(&matrix(3, 4), &matrix(3, 1)), Err(Error::Shape { argument: "a", .. })));
        assert!(matches!(ops::solve(&matrix(3, 3), &matrix(4, 1)), Err(Error::Shape { argument: "b", .. })));
        assert!(matches!(ops::determinant(&matrix(3, 4)), Err(Error::Shape { argument: "a", .. })));
    }
}

/// |x| of each column.
fn column_norms(a: &Host) -> Vec<f64> {
    (0..a.cols).map(|j| (0..a.rows).map(|i| a.at(i, j).norm()).fold(0.0, f64::hypot)).collect()
}

/// A = Q R and Q'Q = 1 to rounding; R.
fn check_qr<T: Scalar>(context: &Context, a: &Host) -> Host {
    let qr = Qr::new(a.upload::<T>(context)).unwrap();
    let (q, r) = (Host::of(&qr.q().unwrap()), Host::of(&qr.r().unwrap()));
    let what = format!("{} x {} {context:?}", a.rows, a.cols);
    // Higham, theorems 19.4 and 19.13, with a constant of 4.
    let unit = 4.0 * (a.rows.max(1) as f64).sqrt() * (a.cols as f64 + 4.0) * eps::<T>();
    let bound = |x: &Host| {
        let norms = Host { rows: 1, cols: a.cols, values: column_norms(a).into_iter().map(C::from).collect() };
        let of_columns = norms.times(&x.abs());
        Host::build(a.rows, x.cols, |_, j| of_columns.at(0, j))
    };
    let x = Host::probes(a.cols);
    q.times(&r.times(&x)).assert_close(&a.times(&x), unit, &bound(&x), &format!("Q R {what}"));
    let x = Host::probes(q.cols);
    let size = column_norms(&x);
    let size = Host::build(q.cols, x.cols, |_, j| C::from(size[j]));
    q.adjoint().times(&q.times(&x)).assert_close(&x, unit, &size, &format!("Q' Q {what}"));
    // Q' Q C = C.
    let mut c = a.upload::<T>(context);
    qr.apply_q(Transpose::No, &mut c).unwrap();
    qr.apply_q(Transpose::Conjugate, &mut c).unwrap();
    let norms = column_norms(a);
    let size = Host::build(a.rows, a.cols, |_, j| C::from(norms[j]));
    Host::of(&c).assert_close(a, 2.0 * unit, &size, &format!("Q' Q C {what}"));
    r
}

fn qr<T: Scalar>(context: &Context) {
    for n in SIZES.into_iter().filter(|&n| n < 1000) {
        check_qr::<T>(context, &Host::noise::<T>(n, n, n as u64 + 1));
    }
    for (rows, cols) in [(100, 40), (40, 100), (1500, 70), (33, 200), (5, 1), (1, 5), (7, 0)] {
        check_qr::<T>(context, &Host::noise::<T>(rows, cols, 11));
    }
    // Columns of very different sizes, none of whose squares may overflow or vanish.
    let largest = if T::PRECISION == Precision::F32 { 120 } else { 1000 };
    let graded = Host::noise::<T>(90, 30, 12).map(|_, j, v| v * 2.0_f64.powi(largest / 15 * (j as i32 - 15)));
    check_qr::<T>(context, &graded);
    // By hand: the reflection of (3, 4) has beta = -5.
    let r = check_qr::<T>(context, &Host::new(2, 1, |i, _| [3.0, 4.0][i]));
    assert!((r.at(0, 0) + 5.0).norm() < 10.0 * eps::<T>());
    // Nothing below the diagonal: no reflection, as in LAPACK.
    let r = check_qr::<T>(context, &Host::new(40, 40, |i, j| if i <= j { 1.0 + i as f64 } else { 0.0 }));
    assert!((0..40).all(|i| r.at(i, i) == C::from(1.0 + i as f64)));
}

#[test]
fn qr_and_its_factors() {
    with_all_scalars!(qr);
}

fn least_squares<T: Scalar>(context: &Context) {
    let (rows, cols) = (150, 20);
    let a = Host::noise::<T>(rows, cols, 40);
    let b = Host::noise::<T>(rows, 3, 41);
    let x = Host::of(&Qr::new(a.upload::<T>(context)).unwrap().solve(&b.upload(context)).unwrap());
    let product = a.times(&x);
    let residual = b.map(|i, j, v| v - product.at(i, j));
    // The residual is orthogonal to the columns of A.
    let (of_a, of_r) = (column_norms(&a), column_norms(&residual));
    let orthogonal = a.adjoint().times(&residual);
    let size = orthogonal.map(|i, j, _| C::from(of_a[i] * of_r[j]));
    orthogonal.assert_close(&orthogonal.map(|_, _, _| ZERO), 40.0 * cols as f64 * eps::<T>(), &size, "A' r");
    let singular = a.map(|_, j, v| if j == 7 { ZERO } else { v });
    let qr = Qr::new(singular.upload::<T>(context)).unwrap();
    assert!(matches!(qr.solve(&b.upload(context)), Err(Error::Singular { pivot: 7 })));
    assert!(matches!(qr.apply_q(Transpose::Yes, &mut b.upload(context)), Err(Error::Value { argument: "op", .. })));
    let wide = Qr::new(a.adjoint().upload::<T>(context)).unwrap();
    assert!(matches!(wide.solve(&b.upload(context)), Err(Error::Shape { argument: "a", .. })));
}

#[test]
fn least_squares_leave_an_orthogonal_residual() {
    with_all_scalars!(least_squares);
}

/// A = U V has the solution of smallest norm X = A' W of A X = A A' W.
fn least_norm<T: Scalar>(context: &Context) {
    for (rows, cols, rank) in
        [(6, 3, 1), (3, 6, 2), (60, 20, 7), (20, 60, 7), (33, 33, 5), (300, 100, 40), (100, 130, 60), (50, 8, 8)]
    {
        let product = Host::noise::<T>(rows, rank, 41).times(&Host::noise::<T>(rank, cols, 43));
        let a = Host::of(&product.upload::<T>(context));
        let expected = a.adjoint().times(&Host::noise::<T>(rows, 2, 47));
        let b = a.times(&expected);
        let found = ops::least_squares(&a.upload::<T>(context), &b.upload::<T>(context)).unwrap();
        assert_eq!(found.rank, rank, "{rows} x {cols}, tolerance {:e}", found.tolerance);
        let x = Host::of(&found.x);
        let largest = |m: &Host| m.values.iter().map(|v| v.norm()).fold(0.0, f64::max);
        let error = largest(&x.map(|i, j, v| v - expected.at(i, j))) / largest(&expected);
        // The condition numbers of the factors are at most some tens, that of A their product.
        assert!(error <= 2000.0 * rank as f64 * eps::<T>(), "{rows} x {cols} of rank {rank}: {error:e}");
    }
    let zero = Host::new(4, 2, |_, _| 0.0);
    let found = ops::least_squares(&zero.upload::<T>(context), &Host::identity(4).upload::<T>(context)).unwrap();
    assert_eq!((found.rank, Host::of(&found.x)), (0, Host::new(2, 4, |_, _| 0.0)));
    let empty =
        ops::least_squares(&Dense::<T>::zeros(context, 3, 0).unwrap(), &Dense::zeros(context, 3, 1).unwrap()).unwrap();
    assert_eq!((empty.x.rows(), empty.x.cols(), empty.rank), (0, 1, 0));
}

#[test]
fn rank_deficient_least_squares_give_the_minimum_norm_solution() {
    with_all_scalars!(least_norm);
}

/// Reciprocal condition numbers of each structure.
fn divisions<T: Scalar>(context: &Context) {
    let n = 40;
    let b = Host::identity(n).upload::<T>(context);
    let scale = |i: usize| 2.0_f64.powi(-((i % 8) as i32));
    for (name, matrix) in [
        ("lower", Host::new(n, n, |i, j| if i >= j { scale(j) } else { 0.0 })),
        ("upper", Host::new(n, n, |i, j| if i <= j { scale(j) } else { 0.0 })),
        ("Hermitian", Host::new(n, n, |i, j| if i == j { 2.0 } else { -f64::from(i.abs_diff(j) == 1) })),
        ("square", Host::new(n, n, |i, j| f64::from(i == (j + 1) % n) * scale(j) + 0.01)),
    ] {
        let found = ops::left_divide(&matrix.upload::<T>(context), &b).unwrap();
        let norm1 = |m: &Host| (0..n).map(|j| (0..n).map(|i| m.at(i, j).norm()).sum::<f64>()).fold(0.0, f64::max);
        let exact = 1.0 / norm1(&matrix) / norm1(&Host::of(&found.x));
        let estimate = found.reciprocal_condition.unwrap();
        assert!((exact * 0.99..=exact * 3.0).contains(&estimate), "{name}: {estimate:e}, exact {exact:e}");
        assert_eq!((found.rank, found.tolerance), (n, 0.0));
    }
}

#[test]
fn left_divide_estimates_the_condition_of_every_structure() {
    with_all_scalars!(divisions);
}
