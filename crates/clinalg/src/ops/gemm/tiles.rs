//! The tiles of a product: launch parameters.

use crate::runtime::KernelFamily;
use crate::runtime::kernels::gemm::Program;
use crate::tune::{Choice, Needs, Operation, Parameters};
use crate::{Context, DeviceInfo, Precision, Scalar};

/// How a product is spread over work-groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tiles {
    /// Rows and columns of C of a work-group, depth of a tile, rows and columns of C of an item.
    Registers([usize; 5]),
    /// On tensor cores: rows and columns of C of a work-group, depth of a tile, rows and columns of C of a warp, tiles under way.
    Tensor([usize; 6]),
}

/// Large, medium and small tiles, of which a product on a GPU takes the first that give every compute unit a work-group.
const TILES: Parameters = Parameters {
    family: KernelFamily::Gpu,
    names: &[
        ("rows", "rows of C of a work-group"),
        ("columns", "columns of C of a work-group"),
        ("depth", "columns of op(A) in local memory at a time"),
        ("item_rows", "rows of C of an item; on tensor cores of a warp"),
        ("item_columns", "columns of C of an item; on tensor cores of a warp"),
        ("stages", "tiles under way on tensor cores for double precision, at least 2; 0 without"),
    ],
    needs: |&choice, precision| Tiles::of(choice).needs(precision, false),
    default: |device, precision, _| default(device, precision, false, 0),
};

const COMPLEX: Parameters = Parameters {
    needs: |&choice, precision| Tiles::of(choice).needs(precision, true),
    default: |device, precision, _| default(device, precision, true, 0),
    ..TILES
};

pub(crate) static GEMM: Operation =
    Operation::new("gemm", "C = alpha op(A) op(B) + beta C by large tiles; sizes are elements of C", TILES);
pub(crate) static GEMM_MEDIUM: Operation = Operation::new(
    "gemm_medium",
    "the same by medium tiles, where large ones leave compute units idle",
    Parameters { default: |device, precision, _| default(device, precision, false, 1), ..TILES },
);
pub(crate) static GEMM_SMALL: Operation = Operation::new(
    "gemm_small",
    "the same by small tiles, where medium ones leave compute units idle",
    Parameters { default: |device, precision, _| default(device, precision, false, 2), ..TILES },
);
pub(crate) static GEMM_COMPLEX: Operation =
    Operation::new("gemm_complex", "complex products of matrices by large tiles", COMPLEX);
pub(crate) static GEMM_MEDIUM_COMPLEX: Operation = Operation::new(
    "gemm_medium_complex",
    "the same by medium tiles",
    Parameters { default: |device, precision, _| default(device, precision, true, 1), ..COMPLEX },
);
pub(crate) static GEMM_SMALL_COMPLEX: Operation = Operation::new(
    "gemm_small_complex",
    "the same by small tiles",
    Parameters { default: |device, precision, _| default(device, precision, true, 2), ..COMPLEX },
);

/// Tiles of a CPU: a part of A stays in the second cache, a panel of B in the first.
const PACKED: Parameters = Parameters {
    family: KernelFamily::Cpu,
    names: &[
        ("tile", "rows and columns of C of an item, a multiple of 16"),
        ("depth", "columns of op(A) that are packed at a time"),
    ],
    needs: |&[tile, depth, ..], _| {
        let sound = tile.is_multiple_of(16) && (16..=512).contains(&tile) && (1..=4096).contains(&depth);
        sound.then_some(Needs { group: 1, local_bytes: 0, tensor: false })
    },
    default: |_, _, _| [64, 256, 0, 0, 0, 0],
};

pub(crate) static GEMM_CPU: Operation =
    Operation::new("gemm_cpu", "C = alpha op(A) op(B) + beta C on a CPU; sizes are elements of C", PACKED);
pub(crate) static GEMM_CPU_COMPLEX: Operation =
    Operation::new("gemm_cpu_complex", "the same of complex numbers", PACKED);

/// Large, medium and small tiles of such numbers.
fn ranks<T: Scalar>() -> [&'static Operation; 3] {
    match T::IS_COMPLEX {
        false => [&GEMM, &GEMM_MEDIUM, &GEMM_SMALL],
        true => [&GEMM_COMPLEX, &GEMM_MEDIUM_COMPLEX, &GEMM_SMALL_COMPLEX],
    }
}

/// Rows and columns of C of an item of a CPU, and columns of op(A) that are packed at a time.
pub(super) fn packed<T: Scalar>(context: &Context, m: usize, n: usize) -> [usize; 2] {
    let op = if T::IS_COMPLEX { &GEMM_CPU_COMPLEX } else { &GEMM_CPU };
    let [tile, depth, ..] = context.choice(op, T::PRECISION, m * n);
    [tile as usize, depth as usize]
}

fn default(device: &DeviceInfo, precision: Precision, complex: bool, rank: usize) -> Choice {
    let candidates: &[Choice] = match (precision, complex) {
        (Precision::F64, false) if device.tensor_f64 > 0 => &TENSOR,
        (Precision::F32, false) => &SINGLE,
        (Precision::F64, true) if device.tensor_f64 > 0 => &TENSOR_COMPLEX,
        (Precision::F64, true) => &DOUBLE_COMPLEX,
        _ => &DOUBLE,
    };
    let operation = if complex { &GEMM_COMPLEX } else { &GEMM };
    let fitting: Vec<&Choice> = candidates.iter().filter(|choice| operation.fits(device, precision, choice)).collect();
    fitting.get(rank).or(fitting.last()).map_or(LEAST, |choice| **choice)
}

impl Tiles {
    /// The tiles for a C of `m` x `n` and the depth `k`, and the work-groups for each that share the depth.
    ///
    /// The largest tiles that give every compute unit a work-group. Where C is narrow and the depth large, tiles that C fills half count
    /// with the parts of the depth. Where the depth is small, most of the time goes into C, and large tiles on tensor cores leave no
    /// work-groups that compute while others read and write.
    pub(super) fn choose<T: Scalar>(context: &Context, [m, n]: [usize; 2], k: usize) -> (Tiles, usize) {
        let [large, medium, small] = ranks::<T>().map(|op| Tiles::of(context.choice(op, T::PRECISION, m * n)));
        let is_narrow = k >= 16 * m.min(n);
        let fits = |tiles: &Tiles| {
            let [tm, tn] = tiles.size();
            let filled = 2 * m > tm && 2 * n > tn;
            let parts = if is_narrow && filled { k / LEAST_DEPTH } else { 1 };
            let shallow = k <= SHALLOW && *tiles == large && matches!(tiles, Tiles::Tensor(_));
            tiles.groups([m, n]) * parts.max(1) >= context.units() && (filled || !is_narrow) && !shallow
        };
        let tiles = [large, medium].into_iter().find(fits).unwrap_or(small);
        let groups = tiles.groups([m, n]);
        let parts = GROUPS_PER_UNIT * context.units() / groups.max(1);
        (tiles, parts.min(k / LEAST_DEPTH).max(1))
    }

    pub(crate) fn of(choice: Choice) -> Tiles {
        let [tm, tn, bk, rm, rn, stages] = choice.map(|value| value as usize);
        if stages == 0 { Tiles::Registers([tm, tn, bk, rm, rn]) } else { Tiles::Tensor([tm, tn, bk, rm, rn, stages]) }
    }

    /// What a work-group asks for, whose items read 16 bytes at a time.
    fn needs(&self, precision: Precision, complex: bool) -> Option<Needs> {
        let tensor = matches!(self, Tiles::Tensor(_));
        let element = precision.bytes() * if complex { 2 } else { 1 };
        let sound = self.is_sound(16 / element) && (!tensor || precision == Precision::F64);
        sound.then(|| Needs { group: self.items(), local_bytes: self.local_bytes(element), tensor })
    }

    /// Whether a kernel can be compiled for them.
    fn is_sound(&self, chunk: usize) -> bool {
        let divides = |part: usize, whole: usize| part > 0 && whole.is_multiple_of(part);
        match *self {
            Tiles::Registers([tm, tn, bk, rm, rn]) => {
                let fields = (1..1000).contains(&tm) && (1..1000).contains(&tn) && (1..=64).contains(&bk);
                fields
                    && divides(rm, tm)
                    && divides(rn, tn)
                    && divides(chunk, rm)
                    && divides(chunk, rn)
                    && rm * rn <= 64
            }
            Tiles::Tensor([tm, tn, bk, wm, wn, stages]) => {
                let fields = (1..1000).contains(&tm) && (1..1000).contains(&tn);
                let fields = fields && (8..=64).contains(&bk) && divides(8, bk) && (2..=8).contains(&stages);
                fields
                    && divides(wm, tm)
                    && divides(wn, tn)
                    && divides(16, wm)
                    && divides(16, wn)
                    && wm * wn <= 64 * 64
                    && divides(self.items(), tm * bk / 2)
                    && divides(self.items(), tn * bk / 2)
            }
        }
    }

    fn local_bytes(&self, element: usize) -> usize {
        match *self {
            Tiles::Registers([tm, tn, bk, ..]) => 2 * bk * (tm + tn + 2 * (16 / element)) * element,
            Tiles::Tensor([tm, tn, bk, _, _, stages]) => stages * bk * (tm + tn) * element,
        }
    }

    /// Columns of op(A) in local memory at a time.
    pub(super) fn depth(&self) -> usize {
        match *self {
            Tiles::Registers([_, _, bk, ..]) | Tiles::Tensor([_, _, bk, ..]) => bk,
        }
    }

    /// Tiles of a C of `m` x `n`.
    pub(super) fn groups(&self, [m, n]: [usize; 2]) -> usize {
        let [tm, tn] = self.size();
        m.div_ceil(tm) * n.div_ceil(tn)
    }

    /// Rows and columns of C of a work-group.
    pub(super) fn size(&self) -> [usize; 2] {
        match *self {
            Tiles::Registers([tm, tn, ..]) | Tiles::Tensor([tm, tn, ..]) => [tm, tn],
        }
    }

    /// The compilation of `gemm.cl` for them.
    pub(super) fn program<T: Scalar>(&self) -> Program<T> {
        let both = |rows: usize, columns: usize| (1000 * rows + columns) as u64;
        let [tm, tn] = self.size();
        let program = Program::new().tile(both(tm, tn));
        match *self {
            Tiles::Registers([_, _, bk, rm, rn]) => program.bk(bk as u64).item(both(rm, rn)),
            Tiles::Tensor([_, _, bk, wm, wn, stages]) => program.bk(bk as u64).warp(both(wm, wn)).stages(stages as u64),
        }
    }

    /// Items of a work-group.
    pub(super) fn items(&self) -> usize {
        match *self {
            Tiles::Registers([tm, tn, _, rm, rn]) => tm / rm * (tn / rn),
            Tiles::Tensor([tm, tn, _, wm, wn, _]) => 32 * (tm / wm) * (tn / wn),
        }
    }
}

/// Work-groups of a compute unit where the depth is shared, and the least depth of each.
const GROUPS_PER_UNIT: usize = 2;
const LEAST_DEPTH: usize = 256;
/// Depths at which large tiles on tensor cores are slower than medium ones.
// NVIDIA H200, C of 8192 x 8192, depth 64: 1.0 and 0.68 ms.
const SHALLOW: usize = 128;

/// Single precision.
const SINGLE: [Choice; 3] = [[128, 128, 8, 8, 8, 0], [64, 64, 8, 4, 4, 0], [32, 32, 16, 4, 4, 0]];
/// Double precision, and single precision of complex numbers.
const DOUBLE: [Choice; 3] = [[128, 64, 8, 8, 4, 0], [64, 64, 8, 4, 4, 0], [32, 32, 16, 4, 2, 0]];
/// Double precision of complex numbers.
const DOUBLE_COMPLEX: [Choice; 2] = [[64, 64, 4, 4, 4, 0], [32, 32, 8, 2, 2, 0]];
/// Tensor cores.
// NVIDIA H200, n = 8192: 45.7, 44.4 and 35.2 Tflop/s; cuBLAS 52.
const TENSOR: [Choice; 3] = [[128, 128, 8, 32, 64, 3], [128, 64, 8, 32, 32, 4], [64, 64, 16, 32, 16, 3]];
/// Tensor cores and complex numbers.
// NVIDIA H200, n = 4800: 41.6, 40.3 and 36.3 Tflop/s; in registers 19.9. Warps of 16 x 64 take 45.1, but spill.
const TENSOR_COMPLEX: [Choice; 3] = [[64, 64, 8, 32, 16, 3], [64, 32, 8, 32, 16, 3], [32, 32, 8, 16, 16, 3]];
/// For devices with few items in a work-group or little local memory.
const LEAST: Choice = [8, 8, 4, 4, 4, 0];
