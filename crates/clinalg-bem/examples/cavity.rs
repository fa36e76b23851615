//! A spherical cavity under pressure, on finer and finer meshes, against its closed form:
//! `cavity [FREQUENCY] [FINEST] [reference]`, the last with plain Rust loops on all threads for comparison.
//!
//! Times are those of one assembly after one that is not counted; evaluations are pairs of a collocation point and a Gauss point.

use std::time::Instant;

use clinalg::{Complex, Context};
use clinalg_bem::ElementMesh;
use clinalg_bem::elastodynamics::exact::PressurisedCavity;
use clinalg_bem::elastodynamics::reference::Reference;
use clinalg_bem::elastodynamics::{Algorithm, C64, Conditions, Domain, Known, Material, Options, Problem, Rule};

fn main() -> clinalg::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let frequency: f64 = words.first().and_then(|w| w.parse().ok()).unwrap_or(1.5);
    let finest: usize = words.get(1).and_then(|w| w.parse().ok()).unwrap_or(8);
    let context = Context::global()?;
    let material = Material::new(1.0, 0.25, 1.0)?;
    let exact = PressurisedCavity::new(material, frequency, 1.0, 1.0)?;
    println!("{}: cavity of radius 1, pressure 1, w = {frequency}", context.device().name);
    for n in (2..).step_by(2).take_while(|&n| n <= finest) {
        let mesh = ElementMesh::cubed_sphere(n, 1.0)?;
        let problem = Problem::<Complex<f64>>::new(&context, &mesh, material, Domain::Exterior, &Options::default())?;
        // The material's normals point into the cavity.
        let pressure: Vec<C64> = problem.normals().iter().flat_map(|n| n.map(|v| C64::new(-v, 0.0))).collect();
        let want: Vec<C64> = problem.normals().iter().flat_map(|n| n.map(|v| exact.radial(1.0) * -v)).collect();
        let seconds = time(&problem, Algorithm::Tiled, frequency)?;
        let system = problem.assemble(frequency)?.system(&Conditions::uniform(&mesh, Known::Traction))?;
        let solution = system.factorise()?.solve(&pressure)?;
        let norm = |values: &mut dyn Iterator<Item = C64>| values.map(|v| v.norm_sqr()).sum::<f64>().sqrt();
        let error = norm(&mut solution.displacements().iter().zip(&want).map(|(a, b)| a - b));
        let error = error / norm(&mut want.iter().copied());
        let rate = problem.evaluations() / seconds;
        println!("{:5} elements: error of u {error:.4}, H and G {seconds:.4} s, {rate:.2e} evaluations/s", mesh.len());
        if words.get(2).is_some_and(|word| word == "reference") {
            let options = Options::default().rule(Rule::Adaptive);
            let adaptive = Problem::<Complex<f64>>::new(&context, &mesh, material, Domain::Exterior, &options)?;
            let single =
                Problem::<Complex<f32>>::new(&context, &mesh, material, Domain::Exterior, &Options::default())?;
            let others = [
                ("a group per pair", time(&problem, Algorithm::Pairwise, frequency)?),
                ("adaptive rules", time(&adaptive, Algorithm::Tiled, frequency)?),
                ("single precision", time(&single, Algorithm::Tiled, frequency)?),
                ("plain Rust loops", {
                    let reference = Reference::new(&mesh, material, Domain::Exterior, 8);
                    let start = Instant::now();
                    reference.matrices(frequency, true)?;
                    start.elapsed().as_secs_f64()
                }),
            ];
            for (name, other) in others {
                println!("      {name}: {other:.4} s, {:.2} times", other / seconds);
            }
        }
    }
    Ok(())
}

/// Seconds of an assembly.
fn time<S>(problem: &Problem<S>, algorithm: Algorithm, frequency: f64) -> clinalg::Result<f64>
where
    S: clinalg_bem::elastodynamics::ComplexScalar,
{
    problem.assemble_by(algorithm, frequency)?;
    problem.context().finish()?;
    let start = Instant::now();
    problem.assemble_by(algorithm, frequency)?;
    problem.context().finish()?;
    Ok(start.elapsed().as_secs_f64())
}
