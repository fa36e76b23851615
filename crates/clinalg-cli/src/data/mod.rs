//! Fields on regular grids: given by a formula or a file, written to files.

pub(crate) mod array;
mod field;
mod given;
mod npy;
mod points;
mod source;
mod target;
mod vtk;

use clinalg::ops::Uniform;

#[cfg(test)]
use self::array::Array;
pub(crate) use self::field::{Lattice, Values};
pub(crate) use self::given::{Given, Place};
pub(crate) use self::points::read_points;
pub(crate) use self::target::{SeriesTarget, Target};

/// The numbers of `--rhs random`.
pub(crate) fn random_numbers(seed: u64) -> Uniform {
    Uniform::new(seed, -1.0..1.0).expect("the range is 2 wide")
}
