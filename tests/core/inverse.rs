//! Inverses of dense matrices on every device and in both shapes.

use clinalg::solve::inverse_definite;
use clinalg::{Context, Dense, Error, Real};

/// B'B + I with the entries of B between -1 and 1, column by column.
fn definite(n: usize) -> Vec<f64> {
    let b = |i: usize, j: usize| ((i * 37 + j * 101 + i * j) % 199) as f64 / 99.0 - 1.0;
    let entry = |i: usize, j: usize| {
        let sum: f64 = (0..n).map(|k| b(k, i) * b(k, j)).sum();
        sum / n as f64 + if i == j { 1.0 } else { 0.0 }
    };
    (0..n * n).map(|k| entry(k % n, k / n)).collect()
}

fn product_is_the_identity<T: Real>(context: &Context) {
    for n in [0, 1, 2, 31, 32, 33, 63, 64, 65, 130] {
        let a = definite(n);
        let on_device: Vec<T> = a.iter().map(|&v| T::from_f64(v)).collect();
        let matrix = Dense::from_column_major(context, n, n, &on_device).unwrap();
        let inverse: Vec<f64> =
            inverse_definite(&matrix).unwrap().to_column_major().unwrap().into_iter().map(T::into_f64).collect();
        for i in 0..n {
            for j in 0..n {
                let sum: f64 = (0..n).map(|k| a[i + k * n] * inverse[k + j * n]).sum();
                let error = (sum - f64::from(u8::from(i == j))).abs();
                // The condition number is below 200 (|A| by its largest row sum, the smallest eigenvalue is at least 1).
                assert!(
                    error < 2000.0 * T::epsilon().into_f64(),
                    "{n}: {error:e} in ({i}, {j}), {:?}",
                    context.family()
                );
            }
        }
    }
}

fn indefinite_matrices_are_named<T: Real>(context: &Context) {
    let n = 70;
    let mut a = definite(n);
    a[66 + 66 * n] = -1.0;
    let values: Vec<T> = a.iter().map(|&v| T::from_f64(v)).collect();
    let matrix = Dense::from_column_major(context, n, n, &values).unwrap();
    match inverse_definite(&matrix) {
        Err(Error::Value { got, .. }) => assert!(got.contains("row 66"), "{got}"),
        other => panic!("{other:?}"),
    }
    let flat = Dense::<T>::zeros(context, 3, 2).unwrap();
    assert!(matches!(inverse_definite(&flat), Err(Error::Shape { .. })));
}

#[test]
fn products_with_the_inverse_are_the_identity() {
    crate::on_every_device!(product_is_the_identity);
}

#[test]
fn indefinite_matrices_are_refused() {
    crate::on_every_device!(indefinite_matrices_are_named);
}
