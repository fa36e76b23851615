//! States of integrations, from which others continue.

use clinalg::Real;

use crate::run::chattering::Chattering;
use crate::run::integrator::{Control, Integrator, Segment, Stiffness, wide};
use crate::run::stepper::{Slot, Stepper, Stored};
use crate::{Error, Result};

/// Where an integration stands: see [`Integrator::state`].
#[derive(Debug, Clone, PartialEq)]
pub struct State<T> {
    /// Values of the method's input vectors, and further vectors of the stepper.
    pub inputs: Vec<Vec<T>>,
    /// Time, counts and the control of the steps: [`State::NUMBERS`] numbers and those of the stepper, for [`Integrator::restore`] alone.
    pub numbers: Vec<f64>,
}

impl<T> State<T> {
    /// Length of [`State::numbers`] without those of the stepper.
    pub const NUMBERS: usize = 17;
}

/// The kinds of control in a state.
const ADAPTIVE: f64 = 0.0;
const FIXED: f64 = 1.0;
/// With equal steps up to a stop on their way.
const SEGMENT: f64 = 2.0;

/// Tells the names of methods apart (FNV-1a); exact as a floating-point number.
fn fingerprint(name: &str) -> f64 {
    f64::from(name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)))
}

impl<T: Real, S: Stepper<T>> Integrator<'_, T, S> {
    /// Where the integration stands. Another one of the same problem with the same options continues from there with the same bits.
    /// Events that were found are not part of it.
    ///
    /// ```
    /// use clinalg_ode::integrate::{Integrator, Options};
    /// use clinalg_ode::reference::Reference;
    /// use clinalg_ode::{Grid, Method, System};
    ///
    /// let decay = System::builder(Grid::unit(&[1])).field("u", "-u").build()?;
    /// let mut stepper = Reference::<f64>::new(&Method::named("dopri54")?, &decay);
    /// let mut first = Integrator::new(&mut stepper, 0.0, 2.0, &[1.0], &Options::default())?;
    /// first.step()?;
    /// let state = first.state()?;
    /// first.run()?;
    /// let whole = first.solution()?;
    /// drop(first);
    /// let mut second = Integrator::new(&mut stepper, 0.0, 2.0, &[1.0], &Options::default())?;
    /// second.restore(&state)?;
    /// second.run()?;
    /// assert_eq!(second.solution()?, whole);
    /// # Ok::<(), clinalg_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the device.
    pub fn state(&self) -> Result<State<T>> {
        let inputs = 0..self.stepper.method().inputs().len();
        let mut inputs = inputs.map(|k| self.stepper.stored(Slot::Input(k)).to_vec()).collect::<Result<Vec<_>>>()?;
        let (vectors, further) = self.stepper.kept()?;
        inputs.extend(vectors);
        let report = &self.report;
        let stiff = report.stiff.unwrap_or(f64::NAN);
        let (next, hits) = self.stiffness.as_ref().map_or((0, 0), |stiffness| (stiffness.next, stiffness.hits));
        let mut numbers = vec![report.t, report.accepted as f64, report.rejected as f64, report.rhs_evaluations as f64];
        numbers.extend([report.smallest_step, report.largest_step, stiff, next as f64, hits as f64]);
        let flag = |is: bool| f64::from(u8::from(is));
        match self.control {
            Control::Adaptive { h, old, rejected_before, not_finite, .. } => {
                numbers.extend([ADAPTIVE, h, old, flag(rejected_before), flag(not_finite)]);
            }
            Control::Fixed { h, segment: None } => numbers.extend([FIXED, h]),
            Control::Fixed { h, segment: Some(Segment { t, h: size, steps, done }) } => {
                let end = self.stops.front().copied().unwrap_or(report.t);
                numbers.extend([SEGMENT, h, t, size, steps as f64, done as f64, end]);
            }
        }
        numbers.resize(State::<T>::NUMBERS - 1, 0.0);
        numbers.push(fingerprint(self.stepper.method().name()));
        numbers.extend(further);
        Ok(State { inputs, numbers })
    }

    /// Continues from a state. Stops and outputs up to its time are left out. Equal steps of another size than those of the
    /// state, or to another end, begin anew at its time.
    ///
    /// # Errors
    /// [`Error::Value`] for a state of another method, of another kind of steps or of another number of components, and for one past the
    /// end; those of the device.
    pub fn restore(&mut self, state: &State<T>) -> Result<()> {
        let inputs = self.stepper.method().inputs().len();
        let name = self.stepper.method().name();
        if state.numbers.len() < State::<T>::NUMBERS {
            let expected = format!("{} numbers or more", State::<T>::NUMBERS);
            return Err(Error::value("state", expected, state.numbers.len()));
        }
        if state.inputs.len() < inputs || state.numbers[State::<T>::NUMBERS - 1] != fingerprint(name) {
            return Err(Error::value(
                "state",
                format!("a state written by the method {name}"),
                "one of another method",
            ));
        }
        let n = self.stepper.components();
        let (own, vectors) = state.inputs.split_at(inputs);
        // A stepper may keep no values of a vector.
        if let Some(input) = own.iter().find(|v| v.len() != n).or(vectors.iter().find(|v| ![0, n].contains(&v.len()))) {
            return Err(Error::value("state", format!("{n} components"), input.len()));
        }
        let number = |k: usize| state.numbers[k];
        let (t, end) = (number(0), *self.stops.back().expect("the end is a stop"));
        if !(t >= self.report.t && t <= end) {
            return Err(Error::value("t_end", format!("at least {t}, where the state is"), end));
        }
        let mut stops = self.stops.clone();
        stops.retain(|stop| *stop > t);
        match &mut self.control {
            Control::Adaptive { h, old, rejected_before, not_finite, .. } if number(9) == ADAPTIVE => {
                (*h, *old) = (number(10), number(11));
                (*rejected_before, *not_finite) = (number(12) != 0.0, number(13) != 0.0);
            }
            Control::Fixed { h, segment } if number(9) != ADAPTIVE => {
                let goes_on = number(9) == SEGMENT && number(10) == *h && stops.front() == Some(&number(15));
                let [steps, done] = [13, 14].map(|k| number(k) as usize);
                *segment = goes_on.then_some(Segment { t: number(11), h: number(12), steps, done });
            }
            _ => {
                let kinds = if number(9) == ADAPTIVE { ["fixed", "adaptive"] } else { ["adaptive", "fixed"] };
                return Err(Error::value("state", format!("one of {} steps", kinds[0]), kinds[1]));
            }
        }
        for (k, input) in own.iter().enumerate() {
            self.stepper.load(k, Stored::Host(input))?;
        }
        self.stops = stops;
        self.report.t = t;
        self.ended = self.stops.is_empty();
        self.limit_times();
        self.stepper.restore_kept(vectors, &state.numbers[State::<T>::NUMBERS..])?;
        for (event, value) in &mut self.events {
            let y = self.stepper.stored(Slot::Input(self.stepper.method().begin())).pick(&event.components)?;
            *value = (event.function)(t, &wide(&y));
        }
        self.chattering = Chattering::new(t);
        // A time within rounding of the state's has been saved.
        self.saves.retain(|save| *save > t + 8.0 * f64::EPSILON * t.abs());
        let report = &mut self.report;
        (report.smallest_step, report.largest_step) = (number(4), number(5));
        [report.accepted, report.rejected, report.rhs_evaluations] = [1, 2, 3].map(|k| number(k) as usize);
        report.stiff = Some(number(6)).filter(|t| !t.is_nan());
        if let Some(Stiffness { next, hits, .. }) = &mut self.stiffness {
            [*next, *hits] = [7, 8].map(|k| number(k) as usize);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::Options;
    use crate::run::reference::Reference;
    use crate::{Grid, Method, System};

    fn ring() -> System {
        System::builder(Grid::unit(&[7]))
            .field("u", "u[1] - u*u[-1] + cos(t)")
            .boundary(crate::Boundary::Periodic)
            .build()
            .unwrap()
    }

    #[test]
    fn any_state_leads_to_the_same_bits() {
        let (system, y0) = (ring(), [0.5, 0.1, 0.7, 0.2, 0.9, 0.4, 0.3]);
        for (name, h) in
            [("dopri54", None), ("bs32", None), ("rk4", Some(0.0625)), ("ab3", Some(0.03)), ("peer4", Some(0.03))]
        {
            let method = Method::named(name).unwrap();
            let method = if h.is_some() { method.without_error() } else { method };
            let options = Options { fixed_step: h, stops: vec![0.7], save_at: vec![0.2, 1.1], ..Options::default() };
            let mut stepper = Reference::<f64>::new(&method, &system);
            let mut whole = Integrator::new(&mut stepper, 0.0, 2.0, &y0, &options).unwrap();
            let mut states = vec![whole.state().unwrap()];
            while whole.step().unwrap() != crate::integrate::StepOutcome::End {
                states.push(whole.state().unwrap());
            }
            let (y, report) = (whole.solution().unwrap(), whole.into_report());
            assert!(states.len() > 10);
            for state in states.iter().step_by(3) {
                let mut saved = Vec::new();
                let resumed = Integrator::new(&mut stepper, 0.0, 2.0, &y0, &options).unwrap();
                let mut resumed = resumed.on_save(|t, _| saved.push(t));
                resumed.restore(state).unwrap();
                resumed.run().unwrap();
                assert_eq!(resumed.solution().unwrap(), y, "{name} from {}", state.numbers[0]);
                assert_eq!(*resumed.report(), report, "{name}");
                drop(resumed);
                assert!(saved.iter().all(|t| *t > state.numbers[0]));
            }
        }
    }

    #[test]
    fn states_of_a_stabilised_method_lead_to_the_same_bits() {
        use crate::integrate::Stabilised;
        let n = 40;
        let system = System::builder(Grid::unit(&[n])).field("u", "1681 * (u[-1] - 2*u + u[1]) + u^2").build().unwrap();
        let y0: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
        for h in [None, Some(1e-3)] {
            // Rejected steps and several estimates of the radius with chosen ones.
            let options = Options { fixed_step: h, relative: 1e-6, absolute: 1e-8, ..Options::default() };
            let make = || Stabilised::new(Reference::<f64>::new(&Stabilised::<()>::stage().unwrap(), &system)).unwrap();
            let mut stepper = make();
            let mut whole = Integrator::new(&mut stepper, 0.0, 0.1, &y0, &options).unwrap();
            let mut states = vec![whole.state().unwrap()];
            while whole.step().unwrap() != crate::integrate::StepOutcome::End {
                states.push(whole.state().unwrap());
            }
            let (y, report) = (whole.solution().unwrap(), whole.into_report());
            let most = stepper.most_stages();
            assert!(states.len() > 30, "{}", states.len());
            for state in states.iter().step_by(4) {
                let mut other = make();
                let mut resumed = Integrator::new(&mut other, 0.0, 0.1, &y0, &options).unwrap();
                resumed.restore(state).unwrap();
                resumed.run().unwrap();
                assert_eq!(resumed.solution().unwrap(), y, "from {}", state.numbers[0]);
                assert_eq!(*resumed.report(), report);
                drop(resumed);
                assert_eq!(other.most_stages(), most);
            }
        }
    }

    #[test]
    fn states_of_something_else_are_errors() {
        let system = ring();
        let mut stepper = Reference::<f64>::new(&Method::named("dopri54").unwrap(), &system);
        let method = Method::named("dopri54").unwrap();
        let mut first = Integrator::new(&mut stepper, 0.0, 2.0, &[0.5; 7], &Options::default()).unwrap();
        first.run().unwrap();
        let state = first.state().unwrap();
        let says = |state: &State<f64>, t_end, fixed_step, needle: &str| {
            let options = Options { fixed_step, ..Options::default() };
            let mut stepper = Reference::<f64>::new(&method, &system);
            let mut other = Integrator::new(&mut stepper, 0.0, t_end, &[0.5; 7], &options).unwrap();
            let error = other.restore(state).unwrap_err();
            assert!(error.id() == "clinalg:argument:value" && error.to_string().contains(needle), "{error}");
        };
        says(&state, 1.0, None, "at least 2");
        says(&state, 3.0, Some(0.01), "adaptive");
        says(&State { inputs: vec![vec![0.0; 6]], ..state.clone() }, 3.0, None, "7 components");
        says(&State { inputs: Vec::new(), ..state }, 3.0, None, "method dopri54");
        let mut of_another = Reference::<f64>::new(&Method::named("bs32").unwrap(), &system);
        let first = Integrator::new(&mut of_another, 0.0, 2.0, &[0.5; 7], &Options::default()).unwrap();
        says(&first.state().unwrap(), 3.0, None, "method dopri54");
    }
}
