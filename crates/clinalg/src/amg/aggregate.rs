//! Strong connections and aggregates.

use super::prolongator::NearNull;
use crate::matrix::{Entries, EntriesRef, Structure};
use crate::ops::{items, sparse};
use crate::runtime::Out;
use crate::runtime::kernels::amg_setup::Program;
use crate::{Buffer, Real, Result, Vector, ops};

/// What an entry is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Measure {
    /// The geometric mean of the largest moduli of its row and its column's row: both nodes depend on each other.
    Mutual,
    /// The largest modulus of its row, which may depend on a node that does not depend on it: where a coefficient jumps, the side with
    /// the small one.
    Row,
}

/// What decides which entries are strong: the measure, the square of the bound and the largest moduli of the rows.
type Bound<'a, T> = (Measure, T, &'a Buffer<T>);

/// The strong entries of a matrix with the others on the diagonal, and a bound of the eigenvalues of D^-1 times it.
pub(super) struct Strong<T: Real> {
    pub(super) matrix: Entries<T>,
    pub(super) largest: f64,
}

/// How the nodes of a graph are grouped.
pub(super) struct Aggregates {
    pub(super) count: usize,
    /// That of each node; 2^32 - 1 for nodes without strong connections.
    pub(super) of: Buffer<u32>,
}

impl<T: Real> Strong<T> {
    /// Weak entries go to the diagonal with the weights of `near`.
    pub(super) fn of(a: EntriesRef<'_, T>, measure: Measure, theta: f64, near: &NearNull<T>) -> Result<Strong<T>> {
        let s = a.structure;
        let (context, rows) = (s.offset.context(), s.rows);
        let (program, range) = (Program::<T>::new(), items(context, rows));
        let mut peak = Buffer::<T>::uninit(context, rows)?;
        program.fill_peaks(context, range, rows, &s.offset, &s.column, a.values, &mut peak)?;
        let mut count = Buffer::<u32>::uninit(context, rows)?;
        let theta2 = T::from_f64(theta * theta);
        let by_row = u32::from(measure == Measure::Row);
        program
            .count_strong(context, range, rows, by_row, theta2, &peak, &s.offset, &s.column, a.values, &mut count)?;
        let (offset, nnz) = sparse::scan(context, &count)?;
        let column = Buffer::uninit(context, nnz)?;
        let structure = Structure { rows, cols: s.cols, nnz, offset, column };
        let (values, largest) = fill(a, &structure, near, Some((measure, theta2, &peak)))?;
        Ok(Strong { matrix: Entries { structure, values }, largest })
    }
}

/// The values of the strong entries, which are those of `strong` already or follow from a bound and the peaks of the rows; the bound of the
/// eigenvalues.
pub(super) fn fill<T: Real>(
    a: EntriesRef<'_, T>,
    strong: &Structure,
    near: &NearNull<T>,
    new: Option<Bound<'_, T>>,
) -> Result<(Buffer<T>, f64)> {
    let s = a.structure;
    let (context, rows) = (s.offset.context(), s.rows);
    let mut values = Buffer::uninit(context, strong.nnz)?;
    let bound = Vector::<T>::uninit(context, rows)?;
    let (measure, theta2, peak) = new.unwrap_or((Measure::Mutual, T::zero(), a.values));
    Program::<T>::new().fill_strong(
        context,
        items(context, rows),
        rows,
        u32::from(new.is_some()),
        u32::from(measure == Measure::Row),
        theta2,
        peak,
        near.count,
        &near.values,
        &s.offset,
        &s.column,
        a.values,
        &strong.offset,
        Out::shared(&strong.column),
        &mut values,
        Out::shared(bound.buffer()),
    )?;
    Ok((values, ops::norm_inf(&bound)?.into_f64()))
}

/// The matrix of nodes of `block` rows each: the Frobenius norms of the blocks of A.
pub(super) fn nodes<T: Real>(a: EntriesRef<'_, T>, block: usize) -> Result<Entries<T>> {
    let s = a.structure;
    let (context, rows) = (s.offset.context(), s.rows);
    let program = Program::<T>::new();
    let mut square = Buffer::<T>::uninit(context, s.nnz)?;
    program.square_values(context, items(context, s.nnz), s.nnz, a.values, &mut square)?;
    let mut blocks = Entries {
        structure: Structure {
            rows: rows / block,
            cols: rows,
            nnz: rows,
            offset: Buffer::uninit(context, rows / block + 1)?,
            column: Buffer::uninit(context, rows)?,
        },
        values: Buffer::<T>::uninit(context, rows)?,
    };
    let Structure { offset, column, .. } = &mut blocks.structure;
    program.fill_blocks(context, items(context, rows), rows, block as u32, offset, column, &mut blocks.values)?;
    let (each, _) = EntriesRef::from(&blocks).transposed()?;
    let squares = EntriesRef { structure: s, values: &square };
    let (half, _) = sparse::multiply((&blocks).into(), squares)?;
    let (mut nodes, _) = sparse::multiply((&half).into(), (&each).into())?;
    let n = nodes.structure.nnz;
    program.root_values(context, items(context, n), n, &mut nodes.values)?;
    Ok(nodes)
}

/// Rounds of the independent set between two looks at what is left.
const ROUNDS: usize = 4;

/// Aggregates around the nodes of a maximal independent set of distance two (Bell, Dalton and Olson 2012): a root with its neighbours; other
/// nodes join the neighbour with the largest entry.
pub(super) fn aggregate<T: Real>(graph: &Entries<T>) -> Result<Aggregates> {
    let s = &graph.structure;
    let (context, rows, offset, column) = (s.offset.context(), s.rows, &s.offset, &s.column);
    let (program, range) = (Program::<T>::new(), items(context, rows));
    let mut state = Buffer::<u64>::uninit(context, rows)?;
    let mut most = Buffer::<u64>::uninit(context, rows)?;
    program.start_states(context, range, rows, offset, &mut state)?;
    loop {
        let mut undecided = Buffer::<u32>::zeroed(context, ROUNDS)?;
        for round in 0..ROUNDS as u32 {
            program.spread_states(context, range, rows, offset, column, &state, &mut most)?;
            program.decide_states(context, range, rows, round, offset, column, &most, &mut state, &mut undecided)?;
        }
        if undecided.to_vec()?[ROUNDS - 1] == 0 {
            break;
        }
    }
    let mut flag = Buffer::<u32>::uninit(context, rows)?;
    program.flag_roots(context, range, rows, &state, &mut flag)?;
    let (number, count) = sparse::scan(context, &flag)?;
    // The flags are not needed any more.
    let mut near = flag;
    program.join_roots(context, range, rows, offset, column, &state, &number, &mut near)?;
    let mut of = Buffer::<u32>::uninit(context, rows)?;
    program.join_neighbours(context, range, rows, offset, column, &graph.values, &near, &mut of)?;
    Ok(Aggregates { count, of })
}
