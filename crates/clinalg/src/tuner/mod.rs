//! The search for launch parameters: every operation that has some, the candidates, how they are tried.
//!
//! To add an operation: an [`Operation`] beside the code that launches it, and here a [`Tunable`] with its candidates, a comparison with
//! an independent result, and a trial.

mod dense;
mod grids;
mod products;
mod search;
#[cfg(test)]
mod tests;
mod vectors;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::tune::{Choice, Operation, Table};
use crate::{Context, DeviceInfo, Precision, Real, Result, shown};

#[cfg(test)]
pub(crate) use products::stencil;
pub use search::{Candidate, Discarded, Found, Options, Step, Tuned, search};

/// An operation with the candidates for its launch parameters.
pub struct Tunable {
    /// The operation.
    pub operation: &'static Operation,
    /// Elements or rows that an item has under way at once: one axis of the pictures, beside the first parameter.
    pub per_item: fn(&Choice) -> u32,
    /// Choices worth a trial; those that do not fit the device are left out by the search.
    candidates: fn(&DeviceInfo, Precision) -> Vec<Choice>,
    /// Binary logarithm of the most elements that a trial should have.
    largest: usize,
    /// Runs the operation on about so many elements, at least 1, and compares all of its result with a sequential
    /// reference: what is wrong, if anything.
    check: fn(&Context, Precision, usize) -> Result<Option<String>>,
    /// The operation on about so many elements, ready to be timed.
    trial: fn(&Context, Precision, usize) -> Result<Trial>,
}

/// One operation on data of its own, to be timed with the context's parameters in force.
struct Trial {
    /// Bytes that must move in one run.
    bytes: u64,
    /// Enqueues the operation once.
    run: Box<dyn FnMut() -> Result<()>>,
}

/// Every operation that has launch parameters.
pub fn operations() -> impl Iterator<Item = &'static Tunable> + Clone {
    let parts = [vectors::TUNABLES, grids::TUNABLES, products::TUNABLES];
    parts.into_iter().chain(dense::TUNABLES.iter().copied()).flatten()
}

/// The operation of this name.
pub fn named(name: &str) -> Option<&'static Tunable> {
    operations().find(|tunable| tunable.operation.name == name)
}

/// The user's table of a device without the entries that it cannot use, and why it cannot, in words; empty where there is none
/// that can be read.
pub fn user_table(device: &DeviceInfo) -> (Table, Vec<String>) {
    let mut table = Table::of_user(device);
    let dropped = drop_unusable(&mut table, device);
    (table, dropped)
}

fn drop_unusable(table: &mut Table, device: &DeviceInfo) -> Vec<String> {
    let mut dropped = Vec::new();
    table.choices.retain(|entry| {
        let known = named(&entry.operation).is_some();
        if !known {
            dropped.push(format!("there is no operation `{}`", entry.operation));
        }
        known
    });
    for tunable in operations() {
        if let Err(why) = table.choices_of(tunable.operation, device) {
            dropped.push(why);
            table.choices.retain(|entry| entry.operation != tunable.operation.name);
        }
    }
    dropped
}

/// A field of [`Tunable`] for both precisions from a function that is generic over them.
macro_rules! both_precisions {
    ($function:ident) => {
        |context, precision, n| match precision {
            $crate::Precision::F32 => $function::<f32>(context, n),
            $crate::Precision::F64 => $function::<f64>(context, n),
        }
    };
}
use both_precisions;

/// Candidates of operations on CPUs that cut the work into chunks.
fn chunks_candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    [1, 2, 4, 8, 16, 32, 64, 128].map(|chunks| [chunks, 0, 0, 0, 0, 0]).into()
}

/// All combinations of two parameters.
fn pairs(first: &[u32], second: &[u32]) -> Vec<Choice> {
    first.iter().flat_map(|&one| second.iter().map(move |&other| [one, other, 0, 0, 0, 0])).collect()
}

/// -3 to 3 without a pattern, for trials: their sums and products are exact in any order.
pub(crate) fn whole_numbers<T: Real>(n: usize, seed: u64) -> Vec<T> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..n).map(|_| T::from_f64(f64::from(rng.random_range(-3_i32..=3)))).collect()
}

/// Where `got` first differs from `want`, in words.
fn first_difference<T: Real>(got: &[T], want: &[T]) -> Option<String> {
    let at = got.iter().zip(want).position(|(got, want)| got != want)?;
    Some(format!("value {at} of {} is {}, expected {}", want.len(), shown(got[at]), shown(want[at])))
}
