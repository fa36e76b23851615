//! Events: times at which a function of the solution passes through zero.

use serde::Serialize;

use crate::model::formula::{Expr, Values};
use crate::model::grid::Grid;
use crate::model::parse::{self, Names};
use crate::model::system::System;
use crate::{Error, Result};

/// Which way a function passes through zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Either way.
    Any,
    /// From below 0 to above.
    Rising,
    /// From above 0 to below.
    Falling,
}

type Function<'e> = Box<dyn FnMut(f64, &[f64]) -> f64 + 'e>;

/// A function of the time and of some components whose zeros are events: all places where its sign changes, however many in a step. They are
/// found on the interpolant of each step, which takes the evaluations of dense output.
///
/// A zero where the integration begins is no event, nor is one that the function touches without passing it, a
/// pole, or a change of sign across values that are not finite. Zero at the end of a step counts as reached there.
pub struct Event<'e> {
    pub(crate) components: Vec<usize>,
    pub(crate) function: Function<'e>,
    pub(crate) direction: Direction,
    pub(crate) terminal: bool,
}

impl<'e> Event<'e> {
    /// Zeros of `function`, which is given the time and the values of `components`, in their order. Only these are read
    /// back from a device.
    pub fn new(components: &[usize], function: impl FnMut(f64, &[f64]) -> f64 + 'e) -> Event<'e> {
        Event {
            components: components.to_vec(),
            function: Box::new(function),
            direction: Direction::Any,
            terminal: false,
        }
    }

    /// Where `component` passes `level`.
    pub fn level(component: usize, level: f64) -> Event<'e> {
        Event::new(&[component], move |_, y| y[0] - level)
    }

    /// Looks one way only.
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Event<'e> {
        self.direction = direction;
        self
    }

    /// Ends the integration where it happens.
    #[must_use]
    pub fn terminal(mut self) -> Event<'e> {
        self.terminal = true;
        self
    }
}

/// An event that a system knows: zeros of a formula at a point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Watch {
    formula: Expr,
    point: usize,
    direction: Direction,
    terminal: bool,
}

impl Watch {
    /// The event of the system whose time runs the other way; directions are those along the integration.
    pub(crate) fn time_reversed(&self) -> Watch {
        Watch { formula: self.formula.with_time_reversed(), ..self.clone() }
    }
}

/// A point at a time with the fields that a formula reads.
struct Here<'a> {
    grid: &'a Grid,
    point: usize,
    t: f64,
    parameters: &'a [f64],
    /// Fields and their values.
    fields: &'a [usize],
    values: &'a [f64],
}

impl Values<f64> for Here<'_> {
    fn time(&self) -> f64 {
        self.t
    }

    fn parameter(&self, number: usize) -> f64 {
        self.parameters[number]
    }

    fn coordinate(&self, axis: usize) -> f64 {
        self.grid.position(self.point)[axis]
    }

    fn index(&self, axis: usize) -> f64 {
        self.grid.index(self.point)[axis] as f64
    }

    fn field(&self, field: usize, _: [i32; 3]) -> f64 {
        self.values[self.fields.iter().position(|f| *f == field).expect("every field of the formula is read")]
    }

    fn data(&self, _: usize) -> f64 {
        unreachable!("names of data are not known to events")
    }

    fn source(&self, _: &Expr) -> f64 {
        unreachable!("events have no sums")
    }

    fn sum(&self, _: &Expr) -> f64 {
        unreachable!("events have no sums")
    }
}

impl System {
    /// Adds an event: zeros of a formula of the time, coordinates, parameters and fields at grid point `p`.
    /// [`System::events`] gives them to an [`Integrator`](crate::run::integrate::Integrator), [`ivp`](crate::run::ivp) finds them.
    ///
    /// ```
    /// use clinalg_ode::System;
    /// use clinalg_ode::integrate::Direction;
    ///
    /// let mut ball = System::from_text("height' = speed\nspeed' = -9.81", &[])?;
    /// ball.add_event("height - 1", 0, Direction::Falling, true)?;
    /// assert_eq!(ball.events().len(), 1);
    /// # Ok::<(), clinalg_ode::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Formula`] for a formula that cannot be read, or has sums or neighbours; [`Error::Value`] for a point past the end.
    pub fn add_event(&mut self, formula: &str, p: usize, direction: Direction, terminal: bool) -> Result<()> {
        let names = Names {
            fields: &self.fields,
            parameters: &self.parameters,
            dims: self.grid.shape().len(),
            powers: self.powers,
            ..Names::default()
        };
        let expr = parse::parse(formula, &names)?;
        let mut far = false;
        expr.walk(&mut |e| {
            far |= matches!(e, Expr::Sum(_)) || matches!(e, Expr::Field { offset, .. } if *offset != [0; 3])
        });
        if far {
            let reason = "an event reads fields at its own point, without sums and neighbours".into();
            return Err(Error::Formula { formula: formula.into(), column: 1, reason });
        }
        if p >= self.grid.points() {
            return Err(Error::value("point", format!("below {}", self.grid.points()), p));
        }
        self.watched.push(Watch { formula: expr, point: p, direction, terminal });
        Ok(())
    }

    /// Adds an event from text: `[rising|falling] [terminal] [at i [j [k]]] = formula`, with grid indices from 0 on, those of
    /// the first point where none are given.
    ///
    /// # Errors
    /// Those of [`System::add_event`]; [`Error::Value`] for another text.
    pub fn event_from_text(&mut self, text: &str) -> Result<()> {
        let expected = "event [rising|falling] [terminal] [at i j k] = formula, with an index for each axis";
        let fail = || Error::value("event", expected, format!("`{text}`"));
        let (words, formula) = text.split_once('=').ok_or_else(fail)?;
        let (mut direction, mut terminal, mut point) = (Direction::Any, false, 0);
        let mut words = words.split_whitespace().peekable();
        while let Some(word) = words.next() {
            match word {
                "rising" => direction = Direction::Rising,
                "falling" => direction = Direction::Falling,
                "terminal" => terminal = true,
                "at" => {
                    let shape = self.grid.shape();
                    let mut stride = 1;
                    for n in shape {
                        let index = words.next().and_then(|word| word.parse::<usize>().ok()).filter(|i| i < n);
                        point += stride * index.ok_or_else(fail)?;
                        stride *= n;
                    }
                }
                _ => return Err(fail()),
            }
        }
        self.add_event(formula.trim(), point, direction, terminal)
    }

    /// The events added, with the parameters as they are now.
    pub fn events(&self) -> Vec<Event<'static>> {
        let make = |watch: &Watch| {
            let mut fields = Vec::new();
            watch.formula.accesses(&mut |field, _| {
                if !fields.contains(&field) {
                    fields.push(field);
                }
            });
            let components: Vec<usize> = fields.iter().map(|field| self.component(*field, watch.point)).collect();
            let (formula, point) = (watch.formula.clone(), watch.point);
            let (grid, parameters) = (self.grid.clone(), self.values.clone());
            let value = move |t: f64, values: &[f64]| {
                formula.eval(&Here { grid: &grid, point, t, parameters: &parameters, fields: &fields, values })
            };
            Event { components, function: Box::new(value), direction: watch.direction, terminal: watch.terminal }
        };
        self.watched.iter().map(make).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_from_text() {
        let text = "grid 3 2\nparameter level = 2\nu' = -u\nw' = 1\nevent rising terminal at 2 1 = w + 10*u - level*t + x\nevent = w";
        let system = System::from_text(text, &[]).unwrap();
        let mut events = system.events();
        assert_eq!(events.len(), 2);
        assert_eq!((events[0].direction, events[0].terminal), (Direction::Rising, true));
        assert_eq!((events[1].direction, events[1].terminal), (Direction::Any, false));
        let mut expected = [system.component(1, 5), system.component(0, 5)];
        expected.sort_unstable();
        let mut components = events[0].components.clone();
        components.sort_unstable();
        assert_eq!(components, expected);
        assert_eq!(events[1].components, [system.component(1, 0)]);
        let by_field = |u: f64, w: f64| -> Vec<f64> {
            events[0].components.iter().map(|c| if *c == system.component(0, 5) { u } else { w }).collect()
        };
        let values = by_field(0.5, 3.0);
        assert_eq!((events[0].function)(1.5, &values), 3.0 + 5.0 - 3.0 + 1.0);
    }

    #[test]
    fn bad_events_are_errors() {
        let base = "grid 3 2\nu' = -u\ndefine a = u\n";
        for (line, id, part) in [
            ("event at 3 0 = u", "clinalg:argument:value", "line 4"),
            ("event at 1 = u", "clinalg:argument:value", "line 4"),
            ("event sideways = u", "clinalg:argument:value", "rising"),
            ("event u", "clinalg:argument:value", "line 4"),
            ("event = u[1,0]", "clinalg:ode:formula", "own point"),
            ("event = sum(u')", "clinalg:ode:formula", "own point"),
            ("event = 1 + q", "clinalg:ode:formula", "column 5"),
            ("event =", "clinalg:ode:formula", "column 1"),
        ] {
            let error = System::from_text(&format!("{base}{line}"), &[]).unwrap_err();
            assert_eq!(error.id(), id, "{line}: {error}");
            assert!(error.to_string().contains(part), "{line}: {error}");
        }
        let mut system = System::from_text(base, &[]).unwrap();
        assert!(system.add_event("u", 6, Direction::Any, false).is_err());
    }
}
