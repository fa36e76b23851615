//! Guard values around outputs: no kernel writes outside of what it was given.
//!
//! The output is a part of a larger allocation (an OpenCL sub-buffer), the rest of which holds a value that no result
//! has.

use crate::matrix::Format;
use crate::matrix::{BandParts, CsrParts};
use crate::ops::{DotParts, MultiRhs, Operator};
use crate::runtime::devices;
use crate::tuner::whole_numbers;
use crate::{Band, Buffer, Context, ContextOptions, Csr, Dense, KernelFamily, Real, Vector, ops};
use clinalg_reference::grid2;

/// Guard values before an output: a multiple of every device's alignment of sub-buffers.
const BEFORE: usize = 4096;
/// Guard values after it: more than a work-group and a wide vector.
const AFTER: usize = 4096;

pub(crate) fn on_every_device(check: impl Fn(&Context)) {
    let Some(devices) = clinalg_testing::found(devices()) else { return };
    for device in &devices {
        for family in clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]) {
            check(&Context::new(device, &ContextOptions { family, ..ContextOptions::default() }).unwrap());
        }
    }
}

/// Runs `operation` with an output of `len` values between guards; its values must be `want` where given.
pub(crate) fn guarded<T: Real>(
    what: &str,
    context: &Context,
    len: usize,
    start: T,
    operation: impl FnOnce(&mut Vector<T>) -> crate::Result<()>,
) -> Vec<T> {
    let guard = T::from_f64(-12345.0);
    let mut all = Buffer::from_slice(context, &vec![guard; BEFORE + len + AFTER]).unwrap();
    all.write_range(BEFORE, &vec![start; len]).unwrap();
    if len > 0 {
        let mut out = Vector::from_buffer(all.part(BEFORE, len).unwrap());
        operation(&mut out).unwrap();
    }
    let all = all.to_vec().unwrap();
    let what = format!("{what}, {len} values, {:?}", context.family());
    assert!(all[..BEFORE].iter().all(|&v| v == guard), "written before the output: {what}");
    assert!(all[BEFORE + len..].iter().all(|&v| v == guard), "written after the output: {what}");
    let out = all[BEFORE..BEFORE + len].to_vec();
    assert!(out.iter().all(|&v| v != guard), "not written: {what}");
    out
}

const SIZES: &[usize] = &[1, 2, 7, 8, 9, 31, 33, 255, 256, 257, 4095, 4097, 100_003];

fn elementwise<T: Real>(context: &Context) {
    for &n in SIZES {
        let x = Vector::filled(context, n, T::from_f64(3.0)).unwrap();
        let y = Vector::filled(context, n, T::from_f64(0.5)).unwrap();
        let (two, nan) = (T::from_f64(2.0), T::nan());
        let all = |what, start, want: f64, operation: &dyn Fn(&mut Vector<T>) -> crate::Result<()>| {
            let got = guarded(what, context, n, start, operation);
            assert!(got.iter().all(|&v| v == T::from_f64(want)), "{what}, {n} values, {:?}", context.family());
        };
        all("axpby", nan, 8.0, &|out| ops::axpby(two, &x, T::from_f64(4.0), &y, out));
        all("scale", nan, 6.0, &|out| ops::scale(two, &x, out));
        all("multiply", nan, 1.5, &|out| ops::multiply(&x, &y, out));
        all("copy", nan, 3.0, &|out| ops::copy(&x, out));
        all("fill", nan, 2.0, &|out| ops::fill(two, out));
        all("update", T::one(), 7.0, &|out| ops::update(two, &x, T::one(), out));
        all("write", nan, 2.0, &|out| out.write(&vec![two; n]));
        all("write_slice", nan, 3.0, &|out| out.write_slice(0, &x));
        let out = guarded("reductions", context, n, two, |out| {
            assert_eq!(ops::sum(out)?.into_f64(), 2.0 * n as f64);
            assert_eq!(ops::dot(out, &x)?.into_f64(), 6.0 * n as f64);
            ops::norm_inf(out).map(|norm| assert_eq!(norm, two))
        });
        assert!(out.iter().all(|&v| v == two));
    }
}

#[test]
fn elementwise_operations_stay_inside() {
    on_every_device(|context| {
        elementwise::<f32>(context);
        if context.require::<f64>().is_ok() {
            elementwise::<f64>(context);
        }
    });
}

fn products<T: Real>(context: &Context) {
    let one = T::one();
    for (rows, cols, per_row) in
        [(1, 1, 1), (7, 9, 2), (9, 7, 3), (33, 31, 5), (257, 300, 20), (300, 257, 80), (1025, 50, 3), (50, 1025, 900)]
    {
        let per_row = per_row.min(cols);
        let entries: Vec<_> =
            (0..rows).flat_map(|i| (0..per_row).map(move |k| (i, (i + k * 7) % cols, T::one()))).collect();
        let parts = CsrParts::from_triplets(rows, cols, &entries).unwrap();
        let csr = Csr::from_parts(context, &parts).unwrap();
        let dense = Dense::from_column_major(context, rows, cols, &parts.to_dense().unwrap()).unwrap();
        let width = rows.max(cols) - 1;
        let band = Band::from_parts(context, &BandParts::from_csr(&parts, width, width).unwrap()).unwrap();
        let x = Vector::filled(context, cols, one).unwrap();
        let t = Vector::filled(context, rows, one).unwrap();
        let want: Vec<T> = (0..rows).map(|i| parts.row(i).map(|(_, v)| v).sum()).collect();
        let mut columns = vec![T::zero(); cols];
        parts.triplets().for_each(|(_, j, v)| columns[j] += v);
        for (beta, start) in [(T::zero(), T::nan()), (one, T::zero())] {
            let check = |what: &str, want: &[T], operation: &dyn Fn(&mut Vector<T>) -> crate::Result<()>| {
                let got = guarded(what, context, want.len(), start, operation);
                assert_eq!(got, want, "{what}, {rows} x {cols}, {:?}", context.family());
            };
            check("csr", &want, &|y| ops::mv(one, &csr, &x, beta, y));
            check("dense", &want, &|y| ops::mv(one, &dense, &x, beta, y));
            check("band", &want, &|y| ops::mv(one, &band, &x, beta, y));
            for right in [1, 3, 9] {
                let xs = Dense::from_column_major(context, cols, right, &vec![one; cols * right]).unwrap();
                let check_multi = |what: &str, a: &dyn MultiRhs<T>| {
                    check(what, &want.repeat(right), &|y| multi(a, &xs, beta, y));
                };
                check_multi("csr, several right-hand sides", &csr);
                check_multi("dense, several right-hand sides", &dense);
                check_multi("band, several right-hand sides", &band);
            }
            check("csr'", &columns, &|y| ops::mv_transposed(one, &csr, &t, beta, y));
            check("dense'", &columns, &|y| ops::mv_transposed(one, &dense, &t, beta, y));
        }
    }
}

/// Y = A X + beta Y into the vector of the columns of Y.
fn multi<T: Real>(a: &dyn MultiRhs<T>, x: &Dense<T>, beta: T, y: &mut Vector<T>) -> crate::Result<()> {
    let values = std::mem::replace(y, Vector::zeros(a.context(), 0)?);
    ops::mm(T::one(), a, x, beta, &mut Dense::from_vector(a.rows(), x.cols(), values)?)
}

/// The products of matrices with a pattern of rows, and those in chunks.
fn structured<T: Real>(context: &Context) {
    let mut parts = CsrParts::from_triplets(41 * 41, 41 * 41, &grid2::poisson5_interior::<T>(43)).unwrap();
    let n = parts.rows;
    let x = Vector::filled(context, n, T::one()).unwrap();
    let xs = Dense::from_column_major(context, n, 5, &vec![T::one(); 5 * n]).unwrap();
    for (format, seed) in [(Format::Stencil, None), (Format::Dia, Some(1)), (Format::Balanced, Some(2))] {
        parts.values = seed.map_or(vec![T::one(); parts.nnz()], |seed| whole_numbers(parts.nnz(), seed));
        let mut a = Csr::from_parts(context, &parts).unwrap();
        a.set_format(Some(format)).unwrap();
        let want: Vec<T> = (0..n).map(|i| parts.row(i).map(|(_, v)| v).sum()).collect();
        for (beta, start) in [(T::zero(), T::nan()), (T::one(), T::zero())] {
            let got = guarded(&format.to_string(), context, n, start, |y| ops::mv(T::one(), &a, &x, beta, y));
            assert_eq!(got, want, "{format}, {:?}", context.family());
            let got = guarded(&format.to_string(), context, 5 * n, start, |y| multi(&a, &xs, beta, y));
            assert_eq!(got, want.repeat(5), "{format}, several right-hand sides, {:?}", context.family());
        }
        let mut dot = DotParts::new(context).unwrap();
        let got = guarded("with dot", context, n, T::nan(), |y| a.apply_dot(&x, y, &mut dot));
        assert_eq!(got, want, "{format} with dot, {:?}", context.family());
    }
}

#[test]
fn structured_products_stay_inside() {
    on_every_device(|context| {
        structured::<f32>(context);
        if context.require::<f64>().is_ok() {
            structured::<f64>(context);
        }
    });
}

#[test]
fn products_stay_inside() {
    // CPUs compile each precision's kernels for half a minute.
    let long = clinalg_testing::long();
    on_every_device(|context| {
        let double = context.require::<f64>().is_ok();
        if long || !double || context.family() == KernelFamily::Gpu {
            products::<f32>(context);
        }
        if double && (long || context.family() == KernelFamily::Cpu) {
            products::<f64>(context);
        }
    });
}

/// The sequential products with `a`.
pub(crate) fn oracle<T>(a: &crate::CsrParts<T>) -> clinalg_reference::csr::Csr<'_, T> {
    let crate::CsrParts { rows, cols, offsets, indices, values } = a;
    clinalg_reference::csr::Csr { rows: *rows, cols: *cols, offsets, indices, values }
}
