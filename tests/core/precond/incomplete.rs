//! Incomplete factorisations and approximate inverses against plain loops over dense matrices, exact factors and published examples.

use clinalg::precond::{
    CholeskyParams, Fsai, Ilu, IluKind, IluParams, IncompleteCholesky, Matching, Ordering, Spai0, Ssor, SsorParams,
};
use clinalg::solve::{Cg, Gmres, GmresParams, Operator, Preconditioner, Solver, Stopping};
use clinalg::{Complex, Context, Csr, CsrParts, Error, Real, Scalar, Vector};

use crate::common::{Noise, capable, eps, noise};

/// -Laplace u + (p, q) . grad u by central differences on m x m points, without its factor h^-2.
fn convection(m: usize, p: f64, q: f64) -> CsrParts<f64> {
    let mut entries = Vec::new();
    for j in 0..m {
        for i in 0..m {
            let own = j * m + i;
            entries.push((own, own, 4.0));
            let neighbours = [(i > 0, own.wrapping_sub(1), -1.0 - p), (i + 1 < m, own + 1, -1.0 + p)];
            let others = [(j > 0, own.wrapping_sub(m), -1.0 - q), (j + 1 < m, own + m, -1.0 + q)];
            entries.extend(neighbours.into_iter().chain(others).filter(|e| e.0).map(|(_, to, a)| (own, to, a)));
        }
    }
    CsrParts::from_triplets(m * m, m * m, &entries).unwrap()
}

fn narrowed<T: Real>(a: &CsrParts<f64>) -> CsrParts<T> {
    let values = a.values.iter().map(|&v| T::from_f64(v)).collect();
    CsrParts { rows: a.rows, cols: a.cols, offsets: a.offsets.clone(), indices: a.indices.clone(), values }
}

/// A dense matrix by rows, with its pattern.
struct Plain {
    n: usize,
    a: Vec<f64>,
    is_entry: Vec<bool>,
}

impl Plain {
    fn of(a: &CsrParts<f64>) -> Plain {
        let n = a.rows;
        let mut plain = Plain { n, a: vec![0.0; n * n], is_entry: vec![false; n * n] };
        a.triplets().for_each(|(i, j, v)| (plain.a[i * n + j], plain.is_entry[i * n + j]) = (v, true));
        plain
    }

    /// Gauss's elimination, on the pattern only: L below the diagonal, U on and above it.
    fn ilu(mut self) -> Plain {
        let Plain { n, a, is_entry } = &mut self;
        let n = *n;
        for i in 1..n {
            for k in (0..i).filter(|k| is_entry[i * n + k]) {
                a[i * n + k] /= a[k * n + k];
                for j in (k + 1..n).filter(|j| is_entry[i * n + j]) {
                    a[i * n + j] -= a[i * n + k] * a[k * n + j];
                }
            }
        }
        self
    }

    /// (L U)^-1 r.
    fn solve(&self, r: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut z = r.to_vec();
        for i in 0..n {
            z[i] -= (0..i).map(|j| self.a[i * n + j] * z[j]).sum::<f64>();
        }
        for i in (0..n).rev() {
            z[i] = (z[i] - (i + 1..n).map(|j| self.a[i * n + j] * z[j]).sum::<f64>()) / self.a[i * n + i];
        }
        z
    }
}

/// M^-1 r.
fn applied<T: Scalar>(context: &Context, m: &mut dyn Preconditioner<T>, r: &[T]) -> Vec<T> {
    let mut z = Vector::filled(context, r.len(), T::from_f64(f64::NAN)).unwrap();
    m.apply(&Vector::from_slice(context, r).unwrap(), &mut z).unwrap();
    z.to_vec().unwrap()
}

fn assert_near<T: Real>(got: &[T], want: &[f64], bound: f64, what: &str) {
    let largest = want.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    for (k, (got, want)) in got.iter().zip(want).enumerate() {
        let error = (got.into_f64() - want).abs();
        assert!(error <= bound * largest, "{what}: {k}: {got} and {want}");
    }
}

fn zero_fill_of<T: Real>() {
    let wide = convection(17, 0.3, -0.4);
    let a = narrowed::<T>(&wide);
    let r: Vec<f64> = noise::<f32>(a.rows, 1).into_iter().map(f64::from).collect();
    let own: Vec<T> = r.iter().map(|&r| T::from_f64(r)).collect();
    let want = Plain::of(&wide).ilu().solve(&r);
    // Of the triangle of a symmetric matrix, IC(0) is ILU(0).
    let symmetric = convection(17, 0.0, 0.0);
    let of_symmetric = Plain::of(&symmetric).ilu().solve(&r);
    for context in capable::<T>() {
        let what = format!("{context:?}");
        let mut m = Ilu::from_parts(context, &a, &IluParams::default()).unwrap();
        assert_eq!(m.levels(), [33, 33], "the diagonals of the grid, {what}");
        assert!(m.launches() == 2 && !m.is_matched() && m.nnz() == a.nnz(), "{what}");
        assert_near(&applied(context, &mut m, &own), &want, 100.0 * eps::<T>(), &what);
        // The same bits for a matrix that is already on the device.
        let on_device = Ilu::new(&Csr::from_parts(context, &a).unwrap(), &IluParams::default()).unwrap();
        assert_eq!(on_device.to_parts().unwrap(), m.to_parts().unwrap(), "{what}");
        assert_eq!((on_device.levels(), on_device.launches()), (m.levels(), m.launches()), "{what}");
        let matrix = Csr::from_parts(context, &narrowed::<T>(&symmetric)).unwrap();
        let mut m = IncompleteCholesky::new(&matrix, &CholeskyParams::default()).unwrap();
        assert_eq!(m.shift(), 0.0);
        assert_near(&applied(context, &mut m, &own), &of_symmetric, 100.0 * eps::<T>(), &what);
    }
}

#[test]
fn zero_fill_is_elimination_on_the_pattern_f64() {
    zero_fill_of::<f64>();
}

#[test]
fn zero_fill_is_elimination_on_the_pattern_f32() {
    if crate::common::single() {
        zero_fill_of::<f32>();
    }
}

/// What the factors of two factorisations differ by, relative to the largest entry.
fn difference<T: Real>(found: &[CsrParts<T>], want: &[CsrParts<T>]) -> f64 {
    let mut largest: (f64, f64) = (0.0, 0.0);
    for (found, want) in found.iter().zip(want) {
        assert_eq!((&found.offsets, &found.indices), (&want.offsets, &want.indices));
        for (found, want) in found.values.iter().zip(&want.values) {
            largest.0 = largest.0.max((found.into_f64() - want.into_f64()).abs());
            largest.1 = largest.1.max(want.into_f64().abs());
        }
    }
    largest.0 / largest.1
}

/// Sweeps come nearer to the factors, have them to the last bit after as many as there are levels, and a few are enough for a
/// preconditioner.
fn sweeps_of<T: Real>(context: &Context) {
    let (general, symmetric) = (narrowed::<T>(&convection(17, 0.3, -0.4)), narrowed::<T>(&convection(17, 0.0, 0.0)));
    let lu = |sweeps: usize| {
        let m = Ilu::from_parts(context, &general, &IluParams::default().sweeps(sweeps)).unwrap();
        m.to_parts().unwrap()
    };
    let cholesky = |sweeps: usize| {
        let params = CholeskyParams::default().shift(0.0).sweeps(sweeps);
        [IncompleteCholesky::from_parts(context, &symmetric, &params).unwrap().to_parts().unwrap()]
    };
    let errors = |factors: &dyn Fn(usize) -> Vec<CsrParts<T>>| {
        let want = factors(0);
        let errors = [1, 2, 4, 8].map(|sweeps| difference(&factors(sweeps), &want));
        assert!(errors.windows(2).all(|pair| pair[1] < 0.5 * pair[0]), "{errors:?}");
        assert_eq!(factors(33), want, "{context:?}");
        assert_eq!(factors(40), want, "{context:?}");
    };
    errors(&|sweeps| lu(sweeps).into());
    errors(&|sweeps| cholesky(sweeps).into());

    let matrix = Csr::from_parts(context, &symmetric).unwrap();
    let b = Vector::filled(context, matrix.rows(), T::one()).unwrap();
    let iterations = |sweeps: usize| {
        let mut m = IncompleteCholesky::new(&matrix, &CholeskyParams::default().sweeps(sweeps)).unwrap();
        let mut x = Vector::zeros(context, matrix.rows()).unwrap();
        let stopping = Stopping::default().tolerance(1e3 * eps::<T>());
        let report = Cg::new(context, matrix.rows(), stopping.into()).unwrap().solve(&matrix, Some(&mut m), &b, &mut x);
        let report = report.unwrap();
        assert!(report.stop.is_success(), "{report}");
        report.iterations
    };
    assert!(iterations(4) <= iterations(0) + 1, "{} and {}", iterations(4), iterations(0));
}

#[test]
fn sweeps_converge_to_the_factors() {
    for context in capable::<f64>() {
        sweeps_of::<f64>(context);
    }
    for context in capable::<f32>() {
        sweeps_of::<f32>(context);
    }
}

#[test]
fn sweeps_that_leave_no_factors_are_errors() {
    // Zero pivots, and a threshold.
    let singular =
        CsrParts::from_triplets(3, 3, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)]).unwrap();
    let Some(context) = capable::<f64>().next() else { return };
    for sweeps in [0, 1, 5] {
        let params = IluParams::default().matching(Matching::Never).sweeps(sweeps);
        let error = Ilu::from_parts(context, &singular, &params).unwrap_err();
        assert!(error.to_string().contains("row 2 (counted from 1)"), "{sweeps} sweeps: {error}");
    }
    let params = IluParams::default().kind(IluKind::threshold()).sweeps(3);
    let error = Ilu::from_parts(context, &singular, &params).unwrap_err();
    assert!(matches!(error, Error::Value { argument: "sweeps", .. }), "{error}");
}

#[test]
fn large_levels_are_launches_of_their_own() {
    // Two colours of 5000 rows.
    let a = convection(100, 0.2, 0.1);
    let x = noise::<f64>(a.rows, 2);
    for context in capable::<f64>() {
        let matrix = Csr::from_parts(context, &a).unwrap();
        let (mut b, mut found) = (Vector::zeros(context, a.rows).unwrap(), Vector::zeros(context, a.rows).unwrap());
        matrix.apply(1.0, &Vector::from_slice(context, &x).unwrap(), 0.0, &mut b).unwrap();
        let params = IluParams::default().ordering(Ordering::Multicolour);
        let mut m = Ilu::new(&matrix, &params).unwrap();
        assert_eq!(m.levels(), [2, 2]);
        assert_eq!(m.launches(), 4, "{context:?}");
        let mut solver = Gmres::new(context, a.rows, GmresParams::from(Stopping::default().tolerance(1e-9))).unwrap();
        let report = solver.solve(&matrix, Some(&mut m), &b, &mut found).unwrap();
        assert!(report.stop.is_success(), "{report}");
        assert_near(&found.to_vec().unwrap(), &x, 1e-5, "GMRES");
    }
}

/// A sparse matrix with a dominant entry in each row, none of which is on the diagonal.
fn shuffled(n: usize) -> CsrParts<f64> {
    let mut noise = Noise::new(5);
    let mut entries = Vec::new();
    for i in 0..n {
        let scale = 10.0_f64.powi((i % 13) as i32 - 6);
        entries.push((i, (i + n / 3) % n, scale * 4.0));
        for _ in 0..3 {
            let j = noise.below(n);
            if j != i {
                entries.push((i, j, scale * noise.value::<f64>()));
            }
        }
    }
    CsrParts::from_triplets(n, n, &entries).unwrap()
}

#[test]
fn without_dropping_the_inverse_is_exact() {
    let a = shuffled(150);
    let x = noise::<f64>(150, 6);
    let mut b = vec![0.0; 150];
    a.triplets().for_each(|(i, j, v)| b[i] += v * x[j]);
    let exact = IluKind::Threshold { drop: 0.0, fill: 150.0 };
    for context in capable::<f64>() {
        for matching in [Matching::Never, Matching::WhereNeeded] {
            for ordering in [Ordering::Natural, Ordering::CuthillMcKee] {
                let params = IluParams::default().kind(exact).matching(matching).ordering(ordering);
                let mut m = Ilu::from_parts(context, &a, &params).unwrap();
                assert_eq!(m.is_matched(), matching != Matching::Never);
                assert_near(&applied(context, &mut m, &b), &x, 1e-10, &format!("{params:?}"));
            }
        }
    }
}

#[test]
fn zero_diagonals_are_matched_or_named() {
    // A saddle point: [A B'; B 0] with a chain and the differences of neighbours.
    let n = 60;
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 4.0));
        if i + 1 < n {
            entries.extend([(i, i + 1, -1.0), (i + 1, i, -1.0)]);
        }
    }
    for k in 0..n / 2 {
        for (at, value) in [(2 * k, 1.0), (2 * k + 1, -1.0)] {
            entries.extend([(at, n + k, value), (n + k, at, value)]);
        }
    }
    let a = CsrParts::from_triplets(n + n / 2, n + n / 2, &entries).unwrap();
    let x = noise::<f64>(a.rows, 3);
    for context in capable::<f64>() {
        let matrix = Csr::from_parts(context, &a).unwrap();
        let (mut b, mut found) = (Vector::zeros(context, a.rows).unwrap(), Vector::zeros(context, a.rows).unwrap());
        matrix.apply(1.0, &Vector::from_slice(context, &x).unwrap(), 0.0, &mut b).unwrap();
        let mut m = Ilu::new(&matrix, &IluParams::default()).unwrap();
        assert!(m.is_matched());
        let report = Gmres::new(context, a.rows, GmresParams::default()).unwrap();
        let report = { report }.solve(&matrix, Some(&mut m), &b, &mut found).unwrap();
        assert!(report.stop.is_success(), "{report}");
        let zero = CsrParts::from_triplets(3, 3, &[(0, 0, 1.0), (1, 2, 1.0), (2, 1, 1.0)]).unwrap();
        let never = IluParams::default().matching(Matching::Never);
        let message = Ilu::from_parts(context, &zero, &never).unwrap_err().to_string();
        assert!(message.contains("row 2 (counted from 1)") && message.contains("matching"), "{message}");
        let singular = CsrParts::from_triplets(3, 3, &[(0, 0, 1.0), (1, 0, 1.0), (2, 1, 1.0), (2, 2, 1.0)]).unwrap();
        let message = Ilu::from_parts(context, &singular, &IluParams::default()).unwrap_err().to_string();
        assert!(message.contains("structurally singular"), "{message}");
        let tall = CsrParts::<f64>::from_triplets(3, 2, &[]).unwrap();
        assert!(matches!(Ilu::from_parts(context, &tall, &never), Err(Error::Shape { argument: "a", .. })));
        let (r, mut z) = (Vector::zeros(context, a.rows).unwrap(), Vector::zeros(context, 3).unwrap());
        assert!(matches!(m.apply(&r, &mut z), Err(Error::Length { argument: "z", .. })));
    }
}

#[test]
fn complex_factors_of_a_tridiagonal_matrix_are_exact() {
    let n = 40_usize;
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => Complex::new(3.0, 0.0),
        _ if i < j => Complex::new(-1.0, 0.5),
        _ => Complex::new(-1.0, -0.5),
    };
    let near = (0..n).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j)));
    let a = CsrParts::from_triplets(n, n, &near.map(|(i, j)| (i, j, entry(i, j))).collect::<Vec<_>>()).unwrap();
    let x: Vec<Complex<f64>> =
        noise::<f64>(n, 7).into_iter().zip(noise::<f64>(n, 8)).map(|(re, im)| Complex::new(re, im)).collect();
    let mut b = vec![Complex::new(0.0, 0.0); n];
    a.triplets().for_each(|(i, j, v)| b[i] += v * x[j]);
    for context in capable::<f64>() {
        let made: [Box<dyn Preconditioner<Complex<f64>>>; 3] = [
            Box::new(Ilu::from_parts(context, &a, &IluParams::default()).unwrap()),
            Box::new(Ilu::from_parts(context, &a, &IluParams::default().kind(IluKind::threshold())).unwrap()),
            Box::new(IncompleteCholesky::from_parts(context, &a, &CholeskyParams::default()).unwrap()),
        ];
        for (k, mut m) in made.into_iter().enumerate() {
            let z = applied(context, &mut *m, &b);
            let bound = if k == 1 { 1e-3 } else { 1e-13 };
            assert!(z.iter().zip(&x).all(|(z, x)| (z - x).norm() <= bound), "{k}, {context:?}");
        }
    }
}

#[test]
fn kershaws_matrix_needs_a_shift() {
    // Positive definite, without IC(0): Kershaw, J. Comput. Phys. 26 (1978) 43.
    let rows = [[3.0, -2.0, 0.0, 2.0], [-2.0, 3.0, -2.0, 0.0], [0.0, -2.0, 3.0, -2.0], [2.0, 0.0, -2.0, 3.0]];
    let a = CsrParts::from_dense(4, 4, &(0..16).map(|e| rows[e % 4][e / 4]).collect::<Vec<f64>>()).unwrap();
    for context in capable::<f64>() {
        let strict = IncompleteCholesky::from_parts(context, &a, &CholeskyParams::default().shift(0.0));
        let message = strict.unwrap_err().to_string();
        assert!(message.contains("row 4 (counted from 1)") && message.contains("not positive"), "{message}");
        let mut m = IncompleteCholesky::from_parts(context, &a, &CholeskyParams::default()).unwrap();
        assert!(m.shift() > 0.0 && m.shift() < 1.0);
        let matrix = Csr::from_parts(context, &a).unwrap();
        let (b, mut x) = (Vector::filled(context, 4, 1.0).unwrap(), Vector::zeros(context, 4).unwrap());
        let report = Cg::new(context, 4, Default::default()).unwrap().solve(&matrix, Some(&mut m), &b, &mut x).unwrap();
        assert!(report.stop.is_success() && report.iterations <= 5, "{report}");
        let indefinite = CsrParts::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, -1.0)]).unwrap();
        let message = IncompleteCholesky::from_parts(context, &indefinite, &CholeskyParams::default()).unwrap_err();
        assert!(message.to_string().contains("row 2"), "{message}");
    }
}

#[test]
fn ssor_is_two_sweeps() {
    let a = convection(9, 0.3, 0.1);
    let r = noise::<f64>(a.rows, 9);
    let diagonal = a.diagonal();
    let omega = 1.3;
    // x += omega (r - A x) / d, row by row, forwards and backwards, from 0.
    let mut x = vec![0.0; a.rows];
    for i in (0..a.rows).chain((0..a.rows).rev()) {
        let product: f64 = a.row(i).map(|(j, v)| v * x[j]).sum();
        x[i] += omega * (r[i] - product) / diagonal[i];
    }
    for context in capable::<f64>() {
        let params = SsorParams::default().omega(omega).ordering(Ordering::Natural);
        let mut m = Ssor::from_parts(context, &a, &params).unwrap();
        assert_near(&applied(context, &mut m, &r), &x, 1e-14, "SSOR");
        assert_eq!(Ssor::from_parts(context, &a, &SsorParams::default()).unwrap().levels(), 2);
        let wrong = Ssor::from_parts(context, &a, &SsorParams::default().omega(2.0));
        assert!(matches!(wrong, Err(Error::Value { argument: "omega", .. })));
    }
}

#[test]
fn approximate_inverses_meet_their_definitions() {
    let a = convection(12, 0.0, 0.0);
    let n = a.rows;
    for context in capable::<f64>() {
        let mut m = Fsai::from_parts(context, &a).unwrap();
        // M^-1 = G'G, where (G A)_ij = 0 on the pattern of the lower triangle and (G A G')_ii = 1: then trace(M^-1 A) = n.
        let mut trace = 0.0;
        for i in (0..n).step_by(7) {
            let mut column = vec![0.0; n];
            a.triplets().filter(|e| e.1 == i).for_each(|(k, _, v)| column[k] = v);
            let z = applied(context, &mut m, &column);
            trace += z[i];
        }
        let count = n.div_ceil(7) as f64;
        assert!((trace / count - 1.0).abs() < 0.1, "{trace} of {count}");
        let b: Vec<f64> = noise(n, 11);
        let (bs, mut x) = (Vector::from_slice(context, &b).unwrap(), Vector::zeros(context, n).unwrap());
        let matrix = Csr::from_parts(context, &a).unwrap();
        let mut cg = Cg::new(context, n, Default::default()).unwrap();
        let plain = cg.solve(&matrix, None, &bs, &mut x).unwrap();
        x.fill(0.0).unwrap();
        let better = cg.solve(&matrix, Some(&mut m), &bs, &mut x).unwrap();
        assert!(better.stop.is_success() && 4 * better.iterations < 3 * plain.iterations, "{better}, {plain}");
        let skew = convection(12, 0.4, -0.2);
        let mut spai = Spai0::from_parts(context, &skew).unwrap();
        let want: Vec<f64> = (0..n).map(|i| b[i] * 4.0 / skew.row(i).map(|(_, v)| v * v).sum::<f64>()).collect();
        assert_near(&applied(context, &mut spai, &b), &want, 1e-15, "SPAI-0");
    }
}

/// The factors of a singular matrix: what they enlarge a vector by is the inverse of the pivot that took the place of zero, the square root of the
/// machine precision.
#[test]
fn replaced_pivots_have_the_size_of_the_precision() {
    fn gain<T: Real>(context: &Context) -> f64 {
        let entries = [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)].map(|(i, j, v)| (i, j, T::from_f64(v)));
        let a = Csr::from_triplets(context, 2, 2, &entries).unwrap();
        let params = IluParams::default().kind(IluKind::Threshold { drop: 0.0, fill: 2.0 });
        assert!(matches!(Ilu::new(&a, &params), Err(Error::Unsuitable { .. })));
        let mut m = Ilu::new(&a, &params.replaces_pivots(true)).unwrap();
        assert_eq!((m.replaced_pivots(), m.kind().name()), (1, "ILUT"));
        let r = Vector::from_slice(context, &[T::one(), -T::one()]).unwrap();
        let mut z = Vector::zeros(context, 2).unwrap();
        m.apply(&r, &mut z).unwrap();
        z.to_vec().unwrap().into_iter().map(|z| z.into_f64().abs()).fold(0.0, f64::max)
    }
    for context in capable::<f32>() {
        // The row adds up to 2, and r has the part 2 in the second step.
        assert!((gain::<f32>(context) * f64::from(f32::EPSILON).sqrt() - 1.0).abs() < 1e-3);
    }
    for context in capable::<f64>() {
        assert!((gain::<f64>(context) * f64::EPSILON.sqrt() - 1.0).abs() < 1e-3);
    }
}
