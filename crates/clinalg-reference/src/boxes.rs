//! Finite volumes on boxes: the balance of the cell around each point, face by face.

/// What holds at an end of a direction; the values of the ends are 0.
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
