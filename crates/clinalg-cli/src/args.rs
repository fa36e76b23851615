//! Values of options that several commands share.

pub(crate) mod boxes;

use clap::ValueEnum;
use clinalg::multigrid::Backend;
use clinalg::runtime::DeviceKind;
use clinalg::{DeviceInfo, Precision};
use schemars::JsonSchema;
use serde::Serialize;

/// The name of a value on the command line; empty for one that cannot be given.
pub(crate) fn value_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// `--precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// IEEE single precision, 24 bits
    F32,
    /// IEEE double precision, 53 bits
    F64,
}

impl From<PrecisionArg> for Precision {
    fn from(precision: PrecisionArg) -> Precision {
        match precision {
            PrecisionArg::F32 => Precision::F32,
            PrecisionArg::F64 => Precision::F64,
        }
    }
}

/// `--backend`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum BackendArg {
    /// Kernels specialised for the stencil
    Kernels,
    /// Sparse matrices and vectors only
    Matrix,
    /// Plain sequential Rust; needs no OpenCL
    Reference,
}

impl From<BackendArg> for Backend {
    fn from(backend: BackendArg) -> Backend {
        match backend {
            BackendArg::Kernels => Backend::Kernels,
            BackendArg::Matrix => Backend::Matrix,
            BackendArg::Reference => Backend::Reference,
        }
    }
}

/// Points per side of a grid: 2^k + 1.
pub(crate) fn side(text: &str) -> Result<usize, String> {
    let n: usize = text.trim().parse().map_err(|_| "expected a whole number of points per side, 2^k + 1".to_owned())?;
    if n >= 3 && (n - 1).is_power_of_two() {
        return Ok(n);
    }
    Err(format!("expected 2^k + 1 points per side, so that the grid can be halved{}", nearest(n)))
}

/// Points per side of a square or cube, at least 3.
pub(crate) fn points_per_side(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(n) if n >= 3 => Ok(n),
        _ => Err("expected a whole number of points per side, at least 3".to_owned()),
    }
}

/// The sizes nearest to `n` that can be halved down to 3, as the end of a message.
pub(crate) fn nearest(n: usize) -> String {
    let below = if n <= 5 { 3 } else { (1_usize << (n - 1).ilog2()) + 1 };
    format!("; the nearest are {below} and {}", (below - 1).saturating_mul(2).saturating_add(1))
}

/// Points per side of a grid that need not be halved.
pub(crate) fn points(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(n) if (3..=1 << 30).contains(&n) => Ok(n),
        _ => Err("expected a whole number of points per side, at least 3".into()),
    }
}

/// A finite number above 0.
pub(crate) fn above_zero(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number above 0".into()),
    }
}

/// A finite number of at least 0.
pub(crate) fn at_least_zero(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a finite number, at least 0".into()),
    }
}

/// A point or vector in space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(pub(crate) [f64; 3]);

/// Three finite numbers.
pub(crate) fn point(text: &str) -> Result<Place, String> {
    let values: Vec<f64> = text.split(',').filter_map(|word| word.trim().parse().ok()).collect();
    match values[..] {
        [x, y, z] if values.iter().all(|v| v.is_finite()) && text.split(',').count() == 3 => Ok(Place([x, y, z])),
        _ => Err("expected three numbers, such as 0,0,1.5".into()),
    }
}

/// Dimensions of a grid.
pub(crate) fn dimension(text: &str) -> Result<usize, String> {
    match text.trim() {
        "2" => Ok(2),
        "3" => Ok(3),
        _ => Err("expected 2 for the unit square or 3 for the unit cube".into()),
    }
}

/// Order of a discretisation.
pub(crate) fn order(text: &str) -> Result<usize, String> {
    match text.trim() {
        "2" => Ok(2),
        "4" => Ok(4),
        _ => Err("expected 2 or 4".into()),
    }
}

/// A number that is added to an operator.
pub(crate) fn shift(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a finite number, at least 0: with less the matrix is not positive definite".into()),
    }
}

/// A relaxation factor.
pub(crate) fn relaxation(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value < 2.0 => Ok(value),
        _ => Err("expected a number above 0 and below 2".into()),
    }
}

/// A relative residual to reach.
pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("expected a number between 0 and 1, such as 1e-8".into()),
    }
}

/// As [`tolerance`], or 0: as small as rounding allows.
pub(crate) fn tolerance_or_zero(text: &str) -> Result<f64, String> {
    if text.trim().parse::<f64>() == Ok(0.0) {
        return Ok(0.0);
    }
    tolerance(text).map_err(|_| "expected a number between 0 and 1, such as 1e-8, or 0".into())
}

/// A count of at least 1.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("expected a whole number, at least 1".into()),
    }
}

/// A number of sweeps.
pub(crate) fn sweeps(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(count) if (1..=100).contains(&count) => Ok(count),
        _ => Err("expected a whole number from 1 to 100".into()),
    }
}

/// A number of frames.
pub(crate) fn frames(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(count) if (2..=10_000).contains(&count) => Ok(count),
        _ => Err("expected a whole number from 2 to 10000".into()),
    }
}

/// A device in the JSON documents of the commands that compute.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DeviceName {
    index: usize,
    name: String,
    platform: String,
    platform_version: String,
    driver: String,
    #[schemars(with = "String")]
    kind: DeviceKind,
}

/// Kinds of devices, of which one process tells the others.
const KINDS: [DeviceKind; 4] = [DeviceKind::Cpu, DeviceKind::Gpu, DeviceKind::Accelerator, DeviceKind::Other];

impl DeviceName {
    /// For other processes.
    pub(crate) fn to_text(&self) -> String {
        let kind = KINDS.iter().position(|kind| *kind == self.kind);
        let texts = [&self.name, &self.platform, &self.platform_version, &self.driver];
        serde_json::json!([self.index, kind, texts]).to_string()
    }

    /// What [`DeviceName::to_text`] of another process gave.
    pub(crate) fn from_text(text: &str) -> Option<DeviceName> {
        let (index, kind, [name, platform, platform_version, driver]): (usize, usize, [String; 4]) =
            serde_json::from_str(text).ok()?;
        Some(DeviceName { index, name, platform, platform_version, driver, kind: *KINDS.get(kind)? })
    }
}

impl From<&DeviceInfo> for DeviceName {
    fn from(info: &DeviceInfo) -> DeviceName {
        DeviceName {
            index: info.index,
            name: info.name.clone(),
            platform: info.platform.clone(),
            platform_version: info.platform_version.clone(),
            driver: info.driver.clone(),
            kind: info.kind,
        }
    }
}

impl std::fmt::Display for DeviceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({}, driver {})", self.index, self.name, self.platform, self.driver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_powers_of_two_plus_one() {
        assert_eq!(side("3"), Ok(3));
        assert_eq!(side("1025"), Ok(1025));
        for (text, near) in [("100", "65 and 129"), ("1024", "513 and 1025"), ("0", "3 and 5"), ("4", "3 and 5")] {
            assert!(side(text).unwrap_err().contains(near), "{text}");
        }
        assert!(side("-5").is_err() && side("1e3").is_err() && side("18446744073709551615").is_err());
    }

    #[test]
    fn points_are_three_numbers() {
        assert_eq!(point("0, -1.5,2e3").unwrap().0, [0.0, -1.5, 2000.0]);
        for text in ["", "1,2", "1,2,3,4", "1,x,3", "1,2,nan"] {
            assert!(point(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tolerances_lie_between_0_and_1() {
        assert_eq!(tolerance("1e-8"), Ok(1e-8));
        for text in ["nan", "inf", "-1e-3", "0", "1", "x", ""] {
            assert!(tolerance(text).is_err(), "{text}");
        }
        assert_eq!(tolerance_or_zero("0"), Ok(0.0));
        assert!(tolerance_or_zero("nan").is_err());
    }
}
