//! Random numbers and fingerprints on every device and in both families of kernels.

use clinalg::ops::{Uniform, fingerprint};
use clinalg::{Complex, Context, Real, Vector};

use crate::common::{LARGE, SIZES, assert_same, contexts, has, noise};

/// The first outputs of SplitMix64 for the seed 1234567, as published with its reference implementation (S. Vigna).
const SEED: u64 = 1234567;
const OUTPUTS: [u64; 5] =
    [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821];

/// The fingerprints of (1, -2.5, 0) in single and in double precision: the sum of output k for the bits of element k as the
/// seed, computed in Python.
const FINGERPRINTS: [u64; 2] = [7154511003147709941, 17256592486397174908];

fn numbers<T: Real>(context: &Context) {
    // Leading bits of the published outputs, mapped to the range.
    let bits = if size_of::<T>() == 8 { 53 } else { 24 };
    let of = |output: u64| T::from_f64(-1.0 + 2.0 * (output >> (64 - bits)) as f64 / (1_u64 << bits) as f64);
    let uniform = Uniform::new(SEED, -1.0..1.0).unwrap();
    let first = uniform.vector::<T>(context, OUTPUTS.len()).unwrap();
    assert_same("published outputs", &first.to_vec().unwrap(), &OUTPUTS.map(of));
    for &n in SIZES.iter().chain(&[LARGE]) {
        for uniform in [uniform, Uniform::new(u64::MAX, 1.0..1.5).unwrap(), Uniform::new(0, 1000.0..1000.25).unwrap()] {
            let mut want = vec![T::nan(); n];
            uniform.fill_host(&mut want);
            let mut got = Vector::filled(context, n, T::nan()).unwrap();
            uniform.fill(&mut got).unwrap();
            assert_same(&format!("{n} of {uniform:?}"), &got.to_vec().unwrap(), &want);
        }
    }
    // The mean and the mean square lie within four standard deviations.
    let values = uniform.vector::<T>(context, LARGE).unwrap().to_vec().unwrap();
    let n = LARGE as f64;
    let mean = values.iter().map(|v| v.into_f64()).sum::<f64>() / n;
    let square = values.iter().map(|v| v.into_f64().powi(2)).sum::<f64>() / n;
    assert!(mean.abs() < 4.0 / (3.0 * n).sqrt(), "{mean}");
    assert!((square - 1.0 / 3.0).abs() < 4.0 * (4.0 / 45.0 / n).sqrt(), "{square}");
}

#[test]
fn numbers_are_those_of_the_host_and_of_the_published_generator() {
    crate::on_every_device!(numbers);
}

fn fingerprints<T: Real>(context: &Context) {
    let of = |values: &[T]| fingerprint(&Vector::from_slice(context, values).unwrap()).unwrap();
    for &n in SIZES.iter().chain(&[LARGE]) {
        let x = noise::<T>(n, 1);
        assert_eq!(of(&x), of(&x.clone()), "{n}");
        if n < 2 {
            continue;
        }
        // The last bits of one value, at any position; two values swapped; one value fewer.
        for place in [0, n / 2, n - 1] {
            let mut off = x.clone();
            off[place] *= T::one() + T::epsilon() + T::epsilon();
            assert_ne!(of(&off), of(&x), "{n}, {place}");
            off[place] = T::nan();
            let with_nan = of(&off);
            assert_ne!(with_nan, of(&x), "{n}, {place}");
            // Every NaN is the same.
            off[place] = -T::nan();
            assert_eq!(of(&off), with_nan, "{n}, {place}");
        }
        let mut swapped = x.clone();
        swapped.swap(0, n - 1);
        assert_ne!(of(&swapped), of(&x), "{n}");
        assert_ne!(of(&x[1..]), of(&x), "{n}");
    }
    // Zeros of both signs differ in their bits, vectors of zeros in their lengths.
    assert_ne!(of(&[T::zero()]), of(&[-T::zero()]));
    assert_ne!(of(&[T::zero(); 2]), of(&[T::zero(); 3]));
}

#[test]
fn a_complex_number_takes_two() {
    let n = 1000;
    let uniform = Uniform::new(SEED, -1.0..1.0).unwrap();
    let mut parts = vec![0.0; 2 * n];
    uniform.fill_host(&mut parts);
    let want: Vec<Complex<f64>> = parts.chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
    let mut on_host = vec![Complex::new(0.0, 0.0); n];
    uniform.fill_host(&mut on_host);
    assert!(on_host == want);
    for context in contexts().iter().filter(|context| has::<f64>(context)) {
        assert!(uniform.vector::<Complex<f64>>(context, n).unwrap().to_vec().unwrap() == want);
    }
}

#[test]
fn fingerprints_tell_vectors_apart() {
    crate::on_every_device!(fingerprints);
}

fn same_everywhere<T: Real>(context: &Context) {
    let x = [T::one(), T::from_f64(-2.5), T::zero()];
    let got = fingerprint(&Vector::from_slice(context, &x).unwrap()).unwrap();
    let want = if size_of::<T>() == 8 { FINGERPRINTS[1] } else { FINGERPRINTS[0] };
    assert_eq!(got, want);
}

#[test]
fn fingerprints_are_the_same_on_every_device() {
    crate::on_every_device!(same_everywhere);
}
