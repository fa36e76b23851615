//! What an upload finds in a sparse matrix, and products in every format against the reference.

use crate::common::{assert_close, assert_error, assert_same, contexts, has, noise, oracle, product_bound, sparse};
use clinalg::CsrParts;
use clinalg::matrix::{Format, Values};
use clinalg::{Context, Csr, KernelFamily, Real, Vector, ops};

const ALL: [Format; 6] = [Format::Csr, Format::Balanced, Format::Dia, Format::Stencil, Format::Bsr, Format::Sell];

/// A matrix of the entries that `entry` gives for each row.
fn rows_of<T: Real>(rows: usize, cols: usize, entry: impl Fn(usize) -> Vec<(usize, f64)>) -> CsrParts<T> {
    let entries: Vec<_> =
        (0..rows).flat_map(|i| entry(i).into_iter().map(move |(j, v)| (i, j, T::from_f64(v)))).collect();
    CsrParts::from_triplets(rows, cols, &entries).unwrap()
}

/// The 5-point matrix on `n` x `m` points.
fn five<T: Real>(n: usize, m: usize) -> CsrParts<T> {
    rows_of(n * m, n * m, |i| {
        let (x, y) = (i % n, i / n);
        let mut row = vec![(i, 4.0)];
        row.extend([(x > 0).then(|| i - 1), (x + 1 < n).then(|| i + 1)].into_iter().flatten().map(|j| (j, -1.0)));
        row.extend([(y > 0).then(|| i - n), (y + 1 < m).then(|| i + n)].into_iter().flatten().map(|j| (j, -1.25)));
        row
    })
}

/// The same with boundary rows that say u = g.
fn five_with_boundary<T: Real>(n: usize, m: usize) -> CsrParts<T> {
    rows_of(n * m, n * m, |i| {
        let (x, y) = (i % n, i / n);
        match x == 0 || y == 0 || x + 1 == n || y + 1 == m {
            true => vec![(i, 1.0)],
            false => vec![(i - n, -1.0), (i - 1, -1.0), (i, 4.0), (i + 1, -1.0), (i + n, -1.0)],
        }
    })
}

/// All neighbours in a cube of `n` points per side.
fn cube<T: Real>(n: usize) -> CsrParts<T> {
    let near = |x: usize| x.saturating_sub(1)..(x + 2).min(n);
    rows_of(n * n * n, n * n * n, |i| {
        let (x, y, z) = (i % n, i / n % n, i / n / n);
        let cells = near(z).flat_map(|c| near(y).flat_map(move |b| near(x).map(move |a| (c * n + b) * n + a)));
        cells.map(|j| (j, if j == i { 26.0 } else { -1.0 })).collect()
    })
}

/// `width` diagonals around one that lies `shift` off the main one.
fn diagonals<T: Real>(rows: usize, cols: usize, width: usize, shift: usize) -> CsrParts<T> {
    rows_of(rows, cols, |i| (i + shift..i + shift + width).filter(|&j| j < cols).map(|j| (j, 1.0)).collect())
}

/// Dense blocks of `size` rows and columns, a few in each block row.
fn dense_blocks<T: Real>(size: usize, count: usize) -> CsrParts<T> {
    rows_of(size * count, size * count, |i| {
        let block = i / size;
        let places = [block, (block * 7 + 3) % count, (block * block + 1) % count, (block + 29) % count];
        let places: std::collections::BTreeSet<usize> = places.into_iter().collect();
        places.into_iter().flat_map(|j| (j * size..(j + 1) * size).map(|j| (j, 1.0))).collect()
    })
}

/// The same positions with random values.
fn random<T: Real>(parts: CsrParts<T>) -> CsrParts<T> {
    let values = noise(parts.values.len(), 77);
    CsrParts { values, ..parts }
}

fn matrices<T: Real>() -> Vec<(&'static str, CsrParts<T>)> {
    vec![
        ("empty", rows_of(0, 0, |_| vec![])),
        ("no columns", rows_of(9, 0, |_| vec![])),
        ("no entries", rows_of(2000, 7, |_| vec![])),
        ("one entry", rows_of(1, 1, |_| vec![(0, 3.0)])),
        ("identity", diagonals(5000, 5000, 1, 0)),
        ("wide", diagonals(1500, 9000, 3, 7000)),
        ("tall", random(diagonals(4000, 100, 9, 0))),
        ("5-point", five(41, 37)),
        ("5-point with random values", random(five(130, 64))),
        ("5-point with a boundary", five_with_boundary(150, 90)),
        ("27-point", cube(13)),
        ("27-point with random values", random(cube(12))),
        ("17 diagonals", random(diagonals(3000, 3000, 17, 0))),
        ("30 diagonals", diagonals(2000, 2000, 30, 5)),
        ("31 diagonals", diagonals(2000, 2000, 31, 5)),
        ("two kinds of rows", rows_of(4096, 4096, |i| vec![(i, 2.0), ((i + 7 * (i % 2)).min(4095), 1.0)])),
        (
            "empty rows",
            random(rows_of(5000, 5000, |i| if i % 3 == 0 { vec![] } else { vec![(i, 1.0), (i * 7 % 5000, 1.0)] })),
        ),
        (
            "one long row",
            random(rows_of(3000, 9000, |i| match i {
                17 => (0..9000).map(|j| (j, 1.0)).collect(),
                _ => (0..i % 4).map(|k| (i * 31 % 8000 + 2 * k, 1.0)).collect(),
            })),
        ),
        (
            "rows of very different lengths",
            random(rows_of(2500, 2500, |i| {
                (0..5 + 60_000 / (1 + 7 * (i * 997 % 2500))).take(2500).map(|k| ((i * 13 + k) % 2500, 1.0)).collect()
            })),
        ),
        (
            "short rows and a long last one",
            random(rows_of(2000, 3000, |i| {
                (0..if i == 1999 { 3000 } else { 1 }).map(|k| ((i + k) % 3000, 1.0)).collect()
            })),
        ),
        ("random", sparse(1200, 1300, 5, |_| 16)),
        ("one row", random(rows_of(1, 3000, |_| (0..2500).map(|j| (j + j / 7, 1.0)).collect()))),
        (
            "arrow",
            random(rows_of(90_000, 90_000, |i| match i {
                0 => (0..90_000).map(|j| (j, 1.0)).collect(),
                _ => vec![(0, 1.0), (i, 2.0)],
            })),
        ),
        (
            "a few dense rows between empty ones",
            random(rows_of(4000, 70_000, |i| match i % 1000 {
                7 => (0..70_000).step_by(1 + i / 1000).map(|j| (j, 1.0)).collect(),
                k if k % 8 == 0 => vec![(i, 1.0), (i * 17, 2.0)],
                _ => vec![],
            })),
        ),
        ("rows of 80", random(rows_of(1500, 90_000, |i| (0..80).map(|k| (i * 40 + 11 * k * k % 9973, 1.0)).collect()))),
        ("columns in few pages", random(rows_of(2500, 1 << 22, |i| (0..7).map(|k| (i + (k << 19), 1.0)).collect()))),
        (
            "columns in pages, but for some rows",
            random(rows_of(6000, 1 << 22, |i| {
                let step = if i < 700 { 260_000 } else { 4096 };
                (0..9).map(|k| ((i * 31 + k * step * (1 + i % 3)) % (1 << 22), 1.0)).collect()
            })),
        ),
        (
            "rows of different lengths, columns far apart",
            random(rows_of(2500, 1 << 22, |i| {
                let length = if i == 1777 { 3000 } else { i * 997 % 90 };
                (0..length).map(|k| ((i * 7919 + k * 104_729) % (1 << 22), 1.0)).collect()
            })),
        ),
        ("blocks of 3 x 3", random(dense_blocks(3, 130))),
        ("blocks of 2 x 2 in other rows", random(dense_blocks(2, 501))),
        ("blocks of 6 x 6", random(dense_blocks(6, 40))),
        ("tall", random(rows_of(30_000, 50, |i| (0..i % 4).map(|k| ((i * 7 + 13 * k) % 50, 1.0)).collect()))),
    ]
}

/// Compares y = alpha A x + beta y with the reference, and with itself once more.
fn check<T: Real>(what: &str, a: &Csr<T>, parts: &CsrParts<T>) {
    let context = a.context();
    let x = noise::<T>(parts.cols, 3);
    let dx = Vector::from_slice(context, &x).unwrap();
    let start = noise::<T>(parts.rows, 4);
    for (alpha, beta) in [(1.0, 0.0), (-1.5, 0.75)] {
        let first = if beta == 0.0 { vec![T::nan(); parts.rows] } else { start.clone() };
        let mut want = first.clone();
        oracle(parts).mv(T::from_f64(alpha), &x, T::from_f64(beta), &mut want);
        let bound = |i| product_bound(parts, T::from_f64(alpha), &x, T::from_f64(beta), &first, i);
        let run = || {
            let mut y = Vector::from_slice(context, &first).unwrap();
            ops::mv(T::from_f64(alpha), a, &dx, T::from_f64(beta), &mut y).unwrap();
            y.to_vec().unwrap()
        };
        let got = run();
        assert_close(what, &got, &want, bound);
        assert_same(what, &run(), &got);
    }
}

fn every_format<T: Real>(context: &Context) {
    for (name, parts) in matrices::<T>() {
        let mut a = Csr::from_parts(context, &parts).unwrap();
        check(&format!("{name}, {}", a.explain()), &a, &parts);
        for format in ALL {
            match a.set_format(Some(format)) {
                Ok(()) => {
                    assert_eq!(a.format(), format, "{name}");
                    check(&format!("{name}, {format}"), &a, &parts);
                }
                Err(error) => {
                    assert_eq!(error.id(), "clinalg:argument:value", "{name}, {format}: {error}");
                    assert_ne!(format, Format::Csr, "every matrix can be multiplied by rows");
                    check(&format!("{name}, not {format}"), &a, &parts);
                }
            }
            // The matrix itself is the same in all of them.
            assert_eq!(a.to_parts().unwrap(), parts, "{name}, {format}");
        }
    }
}

#[test]
fn products_in_every_format_match_the_reference() {
    crate::on_every_device!(every_format);
}

fn choices<T: Real>(context: &Context) {
    // Rows of very different lengths have no place in chunks.
    let ragged = if context.family() == KernelFamily::Gpu { Format::Balanced } else { Format::Csr };
    // Rows of similar length have one on a GPU which they occupy.
    let units = context.device().compute_units as usize;
    let chunks = |rows: usize| match context.family() {
        KernelFamily::Gpu if rows >= 512 * units => Format::Sell,
        _ => Format::Balanced,
    };
    // Rows that reach far over a long vector neither, but for compilers that do not prefetch.
    let prefetches = !["Oclgrind", "NVIDIA"].iter().any(|name| context.device().platform.contains(name));
    let far = if prefetches { ragged } else { Format::Balanced };
    let wide = if chunks(3000) == Format::Sell { Format::Sell } else { far };
    // Rows longer than a block share what they gather on a GPU, which 256 of them must occupy.
    let occupied = context.device().compute_units <= 4;
    let long = if context.family() == KernelFamily::Gpu && occupied { Format::Csr } else { far };
    for (parts, want) in [
        (five::<T>(64, 48), Format::Stencil),
        (cube(14), Format::Stencil),
        (five_with_boundary(200, 200), Format::Stencil),
        (diagonals(4000, 4000, 17, 0), Format::Stencil),
        (random(five(64, 48)), Format::Dia),
        (random(diagonals(4000, 4000, 17, 0)), Format::Dia),
        (sparse(3000, 3000, 5, |_| 16), chunks(3000)),
        (sparse(3000, 3000, 5, |i| (i % 9) * (i % 9) / 2), ragged),
        (sparse(3000, 600_000, 5, |_| 16), wide),
        (rows_of(3000, 600_000, |i| (0..16).map(|k| (199 * i + 7 * k * k + i * k % 7, 1.5)).collect()), chunks(3000)),
        (sparse(256, 600_000, 5, |_| 1500), long),
        (rows_of(0, 0, |_| vec![]), Format::Csr),
        (
            random(dense_blocks(3, 500)),
            if context.family() == KernelFamily::Gpu { Format::Bsr } else { Format::Balanced },
        ),
    ] {
        let a = Csr::from_parts(context, &parts).unwrap();
        assert_eq!(a.format(), want, "{}", a.explain());
        let words = a.explain();
        assert!(words.starts_with(&want.to_string()) && words.contains("analysis took"), "{words}");
        assert!(words.contains(&format!("{} x {}", parts.rows, parts.cols)), "{words}");
        // The same from columns.
        let t = parts.transpose().unwrap();
        let b = Csr::from_csc(context, parts.rows, parts.cols, &t.offsets, &t.indices, &t.values).unwrap();
        assert_eq!(b.format(), want, "{}", b.explain());
        check("from columns", &b, &parts);
    }
}

#[test]
fn the_upload_finds_the_structure() {
    crate::on_every_device!(choices);
}

fn changes<T: Real>(context: &Context) {
    let parts = five::<T>(60, 50);
    let mut a = Csr::from_parts(context, &parts).unwrap();
    let mut copy = a.try_clone().unwrap();
    assert_eq!((a.format(), copy.format()), (Format::Stencil, Format::Stencil));
    // Each way to write the values.
    ops::scale(T::from_f64(2.0), &copy, &mut a).unwrap();
    assert_ne!(a.format(), Format::Stencil);
    let twice = CsrParts { values: parts.values.iter().map(|&v| v * T::from_f64(2.0)).collect(), ..parts.clone() };
    check("scaled", &a, &twice);
    check("as it was", &copy, &parts);
    a.set_format(None).unwrap();
    assert_eq!(a.format(), Format::Stencil);
    check("looked at again", &a, &twice);
    let values: Vec<T> = noise(parts.values.len(), 5);
    let other = CsrParts { values: values.clone(), ..parts.clone() };
    for _ in 0..2 {
        a.set_format(Some(Format::Dia)).unwrap();
        check("dia", &a, &a.to_parts().unwrap());
        a.values_mut().write(&values).unwrap();
        check("values written", &a, &other);
        ops::add(&a, &copy, &mut copy.like().unwrap()).unwrap();
        ops::update(T::one(), &copy, T::zero(), &mut a).unwrap();
        check("values updated", &a, &parts);
    }
    copy.values_mut().fill(T::zero()).unwrap();
    let zero = CsrParts { values: vec![T::zero(); values.len()], ..parts.clone() };
    check("zeros", &copy, &zero);
    assert_eq!(copy.to_parts().unwrap(), zero);
}

#[test]
fn products_follow_the_values() {
    crate::on_every_device!(changes);
}

fn not_finite<T: Real>(context: &Context) {
    // A number that is not finite reaches the rows with an entry in its column, and no other, in every format.
    for parts in [five::<T>(40, 40), random(five(40, 40)), five_with_boundary(64, 64)] {
        let mut a = Csr::from_parts(context, &parts).unwrap();
        for format in ALL {
            if a.set_format(Some(format)).is_err() {
                continue;
            }
            for at in [0, 39, 40, 79, 1000, parts.cols - 1] {
                let mut x = vec![T::one(); parts.cols];
                x[at] = T::infinity();
                let mut y = Vector::zeros(context, parts.rows).unwrap();
                ops::mv(T::one(), &a, &Vector::from_slice(context, &x).unwrap(), T::zero(), &mut y).unwrap();
                for (i, v) in y.to_vec().unwrap().into_iter().enumerate() {
                    let has = parts.row(i).any(|(j, _)| j == at);
                    assert_eq!(v.is_finite(), !has, "{format}, column {at}, row {i}: {v}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_finite_stays_in_its_rows() {
    crate::on_every_device!(not_finite);
}

fn bits_of_values<T: Real>(context: &Context) {
    // Equal numbers of other bits are other coefficients: -0 is not 0 times infinity's sign.
    let mut parts = diagonals::<T>(3000, 3000, 3, 0);
    let at = parts.offsets[1500];
    for v in [-T::zero(), T::nan(), T::from_f64(1.0 + 1e-6)] {
        parts.values[at] = v;
        let a = Csr::from_parts(context, &parts).unwrap();
        assert_eq!(a.format(), Format::Stencil);
        assert!(a.explain().contains("other rows: 1;"), "{}", a.explain());
        let x = Vector::filled(context, 3000, T::one()).unwrap();
        let mut y = Vector::zeros(context, 3000).unwrap();
        ops::mv(T::one(), &a, &x, T::zero(), &mut y).unwrap();
        let got = y.to_vec().unwrap();
        assert!(got[1499] == T::from_f64(3.0) && got[1501] == T::from_f64(3.0));
        let want = v + T::one() + T::one();
        assert!(got[1500] == want || got[1500].is_nan() && want.is_nan(), "{} for {v}", got[1500]);
    }
}

#[test]
fn coefficients_are_compared_bit_by_bit() {
    crate::on_every_device!(bits_of_values);
}

#[test]
fn a_format_that_does_not_fit_is_refused() {
    for context in contexts().iter().filter(|context| has::<f32>(context)) {
        let mut a = Csr::from_parts(context, &sparse::<f32>(2000, 2000, 5, |_| 16)).unwrap();
        let before = a.format();
        assert_error(a.set_format(Some(Format::Stencil)), "clinalg:argument:value", "format");
        assert_eq!(a.format(), before);
        a.set_format(Some(Format::Csr)).unwrap();
        a.set_format(None).unwrap();
        assert_eq!(a.format(), before);
    }
}
