//! Waves on boxes against closed forms, on every device and in both families of kernels.

use std::f64::consts::{LN_2, PI};
use std::ops::ControlFlow;

use crate::common::{assert_error, capable, eps, noise};
use clinalg::multigrid::{Backend, Separable};
use clinalg::wave::{Amplitude, Medium, Scheme, Wave, WaveParams, WaveSide};
use clinalg::{Context, Real, Vector};

use WaveSide::{Absorbing, Fixed, Free, Periodic};

fn of<T: Real>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&v| T::from_f64(v)).collect()
}

/// A grid of these points on these lengths.
fn grid(points: &[usize], size: &[f64], sides: &[[WaveSide; 2]], dt: f64) -> WaveParams {
    WaveParams { size: size.to_vec(), sides: sides.to_vec(), dt, ..WaveParams::new(points) }
}

/// A wave with the speed 1 and a force.
fn forced<T: Real>(context: &Context, params: &WaveParams, force: &[T], amplitude: Amplitude) -> Wave<T> {
    Wave::with_medium(Some(context), params, Medium { speed: None, force: Some((force, amplitude)) }).unwrap()
}

fn displacement<T: Real>(wave: &mut Wave<T>) -> Vec<f64> {
    let mut u = vec![T::nan(); wave.params().total_points()];
    wave.displacement(&mut u).unwrap();
    u.into_iter().map(T::into_f64).collect()
}

/// The values of a product of functions of the coordinates.
fn product(params: &WaveParams, factors: &[&dyn Fn(f64) -> f64]) -> Vec<f64> {
    let mut values = vec![1.0];
    for (axis, factor) in factors.iter().enumerate().rev() {
        let along: Vec<f64> = params.coordinates(axis).unwrap().into_iter().map(factor).collect();
        values = values.iter().flat_map(|value| along.iter().map(move |factor| value * factor)).collect();
    }
    values
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Products of sines and cosines keep their shape and move with sin^2(w' dt / 2) = sum of (dt / h)^2 sin^2(k h / 2),
/// which is w to order 2.
fn standing<T: Real>(context: &Context) {
    let (a, b) = (2.0, 0.7);
    for (ends, wave_x, sine) in [
        ([Fixed, Fixed], PI, true),
        ([Free, Free], PI, false),
        ([Fixed, Free], 0.5 * PI, true),
        ([Periodic, Periodic], 2.0 * PI, true),
    ] {
        let (kx, ky) = (wave_x / a, PI / b);
        let x: &dyn Fn(f64) -> f64 = if sine { &|x| (kx * x).sin() } else { &|x| (kx * x).cos() };
        let mut errors = Vec::new();
        for m in [1, 2] {
            // A free side in the other direction.
            let dt = 0.02 / m as f64;
            let box_of = grid(&[24 * m + 1, 16 * m + 1], &[a, b], &[ends, [Free, Free]], dt);
            let u = product(&box_of, &[x, &|y| (ky * y).cos()]);
            let mut wave = Wave::<T>::new(context, &box_of).unwrap();
            wave.start(&of(&u), None).unwrap();
            let energy = wave.energy().unwrap().total();
            let steps = 40 * m;
            wave.step(steps).unwrap();
            let h = |axis: usize| box_of.coordinates(axis).unwrap()[1];
            let part = |k: f64, h: f64| (dt / h * (0.5 * k * h).sin()).powi(2);
            let discrete = 2.0 * (part(kx, h(0)) + part(ky, h(1))).sqrt().asin() / dt;
            let t = wave.time();
            let moved = |w: f64| -> Vec<f64> { u.iter().map(|u| u * (w * t).cos()).collect() };
            let got = displacement(&mut wave);
            let rounding = 4.0 * eps::<T>() * (steps as f64).powf(1.5);
            assert!(difference(&got, &moved(discrete)) < rounding, "{ends:?}: {}", difference(&got, &moved(discrete)));
            assert!((wave.energy().unwrap().total() / energy - 1.0).abs() < 100.0 * rounding, "{ends:?}");
            errors.push(difference(&got, &moved(kx.hypot(ky))));
            // From displacement and velocity it goes on as without a stop.
            let mut v = vec![T::zero(); u.len()];
            wave.velocity(&mut v).unwrap();
            let mut other = Wave::<T>::new(context, &box_of).unwrap();
            other.start(&of(&got), Some(&v)).unwrap();
            other.step(20).unwrap();
            wave.step(20).unwrap();
            assert!(difference(&displacement(&mut other), &displacement(&mut wave)) < 4.0 * rounding, "{ends:?}");
        }
        if T::PRECISION == clinalg::Precision::F64 {
            let ratio = errors[0] / errors[1];
            assert!((3.5..4.5).contains(&ratio), "{ends:?}: {errors:?}");
        }
    }
}

#[test]
fn standing_waves_keep_their_shape() {
    for context in capable::<f32>() {
        standing::<f32>(context);
    }
    for context in capable::<f64>() {
        standing::<f64>(context);
    }
}

/// For c = 1 + x the function sqrt(1 + x) sin(a log(1 + x)) cos(w t) solves the equation with w^2 = a^2 + 1/4; in space
/// too.
#[test]
fn a_speed_that_varies_is_met_to_order_two() {
    for context in capable::<f64>() {
        let a = PI / LN_2;
        let shape = |x: f64| (1.0 + x).sqrt() * (a * (1.0 + x).ln()).sin();
        let sides = [[Fixed, Fixed], [Periodic, Periodic], [Free, Free]];
        let error = |n: usize| {
            let params = grid(&[n, 4, 3], &[1.0, 4.0, 2.0], &sides, 0.4 / (n - 1) as f64);
            let ones = |_: f64| 1.0;
            let (u, c) = (product(&params, &[&shape, &ones, &ones]), product(&params, &[&|x| 1.0 + x, &ones, &ones]));
            let params = WaveParams { c: 2.0, ..params };
            let medium = Medium { speed: Some(&c[..]), force: None };
            let mut wave = Wave::<f64>::with_medium(Some(context), &params, medium).unwrap();
            wave.start(&u, None).unwrap();
            let energy = wave.energy().unwrap().total();
            let mut seen = 0;
            let steps = wave.step_with(2 * (n - 1), &mut |made, _| {
                seen = made;
                ControlFlow::Continue(())
            });
            assert_eq!((steps.unwrap().steps, seen), (2 * (n - 1), 2 * (n - 1)));
            assert!((wave.energy().unwrap().total() / energy - 1.0).abs() < 1e-11);
            let factor = ((a * a + 0.25).sqrt() * wave.time()).cos();
            let want: Vec<f64> = u.iter().map(|u| u * factor).collect();
            difference(&displacement(&mut wave), &want)
        };
        let (coarse, fine) = (error(33), error(65));
        assert!((3.5..4.5).contains(&(coarse / fine)), "{coarse:e} / {fine:e}");
    }
}

/// A plane wave at right angles leaves to order 2; one at 45 degrees leaves 0.17 of its amplitude, 3 % of its energy,
/// and the energy never grows.
#[test]
fn absorbing_sides_let_waves_out() {
    for context in capable::<f64>() {
        let left = |n: usize| {
            let h = 1.0 / (n - 1) as f64;
            let params = grid(&[n, 3], &[1.0, 3.0 * h], &[[Absorbing; 2], [Periodic; 2]], 0.5 * h);
            let u = product(&params, &[&|x| (-400.0 * (x - 0.5) * (x - 0.5)).exp(), &|_| 1.0]);
            let mut wave = Wave::<f64>::new(context, &params).unwrap();
            wave.start(&u, None).unwrap();
            wave.step(3 * (n - 1)).unwrap();
            difference(&displacement(&mut wave), &vec![0.0; u.len()])
        };
        let (coarse, fine) = (left(201), left(401));
        assert!(fine < 1e-3 && (3.0..5.0).contains(&(coarse / fine)), "{coarse:e}, {fine:e}");
        // A Gaussian from the middle meets the sides at up to 45 degrees.
        let n = 101;
        let params = grid(&[n, n], &[1.0; 2], &[[Absorbing; 2]; 2], 0.005);
        let bump = |x: f64| (-200.0 * (x - 0.5) * (x - 0.5)).exp();
        let u = product(&params, &[&bump, &bump]);
        let mut wave = Wave::<f64>::new(context, &params).unwrap();
        wave.start(&u, None).unwrap();
        let first = wave.energy().unwrap().total();
        let mut last = first;
        for _ in 0..20 {
            wave.step(10).unwrap();
            let energy = wave.energy().unwrap().total();
            assert!(energy <= last * (1.0 + 1e-12) && energy > 0.0, "{energy} after {last}");
            last = energy;
        }
        assert!(last < 0.03 * first, "{last} of {first}");
    }
}

/// Steps of u_tt + sigma u_t = c^2 Laplace u with sponges of the given width along all sides but the low one of x,
/// which is free, by the differences themselves.
fn damped_steps(n: [usize; 3], h: [f64; 3], width: f64, c: &[f64], dt: f64, u: &[f64], steps: usize) -> Vec<f64> {
    let at = |i: [isize; 3]| {
        // Outside of the box the mirrored point.
        let inside = |axis: usize| {
            let last = n[axis] as isize - 1;
            (if i[axis] < 0 { -i[axis] } else { last - (last - i[axis]).abs() }) as usize
        };
        (inside(2) * n[1] + inside(1)) * n[0] + inside(0)
    };
    let points = (0..n[2]).flat_map(|k| (0..n[1]).flat_map(move |j| (0..n[0]).map(move |i| [i, j, k])));
    let points: Vec<[usize; 3]> = points.collect();
    let (mut before, mut now) = (u.to_vec(), u.to_vec());
    for step in 0..steps {
        let mut next = vec![0.0; u.len()];
        for (p, i) in points.iter().enumerate() {
            let (mut change, mut loss) = (0.0, 0.0);
            for axis in [0, 1, 2] {
                let near = |by: isize| {
                    let mut i = i.map(|i| i as isize);
                    i[axis] += by;
                    now[at(i)]
                };
                change += (near(-1) + near(1) - 2.0 * now[p]) / (h[axis] * h[axis]);
                let (low, high) = (i[axis] as f64 * h[axis], (n[axis] - 1 - i[axis]) as f64 * h[axis]);
                for (distance, absorbs) in [(low, axis > 0), (high, true)] {
                    if absorbs && distance < width {
                        let sigma = 4.0 * 10.0_f64.ln() * c[p] / width * (1.0 - distance / width).powi(3);
                        loss += 0.5 * sigma * dt;
                    }
                    if absorbs && distance == 0.0 {
                        loss += c[p] * dt / h[axis];
                    }
                }
            }
            let moved = c[p] * c[p] * dt * dt * change;
            // At rest the step before u is the one after it.
            next[p] = match step {
                0 => now[p] + 0.5 * moved,
                _ => (2.0 * now[p] - (1.0 - loss) * before[p] + moved) / (1.0 + loss),
            };
        }
        before = std::mem::replace(&mut now, next);
    }
    now
}

fn damped<T: Real>(context: &Context) {
    let (n, size, width, dt) = ([9, 12, 11], [1.0, 2.2, 2.0], 0.6, 0.03);
    let h = [0, 1, 2].map(|axis| size[axis] / (n[axis] - 1) as f64);
    let params = grid(&n, &size, &[[Free, Absorbing], [Absorbing; 2], [Absorbing; 2]], dt);
    let params = WaveParams { sponge: Some(width), c: 1.5, ..params };
    let u = product(&params, &[&|x| 1.0 + (3.0 * x).cos(), &|y| (1.0 + y).ln(), &|z| 1.0 - 0.3 * z]);
    let c = product(&params, &[&|x| 1.0 + 0.5 * x, &|y| 1.0 - 0.1 * y, &|_| 1.0]);
    let speed = of::<T>(&c);
    let medium = Medium { speed: Some(&speed[..]), force: None };
    let mut wave = Wave::<T>::with_medium(Some(context), &params, medium).unwrap();
    wave.start(&of::<T>(&u), None).unwrap();
    wave.step(40).unwrap();
    let want = damped_steps(n, h, width, &c, dt, &u, 40);
    let error = difference(&displacement(&mut wave), &want);
    assert!(error < 400.0 * eps::<T>(), "{error:e}");
    assert!(difference(&want, &damped_steps(n, h, 0.5, &c, dt, &u, 40)) > 0.01);
}

#[test]
fn damping_layers_make_the_steps_of_their_equation() {
    for context in capable::<f32>() {
        damped::<f32>(context);
    }
    for context in capable::<f64>() {
        damped::<f64>(context);
    }
}

/// What comes back from the sides of a wave that meets one of them at all angles, as the difference from a box so large
/// that nothing does. Layers of three wavelengths leave less than a thousandth of the energy that sides without layers
/// leave.
#[test]
fn damping_layers_reflect_less_than_sides_alone() {
    for context in capable::<f64>() {
        let (h, dt, steps) = (0.02, 0.012, 150);
        // A box of 2 by 2, and a margin on all sides.
        let run = |margin: usize, layers: bool| {
            let n = 101 + 2 * margin;
            let params = grid(&[n, n], &[(n - 1) as f64 * h; 2], &[[Absorbing; 2]; 2], dt);
            let params = WaveParams { sponge: layers.then_some(margin as f64 * h), ..params };
            let centre = 1.0 + margin as f64 * h;
            let along = params.coordinates(0).unwrap();
            let square = |x: f64, y: f64| 100.0 * ((x - centre - 0.7).powi(2) + (y - centre).powi(2));
            let bump = |r2: f64| (1.0 - r2) * (-r2).exp();
            let u: Vec<f64> = along.iter().flat_map(|y| along.iter().map(|x| bump(square(*x, *y)))).collect();
            let mut wave = Wave::<f64>::new(context, &params).unwrap();
            wave.start(&u, None).unwrap();
            let mut last = wave.energy().unwrap().total();
            for _ in 0..5 {
                wave.step(steps / 5).unwrap();
                let energy = wave.energy().unwrap().total();
                assert!(energy <= last * (1.0 + 1e-12) && energy > 0.0, "{energy} after {last}");
                last = energy;
            }
            let u = displacement(&mut wave);
            let inner = |j: usize| u[(j + margin) * n + margin..][..101].to_vec();
            (0..101).flat_map(inner).collect::<Vec<f64>>()
        };
        let free = run(80, false);
        let reflected = |margin: usize, layers: bool| {
            run(margin, layers).iter().zip(&free).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
        };
        let (sides, layers) = (reflected(0, false), reflected(40, true));
        assert!(layers < 1e-3 * sides, "{layers:e} with layers, {sides:e} without");
    }
}

#[test]
fn wrong_boxes_are_refused() {
    let Some(context) = capable::<f64>().next() else { return };
    let refused = |params: WaveParams, needle: &str| {
        let error = Wave::<f64>::new(context, &params).unwrap_err().to_string();
        assert!(error.contains(needle), "{error}");
    };
    let refused_speed = |speed: &[f64]| {
        let medium = Medium { speed: Some(speed), force: None };
        let error = Wave::<f64>::with_medium(Some(context), &box_of(0.01), medium).unwrap_err().to_string();
        assert!(error.contains("`speed`"), "{error}");
    };
    let of_sides = |sides: [[WaveSide; 2]; 2]| grid(&[11, 11], &[1.0; 2], &sides, 0.01);
    let with_sponge = |params: &WaveParams, width| WaveParams { sponge: Some(width), ..params.clone() };
    refused(box_of(0.0708), "stability limit");
    refused(WaveParams { c: 0.0, ..box_of(0.01) }, "`c`");
    refused_speed(&[0.0; 121]);
    refused_speed(&[f64::INFINITY; 121]);
    refused_speed(&[1.0; 7]);
    refused(box_of(0.0), "dt");
    refused(of_sides([[Periodic, Free], [Free, Free]]), "direction 1");
    refused(WaveParams { size: vec![1.0], ..box_of(0.01) }, "size");
    refused(WaveParams { sides: vec![], ..box_of(0.01) }, "sides");
    refused(with_sponge(&box_of(0.01), 0.3), "absorbing side");
    let open = of_sides([[Absorbing; 2], [Free, Absorbing]]);
    refused(with_sponge(&open, 0.0), "above 0");
    refused(with_sponge(&open, 0.1), "two spacings in direction 1");
    refused(with_sponge(&open, 0.6), "to 0.5,");
    for width in [0.2, 0.5] {
        Wave::<f64>::new(context, &with_sponge(&open, width)).unwrap();
    }
    refused(WaveParams::new(&[5]), "directions");
    refused(WaveParams::new(&[5, 2]), "at least 3");
    refused(WaveParams::new(&[usize::MAX, 5]), "points");
    assert!((box_of(0.01).limit().unwrap() - 0.1 / 2.0_f64.sqrt()).abs() < 1e-15);
    let mut wave = Wave::<f64>::new(context, &box_of(0.07)).unwrap();
    assert!(wave.start(&[0.0; 9], None).unwrap_err().to_string().contains("`u`"));
}

/// 11 by 11 points, one side of which is free.
fn box_of(dt: f64) -> WaveParams {
    grid(&[11, 11], &[1.0; 2], &[[Fixed, Fixed], [Fixed, Free]], dt)
}

/// What only squares have is an error elsewhere that says so.
#[test]
fn implicit_steps_and_other_backends_on_boxes_are_refused() {
    const VALUE: &str = "clinalg:argument:value";
    let Some(context) = capable::<f64>().next() else { return };
    let cube = WaveParams::new(&[17; 3]);
    for params in [cube, grid(&[17, 17], &[1.0, 2.0], &[[Fixed; 2]; 2], 0.01), box_of(0.01)] {
        let refused = |params: WaveParams, argument: &str| {
            let message = assert_error(Wave::<f64>::new(context, &params).map(drop), VALUE, argument);
            assert!(message.contains("equally many points, equal lengths and fixed sides"), "{message}");
        };
        refused(WaveParams { scheme: Scheme::Implicit, ..params.clone() }, "scheme");
        for backend in [Backend::Matrix, Backend::Reference] {
            refused(WaveParams { backend, ..params.clone() }, "backend");
        }
        assert_error(Wave::<f64>::reference(&params).map(drop), VALUE, "backend");
    }
}

/// Lengths that differ in the last bit take the kernels for boxes, and the solution of a square.
fn square_as_box<T: Real>(context: &Context) {
    let (n, steps) = (33, 40);
    let speed: Vec<T> = (0..n * n).map(|p| T::from_f64(1.0 + 0.4 * (p % n) as f64 / n as f64)).collect();
    let force = noise::<T>(n * n, 3);
    let (u, v) = (noise::<T>(n * n, 1), noise::<T>(n * n, 2));
    for length in [1.0, 2.5] {
        for (varies, pushes) in [(false, false), (true, false), (false, true), (true, true)] {
            let run = |size: [f64; 2]| {
                let params = WaveParams { c: 1.4, ..grid(&[n, n], &size, &[[Fixed; 2]; 2], 0.01) };
                let speed = varies.then_some(&speed[..]);
                let amplitude: Amplitude = Box::new(|t: f64| 1.0 + t);
                let medium = Medium { speed, force: pushes.then_some((&force[..], amplitude)) };
                let mut wave = Wave::<T>::with_medium(Some(context), &params, medium).unwrap();
                wave.start(&u, Some(&v)).unwrap();
                wave.step(steps).unwrap();
                let mut velocity = vec![T::nan(); n * n];
                wave.velocity(&mut velocity).unwrap();
                let energy = wave.energy().unwrap();
                let velocity: Vec<f64> = velocity.into_iter().map(T::into_f64).collect();
                (displacement(&mut wave), velocity, [energy.kinetic, energy.potential])
            };
            let (square, other) = (run([length; 2]), run([length, length * (1.0 + f64::EPSILON)]));
            let rounding = 8.0 * eps::<T>() * (steps as f64).powf(1.5);
            let what = format!("{} length {length}, {varies} {pushes}", T::PRECISION);
            assert!(difference(&square.0, &other.0) < rounding, "{what}: {:e}", difference(&square.0, &other.0));
            assert!(square.0 != other.0, "{what}: the same kernels");
            // Differences of displacements, divided by the time step 0.01.
            assert!(difference(&square.1, &other.1) < 200.0 * rounding, "{what}: velocity");
            for (a, b) in square.2.into_iter().zip(other.2) {
                assert!((a / b - 1.0).abs() < 200.0 * rounding, "{what}: energies {a} and {b}");
            }
        }
    }
}

#[test]
fn squares_move_as_boxes() {
    for context in capable::<f32>() {
        square_as_box::<f32>(context);
    }
    for context in capable::<f64>() {
        square_as_box::<f64>(context);
    }
}

/// The half of a square up to a free side, on which a solution that is even about the middle line does not depend.
#[test]
fn half_a_square_with_a_free_side_moves_as_the_square() {
    for context in capable::<f64>() {
        let (n, steps) = (33, 60);
        let half = n / 2 + 1;
        let params = WaveParams { dt: 0.02, ..WaveParams::square(n) };
        let halved = grid(&[n, half], &[1.0, 0.5], &[[Fixed; 2], [Fixed, Free]], params.dt);
        let shape = noise::<f64>(n * half, 4);
        let row = |j: usize| &shape[j.min(n - 1 - j) * n..][..n];
        let whole: Vec<f64> = (0..n).flat_map(|j| row(j).to_vec()).collect();
        let run = |params: &WaveParams, u: &[f64]| {
            let mut wave = Wave::<f64>::new(context, params).unwrap();
            wave.start(u, None).unwrap();
            wave.step(steps).unwrap();
            (displacement(&mut wave), wave.energy().unwrap().total())
        };
        let (square, part) = (run(&params, &whole), run(&halved, &shape));
        let rounding = 4.0 * eps::<f64>() * (steps as f64).powf(1.5);
        assert!(difference(&square.0[..n * half], &part.0) < rounding);
        assert!((square.1 / (2.0 * part.1) - 1.0).abs() < 100.0 * rounding, "{} and {}", square.1, part.1);
    }
}

/// On boxes, too, vectors of the device and separable functions start a wave as arrays do.
fn started_elsewhere<T: Real>(context: &Context) {
    let params = grid(&[9, 6, 5], &[1.0, 0.7, 0.5], &[[Free; 2], [Fixed; 2], [Periodic; 2]], 0.04);
    let along = |n: usize| (0..n).map(|i| (0.3 * (i + n) as f64).sin()).collect::<Vec<f64>>();
    let shape = Separable::new(0.7, &[&along(9), &along(6), &along(5)]).unwrap();
    let points = params.total_points();
    let (mut u, v) = (vec![T::nan(); points], noise::<T>(points, 5));
    shape.fill_host(&mut u).unwrap();
    let [u_there, v_there] = [&u, &v].map(|values| Vector::from_slice(context, values).unwrap());
    let results = [0, 1, 2].map(|way| {
        let mut wave = Wave::<T>::new(context, &params).unwrap();
        match way {
            0 => wave.start(&u, Some(&v)).unwrap(),
            1 => wave.start_device(&u_there, Some(&v_there)).unwrap(),
            _ => wave.start_separable(&shape, Some(&v)).unwrap(),
        };
        let least = if T::PRECISION == clinalg::Precision::F32 { eps::<T>() } else { 0.0 };
        assert!(wave.error_max(&shape).unwrap() <= least);
        wave.step(7).unwrap();
        let mut host = [vec![T::nan(); points], vec![T::nan(); points]];
        wave.displacement(&mut host[0]).unwrap();
        wave.velocity(&mut host[1]).unwrap();
        let mut there = [0, 1].map(|_| Vector::zeros(context, points).unwrap());
        wave.displacement_device(&mut there[0]).unwrap();
        wave.velocity_device(&mut there[1]).unwrap();
        assert!(there.map(|there| there.to_vec().unwrap()) == host);
        host
    });
    assert!(results[0] == results[1] && results[0] == results[2]);
    let mut wave = Wave::<T>::new(context, &params).unwrap();
    let other = Separable::new(1.0, &[&along(9), &along(6)]).unwrap();
    assert_error(wave.start_separable(&other, None).map(drop), "clinalg:argument:shape", "u");
}

#[test]
fn device_vectors_and_separable_functions_start_boxes_as_arrays_do() {
    for context in capable::<f32>() {
        started_elsewhere::<f32>(context);
    }
    for context in capable::<f64>() {
        started_elsewhere::<f64>(context);
    }
}

/// The force 1 times a standing shape moves it as (1 - cos(w' t)) / w_h^2, with the w' of the scheme and the eigenvalue
/// w_h^2 of -Laplace_h.
fn pushed<T: Real>(context: &Context) {
    let dt = 0.02;
    let params = grid(&[25, 17], &[2.0, 0.7], &[[Fixed, Fixed], [Free, Free]], dt);
    let (kx, ky) = (PI / 2.0, PI / 0.7);
    let shape = product(&params, &[&|x| (kx * x).sin(), &|y| (ky * y).cos()]);
    let h = |axis: usize| params.coordinates(axis).unwrap()[1];
    let eigenvalue = (2.0 / h(0) * (0.5 * kx * h(0)).sin()).powi(2) + (2.0 / h(1) * (0.5 * ky * h(1)).sin()).powi(2);
    let frequency = 2.0 * (0.5 * dt * eigenvalue.sqrt()).asin() / dt;
    let force: Vec<T> = of(&shape);
    let mut wave = forced(context, &params, &force, Box::new(|_| 1.0));
    wave.start(&of(&vec![0.0; shape.len()]), None).unwrap();
    let steps = 50;
    wave.step(steps).unwrap();
    let at = |t: f64| -> Vec<f64> { shape.iter().map(|s| s * (1.0 - (frequency * t).cos()) / eigenvalue).collect() };
    let rounding = 4.0 * eps::<T>() * (steps as f64).powf(1.5);
    assert!(difference(&displacement(&mut wave), &at(wave.time())) < rounding);
    // From displacement, velocity and force it goes on; from the state to the same bits.
    let start = wave.time();
    let mut v = vec![T::zero(); shape.len()];
    wave.velocity(&mut v).unwrap();
    let fresh = || forced(context, &params, &force, Box::new(|_| 1.0));
    let (mut other, mut same) = (fresh(), fresh());
    other.start(&of(&displacement(&mut wave)), Some(&v)).unwrap();
    same.restore(&wave.state().unwrap()).unwrap();
    for wave in [&mut wave, &mut other, &mut same] {
        wave.step(20).unwrap();
    }
    assert!(difference(&displacement(&mut other), &at(start + 20.0 * dt)) < 8.0 * rounding);
    assert_eq!((displacement(&mut same), same.steps()), (displacement(&mut wave), wave.steps()));
}

#[test]
fn a_force_moves_the_box() {
    for context in capable::<f32>() {
        pushed::<f32>(context);
    }
    for context in capable::<f64>() {
        pushed::<f64>(context);
    }
}

/// exp(-k t) cosh(x - 1/2) with k = tanh(1/2) meets the condition of absorbing sides at 0 and 1, and the equation with
/// a force.
#[test]
fn a_force_on_absorbing_sides_is_met_to_order_two() {
    for context in capable::<f64>() {
        let k = 0.5_f64.tanh();
        let error = |n: usize| {
            let h = 1.0 / (n - 1) as f64;
            let params = grid(&[n, 3], &[1.0, 3.0 * h], &[[Absorbing; 2], [Periodic; 2]], 0.5 * h);
            let q = product(&params, &[&|x| (x - 0.5).cosh(), &|_| 1.0]);
            let times = |factor: f64| -> Vec<f64> { q.iter().map(|q| factor * q).collect() };
            let mut wave = forced(context, &params, &times(k * k - 1.0), Box::new(move |t| (-k * t).exp()));
            wave.start(&q, Some(&times(-k))).unwrap();
            wave.step(2 * (n - 1)).unwrap();
            difference(&displacement(&mut wave), &times((-k * wave.time()).exp()))
        };
        let (coarse, fine) = (error(33), error(65));
        assert!((3.5..4.5).contains(&(coarse / fine)), "{coarse:e} / {fine:e}");
        for params in [WaveParams::square(11), box_of(0.01)] {
            let made = |force: &[f64]| {
                let medium = Medium { speed: None, force: Some((force, Box::new(|_| 1.0))) };
                Wave::<f64>::with_medium(Some(context), &params, medium).map(drop)
            };
            let refused = |force: &[f64]| made(force).unwrap_err().to_string();
            assert!(refused(&[0.0; 7]).contains("`force`") && refused(&[f64::NAN; 121]).contains("finite"));
            // Values on fixed sides are not read.
            let mut edges = [0.0; 121];
            edges[..11].fill(f64::NAN);
            made(&edges).unwrap();
        }
    }
}
