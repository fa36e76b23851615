//! Fusion: which operations of a graph make a kernel, and what each kernel reads and writes.

pub(crate) mod fusion;
pub(crate) mod group;
mod search;
mod variant;

pub use fusion::Plan;
pub use group::Group;
pub use variant::Variant;
