//! Aggressive classical coarsening: coarse nodes two strong connections apart, and interpolation in two passes.

use super::aggregate::choose_roots;
use super::classical::{MOST, influences};
use crate::matrix::{Entries, EntriesRef, Structure};
use crate::ops::items;
use crate::ops::sparse::{self, Product};
use crate::runtime::Out;
use crate::runtime::kernels::amg_multipass::Program;
use crate::runtime::kernels::amg_setup;
use crate::{Buffer, Real, Result};

/// The pass of nodes that depend on a coarse node, and of those that depend on no coarse node but on a node of that pass.
const NEAR: u32 = 2;
const FAR: u32 = 3;

/// How the interpolation of a level was computed, so that it can be computed again for new values of the matrix.
pub(super) struct Multipass {
    /// The columns of the strong entries; for weak ones their row.
    linked: Buffer<u32>,
    /// The pass of each node: 1 for coarse ones, [`NEAR`], [`FAR`], 0 for nodes that depend on no node of these passes.
    pass: Buffer<u32>,
    /// Of coarse nodes, and of all.
    number: Buffer<u32>,
    every: Buffer<u32>,
    /// Of the interpolation of near nodes from coarse ones, and of far nodes from both.
    near: Structure,
    far: Structure,
    /// Of the interpolation of all nodes from coarse ones, their product.
    whole: Structure,
    product: Product,
}

impl Multipass {
    /// The splitting of the nodes of `a`, in which no coarse node depends on another along one or two strong connections, unless the dependence is
    /// one-sided; and the interpolation from at most [`MOST`] coarse nodes per node. `None` without a strong connection.
    pub(super) fn new<T: Real>(a: EntriesRef<'_, T>, theta: f64) -> Result<Option<(Multipass, Entries<T>)>> {
        let s = a.structure;
        let (context, rows, offset) = (s.offset.context(), s.rows, &s.offset);
        let range = items(context, rows);
        let (linked, influences) = influences(a, theta)?;
        let program = amg_setup::Program::<T>::new();
        let mut state = Buffer::<u64>::uninit(context, rows)?;
        program.start_distant(context, range, rows, offset, &linked, &influences, &mut state)?;
        choose_roots::<T>(s, &linked, &mut state)?;
        // The influences are no longer needed.
        let (mut pass, mut reached) = (influences, Buffer::uninit(context, rows)?);
        program.flag_roots(context, range, rows, &state, &mut pass)?;
        let (number, coarse) = sparse::scan::<T>(context, &pass)?;
        if coarse == 0 {
            return Ok(None);
        }
        let program = Program::<T>::new();
        program.reach_nodes(context, range, rows, NEAR, offset, &linked, &pass, &mut reached)?;
        program.reach_nodes(context, range, rows, FAR, offset, &linked, &reached, &mut pass)?;
        let mut every = reached;
        program.count_up(context, range, rows, &mut every)?;

        let mut count = Buffer::uninit(context, rows)?;
        let mut sources = |of: u32, cols: usize| -> Result<Structure> {
            program.count_sources(context, range, rows, of, offset, &linked, &pass, &mut count)?;
            let (offset, nnz) = sparse::scan::<T>(context, &count)?;
            Ok(Structure { rows, cols, nnz, offset, column: Buffer::uninit(context, nnz)? })
        };
        let (near, far) = (sources(NEAR, coarse)?, sources(FAR, rows)?);
        let from_coarse = weights(a, (NEAR, &linked, &pass, &number), &near)?;
        let from_both = weights(a, (FAR, &linked, &pass, &every), &far)?;
        let [left, right] = [(&far, &from_both), (&near, &from_coarse)];
        let [left, right] = [left, right].map(|(structure, values)| EntriesRef { structure, values });
        let (all, product) = sparse::multiply(left, right)?;

        program.count_kept(context, range, rows, MOST, &all.structure.offset, &mut count)?;
        let (offset, nnz) = sparse::scan::<T>(context, &count)?;
        let kept = Structure { rows, cols: coarse, nnz, offset, column: Buffer::uninit(context, nnz)? };
        let values = Buffer::uninit(context, nnz)?;
        keep_largest((&all).into(), true, &kept, Out::shared(&values))?;
        let made = Multipass { linked, pass, number, every, near, far, whole: all.structure, product };
        Ok(Some((made, Entries { structure: kept, values })))
    }

    /// The values of the interpolation for new values of A, in the sparsity pattern `p`.
    pub(super) fn refill<T: Real>(&self, a: EntriesRef<'_, T>, p: &Structure, to: Out<'_, T>) -> Result<()> {
        let Multipass { linked, pass, number, every, near, far, whole, product } = self;
        let from_coarse = weights(a, (NEAR, linked, pass, number), near)?;
        let from_both = weights(a, (FAR, linked, pass, every), far)?;
        let [left, right] = [(far, &from_both), (near, &from_coarse)];
        let [left, right] = [left, right].map(|(structure, values)| EntriesRef { structure, values });
        let values = Buffer::uninit(p.offset.context(), whole.nnz)?;
        product.fill(left, right, whole, Out::shared(&values))?;
        keep_largest(EntriesRef { structure: whole, values: &values }, false, p, to)
    }
}

/// The values of the interpolation of the nodes of a pass from those of earlier ones, which keep their own; its columns go to `p` as well.
fn weights<T: Real>(
    a: EntriesRef<'_, T>,
    (of, linked, pass, number): (u32, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>),
    p: &Structure,
) -> Result<Buffer<T>> {
    let s = a.structure;
    let (context, rows) = (s.offset.context(), s.rows);
    let mut values = Buffer::uninit(context, p.nnz)?;
    let (range, offset, column) = (items(context, rows), &s.offset, &s.column);
    let (start, source, to) = (&p.offset, Out::shared(&p.column), &mut values);
    Program::<T>::new()
        .fill_sources(context, range, rows, of, offset, column, a.values, linked, pass, number, start, source, to)?;
    Ok(values)
}

/// The largest entries of each row, scaled to the sum of all: new ones, or those in the columns of `kept`.
fn keep_largest<T: Real>(all: EntriesRef<'_, T>, is_new: bool, kept: &Structure, to: Out<'_, T>) -> Result<()> {
    let s = all.structure;
    let context = s.offset.context();
    let (range, column) = (items(context, s.rows), Out::shared(&kept.column));
    Program::<T>::new().keep_largest(
        context,
        range,
        s.rows,
        u32::from(is_new),
        &s.offset,
        &s.column,
        all.values,
        &kept.offset,
        column,
        to,
    )
}
