//! Upload, download and conversion of every object, and what is refused on the way.

use crate::common::{Noise, SIZES, assert_error, assert_same, contexts, noise, sparse};
use clinalg::matrix::Values;
use clinalg::{Band, Context, Csr, Dense, Real, Vector, ops};
use clinalg::{BandParts, CsrParts};
use ndarray::{Array1, Array2, ShapeBuilder, s};
use sprs::{CsMatI, TriMatI};

fn numbers<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&v| T::from_f64(v)).collect()
}

fn vectors<T: Real>(context: &Context) {
    for &n in SIZES {
        let values = noise::<T>(n, 1);
        let mut x = Vector::from_slice(context, &values).unwrap();
        assert_eq!((x.len(), x.is_empty()), (n, n == 0));
        assert_same("round trip", &x.to_vec().unwrap(), &values);
        let mut host = vec![T::nan(); n];
        x.read(&mut host).unwrap();
        assert_same("read", &host, &values);
        assert_same("array", x.to_array().unwrap().as_slice().unwrap(), &values);

        let zeros = Vector::<T>::zeros(context, n).unwrap();
        assert_same("zeros", &zeros.to_vec().unwrap(), &vec![T::zero(); n]);
        let copy = x.try_clone().unwrap();
        x.copy_from(&zeros).unwrap();
        assert_same("the copy is its own", &copy.to_vec().unwrap(), &values);
        assert_same("copy_from", &x.to_vec().unwrap(), &vec![T::zero(); n]);
        x.write(&values).unwrap();
        x.fill(T::from_f64(-2.5)).unwrap();
        assert_same("fill", &x.to_vec().unwrap(), &vec![T::from_f64(-2.5); n]);
    }
}

#[test]
fn vectors_come_back_as_they_went() {
    crate::on_every_device!(vectors);
}

fn ranges<T: Real>(context: &Context) {
    let values = noise::<T>(1000, 2);
    let mut x = Vector::from_slice(context, &values).unwrap();
    for range in [0..0, 0..1, 0..1000, 1..8, 999..1000, 1000..1000, 37..801] {
        assert_same("slice", &x.copy_range(range.clone()).unwrap().to_vec().unwrap(), &values[range.clone()]);
        let mut part = vec![T::nan(); range.len()];
        x.buffer().read_range(range.start, &mut part).unwrap();
        assert_same("read_range", &part, &values[range]);
    }
    let part = Vector::from_slice(context, &noise::<T>(13, 3)).unwrap();
    let mut want = values.clone();
    want[17..30].copy_from_slice(&part.to_vec().unwrap());
    x.write_slice(17, &part).unwrap();
    x.write_slice(1000, &Vector::zeros(context, 0).unwrap()).unwrap();
    assert_same("write_slice", &x.to_vec().unwrap(), &want);

    let value = "clinalg:argument:value";
    assert_error(x.slice(0..1001), value, "range");
    assert_error(x.slice(1001..1001), value, "range");
    // Huge ranges met the allocation first, and those that run backwards passed for empty.
    assert_error(x.slice(0..usize::MAX), value, "range");
    #[allow(clippy::reversed_empty_ranges)]
    let backward = 8..7;
    assert_error(x.slice(backward.clone()), value, "range");
    assert_error(x.write_slice(988, &part), value, "offset");
    assert_error(x.write_slice(usize::MAX, &part), value, "offset");
    let mut buffer = x.buffer_mut();
    assert_error(buffer.copy_range(0, part.buffer(), backward), value, "range");
    assert_error(buffer.copy_range(0, part.buffer(), 10..14), value, "range");
    assert_error(buffer.write_range(999, &[T::one(); 2]), value, "offset");
    assert_error(buffer.as_view().read_range(1001, &mut []), value, "offset");
    let length = "clinalg:argument:length";
    assert_error(x.write(&values[1..]), length, "values");
    assert_error(x.read(&mut [T::zero(); 1001]), length, "target");
    assert_error(x.copy_from(&part), length, "source");
    assert_same("nothing was written", &x.to_vec().unwrap(), &want);
}

#[test]
fn ranges_are_checked() {
    crate::on_every_device!(ranges);
}

fn arrays<T: Real>(context: &Context) {
    let values = noise::<T>(60, 4);
    let line = Array1::from_vec(values.clone());
    let strided = line.slice(s![3..;7]);
    let x = Vector::from_array(context, &strided).unwrap();
    assert_eq!(x.to_array().unwrap(), strided);
    let backward = line.slice(s![..;-1]);
    assert_eq!(Vector::from_array(context, &backward).unwrap().to_array().unwrap(), backward);

    let rows = Array2::from_shape_vec((6, 10), values.clone()).unwrap();
    let columns = Array2::from_shape_vec((6, 10).f(), values).unwrap();
    for array in [rows.view(), columns.view(), rows.t(), rows.slice(s![1..5;2, ..;-3]), rows.slice(s![.., 4..5])] {
        let a = Dense::from_array(context, &array).unwrap();
        assert_eq!((a.rows(), a.cols()), array.dim());
        assert_eq!(a.to_array().unwrap(), array);
        assert_eq!(a.to_column_major().unwrap(), array.t().iter().copied().collect::<Vec<_>>());
        assert_eq!(a.as_vector().len(), array.len());
    }
    for shape in [(0, 0), (0, 3), (3, 0)] {
        let empty = Array2::<T>::zeros(shape);
        assert_eq!(Dense::from_array(context, &empty.view()).unwrap().to_array().unwrap(), empty);
    }
}

#[test]
fn arrays_of_any_stride_are_taken() {
    crate::on_every_device!(arrays);
}

fn bad_dense<T: Real>(context: &Context) {
    let make = |rows, cols, n: usize| Dense::from_column_major(context, rows, cols, &vec![T::one(); n]);
    assert_error(make(3, 4, 11), "clinalg:argument:length", "values");
    assert_error(make(0, 4, 1), "clinalg:argument:length", "values");
    let message = assert_error(make(usize::MAX, 2, 4), "clinalg:argument:value", "rows x cols");
    assert!(message.contains("18446744073709551615 x 2"), "{message}");
    let error = Dense::<T>::zeros(context, usize::MAX, 1).unwrap_err();
    assert_eq!(error.id(), "clinalg:device:memory", "{error}");
}

#[test]
fn dense_shapes_are_checked() {
    crate::on_every_device!(bad_dense);
}

fn csr_uploads<T: Real>(context: &Context) {
    // [0 1 0; 0 0 0; 2 0 3]
    let want = CsrParts {
        rows: 3,
        cols: 3,
        offsets: vec![0, 1, 1, 3],
        indices: vec![1, 0, 2],
        values: numbers::<T>(&[1.0, 2.0, 3.0]),
    };
    let check = |what: &str, made: clinalg::Result<Csr<T>>| {
        let made = made.unwrap();
        assert_eq!(made.to_parts().unwrap(), want, "{what}");
        assert_eq!((made.rows(), made.cols(), made.nnz()), (3, 3, 3), "{what}");
    };
    check("csr", Csr::from_csr(context, 3, 3, &[0, 1, 1, 3], &[1, 0, 2], &want.values));
    check("unsorted", Csr::from_csr(context, 3, 3, &[0, 1, 1, 3], &[1, 2, 0], &numbers(&[1.0, 3.0, 2.0])));
    check(
        "duplicates",
        Csr::from_csr(context, 3, 3, &[0, 2, 2, 6], &[1, 1, 2, 0, 2, 2], &numbers(&[0.75, 0.25, 1.0, 2.0, 1.0, 1.0])),
    );
    check("csc", Csr::from_csc(context, 3, 3, &[0, 1, 2, 3], &[2, 0, 2], &numbers(&[2.0, 1.0, 3.0])));
    check(
        "csc with duplicates",
        Csr::from_csc(context, 3, 3, &[0, 2, 3, 5], &[2, 2, 0, 2, 2], &numbers(&[1.5, 0.5, 1.0, 1.0, 2.0])),
    );
    let entries = [(2, 2, 1.0), (0, 1, 1.0), (2, 0, 2.0), (2, 2, 2.0)].map(|(i, j, v)| (i, j, T::from_f64(v)));
    check("triplets", Csr::from_triplets(context, 3, 3, &entries));
    check("parts", Csr::from_parts(context, &want));

    // A stored zero stays an entry.
    let zero = Csr::from_triplets(context, 1, 2, &[(0, 1, T::zero())]).unwrap();
    assert_eq!(zero.to_parts().unwrap().indices, [1]);
}

#[test]
fn sparse_uploads_are_sorted_and_summed() {
    crate::on_every_device!(csr_uploads);
}

fn bad_csr<T: Real>(context: &Context) {
    let values = numbers::<T>(&[1.0, 2.0, 3.0]);
    type Case<'a> = (&'a str, &'a [usize], &'a [usize], &'a str, &'a str);
    let (length, index) = ("clinalg:argument:length", "clinalg:argument:index");
    let cases: &[Case] = &[
        ("offsets too short", &[0, 1, 3], &[1, 0, 2], length, "offsets"),
        ("offsets too long", &[0, 1, 1, 2, 3], &[1, 0, 2], length, "offsets"),
        ("no offsets", &[], &[1, 0, 2], length, "offsets"),
        ("offsets from 1", &[1, 1, 1, 3], &[1, 0, 2], index, "offsets"),
        ("offsets fall", &[0, 2, 1, 3], &[1, 0, 2], index, "offsets"),
        ("offsets end early", &[0, 1, 1, 2], &[1, 0, 2], index, "offsets"),
        ("offsets end late", &[0, 1, 1, 4], &[1, 0, 2], index, "offsets"),
        ("offset huge", &[0, usize::MAX, 1, 3], &[1, 0, 2], index, "offsets"),
        ("index at the bound", &[0, 1, 1, 3], &[1, 0, 3], index, "indices"),
        ("index huge", &[0, 1, 1, 3], &[1, usize::MAX, 2], index, "indices"),
        ("values too many", &[0, 1, 1, 2], &[1, 0], length, "values"),
    ];
    for &(what, offsets, indices, id, argument) in cases {
        for message in [
            assert_error(Csr::from_csr(context, 3, 3, offsets, indices, &values), id, argument),
            assert_error(Csr::from_csc(context, 3, 3, offsets, indices, &values), id, argument),
        ] {
            assert!(message.contains("expected"), "{what}: {message}");
        }
    }
    let message = assert_error(Csr::from_csr(context, 3, 3, &[0, 1, 1, 3], &[1, 0, 7], &values), index, "indices");
    assert!(message.contains("entry 2 is 7") && message.contains("below 3"), "{message}");
    let one = T::one();
    let message = assert_error(Csr::from_triplets(context, 2, 2, &[(0, 0, one), (2, 1, one)]), index, "triplets");
    assert!(message.contains("entry 1 is 2") && message.contains("row"), "{message}");
    let message = assert_error(Csr::from_triplets(context, 2, 2, &[(0, 5, one)]), index, "triplets");
    assert!(message.contains("column"), "{message}");
    // Positions are stored in 32 bits; sizes that no memory holds are refused with an error.
    let wide = 1_usize << 32;
    assert_error(Csr::from_csr(context, 1, wide, &[0, 1], &[0], &values[..1]), "clinalg:argument:value", "cols");
    assert_error(Csr::from_csc(context, wide, 1, &[0, 1], &[0], &values[..1]), "clinalg:argument:value", "rows");
    assert_error(Csr::from_triplets(context, usize::MAX, 1, &[(0, 0, one)]), "clinalg:argument:value", "rows");
    assert_error(Csr::from_csr(context, usize::MAX, 1, &[0, 1], &[0], &values[..1]), length, "offsets");
    // The runtime goes on.
    assert_eq!(Csr::from_triplets(context, 2, 2, &[(1, 1, one)]).unwrap().nnz(), 1);
}

#[test]
fn broken_sparse_input_is_named() {
    crate::on_every_device!(bad_csr);
}

fn transposes<T: Real>(context: &Context) {
    let check = |what: &str, a: CsrParts<T>| {
        let device = Csr::from_parts(context, &a).unwrap();
        let transposed = a.transpose().unwrap();
        assert_eq!(device.transpose().unwrap().to_parts().unwrap(), transposed, "transpose: {what}");
        // The rows of A are the columns of A'.
        let csc = Csr::from_csc(context, a.cols, a.rows, &a.offsets, &a.indices, &a.values).unwrap();
        assert_eq!(csc.to_parts().unwrap(), transposed, "csc: {what}");
        assert_same("diagonal", &device.diagonal().unwrap().to_vec().unwrap(), &a.diagonal());
    };
    for n in [1, 2, 7, 8, 9, 255, 256, 257, 1023, 1024, 1025, 4097] {
        check("square", sparse(n, n, 5, |i| i % 5));
    }
    check("0 x 0", sparse(0, 0, 6, |_| 0));
    check("0 x 9", sparse(0, 9, 7, |_| 0));
    check("9 x 0", sparse(9, 0, 8, |_| 0));
    check("no entries", sparse(2000, 3000, 9, |_| 0));
    check("wide", sparse(3, 100_000, 10, |_| 20_000));
    check("tall", sparse(100_000, 3, 11, |_| 2));
    // Columns of 33 entries and more are sorted by a heap.
    check("columns of 32", sparse(32, 50, 12, |_| 400));
    check("columns of 33", sparse(33, 50, 13, |_| 400));
    check("dense columns", sparse(3000, 5, 14, |_| 40));
    check("one dense column and one dense row", {
        let mut noise = Noise::new(15);
        let entries: Vec<_> =
            (0..5000)
                .flat_map(|i| [(i, 17, noise.value()), (23, i, noise.value())])
                .collect::<Vec<(usize, usize, T)>>();
        CsrParts::from_triplets(5000, 5000, &entries).unwrap()
    });
    check("power law", sparse(4000, 4000, 16, |i| 4000 / (i + 1)));
}

#[test]
fn compressed_columns_become_rows_on_the_device() {
    crate::on_every_device!(transposes);
}

fn long_rows<T: Real>(context: &Context) {
    // On a GPU work-groups sort rows of more than 512 entries; lengths around powers of two.
    for n in [512, 513, 700, 1023, 1024, 1025] {
        let entries: Vec<_> = (0..n).flat_map(|i| [(i, 0, T::from_f64(i as f64)), (i, 2, T::one())]).collect();
        let a = CsrParts::from_triplets(n, 3, &entries).unwrap();
        let transposed = Csr::from_parts(context, &a).unwrap().transpose().unwrap();
        assert_eq!(transposed.to_parts().unwrap(), a.transpose().unwrap());
    }
}

#[test]
fn long_rows_of_a_conversion_are_sorted() {
    crate::on_every_device!(long_rows);
}

fn kept_transpose<T: Real>(context: &Context) {
    let parts = sparse::<T>(200, 300, 17, |i| i % 9);
    let mut a = Csr::from_parts(context, &parts).unwrap();
    let x = Vector::from_slice(context, &noise::<T>(200, 18)).unwrap();
    let mut y = Vector::zeros(context, 300).unwrap();
    let mut product = |a: &Csr<T>| {
        ops::mv_transposed(T::one(), a, &x, T::zero(), &mut y).unwrap();
        y.to_vec().unwrap()
    };
    let first = product(&a);
    assert_eq!(product(&a), first);
    let twice: Vec<T> = first.iter().map(|&v| v + v).collect();
    let other = a.try_clone().unwrap();
    // Powers of two scale without rounding.
    ops::scale(T::from_f64(2.0), &other, &mut a).unwrap();
    assert_eq!(product(&a), twice, "after scale");
    ops::update(T::from_f64(-1.0), &other, T::one(), &mut a).unwrap();
    assert_eq!(product(&a), first, "after update");
    ops::add(&other, &other, &mut a).unwrap();
    assert_eq!(product(&a), twice, "after add");
    ops::copy(&other, &mut a).unwrap();
    assert_eq!(product(&a), first, "after copy");
    ops::fill(T::zero(), &mut a).unwrap();
    assert_eq!(product(&a), vec![T::zero(); 300], "after fill");
    a.values_mut().write(&parts.values).unwrap();
    assert_eq!(product(&a), first, "after write");
    assert_eq!(product(&other), first, "the clone has its own");
}

#[test]
fn a_kept_transpose_is_dropped_when_values_change() {
    crate::on_every_device!(kept_transpose);
}

fn sprs_matrices<T: Real>(context: &Context) {
    let parts = sparse::<T>(40, 30, 19, |i| i % 6);
    let mut triplets = TriMatI::<T, usize>::new((40, 30));
    parts.triplets().for_each(|(i, j, v)| triplets.add_triplet(i, j, v));
    let (rows, columns): (CsMatI<T, usize>, CsMatI<T, usize>) = (triplets.to_csr(), triplets.to_csc());
    assert!(rows.is_csr() && columns.is_csc());
    for matrix in [&rows, &columns] {
        let a = Csr::from_sprs(context, matrix).unwrap();
        assert_eq!(a.to_parts().unwrap(), parts);
        assert_eq!(a.to_sprs().unwrap(), rows);
    }
    let empty = CsMatI::<T, usize>::zero((3, 0));
    assert_eq!(Csr::from_sprs(context, &empty).unwrap().to_sprs().unwrap(), empty);
}

#[test]
fn sprs_matrices_in_both_orders_are_taken() {
    crate::on_every_device!(sprs_matrices);
}

fn bands<T: Real>(context: &Context) {
    // [1 2 0 0; 3 4 5 0; 0 6 7 8]
    let full = numbers::<T>(&[1.0, 3.0, 0.0, 2.0, 4.0, 6.0, 0.0, 5.0, 7.0, 0.0, 0.0, 8.0]);
    let diagonals = [vec![3.0, 6.0], vec![1.0, 4.0, 7.0], vec![2.0, 5.0, 8.0]].map(|d| numbers::<T>(&d));
    let dense = Dense::from_column_major(context, 3, 4, &full).unwrap();
    let csr = CsrParts::from_dense(3, 4, &full).unwrap();
    for (what, a) in [
        ("full", Band::from_column_major(context, (3, 4), (1, 1), &full)),
        ("dense", Band::from_dense(&dense, 1, 1)),
        ("csr", Band::from_csr(context, &csr, 1, 1)),
        ("diagonals", Band::from_diagonals(context, (3, 4), (1, 1), &diagonals)),
        ("wider than needed", Band::from_column_major(context, (3, 4), (5, 9), &full)),
    ] {
        let a = a.unwrap();
        assert_eq!((a.rows(), a.cols()), (3, 4), "{what}");
        assert_eq!(a.to_parts().unwrap().to_dense().unwrap(), full, "{what}");
    }
    // kl = 0 is the upper band matrix of the seed.
    let upper = Band::from_diagonals(context, (2, 2), (0, 1), &[numbers::<T>(&[1.0, 2.0]), numbers(&[3.0])]).unwrap();
    assert_eq!(upper.to_parts().unwrap().to_dense().unwrap(), numbers::<T>(&[1.0, 0.0, 3.0, 2.0]));
    assert_eq!((upper.kl(), upper.ku()), (0, 1));

    // Shapes without entries, diagonals that lie outside: rows = 0 with kl > 0 panicked.
    for (rows, cols, kl, ku) in [(0, 4, 2, 1), (4, 0, 2, 1), (0, 0, 3, 3), (2, 2, 5, 5), (2, 7, 4, 1)] {
        let lengths = (0..kl + 1 + ku).map(|d| (0..rows).filter(|i| i + d >= kl && i + d - kl < cols).count());
        let diagonals: Vec<Vec<T>> = lengths.map(|n| vec![T::one(); n]).collect();
        let a = Band::from_diagonals(context, (rows, cols), (kl, ku), &diagonals).unwrap();
        let entries: usize = diagonals.iter().map(Vec::len).sum();
        assert_eq!(ops::sum(&a).unwrap().into_f64(), entries as f64);
        assert_eq!(a.to_parts().unwrap().to_csr().unwrap().nnz(), entries);
    }
}

#[test]
fn bands_are_made_from_every_form() {
    crate::on_every_device!(bands);
}

fn bad_bands<T: Real>(context: &Context) {
    let full = numbers::<T>(&[1.0, 0.0, 9.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let (value, length) = ("clinalg:argument:value", "clinalg:argument:length");
    let message = assert_error(Band::from_column_major(context, (3, 3), (1, 1), &full), value, "matrix");
    assert!(message.contains("9 in row 3, column 1"), "{message}");
    let csr = CsrParts::from_dense(3, 3, &full).unwrap();
    assert_error(Band::from_csr(context, &csr, 1, 1), value, "matrix");
    let mut hidden = full.clone();
    hidden[2] = T::nan();
    assert_error(Band::from_column_major(context, (3, 3), (1, 1), &hidden), value, "matrix");
    assert_error(Band::from_column_major(context, (3, 3), (1, 1), &full[1..]), length, "matrix");
    assert_error(
        Band::from_diagonals(context, (3, 3), (1, 1), &[vec![T::one(); 2], vec![T::one(); 3]]),
        length,
        "diagonals",
    );
    let long = [vec![T::one(); 3], vec![T::one(); 3], vec![T::one(); 2]];
    assert_error(Band::from_diagonals(context, (3, 3), (1, 1), &long), length, "diagonals");
    // Widths that cannot be counted overflowed.
    for width in [(usize::MAX, 0), (0, usize::MAX), (usize::MAX, usize::MAX)] {
        assert_error(Band::from_diagonals(context, (3, 3), width, &[vec![T::one(); 3]]), length, "diagonals");
        assert_error(Band::from_column_major(context, (3, 3), width, &full), value, "band");
    }
    assert_error(Band::from_column_major(context, (3, 3), (1 << 50, 1), &full), value, "band");
    let parts = BandParts { rows: 2, cols: 2, kl: 0, ku: 1, data: vec![T::one(); 4] };
    assert_error(Band::from_parts(context, &parts), value, "data");
    let parts = BandParts { rows: 2, cols: 2, kl: 0, ku: 1, data: vec![T::one(); 3] };
    assert_error(Band::from_parts(context, &parts), length, "data");
    let a = Band::from_column_major(context, (3, 3), (2, 0), &full).unwrap();
    let b = Band::from_column_major(context, (3, 3), (2, 1), &full).unwrap();
    let message = assert_error(ops::dot(&a, &b), "clinalg:argument:shape", "b");
    assert!(message.contains("1 superdiagonals"), "{message}");
}

#[test]
fn entries_outside_a_band_are_named() {
    crate::on_every_device!(bad_bands);
}

#[test]
fn other_threads_may_own_the_last_object() {
    let Some(context) = crate::common::own_context() else { return };
    let x = Vector::from_slice(&context, &[1.0_f32; 1000]).unwrap();
    let memory = context.memory();
    assert_eq!((memory.live_bytes, memory.live_buffers), (4000, 1));
    let watched = context.clone();
    drop(context);
    let sum = std::thread::spawn(move || ops::sum(&x).unwrap()).join().unwrap();
    assert_eq!((sum, watched.memory().live_bytes), (1000.0, 0));
    assert!(contexts().iter().all(|c| !c.same(&watched)));
}
