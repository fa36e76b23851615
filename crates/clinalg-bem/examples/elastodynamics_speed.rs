//! Times elastodynamic boundary elements: `elastodynamics_speed [--small] [--samples K] [--only NAME,...] [--devices LIST]`. Prints one JSON object
//! per line.
//!
//! `assembly`, `published`, `adaptive`: H and G (1600 x 4056 and 6400 x 14 406 elements, 8 x 8 Gauss points) assembled by tiles, by the published
//! algorithm with one work-group per pair, and with adaptive rules. Each assembly allocates its matrices and releases them. With the suffix `_kept`
//! the release is not timed; with `_again` the memory of the previous assembly is reused.
//! `rectangular`: with the columns of enclosing elements. `geometry`: the part shared by all frequencies, Gauss points and static parts.
//! `on_the_fly`: a product without stored matrices. `gmres`: complete solves. `system`: LU and solve with 1600 elements, 64 frequencies against one.
//! `devices`: rows shared among 1, 2, 4, ... devices of `LIST`, or of all devices of the same kind as the first. `accuracy`: both precisions against
//! a known field. `plain`: plain Rust loops on one thread and on all threads. `versus`: plain loops on all threads and the device in alternation, the
//! best time of each.
//!
//! Times are medians of the samples after a warm-up and include waiting for the device. `--small` runs each case with a few elements, as a smoke
//! test.
//!
//! An evaluation of (U, T) counts 282 operations in single and 346 in double precision, two for a multiply-add: 72 (136) for the
//! polynomials, 56 for distance, place in the table and factors, 154 for the sums. A block writes 36 numbers.

use std::ops::ControlFlow;
use std::time::Instant;

use clinalg::runtime::devices;
use clinalg::solve::{GmresParams, Operator as _};
use clinalg::team::Team;
use clinalg::{Complex, Context, ContextOptions, Device, Precision, Real, Result, Vector};
use clinalg_bem::ElementMesh;
use clinalg_bem::elastodynamics::exact::PointForce;
use clinalg_bem::elastodynamics::reference::Reference;
use clinalg_bem::elastodynamics::{
    Algorithm, C64, ComplexScalar, Conditions, Domain, Known, Material, Memory, Options, Problem, Rule, Shared, Waves,
};
use clinalg_bem::heat::multiply_add_rate;
use serde::Serialize;

const FREQUENCY: f64 = 2.0;

struct Plan {
    samples: usize,
    only: Option<Vec<String>>,
    devices: Option<String>,
    /// Rows, and elements along an edge of the cubed sphere that has the columns.
    assemblies: Vec<(usize, usize)>,
    /// Elements along an edge of the patch of a half-space whose system is solved.
    patch: usize,
    frequencies: usize,
    /// Elements along an edge for plain loops.
    plain: usize,
    /// Elements along an edge of the meshes for the accuracy test.
    refined: &'static [usize],
}

#[derive(Serialize, Default)]
struct Line {
    name: String,
    precision: Option<Precision>,
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
    iterations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Line {
    fn of<S: ComplexScalar>(name: &str, problem: &Problem<S>, seconds: f64) -> Line {
        let (rows, cols) = (problem.rows().len(), problem.cols());
        Line { name: name.into(), precision: Some(S::PRECISION), rows, cols, devices: 1, seconds, ..Line::default() }
    }

    fn print(&self) {
        println!("{}", serde_json::to_string(self).unwrap_or_default());
    }
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|k| words.get(k + 1));
    let samples = after("--samples").and_then(|word| word.parse::<usize>().ok()).filter(|&k| k > 0);
    let only = after("--only").map(|names| names.split(',').map(str::to_owned).collect());
    let small = words.iter().any(|word| word == "--small");
    let plan = Plan {
        samples: samples.unwrap_or(if small { 2 } else { 11 }),
        only,
        devices: after("--devices").cloned(),
        assemblies: if small { vec![(48, 3)] } else { vec![(1600, 26), (6400, 49)] },
        patch: if small { 4 } else { 40 },
        frequencies: if small { 3 } else { 64 },
        plain: if small { 2 } else { 8 },
        refined: if small { &[2, 3] } else { &[2, 4, 8, 12] },
    };
    let context = Context::global()?;
    let found = context.device();
    println!(
        "{}",
        serde_json::json!({ "device": found.name, "driver": found.driver, "kernel_family": context.family() })
    );
    plain(&plan)?;
    let double = context.require::<f64>().is_ok();
    if plan.wants("versus") {
        versus(&plan, &context, double)?;
    }
    precision::<Complex<f32>>(&plan, &context)?;
    if double {
        precision::<Complex<f64>>(&plan, &context)?;
        if plan.wants("accuracy") {
            plan.refined.iter().try_for_each(|&n| accuracy(&context, n))?;
        }
    }
    Ok(())
}

impl Plan {
    fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|word| word == name))
    }

    /// The median time of `f`, which waits for its devices.
    fn time(&self, mut f: impl FnMut() -> Result<()>) -> Result<f64> {
        self.time_kept(&mut f)
    }

    /// As [`Plan::time`], but the result of `f` is dropped outside the timed region.
    fn time_kept<T>(&self, mut f: impl FnMut() -> Result<T>) -> Result<f64> {
        drop(f()?);
        let mut times = Vec::with_capacity(self.samples);
        for _ in 0..self.samples {
            let start = Instant::now();
            let made = f()?;
            times.push(start.elapsed().as_secs_f64());
            drop(made);
        }
        Ok(median(times))
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn material() -> Result<Material> {
    Material::new(1.0, 0.3, 1.0)?.with_damping(0.01)
}

/// The time of plain Rust loops in double precision.
fn plain_seconds(reference: &Reference<'_>, threads: bool) -> Result<f64> {
    let start = Instant::now();
    reference.matrices(FREQUENCY, threads)?;
    Ok(start.elapsed().as_secs_f64())
}

fn plain_line(name: &str, mesh: &ElementMesh, seconds: f64) -> Line {
    let evaluations_per_second = Some(64.0 * (mesh.len() as f64).powi(2) / seconds);
    let (rows, cols, precision) = (mesh.len(), mesh.len(), Some(Precision::F64));
    Line { name: name.into(), precision, rows, cols, seconds, evaluations_per_second, ..Line::default() }
}

fn plain(plan: &Plan) -> Result<()> {
    if !plan.wants("plain") {
        return Ok(());
    }
    let mesh = ElementMesh::cubed_sphere(plan.plain, 1.0)?;
    let reference = Reference::new(&mesh, material()?, Domain::Interior, 8);
    for (name, threads) in [("plain_one_thread", false), ("plain_all_threads", true)] {
        plain_line(name, &mesh, plain_seconds(&reference, threads)?).print();
    }
    Ok(())
}

/// Runs plain loops on all threads and assembles the same matrices on the device, alternating between the two so that other load on the machine
/// affects both alike.
fn versus(plan: &Plan, context: &Context, double: bool) -> Result<()> {
    let mesh = ElementMesh::cubed_sphere(plan.plain, 1.0)?;
    let reference = Reference::new(&mesh, material()?, Domain::Interior, 8);
    let single = Problem::<Complex<f32>>::new(context, &mesh, material()?, Domain::Interior, &Options::default())?;
    let of_double = || Problem::<Complex<f64>>::new(context, &mesh, material()?, Domain::Interior, &Options::default());
    let exact = if double { Some(of_double()?) } else { None };
    // Warm-up: the kernels are built and the memory pages are mapped.
    device_seconds(&single)?;
    exact.as_ref().map(device_seconds).transpose()?;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..plan.samples {
        times[0].push(plain_seconds(&reference, true)?);
        times[1].push(device_seconds(&single)?);
        times[2].extend(exact.as_ref().map(device_seconds).transpose()?);
    }
    let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let loops = best(&times[0]);
    plain_line("versus_plain", &mesh, loops).print();
    let ratios = |of: &[f64]| {
        let middle = median(times[0].iter().zip(of).map(|(loops, own)| loops / own).collect());
        Some(format!(
            "{:.2} times as fast as plain loops on all threads; median of the turns {middle:.2}",
            loops / best(of)
        ))
    };
    let rate = |evaluations: f64, of: &[f64]| Some(evaluations / best(of));
    let (evaluations_per_second, note) = (rate(single.evaluations(), &times[1]), ratios(&times[1]));
    Line { evaluations_per_second, note, ..Line::of("versus_device", &single, best(&times[1])) }.print();
    if let Some(exact) = exact {
        let (evaluations_per_second, note) = (rate(exact.evaluations(), &times[2]), ratios(&times[2]));
        Line { evaluations_per_second, note, ..Line::of("versus_device", &exact, best(&times[2])) }.print();
    }
    Ok(())
}

fn device_seconds<S: ComplexScalar>(problem: &Problem<S>) -> Result<f64> {
    let start = Instant::now();
    problem.assemble(FREQUENCY)?;
    problem.context().finish()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Timing of assemblies in one precision.
struct Assemblies<'p> {
    plan: &'p Plan,
    context: &'p Context,
    fma_rate: f64,
}

impl Assemblies<'_> {
    fn line<S: ComplexScalar>(&self, name: &str, problem: &Problem<S>, seconds: f64) -> Line {
        let line = Line { bytes_written: Some(problem.matrix_bytes() as f64), ..Line::of(name, problem, seconds) };
        // Adaptive rules take fewer evaluations than this rate assumes.
        if !name.starts_with("assembly") && name != "published" {
            return line;
        }
        let rate = problem.evaluations() / seconds;
        let flops = rate * if S::PRECISION == Precision::F32 { 282.0 } else { 346.0 };
        let fraction_of_fma_rate = Some(flops / self.fma_rate);
        Line { evaluations_per_second: Some(rate), flops_per_second: Some(flops), fraction_of_fma_rate, ..line }
    }

    /// Times the assembly three ways: in new memory with its release, in new memory without it, and in the memory of the previous assembly.
    fn print<S: ComplexScalar>(&self, name: &str, problem: &Problem<S>, note: Option<String>) -> Result<()> {
        let fresh = || {
            let made = problem.assemble(FREQUENCY)?;
            self.context.finish()?;
            Ok(made)
        };
        let seconds = self.plan.time(|| fresh().map(drop))?;
        Line { note, ..self.line(name, problem, seconds) }.print();
        let seconds = self.plan.time_kept(fresh)?;
        self.line(&format!("{name}_kept"), problem, seconds).print();
        let mut memory = Some(Memory::from(problem.assemble(FREQUENCY)?));
        let seconds = self.plan.time(|| {
            let made = match memory.take() {
                Some(memory) => problem.assemble_in(Algorithm::Tiled, FREQUENCY, memory)?,
                None => problem.assemble(FREQUENCY)?,
            };
            memory = Some(made.into());
            self.context.finish()
        })?;
        self.line(&format!("{name}_again"), problem, seconds).print();
        Ok(())
    }
}

fn precision<S: ComplexScalar>(plan: &Plan, context: &Context) -> Result<()> {
    let names =
        ["geometry", "assembly", "published", "adaptive", "rectangular", "on_the_fly", "gmres", "devices", "system"];
    if !names.iter().any(|name| plan.wants(name)) {
        return Ok(());
    }
    let fma_rate = multiply_add_rate::<S::Real>(context)?;
    println!("{}", serde_json::json!({ "fma_rate": fma_rate, "precision": S::PRECISION }));
    let assemblies = Assemblies { plan, context, fma_rate };
    for (k, &(rows, n)) in plan.assemblies.iter().enumerate() {
        let mesh = ElementMesh::cubed_sphere(n, 1.0)?;
        square::<S>(&assemblies, &mesh, Options::default().rows(0..rows))?;
        if plan.wants("on_the_fly") {
            on_the_fly::<S>(plan, context, &mesh)?;
        }
        if plan.wants("gmres") {
            gmres::<S>(context, &mesh, k == 0)?;
        }
        if plan.wants("devices") {
            shared::<S>(plan, &mesh, rows)?;
        }
    }
    if plan.wants("rectangular") {
        let mesh = ElementMesh::half_space(plan.patch, 2.0, 2.0)?;
        for (name, rule) in [("rectangular", Rule::Fixed(8)), ("rectangular_adaptive", Rule::Adaptive)] {
            let options = Options::default().rectangular(true).rule(rule);
            let problem = Problem::<S>::new(context, &mesh, material()?, Domain::Interior, &options)?;
            assemblies.print(name, &problem, None)?;
        }
    }
    if plan.wants("system") {
        system::<S>(plan, context)?;
    }
    Ok(())
}

/// Set-up and assembly of a subset of the rows of a sphere.
fn square<S: ComplexScalar>(assemblies: &Assemblies<'_>, mesh: &ElementMesh, options: Options) -> Result<()> {
    let (plan, context) = (assemblies.plan, assemblies.context);
    let make = |options: Options| Problem::<S>::new(context, mesh, material()?, Domain::Interior, &options);
    let problem = make(options)?;
    if plan.wants("geometry") {
        for (name, rule) in [("geometry", Rule::Fixed(8)), ("geometry_adaptive", Rule::Adaptive)] {
            let seconds = plan.time(|| {
                make(options.rule(rule))?;
                context.finish()
            })?;
            Line::of(name, &problem, seconds).print();
        }
    }
    if plan.wants("assembly") {
        assemblies.print("assembly", &problem, None)?;
    }
    if plan.wants("published") {
        let seconds = plan.time(|| {
            problem.assemble_by(Algorithm::Pairwise, FREQUENCY)?;
            context.finish()
        })?;
        assemblies.line("published", &problem, seconds).print();
    }
    if plan.wants("adaptive") {
        let adaptive = make(options.rule(Rule::Adaptive))?;
        let [got, want] = [&adaptive, &problem].map(|p| p.assemble(FREQUENCY).and_then(|a| a.h().to_column_major()));
        let (got, want) = (got?, want?);
        let size = |v: &S| v.modulus().into_f64();
        let largest = want.iter().map(size).fold(0.0, f64::max);
        let worst = got.iter().zip(&want).map(|(a, b)| size(&(*a - *b))).fold(0.0, f64::max);
        drop((got, want));
        assemblies.print(
            "adaptive",
            &adaptive,
            Some(format!("H differs by {:.1e} of its largest entry", worst / largest)),
        )?;
    }
    Ok(())
}

/// A matrix-free product with the rows of all elements.
fn on_the_fly<S: ComplexScalar>(plan: &Plan, context: &Context, mesh: &ElementMesh) -> Result<()> {
    let all = Problem::<S>::new(context, mesh, material()?, Domain::Interior, &Options::default())?;
    let system = all.on_the_fly(FREQUENCY, &Conditions::uniform(mesh, Known::Displacement))?;
    let x = Vector::filled(context, system.cols(), S::one())?;
    let mut y = Vector::zeros(context, system.rows())?;
    let seconds = plan.time(|| {
        system.apply(S::one(), &x, S::zero(), &mut y)?;
        context.finish()
    })?;
    let evaluations_per_second = Some(all.evaluations() / seconds);
    Line { evaluations_per_second, ..Line::of("on_the_fly", &all, seconds) }.print();
    Ok(())
}

/// The displacements and tractions of a point force on the boundary of a cavity.
fn known_field<S: ComplexScalar>(problem: &Problem<S>) -> Result<[Vec<C64>; 2]> {
    let waves = Waves::new(problem.material(), FREQUENCY)?;
    let exact = PointForce { waves, source: [0.2, -0.1, 0.15], force: [1.0, 0.5, -0.3] };
    let centres = problem.mesh().centres();
    let u = centres.iter().flat_map(|&x| exact.displacement(x)).collect();
    Ok([u, centres.iter().zip(problem.normals()).flat_map(|(&x, &n)| exact.traction(x, n)).collect()])
}

/// |a - b| / |b|.
fn distance(a: &[C64], b: &[C64]) -> f64 {
    let squared = |values: &mut dyn Iterator<Item = C64>| values.map(|v| v.norm_sqr()).sum::<f64>();
    (squared(&mut a.iter().zip(b).map(|(a, b)| a - b)) / squared(&mut b.iter().copied())).sqrt()
}

/// Solves the exterior Neumann problem on the fly and, if `stored`, also with stored matrices, including their assembly. The second of two solves
/// counts.
fn gmres<S: ComplexScalar>(context: &Context, mesh: &ElementMesh, stored: bool) -> Result<()> {
    let problem = Problem::<S>::new(context, mesh, material()?, Domain::Exterior, &Options::default())?;
    let [u, t] = known_field(&problem)?;
    let conditions = Conditions::uniform(mesh, Known::Traction);
    let tolerance = if S::PRECISION == Precision::F32 { 1e-5 } else { 1e-8 };
    for (name, stored) in
        [("gmres_on_the_fly", false), ("gmres_stored", true)].into_iter().take(1 + usize::from(stored))
    {
        let mut line = Line::of(name, &problem, 0.0);
        for _ in 0..2 {
            let params = GmresParams::default().tolerance(tolerance).restart(200);
            let quiet = &mut |_: usize, _: f64| ControlFlow::Continue(());
            let start = Instant::now();
            let (found, report) = if stored {
                problem.assemble(FREQUENCY)?.system(&conditions)?.gmres(&t, params, quiet)?
            } else {
                problem.on_the_fly(FREQUENCY, &conditions)?.gmres(&t, params, quiet)?
            };
            line.seconds = start.elapsed().as_secs_f64();
            line.iterations = Some(report.iterations);
            let error = distance(found.displacements(), &u);
            line.note = Some(format!("{} to {tolerance:e}; error of u {error:.1e}", report.stop));
        }
        line.print();
    }
    Ok(())
}

/// The contexts of `--devices`, or of all devices of the same kind as the default one.
fn contexts(plan: &Plan) -> Result<Vec<Context>> {
    if let Some(list) = &plan.devices {
        return Ok(Team::select(list, &ContextOptions::default())?.contexts().to_vec());
    }
    let first = Device::default_device()?;
    let alike = |device: &Device| {
        let (own, wanted) = (device.info(), first.info());
        own.platform == wanted.platform && own.kind == wanted.kind
    };
    let alike = devices()?.into_iter().filter(alike);
    alike.map(|device| Context::new(&device, &ContextOptions::default())).collect()
}

/// Assembly with rows shared among 1, 2, 4, ... of the devices, in new memory and in that of the previous assembly.
fn shared<S: ComplexScalar>(plan: &Plan, mesh: &ElementMesh, rows: usize) -> Result<()> {
    let contexts = contexts(plan)?;
    let counts = std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|&count| count <= contexts.len());
    for count in counts {
        let contexts = &contexts[..count];
        let options = Options::default().rows(0..rows);
        let problem = Shared::<S>::new(contexts, mesh, material()?, Domain::Interior, &options)?;
        let finish = || contexts.iter().try_for_each(Context::finish);
        let evaluations: f64 = problem.parts().iter().map(Problem::evaluations).sum();
        let mut memory = Vec::new();
        for (name, reuses) in [("devices", false), ("devices_again", true)] {
            let seconds = plan.time(|| {
                let made = problem.assemble_in(Algorithm::Tiled, FREQUENCY, std::mem::take(&mut memory))?;
                finish()?;
                if reuses {
                    memory = made.into_memory();
                }
                Ok(())
            })?;
            let evaluations_per_second = Some(evaluations / seconds);
            let line = Line::of(name, &problem.parts()[0], seconds);
            Line { rows, devices: count, evaluations_per_second, ..line }.print();
        }
    }
    Ok(())
}

/// LU factors, solution, and a sweep.
fn system<S: ComplexScalar>(plan: &Plan, context: &Context) -> Result<()> {
    let mesh = ElementMesh::half_space(plan.patch, 2.0, 2.0)?;
    let conditions = Conditions::uniform(&mesh, Known::Traction);
    let given: Vec<C64> = (0..3 * mesh.boundary()).map(|k| C64::new(f64::from(k % 3 == 2), 0.0)).collect();
    let make = || Problem::<S>::new(context, &mesh, material()?, Domain::Interior, &Options::default());
    let problem = make()?;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..=plan.samples {
        let mut start = Instant::now();
        let mut lap = |k: usize| {
            context.finish()?;
            times[k].push(start.elapsed().as_secs_f64());
            start = Instant::now();
            Result::Ok(())
        };
        let system = problem.assemble(FREQUENCY)?.system(&conditions)?;
        lap(0)?;
        let factors = system.factorise()?;
        lap(1)?;
        factors.solve(&given)?;
        lap(2)?;
    }
    let n = 3.0 * mesh.boundary() as f64;
    let flops = [None, Some(8.0 / 3.0 * n * n * n), Some(8.0 * n * n)];
    for ((name, times), flops) in ["matrices", "lu", "solve"].into_iter().zip(times).zip(flops) {
        // The first one is the warm-up.
        let seconds = median(times[1..].to_vec());
        Line { flops_per_second: flops.map(|flops| flops / seconds), ..Line::of(name, &problem, seconds) }.print();
    }
    // One frequency at a time, each with its own set-up; then all of them together.
    let single = plan.time(|| solve_in(&make()?, FREQUENCY, (&conditions, &given), None).map(drop))?;
    Line::of("single", &problem, single).print();
    let start = Instant::now();
    let problem = make()?;
    let mut memory = None;
    for k in 0..plan.frequencies {
        let frequency = FREQUENCY * (k + 1) as f64 / plan.frequencies as f64;
        memory = Some(solve_in(&problem, frequency, (&conditions, &given), memory.take())?);
    }
    let seconds = start.elapsed().as_secs_f64();
    let ratio = plan.frequencies as f64 * single / seconds;
    let note = Some(format!("{} frequencies; {ratio:.2} times as fast as one by one", plan.frequencies));
    Line { note, ..Line::of("sweep", &problem, seconds) }.print();
    Ok(())
}

/// Assembles and solves at one frequency, in `memory` if given, otherwise in new memory.
fn solve_in<S: ComplexScalar>(
    problem: &Problem<S>,
    frequency: f64,
    (conditions, given): (&Conditions, &[C64]),
    memory: Option<Memory<S>>,
) -> Result<Memory<S>> {
    let assembly = match memory {
        Some(memory) => problem.assemble_in(Algorithm::Tiled, frequency, memory)?,
        None => problem.assemble(frequency)?,
    };
    let factors = assembly.system(conditions)?.factorise()?;
    factors.solve(given)?;
    Ok(factors.into())
}

/// The exterior Dirichlet problem of a point force on 6 n^2 elements, in both precisions.
fn accuracy(context: &Context, n: usize) -> Result<()> {
    let mesh = ElementMesh::cubed_sphere(n, 1.0)?;
    let ([double, want], residual) = tractions::<Complex<f64>>(context, &mesh)?;
    let ([single, _], _) = tractions::<Complex<f32>>(context, &mesh)?;
    let line = serde_json::json!({
        "accuracy": "exterior Dirichlet, point force", "elements": mesh.len(), "residual_identity": residual,
        "error_t_f64": distance(&double, &want), "error_t_f32": distance(&single, &want),
        "f32_from_f64": distance(&single, &double),
    });
    println!("{line}");
    Ok(())
}

/// The tractions found by LU together with the known ones, and the residual.
fn tractions<S: ComplexScalar>(context: &Context, mesh: &ElementMesh) -> Result<([Vec<C64>; 2], f64)> {
    let problem =
        Problem::<S>::new(context, mesh, Material::new(1.0, 0.3, 1.0)?, Domain::Exterior, &Options::default())?;
    let [u, t] = known_field(&problem)?;
    let assembly = problem.assemble(FREQUENCY)?;
    let residual = assembly.residual(&u, &t)?;
    let system = assembly.system(&Conditions::uniform(mesh, Known::Displacement))?;
    let found = system.factorise()?.solve(&u)?;
    Ok(([found.tractions().to_vec(), t], residual))
}
