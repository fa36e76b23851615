//! The operators on a device.

mod fill;
mod forecast;
mod plan;
mod product;
mod share;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clinalg::runtime::{Arg, Buffer, File, Kernel, KernelFamily, Range};
use clinalg::{Context, Dense, DeviceInfo, Error, Precision, Real, Result};
use serde::{Deserialize, Serialize};

use super::algorithms::Published;
use super::space::{LANES, Shared};
use super::toeplitz::{self, Toeplitz};
use super::work::{HostPart, HostPlan};
use super::{Algorithm, HeatSpace, Kind};
pub use forecast::Forecast;
use product::steps_per_item;
use share::Sharing;

use crate::kernels::bem_heat_moments::FILE as MOMENTS;
use crate::kernels::bem_heat_pointwise::FILE as POINTWISE;
use crate::kernels::bem_heat_product::FILE as PRODUCT;
use crate::kernels::bem_heat_start::FILE as START;

/// Whether blocks are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// All blocks on the device: the fastest product, memory rows x columns x steps.
    Assembled,
    /// Blocks 0 and 1, which hold the integrals at s = 0, on the device; the others are computed in every product.
    Otf,
    /// Assembled where that fits two thirds of the device's free memory, half of it where the device shares the host's; else on
    /// the fly.
    Auto,
}

/// How an operator is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperatorOptions {
    /// Whether blocks are stored. Default [`Form::Auto`].
    pub form: Form,
    /// Largest error of entries relative to those at distance 0, for the time rule and for the moments each;
    /// `None` takes 1e-10 in double, 1e-6 in single precision. Algorithms 1 to 4 have no use for it in double precision.
    pub accuracy: Option<f64>,
    /// Most bytes of blocks that are computed before they are used, on the fly; `None` takes what suits the device.
    pub scratch_bytes: Option<u64>,
    /// How a product on the fly is computed. All but the default are on the fly only.
    pub algorithm: Algorithm,
    /// Test and trial triangles of a work-group of algorithms 1 to 4; `None` takes those of their source. The result does not
    /// depend on it but for rounding.
    pub group: Option<[usize; 2]>,
    /// Whether algorithm 5 may multiply with blocks by tensor cores, where the device has them
    /// ([`tensor_f64`](clinalg::runtime::DeviceInfo::tensor_f64)). The result does not depend on it but for rounding.
    pub tensor: bool,
    /// Most bytes of the tables of algorithm 5, which take up to 16 KiB for each time step on coarse meshes; more are an error
    /// before they are made. `None` takes the device's largest allocation. Algorithms 1 to 4 have no tables.
    pub most_table_bytes: Option<u64>,
}

impl Default for OperatorOptions {
    fn default() -> OperatorOptions {
        OperatorOptions {
            form: Form::Auto,
            accuracy: None,
            scratch_bytes: None,
            algorithm: Algorithm::default(),
            group: None,
            tensor: true,
            most_table_bytes: None,
        }
    }
}

/// What makes kernels those for CPUs.
const PROCESSOR: &[(&str, u64)] = &[("PROCESSOR", 1)];
/// The kernels of the product.
const PRODUCTS: [&str; 2] = ["apply_blocks_gpu", "apply_blocks_cpu"];
/// Blocks that hold integrals at s = 0.
pub(super) const START_BLOCKS: usize = 2;
/// Values of x kept before the first time step, as in the kernels.
const BEFORE: usize = 16;
/// Items along the rows and along the time steps of a work-group of the product for GPUs, as in the kernels.
const ROW_ITEMS: usize = 16;
/// Rows that an item of it has.
const ROWS_ITEM: usize = 2;
/// Rows of a work-group.
const ROWS: usize = ROW_ITEMS * ROWS_ITEM;
/// Time steps that an item of the product for CPUs takes at once.
const STEPS_CPU: usize = 16;
/// Work-groups of a product for each compute unit of a GPU.
const GROUPS_PER_UNIT: usize = 8;
/// Scratch memory of a CPU: about the size of its last-level cache.
const SCRATCH_CPU: u64 = 32 << 20;
/// Scratch memory of a GPU.
const SCRATCH_GPU: u64 = 2 << 30;

/// One of the four operators on a device: y = alpha A x + beta y over all time steps.
///
/// x has `cols * steps`, y `rows * steps` values, one time step after the other. Entries of blocks from 2 on come from
/// the hat-weighted Gauss rule in time, whose number of points follows from a bound, and sums over
/// quadrature points from moments or, where few blocks would need many of them, point by point with pairs skipped that are
/// below the accuracy by a bound. Blocks 0 and 1 use closed forms and, where triangles share a vertex or an edge, Sauter-Schwab rules.
#[derive(Debug)]
pub struct HeatOperator<T: Real> {
    shared: Arc<Shared<T>>,
    kind: Kind,
    assembled: bool,
    /// The first row that is computed here, and how many.
    first: usize,
    rows: usize,
    cols: usize,
    steps: usize,
    /// Blocks 0 and 1 of all rows.
    start: Buffer<T>,
    /// The other blocks: all of them, or room for as many rows as are computed at once.
    panels: Vec<Panel<T>>,
    later: Option<Later<T>>,
    published: Option<Published<T>>,
    spread: Buffer<T>,
    spread_stride: usize,
    partial: Buffer<T>,
    partial_stride: usize,
    splits: usize,
    toeplitz: Option<Toeplitz>,
    /// Held by who uses the buffers above: products of several threads follow one another.
    in_use: Mutex<()>,
    /// The other rows, where other devices have them.
    sharing: Option<Sharing<T>>,
}

/// Rows whose blocks lie together.
#[derive(Debug)]
struct Panel<T: Real> {
    rows: usize,
    values: Buffer<T>,
}

/// What blocks from 2 on are computed with.
#[derive(Debug)]
struct Later<T: Real> {
    ranges: Buffer<u32>,
    /// (-ln 2)^k / k!, then (k + 1/2) times the one before.
    factors: Buffer<T>,
    pointwise: Pointwise<T>,
    paired: Part<T>,
    whole: Part<T>,
    degree: u64,
    /// Largest distance of two points from the centres of their row and column together.
    reach: f64,
}

/// Blocks that are summed point by point, the first ones.
#[derive(Debug)]
struct Pointwise<T: Real> {
    tables: Buffer<T>,
    /// For each block, its largest exponent and the scaled square of the distance behind which it is left out.
    cuts: Buffer<T>,
    cells: usize,
    scale: f64,
    blocks: usize,
}

/// A range of blocks, the nodes of its time rules, and degrees by distance.
#[derive(Debug)]
struct Part<T: Real> {
    nodes: Buffer<T>,
    degrees: Buffer<u32>,
    width: f64,
    /// What the kernel for pairs reads from memory: scale, alpha, the factor of the second part of D, reach, cut, width, and the
    /// scaled square of the distance behind which no block has a pair, the factors.
    limits: Buffer<T>,
    scale: f64,
    first: usize,
    blocks: usize,
}

impl<T: Real> HeatSpace<T> {
    /// Whether the blocks of an operator on one device are stored, as far as the memory says that is free now.
    pub fn stores(&self, kind: Kind, options: &OperatorOptions) -> bool {
        let shared = &*self.shared;
        let later = self.params().steps.saturating_sub(START_BLOCKS);
        let bytes = (kind.rows(self.mesh()) * later * shared.cols(kind).stride * size_of::<T>()) as u64;
        let info = shared.context.device();
        let free = info.global_mem.saturating_sub(shared.context.memory().live_bytes);
        match options.form {
            Form::Assembled => true,
            Form::Otf => false,
            Form::Auto => options.algorithm == Algorithm::Moments && bytes <= most_stored(info, free),
        }
    }

    /// An operator of this space.
    ///
    /// # Errors
    /// [`Error::Allocation`], with [`Form::Assembled`] where the blocks do not fit: its message says how much they need;
    /// [`Error::Value`] for an accuracy that is not between 0 and 1, algorithms 1 to 4 on several devices, and more devices than
    /// rows.
    pub fn operator(&self, kind: Kind, options: &OperatorOptions) -> Result<HeatOperator<T>> {
        match HeatOperator::shared_out(self, kind, options) {
            // What others hold of the device's memory shows only now.
            Err(error) if options.form == Form::Auto && matches!(error.cause(), Error::Allocation { .. }) => {
                HeatOperator::shared_out(self, kind, &OperatorOptions { form: Form::Otf, ..*options })
            }
            made => made,
        }
    }
}

pub(super) fn kind_code(kind: Kind) -> u64 {
    match kind {
        Kind::V => 0,
        Kind::K => 1,
        Kind::Ks => 2,
        Kind::D => 3,
    }
}

/// A count that the mesh or the number of time steps bounds below 2^32.
fn count(value: usize) -> Arg {
    Arg::U32(value as u32)
}

/// Enqueues a kernel of this crate.
pub(super) fn launch(context: &Context, kernel: Kernel, range: Range, args: &[Arg]) -> Result<()> {
    // SAFETY: the argument lists below follow the kernels' own in `kernels/bem_heat_*.cl`, which check their indices against the
    // sizes given; the buffers belong to the operator or the caller and live on.
    unsafe { context.launch_kernel(&kernel, range, args) }
}

impl<T: Real> HeatOperator<T> {
    /// The rows `range` of the operator.
    fn on(
        shared: Arc<Shared<T>>,
        kind: Kind,
        options: &OperatorOptions,
        range: std::ops::Range<usize>,
    ) -> Result<HeatOperator<T>> {
        let context = shared.context.clone();
        let steps = shared.params.steps;
        let (rows, cols) = (range.len(), kind.cols(&shared.mesh));
        let stride = shared.cols(kind).stride;
        let default = if T::PRECISION == Precision::F64 { 1e-10 } else { 1e-6 };
        let accuracy = options.accuracy.unwrap_or(default);
        if !(accuracy > 0.0 && accuracy < 1.0) {
            let (expected, got) = ("between 0 and 1".into(), accuracy.to_string());
            return Err(Error::Value { argument: "accuracy", expected, got });
        }
        let cpu = context.family() == KernelFamily::Cpu;
        let tile = if cpu { STEPS_CPU } else { ROW_ITEMS * steps_per_item(steps) };
        let partial_stride = steps.next_multiple_of(tile);
        let spread_stride = BEFORE + partial_stride + LANES;
        if rows < kind.rows(&shared.mesh) && options.algorithm != Algorithm::Moments {
            let (expected, got) = ("5 on several devices; 1 to 4 take one".into(), format!("{:?}", options.algorithm));
            return Err(Error::Value { argument: "algorithm", expected, got });
        }
        let published = Published::new(&shared, kind, options.algorithm, options.group, accuracy)?;
        if published.is_some() && options.form == Form::Assembled {
            let (expected, got) = ("Otf or Auto with algorithms 1 to 4".into(), "Assembled".into());
            return Err(Error::Value { argument: "form", expected, got });
        }
        let later_blocks = steps.saturating_sub(START_BLOCKS);
        let per_row = (later_blocks * stride * size_of::<T>()) as u64;
        let info = context.device();
        let (bytes, free) =
            (per_row.saturating_mul(rows as u64), info.global_mem.saturating_sub(context.memory().live_bytes));
        let assembled = match options.form {
            Form::Assembled if bytes > free => {
                // Before memory is taken that others may need.
                let limit = format!(
                    "the blocks of {kind:?} take that much, {free} bytes are free; on the fly they take little"
                );
                return Err(Error::Allocation { bytes, device: info.name.clone(), limit });
            }
            Form::Assembled => true,
            Form::Otf => false,
            Form::Auto => published.is_none() && bytes <= most_stored(info, free),
        };
        let allowed = options.tensor && !cpu && published.is_none();
        let toeplitz = Toeplitz::new::<T>(info).filter(|_| allowed);
        let scratch = scratch(&context, options.scratch_bytes);
        let limit = if assembled { context.device().max_alloc } else { scratch };
        let fits = |bytes: u64| bytes.checked_div(per_row).map_or(0, |fit| (fit as usize).clamp(1, rows));
        let panel = fits(limit);
        // Whole tiles of rows where there are several panels.
        let panel = if panel > ROWS && panel < rows { panel / ROWS * ROWS } else { panel };
        let row_tiles = if panel == 0 { rows } else { panel }.div_ceil(ROWS);
        let wanted = context.device().compute_units as usize * GROUPS_PER_UNIT;
        let groups = row_tiles * (partial_stride / tile);
        let splits = match toeplitz {
            Some(toeplitz) => toeplitz.splits(if panel == 0 { rows } else { panel }, stride, steps),
            None if cpu => 1,
            None => wanted.div_ceil(groups).clamp(1, stride / LANES),
        };
        // SAFETY: kernels write the blocks, the spread vector and the partial sums before others read them.
        let uninit = |len| unsafe { Buffer::uninit_unchecked(&context, len) };
        let mut operator = HeatOperator {
            kind,
            assembled,
            first: range.start,
            rows,
            cols,
            steps,
            start: uninit(rows * steps.min(START_BLOCKS) * stride)?,
            panels: Vec::new(),
            later: None,
            published,
            spread: uninit(stride * spread_stride)?,
            spread_stride,
            partial: uninit(splits * rows * partial_stride)?,
            partial_stride,
            splits,
            toeplitz,
            in_use: Mutex::default(),
            sharing: None,
            shared,
        };
        let planned = later_blocks > 0 && operator.published.is_none();
        if planned {
            let most = options.most_table_bytes.unwrap_or(context.device().max_alloc);
            operator.later = Some(operator.plan(accuracy, most)?);
        }
        operator.fill_start()?;
        if planned {
            let count = if assembled { rows.div_ceil(panel) } else { 1 };
            let tiles = operator.tiled();
            // Rows that are computed at a time before they become tiles.
            let part = if tiles.is_some() {
                fits(scratch.min(free.saturating_sub(bytes))).next_multiple_of(toeplitz::ROWS)
            } else {
                panel
            };
            let untiled = tiles.map(|_| uninit(part * later_blocks * stride)).transpose()?;
            for k in 0..count {
                let first = k * panel;
                let rows = panel.min(rows - first);
                let stored = if tiles.is_some() { rows.next_multiple_of(toeplitz::ROWS) } else { rows };
                let values = uninit(stored * later_blocks * stride).map_err(|error| match error {
                    Error::Allocation { device, limit, .. } if assembled => {
                        let bytes = per_row.saturating_mul(operator.rows as u64);
                        Error::Allocation { bytes, device, limit: format!("{limit}, for all blocks of {kind:?}") }
                    }
                    other => other,
                })?;
                for at in (0..rows).step_by(part).filter(|_| assembled) {
                    let rows = part.min(rows - at);
                    operator.fill(first + at, rows, untiled.as_ref().unwrap_or(&values), steps)?;
                    if let (Some(toeplitz), Some(untiled)) = (tiles, &untiled) {
                        let args = [
                            Arg::size(rows),
                            Arg::size(stride),
                            Arg::size(later_blocks),
                            untiled.arg(),
                            Arg::size(at),
                            values.arg(),
                        ];
                        let (kernel, range) = toeplitz.tile_blocks(rows, stride);
                        launch(&context, kernel, range, &args)?;
                    }
                }
                operator.panels.push(Panel { rows, values });
            }
            if untiled.is_some() {
                // It goes now.
                context.finish()?;
            }
        }
        Ok(operator)
    }

    /// Which operator it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where stored blocks from 2 on are tiles, what multiplies with them.
    fn tiled(&self) -> Option<Toeplitz> {
        self.toeplitz.filter(|_| self.assembled)
    }

    /// Whether all blocks are stored.
    pub fn is_assembled(&self) -> bool {
        self.assembled
    }

    /// Bytes that all blocks take where they are stored.
    pub fn stored_bytes(&self) -> u64 {
        (self.all_rows() as u64) * (self.steps as u64) * (self.stride() * size_of::<T>()) as u64
    }

    /// Rows and columns of a block, and the number of blocks.
    pub fn block_shape(&self) -> (usize, usize, usize) {
        (self.all_rows(), self.cols, self.steps)
    }

    /// Rows of a block on all devices.
    fn all_rows(&self) -> usize {
        self.sharing.as_ref().map_or(self.rows, Sharing::rows)
    }

    /// Kernel evaluations of one product at the rule in use, were each block summed point by point: pairs of triangles times
    /// blocks times pairs of points.
    pub fn evaluations(&self) -> f64 {
        let triangles = self.shared.mesh.triangles().len() as f64;
        let points = self.shared.rule.len() as f64;
        triangles * triangles * points * points * self.steps as f64
    }

    /// How products on the fly are computed.
    pub(super) fn algorithm(&self) -> Algorithm {
        self.published.as_ref().map_or(Algorithm::Moments, Published::algorithm)
    }

    pub(super) fn shared(&self) -> &Shared<T> {
        &self.shared
    }

    /// Points of all time rules of algorithms 1 to 4, `None` for second differences.
    pub(super) fn published_nodes(&self) -> Option<usize> {
        self.published.as_ref().and_then(Published::nodes)
    }

    /// The tables of algorithm 5.
    pub(super) fn plan_on_host(&self) -> Result<Option<HostPlan>> {
        let Some(later) = &self.later else { return Ok(None) };
        let wide = |values: &Buffer<T>| Ok(values.to_vec()?.into_iter().map(T::into_f64).collect::<Vec<f64>>());
        let part = |part: &Part<T>| {
            let Part { first, blocks, width, .. } = *part;
            Ok(HostPart { first, blocks, degrees: part.degrees.to_vec()?, width })
        };
        let limits = wide(&later.paired.limits)?;
        Ok(Some(HostPlan {
            ranges: later.ranges.to_vec()?,
            nodes: wide(&later.paired.nodes)?,
            cut: limits[4],
            paired: part(&later.paired)?,
            paired_scale: later.paired.scale,
            paired_reach: limits[3],
            whole: part(&later.whole)?,
            cuts: wide(&later.pointwise.cuts)?.chunks_exact(2).map(|pair| pair[1]).collect(),
            scale: later.pointwise.scale,
            reach: later.reach,
        }))
    }

    /// How many blocks, after the first two, are summed point by point, and the degree of the moments of the others.
    pub fn plan_description(&self) -> String {
        self.later.as_ref().map_or_else(String::new, |later| {
            let (a, b, c) = (later.pointwise.blocks, later.paired.blocks, later.whole.blocks);
            format!("{a} blocks by points, {b} by moments of pairs, {c} of entries, degree {}", later.degree)
        })
    }

    /// Block `d`, on the device; one that is not stored is computed anew.
    ///
    /// # Errors
    /// [`Error::Value`] for a block that is not there; [`Error::Allocation`].
    pub fn block(&self, d: usize) -> Result<Dense<T>> {
        if d >= self.steps {
            let (expected, got) = (format!("below {}", self.steps), d.to_string());
            return Err(Error::Value { argument: "d", expected, got });
        }
        if d >= START_BLOCKS && self.published.is_some() {
            let expected = "below 2: algorithms 1 to 4 form no later blocks".into();
            return Err(Error::Value { argument: "d", expected, got: d.to_string() });
        }
        match &self.sharing {
            Some(sharing) => sharing.block(self, d),
            None => self.own_block(d),
        }
    }

    /// The rows of block `d` that are computed here.
    fn own_block(&self, d: usize) -> Result<Dense<T>> {
        let _lock = self.lock();
        let mut block = Dense::zeros(&self.shared.context, self.rows, self.cols)?;
        if d < START_BLOCKS {
            self.take(&self.start, 0..self.rows, d, self.steps.min(START_BLOCKS), None, &mut block)?;
            return Ok(block);
        }
        let mut first = 0;
        while first < self.rows {
            let index = if self.assembled { first / self.panels[0].rows } else { 0 };
            let rows = self.panels[index].rows.min(self.rows - first);
            if !self.assembled {
                self.fill(first, rows, &self.panels[index].values, d + 1)?;
            }
            let kept = if self.assembled { self.steps } else { d + 1 } - START_BLOCKS;
            self.take(
                &self.panels[index].values,
                first..first + rows,
                d - START_BLOCKS,
                kept,
                self.tiled(),
                &mut block,
            )?;
            first += rows;
        }
        Ok(block)
    }

    /// Copies block `d` of `kept` ones in `values`, which belong to `rows` and may be `tiled`, into those rows of `block`.
    fn take(
        &self,
        values: &Buffer<T>,
        rows: std::ops::Range<usize>,
        d: usize,
        kept: usize,
        tiled: Option<Toeplitz>,
        block: &mut Dense<T>,
    ) -> Result<()> {
        let args = [
            Arg::size(self.rows),
            Arg::size(rows.start),
            Arg::size(rows.len()),
            Arg::size(self.cols),
            Arg::size(self.stride()),
            Arg::size(d),
            Arg::size(kept),
            values.arg(),
            block.as_vector().buffer().arg(),
        ];
        let range = Range::d2([rows.len(), self.cols], if self.is_cpu() { [1, 1] } else { [32, 8] });
        let kernel = match tiled {
            Some(toeplitz) => toeplitz.take_block(),
            None => self.plain(["take_block"; 2], self.tile(self.steps)),
        };
        launch(&self.shared.context, kernel, range, &args)
    }

    fn stride(&self) -> usize {
        self.shared.cols(self.kind).stride
    }

    /// Locks the buffers. A panic of another thread leaves them as good as before: every product writes them anew.
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.in_use.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A kernel that computes entries of this operator. All of a file have the same numbers, so that they are one program.
    fn kernel(&self, file: &'static File, name: &'static str) -> Kernel {
        let points = self.shared.rule.len() as u64;
        Kernel::new(file, name, T::PRECISION).with(&[("KIND", kind_code(self.kind)), ("POINTS", points)])
    }

    /// A kernel that moves or multiplies, the same for all operators, for tiles of `tile` time steps.
    fn plain(&self, names: [&'static str; 2], tile: usize) -> Kernel {
        let name = names[usize::from(self.is_cpu())];
        let kernel = Kernel::new(&PRODUCT, name, T::PRECISION);
        if self.is_cpu() {
            kernel.with(PROCESSOR)
        } else {
            kernel.with(&[("STEPS_ITEM", (tile / ROW_ITEMS) as u64), ("ROWS_ITEM", ROWS_ITEM as u64)])
        }
    }

    fn is_cpu(&self) -> bool {
        self.shared.context.family() == KernelFamily::Cpu
    }

    /// Items of a row and rows, in groups that suit the shape.
    fn entries(&self, rows: usize, lanes: usize) -> Range {
        let across = self.stride() / lanes;
        if self.is_cpu() { Range::d2([across, rows], [1, 1]) } else { Range::d2([across, rows], [64, 2]) }
    }
}

/// Terms of the polynomials in the tables of blocks that are summed point by point, as in the kernels.
pub(super) fn terms<T: Real>() -> usize {
    if T::PRECISION == Precision::F64 { 10 } else { 6 }
}

/// Most bytes of blocks that are stored unasked where `free` ones are free: a third is left on devices with memory of their
/// own, a half where others live off it.
fn most_stored(info: &DeviceInfo, free: u64) -> u64 {
    if info.unified_memory { free / 2 } else { free / 3 * 2 }
}

/// Bytes of blocks on the fly.
fn scratch(context: &Context, wanted: Option<u64>) -> u64 {
    let info = context.device();
    let default = match context.family() {
        KernelFamily::Cpu => SCRATCH_CPU,
        KernelFamily::Gpu => SCRATCH_GPU.min(info.global_mem / 16),
    };
    wanted.unwrap_or(default).min(info.max_alloc)
}
