//! Incomplete Cholesky factorisation.

use serde::{Deserialize, Serialize};

use super::schedule::{Part, Pattern, Schedule, Step};
use super::triangle::{Entries, Numbering, Triangle};
use super::{Ordering, UNSOUND, check_finite, check_square, failed_pivot, inverse_of, permuted};
use crate::runtime::KernelFamily;
use crate::runtime::kernels::incomplete;
use crate::solve::Preconditioner;
use crate::{Buffer, Context, Csr, CsrParts, Error, Real, Result, Scalar, Vector};

/// Parameters of [`IncompleteCholesky`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CholeskyParams {
    /// The order of elimination. Default: that of the matrix.
    pub ordering: Ordering,
    /// The factors are those of A + shift diag(A), MATLAB's `diagcomp`; at least 0. `None`, the default: 0, or the first of 1e-3,
    /// 2e-3, 4e-3, ... that gives factors (Manteuffel 1980; Lin and Moré 1999).
    pub shift: Option<f64>,
    /// Sweeps of the fixed-point iteration for the factors, at most 1000, as [`IluParams::sweeps`](super::IluParams::sweeps). Default 0: by levels.
    pub sweeps: usize,
}

impl CholeskyParams {
    /// In this order.
    pub fn ordering(mut self, ordering: Ordering) -> CholeskyParams {
        self.ordering = ordering;
        self
    }

    /// With this shift.
    pub fn shift(mut self, shift: f64) -> CholeskyParams {
        self.shift = Some(shift);
        self
    }

    /// With this many sweeps of the fixed-point iteration.
    pub fn sweeps(mut self, sweeps: usize) -> CholeskyParams {
        self.sweeps = sweeps;
        self
    }
}

/// The first shift that is tried, and the largest.
const SHIFTS: [f64; 2] = [1e-3, 10.0];

/// M = L L^H on the pattern of the matrix, IC(0), of a symmetric (complex: Hermitian) positive definite matrix (Meijerink and van der
/// Vorst 1977; Saad 2003, section 10.3), whose lower triangle is read.
///
/// Not every positive definite matrix has such a factorisation; if A has none, one of A with a larger diagonal is computed. Otherwise as [`Ilu`](super::Ilu).
#[derive(Debug)]
pub struct IncompleteCholesky<T: Scalar> {
    lower: Triangle<T>,
    upper: Triangle<T>,
    work: Vector<T>,
    shift: f64,
}

impl<T: Scalar> IncompleteCholesky<T> {
    /// Factorises the lower triangle of a square matrix.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::Value`] for a shift or sweeps out of range; [`Error::Unsuitable`] that names the row whose pivot is not positive or an
    /// entry that is not finite; [`Error::Allocation`].
    pub fn new(a: &Csr<T>, params: &CholeskyParams) -> Result<IncompleteCholesky<T>> {
        IncompleteCholesky::from_parts(a.context(), &a.to_parts()?, params)
    }

    /// As [`IncompleteCholesky::new`] for a matrix in the host's memory.
    ///
    /// # Errors
    /// As [`IncompleteCholesky::new`].
    pub fn from_parts(context: &Context, a: &CsrParts<T>, params: &CholeskyParams) -> Result<IncompleteCholesky<T>> {
        check_square(a)?;
        check_finite(a)?;
        context.require::<T>()?;
        super::check_sweeps(params.sweeps)?;
        if let Some(shift) = params.shift.filter(|shift| !(*shift >= 0.0 && shift.is_finite())) {
            return Err(Error::value("shift", "a finite number, at least 0", shift));
        }
        let order = params.ordering.of(a)?;
        let (part, diagonal) = lower_part(&permuted(a, &order, &inverse_of(&order))?);
        let no_factor = |step: usize| {
            let advice =
                "use an incomplete LU factorisation or, for a positive definite A, a larger shift of the diagonal";
            failed_pivot(order[step], "not positive", advice)
        };
        if let Some(step) = diagonal.iter().position(|&e| part.values[e as usize].re() <= num_traits::Zero::zero()) {
            return Err(no_factor(step));
        }
        let pattern = Pattern::part(Part::Lower, &part.offsets, &part.indices)?;
        let factors = Factorisation::new(context, &part, &pattern, params.sweeps)?;
        let mut shift = params.shift.unwrap_or(0.0);
        let value = loop {
            let mut values = part.values.clone();
            diagonal.iter().for_each(|&e| values[e as usize] *= T::from_f64(1.0 + shift));
            match factors.factorise(&values, &part.indices, &diagonal)? {
                Ok(value) => break value,
                Err(step) if params.shift.is_some() || shift >= SHIFTS[1] => return Err(no_factor(step)),
                Err(_) => shift = if shift == 0.0 { SHIFTS[0] } else { 2.0 * shift },
            }
        };
        let of = |part, pattern, numbering, conjugate| {
            Triangle::of(context, part, pattern, numbering, Entries::Device(&value, Some(&diagonal), conjugate))
        };
        let lower = of(Part::Lower, &pattern, Numbering { source: Some(&order), target: None }, false)?;
        let transposed = pattern.transposed()?;
        let upper = of(Part::Upper, &transposed, Numbering { source: None, target: Some(&order) }, T::IS_COMPLEX)?;
        Ok(IncompleteCholesky { lower, upper, work: Vector::uninit(context, a.rows)?, shift })
    }

    /// The factors are those of A + shift diag(A).
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// L, in the order of elimination.
    ///
    /// # Errors
    /// Those of reading from the device.
    pub fn to_parts(&self) -> Result<CsrParts<T>> {
        self.lower.to_parts()
    }

    /// Stored entries of L.
    pub fn nnz(&self) -> usize {
        self.lower.nnz() + self.lower.size()
    }

    /// Levels of L.
    pub fn levels(&self) -> usize {
        self.lower.levels()
    }

    /// Kernel launches per application.
    pub fn launches(&self) -> usize {
        self.lower.launches() + self.upper.launches()
    }
}

/// The entries on and below the diagonal of a matrix whose rows are sorted, and the positions of the diagonal entries.
fn lower_part<T: Scalar>(a: &CsrParts<T>) -> (CsrParts<T>, Vec<u32>) {
    let mut part = CsrParts { rows: a.rows, cols: a.cols, offsets: vec![0], indices: Vec::new(), values: Vec::new() };
    let mut diagonal = Vec::with_capacity(a.rows);
    for i in 0..a.rows {
        for (j, value) in a.row(i).take_while(|entry| entry.0 <= i) {
            part.indices.push(j);
            part.values.push(value);
        }
        diagonal.push(part.indices.len() as u32 - 1);
        part.offsets.push(part.indices.len());
    }
    (part, diagonal)
}

/// What the factorisations with different shifts share.
struct Factorisation<'a> {
    context: &'a Context,
    offset: Buffer<u32>,
    column: Buffer<u32>,
    by: By,
}

/// How factors are computed.
enum By {
    Levels { row: Buffer<u32>, schedule: Schedule },
    Sweeps(usize),
}

impl<'a> Factorisation<'a> {
    fn new<T: Scalar>(
        context: &'a Context,
        part: &CsrParts<T>,
        pattern: &Pattern,
        sweeps: usize,
    ) -> Result<Factorisation<'a>> {
        crate::matrix::index32("a", part.nnz())?;
        let upload = |list: &[usize]| Buffer::from_slice(context, &list.iter().map(|&k| k as u32).collect::<Vec<_>>());
        let by = if sweeps > 0 {
            By::Sweeps(sweeps)
        } else {
            let schedule = Schedule::new(context, Part::Lower, pattern)?;
            By::Levels { row: Buffer::from_slice(context, &schedule.rows)?, schedule }
        };
        Ok(Factorisation { context, offset: upload(&part.offsets)?, column: upload(&part.indices)?, by })
    }

    /// The entries of L at the positions of those of the matrix, or the first row whose pivot is not positive.
    fn factorise<T: Scalar>(
        &self,
        values: &[T],
        columns: &[usize],
        diagonal: &[u32],
    ) -> Result<std::result::Result<Buffer<T>, usize>> {
        let Factorisation { context, offset, column, by } = self;
        let mut value = Buffer::from_slice(context, values)?;
        let mut failed = Buffer::from_slice(context, &[u32::MAX])?;
        let unsound = <T::Real as Real>::nearest(UNSOUND) * <T::Real as num_traits::Float>::epsilon();
        let program = incomplete::Program::<T>::new();
        match by {
            By::Sweeps(sweeps) => {
                let (n, matrix) = (diagonal.len(), value);
                let range = Schedule::range(context, 0, n);
                // The lower triangle, its columns scaled as those of a factor.
                let root = |j: usize| num_traits::Float::sqrt(values[diagonal[j] as usize].re());
                let start: Vec<T> =
                    values.iter().zip(columns).map(|(&value, &j)| value / T::from_real(root(j))).collect();
                let mut former = Buffer::uninit(context, values.len())?;
                value = Buffer::from_slice(context, &start)?;
                for _ in 0..*sweeps {
                    // Intermediate sweeps may leave values out of range.
                    failed.fill(u32::MAX)?;
                    std::mem::swap(&mut former, &mut value);
                    let (value, failed) = (&mut value, &mut failed);
                    program.sweep_cholesky_rows(
                        context, range, n, unsound, offset, column, &matrix, &former, value, failed,
                    )?;
                }
            }
            By::Levels { row, schedule } => {
                for &step in &schedule.steps {
                    let (level, value, failed) = (&schedule.level, &mut value, &mut failed);
                    let (range, first, end) = match step {
                        Step::Levels(from, to) if context.family() == KernelFamily::Gpu => {
                            let range = Schedule::one_group(context);
                            program.factor_cholesky_levels(
                                context, range, from, to, level, row, unsound, offset, column, value, failed,
                            )?;
                            continue;
                        }
                        Step::Levels(first, end) => (Schedule::one_group(context), first as usize, end as usize),
                        Step::Rows(first, end) => (Schedule::range(context, first, end), first, end),
                    };
                    program.factor_cholesky_rows(
                        context, range, first, end, row, unsound, offset, column, value, failed,
                    )?;
                }
            }
        }
        Ok(match failed.to_vec()?[..] {
            [step] if step != u32::MAX => Err(step as usize),
            _ => Ok(value),
        })
    }
}

impl<T: Scalar> Preconditioner<T> for IncompleteCholesky<T> {
    fn size(&self) -> usize {
        self.work.len()
    }

    fn context(&self) -> &Context {
        self.work.context()
    }

    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) -> Result<()> {
        super::check_apply(&self.work, r, z)?;
        self.lower.solve(r, &mut self.work)?;
        self.upper.solve(&self.work, z)
    }
}
