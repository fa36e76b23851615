//! How many floating-point operations products take, by counting those of the kernels' text.
//!
//! Each addition, subtraction, multiplication, division, square root, minimum and maximum is one; a multiplication and addition that
//! may be fused are two. Conversions, integers, addresses and comparisons count nothing, nor do lanes and tile places that
//! hold nothing, or what triangles and entries need once for all points.

use std::time::Instant;

use clinalg::runtime::{Arg, Buffer, Kernel, KernelFamily, Range};
use clinalg::{Context, Precision, Real, Result};

use super::operator::{HeatOperator, START_BLOCKS, launch, terms};
use super::space::{Entities, Shared};
use super::times::DISTANCES;
use super::{Algorithm, Kind};
use crate::kernels::rate;
use crate::surface::{norm, sub};

/// `exp2_negative`: a maximum, three for the whole number, and a polynomial of so many terms behind the first one.
fn exponential<T: Real>() -> f64 {
    4.0 + 2.0 * if T::PRECISION == Precision::F64 { 10.0 } else { 6.0 }
}

/// x - y and its scaled square.
const DISTANCE: f64 = 9.0;
/// The product of x - y with the normal and with the weight.
const NORMAL: f64 = 6.0;

fn has_normal(kind: Kind) -> bool {
    matches!(kind, Kind::K | Kind::Ks)
}

/// Geometry and weights of a pair of points.
fn pair_of_points(kind: Kind) -> f64 {
    let weights = match kind {
        Kind::V => 1.0,
        Kind::K => 1.0,
        Kind::Ks => 2.0,
        Kind::D => 3.0,
    };
    DISTANCE + weights + if has_normal(kind) { NORMAL } else { 0.0 }
}

/// `add_moments` for a pair of points: the difference from the centres' distance, the first moments, and the powers.
fn moments(kind: Kind, degree: f64) -> f64 {
    let (first, power) = if kind == Kind::D { (2.0, 5.0) } else { (1.0, 2.0) };
    pair_of_points(kind) + 1.0 + first + power * degree
}

/// `series_of_moments`.
fn series(kind: Kind, degree: f64) -> f64 {
    degree * if kind == Kind::D { 7.0 } else { 1.0 }
}

/// `add_nodes` for a point of a time rule.
fn node<T: Real>(degree: f64) -> f64 {
    2.0 * degree + 2.0 + 1.0 + exponential::<T>() + 3.0
}

/// `fill_blocks_pointwise` for a pair of points and a block: one polynomial in a table, or two.
fn in_table<T: Real>(kind: Kind) -> f64 {
    let polynomial = 4.0 + 2.0 * (terms::<T>() - 1) as f64 + 2.0;
    pair_of_points(kind) + if kind == Kind::D { 2.0 } else { 1.0 } * polynomial
}

/// `advance` for a pair of points and a block: closed forms behind z = 1/2, or a time rule of `nodes` points.
fn by_published<T: Real>(kind: Kind, nodes: f64) -> f64 {
    let closed = {
        // z; exp and exp(z^2) erfc(z) of 24 powers; erf; the Gaussian's factor.
        let common = 4.0 + 2.0 + exponential::<T>() + (2.0 + 2.0 + 48.0 + 1.0) + 2.0 + 1.0;
        // The bracket of B, the slope of its derivative, erf z / z; each with its factor.
        let (second, slope, quotient) = (4.0 + 3.0, 7.0 + 3.0, 1.0 + 3.0);
        common
            + match kind {
                Kind::V => second,
                Kind::K | Kind::Ks => slope,
                Kind::D => second + quotient,
            }
    };
    let rule = 1.0 + nodes * (exponential::<T>() + if kind == Kind::D { 8.0 } else { 3.0 });
    // The distance and, for closed forms, its root; the weight; sums.
    let sums = match kind {
        Kind::V => 2.0,
        Kind::K | Kind::Ks => NORMAL + 6.0,
        Kind::D => 2.0 + 9.0 * 4.0,
    };
    DISTANCE + if T::PRECISION == Precision::F64 { closed } else { rule } + 1.0 + sums
}

/// How many corners each row or column has.
fn corners<T: Real>(entities: &Entities<T>) -> Result<Vec<f64>> {
    let mut counts = vec![0.0; entities.places.len()];
    for list in entities.lists_on_host()? {
        counts.iter_mut().zip(list).for_each(|(count, there)| *count += f64::from(u8::from(there)));
    }
    Ok(counts)
}

impl<T: Real> HeatOperator<T> {
    /// Floating-point operations of one product, as the module counts them: an estimate of the work, by the kernels for GPUs.
    /// Divided by [`evaluations`](HeatOperator::evaluations) it is what an evaluation of the published algorithms costs.
    ///
    /// # Errors
    /// Those of the transfer of tables from the device.
    pub fn flops(&self) -> Result<f64> {
        let (rows, cols, steps) = self.block_shape();
        // The product itself: block d meets the steps from d on.
        let first = if self.is_assembled() || self.algorithm() == Algorithm::Moments { steps } else { START_BLOCKS };
        let met: f64 = (0..first.min(steps)).map(|d| (steps - d) as f64).sum();
        let product = 2.0 * rows as f64 * cols as f64 * met;
        if self.is_assembled() {
            return Ok(product);
        }
        let shared = self.shared();
        let kind = self.kind();
        let triangles = shared.mesh.triangles().len() as f64;
        let points = (shared.rule.len() * shared.rule.len()) as f64;
        if self.algorithm() != Algorithm::Moments {
            let later = steps.saturating_sub(START_BLOCKS);
            let multiplied: f64 = (START_BLOCKS..steps).map(|d| (steps - d) as f64).sum();
            let pairs = triangles * triangles;
            // Second differences need W at two more times.
            let (evaluated, nodes) = match self.published_nodes() {
                Some(nodes) => (later as f64, nodes as f64 / later.max(1) as f64),
                None => ((later + if later > 0 { 2 } else { 0 }) as f64, 0.0),
            };
            let evaluations = pairs * points * evaluated * by_published::<T>(kind, nodes);
            return Ok(product + evaluations + pairs * kind.slots() as f64 * 2.0 * multiplied);
        }
        Ok(product + self.later_flops(shared, points)?)
    }

    /// What making blocks from 2 on takes, all of them once.
    fn later_flops(&self, shared: &Shared<T>, points: f64) -> Result<f64> {
        let Some(plan) = self.plan_on_host()? else { return Ok(0.0) };
        let kind = self.kind();
        let (rows, cols) = (shared.rows(kind), shared.cols(kind));
        let (row_corners, col_corners) = (corners(rows)?, corners(cols)?);
        // All blocks of a part by the degree of their entry: nodes of block d manage with its own degree.
        let nodes = |first: usize, blocks: usize, degree: u32| -> f64 {
            let of_block = |d: usize| {
                let [begin, own, end] = [0, 1, 2].map(|k| plan.ranges[2 * (d - START_BLOCKS) + k]);
                f64::from(end - begin) * node::<T>(f64::from(degree.min(own)))
            };
            (first..first + blocks).map(of_block).sum()
        };
        let most = plan.whole.degrees.iter().chain(&plan.paired.degrees).max().copied().unwrap_or(0);
        let whole: Vec<f64> = (0..=most).map(|p| nodes(plan.whole.first, plan.whole.blocks, p)).collect();
        let place = |width: f64, r: f64| ((r / width) as usize).min(DISTANCES - 1);
        let mut total = 0.0;
        for (x, test) in rows.places.iter().zip(&row_corners) {
            for (y, trial) in cols.places.iter().zip(&col_corners) {
                let r = norm(sub(*x, *y));
                if plan.whole.blocks > 0 {
                    let degree = plan.whole.degrees[place(plan.whole.width, r)];
                    total += test * trial * points * moments(kind, f64::from(degree));
                    total += series(kind, f64::from(degree)) + whole[degree as usize];
                }
                let nearest = plan.scale * (r - plan.reach).max(0.0).powi(2);
                let near = plan.cuts.iter().filter(|&&cut| nearest <= cut).count() as f64;
                total += near * test * trial * points * in_table::<T>(kind);
            }
        }
        if plan.paired.blocks > 0 {
            let centres = &shared.of_triangles.places;
            for x in centres {
                for y in centres {
                    let r = norm(sub(*x, *y));
                    let nearest = plan.paired_scale * (r - plan.paired_reach).max(0.0).powi(2);
                    let least = |d: usize| plan.nodes[2 * (plan.ranges[2 * (d - START_BLOCKS) + 2] as usize - 1)];
                    let degree = plan.paired.degrees[place(plan.paired.width, r)];
                    let blocks = (plan.paired.first..plan.paired.first + plan.paired.blocks)
                        .filter(|&d| nearest * least(d) <= plan.cut);
                    let sums: f64 = blocks.map(|d| nodes(d, 1, degree)).sum();
                    if sums > 0.0 {
                        let degree = f64::from(degree);
                        total += kind.slots() as f64 * (points * moments(kind, degree) + series(kind, degree) + sums);
                    }
                }
            }
        }
        Ok(total)
    }
}

/// Passes of its loop, and operations of each.
const TURNS: u32 = 1 << 14;
const TURN: f64 = 64.0;

/// Floating-point operations a second of multiplications with additions that wait for nothing, each two: the limit of kernels bound
/// by arithmetic, measured on the device. The fastest of five.
///
/// # Errors
/// [`Error::NoFp64`](clinalg::Error::NoFp64); [`Error::Allocation`](clinalg::Error::Allocation); those of the launch.
pub fn multiply_add_rate<T: Real>(context: &Context) -> Result<f64> {
    context.require::<T>()?;
    let units = context.device().compute_units as usize;
    let (items, local) = if context.family() == KernelFamily::Cpu { (256 * units, 16) } else { (2048 * units, 256) };
    let out = Buffer::<T>::zeroed(context, items)?;
    let args = [Arg::U32(TURNS), Arg::real::<T>(0.5), Arg::real::<T>(1.0), out.arg()];
    let mut best = f64::INFINITY;
    // The first one builds the kernel.
    for k in 0..6 {
        let start = Instant::now();
        launch(context, Kernel::new(&rate::FILE, "multiply_add", T::PRECISION), Range::d1(items, local), &args)?;
        context.finish()?;
        best = if k == 0 { best } else { best.min(start.elapsed().as_secs_f64()) };
    }
    Ok(items as f64 * f64::from(TURNS) * TURN / best)
}

/// What a plan's tables hold.
pub(super) struct HostPlan {
    pub(super) ranges: Vec<u32>,
    /// Nodes of the part by pairs: (b, c).
    pub(super) nodes: Vec<f64>,
    /// Behind which `b rho` pairs are left out.
    pub(super) cut: f64,
    pub(super) paired: HostPart,
    pub(super) paired_scale: f64,
    pub(super) paired_reach: f64,
    pub(super) whole: HostPart,
    /// Of the blocks that are summed point by point.
    pub(super) cuts: Vec<f64>,
    pub(super) scale: f64,
    pub(super) reach: f64,
}

/// A range of blocks and its degrees by distance.
pub(super) struct HostPart {
    pub(super) first: usize,
    pub(super) blocks: usize,
    pub(super) degrees: Vec<u32>,
    pub(super) width: f64,
}
