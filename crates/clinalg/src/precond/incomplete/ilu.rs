//! Incomplete LU factorisations.

use num_traits::Float;
use serde::{Deserialize, Serialize};

use super::ilut::{self, Rules};
use super::schedule::{Part, Pattern, Schedule, Step};
use super::triangle::{Entries, Numbering, Triangle};
use super::{Ordering, UNSOUND, check_finite, check_square, failed_pivot, inverse_of, permuted};
use crate::matrix::host::{equilibrated, has_weak_diagonal, largest_product};
use crate::runtime::KernelFamily;
use crate::runtime::kernels::incomplete;
use crate::solve::Preconditioner;
use crate::{Buffer, Context, Csr, CsrParts, Error, Real, Result, Scalar, Vector};

/// What an incomplete LU factorisation keeps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum IluKind {
    /// ILU(0): entries at the positions of those of the matrix. Factorised on the device.
    Zero,
    /// ILUT: large entries, with column exchanges. Factorised on the host.
    Threshold {
        /// Entries below this fraction of the mean magnitude of their row are dropped; at least 0.
        drop: f64,
        /// The factors may have about this many times as many entries as the matrix; at least 1. With n rows and nnz entries, each row of L and of U keeps its
        /// `fill` nnz / (2 n) (rounded up) largest off-diagonal entries.
        fill: f64,
    },
}

impl IluKind {
    /// The name of the factorisation: `ILU(0)` or `ILUT`.
    pub fn name(self) -> &'static str {
        match self {
            IluKind::Zero => "ILU(0)",
            IluKind::Threshold { .. } => "ILUT",
        }
    }

    /// ILUT with the defaults of SciPy's `spilu`: 1e-4 and 10.
    pub fn threshold() -> IluKind {
        IluKind::Threshold { drop: 1e-4, fill: 10.0 }
    }
}

/// When rows are permuted so that the product of the diagonal entries is largest (Duff and Koster 2001).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Matching {
    /// Never: the diagonal is that of the matrix.
    Never,
    /// Where a diagonal entry is missing, zero or below 1e-6 times the largest of its row.
    #[default]
    WhereNeeded,
    /// Always.
    Always,
}

/// Parameters of [`Ilu`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct IluParams {
    /// Which entries are kept. Default [`IluKind::Zero`].
    pub kind: IluKind,
    /// The order of elimination. Default: that of the matrix.
    pub ordering: Ordering,
    /// When rows are permuted. Default: where a diagonal entry needs it.
    pub matching: Matching,
    /// Sweeps of the fixed-point iteration for the factors of ILU(0), in place of elimination by levels (Chow and Patel 2015): one launch per sweep,
    /// which suits matrices with many levels. With as many sweeps as L has levels the factors are the same. At most 1000.
    /// Default 0: by levels.
    pub sweeps: usize,
    /// Whether zero pivots are replaced instead of being an error (factorisations on the host only). A row whose pivot is zero up to rounding is moved to
    /// the end. A pivot that is still zero there becomes the square root of the machine epsilon times the sum of the moduli of its row. Singular matrices
    /// then have factors too, whose product differs from the matrix by a matrix of low rank. Default false.
    pub replaces_pivots: bool,
}

impl Default for IluParams {
    fn default() -> IluParams {
        let (ordering, matching) = (Ordering::default(), Matching::default());
        IluParams { kind: IluKind::Zero, ordering, matching, sweeps: 0, replaces_pivots: false }
    }
}

impl IluParams {
    /// With this kind of factorisation.
    pub fn kind(mut self, kind: IluKind) -> IluParams {
        self.kind = kind;
        self
    }

    /// In this order.
    pub fn ordering(mut self, ordering: Ordering) -> IluParams {
        self.ordering = ordering;
        self
    }

    /// With rows permuted in these cases.
    pub fn matching(mut self, matching: Matching) -> IluParams {
        self.matching = matching;
        self
    }

    /// With this many sweeps of the fixed-point iteration.
    pub fn sweeps(mut self, sweeps: usize) -> IluParams {
        self.sweeps = sweeps;
        self
    }

    /// With pivots that are zero up to rounding replaced, or reported as an error.
    pub fn replaces_pivots(mut self, replaces: bool) -> IluParams {
        self.replaces_pivots = replaces;
        self
    }

    fn check(&self) -> Result<()> {
        if self.kind == IluKind::Zero && self.replaces_pivots {
            return Err(Error::value("replaces_pivots", "false with ILU(0), which is computed on the device", true));
        }
        super::check_sweeps(self.sweeps)?;
        if self.kind != IluKind::Zero && self.sweeps > 0 {
            return Err(Error::value("sweeps", "0 except with ILU(0)", self.sweeps));
        }
        if let IluKind::Threshold { drop, fill } = self.kind {
            if !(drop >= 0.0 && drop.is_finite()) {
                return Err(Error::value("drop", "a finite number, at least 0", drop));
            }
            if !(fill >= 1.0 && fill.is_finite()) {
                return Err(Error::value("fill", "a finite number, at least 1", fill));
            }
        }
        Ok(())
    }
}

/// M = L U, an incomplete factorisation of a square matrix (Meijerink and van der Vorst 1977; Saad 2003, chapter 10).
///
/// Rows that do not depend on each other are computed at once, level by level; the levels are found on the host, once. An
/// application solves two triangular systems in [`Ilu::launches`] launches. Owns the factors and a vector.
///
/// ```
/// use clinalg::precond::{Ilu, IluParams};
/// use clinalg::solve::{Gmres, GmresParams, Solver};
/// use clinalg::{Context, Csr, Vector};
///
/// let context = Context::global()?;
/// // A zero on the diagonal: the rows are permuted.
/// let a = Csr::from_triplets(&context, 2, 2, &[(0, 1, 2.0), (1, 0, 1.0), (1, 1, 3.0)])?;
/// let b = Vector::from_slice(&context, &[2.0, 4.0])?;
/// let mut x = Vector::zeros(&context, 2)?;
/// let mut m = Ilu::new(&a, &IluParams::default())?;
/// let report = Gmres::new(&context, 2, GmresParams::default())?.solve(&a, Some(&mut m), &b, &mut x)?;
/// assert!(report.stop.is_success());
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug)]
pub struct Ilu<T: Scalar> {
    lower: Triangle<T>,
    upper: Triangle<T>,
    work: Vector<T>,
    kind: IluKind,
    is_matched: bool,
    replaced_pivots: usize,
}

/// A matrix in the order of elimination.
struct Ordered<T> {
    matrix: CsrParts<T>,
    /// The row and the column of the given matrix that each step takes.
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// The factors by which rows and columns were multiplied, as logarithms, for each step.
    row_log: Vec<f64>,
    column_log: Vec<f64>,
}

impl<T: Scalar> Ilu<T> {
    /// Factorises a square matrix.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::Unsuitable`] that names the row whose pivot is zero or not finite or an entry that is not finite, or for a
    /// structurally singular matrix; [`Error::Allocation`].
    pub fn new(a: &Csr<T>, params: &IluParams) -> Result<Ilu<T>> {
        Ilu::from_parts(a.context(), &a.to_parts()?, params)
    }

    /// As [`Ilu::new`] for a matrix in the host's memory.
    ///
    /// # Errors
    /// As [`Ilu::new`].
    pub fn from_parts(context: &Context, a: &CsrParts<T>, params: &IluParams) -> Result<Ilu<T>> {
        params.check()?;
        check_square(a)?;
        check_finite(a)?;
        context.require::<T>()?;
        let is_matched = match params.matching {
            Matching::Never => false,
            Matching::WhereNeeded => has_weak_diagonal(a),
            Matching::Always => true,
        };
        let ordered = Ordered::new(a, is_matched, params.ordering)?;
        let (replaces, epsilon) = (params.replaces_pivots, T::Real::epsilon().into_f64());
        let rules = Rules { drop: 0.0, most: a.cols, replaces, epsilon };
        let (lower, upper, replaced_pivots) = match params.kind {
            IluKind::Zero => {
                let (lower, upper) = ordered.factorise(context, params.sweeps)?;
                (lower, upper, 0)
            }
            IluKind::Threshold { drop, fill } => {
                let most = ((fill * a.nnz() as f64 / (2 * a.rows.max(1)) as f64).ceil() as usize).max(1);
                ordered.factorise_on_host(context, Rules { drop, most, ..rules })?
            }
        };
        let (work, kind) = (Vector::uninit(context, a.rows)?, params.kind);
        Ok(Ilu { lower, upper, work, kind, is_matched, replaced_pivots })
    }

    /// Stored entries of L and U, with one diagonal.
    pub fn nnz(&self) -> usize {
        self.lower.nnz() + self.upper.nnz() + self.lower.size()
    }

    /// Levels of L and of U.
    pub fn levels(&self) -> [usize; 2] {
        [self.lower.levels(), self.upper.levels()]
    }

    /// Kernel launches per application.
    pub fn launches(&self) -> usize {
        self.lower.launches() + self.upper.launches()
    }

    /// The kind of factorisation.
    pub fn kind(&self) -> IluKind {
        self.kind
    }

    /// The number of pivots that were zero up to rounding and were replaced.
    pub fn replaced_pivots(&self) -> usize {
        self.replaced_pivots
    }

    /// Whether rows were permuted to put large entries on the diagonal.
    pub fn is_matched(&self) -> bool {
        self.is_matched
    }

    /// L with ones on the diagonal, and U, of ILU(0) in the order of the matrix ([`Ordering::Natural`] and [`Matching::Never`]); otherwise those of the matrix
    /// with rows and columns in the order of elimination, which is not returned.
    ///
    /// # Errors
    /// Those of reading from the device.
    pub fn to_parts(&self) -> Result<[CsrParts<T>; 2]> {
        Ok([self.lower.to_parts()?, self.upper.to_parts()?])
    }
}

impl<T: Scalar> Ordered<T> {
    fn new(a: &CsrParts<T>, is_matched: bool, ordering: Ordering) -> Result<Ordered<T>> {
        let n = a.rows;
        let (row_of, [row_log, column_log]) = if is_matched {
            let matched = largest_product(a)?;
            (matched.row_of, [matched.row_log, matched.column_log])
        } else {
            ((0..n).collect(), equilibrated(a))
        };
        let natural: Vec<usize> = (0..n).collect();
        let mut rows = row_of.clone();
        let mut columns = natural.clone();
        if ordering != Ordering::Natural {
            columns = ordering.of(&permuted(a, &row_of, &natural)?)?;
            rows = columns.iter().map(|&j| row_of[j]).collect();
        }
        let matrix = permuted(a, &rows, &inverse_of(&columns))?;
        let row_log = rows.iter().map(|&i| row_log[i]).collect();
        let column_log = columns.iter().map(|&j| column_log[j]).collect();
        Ok(Ordered { matrix, rows, columns, row_log, column_log })
    }

    /// ILU(0) on the device, by sweeps or by levels.
    fn factorise(self, context: &Context, sweeps: usize) -> Result<(Triangle<T>, Triangle<T>)> {
        let Ordered { matrix: CsrParts { offsets, indices, values, .. }, rows, columns, .. } = self;
        let n = rows.len();
        let lower = Pattern::part(Part::Lower, &offsets, &indices)?;
        let diagonal: Vec<u32> =
            (0..n).map(|i| (offsets[i] + lower.offsets[i + 1] - lower.offsets[i]) as u32).collect();
        let narrow = |list: &[usize]| -> Result<Buffer<u32>> {
            crate::matrix::index32("a", list.last().copied().unwrap_or(0))?;
            Buffer::from_slice(context, &list.iter().map(|&k| k as u32).collect::<Vec<_>>())
        };
        let offset = narrow(&offsets)?;
        let column = Buffer::from_slice(context, &indices.iter().map(|&j| j as u32).collect::<Vec<_>>())?;
        let middle = Buffer::from_slice(context, &diagonal)?;
        let mut value = Buffer::from_slice(context, &values)?;
        let mut failed = Buffer::from_slice(context, &[u32::MAX])?;
        let unsound = <T::Real as Real>::nearest(UNSOUND) * T::Real::epsilon();
        let program = incomplete::Program::<T>::new();
        if sweeps > 0 {
            let matrix = Buffer::from_slice(context, &values)?;
            let (range, mut former) = (Schedule::range(context, 0, n), Buffer::uninit(context, values.len())?);
            for _ in 0..sweeps {
                // Intermediate sweeps may leave values out of range.
                failed.fill(u32::MAX)?;
                std::mem::swap(&mut former, &mut value);
                let (value, failed) = (&mut value, &mut failed);
                program.sweep_lu_rows(
                    context, range, n, unsound, &offset, &column, &middle, &matrix, &former, value, failed,
                )?;
            }
        } else {
            let schedule = Schedule::new(context, Part::Lower, &lower)?;
            let row = Buffer::from_slice(context, &schedule.rows)?;
            for &step in &schedule.steps {
                let (level, value, failed) = (&schedule.level, &mut value, &mut failed);
                let (range, first, end) = match step {
                    Step::Levels(from, to) if context.family() == KernelFamily::Gpu => {
                        let range = Schedule::one_group(context);
                        program.factor_lu_levels(
                            context, range, from, to, level, &row, unsound, &offset, &column, &middle, value, failed,
                        )?;
                        continue;
                    }
                    Step::Levels(first, end) => (Schedule::one_group(context), first as usize, end as usize),
                    Step::Rows(first, end) => (Schedule::range(context, first, end), first, end),
                };
                program.factor_lu_rows(
                    context, range, first, end, &row, unsound, &offset, &column, &middle, value, failed,
                )?;
            }
        }
        if let [step] = failed.to_vec()?[..]
            && step != u32::MAX
        {
            let advice = "let rows be permuted (matching), use ILUT or another order of elimination";
            return Err(failed_pivot(rows[step as usize], "zero to working precision or not finite", advice));
        }
        let upper = Pattern::part(Part::Upper, &offsets, &indices)?;
        let of = |part, pattern, numbering, diagonal| {
            Triangle::of(context, part, pattern, numbering, Entries::Device(&value, diagonal, false))
        };
        Ok((
            of(Part::Lower, &lower, Numbering { source: Some(&rows), target: None }, None)?,
            of(Part::Upper, &upper, Numbering { source: None, target: Some(&columns) }, Some(&diagonal))?,
        ))
    }

    /// ILUT on the host, in double precision and for the scaled matrix, so that which entries are dropped does not depend on units.
    fn factorise_on_host(self, context: &Context, rules: Rules) -> Result<(Triangle<T>, Triangle<T>, usize)> {
        let Ordered { matrix, rows, columns, row_log, column_log } = self;
        let wide = <T::Wide as Scalar>::from_f64;
        let mut scaled = CsrParts {
            rows: matrix.rows,
            cols: matrix.cols,
            offsets: matrix.offsets,
            indices: matrix.indices,
            values: matrix.values.into_iter().map(T::widen).collect(),
        };
        for (range, row_log) in scaled.offsets.windows(2).map(|o| o[0]..o[1]).zip(&row_log) {
            for e in range {
                scaled.values[e] = scaled.values[e] * wide((row_log + column_log[scaled.indices[e]]).exp());
            }
        }
        let factors = ilut::factorise(&scaled, rules).map_err(|step| {
            let advice =
                "use a smaller drop tolerance or more fill; if that does not help, use complete factors (lu), which say whether \
                 the matrix is singular to working precision";
            failed_pivot(rows[step], "zero or not finite", advice)
        })?;
        let rows: Vec<usize> = factors.row_at.iter().map(|&i| rows[i]).collect();
        let row_log: Vec<f64> = factors.row_at.iter().map(|&i| row_log[i]).collect();
        // A = (R^-1 L R) (R^-1 U C^-1) for the scaled matrix R A C = L U.
        let column_of = &factors.column_at;
        let column_log: Vec<f64> = column_of.iter().map(|&j| column_log[j]).collect();
        let columns: Vec<usize> = column_of.iter().map(|&j| columns[j]).collect();
        let back = |rows: &ilut::Rows<T::Wide>, log: &dyn Fn(usize, usize) -> f64| -> Vec<T> {
            let entries =
                (0..rows.offsets.len() - 1).flat_map(|i| (rows.offsets[i]..rows.offsets[i + 1]).map(move |e| (i, e)));
            entries.map(|(i, e)| T::narrow(rows.values[e] * wide(log(i, rows.columns[e]).exp()))).collect()
        };
        let lower = back(&factors.lower, &|i, j| row_log[j] - row_log[i]);
        let upper = back(&factors.upper, &|i, j| -row_log[i] - column_log[j]);
        let diagonal: Vec<T> = (0..columns.len())
            .map(|i| T::narrow(factors.diagonal[i] * wide((-row_log[i] - column_log[i]).exp())))
            .collect();
        let pattern = |rows: &ilut::Rows<T::Wide>| -> Result<Pattern> {
            crate::matrix::index32("a", rows.columns.len())?;
            let columns = rows.columns.iter().map(|&j| j as u32).collect();
            Ok(Pattern { offsets: rows.offsets.clone(), columns, at: (0..rows.columns.len() as u32).collect() })
        };
        let (l, u) = (pattern(&factors.lower)?, pattern(&factors.upper)?);
        let of = |part, pattern, numbering, entries| Triangle::of(context, part, pattern, numbering, entries);
        let (source, target) = (Some(&rows[..]), Some(&columns[..]));
        Ok((
            of(Part::Lower, &l, Numbering { source, target: None }, Entries::Host(&lower, None))?,
            of(Part::Upper, &u, Numbering { source: None, target }, Entries::Host(&upper, Some(&diagonal)))?,
            factors.replaced,
        ))
    }
}

impl<T: Scalar> Preconditioner<T> for Ilu<T> {
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
