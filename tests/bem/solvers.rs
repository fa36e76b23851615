//! Direct solution and preconditioning.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::common::{context, given, rung};
use clinalg::solve::{GmresParams, Operator, Stop};
use clinalg::{Context, Real, Vector};
use clinalg_bem::heat::{
    BoundaryProblem, Form, ForwardMemory, HeatOperator, HeatParams, HeatSpace, Kind, OperatorOptions, Problem,
};
use clinalg_bem::{Mesh, heat::OperatorPreconditioner};

fn system<T: Real>(
    context: &Context,
    mesh: &Mesh,
    params: &HeatParams,
    problem: Problem,
    form: Form,
) -> BoundaryProblem<T> {
    let space = HeatSpace::<T>::new(context, mesh, params).unwrap();
    let options = OperatorOptions { form, ..OperatorOptions::default() };
    BoundaryProblem::new(&space, problem, &options).unwrap()
}

fn right_side<T: Real>(system: &BoundaryProblem<T>, problem: Problem) -> Vector<T> {
    let space = system.space();
    let other = space.operator(problem.kinds().1, &OperatorOptions::default()).unwrap();
    system.right_side(&other, &given(space.mesh(), space.params(), problem)).unwrap()
}

fn wide<T: Real>(x: &Vector<T>) -> Vec<f64> {
    x.to_vec().unwrap().into_iter().map(T::into_f64).collect()
}

fn distance(got: &[f64], want: &[f64]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    norm(&mut got.iter().zip(want).map(|(a, b)| a - b)) / norm(&mut want.iter().copied())
}

/// The iterations of GMRES without and with operator preconditioning.
fn iterations(problem: Problem, level: usize, context: &Context) -> [usize; 2] {
    let (mesh, params) = rung(level);
    let system = system::<f64>(context, &mesh, &params, problem, Form::Assembled);
    let b = right_side(&system, problem);
    let solver = GmresParams::default().restart(500).tolerance(1e-8);
    let inverse = system.operator_preconditioner(&OperatorOptions::default()).unwrap();
    let (plain, plain_report) = system.gmres(None, &b, solver.clone(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    let (x, report) = system.gmres(Some(&inverse), &b, solver.clone(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(report.stop.is_success() && plain_report.stop.is_success(), "{report}; {plain_report}");
    let error = distance(&wide(&x), &wide(&plain));
    assert!(error < 1e-6, "{problem:?} level {level}: {error:e}");
    [plain_report.iterations, report.iterations]
}

/// Published numbers of iterations without preconditioner at the levels from 2 on, and at most so many with it.
fn saves(problem: Problem, published: &[usize], most: &[usize]) {
    let Some(context) = context() else { return };
    for (k, (published, most)) in published.iter().zip(most).enumerate() {
        let [plain, preconditioned] = iterations(problem, k + 2, &context);
        println!("{problem:?} level {}: {plain} iterations, {preconditioned} with operator preconditioning", k + 2);
        // The published ones start from x = b.
        assert!(plain.abs_diff(*published) <= 1, "{plain}");
        assert!(preconditioned <= *most, "{preconditioned}");
    }
}

#[test]
fn the_hypersingular_operator_preconditions_the_single_layer() {
    saves(Problem::Dirichlet, &[19, 22, 26], &[13, 15, 15]);
}

#[test]
fn the_single_layer_preconditions_the_hypersingular_operator() {
    saves(Problem::Neumann, &[16, 21, 25], &[12, 12, 13]);
}

fn eliminate<T: Real>(
    context: &Context,
    mesh: &Mesh,
    params: &HeatParams,
    problem: Problem,
    form: Form,
    tolerance: f64,
) {
    let system = system::<T>(context, mesh, params, problem, form);
    let b = right_side(&system, problem);
    let mut seen = Vec::new();
    let (x, report) = system.forward().unwrap().solve(&b, tolerance, &mut |step| seen.push(step)).unwrap();
    println!("{problem:?} {form:?} {:?}: {report}", T::PRECISION);
    assert!(report.stop.is_success(), "{report}");
    assert_eq!(seen[..params.steps], (1..=params.steps).collect::<Vec<_>>());
    // The residual once more, by the plain product.
    let mut residual = Vector::from_slice(context, &b.to_vec().unwrap()).unwrap();
    system.matrix().apply(-T::one(), &x, T::one(), &mut residual).unwrap();
    let size = |v: &Vector<T>| wide(v).iter().map(|v| v * v).sum::<f64>().sqrt();
    assert!(size(&residual) <= 2.0 * tolerance * size(&b));
}

#[test]
fn forward_elimination_solves() {
    let Some(context) = context() else { return };
    // Numbers of steps that halve and that do not.
    for (mesh, steps) in
        [(Mesh::cube24().refined().unwrap(), 16), (Mesh::icosphere(1).unwrap(), 13), (Mesh::cube12(), 1)]
    {
        let params = HeatParams::new(0.5, 1.0, steps);
        for problem in [Problem::Dirichlet, Problem::Neumann] {
            for form in [Form::Assembled, Form::Otf] {
                eliminate::<f64>(&context, &mesh, &params, problem, form, 1e-12);
            }
            eliminate::<f32>(&context, &mesh, &params, problem, Form::Auto, 1e-5);
        }
    }
}

/// x of the square system with the matrix `a`, column by column, by elimination with pivots.
fn solved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let row = |i: usize| a[i..].iter().step_by(n).chain([&b[i]]).copied().collect::<Vec<f64>>();
    let mut rows: Vec<Vec<f64>> = (0..n).map(row).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).unwrap();
        rows.swap(k, pivot);
        let chosen = rows[k].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k] / chosen[k];
            row.iter_mut().zip(&chosen).for_each(|(a, c)| *a -= factor * c);
        }
    }
    rows.iter().enumerate().map(|(i, row)| row[n] / row[i]).collect()
}

/// A_0 x_n = b_n - sum over d from 1 to n of A_d x_(n - d), one step after the other; with the blocks as they
/// are.
#[test]
fn forward_elimination_is_the_plain_recurrence() {
    let Some(context) = context() else { return };
    for (mesh, steps, problem) in
        [(Mesh::cube24(), 37, Problem::Dirichlet), (Mesh::cube12().refined().unwrap(), 60, Problem::Neumann)]
    {
        let params = HeatParams::new(0.5, 1.0, steps);
        for form in [Form::Assembled, Form::Otf] {
            let system = system::<f64>(&context, &mesh, &params, problem, form);
            let b = right_side(&system, problem);
            let (x, report) = system.forward().unwrap().solve(&b, 1e-11, &mut |_| ()).unwrap();
            assert!(report.stop.is_success() && report.iterations == 1, "{report}");
            let b = b.to_vec().unwrap();
            let n = b.len() / steps;
            let block = |d: usize| system.matrix().block(d).unwrap().to_column_major().unwrap();
            let blocks: Vec<Vec<f64>> = (0..steps).map(block).collect();
            let mut want: Vec<f64> = Vec::new();
            for k in 0..steps {
                let mut rest = b[k * n..][..n].to_vec();
                for (d, block) in blocks.iter().enumerate().take(k + 1).skip(1) {
                    for (column, x) in block.chunks(n).zip(&want[(k - d) * n..]) {
                        rest.iter_mut().zip(column).for_each(|(rest, a)| *rest -= a * x);
                    }
                }
                want.extend(solved(&blocks[0], &rest));
            }
            let error = distance(&x.to_vec().unwrap(), &want);
            assert!(error < 1e-12, "{problem:?} {form:?}: {error:e}");
        }
    }
}

/// On a coarse mesh with short time steps all blocks are summed point by point. Far in time they are those of a coarser division of time: the
/// block of d steps of h is about (h / H)^2 times that of d h / H steps of H.
#[test]
fn many_time_steps_need_small_tables() {
    let Some(context) = context() else { return };
    let mesh = Mesh::cube12();
    let options = OperatorOptions { most_table_bytes: Some(20 << 20), ..OperatorOptions::default() };
    let block = |steps: usize, d: usize, kind: Kind| {
        let space = HeatSpace::<f64>::new(&context, &mesh, &HeatParams::new(0.5, 1.0, steps)).unwrap();
        space.operator(kind, &options).unwrap().block(d).unwrap().to_column_major().unwrap()
    };
    for kind in [Kind::V, Kind::D] {
        let (fine, coarse) = (block(1000, 500, kind), block(50, 25, kind));
        let scaled: Vec<f64> = coarse.iter().map(|a| a * 0.0025).collect();
        let error = distance(&fine, &scaled);
        // What a mean over 1/50 on either side of t = 1/2 differs from the value there.
        assert!(error < 2e-3, "{kind:?}: {error:e}");
    }
    let space = HeatSpace::<f64>::new(&context, &mesh, &HeatParams::new(0.5, 1.0, 1000)).unwrap();
    let few = OperatorOptions { most_table_bytes: Some(1 << 20), ..OperatorOptions::default() };
    let error = space.operator(Kind::D, &few).unwrap_err();
    assert!(error.to_string().contains("algorithm 2 has none"), "{error}");
}

#[test]
fn short_time_steps_give_a_warning() {
    let mesh = Mesh::cube12().refined().unwrap();
    let of = |steps: usize| HeatParams::new(0.5, 1.0, steps).shortness(&mesh).unwrap();
    // Triangles of area 1/2; the weights of the rule of order 4 are 0.22338 and 0.10995, three times each.
    let squares = 3.0 * (0.223_381_589_678_011_f64.powi(2) + 0.109_951_743_655_322_f64.powi(2));
    let want = 0.5 * squares * 100.0 / (4.0 * std::f64::consts::PI);
    assert!((of(100) / want - 1.0).abs() < 1e-10 && (of(300) / of(100) - 3.0).abs() < 1e-12, "{}", of(100));
}

#[test]
fn times_of_operators_are_predicted() {
    let Some(context) = context() else { return };
    let mesh = Mesh::cube24().refined().unwrap();
    let space = HeatSpace::<f64>::new(&context, &mesh, &HeatParams::new(0.5, 1.0, 200)).unwrap();
    let options = OperatorOptions { form: Form::Assembled, ..OperatorOptions::default() };
    // The kernels are built before times are taken.
    space.operator(Kind::V, &options).unwrap();
    let forecast = space.forecast(Kind::V, &options).unwrap().expect("one device");
    assert!(space.stores(Kind::V, &options));
    let start = std::time::Instant::now();
    space.operator(Kind::V, &options).unwrap();
    context.finish().unwrap();
    let (taken, predicted) = (start.elapsed(), forecast.setup + forecast.blocks);
    // Other programs may run on the machine.
    assert!(predicted < 20 * taken && taken < 20 * predicted, "{predicted:?}, taken {taken:?}");
    assert!(!forecast.product.is_zero());
    let other = OperatorOptions { algorithm: clinalg_bem::heat::Algorithm::ALL[1], ..options };
    assert_eq!(space.forecast(Kind::V, &other).unwrap(), None);
}

/// Stopped after every time step of every pass, and continued by another solver each time.
#[test]
fn forward_elimination_goes_on_to_the_same_bits() {
    let Some(context) = context() else { return };
    let steps = 7;
    let system = system::<f64>(
        &context,
        &Mesh::cube12(),
        &HeatParams::new(0.5, 1.0, steps),
        Problem::Dirichlet,
        Form::Assembled,
    );
    let b = right_side(&system, Problem::Dirichlet);
    let run = |memory: &mut ForwardMemory<f64>, last: usize| {
        let mut left = last;
        let mut progress = |_| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // More than rounding allows: several passes.
        let (x, report) = system.forward().unwrap().solve_from(memory, &b, 0.0, &mut progress).unwrap();
        (x.to_vec().unwrap(), report)
    };
    let mut memory = ForwardMemory::default();
    let (whole, expected) = run(&mut memory, usize::MAX);
    assert!(memory.is_empty() && expected.iterations > 1, "{expected}");
    let rows = b.len() / steps;
    for step in 0..steps * expected.iterations {
        let (x, report) = run(&mut memory, 1);
        assert_eq!((report.stop, memory.is_empty(), report.iterations), (Stop::Cancelled, false, step / steps));
        assert_eq!(memory.steps, step % steps + 1);
        // The steps that are solved, as far as one pass solves them.
        let solved = (step + 1).min(steps) * rows;
        assert!(distance(&x[..solved], &whole[..solved]) < 1e-10, "{step}");
        assert!(step >= steps || x[solved..].iter().all(|v| *v == 0.0));
    }
    let (x, report) = run(&mut memory, usize::MAX);
    assert!(x == whole && report == expected && memory.is_empty(), "{report}");
}

#[test]
fn forward_elimination_refuses_other_operators() {
    let Some(context) = context() else { return };
    let space = HeatSpace::<f64>::new(&context, &Mesh::cube12(), &HeatParams::new(0.5, 1.0, 2)).unwrap();
    let k: Arc<HeatOperator<f64>> = Arc::new(space.operator(Kind::K, &OperatorOptions::default()).unwrap());
    assert!(clinalg_bem::heat::Forward::new(&k).is_err());
    assert!(OperatorPreconditioner::new(&space, &k, &OperatorOptions::default()).is_err());
}

#[test]
fn the_first_steps_need_no_later_blocks() {
    let Some(context) = context() else { return };
    let mesh = Mesh::cube24().refined().unwrap();
    let (steps, h) = (21, 0.05);
    for kind in Kind::ALL {
        for form in [Form::Assembled, Form::Otf] {
            let options = OperatorOptions { form, ..OperatorOptions::default() };
            let of = |steps: usize| {
                let params = HeatParams::new(0.5, steps as f64 * h, steps);
                HeatSpace::<f64>::new(&context, &mesh, &params).unwrap().operator(kind, &options).unwrap()
            };
            let long = of(steps);
            for few in [1, 2, 3, 8, 17] {
                let short = of(few);
                let x: Vec<f64> = (0..short.cols()).map(|k| ((k * 7919) % 1000) as f64 / 500.0 - 1.0).collect();
                let x = Vector::from_slice(&context, &x).unwrap();
                let mut got = Vector::filled(&context, short.rows(), f64::NAN).unwrap();
                let mut want = Vector::filled(&context, short.rows(), f64::NAN).unwrap();
                long.apply_first(few, 1.0, &x, 0.0, &mut got).unwrap();
                short.apply(1.0, &x, 0.0, &mut want).unwrap();
                let error = distance(&wide(&got), &wide(&want));
                assert!(error < 1e-9, "{kind:?} {form:?} {few}: {error:e}");
            }
            assert!(
                long.apply_first(
                    22,
                    1.0,
                    &Vector::zeros(&context, 0).unwrap(),
                    0.0,
                    &mut Vector::zeros(&context, 0).unwrap()
                )
                .is_err()
            );
        }
    }
}
