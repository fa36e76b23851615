//! OpenCL C for the kernels of a schedule.

pub(crate) mod all_pairs;
pub(crate) mod expression;
pub(crate) mod kernels;
mod multi_workgroup;
pub(crate) mod names;
mod neighbours;
pub(crate) mod points;
mod pointwise;
pub(crate) mod snippet;
mod streaming;
mod streaming_cpu;
mod streaming_gpu;
mod tiles;
mod tiles_cpu;
mod tiles_gpu;
pub(crate) mod writer;

pub use kernels::sources;
