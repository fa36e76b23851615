//! Products of dense matrices of any shape, and of parts of them.

pub(crate) mod tiles;

use std::fmt;

pub(crate) use tiles::Tiles;

use crate::matrix::Values;
use crate::runtime::kernels::gemm::Program;
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::{Buffer, Context, Dense, Error, Precision, Result, Scalar};

/// Which form of a matrix a product takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transpose {
    /// The matrix itself.
    #[default]
    No,
    /// Its transpose.
    Yes,
    /// Its conjugate transpose; the transpose where the numbers are real.
    Conjugate,
}

impl Transpose {
    fn define(self) -> u64 {
        match self {
            Transpose::No => 0,
            Transpose::Yes => 1,
            Transpose::Conjugate => 2,
        }
    }
}

impl fmt::Display for Transpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Transpose::No => "the matrix itself",
            Transpose::Yes => "the transpose",
            Transpose::Conjugate => "the conjugate transpose",
        })
    }
}

/// C = alpha op(A) op(B) + beta C, enqueued; `beta = 0` never reads C.
///
/// op(A) is m x k, op(B) is k x n and C is m x n; any of them may be 0. 2 m n k operations, 8 m n k with complex numbers; every element of C is one sum over k
/// in an order that depends on the sizes and the device alone.
///
/// ```
/// use clinalg::ops::{self, Transpose};
/// use clinalg::{Context, Dense};
///
/// let context = Context::global()?;
/// let a = Dense::from_column_major(&context, 2, 3, &[1.0_f64, 4.0, 2.0, 5.0, 3.0, 6.0])?;
/// let mut gram = Dense::zeros(&context, 3, 3)?;
/// ops::gemm(1.0, Transpose::Yes, &a, Transpose::No, &a, 0.0, &mut gram)?;
/// assert_eq!(gram.to_column_major()?[0], 17.0);
/// # Ok::<(), clinalg::Error>(())
/// ```
///
/// # Errors
/// [`Error::Shape`] unless the sizes agree; [`Error::Context`]; [`Error::Allocation`] for the packed copies that CPUs take.
pub fn gemm<T: Scalar>(
    alpha: T,
    op_a: Transpose,
    a: &Dense<T>,
    op_b: Transpose,
    b: &Dense<T>,
    beta: T,
    c: &mut Dense<T>,
) -> Result<()> {
    let context = c.context().clone();
    for (argument, operand) in [("a", a), ("b", b)] {
        if !context.same(operand.context()) {
            return Err(Error::Context { argument });
        }
    }
    let (a, b, c) = (Block::of(a), Block::of(b), Block::of(c));
    let (m, k) = a.shape(op_a);
    let (depth, n) = b.shape(op_b);
    if depth != k {
        let expected = format!("a matrix with op(B) of {k} rows, as op(A) has {k} columns");
        return Err(Error::Shape { argument: "b", expected, got: format!("{} x {} with op = {op_b}", b.rows, b.cols) });
    }
    if (c.rows, c.cols) != (m, n) {
        return Err(Error::Shape {
            argument: "c",
            expected: format!("{m} x {n}"),
            got: format!("{} x {}", c.rows, c.cols),
        });
    }
    Product::new(&context).run(alpha, (op_a, a), (op_b, b), beta, c)
}

/// A part of a column-major matrix in device memory: element (i, j) is number `offset + j ld + i`.
///
/// Kernels get the memory as it is: whoever makes one keeps the matrix alive and unshared until the kernels are enqueued.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<T: Scalar> {
    pub(crate) memory: Out<'static, T>,
    pub(crate) offset: usize,
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) ld: usize,
}

impl<T: Scalar> Block<T> {
    pub(crate) fn of(matrix: &Dense<T>) -> Block<T> {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        Block { memory: Out::unbound(matrix.values()), offset: 0, rows, cols, ld: rows }
    }

    /// Rows and columns from the given ones up to, not including, the others.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Block<T> {
        assert!(rows.start <= rows.end && rows.end <= self.rows && cols.start <= cols.end && cols.end <= self.cols);
        let offset = self.offset + cols.start * self.ld + rows.start;
        Block { offset, rows: rows.len(), cols: cols.len(), ..*self }
    }

    fn shape(&self, op: Transpose) -> (usize, usize) {
        match op {
            Transpose::No => (self.rows, self.cols),
            Transpose::Yes | Transpose::Conjugate => (self.cols, self.rows),
        }
    }

    /// The memory for a kernel that reads it.
    pub(crate) fn input(&self) -> In<'static, T> {
        self.memory.as_input()
    }

    fn is_paired(&self) -> bool {
        self.offset.is_multiple_of(2) && self.ld.is_multiple_of(2)
    }
}

/// Products of blocks, with the memory that CPUs pack A and B into and that GPUs keep parts of sums in; kept over many products.
pub(crate) struct Product<T: Scalar> {
    context: Context,
    packed: Option<[Buffer<T>; 2]>,
    partial: Option<Buffer<T>>,
    /// Only the elements on and below the diagonal of C.
    lower: bool,
}

impl<T: Scalar> Product<T> {
    pub(crate) fn new(context: &Context) -> Product<T> {
        Product { context: context.clone(), packed: None, partial: None, lower: false }
    }

    /// C = alpha op(A) op(B) + beta C for blocks whose sizes agree; C overlaps neither A nor B.
    pub(crate) fn run(
        &mut self,
        alpha: T,
        (op_a, a): (Transpose, Block<T>),
        (op_b, b): (Transpose, Block<T>),
        beta: T,
        c: Block<T>,
    ) -> Result<()> {
        let (k, _) = b.shape(op_b);
        // One compilation for both where they are the same.
        let plain = |op| if op == Transpose::Conjugate && !T::IS_COMPLEX { Transpose::Yes } else { op };
        let [op_a, op_b] = [op_a, op_b].map(plain);
        if c.rows == 0 || c.cols == 0 {
            return Ok(());
        }
        match self.context.family() {
            KernelFamily::Gpu => {
                let tiles = Tiles::choose::<T>(&self.context, [c.rows, c.cols], k);
                self.by_tiles(tiles, k, (alpha, beta), (op_a, a), (op_b, b), c)
            }
            KernelFamily::Cpu => self.by_panels(k, alpha, (op_a, a), (op_b, b), beta, c),
        }
    }

    /// As [`Product::run`] for the elements on and below the diagonal of C.
    pub(crate) fn run_lower(
        &mut self,
        alpha: T,
        a: (Transpose, Block<T>),
        b: (Transpose, Block<T>),
        beta: T,
        c: Block<T>,
    ) -> Result<()> {
        self.lower = true;
        let done = self.run(alpha, a, b, beta, c);
        self.lower = false;
        done
    }

    /// With `parts` work-groups for each tile, which share the depth `k`.
    pub(crate) fn by_tiles(
        &mut self,
        (tiles, parts): (Tiles, usize),
        k: usize,
        (alpha, beta): (T, T),
        (op_a, a): (Transpose, Block<T>),
        (op_b, b): (Transpose, Block<T>),
        c: Block<T>,
    ) -> Result<()> {
        let (m, n) = (c.rows, c.cols);
        // Whole tiles, so that a part begins where pairs of elements do.
        let span = k.div_ceil(parts).next_multiple_of(tiles.depth());
        let parts = k.div_ceil(span.max(1)).max(1);
        let (to, factors) = if parts == 1 {
            (c, (alpha, beta))
        } else {
            let needs = parts * m * n;
            if self.partial.as_ref().is_none_or(|partial| partial.len() < needs) {
                self.partial = None;
                self.partial = Some(Buffer::uninit(&self.context, needs)?);
            }
            let memory = Out::unbound(self.partial.as_ref().expect("made above"));
            (Block { memory, offset: 0, ld: m, ..c }, (T::one(), T::zero()))
        };
        let program = tiles.program::<T>().ops_unless(op_a.define() + 3 * op_b.define(), 0);
        // NVIDIA's compiler keeps more work-groups of tensor cores under way with it: C - A B of 8192 x 64 x 8192, 0.70 ms against 1.07.
        let by_parts = parts > 1 || matches!(tiles, Tiles::Tensor(_));
        let program = program.parts_unless(by_parts.into(), 0);
        let program = match tiles {
            Tiles::Registers(_) => program,
            Tiles::Tensor { .. } => {
                let paired = !T::IS_COMPLEX && a.is_paired() && b.is_paired() && to.is_paired();
                let program = program.pairs_unless(paired.into(), 0);
                program.tensor_unless(self.context.device().tensor_f64.into(), 0)
            }
        };
        let range = Range::d1(parts * tiles.groups([m, n]) * tiles.items(), tiles.items());
        let lower = self.lower.into();
        program.gemm_gpu(
            &self.context,
            range,
            m,
            n,
            k,
            span,
            factors.0,
            a.input(),
            a.offset,
            a.ld,
            b.input(),
            b.offset,
            b.ld,
            factors.1,
            to.memory,
            to.offset,
            to.ld,
            lower,
        )?;
        if parts == 1 {
            return Ok(());
        }
        let local = self.context.local();
        let range = Range::d1((m * n).next_multiple_of(local), local);
        let count = parts as u32;
        program.sum_parts(&self.context, range, m, n, count, lower, alpha, to.input(), beta, c.memory, c.offset, c.ld)
    }

    fn by_panels(
        &mut self,
        k: usize,
        alpha: T,
        (op_a, a): (Transpose, Block<T>),
        (op_b, b): (Transpose, Block<T>),
        beta: T,
        c: Block<T>,
    ) -> Result<()> {
        let (m, n) = (c.rows, c.cols);
        let [tile, deepest] = tiles::packed::<T>(&self.context, m, n);
        let depth = k.min(deepest);
        let [tall, wide] = [m, n].map(|length| length.next_multiple_of(tile));
        let needs = [tall * depth, wide * depth];
        let context = self.context.clone();
        let fits = self.packed.as_ref().is_some_and(|[a, b]| a.len() >= needs[0] && b.len() >= needs[1]);
        if !fits {
            self.packed = None;
            self.packed = Some([Buffer::uninit(&context, needs[0])?, Buffer::uninit(&context, needs[1])?]);
        }
        let [packed_a, packed_b] = self.packed.as_ref().expect("made above");
        let program = Program::<T>::new().packed(tile as u64).ops_unless(op_a.define() + 3 * op_b.define(), 0);
        let panel = if T::PRECISION == Precision::F32 { 16 } else { 8 };
        let columns = if T::IS_COMPLEX { 4 } else { 8 };
        // With no column of op(A) one product is left, which multiplies C by beta.
        for from in (0..k.max(1)).step_by(deepest) {
            let until = k.min(from + deepest);
            let along = |block: Block<T>, op: Transpose, first: bool| match (op == Transpose::No) == first {
                true => block.part(0..block.rows, from..until),
                false => block.part(from..until, 0..block.cols),
            };
            let (a, b) = (along(a, op_a, true), along(b, op_b, false));
            let depth = until - from;
            let (rows, columns_of_b) = (Range::d1(m.div_ceil(panel), 1), Range::d1(n.div_ceil(columns), 1));
            program.pack_a(&context, rows, m, depth, a.input(), a.offset, a.ld, Out::parts(packed_a))?;
            program.pack_b(&context, columns_of_b, depth, n, b.input(), b.offset, b.ld, Out::shared(packed_b))?;
            let now = if from == 0 { beta } else { T::one() };
            let (packed_a, lower) = (In::parts(packed_a), self.lower.into());
            let items = Range::d1(m.div_ceil(tile) * n.div_ceil(tile), 1);
            program.gemm_cpu(
                &context, items, m, n, depth, alpha, packed_a, packed_b, now, c.memory, c.offset, c.ld, lower,
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::devices;
    use crate::scalar::Real;
    use crate::{Complex, ContextOptions};

    /// Numbers with parts from -3 to 3, whose products are exact.
    fn whole<T: Scalar>(n: usize, seed: usize) -> Vec<T> {
        let part = |k: usize| T::Real::nearest(((k * 7919 + seed * 31 + k / 13) % 7) as f64 - 3.0);
        (0..n).map(|k| T::from_parts(part(k), part(k + n + 5))).collect()
    }

    fn check<T: Scalar>(
        context: &Context,
        tiles: Tiles,
        [m, n, k]: [usize; 3],
        [op_a, op_b]: [Transpose; 2],
        lower: bool,
    ) {
        // Parts of larger matrices that begin in odd places.
        let [rows_a, cols_a] = if op_a == Transpose::No { [m, k] } else { [k, m] };
        let [rows_b, cols_b] = if op_b == Transpose::No { [k, n] } else { [n, k] };
        let make = |rows: usize, cols: usize, seed| {
            let values = whole::<T>((rows + 3) * (cols + 2), seed);
            (Dense::from_column_major(context, rows + 3, cols + 2, &values).unwrap(), values)
        };
        let (a, of_a) = make(rows_a, cols_a, 1);
        let (b, of_b) = make(rows_b, cols_b, 2);
        let (c, of_c) = make(m, n, 3);
        let inner = |matrix: &Dense<T>| Block::of(matrix).part(1..matrix.rows() - 2, 1..matrix.cols() - 1);
        let mut product = Product::<T>::new(context);
        product.lower = lower;
        let (alpha, beta) = (T::from_f64(-1.0), T::from_f64(2.0));
        // Parts of a deep product, of which the last is shorter.
        let parts = if k > 30 { 3 } else { 1 };
        product.by_tiles((tiles, parts), k, (alpha, beta), (op_a, inner(&a)), (op_b, inner(&b)), inner(&c)).unwrap();
        let at = |values: &[T], rows: usize, op: Transpose, i: usize, j: usize| {
            let (i, j) = if op == Transpose::No { (i, j) } else { (j, i) };
            let value = values[(j + 1) * (rows + 3) + i + 1];
            if op == Transpose::Conjugate { value.conj() } else { value }
        };
        let got = c.to_column_major().unwrap();
        for (place, (&got, &before)) in got.iter().zip(&of_c).enumerate() {
            let (i, j) = (place % (m + 3), place / (m + 3));
            let inside = (1..=m).contains(&i) && (1..=n).contains(&j) && (!lower || i >= j);
            let mut want = before;
            if inside {
                let terms = (0..k).map(|l| at(&of_a, rows_a, op_a, i - 1, l) * at(&of_b, rows_b, op_b, l, j - 1));
                want = beta * before + alpha * terms.sum();
            }
            assert_eq!(got, want, "{tiles:?} {m} x {n} x {k} {op_a:?} {op_b:?} lower {lower} ({i}, {j})");
        }
    }

    #[test]
    fn all_tiles_multiply_parts_of_matrices_exactly() {
        let options = ContextOptions { family: Some(KernelFamily::Gpu), ..ContextOptions::default() };
        for device in devices().expect("a device") {
            let context = Context::new(&device, &options).unwrap();
            let ops = [Transpose::No, Transpose::Yes];
            let conjugate = |op| if op == Transpose::Yes { Transpose::Conjugate } else { op };
            let pairs = ops.into_iter().flat_map(|a| ops.map(|b| [a, b]));
            // Tensor cores, or what stands for them on other devices.
            let tensor = [Tiles::Tensor([64, 32, 16, 16, 16, 2]), Tiles::Tensor([32, 64, 16, 16, 32, 3])];
            for (k, pair) in pairs.enumerate() {
                // Each pair compiles its kernels; without the long cases with one form of each kind of tiles.
                let (long, even) = (clinalg_testing::long(), k % 2 == 0);
                for shape in [[1, 1, 1], [70, 45, 37], [64, 65, 8]] {
                    let double = context.device().fp64;
                    if double {
                        let some = if long { &tensor[..] } else { &tensor[k % 2..][..1] };
                        some.iter().for_each(|&tiles| check::<f64>(&context, tiles, shape, pair, false));
                    }
                    if double && (long || even) {
                        check::<f64>(&context, Tiles::Registers([128, 64, 8, 8, 4]), shape, pair, false);
                        let complex = Tiles::Tensor([32, 64, 8, 16, 32, 2]);
                        check::<Complex<f64>>(&context, complex, shape, pair.map(conjugate), false);
                    }
                    if long || !double || !even {
                        check::<f32>(&context, Tiles::Registers([128, 128, 8, 8, 8]), shape, pair, false);
                    }
                }
            }
            if context.device().fp64 {
                check::<f64>(&context, tensor[0], [100, 100, 20], [Transpose::No, Transpose::Yes], true);
            }
            check::<f32>(
                &context,
                Tiles::Registers([32, 32, 16, 4, 4]),
                [100, 100, 20],
                [Transpose::No, Transpose::Yes],
                true,
            );
        }
    }
}
