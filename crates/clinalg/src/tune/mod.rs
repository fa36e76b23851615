//! Which algorithm and launch shape an operation takes.
//!
//! Defaults from measurements on the devices named beside each number.

/// How a sparse product on a GPU spreads a row over work-items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowProduct {
    /// One item per row.
    Row,
    /// Eight neighbouring items per row.
    Lanes8,
    /// Thirty-two neighbouring items per row.
    Lanes32,
}

/// Mean entries per row up to which one item per row is the fastest (NVIDIA H200: 5-point stencil).
const SHORT_ROWS: usize = 12;
/// Mean entries per row from which 32 items per row keep busy.
const LONG_ROWS: usize = 64;
/// A row this many times longer than the mean would leave a single item working alone.
const SKEW: usize = 64;

impl RowProduct {
    /// The choice for `rows` rows with `nnz` entries, `longest` of them in the longest row.
    pub fn choose(rows: usize, nnz: usize, longest: usize) -> RowProduct {
        let mean = nnz.div_ceil(rows.max(1));
        if mean > LONG_ROWS || longest > SKEW * mean.max(SHORT_ROWS) {
            RowProduct::Lanes32
        } else if mean > SHORT_ROWS {
            RowProduct::Lanes8
        } else {
            RowProduct::Row
        }
    }
}

/// Work-groups of a reduction on a GPU per compute unit: enough loads in flight to reach the
/// bandwidth, few enough partial results to join on the host.
pub(crate) const REDUCE_GROUPS_PER_UNIT: usize = 8;

/// Most partial results of a reduction.
pub(crate) const REDUCE_PARTIALS: usize = 4096;
