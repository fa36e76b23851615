//! Orders of convergence against exact solutions, and control of the step size.

use clinalg_ode::integrate::{Norm, Options, Stepper, Tolerance, integrate, integrate_fixed};
use clinalg_ode::reference::Reference;
use clinalg_ode::{Boundary, Error, Grid, METHODS, Method, Rhs, System};

/// u' = v cos t, v' = -u cos t: the point (cos s, -sin s) with s = sin t, which depends on time and couples its components.
fn turning() -> System {
    System::builder(Grid::unit(&[1])).field("u", "v*cos(t)").field("v", "-u*cos(t)").build().unwrap()
}

fn exact(t: f64) -> [f64; 2] {
    [t.sin().cos(), -t.sin().sin()]
}

fn error(method: &Method, steps: usize) -> f64 {
    let system = turning();
    let mut stepper = Reference::new(method, &system);
    let (y, report) = integrate_fixed(&mut stepper, 0.0, 2.0, &exact(0.0), steps).unwrap();
    assert_eq!(report.accepted, steps - method.start_steps());
    y.iter().zip(exact(2.0)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn every_method_converges_with_its_order() {
    for name in METHODS {
        let method = Method::named(name).unwrap();
        // Few steps for high orders: rounding takes over soon.
        let coarse = match method.order() {
            1 => 256,
            2..=3 => 64,
            4..=5 => 32,
            6..=7 => 16,
            _ => 8,
        } * if method.start_steps() > 0 { 3 } else { 1 };
        let (a, b) = (error(&method, coarse), error(&method, 2 * coarse));
        let order = (a / b).log2();
        let wanted = method.order() as f64;
        println!("{name:22} order {wanted}: errors {a:.2e} {b:.2e}, observed {order:.2}");
        assert!(b < 1e-2 && order > wanted - 0.35, "{name}: {order} instead of {wanted} ({a:e}, {b:e})");
        if method.graph().has_error() {
            assert_eq!(error(&method.without_error(), coarse), a, "{name}");
        }
    }
}

#[test]
fn tolerances_are_met() {
    let system = turning();
    for name in ["bs32", "rkf45", "dopri54", "verner65", "dopri87"] {
        for norm in [Norm::Rms, Norm::Max] {
            let mut errors = Vec::new();
            for relative in [1e-4, 1e-7, 1e-10] {
                let options = Options { relative, absolute: relative, norm, ..Options::default() };
                let mut stepper = Reference::new(&Method::named(name).unwrap(), &system);
                let (y, report) = integrate(&mut stepper, 0.0, 10.0, &exact(0.0), &options, &mut |_, _| ()).unwrap();
                let error = y.iter().zip(exact(10.0)).map(|(a, b)| f64::abs(a - b)).fold(0.0, f64::max);
                assert!(error < 30.0 * relative, "{name} {relative}: {error:e}");
                assert_eq!(report.t, 10.0);
                let per_step = Method::named(name).unwrap().graph().rhs_count();
                assert_eq!(report.rhs_evaluations, per_step * (report.accepted + report.rejected));
                errors.push(error);
            }
            assert!(errors[0] > errors[1] && errors[1] > errors[2], "{name}: {errors:?}");
        }
    }
}

#[test]
fn stops_are_hit_to_the_bit() {
    let system = System::builder(Grid::unit(&[1])).field("u", "if(t >= 1.1, 5, 0)").build().unwrap();
    let options = Options {
        stops: vec![1.1, 0.3, 1.1, 7.0, -1.0],
        save_at: vec![0.3, 1.1],
        relative: 1e-8,
        absolute: 1e-10,
        ..Options::default()
    };
    let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &system);
    let mut seen = Vec::new();
    let mut see = |t: f64, y: &[f64]| seen.push((t, y[0]));
    let (y, report) = integrate(&mut stepper, 0.0, 2.1, &[1.0], &options, &mut see).unwrap();
    assert!((y[0] - 6.0).abs() < 1e-7, "{}", y[0]);
    assert_eq!(seen.iter().map(|s| s.0).collect::<Vec<_>>(), [0.3, 1.1]);
    assert!(seen.iter().all(|s| (s.1 - 1.0).abs() < 1e-7), "{seen:?}");
    assert_eq!(report.t, 2.1);
}

#[test]
fn bad_input_and_bad_ends_are_errors() {
    let system = turning();
    let run = |t_end: f64, y0: &[f64], options: Options| {
        let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &system);
        integrate(&mut stepper, 0.0, t_end, y0, &options, &mut |_, _| ()).unwrap_err()
    };
    let y0 = [1.0, 0.0];
    for error in [
        run(-1.0, &y0, Options::default()),
        run(f64::NAN, &y0, Options::default()),
        run(1.0, &[1.0], Options::default()),
        run(1.0, &[f64::NAN, 1.0], Options::default()),
        run(1.0, &y0, Options { relative: 0.0, absolute: 0.0, ..Options::default() }),
        run(1.0, &y0, Options { relative: -1.0, ..Options::default() }),
        run(1.0, &y0, Options { first_step: Some(0.0), ..Options::default() }),
        run(1.0, &y0, Options { safety: 2.0, ..Options::default() }),
    ] {
        assert_eq!(error.id(), "clinalg:argument:value", "{error}");
    }
    assert_eq!(
        run(1.0, &y0, Options { step_limit: 3, relative: 1e-12, ..Options::default() }).id(),
        "clinalg:ode:stepLimit"
    );
    let mut rk4 = Reference::new(&Method::named("rk4").unwrap(), &system);
    assert!(integrate(&mut rk4, 0.0, 1.0, &y0, &Options::default(), &mut |_, _| ()).is_err());
    assert!(integrate_fixed(&mut rk4, 0.0, 1.0, &y0, 0).is_err());
    let mut ab4 = Reference::new(&Method::named("ab4").unwrap(), &system);
    assert!(integrate_fixed(&mut ab4, 0.0, 1.0, &y0, 3).is_err());

    // u' = u^2 from 1 has a pole at t = 1.
    let pole = System::builder(Grid::unit(&[1])).field("u", "u^2").build().unwrap();
    let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &pole);
    let error = integrate(&mut stepper, 0.0, 2.0, &[1.0], &Options::default(), &mut |_, _| ()).unwrap_err();
    assert!(
        matches!(error, Error::StepTooSmall { t, .. } | Error::NotFinite { t, .. } if (t - 1.0).abs() < 1e-3),
        "{error}"
    );

    // Past the stability limit a fixed step blows up.
    let heat = System::builder(Grid::unit(&[33])).field("u", "1e6*(u[-1] - 2*u + u[1])").boundary(Boundary::Periodic);
    let heat = heat.build().unwrap();
    let mut stepper = Reference::new(&Method::named("rk4").unwrap(), &heat);
    let y0 = heat.sample(|_, [x, ..]| (20.0 * x).sin());
    let error = integrate_fixed(&mut stepper, 0.0, 1.0, &y0, 100).unwrap_err();
    // The largest eigenvalue is -4e6, the limit on the real axis 2.785, in the best direction 3.
    assert!(matches!(error, Error::Unstable { limit, .. } if limit > 6.9e-7 && limit < 9e-7), "{error}");
    let options = Options { fixed_step: Some(0.01), watch_stability: false, ..Options::default() };
    let error = integrate(&mut stepper, 0.0, 1.0, &y0, &options, &mut |_, _| ()).unwrap_err();
    assert_eq!(error.id(), "clinalg:ode:notFinite");
}

#[test]
fn a_rejected_step_leaves_the_state_alone() {
    let system = turning();
    let mut stepper = Reference::new(&Method::named("dopri54").unwrap(), &system);
    stepper.set(&[exact(0.0).to_vec()]).unwrap();
    let tolerance = Tolerance { relative: 1e-6, absolute: 1e-6, norm: Norm::Rms };
    let first = stepper.trial(0.0, 1.0, &tolerance).unwrap();
    assert_eq!(stepper.solution().unwrap(), exact(0.0));
    assert_eq!(stepper.trial(0.0, 1.0, &tolerance).unwrap(), first);
    assert_eq!(Rhs::<f64>::len(&system), 2);
}
