//! Expressions element by element in one kernel against the same operations on the host, and one after the other on the device.

use crate::common::{assert_close, assert_error, assert_same, capable, contexts, eps, noise};
use clinalg::ops::{Binary, Node, Unary, evaluate, fits_kernel, map, map2};
use clinalg::{Complex, Context, Precision, Real, Vector};

use Node::{Input, Number, One, Two};

fn device<T: Real>(context: &Context, values: &[T]) -> Vector<T> {
    Vector::from_slice(context, values).unwrap()
}

/// |x| sqrt(x^2 + y) - max(y, 2) / y, of which every operation is rounded as on the host.
fn exact<T: Real>() -> Vec<Node<T>> {
    vec![
        Input(0),
        Two(Binary::Times, 0, 0),
        Input(1),
        Two(Binary::Plus, 1, 2),
        One(Unary::Sqrt, 3),
        One(Unary::Abs, 0),
        Two(Binary::Times, 5, 4),
        Number(T::from_f64(2.0)),
        Two(Binary::Max, 2, 7),
        Two(Binary::Divide, 8, 2),
        Two(Binary::Minus, 6, 9),
    ]
}

fn host<T: Real>(x: T, y: T) -> T {
    let two = T::from_f64(2.0);
    x.abs() * (x * x + y).sqrt() - if y > two { y } else { two } / y
}

fn arrays<T: Real>() {
    for context in capable::<T>() {
        // OpenCL C allows 3 units in the last place for square roots in single precision, 2.5 for quotients.
        let is_exact = T::PRECISION == Precision::F64 || context.device().correctly_rounded_divide_sqrt;
        let compare = |what: &str, got: &[T], want: &[T]| match is_exact {
            true => assert_same(what, got, want),
            false => assert_close(what, got, want, |i| 8.0 * eps::<T>() * (want[i].into_f64().abs() + 10.0)),
        };
        for (rows, cols) in [(1, 1), (7, 1), (257, 3), (1000, 5)] {
            let (x, y) = (noise::<T>(rows * cols, 1), noise::<T>(rows * cols, 2));
            let y: Vec<T> = y.iter().map(|v| v.abs() + T::one()).collect();
            let (dx, dy) = (device(context, &x), device(context, &y));
            let shape = (rows, cols);
            let got = evaluate(context, &exact(), &[(shape, &dx), (shape, &dy)], shape).unwrap();
            let want: Vec<T> = x.iter().zip(&y).map(|(&x, &y)| host(x, y)).collect();
            compare("expression", &got.to_column_major().unwrap(), &want);

            // The first column of y for all columns, the first row of x for all rows.
            let row: Vec<T> = (0..cols).map(|j| x[j * rows]).collect();
            let (dr, dc) = (device(context, &row), device(context, &y[..rows]));
            let got = evaluate(context, &exact(), &[((1, cols), &dr), ((rows, 1), &dc)], shape).unwrap();
            let want: Vec<T> = (0..rows * cols).map(|e| host(row[e / rows], y[e % rows])).collect();
            compare("expanded", &got.to_column_major().unwrap(), &want);
        }
    }
}

#[test]
fn one_kernel_gives_the_bits_of_the_host() {
    arrays::<f64>();
    arrays::<f32>();
}

#[test]
fn functions_give_the_bits_of_single_calls() {
    for context in capable::<f64>() {
        let n = 1003;
        let (x, y) = (noise::<f64>(n, 3), noise::<f64>(n, 4));
        let (dx, dy) = (device(context, &x), device(context, &y));
        let nodes =
            [Input(0), One(Unary::Exp, 0), One(Unary::Sin, 1), Input(1), One(Unary::Tanh, 3), Two(Binary::Hypot, 2, 4)];
        let fused = evaluate(context, &nodes, &[((n, 1), &dx), ((n, 1), &dy)], (n, 1)).unwrap();
        let [mut a, mut b] = [0, 1].map(|_| Vector::zeros(context, n).unwrap());
        map(Unary::Exp, &dx, &mut a).unwrap();
        map(Unary::Sin, &a, &mut b).unwrap();
        map(Unary::Tanh, &dy, &mut a).unwrap();
        let mut single = Vector::zeros(context, n).unwrap();
        map2(Binary::Hypot, ((n, 1), &b), ((n, 1), &a), &mut single).unwrap();
        let got = fused.to_column_major().unwrap();
        assert_same("single calls", &got, &single.to_vec().unwrap());
        let want: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x.exp().sin().hypot(y.tanh())).collect();
        assert_close("host", &got, &want, |i| 16.0 * eps::<f64>() * (1.0 + want[i].abs()));
    }
}

/// x - y floor(x / y) and x - y trunc(x / y) of whole numbers, which are exact, and of halves; the special divisors as in Octave.
#[test]
fn remainders_have_the_sign_of_divisor_or_dividend() {
    let x = [7.0, -7.0, 7.0, -7.0, 6.0, 5.5, -5.5, 3.0, 0.0, -1.0];
    let y = [3.0, 3.0, -3.0, -3.0, 3.0, 2.0, 2.0, 0.0, 4.0, f64::INFINITY];
    let floored = [1.0, 2.0, -2.0, -1.0, 0.0, 1.5, 0.5, 3.0, 0.0, f64::NAN];
    let truncated = [1.0, -1.0, 1.0, -1.0, 0.0, 1.5, -1.5, f64::NAN, 0.0, f64::NAN];
    for context in capable::<f64>() {
        let (dx, dy) = (device(context, &x), device(context, &y));
        let shape = (x.len(), 1);
        for (f, want) in [(Binary::Mod, floored), (Binary::Rem, truncated)] {
            let nodes = [Input(0), Input(1), Two(f, 0, 1)];
            let got = evaluate(context, &nodes, &[(shape, &dx), (shape, &dy)], shape).unwrap();
            for (k, (got, want)) in got.to_column_major().unwrap().into_iter().zip(want).enumerate() {
                assert!(
                    got == want || (got.is_nan() && want.is_nan()),
                    "{f:?}({}, {}) is {got}, not {want}",
                    x[k],
                    y[k]
                );
            }
        }
    }
}

#[test]
fn functions_of_complex_numbers_are_those_of_the_host() {
    for context in capable::<f64>() {
        let n = 1003;
        let z: Vec<Complex<f64>> = noise::<f64>(n, 5)
            .into_iter()
            .zip(noise::<f64>(n, 6))
            .map(|(re, im)| Complex::new(3.0 * re, 3.0 * im))
            .collect();
        let dz = Vector::from_slice(context, &z).unwrap();
        type Function = fn(Complex<f64>) -> Complex<f64>;
        let functions: [(Unary, Function); 5] = [
            (Unary::Exp, |z| z.exp()),
            (Unary::Sqrt, |z| z.sqrt()),
            (Unary::Log, |z| z.ln()),
            (Unary::Sin, |z| z.sin()),
            (Unary::Cos, |z| z.cos()),
        ];
        for (f, host) in functions {
            let got = evaluate(context, &[Input(0), One(f, 0)], &[((n, 1), &dz)], (n, 1)).unwrap();
            for (got, &z) in got.to_column_major().unwrap().into_iter().zip(&z) {
                let want = host(z);
                assert!(
                    (got - want).norm() <= 32.0 * eps::<f64>() * (1.0 + want.norm()),
                    "{f:?}({z}) is {got}, not {want}"
                );
            }
        }
    }
}

#[test]
fn long_expressions_and_wrong_ones_are_refused() {
    // A chain as long as a kernel takes, and one longer.
    let chain = |count: usize| -> Vec<Node<f64>> {
        std::iter::once(Input(0)).chain((0..count - 1).map(|at| One(Unary::Negative, at))).collect()
    };
    assert!(fits_kernel(&chain(24)) && !fits_kernel(&chain(25)) && !fits_kernel::<f64>(&[]));
    // Seven results that are all needed at the end.
    let mut wide: Vec<Node<f64>> = (0..6).map(Input).collect();
    assert!(fits_kernel(&wide));
    wide.push(Number(1.0));
    wide.extend((0..6).map(|k| Two(Binary::Plus, if k == 0 { 6 } else { 6 + k }, k)));
    assert!(!fits_kernel(&wide));
    for context in contexts() {
        let x = Vector::<f32>::zeros(context, 3).unwrap();
        let run = |nodes: &[Node<f32>], shape| evaluate(context, nodes, &[((3, 1), &x)], shape);
        assert_error(run(&[Input(1)], (3, 1)), "clinalg:argument:value", "nodes");
        assert_error(run(&[One(Unary::Exp, 0)], (3, 1)), "clinalg:argument:value", "nodes");
        assert_error(run(&[Input(0), One(Unary::Conjugate, 0)], (3, 1)), "clinalg:argument:value", "nodes");
        assert_error(run(&[Input(0)], (2, 1)), "clinalg:argument:shape", "inputs");
        let z = Vector::<Complex<f32>>::zeros(context, 3).unwrap();
        let nodes = [Input(0), One(Unary::Tan, 0)];
        assert_error(evaluate(context, &nodes, &[((3, 1), &z)], (3, 1)), "clinalg:argument:value", "nodes");
    }
}
