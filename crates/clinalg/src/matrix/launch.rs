//! How products with matrices are launched: kernels and ranges made from the tuning table, when a sparse matrix is uploaded
//! and before the first product with another, so that a call looks nothing up.

use super::csr::Structure;
use crate::runtime::kernel::File;
use crate::runtime::{Kernel, Launch, Range, Shape, files};
use crate::tune::{BlockShape, Choice, GATHERED_BYTES, Op, RowProduct, class};
use crate::{Context, DeviceInfo, Precision, Real, Result};

/// The launch parameters of an operation on `n` elements.
pub(super) fn numbers<T: Real>(context: &Context, op: Op, n: usize) -> [usize; 6] {
    context.choice(op, T::PRECISION, n).map(|value| value as usize)
}

/// The kernel with groups of `local` items.
fn grouped(context: &Context, kernel: Kernel, local: usize) -> Kernel {
    kernel.with_changed(&[("LOCAL", local as u64, context.local() as u64)])
}

/// The kernel for a processor with the hint to fetch memory so many elements ahead, where the compiler takes it.
fn ahead(context: &Context, kernel: Kernel, elements: usize) -> Kernel {
    let elements = if context.fetches_ahead() { elements as u64 } else { 0 };
    kernel.with_changed(&[("AHEAD", elements, 0)])
}

/// Parts of the work of a processor, of at least one of `most` each.
pub(super) fn parts(context: &Context, per_unit: usize, most: usize) -> usize {
    (context.units() * per_unit).min(most.max(1))
}

/// A kernel of a processor that cuts `work` into as many parts as the table says, and fetches memory ahead.
pub(super) fn chunked<T: Real>(
    context: &Context,
    op: Op,
    n: usize,
    (file, name): (&'static File, &'static str),
    work: usize,
) -> Launch {
    let [chunks, elements, ..] = numbers::<T>(context, op, n);
    let kernel = ahead(context, Kernel::new(file, name, T::PRECISION), elements);
    Launch { kernel, range: Range::d1(parts(context, chunks, work), 1) }
}

/// A kernel of a GPU with an item for as many rows as the table says.
pub(super) fn rows_gpu<T: Real>(context: &Context, op: Op, rows: usize, kernel: Kernel) -> Launch {
    let [local, per, ..] = numbers::<T>(context, op, rows);
    let kernel = kernel.with_changed(&[("ROWS", per as u64, 1)]);
    Launch { kernel, range: Range::d1(rows.div_ceil(per * local) * local, local) }
}

/// The product by compressed rows on a GPU.
pub(super) fn csr_gpu<T: Real>(context: &Context, rows: usize, product: RowProduct) -> Launch {
    let kernel = |name| Kernel::new(&files::CSR, name, T::PRECISION);
    let Some(op) = product.shared() else {
        return rows_gpu::<T>(context, Op::MvCsr, rows, kernel("mv_csr_row_gpu"));
    };
    let [local, lanes, ..] = numbers::<T>(context, op, rows);
    let kernel = grouped(context, kernel("mv_csr_lanes_gpu").with(&[("LANES", lanes as u64)]), local);
    Launch { kernel, range: Range::d1(rows * lanes, local) }
}

/// The product by compressed rows on a processor, and how many parts it cuts the rows into.
pub(super) fn csr_cpu<T: Real>(context: &Context, rows: usize, cols: usize) -> Launch {
    let mut launch = chunked::<T>(context, Op::MvCsrCpu, rows, (&files::CSR, "mv_csr_cpu"), rows);
    let [_, _, gather, ..] = numbers::<T>(context, Op::MvCsrCpu, rows);
    if gathers_ahead::<T>(context, cols) {
        launch.kernel = launch.kernel.with_changed(&[("GATHER_AHEAD", gather as u64, 0)]);
    }
    launch
}

/// Whether the product by compressed rows on a processor fetches ahead what it gathers of a vector this long.
fn gathers_ahead<T: Real>(context: &Context, cols: usize) -> bool {
    context.fetches_ahead() && cols * size_of::<T>() >= GATHERED_BYTES
}

/// Whether rows reach so far over the vector that it is faster to fetch ahead than to multiply several rows at once.
///
/// # Errors
/// OpenCL errors.
pub(super) fn gathers_far<T: Real>(s: &Structure, offsets: &[u32]) -> Result<bool> {
    if s.nnz == 0 || !gathers_ahead::<T>(s.offset.context(), s.cols) {
        return Ok(false);
    }
    let mut far = 0;
    for k in 0..SAMPLED_ROWS {
        let row = k * s.rows / SAMPLED_ROWS;
        let mut columns = vec![0; (offsets[row + 1] - offsets[row]) as usize];
        s.column.read_range(offsets[row] as usize, &mut columns)?;
        let reach = columns.last().unwrap_or(&0) - columns.first().unwrap_or(&0);
        far += usize::from(reach as usize * size_of::<T>() >= GATHERED_BYTES);
    }
    Ok(2 * far > SAMPLED_ROWS)
}

/// Rows that [`gathers_far`] looks at.
const SAMPLED_ROWS: usize = 64;

/// The blocks of a sparse matrix on a GPU.
pub(super) fn block_shape<T: Real>(context: &Context, rows: usize, nnz: usize) -> BlockShape {
    let [local, most, ..] = numbers::<T>(context, Op::MvBlocks, rows);
    BlockShape::choose(local, most, rows, nnz)
}

/// Items of a work-group of a constant stencil on a GPU, and lines of its tile.
pub(super) fn tile<T: Real>(context: &Context, rows: usize) -> [usize; 2] {
    let [local, lines, ..] = numbers::<T>(context, Op::MvStencil, rows);
    [local, lines]
}

/// A kernel of `stencil.cl` for such tiles.
pub(super) fn tiled(context: &Context, kernel: Kernel, [local, lines]: [usize; 2]) -> Kernel {
    grouped(context, kernel.with_changed(&[("LINES", lines as u64, 4)]), local)
}

/// How a product with several right-hand sides is spread over items.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Many {
    pub(crate) kernel: Kernel,
    /// Items of a work-group, and the rows it has.
    local: usize,
    rows: usize,
    /// Right-hand sides of an item.
    columns: usize,
}

impl Many {
    /// Whole groups for so many rows and right-hand sides.
    pub(crate) fn range(&self, rows: usize, right: usize) -> Range {
        let items = rows.div_ceil(self.rows) * self.local;
        Range::d2([items, right.div_ceil(self.columns)], [self.local, 1])
    }

    /// A kernel of `many.cl` with `lanes` items per row and the parameters of `op`.
    fn new<T: Real>(
        context: &Context,
        op: Op,
        n: usize,
        lanes: usize,
        name: &'static str,
        defines: &[(&'static str, u64)],
    ) -> Many {
        let [local, columns, ..] = numbers::<T>(context, op, n);
        let kernel = Kernel::new(&files::MANY, name, T::PRECISION).with(defines);
        let kernel = grouped(context, kernel.with_changed(&[("COLUMNS", columns as u64, 4)]), local);
        Many { kernel, local, rows: local / lanes, columns }
    }

    /// By compressed rows. `skewed` if they differ much in length.
    pub(super) fn csr<T: Real>(context: &Context, rows: usize, product: RowProduct, skewed: bool) -> Many {
        // NVIDIA H200, 27 points and random columns: 2.6 and 1.07 times the rate of cuSPARSE with 4 items a row.
        let (op, lanes, unroll) = match (context.shape(), product) {
            (Shape::Cpu, _) => (Op::MmCsrCpu, 1, 1),
            (Shape::Gpu, RowProduct::Long) => (Op::MmCsr, 32, 2),
            (Shape::Gpu, _) if skewed => (Op::MmCsr, 32, 2),
            (Shape::Gpu, RowProduct::Short) => (Op::MmCsr, 2, 4),
            (Shape::Gpu, RowProduct::Medium) => (Op::MmCsr, 4, 2),
        };
        Many::new::<T>(context, op, rows, lanes, "mm_csr", &[("LANES", lanes as u64), ("UNROLL", unroll)])
    }

    /// With a pattern of so many points on a GPU.
    pub(super) fn pattern<T: Real>(context: &Context, rows: usize, points: usize, constant: bool) -> Many {
        let points = ("POINTS", points as u64);
        let defines = if constant { &[points, ("CONSTANT", 1)] } else { &[points][..] };
        Many::new::<T>(context, Op::MmDiagonals, rows, 1, "mm_pattern_gpu", defines)
    }

    /// With a band of `width` diagonals.
    fn band<T: Real>(context: &Context, rows: usize, width: usize) -> Many {
        let op = by_shape(context, Op::MmBand, Op::MmBandCpu);
        Many::new::<T>(context, op, rows, 1, "mm_band", unrolled(context, &("DIAGONALS", width as u64)))
    }

    /// With a dense matrix and so many right-hand sides.
    fn dense<T: Real>(context: &Context, rows: usize, cols: usize, right: usize) -> Many {
        let entries = rows * cols;
        if context.shape() == Shape::Cpu {
            return Many::new::<T>(context, Op::MmDenseCpu, entries, 1, "mm_dense_cpu", &[]);
        }
        let op = match right {
            0..=4 => Op::MmDense,
            5..=8 => Op::MmDense8,
            _ => Op::MmDense16,
        };
        let choice = context.choice(op, T::PRECISION, entries);
        // Tensor cores take two neighbours at a time.
        let pairs = rows >= 2 && rows.is_multiple_of(2) && cols.is_multiple_of(2);
        match choice {
            [.., tensor, _] if tensor > 0 && pairs => Many::tensor(choice, T::PRECISION, context.device().tensor_f64),
            [.., tensor, _] if tensor > 0 => {
                let plain = (op.describe().default)(context.device(), T::PRECISION, class(entries));
                Many::panels(plain, T::PRECISION)
            }
            _ => Many::panels(choice, T::PRECISION),
        }
    }

    /// By panels of a dense matrix.
    fn panels([local, panel, per, columns, ..]: Choice, precision: Precision) -> Many {
        let defines = [("LOCAL", local), ("PANEL", panel), ("PER", per), ("COLUMNS", columns)];
        let kernel = Kernel::new(&files::MANY, "mm_dense_gpu", precision).with(&defines.map(|(n, v)| (n, v.into())));
        let [local, per, columns] = [local, per, columns].map(|number| number as usize);
        Many { kernel, local, rows: PANEL_ROWS * per, columns }
    }

    /// By tensor cores of this compute capability; 0 is for tests, on any device.
    pub(crate) fn tensor(
        [local, panel, per, columns, across, _]: Choice,
        precision: Precision,
        capability: u32,
    ) -> Many {
        let shape = [("LOCAL", local), ("PANEL", panel), ("PER", per), ("COLUMNS", columns), ("ACROSS", across)];
        let kernel = Kernel::new(&files::MANY, "mm_dense_tensor", precision);
        let kernel = kernel.with(&shape.map(|(n, v)| (n, v.into()))).with(&[("TENSOR", capability.into())]);
        let [local, per, columns, across] = [local, per, columns, across].map(|number| number as usize);
        Many { kernel, local, rows: 16 * per * across, columns }
    }
}

/// Rows of a work-group of `mm_dense_gpu` for each of an item; `TILE` in `many.cl`.
pub(crate) const PANEL_ROWS: usize = 32;

fn by_shape(context: &Context, gpu: Op, cpu: Op) -> Op {
    match context.shape() {
        Shape::Gpu => gpu,
        Shape::Cpu => cpu,
    }
}

/// Bands of at most so many diagonals have a kernel of their own on a GPU.
const UNROLLED_DIAGONALS: u64 = 32;

/// The define for the diagonals of a band that has a kernel of its own.
fn unrolled<'a>(context: &Context, width: &'a (&'static str, u64)) -> &'a [(&'static str, u64)] {
    match context.shape() == Shape::Gpu && width.1 <= UNROLLED_DIAGONALS {
        true => std::slice::from_ref(width),
        false => &[],
    }
}

/// The products with a band matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BandProducts {
    pub(crate) one: Launch,
    pub(crate) many: Many,
}

impl BandProducts {
    pub(super) fn new<T: Real>(context: &Context, rows: usize, width: usize) -> BandProducts {
        let one = match context.shape() {
            Shape::Cpu => chunked::<T>(context, Op::MvBandCpu, rows, (&files::BAND, "mv_band_cpu"), rows),
            Shape::Gpu => {
                let width = ("DIAGONALS", width as u64);
                let kernel = Kernel::new(&files::BAND, "mv_band_gpu", T::PRECISION);
                rows_gpu::<T>(context, Op::MvBand, rows, kernel.with(unrolled(context, &width)))
            }
        };
        BandProducts { one, many: Many::band::<T>(context, rows, width) }
    }
}

/// The products with a dense matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DenseProducts {
    pub(crate) one: Launch,
    /// Parts of the columns, each with work-groups of its own, and columns of a part; on a GPU.
    pub(crate) parts: usize,
    pub(crate) chunk: usize,
    pub(crate) transposed: Launch,
    /// With up to 4, with 5 to 8, with more right-hand sides.
    many: [Many; 3],
}

impl DenseProducts {
    pub(super) fn new<T: Real>(context: &Context, rows: usize, cols: usize) -> DenseProducts {
        let n = rows * cols;
        let many = [4, 8, 16].map(|right| Many::dense::<T>(context, rows, cols, right));
        let kernel = |name| Kernel::new(&files::DENSE, name, T::PRECISION);
        if context.shape() == Shape::Cpu {
            // Few chunks: their parts of a column are read in one go.
            let one = chunked::<T>(context, Op::MvDenseCpu, n, (&files::DENSE, "mv_dense_cpu"), rows);
            let name = "mv_dense_transposed_cpu";
            let transposed = chunked::<T>(context, Op::MvDenseTransposedCpu, n, (&files::DENSE, name), cols);
            return DenseProducts { one, parts: 1, chunk: cols, transposed, many };
        }
        let [local, most, loads, ..] = numbers::<T>(context, Op::MvDense, n);
        let tile = DenseTile::choose(context.device(), [local, most, loads], rows, cols);
        let at_once = |loads: usize| [("AT_ONCE", loads as u64, 8)];
        let one = kernel("mv_dense_gpu").with(&[("LOCAL", local as u64), ("TILE", tile.rows as u64)]);
        let range = Range::d2([rows.div_ceil(tile.rows) * local, tile.parts], [local, 1]);
        let one = Launch { kernel: one.with_changed(&at_once(loads)), range };
        let [local, loads, ..] = numbers::<T>(context, Op::MvDenseTransposed, n);
        let pairs = u64::from(rows.is_multiple_of(2));
        let transposed = kernel("mv_dense_transposed_gpu").with_changed(&[("PAIRS", pairs, 0)]);
        let transposed = grouped(context, transposed.with_changed(&at_once(loads)), local);
        let transposed = Launch { kernel: transposed, range: Range::d1(cols * local, local) };
        DenseProducts { one, parts: tile.parts, chunk: tile.chunk, transposed, many }
    }

    pub(crate) fn many(&self, right: usize) -> &Many {
        &self.many[match right {
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
        // Half as many rows where less than one and a half groups a unit would be left.
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
