//! The sparse direct solver by phases, one line of JSON per system: seconds of the first factorisation (ordering and analysis
//! on the host among them), of a second one with new values, of solves without refinement, and what they make of the device.
//!
//! `cargo bench -p clinalg-benches --bench direct -- [SYSTEM N]...`, where SYSTEM is one of `poisson2`, `poisson3`,
//! `flow2`, `flow3`, `shifted2`, `shifted3`, `helmholtz2`, `elasticity2` and N the points along a side; `--kernels` adds the time of each kernel,
//! `--lu` takes LU factors of all.

use std::time::Instant;

use clinalg::direct::{Factors, FactorsParams, Kind};
use clinalg::solve::Preconditioner;
use clinalg::{Complex, Context, ContextOptions, Csr, Dense, Device, Result, Scalar, Vector};

/// What is measured without arguments.
const SYSTEMS: [(&str, usize); 6] =
    [("poisson2", 1000), ("poisson3", 50), ("flow2", 700), ("flow3", 40), ("helmholtz2", 500), ("elasticity2", 400)];

/// Entries (row, column, value) of the sum over the axes of the tridiagonal matrix with `lower`, 2 and `upper` in each.
fn stencil(n: usize, axes: u32, lower: f64, upper: f64) -> Vec<(usize, usize, f64)> {
    let total = n.pow(axes);
    let mut entries = Vec::with_capacity(total * (2 * axes as usize + 1));
    for k in 0..total {
        entries.push((k, k, 2.0 * f64::from(axes)));
        for axis in 0..axes {
            let (step, place) = (n.pow(axis), k / n.pow(axis) % n);
            if place > 0 {
                entries.push((k, k - step, lower));
            }
            if place + 1 < n {
                entries.push((k, k + step, upper));
            }
        }
    }
    entries
}

/// Less a multiple of the identity, so that some eigenvalues are negative.
fn shifted(mut entries: Vec<(usize, usize, f64)>, shift: f64) -> Vec<(usize, usize, f64)> {
    entries.iter_mut().filter(|entry| entry.0 == entry.1).for_each(|entry| entry.2 -= shift);
    entries
}

/// Plane elasticity by differences on n x n points: two unknowns per point, coupled by the mixed derivatives.
fn elasticity(n: usize) -> Vec<(usize, usize, f64)> {
    let mut entries = Vec::new();
    for (row, column, value) in stencil(n, 2, -1.0, -1.0) {
        let along = (row.abs_diff(column) == 1) || row == column;
        for part in 0..2 {
            // Three times as stiff along the displacement.
            let own = if row == column {
                2.0 * value
            } else if along == (part == 0) {
                3.0 * value
            } else {
                value
            };
            entries.push((2 * row + part, 2 * column + part, own));
        }
    }
    for k in 0..n * n {
        let (i, j) = (k % n, k / n);
        for (di, dj, sign) in [(1_isize, 1_isize, 0.25), (-1, -1, 0.25), (1, -1, -0.25), (-1, 1, -0.25)] {
            let (x, y) = (i.checked_add_signed(di), j.checked_add_signed(dj));
            if let (Some(x), Some(y)) = (x, y)
                && x < n
                && y < n
            {
                let other = y * n + x;
                entries.push((2 * k, 2 * other + 1, sign));
                entries.push((2 * k + 1, 2 * other, sign));
            }
        }
    }
    entries
}

fn measure<T: Scalar>(
    context: &Context,
    name: &str,
    n: usize,
    (kernels, params): (bool, &FactorsParams),
    entries: &[(usize, usize, T)],
    rows: usize,
) -> Result<()> {
    let seconds = |work: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
        context.finish()?;
        let begin = Instant::now();
        work()?;
        context.finish()?;
        Ok(begin.elapsed().as_secs_f64())
    };
    let least = |times: usize, work: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
        (0..times).try_fold(f64::INFINITY, |least, _| Ok(seconds(work)?.min(least)))
    };
    let a = Csr::from_triplets(context, rows, rows, entries)?;
    let mut made = None;
    let first = seconds(&mut || {
        made = Some(Factors::new(&a, params)?);
        Ok(())
    })?;
    let mut factors = made.expect("just made");
    context.reset_timings();
    let again = least(3, &mut || factors.refactor(&a))?;
    if kernels {
        print_kernels(context, "refactor", 3)?;
    }
    let values: Vec<T> = (0..rows).map(|k| T::from_f64(1.0 + (k as f64).sin())).collect();
    let (b, mut x) = (Vector::from_slice(context, &values)?, Vector::zeros(context, rows)?);
    let solved = factors.solve(&a, &b, &mut x)?;
    context.reset_timings();
    let apply = least(10, &mut || factors.apply(&b, &mut x))?;
    if kernels {
        print_kernels(context, "apply", 10)?;
    }
    let columns = 64;
    let many = Dense::from_column_major(context, rows, columns, &values.repeat(columns))?;
    let several = least(2, &mut || factors.solve_columns(&a, &many).map(|_| ()))?;
    let one = least(3, &mut || factors.solve(&a, &b, &mut x).map(|_| ()))?;
    let report = factors.report();
    // A complex multiplication and addition is 8 operations, a real one 2.
    let each = if size_of::<T>() == 16 { 8.0 } else { 2.0 };
    println!(
        "{{\"system\": \"{name}\", \"n\": {n}, \"rows\": {rows}, \"nnz\": {}, \"factors\": \"{}\", \"entries\": {}, \"operations\": {:.4e}, \
         \"levels\": {}, \"largest_front\": {}, \"first_s\": {first:.4}, \"refactor_s\": {again:.5}, \"gflops\": {:.1}, \
         \"apply_s\": {apply:.6}, \"apply_gbps\": {:.1}, \"solve_s\": {one:.6}, \"solve_{columns}_s\": {several:.5}, \
         \"backward_error\": {:.1e}, \"refinements\": {}}}",
        a.nnz(),
        report.kind.name(),
        report.entries,
        each * report.operations,
        report.levels,
        report.largest_front,
        each * report.operations / again / 1e9,
        // The triangles of symmetric factors are read twice, those of LU factors once each.
        (report.entries * size_of::<T>()) as f64 * if report.kind == Kind::Lu { 1.0 } else { 2.0 } / apply / 1e9,
        solved.backward_error,
        solved.refinements,
    );
    Ok(())
}

fn print_kernels(context: &Context, phase: &str, times: u32) -> Result<()> {
    for timing in context.timings()?.iter().take(12) {
        let (launches, ms) = (timing.launches / u64::from(times), 1e3 * timing.seconds / f64::from(times));
        println!("  {phase:10} {:32} {launches:8} launches {ms:10.3} ms", timing.kernel);
    }
    context.reset_timings();
    Ok(())
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let kernels = arguments.iter().any(|argument| argument == "--kernels");
    let named: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text:?} is no number of points"));
    let systems: Vec<(&str, usize)> = match named.is_empty() {
        true => SYSTEMS.to_vec(),
        false => named.chunks(2).map(|pair| (pair[0].as_str(), number(pair[1]))).collect(),
    };
    let usual = FactorsParams::default();
    let params = if arguments.iter().any(|argument| argument == "--lu") { usual.kind(Kind::Lu) } else { usual };
    let options = ContextOptions { profiling: kernels, ..ContextOptions::default() };
    let context = Context::new(&Device::default_device()?, &options)?;
    eprintln!("{}", context.device().name);
    // Kernels are compiled in small systems before.
    for (name, n) in systems
        .iter()
        .map(|&(name, _)| (name, if name.ends_with('3') { 12 } else { 120 }))
        .chain(systems.iter().copied())
    {
        let of = |entries: &[(usize, usize, f64)], rows| measure(&context, name, n, (kernels, &params), entries, rows);
        match name {
            "poisson2" => of(&stencil(n, 2, -1.0, -1.0), n * n)?,
            "poisson3" => of(&stencil(n, 3, -1.0, -1.0), n.pow(3))?,
            "flow2" => of(&stencil(n, 2, -1.4, -0.6), n * n)?,
            "flow3" => of(&stencil(n, 3, -1.4, -0.6), n.pow(3))?,
            "shifted2" => of(&shifted(stencil(n, 2, -1.0, -1.0), 0.5), n * n)?,
            "shifted3" => of(&shifted(stencil(n, 3, -1.0, -1.0), 0.5), n.pow(3))?,
            "elasticity2" => of(&elasticity(n), 2 * n * n)?,
            "helmholtz2" => {
                let shift = (20.0 / n as f64).powi(2);
                let complex = |(row, column, value): (usize, usize, f64)| {
                    let value =
                        if row == column { Complex::new(value - shift, 0.1 * shift) } else { Complex::new(value, 0.0) };
                    (row, column, value)
                };
                let entries: Vec<_> = stencil(n, 2, -1.0, -1.0).into_iter().map(complex).collect();
                measure(&context, name, n, (kernels, &params), &entries, n * n)?;
            }
            other => panic!("no system is called {other:?}"),
        }
    }
    Ok(())
}

fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
