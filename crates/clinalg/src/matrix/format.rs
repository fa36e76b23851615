//! How a sparse matrix is multiplied: the structure that its upload finds, and the format that is chosen.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;

use super::balanced::NnzBalanced;
use super::bsr::Bsr;
use super::convert::conversion;
use super::csr::{Structure, balanced};
use super::dia::{Dia, Marked, Rule, Stencil, block};
use super::launch::{self, MultiLaunch, Prepared};
use super::offsets::Offsets;
use super::sorted::Sorted;
use super::spread::{self, RowProduct};
use super::tuning::{MV_RUNS_CPU, MV_SELL_CPU};
use crate::runtime::kernels::{bsr, csr, sell, stencil};
use crate::runtime::{In, KernelFamily, Out, Range};
use crate::{Buffer, Error, Result, Scalar};

/// How the product with a sparse matrix is computed. Chosen at upload; the compressed rows stay, and can be downloaded
/// as they were given, in every format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// The compressed rows as they are: on a GPU one or several work-items per row, on a CPU a chunk of rows per
    /// item.
    Csr,
    /// On a GPU nnz-balanced CSR: a work-group per block of about equally many entries; long rows are cut into segments.
    /// Columns take 16 bits where those of every block lie close together. On a CPU SELL-8: the entries are kept once more
    /// in chunks of eight rows, entry by entry.
    Balanced,
    /// The diagonal format: most rows have their entries at the same distances from the diagonal. Columns are not read; on a GPU the values
    /// are kept by diagonals as well. Where there is no such pattern, on a CPU, rows may come in runs in which the
    /// columns are shifted by one from row to row: those of a run's first row serve for all.
    Dia,
    /// Most rows have the same values at the same distances from the diagonal: neither columns nor values are read.
    Stencil,
    /// On a GPU, block CSR (BSR): all entries lie in dense blocks of 2 x 2 to 6 x 6, with one column index per block; the values are those of CSR.
    Bsr,
    /// On a GPU SELL-C-sigma: the entries are kept once more in chunks of 32 rows, entry by entry, the rows sorted by their length
    /// within windows of 128. Columns as in [`Format::Balanced`]. Chosen where rows are of similar length.
    Sell,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Csr => "csr",
            Format::Balanced => "balanced",
            Format::Dia => "dia",
            Format::Stencil => "stencil",
            Format::Bsr => "bsr",
            Format::Sell => "sell",
        })
    }
}

/// Rows of a chunk of `sell.cl`.
const CHUNK: usize = 8;

/// The result of the analysis of the positions, the product that follows from it, and the time of the whole analysis.
#[derive(Debug)]
pub(crate) struct Plan<T: Scalar> {
    pub(crate) dia: Option<Arc<Dia>>,
    pub(crate) balanced: Option<NnzBalanced<T::Real>>,
    pub(crate) sell: Option<Sell>,
    pub(crate) bsr: Option<Bsr>,
    pub(crate) sorted: Option<Sorted<T::Real>>,
    pub(crate) runs: Option<Runs>,
    /// On a CPU, first rows of parts with about equally many entries, and the number of rows; for products by
    /// compressed rows.
    pub(crate) split: Option<Buffer<u32>>,
    /// Whether compressed rows were requested.
    pub(crate) plain: bool,
    /// Items per row of a GPU where there are no blocks.
    pub(crate) rows: RowProduct,
    pub(crate) product: Product<T>,
    /// With several right-hand sides.
    pub(crate) multi: MultiLaunch<T>,
    pub(crate) seconds: f64,
    /// Seconds for building kernels, not included in `seconds`.
    pub(crate) building: f64,
}

/// How the product is launched.
#[derive(Debug)]
pub(crate) enum Product<T: Scalar> {
    /// By compressed rows.
    Rows(Prepared<csr::Program<T>>),
    /// By [`Runs`].
    Runs(Prepared<csr::Program<T>>),
    /// By [`Dia`].
    Dia(Prepared<stencil::Program<T::Real>>),
    /// By [`Sell`].
    Sell(Prepared<sell::Program<T::Real>>),
    /// By [`Bsr`].
    Bsr(Prepared<bsr::Program<T::Real>>),
    /// By [`Sorted`], which holds its launch.
    Sorted,
    /// By [`NnzBalanced`], which holds its launches.
    Balanced,
}

/// Entries in chunks of rows, for `sell.cl`; their values are in [`Packed`].
#[derive(Debug)]
pub(crate) struct Sell {
    /// First rows of parts with about equally many entries, and the number of rows.
    pub(crate) split: Buffer<u32>,
    /// Where each chunk begins and the last one ends, in units of [`CHUNK`] entries.
    pub(crate) start: Buffer<u32>,
    pub(crate) column: Buffer<u32>,
    /// Entries outside of the chunks.
    others: usize,
}

/// Runs of rows, as in matrices of stencils: within a run, each row has the columns of the previous row shifted by one. On
/// CPUs.
#[derive(Debug)]
pub(crate) struct Runs {
    /// First rows of parts with about equally many entries, and the number of rows.
    pub(crate) split: Buffer<u32>,
    /// First row of each run, and the number of rows.
    pub(crate) start: Buffer<u32>,
    /// The run in which each part begins.
    pub(crate) first: Buffer<u32>,
}

/// A second copy of the values, by diagonals or in chunks; `fresh` while they are those of the matrix.
#[derive(Debug)]
pub(crate) struct Packed<T: Scalar> {
    pub(crate) value: Buffer<T>,
    pub(crate) fresh: Mutex<bool>,
}

/// What the analysis found in the values of a matrix.
pub(crate) struct Found<T: Scalar> {
    pub(crate) plan: Plan<T>,
    pub(crate) stencil: Option<Stencil<T>>,
}

/// Looks for the best format, or for what the `forced` one needs.
///
/// # Errors
/// [`Error::Value`] when the matrix cannot have the `forced` format.
pub(crate) fn analyse<T: Scalar>(
    s: &Structure,
    offsets: &Offsets<'_>,
    values: &Buffer<T>,
    forced: Option<Format>,
) -> Result<Found<T>> {
    if T::IS_COMPLEX {
        return complex::<T>(s, offsets, forced);
    }
    let context = s.offset.context();
    // The transfers of an upload are not part of the search.
    context.finish()?;
    let started = Instant::now();
    let built = context.build_seconds();
    let gpu = context.family() == KernelFamily::Gpu;
    let plain = forced == Some(Format::Csr);
    // Only a forced choice takes the time to inspect every row.
    let longest = if plain { longest_row(offsets.all()?) } else { 0 };
    let rows = RowProduct::choose(s.rows, s.nnz, longest);
    let (mut dia, mut stencil) = (None, None);
    let worth = s.rows >= spread::DIA_ROWS && forced.is_none();
    if worth || matches!(forced, Some(Format::Dia | Format::Stencil)) {
        let rule = Rule { forced: forced.is_some() };
        if let Some(marked) = Marked::find(s, values, &rule)? {
            // Also what the products of a stencil fall back to when the values change.
            dia = marked.diagonals(s, &rule);
            if forced != Some(Format::Dia) {
                stencil = marked.stencil(s, &rule)?;
            }
        }
    }
    let without = dia.is_none() && !plain;
    let may_be = |format| gpu && without && (forced.is_none() || forced == Some(format));
    let bsr = if may_be(Format::Bsr) { Bsr::find(s, offsets)? } else { None };
    let long_rows = gpu && without && forced.is_none() && bsr.is_none() && launch::takes_long_rows(s, offsets)?;
    let sorted = match forced {
        Some(Format::Sell) if gpu => Sorted::new(s, false)?,
        None if gpu && without && bsr.is_none() && !long_rows && Sorted::<T::Real>::pays(s)? => Sorted::new(s, true)?,
        _ => None,
    };
    let other = bsr.is_some() || sorted.is_some() || long_rows;
    let nnz_balanced = if may_be(Format::Balanced) && !other { NnzBalanced::new(s)? } else { None };
    let takes_runs = !gpu && without && matches!(forced, None | Some(Format::Dia));
    let runs = if takes_runs { Runs::find::<T>(s, offsets)? } else { None };
    let unforced = forced.is_none() && without && runs.is_none();
    let takes_sell =
        !gpu && (forced == Some(Format::Balanced) || unforced && !launch::gathers_far::<T>(s, offsets.all()?)?);
    let sell = if takes_sell { Sell::new::<T>(s, offsets.all()?, forced.is_some())? } else { None };
    let possible = match forced {
        Some(Format::Stencil) => stencil.is_some(),
        Some(Format::Dia) => dia.is_some() || runs.is_some(),
        Some(Format::Balanced) => nnz_balanced.is_some() || sell.is_some(),
        Some(Format::Bsr) => bsr.is_some(),
        Some(Format::Sell) => sorted.is_some(),
        Some(Format::Csr) | None => true,
    };
    if !possible {
        let format = forced.unwrap_or(Format::Csr);
        let expected = "a format that the matrix and the device allow (see Csr::explain)";
        return Err(Error::value("format", expected, format));
    }
    let mut split = None;
    let product = match (&dia, &bsr, &nnz_balanced, &sell, &runs) {
        (Some(dia), ..) => Product::Dia(dia.product::<T>(context, s.rows)),
        (None, Some(bsr), ..) => Product::Bsr(bsr.product(s)),
        _ if sorted.is_some() => Product::Sorted,
        (None, None, Some(_), ..) => Product::Balanced,
        (None, None, None, Some(_), _) => Product::Sell(Sell::product::<T>(s)),
        (None, None, None, None, Some(_)) => Product::Runs(Runs::product(s)),
        _ if gpu => Product::Rows(launch::csr_gpu(context, s.rows, rows)),
        _ => {
            let launch = launch::csr_cpu(context, s.rows, s.cols);
            split = Some(Buffer::from_slice(context, &balanced(offsets.all()?, launch.range.items()))?);
            Product::Rows(launch)
        }
    };
    let skewed = nnz_balanced.as_ref().is_some_and(|balanced| balanced.cut.is_some());
    let multi = match &dia {
        Some(dia) if gpu => MultiLaunch::dia(context, s.rows, dia.deltas.len(), false),
        _ => MultiLaunch::csr(context, s.rows, rows, skewed),
    };
    context.finish()?;
    let building = context.build_seconds() - built;
    let seconds = (started.elapsed().as_secs_f64() - building).max(0.0);
    let plan = Plan {
        dia,
        balanced: nnz_balanced,
        sell,
        bsr,
        sorted,
        runs,
        split,
        plain,
        rows,
        product,
        multi,
        seconds,
        building,
    };
    Ok(Found { plan, stencil })
}

/// Entries of the longest row.
fn longest_row(offsets: &[u32]) -> usize {
    offsets.windows(2).map(|row| row[1] - row[0]).max().unwrap_or(0) as usize
}

/// The plan for compressed rows on a GPU, chosen by the mean row length alone.
pub(crate) fn compressed_rows<T: Scalar>(s: &Structure) -> Found<T> {
    let context = s.offset.context();
    let rows = RowProduct::choose(s.rows, s.nnz, 0);
    let plan = Plan {
        dia: None,
        balanced: None,
        sell: None,
        bsr: None,
        sorted: None,
        runs: None,
        split: None,
        plain: false,
        rows,
        product: Product::Rows(launch::csr_gpu(context, s.rows, rows)),
        multi: MultiLaunch::csr(context, s.rows, rows, false),
        seconds: 0.0,
        building: 0.0,
    };
    Found { plan, stencil: None }
}

/// The compressed rows as they are, the only format of complex matrices.
fn complex<T: Scalar>(s: &Structure, offsets: &Offsets<'_>, forced: Option<Format>) -> Result<Found<T>> {
    if let Some(format) = forced.filter(|&format| format != Format::Csr) {
        return Err(Error::value("format", "csr, the only format of complex matrices", format));
    }
    let started = Instant::now();
    let context = s.offset.context();
    let offsets = offsets.all()?;
    let rows = RowProduct::choose(s.rows, s.nnz, longest_row(offsets));
    let (product, split) = match context.family() {
        KernelFamily::Gpu => (launch::csr_gpu(context, s.rows, rows), None),
        KernelFamily::Cpu => {
            let launch = launch::csr_cpu::<T>(context, s.rows, s.cols);
            (launch, Some(Buffer::from_slice(context, &balanced(offsets, launch.range.items()))?))
        }
    };
    let plan = Plan {
        dia: None,
        balanced: None,
        sell: None,
        bsr: None,
        sorted: None,
        runs: None,
        split,
        plain: forced.is_some(),
        rows,
        product: Product::Rows(product),
        multi: MultiLaunch::csr(context, s.rows, rows, false),
        seconds: started.elapsed().as_secs_f64(),
        building: 0.0,
    };
    Ok(Found { plan, stencil: None })
}

impl<T: Scalar> Packed<T> {
    pub(super) fn dia(s: &Structure, dia: &Dia) -> Result<Packed<T>> {
        let block = block(KernelFamily::Gpu);
        let len = s.rows.div_ceil(block).saturating_mul(block * dia.deltas.len());
        Packed::uninit(s, len)
    }

    pub(super) fn sell(s: &Structure, sell: &Sell) -> Result<Packed<T>> {
        Packed::uninit(s, sell.column.len())
    }

    pub(super) fn sorted(s: &Structure, sorted: &Sorted<T::Real>) -> Result<Packed<T>> {
        Packed::uninit(s, sorted.places)
    }

    fn uninit(s: &Structure, len: usize) -> Result<Packed<T>> {
        Ok(Packed { value: Buffer::uninit(s.offset.context(), len)?, fresh: Mutex::new(false) })
    }

    pub(super) fn outdate(&mut self) {
        *self.fresh.get_mut().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// The packed copy with the values of the matrix; whatever is enqueued next sees the current values.
    pub(super) fn refresh(&self, s: &Structure, dia: &Dia, values: &Buffer<T>) -> Result<&Buffer<T>> {
        self.fill(|| {
            let (context, range) = (values.context(), Range::d1(s.rows, values.context().local()));
            let (values, to) = (In::parts(values), Out::parts(&self.value));
            dia.program::<T>(context).fill_dia(context, range, s.rows, &dia.mask, &s.offset, values, to)
        })
    }

    /// The same for the values in chunks.
    pub(super) fn refresh_sell(&self, s: &Structure, sell: &Sell, values: &Buffer<T>) -> Result<&Buffer<T>> {
        self.fill(|| {
            let (program, range) = (sell::Program::<T::Real>::new(), sell.fill_range());
            let (values, to) = (In::parts(values), Out::parts(&self.value));
            let context = s.offset.context();
            program.fill_values(context, range, s.rows, &sell.split, &sell.start, &s.offset, values, to)
        })
    }

    /// The same for the values in chunks of sorted rows.
    pub(super) fn refresh_sorted(
        &self,
        s: &Structure,
        sorted: &Sorted<T::Real>,
        values: &Buffer<T>,
    ) -> Result<&Buffer<T>> {
        self.fill(|| {
            let (program, context) = (sorted.program(), s.offset.context());
            let (values, to) = (In::parts(values), Out::parts(&self.value));
            let (start, order) = (&sorted.start, &sorted.order);
            program.place_values(context, sorted.range, s.rows, start, order, &s.offset, values, to)
        })
    }

    fn fill(&self, fill: impl FnOnce() -> Result<()>) -> Result<&Buffer<T>> {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if !*fresh {
            fill()?;
            *fresh = true;
        }
        Ok(&self.value)
    }
}

impl Sell {
    /// The chunks, if few entries remain outside or they are `forced`.
    fn new<T: Scalar>(s: &Structure, offsets: &[u32], forced: bool) -> Result<Option<Sell>> {
        let context = s.offset.context();
        let starts = sell_starts(offsets);
        let entries = starts[starts.len() - 1] as usize * CHUNK;
        let others = s.nnz - entries;
        if s.nnz == 0 || !forced && others > s.nnz / spread::SELL_REMAINDER {
            return Ok(None);
        }
        let [parts, ..] = launch::numbers::<T>(context, &MV_SELL_CPU, s.rows);
        let split = Buffer::from_slice(context, &balanced(offsets, launch::parts(context, parts, s.rows)))?;
        let start = Buffer::from_slice(context, &starts)?;
        let sell = Sell { split, start, column: Buffer::uninit(context, entries)?, others };
        let (program, range) = (sell::Program::<T::Real>::new(), sell.fill_range());
        let to = Out::shared(&sell.column);
        program.fill_columns(context, range, s.rows, &sell.split, &sell.start, &s.offset, &s.column, to)?;
        Ok(Some(sell))
    }

    fn product<T: Scalar>(s: &Structure) -> Prepared<sell::Program<T::Real>> {
        let (range, ahead) = launch::chunked::<T>(s.offset.context(), &MV_SELL_CPU, s.rows, s.rows);
        Prepared { program: sell::Program::new().ahead_unless(ahead, 0), range }
    }

    /// The range of the kernels that copy the values of entries into the chunks.
    fn fill_range(&self) -> Range {
        Range::d1(self.split.len() - 1, 1)
    }

    pub(super) fn words(&self) -> String {
        let others = match self.others {
            0 => String::new(),
            n => format!(" ({n} entries are not, and are read from the compressed rows)"),
        };
        format!(
            "no pattern of rows that pays off was found; entries are kept in chunks of {CHUNK} rows (SELL-{CHUNK}){others}"
        )
    }
}

/// Where each chunk begins, in units of [`CHUNK`] entries, each holding as many entries per row as its shortest row has; the last rows form a
/// chunk if there are enough of them.
fn sell_starts(offsets: &[u32]) -> Vec<u32> {
    let chunks = (offsets.len() - 1).div_ceil(CHUNK);
    let mut starts = Vec::with_capacity(chunks + 1);
    let mut next = 0;
    starts.push(next);
    for c in 0..chunks {
        if let Some(rows) = offsets.get(c * CHUNK..=(c + 1) * CHUNK) {
            next += rows.windows(2).map(|row| row[1] - row[0]).min().unwrap_or(0);
        }
        starts.push(next);
    }
    starts
}

impl Runs {
    /// The runs of a matrix, if they are long enough to pay.
    fn find<T: Scalar>(s: &Structure, offsets: &Offsets<'_>) -> Result<Option<Runs>> {
        let context = s.offset.context();
        let parts = context.chunks().min(s.rows.div_ceil(1024)).max(1);
        let (program, range) = (conversion::<T>(context), Range::d1(parts, 1));
        let mut count = Buffer::<u32>::uninit(context, parts)?;
        program.count_runs(context, range, s.rows, &s.offset, &s.column, &mut count)?;
        let mut place = count.to_vec()?;
        let runs: usize = place.iter().map(|&count| count as usize).sum();
        if runs >= s.rows / spread::RUN_ROWS {
            return Ok(None);
        }
        let mut next = 0;
        place.iter_mut().for_each(|place| next += std::mem::replace(place, next));
        let mut start = Buffer::<u32>::uninit(context, runs + 1)?;
        let place = Buffer::from_slice(context, &place)?;
        program.list_runs(context, range, s.rows, &s.offset, &s.column, &place, &mut start)?;
        start.write_range(runs, &[s.rows as u32])?;
        let [parts, ..] = launch::numbers::<T>(context, &MV_RUNS_CPU, s.rows);
        let split = balanced(offsets.all()?, launch::parts(context, parts, s.rows));
        let starts = start.to_vec()?;
        let run_of = |&row: &u32| starts.partition_point(|&s| s <= row).saturating_sub(1) as u32;
        let first: Vec<u32> = split.iter().map(run_of).collect();
        let first = Buffer::from_slice(context, &first)?;
        Ok(Some(Runs { split: Buffer::from_slice(context, &split)?, start, first }))
    }

    fn product<T: Scalar>(s: &Structure) -> Prepared<csr::Program<T>> {
        let (range, ahead) = launch::chunked::<T>(s.offset.context(), &MV_RUNS_CPU, s.rows, s.rows);
        Prepared { program: csr::Program::new().ahead_unless(ahead, 0), range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_hold_what_all_their_rows_have() {
        assert_eq!(sell_starts(&[0]), [0]);
        assert_eq!(sell_starts(&[0, 3, 6]), [0, 0]);
        let offsets: Vec<u32> = (0..=8).map(|i| 3 * i).chain([25, 27, 30, 34, 39, 45, 52, 60, 70]).collect();
        assert_eq!(sell_starts(&offsets), [0, 3, 4, 4]);
    }
}
