//! Strong connections and aggregates.

use crate::matrix::{Entries, EntriesRef, Structure};
use crate::ops::{items, sparse};
use crate::runtime::KernelFamily;
use crate::runtime::kernels::amg_setup::Program;
use crate::{Buffer, Real, Result};

/// Maximum number of entries of a row for which one work-item computes the row of the prolongator: on a GPU it passes over the row once per aggregate, on a
/// CPU it has room for this many (`FEW` of `sparse.clh`).
const LONG_ROW: u32 = 256;

/// The largest off-diagonal modulus of each row of a matrix.
pub(super) struct Peaks<T: Real> {
    pub(super) values: Buffer<T>,
    /// Whether some row is too long for one work-item to pass over it several times.
    pub(super) long: bool,
}

/// How the nodes of a graph are grouped.
pub(super) struct Aggregates {
    pub(super) count: usize,
    /// The aggregate of each node; 2^32 - 1 for nodes without strong connections.
    pub(super) of: Buffer<u32>,
}

impl<T: Real> Peaks<T> {
    pub(super) fn of(a: EntriesRef<'_, T>) -> Result<Peaks<T>> {
        let s = a.structure;
        let (context, rows) = (s.offset.context(), s.rows);
        let mut values = Buffer::<T>::uninit(context, rows)?;
        let mut long = Buffer::<u32>::zeroed(context, 1)?;
        let (program, range, to) = (Program::<T>::new(), items(context, rows), &mut values);
        program.fill_peaks(context, range, rows, LONG_ROW, &s.offset, &s.column, a.values, to, &mut long)?;
        Ok(Peaks { values, long: long.to_vec()? != [0] })
    }
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
    let each = EntriesRef::from(&blocks).transposed()?;
    let squares = EntriesRef { structure: s, values: &square };
    let (half, _) = sparse::multiply((&blocks).into(), squares)?;
    let (mut nodes, _) = sparse::multiply((&half).into(), (&each).into())?;
    let n = nodes.structure.nnz;
    program.root_values(context, items(context, n), n, &mut nodes.values)?;
    Ok(nodes)
}

/// Rounds of the independent set between two checks for undecided nodes, on a GPU; a check costs nothing on a CPU.
const ROUNDS: usize = 4;
/// States from this value on are those of undecided nodes and roots; decided nodes without a root near them have smaller ones.
const UNDECIDED: u64 = 1 << 62;

/// Makes each undecided node a root, or excludes it where there is a root at distance two or less in the graph: a maximal independent set of distance two.
pub(super) fn choose_roots<T: Real>(s: &Structure, linked: &Buffer<u32>, state: &mut Buffer<u64>) -> Result<()> {
    let (context, rows, offset) = (s.offset.context(), s.rows, &s.offset);
    let (program, range) = (Program::<T>::new(), items(context, rows));
    let mut most = Buffer::<u64>::uninit(context, rows)?;
    let rounds = match context.family() {
        KernelFamily::Gpu => ROUNDS,
        KernelFamily::Cpu => {
            most.fill(UNDECIDED)?;
            1
        }
    };
    loop {
        let mut undecided = Buffer::<u32>::zeroed(context, rounds)?;
        for round in 0..rounds as u32 {
            program.spread_states(context, range, rows, offset, linked, &*state, &mut most)?;
            program.decide_states(context, range, rows, round, offset, linked, &most, &mut *state, &mut undecided)?;
        }
        if undecided.to_vec()?[rounds - 1] == 0 {
            return Ok(());
        }
    }
}

/// Aggregates around the nodes of a maximal independent set of distance two (Bell, Dalton and Olson 2012): a root with its neighbours; other
/// nodes join the neighbour with the largest entry. Neighbours are those with an entry above `theta` times the geometric mean of the peaks of
/// both rows.
pub(super) fn aggregate<T: Real>(a: EntriesRef<'_, T>, peaks: &Peaks<T>, theta: f64) -> Result<Aggregates> {
    let s = a.structure;
    let (context, rows, offset) = (s.offset.context(), s.rows, &s.offset);
    let (program, range, theta2) = (Program::<T>::new(), items(context, rows), T::from_f64(theta * theta));
    let mut state = Buffer::<u64>::uninit(context, rows)?;
    let mut linked = Buffer::<u32>::uninit(context, s.nnz)?;
    let (peak, to) = (&peaks.values, &mut linked);
    program.link_strong(context, range, rows, theta2, peak, offset, &s.column, a.values, to, &mut state)?;
    choose_roots::<T>(s, &linked, &mut state)?;
    let column = &linked;
    let mut flag = Buffer::<u32>::uninit(context, rows)?;
    program.flag_roots(context, range, rows, &state, &mut flag)?;
    let (number, count) = sparse::scan::<T>(context, &flag)?;
    // The flags are not needed any more.
    let mut near = flag;
    program.join_roots(context, range, rows, offset, column, &state, &number, &mut near)?;
    let mut of = Buffer::<u32>::uninit(context, rows)?;
    program.join_neighbours(context, range, rows, offset, column, a.values, &near, &mut of)?;
    Ok(Aggregates { count, of })
}
