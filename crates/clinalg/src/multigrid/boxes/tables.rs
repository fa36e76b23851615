//! Tables for kernels on GPUs that stream along the last direction of a level.

use std::collections::HashMap;

use super::axis::{Axis, Factors, Interpolation};
use super::levels::Level;
use crate::{Buffer, Context, Real, Result};

/// Points of the last direction beside those of the level in the tables, as in the kernels.
const PAD: usize = 32;
/// The fine points around its owner that contribute to a coarse point.
const BEFORE: i64 = 1;
const AROUND: usize = 4;
/// A coarse point is complete at the latest so many fine points after its owner.
const UNTIL_COMPLETE: i64 = 3;

/// An interpolation along a direction as the kernels have it: each fine point takes a part of its base, a coarse point, and one of the next
/// coarse point. The base of the next fine point is the same or the next one; past the ends of a periodic direction both go on.
#[derive(Debug, Clone, PartialEq)]
struct Bases {
    coarse: i64,
    periodic: bool,
    of: Vec<(i64, [f64; 2])>,
}

impl Bases {
    /// `None` if the interpolation does not have this form.
    fn new(interpolation: &Interpolation, periodic: bool) -> Option<Bases> {
        let coarse = interpolation.coarse as i64;
        let mut of: Vec<(i64, [f64; 2])> = Vec::with_capacity(interpolation.from.len());
        for pairs in &interpolation.from {
            let mut parts: Vec<(i64, f64)> = Vec::with_capacity(2);
            for &(point, weight) in pairs.iter().filter(|(_, weight)| *weight != 0.0) {
                match parts.iter_mut().find(|part| part.0 == point as i64) {
                    Some(part) => part.1 += weight,
                    None => parts.push((point as i64, weight)),
                }
            }
            let before = of.last().map(|of| of.0);
            let shifts = if periodic { -1..=1 } else { 0..=0 };
            let candidates = shifts.flat_map(|shift| {
                let shifted = shift * coarse;
                match parts[..] {
                    [] => vec![(shifted + before.unwrap_or(0), [0.0; 2])],
                    [(c, weight)] => {
                        let c = c + shifted;
                        vec![(c, [weight, 0.0]), (c - 1, [0.0, weight])]
                    }
                    [(a, of_a), (b, of_b), ..] => {
                        let next = |a: i64, b: i64| a + 1 == b || (periodic && (a + 1 - b).rem_euclid(coarse) == 0);
                        let pairs = [(a, b, [of_a, of_b]), (b, a, [of_b, of_a])];
                        let fits = pairs.into_iter().filter(|(a, b, _)| next(*a, *b));
                        fits.map(|(a, _, weights)| (a + shifted, weights)).collect()
                    }
                }
            });
            let chosen = match before {
                None => candidates.filter(|(base, _)| (-1..coarse).contains(base)).min_by_key(|(base, _)| base.abs()),
                Some(before) => {
                    let reachable = candidates.filter(|(base, _)| (before..=before + 1).contains(base));
                    // On a coarse point the base is that point.
                    reachable.max_by_key(|(base, weights)| (weights[0] != 0.0, *base))
                }
            };
            of.push(chosen?);
        }
        let bases = Bases { coarse, periodic, of };
        bases.is_sound().then_some(bases)
    }

    /// The base of point `i` and its parts, also past the ends.
    fn at(&self, i: i64) -> (i64, [f64; 2]) {
        let n = self.of.len() as i64;
        if self.periodic {
            let (base, parts) = self.of[i.rem_euclid(n) as usize];
            return (base + i.div_euclid(n) * self.coarse, parts);
        }
        match i {
            _ if i < 0 => (self.of[0].0, [0.0; 2]),
            // Bases go on, so that the last coarse point is complete.
            _ if i >= n => (self.of[n as usize - 1].0 + i - n + 1, [0.0; 2]),
            _ => self.of[i as usize],
        }
    }

    /// The fine points that take parts of coarse point `c`, with these.
    fn takers(&self, c: i64) -> impl Iterator<Item = (i64, f64)> + '_ {
        let n = self.of.len() as i64;
        // Bases grow by at most one a point, and by all of the coarse points in all of the fine ones.
        let first = if self.periodic { c.div_euclid(self.coarse) * n - n } else { 0 };
        let last = if self.periodic { first + 3 * n } else { n };
        let from = partition(first, last, |i| self.at(i).0 < c - 1);
        (from..last).take_while(move |&i| self.at(i).0 <= c).filter_map(move |i| {
            let (base, parts) = self.at(i);
            let part = if base == c { parts[0] } else { parts[1] };
            (part != 0.0).then_some((i, part))
        })
    }

    /// The fine point that owns coarse point `c`: the first with the largest part.
    fn owner(&self, c: i64) -> Option<i64> {
        let largest = self.takers(c).map(|(_, part)| part).fold(0.0, f64::max);
        self.takers(c).find(|(_, part)| *part == largest).map(|(i, _)| i)
    }

    /// Whether the kernels find all parts of each coarse point where they look for them.
    fn is_sound(&self) -> bool {
        let n = self.of.len() as i64;
        let goes_on = !self.periodic || (0..=1).contains(&(self.at(n).0 - self.at(n - 1).0));
        goes_on
            && (0..self.coarse).all(|c| {
                let Some(owner) = self.owner(c).filter(|owner| (0..n).contains(owner)) else { return false };
                let near = owner - BEFORE..owner - BEFORE + AROUND as i64;
                self.takers(c).all(|(i, _)| near.contains(&i)) && self.at(owner + UNTIL_COMPLETE).0 > c
            })
    }

    /// The place of a coarse point.
    fn place(&self, c: i64) -> i32 {
        let place = if self.periodic { c.rem_euclid(self.coarse) } else { c.clamp(0, self.coarse - 1) };
        place as i32
    }

    /// For each fine point its two coarse points, and their parts.
    fn pairs(&self) -> impl Iterator<Item = ([i32; 2], [f64; 2])> + '_ {
        self.of.iter().map(|&(base, parts)| ([self.place(base), self.place(base + 1)], parts))
    }

    /// For each fine point the coarse point that it owns, -1 for none, and the parts of that in the fine points around.
    fn owned(&self) -> (Vec<i32>, Vec<[f64; AROUND]>) {
        let (mut owned, mut parts) = (vec![-1; self.of.len()], vec![[0.0; AROUND]; self.of.len()]);
        for c in 0..self.coarse {
            let owner = self.owner(c).expect("each coarse point has an owner");
            owned[owner as usize] = c as i32;
            for (i, part) in self.takers(c) {
                parts[owner as usize][(i - owner + BEFORE) as usize] = part;
            }
        }
        (owned, parts)
    }
}

/// The first number from `first` on, below `last`, that is not `before`; all that are come before the others.
fn partition(first: i64, last: i64, before: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (first, last);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The factors of each point of a direction: coupling to the point before and to the one after, what the diagonal has more, and mass.
fn factors_of(factors: &Factors) -> impl Iterator<Item = [f64; 4]> + '_ {
    let Factors { couplings, more, mass, .. } = factors;
    (0..mass.len()).map(|i| [couplings[i], couplings[i + 1], more[i], mass[i]])
}

/// The tables of a level, for kernels that walk along the last direction; those for the others have their places in registers.
pub(super) struct Tables<T: Real> {
    /// Unknowns of each direction, and those of the next level.
    pub(super) counts: [usize; 3],
    pub(super) coarse: [usize; 3],
    /// A bit for each direction whose ends are neighbours.
    pub(super) periodic: u32,
    /// Of the last direction, with points more on either side, eight numbers each: mass, couplings to the point before and after, what the diagonal has
    /// more; parts of the base and of the next coarse point. Of each other direction: couplings to the point before and after, what the diagonal has more, and
    /// mass. Of each other direction by owner: parts of the four residuals around. Of the others: parts of both coarse points.
    pub(super) reals: Buffer<T>,
    /// Of the last direction, with points more on either side, eight numbers each: place; base; kind, which points with the same factors share; place of the
    /// coarse point after the next one; the coarse point that is complete when this one arrives, -1 for none, and the owner of that. Of the others: both coarse
    /// points; the coarse point that is owned.
    pub(super) places: Buffer<u32>,
}

impl<T: Real> Tables<T> {
    /// For a level with a coarser one; `None` if streaming is impossible: points of one colour are neighbours, or an interpolation does not have the form of [`Bases`].
    pub(super) fn new(context: &Context, level: &Level) -> Result<Option<Tables<T>>> {
        if level.interpolations.is_empty() || level.parts().len() > 1 {
            return Ok(None);
        }
        let bases = |(interpolation, axis): (&Interpolation, &Axis)| Bases::new(interpolation, axis.periodic());
        let Some(bases) = level.interpolations.iter().zip(&level.axes).map(bases).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let (walk, others) = bases.split_last().expect("a box has directions");
        let (along, across) = level.factors.split_last().expect("a box has directions");
        let (n, pad) = (walk.of.len() as i64, PAD as i64);
        let inside = |j: i64| walk.periodic || (0..n).contains(&j);
        let of_walk: Vec<_> =
            factors_of(along).map(|[before, after, more, mass]| [mass, before, after, more]).collect();
        let (owned, gathered): (Vec<_>, Vec<_>) = others.iter().map(Bases::owned).unzip();
        let factors = |j: i64| if inside(j) { of_walk[j.rem_euclid(n) as usize] } else { [0.0; 4] };
        let mut known = HashMap::new();
        let (mut reals, mut places) = (Vec::new(), Vec::new());
        for j in -pad..n + pad {
            let ((base, parts), (before, _)) = (walk.at(j), walk.at(j - 1));
            let complete = Some(before).filter(|before| base > *before && (0..walk.coarse).contains(before));
            let next_kind = known.len() as i32;
            let kind = *known.entry(factors(j).map(f64::to_bits)).or_insert(next_kind);
            let place = if walk.periodic { j.rem_euclid(n) } else { j.clamp(0, n - 1) };
            let owner = complete.map_or(0, |c| walk.owner(c).expect("each coarse point has an owner"));
            reals.extend(factors(j).into_iter().chain(parts).chain([0.0; 2]));
            places.extend([place as i32, base as i32, kind, walk.place(base + 2)]);
            places.extend([complete.map_or(-1, |c| c as i32), owner as i32, 0, 0]);
        }
        reals.extend(across.iter().flat_map(factors_of).flatten());
        reals.extend(gathered.iter().flatten().flatten());
        reals.extend(others.iter().flat_map(Bases::pairs).flat_map(|(_, parts)| parts));
        places.extend(others.iter().flat_map(Bases::pairs).flat_map(|(pair, _)| pair));
        places.extend(owned.into_iter().flatten());
        let reals: Vec<_> = reals.into_iter().map(T::from_f64).collect();
        // The kernels read these as signed numbers.
        let places: Vec<_> = places.into_iter().map(i32::cast_unsigned).collect();
        let each = |of: fn(&Bases) -> usize| [0, 1, 2].map(|d| bases.get(d).map_or(1, of));
        Ok(Some(Tables {
            counts: each(|bases| bases.of.len()),
            coarse: each(|bases| bases.coarse as usize),
            periodic: bases.iter().enumerate().map(|(d, bases)| u32::from(bases.periodic) << d).sum(),
            reals: Buffer::from_slice(context, &reals)?,
            places: Buffer::from_slice(context, &places)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multigrid::boxes::levels::levels;
    use crate::multigrid::{Centring, Condition, End, Grid};

    /// The interpolation of `bases`, dense, by fine and coarse point.
    fn dense(bases: &Bases) -> Vec<Vec<f64>> {
        let mut matrix = vec![vec![0.0; bases.coarse as usize]; bases.of.len()];
        for (row, (places, parts)) in matrix.iter_mut().zip(bases.pairs()) {
            places.iter().zip(parts).for_each(|(&place, part)| row[place as usize] += part);
        }
        matrix
    }

    /// The transpose as the kernels gather it, dense.
    fn gathered(bases: &Bases) -> Vec<Vec<f64>> {
        let n = bases.of.len() as i64;
        let mut matrix = vec![vec![0.0; bases.coarse as usize]; n as usize];
        let (owned, parts) = bases.owned();
        for (i, (coarse, parts)) in owned.into_iter().zip(parts).enumerate().filter(|(_, (coarse, _))| *coarse >= 0) {
            for (around, part) in parts.into_iter().enumerate().filter(|(_, part)| *part != 0.0) {
                let fine = i as i64 - BEFORE + around as i64;
                let fine = if bases.periodic { fine.rem_euclid(n) } else { fine };
                matrix[fine as usize][coarse as usize] += part;
            }
        }
        matrix
    }

    #[test]
    fn walks_have_the_interpolations_of_all_levels() {
        let neumann = |points: &[usize]| Grid::new(points).side(0, End::Low, Condition::Neumann);
        let cells = |points: &[usize]| Grid::new(points).centring(Centring::Cell);
        let graded = (0..300).map(|k| (k as f64 / 299.0).powf(1.7)).collect();
        for grid in [
            Grid::new(&[400, 300]),
            neumann(&[301, 77]),
            cells(&[64, 120]).periodic(0).periodic(1),
            cells(&[513, 50]),
            Grid::new(&[256, 96]).periodic(0),
            Grid::new(&[300, 200]).spacing(0, graded),
            Grid::new(&[40, 23, 33]).side(1, End::High, Condition::Robin { alpha: 2.0 }),
            cells(&[24, 20, 36]).periodic(2),
        ] {
            for level in levels(grid.axes(&[1.0; 3]).unwrap(), 1.0) {
                for (interpolation, axis) in level.interpolations.iter().zip(&level.axes) {
                    let odd = axis.periodic() && axis.unknowns() % 2 == 1;
                    let bases = Bases::new(interpolation, axis.periodic());
                    let Some(bases) = bases else {
                        assert!(odd, "{grid:?}: no walk along {} points", axis.unknowns());
                        continue;
                    };
                    let mut expected = vec![vec![0.0; interpolation.coarse]; interpolation.from.len()];
                    for (row, pairs) in expected.iter_mut().zip(&interpolation.from) {
                        pairs.iter().for_each(|&(coarse, weight)| row[coarse] += weight);
                    }
                    assert_eq!(dense(&bases), expected, "{grid:?}");
                    assert_eq!(gathered(&bases), expected, "{grid:?}");
                }
            }
        }
    }
}
