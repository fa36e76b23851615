//! Many threads that ask for the devices at once, before anything else was asked of a driver. The only test of its
//! process, for drivers initialise themselves once.

use std::sync::Barrier;

#[test]
fn many_threads_may_ask_first() {
    const THREADS: usize = 16;
    let start = Barrier::new(THREADS);
    let lists: Vec<String> = std::thread::scope(|scope| {
        let ask = || {
            start.wait();
            format!("{:?}", clinalg::runtime::devices().map_err(|error| error.to_string()))
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(lists.iter().all(|list| *list == lists[0]), "{lists:?}");
}
