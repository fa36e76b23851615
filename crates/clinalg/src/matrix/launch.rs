//! How products with matrices are launched: kernels and ranges made from the tuning table, when a sparse matrix is uploaded
//! and before the first product with another, so that a call looks nothing up.

use super::balanced::{PAGE, PAGES};
use super::csr::Structure;
use super::offsets::Offsets;
use super::spread::{BlockShape, GATHERED_BYTES, RowProduct};
use super::tuning::*;
use crate::runtime::kernels::{band, csr, dense, multivector};
use crate::runtime::{KernelFamily, Range};
use crate::tune::{Choice, Operation};
use crate::{Context, DeviceInfo, Result, Scalar};

/// A compilation of a kernel file and the work-items that run one of its kernels, prepared before the call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prepared<P> {
    pub(crate) program: P,
    pub(crate) range: Range,
}

/// The launch parameters of an operation on `n` elements.
pub(super) fn numbers<T: Scalar>(context: &Context, op: &Operation, n: usize) -> [usize; 6] {
    context.choice(op, T::PRECISION, n).map(|value| value as usize)
}

/// How many elements ahead a CPU kernel prefetches memory, where the compiler supports the hint.
fn ahead(context: &Context, elements: usize) -> u64 {
    if context.prefetches() { elements as u64 } else { 0 }
}

/// Parts of the work of a CPU, of at least one of `most` each.
pub(super) fn parts(context: &Context, per_unit: usize, most: usize) -> usize {
    (context.units() * per_unit).min(most.max(1))
}

/// For a kernel of a CPU: the range that cuts `work` into as many parts as the table says, and how many elements ahead it fetches
/// memory.
pub(super) fn chunked<T: Scalar>(context: &Context, op: &Operation, n: usize, work: usize) -> (Range, u64) {
    let [chunks, elements, ..] = numbers::<T>(context, op, n);
    (Range::d1(parts(context, chunks, work), 1), ahead(context, elements))
}

/// For a kernel of a GPU: the range with an item for as many rows as the table says, and how many that is.
pub(super) fn rows_gpu<T: Scalar>(context: &Context, op: &Operation, rows: usize) -> (Range, u64) {
    let [local, per, ..] = numbers::<T>(context, op, rows);
    (Range::d1(rows.div_ceil(per * local) * local, local), per as u64)
}

/// The product by compressed rows on a GPU.
pub(super) fn csr_gpu<T: Scalar>(context: &Context, rows: usize, product: RowProduct) -> Prepared<csr::Program<T>> {
    let program = csr::Program::new();
    let Some(op) = product.shared() else {
        let (range, per) = rows_gpu::<T>(context, &MV_CSR, rows);
        return Prepared { program: program.rows_unless(per, 1), range };
    };
    let [local, lanes, ..] = numbers::<T>(context, op, rows);
    let program = program.lanes(lanes as u64).local_unless(local as u64, context.local() as u64);
    Prepared { program, range: Range::d1(rows * lanes, local) }
}

/// The product by compressed rows on a CPU, and how many parts it cuts the rows into.
pub(crate) fn csr_cpu<T: Scalar>(context: &Context, rows: usize, cols: usize) -> Prepared<csr::Program<T>> {
    let (range, ahead) = chunked::<T>(context, &MV_CSR_CPU, rows, rows);
    let [_, _, gather, ..] = numbers::<T>(context, &MV_CSR_CPU, rows);
    let mut program = csr::Program::new().ahead_unless(ahead, 0);
    if gathers_ahead::<T>(context, cols) {
        program = program.gather_ahead_unless(gather as u64, 0);
    }
    Prepared { program, range }
}

/// Whether the product by compressed rows on a CPU fetches ahead what it gathers of a vector this long.
fn gathers_ahead<T: Scalar>(context: &Context, cols: usize) -> bool {
    context.prefetches() && cols * size_of::<T>() >= GATHERED_BYTES
}

/// Whether rows reach so far across the vector that prefetching is faster than multiplying several rows at once.
///
/// # Errors
/// OpenCL errors.
pub(super) fn gathers_far<T: Scalar>(s: &Structure, offsets: &[u32]) -> Result<bool> {
    if s.nnz == 0 || !gathers_ahead::<T>(s.offset.context(), s.cols) {
        return Ok(false);
    }
    most_rows(s, offsets, SAMPLED_ROWS, usize::MAX, |columns| {
        let reach = columns.last().unwrap_or(&0) - columns.first().unwrap_or(&0);
        reach as usize * size_of::<T>() >= GATHERED_BYTES
    })
}

/// Whether `test` holds for most of `count` rows, given their first columns, at most `longest` of them.
fn most_rows(
    s: &Structure,
    offsets: &[u32],
    count: usize,
    longest: usize,
    test: impl Fn(&[u32]) -> bool,
) -> Result<bool> {
    let mut found = 0;
    for k in 0..count {
        let row = k * s.rows / count;
        let mut columns = vec![0; longest.min((offsets[row + 1] - offsets[row]) as usize)];
        s.column.read_range(offsets[row] as usize, &mut columns)?;
        found += usize::from(test(&columns));
    }
    Ok(2 * found > count)
}

/// Whether 32 items per row are faster on a GPU than blocks of entries: long rows of similar length,
/// enough of them to occupy the device, over more columns than 16-bit indices can address. All rows then traverse the vector together,
/// and share what they gather (NVIDIA H100, 10 000 rows of 3000 random entries: 932 GB/s, by blocks 602).
///
/// # Errors
/// OpenCL errors.
pub(super) fn takes_long_rows(s: &Structure, offsets: &Offsets<'_>) -> Result<bool> {
    let context = s.offset.context();
    let mean = s.nnz / s.rows.max(1);
    if mean < LONG_ROW || s.rows < context.units() * ROWS_OF_UNIT {
        return Ok(false);
    }
    let offsets = offsets.all()?;
    if !offsets.windows(2).all(|row| (mean / 2..=2 * mean).contains(&((row[1] - row[0]) as usize))) {
        return Ok(false);
    }
    let touches_many_pages = |columns: &[u32]| columns.chunk_by(|a, b| a / PAGE == b / PAGE).count() > PAGES;
    most_rows(s, offsets, SAMPLED_LONG_ROWS, LONG_ROW, touches_many_pages)
}

/// Number of entries from which a row is long enough to gather in order.
pub(super) const LONG_ROW: usize = 896;

/// Rows of 32 items each that occupy a compute unit.
const ROWS_OF_UNIT: usize = 64;

/// Number of rows that [`takes_long_rows`] inspects.
const SAMPLED_LONG_ROWS: usize = 8;

/// Number of rows that [`gathers_far`] inspects.
const SAMPLED_ROWS: usize = 64;

/// Work-groups that keep a compute unit busy.
const GROUPS_OF_UNIT: usize = 4;
/// Work-items below which large work-groups are not split.
const FEWEST_ITEMS: usize = 128;

/// Work-items of a work-group, a power of two, at most `wanted`: fewer if `work` items in all would leave compute units idle.
pub(super) fn group_items(context: &Context, wanted: usize, work: usize) -> usize {
    let mut items = wanted;
    while items > FEWEST_ITEMS && work < items * GROUPS_OF_UNIT * context.units() {
        items /= 2;
    }
    items
}

/// Work-items of a work-group of nnz-balanced CSR on a GPU, and the maximum number of entries for each.
fn block_numbers<T: Scalar>(context: &Context, rows: usize, nnz: usize) -> [usize; 2] {
    let [local, most, ..] = numbers::<T>(context, &MV_NNZ_BALANCED, rows);
    [group_items(context, local, nnz / most), most]
}

/// The blocks of entries of nnz-balanced CSR on a GPU.
pub(super) fn block_shape<T: Scalar>(context: &Context, rows: usize, nnz: usize) -> BlockShape {
    let [local, most] = block_numbers::<T>(context, rows, nnz);
    BlockShape::choose(local, most, rows, nnz)
}

/// The fullest blocks that the table allows.
pub(super) fn full_blocks<T: Scalar>(context: &Context, rows: usize, nnz: usize) -> BlockShape {
    let [local, most] = block_numbers::<T>(context, rows, nnz);
    BlockShape::full(local, most)
}

/// Items of a work-group of a constant stencil on a GPU, and lines of its tile.
pub(super) fn tile<T: Scalar>(context: &Context, rows: usize) -> [usize; 2] {
    let [local, lines, ..] = numbers::<T>(context, &MV_STENCIL, rows);
    [local, lines]
}

/// How a product with several right-hand sides is spread over items.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MultiLaunch<T: Scalar> {
    pub(crate) program: multivector::Program<T>,
    /// Items of a work-group, and the rows that it computes.
    local: usize,
    rows: usize,
    /// Right-hand sides of an item.
    columns: usize,
}

impl<T: Scalar> MultiLaunch<T> {
    /// Whole groups for this many rows and right-hand sides.
    pub(crate) fn range(&self, rows: usize, nrhs: usize) -> Range {
        let items = rows.div_ceil(self.rows) * self.local;
        Range::d2([items, nrhs.div_ceil(self.columns)], [self.local, 1])
    }

    /// Whole groups for this many rows, whatever the number of right-hand sides.
    pub(crate) fn one_pass(&self, rows: usize) -> Range {
        Range::d1(rows.div_ceil(self.rows) * self.local, self.local)
    }

    /// With `lanes` items per row and the parameters of `op`.
    fn new(
        context: &Context,
        op: &Operation,
        n: usize,
        lanes: usize,
        program: multivector::Program<T>,
    ) -> MultiLaunch<T> {
        let [local, columns, ..] = numbers::<T>(context, op, n);
        // As much local memory as for reals.
        let local = (local / T::COMPONENTS).max(lanes);
        let program = program.columns_unless(columns as u64, 4).local_unless(local as u64, context.local() as u64);
        MultiLaunch { program, local, rows: local / lanes, columns }
    }

    /// By compressed rows. `skewed` if they differ much in length.
    pub(super) fn csr(context: &Context, rows: usize, product: RowProduct, skewed: bool) -> MultiLaunch<T> {
        // NVIDIA H200, 27 points and random columns: 2.6 and 1.07 times the rate of cuSPARSE with 4 items per row.
        let (op, lanes, unroll) = match (context.family(), product) {
            (KernelFamily::Cpu, _) => (&MM_CSR_CPU, 1, 1),
            (KernelFamily::Gpu, RowProduct::Long) => (&MM_CSR, 32, 2),
            (KernelFamily::Gpu, _) if skewed => (&MM_CSR, 32, 2),
            (KernelFamily::Gpu, RowProduct::Short) => (&MM_CSR, 2, 4),
            (KernelFamily::Gpu, RowProduct::Medium) => (&MM_CSR, 4, 2),
        };
        let program = multivector::Program::new().lanes(lanes as u64).unroll(unroll);
        MultiLaunch::new(context, op, rows, lanes, program)
    }

    /// In the diagonal format with this many points on a GPU.
    pub(super) fn dia(context: &Context, rows: usize, points: usize, constant: bool) -> MultiLaunch<T> {
        let program = multivector::Program::new().points(points as u64).constant_unless(constant.into(), 0);
        MultiLaunch::new(context, &MM_DIA, rows, 1, program)
    }

    /// With a band of `width` diagonals.
    fn band(context: &Context, rows: usize, width: usize) -> MultiLaunch<T> {
        let op = by_shape(context, &MM_BAND, &MM_BAND_CPU);
        let program = multivector::Program::new();
        // Unrolled, columns of complex numbers take more registers than an item has.
        let program =
            if is_unrolled(context, width) && !T::IS_COMPLEX { program.diagonals(width as u64) } else { program };
        MultiLaunch::new(context, op, rows, 1, program)
    }

    /// With a dense matrix and this many right-hand sides.
    fn dense(context: &Context, rows: usize, cols: usize, nrhs: usize) -> MultiLaunch<T> {
        let entries = rows * cols;
        if context.family() == KernelFamily::Cpu {
            return MultiLaunch::new(context, &MM_DENSE_CPU, entries, 1, multivector::Program::new());
        }
        if T::IS_COMPLEX {
            return MultiLaunch::new(context, &MM_BAND, entries, 1, multivector::Program::new());
        }
        let (op, columns) = match nrhs {
            0..=4 => (&MM_DENSE, 4),
            5..=8 => (&MM_DENSE_8, 8),
            _ => (&MM_DENSE_16, 16),
        };
        let choice = context.choice(op, T::PRECISION, entries);
        // Tensor cores take two neighbours at a time.
        let pairs = rows >= 2 && rows.is_multiple_of(2) && cols.is_multiple_of(2);
        match choice {
            [.., tensor, _] if tensor > 0 && pairs => MultiLaunch::tensor(choice, context.device().tensor_f64),
            [.., tensor, _] if tensor > 0 => MultiLaunch::panels(panel(context.device(), T::PRECISION, columns)),
            _ => MultiLaunch::panels(choice),
        }
    }

    /// By panels of a dense matrix.
    fn panels([local, panel, per, columns, ..]: Choice) -> MultiLaunch<T> {
        let program = multivector::Program::new().local(local.into()).panel(panel.into());
        let program = program.per(per.into()).columns(columns.into());
        let [local, per, columns] = [local, per, columns].map(|number| number as usize);
        MultiLaunch { program, local, rows: PANEL_ROWS * per, columns }
    }

    /// By tensor cores of this compute capability; 0 is for tests, on any device.
    pub(crate) fn tensor([local, panel, per, columns, across, _]: Choice, capability: u32) -> MultiLaunch<T> {
        let program = multivector::Program::new().local(local.into()).panel(panel.into()).per(per.into());
        let program = program.columns(columns.into()).across(across.into()).tensor(capability.into());
        let [local, per, columns, across] = [local, per, columns, across].map(|number| number as usize);
        MultiLaunch { program, local, rows: 16 * per * across, columns }
    }
}

fn by_shape(context: &Context, gpu: &'static Operation, cpu: &'static Operation) -> &'static Operation {
    match context.family() {
        KernelFamily::Gpu => gpu,
        KernelFamily::Cpu => cpu,
    }
}

/// Bands of at most this many diagonals have a compilation of their own on a GPU.
const UNROLLED_DIAGONALS: usize = 32;

/// Whether a band of this many diagonals has a compilation of its own.
fn is_unrolled(context: &Context, width: usize) -> bool {
    context.family() == KernelFamily::Gpu && width <= UNROLLED_DIAGONALS
}

/// The products with a band matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BandProducts<T: Scalar> {
    pub(crate) one: Prepared<band::Program<T>>,
    pub(crate) multi: MultiLaunch<T>,
}

impl<T: Scalar> BandProducts<T> {
    pub(super) fn new(context: &Context, rows: usize, width: usize) -> BandProducts<T> {
        let program = band::Program::new();
        let one = match context.family() {
            KernelFamily::Cpu => {
                let (range, _) = chunked::<T>(context, &MV_BAND_CPU, rows, rows);
                Prepared { program, range }
            }
            KernelFamily::Gpu => {
                let (range, per) = rows_gpu::<T>(context, &MV_BAND, rows);
                let program = if is_unrolled(context, width) { program.diagonals(width as u64) } else { program };
                Prepared { program: program.rows_unless(per, 1), range }
            }
        };
        BandProducts { one, multi: MultiLaunch::band(context, rows, width) }
    }
}

/// The products with a dense matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DenseProducts<T: Scalar> {
    pub(crate) one: Prepared<dense::Program<T>>,
    /// Parts of the columns, each with work-groups of its own, and columns of a part; on a GPU.
    pub(crate) parts: usize,
    pub(crate) chunk: usize,
    pub(crate) transposed: Prepared<dense::Program<T>>,
    /// With up to 4, with 5 to 8, with more right-hand sides.
    multi: [MultiLaunch<T>; 3],
}

impl<T: Scalar> DenseProducts<T> {
    pub(crate) fn new(context: &Context, rows: usize, cols: usize) -> DenseProducts<T> {
        let n = rows * cols;
        let multi = [4, 8, 16].map(|nrhs| MultiLaunch::dense(context, rows, cols, nrhs));
        let program = dense::Program::new();
        if context.family() == KernelFamily::Cpu {
            // Few chunks: their parts of a column are read in one go.
            let [one, transposed] = [(&MV_DENSE_CPU, rows), (&MV_DENSE_TRANSPOSED_CPU, cols)].map(|(op, work)| {
                let (range, ahead) = chunked::<T>(context, op, n, work);
                Prepared { program: program.ahead_unless(ahead, 0), range }
            });
            return DenseProducts { one, parts: 1, chunk: cols, transposed, multi };
        }
        let [local, most, loads, ..] = numbers::<T>(context, &MV_DENSE, n);
        let tile = DenseTile::choose(context.device(), [local, most, loads], rows, cols);
        let one = program.local(local as u64).tile(tile.rows as u64).at_once_unless(loads as u64, 8);
        let range = Range::d2([rows.div_ceil(tile.rows) * local, tile.parts], [local, 1]);
        let one = Prepared { program: one, range };
        let [local, loads, ..] = numbers::<T>(context, &MV_DENSE_TRANSPOSED, n);
        let pairs = u64::from(rows.is_multiple_of(2) && !T::IS_COMPLEX);
        let transposed = program.pairs_unless(pairs, 0).at_once_unless(loads as u64, 8);
        let transposed = transposed.local_unless(local as u64, context.local() as u64);
        let transposed = Prepared { program: transposed, range: Range::d1(cols * local, local) };
        DenseProducts { one, parts: tile.parts, chunk: tile.chunk, transposed, multi }
    }

    pub(crate) fn multi(&self, nrhs: usize) -> &MultiLaunch<T> {
        &self.multi[match nrhs {
            0..=4 => 0,
            5..=8 => 1,
            _ => 2,
        }]
    }
}

/// How the dense product on a GPU is cut up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DenseTile {
    /// Rows of a work-group.
    rows: usize,
    parts: usize,
    chunk: usize,
}

impl DenseTile {
    fn choose(device: &DeviceInfo, [items, most, loads]: [usize; 3], rows: usize, cols: usize) -> DenseTile {
        let units = (device.compute_units as usize).max(1);
        // Half as many rows where less than one and a half groups per unit would be left.
        let few = |tile: usize| rows.div_ceil(tile) * 2 < units * 3;
        let tile = if few(most) { (most / 2).max(32).min(most) } else { most };
        let groups = rows.div_ceil(tile).max(1);
        let wanted = if few(tile) { (units * 2).div_ceil(groups) } else { 1 };
        // A part has some loads for each item.
        let parts = wanted.min(cols / (loads * items / tile)).max(1);
        let chunk = cols.div_ceil(parts);
        DenseTile { rows: tile, parts: cols.div_ceil(chunk.max(1)).max(1), chunk }
    }
}
