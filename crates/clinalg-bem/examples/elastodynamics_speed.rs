//! Times elastodynamic boundary elements: `elastodynamics_speed [--small] [--samples K] [--only NAME,...]`, one JSON object a line.
//!
//! Assembly of H and G (1600 x 4056 and 6400 x 14 406 elements, 8 x 8 Gauss points) by tiles, by the published algorithm with a group per pair, and with
//! adaptive rules, in new memory and in that of the last assembly; LU and solution with 1600 elements; products on the fly; 64 frequencies against one; rows shared among all devices; plain Rust loops
//! on one and on all threads. Times are medians of the samples after a warm-up, waits for the device included; `geometry` is what all
//! frequencies share, Gauss points and static parts. `--small` takes a few elements of each, to see that it runs.
//!
//! An evaluation of (U, T) counts 282 operations in single and 346 in double precision, two for a multiply-add: 72 (136) for the
//! polynomials, 56 for distance, place in the table and factors, 154 for the sums. A block writes 36 numbers.

use std::time::Instant;

use clinalg::runtime::devices;
use clinalg::solve::Operator as _;
use clinalg::{Complex, Context, ContextOptions, Device, Precision, Real, Result, Vector};
use clinalg_bem::ElementMesh;
use clinalg_bem::elastodynamics::reference::Reference;
use clinalg_bem::elastodynamics::{
    Algorithm, C64, ComplexScalar, Conditions, Domain, Known, Material, Options, Problem, Rule, Shared,
};
use clinalg_bem::heat::multiply_add_rate;
use serde::Serialize;

const FREQUENCY: f64 = 2.0;

struct Plan {
    samples: usize,
    only: Option<Vec<String>>,
    /// Rows, and elements along an edge of the cubed sphere that has the columns.
    assemblies: Vec<(usize, usize)>,
    /// Elements along an edge of the patch of a half-space whose system is solved.
    patch: usize,
    frequencies: usize,
    /// Elements along an edge for plain loops.
    plain: usize,
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    precision: Precision,
    rows: usize,
    cols: usize,
    devices: usize,
    seconds: f64,
    /// Pairs of a collocation point and a Gauss point of the finest rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flops_per_second: Option<f64>,
    /// Of the multiply-add rate measured in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    fraction_of_fma_rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_written: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|k| words.get(k + 1));
    let samples = after("--samples").and_then(|word| word.parse().ok());
    let only = after("--only").map(|names| names.split(',').map(str::to_owned).collect());
    let plan = if words.iter().any(|word| word == "--small") {
        Plan { samples: samples.unwrap_or(2), only, assemblies: vec![(48, 3)], patch: 4, frequencies: 3, plain: 2 }
    } else {
        let assemblies = vec![(1600, 26), (6400, 49)];
        Plan { samples: samples.unwrap_or(11), only, assemblies, patch: 40, frequencies: 64, plain: 8 }
    };
    let context = Context::global()?;
    let found = context.device();
    println!(
        "{}",
        serde_json::json!({ "device": found.name, "driver": found.driver, "kernel_family": context.family() })
    );
    plain(&plan)?;
    precision::<Complex<f32>>(&plan, &context)?;
    if context.require::<f64>().is_ok() {
        precision::<Complex<f64>>(&plan, &context)?;
    }
    Ok(())
}

impl Plan {
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|word| word == name))
    }

    /// The median time of `f`, which waits for its devices.
    fn time(&self, mut f: impl FnMut() -> Result<()>) -> Result<f64> {
        f()?;
        let mut times = Vec::with_capacity(self.samples);
        for _ in 0..self.samples {
            let start = Instant::now();
            f()?;
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    }
}

fn print(line: &Line<'_>) {
    println!("{}", serde_json::to_string(line).unwrap_or_default());
}

fn material() -> Result<Material> {
    Material::new(1.0, 0.3, 1.0)?.with_damping(0.01)
}

/// Plain Rust loops in double precision.
fn plain(plan: &Plan) -> Result<()> {
    if !plan.wants("plain") {
        return Ok(());
    }
    let mesh = ElementMesh::cubed_sphere(plan.plain, 1.0)?;
    let reference = Reference::new(&mesh, material()?, Domain::Interior, 8);
    for (name, threads) in [("plain_one_thread", false), ("plain_all_threads", true)] {
        let start = Instant::now();
        reference.matrices(FREQUENCY, threads)?;
        let seconds = start.elapsed().as_secs_f64();
        let evaluations = 64.0 * (mesh.len() as f64).powi(2);
        print(&Line {
            name,
            precision: Precision::F64,
            rows: mesh.len(),
            cols: mesh.len(),
            devices: 0,
            seconds,
            evaluations_per_second: Some(evaluations / seconds),
            flops_per_second: None,
            fraction_of_fma_rate: None,
            bytes_written: None,
            note: None,
        });
    }
    Ok(())
}

fn precision<S: ComplexScalar>(plan: &Plan, context: &Context) -> Result<()> {
    let fma_rate = multiply_add_rate::<S::Real>(context)?;
    println!("{}", serde_json::json!({ "fma_rate": fma_rate, "precision": S::PRECISION }));
    let flops = if S::PRECISION == Precision::F32 { 282.0 } else { 346.0 };
    let line = |name, problem: &Problem<S>, seconds: f64| Line {
        name,
        precision: S::PRECISION,
        rows: problem.rows().len(),
        cols: problem.mesh().boundary(),
        devices: 1,
        seconds,
        evaluations_per_second: None,
        flops_per_second: None,
        fraction_of_fma_rate: None,
        bytes_written: None,
        note: None,
    };
    let assembly = |name, problem: &Problem<S>, seconds: f64| {
        let rate = problem.evaluations() / seconds;
        Line {
            evaluations_per_second: Some(rate),
            flops_per_second: Some(rate * flops),
            fraction_of_fma_rate: Some(rate * flops / fma_rate),
            bytes_written: Some(problem.matrix_bytes() as f64),
            ..line(name, problem, seconds)
        }
    };
    for &(rows, n) in &plan.assemblies {
        let mesh = ElementMesh::cubed_sphere(n, 1.0)?;
        let options = Options::default().rows(0..rows);
        let make = |options: Options| Problem::<S>::new(context, &mesh, material()?, Domain::Interior, &options);
        let problem = make(options)?;
        if plan.wants("geometry") {
            for (name, rule) in [("geometry", Rule::Fixed(8)), ("geometry_adaptive", Rule::Adaptive)] {
                let seconds = plan.time(|| {
                    make(options.rule(rule))?;
                    context.finish()
                })?;
                print(&line(name, &problem, seconds));
            }
        }
        let run = |problem: &Problem<S>, algorithm| {
            plan.time(|| {
                problem.assemble_by(algorithm, FREQUENCY)?;
                context.finish()
            })
        };
        // In the memory of the last assembly.
        let again = |problem: &Problem<S>| {
            let mut assembly = problem.assemble(FREQUENCY)?;
            plan.time(|| {
                problem.assemble_into(Algorithm::Tiled, FREQUENCY, &mut assembly)?;
                context.finish()
            })
        };
        for (name, algorithm) in [("assembly", Algorithm::Tiled), ("published", Algorithm::Pairwise)] {
            if plan.wants(name) {
                print(&assembly(name, &problem, run(&problem, algorithm)?));
            }
        }
        if plan.wants("assembly") {
            print(&assembly("assembly_again", &problem, again(&problem)?));
        }
        if plan.wants("adaptive") {
            let adaptive = make(options.rule(Rule::Adaptive))?;
            let seconds = run(&adaptive, Algorithm::Tiled)?;
            print(&line("adaptive_again", &adaptive, again(&adaptive)?));
            let [got, want] =
                [&adaptive, &problem].map(|p| p.assemble(FREQUENCY).and_then(|a| a.h().to_column_major()));
            let (got, want) = (got?, want?);
            let size = |v: &S| v.modulus().into_f64();
            let largest = want.iter().map(size).fold(0.0, f64::max);
            let worst = got.iter().zip(&want).map(|(a, b)| size(&(*a - *b))).fold(0.0, f64::max);
            let note = Some(format!("H differs by {:.1e} of its largest entry", worst / largest));
            print(&Line { note, ..line("adaptive", &adaptive, seconds) });
        }
        if plan.wants("on_the_fly") {
            // Square: the rows of all elements.
            let all = Problem::<S>::new(context, &mesh, material()?, Domain::Interior, &Options::default())?;
            let system = all.on_the_fly(FREQUENCY, &Conditions::uniform(&mesh, Known::Displacement))?;
            let x = Vector::filled(context, system.cols(), S::one())?;
            let mut y = Vector::zeros(context, system.rows())?;
            let seconds = plan.time(|| {
                system.apply(S::one(), &x, S::zero(), &mut y)?;
                context.finish()
            })?;
            let evaluations_per_second = Some(all.evaluations() / seconds);
            print(&Line { evaluations_per_second, ..line("on_the_fly", &all, seconds) });
        }
        if plan.wants("devices") {
            shared::<S>(plan, &mesh, rows)?;
        }
    }
    if plan.wants("system") {
        system::<S>(plan, context, &line)?;
    }
    Ok(())
}

/// Assembly with rows shared among 1, 2, 4, ... of the devices.
fn shared<S: ComplexScalar>(plan: &Plan, mesh: &ElementMesh, rows: usize) -> Result<()> {
    let first = Device::default_device()?;
    let alike = |device: &Device| {
        let (own, wanted) = (device.info(), first.info());
        own.platform == wanted.platform && own.kind == wanted.kind
    };
    let alike = devices()?.into_iter().filter(alike);
    let contexts = alike.map(|device| Context::new(&device, &ContextOptions::default())).collect::<Result<Vec<_>>>()?;
    let mut count = 1;
    while count <= contexts.len() {
        let options = Options::default().rows(0..rows);
        let problem = Shared::<S>::new(&contexts[..count], mesh, material()?, Domain::Interior, &options)?;
        let seconds = plan.time(|| {
            let assembly = problem.assemble_by(Algorithm::Tiled, FREQUENCY)?;
            contexts[..count].iter().try_for_each(Context::finish)?;
            drop(assembly);
            Ok(())
        })?;
        let evaluations: f64 = problem.parts().iter().map(Problem::evaluations).sum();
        print(&Line {
            name: "devices",
            precision: S::PRECISION,
            rows,
            cols: mesh.boundary(),
            devices: count,
            seconds,
            evaluations_per_second: Some(evaluations / seconds),
            flops_per_second: None,
            fraction_of_fma_rate: None,
            bytes_written: None,
            note: None,
        });
        count *= 2;
    }
    Ok(())
}

/// LU factors, solution, and a sweep.
fn system<'a, S: ComplexScalar>(
    plan: &Plan,
    context: &Context,
    line: &dyn Fn(&'a str, &Problem<S>, f64) -> Line<'a>,
) -> Result<()> {
    let mesh = ElementMesh::half_space(plan.patch, 2.0, 2.0)?;
    let conditions = Conditions::uniform(&mesh, Known::Traction);
    let given: Vec<C64> = (0..3 * mesh.boundary()).map(|k| C64::new(f64::from(k % 3 == 2), 0.0)).collect();
    let make = || Problem::<S>::new(context, &mesh, material()?, Domain::Interior, &Options::default());
    let problem = make()?;
    let (mut factor, mut solve) = (Vec::new(), Vec::new());
    for _ in 0..=plan.samples {
        let system = problem.assemble(FREQUENCY)?.system(&conditions)?;
        context.finish()?;
        let start = Instant::now();
        let factors = system.factorise()?;
        context.finish()?;
        factor.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        factors.solve(&given)?;
        solve.push(start.elapsed().as_secs_f64());
    }
    for (name, mut times) in [("lu", factor), ("solve", solve)] {
        // The first one is the warm-up.
        times.remove(0);
        times.sort_by(f64::total_cmp);
        let seconds = times[times.len() / 2];
        let n = 3.0 * mesh.boundary() as f64;
        let flops = if name == "lu" { 8.0 / 3.0 * n * n * n } else { 8.0 * n * n };
        print(&Line { flops_per_second: Some(flops / seconds), ..line(name, &problem, seconds) });
    }
    let one = |problem: &Problem<S>, frequency: f64| {
        problem.assemble(frequency)?.system(&conditions)?.factorise()?.solve(&given)?;
        Result::Ok(())
    };
    let single = plan.time(|| one(&make()?, FREQUENCY))?;
    let start = Instant::now();
    let problem = make()?;
    for k in 0..plan.frequencies {
        one(&problem, FREQUENCY * (k + 1) as f64 / plan.frequencies as f64)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let ratio = plan.frequencies as f64 * single / seconds;
    let note = Some(format!("{} frequencies; {ratio:.2} times as fast as one by one", plan.frequencies));
    print(&Line { note, ..line("sweep", &problem, seconds) });
    Ok(())
}
