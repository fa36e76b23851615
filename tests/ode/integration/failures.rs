//! What goes wrong is named: its cause, the component and the time.

use clinalg_ode::error::Cause;
use clinalg_ode::integrate::{Norm, Options, integrate};
use clinalg_ode::ivp::{Settings, solve};
use clinalg_ode::reference::Reference;
use clinalg_ode::{DeviceStepper, Error, Method, Result, System, Variant};

use crate::common::contexts;

fn run(text: &str, y0: &[f64], [t0, t_end]: [f64; 2], options: &Options) -> Result<(Vec<f64>, usize)> {
    let system = System::from_text(text, &[]).unwrap();
    let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
    let (y, report) = integrate(&mut stepper, t0, t_end, y0, options, &mut |_, _| ())?;
    Ok((y, report.accepted + report.rejected))
}

#[test]
fn a_component_that_stays_zero_needs_no_absolute_tolerance() {
    let text = "y' = 1\nz' = 0";
    for norm in [Norm::Rms, Norm::Max] {
        for absolute in [1e-9, 0.0] {
            let options = Options { absolute, norm, ..Options::default() };
            let (y, steps) = run(text, &[0.0, 0.0], [0.0, 1.0], &options).unwrap();
            assert!((y[0] - 1.0).abs() < 1e-12 && y[1] == 0.0 && steps < 30, "{y:?} {steps}");
            let system = System::from_text(text, &[]).unwrap();
            for context in contexts() {
                let method = Method::named("dopri54").unwrap();
                let mut stepper = DeviceStepper::<f64>::new(&context, &method, &system, Variant::Fused).unwrap();
                let (y, _) = integrate(&mut stepper, 0.0, 1.0, &[0.0, 0.0], &options, &mut |_, _| ()).unwrap();
                assert!((y[0] - 1.0).abs() < 1e-12 && y[1] == 0.0, "{y:?}");
            }
        }
    }
}

#[test]
fn right_hand_sides_that_are_undefined_at_the_beginning_alone_are_not_evaluated_there() {
    // y' = y / t from t = 1.
    let (y, _) = run("y' = y/t", &[1.0], [1.0, 3.0], &Options { relative: 1e-8, ..Options::default() }).unwrap();
    assert!((y[0] - 3.0).abs() < 1e-6, "{y:?}");
}

#[test]
fn each_cause_of_a_solution_that_is_not_finite_has_a_sentence_of_its_own() {
    let fixed = Options { fixed_step: Some(0.01), ..Options::default() };
    let cases = [
        ("x' = 1\ny' = y/t", [0.0, 1.0], Options::default(), Cause::Beginning, "`y`", 0.0..=0.0),
        ("x' = 1\ny' = sqrt(0.5 - t)", [0.0, 1.0], Options::default(), Cause::Undefined, "`y`", 0.49..=0.5),
        ("x' = 1\ny' = y*y", [0.0, 2.0], fixed, Cause::FixedStep, "`y`", 1.0..=2.0),
    ];
    for (text, span, options, expected, name, times) in cases {
        let error = run(text, &[1.0, 1.0], span, &options).unwrap_err();
        let said = error.to_string();
        let Error::NotFinite { t, component, cause, .. } = error else { panic!("{text}: {said}") };
        assert_eq!((cause, component.as_str()), (expected, name), "{text}: {said}");
        assert!(times.contains(&t) && said.contains(name) && !said.contains("5e-324"), "{said}");
    }
    let error = run("x' = 1\ny' = y*y", &[1.0, 1.0], [0.0, 2.0], &Options::default()).unwrap_err();
    let said = error.to_string();
    let Error::StepTooSmall { t, grows: Some((component, value)), .. } = error else { panic!("{said}") };
    assert!((t - 1.0).abs() < 0.01 && component == "`y`" && value > 1e6, "{said}");
    assert!(said.contains("blows up") && !said.contains("loosen"), "{said}");
    let grid = "grid 3 2\nu' = if(i == 2 && j == 1, log(-1), 0)";
    let error = run(grid, &[0.0; 6], [0.0, 1.0], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("`u` at grid point 3 2 (counted from 1)"), "{error}");
}

#[test]
fn a_solution_that_slides_along_a_switch_ends_with_the_reason() {
    let options = Options { relative: 1e-9, absolute: 1e-12, step_limit: usize::MAX, ..Options::default() };
    let cases = [
        ("z' = 1\ny' = if(y < 0.5, 1, -1)", 0.5),
        ("z' = 1\ny' = if(y < 0.5, 1, -3)", 0.5),
        // Friction that holds a body on a moving belt.
        ("z' = 1\ny' = if(y > 0, -2, 2) + sin(t)", 0.1),
    ];
    for (text, last) in cases {
        let error = run(text, &[0.0, 0.0], [0.0, 1000.0], &options).unwrap_err();
        let said = error.to_string();
        let Error::StepLimit { steps, t, slides, .. } = error else { panic!("{text}: {said}") };
        assert_eq!(slides.as_deref(), Some("`y`"), "{said}");
        assert!(steps < 100_000 && t < last + 0.1 && said.contains("event"), "{said}");
    }
}

/// Error estimates of several methods fell as fast as smooth ones, and stabilised steps were not looked at.
#[test]
fn a_solution_that_slides_along_a_switch_ends_with_the_reason_in_every_adaptive_method() {
    let Some(context) = contexts().into_iter().next() else { return };
    let system = System::from_text("z' = 1\ny' = if(y < 0.5, 1, -1)", &[]).unwrap();
    for method in ["bs32", "rkf45", "dopri54", "verner65", "dopri87", "rkc"] {
        for relative in [1e-6, 1e-9] {
            let options = Options { relative, absolute: 1e-3 * relative, ..Options::default() };
            let settings = Settings { method: method.into(), options, ..Settings::default() };
            let error = solve(&context, &system, &[0.0, 1000.0], &[0.0, 0.0], &settings).unwrap_err();
            let said = error.to_string();
            let Error::StepLimit { slides, .. } = error else { panic!("{method}: {said}") };
            assert_eq!(slides.as_deref(), Some("`y`"), "{method}, {relative}: {said}");
        }
    }
}

#[test]
fn stiff_and_switched_problems_are_not_taken_for_sliding() {
    let loose = Options { relative: 1e-4, absolute: 1e-6, step_limit: 30_000, ..Options::default() };
    // Stability bounds the steps.
    let stiff = run("y' = -1e6*(y - cos(t))", &[1.0], [0.0, 100.0], &loose).unwrap_err();
    assert!(matches!(stiff, Error::StepLimit { slides: None, stiff: Some(_), .. }), "{stiff}");
    assert!(
        stiff.to_string().contains("stability rather than accuracy") && !stiff.to_string().contains("loosen"),
        "{stiff}"
    );
    // Jumps that the solution passes.
    let switched = run("y' = if(sin(50*t) > 0, 1, -1) - y", &[1.0], [0.0, 1e5], &loose).unwrap_err();
    assert!(matches!(switched, Error::StepLimit { steps: 30_000, .. }), "{switched}");
}
