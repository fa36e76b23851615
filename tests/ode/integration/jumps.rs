//! Right-hand sides that jump at stops, and times that rounding moves.

use clinalg::Real;
use clinalg_ode::integrate::{Integrator, Options, Stabilised, Stepper, integrate};
use clinalg_ode::reference::Reference;
use clinalg_ode::{DeviceStepper, Method, System, Variant};

use crate::common::contexts;

/// The solution at `t_end` of a system of one component that begins with `y0` at 0.
fn end<T: Real, S: Stepper<T>>(stepper: &mut S, t_end: f64, y0: f64, options: &Options) -> f64 {
    integrate(stepper, 0.0, t_end, &[T::from_f64(y0)], options, &mut |_, _| ()).unwrap().0[0].into_f64()
}

#[test]
fn stages_on_either_side_of_a_stop_see_their_own_value() {
    for formula in ["if(t > 5, 1, 0)", "if(t >= 5, 1, 0)", "1 - if(t < 5, 1, 0)", "1 - if(t <= 5, 1, 0)"] {
        let system = System::from_text(&format!("y' = {formula}"), &[]).unwrap();
        let steps = |h: f64| Options { fixed_step: Some(h), stops: vec![5.0], ..Options::default() };
        for method in ["rk4", "dopri54", "heun2", "verner65"] {
            let mut stepper = Reference::<f64>::new(&Method::named(method).unwrap().without_error(), &system);
            // One step from stop to end, and several.
            for h in [1.0, 5.0] {
                let y = end(&mut stepper, 10.0, 0.0, &steps(h));
                assert!((y - 5.0).abs() < 1e-14, "{method} {formula} {h}: {y}");
            }
            // As one of the ends.
            assert_eq!(end(&mut stepper, 5.0, 0.0, &steps(1.0)), 0.0);
        }
        let mut multi = Reference::<f64>::new(&Method::named("ab4").unwrap(), &system);
        assert!((end(&mut multi, 10.0, 0.0, &steps(0.25)) - 5.0).abs() < 1e-13, "{formula}");
        let mut single = Reference::<f32>::new(&Method::named("rk4").unwrap(), &system);
        assert!((end(&mut single, 10.0, 0.0, &steps(1.0)) - 5.0).abs() < 1e-6, "{formula}");
        let stage = Reference::<f64>::new(&Stabilised::<()>::stage().unwrap(), &system);
        let mut stabilised = Stabilised::new(stage).unwrap();
        assert!((end(&mut stabilised, 10.0, 0.0, &steps(1.0)) - 5.0).abs() < 1e-13, "{formula}");
        // Adaptive steps that hit the stop reject none because of it.
        let mut adaptive = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
        let options = Options { stops: vec![5.0], ..Options::default() };
        let (y, report) = integrate(&mut adaptive, 0.0, 10.0, &[0.0], &options, &mut |_, _| ()).unwrap();
        assert!((y[0] - 5.0).abs() < 1e-14 && report.rejected == 0, "{formula}: {y:?} {report:?}");
    }
}

#[test]
fn devices_see_the_value_of_their_side_of_a_stop() {
    for formula in ["if(t > 5, 1, 0)", "if(t >= 5, 1, 0)"] {
        let system = System::from_text(&format!("y' = {formula}"), &[]).unwrap();
        let method = Method::named("rk4").unwrap();
        let options = Options { fixed_step: Some(1.0), stops: vec![5.0], ..Options::default() };
        for context in contexts() {
            for variant in [Variant::Basic, Variant::Fused] {
                let mut double = DeviceStepper::<f64>::new(&context, &method, &system, variant).unwrap();
                let y = end(&mut double, 10.0, 0.0, &options);
                assert!((y - 5.0).abs() < 1e-14, "{formula}: {y}");
            }
            let mut single = DeviceStepper::<f32>::new(&context, &method, &system, Variant::Fused).unwrap();
            let y = end(&mut single, 10.0, 0.0, &options);
            assert!((y - 5.0).abs() < 1e-6, "{formula}: {y}");
        }
    }
}

#[test]
fn the_order_of_a_method_survives_a_stop() {
    let system = System::from_text("y' = if(t > 1, -2*y, y*cos(t))", &[]).unwrap();
    let error = |h: f64| {
        let options = Options { fixed_step: Some(h), stops: vec![1.0], ..Options::default() };
        let mut stepper = Reference::<f64>::new(&Method::named("rk4").unwrap(), &system);
        (end(&mut stepper, 2.0, 1.0, &options) - (1.0_f64.sin() - 2.0).exp()).abs()
    };
    let order = (error(0.1) / error(0.05)).log2();
    assert!(order > 3.8, "{order}");
}

#[test]
fn dense_output_beside_a_stop_sees_its_side() {
    let system = System::from_text("y' = if(t > 5, 1, 0)", &[]).unwrap();
    let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
    let options = Options { stops: vec![5.0], dense: true, ..Options::default() };
    let mut run = Integrator::new(&mut stepper, 0.0, 10.0, &[0.0], &options).unwrap();
    let mut begin = 0.0_f64;
    while begin < 10.0 {
        run.step().unwrap();
        for t in [begin.midpoint(run.t()), 0.01 * begin + 0.99 * run.t()] {
            assert!((run.at(t).unwrap()[0] - (t - 5.0).max(0.0)).abs() < 1e-13, "{t}");
        }
        begin = run.t();
    }
    drop(run);
    // No limit of times is left behind.
    stepper.set(&[vec![0.0]]).unwrap();
    stepper.advance(&[7.0], 1.0).unwrap();
    assert!((stepper.solution().unwrap()[0] - 1.0).abs() < 1e-15);
}

#[test]
fn the_solution_moves_by_what_rounding_leaves_of_a_step() {
    let system = System::from_text("y' = 1", &[]).unwrap();
    let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
    for t0 in [1e11, 1.7e12] {
        for (length, first_step) in [(1.0, None), (10.0, None), (1.0, Some(0.01))] {
            let options = Options { first_step, largest_step: 0.0123, ..Options::default() };
            let (y, report) = integrate(&mut stepper, t0, t0 + length, &[0.0], &options, &mut |_, _| ()).unwrap();
            assert!((y[0] - length).abs() < 1e-12 * length, "{t0} {length}: {:e}", y[0] - length);
            assert_eq!(report.t, t0 + length);
        }
    }
}

#[test]
fn the_first_step_is_none_that_floating_point_time_cannot_take() {
    for text in ["y' = 1", "y' = 0", "y' = 1e-9*y", "y' = sin(t)"] {
        let system = System::from_text(text, &[]).unwrap();
        // At 1e15 the time is known to an eighth: too coarse for the sine.
        for t0 in [1.7e12, -1.7e12, 1e15].into_iter().filter(|t0| *t0 < 1e15 || !text.contains("sin")) {
            let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
            let done = integrate(&mut stepper, t0, t0 + 100.0, &[0.0], &Options::default(), &mut |_, _| ());
            let (y, _) = done.unwrap_or_else(|error| panic!("{text} from {t0}: {error}"));
            let expected = match text {
                "y' = 1" => 100.0,
                "y' = sin(t)" => t0.cos() - (t0 + 100.0).cos(),
                _ => 0.0,
            };
            assert!((y[0] - expected).abs() < 1e-3, "{text} from {t0}: {y:?}");
        }
        if text.contains("sin") {
            continue;
        }
        let mut single = Reference::<f32>::new(&Method::named("bs32").unwrap(), &system);
        let options = Options { relative: 1e-4, absolute: 1e-4, ..Options::default() };
        integrate(&mut single, 1e6, 1e6 + 100.0, &[0.0], &options, &mut |_, _| ())
            .unwrap_or_else(|error| panic!("{text} in single precision: {error}"));
    }
}
