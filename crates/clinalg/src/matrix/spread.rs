//! How sparse matrices are spread over work-items, and the bounds that decide between formats.

use super::tuning::{MV_CSR_LANES, MV_CSR_LONG};
use crate::Real;
use crate::runtime::kernels::nnz_balanced;
use crate::tune::Operation;

/// How a sparse product by compressed rows on a GPU spreads a row over work-items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowProduct {
    /// One item per row.
    Short,
    /// Some neighbouring items per row.
    Medium,
    /// Many neighbouring items per row.
    Long,
}

/// Mean entries per row up to which one item per row is the fastest (NVIDIA H200: 5-point stencil).
const SHORT_ROWS: usize = 12;
/// Mean entries per row from which 32 items per row are kept busy.
const LONG_ROWS: usize = 64;
/// A row this many times longer than the mean would leave a single item working alone.
const SKEW: usize = 64;

impl RowProduct {
    /// The choice for `rows` rows with `nnz` entries, `longest` of them in the longest row.
    pub(crate) fn choose(rows: usize, nnz: usize, longest: usize) -> RowProduct {
        let mean = nnz.div_ceil(rows.max(1));
        if mean > LONG_ROWS || longest > SKEW * mean.max(SHORT_ROWS) {
            RowProduct::Long
        } else if mean > SHORT_ROWS {
            RowProduct::Medium
        } else {
            RowProduct::Short
        }
    }

    /// The operation with the parameters of rows that items share.
    pub(crate) fn shared(self) -> Option<&'static Operation> {
        match self {
            RowProduct::Short => None,
            RowProduct::Medium => Some(&MV_CSR_LANES),
            RowProduct::Long => Some(&MV_CSR_LONG),
        }
    }
}

/// How a sparse product on a GPU goes through blocks of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockShape {
    /// Items of a work-group.
    pub(crate) items: usize,
    /// Entries per item.
    pub(crate) per: usize,
    /// Maximum number of rows in a block of whole rows.
    pub(crate) rows: usize,
    /// Whether local memory has gaps.
    gaps: bool,
}

impl BlockShape {
    /// The choice for `rows` rows with `nnz` entries, groups of `items` and at most `most` entries per item. Rows of the mean
    /// length should fill a block.
    pub(crate) fn choose(items: usize, most: usize, rows: usize, nnz: usize) -> BlockShape {
        let width = nnz.div_ceil(rows.max(1)).max(1);
        let rows_of = |per: usize| (per * items / width).clamp(1, items);
        let filled = |per: usize| (rows_of(per) * width * 1000) / (per * items);
        let best = (most.min(4)..=most).rev().max_by_key(|&per| filled(per)).unwrap_or(most);
        let per = if width <= most { width } else { best };
        BlockShape { items, per, rows: rows_of(per), gaps: width.is_multiple_of(2) }
    }

    /// With the maximum number of entries, for rows of any length.
    pub(crate) fn full(items: usize, most: usize) -> BlockShape {
        BlockShape { items, per: most, rows: items, gaps: false }
    }

    /// Smaller blocks, for rows of different lengths: local memory takes its space from the cache that serves the gathers. (NVIDIA H100, microseconds with
    /// 7, 4 and 2 entries per item: power law 444, 430, 431, R-MAT 163, 157, 156; with dense rows 197, 206, 259. R-MAT with four columns,
    /// GB/s with 128, 256 and 512 items: 750, 695, 607.)
    pub(crate) fn for_uneven_rows(self) -> BlockShape {
        let items = self.items.min(256);
        BlockShape { items, per: self.per.min(4), rows: items, ..self }
    }

    /// As [`for_uneven_rows`](Self::for_uneven_rows), with at most 2 entries per item in double precision, for columns so far apart that most gathers
    /// miss the L1 cache. (NVIDIA H100, microseconds with 4 and 2 entries per item: R-MAT 151 and 145, with 6 per row 137 and 131; with columns close
    /// together and 1 to 100 entries per row 165 and 184.)
    pub(crate) fn for_scattered_columns<R: Real>(self) -> BlockShape {
        let shape = self.for_uneven_rows();
        BlockShape { per: shape.per.min(16 / size_of::<R>()), ..shape }
    }

    /// The same blocks by half as many items, which hold four times as much with several right-hand sides. (NVIDIA H100, R-MAT with four columns, microseconds
    /// with blocks of 512 entries: 460 by 256 items, 367 by 128.)
    pub(crate) fn for_multivectors(self) -> BlockShape {
        if self.items < 64 { self } else { BlockShape { items: self.items / 2, per: 2 * self.per, ..self } }
    }

    /// Maximum number of entries in a block.
    pub(crate) fn entries(&self) -> usize {
        self.items * self.per
    }

    /// Whether this many blocks of whole rows are full enough, or too few for that to matter; otherwise blocks are better
    /// cut inside rows, at the price of a second launch.
    pub(crate) fn fills(&self, blocks: usize, nnz: usize) -> bool {
        blocks <= 1024 || nnz >= blocks * self.entries() / 20 * 19
    }

    pub(crate) fn program<R: Real>(&self) -> nnz_balanced::Program<R> {
        let program = nnz_balanced::Program::new().per(self.per as u64).local(self.items as u64);
        program.gaps_unless(self.gaps.into(), 0)
    }
}

/// Rows per line of a stencil whose pattern does not show the length of a line.
pub(crate) const LINE: usize = 4096;

/// Minimum number of rows for which a pattern of rows is searched.
pub(crate) const DIA_ROWS: usize = 1024;

/// At most one row in this many may lie outside the pattern.
pub(crate) const DIA_SHARE: usize = 16;

/// Padding of the diagonal format may be one value per this many entries: beyond that, 16-bit columns move fewer bytes.
pub(crate) const DIA_PADDING: usize = 6;

/// Shortest mean run of rows (see `Csr`) from which the product on a CPU reads columns by run (AMD EPYC, PoCL 3.1:
/// 5-point stencil on 2049^2 points 1.3 times as fast by runs of 683 rows).
pub(crate) const RUN_ROWS: usize = 16;

/// On a CPU, a matrix whose entries lie in chunks, except for at most one in this many, is multiplied by chunks. (AMD EPYC, PoCL 3.1,
/// random columns, time of MKL's optimised product over ours: with rows of 4 to 27 entries 0.96, by rows 1.3; with chunks of sorted
/// rows instead, power law 1.03, by rows 1.15.) Not where most rows reach across [`GATHERED_BYTES`] of the vector or more and products
/// by rows prefetch (random columns, 16 per row: 1.40, 0.99 in two runs, by rows 1.47, 1.27).
pub(crate) const SELL_REMAINDER: usize = 16;

/// Bytes of a vector from which a product by rows on a CPU prefetches its gathers (AMD EPYC: a power law 1.3
/// times as fast, 27 points 0.8 times): twice the second-level cache of a core.
pub(crate) const GATHERED_BYTES: usize = 2 << 20;

/// How many entries ahead the conversion to compressed rows prefetches their positions, where [`Context::prefetches`] says so
/// (AMD EPYC, PoCL 3.1, 10^6 columns of 5 entries: 25 ms instead of 31 for a 5-point matrix, 65 instead of 120 for a
/// random one).
pub(crate) const ENTRIES_AHEAD: u64 = 16;

/// Maximum number of entries of a row that a conversion sorts in local memory or with one work-item on a GPU. A work-group sorts longer rows in global memory.
pub(crate) const LONG_ROW: u32 = 512;

/// Largest mean row length up to which one work-item sorts each row; beyond it, a small work-group does. (NVIDIA H200: heapsort with one work-item
/// per row took 20 ms for 3.6e5 rows of a hundred entries.)
pub(crate) const SHORT_ROW: usize = 12;

/// Work-items of that work-group.
pub(crate) const ROW_ITEMS: usize = 64;
