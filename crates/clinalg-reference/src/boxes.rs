//! Finite volumes on boxes: the balance of the cell around each point, face by face.

/// What holds at an end of a direction, with 0 in the place of its value g.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// u = 0.
    Dirichlet,
    /// alpha u + d du/dn = 0.
    Robin(f64),
    /// The other end follows.
    Periodic,
}

/// A direction of a box.
#[derive(Debug, Clone)]
pub struct Axis {
    /// The ends of the intervals, ascending.
    pub nodes: Vec<f64>,
    /// Whether the points lie in the middle of the intervals rather than at their ends.
    pub cells: bool,
    /// The conditions where the coordinate is smallest and largest.
    pub ends: [End; 2],
    /// The coefficient.
    pub d: f64,
}

/// What a point has on one side.
enum Beside {
    /// A point, and how far away it is.
    Point(usize, f64),
    /// The end of the box, and how far away it is.
    End(End, f64),
}

impl Axis {
    /// Number of points.
    pub fn points(&self) -> usize {
        self.nodes.len() - usize::from(self.cells || self.ends[0] == End::Periodic)
    }

    /// Whether the point is a value that is held.
    fn held(&self, i: usize) -> bool {
        let last = self.points() - 1;
        !self.cells && (i == 0 && self.ends[0] == End::Dirichlet || i == last && self.ends[1] == End::Dirichlet)
    }

    /// Coordinate of a point, of those one period before and after as well.
    fn at(&self, i: isize) -> f64 {
        let n = self.points() as isize;
        let length = self.nodes[self.nodes.len() - 1] - self.nodes[0];
        let (k, periods) = (i.rem_euclid(n) as usize, i.div_euclid(n));
        let x = if self.cells { 0.5 * (self.nodes[k] + self.nodes[k + 1]) } else { self.nodes[k] };
        x + periods as f64 * length
    }

    /// What lies below (step -1) or above (step 1) point `i`.
    fn beside(&self, i: usize, step: isize) -> Beside {
        let (n, next) = (self.points() as isize, i as isize + step);
        let end = if step < 0 { 0 } else { 1 };
        if (0..n).contains(&next) || (self.ends[0] == End::Periodic && n > 1) {
            return Beside::Point(next.rem_euclid(n) as usize, (self.at(next) - self.at(i as isize)).abs());
        }
        let node = if end == 0 { self.nodes[0] } else { self.nodes[self.nodes.len() - 1] };
        Beside::End(self.ends[end], if self.cells { (node - self.at(i as isize)).abs() } else { 0.0 })
    }

    /// The width of the cell around point `i`.
    fn width(&self, i: usize) -> f64 {
        if self.cells {
            return self.nodes[i + 1] - self.nodes[i];
        }
        let half = |step| match self.beside(i, step) {
            Beside::Point(_, distance) => 0.5 * distance,
            // A periodic direction of one point is its own neighbour.
            Beside::End(End::Periodic, _) => 0.5 * (self.nodes[1] - self.nodes[0]),
            Beside::End(..) => 0.0,
        };
        half(-1) + half(1)
    }
}

/// What flows out of the cell around each point in the field `u`, with `shift` u produced in it; 0 at points that are held. Point
/// (i, j, k) is `u[(k ny + j) nx + i]`. With the magnitude of the terms of each sum.
pub fn outflow(axes: &[Axis], shift: f64, u: &[f64]) -> Vec<(f64, f64)> {
    let counts: Vec<_> = axes.iter().map(Axis::points).collect();
    let index = |p: usize, d: usize| p / counts[..d].iter().product::<usize>() % counts[d];
    let balance = |p: usize| {
        if axes.iter().enumerate().any(|(d, axis)| axis.held(index(p, d))) {
            return (0.0, 0.0);
        }
        let volume: f64 = axes.iter().enumerate().map(|(d, axis)| axis.width(index(p, d))).product();
        let mut terms = vec![volume * shift * u[p]];
        for (d, axis) in axes.iter().enumerate() {
            let (i, stride) = (index(p, d), counts[..d].iter().product::<usize>());
            let others = axes.iter().enumerate().filter(|(other, _)| *other != d);
            let area: f64 = others.map(|(other, axis)| axis.width(index(p, other))).product();
            for step in [-1, 1] {
                match axis.beside(i, step) {
                    Beside::Point(q, distance) => {
                        let flux = axis.d * area / distance;
                        terms.extend([flux * u[p], -flux * u[p - i * stride + q * stride]]);
                    }
                    Beside::End(End::Dirichlet, distance) => terms.push(axis.d * area / distance * u[p]),
                    // The value on the side from which as much comes as leaves: d (u - v) / distance = alpha v.
                    Beside::End(End::Robin(alpha), distance) => {
                        let v = axis.d * u[p] / (axis.d + alpha * distance);
                        terms.push(area * alpha * v);
                    }
                    Beside::End(End::Periodic, _) => {}
                }
            }
        }
        (terms.iter().sum(), terms.iter().map(|term| term.abs()).sum())
    };
    (0..counts.iter().product()).map(balance).collect()
}

/// What is produced by a source `f` in the cell around each point, and flows in by the values g of the ends; 0 at points
/// that are held. `side` gives the value of end 0 or 1 of a direction at the point with this index among those of the
/// side, x fastest; at points that several ends hold, the last one of them does. With the magnitude of the terms of each
/// sum.
pub fn inflow(axes: &[Axis], f: &[f64], side: impl Fn(usize, usize, usize) -> f64) -> Vec<(f64, f64)> {
    let counts: Vec<_> = axes.iter().map(Axis::points).collect();
    let stride = |d: usize| counts[..d].iter().product::<usize>();
    let index = |p: usize, d: usize| p / stride(d) % counts[d];
    let on_side = |p: usize, d: usize| p % stride(d) + p / (stride(d) * counts[d]) * stride(d);
    // The value of a point that is held.
    let given = |p: usize| {
        let mut value = None;
        for (d, axis) in axes.iter().enumerate() {
            for end in 0..2 {
                let at_end = index(p, d) == [0, counts[d] - 1][end];
                if at_end && !axis.cells && axis.ends[end] == End::Dirichlet {
                    value = Some(side(d, end, on_side(p, d)));
                }
            }
        }
        value
    };
    let balance = |p: usize| {
        if given(p).is_some() {
            return (0.0, 0.0);
        }
        let volume: f64 = axes.iter().enumerate().map(|(d, axis)| axis.width(index(p, d))).product();
        let mut terms = vec![volume * f[p]];
        for (d, axis) in axes.iter().enumerate() {
            let i = index(p, d);
            let others = axes.iter().enumerate().filter(|(other, _)| *other != d);
            let area: f64 = others.map(|(other, axis)| axis.width(index(p, other))).product();
            for (end, step) in [-1, 1].into_iter().enumerate() {
                let g = || side(d, end, on_side(p, d));
                match axis.beside(i, step) {
                    Beside::Point(q, distance) => {
                        let neighbour = p - i * stride(d) + q * stride(d);
                        terms.extend(given(neighbour).map(|value| axis.d * area / distance * value));
                    }
                    Beside::End(End::Dirichlet, distance) => terms.push(axis.d * area / distance * g()),
                    // d (v - u) / distance = g - alpha v, of which this is the part of g.
                    Beside::End(End::Robin(alpha), distance) => {
                        terms.push(area * axis.d * g() / (axis.d + alpha * distance));
                    }
                    Beside::End(End::Periodic, _) => {}
                }
            }
        }
        (terms.iter().sum(), terms.iter().map(|term| term.abs()).sum())
    };
    (0..counts.iter().product()).map(balance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cells of widths 1 and 3 by one of height 2, d = 3 along x.
    #[test]
    fn cells_take_what_their_ends_bring() {
        let along = Axis { nodes: vec![0.0, 1.0, 4.0], cells: true, ends: [End::Dirichlet, End::Robin(2.0)], d: 3.0 };
        let across = Axis { nodes: vec![0.0, 2.0], cells: true, ends: [End::Robin(0.0); 2], d: 1.0 };
        let values = [[7.0, 5.0], [10.0, 100.0]];
        let got = inflow(&[along, across], &[1.0, 4.0], |axis, end, at| values[axis][end] + at as f64);
        // f 2 = 2; 3 / (1/2) 2 7 = 84; fluxes 10 and 100 through ends of length 1.
        assert_eq!(got[0], (2.0 + 84.0 + 110.0, 196.0));
        // f 6 = 24; half a cell of 3/2 before an end with alpha = 2: 2 3 5 / (3 + 3) = 5; fluxes 11 and 101 through ends of
        // length 3.
        assert_eq!(got[1], (24.0 + 5.0 + 336.0, 365.0));
    }

    /// Three by three points, of which those on the sides x = 0 and y = 2 are held.
    #[test]
    fn points_that_are_held_act_on_their_neighbours() {
        let axis = |ends| Axis { nodes: vec![0.0, 1.0, 2.0], cells: false, ends, d: 1.0 };
        let axes = [axis([End::Dirichlet, End::Robin(0.0)]), axis([End::Robin(1.0), End::Dirichlet])];
        let side = |axis: usize, end: usize, at: usize| (100 * (2 * axis + end + 1) + at) as f64;
        let got: Vec<f64> = inflow(&axes, &[0.0; 9], side).into_iter().map(|(value, _)| value).collect();
        // (1, 0): half of the 100 at (0, 0), and 301 through the end below. (2, 0): 200 and 302 through halves of ends.
        assert_eq!(got[..3], [0.0, 50.0 + 301.0, 100.0 + 151.0]);
        // (1, 1): 101 at (0, 1), 401 at (1, 2). (2, 1): 201 through an end, half of the 402 at (2, 2).
        assert_eq!(got[3..], [0.0, 101.0 + 401.0, 201.0 + 201.0, 0.0, 0.0, 0.0]);
    }
}
