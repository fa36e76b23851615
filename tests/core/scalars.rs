//! Vectors, matrices and operations on them in all four scalar types, against plain loops over `num_complex` numbers. Most
//! values are small whole numbers, whose sums are exact in any order.

use clinalg::matrix::{BandParts, CsrParts, Format};
use clinalg::ops::{self, DotParts, Operator};
use clinalg::precond::Jacobi;
use clinalg::solve::{BiCgStab, Cg, Gmres, GmresParams, Solver, Stop, Stopping};

use crate::common::{Noise, SIZES, assert_error, contexts};
use clinalg::{Band, Complex, Context, Csr, Dense, Error, KernelFamily, Real, Scalar, Vector};

/// Runs a check on every device, kernel family and scalar type; without the long cases in single precision by the kernels
/// for GPUs only.
macro_rules! on_every_scalar {
    ($check:ident) => {
        for context in contexts() {
            if context.family() == KernelFamily::Gpu || clinalg_testing::long() {
                $check::<f32>(context);
                $check::<Complex<f32>>(context);
            }
            if crate::common::has::<f64>(context) {
                $check::<f64>(context);
                $check::<Complex<f64>>(context);
            }
        }
    };
}

fn scalar<T: Scalar>(re: f64, im: f64) -> T {
    T::from_parts(T::Real::from_f64(re), T::Real::from_f64(im))
}

/// `n` numbers whose parts are whole and at most 4.
fn whole<T: Scalar>(n: usize, seed: u64) -> Vec<T> {
    let mut noise = Noise::new(seed);
    let mut part = || noise.below(9) as f64 - 4.0;
    (0..n).map(|_| scalar(part(), part())).collect()
}

fn invalid<T: Scalar>() -> T {
    scalar(f64::NAN, f64::NAN)
}

fn wide<T: Scalar>(z: T) -> Complex<f64> {
    Complex::new(z.re().into_f64(), z.im().into_f64())
}

fn eps<T: Scalar>() -> f64 {
    2.0_f64.powi(if T::PRECISION.bytes() == 4 { -23 } else { -52 })
}

#[test]
fn elementwise_operations() {
    on_every_scalar!(elementwise);
}

fn elementwise<T: Scalar>(context: &Context) {
    for &n in SIZES {
        let (x, y) = (whole::<T>(n, 1), whole::<T>(n, 2));
        let [dx, dy] = [&x, &y].map(|v| Vector::from_slice(context, v).unwrap());
        assert_eq!(dx.to_vec().unwrap(), x);
        let check = |what: &str, want: &dyn Fn(T, T) -> T, run: &dyn Fn(&mut Vector<T>)| {
            let mut out = Vector::filled(context, n, invalid::<T>()).unwrap();
            run(&mut out);
            let want: Vec<T> = x.iter().zip(&y).map(|(&x, &y)| want(x, y)).collect();
            assert_eq!(out.to_vec().unwrap(), want, "{what}, {n}, {:?}", context.family());
        };
        for (alpha, beta) in [((2.0, 0.0), (-3.0, 0.0)), ((2.0, -1.0), (0.0, 3.0)), ((0.0, 1.0), (1.0, 0.0))] {
            let (a, b) = (scalar::<T>(alpha.0, alpha.1), scalar::<T>(beta.0, beta.1));
            check("axpby", &|x, y| a * x + b * y, &|out| ops::axpby(a, &dx, b, &dy, out).unwrap());
            check("scale", &|x, _| a * x, &|out| ops::scale(a, &dx, out).unwrap());
            check("sub_scaled", &|x, y| x - a * y, &|out| ops::sub_scaled(&dx, &dy, a, out).unwrap());
            check("update", &|x, y| a * x + b * y, &|out| {
                ops::copy(&dy, out).unwrap();
                ops::update(a, &dx, b, out).unwrap();
            });
            check("fill", &|_, _| a, &|out| ops::fill(a, out).unwrap());
        }
        check("add", &|x, y| x + y, &|out| ops::add(&dx, &dy, out).unwrap());
        check("sub", &|x, y| x - y, &|out| ops::sub(&dx, &dy, out).unwrap());
        check("multiply", &|x, y| x * y, &|out| ops::multiply(&dx, &dy, out).unwrap());
        check("conj", &|x, _| x.conj(), &|out| ops::conj(&dx, out).unwrap());
        check("in place", &|x, y| x * y, &|out| {
            let copy = dx.to_vec().unwrap();
            out.write(&copy).unwrap();
            let other = dy.to_vec().unwrap();
            let other = Vector::from_slice(context, &other).unwrap();
            let mut product = Vector::zeros(context, n).unwrap();
            ops::multiply(out, &other, &mut product).unwrap();
            ops::copy(&product, out).unwrap();
        });
        parts(context, &x, &dx);
    }
}

fn parts<T: Scalar>(context: &Context, x: &[T], dx: &Vector<T>) {
    let out = || Vector::<T::Real>::zeros(context, x.len()).unwrap();
    let (mut re, mut im, mut abs) = (out(), out(), out());
    ops::real_part(dx, &mut re).unwrap();
    ops::imaginary_part(dx, &mut im).unwrap();
    ops::abs(dx, &mut abs).unwrap();
    let [re, im, abs] = [re, im, abs].map(|v| v.to_vec().unwrap());
    for (k, &z) in x.iter().enumerate() {
        assert_eq!((re[k], im[k]), (z.re(), z.im()));
        let want = wide(z).norm();
        assert!((abs[k].into_f64() - want).abs() <= 4.0 * eps::<T>() * want, "{z}: {}", abs[k]);
    }
    let mut short = Vector::<T::Real>::zeros(context, x.len() + 1).unwrap();
    assert_error(ops::real_part(dx, &mut short), "clinalg:argument:length", "out");
}

#[test]
fn complex_vectors_from_their_parts() {
    for context in contexts() {
        for &n in SIZES {
            let (re, im) = (whole::<f32>(n, 3), whole::<f32>(n, 4));
            let [dre, dim] = [&re, &im].map(|v| Vector::from_slice(context, v).unwrap());
            let mut out = Vector::<Complex<f32>>::zeros(context, n).unwrap();
            ops::complex(&dre, &dim, &mut out).unwrap();
            let want: Vec<_> = re.iter().zip(&im).map(|(&re, &im)| Complex::new(re, im)).collect();
            assert_eq!(out.to_vec().unwrap(), want);
        }
    }
}

#[test]
fn reductions() {
    on_every_scalar!(reduce);
}

fn reduce<T: Scalar>(context: &Context) {
    for &n in SIZES {
        let (x, y) = (whole::<T>(n, 5), whole::<T>(n, 6));
        let [dx, dy] = [&x, &y].map(|v| Vector::from_slice(context, v).unwrap());
        let total = |term: &dyn Fn(T, T) -> T| x.iter().zip(&y).map(|(&x, &y)| term(x, y)).sum::<T>();
        assert_eq!(ops::sum(&dx).unwrap(), total(&|x, _| x), "{n}");
        assert_eq!(ops::dot(&dx, &dy).unwrap(), total(&|x, y| x.conj() * y), "{n}");
        assert_eq!(ops::dotu(&dx, &dy).unwrap(), total(&|x, y| x * y), "{n}");
        let moduli: Vec<f64> = x.iter().map(|&x| wide(x).norm()).collect();
        let squares: f64 = x.iter().map(|&x| wide(x).norm_sqr()).sum();
        // At most so many additions in a row: half a block in an accumulator, then the blocks.
        let close = |got: T::Real, want: f64| (got.into_f64() - want).abs() <= 512.0 * eps::<T>() * want;
        assert!(close(ops::norm1(&dx).unwrap(), moduli.iter().sum()), "{n}");
        assert!(close(ops::norm2(&dx).unwrap(), squares.sqrt()), "{n}");
        assert!(close(ops::norm_inf(&dx).unwrap(), moduli.iter().copied().fold(0.0, f64::max)), "{n}");
        let mut dots = DotParts::new(context).unwrap();
        dots.set(&dx, &dy).unwrap();
        assert_eq!(T::narrow(dots.value().unwrap()), total(&|x, y| x.conj() * y), "{n}");
        dots.set_pair(&dx, &dy).unwrap();
        let (mixed, square) = dots.values().unwrap();
        assert_eq!((T::narrow(mixed), square), (total(&|x, y| x.conj() * y), squares), "{n}");
        assert_eq!(dots.value().unwrap(), mixed);
    }
}

#[test]
fn norms_neither_overflow_nor_underflow() {
    fn check<T: Scalar>(context: &Context) {
        let largest = if T::PRECISION.bytes() == 4 { 1e30 } else { 1e300 };
        for unit in [largest, 1.0 / largest] {
            let n = 10_000;
            let x = Vector::filled(context, n, scalar::<T>(3.0 * unit, 4.0 * unit)).unwrap();
            let modulus = if T::IS_COMPLEX { 5.0 } else { 3.0 } * unit;
            let close = |got: T::Real, want: f64| (got.into_f64() / want - 1.0).abs() <= 100.0 * eps::<T>();
            assert!(close(ops::norm2(&x).unwrap(), 100.0 * modulus), "{}", ops::norm2(&x).unwrap());
            assert!(close(ops::norm1(&x).unwrap(), 1e4 * modulus), "{}", ops::norm1(&x).unwrap());
            assert!(close(ops::norm_inf(&x).unwrap(), modulus), "{}", ops::norm_inf(&x).unwrap());
        }
        let mut x = vec![scalar::<T>(1.0, 1.0); 5000];
        x[4321] = scalar::<T>(1.0, f64::NAN) + scalar(f64::NAN, 0.0);
        let x = Vector::from_slice(context, &x).unwrap();
        let is_nan = |norm: T::Real| norm.into_f64().is_nan();
        assert!(
            is_nan(ops::norm1(&x).unwrap()) && is_nan(ops::norm2(&x).unwrap()) && is_nan(ops::norm_inf(&x).unwrap())
        );
    }
    on_every_scalar!(check);
}

/// A sparse `rows` x `cols` matrix with rows of 0 to `most` entries, or one longer row.
fn sparse<T: Scalar>(rows: usize, cols: usize, most: usize) -> CsrParts<T> {
    let mut noise = Noise::new((rows * 31 + cols) as u64);
    let mut entries = Vec::new();
    for i in 0..rows {
        let count = if i == rows / 2 { 8 * most } else { noise.below(most + 1) };
        entries.extend((0..count).map(|_| (i, noise.below(cols))));
    }
    let values = whole::<T>(entries.len(), 7);
    let entries: Vec<_> = entries.into_iter().zip(values).map(|((i, j), v)| (i, j, v)).collect();
    CsrParts::from_triplets(rows, cols, &entries).unwrap()
}

/// y = alpha op(A) x + beta y by columns of the full matrix.
fn product<T: Scalar>(
    (rows, cols): (usize, usize),
    entry: &dyn Fn(usize, usize) -> T,
    alpha: T,
    x: &[T],
    beta: T,
    y: &[T],
) -> Vec<T> {
    let row = |i: usize| (0..cols).map(|j| entry(i, j) * x[j]).sum::<T>();
    (0..rows).map(|i| alpha * row(i) + if beta == T::zero() { T::zero() } else { beta * y[i] }).collect()
}

/// All products of `a`, the columns of whose full form are `full`.
fn products<T: Scalar>(
    what: &str,
    context: &Context,
    a: &(impl ops::Transposed<T> + ops::MultiRhs<T>),
    full: &[T],
    nrhs: usize,
) {
    let (rows, cols) = (a.rows(), a.cols());
    let entry = |i: usize, j: usize| full[j * rows + i];
    let adjoint = |j: usize, i: usize| entry(i, j).conj();
    let title = format!("{what}, {rows} x {cols}, {:?}, complex {}", context.family(), T::IS_COMPLEX);
    let (alpha, beta) = (scalar::<T>(2.0, -1.0), scalar::<T>(1.0, 3.0));
    for beta in [T::zero(), beta] {
        let (x, z) = (whole::<T>(cols * nrhs, 8), whole::<T>(rows * nrhs, 9));
        // beta = 0 never reads the output.
        let start = |v: &[T]| if beta == T::zero() { vec![invalid(); v.len()] } else { v.to_vec() };
        let run = |input: &[T], output: &[T], apply: &dyn Fn(&Vector<T>, &mut Vector<T>)| {
            let input = Vector::from_slice(context, input).unwrap();
            let mut out = Vector::from_slice(context, &start(output)).unwrap();
            apply(&input, &mut out);
            out.to_vec().unwrap()
        };
        let (x1, z1) = (&x[..cols], &z[..rows]);
        let got = run(x1, z1, &|x, y| ops::mv(alpha, a, x, beta, y).unwrap());
        assert_eq!(got, product((rows, cols), &entry, alpha, x1, beta, z1), "{title}");
        let got = run(z1, x1, &|x, y| ops::mv_transposed(alpha, a, x, beta, y).unwrap());
        assert_eq!(got, product((cols, rows), &|j, i| entry(i, j), alpha, z1, beta, x1), "{title}, transposed");
        let got = run(z1, x1, &|x, y| ops::mv_conj_transposed(alpha, a, x, beta, y).unwrap());
        assert_eq!(got, product((cols, rows), &adjoint, alpha, z1, beta, x1), "{title}, conjugate transpose");
        let xs = Dense::from_column_major(context, cols, nrhs, &x).unwrap();
        let mut ys = Dense::from_column_major(context, rows, nrhs, &start(&z)).unwrap();
        ops::mm(alpha, a, &xs, beta, &mut ys).unwrap();
        let columns = (0..nrhs)
            .flat_map(|q| product((rows, cols), &entry, alpha, &x[q * cols..][..cols], beta, &z[q * rows..][..rows]));
        assert_eq!(ys.to_column_major().unwrap(), columns.collect::<Vec<_>>(), "{title}, {nrhs} right-hand sides");
    }
    dots(&title, context, a, &entry);
}

/// y = alpha A x + beta u with y'w and y'y.
fn dots<T: Scalar>(title: &str, context: &Context, a: &dyn Operator<T>, entry: &dyn Fn(usize, usize) -> T) {
    let (rows, cols) = (a.rows(), a.cols());
    let (x, u, w) = (whole::<T>(cols, 10), whole::<T>(rows, 11), whole::<T>(rows, 12));
    let [dx, du, dw] = [&x, &u, &w].map(|v| Vector::from_slice(context, v).unwrap());
    let (mut y, mut dots) = (Vector::filled(context, rows, invalid::<T>()).unwrap(), DotParts::new(context).unwrap());
    let (alpha, beta) = (scalar::<T>(0.0, 1.0), scalar::<T>(1.0, 1.0));
    a.apply_dots(alpha, &dx, Some((beta, &du)), &dw, &mut y, &mut dots).unwrap();
    let want = product((rows, cols), entry, alpha, &x, beta, &u);
    assert_eq!(y.to_vec().unwrap(), want, "{title}");
    let mixed: Complex<f64> = want.iter().zip(&w).map(|(&y, &w)| wide(y).conj() * wide(w)).sum();
    let square: f64 = want.iter().map(|&y| wide(y).norm_sqr()).sum();
    let (got, got_square) = dots.values().unwrap();
    let rounding = 64.0 * eps::<T>() * (square + mixed.norm() + 1e3);
    assert!(
        (wide(got) - mixed).norm() <= rounding && (got_square - square).abs() <= rounding,
        "{title}: {got}, {mixed}"
    );
    if rows == cols {
        a.apply_dot(&dx, &mut y, &mut dots).unwrap();
        let want = product((rows, cols), entry, T::one(), &x, T::zero(), &u);
        assert_eq!(y.to_vec().unwrap(), want, "{title}");
        let mixed: Complex<f64> = want.iter().zip(&x).map(|(&y, &x)| wide(x).conj() * wide(y)).sum();
        let got = wide(dots.value().unwrap());
        assert!((got - mixed).norm() <= rounding, "{title}: {got}, {mixed}");
    }
}

#[test]
fn sparse_products() {
    fn check<T: Scalar>(context: &Context) {
        for (rows, cols, most) in [(1, 1, 1), (7, 5, 3), (300, 300, 5), (300, 260, 20), (90, 400, 90)] {
            let parts = sparse::<T>(rows, cols, most);
            let full = parts.to_dense().unwrap();
            let a = Csr::from_parts(context, &parts).unwrap();
            assert_eq!(a.to_parts().unwrap(), parts);
            products("csr", context, &a, &full, 5);
            let transposed = parts.transpose().unwrap();
            assert_eq!(a.transpose().unwrap().to_parts().unwrap(), transposed);
            let conj = CsrParts { values: transposed.values.iter().map(|v| v.conj()).collect(), ..transposed };
            assert_eq!(ops::conj_transpose(&a).unwrap().to_parts().unwrap(), conj);
            assert_eq!(a.diagonal().unwrap().to_vec().unwrap(), parts.diagonal());
            // Rows and columns exchanged: compressed columns of the transpose.
            let by_columns = Csr::from_csc(context, cols, rows, &parts.offsets, &parts.indices, &parts.values).unwrap();
            assert_eq!(by_columns.to_parts().unwrap(), parts.transpose().unwrap());
        }
        products("csr", context, &Csr::<T>::from_triplets(context, 3, 2, &[]).unwrap(), &[T::zero(); 6], 2);
    }
    on_every_scalar!(check);
}

/// Devices that share the host's memory read the values where they lie.
#[test]
fn columns_of_complex_values_at_any_address() {
    // On the heap one of the two is at an odd multiple of 8 bytes.
    #[repr(C)]
    struct Places {
        even: [Complex<f64>; 2],
        between: f64,
        odd: [Complex<f64>; 2],
    }
    let values = [Complex::new(1.0, 2.0), Complex::new(3.0, -4.0)];
    let places = Box::new(Places { even: values, between: 0.0, odd: values });
    assert_eq!(places.between, 0.0);
    for context in contexts().iter().filter(|context| crate::common::has::<f64>(context)) {
        for given in [&places.even, &places.odd] {
            let a = Csr::from_csc(context, 3, 2, &[0, 1, 2], &[2, 0], given).unwrap();
            let parts = a.to_parts().unwrap();
            assert_eq!((parts.offsets, parts.indices), (vec![0, 1, 1, 2], vec![1, 0]));
            assert_eq!(parts.values, [values[1], values[0]]);
        }
    }
}

#[test]
fn dense_products() {
    fn check<T: Scalar>(context: &Context) {
        for (rows, cols) in [(1, 1), (3, 2), (130, 70), (65, 300), (400, 33)] {
            let full = whole::<T>(rows * cols, 13);
            let a = Dense::from_column_major(context, rows, cols, &full).unwrap();
            products("dense", context, &a, &full, 9);
            let diagonal: Vec<T> = (0..rows.min(cols)).map(|i| full[i * rows + i]).collect();
            assert_eq!(a.diagonal().unwrap().to_vec().unwrap(), diagonal);
            let array = a.to_array().unwrap();
            assert_eq!(Dense::from_array(context, &array.view()).unwrap().to_column_major().unwrap(), full);
        }
    }
    on_every_scalar!(check);
}

#[test]
fn band_products() {
    fn check<T: Scalar>(context: &Context) {
        for (rows, cols, kl, ku) in [(1, 1, 0, 0), (40, 40, 1, 2), (300, 280, 4, 0), (200, 333, 0, 20), (9, 9, 20, 20)]
        {
            let mut full = whole::<T>(rows * cols, 14);
            for (k, value) in full.iter_mut().enumerate() {
                let (i, j) = (k % rows, k / rows);
                if i > j + kl || j > i + ku {
                    *value = T::zero();
                }
            }
            let a = Band::from_column_major(context, (rows, cols), (kl, ku), &full).unwrap();
            products("band", context, &a, &full, 6);
            assert_eq!(a.to_parts().unwrap(), BandParts::from_dense(rows, cols, kl, ku, &full).unwrap());
            let diagonal: Vec<T> = (0..rows.min(cols)).map(|i| full[i * rows + i]).collect();
            assert_eq!(a.diagonal().unwrap().to_vec().unwrap(), diagonal);
            // A factor that is not finite must not reach the padding.
            let mut out = Band::from_column_major(context, (rows, cols), (kl, ku), &full).unwrap();
            ops::scale(scalar(1.0, f64::INFINITY), &a, &mut out).unwrap();
            out.to_parts().unwrap().check().unwrap();
        }
    }
    on_every_scalar!(check);
}

#[test]
fn complex_matrices_say_which_format_they_have() {
    for context in contexts() {
        let diagonal: Vec<_> = (0..5000).map(|i| (i, i, Complex::new(2.0_f32, 1.0))).collect();
        let mut a = Csr::from_triplets(context, 5000, 5000, &diagonal).unwrap();
        assert_eq!(a.format(), Format::Csr);
        assert!(a.explain().contains("the only format of complex matrices"), "{}", a.explain());
        for format in [Format::Balanced, Format::Dia, Format::Stencil] {
            assert_error(a.set_format(Some(format)), "clinalg:argument:value", "format");
        }
        a.set_format(Some(Format::Csr)).unwrap();
        a.set_format(None).unwrap();
        let x = Vector::filled(context, 5000, Complex::new(0.0, 1.0)).unwrap();
        let mut y = Vector::zeros(context, 5000).unwrap();
        ops::mv(Complex::new(1.0, 0.0), &a, &x, Complex::new(0.0, 0.0), &mut y).unwrap();
        assert!(y.to_vec().unwrap().iter().all(|&y| y == Complex::new(-1.0, 2.0)));
        let short = Vector::<Complex<f32>>::zeros(context, 3).unwrap();
        let error: Error = ops::dot(&x, &short).unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:length");
    }
}

/// A diagonally dominant matrix whose diagonal entries differ much in size, and its entries.
fn dominant<T: Scalar>(n: usize) -> Vec<(usize, usize, T)> {
    let mut noise = Noise::new(15);
    let mut entries = Vec::new();
    for i in 0..n {
        let size = 4.0_f64.powi((i % 5) as i32);
        entries.push((i, i, scalar(8.0 * size, 3.0 * size)));
        for _ in 0..4 {
            let part = |noise: &mut Noise| size * (noise.below(201) as f64 / 100.0 - 1.0);
            entries.push((i, noise.below(n), scalar(part(&mut noise), part(&mut noise))));
        }
    }
    entries
}

#[test]
fn preconditioned_solvers_find_the_solution() {
    fn check<T: Scalar>(context: &Context) {
        let n = 700;
        let entries = dominant::<T>(n);
        let a = Csr::from_triplets(context, n, n, &entries).unwrap();
        let want = whole::<T>(n, 16);
        let mut b = vec![T::zero(); n];
        entries.iter().for_each(|&(i, j, v)| b[i] += v * want[j]);
        let b = Vector::from_slice(context, &b).unwrap();
        let tolerance = 100.0 * eps::<T>();
        let stopping = || Stopping::default().tolerance(tolerance);
        let mut solvers: [Box<dyn Solver<T>>; 2] = [
            Box::new(BiCgStab::new(context, n, stopping().into()).unwrap()),
            Box::new(Gmres::new(context, n, GmresParams::from(stopping())).unwrap()),
        ];
        for solver in &mut solvers {
            let mut m = Jacobi::new(&a.diagonal().unwrap()).unwrap();
            let mut x = Vector::zeros(context, n).unwrap();
            let report = solver.solve(&a, Some(&mut m), &b, &mut x).unwrap();
            assert_eq!(report.stop, Stop::Converged, "{report}");
            // Rows are dominant by a factor of about 2 in units of their diagonal, of which the largest is 4^4 times the
            // smallest; so is the error over the residual at most.
            let bound = 256.0 * tolerance * (n as f64).sqrt() * 8.0;
            for (got, want) in x.to_vec().unwrap().into_iter().zip(&want) {
                assert!((wide(got) - wide(*want)).norm() <= bound, "{got}, expected {want}");
            }
        }
        let zero = Vector::from_slice(context, &[T::one(), T::zero()]).unwrap();
        assert_error(Jacobi::new(&zero), "clinalg:argument:value", "diagonal");
    }
    on_every_scalar!(check);
}

#[test]
fn conjugate_gradients_refuse_what_is_not_definite() {
    for context in contexts() {
        // Hermitian with the eigenvalues 3 and -1.
        let (one, turn) = (Complex::new(1.0_f32, 0.0), Complex::new(0.0, 2.0));
        let entries = [(0, 0, one), (0, 1, turn), (1, 0, turn.conj()), (1, 1, one)];
        let a = Csr::from_triplets(context, 2, 2, &entries).unwrap();
        let b = Vector::from_slice(context, &[one, Complex::new(0.0, 1.0)]).unwrap();
        let mut x = Vector::zeros(context, 2).unwrap();
        let report = Cg::new(context, 2, Stopping::default().into()).unwrap().solve(&a, None, &b, &mut x).unwrap();
        assert!(report.stop == Stop::Converged || report.stop == Stop::Indefinite, "{report}");
        let b = Vector::from_slice(context, &[one, Complex::new(0.0, -1.0)]).unwrap();
        let mut x = Vector::zeros(context, 2).unwrap();
        let other = Cg::new(context, 2, Stopping::default().into()).unwrap().solve(&a, None, &b, &mut x).unwrap();
        // One of the right-hand sides is an eigenvector for -1.
        assert!([report.stop, other.stop].contains(&Stop::Indefinite), "{report}, {other}");
    }
}
