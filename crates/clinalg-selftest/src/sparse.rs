//! Matrices made of sparse matrices, and the preconditioners that are made of sparse matrices.

use std::collections::BTreeMap;

use clinalg::amg::{Amg, AmgParams, Coarsening, Smoother};
use clinalg::direct::{self, FactorsParams, Kind};
use clinalg::matrix::{unknowns_per_node, zero_sum_components};
use clinalg::ops::{Span, Transpose};
use clinalg::precond::{
    CholeskyParams, Fsai, Ilu, IluKind, IluParams, IncompleteCholesky, Ordering, Spai0, Ssor, SsorParams,
};
use clinalg::solve::{BiCgStab, Cg, Preconditioner, Report, Solver, Stopping};
use clinalg::{Context, Csr, CsrParts, Dense, Inspection, KernelFamily, Real, Result, Vector};
use rand::Rng;

use super::conversions::same;
use super::products::random_csr;
use super::solvers::{Solve, check, convection, poisson};
use super::{Data, Suite, Worst, seeded};

pub(super) fn run<T: Real>(suite: &mut Suite<'_>) {
    products::<T>(suite);
    let context = suite.context;
    suite.check("sparse_sum", Some(T::PRECISION), |worst| sums::<T>(context, worst));
    suite.check("sparse_part", Some(T::PRECISION), |worst| parts::<T>(context, worst));
    suite.check("sparse_inspection", Some(T::PRECISION), |worst| inspection::<T>(context, worst));
    preconditioners::<T>(suite);
    let kinds =
        [("direct_fronts_cholesky", Kind::Cholesky), ("direct_fronts_ldl", Kind::Ldl), ("direct_fronts_lu", Kind::Lu)];
    for (name, kind) in kinds {
        suite.check(name, Some(T::PRECISION), |worst| fronts::<T>(context, worst, kind));
    }
}

/// Factors with fronts of more rows than a work-group eliminates, and systems with several right-hand sides and with the transpose.
fn fronts<T: Real>(context: &Context, worst: &mut Worst, kind: Kind) -> Result<()> {
    // Two dense blocks and their dense separator.
    let (block, separator, columns) = (40, 40, 9);
    let n = 2 * block + separator;
    let mut rng = seeded(kind as u64);
    let mut entries = Vec::new();
    for i in 0..n {
        for j in (0..n).filter(|&j| i / block == j / block || i.max(j) >= 2 * block) {
            // Pivots stay within the blocks, so that larger entries beside them would grow.
            let scale = if i / block == j / block { 1.0 } else { 0.1 };
            let value = scale * rng.random_range(-1.0..1.0);
            match kind {
                Kind::Cholesky if i == j => entries.push((i, i, T::from_f64(n as f64))),
                Kind::Cholesky | Kind::Ldl if j < i => {
                    entries.extend([(i, j, T::from_f64(value)), (j, i, T::from_f64(value))]);
                }
                Kind::Cholesky => {}
                Kind::Ldl if j > i => {}
                _ => entries.push((i, j, T::from_f64(value))),
            }
        }
    }
    let parts = CsrParts::from_triplets(n, n, &entries)?;
    let a = Csr::from_parts(context, &parts)?;
    let mut factors = direct::Factors::new(&a, &FactorsParams::default().kind(kind).refinements(0))?;
    let largest = factors.report().largest_front;
    if largest <= 64 {
        worst.fail(format!("the largest front has {largest} rows, expected more than 64"));
    }
    let b: Vec<T> = (0..n * columns).map(|_| T::from_f64(rng.random_range(-1.0..1.0))).collect();
    let right = Dense::from_column_major(context, n, columns, &b)?;
    for (op, parts) in [(Transpose::No, parts.clone()), (Transpose::Yes, parts.transpose()?)] {
        let (x, _) = factors.solve_columns_op(op, &a, &right)?;
        let x = x.to_column_major()?;
        for (x, b) in x.chunks(n).zip(b.chunks(n)) {
            for i in 0..n {
                let terms = || parts.row(i).map(|(j, v)| v.into_f64() * x[j].into_f64());
                let (b, sum, size) = (b[i].into_f64(), terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                // 3 n epsilon |L| |U| with a front of n rows (Higham 2002, theorem 9.4).
                let tolerance = 3.0 * largest as f64 * T::epsilon().into_f64();
                worst.note(n, (b - sum).abs() / (size + b.abs()), tolerance, || format!("{op}: row {i}"));
            }
        }
    }
    Ok(())
}

/// Rows, columns of A and columns of B, and the entries of row i of A and of B.
type Factors = (usize, usize, usize, fn(usize) -> usize, fn(usize) -> usize);

/// Products by each way in which kernels for GPUs make a row.
fn products<T: Real>(suite: &mut Suite<'_>) {
    let (context, quick) = (suite.context, suite.quick);
    let kinds: [(&str, Factors); 9] = [
        ("sparse_product_short_rows", (70, 50, 60, |i| i % 9, |i| i % 5)),
        ("sparse_product_middle_rows", (80, 60, 900, |i| i % 40, |i| 3 + i % 20)),
        ("sparse_product_wide_rows", (6, 60, 140_000, |i| 10 * i, |i| 10 + i % 20)),
        ("sparse_product_long_rows", (3, 60, 3000, |i| 30 * i, |_| 40)),
        // A row of A with more than 1000 entries.
        ("sparse_product_longest_rows", (3, 1100, 3000, |i| [1100, 5, 0][i], |i| 1 + i % 2)),
        // Rows of A that are cut into pieces: with few products for each segment, which are listed, and with many, which are not.
        ("sparse_product_listed", (3, 6000, 60_000, |i| [6000, 0, 5500][i], |i| if i == 70 { 2500 } else { i % 2 })),
        ("sparse_product_pieces", (1, 4200, 1500, |_| 4200, |i| 5 + i % 7)),
        // Most rows have far fewer entries than products, some as many.
        ("sparse_product_full_tables", (1100, 23, 400, |i| if i % 20 == 0 { 23 } else { 12 }, |_| 10)),
        // Too many columns for ranges of them. A table has a place for each on CPUs, where this would test nothing but memory.
        ("sparse_product_most_columns", (2, 70, 17_000_000, |_| 70, |_| 31)),
    ];
    for (name, (m, k, n, left, right)) in kinds {
        if n > 1_000_000 && context.family() == KernelFamily::Cpu {
            continue;
        }
        suite.check(name, Some(T::PRECISION), |worst| {
            let a = random_csr::<T>(&mut seeded(1), (m, k), Data::Whole, left);
            let mut b = random_csr::<T>(&mut seeded(2), (k, n), Data::Whole, right);
            if name == "sparse_product_full_tables" {
                // The first rows of B share their columns; rows of A with 12 entries take no others.
                b.indices.iter_mut().enumerate().for_each(|(e, c)| *c = e % 10 + e / 10 * usize::from(e >= 120) * 10);
            }
            let product = || Csr::from_parts(context, &a)?.multiply(&Csr::from_parts(context, &b)?)?.to_parts();
            let got = product()?;
            same(worst, m, &got, &times(&a, &b));
            if !quick && product()? != got {
                worst.fail("two runs differ bitwise".into());
            }
            Ok(())
        });
    }
}

/// A B, with the entries that cancel.
fn times<T: Real>(a: &CsrParts<T>, b: &CsrParts<T>) -> CsrParts<T> {
    let mut c = CsrParts { rows: a.rows, cols: b.cols, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
    for i in 0..a.rows {
        let mut row = BTreeMap::new();
        for (j, left) in a.row(i) {
            for (k, right) in b.row(j) {
                *row.entry(k).or_insert_with(T::zero) += left * right;
            }
        }
        c.indices.extend(row.keys());
        c.values.extend(row.values());
        c.offsets.push(c.indices.len());
    }
    c
}

/// The matrix of these entries, of which those that are `None` are not stored.
fn matrix<T: Real>(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> Option<T>) -> Result<CsrParts<T>> {
    let places = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
    let entries: Vec<_> = places.filter_map(|(i, j)| Some((i, j, entry(i, j)?))).collect();
    CsrParts::from_triplets(rows, cols, &entries)
}

fn element<T: Real>(a: &CsrParts<T>, i: usize, j: usize) -> Option<T> {
    a.row(i).find(|entry| entry.0 == j).map(|entry| entry.1)
}

const SHAPE: (usize, usize) = (70, 41);

fn sums<T: Real>(context: &Context, worst: &mut Worst) -> Result<()> {
    let a = random_csr::<T>(&mut seeded(3), SHAPE, Data::Whole, |i| i % 12);
    let b = random_csr::<T>(&mut seeded(4), SHAPE, Data::Whole, |i| i * 5 % 13);
    let (alpha, beta) = (T::from_f64(2.0), T::from_f64(-3.0));
    let got = Csr::from_parts(context, &a)?.combine(alpha, beta, &Csr::from_parts(context, &b)?)?.to_parts()?;
    let want = matrix(SHAPE.0, SHAPE.1, |i, j| match (element(&a, i, j), element(&b, i, j)) {
        (None, None) => None,
        (a, b) => Some(alpha * a.unwrap_or_else(T::zero) + beta * b.unwrap_or_else(T::zero)),
    })?;
    same(worst, SHAPE.0, &got, &want);
    Ok(())
}

/// Chains of three unknowns per node, whose blocks are full; one has a Dirichlet condition, and one entry has no mirror image in the end.
fn inspection<T: Real>(context: &Context, worst: &mut Worst) -> Result<()> {
    let (size, nodes) = (3, [30, 60, 9]);
    let n = size * nodes.iter().sum::<usize>();
    let mut entries = Vec::new();
    let mut firsts = Vec::new();
    let mut first = 0;
    for count in nodes {
        firsts.push(size * first);
        for (p, q) in (first..first + count - 1).map(|p| (p, p + 1)) {
            for (k, l) in (0..size * size).map(|kl| (kl / size, kl % size)) {
                let (i, j, one) = (size * p + k, size * q + l, T::from_f64(1.0));
                entries.extend([(i, i, one), (j, j, one), (i, j, -one), (j, i, -one)]);
                // Zeros that fill the blocks on the diagonal.
                entries.extend([(i, size * p + l, T::zero()), (j, size * q + k, T::zero())]);
            }
        }
        first += count;
    }
    entries.push((firsts[1], firsts[1], T::from_f64(2.0)));
    let a = CsrParts::from_triplets(n, n, &entries)?;
    let device = Csr::from_parts(context, &a)?;
    let found = Inspection::of(&device)?;
    let rows = (n, n - 1, found.off_diagonal);
    if !found.hermitian || (found.positive_diagonal, found.zero_sum_rows, found.nonpositive_off_diagonal) != rows {
        worst.fail(format!("symmetric with {} rows that add up to 0: {found:?}", n - 1));
    }
    if (found.spread, found.dominance, found.infinity_norm) != (2.0, 1.0, 12.0) {
        worst.fail(format!("ratios 2 and 1 and the norm 12 were expected: {found:?}"));
    }
    if unknowns_per_node(&device)? != Some(size) {
        worst.fail(format!("{size} unknowns per node were not found"));
    }
    let want = [(0..firsts[1]).collect::<Vec<_>>(), (firsts[2]..n).collect()];
    if zero_sum_components(&device)? != want {
        worst.fail("the components that add up to 0 are others".into());
    }
    let infinite = entries.iter().copied().chain([(n - 1, 0, T::infinity())]);
    let found = Inspection::of(&Csr::from_triplets(context, n, n, &infinite.collect::<Vec<_>>())?)?;
    if found.hermitian || found.first_not_finite != Some((n - 1, 0)) {
        worst.fail(format!("an infinite entry without mirror image: {found:?}"));
    }
    Ok(())
}

fn parts<T: Real>(context: &Context, worst: &mut Worst) -> Result<()> {
    let (rows, cols) = SHAPE;
    let a = random_csr::<T>(&mut seeded(5), SHAPE, Data::Whole, |i| i % 12);
    let device = Csr::from_parts(context, &a)?;
    let (down, list) = (Span::Range { first: rows - 1, step: -2, count: 30 }, [40, 3, 17, 4]);
    let got = device.select(down, Span::List(&list))?.to_parts()?;
    same(worst, 30, &got, &matrix(30, 4, |i, j| element(&a, rows - 1 - 2 * i, list[j]))?);
    let got = device.band_part(-9, 4)?.to_parts()?;
    let inside = |i: usize, j: usize| (-9..=4).contains(&(j as i64 - i as i64));
    same(worst, rows, &got, &matrix(rows, cols, |i, j| element(&a, i, j).filter(|_| inside(i, j)))?);
    let kept = matrix(rows, cols, |i, j| element(&a, i, j).filter(|&v| v != T::zero()))?;
    match device.without_zeros()? {
        Some(got) => same(worst, rows, &got.to_parts()?, &kept),
        None => worst.fail("no stored zeros were found, although the matrix has some".into()),
    }
    let (left, right): (Vec<T>, Vec<T>) =
        (Data::Whole.values(&mut seeded(6), rows), Data::Whole.values(&mut seeded(7), cols));
    let mut scaled = Csr::from_parts(context, &a)?;
    scaled.scale(Some(&Vector::from_slice(context, &left)?), Some(&Vector::from_slice(context, &right)?))?;
    let want = matrix(rows, cols, |i, j| element(&a, i, j).map(|v| left[i] * v * right[j]))?;
    same(worst, rows, &scaled.to_parts()?, &want);
    Ok(())
}

fn cg<T: Real>(
    a: &Csr<T>,
    b: &Vector<T>,
    x: &mut Vector<T>,
    stopping: Stopping,
    mut m: impl Preconditioner<T>,
) -> Result<Report> {
    Cg::new(a.context(), a.rows(), stopping.into())?.solve(a, Some(&mut m), b, x)
}

fn bicgstab<T: Real>(
    a: &Csr<T>,
    b: &Vector<T>,
    x: &mut Vector<T>,
    stopping: Stopping,
    mut m: impl Preconditioner<T>,
) -> Result<Report> {
    BiCgStab::new(a.context(), a.rows(), stopping.into())?.solve(a, Some(&mut m), b, x)
}

fn amg(coarsening: Coarsening) -> AmgParams {
    AmgParams::default().coarsening(coarsening).coarse_size(20)
}

/// Two unknowns per node, which are coupled.
fn of_two(a: &CsrParts<f64>) -> Result<CsrParts<f64>> {
    let block = [[2.0, 0.5], [0.5, 1.0]];
    let entries: Vec<_> = a
        .triplets()
        .flat_map(|(i, j, v)| [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(p, q)| (2 * i + p, 2 * j + q, v * block[p][q])))
        .collect();
    CsrParts::from_triplets(2 * a.rows, 2 * a.cols, &entries)
}

/// A bound of the iterations on a grid with n points per side, which the method exceeds with a wrong preconditioner: those of algebraic multigrid do
/// not grow with the grid, and conjugate gradients without a preconditioner take about 3 n in double precision.
type Most = fn(usize) -> usize;

/// Solvers with preconditioners.
fn preconditioners<T: Real>(suite: &mut Suite<'_>) {
    let symmetric: [(&str, Most, Solve<T>); 10] = [
        (
            "cg_amg_aggregation",
            |_| 12,
            |a, b, x, stopping| cg(a, b, x, stopping, Amg::new(a, &amg(Coarsening::Aggregation))?),
        ),
        (
            "cg_amg_gauss_seidel",
            |_| 16,
            |a, b, x, stopping| {
                cg(a, b, x, stopping, Amg::new(a, &amg(Coarsening::Aggregation).smoother(Smoother::GaussSeidel(1)))?)
            },
        ),
        (
            "cg_amg_classical",
            |_| 10,
            |a, b, x, stopping| cg(a, b, x, stopping, Amg::new(a, &amg(Coarsening::Classical).aggressive(false))?),
        ),
        (
            "cg_amg_aggressive",
            |_| 24,
            |a, b, x, stopping| {
                let params = amg(Coarsening::Classical).aggressive(true).smoother(Smoother::Spai0(1));
                cg(a, b, x, stopping, Amg::new(a, &params)?)
            },
        ),
        (
            "cg_incomplete_cholesky",
            |n| 3 * n / 2,
            |a, b, x, stopping| cg(a, b, x, stopping, IncompleteCholesky::new(a, &CholeskyParams::default())?),
        ),
        (
            "cg_incomplete_cholesky_sweeps",
            |n| 2 * n,
            |a, b, x, stopping| {
                let params = CholeskyParams::default().ordering(Ordering::Multicolour).sweeps(3);
                cg(a, b, x, stopping, IncompleteCholesky::new(a, &params)?)
            },
        ),
        ("cg_ssor", |n| 2 * n, |a, b, x, stopping| cg(a, b, x, stopping, Ssor::new(a, &SsorParams::default())?)),
        ("cg_fsai", |n| 9 * n / 4, |a, b, x, stopping| cg(a, b, x, stopping, Fsai::new(a)?)),
        (
            "cg_cholesky",
            |_| 2,
            |a, b, x, stopping| {
                let factors = direct::Factors::new(a, &FactorsParams::default().kind(Kind::Cholesky))?;
                cg(a, b, x, stopping, factors)
            },
        ),
        ("bicgstab_spai0", |n| n * n, |a, b, x, stopping| bicgstab(a, b, x, stopping, Spai0::new(a)?)),
    ];
    let general: [(&str, Most, Solve<T>); 4] = [
        (
            "bicgstab_ilu0",
            |n| n,
            |a, b, x, stopping| bicgstab(a, b, x, stopping, Ilu::new(a, &IluParams::default().kind(IluKind::Zero))?),
        ),
        (
            "bicgstab_ilu0_sweeps",
            |n| 3 * n / 2,
            |a, b, x, stopping| {
                let params = IluParams::default().kind(IluKind::Zero).ordering(Ordering::Multicolour).sweeps(3);
                bicgstab(a, b, x, stopping, Ilu::new(a, &params)?)
            },
        ),
        (
            "bicgstab_ilut",
            |_| 6,
            |a, b, x, stopping| {
                bicgstab(a, b, x, stopping, Ilu::new(a, &IluParams::default().kind(IluKind::threshold()))?)
            },
        ),
        (
            "bicgstab_lu",
            |_| 2,
            |a, b, x, stopping| {
                bicgstab(a, b, x, stopping, direct::Factors::new(a, &FactorsParams::default().kind(Kind::Lu))?)
            },
        ),
    ];
    let (context, n) = (suite.context, if suite.quick { 10 } else { 33 });
    let mut add = |name, most: Most, make: &dyn Fn() -> Result<CsrParts<f64>>, solve| {
        suite.check(name, Some(T::PRECISION), |worst| {
            let report = check(worst, context, n, &make()?, solve)?;
            if report.iterations > most(n) {
                worst.fail(format!("N = {n}: {} iterations, expected at most {}", report.iterations, most(n)));
            }
            Ok(())
        });
    };
    symmetric.into_iter().for_each(|(name, most, solve)| add(name, most, &|| poisson(n), solve));
    general.into_iter().for_each(|(name, most, solve)| add(name, most, &|| convection(n), solve));
    add(
        "cg_amg_blocks",
        |_| 20,
        &|| of_two(&poisson(n)?),
        |a, b, x, stopping| cg(a, b, x, stopping, Amg::new(a, &amg(Coarsening::Aggregation).block(2))?),
    );
}
