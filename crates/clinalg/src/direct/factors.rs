//! Factors of a sparse matrix.

use std::sync::Arc;

use num_traits::Float;

use super::analysis::{Analysis, Pattern};
use super::elimination;
use super::kind::{FactorsParams, FactorsReport, Inertia, Kind, Solved};
use super::ldl::{self, STEP};
use super::pairs::partners;
use super::substitution::{Substitution, program};
use crate::error::check_length;
use crate::matrix::host::{equilibrated, has_weak_diagonal, inverse_of, matching};
use crate::matrix::{Inspection, Structure, Values};
use crate::ops::factor::{Determinant, estimate_by};
use crate::ops::{Transpose, conj, conj_transpose, norm1_of_columns};
use crate::runtime::{Out, Range};
use crate::solve::Preconditioner;
use crate::{Buffer, Context, Csr, CsrParts, Dense, Error, Precision, Real, Result, Scalar, Vector, number};

/// Right-hand sides that are solved for at once.
const COLUMNS: usize = 32;

/// Factors of rows and columns.
pub(super) struct Scales<T: Scalar> {
    pub(super) rows: Buffer<T::Real>,
    pub(super) columns: Buffer<T::Real>,
}

impl<T: Scalar> Scales<T> {
    /// The powers of 2 next to these factors, given as logarithms, so that products with them are exact.
    fn of_logarithms(context: &Context, [rows, columns]: [Vec<f64>; 2]) -> Result<Scales<T>> {
        let powers = |logs: Vec<f64>| {
            // Of a normal number.
            let most = if T::PRECISION == Precision::F32 { 126.0 } else { 1022.0 };
            let exponent = |log: f64| (log * std::f64::consts::LOG2_E).round().clamp(-most, most);
            let power = |log: &f64| <T::Real as Scalar>::from_f64(exponent(*log).exp2());
            Buffer::from_slice(context, &logs.iter().map(power).collect::<Vec<_>>())
        };
        Ok(Scales { rows: powers(rows)?, columns: powers(columns)? })
    }
}

/// What the entries of a matrix show; an error that names one that is not finite.
fn inspected<T: Scalar>(a: &Csr<T>) -> Result<Inspection> {
    let inspection = Inspection::of(a)?;
    match inspection.first_not_finite {
        None => Ok(inspection),
        Some((row, column)) => {
            let (row, column) = (row + 1, column + 1);
            let reason = format!("the entry in row {row} and column {column} (counted from 1) is not finite");
            Err(Error::unsuitable("a", reason))
        }
    }
}

/// Whether a permutation is odd.
fn is_odd(place: &[usize]) -> bool {
    let mut seen = vec![false; place.len()];
    let mut cycles = 0;
    for start in 0..place.len() {
        cycles += usize::from(!seen[start]);
        let mut at = start;
        while !std::mem::replace(&mut seen[at], true) {
            at = place[at];
        }
    }
    (place.len() - cycles) % 2 == 1
}

/// Whether a matrix equals its transpose up to rounding, as [`Inspection::hermitian`] says it of the conjugate transpose.
fn is_symmetric<T: Scalar>(a: &CsrParts<T>) -> Result<bool> {
    let mirrored = a.transpose()?;
    if (&mirrored.offsets, &mirrored.indices) != (&a.offsets, &a.indices) {
        return Ok(false);
    }
    let most = 64.0 * T::Real::epsilon().into_f64();
    let mut pairs = a.values.iter().zip(&mirrored.values);
    Ok(pairs.all(|(&x, &y)| (x - y).modulus().into_f64() <= most * x.modulus().into_f64().max(y.modulus().into_f64())))
}

/// The numbers become their conjugates.
fn conjugate<T: Scalar, V: Values<T>>(values: &mut V) -> Result<()> {
    if T::IS_COMPLEX {
        let given = values.try_clone()?;
        conj(&given, values)?;
    }
    Ok(())
}

/// What a factorisation has found.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    /// Pivots that were replaced, and those of them that are zeros.
    pub(super) replaced: usize,
    pub(super) zeros: usize,
    /// Negative eigenvalues of D.
    pub(super) negative: usize,
}

/// What kernels need of factors.
pub(super) struct Parts<'a, T: Scalar> {
    pub(super) kind: Kind,
    /// Which transpose L' of L D L' is.
    pub(super) op: Transpose,
    pub(super) analysis: &'a Analysis,
    pub(super) scales: &'a Scales<T>,
    pub(super) values: &'a Buffer<T>,
    pub(super) pivots: &'a Buffer<u32>,
    /// D of L D L' and its inverse.
    pub(super) blocks: &'a Buffer<T>,
    /// The row that each pivot of LU and L D L' factors stands in, on GPUs.
    pub(super) rows_of_pivots: &'a Buffer<u32>,
}

/// A block of D.
enum Block<T: Scalar> {
    One(T),
    /// By columns.
    Two([T; 4]),
}

impl<T: Scalar> Block<T> {
    fn determinant(&self) -> T {
        match *self {
            Block::One(d) => d,
            Block::Two([first, below, above, second]) => first * second - below * above,
        }
    }

    /// About the moduli of its eigenvalues.
    fn sizes(&self) -> Vec<f64> {
        match self {
            Block::One(d) => vec![d.modulus().into_f64()],
            Block::Two(elements) => {
                let largest = elements.iter().map(|d| d.modulus().into_f64()).fold(0.0, f64::max);
                vec![largest, self.determinant().modulus().into_f64() / largest]
            }
        }
    }
}

/// The memory of solves with a number of right-hand sides.
struct Work<T: Scalar> {
    columns: usize,
    substitution: Substitution<T>,
    residual: Buffer<T>,
    correction: Buffer<T>,
    /// The largest backward errors of parts of the rows.
    largest: Buffer<T::Real>,
}

/// The larger of two errors; a NaN is larger than any.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

impl<T: Scalar> Work<T> {
    fn new(context: &Context, analysis: &Analysis, columns: usize) -> Result<Work<T>> {
        let parts = elimination::parts_of_rows(context, analysis.n);
        Ok(Work {
            columns,
            substitution: Substitution::new(context, analysis, columns)?,
            residual: Buffer::uninit(context, analysis.n * columns)?,
            correction: Buffer::uninit(context, analysis.n * columns)?,
            largest: Buffer::uninit(context, parts * columns)?,
        })
    }

    /// Of each column of x; the residuals are kept.
    fn backward_errors(&self, parts: &Parts<'_, T>, a: &Csr<T>, b: &Buffer<T>, x: &Buffer<T>) -> Result<Vec<f64>> {
        let (context, n, structure) = (a.context(), parts.analysis.n, a.structure());
        let count = elimination::parts_of_rows(context, n);
        let range = elimination::groups(context, count).times(self.columns);
        let (residual, largest) = (Out::shared(&self.residual), Out::shared(&self.largest));
        let (offset, column, value) = (&structure.offset, &structure.column, a.values());
        let program = program(parts);
        program.backward_errors(context, range, n, offset, column, value, x, b, residual, largest)?;
        let largest = self.largest.to_vec()?;
        let of_column = |of_parts: &[T::Real]| of_parts.iter().map(|error| error.into_f64()).fold(0.0, larger);
        Ok(if count == 0 { vec![0.0; self.columns] } else { largest.chunks(count).map(of_column).collect() })
    }
}

/// Factors of a sparse matrix on the device, by multifrontal elimination.
pub struct Factors<T: Scalar> {
    params: FactorsParams,
    kind: Kind,
    op: Transpose,
    structure: Arc<Structure>,
    analysis: Analysis,
    scales: Scales<T>,
    is_matched: bool,
    values: Buffer<T>,
    blocks: Buffer<T>,
    pivots: Buffer<u32>,
    rows_of_pivots: Buffer<u32>,
    counts: Counts,
    work: Work<T>,
}

impl<T: Scalar> std::fmt::Debug for Factors<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Factors").field("report", &self.report()).finish_non_exhaustive()
    }
}

impl<T: Scalar> Factors<T> {
    /// Orders, analyses and factorises a square matrix. Waits for the device.
    ///
    /// # Errors
    /// [`Error::Shape`] unless A is square; [`Error::Unsuitable`] that names an entry that is not finite, or a row of a structurally
    /// singular matrix; [`Error::NotPositiveDefinite`] where Cholesky factors were asked for, with the number of the row, counted from 1,
    /// whose pivot is not positive; [`Error::Allocation`].
    pub fn new(a: &Csr<T>, params: &FactorsParams) -> Result<Factors<T>> {
        if a.rows() != a.cols() {
            let got = format!("{} x {}", a.rows(), a.cols());
            return Err(Error::Shape { argument: "a", expected: "a square matrix".into(), got });
        }
        let inspection = inspected(a)?;
        let looks_definite = inspection.hermitian && inspection.positive_diagonal == a.rows();
        let is_symmetric = || Ok(T::IS_COMPLEX && is_symmetric(&a.to_parts()?)?);
        let indefinite = || -> Result<(Kind, Transpose)> {
            Ok(match inspection.hermitian {
                true => (Kind::Ldl, Transpose::Conjugate),
                false if is_symmetric()? => (Kind::Ldl, Transpose::Yes),
                false => (Kind::Lu, Transpose::Conjugate),
            })
        };
        match params.kind {
            Some(Kind::Cholesky) if !inspection.hermitian => {
                Err(Error::unsuitable("a", "it is not Hermitian, as Cholesky factors need; use those of LU"))
            }
            Some(Kind::Ldl) => match indefinite()? {
                (Kind::Ldl, op) => Factors::of(a, params, Kind::Ldl, op),
                _ if T::IS_COMPLEX => {
                    let reason = "it is neither Hermitian nor symmetric; LDL factors need one of these, use LU factors";
                    Err(Error::unsuitable("a", reason))
                }
                _ => Err(Error::unsuitable(
                    "a",
                    "it is not symmetric; LDL factors need a symmetric matrix, use LU factors",
                )),
            },
            Some(kind) => Factors::of(a, params, kind, Transpose::Conjugate),
            None if looks_definite => match Factors::of(a, params, Kind::Cholesky, Transpose::Conjugate) {
                Err(Error::NotPositiveDefinite { .. }) => Factors::of(a, params, Kind::Ldl, Transpose::Conjugate),
                made => made,
            },
            None => {
                let (kind, op) = indefinite()?;
                Factors::of(a, params, kind, op)
            }
        }
    }

    fn of(a: &Csr<T>, params: &FactorsParams, kind: Kind, op: Transpose) -> Result<Factors<T>> {
        let (context, n) = (a.context(), a.rows());
        let structure = a.structure().clone();
        let (offsets, columns) = (structure.offset.to_vec()?, structure.column.to_vec()?);
        let (mut matched, mut partner) = (None, None);
        let scales = if kind == Kind::Cholesky {
            // Ones on the diagonal.
            let logs: Vec<f64> = a.diagonal()?.to_vec()?.iter().map(|d| -0.5 * d.modulus().into_f64().ln()).collect();
            [logs.clone(), logs]
        } else {
            let parts = a.to_parts()?;
            // The rows of a structurally singular matrix cannot be matched; its zero pivots are replaced.
            let found = if has_weak_diagonal(&parts) { matching(&parts)?.ok() } else { None };
            let [rows, columns] = match &found {
                Some(found) => [found.row_log.clone(), found.column_log.clone()],
                None => equilibrated(&parts),
            };
            if kind == Kind::Ldl {
                // The mean of both, with which entries stay at most 1 as well.
                let logs: Vec<f64> = rows.iter().zip(columns).map(|(row, column)| 0.5 * (row + column)).collect();
                if let Some(found) = found {
                    let diagonal = a.diagonal()?.to_vec()?;
                    let size = |i: usize| diagonal[i].modulus().into_f64().ln() + 2.0 * logs[i];
                    partner = Some(partners(&found.row_of, size));
                }
                [logs.clone(), logs]
            } else {
                matched = found.map(|found| inverse_of(&found.row_of));
                [rows, columns]
            }
        };
        let scales = Scales::of_logarithms(context, scales)?;
        let has_exchanges = kind != Kind::Cholesky;
        let pattern = Pattern {
            offsets: &offsets,
            columns: &columns,
            matched: matched.as_deref(),
            kind,
            partner: partner.as_deref(),
        };
        let analysis = Analysis::new(context, &pattern, |front| elimination::is_small(context, front))?;
        if analysis.operations > params.operations {
            let (needed, most) = (analysis.operations, params.operations);
            let reason = format!(
                "its factors take {} multiplications and additions, more than the {} that are allowed; \
                 use an iterative method",
                number(needed, 2),
                number(most, 2)
            );
            return Err(Error::unsuitable("a", reason));
        }
        let mut factors = Factors {
            params: *params,
            kind,
            op,
            structure,
            scales,
            is_matched: matched.is_some() || partner.is_some(),
            values: Buffer::uninit(context, analysis.factors)?,
            blocks: Buffer::zeroed(context, if kind == Kind::Ldl { STEP * n } else { 0 })?,
            pivots: Buffer::zeroed(context, if has_exchanges { n } else { 0 })?,
            rows_of_pivots: Buffer::zeroed(
                context,
                if has_exchanges && analysis.device.products.is_some() { n } else { 0 },
            )?,
            counts: Counts::default(),
            work: Work::new(context, &analysis, 1)?,
            analysis,
        };
        factors.eliminate(a)?;
        Ok(factors)
    }

    /// New factors for a matrix with the same pattern: its order of elimination, matching and scalings are kept. The bits are those of a
    /// first factorisation with that order. After an error during elimination the factors are of no matrix. Waits for the device.
    ///
    /// # Errors
    /// [`Error::Unsuitable`] for another pattern; [`Error::NotPositiveDefinite`]; [`Error::Context`].
    pub fn refactor(&mut self, a: &Csr<T>) -> Result<()> {
        if !self.context().same(a.context()) {
            return Err(Error::Context { argument: "a" });
        }
        if !self.has_pattern(a)? {
            let reason = "its entries have other places than those of the matrix that was analysed; make new factors";
            return Err(Error::unsuitable("a", reason));
        }
        let inspection = inspected(a)?;
        if self.kind == Kind::Cholesky && !inspection.hermitian {
            return Err(Error::unsuitable("a", "it is not Hermitian, as Cholesky factors need; make new factors"));
        }
        let keeps_symmetry = || match self.op {
            Transpose::Yes => is_symmetric(&a.to_parts()?),
            _ => Ok(inspection.hermitian),
        };
        if self.kind == Kind::Ldl && !keeps_symmetry()? {
            let kind = if self.op == Transpose::Conjugate { "Hermitian" } else { "symmetric" };
            let reason = format!("it is not {kind}, but the LDL factors are of a {kind} matrix; make new factors");
            return Err(Error::unsuitable("a", reason));
        }
        self.eliminate(a)
    }

    fn has_pattern(&self, a: &Csr<T>) -> Result<bool> {
        let (own, other) = (&self.structure, a.structure());
        if Arc::ptr_eq(own, other) {
            return Ok(true);
        }
        let same_shape = own.rows == other.rows && own.cols == other.cols && own.nnz == other.nnz;
        Ok(same_shape
            && own.offset.to_vec()? == other.offset.to_vec()?
            && own.column.to_vec()? == other.column.to_vec()?)
    }

    fn eliminate(&mut self, a: &Csr<T>) -> Result<()> {
        let eliminate = match self.kind {
            Kind::Cholesky => elimination::cholesky,
            Kind::Ldl => ldl::ldl,
            Kind::Lu => elimination::lu,
        };
        self.values.fill(T::zero())?;
        self.counts = eliminate(&self.parts(), a)?;
        Ok(())
    }

    /// What these factors are.
    pub fn report(&self) -> FactorsReport {
        let (fronts, size) = (&self.analysis.fronts, size_of::<T>() as u64);
        FactorsReport {
            kind: self.kind,
            rows: self.analysis.n,
            entries: self.analysis.factors,
            operations: self.analysis.operations,
            fronts: fronts.len(),
            largest_front: fronts.iter().map(|front| front.order()).max().unwrap_or(0),
            levels: self.analysis.levels.len(),
            bytes: (self.analysis.factors + self.blocks.len()) as u64 * size + self.analysis.device.bytes(),
            work_bytes: self.analysis.contributions.iter().sum::<usize>() as u64 * size,
            replaced_pivots: self.counts.replaced,
            is_matched: self.is_matched,
            inertia: self.inertia().ok(),
        }
    }

    fn parts(&self) -> Parts<'_, T> {
        let Factors { kind, op, analysis, scales, values, blocks, pivots, rows_of_pivots, .. } = self;
        Parts { kind: *kind, op: *op, analysis, scales, values, pivots, blocks, rows_of_pivots }
    }

    /// How many eigenvalues of A are positive, negative and zero, by Sylvester's law of inertia: as many as of D.
    ///
    /// # Errors
    /// [`Error::Unsuitable`] for LU factors, for a complex symmetric matrix, and where pivots were replaced that other pivots depend on.
    pub fn inertia(&self) -> Result<Inertia> {
        let (n, Counts { replaced, zeros, negative }) = (self.analysis.n, self.counts);
        let reason = match self.kind {
            Kind::Cholesky => return Ok(Inertia { positive: n, negative: 0, zero: 0 }),
            Kind::Lu => {
                "LU factors do not give the inertia; only a Hermitian matrix has one, and its LDL factors give it"
                    .into()
            }
            Kind::Ldl if self.op == Transpose::Yes && T::IS_COMPLEX => {
                "it is complex symmetric but not Hermitian: its eigenvalues need not be real, so it has no inertia"
                    .into()
            }
            Kind::Ldl if replaced > zeros => format!(
                "{} of its pivots were too small and were replaced, so the factors give the inertia of a perturbed matrix; \
                 use an eigensolver, or add a small multiple of the identity to the matrix",
                replaced - zeros
            ),
            Kind::Ldl => return Ok(Inertia { positive: n - negative - zeros, negative, zero: zeros }),
        };
        Err(Error::unsuitable("a", reason))
    }

    /// x with A x = b, refined until the backward error no longer halves. `a` is the matrix of these factors. Waits for the device.
    ///
    /// A singular matrix has a solution with a small backward error only where b lies in its range.
    ///
    /// # Errors
    /// [`Error::Length`] and [`Error::Context`] that name the argument; [`Error::Unsuitable`] where the backward error stays above
    /// eps^(3/4), as A is singular to working precision or the pivots of the factors were too small.
    pub fn solve(&mut self, a: &Csr<T>, b: &Vector<T>, x: &mut Vector<T>) -> Result<Solved> {
        self.check_vectors([("b", b), ("x", x)])?;
        self.work.substitution.run(&self.parts(), false, 1, b.buffer(), x.buffer())?;
        self.refine(&self.work, false, a, b.buffer(), x.buffer())
    }

    /// x with op(A) x = b, as [`Factors::solve`]. With the transpose or its conjugate that of A is made for the refinement.
    ///
    /// # Errors
    /// As [`Factors::solve`]; [`Error::Allocation`].
    pub fn solve_op(&mut self, op: Transpose, a: &Csr<T>, b: &Vector<T>, x: &mut Vector<T>) -> Result<Solved> {
        if op == Transpose::No {
            return self.solve(a, b, x);
        }
        self.check_vectors([("b", b), ("x", x)])?;
        let solved = self.by_adjoint(op, a, b, |factors, adjoint, b| {
            factors.work.substitution.run(&factors.parts(), true, 1, b.buffer(), x.buffer())?;
            factors.refine(&factors.work, true, adjoint, b.buffer(), x.buffer())
        })?;
        if op == Transpose::Yes {
            conjugate(x)?;
        }
        Ok(solved)
    }

    /// X with A X = B, each column refined as by [`Factors::solve`]; the largest backward error and the most steps of a column. The factors
    /// are read once for several columns. Waits for the device.
    ///
    /// # Errors
    /// As [`Factors::solve`]; [`Error::Shape`] unless B has as many rows as A.
    pub fn solve_columns(&mut self, a: &Csr<T>, b: &Dense<T>) -> Result<(Dense<T>, Solved)> {
        self.refined_columns(false, a, b)
    }

    /// X with op(A) X = B, as [`Factors::solve_columns`] and [`Factors::solve_op`].
    ///
    /// # Errors
    /// As [`Factors::solve_columns`]; [`Error::Allocation`].
    pub fn solve_columns_op(&mut self, op: Transpose, a: &Csr<T>, b: &Dense<T>) -> Result<(Dense<T>, Solved)> {
        if op == Transpose::No {
            return self.solve_columns(a, b);
        }
        let (mut x, solved) =
            self.by_adjoint(op, a, b, |factors, adjoint, b| factors.refined_columns(true, adjoint, b))?;
        if op == Transpose::Yes {
            conjugate(&mut x)?;
        }
        Ok((x, solved))
    }

    /// `solve` of the adjoint of A and of b, or of the conjugate of b where `op` is the transpose.
    fn by_adjoint<V: Values<T>, R>(
        &self,
        op: Transpose,
        a: &Csr<T>,
        b: &V,
        solve: impl FnOnce(&Self, &Csr<T>, &V) -> Result<R>,
    ) -> Result<R> {
        let adjoint = conj_transpose(a)?;
        if op == Transpose::Yes && T::IS_COMPLEX {
            let mut conjugated = b.try_clone()?;
            conjugate(&mut conjugated)?;
            return solve(self, &adjoint, &conjugated);
        }
        solve(self, &adjoint, b)
    }

    /// X with A X = B, or A' X = B where `adjoint`; `a` is the matrix of the system.
    fn refined_columns(&self, adjoint: bool, a: &Csr<T>, b: &Dense<T>) -> Result<(Dense<T>, Solved)> {
        let (context, n, cols) = (b.context(), self.analysis.n, b.cols());
        if b.rows() != n {
            let got = format!("{} x {}", b.rows(), b.cols());
            return Err(Error::Shape { argument: "b", expected: format!("{n} rows, as A has"), got });
        }
        let mut x = Dense::zeros(context, n, cols)?;
        let mut worst = Solved { backward_error: 0.0, refinements: 0 };
        let most = cols.clamp(1, COLUMNS);
        let mut work = Work::new(context, &self.analysis, most)?;
        for first in (0..cols).step_by(COLUMNS) {
            let count = (cols - first).min(COLUMNS);
            if count < most {
                work = Work::new(context, &self.analysis, count)?;
            }
            let right = b.as_vector().copy_range(first * n..(first + count) * n)?;
            let found = Vector::uninit(context, count * n)?;
            work.substitution.run(&self.parts(), adjoint, count, right.buffer(), found.buffer())?;
            let solved = self.refine(&work, adjoint, a, right.buffer(), found.buffer())?;
            worst.backward_error = worst.backward_error.max(solved.backward_error);
            worst.refinements = worst.refinements.max(solved.refinements);
            x.as_vector_mut().write_slice(first * n, &found)?;
        }
        Ok((x, worst))
    }

    fn check_vectors(&self, vectors: [(&'static str, &Vector<T>); 2]) -> Result<()> {
        for (argument, vector) in vectors {
            check_length(argument, self.analysis.n, vector.len())?;
            if !self.context().same(vector.context()) {
                return Err(Error::Context { argument });
            }
        }
        Ok(())
    }

    /// The determinant of A, from the pivots. Waits for the device.
    ///
    /// # Errors
    /// [`Error::Unsuitable`] where pivots were replaced: the matrix is singular to working precision or nearly so.
    pub fn determinant(&self) -> Result<Determinant<T>> {
        if self.counts.replaced > 0 {
            let reason = format!(
                "{} of its pivots were too small and were replaced, so that their product is not the determinant: \
                 it is singular to working precision, or nearly so",
                self.counts.replaced
            );
            return Err(Error::unsuitable("a", reason));
        }
        let mut factors = match self.kind {
            Kind::Ldl => self.blocks_of_d()?.into_iter().map(|block| block.determinant()).collect(),
            _ => elimination::pivots(self.context(), &self.parts())?,
        };
        let is_odd = match self.kind {
            Kind::Cholesky => {
                factors.extend_from_within(..);
                false
            }
            // Rows and columns are permuted alike.
            Kind::Ldl => false,
            Kind::Lu => {
                let exchanges = self.pivots.to_vec()?.iter().enumerate().filter(|&(k, &p)| k != p as usize).count();
                let rows: Vec<usize> =
                    self.analysis.device.row_place.to_vec()?.into_iter().map(|place| place as usize).collect();
                (exchanges % 2 == 1) ^ is_odd(&rows) ^ is_odd(&self.analysis.column_place)
            }
        };
        for scales in [&self.scales.rows, &self.scales.columns] {
            let inverse = |scale: T::Real| T::from_real(<T::Real as num_traits::One>::one() / scale);
            factors.extend(scales.to_vec()?.into_iter().map(inverse));
        }
        Ok(Determinant::of_diagonal(&factors, is_odd))
    }

    fn blocks_of_d(&self) -> Result<Vec<Block<T>>> {
        let steps = self.blocks.to_vec()?;
        let mut blocks = Vec::new();
        let mut k = 0;
        while k < self.analysis.n {
            let [first, below] = [steps[STEP * k], steps[STEP * k + 1]];
            if below == T::zero() {
                blocks.push(Block::One(first));
                k += 1;
            } else {
                let above = if self.op == Transpose::Yes { below } else { below.conj() };
                blocks.push(Block::Two([first, below, above, steps[STEP * (k + 1)]]));
                k += 2;
            }
        }
        Ok(blocks)
    }

    /// [`Factors::reciprocal_condition`] where the pivots differ by more than eps^(-2/3), which suggests a nearly singular matrix; else `None`.
    /// Waits for the device.
    ///
    /// # Errors
    /// As [`Factors::reciprocal_condition`].
    pub fn condition_if_suspect(&self, a: &Csr<T>) -> Result<Option<f64>> {
        let moduli: Vec<f64> = match self.kind {
            Kind::Ldl => self.blocks_of_d()?.iter().flat_map(Block::sizes).collect(),
            _ => elimination::pivots(self.context(), &self.parts())?.iter().map(|p| p.modulus().into_f64()).collect(),
        };
        let moduli = moduli.into_iter();
        let [least, most] = moduli.fold([f64::INFINITY, 0.0], |[least, most], size| [least.min(size), most.max(size)]);
        // Those of Cholesky factors are roots.
        let power = if self.kind == Kind::Cholesky { 1.0 / 3.0 } else { 2.0 / 3.0 };
        let is_suspect = least < most * T::Real::epsilon().into_f64().powf(power);
        is_suspect.then(|| self.reciprocal_condition(a)).transpose()
    }

    /// An estimate of 1 / (|A| |A^-1|) in the 1-norm (Hager 1984; Higham 1988), most often within a factor of three: near 0 for a matrix that is
    /// singular to working precision. `a` is the matrix of these factors. Some solves; waits for the device.
    ///
    /// # Errors
    /// [`Error::Length`] for a matrix of another size; those of the solves.
    pub fn reciprocal_condition(&self, a: &Csr<T>) -> Result<f64> {
        let (context, n) = (self.context(), self.analysis.n);
        check_length("a", n, a.rows())?;
        estimate_by(n, norm1_of_columns(a)?, |op, b| {
            let b = Buffer::from_slice(context, b)?;
            let x = Buffer::uninit(context, n)?;
            self.work.substitution.run(&self.parts(), op == Transpose::Conjugate, 1, &b, &x)?;
            x.to_vec()
        })
    }

    /// Refines as many columns of x as `work` is for, each until its error no longer halves.
    fn refine(&self, work: &Work<T>, adjoint: bool, a: &Csr<T>, b: &Buffer<T>, x: &Buffer<T>) -> Result<Solved> {
        let (n, parts, context, program) = (self.analysis.n, self.parts(), a.context(), program(&self.parts()));
        let floor = T::Real::epsilon().into_f64();
        let mut errors = work.backward_errors(&parts, a, b, x)?;
        let mut goes_on: Vec<bool> = errors.iter().map(|&error| error > floor).collect();
        let add = |times: &dyn Fn(usize) -> f64| -> Result<()> {
            let times: Vec<T::Real> = (0..work.columns).map(|r| <T::Real as Scalar>::from_f64(times(r))).collect();
            let (range, times) =
                (Range::d1(n, context.local()).times(work.columns), Buffer::from_slice(context, &times)?);
            program.correct(context, range, n, &times, &work.correction, Out::shared(x))
        };
        let mut refinements = 0;
        while goes_on.contains(&true) && refinements < self.params.refinements {
            work.substitution.run(&parts, adjoint, work.columns, &work.residual, &work.correction)?;
            add(&|r| f64::from(u8::from(goes_on[r])))?;
            refinements += 1;
            let new = work.backward_errors(&parts, a, b, x)?;
            let is_worse: Vec<bool> = (0..work.columns).map(|r| goes_on[r] && new[r] > errors[r]).collect();
            if is_worse.contains(&true) {
                add(&|r| if is_worse[r] { -1.0 } else { 0.0 })?;
            }
            for r in 0..work.columns {
                // A NaN ends it too.
                let halves = 2.0 * new[r] <= errors[r];
                if goes_on[r] && !is_worse[r] {
                    errors[r] = new[r];
                }
                goes_on[r] &= halves && new[r] > floor;
            }
        }
        let error = errors.into_iter().fold(0.0, larger);
        if error <= floor.powf(0.75) {
            return Ok(Solved { backward_error: error, refinements });
        }
        let reason = format!(
            "the backward error of the solution stays at {}: the matrix is singular to working precision, or the factors with {} \
             replaced pivots are too inaccurate; use GMRES with them as preconditioner, or least squares",
            number(error, 2),
            self.counts.replaced
        );
        Err(Error::unsuitable("a", reason))
    }
}

impl<T: Scalar> Preconditioner<T> for Factors<T> {
    fn size(&self) -> usize {
        self.analysis.n
    }

    fn context(&self) -> &Context {
        self.structure.offset.context()
    }

    /// One solve without refinement.
    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        self.check_vectors([("r", r), ("z", z)])?;
        self.work.substitution.run(&self.parts(), false, 1, r.buffer(), z.buffer())
    }
}
