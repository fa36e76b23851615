//! How the parameters of dense products and factorisations are tried. Sizes are numbers of elements of C, or of the matrix.

use num_traits::Float;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::{Trial, Tunable, pairs};
use crate::matrix::Values;
use crate::ops::factor::tuning::*;
use crate::ops::gemm::tiles::*;
use crate::ops::gemm::{Block, Product, Tiles};
use crate::ops::{Cholesky, Lu, Qr, Transpose, gemm};
use crate::tune::{Choice, Operation};
use crate::{Complex, Context, Dense, DeviceInfo, KernelFamily, Precision, Real, Result, Scalar};

/// Both precisions of a function that is generic over scalars, reals or complex numbers, and knows its operation.
macro_rules! tried {
    ($op:ident, $candidates:expr, $largest:literal, $check:ident, $trial:ident, $single:ty, $double:ty) => {
        Tunable {
            operation: &$op,
            per_item: |_| 1,
            candidates: $candidates,
            largest: $largest,
            check: |context, precision, n| match precision {
                Precision::F32 => $check::<$single>(context, &$op, n.min(MOST_CHECKED)),
                Precision::F64 => $check::<$double>(context, &$op, n.min(MOST_CHECKED)),
            },
            trial: |context, precision, n| match precision {
                Precision::F32 => $trial::<$single>(context, &$op, n),
                Precision::F64 => $trial::<$double>(context, &$op, n),
            },
        }
    };
}

macro_rules! both_kinds {
    ($real:ident, $complex:ident, $candidates:expr, $largest:literal, $check:ident, $trial:ident) => {
        [
            tried!($real, $candidates, $largest, $check, $trial, f32, f64),
            tried!($complex, $candidates, $largest, $check, $trial, Complex<f32>, Complex<f64>),
        ]
    };
}

/// Most elements in a comparison: the sequential code takes their number to the power of 3/2.
const MOST_CHECKED: usize = 20_011;

pub(super) static TUNABLES: &[&[Tunable]] = &[
    &both_kinds!(GEMM, GEMM_COMPLEX, tiles, 24, check_gemm, trial_gemm),
    &both_kinds!(GEMM_MEDIUM, GEMM_MEDIUM_COMPLEX, tiles, 20, check_gemm, trial_gemm),
    &both_kinds!(GEMM_SMALL, GEMM_SMALL_COMPLEX, tiles, 18, check_gemm, trial_gemm),
    &both_kinds!(
        GEMM_CPU,
        GEMM_CPU_COMPLEX,
        |_, _| pairs(&[32, 64, 128], &[128, 256, 512]),
        20,
        check_gemm,
        trial_gemm
    ),
    &both_kinds!(LU, LU_COMPLEX, |device, _| together(device, &[8, 16, 32], &[256, 512]), 24, check_lu, trial_lu),
    &both_kinds!(LU_CPU, LU_CPU_COMPLEX, |_, _| pairs(&[4, 8, 16], &[64, 128, 256]), 20, check_lu, trial_lu),
    &both_kinds!(
        CHOLESKY,
        CHOLESKY_COMPLEX,
        |_, _| pairs(&[16, 32], &[128, 256, 512]),
        24,
        check_cholesky,
        trial_cholesky
    ),
    &both_kinds!(
        CHOLESKY_CPU,
        CHOLESKY_CPU_COMPLEX,
        |_, _| pairs(&[8, 16, 32, 64], &[128, 256, 512]),
        20,
        check_cholesky,
        trial_cholesky
    ),
    &both_kinds!(QR, QR_COMPLEX, |device, _| together(device, &[8, 16], &[32, 64, 128]), 24, check_qr, trial_qr),
    &both_kinds!(QR_CPU, QR_CPU_COMPLEX, |_, _| pairs(&[4, 8, 16, 32], &[32, 64, 128]), 20, check_qr, trial_qr),
];

/// Rows, columns, depth; of an item or a warp; stages on tensor cores.
fn tiles(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    let mut all = vec![
        [8, 8, 4, 4, 4, 0],
        [128, 128, 8, 8, 8, 0],
        [128, 128, 16, 8, 8, 0],
        [128, 64, 8, 8, 4, 0],
        [128, 64, 16, 8, 4, 0],
        [64, 128, 8, 4, 8, 0],
        [64, 64, 16, 8, 8, 0],
        [64, 64, 8, 4, 4, 0],
        [64, 64, 16, 4, 4, 0],
        [64, 64, 4, 4, 4, 0],
        [64, 32, 16, 4, 4, 0],
        [32, 32, 16, 4, 4, 0],
        [32, 32, 16, 4, 2, 0],
        [32, 32, 8, 2, 2, 0],
        [16, 16, 16, 4, 4, 0],
        [16, 16, 4, 4, 4, 0],
    ];
    all.extend([
        [128, 128, 8, 32, 64, 3],
        [128, 128, 8, 64, 32, 3],
        [128, 128, 16, 32, 64, 2],
        [128, 64, 8, 32, 32, 4],
        [128, 64, 16, 32, 32, 3],
        [64, 64, 16, 32, 16, 3],
        [64, 64, 8, 32, 32, 4],
    ]);
    all
}

/// Panels and blocks, by a launch per column and, where the device runs work-groups together, by one launch.
fn together(device: &DeviceInfo, panels: &[u32], blocks: &[u32]) -> Vec<Choice> {
    let together = if runs_together(device) { &[0, 1][..] } else { &[0] };
    pairs(panels, blocks)
        .into_iter()
        .flat_map(|[panel, block, ..]| together.iter().map(move |&t| [panel, block, t, 0, 0, 0]))
        .collect()
}

/// -3 to 3, and likewise i: their sums and products are exact in any order.
fn whole<T: Scalar>(n: usize, seed: u64) -> Vec<T> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut number = || T::Real::from_f64(f64::from(rng.random_range(-3_i32..=3)));
    (0..n).map(|_| T::from_parts(number(), number())).collect()
}

fn side(n: usize) -> usize {
    ((n as f64).sqrt() as usize).max(1)
}

/// A column-major matrix of the host in double precision.
struct Host<W> {
    rows: usize,
    cols: usize,
    values: Vec<W>,
}

impl<W: Scalar> Host<W> {
    fn of<T: Scalar<Wide = W>>(matrix: &Dense<T>) -> Result<Host<W>> {
        let values = matrix.to_column_major()?.into_iter().map(T::widen).collect();
        Ok(Host { rows: matrix.rows(), cols: matrix.cols(), values })
    }

    fn make(rows: usize, cols: usize, value: impl Fn(usize, usize) -> W) -> Host<W> {
        Host { rows, cols, values: (0..rows * cols).map(|k| value(k % rows, k / rows)).collect() }
    }

    fn at(&self, i: usize, j: usize) -> W {
        self.values[j * self.rows + i]
    }

    fn op(&self, op: Transpose) -> Host<W> {
        match op {
            Transpose::No => Host::make(self.rows, self.cols, |i, j| self.at(i, j)),
            Transpose::Yes => Host::make(self.cols, self.rows, |i, j| self.at(j, i)),
            Transpose::Conjugate => Host::make(self.cols, self.rows, |i, j| self.at(j, i).conj()),
        }
    }

    fn times(&self, other: &Host<W>) -> Host<W> {
        let mut product = Host::make(self.rows, other.cols, |_, _| W::zero());
        for j in 0..other.cols {
            for l in 0..self.cols {
                let factor = other.at(l, j);
                for i in 0..self.rows {
                    product.values[j * self.rows + i] += self.at(i, l) * factor;
                }
            }
        }
        product
    }

    /// Where the matrices are farther from each other than `bound` times the numbers of a third, in words.
    fn difference(&self, want: &Host<W>, bound: f64, size: &Host<f64>) -> Option<String> {
        let wrong = |&k: &usize| {
            let off = (self.values[k] - want.values[k]).modulus().into_f64();
            off.is_nan() || off > bound * size.values[k]
        };
        let k = (0..self.values.len()).find(wrong)?;
        Some(format!(
            "element ({}, {}) is {}, expected {}",
            k % self.rows,
            k / self.rows,
            self.values[k],
            want.values[k]
        ))
    }

    fn moduli(&self) -> Host<f64> {
        Host { rows: self.rows, cols: self.cols, values: self.values.iter().map(|v| v.modulus().into_f64()).collect() }
    }
}

/// n eps with room for complex products (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.6).
fn rounding<T: Scalar>(n: usize) -> f64 {
    let per_product = if T::IS_COMPLEX { 4.0 } else { 1.0 };
    per_product * (n as f64 + 1.0) * <T::Real as Float>::epsilon().into_f64()
}

/// C = alpha op(A) op(B) + beta C with the tiles of `op`, which a product by itself may pass over for others.
fn product<T: Scalar>(
    context: &Context,
    op: &Operation,
    (alpha, beta): (T, T),
    (op_a, a): (Transpose, &Dense<T>),
    (op_b, b): (Transpose, &Dense<T>),
    c: &mut Dense<T>,
) -> Result<()> {
    if context.family() == KernelFamily::Cpu {
        return gemm(alpha, op_a, a, op_b, b, beta, c);
    }
    let tiles = Tiles::of(context.choice(op, T::PRECISION, c.rows() * c.cols()));
    let depth = if op_a == Transpose::No { a.cols() } else { a.rows() };
    let blocks = ((op_a, Block::of(a)), (op_b, Block::of(b)));
    Product::new(context).by_tiles((tiles, 1), depth, (alpha, beta), blocks.0, blocks.1, Block::of(c))
}

fn check_gemm<T: Scalar>(context: &Context, op: &'static Operation, n: usize) -> Result<Option<String>> {
    let m = side(n);
    let (cols, depth) = (n / m, m.min(100) + 5);
    let (minus, two) = (T::from_f64(-1.0), T::from_f64(2.0));
    for (op_a, op_b) in
        [(Transpose::No, Transpose::No), (Transpose::Conjugate, Transpose::No), (Transpose::No, Transpose::Yes)]
    {
        let shape = |op, rows, cols| if op == Transpose::No { (rows, cols) } else { (cols, rows) };
        let make = |(rows, cols), seed| Dense::from_column_major(context, rows, cols, &whole::<T>(rows * cols, seed));
        let (a, b) = (make(shape(op_a, m, depth), 1)?, make(shape(op_b, depth, cols), 2)?);
        let mut c = make((m, cols), 3)?;
        let old = Host::of(&c)?;
        let sum = Host::of(&a)?.op(op_a).times(&Host::of(&b)?.op(op_b));
        product(context, op, (minus, two), (op_a, &a), (op_b, &b), &mut c)?;
        let want = Host::make(m, cols, |i, j| two.widen() * old.at(i, j) - sum.at(i, j));
        let exact = want.moduli();
        if let Some(wrong) = Host::of(&c)?.difference(&want, 0.0, &exact) {
            return Ok(Some(format!("op(A) = {op_a}, op(B) = {op_b}: {wrong}")));
        }
    }
    Ok(None)
}

fn trial_gemm<T: Scalar>(context: &Context, op: &'static Operation, n: usize) -> Result<Trial> {
    let m = side(n);
    let make = |seed| Dense::from_column_major(context, m, m, &whole::<T>(m * m, seed));
    let (a, b, mut c) = (make(1)?, make(2)?, make(3)?);
    let context = context.clone();
    let run = move || product(&context, op, (T::one(), T::zero()), (Transpose::No, &a), (Transpose::No, &b), &mut c);
    Ok(Trial { bytes: (3 * m * m * size_of::<T>()) as u64, run: Box::new(run) })
}

/// Of about `n` elements, with a few more rows than columns.
fn tall<T: Scalar>(context: &Context, n: usize) -> Result<Dense<T>> {
    let cols = side(n);
    let rows = n / cols;
    Dense::from_column_major(context, rows, cols, &whole::<T>(rows * cols, 4))
}

/// Hermitian, and dominated by its diagonal.
fn definite<T: Scalar>(context: &Context, n: usize) -> Result<Dense<T>> {
    let order = side(n);
    let some = Host { rows: order, cols: order, values: whole::<T>(order * order, 5) };
    let diagonal = T::from_f64(9.0 * order as f64);
    let half = |i: usize, j: usize| if i == j { diagonal } else { some.at(i, j) };
    let values = Host::make(order, order, |i, j| if i >= j { half(i, j) } else { half(j, i).conj() }).values;
    Dense::from_column_major(context, order, order, &values)
}

fn check_lu<T: Scalar>(context: &Context, _: &'static Operation, n: usize) -> Result<Option<String>> {
    let a = tall::<T>(context, n)?;
    let mut permuted = Host::of(&a)?;
    let lu = Lu::new(a)?;
    for (k, pivot) in lu.pivots()?.into_iter().enumerate() {
        (0..permuted.cols).for_each(|j| permuted.values.swap(j * permuted.rows + k, j * permuted.rows + pivot));
    }
    let factors = Host::of(lu.factors())?;
    let order = factors.rows.min(factors.cols);
    let (zero, one) = (T::zero().widen(), T::one().widen());
    let lower = Host::make(factors.rows, order, |i, j| {
        if i > j {
            factors.at(i, j)
        } else if i == j {
            one
        } else {
            zero
        }
    });
    let upper = Host::make(order, factors.cols, |i, j| if i <= j { factors.at(i, j) } else { zero });
    let size = lower.moduli().times(&upper.moduli());
    Ok(lower.times(&upper).difference(&permuted, rounding::<T>(order), &size))
}

fn trial_lu<T: Scalar>(context: &Context, _: &'static Operation, n: usize) -> Result<Trial> {
    let a = tall::<T>(context, n)?;
    let bytes = 2 * a.rows() * a.cols() * size_of::<T>();
    Ok(Trial { bytes: bytes as u64, run: Box::new(move || Lu::new(a.try_clone()?).map(drop)) })
}

fn check_cholesky<T: Scalar>(context: &Context, _: &'static Operation, n: usize) -> Result<Option<String>> {
    let a = definite::<T>(context, n)?;
    let want = Host::of(&a)?;
    let lower = Host::of(&Cholesky::new(a)?.factor()?)?;
    let upper = lower.op(Transpose::Conjugate);
    let size = lower.moduli().times(&upper.moduli());
    Ok(lower.times(&upper).difference(&want, rounding::<T>(want.rows), &size))
}

fn trial_cholesky<T: Scalar>(context: &Context, _: &'static Operation, n: usize) -> Result<Trial> {
    let a = definite::<T>(context, n)?;
    let bytes = 2 * a.rows() * a.cols() * size_of::<T>();
    Ok(Trial { bytes: bytes as u64, run: Box::new(move || Cholesky::new(a.try_clone()?).map(drop)) })
}

/// Q has orthonormal columns and Q R is A (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., theorem 19.4).
fn check_qr<T: Scalar>(context: &Context, _: &'static Operation, n: usize) -> Result<Option<String>> {
    let a = tall::<T>(context, n)?;
    let want = Host::of(&a)?;
    let qr = Qr::new(a)?;
    let (q, r) = (Host::of(&qr.q()?)?, Host::of(&qr.r()?)?);
    let order = r.rows;
    let gram = q.op(Transpose::Conjugate).times(&q);
    let identity = Host::make(order, order, |i, j| if i == j { T::one().widen() } else { T::zero().widen() });
    // Reflections are applied one after the other, each with a rounding error of the size of a column.
    let bound = 8.0 * rounding::<T>(want.rows) * (order as f64).sqrt();
    let one = Host::make(order, order, |_, _| 1.0);
    if let Some(wrong) = gram.difference(&identity, bound, &one) {
        return Ok(Some(format!("Q'Q: {wrong}")));
    }
    let moduli = want.moduli();
    let column = |j: usize| (0..want.rows).map(|i| moduli.at(i, j).powi(2)).sum::<f64>().sqrt();
    let columns: Vec<f64> = (0..want.cols).map(column).collect();
    let size = Host::make(want.rows, want.cols, |_, j| columns[j]);
    Ok(q.times(&r).difference(&want, bound, &size).map(|wrong| format!("Q R: {wrong}")))
}

fn trial_qr<T: Scalar>(context: &Context, _: &'static Operation, n: usize) -> Result<Trial> {
    let a = tall::<T>(context, n)?;
    let bytes = 2 * a.rows() * a.cols() * size_of::<T>();
    Ok(Trial { bytes: bytes as u64, run: Box::new(move || Qr::new(a.try_clone()?).map(drop)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContextOptions;
    use crate::runtime::devices;
    use crate::tune::CLASSES;

    /// With the candidate that is farthest from the default, in the precision that rounds less.
    #[test]
    fn products_and_factorisations_are_right_with_other_parameters() {
        let Some(devices) = clinalg_testing::found(devices()) else { return };
        for family in clinalg_testing::families([KernelFamily::Cpu, KernelFamily::Gpu]) {
            let options = ContextOptions { family, ..ContextOptions::default() };
            let context = Context::new(&devices[0], &options).unwrap();
            let precision = if context.device().fp64 { Precision::F64 } else { Precision::F32 };
            for op in TUNABLES.iter().copied().flatten().filter(|op| op.operation.family == context.family()) {
                let mut all = (op.candidates)(context.device(), precision);
                all.retain(|choice| op.operation.fits(context.device(), precision, choice));
                let choice = all[all.len() - 1];
                context.choices().set(op.operation, precision, 0..CLASSES, &choice);
                for n in [1, 300, 5000] {
                    let wrong = (op.check)(&context, precision, n).unwrap();
                    assert_eq!(wrong, None, "{}, {}, {n}", op.operation.name, op.operation.words(&choice));
                }
            }
        }
    }

    #[test]
    fn comparisons_find_what_is_wrong() {
        let a = Host { rows: 2, cols: 2, values: vec![1.0, 2.0, 3.0, f64::NAN] };
        let same = Host { rows: 2, cols: 2, values: vec![1.0, 2.0, 3.0, 4.0] };
        let why = a.difference(&same, 1.0, &same).unwrap();
        assert!(why.starts_with("element (1, 1)"), "{why}");
        let near = Host { rows: 2, cols: 2, values: vec![1.0, 2.5, 3.0, 4.0] };
        assert_eq!(near.difference(&same, 0.25, &same), None);
        assert!(near.difference(&same, 0.2, &same).unwrap().contains("(1, 0)"));
    }
}
