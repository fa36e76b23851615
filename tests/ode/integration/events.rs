//! Events: every zero inside a step, in order, with its direction, whichever way the time runs.

use clinalg::Context;
use clinalg_ode::integrate::{Direction, Event, Integrator, Options, StepOutcome};
use clinalg_ode::ivp::{self, Settings};
use clinalg_ode::reference::Reference;
use clinalg_ode::{Method, System};

/// Times and numbers of the events of a system from text, and the time reached, with DOPRI5(4) or fixed steps.
fn found(text: &str, [t0, t_end]: [f64; 2], y0: &[f64], options: &Options) -> (Vec<(usize, f64)>, f64) {
    let system = System::from_text(text, &[]).unwrap();
    let method = Method::named(if options.fixed_step.is_some() { "rk4" } else { "dopri54" }).unwrap();
    let mut stepper = Reference::<f64>::new(&method, &system);
    let mut run = Integrator::new(&mut stepper, t0, t_end, y0, options).unwrap();
    for event in system.events() {
        run = run.event(event).unwrap();
    }
    run.run().unwrap();
    (run.report().events.iter().map(|e| (e.event, e.t)).collect(), run.t())
}

fn near(found: &[(usize, f64)], expected: &[(usize, f64)], tolerance: f64) {
    let matches = |(f, e): (&(usize, f64), &(usize, f64))| f.0 == e.0 && (f.1 - e.1).abs() < tolerance;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(matches), "{found:?}");
}

#[test]
fn two_zeros_in_one_step_do_not_cancel_out() {
    let text = "y' = 1\nevent terminal = (y-3)*(y-4)";
    for options in [Options::default(), Options { fixed_step: Some(5.0), ..Options::default() }] {
        let (events, t) = found(text, [0.0, 10.0], &[0.0], &options);
        near(&events, &[(0, 3.0)], 1e-12);
        assert_eq!(t, events[0].1);
    }
    // The rising one is the second.
    let (events, t) = found(&text.replace("terminal", "rising terminal"), [0.0, 10.0], &[0.0], &Options::default());
    near(&events, &[(0, 4.0)], 1e-12);
    assert_eq!(t, events[0].1);
}

#[test]
fn a_thrown_ball_passes_a_height_just_below_its_peak_twice() {
    // 10 t - 9.81 t^2 / 2 = 5.09 at both; the peak is 7 mm higher.
    let root = (100.0_f64 - 2.0 * 9.81 * 5.09).sqrt();
    let expected = [(10.0 - root) / 9.81, (10.0 + root) / 9.81];
    let text = "height' = speed\nspeed' = -9.81\nevent = height - 5.09\nevent falling terminal = height";
    let (events, _) = found(text, [0.0, 100.0], &[0.0, 10.0], &Options::default());
    near(&events, &[(0, expected[0]), (0, expected[1]), (1, 20.0 / 9.81)], 1e-9);
}

#[test]
fn all_zeros_of_an_oscillation_are_found() {
    let (events, _) = found("y' = 1\nevent = sin(10*y)", [0.0, 10.0], &[0.0], &Options::default());
    let expected: Vec<(usize, f64)> = (1..=31).map(|k| (0, f64::from(k) * std::f64::consts::PI / 10.0)).collect();
    near(&events, &expected, 1e-12);
}

#[test]
fn a_cubic_has_its_three_zeros_whatever_the_step() {
    // The solution is (t + 6) (t + 2) (t - 2).
    let cubic = |event: &str| format!("event {event}= y\ny' = 3*t^2 + 12*t - 4");
    let find = |event: &str| found(&cubic(event), [-8.0, 4.0], &[-120.0], &Options::default());
    near(&find("").0, &[(0, -6.0), (0, -2.0), (0, 2.0)], 1e-9);
    near(&find("falling ").0, &[(0, -2.0)], 1e-9);
    let (events, t) = find("rising terminal ");
    near(&events, &[(0, -6.0)], 1e-9);
    assert_eq!(t, events[0].1);
}

#[test]
fn a_nan_at_the_end_of_a_step_hides_no_zero_before_it() {
    let (events, t) = found("y' = 1\nevent terminal = sqrt(7 - y) - 0.5", [0.0, 10.0], &[0.0], &Options::default());
    near(&events, &[(0, 6.75)], 1e-12);
    assert_eq!(t, events[0].1);
}

#[test]
fn a_zero_at_the_beginning_is_no_event_and_hides_none() {
    // It leaves the ground at once, and comes back in the same step.
    let text = "height' = speed\nspeed' = -9.81\nevent terminal = height";
    let (events, _) = found(text, [0.0, 100.0], &[0.0, 10.0], &Options::default());
    near(&events, &[(0, 20.0 / 9.81)], 1e-9);
    assert_eq!(found("y' = 1\nevent = y", [0.0, 10.0], &[0.0], &Options::default()).0, []);
    // One at the end is.
    near(&found("y' = 1\nevent = t - 10", [0.0, 10.0], &[0.0], &Options::default()).0, &[(0, 10.0)], 1e-15);
}

#[test]
fn poles_and_touching_are_no_zeros() {
    let text = "y' = 1\nevent = 1/(y - 3.3)\nevent = (y - 4.4)^2\nevent = y - 5.5";
    near(&found(text, [0.0, 10.0], &[0.0], &Options::default()).0, &[(2, 5.5)], 1e-12);
}

#[test]
fn events_of_a_step_come_in_their_order() {
    let text = "y' = 1\nevent = cos(y)\nevent = sin(y)\nevent terminal = y - 9";
    let (events, t) = found(text, [0.0, 20.0], &[0.0], &Options::default());
    let half = std::f64::consts::FRAC_PI_2;
    let quarter = |k: i32| (if k % 2 == 1 { 0 } else { 1 }, f64::from(k) * half);
    let expected: Vec<(usize, f64)> = (1..6).map(quarter).chain([(2, 9.0)]).collect();
    near(&events, &expected, 1e-11);
    assert_eq!(t, events[5].1);
}

#[test]
fn an_event_with_too_many_zeros_to_find_is_an_error() {
    let system = System::from_text("y' = 1", &[]).unwrap();
    let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
    let run = Integrator::new(&mut stepper, 0.0, 10.0, &[0.0], &Options::default()).unwrap();
    let error = run.event(Event::new(&[0], |_, y| (1e9 * y[0] + 0.5).sin())).unwrap().run().unwrap_err();
    assert!(error.id() == "clinalg:argument:value" && error.to_string().contains("event 0"), "{error}");
}

#[test]
fn resumed_integrations_find_their_events_once() {
    let system = System::from_text("y' = 1\nevent rising = y - 5", &[]).unwrap();
    let options = Options { fixed_step: Some(1.0), ..Options::default() };
    let mut stepper = Reference::<f64>::new(&Method::named("rk4").unwrap(), &system);
    let mut first = Integrator::new(&mut stepper, 0.0, 10.0, &[0.0], &options).unwrap();
    while first.t() < 7.0 {
        assert_eq!(first.step().unwrap(), StepOutcome::Step);
    }
    let state = first.state().unwrap();
    drop(first);
    let mut second = Integrator::new(&mut stepper, 0.0, 10.0, &[0.0], &options).unwrap();
    second = second.event(Event::level(0, 5.0).direction(Direction::Rising)).unwrap();
    second.restore(&state).unwrap();
    second.run().unwrap();
    assert_eq!(second.report().events, []);
}

#[test]
fn backwards_in_time_the_solution_and_its_events_are_those_of_the_time_asked() {
    let system = System::from_text("y' = y + 0*t\nevent = y - 2\nevent falling terminal = y - 0.1", &[]).unwrap();
    let mut settings = Settings::default();
    (settings.options.relative, settings.options.absolute) = (1e-10, 1e-12);
    let context = Context::global().unwrap();
    let e = std::f64::consts::E;
    let times = [1.0, 0.75, 0.5, 0.25, 0.0];
    let solution = ivp::solve(&context, &system, &times, &[e], &settings).unwrap();
    assert_eq!(solution.t, times);
    for (t, y) in times.iter().zip(&solution.y) {
        assert!((y - t.exp()).abs() < 1e-9, "{t}: {y}");
    }
    assert_eq!(solution.report.t, 0.0);
    near(&[(solution.report.events[0].event, solution.report.events[0].t)], &[(0, 2.0_f64.ln())], 1e-9);
    assert!((solution.at_events[0] - 2.0).abs() < 1e-9);
    // Step by step, to a terminal event on the way: downwards along the integration.
    settings.every_step = true;
    let solution = ivp::solve(&context, &system, &[1.0, -9.0], &[e], &settings).unwrap();
    assert!(solution.t.windows(2).all(|w| w[0] > w[1]));
    let events: Vec<(usize, f64)> = solution.report.events.iter().map(|e| (e.event, e.t)).collect();
    near(&events, &[(0, 2.0_f64.ln()), (1, 0.1_f64.ln())], 1e-8);
    assert_eq!(solution.t.last(), Some(&solution.report.t));
    // By hand, between the ends of steps, with the time in the formula and a stop.
    let system = System::from_text("y' = if(t > 2, 1, 2*t)\nstop 2", &[]).unwrap();
    let exact = |t: f64| if t > 2.0 { t - 2.0 } else { t * t - 4.0 };
    let mut steps = 0;
    let mut see = |step: &mut dyn ivp::Step| {
        let (begin, end) = (step.begin(), step.end());
        assert!(begin > end);
        let middle = begin.midpoint(end);
        assert!((step.at(middle)?[0] - exact(middle)).abs() < 1e-9, "{begin} to {end}");
        steps += 1;
        Ok(true)
    };
    let solution = ivp::run(&context, &system, [5.0, -1.0], &[3.0], &settings, &mut see).unwrap();
    assert!(steps > 1 && solution.t == [5.0, -1.0] && (solution.y[1] + 3.0).abs() < 1e-9, "{:?}", solution.y);
    // Neither one way nor the other.
    let error = ivp::solve(&context, &system, &[0.0, 1.0, 0.5], &[0.0], &settings).unwrap_err();
    assert_eq!(error.id(), "clinalg:argument:value");
    // SAFETY: it reads component I.
    let snippet = unsafe { System::snippet(1, "return Y(I);", 0) }.build().unwrap();
    let error = ivp::solve(&context, &snippet, &[1.0, 0.0], &[0.0], &settings).unwrap_err();
    assert!(error.to_string().contains("-f(-t, z)"), "{error}");
}
