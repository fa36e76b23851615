//! Schedules: the kernels of a plan with the sizes of their tiles, and the cost model that chooses among them.

pub(crate) mod candidates;
mod cost;
pub(crate) mod options;
pub(crate) mod outline;
mod sizes;
pub(crate) mod target;

pub(crate) use cost::work;
pub use options::{DeviceOptions, Tile};
