//! Device steps against plain Rust, and fused against basic to the last bit, in both kernel families.

use crate::common::{contexts, contexts_like, contexts_of};
use clinalg::runtime::DeviceKind;
use clinalg::team::{Network, Team};
use clinalg::{Context, KernelFamily, Real};
use clinalg_ode::integrate::{
    Event, Integrator, Norm, Options, Stepper, Stored, Tolerance, integrate, integrate_fixed,
};
use clinalg_ode::problems::{Problem, problem};
use clinalg_ode::reference::Reference;
use clinalg_ode::team::{Link, TeamOptions, TeamStepper, simulate};
use clinalg_ode::{
    Boundary, Description, DeviceOptions, DeviceStepper, Grid, Layout, METHODS, Method, Rhs, Side, System, Variant,
};
use clinalg_testing::long;

/// Reaction and diffusion of two fields, with boundary values that depend on time on one side.
fn system(n: &[usize], boundary: Boundary, layout: Option<Layout>) -> System {
    let lap = |f: &str| match n.len() {
        1 => format!("({f}[-1] - 2*{f} + {f}[1])"),
        2 => format!("({f}[-1,0] + {f}[1,0] + {f}[0,-1] + {f}[0,1] - 4*{f} + 0.1*{f}[-1,1])"),
        _ => format!("({f}[-1,0,0] + {f}[1,0,0] + {f}[0,-1,0] + {f}[0,1,0] + {f}[0,0,-1] + {f}[0,0,1] - 6*{f})"),
    };
    let mut b = System::builder(Grid::unit(n))
        .parameter("a", 0.3)
        .field("u", format!("1 + u^2*v - 4.4*u + a*{}", lap("u")))
        .field("v", format!("3.4*u - u^2*v + a*{} + if(t > 0.05 && x < 0.5, 0.25, i/10)", lap("v")))
        .boundary(boundary.clone());
    if boundary != Boundary::Periodic {
        b = b.side(0, Side::High, Boundary::Value(vec!["1 + t*x".into(), "a".into()]));
    }
    match layout {
        Some(layout) => b.layout(layout),
        None => b,
    }
    .build()
    .unwrap()
}

fn start<T: Real>(system: &System) -> Vec<T> {
    let y = system.sample(|f, [x, y, z]| 1.0 + 0.3 * f as f64 + (3.0 * x + 2.0 * y + z).sin() / 3.0);
    y.into_iter().map(T::from_f64).collect()
}

const TOLERANCE: Tolerance = Tolerance { relative: 1e-3, absolute: 1e-4, norm: Norm::Rms };

/// Norms and solution of some steps.
fn steps<T: Real>(stepper: &mut dyn Stepper<T>, inputs: &[Vec<T>], norm: Norm) -> (Vec<Option<f64>>, Vec<T>) {
    stepper.set(inputs).unwrap();
    let tolerance = Tolerance { norm, ..TOLERANCE };
    let mut norms = Vec::new();
    for k in 0..3 {
        // A step that is thrown away, then one that is taken.
        stepper.trial(0.02 * f64::from(k), 0.03, &tolerance).unwrap();
        norms.push(stepper.trial(0.02 * f64::from(k), 0.02, &tolerance).unwrap());
        stepper.accept().unwrap();
    }
    (norms, stepper.solution().unwrap())
}

fn compare<T: Real>(context: &Context, method: &Method, system: &System, rounding: f64) {
    let inputs: Vec<Vec<T>> = (0..method.inputs().len())
        .map(|k| start::<T>(system).into_iter().map(|v| v + T::from_f64(0.01 * k as f64)).collect())
        .collect();
    let stepper = |variant| DeviceStepper::<T>::new(context, method, system, variant).unwrap();
    let (mut basic, mut fused) = (stepper(Variant::Basic), stepper(Variant::Fused));
    for norm in [Norm::Rms, Norm::Max] {
        let expected = steps(&mut Reference::new(method, system), &inputs, norm);
        let (basic, fused) = (steps(&mut basic, &inputs, norm), steps(&mut fused, &inputs, norm));
        let what = format!("{} {:?} {:?}", method.name(), system.grid().shape(), context.family());
        let bits = |v: &[T]| v.iter().map(|v| v.into_f64().to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&basic.1), bits(&fused.1), "{what}");
        assert_eq!(basic.0, fused.0, "{what}");
        for (got, want) in basic.1.iter().zip(&expected.1) {
            let (got, want) = (got.into_f64(), want.into_f64());
            assert!((got - want).abs() <= rounding * want.abs().max(1.0), "{what}: {got} instead of {want}");
        }
        for (got, want) in basic.0.iter().zip(&expected.0) {
            match (got, want) {
                (Some(got), Some(want)) => {
                    let noise = rounding / TOLERANCE.absolute;
                    assert!((got - want).abs() <= 1e-6 * want + noise, "{what}: norm {got} instead of {want}");
                }
                (got, want) => assert_eq!(got, want),
            }
        }
    }
}

#[test]
fn every_method_in_both_variants() {
    let system = system(&[19, 7], Boundary::Mirror, None);
    for context in contexts() {
        for name in METHODS {
            // On CPUs one method of each kind, most of them in one family of the kernels.
            let slow = context.device().kind == DeviceKind::Cpu && !long();
            let some: &[&str] = match context.family() {
                KernelFamily::Cpu => &["bs32", "peer4", "ab4"],
                KernelFamily::Gpu => &["rk4", "bs32", "verner65", "pirk-lobatto-iiic-6", "peer8"],
            };
            if !slow || some.contains(&name) {
                compare::<f64>(&context, &Method::named(name).unwrap(), &system, 1e-12);
            }
        }
    }
}

/// Grids smaller than a work-group and larger, with every boundary in every number of dimensions and both layouts.
fn cases() -> Vec<(&'static [usize], Boundary, Layout)> {
    use Boundary::{Copy, Mirror, Periodic};
    use Layout::{FieldWise, Interleaved};
    vec![
        (&[1], Copy, FieldWise),
        (&[2], Mirror, FieldWise),
        (&[257], Mirror, Interleaved),
        (&[600], Periodic, FieldWise),
        (&[2, 3], Periodic, Interleaved),
        (&[64, 5], Copy, FieldWise),
        (&[3, 2, 4], Mirror, FieldWise),
        (&[9, 1, 30], Periodic, Interleaved),
        (&[300, 4], Mirror, Interleaved),
    ]
}

#[test]
fn every_grid_boundary_and_layout() {
    let method = Method::named("bs32").unwrap();
    let short = Method::named("heun2").unwrap();
    for context in contexts() {
        let here = |k: &usize| long() || k.is_multiple_of(2) == (context.family() == KernelFamily::Gpu);
        for (k, (shape, boundary, layout)) in cases().into_iter().enumerate().filter(|(k, _)| here(k)) {
            // Without the long cases each in one family of the kernels, and errors are estimated on every third grid.
            let method = if long() || k % 3 == 2 { &method } else { &short };
            compare::<f64>(&context, method, &system(shape, boundary, Some(layout)), 1e-13);
        }
        compare::<f32>(&context, &method, &system(&[33, 4], Boundary::Mirror, None), 2e-5);
    }
}

/// Vectors that CPUs store past their caches.
#[test]
fn vectors_larger_than_caches() {
    let method = Method::named("heun2").unwrap();
    for (shape, layout) in [(&[(1 << 21) + 13][..], Layout::Interleaved), (&[16, 1 << 17], Layout::FieldWise)] {
        let near = if shape.len() == 1 { "[1]" } else { "[1,0]" };
        let system = System::builder(Grid::unit(shape))
            .field("u", format!("v - u{near}"))
            .field("v", format!("u - v{near}"))
            .layout(layout)
            .build()
            .unwrap();
        let inputs = [start::<f64>(&system)];
        let expected = steps(&mut Reference::new(&method, &system), &inputs, Norm::Max).1;
        for context in &contexts_of(KernelFamily::Cpu) {
            for variant in [Variant::Basic, Variant::Fused] {
                let mut stepper = DeviceStepper::<f64>::new(context, &method, &system, variant).unwrap();
                assert!(stepper.sources().iter().any(|s| s.contains("PAST8(vload8")));
                let got = steps(&mut stepper, &inputs, Norm::Max).1;
                let off = got.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(off < 1e-14, "{shape:?} {variant:?}: {off}");
            }
        }
    }
}

/// Stages recovered: the same bits in every variant, and rounding away from the method as it is written.
#[test]
fn recovered_stages() {
    let system = system(&[19, 9], Boundary::Mirror, None);
    let inputs = [start::<f64>(&system)];
    for name in ["rk4", "dopri54"] {
        let plain = Method::named(name).unwrap();
        let method = plain.with_stage_recovery();
        let weight = method.graph().weight();
        assert!(weight > 1.0 && weight < 1e4, "{weight}");
        let expected = steps(&mut Reference::new(&plain, &system), &inputs, Norm::Max).1;
        for context in contexts() {
            let slow = context.device().kind == DeviceKind::Cpu && !long();
            if slow && name == "dopri54" {
                continue;
            }
            let all = [Variant::Basic, Variant::Fused, Variant::Overlapped].map(|variant| {
                let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, variant).unwrap();
                steps(&mut stepper, &inputs, Norm::Max)
            });
            assert_eq!(all[0], all[1], "{name} fused {:?}", context.family());
            assert_eq!(all[0], all[2], "{name} overlapped {:?}", context.family());
            let off = all[0].1.iter().zip(&expected).map(|(a, b)| (a - b).abs() / b.abs().max(1.0));
            let off = off.fold(0.0, f64::max);
            assert!(off > 0.0 && off < 1e-14 * weight, "{name}: {off} with the weight {weight}");
        }
    }
}

#[test]
fn whole_integrations_agree() {
    let system = system(&[20, 10], Boundary::Mirror, None);
    let y0 = start::<f64>(&system);
    for context in contexts() {
        let options = Options { relative: 1e-8, absolute: 1e-10, stops: vec![0.05], ..Options::default() };
        let method = Method::named("dopri54").unwrap();
        let mut reference = Reference::new(&method, &system);
        let expected = integrate(&mut reference, 0.0, 0.3, &y0, &options, &mut |_, _| ()).unwrap();
        for variant in [Variant::Basic, Variant::Fused] {
            let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, variant).unwrap();
            let got = integrate(&mut stepper, 0.0, 0.3, &y0, &options, &mut |_, _| ()).unwrap();
            assert_eq!(got.1.accepted, expected.1.accepted);
            assert!(got.0.iter().zip(&expected.0).all(|(a, b)| (a - b).abs() < 1e-9));
        }
        for name in ["ab4", "peer6"] {
            let method = Method::named(name).unwrap();
            let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Fused).unwrap();
            let (y, _) = integrate_fixed(&mut stepper, 0.06, 0.2, &y0, 140).unwrap();
            let mut reference = Reference::new(&method, &system);
            let (expected, _) = integrate_fixed(&mut reference, 0.06, 0.2, &y0, 140).unwrap();
            assert!(y.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{name}");
        }
    }
}

#[test]
fn parameters_change_without_a_new_build() {
    for context in contexts() {
        let mut system = system(&[12, 5], Boundary::Periodic, None);
        let method = Method::named("rk4").unwrap();
        let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Fused).unwrap();
        stepper.set_parameter("a", 0.05).unwrap();
        assert!(stepper.set_parameter("b", 0.05).is_err());
        system.set_parameter("a", 0.05).unwrap();
        let inputs = [start::<f64>(&system)];
        let got = steps(&mut stepper, &inputs, Norm::Rms).1;
        let expected = steps(&mut Reference::new(&method, &system), &inputs, Norm::Rms).1;
        assert!(got.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13));
        assert!(stepper.explain().contains("4 kernels, 13 words"), "{}", stepper.explain());
        assert_eq!(stepper.bytes_per_step(), 13 * 8 * Rhs::<f64>::len(&system) as u64);
    }
}

#[test]
fn a_norm_with_nan_is_nan() {
    for context in contexts() {
        let system = System::builder(Grid::unit(&[600])).field("u", "if(i == 300, log(-1), 0)").build().unwrap();
        let method = Method::named("bs32").unwrap();
        for variant in [Variant::Basic, Variant::Fused] {
            let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, variant).unwrap();
            stepper.set(&[vec![1.0; 600]]).unwrap();
            for norm in [Norm::Rms, Norm::Max] {
                let norm = stepper.trial(0.0, 0.1, &Tolerance { norm, ..TOLERANCE }).unwrap();
                assert!(norm.unwrap().is_nan());
            }
        }
    }
}

/// A team of contexts on the device of `like`, of its family.
fn team(like: &Context, ranks: usize) -> Team {
    Team::of_contexts(contexts_like(like, ranks)).unwrap()
}

fn options(weights: &[f64], variant: Variant, steps: usize, steps_per_exchange: Option<usize>) -> TeamOptions {
    let mut options = TeamOptions::default();
    options.device = DeviceOptions { variant, steps, tile: None };
    options.weights = weights.to_vec();
    options.steps_per_exchange = steps_per_exchange;
    options
}

/// Steps of a fixed size, one by one and together, leave the bits of one device.
fn team_has_the_bits_of_one_device<T: Real>(context: &Context, method: &str, system: &System, how: &TeamOptions) {
    let method = Method::named(method).unwrap().without_error();
    let what = format!("{} {:?} {:?} {how:?}", method.name(), system.grid().shape(), context.family());
    let inputs: Vec<Vec<T>> = (0..method.inputs().len())
        .map(|k| start::<T>(system).into_iter().map(|v| v + T::from_f64(0.01 * k as f64)).collect())
        .collect();
    let mut one = DeviceStepper::<T>::new(context, &method, system, Variant::Fused).unwrap();
    let mut many = TeamStepper::<T>::new(&team(context, how.weights.len()), &method, system, how).unwrap();
    one.set(&inputs).unwrap();
    many.set(&inputs).unwrap();
    let times: Vec<f64> = (0..7).map(|k| 0.02 * f64::from(k)).collect();
    let bits = |v: Vec<T>| v.into_iter().map(|v| v.into_f64().to_bits()).collect::<Vec<_>>();
    for stepper in [&mut one as &mut dyn Stepper<T>, &mut many] {
        stepper.advance(&times, 0.02).unwrap();
        stepper.trial(0.14, 0.5, &TOLERANCE).unwrap();
        stepper.trial(0.14, 0.02, &TOLERANCE).unwrap();
        stepper.accept().unwrap();
    }
    let (want, got) = (one.solution().unwrap(), many.solution().unwrap());
    assert!(want.iter().all(|v| v.into_f64().is_finite()), "{what}");
    assert_eq!(bits(got), bits(want), "{what}");
}

/// A right-hand side that depends on the place along the slowest axis, on data, and on values outside of both of its ends.
fn placed(n: &[usize], layout: Layout) -> System {
    let points: usize = n.iter().product();
    System::builder(Grid::new(n, &[0.1, 0.3], &[0.07, 0.11]))
        .data("w", (0..points).map(|k| (k as f64).sin()).collect::<Vec<_>>())
        .field("u", "w*v[0,2] - u + 0.1*(u[0,1] - u[0,-1])*y + j/30")
        .field("v", "u[1,-1] - v + 0.2*(v[0,1] - 2*v + v[0,-1])")
        .boundary(Boundary::Mirror)
        .side(1, Side::Low, Boundary::Value(vec!["sin(t + x*y)".into(), "u[0,1]".into()]))
        .side(1, Side::High, Boundary::Value(vec!["2 - u[0,-1]".into(), "y*t".into()]))
        .layout(layout)
        .build()
        .unwrap()
}

#[test]
fn fixed_steps_on_a_team_have_the_bits_of_one_device() {
    for context in contexts() {
        let check = |method: &str, system: &System, how: TeamOptions| {
            team_has_the_bits_of_one_device::<f64>(&context, method, system, &how);
        };
        let all = context.family() == KernelFamily::Cpu || long();
        let thin = system(&[9, 40], Boundary::Mirror, None);
        check("heun2", &thin, options(&[1.0, 2.0], Variant::Fused, 1, Some(2)));
        if all {
            let ring = |n: &[usize]| system(n, Boundary::Periodic, Some(Layout::FieldWise));
            check("rk4", &thin, options(&[1.0, 2.0, 1.0], Variant::Fused, 1, None));
            check("bs32", &ring(&[97]), options(&[1.0; 2], Variant::Fused, 1, None));
            check("ab4", &ring(&[3, 2, 20]), options(&[1.0, 1.0], Variant::Fused, 1, Some(3)));
            check("heun2", &placed(&[5, 31], Layout::FieldWise), options(&[1.0, 1.0], Variant::Basic, 1, None));
            check("heun2", &placed(&[5, 31], Layout::Interleaved), options(&[1.0, 4.0], Variant::Fused, 1, Some(1)));
            // Slabs of one row, halos of all others; and no other rank.
            check("heun2", &system(&[4, 3], Boundary::Copy, None), options(&[1.0; 3], Variant::Fused, 1, None));
            check("heun2", &ring(&[4, 6]), options(&[1.0], Variant::Fused, 1, None));
        }
        let tiled: &[Variant] = match (all, long()) {
            (_, true) => {
                &[Variant::Grid, Variant::Overlapped, Variant::Trapezoidal, Variant::Hexagonal, Variant::Wavefront]
            }
            (true, _) => &[Variant::Grid, Variant::Hexagonal],
            (false, _) => &[Variant::Overlapped],
        };
        for variant in tiled {
            check("heun2", &thin, options(&[1.0, 1.0], *variant, 2, Some(4)));
        }
        if long() {
            let how = options(&[1.0, 3.0], Variant::Fused, 1, None);
            team_has_the_bits_of_one_device::<f32>(&context, "rk4", &thin, &how);
        }
    }
}

/// Adaptive steps with one norm for all ranks, output between the ends of steps, and an event.
#[test]
fn adaptive_steps_on_a_team_are_those_of_one_device() {
    for context in contexts().into_iter().take(if long() { usize::MAX } else { 1 }) {
        let system = placed(&[5, 31], Layout::Interleaved);
        let (method, y0) = (Method::named("bs32").unwrap(), start::<f64>(&system));
        let how = Options { relative: 1e-5, absolute: 1e-7, save_at: vec![0.1, 0.7], ..Options::default() };
        fn run<S: Stepper<f64>>(stepper: &mut S, y0: &[f64], how: &Options) -> (Vec<f64>, Vec<usize>, Vec<f64>) {
            let mut saved = Vec::new();
            let integrator = Integrator::new(stepper, 0.0, 1.0, y0, how).unwrap();
            let integrator = integrator.on_save(|_, y| saved.extend_from_slice(y));
            let mut integrator = integrator.event(Event::level(200, 1.0)).unwrap();
            integrator.run().unwrap();
            let y = integrator.solution().unwrap();
            let report = integrator.into_report();
            let times = report.events.iter().map(|event| event.t);
            let ends = times.chain([report.t, report.smallest_step, report.largest_step]).collect();
            ([saved, y].concat(), vec![report.accepted, report.rejected, report.events.len()], ends)
        }
        let one = run(&mut DeviceStepper::<f64>::new(&context, &method, &system, Variant::Fused).unwrap(), &y0, &how);
        let mut stepper = TeamStepper::<f64>::new(
            &team(&context, 2),
            &method,
            &system,
            &options(&[1.0, 2.0], Variant::Fused, 1, Some(2)),
        )
        .unwrap();
        let many = run(&mut stepper, &y0, &how);
        assert_eq!(many.1, one.1);
        for (got, want) in many.0.iter().chain(&many.2).zip(one.0.iter().chain(&one.2)) {
            assert!((got - want).abs() <= 1e-11 * want.abs().max(1.0), "{got} instead of {want}");
        }
        // The same team again, to the last bit.
        assert_eq!(run(&mut stepper, &y0, &how), many);
    }
}

/// Initial values, errors and invariants on teams against those of one device.
fn around_the_steps<T: Real>(context: &Context, problem: &Problem) {
    let one = problem.y0_on::<T>(context).unwrap();
    let bits = |v: Vec<T>| v.into_iter().map(|v| v.into_f64().to_bits()).collect::<Vec<_>>();
    let (values, error) = (bits(one.to_vec().unwrap()), problem.error(0.25, Stored::Device(&one)).unwrap());
    let invariants = problem.invariants_of(Stored::Device(&one)).unwrap();
    for ranks in [2, 3] {
        let what = format!("{}, {ranks} ranks, {:?}, {:?}", problem.name, T::PRECISION, context.family());
        let method = Method::named("rk4").unwrap();
        let options = TeamOptions::default();
        let stepper = TeamStepper::<T>::new(&team(context, ranks), &method, &problem.system, &options).unwrap();
        let y0 = stepper.y0(problem).unwrap();
        assert_eq!(bits(y0.stored().to_vec().unwrap()), values, "{what}");
        assert_eq!(problem.error(0.25, y0.stored()).unwrap(), error, "{what}");
        for ((name, got), (_, want)) in problem.invariants_of(y0.stored()).unwrap().into_iter().zip(&invariants) {
            assert!((got - want).abs() <= 1e-12 * want.abs(), "{what}, {name}: {got} instead of {want}");
        }
        let some = [problem.system.components() - 1, 0, 17];
        let picked = bits(y0.stored().pick(&some).unwrap());
        assert_eq!(picked, some.map(|k| values[k]), "{what}");
    }
}

/// Small systems, whose values the host computes, and large ones, of one field and several, on rings, in three
/// dimensions, with data.
#[test]
fn initial_values_and_errors_on_a_team_are_those_of_one_device() {
    let text = "grid 120 160\nboundary periodic\norigin 1 2\nspacing 0.5 0.25\nparameter a = 3\ndata w\n\
                u' = v[1,0]\nv' = w*u[0,-1]\nlayout LAYOUT\ninitial u = a*sin(x) + exp(-y/7) + i - 2*j\n\
                initial v = w + x*y + t\ntime 2 3";
    let data: Vec<f64> = (0..120 * 160).map(|k| 1.0 + f64::from(k) / 64.0).collect();
    let of_text = |layout: &str| {
        let text = text.replace("LAYOUT", layout);
        Description::read(&text).unwrap().problem(layout, std::slice::from_ref(&data)).unwrap()
    };
    let mut problems = vec![of_text("interleaved"), of_text("field-wise")];
    problems.extend([("wave1d", 100), ("heat2d", 200), ("heat3d", 33)].map(|(name, n)| problem(name, n).unwrap()));
    for context in contexts() {
        around_the_steps::<f32>(&context, &problems[0]);
        problems.iter().for_each(|problem| around_the_steps::<f64>(&context, problem));
    }
}

/// Each process makes the values of its own rank; errors and single components are known to all.
#[test]
fn initial_values_in_several_processes_are_those_of_one_device() {
    let problem = problem("heat2d", 200).unwrap();
    for context in contexts() {
        let one = problem.y0_on::<f64>(&context).unwrap();
        let (values, error) = (one.to_vec().unwrap(), problem.error(0.25, Stored::Device(&one)).unwrap());
        let some = [0, 39_999, 20_100];
        let work = |network: Box<dyn Network>| {
            let team = Team::with_network(contexts_like(&context, 1), network)?;
            let (method, options) = (Method::named("rk4")?, TeamOptions::default());
            let stepper = TeamStepper::<f64>::new(&team, &method, &problem.system, &options)?;
            let y0 = stepper.y0(&problem)?;
            let found = (problem.error(0.25, y0.stored())?, y0.stored().pick(&some)?, y0.stored().norm2()?);
            Ok((found, y0.stored().to_vec()?))
        };
        let done = simulate(2, Link { latency: 0.0, bandwidth: 1e9 }, work).unwrap();
        for (((got, picked, norm), _), _) in &done {
            assert_eq!((*got, &picked[..]), (error, &some.map(|k| values[k])[..]));
            let want = Stored::Device(&one).norm2().unwrap();
            assert!((norm - want).abs() <= 1e-13 * want, "{norm} instead of {want}");
        }
        assert!(done[0].0.1 == values);
    }
}

/// A problem on 30 x 300 points with these initial values, on two ranks.
fn on_two_ranks(context: &Context, formula: &str) -> (Problem, TeamStepper<f64>) {
    let text = format!("grid 30 300\nu' = u[1,0]\ninitial u = {formula}\n");
    let problem = Description::read(&text).unwrap().problem("test", &[]).unwrap();
    let (method, options) = (Method::named("rk4").unwrap(), TeamOptions::default());
    let stepper = TeamStepper::new(&team(context, 2), &method, &problem.system, &options).unwrap();
    (problem, stepper)
}

#[test]
fn initial_values_that_are_not_finite_are_errors_on_a_team() {
    for context in contexts() {
        let (problem, stepper) = on_two_ranks(&context, "1/(j - 299) + i");
        assert_eq!(stepper.y0(&problem).unwrap_err().to_string(), problem.y0().unwrap_err().to_string());
    }
}

#[test]
fn sums_in_initial_values_are_over_the_points_of_all_ranks() {
    for context in contexts() {
        let (problem, stepper) = on_two_ranks(&context, "sum(i'*j' - i)/1e4");
        assert_eq!(stepper.y0(&problem).unwrap().stored().to_vec().unwrap(), problem.y0().unwrap());
    }
}

#[test]
fn what_a_team_cannot_share_out_is_refused() {
    for context in contexts().into_iter().take(1) {
        let (two, method) = (team(&context, 2), Method::named("rk4").unwrap());
        let refused = |system: &System, how: &TeamOptions| {
            let error = TeamStepper::<f64>::new(&two, &method, system, how).map(drop).unwrap_err();
            assert_eq!(error.id(), "clinalg:argument:value");
            error.to_string()
        };
        let flock = System::builder(Grid::unit(&[5])).field("p", "sum(p' - p)").build().unwrap();
        assert!(refused(&flock, &TeamOptions::default()).contains("one device"));
        // SAFETY: it reads component I alone.
        let snippet = unsafe { System::snippet(10, "return -Y(I);", 0) }.build().unwrap();
        assert!(refused(&snippet, &TeamOptions::default()).contains("one device"));
        let system = system(&[4, 1], Boundary::Copy, None);
        assert!(refused(&system, &TeamOptions::default()).contains("at most 1"));
        let ring = self::system(&[4, 12], Boundary::Periodic, None);
        assert!(refused(&ring, &TeamOptions::default()).contains("at least 14"));
        for (weights, steps) in [(vec![1.0], None), (vec![1.0, -1.0], None), (vec![1.0, 1.0], Some(0))] {
            refused(&self::system(&[4, 40], Boundary::Copy, None), &options(&weights, Variant::Fused, 1, steps));
        }
    }
}
