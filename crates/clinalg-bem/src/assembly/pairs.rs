//! Pairs of elements.

use crate::quadrature::{Contact, PairPoint};

/// A rule on two triangles that share a vertex or an edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SingularPair {
    pub(crate) contact: Contact,
    /// The rule's first triangle is the trial triangle.
    pub(crate) exchanged: bool,
    /// The rule counts half.
    pub(crate) halved: bool,
    /// The corners of the rule's first and second triangle in the rule's order.
    pub(crate) first: [usize; 3],
    pub(crate) second: [usize; 3],
}

impl SingularPair {
    /// Barycentric coordinates of `point` on the test and on the trial triangle.
    pub(crate) fn coordinates(&self, point: &PairPoint) -> ([f64; 3], [f64; 3]) {
        let (mut x, mut y) = ([0.0; 3], [0.0; 3]);
        for c in 0..3 {
            x[self.first[c]] = point.x[c];
            y[self.second[c]] = point.y[c];
        }
        if self.exchanged { (y, x) } else { (x, y) }
    }
}
