//! Operations on small arrays in the memory of the host against the kernels that they stand for.

use crate::common::{Noise, capable};
use clinalg::ops::{self, Binary, Node, Reduction, Span, Transpose, Unary, host};
use clinalg::{Complex, Context, Dense, Precision, Real, Scalar, Vector};

const UNARY: [Unary; 20] = [
    Unary::Exp,
    Unary::Log,
    Unary::Sqrt,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Atan,
    Unary::Tanh,
    Unary::Floor,
    Unary::Ceil,
    Unary::Round,
    Unary::Fix,
    Unary::Sign,
    Unary::Negative,
    Unary::Abs,
    Unary::Expm1,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Asinh,
    Unary::Conjugate,
];
const BINARY: [Binary; 13] = [
    Binary::Plus,
    Binary::Minus,
    Binary::Times,
    Binary::Divide,
    Binary::Max,
    Binary::Min,
    Binary::Atan2,
    Binary::Hypot,
    Binary::Power,
    Binary::TimesReal,
    Binary::DivideReal,
    Binary::Mod,
    Binary::Rem,
];

/// Random numbers, among them zeros of both signs, infinities and NaN where `special`.
fn values<T: Scalar>(count: usize, seed: u64, special: bool) -> Vec<T> {
    let known = [0.0, -0.0, 1.0, -1.0, 2.5, -0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mut noise = Noise::new(seed);
    let mut part = || match noise.bits() {
        bits if special && bits % 4 == 0 => known[(bits >> 8) as usize % known.len()],
        bits => (bits >> 11) as f64 / (1u64 << 50) as f64 - 4.0,
    };
    let mut real = || T::Real::from_f64(part());
    (0..count).map(|_| T::from_parts(real(), real())).collect()
}

fn parts<T: Scalar>(values: &[T]) -> Vec<f64> {
    values.iter().flat_map(|v| [v.re().into_f64(), v.im().into_f64()]).collect()
}

fn epsilon<T: Scalar>() -> f64 {
    if T::PRECISION == Precision::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) }
}

/// Equal, NaN where NaN is and with the sign of zeros, up to `ulps`.
fn assert_alike<T: Scalar>(what: &str, got: &[T], want: &[T], ulps: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    let size = |v: &T| if v.has_finite_parts() { v.modulus().into_f64() } else { 0.0 };
    let want_sizes: Vec<f64> = want.iter().map(size).collect();
    for (k, (got, want)) in parts(got).into_iter().zip(parts(want)).enumerate() {
        let smallest = if T::PRECISION == Precision::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
        let alike = if got.is_nan() || want.is_nan() || got.is_infinite() || want.is_infinite() {
            got.is_nan() && want.is_nan() || got == want
        } else if ulps == 0.0 {
            got == want && got.is_sign_negative() == want.is_sign_negative()
        } else {
            // Of a complex number relative to its size.
            let size = want_sizes[k / 2].max(want.abs());
            (got - want).abs() <= ulps * epsilon::<T>() * size + smallest
        };
        assert!(alike, "{what}: part {k} is {got}, with the kernel {want}");
    }
}

fn on_device<T: Scalar>(context: &Context, values: &[T]) -> Vector<T> {
    Vector::from_slice(context, values).unwrap()
}

/// Calls a check for every type of values, on every device.
macro_rules! for_every_type {
    ($check:ident) => {
        for context in capable::<f32>() {
            $check::<f32>(context);
            $check::<Complex<f32>>(context);
        }
        for context in capable::<f64>() {
            $check::<f64>(context);
            $check::<Complex<f64>>(context);
        }
    };
}

fn same_elements<T: Scalar>(context: &Context) {
    let exact = T::PRECISION == Precision::F64 || context.device().correctly_rounded_divide_sqrt;
    let whole = (40, 33);
    for (own, other) in [(whole, whole), ((40, 1), (1, 33)), (whole, (1, 1))] {
        let (x, y) = (values::<T>(own.0 * own.1, 1, true), values::<T>(other.0 * other.1, 2, true));
        let (dx, dy) = (on_device(context, &x), on_device(context, &y));
        let compare = |what: String, node: Node<T>, ulps: f64| {
            let nodes = [Node::Input(0), Node::Input(1), node];
            let Some(got) = host::evaluate(&nodes, &[(own, &x), (other, &y)], whole).unwrap() else {
                return assert!(T::IS_COMPLEX, "{what} is for kernels only");
            };
            let want = ops::evaluate(context, &nodes, &[(own, &dx), (other, &dy)], whole).unwrap();
            assert_alike(&what, &got, &want.to_column_major().unwrap(), ulps);
        };
        for f in BINARY {
            let is_known = match f {
                Binary::TimesReal | Binary::DivideReal => T::IS_COMPLEX,
                f => !T::IS_COMPLEX || f.is_complex(),
            };
            let ulps = match f {
                Binary::Power => 20.0,
                Binary::Atan2 | Binary::Hypot => 8.0,
                Binary::Times | Binary::Divide if T::IS_COMPLEX => 8.0,
                Binary::Divide | Binary::DivideReal if !exact => 8.0,
                _ => 0.0,
            };
            if is_known {
                compare(format!("{f:?}"), Node::Two(f, 0, 1), ulps);
            }
        }
        // A kernel evaluates what has the shape of the result.
        for f in UNARY.into_iter().filter(|_| own == whole) {
            let ulps = match f {
                Unary::Floor | Unary::Ceil | Unary::Round | Unary::Fix => 0.0,
                Unary::Sign | Unary::Negative | Unary::Abs | Unary::Conjugate => 0.0,
                Unary::Sqrt if exact => 0.0,
                _ => 8.0,
            };
            if if T::IS_COMPLEX { f.is_complex() } else { f != Unary::Conjugate } {
                compare(format!("{f:?}"), Node::One(f, 0), ulps);
            }
        }
    }
}

#[test]
fn elements_on_the_host_are_those_of_the_kernels() {
    for_every_type!(same_elements);
}

#[test]
fn an_expression_longer_than_a_block_keeps_its_place() {
    let shape = (7, 301);
    let (row, column) = (values::<f64>(301, 3, false), values::<f64>(7, 4, false));
    let nodes = [
        Node::Input(0),
        Node::Input(1),
        Node::Number(2.0),
        Node::Two(Binary::Times, 0, 1),
        Node::Two(Binary::Plus, 3, 2),
    ];
    let got = host::evaluate(&nodes, &[((1, 301), &row), ((7, 1), &column)], shape).unwrap().unwrap();
    let want: Vec<f64> = (0..7 * 301).map(|k| row[k / 7] * column[k % 7] + 2.0).collect();
    assert_eq!(got, want);
    assert_eq!(host::evaluate::<f64>(&[Node::Input(0)], &[((0, 3), &[])], (0, 3)).unwrap(), Some(Vec::new()));
}

fn same_sums<T: Scalar>(context: &Context) {
    for n in [1, 7, 130, 3000] {
        let (x, y) = (values::<T>(n, 5, false), values::<T>(n, 6, false));
        let (dx, dy) = (on_device(context, &x), on_device(context, &y));
        let bound = 64.0 * n as f64 * epsilon::<T>();
        let close = |what: &str, got: T, want: T| {
            let difference = (got - want).modulus().into_f64();
            assert!(difference <= bound * 30.0, "{what} of {n}: {got}, with the kernel {want}");
        };
        close("sum", host::sum(&x), ops::sum(&dx).unwrap());
        close("dot", host::dot(true, &x, &y), ops::dot(&dx, &dy).unwrap());
        close("dotu", host::dot(false, &x, &y), ops::dotu(&dx, &dy).unwrap());
        for (what, got, want) in [
            ("norm1", host::norm1(&x), ops::norm1(&dx).unwrap()),
            ("norm2", host::norm2(&x), ops::norm2(&dx).unwrap()),
            ("norm_inf", host::norm_inf(&x), ops::norm_inf(&dx).unwrap()),
        ] {
            assert!((got - want).into_f64().abs() <= 64.0 * epsilon::<T>() * want.into_f64(), "{what}: {got}, {want}");
        }
    }
    let (large, small) = if T::PRECISION == Precision::F64 { (4e307, 2.3e-308) } else { (8e37, 1.2e-38) };
    for x in [vec![T::from_f64(large); 3], vec![T::from_f64(small); 5], values(50, 7, true)] {
        let dx = on_device(context, &x);
        assert_alike("norm2", &[host::norm2(&x)], &[ops::norm2(&dx).unwrap()], 8.0);
        assert_alike("norm_inf", &[host::norm_inf(&x)], &[ops::norm_inf(&dx).unwrap()], 8.0);
    }
    for sizes @ [inner, length, outer] in [[1, 5, 40], [40, 5, 1], [1, 3000, 2], [3, 700, 1], [2, 1, 3], [3, 0, 2]] {
        for special in [false, true] {
            let x = values::<T>(inner * length * outer, 8, special);
            let dx = on_device(context, &x);
            let mut out = Vector::zeros(context, inner * outer).unwrap();
            for join in [Reduction::Sum, Reduction::Product, Reduction::Max, Reduction::Min] {
                let is_extremum = matches!(join, Reduction::Max | Reduction::Min);
                // Products of many numbers leave the range, and sums of infinities and NaN of parts depend on the order.
                if (T::IS_COMPLEX && (is_extremum || special))
                    || (join == Reduction::Product && (length > 5 || special))
                {
                    continue;
                }
                ops::reduce_along(join, sizes, &dx, &mut out).unwrap();
                let (got, want) = (host::reduce_along(join, sizes, &x), out.to_vec().unwrap());
                let small = T::from_f64(if is_extremum || special { 0.0 } else { 4.0 * length as f64 });
                let lifted = |values: &[T]| values.iter().map(|&v| v + small).collect::<Vec<_>>();
                let ulps = if is_extremum { 0.0 } else { 2.0 * (length + 4) as f64 };
                if is_extremum {
                    // Which of two zeros counts depends on the order.
                    let plain = |values: &[T]| values.iter().map(|&v| v + T::zero()).collect::<Vec<_>>();
                    assert_alike("extremum", &plain(&got), &plain(&want), 0.0);
                } else {
                    assert_alike("reduction", &lifted(&got), &lifted(&want), ulps);
                }
            }
        }
    }
}

#[test]
fn reductions_on_the_host_are_those_of_the_kernels() {
    for_every_type!(same_sums);
}

fn same_parts<T: Scalar>(context: &Context) {
    let shape = (9, 5);
    let a = values::<T>(45, 9, true);
    let da = on_device(context, &a);
    let spans = [
        (Span::all(9), Span::of(&[2])),
        (Span::of(&[1, 3, 5]), Span::of(&[4, 0])),
        (Span::of(&[8, 0, 3]), Span::all(5)),
        (Span::of(&[7, 5, 3]), Span::of(&[1, 2])),
        (Span::of(&[2, 3, 4]), Span::of(&[3])),
    ];
    for (rows, cols) in spans {
        let count = rows.count() * cols.count();
        let mut out = Vector::zeros(context, count).unwrap();
        ops::take(shape, &da, rows, cols, &mut out).unwrap();
        assert_alike("take", &host::take(shape, &a, rows, cols).unwrap(), &out.to_vec().unwrap(), 0.0);
        for new in [values::<T>(count, 10, true), values::<T>(1, 11, false)] {
            let mut changed = on_device(context, &a);
            ops::put(shape, &mut changed, rows, cols, &on_device(context, &new)).unwrap();
            assert_alike("put", &host::put(shape, a.clone(), rows, cols, &new), &changed.to_vec().unwrap(), 0.0);
        }
    }
    assert_eq!(host::take(shape, &a, Span::of(&[9]), Span::all(5)), None);
    assert_eq!(host::take(shape, &a, Span::all(9), Span::of(&[0, 5])), None);
    let mut out = Vector::zeros(context, 45).unwrap();
    ops::transpose(shape, &da, &mut out).unwrap();
    assert_alike("transpose", &host::transpose(shape, &a, false), &out.to_vec().unwrap(), 0.0);
}

#[test]
fn parts_on_the_host_are_those_of_the_kernels() {
    for_every_type!(same_parts);
}

fn same_systems<T: Scalar>(context: &Context) {
    let (n, count) = (23, 3);
    let dense =
        |rows: usize, values: &[T]| Dense::from_column_major(context, rows, values.len() / rows, values).unwrap();
    let any = values::<T>(n * n, 12, false);
    let with = |keep: &dyn Fn(usize, usize) -> bool| -> Vec<T> {
        let element = |k: usize| match (k % n, k / n) {
            (i, j) if i == j => any[k] + T::from_f64(9.0),
            (i, j) if keep(i, j) => any[k],
            _ => T::zero(),
        };
        (0..n * n).map(element).collect()
    };
    let definite = host::multiply(n, n, &host::transpose((n, n), &any, true), &any);
    let b = values::<T>(n * count, 13, false);
    for a in [with(&|_, _| true), with(&|i, j| i > j), with(&|i, j| i < j), definite] {
        let got = host::multiply(n, n, &a, &b);
        let mut want = Dense::zeros(context, n, count).unwrap();
        ops::gemm(T::one(), Transpose::No, &dense(n, &a), Transpose::No, &dense(n, &b), T::zero(), &mut want).unwrap();
        for (got, want) in got.iter().zip(want.to_column_major().unwrap()) {
            assert!(
                (*got - want).modulus().into_f64() <= 1e4 * epsilon::<T>(),
                "product: {got}, with the kernel {want}"
            );
        }
        let (x, reciprocal) = host::left_divide(n, &a, &b).unwrap();
        let found = ops::left_divide(&dense(n, &a), &dense(n, &b)).unwrap();
        let known = found.reciprocal_condition.unwrap();
        assert!((reciprocal / known - 1.0).abs() < 0.5, "reciprocal condition {reciprocal}, of the device {known}");
        let largest = x.iter().map(|x| x.modulus().into_f64()).fold(0.0, f64::max);
        for (x, want) in x.iter().zip(found.x.to_column_major().unwrap()) {
            let difference = (*x - want).modulus().into_f64();
            assert!(difference <= 100.0 * epsilon::<T>() / known * largest, "solution: {x}, of the device {want}");
        }
    }
    assert_eq!(host::left_divide(2, &[1.0, 2.0, 2.0, 4.0].map(T::from_f64), &[T::one(); 2]), None);
    assert_eq!(host::left_divide(2, &[1.0, f64::NAN, 2.0, 4.0].map(T::from_f64), &[T::one(); 2]), None);
}

#[test]
fn systems_on_the_host_have_the_solutions_of_the_device() {
    for_every_type!(same_systems);
}
