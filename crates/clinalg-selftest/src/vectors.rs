//! Vector operations and reductions.

use super::{Data, Suite, Worst, seeded};
use clinalg::{Real, Result, Vector, ops, shown};
use clinalg_reference::vector as plain;

const LARGE: usize = 1_000_003;

pub(super) fn run<T: Real>(suite: &mut Suite<'_>) {
    elementwise::<T>(suite);
    reductions::<T>(suite);
    special::<T>(suite);
}

/// An elementwise operation on the device: x, y, out.
pub(super) type OnDevice<T> = fn(&Vector<T>, &Vector<T>, &mut Vector<T>) -> Result<()>;
/// The same on slices.
type OnHost<T> = fn(&[T], &[T], &mut [T]);

fn elementwise<T: Real>(suite: &mut Suite<'_>) {
    // How many roundings may fall differently: products that the compiler may fuse with the sum.
    let operations: [(&str, usize, OnDevice<T>, OnHost<T>); 8] = [
        (
            "axpby",
            6,
            |x, y, out| ops::axpby(T::from_f64(2.0), x, T::from_f64(-3.0), y, out),
            |x, y, out| plain::axpby(T::from_f64(2.0), x, T::from_f64(-3.0), y, out),
        ),
        (
            "update",
            6,
            |x, y, out| {
                out.copy_from(y)?;
                ops::update(T::from_f64(-3.0), x, T::from_f64(2.0), out)
            },
            |x, y, out| {
                out.copy_from_slice(y);
                plain::update(T::from_f64(-3.0), x, T::from_f64(2.0), out);
            },
        ),
        ("add", 0, ops::add, plain::add),
        ("sub", 0, ops::sub, plain::sub),
        (
            "sub_scaled",
            6,
            |x, y, out| ops::sub_scaled(x, y, T::from_f64(3.0), out),
            |x, y, out| plain::sub_scaled(x, y, T::from_f64(3.0), out),
        ),
        (
            "scale",
            0,
            |x, _, out| ops::scale(T::from_f64(-3.0), x, out),
            |x, _, out| plain::scale(T::from_f64(-3.0), x, out),
        ),
        ("multiply", 0, ops::multiply, plain::multiply),
        ("copy", 0, |x, _, out| ops::copy(x, out), |x, _, out| out.copy_from_slice(x)),
    ];
    let (context, sizes) = (suite.context, suite.sizes(LARGE));
    for (name, roundings, device, host) in operations {
        suite.check(name, Some(T::PRECISION), |worst| {
            for &n in &sizes {
                for data in Data::ALL {
                    let mut rng = seeded(n as u64);
                    let (x, y): (Vec<T>, Vec<T>) = (data.values(&mut rng, n), data.values(&mut rng, n));
                    let mut want = vec![T::nan(); n];
                    host(&x, &y, &mut want);
                    let mut out = Vector::filled(context, n, T::nan())?;
                    device(&Vector::from_slice(context, &x)?, &Vector::from_slice(context, &y)?, &mut out)?;
                    // |alpha|, |beta| <= 3.
                    let scale = |i: usize| 3.0 * (x[i].into_f64().abs() + y[i].into_f64().abs());
                    worst.compare(n, data.tolerance::<T>(roundings), &out.to_vec()?, &want, scale);
                }
            }
            Ok(())
        });
    }
    suite.check("fill", Some(T::PRECISION), |worst| {
        for &n in &sizes {
            let mut out = Vector::zeros(context, n)?;
            ops::fill(T::from_f64(1.5), &mut out)?;
            worst.exact(n, &out.to_vec()?, &vec![T::from_f64(1.5); n]);
        }
        Ok(())
    });
}

struct Reduction<T: Real> {
    name: &'static str,
    device: fn(&Vector<T>, &Vector<T>) -> Result<T>,
    host: fn(&[T], &[T]) -> T,
    /// The sum of the magnitudes of the terms.
    scale: fn(&[T], &[T]) -> T,
}

fn reductions<T: Real>(suite: &mut Suite<'_>) {
    let all: [Reduction<T>; 5] = [
        Reduction {
            name: "sum",
            device: |x, _| ops::sum(x),
            host: |x, _| plain::sum(x),
            scale: |x, _| plain::norm1(x),
        },
        Reduction {
            name: "dot",
            device: ops::dot,
            host: plain::dot,
            scale: |x, y| x.iter().zip(y).fold(T::zero(), |sum, (&x, &y)| sum + (x * y).abs()),
        },
        Reduction {
            name: "norm1",
            device: |x, _| ops::norm1(x),
            host: |x, _| plain::norm1(x),
            scale: |x, _| plain::norm1(x),
        },
        Reduction {
            name: "norm2",
            device: |x, _| ops::norm2(x),
            host: |x, _| plain::norm2(x),
            scale: |x, _| plain::norm2(x),
        },
        Reduction {
            name: "norm_inf",
            device: |x, _| ops::norm_inf(x),
            host: |x, _| plain::norm_inf(x),
            scale: |x, _| plain::norm_inf(x),
        },
    ];
    let (context, sizes) = (suite.context, suite.sizes(LARGE));
    for Reduction { name, device, host, scale } in all {
        suite.check(name, Some(T::PRECISION), |worst| {
            for &n in &sizes {
                for data in Data::ALL {
                    let mut rng = seeded(1 + n as u64);
                    let (x, y): (Vec<T>, Vec<T>) = (data.values(&mut rng, n), data.values(&mut rng, n));
                    let (dx, dy) = (Vector::from_slice(context, &x)?, Vector::from_slice(context, &y)?);
                    let got = device(&dx, &dy)?;
                    let scale = scale(&x, &y).into_f64();
                    worst.compare(n, data.tolerance::<T>(additions(n)), &[got], &[host(&x, &y)], |_| scale);
                    let again = device(&dx, &dy)?;
                    if got != again {
                        worst.fail(format!("size {n}: two calls gave {} and {}", shown(got), shown(again)));
                    }
                }
            }
            Ok(())
        });
    }
}

/// A bound on the additions in a row that a reduction of `n` terms makes: 16 items at least share the work and cut it
/// into blocks of 4096, or 256 items of a work-group take turns; then a tree, and few roundings of the terms themselves.
pub(super) fn additions(n: usize) -> usize {
    n.div_ceil(16).min(4096) + n / 4096 + 16
}

fn special<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    suite.check("norm2_extremes", Some(T::PRECISION), |worst| {
        let (largest, smallest) = (T::max_value() / T::from_f64(64.0), T::min_positive_value() * T::from_f64(64.0));
        for value in [largest, smallest] {
            let x = vec![value; 257];
            let got = ops::norm2(&Vector::from_slice(context, &x)?)?;
            let want = plain::norm2(&x);
            worst.compare(257, Data::Random.tolerance::<T>(additions(257)), &[got], &[want], |_| want.into_f64());
        }
        Ok(())
    });
    suite.check("nan_and_infinity", Some(T::PRECISION), |worst| {
        for (special, position) in [(T::nan(), 0), (T::nan(), 256), (T::infinity(), 100)] {
            let mut x = vec![T::one(); 257];
            x[position] = special;
            let v = Vector::from_slice(context, &x)?;
            let reductions = [ops::sum(&v)?, ops::dot(&v, &v)?, ops::norm1(&v)?, ops::norm2(&v)?, ops::norm_inf(&v)?];
            worst.exact(257, &reductions, &[special; 5]);
            let mut out = Vector::zeros(context, 257)?;
            ops::scale(T::one(), &v, &mut out)?;
            worst.exact(257, &out.to_vec()?, &x);
        }
        Ok(())
    });
    suite.check("write_and_slice", Some(T::PRECISION), |worst: &mut Worst| {
        let x: Vec<T> = Data::Random.values(&mut seeded(7), 257);
        let mut v = Vector::zeros(context, 300)?;
        let part = Vector::from_slice(context, &x)?;
        v.write_slice(20, &part)?;
        worst.exact(257, &v.slice(20..277)?.to_vec()?, &x);
        let mut want = vec![T::zero(); 300];
        want[20..277].copy_from_slice(&x);
        worst.exact(300, &v.to_vec()?, &want);
        Ok(())
    });
}
