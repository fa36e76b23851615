//! The code paths on a CPU that depend on size and structure: products by runs of rows, outputs written by non-temporal stores. On
//! every device, with both kernel families, against the sequential oracle.

use clinalg::CsrParts;
use clinalg::{Csr, Real, Vector, ops};
use clinalg_reference::vector;

use crate::common::{Noise, capable, noise, oracle};

/// A matrix whose rows have the diagonals `shifts`, but for every `gap`-th row, which has one entry only.
fn stencil<T: Real>(rows: usize, shifts: &[isize], gap: usize) -> CsrParts<T> {
    let values = noise(rows * shifts.len(), 11);
    let mut entries = Vec::new();
    for i in 0..rows {
        for (k, &shift) in shifts.iter().enumerate() {
            let j = i as isize + shift;
            if (0..rows as isize).contains(&j) && (i % gap != gap - 1 || shift == 0) {
                entries.push((i, j as usize, values[i * shifts.len() + k]));
            }
        }
    }
    CsrParts::from_triplets(rows, rows, &entries).unwrap()
}

/// max |a - b| <= tolerance eps max |b|.
fn assert_close<T: Real>(a: &[T], b: &[T], tolerance: f64, what: &str) {
    let top = b.iter().map(|v| v.into_f64().abs()).fold(0.0, f64::max);
    let worst = a.iter().zip(b).map(|(a, b)| (a.into_f64() - b.into_f64()).abs()).fold(0.0, f64::max);
    assert!(
        worst <= tolerance * T::epsilon().into_f64() * top,
        "{what}: differs by {worst:e} where the largest is {top:e}"
    );
}

fn products<T: Real>() {
    let all = [-40_isize, -9, -3, -2, -1, 0, 1, 2, 3, 9, 40];
    for context in capable::<T>() {
        for width in 1..=all.len() {
            for (rows, gap) in [(1, 7), (97, 50), (1000, 64), (1000, 1001)] {
                // Diagonals around the main one.
                let first = (all.len() - width) / 2;
                let parts = stencil::<T>(rows, &all[first..first + width], gap);
                let a = Csr::from_parts(context, &parts).unwrap();
                let (x, start) = (noise::<T>(rows, 3), noise::<T>(rows, 4));
                for (alpha, beta) in [(1.0, 0.0), (-0.5, 2.0)] {
                    let (alpha, beta) = (T::from_f64(alpha), T::from_f64(beta));
                    let mut expected = start.clone();
                    oracle(&parts).mv(alpha, &x, beta, &mut expected);
                    let mut y = Vector::from_slice(context, &start).unwrap();
                    ops::mv(alpha, &a, &Vector::from_slice(context, &x).unwrap(), beta, &mut y).unwrap();
                    // At most 11 products and their sum: 8 roundings of values not larger than 8 times the result's.
                    assert_close(&y.to_vec().unwrap(), &expected, 16.0, &format!("{width} diagonals, {rows} rows"));

                    let mut expected = start.clone();
                    oracle(&parts).mv_transposed(alpha, &x, beta, &mut expected);
                    let mut y = Vector::from_slice(context, &start).unwrap();
                    ops::mv_transposed(alpha, &a, &Vector::from_slice(context, &x).unwrap(), beta, &mut y).unwrap();
                    assert_close(&y.to_vec().unwrap(), &expected, 16.0, &format!("transposed, {width} diagonals"));
                }
            }
        }
    }
}

#[test]
fn products_by_runs_of_rows_f64() {
    products::<f64>();
}

#[test]
fn products_by_runs_of_rows_f32() {
    if crate::common::single() {
        products::<f32>();
    }
}

fn gathers<T: Real>() {
    // A vector beyond the caches of a core; rows of 0 to 12 entries, the last ones short.
    let (rows, cols) = (3001, 600_000);
    for context in capable::<T>() {
        for last in [0, 1, 5] {
            let mut noise = Noise::new(7);
            let mut entries = Vec::new();
            for i in 0..rows {
                let length = if i + 1 == rows { last } else { noise.below(13) };
                entries.extend((0..length).map(|_| (i, noise.below(cols), noise.value())));
            }
            let parts = CsrParts::from_triplets(rows, cols, &entries).unwrap();
            let a = Csr::from_parts(context, &parts).unwrap();
            let x = crate::common::noise::<T>(cols, 3);
            let mut expected = vec![T::zero(); rows];
            oracle(&parts).mv(T::one(), &x, T::zero(), &mut expected);
            let mut y = Vector::filled(context, rows, T::nan()).unwrap();
            ops::mv(T::one(), &a, &Vector::from_slice(context, &x).unwrap(), T::zero(), &mut y).unwrap();
            assert_close(&y.to_vec().unwrap(), &expected, 16.0, &a.explain());
        }
    }
}

#[test]
fn products_that_gather() {
    gathers::<f32>();
    gathers::<f64>();
}

/// Lengths around the one from which outputs are written by non-temporal stores (32 MiB), and outputs that are an input.
#[test]
fn long_outputs() {
    const LIMIT: usize = (32 << 20) / size_of::<f64>();
    for context in capable::<f64>() {
        for n in [LIMIT - 1, LIMIT, LIMIT + 13] {
            let (a, b) = (noise::<f64>(n, 1), noise::<f64>(n, 2));
            let x = Vector::from_slice(context, &a).unwrap();
            let mut y = Vector::from_slice(context, &b).unwrap();
            let mut out = Vector::filled(context, n, f64::NAN).unwrap();
            let mut expected = vec![0.0; n];

            ops::axpby(2.0, &x, -3.0, &y, &mut out).unwrap();
            vector::axpby(2.0, &a, -3.0, &b, &mut expected);
            assert_close(&out.to_vec().unwrap(), &expected, 1.0, "axpby");
            ops::multiply(&x, &y, &mut out).unwrap();
            vector::multiply(&a, &b, &mut expected);
            assert_close(&out.to_vec().unwrap(), &expected, 1.0, "multiply");
            ops::scale(-3.0, &x, &mut out).unwrap();
            vector::scale(-3.0, &a, &mut expected);
            assert_close(&out.to_vec().unwrap(), &expected, 1.0, "scale");
            ops::copy(&x, &mut out).unwrap();
            assert_eq!(out.to_vec().unwrap(), a, "copy");
            ops::update(2.0, &x, 0.5, &mut y).unwrap();
            let mut expected = b.clone();
            vector::update(2.0, &a, 0.5, &mut expected);
            assert_close(&y.to_vec().unwrap(), &expected, 1.0, "update");
        }
    }
}
