//! Scalars of an iteration that stay on the device.

use serde::{Deserialize, Serialize};

use super::cg_device::CG;
use super::monitor::{ConvergenceMonitor, Threshold};
use super::{Preconditioner, Stop};
use crate::ops::SpaceVector;
use crate::ops::reduce::REDUCE_PARTIALS;
use crate::runtime::{KernelFamily, Out, Range};
use crate::{Buffer, Context, Real, Result, Scalar};

/// Maximum number of iterations enqueued before the host checks them.
pub(super) const MOST_AT_ONCE: usize = 32;
/// One row more than iterations at a time: each writes the row of its successor.
const ROWS: usize = MOST_AT_ONCE + 1;

/// The blocks of iterations after which the host checks them. They are the same if a solve is ended within one and resumed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Blocks {
    /// Iterations of the current block, and how many of them are left.
    length: usize,
    left: usize,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { length: 1, left: 0 }
    }
}

impl Blocks {
    pub(super) fn is_at_end(&self) -> bool {
        self.left == 0
    }

    /// How many iterations to enqueue: those of the next block, at most `at_once`, or the rest of the current one,
    /// within the iteration limit.
    pub(super) fn next(&mut self, monitor: &ConvergenceMonitor<'_>, at_once: usize) -> usize {
        if self.is_at_end() {
            self.length = monitor.planned(self.length, at_once);
            self.left = self.length;
        }
        let count = self.left.min(monitor.room()).max(1);
        self.left -= count;
        count
    }
}

/// The limits at which an iteration stops. Those of the device include a safety margin, so that it stops before the
/// host's criterion is met although rounding may differ.
#[derive(Debug, Clone, Copy)]
pub struct Limits<T> {
    /// A little more than the machine precision: smaller quotients count as zero.
    pub(super) unsound: T,
    /// Squares of the norms that meet the tolerance and that are too large, in units.
    pub(super) low: T,
    pub(super) high: T,
    /// The scale of the residual.
    pub(super) unit: T,
    /// The host's criterion.
    pub(super) threshold: Threshold,
}

impl<T: Real> Limits<T> {
    pub(super) fn new(unit: f64, low: f64, high: f64, threshold: Threshold) -> Limits<T> {
        let margin = 16.0 * T::epsilon().into_f64();
        Limits {
            unsound: T::from_f64(T::epsilon().into_f64() * (1.0 + margin)),
            low: T::from_f64(low * (1.0 + margin)),
            high: T::from_f64(high * (1.0 - margin)),
            unit: T::from_f64(unit),
            threshold,
        }
    }
}

/// A ring of rows of `N` numbers, one per iteration: its input and its results.
#[derive(Debug)]
pub(super) struct Ring<T: Real, const N: usize> {
    rows: Buffer<T>,
    /// The row of the next iteration to be enqueued.
    at: usize,
}

impl<T: Real, const N: usize> Ring<T, N> {
    pub(super) fn new(context: &Context) -> Result<Ring<T, N>> {
        Ok(Ring { rows: Buffer::zeroed(context, ROWS * N)?, at: 0 })
    }

    pub(super) fn start(&mut self, first: [f64; N]) -> Result<()> {
        self.at = 0;
        self.rows.write_range(0, &first.map(T::from_f64))
    }

    /// The same row once more.
    pub(super) fn repeat(&mut self) {
        self.at = 0;
    }

    /// All rows, for a kernel.
    pub(super) fn rows(&self) -> Out<'_, T> {
        Out::shared(&self.rows)
    }

    /// The number of this iteration's row.
    pub(super) fn at(&self) -> u32 {
        self.at as u32
    }

    /// Advances to the next row; returns its number.
    pub(super) fn advance(&mut self) -> u32 {
        self.at = (self.at + 1) % ROWS;
        self.at as u32
    }

    /// The last `count` iterations enqueued, each with its successor's row.
    pub(super) fn read(&self, count: usize) -> Result<impl Iterator<Item = ([f64; N], [f64; N])> + use<T, N>> {
        let mut numbers = vec![T::zero(); ROWS * N];
        self.rows.read(&mut numbers)?;
        let first = self.at + ROWS - count;
        let row = move |k: usize| {
            let start = (first + k) % ROWS * N;
            std::array::from_fn(|j| numbers[start + j].into_f64())
        };
        Ok((0..count).map(move |k| (row(k), row(k + 1))))
    }
}

/// How to run a kernel of `cg.cl` or `bicgstab.cl` that updates vectors of `n` numbers and leaves dot products: the items of a
/// work-group and the elements that an item reads at once, the number of partial sums of each, and the range.
pub(super) fn update<T: Real>(context: &Context, n: usize) -> ([u64; 2], usize, Range) {
    match context.family() {
        KernelFamily::Gpu => {
            let [local, width, groups, ..] = context.choice(&CG, T::PRECISION, n);
            let most = context.units() * groups as usize;
            let groups = n.div_ceil((local * width) as usize).min(most.clamp(1, REDUCE_PARTIALS));
            ([local.into(), width.into()], groups, Range::d1(groups * local as usize, local as usize))
        }
        KernelFamily::Cpu => {
            let chunks = context.chunks().min(n).min(REDUCE_PARTIALS);
            ([context.local() as u64, 1], chunks, Range::d1(chunks, 1))
        }
    }
}

/// |r - step t| for |r| = `length`, t'r = `mixed` and |t|^2 = `square`, to the rounding error of |r|.
pub(crate) fn after_step<W: Scalar<Real = f64>>(length: f64, mixed: W, square: f64, step: W) -> f64 {
    let squares = length * length - 2.0 * (step.conj() * mixed).re() + step.modulus().powi(2) * square;
    // NaN stays NaN.
    if squares < 0.0 { 0.0 } else { squares.sqrt() }
}

/// M^-1 r in z, or r itself without a preconditioner.
pub(super) fn precondition<'v, V: SpaceVector>(
    m: &mut Option<&mut (dyn Preconditioner<V::Scalar, V> + '_)>,
    r: &'v V,
    z: &'v mut V,
) -> Result<&'v V> {
    match m {
        Some(m) => {
            m.apply(r, z)?;
            Ok(z)
        }
        None => Ok(r),
    }
}

/// Sets z = M^-1 v; returns sqrt(v^H z), or why it does not exist.
pub(super) fn scaled<V: SpaceVector>(
    m: &mut Option<&mut (dyn Preconditioner<V::Scalar, V> + '_)>,
    v: &V,
    z: &mut V,
) -> Result<std::result::Result<f64, Stop>> {
    let Some(m) = m else {
        z.set_copy(v)?;
        let norm = v.norm()?;
        return Ok(if norm.is_finite() { Ok(norm) } else { Err(Stop::NotFinite) });
    };
    m.apply(v, z)?;
    let square = v.dot(z)?.widen().re();
    Ok(match square {
        s if !s.is_finite() => Err(Stop::NotFinite),
        s if s < 0.0 => Err(Stop::Indefinite),
        s => Ok(s.sqrt()),
    })
}
