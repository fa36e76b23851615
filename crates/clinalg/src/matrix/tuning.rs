//! The launch parameters of the products: their keys, what they may be, and defaults.
//!
//! Matrices take their parameters over when they are uploaded or first multiplied.

use crate::runtime::KernelFamily;
use crate::tune::{self, CHUNKS, CHUNKS_NAME, Choice, Needs, Operation, Parameters, chunks_needs};
use crate::{DeviceInfo, Precision};

const LOCAL: (&str, &str) = ("local", "items of a work-group, a power of two");

/// The needs of groups of a power of two of items with this many numbers of local memory per item, if `sound`.
fn groups(local: u32, numbers: u32, precision: Precision, sound: bool) -> Option<Needs> {
    let bytes = local as usize * numbers as usize * precision.bytes();
    (sound && local.is_power_of_two()).then_some(Needs { group: local as usize, local_bytes: bytes, tensor: false })
}

/// Rows by one item each.
const ROWS: Parameters = Parameters {
    family: KernelFamily::Gpu,
    names: &[LOCAL, ("rows", "rows of an item")],
    needs: |&[local, rows, ..], precision| groups(local, 0, precision, (1..=64).contains(&rows)),
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 1, 0, 0, 0, 0],
};

/// Rows that items share; the width is that of the rows tried.
const LANES: Parameters = Parameters {
    names: &[LOCAL, ("lanes", "items per row, a power of two")],
    needs: |&[local, lanes, ..], precision| {
        groups(local, 1, precision, lanes.is_power_of_two() && (2..=local).contains(&lanes))
    },
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 8, 0, 0, 0, 0],
    ..ROWS
};

const LONG_LANES: Parameters = Parameters {
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 32, 0, 0, 0, 0],
    ..LANES
};

/// Blocks of entries. NVIDIA H200: with 4 to 7 entries per item enough loads and enough groups are under way, at 16 a third of the rate.
/// NVIDIA H100, GB/s with 128, 256 and 512 items, where fewer blocks at a time find more of x in the L1 cache: rows of 3 that gather nearby 1954, 2055,
/// 2166; dense rows 2039, 2038, 2328; power law 1081, 1089, 1096; R-MAT 1361, 1375, 1368.
const BLOCKS: Parameters = Parameters {
    names: &[LOCAL, ("entries", "most entries of an item")],
    needs: |&[local, entries, ..], precision| {
        // Products (with gaps) or the partial sums of two dot products, whichever is larger, and the runs.
        let products = 2.max(entries + entries.div_ceil(16));
        groups(local, products + entries.div_ceil(8), precision, (1..=32).contains(&entries))
    },
    default: |device, precision, _| [tune::local_size(device, 512, 10 * precision.bytes()), 7, 0, 0, 0, 0],
    ..ROWS
};

/// Tiles of a constant stencil.
const TILES: Parameters = Parameters {
    names: &[LOCAL, ("lines", "lines of a tile, rows of an item")],
    needs: |&[local, lines, ..], precision| groups(local, 1, precision, (1..=16).contains(&lines)),
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 4, 0, 0, 0, 0],
    ..ROWS
};

/// The dense product (NVIDIA H200, f64: 8192 and 16384 rows and columns at 1.02 times the rate of cuBLAS with 1024 items, 0.99
/// times with 128 to 512).
const DENSE: Parameters = Parameters {
    names: &[
        LOCAL,
        ("rows", "most rows of a work-group, a power of two"),
        ("loads", "entries that an item has under way"),
    ],
    needs: |&[local, rows, loads, ..], precision| {
        let sound = rows.is_power_of_two() && (32.min(local)..=local).contains(&rows) && (1..=32).contains(&loads);
        groups(local, 1, precision, sound)
    },
    default: |device, precision, _| {
        let wanted = if device.max_work_group >= 1024 { 1024 } else { 256 };
        let local = tune::local_size(device, wanted, precision.bytes());
        [local, local.min(64), 8, 0, 0, 0]
    },
    ..ROWS
};

const TRANSPOSED: Parameters = Parameters {
    names: &[LOCAL, ("loads", "entries that an item has under way")],
    needs: |&[local, loads, ..], precision| groups(local, 1, precision, (1..=32).contains(&loads)),
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 8, 0, 0, 0, 0],
    ..ROWS
};

/// Several right-hand sides.
const MULTI: Parameters = Parameters {
    names: &[LOCAL, ("columns", "right-hand sides of an item")],
    // With several items per row, up to 32, their sums in local memory.
    needs: |&[local, columns, ..], precision| {
        groups(local, columns, precision, local >= 32 && (1..=16).contains(&columns))
    },
    default: |device, precision, _| [tune::local_size(device, 256, 4 * precision.bytes()), 4, 0, 0, 0, 0],
    ..ROWS
};

const MULTI_CPU: Parameters = Parameters { family: KernelFamily::Cpu, ..MULTI };

const MULTI_PATTERN: Parameters = Parameters {
    default: |device, precision, _| [tune::local_size(device, 128, 4 * precision.bytes()), 4, 0, 0, 0, 0],
    ..MULTI
};

/// Rows of a work-group of `mm_dense_gpu` for each of an item; `TILE` in `multivector.cl`.
pub(crate) const PANEL_ROWS: usize = 32;

/// Panels of a dense matrix with several right-hand sides (NVIDIA H200, f64, 8192, rates over that of cuBLAS with 4, 8 and 16:
/// 1.15, 0.76 and 0.53). With tensor cores, used from compute capability 9.0 and 2^20 entries on, 1.18, 1.19 and 1.14
/// (NVIDIA H100, times of the kernels).
const PANELS: Parameters = Parameters {
    names: &[
        LOCAL,
        ("panel", "columns of the matrix whose part of the right-hand sides is in local memory, a power of two"),
        ("rows", "rows of an item; with tensor cores tiles of 16 rows of a warp"),
        ("columns", "right-hand sides of an item, even; with tensor cores of a work-group, a multiple of 8"),
        ("tensor", "warps side by side that take tensor cores for double precision, 0 for none"),
    ],
    needs: |&[local, panel, rows, columns, tensor, ..], precision| {
        if tensor > 0 {
            return on_tensor_cores([local, panel, rows, columns, tensor], precision);
        }
        let depth = panel.saturating_mul(PANEL_ROWS as u32) / local.max(1);
        let sound = local >= PANEL_ROWS as u32
            && panel.is_power_of_two()
            && panel <= local
            && (1..=32).contains(&depth)
            && (1..=4).contains(&rows)
            && columns.is_multiple_of(2)
            && (2..=16).contains(&columns);
        groups(local, columns, precision, sound)
    },
    default: |device, precision, class| fastest_panel(device, precision, class, 4),
    ..ROWS
};

const PANELS_8: Parameters =
    Parameters { default: |device, precision, class| fastest_panel(device, precision, class, 8), ..PANELS };

const PANELS_16: Parameters =
    Parameters { default: |device, precision, class| fastest_panel(device, precision, class, 16), ..PANELS };

/// What `mm_dense_tensor` in `multivector.cl` asks for.
fn on_tensor_cores([local, panel, rows, columns, tensor]: [u32; 5], precision: Precision) -> Option<Needs> {
    let warps = local / 32;
    let sound = precision == Precision::F64
        && local.is_power_of_two()
        && tensor.is_power_of_two()
        && tensor <= warps
        && (1..=4).contains(&rows)
        && (columns == 8 || columns == 16);
    // A panel has one, two or four steps of 16 columns for each warp that shares rows.
    let steps = |step: u32| panel == step || panel == 2 * step || panel == 4 * step;
    let sound = sound && steps(16 * (warps / tensor));
    sound.then(|| Needs {
        group: local as usize,
        local_bytes: (16 * rows * tensor * columns) as usize * precision.bytes(),
        tensor: true,
    })
}

/// Panels for 4, 8 or 16 right-hand sides, on tensor cores where these are faster; they take 8 or 16.
fn fastest_panel(device: &DeviceInfo, precision: Precision, class: usize, columns: usize) -> Choice {
    let on_tensor_cores = tensor_panel(device, precision, class, columns.max(8) as u32);
    on_tensor_cores.unwrap_or_else(|| panel(device, precision, columns))
}

/// Panels without tensor cores for 4, 8 or 16 right-hand sides.
pub(super) fn panel(device: &DeviceInfo, precision: Precision, columns: usize) -> Choice {
    let (wanted, rows) = if columns == 16 { (256, 2) } else { (512, 1) };
    let wanted = if device.max_work_group >= wanted { wanted } else { 256 };
    let columns = columns.min(8);
    let local = tune::local_size(device, wanted, columns * precision.bytes());
    [local, (local / 4).max(64).min(local), rows, columns as u32, 0, 0]
}

/// The first compute capability, times ten, whose tensor cores take 16 rows of doubles at once.
const TALL_TILES: u32 = 90;

/// Panels on tensor cores for 8 or 16 right-hand sides, where they are the faster ones. (NVIDIA H100, `benches/results/2026-11-26-h100-dense.txt`: with two
/// steps of a panel under way, times depend neither on the text of the loop nor much on the shape; with one, they differ by up to 38 %.)
fn tensor_panel(device: &DeviceInfo, precision: Precision, class: usize, columns: u32) -> Option<Choice> {
    let fits = device.tensor_f64 >= TALL_TILES && precision == Precision::F64 && class >= 20;
    fits.then_some(match (columns, class) {
        (8, ..26) => [256, 128, 1, 8, 1, 0],
        (8, _) => [256, 128, 2, 8, 2, 0],
        (_, ..24) => [256, 256, 1, 16, 1, 0],
        _ => [512, 128, 1, 16, 2, 0],
    })
}

const AHEAD: (&str, &str) =
    ("ahead", "elements ahead of which memory is fetched, where the compiler takes the hint; 0 for none");

/// Parts of the work of a CPU, with prefetched memory (AMD EPYC: 1.2 times as fast; 128 to 1024 elements make no difference
/// beyond 3 %).
const CHUNKS_AHEAD: Parameters = Parameters {
    names: &[CHUNKS_NAME, AHEAD],
    needs: |choice, precision| chunks_needs(choice, precision).filter(|_| choice[1] <= 1 << 16),
    default: |_, _, _| [8, 512, 0, 0, 0, 0],
    ..CHUNKS
};

/// Rows of a CPU.
const CHUNKS_GATHERED: Parameters = Parameters {
    names: &[
        CHUNKS_NAME,
        AHEAD,
        ("gather", "entries ahead of which elements of a long x are fetched, likewise; 0 for none"),
    ],
    needs: |choice, precision| chunks_needs(choice, precision).filter(|_| choice[1].max(choice[2]) <= 1 << 16),
    default: |_, _, _| [8, 512, 128, 0, 0, 0],
    ..CHUNKS
};

/// Few parts of the rows: those of a column are read in one go.
const DENSE_CHUNKS: Parameters = Parameters { default: |_, _, _| [1, 512, 0, 0, 0, 0], ..CHUNKS_AHEAD };

pub(crate) static MV_CSR: Operation = Operation::new("mv_csr", "y = A x by compressed rows, an item per row", ROWS);
pub(crate) static MV_CSR_LANES: Operation =
    Operation::new("mv_csr_lanes", "the same with rows of 13 to 64 entries, which items share", LANES);
pub(crate) static MV_CSR_LONG: Operation =
    Operation::new("mv_csr_long", "the same with longer rows, or some that are far longer", LONG_LANES);
pub(crate) static MV_CSR_CPU: Operation =
    Operation::new("mv_csr_cpu", "y = A x by compressed rows on a CPU", CHUNKS_GATHERED);
pub(crate) static MV_NNZ_BALANCED: Operation = Operation::new("mv_nnz_balanced", "y = A x by nnz-balanced CSR", BLOCKS);
pub(crate) static MV_SELL_CPU: Operation = Operation::new("mv_sell_cpu", "y = A x by SELL-8 on a CPU", CHUNKS_AHEAD);
pub(crate) static MV_DIA: Operation = Operation::new("mv_dia", "y = A x in the diagonal format (DIA)", ROWS);
pub(crate) static MV_DIA_CPU: Operation = Operation::new("mv_dia_cpu", "the same on a CPU", CHUNKS_AHEAD);
pub(crate) static MV_RUNS_CPU: Operation =
    Operation::new("mv_runs_cpu", "y = A x by runs of rows on a CPU", CHUNKS_AHEAD);
pub(crate) static MV_STENCIL: Operation = Operation::new("mv_stencil", "y = A x with a constant stencil", TILES);
pub(crate) static MV_STENCIL_CPU: Operation = Operation::new("mv_stencil_cpu", "the same on a CPU", CHUNKS);
pub(crate) static MV_BAND: Operation = Operation::new("mv_band", "y = A x with a band matrix", ROWS);
pub(crate) static MV_BAND_CPU: Operation = Operation::new("mv_band_cpu", "the same on a CPU", CHUNKS);
pub(crate) static MV_DENSE: Operation = Operation::new("mv_dense", "y = A x with a dense matrix", DENSE);
pub(crate) static MV_DENSE_CPU: Operation = Operation::new("mv_dense_cpu", "the same on a CPU", DENSE_CHUNKS);
pub(crate) static MV_DENSE_TRANSPOSED: Operation =
    Operation::new("mv_dense_transposed", "y = A'x with a dense matrix", TRANSPOSED);
pub(crate) static MV_DENSE_TRANSPOSED_CPU: Operation =
    Operation::new("mv_dense_transposed_cpu", "the same on a CPU", CHUNKS);
pub(crate) static MM_CSR: Operation =
    Operation::new("mm_csr", "Y = A X by compressed rows, several right-hand sides", MULTI);
pub(crate) static MM_CSR_CPU: Operation = Operation::new("mm_csr_cpu", "the same on a CPU", MULTI_CPU);
pub(crate) static MM_DIA: Operation =
    Operation::new("mm_dia", "Y = A X in the diagonal format (DIA) or a constant stencil", MULTI_PATTERN);
pub(crate) static MM_BAND: Operation = Operation::new("mm_band", "Y = A X with a band matrix", MULTI);
pub(crate) static MM_BAND_CPU: Operation = Operation::new("mm_band_cpu", "the same on a CPU", MULTI_CPU);
pub(crate) static MM_DENSE: Operation =
    Operation::new("mm_dense", "Y = A X with a dense matrix, up to 4 right-hand sides", PANELS);
pub(crate) static MM_DENSE_8: Operation =
    Operation::new("mm_dense_8", "the same with 5 to 8 right-hand sides", PANELS_8);
pub(crate) static MM_DENSE_16: Operation =
    Operation::new("mm_dense_16", "the same with more right-hand sides", PANELS_16);
pub(crate) static MM_DENSE_CPU: Operation =
    Operation::new("mm_dense_cpu", "Y = A X with a dense matrix on a CPU", MULTI_CPU);
