//! The wave equation against closed forms and the reference, on every device and in both families of kernels.

use std::f64::consts::PI;

use clinalg::multigrid::{Backend, Separable};
use clinalg::wave::{Medium, Scheme, Wave, WaveParams, WaveState};
use clinalg::{Context, Error, Real, Vector};
use clinalg_reference::wave2;

use crate::common::grids::inside;
use crate::common::{assert_error, capable, contexts, difference, eps, noise, own_context};

const BACKENDS: [Backend; 3] = [Backend::Kernels, Backend::Matrix, Backend::Reference];
const SCHEMES: [Scheme; 2] = [Scheme::Explicit, Scheme::Implicit];

fn sine(n: usize, k: usize, l: usize) -> Vec<f64> {
    let along = |m: usize, i: usize| {
        if i == 0 || i == n - 1 { 0.0 } else { (m as f64 * PI * i as f64 / (n - 1) as f64).sin() }
    };
    (0..n * n).map(|p| along(k, p % n) * along(l, p / n)).collect()
}

fn of<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&v| T::from_f64(v)).collect()
}

fn at_courant(n: usize, courant: f64) -> WaveParams {
    let params = WaveParams::square(n);
    WaveParams { dt: params.dt_of(courant), ..params }
}

/// r sqrt(sin^2(k pi h / 2) + sin^2(l pi h / 2)).
fn half_angle(params: &WaveParams, k: usize, l: usize) -> f64 {
    let part = |m: usize| (m as f64 * PI * params.h() / 2.0).sin().powi(2);
    params.courant() * (part(k) + part(l)).sqrt()
}

fn displacement<T: Real>(wave: &mut Wave<T>) -> Vec<T> {
    let n = wave.params().points[0];
    let mut u = vec![T::nan(); n * n];
    wave.displacement(&mut u).unwrap();
    u
}

fn velocity<T: Real>(wave: &mut Wave<T>) -> Vec<T> {
    let n = wave.params().points[0];
    let mut v = vec![T::nan(); n * n];
    wave.velocity(&mut v).unwrap();
    v
}

/// What the roundings of `steps` steps can add up to: each is off by a few halves of epsilon times the largest value, and
/// what a step adds keeps moving; without a cancellation of signs s^2, with random ones s^1.5.
fn drift<T: Real>(steps: usize) -> f64 {
    4.0 * eps::<T>() * (steps as f64).powf(1.5)
}

fn standing_wave<T: Real>(context: &Context) {
    for backend in BACKENDS {
        for scheme in SCHEMES {
            for (n, k, l, courant) in [(17, 1, 1, 0.7), (33, 2, 3, 0.4), (65, 5, 1, 0.05)] {
                let courant = if scheme == Scheme::Implicit { 4.0 * courant } else { courant };
                let tolerance = if eps::<T>() > 1e-10 { 1e-6 } else { 1e-12 };
                let params = WaveParams { backend, scheme, c: 1.7, tolerance, ..at_courant(n, courant) };
                let params = WaveParams { dt: params.dt_of(courant), ..params };
                let mode = sine(n, k, l);
                let (angle, rise) = match scheme {
                    Scheme::Explicit => {
                        let angle = 2.0 * half_angle(&params, k, l).asin();
                        (angle, params.dt / angle.sin())
                    }
                    Scheme::Implicit => {
                        let tangent = half_angle(&params, k, l);
                        (2.0 * tangent.atan(), params.dt / (2.0 * tangent))
                    }
                };
                let steps = 50;
                let mut wave = Wave::<T>::new(context, &params).unwrap();
                wave.start(&of(&mode), None).unwrap();
                wave.step(steps).unwrap();
                let what = format!("{backend:?} {scheme:?} n {n} {}", T::PRECISION);
                let bound = drift::<T>(steps) + 10.0 * tolerance * (steps as f64);
                let want: Vec<T> = mode.iter().map(|m| T::from_f64(m * (steps as f64 * angle).cos())).collect();
                let error = difference(&displacement(&mut wave), &want);
                assert!(error <= bound, "{what}: {error:e} > {bound:e}");
                assert_eq!((wave.steps(), wave.time()), (steps as u64, steps as f64 * params.dt));

                // From the rest position with a velocity, larger by what turns it into a displacement of about 1.
                let v: Vec<T> = mode.iter().map(|m| T::from_f64(m / rise)).collect();
                wave.start(&vec![T::zero(); n * n], Some(&v)).unwrap();
                assert_eq!(wave.steps(), 0);
                wave.step(steps).unwrap();
                let want: Vec<T> = mode.iter().map(|m| T::from_f64(m * (steps as f64 * angle).sin())).collect();
                let error = difference(&displacement(&mut wave), &want);
                assert!(error <= bound, "{what}, with a velocity: {error:e} > {bound:e}");
            }
        }
    }
}

#[test]
fn standing_waves_follow_the_discrete_dispersion() {
    crate::on_every_device!(standing_wave);
}

#[test]
fn the_period_is_kept_to_second_order() {
    for context in capable::<f64>() {
        for backend in BACKENDS {
            for scheme in SCHEMES {
                // One period of the mode (2, 1) in time steps of fixed Courant number, and a quarter more so that the error
                // of the phase is first order in the values.
                let end = 1.25 * 2.0 / 5.0_f64.sqrt();
                let error = |n: usize| {
                    let steps = (end / (0.6 / (n - 1) as f64)).round() as usize;
                    let params = WaveParams { backend, scheme, dt: end / steps as f64, ..WaveParams::square(n) };
                    let mut wave = Wave::<f64>::new(context, &params).unwrap();
                    let mode = sine(n, 2, 1);
                    wave.start(&mode, None).unwrap();
                    wave.step(steps).unwrap();
                    let exact = (PI * 5.0_f64.sqrt() * wave.time()).cos();
                    let want: Vec<f64> = mode.iter().map(|m| m * exact).collect();
                    difference(&displacement(&mut wave), &want)
                };
                let errors = [17, 33, 65].map(error);
                for pair in errors.windows(2) {
                    let order = (pair[0] / pair[1]).log2();
                    assert!((order - 2.0).abs() < 0.15, "{backend:?} {scheme:?}: {errors:?}, order {order}");
                }
            }
        }
    }
}

/// Noise inside and on the boundary, and a velocity.
fn noisy<T: Real>(n: usize) -> (Vec<T>, Vec<T>) {
    let v = noise::<T>(n * n, 2).into_iter().map(|v| v * T::from_f64((n - 1) as f64)).collect();
    (noise(n * n, 1), v)
}

fn fused<T: Real>(context: &Context) {
    for n in [3, 4, 8, 9, 10, 16, 17, 33, 100, 129, 257, 601] {
        let (u, v) = noisy::<T>(n);
        let run = |steps_per_pass: usize, parts: &[usize]| {
            let params = WaveParams { steps_per_pass, ..at_courant(n, 0.65) };
            let mut wave = Wave::<T>::new(context, &params).unwrap();
            wave.start(&u, Some(&v)).unwrap();
            parts.iter().for_each(|&steps| {
                wave.step(steps).unwrap();
            });
            (displacement(&mut wave), velocity(&mut wave), wave.energy().unwrap())
        };
        let single = run(1, &[29]);
        for steps_per_pass in [2, 3, 4, 7, 8] {
            let together = run(steps_per_pass, &[29]);
            assert!(together == single, "{steps_per_pass} steps in a pass, n {n}, {:?}", context.family());
        }
        assert!(run(8, &[1, 2, 3, 4, 5, 14]) == single, "n {n}, {:?}", context.family());
    }
}

#[test]
fn fused_steps_have_the_bits_of_single_ones() {
    crate::on_every_device!(fused);
}

fn against_reference<T: Real>(context: &Context) {
    for n in [3, 7, 18, 66, 271] {
        let params = at_courant(n, 0.65);
        let (u, v) = noisy::<T>(n);
        let mut wave = Wave::<T>::new(context, &params).unwrap();
        let mut host = Wave::<T>::reference(&params).unwrap();
        for wave in [&mut wave, &mut host] {
            wave.start(&u, Some(&v)).unwrap();
            wave.step(20).unwrap();
        }
        let (got, want) = (displacement(&mut wave), displacement(&mut host));
        let size = want.iter().fold(0.0, |m: f64, v| m.max(v.into_f64().abs()));
        let bound = drift::<T>(20) * size;
        let error = difference(&got, &want);
        assert!(error <= bound, "n {n}: {error:e} > {bound:e}");
        assert!((0..n * n).filter(|&k| !inside(n, k)).all(|k| got[k] == u[k]), "the boundary stays");
    }
}

#[test]
fn kernels_agree_with_the_reference() {
    crate::on_every_device!(against_reference);
}

fn exact<T: Real>(context: &Context) {
    // With r^2 = 1/4 and whole numbers a step halves the last bit twice: every intermediate value fits.
    let steps = if eps::<T>() > 1e-10 { 7 } else { 20 };
    for n in [3, 17, 65, 257] {
        let whole =
            |seed: u64| noise::<T>(n * n, seed).iter().map(|v| T::from_f64((v.into_f64() * 3.99).trunc())).collect();
        let (u, v): (Vec<T>, Vec<T>) = (whole(1), whole(2));
        let v: Vec<T> = v.iter().map(|&v| v * T::from_f64((n - 1) as f64)).collect();
        let [kernels, matrix, reference] = BACKENDS.map(|backend| {
            let mut wave = Wave::<T>::new(context, &WaveParams { backend, ..at_courant(n, 0.5) }).unwrap();
            wave.start(&u, Some(&v)).unwrap();
            wave.step(steps).unwrap();
            displacement(&mut wave)
        });
        assert!(kernels == reference && matrix == reference, "n {n}, {:?}", context.family());
        // x y has a Laplacian of 0 and stays.
        let still: Vec<T> = (0..n * n).map(|k| T::from_f64(((k % n) * (k / n)) as f64)).collect();
        let mut wave = Wave::<T>::new(context, &at_courant(n, 0.5)).unwrap();
        wave.start(&still, None).unwrap();
        wave.step(100).unwrap();
        assert!(displacement(&mut wave) == still && velocity(&mut wave).iter().all(|&v| v == T::zero()));
    }
}

#[test]
fn whole_numbers_come_out_exactly() {
    crate::on_every_device!(exact);
}

fn conserved<T: Real>(context: &Context) {
    for backend in BACKENDS {
        for scheme in SCHEMES {
            for n in [3, 17, 65] {
                let (courant, tolerance) = match scheme {
                    Scheme::Explicit => (0.7, 0.0),
                    Scheme::Implicit => (3.0, if eps::<T>() > 1e-10 { 1e-6 } else { 1e-12 }),
                };
                let params = WaveParams { backend, scheme, ..at_courant(n, courant) };
                let params = WaveParams { tolerance: f64::max(tolerance, 1e-12), ..params };
                let mut wave = Wave::<T>::new(context, &params).unwrap();
                let (u, v) = noisy::<T>(n);
                wave.start(&u, Some(&v)).unwrap();
                let start = wave.energy().unwrap();
                assert!(start.kinetic > 0.0 && start.total() > 0.0);
                for _ in 0..4 {
                    wave.step(50).unwrap();
                    let now = wave.energy().unwrap().total();
                    let steps = wave.steps() as f64;
                    // The roundings of a step are random kicks at every point.
                    let bound = 16.0 * eps::<T>() * steps.sqrt() + 8.0 * tolerance * steps;
                    let change = (now / start.total() - 1.0).abs();
                    assert!(change <= bound, "{backend:?} {scheme:?} n {n} after {steps}: {change:e} > {bound:e}");
                }
            }
        }
    }
}

#[test]
fn energy_is_conserved() {
    crate::on_every_device!(conserved);
}

fn energies<T: Real>(context: &Context) {
    for n in [3, 4, 16, 17, 33, 100, 257] {
        for mean in [false, true] {
            if mean && !(n - 1_usize).is_power_of_two() {
                continue;
            }
            let scheme = if mean { Scheme::Implicit } else { Scheme::Explicit };
            let params = WaveParams { scheme, c: 0.5, ..at_courant(n, 0.5) };
            let (u, v) = noisy::<T>(n);
            let totals = BACKENDS.map(|backend| {
                let mut wave = Wave::<T>::new(context, &WaveParams { backend, ..params.clone() }).unwrap();
                wave.start(&u, Some(&v)).unwrap();
                wave.energy().unwrap()
            });
            for energy in &totals {
                let close = |a: f64, b: f64| (a / b - 1.0).abs() <= 300.0 * eps::<T>();
                assert!(close(energy.kinetic, totals[2].kinetic), "n {n} {scheme:?}: {totals:?}");
                assert!(close(energy.potential, totals[2].potential), "n {n} {scheme:?}: {totals:?}");
            }
        }
    }
}

#[test]
fn energies_of_the_backends_agree() {
    crate::on_every_device!(energies);
}

#[test]
fn the_energy_of_a_standing_wave_is_that_of_the_membrane() {
    // E = c^2 / 2 * integral |grad u|^2 = c^2 / 2 * 2 pi^2 / 4 at rest for sin(pi x) sin(pi y).
    let params = at_courant(129, 0.5);
    let mut wave = Wave::<f64>::reference(&params).unwrap();
    wave.start(&sine(129, 1, 1), None).unwrap();
    let energy = wave.energy().unwrap().total();
    assert!((energy / (PI * PI / 4.0) - 1.0).abs() < 1e-3, "{energy}");
}

fn reversed<T: Real>(context: &Context) {
    for backend in BACKENDS {
        for scheme in SCHEMES {
            let n = 33;
            let tolerance = if eps::<T>() > 1e-10 { 1e-6 } else { 1e-12 };
            let params = WaveParams { backend, scheme, tolerance, ..at_courant(n, 0.6) };
            let mut wave = Wave::<T>::new(context, &params).unwrap();
            let u: Vec<T> = of(&sine(n, 2, 3).iter().zip(sine(n, 1, 1)).map(|(a, b)| a + b).collect::<Vec<_>>());
            let v: Vec<T> = of(&sine(n, 3, 1));
            wave.start(&u, Some(&v)).unwrap();
            wave.step(17).unwrap();
            let (turn, back) = (displacement(&mut wave), velocity(&mut wave));
            let back: Vec<T> = back.into_iter().map(|v| -v).collect();
            wave.start(&turn, Some(&back)).unwrap();
            wave.step(17).unwrap();
            let error = difference(&displacement(&mut wave), &u);
            let bound = 10.0 * drift::<T>(34) + 1000.0 * tolerance;
            assert!(error <= bound, "{backend:?} {scheme:?}: {error:e} > {bound:e}");
            let forth: Vec<T> = velocity(&mut wave).into_iter().map(|v| -v).collect();
            let error = difference(&forth, &v);
            let bound = bound / params.dt;
            assert!(error <= bound, "velocity {backend:?} {scheme:?}: {error:e} > {bound:e}");
        }
    }
}

#[test]
fn time_runs_back() {
    crate::on_every_device!(reversed);
}

fn stable<T: Real>(context: &Context) {
    let tolerance = if eps::<T>() > 1e-10 { 1e-5 } else { 1e-10 };
    for courant in [0.1, 5.0, 300.0] {
        let params = WaveParams { scheme: Scheme::Implicit, tolerance, ..at_courant(65, courant) };
        let mut wave = Wave::<T>::new(context, &params).unwrap();
        let (mut u, _) = noisy::<T>(65);
        (0..u.len()).filter(|&k| !inside(65, k)).for_each(|k| u[k] = T::zero());
        wave.start(&u, None).unwrap();
        let start = wave.energy().unwrap().total();
        let report = wave.step(200).unwrap();
        let implicit = report.implicit.unwrap();
        assert!(report.steps == 200 && implicit.stop.is_success() && implicit.cycles > 100, "{report:?}");
        assert!(implicit.relative_residual <= 1.01 * tolerance || implicit.stop != clinalg::solve::Stop::Converged);
        let change = (wave.energy().unwrap().total() / start - 1.0).abs();
        assert!(change <= 16.0 * eps::<T>() * 200.0_f64.sqrt() + 200.0 * 8.0 * tolerance, "{courant}: {change:e}");
    }
}

#[test]
fn the_implicit_scheme_is_stable_for_every_step() {
    crate::on_every_device!(stable);
}

#[test]
fn an_implicit_step_that_finds_no_solution_is_not_made() {
    let params = WaveParams { scheme: Scheme::Implicit, max_cycles: 1, tolerance: 1e-14, ..at_courant(65, 50.0) };
    let mut wave = Wave::<f64>::reference(&params).unwrap();
    let (u, _) = noisy::<f64>(65);
    wave.start(&u, None).unwrap();
    let report = wave.step(3).unwrap();
    assert_eq!((report.steps, wave.steps()), (0, 0));
    assert_eq!(report.implicit.unwrap().stop, clinalg::solve::Stop::IterationLimit);
}

#[test]
fn a_time_step_past_the_limit_names_the_limit() {
    for c in [0.25, 1.0, 340.0] {
        let params = WaveParams { c, ..at_courant(101, 0.5) };
        let limit = params.dt_of(WaveParams::COURANT_LIMIT);
        assert!(Wave::<f64>::reference(&WaveParams { dt: limit, ..params.clone() }).is_ok());
        let past = WaveParams { dt: 1.0001 * limit, ..params };
        let error = Wave::<f64>::reference(&past).unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:value");
        let message = error.to_string();
        assert!(message.contains(&clinalg::number(limit, 7)) && message.contains("0.7071"), "{message}");
        assert!(message.contains(&format!("c = {c}")) && message.contains("101 points"), "{message}");
        for context in contexts() {
            assert_eq!(Wave::<f32>::new(context, &past).unwrap_err().to_string(), message);
        }
        let implicit = WaveParams { scheme: Scheme::Implicit, points: vec![65; 2], ..past };
        assert!(Wave::<f64>::reference(&implicit).is_ok());
    }
}

#[test]
fn parameters_out_of_range_are_errors() {
    let good = at_courant(17, 0.5);
    for (bad, argument) in [
        (WaveParams { points: vec![2; 2], ..good.clone() }, "points"),
        (WaveParams { points: vec![usize::MAX; 2], ..good.clone() }, "points"),
        (WaveParams { points: vec![1 << 31; 2], ..good.clone() }, "points"),
        (WaveParams { c: 0.0, ..good.clone() }, "c"),
        (WaveParams { c: f64::NAN, ..good.clone() }, "c"),
        (WaveParams { dt: -0.1, ..good.clone() }, "dt"),
        (WaveParams { dt: f64::INFINITY, ..good.clone() }, "dt"),
        (WaveParams { dt: 1e-320, c: 1e-10, ..good.clone() }, "dt"),
        (WaveParams { steps_per_pass: 0, ..good.clone() }, "steps_per_pass"),
        (WaveParams { steps_per_pass: 9, ..good.clone() }, "steps_per_pass"),
        (WaveParams { scheme: Scheme::Implicit, points: vec![16; 2], ..good.clone() }, "points"),
        (WaveParams { scheme: Scheme::Implicit, tolerance: -1.0, ..good.clone() }, "tolerance"),
    ] {
        match Wave::<f64>::reference(&bad).unwrap_err() {
            Error::Value { argument: named, .. } => assert_eq!(named, argument),
            error => panic!("{error}"),
        }
    }
}

#[test]
fn arrays_must_fit() {
    let params = at_courant(9, 0.5);
    let mut wave = Wave::<f64>::reference(&params).unwrap();
    let (good, bad) = (vec![0.0; 81], vec![0.0; 80]);
    assert!(matches!(wave.start(&bad, None).unwrap_err(), Error::Length { argument: "u", expected: 81, got: 80 }));
    assert!(matches!(wave.start(&good, Some(&bad)).unwrap_err(), Error::Length { argument: "v", .. }));
    assert!(matches!(wave.displacement(&mut [0.0; 3]).unwrap_err(), Error::Length { argument: "u", .. }));
    assert!(matches!(wave.velocity(&mut [0.0; 3]).unwrap_err(), Error::Length { argument: "v", .. }));
    let [first, second, ..] = contexts() else { return };
    let mut wave = Wave::<f32>::new(first, &params).unwrap();
    let foreign = Vector::<f32>::zeros(second, 81).unwrap();
    assert!(matches!(wave.start_device(&foreign, None).unwrap_err(), Error::Context { argument: "u" }));
    let short = Vector::<f32>::zeros(first, 80).unwrap();
    assert!(matches!(wave.start_device(&short, None).unwrap_err(), Error::Length { argument: "u", .. }));
}

fn on_device<T: Real>(context: &Context) {
    for backend in BACKENDS {
        for scheme in SCHEMES {
            let n = 33;
            let params = WaveParams { backend, scheme, ..at_courant(n, 0.5) };
            let (u, v) = noisy::<T>(n);
            let mut wave = Wave::<T>::new(context, &params).unwrap();
            wave.start(&u, Some(&v)).unwrap();
            wave.step(9).unwrap();
            let want = (displacement(&mut wave), velocity(&mut wave));
            let [u, v] = [&u, &v].map(|values| Vector::from_slice(context, values).unwrap());
            let [mut a, mut b] = [0, 1].map(|_| Vector::zeros(context, n * n).unwrap());
            wave.start_device(&u, Some(&v)).unwrap();
            wave.step(9).unwrap();
            wave.displacement_device(&mut a).unwrap();
            wave.velocity_device(&mut b).unwrap();
            assert!((a.to_vec().unwrap(), b.to_vec().unwrap()) == want, "{backend:?} {scheme:?}");
        }
    }
}

#[test]
fn device_vectors_do_as_arrays() {
    crate::on_every_device!(on_device);
}

fn separable<T: Real>(context: &Context) {
    if !context.device().fp64 {
        return;
    }
    let n = 33;
    let along = |k: f64| -> Vec<f64> {
        (0..n).map(|i| if i == 0 || i == n - 1 { 0.0 } else { (k * PI * i as f64 / (n - 1) as f64).sin() }).collect()
    };
    let shape = Separable::new(0.7, &[&along(2.0), &along(3.0)]).unwrap();
    let mut u = vec![T::nan(); n * n];
    shape.fill_host(&mut u).unwrap();
    for (backend, scheme) in BACKENDS.into_iter().flat_map(|backend| SCHEMES.map(|scheme| (backend, scheme))) {
        let what = format!("{backend:?} {scheme:?} on {context:?}");
        let params = WaveParams { backend, scheme, ..at_courant(n, 0.6) };
        let waves = [0, 1].map(|way| {
            let mut wave = Wave::<T>::new(context, &params).unwrap();
            match way {
                0 => wave.start(&u, None).unwrap(),
                _ => wave.start_separable(&shape, None).unwrap(),
            };
            // Before any step the displacement is the function, to rounding in T.
            let least = T::epsilon().into_f64() * f64::from(u8::from(T::PRECISION == clinalg::Precision::F32));
            assert!(wave.error_max(&shape).unwrap() <= least, "{what}");
            wave.step(3).unwrap();
            let got = displacement(&mut wave);
            assert_eq!(wave.error_max(&shape).unwrap(), shape.error_max_host(&got).unwrap(), "{what}");
            got
        });
        assert_eq!(waves[0], waves[1], "{what}");
    }
    let mut wave = Wave::<T>::new(context, &at_courant(n, 0.6)).unwrap();
    let other = Separable::new(1.0, &[&along(1.0)]).unwrap();
    assert_error(wave.start_separable(&other, None), "clinalg:argument:shape", "u");
    assert_error(wave.error_max(&other), "clinalg:argument:shape", "exact");
    assert_error(wave.start_separable(&shape, Some(&u[1..])), "clinalg:argument:length", "v");
}

#[test]
fn separable_displacements_start_and_are_judged_as_arrays() {
    crate::on_every_device!(separable);
}

fn spreading<T: Real>(context: &Context) {
    // A value that is not a number reaches its neighbours step by step, and never the boundary.
    let n = 40;
    for backend in [Backend::Kernels, Backend::Matrix] {
        let params = WaveParams { backend, ..at_courant(n, 0.5) };
        let mut u = vec![T::one(); n * n];
        u[5 * n + 3] = T::nan();
        let mut host = Wave::<T>::reference(&params).unwrap();
        let mut wave = Wave::<T>::new(context, &params).unwrap();
        for wave in [&mut wave, &mut host] {
            wave.start(&u, None).unwrap();
            wave.step(8).unwrap();
        }
        let lost = |wave: &mut Wave<T>| displacement(wave).iter().map(|v| v.is_nan()).collect::<Vec<_>>();
        assert_eq!(lost(&mut wave), lost(&mut host), "{backend:?}");
    }
}

#[test]
fn not_a_number_stays_in_its_cone() {
    crate::on_every_device!(spreading);
}

#[test]
fn steps_allocate_nothing() {
    let Some(context) = own_context() else { return };
    for scheme in SCHEMES {
        let params = WaveParams { scheme, ..at_courant(65, 0.5) };
        let mut wave = Wave::<f32>::new(&context, &params).unwrap();
        wave.start(&of(&sine(65, 1, 1)), None).unwrap();
        let before = context.memory().live_bytes;
        context.reset_peak();
        wave.step(40).unwrap();
        wave.energy().unwrap();
        assert_eq!(context.memory().peak_bytes, before, "{scheme:?}");
    }
}

#[test]
fn the_reference_is_the_definition() {
    // A step of the solver is a step of the function on slices.
    let n = 12;
    let params = at_courant(n, 0.5);
    let (u, _) = noisy::<f64>(n);
    let mut wave = Wave::<f64>::reference(&params).unwrap();
    wave.start(&u, None).unwrap();
    wave.step(1).unwrap();
    let first = displacement(&mut wave);
    wave.step(1).unwrap();
    let mut second = u.clone();
    wave2::leap(n, 1.0, 0.25, &first, &mut second);
    assert_eq!(displacement(&mut wave), second);
}

/// A force that makes u = t^2 S with an eigenvector S of the stencil, which leapfrog meets exactly: second differences of t^2 are
/// 2 dt^2.
fn forced<T: Real>(context: &Context) {
    for backend in BACKENDS {
        let n = 33;
        let params = WaveParams { backend, c: 1.3, ..at_courant(n, 0.6) };
        let params = WaveParams { dt: params.dt_of(0.6), ..params };
        let shape = sine(n, 1, 2);
        let eigenvalue = (2.0 * half_angle(&params, 1, 2) / params.dt).powi(2);
        let of_shape = of::<T>(&shape);
        let amplitude = move |t: f64| 2.0 + eigenvalue * t * t;
        let medium = Medium { speed: None, force: Some((&of_shape[..], Box::new(amplitude))) };
        let mut wave = Wave::<T>::with_medium(Some(context), &params, medium).unwrap();
        wave.start(&vec![T::zero(); n * n], None).unwrap();
        wave.step(40).unwrap();
        let t = wave.time();
        let want: Vec<f64> = shape.iter().map(|s| t * t * s).collect();
        let error = difference(&displacement(&mut wave), &of::<T>(&want));
        assert!(error < t * t * drift::<T>(40), "{backend:?}: {error:e}");
        let rate: Vec<f64> = shape.iter().map(|s| 2.0 * t * s).collect();
        let error = difference(&velocity(&mut wave), &of::<T>(&rate));
        assert!(error < drift::<T>(40) * t / params.dt, "{backend:?}: velocity {error:e}");
    }
}

/// A speed that jumps and varies, against a loop over the points; the energy stays.
fn varying_speed<T: Real>(context: &Context) {
    let (n, steps) = (19, 30);
    let speed: Vec<f64> = (0..n * n).map(|p| if p % n < 7 { 0.5 } else { 1.0 + 0.02 * (p / n) as f64 }).collect();
    let c = speed.iter().copied().fold(0.0, f64::max);
    let params = WaveParams { c, ..WaveParams::square(n) };
    let params = WaveParams { dt: params.dt_of(0.65), ..params };
    let u = sine(n, 2, 1);
    let laplacian = |u: &[f64], p: usize| (u[p - 1] + u[p + 1] + u[p - n] + u[p + n] - 4.0 * u[p]) / params.h().powi(2);
    let inner: Vec<usize> = (0..n * n).filter(|p| inside(n, *p)).collect();
    let (mut now, mut before) = (u.clone(), u.clone());
    inner.iter().for_each(|&p| before[p] += 0.5 * (speed[p] * params.dt).powi(2) * laplacian(&u, p));
    for _ in 0..steps {
        let mut next = now.clone();
        inner.iter().for_each(|&p| {
            next[p] = 2.0 * now[p] - before[p] + (speed[p] * params.dt).powi(2) * laplacian(&now, p);
        });
        (before, now) = (now, next);
    }
    let speed = of::<T>(&speed);
    for backend in BACKENDS {
        let params = WaveParams { backend, ..params.clone() };
        let medium = || Medium { speed: Some(&speed[..]), force: None };
        let mut wave = Wave::<T>::with_medium(Some(context), &params, medium()).unwrap();
        wave.start(&of::<T>(&u), None).unwrap();
        let energy = wave.energy().unwrap().total();
        wave.step(steps).unwrap();
        let error = difference(&displacement(&mut wave), &of::<T>(&now));
        assert!(error < drift::<T>(steps), "{backend:?}: {error:e}");
        let change = (wave.energy().unwrap().total() - energy).abs() / energy;
        assert!(change < 100.0 * drift::<T>(steps), "{backend:?}: {change:e}");
        assert!(Wave::<T>::with_medium(Some(context), &WaveParams { c: 0.9 * c, ..params.clone() }, medium()).is_err());
    }
}

#[test]
fn media_and_forces() {
    crate::on_every_device!(forced);
    crate::on_every_device!(varying_speed);
}

/// Steps from a state have the bits of those without a stop.
#[test]
fn a_state_goes_on_to_the_same_bits() {
    for context in contexts() {
        for scheme in SCHEMES {
            let courant = if scheme == Scheme::Implicit { 2.0 } else { 0.6 };
            let params = WaveParams { scheme, tolerance: 1e-5, ..at_courant(33, courant) };
            let mut wave = Wave::<f32>::new(context, &params).unwrap();
            wave.start(&of::<f32>(&sine(33, 2, 1)), None).unwrap();
            wave.step(5).unwrap();
            let state = wave.state().unwrap();
            wave.step(6).unwrap();
            let want = displacement(&mut wave);
            let mut other = Wave::<f32>::new(context, &params).unwrap();
            other.restore(&state).unwrap();
            other.step(6).unwrap();
            assert!(displacement(&mut other) == want && other.steps() == 11, "{scheme:?}");
            let short = WaveState { u: vec![0.0; 3], ..state };
            assert!(matches!(other.restore(&short), Err(Error::Length { .. })));
        }
    }
}
