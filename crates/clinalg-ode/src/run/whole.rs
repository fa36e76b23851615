//! Initial values of problems, errors and invariants, computed where the vectors are.

use clinalg::runtime::{Arg, Buffer, GeneratedKernel, Range};
use clinalg::{Context, KernelFamily, Real, Vector};

use crate::Result;
use crate::codegen::points;
use crate::model::formula::Expr;
use crate::model::initial::Initial;
use crate::model::problems::Problem;
use crate::model::system::System;
use crate::run::integrator;
use crate::run::stepper::Stored;

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
        match &self.initial {
            Initial::Formulas(formulas) if self.has_kernel_for_y0(context) => self.initial_on(context, formulas),
            _ => Ok(Vector::from_slice(context, &self.y0_as()?)?),
        }
    }

    /// Whether [`Problem::y0_on`] computes the initial values on the device, and transfers none.
    pub fn has_kernel_for_y0(&self, context: &Context) -> bool {
        matches!(self.initial, Initial::Formulas(_)) && self.is_large_for(context)
    }

    /// The solution at the beginning in a precision.
    ///
    /// # Errors
    /// Those of [`Problem::y0`].
    pub fn y0_as<T: Real>(&self) -> Result<Vec<T>> {
        Ok(self.y0()?.into_iter().map(T::from_f64).collect())
    }

    /// [`Problem::invariants`] of a vector, computed where it is; only numbers are read back from a device with double precision.
    ///
    /// # Errors
    /// Those of the device.
    ///
    /// # Panics
    /// For another number of components.
    pub fn invariants_of<T: Real>(&self, y: Stored<'_, T>) -> Result<Vec<(&'static str, f64)>> {
        match y {
            Stored::Device(y) if self.is_large_for(y.context()) => self.invariants_on(y),
            y => Ok(self.invariants(&wide(y)?)),
        }
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
        Ok(Some(match y {
            Stored::Device(y) if self.is_large_for(y.context()) => self.difference_on(&line, y)?,
            y => {
                let y = wide(y)?;
                assert_eq!(y.len(), self.system.components(), "a value for each component");
                y.chunks(line.len())
                    .flat_map(|part| part.iter().zip(&line))
                    .fold(0.0, |m, (y, e)| larger(m, (y - e).abs()))
            }
        }))
    }

    /// Whether vectors are large enough for kernels, and the device can compute as the host does.
    fn is_large_for(&self, context: &Context) -> bool {
        self.system.components() > SMALL && context.require::<f64>().is_ok()
    }

    /// Initial values by formulas.
    fn initial_on<T: Real>(&self, context: &Context, formulas: &[Expr]) -> Result<Vector<T>> {
        let kernel = points::initial_values::<T>(&self.system, formulas, context.family());
        let y0 = Vector::<T>::zeros(context, self.system.components())?;
        let parameters = parameters(context, &self.system)?;
        let args = [Arg::F64(self.t0), parameters.arg(), y0.buffer().arg()];
        // SAFETY: the arguments are those that `initial_values` names, the first two in double precision; `y0` has the components of
        // the system, and all buffers are of this context.
        unsafe { context.launch_generated(&kernel, range(context, self.system.grid().points()), &args)? };
        if !Stored::Device(&y0).all_finite()? {
            // Computed again on the host, for an error that names the point.
            self.y0()?;
        }
        Ok(y0)
    }

    fn invariants_on<T: Real>(&self, y: &Vector<T>) -> Result<Vec<(&'static str, f64)>> {
        let (names, formulas): (Vec<_>, Vec<_>) = self.invariant_formulas().into_iter().unzip();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let kernel = points::totals::<T>(&self.system, &formulas, y.context().family());
        let partial = self.reduced(&kernel, names.len(), y, None)?;
        let sums = partial.chunks(partial.len() / names.len()).map(|part| part.iter().sum());
        Ok(names.into_iter().zip(sums).collect())
    }

    fn difference_on<T: Real>(&self, line: &[f64], y: &Vector<T>) -> Result<f64> {
        let kernel = points::largest_difference::<T>(&self.system, line.len(), y.context().family());
        let line = Buffer::from_slice(y.context(), line)?;
        Ok(self.reduced(&kernel, 1, y, Some(&line))?.into_iter().fold(0.0, larger))
    }

    /// The partial results of a reduction with `count` results.
    fn reduced<T: Real>(
        &self,
        kernel: &GeneratedKernel,
        count: usize,
        y: &Vector<T>,
        line: Option<&Buffer<f64>>,
    ) -> Result<Vec<f64>> {
        assert_eq!(y.len(), self.system.components(), "a value for each component");
        let context = y.context();
        let points = self.system.grid().points();
        let (range, parts) = (range(context, points), parts(context, points));
        let partial = Buffer::<f64>::zeroed(context, count * parts)?;
        let parameters = parameters(context, &self.system)?;
        let mut args = vec![Arg::F64(self.t0), parameters.arg(), y.buffer().arg()];
        args.extend(line.map(Buffer::arg));
        args.push(partial.arg());
        // SAFETY: the arguments are those that `totals` and `largest_difference` name; `y` has the components of the system, `partial`
        // a value for each result and each work-group or, on CPUs, item; all buffers are of this context.
        unsafe { context.launch_generated(kernel, range, &args)? };
        Ok(partial.to_vec()?)
    }
}

/// `y` with noise: `distance` times numbers from -1 to 1 are added to its components, the same on every device and on the host.
///
/// # Errors
/// Those of the device.
pub(super) fn with_noise<T: Real>(y: Stored<'_, T>, distance: f64) -> Result<Noisy<T>> {
    if let Stored::Device(y) = y
        && y.context().require::<f64>().is_ok()
    {
        let context = y.context();
        let noisy = Vector::<T>::zeros(context, y.len())?;
        let kernel = points::add_noise::<T>(context.family());
        let args = [Arg::size(y.len()), Arg::F64(distance), y.buffer().arg(), noisy.buffer().arg()];
        // SAFETY: the arguments are those that `add_noise` names, in double precision; both vectors have as many components.
        unsafe { context.launch_generated(&kernel, range(context, y.len()), &args)? };
        return Ok(Noisy::Device(noisy));
    }
    let mut seed = 1_u64;
    let noisy = y.to_vec()?.into_iter().map(|v| {
        seed = seed * points::NOISE_FACTOR % points::NOISE_MODULUS;
        v + T::from_f64(distance * (seed as f64 / points::NOISE_HALF - 1.0))
    });
    Ok(Noisy::Host(noisy.collect()))
}

/// A vector with noise where the one without it is.
pub(super) enum Noisy<T: Real> {
    Host(Vec<T>),
    Device(Vector<T>),
}

impl<T: Real> Noisy<T> {
    pub(super) fn stored(&self) -> Stored<'_, T> {
        match self {
            Noisy::Host(values) => Stored::Host(values),
            Noisy::Device(vector) => Stored::Device(vector),
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
fn range(context: &Context, points: usize) -> Range {
    let local = if context.family() == KernelFamily::Gpu { context.local() } else { 1 };
    Range::d1(parts(context, points) * local, local)
}

/// The larger number, NaN where one is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

fn wide<T: Real>(y: Stored<'_, T>) -> Result<Vec<f64>> {
    Ok(integrator::wide(&y.to_vec()?))
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
        let got = wide(Stored::Device(&problem.initial_on::<T>(context, formulas).unwrap())).unwrap();
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
            assert_close("device", &values(problem.invariants_on(&y).unwrap()), &want, 1e-14);
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
        let (names, got): (Vec<_>, Vec<_>) = problem.invariants_on(&on_device).unwrap().into_iter().unzip();
        let (expected, want): (Vec<_>, Vec<_>) = problem.invariants_of(Stored::Host(y)).unwrap().into_iter().unzip();
        assert_eq!(names, expected);
        assert_close(&what, &got, &want, rounding);
        let Some(line) = problem.exact_line(0.01) else { return };
        let exact = problem.exact(0.01).unwrap();
        let differences = y.iter().zip(&exact).map(|(y, e)| (y.into_f64() - e).abs());
        let want = differences.fold(0.0, f64::max);
        assert_eq!(problem.error(0.01, Stored::Host(y)).unwrap(), Some(want), "{what}");
        assert_eq!(problem.difference_on(&line, &on_device).unwrap(), want, "{what}");
        let mut bad = y.to_vec();
        bad[y.len() / 2] = T::nan();
        let bad = Vector::from_slice(context, &bad).unwrap();
        assert!(problem.difference_on(&line, &bad).unwrap().is_nan(), "{what}");
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
