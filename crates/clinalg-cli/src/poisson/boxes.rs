//! `clinalg poisson --points`: boxes of any size.

use std::f64::consts::PI;
use std::time::Instant;

use clinalg::multigrid::{
    Backend, Centring, Condition, Cycle, End, Grid, Poisson, PoissonParams, Separable, SideValues,
};
use clinalg::solve::Stop;
use clinalg::{KernelFamily, Real, Vector, ops};
use schemars::JsonSchema;
use serde::Serialize;

use super::problem::{Faces, error_on, random_on, values_on};
use super::report::{Residuals, draw};
use super::tensor::Entries;
use super::{Args, Arithmetic, MOST_FLOOR, RightSide, resumed, save};
use crate::Global;
use crate::args::DeviceName;
use crate::args::boxes::{self, ENDS, Each, Sides};
use crate::checkpoint;
use crate::data::{Given, Lattice, Target, Values};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::output::{Output, bytes, seconds};
use crate::place::{Place, check_memory, device_words};
use crate::plot::{Field, Picture};
use crate::progress::Progress;

/// `x0=neumann,x1=robin:0.5,y=periodic`.
pub(super) fn sides(text: &str) -> Result<Sides<Condition>, String> {
    Sides::parse(text, "dirichlet, neumann, robin:ALPHA or periodic", |word| match word.split_once(':') {
        None => match word {
            "dirichlet" => Some(Condition::Dirichlet),
            "neumann" => Some(Condition::Neumann),
            "periodic" => Some(Condition::Periodic),
            _ => None,
        },
        Some(("robin", alpha)) => Some(Condition::Robin { alpha: alpha.parse().ok()? }),
        Some(_) => None,
    })
}

/// The report.
#[derive(Serialize, JsonSchema)]
pub(super) struct Document {
    points: Vec<usize>,
    size: Vec<f64>,
    sides: Vec<String>,
    cells: bool,
    diffusion: Vec<f64>,
    mixed: Vec<f64>,
    tensor: Vec<String>,
    order: usize,
    coefficient: Option<String>,
    shift: f64,
    rhs: Option<RightSide>,
    f: Option<String>,
    boundary: Option<String>,
    seed: Option<u64>,
    #[schemars(with = "String")]
    cycle: Cycle,
    pre: usize,
    post: usize,
    precision: Arithmetic,
    tolerance: f64,
    device: Option<DeviceName>,
    #[schemars(with = "Option<String>")]
    kernel_family: Option<KernelFamily>,
    levels: usize,
    cycles: usize,
    #[schemars(with = "String")]
    stop: Stop,
    converged: bool,
    residual_history: Vec<f64>,
    relative_residual: f64,
    convergence_factor: Option<f64>,
    rounding_floor: f64,
    imbalance: Option<f64>,
    error_max: Option<f64>,
    seconds_setup: f64,
    seconds_solve: f64,
    peak_device_bytes: u64,
    out: Option<String>,
    checkpoint: Option<String>,
    pictures: Vec<String>,
}

/// The grid that the options describe, and its lengths.
fn grid(args: &Args, points: &[usize]) -> Result<(Grid, Vec<f64>), Failure> {
    let dim = points.len();
    let size = args.size.as_ref().map_or(vec![1.0; dim], |size| size.0.clone());
    boxes::check_count("--size", args.size.as_ref(), dim)?;
    boxes::check_count("--diffusion", args.diffusion.as_ref(), dim)?;
    let centring = if args.cells { Centring::Cell } else { Centring::Vertex };
    let mut grid = Grid::new(points).size(&size).centring(centring);
    if let Some(sides) = &args.sides {
        let mut conditions = Vec::new();
        sides.apply(dim, |axis, end, condition| conditions.push((axis, end, condition)))?;
        grid = conditions.into_iter().fold(grid, |grid, (axis, end, condition)| grid.side(axis, end, condition));
    }
    grid.check()?;
    Ok((grid, size))
}

fn condition_words(condition: Condition) -> String {
    match condition {
        Condition::Neumann => "neumann".into(),
        Condition::Robin { alpha } => format!("robin:{alpha}"),
        Condition::Periodic => "periodic".into(),
        _ => "dirichlet".into(),
    }
}

pub(super) fn run(args: &Args, points: &Each<usize>, global: &Global, out: &mut Output) -> Result<Exit, Failure> {
    let (grid, size) = grid(args, &points.0)?;
    match args.precision {
        Arithmetic::F32 => solve::<f32>(args, &grid, size, global, out),
        Arithmetic::F64 => solve::<f64>(args, &grid, size, global, out),
        Arithmetic::Mixed => Err(Failure::usage("--precision mixed is for squares and cubes: use f64 with --points")),
    }
}

/// The problem without `--f`: u is a product of a sine or a cosine per direction, which meets the conditions on the sides with
/// g = 0, and f the multiple of it that the operator makes.
struct Sine {
    /// By direction: whether it is a sine, and pi / L times 1/2, 1 or 2.
    factors: Vec<(bool, f64)>,
    eigenvalue: f64,
}

impl Sine {
    fn new(grid: &Grid, size: &[f64], diffusion: &[f64], shift: f64) -> Result<Sine, Failure> {
        let factor = |axis: usize| {
            use Condition::{Dirichlet, Neumann, Periodic};
            let (sine, halves) = match ENDS.map(|end| grid.condition(axis, end)) {
                [Dirichlet, Dirichlet] => (true, 2.0),
                [Dirichlet, Neumann] => (true, 1.0),
                [Neumann, Dirichlet] => (false, 1.0),
                [Neumann, Neumann] => (false, 2.0),
                [Periodic, Periodic] => (true, 4.0),
                _ => {
                    return Err(Failure::usage(
                        "--points with a robin side needs --f or --rhs random: the default, --rhs sine, has no closed form there",
                    ));
                }
            };
            Ok((sine, 0.5 * halves * PI / size[axis]))
        };
        let factors = (0..grid.dim()).map(factor).collect::<Result<Vec<_>, _>>()?;
        let eigenvalue = factors.iter().zip(diffusion).map(|((_, k), d)| d * k * k).sum::<f64>() + shift;
        Ok(Sine { factors, eigenvalue })
    }

    /// `scale` times u at all points.
    fn values(&self, grid: &Grid, scale: f64) -> Result<Separable, Failure> {
        let mut factors = Vec::new();
        for (axis, &(sine, k)) in self.factors.iter().enumerate() {
            let along = grid.coordinates(axis)?.into_iter().map(|x| if sine { (k * x).sin() } else { (k * x).cos() });
            factors.push(along.collect::<Vec<_>>());
        }
        Ok(Separable::new(scale, &factors.iter().map(|along| &along[..]).collect::<Vec<_>>())?)
    }
}

/// The values of the sides from a formula.
fn side_values<T: Real>(grid: &Grid, boundary: Option<&Given>) -> Result<SideValues<T>, Failure> {
    let Some(given) = boundary else { return Ok(SideValues::new(grid)) };
    let mut failure = None;
    let values = SideValues::from_fn(grid, |_, _, at| match given.at(&at[..grid.dim()]) {
        Some(Ok(value)) => T::from_f64(value),
        Some(Err(error)) => {
            failure.get_or_insert(error);
            T::zero()
        }
        None => {
            failure.get_or_insert_with(|| Failure::usage("--boundary is a file; with --points it must be a formula"));
            T::zero()
        }
    })?;
    failure.map_or(Ok(values), Err)
}

fn solve<T: Real>(
    args: &Args,
    grid: &Grid,
    size: Vec<f64>,
    global: &Global,
    out: &mut Output,
) -> Result<Exit, Failure> {
    out.phase("options and files");
    let target = args.out.as_deref().map(|path| Target::new("--out", path)).transpose()?;
    let given =
        |option, text: &Option<String>| text.as_deref().map(|text| Given::new(option, text, grid.dim())).transpose();
    let (f, boundary) = (given("--f", &args.f)?, given("--boundary", &args.boundary)?);
    let coefficient = given("--coefficient", &args.coefficient)?;
    let picture = args.plot.as_deref().map(Picture::new).transpose()?;
    let keep = checkpoint::Target::new(args.checkpoint.as_deref(), "poisson")?;
    let loaded = args.resume.as_deref().map(checkpoint::Loaded::new).transpose()?;
    let params = args.params();
    out.phase("device");
    let place = Place::new(global, params.backend)?;
    let (Place::Device(context), Backend::Kernels) = (&place, params.backend) else {
        return Err(Failure::usage(
            "--points runs on one device with --backend kernels; leave out --devices and any other --backend",
        ));
    };
    let names: Vec<String> = grid.points().iter().map(usize::to_string).collect();
    let one = grid.len() as f64 * size_of::<T>() as f64;
    // u and f at the points and of the unknowns.
    check_memory(context, &names.join(" x "), one, 4.0 * one)?;
    let centring = if args.cells { Centring::Cell } else { Centring::Vertex };
    let lattice = Lattice::of_box(grid, &size, centring);
    let mut diffusion = [1.0; 3];
    args.diffusion.iter().flat_map(|d| &d.0).zip(&mut diffusion).for_each(|(given, d)| *d = *given);
    let mixed = mixed_entries(args, grid.dim())?;
    let rhs = f.is_none().then_some(args.rhs);
    let tensor = args.tensor.entries::<T>(&lattice)?;
    let varies = coefficient.is_some() || tensor.is_some() || mixed != [0.0; 3];
    if rhs == Some(RightSide::Sine) && varies {
        let words = "--coefficient, --mixed and --dxx to --dyz with --points need --f or --rhs random: the solution of the default, --rhs sine, is for constant, diagonal D only";
        return Err(Failure::usage(words));
    }
    let sine = match rhs {
        Some(RightSide::Sine) => Some(Sine::new(grid, &size, &diffusion, args.shift)?),
        _ => None,
    };
    let params = PoissonParams { diffusion, mixed_derivatives: mixed, order: args.order, ..params };
    interrupt::watch();
    let progress = Progress::new(out, "cycle", params.tolerance);
    progress.stage("setting up");
    out.phase("set-up");
    let start = Instant::now();
    let faces = coefficient.as_ref().map(|given| Faces::<T>::new(given, &lattice)).transpose()?;
    let mut solver = match (&faces, &tensor) {
        (None, Some(tensor)) => Poisson::with_tensor(context, grid, &params, tensor.borrowed())?,
        (Some(faces), _) => Poisson::with_coefficient(context, grid, &params, faces.borrowed())?,
        (None, None) => Poisson::<T>::new(context, grid, &params)?,
    };
    let source: Vector<T> = match (&f, &sine) {
        (Some(given), _) => {
            let wanted = |k| args.order == 4 || !held(grid, centring, k);
            Vector::from_slice(context, &given.at_points(&lattice, wanted)?)?
        }
        (None, Some(sine)) => values_on(&place, context, grid.len(), &sine.values(grid, sine.eigenvalue)?)?,
        (None, None) => random_on(&place, context, grid.len(), args.seed)?,
    };
    solver.set_sides(&side_values::<T>(grid, boundary.as_ref())?)?;
    let mut u = Vector::zeros(context, grid.len())?;
    let names = (0..grid.dim()).flat_map(|axis| ENDS.map(|end| (axis, end)));
    let side_names: Vec<String> = names
        .map(|(axis, end)| format!("{}={}", boxes::side_name(axis, end), condition_words(grid.condition(axis, end))))
        .collect();
    let fingerprint = |f: &[T]| {
        let options = args.method_options().option("--points", grid.points()).option("--size", &size);
        let options = options.option("--cells", args.cells).option("--sides", &side_names);
        let options = options.option("--diffusion", diffusion).option("--mixed", mixed).option("--order", args.order);
        let boundary = boundary.as_ref().map(Given::text);
        let options = options.option("--boundary", boundary).values("--f", Some(f));
        let options = options.values("--coefficient", faces.as_ref().map(Faces::values));
        let names = ["--dxx", "--dyy", "--dzz", "--dxy", "--dxz", "--dyz"];
        let entries = tensor.iter().flat_map(Entries::each).zip(names);
        entries.fold(options, |options, (values, name)| options.values(name, Some(values)))
    };
    if let Some(loaded) = &loaded {
        loaded.check(&fingerprint(&source.to_vec()?))?;
        let (values, memory) = resumed::<T>(loaded, grid.len())?;
        solver.resume(&memory)?;
        u.write(&values)?;
    }
    context.finish()?;
    let setup = start.elapsed();
    out.phase("solve");
    let start = Instant::now();
    let report = solver.solve_device_with(&source, &mut u, &mut |cycle, residual| {
        progress.step(cycle, residual);
        interrupt::go_on()
    })?;
    context.finish()?;
    let solve = start.elapsed();
    drop(progress);
    out.phase("output");
    if grid.dim() == 3
        && matches!(report.stop, Stop::Stagnated | Stop::Diverged)
        && (faces.is_some() || tensor.is_some())
    {
        log::warn!(
            target: "clinalg",
            "the cycles do not reach the tolerance: in three dimensions they may not where coefficients that differ by more than about 1e3 meet along edges, \
             as in a checkerboard; take smaller jumps, a larger --tol, or assemble the matrix and solve it by `clinalg solve --precond amg`"
        );
    }
    let shown = if target.is_some() || picture.is_some() { Some(u.to_vec()?) } else { None };
    if let (Some(target), Some(u)) = (&target, &shown) {
        target.write(&lattice, "u", &Values::of(u))?;
    }
    let written = keep.due(report.stop == Stop::Cancelled);
    if let Some(path) = &written {
        save(path, fingerprint(&source.to_vec()?), &u.to_vec()?, solver.memory(&report.history)?)?;
    }
    let exact = sine.as_ref().filter(|_| boundary.is_none()).map(|sine| sine.values(grid, 1.0)).transpose()?;
    let mut document = Document {
        points: grid.points().to_vec(),
        size,
        sides: side_names,
        cells: args.cells,
        diffusion: diffusion[..grid.dim()].to_vec(),
        mixed: mixed[..if grid.dim() == 3 { 3 } else { 1 }].to_vec(),
        tensor: args.tensor.words(),
        order: args.order,
        coefficient: coefficient.map(|given| given.text().to_owned()),
        shift: args.shift,
        rhs,
        seed: (rhs == Some(RightSide::Random)).then_some(args.seed),
        f: f.map(|given| given.text().to_owned()),
        error_max: exact.map(|exact| error_on(&place, &exact, &u)).transpose()?,
        boundary: boundary.map(|given| given.text().to_owned()),
        cycle: params.cycle,
        pre: args.pre,
        post: args.post,
        precision: args.precision,
        tolerance: params.tolerance,
        device: place.device(),
        kernel_family: place.family(),
        levels: report.levels,
        cycles: report.cycles,
        stop: report.stop,
        converged: report.stop.is_success(),
        residual_history: report.history,
        relative_residual: report.relative_residual,
        convergence_factor: report.convergence_factor,
        rounding_floor: report.rounding_floor,
        imbalance: report.imbalance,
        seconds_setup: setup.as_secs_f64(),
        seconds_solve: solve.as_secs_f64(),
        peak_device_bytes: place.peak_bytes_of_all()?,
        out: target.as_ref().map(|target| target.path().display().to_string()),
        checkpoint: written.map(|path| path.display().to_string()),
        pictures: Vec::new(),
    };
    if let (Some(picture), Some(u)) = (picture, &shown) {
        document.draw(&picture, &lattice, u)?;
    }
    document.print(&place.devices_of_all(global)?, out)?;
    let level = |points: &[usize; 3]| points[..grid.dim()].iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
    out.detail("levels", solver.levels().iter().map(level).collect::<Vec<_>>().join(", "))?;
    out.norms(|| Ok([("f", ops::norm2(&source)?.into_f64()), ("u", ops::norm2(&u)?.into_f64())]))?;
    out.details(std::slice::from_ref(context))?;
    out.json(&document)?;
    Ok(match document.stop {
        Stop::Converged => Exit::Done,
        Stop::RoundingFloor if document.rounding_floor < MOST_FLOOR => Exit::Done,
        Stop::IterationLimit if params.cycle == Cycle::Full && params.max_cycles == 1 => Exit::Done,
        _ => Exit::NotReached,
    })
}

/// Whether point `k` lies on a side where u is given at the points.
fn held(grid: &Grid, centring: Centring, k: usize) -> bool {
    let mut rest = k;
    let on_side = grid.points().iter().enumerate().any(|(axis, &n)| {
        let i = rest % n;
        rest /= n;
        let is = |end| grid.condition(axis, end) == Condition::Dirichlet;
        (i == 0 && is(End::Low)) || (i == n - 1 && is(End::High))
    });
    centring == Centring::Vertex && on_side
}

impl Document {
    fn print(&self, devices: &[DeviceName], out: &mut Output) -> Result<(), Failure> {
        let by = |words: Vec<String>| words.join(" x ");
        let points = by(self.points.iter().map(usize::to_string).collect());
        let size = by(self.size.iter().map(f64::to_string).collect());
        let places = if self.cells { "cells" } else { "points" };
        let operator = self.operator();
        let shift = if self.shift == 0.0 { String::new() } else { format!(" + {} u", self.shift) };
        let precision = if self.precision == Arithmetic::F32 { "f32" } else { "f64" };
        out.line(format!("Poisson problem {operator}{shift} = f, {points} {places} on {size}, {precision}"))?;
        out.line("")?;
        out.field("device", device_words(devices, self.kernel_family))?;
        let f = match (&self.f, self.seed) {
            (Some(f), _) => format!("f = {f}"),
            (None, Some(seed)) => format!("f uniform in [-1, 1), seed {seed}"),
            (None, None) => "f chosen so that u is a product of one sine or cosine per direction".into(),
        };
        out.field("problem", f)?;
        if let Some(k) = &self.coefficient {
            out.field("", format!("k = {k}"))?;
        }
        if !self.tensor.is_empty() {
            out.field("", format!("D: {}", self.tensor.join(", ")))?;
        } else if self.is_anisotropic() {
            out.field("", format!("D = diag({}){}", numbers(&self.diffusion), self.mixed_words()))?;
        }
        if self.order == 4 {
            out.field(
                "order",
                format!("4, compact stencils of {} points", if self.points.len() == 3 { 19 } else { 9 }),
            )?;
        }
        out.field("sides", self.sides.join(", "))?;
        if let Some(boundary) = &self.boundary {
            out.field("", format!("g = {boundary}"))?;
        }
        out.field("method", format!("{}, {} levels", self.method(), self.levels))?;
        let Document { cycles, relative_residual, tolerance, rounding_floor, .. } = self;
        let factor = self.convergence_factor.map_or(String::new(), |factor| format!(", factor {factor:.3}"));
        out.field("stop", format!("{} ({cycles} cycles{factor})", self.stop))?;
        out.field(
            "residual",
            format!("{relative_residual:.2e}, tolerance {tolerance:e}, rounding floor about {rounding_floor:.0e}"),
        )?;
        if let Some(imbalance) = self.imbalance {
            out.field("imbalance", format!("{imbalance:.1e} of f and the fluxes, removed; the mean of u is 0"))?;
        }
        if let Some(error) = self.error_max {
            out.field("error", format!("{error:.4e} at most, against the exact solution"))?;
        }
        let (setup, solve) = (seconds(self.seconds_setup), seconds(self.seconds_solve));
        out.field("time", format!("set-up {setup}, solve {solve}"))?;
        out.field("device memory", format!("{} at most", bytes(self.peak_device_bytes)))?;
        self.out.iter().try_for_each(|file| out.field("solution", file))?;
        self.checkpoint.iter().try_for_each(|file| out.field("checkpoint", file))?;
        self.pictures.iter().try_for_each(|file| out.field("picture", file))
    }

    /// Whether D is not the identity.
    fn is_anisotropic(&self) -> bool {
        !self.tensor.is_empty() || self.diffusion.iter().any(|d| *d != 1.0) || self.mixed.iter().any(|d| *d != 0.0)
    }

    fn operator(&self) -> &'static str {
        match (self.coefficient.is_some(), self.is_anisotropic()) {
            (false, false) => "-Laplace u",
            (false, true) => "-div(D grad u)",
            (true, false) => "-div(k grad u)",
            (true, true) => "-div(k D grad u)",
        }
    }

    fn mixed_words(&self) -> String {
        if self.mixed.iter().all(|d| *d == 0.0) {
            return String::new();
        }
        format!(", off-diagonal {}", numbers(&self.mixed))
    }

    /// The cycle and its smoother in the field's short form.
    fn method(&self) -> String {
        let cycle = match self.cycle {
            Cycle::V => "V",
            Cycle::W => "W",
            Cycle::Full => "full multigrid, then V",
        };
        if self.coefficient.is_some()
            || !self.tensor.is_empty()
            || self.order == 4
            || self.mixed.iter().any(|d| *d != 0.0)
        {
            let sweeps = (self.pre + self.post).div_ceil(2);
            return format!(
                "conjugate gradients with {cycle}({sweeps},{sweeps}) as the preconditioner, Gauss-Seidel by colours"
            );
        }
        format!("{cycle}({},{}), red-black Gauss-Seidel", self.pre, self.post)
    }

    /// The solution, of three dimensions on the plane in the middle of the last one, and the residuals.
    fn draw<T: Real>(&mut self, picture: &Picture, lattice: &Lattice, u: &[T]) -> Result<(), Failure> {
        let plane = lattice.points(0) * lattice.points(1);
        let middle = lattice.points(2) / 2;
        let values: Vec<f64> = u[middle * plane..][..plane].iter().map(|u| u.into_f64()).collect();
        let at = lattice.coordinates(lattice.dim() - 1);
        let across = if lattice.dim() == 3 { format!(", plane z = {}", at[middle]) } else { String::new() };
        let points = self.points.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
        let device = self.device.as_ref().map_or("", DeviceName::name);
        let f = self.f.as_ref().map_or("default f".to_owned(), |f| format!("f = {f}"));
        let k = self.coefficient.as_ref().map_or(String::new(), |k| format!(", k = {k}"));
        let k = self.tensor.iter().fold(k, |k, entry| format!("{k}, {entry}"));
        let precision = if self.precision == Arithmetic::F32 { "f32" } else { "f64" };
        let solution = Field {
            title: format!("Poisson problem {} = f, {points} points", self.operator()),
            subtitle: format!("{f}{k}{across} · {precision} · {device}"),
            label: "u",
            columns: lattice.points(0),
            bounds: [0, 1].map(|axis| match &lattice.coordinates(axis)[..] {
                [first, .., last] => [*first, *last],
                // One point stands for the whole direction.
                _ => [0.0, self.size[axis]],
            }),
            values: &values,
            range: None,
        };
        let residuals = Residuals {
            points: &points,
            subtitle: format!("{} · {precision} · {device}", self.method()),
            history: &self.residual_history,
            tolerance: self.tolerance,
            floor: self.rounding_floor,
        };
        self.pictures = draw(picture, &solution, residuals)?;
        Ok(())
    }
}

fn numbers(values: &[f64]) -> String {
    values.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
}

/// The entries dxy, dxz and dyz of the tensor.
fn mixed_entries(args: &Args, dim: usize) -> Result<[f64; 3], Failure> {
    let mut mixed = [0.0; 3];
    let count = if dim == 3 { 3 } else { 1 };
    match args.mixed.as_deref() {
        Some(given) if given.len() == count => mixed[..count].copy_from_slice(given),
        Some(given) => {
            let expected = if dim == 3 { "three, DXY,DXZ,DYZ" } else { "one, DXY" };
            let words = format!("--mixed has {} numbers; with {dim} directions it takes {expected}", given.len());
            return Err(Failure::usage(words));
        }
        None => {}
    }
    Ok(mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let mut robin = Vec::new();
        sides("all=neumann,x1=robin:0.5").unwrap().apply(2, |axis, end, c| robin.push((axis, end, c))).unwrap();
        assert_eq!(robin.last(), Some(&(0, End::High, Condition::Robin { alpha: 0.5 })));
        for wrong in ["x0=robin", "x0=robin:a", "x0=mixed"] {
            assert!(sides(wrong).unwrap_err().contains("robin:ALPHA"), "{wrong}");
        }
    }
}
