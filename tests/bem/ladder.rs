//! Published errors and iteration counts of the Dirichlet and the Neumann problem.

use std::ops::ControlFlow;

use clinalg::solve::GmresParams;
use clinalg::{Context, Real};
use clinalg_bem::heat::data::{PointSource, error_nodes, error_triangles, project_nodes, project_triangles};
use clinalg_bem::heat::{BoundaryProblem, HeatParams, HeatSpace, OperatorOptions, Problem, interior};
use clinalg_bem::{Mesh, Point};

const ALPHA: f64 = 0.5;

/// That of the published numbers, near the surface.
const NEAR: PointSource = PointSource { source: [0.0, 0.0, 1.5], alpha: ALPHA };

struct Outcome {
    iterations: usize,
    error: f64,
    /// Least error of functions of the discrete space.
    best: f64,
    /// w and u, one of them computed.
    values: (Vec<f64>, Vec<f64>),
}

fn solve<T: Real>(
    context: &Context,
    mesh: &Mesh,
    params: &HeatParams,
    problem: Problem,
    exact: PointSource,
    tolerance: f64,
) -> Outcome {
    let u = |x: Point, _: Point, t: f64| exact.value(x, t);
    let w = |x: Point, n: Point, t: f64| exact.flux(x, n, t);
    let space = HeatSpace::<T>::new(context, mesh, params).unwrap();
    let options = OperatorOptions::default();
    let system = BoundaryProblem::new(&space, problem, &options).unwrap();
    let given = match problem {
        Problem::Dirichlet => project_nodes(mesh, params, &u).unwrap(),
        Problem::Neumann => project_triangles(mesh, params, &w).unwrap(),
    };
    let other = space.operator(problem.kinds().1, &options).unwrap();
    let b = system.right_side(&other, &given).unwrap();
    let solver = GmresParams::default().restart(500).tolerance(tolerance);
    let (x, report) = system.gmres(None, &b, solver.clone(), &mut |_, _| ControlFlow::Continue(())).unwrap();
    assert!(report.stop.is_success(), "{report}");
    let x: Vec<f64> = x.to_vec().unwrap().into_iter().map(T::into_f64).collect();
    let triangles = |values: &[f64]| error_triangles(mesh, params, values, &w).unwrap();
    let nodes = |values: &[f64]| error_nodes(mesh, params, values, &u).unwrap();
    let (error, best, values) = match problem {
        Problem::Dirichlet => (triangles(&x), triangles(&project_triangles(mesh, params, &w).unwrap()), (x, given)),
        Problem::Neumann => (nodes(&x), nodes(&project_nodes(mesh, params, &u).unwrap()), (given, x)),
    };
    Outcome { iterations: report.iterations, error, best, values }
}

fn rung(level: usize) -> (Mesh, HeatParams) {
    let mesh = if level.is_multiple_of(2) { Mesh::cube24() } else { Mesh::cube12() };
    (mesh.refined_times(level.div_ceil(2)).unwrap(), HeatParams::new(ALPHA, 1.0, 1 << level))
}

fn context() -> Option<Context> {
    clinalg_testing::found(Context::global())
}

/// Level, iterations and error, Dirichlet then Neumann. Most of the time goes into the last level, which only
/// `CLINALG_TEST_LONG` takes.
const LADDER: [(usize, [(usize, f64); 2]); 4] = [
    (2, [(19, 6.774e-1), (16, 4.008e-1)]),
    (3, [(22, 6.076e-1), (21, 3.138e-1)]),
    (4, [(26, 4.476e-1), (25, 1.601e-1)]),
    (5, [(34, 2.649e-1), (38, 8.635e-2)]),
];

fn climb(problem: Problem) {
    let Some(context) = context() else { return };
    let mut errors = Vec::new();
    let levels = if clinalg_testing::long() { 4 } else { 3 };
    for (level, want) in LADDER.into_iter().take(levels) {
        let (iterations, error) = want[problem as usize];
        let (mesh, params) = rung(level);
        let got = solve::<f64>(&context, &mesh, &params, problem, NEAR, 1e-8);
        println!("{problem:?} level {level}: {} iterations, {:.4e}", got.iterations, got.error);
        assert!(got.iterations.abs_diff(iterations) <= 1, "level {level}: {} iterations", got.iterations);
        // Four digits of a published number.
        assert!((got.error / error - 1.0).abs() < 2e-4, "level {level}: error {:e}", got.error);
        errors.push(got.error);
    }
    // From two levels to the next two the mesh width halves.
    let order = |k: usize| (errors[k] / errors[k + 2]).log2();
    let expected = if problem == Problem::Dirichlet { 0.55..1.3 } else { 1.3..2.2 };
    for k in 0..levels - 2 {
        assert!(expected.contains(&order(k)), "{}", order(k));
    }
}

#[test]
fn dirichlet_errors_are_the_published_ones() {
    climb(Problem::Dirichlet);
}

#[test]
fn neumann_errors_are_the_published_ones() {
    climb(Problem::Neumann);
}

/// From a source so far away that these meshes resolve its heat: O(h_x) for Dirichlet, O(h_x^2) for Neumann where the time step is
/// about h_x^2, and nearly the least error there is.
#[test]
fn orders_of_convergence() {
    let Some(context) = context() else { return };
    let exact = PointSource { source: [0.0, 0.0, 2.5], alpha: ALPHA };
    for (problem, expected) in [(Problem::Dirichlet, 0.9..1.5), (Problem::Neumann, 1.8..2.2)] {
        let errors: Vec<f64> = (1..=4)
            .map(|level| {
                let (mesh, params) = rung(level);
                let got = solve::<f64>(&context, &mesh, &params, problem, exact, 1e-8);
                println!("{problem:?} level {level}: {:.4e}, at best {:.4e}", got.error, got.best);
                assert!(got.error >= got.best && got.error < 1.5 * got.best, "level {level}");
                got.error
            })
            .collect();
        // The mesh width halves from two levels to the next two.
        for pair in errors.windows(3) {
            let order = (pair[0] / pair[2]).log2();
            assert!(expected.contains(&order), "{problem:?}: {order}, {errors:?}");
        }
    }
}

#[test]
fn best_approximations_have_the_published_errors() {
    let (mesh, params) = rung(5);
    let u = |x: Point, _: Point, t: f64| NEAR.value(x, t);
    let w = |x: Point, n: Point, t: f64| NEAR.flux(x, n, t);
    let nodes = project_nodes(&mesh, &params, &u).unwrap();
    let triangles = project_triangles(&mesh, &params, &w).unwrap();
    assert!((error_nodes(&mesh, &params, &nodes, &u).unwrap() - 0.066_792_3).abs() < 5e-6);
    assert!((error_triangles(&mesh, &params, &triangles, &w).unwrap() - 0.238_185).abs() < 5e-6);
}

#[test]
fn single_precision_reaches_the_same_errors() {
    let Some(context) = context() else { return };
    let levels = if clinalg_testing::long() { 4 } else { 2 };
    for (level, want) in LADDER.into_iter().take(levels) {
        let (mesh, params) = rung(level);
        for problem in [Problem::Dirichlet, Problem::Neumann] {
            let got = solve::<f32>(&context, &mesh, &params, problem, NEAR, 1e-5);
            println!("{problem:?} f32 level {level}: {} iterations, {:.4e}", got.iterations, got.error);
            assert!((got.error / want[problem as usize].1 - 1.0).abs() < 2e-4, "level {level}: {:e}", got.error);
        }
    }
}

#[test]
fn interior_values_converge_on_the_sphere() {
    let Some(context) = context() else { return };
    let points = [[0.1, 0.2, 0.3], [-0.4, 0.0, 0.2], [0.0, 0.0, 0.0]];
    let errors: Vec<f64> = [(1, 4), (2, 16)]
        .into_iter()
        .map(|(level, steps)| {
            let (mesh, params) = (Mesh::icosphere(level).unwrap(), HeatParams::new(ALPHA, 1.0, steps));
            let got = solve::<f64>(&context, &mesh, &params, Problem::Dirichlet, NEAR, 1e-9);
            let inside = interior(&mesh, &params, &got.values.0, &got.values.1, &points).unwrap();
            // In the second half of the time.
            let last = |k: usize| (0..points.len()).map(move |p| (k, p));
            (steps / 2..steps)
                .flat_map(last)
                .map(|(k, p)| {
                    let exact = NEAR.value(points[p], (k as f64 + 0.5) * params.step());
                    (inside[k * points.len() + p] / exact - 1.0).abs()
                })
                .fold(0.0, f64::max)
        })
        .collect();
    println!("{errors:?}");
    assert!(errors[1] < 0.4 * errors[0] && errors[1] < 0.01, "{errors:?}");
}
