//! Calls in a process whose address space is nearly used up: errors, no end of the process.

#![cfg(target_os = "linux")]

mod common;

use clinalg::runtime::devices;
use clinalg::{Context, ContextOptions, Csr, Vector, ops};
use common::{child, in_child, proc_bytes};

const MEMORY: &str = "clinalg:device:memory";

/// Lets this process grow by so many bytes of address space.
fn limit_growth(bytes: u64) {
    let used = proc_bytes("/proc/self/status", "VmSize:").unwrap();
    let limit = libc::rlimit { rlim_cur: used + bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the limit is of this process, a child made for the test.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

fn no_limit() {
    let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

fn first() -> Option<Context> {
    Some(Context::new(clinalg_testing::found(devices())?.first()?, &ContextOptions::default()).unwrap())
}

#[test]
fn buffers_that_the_address_space_does_not_hold_are_errors() {
    const NAME: &str = "buffers_that_the_address_space_does_not_hold_are_errors";
    if !in_child() {
        if first().is_some() {
            child(NAME, &[]);
        }
        return;
    }
    let context = first().unwrap();
    let n = 8 << 20;
    let x = Vector::filled(&context, n, 1.0_f32).unwrap();
    let mut y = Vector::filled(&context, n, 2.0_f32).unwrap();
    ops::update(1.0, &x, 1.0, &mut y).unwrap();
    assert_eq!(ops::sum(&y).unwrap(), 3.0 * n as f32);
    limit_growth(100 << 20);
    let mut held = Vec::new();
    let error = loop {
        match Vector::filled(&context, n, 1.0_f32) {
            Ok(vector) => held.push(vector),
            Err(error) => break error,
        }
        assert!(held.len() < 8, "the limit holds");
    };
    assert_eq!(error.id(), MEMORY, "{error}");
    // What there is works on, and what was released can be allocated again.
    ops::update(1.0, &x, 1.0, &mut y).unwrap();
    assert_eq!(ops::sum(&y).unwrap(), 4.0 * n as f32);
    held.clear();
    let again = Vector::filled(&context, n, 1.0_f32).unwrap();
    assert_eq!(ops::sum(&again).unwrap(), n as f32);
    no_limit();
}

#[test]
fn uploads_that_the_address_space_does_not_hold_are_errors() {
    const NAME: &str = "uploads_that_the_address_space_does_not_hold_are_errors";
    if !in_child() {
        if first().is_some() {
            child(NAME, &[]);
        }
        return;
    }
    let context = first().unwrap();
    let n = 2 << 20;
    let offsets: Vec<usize> = (0..=n).collect();
    let indices: Vec<usize> = (0..n).collect();
    let values = vec![2.0_f32; n];
    let make = || Csr::from_csr(&context, n, n, &offsets, &indices, &values);
    let product = |a: &Csr<f32>, x: &Vector<f32>, y: &mut Vector<f32>| ops::mv(1.0, a, x, 0.0, y);
    let x = Vector::filled(&context, n, 1.0).unwrap();
    let mut y = Vector::zeros(&context, n).unwrap();
    product(&make().unwrap(), &x, &mut y).unwrap();
    context.finish().unwrap();
    for mebibytes in [0, 2, 4, 8, 12, 16, 24, 32, 48, 64] {
        limit_growth(mebibytes << 20);
        // With little left, threads cannot be made either.
        match make() {
            Ok(a) => _ = product(&a, &x, &mut y),
            Err(error) => assert_eq!(error.id(), MEMORY, "with {mebibytes} MiB: {error}"),
        }
        no_limit();
        product(&make().unwrap(), &x, &mut y).unwrap();
        assert_eq!(ops::sum(&y).unwrap(), 2.0 * n as f32);
    }
}
