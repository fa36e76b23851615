//! Events that happened, and the search for their times.

use std::sync::LazyLock;

use serde::Serialize;

use crate::model::Direction;

/// An event that happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Occurrence {
    /// Which, counted from 0 in the order they were added.
    pub event: usize,
    /// When.
    pub t: f64,
}

/// A place inside a step where a function passes through zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crossing {
    /// From 0, where the step begins, to 1.
    pub(crate) theta: f64,
    /// [`Direction::Rising`] or [`Direction::Falling`].
    pub(crate) direction: Direction,
}

/// Degree of the polynomials that stand for the function on a part of the step.
const DEGREE: usize = 16;

/// Parts are halved at most so often.
const DEEPEST: u32 = 44;

/// Most evaluations of the function in a step.
const EVALUATIONS: usize = 1 << 20;

/// Coefficients of a polynomial's last terms, relative to the largest value, below which it stands for the function.
const RESOLVED: f64 = 1e-9;

/// cos(pi k / [`DEGREE`]).
static COSINES: LazyLock<[f64; 2 * DEGREE]> =
    LazyLock::new(|| std::array::from_fn(|k| (std::f64::consts::PI * k as f64 / DEGREE as f64).cos()));

/// All places in (0, 1] where `value` changes its sign, in their order, to the last bit. `before` and `after` are its values at
/// both ends. A value that becomes 0 and stays so, or is 0 at the end, counts where it becomes 0; one that leaves 0 does not count, nor
/// does a change of sign at a pole or across values that are not finite. `None` where the function has too many zeros or jumps to
/// tell them apart.
///
/// Parts of the step are halved until a Chebyshev polynomial stands for the function there and has no zero, or one at
/// most since its derivative has none (Boyd 2002, SIAM J. Numer. Anal. 40(5)).
pub(crate) fn crossings(before: f64, after: f64, value: &mut dyn FnMut(f64) -> f64) -> Option<Vec<Crossing>> {
    let mut search = Search { value, evaluations: 0, size: 0.0, marks: Vec::new() };
    // Two parts from the beginning: a narrow peak in the middle of a step must not pass for nothing.
    let middle = (search.value)(0.5);
    search.size = [before, middle, after].into_iter().filter(|v| v.is_finite()).fold(0.0, |m, v| m.max(v.abs()));
    for (from, to) in [((0.0, before), (0.5, middle)), ((0.5, middle), (1.0, after))] {
        search.part(from, to, 1)?;
    }
    if search.marks.last().is_none_or(|(theta, _)| *theta < 1.0) {
        search.marks.push((1.0, after));
    }
    Some(search.signs((0.0, before)))
}

/// A place and the value there.
type Mark = (f64, f64);

struct Search<'f> {
    value: &'f mut dyn FnMut(f64) -> f64,
    evaluations: usize,
    /// Largest finite magnitude on the coarsest parts.
    size: f64,
    /// In their order; between two of them the sign changes once at most.
    marks: Vec<Mark>,
}

impl Search<'_> {
    fn part(&mut self, from: Mark, to: Mark, depth: u32) -> Option<()> {
        let half = 0.5 * (to.0 - from.0);
        let middle = from.0 + half;
        let mut nodes = [from; DEGREE + 1];
        nodes[DEGREE] = to;
        for (k, node) in nodes.iter_mut().enumerate().take(DEGREE).skip(1) {
            let theta = middle - half * COSINES[k];
            *node = (theta, (self.value)(theta));
        }
        self.evaluations += DEGREE;
        if self.evaluations > EVALUATIONS {
            return None;
        }
        let finite = || nodes.iter().map(|node| node.1).filter(|v| v.is_finite());
        let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let largest = low.abs().max(high.abs());
        if depth <= 2 && low <= high {
            self.size = self.size.max(largest);
        }
        match finite().count() {
            0 => {
                self.marks.push(to);
                return Some(());
            }
            // Constant, zero among others.
            _ if finite().count() == nodes.len() && low == high => {
                self.marks.extend([from, to]);
                return Some(());
            }
            count if count == nodes.len() => {
                if Polynomial::through(&nodes).crosses_once_at_most(largest) {
                    self.marks.push(to);
                    return Some(());
                }
                // Far from zero for its variation, whatever varies: a jump or a kink is not followed to the last bit.
                let nearest = finite().fold(f64::INFINITY, |m, v| m.min(v.abs()));
                if depth >= 3 && low.signum() == high.signum() && nearest > 2.0 * (high - low) {
                    self.marks.push(to);
                    return Some(());
                }
                if depth >= 8 && largest <= 16.0 * self.noise(middle) {
                    return Some(());
                }
            }
            _ => {}
        }
        if depth == DEEPEST {
            self.marks.extend(&nodes[1..]);
            return Some(());
        }
        let center = nodes[DEGREE / 2];
        self.part(from, center, depth + 1)?;
        self.part(center, to, depth + 1)
    }

    /// By how much rounding changes the value near a place.
    fn noise(&mut self, theta: f64) -> f64 {
        let here = (self.value)(theta);
        (1..=4).map(|k| ((self.value)(theta + 1e-13 * f64::from(k)) - here).abs()).fold(0.0, f64::max)
    }

    /// The changes of sign between the marks.
    fn signs(mut self, begin: Mark) -> Vec<Crossing> {
        let mut found = Vec::new();
        let nonzero = |mark: Mark| (mark.1 != 0.0 && mark.1.is_finite()).then_some(mark);
        let mut last = nonzero(begin);
        let mut zero: Option<f64> = None;
        for mark in std::mem::take(&mut self.marks) {
            let (theta, value) = mark;
            if !value.is_finite() {
                (last, zero) = (None, None);
            } else if value == 0.0 {
                if let (Some(from), true) = (last, zero.is_some_and(|z| z < theta) || theta == 1.0) {
                    found.extend(self.halve(from, zero.unwrap_or(theta)));
                    last = None;
                }
                zero = zero.or(Some(theta));
            } else {
                if let Some(from) = last.filter(|from| (from.1 < 0.0) != (value < 0.0)) {
                    found.extend(self.halve(from, theta));
                }
                (last, zero) = (Some(mark), None);
            }
        }
        found
    }

    /// The place where the value is no longer of the sign that it has at `from`, unless it is a pole.
    fn halve(&mut self, from: Mark, to: f64) -> Option<Crossing> {
        let (mut low, mut high) = (from.0, to);
        let mut ends = [from.1, f64::NAN];
        loop {
            let middle = low.midpoint(high);
            if middle <= low || middle >= high {
                break;
            }
            let value = (self.value)(middle);
            if value != 0.0 && (value < 0.0) == (from.1 < 0.0) {
                (low, ends[0]) = (middle, value);
            } else {
                (high, ends[1]) = (middle, value);
            }
        }
        let pole = ends.iter().all(|v| v.abs() > 1e3 * self.size);
        let direction = if from.1 < 0.0 { Direction::Rising } else { Direction::Falling };
        (!pole).then_some(Crossing { theta: high, direction })
    }
}

/// Coefficients of Chebyshev polynomials.
struct Polynomial([f64; DEGREE + 1]);

impl Polynomial {
    /// With these values at the extrema of the last Chebyshev polynomial.
    fn through(nodes: &[Mark; DEGREE + 1]) -> Polynomial {
        Polynomial(std::array::from_fn(|k| {
            let end = |j: usize| if j == 0 || j == DEGREE { 0.5 } else { 1.0 };
            // The nodes run from -1 to 1, the cosines from 1 to -1.
            let term = |j: usize| end(j) * nodes[DEGREE - j].1 * COSINES[j * k % (2 * DEGREE)];
            end(k) * 2.0 / DEGREE as f64 * (0..=DEGREE).map(term).sum::<f64>()
        }))
    }

    /// Whether it stands for the function and has one zero at most.
    fn crosses_once_at_most(&self, largest: f64) -> bool {
        let dominates = |c: &[f64], margin: f64| c[0].abs() > c[1..].iter().map(|c| c.abs()).sum::<f64>() + margin;
        let Polynomial(c) = self;
        let tail = c[DEGREE - 3..].iter().fold(0.0, |m: f64, c| m.max(c.abs()));
        if tail > RESOLVED * largest {
            return false;
        }
        let mut derivative = [0.0; DEGREE + 2];
        for k in (1..=DEGREE).rev() {
            derivative[k - 1] = derivative[k + 1] + 2.0 * k as f64 * c[k];
        }
        derivative[0] *= 0.5;
        dominates(c, 4.0 * tail) || dominates(&derivative, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(mut value: impl FnMut(f64) -> f64) -> Vec<(f64, bool)> {
        let (before, after) = (value(0.0), value(1.0));
        let found = crossings(before, after, &mut value).expect("few zeros");
        found.into_iter().map(|c| (c.theta, c.direction == Direction::Rising)).collect()
    }

    fn near(found: &[(f64, bool)], expected: &[(f64, bool)]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (f, e) in found.iter().zip(expected) {
            assert!((f.0 - e.0).abs() < 2e-15 && f.1 == e.1, "{found:?}");
        }
    }

    #[test]
    fn zeros_are_found_to_the_last_bits() {
        near(&places(|s| s * s - 0.5), &[(0.5_f64.sqrt(), true)]);
        near(&places(|s| if s < 0.25 { 1.0 } else { 0.0 }), &[(0.25, false)]);
        near(&places(|s| 1.0 - s), &[(1.0, false)]);
        near(&places(|s| s), &[]);
        near(&places(|s| if s < 0.7 { 1.0 } else { -1.0 }), &[(0.7, false)]);
    }

    #[test]
    fn zeros_that_a_comparison_of_the_ends_cancels_are_found() {
        near(&places(|s| (s - 0.3) * (s - 0.4)), &[(0.3, false), (0.4, true)]);
        near(&places(|s| (s - 0.5) * (s - 0.500_001)), &[(0.5, false), (0.500_001, true)]);
        near(&places(|s| s * (s - 0.6)), &[(0.6, true)]);
        near(&places(|s| (s - 0.2).abs() - 0.1), &[(0.1, false), (0.3, true)]);
        let many = places(|s| (100.0 * s + 0.5).sin());
        assert_eq!(many.len(), 31, "{many:?}");
        for (k, (theta, rising)) in many.iter().enumerate() {
            assert!((theta - (std::f64::consts::PI * (k + 1) as f64 - 0.5) / 100.0).abs() < 1e-14);
            assert_eq!(*rising, k % 2 == 1);
        }
        assert_eq!(places(|s| (20_000.0 * s + 0.5).sin()).len(), 6366);
        // A peak that is a hundredth of the step wide.
        let peak = [-1.0, 1.0].map(|sign| 0.37 + sign * 0.005 * 3.0_f64.sqrt());
        near(&places(|s| 1.0 - 4.0 / (1.0 + ((s - 0.37) / 0.005).powi(2))), &[(peak[0], false), (peak[1], true)]);
    }

    #[test]
    fn touching_poles_and_gaps_are_no_zeros() {
        near(&places(|s| (s - 0.3).powi(2)), &[]);
        near(&places(|s| 1.0 / (s - 0.3)), &[]);
        near(
            &places(|s| (7.0 * s).tan()),
            &[(std::f64::consts::PI / 7.0, true), (2.0 * std::f64::consts::PI / 7.0, true)],
        );
        near(&places(|s| if (0.2..0.6).contains(&s) { f64::NAN } else { s - 0.4 }), &[]);
        near(&places(|_| 0.0), &[]);
        // Rounding around zero: x^2 - 2 x + 1 - (x - 1)^2.
        near(&places(|s| s * s - 2.0 * s + 1.0 - (s - 1.0) * (s - 1.0)), &[]);
    }

    #[test]
    fn a_nan_at_the_end_hides_no_zero_before_it() {
        near(&places(|s| (0.9 - s).sqrt() - 0.5), &[(0.65, false)]);
        near(&places(|s| (s - 0.2).ln() + 1.0), &[((-1.0_f64).exp() + 0.2, true)]);
    }

    #[test]
    fn more_zeros_than_can_be_told_apart_are_not_left_out_silently() {
        assert_eq!(crossings(0.5, 0.5, &mut |s| (1e9 * s + 0.5).sin()), None);
    }
}
