//! Loops over the threads of the host.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Items that a thread takes at once.
const SHARE: usize = 32;

/// Fills `values`, `size` of them for each item, by `f` of the item's number and place, on as many threads as the machine runs at once.
pub(crate) fn fill_parallel<T: Send>(values: &mut [T], size: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let parts = values.len().div_ceil(size * SHARE);
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(parts);
    let queue = Mutex::new(values.chunks_mut(size * SHARE).enumerate());
    let work = || loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some((k, part)) = next else { return };
        part.chunks_mut(size).enumerate().for_each(|(e, place)| f(k * SHARE + e, place));
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Without the thread the others do its part.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// `f` of each item, on as many threads as the machine runs at once; the results in order.
pub(crate) fn parallel<I: Sync, O: Send>(items: &[I], f: impl Fn(&I) -> O + Sync) -> Vec<O> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(items.len().max(1));
    let share = items.len().div_ceil(threads).max(1);
    let work = &|part: &[I]| part.iter().map(&f).collect::<Vec<O>>();
    thread::scope(|scope| {
        let mut parts = items.chunks(share);
        let own = parts.next().unwrap_or_default();
        // A part whose thread cannot be made is done here.
        let workers: Vec<_> =
            parts.map(|part| (part, thread::Builder::new().spawn_scoped(scope, move || work(part)).ok())).collect();
        let mut results = work(own);
        for (part, worker) in workers {
            results.extend(match worker {
                Some(worker) => worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                None => work(part),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_filled_once() {
        for count in [0, 1, SHARE, 5 * SHARE + 3] {
            let mut values = vec![0; 3 * count];
            fill_parallel(&mut values, 3, |k, place| place.iter_mut().enumerate().for_each(|(e, v)| *v += 3 * k + e));
            assert_eq!(values, (0..3 * count).collect::<Vec<_>>());
        }
    }
}
