//! The matrices on which parameters of the products are tried.
//!
//! Matrices take their parameters over when they are uploaded or first multiplied; a trial makes them do so again.

#[cfg(test)]
mod tests;

use super::{Trial, Tunable, both_precisions, chunks_candidates, first_difference, pairs, whole_numbers};
use crate::matrix::tuning::*;
use crate::matrix::{Band, BandParts, Csr, CsrParts, Dense, Format, Vector};
use crate::ops::DotParts;
use crate::ops::product::tuning::MV_CSR_DOT;
use crate::ops::product::{MultiRhs, Operator, Transposed};
use crate::tune::{Choice, Operation};
use crate::{Context, DeviceInfo, Precision, Real, Result};

/// A product with a matrix of its own.
struct Case<T: Real, A> {
    a: A,
    rows: usize,
    cols: usize,
    /// Right-hand sides.
    nrhs: usize,
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

fn multi<T: Real, A: MultiRhs<T>>(alpha: T, a: &A, x: &Dense<T>, beta: T, y: &mut Dense<T>) -> Result<()> {
    a.apply_multi(alpha, x, beta, y)
}

impl<T: Real, A: 'static> Case<T, A> {
    /// The same with several right-hand sides.
    fn with(self, nrhs: usize) -> Case<T, A>
    where
        A: MultiRhs<T>,
    {
        Case { nrhs, product: multi, ..self }
    }

    /// Compares A X and 2 A X + A X with the reference: whole numbers, so that the order of the sums does not matter.
    fn check(self, context: &Context) -> Result<Option<String>> {
        let x = whole_numbers::<T>(self.cols * self.nrhs, 1);
        let columns = (0..self.nrhs).map(|k| (self.reference)(&x[k * self.cols..(k + 1) * self.cols]));
        let want: Vec<T> = columns.flatten().collect();
        let three: Vec<T> = want.iter().map(|&v| v * T::from_f64(3.0)).collect();
        let x = Dense::from_column_major(context, self.cols, self.nrhs, &x)?;
        let mut y = Dense::from_column_major(context, self.rows, self.nrhs, &vec![T::nan(); want.len()])?;
        (self.product)(T::one(), &self.a, &x, T::zero(), &mut y)?;
        if let Some(wrong) = first_difference(&y.to_column_major()?, &want) {
            return Ok(Some(wrong));
        }
        (self.product)(T::from_f64(2.0), &self.a, &x, T::one(), &mut y)?;
        Ok(first_difference(&y.to_column_major()?, &three))
    }

    fn trial(self, context: &Context, op: &'static Operation, n: usize) -> Result<Trial> {
        let Case { mut a, rows, cols, nrhs, bytes, renew, product, .. } = self;
        let x = Dense::from_column_major(context, cols, nrhs, &vec![T::one(); cols * nrhs])?;
        let mut y = Dense::zeros(context, rows, nrhs)?;
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
        let bytes = bytes + nrhs * (rows + cols) * size_of::<T>();
        Ok(Trial { bytes: bytes as u64, run: Box::new(run) })
    }
}

/// Rows of a matrix that a format needs to be taken.
const FEWEST_ROWS: usize = 1024;

/// The 5-point stencil on a square of about `n` points, with whole numbers.
pub(crate) fn stencil<T: Real>(n: usize) -> Result<CsrParts<T>> {
    let side = (n as f64).sqrt() as usize;
    let side = side.max(1);
    let (four, one) = (T::from_f64(4.0), T::one());
    let mut entries = Vec::with_capacity(5 * side * side);
    for k in 0..side * side {
        let (i, j) = (k % side, k / side);
        let around = [
            (j > 0, k.wrapping_sub(side)),
            (i > 0, k.wrapping_sub(1)),
            (i + 1 < side, k + 1),
            (j + 1 < side, k + side),
        ];
        entries.push((k, k, four));
        entries.extend(around.into_iter().filter(|&(inside, _)| inside).map(|(_, to)| (k, to, -one)));
    }
    CsrParts::from_triplets(side * side, side * side, &entries)
}

/// The same positions with values that differ.
fn varied<T: Real>(n: usize) -> Result<CsrParts<T>> {
    let a = stencil::<T>(n)?;
    Ok(CsrParts { values: whole_numbers(a.values.len(), 2), ..a })
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
    let values = whole_numbers(rows * width, 3);
    CsrParts { rows, cols: rows, offsets: (0..=rows).map(|i| i * width).collect(), indices, values }
}

/// A matrix whose rows come in runs of 64, in which the columns move on by one, without a pattern of all rows.
fn in_runs<T: Real>(rows: usize) -> CsrParts<T> {
    let row = |i: usize| {
        let run = i / 64;
        [0, 1 + run % 41, 50 + run % 43, 100 + run % 37, 150 + run % 47].map(|distance| i + distance)
    };
    let values = whole_numbers(5 * rows, 4);
    let offsets = (0..=rows).map(|i| 5 * i).collect();
    CsrParts { rows, cols: rows + 200, offsets, indices: (0..rows).flat_map(row).collect(), values }
}

/// A x for whole numbers, whose sums are exact in any order.
fn times<T: Real>(a: &CsrParts<T>, x: &[T]) -> Vec<T> {
    (0..a.rows).map(|i| a.row(i).map(|(j, value)| value * x[j]).sum()).collect()
}

/// The product with a sparse matrix in a format.
fn sparse<T: Real>(context: &Context, parts: CsrParts<T>, format: Format) -> Result<Case<T, Csr<T>>> {
    let mut a = Csr::from_parts(context, &parts)?;
    a.set_format(Some(format))?;
    let (rows, cols, entries) = (parts.rows, parts.cols, parts.values.len());
    let bytes = match format {
        Format::Stencil => 0,
        Format::Dia => entries * size_of::<T>(),
        _ => entries * (size_of::<T>() + 4) + 4 * rows,
    };
    let reference = move |x: &[T]| times(&parts, x);
    let renew = |a: &mut Csr<T>| a.set_format(Some(a.format()));
    Ok(Case { a, rows, cols, nrhs: 1, bytes, renew, product: one, reference: Box::new(reference) })
}

fn short_rows<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, stencil(n)?, Format::Csr)
}

fn medium_rows<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, scattered(n, 27), Format::Csr)
}

fn long_rows<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, scattered(n, 200), Format::Csr)
}

fn blocks<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, scattered(n, 16), Format::Balanced)
}

fn diagonals<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, varied(n.max(FEWEST_ROWS))?, Format::Dia)
}

fn constant<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, stencil(n.max(FEWEST_ROWS))?, Format::Stencil)
}

fn runs<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    sparse(context, in_runs(n.max(FEWEST_ROWS)), Format::Dia)
}

/// Sub- and superdiagonals of the band matrix.
const BAND: usize = 8;

fn band<T: Real>(context: &Context, rows: usize) -> Result<Case<T, Band<T>>> {
    let mut parts = BandParts::zeros(rows, rows, BAND, BAND)?;
    let values = whole_numbers::<T>(parts.data.len(), 5);
    for (k, value) in values.into_iter().enumerate() {
        let (d, i) = (k / rows, k % rows);
        if (BAND..BAND + rows).contains(&(i + d)) {
            parts.data[k] = value;
        }
    }
    let a = Band::from_parts(context, &parts)?;
    let bytes = parts.data.len() * size_of::<T>();
    let row = move |i: usize, x: &[T]| {
        let columns = i.saturating_sub(BAND)..rows.min(i + BAND + 1);
        columns.map(|j| parts.data[(j + BAND - i) * rows + i] * x[j]).sum()
    };
    let reference = move |x: &[T]| (0..rows).map(|i| row(i, x)).collect();
    let renew = |a: &mut Band<T>| {
        a.forget_products();
        Ok(())
    };
    Ok(Case { a, rows, cols: rows, nrhs: 1, bytes, renew, product: one, reference: Box::new(reference) })
}

/// About `n` entries.
fn full<T: Real>(context: &Context, n: usize) -> Result<Case<T, Dense<T>>> {
    let rows = ((n as f64).sqrt() as usize).max(1);
    let cols = (n / rows).max(1);
    let values = whole_numbers::<T>(rows * cols, 6);
    let a = Dense::from_column_major(context, rows, cols, &values)?;
    let reference = move |x: &[T]| (0..rows).map(|i| (0..cols).map(|j| values[j * rows + i] * x[j]).sum()).collect();
    let renew = |a: &mut Dense<T>| {
        a.forget_products();
        Ok(())
    };
    let bytes = rows * cols * size_of::<T>();
    Ok(Case { a, rows, cols, nrhs: 1, bytes, renew, product: one, reference: Box::new(reference) })
}

fn full_transposed<T: Real>(context: &Context, n: usize) -> Result<Case<T, Dense<T>>> {
    let case = full::<T>(context, n)?;
    let (rows, cols) = (case.rows, case.cols);
    let values = case.a.to_column_major()?;
    let reference = move |x: &[T]| (0..cols).map(|j| (0..rows).map(|i| values[j * rows + i] * x[i]).sum()).collect();
    Ok(Case { rows: cols, cols: rows, product: transposed, reference: Box::new(reference), ..case })
}

fn multi_medium_rows<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    Ok(medium_rows(context, n)?.with(4))
}

fn multi_diagonals<T: Real>(context: &Context, n: usize) -> Result<Case<T, Csr<T>>> {
    Ok(diagonals(context, n)?.with(4))
}

fn multi_band<T: Real>(context: &Context, n: usize) -> Result<Case<T, Band<T>>> {
    Ok(band(context, n)?.with(4))
}

fn full_with<T: Real, const NRHS: usize>(context: &Context, n: usize) -> Result<Case<T, Dense<T>>> {
    Ok(full(context, n)?.with(NRHS))
}

/// Most rows or entries in a comparison with the reference: long rows make millions of entries.
const MOST_CHECKED: usize = 20_011;

/// Which candidates of an operation are worth a trial.
#[derive(Clone, Copy)]
struct Space {
    per_item: fn(&Choice) -> u32,
    candidates: fn(&DeviceInfo, Precision) -> Vec<Choice>,
    largest: usize,
}

/// An operation tried on a case.
macro_rules! product {
    ($op:ident, $case:ident $(<$nrhs:literal>)?, $space:expr) => {
        Tunable {
            operation: &$op,
            per_item: $space.per_item,
            candidates: $space.candidates,
            largest: $space.largest,
            check: |context, precision, n| match precision {
                Precision::F32 => $case::<f32 $(, $nrhs)?>(context, n.min(MOST_CHECKED))?.check(context),
                Precision::F64 => $case::<f64 $(, $nrhs)?>(context, n.min(MOST_CHECKED))?.check(context),
            },
            trial: |context, precision, n| match precision {
                Precision::F32 => $case::<f32 $(, $nrhs)?>(context, n)?.trial(context, &$op, n),
                Precision::F64 => $case::<f64 $(, $nrhs)?>(context, n)?.trial(context, &$op, n),
            },
        }
    };
}

const LOCALS: [u32; 5] = [64, 128, 256, 512, 1024];

/// Rows by one item each; the host builds the matrix.
const ROWS: Space =
    Space { per_item: |&[_, rows, ..]| rows, candidates: |_, _| pairs(&LOCALS, &[1, 2, 4]), largest: 24 };

/// Rows that items share; the width is that of the rows tried.
const LANES: Space = Space {
    per_item: |&[_, lanes, ..]| 27_u32.div_ceil(lanes),
    candidates: |_, _| pairs(&LOCALS, &[2, 4, 8, 16, 32]),
    largest: 20,
};

const LONG_LANES: Space = Space {
    per_item: |&[_, lanes, ..]| 200_u32.div_ceil(lanes),
    candidates: |_, _| pairs(&LOCALS, &[8, 16, 32, 64]),
    largest: 18,
};

const BLOCKS: Space = Space { candidates: |_, _| pairs(&[64, 128, 256], &[4, 5, 6, 7, 8, 10]), largest: 20, ..ROWS };

const TILES: Space = Space { candidates: |_, _| pairs(&LOCALS, &[1, 2, 4, 8]), ..ROWS };

const BAND_ROWS: Space = Space { largest: 20, ..ROWS };

const DENSE: Space = Space {
    per_item: |&[_, _, loads, ..]| loads,
    candidates: |_, _| {
        let rows = |[local, loads, ..]: Choice| [32, 64, 128].map(|rows| [local, rows, loads, 0, 0, 0]);
        pairs(&LOCALS, &[4, 8, 16]).into_iter().flat_map(rows).collect()
    },
    largest: 26,
};

const TRANSPOSED: Space = Space { candidates: |_, _| pairs(&LOCALS, &[2, 4, 8, 16]), largest: 26, ..ROWS };

/// Several right-hand sides.
const MULTI: Space = Space { candidates: |_, _| pairs(&[64, 128, 256, 512], &[2, 4, 8]), largest: 20, ..ROWS };

/// Panels of a dense matrix with several right-hand sides.
const PANELS: Space = Space {
    per_item: |&[_, _, rows, columns, ..]| rows * columns,
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

/// Parts of the work of a CPU; past any cache of one, and soon built.
const CHUNKS: Space = Space { per_item: |_| 1, candidates: chunks_candidates, largest: 20 };

const CHUNKS_AHEAD: Space = Space { candidates: |_, _| pairs(&[1, 2, 4, 8, 16, 32], &[0, 128, 512, 1024]), ..CHUNKS };

const CHUNKS_GATHERED: Space = Space {
    candidates: |_, _| {
        let gathers = |[chunks, ahead, ..]: Choice| [0, 32, 128].map(|gather| [chunks, ahead, gather, 0, 0, 0]);
        pairs(&[4, 8, 16, 32], &[0, 128, 512]).into_iter().flat_map(gathers).collect()
    },
    ..CHUNKS
};

const DENSE_CHUNKS: Space = Space { largest: 24, ..CHUNKS_AHEAD };

const DENSE_COLUMNS: Space = Space { largest: 24, ..CHUNKS };

pub(super) static TUNABLES: &[Tunable] = &[
    product!(MV_CSR, short_rows, ROWS),
    product!(MV_CSR_LANES, medium_rows, LANES),
    product!(MV_CSR_LONG, long_rows, LONG_LANES),
    product!(MV_CSR_CPU, medium_rows, CHUNKS_GATHERED),
    product!(MV_NNZ_BALANCED, blocks, BLOCKS),
    product!(MV_SELL_CPU, blocks, CHUNKS_AHEAD),
    product!(MV_DIA, diagonals, ROWS),
    product!(MV_DIA_CPU, diagonals, CHUNKS_AHEAD),
    product!(MV_RUNS_CPU, runs, CHUNKS_AHEAD),
    product!(MV_STENCIL, constant, TILES),
    product!(MV_STENCIL_CPU, constant, CHUNKS),
    product!(MV_BAND, band, BAND_ROWS),
    product!(MV_BAND_CPU, band, CHUNKS),
    product!(MV_DENSE, full, DENSE),
    product!(MV_DENSE_CPU, full, DENSE_CHUNKS),
    product!(MV_DENSE_TRANSPOSED, full_transposed, TRANSPOSED),
    product!(MV_DENSE_TRANSPOSED_CPU, full_transposed, DENSE_COLUMNS),
    product!(MM_CSR, multi_medium_rows, MULTI),
    product!(MM_CSR_CPU, multi_medium_rows, MULTI),
    product!(MM_DIA, multi_diagonals, MULTI),
    product!(MM_BAND, multi_band, MULTI),
    product!(MM_BAND_CPU, multi_band, MULTI),
    product!(MM_DENSE, full_with<4>, PANELS),
    product!(MM_DENSE_8, full_with<8>, PANELS),
    product!(MM_DENSE_16, full_with<16>, PANELS),
    product!(MM_DENSE_CPU, full_with<4>, MULTI),
    Tunable {
        operation: &MV_CSR_DOT,
        per_item: ROWS.per_item,
        candidates: |_, _| pairs(&LOCALS, &[1, 2, 4, 8]),
        largest: ROWS.largest,
        check: both_precisions!(check_dot),
        trial: both_precisions!(trial_dot),
    },
];

fn check_dot<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    let a = stencil::<T>(n)?;
    let x = whole_numbers::<T>(a.rows, 1);
    let dx = Vector::from_slice(context, &x)?;
    let (mut y, mut dot) = (Vector::filled(context, a.rows, T::nan())?, DotParts::new(context)?);
    Csr::from_parts(context, &a)?.apply_dot_by_rows(&dx, &mut y, &mut dot)?;
    let want = times(&a, &x);
    let sum: f64 = x.iter().zip(&want).map(|(x, y)| x.into_f64() * y.into_f64()).sum();
    let wrong = first_difference(&y.to_vec()?, &want);
    Ok(wrong.or(first_difference(&[dot.value()?], &[sum])))
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
