//! Properties of conversions and reductions on random input.

use crate::common::{assert_close, contexts};
use clinalg::CsrParts;
use clinalg::{Context, Csr, Vector, ops};
use clinalg_reference::vector;
use proptest::prelude::*;

/// Shape and entries of a small matrix, duplicates among them, values that add without rounding.
fn triplets() -> impl Strategy<Value = (usize, usize, Vec<(usize, usize, f32)>)> {
    (0..40_usize, 0..40_usize).prop_flat_map(|(rows, cols)| {
        let most = if rows * cols == 0 { 0 } else { 200 };
        let entry = (0..rows.max(1), 0..cols.max(1), -8..8_i8).prop_map(|(i, j, v)| (i, j, f32::from(v)));
        (Just(rows), Just(cols), prop::collection::vec(entry, 0..=most))
    })
}

/// What the entries mean, in the plainest form.
fn full(rows: usize, cols: usize, entries: &[(usize, usize, f32)]) -> Vec<f32> {
    let mut full = vec![0.0; rows * cols];
    entries.iter().for_each(|&(i, j, v)| full[j * rows + i] += v);
    full
}

/// Numbers over the whole range of single precision, also none.
fn numbers() -> impl Strategy<Value = Vec<f32>> {
    let number = prop_oneof![
        4 => -1.0..1.0_f32,
        1 => prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO,
    ];
    prop::collection::vec(number, 0..2000)
}

fn each(check: impl Fn(&'static Context) -> Result<(), TestCaseError>) -> Result<(), TestCaseError> {
    contexts().iter().try_for_each(check)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn triplets_go_to_the_device_and_come_back((rows, cols, entries) in triplets()) {
        each(|context| {
            let a = Csr::from_triplets(context, rows, cols, &entries).unwrap();
            let parts = a.to_parts().unwrap();
            prop_assert!(parts.is_canonical());
            prop_assert_eq!(parts.to_dense().unwrap(), full(rows, cols, &entries));
            // To compressed columns and back, both conversions on the device.
            let columns = a.transpose().unwrap().to_parts().unwrap();
            prop_assert_eq!(&columns, &parts.transpose().unwrap());
            let again = Csr::from_csc(context, rows, cols, &columns.offsets, &columns.indices, &columns.values).unwrap();
            prop_assert_eq!(again.to_parts().unwrap(), parts);
            Ok(())
        })?;
    }

    #[test]
    fn shuffled_columns_are_sorted((rows, cols, entries) in triplets(), seed in any::<u64>()) {
        // The entries of each row in random order, duplicates kept.
        let mut shuffled = entries.clone();
        let mut noise = crate::common::Noise::new(seed);
        (1..shuffled.len()).for_each(|k| shuffled.swap(k, noise.below(k + 1)));
        let mut offsets = vec![0; rows + 1];
        shuffled.sort_by_key(|&(i, ..)| i);
        shuffled.iter().for_each(|&(i, ..)| offsets[i + 1] += 1);
        (0..rows).for_each(|i| offsets[i + 1] += offsets[i]);
        let indices: Vec<usize> = shuffled.iter().map(|&(_, j, _)| j).collect();
        let values: Vec<f32> = shuffled.iter().map(|&(.., v)| v).collect();
        each(|context| {
            let a = Csr::from_csr(context, rows, cols, &offsets, &indices, &values).unwrap().to_parts().unwrap();
            prop_assert!(a.is_canonical());
            prop_assert_eq!(a.to_dense().unwrap(), full(rows, cols, &entries));
            // Read as compressed columns it is the transpose.
            let t = Csr::from_csc(context, cols, rows, &offsets, &indices, &values).unwrap().to_parts().unwrap();
            prop_assert_eq!(t, a.transpose().unwrap());
            Ok(())
        })?;
    }

    #[test]
    fn products_match_the_plain_sum((rows, cols, entries) in triplets()) {
        let parts = CsrParts::from_triplets(rows, cols, &entries).unwrap();
        let x: Vec<f32> = (0..cols).map(|j| (j % 5) as f32 - 2.0).collect();
        let a = full(rows, cols, &entries);
        // Whole numbers: exact in any order.
        let want: Vec<f32> = (0..rows).map(|i| (0..cols).map(|j| a[j * rows + i] * x[j]).sum()).collect();
        each(|context| {
            let device = Csr::from_parts(context, &parts).unwrap();
            let x = Vector::from_slice(context, &x).unwrap();
            let mut y = Vector::filled(context, rows, f32::NAN).unwrap();
            ops::mv(1.0, &device, &x, 0.0, &mut y).unwrap();
            prop_assert_eq!(&y.to_vec().unwrap(), &want);
            ops::mv_transposed(1.0, &device.transpose().unwrap(), &x, 0.0, &mut y).unwrap();
            prop_assert_eq!(&y.to_vec().unwrap(), &want);
            Ok(())
        })?;
    }

    #[test]
    fn reductions_match_the_oracle(values in numbers()) {
        each(|context| {
            let x = Vector::from_slice(context, &values).unwrap();
            // 2000 additions at most, each rounded once; sums of squares and products may underflow.
            let bound = 2000.0 * f64::from(f32::EPSILON);
            let magnitude: f64 = values.iter().map(|&v| f64::from(v).abs()).sum();
            // A partial sum may pass the largest number before the rest brings it back.
            if magnitude < f64::from(f32::MAX) {
                assert_close("sum", &[ops::sum(&x).unwrap()], &[vector::sum(&values)], |_| bound * magnitude);
                assert_close("norm1", &[ops::norm1(&x).unwrap()], &[vector::norm1(&values)], |_| bound * magnitude);
            }
            let norm = vector::norm2(&values);
            assert_close("norm2", &[ops::norm2(&x).unwrap()], &[norm], |_| bound * f64::from(norm) + 1e-45);
            prop_assert_eq!(ops::norm_inf(&x).unwrap(), vector::norm_inf(&values));
            Ok(())
        })?;
    }
}
