//! One direction of a box on one level: its factors of the operator, and how it is coarsened.

use super::grid::{Centring, Condition};

/// A direction of a box: the intervals between its points, or its cells.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) centring: Centring,
    pub(crate) sides: [Condition; 2],
    /// Lengths of the intervals.
    pub(crate) lengths: Vec<f64>,
    pub(crate) diffusion: f64,
}

/// The factors K and M of a direction, integrated over the cells around the points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Factors {
    /// Coupling of each unknown to the one before; the last is that of the last unknown to the one after it.
    pub(crate) couplings: Vec<f64>,
    /// What the diagonal of K has beside the couplings.
    pub(crate) more: Vec<f64>,
    /// The diagonal of M.
    pub(crate) mass: Vec<f64>,
    /// By what the values of the two sides are multiplied in the right-hand side of the first and the last unknown.
    pub(crate) load: [f64; 2],
}

/// Interpolation along a direction: for each fine unknown two coarse ones with their weights.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interpolation {
    pub(crate) from: Vec<[(usize, f64); 2]>,
    pub(crate) coarse: usize,
}

/// Fine unknowns that a coarse one takes part in.
pub(crate) const REACH: usize = 4;
/// One of so many intervals, and one more, may be shorter than the spacing of a direction.
const FEW: usize = 32;

impl Axis {
    pub(crate) fn periodic(&self) -> bool {
        self.sides[0] == Condition::Periodic
    }

    /// Whether the point of that end is known and so no unknown.
    pub(crate) fn held(&self, end: usize) -> bool {
        self.centring == Centring::Vertex && self.sides[end] == Condition::Dirichlet
    }

    /// Number of unknowns.
    pub(crate) fn unknowns(&self) -> usize {
        let intervals = self.lengths.len();
        match self.centring {
            Centring::Cell => intervals,
            Centring::Vertex if self.periodic() => intervals,
            Centring::Vertex => intervals + 1 - usize::from(self.held(0)) - usize::from(self.held(1)),
        }
    }

    /// Whether adding a constant changes nothing that this direction knows of.
    pub(crate) fn floats(&self) -> bool {
        self.sides.iter().all(|side| match side {
            Condition::Dirichlet => false,
            Condition::Robin { alpha } => *alpha == 0.0,
            Condition::Neumann | Condition::Periodic => true,
        })
    }

    /// The factors of the operator.
    pub(crate) fn factors(&self) -> Factors {
        let (n, d, lengths) = (self.unknowns(), self.diffusion, &self.lengths);
        let last = lengths.len() - 1;
        let mut factors =
            Factors { couplings: vec![0.0; n + 1], more: vec![0.0; n], mass: vec![0.0; n], load: [0.0; 2] };
        let Factors { couplings, more, mass, load } = &mut factors;
        let between = |a: f64, b: f64| d / (0.5 * (a + b));
        match self.centring {
            Centring::Cell => {
                mass.copy_from_slice(lengths);
                (1..n).for_each(|i| couplings[i] = between(lengths[i - 1], lengths[i]));
                if self.periodic() && n > 1 {
                    couplings[0] = between(lengths[0], lengths[last]);
                    couplings[n] = couplings[0];
                }
            }
            Centring::Vertex if self.periodic() => {
                for i in 0..n {
                    mass[i] = 0.5 * (lengths[if i == 0 { last } else { i - 1 }] + lengths[i]);
                    couplings[i + 1] = if n > 1 { d / lengths[i] } else { 0.0 };
                }
                couplings[0] = couplings[n];
            }
            Centring::Vertex => {
                // Interval e lies between points e and e + 1, of which point `first` is the first unknown.
                let first = usize::from(self.held(0));
                for (e, &length) in lengths.iter().enumerate() {
                    let (before, after) = ((e + 1).checked_sub(first + 1), e + 1 - first);
                    before.into_iter().for_each(|i| mass[i] += 0.5 * length);
                    if after < n {
                        mass[after] += 0.5 * length;
                    }
                    if before.is_some() && after < n {
                        couplings[after] = d / length;
                    }
                }
            }
        }
        for (end, (unknown, cell)) in [(0, 0), (n - 1, last)].into_iter().enumerate() {
            let length = lengths[cell];
            // From the value of the side to the unknown.
            let beta = match self.centring {
                Centring::Cell => 2.0 * d / length,
                Centring::Vertex if self.held(end) => d / length,
                Centring::Vertex => f64::INFINITY,
            };
            let (diagonal, right) = match self.sides[end] {
                Condition::Periodic => (0.0, 0.0),
                Condition::Neumann => (0.0, 1.0),
                Condition::Dirichlet => (beta, beta),
                Condition::Robin { alpha } if beta.is_infinite() => (alpha, 1.0),
                Condition::Robin { alpha } => (alpha * beta / (alpha + beta), beta / (alpha + beta)),
            };
            more[unknown] += diagonal;
            load[end] = right;
        }
        factors
    }

    /// What boxes_setup.cl knows of each unknown: its places and its factors.
    pub(super) fn rows(&self) -> Vec<([u32; 7], [f64; 7])> {
        let (n, intervals, widths) = (self.unknowns(), self.lengths.len(), self.factors().mass);
        let first = usize::from(self.held(0));
        let ends = if self.periodic() || self.centring == Centring::Cell { intervals } else { intervals + 1 };
        let step = |i: usize, end: usize| match end {
            0 if i > 0 => Some(i - 1),
            1 if i + 1 < ends => Some(i + 1),
            0 => self.periodic().then(|| ends - 1),
            _ => self.periodic().then_some(0),
        };
        (0..n)
            .map(|i| {
                let point = i + first;
                let next = [0, 1].map(|end| step(point, end));
                let around = match self.centring {
                    Centring::Cell => [Some(point); 2],
                    Centring::Vertex => [next[0].map(|before| before % intervals), next[1].map(|_| point)],
                };
                let length = around.map(|cell| cell.map_or(0.0, |cell| self.lengths[cell]));
                // A direction of one point leads nowhere else.
                let kind = next.map(|next| match next {
                    Some(next) if ends > 1 => 1 + u32::from((first..first + n).contains(&next)),
                    _ => 0,
                });
                let link = [0, 1].map(|end| match self.centring {
                    Centring::Cell => 0.5 * length[end] / self.diffusion,
                    Centring::Vertex if kind[end] > 0 => self.diffusion / length[end],
                    Centring::Vertex => 0.0,
                });
                let alpha = [0, 1].map(|end| match (self.sides[end], self.centring) {
                    _ if i != [0, n - 1][end] => 0.0,
                    (Condition::Robin { alpha }, _) => alpha,
                    (Condition::Dirichlet, Centring::Cell) => -1.0,
                    _ => 0.0,
                });
                let [before, after] = next.map(|next| next.unwrap_or(point) as u32);
                let cells = around.map(|cell| cell.unwrap_or(0) as u32);
                (
                    [cells[0], cells[1], kind[0], kind[1], before, point as u32, after],
                    [0.5 * length[0], 0.5 * length[1], link[0], link[1], widths[i], alpha[0], alpha[1]],
                )
            })
            .collect()
    }

    /// Fewest intervals that the direction can have.
    fn least(&self) -> usize {
        match self.centring {
            Centring::Vertex if self.held(0) && self.held(1) => 2,
            _ => 1,
        }
    }

    /// Whether both ends are points of a last interval, which a coarser level joins to one cell.
    fn is_pair(&self) -> bool {
        self.centring == Centring::Vertex && self.lengths.len() == 1 && self.unknowns() == 2
    }

    /// The length that few intervals fall short of, over the root of the coefficient; infinite where the direction cannot be
    /// coarsened. Two points are strongly coupled where it is small.
    pub(crate) fn spacing(&self) -> f64 {
        let n = self.lengths.len();
        if n <= self.least() && !self.is_pair() {
            return f64::INFINITY;
        }
        let mut sorted = self.lengths.clone();
        sorted.sort_by(f64::total_cmp);
        // Numbers of intervals that are odd leave shorter ones behind, which do not count.
        sorted[(1 + n / FEW).min(n - 1)] / self.diffusion.sqrt()
    }

    /// The direction with pairs of intervals joined that are both at most `longest` times the root of the coefficient long, and
    /// the interpolation from it; `None` where there is no such pair.
    ///
    /// Of an odd number of such intervals in a row the longest one stays alone, so that intervals beside each other never
    /// differ much more than on the level before.
    pub(crate) fn coarser(&self, longest: f64) -> Option<(Axis, Interpolation)> {
        let lengths = &self.lengths;
        let limit = longest * self.diffusion.sqrt();
        if self.is_pair() && lengths[0] <= limit {
            let coarse = Axis { centring: Centring::Cell, ..self.clone() };
            let from = [0, 1].map(|end| [(0, coarse.at_side(end)), (0, 0.0)]).to_vec();
            return Some((coarse, Interpolation { from, coarse: 1 }));
        }
        let mut pairs_left = lengths.len() - self.least();
        // How many intervals each coarse one consists of.
        let mut groups = Vec::with_capacity(lengths.len());
        let mut at = 0;
        while at < lengths.len() {
            let run = lengths[at..].iter().take_while(|&&length| length <= limit).count();
            if run == 0 {
                groups.push(1);
                at += 1;
                continue;
            }
            let odd = if run % 2 == 0 {
                None
            } else {
                (0..run).step_by(2).max_by(|&a, &b| lengths[at + a].total_cmp(&lengths[at + b]))
            };
            let mut i = 0;
            while i < run {
                let pair = odd != Some(i) && pairs_left > 0;
                pairs_left -= usize::from(pair);
                groups.push(1 + usize::from(pair));
                i += 1 + usize::from(pair);
            }
            at += run;
        }
        if groups.len() == lengths.len() {
            return None;
        }
        let mut sums = Vec::with_capacity(groups.len());
        let mut rest = &lengths[..];
        for &group in &groups {
            let (these, others) = rest.split_at(group);
            sums.push(these.iter().sum());
            rest = others;
        }
        let coarse = Axis { lengths: sums, ..self.clone() };
        let interpolation = match self.centring {
            Centring::Vertex => self.between_points(&coarse, &groups),
            Centring::Cell => self.between_cells(&coarse, &groups),
        };
        Some((coarse, interpolation))
    }

    /// Linear interpolation between the points of `coarse`, whose intervals consist of `groups` of this one's.
    fn between_points(&self, coarse: &Axis, groups: &[usize]) -> Interpolation {
        let count = coarse.unknowns();
        let first = usize::from(coarse.held(0));
        // The unknown of a coarse point with its weight; 0 for one that is held.
        let unknown = |point: usize, weight: f64| {
            let point = if self.periodic() { point % groups.len() } else { point };
            match point.checked_sub(first) {
                Some(i) if i < count => (i, weight),
                _ => (0, 0.0),
            }
        };
        let mut from = Vec::with_capacity(self.unknowns());
        let mut fine = 0;
        for (c, &group) in groups.iter().enumerate() {
            from.push([unknown(c, 1.0), (0, 0.0)]);
            if group == 2 {
                let right = self.lengths[fine] / coarse.lengths[c];
                from.push([unknown(c, 1.0 - right), unknown(c + 1, right)]);
            }
            fine += group;
        }
        if !self.periodic() {
            from.push([unknown(groups.len(), 1.0), (0, 0.0)]);
        }
        let from = from[first..first + self.unknowns()].to_vec();
        Interpolation { from, coarse: count }
    }

    /// Linear interpolation between the middles of the cells of `coarse`, and between the first and the last of them and the
    /// sides.
    fn between_cells(&self, coarse: &Axis, groups: &[usize]) -> Interpolation {
        let m = groups.len();
        let wide = &coarse.lengths;
        let mut from = Vec::with_capacity(self.lengths.len());
        let mut fine = 0;
        for (c, &group) in groups.iter().enumerate() {
            if group == 1 {
                from.push([(c, 1.0), (0, 0.0)]);
            } else {
                for (end, length) in [self.lengths[fine], self.lengths[fine + 1]].into_iter().enumerate() {
                    // From the middle of the coarse cell towards its side, in halves of its width.
                    let way = 1.0 - length / wide[c];
                    let inside = if end == 0 { c > 0 } else { c + 1 < m };
                    if inside || (self.periodic() && m > 1) {
                        let next = if end == 0 { (c + m - 1) % m } else { (c + 1) % m };
                        let share = way * wide[c] / (wide[c] + wide[next]);
                        from.push([(c, 1.0 - share), (next, share)]);
                    } else {
                        from.push([(c, 1.0 - way * (1.0 - coarse.at_side(end))), (0, 0.0)]);
                    }
                }
            }
            fine += group;
        }
        Interpolation { from, coarse: m }
    }

    /// The value on a side by that of the cell before it, where the side's own value is 0.
    fn at_side(&self, end: usize) -> f64 {
        let length = if end == 0 { self.lengths[0] } else { self.lengths[self.lengths.len() - 1] };
        let beta = 2.0 * self.diffusion / length;
        match self.sides[end] {
            Condition::Dirichlet => 0.0,
            Condition::Robin { alpha } => beta / (alpha + beta),
            Condition::Neumann | Condition::Periodic => 1.0,
        }
    }
}

impl Interpolation {
    /// Each unknown from itself.
    pub(crate) fn identity(n: usize) -> Interpolation {
        Interpolation { from: (0..n).map(|i| [(i, 1.0), (0, 0.0)]).collect(), coarse: n }
    }

    /// The transpose: for each coarse unknown the fine ones with their weights, and how many of them are used at most.
    pub(crate) fn transposed(&self) -> (Vec<[(usize, f64); REACH]>, usize) {
        let mut to = vec![[(0, 0.0); REACH]; self.coarse];
        let mut counts = vec![0; self.coarse];
        for (fine, pairs) in self.from.iter().enumerate() {
            for &(coarse, weight) in pairs.iter().filter(|(_, weight)| *weight != 0.0) {
                // Both weights may be of one coarse unknown, where there are no more.
                let known = to[coarse][..counts[coarse]].iter().position(|(i, _)| *i == fine);
                let slot = known.unwrap_or(counts[coarse]);
                to[coarse][slot] = (fine, to[coarse][slot].1 + weight);
                counts[coarse] = counts[coarse].max(slot + 1);
            }
        }
        (to, counts.into_iter().max().unwrap_or(1).max(1))
    }
}
