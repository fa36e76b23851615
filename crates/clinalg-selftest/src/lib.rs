//! Checks every operation on a device against the plain reference.
//!
//! ```no_run
//! # // Not run: the checks take a minute where kernels have to be compiled.
//! use clinalg::Context;
//! use clinalg_selftest as selftest;
//!
//! let context = Context::global()?;
//! let checks = selftest::run(&context, &selftest::Options::default());
//! assert!(checks.iter().all(|check| check.passed));
//! # Ok::<(), clinalg::Error>(())
//! ```
//!
//! Each operation runs at awkward sizes: none, one, one below, at and above a work-group, large. Data are whole numbers,
//! whose sums are exact in any order and must come out exactly, and random numbers, whose result may differ from the
//! reference by what rounding explains (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1).

mod compiler;
mod complex;
mod conversions;
mod factorisations;
mod grids;
mod products;
mod solvers;
mod sparse;
mod vectors;
mod waves;

use std::borrow::Cow;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Deserializer, Serialize};

use clinalg::{Complex, Context, Precision, Real, Result, Scalar, shown};

/// How thorough the test is.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only sizes of a few hundred, for very slow devices.
    pub quick: bool,
}

/// The outcome of one check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Check {
    /// What was checked, such as `dot` or `mv_csr_short_rows`.
    pub name: Cow<'static, str>,
    /// The precision, where the check has one.
    pub precision: Option<Precision>,
    /// The size (values, rows, points per side) at which the error came closest to the tolerance.
    pub size: usize,
    /// The largest error, relative to the sum of the magnitudes of the terms; infinite where a result that must be exact
    /// is not.
    #[serde(deserialize_with = "infinite_for_null")]
    pub max_error: f64,
    /// What rounding allows at that size.
    #[serde(deserialize_with = "infinite_for_null")]
    pub tolerance: f64,
    /// Whether all was right.
    pub passed: bool,
    /// Time taken, with building the kernels.
    pub seconds: f64,
    /// What went wrong, or what was found out.
    pub detail: String,
}

/// JSON has no infinity: it is written as null.
fn infinite_for_null<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f64::INFINITY))
}

/// Runs every check that the device of `context` can take, with the kernels of the context's shape.
pub fn run(context: &Context, options: &Options) -> Vec<Check> {
    run_with(context, options, &mut |_| ())
}

/// As [`run`], calling `report` after each check.
pub fn run_with(context: &Context, options: &Options, report: &mut dyn FnMut(&Check)) -> Vec<Check> {
    let mut suite = Suite { context, quick: options.quick, report, checks: Vec::new() };
    compiler::barriers(&mut suite);
    suite.precision::<f32>();
    if context.device().fp64 {
        suite.precision::<f64>();
    }
    suite.checks
}

struct Suite<'a> {
    context: &'a Context,
    quick: bool,
    report: &'a mut dyn FnMut(&Check),
    checks: Vec<Check>,
}

impl Suite<'_> {
    fn precision<T: Real>(&mut self)
    where
        Complex<T>: Scalar<Real = T>,
    {
        compiler::fma::<T>(self);
        compiler::quotients_and_roots::<T>(self);
        compiler::integers::<T>(self);
        vectors::run::<T>(self);
        conversions::run::<T>(self);
        products::run::<T>(self);
        factorisations::run::<T>(self);
        grids::run::<T>(self);
        waves::run::<T>(self);
        solvers::run::<T>(self);
        sparse::run::<T>(self);
        complex::run::<T>(self);
    }

    /// Runs one check and keeps its outcome.
    fn check(&mut self, name: &'static str, precision: Option<Precision>, body: impl FnOnce(&mut Worst) -> Result<()>) {
        let start = Instant::now();
        let mut worst = Worst::default();
        if let Err(error) = body(&mut worst) {
            worst.fail(error.to_string());
        }
        let check = Check {
            name: name.into(),
            precision,
            size: worst.size,
            max_error: worst.error,
            tolerance: worst.tolerance,
            passed: worst.failure.is_none(),
            seconds: start.elapsed().as_secs_f64(),
            detail: worst.failure.or(worst.note).unwrap_or_default(),
        };
        (self.report)(&check);
        self.checks.push(check);
    }

    /// Lengths of vectors: none, one, around 64 and around the device's work-group, `large` unless quick.
    fn sizes(&self, large: usize) -> Vec<usize> {
        let local = self.context.local();
        let mut sizes = vec![0, 1, 63, 64, 65];
        if self.quick {
            sizes.push(257);
        } else {
            sizes.extend([local.saturating_sub(1), local, local + 1, large]);
        }
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// The error of one check that came closest to its tolerance.
#[derive(Default)]
struct Worst {
    size: usize,
    error: f64,
    tolerance: f64,
    failure: Option<String>,
    note: Option<String>,
}

impl Worst {
    fn fail(&mut self, detail: String) {
        self.error = f64::INFINITY;
        self.failure.get_or_insert(detail);
    }

    /// What was found out, for the reader.
    fn found(&mut self, note: String) {
        self.note = Some(note);
    }

    /// One error with its tolerance; `place` says where it is.
    fn note(&mut self, size: usize, error: f64, tolerance: f64, place: impl FnOnce() -> String) {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        let ratio = |error: f64, tolerance: f64| if error == 0.0 { 0.0 } else { error / tolerance };
        let closer = ratio(error, tolerance) >= ratio(self.error, self.tolerance);
        if self.failure.is_none() && (self.tolerance == 0.0 || closer) {
            (self.size, self.error, self.tolerance) = (size, error, tolerance);
        }
        if error > tolerance {
            self.failure.get_or_insert_with(place);
        }
    }

    /// Each value of `got` must equal that of `want` to `tolerance * scale[i]`; with no tolerance exactly, NaN for NaN.
    fn compare<T: Real>(&mut self, size: usize, tolerance: f64, got: &[T], want: &[T], scale: impl Fn(usize) -> f64) {
        if got.len() != want.len() {
            return self.fail(format!("size {size}: {} values, expected {}", got.len(), want.len()));
        }
        self.note(size, 0.0, tolerance, String::new);
        for (i, (&got, &want)) in got.iter().zip(want).enumerate() {
            let error = if got == want || (got.is_nan() && want.is_nan()) {
                0.0
            } else if tolerance == 0.0 {
                f64::INFINITY
            } else {
                (got.into_f64() - want.into_f64()).abs() / scale(i)
            };
            if error != 0.0 {
                self.note(size, error, tolerance, || {
                    format!("size {size}: value {i} is {}, expected {}", shown(got), shown(want))
                });
            }
        }
    }

    /// Equality to the last bit.
    fn exact<T: Real>(&mut self, size: usize, got: &[T], want: &[T]) {
        self.compare(size, 0.0, got, want, |_| 1.0);
    }
}

/// What numbers a check computes with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Data {
    /// -3 to 3: sums of a million products stay exact in single precision.
    Whole,
    /// Uniform in (-1, 1).
    Random,
}

impl Data {
    const ALL: [Data; 2] = [Data::Whole, Data::Random];

    fn value<T: Real>(self, rng: &mut StdRng) -> T {
        match self {
            Data::Whole => T::from_f64(f64::from(rng.random_range(-3_i32..=3))),
            Data::Random => T::from_f64(rng.random_range(-1.0..1.0)),
        }
    }

    fn values<T: Real>(self, rng: &mut StdRng, len: usize) -> Vec<T> {
        (0..len).map(|_| self.value(rng)).collect()
    }

    /// Zero for whole numbers, else `roundings` times half the distance of neighbouring numbers.
    fn tolerance<T: Real>(self, roundings: usize) -> f64 {
        match self {
            Data::Whole => 0.0,
            Data::Random => roundings as f64 * T::epsilon().into_f64() / 2.0,
        }
    }
}

fn seeded(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(got: &[f64], want: &[f64], tolerance: f64) -> Worst {
        let mut worst = Worst::default();
        worst.compare(got.len(), tolerance, got, want, |_| 2.0);
        worst
    }

    #[test]
    fn errors_are_relative_to_the_scale_and_the_worst_is_kept() {
        let worst = outcome(&[1.0, 2.5, 3.1], &[1.0, 2.0, 3.0], 0.3);
        assert_eq!((worst.error, worst.tolerance), (0.25, 0.3));
        assert!(worst.failure.is_none());
        let worst = outcome(&[1.0, 2.5], &[1.0, 2.0], 0.2);
        assert!(worst.failure.unwrap().contains("value 1 is 2.5, expected 2"));
    }

    #[test]
    fn nothing_wrong_passes_for_right() {
        assert!(outcome(&[f64::NAN, f64::INFINITY], &[f64::NAN, f64::INFINITY], 0.0).failure.is_none());
        for (got, want, tolerance) in [
            (vec![f64::NAN], vec![1.0], 1e-3),
            (vec![1.0], vec![f64::NAN], 1e-3),
            (vec![f64::INFINITY], vec![1.0], 1e-3),
            (vec![1.0 + f64::EPSILON], vec![1.0], 0.0),
            (vec![1.0], vec![1.0, 2.0], 1.0),
        ] {
            assert!(outcome(&got, &want, tolerance).failure.is_some(), "{got:?} {want:?}");
        }
    }

    #[test]
    fn an_error_of_the_library_fails_the_check() {
        let mut worst = Worst::default();
        worst.fail("no".into());
        assert!(worst.error.is_infinite() && worst.failure.is_some());
    }
}
