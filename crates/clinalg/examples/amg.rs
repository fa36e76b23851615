//! Times algebraic multigrid: `amg PROBLEM N [--single] [--profile] [--dump PREFIX]`. Prints one JSON object per run.
//!
//! Run 0 builds the kernels. Times of the CPU ("cpu_set_up", "cpu_solve") are those of all threads, in seconds. Runs 1 and 2 give the times. Run 3 waits for the device after each phase of the set-up and gives the time of each
//! ("phases": level, name, milliseconds). With `--profile`, run 4 uses a context that times every kernel ("setup_kernels" and "solve_kernels": name,
//! launches, milliseconds).
//!
//! N points per side of a square or a cube, boundary values eliminated. `--dump` writes offsets, columns (both 64-bit integers) and values to
//! PREFIX.offsets, PREFIX.columns and PREFIX.values, for a peer on the same matrix. `benches/amg.py` runs it.

use std::ops::Range;
use std::time::Instant;

use clinalg::amg::{Amg, AmgParams, Cycle, Smoother, rigid_motions};
use clinalg::runtime::{ContextOptions, Device, KernelTiming};
use clinalg::solve::{Cg, CgParams, FlexibleCg, FlexibleCgParams, Solver};
use clinalg::{Context, Csr, CsrParts, Error, Vector};

const PROBLEMS: &str = "points7, points27, tetrahedra, jumping, anisotropic, rotated, plates, lognormal or elasticity";

/// A number in (0, 1) that depends on both alike.
fn weight(a: usize, b: usize) -> f64 {
    let mut h = (a.min(b) as u64) << 32 | a.max(b) as u64;
    h = (h ^ (h >> 31)).wrapping_mul(0x7fb5_d329_728e_a185);
    h = (h ^ (h >> 27)).wrapping_mul(0x81da_def4_bc2d_d44d);
    ((h ^ (h >> 33)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The matrix whose row p has `-weight(p, q)` at the neighbours q of p inside and the sum of all weights on the diagonal. Neighbours are `steps`
/// away on n^dim points.
fn graph(
    n: usize,
    dim: usize,
    steps: &[[i64; 3]],
    weight: impl Fn(usize, Option<usize>, usize) -> f64,
) -> CsrParts<f64> {
    let rows = n.pow(dim as u32);
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut row: Vec<(usize, f64)> = Vec::new();
    for p in 0..rows {
        let at = [p % n, p / n % n, p / n / n].map(|c| c as i64);
        row.clear();
        let mut sum = 0.0;
        for (k, step) in steps.iter().enumerate() {
            let other = [0, 1, 2].map(|d| at[d] + step[d]);
            let inside = other.iter().take(dim).all(|c| (0..n as i64).contains(c));
            let q = inside.then(|| (0..dim).rev().fold(0, |q, d| q * n + other[d] as usize));
            let own = weight(p, q, k);
            sum += own;
            row.extend(q.map(|q| (q, -own)));
        }
        row.push((p, sum));
        row.sort_unstable_by_key(|entry| entry.0);
        indices.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        offsets.push(indices.len());
    }
    CsrParts { rows, cols: rows, offsets, indices, values }
}

/// The numbering shuffled within windows of 512.
fn shuffled(a: &CsrParts<f64>) -> Result<CsrParts<f64>, Error> {
    let mut order: Vec<usize> = (0..a.rows).collect();
    for window in order.chunks_mut(512) {
        window.sort_by(|&i, &j| weight(i, a.rows).total_cmp(&weight(j, a.rows)));
    }
    let mut place = vec![0; a.rows];
    order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for &i in &order {
        let mut row: Vec<(usize, f64)> = a.row(i).map(|(j, v)| (place[j], v)).collect();
        row.sort_unstable_by_key(|entry| entry.0);
        indices.extend(row.iter().map(|entry| entry.0));
        values.extend(row.iter().map(|entry| entry.1));
        offsets.push(indices.len());
    }
    Ok(CsrParts { rows: a.rows, cols: a.cols, offsets, indices, values })
}

/// The stiffness matrix of a unit cube with trilinear functions, Young's modulus 1 and Poisson's ratio 0.3, by 2 x 2 x 2 Gauss points;
/// unknown 3 v + d is the displacement of vertex v (bits x, y, z) in direction d.
fn cube_stiffness() -> Vec<[f64; 24]> {
    let (lambda, mu) = (0.3 / (1.3 * 0.4), 1.0 / 2.6);
    let mut k = vec![[0.0; 24]; 24];
    for point in 0..8 {
        let x = [0, 1, 2].map(|d| 0.5 + if point >> d & 1 == 1 { 0.5 } else { -0.5 } / 3.0_f64.sqrt());
        let gradient = |v: usize, d: usize| -> f64 {
            (0..3)
                .map(|e| match (v >> e & 1 == 1, e == d) {
                    (true, true) => 1.0,
                    (false, true) => -1.0,
                    (true, false) => x[e],
                    (false, false) => 1.0 - x[e],
                })
                .product()
        };
        for (i, row) in k.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let (v, a, w, b) = (i / 3, i % 3, j / 3, j % 3);
                let same: f64 = if a == b { (0..3).map(|d| gradient(v, d) * gradient(w, d)).sum() } else { 0.0 };
                let value = lambda * gradient(v, a) * gradient(w, b) + mu * (gradient(v, b) * gradient(w, a) + same);
                *entry += value / 8.0;
            }
        }
    }
    k
}

/// Elasticity on n^3 nodes, those with x = 0 held, and the coordinates of the others.
fn elasticity(n: usize) -> Result<(CsrParts<f64>, Vec<f64>), Error> {
    let k = cube_stiffness();
    let number = |x: usize, y: usize, z: usize| x.checked_sub(1).map(|x| (x * n + y) * n + z);
    let mut entries = Vec::new();
    for cell in 0..(n - 1).pow(3) {
        let [x, y, z] = [cell / (n - 1).pow(2), cell / (n - 1) % (n - 1), cell % (n - 1)];
        let nodes: Vec<_> = (0..8).map(|v| number(x + (v & 1), y + (v >> 1 & 1), z + (v >> 2))).collect();
        for (i, row) in k.iter().enumerate() {
            for (j, &value) in row.iter().enumerate() {
                if let (Some(p), Some(q)) = (nodes[i / 3], nodes[j / 3]) {
                    entries.push((3 * p + i % 3, 3 * q + j % 3, value));
                }
            }
        }
    }
    let free = (n - 1) * n * n;
    let coordinates = (0..free).flat_map(|p| [p / n / n + 1, p / n % n, p % n].map(|c| c as f64)).collect();
    Ok((CsrParts::from_triplets(3 * free, 3 * free, &entries)?, coordinates))
}

/// A matrix, the vectors that it nearly maps to zero (constants where there are none), how many they are, and unknowns per node.
type Problem = (CsrParts<f64>, Vec<f64>, usize, usize);

fn problem(name: &str, n: usize) -> Result<Problem, Error> {
    let axes = |dim: usize| -> Vec<[i64; 3]> {
        let step = |d: usize, sign: i64| [0, 1, 2].map(|e| if e == d { sign } else { 0 });
        (0..dim).flat_map(|d| [step(d, -1), step(d, 1)]).collect()
    };
    let around: Vec<[i64; 3]> = (0..27).filter(|&k| k != 13).map(|k| [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1]).collect();
    let plain = |a| Ok((a, Vec::new(), 0, 1));
    match name {
        "points7" => plain(graph(n, 3, &axes(3), |_, _, _| 1.0)),
        "points27" => plain(graph(n, 3, &around, |_, _, _| 1.0)),
        "tetrahedra" => {
            // The edges of the subdivision of each cube into six tetrahedra (Kuhn).
            let edges: Vec<_> =
                around.into_iter().filter(|s| s.iter().all(|&c| c >= 0) || s.iter().all(|&c| c <= 0)).collect();
            let a = graph(n, 3, &edges, |p, q, k| 0.5 + weight(p, q.unwrap_or(usize::MAX / 2 - k)));
            plain(shuffled(&a)?)
        }
        "jumping" => {
            let value = |p: usize| if (p % n / 147 + p / n / 147).is_multiple_of(2) { 1.0 } else { 1e6 };
            let face = |p: usize, q: Option<usize>, _| {
                let (a, b) = (value(p), value(q.unwrap_or(p)));
                2.0 * a * b / (a + b)
            };
            plain(graph(n, 2, &axes(2), face))
        }
        "anisotropic" => plain(graph(n, 2, &axes(2), |_, _, k| if k < 2 { 1.0 } else { 1e-3 })),
        // Not used to tune the parameters, except that `rotated` and `lognormal` were known when theta was chosen.
        "rotated" => {
            // Bilinear elements, anisotropy 1 : 1e-3 at an angle of 30 degrees.
            let (c, s) = (30_f64.to_radians().cos(), 30_f64.to_radians().sin());
            let (xx, yy, xy) = (c * c + 1e-3 * s * s, s * s + 1e-3 * c * c, (1.0 - 1e-3) * c * s);
            let flat: Vec<_> = around.into_iter().filter(|s| s[2] == 0).collect();
            let weights: Vec<f64> = flat
                .iter()
                .map(|s| match (s[0] * s[0], s[1] * s[1], s[0] * s[1]) {
                    (1, 0, _) => (2.0 * xx - yy) / 3.0,
                    (0, 1, _) => (2.0 * yy - xx) / 3.0,
                    (.., sign) => (xx + yy) / 6.0 + sign as f64 * xy / 2.0,
                })
                .collect();
            plain(graph(n, 2, &flat, |_, _, k| weights[k]))
        }
        "plates" => plain(graph(n, 3, &axes(3), |_, _, k| if k < 4 { 1.0 } else { 1e-3 })),
        "lognormal" => {
            // Coefficients drawn independently for each face, over six orders of magnitude.
            let face = |p: usize, q: Option<usize>, k: usize| weight(p, q.unwrap_or(usize::MAX / 2 - k));
            plain(graph(n, 2, &axes(2), move |p, q, k| (6.0 * std::f64::consts::LN_10 * (face(p, q, k) - 0.5)).exp()))
        }
        "elasticity" => {
            let (a, coordinates) = elasticity(n)?;
            Ok((a, rigid_motions(&coordinates, 3)?, 6, 3))
        }
        _ => Err(Error::Value { argument: "PROBLEM", expected: PROBLEMS.into(), got: name.into() }),
    }
}

fn dump(prefix: &str, a: &CsrParts<f64>) -> std::io::Result<()> {
    let integers = |values: &[usize]| values.iter().flat_map(|v| (*v as u64).to_le_bytes()).collect::<Vec<u8>>();
    std::fs::write(format!("{prefix}.offsets"), integers(&a.offsets))?;
    std::fs::write(format!("{prefix}.columns"), integers(&a.indices))?;
    std::fs::write(format!("{prefix}.values"), a.values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, n, rest @ ..] = arguments.as_slice() else {
        return Err(format!(
            "amg PROBLEM N [--single] [--coarsening auto|aggregation|classical] [--theta T] [--degree K] [--cycle v|w|k] [--profile] [--dump PREFIX]; PROBLEM is {PROBLEMS}"
        )
        .into());
    };
    let (parts, vectors, count, block) = problem(name, n.parse()?)?;
    if let [.., flag, prefix] = rest
        && flag == "--dump"
    {
        dump(prefix, &parts)?;
    }
    let single = rest.iter().any(|argument| argument == "--single");
    let number = |name: &str| -> Result<Option<f64>, std::num::ParseFloatError> {
        rest.iter().position(|argument| argument == name).and_then(|k| rest.get(k + 1)).map(|v| v.parse()).transpose()
    };
    let mut params = AmgParams::default().block(block).single(single);
    params.theta = number("--theta")?;
    if let Some(at) = rest.iter().position(|argument| argument == "--coarsening") {
        params.coarsening = serde_json::from_value(serde_json::json!(rest.get(at + 1)))?;
    }
    if let Some(at) = rest.iter().position(|argument| argument == "--cycle") {
        params.cycle = serde_json::from_value(serde_json::json!(rest.get(at + 1)))?;
    }
    if let Some(degree) = number("--degree")? {
        params.smoother = Some(Smoother::Chebyshev(degree as usize));
    }
    let setting = Setting { name, parts: &parts, vectors: &vectors, count, params: &params };
    setting.time(&Context::global()?, 0..4)?;
    if rest.iter().any(|argument| argument == "--profile") {
        let options = ContextOptions { profiling: true, ..ContextOptions::default() };
        setting.time(&Context::new(&Device::default_device()?, &options)?, 4..5)?;
    }
    Ok(())
}

/// Seconds of user and system time of all threads of the process; `None` where the system does not tell.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name in parentheses, the first field is the third; a tick is 10 ms.
    let mut times = text.rsplit_once(')')?.1.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((times.next()?.ok()? + times.next()?.ok()?) / 100.0)
}

fn since(before: Option<f64>) -> Option<f64> {
    Some(cpu_seconds()? - before?)
}

/// The problem and the parameters.
struct Setting<'a> {
    name: &'a str,
    parts: &'a CsrParts<f64>,
    vectors: &'a [f64],
    count: usize,
    params: &'a AmgParams,
}

impl Setting<'_> {
    fn time(&self, context: &Context, runs: Range<usize>) -> Result<(), Box<dyn std::error::Error>> {
        let parts = self.parts;
        let a = Csr::from_parts(context, parts)?;
        // Pseudo-random, the same in every run.
        let b: Vec<f64> = (0..parts.rows).map(|i| 2.0 * weight(i, i + 1) - 1.0).collect();
        let (b, mut x) = (Vector::from_slice(context, &b)?, Vector::zeros(context, parts.rows)?);
        let n = parts.rows;
        let mut cg: Box<dyn Solver<f64>> = match self.params.cycle {
            Cycle::K => {
                Box::new(FlexibleCg::new(context, n, FlexibleCgParams::default().tolerance(1e-8).max_iterations(500))?)
            }
            _ => Box::new(Cg::new(context, n, CgParams::default().tolerance(1e-8).max_iterations(500))?),
        };
        for run in runs {
            let params = self.params.clone().timed(run == 3);
            context.finish()?;
            context.reset_timings();
            let (start, cpu) = (Instant::now(), cpu_seconds());
            let mut m = match self.count {
                0 => Amg::new(&a, &params)?,
                _ => Amg::with_near_null(&a, self.vectors, self.count, &params)?,
            };
            context.finish()?;
            let (set_up, cpu_set_up) = (start.elapsed().as_secs_f64(), since(cpu));
            let setup_timings = context.timings()?;
            context.reset_timings();
            x.fill(0.0)?;
            context.finish()?;
            let (start, cpu) = (Instant::now(), cpu_seconds());
            let solved = cg.solve(&a, Some(&mut m), &b, &mut x)?;
            context.finish()?;
            let (solve, cpu_solve) = (start.elapsed().as_secs_f64(), since(cpu));
            let (solve_timings, report) = (context.timings()?, m.report());
            let phases: Vec<_> = report.phases.iter().map(|p| (p.level, p.name, 1e3 * p.seconds)).collect();
            let line = serde_json::json!({
                "problem": self.name, "rows": parts.rows, "entries": parts.nnz(), "single": params.single, "run": run,
                "set_up": set_up, "solve": solve, "cpu_set_up": cpu_set_up, "cpu_solve": cpu_solve, "iterations": solved.iterations, "residual": solved.relative_residual,
                "classical": report.classical, "one_sided": report.one_sided, "levels": report.levels, "operator_complexity": report.operator_complexity, "bytes": report.bytes,
                "format": a.format(), "device": context.device().name, "phases": phases,
                "setup_kernels": kernels(&setup_timings), "solve_kernels": kernels(&solve_timings),
            });
            println!("{line}");
        }
        Ok(())
    }
}

/// Name, number of launches and total milliseconds of each kernel.
fn kernels(timings: &[KernelTiming]) -> Vec<(&str, u64, f64)> {
    timings.iter().map(|t| (t.kernel.as_str(), t.launches, 1e3 * t.seconds)).collect()
}
