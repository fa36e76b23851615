//! Time rules of the blocks 2, 3, ... and how many moments their sums need, with bounds.
//!
//! Block d >= 1 is h^2 times the integral of (1 - |th|) g((d + th) h) over (-1, 1), with g = G for V, G d / (2 s) for K
//! and Ks, and for D alpha^2 (curls) G + alpha (normals) dG/ds, dG/ds = G (r^2 / (4 alpha s^2) - 3 / (2 s)): the second
//! difference of an antiderivative in integral form, without its cancellation. The integral is taken by the Gauss rule for the weight
//! 1 - |th|.
//!
//! *Time rule.* A rule of m points with positive weights of sum 1 is exact to degree 2 m - 1, so it errs by at most twice the best
//! approximation of that degree, which is at most 2 M R^(1-2m) / (R - 1) for functions bounded by M on the ellipse with foci -1 and 1
//! and half axes (R + 1/R) / 2, (R - 1/R) / 2 (Trefethen, Approximation Theory and Approximation Practice, theorem 8.2). With
//! a = (R + 1/R) / 2 < d the ellipse keeps to Re s > 0, where |exp(-r^2 / (4 alpha s))| <= 1, so that |G| <= (4 pi alpha |s|)^(-3/2).
//!
//! *Moments.* exp(-beta rho) is expanded in rho around rho_0 = |c_x - c_y|^2, c the centres of a row and a column. A point
//! within the distance e of both centres together has |rho - rho_0| <= 2 r e + e^2, r = |c_x - c_y|, and the remainder after degree p is
//! at most (beta (2 r e + e^2))^(p+1) / (p+1)! exp(-beta max(r - e, 0)^2). The terms of the series, which cancel, are together at most
//! exp(beta (2 r e + e^2 - r^2)) <= exp(2 beta e^2): times the unit roundoff, that is what rounding adds.

use std::f64::consts::{LN_2, LOG2_E, PI};

use super::{HeatParams, Kind};
use crate::assembly::fill_parallel;
use crate::quadrature::{MOST_HAT_POINTS, hat_rule};

/// The largest degree that kernels are built for.
pub(super) const MOST_DEGREE: usize = 24;
/// Degrees are multiples of it.
pub(super) const DEGREE_STEP: usize = 4;

/// Ranges of distances that have a degree of their own, as in the kernels.
pub(super) const DISTANCES: usize = 64;

/// One block's rule.
#[derive(Debug, Clone)]
pub(super) struct BlockRule {
    /// Points: exponent factor beta = 1 / (4 alpha s), and weight.
    pub(super) points: Vec<(f64, f64)>,
    /// The degree that the moments of an entry need, if [`MOST_DEGREE`] is enough.
    pub(super) whole: Option<usize>,
    /// The same of a pair of triangles.
    pub(super) paired: Option<usize>,
}

/// The rules of the blocks from 2 on.
#[derive(Debug)]
pub(super) struct TimeRules {
    pub(super) blocks: Vec<BlockRule>,
}

impl TimeRules {
    /// Rules that err by at most `accuracy` relative to the value at r = 0; `reaches` are e of entries and of pairs of
    /// triangles, `unit` the unit roundoff.
    pub(super) fn new(kind: Kind, params: &HeatParams, reaches: [f64; 2], accuracy: f64, unit: f64) -> TimeRules {
        let (alpha, h) = (params.alpha, params.step());
        let rules: Vec<_> = (1..=MOST_HAT_POINTS).map(hat_rule).collect();
        let steps = params.steps.max(2);
        let counts = falling(2..steps, |d| points_needed(kind, d as f64, accuracy));
        let nodes = |d: usize| {
            rules[counts[d - 2] - 1].iter().map(move |&(t, w)| {
                let s = (d as f64 + t) * h;
                let factor = if matches!(kind, Kind::K | Kind::Ks) { 0.5 / s } else { 1.0 };
                (1.0 / (4.0 * alpha * s), factor * w * h * h * (4.0 * PI * alpha * s).powf(-1.5))
            })
        };
        let [whole, paired] = reaches.map(|reach| {
            falling(2..steps, |d| {
                // The rule's points ascend, so beta falls.
                let degree = degree_needed(nodes(d).next()?.0, reach, accuracy, unit)?;
                // Two powers of b come with the second part of D.
                let degree = if kind == Kind::D { degree + 2 } else { degree };
                Some(degree.next_multiple_of(DEGREE_STEP)).filter(|&p| p <= MOST_DEGREE)
            })
        });
        let blocks = (2..steps)
            .map(|d| BlockRule { points: nodes(d).collect(), whole: whole[d - 2], paired: paired[d - 2] })
            .collect();
        TimeRules { blocks }
    }

    /// The largest exponent factor in log2 units of the blocks from `first` on: what b = 1 stands for.
    pub(super) fn scale(&self, first: usize) -> f64 {
        self.blocks.get(first - 2).map_or(1.0, |rule| rule.points[0].0 * LOG2_E)
    }

    /// Ranges and nodes as the kernels take them, b relative to `scale`.
    pub(super) fn tables(&self, scale: f64) -> (Vec<u32>, Vec<f64>) {
        let (mut ranges, mut nodes) = (Vec::new(), Vec::new());
        for rule in &self.blocks {
            ranges.extend([nodes.len() as u32 / 2, rule.whole.unwrap_or(MOST_DEGREE) as u32]);
            nodes.extend(rule.points.iter().flat_map(|&(beta, c)| [beta * LOG2_E / scale, c]));
        }
        ranges.push(nodes.len() as u32 / 2);
        (ranges, nodes)
    }

    /// The smallest exponent factor of `count` blocks from `first` on.
    pub(super) fn least(&self, first: usize, count: usize) -> f64 {
        let last = (first - 2 + count).checked_sub(1).and_then(|k| self.blocks.get(k));
        last.and_then(|rule| rule.points.last()).map_or(1.0, |point| point.0)
    }

    /// The degrees, at most `most`, that blocks from `first` on need where centres are k to k + 1 times `width` apart.
    pub(super) fn degrees(
        &self,
        first: usize,
        kind: Kind,
        reach: f64,
        accuracy: f64,
        width: f64,
        most: usize,
    ) -> Vec<u32> {
        let Some(rule) = self.blocks.get(first - 2) else { return vec![0; DISTANCES] };
        let degree = |k: usize| {
            let range = (k as f64 * width, (k + 1) as f64 * width);
            let degree = (1..=MOST_DEGREE).find(|&p| remainder(rule.points[0].0, reach, range, p) <= accuracy);
            let degree = degree.unwrap_or(most) + if kind == Kind::D { 2 } else { 0 };
            degree.next_multiple_of(DEGREE_STEP).min(most) as u32
        };
        (0..DISTANCES).map(degree).collect()
    }

    /// For each of `count` blocks from `first` on, its largest exponent in units of the scale and the rho behind which it is left
    /// out; and the cells that their tables have.
    fn cuts(&self, first: usize, count: usize, cut: f64) -> (Vec<[f64; 2]>, usize) {
        let scale = self.scale(first);
        let rules = &self.blocks[first - 2..first - 2 + count];
        let exponent = |point: Option<&(f64, f64)>| point.map_or(1.0, |p| p.0 * LOG2_E / scale);
        let cuts: Vec<_> =
            rules.iter().map(|rule| [exponent(rule.points.first()), cut / exponent(rule.points.last())]).collect();
        // The last cell holds zeros.
        let cells = cuts.iter().fold(0.0_f64, |most, [steepest, cut]| most.max(steepest * cut)).ceil() as usize + 1;
        (cuts, cells)
    }

    /// Numbers in the tables that [`TimeRules::in_cells`] makes.
    pub(super) fn table_entries(&self, kind: Kind, first: usize, count: usize, terms: usize, cut: f64) -> f64 {
        parts(kind) as f64 * count as f64 * terms as f64 * self.cuts(first, count, cut).1 as f64
    }

    /// The sums over points of the blocks `first` to `first + count - 1` by polynomials, as the kernels take them.
    pub(super) fn in_cells(&self, kind: Kind, alpha: f64, first: usize, count: usize, terms: usize, cut: f64) -> Cells {
        let scale = self.scale(first);
        let rules = &self.blocks[first - 2..first - 2 + count];
        let (cuts, cells) = self.cuts(first, count, cut);
        let interpolation = Interpolation::new(terms);
        let size = terms * cells;
        let mut tables = vec![0.0; parts(kind) * count * size];
        fill_parallel(&mut tables, parts(kind) * size, |k, table| {
            let points = &rules[k].points;
            let [steepest, _] = cuts[k];
            let exponent = |beta: f64| beta * LOG2_E / scale;
            let plain = |at: f64| {
                let rho = at / steepest;
                points.iter().map(|&(beta, c)| c * (-exponent(beta) * rho).exp2()).sum::<f64>()
            };
            // 4 alpha beta (beta |x - y|^2 - 3/2) with each point.
            let second = |at: f64| {
                let rho = at / steepest;
                let term = |&(beta, c): &(f64, f64)| {
                    let b = exponent(beta);
                    c * (-b * rho).exp2() * 4.0 * alpha * beta * (LN_2 * b * rho - 1.5)
                };
                points.iter().map(term).sum::<f64>()
            };
            interpolation.fill(&plain, &mut table[..size]);
            if kind == Kind::D {
                interpolation.fill(&second, &mut table[size..]);
            }
        });
        Cells { tables, cells, cuts }
    }
}

/// `f` of all numbers in `range`, where it never grows: equal values enclose equal ones, so that it is evaluated for few of them.
fn falling<V: Copy + PartialEq>(range: std::ops::Range<usize>, f: impl Fn(usize) -> V) -> Vec<V> {
    let mut values = Vec::with_capacity(range.len());
    let Some(last) = range.end.checked_sub(1).filter(|last| range.contains(last)) else { return values };
    // Numbers whose values are known, the next one on top.
    let mut known = vec![(last, f(last))];
    let mut here = f(range.start);
    let mut at = range.start;
    values.push(here);
    while at < last {
        let (next, there) = known[known.len() - 1];
        if next == at + 1 || there == here {
            values.resize(values.len() + next - at, there);
            (at, here) = (next, there);
            known.pop();
        } else {
            let middle = (at + next) / 2;
            known.push((middle, f(middle)));
        }
    }
    values
}

/// Tables of a block.
fn parts(kind: Kind) -> usize {
    if kind == Kind::D { 2 } else { 1 }
}

/// What [`TimeRules::in_cells`] makes.
#[derive(Debug)]
pub(super) struct Cells {
    /// For each block, for D each part: term k of cell c at k cells + c. The cells of a block are as long as its largest exponent
    /// times rho grows by 1: as many do for late blocks, which reach far, as for early ones.
    pub(super) tables: Vec<f64>,
    pub(super) cells: usize,
    /// For each block, its largest exponent and the rho behind which it is left out.
    pub(super) cuts: Vec<[f64; 2]>,
}

/// Interpolation in the Chebyshev points of cells.
struct Interpolation {
    /// cos(i) in the points, and cos(j angle(i)) at terms j + i.
    points: Vec<f64>,
    cosines: Vec<f64>,
    /// Powers of the Chebyshev polynomial j at terms j.
    powers: Vec<f64>,
}

impl Interpolation {
    fn new(terms: usize) -> Interpolation {
        let angle = |i: usize| PI * (i as f64 + 0.5) / terms as f64;
        let cosines = (0..terms * terms).map(|k| ((k / terms) as f64 * angle(k % terms)).cos()).collect();
        let mut powers = vec![0.0; terms * terms];
        powers[0] = 1.0;
        for j in 1..terms {
            // Each from the two before it.
            let factor = if j == 1 { 1.0 } else { 2.0 };
            for k in 0..terms {
                let raised = if k == 0 { 0.0 } else { powers[(j - 1) * terms + k - 1] };
                let before = if j == 1 { 0.0 } else { powers[(j - 2) * terms + k] };
                powers[j * terms + k] = factor * raised - before;
            }
        }
        Interpolation { points: (0..terms).map(|i| angle(i).cos()).collect(), cosines, powers }
    }

    /// The cells c to c + 1 of `table`, all but the last one, in powers of 2 (rho - c) - 1. A derivative of order n of a sum of
    /// 2^(-b rho), b <= 1, is at most ln(2)^n times the sum, so that the error is at most (ln 2 / 2)^n / (2^(n - 1) n!) times it:
    /// 1e-14 for 10 terms, 8e-8 for 6.
    fn fill(&self, f: &dyn Fn(f64) -> f64, table: &mut [f64]) {
        let terms = self.points.len();
        let cells = table.len() / terms;
        let mut values = vec![0.0; terms];
        for cell in 0..cells - 1 {
            for (value, point) in values.iter_mut().zip(&self.points) {
                *value = f(cell as f64 + 0.5 + 0.5 * point);
            }
            for (j, cosines) in self.cosines.chunks_exact(terms).enumerate() {
                let sum: f64 = values.iter().zip(cosines).map(|(v, cosine)| v * cosine).sum();
                let coefficient = sum * if j == 0 { 1.0 } else { 2.0 } / terms as f64;
                for k in 0..=j {
                    table[k * cells + cell] += coefficient * self.powers[j * terms + k];
                }
            }
        }
    }
}

/// The largest remainder after degree `p` for distances in `range` and all exponent factors up to `beta`.
fn remainder(beta: f64, reach: f64, range: (f64, f64), p: usize) -> f64 {
    let nearest = (range.0 - reach).max(0.0).powi(2);
    // Where beta^(p + 1) exp(-beta nearest) is largest.
    let worst = beta.min((p + 1) as f64 / nearest);
    let grown = worst * (2.0 * range.1 + reach) * reach;
    (1..=p + 1).map(|n| grown / n as f64).product::<f64>() * (-worst * nearest).exp()
}

/// Points of the rule for block d that err by at most `accuracy` relative to the largest value.
fn points_needed(kind: Kind, d: f64, accuracy: f64) -> usize {
    let bound = |m: usize| {
        // The best of some ellipses.
        (1..40).map(|k| ellipse_bound(kind, d, m, 1.0 + (d - 1.0) * f64::from(k) / 40.0)).fold(f64::INFINITY, f64::min)
    };
    (1..MOST_HAT_POINTS).find(|&m| bound(m) <= accuracy).unwrap_or(MOST_HAT_POINTS)
}

/// The bound from the ellipse with the half axis a, 1 < a < d.
fn ellipse_bound(kind: Kind, d: f64, m: usize, a: f64) -> f64 {
    let b = (a * a - 1.0).sqrt();
    let radius = a + b;
    let best = 2.0 * radius.powi(1 - 2 * m as i32) / (radius - 1.0);
    // |s| >= (d - a) h on the ellipse; relative to s = d h.
    let closest = 1.0 - a / d;
    let largest = match kind {
        Kind::V => closest.powf(-1.5),
        Kind::K | Kind::Ks => closest.powf(-2.5),
        Kind::D => {
            // |u exp(-u)| <= 1 / (e cos(phi)) where u has the argument phi; the ellipse is seen from 0 under tan phi =
            // b / sqrt(d^2 - a^2). Relative to the value 3 / (2 s) at r = 0.
            let cosine = ((d * d - a * a) / (d * d - a * a + b * b)).sqrt();
            closest.powf(-2.5) * (1.0 + 1.0 / (1.5 * std::f64::consts::E * cosine))
        }
    };
    2.0 * best * largest
}

/// The degree after which the remainder is at most `accuracy`, for all r >= 0; `None` where rounding is larger.
fn degree_needed(beta: f64, reach: f64, accuracy: f64, unit: f64) -> Option<usize> {
    if unit * (2.0 * beta * reach * reach).exp() > accuracy {
        return None;
    }
    // Behind this distance exp(-beta (r - e)^2) (beta (2 r + e) e)^(p+1) falls for all p in use.
    let far = reach + ((MOST_DEGREE as f64 + 4.0) / beta).sqrt() * 2.0;
    let cells = 400;
    let width = far / f64::from(cells);
    let bound = |p: usize| {
        let cell = |k: u32| remainder(beta, reach, (f64::from(k) * width, f64::from(k + 1) * width), p);
        (0..cells).map(cell).fold(0.0, f64::max)
    };
    (1..=MOST_DEGREE).find(|&p| bound(p) <= accuracy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heat::functions::{fundamental, second};

    /// The rule's block entry for V at the distance r.
    fn by_rule(rule: &BlockRule, r: f64) -> f64 {
        rule.points.iter().map(|(beta, c)| c * (-beta * r * r).exp()).sum()
    }

    #[test]
    fn rules_keep_their_bound() {
        let params = HeatParams::new(0.5, 2.0, 200);
        let h = params.step();
        for accuracy in [1e-4, 1e-7, 1e-11] {
            let rules = TimeRules::new(Kind::V, &params, [0.1; 2], accuracy, 1e-16);
            // A rule of many points on each half as the exact value.
            let line = crate::quadrature::gauss_legendre(30);
            for (k, rule) in rules.blocks.iter().enumerate().step_by(7) {
                let d = (k + 2) as f64;
                let exact = |r: f64| -> f64 {
                    let half = |sign: f64| {
                        line.iter()
                            .map(|&(t, w)| w * (1.0 - t) * fundamental(0.5, r * r, (d + sign * t) * h))
                            .sum::<f64>()
                    };
                    h * h * (half(1.0) + half(-1.0))
                };
                let peak = exact(0.0);
                let mut worst = 0.0_f64;
                for step in 0..200 {
                    let r = 0.05 * f64::from(step) * (d * h).sqrt();
                    worst = worst.max((by_rule(rule, r) - exact(r)).abs() / peak);
                }
                assert!(worst <= accuracy.max(1e-14), "block {d}: {worst:e}");
            }
        }
    }

    #[test]
    fn later_blocks_need_less() {
        let params = HeatParams::new(0.5, 2.0, 200);
        for kind in Kind::ALL {
            let rules = TimeRules::new(kind, &params, [0.05, 0.03], 1e-10, 1e-16);
            for pair in rules.blocks.windows(2) {
                assert!(pair[1].points.len() <= pair[0].points.len() && pair[1].points[0].0 <= pair[0].points[0].0);
                assert!(pair[0].whole.is_none_or(|p| pair[1].whole.is_some_and(|q| q <= p)));
            }
        }
    }

    #[test]
    fn degrees_keep_their_bound_at_their_distance() {
        let params = HeatParams::new(0.5, 1.0, 50);
        let reach = 0.06;
        let rules = TimeRules::new(Kind::V, &params, [reach; 2], 1e-10, 1e-16);
        let width = 3.0 / DISTANCES as f64;
        let degrees = rules.degrees(4, Kind::V, reach, 1e-10, width, MOST_DEGREE);
        assert!(degrees.iter().min() < degrees.iter().max(), "{degrees:?}");
        for (k, &p) in degrees.iter().enumerate() {
            for (beta, _) in rules.blocks[2..].iter().flat_map(|rule| &rule.points) {
                for r in [k as f64 * width, (k as f64 + 0.99) * width] {
                    for rho in [(r - reach).max(0.0).powi(2), (r + reach).powi(2)] {
                        let u = -beta * (rho - r * r);
                        let series: f64 = (0..=p).rev().fold(0.0, |sum, n| 1.0 + sum * u / f64::from(n + 1));
                        let error = (series * (-beta * r * r).exp() - (-beta * rho).exp()).abs();
                        assert!(error <= 1.1e-10, "distance {r}, degree {p}: {error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn cells_hold_the_sums_over_points() {
        let params = HeatParams::new(0.7, 1.0, 20);
        let rules = TimeRules::new(Kind::D, &params, [0.1; 2], 1e-10, 1e-16);
        for (terms, tolerance) in [(10, 1e-13), (6, 2e-7)] {
            let made = rules.in_cells(Kind::D, 0.7, 2, 3, terms, 40.0);
            let (scale, cells) = (rules.scale(2), made.cells);
            for (k, rule) in rules.blocks[..3].iter().enumerate() {
                let peak: f64 = rule.points.iter().map(|p| p.1).sum();
                for step in 0..500 {
                    let rho = 0.0437 * f64::from(step);
                    let at = made.cuts[k][0] * rho;
                    let cell = (at as usize).min(cells - 1);
                    let x = 2.0 * (at - cell as f64) - 1.0;
                    let table = &made.tables[2 * k * terms * cells..];
                    let got = (0..terms).rev().fold(0.0, |sum, n| sum * x + table[n * cells + cell]);
                    let want: f64 = rule.points.iter().map(|(beta, c)| c * (-beta * LOG2_E / scale * rho).exp2()).sum();
                    assert!((got - want).abs() <= tolerance * peak, "block {k}, rho {rho}: {got} is not {want}");
                }
            }
        }
    }

    #[test]
    fn falling_values_are_those_of_each_number() {
        for end in [2, 3, 4, 5, 40, 100] {
            let calls = std::cell::Cell::new(0);
            let f = |d: usize| {
                calls.set(calls.get() + 1);
                30 / d
            };
            assert_eq!(falling(2..end, f), (2..end).map(|d| 30 / d).collect::<Vec<_>>());
            assert!(calls.get() <= end.min(60), "{} calls for {end}", calls.get());
        }
    }

    #[test]
    fn tables_grow_in_proportion_to_the_steps() {
        let entries = |steps: usize| {
            let params = HeatParams::new(0.5, 1.0, steps);
            // The entries of a mesh as coarse as the unit cube needs, for which all blocks are summed point by point.
            let rules = TimeRules::new(Kind::D, &params, [1.0; 2], 1e-10, 1e-16);
            rules.table_entries(Kind::D, 2, steps - 2, 10, 35.0)
        };
        assert_eq!(entries(1602) / 1600.0, entries(102) / 100.0);
        // 8 bytes each: 20 KiB for a block of D.
        assert!(entries(1602) / 1600.0 < 2560.0, "{}", entries(102) / 100.0);
    }

    #[test]
    fn late_cells_hold_the_sums_over_points() {
        let params = HeatParams::new(0.5, 1.0, 400);
        let rules = TimeRules::new(Kind::V, &params, [0.1; 2], 1e-10, 1e-16);
        let made = rules.in_cells(Kind::V, 0.5, 2, 398, 10, 40.0);
        let scale = rules.scale(2);
        for k in [10, 100, 397] {
            let rule = &rules.blocks[k];
            let [steepest, cut] = made.cuts[k];
            let peak: f64 = rule.points.iter().map(|p| p.1).sum();
            let table = &made.tables[k * 10 * made.cells..];
            for step in 0..300 {
                let rho = cut * f64::from(step) / 299.0;
                let cell = (steepest * rho) as usize;
                assert!(cell < made.cells, "block {k}, rho {rho}");
                let x = 2.0 * (steepest * rho - cell as f64) - 1.0;
                let got = (0..10).rev().fold(0.0, |sum, n| sum * x + table[n * made.cells + cell]);
                let want: f64 = rule.points.iter().map(|(beta, c)| c * (-beta * LOG2_E / scale * rho).exp2()).sum();
                assert!((got - want).abs() <= 1e-13 * peak, "block {k}, rho {rho}: {got} is not {want}");
            }
        }
    }

    #[test]
    fn rules_are_second_differences() {
        let params = HeatParams::new(0.7, 1.0, 8);
        let h = params.step();
        let rules = TimeRules::new(Kind::V, &params, [0.1; 2], 1e-12, 1e-16);
        for (k, rule) in rules.blocks.iter().enumerate() {
            let d = (k + 2) as f64;
            for r in [0.0, 0.3, 1.1] {
                let w = |d: f64| second(0.7, r, d * h);
                let want = 2.0 * w(d) - w(d - 1.0) - w(d + 1.0);
                assert!((by_rule(rule, r) - want).abs() < 1e-13 * w(d), "block {d}, r {r}");
            }
        }
    }

    #[test]
    fn moments_keep_their_bound() {
        let (beta, reach) = (3.0, 0.2);
        for accuracy in [1e-4, 1e-8, 1e-11] {
            let p = degree_needed(beta, reach, accuracy, 1e-16).unwrap();
            let mut worst = 0.0_f64;
            for k in 0..300 {
                let r = 0.02 * f64::from(k);
                for j in -10..=10 {
                    // rho between (r - e)^2 and (r + e)^2.
                    let rho = (r + 0.1 * f64::from(j) * reach).max(0.0).powi(2);
                    let u = -beta * (rho - r * r);
                    let (mut term, mut sum) = (1.0, 0.0);
                    for n in 0..=p {
                        sum += term;
                        term *= u / (n + 1) as f64;
                    }
                    worst = worst.max((sum * (-beta * r * r).exp() - (-beta * rho).exp()).abs());
                }
            }
            assert!(worst <= accuracy, "degree {p}: {worst:e}");
        }
        assert_eq!(degree_needed(1000.0, 10.0, 1e-11, 1e-16), None);
    }
}
