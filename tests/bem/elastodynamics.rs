//! Elastodynamics: matrices against plain loops, fields against known solutions.

use std::ops::ControlFlow;

use clinalg::runtime::devices;
use clinalg::solve::GmresParams;
use clinalg::{Complex, Context, ContextOptions, Dense, KernelFamily, Scalar};
use clinalg_bem::ElementMesh;
use clinalg_bem::elastodynamics::exact::{PointForce, PressurisedCavity, rigid_disc};
use clinalg_bem::elastodynamics::reference::{Matrices, Reference};
use clinalg_bem::elastodynamics::{
    Algorithm, C64, ComplexScalar, Conditions, Domain, Known, Material, Options, Problem, Rule, Shared, Solution, Waves,
};

fn contexts() -> Vec<Context> {
    pairs().into_iter().map(|[context, _]| context).collect()
}

/// Two contexts on each device, for each family of kernels.
fn pairs() -> Vec<[Context; 2]> {
    let Some(devices) = clinalg_testing::found(devices()) else { return Vec::new() };
    let families = |device| {
        clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]).into_iter().map(move |family| {
            let options = ContextOptions { family, ..ContextOptions::default() };
            [(); 2].map(|()| Context::new(device, &options).unwrap())
        })
    };
    devices.iter().flat_map(families).collect()
}

/// A context whose memory no other test uses.
fn own_context() -> Option<Context> {
    let devices = clinalg_testing::found(devices())?;
    Some(Context::new(&devices[0], &ContextOptions::default()).unwrap())
}

fn norm(values: &[C64]) -> f64 {
    values.iter().map(|v| v.norm_sqr()).sum::<f64>().sqrt()
}

fn distance(got: &[C64], want: &[C64]) -> f64 {
    norm(&got.iter().zip(want).map(|(a, b)| a - b).collect::<Vec<_>>()) / norm(want)
}

fn by_rows<S: ComplexScalar>(a: &Dense<S>) -> Vec<C64> {
    let values = a.to_column_major().unwrap();
    let entry = |at: usize| {
        let value = values[at % a.cols() * a.rows() + at / a.cols()].widen();
        C64::new(value.re(), value.im())
    };
    (0..values.len()).map(entry).collect()
}

/// The largest difference, relative to the largest entry.
fn worst(got: &[C64], want: &[C64]) -> f64 {
    let largest = want.iter().map(|v| v.norm()).fold(0.0, f64::max);
    got.iter().zip(want).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max) / largest
}

/// Quadrilaterals of different shapes and triangles, away from the origin: a cubed sphere with two cut elements.
fn mixed() -> ElementMesh {
    let sphere = ElementMesh::cubed_sphere(2, 1.0).unwrap();
    let nodes = sphere.nodes().iter().map(|[x, y, z]| [1.2 * x + 3.0, 0.8 * y - 2.0, z + 0.1 * x]).collect();
    let mut elements = Vec::new();
    for (j, &[a, b, c, d]) in sphere.elements().iter().enumerate() {
        if j % 7 == 3 {
            elements.extend([[a, b, c, c], [a, c, d, d]]);
        } else {
            elements.push([a, b, c, d]);
        }
    }
    let count = elements.len();
    ElementMesh::new(nodes, elements, count).unwrap()
}

fn compare<S: ComplexScalar>(
    context: &Context,
    mesh: &ElementMesh,
    domain: Domain,
    want: &Matrices,
    w: f64,
    limit: f64,
) {
    let problem = Problem::<S>::new(context, mesh, damped(), domain, &Options::default()).unwrap();
    let assembly = problem.assemble(w).unwrap();
    for (name, got, want) in [("H", assembly.h(), &want.h), ("G", assembly.g(), &want.g)] {
        let error = worst(&by_rows(got), want);
        println!("{name} {:?} {} w = {w}: {error:.1e}", context.family(), S::PRECISION);
        assert!(error < limit, "{name} {:?} {} w = {w}: {error:e}", context.family(), S::PRECISION);
    }
}

fn damped() -> Material {
    Material::new(1.4, 0.3, 0.9).unwrap().with_damping(0.02).unwrap()
}

#[test]
fn matrices_are_those_of_plain_loops() {
    let mesh = mixed();
    for (domain, w) in [(Domain::Interior, 0.0), (Domain::Exterior, 1.7)] {
        let want = Reference::new(&mesh, damped(), domain, 8).matrices(w, false).unwrap();
        for context in contexts() {
            compare::<Complex<f64>>(&context, &mesh, domain, &want, w, 1e-13);
            compare::<Complex<f32>>(&context, &mesh, domain, &want, w, 1e-5);
        }
    }
}

#[test]
fn the_published_algorithm_and_adaptive_rules_give_the_same_matrices() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    let (mesh, w) = (ElementMesh::cubed_sphere(4, 1.0).unwrap(), 2.5);
    let problem = |rule| {
        let options = Options::default().rule(rule);
        Problem::<Complex<f64>>::new(&context, &mesh, damped(), Domain::Exterior, &options).unwrap()
    };
    let usual = problem(Rule::Fixed(8));
    let want = usual.assemble(w).unwrap();
    let (h, g) = (by_rows(want.h()), by_rows(want.g()));
    let pairwise = usual.assemble_by(Algorithm::Pairwise, w).unwrap();
    assert!(worst(&by_rows(pairwise.h()), &h) < 1e-14 && worst(&by_rows(pairwise.g()), &g) < 1e-14);
    let adaptive = problem(Rule::Adaptive);
    let got = adaptive.assemble(w).unwrap();
    let errors = [worst(&by_rows(got.h()), &h), worst(&by_rows(got.g()), &g)];
    println!("adaptive: {errors:?}");
    assert!(errors.iter().all(|&e| e < 1e-4), "{errors:?}");
    assert!(adaptive.assemble_by(Algorithm::Pairwise, w).is_err());
}

#[test]
fn static_rows_of_rigid_motions_vanish_or_are_the_identity() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    let mesh = mixed();
    for (domain, whole) in [(Domain::Interior, 0.0), (Domain::Exterior, 1.0)] {
        let problem = Problem::<Complex<f64>>::new(&context, &mesh, damped(), domain, &Options::default()).unwrap();
        let h = by_rows(problem.assemble(0.0).unwrap().h());
        for (i, row) in h.chunks(3 * mesh.len()).enumerate() {
            for k in 0..3 {
                let sum: C64 = row.iter().skip(k).step_by(3).sum();
                let want = if i % 3 == k { whole } else { 0.0 };
                assert!((sum - want).norm() < 1e-13, "row {i}, motion {k}: {sum}");
            }
        }
    }
}

/// The mesh of 6 n^2 elements, its boundary values of a known field, and the problem.
struct Case {
    problem: Problem<Complex<f64>>,
    exact: PointForce,
    u: Vec<C64>,
    t: Vec<C64>,
    frequency: f64,
}

fn case(context: &Context, n: usize, domain: Domain) -> Case {
    let mesh = ElementMesh::cubed_sphere(n, 1.0).unwrap();
    let (damping, source, frequency) = match domain {
        Domain::Interior => (0.01, [1.6, -0.9, 0.7], 2.0),
        Domain::Exterior => (0.0, [0.2, -0.1, 0.15], 2.0),
    };
    let material = Material::new(1.0, 0.3, 1.0).unwrap().with_damping(damping).unwrap();
    let waves = Waves::new(material, frequency).unwrap();
    let exact = PointForce { waves, source, force: [1.0, 0.5, -0.3] };
    let problem = Problem::new(context, &mesh, material, domain, &Options::default()).unwrap();
    let u = mesh.centres().iter().flat_map(|&x| exact.displacement(x)).collect();
    let t = mesh.centres().iter().zip(problem.normals()).flat_map(|(&x, &n)| exact.traction(x, n)).collect();
    Case { problem, exact, u, t, frequency }
}

#[test]
fn residuals_and_errors_of_a_known_field_fall_with_the_mesh_width() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    for (domain, first) in [(Domain::Interior, 0.18), (Domain::Exterior, 0.07)] {
        let inside = match domain {
            Domain::Interior => [[0.1, 0.2, -0.3], [0.0, 0.0, 0.4]],
            Domain::Exterior => [[0.0, 1.9, 0.3], [-1.5, 1.0, 2.0]],
        };
        let mut before: Option<(usize, [f64; 4])> = None;
        let finest = if clinalg_testing::long() { 12 } else { 4 };
        for n in [2, 4, 8, 12].into_iter().filter(|&n| n <= finest) {
            let Case { problem, exact, u, t, frequency } = case(&context, n, domain);
            let assembly = problem.assemble(frequency).unwrap();
            let residual = assembly.residual(&u, &t).unwrap();
            let dirichlet = assembly.system(&Conditions::uniform(problem.mesh(), Known::Displacement)).unwrap();
            let found = dirichlet.factorise().unwrap().solve(&u).unwrap();
            let neumann = problem.assemble(frequency).unwrap();
            let neumann = neumann.system(&Conditions::uniform(problem.mesh(), Known::Traction)).unwrap();
            let other = neumann.factorise().unwrap().solve(&t).unwrap();
            let fields = problem.evaluate(&other, &inside).unwrap().concat();
            let want: Vec<C64> = inside.iter().flat_map(|&x| exact.displacement(x)).collect();
            let errors = [
                residual,
                distance(found.tractions(), &t),
                distance(other.displacements(), &u),
                distance(&fields, &want),
            ];
            println!("{domain:?} n = {n}: residual, t, u, inside {errors:.4?}");
            if let Some((coarse, before)) = before {
                // Order 1 or better.
                for (a, b) in before.iter().zip(errors) {
                    assert!(b < a * coarse as f64 / n as f64, "{domain:?} n = {n}: {before:?} to {errors:?}");
                }
            } else {
                assert!((residual / first - 1.0).abs() < 0.1, "{domain:?}: {residual}");
            }
            before = Some((n, errors));
        }
    }
}

#[test]
fn a_pressurised_cavity_swells_as_the_closed_form_says() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    let material = Material::new(1.0, 0.25, 1.0).unwrap();
    for w in [0.0, 1.5] {
        let exact = PressurisedCavity::new(material, w, 1.0, 1.0).unwrap();
        let error = |n: usize| {
            let mesh = ElementMesh::cubed_sphere(n, 1.0).unwrap();
            let problem =
                Problem::<Complex<f64>>::new(&context, &mesh, material, Domain::Exterior, &Options::default());
            let problem = problem.unwrap();
            let pressure: Vec<C64> = problem.normals().iter().flat_map(|n| n.map(|v| C64::new(-v, 0.0))).collect();
            let system = problem.assemble(w).unwrap().system(&Conditions::uniform(&mesh, Known::Traction)).unwrap();
            // Stored matrices serve both solvers.
            let (by_gmres, report) = system
                .gmres(&pressure, GmresParams::default().tolerance(1e-10), &mut |_, _| ControlFlow::Continue(()))
                .unwrap();
            assert!(report.stop.is_success(), "{:?}", report.stop);
            let solution = system.factorise().unwrap().solve(&pressure).unwrap();
            assert!(distance(by_gmres.displacements(), solution.displacements()) < 1e-8);
            let want: Vec<C64> = problem.normals().iter().flat_map(|n| n.map(|v| exact.radial(1.0) * -v)).collect();
            let far = problem.evaluate(&solution, &[[0.0, 0.0, 2.5]]).unwrap()[0];
            let want_far = [C64::default(), C64::default(), exact.radial(2.5)];
            [distance(solution.displacements(), &want), distance(&far, &want_far)]
        };
        // The error far away changes its sign on coarse meshes.
        let (coarse, fine) = (error(2), error(4));
        println!("w = {w}: {coarse:.4?} to {fine:.4?}");
        assert!(fine[0] < 0.5 * coarse[0] && fine[1] < 0.03, "{coarse:?} to {fine:?}");
    }
}

#[test]
fn a_square_load_sinks_into_the_half_space_as_boussinesq_says() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    // The integral of Boussinesq's point load over a square of side 2, at `depth` below its centre.
    let (nu, depth, cells) = (0.3, 1.5, 64);
    let at = |k: usize| 2.0 * (k as f64 + 0.5) / cells as f64 - 1.0;
    let below = |k: usize| {
        let r = (at(k % cells).powi(2) + at(k / cells).powi(2) + depth * depth).sqrt();
        (2.0 * (1.0 - nu) + (depth / r).powi(2)) / (4.0 * std::f64::consts::PI * r)
    };
    let want = -(0..cells * cells).map(below).sum::<f64>() * (2.0 / cells as f64).powi(2);
    let error = |n: usize| {
        let mesh = ElementMesh::half_space(n, 10.0, 10.0).unwrap();
        assert_eq!((mesh.boundary(), mesh.len()), (n * n, 6 * n * n));
        let material = Material::new(1.0, nu, 1.0).unwrap();
        let problem =
            Problem::<Complex<f64>>::new(&context, &mesh, material, Domain::Interior, &Options::default()).unwrap();
        let system = problem.assemble(0.0).unwrap().system(&Conditions::uniform(&mesh, Known::Traction)).unwrap();
        let load = |c: &[f64; 3]| [0.0, 0.0, if c[0].abs() < 1.0 && c[1].abs() < 1.0 { -1.0 } else { 0.0 }];
        let tractions: Vec<C64> =
            mesh.centres()[..n * n].iter().flat_map(|c| load(c).map(|v| C64::new(v, 0.0))).collect();
        let solution = system.factorise().unwrap().solve(&tractions).unwrap();
        let found = problem.evaluate(&solution, &[[0.0, 0.0, -depth]]).unwrap()[0][2];
        assert_eq!(found.im, 0.0);
        (found.re / want - 1.0).abs()
    };
    let (coarse, fine) = (error(10), error(20));
    println!("below the load {coarse:.4} to {fine:.4}");
    assert!(fine < 0.65 * coarse && fine < 0.04, "{coarse} to {fine}");
}

#[test]
fn several_right_hand_sides_and_mixed_conditions_belong_to_one_factorisation() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    let error = |n: usize| mixed_error(&context, n);
    let (coarse, fine) = (error(2), error(4));
    println!("mixed conditions {coarse:.4} to {fine:.4}");
    assert!(fine < 0.5 * coarse, "{coarse} to {fine}");
}

/// Errors of u and t, relative in L2, where the displacement is known for z < 0 and the traction elsewhere. The field of a point force is smooth
/// on both parts.
fn line_errors(
    context: &Context,
    n: usize,
    domain: Domain,
    frequency: f64,
    source: [f64; 3],
    damping: f64,
) -> [f64; 3] {
    let mesh = ElementMesh::cubed_sphere(n, 1.0).unwrap();
    let material = Material::new(1.0, 0.3, 1.0).unwrap().with_damping(damping).unwrap();
    let waves = Waves::new(material, frequency).unwrap();
    let exact = PointForce { waves, source, force: [1.0, 0.5, -0.3] };
    let problem = Problem::<Complex<f64>>::new(context, &mesh, material, domain, &Options::default()).unwrap();
    let u: Vec<C64> = mesh.centres().iter().flat_map(|&x| exact.displacement(x)).collect();
    let t: Vec<C64> = mesh.centres().iter().zip(problem.normals()).flat_map(|(&x, &n)| exact.traction(x, n)).collect();
    let known = |c: &[f64; 3]| if c[2] < 0.0 { Known::Displacement } else { Known::Traction };
    let conditions = Conditions::new(mesh.centres().iter().map(|c| [known(c); 3]).collect());
    let given: Vec<C64> =
        (0..u.len()).map(|k| if conditions.of(k / 3)[0] == Known::Displacement { u[k] } else { t[k] }).collect();
    let assembly = problem.assemble(frequency).unwrap();
    let residual = assembly.residual(&u, &t).unwrap();
    let found = assembly.system(&conditions).unwrap().factorise().unwrap().solve(&given).unwrap();
    [residual, distance(found.displacements(), &u), distance(found.tractions(), &t)]
}

/// The interior problem has eigenfrequencies, the exterior one has none: far from them the errors fall with order 1 or better, near one they are those
/// of the resonance.
#[test]
fn conditions_that_change_at_a_line_converge_like_others_but_near_resonance() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    let (far, near) = ([1.6, -0.9, 0.7], [0.2, -0.1, 0.15]);
    let all: &[usize] = if clinalg_testing::long() { &[2, 4, 8] } else { &[2, 4] };
    for (domain, w, source) in [(Domain::Interior, 1.0, far), (Domain::Exterior, 2.0, near)] {
        let errors: Vec<[f64; 3]> = all.iter().map(|&n| line_errors(&context, n, domain, w, source, 0.0)).collect();
        println!("changing at z = 0, {domain:?}: {errors:.4?}");
        for pair in errors.windows(2) {
            assert!((0..3).all(|k| pair[1][k] < 0.5 * pair[0][k]), "{domain:?}: {errors:?}");
        }
    }
    // A sphere of which one half is held, on the same mesh: damping takes the resonance away.
    let [free, damped] = [0.0, 0.1].map(|damping| line_errors(&context, 4, Domain::Interior, 2.0, far, damping)[1]);
    println!("at w = 2: {free:.4} without damping, {damped:.4} with 0.1");
    assert!(damped < 0.8 * free, "{free}, {damped}");
}

/// On 24 elements the residual of a known field depends on where its force acts: 0.10 to 0.20 at 1.7 to 2.3 from the centre.
#[test]
fn the_residual_depends_on_the_source() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    let residual = |source| line_errors(&context, 2, Domain::Interior, 2.0, source, 0.01)[0];
    let sources = [[1.5, 1.0, 0.8], [1.2, 1.2, 1.2], [1.6, -0.9, 0.7]];
    for (source, want) in sources.into_iter().zip([0.119, 0.145, 0.180]) {
        let got = residual(source);
        println!("{source:?}: {got:.4}");
        assert!((got - want).abs() < 0.002, "{source:?}: {got}");
    }
}

/// The error of the displacements for mixed conditions.
fn mixed_error(context: &Context, n: usize) -> f64 {
    let Case { problem, u, t, frequency, .. } = case(context, n, Domain::Interior);
    let mesh = problem.mesh();
    // Displacements in z, tractions in x and y; the other way round on the first element.
    let mut known = vec![[Known::Traction, Known::Traction, Known::Displacement]; mesh.len()];
    known[0] = [Known::Displacement, Known::Displacement, Known::Traction];
    let conditions = Conditions::new(known);
    let given: Vec<C64> =
        (0..u.len()).map(|k| if conditions.of(k / 3)[k % 3] == Known::Displacement { u[k] } else { t[k] }).collect();
    let doubled: Vec<C64> = given.iter().map(|v| v * 2.0).collect();
    let factors = problem.assemble(frequency).unwrap().system(&conditions).unwrap().factorise().unwrap();
    let [one, two] = factors.solve_many(&[&given, &doubled]).unwrap().try_into().unwrap();
    let twice: Vec<C64> = one.tractions().iter().map(|v| v * 2.0).collect();
    assert!(distance(two.tractions(), &twice) < 1e-12);
    assert_eq!(factors.solve(&given[1..]).unwrap_err().id(), "clinalg:argument:length");
    distance(one.displacements(), &u)
}

/// Products without stored matrices on both families, in both precisions, and the system on two devices.
#[test]
fn products_on_the_fly_and_shared_rows_give_the_solution_of_stored_matrices() {
    let quiet = &mut |_: usize, _: f64| ControlFlow::Continue(());
    for both in pairs() {
        let context = both[0].clone();
        let Case { problem, u, t, frequency, .. } = case(&context, 2, Domain::Exterior);
        let mesh = problem.mesh();
        let mut known = vec![[Known::Traction, Known::Displacement, Known::Traction]; mesh.len()];
        known[3] = [Known::Displacement; 3];
        let conditions = Conditions::new(known);
        let given: Vec<C64> = (0..u.len())
            .map(|k| if conditions.of(k / 3)[k % 3] == Known::Displacement { u[k] } else { t[k] })
            .collect();
        let want = problem.assemble(frequency).unwrap().system(&conditions).unwrap().factorise().unwrap();
        let want = want.solve(&given).unwrap();
        let params = || GmresParams::default().tolerance(1e-11);
        let (found, report) =
            problem.on_the_fly(frequency, &conditions).unwrap().gmres(&given, params(), quiet).unwrap();
        assert!(report.stop.is_success());
        let error = distance(found.tractions(), want.tractions());
        println!("on the fly, {:?}: {error:.1e}, {} iterations", context.family(), report.iterations);
        assert!(error < 1e-9);
        let shared =
            Shared::<Complex<f64>>::new(&both, mesh, problem.material(), Domain::Exterior, &Options::default())
                .unwrap();
        assert_eq!(shared.parts().iter().map(|part| part.rows()).collect::<Vec<_>>(), [0..12, 12..24]);
        // A matrix has the bits of one device.
        let whole = problem.assemble(frequency).unwrap();
        let joined = shared.assemble_by(Algorithm::Tiled, frequency).unwrap();
        let residual = joined.residual(&u, &t).unwrap();
        assert!((shared.residual(frequency, &u, &t).unwrap() - residual).abs() < 1e-12);
        assert!((whole.residual(&u, &t).unwrap() - residual).abs() < 1e-14);
        let joined = joined.join().unwrap();
        assert_eq!(joined.h().to_column_major().unwrap(), whole.h().to_column_major().unwrap());
        assert_eq!(joined.g().to_column_major().unwrap(), whole.g().to_column_major().unwrap());
        let stored = shared.assemble_by(Algorithm::Tiled, frequency).unwrap().system(&conditions).unwrap();
        let otf = shared.on_the_fly(frequency, &conditions).unwrap();
        let mut memory = Vec::new();
        for system in [stored, otf] {
            let (found, report) = system.gmres(&given, params(), quiet).unwrap();
            assert!(report.stop.is_success() && distance(found.displacements(), want.displacements()) < 1e-9);
            memory.extend(system.into_memory());
        }
        // The stored matrices of both devices serve again, those of one alone do not.
        assert_eq!(memory.len(), 2);
        let again = shared.assemble_in(Algorithm::Tiled, frequency, memory).unwrap();
        assert!((again.residual(&u, &t).unwrap() - residual).abs() < 1e-14);
        let mut memory = again.into_memory();
        memory.pop();
        let refused = shared.assemble_in(Algorithm::Tiled, frequency, memory).unwrap_err().to_string();
        assert!(refused.contains("that of 2 devices"), "{refused}");
        assert!(Shared::<Complex<f64>>::new(&[], mesh, damped(), Domain::Exterior, &Options::default()).is_err());
        let single =
            Problem::<Complex<f32>>::new(&context, mesh, problem.material(), Domain::Exterior, &Options::default());
        let single = single.unwrap();
        let (found, _) = single
            .on_the_fly(frequency, &conditions)
            .unwrap()
            .gmres(&given, GmresParams::default().tolerance(1e-5), quiet)
            .unwrap();
        assert!(distance(found.tractions(), want.tractions()) < 1e-4);
        // And by LU.
        let lu = single.assemble(frequency).unwrap().system(&conditions).unwrap().factorise().unwrap();
        assert!(distance(lu.solve(&given).unwrap().tractions(), want.tractions()) < 1e-4);
    }
}

#[test]
fn stresses_are_those_of_the_displacements_and_of_a_known_field() {
    for context in contexts() {
        let Case { problem, exact, u, frequency, .. } = case(&context, 4, Domain::Interior);
        let system =
            problem.assemble(frequency).unwrap().system(&Conditions::uniform(problem.mesh(), Known::Displacement));
        let solution = system.unwrap().factorise().unwrap().solve(&u).unwrap();
        let x = [0.15, 0.2, -0.3];
        let sigma = problem.stresses(&solution, &[x, [0.0, 0.0, 0.4]]).unwrap()[0];
        // sigma from central differences of fourth order.
        let h = 2e-3;
        let moved = |axis: usize, by: f64| {
            let mut y = x;
            y[axis] += by * h;
            y
        };
        let places: Vec<_> = (0..3).flat_map(|axis| [-2.0, -1.0, 1.0, 2.0].map(|by| moved(axis, by))).collect();
        let fields = problem.evaluate(&solution, &places).unwrap();
        let slope = |l: usize, m: usize| {
            let at = |k: usize| fields[4 * m + k][l];
            (at(0) - at(3) + (at(2) - at(1)) * 8.0) / (12.0 * h)
        };
        let (mu, nu) = (problem.material().complex_shear(), 0.3);
        let dilation = (slope(0, 0) + slope(1, 1) + slope(2, 2)) * mu * (2.0 * nu / (1.0 - 2.0 * nu));
        let mut worst = [0.0_f64; 2];
        let mut size = 0.0_f64;
        for m in 0..3 {
            let mut normal = [0.0; 3];
            normal[m] = 1.0;
            let known = exact.traction(x, normal);
            for l in 0..3 {
                let difference = mu * (slope(l, m) + slope(m, l)) + if l == m { dilation } else { C64::default() };
                worst[0] = worst[0].max((sigma[l][m] - difference).norm());
                worst[1] = worst[1].max((sigma[l][m] - known[l]).norm());
                size = size.max(known[l].norm());
            }
        }
        println!(
            "stresses {:?}: {:.1e} from differences, {:.3} from the known field",
            context.family(),
            worst[0] / size,
            worst[1] / size
        );
        assert!(worst[0] < 1e-8 * size && worst[1] < 0.1 * size, "{worst:?}, {size}");
        assert!(problem.stresses(&solution, &[[2.0, 0.0, 0.0]]).is_err());
    }
}

#[test]
fn rectangular_matrices_have_the_columns_of_enclosing_elements() {
    let Some(context) = own_context() else { return };
    let mesh = ElementMesh::half_space_disc(2, 1.0, 2.5).unwrap();
    let (m, n) = (mesh.boundary(), mesh.len());
    assert!((mesh.centres()[..m].iter().map(|c| c[2].abs()).fold(0.0, f64::max)) < 1e-15);
    let problem =
        |options: Options| Problem::<Complex<f64>>::new(&context, &mesh, damped(), Domain::Interior, &options).unwrap();
    let square = problem(Options::default()).assemble(1.1).unwrap();
    let wide = problem(Options::default().rectangular(true).rows(3..m)).assemble(1.1).unwrap();
    assert_eq!((wide.h().rows(), wide.h().cols()), (3 * (m - 3), 3 * n));
    // The matrices of another frequency in the same memory, with the same bits; not in matrices of another size.
    let whole = problem(Options::default());
    let factors = whole.assemble(0.4).unwrap().system(&Conditions::uniform(&mesh, Known::Traction)).unwrap();
    let factors = factors.factorise().unwrap();
    let live = context.memory().live_bytes;
    context.reset_peak();
    let reused = whole.assemble_in(Algorithm::Tiled, 1.1, factors).unwrap();
    // The tables of the new frequency are allocated, no matrix.
    let matrix = 16 * (reused.h().rows() * reused.h().cols()) as u64;
    let taken = context.memory().peak_bytes - live;
    assert!(reused.frequency() == 1.1 && taken < matrix / 2, "{taken} bytes for tables, {matrix} a matrix");
    for (got, want) in [(reused.h(), square.h()), (reused.g(), square.g())] {
        assert_eq!(got.to_column_major().unwrap(), want.to_column_major().unwrap());
    }
    let other = problem(Options::default().rows(3..m)).assemble(0.4).unwrap();
    let refused = whole.assemble_in(Algorithm::Tiled, 1.1, other).unwrap_err();
    assert!(refused.to_string().contains(&format!("{} x {}", 3 * m, 3 * m)), "{refused}");
    let system = reused.system(&Conditions::uniform(&mesh, Known::Traction)).unwrap();
    let apart = Context::new(&devices().unwrap()[0], &ContextOptions::default()).unwrap();
    let elsewhere = Problem::<Complex<f64>>::new(&apart, &mesh, damped(), Domain::Interior, &Options::default());
    assert_eq!(
        elsewhere.unwrap().assemble_in(Algorithm::Tiled, 1.1, system).unwrap_err().id(),
        "clinalg:argument:context"
    );
    let (all, some) = (square.h().to_column_major().unwrap(), wide.h().to_column_major().unwrap());
    for j in 0..3 * m {
        assert_eq!(some[j * 3 * (m - 3)..(j + 1) * 3 * (m - 3)], all[j * 3 * m + 9..(j + 1) * 3 * m], "column {j}");
    }
    // Rigid motions of the closed surface at frequency 0: rows add up to 0.
    let still = problem(Options::default().rectangular(true)).assemble(0.0).unwrap();
    let h = by_rows(still.h());
    for (i, row) in h.chunks(3 * n).enumerate() {
        let sum: C64 = row.iter().skip(i % 3).step_by(3).sum();
        assert!(sum.norm() < 1e-13, "row {i}: {sum}");
    }
    let refused = still.system(&Conditions::uniform(&mesh, Known::Traction)).unwrap_err();
    assert!(refused.to_string().contains("square H and G"), "{refused}");
    for rows in [2..2, 0..m + 1] {
        let options = Options::default().rows(rows);
        assert!(Problem::<Complex<f64>>::new(&context, &mesh, damped(), Domain::Interior, &options).is_err());
    }
    for (n, radius, extent) in [(0, 1.0, 2.0), (2, 0.0, 2.0), (2, 1.0, 1.0), (2, 1.0, f64::NAN)] {
        assert!(ElementMesh::half_space_disc(n, radius, extent).is_err());
    }
}

type Motion = fn([f64; 3]) -> [f64; 3];

/// The stiffnesses of a rigid disc of radius 1 on a half-space, with `n` x `n` elements under it: a vertical motion without friction, a horizontal motion
/// without vertical tractions, a torsion.
fn disc(context: &Context, material: Material, n: usize, frequency: f64) -> [C64; 3] {
    let mesh = ElementMesh::half_space_disc(n, 1.0, 5.0).unwrap();
    let problem =
        Problem::<Complex<f64>>::new(context, &mesh, material, Domain::Interior, &Options::default()).unwrap();
    let under = n * n;
    let solve = |known: [Known; 3], motions: &[Motion]| {
        let known = |j| if j < under { known } else { [Known::Traction; 3] };
        let conditions = Conditions::new((0..mesh.boundary()).map(known).collect());
        let given = |motion: &Motion| {
            let at = |j: usize| if j < under { motion(mesh.centres()[j]) } else { [0.0; 3] };
            (0..mesh.boundary()).flat_map(|j| at(j).map(C64::from)).collect::<Vec<_>>()
        };
        let sets: Vec<_> = motions.iter().map(given).collect();
        let factors = problem.assemble(frequency).unwrap().system(&conditions).unwrap().factorise().unwrap();
        let solutions = factors.solve_many(&sets.iter().map(|set| &set[..]).collect::<Vec<_>>()).unwrap();
        // The work of the tractions under the disc on the motion.
        let work = |(solution, motion): (&Solution, &Motion)| {
            (0..under)
                .map(|j| {
                    let (t, u) = (&solution.tractions()[3 * j..], motion(mesh.centres()[j]));
                    (t[0] * u[0] + t[1] * u[1] + t[2] * u[2]) * mesh.area(j)
                })
                .sum::<C64>()
        };
        solutions.iter().zip(motions).map(work).collect::<Vec<C64>>()
    };
    use Known::{Displacement, Traction};
    let vertical = solve([Traction, Traction, Displacement], &[|_| [0.0, 0.0, 1.0]]);
    let across = solve([Displacement, Displacement, Traction], &[|_| [1.0, 0.0, 0.0], |[x, y, _]| [-y, x, 0.0]]);
    [vertical[0], across[0], across[1]]
}

/// At rest 4 G a / (1 - nu) (Boussinesq), 8 G a / (2 - nu) (Mindlin) and 16 G a^3 / 3 (Reissner and Sagoci); over the frequency the Fredholm equation of a
/// disc without friction.
#[test]
fn a_rigid_disc_on_the_half_space_is_as_stiff_as_the_solutions_say() {
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    let nu = 1.0 / 3.0;
    let material = Material::new(1.0, nu, 1.0).unwrap();
    let still = [4.0 / (1.0 - nu), 8.0 / (2.0 - nu), 16.0 / 3.0];
    let moving = rigid_disc(material, 1.0, 1.0).unwrap();
    let errors = [3, 6].map(|n| {
        let found = disc(&context, material, n, 0.0);
        let [vertical, across, torsion] = [0, 1, 2].map(|k| (found[k].re / still[k] - 1.0).abs());
        [vertical, across, torsion, (disc(&context, material, n, 1.0)[0] - moving).norm() / moving.norm()]
    });
    println!("errors of the stiffness, vertical, horizontal, torsion, vertical at a0 = 1: {errors:.4?}");
    // Constant tractions do not follow the singularity at the rim, where torsion has its largest lever.
    for (k, limit) in [0.04, 0.05, 0.15, 0.09].into_iter().enumerate() {
        assert!(errors[1][k] < 0.5 * errors[0][k] && errors[1][k] < limit, "{errors:?}");
    }
}

#[test]
fn inconsistent_problems_are_errors() {
    let value = |error: clinalg::Error, words: &str| assert!(error.to_string().contains(words), "{error}");
    for (shear, poisson, density) in
        [(0.0, 0.3, 1.0), (1.0, 0.5, 1.0), (1.0, -1.0, 1.0), (1.0, 0.3, 0.0), (1.0, 0.3, -1.0), (f64::NAN, 0.3, 1.0)]
    {
        assert!(Material::new(shear, poisson, density).is_err());
    }
    assert!(damped().with_damping(-0.1).is_err());
    let cube = ElementMesh::cube(1, 2.0).unwrap();
    let (nodes, elements) = (cube.nodes().to_vec(), cube.elements().to_vec());
    let make = |elements: Vec<[u32; 4]>, boundary| ElementMesh::new(nodes.clone(), elements, boundary).unwrap_err();
    value(make(elements[..5].to_vec(), 5), "the surface is open at the edge between nodes");
    value(make(elements.clone(), 7), "1 to 6");
    let reversed = |e: &[u32; 4]| [e[3], e[2], e[1], e[0]];
    value(make(elements.iter().map(reversed).collect(), 6), "inward");
    let mut wrong = elements.clone();
    wrong[2] = reversed(&wrong[2]);
    value(make(wrong, 6), "the same way");
    let mut flat = elements.clone();
    flat[0][2] = flat[0][1];
    flat[0][3] = flat[0][1];
    value(make(flat, 6), "without area");
    let Some(context) = clinalg_testing::found(Context::global()) else { return };
    let problem = |rule| {
        Problem::<Complex<f64>>::new(
            &context,
            &cube,
            damped(),
            Domain::Interior,
            &Options::default().rule(Rule::Fixed(rule)),
        )
    };
    value(problem(3).unwrap_err(), "an even number");
    let problem = problem(8).unwrap();
    assert!(problem.assemble(-1.0).is_err() && problem.assemble(f64::INFINITY).is_err());
    // Edges of length 2, shear waves of length 2 pi sqrt(1.4 / 0.9) at w = 1.
    assert!((problem.elements_per_wavelength(1.0) - std::f64::consts::PI * (1.4_f64 / 0.9).sqrt()).abs() < 1e-12);
    // Matrices that do not fit: the first mesh whose H alone is larger than the largest allocation.
    let m = (context.device().max_alloc as f64 / (9.0 * 16.0)).sqrt();
    let n = (m / 6.0).sqrt().ceil() as usize + 1;
    if clinalg_testing::long() && n < 64 {
        let mesh = ElementMesh::cubed_sphere(n, 1.0).unwrap();
        let options = Options::default().rule(Rule::Fixed(2));
        let large = Problem::<Complex<f64>>::new(&context, &mesh, damped(), Domain::Interior, &options).unwrap();
        assert_eq!(large.assemble(1.0).unwrap_err().id(), "clinalg:device:memory");
    }
    let system = problem.assemble(1.0).unwrap().system(&Conditions::uniform(&cube, Known::Displacement)).unwrap();
    let solution = system.factorise().unwrap().solve(&[C64::default(); 18]).unwrap();
    for (point, words) in [([2.0, 0.0, 0.0], "in the material"), ([1.0, 0.3, 0.3], "away from the surface")] {
        value(problem.evaluate(&solution, &[point]).unwrap_err(), words);
    }
    let around = |frequency: f64, far: f64| {
        let problem =
            Problem::<Complex<f32>>::new(&context, &cube, damped(), Domain::Exterior, &Options::default()).unwrap();
        let solution = Solution::new(vec![C64::from(1.0); 18], vec![C64::default(); 18], frequency).unwrap();
        problem.evaluate(&solution, &[[0.0, far, 3.0]]).map(|u| u[0][1].norm())
    };
    // In single precision a distance of 1e4 is known to 6e-4, which blurs waves of the wave number 800.
    for (frequency, far) in [(1000.0, 1e4), (1.0, 1e30), (0.0, 1e200)] {
        value(around(frequency, far).unwrap_err(), "distances resolve the waves");
    }
    assert!(around(1.0, 1e4).unwrap() > 0.0);
    value(ElementMesh::new(Vec::new(), Vec::new(), 0).unwrap_err(), "at least one element");
}

/// H and G that are larger than the device's memory, or each of them than its largest allocation.
#[test]
fn matrices_that_do_not_fit_are_refused_before_anything_is_allocated() {
    let Some(context) = own_context() else { return };
    let info = context.device();
    // 4 * 9 numbers of 8 bytes for each pair of 6 n^2 elements.
    let bytes = |n: u64| 288 * (6 * n * n).pow(2);
    let first = |limit: u64, share: u64| (1..=1024).find(|&n| bytes(n) / share > limit);
    for (n, words) in [
        (first(info.global_mem, 1), format!("of its {} bytes are in use", info.global_mem)),
        (first(info.max_alloc, 2), format!("its largest single allocation is {} bytes", info.max_alloc)),
    ] {
        let Some(n) = n.filter(|&n| n <= 100 || clinalg_testing::long()) else {
            clinalg_testing::skip_part(format!("{}: a mesh whose matrices exceed its memory takes long", info.name));
            continue;
        };
        let mesh = ElementMesh::cubed_sphere(n as usize, 1.0).unwrap();
        let options = Options::default();
        let check = |mesh| Shared::<Complex<f64>>::check_memory(std::slice::from_ref(&context), mesh, &options);
        let refused = check(&mesh).unwrap_err();
        assert_eq!(refused.id(), "clinalg:device:memory");
        let text = refused.to_string();
        assert!(text.contains(&bytes(n).to_string()), "{text} without {}", bytes(n));
        assert!(
            text.contains("products on the fly") && (bytes(n) > info.global_mem || text.contains(&words)),
            "{text}"
        );
        assert_eq!(context.memory().peak_bytes, 0);
    }
    check_fitting(&context);
}

/// What fits is not refused, and rows of one element do for any mesh of these.
fn check_fitting(context: &Context) {
    let mesh = ElementMesh::cubed_sphere(8, 1.0).unwrap();
    for options in [Options::default(), Options::default().rows(5..6)] {
        Shared::<Complex<f64>>::check_memory(std::slice::from_ref(context), &mesh, &options).unwrap();
    }
    let rows = Options::default().rows(5..999);
    assert!(Shared::<Complex<f64>>::check_memory(std::slice::from_ref(context), &mesh, &rows).is_err());
}

#[test]
fn files_keep_their_quadrilaterals() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let cube = ElementMesh::cube(1, 2.0).unwrap();
    let number = |p: &[f64; 3]| format!("{} {} {}", p[0], p[1], p[2]);
    let nodes: Vec<String> = cube.nodes().iter().map(number).collect();
    // Five squares and two triangles.
    let [a, b, c, d] = cube.elements()[5];
    let faces: Vec<Vec<u32>> =
        cube.elements()[..5].iter().map(|e| e.to_vec()).chain([vec![a, b, c], vec![a, c, d]]).collect();
    let row = |face: &Vec<u32>, first: u32| face.iter().map(|v| (v + first).to_string()).collect::<Vec<_>>().join(" ");
    let mut off = format!("OFF\n8 7 0\n{}\n", nodes.join("\n"));
    let mut obj: String = nodes.iter().map(|p| format!("v {p}\n")).collect();
    let mut msh =
        String::from("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 8 1 8\n2 1 0 8\n1\n2\n3\n4\n5\n6\n7\n8\n");
    msh += &format!("{}\n$EndNodes\n$Elements\n2 7 1 7\n2 1 3 5\n", nodes.join("\n"));
    for (k, face) in faces.iter().enumerate() {
        off += &format!("{} {}\n", face.len(), row(face, 0));
        obj += &format!("f {}\n", row(face, 1));
        msh += if k == 5 { "2 1 2 2\n" } else { "" };
        msh += &format!("{} {}\n", k + 1, row(face, 1));
    }
    msh += "$EndElements\n";
    for (name, text) in [("cube.off", off), ("cube.obj", obj), ("cube.msh", msh)] {
        let path = write(name, &text);
        let mesh = ElementMesh::read(&path).unwrap();
        let triangles = (0..mesh.len()).filter(|&j| mesh.is_triangle(j)).count();
        assert_eq!((mesh.len(), mesh.boundary(), triangles), (7, 7, 2), "{name}");
        assert!((mesh.volume() - 8.0).abs() < 1e-14, "{name}");
        assert_eq!(clinalg_bem::Mesh::read(&path).unwrap().triangles().len(), 12, "{name}");
        let vtk = folder.path().join("u.vtu");
        mesh.write_vtk(&vtk, &[("u_re", &[[1.0, 2.0, 3.0]; 7])]).unwrap();
        let written = std::fs::read_to_string(&vtk).unwrap();
        assert_eq!(
            (written.lines().filter(|line| *line == "9").count(), written.matches("1e0 2e0 3e0").count()),
            (5, 7),
            "{name}"
        );
        assert!(mesh.write_vtk(&vtk, &[("u_re", &[[0.0; 3]; 6])]).is_err());
    }
    let sphere = ElementMesh::try_from(&clinalg_bem::Mesh::icosphere(1).unwrap()).unwrap();
    assert_eq!((sphere.len(), sphere.is_triangle(3)), (80, true));
}
