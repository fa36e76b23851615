//! A rigid disc without friction on a half-space under a vertical harmonic force, and its compliance over the frequency:
//! `foundation [N] [EXTENT] [PICTURE.svg]`, N elements across the disc of radius 1, free surface out to EXTENT.
//!
//! The disc moves by 1; the tractions under it add up to the force F, the stiffness. The compliance is 1 / F. For comparison the solution of the
//! disc's Fredholm equation (`exact::rigid_disc`), at frequency 0 4 G a / (1 - nu) (Boussinesq); a0 = w a / c_S, nu = 1/3.

use std::fmt::Write as _;

use clinalg::{Complex, Context};
use clinalg_bem::ElementMesh;
use clinalg_bem::elastodynamics::exact::rigid_disc;
use clinalg_bem::elastodynamics::{Algorithm, C64, Conditions, Domain, Known, Material, Memory, Options, Problem};

const LAST: f64 = 2.0;
const STEPS: usize = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let n: usize = words.first().and_then(|w| w.parse().ok()).unwrap_or(6);
    let extent: f64 = words.get(1).and_then(|w| w.parse().ok()).unwrap_or(5.0);
    let nu = 1.0 / 3.0;
    let context = Context::global()?;
    let mesh = ElementMesh::half_space_disc(n, 1.0, extent)?;
    let material = Material::new(1.0, nu, 1.0)?;
    let problem = Problem::<Complex<f64>>::new(&context, &mesh, material, Domain::Interior, &Options::default())?;
    println!("{}: {} elements, {} under the disc", context.device().name, mesh.boundary(), n * n);
    let is_under = |j: usize| j < n * n;
    let known = |j| [Known::Traction, Known::Traction, if is_under(j) { Known::Displacement } else { Known::Traction }];
    let conditions = Conditions::new((0..mesh.boundary()).map(known).collect());
    let given: Vec<C64> = (0..mesh.boundary())
        .flat_map(|j| [C64::default(), C64::default(), C64::new(if is_under(j) { -1.0 } else { 0.0 }, 0.0)])
        .collect();
    let mut curves = [Vec::new(), Vec::new()];
    // All frequencies reuse the same memory for H and G.
    let mut memory = None;
    println!("{:>6} {:>22} {:>22} {:>6}", "a0", "G a / F", "exact", "error");
    for k in 0..=STEPS {
        // Without damping c_S = 1: a0 is the frequency.
        let a0 = LAST * k as f64 / STEPS as f64;
        let assembly = match memory.take() {
            Some(memory) => problem.assemble_in(Algorithm::Tiled, a0, memory)?,
            None => problem.assemble(a0)?,
        };
        let factors = assembly.system(&conditions)?.factorise()?;
        let solution = factors.solve(&given)?;
        memory = Some(Memory::from(factors));
        let force: C64 = -(0..n * n).map(|j| solution.tractions()[3 * j + 2] * mesh.area(j)).sum::<C64>();
        let (compliance, exact) = (force.inv(), rigid_disc(material, a0, 1.0)?.inv());
        let error = (compliance - exact).norm() / exact.norm();
        println!("{a0:6.2} {compliance:>22.4} {exact:>22.4} {error:6.3}");
        curves[0].push((a0, compliance.norm()));
        curves[1].push((a0, exact.norm()));
    }
    if let Some(path) = words.get(2) {
        std::fs::write(path, picture(&curves))?;
    }
    Ok(())
}

/// |G a / F| over a0, the second curve dashed.
fn picture(curves: &[Vec<(f64, f64)>; 2]) -> String {
    let high = curves.iter().flatten().map(|p| p.1).fold(0.0, f64::max);
    let mut text =
        String::from("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 420 300\" font-size=\"12\">\n");
    text += "<path d=\"M50 20V250H400\" fill=\"none\" stroke=\"black\"/>\n";
    for (curve, dash) in curves.iter().zip(["none", "6 4"]) {
        let points: Vec<String> = curve
            .iter()
            .map(|(x, y)| format!("{:.1},{:.1}", 50.0 + 340.0 * x / LAST, 250.0 - 220.0 * y / high))
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"navy\" stroke-dasharray=\"{dash}\"/>",
            points.join(" ")
        );
    }
    let _ = writeln!(text, "<text x=\"55\" y=\"16\">|G a / F|, at most {high:.3}; dashed: exact</text>");
    text + "<text x=\"220\" y=\"280\">a0 = w a / c_S, 0 to 2</text>\n</svg>\n"
}
