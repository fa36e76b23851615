//! The launch parameters of the products, what they may be, and the matrices on which `clinalg tune` tries them.
//!
//! Matrices take their parameters over when they are uploaded or first multiplied; a trial makes them do so again.

use crate::matrix::{Band, Csr, Dense, Format, PANEL_ROWS, Vector};
use crate::ops::DotParts;
use crate::ops::product::{Many, Operator, Transposed};
use crate::reference::{BandParts, CsrParts, dense};
use crate::runtime::Shape;
use crate::tune::{self, Choice, Needs, Op, Operation, Trial, both_precisions, chunks_needs};
use crate::{Context, DeviceInfo, Precision, Real, Result};

/// A product with a matrix of its own.
struct Case<T: Real, A> {
    a: A,
    rows: usize,
    cols: usize,
    /// Right-hand sides.
    right: usize,
    /// Bytes that a product reads of the matrix.
    bytes: usize,
    /// Makes the matrix take over the parameters in force.
    renew: fn(&mut A) -> Result<()>,
    /// Y = alpha A X + beta Y.
    product: Product<T, A>,
    /// A x for a column of X, by plain code.
    reference: Reference<T>,
}

type Reference<T> = Box<dyn Fn(&[T]) -> Vec<T>>;

type Product<T, A> = fn(T, &A, &Dense<T>, T, &mut Dense<T>) -> Result<()>;

fn one<T: Real, A: Operator<T>>(alpha: T, a: &A, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
    a.apply(alpha, x.as_vector(), beta, y.as_vector_mut())
}

fn transposed<T: Real>(alpha: T, a: &Dense<T>, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
    a.apply_transposed(alpha, x.as_vector(), beta, y.as_vector_mut())
}

fn many<T: Real, A: Many<T>>(alpha: T, a: &A, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
    a.apply_many(alpha, x, beta, y)
}

impl<T: Real, A: 'static> Case<T, A> {
    /// The same with several right-hand sides.
    fn with(self, right: usize) -> Case<T, A>
    where
        A: Many<T>,
    {
        Case { right, product: many, ..self }
    }

    /// Compares A X and 2 A X + A X with the reference: whole numbers, so that the order of the sums does not matter.
    fn check(self, context: &Context) -> Result<Option<String>> {
        let x = tune::whole_numbers::<T>(self.cols * self.right, 1);
        let columns = (0..self.right).map(|k| (self.reference)(&x[k * self.cols..(k + 1) * self.cols]));
        let want: Vec<T> = columns.flatten().collect();
        let three: Vec<T> = want.iter().map(|&v| v * T::of(3.0)).collect();
        let x = Dense::from_column_major(context, self.cols, self.right, &x)?;
        let mut y = Dense::from_column_major(context, self.rows, self.right, &vec![T::nan(); want.len()])?;
        (self.product)(T::one(), &self.a, &x, T::zero(), &mut y)?;
        if let Some(wrong) = tune::first_difference(&y.to_column_major()?, &want) {
            return Ok(Some(wrong));
        }
        (self.product)(T::of(2.0), &self.a, &x, T::one(), &mut y)?;
        Ok(tune::first_difference(&y.to_column_major()?, &three))
    }

    fn trial(self, context: &Context, op: Op, n: usize) -> Result<Trial> {
        let Case { mut a, rows, cols, right, bytes, renew, product, .. } = self;
        let x = Dense::from_column_major(context, cols, right, &vec![T::one(); cols * right])?;
        let mut y = Dense::zeros(context, rows, right)?;
        let context = context.clone();
        let mut taken = None;
        let run = move || {
            let now = context.choice(op, T::PRECISION, n);
            if taken != Some(now) {
                renew(&mut a)?;
                taken = Some(now);
            }
            product(T::one(), &a, &x, T::zero(), &mut y)
        };
        let bytes = bytes + right * (rows + cols) * size_of::<T>();
        Ok(Trial { bytes: bytes as u64, run: Box::new(run) })
    }
}

/// Rows of a matrix that a format needs to be taken.
const FEWEST_ROWS: usize = 1024;

/// The 5-point stencil on a square of about `n` points, with whole numbers.
pub(crate) fn stencil<T: Real>(n: usize) -> Result<CsrParts<T>> {
    let side = (n as f64).sqrt() as usize;
    crate::reference::grid2::poisson5_interior::<T>(side.max(1) + 2).map(|mut a| {
        let unit = a.values.iter().fold(T::max_value(), |m, v| m.min(v.abs()));
        a.values.iter_mut().for_each(|v| *v /= unit);
        a
    })
}

/// The same positions with values that differ.
fn varied<T: Real>(n: usize) -> Result<CsrParts<T>> {
    let a = stencil::<T>(n)?;
    Ok(CsrParts { values: tune::whole_numbers(a.values.len(), 2), ..a })
}

/// A square matrix with `width` entries in every row, or as many as there are columns, far from each other.
fn scattered<T: Real>(rows: usize, width: usize) -> CsrParts<T> {
    let width = width.min(rows);
    let mut indices = Vec::with_capacity(rows * width);
    for i in 0..rows {
        // A start without a pattern; equal steps from there are different columns.
        let start = ((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as usize % rows;
        let first = indices.len();
        indices.extend((0..width).map(|k| (start + k * (rows / width)) % rows));
        indices[first..].sort_unstable();
    }
    let values = tune::whole_numbers(rows * width, 3);
    CsrParts { rows, cols: rows, offsets: (0..=rows).map(|i| i * width).collect(), indices, values }
}

/// A matrix whose rows come in runs of 64, in which the columns move on by one, without a pattern of all rows.
fn in_runs<T: Real>(rows: usize) -> CsrParts<T> {
    let row = |i: usize| {
        let run = i / 64;
        [0, 1 + run % 41, 50 + run % 43, 100 + run % 37, 150 + run % 47].map(|distance| i + distance)
    };
    let values = tune::whole_numbers(5 * rows, 4);
    let offsets = (0..=rows).map(|i| 5 * i).collect();
    CsrParts { rows, cols: rows + 200, offsets, indices: (0..rows).flat_map(row).collect(), values }
}

/// The product with a sparse matrix in a format.
fn sparse<T: Real>(context: &Context, parts: CsrParts<T>, format: Format) -> Result<Case<T, Csr<T>>> {
    let mut a = Csr::from_parts(context, &parts)?;
    a.set_format(Some(format))?;
    let (rows, cols, entries) = (parts.rows, parts.cols, parts.values.len());
    let bytes = match format {
        Format::Stencil => 0,
        Format::Diagonals => entries * size_of::<T>(),
        _ => entries * (size_of::<T>() + 4) + 4 * rows,
    };
    let reference = move |x: &[T]| {
        let mut y = vec![T::zero(); parts.rows];
        parts.mv(T::one(), x, T::zero(), &mut y);
        y
    };
    let renew = |a: &mut Csr<T>| a.set_format(Some(a.format()));
    Ok(Case { a, rows, cols, right: 1, bytes, renew, product: one, reference: Box::new(reference) })
}

fn short_rows<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, stencil(n)?, Format::Rows)
}

fn medium_rows<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, scattered(n, 27), Format::Rows)
}

fn long_rows<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, scattered(n, 200), Format::Rows)
}

fn blocks<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, scattered(n, 16), Format::Blocks)
}

fn diagonals<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, varied(n.max(FEWEST_ROWS))?, Format::Diagonals)
}

fn constant<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, stencil(n.max(FEWEST_ROWS))?, Format::Stencil)
}

fn runs<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, in_runs(n.max(FEWEST_ROWS)), Format::Diagonals)
}

/// Sub- and superdiagonals of the band matrix.
const BAND: usize = 8;

fn band<T: Real>(context: &Context, rows: usize) -> Result<Case<T, Band<T>>> {
    let mut parts = BandParts::zeros(rows, rows, BAND, BAND)?;
    let values = tune::whole_numbers::<T>(parts.data.len(), 5);
    for (k, value) in values.into_iter().enumerate() {
        let (d, i) = (k / rows, k % rows);
        if (BAND..BAND + rows).contains(&(i + d)) {
            parts.data[k] = value;
        }
    }
    let a = Band::from_parts(context, &parts)?;
    let bytes = parts.data.len() * size_of::<T>();
    let reference = move |x: &[T]| {
        let mut y = vec![T::zero(); rows];
        parts.mv(T::one(), x, T::zero(), &mut y);
        y
    };
    let renew = |a: &mut Band<T>| {
        a.forget_products();
        Ok(())
    };
    Ok(Case { a, rows, cols: rows, right: 1, bytes, renew, product: one, reference: Box::new(reference) })
}

/// About `n` entries.
fn full<T: Real>(context: &Context, n: usize) -> Result<Case<T, Dense<T>>> {
    let rows = ((n as f64).sqrt() as usize).max(1);
    let cols = (n / rows).max(1);
    let values = tune::whole_numbers::<T>(rows * cols, 6);
    let a = Dense::from_column_major(context, rows, cols, &values)?;
    let reference = move |x: &[T]| {
        let mut y = vec![T::zero(); rows];
        dense::mv(T::one(), &values, rows, cols, x, T::zero(), &mut y);
        y
    };
    let renew = |a: &mut Dense<T>| {
        a.forget_products();
        Ok(())
    };
    let bytes = rows * cols * size_of::<T>();
    Ok(Case { a, rows, cols, right: 1, bytes, renew, product: one, reference: Box::new(reference) })
}

fn full_transposed<T: Real>(context: &Context, n: usize) -> Result<Case<T, Dense<T>>> {
    let case = full::<T>(context, n)?;
    let (rows, cols) = (case.rows, case.cols);
    let values = case.a.to_column_major()?;
    let reference = move |x: &[T]| {
        let mut y = vec![T::zero(); cols];
        dense::mv_transposed(T::one(), &values, rows, cols, x, T::zero(), &mut y);
        y
    };
    Ok(Case { rows: cols, cols: rows, product: transposed, reference: Box::new(reference), ..case })
}

fn many_medium_rows<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    Ok(medium_rows(context, n)?.with(4))
}

fn many_diagonals<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    Ok(diagonals(context, n)?.with(4))
}

fn many_band<T: Real>(context: &Context, n: usize) -> Result<Case<T, Band<T>>> {
    Ok(band(context, n)?.with(4))
}

fn full_with<T: Real, const RIGHT: usize>(context: &Context, n: usize) -> Result<Case<T, Dense<T>>> {
    Ok(full(context, n)?.with(RIGHT))
}

/// Most rows or entries in a comparison with the reference: long rows make millions of entries.
const MOST_CHECKED: usize = 20_011;

/// An operation tried on a case, with what else it has in common with others.
macro_rules! product {
    ($op:ident, $name:literal, $case:ident $(<$right:literal>)?, $template:expr, $about:literal) => {
        Operation {
            name: $name,
            about: $about,
            check: |context, precision, n| match precision {
                Precision::F32 => $case::<f32 $(, $right)?>(context, n.min(MOST_CHECKED))?.check(context),
                Precision::F64 => $case::<f64 $(, $right)?>(context, n.min(MOST_CHECKED))?.check(context),
            },
            trial: |context, precision, n| match precision {
                Precision::F32 => $case::<f32 $(, $right)?>(context, n)?.trial(context, Op::$op, n),
                Precision::F64 => $case::<f64 $(, $right)?>(context, n)?.trial(context, Op::$op, n),
            },
            ..$template
        }
    };
}

const LOCAL: (&str, &str) = ("local", "items of a work-group, a power of two");

const LOCALS: [u32; 5] = [64, 128, 256, 512, 1024];

/// All combinations of work-group sizes and another parameter.
fn pairs(locals: &[u32], others: &[u32]) -> Vec<Choice> {
    locals.iter().flat_map(|&local| others.iter().map(move |&other| [local, other, 0, 0, 0, 0])).collect()
}

/// What groups of a power of two of items ask for that have so many numbers of local memory per item, if `sound`.
fn groups(local: u32, numbers: u32, precision: Precision, sound: bool) -> Option<Needs> {
    let bytes = local as usize * numbers as usize * precision.bytes();
    (sound && local.is_power_of_two()).then_some(Needs { group: local as usize, local_bytes: bytes, tensor: false })
}

/// Rows by one item each.
const ROWS: Operation = Operation {
    name: "",
    about: "",
    shape: Shape::Gpu,
    parameters: &[LOCAL, ("rows", "rows of an item")],
    per_item: |&[_, rows, ..]| rows,
    needs: |&[local, rows, ..], precision| groups(local, 0, precision, (1..=64).contains(&rows)),
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 1, 0, 0, 0, 0],
    candidates: |_, _| pairs(&LOCALS, &[1, 2, 4]),
    // The host builds the matrix.
    largest: 24,
    check: |_, _, _| Ok(None),
    trial: |_, _, _| Ok(Trial { bytes: 0, run: Box::new(|| Ok(())) }),
};

/// Rows that items share; the width is that of the rows tried.
const LANES: Operation = Operation {
    parameters: &[LOCAL, ("lanes", "items per row, a power of two")],
    per_item: |&[_, lanes, ..]| 27_u32.div_ceil(lanes),
    needs: |&[local, lanes, ..], precision| {
        groups(local, 1, precision, lanes.is_power_of_two() && (2..=local).contains(&lanes))
    },
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 8, 0, 0, 0, 0],
    candidates: |_, _| pairs(&LOCALS, &[2, 4, 8, 16, 32]),
    largest: 20,
    ..ROWS
};

const LONG_LANES: Operation = Operation {
    per_item: |&[_, lanes, ..]| 200_u32.div_ceil(lanes),
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 32, 0, 0, 0, 0],
    candidates: |_, _| pairs(&LOCALS, &[8, 16, 32, 64]),
    largest: 18,
    ..LANES
};

/// Blocks of entries. NVIDIA H200: groups of 64 to 256 differ by 3 %; with 4 to 7 entries per item enough loads and enough
/// groups are under way, at 16 a third of the rate.
const BLOCKS: Operation = Operation {
    parameters: &[LOCAL, ("entries", "most entries of an item")],
    needs: |&[local, entries, ..], precision| {
        // Gaps, and sums of rows that are cut or those of two dot products.
        groups(local, entries + entries.div_ceil(16) + 2, precision, (1..=32).contains(&entries))
    },
    default: |device, precision, _| [tune::local_size(device, 128, 10 * precision.bytes()), 7, 0, 0, 0, 0],
    candidates: |_, _| pairs(&[64, 128, 256], &[4, 5, 6, 7, 8, 10]),
    largest: 20,
    ..ROWS
};

/// Tiles of a constant stencil.
const TILES: Operation = Operation {
    parameters: &[LOCAL, ("lines", "lines of a tile, rows of an item")],
    needs: |&[local, lines, ..], precision| groups(local, 1, precision, (1..=16).contains(&lines)),
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 4, 0, 0, 0, 0],
    candidates: |_, _| pairs(&LOCALS, &[1, 2, 4, 8]),
    ..ROWS
};

/// The dense product (NVIDIA H200, f64: 8192 and 16384 rows and columns at 1.02 times the rate of cuBLAS with 1024 items, 0.99
/// times with 128 to 512).
const DENSE: Operation = Operation {
    parameters: &[
        LOCAL,
        ("rows", "most rows of a work-group, a power of two"),
        ("loads", "entries that an item has under way"),
    ],
    per_item: |&[_, _, loads, ..]| loads,
    needs: |&[local, rows, loads, ..], precision| {
        let sound = rows.is_power_of_two() && (32.min(local)..=local).contains(&rows) && (1..=32).contains(&loads);
        groups(local, 1, precision, sound)
    },
    default: |device, precision, _| {
        let wanted = if device.max_work_group >= 1024 { 1024 } else { 256 };
        let local = tune::local_size(device, wanted, precision.bytes());
        [local, local.min(64), 8, 0, 0, 0]
    },
    candidates: |_, _| {
        let rows = |[local, loads, ..]: Choice| [32, 64, 128].map(|rows| [local, rows, loads, 0, 0, 0]);
        pairs(&LOCALS, &[4, 8, 16]).into_iter().flat_map(rows).collect()
    },
    largest: 26,
    ..ROWS
};

const TRANSPOSED: Operation = Operation {
    parameters: &[LOCAL, ("loads", "entries that an item has under way")],
    needs: |&[local, loads, ..], precision| groups(local, 1, precision, (1..=32).contains(&loads)),
    default: |device, precision, _| [tune::local_size(device, 256, precision.bytes()), 8, 0, 0, 0, 0],
    candidates: |_, _| pairs(&LOCALS, &[2, 4, 8, 16]),
    largest: 26,
    ..ROWS
};

/// Several right-hand sides.
const MANY: Operation = Operation {
    parameters: &[LOCAL, ("columns", "right-hand sides of an item")],
    // With several items per row, up to 32, their sums in local memory.
    needs: |&[local, columns, ..], precision| {
        groups(local, columns, precision, local >= 32 && (1..=16).contains(&columns))
    },
    default: |device, precision, _| [tune::local_size(device, 256, 4 * precision.bytes()), 4, 0, 0, 0, 0],
    candidates: |_, _| pairs(&[64, 128, 256, 512], &[2, 4, 8]),
    largest: 20,
    ..ROWS
};

const MANY_CPU: Operation = Operation { shape: Shape::Cpu, ..MANY };

/// Panels of a dense matrix with several right-hand sides (NVIDIA H200, f64, 8192, rates over that of cuBLAS with 4, 8 and 16:
/// 1.15, 0.76 and 0.53; on tensor cores 1.10, 1.10 and 0.80, in the table for that device).
const PANELS: Operation = Operation {
    parameters: &[
        LOCAL,
        ("panel", "columns of the matrix whose part of the right-hand sides is in local memory, a power of two"),
        ("rows", "rows of an item; with tensor cores tiles of 16 rows of a warp"),
        ("columns", "right-hand sides of an item, even; with tensor cores of a work-group, a multiple of 8"),
        ("tensor", "warps side by side that take tensor cores for double precision, 0 for none"),
    ],
    per_item: |&[_, _, rows, columns, ..]| rows * columns,
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
    default: |device, precision, _| panel(device, precision, 512, 1, 4),
    candidates: |_, _| {
        let shapes = [(512, 128), (512, 64), (256, 64), (256, 32), (256, 128), (128, 64), (128, 32), (64, 32)];
        let items = shapes.into_iter().flat_map(|(local, panel)| [1, 2].map(|rows| (local, panel, rows)));
        let plain = items.flat_map(|(local, panel, rows)| [4, 8].map(|columns| [local, panel, rows, columns, 0, 0]));
        plain
            .chain(TENSOR_SHAPES.iter().flat_map(|&[local, panel, rows, tensor]| {
                [8, 16].map(|columns| [local, panel, rows, columns, tensor, 0])
            }))
            .collect()
    },
    largest: 24,
    ..ROWS
};

/// Work-groups on tensor cores: items, columns of a panel, tiles of a warp, warps side by side.
const TENSOR_SHAPES: [[u32; 4]; 8] = [
    [256, 128, 2, 1],
    [256, 64, 2, 2],
    [512, 128, 2, 2],
    [256, 64, 1, 2],
    [256, 128, 1, 2],
    [512, 128, 1, 2],
    [512, 64, 1, 4],
    [128, 64, 2, 1],
];

/// What `mm_dense_tensor` in `many.cl` asks for.
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

fn panel(device: &DeviceInfo, precision: Precision, wanted: usize, rows: u32, columns: u32) -> Choice {
    let wanted = if device.max_work_group >= wanted { wanted } else { 256 };
    let local = tune::local_size(device, wanted, columns as usize * precision.bytes());
    [local, (local / 4).max(64).min(local), rows, columns, 0, 0]
}

/// Parts of the work of a processor.
const PARTS: Operation = Operation {
    shape: Shape::Cpu,
    parameters: tune::CHUNKS,
    per_item: |_| 1,
    needs: chunks_needs,
    default: tune::chunks_default,
    candidates: tune::chunks_candidates,
    // Past any cache of a processor, and soon built.
    largest: 20,
    ..ROWS
};

const AHEAD: (&str, &str) =
    ("ahead", "elements ahead of which memory is fetched, where the compiler takes the hint; 0 for none");

/// The same with memory fetched ahead (AMD EPYC: 1.2 times as fast; 128 to 1024 elements make no difference beyond 3 %).
const PARTS_AHEAD: Operation = Operation {
    parameters: &[tune::CHUNKS[0], AHEAD],
    needs: |choice, precision| chunks_needs(choice, precision).filter(|_| choice[1] <= 1 << 16),
    default: |_, _, _| [8, 512, 0, 0, 0, 0],
    candidates: |_, _| pairs(&[1, 2, 4, 8, 16, 32], &[0, 128, 512, 1024]),
    ..PARTS
};

/// Rows of a processor.
const PARTS_GATHERED: Operation = Operation {
    parameters: &[
        tune::CHUNKS[0],
        AHEAD,
        ("gather", "entries ahead of which elements of a long x are fetched, likewise; 0 for none"),
    ],
    needs: |choice, precision| chunks_needs(choice, precision).filter(|_| choice[1].max(choice[2]) <= 1 << 16),
    default: |_, _, _| [8, 512, 128, 0, 0, 0],
    candidates: |_, _| {
        let gathers = |[chunks, ahead, ..]: Choice| [0, 32, 128].map(|gather| [chunks, ahead, gather, 0, 0, 0]);
        pairs(&[4, 8, 16, 32], &[0, 128, 512]).into_iter().flat_map(gathers).collect()
    },
    largest: 20,
    ..PARTS
};

pub(crate) static MV_CSR: Operation =
    product!(MvCsr, "mv_csr", short_rows, ROWS, "y = A x by compressed rows, an item per row");
pub(crate) static MV_CSR_LANES: Operation = product!(
    MvCsrLanes,
    "mv_csr_lanes",
    medium_rows,
    LANES,
    "the same with rows of 13 to 64 entries, which items share"
);
pub(crate) static MV_CSR_LONG: Operation =
    product!(MvCsrLong, "mv_csr_long", long_rows, LONG_LANES, "the same with longer rows, or some that are far longer");
pub(crate) static MV_CSR_CPU: Operation =
    product!(MvCsrCpu, "mv_csr_cpu", medium_rows, PARTS_GATHERED, "y = A x by compressed rows on a processor");
pub(crate) static MV_BLOCKS: Operation =
    product!(MvBlocks, "mv_blocks", blocks, BLOCKS, "y = A x by blocks of entries");
pub(crate) static MV_CHUNKS_CPU: Operation =
    product!(MvChunksCpu, "mv_chunks_cpu", blocks, PARTS_AHEAD, "y = A x by chunks of eight rows on a processor");
pub(crate) static MV_DIAGONALS: Operation =
    product!(MvDiagonals, "mv_diagonals", diagonals, ROWS, "y = A x by diagonals");
pub(crate) static MV_DIAGONALS_CPU: Operation =
    product!(MvDiagonalsCpu, "mv_diagonals_cpu", diagonals, PARTS_AHEAD, "the same on a processor");
pub(crate) static MV_RUNS_CPU: Operation =
    product!(MvRunsCpu, "mv_runs_cpu", runs, PARTS_AHEAD, "y = A x by runs of rows on a processor");
pub(crate) static MV_STENCIL: Operation =
    product!(MvStencil, "mv_stencil", constant, TILES, "y = A x with a constant stencil");
pub(crate) static MV_STENCIL_CPU: Operation =
    product!(MvStencilCpu, "mv_stencil_cpu", constant, PARTS, "the same on a processor");
pub(crate) static MV_BAND: Operation = product!(MvBand, "mv_band", band, BAND_ROWS, "y = A x with a band matrix");
pub(crate) static MV_BAND_CPU: Operation = product!(MvBandCpu, "mv_band_cpu", band, PARTS, "the same on a processor");
pub(crate) static MV_DENSE: Operation = product!(MvDense, "mv_dense", full, DENSE, "y = A x with a dense matrix");
pub(crate) static MV_DENSE_CPU: Operation =
    product!(MvDenseCpu, "mv_dense_cpu", full, DENSE_PARTS, "the same on a processor");
pub(crate) static MV_DENSE_TRANSPOSED: Operation =
    product!(MvDenseTransposed, "mv_dense_transposed", full_transposed, TRANSPOSED, "y = A'x with a dense matrix");
pub(crate) static MV_DENSE_TRANSPOSED_CPU: Operation = product!(
    MvDenseTransposedCpu,
    "mv_dense_transposed_cpu",
    full_transposed,
    DENSE_COLUMNS,
    "the same on a processor"
);
pub(crate) static MM_CSR: Operation =
    product!(MmCsr, "mm_csr", many_medium_rows, MANY, "Y = A X by compressed rows, several right-hand sides");
pub(crate) static MM_CSR_CPU: Operation =
    product!(MmCsrCpu, "mm_csr_cpu", many_medium_rows, MANY_CPU, "the same on a processor");
pub(crate) static MM_DIAGONALS: Operation =
    product!(MmDiagonals, "mm_diagonals", many_diagonals, MANY_PATTERN, "Y = A X by diagonals or a constant stencil");
pub(crate) static MM_BAND: Operation = product!(MmBand, "mm_band", many_band, MANY, "Y = A X with a band matrix");
pub(crate) static MM_BAND_CPU: Operation =
    product!(MmBandCpu, "mm_band_cpu", many_band, MANY_CPU, "the same on a processor");
pub(crate) static MM_DENSE: Operation =
    product!(MmDense, "mm_dense", full_with<4>, PANELS, "Y = A X with a dense matrix, up to 4 right-hand sides");
pub(crate) static MM_DENSE_8: Operation =
    product!(MmDense8, "mm_dense_8", full_with<8>, PANELS_8, "the same with 5 to 8 right-hand sides");
pub(crate) static MM_DENSE_16: Operation =
    product!(MmDense16, "mm_dense_16", full_with<16>, PANELS_16, "the same with more right-hand sides");
pub(crate) static MM_DENSE_CPU: Operation =
    product!(MmDenseCpu, "mm_dense_cpu", full_with<4>, MANY_CPU, "Y = A X with a dense matrix on a processor");

/// Few parts of the rows: those of a column are read in one go.
const DENSE_PARTS: Operation = Operation { default: |_, _, _| [1, 512, 0, 0, 0, 0], largest: 24, ..PARTS_AHEAD };

const BAND_ROWS: Operation = Operation { largest: 20, ..ROWS };

const DENSE_COLUMNS: Operation = Operation { largest: 24, ..PARTS };

const MANY_PATTERN: Operation = Operation {
    default: |device, precision, _| [tune::local_size(device, 128, 4 * precision.bytes()), 4, 0, 0, 0, 0],
    ..MANY
};

const PANELS_8: Operation = Operation { default: |device, precision, _| panel(device, precision, 512, 1, 8), ..PANELS };

const PANELS_16: Operation =
    Operation { default: |device, precision, _| panel(device, precision, 256, 2, 8), ..PANELS };

/// The parameters of the product with its dot product, a row per item, on a GPU; tried on a 5-point stencil.
pub(crate) static TUNING_DOT: Operation = Operation {
    name: "mv_csr_dot",
    about: "y = A x and x'y with short rows, as in conjugate gradients",
    shape: Shape::Gpu,
    parameters: &[("local", "items of a work-group, a power of two"), ("rows", "rows that an item has under way")],
    per_item: |&[_, rows, ..]| rows,
    needs: |&[local, rows, ..], precision| {
        let sound = local.is_power_of_two() && (1..=64).contains(&rows);
        sound.then_some(Needs { group: local as usize, local_bytes: local as usize * precision.bytes(), tensor: false })
    },
    // Few rows: work-groups for all units. Many: longer work-groups, of which the last round wastes less.
    default: |device, precision, class| {
        let rows = if class < 23 { 4 } else { 8 };
        [tune::local_size(device, 256, precision.bytes()), rows, 0, 0, 0, 0]
    },
    candidates: |_, _| {
        let locals = [64, 128, 256, 512, 1024].into_iter();
        locals.flat_map(|local| [1, 2, 4, 8].map(|rows| [local, rows, 0, 0, 0, 0])).collect()
    },
    // The host builds the matrix.
    largest: 24,
    check: both_precisions!(check_dot),
    trial: both_precisions!(trial_dot),
};

fn check_dot<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    let a = stencil::<T>(n)?;
    let x = tune::whole_numbers::<T>(a.rows, 1);
    let dx = Vector::from_slice(context, &x)?;
    let (mut y, mut dot) = (Vector::filled(context, a.rows, T::nan())?, DotParts::new(context)?);
    Csr::from_parts(context, &a)?.apply_dot_by_rows(&dx, &mut y, &mut dot)?;
    let mut want = vec![T::zero(); a.rows];
    a.mv(T::one(), &x, T::zero(), &mut want);
    let sum: f64 = x.iter().zip(&want).map(|(x, y)| x.wide() * y.wide()).sum();
    let wrong = tune::first_difference(&y.to_vec()?, &want);
    Ok(wrong.or(tune::first_difference(&[dot.value()?], &[sum])))
}

fn trial_dot<T: Real>(context: &Context, n: usize) -> Result<Trial> {
    let a = stencil::<T>(n)?;
    let (rows, entries) = (a.rows, a.values.len());
    let a = Csr::from_parts(context, &a)?;
    let (x, mut y) = (Vector::filled(context, rows, T::one())?, Vector::zeros(context, rows)?);
    let mut dot = DotParts::new(context)?;
    let run = move || a.apply_dot_by_rows(&x, &mut y, &mut dot);
    let bytes = entries * (size_of::<T>() + 4) + rows * (2 * size_of::<T>() + 4);
    Ok(Trial { bytes: bytes as u64, run: Box::new(run) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextOptions;
    use crate::runtime::devices;
    use crate::tune::CLASSES;

    fn contexts() -> Vec<Context> {
        let Ok(devices) = devices() else {
            eprintln!("skipped: no device");
            return Vec::new();
        };
        let make = |shape| Context::new(&devices[0], &ContextOptions { shape: Some(shape), ..Default::default() });
        [Shape::Cpu, Shape::Gpu].map(|shape| make(shape).unwrap()).into()
    }

    fn products() -> impl Iterator<Item = Op> {
        Op::ALL.iter().copied().filter(|op| op.describe().name.starts_with('m'))
    }

    #[test]
    fn products_are_right_with_other_parameters() {
        for context in contexts() {
            for op in products().filter(|op| op.describe().shape == context.shape()) {
                let operation = op.describe();
                let precision = if context.device().fp64 { Precision::F64 } else { Precision::F32 };
                let mut all = (operation.candidates)(context.device(), precision);
                all.retain(|choice| operation.fits(context.device(), precision, choice));
                // The one that is farthest from the default.
                let choice = all[all.len() - 1];
                context.choices().set(op, precision, 0..CLASSES, &choice);
                for n in [1, 300, 5000] {
                    let wrong = (operation.check)(&context, precision, n).unwrap();
                    assert_eq!(wrong, None, "{}, {}, {n}", operation.name, operation.words(&choice));
                }
            }
        }
    }

    #[test]
    fn trials_take_new_parameters_over() {
        for context in contexts() {
            let some = [Op::MvStencil, Op::MvBlocks, Op::MvDense, Op::MmBand, Op::MvChunksCpu, Op::MvDenseCpu];
            for op in some.into_iter().filter(|op| op.describe().shape == context.shape()) {
                let operation = op.describe();
                let all = (operation.candidates)(context.device(), Precision::F32);
                let mut trial = (operation.trial)(&context, Precision::F32, 3000).unwrap();
                assert!(trial.bytes > 0, "{}", operation.name);
                for choice in all.iter().filter(|c| operation.fits(context.device(), Precision::F32, c)).take(2) {
                    context.choices().set(op, Precision::F32, 0..CLASSES, choice);
                    (trial.run)().unwrap();
                    context.finish().unwrap();
                }
            }
        }
    }

    #[test]
    fn an_upload_takes_its_parameters_from_the_table() {
        for context in contexts() {
            let parts = stencil::<f32>(100 * 100).unwrap();
            let upload = |choices: &[(Op, Choice)]| {
                for (op, choice) in choices {
                    context.choices().set(*op, Precision::F32, 0..CLASSES, choice);
                }
                let a = Csr::from_parts(&context, &parts).unwrap();
                assert_eq!(a.format(), Format::Stencil);
                a
            };
            match context.shape() {
                Shape::Gpu => {
                    let a = upload(&[(Op::MvStencil, [64, 2, 0, 0, 0, 0])]);
                    let tiles = a.stencil().unwrap().tiles.as_ref().unwrap();
                    assert_eq!((tiles.size, tiles.groups), ([64, 2], [2, 50]));
                    // Later changes of the table do not reach a matrix that was uploaded before.
                    upload(&[(Op::MvStencil, [128, 4, 0, 0, 0, 0])]);
                    assert_eq!(a.stencil().unwrap().tiles.as_ref().unwrap().size, [64, 2]);
                }
                Shape::Cpu => {
                    let a = upload(&[(Op::MvStencilCpu, [3, 0, 0, 0, 0, 0])]);
                    assert_eq!(a.stencil().unwrap().product.range.items(), 3 * context.units());
                }
            }
        }
    }
}
