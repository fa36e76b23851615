//! L D L' factors of sparse matrices: inertia and determinants against the dense eigenvalues of nalgebra and closed forms, solutions by their backward
//! errors.

use clinalg::direct::{Factors, FactorsParams, Inertia, Kind};
use clinalg::{Complex, Context, Csr, CsrParts, Scalar, Vector};

use crate::common::{Noise, contexts, eps, takes};
use crate::direct::{Triplets, applied, check, laplacian};

/// Eigenvalues of a Hermitian matrix, of which the test needs signs and logarithms.
trait Spectrum: Scalar {
    fn spectrum(parts: &CsrParts<Self>) -> Vec<f64>;
}

macro_rules! spectra {
    ($($scalar:ty),*) => {$(
        impl Spectrum for $scalar {
            fn spectrum(parts: &CsrParts<Self>) -> Vec<f64> {
                let n = parts.rows;
                let mut dense = nalgebra::DMatrix::from_element(n, n, <$scalar as Scalar>::Wide::from_f64(0.0));
                parts.triplets().for_each(|(i, j, value)| dense[(i, j)] += value.widen());
                if n == 0 { Vec::new() } else { dense.symmetric_eigenvalues().iter().copied().collect() }
            }
        }
    )*};
}

spectra!(f32, f64, Complex<f32>, Complex<f64>);

fn params() -> FactorsParams {
    FactorsParams::default().kind(Kind::Ldl)
}

fn counts(inertia: Inertia) -> [usize; 3] {
    [inertia.positive, inertia.negative, inertia.zero]
}

/// The Hermitian matrix with these entries on and below the diagonal.
fn hermitian<T: Scalar>(n: usize, lower: &Triplets) -> CsrParts<T> {
    let real = <T::Real as Scalar>::from_f64;
    let entries = lower.iter().flat_map(|&(i, j, a)| {
        let im = if i == j { 0.0 } else { a * ((i * 7 + j * 3) % 5) as f64 / 4.0 };
        let value = T::from_parts(real(a), real(im));
        [Some((i, j, value)), (i != j).then(|| (j, i, value.conj()))].into_iter().flatten()
    });
    CsrParts::from_triplets(n, n, &entries.collect::<Vec<_>>()).unwrap()
}

/// Factors whose solutions have small backward errors, with the inertia and the determinant of the dense matrix.
fn compare<T: Spectrum>(context: &Context, name: &str, parts: &CsrParts<T>) {
    let factors = check(context, name, parts, &params());
    let report = factors.report();
    assert_eq!(report.kind, Kind::Ldl);
    let n = parts.rows;
    let spectrum = T::spectrum(parts);
    let largest = spectrum.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let least = spectrum.iter().fold(f64::INFINITY, |least: f64, value| least.min(value.abs()));
    // Signs are those of eigenvalues which the rounding of the factors does not reach.
    if least < 1e3 * n as f64 * eps::<T::Real>() * largest || report.replaced_pivots > 0 {
        return;
    }
    let negative = spectrum.iter().filter(|&&value| value < 0.0).count();
    let found = factors.inertia().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(counts(found), [n - negative, negative, 0], "{name}");
    assert_eq!(report.inertia, Some(found));
    let determinant = factors.determinant().unwrap();
    let wanted: f64 = spectrum.iter().map(|value| value.abs().ln()).sum();
    let bound = 20.0 * (n + 1) as f64 * eps::<T::Real>() * (largest / least).max(1.0);
    let error = (determinant.ln_modulus() - wanted).abs();
    assert!(error <= bound, "{name}: ln |det| off by {error:.1e}, {bound:.1e}");
    assert!(
        (determinant.mantissa.re() > T::Real::from_f64(0.0)) == (negative % 2 == 0),
        "{name}: the determinant's sign"
    );
}

/// Random entries below the diagonal, `per_row` of them per row, and `diagonal` times random ones on it.
fn random(n: usize, per_row: usize, diagonal: f64, noise: &mut Noise) -> Triplets {
    let mut lower: Triplets = Vec::new();
    for i in 0..n {
        let value: f64 = noise.value();
        if diagonal != 0.0 {
            lower.push((i, i, diagonal * value));
        }
        for _ in 0..if i > 0 { per_row } else { 0 } {
            lower.push((i, noise.bits() as usize % i, noise.value()));
        }
    }
    lower
}

/// [H B'; B 0] with a definite H of n rows and m rows of full rank in B.
fn saddle(n: usize, m: usize, noise: &mut Noise) -> Triplets {
    let mut lower = random(n, 2, 0.0, noise);
    lower.extend((0..n).map(|i| (i, i, 12.0)));
    for k in 0..m {
        lower.push((n + k, k, 2.0));
        lower.extend([(3 * k + 1) % n, n - 1 - k].map(|j| (n + k, j, noise.value())));
    }
    lower
}

/// Velocities on the faces and pressures in the cells of n x n squares (Harlow and Welch 1965), with one pressure held.
fn stokes(n: usize) -> (usize, Triplets) {
    let inner = n - 1;
    let (u, v) = (|i: usize, j: usize| j * inner + i, |i: usize, j: usize| inner * n + j * n + i);
    let p = |i: usize, j: usize| 2 * inner * n + j * n + i;
    let mut lower = Vec::new();
    for j in 0..n {
        for i in 0..inner {
            lower.extend([(u(i, j), u(i, j), 4.0), (p(i, j), u(i, j), 1.0), (p(i + 1, j), u(i, j), -1.0)]);
            lower.extend((i > 0).then(|| (u(i, j), u(i - 1, j), -1.0)));
            lower.extend((j > 0).then(|| (u(i, j), u(i, j - 1), -1.0)));
            let (i, j) = (j, i);
            lower.extend([(v(i, j), v(i, j), 4.0), (p(i, j), v(i, j), 1.0), (p(i, j + 1), v(i, j), -1.0)]);
            lower.extend((i > 0).then(|| (v(i, j), v(i - 1, j), -1.0)));
            lower.extend((j > 0).then(|| (v(i, j), v(i, j - 1), -1.0)));
        }
    }
    let last = 2 * inner * n + n * n - 1;
    lower.retain(|e| e.0 != last);
    (last, lower)
}

fn indefinite<T: Spectrum>(context: &Context) {
    let mut noise = Noise::new(11);
    for n in [0, 1, 2, 3, 5, 17, 64, 130, 200] {
        for per_row in [0, 1, 3] {
            for diagonal in [3.0, 0.1] {
                let lower = random(n, per_row, diagonal, &mut noise);
                compare(
                    context,
                    &format!("random {n}, {per_row} a row, diagonal {diagonal}"),
                    &hermitian::<T>(n, &lower),
                );
            }
        }
    }
    // A full matrix: a front of several panels without other rows.
    let n = 150;
    let full: Triplets = (0..n * n).filter(|e| e % n <= e / n).map(|e| (e / n, e % n, noise.value())).collect();
    compare(context, "full", &hermitian::<T>(n, &full));
    // One with zeros on the diagonal: pairs only.
    let hollow: Triplets = full.into_iter().filter(|e| e.0 != e.1).collect();
    compare(context, "full without a diagonal", &hermitian::<T>(n, &hollow));
    for (n, m) in [(6, 2), (60, 20), (120, 60)] {
        let parts = hermitian::<T>(n + m, &saddle(n, m, &mut noise));
        let factors = check(context, &format!("saddle {n} + {m}"), &parts, &params());
        assert!(factors.report().is_matched);
        compare(context, &format!("saddle {n} + {m}"), &parts);
    }
    let arrow: Triplets = (1..90).flat_map(|i| [(i, i, if i % 3 == 0 { -2.0 } else { 2.0 }), (i, 0, 1.0)]).collect();
    compare(context, "arrow", &hermitian::<T>(90, &arrow));
}

#[test]
fn hermitian_matrices_have_the_inertia_of_their_eigenvalues() {
    for context in contexts() {
        if takes::<f64>(context) {
            indefinite::<f64>(context);
            indefinite::<Complex<f64>>(context);
        }
        if takes::<f32>(context) {
            indefinite::<f32>(context);
            indefinite::<Complex<f32>>(context);
        }
    }
}

#[test]
fn saddle_points_have_as_many_negative_eigenvalues_as_constraints() {
    for context in contexts().iter().filter(|context| takes::<f64>(context)) {
        for n in [2, 5, 12, 30] {
            let (rows, lower) = stokes(n);
            let parts = hermitian::<f64>(rows, &lower);
            let factors = check(context, &format!("Stokes {n}"), &parts, &params());
            let constraints = n * n - 1;
            assert_eq!(
                counts(factors.inertia().unwrap()),
                [rows - constraints, constraints, 0],
                "{:?}",
                factors.report()
            );
        }
        // The default takes these factors where Cholesky's do not exist.
        let parts = hermitian::<f64>(80, &saddle(60, 20, &mut Noise::new(2)));
        let factors = check(context, "saddle point", &parts, &FactorsParams::default());
        assert_eq!(factors.report().kind, Kind::Ldl);
        assert_eq!(counts(factors.inertia().unwrap()), [60, 20, 0]);
    }
}

/// Eigenvalues of the matrix of [`laplacian`], which has 6 on its diagonal: a direction of one point adds 2.
fn eigenvalues(points: [usize; 3]) -> Vec<f64> {
    let along = |n: usize, k: usize| 2.0 - 2.0 * (std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64).cos();
    let [nx, ny, nz] = points;
    (0..nx * ny * nz).map(|e| along(nx, e % nx) + along(ny, e / nx % ny) + along(nz, e / (nx * ny))).collect()
}

#[test]
fn shifted_laplacians_have_as_many_negative_eigenvalues_as_lie_below_the_shift() {
    for context in contexts().iter().filter(|context| takes::<f64>(context)) {
        for points in [[40, 30, 1], [97, 1, 1], [60, 61, 1], [11, 9, 10]] {
            let (n, entries) = laplacian(points);
            let spectrum = eigenvalues(points);
            for shift in [2.13, 3.3, 5.01, 7.7, 12.5] {
                let mut shifted = entries.clone();
                shifted.iter_mut().filter(|e| e.0 == e.1).for_each(|e| e.2 -= shift);
                let parts = CsrParts::from_triplets(n, n, &shifted).unwrap();
                let negative = spectrum.iter().filter(|&&value| value < shift).count();
                let factors = check(context, &format!("{points:?} - {shift}"), &parts, &params());
                assert_eq!(counts(factors.inertia().unwrap()), [n - negative, negative, 0], "{points:?} - {shift}");
            }
        }
    }
}

/// The shifted Laplacian with absorption, which is symmetric but not Hermitian.
fn helmholtz<T: Scalar>(points: [usize; 3]) -> CsrParts<T> {
    let (n, entries) = laplacian(points);
    let real = <T::Real as Scalar>::from_f64;
    let of_entry = |&(i, j, a): &(usize, usize, f64)| {
        let value = if i == j { T::from_parts(real(a - 3.3), real(0.2)) } else { T::from_parts(real(a), real(0.05)) };
        (i, j, value)
    };
    CsrParts::from_triplets(n, n, &entries.iter().map(of_entry).collect::<Vec<_>>()).unwrap()
}

#[test]
fn complex_symmetric_matrices_have_these_factors() {
    fn run<T: Scalar>(context: &Context) {
        for points in [[6, 5, 1], [40, 30, 1], [11, 9, 10]] {
            let parts = helmholtz::<T>(points);
            let factors = check(context, &format!("Helmholtz {points:?}"), &parts, &FactorsParams::default());
            assert_eq!((factors.report().kind, factors.report().inertia), (Kind::Ldl, None));
            let error = factors.inertia().unwrap_err().to_string();
            assert!(error.contains("not Hermitian"), "{error}");
        }
        // With zeros on the diagonal.
        let n = 61;
        let entries: Vec<_> = (0..n - 1)
            .flat_map(|i| {
                let value = T::from_parts(T::Real::from_f64(1.0 + i as f64 / 7.0), T::Real::from_f64((i % 3) as f64));
                [(i, i + 1, value), (i + 1, i, value)]
            })
            .chain([(n - 1, n - 1, T::from_f64(1.0))])
            .collect();
        let parts = CsrParts::from_triplets(n, n, &entries).unwrap();
        let factors = check(context, "chain", &parts, &FactorsParams::default());
        assert_eq!(factors.report().kind, Kind::Ldl);
    }
    for context in contexts() {
        if takes::<f64>(context) {
            run::<Complex<f64>>(context);
        }
        if takes::<f32>(context) {
            run::<Complex<f32>>(context);
        }
    }
}

#[test]
fn large_fronts_are_eliminated_by_panels() {
    let mut noise = Noise::new(6);
    // Two blocks of 300 rows and their separator of 200: fronts with several panels and other rows.
    let (block, n) = (300, 800);
    let is_entry = |i: usize, j: usize| i / block == j / block || i >= 2 * block;
    let lower: Triplets = (0..n * n)
        .map(|e| (e / n, e % n))
        .filter(|&(i, j)| j <= i && is_entry(i, j))
        .map(|(i, j)| (i, j, noise.value::<f64>() * if i / block == j / block { 1.0 } else { 0.1 }))
        .collect();
    for context in contexts().iter().filter(|context| takes::<f64>(context)) {
        let parts = hermitian::<f64>(n, &lower);
        let factors = check(context, "blocks", &parts, &params());
        assert!(factors.report().largest_front > 400, "{:?}", factors.report());
        let negative = f64::spectrum(&parts).into_iter().filter(|&value| value < 0.0).count();
        assert_eq!(counts(factors.inertia().unwrap()), [n - negative, negative, 0]);
        check(context, "complex blocks", &hermitian::<Complex<f64>>(n, &lower), &params());
    }
}

#[test]
fn singular_matrices_have_zeros_in_their_inertia() {
    for context in contexts().iter().filter(|context| takes::<f64>(context)) {
        // Neumann's Laplacian, shifted by a single eigenvalue.
        let n = 24;
        let mut lower: Triplets = Vec::new();
        let along = |k: usize| 2.0 - 2.0 * (std::f64::consts::PI * k as f64 / n as f64).cos();
        let spectrum: Vec<f64> = (0..n * n).map(|e| along(e % n) + along(e / n)).collect();
        for e in 0..n * n {
            let (i, j) = (e % n, e / n);
            let edges = [(i > 0, 1), (j > 0, n)];
            lower.extend(edges.iter().filter(|edge| edge.0).map(|&(_, step)| (e, e - step, -1.0)));
            let neighbours = [i > 0, i + 1 < n, j > 0, j + 1 < n].into_iter().filter(|&is_there| is_there).count();
            lower.push((e, e, neighbours as f64));
        }
        for shift in [0.0, 2.0 * along(5), 2.0 * along(7)] {
            let mut shifted = lower.clone();
            shifted.iter_mut().filter(|e| e.0 == e.1).for_each(|e| e.2 -= shift);
            let parts = hermitian::<f64>(n * n, &shifted);
            let a = Csr::from_parts(context, &parts).unwrap();
            let factors = Factors::new(&a, &params()).unwrap();
            let negative = spectrum.iter().filter(|&&value| value < shift - 1e-9).count();
            let zero = spectrum.iter().filter(|&&value| (value - shift).abs() < 1e-9).count();
            assert_eq!(zero, 1, "{shift}");
            assert_eq!(counts(factors.inertia().unwrap()), [n * n - negative - zero, negative, zero], "{shift}");
            // A zero is replaced by sqrt(eps).
            assert!(factors.condition_if_suspect(&a).unwrap().is_some_and(|condition| condition < 1e-7));
            let error = factors.determinant().unwrap_err().to_string();
            assert!(error.contains("singular to working precision"), "{error}");
        }
        // By one of 13 equal eigenvalues, some of which pivots of inner fronts would have to show.
        lower.iter_mut().filter(|e| e.0 == e.1).for_each(|e| e.2 -= 2.0);
        let a = Csr::from_parts(context, &hermitian::<f64>(n * n, &lower)).unwrap();
        let error = Factors::new(&a, &params()).unwrap().inertia().unwrap_err().to_string();
        assert!(error.contains("pivots were too small and were replaced"), "{error}");
        // Empty rows, and a rank of one.
        let zeros = CsrParts::from_triplets(5, 5, &[(1, 1, -2.0), (3, 4, 1.0), (4, 3, 1.0)]).unwrap();
        let a = Csr::from_parts(context, &zeros).unwrap();
        assert_eq!(counts(Factors::new(&a, &params()).unwrap().inertia().unwrap()), [1, 2, 2]);
        let ones: Vec<_> = (0..36).map(|e| (e / 6, e % 6, -1.0)).collect();
        let a = Csr::from_parts(context, &CsrParts::from_triplets(6, 6, &ones).unwrap()).unwrap();
        let mut factors = Factors::new(&a, &params()).unwrap();
        assert_eq!(counts(factors.inertia().unwrap()), [0, 1, 5]);
        let b = Vector::from_slice(context, &[1.0, 0.0, 0.0, 0.0, 0.0, 2.0]).unwrap();
        let error = factors.solve(&a, &b, &mut Vector::zeros(context, 6).unwrap()).unwrap_err().to_string();
        assert!(error.contains("singular to working precision"), "{error}");
    }
}

#[test]
fn what_has_no_inertia_says_so() {
    for context in contexts().iter().filter(|context| takes::<f64>(context)) {
        let of = |entries: &[(usize, usize, f64)]| Csr::from_triplets(context, 2, 2, entries).unwrap();
        let unsymmetric = of(&[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)]);
        let error = Factors::new(&unsymmetric, &params()).unwrap_err().to_string();
        assert!(error.contains("it is not symmetric; LDL factors need a symmetric matrix, use LU factors"), "{error}");
        let error = Factors::new(&unsymmetric, &FactorsParams::default()).unwrap().inertia().unwrap_err().to_string();
        assert!(error.contains("LU factors do not give the inertia"), "{error}");
        let definite = of(&[(0, 0, 1.0), (1, 1, 3.0)]);
        let found = Factors::new(&definite, &FactorsParams::default()).unwrap().inertia().unwrap();
        assert_eq!(counts(found), [2, 0, 0]);
        let mut factors = Factors::new(&of(&[(0, 1, 1.0), (1, 0, 1.0)]), &params()).unwrap();
        assert_eq!(counts(factors.inertia().unwrap()), [1, 1, 0]);
        let error = factors.refactor(&of(&[(0, 1, 1.0), (1, 0, 2.0)])).unwrap_err().to_string();
        assert!(error.contains("it is not Hermitian, but the LDL factors are of a Hermitian matrix"), "{error}");
    }
}

#[test]
fn new_values_and_repeated_runs_have_the_same_bits() {
    fn run<T: Scalar>(context: &Context, parts: &CsrParts<T>) {
        let a = Csr::from_parts(context, parts).unwrap();
        let mut other = parts.clone();
        other.values.iter_mut().for_each(|value| *value *= T::from_f64(1.25));
        let other = Csr::from_parts(context, &other).unwrap();
        let n = parts.rows;
        let b: Vec<T> = (0..n).map(|i| T::from_f64((i as f64).sin())).collect();
        let b = Vector::from_slice(context, &b).unwrap();
        let mut factors = Factors::new(&a, &params()).unwrap();
        let first = applied(&mut factors, &b);
        factors.refactor(&other).unwrap();
        assert_ne!(applied(&mut factors, &b), first);
        factors.refactor(&a).unwrap();
        assert_eq!(applied(&mut factors, &b), first);
        for _ in 0..3 {
            assert_eq!(applied(&mut Factors::new(&a, &params()).unwrap(), &b), first);
        }
    }
    for context in contexts().iter().filter(|context| takes::<f64>(context)) {
        let (rows, lower) = stokes(25);
        run(context, &hermitian::<f64>(rows, &lower));
        let (n, mut entries) = laplacian([20, 15, 6]);
        entries.retain(|e| e.0 >= e.1);
        entries.iter_mut().filter(|e| e.0 == e.1).for_each(|e| e.2 -= 4.1);
        run(context, &hermitian::<Complex<f64>>(n, &entries));
        run(context, &helmholtz::<Complex<f64>>([20, 15, 6]));
    }
}

#[test]
fn right_hand_sides_beside_each_other_have_their_own_solutions() {
    fn run<T: Scalar>(context: &Context, parts: &CsrParts<T>) {
        for count in [1, 3, 8, 37] {
            crate::direct::columns(context, parts, Kind::Ldl, count);
        }
    }
    for context in contexts().iter().filter(|context| takes::<f64>(context)) {
        let (n, mut entries) = laplacian([13, 12, 9]);
        entries.iter_mut().filter(|e| e.0 == e.1).for_each(|e| e.2 -= 13.0);
        entries.retain(|e| e.0 >= e.1);
        run(context, &hermitian::<f64>(n, &entries));
        run(context, &hermitian::<Complex<f64>>(n, &entries));
        run(context, &helmholtz::<Complex<f64>>([13, 12, 9]));
    }
}
