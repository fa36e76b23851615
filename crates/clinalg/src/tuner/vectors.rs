//! How the parameters of vector operations are tried.

use super::{Trial, Tunable, both_precisions, chunks_candidates, first_difference, whole_numbers};
use crate::ops::elementwise::{ELEMENTWISE, ELEMENTWISE_CPU};
use crate::ops::reduce::{REDUCE, REDUCE_CPU};
use crate::ops::{axpby, dot, norm_inf, norm1, sum};
use crate::solve::cg_device::{CG, CG_ITEMS, Iteration};
use crate::tune::Choice;
use crate::{Context, DeviceInfo, Precision, Real, Result, Vector};

pub(super) static TUNABLES: &[Tunable] = &[
    Tunable {
        operation: &ELEMENTWISE,
        per_item: |&[_, width, items, ..]| width * items,
        candidates: elementwise_candidates,
        largest: 27,
        check: both_precisions!(check_elementwise),
        trial: both_precisions!(trial_elementwise),
    },
    Tunable {
        operation: &ELEMENTWISE_CPU,
        per_item: |_| 8,
        candidates: chunks_candidates,
        largest: 27,
        check: both_precisions!(check_elementwise),
        trial: both_precisions!(trial_elementwise),
    },
    Tunable {
        operation: &REDUCE,
        per_item: |&[_, width, unroll, ..]| width * unroll,
        candidates: reduce_candidates,
        largest: 27,
        check: both_precisions!(check_reduce),
        trial: both_precisions!(trial_reduce),
    },
    Tunable {
        operation: &REDUCE_CPU,
        per_item: |_| 32,
        candidates: chunks_candidates,
        largest: 27,
        check: both_precisions!(check_reduce),
        trial: both_precisions!(trial_reduce),
    },
    Tunable {
        operation: &CG,
        per_item: |&[_, width, ..]| width * CG_ITEMS,
        candidates: cg_candidates,
        largest: 27,
        check: both_precisions!(check_cg),
        trial: both_precisions!(trial_cg),
    },
];

fn elementwise_candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    let mut all = Vec::new();
    for local in [64, 128, 256] {
        for width in [1, 2, 4] {
            all.extend([1, 2, 4, 8].map(|items| [local, width, items, 0, 0, 0]));
        }
    }
    all
}

fn check_elementwise<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    let (alpha, beta) = (T::from_f64(2.0), T::from_f64(-3.0));
    let [x, y] = [1, 2].map(|seed| whole_numbers::<T>(n, seed));
    let mut out = Vector::filled(context, n, T::nan())?;
    axpby(alpha, &Vector::from_slice(context, &x)?, beta, &Vector::from_slice(context, &y)?, &mut out)?;
    let want: Vec<T> = x.iter().zip(&y).map(|(&x, &y)| alpha * x + beta * y).collect();
    Ok(first_difference(&out.to_vec()?, &want))
}

fn trial_elementwise<T: Real>(context: &Context, n: usize) -> Result<Trial> {
    let vector = |value| Vector::filled(context, n, T::from_f64(value));
    let (x, y, mut out) = (vector(1.0)?, vector(2.0)?, vector(0.0)?);
    let run = move || axpby(T::from_f64(2.0), &x, T::from_f64(-3.0), &y, &mut out);
    Ok(Trial { bytes: (3 * n * size_of::<T>()) as u64, run: Box::new(run) })
}

fn reduce_candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    let mut all = Vec::new();
    for local in [64, 128, 256, 512, 1024] {
        for width in [1, 2, 4] {
            for unroll in [1, 2, 4, 8] {
                // 512 to 4096 items a unit.
                let groups = [512, 1024, 2048, 4096].map(|items| items / local).into_iter().filter(|&g| g > 0);
                all.extend(groups.map(|groups| [local, width, unroll, groups, 0, 0]));
            }
        }
    }
    all
}

fn check_reduce<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    let [x, y] = [1, 2].map(|seed| whole_numbers::<T>(n, seed));
    let [dx, dy] = [Vector::from_slice(context, &x)?, Vector::from_slice(context, &y)?];
    let got = [sum(&dx)?, norm1(&dx)?, norm_inf(&dx)?, dot(&dx, &dy)?];
    // Sums of whole numbers are exact in double precision, whatever their order.
    let total =
        |term: fn(f64, f64) -> f64| x.iter().zip(&y).map(|(x, y)| term(x.into_f64(), y.into_f64())).sum::<f64>();
    let largest = x.iter().map(|x| x.into_f64().abs()).fold(0.0, f64::max);
    let want = [total(|x, _| x), total(|x, _| x.abs()), largest, total(|x, y| x * y)].map(T::from_f64);
    Ok(first_difference(&got, &want))
}

fn trial_reduce<T: Real>(context: &Context, n: usize) -> Result<Trial> {
    let x = Vector::filled(context, n, T::one())?;
    Ok(Trial { bytes: (n * size_of::<T>()) as u64, run: Box::new(move || sum(&x).map(drop)) })
}

fn cg_candidates(_: &DeviceInfo, _: Precision) -> Vec<Choice> {
    let mut all = Vec::new();
    for local in [64, 128, 256, 512, 1024] {
        for width in [1, 2, 4] {
            for groups in [512, 1024, 2048].map(|items| items / local).into_iter().filter(|&groups| groups > 0) {
                all.extend([8, 32, 128].map(|spread| [local, width, groups, spread, 0, 0]));
            }
        }
    }
    all
}

fn check_cg<T: Real>(context: &Context, n: usize) -> Result<Option<String>> {
    let [mut x, mut r, mut p, q] = [1, 2, 3, 4].map(|seed| whole_numbers::<T>(n, seed));
    let on_device = |v: &[T]| Vector::from_slice(context, v);
    let mut iteration = Iteration::new(context, [on_device(&x)?, on_device(&r)?, on_device(&p)?, on_device(&q)?])?;
    iteration.start()?;
    iteration.make()?;
    let two = T::from_f64(2.0);
    r.iter_mut().zip(&q).for_each(|(r, &q)| *r -= two * q);
    // Whole numbers, exact in any order.
    let squares: f64 = r.iter().map(|r| r.into_f64() * r.into_f64()).sum();
    let beta = T::from_f64(squares / 2.0);
    x.iter_mut().zip(&p).for_each(|(x, &p)| *x += two * p);
    p.iter_mut().zip(&r).for_each(|(p, &r)| *p = r + beta * *p);
    let got = [iteration.x.to_vec()?, iteration.r.to_vec()?, iteration.p.to_vec()?];
    let parts = got.iter().zip([&x, &r, &p]).find_map(|(got, want)| first_difference(got, want));
    let scalars = iteration.outcome()?;
    Ok(parts.or_else(|| first_difference(&scalars, &[1.0, 1.0, squares, squares])))
}

fn trial_cg<T: Real>(context: &Context, n: usize) -> Result<Trial> {
    let zeros = || Vector::<T>::zeros(context, n);
    let mut iteration = Iteration::new(context, [zeros()?, zeros()?, zeros()?, zeros()?])?;
    iteration.start()?;
    // Of zeros, every iteration is the same and is made.
    let run = move || iteration.again();
    Ok(Trial { bytes: (8 * n * size_of::<T>()) as u64, run: Box::new(run) })
}
