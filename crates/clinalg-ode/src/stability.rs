//! How far stability lets a method step: its limits on y' = lambda y, and the size of the right-hand side's eigenvalues.

use std::f64::consts::PI;

use clinalg::Real;

use crate::graph::{Coefficient, Graph};
use crate::integrate::{Norm, Slot, Stepper, Stored, Tolerance};
use crate::method::{BEGIN, Input, Method};
use crate::reference::Reference;
use crate::rhs::Rhs;
use crate::{Error, Result};

/// y' = lambda y with a complex lambda, as two real equations.
struct Dahlquist {
    re: f64,
    im: f64,
}

impl Rhs<f64> for Dahlquist {
    fn len(&self) -> usize {
        2
    }

    fn eval(&self, _: f64, y: &[f64], f: &mut [f64]) {
        f[0] = self.re * y[0] - self.im * y[1];
        f[1] = self.im * y[0] + self.re * y[1];
    }
}

/// By which factor a step of the size 1 multiplies the solution of y' = z y, in the long run for multi-step methods.
fn growth(method: &Method, z: (f64, f64)) -> f64 {
    let rhs = Dahlquist { re: z.0, im: z.1 };
    let mut stepper = Reference::new(method, &rhs);
    let inputs = method.inputs().len();
    let steps = if inputs == 1 { 1 } else { 120 };
    let start: Vec<Vec<f64>> = (0..inputs).map(|k| vec![1.0 / (1.0 + k as f64), 0.3 * k as f64]).collect();
    let size = |stepper: &Reference<'_, f64>| {
        let part = |k| stepper.stored(Slot::Input(k)).to_vec().unwrap_or_default();
        (0..inputs).flat_map(part).map(|v| v * v).sum::<f64>().sqrt()
    };
    let run = |stepper: &mut Reference<'_, f64>| {
        for _ in 0..steps {
            stepper.trial(0.0, 1.0, &Tolerance::UNUSED).expect("plain Rust does not fail");
            stepper.accept().expect("plain Rust does not fail");
        }
    };
    stepper.set(&start).expect("the method says how many inputs it has");
    // The parts that die out do so first.
    if inputs > 1 {
        run(&mut stepper);
    }
    let before = size(&stepper);
    run(&mut stepper);
    let growth = (size(&stepper) / before).powf(1.0 / f64::from(steps));
    if growth.is_nan() { f64::INFINITY } else { growth }
}

/// The largest |h lambda| found stable along a ray at `angle` from the positive real axis, on a scale of steps of 3 percent.
fn along(method: &Method, angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    // A multi-step method's growth is measured, not known.
    let bound = if method.inputs().len() == 1 { 1.0 + 1e-9 } else { 1.005 };
    let scale = (0..250).map(|k| 0.03 * 1.03_f64.powi(k));
    scale.filter(|x| growth(method, (x * cos, x * sin)) <= bound).fold(0.0, f64::max)
}

impl Method {
    /// The largest |h lambda| for which steps with y' = lambda y do not grow although lambda has no positive real part, over
    /// all directions; for larger ones a method is unstable whatever the problem. To about 3 percent.
    pub fn stability_limit(&self) -> f64 {
        let directions = 8;
        let angle = |k: i32| PI / 2.0 * (1.0 + f64::from(k) / f64::from(directions));
        (0..=directions).map(|k| along(&self.without_error(), angle(k))).fold(0.0, f64::max)
    }

    /// As [`Method::stability_limit`], for negative real lambda: diffusion, friction.
    pub fn real_stability_limit(&self) -> f64 {
        along(&self.without_error(), PI)
    }
}

/// The nonlinear power method on the stepper's own kind: z moves to y + h (f(z) - f(y)), which keeps its distance to y when
/// h is the inverse of the largest eigenvalue's magnitude.
pub(crate) struct PowerMethod<S> {
    kick: S,
    radius: S,
}

const PLAIN: Tolerance = Tolerance { relative: 0.0, absolute: 1.0, norm: Norm::Rms };

impl<S> PowerMethod<S> {
    /// For the right-hand side of `stepper`.
    pub(crate) fn new<T: Real>(stepper: &S) -> Result<PowerMethod<S>>
    where
        S: Stepper<T>,
    {
        let one = Coefficient::constant(1.0);
        let mut g = Graph::new("kick");
        let y = g.input("y");
        let f = g.rhs("F", 0.0, y);
        let z = g.lc("z", &[(one, y), (Coefficient::h(1.0), f)]);
        g.red("size", f, y, y);
        g.carry(y, z);
        g.solution_is(z);
        let kick = Method::new(g, 1, Some(1), vec![BEGIN])?;
        let mut g = Graph::new("radius");
        let (y, z) = (g.input("y"), g.input("z"));
        let (f0, f1) = (g.rhs("F0", 0.0, y), g.rhs("F1", 0.0, z));
        let d = g.lc("D", &[(one, f1), (Coefficient::constant(-1.0), f0)]);
        let next = g.lc("z'", &[(one, y), (Coefficient::h(1.0), d)]);
        g.red("size", d, y, y);
        g.carry(y, y);
        g.carry(z, next);
        g.solution_is(next);
        let radius = Method::new(g, 1, Some(1), vec![BEGIN, Input::Derivative { offset: 0.0 }])?;
        Ok(PowerMethod { kick: stepper.sibling(&kick)?, radius: stepper.sibling(&radius)? })
    }

    /// Builds the kernels.
    pub(crate) fn prepare<T: Real>(&mut self, t: f64) -> Result<()>
    where
        S: Stepper<T>,
    {
        self.kick.trial(t, 0.0, &PLAIN)?;
        self.radius.trial(t, 0.0, &PLAIN)?;
        Ok(())
    }

    /// The magnitude of the largest eigenvalue of the right-hand side's derivative at the stepper's solution: from below, to a
    /// few percent where one eigenvalue leads. The way from y to z begins along f, or along `noise`, which has a part in every
    /// direction. 0 where the right-hand side is 0.
    pub(crate) fn estimate<T: Real>(&mut self, stepper: &S, t: f64, noise: bool) -> Result<f64>
    where
        S: Stepper<T>,
    {
        let begin = Slot::Input(stepper.method().begin());
        self.radius.load(0, stepper.stored(begin))?;
        let size = stepper.stored(begin).rms()?;
        // From y to z: large against rounding.
        let mut distance = if size > 0.0 { size } else { 1.0 } * T::epsilon().wide().sqrt();
        if noise {
            let y = stepper.stored(begin).to_vec()?;
            // The generator of Park and Miller (1988), from -1 to 1; its mean square is 1/3.
            let mut seed = 1_u64;
            let noisy = y.into_iter().map(|v| {
                seed = seed * 48_271 % 2_147_483_647;
                v + T::of(distance * (seed as f64 / 1_073_741_823.5 - 1.0))
            });
            self.radius.load(1, Stored::Host(&noisy.collect::<Vec<T>>()))?;
            distance /= 3.0_f64.sqrt();
        } else {
            self.kick.load(0, stepper.stored(begin))?;
            let size = self.kick.trial(t, 0.0, &PLAIN)?.unwrap_or(f64::NAN);
            // Not `<=`: NaN is no size either.
            if !(size > 0.0 && size.is_finite()) {
                return Ok(0.0);
            }
            self.kick.trial(t, distance / size, &PLAIN)?;
            self.radius.load(1, self.kick.stored(Slot::Result))?;
        }
        let mut radius = 0.0_f64;
        let mut h = None;
        for round in 0..40 {
            // The first round only measures: its step is that of a radius not known yet.
            let step = h.unwrap_or(0.0);
            let size = self.radius.trial(t, step, &PLAIN)?.unwrap_or(f64::NAN);
            let now = size / distance;
            if !now.is_finite() || now == 0.0 {
                break;
            }
            if h.is_some() {
                self.radius.accept()?;
                distance = step * size;
                let settled = (now - radius).abs() <= 0.01 * now;
                radius = now;
                if settled && round >= 4 {
                    break;
                }
            }
            h = Some(1.0 / now);
        }
        Ok(radius)
    }
}

/// # Errors
/// [`Error::Unstable`] when steps of the size h of the stepper's method are past its stability limit in every direction.
pub(crate) fn check_step<T: Real, S: Stepper<T>>(stepper: &S, t: f64, h: f64) -> Result<()> {
    let radius = PowerMethod::new(stepper)?.estimate(stepper, t, true)?;
    let limit = stepper.method().stability_limit();
    if h * radius > 1.02 * limit {
        return Err(Error::Unstable { method: stepper.method().name().into(), h, limit: limit / radius });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_literature() {
        // Hairer, Wanner, Solving ODEs II, IV.2 and, for Adams-Bashforth, V.1: -2/1, -1, -6/11, -3/10.
        for (name, real) in [
            ("euler", 2.0),
            ("heun2", 2.0),
            ("ssprk3", 2.51),
            ("rk4", 2.785),
            ("dopri54", 3.307),
            ("ab2", 1.0),
            ("ab3", 6.0 / 11.0),
            ("ab4", 0.3),
        ] {
            let limit = Method::named(name).unwrap().real_stability_limit();
            assert!(limit <= 1.02 * real && limit >= 0.95 * real, "{name}: {limit} instead of {real}");
        }
        let rk4 = Method::named("rk4").unwrap();
        assert!(rk4.stability_limit() >= 2.7 && rk4.stability_limit() < 3.6, "{}", rk4.stability_limit());
    }

    #[test]
    fn eigenvalues_of_a_diffusion_and_a_turning() {
        use crate::{Grid, System};
        let n = 20;
        let heat = System::builder(Grid::unit(&[n])).field("u", "u[-1] - 2*u + u[1]").build().unwrap();
        let y0 = heat.sample(|_, [x, ..]| 1.0 + x * x);
        let mut stepper = Reference::<f64>::new(&Method::named("rk4").unwrap(), &heat);
        stepper.set(std::slice::from_ref(&y0)).unwrap();
        let radius = PowerMethod::new(&stepper).unwrap().estimate(&stepper, 0.0, false).unwrap();
        assert!((3.7..=4.001).contains(&radius), "{radius}");
        assert!(check_step(&stepper, 0.0, 0.69).is_ok());
        assert_eq!(check_step(&stepper, 0.0, 1.0).unwrap_err().id(), "clinalg:ode:unstable");
        let turning = System::builder(Grid::unit(&[1])).field("u", "7*v").field("v", "-7*u").build().unwrap();
        let mut stepper = Reference::<f64>::new(&Method::named("rk4").unwrap(), &turning);
        stepper.set(&[vec![1.0, 0.5]]).unwrap();
        let radius = PowerMethod::new(&stepper).unwrap().estimate(&stepper, 0.0, false).unwrap();
        assert!((radius - 7.0).abs() < 0.01, "{radius}");
    }
}
