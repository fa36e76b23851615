//! The solution inside a step: a polynomial in theta, from 0 at its beginning to 1 at its end.
//!
//! Its coefficients are vectors, y(theta) = y_0 + theta V_1 + theta^2 V_2 + ... They are computed by a graph of their own, and
//! so is the sum, with theta in place of h: steppers run them like any method.

use clinalg::Real;

use crate::Result;
use crate::method::interpolant::Interpolant;
use crate::run::stepper::{Slot, Stepper, Stored, Tolerance};

/// The interpolant of a step that is kept on the side of a stepper.
pub(crate) struct Dense<S> {
    interpolant: Interpolant,
    /// Its first input keeps y_0, from [`Dense::keep`] on, and the others the V once they are needed.
    sum: S,
    polynomial: S,
    t: f64,
    h: f64,
    ready: bool,
}

impl<S> Dense<S> {
    pub(crate) fn new<T: Real>(stepper: &S) -> Result<Dense<S>>
    where
        S: Stepper<T>,
    {
        let interpolant = Interpolant::of(stepper.method())?;
        Ok(Dense {
            sum: stepper.sibling(&interpolant.sum()?)?,
            polynomial: stepper.sibling(&interpolant.method)?,
            interpolant,
            t: 0.0,
            h: 0.0,
            ready: false,
        })
    }

    /// Keeps the ends of the step that the stepper tried last, from t to t + h, with the times of stages between `times`.
    pub(crate) fn keep<T: Real>(&mut self, stepper: &S, t: f64, h: f64, times: [f64; 2]) -> Result<()>
    where
        S: Stepper<T>,
    {
        self.polynomial.limit_times(times);
        (self.t, self.h, self.ready) = (t, h, false);
        let begin = stepper.method().begin();
        self.sum.load(0, stepper.stored(Slot::Input(begin)))?;
        self.polynomial.load(0, stepper.stored(Slot::Input(begin)))?;
        if self.interpolant.ends {
            self.polynomial.load(1, stepper.stored(Slot::Result))?;
        }
        Ok(())
    }

    /// Beginning and size of the step kept.
    pub(crate) fn step(&self) -> (f64, f64) {
        (self.t, self.h)
    }

    /// Computes the polynomial of the step kept; builds the kernels the first time.
    pub(crate) fn prepare<T: Real>(&mut self) -> Result<()>
    where
        S: Stepper<T>,
    {
        if !self.ready {
            self.polynomial.trial(self.t, self.h, &Tolerance::UNUSED)?;
            self.polynomial.accept()?;
            self.sum.trial(self.t, 0.0, &Tolerance::UNUSED)?;
            for k in 0..self.interpolant.method.inputs().len() {
                self.sum.load(k + 1, self.polynomial.stored(Slot::Input(k)))?;
            }
            self.ready = true;
        }
        Ok(())
    }

    /// Computes the solution at t + theta h.
    pub(crate) fn find<T: Real>(&mut self, theta: f64) -> Result<()>
    where
        S: Stepper<T>,
    {
        self.prepare()?;
        self.sum.trial(self.t, theta, &Tolerance::UNUSED)?;
        Ok(())
    }

    /// The solution found last.
    pub(crate) fn found<T: Real>(&self) -> Stored<'_, T>
    where
        S: Stepper<T>,
    {
        self.sum.stored(Slot::Result)
    }

    /// Coefficients of the polynomials of some components: for each power of theta the values of all of them.
    pub(crate) fn polynomials<T: Real>(&mut self, components: &[usize]) -> Result<Vec<Vec<f64>>>
    where
        S: Stepper<T>,
    {
        self.prepare()?;
        let degree = self.interpolant.method.inputs().len();
        let wide = |values: Vec<T>| values.into_iter().map(|v| v.into_f64()).collect();
        (0..=degree).map(|k| Ok(wide(self.sum.stored(Slot::Input(k)).pick(components)?))).collect()
    }
}
