//! Sparse direct factors against dense elimination on the host, known solutions and closed forms.

use clinalg::direct::{Factors, FactorsParams, Kind};
use clinalg::ops::Transpose;
use clinalg::{Complex, Context, Csr, CsrParts, Dense, Error, Scalar, Vector};

use crate::common::{Noise, contexts, eps, takes};

pub(crate) type Triplets = Vec<(usize, usize, f64)>;

/// The matrix with these entries in another scalar type; complex ones get an imaginary part of its own size.
fn matrix<T: Scalar>(n: usize, entries: &Triplets) -> CsrParts<T> {
    let entry = |&(i, j, a): &(usize, usize, f64)| {
        let im = if T::IS_COMPLEX && i != j { a * ((i * 7 + j * 3) % 5) as f64 / 4.0 } else { 0.0 };
        (i, j, T::from_parts(<T::Real as Scalar>::from_f64(a), <T::Real as Scalar>::from_f64(im)))
    };
    CsrParts::from_triplets(n, n, &entries.iter().map(entry).collect::<Vec<_>>()).unwrap()
}

/// A A' + d I of a matrix, whose pattern has the entries of both.
fn definite<T: Scalar>(a: &CsrParts<T>, shift: f64) -> CsrParts<T> {
    let n = a.rows;
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, T::from_f64(shift)));
        for (j, value) in a.row(i) {
            let sum: f64 = value.widen().modulus();
            entries.push((i, j, value));
            entries.push((j, i, value.conj()));
            entries.push((i, i, T::from_f64(2.0 * sum)));
            entries.push((j, j, T::from_f64(2.0 * sum)));
        }
    }
    CsrParts::from_triplets(n, n, &entries).unwrap()
}

/// The largest componentwise backward error of A x = b, by the host.
fn backward_error<T: Scalar>(a: &CsrParts<T>, x: &[T], b: &[T]) -> f64 {
    let of_row = |i: usize| {
        let residual: T::Wide = b[i].widen() - a.row(i).map(|(j, v)| v.widen() * x[j].widen()).sum();
        let size: f64 = a.row(i).map(|(j, v)| (v.widen() * x[j].widen()).modulus()).sum();
        let residual = residual.modulus();
        if residual == 0.0 { 0.0 } else { residual / (size + b[i].widen().modulus()) }
    };
    (0..a.rows).map(of_row).fold(0.0, f64::max)
}

/// The inverse and the logarithm of the determinant's modulus with its sign, by Gauss-Jordan elimination on the host.
fn inverse_on_host<T: Scalar>(parts: &CsrParts<T>) -> (Vec<Vec<T::Wide>>, f64, T::Wide) {
    let n = parts.rows;
    let (zero, one) = (T::Wide::from_f64(0.0), T::Wide::from_f64(1.0));
    let mut rows = vec![vec![zero; 2 * n]; n];
    for i in 0..n {
        parts.row(i).for_each(|(j, v)| rows[i][j] += v.widen());
        rows[i][n + i] = one;
    }
    let (mut log, mut sign) = (0.0, one);
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].modulus().total_cmp(&rows[j][k].modulus())).unwrap();
        sign = if pivot == k { sign } else { -sign };
        rows.swap(k, pivot);
        let value = rows[k][k];
        log += value.modulus().ln();
        sign = sign * value / T::Wide::from_f64(value.modulus());
        rows[k].iter_mut().for_each(|a| *a /= value);
        let row = rows[k].clone();
        for other in (0..n).filter(|&i| i != k) {
            let factor = rows[other][k];
            rows[other].iter_mut().zip(&row).for_each(|(a, b)| *a -= factor * *b);
        }
    }
    (rows.into_iter().map(|row| row[n..].to_vec()).collect(), log, sign)
}

/// Determinant and condition against elimination on the host.
fn compare_with_dense<T: Scalar>(name: &str, parts: &CsrParts<T>, a: &Csr<T>, factors: &Factors<T>) {
    let (n, eps) = (parts.rows, eps::<T::Real>());
    let (inverse, log, sign) = inverse_on_host(parts);
    let largest = |sums: Vec<f64>| sums.into_iter().fold(0.0, f64::max);
    let mut sums = vec![0.0; n];
    for i in 0..n {
        parts.row(i).for_each(|(j, v)| sums[j] += v.widen().modulus());
    }
    let of_inverse = (0..n).map(|j| inverse.iter().map(|row| row[j].modulus()).sum());
    let condition = if n == 0 { 1.0 } else { largest(sums) * largest(of_inverse.collect()) };
    let found = factors.reciprocal_condition(a).unwrap() * condition;
    // The estimate of the inverse's norm is a lower bound, to the errors of the solves, which are in proportion to the condition.
    assert!(
        (1.0 - 10.0 * n as f64 * eps * condition..10.0).contains(&found),
        "{name}: {found} times 1 / {condition:.2e}"
    );
    let determinant = factors.determinant().unwrap();
    let error = (determinant.ln_modulus() - log).abs();
    let mantissa = determinant.mantissa.widen();
    let turned = (mantissa / T::Wide::from_f64(mantissa.modulus()) - sign).modulus();
    let bound = 20.0 * (n + 1) as f64 * condition * eps;
    assert!(
        error <= bound && turned <= bound,
        "{name}: ln |det| off by {error:.1e}, sign by {turned:.1e}, {bound:.1e}"
    );
}

/// Solves with a random right-hand side and checks the backward error; the factors.
pub(crate) fn check<T: Scalar>(
    context: &Context,
    name: &str,
    parts: &CsrParts<T>,
    params: &FactorsParams,
) -> Factors<T> {
    let n = parts.rows;
    let mut noise = Noise::new(n as u64 + 1);
    let b: Vec<T> = (0..n).map(|_| T::from_f64(noise.value::<f64>())).collect();
    let a = Csr::from_parts(context, parts).unwrap();
    let mut factors = Factors::new(&a, params).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut x = Vector::zeros(context, n).unwrap();
    let right = Vector::from_slice(context, &b).unwrap();
    let solved = factors.solve(&a, &right, &mut x).unwrap_or_else(|error| panic!("{name}: {error}"));
    let error = backward_error(parts, &x.to_vec().unwrap(), &b);
    // Of 2 epsilon after refinement (Arioli, Demmel and Duff 1989), and the rounding of the sums that the device compares.
    let longest = (0..n).map(|i| parts.row(i).count()).max().unwrap_or(0) as f64;
    assert!(error <= (4.0 + longest) * eps::<T::Real>(), "{name}: {error:.1e}, {solved:?}, {:?}", factors.report());
    let transposed = parts.transpose().unwrap();
    let longest = (0..n).map(|i| transposed.row(i).count()).max().unwrap_or(0) as f64;
    for op in [Transpose::Yes, Transpose::Conjugate] {
        let of_op = CsrParts {
            values: transposed.values.iter().map(|v| if op == Transpose::Yes { *v } else { v.conj() }).collect(),
            ..transposed.clone()
        };
        let solved = factors.solve_op(op, &a, &right, &mut x).unwrap_or_else(|error| panic!("{name}, {op}: {error}"));
        let error = backward_error(&of_op, &x.to_vec().unwrap(), &b);
        assert!(error <= (4.0 + longest) * eps::<T::Real>(), "{name}, {op}: {error:.1e}, {solved:?}");
    }
    if n <= 70 && factors.report().replaced_pivots == 0 {
        compare_with_dense(name, parts, &a, &factors);
    }
    factors
}

pub(crate) fn laplacian(points: [usize; 3]) -> (usize, Triplets) {
    let [nx, ny, nz] = points;
    let at = |i: usize, j: usize, k: usize| (k * ny + j) * nx + i;
    let mut entries = Vec::new();
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                entries.push((at(i, j, k), at(i, j, k), 6.0));
                let next = [(i + 1 < nx, [i + 1, j, k]), (j + 1 < ny, [i, j + 1, k]), (k + 1 < nz, [i, j, k + 1])];
                for (_, [p, q, r]) in next.into_iter().filter(|e| e.0) {
                    entries.push((at(i, j, k), at(p, q, r), -1.0));
                    entries.push((at(p, q, r), at(i, j, k), -1.0));
                }
            }
        }
    }
    (nx * ny * nz, entries)
}

/// A random pattern with `per_row` entries per row besides a diagonal.
fn random(n: usize, per_row: usize, diagonal: f64, noise: &mut Noise) -> Triplets {
    let mut entries: Triplets = (0..n).map(|i| (i, i, diagonal)).collect();
    for i in 0..n {
        for _ in 0..per_row {
            let j = noise.bits() as usize % n;
            entries.push((i, j, noise.value()));
        }
    }
    entries
}

fn every_kind<T: Scalar>(context: &Context) {
    let params = FactorsParams::default();
    let mut noise = Noise::new(3);
    for n in [0, 1, 2, 3, 5, 17, 64, 130, 200] {
        for per_row in [0, 1, 3] {
            let entries = random(n, per_row, 3.0, &mut noise);
            check(context, &format!("random {n}, {per_row} a row"), &matrix::<T>(n, &entries), &params);
            let parts = definite(&matrix::<T>(n, &entries), 0.5);
            let factors = check(context, &format!("definite {n}, {per_row} a row"), &parts, &params);
            assert_eq!(factors.report().kind, Kind::Cholesky);
            let forced = check(context, &format!("LU of definite {n}"), &parts, &params.kind(Kind::Lu));
            assert_eq!(forced.report().kind, Kind::Lu);
        }
    }
    for points in [[40, 30, 1], [11, 9, 10], [300, 1, 1]] {
        let (n, entries) = laplacian(points);
        check(context, &format!("{points:?}"), &matrix::<T>(n, &entries), &params.kind(Kind::Lu));
        check(context, &format!("definite {points:?}"), &definite(&matrix::<T>(n, &entries), 1.0), &params);
    }
    // A dense row and column, a permuted triangle, a cycle without a diagonal.
    let n = 150;
    let arrow = (1..n).flat_map(|i| [(i, i, 2.0), (0, i, 1.0), (i, 0, -1.0)]).chain([(0, 0, 5.0)]).collect();
    check(context, "arrow", &matrix::<T>(n, &arrow), &params);
    let triangle: Triplets = (0..n).flat_map(|i| [(i, (7 * i) % n, 2.0), (i, (7 * (i / 2)) % n, 1.0)]).collect();
    check(context, "permuted triangle", &matrix::<T>(n, &triangle), &params);
    let cycle = (0..n).map(|i| (i, (i + 1) % n, 1.0 + i as f64)).collect();
    assert!(check(context, "cycle", &matrix::<T>(n, &cycle), &params).report().is_matched);
}

#[test]
fn systems_of_every_kind_are_solved_to_a_few_roundings() {
    for context in contexts() {
        if takes::<f64>(context) {
            every_kind::<f64>(context);
            every_kind::<Complex<f64>>(context);
        }
        if takes::<f32>(context) {
            every_kind::<f32>(context);
            every_kind::<Complex<f32>>(context);
        }
    }
}

/// [H B'; B 0] with a random H and more columns than rows in B.
fn saddle(n: usize, m: usize, noise: &mut Noise) -> (usize, Triplets) {
    let mut entries = random(n, 2, 4.0, noise);
    for k in 0..m {
        for j in [k, (3 * k + 1) % n, n - 1 - k] {
            let value = noise.value();
            entries.push((n + k, j, value));
            entries.push((j, n + k, value));
        }
    }
    (n + m, entries)
}

#[test]
fn difficult_matrices_are_solved_to_a_few_roundings() {
    for context in contexts() {
        if !takes::<f64>(context) {
            continue;
        }
        let params = FactorsParams::default();
        let mut noise = Noise::new(5);
        let (n, entries) = saddle(120, 40, &mut noise);
        assert!(check(context, "saddle point", &matrix::<f64>(n, &entries), &params).report().is_matched);
        // Shifted into the spectrum: symmetric, indefinite.
        let (n, mut entries) = laplacian([30, 31, 1]);
        entries.iter_mut().filter(|e| e.0 == e.1).for_each(|e| e.2 -= 3.3);
        assert_eq!(check(context, "indefinite", &matrix::<f64>(n, &entries), &params).report().kind, Kind::Ldl);
        // Complex symmetric, as the Helmholtz equation with damping gives it.
        let damped: Vec<_> =
            entries.iter().map(|&(i, j, a)| (i, j, Complex::new(a, if i == j { 0.1 } else { 0.0 }))).collect();
        check(context, "Helmholtz", &CsrParts::from_triplets(n, n, &damped).unwrap(), &params);
        // Rows and columns of very different size.
        let size = |i: usize| 10_f64.powi((i * 37 % 17) as i32 - 8);
        let spread: Triplets = entries.iter().map(|&(i, j, a)| (i, j, a * size(i) * size(j + 5))).collect();
        check(context, "spread rows", &matrix::<f64>(n, &spread), &params);
        let spread: Triplets =
            laplacian([30, 31, 1]).1.iter().map(|&(i, j, a)| (i, j, a * size(i) * size(j))).collect();
        assert_eq!(
            check(context, "spread definite", &matrix::<f64>(n, &spread), &params).report().kind,
            Kind::Cholesky
        );
    }
}

/// The solution without refinement.
pub(crate) fn applied<T: Scalar>(factors: &mut Factors<T>, b: &Vector<T>) -> Vec<T> {
    use clinalg::solve::Preconditioner;
    let mut x = Vector::zeros(b.context(), b.len()).unwrap();
    factors.apply(b, &mut x).unwrap();
    x.to_vec().unwrap()
}

/// Solves with so many right-hand sides at once, without refinement.
pub(crate) fn columns<T: Scalar>(context: &Context, parts: &CsrParts<T>, kind: Kind, count: usize) {
    let n = parts.rows;
    let mut noise = Noise::new(9);
    let b: Vec<T> = (0..n * count).map(|_| T::from_f64(noise.value::<f64>())).collect();
    let a = Csr::from_parts(context, parts).unwrap();
    let mut factors = Factors::new(&a, &FactorsParams::default().kind(kind).refinements(0)).unwrap();
    let right = Dense::from_column_major(context, n, count, &b).unwrap();
    for (op, parts) in [(Transpose::No, parts.clone()), (Transpose::Yes, parts.transpose().unwrap())] {
        let (x, _) = factors.solve_columns_op(op, &a, &right).unwrap();
        let x = x.as_vector().to_vec().unwrap();
        for (column, (x, b)) in x.chunks(n).zip(b.chunks(n)).enumerate() {
            let error = backward_error(&parts, x, b);
            // Of 3 n epsilon |L| |U| with a front of n rows (Higham 2002, theorem 9.4).
            let most = 3.0 * factors.report().largest_front as f64 * eps::<T::Real>();
            assert!(error <= most, "{kind:?}, {op}, column {column} of {count}: {error:.1e}, {:?}", factors.report());
        }
    }
}

#[test]
fn right_hand_sides_beside_each_other_have_their_own_solutions() {
    fn run<T: Scalar>(context: &Context) {
        let (n, entries) = laplacian([13, 12, 9]);
        let upwind = entries.iter().map(|&(i, j, a)| (i, j, if i < j { 1.3 * a } else { a })).collect();
        let parts = matrix::<T>(n, &upwind);
        for count in [1, 3, 8, 37] {
            columns(context, &parts, Kind::Lu, count);
            columns(context, &definite(&parts, 1.0), Kind::Cholesky, count);
        }
    }
    for context in contexts() {
        if takes::<f64>(context) {
            run::<f64>(context);
            run::<Complex<f64>>(context);
        }
        if takes::<f32>(context) {
            run::<f32>(context);
        }
    }
}

#[test]
fn fronts_with_more_pivots_than_a_work_group_searches_are_factorised() {
    let mut noise = Noise::new(4);
    let n = 1100;
    let entries: Triplets = (0..n * n).map(|e| (e / n, e % n, noise.value())).collect();
    for context in contexts().iter().filter(|context| takes::<f64>(context)) {
        let factors = check(context, "dense", &matrix::<f64>(n, &entries), &FactorsParams::default());
        assert_eq!(factors.report().largest_front, n);
    }
}

#[test]
fn new_values_give_the_bits_of_a_first_factorisation() {
    for context in contexts() {
        if !takes::<f64>(context) {
            continue;
        }
        for kind in [Kind::Cholesky, Kind::Lu] {
            let (n, entries) = laplacian([20, 15, 6]);
            let parts = matrix::<f64>(n, &entries);
            let a = Csr::from_parts(context, &parts).unwrap();
            let mut other = parts.clone();
            other.values.iter_mut().for_each(|value| *value *= 1.1);
            let other = Csr::from_parts(context, &other).unwrap();
            let b = Vector::from_slice(context, &(0..n).map(|i| (i as f64).sin()).collect::<Vec<_>>()).unwrap();
            let params = FactorsParams::default().kind(kind);
            let mut factors = Factors::new(&a, &params).unwrap();
            let first = applied(&mut factors, &b);
            factors.refactor(&other).unwrap();
            assert_ne!(applied(&mut factors, &b), first);
            factors.refactor(&a).unwrap();
            assert_eq!(applied(&mut factors, &b), first);
            assert_eq!(applied(&mut Factors::new(&a, &params).unwrap(), &b), first);
        }
    }
}

#[test]
fn what_has_no_factors_is_named() {
    for context in contexts() {
        if !takes::<f64>(context) {
            continue;
        }
        let of = |n: usize, entries: &Triplets| Csr::from_parts(context, &matrix::<f64>(n, entries)).unwrap();
        let params = FactorsParams::default();
        let n = 40;
        let diagonal = |row: usize, value: f64| -> Triplets {
            (0..n).map(|i| (i, i, if i == row { value } else { 2.0 })).collect()
        };
        let error = |a: &Csr<f64>, params: &FactorsParams| Factors::new(a, params).expect_err("no factors");
        let cholesky = params.kind(Kind::Cholesky);
        let indefinite = of(n, &diagonal(17, -1.0));
        assert!(matches!(error(&indefinite, &cholesky), Error::NotPositiveDefinite { minor: 18 }));
        assert_eq!(Factors::new(&indefinite, &params).unwrap().report().kind, Kind::Ldl);
        let unsymmetric = of(2, &vec![(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)]);
        assert!(error(&unsymmetric, &cholesky).to_string().contains("not Hermitian"));
        let infinite = error(&of(n, &diagonal(3, f64::NAN)), &params).to_string();
        assert!(infinite.contains("row 4 and column 4"), "{infinite}");
        let rectangular = Csr::from_triplets(context, 2, 3, &[(0, 0, 1.0)]).unwrap();
        assert!(matches!(error(&rectangular, &params), Error::Shape { argument: "a", .. }));
        let (points, entries) = laplacian([20, 20, 1]);
        let large = error(&of(points, &entries), &params.operations(1000.0)).to_string();
        assert!(large.contains("more than the 1000 that are allowed; use an iterative method"), "{large}");
        // Another pattern, and a matrix that is no longer definite.
        let a = of(n, &diagonal(0, 2.0));
        let mut factors = Factors::new(&a, &params).unwrap();
        let full = of(n, &(0..n).flat_map(|i| [(i, i, 2.0), (i, 0, 1.0)]).collect());
        assert!(factors.refactor(&full).unwrap_err().to_string().contains("make new factors"));
        assert!(matches!(factors.refactor(&indefinite), Err(Error::NotPositiveDefinite { minor: 18 })));
        // A system without a solution, and one with many.
        for entries in [
            vec![(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)],
            vec![(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)],
            vec![(0, 0, 1.0), (0, 1, 1.0)],
        ] {
            let singular = of(2, &entries);
            let mut factors = Factors::new(&singular, &params).unwrap();
            assert_eq!(factors.report().replaced_pivots, 1);
            let mut x = Vector::zeros(context, 2).unwrap();
            let b = Vector::from_slice(context, &[1.0, -1.0]).unwrap();
            let error = factors.solve(&singular, &b, &mut x).unwrap_err().to_string();
            assert!(error.contains("singular to working precision"), "{error}");
            let mut b = Vector::zeros(context, 2).unwrap();
            clinalg::ops::mv(1.0, &singular, &Vector::from_slice(context, &[0.5, 0.25]).unwrap(), 0.0, &mut b).unwrap();
            assert!(factors.solve(&singular, &b, &mut x).unwrap().backward_error <= 1e-15);
        }
    }
}
