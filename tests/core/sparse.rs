//! Sparse matrices made of sparse matrices, against sprs and definitions, on every device and with both families of kernels.

#[path = "sparse/amg.rs"]
mod amg;
use crate::common::{assert_close, assert_error, contexts, eps, noise, sparse};
use clinalg::matrix::Values;
use clinalg::ops::Span;
use clinalg::{Complex, Context, Csr, CsrParts, Real, Vector};
use sprs::CsMatI;

fn to_sprs<T: Real>(a: &CsrParts<T>) -> CsMatI<f64, usize> {
    let values = a.values.iter().map(|v| v.into_f64()).collect();
    CsMatI::new((a.rows, a.cols), a.offsets.clone(), a.indices.clone(), values)
}

/// Fails unless both have the same positions, and values within `bound` of each other, relative to the sums of moduli.
fn assert_matrix<T: Real>(
    what: &str,
    got: &CsrParts<T>,
    want: &CsMatI<f64, usize>,
    size: &CsMatI<f64, usize>,
    bound: f64,
) {
    assert_eq!((got.rows, got.cols), want.shape(), "{what}");
    assert_eq!(got.offsets, want.proper_indptr().to_vec(), "{what}: offsets");
    assert_eq!(got.indices, want.indices(), "{what}: columns");
    let wanted: Vec<T> = want.data().iter().map(|&v| T::from_f64(v)).collect();
    assert_close(what, &got.values, &wanted, |k| bound * size.data()[k]);
}

fn products<T: Real>(context: &Context) {
    // Rows of every size: empty, short enough to be merged, up to a table in local memory, longer than the largest one, and a dense one; long ones
    // among more columns than there are ranges for.
    let shapes = [
        (1, 1, 1, 1, 1),
        (40, 30, 50, 3, 4),
        (300, 500, 4000, 9, 12),
        (60, 400, 6000, 60, 60),
        (5, 300, 9000, 300, 40),
        (3, 200, 400_000, 150, 30),
        (3, 200, 2_200_000, 150, 30),
        (3, 200, 17_000_000, 150, 30),
    ];
    for (m, k, n, left, right) in shapes {
        let a = sparse::<T>(m, k, 1, |i| if i % 7 == 3 { 0 } else { 1 + i * 13 % left });
        let b = sparse::<T>(k, n, 2, |i| if i % 5 == 4 { 0 } else { 1 + i * 7 % right });
        let [x, y] = [&a, &b].map(|parts| Csr::from_parts(context, parts).unwrap());
        let c = x.multiply(&y).unwrap();
        let got = c.to_parts().unwrap();
        let [a, b] = [&a, &b].map(to_sprs);
        let (want, size) = (&a * &b, &a.map(|v| v.abs()) * &b.map(|v| v.abs()));
        assert_matrix(&format!("{m} x {k} x {n}"), &got, &want, &size, (left + 2) as f64 * eps::<T>());
        assert_eq!(x.multiply(&y).unwrap().to_parts().unwrap(), got, "the same bits");
    }
    for (m, k, n) in [(0, 3, 2), (3, 0, 2), (3, 2, 0)] {
        let [x, y] = [(m, k), (k, n)].map(|(rows, cols)| Csr::<T>::from_triplets(context, rows, cols, &[]).unwrap());
        let c = x.multiply(&y).unwrap();
        assert_eq!((c.rows(), c.cols(), c.nnz()), (m, n, 0));
        assert_error(x.multiply(&Csr::from_triplets(context, k + 1, n, &[]).unwrap()), "clinalg:argument:shape", "b");
    }
}

/// Most rows have far fewer entries than products, which is noticed, and every twentieth has as many.
fn estimates<T: Real>(context: &Context) {
    let row = |first: usize, count: usize| (first..first + count).map(|j| (j, 1.0 + j as f64 / 8.0));
    let make = |rows: usize, cols: usize, row: &dyn Fn(usize) -> Vec<(usize, f64)>| {
        let entries: Vec<(usize, usize, T)> =
            (0..rows).flat_map(|i| row(i).into_iter().map(move |(j, v)| (i, j, T::from_f64(v)))).collect();
        CsrParts::from_triplets(rows, cols, &entries).unwrap()
    };
    let a = make(1500, 60, &|i| row(if i % 20 == 0 { 30 } else { 0 }, 30).collect());
    let b = make(60, 400, &|i| row(if i < 30 { 0 } else { 10 * (i - 29) }, 10).collect());
    let [x, y] = [&a, &b].map(|parts| Csr::from_parts(context, parts).unwrap());
    let got = x.multiply(&y).unwrap().to_parts().unwrap();
    let [a, b] = [&a, &b].map(to_sprs);
    let want = &a * &b;
    assert_matrix("rows of 10 and of 300 entries", &got, &want, &want, 32.0 * eps::<T>());
}

/// Rows of A with thousands of entries, whose products fall on many columns, with and without shorter ones beside them.
fn long_rows<T: Real>(context: &Context) {
    let (k, n) = (6000, 70_000);
    let b = sparse::<T>(k, n, 2, |i| if i % 5 == 4 { 0 } else { 1 + i * 7 % 12 });
    for lengths in [&[1024, 1025, 3, 2048, 0, 2049, 40, 6000, 1][..], &[1500, 4000], &[1024, 900]] {
        let a = sparse::<T>(lengths.len(), k, 1, |i| lengths[i]);
        let [x, y] = [&a, &b].map(|parts| Csr::from_parts(context, parts).unwrap());
        let got = x.multiply(&y).unwrap().to_parts().unwrap();
        let [left, right] = [&a, &b].map(to_sprs);
        let (want, size) = (&left * &right, &left.map(|v| v.abs()) * &right.map(|v| v.abs()));
        assert_matrix(&format!("rows of {lengths:?}"), &got, &want, &size, 6002.0 * eps::<T>());
        assert_eq!(x.multiply(&y).unwrap().to_parts().unwrap(), got, "the same bits");
    }
}

#[test]
fn products_agree_with_sprs() {
    crate::on_every_device!(products);
}

#[test]
fn products_agree_with_sprs_where_rows_of_a_are_very_long() {
    crate::on_every_device!(long_rows);
}

#[test]
fn products_agree_with_sprs_where_estimates_of_rows_are_too_low() {
    crate::on_every_device!(estimates);
}

fn sums_and_parts<T: Real>(context: &Context) {
    let (rows, cols) = (300, 257);
    let parts = sparse::<T>(rows, cols, 3, |i| i * 5 % 17);
    let others = sparse::<T>(rows, cols, 4, |i| i * 3 % 11);
    let [a, b] = [&parts, &others].map(|parts| Csr::from_parts(context, parts).unwrap());
    let (alpha, beta) = (T::from_f64(1.5), T::from_f64(-0.25));
    let [x, y] = [&parts, &others].map(to_sprs);
    let want = &x.map(|v| 1.5 * v) + &y.map(|v| -0.25 * v);
    let size = want.map(|_| 4.0);
    assert_matrix("sum", &a.combine(alpha, beta, &b).unwrap().to_parts().unwrap(), &want, &size, eps::<T>());

    let dense = |parts: &CsrParts<T>| {
        let mut dense = vec![vec![T::zero(); parts.cols]; parts.rows];
        (0..parts.rows).for_each(|i| parts.row(i).for_each(|(j, v)| dense[i][j] = v));
        dense
    };
    let whole = dense(&parts);
    let check = |what: &str, got: &Csr<T>, want: &dyn Fn(usize, usize) -> T| {
        let got = got.to_parts().unwrap();
        assert!(got.values.iter().all(|&v| v != T::zero()), "{what}: only what is stored");
        assert!((0..got.rows).all(|i| got.row(i).zip(got.row(i).skip(1)).all(|(a, b)| a.0 < b.0)), "{what}: sorted");
        for (i, row) in dense(&got).iter().enumerate() {
            for (j, &v) in row.iter().enumerate() {
                assert_eq!(v, want(i, j), "{what}: ({i}, {j})");
            }
        }
    };
    let down = Span::Range { first: rows - 1, step: -1, count: rows };
    let every = Span::Range { first: 1, step: 3, count: 80 };
    let list: Vec<usize> = (0..90).map(|k| k * 37 % 41).collect();
    let list = Span::List(&list);
    let at = |span: Span<'_>, k: usize| match span {
        Span::Range { first, step, .. } => first.wrapping_add_signed(step * k as isize),
        Span::List(list) => list[k],
    };
    for (p, q) in [(Span::all(rows), every), (down, Span::all(cols)), (every, every), (list, list), (down, list)] {
        check("select", &a.select(p, q).unwrap(), &|i, j| whole[at(p, i)][at(q, j)]);
    }
    assert_eq!(a.select(Span::all(rows), Span::all(cols)).unwrap().to_parts().unwrap(), parts);
    assert_error(a.select(Span::List(&[300]), Span::all(cols)), "clinalg:argument:value", "rows");
    assert_error(a.select(Span::all(rows), Span::List(&[0, 257])), "clinalg:argument:value", "cols");

    for (low, high) in [(i64::MIN, 0), (1, i64::MAX), (0, 0), (-3, 40), (2, 1)] {
        check(&format!("from {low} to {high}"), &a.band_part(low, high).unwrap(), &|i, j| {
            let kept = (low..=high).contains(&(j as i64 - i as i64));
            if kept { whole[i][j] } else { T::zero() }
        });
    }
    // What is left of the sum of A and the negative of its lower triangle is the upper one.
    let upper = a.combine(T::one(), -T::one(), &a.band_part(i64::MIN, 0).unwrap()).unwrap();
    assert_eq!(upper.nnz(), a.nnz());
    let kept = upper.without_zeros().unwrap().unwrap();
    assert_eq!(kept.to_parts().unwrap(), a.band_part(1, i64::MAX).unwrap().to_parts().unwrap());
    assert!(kept.without_zeros().unwrap().is_none());

    let (left, right) = (noise::<T>(rows, 5), noise::<T>(cols, 6));
    let [l, r] = [&left, &right].map(|values| Vector::from_slice(context, values).unwrap());
    let mut scaled = a.try_clone().unwrap();
    scaled.scale(Some(&l), Some(&r)).unwrap();
    check("scaled", &scaled, &|i, j| left[i] * whole[i][j] * right[j]);
    assert_error(scaled.scale(Some(&r), None), "clinalg:argument:length", "left");
}

#[test]
fn sums_parts_and_scalings_are_those_of_the_definition() {
    crate::on_every_device!(sums_and_parts);
}

#[test]
fn complex_matrices_are_multiplied_as_well() {
    let i = Complex::new(0.0, 1.0);
    for context in contexts().iter().filter(|context| context.device().fp64) {
        let a = Csr::from_triplets(context, 2, 2, &[(0, 0, i), (0, 1, i + 2.0), (1, 1, -i)]).unwrap();
        let square = a.multiply(&a).unwrap().to_parts().unwrap();
        assert_eq!(square.values, [-i / i, i * (i + 2.0) - i * (i + 2.0), -i / i]);
        let sum = a.combine(i, -i, &a.transpose().unwrap()).unwrap().to_parts().unwrap();
        assert_eq!(sum.values, [i - i, i * (i + 2.0), -i * (i + 2.0), i - i]);
        let kept = Csr::from_parts(context, &sum).unwrap().without_zeros().unwrap().unwrap().to_parts().unwrap();
        assert_eq!(kept.values, [i * (i + 2.0), -i * (i + 2.0)]);
    }
}
