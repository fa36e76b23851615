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

/// Shortest mean run of rows (see `Csr`) from which the product on a processor reads columns by run (AMD EPYC, PoCL 3.1:
/// 5-point stencil on 2049^2 points 1.3 times as fast by runs of 683 rows).
pub(crate) const RUN_ROWS: usize = 16;

/// How many elements ahead a sparse product on a processor fetches memory (AMD EPYC: 1.2 times as fast; 128 to 1024
/// elements make no difference beyond 3 %).
pub(crate) const AHEAD: &[(&str, u64)] = &[("AHEAD", 512)];

/// Platforms whose compiler takes the hint behind [`AHEAD`]; Oclgrind 21.10 refuses the kernel.
pub(crate) const AHEAD_PLATFORMS: &[&str] = &["Portable Computing Language", "Intel(R) OpenCL"];

/// Grid kernels for processors that fetch memory so many rows ahead, where [`AHEAD_PLATFORMS`] take the hint (AMD EPYC,
/// a V(2,1) cycle at 2049 by 2049: 1.3 times as fast; 1 to 4 rows make no difference).
pub(crate) const ROWS_AHEAD: &[(&str, u64)] = &[("PROCESSOR", 1), ("ROWS_AHEAD", 2)];

/// Bytes from which the output of an elementwise operation on a processor is stored past the caches (AMD EPYC with
/// 32 MiB of last-level cache: copy 1.4 times, a x + b y 1.3 times as fast).
pub(crate) const STREAM_BYTES: usize = 32 << 20;

/// Work-groups of a reduction on a GPU per compute unit: enough loads in flight to reach the
/// bandwidth, few enough partial results to join on the host.
pub(crate) const REDUCE_GROUPS_PER_UNIT: usize = 8;

/// Most partial results of a reduction.
pub(crate) const REDUCE_PARTIALS: usize = 4096;

/// Entries of a row up to which one item of a GPU sorts it during a conversion; a work-group sorts longer ones.
pub(crate) const LONG_ROW: u32 = 512;
