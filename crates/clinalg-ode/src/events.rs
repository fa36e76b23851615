//! Events: times at which a function of the solution passes through zero.

use serde::Serialize;

/// Which way a function passes through zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Either way.
    Any,
    /// From below 0 to above.
    Rising,
    /// From above 0 to below.
    Falling,
}

type Function<'e> = Box<dyn FnMut(f64, &[f64]) -> f64 + 'e>;

/// A function of the time and of some components whose zeros are looked for. It is evaluated at the ends of steps; where its
/// sign changes the zero is found on the interpolant of the step. Two zeros inside one step cancel out and are not seen.
pub struct Event<'e> {
    pub(crate) components: Vec<usize>,
    pub(crate) function: Function<'e>,
    pub(crate) direction: Direction,
    pub(crate) terminal: bool,
}

impl<'e> Event<'e> {
    /// Zeros of `function`, which is given the time and the values of `components`, in their order. Only these are read
    /// back from a device.
    pub fn new(components: &[usize], function: impl FnMut(f64, &[f64]) -> f64 + 'e) -> Event<'e> {
        Event {
            components: components.to_vec(),
            function: Box::new(function),
            direction: Direction::Any,
            terminal: false,
        }
    }

    /// Where `component` passes `level`.
    pub fn level(component: usize, level: f64) -> Event<'e> {
        Event::new(&[component], move |_, y| y[0] - level)
    }

    /// Looks one way only.
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Event<'e> {
        self.direction = direction;
        self
    }

    /// Ends the integration where it happens.
    #[must_use]
    pub fn terminal(mut self) -> Event<'e> {
        self.terminal = true;
        self
    }

    /// Whether the values at the ends of a step say that it happened inside. A step that begins at a zero has its event
    /// behind it.
    pub(crate) fn happens(&self, before: f64, after: f64) -> bool {
        let rising = before < 0.0 && after >= 0.0;
        let falling = before > 0.0 && after <= 0.0;
        match self.direction {
            Direction::Any => rising || falling,
            Direction::Rising => rising,
            Direction::Falling => falling,
        }
    }
}

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

    #[test]
    fn directions_are_minded() {
        let both = Event::level(0, 0.0);
        assert!(both.happens(-1.0, 1.0) && both.happens(1.0, -1.0) && both.happens(1.0, 0.0));
        assert!(!both.happens(0.0, 1.0) && !both.happens(1.0, 2.0));
        let rising = Event::level(0, 0.0).direction(Direction::Rising);
        assert!(rising.happens(-1.0, 0.0) && !rising.happens(1.0, -1.0));
        let falling = Event::level(0, 0.0).direction(Direction::Falling);
        assert!(!falling.happens(-1.0, 0.0) && falling.happens(1.0, -1.0));
    }
}
