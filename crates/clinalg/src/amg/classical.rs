//! Classical coarsening: a splitting into coarse and fine nodes, and interpolation from the coarse ones.

use crate::matrix::{Entries, EntriesRef, Structure};
use crate::ops::{items, sparse};
use crate::runtime::kernels::amg_classical::Program;
use crate::runtime::kernels::amg_setup;
use crate::runtime::{Out, Reuse};
use crate::{Buffer, Real, Result};

/// Maximum number of entries per row of the interpolation.
pub(super) const MOST: u32 = 4;
/// Rounds of the independent set between two checks for undecided nodes.
const ROUNDS: usize = 4;
/// The threshold of strong influences.
pub(super) const THETA: f64 = 0.25;
/// An entry below this fraction of the largest in the row of its column is weak there.
const WEAK: f64 = 0.08;
/// Aggregation is not used where more than this fraction of the entries are strong for one of their nodes and weak for the other.
pub(super) const ONE_SIDED: f64 = 0.02;
/// Both kinds of coarsening are tried where more than this fraction of the entries have the sign of the diagonal.
pub(super) const SAME_SIGN: f64 = 0.05;

/// How the interpolation of a level was computed, so that it can be computed again for new values of the matrix.
pub(super) struct Classical {
    /// The columns of the strong entries; for weak ones their row.
    linked: Buffer<u32>,
    is_coarse: Buffer<u32>,
    /// Of coarse nodes.
    number: Buffer<u32>,
    /// Where the candidates of each row start while weights are computed.
    start: Buffer<u32>,
    room: usize,
}

fn peaks<T: Real>(a: EntriesRef<'_, T>) -> Result<Buffer<T>> {
    let s = a.structure;
    let (context, rows) = (s.offset.context(), s.rows);
    let mut peak = Buffer::uninit(context, rows)?;
    let program = amg_setup::Program::<T>::new();
    program.fill_opposite_peaks(context, items(context, rows), rows, &s.offset, &s.column, a.values, &mut peak)?;
    Ok(peak)
}

/// In more than this fraction of the rows of a matrix that is far from symmetric, entries differ from their mirror images.
pub(super) const UNSYMMETRIC: f64 = 0.25;
/// Entries differ from their mirror images where the difference exceeds this fraction of the larger of the two.
const DIFFERENT: f64 = 0.1;
/// Of so many rows one is compared with the column of its number.
const EVERY: usize = 16;

/// Fractions of the off-diagonal entries and of the rows.
pub(super) struct Shares {
    /// Of the rows: those with entries that differ from their mirror images.
    pub(super) unsymmetric: f64,
    /// Strong for their row and weak for their column.
    pub(super) one_sided: f64,
    /// Of the sign of the diagonal, and not small.
    pub(super) same_sign: f64,
}

impl Shares {
    pub(super) fn of<T: Real>(a: EntriesRef<'_, T>) -> Result<Shares> {
        // Only kernels use the buffers made here, as `Reuse` requires; the set-up takes their memory.
        let _reuse = Reuse::start();
        let s = a.structure;
        let (context, rows) = (s.offset.context(), s.rows);
        let (peak, strong, weak) = (peaks(a)?, T::from_f64(THETA), T::from_f64(WEAK));
        let mut counts = [Buffer::uninit(context, rows)?, Buffer::uninit(context, rows)?];
        let [one_sided, same_sign] = &mut counts;
        amg_setup::Program::<T>::new().count_one_sided(
            context,
            items(context, rows),
            rows,
            strong,
            weak,
            &peak,
            &s.offset,
            &s.column,
            a.values,
            one_sided,
            same_sign,
        )?;
        let beside = s.nnz.saturating_sub(rows).max(1) as f64;
        let share = |count: &Buffer<u32>| -> Result<f64> { Ok(sparse::scan::<T>(context, count)?.1 as f64 / beside) };
        let sampled = rows.div_ceil(EVERY);
        let mut differs = Buffer::uninit(context, sampled)?;
        let (range, every, tolerance) = (items(context, sampled), EVERY as u32, T::from_f64(DIFFERENT));
        amg_setup::Program::<T>::new().compare_with_columns(
            context,
            range,
            sampled,
            every,
            tolerance,
            &s.offset,
            &s.column,
            a.values,
            &mut differs,
        )?;
        let unsymmetric = sparse::scan::<T>(context, &differs)?.1 as f64 / sampled.max(1) as f64;
        Ok(Shares { unsymmetric, one_sided: share(&counts[0])?, same_sign: share(&counts[1])? })
    }
}

/// The columns of the strong entries, for weak ones their row, and how many nodes depend on each.
pub(super) fn influences<T: Real>(a: EntriesRef<'_, T>, theta: f64) -> Result<(Buffer<u32>, Buffer<u32>)> {
    let s = a.structure;
    let (context, rows, theta) = (s.offset.context(), s.rows, T::from_f64(theta));
    let peak = peaks(a)?;
    let mut linked = Buffer::<u32>::uninit(context, s.nnz)?;
    let mut influences = Buffer::<u32>::zeroed(context, rows)?;
    let (range, offset, to, count) = (items(context, rows), &s.offset, &mut linked, &mut influences);
    Program::<T>::new().link_influences(context, range, rows, theta, &peak, offset, &s.column, a.values, to, count)?;
    Ok((linked, influences))
}

impl Classical {
    /// The splitting of the nodes of `a` and how many are coarse.
    pub(super) fn new<T: Real>(a: EntriesRef<'_, T>, theta: f64) -> Result<(Classical, usize)> {
        let s = a.structure;
        let (context, rows, offset) = (s.offset.context(), s.rows, &s.offset);
        let (program, range) = (Program::<T>::new(), items(context, rows));
        let (linked, influences) = influences(a, theta)?;
        let [mut state, mut next] = [Buffer::<u64>::uninit(context, rows)?, Buffer::<u64>::uninit(context, rows)?];
        let [mut beaten, mut other] = [Buffer::<u32>::uninit(context, rows)?, Buffer::<u32>::uninit(context, rows)?];
        program.start_states(context, range, rows, &influences, &mut state, &mut beaten)?;
        loop {
            let mut undecided = Buffer::<u32>::zeroed(context, ROUNDS)?;
            for round in 0..ROUNDS as u32 {
                program.compare_states(context, range, rows, offset, &linked, &state, &mut beaten)?;
                let (from, to, free) = ((&beaten, &state), &mut next, &mut other);
                program.settle_states(
                    context,
                    range,
                    rows,
                    round,
                    offset,
                    &linked,
                    from.0,
                    from.1,
                    to,
                    free,
                    &mut undecided,
                )?;
                std::mem::swap(&mut state, &mut next);
                std::mem::swap(&mut beaten, &mut other);
            }
            if undecided.to_vec()?[ROUNDS - 1] == 0 {
                break;
            }
        }
        let mut is_coarse = Buffer::<u32>::uninit(context, rows)?;
        program.flag_coarse(context, range, rows, &state, &mut is_coarse)?;
        let (number, count) = sparse::scan::<T>(context, &is_coarse)?;
        // The influences and the flags of beaten nodes are no longer needed.
        let (mut coarse, mut room) = (influences, beaten);
        program.count_coarse(context, range, rows, offset, &linked, &is_coarse, &mut coarse)?;
        program.count_candidates(context, range, rows, offset, &linked, &is_coarse, &coarse, &mut room)?;
        let (start, room) = sparse::scan::<T>(context, &room)?;
        Ok((Classical { linked, is_coarse, number, start, room }, count))
    }

    /// Rows of the interpolation where `start` says, with gaps: how many entries each has, their coarse nodes and weights.
    fn weights<T: Real>(
        &self,
        a: EntriesRef<'_, T>,
        kept: Option<&Structure>,
    ) -> Result<(Buffer<u32>, Buffer<u32>, Buffer<T>)> {
        let s = a.structure;
        let (context, rows) = (s.offset.context(), s.rows);
        let mut count = Buffer::uninit(context, rows)?;
        let (mut node, mut weight) = (Buffer::uninit(context, self.room)?, Buffer::uninit(context, self.room)?);
        // Placeholder for arguments that a new interpolation does not read.
        let (kept_offset, kept_column) = kept.map_or((&self.start, &self.start), |p| (&p.offset, &p.column));
        Program::<T>::new().fill_weights(
            context,
            items(context, rows),
            rows,
            u32::from(kept.is_none()),
            MOST,
            &s.offset,
            &s.column,
            a.values,
            &self.linked,
            &self.is_coarse,
            &self.number,
            &self.start,
            kept_offset,
            kept_column,
            &mut count,
            &mut node,
            &mut weight,
        )?;
        Ok((count, node, weight))
    }

    /// The interpolation from `cols` coarse nodes.
    pub(super) fn interpolation<T: Real>(&self, a: EntriesRef<'_, T>, cols: usize) -> Result<Entries<T>> {
        let s = a.structure;
        let (context, rows) = (s.offset.context(), s.rows);
        let (count, node, weight) = self.weights(a, None)?;
        let (offset, nnz) = sparse::scan::<T>(context, &count)?;
        let (mut column, mut values) = (Buffer::uninit(context, nnz)?, Buffer::uninit(context, nnz)?);
        let (program, range, from) = (Program::<T>::new(), items(context, rows), &self.start);
        program.close_gaps(context, range, rows, from, &node, &weight, &offset, &mut column, &mut values)?;
        Ok(Entries { structure: Structure { rows, cols, nnz, offset, column }, values })
    }

    /// The values of the interpolation for new values of A, in the sparsity pattern `p`.
    pub(super) fn refill<T: Real>(&self, a: EntriesRef<'_, T>, p: &Structure, to: Out<'_, T>) -> Result<()> {
        let context = p.offset.context();
        let (_, node, weight) = self.weights(a, Some(p))?;
        let column = Out::shared(&p.column);
        let range = items(context, p.rows);
        Program::<T>::new().close_gaps(context, range, p.rows, &self.start, &node, &weight, &p.offset, column, to)
    }
}
