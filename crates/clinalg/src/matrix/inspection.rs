//! Inspection of sparse matrices on the device: what decides how a system with them is solved.

use super::csr::Structure;
use super::{Csr, Values};
use crate::runtime::kernels::inspection;
use crate::runtime::{KernelFamily, Range};
use crate::{Buffer, Context, Error, Real, Result, Scalar};

/// Work-groups of a GPU per compute unit: enough loads in flight to reach the bandwidth of the memory.
const GROUPS_PER_UNIT: usize = 8;
/// Most work-groups of the inspection of the rows, each of which leaves [`PARTIALS`] numbers.
const MOST_GROUPS: usize = 1024;
/// As in the kernels.
const PARTIALS: usize = 4;
/// Most work-items of a GPU per row.
const MOST_LANES: usize = 32;
/// Rows of more entries than this per work-item get a work-group each.
const LONG_ROW: usize = 32;

/// Places of the counts of the kernels; their comments say what they count.
const ZERO_DIAGONAL: usize = 0;
const NEGATIVE_DIAGONAL: usize = 1;
const POSITIVE_DIAGONAL: usize = 2;
const OFF_DIAGONAL: usize = 3;
const NONPOSITIVE: usize = 4;
const ZERO_ROWS: usize = 5;
const ZERO_SUM_ROWS: usize = 6;
const LONG_ROWS: usize = 7;
const FIRST_NOT_FINITE: usize = 8;
const LOWER: usize = 10;
const MATCHED: usize = 11;
const DIFFERENT: usize = 12;
const FAR: usize = 13;
const COUNTS: usize = 14;

/// What an inspection of the entries of a sparse matrix has found.
///
/// ```
/// use clinalg::{Context, Csr, Inspection};
///
/// let a = Csr::from_triplets(&Context::global()?, 2, 2, &[(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)])?;
/// let found = Inspection::of(&a)?;
/// assert!(found.hermitian && found.positive_diagonal == 2 && found.nonpositive_off_diagonal == 2);
/// assert_eq!((found.spread, found.dominance, found.infinity_norm, found.zero_sum_rows), (2.0, 1.0, 3.0, 1));
/// # Ok::<(), clinalg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Inspection {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// Stored entries.
    pub nnz: usize,
    /// Row and column, counted from 0, of the first entry in the order of the rows that is infinite or NaN.
    pub first_not_finite: Option<(usize, usize)>,
    /// Whether the matrix equals its conjugate transpose up to rounding: entries may differ from their mirror images by 64 units of
    /// roundoff, relative to the larger of the two and to sqrt(|a_ii a_jj|). False for rectangular matrices.
    pub hermitian: bool,
    /// Rows whose diagonal entry is zero or not stored.
    pub zero_diagonal: usize,
    /// Rows whose diagonal entry has a negative real part.
    pub negative_diagonal: usize,
    /// Rows whose diagonal entry has a positive real part.
    pub positive_diagonal: usize,
    /// The largest modulus of a diagonal entry over the smallest nonzero one; 1 if there is none.
    pub spread: f64,
    /// The largest ratio of the sum of the off-diagonal moduli of a row to the modulus of its diagonal entry, of rows where this is not zero.
    pub dominance: f64,
    /// Stored entries off the diagonal.
    pub off_diagonal: usize,
    /// Those of them whose real part is not positive.
    pub nonpositive_off_diagonal: usize,
    /// Rows in which only zeros are stored, or nothing.
    pub zero_rows: usize,
    /// Columns in which only zeros are stored, or nothing.
    pub zero_columns: usize,
    /// Rows whose sum is at most 64 eps times the sum of their moduli.
    pub zero_sum_rows: usize,
    /// The largest sum of the moduli of a row; NaN if a sum is.
    pub infinity_norm: f64,
}

impl Inspection {
    /// That of a matrix of this size, before any entry is looked at.
    pub(crate) fn empty(rows: usize, cols: usize, nnz: usize) -> Inspection {
        Inspection {
            rows,
            cols,
            nnz,
            first_not_finite: None,
            hermitian: false,
            zero_diagonal: 0,
            negative_diagonal: 0,
            positive_diagonal: 0,
            spread: 1.0,
            dominance: 0.0,
            off_diagonal: 0,
            nonpositive_off_diagonal: 0,
            zero_rows: 0,
            zero_columns: 0,
            zero_sum_rows: 0,
            infinity_norm: 0.0,
        }
    }

    /// Inspects a matrix. Its entries are read two or three times and stay on the device.
    ///
    /// The ratios and the norm are computed in the precision of the matrix and are infinite where they exceed its range.
    ///
    /// # Errors
    /// [`Error::Allocation`]; what the device reports.
    pub fn of<T: Scalar>(a: &Csr<T>) -> Result<Inspection> {
        let (s, values) = (a.structure().as_ref(), a.values());
        let (rows, cols, nnz) = (s.rows, s.cols, s.nnz);
        let is_square = rows == cols;
        let facts = RowFacts::of(s, values, None, is_square)?;
        let count = |place: usize| facts.count[place] as usize;
        // Columns with an entry on the diagonal that is not zero need no search.
        let zero_columns = if is_square && count(ZERO_DIAGONAL) == 0 { 0 } else { zero_columns(s, values)? };
        let first_not_finite = match facts.count[FIRST_NOT_FINITE] {
            u32::MAX => None,
            entry => Some(position(s, entry)?),
        };
        let [smallest, largest, dominance, infinity_norm] = facts.extremes;
        Ok(Inspection {
            rows,
            cols,
            nnz,
            first_not_finite,
            hermitian: is_square && is_hermitian(s, values, &facts.count)?,
            zero_diagonal: count(ZERO_DIAGONAL),
            negative_diagonal: count(NEGATIVE_DIAGONAL),
            positive_diagonal: count(POSITIVE_DIAGONAL),
            spread: if largest > 0.0 { largest / smallest } else { 1.0 },
            dominance,
            off_diagonal: count(OFF_DIAGONAL),
            nonpositive_off_diagonal: count(NONPOSITIVE),
            zero_rows: count(ZERO_ROWS),
            zero_columns,
            zero_sum_rows: count(ZERO_SUM_ROWS),
            infinity_norm,
        })
    }
}

/// Work-groups that read n elements or entries, one of a CPU for each part.
fn range(context: &Context, n: usize) -> Range {
    match context.family() {
        KernelFamily::Cpu => Range::d1(context.chunks().min(n), 1),
        KernelFamily::Gpu => {
            let local = context.local();
            Range::d1(n.div_ceil(local).min(context.units() * GROUPS_PER_UNIT) * local, local)
        }
    }
}

/// What the kernels find out about the rows, and with `mirrors` about the entries and their mirror images.
struct RowFacts {
    count: [u32; COUNTS],
    /// The smallest nonzero and the largest modulus of a diagonal entry, the largest ratio, the largest sum.
    extremes: [f64; PARTIALS],
}

impl RowFacts {
    /// `is_null` gets a 1 for each row that adds up to zero, otherwise a 0.
    fn of<T: Scalar>(
        s: &Structure,
        values: &Buffer<T>,
        is_null: Option<&mut Buffer<u32>>,
        mirrors: bool,
    ) -> Result<RowFacts> {
        let context = s.offset.context();
        let mut count = [0; COUNTS];
        count[FIRST_NOT_FINITE] = u32::MAX;
        let extremes = [f64::INFINITY, 0.0, 0.0, 0.0];
        if s.rows == 0 {
            return Ok(RowFacts { count, extremes });
        }
        let mut found = Buffer::from_slice(context, &count)?;
        let mut facts = RowFacts { count, extremes };
        let program = inspection::Program::<T>::new();
        let writes = u32::from(is_null.is_some());
        let mut unused = Buffer::uninit(context, 1)?;
        let is_null = is_null.unwrap_or(&mut unused);
        let (offset, column) = (&s.offset, &s.column);
        let compare = |found: &mut Buffer<u32>| match mirrors && s.nnz > 0 {
            true => program.inspect_mirrored(
                context,
                range(context, s.nnz),
                s.rows,
                s.nnz,
                0,
                offset,
                column,
                values,
                found,
            ),
            false => Ok(()),
        };
        match context.family() {
            KernelFamily::Cpu => {
                let parts = context.chunks().min(s.rows).min(MOST_GROUPS);
                let of_rows = Range::d1(parts, 1);
                let partials = context.partials(PARTIALS * parts, |partial| {
                    program.inspect_rows_cpu(
                        context, of_rows, s.rows, offset, column, values, writes, is_null, &mut found, partial,
                    )?;
                    compare(&mut found)
                })?;
                facts.join(&partials);
                found.read(&mut facts.count)?;
            }
            KernelFamily::Gpu => {
                let local = context.local();
                let mean = s.nnz.div_ceil(s.rows).next_power_of_two();
                let lanes = mean.min(MOST_LANES).min(local);
                let longest = LONG_ROW * lanes;
                let mut list = Buffer::uninit(context, s.nnz / longest + 1)?;
                let most = MOST_GROUPS.min(context.units() * GROUPS_PER_UNIT);
                let groups = s.rows.div_ceil(local / lanes).min(most);
                let of_rows = Range::d1(groups * local, local);
                let (each, longest) = (lanes as u32, longest as u32);
                let partials = context.partials(PARTIALS * groups, |partial| {
                    program.inspect_rows_gpu(
                        context,
                        of_rows,
                        s.rows,
                        each,
                        longest,
                        0,
                        offset,
                        column,
                        values,
                        writes,
                        &mut *is_null,
                        &mut list,
                        &mut found,
                        partial,
                    )?;
                    compare(&mut found)
                })?;
                facts.join(&partials);
                found.read(&mut facts.count)?;
                let long = facts.count[LONG_ROWS] as usize;
                if long > 0 {
                    let groups = long.min(MOST_GROUPS);
                    let of_rows = Range::d1(groups * local, local);
                    let partials = context.partials(PARTIALS * groups, |partial| {
                        program.inspect_rows_gpu(
                            context,
                            of_rows,
                            long,
                            local as u32,
                            u32::MAX,
                            1,
                            offset,
                            column,
                            values,
                            writes,
                            &mut *is_null,
                            &mut list,
                            &mut found,
                            partial,
                        )
                    })?;
                    facts.join(&partials);
                    found.read(&mut facts.count)?;
                }
            }
        }
        Ok(facts)
    }

    /// Joins what the work-groups have left.
    fn join<R: Real>(&mut self, partials: &[R]) {
        let join = [f64::min, f64::max, f64::max, |a: f64, b: f64| if b > a || b.is_nan() { b } else { a }];
        let parts = partials.chunks_exact((partials.len() / PARTIALS).max(1));
        for ((extreme, part), join) in self.extremes.iter_mut().zip(parts).zip(join) {
            *extreme = part.iter().fold(*extreme, |all, part| join(all, part.into_f64()));
        }
    }
}

/// Whether the square matrix is Hermitian, from the counts of [`RowFacts`] with mirrors: exactly, or where it is not, up to rounding.
fn is_hermitian<T: Scalar>(s: &Structure, values: &Buffer<T>, count: &[u32; COUNTS]) -> Result<bool> {
    // Entries above the diagonal have different mirror images, so these are all below it if there are as many.
    let all_matched = count[MATCHED] == count[LOWER];
    if all_matched || count[FAR] > 0 {
        return Ok((all_matched && count[DIFFERENT] == 0) || count[FAR] == 0);
    }
    let context = s.offset.context();
    let mut found = Buffer::<u32>::zeroed(context, COUNTS)?;
    let (program, of_entries) = (inspection::Program::<T>::new(), range(context, s.nnz));
    program.inspect_mirrored(context, of_entries, s.rows, s.nnz, 1, &s.offset, &s.column, values, &mut found)?;
    let mut far = [0];
    found.read_range(FAR, &mut far)?;
    Ok(far == [0])
}

/// Columns in which only zeros are stored.
fn zero_columns<T: Scalar>(s: &Structure, values: &Buffer<T>) -> Result<usize> {
    if s.nnz == 0 || s.cols == 0 {
        return Ok(s.cols);
    }
    let (context, program) = (s.offset.context(), inspection::Program::<T>::new());
    let mut marked = Buffer::<u32>::zeroed(context, s.cols)?;
    program.mark_columns(context, range(context, s.nnz), s.nnz, &s.column, values, &mut marked)?;
    let mut found = Buffer::<u32>::zeroed(context, 1)?;
    program.count_unmarked(context, range(context, s.cols), s.cols, &marked, &mut found)?;
    Ok(found.to_vec()?[0] as usize)
}

/// Row and column of an entry, by bisection.
fn position(s: &Structure, entry: u32) -> Result<(usize, usize)> {
    let read = |buffer: &Buffer<u32>, at: usize| -> Result<u32> {
        let mut value = [0];
        buffer.read_range(at, &mut value)?;
        Ok(value[0])
    };
    let (mut row, mut end) = (0, s.rows);
    while end - row > 1 {
        let middle = row.midpoint(end);
        if read(&s.offset, middle)? <= entry { row = middle } else { end = middle }
    }
    Ok((row, read(&s.column, entry as usize)? as usize))
}

/// Block sizes that are tried: elasticity in two and three dimensions, shells.
const NODES: [usize; 3] = [6, 3, 2];
/// Groups of rows that are inspected first.
const PROBED_GROUPS: usize = 64;
/// Blocks count as dense if entries take at least this fraction of their positions. (Elements whose zeros are not stored: 0.78; a
/// 5-point stencil: 0.5.)
const DENSE: f64 = 0.7;
/// Blocks that begin at other rows must have at most this fraction of that density: those of a band would be as dense.
const DENSER: f64 = 0.85;

/// How many unknowns a node of the matrix has, where they are numbered node by node, as
/// [`precond::unknowns_per_node`](crate::precond::unknowns_per_node) finds it, from the pattern on the device.
///
/// # Errors
/// [`Error::Allocation`]; what the device reports.
pub fn unknowns_per_node<T: Scalar>(a: &Csr<T>) -> Result<Option<usize>> {
    let s = a.structure().as_ref();
    let sizes = NODES.into_iter().filter(|size| s.rows.is_multiple_of(*size) && s.rows / size >= 2);
    let sizes: Vec<usize> = if s.rows == s.cols { sizes.collect() } else { Vec::new() };
    let fills = sizes.iter().flat_map(|&size| (0..size).map(move |first| Fill { size, first, probes: true }));
    let mut probed = Fill::densities::<T>(s, &fills.collect::<Vec<_>>())?.into_iter();
    for size in sizes {
        let probed: Vec<f64> = probed.by_ref().take(size).collect();
        let is_denser = probed[0] >= DENSE && probed[1..].iter().all(|&other| other <= DENSER * probed[0]);
        if is_denser && Fill::densities::<T>(s, &[Fill { size, first: 0, probes: false }])?[0] >= DENSE {
            return Ok(Some(size));
        }
    }
    Ok(None)
}

/// Blocks of `size` columns in groups of as many rows, of which the first begin at `first`; all groups, or about [`PROBED_GROUPS`] of them.
struct Fill {
    size: usize,
    first: usize,
    probes: bool,
}

impl Fill {
    /// The fraction of the positions in the blocks that entries take, for each of the fills.
    fn densities<T: Scalar>(s: &Structure, fills: &[Fill]) -> Result<Vec<f64>> {
        if fills.is_empty() {
            return Ok(Vec::new());
        }
        let (context, program) = (s.offset.context(), inspection::Program::<T>::new());
        let mut found = Buffer::<u32>::zeroed(context, 2 * fills.len())?;
        for (k, &Fill { size, first, probes }) in fills.iter().enumerate() {
            let step = if probes { (s.rows / size / PROBED_GROUPS).max(1) } else { 1 };
            let groups = ((s.rows - first) / size).div_ceil(step);
            let lanes = match context.family() {
                KernelFamily::Cpu => 1,
                KernelFamily::Gpu if probes => context.local(),
                KernelFamily::Gpu => (size * s.nnz / s.rows).next_power_of_two().min(context.local()),
            };
            let (of_groups, at) = (range(context, groups * lanes), 2 * k as u32);
            let (size, first, distance) = (size as u32, first as u32, step * size);
            program.count_blocks(
                context,
                of_groups,
                groups,
                lanes as u32,
                size,
                first,
                distance,
                at,
                &s.offset,
                &s.column,
                &mut found,
            )?;
        }
        let density = |(fill, found): (&Fill, &[u32])| {
            let blocks = u64::from(found[1]) * (fill.size * fill.size) as u64;
            f64::from(found[0]) / blocks.max(1) as f64
        };
        Ok(fills.iter().zip(found.to_vec()?.chunks_exact(2)).map(density).collect())
    }
}

/// Rounds of shortened paths between two looks at whether any was left to shorten.
const ROUNDS: usize = 3;

/// Points every row at the root of its tree.
fn flatten<T: Scalar>(s: &Structure, parent: Buffer<u32>) -> Result<Buffer<u32>> {
    let (context, program) = (s.offset.context(), inspection::Program::<T>::new());
    let (mut parent, mut shortened) = (parent, Buffer::uninit(context, s.rows)?);
    loop {
        let mut changed = Buffer::<u32>::zeroed(context, 1)?;
        for round in 1..=ROUNDS {
            if round == ROUNDS {
                changed.fill(0)?;
            }
            program.shorten_paths(context, range(context, s.rows), s.rows, &parent, &mut shortened, &mut changed)?;
            std::mem::swap(&mut parent, &mut shortened);
        }
        if changed.to_vec()? == [0] {
            return Ok(parent);
        }
    }
}

/// The first row of the connected component of each row, by entries that are not zero.
fn components<T: Scalar>(s: &Structure, values: &Buffer<T>) -> Result<Buffer<u32>> {
    let (context, program) = (s.offset.context(), inspection::Program::<T>::new());
    let (offset, column, of_rows) = (&s.offset, &s.column, range(context, s.rows));
    let mut parent = Buffer::<u32>::uninit(context, s.rows)?;
    program.start_components(context, of_rows, s.rows, offset, column, values, &mut parent)?;
    let mut parent = flatten::<T>(s, parent)?;
    program.join_neighbours(context, of_rows, s.rows, offset, column, values, &mut parent)?;
    let label = flatten::<T>(s, parent)?;
    let mut parent = Buffer::<u32>::uninit(context, s.rows)?;
    parent.copy_from(&label)?;
    let of_entries = range(context, s.nnz.max(1));
    program.join_components(context, of_entries, s.rows, s.nnz, offset, column, values, &label, &mut parent)?;
    flatten::<T>(s, parent)
}

/// The connected components, by entries that are not zero, of a symmetric or Hermitian matrix all of whose rows add up to zero up to rounding
/// (64 eps times the sum of their moduli): the constants on each are a null vector. Each is the list of its rows, ascending; they are ordered by their first
/// rows. Nothing is copied to the host where there is none.
///
/// # Errors
/// [`Error::Shape`] for a rectangular matrix; [`Error::Allocation`]; what the device reports.
pub fn zero_sum_components<T: Scalar>(a: &Csr<T>) -> Result<Vec<Vec<usize>>> {
    let (s, values) = (a.structure().as_ref(), a.values());
    if s.rows != s.cols {
        let got = format!("{} x {}", s.rows, s.cols);
        return Err(Error::Shape { argument: "a", expected: "a square matrix".into(), got });
    }
    let (context, program) = (s.offset.context(), inspection::Program::<T>::new());
    let mut is_null = Buffer::<u32>::uninit(context, s.rows)?;
    if RowFacts::of(s, values, Some(&mut is_null), false)?.count[ZERO_SUM_ROWS] == 0 {
        return Ok(Vec::new());
    }
    let label = components(s, values)?;
    let of_rows = range(context, s.rows);
    let mut excluded = Buffer::<u32>::zeroed(context, s.rows)?;
    program.exclude_components(context, of_rows, s.rows, &label, &is_null, &mut excluded)?;
    let mut found = Buffer::<u32>::zeroed(context, 2)?;
    // The flags are not used any more.
    let mut member = is_null;
    program.list_members(context, of_rows, s.rows, &label, &excluded, &mut member, &mut found)?;
    match found.to_vec()?[..] {
        [0, ..] => Ok(Vec::new()),
        [1, members] if members as usize == s.rows => Ok(vec![(0..s.rows).collect()]),
        _ => Ok(members(&member.to_vec()?)),
    }
}

/// The rows of each component; `of_row` has the first row of the component of each row, or `u32::MAX`.
fn members(of_row: &[u32]) -> Vec<Vec<usize>> {
    let mut place = vec![0; of_row.len()];
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (i, &root) in of_row.iter().enumerate().filter(|(_, root)| **root != u32::MAX) {
        if root as usize == i {
            place[i] = members.len();
            members.push(Vec::new());
        }
        members[place[root as usize]].push(i);
    }
    members
}
