//! Objects of complex values: what the operations give, and what is refused.

#[path = "../../../tests/core/common/mod.rs"]
mod common;

use std::ops::ControlFlow;

use clinalg::multigrid::Grid;
use clinalg::ops::Transpose;
use clinalg::solve::{Stop, Stopping};
use clinalg::{Complex, Context, CsrParts, Real, Scalar};
use clinalg_handles::{Download, Factorisation, Host, Kind, Method, Preconditioning, Registry, ScalarType};
use common::{assert_error, contexts, eps, has, noise};

const VALUE: &str = "clinalg:argument:value";
const PRECISION: &str = "clinalg:argument:precision";

/// A complex type of values whose parts are `R`.
trait Parts: Real {
    type Complex: Scalar<Real = Self>;
}

impl Parts for f32 {
    type Complex = Complex<f32>;
}

impl Parts for f64 {
    type Complex = Complex<f64>;
}

fn complex<R: Parts>(n: usize, seed: u64) -> Vec<R::Complex> {
    let (re, im) = (noise::<R>(n, seed), noise::<R>(n, seed + 1));
    re.into_iter().zip(im).map(|(re, im)| R::Complex::from_parts(re, im)).collect()
}

fn read<T: Scalar>(registry: &Registry, handle: u64) -> Vec<T> {
    let info = registry.info(handle).unwrap();
    assert_eq!(info.scalar(), ScalarType::of::<T>());
    let mut values = vec![T::zero(); info.rows * info.cols];
    registry.read(handle, 0, &mut values).unwrap();
    values
}

/// Within the rounding of sums of `terms` products of numbers of size 1.
fn assert_near<T: Scalar>(got: &[T], want: &[T], terms: usize) {
    assert_eq!(got.len(), want.len());
    let bound = (terms + 4) as f64 * 8.0 * eps::<T::Real>();
    for (k, (&got, &want)) in got.iter().zip(want).enumerate() {
        let error = (got - want).modulus().into_f64();
        assert!(error <= bound, "{k}: {got} instead of {want}: {error:.2e} > {bound:.2e}");
    }
}

/// op(A) x for A column by column.
fn product<T: Scalar>(op: Transpose, rows: usize, a: &[T], x: &[T]) -> Vec<T> {
    let cols = a.len() / rows;
    match op {
        Transpose::No => (0..rows).map(|i| (0..cols).map(|j| a[j * rows + i] * x[j]).sum()).collect(),
        _ => {
            let of = |a: T| if op == Transpose::Conjugate { a.conj() } else { a };
            (0..cols).map(|j| (0..rows).map(|i| of(a[j * rows + i]) * x[i]).sum()).collect()
        }
    }
}

fn products<R: Parts>(context: &Context) {
    let registry = Registry::new();
    let (rows, cols) = (5, 3);
    let a = complex::<R>(rows * cols, 1);
    let (x, y) = (complex::<R>(cols, 3), complex::<R>(rows, 5));
    let parts = CsrParts::from_dense(rows, cols, &a).unwrap();
    let matrices = [
        registry.upload_dense(context, rows, cols, &a).unwrap(),
        registry.upload_csr(context, (rows, cols), &parts.offsets, &parts.indices, &parts.values).unwrap(),
        registry.upload_band(context, (rows, cols), (rows - 1, cols - 1), &a).unwrap(),
    ];
    let (hx, hy) = (registry.upload_vector(context, &x).unwrap(), registry.upload_vector(context, &y).unwrap());
    let (alpha, beta) = (Complex::new(0.5, -1.5), Complex::new(-0.25, 2.0));
    let [al, be] = [alpha, beta].map(|z| R::Complex::from_parts(R::from_f64(z.re), R::from_f64(z.im)));
    for handle in matrices {
        let z = registry.mv(1.0, handle, hx, 0.0, None).unwrap();
        assert_near(&read(&registry, z), &product(Transpose::No, rows, &a, &x), cols);
        let out = registry.copy(hy, None).unwrap();
        registry.mv_op(Transpose::No, alpha, handle, hx, beta, Some(out)).unwrap();
        let want = product(Transpose::No, rows, &a, &x);
        let want: Vec<_> = want.into_iter().zip(&y).map(|(p, &y)| al * p + be * y).collect();
        assert_near(&read(&registry, out), &want, 3 * cols);
        if registry.info(handle).unwrap().kind == Kind::Band {
            continue;
        }
        for op in [Transpose::Yes, Transpose::Conjugate] {
            let z = registry.mv_op(op, 1.0, handle, hy, 0.0, None).unwrap();
            assert_near(&read(&registry, z), &product(op, rows, &a, &y), rows);
        }
        let transposed = registry.conj_transpose(handle).unwrap();
        let z = registry.mv(1.0, transposed, hy, 0.0, None).unwrap();
        assert_near(&read(&registry, z), &product(Transpose::Conjugate, rows, &a, &y), rows);
    }
    let columns = registry.upload_dense(context, cols, 1, &x).unwrap();
    let z = registry.mm(alpha, matrices[0], columns, 0.0, None).unwrap();
    let want: Vec<_> = product(Transpose::No, rows, &a, &x).into_iter().map(|p| al * p).collect();
    assert_near(&read(&registry, z), &want, 2 * cols);
}

fn vectors<R: Parts>(context: &Context) {
    let registry = Registry::new();
    let n = 70;
    let (x, y) = (complex::<R>(n, 7), complex::<R>(n, 9));
    let (hx, hy) = (registry.upload_vector(context, &x).unwrap(), registry.upload_vector(context, &y).unwrap());
    assert_eq!(read::<R::Complex>(&registry, hx), x);
    let wide = |z: R::Complex| Complex::new(z.re().into_f64(), z.im().into_f64());
    let near = |got: Complex<f64>, want: Complex<f64>| {
        let bound = 40.0 * n as f64 * eps::<R>();
        assert!((got - want).norm() <= bound, "{got} instead of {want}");
    };
    near(registry.sum_complex(hx).unwrap(), x.iter().map(|&x| wide(x)).sum());
    near(registry.dot_complex(hx, hy).unwrap(), x.iter().zip(&y).map(|(&x, &y)| wide(x).conj() * wide(y)).sum());
    near(registry.dotu(hx, hy).unwrap(), x.iter().zip(&y).map(|(&x, &y)| wide(x) * wide(y)).sum());
    let squares: f64 = x.iter().map(|&x| wide(x).norm_sqr()).sum();
    assert!((registry.norm2(hx).unwrap() - squares.sqrt()).abs() <= 40.0 * n as f64 * eps::<R>());
    let c = Complex::new(0.0, 2.0);
    let scaled = registry.times_constant(hx, c, None).unwrap();
    let i2 = R::Complex::from_parts(R::zero(), R::from_f64(2.0));
    assert_eq!(read::<R::Complex>(&registry, scaled), x.iter().map(|&x| i2 * x).collect::<Vec<_>>());
    let conjugates: Vec<_> = x.iter().map(|x| x.conj()).collect();
    let conj = registry.conj(hx, None).unwrap();
    assert_eq!(read::<R::Complex>(&registry, conj), conjugates);
    registry.conj(conj, Some(conj)).unwrap();
    assert_eq!(read::<R::Complex>(&registry, conj), x);
    registry.fill(conj, Complex::new(1.0, -1.0)).unwrap();
    assert_eq!(registry.sum_complex(conj).unwrap(), Complex::new(n as f64, -(n as f64)));
    // Parts and back.
    let (re, im) = (registry.real_part(hx).unwrap(), registry.imaginary_part(hx).unwrap());
    assert!(!registry.info(re).unwrap().complex);
    let joined = registry.complex(re, im).unwrap();
    assert_eq!(read::<R::Complex>(&registry, joined), x);
    let squared: f64 = registry.norm2(registry.abs(hx).unwrap()).unwrap();
    assert!((squared - squares.sqrt()).abs() <= 40.0 * n as f64 * eps::<R>());
    // A row is the transpose of a column.
    let row = registry.conj_transpose(hx).unwrap();
    assert_eq!((registry.info(row).unwrap().rows, read::<R::Complex>(&registry, row)), (1, conjugates));
    assert_eq!(registry.release_all() > 0, registry.is_empty());
}

fn systems<R: Parts>(context: &Context) {
    let registry = Registry::new();
    let n = 40;
    let solution = complex::<R>(n, 11);
    let hermitian: Vec<(usize, usize, R::Complex)> = (0..n)
        .flat_map(|i| {
            let number = |re, im| R::Complex::from_parts(R::from_f64(re), R::from_f64(im));
            let mut row = vec![(i, i, number(4.0, 0.0))];
            if i + 1 < n {
                row.extend([(i, i + 1, number(-1.0, 0.5)), (i + 1, i, number(-1.0, -0.5))]);
            }
            row
        })
        .collect();
    let parts = CsrParts::from_triplets(n, n, &hermitian).unwrap();
    let dense = parts.to_dense().unwrap();
    let sparse = registry.upload_csr(context, (n, n), &parts.offsets, &parts.indices, &parts.values).unwrap();
    let full = registry.upload_dense(context, n, n, &dense).unwrap();
    let b = registry.upload_vector(context, &product(Transpose::No, n, &dense, &solution)).unwrap();
    let close = |x: u64, what: &str| {
        for (&got, &want) in read::<R::Complex>(&registry, x).iter().zip(&solution) {
            assert!((got - want).modulus().into_f64() <= 2000.0 * eps::<R>(), "{what}: {got} instead of {want}");
        }
    };
    let stopping = Stopping::default().tolerance(64.0 * eps::<R>()).max_iterations(400);
    for a in [sparse, full] {
        for method in [Method::Cg, Method::BiCgStab, Method::Gmres(20)] {
            for preconditioning in [Preconditioning::None, Preconditioning::Jacobi] {
                let (x, report) = registry.solve(method, preconditioning, a, b, None, &stopping).unwrap();
                assert_eq!(report.stop, Stop::Converged, "{method:?} {preconditioning:?}");
                close(x, "Krylov method");
            }
        }
    }
    let columns = registry.upload_dense(context, n, 1, &read::<R::Complex>(&registry, b)).unwrap();
    for factorisation in [Factorisation::Lu, Factorisation::Cholesky, Factorisation::Qr] {
        let x = registry.solve_dense(factorisation, full, b).unwrap().x;
        assert_eq!(registry.info(x).unwrap().kind, Kind::Vector);
        close(x, "factorisation");
        let x = registry.solve_dense(factorisation, full, columns).unwrap().x;
        assert_eq!(registry.info(x).unwrap().kind, Kind::Dense);
        close(x, "factorisation of columns");
    }
    assert_error(registry.solve_dense(Factorisation::Lu, sparse, b), "clinalg:handle:kind", "a");
    let zeros = registry.zeros(context, ScalarType::of::<R::Complex>(), n, n).unwrap();
    let message = registry.solve_dense(Factorisation::Lu, zeros, b).unwrap_err();
    assert_eq!(message.id(), "clinalg:matrix:singular");
    let message = registry.solve_dense(Factorisation::Cholesky, zeros, b).unwrap_err();
    assert_eq!(message.id(), "clinalg:matrix:notPositiveDefinite");
}

fn transfers<R: Parts>(context: &Context)
where
    Download: From<Host<R::Complex>>,
{
    let registry = Registry::new();
    let number = |re: f64, im: f64| R::Complex::from_parts(R::from_f64(re), R::from_f64(im));
    let values = [number(1.0, 2.0), number(3.0, -4.0)];
    let sparse = registry.upload_csc(context, (3, 2), &[0, 1, 2], &[2, 0], &values).unwrap();
    let expected =
        Host::Sparse { rows: 3, cols: 2, offsets: vec![0, 1, 2], indices: vec![2, 0], values: values.to_vec() };
    assert_eq!(registry.download(sparse).unwrap(), Download::from(expected));
    // The other precision keeps complex numbers; these are exact in both.
    for to in [ScalarType::C32, ScalarType::C64] {
        let other = registry.convert(sparse, to).unwrap();
        assert_eq!(registry.info(other).unwrap().scalar(), to);
        assert_eq!(registry.sum_complex(other).unwrap(), Complex::new(4.0, -2.0));
    }
    let message = assert_error(registry.convert(sparse, ScalarType::F64), VALUE, "handle");
    assert!(message.contains("imaginary part"), "{message}");
    let real = registry.upload_vector(context, &[R::from_f64(0.5)]).unwrap();
    let as_complex = registry.convert(real, ScalarType::of::<R::Complex>()).unwrap();
    assert_eq!(read::<R::Complex>(&registry, as_complex), [number(0.5, 0.0)]);
    assert!(matches!(registry.download(as_complex).unwrap(), Download::C32(_) | Download::C64(_)));
}

fn refusals<R: Parts>(context: &Context) {
    let registry = Registry::new();
    let x = registry.upload_vector(context, &complex::<R>(9, 1)).unwrap();
    let real = registry.upload_vector(context, &[R::one(); 9]).unwrap();
    let message = assert_error(registry.plus(x, real, None), VALUE, "b");
    assert!(message.contains("complex in") && message.contains("real in"), "{message}");
    assert_error(registry.plus(real, x, None), VALUE, "b");
    assert_error(registry.plus(real, real, Some(x)), VALUE, "out");
    assert_error(registry.sum(x), VALUE, "a");
    assert!(registry.dot(x, x).unwrap_err().to_string().contains("dot_complex"));
    let i = Complex::new(0.0, 1.0);
    assert_error(registry.times_constant(real, i, None), VALUE, "c");
    assert_error(registry.axpby(1.0, real, i, real, None), VALUE, "beta");
    assert_error(registry.fill(real, i), VALUE, "value");
    assert_error(registry.complex(x, x), VALUE, "re");
    assert_error(registry.complex(real, x), VALUE, "im");
    assert_error(registry.jacobi(x, x, None, 1, 0.8), VALUE, "u");
    let solver = registry.poisson(context, R::PRECISION, &Grid::square(3), &Default::default(), None).unwrap();
    let go_on = &mut |_: usize, _: f64| ControlFlow::Continue(());
    assert_error(registry.poisson_solve_vector(solver, x, None, go_on), VALUE, "f");
    assert_error(registry.read(x, 0, &mut [R::zero()]), VALUE, "handle");
    let other = match ScalarType::of::<R::Complex>() {
        ScalarType::C32 => ScalarType::C64,
        _ => ScalarType::C32,
    };
    let other = registry.convert(x, other).unwrap();
    assert_error(registry.plus(x, other, None), PRECISION, "b");
}

macro_rules! in_both_precisions {
    ($($test:ident => $body:ident;)*) => {$(
        #[test]
        fn $test() {
            for context in contexts() {
                $body::<f32>(context);
                if has::<f64>(context) {
                    $body::<f64>(context);
                }
            }
        }
    )*};
}
in_both_precisions! {
    products_with_matrices_and_their_transposes => products;
    vectors_and_their_parts => vectors;
    systems_by_krylov_methods_and_factorisations => systems;
    uploads_downloads_and_conversions => transfers;
    real_and_complex_objects_do_not_mix => refusals;
}
