//! Handles: what they refuse, what they compute, and many threads on one registry.

#[path = "../../../tests/core/common/mod.rs"]
mod common;

use clinalg::{BandParts, CsrParts};
use clinalg::{Context, ContextOptions, Device, Error, HandleFault, Precision, Real, Vector};
use clinalg_handles::{Download, Host, Kind, Operand, Registry, Stored};
use common::{Noise, assert_close, assert_error, contexts, eps, noise, oracle, product_bound, sparse};

const STALE: &str = "clinalg:handle:stale";
const FOREIGN: &str = "clinalg:handle:foreign";
const WRONG_KIND: &str = "clinalg:handle:kind";

fn first() -> Option<&'static Context> {
    contexts().first()
}

fn values<T: Real>(registry: &Registry, handle: u64) -> Vec<T> {
    let info = registry.info(handle).unwrap();
    let mut values = vec![T::nan(); info.rows * info.cols];
    registry.read(handle, 0, &mut values).unwrap();
    values
}

#[test]
fn released_handles_are_stale() {
    let Some(context) = first() else { return };
    let registry = Registry::new();
    let x = registry.upload_vector(context, &[1.0_f32, 2.0]).unwrap();
    assert_eq!(registry.len(), 1);
    registry.release(x, Kind::VALUES).unwrap();
    assert!(registry.is_empty());
    assert_error(registry.release(x, Kind::VALUES), STALE, "handle");
    assert_error(registry.sum(x), STALE, "a");
    assert_error(registry.info(x), STALE, "handle");
    // Its slot in use again makes it no less stale, and the new object is not touched.
    let y = registry.upload_vector(context, &[3.0_f32]).unwrap();
    assert_eq!(x as u32, y as u32);
    assert_ne!(x, y);
    assert_error(registry.release(x, Kind::VALUES), STALE, "handle");
    assert_error(registry.plus(y, x, None), STALE, "b");
    assert_error(registry.plus(x, y, None), STALE, "a");
    assert_error(registry.plus(y, y, Some(x)), STALE, "out");
    assert_eq!((registry.len(), registry.sum(y).unwrap()), (1, 3.0));
}

#[test]
fn handles_of_another_registry_are_foreign() {
    let Some(context) = first() else { return };
    let (here, there) = (Registry::new(), Registry::new());
    let x = here.upload_vector(context, &[1.0_f32]).unwrap();
    let y = there.upload_vector(context, &[2.0_f32]).unwrap();
    // Same slot and kind; the random start of the generations tells them apart.
    assert_eq!((x as u32, x >> 56), (y as u32, y >> 56));
    assert_error(here.sum(y), FOREIGN, "a");
    assert_error(there.release(x, Kind::VALUES), FOREIGN, "handle");
    let empty = Registry::new();
    let message = assert_error(empty.sum(x), FOREIGN, "a");
    assert!(message.contains("never issued") && message.contains("vector"), "{message}");
    assert_error(here.sum(0), FOREIGN, "a");
    assert_error(here.sum(u64::MAX), FOREIGN, "a");
}

#[test]
fn forged_handles_are_foreign_and_never_crash() {
    let Some(context) = first() else { return };
    let registry = Registry::new();
    let live: Vec<u64> = (0..20_u32)
        .map(|i| match i % 4 {
            0 => registry.upload_vector(context, &vec![1.0_f32; i as usize]).unwrap(),
            1 => registry.upload_dense(context, 2, 2, &[1.0_f32; 4]).unwrap(),
            2 => registry.upload_csc(context, (2, 2), &[0, 1, 2], &[0, 1], &[1.0_f32; 2]).unwrap(),
            _ => registry.upload_band(context, (2, 2), (0, 0), &[1.0_f32, 0.0, 0.0, 1.0]).unwrap(),
        })
        .collect();
    for &handle in live.iter().step_by(3) {
        registry.release(handle, Kind::VALUES).unwrap();
    }
    let count = registry.len();
    let mut noise = Noise::new(1);
    let is_known = |handle: u64| live.contains(&handle);
    for i in 0..100_000 {
        let handle = match i % 4 {
            0 => noise.bits(),
            // The right slot and kind with another generation; a real handle with one bit wrong.
            1 => live[noise.below(20)] & 0xff00_0000_ffff_ffff | (noise.bits() & 0x00ff_ffff) << 32,
            2 => live[noise.below(20)] ^ 1 << noise.below(64),
            _ => live[noise.below(20)] & 0x00ff_ffff_ffff_ffff | noise.bits() << 56,
        };
        if is_known(handle) {
            continue;
        }
        for error in [
            registry.release(handle, Kind::VALUES).unwrap_err(),
            registry.info(handle).unwrap_err(),
            registry.plus(handle, handle, Some(handle)).unwrap_err(),
        ] {
            assert!(
                matches!(error, Error::Handle { fault: HandleFault::Foreign | HandleFault::Stale, .. }),
                "{handle:#x}: {error}"
            );
        }
    }
    assert_eq!(registry.len(), count);
}

#[test]
fn a_kind_in_the_handle_that_is_not_the_objects_is_foreign() {
    let Some(context) = first() else { return };
    let registry = Registry::new();
    let x = registry.upload_vector(context, &[1.0_f32; 4]).unwrap();
    for kind in (0..=255_u64).filter(|&k| k != x >> 56) {
        assert_error(registry.sum(x & 0x00ff_ffff_ffff_ffff | kind << 56), FOREIGN, "a");
    }
}

#[test]
fn wrong_kinds_are_named() {
    let Some(context) = first() else { return };
    let registry = Registry::new();
    let vector = registry.upload_vector(context, &[1.0_f32; 2]).unwrap();
    let dense = registry.upload_dense(context, 2, 2, &[1.0_f32; 4]).unwrap();
    let csr = registry.upload_csr(context, (2, 2), &[0, 1, 2], &[0, 1], &[1.0_f32; 2]).unwrap();
    let band = registry.upload_band(context, (2, 2), (0, 0), &[1.0_f32, 0.0, 0.0, 1.0]).unwrap();
    let message = assert_error(registry.release(vector, &[Kind::Csr]), WRONG_KIND, "handle");
    assert!(message.contains("expected a sparse matrix"), "{message}");
    assert_error(registry.release(csr, Kind::FULL), WRONG_KIND, "handle");
    assert_error(registry.release(dense, &[Kind::Band]), WRONG_KIND, "handle");
    assert_error(registry.mv(1.0, vector, vector, 0.0, None), WRONG_KIND, "a");
    assert_error(registry.mv(1.0, csr, csr, 0.0, None), WRONG_KIND, "x");
    assert_error(registry.mv(1.0, csr, vector, 0.0, Some(band)), WRONG_KIND, "y");
    let message = assert_error(registry.mv_transposed(1.0, band, vector, 0.0, None), WRONG_KIND, "a");
    assert!(message.contains("dense matrix or sparse matrix"), "{message}");
    assert_error(registry.slice(csr, 0..1), WRONG_KIND, "handle");
    // A dense matrix is a vector only with one row or column; values of different structures do not mix.
    let shape = "clinalg:argument:shape";
    assert_error(registry.mv(1.0, csr, dense, 0.0, None), shape, "x");
    assert_error(registry.mv(1.0, csr, vector, 0.0, Some(dense)), shape, "y");
    assert_error(registry.plus(csr, band, None), shape, "b");
    assert_error(registry.plus(dense, csr, None), shape, "b");
    assert_error(registry.plus(vector, vector, Some(dense)), shape, "out");
    assert_error(registry.copy(band, Some(dense)), shape, "out");
    for (handle, kinds) in [(vector, Kind::FULL), (dense, Kind::FULL), (csr, &[Kind::Csr]), (band, &[Kind::Band])] {
        registry.release(handle, kinds).unwrap();
    }
    assert!(registry.is_empty());
}

#[test]
fn precisions_do_not_mix() {
    let Some(context) = first().filter(|c| common::has::<f64>(c)) else { return };
    let registry = Registry::new();
    let x = registry.upload_vector(context, &[1.0_f32, 2.0]).unwrap();
    let y = registry.upload_vector(context, &[1.0_f64, 2.0]).unwrap();
    let a = registry.upload_dense(context, 2, 2, &[1.0_f64; 4]).unwrap();
    let id = "clinalg:argument:precision";
    let message = assert_error(registry.plus(x, y, None), id, "b");
    assert!(
        message.contains("double precision (f64)") && message.contains("expected single precision (f32)"),
        "{message}"
    );
    assert_error(registry.minus(x, x, Some(y)), id, "out");
    assert_error(registry.axpby(1.0, y, 1.0, x, None), id, "y");
    assert_error(registry.dot(y, x), id, "b");
    assert_error(registry.mv(1.0, a, x, 0.0, None), id, "x");
    assert_error(registry.mv(1.0, a, y, 0.0, Some(x)), id, "y");
    assert_error(registry.write_slice(x, 0, y), id, "source");
    assert_error(registry.read(x, 0, &mut [0.0_f64]), id, "handle");
    assert_error(registry.write(y, 0, &[0.0_f32]), id, "handle");
    assert_eq!(registry.info(y).unwrap().precision, Precision::F64);
    assert_eq!((registry.sum(x).unwrap(), registry.sum(y).unwrap(), registry.len()), (3.0, 3.0, 3));
}

#[test]
fn contexts_do_not_mix() {
    let Some(context) = first() else { return };
    let device = Device::select(&context.device().index.to_string()).unwrap();
    let other = Context::new(&device, &ContextOptions::default()).unwrap();
    let registry = Registry::new();
    let x = registry.upload_vector(context, &[1.0_f32, 2.0]).unwrap();
    let y = registry.upload_vector(&other, &[1.0_f32, 2.0]).unwrap();
    let d = registry.upload_dense(&other, 2, 1, &[1.0_f32, 2.0]).unwrap();
    let id = "clinalg:argument:context";
    assert_error(registry.plus(x, y, None), id, "b");
    assert_error(registry.plus(x, d, None), id, "b");
    assert_error(registry.times_constant(x, 2.0, Some(y)), id, "out");
    assert_error(registry.dot(x, y), id, "b");
    assert_error(registry.write_slice(x, 0, y), id, "source");
}

fn operations<T: Real>(context: &Context) {
    let registry = Registry::new();
    let n = 1000;
    let (x, y) = (noise::<T>(n, 2), noise::<T>(n, 3));
    let hx = registry.upload_vector(context, &x).unwrap();
    // A dense column is as good as a vector.
    let hy = registry.upload_dense(context, n, 1, &y).unwrap();
    let out = registry.upload_vector(context, &vec![T::nan(); n]).unwrap();
    let check = |what: &str, made: clinalg::Result<u64>, given: Option<u64>, want: &dyn Fn(usize) -> T| {
        let handle = made.unwrap();
        let want: Vec<T> = (0..n).map(want).collect();
        assert_close(what, &values::<T>(&registry, handle), &want, |_| 4.0 * eps::<T>());
        match given {
            Some(given) => assert_eq!(handle, given, "{what}"),
            None => registry.release(handle, Kind::FULL).unwrap(),
        }
    };
    let c = T::from_f64(0.75);
    for to in [None, Some(out)] {
        check("plus", registry.plus(hx, hy, to), to, &|i| x[i] + y[i]);
        check("minus", registry.minus(hx, hy, to), to, &|i| x[i] - y[i]);
        check("minus_scaled", registry.minus_scaled(hx, hy, 0.75, to), to, &|i| x[i] - c * y[i]);
        check("times_constant", registry.times_constant(hx, 0.75, to), to, &|i| c * x[i]);
        check("multiply", registry.multiply(hx, hy, to), to, &|i| x[i] * y[i]);
        check("axpby", registry.axpby(0.75, hx, -0.5, hy, to), to, &|i| c * x[i] - T::from_f64(0.5) * y[i]);
        check("copy", registry.copy(hx, to), to, &|i| x[i]);
    }
    // The output is an input; both inputs and the output are one object.
    let z = registry.copy(hx, None).unwrap();
    check("x = x + y", registry.plus(z, hy, Some(z)), Some(z), &|i| x[i] + y[i]);
    registry.copy(hx, Some(z)).unwrap();
    check("x = y - x", registry.minus(hy, z, Some(z)), Some(z), &|i| y[i] - x[i]);
    registry.copy(hx, Some(z)).unwrap();
    check("x = x + x", registry.plus(z, z, Some(z)), Some(z), &|i| x[i] + x[i]);
    registry.copy(hx, Some(z)).unwrap();
    check("x = x .* x", registry.multiply(z, z, Some(z)), Some(z), &|i| x[i] * x[i]);
    registry.copy(hx, Some(z)).unwrap();
    check("x = c x", registry.times_constant(z, 0.75, Some(z)), Some(z), &|i| c * x[i]);
    registry.copy(hx, Some(z)).unwrap();
    check("x = x", registry.copy(z, Some(z)), Some(z), &|i| x[i]);
    // Reductions.
    // Each of the 1000 terms has a magnitude below 1 and goes through fewer than 200 additions.
    let near = |what: &str, got: f64, want: T| assert_close(what, &[T::from_f64(got)], &[want], |_| 2e5 * eps::<T>());
    use clinalg_reference::vector;
    near("sum", registry.sum(hx).unwrap(), vector::sum(&x));
    near("dot", registry.dot(hx, hy).unwrap(), vector::dot(&x, &y));
    near("norm1", registry.norm1(hx).unwrap(), vector::norm1(&x));
    near("norm2", registry.norm2(hx).unwrap(), vector::norm2(&x));
    assert_eq!(registry.norm_inf(hx).unwrap(), vector::norm_inf(&x).into_f64());
    // Ranges and transfers.
    let part = registry.slice(hx, 10..25).unwrap();
    assert_eq!(values::<T>(&registry, part), x[10..25]);
    registry.write_slice(z, 985, part).unwrap();
    let mut end = vec![T::zero(); 16];
    registry.read(z, 984, &mut end).unwrap();
    assert_eq!((end[0], &end[1..]), (x[984], &x[10..25]));
    registry.write(z, 1, &end).unwrap();
    assert_eq!(values::<T>(&registry, z)[1..17], end);
    registry.fill(z, -2.5).unwrap();
    assert_eq!(registry.sum(z).unwrap(), -2500.0);
    let value = "clinalg:argument:value";
    assert_error(registry.write_slice(z, 986, part), value, "offset");
    assert_error(registry.slice(hx, 999..1001), value, "range");
    assert_error(registry.write_slice(z, 0, z), value, "target");
    assert_error(registry.read(z, 990, &mut end), value, "offset");
    assert_error(registry.write(z, 990, &end), value, "offset");
    let length = "clinalg:argument:length";
    assert_error(registry.plus(hx, part, None), length, "b");
    assert_error(registry.plus(hx, hx, Some(part)), length, "out");
    assert_error(registry.dot(hx, part), length, "b");
    assert_eq!(registry.len(), 5);
    assert_eq!(registry.release_all(), 5);
}

#[test]
fn operations_on_handles_match_the_reference() {
    on_every_device!(operations);
}

fn products<T: Real>(context: &Context) {
    let registry = Registry::new();
    let parts = sparse::<T>(40, 30, 4, |i| i % 7);
    let full = parts.to_dense().unwrap();
    let columns = parts.transpose().unwrap();
    let csc = (&columns.offsets[..], &columns.indices[..], &columns.values[..]);
    let csr = registry.upload_csc(context, (40, 30), csc.0, csc.1, csc.2).unwrap();
    let rows = registry.upload_csr(context, (40, 30), &parts.offsets, &parts.indices, &parts.values).unwrap();
    let dense = registry.upload_dense(context, 40, 30, &full).unwrap();
    let band = registry.upload_band(context, (40, 30), (39, 29), &full).unwrap();
    let band_csc = registry.upload_band_csc(context, (40, 30), (39, 29), csc.0, csc.1, csc.2).unwrap();
    let (x, old) = (noise::<T>(30, 5), noise::<T>(40, 6));
    let (hx, hy) = (registry.upload_vector(context, &x).unwrap(), registry.upload_vector(context, &old).unwrap());
    // A row passes for a vector too.
    let row = registry.upload_dense(context, 1, 40, &old).unwrap();
    let (alpha, beta) = (T::from_f64(1.5), T::from_f64(-0.5));
    let mut want = old.clone();
    oracle(&parts).mv(alpha, &x, beta, &mut want);
    let mut fresh = vec![T::zero(); 40];
    oracle(&parts).mv(alpha, &x, T::zero(), &mut fresh);
    for a in [csr, rows, dense, band, band_csc] {
        let bound = |i: usize| product_bound(&parts, alpha, &x, beta, &old, i);
        registry.write(hy, 0, &old).unwrap();
        assert_eq!(registry.mv(1.5, a, hx, -0.5, Some(hy)).unwrap(), hy);
        assert_close("mv", &values::<T>(&registry, hy), &want, bound);
        let y = registry.mv(1.5, a, hx, 7.0, None).unwrap();
        assert_close("mv into a new vector", &values::<T>(&registry, y), &fresh, bound);
        registry.release(y, &[Kind::Vector]).unwrap();
        registry.write(row, 0, &[T::nan(); 40]).unwrap();
        registry.mv(1.5, a, hx, 0.0, Some(row)).unwrap();
        assert_close("mv into a row", &values::<T>(&registry, row), &fresh, bound);
    }
    // Three right-hand sides, the second one twice the first and the third one zero.
    let xs: Vec<T> = x.iter().copied().chain(x.iter().map(|&v| v + v)).chain(vec![T::zero(); 30]).collect();
    let hxs = registry.upload_dense(context, 30, 3, &xs).unwrap();
    let hys = registry.upload_dense(context, 40, 3, &[T::nan(); 120]).unwrap();
    let wants: Vec<T> = fresh.iter().copied().chain(fresh.iter().map(|&v| v + v)).chain(vec![T::zero(); 40]).collect();
    for a in [csr, rows, dense, band] {
        let bound = |i: usize| 2.0 * product_bound(&parts, alpha, &x, T::zero(), &old, i % 40);
        let made = registry.mm(1.5, a, hxs, 7.0, None).unwrap();
        assert_close("mm into a new matrix", &values::<T>(&registry, made), &wants, bound);
        registry.release(made, &[Kind::Dense]).unwrap();
        assert_eq!(registry.mm(1.5, a, hxs, 0.0, Some(hys)).unwrap(), hys);
        assert_close("mm", &values::<T>(&registry, hys), &wants, bound);
    }
    assert_error(registry.mm(1.0, csr, hx, 0.0, None), WRONG_KIND, "x");
    assert_error(registry.mm(1.0, csr, hys, 0.0, None), "clinalg:argument:shape", "x");
    registry.write(row, 0, &old).unwrap();
    let mut want = vec![T::zero(); 30];
    oracle(&parts).mv_transposed(alpha, &old, T::zero(), &mut want);
    for a in [csr, rows, dense] {
        let y = registry.mv_transposed(1.5, a, row, 0.0, None).unwrap();
        assert_close("mv_transposed", &values::<T>(&registry, y), &want, |i| {
            product_bound(&columns, alpha, &old, T::zero(), &want, i)
        });
        registry.release(y, Kind::VALUES).unwrap();
    }
    // The transpose kept inside is dropped when the values change through a handle, also where out is an input.
    registry.plus(csr, csr, Some(csr)).unwrap();
    let y = registry.mv_transposed(1.5, csr, row, 0.0, None).unwrap();
    let twice: Vec<T> = want.iter().map(|&v| v + v).collect();
    assert_close("mv_transposed of 2 A", &values::<T>(&registry, y), &twice, |i| {
        2.0 * product_bound(&columns, alpha, &old, T::zero(), &want, i)
    });
    // y may be neither x nor A.
    let value = "clinalg:argument:value";
    let square = registry.upload_dense(context, 1, 1, &[T::one()]).unwrap();
    let one = registry.upload_vector(context, &[T::one()]).unwrap();
    let message = assert_error(registry.mv(1.0, square, one, 0.0, Some(one)), value, "y");
    assert!(message.contains("argument `x`"), "{message}");
    assert_error(registry.mv(1.0, square, one, 0.0, Some(square)), value, "y");
    let length = "clinalg:argument:length";
    assert_error(registry.mv(1.0, csr, one, 0.0, None), length, "x");
    assert_error(registry.mv(1.0, csr, hx, 0.0, Some(one)), length, "y");
}

#[test]
fn products_on_handles_match_the_reference() {
    on_every_device!(products);
}

fn downloads<T: Real>(context: &Context) {
    let registry = Registry::new();
    let full = noise::<T>(12, 7);
    let host = |handle: u64| match registry.download(handle).unwrap() {
        Download::F32(host) => format!("{host:?}"),
        Download::F64(host) => format!("{host:?}"),
        complex => panic!("{complex:?}"),
    };
    let dense = registry.upload_dense(context, 3, 4, &full).unwrap();
    assert_eq!(host(dense), format!("{:?}", Host::Full { rows: 3, cols: 4, values: full.clone() }));
    let vector = registry.upload_vector(context, &full).unwrap();
    assert_eq!(host(vector), format!("{:?}", Host::Full { rows: 12, cols: 1, values: full.clone() }));
    let parts = sparse::<T>(5, 7, 8, |i| i);
    let t = parts.transpose().unwrap();
    let want = Host::Sparse {
        rows: 5,
        cols: 7,
        offsets: t.offsets.clone(),
        indices: t.indices.clone(),
        values: t.values.clone(),
    };
    let csr = registry.upload_csc(context, (5, 7), &t.offsets, &t.indices, &t.values).unwrap();
    assert_eq!(host(csr), format!("{want:?}"));
    let band = registry.upload_band_csc(context, (5, 7), (4, 6), &t.offsets, &t.indices, &t.values).unwrap();
    assert_eq!(host(band), format!("{want:?}"));
    let empty = registry.upload_dense::<T>(context, 0, 3, &[]).unwrap();
    assert_eq!(host(empty), format!("{:?}", Host::Full { rows: 0, cols: 3, values: Vec::<T>::new() }));

    let info = registry.info(band).unwrap();
    assert_eq!((info.kind, info.rows, info.cols, info.kl, info.ku), (Kind::Band, 5, 7, 4, 6));
    let info = registry.info(csr).unwrap();
    assert_eq!((info.kind, info.precision, info.entries), (Kind::Csr, T::PRECISION, parts.nnz()));
    let info = registry.info(vector).unwrap();
    assert_eq!((info.kind, info.rows, info.cols, info.entries), (Kind::Vector, 12, 1, 12));
    // Bad uploads leave nothing behind.
    let count = registry.len();
    assert_error(registry.upload_dense(context, 3, 3, &full), "clinalg:argument:length", "values");
    assert_error(registry.upload_band(context, (3, 4), (0, 0), &full), "clinalg:argument:value", "matrix");
    assert_error(registry.upload_csc(context, (1, 1), &[0, 1], &[1], &full[..1]), "clinalg:argument:index", "indices");
    assert_eq!(registry.len(), count);
}

#[test]
fn downloads_are_in_matlabs_storage() {
    on_every_device!(downloads);
}

#[test]
fn value_arrays_of_matrices_take_part() {
    let Some(context) = first() else { return };
    let registry = Registry::new();
    let parts = sparse::<f32>(9, 9, 9, |_| 3);
    let a = registry.insert(clinalg::Csr::from_parts(context, &parts).unwrap());
    let b = registry.times_constant(a, 2.0, None).unwrap();
    assert_eq!(registry.info(b).unwrap().kind, Kind::Csr);
    let c = registry.minus(b, a, None).unwrap();
    let same = |handle: u64, factor: f32| {
        let got = registry.with(handle, |o| match o.content() {
            Some(Stored::<f32>::Csr(m)) => m.to_parts().unwrap(),
            _ => panic!("a sparse matrix went in"),
        });
        let want: Vec<f32> = parts.values.iter().map(|v| factor * v).collect();
        assert_eq!(got.unwrap(), CsrParts { values: want, ..parts.clone() });
    };
    same(b, 2.0);
    same(c, 1.0);
    // A band's padding stays zero whatever the factor.
    let band = BandParts { rows: 2, cols: 2, kl: 1, ku: 1, data: vec![0.0_f32, 1.0, 2.0, 3.0, 4.0, 0.0] };
    let band = registry.insert(clinalg::Band::from_parts(context, &band).unwrap());
    registry.fill(band, 1.0).unwrap();
    assert_eq!(registry.sum(band).unwrap(), 4.0);
    registry.times_constant(band, f64::INFINITY, Some(band)).unwrap();
    assert_eq!(registry.sum(band).unwrap(), f64::INFINITY);
    registry.axpby(f64::INFINITY, band, 1.0, band, Some(band)).unwrap();
    assert_eq!(registry.sum(band).unwrap(), f64::INFINITY);
}

#[test]
fn all_handles_are_stale_after_release_all() {
    let Some(context) = first() else { return };
    let device = Device::select(&context.device().index.to_string()).unwrap();
    let context = Context::new(&device, &ContextOptions::default()).unwrap();
    let registry = Registry::new();
    let handles: Vec<u64> = (0..50).map(|i| registry.upload_vector(&context, &vec![1.0_f32; i]).unwrap()).collect();
    assert_eq!(registry.release_all(), 50);
    assert_eq!(context.memory().live_bytes, 0);
    handles.iter().for_each(|&h| drop(assert_error(registry.sum(h), STALE, "a")));
    let again = registry.upload_vector(&context, &[1.0_f32]).unwrap();
    handles.iter().for_each(|&h| drop(assert_error(registry.release(h, Kind::VALUES), STALE, "handle")));
    assert_eq!(registry.sum(again).unwrap(), 1.0);
    assert_eq!((registry.release_all(), registry.release_all()), (1, 0));
}

#[test]
fn a_panic_inside_a_call_leaves_the_registry_usable() {
    let Some(context) = first() else { return };
    let registry = Registry::new();
    let x = registry.upload_vector(context, &[1.0_f32, 2.0]).unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        registry.call(&[], Some(Operand::new("x", x, Kind::VALUES)), |_, _| -> clinalg::Result<()> {
            panic!("in the call")
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(registry.sum(x).unwrap(), 3.0);
    registry.fill(x, 4.0).unwrap();
    registry.release(x, Kind::VALUES).unwrap();
}

#[test]
fn calls_on_different_objects_run_side_by_side() {
    let Some(context) = first() else { return };
    let registry = Registry::new();
    let x = registry.upload_vector(context, &[1.0_f32]).unwrap();
    let y = registry.upload_vector(context, &[2.0_f32]).unwrap();
    let (inside, done) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            registry.call(&[], Some(Operand::new("x", x, Kind::VALUES)), |_, _| {
                inside.wait();
                done.wait();
                Ok(())
            })
        });
        inside.wait();
        // x is held to be written by the other thread all the while.
        assert_eq!(registry.sum(y).unwrap(), 2.0);
        registry.fill(y, 5.0).unwrap();
        let z = registry.upload_vector(context, &[1.0_f32]).unwrap();
        registry.release(z, Kind::VALUES).unwrap();
        // A release does not wait; the object goes when the call ends.
        registry.release(x, Kind::VALUES).unwrap();
        assert_error(registry.sum(x), STALE, "a");
        done.wait();
    });
    assert_eq!(registry.len(), 1);
}

#[test]
fn threads_use_one_registry() {
    let Some(context) = first() else { return };
    let registry = Registry::new();
    let shared: Vec<u64> = (0..4).map(|_| registry.upload_vector(context, &[1.0_f32; 100]).unwrap()).collect();
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (registry, shared) = (&registry, &shared);
            scope.spawn(move || {
                let mut noise = Noise::new(thread);
                for round in 0..150 {
                    // Own objects, made and released all the time: results must be this thread's.
                    let own = registry.upload_vector(context, &[thread as f32; 64]).unwrap();
                    let sum = registry.plus(own, own, None).unwrap();
                    assert_eq!(registry.sum(sum).unwrap(), 128.0 * thread as f64);
                    registry.release(own, Kind::VALUES).unwrap();
                    assert_error(registry.sum(own), STALE, "a");
                    registry.release(sum, Kind::VALUES).unwrap();
                    // Shared objects as input and output in every order: no deadlock.
                    let pick = |noise: &mut Noise| shared[noise.below(4)];
                    let (a, b, c) = (pick(&mut noise), pick(&mut noise), pick(&mut noise));
                    registry.axpby(0.5, a, 0.5, b, Some(c)).unwrap();
                    if a != b {
                        registry.write_slice(a, 3, b).map_err(|e| e.id()).unwrap_err();
                    }
                    if round % 10 == 0 {
                        // Means of ones are ones.
                        assert_eq!(registry.dot(a, b).unwrap(), 100.0);
                    }
                }
            });
        }
    });
    assert_eq!(registry.len(), 4);
}

#[test]
fn handles_go_through_the_one_registry_of_the_process() {
    let Some(context) = first() else { return };
    let x = Registry::global().insert(Vector::from_slice(context, &[1.0_f32]).unwrap());
    let elsewhere = std::thread::spawn(move || Registry::global().sum(x).unwrap()).join().unwrap();
    assert_eq!(elsewhere, 1.0);
    Registry::global().release(x, Kind::VALUES).unwrap();
}
