//! Waveform relaxation on devices, against Euler's method and the sequential iteration.

mod common;

use std::ops::ControlFlow;

use clinalg::team::{Network, Team};
use clinalg::{Context, KernelFamily, Real};
use clinalg_ode::integrate::Stepper;
use clinalg_ode::team::{Link, TeamOptions, TeamStepper, Traffic, simulate};
use clinalg_ode::waveform::{
    Control, Copies, Guess, Partition, Sharing, Stop, Storage, VARIANTS, WaveformModel, WaveformOptions, WaveformState,
    explain, relax, relax_by_devices, relax_on_team, relax_on_team_with, relax_sequentially, relax_with,
};
use clinalg_ode::{Boundary, DeviceStepper, Error, Grid, Layout, Method, System, Variant, problems};
use common::{contexts, contexts_like, contexts_of};

/// Systems of polynomials, so that device and plain Rust agree to the last bit, on grids of 1, 2 and 3 dimensions whose sizes
/// are no multiples of the blocks.
fn systems() -> Vec<(System, [usize; 3])> {
    let lap = |f: &str| format!("{f}[-1,0] + {f}[1,0] + {f}[0,-1] + {f}[0,1] - 4*{f}");
    let brusselator = |layout, boundary| {
        System::builder(Grid::unit(&[13, 9]))
            .parameter("a", 0.2)
            .field("u", format!("1 + u*u*v - 4.4*u + a*({}) + t*x", lap("u")))
            .field("v", format!("3.4*u - u*u*v + a*({})", lap("v")))
            .boundary(boundary)
            .layout(layout)
            .build()
            .unwrap()
    };
    let line = System::builder(Grid::unit(&[331])).field("u", "u[-2] - 2*u + u[2]").boundary(Boundary::Copy);
    let sides = Boundary::Value(vec!["2*t - u[0,0,1]".into()]);
    let cube = System::builder(Grid::unit(&[7, 6, 5]))
        .field("u", "u[-1,0,0] + u[1,0,0] + u[0,-1,0] + u[0,1,0] + u[0,0,-1] + u[0,0,1] - 6*u")
        .side(2, clinalg_ode::Side::Low, sides);
    vec![
        (brusselator(Layout::Interleaved, Boundary::Mirror), [4, 4, 1]),
        (brusselator(Layout::FieldWise, Boundary::Periodic), [5, 9, 1]),
        (line.build().unwrap(), [64, 1, 1]),
        (cube.build().unwrap(), [3, 4, 2]),
    ]
}

fn start<T: Real>(system: &System) -> Vec<T> {
    (0..system.components()).map(|k| T::from_f64(1.0 + 0.3 * (k as f64).sin())).collect()
}

/// The solutions of the method itself on the device, after each step.
fn plain<T: Real>(context: &Context, system: &System, y0: &[T], options: &WaveformOptions) -> Vec<Vec<T>> {
    let method = options.method.without_error();
    let mut stepper = DeviceStepper::<T>::new(context, &method, system, Variant::Fused).unwrap();
    stepper.set(&[y0.to_vec()]).unwrap();
    let mut rows = vec![y0.to_vec()];
    for k in 0..options.steps {
        stepper.advance(&[0.5 + k as f64 * options.h], options.h).unwrap();
        rows.push(stepper.solution().unwrap());
    }
    rows
}

fn check<T: Real + PartialEq>(context: &Context) {
    for (system, block) in systems() {
        let y0 = start::<T>(&system);
        let base = WaveformOptions::new(0.01, 5);
        let expected = plain(context, &system, &y0, &base);
        for partition in [Partition::Component, Partition::Point, Partition::Block(block)] {
            for count in [1, 3, 5] {
                let mut options = base.clone();
                (options.partition, options.stop, options.keep) = (partition, Stop::Iterations(count), true);
                let got = relax(context, &system, 0.5, &y0, &options).unwrap();
                let sequential = relax_sequentially(&system, 0.5, &y0, &options).unwrap();
                assert!(got.waveform == sequential.waveform, "{partition:?} {count} {system:?}");
                for (k, row) in expected.iter().take(count + 1).enumerate() {
                    assert!(got.waveform[k * y0.len()..][..y0.len()] == row[..], "{partition:?}: row {k} of {count}");
                }
                assert_eq!(got.report.iterations, sequential.report.iterations);
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-5 * b;
                let (a, b) = (&got.report.error_history[0], &sequential.report.error_history[0]);
                assert!(a.iter().zip(b).all(close), "{a:?} {b:?}");
            }
            let mut whole = base.clone();
            whole.partition = partition;
            let got = relax(context, &system, 0.5, &y0, &whole).unwrap();
            assert!(got.solution == expected[5] && got.report.iterations[0] <= 6, "{partition:?}");
        }
    }
}

#[test]
fn iterates_are_those_of_plain_rust_and_end_at_eulers_method() {
    for context in contexts() {
        check::<f32>(&context);
        if context.require::<f64>().is_ok() {
            check::<f64>(&context);
        }
    }
}

/// As many rows as right-hand sides: after w iterations the first w rows are those of the method itself, to the last bit.
fn check_runge_kutta<T: Real + PartialEq>(context: &Context, name: &str, number: usize, partitions: &[Partition]) {
    let (system, _) = &systems()[number];
    let y0 = start::<T>(system);
    let mut base = WaveformOptions::new(0.01, 3);
    base.method = Method::named(name).unwrap();
    let rows = base.method.without_error().graph().rhs_count();
    let expected = plain(context, system, &y0, &base);
    for partition in partitions {
        let mut options = base.clone();
        (options.partition, options.keep) = (*partition, true);
        for count in [1, rows, 2 * rows + 1] {
            options.stop = Stop::Iterations(count);
            let got = relax(context, system, 0.5, &y0, &options).unwrap();
            let sequential = relax_sequentially(system, 0.5, &y0, &options).unwrap();
            assert!(got.waveform == sequential.waveform, "{name} {partition:?} {count}");
            assert_eq!(got.waveform.len(), (3 * rows + 1) * y0.len());
            for (k, row) in expected.iter().take(count / rows + 1).enumerate() {
                assert!(
                    got.waveform[k * rows * y0.len()..][..y0.len()] == row[..],
                    "{name} {partition:?}: {k} of {count}"
                );
            }
        }
        (options.stop, options.keep) = (base.stop, false);
        let got = relax(context, system, 0.5, &y0, &options).unwrap();
        assert!(got.solution == expected[3] && got.report.iterations[0] <= 3 * rows + 1, "{name} {partition:?}");
        if let Partition::Block(_) = partition {
            (options.storage, options.guess) = (Storage::Boundary, Guess::Linear);
            let boundary = relax(context, system, 0.5, &y0, &options).unwrap();
            assert!(boundary.solution == expected[3] && boundary.report.iterations[0] <= 3 * rows + 1, "{name}");
            assert!(boundary.report.words_per_component < got.report.words_per_component);
        }
    }
}

#[test]
fn runge_kutta_methods_inside_a_window() {
    for context in contexts() {
        check_runge_kutta::<f32>(&context, "rk4", 0, &[Partition::Component, Partition::Block([4, 4, 1])]);
        if context.require::<f64>().is_ok() {
            check_runge_kutta::<f64>(&context, "bs32", 3, &[Partition::Point, Partition::Block([3, 4, 2])]);
        }
    }
}

/// A line from the step before begins the next window, whatever the number of rows.
#[test]
fn first_guesses_of_runge_kutta_methods() {
    let (system, block) = &systems()[0];
    let y0 = start::<f32>(system);
    let mut options = WaveformOptions::new(0.01, 6);
    options.method = Method::named("heun2").unwrap();
    (options.windows, options.partition, options.stop) = (3, Partition::Block(*block), Stop::Iterations(2));
    for context in contexts() {
        for guess in [Guess::Constant, Guess::Previous, Guess::Linear] {
            options.guess = guess;
            let got = relax(&context, system, 0.5, &y0, &options).unwrap();
            assert!(got.solution == relax_sequentially(system, 0.5, &y0, &options).unwrap().solution, "{guess:?}");
        }
    }
}

/// Stopped after every iteration that there is, also at the ends of windows, and continued each time from the state.
#[test]
fn a_relaxation_that_is_stopped_goes_on_to_the_same_bits() {
    let context = &contexts()[0];
    let (system, block) = &systems()[0];
    let y0 = start::<f32>(system);
    for (variant, guess, adaptive) in [
        ("component", Guess::Previous, Some(3)),
        ("block", Guess::Linear, Some(3)),
        ("block-boundary", Guess::Previous, Some(3)),
        ("block-boundary", Guess::Constant, None),
        ("device", Guess::Previous, None),
    ] {
        let mut options = WaveformOptions::new(0.01, 12);
        options.set_variant(variant, *block).unwrap();
        (options.windows, options.stop) = (2, Stop::Difference(1e-3));
        (options.guess, options.adaptive) = (guess, adaptive);
        let run = |last: Option<usize>, resume: Option<&WaveformState<f32>>| {
            let mut progress = |count, difference: f64| {
                assert!(difference.is_finite());
                if Some(count) == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let control = Control { progress: Some(&mut progress), keep_state: true, resume, ..Control::default() };
            relax_with(context, system, 0.5, &y0, &options, control).unwrap()
        };
        let whole = run(None, None);
        let count: usize = whole.report.iterations.iter().sum();
        assert!(!whole.stopped && whole.state.is_none() && whole.t == 0.5 + 12.0 * 0.01, "{variant}");
        let mut state: Option<WaveformState<f32>> = None;
        for last in 1..count {
            let part = run(Some(last), state.as_ref());
            assert!(part.stopped && part.t < whole.t, "{variant}: {last} of {count}");
            let steps: usize = part.report.window_steps.iter().sum();
            let ended: usize = part.report.iterations.iter().sum();
            assert_eq!((part.t, ended + part.report.unfinished.len()), (0.5 + steps as f64 * 0.01, last));
            if steps == 0 {
                assert!(part.solution == y0, "{variant}");
            }
            state = part.state;
            assert!(state.is_some());
        }
        let last = run(None, state.as_ref());
        assert!(last.solution == whole.solution && !last.stopped, "{variant}");
        assert_eq!(last.report.error_history, whole.report.error_history, "{variant}");
        assert_eq!(last.report.window_steps, whole.report.window_steps, "{variant}");
        if let Some(state) = &state {
            let mut other = options.clone();
            other.windows = 3;
            let control = Control { resume: Some(state), ..Control::default() };
            let error = relax_with(context, system, 0.5, &y0, &other, control);
            assert!(adaptive.is_some() || error.is_err(), "{variant}");
            let (small, _) = &systems()[3];
            let control = Control { resume: Some(state), ..Control::default() };
            let error = relax_with(context, small, 0.5, &start(small), &options, control).unwrap_err();
            assert!(error.to_string().contains("resume"), "{variant}: {error}");
        }
    }
    let mut options = WaveformOptions::new(0.01, 4);
    options.set_variant("device", [1; 3]).unwrap();
    let control = Control { keep_state: true, ..Control::default() };
    let error = relax_on_team_with(&pair(context), system, 0.5, &y0, &options, Sharing::Limited, control).unwrap_err();
    assert!(error.to_string().contains("several devices"), "{error}");
}

/// Two contexts of the same device.
fn pair(context: &Context) -> Team {
    let other = contexts_like(context, 1);
    Team::of_contexts([vec![context.clone()], other].concat()).unwrap()
}

/// A device as a block: after w iterations the first w steps have the bits of one device, or w times as many as a halo serves.
#[test]
fn devices_are_blocks() {
    let all = systems();
    for context in contexts() {
        let team = pair(&context);
        for (number, name, steps_per_exchange) in [(0, "rk4", 1), (1, "heun2", 1), (3, "euler", 1), (2, "euler", 2)] {
            let (system, _) = &all[number];
            let y0 = start::<f32>(system);
            let mut options = WaveformOptions::new(0.01, 8);
            options.method = Method::named(name).unwrap();
            let mut team_options = TeamOptions::default();
            team_options.steps_per_exchange = Some(steps_per_exchange);
            let relaxed = |options: &WaveformOptions| {
                relax_by_devices(&team, system, 0.5, &y0, options, &team_options, None).unwrap()
            };
            let expected = plain(&context, system, &y0, &options);
            let whole = relaxed(&options);
            assert!(whole.solution == expected[8], "{name}");
            assert!((2..=8 / steps_per_exchange + 1).contains(&whole.report.iterations[0]), "{:?}", whole.report);
            assert!(whole.report.error_history[0].last() == Some(&0.0) && whole.report.memory_bytes > 0);
            for count in [1, 3] {
                options.stop = Stop::Iterations(count);
                options.steps = count * steps_per_exchange;
                assert!(relaxed(&options).solution == expected[options.steps], "{name} {count}");
            }
            // Windows of several lengths, one of them no multiple of the steps that a halo serves.
            (options.stop, options.steps, options.windows) = (Stop::Difference(0.0), 8, 2);
            (options.guess, options.adaptive) = (Guess::Linear, Some(2));
            let adaptive = relaxed(&options);
            assert!(adaptive.solution == expected[8] && adaptive.report.iterations.len() > 2, "{:?}", adaptive.report);
        }
        // The same through the variant's name; one device has the solution at once.
        let (system, _) = &all[0];
        let y0 = start::<f32>(system);
        let mut options = WaveformOptions::new(0.01, 4);
        options.set_variant("device", [1; 3]).unwrap();
        assert_eq!(options.variant(), "device");
        let expected = plain(&context, system, &y0, &options);
        let mut seen = Vec::new();
        let mut see = |t: f64, y: &[f32]| {
            seen.push((t, y.to_vec()));
            Ok(())
        };
        let shared = relax_on_team(&team, system, 0.5, &y0, &options, Sharing::Limited, Some(&mut see)).unwrap();
        assert!(shared.solution == expected[4] && seen == [(0.54, expected[4].clone())]);
        let alone = relax(&context, system, 0.5, &y0, &options).unwrap();
        assert!(alone.solution == expected[4] && alone.report.iterations == [1]);
        let text = explain::<f32>(&context, system, &options).unwrap();
        assert!(text.contains("1 rows of 26 components") && text.contains("at most 5 iterations"), "{text}");
        let few = System::builder(Grid::unit(&[1])).field("u", "-u").build().unwrap();
        let error = relax_on_team(&team, &few, 0.0, &[1.0_f32], &options, Sharing::Limited, None);
        assert!(error.unwrap_err().to_string().contains("at most 1"));
    }
}

/// Steps past the stability limit are refused with the largest that can be stable; what blows up later is found where it happens.
#[test]
fn stability_and_values_that_are_not_finite() {
    // The largest eigenvalue is close to -4: stable up to 0.5 with Euler's method, to 2.785 / 4 with that of Runge and Kutta.
    let heat = System::builder(Grid::unit(&[40])).field("u", "u[-1] - 2*u + u[1]").build().unwrap();
    let y0: Vec<f64> = (0..40).map(|k| f64::from(k % 5)).collect();
    for context in contexts() {
        if context.require::<f64>().is_err() {
            continue;
        }
        for (name, h, limit) in [("euler", 0.6, 0.5), ("rk4", 1.0, 0.7)] {
            let mut options = WaveformOptions::new(h, 4);
            options.method = Method::named(name).unwrap();
            for variant in ["component", "block-boundary", "device"] {
                options.set_variant(variant, [8, 1, 1]).unwrap();
                let error = relax(&context, &heat, 0.0, &y0, &options).unwrap_err();
                let Error::Unstable { method, h: refused, limit: told } = &error else { panic!("{error}") };
                assert!(method == name && *refused == h, "{error}");
                // The limit of the method over all directions, at most that of an imaginary eigenvalue.
                assert!(*told > 0.95 * limit && *told < 1.3 * limit, "{error}");
            }
            options.set_variant("component", [1; 3]).unwrap();
            options.h = 0.45;
            relax(&context, &heat, 0.0, &y0, &options).unwrap();
            (options.h, options.watch_stability) = (h, false);
            relax(&context, &heat, 0.0, &y0, &options).unwrap();
        }
        // u' = u^2 from 1 at component 7 of 12: blows up in the third window, long after a step that is stable.
        let square = System::builder(Grid::unit(&[12])).field("u", "u*u + min(u[1], 0)").build().unwrap();
        let mut y0 = vec![0.0; 12];
        y0[7] = 1.0;
        for variant in ["component", "block", "block-boundary", "device"] {
            let mut options = WaveformOptions::new(0.5, 32);
            options.windows = 4;
            options.set_variant(variant, [4, 1, 1]).unwrap();
            let error = relax(&context, &square, 0.0, &y0, &options).unwrap_err();
            let Error::Waveform { window, iteration, component } = &error else { panic!("{error}") };
            assert_eq!((*window, *component), (1, 7), "{variant}: {error}");
            assert!(*iteration >= 1 && error.to_string().contains("component 8 (counted from 1)"), "{error}");
        }
    }
}

/// Three devices of which one has the other family of kernels: blocks by given and by measured weights.
#[test]
fn a_team_of_unequal_devices() {
    let all = systems();
    for context in contexts().iter().take(1) {
        let other = match context.family() {
            KernelFamily::Cpu => KernelFamily::Gpu,
            KernelFamily::Gpu => KernelFamily::Cpu,
        };
        let unlike = contexts_of(other)[context.device().index].clone();
        let team = Team::of_contexts([vec![context.clone(), unlike], contexts_like(context, 1)].concat()).unwrap();
        let (system, block) = &all[0];
        let y0 = start::<f32>(system);
        let mut options = WaveformOptions::new(0.01, 6);
        let expected = plain(context, system, &y0, &options).pop().unwrap();
        options.windows = 2;
        for variant in ["block-boundary", "device"] {
            options.set_variant(variant, *block).unwrap();
            for (weights, balance) in [(vec![1.0, 4.0, 2.0], false), (Vec::new(), true)] {
                (options.weights, options.balance) = (weights, balance);
                let shared = relax_on_team(&team, system, 0.5, &y0, &options, Sharing::EdgesFirst, None).unwrap();
                assert!(shared.solution == expected, "{variant} {:?}", options.weights);
                assert!(shared.report.seconds > 0.0);
            }
            for wrong in [vec![1.0, 2.0], vec![1.0, 0.0, 1.0], vec![1.0, f64::NAN, 1.0]] {
                options.weights = wrong;
                let error = relax_on_team(&team, system, 0.5, &y0, &options, Sharing::Limited, None).unwrap_err();
                assert_eq!(error.id(), "clinalg:argument:value", "{error}");
            }
            options.weights = Vec::new();
        }
        // Two blocks for three devices, which have rows enough.
        options.set_variant("block-boundary", [13, 5, 1]).unwrap();
        let error = relax_on_team(&team, system, 0.5, &y0, &options, Sharing::Limited, None).unwrap_err();
        assert!(error.to_string().contains("at least 3"), "{error}");
    }
}

/// Four ranks with messages between them: what an inner rank sends is what the model of a cluster says, and rank 0 has the bits of one device.
#[test]
fn ranks_send_what_the_model_says() {
    let (system, _) = &systems()[2];
    let y0 = start::<f32>(system);
    let link = Link { latency: 0.0, bandwidth: f64::INFINITY };
    let method = Method::named("heun2").unwrap();
    let cluster = WaveformModel::new(system, &method, 4, [(1, 1.0), (2, 2.0)], link).unwrap();
    for context in contexts().iter().take(1) {
        let own = contexts_like(context, 4);
        let team = |network: Box<dyn Network>| {
            let rank = network.local().start;
            Team::with_network(vec![own[rank].clone()], network).unwrap()
        };
        let mut options = WaveformOptions::new(0.01, 6);
        options.method = method.clone();
        options.watch_stability = false;
        let relaxed = |iterations: usize| {
            let mut options = options.clone();
            options.stop = Stop::Iterations(iterations);
            let done = simulate(4, link, |network| {
                let team_options = TeamOptions::default();
                relax_by_devices(&team(network), system, 0.5, &y0, &options, &team_options, None)
            });
            done.unwrap()
        };
        let (two, three) = (relaxed(2), relaxed(3));
        let more = |rank: usize| {
            let (a, b) = (two[rank].1, three[rank].1);
            [b.exchanges - a.exchanges, b.bytes - a.bytes, b.gathers - a.gathers]
        };
        let bytes = 6 * cluster.bytes_per_step();
        assert_eq!([more(0), more(1), more(2)], [[1, bytes / 2, 1], [1, bytes, 1], [1, bytes, 1]]);
        let whole = relaxed(7);
        let expected = plain(context, system, &y0, &options).pop().unwrap();
        assert!(whole[0].0.solution == expected);
        // An exchange before every step, or before every second one.
        for (steps, exchanges) in [(1, 6), (2, 3)] {
            let done = simulate(4, link, |network| {
                let mut team_options = TeamOptions::default();
                team_options.steps_per_exchange = Some(steps);
                let mut stepper = TeamStepper::<f32>::new(&team(network), &method, system, &team_options)?;
                stepper.set(std::slice::from_ref(&y0))?;
                stepper.advance(&[0.5, 0.51, 0.52, 0.53, 0.54, 0.55], 0.01)
            });
            let sent = done.unwrap()[1].1;
            assert_eq!(sent, Traffic { exchanges, bytes: exchanges * steps * cluster.bytes_per_step(), gathers: 1 });
        }
    }
}

/// Waveforms at boundaries alone, private copies, first guesses and adaptive windows change no bit of an iterate.
#[test]
fn variants_guesses_and_teams() {
    for context in contexts() {
        let team = pair(&context);
        let all = systems();
        for (system, block) in [&all[0], &all[1], &all[3]].map(|(system, block)| (system, *block)) {
            let y0 = start::<f32>(system);
            let mut options = WaveformOptions::new(0.01, 9);
            (options.partition, options.stop) = (Partition::Block(block), Stop::Iterations(3));
            let all = relax_sequentially(system, 0.5, &y0, &options).unwrap();
            options.storage = Storage::Boundary;
            let sequential = relax_sequentially(system, 0.5, &y0, &options).unwrap();
            assert!(all.solution == sequential.solution);
            let got = relax(&context, system, 0.5, &y0, &options).unwrap();
            assert!(got.solution == sequential.solution && got.waveform.is_empty(), "{system:?}");
            let (a, b) = (&got.report.error_history[0], &sequential.report.error_history[0]);
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-5 * b), "{a:?} {b:?}");
            for sharing in [Sharing::General, Sharing::Limited, Sharing::EdgesFirst] {
                let shared = relax_on_team(&team, system, 0.5, &y0, &options, sharing, None).unwrap();
                assert!(shared.solution == got.solution, "{sharing:?} {system:?}");
            }
            // Windows of 8 steps and fewer, iterated to the end.
            (options.stop, options.steps, options.windows, options.adaptive) = (Stop::Difference(0.0), 24, 3, Some(4));
            for guess in [Guess::Constant, Guess::Previous, Guess::Linear] {
                options.guess = guess;
                let expected = relax_sequentially(system, 0.5, &y0, &options).unwrap();
                let shared = relax_on_team(&team, system, 0.5, &y0, &options, Sharing::Limited, None).unwrap();
                assert!(shared.solution == expected.solution, "{guess:?} {system:?}");
                let steps = &shared.report.window_steps;
                assert_eq!(
                    (&shared.report.iterations, steps),
                    (&expected.report.iterations, &expected.report.window_steps)
                );
                assert!(steps.iter().sum::<usize>() == 24 && steps.len() > 3, "{steps:?}");
                let mut whole = options.clone();
                (whole.storage, whole.keep) = (Storage::All, true);
                let got = relax(&context, system, 0.5, &y0, &whole).unwrap();
                assert!(got.solution == expected.solution, "{guess:?} {system:?}");
                let all = relax_sequentially(system, 0.5, &y0, &whole).unwrap();
                assert_eq!((got.report.iterations, got.waveform), (all.report.iterations, all.waveform));
            }
        }
        for (system, _) in &all[..1] {
            let y0 = start::<f32>(system);
            let mut options = WaveformOptions::new(0.01, 5);
            (options.stop, options.keep) = (Stop::Iterations(3), true);
            let expected = relax_sequentially(system, 0.5, &y0, &options).unwrap();
            for copies in [Copies::All, Copies::AccessDistance] {
                options.copies = copies;
                let got = relax(&context, system, 0.5, &y0, &options).unwrap();
                assert!(got.waveform == expected.waveform, "{copies:?} {system:?}");
                assert!(got.report.memory_bytes > expected.report.memory_bytes);
            }
        }
    }
}

#[test]
fn windows_and_guesses() {
    for context in contexts() {
        let (system, _) = &systems()[0];
        let y0 = start::<f32>(system);
        let expected = plain(&context, system, &y0, &WaveformOptions::new(0.01, 12)).pop().unwrap();
        for (windows, guess) in
            [(1, Guess::Constant), (4, Guess::Constant), (4, Guess::Previous), (12, Guess::Previous)]
        {
            let mut options = WaveformOptions::new(0.01, 12);
            (options.windows, options.guess, options.partition) = (windows, guess, Partition::Point);
            let got = relax(&context, system, 0.5, &y0, &options).unwrap();
            assert_eq!(got.solution, expected, "{windows} {guess:?}");
            assert_eq!(got.report.iterations.len(), windows);
        }
    }
}

/// The specification's counts for the Brusselator at N = 100, s = 100; and with neighbours coupled as strongly as at N = 1000,
/// where Jacobi iteration comes close to the 26 that finite termination allows, and blocks take less than half of it.
#[test]
fn iterations_of_the_brusselator() {
    let problem = problems::problem("bruss2d-mix", 100).unwrap();
    for context in contexts() {
        if context.require::<f64>().is_err() {
            continue;
        }
        for (partition, expected) in [(Partition::Component, 6), (Partition::Block([32, 32, 1]), 4)] {
            let mut options = WaveformOptions::new(1e-4, 100);
            (options.partition, options.stop) = (partition, Stop::Difference(1e-3));
            let got = relax(&context, &problem.system, problem.t0, &problem.y0().unwrap(), &options).unwrap();
            assert_eq!(got.report.iterations, [expected], "{partition:?}");
        }
        let mut strong = problem.system.clone();
        strong.set_parameter("scale", 999.0 * 999.0).unwrap();
        for (partition, expected) in [(Partition::Component, 25), (Partition::Block([32, 32, 1]), 11)] {
            let mut options = WaveformOptions::new(1e-4, 25);
            (options.partition, options.stop) = (partition, Stop::Difference(1e-3));
            let got = relax(&context, &strong, problem.t0, &problem.y0().unwrap(), &options).unwrap();
            assert_eq!(got.report.iterations, [expected], "{partition:?}");
        }
    }
}

/// After w iterations the first w steps are those of Euler's method on the device, to the last bit, in every variant; iterates of
/// the variants that share blocks are the same.
fn check_variants<T: Real + PartialEq>(
    context: &Context,
    system: &System,
    (variants, block): (&[&str], [usize; 3]),
    like: Option<&System>,
) {
    let y0 = start::<T>(system);
    let base = WaveformOptions::new(0.01, 4);
    let expected = plain(context, system, &y0, &base);
    for variant in variants {
        let mut options = base.clone();
        options.set_variant(variant, block).unwrap();
        let whole = relax(context, system, 0.5, &y0, &options).unwrap();
        assert!(whole.solution == expected[4] && whole.report.iterations[0] <= 5, "{variant} {system:?}");
        options.stop = Stop::Iterations(2);
        options.keep = options.storage == Storage::All;
        let two = relax(context, system, 0.5, &y0, &options).unwrap();
        for (k, row) in two.waveform.chunks(y0.len()).take(3).enumerate() {
            assert!(row == &expected[k][..], "{variant}: row {k}");
        }
        let other = relax_sequentially(like.unwrap_or(system), 0.5, &y0, &options).unwrap();
        for (a, b) in two.solution.iter().zip(&other.solution) {
            let close = (a.into_f64() - b.into_f64()).abs() <= 20.0 * T::epsilon().into_f64() * b.into_f64().abs();
            assert!(close && (like.is_none() || a == b), "{variant}: {a} {b}");
        }
    }
}

/// Sums over all points: more of them than are added at once, and fields of their own in each sum.
#[test]
fn sums_over_all_points() {
    let line = System::builder(Grid::unit(&[300]))
        .parameter("k", 0.01)
        .field("p", "v + 0.1*p")
        .field("v", "k*sum((p' - p)*(1 + v'*v)) - k*v*sum(v')")
        .build()
        .unwrap();
    let plane = System::builder(Grid::unit(&[6, 5]))
        .field("u", "0.1*sum(u'*(x' - x)) - u[1,0]")
        .layout(Layout::FieldWise)
        .build()
        .unwrap();
    let bodies = problems::problem("nbody", 20).unwrap().system;
    for context in contexts() {
        check_variants::<f32>(&context, &line, (&["copy-all", "block"], [70, 1, 1]), None);
        if context.require::<f64>().is_ok() {
            check_variants::<f64>(&context, &plane, (&["point", "block-boundary"], [4, 3, 1]), None);
            check_variants::<f64>(&context, &bodies, (&["component", "device"], [8, 1, 1]), None);
        }
        // Blocks of two devices: every point is read by the other one.
        let y0 = start::<f32>(&plane);
        let mut options = WaveformOptions::new(0.01, 4);
        options.method = Method::named("heun2").unwrap();
        let expected = plain(&context, &plane, &y0, &options).pop().unwrap();
        options.set_variant("block-boundary", [2, 2, 1]).unwrap();
        for sharing in [Sharing::General, Sharing::Limited] {
            let got = relax_on_team(&pair(&context), &plane, 0.5, &y0, &options, sharing, None).unwrap();
            assert!(got.solution == expected, "{sharing:?}");
        }
    }
}

/// OpenCL C: its own component is that of the current iterate, others within the declared distance are those of the previous
/// one. The same system in formulas has the same bits.
#[test]
fn opencl_c_with_a_declared_distance() {
    let formulas = System::builder(Grid::unit(&[50]))
        .parameter("a", 0.3)
        .field("u", "a*(u[-2] - 2*u + u[2]) + t*u")
        .boundary(Boundary::Copy)
        .build()
        .unwrap();
    let body = "const idx low = I < 2 ? 0 : I - 2, high = I + 2 >= N ? N - 1 : I + 2;
        return a * (Y(low) - (REAL)2 * Y(I) + Y(high)) + T * Y(I);";
    // SAFETY: it reads components within a distance of 2 by `Y`.
    let snippet = unsafe { System::snippet(50, body, 2) }.parameter("a", 0.3).build().unwrap();
    for context in contexts() {
        check_variants::<f32>(
            &context,
            &snippet,
            (&["component", "copy-access-distance", "block", "device"], [16, 1, 1]),
            Some(&formulas),
        );
        let y0 = start::<f32>(&snippet);
        let mut options = WaveformOptions::new(0.01, 4);
        options.method = Method::named("rk4").unwrap();
        options.set_variant("block-boundary", [16, 1, 1]).unwrap();
        let alone = relax(&context, &snippet, 0.5, &y0, &options).unwrap();
        assert!(alone.solution == plain(&context, &snippet, &y0, &options)[4]);
        let shared = relax_on_team(&pair(&context), &snippet, 0.5, &y0, &options, Sharing::Limited, None).unwrap();
        assert!(shared.solution == alone.solution);
        // Two points on either side of each of the three borders between the blocks.
        assert_eq!(shared.report.words_per_component, 4.0 * 4.0 * 12.0 / 50.0);
    }
}

#[test]
fn what_cannot_be_relaxed_is_an_error() {
    let (system, _) = &systems()[0];
    let y0 = start::<f32>(system);
    for context in contexts() {
        let fails = |system: &System, y0: &[f32], change: &dyn Fn(&mut WaveformOptions)| {
            let mut options = WaveformOptions::new(0.01, 4);
            change(&mut options);
            relax(&context, system, 0.0, y0, &options).unwrap_err()
        };
        assert_eq!(fails(system, &y0[1..], &|_| ()).id(), "clinalg:argument:value");
        assert_eq!(fails(system, &y0, &|o| o.windows = 3).id(), "clinalg:argument:value");
        assert_eq!(fails(system, &y0, &|o| o.partition = Partition::Block([14, 1, 1])).id(), "clinalg:argument:value");
        let error = fails(system, &y0, &|o| o.steps = 1 << 40);
        assert!(error.id() == "clinalg:ode:memory" && error.to_string().contains("waveform"), "{error}");
        assert!(matches!(fails(system, &y0, &|o| o.h = 1e30), Error::Unstable { .. }));
        let unwatched = |o: &mut WaveformOptions| (o.h, o.watch_stability) = (1e30, false);
        assert!(matches!(fails(system, &y0, &unwatched), Error::Waveform { window: 0, .. }));
        let several = fails(system, &y0, &|o| o.method = Method::named("ab3").unwrap());
        assert!(several.to_string().contains("Runge-Kutta"), "{several}");
        // SAFETY: it reads one component by `Y`, of this index or one of 0 to N - 1.
        let far = unsafe { System::snippet(20, "return Y((I + 5) % N) - Y(I);", 2) }.build().unwrap();
        for variant in ["component", "copy-access-distance", "block", "block-boundary", "device"] {
            let error = fails(&far, &[1.0; 20], &|o| o.set_variant(variant, [4, 1, 1]).unwrap());
            assert!(matches!(error, Error::Access { read: Some(15), distance: 2, .. }), "{variant}: {error}");
        }
        let error = relax_sequentially(&far, 0.0, &[1.0; 20], &WaveformOptions::new(0.01, 4)).unwrap_err();
        assert_eq!(error.id(), "clinalg:ode:variant");
        let text = explain::<f32>(&context, system, &WaveformOptions::new(0.01, 4)).unwrap();
        assert!(text.contains("234 blocks") && text.contains("9360 bytes"), "{text}");
        assert!(text.contains("an iteration takes 2 times as long") && text.contains("`auto` never"), "{text}");
        let mut options = WaveformOptions::new(0.01, 4);
        options.set_variant("copy-all", [1; 3]).unwrap();
        let text = explain::<f32>(&context, system, &options).unwrap();
        assert!(text.contains(&format!("{} bytes", 9360 + 4 * 234 * 234)) && text.contains("234 values"), "{text}");
        // Of 13 by 9 points in blocks of 4 by 4 there are 82 with another block beside them.
        options.set_variant("block-boundary", [4, 4, 1]).unwrap();
        let text = explain::<f32>(&context, system, &options).unwrap();
        assert!(text.contains("block-boundary: 12 blocks") && text.contains("2.803 words"), "{text}");
        for (name, _) in VARIANTS {
            options.set_variant(name, [4, 4, 1]).unwrap();
            assert_eq!(options.variant(), name);
        }
        assert_eq!(options.set_variant("nope", [1; 3]).unwrap_err().id(), "clinalg:argument:value");
        assert_eq!(fails(system, &y0, &|o| o.storage = Storage::Boundary).id(), "clinalg:argument:value");
        assert_eq!(
            fails(system, &y0, &|o| (o.copies, o.partition) = (Copies::All, Partition::Point)).id(),
            "clinalg:argument:value"
        );
        assert_eq!(fails(system, &y0, &|o| o.adaptive = Some(0)).id(), "clinalg:argument:value");
        // 10^5 components with a copy of all each.
        let large = System::builder(Grid::unit(&[400, 300])).field("u", "u[1,0]").build().unwrap();
        let many = vec![1.0; large.components()];
        let error = fails(&large, &many, &|o| o.copies = Copies::All);
        assert!(error.id() == "clinalg:ode:memory" && error.to_string().contains("copy-all: 57604800000"), "{error}");
    }
}
