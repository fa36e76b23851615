//! Loops over the threads of the host.

use std::num::NonZero;
use std::thread;

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
