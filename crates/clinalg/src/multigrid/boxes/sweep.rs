//! All that a visit does on a level in one pass over memory, on CPUs.

use super::axis::{Factors, Interpolation, REACH};
use super::device::{Lines, Transfer};
use super::levels::Level;
use crate::multigrid::cycle::{Start, Sweeps};
use crate::multigrid::launch::{self, After};
use crate::runtime::kernels::boxes_sweep;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Real, Result, Vector};

/// Bands per compute unit in two dimensions, so that a slow unit delays the others little. Planes are too few for that.
const BANDS_PER_UNIT: usize = 2;
/// Levels of so many unknowns are one band: a second launch takes longer than they do.
const ONE_BAND: usize = 4096;
/// Levels of more unknowns are not left to less than a quarter of the compute units.
const LARGE: usize = 1 << 16;

/// How many rows ahead a pass prefetches, as [`Poisson`](crate::multigrid::Poisson) does.
const ROWS_AHEAD: u64 = 2;

/// A run of columns where the couplings are all equal; none of them the first or the last.
fn even_columns(factors: &Factors) -> (usize, usize) {
    let Factors { couplings, more, mass, .. } = factors;
    let column = |i: usize| [couplings[i], couplings[i + 1], more[i], mass[i]];
    let last = mass.len() - 1;
    let is_even = |i: usize| couplings[i] == couplings[i + 1];
    longest_run(1, last, 1, |begin, i| is_even(i) && column(i) == column(begin))
}

/// Eight numbers per row in two dimensions for the columns from `begin` to `end`: omega over the diagonal, alone and times the couplings along the row,
/// to the south and to the north; these couplings, and the rest of the diagonal.
fn row_couplings<T: Real>(level: &Level, begin: usize, end: usize) -> Vec<T> {
    let [x, y] = &level.factors[..] else { return Vec::new() };
    if begin == end {
        return Vec::new();
    }
    let rows = (0..y.mass.len()).flat_map(|j| {
        let [along, south, north] =
            [y.mass[j] * x.couplings[begin], x.mass[begin] * y.couplings[j], x.mass[begin] * y.couplings[j + 1]];
        let more = y.mass[j] * x.more[begin] + x.mass[begin] * y.more[j];
        let weight = level.omega / (2.0 * along + south + north + more);
        [weight, weight * along, weight * south, weight * north, along, south, north, more]
    });
    rows.map(T::from_f64).collect()
}

/// The first of the longest runs `begin`, `begin` + `step`, ... below `end` of positions that fit the first one, and where it ends.
fn longest_run(from: usize, end: usize, step: usize, fits: impl Fn(usize, usize) -> bool) -> (usize, usize) {
    let (mut best, mut begin) = ((from, from), from);
    while begin < end {
        let mut stop = begin;
        while stop + step <= end && fits(begin, stop) {
            stop += step;
        }
        if stop - begin > best.1 - best.0 {
            best = (begin, stop);
        }
        // A run of pairs may have a longer one beside it that begins a place later.
        begin = (begin + 1).max((stop + 1).saturating_sub(step));
    }
    best
}

/// Pairs of fine unknowns that take the same parts of two coarse ones, which move on by one a pair: the first unknown, the number of
/// pairs, the coarse unknown of the first pair, and the parts.
fn pairs(interpolation: &Interpolation) -> (usize, usize, usize, [f64; 4]) {
    let from = &interpolation.from;
    let parts_of = |i: usize| from[i].iter().filter(|(_, weight)| *weight != 0.0);
    let coarse_of = |i: usize| parts_of(i).map(|(coarse, _)| *coarse).min();
    let part =
        |i: usize, coarse: usize| parts_of(i).filter(|(c, _)| *c == coarse).map(|(_, weight)| weight).sum::<f64>();
    let shape = |i: usize, c: usize| [part(i, c), part(i, c + 1), part(i + 1, c), part(i + 1, c + 1)];
    let within = |i: usize, c: usize| [i, i + 1].into_iter().flat_map(parts_of).all(|(k, _)| *k == c || *k == c + 1);
    let (begin, end) = longest_run(0, from.len(), 2, |begin, i| {
        let Some(first) = coarse_of(begin) else { return false };
        let coarse = first + (i - begin) / 2;
        coarse + 1 < interpolation.coarse && within(i, coarse) && shape(i, coarse) == shape(begin, first)
    });
    match coarse_of(begin) {
        Some(coarse) if end > begin => (begin, (end - begin) / 2, coarse, shape(begin, coarse)),
        _ => (0, 0, 0, [0.0; 4]),
    }
}

/// Coarse unknowns that take the same parts of fine ones beside each other, which move on by two: where they begin and end, the
/// fine unknown of the first, and the parts.
fn joined(to: &[[(usize, f64); REACH]]) -> (usize, usize, usize, [f64; REACH]) {
    let fits = |begin: usize, c: usize| {
        let first = to[begin][0].0 + 2 * (c - begin);
        (0..REACH).all(|l| to[c][l].1 == to[begin][l].1 && (to[c][l].1 == 0.0 || to[c][l].0 == first + l))
    };
    let (begin, end) = longest_run(0, to.len(), 1, fits);
    to.get(begin).map_or((0, 0, 0, [0.0; REACH]), |slots| (begin, end, slots[0].0, slots.map(|slot| slot.1)))
}

/// Where the rows of a level are regular, for its sweeps.
pub(super) struct Sweep<T: Real> {
    ranges: Buffer<u32>,
    /// The numbers that rows need where the couplings along them are equal, in two dimensions.
    row_couplings: Buffer<T>,
    pattern: Buffer<T>,
    /// Rows in two dimensions, planes in three.
    units: usize,
    /// Whether the last unit has the first one beside it.
    cyclic: bool,
}

impl<T: Real> Sweep<T> {
    /// For a level that has a coarser one.
    pub(super) fn new(context: &Context, level: &Level, reach: [u32; 3]) -> Result<Sweep<T>> {
        let (even_begin, even_end) = even_columns(&level.factors[0]);
        let (fine, count, coarse, parts) = pairs(&level.interpolations[0]);
        let (begin, end, first, joined) = joined(&level.interpolations[0].transposed().0);
        let ranges: Vec<_> =
            [even_begin, even_end, fine, count, coarse, begin, end, first].map(|place| place as u32).into();
        let pattern: Vec<_> = parts.into_iter().chain(joined).map(T::from_f64).collect();
        let outer = level.axes.last().expect("a box has directions");
        Ok(Sweep {
            ranges: Buffer::from_slice(context, &[&ranges[..], &reach].concat())?,
            row_couplings: Buffer::from_slice(context, &row_couplings::<T>(level, even_begin, even_end))?,
            pattern: Buffer::from_slice(context, &pattern)?,
            units: outer.unknowns(),
            cyclic: outer.periodic() && outer.unknowns() > 1,
        })
    }

    /// Into how many bands the level is cut for so many sweeps; `None` where the kernels of single operations do better.
    pub(super) fn bands(&self, context: &Context, lines: &Lines<T>, sweeps: usize) -> Option<usize> {
        // Between two seams there must be a unit more than a coarse one takes part in.
        let least = 2 * (2 * sweeps + 1) + REACH + 2;
        let (most, units, unknowns) = (self.units / least, context.units(), lines.unknowns());
        let per_unit = if lines.counts[2] == 1 { BANDS_PER_UNIT } else { 1 };
        let bands = match most {
            _ if context.family() != KernelFamily::Cpu => return None,
            0 if self.cyclic => return None,
            _ if unknowns <= ONE_BAND => 1,
            _ => most.clamp(1, units * per_unit),
        };
        let even = if bands > units { bands - bands % units } else { bands };
        (unknowns <= LARGE || 4 * even >= units).then_some(even)
    }

    /// How many partial sums the bands and seams have.
    pub(super) fn partials(&self, bands: usize) -> usize {
        bands + self.seams(bands)
    }

    fn seams(&self, bands: usize) -> usize {
        if self.cyclic { bands } else { bands - 1 }
    }

    /// The pass in `bands` bands; `other` is the coarse grid that it reads or writes, `work` takes residuals in three dimensions, `across` has
    /// [`room`] per band.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn run(
        &self,
        context: &Context,
        (lines, coarser): (&Lines<T>, &Lines<T>),
        transfer: &Transfer<T>,
        bands: usize,
        (start, sweeps, after): (Start, Sweeps, After<'_, T>),
        omega: T,
        f: &Vector<T>,
        [u, other, work]: [&Vector<T>; 3],
        across: &Buffer<T>,
    ) -> Result<()> {
        let ([nx, ny, nz], [mx, my, mz]) = (lines.counts, coarser.counts);
        let [u, other, work, across_out] = [u.buffer(), other.buffer(), work.buffer(), across].map(Out::shared);
        let (after, partial) = match after {
            After::Nothing => (0, across_out),
            After::Restricted => (1, across_out),
            After::Summed(partial) => (2, partial),
        };
        let (stages, colour) = (2 * sweeps.count as u32, sweeps.order.colours()[0]);
        let (cyclic, stride) = (u32::from(self.cyclic), stride(lines));
        let Transfer { from, weights, to, transposed, .. } = transfer;
        let program = boxes_sweep::Program::<T>::new().dim(lines.dim);
        let program = if lines.dim == 2 && context.prefetches() { program.rows_ahead(ROWS_AHEAD) } else { program };
        for (phase, items) in [bands, self.seams(bands)].into_iter().enumerate().filter(|(_, items)| *items > 0) {
            program.sweep(
                context,
                Range::d1(items, 1),
                nx,
                ny,
                nz,
                mx,
                my,
                mz,
                phase as u32,
                bands as u32,
                cyclic,
                start as u32,
                after,
                stages,
                colour,
                omega,
                stride,
                &self.ranges,
                &self.pattern,
                &lines.lines,
                &self.row_couplings,
                from,
                weights,
                to,
                transposed,
                f.buffer(),
                u,
                other,
                work,
                across_out,
                partial,
            )?;
        }
        Ok(())
    }
}

/// Numbers of a row that a band keeps outside the grids, in whole vectors.
fn stride<T: Real>(lines: &Lines<T>) -> usize {
    lines.counts[0].next_multiple_of(8) + 8
}

/// Numbers that a band keeps outside the grids: a row, and in two dimensions the residuals that a coarse row needs.
pub(super) fn room<T: Real>(lines: &Lines<T>) -> usize {
    if lines.dim == 2 { (1 + REACH) * stride(lines) } else { stride(lines) }
}

/// The root of sums of squares of bands and seams; `None` where they are out of range.
pub(super) fn root<T: Real>(partials: &[T]) -> Option<f64> {
    let squares = launch::total::<T>(partials);
    launch::in_range::<T>(squares).then(|| squares.sqrt())
}
