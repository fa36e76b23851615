//! Orders of elimination that keep factors sparse.

use std::sync::{Mutex, PoisonError};

use metis_sys::{METIS_NodeNDP, METIS_SetDefaultOptions, idx_t, rstatus_et_METIS_OK};

use crate::{Error, Result};

/// Without one.
pub(super) const NONE: usize = usize::MAX;

/// The pattern of a symmetric matrix without its diagonal: the neighbours of each row.
#[derive(Debug)]
pub(super) struct Adjacency {
    pub(super) offsets: Vec<usize>,
    pub(super) neighbours: Vec<u32>,
}

impl Adjacency {
    /// The pattern of A + A' from the entries of the rows of A.
    pub(super) fn of<I: Iterator<Item = usize>>(n: usize, row: impl Fn(usize) -> I) -> Adjacency {
        let mut offsets = vec![0; n + 1];
        for i in 0..n {
            for j in row(i).filter(|&j| j != i) {
                offsets[i + 1] += 1;
                offsets[j + 1] += 1;
            }
        }
        (0..n).for_each(|i| offsets[i + 1] += offsets[i]);
        let mut neighbours = vec![0; offsets[n]];
        let mut next = offsets[..n].to_vec();
        for i in 0..n {
            for j in row(i).filter(|&j| j != i) {
                for (from, to) in [(i, j), (j, i)] {
                    neighbours[next[from]] = to as u32;
                    next[from] += 1;
                }
            }
        }
        // Entries (i, j) and (j, i) name each other twice.
        let (mut kept, mut begin) = (0, 0);
        for i in 0..n {
            let end = offsets[i + 1];
            neighbours[begin..end].sort_unstable();
            let first = kept;
            for e in begin..end {
                if kept == first || neighbours[kept - 1] != neighbours[e] {
                    neighbours[kept] = neighbours[e];
                    kept += 1;
                }
            }
            begin = end;
            offsets[i + 1] = kept;
        }
        neighbours.truncate(kept);
        Adjacency { offsets, neighbours }
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(super) fn of_row(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        self.neighbours[self.offsets[i]..self.offsets[i + 1]].iter().map(|&j| j as usize)
    }

    /// The same graph with row `order[k]` as the k-th; rows outside of `order`, which `place` maps to [`NONE`], are left out.
    pub(super) fn renumbered(&self, order: &[usize], place: &[usize]) -> Adjacency {
        let mut offsets = Vec::with_capacity(order.len() + 1);
        let mut neighbours = Vec::with_capacity(self.neighbours.len());
        offsets.push(0);
        for &i in order {
            neighbours.extend(self.of_row(i).map(|j| place[j]).filter(|&k| k != NONE).map(|k| k as u32));
            offsets.push(neighbours.len());
        }
        Adjacency { offsets, neighbours }
    }
}

/// Rows with more neighbours than this many times the square root of their number are eliminated last: no separator of the others
/// contains them, and METIS takes long to find that out.
const DENSE: f64 = 10.0;

/// For each k, the row that is eliminated in step k: nested dissection (George 1973) by METIS (Karypis and Kumar 1998), with
/// minimum degree where its parts are small.
///
/// # Errors
/// [`Error::Allocation`]; [`Error::Value`] for more neighbours than METIS counts.
pub(super) fn order(graph: &Adjacency) -> Result<Vec<usize>> {
    let n = graph.len();
    let most = (DENSE * (n as f64).sqrt()).max(16.0) as usize;
    let is_dense = |i: usize| graph.offsets[i + 1] - graph.offsets[i] > most;
    let (dense, sparse): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| is_dense(i));
    let mut place = vec![NONE; n];
    sparse.iter().enumerate().for_each(|(k, &i)| place[i] = k);
    let rest = graph.renumbered(&sparse, &place);
    let mut order: Vec<usize> = dissected(&rest)?.into_iter().map(|k| sparse[k]).collect();
    order.extend(dense);
    Ok(order)
}

/// METIS has one random number generator for all threads, from which its orders come.
static METIS: Mutex<()> = Mutex::new(());

fn dissected(graph: &Adjacency) -> Result<Vec<usize>> {
    let n = graph.len();
    if graph.neighbours.is_empty() {
        return Ok((0..n).collect());
    }
    let mut offsets = Vec::with_capacity(n + 1);
    for &offset in &graph.offsets {
        let expected = || format!("at most {} entries off the diagonal", idx_t::MAX);
        offsets.push(idx_t::try_from(offset).map_err(|_| Error::value("a", expected(), offset))?);
    }
    let mut neighbours: Vec<idx_t> = graph.neighbours.iter().map(|&j| j as idx_t).collect();
    let (mut order, mut place) = (vec![0; n], vec![0; n]);
    let mut options = [0; metis_sys::METIS_NOPTIONS as usize];
    let mut sizes = [0];
    let guard = METIS.lock().unwrap_or_else(PoisonError::into_inner);
    // The function for parallel use, with one processor: METIS_NodeND replaces the signal handlers of the process.
    // SAFETY: the arrays have the lengths that the manual of METIS 5 asks for, and the graph is symmetric without loops.
    let status = unsafe {
        METIS_SetDefaultOptions(options.as_mut_ptr());
        METIS_NodeNDP(
            n as idx_t,
            offsets.as_mut_ptr(),
            neighbours.as_mut_ptr(),
            std::ptr::null_mut(),
            1,
            options.as_mut_ptr(),
            order.as_mut_ptr(),
            place.as_mut_ptr(),
            sizes.as_mut_ptr(),
        )
    };
    drop(guard);
    match status == rstatus_et_METIS_OK {
        true => Ok(order.into_iter().map(|k| k as usize).collect()),
        false => Err(Error::unsuitable("a", format!("METIS cannot order its rows (status {status})"))),
    }
}
