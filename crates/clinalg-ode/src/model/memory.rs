//! Whether the vectors of a system fit the memory of the host.

use crate::{Error, Result};

/// Vectors that a problem has on the host at least: its initial values, what they are made from, and a copy in the precision of the
/// computation.
const VECTORS: u128 = 3;

/// Bytes that the system has left for programs, where it says so.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// # Errors
/// [`Error::Memory`] where so many components do not fit; nothing has been allocated then.
pub(crate) fn check_host(components: usize) -> Result<()> {
    let needs = components as u128 * VECTORS * size_of::<f64>() as u128;
    let available = match available() {
        Some(left) if needs > u128::from(left) => left,
        // A limit of the process.
        _ if Vec::<f64>::new().try_reserve_exact(components).is_err() => 0,
        _ => return Ok(()),
    };
    let needs = format!("{needs} for the initial values of {components} components");
    Err(Error::Memory { place: "in the memory of the host: take fewer grid points", needs, available })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_that_do_not_fit_are_an_error_before_any_allocation() {
        assert!(check_host(1000).is_ok());
        for components in [1 << 42, 1 << 48, usize::MAX] {
            assert_eq!(check_host(components).unwrap_err().id(), "clinalg:ode:memory");
        }
    }
}
