//! The operators on a device.

use std::f64::consts::{LN_2, LOG2_E};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clinalg::runtime::{Arg, Buffer, File, Kernel, Range, Shape};
use clinalg::solve::Operator;
use clinalg::{Context, Dense, DeviceInfo, Error, Precision, Real, Result, Vector};
use serde::{Deserialize, Serialize};

use super::published::{Product, Published};
use super::space::{LANES, Shared, Touching};
use super::times::{BlockRule, DEGREE_STEP, DISTANCES, MOST_DEGREE, TimeRules};
use super::toeplitz::{self, Toeplitz};
use super::work::{HostPart, HostPlan};
use super::{Algorithm, HeatSpace, Kind};
use crate::mesh::{norm, sub};
use crate::quadrature::{Contact, sauter_schwab};

pub(super) static BEM_HEAT: File = File::new("bem_heat", include_str!("../../../../kernels/bem_heat.cl"));

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
    /// Whether algorithm 5 may multiply with blocks by instructions for small matrices, where the device has them
    /// ([`tensor_f64`](clinalg::runtime::DeviceInfo::tensor_f64)). The result does not depend on it but for rounding.
    pub tensor: bool,
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
        }
    }
}

/// What makes kernels those for processors.
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
/// Time steps that an item of the product for processors takes at once.
const STEPS_CPU: usize = 16;
/// Work-groups of a product for each compute unit of a GPU.
const GROUPS_PER_UNIT: usize = 8;
/// Scratch memory of a processor: what its last cache holds about.
const SCRATCH_CPU: u64 = 32 << 20;
/// Scratch memory of a GPU.
const SCRATCH_GPU: u64 = 2 << 30;

/// One of the four operators on a device: y = alpha A x + beta y over all time steps.
///
/// x has `cols * steps`, y `rows * steps` values, one time step after the other. Entries of blocks from 2 on come from
/// the hat-weighted Gauss rule in time, whose number of points follows from a bound, and sums over
/// quadrature points from moments or, where few blocks would need many of them, point by point with pairs skipped that are
/// below the accuracy by a bound. Blocks 0 and 1 use closed forms and, where triangles touch, Sauter-Schwab rules.
#[derive(Debug)]
pub struct HeatOperator<T: Real> {
    shared: std::sync::Arc<Shared<T>>,
    kind: Kind,
    assembled: bool,
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
    turn: Mutex<()>,
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
    /// An operator of this space.
    ///
    /// # Errors
    /// [`Error::Allocation`], with [`Form::Assembled`] where the blocks do not fit: its words say how much they need;
    /// [`Error::Value`] for an accuracy that is not between 0 and 1.
    pub fn operator(&self, kind: Kind, options: &OperatorOptions) -> Result<HeatOperator<T>> {
        match HeatOperator::new(self, kind, options) {
            // What others hold of the device's memory shows only now.
            Err(Error::Allocation { .. }) if options.form == Form::Auto => {
                HeatOperator::new(self, kind, &OperatorOptions { form: Form::Otf, ..*options })
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
    // SAFETY: the argument lists below follow the kernels' own in `kernels/bem_heat.cl`, which check their indices against the
    // sizes given; the buffers belong to the operator or the caller and live on.
    unsafe { context.launch_kernel(&kernel, range, args) }
}

impl<T: Real> HeatOperator<T> {
    fn new(space: &HeatSpace<T>, kind: Kind, options: &OperatorOptions) -> Result<HeatOperator<T>> {
        let shared = space.shared.clone();
        let context = shared.context.clone();
        let steps = shared.params.steps;
        let (rows, cols) = (kind.rows(&shared.mesh), kind.cols(&shared.mesh));
        let stride = shared.cols(kind).stride;
        let default = if T::PRECISION == Precision::F64 { 1e-10 } else { 1e-6 };
        let accuracy = options.accuracy.unwrap_or(default);
        if !(accuracy > 0.0 && accuracy < 1.0) {
            let (expected, got) = ("between 0 and 1".into(), accuracy.to_string());
            return Err(Error::Value { argument: "accuracy", expected, got });
        }
        let cpu = context.shape() == Shape::Cpu;
        let tile = if cpu { STEPS_CPU } else { ROW_ITEMS * steps_per_item(steps) };
        let partial_stride = steps.next_multiple_of(tile);
        let spread_stride = BEFORE + partial_stride + LANES;
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
        let mut operator = HeatOperator {
            kind,
            assembled,
            rows,
            cols,
            steps,
            start: Buffer::uninit(&context, rows * steps.min(START_BLOCKS) * stride)?,
            panels: Vec::new(),
            later: None,
            published,
            spread: Buffer::uninit(&context, stride * spread_stride)?,
            spread_stride,
            partial: Buffer::uninit(&context, splits * rows * partial_stride)?,
            partial_stride,
            splits,
            toeplitz,
            turn: Mutex::default(),
            shared,
        };
        let planned = later_blocks > 0 && operator.published.is_none();
        if planned {
            operator.later = Some(operator.plan(accuracy)?);
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
            let untiled = tiles.map(|_| Buffer::uninit(&context, part * later_blocks * stride)).transpose()?;
            for k in 0..count {
                let first = k * panel;
                let rows = panel.min(rows - first);
                let stored = if tiles.is_some() { rows.next_multiple_of(toeplitz::ROWS) } else { rows };
                let values = Buffer::uninit(&context, stored * later_blocks * stride).map_err(|error| match error {
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
        (self.rows as u64) * (self.steps as u64) * (self.stride() * size_of::<T>()) as u64
    }

    /// Rows and columns of a block, and the number of blocks.
    pub fn block_shape(&self) -> (usize, usize, usize) {
        (self.rows, self.cols, self.steps)
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
        let wide = |values: &Buffer<T>| Ok(values.to_vec()?.into_iter().map(T::wide).collect::<Vec<f64>>());
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
            cuts: wide(&later.pointwise.cuts)?,
            scale: later.pointwise.scale,
            reach: later.reach,
        }))
    }

    /// How many blocks, after the first two, are summed point by point, and the degree of the moments of the others.
    pub fn plan_words(&self) -> String {
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
        let _turn = self.turn();
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

    /// The right to the buffers. A panic of another thread leaves them as good as before: every product writes them anew.
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A kernel that computes entries of this operator. All have the same numbers, so that they are one program.
    fn kernel(&self, name: &'static str) -> Kernel {
        let points = self.shared.rule.len() as u64;
        let degree = self.later.as_ref().map_or(DEGREE_STEP as u64, |later| later.degree);
        let defines = [("KIND", kind_code(self.kind)), ("POINTS", points), ("DEGREE", degree)];
        Kernel::new(&BEM_HEAT, name, T::PRECISION).with(&defines)
    }

    /// A kernel that moves or multiplies, the same for all operators, for tiles of `tile` time steps.
    fn plain(&self, names: [&'static str; 2], tile: usize) -> Kernel {
        let name = names[usize::from(self.is_cpu())];
        let kernel = Kernel::new(&BEM_HEAT, name, T::PRECISION).with(&[("DEGREE", DEGREE_STEP as u64)]);
        if self.is_cpu() {
            kernel.with(PROCESSOR)
        } else {
            kernel.with(&[("STEPS_ITEM", (tile / ROW_ITEMS) as u64), ("ROWS_ITEM", ROWS_ITEM as u64)])
        }
    }

    fn is_cpu(&self) -> bool {
        self.shared.context.shape() == Shape::Cpu
    }

    /// Items of a row and rows, in groups that suit the shape.
    fn entries(&self, rows: usize, lanes: usize) -> Range {
        let across = self.stride() / lanes;
        if self.is_cpu() { Range::d2([across, rows], [1, 1]) } else { Range::d2([across, rows], [64, 2]) }
    }

    /// Computes blocks 0 and 1.
    fn fill_start(&self) -> Result<()> {
        let shared = &*self.shared;
        let context = &shared.context;
        let (mesh, params) = (&shared.mesh, &shared.params);
        let kept = self.steps.min(START_BLOCKS);
        let (alpha, step) = (Arg::real::<T>(params.alpha), Arg::real::<T>(params.step()));
        let mut args = shared.geometry(self.kind);
        args.extend([shared.nodes.arg(), alpha, step, count(0), count(kept)]);
        args.extend([count(0), count(self.rows), count(0), count(kept), self.start.arg()]);
        let range = Range::d2([self.stride(), self.rows], [64, if self.is_cpu() { 1 } else { 4 }]);
        launch(context, self.kernel("fill_start"), range, &args)?;

        let touching = Touching::new(mesh, self.kind);
        let mut rules: Vec<T> = Vec::new();
        let mut starts = vec![0];
        for contact in [Contact::Vertex, Contact::Edge, Contact::Identical] {
            for p in sauter_schwab(contact, params.singular_order) {
                rules.extend([p.x[1], p.x[2], p.y[1], p.y[2], p.weight].map(T::of));
            }
            starts.push(rules.len() as u32 / 5);
        }
        let pairs = touching.pairs.len() / 3;
        let targets = touching.entries.len() / 2;
        let sums = Buffer::<T>::uninit(context, 2 * self.kind.slots() * pairs)?;
        let pair_buffer = Buffer::from_slice(context, &touching.pairs)?;
        let (rules, starts) = (Buffer::from_slice(context, &rules)?, Buffer::from_slice(context, &starts)?);
        let local = if self.is_cpu() { 1 } else { 64 };
        let args = [
            shared.shapes.arg(),
            Arg::size(mesh.triangles().len()),
            shared.corners.arg(),
            pair_buffer.arg(),
            Arg::size(pairs),
            rules.arg(),
            starts.arg(),
            alpha,
            sums.arg(),
        ];
        launch(context, self.kernel("sum_singular"), Range::d1(pairs, local), &args)?;
        let entries = Buffer::from_slice(context, &touching.entries)?;
        let sources = Buffer::from_slice(context, &touching.sources)?;
        let offsets = Buffer::from_slice(context, &touching.offsets)?;
        let args = [
            entries.arg(),
            sources.arg(),
            offsets.arg(),
            Arg::size(targets),
            Arg::size(pairs),
            sums.arg(),
            step,
            Arg::size(self.stride()),
            Arg::size(kept),
            Arg::size(0),
            Arg::size(kept),
            self.start.arg(),
        ];
        launch(context, self.kernel("add_singular"), Range::d1(targets, local), &args)?;
        // The buffers above go now.
        context.finish()
    }

    /// Decides how the blocks are summed.
    fn plan(&self, accuracy: f64) -> Result<Later<T>> {
        let shared = &*self.shared;
        let context = &shared.context;
        let reach = shared.rows(self.kind).reach + shared.cols(self.kind).reach;
        let reaches = [reach, 2.0 * shared.of_triangles.reach];
        let rules = TimeRules::new(self.kind, &shared.params, reaches, accuracy, 0.5 * T::epsilon().wide());
        // Of a Gaussian on a plane, the part behind exponent c is exp(-c) of the whole: what is left out of a row is at most a
        // quarter of the accuracy of its sum.
        let cut = -accuracy.log2() + 2.0;
        let (points, pairs, degree) = self.choose(&rules, reaches, cut);
        let mut factors = vec![1.0];
        for k in 1..=MOST_DEGREE {
            factors.push(-factors[k - 1] * LN_2 / k as f64);
        }
        factors.push(0.0);
        for k in 1..=MOST_DEGREE {
            factors.push((k as f64 + 0.5) * factors[k - 1]);
        }
        let factors: Vec<T> = factors.into_iter().map(T::of).collect();
        let total = self.steps - START_BLOCKS;
        let spread =
            shared.rows(self.kind).apart(shared.cols(self.kind)).max(shared.of_triangles.apart(&shared.of_triangles));
        let width = spread / (DISTANCES - 1) as f64;
        let part = |first: usize, blocks: usize, reach: f64| -> Result<Part<T>> {
            let scale = rules.scale(if blocks == 0 { START_BLOCKS } else { first });
            let nodes: Vec<T> = rules.tables(scale).1.into_iter().map(T::of).collect();
            let degrees =
                Buffer::from_slice(context, &rules.degrees(first, self.kind, reach, accuracy, width, degree))?;
            let alpha = shared.params.alpha;
            let behind = cut / (rules.least(first, blocks) * LOG2_E / scale);
            let mut limits = [scale, alpha, 4.0 * alpha * LN_2 * scale, reach, cut, width, behind].map(T::of).to_vec();
            limits.extend_from_slice(&factors);
            let limits = Buffer::from_slice(context, &limits)?;
            Ok(Part { nodes: Buffer::from_slice(context, &nodes)?, degrees, width, limits, scale, first, blocks })
        };
        let cells = rules.in_cells(self.kind, shared.params.alpha, START_BLOCKS, points, terms::<T>(), cut);
        let upload =
            |values: &[f64]| Buffer::from_slice(context, &values.iter().map(|&v| T::of(v)).collect::<Vec<T>>());
        let pointwise = Pointwise {
            tables: upload(&cells.tables)?,
            cuts: upload(&cells.cuts)?,
            cells: cells.cells,
            scale: rules.scale(START_BLOCKS),
            blocks: points,
        };
        Ok(Later {
            factors: Buffer::from_slice(context, &factors)?,
            ranges: Buffer::from_slice(context, &rules.tables(1.0).0)?,
            pointwise,
            paired: part(START_BLOCKS + points, pairs, reaches[1])?,
            whole: part(START_BLOCKS + points + pairs, total - points - pairs, reaches[0])?,
            degree: degree as u64,
            reach,
        })
    }

    /// The numbers of blocks to sum point by point and by moments of pairs, and the degree, by counting instructions.
    fn choose(&self, rules: &TimeRules, reaches: [f64; 2], cut: f64) -> (usize, usize, usize) {
        let shared = &*self.shared;
        let (rows, cols) = (shared.rows(self.kind), shared.cols(self.kind));
        let triangles = shared.mesh.triangles().len() as f64;
        // Pairs of triangles that an entry has, and pairs of points.
        let contributions = self.kind.slots() as f64 * triangles * triangles / (self.rows * self.cols) as f64;
        let points = (shared.rule.len() * shared.rule.len()) as f64;
        // Distances of some rows from all columns.
        let sample = rows.places.len().div_ceil(16);
        let distances: Vec<f64> = rows
            .places
            .iter()
            .step_by(sample)
            .flat_map(|x| cols.places.iter().map(|y| norm(sub(*x, *y))))
            .map(|r| (r - reaches[0]).max(0.0))
            .collect();
        let near = |rule: &BlockRule| {
            let least = rule.points.last().map_or(0.0, |p| p.0) * LOG2_E;
            distances.iter().filter(|&&r| r * r * least <= cut).count() as f64 / distances.len() as f64
        };
        let nears: Vec<f64> = rules.blocks.iter().map(near).collect();
        let total = rules.blocks.len();
        // The first block from which on all manage with a degree.
        let from =
            |fits: &dyn Fn(&BlockRule) -> bool| rules.blocks.iter().rposition(|rule| !fits(rule)).map_or(0, |k| k + 1);
        // A term is an addition and a load, and the tables of D are two.
        let by_table = 15.0 + if self.kind == Kind::D { 6.0 } else { 3.0 } * terms::<T>() as f64;
        let mut best = (total, 0, DEGREE_STEP, f64::INFINITY);
        for degree in (DEGREE_STEP..=MOST_DEGREE).step_by(DEGREE_STEP) {
            let pairs_from = from(&|rule| rule.paired.is_some_and(|p| p <= degree));
            let whole_from = from(&|rule| rule.whole.is_some_and(|p| p <= degree)).max(pairs_from);
            let per_power = if self.kind == Kind::D { 3.0 } else { 2.0 };
            let moments = points * (per_power * degree as f64 + 15.0);
            let mut cost = 0.0;
            for (k, rule) in rules.blocks.iter().enumerate() {
                let nodes = rule.points.len() as f64;
                cost += if k < pairs_from {
                    nears[k] * contributions * points * by_table
                } else if k < whole_from {
                    nears[k] * contributions * nodes * (20.0 + degree as f64)
                } else {
                    nodes * (18.0 + rule.whole.unwrap_or(degree) as f64)
                };
            }
            if whole_from > pairs_from {
                cost += contributions * moments * nears[whole_from - 1];
            }
            if total > whole_from {
                cost += contributions * moments;
            }
            if cost < best.3 {
                best = (pairs_from, whole_from - pairs_from, degree, cost);
            }
        }
        (best.0, best.1, best.2)
    }

    /// Computes the later blocks below `blocks` of `rows` rows from `first` on into `values`, which then have no others.
    fn fill(&self, first: usize, rows: usize, values: &Buffer<T>, blocks: usize) -> Result<()> {
        let Some(later) = &self.later else { return Ok(()) };
        let shared = &*self.shared;
        let alpha = shared.params.alpha;
        let wanted = |first: usize, has: usize| has.min(blocks.saturating_sub(first));
        let run = |names: [&'static str; 2], mut args: Vec<Arg>, start: usize, wanted: usize| {
            args.extend([count(start), count(wanted)]);
            args.extend([count(first), count(rows), count(START_BLOCKS), count(blocks - START_BLOCKS)]);
            args.push(values.arg());
            let (kernel, lanes) =
                if self.is_cpu() { (self.kernel(names[1]).with(PROCESSOR), LANES) } else { (self.kernel(names[0]), 1) };
            launch(&shared.context, kernel, self.entries(rows, lanes), &args)
        };
        let points = &later.pointwise;
        if wanted(START_BLOCKS, points.blocks) > 0 {
            let mut args = shared.geometry(self.kind);
            args.extend([Arg::real::<T>(points.scale), Arg::real::<T>(alpha), points.tables.arg()]);
            args.extend([count(points.cells), points.cuts.arg(), Arg::real::<T>(later.reach)]);
            let names = ["fill_blocks_pointwise_gpu", "fill_blocks_pointwise_cpu"];
            run(names, args, START_BLOCKS, wanted(START_BLOCKS, points.blocks))?;
        }
        for part in [&later.paired, &later.whole] {
            let wanted = wanted(part.first, part.blocks);
            if wanted == 0 {
                continue;
            }
            let mut args = shared.geometry(self.kind);
            let names = if std::ptr::eq(part, &later.paired) {
                args.extend([part.limits.arg(), later.ranges.arg(), part.nodes.arg(), part.degrees.arg()]);
                args.extend([shared.of_triangles.centres.arg(), count(shared.of_triangles.stride)]);
                ["fill_blocks_paired_gpu", "fill_blocks_paired_cpu"]
            } else {
                let second = 4.0 * alpha * LN_2 * part.scale;
                args.extend([Arg::real::<T>(part.scale), Arg::real::<T>(alpha), Arg::real::<T>(second)]);
                args.extend([later.ranges.arg(), part.nodes.arg(), later.factors.arg()]);
                args.extend([part.degrees.arg(), Arg::real::<T>(part.width)]);
                ["fill_blocks_gpu", "fill_blocks_cpu"]
            };
            run(names, args, part.first, wanted)?;
        }
        Ok(())
    }

    /// Time steps of a work-group of the product over `steps` steps.
    fn tile(&self, steps: usize) -> usize {
        if self.is_cpu() { STEPS_CPU } else { ROW_ITEMS * steps_per_item(steps) }
    }

    /// Adds the product of the blocks from `base` on, over the first `steps` time steps, to the partial sums of the rows from
    /// `first` on.
    fn multiply(&self, steps: usize, first: usize, rows: usize, stored: Stored<'_, T>) -> Result<()> {
        let Stored { base, kept, values } = stored;
        let more = Arg::U32(u32::from(base > 0));
        let mut args = vec![Arg::size(rows), Arg::size(self.stride()), Arg::size(base), Arg::size(kept)];
        if self.is_cpu() {
            args.push(Arg::size(steps));
        }
        args.extend([values.arg(), Arg::size(self.spread_stride), self.spread.arg()]);
        let context = &self.shared.context;
        let tile = self.tile(steps);
        if self.is_cpu() {
            args.extend([Arg::size(first), Arg::size(self.partial_stride), more, self.partial.arg()]);
            return launch(context, self.plain(PRODUCTS, tile), Range::d1(context.chunks().min(rows), 1), &args);
        }
        args.extend([Arg::size(self.splits), Arg::size(first), Arg::size(self.rows), Arg::size(self.partial_stride)]);
        args.extend([more, self.partial.arg()]);
        let groups = [rows.div_ceil(ROWS) * ROW_ITEMS * ROW_ITEMS, self.splits * steps.div_ceil(tile)];
        launch(context, self.plain(PRODUCTS, tile), Range::d2(groups, [ROW_ITEMS * ROW_ITEMS, 1]), &args)
    }

    /// As the products of the start blocks and of `later`, blocks from 2 on, of the rows from `first` on.
    fn multiply_tensor(
        &self,
        toeplitz: Toeplitz,
        steps: usize,
        first: usize,
        rows: usize,
        later: Option<Stored<'_, T>>,
    ) -> Result<()> {
        let base = self.steps.min(START_BLOCKS);
        let (kept, values) = later.as_ref().map_or((0, &self.start), |later| (later.kept, later.values));
        let args = [
            Arg::size(rows),
            Arg::size(self.stride()),
            count(base),
            count(steps.min(base + kept)),
            self.start.arg(),
            Arg::size(kept),
            values.arg(),
            Arg::size(self.spread_stride),
            self.spread.arg(),
            Arg::size(self.splits),
            Arg::size(first),
            Arg::size(self.rows),
            Arg::size(self.partial_stride),
            self.partial.arg(),
        ];
        let tiled = later.is_some() && self.assembled;
        let (kernel, range) = toeplitz.product(rows, steps, self.splits, tiled);
        launch(&self.shared.context, kernel, range, &args)
    }

    /// y = alpha A x + beta y over the first `steps` time steps only, as if there were no others: x has `cols * steps` and y
    /// `rows * steps` values. Blocks from `steps` on are neither read nor computed.
    ///
    /// # Errors
    /// [`Error::Value`] for more steps than there are; otherwise as [`Operator::apply`].
    pub fn apply_first(&self, steps: usize, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        let context = &self.shared.context;
        if steps > self.steps {
            let (expected, got) = (format!("at most {}", self.steps), steps.to_string());
            return Err(Error::Value { argument: "steps", expected, got });
        }
        for (argument, vector, expected) in [("x", x, self.cols * steps), ("y", &*y, self.rows * steps)] {
            if !context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            if vector.len() != expected {
                return Err(Error::Length { argument, expected, got: vector.len() });
            }
        }
        let _turn = self.turn();
        let tile = self.tile(steps);
        let args = [
            Arg::size(self.cols),
            Arg::size(steps),
            Arg::size(self.spread_stride),
            x.buffer().arg(),
            self.spread.arg(),
        ];
        // What the tiles of the product read: steps before the first, and past the last.
        let width = BEFORE + steps.next_multiple_of(tile) + LANES;
        let local = if self.is_cpu() { [width, 1] } else { [32, 8] };
        let range = Range::d2([width, self.stride()], local);
        launch(context, self.plain(["spread_steps_gpu", "spread_steps_cpu"], tile), range, &args)?;
        let mut first = 0;
        let later = !self.panels.is_empty() && steps > START_BLOCKS;
        match self.toeplitz {
            Some(toeplitz) if !later => self.multiply_tensor(toeplitz, steps, 0, self.rows, None)?,
            // Together with the later blocks.
            Some(_) => {}
            None => {
                let kept = self.steps.min(START_BLOCKS);
                self.multiply(steps, 0, self.rows, Stored { base: 0, kept, values: &self.start })?;
            }
        }
        if let Some(published) = &self.published {
            let (spread, partial) = (&self.spread, &self.partial);
            let (spread_stride, partial_stride) = (self.spread_stride, self.partial_stride);
            let product = Product { steps, x, spread, spread_stride, partial, partial_stride };
            published.apply(&self.shared, self.kind, &product)?;
        }
        while later && first < self.rows {
            let index = if self.assembled { first / self.panels[0].rows } else { 0 };
            let rows = self.panels[index].rows.min(self.rows - first);
            // On the fly the panel has the blocks that are wanted.
            let kept = if self.assembled { self.steps } else { steps } - START_BLOCKS;
            if !self.assembled {
                self.fill(first, rows, &self.panels[index].values, steps)?;
            }
            let stored = Stored { base: START_BLOCKS, kept, values: &self.panels[index].values };
            match self.toeplitz {
                Some(toeplitz) => self.multiply_tensor(toeplitz, steps, first, rows, Some(stored))?,
                None => self.multiply(steps, first, rows, stored)?,
            }
            first += rows;
        }
        let args = [
            Arg::size(self.rows),
            Arg::size(steps),
            Arg::size(self.splits),
            Arg::size(self.partial_stride),
            self.partial.arg(),
            Arg::real::<T>(alpha.wide()),
            Arg::real::<T>(beta.wide()),
            y.buffer().arg(),
        ];
        let range = Range::d2([self.rows, steps], if self.is_cpu() { [1, 1] } else { [32, 8] });
        launch(context, self.plain(["join_parts_gpu", "join_parts_cpu"], tile), range, &args)
    }
}

/// Blocks `base` to `base + kept - 1` of some rows.
struct Stored<'a, T: Real> {
    base: usize,
    kept: usize,
    values: &'a Buffer<T>,
}

/// Terms of the polynomials in the tables of blocks that are summed point by point, as in the kernels.
pub(super) fn terms<T: Real>() -> usize {
    if T::PRECISION == Precision::F64 { 10 } else { 6 }
}

/// Time steps that an item of the product has on a GPU.
fn steps_per_item(steps: usize) -> usize {
    match steps {
        0..=16 => 1,
        17..=32 => 2,
        33..=64 => 4,
        _ => 8,
    }
}

/// Most bytes of blocks that are stored unasked where `free` ones are free: a third is left on devices with memory of their
/// own, a half where others live off it.
fn most_stored(info: &DeviceInfo, free: u64) -> u64 {
    if info.unified_memory { free / 2 } else { free / 3 * 2 }
}

/// Bytes of blocks on the fly.
fn scratch(context: &Context, wanted: Option<u64>) -> u64 {
    let info = context.device();
    let default = match context.shape() {
        Shape::Cpu => SCRATCH_CPU,
        Shape::Gpu => SCRATCH_GPU.min(info.global_mem / 16),
    };
    wanted.unwrap_or(default).min(info.max_alloc)
}

impl<T: Real> Operator<T> for HeatOperator<T> {
    fn rows(&self) -> usize {
        self.rows * self.steps
    }

    fn cols(&self) -> usize {
        self.cols * self.steps
    }

    fn context(&self) -> &Context {
        &self.shared.context
    }

    fn apply(&self, alpha: T, x: &Vector<T>, beta: T, y: &mut Vector<T>) -> Result<()> {
        self.apply_first(self.steps, alpha, x, beta, y)
    }
}
