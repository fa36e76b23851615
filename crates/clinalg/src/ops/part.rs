//! Parts of arrays: reading and writing by rows and columns.

use super::elementwise::items;
use crate::error::check_length;
use crate::runtime::Out;
use crate::runtime::kernels::array;
use crate::{Buffer, Context, Error, Result, Scalar, Vector};

/// Positions along one dimension of an array, from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span<'a> {
    /// `count` positions from `first` on, `step` apart.
    Range {
        /// The first position.
        first: usize,
        /// From each position to the next; 0 repeats the first, a negative one goes backwards.
        step: isize,
        /// Number of positions.
        count: usize,
    },
    /// Any positions.
    List(&'a [usize]),
}

impl<'a> Span<'a> {
    /// All positions of a dimension of this length.
    pub fn all(length: usize) -> Span<'a> {
        Span::Range { first: 0, step: 1, count: length }
    }

    /// The positions of a list, as a range where they are equally far apart.
    pub fn of(list: &'a [usize]) -> Span<'a> {
        let step = match list {
            [first, second, ..] => second.wrapping_sub(*first),
            _ => 1,
        };
        let regular = list.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
        match list.first() {
            Some(&first) if regular => Span::Range { first, step: step as isize, count: list.len() },
            _ => Span::List(list),
        }
    }

    /// Number of positions.
    pub fn count(&self) -> usize {
        match self {
            Span::Range { count, .. } => *count,
            Span::List(list) => list.len(),
        }
    }

    /// The position with this number.
    pub(super) fn at(&self, k: usize) -> usize {
        match self {
            Span::Range { first, step, .. } => first.wrapping_add_signed(step.wrapping_mul(k as isize)),
            Span::List(list) => list[k],
        }
    }

    /// An error that names `argument` unless all positions are below `length`.
    pub(super) fn check(&self, argument: &'static str, length: usize) -> Result<()> {
        let wrong = match self {
            Span::Range { count: 0, .. } => None,
            Span::Range { first, step, count } => {
                let last = *step as i128 * (*count as i128 - 1) + *first as i128;
                let fits = *first < length && (0..length as i128).contains(&last);
                (!fits).then_some(if *first < length { last } else { *first as i128 })
            }
            Span::List(list) => list.iter().find(|&&at| at >= length).map(|&at| at as i128),
        };
        match wrong {
            None => Ok(()),
            Some(at) => Err(Error::value(argument, format!("positions from 0 to below {length}"), at)),
        }
    }

    /// The offsets of the positions where each is `scale` elements.
    fn offsets(&self, context: &Context, scale: usize) -> Result<Buffer<usize>> {
        let offsets: Vec<usize> = (0..self.count()).map(|k| self.at(k) * scale).collect();
        Buffer::from_slice(context, &offsets)
    }
}

/// Checks what [`take`] and [`put`] have in common; the number of elements of the part.
fn check<T: Scalar>(
    (rows, cols): (usize, usize),
    whole: &Vector<T>,
    (row, col): (Span<'_>, Span<'_>),
    other: &Vector<T>,
) -> Result<usize> {
    if !whole.context().same(other.context()) {
        return Err(Error::Context { argument: "values" });
    }
    check_length("a", rows.saturating_mul(cols), whole.len())?;
    row.check("rows", rows)?;
    col.check("cols", cols)?;
    Ok(row.count().saturating_mul(col.count()))
}

/// out = a(rows, cols), column by column, for the array `a` of this shape.
///
/// Traffic: each element of the part read and written once. Any vector is an array of one column, so that `cols = Span::all(1)` takes elements by
/// their number.
///
/// # Errors
/// [`Error::Value`] that names `rows` or `cols` for a position that `a` does not have; [`Error::Length`] unless `a` has as many
/// values as its shape and `out` as many as the part; [`Error::Context`].
pub fn take<T: Scalar>(
    shape: (usize, usize),
    a: &Vector<T>,
    rows: Span<'_>,
    cols: Span<'_>,
    out: &mut Vector<T>,
) -> Result<()> {
    let n = check(shape, a, (rows, cols), out)?;
    check_length("out", n, out.len())?;
    if n == 0 {
        return Ok(());
    }
    let (context, count) = (a.context(), rows.count());
    let (program, range) = (array::Program::<T>::new(), items(context, n));
    let to = Out::shared(out.buffer());
    if let (Span::Range { first: row, step: down, .. }, Span::Range { first: col, step: right, .. }) = (rows, cols) {
        let (first, right) = (row + col * shape.0, right.wrapping_mul(shape.0 as isize));
        return program.take_strided(context, range, n, count, first, down as usize, right as usize, a.buffer(), to);
    }
    let (row_at, col_at) = (rows.offsets(context, 1)?, cols.offsets(context, shape.0)?);
    program.take_listed(context, range, n, count, &row_at, &col_at, a.buffer(), to)
}

/// The elements at some positions, in their order, on the host. What lies between them is read only where that is
/// little.
///
/// # Errors
/// [`Error::Value`] for a position past the end; [`Error::Allocation`].
pub fn pick<T: Scalar>(a: &Vector<T>, positions: &[usize]) -> Result<Vec<T>> {
    /// Reads that take less time than a kernel and its list of positions.
    const ONE_BY_ONE: usize = 16;
    /// Elements that are read as fast as one.
    const NEAR: usize = 1 << 15;
    let (Some(&low), Some(&high)) = (positions.iter().min(), positions.iter().max()) else { return Ok(Vec::new()) };
    if high >= a.len() {
        return Err(Error::value("positions", format!("below {}", a.len()), high));
    }
    if high - low < NEAR.max(2 * positions.len()) {
        let mut all = vec![T::zero(); high - low + 1];
        a.buffer().read_range(low, &mut all)?;
        return Ok(positions.iter().map(|k| all[k - low]).collect());
    }
    if positions.len() <= ONE_BY_ONE {
        let mut values = vec![T::zero(); positions.len()];
        for (value, k) in values.iter_mut().zip(positions) {
            a.buffer().read_range(*k, std::slice::from_mut(value))?;
        }
        return Ok(values);
    }
    let mut picked = Vector::uninit(a.context(), positions.len())?;
    take((a.len(), 1), a, Span::of(positions), Span::all(1), &mut picked)?;
    picked.to_vec()
}

/// a(rows, cols) = values for the array `a` of this shape; `values` has the values of the part column by column, or one value for all.
///
/// Traffic: each element of the part read and written once.
///
/// # Errors
/// As [`take`]; [`Error::Value`] for a position that occurs twice.
pub fn put<T: Scalar>(
    shape: (usize, usize),
    a: &mut Vector<T>,
    rows: Span<'_>,
    cols: Span<'_>,
    values: &Vector<T>,
) -> Result<()> {
    let n = check(shape, a, (rows, cols), values)?;
    for (argument, span) in [("rows", rows), ("cols", cols)] {
        let twice = match span {
            Span::Range { step, count, first } => (step == 0 && count > 1).then_some(first),
            Span::List(list) => {
                let mut sorted = list.to_vec();
                sorted.sort_unstable();
                sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
            }
        };
        if let Some(at) = twice {
            return Err(Error::value(argument, "each position once", at));
        }
    }
    let (down_from, right_from) = if values.len() == 1 { (0, 0) } else { (1, rows.count()) };
    if values.len() != 1 {
        check_length("values", n, values.len())?;
    }
    if n == 0 {
        return Ok(());
    }
    let (context, count) = (a.context(), rows.count());
    let (program, range) = (array::Program::<T>::new(), items(context, n));
    let (from, to) = (values.buffer(), Out::shared(a.buffer()));
    if let (Span::Range { first: row, step: down, .. }, Span::Range { first: col, step: right, .. }) = (rows, cols) {
        let (first, right) = (row + col * shape.0, right.wrapping_mul(shape.0 as isize));
        return program.put_strided(
            context,
            range,
            n,
            count,
            first,
            down as usize,
            right as usize,
            from,
            down_from,
            right_from,
            to,
        );
    }
    let (row_at, col_at) = (rows.offsets(context, 1)?, cols.offsets(context, shape.0)?);
    program.put_listed(context, range, n, count, &row_at, &col_at, from, down_from, right_from, to)
}

/// Positions in vectors of some length, for many calls: a list of them is kept on the device.
#[derive(Debug)]
pub(crate) enum Positions {
    /// As many as these from the first on.
    Range { first: usize, count: usize },
    /// With the offset of the only column.
    List { at: Buffer<usize>, column: Buffer<usize> },
}

impl Positions {
    /// Those of a list without repetitions, which the caller has checked.
    pub(crate) fn new(context: &Context, list: &[usize]) -> Result<Positions> {
        Ok(match Span::of(list) {
            Span::Range { first, step: 1, count } => Positions::Range { first, count },
            _ => Positions::List { at: Buffer::from_slice(context, list)?, column: Buffer::from_slice(context, &[0])? },
        })
    }

    /// Number of positions.
    pub(crate) fn count(&self) -> usize {
        match self {
            Positions::Range { count, .. } => *count,
            Positions::List { at, .. } => at.len(),
        }
    }

    /// out = the elements of `a` there. Allocates nothing.
    pub(crate) fn take<T: Scalar>(&self, a: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
        match self {
            Positions::Range { first, count } => {
                let rows = Span::Range { first: *first, step: 1, count: *count };
                take((a.len(), 1), a, rows, Span::all(1), out)
            }
            Positions::List { at, column } => {
                let (context, n) = (a.context(), at.len());
                let (program, to) = (array::Program::<T>::new(), Out::shared(out.buffer()));
                program.take_listed(context, items(context, n), n, n, at, column, a.buffer(), to)
            }
        }
    }

    /// The elements of `a` there = `values`. Allocates nothing.
    pub(crate) fn put<T: Scalar>(&self, values: &Vector<T>, a: &mut Vector<T>) -> Result<()> {
        match self {
            Positions::Range { first, count } => {
                let rows = Span::Range { first: *first, step: 1, count: *count };
                put((a.len(), 1), a, rows, Span::all(1), values)
            }
            Positions::List { at, column } => {
                let (context, n) = (a.context(), at.len());
                let (program, to) = (array::Program::<T>::new(), Out::shared(a.buffer()));
                program.put_listed(context, items(context, n), n, n, at, column, values.buffer(), 1, n, to)
            }
        }
    }
}

/// out = the transpose of `a`, an array of this shape, without conjugation.
///
/// # Errors
/// [`Error::Length`] unless both have as many values as the shape; [`Error::Context`].
pub fn transpose<T: Scalar>((rows, cols): (usize, usize), a: &Vector<T>, out: &mut Vector<T>) -> Result<()> {
    let n = check((rows, cols), a, (Span::all(rows), Span::all(cols)), out)?;
    check_length("out", n, out.len())?;
    if n == 0 {
        return Ok(());
    }
    let (context, to) = (a.context(), Out::shared(out.buffer()));
    array::Program::<T>::new().take_strided(context, items(context, n), n, cols, 0, rows, 1, a.buffer(), to)
}
