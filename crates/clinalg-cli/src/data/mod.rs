//! Fields on regular grids: given by a formula or a file, written to files.

pub(crate) mod array;
mod field;
mod grid_values;
mod input;
pub(crate) mod npy;
mod points;
mod source;
mod target;
pub(crate) mod vtk;

use std::sync::{Mutex, PoisonError};
use std::thread;

use clinalg::ops::Uniform;
use clinalg::{Real, Scalar};

use crate::exit::Failure;

pub(crate) use self::array::Array;
pub(crate) use self::field::{Lattice, Values};
pub(crate) use self::grid_values::GridValues;
pub(crate) use self::input::{CoefficientValues, InputField};
pub(crate) use self::points::read_points;
pub(crate) use self::target::{AXES, Target, write_names, write_rows};

/// The numbers of `--rhs random` and of the benchmarks.
pub(crate) fn random_numbers(seed: u64) -> Uniform {
    Uniform::new(seed, -1.0..1.0).expect("2 is a power of two")
}

/// The 2-norm of values.
pub(crate) fn norm<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|v| v.widen().norm_sqr()).sum::<f64>().sqrt()
}

/// So many zeros, or an error that calls them by `words`.
pub(crate) fn zeros<T: Real>(points: Option<usize>, words: impl FnOnce() -> String) -> Result<Vec<T>, Failure> {
    let mut values = Vec::new();
    let points = points.filter(|&points| values.try_reserve_exact(points).is_ok());
    let failure = || Failure::usage(format!("{} points do not fit this machine's memory", words()));
    values.resize(points.ok_or_else(failure)?, T::zero());
    Ok(values)
}

/// `work` for each of the items, by so many threads.
fn in_threads<I: Send>(threads: usize, items: impl Iterator<Item = I> + Send, work: impl Fn(I) + Sync) {
    let items = Mutex::new(items);
    let run = || loop {
        let next = items.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(item) = next else { return };
        work(item);
    };
    thread::scope(|scope| {
        // A thread that cannot be started leaves its work to the others.
        (1..threads).for_each(|_| drop(thread::Builder::new().spawn_scoped(scope, run)));
        run();
    });
}

#[cfg(test)]
mod tests {
    use super::norm;

    #[test]
    fn norms_count_both_parts() {
        let z = |re: f64, im: f64| clinalg::Complex::new(re, im);
        assert_eq!(norm(&[3.0_f32, 4.0]), 5.0);
        assert_eq!(norm(&[z(2.0, 4.0), z(-2.0, 1.0)]), 5.0);
        assert_eq!(norm::<f64>(&[]), 0.0);
    }
}
