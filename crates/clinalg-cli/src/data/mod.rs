//! Fields on regular grids: given by a formula or a file, written to files.

pub(crate) mod array;
mod field;
mod given;
pub(crate) mod npy;
mod points;
mod source;
mod target;
pub(crate) mod vtk;

use clinalg::ops::Uniform;

pub(crate) use self::array::Array;
pub(crate) use self::field::{Lattice, Values};
pub(crate) use self::given::{Given, Place};
pub(crate) use self::points::read_points;
pub(crate) use self::target::{AXES, Target, write_names, write_rows};

/// The numbers of `--rhs random` and of the benchmarks.
pub(crate) fn random_numbers(seed: u64) -> Uniform {
    Uniform::new(seed, -1.0..1.0).expect("2 is a power of two")
}
