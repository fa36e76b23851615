//! Events that happened, and the search for their times.

use serde::Serialize;

/// An event that happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Occurrence {
    /// Which, counted from 0 in the order they were added.
    pub event: usize,
    /// When.
    pub t: f64,
}

/// The place in (0, 1] where `value` changes sign, to the last bit, by halving: `value` has the sign of `before` at 0 and
/// another one, or is zero, at 1.
pub(crate) fn crossing(before: f64, mut value: impl FnMut(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    loop {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            return high;
        }
        if (value(middle) < 0.0) == (before < 0.0) && value(middle) != 0.0 { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_found_to_the_last_bits() {
        let root = crossing(-1.0, |s| s * s - 0.5);
        assert!((root - 0.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!(crossing(1.0, |s| if s < 0.25 { 1.0 } else { 0.0 }), 0.25);
        assert_eq!(crossing(1.0, |s| 1.0 - s), 1.0);
    }
}
