//! The levels of a box: which directions become coarser when, and how much is relaxed.

use super::axis::{Axis, Factors, Interpolation};
use crate::{Context, Dense, Real, Result};

/// One level.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(crate) axes: Vec<Axis>,
    pub(crate) factors: Vec<Factors>,
    /// From the next coarser level, by direction; none on the coarsest.
    pub(crate) interpolations: Vec<Interpolation>,
    /// Over-relaxation of the smoother.
    pub(crate) omega: f64,
}

/// Levels of so many unknowns are solved directly.
const COARSEST: usize = 64;
/// Directions are coarsened whose intervals are up to this multiple of those of the strongest coupling: their coupling is at
/// least 0.4 times the strongest.
const WITHIN: f64 = 1.58;
/// A coarser level has at most this part of the unknowns of the finer one, if need be by joining longer intervals. A smaller part
/// spoils graded grids: short intervals that are joined no faster than long ones never catch up.
const FEWER: f64 = 0.9;

impl Level {
    pub(super) fn new(axes: Vec<Axis>, shift: f64) -> Level {
        let mut factors: Vec<_> = axes.iter().map(Axis::factors).collect();
        // shift Mx My Mz is a part of the first term.
        let Factors { more, mass, .. } = &mut factors[0];
        more.iter_mut().zip(mass).for_each(|(more, mass)| *more += shift * *mass);
        Level { axes, factors, interpolations: Vec::new(), omega: 1.0 }
    }

    /// Unknowns of each direction, 1 of a third one that is not there.
    pub(crate) fn counts(&self) -> [usize; 3] {
        let count = |axis| self.axes.get(axis).map_or(1, Axis::unknowns);
        [0, 1, 2].map(count)
    }

    pub(crate) fn unknowns(&self) -> usize {
        self.counts().iter().product()
    }

    /// The parts that are relaxed one after the other.
    pub(super) fn parts(&self) -> Vec<Part> {
        parts(self.counts(), [0, 1, 2].map(|d| self.axes.get(d).is_some_and(Axis::periodic)))
    }

    /// The over-relaxation that is best for the errors that the coarser level of `axes` cannot take: for red-black
    /// Gauss-Seidel 2 / (1 + sqrt(1 - mu^2)), where mu is by how much a Jacobi sweep leaves of them (Yavneh 1996).
    fn over_relaxation(&self, axes: &[Axis]) -> f64 {
        let strength = |axis: &Axis| axis.spacing().powi(-2);
        let total: f64 = self.axes.iter().map(strength).sum();
        let coarsened = self.axes.iter().zip(axes).filter(|(fine, coarse)| fine.unknowns() != coarse.unknowns());
        let weakest = coarsened.map(|(fine, _)| strength(fine)).fold(total, f64::min);
        let left = 1.0 - weakest / total;
        2.0 / (1.0 + (1.0 - left * left).sqrt())
    }

    /// A typical entry of the diagonal of the matrix: the root of the mean of the squares.
    pub(crate) fn diagonal(&self) -> f64 {
        // The sum of products of one factor per direction, K in one of them: squared, all pairs of such terms.
        let parts: Vec<[f64; 3]> = self
            .factors
            .iter()
            .map(|factors| {
                let n = factors.mass.len();
                let mut sums = [0.0; 3];
                for i in 0..n {
                    let k = factors.couplings[i] + factors.couplings[i + 1] + factors.more[i];
                    let m = factors.mass[i];
                    [k * k, k * m, m * m].iter().zip(&mut sums).for_each(|(term, sum)| *sum += term / n as f64);
                }
                sums
            })
            .collect();
        let dim = parts.len();
        let term =
            |a: usize, b: usize| (0..dim).map(|d| parts[d][usize::from(a != d) + usize::from(b != d)]).product::<f64>();
        (0..dim).flat_map(|a| (0..dim).map(move |b| (a, b))).map(|(a, b)| term(a, b)).sum::<f64>().sqrt()
    }

    /// The matrix, row by row.
    pub(crate) fn dense(&self) -> Vec<f64> {
        let (counts, n) = (self.counts(), self.unknowns());
        let mut matrix = vec![0.0; n * n];
        for p in 0..n {
            let at = [p % counts[0], p / counts[0] % counts[1], p / (counts[0] * counts[1])];
            for (axis, factors) in self.factors.iter().enumerate() {
                let others = self.factors.iter().enumerate().filter(|(other, _)| *other != axis);
                let mass: f64 = others.map(|(other, factors)| factors.mass[at[other]]).product();
                let (i, count, stride) = (at[axis], counts[axis], counts[..axis].iter().product::<usize>());
                let [before, after] =
                    [(i + count - 1) % count, (i + 1) % count].map(|i| p - at[axis] * stride + i * stride);
                matrix[p * n + p] += mass * factors.more[i];
                for (q, coupling) in [(before, factors.couplings[i]), (after, factors.couplings[i + 1])] {
                    matrix[p * n + p] += mass * coupling;
                    matrix[p * n + q] -= mass * coupling;
                }
            }
        }
        matrix
    }
}

/// The axes of the next level, and the interpolations from it, where there is one.
pub(super) fn coarser_axes(axes: &[Axis]) -> Option<(Vec<Axis>, Vec<Interpolation>)> {
    let strongest = axes.iter().map(Axis::spacing).fold(f64::INFINITY, f64::min);
    let finer: usize = axes.iter().map(Axis::unknowns).product();
    if finer <= COARSEST || strongest.is_infinite() {
        return None;
    }
    let longest = axes.iter().flat_map(|axis| axis.lengths.iter().map(|length| length / axis.diffusion.sqrt()));
    let longest = longest.fold(0.0, f64::max);
    let mut limit = WITHIN * strongest;
    loop {
        let (coarser, interpolations): (Vec<_>, Vec<_>) = axes
            .iter()
            .map(|axis| axis.coarser(limit).unwrap_or_else(|| (axis.clone(), Interpolation::identity(axis.unknowns()))))
            .unzip();
        let unknowns: usize = coarser.iter().map(Axis::unknowns).product();
        if unknowns as f64 <= FEWER * finer as f64 || limit >= longest {
            return (unknowns < finer).then_some((coarser, interpolations));
        }
        limit *= WITHIN;
    }
}

/// All levels, the finest first, for the coefficients in `axes` and the shift.
pub(crate) fn levels(axes: Vec<Axis>, shift: f64) -> Vec<Level> {
    let mut levels = vec![Level::new(axes, shift)];
    loop {
        let finer = levels.last_mut().expect("there is a finest level");
        let Some((axes, interpolations)) = coarser_axes(&finer.axes) else { return levels };
        finer.omega = finer.over_relaxation(&axes);
        finer.interpolations = interpolations;
        levels.push(Level::new(axes, shift));
    }
}

/// A part of a box in which points of the same colour are no neighbours, by the first and the end of each direction.
pub(super) type Part = [(usize, usize); 3];

/// The parts of a box that are relaxed one after the other: all of it, but the last points of periodic directions with an odd
/// number of points are neighbours of the first of their colour, and so are parts of their own.
pub(super) fn parts(counts: [usize; 3], wraps: [bool; 3]) -> Vec<Part> {
    let mut parts = vec![counts.map(|count| (0, count))];
    for (d, count) in counts.into_iter().enumerate().filter(|(d, count)| wraps[*d] && count % 2 == 1 && *count > 1) {
        let seams = parts.iter().map(|part| replaced(part, d, (count - 1, count))).collect::<Vec<_>>();
        parts.iter_mut().for_each(|part| part[d] = (0, count - 1));
        parts.extend(seams);
    }
    parts
}

fn replaced(part: &Part, d: usize, range: (usize, usize)) -> Part {
    let mut part = *part;
    part[d] = range;
    part
}

/// The inverse of the matrix of the coarsest level, with 1 added to the eigenvalue 0 of a constant where it is `singular`.
pub(super) fn inverse<T: Real>(context: &Context, n: usize, mut matrix: Vec<f64>, singular: bool) -> Result<Dense<T>> {
    if singular {
        // Of the size of the other eigenvalues.
        let added = (0..n).map(|i| matrix[i * n + i]).fold(0.0, f64::max).max(f64::MIN_POSITIVE) / n as f64;
        matrix.iter_mut().for_each(|entry| *entry += added);
    }
    invert(n, &mut matrix);
    let inverse: Vec<_> = matrix.into_iter().map(T::from_f64).collect();
    Dense::from_column_major(context, n, n, &inverse)
}

/// The inverse of a symmetric positive definite matrix of `n` rows, in place, by Gauss-Jordan elimination.
fn invert(n: usize, a: &mut [f64]) {
    for k in 0..n {
        let pivot = 1.0 / a[k * n + k];
        let row: Vec<f64> = (0..n).map(|j| if j == k { pivot } else { a[k * n + j] * pivot }).collect();
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i * n + k];
            for j in 0..n {
                a[i * n + j] = if j == k { -factor * pivot } else { a[i * n + j] - factor * row[j] };
            }
        }
        a[k * n..(k + 1) * n].copy_from_slice(&row);
    }
}
