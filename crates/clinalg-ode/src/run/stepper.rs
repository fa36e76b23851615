//! Steppers: what computes steps of a method for a right-hand side, and the vectors that it keeps.

use clinalg::runtime::View;
use clinalg::team::{Partition, Team};
use clinalg::{Precision, Real, Vector, ops};
use serde::Serialize;

use crate::method::Method;
use crate::model::system::System;
use crate::{Error, Result};

/// How the error of a step is measured; each component is divided by absolute + relative max(|y_n|, |y_(n+1)|), the
/// values at both ends of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Norm {
    /// Root of the mean square.
    Rms,
    /// Largest magnitude.
    Max,
}

/// The tolerance of a step; an error norm of 1 just meets it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Relative to the magnitude of the solution at the ends of the step.
    pub relative: f64,
    /// Added to that.
    pub absolute: f64,
    /// Which norm.
    pub norm: Norm,
}

impl Tolerance {
    /// For steps whose error is not used.
    pub(crate) const UNUSED: Tolerance = Tolerance { relative: 1.0, absolute: 1.0, norm: Norm::Max };
}

/// A vector that a stepper keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// What this input of the method's graph holds, counted from 0.
    Input(usize),
    /// The solution at the end of the step tried last, before it is taken.
    Result,
}

/// Where a vector is; slices and vectors turn into it.
#[derive(Debug)]
pub enum Stored<'a, T: Real> {
    /// In the memory of the host.
    Host(&'a [T]),
    /// On a device.
    Device(&'a Vector<T>),
    /// In parts on the devices of a team.
    Parts(Shared<'a, T>),
}

/// One of the vectors that a team keeps, in parts on its devices.
#[derive(Debug)]
pub struct Shared<'a, T: Real> {
    pub(crate) parts: &'a dyn Parts<T>,
    pub(crate) slot: Slot,
}

impl<T: Real> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Real> Copy for Shared<'_, T> {}

/// Vectors whose components are distributed over the devices of a team.
pub(crate) trait Parts<T: Real>: std::fmt::Debug {
    fn team(&self) -> &Team;

    /// Which rows of the grid each rank owns.
    fn partition(&self) -> &Partition;

    /// Number of components, of all ranks.
    fn len(&self) -> usize;

    /// The rows of the grid that local rank `k` stores, and its values there.
    fn part(&self, slot: Slot, k: usize) -> (&System, &Vector<T>);

    /// The components that local rank `k` owns, as pieces of its memory in the order of the whole vector.
    fn own(&self, slot: Slot, k: usize) -> Result<Vec<View<'_, T>>>;

    /// The whole vector; components of ranks of other processes are 0.
    fn to_vec(&self, slot: Slot) -> Result<Vec<T>>;

    /// Whether no component of any rank is infinite or NaN.
    fn all_finite(&self, slot: Slot) -> Result<bool>;

    /// The root of the sum of the squares, of all ranks.
    fn norm2(&self, slot: Slot) -> Result<f64>;

    /// Some of the components, on every process.
    fn pick(&self, slot: Slot, components: &[usize]) -> Result<Vec<T>>;

    /// The vector with noise, see [`with_noise`](crate::run::whole::with_noise).
    fn with_noise(&self, slot: Slot, distance: f64) -> Result<Box<dyn Parts<T>>>;
}

impl<T: Real> Clone for Stored<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Real> Copy for Stored<'_, T> {}

impl<'a, T: Real> From<&'a [T]> for Stored<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Stored::Host(values)
    }
}

impl<'a, T: Real, const N: usize> From<&'a [T; N]> for Stored<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        Stored::Host(values)
    }
}

impl<'a, T: Real> From<&'a Vec<T>> for Stored<'a, T> {
    fn from(values: &'a Vec<T>) -> Self {
        Stored::Host(values)
    }
}

impl<'a, T: Real> From<&'a Vector<T>> for Stored<'a, T> {
    fn from(values: &'a Vector<T>) -> Self {
        Stored::Device(values)
    }
}

impl<T: Real> Stored<'_, T> {
    /// Number of components.
    pub fn len(&self) -> usize {
        match self {
            Stored::Host(values) => values.len(),
            Stored::Device(vector) => vector.len(),
            Stored::Parts(shared) => shared.parts.len(),
        }
    }

    /// Whether there is no component.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The whole vector; where other processes have ranks of a team, their components are 0.
    ///
    /// # Errors
    /// Those of the device.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        Ok(match self {
            Stored::Host(values) => values.to_vec(),
            Stored::Device(vector) => vector.to_vec()?,
            Stored::Parts(shared) => shared.parts.to_vec(shared.slot)?,
        })
    }

    /// Copies it to a vector on a device; what is on the same device stays there.
    ///
    /// # Errors
    /// [`clinalg::Error::Length`] for another length; those of the device.
    pub fn copy_to(&self, target: &mut Vector<T>) -> Result<()> {
        match self {
            Stored::Host(values) => target.write(values)?,
            Stored::Device(vector) if vector.context().same(target.context()) => target.copy_from(vector)?,
            other => target.write(&other.to_vec()?)?,
        }
        Ok(())
    }

    /// Whether no component is infinite or NaN; checked where the vector is.
    ///
    /// # Errors
    /// Those of the device.
    pub fn all_finite(&self) -> Result<bool> {
        Ok(match self {
            Stored::Host(values) => values.iter().all(|v| v.is_finite()),
            Stored::Device(vector) => ops::norm_inf(*vector)?.is_finite(),
            Stored::Parts(shared) => shared.parts.all_finite(shared.slot)?,
        })
    }

    /// Root of the mean square of the components; 0 for none.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn rms(&self) -> Result<f64> {
        let n = self.len().max(1) as f64;
        Ok(match self {
            Stored::Host(values) => (values.iter().map(|v| v.into_f64() * v.into_f64()).sum::<f64>() / n).sqrt(),
            other => other.norm2()? / n.sqrt(),
        })
    }

    /// The 2-norm, computed where the vector is.
    ///
    /// # Errors
    /// Those of the device.
    pub fn norm2(&self) -> Result<f64> {
        Ok(match self {
            Stored::Host(values) => values.iter().map(|v| v.into_f64() * v.into_f64()).sum::<f64>().sqrt(),
            Stored::Device(vector) => ops::norm2(*vector)?.into_f64(),
            Stored::Parts(shared) => shared.parts.norm2(shared.slot)?,
        })
    }

    /// Some of its components, which alone are read from a device.
    ///
    /// # Errors
    /// Those of the device; [`Error::Value`] past the end.
    pub fn pick(&self, components: &[usize]) -> Result<Vec<T>> {
        let n = self.len();
        if let Some(k) = components.iter().find(|k| **k >= n) {
            return Err(Error::value("component", format!("below {n}"), k));
        }
        Ok(match self {
            Stored::Host(values) => components.iter().map(|k| values[*k]).collect(),
            Stored::Device(vector) => ops::pick(*vector, components)?,
            Stored::Parts(shared) => shared.parts.pick(shared.slot, components)?,
        })
    }
}

/// Something that computes steps of a method for a right-hand side.
pub trait Stepper<T: Real> {
    /// The method.
    fn method(&self) -> &Method;

    /// Number of components of the system.
    fn components(&self) -> usize;

    /// Sets what the inputs of the graph hold.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of vectors or components; those of the device.
    fn set(&mut self, inputs: &[Vec<T>]) -> Result<()>;

    /// Computes a step from t to t + h without taking it; the norm of its error where the method estimates it.
    ///
    /// # Errors
    /// Those of the device.
    fn trial(&mut self, t: f64, h: f64, tolerance: &Tolerance) -> Result<Option<f64>>;

    /// Takes the step tried last.
    ///
    /// # Errors
    /// Those of the device.
    fn accept(&mut self) -> Result<()>;

    /// The solution where the steps taken so far end.
    ///
    /// # Errors
    /// Those of the device.
    fn solution(&self) -> Result<Vec<T>>;

    /// Another method for the same right-hand side in the same place, whose inputs hold nothing yet.
    ///
    /// # Errors
    /// Those of the device.
    fn sibling(&self, method: &Method) -> Result<Self>
    where
        Self: Sized;

    /// One of the vectors kept.
    fn stored(&self, slot: Slot) -> Stored<'_, T>;

    /// Sets what one input of the graph holds; what is on the device stays there.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of components; those of the device.
    fn load(&mut self, input: usize, from: Stored<'_, T>) -> Result<()>;

    /// Takes a step of the size h from each of `times`, without error control.
    ///
    /// # Errors
    /// Those of the device.
    fn advance(&mut self, times: &[f64], h: f64) -> Result<()> {
        for t in times {
            self.trial(*t, h, &Tolerance::UNUSED)?;
            self.accept()?;
        }
        Ok(())
    }

    /// As [`Stepper::advance`], for methods whose coefficients have [arguments](crate::graph::Coefficient::argument); `arguments` are
    /// those of the first step, then of the next, and so on.
    ///
    /// # Errors
    /// [`Error::Value`] for another number of arguments, and where the stepper takes no method that has any; those of the device.
    fn advance_with(&mut self, times: &[f64], h: f64, arguments: &[f64]) -> Result<()> {
        if self.method().graph().step_arguments() > 0 {
            let expected = "one whose coefficients have no arguments, with this stepper";
            return Err(Error::value("method", expected, self.method().name()));
        }
        per_step(self.method(), times, arguments)?;
        self.advance(times, h)
    }

    /// Keeps the times of all stages from here on between two times, which siblings made later inherit: stages of steps that begin or end
    /// where the right-hand side jumps see its value on their own side. Steppers without this see one value on both sides.
    fn limit_times(&mut self, times: [f64; 2]) {
        let _ = times;
    }

    /// Waits until the steps taken so far are computed. `false`, without waiting, where other processes take them too: what depends on
    /// the time measured here would differ between the processes.
    ///
    /// # Errors
    /// Those of the device.
    fn finish(&self) -> Result<bool> {
        Ok(true)
    }

    /// What messages call a component.
    fn component_name(&self, component: usize) -> String {
        format!("component {} (counted from 1)", component + 1)
    }

    /// Evaluations of the right-hand side in the step tried last.
    fn evaluations(&self) -> usize {
        self.method().graph().rhs_count()
    }

    /// Whether steps are made stable by more stages where they are large.
    fn is_stabilised(&self) -> bool {
        false
    }

    /// What decides further steps besides the inputs, as vectors and numbers for [`Stepper::restore_kept`].
    ///
    /// # Errors
    /// Those of the device.
    fn kept(&self) -> Result<(Vec<Vec<T>>, Vec<f64>)> {
        Ok((Vec::new(), Vec::new()))
    }

    /// Continues with what [`Stepper::kept`] returned, after the inputs were loaded.
    ///
    /// # Errors
    /// [`Error::Value`] for other counts of vectors, components or numbers; those of the device.
    fn restore_kept(&mut self, vectors: &[Vec<T>], numbers: &[f64]) -> Result<()> {
        match (vectors, numbers) {
            ([], []) => Ok(()),
            _ => Err(Error::value(
                "state",
                format!("one of the method {}", self.method().name()),
                "one of another method",
            )),
        }
    }

    /// Maximum number of steps that one call of [`Stepper::trial_steps`] computes together.
    fn steps_at_once(&self) -> usize {
        1
    }

    /// Computes up to `steps` steps of the size h, from 1 to [`Stepper::steps_at_once`], without taking them; the norm of the
    /// error of each one computed. For methods that estimate it.
    ///
    /// # Errors
    /// Those of the device.
    fn trial_steps(&mut self, t: f64, h: f64, steps: usize, tolerance: &Tolerance) -> Result<Vec<f64>> {
        assert_eq!(steps, 1, "one step at once");
        Ok(self.trial(t, h, tolerance)?.into_iter().collect())
    }

    /// Takes the first `count` of the steps that [`Stepper::trial_steps`] computed last, at least one.
    ///
    /// # Errors
    /// Those of the device.
    fn accept_steps(&mut self, count: usize) -> Result<()> {
        assert_eq!(count, 1, "one step at once");
        self.accept()
    }
}

/// Times that limit none.
pub(crate) fn all_times<T: Real>() -> [f64; 2] {
    let most = T::max_value().into_f64();
    [-most, most]
}

/// The next larger number of the precision, or the next smaller one, that a device does not take for zero.
pub(crate) fn beside<T: Real>(value: f64, larger: bool) -> f64 {
    let (next, least) = match (T::PRECISION, larger) {
        (Precision::F32, true) => (f64::from((value as f32).next_up()), f64::from(f32::MIN_POSITIVE)),
        (Precision::F32, false) => (f64::from((value as f32).next_down()), f64::from(f32::MIN_POSITIVE)),
        (Precision::F64, true) => (value.next_up(), f64::MIN_POSITIVE),
        (Precision::F64, false) => (value.next_down(), f64::MIN_POSITIVE),
    };
    match next.abs() < least {
        true if larger => least,
        true => -least,
        false => next,
    }
}

/// The arguments of one step, of which there are `arguments` for all.
pub(crate) fn per_step(method: &Method, times: &[f64], arguments: &[f64]) -> Result<usize> {
    let count = method.graph().step_arguments();
    if arguments.len() != count * times.len() {
        let expected = format!("{count} for each of {} steps", times.len());
        return Err(Error::value("arguments", expected, arguments.len()));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use clinalg::Context;

    use super::*;

    #[test]
    fn components_picked_on_a_device_are_those_of_the_host() {
        let Some(context) = clinalg_testing::found(Context::global()) else { return };
        let n = 200_000;
        let all: Vec<f32> = (0..n).map(|k| k as f32).collect();
        let vector = Vector::from_slice(&context, &all).unwrap();
        let regular: Vec<usize> = (0..1000).map(|k| 3 + 199 * k).collect();
        let any: Vec<usize> = (0..1000).map(|k| k * 7919 % n).collect();
        for components in [&[][..], &[n - 1, 0, 0], &[5, 9, 6], &regular, &any] {
            let got = Stored::Device(&vector).pick(components).unwrap();
            assert_eq!(got, Stored::Host(&all).pick(components).unwrap());
            assert!(got.iter().zip(components).all(|(value, k)| *value == *k as f32));
        }
        assert_eq!(Stored::Device(&vector).pick(&[n]).unwrap_err().id(), "clinalg:argument:value");
    }
}
