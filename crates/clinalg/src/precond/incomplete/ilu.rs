//! Incomplete LU factorisations.

use num_traits::Float;
use serde::{Deserialize, Serialize};

use super::ilut::{self, Rules};
use super::schedule::{Leveled, Part, Pattern, Schedule, Step};
use super::triangle::{Entries, Factors, Numbering, Triangle};
use super::{Ordering, UNSOUND, check_finite, check_square, failed_pivot, inverse_of, permuted};
use crate::matrix::host::{SMALL_DIAGONAL, equilibrated, has_weak_diagonal, largest_product};
use crate::matrix::{EntriesRef, Structure, Values};
use crate::ops::{self, items};
use crate::runtime::kernels::incomplete;
use crate::runtime::{KernelFamily, Out};
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
    /// The factors by which a matching multiplies rows and columns, as logarithms, for each step.
    logs: Option<[Vec<f64>; 2]>,
}

/// A matrix on the device whose rows have a diagonal entry each, in the order of elimination.
struct OnDevice<'a, T: Scalar> {
    a: EntriesRef<'a, T>,
    diagonal: Buffer<u32>,
    /// The row and the column of the given matrix that each step takes, if not its own number.
    rows: Option<&'a [usize]>,
    columns: Option<&'a [usize]>,
}

/// What the smaller of the two triangles of a matrix contributes to the sum of its off-diagonal moduli, each relative to the diagonal entry of the row: 0
/// for a triangular matrix, whose ILU(0) is exact, 0.5 for a symmetric one.
///
/// # Errors
/// Those of the device.
pub(crate) fn lesser_triangle<T: Scalar>(a: &Csr<T>) -> Result<f64> {
    let Structure { rows, offset, column, .. } = a.entries().structure;
    let context = offset.context();
    let vector = || Vector::<T::Real>::uninit(context, *rows);
    let (lower, upper) = (vector()?, vector()?);
    let (range, below, above) = (items(context, *rows), Out::shared(lower.buffer()), Out::shared(upper.buffer()));
    incomplete::Program::<T>::new().sum_triangles(context, range, *rows, offset, column, a.values(), below, above)?;
    let [lower, upper] = [ops::norm1(&lower)?.into_f64(), ops::norm1(&upper)?.into_f64()];
    Ok(if lower + upper > 0.0 { lower.min(upper) / (lower + upper) } else { 0.0 })
}

/// Positions of the diagonal entries of a matrix, and what is wrong with its entries.
struct Found {
    diagonal: Buffer<u32>,
    is_missing: bool,
    is_weak: bool,
    is_not_finite: bool,
}

impl Found {
    fn of<T: Scalar>(a: EntriesRef<'_, T>) -> Result<Found> {
        let Structure { rows, offset, column, .. } = a.structure;
        let context = offset.context();
        let (mut diagonal, mut found) = (Buffer::uninit(context, *rows)?, Buffer::zeroed(context, 3)?);
        let (range, least) = (Schedule::range(context, 0, (*rows).max(1)), T::Real::from_f64(SMALL_DIAGONAL));
        incomplete::Program::<T>::new().find_diagonal(
            context,
            range,
            *rows,
            least,
            offset,
            column,
            a.values,
            &mut diagonal,
            &mut found,
        )?;
        let found: Vec<u32> = found.to_vec()?;
        Ok(Found { diagonal, is_missing: found[0] != 0, is_weak: found[1] != 0, is_not_finite: found[2] != 0 })
    }
}

impl<T: Scalar> Ilu<T> {
    /// Factorises a square matrix.
    ///
    /// # Errors
    /// [`Error::Shape`]; [`Error::Unsuitable`] that names the row whose pivot is zero or not finite or an entry that is not finite, or for a
    /// structurally singular matrix; [`Error::Allocation`].
    pub fn new(a: &Csr<T>, params: &IluParams) -> Result<Ilu<T>> {
        params.check()?;
        let may_stay = params.kind == IluKind::Zero
            && params.ordering == Ordering::Natural
            && params.matching != Matching::Always
            && a.rows() == a.cols();
        if may_stay {
            let Found { diagonal, is_missing, is_weak, is_not_finite } = Found::of(a.entries())?;
            let is_matched = is_weak && params.matching == Matching::WhereNeeded;
            if !is_missing && !is_matched && !is_not_finite {
                let own = OnDevice { a: a.entries(), diagonal, rows: None, columns: None };
                let (lower, upper) = own.factorise(params.sweeps)?;
                let work = Vector::uninit(a.context(), a.rows())?;
                return Ok(Ilu { lower, upper, work, kind: params.kind, is_matched: false, replaced_pivots: 0 });
            }
        }
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
        let (row_of, logs) = if is_matched {
            let matched = largest_product(a)?;
            (matched.row_of, Some([matched.row_log, matched.column_log]))
        } else {
            ((0..n).collect(), None)
        };
        let natural: Vec<usize> = (0..n).collect();
        let mut rows = row_of.clone();
        let mut columns = natural.clone();
        if ordering != Ordering::Natural {
            columns = ordering.of(&permuted(a, &row_of, &natural)?)?;
            rows = columns.iter().map(|&j| row_of[j]).collect();
        }
        let matrix = permuted(a, &rows, &inverse_of(&columns))?;
        let logs = logs.map(|[row_log, column_log]| {
            [rows.iter().map(|&i| row_log[i]).collect(), columns.iter().map(|&j| column_log[j]).collect()]
        });
        Ok(Ordered { matrix, rows, columns, logs })
    }

    /// ILU(0) on the device.
    fn factorise(self, context: &Context, sweeps: usize) -> Result<(Triangle<T>, Triangle<T>)> {
        let Ordered { matrix: CsrParts { offsets, indices, values, .. }, rows, columns, .. } = self;
        let (n, nnz) = (rows.len(), values.len());
        crate::matrix::index32("a", nnz)?;
        let upload = |list: &[usize]| Buffer::from_slice(context, &list.iter().map(|&k| k as u32).collect::<Vec<_>>());
        let structure = Structure { rows: n, cols: n, nnz, offset: upload(&offsets)?, column: upload(&indices)? };
        let values = Buffer::from_slice(context, &values)?;
        let a = EntriesRef { structure: &structure, values: &values };
        let diagonal = Found::of(a)?.diagonal;
        OnDevice { a, diagonal, rows: Some(&rows), columns: Some(&columns) }.factorise(sweeps)
    }

    /// ILUT on the host, in double precision and for the scaled matrix, so that which entries are dropped does not depend on units.
    fn factorise_on_host(self, context: &Context, rules: Rules) -> Result<(Triangle<T>, Triangle<T>, usize)> {
        let Ordered { matrix, rows, columns, logs } = self;
        let [row_log, column_log] = logs.unwrap_or_else(|| equilibrated(&matrix));
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

impl<T: Scalar> OnDevice<'_, T> {
    /// ILU(0), by sweeps or by levels.
    fn factorise(&self, sweeps: usize) -> Result<(Triangle<T>, Triangle<T>)> {
        let (n, context) = (self.diagonal.len(), self.diagonal.context());
        let Structure { offset, column, .. } = self.a.structure;
        let (offsets, columns, diagonal) = (offset.to_vec()?, column.to_vec()?, self.diagonal.to_vec()?);
        let before = |i: usize| &columns[offsets[i] as usize..diagonal[i] as usize];
        let after = |i: usize| &columns[diagonal[i] as usize + 1..offsets[i + 1] as usize];
        // The device computes the factors while this thread waits for the levels of U.
        let (upper, (lower, row, values)) = std::thread::scope(|scope| -> Result<_> {
            let upper = scope.spawn(|| Leveled::new(Part::Upper, n, after));
            let lower = Leveled::new(Part::Lower, n, before)?;
            let lower = Schedule::of(context, Part::Lower, lower, |i| before(i).len())?;
            let row = Buffer::from_slice(context, &lower.rows)?;
            let values = if sweeps > 0 { self.by_sweeps(sweeps)? } else { self.by_levels(&lower, &row)? };
            let upper = upper.join().expect("levels are found without a panic")?;
            Ok((upper, (lower, row, values)))
        })?;
        let upper = Schedule::of(context, Part::Upper, upper, |i| after(i).len())?;
        let factors = Factors { structure: self.a.structure, values: &values, diagonal: &self.diagonal };
        let numbering = Numbering { source: self.rows, target: None };
        let lower = Triangle::of_factors(Part::Lower, lower, row, numbering, &factors)?;
        let row = Buffer::from_slice(context, &upper.rows)?;
        let numbering = Numbering { source: None, target: self.columns };
        Ok((lower, Triangle::of_factors(Part::Upper, upper, row, numbering, &factors)?))
    }

    fn copy(&self) -> Result<Buffer<T>> {
        let mut values = Buffer::uninit(self.a.values.context(), self.a.values.len())?;
        values.copy_from(self.a.values)?;
        Ok(values)
    }

    fn unsound() -> T::Real {
        <T::Real as Real>::nearest(UNSOUND) * T::Real::epsilon()
    }

    /// An error where a pivot has failed.
    fn check(&self, failed: &Buffer<u32>) -> Result<()> {
        let step = failed.to_vec()?[0];
        if step == u32::MAX {
            return Ok(());
        }
        let row = self.rows.map_or(step as usize, |rows| rows[step as usize]);
        let advice = "let rows be permuted (matching), use ILUT or another order of elimination";
        Err(failed_pivot(row, "zero to working precision or not finite", advice))
    }

    fn by_sweeps(&self, sweeps: usize) -> Result<Buffer<T>> {
        let Structure { rows: n, offset, column, .. } = self.a.structure;
        let context = offset.context();
        let (mut value, mut former) = (self.copy()?, Buffer::uninit(context, self.a.values.len())?);
        let mut failed = Buffer::from_slice(context, &[u32::MAX])?;
        let (program, range) = (incomplete::Program::<T>::new(), Schedule::range(context, 0, (*n).max(1)));
        for _ in 0..sweeps {
            // Intermediate sweeps may leave values out of range.
            failed.fill(u32::MAX)?;
            std::mem::swap(&mut former, &mut value);
            let (unsound, middle, matrix) = (Self::unsound(), &self.diagonal, self.a.values);
            let (value, failed) = (&mut value, &mut failed);
            program
                .sweep_lu_rows(context, range, *n, unsound, offset, column, middle, matrix, &former, value, failed)?;
        }
        self.check(&failed)?;
        Ok(value)
    }

    fn by_levels(&self, schedule: &Schedule, row: &Buffer<u32>) -> Result<Buffer<T>> {
        let Structure { offset, column, .. } = self.a.structure;
        let (context, unsound, middle) = (offset.context(), Self::unsound(), &self.diagonal);
        let (mut value, mut failed) = (self.copy()?, Buffer::from_slice(context, &[u32::MAX])?);
        let program = incomplete::Program::<T>::new();
        for &step in &schedule.steps {
            let (level, value, failed) = (&schedule.level, &mut value, &mut failed);
            let (range, first, end) = match step {
                Step::Levels(from, to) if context.family() == KernelFamily::Gpu => {
                    let range = Schedule::one_group(context);
                    program.factor_lu_levels(
                        context, range, from, to, level, row, unsound, offset, column, middle, value, failed,
                    )?;
                    continue;
                }
                Step::Levels(first, end) => (Schedule::one_group(context), first as usize, end as usize),
                Step::Rows(first, end) => (Schedule::range(context, first, end), first, end),
            };
            program.factor_lu_rows(context, range, first, end, row, unsound, offset, column, middle, value, failed)?;
        }
        self.check(&failed)?;
        Ok(value)
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
