//! The spectral radius of the right-hand side along the solution, by a nonlinear power method.

use clinalg::Real;

use crate::method::graph::{Coefficient, Graph};
use crate::method::{BEGIN, Input, Method};
use crate::run::stepper::{Norm, Slot, Stepper, Tolerance};
use crate::run::whole::with_noise;
use crate::{Error, Result};

/// The nonlinear power method on the stepper's own kind: z moves to y + h (f(z) - f(y)), which keeps its distance to y when
/// h is the inverse of the largest eigenvalue's magnitude.
pub(crate) struct PowerMethod<S> {
    kick: S,
    radius: S,
    /// Of the estimate made last.
    evaluations: usize,
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
        Ok(PowerMethod { kick: stepper.sibling(&kick)?, radius: stepper.sibling(&radius)?, evaluations: 0 })
    }

    /// As [`Stepper::limit_times`].
    pub(crate) fn limit_times<T: Real>(&mut self, times: [f64; 2])
    where
        S: Stepper<T>,
    {
        self.kick.limit_times(times);
        self.radius.limit_times(times);
    }

    /// Evaluations of the right-hand side in the estimate made last.
    pub(crate) fn evaluations(&self) -> usize {
        self.evaluations
    }

    /// The magnitude of the largest eigenvalue of the right-hand side's derivative at the stepper's solution: from below, to a
    /// few percent where one eigenvalue leads. The way from y to z begins along f, or along `noise`, which has a part in every
    /// direction. 0 where the right-hand side is 0.
    pub(crate) fn estimate<T: Real>(&mut self, stepper: &S, t: f64, noise: bool) -> Result<f64>
    where
        S: Stepper<T>,
    {
        self.evaluations = 0;
        let begin = Slot::Input(stepper.method().begin());
        self.radius.load(0, stepper.stored(begin))?;
        let size = stepper.stored(begin).rms()?;
        // From y to z: large against rounding.
        let mut distance = if size > 0.0 { size } else { 1.0 } * T::epsilon().into_f64().sqrt();
        if noise {
            // The mean square of the numbers is 1/3.
            self.radius.load(1, with_noise(stepper.stored(begin), distance)?.stored())?;
            distance /= 3.0_f64.sqrt();
        } else {
            self.kick.load(0, stepper.stored(begin))?;
            let size = self.kick.trial(t, 0.0, &PLAIN)?.unwrap_or(f64::NAN);
            self.evaluations += 2;
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
            self.evaluations += 2;
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
    check_radius(stepper.method(), h, radius)
}

/// As [`check_step`], for a spectral radius.
pub(crate) fn check_radius(method: &Method, h: f64, radius: f64) -> Result<()> {
    let limit = method.stability_limit();
    if h * radius > 1.02 * limit {
        return Err(Error::Unstable { method: method.name().into(), h, limit: limit / radius });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::reference::Reference;

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
