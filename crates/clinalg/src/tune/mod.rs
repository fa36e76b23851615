//! Which algorithm and launch shape an operation takes.
//!
//! An operation with launch parameters is a variant of [`Op`] and an [`Operation`] that says what the parameters are,
//! which are sound on a device, which are worth a trial and how to try them. A context looks its parameters up once,
//! for every operation, precision and size class (the binary logarithm of the number of elements), in this order:
//!
//! 1. a default computed from what the device says of itself;
//! 2. a table that comes with the library, for devices it was measured on;
//! 3. the user's table, which `clinalg tune` writes ([`folder`]).
//!
//! The result is a flat array, so that a launch pays for an index. Algorithms for whole problems, which are more than such
//! numbers, stand in the same table, each with its class of problems ([`Problem`]). A table that cannot be used (damaged, made with
//! another driver, asking for more than the device has) is ignored with a warning through the crate `log`.
//!
//! To add an operation: a variant in [`Op`] with its line in [`Op::describe`], the [`Operation`] beside the code that
//! launches it, and there `let [local, ..] = context.choice(Op::Name, T::PRECISION, n);`.

mod search;
mod table;

use std::sync::atomic::{AtomicU32, Ordering};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::{Context, DeviceInfo, Precision, Real, Result, Shape};

use crate::ops::product::tuning as products;
pub use search::{Candidate, Discarded, Found, Options, Step, Tuned, search};
use table::Checked;
pub use table::{Entry, Problem, Table, folder};

/// Launch parameters of one operation in the order of [`Operation::parameters`]; those it does not have are 0.
pub type Choice = [u32; PARAMETERS];

/// Most parameters of an operation.
pub const PARAMETERS: usize = 6;

/// Size classes: a class is the binary logarithm of the number of elements, the last one takes all beyond.
pub const CLASSES: usize = 36;

/// The size class of `n` elements.
pub fn class(n: usize) -> usize {
    (n.max(1).ilog2() as usize).min(CLASSES - 1)
}

/// The operations that have launch parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Vector operations that read and write each element once, on a GPU.
    Elementwise,
    /// The same on a processor.
    ElementwiseCpu,
    /// Sums, norms and dot products on a GPU.
    Reduce,
    /// The same on a processor.
    ReduceCpu,
    /// The vector updates of conjugate gradients on a GPU.
    Cg,
    /// The product of conjugate gradients with its dot product, short rows, on a GPU.
    MvCsrDot,
    /// A sweep of red-black Gauss-Seidel on a grid, on a GPU.
    RedBlackSweep,
    /// Two of them and the restricted defect in one pass.
    RedBlackRestricted,
    /// Correction, three of them, norms and the restricted defect in one pass.
    RedBlackTurn,
    /// Several sweeps of weighted Jacobi in one pass, on a GPU.
    JacobiSweeps,
    /// The product by compressed rows, an item per row, on a GPU.
    MvCsr,
    /// The same with some items per row.
    MvCsrLanes,
    /// The same with many items per row.
    MvCsrLong,
    /// The same on a processor.
    MvCsrCpu,
    /// The product by blocks of entries, on a GPU.
    MvBlocks,
    /// The product by chunks of rows, on a processor.
    MvChunksCpu,
    /// The product by diagonals, on a GPU.
    MvDiagonals,
    /// The same on a processor.
    MvDiagonalsCpu,
    /// The product by runs of rows, on a processor.
    MvRunsCpu,
    /// The product with a constant stencil, on a GPU.
    MvStencil,
    /// The same on a processor.
    MvStencilCpu,
    /// The product with a band matrix, on a GPU.
    MvBand,
    /// The same on a processor.
    MvBandCpu,
    /// The product with a dense matrix, on a GPU.
    MvDense,
    /// The same on a processor.
    MvDenseCpu,
    /// The product with the transpose of a dense matrix, on a GPU.
    MvDenseTransposed,
    /// The same on a processor.
    MvDenseTransposedCpu,
    /// Products by compressed rows with several right-hand sides, on a GPU.
    MmCsr,
    /// The same on a processor.
    MmCsrCpu,
    /// Products with a pattern of rows and several right-hand sides, on a GPU.
    MmDiagonals,
    /// Products with a band matrix and several right-hand sides, on a GPU.
    MmBand,
    /// The same on a processor.
    MmBandCpu,
    /// Products with a dense matrix and up to four right-hand sides, on a GPU.
    MmDense,
    /// The same with five to eight.
    MmDense8,
    /// The same with more.
    MmDense16,
    /// Products with a dense matrix and several right-hand sides, on a processor.
    MmDenseCpu,
}

impl Op {
    /// Every operation.
    pub const ALL: &'static [Op] = &[
        Op::Elementwise,
        Op::ElementwiseCpu,
        Op::Reduce,
        Op::ReduceCpu,
        Op::Cg,
        Op::MvCsrDot,
        Op::RedBlackSweep,
        Op::RedBlackRestricted,
        Op::RedBlackTurn,
        Op::JacobiSweeps,
        Op::MvCsr,
        Op::MvCsrLanes,
        Op::MvCsrLong,
        Op::MvCsrCpu,
        Op::MvBlocks,
        Op::MvChunksCpu,
        Op::MvDiagonals,
        Op::MvDiagonalsCpu,
        Op::MvRunsCpu,
        Op::MvStencil,
        Op::MvStencilCpu,
        Op::MvBand,
        Op::MvBandCpu,
        Op::MvDense,
        Op::MvDenseCpu,
        Op::MvDenseTransposed,
        Op::MvDenseTransposedCpu,
        Op::MmCsr,
        Op::MmCsrCpu,
        Op::MmDiagonals,
        Op::MmBand,
        Op::MmBandCpu,
        Op::MmDense,
        Op::MmDense8,
        Op::MmDense16,
        Op::MmDenseCpu,
    ];

    /// What the operation's parameters are.
    pub fn describe(self) -> &'static Operation {
        match self {
            Op::Elementwise => &crate::ops::elementwise::TUNING,
            Op::ElementwiseCpu => &crate::ops::elementwise::TUNING_CPU,
            Op::Reduce => &crate::ops::reduce::TUNING,
            Op::ReduceCpu => &crate::ops::reduce::TUNING_CPU,
            Op::Cg => &crate::solve::cg::TUNING,
            Op::MvCsrDot => &products::TUNING_DOT,
            Op::RedBlackSweep => &crate::grid::strips::SWEEP,
            Op::RedBlackRestricted => &crate::grid::strips::RESTRICTED,
            Op::RedBlackTurn => &crate::grid::strips::TURNED,
            Op::JacobiSweeps => &crate::grid::strips::JACOBI,
            Op::MvCsr => &products::MV_CSR,
            Op::MvCsrLanes => &products::MV_CSR_LANES,
            Op::MvCsrLong => &products::MV_CSR_LONG,
            Op::MvCsrCpu => &products::MV_CSR_CPU,
            Op::MvBlocks => &products::MV_BLOCKS,
            Op::MvChunksCpu => &products::MV_CHUNKS_CPU,
            Op::MvDiagonals => &products::MV_DIAGONALS,
            Op::MvDiagonalsCpu => &products::MV_DIAGONALS_CPU,
            Op::MvRunsCpu => &products::MV_RUNS_CPU,
            Op::MvStencil => &products::MV_STENCIL,
            Op::MvStencilCpu => &products::MV_STENCIL_CPU,
            Op::MvBand => &products::MV_BAND,
            Op::MvBandCpu => &products::MV_BAND_CPU,
            Op::MvDense => &products::MV_DENSE,
            Op::MvDenseCpu => &products::MV_DENSE_CPU,
            Op::MvDenseTransposed => &products::MV_DENSE_TRANSPOSED,
            Op::MvDenseTransposedCpu => &products::MV_DENSE_TRANSPOSED_CPU,
            Op::MmCsr => &products::MM_CSR,
            Op::MmCsrCpu => &products::MM_CSR_CPU,
            Op::MmDiagonals => &products::MM_DIAGONALS,
            Op::MmBand => &products::MM_BAND,
            Op::MmBandCpu => &products::MM_BAND_CPU,
            Op::MmDense => &products::MM_DENSE,
            Op::MmDense8 => &products::MM_DENSE_8,
            Op::MmDense16 => &products::MM_DENSE_16,
            Op::MmDenseCpu => &products::MM_DENSE_CPU,
        }
    }

    /// The operation of this name.
    pub fn named(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.describe().name == name)
    }
}

/// An operation with launch parameters, as it registers itself.
pub struct Operation {
    /// Its name in tables and for `clinalg tune --op`.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// The family of kernels it belongs to; the other one does not look here.
    pub shape: Shape,
    /// Name and meaning of each parameter.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Elements or rows that an item has under way at once: one axis of the pictures, beside the first parameter.
    pub per_item: fn(&Choice) -> u32,
    /// What a choice asks of a device; `None` for numbers that mean nothing.
    pub(crate) needs: fn(&Choice, Precision) -> Option<Needs>,
    /// A sound choice for a device never seen, in a size class.
    pub(crate) default: fn(&DeviceInfo, Precision, usize) -> Choice,
    /// Choices worth a trial; those that do not fit the device are left out by the search.
    pub(crate) candidates: fn(&DeviceInfo, Precision) -> Vec<Choice>,
    /// Binary logarithm of the most elements that a trial should have.
    pub(crate) largest: usize,
    /// Runs the operation on about so many elements, at least 1, and compares all of its result with the sequential
    /// reference: what is wrong, if anything.
    pub(crate) check: fn(&Context, Precision, usize) -> Result<Option<String>>,
    /// The operation on about so many elements, ready to be timed.
    pub(crate) trial: fn(&Context, Precision, usize) -> Result<Trial>,
}

/// What a launch asks of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Items of a work-group.
    pub(crate) group: usize,
    /// Bytes of local memory of a work-group.
    pub(crate) local_bytes: usize,
    /// Whether it takes tensor cores in double precision.
    pub(crate) tensor: bool,
}

impl Operation {
    /// Whether the device can run the operation with this choice.
    pub(crate) fn fits(&self, device: &DeviceInfo, precision: Precision, choice: &Choice) -> bool {
        (self.needs)(choice, precision).is_some_and(|needs| {
            (1..=device.max_work_group).contains(&needs.group)
                && needs.local_bytes as u64 <= device.local_mem
                && (device.tensor_f64 > 0 || !needs.tensor)
        })
    }

    /// A choice in words: `local 256, width 2`.
    pub fn words(&self, choice: &Choice) -> String {
        let words = self.parameters.iter().zip(choice).map(|((name, _), value)| format!("{name} {value}"));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// One operation on data of its own, to be timed with the context's parameters in force.
pub(crate) struct Trial {
    /// Bytes that must move in one run.
    pub(crate) bytes: u64,
    /// Enqueues the operation once.
    pub(crate) run: Box<dyn FnMut() -> Result<()>>,
}

/// Parameters of operations on processors that cut the work into chunks.
pub(crate) const CHUNKS: &[(&str, &str)] = &[("chunks", "parts of the work per compute unit")];

pub(crate) fn chunks_needs(&[chunks, ..]: &Choice, _: Precision) -> Option<Needs> {
    (1..=1024).contains(&chunks).then_some(Needs { group: 1, local_bytes: 0, tensor: false })
}

/// As many as [`Context::chunks`] has.
pub(crate) fn chunks_default(_: &DeviceInfo, _: Precision, _: usize) -> Choice {
    [8, 0, 0, 0, 0, 0]
}

pub(crate) fn chunks_candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    [1, 2, 4, 8, 16, 32, 64, 128].map(|chunks| [chunks, 0, 0, 0, 0, 0]).into()
}

/// A field of [`Operation`] for both precisions from a function that is generic over them.
macro_rules! both_precisions {
    ($function:ident) => {
        |context, precision, n| match precision {
            $crate::Precision::F32 => $function::<f32>(context, n),
            $crate::Precision::F64 => $function::<f64>(context, n),
        }
    };
}
pub(crate) use both_precisions;

/// The launch parameters in force in one context.
pub(crate) struct Choices {
    all: Vec<[AtomicU32; PARAMETERS]>,
}

impl Choices {
    /// Defaults, the library's table and the user's table, the later over the earlier; warns of tables it ignores.
    pub(crate) fn of(device: &DeviceInfo) -> Choices {
        let (choices, warnings) = Choices::with(device, table::user(device));
        for warning in warnings {
            log::warn!("{warning}");
        }
        choices
    }

    /// As [`Choices::of`] with a given user's table, and the warnings.
    fn with(device: &DeviceInfo, user: Option<Checked<Table>>) -> (Choices, Vec<String>) {
        let choices = Choices::defaults(device);
        let mut warnings = Vec::new();
        for table in table::shipped(device).chain(user) {
            if let Err(why) = table.and_then(|table| choices.take(device, &table)) {
                warnings.push(format!("{why}; the defaults are used"));
            }
        }
        (choices, warnings)
    }

    fn defaults(device: &DeviceInfo) -> Choices {
        let mut all = Vec::with_capacity(Op::ALL.len() * 2 * CLASSES);
        for op in Op::ALL {
            for precision in [Precision::F32, Precision::F64] {
                for class in 0..CLASSES {
                    all.push((op.describe().default)(device, precision, class).map(AtomicU32::new));
                }
            }
        }
        Choices { all }
    }

    /// Takes over a table, or nothing of one that does not suit the device.
    fn take(&self, device: &DeviceInfo, table: &Table) -> Checked<()> {
        let checked = table.check(device)?;
        for (op, entry, choice) in checked {
            self.set(op, entry.precision, entry.sizes[0]..=entry.sizes[1], &choice);
        }
        Ok(())
    }

    fn index(op: Op, precision: Precision, class: usize) -> usize {
        (op as usize * 2 + usize::from(precision == Precision::F64)) * CLASSES + class
    }

    /// The parameters for `n` elements.
    #[inline]
    pub(crate) fn get(&self, op: Op, precision: Precision, n: usize) -> Choice {
        let place = &self.all[Choices::index(op, precision, class(n))];
        std::array::from_fn(|k| place[k].load(Ordering::Relaxed))
    }

    /// All parameters of an operation, for [`Choices::restore`].
    fn copy(&self, op: Op, precision: Precision) -> Vec<Choice> {
        (0..CLASSES).map(|class| self.get(op, precision, 1 << class)).collect()
    }

    fn restore(&self, op: Op, precision: Precision, kept: &[Choice]) {
        kept.iter().enumerate().for_each(|(class, choice)| self.set(op, precision, [class], choice));
    }

    /// Changes the parameters of some size classes. A launch that looks them up at the same time may see a mixture:
    /// only for contexts that nobody else uses.
    pub(crate) fn set(&self, op: Op, precision: Precision, classes: impl IntoIterator<Item = usize>, choice: &Choice) {
        for class in classes {
            let place = &self.all[Choices::index(op, precision, class.min(CLASSES - 1))];
            place.iter().zip(choice).for_each(|(place, &value)| place.store(value, Ordering::Relaxed));
        }
    }
}

/// The largest power of two of at most `wanted` items that a work-group of the device may have, where an item takes so
/// many bytes of local memory.
pub(crate) fn local_size(device: &DeviceInfo, wanted: usize, bytes_per_item: usize) -> u32 {
    let held = device.local_mem as usize / bytes_per_item.max(1);
    1 << wanted.min(device.max_work_group).min(held).max(1).ilog2()
}

/// -3 to 3 without a pattern, for trials: their sums and products are exact in any order.
pub(crate) fn whole_numbers<T: Real>(n: usize, seed: u64) -> Vec<T> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..n).map(|_| T::of(f64::from(rng.random_range(-3_i32..=3)))).collect()
}

/// Where `got` first differs from `want`, in words.
pub(crate) fn first_difference<T: Real>(got: &[T], want: &[T]) -> Option<String> {
    let at = got.iter().zip(want).position(|(got, want)| got != want)?;
    Some(format!("value {at} of {} is {:e}, expected {:e}", want.len(), got[at], want[at]))
}

/// How a sparse product by compressed rows on a GPU spreads a row over work-items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowProduct {
    /// One item per row.
    Short,
    /// Some neighbouring items per row.
    Medium,
    /// Many neighbouring items per row.
    Long,
}

/// Mean entries per row up to which one item per row is the fastest (NVIDIA H200: 5-point stencil).
const SHORT_ROWS: usize = 12;
/// Mean entries per row from which 32 items per row keep busy.
const LONG_ROWS: usize = 64;
/// A row this many times longer than the mean would leave a single item working alone.
const SKEW: usize = 64;

impl RowProduct {
    /// The choice for `rows` rows with `nnz` entries, `longest` of them in the longest row.
    pub(crate) fn choose(rows: usize, nnz: usize, longest: usize) -> RowProduct {
        let mean = nnz.div_ceil(rows.max(1));
        if mean > LONG_ROWS || longest > SKEW * mean.max(SHORT_ROWS) {
            RowProduct::Long
        } else if mean > SHORT_ROWS {
            RowProduct::Medium
        } else {
            RowProduct::Short
        }
    }

    /// The operation with the parameters of rows that items share.
    pub(crate) fn shared(self) -> Option<Op> {
        match self {
            RowProduct::Short => None,
            RowProduct::Medium => Some(Op::MvCsrLanes),
            RowProduct::Long => Some(Op::MvCsrLong),
        }
    }
}

/// How a sparse product on a GPU goes through blocks of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockShape {
    /// Items of a work-group.
    pub(crate) items: usize,
    /// Entries per item.
    pub(crate) per: usize,
    /// Most rows of a block of whole rows.
    pub(crate) rows: usize,
    /// Whether local memory has gaps.
    gaps: bool,
}

impl BlockShape {
    /// The choice for `rows` rows with `nnz` entries, groups of `items` and at most `most` entries per item. Rows of the mean
    /// length should fill a block.
    pub(crate) fn choose(items: usize, most: usize, rows: usize, nnz: usize) -> BlockShape {
        let width = nnz.div_ceil(rows.max(1)).max(1);
        let rows_of = |per: usize| (per * items / width).clamp(1, items);
        let filled = |per: usize| (rows_of(per) * width * 1000) / (per * items);
        let best = (most.min(4)..=most).rev().max_by_key(|&per| filled(per)).unwrap_or(most);
        let per = if width <= most { width } else { best };
        BlockShape { items, per, rows: rows_of(per), gaps: width.is_multiple_of(2) }
    }

    /// Most entries of a block.
    pub(crate) fn entries(&self) -> usize {
        self.items * self.per
    }

    /// Whether so many blocks of whole rows are full enough, or too few for that to matter; otherwise blocks are better
    /// cut inside rows, at the price of a second launch.
    pub(crate) fn fills(&self, blocks: usize, nnz: usize) -> bool {
        blocks <= 1024 || nnz >= blocks * self.entries() / 20 * 19
    }

    pub(crate) fn defines(&self) -> Vec<(&'static str, u64)> {
        let mut defines = vec![("PER", self.per as u64), ("LOCAL", self.items as u64)];
        if self.gaps {
            defines.push(("GAPS", 1));
        }
        defines
    }
}

/// Rows of a line of a stencil whose pattern tells none.
pub(crate) const LINE: usize = 4096;

/// Fewest rows for which a pattern of rows is looked for.
pub(crate) const PATTERN_ROWS: usize = 1024;

/// Rows outside of the pattern may be one in so many.
pub(crate) const PATTERN_SHARE: usize = 16;

/// Empty slots of values by diagonals may be one for so many entries: beyond, 16-bit columns move fewer bytes.
pub(crate) const EMPTY_SLOTS: usize = 6;

/// Shortest mean run of rows (see `Csr`) from which the product on a processor reads columns by run (AMD EPYC, PoCL 3.1:
/// 5-point stencil on 2049^2 points 1.3 times as fast by runs of 683 rows).
pub(crate) const RUN_ROWS: usize = 16;

/// On a processor, a matrix whose entries lie in chunks but for one in so many is multiplied by chunks. (AMD EPYC, PoCL 3.1,
/// random columns, time of MKL's optimised product over ours: with rows of 4 to 27 entries 0.96, by rows 1.3; with chunks of sorted
/// rows instead, power law 1.03, by rows 1.15.) Not where most rows reach over [`GATHERED_BYTES`] of the vector or more and rows alone
/// fetch ahead (random columns, 16 a row: 1.40, 0.99 in two runs, by rows 1.47, 1.27).
pub(crate) const OUTSIDE_CHUNKS: usize = 16;

/// Bytes of a vector from which a product by rows on a processor fetches what it gathers ahead (AMD EPYC: a power law 1.3
/// times as fast, 27 points 0.8 times): twice the second-level cache of a core.
pub(crate) const GATHERED_BYTES: usize = 2 << 20;

/// Platforms whose compiler takes the hint to fetch memory ahead (`AHEAD` in `common.cl`); Oclgrind 21.10 refuses the kernel.
pub(crate) const AHEAD_PLATFORMS: &[&str] = &["Portable Computing Language", "Intel(R) OpenCL"];

/// How many entries ahead the conversion to compressed rows fetches their places, where [`AHEAD_PLATFORMS`] take the hint
/// (AMD EPYC, PoCL 3.1, 10^6 columns of 5 entries: 25 ms instead of 31 for a 5-point matrix, 65 instead of 120 for a
/// random one).
pub(crate) const ENTRIES_AHEAD: (&str, u64) = ("ENTRIES_AHEAD", 16);

/// Grid kernels for processors that fetch memory so many rows ahead, where [`AHEAD_PLATFORMS`] take the hint (AMD EPYC,
/// a V(2,1) cycle at 2049 by 2049: 1.3 times as fast; 1 to 4 rows make no difference).
pub(crate) const ROWS_AHEAD: &[(&str, u64)] = &[("PROCESSOR", 1), ("ROWS_AHEAD", 2)];

/// Bytes from which the output of an elementwise operation on a processor is stored past the caches (AMD EPYC with
/// 32 MiB of last-level cache: copy 1.4 times, a x + b y 1.3 times as fast).
pub(crate) const STREAM_BYTES: usize = 32 << 20;

/// Work-groups of a norm on a grid on a GPU per compute unit: enough loads in flight to reach the
/// bandwidth, few enough partial results to join on the host.
pub(crate) const REDUCE_GROUPS_PER_UNIT: usize = 8;

/// Most partial results of a reduction.
pub(crate) const REDUCE_PARTIALS: usize = 4096;

/// Entries of a row up to which one item of a GPU sorts it during a conversion; a work-group sorts longer ones.
pub(crate) const LONG_ROW: u32 = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::DeviceKind;

    /// A device as large or as small as these say.
    pub(super) fn device(platform: &str, name: &str, max_work_group: usize, local_mem: u64) -> DeviceInfo {
        DeviceInfo {
            index: 0,
            platform: platform.into(),
            platform_version: "OpenCL 3.0".into(),
            vendor: "vendor".into(),
            name: name.into(),
            version: "OpenCL 3.0".into(),
            c_version: "OpenCL C 1.2".into(),
            driver: "1.0".into(),
            kind: DeviceKind::Gpu,
            fp64: true,
            compute_units: 132,
            global_mem: 1 << 37,
            max_alloc: 1 << 35,
            local_mem,
            max_work_group,
            clock_mhz: 1980,
            int64_atomics: true,
            sub_groups: false,
            tensor_f64: 0,
            unified_memory: false,
            extensions: Vec::new(),
        }
    }

    pub(super) fn h200() -> DeviceInfo {
        DeviceInfo { tensor_f64: 90, ..device("NVIDIA CUDA", "NVIDIA H200", 1024, 48 << 10) }
    }

    const PRECISIONS: [Precision; 2] = [Precision::F32, Precision::F64];

    #[test]
    fn defaults_fit_devices_never_seen() {
        let devices = [
            device("new", "tiny", 32, 4 << 10),
            device("new", "scarce", 1024, 4 << 10),
            device("new", "odd", 96, 16 << 10),
            device("new", "small", 256, 32 << 10),
            device("new", "large", 4096, 1 << 20),
            h200(),
        ];
        for device in &devices {
            for &op in Op::ALL {
                let operation = op.describe();
                for precision in PRECISIONS {
                    for class in 0..CLASSES {
                        let choice = (operation.default)(device, precision, class);
                        assert!(operation.fits(device, precision, &choice), "{} {choice:?} {device:?}", operation.name);
                    }
                    if device.max_work_group >= 64 {
                        let any = (operation.candidates)(device, precision);
                        assert!(any.iter().any(|c| operation.fits(device, precision, c)), "{}", operation.name);
                    }
                }
            }
        }
    }

    #[test]
    fn every_operation_has_its_own_name_and_place() {
        for (k, &op) in Op::ALL.iter().enumerate() {
            assert_eq!(op as usize, k);
            assert_eq!(Op::named(op.describe().name), Some(op));
            assert!(op.describe().parameters.len() <= PARAMETERS);
        }
        assert_eq!(Op::named("no such operation"), None);
    }

    #[test]
    fn size_classes_are_binary_logarithms() {
        for (n, expected) in [(0, 0), (1, 0), (2, 1), (1023, 9), (1024, 10), (usize::MAX, CLASSES - 1)] {
            assert_eq!(class(n), expected, "{n}");
        }
    }

    #[test]
    fn the_users_table_wins_over_the_librarys_and_that_over_the_default() {
        let device = h200();
        let op = Op::Reduce;
        let mut table = Table::new(&device);
        let mine = [128, 4, 1, 3, 0, 0];
        table.choices.push(Entry::new(op, Precision::F64, [20, CLASSES - 1], &mine));
        let (choices, warnings) = Choices::with(&device, Some(Ok(table)));
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(choices.get(op, Precision::F64, 1 << 20), mine);
        let (without, warnings) = Choices::with(&device, None);
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(choices.get(op, Precision::F64, 1 << 19), without.get(op, Precision::F64, 1 << 19));
        assert_eq!(choices.get(op, Precision::F32, 1 << 20), without.get(op, Precision::F32, 1 << 20));
    }

    #[test]
    fn a_table_that_cannot_be_used_changes_nothing_and_warns() {
        let device = device("new", "small", 256, 32 << 10);
        let entry = |choice| Entry::new(Op::Reduce, Precision::F32, [0, 10], &choice);
        let good = entry([128, 1, 1, 1, 0, 0]);
        let bad = [
            (entry([1024, 1, 1, 1, 0, 0]), "cannot do"),
            (entry([100, 1, 1, 1, 0, 0]), "cannot do"),
            (Entry { operation: "fft".into(), ..good.clone() }, "no operation `fft`"),
            (Entry { sizes: [3, CLASSES], ..good.clone() }, "size classes"),
            (Entry { sizes: [4, 3], ..good.clone() }, "size classes"),
            (Entry { parameters: [("local".to_owned(), 64)].into(), ..good.clone() }, "lacks `width`"),
            (
                Entry {
                    parameters: good.parameters.clone().into_iter().chain([("depth".to_owned(), 1)]).collect(),
                    ..good.clone()
                },
                "no parameter `depth`",
            ),
        ];
        let (defaults, _) = Choices::with(&device, None);
        let mut class = Table::new(&device);
        class.keep(table::Problem {
            operation: "ode".into(),
            problem: "rk4".into(),
            precision: Precision::F64,
            sizes: [3, CLASSES],
            variant: "fused".into(),
            nanoseconds: 1,
            parameters: Default::default(),
        });
        let (_, warnings) = Choices::with(&device, Some(Ok(class)));
        assert!(warnings.len() == 1 && warnings[0].contains("size classes"), "{warnings:?}");
        for (entry, why) in bad {
            // Not even the sound entry of such a table counts.
            let table = Table { choices: vec![good.clone(), entry], ..Table::new(&device) };
            let (choices, warnings) = Choices::with(&device, Some(Ok(table)));
            assert!(warnings.len() == 1 && warnings[0].contains(why), "{warnings:?}");
            assert!(warnings[0].contains("defaults are used"), "{warnings:?}");
            for n in [1, 1000] {
                assert_eq!(choices.get(Op::Reduce, Precision::F32, n), defaults.get(Op::Reduce, Precision::F32, n));
            }
        }
    }

    #[test]
    fn parameters_of_products_that_mean_nothing_or_do_not_fit_are_refused() {
        let device = device("new", "small", 256, 16 << 10);
        let bad = [
            (Op::MvCsr, [512, 1, 0, 0, 0, 0]),
            (Op::MvCsr, [96, 1, 0, 0, 0, 0]),
            (Op::MvCsr, [256, 0, 0, 0, 0, 0]),
            (Op::MvCsrLanes, [64, 128, 0, 0, 0, 0]),
            (Op::MvCsrLanes, [64, 12, 0, 0, 0, 0]),
            (Op::MvCsrLong, [64, 0, 0, 0, 0, 0]),
            (Op::MvCsrCpu, [0, 512, 128, 0, 0, 0]),
            (Op::MvCsrCpu, [8, 512, 1 << 20, 0, 0, 0]),
            (Op::MvBlocks, [128, 0, 0, 0, 0, 0]),
            // 256 items of 10 numbers each, in 16 KiB.
            (Op::MvBlocks, [256, 10, 0, 0, 0, 0]),
            // 14 entries and a gap of each of 128 items fit with a sum each, not with those of two dot products.
            (Op::MvBlocks, [128, 14, 0, 0, 0, 0]),
            (Op::MvChunksCpu, [8, u32::MAX, 0, 0, 0, 0]),
            (Op::MvDiagonals, [0, 1, 0, 0, 0, 0]),
            (Op::MvStencil, [128, 0, 0, 0, 0, 0]),
            (Op::MvStencil, [128, 17, 0, 0, 0, 0]),
            (Op::MvBand, [64, 65, 0, 0, 0, 0]),
            (Op::MvDense, [128, 48, 8, 0, 0, 0]),
            (Op::MvDense, [128, 256, 8, 0, 0, 0]),
            (Op::MvDense, [128, 64, 0, 0, 0, 0]),
            (Op::MvDenseTransposed, [128, 0, 0, 0, 0, 0]),
            (Op::MmCsr, [16, 4, 0, 0, 0, 0]),
            (Op::MmDense, [128, 256, 1, 4, 0, 0]),
            (Op::MmDense, [128, 2, 1, 4, 0, 0]),
            (Op::MmDense8, [128, 64, 1, 3, 0, 0]),
            (Op::MmDense16, [256, 64, 2, 16, 0, 0]),
            // The device has no tensor cores.
            (Op::MmDense16, [256, 64, 2, 16, 2, 0]),
        ];
        let (defaults, _) = Choices::with(&device, None);
        for (op, choice) in bad {
            let entry = Entry::new(op, Precision::F64, [0, CLASSES - 1], &choice);
            let table = Table { choices: vec![entry], ..Table::new(&device) };
            let (choices, warnings) = Choices::with(&device, Some(Ok(table)));
            let name = op.describe().name;
            assert!(warnings.len() == 1 && warnings[0].contains("cannot do"), "{name} {choice:?}: {warnings:?}");
            assert_eq!(choices.get(op, Precision::F64, 1000), defaults.get(op, Precision::F64, 1000), "{name}");
        }
    }

    #[test]
    fn tensor_cores_are_for_sound_shapes_in_double_precision() {
        let device = h200();
        let fits = |precision, choice: &[u32; 5]| {
            let &[local, panel, rows, columns, tensor] = choice;
            Op::MmDense16.describe().fits(&device, precision, &[local, panel, rows, columns, tensor, 0])
        };
        for good in [[256, 64, 2, 16, 2], [512, 128, 1, 8, 4], [32, 16, 4, 8, 1]] {
            assert!(fits(Precision::F64, &good) && !fits(Precision::F32, &good), "{good:?}");
        }
        // More warps than there are, not a power of two, not whole steps, no tiles, five, other right-hand sides.
        let bad =
            [[64, 16, 2, 16, 4], [256, 64, 2, 16, 3], [256, 48, 2, 16, 2], [256, 64, 0, 16, 2], [256, 64, 5, 16, 2]];
        for bad in bad.into_iter().chain([[256, 64, 2, 4, 2], [256, 64, 2, 24, 2], [0, 64, 2, 16, 2]]) {
            assert!(!fits(Precision::F64, &bad), "{bad:?}");
        }
        let candidates = (Op::MmDense16.describe().candidates)(&device, Precision::F64);
        let (without, with): (Vec<Choice>, Vec<Choice>) = candidates.into_iter().partition(|choice| choice[4] == 0);
        assert!(
            !without.is_empty()
                && with.iter().all(|choice| Op::MmDense16.describe().fits(&device, Precision::F64, choice))
        );
    }

    #[test]
    fn the_defaults_of_products_are_those_that_were_measured() {
        let (choices, _) = Choices::with(&h200(), None);
        for (op, want) in [
            (Op::MvCsr, [256, 1, 0, 0, 0, 0]),
            (Op::MvCsrLanes, [256, 8, 0, 0, 0, 0]),
            (Op::MvCsrLong, [256, 32, 0, 0, 0, 0]),
            (Op::MvBlocks, [128, 7, 0, 0, 0, 0]),
            (Op::MvDiagonals, [256, 1, 0, 0, 0, 0]),
            (Op::MvStencil, [256, 4, 0, 0, 0, 0]),
            (Op::MvBand, [256, 1, 0, 0, 0, 0]),
            (Op::MvDense, [1024, 64, 8, 0, 0, 0]),
            (Op::MvDenseTransposed, [256, 8, 0, 0, 0, 0]),
            (Op::MmCsr, [256, 4, 0, 0, 0, 0]),
            (Op::MmDiagonals, [128, 4, 0, 0, 0, 0]),
            (Op::MmBand, [256, 4, 0, 0, 0, 0]),
            (Op::MmDense, [512, 128, 1, 4, 0, 0]),
            (Op::MmDense8, [512, 128, 1, 8, 0, 0]),
            (Op::MmDense16, [256, 64, 2, 8, 0, 0]),
        ] {
            for precision in PRECISIONS {
                let tensor = precision == Precision::F64 && matches!(op, Op::MmDense | Op::MmDense8 | Op::MmDense16);
                let got = choices.get(op, precision, 1 << if tensor { 20 } else { 24 });
                assert_eq!(got, want, "{}", op.describe().name);
            }
        }
        // Large ones on tensor cores.
        for op in [Op::MmDense, Op::MmDense8] {
            assert_eq!(choices.get(op, Precision::F64, 1 << 26), [256, 128, 2, 8, 1, 0]);
        }
        assert_eq!(choices.get(Op::MmDense16, Precision::F64, 1 << 26), [256, 64, 1, 16, 2, 0]);
    }

    #[test]
    fn the_tables_that_come_with_the_library_are_sound() {
        let devices = [
            h200(),
            DeviceInfo {
                kind: DeviceKind::Cpu,
                ..device("Portable Computing Language", "pthread-skylake-avx512-AMD EPYC", 4096, 1 << 20)
            },
        ];
        for device in devices {
            assert_eq!(table::shipped(&device).count(), 1, "{}", device.name);
            let (_, warnings) = Choices::with(&device, None);
            assert!(warnings.is_empty(), "{warnings:?}");
        }
        assert_eq!(table::shipped(&device("AMD", "gfx90a", 256, 65536)).count(), 0);
    }
}
