//! Sparse triangular matrices whose systems are solved by levels.

use super::schedule::{Part, Pattern, Schedule, Step};
use crate::matrix::Structure;
use crate::ops::sparse;
use crate::runtime::kernels::incomplete;
use crate::runtime::{KernelFamily, Out};
use crate::{Buffer, Context, CsrParts, Error, Result, Scalar, Vector};

/// A sparse triangular matrix as an operand of x = T^-1 b: rows sorted by level, so that the rows of a level are solved at once.
///
/// A launch processes a large level or several consecutive small ones. The result does not depend on the device's number of work-items.
#[derive(Debug)]
pub struct Triangle<T: Scalar> {
    /// For each position, the elements of b and x that it reads and writes.
    source: Buffer<u32>,
    row: Buffer<u32>,
    offset: Buffer<u32>,
    column: Buffer<u32>,
    value: Buffer<T>,
    /// The inverse of the diagonal; `None` where it is 1.
    inverse: Option<Buffer<T>>,
    schedule: Schedule,
}

/// How the steps of an elimination map to the caller's unknowns: equation k reads element `source[k]` of b, unknown k is element
/// `target[k]` of x.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbering<'a> {
    pub(super) source: Option<&'a [usize]>,
    pub(super) target: Option<&'a [usize]>,
}

/// LU factors on the device at the positions of the entries of a matrix, with the positions of the diagonal entries.
pub(super) struct Factors<'a, T: Scalar> {
    pub(super) structure: &'a Structure,
    pub(super) values: &'a Buffer<T>,
    pub(super) diagonal: &'a Buffer<u32>,
}

/// Where the values of a triangle come from.
pub(super) enum Entries<'a, T: Scalar> {
    /// In the host's memory: those of the off-diagonal entries and of the diagonal, as the pattern's positions say.
    Host(&'a [T], Option<&'a [T]>),
    /// On the device: values, with the position of each diagonal entry, and whether to conjugate.
    Device(&'a Buffer<T>, Option<&'a [u32]>, bool),
}

impl<T: Scalar> Triangle<T> {
    /// From the entries of a square matrix on its diagonal and on one side of it; the other entries are not read.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the matrix is square; [`Error::Singular`] for a diagonal entry that is zero or missing;
    /// [`Error::Allocation`].
    pub fn new(context: &Context, is_lower: bool, a: &CsrParts<T>) -> Result<Triangle<T>> {
        super::check_square(a)?;
        let diagonal = a.diagonal();
        if let Some(pivot) = diagonal.iter().position(|&d| d == T::zero()) {
            return Err(Error::Singular { pivot });
        }
        let part = if is_lower { Part::Lower } else { Part::Upper };
        let pattern = Pattern::part(part, &a.offsets, &a.indices)?;
        let plain = Numbering { source: None, target: None };
        Triangle::of(context, part, &pattern, plain, Entries::Host(&a.values, Some(&diagonal)))
    }

    pub(super) fn of(
        context: &Context,
        part: Part,
        pattern: &Pattern,
        numbering: Numbering<'_>,
        entries: Entries<'_, T>,
    ) -> Result<Triangle<T>> {
        let schedule = Schedule::new(context, part, pattern)?;
        let n = schedule.rows.len();
        let outside = |list: Option<&[usize]>, k: u32| list.map_or(k, |list| list[k as usize] as u32);
        let numbered = |list| -> Vec<u32> { schedule.rows.iter().map(|&k| outside(list, k)).collect() };
        let (source, row) = (numbered(numbering.source), numbered(numbering.target));
        let mut offset = Vec::with_capacity(n + 1);
        let (mut column, mut at) = (Vec::with_capacity(pattern.at.len()), Vec::with_capacity(pattern.at.len()));
        offset.push(0);
        for &k in &schedule.rows {
            let range = pattern.offsets[k as usize]..pattern.offsets[k as usize + 1];
            column.extend(pattern.columns[range.clone()].iter().map(|&j| outside(numbering.target, j)));
            at.extend_from_slice(&pattern.at[range]);
            offset.push(at.len() as u32);
        }
        let upload = |list: &[u32]| Buffer::from_slice(context, list);
        let (value, inverse) = match entries {
            Entries::Host(values, diagonal) => {
                let own: Vec<T> = at.iter().map(|&e| values[e as usize]).collect();
                let inverse = |diagonal: &[T]| -> Vec<T> {
                    schedule.rows.iter().map(|&k| T::one() / diagonal[k as usize]).collect()
                };
                let inverse = diagonal.map(|diagonal| Buffer::from_slice(context, &inverse(diagonal))).transpose()?;
                (Buffer::from_slice(context, &own)?, inverse)
            }
            Entries::Device(values, diagonal, conjugate) => {
                let inverse = match diagonal {
                    Some(diagonal) => {
                        let at: Vec<u32> = schedule.rows.iter().map(|&k| diagonal[k as usize]).collect();
                        Some(taken(values, &at, 2)?)
                    }
                    None => None,
                };
                (taken(values, &at, u32::from(conjugate))?, inverse)
            }
        };
        let (source, row) = (upload(&source)?, upload(&row)?);
        Ok(Triangle { source, row, offset: upload(&offset)?, column: upload(&column)?, value, inverse, schedule })
    }

    /// L or U; `row` has the rows of the schedule.
    pub(super) fn of_factors(
        part: Part,
        schedule: Schedule,
        row: Buffer<u32>,
        numbering: Numbering<'_>,
        factors: &Factors<'_, T>,
    ) -> Result<Triangle<T>> {
        let Factors { structure, values, diagonal } = *factors;
        let (context, n, upper) = (row.context(), row.len(), part == Part::Upper);
        let (program, range) = (incomplete::Program::<T>::new(), Schedule::range(context, 0, n.max(1)));
        let mut count = Buffer::uninit(context, n)?;
        program.count_triangle(context, range, n, u32::from(upper), &row, &structure.offset, diagonal, &mut count)?;
        let (offset, nnz) = sparse::scan::<T>(context, &count)?;
        let outside = |list: &[usize]| -> Vec<u32> { list.iter().map(|&i| i as u32).collect() };
        let number = numbering.target.map(|list| Buffer::from_slice(context, &outside(list))).transpose()?;
        let (mut column, mut value) = (Buffer::uninit(context, nnz)?, Buffer::uninit(context, nnz)?);
        let mut inverse = Buffer::uninit(context, if upper { n } else { 0 })?;
        program.fill_triangle(
            context,
            range,
            n,
            u32::from(upper),
            u32::from(number.is_some()),
            number.as_ref().unwrap_or(&row),
            &row,
            &structure.offset,
            &structure.column,
            diagonal,
            values,
            &offset,
            &mut column,
            &mut value,
            &mut inverse,
        )?;
        let numbered = |list: Option<&[usize]>| -> Result<Buffer<u32>> {
            let Some(list) = list else {
                let mut same = Buffer::uninit(context, n)?;
                same.copy_from(&row)?;
                return Ok(same);
            };
            Buffer::from_slice(context, &schedule.rows.iter().map(|&k| list[k as usize] as u32).collect::<Vec<_>>())
        };
        let (source, row) = (numbered(numbering.source)?, numbered(numbering.target)?);
        Ok(Triangle { source, row, offset, column, value, inverse: upper.then_some(inverse), schedule })
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.schedule.rows.len()
    }

    /// Off-diagonal entries.
    pub fn nnz(&self) -> usize {
        self.value.len()
    }

    /// Number of levels: rows of a level are solved at once.
    pub fn levels(&self) -> usize {
        self.schedule.levels
    }

    /// Kernel launches per solve.
    pub fn launches(&self) -> usize {
        self.schedule.steps.len()
    }

    /// The context it lives in.
    pub fn context(&self) -> &Context {
        self.value.context()
    }

    /// Its entries with the diagonal, computed from the stored inverses (up to a rounding error).
    pub(super) fn to_parts(&self) -> Result<CsrParts<T>> {
        let n = self.size();
        let (rows, offsets, columns) = (self.row.to_vec()?, self.offset.to_vec()?, self.column.to_vec()?);
        let (values, inverse) = (self.value.to_vec()?, self.inverse.as_ref().map(Buffer::to_vec).transpose()?);
        let mut entries = Vec::with_capacity(n + values.len());
        for place in 0..n {
            let row = rows[place] as usize;
            let diagonal = inverse.as_ref().map_or(T::one(), |inverse| T::one() / inverse[place]);
            entries.push((row, row, diagonal));
            let range = offsets[place] as usize..offsets[place + 1] as usize;
            entries.extend(range.map(|e| (row, columns[e] as usize, values[e])));
        }
        CsrParts::from_triplets(n, n, &entries)
    }

    /// x = T^-1 b, enqueued; allocates nothing.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::Context`] that names `b` or `x`.
    pub fn solve(&self, b: &Vector<T>, x: &mut Vector<T>) -> Result<()> {
        let context = self.context();
        for (argument, vector) in [("b", b), ("x", &*x)] {
            if !context.same(vector.context()) {
                return Err(Error::Context { argument });
            }
            crate::error::check_length(argument, self.size(), vector.len())?;
        }
        let Triangle { source, row, offset, column, value, inverse, schedule } = self;
        let program = incomplete::Program::<T>::new();
        let (unit, inverse) = (u32::from(inverse.is_none()), inverse.as_ref().unwrap_or(value));
        for &step in &schedule.steps {
            let (b, x) = (b.buffer(), Out::shared(x.buffer()));
            match step {
                Step::Levels(from, to) if context.family() == KernelFamily::Gpu => {
                    let range = Schedule::one_group(context);
                    let level = &schedule.level;
                    program.solve_levels(
                        context, range, from, to, level, source, row, offset, column, value, unit, inverse, b, x,
                    )?;
                }
                Step::Levels(first, end) => {
                    let (range, first, end) = (Schedule::one_group(context), first as usize, end as usize);
                    program.solve_rows(
                        context, range, first, end, source, row, offset, column, value, unit, inverse, b, x,
                    )?;
                }
                Step::Rows(first, end) => {
                    let range = Schedule::range(context, first, end);
                    program.solve_rows(
                        context, range, first, end, source, row, offset, column, value, unit, inverse, b, x,
                    )?;
                }
            }
        }
        Ok(())
    }
}

/// The values at these positions; conjugated with mode 1, inverted with mode 2.
fn taken<T: Scalar>(values: &Buffer<T>, at: &[u32], mode: u32) -> Result<Buffer<T>> {
    let context = values.context();
    let (at, mut out) = (Buffer::from_slice(context, at)?, Buffer::uninit(context, at.len())?);
    if !at.is_empty() {
        let range = Schedule::range(context, 0, at.len());
        incomplete::Program::<T>::new().take_factor(context, range, at.len(), mode, &at, values, &mut out)?;
    }
    Ok(out)
}
