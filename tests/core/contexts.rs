//! Several contexts in one program: transfers that the host does not wait for, events, bounded queues, forked children.

mod common;

use std::time::{Duration, Instant};

use clinalg::matrix::Format;
use clinalg::runtime::{Queue, Staging, devices};
use clinalg::{Buffer, Context, ContextOptions, Csr, Vector, ops};
use common::{assert_error, child, contexts, in_child, noise};

const CONTEXT: &str = "clinalg:argument:context";
const LENGTH: &str = "clinalg:argument:length";

fn context(device: usize) -> Context {
    Context::new(&devices().unwrap()[device], &ContextOptions::default()).unwrap()
}

/// Rows `rows` of the matrix of an explicit step of the heat equation on `n` points, with columns from `first` on.
fn heat(context: &Context, n: usize, rows: std::ops::Range<usize>, columns: std::ops::Range<usize>) -> Csr<f64> {
    let mut entries = Vec::new();
    for i in rows.clone() {
        for (j, value) in [(i.wrapping_sub(1), 0.3), (i, 0.35), (i + 1, 0.3)] {
            if j < n {
                entries.push((i - rows.start, j - columns.start, value));
            }
        }
    }
    let mut a = Csr::from_triplets(context, rows.len(), columns.len(), &entries).unwrap();
    // Each row summed in one order, whatever its neighbours are.
    a.set_format(Some(Format::Csr)).unwrap();
    a
}

/// Steps of the heat equation on two contexts, which hand each other the values at the cut, and on one.
fn exchange(left: &Context, right: &Context) {
    const STEPS: usize = 50;
    let n = 10_007;
    let cut = 4001;
    let start = noise::<f64>(n, 7);

    let a = heat(left, n, 0..n, 0..n);
    let mut x = Vector::from_slice(left, &start).unwrap();
    let mut y = Vector::zeros(left, n).unwrap();
    for _ in 0..STEPS {
        ops::mv(1.0, &a, &x, 0.0, &mut y).unwrap();
        std::mem::swap(&mut x, &mut y);
    }
    let want = x.to_vec().unwrap();

    // Own values with those of the neighbour beside the cut.
    let (al, ar) = (heat(left, n, 0..cut, 0..cut + 1), heat(right, n, cut..n, cut - 1..n));
    let mut xl = Vector::from_slice(left, &start[..cut + 1]).unwrap();
    let mut xr = Vector::from_slice(right, &start[cut - 1..]).unwrap();
    let (mut yl, mut yr) = (Vector::zeros(left, cut).unwrap(), Vector::zeros(right, n - cut).unwrap());
    let (mut to_right, mut to_left) = (Staging::new(left), Staging::new(right));
    for _ in 0..STEPS {
        ops::mv(1.0, &al, &xl, 0.0, &mut yl).unwrap();
        ops::mv(1.0, &ar, &xr, 0.0, &mut yr).unwrap();
        xl.buffer_mut().copy_range(0, yl.buffer(), 0..cut).unwrap();
        xr.buffer_mut().copy_range(1, yr.buffer(), 0..n - cut).unwrap();
        let right_halo = xr.slice_mut(0..1).unwrap();
        let first = right_halo.copy_across(yl.slice(cut - 1..cut).unwrap(), &mut to_right).unwrap();
        let left_halo = xl.slice_mut(cut..cut + 1).unwrap();
        let second = left_halo.copy_across(yr.slice(0..1).unwrap(), &mut to_left).unwrap();
        for transfer in [first.0, first.1, second.0, second.1] {
            transfer.finish().unwrap();
        }
    }
    let mut got = yl.to_vec().unwrap();
    got.extend(yr.to_vec().unwrap());
    assert_eq!(got, want, "the bits of one context");
}

/// A copy across returns while the kernels that it waits for still run.
fn copies_do_not_wait(from: &Context, to: &Context) {
    let n = 1 << 21;
    let mut x = Vector::filled(from, n, 1.0_f64).unwrap();
    let mut y = Vector::<f64>::zeros(to, n).unwrap();
    let mut staging = Staging::new(from);
    // Pinned memory is made before, which waits for nothing but itself.
    let (read, written) = y.slice_mut(0..n).unwrap().copy_across(x.slice(0..n).unwrap(), &mut staging).unwrap();
    read.finish().unwrap();
    written.finish().unwrap();
    staging.values().unwrap();
    from.finish().unwrap();
    let ones = Vector::filled(from, n, 1.0_f64).unwrap();
    for _ in 0..100 {
        ops::update(1.0, &ones, 1.0, &mut x).unwrap();
    }
    let start = Instant::now();
    let (read, written) = y.slice_mut(0..n).unwrap().copy_across(x.slice(0..n).unwrap(), &mut staging).unwrap();
    let early = !written.event().is_done().unwrap();
    let enqueued = start.elapsed();
    written.event().wait().unwrap();
    let done = start.elapsed();
    assert!(early && enqueued < done / 2, "enqueued after {enqueued:?}, done after {done:?}");
    assert!(read.event().is_done().unwrap() && written.event().is_done().unwrap());
    read.finish().unwrap();
    written.finish().unwrap();
    assert_eq!(y.to_vec().unwrap(), vec![101.0; n]);
}

#[test]
fn two_devices_give_the_bits_of_one() {
    if !in_child() {
        if contexts().iter().any(|context| context.device().platform.contains("Portable Computing Language")) {
            child("two_devices_give_the_bits_of_one", &[("POCL_DEVICES", "pthread pthread")]);
        } else {
            clinalg_testing::skip("two devices are made of PoCL");
        }
        return;
    }
    let pair: Vec<usize> = devices()
        .unwrap()
        .iter()
        .filter(|device| device.info().platform.contains("Portable Computing Language"))
        .map(|device| device.info().index)
        .collect();
    assert_eq!(pair.len(), 2);
    let (left, right) = (context(pair[0]), context(pair[1]));
    exchange(&left, &right);
    exchange(&right, &left);
    copies_do_not_wait(&left, &right);
}

#[test]
fn two_contexts_of_one_device_give_the_bits_of_one() {
    for first in contexts() {
        let other = context(first.device().index);
        exchange(first, &other);
        // One context on both sides.
        exchange(&other, &other);
        copies_do_not_wait(first, &other);
    }
}

#[test]
fn transfers_are_ordered_with_kernels() {
    for context in contexts() {
        let n = 100_000;
        let mut staging = Staging::new(context);
        assert_eq!(staging.values().unwrap(), [0.0_f32; 0]);
        let mut x = Vector::zeros(context, n).unwrap();
        for round in 0..20 {
            // Kernels before the transfer are seen, those behind are not.
            x.fill(round as f32).unwrap();
            drop(x.slice(0..n).unwrap().read_async(&mut staging).unwrap());
            x.fill(-1.0).unwrap();
            assert_eq!(staging.values().unwrap(), vec![round as f32; n]);
        }
        // Smaller and larger transfers use the same memory, which grows.
        for n in [0, 1, 7, 1000, 3 * n] {
            let values = noise::<f32>(n, 3);
            let mut y = Buffer::<f32>::zeroed(context, n + 2).unwrap();
            staging.set(&values).unwrap();
            let transfer = y.slice_mut(1..n + 1).unwrap().write_async(&mut staging).unwrap();
            transfer.finish().unwrap();
            assert_eq!((staging.len(), staging.is_empty()), (n, n == 0));
            let mut z = Buffer::<f32>::zeroed(context, n + 2).unwrap();
            z.copy_from(&y).unwrap();
            let got = z.to_vec().unwrap();
            assert_eq!((got[0], got[n + 1], &got[1..=n]), (0.0, 0.0, &values[..]));
            y.slice(1..n + 1).unwrap().read_async(&mut staging).unwrap().finish().unwrap();
            drop(y);
            assert_eq!(staging.values().unwrap(), values);
        }
        // What was borrowed may go at once; the driver keeps it.
        let mut kept = Staging::new(context);
        let y = Buffer::from_slice(context, &[5_u32; 1000]).unwrap();
        drop(y.slice(0..1000).unwrap().read_async(&mut kept).unwrap());
        drop(y);
        assert_eq!(kept.values().unwrap(), [5; 1000]);
        let y = Buffer::from_slice(context, &[5_u32; 1000]).unwrap();
        drop(y.slice(0..1000).unwrap().read_async(&mut kept).unwrap());
        drop(kept);
    }
}

#[test]
fn transfers_that_do_not_fit_are_refused() {
    for first in contexts() {
        let other = context(first.device().index);
        let x = Buffer::from_slice(first, &[1.0_f32; 10]).unwrap();
        let mut y = Buffer::<f32>::zeroed(&other, 10).unwrap();
        let mut staging = Staging::new(&other);
        assert_error(x.slice(0..10).unwrap().read_async(&mut staging), CONTEXT, "staging");
        let view = y.slice_mut(0..10).unwrap();
        assert_error(view.copy_across(x.slice(0..10).unwrap(), &mut staging), CONTEXT, "staging");
        let mut staging = Staging::new(first);
        let view = y.slice_mut(0..9).unwrap();
        assert_error(view.copy_across(x.slice(0..10).unwrap(), &mut staging), LENGTH, "source");
        staging.set(&[1.0; 9]).unwrap();
        let mut z = Buffer::<f32>::zeroed(first, 10).unwrap();
        assert_error(z.slice_mut(0..10).unwrap().write_async(&mut staging), LENGTH, "staging");
        assert_error(y.slice_mut(0..9).unwrap().write_async(&mut staging), CONTEXT, "staging");
        let event = first.queue().mark().unwrap();
        assert_error(other.queue().wait_for(&event), CONTEXT, "event");
        first.transfers().unwrap().wait_for(&event).unwrap();
        event.wait().unwrap();
        assert!(event.is_done().unwrap() && event.context().same(first));
    }
}

#[test]
fn work_in_flight_is_bounded() {
    for context in contexts() {
        let mut x = Vector::filled(context, 100_000, 1.0_f32).unwrap();
        let mut next = || {
            let copy = x.copy_range(0..100_000)?;
            ops::update(0.5, &copy, 0.5, &mut x)
        };
        next().unwrap();
        let early = context.queue().mark().unwrap();
        for _ in 0..Queue::IN_FLIGHT {
            next().unwrap();
        }
        // A launch and a copy each time: twice as many as may be in flight came after the mark.
        assert!(early.is_done().unwrap());
        assert_eq!(x.to_vec().unwrap(), vec![1.0; 100_000]);
    }
}

#[test]
#[cfg(unix)]
fn a_forked_child_gets_an_error() {
    const NAME: &str = "a_forked_child_gets_an_error";
    if !in_child() {
        if !contexts().is_empty() {
            child(NAME, &[]);
        }
        return;
    }
    let context = context(0);
    let x = Vector::filled(&context, 1000, 1.0_f32).unwrap();
    let mut y = Vector::zeros(&context, 1000).unwrap();
    ops::copy(&x, &mut y).unwrap();
    // SAFETY: the child calls what is under test and ends by `_exit`.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let sound = [
            ops::copy(&x, &mut y),
            ops::sum(&x).map(drop),
            x.to_vec().map(drop),
            Vector::<f32>::zeros(&context, 10).map(drop),
            context.finish(),
            context.queue().mark().map(drop),
            devices().map(drop),
            Context::global().map(drop),
        ]
        .into_iter()
        .all(|result| {
            result.is_err_and(|error| error.id() == "clinalg:device:forked" && error.to_string().contains("fork"))
        });
        drop((x, y, context));
        // SAFETY: ends the process without the parent's clean-up.
        unsafe { libc::_exit(if sound { 42 } else { 1 }) };
    }
    assert!(pid > 0);
    let mut status = 0;
    let end = Instant::now() + Duration::from_secs(60);
    // SAFETY: the child is this process's own.
    while unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } == 0 {
        if Instant::now() > end {
            // SAFETY: as above.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            panic!("the forked child hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 42, "status {status}");
    // The parent goes on.
    assert_eq!(ops::sum(&x).unwrap(), 1000.0);
}
