//! Products with several right-hand sides at once against the reference.

use crate::common::{
    Noise, assert_close, assert_error, assert_same, contexts, has, noise, oracle, product_bound, sparse,
};
use clinalg::{Band, Context, Csr, Dense, Real, ops};
use clinalg::{BandParts, CsrParts};

fn against_reference<T: Real>(
    what: &str,
    context: &Context,
    parts: &CsrParts<T>,
    columns: usize,
    apply: impl Fn(T, &Dense<T>, T, &mut Dense<T>) -> clinalg::Result<()>,
) {
    let (rows, cols) = (parts.rows, parts.cols);
    let x = noise::<T>(cols * columns, 8);
    let dx = Dense::from_column_major(context, cols, columns, &x).unwrap();
    for (alpha, beta) in [(T::one(), T::zero()), (T::from_f64(-1.5), T::from_f64(0.75))] {
        let start = if beta == T::zero() { vec![T::nan(); rows * columns] } else { noise(rows * columns, 9) };
        let run = || {
            let mut y = Dense::from_column_major(context, rows, columns, &start).unwrap();
            apply(alpha, &dx, beta, &mut y).unwrap();
            y.to_column_major().unwrap()
        };
        let got = run();
        for c in 0..columns {
            let (x, own) = (&x[c * cols..(c + 1) * cols], c * rows..(c + 1) * rows);
            let first = &start[own.clone()];
            let mut want = first.to_vec();
            oracle(parts).mv(alpha, x, beta, &mut want);
            let what = format!("{what}, {rows} x {cols}, column {c} of {columns}");
            assert_close(&what, &got[own], &want, |i| product_bound(parts, alpha, x, beta, first, i));
        }
        assert_same(what, &run(), &got);
    }
}

fn products<T: Real>(context: &Context) {
    let long = |i: usize| if i == 3 { 2000 } else { i % 4 };
    for (rows, cols, parts) in [
        (0, 0, sparse::<T>(0, 0, 1, |_| 0)),
        (5, 7, sparse(5, 7, 1, |_| 2)),
        (300, 257, sparse(300, 257, 2, |_| 5)),
        (257, 300, sparse(257, 300, 3, |_| 30)),
        (129, 800, sparse(129, 800, 4, |_| 200)),
        (3000, 900, sparse(3000, 900, 5, long)),
    ] {
        let csr = Csr::from_parts(context, &parts).unwrap();
        for columns in [1, 3, 4, 9] {
            against_reference("csr", context, &parts, columns, |a, x, b, y| ops::mm(a, &csr, x, b, y));
        }
        if rows * cols < 100_000 {
            let dense = Dense::from_column_major(context, rows, cols, &parts.to_dense().unwrap()).unwrap();
            against_reference("dense", context, &parts, 5, |a, x, b, y| ops::mm(a, &dense, x, b, y));
        }
    }
    for (rows, cols, kl, ku) in [(1, 1, 0, 0), (70, 60, 3, 2), (60, 700, 0, 40), (1000, 1000, 8, 8), (300, 20, 299, 0)]
    {
        let mut random = Noise::new(11);
        let near = |i: usize| i.saturating_sub(kl)..(i + ku + 1).min(cols);
        let entries: Vec<_> =
            (0..rows).flat_map(|i| near(i).map(move |j| (i, j))).map(|(i, j)| (i, j, random.value())).collect();
        let parts = CsrParts::<T>::from_triplets(rows, cols, &entries).unwrap();
        let band = Band::from_parts(context, &BandParts::from_csr(&parts, kl, ku).unwrap()).unwrap();
        against_reference("band", context, &parts, 6, |a, x, b, y| ops::mm(a, &band, x, b, y));
    }
}

#[test]
fn several_right_hand_sides_match_the_reference() {
    crate::on_every_device!(products);
}

#[test]
fn operands_of_other_shapes_are_refused() {
    for context in contexts().iter().filter(|context| has::<f32>(context)) {
        let a = Csr::from_parts(context, &sparse::<f32>(20, 30, 5, |_| 3)).unwrap();
        let dense = |rows, cols| Dense::<f32>::zeros(context, rows, cols).unwrap();
        let id = "clinalg:argument:shape";
        assert_error(ops::mm(1.0, &a, &dense(20, 4), 0.0, &mut dense(20, 4)), id, "x");
        assert_error(ops::mm(1.0, &a, &dense(30, 4), 0.0, &mut dense(30, 4)), id, "y");
        assert_error(ops::mm(1.0, &a, &dense(30, 4), 0.0, &mut dense(20, 3)), id, "y");
        ops::mm(1.0, &a, &dense(30, 0), 0.0, &mut dense(20, 0)).unwrap();
    }
}
