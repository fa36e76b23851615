//! The unknowns in another numbering.

use clinalg::{CsrParts, Error, Reordering, Scalar};

use super::Args;
use super::method::Reorder;
use crate::exit::{Failure, usage};

/// The largest distance of an entry from the diagonal.
fn bandwidth<T: Scalar>(a: &CsrParts<T>) -> usize {
    a.triplets().map(|(i, j, _)| i.abs_diff(j)).max().unwrap_or(0)
}

/// Columns of values, each in another numbering or back.
fn columns<T: Scalar>(values: &mut [T], n: usize, turn: impl Fn(&[T]) -> Result<Vec<T>, Error>) -> Result<(), Failure> {
    for column in values.chunks_mut(n.max(1)) {
        let turned = turn(column)?;
        column.copy_from_slice(&turned);
    }
    Ok(())
}

/// A numbering with what it does to the bandwidth.
pub(super) struct Renumbered {
    order: Reordering,
    pub(super) description: String,
}

impl Renumbered {
    /// Renumbers the matrix, the right-hand sides and the starts where the options ask for it.
    pub(super) fn new<T: Scalar>(
        args: &Args,
        a: &mut CsrParts<T>,
        b: &mut [T],
        starts: Option<&mut Vec<T>>,
    ) -> Result<Option<Renumbered>, Failure> {
        if args.reorder == Reorder::None {
            return Ok(None);
        }
        if a.rows != a.cols {
            return usage!("--reorder is for square matrices; leave it out for least squares");
        }
        if let Some(option) = args.node_options() {
            return usage!(
                "--reorder numbers unknowns one by one, and {option} needs those of a node together: leave one of them out"
            );
        }
        let order = Reordering::cuthill_mckee(a)?;
        let before = bandwidth(a);
        *a = order.matrix(a)?;
        let n = a.rows;
        columns(b, n, |column| order.apply(column))?;
        starts.map_or(Ok(()), |starts| columns(starts, n, |column| order.apply(column)))?;
        let description = format!("reverse Cuthill-McKee: bandwidth {before} before, {} now", bandwidth(a));
        Ok(Some(Renumbered { order, description }))
    }

    /// Brings solutions back to the numbering of the file.
    pub(super) fn undo<T: Scalar>(&self, x: &mut [T]) -> Result<(), Failure> {
        columns(x, self.order.len(), |column| self.order.undo(column))
    }
}
