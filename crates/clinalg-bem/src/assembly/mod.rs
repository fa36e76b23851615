//! What the assembly of every boundary integral operator shares: pairs of elements and loops over them.

mod pairs;
mod parallel;

pub(crate) use pairs::SingularPair;
pub(crate) use parallel::{fill_parallel, parallel};
