//! Initial value problems: formulas, grids, right-hand sides, events, and the problems of the literature.

pub(crate) mod access;
mod builder;
mod description;
pub(crate) mod events;
pub(crate) mod formula;
mod function;
pub(crate) mod grid;
pub(crate) mod initial;
mod memory;
mod parse;
pub mod problems;
mod rhs;
pub(crate) mod slab;
mod snippet;
pub(crate) mod system;

pub use builder::Builder;
pub use description::Description;
pub use events::{Direction, Event};
pub use function::Function;
pub use grid::{Boundary, Grid, Layout, Side};
pub use parse::Powers;
pub use rhs::Rhs;
pub use snippet::SnippetBuilder;
pub use system::System;
