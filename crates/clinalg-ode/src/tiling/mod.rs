//! The geometry of tiles: which points of which stage groups a kernel computes.

pub(crate) mod multi_workgroup;
pub(crate) mod phases;
pub(crate) mod streaming;
pub(crate) mod wavefront;
