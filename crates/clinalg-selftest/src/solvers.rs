//! The iterative solvers: the residual of what they return, computed by the reference.

use super::{Data, Suite, Worst, seeded};
use clinalg::CsrParts;
use clinalg::multigrid::{Grid, PoissonOperator, PoissonParams, PoissonPreconditioner, assemble};
use clinalg::precond::{Jacobi, MultigridParams, MultigridPreconditioner};
use clinalg::solve::{
    BiCgStab, Cg, Gmres, GmresParams, JacobiIteration, JacobiParams, Operator, Preconditioner, RedBlackGaussSeidel,
    Report, Solver, Stopping,
};
use clinalg::{Context, Csr, Precision, Real, Result, Vector, ops, shown};
use clinalg_reference::grid2::poisson5_interior;
use clinalg_reference::vector;

/// A solver on A x = b from x = 0.
pub(super) type Solve<T> = fn(&Csr<T>, &Vector<T>, &mut Vector<T>, Stopping) -> Result<Report>;

pub(super) fn run<T: Real>(suite: &mut Suite<'_>) {
    let symmetric: [(&str, Solve<T>); 5] = [
        ("cg", |a, b, x, stopping| Cg::new(a.context(), a.rows(), stopping.into())?.solve(a, None, b, x)),
        ("cg_jacobi", |a, b, x, stopping| {
            let mut m = Jacobi::new(&a.diagonal()?)?;
            Cg::new(a.context(), a.rows(), stopping.into())?.solve(a, Some(&mut m), b, x)
        }),
        ("jacobi", |a, b, x, stopping| {
            let params = JacobiParams::from(stopping).omega(1.0);
            JacobiIteration::new(&a.diagonal()?, params)?.solve(a, None, b, x)
        }),
        ("red_black_gauss_seidel", |a, b, x, stopping| {
            RedBlackGaussSeidel::new(a, stopping.into())?.solve(a, None, b, x)
        }),
        ("bicgstab", |a, b, x, stopping| BiCgStab::new(a.context(), a.rows(), stopping.into())?.solve(a, None, b, x)),
    ];
    let general: [(&str, Solve<T>); 3] = [
        ("bicgstab_not_symmetric", |a, b, x, stopping| {
            BiCgStab::new(a.context(), a.rows(), stopping.into())?.solve(a, None, b, x)
        }),
        ("gmres", |a, b, x, stopping| {
            Gmres::new(a.context(), a.rows(), GmresParams::from(stopping).restart(20))?.solve(a, None, b, x)
        }),
        ("gmres_jacobi", |a, b, x, stopping| {
            let mut m = Jacobi::new(&a.diagonal()?)?;
            Gmres::new(a.context(), a.rows(), GmresParams::from(stopping).restart(20))?.solve(a, Some(&mut m), b, x)
        }),
    ];
    let context = suite.context;
    let n = if suite.quick { 9 } else { 33 };
    for (name, solve) in symmetric {
        suite.check(name, Some(T::PRECISION), |worst| {
            check(worst, context, n, &poisson(n)?, solve)?;
            Ok(())
        });
    }
    for (name, solve) in general {
        suite.check(name, Some(T::PRECISION), |worst| {
            check(worst, context, n, &convection(n)?, solve)?;
            Ok(())
        });
    }
    suite.check("cg_multigrid", Some(T::PRECISION), |worst| multigrid::<T>(worst, context, n));
}

/// The 5-point matrix of the interior points.
pub(super) fn poisson(n: usize) -> Result<CsrParts<f64>> {
    let m = (n - 2) * (n - 2);
    CsrParts::from_triplets(m, m, &poisson5_interior(n))
}

/// The 5-point matrix with a flow across it: central differences of the first derivative in x, strong enough to matter and
/// weak enough to keep the matrix an M-matrix (|flow| h / 2 < 1).
pub(super) fn convection(n: usize) -> Result<CsrParts<f64>> {
    let mut a = poisson(n)?;
    let flow = 0.5 * (n - 1) as f64;
    let h = 1.0 / (n - 1) as f64;
    for i in 0..a.rows {
        for k in a.offsets[i]..a.offsets[i + 1] {
            match a.indices[k] {
                j if j == i + 1 => a.values[k] += flow / (2.0 * h),
                j if j + 1 == i => a.values[k] -= flow / (2.0 * h),
                _ => {}
            }
        }
    }
    Ok(a)
}

pub(super) fn tolerance<T: Real>() -> f64 {
    match T::PRECISION {
        Precision::F32 => 1e-4,
        Precision::F64 => 1e-9,
    }
}

fn stopping<T: Real>() -> Stopping {
    Stopping::default().tolerance(tolerance::<T>())
}

/// |b - A x| / |b| in double precision, and that the solver calls it converged.
pub(super) fn check<T: Real>(
    worst: &mut Worst,
    context: &Context,
    n: usize,
    a: &CsrParts<f64>,
    solve: Solve<T>,
) -> Result<Report> {
    let values = a.values.iter().map(|&v| T::from_f64(v)).collect();
    let (offsets, indices) = (a.offsets.clone(), a.indices.clone());
    let on_device = Csr::from_parts(context, &CsrParts { rows: a.rows, cols: a.cols, offsets, indices, values })?;
    let b: Vec<T> = Data::Random.values(&mut seeded(5), a.rows);
    let mut x = Vector::zeros(context, a.rows)?;
    let report = solve(&on_device, &Vector::from_slice(context, &b)?, &mut x, stopping::<T>())?;
    let x: Vec<f64> = x.to_vec()?.iter().map(|v| v.into_f64()).collect();
    note::<T>(worst, n, a, &b, &x, &report);
    Ok(report)
}

fn note<T: Real>(worst: &mut Worst, n: usize, a: &CsrParts<f64>, b: &[T], x: &[f64], report: &Report) {
    let b: Vec<f64> = b.iter().map(|v| v.into_f64()).collect();
    let mut residual = b.clone();
    super::products::oracle(a).mv(-1.0, x, 1.0, &mut residual);
    let relative = vector::norm2(&residual) / vector::norm2(&b);
    if !report.stop.is_success() {
        worst.fail(format!("N = {n}: {report}"));
    }
    // The device rounds its own residual by some eps |A| |x| / |b|, with |A| = 8 / h^2.
    let rounding = T::epsilon().into_f64() * 8.0 * ((n - 1) * (n - 1)) as f64 * vector::norm2(x) / vector::norm2(&b);
    worst.note(n, relative, tolerance::<T>() + rounding, || {
        format!("N = {n}: the residual is {}, the solver says {}", shown(relative), shown(report.relative_residual))
    });
    worst.found(format!("{} iterations", report.iterations));
}

/// CG preconditioned by a multigrid cycle: on the stored matrix of all points, and on the operator of the unknowns.
fn multigrid<T: Real>(worst: &mut Worst, context: &Context, n: usize) -> Result<()> {
    let b: Vec<T> = Data::Random.values(&mut seeded(6), n * n);
    let inside = |k: usize| (1..n - 1).contains(&(k % n)) && (1..n - 1).contains(&(k / n));
    let interior = |values: &[T]| -> Vec<T> { (0..n * n).filter(|&k| inside(k)).map(|k| values[k]).collect() };
    let clear: Vec<T> = (0..n * n).map(|k| if inside(k) { b[k] } else { T::zero() }).collect();
    let matrix = assemble(context, n, 2, 0.0, None)?;
    let mut m = MultigridPreconditioner::<T>::new(context, n, &MultigridParams::default())?;
    let (x, report) = preconditioned(worst, n, &matrix, &mut m, &clear)?;
    note::<T>(worst, n, &poisson(n)?, &interior(&b), &wide(&interior(&x)), &report);
    let (grid, params) = (Grid::square(n), PoissonParams { pre: 1, post: 1, ..PoissonParams::default() });
    let operator = PoissonOperator::<T>::new(context, &grid, &params)?;
    let mut m = PoissonPreconditioner::<T>::new(context, &grid, &params)?;
    // Its equations are integrated over cells; their area is a power of two.
    let area = T::from_f64(1.0 / ((n - 1) * (n - 1)) as f64);
    let integrated: Vec<T> = interior(&b).into_iter().map(|b| area * b).collect();
    let (x, report) = preconditioned(worst, n, &operator, &mut m, &integrated)?;
    note::<T>(worst, n, &poisson(n)?, &interior(&b), &wide(&x), &report);
    Ok(())
}

fn wide<T: Real>(values: &[T]) -> Vec<f64> {
    values.iter().map(|v| v.into_f64()).collect()
}

/// The solution of A x = b, and that m is symmetric.
fn preconditioned<T: Real>(
    worst: &mut Worst,
    n: usize,
    a: &dyn Operator<T>,
    m: &mut dyn Preconditioner<T>,
    b: &[T],
) -> Result<(Vec<T>, Report)> {
    let (context, size) = (a.context(), a.rows());
    let mut x = Vector::zeros(context, size)?;
    let device_b = Vector::from_slice(context, b)?;
    let report = Cg::new(context, size, stopping::<T>().into())?.solve(a, Some(&mut *m), &device_b, &mut x)?;
    // A cycle reduces the error by about ten: more iterations than digits times two mean a wrong preconditioner.
    if report.iterations > 20 {
        worst.fail(format!("N = {n}: {} iterations, expected at most 20", report.iterations));
    }
    // The preconditioner is symmetric: (M^-1 r, s) = (r, M^-1 s).
    let (r, s): (Vec<T>, Vec<T>) =
        (Data::Random.values(&mut seeded(7), size), Data::Random.values(&mut seeded(8), size));
    let (r, s) = (Vector::from_slice(context, &r)?, Vector::from_slice(context, &s)?);
    let (mut mr, mut ms) = (Vector::zeros(context, size)?, Vector::zeros(context, size)?);
    m.apply(&r, &mut mr)?;
    m.apply(&s, &mut ms)?;
    let (left, right) = (ops::dot(&mr, &s)?.into_f64(), ops::dot(&r, &ms)?.into_f64());
    let scale = (ops::norm2(&mr)? * ops::norm2(&s)?).into_f64();
    if (left - right).abs() > scale * T::epsilon().into_f64() * size as f64 {
        worst.fail(format!("N = {n}: (M^-1 r, s) = {}, (r, M^-1 s) = {}", shown(left), shown(right)));
    }
    Ok((x.to_vec()?, report))
}
