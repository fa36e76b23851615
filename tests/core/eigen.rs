//! Eigenpairs against closed forms.

use std::f64::consts::PI;
use std::ops::ControlFlow;

use crate::common::{contexts, eps, has, takes};
use clinalg::amg::Amg;
use clinalg::eigen::{EigenParams, EigenScalar, Eigenpairs, Lobpcg, Which};
use clinalg::precond::{CholeskyParams, IncompleteCholesky};
use clinalg::solve::Stop;
use clinalg::{Band, BandParts, Complex, Context, Csr, CsrParts, Dense, Real, Scalar};

/// The matrix with stencil -1 2 -1 in each direction on an nx by ny grid.
fn laplacian<T: Real>(nx: usize, ny: usize) -> CsrParts<T> {
    let mut entries = Vec::new();
    for j in 0..ny {
        for i in 0..nx {
            let row = j * nx + i;
            entries.push((row, row, T::from_f64(4.0)));
            let mut link = |there: bool, col: usize| {
                if there {
                    entries.push((row, col, T::from_f64(-1.0)));
                }
            };
            link(i > 0, row.wrapping_sub(1));
            link(i + 1 < nx, row + 1);
            link(j > 0, row.wrapping_sub(nx));
            link(j + 1 < ny, row + nx);
        }
    }
    CsrParts::from_triplets(nx * ny, nx * ny, &entries).unwrap()
}

/// Its eigenvalues in ascending order.
fn spectrum(nx: usize, ny: usize) -> Vec<f64> {
    let one = |k: usize, n: usize| 2.0 - 2.0 * ((k + 1) as f64 * PI / (n + 1) as f64).cos();
    let mut all: Vec<_> = (0..nx).flat_map(|i| (0..ny).map(move |j| one(i, nx) + one(j, ny))).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Checks values, residuals, and that the vectors are orthonormal.
fn check<T: Real>(pairs: &Eigenpairs<T>, a: &CsrParts<T>, exact: &[f64], tolerance: f64) {
    let n = a.rows;
    let vectors: Vec<f64> = pairs.vectors.to_column_major().unwrap().iter().map(|v| v.into_f64()).collect();
    assert_eq!((pairs.vectors.rows(), pairs.vectors.cols(), pairs.values.len()), (n, exact.len(), exact.len()));
    let wide = |v: &T| v.into_f64();
    for (k, x) in vectors.chunks(n).enumerate() {
        let value = pairs.values[k];
        // Of a symmetric matrix the error is at most the norm of the residual, and often its square.
        assert!((value - exact[k]).abs() <= tolerance * exact[k].abs(), "{k}: {value} instead of {}", exact[k]);
        let mut square = 0.0;
        for row in 0..n {
            let entries = a.offsets[row]..a.offsets[row + 1];
            let sum: f64 = entries.map(|e| wide(&a.values[e]) * x[a.indices[e]]).sum();
            square += (sum - value * x[row]).powi(2);
        }
        let (got, said) = (square.sqrt() / value.abs(), pairs.residuals[k]);
        let noise = 40.0 * eps::<T>() * 8.0 / value.abs();
        assert!((got - said).abs() <= 1e-3 * said + noise, "{k}: residual {got:e}, reported as {said:e}");
        for (l, y) in vectors.chunks(n).enumerate() {
            let dot: f64 = x.iter().zip(y).map(|(a, b)| a * b).sum();
            assert!((dot - f64::from(u8::from(k == l))).abs() < 200.0 * eps::<T>(), "{k}, {l}: {dot:e}");
        }
    }
}

fn both_ends<T: Real>(context: &Context) {
    let (nx, ny) = (23, 19);
    let host = laplacian::<T>(nx, ny);
    let a = Csr::from_parts(context, &host).unwrap();
    let all = spectrum(nx, ny);
    for which in [Which::Smallest, Which::Largest] {
        let params = EigenParams::default().count(5).which(which);
        let pairs = Lobpcg::new(&a).params(params.clone()).run().unwrap();
        assert!(pairs.stop == Stop::Converged && pairs.iterations < 120, "{which:?}: {:?}", pairs.stop);
        let exact: Vec<f64> = match which {
            Which::Smallest => all[..5].to_vec(),
            Which::Largest => all.iter().rev().take(5).copied().collect(),
        };
        check(&pairs, &host, &exact, if T::epsilon().into_f64() < 1e-10 { 1e-12 } else { 2e-5 });
        let again = Lobpcg::new(&a).params(params).run().unwrap();
        assert_eq!((again.values, again.iterations), (pairs.values, pairs.iterations));
    }
}

#[test]
fn both_ends_of_a_laplacian() {
    for context in contexts() {
        if takes::<f32>(context) {
            both_ends::<f32>(context);
        }
        if has::<f64>(context) {
            both_ends::<f64>(context);
        }
    }
}

#[test]
fn a_preconditioner_makes_iterations_few_and_a_start_fewer() {
    for context in contexts().iter().filter(|c| has::<f64>(c)) {
        let (nx, ny) = (90, 70);
        let host = laplacian::<f64>(nx, ny);
        let a = Csr::from_parts(context, &host).unwrap();
        let mut amg = Amg::new(&a, &Default::default()).unwrap();
        // The 4th and 5th are close together.
        let params = EigenParams::default().count(4).tolerance(1e-9);
        let mut seen = Vec::new();
        let mut see = |k: usize, residual: f64| {
            seen.push((k, residual));
            ControlFlow::Continue(())
        };
        let pairs = Lobpcg::new(&a).preconditioner(&mut amg).params(params.clone()).progress(&mut see).run().unwrap();
        let plain = Lobpcg::new(&a).params(params.clone()).run().unwrap();
        println!("{} iterations instead of {}", pairs.iterations, plain.iterations);
        assert!(pairs.stop == Stop::Converged && 4 * pairs.iterations <= plain.iterations, "{}", pairs.iterations);
        assert_eq!(seen.len(), pairs.iterations);
        assert!(seen[0].1 > 0.1 && seen.iter().enumerate().all(|(k, step)| step.0 == k), "{seen:?}");
        check(&pairs, &host, &spectrum(nx, ny)[..4], 1e-12);
        let again = Lobpcg::new(&a).preconditioner(&mut amg).start(&pairs.vectors).params(params).run().unwrap();
        assert!(again.iterations < pairs.iterations && again.stop == Stop::Converged);
    }
}

/// Linear elements on an interval: 6 (1 - cos t) / (h^2 (2 + cos t)) with t = k pi h.
#[test]
fn stiffness_and_mass_matrices() {
    for context in contexts().iter().filter(|c| has::<f64>(c)) {
        let n = 119;
        let h = 1.0 / (n + 1) as f64;
        let band = |diagonal: f64, beside: f64| {
            let mut data: Vec<f64> =
                [beside, diagonal, beside].into_iter().flat_map(|v| std::iter::repeat_n(v, n)).collect();
            (data[0], data[3 * n - 1]) = (0.0, 0.0);
            Band::from_parts(context, &BandParts { rows: n, cols: n, kl: 1, ku: 1, data }).unwrap()
        };
        let (stiffness, mass) = (band(2.0 / h, -1.0 / h), band(4.0 * h / 6.0, h / 6.0));
        let pairs = Lobpcg::new(&stiffness).mass(&mass).params(EigenParams::default().count(3)).run().unwrap();
        assert_eq!(pairs.stop, Stop::Converged);
        for (k, value) in pairs.values.iter().enumerate() {
            let t = (k + 1) as f64 * PI * h;
            let exact = 6.0 * (1.0 - t.cos()) / (h * h * (2.0 + t.cos()));
            assert!((value - exact).abs() < 1e-11 * exact, "{value} instead of {exact}");
        }
        let x = pairs.vectors.to_column_major().unwrap();
        let dot = |a: &[f64], b: &[f64]| -> f64 {
            let sum = |i: usize| {
                let beside = |j: Option<usize>| j.and_then(|j| b.get(j)).copied().unwrap_or(0.0);
                h / 6.0 * (4.0 * b[i] + beside(i.checked_sub(1)) + beside(Some(i + 1)))
            };
            (0..n).map(|i| a[i] * sum(i)).sum()
        };
        for (k, l) in [(0, 0), (1, 1), (0, 1), (2, 0)] {
            let got = dot(&x[k * n..][..n], &x[l * n..][..n]);
            assert!((got - f64::from(u8::from(k == l))).abs() < 1e-12, "{k}, {l}: {got}");
        }
    }
}

/// A block of about as many vectors as there are unknowns.
#[test]
fn small_matrices_have_all_their_eigenvalues() {
    for context in contexts().iter().filter(|c| has::<f64>(c)) {
        for n in [1, 2, 5, 11] {
            let a = Csr::from_parts(context, &laplacian::<f64>(n, 1)).unwrap();
            let pairs = Lobpcg::new(&a).params(EigenParams::default().count(n)).run().unwrap();
            assert!(matches!(pairs.stop, Stop::Converged | Stop::RoundingFloor), "{n}: {:?}", pairs.stop);
            for (got, exact) in pairs.values.iter().zip(spectrum(n, 1)) {
                assert!((got - exact).abs() < 1e-13 * 4.0, "{n}: {got} instead of {exact}");
            }
        }
    }
}

#[test]
fn an_eigenvalue_of_zero_is_found_to_rounding() {
    for context in contexts().iter().filter(|c| has::<f64>(c)) {
        let n = 60;
        let mut host = laplacian::<f64>(n, 1);
        // Both ends free: rows of sum 0.
        for (row, col) in host.offsets.windows(2).enumerate().flat_map(|(r, w)| (w[0]..w[1]).map(move |e| (r, e))) {
            if host.indices[col] == row {
                host.values[col] = if row == 0 || row == n - 1 { 1.0 } else { 2.0 };
            }
        }
        let a = Csr::from_parts(context, &host).unwrap();
        let pairs = Lobpcg::new(&a).params(EigenParams::default().count(2)).run().unwrap();
        assert!(matches!(pairs.stop, Stop::RoundingFloor), "{:?}", pairs.stop);
        let second = 2.0 - 2.0 * (PI / n as f64).cos();
        assert!(pairs.values[0].abs() < 1e-13 && (pairs.values[1] - second).abs() < 1e-11, "{:?}", pairs.values);
    }
}

#[test]
fn mass_matrices_that_are_not_positive_definite_are_errors() {
    for context in contexts().iter().filter(|c| has::<f64>(c)) {
        let host = laplacian::<f64>(20, 20);
        let a = Csr::from_parts(context, &host).unwrap();
        let diagonal = |value: f64| {
            let entries: Vec<_> = (0..400).map(|i| (i, i, value)).collect();
            CsrParts::from_triplets(400, 400, &entries).unwrap()
        };
        let mut shifted = host.clone();
        for row in 0..400 {
            let own = (shifted.offsets[row]..shifted.offsets[row + 1]).find(|&e| shifted.indices[e] == row).unwrap();
            shifted.values[own] -= 2.0;
        }
        for b in [diagonal(-1.0), diagonal(0.0), shifted] {
            let b = Csr::from_parts(context, &b).unwrap();
            for which in [Which::Smallest, Which::Largest] {
                let params = EigenParams::default().count(3).which(which);
                let error = Lobpcg::new(&a).mass(&b).params(params).run().unwrap_err();
                assert!(error.to_string().contains("B is not positive definite"), "{which:?}: {error}");
                assert_eq!(error.id(), "clinalg:argument:value");
            }
        }
        // Eigenvalues of B from 1e-12 to 1.
        let entries: Vec<_> = (0..400).map(|i| (i, i, 10_f64.powf(-12.0 * i as f64 / 399.0))).collect();
        let b = Csr::from_triplets(context, 400, 400, &entries).unwrap();
        let pairs = Lobpcg::new(&a).mass(&b).params(EigenParams::default().count(2).max_iterations(50)).run().unwrap();
        assert!(pairs.values[0] > 0.0);
        // As many columns as the search has, so that none is random.
        let zeros = Dense::<f64>::zeros(context, 400, 64).unwrap();
        let error = Lobpcg::new(&a).start(&zeros).run().unwrap_err().to_string();
        assert!(error.contains("all its columns are 0"), "{error}");
    }
}

#[test]
fn unusable_arguments_are_errors_and_early_ends_are_reported() {
    let Some(context) = contexts().first() else { return };
    let a = Csr::from_parts(context, &laplacian::<f32>(40, 30)).unwrap();
    let refused = |solver: Lobpcg<'_, f32>, params: EigenParams, word: &str| {
        let error = solver.params(params).run().unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    let plain = EigenParams::default;
    refused(Lobpcg::new(&a), plain().count(0), "count");
    refused(Lobpcg::new(&a), plain().count(1201), "1200 rows");
    refused(Lobpcg::new(&a), plain().count(300), "at most 171");
    refused(Lobpcg::new(&a), plain().tolerance(f64::NAN), "tolerance");
    let wide = Dense::<f32>::zeros(context, 3, 4).unwrap();
    refused(Lobpcg::new(&wide), plain(), "square");
    refused(Lobpcg::new(&a).start(&wide), plain(), "1200 rows");
    let small = Csr::from_parts(context, &laplacian::<f32>(3, 3)).unwrap();
    refused(Lobpcg::new(&a).mass(&small), plain(), "1200 x 1200");
    let mut amg = Amg::new(&a, &Default::default()).unwrap();
    refused(Lobpcg::new(&a).preconditioner(&mut amg), plain().which(Which::Largest), "take no preconditioner");
    let limited = Lobpcg::new(&a).params(plain().max_iterations(2)).run().unwrap();
    assert_eq!((limited.stop, limited.iterations), (Stop::IterationLimit, 2));
    let mut stop = |k: usize, _: f64| if k < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let cancelled = Lobpcg::new(&a).progress(&mut stop).run().unwrap();
    assert_eq!((cancelled.stop, cancelled.iterations), (Stop::Cancelled, 3));
    let mut spoilt = laplacian::<f32>(9, 9);
    spoilt.values[7] = f32::NAN;
    let pairs = Lobpcg::new(&Csr::from_parts(context, &spoilt).unwrap()).run().unwrap();
    assert_eq!(pairs.stop, Stop::NotFinite);
}

/// A chain whose links turn the phase: exp(i phi) above the diagonal, its conjugate below. A diagonal of phases makes it real.
fn turned<T: Real>(n: usize, phi: f64) -> CsrParts<Complex<T>>
where
    Complex<T>: Scalar<Real = T>,
{
    let value = |re: f64, im: f64| Complex::new(T::from_f64(re), T::from_f64(im));
    let link = |i: usize| {
        let (c, s) = (phi * (1 + i % 3) as f64).sin_cos();
        [(i, i + 1, value(-s, -c)), (i + 1, i, value(-s, c))]
    };
    let entries: Vec<_> = (0..n).map(|i| (i, i, value(3.0, 0.0))).chain((0..n - 1).flat_map(link)).collect();
    CsrParts::from_triplets(n, n, &entries).unwrap()
}

fn hermitian<T: Real>(context: &Context, tolerance: f64)
where
    Complex<T>: EigenScalar + Scalar<Real = T, Wide = Complex<f64>>,
{
    let n = 60;
    let host = turned::<T>(n, 0.7);
    let a = Csr::from_parts(context, &host).unwrap();
    let exact = |k: usize| 3.0 - 2.0 * (k as f64 * PI / (n + 1) as f64).cos();
    for (which, wanted) in [(Which::Smallest, [1, 2, 3]), (Which::Largest, [60, 59, 58])] {
        let mut factor = IncompleteCholesky::new(&a, &CholeskyParams::default()).unwrap();
        let mut method = Lobpcg::new(&a).params(EigenParams::default().count(3).which(which));
        if which == Which::Smallest {
            method = method.preconditioner(&mut factor);
        }
        let pairs = method.run().unwrap();
        assert_eq!(pairs.stop, Stop::Converged, "{which:?}");
        let vectors = pairs.vectors.to_column_major().unwrap();
        let columns: Vec<_> = vectors.chunks(n).collect();
        for (k, x) in columns.iter().enumerate() {
            let value = pairs.values[k];
            assert!((value - exact(wanted[k])).abs() <= tolerance * 5.0, "{value} instead of {}", exact(wanted[k]));
            // Residuals and products on the host, in double precision.
            let square: f64 = (0..n)
                .map(|i| {
                    let sum: Complex<f64> = host.row(i).map(|(j, a)| a.widen() * x[j].widen()).sum();
                    (sum - x[i].widen() * value).norm_sqr()
                })
                .sum();
            assert!(square.sqrt() <= 2.0 * pairs.residuals[k] * value + 100.0 * eps::<T>(), "{k}: {:e}", square.sqrt());
            for (l, y) in columns.iter().enumerate() {
                let dot: Complex<f64> = x.iter().zip(y.iter()).map(|(x, y)| x.widen().conj() * y.widen()).sum();
                assert!((dot - f64::from(u8::from(k == l))).norm() < 200.0 * eps::<T>(), "{k}, {l}: {dot}");
            }
        }
    }
}

#[test]
fn eigenvalues_of_hermitian_matrices() {
    for context in contexts() {
        if takes::<f32>(context) {
            hermitian::<f32>(context, 2e-5);
        }
        if has::<f64>(context) {
            hermitian::<f64>(context, 1e-12);
        }
    }
}
