//! What users of an integration rely on: SciPy's steps and solutions, output between the ends of steps, events, stops, stiffness, steps
//! that are tried together, steps by hand, words for what goes wrong.

mod events;
mod failures;
mod jumps;

use std::collections::HashMap;
use std::time::Duration;

use crate::common::contexts;
use clinalg::{KernelFamily, Vector};
use clinalg_ode::integrate::{
    Direction, Event, Integrator, Options, Report, Slot, StepOutcome, Stepper, Stored, Tolerance, integrate,
    integrate_on_device,
};
use clinalg_ode::problems::problem;
use clinalg_ode::reference::Reference;
use clinalg_ode::{DeviceOptions, DeviceStepper, Error, Grid, Method, Result, System, Variant};

fn lotka_volterra() -> System {
    let b = System::builder(Grid::unit(&[1])).field("prey", "1.5*prey - prey*predator");
    b.field("predator", "prey*predator - 3*predator").build().unwrap()
}

fn van_der_pol(mu: &str) -> System {
    let b = System::builder(Grid::unit(&[1])).field("u", "v");
    b.field("v", format!("{mu}*(1 - u*u)*v - u")).build().unwrap()
}

/// The lines of `solve_ivp.txt`, which `solve_ivp.py` beside it has written.
fn scipy() -> HashMap<&'static str, Vec<f64>> {
    let lines = include_str!("solve_ivp.txt").lines().map(|line| {
        let mut words = line.split(' ');
        (words.next().unwrap(), words.map(|word| word.parse().unwrap()).collect())
    });
    lines.collect()
}

/// The controller of `solve_ivp`.
fn plain(relative: f64, absolute: f64) -> Options {
    Options { relative, absolute, alpha: 1.0, beta: 0.0, grow: 10.0, ..Options::default() }
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn steps_and_interpolants_are_those_of_scipy() {
    let numbers = scipy();
    let cases = [
        ("lotka-volterra", lotka_volterra(), [1.0, 1.0], 10.0, [0.05, 3.3, 9.99]),
        ("van-der-pol", van_der_pol("5"), [2.0, 0.0], 20.0, [0.5, 8.2, 13.1]),
    ];
    for (name, system, y0, t_end, times) in &cases {
        for (method, theirs, rtol, atol) in
            [("dopri54", "RK45", "1e-06", 1e-9), ("dopri54", "RK45", "1e-09", 1e-12), ("bs32", "RK23", "0.0001", 1e-6)]
        {
            let key = format!("{name}|{theirs}|{rtol}");
            let options = Options { save_at: times.to_vec(), ..plain(rtol.parse().unwrap(), atol) };
            let mut stepper = Reference::new(&Method::named(method).unwrap(), system);
            let mut saved = Vec::new();
            let mut see = |t: f64, y: &[f64]| saved.push((t, y.to_vec()));
            let (y, report) = integrate(&mut stepper, 0.0, *t_end, y0, &options, &mut see).unwrap();
            let [taken, tried] = numbers[format!("{key}|steps").as_str()][..] else { panic!("two counts") };
            println!(
                "{key}: {} of {} steps, SciPy {taken} of {tried}",
                report.accepted,
                report.accepted + report.rejected
            );
            // The last step may be a little longer here, which saves a tiny one.
            assert!((report.accepted as f64 - taken).abs() <= 1.0 && report.rejected as f64 == tried - taken);
            // The same steps but for rounding, which the growth of errors along the solution multiplies.
            let rounding = 1e-9;
            assert!(off(&y, &numbers[format!("{key}|end").as_str()]) < 1e-3 * rtol.parse::<f64>().unwrap());
            assert_eq!(saved.iter().map(|s| s.0).collect::<Vec<_>>(), times);
            for (t, y) in &saved {
                let expected = &numbers[format!("{key}|at|{t}").as_str()];
                assert!(off(y, expected) < rounding, "{key} at {t}: {y:?} instead of {expected:?}");
            }
        }
        let mut stepper = Reference::new(&Method::named("dopri87").unwrap(), system);
        let (y, _) = integrate(&mut stepper, 0.0, *t_end, y0, &plain(1e-12, 1e-13), &mut |_, _| ()).unwrap();
        assert!(off(&y, &numbers[format!("{name}|tight").as_str()]) < 1e-9, "{name}");
    }
}

#[test]
fn every_component_can_have_a_tolerance_of_its_own() {
    let numbers = scipy();
    let system = van_der_pol("5");
    let method = Method::named("dopri54").unwrap();
    let each = Options { absolute_each: vec![1e-8, 1e-2], ..plain(1e-5, 1.0) };
    let mut stepper = Reference::new(&method.with_tolerances(), &system);
    let (y, report) = integrate(&mut stepper, 0.0, 20.0, &[2.0, 0.0], &each, &mut |_, _| ()).unwrap();
    let [taken, tried] = numbers["van-der-pol|each|steps"][..] else { panic!("two counts") };
    println!("{} of {}, SciPy {taken} of {tried}", report.accepted, report.accepted + report.rejected);
    assert!((report.accepted as f64 - taken).abs() <= 1.0 && report.rejected as f64 == tried - taken);
    assert!(off(&y, &numbers["van-der-pol|each|end"]) < 1e-9);
    for context in contexts() {
        let mut stepper =
            DeviceStepper::<f64>::new(&context, &method.with_tolerances(), &system, Variant::Fused).unwrap();
        let (same, again) = integrate(&mut stepper, 0.0, 20.0, &[2.0, 0.0], &each, &mut |_, _| ()).unwrap();
        assert_eq!((again.accepted, again.rejected), (report.accepted, report.rejected));
        assert!(off(&same, &y) < 1e-9);
    }
    // The same tolerance for all is that of the number, with and without the vector.
    let run = |method: &Method, options: &Options| {
        let mut stepper = Reference::new(method, &system);
        integrate(&mut stepper, 0.0, 20.0, &[2.0, 0.0], options, &mut |_, _| ())
    };
    let one = run(&method, &plain(1e-5, 1e-7)).unwrap();
    assert_eq!(run(&method.with_tolerances(), &plain(1e-5, 1e-7)).unwrap(), one);
    let same = Options { absolute_each: vec![1e-7; 2], ..plain(1e-5, 1.0) };
    assert_eq!(run(&method.with_tolerances(), &same).unwrap(), one);
    // A method without the vector, a vector of another length, and tolerances that are none.
    assert_eq!(run(&method, &each).unwrap_err().id(), "clinalg:argument:value");
    for absolute_each in [vec![1e-7], vec![1e-7, -1.0], vec![1e-7, f64::NAN]] {
        let options = Options { absolute_each, ..plain(1e-5, 1.0) };
        assert_eq!(run(&method.with_tolerances(), &options).unwrap_err().id(), "clinalg:argument:value");
    }
    let zero = Options { absolute_each: vec![1e-7, 0.0], ..plain(0.0, 1.0) };
    assert!(run(&method.with_tolerances(), &zero).is_err());
    // Without its estimate the method has no tolerances either.
    assert_eq!(method.with_tolerances().without_error(), method.without_error());
    assert_eq!(Method::named("rk4").unwrap().with_tolerances(), Method::named("rk4").unwrap());
}

#[test]
fn the_brusselator_meets_the_tolerance_asked() {
    let expected = &scipy()["bruss2d-hairer-16|tight"];
    let p = problem("bruss2d-hairer", 16).unwrap();
    for (method, tolerance, times) in [
        ("dopri54", 1e-4, 1.0),
        ("dopri54", 1e-7, 1.0),
        ("bs32", 1e-5, 1.0),
        ("dopri87", 1e-6, 1.0),
        // Tolerances are those of a step: where stability bounds steps, errors of many add up.
        ("verner65", 1e-6, 4.0),
    ] {
        let mut stepper = Reference::new(&Method::named(method).unwrap(), &p.system);
        let options =
            Options { relative: tolerance, absolute: tolerance, stops: p.stops.clone(), ..Options::default() };
        let (y, report) = integrate(&mut stepper, p.t0, 11.5, &p.y0().unwrap(), &options, &mut |_, _| ()).unwrap();
        // In units of what is asked: absolute + relative |y|.
        let parts = y.iter().zip(expected).map(|(y, e)| (y - e).abs() / (tolerance * (1.0 + e.abs())));
        let error = parts.fold(0.0, f64::max);
        println!("{method} {tolerance:e}: {} steps, error {error:.3} of the tolerance", report.accepted);
        assert!(error < times, "{method} {tolerance:e}: {error}");
        assert!(report.stiff.is_some(), "diffusion bounds the steps");
    }
}

/// The largest error between the ends of steps of the size h for u' = u cos t.
fn inside(method: &str, h: f64) -> f64 {
    let system = System::builder(Grid::unit(&[1])).field("u", "u*cos(t)").build().unwrap();
    let method = Method::named(method).unwrap();
    let times: Vec<f64> = (0..200).map(|k| 2.0 * f64::from(k) / 199.0).collect();
    let options = Options { fixed_step: Some(h), save_at: times, ..Options::default() };
    let mut worst = 0.0_f64;
    let mut see = |t: f64, y: &[f64]| worst = worst.max((y[0] - t.sin().exp()).abs());
    let mut stepper = Reference::new(&method, &system);
    integrate(&mut stepper, 0.0, 2.0, &[1.0], &options, &mut see).unwrap();
    worst
}

#[test]
fn solutions_inside_of_steps_have_the_order_of_their_interpolant() {
    // Local errors are one order higher; of the methods' own errors those of order 4 and 5 are as small or smaller.
    for (method, order) in [("dopri54", 5.0), ("rk4", 4.0), ("verner65", 4.0), ("bs32", 3.0), ("heun2", 2.0)] {
        let (a, b) = (inside(method, 0.1), inside(method, 0.05));
        let observed = (a / b).log2();
        println!("{method}: {a:e} {b:e}, order {observed:.2}");
        assert!(observed > order - 0.3 && a < 1e-2, "{method}: {observed} instead of {order}");
    }
    // A multi-step method; its first solutions are those that start it.
    let (a, b) = (inside_from("ab4", 0.05), inside_from("ab4", 0.025));
    assert!((a / b).log2() > 3.7, "{a:e} {b:e}");
}

/// As [`inside`], after the steps that start the method.
fn inside_from(method: &str, h: f64) -> f64 {
    let system = System::builder(Grid::unit(&[1])).field("u", "u*cos(t)").build().unwrap();
    let times: Vec<f64> = (0..200).map(|k| 0.3 + 1.7 * f64::from(k) / 199.0).collect();
    let options = Options { fixed_step: Some(h), save_at: times, ..Options::default() };
    let mut worst = 0.0_f64;
    let mut see = |t: f64, y: &[f64]| worst = worst.max((y[0] - t.sin().exp()).abs());
    let mut stepper = Reference::new(&Method::named(method).unwrap(), &system);
    integrate(&mut stepper, 0.0, 2.0, &[1.0], &options, &mut see).unwrap();
    worst
}

#[test]
fn saves_change_no_step_and_both_ends_can_be_saved() {
    let system = van_der_pol("2");
    let run = |save_at: Vec<f64>, fixed_step: Option<f64>| {
        let options = Options { save_at, fixed_step, stops: vec![1.0], ..Options::default() };
        let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &system);
        let mut saved = Vec::new();
        let mut see = |t: f64, y: &[f64]| saved.push((t, y.to_vec()));
        let (y, report) = integrate(&mut stepper, 0.0, 3.0, &[2.0, 0.0], &options, &mut see).unwrap();
        (y, report, saved)
    };
    for fixed in [None, Some(0.07)] {
        let (y, report, none) = run(Vec::new(), fixed);
        assert!(none.is_empty());
        let times = vec![0.0, 0.4, 0.5, 1.0, 2.999, 3.0];
        let (same, again, saved) = run(times.clone(), fixed);
        assert_eq!((&y, &report), (&same, &again));
        assert_eq!(saved.iter().map(|s| s.0).collect::<Vec<_>>(), times);
        assert_eq!((&saved[0].1[..], &saved[5].1), (&[2.0, 0.0][..], &y));
        // The end of a step is no interpolant.
        let (at_one, _, _) = {
            let options = Options { fixed_step: fixed, ..Options::default() };
            let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &system);
            let (y, report) = integrate(&mut stepper, 0.0, 1.0, &[2.0, 0.0], &options, &mut |_, _| ()).unwrap();
            (y, report, ())
        };
        assert_eq!(saved[3].1, at_one);
    }
    // Fixed steps are equal between stops: 15 of 1/15, then 29 of 2/29.
    let (_, report, _) = run(Vec::new(), Some(0.07));
    assert_eq!(report.accepted, 15 + 29);
    assert!((report.smallest_step - 1.0 / 15.0).abs() < 1e-15 && (report.largest_step - 2.0 / 29.0).abs() < 1e-15);
}

#[test]
fn multi_step_methods_start_anew_at_stops() {
    // f jumps at 1: across it a method of order 4 would fall back to order 1.
    let system = System::builder(Grid::unit(&[1])).field("u", "if(t >= 1, -u, u*cos(t))").build().unwrap();
    let error = |h: f64| {
        let options = Options { fixed_step: Some(h), stops: vec![1.0], ..Options::default() };
        let mut stepper = Reference::new(&Method::named("ab4").unwrap(), &system);
        let (y, _) = integrate(&mut stepper, 0.0, 2.0, &[1.0], &options, &mut |_, _| ()).unwrap();
        (y[0] - (1.0_f64.sin() - 1.0).exp()).abs()
    };
    let order = (error(0.02) / error(0.01)).log2();
    assert!(order > 3.7, "{order}");
    let options = Options { fixed_step: Some(0.3), stops: vec![1.0], watch_stability: false, ..Options::default() };
    let mut stepper = Reference::new(&Method::named("ab6").unwrap(), &system);
    let error = integrate(&mut stepper, 0.0, 2.0, &[1.0], &options, &mut |_, _| ()).unwrap_err();
    assert!(error.to_string().contains("at least 6 steps"), "{error}");
}

fn events<S: Stepper<f64>>(stepper: &mut S) -> (Report, Vec<f64>) {
    let options = Options { relative: 1e-10, absolute: 1e-12, ..Options::default() };
    let product = Event::new(&[1, 0], |_, y| y[0] * y[1] - 2.0).direction(Direction::Falling);
    let mut run = Integrator::new(stepper, 0.0, 10.0, &[1.0, 1.0], &options)
        .unwrap()
        .event(Event::level(0, 2.0).direction(Direction::Rising))
        .unwrap()
        .event(product)
        .unwrap()
        .event(Event::new(&[], |t, _| t - 9.5).terminal())
        .unwrap();
    assert_eq!(run.run().unwrap(), StepOutcome::Event(2));
    assert_eq!(run.step().unwrap(), StepOutcome::End);
    let y = run.solution().unwrap();
    (run.into_report(), y)
}

#[test]
fn events_are_found_where_scipy_finds_them() {
    let numbers = scipy();
    let system = lotka_volterra();
    let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &system);
    let (report, y) = events(&mut stepper);
    for k in 0..2 {
        let found: Vec<f64> = report.events.iter().filter(|e| e.event == k).map(|e| e.t).collect();
        let expected: Vec<f64> =
            numbers[format!("lotka-volterra|event|{k}").as_str()].iter().copied().filter(|t| *t < 9.5).collect();
        assert!(off(&found, &expected) < 1e-8, "{k}: {found:?} instead of {expected:?}");
    }
    assert!(report.events.windows(2).all(|w| w[0].t <= w[1].t));
    assert_eq!((report.t, report.events.last().unwrap().event), (9.5, 2));
    let mut stepper = Reference::new(&Method::named("dopri87").unwrap(), &system);
    let (expected, _) = integrate(&mut stepper, 0.0, 9.5, &[1.0, 1.0], &plain(1e-12, 1e-13), &mut |_, _| ()).unwrap();
    assert!(off(&y, &expected) < 1e-8);
    for context in contexts() {
        let mut stepper =
            DeviceStepper::<f64>::new(&context, &Method::named("dopri54").unwrap(), &system, Variant::Fused).unwrap();
        let (same, at) = events(&mut stepper);
        assert_eq!(same.accepted, report.accepted);
        assert!(same.events.iter().zip(&report.events).all(|(a, b)| a.event == b.event && (a.t - b.t).abs() < 1e-9));
        assert!(off(&at, &y) < 1e-9);
    }
}

/// Two fields on 7 by 5 points.
fn brusselator() -> System {
    System::builder(Grid::unit(&[7, 5]))
        .parameter("a", 0.3)
        .field("u", "1 + u^2*v - 4.4*u + a*(u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)")
        .field("v", "3.4*u - u^2*v + a*(v[-1,0] + v[1,0] + v[0,-1] + v[0,1] - 4*v)")
        .build()
        .unwrap()
}

#[test]
fn a_device_integrates_from_vector_to_vector() {
    let mut system = brusselator();
    system.add_event("u - 1", 9, Direction::Any, false).unwrap();
    let y0 = system.sample(|f, [x, y, _]| 1.0 + f as f64 + x * y);
    let method = Method::named("dopri54").unwrap();
    let mut reference = Reference::new(&method, &system);
    let mut expected = Vec::new();
    let mut run = Integrator::new(&mut reference, 0.0, 1.0, &y0, &Options::default())
        .unwrap()
        .on_event(|occurrence, y| {
            expected.push((*occurrence, y.to_vec()?));
            Ok(())
        })
        .event(system.events().remove(0))
        .unwrap();
    run.run().unwrap();
    drop(run);
    assert!(!expected.is_empty());
    let component = system.component(0, 9);
    assert!(expected.iter().all(|(_, y)| (y[component] - 1.0).abs() < 1e-9), "{expected:?}");
    // In one family: each is several programs to compile.
    if let Some(context) = contexts().pop() {
        let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Fused).unwrap();
        let (want, report) = integrate(&mut stepper, 0.0, 1.0, &y0, &Options::default(), &mut |_, _| ()).unwrap();
        let from = Vector::from_slice(&context, &y0).unwrap();
        let mut to = Vector::zeros(&context, y0.len()).unwrap();
        let same = integrate_on_device(&mut stepper, 0.0, 1.0, &from, &mut to, &Options::default()).unwrap();
        assert_eq!((to.to_vec().unwrap(), same), (want, report));
        assert_eq!(from.to_vec().unwrap(), y0);
        let mut got = Vec::new();
        let mut run = Integrator::new(&mut stepper, 0.0, 1.0, &from, &Options::default())
            .unwrap()
            .on_event(|occurrence, y| {
                got.push((*occurrence, y.to_vec()?));
                Ok(())
            })
            .event(system.events().remove(0))
            .unwrap();
        run.run().unwrap();
        drop(run);
        assert_eq!(got.len(), expected.len());
        for ((a, y), (b, z)) in got.iter().zip(&expected) {
            assert!((a.t - b.t).abs() < 1e-9 && off(y, z) < 1e-9);
        }
        // What is not finite is found on the device and named; so is a vector of another length.
        let mut bad = y0.clone();
        (bad[3], bad[40]) = (f64::NAN, f64::INFINITY);
        let bad = Vector::from_slice(&context, &bad).unwrap();
        let error = integrate_on_device(&mut stepper, 0.0, 1.0, &bad, &mut to, &Options::default()).unwrap_err();
        assert!(error.to_string().contains("y0[3]"), "{error}");
        let mut short = Vector::zeros(&context, 5).unwrap();
        let error = integrate_on_device(&mut stepper, 0.0, 1.0, &from, &mut short, &Options::default()).unwrap_err();
        assert_eq!(error.id(), "clinalg:argument:length", "{error}");
        let error = integrate_on_device(&mut stepper, 0.0, 1.0, &short, &mut to, &Options::default()).unwrap_err();
        assert!(error.to_string().contains("70 components"), "{error}");
    }
}

#[test]
fn devices_save_interpolate_and_start_like_plain_rust() {
    let system = brusselator();
    let y0 = system.sample(|f, [x, y, _]| 1.0 + f as f64 + x * y);
    let times = vec![0.0, 0.111, 0.5, 1.0];
    for (method, fixed_step) in [("dopri54", None), ("bs32", None), ("ab2", Some(0.01))] {
        let method = Method::named(method).unwrap();
        let options = Options { save_at: times.clone(), fixed_step, ..Options::default() };
        let run = |saved: &mut Vec<Vec<f64>>, stepper: &mut dyn FnMut(&Options, &mut Vec<Vec<f64>>) -> Report| {
            stepper(&options, saved)
        };
        let mut expected = Vec::new();
        let mut reference = Reference::new(&method, &system);
        let report = run(&mut expected, &mut |options, saved| {
            let mut see = |_: f64, y: &[f64]| saved.push(y.to_vec());
            integrate(&mut reference, 0.0, 1.0, &y0, options, &mut see).unwrap().1
        });
        for context in contexts() {
            let mut got = Vec::new();
            // The kernels of CPUs take long to build there: one method's own interpolant in one family.
            if method.name() == "dopri54" && context.family() == KernelFamily::Cpu {
                continue;
            }
            let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Fused).unwrap();
            let same = run(&mut got, &mut |options, saved| {
                let mut see = |_: f64, y: &[f64]| saved.push(y.to_vec());
                integrate(&mut stepper, 0.0, 1.0, &y0, options, &mut see).unwrap().1
            });
            assert_eq!((same.accepted, same.rejected), (report.accepted, report.rejected), "{}", method.name());
            for (got, want) in got.iter().zip(&expected) {
                assert!(off(got, want) < 1e-11, "{}: {:e}", method.name(), off(got, want));
            }
            assert_eq!(got.len(), 4);
        }
    }
}

/// Computes up to four steps together, in plain Rust, and keeps the longest run of them that is asked for.
struct Band<'a> {
    one: Reference<'a, f64>,
    /// The solutions after each of the steps tried.
    tried: Vec<Vec<f64>>,
}

impl Stepper<f64> for Band<'_> {
    fn method(&self) -> &Method {
        self.one.method()
    }
    fn components(&self) -> usize {
        self.one.components()
    }
    fn set(&mut self, inputs: &[Vec<f64>]) -> Result<()> {
        self.one.set(inputs)
    }
    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>> {
        self.one.trial(t, h, tolerance)
    }
    fn accept(&mut self) -> Result<()> {
        self.one.accept()
    }
    fn solution(&self) -> Result<Vec<f64>> {
        self.one.solution()
    }
    fn sibling(&self, method: &Method) -> Result<Self> {
        Ok(Band { one: self.one.sibling(method)?, tried: Vec::new() })
    }
    fn stored(&self, slot: Slot) -> Stored<'_, f64> {
        self.one.stored(slot)
    }
    fn load(&mut self, input: usize, from: Stored<'_, f64>) -> Result<()> {
        self.one.load(input, from)
    }
    fn steps_at_once(&self) -> usize {
        4
    }
    fn trial_steps(&mut self, t: f64, h: f64, steps: usize, tolerance: &Tolerance) -> Result<Vec<f64>> {
        let begin = self.one.solution()?;
        self.tried.clear();
        let mut errors = Vec::new();
        for k in 0..steps {
            errors.push(self.one.trial(t + k as f64 * h, h, tolerance)?.expect("an error estimate"));
            self.one.accept()?;
            self.tried.push(self.one.solution()?);
        }
        self.one.set(&[begin])?;
        Ok(errors)
    }
    fn accept_steps(&mut self, count: usize) -> Result<()> {
        self.one.set(&[self.tried[count - 1].clone()])
    }
}

#[test]
fn of_steps_tried_together_the_longest_good_run_is_kept() {
    let system = van_der_pol("5");
    let method = Method::named("dopri54").unwrap();
    let options = Options { relative: 1e-7, absolute: 1e-9, save_at: vec![7.7, 20.0], ..Options::default() };
    let mut saved = Vec::new();
    let mut band = Band { one: Reference::new(&method, &system), tried: Vec::new() };
    let (y, report) =
        integrate(&mut band, 0.0, 20.0, &[2.0, 0.0], &options, &mut |t, y| saved.push((t, y.to_vec()))).unwrap();
    let mut single = Reference::new(&method, &system);
    let mut want = Vec::new();
    let (expected, one) =
        integrate(&mut single, 0.0, 20.0, &[2.0, 0.0], &options, &mut |t, y| want.push((t, y.to_vec()))).unwrap();
    println!("together {} + {}, one by one {} + {}", report.accepted, report.rejected, one.accepted, one.rejected);
    assert!(report.rejected > 0 && report.accepted < 2 * one.accepted);
    assert!(off(&y, &expected) < 1e-5 && off(&saved[0].1, &want[0].1) < 1e-5, "{y:?} {expected:?}");
    assert_eq!((saved[0].0, saved[1].0, &saved[1].1), (7.7, 20.0, &y));
    // Each step taken has met the tolerance, so those tried are at least as many as those taken and thrown away.
    assert!(report.rhs_evaluations >= 7 * (report.accepted + report.rejected));
}

/// Fixed steps that take some time each, and the lengths of the batches in which they are taken.
struct Slow<'a> {
    one: Reference<'a, f64>,
    each: Duration,
    batches: Vec<usize>,
}

impl Stepper<f64> for Slow<'_> {
    fn method(&self) -> &Method {
        self.one.method()
    }
    fn components(&self) -> usize {
        self.one.components()
    }
    fn set(&mut self, inputs: &[Vec<f64>]) -> Result<()> {
        self.one.set(inputs)
    }
    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>> {
        self.one.trial(t, h, tolerance)
    }
    fn accept(&mut self) -> Result<()> {
        self.one.accept()
    }
    fn solution(&self) -> Result<Vec<f64>> {
        self.one.solution()
    }
    fn sibling(&self, method: &Method) -> Result<Self> {
        Ok(Slow { one: self.one.sibling(method)?, each: self.each, batches: Vec::new() })
    }
    fn stored(&self, slot: Slot) -> Stored<'_, f64> {
        self.one.stored(slot)
    }
    fn load(&mut self, input: usize, from: Stored<'_, f64>) -> Result<()> {
        self.one.load(input, from)
    }
    fn advance(&mut self, times: &[f64], h: f64) -> Result<()> {
        self.batches.push(times.len());
        std::thread::sleep(self.each * times.len() as u32);
        self.one.advance(times, h)
    }
}

/// 256 steps were enqueued at once, however long they took: Ctrl-C had to wait for them.
#[test]
fn slow_fixed_steps_are_not_enqueued_by_the_hundreds() {
    let system = van_der_pol("5");
    let method = Method::named("rk4").unwrap();
    let solved = |each: Duration, steps: usize| {
        let h = 1e-3;
        let options = Options { fixed_step: Some(h), ..Options::default() };
        let mut stepper = Slow { one: Reference::new(&method, &system), each, batches: Vec::new() };
        let y = integrate(&mut stepper, 0.0, h * steps as f64, &[2.0, 0.0], &options, &mut |_, _| ()).unwrap().0;
        let mut alone = Reference::new(&method, &system);
        let mut one_by_one = Integrator::new(&mut alone, 0.0, h * steps as f64, &[2.0, 0.0], &options).unwrap();
        while one_by_one.step().unwrap() == StepOutcome::Step {}
        assert_eq!(y, one_by_one.solution().unwrap());
        (stepper.batches.iter().copied().max().unwrap(), stepper.batches.iter().sum::<usize>())
    };
    // 50 ms each: four steps take 0.2 s.
    let (most, all) = solved(Duration::from_millis(50), 24);
    assert!(most <= 8 && all == 24, "{most} of {all}");
    let (most, all) = solved(Duration::ZERO, 5000);
    assert!(most == 256 && all == 5000, "{most} of {all}");
}

#[test]
fn devices_try_several_steps_on_tiles() {
    // Diffusion and reaction on a line, with tolerances of its own for each component, jumping at a stop.
    let system = System::builder(Grid::unit(&[700]))
        .field("u", "20*(u[-1] - 2*u + u[1]) + u*(1 - u) + if(t >= 0.5, 3*x, 0)")
        .build()
        .unwrap();
    let y0 = system.sample(|_, [x, ..]| (9.0 * x).sin().powi(2));
    let method = Method::named("bs32").unwrap().with_tolerances();
    let options = Options {
        relative: 1e-6,
        absolute_each: (0..700).map(|k| 1e-7 * f64::from(1 + k % 3)).collect(),
        stops: vec![0.5],
        save_at: vec![0.3, 0.8],
        ..Options::default()
    };
    let mut tight = Reference::new(&Method::named("dopri87").unwrap(), &system);
    let all = Options { stops: vec![0.5], ..plain(1e-10, 1e-11) };
    let (expected, _) = integrate(&mut tight, 0.0, 0.8, &y0, &all, &mut |_, _| ()).unwrap();
    // In one family: each is several programs to compile.
    if let Some(context) = contexts().pop() {
        let tiles = DeviceOptions { variant: Variant::Overlapped, steps: 3, tile: None };
        let mut stepper = DeviceStepper::<f64>::with(&context, &method, &system, &tiles).unwrap();
        let mut saved = Vec::new();
        let mut see = |t: f64, y: &[f64]| saved.push((t, y.to_vec()));
        let (y, report) = integrate(&mut stepper, 0.0, 0.8, &y0, &options, &mut see).unwrap();
        println!("{} + {} steps, error {:e}", report.accepted, report.rejected, off(&y, &expected));
        assert_eq!((saved.len(), saved[0].0, &saved[1].1), (2, 0.3, &y));
        assert!(off(&y, &expected) < 1e-5, "{:e}", off(&y, &expected));
        assert!(report.rhs_evaluations >= 4 * (report.accepted + report.rejected));
    }
}

#[test]
fn steps_can_be_taken_by_hand_and_looked_into() {
    let system = System::builder(Grid::unit(&[1])).field("u", "-u").build().unwrap();
    let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
    let options = Options { dense: true, stops: vec![0.7], relative: 1e-9, absolute: 1e-12, ..Options::default() };
    let mut run = Integrator::new(&mut stepper, 0.0, 1.0, &[1.0], &options).unwrap();
    assert!(run.at(0.0).is_err());
    let (mut before, mut stops) = (0.0, 0);
    loop {
        let taken = run.step().unwrap();
        let middle = f64::midpoint(before, run.t());
        assert!((run.at(middle).unwrap()[0] - (-middle).exp()).abs() < 1e-8);
        assert!((run.at(run.t()).unwrap()[0] - run.solution().unwrap()[0]).abs() < 1e-14);
        assert!(run.at(before - 0.1).is_err() && run.at(f64::NAN).is_err());
        before = run.t();
        stops += usize::from(taken == StepOutcome::Stop);
        match taken {
            StepOutcome::Stop => assert_eq!(run.t(), 0.7),
            StepOutcome::End => break,
            _ => assert!(run.t() < 1.0),
        }
    }
    assert_eq!((stops, run.t(), run.step().unwrap()), (1, 1.0, StepOutcome::End));
    // Fixed steps go one by one as well.
    let mut stepper = Reference::<f64>::new(&Method::named("rk4").unwrap(), &system);
    let options = Options { fixed_step: Some(0.25), ..Options::default() };
    let mut run = Integrator::new(&mut stepper, 0.0, 1.0, &[1.0], &options).unwrap();
    let mut times = Vec::new();
    while run.step().unwrap() != StepOutcome::End {
        times.push(run.t());
    }
    assert_eq!(times, [0.25, 0.5, 0.75]);
}

#[test]
fn the_progress_callback_can_end_the_integration() {
    let system = van_der_pol("2");
    let mut stepper = Reference::<f64>::new(&Method::named("bs32").unwrap(), &system);
    let mut told = Vec::new();
    let mut run = Integrator::new(&mut stepper, 0.0, 50.0, &[2.0, 0.0], &Options::default()).unwrap();
    run = run.on_progress(|report| {
        told.push((report.t, report.accepted));
        report.accepted < 25
    });
    assert_eq!(run.run().unwrap(), StepOutcome::End);
    let report = run.into_report();
    assert_eq!((report.accepted, told.len()), (25, 25));
    assert!(report.t < 50.0 && told.windows(2).all(|w| w[0].0 < w[1].0));
}

#[test]
fn stiffness_is_noticed_and_only_that() {
    let run = |mu: &str, t_end: f64, tolerance: f64| {
        let system = van_der_pol(mu);
        let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &system);
        let options = Options { relative: tolerance, absolute: tolerance, ..Options::default() };
        integrate(&mut stepper, 0.0, t_end, &[2.0, 0.0], &options, &mut |_, _| ()).unwrap().1.stiff
    };
    let stiff = run("1000", 1.0, 1e-6);
    assert!(stiff.is_some_and(|t| t < 0.9), "{stiff:?}");
    assert_eq!(run("1", 100.0, 1e-8), None);
    let system = lotka_volterra();
    let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &system);
    let (_, report) = integrate(&mut stepper, 0.0, 100.0, &[1.0, 1.0], &plain(1e-6, 1e-9), &mut |_, _| ()).unwrap();
    assert_eq!(report.stiff, None);
}

#[test]
fn failed_integrations_are_errors() {
    let system = System::builder(Grid::unit(&[1])).field("u", "if(t > 0.5, log(-1), -u)").build().unwrap();
    let run = |options: Options, t_end: f64| {
        let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
        integrate(&mut stepper, 0.0, t_end, &[1.0], &options, &mut |_, _| ()).unwrap_err()
    };
    let error = run(Options::default(), 1.0);
    assert!(matches!(error, Error::NotFinite { t, .. } if (0.4..=0.5).contains(&t)), "{error}");
    let error = run(Options { fixed_step: Some(0.01), ..Options::default() }, 1.0);
    assert!(matches!(error, Error::NotFinite { .. }), "{error}");
    let error = run(Options { fixed_step: Some(0.01), save_at: vec![0.25, 0.75], ..Options::default() }, 1.0);
    assert!(matches!(error, Error::NotFinite { t, .. } if t > 0.5 && t <= 0.751), "{error}");
    for options in [
        Options { fixed_step: Some(0.0), ..Options::default() },
        Options { fixed_step: Some(-0.1), ..Options::default() },
        Options { fixed_step: Some(f64::NAN), ..Options::default() },
        Options { fixed_step: Some(1e-30), ..Options::default() },
        Options { save_at: vec![2.0], ..Options::default() },
        Options { save_at: vec![f64::NAN], ..Options::default() },
        Options { grow: 0.5, ..Options::default() },
        Options { largest_step: 0.0, ..Options::default() },
    ] {
        assert_eq!(run(options.clone(), 1.0).id(), "clinalg:argument:value", "{options:?}");
    }
    // Tolerances that rounding alone does not meet.
    let mut stepper = Reference::<f32>::new(&Method::named("dopri54").unwrap(), &system);
    for (relative, absolute, good) in [(1e-12, 1e-14, false), (0.0, 1e-9, false), (0.0, 1e-4, true), (1e-6, 0.0, true)]
    {
        let options = Options { relative, absolute, ..Options::default() };
        let done = Integrator::new(&mut stepper, 0.0, 0.1, &[1.0], &options).map(|_| ());
        assert_eq!(done.as_ref().err().map(Error::id), (!good).then_some("clinalg:argument:value"), "{done:?}");
    }
    // An interval of no length has the solution at its beginning.
    let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
    let mut saved = Vec::new();
    let options = Options { save_at: vec![0.0], ..Options::default() };
    let (y, report) = integrate(&mut stepper, 0.0, 0.0, &[1.0], &options, &mut |t, _| saved.push(t)).unwrap();
    assert_eq!((y, report.accepted, saved), (vec![1.0], 0, vec![0.0]));
}

/// y' = y^2, y(0) = 1 is 1 / (1 - t); with steps of 1e-3 the solution overflows soon after t = 1.
#[test]
fn fixed_steps_of_a_solution_that_blows_up_end_soon_after() {
    let system = System::builder(Grid::unit(&[1])).field("u", "u*u").build().unwrap();
    let options = Options { fixed_step: Some(1e-3), ..Options::default() };
    let mut stepper = Reference::<f64>::new(&Method::named("rk4").unwrap(), &system);
    let error = integrate(&mut stepper, 0.0, 100.0, &[1.0], &options, &mut |_: f64, _: &[f64]| {}).unwrap_err();
    assert!(matches!(error, Error::NotFinite { t, .. } if t > 1.0 && t <= 6.0), "{error}");
}
