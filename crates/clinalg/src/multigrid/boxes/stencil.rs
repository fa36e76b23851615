//! Operators on boxes by the couplings of each unknown with its neighbours, and how they are coarsened.

use super::axis::{Axis, Interpolation};
use super::grid::Centring;
use super::levels::coarser_axes;

/// Half of the neighbours of a point: along the directions, then along the diagonals. The order is that of boxes_stencil.cl.
const OFFSETS2: [[i8; 3]; 4] = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [-1, 1, 0]];
const OFFSETS3: [[i8; 3]; 13] = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 0],
    [-1, 1, 0],
    [1, 0, 1],
    [-1, 0, 1],
    [0, 1, 1],
    [0, -1, 1],
    [1, 1, 1],
    [-1, 1, 1],
    [1, -1, 1],
    [-1, -1, 1],
];

/// A symmetric operator: (A u)_p is the sum of c_pq (u_p - u_q) over the neighbours q of p, and mass_p u_p.
#[derive(Debug, Clone)]
pub(crate) struct Stencil {
    pub(crate) counts: [usize; 3],
    pub(crate) dim: usize,
    pub(crate) wraps: [bool; 3],
    /// By offset: the coupling of each point with the neighbour there; 0 where there is none. Those along the diagonals may be left
    /// out.
    pub(crate) couplings: Vec<Vec<f64>>,
    pub(crate) mass: Vec<f64>,
}

impl Stencil {
    /// Without couplings; with room for those along the diagonals if `full`.
    pub(crate) fn new(counts: [usize; 3], dim: usize, wraps: [bool; 3], full: bool) -> Stencil {
        let points = counts.iter().product();
        let offsets = if full { offsets(dim).len() } else { dim };
        Stencil { counts, dim, wraps, couplings: vec![vec![0.0; points]; offsets], mass: vec![0.0; points] }
    }

    pub(crate) fn unknowns(&self) -> usize {
        self.mass.len()
    }

    /// Whether there is room for couplings along the diagonals.
    pub(crate) fn full(&self) -> bool {
        self.couplings.len() > self.dim
    }

    pub(crate) fn place(&self, at: [usize; 3]) -> usize {
        (at[2] * self.counts[1] + at[1]) * self.counts[0] + at[0]
    }

    /// The indices of a point.
    pub(crate) fn at(&self, p: usize) -> [usize; 3] {
        [p % self.counts[0], p / self.counts[0] % self.counts[1], p / (self.counts[0] * self.counts[1])]
    }

    /// The point at an offset, where there is one.
    pub(crate) fn neighbour(&self, at: [usize; 3], offset: [i8; 3]) -> Option<[usize; 3]> {
        let mut to = at;
        for d in 0..3 {
            let n = self.counts[d];
            to[d] = match (offset[d], at[d]) {
                (0, i) => i,
                (1, i) if i + 1 < n => i + 1,
                (-1, i) if i > 0 => i - 1,
                _ if !self.wraps[d] => return None,
                (1, _) => 0,
                _ => n - 1,
            };
        }
        Some(to)
    }

    /// Adds to the coupling of point `at` with the point at the offset, which must be there.
    pub(crate) fn couple(&mut self, at: [usize; 3], mut offset: [i8; 3], value: f64) {
        // A direction of one point leads nowhere else.
        (0..3).filter(|&d| self.counts[d] == 1).for_each(|d| offset[d] = 0);
        if offset == [0; 3] || value == 0.0 {
            return;
        }
        let known = |offset| offsets(self.dim).iter().position(|known| *known == offset);
        let (number, from) = match known(offset) {
            Some(number) => (number, at),
            None => {
                let opposite = offset.map(|d| -d);
                let from = self.neighbour(at, offset).expect("couplings are with points of the grid");
                (known(opposite).expect("neighbours are one point away in each direction"), from)
            }
        };
        let p = self.place(from);
        self.couplings[number][p] += value;
    }

    /// The neighbours of a point with their offsets and couplings.
    pub(crate) fn around(&self, at: [usize; 3]) -> impl Iterator<Item = ([usize; 3], [i8; 3], f64)> + '_ {
        offsets(self.dim).iter().zip(&self.couplings).flat_map(move |(&offset, values)| {
            let opposite = offset.map(|d| -d);
            let after = self.neighbour(at, offset).map(|to| (to, offset, values[self.place(at)]));
            let before = self.neighbour(at, opposite).map(|to| (to, opposite, values[self.place(to)]));
            after.into_iter().chain(before)
        })
    }

    /// A typical entry of the diagonal of the matrix: the root of the mean of the squares.
    pub(crate) fn diagonal(&self) -> f64 {
        let n = self.unknowns();
        let entry = |p| self.mass[p] + self.around(self.at(p)).map(|(_, _, coupling)| coupling).sum::<f64>();
        ((0..n).map(|p| entry(p) * entry(p)).sum::<f64>() / n as f64).sqrt()
    }

    /// The matrix, row by row.
    pub(crate) fn dense(&self) -> Vec<f64> {
        let n = self.unknowns();
        let mut matrix = vec![0.0; n * n];
        for p in 0..n {
            matrix[p * n + p] += self.mass[p];
            for (to, _, coupling) in self.around(self.at(p)) {
                matrix[p * n + p] += coupling;
                matrix[p * n + self.place(to)] -= coupling;
            }
        }
        matrix
    }

    /// The parts of the coarse points in each point, where only direction `axis` becomes coarser, whose points take the coarse
    /// points of `along`: those that solve the equation of a point for errors that change along the direction only. The second
    /// coarse point has the rest to 1.
    fn parts(&self, axis: usize, along: &Interpolation) -> Vec<f64> {
        (0..self.unknowns())
            .map(|p| {
                let at = self.at(p);
                let [(_, first), (_, second)] = along.from[at[axis]];
                if second == 0.0 {
                    return 1.0;
                }
                let (mut before, mut after) = (0.0, 0.0);
                for (_, offset, coupling) in self.around(at) {
                    match offset[axis] {
                        -1 => before += coupling,
                        1 => after += coupling,
                        _ => {}
                    }
                }
                if before > 0.0 && after > 0.0 { before / (before + after) } else { first }
            })
            .collect()
    }

    /// The Galerkin operator P' A P for those parts, whose masses are summed up on the diagonal.
    fn along(&self, axis: usize, along: &Interpolation, parts: &[f64]) -> Stencil {
        let mut counts = self.counts;
        counts[axis] = along.coarse;
        let mut coarse = Stencil::new(counts, self.dim, self.wraps, true);
        let m = along.coarse as isize;
        // The first coarse point and the parts of both. Positions go on beyond the ends of a periodic direction.
        let parts_of = |at: [usize; 3], turns: isize| {
            let part = parts[self.place(at)];
            (along.from[at[axis]][0].0 as isize + turns * m, [part, 1.0 - part])
        };
        for p in 0..self.unknowns() {
            let at = self.at(p);
            let (first, own) = parts_of(at, 0);
            for (position, part) in (first..).zip(own).filter(|(_, part)| *part != 0.0) {
                let mut to = at;
                to[axis] = position.rem_euclid(m) as usize;
                let c = coarse.place(to);
                coarse.mass[c] += part * self.mass[p];
            }
            for (number, &offset) in offsets(self.dim).iter().enumerate().take(self.couplings.len()) {
                let coupling = self.couplings[number][p];
                if coupling == 0.0 {
                    continue;
                }
                let Some(other) = self.neighbour(at, offset) else { continue };
                let turns = match offset[axis] {
                    1 if other[axis] <= at[axis] => 1,
                    -1 if other[axis] >= at[axis] => -1,
                    _ => 0,
                };
                let (start, others) = parts_of(other, turns);
                // The difference u_p - u_q by the coarse points: at most two in the line of p and two in that of q.
                let mut across = offset;
                across[axis] = 0;
                let mut terms: Vec<(isize, bool, f64)> =
                    (first..).zip(own).map(|(position, part)| (position, false, part)).collect();
                for (position, part) in (start..).zip(others) {
                    let own_line = across == [0; 3];
                    match terms.iter_mut().find(|term| own_line && term.0 == position) {
                        Some(term) => term.2 -= part,
                        None => terms.push((position, !own_line, -part)),
                    }
                }
                for (which, &(position, there, weight)) in terms.iter().enumerate() {
                    for &(next, next_there, next_weight) in &terms[which + 1..] {
                        let value = -coupling * weight * next_weight;
                        if value == 0.0 {
                            continue;
                        }
                        let sign = i8::from(next_there) - i8::from(there);
                        let mut step = across.map(|d| d * sign);
                        step[axis] = (next - position) as i8;
                        let mut from = if there { other } else { at };
                        from[axis] = position.rem_euclid(m) as usize;
                        coarse.couple(from, step, value);
                    }
                }
            }
        }
        coarse
    }
}

fn offsets(dim: usize) -> &'static [[i8; 3]] {
    if dim == 3 { &OFFSETS3 } else { &OFFSETS2 }
}

/// The transfer between two levels: the coarse points of each direction that becomes coarser, and their parts.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    /// By direction; none where it stays as it is.
    pub(crate) along: [Option<Interpolation>; 3],
    /// Along x on the fine points, along y where x is coarse, along z where x and y are.
    pub(crate) parts: [Vec<f64>; 3],
}

/// One level; the coarsest has no transfer.
#[derive(Debug, Clone)]
pub(crate) struct StencilLevel {
    pub(crate) stencil: Stencil,
    pub(crate) transfer: Option<Parts>,
}

/// A direction by the distances of its unknowns, of which the first and the last are always points of the coarser level.
pub(crate) fn distances(axis: &Axis) -> Axis {
    use super::grid::Condition::{Neumann, Periodic};
    let unknowns = axis.unknowns();
    let lengths = &axis.lengths;
    let middle = |i: usize| 0.5 * (lengths[i] + lengths[(i + 1) % lengths.len()]);
    let first = usize::from(axis.held(0));
    let count = if axis.periodic() { unknowns } else { unknowns - 1 };
    let between: Vec<f64> = match axis.centring {
        Centring::Cell => (0..count).map(middle).collect(),
        Centring::Vertex => lengths[first..first + count].to_vec(),
    };
    let sides = [if axis.periodic() { Periodic } else { Neumann }; 2];
    if between.is_empty() {
        // Of one unknown nothing is left to be done.
        return Axis { centring: Centring::Cell, sides, lengths: vec![1.0], diffusion: axis.diffusion };
    }
    Axis { centring: Centring::Vertex, sides, lengths: between, diffusion: axis.diffusion }
}

/// All levels, the finest first. `axes` are the distances of the unknowns.
pub(crate) fn levels(finest: Stencil, mut axes: Vec<Axis>) -> Vec<StencilLevel> {
    let mut levels = vec![StencilLevel { stencil: finest, transfer: None }];
    while let Some((coarser, interpolations)) = coarser_axes(&axes) {
        let finer = levels.last_mut().expect("there is a finest level");
        let mut along = [None, None, None];
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        let mut stencil = None;
        for (d, interpolation) in interpolations.into_iter().enumerate() {
            if interpolation.coarse == finer.stencil.counts[d] {
                continue;
            }
            let from: &Stencil = stencil.as_ref().unwrap_or(&finer.stencil);
            let own = from.parts(d, &interpolation);
            stencil = Some(from.along(d, &interpolation, &own));
            parts[d] = own;
            along[d] = Some(interpolation);
        }
        finer.transfer = Some(Parts { along, parts });
        let stencil = stencil.expect("a coarser level has fewer unknowns");
        levels.push(StencilLevel { stencil, transfer: None });
        axes = coarser;
    }
    levels
}
