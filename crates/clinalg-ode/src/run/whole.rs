//! Initial values of problems, errors and invariants, computed where the vectors are.

use std::ops::Range;

use clinalg::runtime::{self as launch, Arg, Buffer, GeneratedKernel};
use clinalg::team::Reduction;
use clinalg::{Context, KernelFamily, Real, Vector};

use crate::Result;
use crate::codegen::points;
use crate::model::formula::Expr;
use crate::model::initial::Initial;
use crate::model::problems::Problem;
use crate::model::system::System;
use crate::run::integrator;
use crate::run::stepper::{Parts, Shared, Slot, Stored};

/// Components up to which the host takes less time than the build of a kernel.
const SMALL: usize = 1 << 15;

/// Work-groups of a reduction per compute unit of a GPU.
const GROUPS_PER_UNIT: usize = 8;

impl Problem {
    /// The solution at the beginning on a device, in the system's order in memory. Where formulas give it and the device has double precision,
    /// it is computed there, with the values of [`Problem::y0`] up to the rounding of the functions.
    ///
    /// # Errors
    /// Those of [`Problem::y0`] and of the device.
    pub fn y0_on<T: Real>(&self, context: &Context) -> Result<Vector<T>> {
        if !self.has_kernel_for_y0(context) {
            return Ok(Vector::from_slice(context, &self.y0_as()?)?);
        }
        let y0 = self.y0_of_part(context, &self.system)?;
        if !Stored::Device(&y0).all_finite()? {
            // Computed again on the host, for an error that names the point.
            self.y0()?;
        }
        Ok(y0)
    }

    /// Whether [`Problem::y0_on`] computes the initial values on the device, and transfers none.
    pub fn has_kernel_for_y0(&self, context: &Context) -> bool {
        matches!(self.initial, Initial::Formulas(_)) && self.is_large_for(context)
    }

    /// Whether [`Problem::y0_of_part`] has the values: formulas give them, without sums over points that other parts
    /// have.
    pub(crate) fn has_y0_of_parts(&self) -> bool {
        let Initial::Formulas(formulas) = &self.initial else { return false };
        let mut sums = false;
        formulas.iter().for_each(|formula| formula.walk(&mut |e| sums |= matches!(e, Expr::Sum(_))));
        !sums
    }

    /// The values of formulas at the points of a part of the system, or of all of it, which may not be finite.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// Where no formulas give the initial values.
    pub(crate) fn y0_of_part<T: Real>(&self, context: &Context, part: &System) -> Result<Vector<T>> {
        let Initial::Formulas(formulas) = &self.initial else { panic!("initial values that no formula gives") };
        if self.is_large_for(context) {
            return self.initial_on(context, part, formulas);
        }
        let y0: Vec<T> = part.initial_values(formulas, self.t0).into_iter().map(T::from_f64).collect();
        Ok(Vector::from_slice(context, &y0)?)
    }

    /// The solution at the beginning in a precision.
    ///
    /// # Errors
    /// Those of [`Problem::y0`].
    pub fn y0_as<T: Real>(&self) -> Result<Vec<T>> {
        Ok(self.y0()?.into_iter().map(T::from_f64).collect())
    }

    /// [`Problem::invariants`] of a vector, computed where it is; only numbers are read back from devices with double
    /// precision. Those of a team are summed per rank and then in the order of the ranks.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// For another number of components.
    pub fn invariants_of<T: Real>(&self, y: Stored<'_, T>) -> Result<Vec<(&'static str, f64)>> {
        let (names, formulas): (Vec<_>, Vec<_>) = self.invariant_formulas().into_iter().unzip();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let on = |part: &System, y: &Vector<T>| self.totals_of(part, &formulas, y);
        let sum = |partial: Vec<f64>| {
            partial.chunks(partial.len() / names.len()).map(|part| part.iter().sum()).collect::<Vec<f64>>()
        };
        let sums = match y {
            Stored::Host(y) => {
                let y = integrator::wide(y);
                formulas.iter().map(|formula| self.system.total(formula, &y)).collect()
            }
            Stored::Device(y) => sum(on(&self.system, y)?.read()?),
            Stored::Parts(shared) => shared.reduced(Reduction::Sum, on, sum)?,
        };
        Ok(names.into_iter().zip(sums).collect())
    }

    /// The largest difference of a component of `y` from [`Problem::exact`] at time t, where that is known, computed where `y` is.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// For another number of components.
    pub fn error<T: Real>(&self, t: f64, y: Stored<'_, T>) -> Result<Option<f64>> {
        let Some(line) = self.exact_line(t) else { return Ok(None) };
        let on = |part: &System, y: &Vector<T>| self.difference_of(part, &line, y);
        let largest = |partial: Vec<f64>| vec![partial.into_iter().fold(0.0, larger)];
        Ok(Some(match y {
            Stored::Host(y) => {
                assert_eq!(y.len(), self.system.components(), "a value for each component");
                largest_difference(&self.system, &line, y)
            }
            Stored::Device(y) => largest(on(&self.system, y)?.read()?)[0],
            Stored::Parts(shared) => shared.reduced(Reduction::Max, on, largest)?[0],
        }))
    }

    /// Whether vectors are large enough for kernels, and the device can compute as the host does.
    fn is_large_for(&self, context: &Context) -> bool {
        self.system.components() > SMALL && context.require::<f64>().is_ok()
    }

    /// Initial values by formulas at the points of a part.
    fn initial_on<T: Real>(&self, context: &Context, part: &System, formulas: &[Expr]) -> Result<Vector<T>> {
        let kernel = points::initial_values::<T>(part, formulas, context.family());
        let y0 = Vector::<T>::zeros(context, part.components())?;
        let parameters = parameters(context, part)?;
        let args = [Arg::F64(self.t0), parameters.arg(), y0.buffer().arg()];
        // SAFETY: the arguments are those that `initial_values` names, the first two in double precision; `y0` has the components of
        // the part, and all buffers are of this context.
        unsafe { context.launch_generated(&kernel, range(context, part.grid().points()), &args)? };
        Ok(y0)
    }

    /// The sums of formulas over the points that a part owns; the parts of the first come before those of the next.
    fn totals_of<T: Real>(&self, part: &System, formulas: &[Expr], y: &Vector<T>) -> Result<Partial> {
        if !self.is_large_for(y.context()) {
            let y = integrator::wide(&y.to_vec()?);
            return Ok(Partial::Host(formulas.iter().map(|formula| part.total(formula, &y)).collect()));
        }
        self.totals_on(part, formulas, y)
    }

    fn totals_on<T: Real>(&self, part: &System, formulas: &[Expr], y: &Vector<T>) -> Result<Partial> {
        let kernel = points::totals::<T>(part, formulas, y.context().family());
        self.launched(&kernel, part, formulas.len(), y, None)
    }

    /// The largest difference from a line at the points that a part owns, as the largest of some.
    fn difference_of<T: Real>(&self, part: &System, line: &[f64], y: &Vector<T>) -> Result<Partial> {
        if !self.is_large_for(y.context()) {
            return Ok(Partial::Host(vec![largest_difference(part, line, &y.to_vec()?)]));
        }
        self.difference_on(part, line, y)
    }

    fn difference_on<T: Real>(&self, part: &System, line: &[f64], y: &Vector<T>) -> Result<Partial> {
        let kernel = points::largest_difference::<T>(part, line.len(), y.context().family());
        let line = Buffer::from_slice(y.context(), line)?;
        self.launched(&kernel, part, 1, y, Some(&line))
    }

    /// A reduction with `count` results that was launched.
    fn launched<T: Real>(
        &self,
        kernel: &GeneratedKernel,
        part: &System,
        count: usize,
        y: &Vector<T>,
        line: Option<&Buffer<f64>>,
    ) -> Result<Partial> {
        assert_eq!(y.len(), part.components(), "a value for each component");
        let context = y.context();
        let points = part.own_points().len();
        let partial = Buffer::<f64>::zeroed(context, count * parts(context, points))?;
        let parameters = parameters(context, part)?;
        let mut args = vec![Arg::F64(self.t0), parameters.arg(), y.buffer().arg()];
        args.extend(line.map(Buffer::arg));
        args.push(partial.arg());
        // SAFETY: the arguments are those that `totals` and `largest_difference` name; `y` has the components of the
        // part, `partial` a value for each result and each work-group or, on CPUs, item; all buffers are of this
        // context.
        unsafe { context.launch_generated(kernel, range(context, points), &args)? };
        context.queue().flush()?;
        Ok(Partial::Device(partial))
    }
}

/// What is left of a reduction to be joined on the host.
pub(super) enum Partial {
    Host(Vec<f64>),
    Device(Buffer<f64>),
}

impl Partial {
    fn read(self) -> Result<Vec<f64>> {
        Ok(match self {
            Partial::Host(values) => values,
            Partial::Device(values) => values.to_vec()?,
        })
    }
}

impl<T: Real> Shared<'_, T> {
    /// A reduction on the devices of a team, all at the same time: `launch` begins that of a rank, `join` ends it.
    fn reduced(
        &self,
        reduction: Reduction,
        launch: impl Fn(&System, &Vector<T>) -> Result<Partial>,
        join: impl Fn(Vec<f64>) -> Vec<f64>,
    ) -> Result<Vec<f64>> {
        let team = self.parts.team();
        let ranks = 0..team.contexts().len();
        let launched = ranks.map(|k| {
            let (part, y) = self.parts.part(self.slot, k);
            launch(part, y).map_err(|error| error.of_rank(team, k))
        });
        let launched = launched.collect::<Result<Vec<_>>>()?.into_iter().enumerate();
        let joined = launched.map(|(k, partial)| Ok(join(partial.read().map_err(|error| error.of_rank(team, k))?)));
        Ok(team.all_reduce(reduction, &joined.collect::<Result<Vec<_>>>()?)?)
    }
}

/// The largest difference of a component from `line`, which repeats itself along the whole grid, at the points that a
/// part owns.
fn largest_difference<T: Real>(part: &System, line: &[f64], y: &[T]) -> f64 {
    let begin = part.first_point() % line.len();
    let difference = |p: usize| (y[p].into_f64() - line[(begin + p) % line.len()]).abs();
    part.own_points().map(difference).fold(0.0, larger)
}

/// `y` with noise: `distance` times numbers from -1 to 1 are added to its components, the same on every device and on the host.
///
/// # Errors
/// Those of the device.
pub(super) fn with_noise<T: Real>(y: Stored<'_, T>, distance: f64) -> Result<Noisy<T>> {
    match y {
        Stored::Device(y) => {
            let all = 0..y.len();
            Ok(Noisy::Device(with_noise_on(y, std::iter::once((all.clone(), all)), distance)?))
        }
        Stored::Parts(shared) => Ok(Noisy::Parts(shared.parts.with_noise(shared.slot, distance)?)),
        Stored::Host(y) => {
            let mut noisy = y.to_vec();
            add_noise(&mut noisy, 0, distance);
            Ok(Noisy::Host(noisy))
        }
    }
}

/// Pieces of a vector on a device with noise: where they stand there, and in the whole vector. Other components are 0
/// or without noise.
///
/// # Errors
/// Those of the device.
pub(crate) fn with_noise_on<T: Real>(
    y: &Vector<T>,
    pieces: impl Iterator<Item = (Range<usize>, Range<usize>)>,
    distance: f64,
) -> Result<Vector<T>> {
    let context = y.context();
    if context.require::<f64>().is_err() {
        let mut noisy = y.to_vec()?;
        pieces.for_each(|(own, whole)| add_noise(&mut noisy[own], whole.start, distance));
        return Ok(Vector::from_slice(context, &noisy)?);
    }
    let noisy = Vector::<T>::zeros(context, y.len())?;
    let kernel = points::add_noise::<T>(context.family());
    for (own, whole) in pieces {
        let [count, begin, skipped] = [own.len(), own.start, whole.start].map(Arg::size);
        let args = [count, begin, skipped, Arg::F64(distance), y.buffer().arg(), noisy.buffer().arg()];
        assert!(own.end <= y.len(), "a piece of the vector");
        // SAFETY: the arguments are those that `add_noise` names, in double precision; both vectors have the components
        // of the piece.
        unsafe { context.launch_generated(&kernel, range(context, own.len()), &args)? };
    }
    Ok(noisy)
}

/// Adds noise to components before which `skipped` others stand.
fn add_noise<T: Real>(y: &mut [T], skipped: usize, distance: f64) {
    let next = |seed: u64| seed * points::NOISE_FACTOR % points::NOISE_MODULUS;
    let mut seed = (0..skipped).fold(1, |seed, _| next(seed));
    for v in y {
        seed = next(seed);
        *v += T::from_f64(distance * (seed as f64 / points::NOISE_HALF - 1.0));
    }
}

/// A vector with noise where the one without it is.
pub(super) enum Noisy<T: Real> {
    Host(Vec<T>),
    Device(Vector<T>),
    Parts(Box<dyn Parts<T>>),
}

impl<T: Real> Noisy<T> {
    pub(super) fn stored(&self) -> Stored<'_, T> {
        match self {
            Noisy::Host(values) => Stored::Host(values),
            Noisy::Device(vector) => Stored::Device(vector),
            Noisy::Parts(parts) => Stored::Parts(Shared { parts: &**parts, slot: Slot::Input(0) }),
        }
    }
}

/// Parameters and data as the kernels read them, at least one number.
fn parameters(context: &Context, system: &System) -> Result<Buffer<f64>> {
    let constants = system.constants::<f64>();
    Ok(if constants.is_empty() { Buffer::zeroed(context, 1)? } else { Buffer::from_slice(context, &constants)? })
}

/// Partial results of a reduction over so many points.
fn parts(context: &Context, points: usize) -> usize {
    match context.family() {
        KernelFamily::Gpu => {
            let units = context.device().compute_units.max(1) as usize;
            points.div_ceil(context.local()).min(units * GROUPS_PER_UNIT)
        }
        KernelFamily::Cpu => context.chunks().min(points),
    }
}

/// Enough work-items to saturate the memory bandwidth; each has several points of a large grid.
pub(super) fn range(context: &Context, points: usize) -> launch::Range {
    let local = if context.family() == KernelFamily::Gpu { context.local() } else { 1 };
    launch::Range::d1(parts(context, points) * local, local)
}

/// The larger number, NaN where one is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

#[cfg(test)]
mod tests {
    use clinalg::{ContextOptions, Device};

    use super::*;
    use crate::Description;
    use crate::problems::{NBody, PROBLEMS, problem};

    /// A context for each family of kernels.
    fn contexts() -> Vec<Context> {
        let Some(device) = clinalg_testing::found(Device::default_device()) else { return Vec::new() };
        let families = clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]).into_iter();
        let make = |family| Context::new(&device, &ContextOptions { family, ..ContextOptions::default() }).unwrap();
        families.map(make).filter(|context| context.require::<f64>().is_ok()).collect()
    }

    /// The tolerance is `rounding` times the largest magnitude: functions of a device may differ by some units in the last place.
    fn assert_close(what: &str, got: &[f64], want: &[f64], rounding: f64) {
        assert_eq!(got.len(), want.len(), "{what}");
        let size = want.iter().fold(0.0_f64, |m, v| m.max(v.abs())).max(1e-30);
        for (k, (got, want)) in got.iter().zip(want).enumerate() {
            assert!((got - want).abs() <= rounding * size, "{what}, {k}: {got} instead of {want}");
        }
    }

    fn assert_initial<T: Real>(context: &Context, problem: &Problem) {
        let Initial::Formulas(formulas) = &problem.initial else { return };
        let got = problem.initial_on::<T>(context, &problem.system, formulas).unwrap();
        let got = integrator::wide(&got.to_vec().unwrap());
        let what = format!("{} {:?} {:?}", problem.name, T::PRECISION, context.family());
        // Powers have 16 units in the last place; the rounding to single precision may go the other way.
        assert_close(&what, &got, &problem.y0().unwrap(), 16.0 * f64::EPSILON + T::epsilon().into_f64());
    }

    #[test]
    fn initial_values_of_test_problems_are_those_of_the_host() {
        for context in contexts() {
            for name in PROBLEMS {
                let problem = problem(name, 37).unwrap();
                assert!(problem.has_y0() && (name == "nbody") == matches!(problem.initial, Initial::Values(_)));
                assert_initial::<f64>(&context, &problem);
                assert_initial::<f32>(&context, &problem);
            }
        }
    }

    #[test]
    fn initial_values_of_files_have_parameters_time_data_and_every_function() {
        let text = "grid 7 5 3\norigin 1 2 3\nspacing 0.5 0.25 0.125\nparameter a = 3\nparameter b = 0.5\ndata w\n\
                    u' = v[1,0,0]\nv' = w*u\nlayout LAYOUT\n\
                    initial v = a*x + y*z + i - 2*j + k^2 + t + w/a + dx*dy\ninitial u = FORMULA\ntime 2 3";
        let formulas = [
            "sin(x) + cos(y) + tan(z) + asin(b/x) + acos(b/y) + atan(z) + sinh(b) + cosh(b) + tanh(x)",
            "asinh(x) + acosh(x + 1) + atanh(b/x) + exp(-x) + expm1(b) + log(x) + log1p(y) + log10(z) + log2(x)",
            "sqrt(x) + rsqrt(y) + abs(-z) + sign(x - 2) + floor(y) + ceil(z) + round(x*y) + fix(-y)",
            "min(x, y) + max(y, z) + pow(x, b) + mod(i, 3) + rem(-i, 3) + atan2(y, x) + hypot(x, z) + x^1.5 + x^3",
            "if(x > 2 && y <= 2.5 || z == 3, 1, 2) + (x >= 2) + (y < 3) + (i != 2)",
            "sum(w'*x')/(x + w) + sum(if(i' < i, y', b))",
        ];
        let data: Vec<f64> = (0..105).map(|k| 1.0 + f64::from(k) / 64.0).collect();
        for context in contexts() {
            for formula in formulas {
                for layout in ["interleaved", "field-wise"] {
                    let text = text.replace("FORMULA", formula).replace("LAYOUT", layout);
                    let problem =
                        Description::read(&text).unwrap().problem("test", std::slice::from_ref(&data)).unwrap();
                    assert_initial::<f64>(&context, &problem);
                    assert_initial::<f32>(&context, &problem);
                }
            }
        }
    }

    /// The invariants by kernels.
    fn totals<T: Real>(problem: &Problem, y: &Vector<T>) -> Vec<f64> {
        let (_, formulas): (Vec<_>, Vec<_>) = problem.invariant_formulas().into_iter().unzip();
        if formulas.is_empty() {
            return Vec::new();
        }
        let partial = problem.totals_on(&problem.system, &formulas, y).unwrap().read().unwrap();
        partial.chunks(partial.len() / formulas.len()).map(|part| part.iter().sum()).collect()
    }

    /// By hand, beside the interpreter that computes them on the host.
    #[test]
    fn invariants_of_bodies_are_those_by_hand() {
        let problem = problem("nbody", 23).unwrap();
        let (bodies, mut y) = NBody::ring(23);
        y.iter_mut().enumerate().for_each(|(k, v)| *v += 1e-3 * k as f64);
        let mut want = vec![bodies.energy(&y)];
        want.extend(bodies.momentum(&y));
        want.extend(bodies.angular_momentum(&y));
        let values = |all: Vec<(&str, f64)>| all.into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_close("host", &values(problem.invariants(&y)), &want, 1e-14);
        for context in contexts() {
            let y = Vector::from_slice(&context, &y).unwrap();
            assert_close("device", &totals(&problem, &y), &want, 1e-14);
        }
    }

    #[test]
    fn invariants_and_errors_are_those_of_the_host() {
        for context in contexts() {
            for name in PROBLEMS {
                // One point an item, and several.
                for n in [9, if name.ends_with("2d") || name == "wave1d" { 700 } else { 40 }] {
                    let problem = problem(name, n).unwrap();
                    let y: Vec<f64> =
                        problem.y0().unwrap().iter().enumerate().map(|(k, v)| v + (k % 7) as f64 / 8.0).collect();
                    assert_reductions(&context, &problem, &y, 1e-12);
                    let single: Vec<f32> = y.iter().map(|v| *v as f32).collect();
                    assert_reductions(&context, &problem, &single, 1e-12);
                }
            }
        }
    }

    fn assert_reductions<T: Real>(context: &Context, problem: &Problem, y: &[T], rounding: f64) {
        let what = format!("{} {:?} {:?}", problem.name, T::PRECISION, context.family());
        let on_device = Vector::from_slice(context, y).unwrap();
        let want: Vec<f64> =
            problem.invariants_of(Stored::Host(y)).unwrap().into_iter().map(|(_, value)| value).collect();
        assert_close(&what, &totals(problem, &on_device), &want, rounding);
        let Some(line) = problem.exact_line(0.01) else { return };
        let exact = problem.exact(0.01).unwrap();
        let differences = y.iter().zip(&exact).map(|(y, e)| (y.into_f64() - e).abs());
        let want = differences.fold(0.0, f64::max);
        assert_eq!(problem.error(0.01, Stored::Host(y)).unwrap(), Some(want), "{what}");
        let largest = |y: &Vector<T>| {
            let partial = problem.difference_on(&problem.system, &line, y).unwrap().read().unwrap();
            partial.into_iter().fold(0.0, larger)
        };
        assert_eq!(largest(&on_device), want, "{what}");
        let mut bad = y.to_vec();
        bad[y.len() / 2] = T::nan();
        let bad = Vector::from_slice(context, &bad).unwrap();
        assert!(largest(&bad).is_nan(), "{what}");
    }

    #[test]
    fn noise_has_the_bits_of_the_host() {
        fn assert_same<T: Real>(context: &Context) {
            for n in [1, 7, 100_003] {
                let y: Vec<T> = (0..n).map(|k| T::from_f64(1.0 + k as f64 / 1024.0)).collect();
                let want = with_noise(Stored::Host(&y), 0.37).unwrap().stored().to_vec().unwrap();
                let on_device = Vector::from_slice(context, &y).unwrap();
                let got = with_noise(Stored::Device(&on_device), 0.37).unwrap();
                assert!(matches!(got, Noisy::Device(_)));
                assert!(got.stored().to_vec().unwrap() == want, "{n} {:?} {:?}", T::PRECISION, context.family());
            }
        }
        for context in contexts() {
            assert_same::<f64>(&context);
            assert_same::<f32>(&context);
        }
        // The first numbers of the generator, 48271 and 182605794.
        let noise = with_noise(Stored::Host(&[0.0_f64; 2]), 1.0).unwrap().stored().to_vec().unwrap();
        assert!((noise[0] + 0.999_955_04).abs() < 1e-8 && (noise[1] + 0.829_935_1).abs() < 1e-6, "{noise:?}");
    }

    #[test]
    fn initial_values_that_are_not_finite_are_errors_with_their_place() {
        let text = "grid 300 300\nu' = u[1,0]\ninitial u = 1/(i - 299) + j\n";
        let problem = Description::read(text).unwrap().problem("test", &[]).unwrap();
        for context in contexts() {
            let error = problem.y0_on::<f64>(&context).unwrap_err().to_string();
            assert_eq!(error, problem.y0().unwrap_err().to_string());
            assert!(error.contains("initial u") && error.contains("finite at [1.0, 0.0]"), "{error}");
        }
    }
}
