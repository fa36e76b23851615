//! IDR(s), MINRES, flexible CG, LSQR and LSMR: closed forms, exact termination, and plain elimination.

use std::ops::ControlFlow;

use clinalg::ops::{Operator, Transposed, conj_transpose};
use clinalg::precond::{CholeskyParams, Ilu, IluKind, IluParams, IncompleteCholesky, Jacobi};
use clinalg::solve::{
    Cg, FlexibleCg, Idr, IdrParams, LeastSquares, LeastSquaresMethod, LeastSquaresParams, LeastSquaresReport, Minres,
    Preconditioner, Solver, Stop, Stopping,
};
use clinalg::{Complex, Context, Csr, CsrParts, Error, Real, Result, Scalar, Vector};

use crate::common::{Noise, capable, eps, noise};

/// -Laplace u + (p, q) . grad u - shift u on m x m points, without the factor h^-2.
fn grid(m: usize, p: f64, q: f64, shift: f64) -> CsrParts<f64> {
    let mut entries = Vec::new();
    for own in 0..m * m {
        let (i, j) = (own % m, own / m);
        entries.push((own, own, 4.0 - shift));
        let near = [(i > 0, own.wrapping_sub(1), -1.0 - p), (i + 1 < m, own + 1, -1.0 + p)];
        let far = [(j > 0, own.wrapping_sub(m), -1.0 - q), (j + 1 < m, own + m, -1.0 + q)];
        entries.extend(near.into_iter().chain(far).filter(|e| e.0).map(|(_, to, a)| (own, to, a)));
    }
    CsrParts::from_triplets(m * m, m * m, &entries).unwrap()
}

fn product<T: Scalar>(a: &CsrParts<T>, x: &[T]) -> Vec<T> {
    (0..a.rows).map(|i| a.row(i).map(|(j, v)| v * x[j]).sum()).collect()
}

fn narrowed<T: Real>(a: &CsrParts<f64>) -> CsrParts<T> {
    let values = a.values.iter().map(|&v| T::from_f64(v)).collect();
    CsrParts { rows: a.rows, cols: a.cols, offsets: a.offsets.clone(), indices: a.indices.clone(), values }
}

/// Solves for a known x; the report and the largest error of x.
fn solved<T: Scalar>(
    context: &Context,
    a: &CsrParts<T>,
    x: &[T],
    solver: &mut dyn Solver<T>,
    m: Option<&mut dyn Preconditioner<T>>,
) -> (clinalg::solve::Report, f64) {
    let matrix = Csr::from_parts(context, a).unwrap();
    let b = Vector::from_slice(context, &product(a, x)).unwrap();
    let mut found = Vector::zeros(context, x.len()).unwrap();
    let report = solver.solve(&matrix, m, &b, &mut found).unwrap();
    let error = |(f, x): (&T, &T)| (*f - *x).modulus().into_f64();
    let error = found.to_vec().unwrap().iter().zip(x).map(error).fold(0.0, f64::max);
    (report, error)
}

fn idr_solves<T: Real>() {
    let a = narrowed::<T>(&grid(20, 0.9, -0.7, 0.0));
    let x: Vec<T> = noise(a.rows, 1);
    let tolerance = if eps::<T>() > 1e-10 { 1e-5 } else { 1e-10 };
    for context in capable::<T>() {
        for dimensions in [1, 4] {
            let params = IdrParams::from(Stopping::default().tolerance(tolerance)).dimensions(dimensions);
            let mut idr = Idr::new(context, a.rows, params).unwrap();
            let (report, error) = solved(context, &a, &x, &mut idr, None);
            assert!(report.stop == Stop::Converged && error < 1e3 * tolerance, "{dimensions}: {report}, {error:e}");
            assert!(report.iterations < 250, "{report}");
            let mut m = Ilu::from_parts(context, &a, &IluParams::default()).unwrap();
            let (with, error) = solved(context, &a, &x, &mut idr, Some(&mut m));
            assert!(with.stop == Stop::Converged && error < 1e3 * tolerance, "{dimensions}: {with}, {error:e}");
            assert!(3 * with.iterations < 2 * report.iterations, "{with}, {report}");
        }
    }
}

#[test]
fn idr_finds_the_solution_f64() {
    idr_solves::<f64>();
}

#[test]
fn idr_finds_the_solution_f32() {
    if crate::common::single() {
        idr_solves::<f32>();
    }
}

#[test]
fn idr_ends_after_n_and_a_quarter_products() {
    // Sonneveld and van Gijzen 2008, theorem 2.1: at most n + n / s products; rounding adds a few.
    let n = 40;
    let mut random = Noise::new(3);
    let mut entries: Vec<_> = (0..n).map(|i| (i, i, Complex::new(8.0, 1.0))).collect();
    for i in 0..n {
        for j in 0..n {
            entries.push((i, j, Complex::new(random.value(), random.value())));
        }
    }
    let a = CsrParts::from_triplets(n, n, &entries).unwrap();
    let x: Vec<Complex<f64>> = (0..n).map(|_| Complex::new(random.value(), random.value())).collect();
    for context in capable::<f64>() {
        let mut idr = Idr::new(context, n, IdrParams::default()).unwrap();
        let (report, error) = solved(context, &a, &x, &mut idr, None);
        assert!(report.stop == Stop::Converged && report.iterations <= 60 && error < 1e-7, "{report}, {error:e}");
    }
}

#[test]
fn a_cancelled_idr_returns_its_iterate() {
    let a = grid(20, 0.2, 0.1, 0.0);
    for context in capable::<f64>() {
        let matrix = Csr::from_parts(context, &a).unwrap();
        let (b, mut x) = (Vector::filled(context, a.rows, 1.0).unwrap(), Vector::zeros(context, a.rows).unwrap());
        let mut idr = Idr::new(context, a.rows, IdrParams::default()).unwrap();
        let stop_at_7 = &mut |k: usize, _| if k < 7 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let report = idr.solve_with(&matrix, None, &b, &mut x, stop_at_7).unwrap();
        let left: Vec<f64> = product(&a, &x.to_vec().unwrap()).iter().map(|ax| 1.0 - ax).collect();
        let norm = left.iter().map(|r| r * r).sum::<f64>().sqrt() / (a.rows as f64).sqrt();
        assert_eq!((report.stop, report.iterations), (Stop::Cancelled, 7));
        assert!((report.relative_residual - norm).abs() < 1e-12, "{report}, {norm}");
        assert!(matches!(
            Idr::<f64>::new(context, 3, IdrParams::default().dimensions(0)),
            Err(Error::Value { argument: "dimensions", .. })
        ));
    }
}

#[test]
fn minres_solves_indefinite_systems() {
    for context in capable::<f64>() {
        // Five eigenvalues of both signs: five steps.
        let values = [-3.0, -1.0, 0.5, 2.0, 7.0];
        let entries: Vec<_> = (0..100).map(|i| (i, i, values[i % 5])).collect();
        let a = CsrParts::from_triplets(100, 100, &entries).unwrap();
        let mut minres = Minres::new(context, 100, Default::default()).unwrap();
        let (report, error) = solved(context, &a, &noise(100, 4), &mut minres, None);
        assert!(report.stop == Stop::Converged && report.iterations == 5 && error < 1e-12, "{report}, {error:e}");
        // An indefinite shift of the Laplacian; residuals never rise.
        let a = grid(14, 0.0, 0.0, 1.0);
        let x: Vec<f64> = noise(a.rows, 5);
        let mut minres = Minres::new(context, a.rows, Default::default()).unwrap();
        let (report, error) = solved(context, &a, &x, &mut minres, None);
        assert!(report.stop == Stop::Converged && error < 1e-6, "{report}, {error:e}");
        assert!(report.history.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-10)));
        // A definite preconditioner: the factors of the Laplacian itself.
        let laplacian = grid(14, 0.0, 0.0, 0.0);
        let mut m = IncompleteCholesky::from_parts(context, &laplacian, &CholeskyParams::default()).unwrap();
        let (with, error) = solved(context, &a, &x, &mut minres, Some(&mut m));
        assert!(with.stop == Stop::Converged && error < 1e-6, "{with}, {error:e}");
        assert!(with.iterations < report.iterations, "{with}, {report}");
        // Consistent and singular: a ring, whose null vector is constant.
        let ring: Vec<_> =
            (0..30).flat_map(|i| [(i, i, 2.0), (i, (i + 1) % 30, -1.0), ((i + 1) % 30, i, -1.0)]).collect();
        let ring = CsrParts::from_triplets(30, 30, &ring).unwrap();
        let mut minres = Minres::new(context, 30, Default::default()).unwrap();
        let (report, _) = solved(context, &ring, &noise(30, 6), &mut minres, None);
        assert_eq!(report.stop, Stop::Converged, "{report}");
        // Hermitian.
        let i = Complex::new(0.0, 1.0);
        let hermitian = (0..30).flat_map(|k| {
            let near = (k + 1 < 30).then_some([(k, k + 1, i), (k + 1, k, -i)]);
            near.into_iter().flatten().chain([(k, k, Complex::from(if k % 2 == 0 { 3.0 } else { -2.0 }))])
        });
        let a = CsrParts::from_triplets(30, 30, &hermitian.collect::<Vec<_>>()).unwrap();
        let x: Vec<Complex<f64>> = noise::<f64>(30, 7).into_iter().map(|v| Complex::new(v, 1.0 - v)).collect();
        let mut minres = Minres::new(context, 30, Default::default()).unwrap();
        let (report, error) = solved(context, &a, &x, &mut minres, None);
        assert!(report.stop == Stop::Converged && report.iterations <= 31 && error < 1e-8, "{report}, {error:e}");
    }
}

/// Jacobi with another weight in each application.
struct Varying<'a>(Jacobi<f64>, &'a mut usize);

impl Preconditioner<f64> for Varying<'_> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn context(&self) -> &Context {
        self.0.context()
    }

    fn apply(&mut self, r: &Vector<f64>, z: &mut Vector<f64>) -> clinalg::Result<()> {
        *self.1 += 1;
        self.0.apply(r, z)?;
        let weight = 1.0 + 0.3 * (*self.1 as f64).sin();
        let copy = clinalg::ops::dot(z, z).map(|_| z.to_vec())??;
        z.write(&copy.iter().map(|v| v * weight).collect::<Vec<_>>())
    }
}

#[test]
fn flexible_cg_takes_a_preconditioner_that_varies() {
    let mut a = grid(16, 0.0, 0.0, 0.0);
    // Rows and columns scaled differently.
    let scale = |i: usize| 10.0_f64.powi(i as i32 % 5 - 2);
    for i in 0..a.rows {
        for e in a.offsets[i]..a.offsets[i + 1] {
            a.values[e] *= scale(i) * scale(a.indices[e]);
        }
    }
    let x: Vec<f64> = noise(a.rows, 8);
    for context in capable::<f64>() {
        let diagonal = Vector::from_slice(context, &a.diagonal()).unwrap();
        let mut jacobi = Jacobi::new(&diagonal).unwrap();
        let (cg, _) =
            solved(context, &a, &x, &mut Cg::new(context, a.rows, Default::default()).unwrap(), Some(&mut jacobi));
        let mut flexible = FlexibleCg::new(context, a.rows, Default::default()).unwrap();
        let (same, error) = solved(context, &a, &x, &mut flexible, Some(&mut jacobi));
        assert!(same.stop == Stop::Converged && same.iterations.abs_diff(cg.iterations) <= 2, "{same}, {cg}");
        assert!(error < 1e-4, "{error:e}");
        let mut count = 0;
        let mut varying = Varying(jacobi, &mut count);
        let (varied, _) = solved(context, &a, &x, &mut flexible, Some(&mut varying));
        assert!(varied.stop == Stop::Converged && varied.iterations <= 2 * cg.iterations, "{varied}, {cg}");
        let indefinite = CsrParts::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, -1.0)]).unwrap();
        let mut flexible = FlexibleCg::new(context, 2, Default::default()).unwrap();
        let (report, _) = solved(context, &indefinite, &[0.0, 1.0], &mut flexible, None);
        assert_eq!(report.stop, Stop::Indefinite);
    }
}

/// Solves the square system by Gauss's elimination with exchanges of rows.
fn eliminated(n: usize, mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs())).unwrap();
        (0..n).for_each(|j| a.swap(k * n + j, p * n + j));
        b.swap(k, p);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            (k..n).for_each(|j| a[i * n + j] -= factor * a[k * n + j]);
            b[i] -= factor * b[k];
        }
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - (i + 1..n).map(|j| a[i * n + j] * b[j]).sum::<f64>()) / a[i * n + i];
    }
    b
}

#[test]
fn least_squares_solve_the_normal_equations() {
    let (rows, cols) = (90, 30);
    let mut random = Noise::new(12);
    let mut entries: Vec<_> = (0..cols).map(|j| (3 * j, j, 3.0)).collect();
    for i in 0..rows {
        entries.extend((0..3).map(|_| (i, random.below(cols), random.value::<f64>())));
    }
    let a = CsrParts::from_triplets(rows, cols, &entries).unwrap();
    let b: Vec<f64> = noise(rows, 13);
    let mut normal = vec![0.0; cols * cols];
    let mut right = vec![0.0; cols];
    for (i, &b) in b.iter().enumerate() {
        for (j, v) in a.row(i) {
            right[j] += v * b;
            a.row(i).for_each(|(k, w)| normal[j * cols + k] += v * w);
        }
    }
    let want = eliminated(cols, normal, right);
    for context in capable::<f64>() {
        let matrix = Csr::from_parts(context, &a).unwrap();
        for method in [LeastSquaresMethod::Lsqr, LeastSquaresMethod::Lsmr] {
            let params = LeastSquaresParams::from(Stopping::default().tolerance(1e-12)).method(method);
            let mut solver = LeastSquares::new(context, rows, cols, params).unwrap();
            let (bs, mut x) = (Vector::from_slice(context, &b).unwrap(), Vector::zeros(context, cols).unwrap());
            let found = solver.solve(&matrix, None, &bs, &mut x).unwrap();
            let report = &found.report;
            assert!(report.stop == Stop::Converged && report.iterations <= 60, "{method:?}: {report}");
            let x = x.to_vec().unwrap();
            let error = x.iter().zip(&want).map(|(x, w)| (x - w).abs()).fold(0.0, f64::max);
            assert!(error < 1e-9, "{method:?}: {error:e}");
            // The recurrence's residual is the true one.
            let left: f64 = product(&a, &x).iter().zip(&b).map(|(ax, b)| (b - ax).powi(2)).sum();
            let relative = (left / b.iter().map(|b| b * b).sum::<f64>()).sqrt();
            assert!((report.relative_residual - relative).abs() < 1e-12 && relative > 0.1);
            let before = report.history[report.iterations - 1];
            assert!((before - relative).abs() < 1e-9, "{method:?}: {before} and {relative}");
            // Consistent and wide: the smallest of all solutions is in the range of A'.
            let wide = Csr::from_parts(context, &a.transpose().unwrap()).unwrap();
            let params = LeastSquaresParams::from(Stopping::default().tolerance(1e-10)).method(method);
            let mut solver = LeastSquares::new(context, cols, rows, params).unwrap();
            let c: Vec<f64> = noise(cols, 14);
            let (cs, mut y) = (Vector::from_slice(context, &c).unwrap(), Vector::zeros(context, rows).unwrap());
            let found = solver.solve(&wide, None, &cs, &mut y).unwrap();
            assert!(found.report.stop == Stop::Converged && found.report.relative_residual <= 1e-10);
            let tall = solver.solve(&matrix, None, &cs, &mut y).unwrap_err();
            assert!(matches!(tall, Error::Shape { argument: "a", .. }), "{tall}");
        }
    }
}

/// A matrix of which nothing is known but products.
struct Products<'a>(&'a Csr<f64>);

impl Operator<f64> for Products<'_> {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn cols(&self) -> usize {
        self.0.cols()
    }

    fn context(&self) -> &Context {
        self.0.context()
    }

    fn apply(&self, alpha: f64, x: &Vector<f64>, beta: f64, y: &mut Vector<f64>) -> Result<()> {
        self.0.apply(alpha, x, beta, y)
    }
}

impl Transposed<f64> for Products<'_> {
    fn apply_transposed(&self, alpha: f64, x: &Vector<f64>, beta: f64, y: &mut Vector<f64>) -> Result<()> {
        self.0.apply_transposed(alpha, x, beta, y)
    }

    fn apply_conj_transposed(&self, alpha: f64, x: &Vector<f64>, beta: f64, y: &mut Vector<f64>) -> Result<()> {
        self.0.apply_conj_transposed(alpha, x, beta, y)
    }
}

/// Columns of sizes from 1 to 2^-14: the bidiagonalisation takes ten times as many steps as there are columns, and the Frobenius norm of what it has
/// made is seven times that of A. SciPy's `lsmr` with `atol=1e-10, btol=0, conlim=0` ends with |A'r| = 6.7e-10 |A| |r|.
#[test]
fn least_squares_are_as_accurate_as_they_are_said_to_be() {
    let (rows, cols) = (60, 30);
    let entry = |i: usize, j: usize| {
        let (y, x) = (i as f64, j as f64);
        ((1.0 + 1.7 * y + 0.9 * x * x).sin() + (0.37 * x * y).cos()) * 0.5_f64.powi((j / 2) as i32)
    };
    let entries: Vec<_> = (0..rows * cols).map(|k| (k / cols, k % cols, entry(k / cols, k % cols))).collect();
    let a = CsrParts::from_triplets(rows, cols, &entries).unwrap();
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    // numpy.linalg.lstsq
    let smallest = 9.310_780_968_642_528e-4;
    for context in capable::<f64>() {
        let matrix = Csr::from_parts(context, &a).unwrap();
        let b = Vector::from_slice(context, &vec![1.0; rows]).unwrap();
        for method in [LeastSquaresMethod::Lsqr, LeastSquaresMethod::Lsmr] {
            let products = Products(&matrix);
            let both = [&matrix as &dyn Transposed<f64>, &products];
            for (tolerance, matrix) in [1e-10, 1e-8].into_iter().flat_map(|t| both.map(|matrix| (t, matrix))) {
                let params = LeastSquaresParams::from(Stopping::default().tolerance(tolerance)).method(method);
                let mut x = Vector::zeros(context, cols).unwrap();
                let found =
                    LeastSquares::new(context, rows, cols, params).unwrap().solve(matrix, None, &b, &mut x).unwrap();
                let r: Vec<f64> = product(&a, &x.to_vec().unwrap()).iter().map(|ax| 1.0 - ax).collect();
                let normal = norm(&product(&a.transpose().unwrap(), &r)) / (norm(&a.values) * norm(&r));
                assert!(
                    found.report.stop == Stop::Converged && normal <= tolerance,
                    "{method:?}, {tolerance:e}: {normal:e}, {}",
                    found.report
                );
                // Rounding of A x alone changes it by epsilon | |A| |x| | / |r| = 6.4e-13.
                let known = matrix.frobenius_norm().unwrap().is_some();
                assert!(
                    !known || (found.normal_residual - normal).abs() < 2e-12,
                    "{:e} is {normal:e}",
                    found.normal_residual
                );
                let relative = norm(&r) / norm(&vec![1.0; rows]);
                // |P r| is at most |A'r| over the smallest singular value for the projection P on the range; the condition number is 4e6.
                assert!((relative / smallest - 1.0).abs() < (4e6 * tolerance).powi(2), "{relative:e}");
            }
        }
    }
}

/// Solves from 0; the solution and what the solver reports.
fn least_squares<T: Scalar>(
    method: LeastSquaresMethod,
    tolerance: f64,
    a: &Csr<T>,
    m: Option<&mut dyn Preconditioner<T>>,
    b: &Vector<T>,
) -> (Vec<T>, LeastSquaresReport) {
    let params = LeastSquaresParams::from(Stopping::default().tolerance(tolerance)).method(method);
    let mut x = Vector::zeros(a.context(), a.cols()).unwrap();
    let mut solver = LeastSquares::new(a.context(), a.rows(), a.cols(), params).unwrap();
    let report = solver.solve(a, m, b, &mut x).unwrap();
    (x.to_vec().unwrap(), report)
}

/// With M = diag(A^H A), a solve is one of the matrix with its columns scaled to norm 1, and with a full factor of A^H A it
/// takes an iteration.
fn preconditioned_least_squares<T: Scalar>(context: &Context) {
    let (rows, cols) = (80, 40);
    let mut random = Noise::new(21);
    let scale = |j: usize| 10.0_f64.powi((j % 5) as i32 - 2);
    let number = |random: &mut Noise, size: f64| {
        let [re, im] = [random.value::<f64>(), if T::IS_COMPLEX { random.value() } else { 0.0 }];
        T::from_parts(T::Real::from_f64(size * re), T::Real::from_f64(size * im))
    };
    let mut entries: Vec<(usize, usize, T)> = (0..cols).map(|j| (2 * j, j, T::from_f64(3.0 * scale(j)))).collect();
    for i in 0..rows {
        entries.extend((0..2).map(|_| {
            let j = random.below(cols);
            (i, j, number(&mut random, scale(j)))
        }));
    }
    let a = CsrParts::from_triplets(rows, cols, &entries).unwrap();
    let mut norms = vec![0.0; cols];
    a.triplets().for_each(|(_, j, value)| norms[j] += value.widen().norm_sqr());
    let mut scaled = a.clone();
    scaled
        .values
        .iter_mut()
        .zip(&a.indices)
        .for_each(|(value, &j)| *value = T::narrow(value.widen() * T::Wide::from_f64(norms[j].sqrt().recip())));
    let b: Vec<T> = (0..rows).map(|_| number(&mut random, 1.0)).collect();
    let right = b;
    let b = Vector::from_slice(context, &right).unwrap();
    let (matrix, scaled) = (Csr::from_parts(context, &a).unwrap(), Csr::from_parts(context, &scaled).unwrap());
    let tolerance = 1e3 * eps::<T::Real>();
    for method in [LeastSquaresMethod::Lsqr, LeastSquaresMethod::Lsmr] {
        let (mut want, expected) = least_squares(method, tolerance, &scaled, None, &b);
        want.iter_mut().zip(&norms).for_each(|(x, n)| *x *= T::from_f64(n.sqrt().recip()));
        let mut jacobi = Jacobi::of_normal_equations(&matrix).unwrap();
        let (x, found) = least_squares(method, tolerance, &matrix, Some(&mut jacobi), &b);
        assert_eq!((found.report.stop, expected.report.stop), (Stop::Converged, Stop::Converged), "{method:?}");
        let (took, plain) = (found.report.iterations, expected.report.iterations);
        assert!(took.abs_diff(plain) <= 1, "{method:?}: {took} and {plain} iterations");
        let size = want.iter().map(|w| w.widen().modulus()).fold(0.0, f64::max);
        let error = x.iter().zip(&want).map(|(&x, &w)| (x.widen() - w.widen()).modulus()).fold(0.0, f64::max);
        assert!(error <= 100.0 * tolerance * size, "{method:?}: {error:e} of {size:e}");
        // The columns that the norms scale to 1, in double precision; what single precision rounds off r is the rest.
        let mut r: Vec<T::Wide> = right.iter().map(|b| b.widen()).collect();
        a.triplets().for_each(|(i, j, value)| r[i] -= value.widen() * x[j].widen());
        let mut image = vec![T::Wide::from_f64(0.0); cols];
        a.triplets().for_each(|(i, j, v)| image[j] += v.widen().conj() * r[i] / T::Wide::from_f64(norms[j].sqrt()));
        let length = |v: &[T::Wide]| v.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt();
        let normal = length(&image) / ((cols as f64).sqrt() * length(&r));
        assert!(normal <= 1.02 * tolerance, "{method:?}: {normal:e}");
        assert!(
            (found.normal_residual / normal - 1.0).abs() < 0.05,
            "{method:?}: {} is {normal:e}",
            found.normal_residual
        );
        let (_, unscaled) = least_squares(method, tolerance, &matrix, None, &b);
        assert!(unscaled.report.iterations > 2 * took, "{method:?}: {} and {took}", unscaled.report.iterations);

        let normal = conj_transpose(&matrix).unwrap().multiply(&matrix).unwrap();
        let full = Ilu::new(&normal, &IluParams::default().kind(IluKind::Threshold { drop: 0.0, fill: 1e3 }));
        let (_, found) = least_squares(method, tolerance, &matrix, Some(&mut full.unwrap()), &b);
        assert!(found.report.stop == Stop::Converged && found.report.iterations <= 3, "{method:?}: {}", found.report);

        let minus = Vector::filled(context, cols, -T::one()).unwrap();
        let (_, found) = least_squares(method, tolerance, &matrix, Some(&mut Jacobi::new(&minus).unwrap()), &b);
        assert_eq!((found.report.stop, found.report.iterations), (Stop::Indefinite, 0), "{method:?}");
    }
    let mut x = Vector::zeros(context, cols).unwrap();
    let mut solver = LeastSquares::new(context, rows, cols, LeastSquaresParams::default()).unwrap();
    let mut long = Jacobi::new(&Vector::filled(context, rows, T::one()).unwrap()).unwrap();
    let error = solver.solve(&matrix, Some(&mut long), &b, &mut x).unwrap_err();
    assert!(matches!(error, Error::Length { argument: "m", .. }), "{error}");
}

#[test]
fn least_squares_take_preconditioners_of_the_normal_equations() {
    for context in capable::<f32>() {
        preconditioned_least_squares::<f32>(context);
    }
    for context in capable::<f64>() {
        preconditioned_least_squares::<f64>(context);
        preconditioned_least_squares::<Complex<f64>>(context);
    }
}
