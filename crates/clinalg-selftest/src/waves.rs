//! The wave equation.

use std::f64::consts::PI;

use super::{Data, Suite, seeded};
use clinalg::multigrid::Backend;
use clinalg::wave::{Scheme, Wave, WaveParams};
use clinalg::{Context, Real, Result};

pub(super) fn run<T: Real>(suite: &mut Suite<'_>) {
    exact::<T>(suite);
    passes::<T>(suite);
    standing::<T>(suite);
}

/// Displacement after `steps` steps.
fn moved<T: Real>(context: &Context, params: &WaveParams, u: &[T], v: &[T], steps: usize) -> Result<Vec<T>> {
    let mut wave = Wave::<T>::new(context, params)?;
    wave.start(u, Some(v))?;
    wave.step(steps)?;
    let mut out = vec![T::nan(); u.len()];
    wave.displacement(&mut out)?;
    Ok(out)
}

fn at_courant(n: usize, courant: f64) -> WaveParams {
    let params = WaveParams::square(n);
    WaveParams { dt: params.dt_of(courant), ..params }
}

/// Whole numbers, and a Courant number at which a step halves the last bit twice, so that nothing is rounded.
fn exact<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    let sides: &[usize] = if suite.quick { &[3, 17] } else { &[3, 5, 17, 65, 129, 257] };
    for (name, backend) in [("wave_leapfrog", Backend::Kernels), ("wave_matrix_leapfrog", Backend::Matrix)] {
        suite.check(name, Some(T::PRECISION), |worst| {
            for &n in sides {
                let mut rng = seeded(n as u64);
                let u: Vec<T> = Data::Whole.values(&mut rng, n * n);
                let v: Vec<T> = Data::Whole.values(&mut rng, n * n);
                let v: Vec<T> = v.into_iter().map(|v| v * T::from_f64((n - 1) as f64)).collect();
                let params = WaveParams { backend, ..at_courant(n, 0.5) };
                let want = moved(context, &WaveParams { backend: Backend::Reference, ..params.clone() }, &u, &v, 7)?;
                worst.exact(n, &moved(context, &params, &u, &v, 7)?, &want);
            }
            Ok(())
        });
    }
}

/// Several steps in a pass against single ones.
fn passes<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    let sides: &[usize] = if suite.quick { &[3, 10, 33] } else { &[3, 10, 33, 241, 301, 600] };
    suite.check("wave_fused", Some(T::PRECISION), |worst| {
        for &n in sides {
            let mut rng = seeded(n as u64);
            let [u, v]: [Vec<T>; 2] = [0, 1].map(|_| Data::Random.values(&mut rng, n * n));
            let params = at_courant(n, 0.7);
            let want = moved(context, &WaveParams { steps_per_pass: 1, ..params.clone() }, &u, &v, 15)?;
            worst.exact(n, &moved(context, &params, &u, &v, 15)?, &want);
        }
        Ok(())
    });
}

/// Standing waves against the dispersion relation of each scheme.
fn standing<T: Real>(suite: &mut Suite<'_>) {
    let context = suite.context;
    let sides: &[usize] = if suite.quick { &[17] } else { &[17, 65, 129] };
    for (name, scheme) in [("wave_standing", Scheme::Explicit), ("wave_standing_implicit", Scheme::Implicit)] {
        suite.check(name, Some(T::PRECISION), |worst| {
            for &n in sides {
                let epsilon = T::epsilon().into_f64();
                let residual = 100.0 * epsilon;
                let params = WaveParams { scheme, tolerance: residual, ..at_courant(n, 0.6) };
                let sine = |k: usize| (PI * k as f64 * params.h()).sin();
                let mode: Vec<f64> = (0..n * n).map(|k| sine(k % n) * sine(2 * (k / n))).collect();
                let u: Vec<T> = mode.iter().map(|&m| T::from_f64(m)).collect();
                let steps = 20;
                let got = moved(context, &params, &u, &vec![T::zero(); n * n], steps)?;
                let part = |k: f64| (k * PI * params.h() / 2.0).sin().powi(2);
                let half = params.courant() * (part(1.0) + part(2.0)).sqrt();
                let angle = 2.0 * if scheme == Scheme::Explicit { half.asin() } else { half.atan() };
                let want: Vec<T> = mode.iter().map(|m| T::from_f64(m * (steps as f64 * angle).cos())).collect();
                // Each step is rounded by a few epsilon and what it adds keeps moving; the residuals leave as much.
                let tolerance = (steps * steps) as f64 * (4.0 * epsilon) + steps as f64 * residual;
                worst.compare(n, tolerance, &got, &want, |_| 1.0);
            }
            Ok(())
        });
    }
}
