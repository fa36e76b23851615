//! Fields on regular grids: given by a formula or a file, written to files.

pub(crate) mod array;
mod field;
mod given;
mod npy;
mod points;
mod source;
mod target;
mod vtk;

#[cfg(test)]
use self::array::Array;
pub(crate) use self::field::{Lattice, Values};
pub(crate) use self::given::{Given, Place};
pub(crate) use self::points::read_points;
pub(crate) use self::target::{SeriesTarget, Target};
