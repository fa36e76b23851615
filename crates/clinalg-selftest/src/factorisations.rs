//! Products of matrices, factorisations and systems of dense matrices.

use clinalg::ops::{self, Cholesky, Lu, Qr, Transpose};
use clinalg::{Context, Dense, Real, Result};

use super::{Data, Suite, Worst, seeded};

pub(super) fn run<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    let sizes: &[usize] = if suite.quick { &[1, 33, 100] } else { &[0, 1, 31, 32, 33, 100, 257] };
    suite.check("gemm", Some(T::PRECISION), |worst| products::<T>(context, sizes, worst));
    suite.check("lu_solve", Some(T::PRECISION), |worst| {
        systems::<T>(context, sizes, worst, |a, b| Lu::new(a)?.solve(b))
    });
    suite.check("cholesky_solve", Some(T::PRECISION), |worst| {
        systems::<T>(context, sizes, worst, |a, b| Cholesky::new(a)?.solve(b))
    });
    suite.check("qr_solve", Some(T::PRECISION), |worst| {
        systems::<T>(context, sizes, worst, |a, b| Qr::new(a)?.solve(b))
    });
}

/// Products of whole numbers, which are exact.
fn products<T: Real>(context: &Context, sizes: &[usize], worst: &mut Worst) -> Result<()> {
    for &n in sizes {
        let (m, k) = (n + 5, n / 2 + 3);
        let mut rng = seeded(n as u64);
        let a: Vec<T> = Data::Whole.values(&mut rng, m * k);
        let b: Vec<T> = Data::Whole.values(&mut rng, n * k);
        let mut want = vec![T::zero(); m * n];
        for (e, sum) in want.iter_mut().enumerate() {
            let (i, j) = (e % m, e / m);
            *sum = (0..k).map(|l| a[l * m + i] * b[l * n + j]).sum();
        }
        let a = Dense::from_column_major(context, m, k, &a)?;
        let b = Dense::from_column_major(context, n, k, &b)?;
        let mut c = Dense::from_column_major(context, m, n, &vec![T::nan(); m * n])?;
        ops::gemm(T::one(), Transpose::No, &a, Transpose::Yes, &b, T::zero(), &mut c)?;
        worst.exact(n, &c.to_column_major()?, &want);
    }
    Ok(())
}

/// Systems with a positive definite matrix of a condition number below 4, whose solution is known.
fn systems<T: Real>(
    context: &Context,
    sizes: &[usize],
    worst: &mut Worst,
    solve: impl Fn(Dense<T>, &Dense<T>) -> Result<Dense<T>>,
) -> Result<()> {
    for &n in sizes {
        let mut rng = seeded(n as u64 + 1);
        let noise: Vec<T> = Data::Random.values(&mut rng, n * n);
        // Gershgorin: eigenvalues between 1 and 3.
        let element = |i: usize, j: usize| match i.max(j) * n + i.min(j) {
            _ if i == j => T::from_f64(2.0),
            at => noise[at] / T::from_f64(n as f64),
        };
        let a: Vec<T> = (0..n * n).map(|e| element(e % n, e / n)).collect();
        let x: Vec<T> = Data::Random.values(&mut rng, n);
        let b: Vec<T> = (0..n).map(|i| (0..n).map(|j| a[j * n + i] * x[j]).sum()).collect();
        let a = Dense::from_column_major(context, n, n, &a)?;
        let got = solve(a, &Dense::from_column_major(context, n, 1, &b)?)?.to_column_major()?;
        // The condition number times the backward error of the solution and the rounding of b.
        let tolerance = Data::Random.tolerance::<T>(16 * (n + 3));
        worst.compare(n, tolerance, &got, &x, |_| 1.0);
    }
    Ok(())
}
