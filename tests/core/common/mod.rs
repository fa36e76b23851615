//! What the device tests share: every device found in both shapes, data, bounds, child processes.

// Each test program uses its part of this module.
#![allow(dead_code)]

pub(crate) mod grids;

use std::process::{Command, Output};
use std::sync::LazyLock;

use clinalg::runtime::{DeviceKind, devices};
use clinalg::{BandParts, CsrParts};
use clinalg::{Context, ContextOptions, Device, Error, KernelFamily, Precision, Real, Scalar};

/// The sequential products with `a`.
pub(crate) fn oracle<T>(a: &CsrParts<T>) -> clinalg_reference::csr::Csr<'_, T> {
    let CsrParts { rows, cols, offsets, indices, values } = a;
    clinalg_reference::csr::Csr { rows: *rows, cols: *cols, offsets, indices, values }
}

/// The sequential products with `a`.
pub(crate) fn band_oracle<T>(a: &BandParts<T>) -> clinalg_reference::band::Band<'_, T> {
    let BandParts { rows, cols, kl, ku, data } = a;
    clinalg_reference::band::Band { rows: *rows, cols: *cols, kl: *kl, ku: *ku, data }
}

/// Where kernels change their path: empty, one, around eight lanes, around a work-group, around a block, large.
pub(crate) const SIZES: &[usize] = &[0, 1, 2, 7, 8, 9, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 100_003];
/// Why a test of both families of kernels is skipped.
pub(crate) const ONE_FAMILY: &str = "both families of kernels are for CLINALG_TEST_THOROUGH";

/// Why a test in single precision is skipped.
const ONE_PRECISION: &str = "single precision is for CLINALG_TEST_THOROUGH where the device has double precision";

/// Several blocks per chunk and several strides per work-item.
pub(crate) const LARGE: usize = (1 << 21) + 3;

static DEVICES: LazyLock<Result<Vec<Device>, Error>> = LazyLock::new(devices);

static CONTEXTS: LazyLock<Vec<Context>> = LazyLock::new(|| {
    let found = DEVICES.as_deref().unwrap_or_default();
    let mut contexts = Vec::new();
    for device in found {
        for family in clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]) {
            let options = ContextOptions { family, ..ContextOptions::default() };
            contexts.push(Context::new(device, &options).expect("a listed device gives a context"));
        }
    }
    contexts
});

/// A context per device found and shape, shared by all tests of the program.
pub(crate) fn contexts() -> &'static [Context] {
    match clinalg_testing::found(DEVICES.as_ref()) {
        Some(_) => &CONTEXTS,
        None => &[],
    }
}

/// A context of its own on the first device, for tests that look at its memory account.
pub(crate) fn own_context() -> Option<Context> {
    let devices = clinalg_testing::found(devices())?;
    Some(Context::new(&devices[0], &ContextOptions::default()).expect("a listed device gives a context"))
}

/// Whether the device computes in `T`, with a line that says so when it does not.
pub(crate) fn has<T: Scalar>(context: &Context) -> bool {
    match context.require::<T>() {
        Ok(()) => true,
        Err(error) => {
            clinalg_testing::skip_part(error);
            false
        }
    }
}

/// Whether tests take `T` on the device: what it computes in, single precision in a thorough run or for want of double only, since
/// most of the time is spent on building kernels. The family of kernels that does not suit the device takes single precision in the
/// long cases only.
pub(crate) fn takes<T: Scalar>(context: &Context) -> bool {
    let suits = (context.family() == KernelFamily::Cpu) == (context.device().kind == DeviceKind::Cpu);
    let single = clinalg_testing::long() || (clinalg_testing::thorough() && suits);
    (T::PRECISION == Precision::F64 || single || context.require::<f64>().is_err()) && has::<T>(context)
}

/// Whether tests of single precision alone run; records that they do not.
pub(crate) fn single() -> bool {
    let taken = contexts().iter().any(takes::<f32>);
    if !taken {
        clinalg_testing::skip(ONE_PRECISION);
    }
    taken
}

/// The contexts on which tests take `T`.
pub(crate) fn capable<T: Real>() -> impl Iterator<Item = &'static Context> {
    contexts().iter().filter(|context| takes::<T>(context))
}

/// Runs a check that is generic over the precision on every device, shape and precision that tests take.
#[macro_export]
macro_rules! on_every_device {
    ($check:ident) => {
        for context in $crate::common::contexts() {
            if $crate::common::takes::<f32>(context) {
                $check::<f32>(context);
            }
            if $crate::common::takes::<f64>(context) {
                $check::<f64>(context);
            }
        }
    };
}

/// Reproducible numbers.
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.bits() % bound as u64) as usize
    }

    /// In [-1, 1).
    pub(crate) fn value<T: Real>(&mut self) -> T {
        T::from_f64((self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
    }
}

/// `n` numbers in [-1, 1).
pub(crate) fn noise<T: Real>(n: usize, seed: u64) -> Vec<T> {
    let mut noise = Noise::new(seed);
    (0..n).map(|_| noise.value()).collect()
}

/// Unit roundoff times two.
pub(crate) fn eps<T: Real>() -> f64 {
    T::epsilon().into_f64()
}

/// The largest absolute value; NaN where one is NaN.
pub(crate) fn largest<T: Real>(values: impl IntoIterator<Item = T>) -> f64 {
    values
        .into_iter()
        .fold(0.0, |most: f64, v| if v.is_nan() || most.is_nan() { f64::NAN } else { v.into_f64().abs().max(most) })
}

/// The largest absolute difference; NaN where a value is NaN.
pub(crate) fn difference<T: Real>(a: &[T], b: &[T]) -> f64 {
    assert_eq!(a.len(), b.len());
    largest(a.iter().zip(b).map(|(a, b)| a.into_f64() - b.into_f64()))
}

/// Fails unless every value is within its bound of the wanted one; NaN and infinities must be the same.
pub(crate) fn assert_close<T: Real>(what: &str, got: &[T], want: &[T], bound: impl Fn(usize) -> f64) {
    assert_eq!(got.len(), want.len(), "{what}: length");
    for (i, (&got, &want)) in got.iter().zip(want).enumerate() {
        let close = if want.is_finite() {
            (got.into_f64() - want.into_f64()).abs() <= bound(i)
        } else {
            got == want || got.is_nan() && want.is_nan()
        };
        assert!(close, "{what}: value {i} is {got:e}, wanted {want:e} within {:e}", bound(i));
    }
}

/// Fails unless the bits are the same; a NaN is a NaN.
pub(crate) fn assert_same<T: Real>(what: &str, got: &[T], want: &[T]) {
    assert_close(what, got, want, |_| 0.0);
}

/// A bound for the error of row `i` of y = alpha A x + beta y: each of the row's products and sums, and the final
/// combination, is rounded once on the device and once in the reference.
pub(crate) fn product_bound<T: Real>(a: &CsrParts<T>, alpha: T, x: &[T], beta: T, y: &[T], i: usize) -> f64 {
    let (mut count, mut magnitude) = (0, 0.0);
    for (j, value) in a.row(i) {
        count += 1;
        magnitude += (value.into_f64() * x[j].into_f64()).abs();
    }
    let old = if beta == T::zero() { 0.0 } else { (beta.into_f64() * y[i].into_f64()).abs() };
    (f64::from(count) + 4.0) * eps::<T>() * (alpha.into_f64().abs() * magnitude + old)
}

/// A random sparse matrix with `lengths(row)` entries in each row.
pub(crate) fn sparse<T: Real>(rows: usize, cols: usize, seed: u64, lengths: impl Fn(usize) -> usize) -> CsrParts<T> {
    let mut noise = Noise::new(seed);
    let mut entries = Vec::new();
    for i in 0..rows {
        for _ in 0..lengths(i) {
            entries.push((i, noise.below(cols), noise.value()));
        }
    }
    CsrParts::from_triplets(rows, cols, &entries).unwrap()
}

/// Fails unless `result` is the error with this identifier that names this argument; gives its words.
pub(crate) fn assert_error<T: std::fmt::Debug>(result: Result<T, Error>, id: &str, argument: &str) -> String {
    let error = result.expect_err(id);
    assert_eq!(error.id(), id, "{error}");
    let message = error.to_string();
    assert!(message.contains(&format!("`{argument}`")), "`{argument}` is not named: {message}");
    message
}

/// Marks a process started by [`child`].
const CHILD: &str = "CLINALG_TEST_CHILD";

/// Whether this process was started by [`child`].
pub(crate) fn in_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// The test `name` of this program in a process of its own, with these environment variables.
pub(crate) fn child_command(name: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    command.envs(variables.iter().copied());
    command
}

/// Runs [`child_command`] and fails unless the test passes there.
pub(crate) fn child(name: &str, variables: &[(&str, &str)]) -> String {
    passed(name, child_command(name, variables).output().unwrap())
}

/// Fails unless the child's test passed.
pub(crate) fn passed(name: &str, output: Output) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{name} in a child process: {text}");
    text
}

/// A number of kilobytes from a file of `/proc`, as bytes.
pub(crate) fn proc_bytes(file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
