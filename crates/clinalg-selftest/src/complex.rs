//! Vectors, products and systems of complex numbers.

use clinalg::ops::{self, Lu, Transpose};
use clinalg::solve::{Gmres, GmresParams, Solver, Stopping};
use clinalg::{Complex, Context, Csr, CsrParts, Dense, Real, Result, Scalar, Vector, shown};
use clinalg_reference::complex::{self as plain, parts};
use clinalg_reference::{dense, vector};
use rand::rngs::StdRng;

use super::products::{oracle, random_csr};
use super::{Data, Suite, Worst, seeded};

const LARGE: usize = 100_003;

pub(super) fn run<R: Real>(suite: &mut Suite<'_>)
where
    Complex<R>: Scalar<Real = R>,
{
    let (context, sizes, precision) = (suite.context, suite.sizes(LARGE), Some(R::PRECISION));
    let quick = suite.quick;
    suite.check("complex_axpby", precision, |worst| sums::<R>(context, &sizes, worst));
    suite.check("complex_dot", precision, |worst| dots::<R>(context, &sizes, worst));
    suite.check("complex_norm2", precision, |worst| norms::<R>(context, &sizes, worst));
    suite.check("complex_mv_dense", precision, |worst| full_products::<R>(context, quick, worst));
    let rows = suite.sizes(5003);
    suite.check("complex_mv_csr", precision, |worst| sparse_products::<R>(context, &rows, worst));
    let orders: &[usize] = if quick { &[1, 33] } else { &[0, 1, 31, 32, 33, 100, 130] };
    suite.check("complex_gemm", precision, |worst| matrix_products::<R>(context, orders, worst));
    suite.check("complex_lu_solve", precision, |worst| systems::<R>(context, orders, worst));
    suite.check("complex_gmres", precision, |worst| krylov::<R>(context, if quick { 60 } else { 1000 }, worst));
}

fn values<R: Real>(data: Data, rng: &mut StdRng, len: usize) -> Vec<Complex<R>> {
    (0..len).map(|_| Complex::new(data.value(rng), data.value(rng))).collect()
}

fn modulus<R: Real>(z: Complex<R>) -> f64 {
    z.re.into_f64().hypot(z.im.into_f64())
}

/// Compares real and imaginary parts; `scale` is that of a value.
fn compare<R: Real>(
    worst: &mut Worst,
    size: usize,
    tolerance: f64,
    (got, want): (&[Complex<R>], &[Complex<R>]),
    scale: impl Fn(usize) -> f64,
) {
    worst.compare(size, tolerance, &parts(got), &parts(want), |part| scale(part / 2));
}

fn number<R: Real>(re: f64, im: f64) -> Complex<R> {
    Complex::new(R::from_f64(re), R::from_f64(im))
}

fn sums<R: Real>(context: &Context, sizes: &[usize], worst: &mut Worst) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    let (alpha, beta) = (number::<R>(2.0, -1.0), number::<R>(0.0, 3.0));
    for &n in sizes {
        for data in Data::ALL {
            let mut rng = seeded(n as u64);
            let (x, y) = (values::<R>(data, &mut rng, n), values::<R>(data, &mut rng, n));
            let mut want = vec![number(0.0, 0.0); n];
            plain::axpby(alpha, &x, beta, &y, &mut want);
            let mut out = Vector::filled(context, n, number::<R>(f64::NAN, f64::NAN))?;
            ops::axpby(alpha, &Vector::from_slice(context, &x)?, beta, &Vector::from_slice(context, &y)?, &mut out)?;
            let scale = |i: usize| 3.0 * (modulus(x[i]) + modulus(y[i]));
            compare(worst, n, data.tolerance::<R>(10), (&out.to_vec()?, &want), scale);
        }
    }
    Ok(())
}

fn dots<R: Real>(context: &Context, sizes: &[usize], worst: &mut Worst) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    for &n in sizes {
        for data in Data::ALL {
            let mut rng = seeded(1 + n as u64);
            let (x, y) = (values::<R>(data, &mut rng, n), values::<R>(data, &mut rng, n));
            let got = ops::dot(&Vector::from_slice(context, &x)?, &Vector::from_slice(context, &y)?)?;
            let scale: f64 = x.iter().zip(&y).map(|(&x, &y)| modulus(x) * modulus(y)).sum();
            // Two products a term.
            let tolerance = data.tolerance::<R>(2 * super::vectors::additions(n));
            compare(worst, n, tolerance, (&[got], &[plain::dot(&x, &y)]), |_| scale);
        }
    }
    Ok(())
}

fn norms<R: Real>(context: &Context, sizes: &[usize], worst: &mut Worst) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    for &n in sizes {
        let x = values::<R>(Data::Random, &mut seeded(2 + n as u64), n);
        let got = ops::norm2(&Vector::from_slice(context, &x)?)?;
        let want = vector::norm2(&parts(&x));
        let tolerance = Data::Random.tolerance::<R>(2 * super::vectors::additions(n));
        worst.compare(n, tolerance, &[got], &[want], |_| want.into_f64());
    }
    Ok(())
}

/// Roundings of a sum of `terms` complex products on both sides, of its factor and of what is added.
fn product_tolerance<R: Real>(data: Data, terms: usize) -> f64 {
    data.tolerance::<R>(2 * (2 * terms + 8))
}

fn full_products<R: Real>(context: &Context, quick: bool, worst: &mut Worst) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    let large = if quick { (33, 65) } else { (517, 331) };
    let (alpha, beta) = (number::<R>(-2.0, 1.0), number::<R>(1.0, 3.0));
    for (m, n) in [(0, 3), (3, 0), (1, 1), (1, 65), (31, 2), (33, 31), (65, 64), large] {
        for data in Data::ALL {
            for conjugate in [false, true] {
                let mut rng = seeded((m * n) as u64);
                let (rows, cols) = if conjugate { (n, m) } else { (m, n) };
                let a = values::<R>(data, &mut rng, m * n);
                let (x, start) = (values::<R>(data, &mut rng, cols), values::<R>(data, &mut rng, rows));
                let on_device = Dense::from_column_major(context, m, n, &a)?;
                let (dx, mut y) = (Vector::from_slice(context, &x)?, Vector::from_slice(context, &start)?);
                let mut want = start.clone();
                if conjugate {
                    ops::mv_conj_transposed(alpha, &on_device, &dx, beta, &mut y)?;
                    plain::mv_conj_transposed(alpha, &a, (m, n), &x, beta, &mut want);
                } else {
                    ops::mv(alpha, &on_device, &dx, beta, &mut y)?;
                    dense::mv(alpha, &a, m, n, &x, beta, &mut want);
                }
                let scale = |i: usize| {
                    let at = |j: usize| if conjugate { i * m + j } else { j * m + i };
                    let sum: f64 = (0..cols).map(|j| modulus(a[at(j)]) * modulus(x[j])).sum();
                    modulus(alpha) * sum + modulus(beta) * modulus(start[i])
                };
                compare(worst, m * n, product_tolerance::<R>(data, cols), (&y.to_vec()?, &want), scale);
            }
        }
    }
    Ok(())
}

fn sparse_products<R: Real>(context: &Context, sizes: &[usize], worst: &mut Worst) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    let alpha = number::<R>(-2.0, 1.0);
    for &rows in sizes {
        for (data, cols) in [(Data::Whole, rows), (Data::Random, rows + rows / 3)] {
            let mut rng = seeded(rows as u64);
            let CsrParts { offsets, indices, values: re, .. } =
                random_csr::<R>(&mut rng, (rows, cols), data, |i| i % 9);
            let entries = re.into_iter().map(|re| Complex::new(re, data.value(&mut rng))).collect();
            let a = CsrParts { rows, cols, offsets, indices, values: entries };
            let x = values::<R>(data, &mut rng, cols);
            let mut want = vec![number::<R>(f64::NAN, f64::NAN); rows];
            let mut y = Vector::from_slice(context, &want)?;
            let on_device = Csr::from_parts(context, &a)?;
            ops::mv(alpha, &on_device, &Vector::from_slice(context, &x)?, number(0.0, 0.0), &mut y)?;
            oracle(&a).mv(alpha, &x, number(0.0, 0.0), &mut want);
            let scale = |i: usize| {
                let sum: f64 = a.row(i).map(|(j, a)| modulus(a) * modulus(x[j])).sum();
                modulus(alpha) * sum
            };
            compare(worst, rows, product_tolerance::<R>(data, 8), (&y.to_vec()?, &want), scale);
        }
    }
    Ok(())
}

/// Products of whole numbers, which are exact.
fn matrix_products<R: Real>(context: &Context, orders: &[usize], worst: &mut Worst) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    for &n in orders {
        let (m, k) = (n + 5, n / 2 + 3);
        let mut rng = seeded(n as u64);
        let (a, b) = (values::<R>(Data::Whole, &mut rng, m * k), values::<R>(Data::Whole, &mut rng, n * k));
        let want = plain::mm_conj_transposed(&a, &b, (m, n, k));
        let a = Dense::from_column_major(context, m, k, &a)?;
        let b = Dense::from_column_major(context, n, k, &b)?;
        let mut c = Dense::from_column_major(context, m, n, &vec![number::<R>(f64::NAN, f64::NAN); m * n])?;
        ops::gemm(number(1.0, 0.0), Transpose::No, &a, Transpose::Conjugate, &b, number(0.0, 0.0), &mut c)?;
        compare(worst, n, 0.0, (&c.to_column_major()?, &want), |_| 1.0);
    }
    Ok(())
}

/// Systems with a matrix of a condition number below 6, whose solution is known.
fn systems<R: Real>(context: &Context, orders: &[usize], worst: &mut Worst) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    for &n in orders {
        let mut rng = seeded(n as u64 + 1);
        let mut a = values::<R>(Data::Random, &mut rng, n * n);
        // Gershgorin: eigenvalues within sqrt(2) of 2 + i.
        let scale = R::from_f64(1.0 / n.max(1) as f64);
        for (e, a) in a.iter_mut().enumerate() {
            *a = if e % n == e / n { number(2.0, 1.0) } else { Complex::new(a.re * scale, a.im * scale) };
        }
        let x = values::<R>(Data::Random, &mut rng, n);
        let mut b = vec![number(0.0, 0.0); n];
        dense::mv(number::<R>(1.0, 0.0), &a, n, n, &x, number(0.0, 0.0), &mut b);
        let a = Dense::from_column_major(context, n, n, &a)?;
        let got = Lu::new(a)?.solve(&Dense::from_column_major(context, n, 1, &b)?)?.to_column_major()?;
        // The condition number times the backward error of the solution and the rounding of b.
        compare(worst, n, Data::Random.tolerance::<R>(48 * (n + 3)), (&got, &x), |_| 1.0);
    }
    Ok(())
}

/// A shifted operator of differences with a flow: the residual of what GMRES returns, in double precision.
fn krylov<R: Real>(context: &Context, n: usize, worst: &mut Worst) -> Result<()>
where
    Complex<R>: Scalar<Real = R>,
{
    let row = |i: usize| {
        let neighbours = [(i.checked_sub(1), (-2.0, 1.0)), (Some(i), (4.0, 2.0)), (Some(i + 1), (0.0, -1.0))];
        neighbours.into_iter().filter_map(move |(j, z)| j.filter(|j| *j < n).map(|j| (i, j, Complex::new(z.0, z.1))))
    };
    // The entries are exact in both precisions.
    let exact: CsrParts<Complex<f64>> = CsrParts::from_triplets(n, n, &(0..n).flat_map(row).collect::<Vec<_>>())?;
    let narrow = |z: &Complex<f64>| number::<R>(z.re, z.im);
    let CsrParts { rows, cols, offsets, indices, values: entries } = exact.clone();
    let a = CsrParts { rows, cols, offsets, indices, values: entries.iter().map(narrow).collect() };
    let b = values::<R>(Data::Random, &mut seeded(5), n);
    let mut x = Vector::zeros(context, n)?;
    let tolerance = super::solvers::tolerance::<R>();
    let params = GmresParams::from(Stopping::default().tolerance(tolerance)).restart(20);
    let (a, on_device) = (Csr::from_parts(context, &a)?, Vector::from_slice(context, &b)?);
    let report = Gmres::new(context, n, params)?.solve(&a, None, &on_device, &mut x)?;
    let wide = |z: &[Complex<R>]| -> Vec<Complex<f64>> {
        z.iter().map(|z| Complex::new(z.re.into_f64(), z.im.into_f64())).collect()
    };
    let (b, x) = (wide(&b), wide(&x.to_vec()?));
    let mut residual = b.clone();
    oracle(&exact).mv(Complex::new(-1.0, 0.0), &x, Complex::new(1.0, 0.0), &mut residual);
    let norm = |z: &[Complex<f64>]| vector::norm2(&parts(z));
    if !report.stop.is_success() {
        worst.fail(format!("n = {n}: {report}"));
    }
    // The device rounds its own residual by some eps |A| |x| / |b|, with |A| below 8.
    let rounding = R::epsilon().into_f64() * 8.0 * norm(&x) / norm(&b);
    let relative = norm(&residual) / norm(&b);
    worst.note(n, relative, tolerance + rounding, || {
        format!("n = {n}: the residual is {}, the solver says {}", shown(relative), shown(report.relative_residual))
    });
    worst.found(format!("{} iterations", report.iterations));
    Ok(())
}
